"""Common wrong answers to homework 19, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

NAMES = """
def to_gpt2(ours):
    out = {{}}
    for name, value in ours.items():
        if name == "output.weight":
            continue
        for old, new in (
            ("layers.", "h."), ("embedding", "wte"), ("position.table", "wpe"), ("attention.W_o", "attn.c_proj"),
            ("ffn.W_1", "mlp.c_fc"), ("ffn.W_2", "mlp.c_proj"), ("norm", "ln_f"), ("pre_1", "ln_1"), ("pre_2", "ln_2"),
        ):
            name = name.replace(old, new)
        value = {turned}
        if "attention.W_" in name:
            stem, letter, kind = name.split("attention.W_")[0], *name.split("attention.W_")[1].split(".")
            out.setdefault(f"{{stem}}attn.c_attn.{{kind}}", {{}})[letter] = value
        else:
            out[name] = value
    for name, value in out.items():
        if isinstance(value, dict):
            out[name] = {joined}
    return {{{prefix} + name: value for name, value in out.items()}}
"""
TURNED = 'value.T if name.startswith("h.") and value.ndim == 2 else value'
JOINED = 'np.concatenate([value[letter] for letter in "qkv"], axis=-1)'
PREFIX = '"transformer."'

HELD = """
def held_and_used(V, T, L, d, d_ff, E, k):
    expert = 2 * d * d_ff{biases}
    layer = 4 * d * d + 4 * d + 4 * d + {router}
    rest = V * d + T * d + 2 * d
    return rest + L * (layer + E * expert), {used}
"""
USED = "rest + L * (layer + k * expert)"

CACHE = """
def cache_bytes(n_layers, n_kv_heads, d_k, tokens, bits):
    return {numbers} * bits / 8
"""
NUMBERS = "2 * n_layers * n_kv_heads * d_k * tokens"
MOST = """
def most_texts(memory, parameters, weight_bits, n_layers, n_kv_heads, d_k, tokens):
    room = memory - parameters * {weights}
    return {texts}
"""
TEXTS = "max(0, int(room // cache_bytes(n_layers, n_kv_heads, d_k, tokens, 16)))"

QUANTISE = """
def quantise(W, b):
    m = 2 ** (b - 1) - 1
    top = {top}
    s = np.where(top > 0, top, m) / {m}
    return {q}.astype(np.int8), s
"""
TOP, Q = "np.abs(W).max(axis=1)", "np.round(W / s[:, None])"
PRODUCT = """
def product(p, t, q, s):
    return t[:, None] * ({sums}) * s[None, :]
"""
SUMS = "p.astype(float) @ q.astype(float).T"

GATES = """
def gates(scores, k):
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    {how}
"""
HOW = """z = np.take_along_axis(scores, order, 1)
    w = np.exp(z - z.max(axis=1, keepdims=True))
    out = np.zeros(scores.shape)
    np.put_along_axis(out, order, w / w.sum(axis=1, keepdims=True), 1)
    return out"""
MIXTURE = """
def mixture(x, W_g, A, C, k):
    g, out, counts = gates(x @ W_g.T, k), np.zeros(x.shape), []
    for e in range(len(W_g)):
        mine = np.flatnonzero(g[:, e])
        counts.append(len(mine))
        out[mine] += {one}
    return out, counts
