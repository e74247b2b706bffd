"""Common wrong answers to homework 16, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16


def masking(selected, fates):
    return f"""
def make_blanks(tokens, chance, fate, other, rate=0.15):
    selected = {selected}
    return np.where(selected, {fates}, tokens), selected
"""


RIGHT_FATES = "np.where(fate < 0.8, 4, np.where(fate < 0.9, other, tokens))"

LOSS = """
def loss_and_gradient(logits, tokens, selected):
    z = logits - logits.max(-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(-1, keepdims=True))
    hit = np.eye(logits.shape[-1])[tokens]
    n = max(1, int(np.sum(selected)))
    nll = -(log_p * hit).sum(-1)
    J = (nll * selected).sum() / n
    gradient = (np.exp(log_p) - hit) * np.asarray(selected)[..., None] / n
    {change}
    return J, gradient
"""


def probe(design, new, answer="y_new"):
    return f"""
def probe_accuracy(H, y, H_new, y_new, classes, penalty):
    X, X_new = {design}, {new}
    W = np.linalg.lstsq(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ np.eye(classes)[y], rcond=None)[0]
    return float(np.mean((X_new @ W).argmax(1) == {answer}))
"""


VERDICT = """
def summary(w, tokens):
    tokens = torch.tensor(np.asarray(tokens))
    return torch.stack([X[row != 0].mean(0) for X, row in zip(encode(w, tokens), tokens)])


def verdict(w, tokens):
    return torch.tanh(summary(w, tokens) @ w["W_p"]) @ w["W_c"]
"""
TUNE = """
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
"""


def changed(source: str, old: str, new: str) -> str:
    """The right answer with one mistake; what is replaced must be there."""
    assert source.count(old) == 1, old
    return source.replace(old, new)


WRONG = {
    "special tokens are selected too": {"answers": {"masking": masking("chance < rate", RIGHT_FATES)}, "score": 15},
    "a selected word always becomes <mask>": {
        "answers": {"masking": masking("(tokens > 4) & (chance < rate)", "4")},
        "score": 13,
    },
    "the tenth that stays and the tenth that changes are exchanged": {
        "answers": {
            "masking": masking(
                "(tokens > 4) & (chance < rate)", "np.where(fate < 0.8, 4, np.where(fate < 0.9, tokens, other))"
            )
        },
        "score": 13,
    },
    "a chance equal to the rate selects": {
        "answers": {"masking": masking("(tokens > 4) & (chance <= rate)", RIGHT_FATES)},
        "score": 14,
    },
    "the selection holds only what became <mask>": {
        "answers": {
            "masking": """
def make_blanks(tokens, chance, fate, other, rate=0.15):
    picked = (tokens > 4) & (chance < rate)
    inputs = np.where(picked, np.where(fate < 0.8, 4, np.where(fate < 0.9, other, tokens)), tokens)
    return inputs, inputs == 4
"""
        },
        "score": 13,
    },
    "the mean over all places": {
        "answers": {"loss": LOSS.format(change="J, gradient = J * n / selected.size, gradient * n / selected.size")},
        "score": 13,
    },
    "every place counts": {
        "answers": {
            "loss": LOSS.format(change="J, gradient = nll.mean(), (np.exp(log_p) - hit) / selected.size"),
        },
        "score": 13,
    },
    "the mean of the sentences' means": {
        "answers": {
            "loss": LOSS.format(
                change="means = [n[s].mean() for n, s in zip(nll, selected) if s.any()]; J = np.mean(means or [0.0])"
            ),
        },
        "score": 15,
    },
    "a gradient that is not divided by the number of blanks": {
        "answers": {"loss": LOSS.format(change="gradient = gradient * n")},
        "score": 14,
    },
    "a gradient at every place": {
        "answers": {"loss": LOSS.format(change="gradient = (np.exp(log_p) - hit) / n")},
        "score": 14,
    },
    "exponentials that overflow": {
        "answers": {
            "loss": LOSS.replace("logits - logits.max(-1, keepdims=True)", "logits").format(change=""),
        },
        "score": 15,
    },
    "a word that is read is taken for the answer": {
        "answers": {
            "answer": """
def what_was_there(p, shown, a, b):
    return np.array(p) if shown is None else np.eye(len(p))[shown]
