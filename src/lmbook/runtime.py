"""What a chapter asks of its machine (scale, device, seed), and how it hands a number to the prose."""

import os
import random

SCALES = ("quick", "full")


def device() -> str:
    """The device a chapter trains on: "cuda" where torch sees a GPU, else "cpu"."""
    import torch  # kept out of the module's head: chapters without a network start two seconds sooner

    return "cuda" if torch.cuda.is_available() else "cpu"


def scale() -> str:
    """The size of the experiments: "quick" (two CPU cores, under two minutes a chapter) or "full" (one GPU).

    The variable LMBOOK_SCALE decides; without it, a GPU means "full".
    Raises ValueError for a scale that does not exist.
    """
    asked = os.environ.get("LMBOOK_SCALE")
    if asked is None:
        return "full" if device() == "cuda" else "quick"
    if asked not in SCALES:
        raise ValueError(f"LMBOOK_SCALE is {asked!r}; set it to one of {', '.join(SCALES)}, or unset it.")
    return asked


def seed(number: int = 0) -> None:
    """Seeds Python, NumPy's old interface and torch, so that a chapter run twice prints the same numbers."""
    import numpy as np
    import torch

    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 (libraries a reader adds may still use it)
    torch.manual_seed(number)


def glue(name: str, value: object) -> None:
    """Stores a value in the cell's output, for the text to show with {glue:text}`name`.

    It is myst-nb's own format, written without myst-nb, which Colab does not have.
    """
    from IPython.display import display

    if hasattr(value, "item"):  # a NumPy or torch scalar would print its type
        value = value.item()
    mime_prefix = "application/papermill.record/"
    bundle = {mime_prefix + "text/plain": repr(value)}
    display(bundle, raw=True, metadata={"scrapbook": {"name": name, "mime_prefix": mime_prefix}})
