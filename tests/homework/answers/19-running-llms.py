"""Common wrong answers to homework 19, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def to_gpt2(ours):
    out = {}
    for name, value in ours.items():
        if name == "output.weight":
            continue
        for old, new in (
            ("layers.", "h."),
            ("embedding", "wte"),
            ("position.table", "wpe"),
            ("attention.W_o", "attn.c_proj"),
            ("ffn.W_1", "mlp.c_fc"),
            ("ffn.W_2", "mlp.c_proj"),
            ("norm", "ln_f"),
            ("pre_1", "ln_1"),
            ("pre_2", "ln_2"),
        ):
            name = name.replace(old, new)
        value = value.T if name.startswith("h.") and value.ndim == 2 else value
        if "attention.W_" in name:
            stem, letter, kind = name.split("attention.W_")[0], *name.split("attention.W_")[1].split(".")
            out.setdefault(f"{stem}attn.c_attn.{kind}", {})[letter] = value
        else:
            out[name] = value
    for name, value in out.items():
        if isinstance(value, dict):
            out[name] = np.concatenate([value[letter] for letter in "qkv"], axis=-1)
    return {"transformer." + name: value for name, value in out.items()}


def held_and_used(V, T, L, d, d_ff, E, k):
    expert = 2 * d * d_ff + d_ff + d
    layer = 4 * d * d + 4 * d + 4 * d + E * d + SHARED * expert
    rest = V * d + T * d + 2 * d
    return rest + L * (layer + E * expert), rest + L * (layer + k * expert)


def cache_bytes(n_layers, n_kv_heads, d_k, tokens, bits):
    return 2 * n_layers * n_kv_heads * d_k * tokens * bits / 8


def most_texts(memory, parameters, weight_bits, n_layers, n_kv_heads, d_k, tokens):
    room = memory - RESERVED - parameters * weight_bits / 8
    return max(0, int(room // cache_bytes(n_layers, n_kv_heads, d_k, tokens, 16)))


def quantise(W, b):
    m = 2 ** (b - 1) - 1
    top = np.abs(W).max(axis=1)
    s = np.where(top > 0, top, m) / m
    return np.round(W / s[:, None]).astype(np.int8), s


def product(p, t, q, s):
    return t[:, None] * (p.astype(float) @ q.astype(float).T) * s[None, :]


def mixture(x, W_g, A, C, k):
    g, out, counts = gates(x @ W_g.T, k), np.zeros(x.shape), []
    for e in range(len(W_g)):
        mine = np.flatnonzero(g[:, e])
        counts.append(len(mine))
        out[mine] += g[mine, e, None] * (np.maximum(x[mine] @ A[e], 0) @ C[e])
    return out, counts


wrong("nothing is transposed", 12, to_gpt2, {'.T if name.startswith("h.") and value.ndim == 2 else value': ""})
wrong("only what would not fit is transposed", 14, to_gpt2, {'name.startswith("h.")': '"mlp" in name'})
wrong("the tables are transposed too", 12, to_gpt2, {' if name.startswith("h.") and value.ndim == 2 else value': ""})
wrong("queries, keys and values in another order", 14, to_gpt2, {'"qkv"': '"kqv"'})
wrong("without their prefix", 12, to_gpt2, {"transformer.": ""})
wrong("the router is forgotten", 15, held_and_used, {"E * d": "0"})
wrong("experts without biases", 14, held_and_used, {" + d_ff + d": ""})
wrong("all experts are used", 15, held_and_used, {"k * expert": "E * expert"})
wrong(
    "used: only the experts of one layer are left out",
    15,
    held_and_used,
    {"(layer + k * expert)": "(layer + E * expert) - (E - k) * expert"},
)
wrong("keys without values", 13, cache_bytes, {"2 * n_layers": "n_layers"})
wrong("bits taken for bytes", 14, most_texts, {"weight_bits / 8": "weight_bits"})
wrong("the cache of one layer", 13, cache_bytes, {"n_layers * ": ""})
wrong("rounded to the nearest text", 14, most_texts, {", int": ", round", "room /": "room "})
wrong("fewer than none", 14, most_texts, {" max(0,": "", "16)))": "16))"})
wrong(
    "the weights once for each text",
    14,
    most_texts,
    {"max(0, ": "", "room /": "memory /", "/ cache_bytes": "/ (memory - room + cache_bytes"},
)
wrong("one scale for the whole matrix", 14, quantise, {"abs(W).max(axis=1)": "full(len(W), np.abs(W).max())"})
wrong("the largest entry instead of the largest size", 14, quantise, {"np.abs(W)": "W"})
wrong("cut off instead of rounded", 14, quantise, {"round": "trunc"})
wrong("128 steps", 14, quantise, {"(top > 0, top, m) / m": "(top > 0, top, m) / (m + 1)"})
wrong("the sum in eight bits", 14, product, {".astype(float) @ q.astype(float)": " @ q"})
wrong("the sum in sixteen bits", 14, product, {"(float) @ q.astype(float).T": "(np.int16) @ q.T.astype(np.int16)"})
wrong(
    "the gates are forgotten",
    14,
    mixture,
    {"g[mine, e, None] * (np.maximum(x[mine] @ A[e], 0) @ C[e])": "np.maximum(x[mine] @ A[e], 0) @ C[e]"},
)
wrong("no relu", 14, mixture, {"np.maximum(x[mine] @ A[e], 0)": "x[mine] @ A[e]"})
wrong(
    "stacked first, then transposed, the bias as well",
    14,
    to_gpt2,
    {"np.concatenate(": "np.stack(", "axis=-1)": 'axis=-1).reshape(*value["q"].shape[:-1], -1)'},
)


@wrong("softmax over all, without dividing again", 13)
def gates(scores, k):
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    w = np.exp(scores - scores.max(axis=1, keepdims=True))
    w = w / w.sum(axis=1, keepdims=True)
    out = np.zeros(scores.shape)
    np.put_along_axis(out, order, np.take_along_axis(w, order, 1), 1)
    return out


@wrong("all that reach the k-th score", 15)
def gates(scores, k):
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    least = np.take_along_axis(scores, order, 1)[:, -1:]
    w = np.where(scores >= least, np.exp(scores - scores.max(axis=1, keepdims=True)), 0)
    return w / w.sum(axis=1, keepdims=True)


@wrong("exponentials of large scores", 15)
def gates(scores, k):
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    out = np.zeros(scores.shape)
    with np.errstate(all="ignore"):
        w = np.exp(np.take_along_axis(scores, order, 1))
        np.put_along_axis(out, order, w / w.sum(axis=1, keepdims=True), 1)
    return out


@wrong("every expert is asked, and most answers weighted by 0", 14)
def mixture(x, W_g, A, C, k):
    g = gates(x @ W_g.T, k)
    y = sum(g[:, e, None] * (np.maximum(x @ A[e], 0) @ C[e]) for e in range(len(W_g)))
    return y, (g > 0).sum(axis=0).tolist()
