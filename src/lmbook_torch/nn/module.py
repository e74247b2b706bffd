"""nn.Module: parameters, buffers and modules by name."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

from .. import dtypes
from ..errors import NotCovered
from ..modes import no_grad
from ..tensor import Tensor
from .found import Handle, Keys
from .parameter import Parameter


class Module:
    """As in PyTorch. What is set as an attribute is found by its kind."""

    training: bool
    _version = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        for name, value in (
            ("_parameters", {}),
            ("_buffers", {}),
            ("_modules", {}),
            ("_passing", set()),
            ("_hooks", {}),
        ):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "training", True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        result = self.forward(*args, **kwargs)
        for hook in list(self._hooks.values()):
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        if isinstance(value, Parameter | Module) and "_parameters" not in held:
            kind = "parameters" if isinstance(value, Parameter) else "module"
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if isinstance(value, Parameter):
            self._forget(name)
            self._parameters[name] = value
        elif isinstance(value, Module):
            self._forget(name)
            self._modules[name] = value
        elif name in held.get("_parameters", ()):
            if value is not None:
                kind = type(value)
                title = f"torch.{kind.__name__}" if kind is Tensor else kind.__name__
                raise TypeError(f"cannot assign '{title}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            self._parameters[name] = None
        elif name in held.get("_buffers", ()) and (value is None or isinstance(value, Tensor)):
            self._buffers[name] = value
        else:
            object.__setattr__(self, name, value)

    def _forget(self, name: str) -> None:
        self.__dict__.pop(name, None)
        for held in (self._parameters, self._buffers, self._modules):
            held.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(kind, ()):
                return self.__dict__[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name: str) -> None:
        if any(name in held for held in (self._parameters, self._buffers, self._modules)):
            self._forget(name)
        else:
            object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        self._buffers[name] = tensor
        if not persistent:
            self._passing.add(name)

    def register_module(self, name: str, module: "Module | None") -> None:
        self._modules[name] = module

    add_module = register_module

    def register_forward_hook(self, hook: Callable, **options: Any) -> "Handle":
        if options:
            raise NotCovered("options of register_forward_hook")
        handle = Handle(self._hooks)
        self._hooks[id(handle)] = hook
        return handle

    def get_submodule(self, target: str) -> "Module":
        found = self
        for part in filter(None, target.split(".")):
            found = getattr(found, part)
        return found

    def get_parameter(self, target: str) -> Parameter:
        module, _, name = target.rpartition(".")
        return getattr(self.get_submodule(module), name)

    # All of them

    def named_modules(self, memo: set | None = None, prefix: str = "") -> Iterator[tuple[str, "Module"]]:
        memo = set() if memo is None else memo
        if self not in memo:
            memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self) -> Iterator["Module"]:
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        return ((name, module) for name, module in self._modules.items() if module is not None)

    def children(self) -> Iterator["Module"]:
        return (module for _, module in self.named_children())

    def _named(self, kind: str, prefix: str, recurse: bool, once: bool = True) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for path, module in self.named_modules(prefix=prefix) if recurse else [(prefix, self)]:
            for name, value in getattr(module, kind).items():
                if value is not None and not (once and id(value) in seen):
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        return (value for _, value in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        return self._named("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        return (value for _, value in self.named_buffers(recurse=recurse))

    def state_dict(self, *, prefix: str = "", keep_vars: bool = False) -> OrderedDict:
        found: OrderedDict = OrderedDict()
        for name, value in [*self._parameters.items(), *self._buffers.items()]:
            if value is not None and name not in self._passing:
                found[prefix + name] = value if keep_vars else value.detach()
        for name, module in self.named_children():
            found.update(module.state_dict(prefix=f"{prefix}{name}.", keep_vars=keep_vars))
        return found

    def load_state_dict(self, state_dict: dict, strict: bool = True, assign: bool = False) -> Any:
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        wrong = []
        if strict and unexpected:
            wrong.append("Unexpected key(s) in state_dict: " + ", ".join(f'"{name}"' for name in unexpected) + ". ")
        if strict and missing:
            wrong.insert(0, "Missing key(s) in state_dict: " + ", ".join(f'"{name}"' for name in missing) + ". ")
        with no_grad():
            for name, value in own.items():
                if name not in state_dict:
                    continue
                if state_dict[name].shape != value.shape:
                    wrong.append(
                        f"size mismatch for {name}: copying a param with shape {state_dict[name].shape} from checkpoint, "
                        f"the shape in current model is {value.shape}."
                    )
                else:
                    value.copy_(state_dict[name])
        if wrong:
            lines = "".join(f"\n\t{line}" for line in wrong)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:{lines}")
        return Keys(missing, unexpected)

    # Changes

    def train(self, mode: bool = True) -> "Module":
        for module in self.modules():
            object.__setattr__(module, "training", mode)
        return self

    def eval(self) -> "Module":
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        for value in self.parameters():
            value.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        for value in self.parameters():
            value.grad = None

    def apply(self, function: Callable[["Module"], Any]) -> "Module":
        for module in self.children():
            module.apply(function)
        function(self)
        return self

    def to(self, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> "Module":
        for one in args:
            if isinstance(one, dtypes.dtype):
                dtype = one
            elif isinstance(one, Tensor):
                dtype = one.dtype
            else:
                device = one
        dtypes.on(device)
        for module in self.modules() if dtype is not None else ():
            for held in (module._parameters, module._buffers):
                for value in held.values():
                    if value is not None and value._a.dtype.kind == "f":
                        value._a = value._a.astype(dtype.to_numpy())
        return self

    def double(self) -> "Module":
        return self.to(dtypes.float64)

    def float(self) -> "Module":
        return self.to(dtypes.float32)

    def cpu(self) -> "Module":
        return self

    def extra_repr(self) -> str:
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        inner = [f"({name}): " + repr(module).replace("\n", "\n  ") for name, module in self._modules.items()]
        lines += inner
        if not lines:
            return f"{self._get_name()}()"
        if len(lines) == 1 and not inner:
            return f"{self._get_name()}({lines[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"
