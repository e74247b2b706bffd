"""lmbook: the code of the book *From the Chain Rule to Transformers*, one idea a file, named by the field's word.

    data            corpora, generated tasks, batches           figures        what moves on a page
    lab             how every number and weight was made        drawings       what stands still on it

The lesson itself is read in this order; each of its modules imports only from those before it:

    text counts ngram metrics networks protocol embeddings word2vec
    feedforward losses backprop autograd cells fused rnn rnn_models decode
    attention seq2seq positions layers transformer bert gpt vit moe scan modern scaling
    answers lora preferences reinforce evaluation serving retrieval plots

Nothing here knows how the book is printed (`lmbook_press`) or graded (`lmbook_grader`). In this file: what a chapter
asks of its machine, how it speaks to its reader, and how all three packages write a file.
"""

import contextlib
import os
import random
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

try:
    __version__ = version("lmbook")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

# The modules of the lesson, in the order in which a reader goes through them; tests/test_house.py holds it.
READING_ORDER = (
    "text", "counts", "ngram", "metrics", "networks", "protocol", "embeddings", "word2vec",
    "feedforward", "losses", "backprop", "autograd", "cells", "fused", "rnn", "rnn_models", "decode",
    "attention", "seq2seq", "positions", "layers", "transformer", "bert", "gpt", "vit", "moe", "scan", "modern",
    "scaling", "answers", "lora", "preferences", "reinforce", "evaluation", "serving", "retrieval", "plots",
)  # fmt: skip

__all__ = ["READING_ORDER", "__version__", "device", "glue", "say", "seed", "write"]


def device() -> str:
    """The device a chapter trains on: "cuda" where torch sees a GPU, "mps" where it sees one of Apple's, else "cpu"."""
    import torch  # kept out of the module's head: chapters without a network start two seconds sooner

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def seed(number: int = 0) -> None:
    """Seeds Python, NumPy's old interface and torch, so that a chapter run twice prints the same numbers."""
    import numpy as np
    import torch

    random.seed(number)
    np.random.seed(number)  # noqa: NPY002 (libraries a reader adds may still use it)
    torch.manual_seed(number)


def glue(name: str, value: object) -> None:
    """Stores a value in the cell's output, for the text to show with {glue:text}`name`.

    A float is rounded to seven digits: the last bits of a double differ between processors.  The form is myst-nb's own,
    written without myst-nb, which Colab does not have.
    """
    from IPython.display import display

    if hasattr(value, "item"):  # a NumPy or torch scalar would print its type
        value = value.item()
    if isinstance(value, float):
        value = float(f"{value:.7g}")
    mime_prefix = "application/papermill.record/"
    bundle = {mime_prefix + "text/plain": repr(value)}
    display(bundle, raw=True, metadata={"scrapbook": {"name": name, "mime_prefix": mime_prefix}})


def say(line: str) -> None:
    """One line for the reader, on stderr."""
    print(f"lmbook: {line}", file=sys.stderr)


def write(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all: beside its place first, then moved there in one step. Raises OSError.

    Text is written as UTF-8. Several processes may write one file at once: each has a temporary file of its own.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with open(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(handle)  # or a power cut after the move could leave an empty file
        os.chmod(part, 0o644)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
