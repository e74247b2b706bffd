"""Common wrong answers to homework 15, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

ENCODER = """
def encoder_layer(X, real, weights, n_heads, norm):
    def ln(x, i):
        mean = x.mean(axis=1, keepdims=True)
        variance = ((x - mean) ** 2).sum(axis=1, keepdims=True) / x.shape[1]
        return weights[f"gain_{i}"] * (x - mean) / np.sqrt(variance + 1e-5) + weights[f"shift_{i}"]

    def attention(x):
        allowed = np.array([list(real)] * len(x))
        Q, K, V = x @ weights["W_q"], x @ weights["W_k"], x @ weights["W_v"]
        return attend(Q, K, V, allowed, n_heads) @ weights["W_o"]

    def network(x):
        return np.maximum(0, x @ weights["W_1"] + weights["b_1"]) @ weights["W_2"] + weights["b_2"]

    if norm == "post":
        X = ln(X + attention(X), 1)
        return ln(X + network(X), 2)
    X = X + attention(ln(X, 1))
    return X + network(ln(X, 2))
"""

DECODER = """
def decoder_layer(Y, H, real, weights, n_heads):
    def ln(x, i):
        mean = x.mean(axis=1, keepdims=True)
        return weights[f"gain_{i}"] * (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) + weights[f"shift_{i}"]

    def own(Y):
        x, allowed = ln(Y, 1), np.tri(len(Y), dtype=bool)
        return attend(x @ weights["W_q"], x @ weights["W_k"], x @ weights["W_v"], allowed, n_heads) @ weights["W_o"]

    def cross(Y):
        allowed = np.array([list(real)] * len(Y))
        Q, K, V = ln(Y, 2) @ weights["C_q"], H @ weights["C_k"], H @ weights["C_v"]
        return attend(Q, K, V, allowed, n_heads) @ weights["C_o"]

    def network(Y):
        return np.maximum(0, ln(Y, 3) @ weights["W_1"] + weights["b_1"]) @ weights["W_2"] + weights["b_2"]

    Y = Y + own(Y)
    Y = Y + cross(Y)
    return Y + network(Y)
"""

STEP = """
def step(token, cache, weights, n_heads):
    def ln(x, gain, shift):
        return weights[gain] * (x - x.mean()) / np.sqrt(x.var() + 1e-5) + weights[shift]

    L, t, d = cache["K"].shape
    x, all_K, all_V = np.sqrt(d) * weights["E"][token] + position(t, d), [], []
    for i in range(L):
        h = ln(x, f"{i}.gain_1", f"{i}.shift_1")
        K = np.concatenate([cache["K"][i], [h @ weights[f"{i}.W_k"]]])
        V = np.concatenate([cache["V"][i], [h @ weights[f"{i}.W_v"]]])
        Q = (h @ weights[f"{i}.W_q"])[None]
        x = x + (attend(Q, K, V, np.ones((1, t + 1), bool), n_heads) @ weights[f"{i}.W_o"])[0]
        h = ln(x, f"{i}.gain_2", f"{i}.shift_2")
        x = x + np.maximum(0, h @ weights[f"{i}.W_1"] + weights[f"{i}.b_1"]) @ weights[f"{i}.W_2"] + weights[f"{i}.b_2"]
        all_K, all_V = [*all_K, K], [*all_V, V]
    return {"logits": weights["E"] @ ln(x, "gain", "shift"), "K": np.array(all_K), "V": np.array(all_V)}
