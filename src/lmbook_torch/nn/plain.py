"""The modules of torch.nn that have no parameters: activations and losses."""

from typing import Any

from ..errors import NotCovered
from ..tensor import Tensor
from . import functional as F
from .module import Module


class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace: bool = False):
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input)


class Softmax(Module):
    """Over one dimension."""

    def __init__(self, dim: int | None = None):
        super().__init__()
        if dim is None:
            raise NotCovered("Softmax without dim")
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


def _module(name: str, function: str, *hidden: str, **shown: Any) -> type[Module]:
    """A module that calls a function with settings of its own.

    hidden, shown: the names of settings in their order, first those that its repr leaves out; shown with what they are.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        self.settings = shown | dict(zip((*hidden, *shown), args, strict=False)) | kwargs

    def forward(self, *given: Tensor) -> Tensor:
        return getattr(F, function)(*given, **self.settings)

    def extra_repr(self) -> str:
        return ", ".join(f"{one}={self.settings[one]!r}" for one in shown)

    return type(
        name, (Module,), {"__init__": __init__, "forward": forward, "extra_repr": extra_repr, "__doc__": f"F.{function}."}
    )  # fmt: skip


Tanh, Sigmoid, SiLU = _module("Tanh", "tanh"), _module("Sigmoid", "sigmoid"), _module("SiLU", "silu")
GELU = _module("GELU", "gelu", approximate="none")
CrossEntropyLoss = _module(
    "CrossEntropyLoss", "cross_entropy", "weight", "ignore_index", "reduction", "label_smoothing"
)
MSELoss = _module("MSELoss", "mse_loss", "reduction")
LeakyReLU = _module("LeakyReLU", "leaky_relu", negative_slope=0.01)
ELU = _module("ELU", "elu", alpha=1.0)
GLU = _module("GLU", "glu", dim=-1)
LogSoftmax = _module("LogSoftmax", "log_softmax", dim=None)
LogSigmoid = _module("LogSigmoid", "logsigmoid")
Softplus = _module("Softplus", "softplus", beta=1.0, threshold=20.0)
NLLLoss = _module("NLLLoss", "nll_loss")
BCELoss = _module("BCELoss", "binary_cross_entropy")
BCEWithLogitsLoss = _module("BCEWithLogitsLoss", "binary_cross_entropy_with_logits")
KLDivLoss = _module("KLDivLoss", "kl_div")
L1Loss = _module("L1Loss", "l1_loss")
SmoothL1Loss = _module("SmoothL1Loss", "smooth_l1_loss")
HuberLoss = _module("HuberLoss", "huber_loss")
