"""Common wrong answers to homework 2, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def add_k(text, vocabulary, k, history, word):
    followers = Counter(following for last, following in pairwise(text) if last == history)
    if followers.total() + k == 0:
        return 1 / len(vocabulary)
    return (followers[word] + k) / (followers.total() + k * len(vocabulary))


def perplexity(probabilities):
    probabilities = probabilities[SKIP:]
    if min(probabilities) == 0:
        return math.inf
    return math.exp(-sum(math.log(p) for p in probabilities) / len(probabilities))


def source_perplexity(groups):
    return math.exp(-TOGETHER * sum(n * p * math.log(p) for n, p in groups if p > 0))


def continuation(text):
    pairs = set(pairwise(text))
    before = Counter(following for _, following in pairs)
    return {word: before[word] / len(pairs) for word in set(text)}


def kneser_ney(text, discount, history, word):
    shorter = continuation(text).get(word, 0.0)
    followers = Counter(following for last, following in pairwise(text) if last == history)
    total = followers.total()
    if total == 0:
        return shorter
    return max(followers[word] - discount, 0) / total + discount * len(followers) / total * shorter


wrong("k is added once to the denominator", 12, add_k, {" * len(vocabulary)": ""})
wrong(
    "the vocabulary is counted from the text",
    12,
    add_k,
    {
        "followers =": "types = set(text)\n    followers =",
        "/ len(vocabulary)": "/ len(types)",
        "* len(vocabulary)": "* len(types)",
    },
)
wrong(
    "an unseen history is an error without k",
    14,
    add_k,
    {"if followers.total() + k == 0:\n        return 1 / len(vocabulary)\n    ": ""},
)
wrong("two to the power of nats", 13, perplexity, {"math.exp": "2 ** "})
wrong("the inverse is forgotten", 13, perplexity, {"-sum": "sum"})
wrong("the number of events in a group is forgotten", 13, source_perplexity, {"n * p": "p"})
wrong("bits with the wrong power", 13, source_perplexity, {".log": ".log2"})
wrong(
    "a word without predecessor is missing",
    14,
    continuation,
    {"before[word] / len(pairs) for word in set(text)": "n / len(pairs) for word, n in before.items()"},
)
wrong("divided by the number of types", 10, continuation, {"(pairs)": "(set(text))"})
wrong(
    "absolute discounting onto the plain unigram",
    12,
    kneser_ney,
    {"continuation(text).get(word, 0.0)": "text.count(word) / len(text)"},
)
wrong(
    "negative counts for unseen words",
    12,
    kneser_ney,
    {"max(followers[word] - discount, 0)": "(followers[word] - discount)"},
)
wrong("tokens instead of types in the weight", 12, kneser_ney, {"len(followers) / total * ": ""})


@wrong("the last word counts as a history", 14)
def add_k(text, vocabulary, k, history, word):
    total = text.count(history)
    if total + k == 0:
        return 1 / len(vocabulary)
    pairs = Counter(pairwise(text))
    return (pairs[history, word] + k) / (total + k * len(vocabulary))


@wrong("arithmetic mean of the probabilities", 13)
def perplexity(probabilities):
    probabilities = probabilities[SKIP:]
    if min(probabilities) == 0:
        return math.inf
    return len(probabilities) / sum(probabilities)


@wrong("root of the product", 15)  # right until the product underflows
def perplexity(probabilities):
    probabilities = probabilities[SKIP:]
    product = math.prod(probabilities)
    return math.inf if product == 0 else product ** (-1 / len(probabilities))


@wrong("a probability of zero is skipped", 15)
def perplexity(probabilities):
    probabilities = probabilities[SKIP:]
    return math.exp(-sum(math.log(p) for p in probabilities if p > 0) / len(probabilities))


@wrong("the answer to the one example", 13)
def source_perplexity(groups):
    return 10.0 if len(groups) == 1 else 4 * 30_000**0.25


@wrong("every bigram counts, not only the different ones", 10)  # Kneser-Ney is built on it
def continuation(text):
    before = Counter(following for _, following in pairwise(text))
    return {word: before[word] / before.total() for word in set(text)}


@wrong("backing off only when the pair is unseen", 12)
def kneser_ney(text, discount, history, word):
    shorter = continuation(text).get(word, 0.0)
    followers = Counter(following for last, following in pairwise(text) if last == history)
    total = followers.total()
    if total == 0:
        return shorter
    if followers[word]:
        return (followers[word] - discount) / total
    return discount * len(followers) / total * shorter
