"""Common wrong answers to homework 15, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.  A wrong layer costs the whole model
nothing; what counts of the training is whether the model translates, and many a wrong layer does.
"""

FULL = 16

ENCODER = """
def encoder_layer(X, real, weights, n_heads, norm):
    def ln(x, i):
        mean = x.mean(dim=-1, keepdim=True)
        variance = ((x - mean) ** 2).sum(dim=-1, keepdim=True) / x.shape[-1]
        return weights[f"gain_{i}"] * (x - mean) / torch.sqrt(variance + 1e-5) + weights[f"shift_{i}"]

    def attention(x):
        allowed = real.unsqueeze(-2)
        Q, K, V = x @ weights["W_q"], x @ weights["W_k"], x @ weights["W_v"]
        return attend(Q, K, V, allowed, n_heads) @ weights["W_o"]

    def network(x):
        return torch.relu(x @ weights["W_1"] + weights["b_1"]) @ weights["W_2"] + weights["b_2"]

    if norm == "post":
        X = ln(X + attention(X), 1)
        return ln(X + network(X), 2)
    X = X + attention(ln(X, 1))
    return X + network(ln(X, 2))
"""

DECODER = """
def decoder_layer(Y, H, real, weights, n_heads):
    def ln(x, i):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], weights[f"gain_{i}"], weights[f"shift_{i}"])

    def own(Y):
        x, allowed = ln(Y, 1), torch.ones(Y.shape[-2], Y.shape[-2], dtype=torch.bool).tril()
        return attend(x @ weights["W_q"], x @ weights["W_k"], x @ weights["W_v"], allowed, n_heads) @ weights["W_o"]

    def cross(Y):
        allowed = real.unsqueeze(-2)
        Q, K, V = ln(Y, 2) @ weights["C_q"], H @ weights["C_k"], H @ weights["C_v"]
        return attend(Q, K, V, allowed, n_heads) @ weights["C_o"]

    def network(Y):
        return torch.relu(ln(Y, 3) @ weights["W_1"] + weights["b_1"]) @ weights["W_2"] + weights["b_2"]

    Y = Y + own(Y)
    Y = Y + cross(Y)
    return Y + network(Y)
"""

MODEL = """
def logits(weights, source, before, n_heads):
    def enter(table, ids):
        d = table.shape[1]
        return d**0.5 * table[ids] + positions(ids.shape[1], d)

    real, H = source != PAD, enter(weights["source"], source)
    for i in range(layers(weights)):
        H = encoder_layer(H, real, part(weights, f"encoder.{i}."), n_heads, "pre")
    H, Y = last_norm(H, weights, "encoder"), enter(weights["target"], before)
    for i in range(layers(weights)):
        Y = decoder_layer(Y, H, real, part(weights, f"decoder.{i}."), n_heads)
    return last_norm(Y, weights, "decoder") @ weights["target"].T
"""

TRAIN = """
def train(weights, pairs, n_heads, steps, rate):
    learned = {name: torch.nn.Parameter(value.clone()) for name, value in weights.items()}
    adam = torch.optim.Adam(learned.values(), lr=rate)
    chance = torch.Generator().manual_seed(1)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * min(1.0, (step + 1) / 30, (steps - step) / max(1, steps - 30))
        batch = [pairs[int(i)] for i in torch.randint(len(pairs), (64,), generator=chance)]
        sources = padded([source for source, _ in batch])
        before, after = padded([[SOS, *words] for _, words in batch]), padded([[*words, EOS] for _, words in batch])
        log_p = logits(learned, sources, before, n_heads).log_softmax(-1)
        loss = -log_p.gather(2, after.unsqueeze(2)).squeeze(2)[after != PAD].mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return learned
"""

TRANSLATE = """
def translate(weights, sentences, n_heads, longest):
    found = []
    for sentence in sentences:
        words = []
        while len(words) < longest and EOS not in words:
            before = torch.tensor([[SOS, *words]])
            with torch.no_grad():
                words.append(int(logits(weights, torch.tensor([sentence]), before, n_heads)[0, -1].argmax()))
        found.append([word for word in words if word != EOS])
    return found
"""

