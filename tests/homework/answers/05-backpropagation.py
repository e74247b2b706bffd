"""Common wrong answers to homework 5, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

ENGINE = """
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
"""
LANGUAGE = """
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
"""


def changed(source: str, *pairs: tuple[str, str]) -> str:
    """The right answer with one thing replaced; the thing must be there."""
    for right, wrong in pairs:
        assert source.count(right) == 1, right
        source = source.replace(right, wrong)
    return source


def engine(*pairs: tuple[str, str]) -> dict[str, str]:
    return {"engine": changed(ENGINE, *pairs)}


def language(*pairs: tuple[str, str]) -> dict[str, str]:
    return {"language": changed(LANGUAGE, *pairs)}


WRONG = {
    "the sum over the batch instead of the mean": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T + b
    G = np.exp(Z - Z.max(axis=1, keepdims=True))
    G /= G.sum(axis=1, keepdims=True)
    G[np.arange(len(came)), came] -= 1
    return {"W": G.T @ X, "b": G.sum(axis=0)}
"""
        },
        "score": 14,
    },
    "what came minus what the model said": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T + b
    G = np.exp(Z - Z.max(axis=1, keepdims=True))
    G /= G.sum(axis=1, keepdims=True)
    G[np.arange(len(came)), came] -= 1
    return {"W": -G.T @ X / len(came), "b": -G.mean(axis=0)}
"""
        },
        "score": 12,
    },
    "the bias is forgotten in the logits": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T
    G = np.exp(Z - Z.max(axis=1, keepdims=True))
    G /= G.sum(axis=1, keepdims=True)
    G[np.arange(len(came)), came] -= 1
    return {"W": G.T @ X / len(came), "b": G.mean(axis=0)}
"""
        },
        "score": 12,
    },
    "a softmax over the whole batch": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T + b
    G = np.exp(Z - Z.max())
    G /= G.sum()
    G[np.arange(len(came)), came] -= 1
    return {"W": G.T @ X / len(came), "b": G.mean(axis=0)}
"""
        },
        "score": 14,  # right for one window
    },
    "small steps in place of a derivation": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    def loss(W, b):
        Z = X @ W.T + b
        return np.mean(np.log(np.exp(Z).sum(axis=1)) - Z[np.arange(len(came)), came])
    return {"W": slopes(lambda W: loss(W, b), W), "b": slopes(lambda b: loss(W, b), b)}
"""
        },
        "score": 12,  # too inexact where the loss is steep, and overflows where the gradient is small and simple
    },
    "the logarithm of the softmax": {
        "answers": {
            "log-softmax": """
def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    with np.errstate(divide="ignore"):
        return np.log(e / e.sum(axis=-1, keepdims=True))
"""
        },
        "score": 15,
    },
    "one maximum for the whole array": {
        "answers": {
            "log-softmax": """
def log_softmax(z):
    with np.errstate(all="ignore"):
        z = z - z.max()
        return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
"""
        },
        "score": 14,  # rows far below the largest underflow
    },
    "nothing is subtracted": {
        "answers": {
            "log-softmax": """
def log_softmax(z):
    with np.errstate(all="ignore"):
        return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
"""
        },
        "score": 14,  # right for small logits, and 0 for exp(-800)
    },
    "the last of several rows wins": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    gradient = np.zeros_like(E)
    gradient[ids] = g
    return gradient
"""
        },
        "score": 14,
    },
    "NumPy's += adds a repeated row once": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    gradient = np.zeros_like(E)
    gradient[ids] += g
    return gradient
"""
        },
        "score": 14,
    },
    "the gradient is a look-up too": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    return g
"""
        },
        "score": 10,
    },
    "the mean of the shares": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    gradient = np.zeros_like(E)
    for row in set(ids):
        gradient[row] = np.mean([share for i, share in zip(ids, g) if i == row], axis=0)
    return gradient
"""
        },
        "score": 14,
    },
    "a share takes the place of the one before": {
        "answers": engine(("grads[i] += vjp", "grads[i] = vjp")),
        "score": 14,
    },
    "the gradient of an input used twice in a line counts once": {
        "answers": engine(
            ("zip(inputs, vjps)", "dict(zip(inputs, vjps)).items()"),
        ),
        "score": 14,
    },
    "the lines are gone through from the first to the last": {
        "answers": engine(("list(enumerate(program, start))[::-1]", "list(enumerate(program, start))")),
        "score": 10,
    },
    "the gradient of the node before in place of one's own": {
        "answers": engine(("vjp(grads[at], nodes[at],", "vjp(grads[-1], nodes[at],")),
        "score": 10,
    },
    "nodes are taken for leaves": {
        "answers": engine(("grads[: len(leaves)]", "grads[-len(leaves) :]")),
        "score": 10,
    },
    "leaves that are not used are left out": {
        "answers": engine(("grads[: len(leaves)]", "[g for g in grads[: len(leaves)] if np.any(g)]")),
        "score": 14,
    },
    "small steps in place of the way back": {
        "answers": {
            "engine": """
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
"""
        },
        "score": 10,
    },
    "the network comes back as it was": {"answers": language(("return found", "return network")), "score": 13},
    "the steps go uphill": {"answers": language(("- rate * g", "+ rate * g")), "score": 13},
    "only the last layer is trained": {
        "answers": language(("return found", "return {**network, 'U': found['U']}")),
        "score": 13,
    },
    "every step learns the same words": {
        "answers": language(("chance.choice(len(examples), 32)", "[0] * 32")),
        "score": 13,
    },
    "another training that works": {  # twice as many words a step: what counts is the result
        "answers": language(("chance.choice(len(examples), 32)", "chance.choice(len(examples), 64)")),
        "score": 16,
    },
}
