"""Common wrong answers to homework 10, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


@wrong("natural logarithms of the types, bits of the state", 12)
def most_symbols(m, bits, K):
    return int(max(m * bits - SPARE, 0) / np.log(K))


@wrong("natural logarithms of the types, bits of the state", 12)
def largest_share(N, m, bits, K):
    return min(1.0, 2.0 ** (m * bits - SPARE - N * np.log(K)))


@wrong("a quotient of rounded logarithms", 14)  # 3 log 2 // log 8 is 0 or 1 as the rounding falls
def most_symbols(m, bits, K):
    return int(max(m * bits - SPARE, 0) * np.log(2) // np.log(K))


@wrong("states in place of their logarithm", 14)
def most_symbols(m, bits, K):
    return max(m * bits - SPARE, 0) // K


@wrong("powers that do not fit into a float", 14)
def largest_share(N, m, bits, K):
    return min(1.0, 2.0 ** (m * bits - SPARE) / float(K) ** N)


@wrong("a share above 1", 14)
def largest_share(N, m, bits, K):
    return 2.0 ** (m * bits - SPARE - N * np.log2(K))


@wrong("a lucky long source counts", 12)  # the first check has a length that is copied behind one that is not
def longest_copied(pairs, share):
    lengths = {len(read) for read, _ in pairs}
    right = {n: np.mean([read == written for read, written in pairs if len(read) == n]) for n in lengths}
    return max((n for n in lengths if right[n] >= share), default=0)


@wrong("every length from 1 must have been tested", 12)
def longest_copied(pairs, share):
    n = 1
    while True:
        hits = [read == written for read, written in pairs if len(read) == n]
        if not hits or np.mean(hits) < share - 1e-9:
            return n - 1
        n += 1


@wrong("symbols instead of whole sources", 14)
def longest_copied(pairs, share):
    longest = 0
    for n in sorted({len(read) for read, _ in pairs}):
        if sum(len(read) == n for read, _ in pairs) < LEAST:
            continue
        hits = [a == b for read, written in pairs if len(read) == n for a, b in zip(read, written)]
        if np.mean(hits) < share - 1e-9:
            break
        longest = n
    return longest


@wrong("more than the share, not at least", 12)
def longest_copied(pairs, share):
    longest = 0
    for n in sorted({len(read) for read, _ in pairs}):
        if sum(len(read) == n for read, _ in pairs) < LEAST:
            continue
        hits = [read == written for read, written in pairs if len(read) == n]
        if sum(hits) <= share * len(hits) and not all(hits):
            break
        longest = n
    return longest


@wrong("padding counts", 14)
def summary(H, lengths, kind):
    return {"last": H[:, -1], "mean": H.mean(1), "max": H.max(1)}[kind]


@wrong("padding is set to zero", 14)  # the largest of negative numbers is not 0
def summary(H, lengths, kind):
    lengths = np.asarray(lengths)
    real = np.arange(H.shape[1]) < lengths[:, None]
    H = np.where(real[..., None], H, 0.0)
    if kind == "last":
        return H[np.arange(len(H)), lengths - 1]
    return H.sum(1) / lengths[:, None] if kind == "mean" else H.max(1)


@wrong("the mean over all columns", 14)
def summary(H, lengths, kind):
    lengths = np.asarray(lengths)
    real = np.arange(H.shape[1]) < lengths[:, None]
    if kind == "last":
        return H[np.arange(len(H)), lengths - 1]
    if kind == "mean":
        return np.where(real[..., None], H, 0.0).mean(1)
    return np.where(real[..., None], H, -np.inf).max(1)


@wrong("no bias", 13)
def recall_by_position(C, X, C_new, X_new, K):
    found = []
    for i in range(X.shape[1]):
        W = np.linalg.lstsq(C, np.eye(K)[X[:, i]], rcond=None)[0]
        found.append(((C_new @ W).argmax(1) == X_new[:, i]).mean())
    return np.array(found)


@wrong("tested on what it was fitted to", 13)
def recall_by_position(C, X, C_new, X_new, K):
    one = np.hstack([C, np.ones((len(C), 1))])
    found = []
    for i in range(X.shape[1]):
        W = np.linalg.lstsq(one, np.eye(K)[X[:, i]], rcond=None)[0]
        found.append(((one @ W).argmax(1) == X[:, i]).mean())
    return np.array(found)


@wrong("types as numbers on a scale", 14)
def recall_by_position(C, X, C_new, X_new, K):
    one, new = (np.hstack([c, np.ones((len(c), 1))]) for c in (C, C_new))
    W = np.linalg.lstsq(one, X.astype(float), rcond=None)[0]
    return (np.round(new @ W) == X_new).mean(0)


@wrong("the mean is better, and not by far", 15)
def better(H):
    return H.mean(axis=1)


@wrong("the largest value is no better", 14)
def better(H):
    return H.max(axis=1)


@wrong("all states side by side", 14)
def better(H):
    return H.reshape(len(H), -1)


@wrong("another pattern for every source", 14)
def better(H):
    return (H * np.random.default_rng(len(H)).normal(size=H.shape)).mean(axis=1)