"""
        },
        "score": 13,
    },
    "the shares are always 80, 10, 10": {
        "answers": {
            "answer": """
def what_was_there(p, shown, a, b):
    if shown is None:
        return np.array(p)
    found = p / len(p)
    found[shown] += p[shown]
    return found / found.sum()
"""
        },
        "score": 14,
    },
    "a random draw never hits the word that stood there": {
        "answers": {
            "answer": """
def what_was_there(p, shown, a, b):
    if shown is None:
        return np.array(p)
    found = p * b / len(p)
    found[shown] = p[shown] * (1 - a - b)
    return found / found.sum()
"""
        },
        "score": 13,
    },
    "the word is mixed with the surroundings by fixed shares": {
        "answers": {
            "answer": """
def what_was_there(p, shown, a, b):
    if shown is None:
        return np.array(p)
    return (b * p + (1 - a - b) * np.eye(len(p))[shown]) / (1 - a)
"""
        },
        "score": 13,
    },
    "a probe without a bias": {"answers": {"probe": probe("H", "H_new")}, "score": 15},
    "a penalty on the bias": {
        "answers": {
            "probe": probe("np.column_stack([H, np.ones(len(H))])", "np.column_stack([H_new, np.ones(len(H_new))])")
        },
        "score": 15,
    },
    "tested on what it was fitted to": {
        "answers": {
            "probe": """
def probe_accuracy(H, y, H_new, y_new, classes, penalty):
    X, Y = H - H.mean(0), np.eye(classes)[y]
    W = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ (Y - Y.mean(0)))
    return float(np.mean((X @ W + Y.mean(0)).argmax(1) == y))
"""
        },
        "score": 14,
    },
    "new states are centred by their own mean": {
        "answers": {
            "probe": """
def probe_accuracy(H, y, H_new, y_new, classes, penalty):
    X, Y = H - H.mean(0), np.eye(classes)[y]
    W = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ Y)
    return float(np.mean(((H_new - H_new.mean(0)) @ W).argmax(1) == y_new))
"""
        },
        "score": 15,
    },
    "padding counts in the mean": {
        "answers": {"verdict": changed(VERDICT, "X[row != 0].mean(0)", "X.mean(0)")},
        "score": 15,
    },
    "a sum in place of the mean": {
        "answers": {"verdict": changed(VERDICT, "X[row != 0].mean(0)", "X[row != 0].sum(0)")},
        "score": 15,
    },
    "a verdict without tanh": {
        "answers": {
            "verdict": changed(VERDICT, 'torch.tanh(summary(w, tokens) @ w["W_p"])', 'summary(w, tokens) @ w["W_p"]')
        },
        "score": 15,
    },
    "the head of another opinion": {
        "answers": {"verdict": changed(VERDICT, '@ w["W_c"]', '@ w["W_c"].flip(1)')},
        "score": 15,
    },
    "a verdict that no gradient passes": {
        "answers": {"verdict": changed(VERDICT, "summary(w, tokens) @", "summary(w, tokens).detach() @")},
        "score": 13,
    },
    "the weights before fine-tuning": {"answers": {"training": "def fine_tune(w, *_): return w"}, "score": 13},
    "only the two new matrices are trained": {
        "answers": {"training": changed(TUNE, "Adam(learned.values()", 'Adam([learned["W_p"], learned["W_c"]]')},
        "score": 13,
    },
    "the verdicts are exchanged": {
        "answers": {"training": changed(TUNE, "verdicts[batch]]", "1 - verdicts[batch]]")},
        "score": 13,
    },
    "fine-tuned without pre-training": {
        "answers": {"training": changed(TUNE, "value.clone()", "torch.randn(value.shape) / 4")},
        "score": 14,  # it knows its own sixty by heart
    },
    "verdicts of other rows": {
        "answers": {"training": changed(TUNE, "verdicts[batch]]", "rng.permutation(verdicts)[batch]]")},
        "score": 13,
    },
    "another fine-tuning that works": {  # all rows in every step, and a rate that stays
        "answers": {
            "verdict": VERDICT,
            "training": changed(
                changed(TUNE, "rng.permutation(len(rows))[:32]", "np.arange(len(rows))"),
                "rate * (steps - step) / steps",
                "rate",
            ),
        },
        "score": 16,
    },
}
