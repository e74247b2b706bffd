"""Common wrong answers to homework 12, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

ATTENTION = """
def attention(Q, K, V, mask=None):
    e = Q @ K.T / np.sqrt(Q.shape[1])
    return masked_weights(e, np.full(e.shape, True) if mask is None else mask) @ V
"""
SHARPNESS = """
def sharpness(N, d_k, p):
    ratio = p / (1 - p) * (N - 1)
    return np.log(ratio) * np.sqrt(d_k)
"""
HEADS = """
def multi_head(S, H, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = S @ W_q, H @ W_k, H @ W_v
    d_k, d_v, answers = Q.shape[1] // n_heads, V.shape[1] // n_heads, []
    for j in range(n_heads):
        a, b = slice(j * d_k, (j + 1) * d_k), slice(j * d_v, (j + 1) * d_v)
        e = Q[:, a] @ K[:, a].T / np.sqrt(d_k)
        p = np.exp(e - e.max(axis=1, keepdims=True))
        answers.append(p / p.sum(axis=1, keepdims=True) @ V[:, b])
    return np.concatenate(answers, axis=1) @ W_o
"""
COUNTING = """
def parameters(d_s, d_h, d_k, d_v, n_heads, bias):
    k, v = n_heads * d_k, n_heads * d_v
    counts = {"Q": d_s * k, "K": d_h * k, "V": d_h * v, "O": v * d_s}
    if bias:
        for name, more in (("Q", k), ("K", k), ("V", v), ("O", d_s)):
            counts[name] += more
    return counts


def multiplications(T, N, d_s, d_h, d_k, d_v, n_heads):
    k, v = n_heads * d_k, n_heads * d_v
    return {"projections": T * d_s * k + N * d_h * k + N * d_h * v + T * v * d_s, "look-up": T * N * k + T * N * v}
"""
GRADIENTS = """
def gradients(q, K, V, g):
    scale = 1 / np.sqrt(len(q))
    e = scale * K @ q
    a = np.exp(e - e.max()) / np.exp(e - e.max()).sum()
    J = np.diag(a) - np.outer(a, a)
    d_e = J @ (V @ g)
    return {"q": scale * K.T @ d_e, "K": scale * np.outer(d_e, q), "V": np.outer(a, g)}
"""
MERGED = """
def merged(reports):
    top = max(r["l"] for r in reports)
    if top == -np.inf:
        return reports[0]
    shares = [np.exp(r["l"] - top) for r in reports]
    c = sum(s * np.asarray(r["c"]) for s, r in zip(shares, reports)) / sum(shares)
    return {"c": c, "l": float(top + np.log(sum(shares)))}
"""


def changed(source: str, old: str, new: str) -> str:
    """The right answer with one mistake. Raises ValueError where there is nothing to change."""
    if old not in source:
        raise ValueError(f"{old!r} is not in the answer")
    return source.replace(old, new)


def case(question: str, source: str, old: str, new: str, score: int) -> dict:
    return {"answers": {question: changed(source, old, new)}, "score": score}


WRONG = {
    "other right answers": {
        "answers": {
            "attention": ATTENTION,
            "sharpness": SHARPNESS,
            "multi-head": HEADS,
            "counting": COUNTING,
            "gradients": GRADIENTS,
            "merging": MERGED,
        },
        "score": 16,
    },
    "no root": case("attention", ATTENTION, " / np.sqrt(Q.shape[1])", "", 14),
    "divided by the length": case("attention", ATTENTION, "np.sqrt(Q.shape[1])", "Q.shape[1]", 14),
    "the root of the number of keys": case("attention", ATTENTION, "np.sqrt(Q.shape[1])", "np.sqrt(len(K))", 14),
    "True forbids": case("attention", ATTENTION, "else mask)", "else ~mask)", 15),
    "the mask is not used": case("attention", ATTENTION, "if mask is None else mask", "", 15),
    "scores of forbidden keys set to 0": {
        "answers": {
            "attention": """
def attention(Q, K, V, mask=None):
    e = Q @ K.T / np.sqrt(Q.shape[1]) * (1 if mask is None else mask)
    return masked_weights(e, np.full(e.shape, True)) @ V
"""
        },
        "score": 15,
    },
    "weights set to 0 after the softmax": {
        "answers": {
            "attention": """
def attention(Q, K, V, mask=None):
    e = Q @ K.T / np.sqrt(Q.shape[1])
    p = masked_weights(e, np.full(e.shape, True))
    return (p if mask is None else p * mask) @ V
"""
        },
        "score": 15,
    },
    "the key itself is one of the others": case("sharpness", SHARPNESS, "(N - 1)", "N", 14),
    "sharp without the root": case("sharpness", SHARPNESS, " * np.sqrt(d_k)", "", 14),
    "the odds of two keys": case("sharpness", SHARPNESS, " * (N - 1)", "", 14),
    "masked after the softmax and divided by what is left": {
        "answers": {
            "attention": """
def attention(Q, K, V, mask=None):
    e = Q @ K.T / np.sqrt(Q.shape[1])
    p = np.exp(e - e.max(axis=1, keepdims=True))
    p = p if mask is None else p * mask
    z = p.sum(axis=1, keepdims=True)
    return p @ V / np.where(z == 0, 1.0, z)
"""
        },
        "score": 15,  # the best key is forbidden: what is left has been rounded to 0
    },
    "the root of the whole width": case("multi-head", HEADS, "np.sqrt(d_k)", "np.sqrt(Q.shape[1])", 13),
    "heads cut out of the rows": {
        "answers": {
            "multi-head": """
def multi_head(S, H, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).reshape(n_heads, len(X), -1) for X, W in ((S, W_q), (H, W_k), (H, W_v)))
    e = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[2])
    p = np.exp(e - e.max(axis=2, keepdims=True))
    C = p / p.sum(axis=2, keepdims=True) @ V
    return C.reshape(len(S), -1) @ W_o
