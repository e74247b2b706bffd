"""Common wrong answers to homework 14, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

TABLE = """
def binary_table(n):
    n_bits = max(1, (n - 1).bit_length())
    return [[t // 2**j % 2 for j in range(n_bits)] for t in range(n)]
"""
BACK = """
def position_of(bits):
    return sum(bit * 2**j for j, bit in enumerate(bits))
"""
SHIFT = """
def shift(k, D, C):
    R = np.zeros((D, D))
    for j in range(D // 2):
        a = k * C ** (-2 * j / D)
        R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]
    return R
"""
TEST = """
def has_shift(P, k, tolerance=1e-6):
    M = np.linalg.lstsq(P[:-k], P[k:], rcond=None)[0]
    return bool(abs(P[:-k] @ M - P[k:]).max() <= tolerance)
"""


def codes(angle="t * C ** (-2 * j / D)", pairs="np.stack([np.sin(a), np.cos(a)], -1).reshape(len(ts), D)"):
    return f"""
def codes(ts, D, C):
    t, j = np.array(ts, dtype=float)[:, None], np.arange(D // 2)
    a = {angle}
    return {pairs}
"""


def turned(angle="t * C ** (-2 * j / d)", keys="turn(K)", scale="np.sqrt(d)"):
    return f"""
def turned_scores(Q, K, C, start=0):
    Q, K = np.asarray(Q), np.asarray(K)
    T, d = Q.shape
    t, j = start + np.arange(T)[:, None], np.arange(d // 2)

    def turn(X, t=t):
        a = {angle}
        out = np.zeros(X.shape)
        out[:, 0::2] = X[:, 0::2] * np.cos(a) - X[:, 1::2] * np.sin(a)
        out[:, 1::2] = X[:, 0::2] * np.sin(a) + X[:, 1::2] * np.cos(a)
        return out

    return turn(Q) @ {keys}.T / {scale}
"""


WRONG = {
    "highest bit first": {
        "answers": {
            "binary": f"""
def binary_table(n):
    n_bits = max(1, (n - 1).bit_length())
    return [[int(letter) for letter in format(t, f"0{{n_bits}}b")] for t in range(n)]

{BACK}"""
        },
        "score": 13,
    },
    "a bit too many at powers of two": {
        "answers": {
            "binary": f"""
def binary_table(n):
    n_bits = max(1, n.bit_length())
    return [[t // 2**j % 2 for j in range(n_bits)] for t in range(n)]

{BACK}"""
        },
        "score": 13,  # the visible table of four positions shows it
    },
    "each row with as many bits as it needs": {
        "answers": {
            "binary": f"""
def binary_table(n):
    return [[int(letter) for letter in bin(t)[:1:-1]] for t in range(n)]

{BACK}"""
        },
        "score": 13,
    },
    "no bit for a table of one position": {
        "answers": {
            "binary": f"""
def binary_table(n):
    return [[t // 2**j % 2 for j in range((n - 1).bit_length())] for t in range(n)]

{BACK}"""
        },
        "score": 14,
    },
    "the position read from the highest bit": {
        "answers": {
            "binary": f"""{TABLE}

def position_of(bits):
    return int("".join(map(str, bits)), 2)
"""
        },
        "score": 14,
    },
    "all sines, then all cosines": {
        "answers": {"sinusoids": codes(pairs="np.concatenate([np.sin(a), np.cos(a)], -1)")},
        "score": 12,
    },
    "j in place of 2j in the exponent": {"answers": {"sinusoids": codes("t * C ** (-j / D)")}, "score": 12},
    "cosine first": {
        "answers": {"sinusoids": codes(pairs="np.stack([np.cos(a), np.sin(a)], -1).reshape(len(ts), D)")},
        "score": 12,
    },
    "speeds that grow": {"answers": {"sinusoids": codes("t * C ** (2 * j / D)")}, "score": 12},
    "rows counted from 0, whatever the list says": {
        "answers": {"sinusoids": codes("np.arange(len(ts))[:, None] * C ** (-2 * j / D)")},
        "score": 12,  # the first check asks for position 3 alone
    },
    "the base is always 10,000": {"answers": {"sinusoids": codes("t * 10_000.0 ** (-2 * j / D)")}, "score": 12},
    "turned the other way": {
        "answers": {
            "shift": f"""
def shift(k, D, C):
    R = np.zeros((D, D))
    for j in range(D // 2):
        a = k * C ** (-2 * j / D)
        R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
    return R

{TEST}"""
        },
        "score": 14,
    },
    "one speed for all pairs": {
        "answers": {
            "shift": f"""
def shift(k, D, C):
    return np.kron(np.eye(D // 2), [[np.cos(k), np.sin(k)], [-np.sin(k), np.cos(k)]])

{TEST}"""
        },
        "score": 14,
    },
    "no negative offsets": {
        "answers": {
            "shift": f"""
def shift(k, D, C):
    R = np.eye(D)
    for _ in range(k):
        for j in range(D // 2):
            a = C ** (-2 * j / D)
            block = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
            R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = block @ R[2 * j : 2 * j + 2, 2 * j : 2 * j + 2]
    return R

{TEST}"""
        },
        "score": 14,
    },
    "the map of the first positions only": {
        "answers": {
            "shift": f"""{SHIFT}

def has_shift(P, k, tolerance=1e-6):
    D = P.shape[1]
    M = np.linalg.lstsq(P[:D], P[k : k + D], rcond=None)[0]
    return bool(abs(P[:D] @ M - P[k : k + D]).max() <= tolerance)
"""
        },
        "score": 14,
    },
    "a constant beside the matrix": {
        "answers": {
            "shift": f"""{SHIFT}

def has_shift(P, k, tolerance=1e-6):
    one = np.column_stack([P, np.ones(len(P))])
    M = np.linalg.lstsq(one[:-k], P[k:], rcond=None)[0]
    return bool(abs(one[:-k] @ M - P[k:]).max() <= tolerance)
"""
        },
        "score": 14,
    },
    "the mean error": {
        "answers": {
            "shift": f"""{SHIFT}

def has_shift(P, k, tolerance=1e-6):
    M = np.linalg.lstsq(P[:-k], P[k:], rcond=None)[0]
    return bool(abs(P[:-k] @ M - P[k:]).mean() <= tolerance)
"""
        },
        "score": 14,
    },
    "equal products along a diagonal": {
        "answers": {
            "shift": f"""{SHIFT}

def has_shift(P, k, tolerance=1e-6):
    products = np.diagonal(P @ P.T, k)
    return bool(np.ptp(products) <= tolerance)
"""
        },
        "score": 14,
    },
    "only the queries are turned": {"answers": {"turned": turned(keys="K")}, "score": 13},
    "not divided": {"answers": {"turned": turned(scale="1")}, "score": 13},
    "all pairs at one speed": {"answers": {"turned": turned("t * np.ones(d // 2)")}, "score": 15},
    "the start for queries only": {
        "answers": {"turned": turned(keys="turn(K, np.arange(T)[:, None])")},
        "score": 14,
    },
    "word and place exchanged": {
        "answers": {
            "parts": """
def four_parts(X, P, M):
    return [X @ M @ X.T, P @ M @ X.T, X @ M @ P.T, P @ M @ P.T]
"""
        },
        "score": 14,
    },
    "columns for queries": {
        "answers": {
            "parts": """
def four_parts(X, P, M):
    return [right @ M @ left.T for left in (X, P) for right in (X, P)]
"""
        },
        "score": 14,
    },
}
