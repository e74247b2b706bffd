"""Common wrong answers to homework 4, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16


def forward(e="E[places].flatten(start_dim=1)", hidden="torch.sigmoid(e @ W.T)", out="torch.softmax(z, dim=1)"):
    return f"""
def forward(network, histories):
    E, W, U = (torch.as_tensor(network[name], dtype=torch.float64) for name in "EWU")
    places = torch.as_tensor(histories)
    e = {e}
    z = {hidden} @ U.T
    return ({out}).numpy()
"""


def step(gradient):
    return f"""
def step(U, H, came, rate):
    P = np.exp(H @ U.T)
    P = P / P.sum(axis=1, keepdims=True)
    Y = np.eye(len(U))[came]
    return U - rate * ({gradient})
"""


def count(formula):
    return f"def count(vocab, d, hidden, window):\n    return {formula}"


def widest(formula):
    return f"def widest(budget, vocab, d, hidden):\n    left = budget - vocab * (d + hidden)\n    return {formula}"


WRONG = {
    "the target is in its own window": {
        "answers": {
            "windows": """
def windows(ids, n, sos):
    padded = [sos] * (n - 1) + list(ids)
    return [[padded[t : t + n], ids[t]] for t in range(len(ids))]
"""
        },
        "score": 14,
    },
    "the first tokens are not predicted": {
        "answers": {
            "windows": """
def windows(ids, n, sos):
    return [[list(ids[t - n : t]), ids[t]] for t in range(n, len(ids))]
"""
        },
        "score": 14,
    },
    "short histories are not filled up": {
        "answers": {
            "windows": """
def windows(ids, n, sos):
    return [[list(ids[max(0, t - n) : t]) or [sos], ids[t]] for t in range(len(ids))]
"""
        },
        "score": 14,
    },
    "the start is filled up on the right": {
        "answers": {
            "windows": """
def windows(ids, n, sos):
    out = []
    for t in range(len(ids)):
        history = list(ids[max(0, t - n) : t])
        out.append([history + [sos] * (n - len(history)), ids[t]])
    return out
"""
        },
        "score": 14,
    },
    "the nearest word comes first": {
        "answers": {"forward": forward(e="E[places].flip(1).flatten(start_dim=1)")},
        "score": 11,  # by hand "the tide turns" differs from "turns tide the"
    },
    "entries of the places are mixed": {  # right for vectors of one entry
        "answers": {"forward": forward(e="E[places].transpose(1, 2).flatten(start_dim=1)")},
        "score": 11,
    },
    "tanh in place of sigma": {
        "answers": {"forward": forward(hidden="torch.tanh(e @ W.T)")},
        "score": 11,
    },
    "no hidden non-linearity": {
        "answers": {"forward": forward(hidden="(e @ W.T)")},
        "score": 11,
    },
    "logits in place of probabilities": {
        "answers": {"forward": forward(out="z")},
        "score": 11,
    },
    "log probabilities in place of probabilities": {
        "answers": {"forward": forward(out="torch.log_softmax(z, dim=1)")},
        "score": 11,
    },
    "softmax over the batch": {
        "answers": {"forward": forward(out="torch.softmax(z, dim=0)")},
        "score": 11,
    },
    "softmax over everything at once": {  # right for a batch of one
        "answers": {"forward": forward(out="(z - z.max()).exp() / (z - z.max()).exp().sum()")},
        "score": 14,
    },
    "only the first history": {
        "answers": {"forward": forward(e="E[places[:1]].flatten(start_dim=1)")},
        "score": 14,
    },
    "exponentials overflow": {
        "answers": {"forward": forward(out="z.exp() / z.exp().sum(1, keepdim=True)")},
        "score": 14,
    },
    "one table for each place": {
        "answers": {"count": count("window * vocab * d + window * d * hidden + vocab * hidden")},
        "score": 15,
    },
    "the window multiplies nothing": {
        "answers": {"count": count("vocab * d + d * hidden + vocab * hidden")},
        "score": 15,
    },
    "biases are counted": {
        "answers": {"count": count("vocab * (d + hidden + 1) + hidden * (window * d + 1)")},
        "score": 15,
    },
    "the division is not rounded down": {"answers": {"widest": widest("max(0, left / (d * hidden))")}, "score": 14},
    "a negative window": {"answers": {"widest": widest("left // (d * hidden)")}, "score": 14},
    "a budget that fits exactly is too small": {
        "answers": {"widest": widest("max(0, (left - 1) // (d * hidden))")},
        "score": 14,
    },
    "the step goes uphill": {"answers": {"step": step("(Y - P).T @ H / len(H)")}, "score": 12},
    "only the row of the word that came moves": {
        "answers": {"step": step("((P - Y) * Y).T @ H / len(H)")},
        "score": 12,
    },
    "the step forgets the hidden layer": {
        "answers": {"step": step("(P - Y).T @ np.ones_like(H) / len(H)")},
        "score": 12,
    },
    "the sum of the losses, not the mean": {"answers": {"step": step("(P - Y).T @ H")}, "score": 14},
    "the mean over words, not examples": {"answers": {"step": step("(P - Y).T @ H / len(U)")}, "score": 12},
    "only the last example": {"answers": {"step": step("np.outer((P - Y)[-1], H[-1])")}, "score": 14},
    "the blocks are dealt out in turns": {
        "answers": {
            "votes": """
def votes(network, history):
    W, n = network["W"], len(history)
    return np.stack([W[:, i::n] @ network["E"][word] for i, word in enumerate(history)])
"""
        },
        "score": 14,
    },
    "the blocks are in the other order": {
        "answers": {
            "votes": """
def votes(network, history):
    blocks = np.split(network["W"], len(history), axis=1)[::-1]
    return np.stack([block @ network["E"][word] for block, word in zip(blocks, history)])
"""
        },
        "score": 14,
    },
    "the sum of the votes": {
        "answers": {
            "votes": """
def votes(network, history):
    return network["W"] @ np.concatenate([network["E"][word] for word in history])
"""
        },
        "score": 14,
    },
    "one place for all": {
        "answers": {
            "votes": """
def votes(network, history):
    d = network["E"].shape[1]
    return np.stack([network["W"][:, -d:] @ network["E"][word] for word in history])
"""
        },
        "score": 14,
    },
}
