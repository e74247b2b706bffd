"""torch.nn.functional, as far as the book uses it."""

import math

import numpy as np

from .. import random
from ..elementwise import METHODS, wrap
from ..engine import QUIET, node
from ..errors import NotCovered, missing
from ..exponents import log_softmax as _log_softmax
from ..exponents import softmax as _softmax
from ..indexing import add_rows
from ..matrix import product
from ..reduce import total
from ..special import erf
from .activations import (  # noqa: F401
    elu,
    glu,
    gumbel_softmax,
    huber_loss,
    kl_div,
    leaky_relu,
    relu6,
    smooth_l1_loss,
    softmin,
)
from .images import conv2d, max_pool2d  # noqa: F401
from .losses import (  # noqa: F401
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    l1_loss,
    logsigmoid,
    mse_loss,
    nll_loss,
)

__getattr__ = missing("torch.nn.functional")
relu, tanh, sigmoid = METHODS["relu"], METHODS["tanh"], METHODS["sigmoid"]


def softmax(input, dim, dtype=None):
    """Over one dimension; which one has to be said."""
    return _softmax(input, dim, dtype)


def log_softmax(input, dim, dtype=None):
    """Over one dimension."""
    return _log_softmax(input, dim, dtype)


def linear(input, weight, bias=None):
    """x W^T + b."""
    x, w = input._a, weight._a
    if x.shape[-1] != w.shape[-1]:
        rows = math.prod(x.shape[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x.shape[-1]} and {w.shape[-1]}x{w.shape[0]})"
        )
    if x.dtype != w.dtype:
        input @ weight.mT  # raises, in PyTorch's words
    flat = x.reshape(-1, x.shape[-1])
    with QUIET():
        y = product(flat, w.T)
        if bias is not None:
            y = y + bias._a
    out = wrap(y.reshape(*x.shape[:-1], len(w)))

    def g_flat(g):
        return g.reshape(-1, len(w))

    edges = [
        (input, lambda g: product(g_flat(g), w).reshape(x.shape)),
        (weight, lambda g: product(g_flat(g).T, flat)),
    ]
    if bias is not None:
        edges.append((bias, lambda g: total(g_flat(g), (0,))))
    saves = [one for one, other in ((input, weight), (weight, input)) if other.requires_grad]
    name = "AddmmBackward0" if x.ndim == 2 and bias is not None else "ViewBackward0" if x.ndim > 2 else "MmBackward0"
    return node(name, out, edges, saves)


def embedding(input, weight, padding_idx=None):
    """Rows of a matrix."""
    ids, w = input._a, weight._a
    if ids.dtype.kind not in "iu":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{ {'float32': 'FloatTensor', 'float64': 'DoubleTensor', 'bool': 'BoolTensor'}[str(ids.dtype)] } instead (while checking arguments for embedding)"
        )
    if ids.size and (ids.min() < 0 or ids.max() >= len(w)):
        raise IndexError("index out of range in self")
    rows = ids.astype(np.intp)

    def vjp(g):
        whole, flat = np.zeros_like(w), rows.ravel()
        add_rows(whole, flat, g.reshape(flat.size, w.shape[1]))
        if padding_idx is not None:
            whole[padding_idx] = 0
        return whole

    return node("EmbeddingBackward0", wrap(w[rows]), [(weight, vjp)], [input])


def one_hot(tensor, num_classes=-1):
    """Rows of the unit matrix."""
    ids = tensor._a
    n = int(ids.max()) + 1 if num_classes == -1 else num_classes
    if ids.size and ids.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if ids.size and ids.max() >= n:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return wrap((ids[..., None] == np.arange(n)).astype(np.int64))


def gelu(input, approximate="none"):
    """x Phi(x), or its approximation with tanh."""
    x = input._a
    with QUIET():
        if approximate == "tanh":
            c = math.sqrt(2 / math.pi)
            t = np.tanh(x.dtype.type(c) * (x + x.dtype.type(0.044715) * x**3))
            y = x.dtype.type(0.5) * x * (1 + t)
            slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x)
        else:
            phi = x.dtype.type(0.5) * (1 + erf(x * x.dtype.type(math.sqrt(0.5))))
            y, slope = x * phi, phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return node("GeluBackward0", wrap(y.astype(x.dtype)), [(input, lambda g: (g * slope).astype(x.dtype))], [input])