STEP = """
def step(token, cache, weights, n_heads):
    def ln(x, gain, shift):
        return weights[gain] * (x - x.mean()) / torch.sqrt(x.var(correction=0) + 1e-5) + weights[shift]

    L, t, d = cache["K"].shape
    x, all_K, all_V = d**0.5 * weights["E"][token] + position(t, d), [], []
    for i in range(L):
        h = ln(x, f"{i}.gain_1", f"{i}.shift_1")
        K = torch.cat([cache["K"][i], (h @ weights[f"{i}.W_k"])[None]])
        V = torch.cat([cache["V"][i], (h @ weights[f"{i}.W_v"])[None]])
        Q = (h @ weights[f"{i}.W_q"])[None]
        x = x + (attend(Q, K, V, torch.ones(1, t + 1, dtype=torch.bool), n_heads) @ weights[f"{i}.W_o"])[0]
        h = ln(x, f"{i}.gain_2", f"{i}.shift_2")
        x = x + torch.relu(h @ weights[f"{i}.W_1"] + weights[f"{i}.b_1"]) @ weights[f"{i}.W_2"] + weights[f"{i}.b_2"]
        all_K, all_V = [*all_K, K], [*all_V, V]
    return {"logits": weights["E"] @ ln(x, "gain", "shift"), "K": torch.stack(all_K), "V": torch.stack(all_V)}
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
        "score": 15,
    },
    "padding is looked at": {
        "answers": {"encoder-layer": changed(ENCODER, ("real.unsqueeze(-2)", "real.unsqueeze(-2) | True"))},
        "score": 14,
    },
    "the variance divides by d - 1": {
        "answers": {"encoder-layer": changed(ENCODER, ("/ x.shape[-1]", "/ (x.shape[-1] - 1)"))},
        "score": 13,
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
        "score": 13,
    },
    "the decoder sees the future": {
        "answers": {"decoder-layer": changed(DECODER, (".tril()", ""))},
        "score": 10,
    },
    "a token may not look at itself": {
        "answers": {
            "decoder-layer": changed(
                DECODER,
                (".tril()", ".tril(-1) | (torch.arange(Y.shape[-2]) == 0)[:, None]"),
            )
        },
        "score": 10,  # the first row has nothing to look at, so it is let look at all
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
                ("allowed = real.unsqueeze(-2)", "allowed = torch.ones(H.shape[-2], Y.shape[-2], dtype=torch.bool)"),
                (
                    'Q, K, V = ln(Y, 2) @ weights["C_q"], H @ weights["C_k"], H @ weights["C_v"]',
                    'Q, K, V = H @ weights["C_q"], ln(Y, 2) @ weights["C_k"], ln(Y, 2) @ weights["C_v"]',
                ),
                (
                    'return attend(Q, K, V, allowed, n_heads) @ weights["C_o"]',
                    'return (attend(Q, K, V, allowed, n_heads) @ weights["C_o"])[..., : Y.shape[-2], :]',
                ),
            )
        },
        "score": 9,
    },
    "every token stands first": {
        "answers": {"cached-step": changed(STEP, ("position(t, d)", "position(0, d)"))},
        "score": 14,
    },
    "the embedding is not scaled": {
        "answers": {"cached-step": changed(STEP, ("d**0.5 * weights", "weights"))},
        "score": 14,
    },
    "no last norm": {
        "answers": {"cached-step": changed(STEP, ('weights["E"] @ ln(x, "gain", "shift")', 'weights["E"] @ x'))},
        "score": 14,
    },
    "keys of the vector before the norm": {
        "answers": {"cached-step": changed(STEP, ('(h @ weights[f"{i}.W_k"])', '(x @ weights[f"{i}.W_k"])'))},
        "score": 14,
    },
    "every layer reads the first cache": {
        "answers": {
            "cached-step": changed(STEP, ('cache["K"][i]', 'cache["K"][0]'), ('cache["V"][i]', 'cache["V"][0]'))
        },
        "score": 15,  # the model of the second check has one layer
    },
    "the cache is carried along but all tokens are computed again": {
        "answers": {
            "cached-step": STEP.replace("def step(", "def one(")
            + """

kept = []


def step(token, cache, weights, n_heads):
    t = cache["K"].shape[1]
    if t > len(kept):
        return one(token, {name: torch.zeros_like(cache[name]) for name in "KV"}, weights, n_heads)
    kept[t:] = [token]
    found = {name: cache[name][:, :0] for name in "KV"}
    for word in kept:
        found = one(word, found, weights, n_heads)
    return found
"""
        },
        "score": 15,
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
    "the source enters without its positions": {
        "answers": {
            "model": changed(
                MODEL,
                ('enter(weights["source"], source)', 'weights["source"].shape[1] ** 0.5 * weights["source"][source]'),
            )
        },
        "score": 14,  # the order of the adjectives is still learned, from what precedes them in the target
    },
    "the embeddings are not scaled": {
        "answers": {"model": changed(MODEL, ("d**0.5 * table[ids]", "table[ids]"))},
        "score": 14,
    },
    "no norm after the encoder": {
        "answers": {"model": changed(MODEL, ('H, Y = last_norm(H, weights, "encoder"), enter', "Y = enter"))},
        "score": 14,
    },
    "the decoder reads the source's words": {
        "answers": {"model": changed(MODEL, ('enter(weights["target"], before)', 'enter(weights["source"], before)'))},
        "score": 11,
    },
    "the decoder reads what it should predict": {
        "answers": {"training": changed(TRAIN, ("[[SOS, *words] for", "[[*words, EOS] for"))},
        "score": 13,
    },
    "no end is learned": {
        "answers": {
            "training": changed(
                TRAIN, ("[[SOS, *words] for", "[[SOS, *words[:-1]] for"), ("[*words, EOS] for", "words for")
            )
        },
        "score": 13,
    },
    "the start comes back as it was": {
        "answers": {"training": changed(TRAIN, ("return learned", "return weights"))},
        "score": 13,
    },
    "every step learns the same pair": {
        "answers": {"training": changed(TRAIN, ("[pairs[int(i)] for", "[pairs[0 * int(i)] for"))},
        "score": 13,
    },
    "another training that works": {  # no warm-up and a cross-entropy over the padding too: what counts is the result
        "answers": {
            "training": changed(TRAIN, ("rate * min(1.0, (step + 1) / 30,", "rate * min(1.0,"), ("[after != PAD]", ""))
        },
        "score": 16,
    },
    "the end is kept": {
        "answers": {"writing": changed(TRANSLATE, ("[word for word in words if word != EOS]", "words"))},
        "score": 15,
    },
    "it reads its last word alone": {
        "answers": {"writing": changed(TRANSLATE, ("[[SOS, *words]]", "[[SOS, *words][-1:]]"))},
        "score": 15,
    },
}
