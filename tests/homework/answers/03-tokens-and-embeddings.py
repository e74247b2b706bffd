"""Common wrong answers to homework 3, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def best_pair(pieces):
    pieces = [*pieces[:1] * TIMES, *pieces[1:]]
    counts = Counter(pair for piece in pieces for pair in pairwise(piece))
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)


def encode(text, merges):
    ids = list(text.encode())
    for i, pair in enumerate(merges):
        ids = merge(ids, pair, 256 + i)
    return ids


def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    return b"".join(pieces[i] for i in ids).decode(errors="replace")


def learn(text, n):
    ids, merges = list(text.encode()), []
    for i in range(n):
        pair = best_pair([ids])
        merges.append(pair)
        ids = merge(ids, pair, 256 + i)
    return merges


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
    return [other for other in order if other >= SPECIAL if other != word][:k]


# of one piece nothing is learned then
wrong("different pairs are counted once a piece", 13, best_pair, {"pairwise(piece)": "set(pairwise(piece))"})
wrong("no pair is an error", 14, best_pair, {", default=None": ""})
wrong("code points in place of bytes", 13, encode, {"list(text.encode())": "[ord(c) for c in text]"})
wrong("the last merge first", 13, encode, {"enumerate(merges)": "reversed(list(enumerate(merges)))"})
wrong(
    "bytes are turned into characters one by one",
    14,
    decode,
    {
        "bytes([b])": "chr(b)",
        'b"".join(pieces[i] for i in ids).decode(errors="replace")': '"".join(pieces[i] for i in ids)',
    },
)
wrong("code points are merged", 15, learn, {"list(text.encode())": "[ord(sign) for sign in text]"})
wrong("the merges make ids from 0", 15, learn, {"256 + ": ""})
wrong("the vectors stay as they were drawn", 14, train, {"centres[c] = centres[c] - rate * g": "pass"})
wrong("the steps go uphill", 14, train, {"= rate": "= -rate"})
# words of one kind are contexts of the same centres, so these are as good
wrong("the contexts come back", 16, train, {"return centres": "return contexts"})
wrong("the word itself is its nearest neighbour", 15, nearest, {" if other != word": ""})
wrong("the largest product, not the largest cosine", 15, nearest, {" / lengths / lengths[word]": ""})
wrong(
    "the smallest distance",
    15,
    nearest,
    {"-(vectors @ vectors[word]) / lengths / lengths[word]": "((vectors - vectors[word]) ** 2).sum(axis=1)"},
)


@wrong("ties go to the pair that came first", 14)
def best_pair(pieces):
    pieces = [*pieces[:1] * TIMES, *pieces[1:]]
    counts = Counter(pair for piece in pieces for pair in pairwise(piece))
    return counts.most_common(1)[0][0] if counts else None


@wrong("pairs are counted without overlap", 14)
def best_pair(pieces):
    counts = Counter()
    for piece in [*pieces[:1] * TIMES, *pieces[1:]]:
        i = 0
        while i + 1 < len(piece):
            pair = (piece[i], piece[i + 1])
            counts[pair] += 1
            i += 2 if piece[i] == piece[i + 1] else 1
    return min(counts, key=lambda pair: (-counts[pair], pair), default=None)


@wrong("an id is used twice in a merge", 11)  # encoding is built on it
def merge(piece, pair, new):
    out = []
    for i, one in enumerate(piece):
        if tuple(piece[i : i + 2]) == tuple(pair):
            out.append(new)
        elif not (i and tuple(piece[i - 1 : i + 1]) == tuple(pair)):
            out.append(one)
    return out


@wrong("the longest token first, not the first merge", 13)
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


@wrong("every token is decoded on its own", 14)
def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    return "".join(pieces[i].decode(errors="replace") for i in ids)


@wrong("every merge is learned from the bytes", 15)
def learn(text, n):
    counts = Counter(pairwise(text.encode()))
    return sorted(counts, key=lambda pair: (-counts[pair], pair))[:n]


@wrong("the sign of the gradient is that of the step", 11)
def centre_gradient(v_c, u_o, U):
    sigma = lambda x: 1 / (1 + np.exp(-x))
    return (1 - sigma(u_o @ v_c)) * u_o - sigma(U @ v_c) @ U


@wrong("only the last negative sample counts", 13)
def centre_gradient(v_c, u_o, U):
    sigma = lambda x: 1 / (1 + np.exp(-x))
    gradient = (sigma(u_o @ v_c) - 1) * u_o
    for u in U:
        negative = sigma(u @ v_c) * u
    return gradient + negative
