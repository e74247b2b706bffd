"""Common wrong answers to homework 5, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

WRONG = {
    "the temperature has no inner derivative": {
        "answers": {
            "jacobian": """
def jacobian(z, temperature):
    z = np.asarray(z, dtype=float) / temperature
    y_hat = np.exp(z - z.max())
    y_hat /= y_hat.sum()
    return np.diag(y_hat) - np.outer(y_hat, y_hat)
"""
        },
        "score": 12,  # the limits too: at temperature 0.5 a factor of 2 is missing
    },
    "only the diagonal, as for a sigmoid": {
        "answers": {
            "jacobian": """
def jacobian(z, temperature):
    z = np.asarray(z, dtype=float) / temperature
    y_hat = np.exp(z - z.max())
    y_hat /= y_hat.sum()
    return np.diag(y_hat * (1 - y_hat)) / temperature
"""
        },
        "score": 12,
    },
    "exponentials of the logits as they are": {
        "answers": {
            "jacobian": """
def jacobian(z, temperature):
    y_hat = np.exp(z / temperature)
    y_hat = y_hat / y_hat.sum()
    return (np.diag(y_hat) - np.outer(y_hat, y_hat)) / temperature
"""
        },
        "score": 15,
    },
    "the sum over the batch instead of the mean": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T + b
    G = np.exp(Z - Z.max(axis=1, keepdims=True))
    G /= G.sum(axis=1, keepdims=True)
    G[np.arange(len(came)), came] -= 1
    return {"W": G.T @ X, "b": G.sum(axis=0)}
"""
        },
        "score": 14,
    },
    "what came minus what the model said": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T + b
    G = np.exp(Z - Z.max(axis=1, keepdims=True))
    G /= G.sum(axis=1, keepdims=True)
    G[np.arange(len(came)), came] -= 1
    return {"W": -G.T @ X / len(came), "b": -G.mean(axis=0)}
"""
        },
        "score": 12,
    },
    "the bias is forgotten in the logits": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T
    G = np.exp(Z - Z.max(axis=1, keepdims=True))
    G /= G.sum(axis=1, keepdims=True)
    G[np.arange(len(came)), came] -= 1
    return {"W": G.T @ X / len(came), "b": G.mean(axis=0)}
"""
        },
        "score": 12,
    },
    "a softmax over the whole batch": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    Z = X @ W.T + b
    G = np.exp(Z - Z.max())
    G /= G.sum()
    G[np.arange(len(came)), came] -= 1
    return {"W": G.T @ X / len(came), "b": G.mean(axis=0)}
"""
        },
        "score": 14,  # right for one window
    },
    "small steps in place of a derivation": {
        "answers": {
            "gradients": """
def gradients(W, b, X, came):
    def loss(W, b):
        Z = X @ W.T + b
        return np.mean(np.log(np.exp(Z).sum(axis=1)) - Z[np.arange(len(came)), came])
    return {"W": slopes(lambda W: loss(W, b), W), "b": slopes(lambda b: loss(W, b), b)}
"""
        },
        "score": 12,  # too inexact where the loss is steep, and overflows where the gradient is small and simple
    },
    "the logarithm of the softmax": {
        "answers": {
            "log-softmax": """
def log_softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    with np.errstate(divide="ignore"):
        return np.log(e / e.sum(axis=-1, keepdims=True))
"""
        },
        "score": 15,
    },
    "one maximum for the whole array": {
        "answers": {
            "log-softmax": """
def log_softmax(z):
    with np.errstate(all="ignore"):
        z = z - z.max()
        return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
"""
        },
        "score": 14,  # rows far below the largest underflow
    },
    "nothing is subtracted": {
        "answers": {
            "log-softmax": """
def log_softmax(z):
    with np.errstate(all="ignore"):
        return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
"""
        },
        "score": 14,  # right for small logits, and 0 for exp(-800)
    },
    "the last of several rows wins": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    gradient = np.zeros_like(E)
    gradient[ids] = g
    return gradient
"""
        },
        "score": 12,
    },
    "NumPy's += adds a repeated row once": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    gradient = np.zeros_like(E)
    gradient[ids] += g
    return gradient
"""
        },
        "score": 12,
    },
    "the gradient is a look-up too": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    return g
"""
        },
        "score": 11,
    },
    "the mean of the shares": {
        "answers": {
            "lookup": """
def lookup(E, ids):
    return E[np.asarray(ids)]


def lookup_vjp(E, ids, g):
    gradient = np.zeros_like(E)
    for row in set(ids):
        gradient[row] = np.mean([share for i, share in zip(ids, g) if i == row], axis=0)
    return gradient
"""
        },
        "score": 12,
    },
}
