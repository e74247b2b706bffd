"""torch.utils._python_dispatch."""

from ..errors import NotCovered


class TorchDispatchMode:
    """A context that sees every operation; not in a page."""

    def __init__(self, *args, **kwargs):
        raise NotCovered("torch.utils._python_dispatch.TorchDispatchMode")
