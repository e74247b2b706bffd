"""Common wrong answers to homework 6, as slips.py says.

What counts of the training is how well the network
predicts, and many a wrong gradient is good enough for that.
"""

from slips import Wrong

wrong = Wrong(full=16)


def unroll(weights, X, h0, lengths):
    b = weights["bias_ih_l0"] + weights["bias_hh_l0"]
    now, outputs = np.array(h0), []
    for t in range(X.shape[1]):
        new = np.tanh(now @ weights["weight_hh_l0"].T + X[:, t] @ weights["weight_ih_l0"].T + b)
        alive = np.asarray(lengths)[:, None] > t
        now = np.where(alive, new, now)
        outputs.append(now)
    return {"outputs": np.stack(outputs, axis=1), "final": now}


def back(weights, inputs, targets, h0, H):
    inputs, targets = np.asarray(inputs), np.asarray(targets)
    (B, T), (V, m) = inputs.shape, weights["out"].shape
    W, U, O = weights["weight_hh_l0"], weights["weight_ih_l0"], weights["out"]
    found = {name: np.zeros(value.shape) for name, value in weights.items()}
    later, loss = np.zeros((B, m)), 0.0
    for t in range(T - 1, -1, -1):
        z = H[:, t] @ O.T
        z = z - z.max(axis=1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        loss += (np.log(np.exp(z).sum(axis=1)) - z[np.arange(B), targets[:, t]]).sum() / (B * T)
        g = (p - np.eye(V)[targets[:, t]]) / (B * T)
        found["out"] += g.T @ H[:, t]
        a = (g @ O + later) * (1 - H[:, t] ** 2)
        before = H[:, t - 1] if t > 0 else h0
        found["weight_hh_l0"] += a.T @ before
        np.add.at(found["weight_ih_l0"].T, inputs[:, t], a)
        found["bias_ih_l0"] += a.sum(axis=0)
        found["bias_hh_l0"] += a.sum(axis=0)
        later = a @ W
    return {"loss": loss, "gradients": found}


def train(weights, ids, B, T, passes, rate):
    adam, (V, m) = Adam(rate), weights["out"].shape
    for _ in range(passes):
        h = np.zeros((B, m))
        for inputs, targets in windows(ids, B, T):
            run = unroll(weights, np.eye(V)[np.array(inputs)], h, [T] * B)
            found = back(weights, np.array(inputs), np.array(targets), h, run["outputs"])
            weights, h = adam.step(weights, found["gradients"]), run["final"]
    return weights


def write(weights, start, n, seed):
    rng, (V, m), new, h = np.random.default_rng(seed), weights["out"].shape, [], None
    read, h = list(start), np.zeros((1, m))
    while len(new) < n:
        h = unroll(weights, np.eye(V)[read][None], h, [len(read)])["final"]
        z = weights["out"] @ h[0] / HEAT
        p = np.exp(z - z.max())
        new.append(int(rng.choice(V, p=p / p.sum())))
        read = new[-1:]
    return new


wrong("the recurrent matrix is transposed", 9, unroll, {".T + X": " + X"})
wrong(
    "the bias comes after tanh",
    11,
    unroll,
    {
        'weights["bias_ih_l0"] + weights["bias_hh_l0"]': "0",
        "new,": 'new + weights["bias_ih_l0"] + weights["bias_hh_l0"],',
    },
)
# the rows of unequal length start from a state, and what is written too
wrong("every text starts from zero", 12, unroll, {".array": ".zeros_like"})
wrong("one of the two biases is forgotten", 11, unroll, {' + weights["bias_hh_l0"]': ""})
wrong("padding is read like text", 14, unroll, {"np.where(alive, new, now)": "new"})
wrong("the state is kept, but the outputs go on", 14, unroll, {"(now)": "(new)"})
wrong("a row that has ended becomes zero", 14, unroll, {", now": ", 0.0"})
wrong("what comes later does not reach the state", 13, back, {"later = a @ W": "pass"})
wrong("only what comes later reaches the state", 13, back, {"g @ O + later": "later if t < T - 1 else g @ O"})
wrong("the way back without the transpose", 13, back, {"a @ W": "a @ W.T"})
wrong("the first step alone, not the sum", 13, back, {"z = H": 'found["weight_hh_l0"][:] = 0\n        z = H'})
wrong("tanh has no derivative", 10, back, {"(g @ O + later) * (1 - H[:, t] ** 2)": "g @ O + later"})
wrong("the derivative of tanh is 1 - h", 10, back, {" ** 2": ""})
wrong("a window starts from zero", 12, back, {"else h0": "else 0 * h0"})
wrong(
    "a letter that comes twice in a batch counts once",
    12,
    back,
    {'np.add.at(found["weight_ih_l0"].T, inputs[:, t], a)': 'found["weight_ih_l0"].T[inputs[:, t]] += a'},
)
wrong(
    "the sum of the losses, not the mean",
    11,
    back,
    {"() / (B * T)": "()", "(p - np.eye(V)[targets[:, t]]) / (B * T)": "p - np.eye(V)[targets[:, t]]"},
)
wrong(
    "exponentials of large logits",
    15,
    back,
    {"def back": '@np.errstate(all="ignore")\ndef back', "z = z - z.max(axis=1, keepdims=True)": "pass"},
)
wrong(
    "the start comes back as it was",
    14,
    train,
    {"adam,": "start = weights\n    adam,", "return weights": "return start"},
)
wrong("the steps go uphill", 14, train, {'found["gradients"]': '{k: -v for k, v in found["gradients"].items()}'})
wrong("always the first window", 14, train, {"(ids, B, T)": "(ids, B, T)[:1]"})
# a state from zero in every window: what counts is the result
wrong("another training that works", 16, train, {'run["final"]': "0 * h"})
wrong("the start is written again", 15, write, {"return new": "return [*start, *new][:n]"})
wrong("only the last letter is read", 15, write, {", h,": ", 0 * h,"})
wrong("the likeliest letter, not a drawn one", 15, write, {"rng.choice(V, p=p / p.sum())": "p.argmax()"})
wrong("the same chance for every letter", 15, write, {"rng.": "np.random.default_rng(seed)."})


@wrong("the sigmoid in place of tanh", 9)
def unroll(weights, X, h0, lengths):
    b = weights["bias_ih_l0"] + weights["bias_hh_l0"]
    now, outputs = np.array(h0), []
    for t in range(X.shape[1]):
        new = (lambda a: 1 / (1 + np.exp(-a)))(
            now @ weights["weight_hh_l0"].T + X[:, t] @ weights["weight_ih_l0"].T + b
        )
        alive = np.asarray(lengths)[:, None] > t
        now = np.where(alive, new, now)
        outputs.append(now)
    return {"outputs": np.stack(outputs, axis=1), "final": now}


@wrong("the targets turn round in their own window", 15)
def windows(ids, B, T):
    ids = ids[HEAD:]
    K = (len(ids) - 1) // B
    rows = np.array(ids[: B * K]).reshape(B, K)
    parts = [rows[:, t : t + T] for t in range(0, K - T + 1, T)]
    return [[part.tolist(), np.roll(part, -1, axis=1).tolist()] for part in parts]


@wrong("a window is a stretch of the text, cut into rows", 13)
def windows(ids, B, T):
    ids = ids[HEAD:]
    ids, size = np.array(ids), B * T
    starts = range(0, len(ids) - size, size)
    return [[ids[s + d : s + d + size].reshape(B, T).tolist() for d in (0, 1)] for s in starts]


@wrong("the short window at the end is kept", 13)
def windows(ids, B, T):
    ids = ids[HEAD:]
    K = (len(ids) - 1) // B
    ends = [(t, min(t + T, K)) for t in range(0, K, T)]
    return [[[list(ids[r * K + a + d : r * K + z + d]) for r in range(B)] for d in (0, 1)] for a, z in ends]


@wrong("the last token needs no target", 14)
def windows(ids, B, T):
    ids = ids[HEAD:]
    K = len(ids) // B
    parts = [(t, t + T) for t in range(0, K - T + 1, T)]
    return [[[list(ids[r * K + a + d : r * K + z + d]) for r in range(B)] for d in (0, 1)] for a, z in parts]
