"""Common wrong answers to homework 6, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

CELL = """
def cell(h, x, W_hh, W_xh, b):
    return {}
"""

UNROLL = """
def unroll(weights, X, h0, lengths):
    b = {bias}
    now, outputs = {start}, []
    for t in range(X.shape[1]):
        new = np.tanh(now @ weights["weight_hh_l0"].T + X[:, t] @ weights["weight_ih_l0"].T + b)
        alive = np.asarray(lengths)[:, None] > t
        now = {now}
        outputs.append({output})
    return {{"outputs": np.stack(outputs, axis=1), "final": now}}
"""
RIGHT = {
    "bias": 'weights["bias_ih_l0"] + weights["bias_hh_l0"]',
    "start": "np.array(h0)",
    "now": "np.where(alive, new, now)",
    "output": "now",
}

TWO = """
def two_steps(W_hh, W_xh, b, x1, x2, h0, g1, g2, cut):
    h1 = np.tanh(W_hh @ h0 + W_xh @ x1 + b)
    h2 = np.tanh(W_hh @ h1 + W_xh @ x2 + b)
    a2 = {a2}
    reach = 0.0 if cut else 1.0
    a1 = {a1}
    return {{"W_hh": {W_hh}, "W_xh": {W_xh}, "b": {b}, "h0": {h0}}}
"""
STEPS = {
    "a2": "g2 * (1 - h2**2)",
    "a1": "(g1 + reach * (W_hh.T @ a2)) * (1 - h1**2)",
    "W_hh": "np.outer(a1, h0) + np.outer(a2, h1)",
    "W_xh": "np.outer(a1, x1) + np.outer(a2, x2)",
    "b": "a1 + a2",
    "h0": "reach * (W_hh.T @ a1)",
}


def two_steps(**changes: str) -> dict[str, str]:
    return {"two-steps": TWO.format(**{**STEPS, **changes})}


def unroll(**changes: str) -> dict[str, str]:
    return {"unroll": UNROLL.format(**{**RIGHT, **changes})}


WRONG = {
    "the recurrent matrix is transposed": {
        "answers": {"cell": CELL.format("np.tanh(h @ W_hh + x @ W_xh.T + b)")},
        "score": 13,
    },
    "the bias comes after tanh": {
        "answers": {"cell": CELL.format("np.tanh(h @ W_hh.T + x @ W_xh.T) + b")},
        "score": 13,
    },
    "the sigmoid in place of tanh": {
        "answers": {"cell": CELL.format("1 / (1 + np.exp(-(h @ W_hh.T + x @ W_xh.T + b)))")},
        "score": 13,
    },
    "every text starts from zero": {
        "answers": unroll(start="np.zeros_like(h0)"),
        "score": 13,  # the rows of unequal length start from a state, too
    },
    "one of the two biases is forgotten": {"answers": unroll(bias='weights["bias_ih_l0"]'), "score": 11},
    "padding is read like text": {"answers": unroll(now="new"), "score": 14},
    "the state is kept, but the outputs go on": {"answers": unroll(output="new"), "score": 14},
    "a row that has ended becomes zero": {"answers": unroll(now="np.where(alive, new, 0.0)"), "score": 14},
    "the second loss does not reach the first step": {
        "answers": two_steps(a1="g1 * (1 - h1**2)"),
        "score": 13,
    },
    "never cut": {"answers": two_steps(a1=STEPS["a1"].replace("reach * ", ""), h0="W_hh.T @ a1"), "score": 15},
    "the way back without the transpose": {
        "answers": two_steps(a1=STEPS["a1"].replace(".T", ""), h0="reach * (W_hh @ a1)"),
        "score": 12,  # right where nothing goes back
    },
    "the last share alone, not the sum": {
        "answers": two_steps(W_hh="np.outer(a2, h1)", W_xh="np.outer(a2, x2)", b="a2"),
        "score": 11,
    },
    "tanh has no derivative at the second step": {"answers": two_steps(a2="g2"), "score": 12},
    "the derivative of tanh is 1 - h": {
        "answers": two_steps(a1=STEPS["a1"].replace("h1**2", "h1"), a2="g2 * (1 - h2)"),
        "score": 11,
    },
    "the state after the step in place of the one before": {
        "answers": two_steps(W_hh="np.outer(a1, h1) + np.outer(a2, h2)"),
        "score": 11,
    },
    "the targets turn round in their own window": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    K = (len(ids) - 1) // B
    rows = np.array(ids[: B * K]).reshape(B, K)
    parts = [rows[:, t : t + T] for t in range(0, K - T + 1, T)]
    return [[part.tolist(), np.roll(part, -1, axis=1).tolist()] for part in parts]
"""
        },
        "score": 15,
    },
    "a window is a stretch of the text, cut into rows": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    ids, size = np.array(ids), B * T
    starts = range(0, len(ids) - size, size)
    return [[ids[s + d : s + d + size].reshape(B, T).tolist() for d in (0, 1)] for s in starts]
"""
        },
        "score": 13,
    },
    "the short window at the end is kept": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    K = (len(ids) - 1) // B
    ends = [(t, min(t + T, K)) for t in range(0, K, T)]
    return [[[list(ids[r * K + a + d : r * K + z + d]) for r in range(B)] for d in (0, 1)] for a, z in ends]
"""
        },
        "score": 13,
    },
    "the last token needs no target": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    K = len(ids) // B
    parts = [(t, t + T) for t in range(0, K - T + 1, T)]
    return [[[list(ids[r * K + a + d : r * K + z + d]) for r in range(B)] for d in (0, 1)] for a, z in parts]
"""
        },
        "score": 14,
    },
}
