"""Whether operations are recorded for gradients."""

import functools
from collections.abc import Callable
from typing import Any


class Mode:
    """Whether operations are recorded; a context and a decorator."""

    now = True

    def __init__(self, wanted: bool = False):
        self.wanted, self.before = wanted, []

    def __enter__(self) -> None:
        self.before.append(Mode.now)
        Mode.now = self.wanted

    def __exit__(self, *error: object) -> None:
        Mode.now = self.before.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def within(*args, **kwargs):
            with Mode(self.wanted):
                return function(*args, **kwargs)

        return within


class Switch(Mode):
    """As a decorator with brackets and without."""

    def __new__(cls, function: Any = None) -> Any:
        return cls()(function) if callable(function) else super().__new__(cls)


class no_grad(Switch):
    """Nothing is recorded."""

    def __init__(self) -> None:
        super().__init__(False)


class inference_mode(Switch):
    """The same, here."""

    def __init__(self, mode: bool = True):
        super().__init__(not mode)


class enable_grad(Switch):
    """Operations are recorded again."""

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(Mode):
    """Sets it at once; as a context, until its end."""

    def __init__(self, mode: bool):
        super().__init__(mode)
        self.before.append(Mode.now)
        Mode.now = mode

    def __enter__(self) -> None:
        pass


def is_grad_enabled() -> bool:
    return Mode.now
