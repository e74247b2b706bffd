"""What a module's methods give back."""

from typing import Any


class Handle:
    """What takes a hook away."""

    def __init__(self, hooks: dict):
        self.hooks = hooks

    def remove(self) -> None:
        self.hooks.pop(id(self), None)

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


class Keys:
    """What load_state_dict() found missing and did not expect."""

    def __init__(self, missing_keys: list[str], unexpected_keys: list[str]):
        self.missing_keys, self.unexpected_keys = missing_keys, unexpected_keys

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"
