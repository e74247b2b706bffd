"""Common wrong answers to homework 1, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=12)


def log_probability(model, sentence):
    chain = ["<sos>", *sentence, "<eos>"]
    total = 0.0
    for last, following in zip(chain[:-1], chain[1:]):
        p = model.get(last, {}).get(following, 0.0)
        if p == 0:
            return -math.inf
        total += math.log(p)
    return total


def estimate(sentences):
    pairs, before = Counter(), Counter()
    for sentence in [*sentences[:1] * TIMES, *sentences[1:]]:
        chain = ["<sos>", *sentence, "<eos>"]
        pairs.update(zip(chain[:-1], chain[1:]))
        before.update(chain[:-1])
    model = defaultdict(dict)
    for (last, following), c in pairs.items():
        model[last][following] = c / before[last]
    return dict(model)


def loss(model, sentences):
    return -PER * sum(log_probability(model, s) for s in sentences) / sum(len(s) + 1 for s in sentences)


def vanishes_at(probabilities):
    product = np.float32(1)
    for position, p in enumerate(probabilities, start=1):
        product = product * np.float32(p)
        if product == 0:
            return position
    return 0


# the loss, built on it, is wrong too
wrong("the end of the sentence is forgotten", 6, log_probability, {', "<eos>"': ""})
wrong("logarithm to base 2", 6, log_probability, {".log": ".log2"})
# the loss meets an unknown word too
wrong(
    "an unknown word is an error",
    8,
    log_probability,
    {
        "p = model.get(last, {}).get(following, 0.0)\n        if p == 0:\n            return -math.inf\n        ": "",
        "log(p)": "log(model[last][following])",
    },
)
wrong(
    "divided by the count of the next word",
    9,
    estimate,
    {"before =": "after =", "before.update(chain[:-1])": "after.update(chain[1:])", "before[last]": "after[following]"},
)
wrong("the end is not counted as a token", 10, loss, {"+ 1 for": "for"})
wrong("the product is kept in float64", 9, vanishes_at, {"np.float32(1)": "1.0", "= product * np.float32(p)": "*= p"})
wrong("positions from 0", 9, vanishes_at, {", start=1": ""})
wrong(
    "zero below the smallest normal number",
    9,
    vanishes_at,
    {"np.float32(1)": "1.0", "= product * np.float32(p)": "*= p", "== 0": "< np.finfo(np.float32).tiny"},
)
# right but for rounding among the smallest numbers
wrong(
    "reasoning with logarithms",
    11,
    vanishes_at,
    {
        "product = np.float32(1)": "total = 0.0",
        "product = product * np.float32(p)": "total += math.log2(p) if p > 0 else -math.inf",
        "product == 0": "total <= -150",
    },
)


@wrong("logarithm of the product", 10)  # right until it underflows
def log_probability(model, sentence):
    chain = ["<sos>", *sentence, "<eos>"]
    product = 1.0
    for last, following in zip(chain[:-1], chain[1:]):
        product *= model.get(last, {}).get(following, 0.0)
    return math.log(product) if product > 0 else -math.inf


@wrong("joint instead of conditional probability", 9)
def estimate(sentences):
    pairs = Counter()
    for sentence in [*sentences[:1] * TIMES, *sentences[1:]]:
        chain = ["<sos>", *sentence, "<eos>"]
        pairs.update(zip(chain[:-1], chain[1:]))
    model = defaultdict(dict)
    for (last, following), c in pairs.items():
        model[last][following] = c / pairs.total()
    return dict(model)


@wrong("sentences without beginning and end", 9)
def estimate(sentences):
    tables = defaultdict(Counter)
    for sentence in [*sentences[:1] * TIMES, *sentences[1:]]:
        for last, following in zip(sentence[:-1], sentence[1:]):
            tables[last][following] += 1
    return {last: {w: c / table.total() for w, c in table.items()} for last, table in tables.items()}


@wrong("mean of the sentences' means", 10)
def loss(model, sentences):
    means = [-PER * log_probability(model, sentence) / (len(sentence) + 1) for sentence in sentences]
    return sum(means) / len(means)
