"""torch.utils: names that the book's laboratory imports; a page counts no FLOPs by them."""

from ..errors import missing
from . import _python_dispatch, flop_counter  # noqa: F401

__getattr__ = missing("torch.utils")
