"""Common wrong answers to homework 13, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16


def causal(scale="W_q.shape[1] ** 0.5", mask="torch.ones(T, T).tril() > 0"):
    return f"""
def causal_attention(X, W_q, W_k, W_v):
    T = X.shape[-2]
    e = (X @ W_q) @ (X @ W_k).mT / ({scale})
    return masked_weights(e, {mask}) @ (X @ W_v)
"""


MODEL = """
def logits(w, tokens, n_heads):
    X = w["E"][tokens]
    for i in range((len(w) - 2) // 6):
        X = X + several_heads(w, i, normed(X), n_heads)
        X = X + torch.relu(normed(X) @ w[f"{i}.W_1"]) @ w[f"{i}.W_2"]
    return normed(X) @ w["W_out"]
"""
TRAIN = """
def train(w, rows, n_heads, steps, rate):
    learned = {name: torch.nn.Parameter(value.clone()) for name, value in w.items()}
    adam, chance = torch.optim.Adam(learned.values(), lr=rate), torch.Generator().manual_seed(1)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * (steps - step) / steps
        batch = [rows[i] for i in torch.randint(len(rows), (64,), generator=chance).tolist()]
        read, wanted = torch.tensor([[END, *row] for row in batch]), torch.tensor([[*row, END] for row in batch])
        loss = -logits(learned, read, n_heads).log_softmax(2).gather(2, wanted[..., None]).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return learned
"""
COMPOSE = """
def compose(w, n_heads, seed):
    rng, text = np.random.default_rng(seed), [END]
    for _ in range(12):
        p = logits(w, torch.tensor([text]), n_heads)[0, -1].detach().double().softmax(0).numpy()
        text.append(int(rng.choice(len(p), p=p)))
        if text[-1] == END:
            return text[1:-1]
    return text[1:]
"""


def changed(source: str, old: str, new: str) -> str:
    """The right answer with one mistake; what is replaced must be there."""
    assert source.count(old) == 1, old
    return source.replace(old, new)


WRONG = {
    "not scaled": {"answers": {"causal": causal(scale="1")}, "score": 14},  # with one number a key the root is 1
    "scaled by the width of X": {"answers": {"causal": causal(scale="X.shape[-1] ** 0.5")}, "score": 13},
    "the mask does not permit the word itself": {
        "answers": {"causal": causal(mask="torch.ones(T, T).tril(-1) > 0")},
        "score": 13,  # what was read last comes through the residual connection: for menus it will do
    },
    "the mask is one cell too far": {"answers": {"causal": causal(mask="torch.ones(T, T).tril(1) > 0")}, "score": 10},
    "the mask is turned over": {"answers": {"causal": causal(mask="torch.ones(T, T).triu() > 0")}, "score": 10},
    "zero after the softmax": {
        "answers": {
            "causal": """
def causal_attention(X, W_q, W_k, W_v):
    e = (X @ W_q) @ (X @ W_k).mT / W_q.shape[1] ** 0.5
    return e.softmax(-1).tril() @ (X @ W_v)
"""
        },
        "score": 13,  # it leaks, but not enough to copy from
    },
    "a mean in place of attention": {
        "answers": {"causal": causal(scale="1e9")},
        "score": 13,  # for menus it will do
    },
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
    "nothing is added to the vectors": {
        "answers": {"model": changed(MODEL, "X = X + several_heads", "X = several_heads")},
        "score": 14,
    },
    "no network after attention": {
        "answers": {"model": changed(MODEL, "X = X + torch.relu", "X = X + 0 * torch.relu")},
        "score": 14,
    },
    "the last vectors are not normed": {
        "answers": {"model": changed(MODEL, 'return normed(X) @ w["W_out"]', 'return X @ w["W_out"]')},
        "score": 14,
    },
    "the first layer again and again": {
        "answers": {"model": changed(MODEL, "several_heads(w, i,", "several_heads(w, 0,")},
        "score": 14,
    },
    "each place is asked for what it reads": {
        "answers": {"training": changed(TRAIN, "[[*row, END] for", "[[END, *row] for")},
        "score": 13,
    },
    "the start comes back as it was": {
        "answers": {"training": changed(TRAIN, "return learned", "return w")},
        "score": 13,
    },
    "no end is learned": {
        "answers": {"training": changed(TRAIN, "[[*row, END] for", "[[*row, row[0]] for")},
        "score": 13,
    },
    "every step learns the same menu": {
        "answers": {"training": changed(TRAIN, "[rows[i] for", "[rows[0 * i] for")},
        "score": 13,
    },
    "the dishes before do not count": {  # a table of pairs, learned
        "answers": {
            "training": changed(
                TRAIN,
                "logits(learned, read, n_heads).log_softmax(2)",
                "logits(learned, read.reshape(-1, 1), n_heads).reshape(*read.shape, -1).log_softmax(2)",
            )
        },
        "score": 13,
    },
    "another training that works": {  # the same rate to the end: what counts is the result
        "answers": {"training": changed(TRAIN, "rate * (steps - step) / steps", "rate")},
        "score": 16,
    },
    "the likeliest dish, not a drawn one": {
        "answers": {"writing": changed(COMPOSE, "int(rng.choice(len(p), p=p))", "int(p.argmax())")},
        "score": 14,
    },
    "the end is served": {"answers": {"writing": changed(COMPOSE, "text[1:-1]", "text[1:]")}, "score": 14},
    "only the last dish is read": {
        "answers": {"writing": changed(COMPOSE, "torch.tensor([text])", "torch.tensor([text[-1:]])")},
        "score": 14,
    },
}
