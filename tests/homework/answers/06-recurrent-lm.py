"""Common wrong answers to homework 6, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.  What counts of the training is how well the network
predicts, and many a wrong gradient is good enough for that.
"""

FULL = 16

UNROLL = """
def unroll(weights, X, h0, lengths):
    b = {bias}
    now, outputs = {start}, []
    for t in range(X.shape[1]):
        new = {new}(now @ weights["weight_hh_l0"]{turned} + X[:, t] @ weights["weight_ih_l0"].T + b)
        alive = np.asarray(lengths)[:, None] > t
        now = {now}
        outputs.append({output})
    return {{"outputs": np.stack(outputs, axis=1), "final": now}}
"""
RIGHT = {
    "bias": 'weights["bias_ih_l0"] + weights["bias_hh_l0"]',
    "start": "np.array(h0)",
    "new": "np.tanh",
    "turned": ".T",
    "now": "np.where(alive, new, now)",
    "output": "now",
}

BACK = """
def back(weights, inputs, targets, h0, H):
    inputs, targets = np.asarray(inputs), np.asarray(targets)
    (B, T), (V, m) = inputs.shape, weights["out"].shape
    W, U, O = weights["weight_hh_l0"], weights["weight_ih_l0"], weights["out"]
    found = {name: np.zeros(value.shape) for name, value in weights.items()}
    later, loss = np.zeros((B, m)), 0.0
    for t in range(T - 1, -1, -1):
        z = H[:, t] @ O.T
        z = z - z.max(axis=1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        loss += (np.log(np.exp(z).sum(axis=1)) - z[np.arange(B), targets[:, t]]).sum() / (B * T)
        g = (p - np.eye(V)[targets[:, t]]) / (B * T)
        found["out"] += g.T @ H[:, t]
        a = (g @ O + later) * (1 - H[:, t] ** 2)
        before = H[:, t - 1] if t > 0 else h0
        found["weight_hh_l0"] += a.T @ before
        np.add.at(found["weight_ih_l0"].T, inputs[:, t], a)
        found["bias_ih_l0"] += a.sum(axis=0)
        found["bias_hh_l0"] += a.sum(axis=0)
        later = a @ W
    return {"loss": loss, "gradients": found}
"""

TRAIN = """
def train(weights, ids, B, T, passes, rate):
    adam, (V, m) = Adam(rate), weights["out"].shape
    for _ in range(passes):
        h = np.zeros((B, m))
        for inputs, targets in windows(ids, B, T):
            run = unroll(weights, np.eye(V)[np.array(inputs)], h, [T] * B)
            found = back(weights, np.array(inputs), np.array(targets), h, run["outputs"])
            weights, h = adam.step(weights, found["gradients"]), run["final"]
    return weights
"""
WRITE = """
def write(weights, start, n, seed):
    rng, (V, m), new, h = np.random.default_rng(seed), weights["out"].shape, [], None
    read, h = list(start), np.zeros((1, m))
    while len(new) < n:
        h = unroll(weights, np.eye(V)[read][None], h, [len(read)])["final"]
        z = weights["out"] @ h[0]
        p = np.exp(z - z.max())
        new.append(int(rng.choice(V, p=p / p.sum())))
        read = new[-1:]
    return new
"""


def unroll(**changes: str) -> dict[str, str]:
    return {"unroll": UNROLL.format(**{**RIGHT, **changes})}


def changed(source: str, *pairs: tuple[str, str]) -> str:
    "The right answer with one thing replaced; the thing must be there."
    for right, wrong in pairs:
        assert source.count(right) == 1, right
        source = source.replace(right, wrong)
    return source


def back(*pairs: tuple[str, str]) -> dict[str, str]:
    return {"window": changed(BACK, *pairs)}


def writing(train: str = TRAIN, write: str = WRITE) -> dict[str, str]:
    return {"writing": train + write}


