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
    return {out}
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


TRAIN = """
def train(network, examples, steps, rate):
    learned = {key: torch.nn.Parameter(torch.tensor(value)) for key, value in network.items()}
    adam, chance = torch.optim.Adam(learned.values(), lr=rate), torch.Generator().manual_seed(1)
    for step in range(steps):
        batch = [examples[i] for i in torch.randint(len(examples), (64,), generator=chance).tolist()]
        p = forward(learned, torch.tensor([history for history, _ in batch]))
        loss = -p[range(64), [target for _, target in batch]].log().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return learned
"""
MAKE_UP = """
def make_up(network, seed):
    n = network["W"].shape[1] // network["E"].shape[1]
    rng, text = np.random.default_rng(seed), [0] * n
    for _ in range(20):
        p = forward(network, np.array([text[-n:]]))[0].detach().numpy()
        text.append(int(rng.choice(len(p), p=p)))
        if text[-1] == 0:
            return text[n:-1]
    return text[n:]
"""


def names(train=TRAIN, make_up=MAKE_UP):
    return {"names": train + make_up}


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
        "score": 7,
    },
    "log probabilities in place of probabilities": {
        "answers": {"forward": forward(out="torch.log_softmax(z, dim=1)")},
        "score": 7,
    },
    "softmax over the batch": {
        "answers": {"forward": forward(out="torch.softmax(z, dim=0)")},
        "score": 7,
    },
    "softmax over everything at once": {  # right for a batch of one
        "answers": {"forward": forward(out="(z - z.max()).exp() / (z - z.max()).exp().sum()")},
        "score": 11,
    },
    "only the first history": {
        "answers": {"forward": forward(e="E[places[:1]].flatten(start_dim=1)")},
        "score": 11,
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
    "the network comes back as it was": {
        "answers": names(TRAIN.replace("return learned", "return network")),
        "score": 13,
    },
    "the step makes names less likely": {
        "answers": names(TRAIN.replace("loss = -p", "loss = p")),
        "score": 13,
    },
    "only the last layer is trained": {
        "answers": names(TRAIN.replace("Adam(learned.values()", "Adam([learned['U']]")),
        "score": 13,
    },
    "the end belongs to the name": {
        "answers": names(make_up=MAKE_UP.replace("text[n:-1]", "text[n:]")),
        "score": 15,
    },
    "the likeliest letter, not a drawn one": {
        "answers": names(make_up=MAKE_UP.replace("int(rng.choice(len(p), p=p))", "int(p.argmax())")),
        "score": 15,
    },
    "the start of the name is read, not its end": {
        "answers": names(make_up=MAKE_UP.replace("text[-n:]", "text[:n]")),
        "score": 15,
    },
}
