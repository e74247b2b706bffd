"""Common wrong answers to homework 14, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def binary_table(n):
    n_bits = max(1, (n - 1).bit_length())
    return [[t // 2**j % 2 for j in range(n_bits)] for t in range(n)]


def position_of(bits):
    return sum(bit * 2**j for j, bit in enumerate(bits))


def codes(ts, D, C):
    t, j = FROM + np.array(ts, dtype=float)[:, None], np.arange(D // 2)
    a = t * C ** (-2 * j / D)
    return np.stack([np.sin(a), np.cos(a)], -1).reshape(len(ts), D)


def shift(k, D, C):
    R = np.zeros((D, D))
    for j in range(D // 2):
        a = k * C ** (-2 * j / D)
        R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
    return R


def has_shift(P, k, tolerance=1e-6):
    M = np.linalg.lstsq(P[:-k], P[k:], rcond=None)[0]
    return bool(abs(P[:-k] @ M - P[k:]).max() <= tolerance)


def turned_scores(Q, K, C, start=0):
    Q, K = np.asarray(Q), np.asarray(K)
    T, d = Q.shape
    t, j = start + np.arange(T)[:, None], np.arange(d // 2)

    def turn(X, t=t):
        a = t / STRETCH * C ** (-2 * j / d)
        out = np.zeros(X.shape)
        out[:, 0::2] = X[:, 0::2] * np.cos(a) - X[:, 1::2] * np.sin(a)
        out[:, 1::2] = X[:, 0::2] * np.sin(a) + X[:, 1::2] * np.cos(a)
        return out

    return turn(Q) @ turn(K).T / np.sqrt(d)


wrong(
    "highest bit first",
    13,
    binary_table,
    {"t // 2**j % 2 for j in range(n_bits)": 'int(letter) for letter in format(t, f"0{n_bits}b")'},
)
# the visible table of four positions shows it
wrong("a bit too many at powers of two", 13, binary_table, {"(n - 1)": "n"})
wrong(
    "no bit for a table of one position",
    14,
    binary_table,
    {"n_bits = max(1, (n - 1).bit_length())\n    ": "", "(n_bits)": "((n - 1).bit_length())"},
)
wrong(
    "the position read from the highest bit",
    14,
    position_of,
    {"sum(bit * 2**j for j, bit in enumerate(bits))": 'int("".join(map(str, bits)), 2)'},
)
wrong(
    "all sines, then all cosines",
    12,
    codes,
    {"stack([np.sin(a), np.cos(a)], -1).reshape(len(ts), D)": "concatenate([np.sin(a), np.cos(a)], -1)"},
)
wrong("j in place of 2j in the exponent", 12, codes, {"2 * j": "j"})
wrong("cosine first", 12, codes, {"sin(a), np.cos": "cos(a), np.sin"})
wrong("speeds that grow", 12, codes, {"-2 *": "2 *"})
# the first check asks for position 3 alone
wrong("rows counted from 0, whatever the list says", 12, codes, {"t * C": "np.arange(len(ts))[:, None] * C"})
wrong("the base is always 10,000", 12, codes, {"C **": "10_000.0 **"})
wrong(
    "turned the other way",
    14,
    shift,
    {"[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]": "[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]"},
)
wrong(
    "a constant beside the matrix",
    14,
    has_shift,
    {
        "M = np": "one = np.column_stack([P, np.ones(len(P))])\n    M = np",
        "P[:-k],": "one[:-k],",
        "P[:-k] @": "one[:-k] @",
    },
)
wrong("the mean error", 14, has_shift, {".max": ".mean"})
wrong(
    "equal products along a diagonal",
    14,
    has_shift,
    {
        "M = np.linalg.lstsq(P[:-k], P[k:], rcond=None)[0]": "products = np.diagonal(P @ P.T, k)",
        "abs(P[:-k] @ M - P[k:]).max()": "np.ptp(products)",
    },
)
wrong("only the queries are turned", 13, turned_scores, {"turn(K)": "K"})
wrong("not divided", 13, turned_scores, {"np.sqrt(d)": "1"})
wrong("all pairs at one speed", 15, turned_scores, {"C ** (-2 * j / d)": "np.ones(d // 2)"})
wrong("the start for queries only", 14, turned_scores, {"(K).": "(K, np.arange(T)[:, None])."})


@wrong("each row with as many bits as it needs", 13)
def binary_table(n):
    return [[int(letter) for letter in bin(t)[:1:-1]] for t in range(n)]


@wrong("one speed for all pairs", 14)
def shift(k, D, C):
    return np.kron(np.eye(D // 2), [[np.cos(k), np.sin(k)], [-np.sin(k), np.cos(k)]])


@wrong("no negative offsets", 14)
def shift(k, D, C):
    R = np.eye(D)
    for _ in range(k):
        for j in range(D // 2):
            a = C ** (-2 * j / D)
            block = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
            R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = block @ R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2]
    return R


@wrong("the map of the first positions only", 14)
def has_shift(P, k, tolerance=1e-6):
    D = P.shape[1]
    M = np.linalg.lstsq(P[:D], P[k : k + D], rcond=None)[0]
    return bool(abs(P[:D] @ M - P[k : k + D]).max() <= tolerance)


@wrong("word and place exchanged", 14)
def four_parts(X, P, M):
    return [X @ M @ X.T, P @ M @ X.T, X @ M @ P.T, P @ M @ P.T]


@wrong("columns for queries", 14)
def four_parts(X, P, M):
    return [right @ M @ left.T for left in (X, P) for right in (X, P)]
