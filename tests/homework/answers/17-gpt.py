"""Common wrong answers to homework 17, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.  What is wrong with loss or attention costs the points
of the training too where the GPT that is trained with it learns nothing.
"""

FULL = 16

LOSS = """
def causal_loss(logits, tokens, pad):
    log_p = logits.log_softmax(-1)
    {choose}
"""
DRAW = """
def draw(p, u):
    return int(np.flatnonzero(np.cumsum(p) > u)[0])
"""
NUCLEUS = """
def nucleus(logits, temperature, top_p):
    p = np.exp((logits - logits.max()) / temperature)
    p = p / p.sum()
    order = np.argsort(-p, kind="stable")
    {cut}
    out = np.zeros_like(p)
    out[keep] = p[keep]
    return {result}
"""
FULL_PASS = """
def attention(w, X, n_heads):
    T, d = X.shape[-2:]
    Q, K, V = ((X @ w[name]).reshape(-1, T, n_heads, d // n_heads).transpose(1, 2) for name in ("W_q", "W_k", "W_v"))
    S = Q @ K.transpose(2, 3) / {width} ** 0.5
    {mask}
    return (S.softmax(3) @ V).transpose(1, 2).reshape(X.shape) @ w["W_o"]
"""
STEP = """
def step(w, x, cache, n_heads):
    K, V = torch.vstack([cache["K"], x @ w["W_k"]]), torch.vstack([cache["V"], x @ w["W_v"]])
    seen_K, seen_V = {seen}
    q, d_k, heads = x @ w["W_q"], len(x) // n_heads, []
    for j in range(n_heads):
        part = slice(j * d_k, (j + 1) * d_k)
        e = torch.exp(seen_K[:, part] @ q[part] / {width} ** 0.5)
        heads.append(e / e.sum() @ seen_V[:, part])
    return torch.cat(heads) @ w["W_o"], {cache}
"""
MASK = "S = S.masked_fill(torch.ones(T, T).tril() == 0, -torch.inf)"
GROWN = '{"K": K, "V": V}'
TRAIN = """
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
"""
WRITE = """
def write(weights, start, n, n_heads, temperature, top_p, seed):
    rng, new = np.random.default_rng(seed), []
    while len(new) < n:
        seen = [*start, *new][1 - len(weights["P"]) :]
        with torch.no_grad():
            logits = gpt(weights, torch.tensor([seen]), n_heads)[0, -1].double().numpy()
        new.append(draw(nucleus(logits, temperature, top_p), rng.random()))
    return new
"""
NEEDED = """
def needed(A, alpha, goal):
    return (A / goal) ** (1 / alpha)
"""
FIT = """
def fit_power(N, L):
    slope, start = np.polyfit(np.log(N), np.log(L), 1)
    worst = np.abs(np.log(L) - start - slope * np.log(N)).max()
    return np.exp(start), -slope, worst
"""


def loss(choose):
    return LOSS.format(choose="\n    ".join(choose))


