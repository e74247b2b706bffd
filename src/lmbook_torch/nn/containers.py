"""Modules that hold modules."""

from collections.abc import Iterable, Iterator
from typing import Any

from .module import Module
from .parameter import Parameter


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
