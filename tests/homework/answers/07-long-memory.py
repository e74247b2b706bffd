"""Common wrong answers to homework 7, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

RUN = """

def lstm_run(w, x, h=None, c=None):
    m = w["w_hh"].shape[1]
    h = np.zeros((x.shape[0], m)) if h is None else h
    c = np.zeros((x.shape[0], m)) if c is None else c
    outputs = np.zeros((x.shape[0], x.shape[1], m))
    for t in range(x.shape[1]):
        h, c = lstm_step(w, x[:, t], h, c)
        outputs[:, t] = h
    return outputs, h, c
"""
STEP = """
def lstm_step(w, x, h, c):
    pre = x @ w["w_ih"].T + h @ w["w_hh"].T + w["b_ih"] + w["b_hh"]
    i, f, g, o = np.split(pre, 4, axis=-1)
    sigma = lambda a: 1 / (1 + np.exp(-a))
    c = sigma(f) * c + sigma(i) * np.tanh(g)
    return sigma(o) * np.tanh(c), c
"""
REACH = """
def reach(W, U, h0, g):
    T = len(U)
    H = [np.asarray(h0)]
    for u in U:
        H.append(np.tanh(W @ H[-1] + u))
    D, by_W = [None] * T + [np.asarray(g)], np.zeros((len(h0), len(h0)))
    for t in range(T, 0, -1):
        through = D[t] * (1 - H[t] ** 2)
        by_W += np.outer(through, H[t - 1])
        D[t - 1] = through @ W
    return {"h": np.stack(D), "W": by_W}
"""


def changed(source: str, before: str, after: str) -> str:
    """The source with one mistake; the part to be replaced must be there."""
    assert before in source
    return source.replace(before, after)


WRONG = {
    "one of the two biases is left out": {
        "answers": {"lstm": changed(STEP, ' + w["b_hh"]', "") + RUN},
        "score": 11,
    },
    "the gates in the order of the chapter": {
        "answers": {"lstm": changed(STEP, "i, f, g, o =", "i, f, o, g =") + RUN},
        "score": 11,
    },
    "what is shown lacks its tanh": {
        "answers": {"lstm": changed(STEP, "sigma(o) * np.tanh(c), c", "sigma(o) * c, c") + RUN},
        "score": 11,
    },
    "the hidden state in place of the memory": {
        "answers": {"lstm": changed(STEP, "sigma(f) * c +", "sigma(f) * h +") + RUN},
        "score": 11,
    },
    "every sequence starts from zeros": {
        "answers": {
            "lstm": STEP
            + """

def lstm_run(w, x, h=None, c=None):
    m = w["w_hh"].shape[1]
    h, c = np.zeros((x.shape[0], m)), np.zeros((x.shape[0], m))
    outputs = np.zeros((x.shape[0], x.shape[1], m))
    for t in range(x.shape[1]):
        h, c = lstm_step(w, x[:, t], h, c)
        outputs[:, t] = h
    return outputs, h, c
"""
        },
        "score": 14,
    },
    "each array is clipped for itself": {
        "answers": {
            "clip": """
def clip(gradients, limit):
    before = np.sqrt(sum((g**2).sum() for g in gradients.values()))
    if not np.isfinite(before):
        return {name: np.zeros_like(g) for name, g in gradients.items()}, before
    return {name: g * min(1, limit / max(np.sqrt((g**2).sum()), 1e-12)) for name, g in gradients.items()}, before
"""
        },
        "score": 14,  # right for one array, and where nothing is too long
    },
    "every entry is cut off at the limit": {
        "answers": {
            "clip": """
def clip(gradients, limit):
    before = np.sqrt(sum((g**2).sum() for g in gradients.values()))
    if not np.isfinite(before):
        return {name: np.zeros_like(g) for name, g in gradients.items()}, before
    return {name: np.clip(g, -limit, limit) for name, g in gradients.items()}, before
"""
        },
        "score": 14,
    },
    "short gradients are made longer": {
        "answers": {
            "clip": """
def clip(gradients, limit):
    before = np.sqrt(sum((g**2).sum() for g in gradients.values()))
    if not np.isfinite(before) or before == 0:
        return {name: np.zeros_like(g) for name, g in gradients.items()}, before
    return {name: g * limit / before for name, g in gradients.items()}, before
"""
        },
        "score": 14,
    },
    "a gradient that is not finite goes on": {
        "answers": {
            "clip": """
def clip(gradients, limit):
    before = np.sqrt(sum((g**2).sum() for g in gradients.values()))
    factor = limit / before if before > limit else 1.0
    return {name: g * factor for name, g in gradients.items()}, before
"""
        },
        "score": 14,
    },
    "the matrix is not transposed on the way back": {
        "answers": {"reach": changed(REACH, "through @ W", "W @ through")},
        "score": 12,
    },
    "the slope of tanh is left out": {
        "answers": {"reach": changed(REACH, "D[t] * (1 - H[t] ** 2)", "D[t] * 1.0")},
        "score": 12,
    },
    "the slope is taken one step too early": {
        "answers": {"reach": changed(REACH, "(1 - H[t] ** 2)", "(1 - H[t - 1] ** 2)")},
        "score": 12,
    },
    "only the last place where W was used": {
        "answers": {"reach": changed(REACH, "by_W += np.outer", "by_W = by_W if t < T else np.outer")},
        "score": 14,
    },
    "the state after the step in the gradient of W": {
        "answers": {"reach": changed(REACH, "np.outer(through, H[t - 1])", "np.outer(through, H[t])")},
        "score": 14,
    },
    "the largest singular value": {
        "answers": {
            "fate": """
def fate(W):
    size = np.linalg.norm(W, 2)
    return "explodes" if size > 1.001 else "stays" if size >= 0.999 else "vanishes"
"""
        },
        "score": 14,  # the same as the radius for diagonal matrices and rotations
    },
    "the largest entry": {
        "answers": {
            "fate": """
def fate(W):
    size = np.abs(W).max()
    return "explodes" if size > 1.001 else "stays" if size >= 0.999 else "vanishes"
"""
        },
        "score": 13,
    },
    "the largest eigenvalue without its sign": {
        "answers": {
            "fate": """
def fate(W):
    size = np.linalg.eigvals(W).real.max()
    return "explodes" if size > 1.001 else "stays" if size >= 0.999 else "vanishes"
"""
        },
        "score": 13,  # blind to rotations and to negative eigenvalues
    },
    "powers up to the third": {
        "answers": {
            "fate": """
def fate(W):
    left = np.linalg.norm(np.linalg.matrix_power(W, 3), 2)
    return "explodes" if left > 1 else "stays" if left > 0.9 else "vanishes"
"""
        },
        "score": 13,  # they may grow long before they vanish
    },
    "right for the published matrices, the 200th power for all others": {
        "answers": {
            "fate": """
def fate(W):
    W = np.asarray(W, dtype=float)
    size = np.abs(np.linalg.eigvals(W)).max()
    if not (W == np.round(W, 2)).all():
        size = np.linalg.norm(np.linalg.matrix_power(W, 200), 2)
    return "explodes" if size > 1.001 else "stays" if size >= 0.999 else "vanishes"
"""
        },
        "score": 14,  # some powers are above 1 for hundreds of steps
    },
}
