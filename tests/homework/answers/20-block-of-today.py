"""Common wrong answers to homework 20, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def rms_norm(x, g):
    size = np.sqrt((x * x).mean(axis=1))[:, None]
    return x / (size + (size == 0)) * g


def swiglu(x, W_1, W_3, W_2):
    a, b = x @ W_1.T, x @ W_3.T
    sigmoid = 0.5 * (1 + np.tanh(a / 2))
    return (a * sigmoid * b) @ W_2.T


def equal_width(d, n_heads, n_kv, matrices):
    attention = 2 * d * d + 2 * d * (d // n_heads) * n_kv
    return (ROOM * d * d - attention) // (matrices * d)


def numbers_kept(n_kv, d_k, spans, tokens):
    total = 0
    for span in spans:
        old = [i for i in range(tokens) if not span or i > tokens - span or i < SINKS]
        total += len(old)
    return total * 2 * n_kv * d_k


def attend(Q, K, V, span):
    K, V = (np.repeat(X, len(Q) // len(X), axis=0) for X in (K, V))
    T = Q.shape[1]
    far = np.subtract.outer(np.arange(T), np.arange(T))
    hidden = far < 0
    if span:
        hidden |= (far >= span) & (np.arange(T) >= SINKS)
    e = Q @ K.transpose(0, 2, 1) / Q.shape[2] ** 0.5
    e[:, hidden] = -np.inf
    w = np.exp(e - e.max(axis=2, keepdims=True))
    return (w / w.sum(axis=2, keepdims=True)) @ V


def compose(a, b, c, d):
    return a * c, b * c + d


def doubled(a, b, r):
    a_out, b_out = a.astype(float), b.astype(float)
    for t in range(r, len(a)):
        a_out[t] = a[t] * a[t - r]
        b_out[t] = a[t] * b[t - r] + b[t]
    return a_out, b_out


def min_gru(x, W_z, b_z, W_h, h):
    z = 1 / (1 + np.exp(-(x @ W_z.T + b_z)))
    out = np.zeros_like(z)
    for t in range(len(x)):
        h = out[t] = (1 - z[t]) * h + z[t] * (x[t] @ W_h.T)
    return out


wrong(
    "the mean is subtracted first",
    15,
    rms_norm,
    {"(x * x)": "((x - x.mean(axis=1)[:, None]) ** 2)", "return x": "return (x - x.mean(axis=1)[:, None])"},
)
wrong("the sum of squares in place of the mean", 15, rms_norm, {".mean(": ".sum("})
wrong("a row of zeros becomes NaN", 15, rms_norm, {"(size + (size == 0))": "size"})
wrong("the gain is forgotten", 15, rms_norm, {" * g": " + 0 * g"})
wrong("a sigmoid in place of silu", 14, swiglu, {"a * sigmoid * b": "sigmoid * b"})
wrong("the gate sits on the other product", 14, swiglu, {"a * sigmoid * b": "b / (1 + np.exp(-b)) * a"})
wrong("the exponential overflows", 14, swiglu, {"0.5 * (1 + np.tanh(a / 2))": "1 / (1 + np.exp(-a))"})
wrong("keys for every head of queries", 14, equal_width, {"(d // n_heads) * n_kv": "d"})
wrong("three matrices for both networks", 14, equal_width, {"(matrices * d)": "(3 * d)"})
wrong("the output matrix is forgotten", 14, equal_width, {"2 * d * d + 2": "d * d + 2"})
wrong("rounded up", 14, equal_width, {"return (ROOM": "return 1 + (ROOM"})
wrong("keys without values", 14, numbers_kept, {"total * 2": "total"})
wrong("a window keeps one key too many", 14, numbers_kept, {"i > tokens - span": "i >= tokens - span"})
wrong("windows are not noticed", 14, numbers_kept, {"not span or": "True or"})
wrong(
    "heads take turns in place of groups",
    14,
    attend,
    {"np.repeat(X, len(Q) // len(X), axis=0)": "np.tile(X, (len(Q) // len(X), 1, 1))"},
)
wrong("scores are not divided", 12, attend, {" / Q.shape[2] ** 0.5": ""})
wrong("the future is seen", 12, attend, {"far < 0": "far < -len(far)"})
wrong("the window is one key too long", 14, attend, {"far >= span": "far > span"})
wrong("large scores overflow", 14, attend, {" - e.max(axis=2, keepdims=True)": ""})
wrong("composed in the other order", 13, compose, {"b * c + d": "a * d + b"})
wrong("the factors are not multiplied", 13, doubled, {"a[t] * a[t - r]": "a[t]"})
wrong("what was just computed is used again", 13, doubled, {"a[t] * b[t - r]": "a[t] * b_out[t - r]"})
wrong("the gate and its complement exchanged", 14, min_gru, {"(1 - z[t]) * h + z[t] *": "z[t] * h + (1 - z[t]) *"})
wrong("a tanh around the proposal", 14, min_gru, {"(x[t] @ W_h.T)": "np.tanh(x[t] @ W_h.T)"})
wrong("every text begins at 0", 14, min_gru, {"out = np.zeros_like(z)": "out, h = np.zeros_like(z), 0 * h"})
wrong("the bias of the gate is forgotten", 14, min_gru, {" + b_z": " + 0 * b_z"})
