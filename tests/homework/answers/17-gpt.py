"""Common wrong answers to homework 17, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

LOSS = """
def causal_loss(logits, tokens, pad):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    {choose}
"""
DRAW = """
def draw(p, u):
    return int(np.flatnonzero(np.cumsum(p) > u)[0])
"""
NUCLEUS = """
def nucleus(logits, temperature, top_p):
    p = np.exp((logits - logits.max()) / temperature)
    p = p / p.sum()
    order = np.argsort(-p, kind="stable")
    {cut}
    out = np.zeros_like(p)
    out[keep] = p[keep]
    return {result}
"""
FULL_PASS = """
def attention(w, X, n_heads):
    T, d = X.shape
    Q, K, V = ((X @ w[name]).reshape(T, n_heads, -1).transpose(1, 0, 2) for name in ("W_q", "W_k", "W_v"))
    S = Q @ K.transpose(0, 2, 1) / np.sqrt({width})
    {mask}
    S = np.exp(S - S.max(axis=2, keepdims=True))
    return (S / S.sum(axis=2, keepdims=True) @ V).transpose(1, 0, 2).reshape(T, d) @ w["W_o"]
"""
STEP = """
def step(w, x, cache, n_heads):
    K, V = np.vstack([cache["K"], x @ w["W_k"]]), np.vstack([cache["V"], x @ w["W_v"]])
    seen_K, seen_V = {seen}
    q, d_k, heads = x @ w["W_q"], len(x) // n_heads, []
    for j in range(n_heads):
        part = slice(j * d_k, (j + 1) * d_k)
        e = np.exp(seen_K[:, part] @ q[part] / np.sqrt({width}))
        heads.append(e / e.sum() @ seen_V[:, part])
    return np.concatenate(heads) @ w["W_o"], {cache}
"""
MASK = "S = np.where(np.tri(T, dtype=bool), S, -np.inf)"
GROWN = '{"K": K, "V": V}'
NEEDED = """
def needed(A, alpha, goal):
    return (A / goal) ** (1 / alpha)
"""
FIT = """
def fit_power(N, L):
    slope, start = np.polyfit(np.log(N), np.log(L), 1)
    worst = np.abs(np.log(L) - start - slope * np.log(N)).max()
    return np.exp(start), -slope, worst
"""


def loss(choose):
    return LOSS.format(choose="\n    ".join(choose))


WRONG = {
    "no shift: each place is asked for what it reads": {
        "answers": {
            "loss": loss(
                [
                    "log_p = np.take_along_axis(log_p, tokens[:, :, None], 2)[:, :, 0]",
                    "return -log_p[tokens != pad].mean()",
                ]
            )
        },
        "score": 12,
    },
    "shifted the other way": {
        "answers": {
            "loss": loss(
                [
                    "log_p = np.take_along_axis(log_p[:, 1:], tokens[:, :-1, None], 2)[:, :, 0]",
                    "return -log_p[tokens[:, :-1] != pad].mean()",
                ]
            )
        },
        "score": 12,
    },
    "padding is predicted": {
        "answers": {"loss": loss(["return -np.take_along_axis(log_p[:, :-1], tokens[:, 1:, None], 2).mean()"])},
        "score": 14,
    },
    "every place whose input is real": {
        "answers": {
            "loss": loss(
                [
                    "log_p = np.take_along_axis(log_p[:, :-1], tokens[:, 1:, None], 2)[:, :, 0]",
                    "return -log_p[tokens[:, :-1] != pad].mean()",
                ]
            )
        },
        "score": 14,
    },
    "a mean of the means of the texts": {
        "answers": {
            "loss": loss(
                [
                    "log_p = np.take_along_axis(log_p[:, :-1], tokens[:, 1:, None], 2)[:, :, 0]",
                    "return -np.mean([row[real].mean() for row, real in zip(log_p, tokens[:, 1:] != pad)])",
                ]
            )
        },
        "score": 14,
    },
    "exponentials of large logits": {
        "answers": {
            "loss": """
def causal_loss(logits, tokens, pad):
    with np.errstate(all="ignore"):
        p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
        p = np.take_along_axis(p[:, :-1], tokens[:, 1:, None], 2)[:, :, 0]
        return -np.log(p[tokens[:, 1:] != pad]).mean()
"""
        },
        "score": 14,
    },
    "the token that reaches top-p is cut as well": {
        "answers": {
            "top-p": NUCLEUS.format(
                cut="keep = order[: max(1, (np.cumsum(p[order]) <= top_p + 1e-12).sum())]", result="out / out.sum()"
            )
            + DRAW
        },
        "score": 13,
    },
    "one token too many where the sum is met": {
        "answers": {
            "top-p": NUCLEUS.format(
                cut="keep = order[: (np.cumsum(p[order]) <= top_p + 1e-9).sum() + 1]", result="out / out.sum()"
            )
            + DRAW
        },
        "score": 13,
    },
    "not divided by the sum": {
        "answers": {
            "top-p": NUCLEUS.format(cut="keep = order[np.cumsum(p[order]) - p[order] < top_p - 1e-12]", result="out")
            + DRAW
        },
        "score": 13,
    },
    "cut first, then the temperature": {
        "answers": {
            "top-p": """
