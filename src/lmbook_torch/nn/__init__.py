"""torch.nn."""

from ..errors import missing
from . import functional, init, utils
from .cells import GRUCell, LSTMCell, RNNCell
from .containers import ModuleDict, ModuleList, ParameterList, Sequential
from .layers import Conv2d, Dropout, Embedding, Flatten, Identity, LayerNorm, Linear, MaxPool2d, RMSNorm
from .module import Module
from .parameter import Buffer, Parameter
from .plain import (  # noqa: F401
    ELU,
    GELU,
    GLU,
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    MSELoss,
    NLLLoss,
    ReLU,
    Sigmoid,
    SiLU,
    SmoothL1Loss,
    Softmax,
    Softplus,
    Tanh,
)  # fmt: skip
from .recurrent import GRU, LSTM, RNN

__getattr__ = missing("torch.nn")
__all__ = [
    "GELU", "GRU", "LSTM", "RNN", "Buffer", "Conv2d", "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "GRUCell",
    "Identity", "LSTMCell", "LayerNorm", "Linear", "MSELoss", "MaxPool2d", "Module", "ModuleDict", "ModuleList",
    "Parameter", "ParameterList", "RMSNorm", "RNNCell", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "Tanh",
    "functional", "init", "utils",
]  # fmt: skip