"""
        },
        "score": 13,
    },
    "put together without turning the axes back": {
        "answers": {
            "multi-head": """
def multi_head(S, H, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = (
        (X @ W).reshape(len(X), n_heads, -1).transpose(1, 0, 2) for X, W in ((S, W_q), (H, W_k), (H, W_v))
    )
    e = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[2])
    p = np.exp(e - e.max(axis=2, keepdims=True))
    C = p / p.sum(axis=2, keepdims=True) @ V
    return C.reshape(len(S), -1) @ W_o
"""
        },
        "score": 13,
    },
    "one head whatever is asked": case("multi-head", HEADS, "    Q, K, V = S", "    n_heads = 1\n    Q, K, V = S", 13),
    "values of the width of keys": case("multi-head", HEADS, "V.shape[1] // n_heads", "d_k", 12),
    "a network with ReLU merges the heads": case(
        "multi-head",
        HEADS,
        "np.concatenate(answers, axis=1) @ W_o",
        "np.maximum(np.concatenate(answers, axis=1) @ W_o, 0)",
        12,
    ),
    "d_k is taken for the width of all heads": case(
        "counting", COUNTING, "k, v = n_heads * d_k, n_heads * d_v", "k, v = d_k, d_v", 13
    ),
    "the number of words is a size of the weights": case("counting", COUNTING, '"Q": d_s * k', '"Q": 4 * d_s * k', 14),
    "keys made from the asking side": case("counting", COUNTING, '"K": d_h * k', '"K": d_s * k', 14),
    "the bias of the output as wide as its input": case("counting", COUNTING, '("O", d_s)', '("O", v)', 14),
    "only the scores are counted": case("counting", COUNTING, "T * N * k + T * N * v", "T * N * k", 15),
    "as many keys as queries": case("counting", COUNTING, "+ N * d_h * k + N *", "+ T * d_h * k + T *", 15),
    "no root in the gradients": case("gradients", GRADIENTS, "1 / np.sqrt(len(q))", "1.0", 13),
    "the root forgotten on the way back": case("gradients", GRADIENTS, "scale * K.T @ d_e", "K.T @ d_e", 14),
    "a softmax whose outputs do not compete": case(
        "gradients", GRADIENTS, "J = np.diag(a) - np.outer(a, a)", "J = np.diag(a * (1 - a))", 14
    ),
    "the weights as if they were constant": case("gradients", GRADIENTS, "d_e = J @ (V @ g)", "d_e = a * (V @ g)", 14),
    "the gradient of the values without weights": case(
        "gradients", GRADIENTS, "np.outer(a, g)", "np.outer(np.ones(len(V)), g)", 15
    ),
    "the mean of the answers": {
        "answers": {
            "merging": """
def merged(reports):
    return {"c": np.mean([r["c"] for r in reports], axis=0), "l": float(np.mean([r["l"] for r in reports]))}
"""
        },
        "score": 14,
    },
    "weights from l without the exponential": {
        "answers": {
            "merging": """
def merged(reports):
    total = sum(r["l"] for r in reports)
    return {"c": sum(r["l"] * np.asarray(r["c"]) for r in reports) / total, "l": float(total)}
"""
        },
        "score": 14,
    },
    "exponentials that overflow": {
        "answers": {
            "merging": """
def merged(reports):
    sizes = np.array([np.exp(r["l"]) for r in reports])
    answers = np.array([r["c"] for r in reports])
    return {"c": sizes @ answers / sizes.sum(), "l": float(np.log(sizes.sum()))}
"""
        },
        "score": 15,
    },
    "nobody has a pair": case("merging", MERGED, "    if top == -np.inf:\n        return reports[0]\n", "", 15),
    "the largest l for all": case("merging", MERGED, "float(top + np.log(sum(shares)))", "float(top)", 14),
}
