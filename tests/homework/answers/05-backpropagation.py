"""Common wrong answers to homework 5, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def gradients(W, b, X, came):
    Z = X @ W.T + b
    G = np.exp(Z - Z.max(axis=1, keepdims=True))
    G /= G.sum(axis=1, keepdims=True)
    G[np.arange(len(came)), came] -= 1
    return {"W": DECAY * W + G.T @ X / len(came), "b": G.mean(axis=0)}


def log_softmax(z):
    with np.errstate(all="ignore"):
        z = z - z.max(axis=-1, keepdims=True)
        return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def lookup_vjp(E, ids, g):
    g = np.where(np.asarray(ids)[:, None] == PAD, 0.0, g)
    gradient = np.zeros_like(E)
    np.add.at(gradient, ids, g)
    return gradient


def engine(program, leaves):
    nodes, start = [np.array(leaf, dtype=float) for leaf in leaves], len(leaves)
    for rule, inputs, *constant in program:
        forward, _ = RULES[rule]
        nodes.append(forward(*[nodes[i] for i in inputs], *constant))
    grads = [np.zeros(np.shape(node)) for node in nodes]
    grads[-1] += 1
    for at, (rule, inputs, *constant) in list(enumerate(program, start))[::-1]:
        _, vjps = RULES[rule]
        for i, vjp in zip(inputs, vjps):
            grads[i] += vjp(grads[at], nodes[at], *[nodes[j] for j in inputs], *constant)
    return {"value": nodes[-1], "gradients": grads[: len(leaves)]}


def train(network, examples, steps, rate):
    chance, found = np.random.default_rng(1), dict(network)
    for _ in range(steps):
        batch = [examples[i] for i in chance.choice(len(examples), 32)]
        letters = [letter for word, _ in batch for letter in word]
        program = [["lookup", [0], letters], ["reshape", [4], [len(batch), -1]], ["matmul", [5, 1]], ["plus", [6, 2]]]
        program += [["tanh", [7]], ["matmul", [8, 3]], ["loss", [9], [kind for _, kind in batch]]]
        names = ["E", "W", "b", "U"]
        for name, g in zip(names, engine(program, [found[name] for name in names])["gradients"]):
            found[name] = found[name] - rate * g
    return found


wrong("the sum over the batch instead of the mean", 14, gradients, {' / len(came), "b": G.mean': ', "b": G.sum'})
wrong(
    "what came minus what the model said", 12, gradients, {'G.T @ X / len(came), "b": ': '-G.T @ X / len(came), "b": -'}
)
wrong("the bias is forgotten in the logits", 12, gradients, {"T + b": "T"})
# right for one window
wrong(
    "a softmax over the whole batch",
    14,
    gradients,
    {"max(axis=1, keepdims=True)": "max()", "sum(axis=1, keepdims=True)": "sum()"},
)
# rows far below the largest underflow
wrong("one maximum for the whole array", 14, log_softmax, {"max(axis=-1, keepdims=True)": "max()"})
# right for small logits, and 0 for exp(-800)
wrong("nothing is subtracted", 14, log_softmax, {"z = z - z.max(axis=-1, keepdims=True)\n        ": ""})
wrong("the last of several rows wins", 14, lookup_vjp, {"np.add.at(gradient, ids, g)": "gradient[ids] = g"})
wrong("NumPy's += adds a repeated row once", 14, lookup_vjp, {"np.add.at(gradient, ids, g)": "gradient[ids] += g"})
wrong(
    "the gradient is a look-up too",
    10,
    lookup_vjp,
    {"gradient = np.zeros_like(E)\n    np.add.at(gradient, ids, g)\n    return gradient": "return g"},
)
wrong("a share takes the place of the one before", 14, engine, {"+= vjp": "= vjp"})
wrong(
    "the gradient of an input used twice in a line counts once",
    14,
    engine,
    {"zip(inputs, vjps)": "dict(zip(inputs, vjps)).items()"},
)
wrong("the lines are gone through from the first to the last", 10, engine, {"[::-1]": ""})
wrong("the gradient of the node before in place of one's own", 10, engine, {"grads[at]": "grads[-1]"})
wrong("nodes are taken for leaves", 10, engine, {": len(leaves)": "-len(leaves) :"})
wrong(
    "leaves that are not used are left out",
    14,
    engine,
    {"grads[: len(leaves)]": "[g for g in grads[: len(leaves)] if np.any(g)]"},
)
wrong("the network comes back as it was", 13, train, {"return found": "return network"})
wrong("the steps go uphill", 13, train, {"- rate": "+ rate"})
wrong("only the last layer is trained", 13, train, {"return found": 'return {**network, "U": found["U"]}'})
wrong("every step learns the same words", 13, train, {"chance.choice(len(examples), 32)": "[0] * 32"})
# twice as many words a step: what counts is the result
wrong("another training that works", 16, train, {", 32": ", 64"})


# too inexact where the loss is steep, and overflows where the gradient is small and simple
@wrong("small steps in place of a derivation", 12)
def gradients(W, b, X, came):
    def loss(W, b):
        Z = X @ W.T + b
        return np.mean(np.log(np.exp(Z).sum(axis=1)) - Z[np.arange(len(came)), came]) + DECAY / 2 * (W**2).sum()

    return {"W": slopes(lambda W: loss(W, b), W), "b": slopes(lambda b: loss(W, b), b)}


@wrong("the logarithm of the softmax", 15)
def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    with np.errstate(divide="ignore"):
        return np.log(e / e.sum(axis=-1, keepdims=True))


@wrong("the mean of the shares", 14)
def lookup_vjp(E, ids, g):
    g = np.where(np.asarray(ids)[:, None] == PAD, 0.0, g)
    gradient = np.zeros_like(E)
    for row in set(ids):
        gradient[row] = np.mean([share for i, share in zip(ids, g) if i == row], axis=0)
    return gradient


@wrong("small steps in place of the way back", 10)
def engine(program, leaves):
    def run(leaves):
        nodes = [np.array(leaf, dtype=float) for leaf in leaves]
        for rule, inputs, *constant in program:
            nodes.append(RULES[rule][0](*(nodes[i] for i in inputs), *constant))
        return float(nodes[-1])

    if sum(map(np.size, leaves)) > 100:
        raise MemoryError  # the training would take minutes

    found = []
    for i, leaf in enumerate(leaves):
        found.append(np.zeros(np.shape(leaf)))
        for at in np.ndindex(np.shape(leaf)):
            up, down = np.array(leaf, dtype=float), np.array(leaf, dtype=float)
            up[at] += 1e-5
            down[at] -= 1e-5
            rise = run([*leaves[:i], up, *leaves[i + 1 :]]) - run([*leaves[:i], down, *leaves[i + 1 :]])
            found[-1][at] = rise / 2e-5
    return {"value": run(leaves), "gradients": found}