"""
ONE = "g[mine, e, None] * (np.maximum(x[mine] @ A[e], 0) @ C[e])"


def names(turned=TURNED, joined=JOINED, prefix=PREFIX):
    return {"names": NAMES.format(turned=turned, joined=joined, prefix=prefix)}


def held(biases=" + d_ff + d", router="E * d", used=USED):
    return {"held-and-used": HELD.format(biases=biases, router=router, used=used)}


def serving(numbers=NUMBERS, weights="weight_bits / 8", texts=TEXTS):
    return {"serving": CACHE.format(numbers=numbers) + MOST.format(weights=weights, texts=texts)}


def int8(top=TOP, m="m", q=Q, sums=SUMS):
    return {"int8": QUANTISE.format(top=top, m=m, q=q) + PRODUCT.format(sums=sums)}


def experts(how=HOW, one=ONE, whole=MIXTURE):
    return {"experts": GATES.format(how=how) + whole.replace("{one}", one)}


WRONG = {
    "another right way": {
        "answers": names() | held() | serving() | int8() | experts(),
        "score": 16,
    },
    "nothing is transposed": {"answers": names(turned="value"), "score": 12},
    "only what would not fit is transposed": {
        "answers": names(turned='value.T if "mlp" in name and value.ndim == 2 else value'),
        "score": 14,
    },
    "the tables are transposed too": {"answers": names(turned="value.T"), "score": 12},
    "queries, keys and values in another order": {
        "answers": names(joined='np.concatenate([value[letter] for letter in "kqv"], axis=-1)'),
        "score": 14,
    },
    "stacked first, then transposed, the bias as well": {
        "answers": names(
            joined='np.stack([value[letter] for letter in "qkv"], axis=-1).reshape(*value["q"].shape[:-1], -1)'
        ),
        "score": 14,
    },
    "without their prefix": {"answers": names(prefix='""'), "score": 12},
    "the router is forgotten": {"answers": held(router="0"), "score": 15},
    "experts without biases": {"answers": held(biases=""), "score": 14},
    "all experts are used": {"answers": held(used="rest + L * (layer + E * expert)"), "score": 15},
    "used: only the experts of one layer are left out": {
        "answers": held(used="rest + L * (layer + E * expert) - (E - k) * expert"),
        "score": 15,
    },
    "keys without values": {"answers": serving(numbers="n_layers * n_kv_heads * d_k * tokens"), "score": 13},
    "bits taken for bytes": {"answers": serving(weights="weight_bits"), "score": 14},
    "the cache of one layer": {"answers": serving(numbers="2 * n_kv_heads * d_k * tokens"), "score": 13},
    "rounded to the nearest text": {
        "answers": serving(texts="max(0, round(room / cache_bytes(n_layers, n_kv_heads, d_k, tokens, 16)))"),
        "score": 14,
    },
    "fewer than none": {
        "answers": serving(texts="int(room // cache_bytes(n_layers, n_kv_heads, d_k, tokens, 16))"),
        "score": 14,
    },
    "the weights once for each text": {
        "answers": serving(texts="int(memory // (memory - room + cache_bytes(n_layers, n_kv_heads, d_k, tokens, 16)))"),
        "score": 14,
    },
    "one scale for the whole matrix": {"answers": int8(top="np.full(len(W), np.abs(W).max())"), "score": 14},
    "the largest entry instead of the largest size": {"answers": int8(top="W.max(axis=1)"), "score": 14},
    "cut off instead of rounded": {"answers": int8(q="np.trunc(W / s[:, None])"), "score": 14},
    "128 steps": {"answers": int8(m="(m + 1)"), "score": 14},
    "the sum in eight bits": {"answers": int8(sums="p @ q.T"), "score": 14},
    "the sum in sixteen bits": {"answers": int8(sums="p.astype(np.int16) @ q.T.astype(np.int16)"), "score": 14},
    "softmax over all, without dividing again": {
        "answers": experts(
            how="""w = np.exp(scores - scores.max(axis=1, keepdims=True))
    w = w / w.sum(axis=1, keepdims=True)
    out = np.zeros(scores.shape)
    np.put_along_axis(out, order, np.take_along_axis(w, order, 1), 1)
    return out"""
        ),
        "score": 13,
    },
    "all that reach the k-th score": {
        "answers": experts(
            how="""least = np.take_along_axis(scores, order, 1)[:, -1:]
    w = np.where(scores >= least, np.exp(scores - scores.max(axis=1, keepdims=True)), 0)
    return w / w.sum(axis=1, keepdims=True)"""
        ),
        "score": 15,
    },
    "exponentials of large scores": {
        "answers": experts(
            how="""out = np.zeros(scores.shape)
    with np.errstate(all="ignore"):
        w = np.exp(np.take_along_axis(scores, order, 1))
        np.put_along_axis(out, order, w / w.sum(axis=1, keepdims=True), 1)
    return out"""
        ),
        "score": 15,
    },
    "every expert is asked, and most answers weighted by 0": {
        "answers": experts(
            whole="""
def mixture(x, W_g, A, C, k):
    g = gates(x @ W_g.T, k)
    y = sum(g[:, e, None] * (np.maximum(x @ A[e], 0) @ C[e]) for e in range(len(W_g)))
    return y, (g > 0).sum(axis=0).tolist()
"""
        ),
        "score": 14,
    },
    "the gates are forgotten": {"answers": experts(one="np.maximum(x[mine] @ A[e], 0) @ C[e]"), "score": 14},
    "no relu": {"answers": experts(one="g[mine, e, None] * (x[mine] @ A[e] @ C[e])"), "score": 14},
}
