"""Common wrong answers to homework 13, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16


def heads(scale="np.sqrt(d / n)", axes="(T, n, d // n).swapaxes(0, 1)", forbidden="mask, e, -1e30", merged="{} @ W_o"):
    return f"""
def multi_head(X, W_q, W_k, W_v, W_o, n, mask):
    T, d = np.shape(X)
    Q, K, V = (np.dot(X, W).reshape{axes} for W in (W_q, W_k, W_v))
    e = Q @ K.swapaxes(1, 2) / {scale}
    e = np.where({forbidden})
    e = np.exp(e - e.max(axis=2, keepdims=True))
    mixed = (e / e.sum(axis=2, keepdims=True) @ V).swapaxes(0, 1).reshape(T, d)
    return {merged.format("mixed")}
"""


def causal(scale="np.sqrt(W_q.shape[1])", mask="np.tril(np.ones((len(X), len(X))))"):
    return f"""
def causal_attention(X, W_q, W_k, W_v):
    e = (X @ W_q) @ (X @ W_k).T / {scale}
    M = {mask} > 0
    e = np.where(M, e, -np.inf)
    e = np.exp(e - e.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (X @ W_v)
"""


WRONG = {
    "zero after the softmax": {
        "answers": {
            "weights": """
def masked_weights(scores, mask):
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) * mask
"""
        },
        "score": 12,
    },
    "zero after the softmax, divided by the sum": {
        "answers": {
            "weights": """
def masked_weights(scores, mask):
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True)) * mask
    return e / e.sum(axis=-1, keepdims=True)
"""
        },
        "score": 14,  # a large forbidden score leaves nothing to divide
    },
    "minus infinity, and an empty row is NaN": {
        "answers": {
            "weights": """
def masked_weights(scores, mask):
    e = np.where(mask, scores, -np.inf)
    e = np.exp(e - e.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
        },
        "score": 14,
    },
    "a score of minus 1000 instead of minus infinity": {
        "answers": {
            "weights": """
def masked_weights(scores, mask):
    e = np.where(mask, scores, -1e3)
    e = np.exp(e - e.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
        },
        "score": 14,
    },
    "a score of zero is no mask": {
        "answers": {
            "weights": """
def masked_weights(scores, mask):
    e = np.exp(np.where(mask, scores, 0.0))
    return e / e.sum(axis=-1, keepdims=True)
"""
        },
        "score": 12,
    },
    "not scaled": {"answers": {"causal": causal(scale="1")}, "score": 14},  # with one number a key the root is 1
    "divided by the width, not its root": {"answers": {"causal": causal(scale="W_q.shape[1]")}, "score": 14},
    "scaled by the width of X": {"answers": {"causal": causal(scale="np.sqrt(X.shape[1])")}, "score": 13},
    "the mask does not permit the word itself": {
        "answers": {"causal": causal(mask="np.tril(np.ones((len(X), len(X))), -1)")},
        "score": 13,
    },
    "the mask is one cell too far": {
        "answers": {"causal": causal(mask="np.tril(np.ones((len(X), len(X))), 1)")},
        "score": 13,
    },
    "the mask is turned over": {"answers": {"causal": causal(mask="np.triu(np.ones((len(X), len(X))))")}, "score": 13},
    "zero after the softmax in the head": {
        "answers": {
            "causal": """
def causal_attention(X, W_q, W_k, W_v):
    e = np.exp((X @ W_q) @ (X @ W_k).T / np.sqrt(W_q.shape[1]))
    return np.tril(e / e.sum(axis=1, keepdims=True)) @ (X @ W_v)
"""
        },
        "score": 13,
    },
    "heads scaled by the whole width": {"answers": {"heads": heads(scale="np.sqrt(d)")}, "score": 13},
    "heads cut without turning the axes": {
        "answers": {"heads": heads(axes="(n, T, d // n)")},
        "score": 13,
    },
    "one head of the whole width": {
        "answers": {
            "heads": """
def multi_head(X, W_q, W_k, W_v, W_o, n, mask):
    e = np.where(mask, (X @ W_q) @ (X @ W_k).T / np.sqrt(X.shape[1]), -np.inf)
    e = np.exp(e - e.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ (X @ W_v) @ W_o
"""
        },
        "score": 13,
    },
    "True forbids, as in torch's nn.MultiheadAttention": {
        "answers": {"heads": heads(forbidden="mask, -1e30, e")},
        "score": 13,
    },
    "the heads are merged with a ReLU": {"answers": {"heads": heads(merged="np.maximum(0, {} @ W_o)")}, "score": 14},
    "the residual connection is forgotten": {
        "answers": {
            "reach": """
def can_depend(mask, layers):
    R = np.eye(len(mask), dtype=bool)
    for _ in range(layers):
        R = (np.array(mask, dtype=int) @ R.astype(int)) > 0
    return R
"""
        },
        "score": 13,
    },
    "paths are counted": {
        "answers": {
            "reach": """
def can_depend(mask, layers):
    M = np.array(mask, dtype=np.int64) | np.eye(len(mask), dtype=np.int64)
    return np.linalg.matrix_power(M, layers) > 0
"""
        },
        "score": 14,  # 8 to the 100 is 0 in 64 bits
    },
    "exactly that many steps, from a diagonal of zeros": {
        "answers": {
            "reach": """
def can_depend(mask, layers):
    R = np.array(mask, dtype=bool) | np.eye(len(mask), dtype=bool)
    for _ in range(layers):
        R = (R.astype(int) @ R.astype(int)) > 0
    return R
"""
        },
        "score": 13,  # squares: twice as far with every layer
    },
    "one layer too many": {
        "answers": {
            "reach": """
def can_depend(mask, layers):
    M = np.array(mask, dtype=bool) | np.eye(len(mask), dtype=bool)
    R = M
    for _ in range(layers):
        R = (M.astype(int) @ R.astype(int)) > 0
    return R
"""
        },
        "score": 13,
    },
    "only what one layer sees": {
        "answers": {
            "leaks": """
def leaks_from(mask, first):
    return int(np.triu(np.array(mask), 1)[first:].any())
"""
        },
        "score": 14,
    },
    "every output counts": {
        "answers": {
            "leaks": """
def leaks_from(mask, first):
    return int(np.triu(np.array(mask), 1).any())
"""
        },
        "score": 13,
    },
    "two layers are enough": {
        "answers": {
            "leaks": """
def leaks_from(mask, first):
    M = np.array(mask, dtype=int) | np.eye(len(mask), dtype=int)
    R = M
    for layers in (1, 2):
        if np.triu(R > 0, 1)[first:].any():
            return layers
        R = M @ R
    return 0
"""
        },
        "score": 14,
    },
    "its own place counts as later": {
        "answers": {
            "leaks": """
def leaks_from(mask, first):
    M = np.array(mask, dtype=int) | np.eye(len(mask), dtype=int)
    R = M
    for layers in range(1, len(mask) + 1):
        if np.triu(R > 0)[first:].any():
            return layers
        R = np.minimum(1, M @ R)
    return 0
"""
        },
        "score": 13,
    },
}
