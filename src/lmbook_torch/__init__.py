"""PyTorch in the page: torch's names on NumPy, as far as the book uses them.

In a page this package is `torch`; here it is `lmbook_torch`, so that tests hold each name to the real one beside it.

    tensor, plain, data, dtypes, engine, modes    the tensor, its types, the graph of operations and its gradients
    elementwise, unary, choices, shapes, joins, indexing, places, reduce, running, exponents, orders, grids, matrix,
    linalg, make              the operations; methods makes them a tensor's
    more                      names that answers to the homework may use
    random, generator         PyTorch's own numbers, from the same seed
    nn, optim, autograd       modules, optimizers
    shown, errors             how a tensor is printed; what is not covered says so and names Colab

Gradients are those of `lmbook.autograd`, the engine of chapter 5, grown: each operation is its value and one vjp per input.
"""

import math

from . import autograd, choices, dtypes, elementwise, linalg, methods, nn, optim, random
from .autograd import no_grad
from .data import tensor
from .dtypes import (
    Size,
    bfloat16,
    complex64,
    complex128,
    device,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
)  # fmt: skip
from .dtypes import bool_ as bool
from .elementwise import operands
from .errors import NotCovered
from .grids import block_diag, cartesian_prod, meshgrid
from .joins import cat, stack
from .linalg import svd_lowrank
from .make import (
    arange,
    as_tensor,
    asarray,
    empty,
    empty_like,
    eye,
    from_numpy,
    frombuffer,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)  # fmt: skip
from .matrix import einsum
from .modes import enable_grad, inference_mode, is_grad_enabled, set_grad_enabled
from .more import (
    BoolTensor,
    DoubleTensor,
    atleast_1d,
    atleast_2d,
    cdist,
    column_stack,
    combinations,
    finfo,
    hstack,
    iinfo,
    is_floating_point,
    promote_types,
    row_stack,
    std_mean,
    tensordot,
    tril_indices,
    triu_indices,
    unique_consecutive,
    var_mean,
    vstack,
)  # fmt: skip
from .nn import recurrent
from .nn.functional import cosine_similarity, dropout, layer_norm, rms_norm
from .random import (
    Generator,
    bernoulli,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    seed,
    set_rng_state,
)  # fmt: skip
from .shapes import broadcast_tensors
from .shown import set_printoptions
from .tensor import Tensor

__version__ = "2.13.0+page"
float, double, long, int, half, short = float32, float64, int64, int32, float16, int16
inf, nan, pi, e = math.inf, math.nan, math.pi, math.e
strided = "torch.strided"
concat = concatenate = cat
LongTensor = lambda data: tensor(data, dtype=int64)  # noqa: E731
FloatTensor = lambda data: tensor(data, dtype=float32)  # noqa: E731
_ONLY_METHODS = {"new_zeros", "new_ones", "new_empty", "new_full", "new_tensor", "to", "type", "type_as", "view", "view_as",
                 "expand", "expand_as", "repeat", "reshape_as", "double", "float", "long", "int", "bool", "short", "half",
                 "bfloat16", "unfold"}  # fmt: skip
globals().update({
    name: function for name, function in elementwise.METHODS.items()
    if name not in _ONLY_METHODS and not name.endswith("_")
})  # fmt: skip
permute = lambda x, dims: elementwise.METHODS["permute"](x, *dims)  # noqa: E731
reshape = lambda x, shape: elementwise.METHODS["reshape"](x, *shape)  # noqa: E731
flip = lambda x, dims: elementwise.METHODS["flip"](x, *dims)  # noqa: E731
tile = lambda x, dims: elementwise.METHODS["tile"](x, *dims)  # noqa: E731
rnn_tanh, rnn_relu, lstm, gru = map(recurrent.function, ("RNN_TANH", "RNN_RELU", "LSTM", "GRU"))
rnn_tanh_cell, rnn_relu_cell, lstm_cell, gru_cell = map(recurrent.cell, ("RNN_TANH", "RNN_RELU", "LSTM", "GRU"))


def is_tensor(x) -> "bool":
    """torch.is_tensor."""
    return isinstance(x, Tensor)


def result_type(a, b):
    """torch.result_type."""
    return operands(a, b)[0].dtype


def numel(x):
    """torch.numel."""
    return x.numel()


def set_num_threads(n) -> None:
    """A page has one thread."""


def get_num_threads():
    """A page has one thread."""
    return 1


def set_float32_matmul_precision(precision) -> None:
    """A page has one."""


def is_autocast_enabled(device_type=None):
    """A page has no other types to cast to."""
    return False


def typename(x):
    """torch.typename."""
    return type(x).__name__


class _Nowhere:
    """Devices that a page does not have."""

    @staticmethod
    def is_available():
        return False

    @staticmethod
    def device_count():
        return 0

    @staticmethod
    def is_compiling():
        return False

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotCovered(f"torch.cuda.{name}")


cuda = mps = xpu = compiler = distributed = _Nowhere()


class backends:
    """torch.backends."""

    mps = cuda = mps


class ops:
    """Names of operations inside of PyTorch that the laboratory looks for."""

    class aten:
        """They are in no page."""

        mkldnn_rnn_layer = _cudnn_rnn = None


class special:
    """torch.special."""

    xlogy = choices.xlogy


class OutOfMemoryError(RuntimeError):
    """A page has at most 2 GB."""


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    raise NotCovered(f"torch.{name}")
