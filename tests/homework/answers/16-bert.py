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


def nearest(score, others="words[j] == words[i] and j != i"):
    return f"""
def same_sense(H, words, senses):
    hits = []
    for i in range(len(H)):
        scores = [({score}, j) for j in range(len(H)) if {others}]
        if scores:
            hits.append(senses[max(scores)[1]] == senses[i])
    return float(np.mean(hits)) if hits else 0.0
"""


COSINE = "H[i] @ H[j] / np.linalg.norm(H[i]) / np.linalg.norm(H[j])"

WRONG = {
    "special tokens are selected too": {"answers": {"masking": masking("chance < rate", RIGHT_FATES)}, "score": 14},
    "a selected word always becomes <mask>": {
        "answers": {"masking": masking("(tokens > 4) & (chance < rate)", "4")},
        "score": 12,
    },
    "the tenth that stays and the tenth that changes are exchanged": {
        "answers": {
            "masking": masking(
                "(tokens > 4) & (chance < rate)", "np.where(fate < 0.8, 4, np.where(fate < 0.9, tokens, other))"
            )
        },
        "score": 12,
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
        "score": 12,
    },
    "the mean over all places": {
        "answers": {"loss": LOSS.format(change="J, gradient = J * n / selected.size, gradient * n / selected.size")},
        "score": 12,
    },
    "every place counts": {
        "answers": {
            "loss": LOSS.format(change="J, gradient = nll.mean(), (np.exp(log_p) - hit) / selected.size"),
        },
        "score": 12,
    },
    "the mean of the sentences' means": {
        "answers": {
            "loss": LOSS.format(
                change="means = [n[s].mean() for n, s in zip(nll, selected) if s.any()]; J = np.mean(means or [0.0])"
            ),
        },
        "score": 14,
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
        "score": 14,
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
    "a probe without a bias": {"answers": {"probe": probe("H", "H_new")}, "score": 14},
    "a penalty on the bias": {
        "answers": {
            "probe": probe("np.column_stack([H, np.ones(len(H))])", "np.column_stack([H_new, np.ones(len(H_new))])")
        },
        "score": 14,
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
        "score": 13,
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
        "score": 14,
    },
    "the occurrence itself is its nearest": {
        "answers": {"nearest": nearest(COSINE, "words[j] == words[i]")},
        "score": 14,
    },
    "an inner product in place of the cosine": {"answers": {"nearest": nearest("H[i] @ H[j]")}, "score": 15},
    "distance in place of the cosine": {"answers": {"nearest": nearest("-np.linalg.norm(H[i] - H[j])")}, "score": 15},
    "any word may be the nearest": {"answers": {"nearest": nearest(COSINE, "j != i")}, "score": 14},
    "words that occur once count as wrong": {
        "answers": {
            "nearest": nearest(COSINE).replace(
                "        if scores:\n            hits.append(senses[max(scores)[1]] == senses[i])",
                "        hits.append(bool(scores) and senses[max(scores)[1]] == senses[i])",
            )
        },
        "score": 15,
    },
}
