"""Common wrong answers to homework 16, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def make_blanks(tokens, chance, fate, other, rate=0.15):
    selected = (tokens > 4) & (chance < rate)
    return np.where(selected, np.where(fate < LOW, 4, np.where(fate < HIGH, other, tokens)), tokens), selected


def loss_and_gradient(logits, tokens, selected):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    hit = np.eye(logits.shape[-1])[tokens]
    n = max(1, int(np.sum(selected)))
    nll = -(log_p * hit).sum(-1)
    J = (nll * selected).sum() / n
    gradient = (np.exp(log_p) - hit) * np.asarray(selected)[..., None] / n
    return J, gradient


def probe_accuracy(H, y, H_new, y_new, classes, penalty):
    X, Y = H - H.mean(0), np.eye(classes)[y]
    W = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ (Y - Y.mean(0)))
    return float(np.mean(((H_new - H.mean(0)) @ W + Y.mean(0)).argmax(1) == y_new))


def summary(w, tokens):
    tokens = torch.tensor(np.asarray(tokens))
    return torch.stack([X[row != 0].mean(0) for X, row in zip(encode(w, tokens), tokens)])


def verdict(w, tokens):
    return torch.tanh(summary(w, tokens) @ w["W_p"]) @ w["W_c"]


def fine_tune(w, rows, verdicts, steps, rate):
    learned = {name: torch.nn.Parameter(value.clone()) for name, value in w.items()}
    adam, rng = torch.optim.Adam(learned.values(), lr=rate), np.random.default_rng(1)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * (steps - step) / steps
        batch = rng.permutation(len(rows))[:32]
        loss = -verdict(learned, rows[batch]).log_softmax(1)[range(len(batch)), verdicts[batch]].mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return {name: value.detach() for name, value in learned.items()}


wrong("special tokens are selected too", 15, make_blanks, {"(tokens > 4) & (chance < rate)": "chance < rate"})
wrong(
    "a selected word always becomes <mask>",
    13,
    make_blanks,
    {"np.where(fate < LOW, 4, np.where(fate < HIGH, other, tokens))": "4"},
)
wrong(
    "the tenth that stays and the tenth that changes are exchanged", 13, make_blanks, {"other, tokens": "tokens, other"}
)
wrong("a chance equal to the rate selects", 14, make_blanks, {"< rate": "<= rate"})
wrong(
    "the mean over all places",
    13,
    loss_and_gradient,
    {"return": "J, gradient = J * n / selected.size, gradient * n / selected.size\n    return"},
)
wrong(
    "every place counts",
    13,
    loss_and_gradient,
    {"return": "J, gradient = nll.mean(), (np.exp(log_p) - hit) / selected.size\n    return"},
)
wrong(
    "a gradient that is not divided by the number of blanks",
    14,
    loss_and_gradient,
    {"return": "gradient = gradient * n\n    return"},
)
wrong(
    "a gradient at every place", 14, loss_and_gradient, {"return": "gradient = (np.exp(log_p) - hit) / n\n    return"}
)
wrong(
    "exponentials that overflow",
    15,
    loss_and_gradient,
    {" - logits.max(-1, keepdims=True)": "", "    return": "\n    return"},
)
wrong(
    "tested on what it was fitted to",
    14,
    probe_accuracy,
    {"((H_new - H.mean(0)) @ W + Y.mean(0)).argmax(1) == y_new": "(X @ W + Y.mean(0)).argmax(1) == y"},
)
wrong(
    "new states are centred by their own mean",
    15,
    probe_accuracy,
    {"(Y - Y.mean(0))": "Y", "(H_new - H.mean(0)) @ W + Y.mean(0)": "(H_new - H_new.mean(0)) @ W"},
)
wrong("padding counts in the mean", 15, summary, {"[row != 0]": ""})
wrong("a sum in place of the mean", 15, summary, {"mean": "sum"})
wrong(
    "a verdict without tanh",
    15,
    verdict,
    {'torch.tanh(summary(w, tokens) @ w["W_p"])': 'summary(w, tokens) @ w["W_p"]'},
)
wrong("the head of another opinion", 15, verdict, {'["W_c"]': '["W_c"].flip(1)'})
wrong("a verdict that no gradient passes", 13, verdict, {"summary(w, tokens)": "summary(w, tokens).detach()"})
wrong("only the two new matrices are trained", 13, fine_tune, {"learned.values()": '[learned["W_p"], learned["W_c"]]'})
wrong("the verdicts are exchanged", 13, fine_tune, {"verdicts[batch]": "1 - verdicts[batch]"})
# it knows its own sixty by heart
wrong("fine-tuned without pre-training", 14, fine_tune, {"value.clone()": "torch.randn(value.shape) / 4"})
wrong("verdicts of other rows", 13, fine_tune, {"verdicts[batch]": "rng.permutation(verdicts)[batch]"})
# all rows in every step, and a rate that stays
wrong(
    "another fine-tuning that works",
    16,
    fine_tune,
    {" * (steps - step) / steps": "", "rng.permutation(len(rows))[:32]": "np.arange(len(rows))"},
)
wrong(
    "the mean of the sentences' means",
    15,
    loss_and_gradient,
    {"(nll * selected).sum() / n": "np.mean([n[s].mean() for n, s in zip(nll, selected) if s.any()] or [0.0])"},
)


@wrong("the selection holds only what became <mask>", 13)
def make_blanks(tokens, chance, fate, other, rate=0.15):
    picked = (tokens > 4) & (chance < rate)
    inputs = np.where(picked, np.where(fate < LOW, 4, np.where(fate < HIGH, other, tokens)), tokens)
    return inputs, inputs == 4


@wrong("a word that is read is taken for the answer", 13)
def what_was_there(p, shown, a, b):
    return np.array(p) if shown is None else np.eye(len(p))[shown]


@wrong("the shares are always 80, 10, 10", 14)
def what_was_there(p, shown, a, b):
    if shown is None:
        return np.array(p)
    found = p / (len(p) - FIRST)
    found[shown] += p[shown]
    return found / found.sum()


@wrong("a random draw never hits the word that stood there", 13)
def what_was_there(p, shown, a, b):
    if shown is None:
        return np.array(p)
    found = p * b / (len(p) - FIRST)
    found[shown] = p[shown] * (1 - a - b)
    return found / found.sum()


@wrong("the word is mixed with the surroundings by fixed shares", 13)
def what_was_there(p, shown, a, b):
    if shown is None:
        return np.array(p)
    return (b * p + (1 - a - b) * np.eye(len(p))[shown]) / (1 - a)


@wrong("a probe without a bias", 15)
def probe_accuracy(H, y, H_new, y_new, classes, penalty):
    X, X_new = H, H_new
    W = np.linalg.lstsq(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ np.eye(classes)[y], rcond=None)[0]
    return float(np.mean((X_new @ W).argmax(1) == y_new))


@wrong("a penalty on the bias", 15)
def probe_accuracy(H, y, H_new, y_new, classes, penalty):
    X, X_new = np.column_stack([H, np.ones(len(H))]), np.column_stack([H_new, np.ones(len(H_new))])
    W = np.linalg.lstsq(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ np.eye(classes)[y], rcond=None)[0]
    return float(np.mean((X_new @ W).argmax(1) == y_new))


@wrong("the weights before fine-tuning", 13)
def fine_tune(w, *_):
    return w
