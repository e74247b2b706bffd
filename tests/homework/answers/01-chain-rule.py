"""Common wrong answers to homework 1, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 12

WRONG = {
    "the end of the sentence is forgotten": {
        "answers": {
            "log-probability": """
def log_probability(model, sentence):
    chain = ["<sos>", *sentence]
    total = 0.0
    for last, following in zip(chain[:-1], chain[1:]):
        p = model.get(last, {}).get(following, 0.0)
        if p == 0:
            return -math.inf
        total += math.log(p)
    return total
"""
        },
        "score": 6,  # the loss, built on it, is wrong too
    },
    "logarithm to base 2": {
        "answers": {
            "log-probability": """
def log_probability(model, sentence):
    chain = ["<sos>", *sentence, "<eos>"]
    total = 0.0
    for last, following in zip(chain[:-1], chain[1:]):
        p = model.get(last, {}).get(following, 0.0)
        if p == 0:
            return -math.inf
        total += math.log2(p)
    return total
"""
        },
        "score": 6,
    },
    "logarithm of the product": {
        "answers": {
            "log-probability": """
def log_probability(model, sentence):
    chain = ["<sos>", *sentence, "<eos>"]
    product = 1.0
    for last, following in zip(chain[:-1], chain[1:]):
        product *= model.get(last, {}).get(following, 0.0)
    return math.log(product) if product > 0 else -math.inf
"""
        },
        "score": 10,  # right until it underflows
    },
    "an unknown word is an error": {
        "answers": {
            "log-probability": """
def log_probability(model, sentence):
    chain = ["<sos>", *sentence, "<eos>"]
    total = 0.0
    for last, following in zip(chain[:-1], chain[1:]):
        total += math.log(model[last][following])
    return total
"""
        },
        "score": 8,  # the loss meets an unknown word too
    },
    "joint instead of conditional probability": {
        "answers": {
            "estimate": """
def estimate(sentences):
    pairs = Counter()
    for sentence in sentences:
        chain = ["<sos>", *sentence, "<eos>"]
        pairs.update(zip(chain[:-1], chain[1:]))
    model = defaultdict(dict)
    for (last, following), c in pairs.items():
        model[last][following] = c / pairs.total()
    return dict(model)
"""
        },
        "score": 9,
    },
    "divided by the count of the next word": {
        "answers": {
            "estimate": """
def estimate(sentences):
    pairs, after = Counter(), Counter()
    for sentence in sentences:
        chain = ["<sos>", *sentence, "<eos>"]
        pairs.update(zip(chain[:-1], chain[1:]))
        after.update(chain[1:])
    model = defaultdict(dict)
    for (last, following), c in pairs.items():
        model[last][following] = c / after[following]
    return dict(model)
"""
        },
        "score": 9,
    },
    "sentences without beginning and end": {
        "answers": {
            "estimate": """
def estimate(sentences):
    tables = defaultdict(Counter)
    for sentence in sentences:
        for last, following in zip(sentence[:-1], sentence[1:]):
            tables[last][following] += 1
    return {last: {w: c / table.total() for w, c in table.items()} for last, table in tables.items()}
"""
        },
        "score": 9,
    },
    "mean of the sentences' means": {
        "answers": {
            "loss": """
def loss(model, sentences):
    means = [-log_probability(model, sentence) / (len(sentence) + 1) for sentence in sentences]
    return sum(means) / len(means)
"""
        },
        "score": 10,
    },
    "the end is not counted as a token": {
        "answers": {
            "loss": """
def loss(model, sentences):
    return -sum(log_probability(model, s) for s in sentences) / sum(len(s) for s in sentences)
"""
        },
        "score": 10,
    },
    "the product is kept in float64": {
        "answers": {
            "vanishes": """
def vanishes_at(probabilities):
    product = 1.0
    for position, p in enumerate(probabilities, start=1):
        product *= p
        if product == 0:
            return position
    return 0
"""
        },
        "score": 9,
    },
    "positions from 0": {
        "answers": {
            "vanishes": """
def vanishes_at(probabilities):
    product = np.float32(1)
    for position, p in enumerate(probabilities):
        product = product * np.float32(p)
        if product == 0:
            return position
    return 0
"""
        },
        "score": 9,
    },
    "zero below the smallest normal number": {
        "answers": {
            "vanishes": """
def vanishes_at(probabilities):
    product = 1.0
    for position, p in enumerate(probabilities, start=1):
        product *= p
        if product < np.finfo(np.float32).tiny:
            return position
    return 0
"""
        },
        "score": 9,
    },
    "reasoning with logarithms": {
        "answers": {
            "vanishes": """
def vanishes_at(probabilities):
    total = 0.0
    for position, p in enumerate(probabilities, start=1):
        total += math.log2(p) if p > 0 else -math.inf
        if total <= -150:
            return position
    return 0
"""
        },
        "score": 11,  # right but for rounding among the smallest numbers
    },
}
