"""The modules of torch.nn that the book uses, but for recurrent ones."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from .. import dtypes, make
from ..errors import NotCovered
from ..tensor import Tensor
from . import functional as F
from . import init
from .module import Module
from .parameter import Parameter


def fresh(*shape: int, dtype: Any = None) -> Parameter:
    return Parameter(make.empty(shape, dtype=dtype))


class Linear(Module):
    """y = x W^T + b."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        dtypes.on(device)
        self.in_features, self.out_features = in_features, out_features
        self.weight = fresh(out_features, in_features, dtype=dtype)
        self.register_parameter("bias", fresh(out_features, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """Rows of a matrix by their numbers."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        _weight: Any = None,
        dtype: Any = None,
        device: Any = None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = padding_idx if padding_idx is None or padding_idx >= 0 else num_embeddings + padding_idx
        self.weight = fresh(num_embeddings, embedding_dim, dtype=dtype) if _weight is None else Parameter(_weight)
        if _weight is None:
            self.reset_parameters()

    def reset_parameters(self) -> None:
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx] = 0

    @classmethod
    def from_pretrained(cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None) -> "Embedding":
        made = cls(*embeddings.shape, padding_idx=padding_idx, _weight=embeddings)
        made.weight.requires_grad = not freeze
        return made

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self) -> str:
        end = f", padding_idx={self.padding_idx}" if self.padding_idx is not None else ""
        return f"{self.num_embeddings}, {self.embedding_dim}{end}"


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        dtype: Any = None,
        device: Any = None,
    ):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", Parameter(make.ones(shape, dtype=dtype)) if elementwise_affine else None)
        self.register_parameter(
            "bias", Parameter(make.zeros(shape, dtype=dtype)) if elementwise_affine and bias else None
        )

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"


class RMSNorm(Module):
    """Mean of squares 1 over the last dimensions."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        dtype: Any = None,
        device: Any = None,
    ):
        super().__init__()
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        ones = Parameter(make.ones(self.normalized_shape, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", ones)

    def forward(self, input: Tensor) -> Tensor:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class Dropout(Module):
    """Zeros by chance while the module is trained."""

    def __init__(self, p: float = 0.5, inplace: bool = False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Identity(Module):
    """What comes in goes out."""

    def forward(self, input: Tensor) -> Tensor:
        return input


class Conv2d(Module):
    """Filters over pictures."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        bias: bool = True,
    ):
        super().__init__()
        h, w = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, (h, w)
        self.stride, self.padding = ((n, n) if isinstance(n, int) else n for n in (stride, padding))
        self.weight = fresh(out_channels, in_channels, h, w)
        self.register_parameter("bias", fresh(out_channels) if bias else None)
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if bias:
            bound = 1 / math.sqrt(in_channels * h * w)
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        text += f", padding={self.padding}" if self.padding != (0, 0) else ""
        return text + (", bias=False" if self.bias is None else "")


class MaxPool2d(Module):
    """The largest of each square."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0):
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, kernel_size if stride is None else stride, padding

    def forward(self, input: Tensor) -> Tensor:
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation=1, ceil_mode=False"
        )


class Flatten(Module):
    """All dimensions from one on as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class ReLU(Module):
    """max(x, 0)."""

    def __init__(self, inplace: bool = False):
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input)


class Tanh(Module):
    """tanh x."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Sigmoid(Module):
    """sigma(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class SiLU(Module):
    """x sigma(x)."""

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input)


class GELU(Module):
    """x Phi(x)."""

    def __init__(self, approximate: str = "none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


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


class CrossEntropyLoss(Module):
    """F.cross_entropy."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ):
        super().__init__()
        self.options = (weight, ignore_index, reduction, label_smoothing)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(input, target, *self.options)


class MSELoss(Module):
    """F.mse_loss."""

    def __init__(self, reduction: str = "mean"):
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, self.reduction)


class Sequential(Module):
    """One after the other."""

    def __init__(self, *modules: Any):
        super().__init__()
        pairs = modules[0].items() if len(modules) == 1 and isinstance(modules[0], dict) else enumerate(modules)
        for name, module in pairs:
            self.register_module(str(name), module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        held = list(self._modules.items())
        return type(self)(dict(held[index])) if isinstance(index, slice) else held[index][1]

    def append(self, module: Module) -> "Sequential":
        self.register_module(str(len(self)), module)
        return self

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules: Iterable[Module] | None = None):
        super().__init__()
        self.extend(modules or [])

    def append(self, module: Module) -> "ModuleList":
        self.register_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        for module in modules:
            self.append(module)
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, index: Any) -> Any:
        found = list(self._modules.values())[index]
        return type(self)(found) if isinstance(index, slice) else found

    def __setitem__(self, index: int, module: Module) -> None:
        self._modules[str(range(len(self))[index])] = module

    def __repr__(self) -> str:
        lines, held = [], list(self._modules.values())
        start = 0
        for i, module in enumerate(held):
            if i + 1 == len(held) or repr(held[i + 1]) != repr(module):
                text = repr(module).replace("\n", "\n  ")
                lines.append(f"({start}): {text}" if start == i else f"({start}-{i}): {i - start + 1} x {text}")
                start = i + 1
        return "ModuleList(\n  " + "\n  ".join(lines) + "\n)" if lines else "ModuleList()"


class ModuleDict(Module):
    """Modules by name."""

    def __init__(self, modules: dict[str, Module] | None = None):
        super().__init__()
        for name, module in (modules or {}).items():
            self.register_module(name, module)

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.register_module(name, module)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values: Iterable[Any] | None = None):
        super().__init__()
        for i, value in enumerate(values or []):
            self.register_parameter(str(i), value if isinstance(value, Parameter) else Parameter(value))

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())

    def __getitem__(self, index: int) -> Parameter:
        return list(self._parameters.values())[index]
