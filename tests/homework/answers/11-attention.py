"""Common wrong answers to homework 11, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

SCORES = """
def scores(kind, S, H, weights):
    if kind == "dot":
        return S @ H.T
    if kind == "additive":
        hidden = np.tanh((H @ weights["W_h"].T)[None] + (S @ weights["W_s"].T)[:, None])
        return ADDITIVE
    found = MULTIPLICATIVE
    return found / DIVISOR if kind == "scaled" else found
"""


def scores(additive='hidden @ weights["v"]', multiplicative='S @ weights["W"] @ H.T', divisor="np.sqrt(S.shape[1])"):
    """The answer of question 1 with one of its parts replaced."""
    return SCORES.replace("ADDITIVE", additive).replace("MULTIPLICATIVE", multiplicative).replace("DIVISOR", divisor)


JACOBIAN = """
def context_jacobian(H, s, i):
    p = np.exp(H @ s - (H @ s).max())
    p /= p.sum()
    c = p @ H
    return RESULT
"""

WRONG = {
    "divided by the width, not by its root": {
        "answers": {"scores": scores(divisor="S.shape[1]")},
        "score": 12,
    },
    "the root of the wrong width": {
        "answers": {"scores": scores(divisor="np.sqrt(H.shape[1])")},
        "score": 14,  # right where the sizes are equal
    },
    "an elementwise product with v": {
        "answers": {"scores": scores(additive='hidden * weights["v"]')},
        "score": 12,
    },
    "no tanh": {
        "answers": {"scores": scores(additive='np.arctanh(hidden) @ weights["v"]')},
        "score": 12,
    },
    "W the other way round": {
        "answers": {"scores": scores(multiplicative='S @ weights["W"].T @ H.T')},
        "score": 12,
    },
    "the mask comes after the softmax": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    p = np.exp(E - E.max(1, keepdims=True))
    return np.where(mask, p / p.sum(1, keepdims=True), 0.0)
"""
        },
        "score": 13,
    },
    "masked scores are set to 0": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    p = np.exp(np.where(mask, E, 0.0))
    return p / p.sum(1, keepdims=True)
"""
        },
        "score": 13,
    },
    "true means forbidden": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    p = np.where(mask, 0.0, np.exp(np.minimum(E, 500)))
    return p / np.maximum(p.sum(1, keepdims=True), 1e-300)
"""
        },
        "score": 13,
    },
    "exponentials overflow": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    p = np.where(mask, np.exp(np.where(mask, E, 0.0)), 0.0)
    return p / np.maximum(p.sum(1, keepdims=True), 1e-300)
"""
        },
        "score": 14,
    },
    "a large negative number in place of minus infinity": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    E = np.where(mask, E, -1e9)
    p = np.exp(E - E.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)
"""
        },
        "score": 14,  # a step that may attend to nothing gets even weights
    },
    "the softmax runs over the steps": {
        "answers": {
            "contexts": """
def contexts(S, H):
    E = S @ H.T
    p = np.exp(E - E.max(0, keepdims=True))
    return p / p.sum(0, keepdims=True) @ H
"""
        },
        "score": 14,
    },
    "contexts in the columns": {
        "answers": {
            "contexts": """
def contexts(S, H):
    E = H @ S.T
    p = np.exp(E - E.max(0, keepdims=True))
    return H.T @ (p / p.sum(0, keepdims=True))
"""
        },
        "score": 14,
    },
    "contexts overflow": {
        "answers": {
            "contexts": """
def contexts(S, H):
    p = np.exp(S @ H.T)
    return p / p.sum(1, keepdims=True) @ H
"""
        },
        "score": 15,
    },
    "always looks after the update": {
        "answers": {
            "stepwise": """
def decode(H, s0, Y, A, B, U, when):
    s, rows = s0, []
    for y in Y:
        s = np.tanh(A @ s + B @ y)
        p = np.exp(H @ s - (H @ s).max())
        rows.append(p @ H / p.sum())
    return np.array(rows)
"""
        },
        "score": 13,
    },
    "what was seen does not reach the state": {
        "answers": {
            "stepwise": """
def decode(H, s0, Y, A, B, U, when):
    s, rows = s0, []
    for y in Y:
        new = np.tanh(A @ s + B @ y)
        look = s if when == "before" else new
        p = np.exp(H @ look - (H @ look).max())
        rows.append(p @ H / p.sum())
        s = new
    return np.array(rows)
"""
        },
        "score": 14,
    },
    "the context of the step before enters": {
        "answers": {
            "stepwise": """
def decode(H, s0, Y, A, B, U, when):
    s, rows, c = s0, [], np.zeros(len(s0))
    for y in Y:
        old = c
        if when == "after":
            s = np.tanh(A @ s + B @ y)
        p = np.exp(H @ s - (H @ s).max())
        c = p @ H / p.sum()
        if when == "before":
            s = np.tanh(A @ s + B @ y + U @ old)
        rows.append(c)
    return np.array(rows)
"""
        },
        "score": 14,
    },
    "only the direct part": {
        "answers": {"jacobian": JACOBIAN.replace("RESULT", "p[i] * np.eye(len(s))")},
        "score": 15,
    },
    "only the part of the score": {
        "answers": {"jacobian": JACOBIAN.replace("RESULT", "p[i] * np.outer(H[i] - c, s)")},
        "score": 14,
    },
    "rows and columns exchanged": {
        "answers": {"jacobian": JACOBIAN.replace("RESULT", "p[i] * (np.eye(len(s)) + np.outer(s, H[i] - c))")},
        "score": 15,
    },
    "neighbours only": {
        "answers": {
            "swaps": """
def swaps(A):
    at = A.argmax(1)
    return int((at[:-1] > at[1:]).sum())
"""
        },
        "score": 15,
    },
    "the same position counts": {
        "answers": {
            "swaps": """
def swaps(A):
    at = A.argmax(1)
    return int(sum(a >= b for t, a in enumerate(at) for b in at[t + 1 :]))
"""
        },
        "score": 15,
    },
    "what is off the diagonal": {
        "answers": {
            "swaps": """
def swaps(A):
    at = A.argmax(1)
    return int((at != np.arange(len(at))).sum())
"""
        },
        "score": 14,
    },
}
