"""Common wrong answers to homework 2, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

WRONG = {
    "k is added once to the denominator": {
        "answers": {
            "add-k": """
def add_k(text, vocabulary, k, history, word):
    followers = Counter(following for last, following in pairwise(text) if last == history)
    if followers.total() + k == 0:
        return 1 / len(vocabulary)
    return (followers[word] + k) / (followers.total() + k)
"""
        },
        "score": 12,
    },
    "the last word counts as a history": {
        "answers": {
            "add-k": """
def add_k(text, vocabulary, k, history, word):
    total = text.count(history)
    if total + k == 0:
        return 1 / len(vocabulary)
    pairs = Counter(pairwise(text))
    return (pairs[history, word] + k) / (total + k * len(vocabulary))
"""
        },
        "score": 14,
    },
    "the vocabulary is counted from the text": {
        "answers": {
            "add-k": """
def add_k(text, vocabulary, k, history, word):
    types = set(text)
    followers = Counter(following for last, following in pairwise(text) if last == history)
    if followers.total() + k == 0:
        return 1 / len(types)
    return (followers[word] + k) / (followers.total() + k * len(types))
"""
        },
        "score": 12,
    },
    "an unseen history is an error without k": {
        "answers": {
            "add-k": """
def add_k(text, vocabulary, k, history, word):
    followers = Counter(following for last, following in pairwise(text) if last == history)
    return (followers[word] + k) / (followers.total() + k * len(vocabulary))
"""
        },
        "score": 14,
    },
    "two to the power of nats": {
        "answers": {
            "perplexity": """
def perplexity(probabilities):
    if min(probabilities) == 0:
        return math.inf
    return 2 ** (-sum(math.log(p) for p in probabilities) / len(probabilities))
"""
        },
        "score": 13,
    },
    "the inverse is forgotten": {
        "answers": {
            "perplexity": """
def perplexity(probabilities):
    if min(probabilities) == 0:
        return math.inf
    return math.exp(sum(math.log(p) for p in probabilities) / len(probabilities))
"""
        },
        "score": 13,
    },
    "arithmetic mean of the probabilities": {
        "answers": {
            "perplexity": """
def perplexity(probabilities):
    if min(probabilities) == 0:
        return math.inf
    return len(probabilities) / sum(probabilities)
"""
        },
        "score": 13,
    },
    "root of the product": {
        "answers": {
            "perplexity": """
def perplexity(probabilities):
    product = math.prod(probabilities)
    return math.inf if product == 0 else product ** (-1 / len(probabilities))
"""
        },
        "score": 15,  # right until the product underflows
    },
    "a probability of zero is skipped": {
        "answers": {
            "perplexity": """
def perplexity(probabilities):
    return math.exp(-sum(math.log(p) for p in probabilities if p > 0) / len(probabilities))
"""
        },
        "score": 15,
    },
    "the number of events in a group is forgotten": {
        "answers": {
            "operator": """
def source_perplexity(groups):
    return math.exp(-sum(p * math.log(p) for n, p in groups if p > 0))
"""
        },
        "score": 13,
    },
    "bits with the wrong power": {
        "answers": {
            "operator": """
def source_perplexity(groups):
    return math.exp(-sum(n * p * math.log2(p) for n, p in groups if p > 0))
"""
        },
        "score": 13,
    },
    "the answer to the one example": {
        "answers": {
            "operator": """
def source_perplexity(groups):
    return 10.0 if len(groups) == 1 else 4 * 30_000**0.25
"""
        },
        "score": 13,
    },
    "every bigram counts, not only the different ones": {
        "answers": {
            "continuation": """
def continuation(text):
    before = Counter(following for _, following in pairwise(text))
    return {word: before[word] / before.total() for word in set(text)}
"""
        },
        "score": 10,  # Kneser-Ney is built on it
    },
    "a word without predecessor is missing": {
        "answers": {
            "continuation": """
def continuation(text):
    pairs = set(pairwise(text))
    before = Counter(following for _, following in pairs)
    return {word: n / len(pairs) for word, n in before.items()}
"""
        },
        "score": 14,
    },
    "divided by the number of types": {
        "answers": {
            "continuation": """
def continuation(text):
    pairs = set(pairwise(text))
    before = Counter(following for _, following in pairs)
    return {word: before[word] / len(set(text)) for word in set(text)}
"""
        },
        "score": 10,
    },
    "absolute discounting onto the plain unigram": {
        "answers": {
            "kneser-ney": """
def kneser_ney(text, discount, history, word):
    shorter = text.count(word) / len(text)
    followers = Counter(following for last, following in pairwise(text) if last == history)
    total = followers.total()
    if total == 0:
        return shorter
    return max(followers[word] - discount, 0) / total + discount * len(followers) / total * shorter
"""
        },
        "score": 12,
    },
    "negative counts for unseen words": {
        "answers": {
            "kneser-ney": """
def kneser_ney(text, discount, history, word):
    shorter = continuation(text).get(word, 0.0)
    followers = Counter(following for last, following in pairwise(text) if last == history)
    total = followers.total()
    if total == 0:
        return shorter
    return (followers[word] - discount) / total + discount * len(followers) / total * shorter
"""
        },
        "score": 12,
    },
    "backing off only when the pair is unseen": {
        "answers": {
            "kneser-ney": """
def kneser_ney(text, discount, history, word):
    shorter = continuation(text).get(word, 0.0)
    followers = Counter(following for last, following in pairwise(text) if last == history)
    total = followers.total()
    if total == 0:
        return shorter
    if followers[word]:
        return (followers[word] - discount) / total
    return discount * len(followers) / total * shorter
"""
        },
        "score": 12,
    },
    "tokens instead of types in the weight": {
        "answers": {
            "kneser-ney": """
def kneser_ney(text, discount, history, word):
    shorter = continuation(text).get(word, 0.0)
    followers = Counter(following for last, following in pairwise(text) if last == history)
    total = followers.total()
    if total == 0:
        return shorter
    return max(followers[word] - discount, 0) / total + discount * shorter
"""
        },
        "score": 12,
    },
}