def nucleus(logits, temperature, top_p):
    p = np.exp(logits - logits.max())
    p = p / p.sum()
    order = np.argsort(-p, kind="stable")
    keep = order[np.cumsum(p[order]) - p[order] < top_p - 1e-12]
    out = np.zeros_like(p)
    out[keep] = p[keep] ** (1 / temperature)
    return out / out.sum()
"""
            + DRAW
        },
        "score": 13,
    },
    "all tokens as likely as the last one kept": {
        "answers": {
            "top-p": NUCLEUS.format(
                cut="least = p[order][np.cumsum(p[order]) - p[order] < top_p - 1e-12].min(); keep = p >= least",
                result="out / out.sum()",
            )
            + DRAW
        },
        "score": 13,
    },
    "a border belongs to the token before": {
        "answers": {
            "top-p": NUCLEUS.format(
                cut="keep = order[np.cumsum(p[order]) - p[order] < top_p - 1e-12]", result="out / out.sum()"
            )
            + """
def draw(p, u):
    return int(np.searchsorted(np.cumsum(p), u))
"""
        },
        "score": 15,
    },
    "no mask": {
        "answers": {
            "cache": FULL_PASS.format(width="d // n_heads", mask="")
            + STEP.format(seen="K, V", width="d_k", cache=GROWN)
        },
        "score": 14,
    },
    "later weights set to 0 after the softmax": {
        "answers": {
            "cache": """
def attention(w, X, n_heads):
    T, d = X.shape
    Q, K, V = ((X @ w[name]).reshape(T, n_heads, -1).transpose(1, 0, 2) for name in ("W_q", "W_k", "W_v"))
    S = np.exp(Q @ K.transpose(0, 2, 1) / np.sqrt(d // n_heads))
    S = S / S.sum(axis=2, keepdims=True) * np.tri(T)
    return (S @ V).transpose(1, 0, 2).reshape(T, d) @ w["W_o"]
"""
            + STEP.format(seen="K, V", width="d_k", cache=GROWN)
        },
        "score": 14,
    },
    "divided by the root of the whole width": {
        "answers": {
            "cache": FULL_PASS.format(width="d", mask=MASK) + STEP.format(seen="K, V", width="len(x)", cache=GROWN)
        },
        "score": 11,
    },
    "heads cut without their axis in front": {
        "answers": {
            "cache": FULL_PASS.format(width="d // n_heads", mask=MASK).replace(
                "reshape(T, n_heads, -1).transpose(1, 0, 2) for", "reshape(n_heads, T, -1) for"
            )
            + STEP.format(seen="K, V", width="d_k", cache=GROWN)
        },
        "score": 14,
    },
    "the new token does not see itself": {
        "answers": {
            "cache": FULL_PASS.format(width="d // n_heads", mask=MASK)
            + STEP.format(seen='(cache["K"], cache["V"]) if len(cache["K"]) else (K, V)', width="d_k", cache=GROWN)
        },
        "score": 13,
    },
    "the cache does not grow": {
        "answers": {
            "cache": FULL_PASS.format(width="d // n_heads", mask=MASK)
            + STEP.format(seen="K, V", width="d_k", cache='{"K": K[-1:], "V": V[-1:]}')
        },
        "score": 13,
    },
    "decimal logarithms": {
        "answers": {
            "power-law": """
def fit_power(N, L):
    slope, start = np.polyfit(np.log10(N), np.log10(L), 1)
    worst = np.abs(np.log10(L) - start - slope * np.log10(N)).max()
    return np.exp(start), -slope, worst
"""
            + NEEDED
        },
        "score": 14,
    },
    "the slope with its sign": {
        "answers": {"power-law": FIT.replace("-slope, worst", "slope, worst") + NEEDED},
        "score": 14,
    },
    "residuals of the loss, not of its logarithm": {
        "answers": {
            "power-law": FIT.replace(
                "np.abs(np.log(L) - start - slope * np.log(N))", "np.abs(L - np.exp(start) * N**slope)"
            )
            + NEEDED
        },
        "score": 14,
    },
    "a goal above A is taken for a mistake": {
        "answers": {
            "power-law": FIT
            + """
def needed(A, alpha, goal):
    return max(1.0, (A / goal) ** (1 / alpha))
"""
        },
        "score": 15,
    },
    "the exponent is not turned over": {
        "answers": {
            "power-law": FIT
            + """
def needed(A, alpha, goal):
    return (A / goal) ** alpha
"""
        },
        "score": 15,
    },
}
