"""Common wrong answers to homework 3, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

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
    "the one-hot matrix is transposed": {
        "answers": {
            "one-hot": """
def one_hot(ids, vocab_size):
    columns = np.zeros((vocab_size, len(ids)))
    columns[ids, np.arange(len(ids))] = 1
    return columns
"""
        },
        "score": 15,
    },
    "repeated ids overwrite each other": {
        "answers": {
            "gradient": """
def embedding_gradient(ids, G, vocab_size):
    gradient = np.zeros((vocab_size, np.shape(G)[1]))
    gradient[ids] += G  # NumPy adds once a row, however often it is named
    return gradient
"""
        },
        "score": 13,
    },
    "the gradient is averaged over the places": {
        "answers": {
            "gradient": """
def embedding_gradient(ids, G, vocab_size):
    gradient = np.zeros((vocab_size, np.shape(G)[1]))
    np.add.at(gradient, ids, G)
    return gradient / np.maximum(np.bincount(ids, minlength=vocab_size), 1)[:, None]
"""
        },
        "score": 13,
    },
    "the negatives attract too": {
        "answers": {
            "skip-gram": """
def centre_gradient(v_c, u_o, U):
    sigma = lambda x: 1 / (1 + np.exp(-x))
    return (sigma(u_o @ v_c) - 1) * u_o + (sigma(U @ v_c) - 1) @ U
"""
        },
        "score": 13,
    },
    "the sign of the gradient is that of the step": {
        "answers": {
            "skip-gram": """
def centre_gradient(v_c, u_o, U):
    sigma = lambda x: 1 / (1 + np.exp(-x))
    return (1 - sigma(u_o @ v_c)) * u_o - sigma(U @ v_c) @ U
"""
        },
        "score": 13,
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
}
