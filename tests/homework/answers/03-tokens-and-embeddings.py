"""Common wrong answers to homework 3, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

LEARN = """
def learn(text, n):
    ids, merges = list(text.encode()), []
    for i in range(n):
        pair = best_pair([ids])
        merges.append(pair)
        ids = merge(ids, pair, 256 + i)
    return merges
"""
NEIGHBOURS = """
def train(sentences, vocab_size, d, passes, rate):
    rate, rng = rate, np.random.default_rng(1)
    centres, contexts = rng.uniform(-0.5, 0.5, (vocab_size, d)) / d, np.zeros((vocab_size, d))
    sigma = lambda x: 1 / (1 + np.exp(-x))
    for _ in range(passes):
        for words in sentences:
            for i, c in enumerate(words):
                for j, o in enumerate(words):
                    if i != j:
                        v, u, at = centres[c], contexts[o], rng.integers(vocab_size, size=3)
                        g = centre_gradient(v, u, contexts[at])
                        contexts[o] = u - rate * (sigma(u @ v) - 1) * v
                        np.subtract.at(contexts, at, rate * np.outer(sigma(contexts[at] @ v), v))
                        centres[c] = centres[c] - rate * g
    return centres


def nearest(vectors, word, k):
    lengths = np.sqrt((vectors**2).sum(axis=1))
    order = np.argsort(-(vectors @ vectors[word]) / lengths / lengths[word]).tolist()
    return [other for other in order if other != word][:k]
"""


def neighbours(*pairs: tuple[str, str]) -> dict[str, str]:
    """The right answer with something replaced, which must be there."""
    source = NEIGHBOURS
    for right, wrong in pairs:
        assert source.count(right) == 1, right
        source = source.replace(right, wrong)
    return {"neighbours": source}


WRONG = {
    "ties go to the pair that came first": {
        "answers": {
            "best-pair": """
def best_pair(pieces):
    counts = Counter(pair for piece in pieces for pair in pairwise(piece))
    return counts.most_common(1)[0][0] if counts else None
"""
        },
        "score": 14,
    },
    "pairs are counted without overlap": {
        "answers": {
            "best-pair": """
def best_pair(pieces):
    counts = Counter()
    for piece in pieces:
        i = 0
        while i + 1 < len(piece):
            pair = (piece[i], piece[i + 1])
            counts[pair] += 1
            i += 2 if piece[i] == piece[i + 1] else 1
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)
"""
        },
        "score": 14,
    },
    "different pairs are counted once a piece": {
        "answers": {
            "best-pair": """
def best_pair(pieces):
    counts = Counter(pair for piece in pieces for pair in set(pairwise(piece)))
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)
"""
        },
        "score": 14,
    },
    "no pair is an error": {
        "answers": {
            "best-pair": """
def best_pair(pieces):
    counts = Counter(pair for piece in pieces for pair in pairwise(piece))
    return min(counts, key=lambda pair: (-counts[pair], pair))
"""
        },
        "score": 14,
    },
    "an id is used twice in a merge": {
        "answers": {
            "merge": """
def merge(piece, pair, new):
    out = []
    for i, one in enumerate(piece):
        if tuple(piece[i : i + 2]) == tuple(pair):
            out.append(new)
        elif not (i and tuple(piece[i - 1 : i + 1]) == tuple(pair)):
            out.append(one)
    return out
"""
        },
        "score": 11,  # encoding is built on it
    },
    "code points in place of bytes": {
        "answers": {
            "encode": """
def encode(text, merges):
    ids = [ord(c) for c in text]
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + i)
    return ids
"""
        },
        "score": 13,
    },
    "the longest token first, not the first merge": {
        "answers": {
            "encode": """
def encode(text, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    data, ids = text.encode(), []
    while data:
        best = max((i for i in range(len(pieces)) if data.startswith(pieces[i])), key=lambda i: len(pieces[i]))
        ids.append(best)
        data = data[len(pieces[best]) :]
    return ids
"""
        },
        "score": 13,
    },
    "the last merge first": {
        "answers": {
            "encode": """
def encode(text, merges):
    ids = list(text.encode())
    for i, pair in reversed(list(enumerate(merges))):
        ids = merge(ids, pair, 256 + i)
    return ids
"""
        },
        "score": 13,
    },
    "every token is decoded on its own": {
        "answers": {
            "decode": """
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    return "".join(pieces[i].decode(errors="replace") for i in ids)
"""
        },
        "score": 14,
    },
    "bytes are turned into characters one by one": {
        "answers": {
            "decode": """
def decode(ids, merges):
    pieces = [chr(b) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    return "".join(pieces[i] for i in ids)
"""
        },
        "score": 14,
    },
    "every merge is learned from the bytes": {
        "answers": {
            "learn": """
def learn(text, n):
    counts = Counter(pairwise(text.encode()))
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n]
"""
        },
        "score": 15,
    },
    "code points are merged": {
        "answers": {"learn": LEARN.replace("list(text.encode())", "[ord(sign) for sign in text]")},
        "score": 15,
    },
    "the merges make ids from 0": {
        "answers": {"learn": LEARN.replace("256 + i", "i")},
        "score": 15,
    },
    "the sign of the gradient is that of the step": {
        "answers": {
            "skip-gram": """
def centre_gradient(v_c, u_o, U):
    sigma = lambda x: 1 / (1 + np.exp(-x))
    return (1 - sigma(u_o @ v_c)) * u_o - sigma(U @ v_c) @ U
"""
        },
        "score": 11,
    },
    "only the last negative sample counts": {
        "answers": {
            "skip-gram": """
def centre_gradient(v_c, u_o, U):
    sigma = lambda x: 1 / (1 + np.exp(-x))
    gradient = (sigma(u_o @ v_c) - 1) * u_o
    for u in U:
        negative = sigma(u @ v_c) * u
    return gradient + negative
"""
        },
        "score": 13,
    },
    "the vectors stay as they were drawn": {
        "answers": neighbours(("centres[c] = centres[c] - rate * g", "pass")),
        "score": 14,
    },
    "the steps go uphill": {"answers": neighbours(("rate, rng = rate,", "rate, rng = -rate,")), "score": 14},
    "the contexts come back": {  # words of one kind are contexts of the same centres, so these are as good
        "answers": neighbours(("    return centres", "    return contexts")),
        "score": 16,
    },
    "the word itself is its nearest neighbour": {
        "answers": neighbours(("if other != word]", "]")),
        "score": 15,
    },
    "the largest product, not the largest cosine": {
        "answers": neighbours((" / lengths / lengths[word]", "")),
        "score": 15,
    },
    "the smallest distance": {
        "answers": neighbours(
            ("-(vectors @ vectors[word]) / lengths / lengths[word]", "((vectors - vectors[word]) ** 2).sum(axis=1)")
        ),
        "score": 15,
    },
}
