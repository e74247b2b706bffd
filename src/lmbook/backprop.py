"""Back-propagation by hand: softmax, negative log-likelihood and a small network. NumPy only, float64.

One layer with a softmax, for one example; x and z are columns, y is the one-hot target:

    z = W x      y_hat = softmax(z)      L = -sum_i y_i ln y_hat_i

    dL/dy_hat = -y / y_hat      dy_hat/dz = diag(y_hat) - y_hat y_hat^T      their product  dL/dz = y_hat - y
    dL/dW = (y_hat - y) x^T

The network of the feed-forward language model, whose gradient `network_gradients` has by the same steps:

    e = [E x_{t-n}; ...; E x_{t-1}]      h = sigma(W e)      z = U h      y_hat = softmax(z)

Shapes: V types, d_model width of an embedding, n tokens in the window, hidden width of h. Losses are in nats.
`autograd` finds the same gradients for any computation.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

# ---- softmax and negative log-likelihood


def log_softmax(z: ArrayLike) -> np.ndarray:
    """ln y_hat_i = z_i - ln sum_j e^{z_j} over the last axis, for logits of any size.  z: (..., V), returns (..., V).

    With m = max_j z_j the sum is e^m sum_j e^{z_j - m}, whose largest term is 1: it is neither infinite nor 0.
    Raises ValueError for a row without a finite maximum (all -inf, or with +inf or NaN).
    """
    z = np.asarray(z, dtype=np.float64)
    m = z.max(axis=-1, keepdims=True)
    if not np.isfinite(m).all():
        raise ValueError("log_softmax() got a row that is all -inf, or holds +inf or NaN; its largest must be finite.")
    return z - m - np.log(np.exp(z - m).sum(axis=-1, keepdims=True))


def softmax(z: ArrayLike) -> np.ndarray:
    """y_hat_i = e^{z_i} / sum_j e^{z_j} over the last axis.  z: (..., V), returns (..., V). Raises as log_softmax."""
    return np.exp(log_softmax(z))


def sigmoid(a: ArrayLike) -> np.ndarray:
    """sigma(a) = 1 / (1 + e^{-a}) = (1 + tanh(a / 2)) / 2, whose second form cannot overflow."""
    return 0.5 * (1 + np.tanh(np.asarray(a, dtype=np.float64) / 2))


def one_hot(ids: ArrayLike, V: int) -> np.ndarray:
    """Rows with a 1 in column `id` and 0 elsewhere.  ids: (...), returns (..., V). Raises ValueError for other ids."""
    ids = np.asarray(ids)
    if ids.size and (not np.issubdtype(ids.dtype, np.integer) or ids.min() < 0 or ids.max() >= V):
        raise ValueError(f"one_hot() wants whole numbers from 0 to {V - 1}.")
    return (ids[..., None] == np.arange(V)).astype(np.float64)


def nll(y_hat: ArrayLike, y: ArrayLike) -> np.ndarray:
    """L = -sum_i y_i ln y_hat_i, with 0 ln 0 = 0.  y_hat, y: (..., V), returns (...)."""
    y_hat, y = _pair(y_hat, y)
    with np.errstate(divide="ignore"):
        return 0.0 - (y * np.log(np.where(y == 0, 1, y_hat))).sum(axis=-1)


def nll_from_logits(z: ArrayLike, y: ArrayLike) -> np.ndarray:
    """L = -sum_i y_i (z_i - ln sum_j e^{z_j}): the same loss, finite however small y_hat.  z, y: (..., V)."""
    z, y = _pair(z, y)
    return 0.0 - (y * np.where(y == 0, 0, log_softmax(z))).sum(axis=-1)


def nll_gradient(y_hat: ArrayLike, y: ArrayLike) -> np.ndarray:
    """dL/dy_hat = -y / y_hat, and 0 where y is 0.  y_hat, y: (..., V), returns (..., V)."""
    y_hat, y = _pair(y_hat, y)
    with np.errstate(divide="ignore"):
        return np.where(y == 0, 0.0, -y / np.where(y == 0, 1, y_hat))


def softmax_jacobian(y_hat: ArrayLike) -> np.ndarray:
    """dy_hat/dz = diag(y_hat) - y_hat y_hat^T, [i, j] is dy_hat_i / dz_j.  y_hat: (..., V), returns (..., V, V)."""
    y_hat = np.asarray(y_hat, dtype=np.float64)
    return y_hat[..., None] * np.eye(y_hat.shape[-1]) - y_hat[..., :, None] * y_hat[..., None, :]


def softmax_vjp(y_hat: ArrayLike, g: ArrayLike) -> np.ndarray:
    """g^T (dy_hat/dz) = y_hat * (g - g . y_hat), without the V x V matrix.  y_hat, g: (..., V), returns (..., V)."""
    y_hat, g = _pair(y_hat, g)
    return y_hat * (g - (g * y_hat).sum(axis=-1, keepdims=True))


def linear_jacobian(x: ArrayLike, V: int) -> np.ndarray:
    """dz/dW of z = W x: row j holds x in the columns of row j of W, 0 elsewhere.  x: (m,), returns (V, V m).

    Columns run through W row by row. Of its V^2 m numbers only V m are not 0.
    """
    return np.kron(np.eye(V), np.asarray(x, dtype=np.float64))


def gradient_by_jacobians(W: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """dL/dW = dL/dy_hat dy_hat/dz dz/dW, the three factors built and multiplied.  W: (V, m), x: (m,), y: (V,).

    Returns (V, m). It needs V^2 m numbers of memory; gradient_collapsed gives the same with V m.
    """
    y_hat = softmax(W @ x)
    return (nll_gradient(y_hat, y) @ softmax_jacobian(y_hat) @ linear_jacobian(x, len(W))).reshape(W.shape)


def gradient_collapsed(W: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """dL/dW = (y_hat - y) x^T: what the product of the three Jacobians comes to.  W: (V, m), x: (m,), y: (V,)."""
    return np.outer(softmax(W @ x) - y, x)


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"both arrays must have one shape, not {a.shape} and {b.shape}; is the target one-hot?")
    return a, b


# ---- the feed-forward language model, differentiated by hand


class Forward(NamedTuple):
    """e (n d_model,), h (hidden,), z (V,), y_hat (V,) of one window."""

    e: np.ndarray
    h: np.ndarray
    z: np.ndarray
    y_hat: np.ndarray


def network(E: np.ndarray, W: np.ndarray, U: np.ndarray, window: Sequence[int]) -> Forward:
    """e = [E x_{t-n}; ...; E x_{t-1}], h = sigma(W e), z = U h, y_hat = softmax(z), sigma(a) = 1 / (1 + e^{-a}).

    E: (d_model, V), a column for each type.  W: (hidden, n d_model).  U: (V, hidden).  window: n ids, the oldest first.
    """
    if W.shape[1] != E.shape[0] * len(window):
        raise ValueError(f"W has {W.shape[1]} columns; {len(window)} embeddings of {E.shape[0]} numbers need as many.")
    e = E[:, np.asarray(window)].T.reshape(-1)
    h = sigmoid(W @ e)
    z = U @ h
    return Forward(e, h, z, softmax(z))


def network_gradients(E: np.ndarray, W: np.ndarray, U: np.ndarray, window: Sequence[int], target: int) -> dict:
    """Gradients of L = -ln y_hat_target by z, U, h, W, e and E, in the order in which they are found.

        dL/dz = y_hat - y            dL/dU = (dL/dz) h^T      dL/dh = U^T dL/dz
        dL/da = dL/dh * h (1 - h)    dL/dW = (dL/da) e^T      dL/de = W^T dL/da          where a = W e
        dL/dE: the part of dL/de at position i is added to the column of token i (a repeated token gets several)

    Shapes as in `network`. Returns a dictionary with the keys z, U, h, a, W, e, E.
    """
    e, h, z, y_hat = network(E, W, U, window)
    dz = y_hat - one_hot(target, len(z))
    dU = np.outer(dz, h)
    dh = U.T @ dz
    da = dh * h * (1 - h)
    dW = np.outer(da, e)
    de = W.T @ da
    dE = np.zeros_like(E, dtype=np.float64)
    for token, share in zip(window, de.reshape(len(window), -1), strict=True):
        dE[:, token] += share
    return {"z": dz, "U": dU, "h": dh, "a": da, "W": dW, "e": de, "E": dE}


def numerical_gradient(f: Callable[[np.ndarray], float], x: ArrayLike, step: float = 1e-6) -> np.ndarray:
    """df/dx_i = (f(x + s e_i) - f(x - s e_i)) / 2s, one entry after the other (central differences).

    Its error falls as s^2 until rounding, which grows as 1 / s, takes over.
    f: from an array to one number.  x: of any shape, which is also that of the result.
    """
    x = np.array(x, dtype=np.float64)
    gradient = np.empty_like(x)
    for i in np.ndindex(x.shape):
        value = x[i]
        x[i] = value + step
        above = float(f(x))
        x[i] = value - step
        gradient[i] = (above - float(f(x))) / (2 * step)
        x[i] = value
    return gradient
