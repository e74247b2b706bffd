"""Common wrong answers to homework 15, as slips.py says.

A wrong layer costs the whole model
nothing; what counts of the training is whether the model translates, and many a wrong layer does.
"""

from slips import Wrong

wrong = Wrong(full=16)


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


def step(token, cache, weights, n_heads):
    def ln(x, gain, shift):
        return weights[gain] * (x - x.mean()) / torch.sqrt(x.var(correction=0) + 1e-5) + weights[shift]

    L, t, d = cache["K"].shape
    x, all_K, all_V = d**0.5 * weights["E"][token] + position(t + FIRST, d), [], []
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


wrong("pre-norm norms the sum", 14, encoder_layer, {'norm == "post"': "True"})
wrong("post-norm leaves the first sum as it is", 15, encoder_layer, {"ln(X + attention(X), 1)": "X + attention(X)"})
wrong("padding is looked at", 14, encoder_layer, {"(-2)": "(-2) | True"})
wrong("the variance divides by d - 1", 13, encoder_layer, {"x.shape[-1]": "(x.shape[-1] - 1)"})
wrong(
    "the network reads what attention read",
    14,
    encoder_layer,
    {"X = X + attention(ln(X, 1))": "A = ln(X, 1)", "network(ln(X, 2))": "attention(A) + network(A)"},
)
wrong(
    "no residual around the network",
    13,
    encoder_layer,
    {"X + network(X)": "network(X)", "return X + network": "return network"},
)
wrong("the decoder sees the future", 10, decoder_layer, {".tril()": ""})
wrong("the source is read first", 14, decoder_layer, {"own(Y)\n    Y = Y + cross": "cross(Y)\n    Y = Y + own"})
wrong(
    "the encoder's output is normed again",
    14,
    decoder_layer,
    {'H @ weights["C_k"], H': 'ln(H, 2) @ weights["C_k"], ln(H, 2)'},
)
wrong("every token stands first", 14, step, {"(t + FIRST": "(0 + FIRST"})
wrong("the embedding is not scaled", 14, step, {"d**0.5 * ": ""})
wrong("no last norm", 14, step, {'ln(x, "gain", "shift")': "x"})
wrong("keys of the vector before the norm", 14, step, {'h @ weights[f"{i}.W_k"]': 'x @ weights[f"{i}.W_k"]'})
# the model of the second check has one layer
wrong("every layer reads the first cache", 15, step, {'["K"][i]': '["K"][0]', '["V"][i]': '["V"][0]'})
wrong(
    "the cache is carried along but all tokens are computed again",
    15,
    step,
    {
        "def step": "def one",
        '"V": torch.stack(all_V)}': """"V": torch.stack(all_V)}


kept = []


def step(token, cache, weights, n_heads):
    t = cache["K"].shape[1]
    if t > len(kept):
        return one(token, {name: torch.zeros_like(cache[name]) for name in "KV"}, weights, n_heads)
    kept[t:] = [token]
    found = {name: cache[name][:, :0] for name in "KV"}
    for word in kept:
        found = one(word, found, weights, n_heads)
    return found""",
    },
)
# the order of the adjectives is still learned, from what precedes them in the target
wrong(
    "the source enters without its positions",
    14,
    logits,
    {'enter(weights["source"], source)': 'weights["source"].shape[1] ** 0.5 * weights["source"][source]'},
)
wrong("the embeddings are not scaled", 14, logits, {"d**0.5 * ": ""})
wrong("no norm after the encoder", 14, logits, {'H, Y = last_norm(H, weights, "encoder"),': "Y ="})
wrong("the decoder reads the source's words", 11, logits, {'["target"],': '["source"],'})
wrong("the decoder reads what it should predict", 13, train, {"SOS, *words": "*words, EOS"})
wrong("no end is learned", 13, train, {", *words": ", *words[:-1]", "[*words": "words", ", EOS]": ""})
wrong("the start comes back as it was", 13, train, {"return learned": "return weights"})
wrong("every step learns the same pair", 13, train, {"int(i)": "0 * int(i)"})
# no warm-up and a cross-entropy over the padding too: what counts is the result
wrong(
    "another training that works",
    16,
    train,
    {"(step + 1) / 30, (steps - step)": "(steps - step)", "[after != PAD]": ""},
)
wrong("the end is kept", 15, translate, {"[word for word in words if word != EOS]": "words"})
wrong("it reads its last word alone", 15, translate, {"[SOS, *words]": "[SOS, *words][-1:]"})
# the first row has nothing to look at, so it is let look at all
wrong(
    "a token may not look at itself",
    10,
    decoder_layer,
    {".tril()": ".tril(-1) | (torch.arange(Y.shape[-2]) == 0)[:, None]"},
)
wrong(
    "queries from the source, keys from the target",
    9,
    decoder_layer,
    {
        "real.unsqueeze(-2)": "torch.ones(H.shape[-2], Y.shape[-2], dtype=torch.bool)",
        'ln(Y, 2) @ weights["C_q"], H': 'H @ weights["C_q"], ln(Y, 2)',
        '"C_k"], H': '"C_k"], ln(Y, 2)',
        "attend(Q": "(attend(Q",
        '"C_o"]': '"C_o"])[..., : Y.shape[-2], :]',
    },
)


@wrong("attention to the source is not counted", 14)
def parameters(d, d_ff, n_layers, source, target, tied):
    attention, network = 4 * (d * d + d), 2 * d * d_ff + d_ff + d
    return (
        n_layers * (2 * attention + 2 * network + 10 * d)
        + 4 * d
        + d * (2 * LEARNED + source + target * (1 if tied else 2))
    )


@wrong("no biases", 14)
def parameters(d, d_ff, n_layers, source, target, tied):
    return (
        n_layers * (12 * d * d + 4 * d * d_ff + 10 * d)
        + 4 * d
        + d * (2 * LEARNED + source + target * (1 if tied else 2))
    )


@wrong("a tied table counted twice", 14)
def parameters(d, d_ff, n_layers, source, target, tied):
    attention, network = 4 * (d * d + d), 2 * d * d_ff + d_ff + d
    return n_layers * (3 * attention + 2 * network + 10 * d) + 4 * d + d * (2 * LEARNED + source + 2 * target)
