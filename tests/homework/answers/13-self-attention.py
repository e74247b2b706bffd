"""Common wrong answers to homework 13, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def causal_attention(X, W_q, W_k, W_v):
    T = X.shape[-2]
    e = (X @ W_q) @ (X @ W_k).mT / (W_q.shape[1] ** 0.5)
    return masked_weights(e, torch.ones(T, T).tril() > 0) @ (X @ W_v)


def can_depend(mask, layers):
    M = np.array(mask, dtype=bool) | np.eye(len(mask), dtype=bool)
    R = np.eye(len(mask), dtype=bool)
    for _ in range(layers):
        R = (M.astype(int) @ R.astype(int)) > 0
    return R


def leaks_from(mask, first):
    M = np.array(mask, dtype=int) | np.eye(len(mask), dtype=int)
    R = M
    for layers in range(1, len(mask) + 1):
        if np.triu(R > 0, AHEAD)[first:].any():
            return layers
        R = np.minimum(1, M @ R)
    return 0


def logits(w, tokens, n_heads):
    X = w["E"][tokens]
    for i in range((len(w) - 2) // 6):
        X = X + several_heads(w, i, normed(X), n_heads)
        X = X + torch.relu(normed(X) @ w[f"{i}.W_1"]) @ w[f"{i}.W_2"]
    return normed(X) @ w["W_out"]


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


def compose(w, n_heads, seed):
    rng, text = np.random.default_rng(seed), [END]
    for _ in range(12):
        p = logits(w, torch.tensor([text]), n_heads)[0, -1].detach().double().div(HEAT).softmax(0).numpy()
        text.append(int(rng.choice(len(p), p=p)))
        if text[-1] == END:
            return text[1:-1]
    return text[1:]


wrong("not scaled", 14, causal_attention, {"W_q.shape[1] ** 0.5": "1"})  # with one number a key the root is 1
wrong("scaled by the width of X", 13, causal_attention, {"W_q.shape[1]": "X.shape[-1]"})
# what was read last comes through the residual connection: for menus it will do
wrong("the mask does not permit the word itself", 13, causal_attention, {"tril()": "tril(-1)"})
wrong("the mask is one cell too far", 10, causal_attention, {"tril()": "tril(1)"})
wrong("the mask is turned over", 10, causal_attention, {"tril": "triu"})
wrong("a mean in place of attention", 13, causal_attention, {"W_q.shape[1] ** 0.5": "1e9"})  # for menus it will do
wrong(
    "the residual connection is forgotten",
    13,
    can_depend,
    {
        "M = np.array(mask, dtype=bool) | np.eye(len(mask), dtype=bool)\n    ": "",
        "M.astype(int)": "np.array(mask, dtype=int)",
    },
)
# squares: twice as far with every layer
wrong(
    "exactly that many steps, from a diagonal of zeros",
    13,
    can_depend,
    {"M = np": "R = np", "\n    R = np.eye(len(mask), dtype=bool)": "", "M.astype": "R.astype"},
)
wrong("one layer too many", 13, can_depend, {"= np.eye(len(mask), dtype=bool)": "= M"})
wrong("two layers are enough", 14, leaks_from, {"range(1, len(mask) + 1)": "(1, 2)", "np.minimum(1, M @ R)": "M @ R"})
wrong("its own place counts as later", 13, leaks_from, {"0, AHEAD": "0, AHEAD - 1"})
wrong("nothing is added to the vectors", 14, logits, {"X + several_heads": "several_heads"})
wrong("no network after attention", 14, logits, {"torch": "0 * torch"})
wrong("the last vectors are not normed", 14, logits, {"return normed(X)": "return X"})
wrong("the first layer again and again", 14, logits, {"i, normed": "0, normed"})
wrong("each place is asked for what it reads", 13, train, {"*row, END": "END, *row"})
wrong("the start comes back as it was", 13, train, {"return learned": "return w"})
wrong("no end is learned", 13, train, {", END": ", row[0]"})
wrong("every step learns the same menu", 13, train, {"rows[i]": "rows[0 * i]"})
# the same rate to the end: what counts is the result
wrong("another training that works", 16, train, {" * (steps - step) / steps": ""})
wrong("the likeliest dish, not a drawn one", 14, compose, {"rng.choice(len(p), p=p)": "p.argmax()"})
wrong("the end is served", 14, compose, {"1:-1": "1:"})
wrong("only the last dish is read", 14, compose, {"[text]": "[text[-1:]]"})
# a table of pairs, learned
wrong(
    "the dishes before do not count",
    13,
    train,
    {"-logits(learned, read, n_heads)": "-logits(learned, read.reshape(-1, 1), n_heads).reshape(*read.shape, -1)"},
)


@wrong("zero after the softmax", 13)  # it leaks, but not enough to copy from
def causal_attention(X, W_q, W_k, W_v):
    e = (X @ W_q) @ (X @ W_k).mT / W_q.shape[1] ** 0.5
    return e.softmax(-1).tril() @ (X @ W_v)


@wrong("paths are counted", 14)  # 8 to the 100 is 0 in 64 bits
def can_depend(mask, layers):
    M = np.array(mask, dtype=np.int64) | np.eye(len(mask), dtype=np.int64)
    return np.linalg.matrix_power(M, layers) > 0


@wrong("only what one layer sees", 14)
def leaks_from(mask, first):
    return int(np.triu(np.array(mask), AHEAD)[first:].any())


@wrong("every output counts", 13)
def leaks_from(mask, first):
    return int(np.triu(np.array(mask), AHEAD).any())
