"""torch.nn."""

from ..errors import missing
from . import functional, init, utils
from .containers import ModuleDict, ModuleList, ParameterList, Sequential
from .layers import (
    GELU,
    Conv2d,
    CrossEntropyLoss,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    LayerNorm,
    Linear,
    MaxPool2d,
    MSELoss,
    ReLU,
    RMSNorm,
    Sigmoid,
    SiLU,
    Softmax,
    Tanh,
)  # fmt: skip
from .module import Module
from .parameter import Buffer, Parameter
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell

__getattr__ = missing("torch.nn")
__all__ = [
    "GELU", "GRU", "LSTM", "RNN", "Buffer", "Conv2d", "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "GRUCell",
    "Identity", "LSTMCell", "LayerNorm", "Linear", "MSELoss", "MaxPool2d", "Module", "ModuleDict", "ModuleList",
    "Parameter", "ParameterList", "RMSNorm", "RNNCell", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax", "Tanh",
    "functional", "init", "utils",
]  # fmt: skip
