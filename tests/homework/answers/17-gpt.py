"""Common wrong answers to homework 17, as slips.py says.

What is wrong with loss or attention costs the points
of the training too where the GPT that is trained with it learns nothing.
"""

from slips import Wrong

wrong = Wrong(full=16)


def causal_loss(logits, tokens, pad):
    log_p = logits.log_softmax(-1)
    log_p = log_p[:, :-1].gather(2, tokens[:, 1:, None].clamp(0, log_p.shape[2] - 1))[:, :, 0]
    return -log_p[tokens[:, 1:] != pad].mean()


def nucleus(logits, temperature, top_p):
    p = np.exp((logits - logits.max()) / temperature)
    p = p / p.sum()
    order = np.argsort(-p, kind="stable")
    keep = order[np.cumsum(p[order]) - p[order] < top_p - 1e-12]
    out = np.zeros_like(p)
    out[keep] = p[keep]
    return out / out.sum()


def draw(p, u):
    return int(np.flatnonzero(np.cumsum(p) > u)[0])


def attention(w, X, n_heads):
    T, d = X.shape[-2:]
    Q, K, V = ((X @ w[name]).reshape(-1, T, n_heads, d // n_heads).transpose(1, 2) for name in ("W_q", "W_k", "W_v"))
    S = Q @ K.transpose(2, 3) / (d // n_heads) ** 0.5
    S = S.masked_fill(torch.ones(T, T).tril() == 0, -torch.inf)
    return (S.softmax(3) @ V).transpose(1, 2).reshape(X.shape) @ w["W_o"]


def step(w, x, cache, n_heads):
    K, V = torch.vstack([cache["K"], x @ w["W_k"]]), torch.vstack([cache["V"], x @ w["W_v"]])
    seen_K, seen_V = K, V
    q, d_k, heads = x @ w["W_q"], len(x) // n_heads, []
    for j in range(n_heads):
        part = slice(j * d_k, (j + 1) * d_k)
        e = torch.exp(seen_K[:, part] @ q[part] / d_k**0.5)
        heads.append(e / e.sum() @ seen_V[:, part])
    return torch.cat(heads) @ w["W_o"], {"K": K, "V": V}


def train(weights, text, n_heads, steps, rate):
    found = {name: torch.nn.Parameter(value.clone()) for name, value in weights.items()}
    adam, T = torch.optim.Adam(found.values(), lr=rate), len(weights["P"])
    chance = torch.Generator().manual_seed(3)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * (steps - step) / steps
        starts = torch.randint(len(text) - T + 1, (32,), generator=chance).tolist()
        tokens = torch.tensor([text[i : i + T] for i in starts])
        loss = causal_loss(gpt(found, tokens, n_heads), tokens, -1)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return found


def write(weights, start, n, n_heads, temperature, top_p, seed):
    rng, new = np.random.default_rng(seed), []
    while len(new) < n:
        seen = [*start, *new][1 - len(weights["P"]) :]
        with torch.no_grad():
            logits = gpt(weights, torch.tensor([seen]), n_heads)[0, -1].double().numpy()
        logits[[*start, *new][-1]] -= LESS
        new.append(draw(nucleus(logits, temperature, top_p), rng.random()))
    return new


def fit_power(N, L):
    L = np.asarray(L) - FLOOR
    slope, start = np.polyfit(np.log(N), np.log(L), 1)
    worst = np.abs(np.log(L) - start - slope * np.log(N)).max()
    return np.exp(start), -slope, worst


def needed(A, alpha, goal):
    goal = goal - FLOOR
    return (A / goal) ** (1 / alpha)


wrong(
    "no shift: each place is asked for what it reads",
    10,
    causal_loss,
    {"[:, :-1]": "", "1:, None": ":, None", "[:, 1:]": ""},
)
wrong("every place whose input is real", 15, causal_loss, {"[:, 1:]": "[:, :-1]"})
wrong(
    "one token too many where the sum is met",
    14,
    nucleus,
    {"np.cumsum(p[order]) - p[order] < top_p - 1e-12": ": (np.cumsum(p[order]) <= top_p + 1e-9).sum() + 1"},
)
wrong("not divided by the sum", 14, nucleus, {" / out.sum()": ""})
wrong(
    "cut first, then the temperature",
    14,
    nucleus,
    {"(logits - logits.max()) / temperature": "logits - logits.max()", "p[keep]": "p[keep] ** (1 / temperature)"},
)
wrong(
    "a border belongs to the token before",
    15,
    draw,
    {"flatnonzero(np.cumsum(p) > u)[0]": "searchsorted(np.cumsum(p), u)"},
)
wrong("no mask", 11, attention, {"    S = S.masked_fill(torch.ones(T, T).tril() == 0, -torch.inf)": ""})
wrong(
    "later weights set to 0 after the softmax",
    14,
    attention,
    {"    S = S.masked_fill(torch.ones(T, T).tril() == 0, -torch.inf)": "", "S.softmax(3)": "(S.softmax(3).tril())"},
)
wrong("divided by the root of the whole width", 12, attention, {"(d // n_heads) ** ": "d**"})
wrong("divided by the root of the whole width", 12, step, {"d_k**": "len(x) ** "})
wrong(
    "heads cut without their axis in front",
    11,
    attention,
    {"(-1, T, n_heads, d // n_heads).transpose(1, 2)": "(-1, n_heads, T, d // n_heads)"},
)
wrong(
    "the new token does not see itself",
    14,
    step,
    {"= K, V": '= (cache["K"], cache["V"]) if len(cache["K"]) else (K, V)'},
)
wrong("the cache does not grow", 14, step, {', "V": V': '[-1:], "V": V[-1:]'})
wrong("the weights that were given come back", 13, train, {"return found": "return weights"})
wrong("always the beginning of the text", 13, train, {"i : i + ": ":"})
wrong("the steps go uphill", 13, train, {"loss.": "(-loss)."})
wrong("the start is written again", 15, write, {"return new": "return [*start, *new][:n]"})
wrong("the first tokens are read, not the last", 15, write, {'1 - len(weights["P"]) :': ': len(weights["P"]) - 1'})
wrong("the place that learned nothing is used", 15, write, {"1 - len": "-len"})
wrong("the same chance for every token", 15, write, {"rng.": "np.random.default_rng(seed)."})
wrong(
    "decimal logarithms",
    15,
    fit_power,
    {"log(N), np.log": "log10(N), np.log10", "log(L) - start - slope * np.log": "log10(L) - start - slope * np.log10"},
)
wrong("the slope with its sign", 15, fit_power, {"-slope": "slope"})
wrong(
    "residuals of the loss, not of its logarithm",
    15,
    fit_power,
    {"np.log(L) - start - slope * np.log(N)": "L - np.exp(start) * N**slope"},
)
wrong(
    "a goal above A is taken for a mistake",
    15,
    needed,
    {"(A / goal) ** (1 / alpha)": "max(1.0, (A / goal) ** (1 / alpha))"},
)
wrong("the exponent is not turned over", 15, needed, {"(1 / alpha)": "alpha"})


@wrong("shifted the other way", 10)
def causal_loss(logits, tokens, pad):
    log_p = logits.log_softmax(-1)
    log_p = log_p[:, 1:].gather(2, tokens[:, :-1, None].clamp(0, log_p.shape[2] - 1))[:, :, 0]
    return -log_p[tokens[:, :-1] != pad].mean()


@wrong("padding is predicted", 15)
def causal_loss(logits, tokens, pad):
    log_p = logits.log_softmax(-1)
    return -log_p[:, :-1].gather(2, tokens[:, 1:, None]).mean()


@wrong("a mean of the means of the texts", 15)
def causal_loss(logits, tokens, pad):
    log_p = logits.log_softmax(-1)
    log_p = log_p[:, :-1].gather(2, tokens[:, 1:, None].clamp(0, log_p.shape[2] - 1))[:, :, 0]
    return -torch.stack([row[real].mean() for row, real in zip(log_p, tokens[:, 1:] != pad)]).mean()


@wrong("exponentials of large logits", 14)
def causal_loss(logits, tokens, pad):
    p = logits.exp() / logits.exp().sum(dim=2, keepdim=True)
    p = p[:, :-1].gather(2, tokens[:, 1:, None].clamp(0, p.shape[2] - 1))[:, :, 0]
    return -p[tokens[:, 1:] != pad].log().mean()


@wrong("all tokens as likely as the last one kept", 14)
def nucleus(logits, temperature, top_p):
    p = np.exp((logits - logits.max()) / temperature)
    p = p / p.sum()
    order = np.argsort(-p, kind="stable")
    least = p[order][np.cumsum(p[order]) - p[order] < top_p - 1e-12].min()
    keep = p >= least
    out = np.zeros_like(p)
    out[keep] = p[keep]
    return out / out.sum()