"""


def changed(source: str, *pairs: tuple[str, str]) -> str:
    """The right answer with one thing replaced; the thing must be there."""
    for right, wrong in pairs:
        assert source.count(right) == 1, right
        source = source.replace(right, wrong)
    return source


WRONG = {
    "pre-norm norms the sum": {
        "answers": {"encoder-layer": changed(ENCODER, ('if norm == "post":', "if True:"))},
        "score": 14,
    },
    "post-norm leaves the first sum as it is": {
        "answers": {"encoder-layer": changed(ENCODER, ("X = ln(X + attention(X), 1)", "X = X + attention(X)"))},
        "score": 14,
    },
    "padding is looked at": {
        "answers": {"encoder-layer": changed(ENCODER, ("[list(real)] * len(x)", "[[True] * len(x)] * len(x)"))},
        "score": 14,
    },
    "the variance divides by d - 1": {
        "answers": {"encoder-layer": changed(ENCODER, ("/ x.shape[1]", "/ (x.shape[1] - 1)"))},
        "score": 12,
    },
    "the network reads what attention read": {
        "answers": {
            "encoder-layer": changed(
                ENCODER,
                (
                    "X = X + attention(ln(X, 1))\n    return X + network(ln(X, 2))",
                    "A = ln(X, 1)\n    return X + attention(A) + network(A)",
                ),
            )
        },
        "score": 14,
    },
    "no residual around the network": {
        "answers": {
            "encoder-layer": changed(
                ENCODER,
                ("return X + network(ln(X, 2))", "return network(ln(X, 2))"),
                ("ln(X + network(X), 2)", "ln(network(X), 2)"),
            )
        },
        "score": 12,
    },
    "the decoder sees the future": {
        "answers": {
            "decoder-layer": changed(DECODER, ("np.tri(len(Y), dtype=bool)", "np.ones((len(Y), len(Y)), bool)"))
        },
        "score": 12,
    },
    "a token may not look at itself": {
        "answers": {
            "decoder-layer": changed(
                DECODER,
                ("np.tri(len(Y), dtype=bool)", "np.tri(len(Y), k=-1, dtype=bool) | (np.arange(len(Y)) == 0)[:, None]"),
            )
        },
        "score": 12,  # the first row has nothing to look at, so it is let look at all
    },
    "the source is read first": {
        "answers": {
            "decoder-layer": changed(
                DECODER, ("Y = Y + own(Y)\n    Y = Y + cross(Y)", "Y = Y + cross(Y)\n    Y = Y + own(Y)")
            )
        },
        "score": 14,
    },
    "the encoder's output is normed again": {
        "answers": {
            "decoder-layer": changed(
                DECODER,
                ('H @ weights["C_k"], H @ weights["C_v"]', 'ln(H, 2) @ weights["C_k"], ln(H, 2) @ weights["C_v"]'),
            )
        },
        "score": 14,
    },
    "queries from the source, keys from the target": {
        "answers": {
            "decoder-layer": changed(
                DECODER,
                ("allowed = np.array([list(real)] * len(Y))", "allowed = np.ones((len(H), len(Y)), bool)"),
                (
                    'Q, K, V = ln(Y, 2) @ weights["C_q"], H @ weights["C_k"], H @ weights["C_v"]',
                    'Q, K, V = H @ weights["C_q"], ln(Y, 2) @ weights["C_k"], ln(Y, 2) @ weights["C_v"]',
                ),
                (
                    'return attend(Q, K, V, allowed, n_heads) @ weights["C_o"]',
                    'return (attend(Q, K, V, allowed, n_heads) @ weights["C_o"])[: len(Y)]',
                ),
            )
        },
        "score": 12,
    },
    "padding of the source is looked at": {
        "answers": {"decoder-layer": changed(DECODER, ("[list(real)] * len(Y)", "[[True] * len(H)] * len(Y)"))},
        "score": 12,
    },
    "every token stands first": {
        "answers": {"cached-step": changed(STEP, ("position(t, d)", "position(0, d)"))},
        "score": 12,
    },
    "the embedding is not scaled": {
        "answers": {"cached-step": changed(STEP, ("np.sqrt(d) * weights", "weights"))},
        "score": 12,
    },
    "no last norm": {
        "answers": {"cached-step": changed(STEP, ('weights["E"] @ ln(x, "gain", "shift")', 'weights["E"] @ x'))},
        "score": 12,
    },
    "keys of the vector before the norm": {
        "answers": {"cached-step": changed(STEP, ('[h @ weights[f"{i}.W_k"]]', '[x @ weights[f"{i}.W_k"]]'))},
        "score": 12,
    },
    "every layer reads the first cache": {
        "answers": {
            "cached-step": changed(STEP, ('cache["K"][i]', 'cache["K"][0]'), ('cache["V"][i]', 'cache["V"][0]'))
        },
        "score": 14,  # the model of the second check has one layer
    },
    "the cache is carried along but all tokens are computed again": {
        "answers": {
            "cached-step": STEP.replace("def step(", "def one(")
            + """

kept = []


def step(token, cache, weights, n_heads):
    t = cache["K"].shape[1]
    if t > len(kept):
        return one(token, {name: np.zeros_like(cache[name]) for name in "KV"}, weights, n_heads)
    kept[t:] = [token]
    found = {name: cache[name][:, :0] for name in "KV"}
    for word in kept:
        found = one(word, found, weights, n_heads)
    return found
"""
        },
        "score": 14,
    },
    "attention to the source is not counted": {
        "answers": {
            "parameters": """
def parameters(d, d_ff, n_layers, source, target, tied):
    attention, network = 4 * (d * d + d), 2 * d * d_ff + d_ff + d
    return n_layers * (2 * attention + 2 * network + 10 * d) + 4 * d + d * (source + target * (1 if tied else 2))
"""
        },
        "score": 14,
    },
    "no biases": {
        "answers": {
            "parameters": """
def parameters(d, d_ff, n_layers, source, target, tied):
    return n_layers * (12 * d * d + 4 * d * d_ff + 10 * d) + 4 * d + d * (source + target * (1 if tied else 2))
"""
        },
        "score": 14,
    },
    "a tied table counted twice": {
        "answers": {
            "parameters": """
def parameters(d, d_ff, n_layers, source, target, tied):
    attention, network = 4 * (d * d + d), 2 * d * d_ff + d_ff + d
    return n_layers * (3 * attention + 2 * network + 10 * d) + 4 * d + d * (source + 2 * target)
"""
        },
        "score": 14,
    },
    "the forward pass alone": {
        "answers": {
            "operations": """
def training_flops(B, N, T, d, d_ff, n_layers, target):
    encoder = 8 * N * d * d + 4 * N * N * d + 4 * N * d * d_ff
    decoder = 12 * T * d * d + 4 * N * d * d + 4 * T * T * d + 4 * T * N * d + 4 * T * d * d_ff
    return B * (n_layers * (encoder + decoder) + 2 * T * d * target)
"""
        },
        "score": 14,
    },
    "keys of the source counted at the target": {
        "answers": {
            "operations": """
def training_flops(B, N, T, d, d_ff, n_layers, target):
    encoder = 8 * N * d * d + 4 * N * N * d + 4 * N * d * d_ff
    decoder = 16 * T * d * d + 4 * T * T * d + 4 * T * N * d + 4 * T * d * d_ff
    return 3 * B * (n_layers * (encoder + decoder) + 2 * T * d * target)
"""
        },
        "score": 14,
    },
    "one operation for a multiplication and its addition": {
        "answers": {
            "operations": """
def training_flops(B, N, T, d, d_ff, n_layers, target):
    encoder = 8 * N * d * d + 4 * N * N * d + 4 * N * d * d_ff
    decoder = 12 * T * d * d + 4 * N * d * d + 4 * T * T * d + 4 * T * N * d + 4 * T * d * d_ff
    return 3 * B * (n_layers * (encoder + decoder) + 2 * T * d * target) // 2
"""
        },
        "score": 14,
    },
}