WRONG = {
    "no shift: each place is asked for what it reads": {
        "answers": {
            "loss": loss(
                [
                    "log_p = log_p.gather(2, tokens[:, :, None].clamp(0, log_p.shape[2] - 1))[:, :, 0]",
                    "return -log_p[tokens != pad].mean()",
                ]
            )
        },
        "score": 10,
    },
    "shifted the other way": {
        "answers": {
            "loss": loss(
                [
                    "log_p = log_p[:, 1:].gather(2, tokens[:, :-1, None].clamp(0, log_p.shape[2] - 1))[:, :, 0]",
                    "return -log_p[tokens[:, :-1] != pad].mean()",
                ]
            )
        },
        "score": 10,
    },
    "padding is predicted": {
        "answers": {"loss": loss(["return -log_p[:, :-1].gather(2, tokens[:, 1:, None]).mean()"])},
        "score": 15,
    },
    "every place whose input is real": {
        "answers": {
            "loss": loss(
                [
                    "log_p = log_p[:, :-1].gather(2, tokens[:, 1:, None].clamp(0, log_p.shape[2] - 1))[:, :, 0]",
                    "return -log_p[tokens[:, :-1] != pad].mean()",
                ]
            )
        },
        "score": 15,
    },
    "a mean of the means of the texts": {
        "answers": {
            "loss": loss(
                [
                    "log_p = log_p[:, :-1].gather(2, tokens[:, 1:, None].clamp(0, log_p.shape[2] - 1))[:, :, 0]",
                    "return -torch.stack([row[real].mean() for row, real in zip(log_p, tokens[:, 1:] != pad)]).mean()",
                ]
            )
        },
        "score": 15,
    },
    "exponentials of large logits": {
        "answers": {
            "loss": """
def causal_loss(logits, tokens, pad):
    p = logits.exp() / logits.exp().sum(dim=2, keepdim=True)
    p = p[:, :-1].gather(2, tokens[:, 1:, None].clamp(0, p.shape[2] - 1))[:, :, 0]
    return -p[tokens[:, 1:] != pad].log().mean()
"""
        },
        "score": 14,
    },
    "one token too many where the sum is met": {
        "answers": {
            "top-p": NUCLEUS.format(
                cut="keep = order[: (np.cumsum(p[order]) <= top_p + 1e-9).sum() + 1]", result="out / out.sum()"
            )
            + DRAW
        },
        "score": 14,
    },
    "not divided by the sum": {
        "answers": {
            "top-p": NUCLEUS.format(cut="keep = order[np.cumsum(p[order]) - p[order] < top_p - 1e-12]", result="out")
            + DRAW
        },
        "score": 14,
    },
    "cut first, then the temperature": {
        "answers": {
            "top-p": """
def nucleus(logits, temperature, top_p):
    p = np.exp(logits - logits.max())
    p = p / p.sum()
    order = np.argsort(-p, kind="stable")
    keep = order[np.cumsum(p[order]) - p[order] < top_p - 1e-12]
    out = np.zeros_like(p)
    out[keep] = p[keep] ** (1 / temperature)
    return out / out.sum()
"""
            + DRAW
        },
        "score": 14,
    },
    "all tokens as likely as the last one kept": {
        "answers": {
            "top-p": NUCLEUS.format(
                cut="least = p[order][np.cumsum(p[order]) - p[order] < top_p - 1e-12].min(); keep = p >= least",
                result="out / out.sum()",
            )
            + DRAW
        },
        "score": 14,
    },
    "a border belongs to the token before": {
        "answers": {
            "top-p": NUCLEUS.format(
                cut="keep = order[np.cumsum(p[order]) - p[order] < top_p - 1e-12]", result="out / out.sum()"
            )
            + """
def draw(p, u):
    return int(np.searchsorted(np.cumsum(p), u))
"""
        },
        "score": 15,
    },
    "no mask": {
        "answers": {
            "cache": FULL_PASS.format(width="(d // n_heads)", mask="")
            + STEP.format(seen="K, V", width="d_k", cache=GROWN)
        },
        "score": 11,
    },
    "later weights set to 0 after the softmax": {
        "answers": {
            "cache": FULL_PASS.format(width="(d // n_heads)", mask="").replace("S.softmax(3)", "(S.softmax(3).tril())")
            + STEP.format(seen="K, V", width="d_k", cache=GROWN)
        },
        "score": 14,
    },
    "divided by the root of the whole width": {
        "answers": {
            "cache": FULL_PASS.format(width="d", mask=MASK) + STEP.format(seen="K, V", width="len(x)", cache=GROWN)
        },
        "score": 12,
    },
    "heads cut without their axis in front": {
        "answers": {
            "cache": FULL_PASS.format(width="(d // n_heads)", mask=MASK).replace(
                "reshape(-1, T, n_heads, d // n_heads).transpose(1, 2) for", "reshape(-1, n_heads, T, d // n_heads) for"
            )
            + STEP.format(seen="K, V", width="d_k", cache=GROWN)
        },
        "score": 11,
    },
    "the new token does not see itself": {
        "answers": {
            "cache": FULL_PASS.format(width="(d // n_heads)", mask=MASK)
            + STEP.format(seen='(cache["K"], cache["V"]) if len(cache["K"]) else (K, V)', width="d_k", cache=GROWN)
        },
        "score": 14,
    },
    "the cache does not grow": {
        "answers": {
            "cache": FULL_PASS.format(width="(d // n_heads)", mask=MASK)
            + STEP.format(seen="K, V", width="d_k", cache='{"K": K[-1:], "V": V[-1:]}')
        },
        "score": 14,
    },
    "the weights that were given come back": {
        "answers": {"training": TRAIN.replace("return found", "return weights") + WRITE},
        "score": 13,
    },
    "always the beginning of the text": {
        "answers": {"training": TRAIN.replace("text[i : i + T] for", "text[:T] for") + WRITE},
        "score": 13,
    },
    "the steps go uphill": {
        "answers": {"training": TRAIN.replace("loss.backward()", "(-loss).backward()") + WRITE},
        "score": 13,
    },
    "the start is written again": {
        "answers": {"training": TRAIN + WRITE.replace("return new", "return [*start, *new][:n]")},
        "score": 15,
    },
    "the first tokens are read, not the last": {
        "answers": {"training": TRAIN + WRITE.replace('[1 - len(weights["P"]) :]', '[: len(weights["P"]) - 1]')},
        "score": 15,
    },
    "the place that learned nothing is used": {
        "answers": {"training": TRAIN + WRITE.replace("[1 - len", "[-len")},
        "score": 15,
    },
    "the same chance for every token": {
        "answers": {"training": TRAIN + WRITE.replace("rng.random()", "np.random.default_rng(seed).random()")},
        "score": 15,
    },
    "decimal logarithms": {
        "answers": {
            "power-law": """
def fit_power(N, L):
    slope, start = np.polyfit(np.log10(N), np.log10(L), 1)
    worst = np.abs(np.log10(L) - start - slope * np.log10(N)).max()
    return np.exp(start), -slope, worst
"""
            + NEEDED
        },
        "score": 15,
    },
    "the slope with its sign": {
        "answers": {"power-law": FIT.replace("-slope, worst", "slope, worst") + NEEDED},
        "score": 15,
    },
    "residuals of the loss, not of its logarithm": {
        "answers": {
            "power-law": FIT.replace(
                "np.abs(np.log(L) - start - slope * np.log(N))", "np.abs(L - np.exp(start) * N**slope)"
            )
            + NEEDED
        },
        "score": 15,
    },
    "a goal above A is taken for a mistake": {
        "answers": {
            "power-law": FIT
            + """
def needed(A, alpha, goal):
    return max(1.0, (A / goal) ** (1 / alpha))
"""
        },
        "score": 15,
    },
    "the exponent is not turned over": {
        "answers": {
            "power-law": FIT
            + """
def needed(A, alpha, goal):
    return (A / goal) ** alpha
"""
        },
        "score": 15,
    },
}
