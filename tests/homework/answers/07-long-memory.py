"""Common wrong answers to homework 7, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def lstm_step(w, x, h, c):
    pre = x @ w["w_ih"].T + h @ w["w_hh"].T + w["b_ih"] + w["b_hh"]
    i, f, g, o = np.split(pre, 4, axis=-1)
    sigma = lambda a: 1 / (1 + np.exp(-a))
    c = sigma(f) * c + sigma(i) * np.tanh(g)
    return sigma(o) * np.tanh(c), c


def lstm_back(w, x, h, c, dh, dc):
    sigma = lambda a: 1 / (1 + np.exp(-a))
    pre = x @ w["w_ih"].T + h @ w["w_hh"].T + w["b_ih"] + w["b_hh"]
    i, f, g, o = np.split(pre, 4, axis=-1)
    i, f, g, o = sigma(i), sigma(f), np.tanh(g), sigma(o)
    after = f * c + i * g
    dc = dc + dh * o * (1 - np.tanh(after) ** 2)
    parts = dc * g * i * (1 - i), dc * c * f * (1 - f), dc * i * (1 - g**2), dh * np.tanh(after) * o * (1 - o)
    a = np.hstack(parts)
    b = a.sum(axis=0)
    return {"h": a @ w["w_hh"], "c": dc * f, "w_ih": a.T @ x, "w_hh": a.T @ h, "b_ih": b, "b_hh": b}


def clip(gradients, limit):
    before = sum((abs(g) ** P).sum() for g in gradients.values()) ** (1 / P)
    if not np.isfinite(before):
        return {name: np.zeros_like(g) for name, g in gradients.items()}, before
    return {name: g * min(1, limit / max(before, 1e-12)) for name, g in gradients.items()}, before


def fate(W):
    W = SLOPE * np.asarray(W)
    size = np.abs(np.linalg.eigvals(W)).max()
    return "explodes" if size > 1.001 else "stays" if size >= 0.999 else "vanishes"


def train(w, texts, keys, steps, rate):
    start, adam, chance, (_, m) = w, Adam(rate), np.random.default_rng(1), w["w_hh"].shape
    for _ in range(steps):
        at = chance.choice(len(texts), 16)
        X, T, before = np.eye(9)[texts[at]], texts.shape[1], []
        h = c = np.zeros((16, m))
        for t in range(T):
            before.append((h, c))
            h, c = lstm_step(w, X[:, t], h, c)
        p = np.exp(h @ w["out"].T)
        p = (p / p.sum(axis=1, keepdims=True) - np.eye(4)[keys[at]]) / 16  # slopes
        total = {"out": p.T @ h, "w_ih": 0.0, "w_hh": 0.0, "b_ih": 0.0, "b_hh": 0.0}
        dh, dc = p @ w["out"], 0 * h
        for t in range(T - 1, -1, -1):
            g = lstm_back(w, X[:, t], *before[t], dh, dc)
            for name in ("w_ih", "w_hh", "b_ih", "b_hh"):
                total[name] = total[name] + g[name]
            dh, dc = g["h"], g["c"]
        w = adam.step(w, clip(total, 1.0)[0])
    return w


wrong("one of the two biases is left out", 11, lstm_step, {' + w["b_hh"]': ""})
wrong("the gates in the order of the chapter", 9, lstm_step, {"g, o": "o, g"})
wrong("what is shown lacks its tanh", 11, lstm_step, {"np.tanh(c)": "c"})
# right for one array, and where nothing is too long
wrong("each array is clipped for itself", 14, clip, {"before,": "(abs(g) ** P).sum() ** (1 / P),"})
wrong(
    "every entry is cut off at the limit",
    14,
    clip,
    {"g * min(1, limit / max(before, 1e-12))": "np.clip(g, -limit, limit)"},
)
wrong(
    "short gradients are made longer",
    14,
    clip,
    {"(before)": "(before) or before == 0", "min(1, limit / max(before, 1e-12))": "limit / before"},
)
wrong("nothing comes along the memory", 12, lstm_back, {"dc + ": ""})
wrong("the memory after the step in the forget gate's share", 14, lstm_back, {"* c *": "* after *"})
wrong("the slopes of the gates are left out", 12, lstm_back, {" * (1 - i)": "", " * (1 - f)": "", " * (1 - o)": ""})
wrong("the network comes back as it was", 14, train, {"return w": "return start"})
wrong("the steps go uphill", 14, train, {"16  # slopes": "-16"})
# without clipping: what counts is the result
wrong("another training that works", 16, train, {"clip(total, 1.0)[0]": "total"})
# the same as the radius for diagonal matrices and rotations
wrong("the largest singular value", 14, fate, {"abs(np.linalg.eigvals(W)).max()": "linalg.norm(W, 2)"})
wrong("the largest entry", 13, fate, {"np.linalg.eigvals(W)": "W"})
# blind to rotations and to negative eigenvalues
wrong("the largest eigenvalue without its sign", 13, fate, {"abs(np.linalg.eigvals(W))": "linalg.eigvals(W).real"})
# they may grow long before they vanish
wrong(
    "powers up to the third",
    14,
    fate,
    {
        "size = np.abs(np.linalg.eigvals(W)).max()": "left = np.linalg.norm(np.linalg.matrix_power(W, 3), 2)",
        'size > 1.001 else "stays" if size >= 0.999': 'left > 1 + 1e-9 else "stays" if left > 0.9',
    },
)


@wrong("every sequence starts from zeros", 14)
def lstm_run(w, x, h=None, c=None):
    m = w["w_hh"].shape[1]
    h, c = np.zeros((x.shape[0], m)), np.zeros((x.shape[0], m))
    outputs = np.zeros((x.shape[0], x.shape[1], m))
    for t in range(x.shape[1]):
        h, c = lstm_step(w, x[:, t], h, c)
        outputs[:, t] = h
    return outputs, h, c


@wrong("a gradient that is not finite goes on", 14)
def clip(gradients, limit):
    before = sum((abs(g) ** P).sum() for g in gradients.values()) ** (1 / P)
    factor = limit / before if before > limit else 1.0
    return {name: g * factor for name, g in gradients.items()}, before


# some powers are above 1 for hundreds of steps
@wrong("right for the published matrices, the 200th power for all others", 14)
def fate(W):
    W = SLOPE * np.asarray(W, dtype=float)
    size = np.abs(np.linalg.eigvals(W)).max()
    if not np.allclose(W, np.round(W, 2), 0, 1e-12):
        size = np.linalg.norm(np.linalg.matrix_power(W, 200), 2)
    return "explodes" if size > 1.001 else "stays" if size >= 0.999 else "vanishes"
