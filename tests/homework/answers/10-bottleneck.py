"""Common wrong answers to homework 10, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

SHARE = """
def largest_share(N, m, bits, K):
    missing = N * np.log2(K) - m * bits
    return float(2.0 ** -min(max(missing, 0.0), 1100.0))
"""
SYMBOLS = """
def most_symbols(m, bits, K):
    N = 0
    while K ** (N + 1) <= 2 ** (m * bits):
        N += 1
    return N
"""

WRONG = {
    "natural logarithms of the types, bits of the state": {
        "answers": {
            "counting": """
def most_symbols(m, bits, K):
    return int(m * bits / np.log(K))


def largest_share(N, m, bits, K):
    return min(1.0, 2.0 ** (m * bits - N * np.log(K)))
"""
        },
        "score": 12,
    },
    "a quotient of rounded logarithms": {
        "answers": {
            "counting": f"""
def most_symbols(m, bits, K):
    return int(m * bits * np.log(2) // np.log(K))

{SHARE}"""
        },
        "score": 14,  # 3 log 2 // log 8 is 0 or 1 as the rounding falls
    },
    "states in place of their logarithm": {
        "answers": {
            "counting": f"""
def most_symbols(m, bits, K):
    return m * bits // K

{SHARE}"""
        },
        "score": 14,
    },
    "powers that do not fit into a float": {
        "answers": {
            "counting": f"""{SYMBOLS}

def largest_share(N, m, bits, K):
    return min(1.0, 2.0 ** (m * bits) / float(K) ** N)
"""
        },
        "score": 14,
    },
    "a share above 1": {
        "answers": {
            "counting": f"""{SYMBOLS}

def largest_share(N, m, bits, K):
    return 2.0 ** (m * bits - N * np.log2(K))
"""
        },
        "score": 14,
    },
    "a lucky long source counts": {
        "answers": {
            "longest": """
def longest_copied(pairs, share):
    lengths = {len(read) for read, _ in pairs}
    right = {n: np.mean([read == written for read, written in pairs if len(read) == n]) for n in lengths}
    return max((n for n in lengths if right[n] >= share), default=0)
"""
        },
        "score": 12,  # the first check has a length that is copied behind one that is not
    },
    "every length from 1 must have been tested": {
        "answers": {
            "longest": """
def longest_copied(pairs, share):
    n = 1
    while True:
        hits = [read == written for read, written in pairs if len(read) == n]
        if not hits or np.mean(hits) < share - 1e-9:
            return n - 1
        n += 1
"""
        },
        "score": 12,
    },
    "symbols instead of whole sources": {
        "answers": {
            "longest": """
def longest_copied(pairs, share):
    longest = 0
    for n in sorted({len(read) for read, _ in pairs}):
        hits = [a == b for read, written in pairs if len(read) == n for a, b in zip(read, written)]
        if np.mean(hits) < share - 1e-9:
            break
        longest = n
    return longest
"""
        },
        "score": 14,
    },
    "more than the share, not at least": {
        "answers": {
            "longest": """
def longest_copied(pairs, share):
    longest = 0
    for n in sorted({len(read) for read, _ in pairs}):
        hits = [read == written for read, written in pairs if len(read) == n]
        if sum(hits) <= share * len(hits) and not all(hits):
            break
        longest = n
    return longest
"""
        },
        "score": 12,
    },
    "padding counts": {
        "answers": {
            "summary": """
def summary(H, lengths, kind):
    return {"last": H[:, -1], "mean": H.mean(1), "max": H.max(1)}[kind]
"""
        },
        "score": 14,
    },
    "padding is set to zero": {
        "answers": {
            "summary": """
def summary(H, lengths, kind):
    lengths = np.asarray(lengths)
    real = np.arange(H.shape[1]) < lengths[:, None]
    H = np.where(real[..., None], H, 0.0)
    if kind == "last":
        return H[np.arange(len(H)), lengths - 1]
    return H.sum(1) / lengths[:, None] if kind == "mean" else H.max(1)
"""
        },
        "score": 14,  # the largest of negative numbers is not 0
    },
    "the mean over all columns": {
        "answers": {
            "summary": """
def summary(H, lengths, kind):
    lengths = np.asarray(lengths)
    real = np.arange(H.shape[1]) < lengths[:, None]
    if kind == "last":
        return H[np.arange(len(H)), lengths - 1]
    if kind == "mean":
        return np.where(real[..., None], H, 0.0).mean(1)
    return np.where(real[..., None], H, -np.inf).max(1)
"""
        },
        "score": 14,
    },
    "no bias": {
        "answers": {
            "readout": """
def recall_by_position(C, X, C_new, X_new, K):
    found = []
    for i in range(X.shape[1]):
        W = np.linalg.lstsq(C, np.eye(K)[X[:, i]], rcond=None)[0]
        found.append(((C_new @ W).argmax(1) == X_new[:, i]).mean())
    return np.array(found)
"""
        },
        "score": 13,
    },
    "tested on what it was fitted to": {
        "answers": {
            "readout": """
def recall_by_position(C, X, C_new, X_new, K):
    one = np.hstack([C, np.ones((len(C), 1))])
    found = []
    for i in range(X.shape[1]):
        W = np.linalg.lstsq(one, np.eye(K)[X[:, i]], rcond=None)[0]
        found.append(((one @ W).argmax(1) == X[:, i]).mean())
    return np.array(found)
"""
        },
        "score": 13,
    },
    "types as numbers on a scale": {
        "answers": {
            "readout": """
def recall_by_position(C, X, C_new, X_new, K):
    one, new = (np.hstack([c, np.ones((len(c), 1))]) for c in (C, C_new))
    W = np.linalg.lstsq(one, X.astype(float), rcond=None)[0]
    return (np.round(new @ W) == X_new).mean(0)
"""
        },
        "score": 14,
    },
    "the mean is better, and not by far": {
        "answers": {
            "better": """
def better(H):
    return H.mean(axis=1)
"""
        },
        "score": 15,
    },
    "the largest value is no better": {
        "answers": {
            "better": """
def better(H):
    return H.max(axis=1)
"""
        },
        "score": 14,
    },
    "all states side by side": {
        "answers": {
            "better": """
def better(H):
    return H.reshape(len(H), -1)
"""
        },
        "score": 14,
    },
    "another pattern for every source": {
        "answers": {
            "better": """
def better(H):
    return (H * np.random.default_rng(len(H)).normal(size=H.shape)).mean(axis=1)
"""
        },
        "score": 14,
    },
}
