"""Common wrong answers to homework 12, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def attention(Q, K, V, mask=None):
    e = Q @ K.T / np.sqrt(Q.shape[1])
    return masked_weights(e, np.full(e.shape, True) if mask is None else mask) @ V


def sharpness(N, d_k, p):
    ratio = p / (1 - p) * (N - 1)
    return np.log(ratio) * np.sqrt(d_k) / LENGTH**2


def multi_head(S, H, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = S @ W_q, H @ W_k, H @ W_v
    d_k, d_v, answers = Q.shape[1] // n_heads, V.shape[1] // n_heads, []
    for j in range(n_heads):
        a, b = slice(j * d_k, (j + 1) * d_k), slice(j * d_v, (j + 1) * d_v)
        e = Q[:, a] @ K[:, a].T / np.sqrt(d_k)
        p = np.exp(e - e.max(axis=1, keepdims=True))
        answers.append(p / p.sum(axis=1, keepdims=True) @ V[:, b])
    return np.concatenate(answers, axis=1) @ W_o


def parameters(d_s, d_h, d_k, d_v, n_heads, bias):
    k, v = n_heads * d_k, n_heads * d_v
    counts = {"Q": d_s * k, "K": d_h * k, "V": d_h * v, "O": v * d_s}
    if bias:
        for name, more in (("Q", k), ("K", k), ("V", v), ("O", d_s)):
            counts[name] += more
    return counts


def multiplications(T, N, d_s, d_h, d_k, d_v, n_heads):
    d_k, d_v = TEXTS * d_k, TEXTS * d_v
    k, v = n_heads * d_k, n_heads * d_v
    return {"projections": T * d_s * k + N * d_h * k + N * d_h * v + T * v * d_s, "look-up": T * N * k + T * N * v}


def gradients(q, K, V, g):
    scale = 1 / np.sqrt(len(q))
    e = scale * K @ q
    a = np.exp(e - e.max()) / np.exp(e - e.max()).sum()
    J = np.diag(a) - np.outer(a, a)
    d_e = J @ (V @ g)
    return {"q": scale * K.T @ d_e, "K": scale * np.outer(d_e, q), "V": np.outer(a, g)}


def merged(reports):
    top = max(r["l"] for r in reports)
    if top == -np.inf:
        return reports[0]
    shares = [np.exp(r["l"] - top) for r in reports]
    c = sum(s * np.asarray(r["c"]) for s, r in zip(shares, reports)) / sum(shares)
    return {"c": c, "l": float(top + np.log(sum(shares)))}


wrong("no root", 14, attention, {" / np.sqrt(Q.shape[1])": ""})
wrong("divided by the length", 14, attention, {"np.sqrt(Q.shape[1])": "Q.shape[1]"})
wrong("the root of the number of keys", 14, attention, {"Q.shape[1]": "len(K)"})
wrong("True forbids", 15, attention, {"else ": "else ~"})
wrong("the mask is not used", 15, attention, {" if mask is None else mask": ""})
wrong(
    "weights set to 0 after the softmax",
    15,
    attention,
    {"return": "p =", "True)": "True))\n    return (p", "else mask": "else p * mask"},
)
wrong("the key itself is one of the others", 14, sharpness, {"(N - 1)": "N"})
wrong("sharp without the root", 14, sharpness, {" * np.sqrt(d_k)": ""})
wrong("the odds of two keys", 14, sharpness, {" * (N - 1)": ""})
wrong("the root of the whole width", 13, multi_head, {"(d_k)": "(Q.shape[1])"})
wrong("one head whatever is asked", 13, multi_head, {"Q, K": "n_heads = 1\n    Q, K"})
wrong("values of the width of keys", 12, multi_head, {"V.shape[1] // n_heads": "d_k"})
wrong(
    "a network with ReLU merges the heads",
    12,
    multi_head,
    {"concatenate(answers, axis=1) @ W_o": "maximum(np.concatenate(answers, axis=1) @ W_o, 0)"},
)
wrong("d_k is taken for the width of all heads", 13, parameters, {"n_heads * d_k, n_heads *": "d_k,"})
wrong("d_k is taken for the width of all heads", 13, multiplications, {"n_heads * d_k, n_heads *": "d_k,"})
wrong("the number of words is a size of the weights", 14, parameters, {"d_s *": "4 * d_s *"})
wrong("keys made from the asking side", 14, parameters, {"d_h * k": "d_s * k"})
wrong("the bias of the output as wide as its input", 14, parameters, {", d_s": ", v"})
wrong("only the scores are counted", 15, multiplications, {" + T * N * v": ""})
wrong("as many keys as queries", 15, multiplications, {"N * d_h * k + N": "T * d_h * k + T"})
wrong("no root in the gradients", 13, gradients, {" / np.sqrt(len(q))": ".0"})
wrong("the root forgotten on the way back", 14, gradients, {"scale * K.": "K."})
wrong("a softmax whose outputs do not compete", 14, gradients, {"(a) - np.outer(a, a)": "(a * (1 - a))"})
wrong("the weights as if they were constant", 14, gradients, {"= J @": "= a *"})
wrong("the gradient of the values without weights", 15, gradients, {"a, g": "np.ones(len(V)), g"})
wrong("nobody has a pair", 15, merged, {"if top == -np.inf:\n        return reports[0]\n    ": ""})
wrong("the largest l for all", 14, merged, {" + np.log(sum(shares))": ""})


@wrong("scores of forbidden keys set to 0", 15)
def attention(Q, K, V, mask=None):
    e = Q @ K.T / np.sqrt(Q.shape[1]) * (1 if mask is None else mask)
    return masked_weights(e, np.full(e.shape, True)) @ V


# the best key is forbidden: what is left has been rounded to 0
@wrong("masked after the softmax and divided by what is left", 15)
def attention(Q, K, V, mask=None):
    e = Q @ K.T / np.sqrt(Q.shape[1])
    p = np.exp(e - e.max(axis=1, keepdims=True))
    p = p if mask is None else p * mask
    z = p.sum(axis=1, keepdims=True)
    return p @ V / np.where(z == 0, 1.0, z)


@wrong("heads cut out of the rows", 13)
def multi_head(S, H, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).reshape(n_heads, len(X), -1) for X, W in ((S, W_q), (H, W_k), (H, W_v)))
    e = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[2])
    p = np.exp(e - e.max(axis=2, keepdims=True))
    C = p / p.sum(axis=2, keepdims=True) @ V
    return C.reshape(len(S), -1) @ W_o


@wrong("put together without turning the axes back", 13)
def multi_head(S, H, W_q, W_k, W_v, W_o, n_heads):
    Q, K, V = ((X @ W).reshape(len(X), n_heads, -1).transpose(1, 0, 2) for X, W in ((S, W_q), (H, W_k), (H, W_v)))
    e = Q @ K.transpose(0, 2, 1) / np.sqrt(Q.shape[2])
    p = np.exp(e - e.max(axis=2, keepdims=True))
    C = p / p.sum(axis=2, keepdims=True) @ V
    return C.reshape(len(S), -1) @ W_o


@wrong("the mean of the answers", 14)
def merged(reports):
    return {"c": np.mean([r["c"] for r in reports], axis=0), "l": float(np.mean([r["l"] for r in reports]))}


@wrong("weights from l without the exponential", 14)
def merged(reports):
    total = sum(r["l"] for r in reports)
    return {"c": sum(r["l"] * np.asarray(r["c"]) for r in reports) / total, "l": float(total)}


@wrong("exponentials that overflow", 15)
def merged(reports):
    sizes = np.array([np.exp(r["l"]) for r in reports])
    answers = np.array([r["c"] for r in reports])
    return {"c": sizes @ answers / sizes.sum(), "l": float(np.log(sizes.sum()))}