def silu(input):
    """x sigma(x)."""
    return input * sigmoid(input)


def softplus(input, beta=1.0, threshold=20.0):
    """log(1 + e^(beta x)) / beta."""
    if beta != 1.0:
        raise NotCovered("softplus with another beta")
    x = input._a
    with QUIET():
        y = np.where(x > threshold, x, np.log1p(np.exp(np.minimum(x, threshold)))).astype(x.dtype)
        slope = np.where(x > threshold, 1, 1 / (1 + np.exp(-x))).astype(x.dtype)
    return node("SoftplusBackward0", wrap(y), [(input, lambda g: g * slope)], [input])


def dropout(input, p=0.5, training=True, inplace=False):
    """Each number becomes 0 with probability p, the others are divided by 1 - p."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = random.mask(input._a.shape, 1 - p, input._a.dtype)
    return input * wrap(kept / kept.dtype.type(1 - p) if p < 1 else kept)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions."""
    shape = tuple(normalized_shape)
    if input._a.shape[input._a.ndim - len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], but got "
            f"input of size{list(input.shape)}"
        )
    at = tuple(range(-len(shape), 0))
    x = input._a.astype(np.float64)
    centred = x - x.mean(at, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(at, keepdims=True) + eps)
    normal = (centred * scale).astype(input._a.dtype)
    y = normal if weight is None else normal * weight._a
    y = y if bias is None else y + bias._a
    lead = tuple(range(input._a.ndim - len(shape)))

    def vjp(g):
        h = (g if weight is None else g * weight._a).astype(np.float64)
        part = h - h.mean(at, keepdims=True) - normal * (h * normal).mean(at, keepdims=True)
        return (part * scale).astype(input._a.dtype)

    edges = [(input, vjp)]
    if weight is not None:
        edges.append((weight, lambda g: total(g * normal, lead)))
    if bias is not None:
        edges.append((bias, lambda g: total(g, lead)))
    return node("NativeLayerNormBackward0", wrap(y), edges, [one for one in (input, weight) if one is not None])


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """x / sqrt(mean x^2 + eps) * weight."""
    at = tuple(range(-len(tuple(normalized_shape)), 0))
    small = np.finfo(input._a.dtype).eps if eps is None else eps
    y = input * METHODS["rsqrt"]((input * input).mean(at, keepdim=True) + float(small))
    return y if weight is None else y * weight


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """x / max(|x|, eps)."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """x1 . x2 / (|x1| |x2|)."""
    a, b = (x / x.norm(2, dim, keepdim=True).clamp_min(eps) for x in (x1, x2))
    return (a * b).sum(dim)


def pad(input, pad, mode="constant", value=None):
    """Numbers before and after, from the last dimension on."""
    if mode != "constant":
        raise NotCovered(f"pad with mode {mode!r}")
    rank = input._a.ndim
    pairs = [(0, 0)] * (rank - len(pad) // 2) + [tuple(pad[i : i + 2]) for i in range(0, len(pad), 2)][::-1]
    cut = tuple(slice(max(0, -a), n + min(0, b)) for (a, b), n in zip(pairs, input._a.shape, strict=True))
    wide = [(max(0, a), max(0, b)) for a, b in pairs]
    y = np.pad(input._a[cut], wide, constant_values=0 if value is None else value)
    inner = tuple(slice(a, n - b) for (a, b), n in zip(wide, y.shape, strict=True))

    def vjp(g):
        whole = np.zeros(input._a.shape, g.dtype)
        whole[cut] = g[inner]
        return whole

    return node("ConstantPadNdBackward0", wrap(y), [(input, vjp)])


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):  # fmt: skip
    """softmax(q k^T / sqrt(d)) v, with a mask of what is seen, or of what is added."""
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key, value = (one.repeat_interleave(times, -3) for one in (key, value))
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        seen = wrap(np.tril(np.ones(scores.shape[-2:], bool)))
        scores = scores.masked_fill(~seen, -math.inf)
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -math.inf) if attn_mask._a.dtype == bool else scores + attn_mask
    weights = _softmax(scores, -1)
    weights = weights.nan_to_num(0.0) if attn_mask is not None else weights
    return dropout(weights, dropout_p, dropout_p > 0) @ value
