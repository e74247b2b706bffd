"""Common wrong answers to homework 4, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def forward(network, histories):
    E, W, U = (torch.as_tensor(network[name], dtype=torch.float64) for name in "EWU")
    places = torch.as_tensor(histories)
    e = E[places].flatten(start_dim=1)
    z = torch.sigmoid(e @ W.T) @ U.T
    return torch.softmax(z, dim=1)


def count(vocab, d, hidden, window):
    return MORE * d + vocab * d + window * d * hidden + vocab * hidden


def step(U, H, came, rate):
    P = np.exp(H @ U.T)
    P = P / P.sum(axis=1, keepdims=True)
    Y = np.eye(len(U))[came]
    return U - rate * ((P - Y).T @ H / len(H) + DECAY * U)


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


def make_up(network, seed):
    n = network["W"].shape[1] // network["E"].shape[1]
    rng, text = np.random.default_rng(seed), [0] * n
    for _ in range(20):
        p = forward(network, np.array([text[-n:]]))[0].detach().numpy()
        text.append(int(rng.choice(len(p), p=p)))
        if text[-1] == 0:
            return text[n:-1]
    return text[n:]


# by hand "the tide turns" differs from "turns tide the"
wrong("the nearest word comes first", 11, forward, {"flatten": "flip(1).flatten"})
# right for vectors of one entry
wrong("entries of the places are mixed", 11, forward, {"flatten": "transpose(1, 2).flatten"})
wrong("tanh in place of sigma", 11, forward, {"sigmoid": "tanh"})
wrong("no hidden non-linearity", 11, forward, {"torch.sigmoid": ""})
wrong("logits in place of probabilities", 7, forward, {"torch.softmax(z, dim=1)": "z"})
wrong("log probabilities in place of probabilities", 7, forward, {"softmax": "log_softmax"})
wrong("softmax over the batch", 7, forward, {", dim=1": ", dim=0"})
# right for a batch of one
wrong(
    "softmax over everything at once",
    11,
    forward,
    {"torch.softmax(z, dim=1)": "(z - z.max()).exp() / (z - z.max()).exp().sum()"},
)
wrong("only the first history", 11, forward, {"[places]": "[places[:1]]"})
wrong("exponentials overflow", 14, forward, {"torch.softmax(z, dim=1)": "z.exp() / z.exp().sum(1, keepdim=True)"})
wrong("one table for each place", 15, count, {"+ vocab * d": "+ window * vocab * d"})
wrong("the window multiplies nothing", 15, count, {"window * ": ""})
wrong(
    "biases are counted",
    15,
    count,
    {"vocab * d + window * d * hidden + vocab * hidden": "vocab * (d + hidden + 1) + hidden * (window * d + 1)"},
)
wrong("the step goes uphill", 12, step, {"P - Y": "Y - P"})
wrong("only the row of the word that came moves", 12, step, {"P - Y": "(P - Y) * Y"})
wrong("the step forgets the hidden layer", 12, step, {"H / len": "np.ones_like(H) / len"})
wrong("the sum of the losses, not the mean", 14, step, {" / len(H)": ""})
wrong("the mean over words, not examples", 12, step, {"len(H)": "len(U)"})
wrong("only the last example", 14, step, {"(P - Y).T @ H / len(H)": "np.outer((P - Y)[-1], H[-1])"})
wrong("the network comes back as it was", 13, train, {"return learned": "return network"})
wrong("the step makes names less likely", 13, train, {"= -p": "= p"})
wrong("only the last layer is trained", 13, train, {"learned.values()": '[learned["U"]]'})
wrong("the end belongs to the name", 15, make_up, {"n:-1": "n:"})
wrong("the likeliest letter, not a drawn one", 15, make_up, {"rng.choice(len(p), p=p)": "p.argmax()"})
wrong("the start of the name is read, not its end", 15, make_up, {"[-n:]": "[:n]"})


@wrong("the target is in its own window", 14)
def windows(ids, n, sos):
    padded = [sos] * (n - 1) + list(ids)
    return [[padded[t : t + n], ids[t]] for t in range(len(ids))]


@wrong("the first tokens are not predicted", 14)
def windows(ids, n, sos):
    return [[list(ids[t - n : t]), ids[t]] for t in range(n, len(ids))]


@wrong("short histories are not filled up", 14)
def windows(ids, n, sos):
    return [[list(ids[max(0, t - n) : t]) or [sos], ids[t]] for t in range(len(ids))]


@wrong("the start is filled up on the right", 14)
def windows(ids, n, sos):
    out = []
    for t in range(len(ids)):
        history = list(ids[max(0, t - n) : t])
        out.append([history + [sos] * (n - len(history)), ids[t]])
    return out