WRONG = {
    "the recurrent matrix is transposed": {"answers": unroll(turned=""), "score": 9},
    "the bias comes after tanh": {
        "answers": unroll(bias="0", now=f"np.where(alive, new + {RIGHT['bias']}, now)"),
        "score": 11,
    },
    "the sigmoid in place of tanh": {"answers": unroll(new="(lambda a: 1 / (1 + np.exp(-a)))"), "score": 9},
    "every text starts from zero": {
        "answers": unroll(start="np.zeros_like(h0)"),
        "score": 12,  # the rows of unequal length start from a state, and what is written too
    },
    "one of the two biases is forgotten": {"answers": unroll(bias='weights["bias_ih_l0"]'), "score": 11},
    "padding is read like text": {"answers": unroll(now="new"), "score": 14},
    "the state is kept, but the outputs go on": {"answers": unroll(output="new"), "score": 14},
    "a row that has ended becomes zero": {"answers": unroll(now="np.where(alive, new, 0.0)"), "score": 14},
    "what comes later does not reach the state": {"answers": back(("later = a @ W", "pass")), "score": 13},
    "only what comes later reaches the state": {
        "answers": back(("(g @ O + later)", "(later if t < T - 1 else g @ O)")),
        "score": 13,
    },
    "the way back without the transpose": {"answers": back(("later = a @ W", "later = a @ W.T")), "score": 13},
    "the first step alone, not the sum": {
        "answers": back(
            ("for t in range(T - 1, -1, -1):", "for t in range(T - 1, -1, -1):\n        found['weight_hh_l0'][:] = 0")
        ),
        "score": 13,
    },
    "tanh has no derivative": {"answers": back((" * (1 - H[:, t] ** 2)", "")), "score": 10},
    "the derivative of tanh is 1 - h": {"answers": back(("H[:, t] ** 2", "H[:, t]")), "score": 10},
    "a window starts from zero": {"answers": back(("if t > 0 else h0", "if t > 0 else 0 * h0")), "score": 12},
    "a letter that comes twice in a batch counts once": {
        "answers": back(
            ('np.add.at(found["weight_ih_l0"].T, inputs[:, t], a)', 'found["weight_ih_l0"].T[inputs[:, t]] += a')
        ),
        "score": 12,
    },
    "the sum of the losses, not the mean": {
        "answers": {"window": BACK.replace(" / (B * T)", "")},
        "score": 11,
    },
    "exponentials of large logits": {
        "answers": back(
            ("z = z - z.max(axis=1, keepdims=True)", "pass"), ("def back", '@np.errstate(all="ignore")\ndef back')
        ),
        "score": 15,
    },
    "the targets turn round in their own window": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    K = (len(ids) - 1) // B
    rows = np.array(ids[: B * K]).reshape(B, K)
    parts = [rows[:, t : t + T] for t in range(0, K - T + 1, T)]
    return [[part.tolist(), np.roll(part, -1, axis=1).tolist()] for part in parts]
"""
        },
        "score": 15,
    },
    "a window is a stretch of the text, cut into rows": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    ids, size = np.array(ids), B * T
    starts = range(0, len(ids) - size, size)
    return [[ids[s + d : s + d + size].reshape(B, T).tolist() for d in (0, 1)] for s in starts]
"""
        },
        "score": 13,
    },
    "the short window at the end is kept": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    K = (len(ids) - 1) // B
    ends = [(t, min(t + T, K)) for t in range(0, K, T)]
    return [[[list(ids[r * K + a + d : r * K + z + d]) for r in range(B)] for d in (0, 1)] for a, z in ends]
"""
        },
        "score": 13,
    },
    "the last token needs no target": {
        "answers": {
            "windows": """
def windows(ids, B, T):
    K = len(ids) // B
    parts = [(t, t + T) for t in range(0, K - T + 1, T)]
    return [[[list(ids[r * K + a + d : r * K + z + d]) for r in range(B)] for d in (0, 1)] for a, z in parts]
"""
        },
        "score": 14,
    },
    "the start comes back as it was": {
        "answers": writing(
            changed(TRAIN, ("    return weights", "    return start")).replace(
                "    adam,", "    start = weights\n    adam,"
            )
        ),
        "score": 14,
    },
    "the steps go uphill": {
        "answers": writing(changed(TRAIN, ('found["gradients"])', '{k: -v for k, v in found["gradients"].items()})'))),
        "score": 14,
    },
    "always the first window": {
        "answers": writing(changed(TRAIN, ("in windows(ids, B, T):", "in windows(ids, B, T)[:1]:"))),
        "score": 14,
    },
    "another training that works": {  # a state from zero in every window: what counts is the result
        "answers": writing(changed(TRAIN, ('run["final"]', "0 * h"))),
        "score": 16,
    },
    "the start is written again": {
        "answers": writing(write=changed(WRITE, ("return new", "return [*start, *new][:n]"))),
        "score": 15,
    },
    "only the last letter is read": {
        "answers": writing(
            write=changed(
                WRITE, ("unroll(weights, np.eye(V)[read][None], h,", "unroll(weights, np.eye(V)[read][None], 0 * h,")
            )
        ),
        "score": 15,
    },
    "the likeliest letter, not a drawn one": {
        "answers": writing(write=changed(WRITE, ("rng.choice(V, p=p / p.sum())", "p.argmax()"))),
        "score": 15,
    },
    "the same chance for every letter": {
        "answers": writing(write=changed(WRITE, ("rng.choice(", "np.random.default_rng(seed).choice("))),
        "score": 15,
    },
}
