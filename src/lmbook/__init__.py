"""lmbook: the code of the book *From the Chain Rule to Transformers*."""

from importlib.metadata import PackageNotFoundError, version

from lmbook.runtime import device, glue, scale, seed

try:
    __version__ = version("lmbook")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__", "device", "glue", "scale", "seed"]
