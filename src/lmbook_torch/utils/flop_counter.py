"""torch.utils.flop_counter."""

from ._python_dispatch import TorchDispatchMode

flop_registry: dict = {}


class FlopCounterMode(TorchDispatchMode):
    """Counts operations; not in a page."""
