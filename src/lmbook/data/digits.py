"""Images of digits as sequences of pixels, for a GPT to predict: one token a pixel.

    <class> p_1 p_2 .. p_HW         grey quantised to a few levels, pixels in a chosen order

Images are (B, height, width), grey values from 0 to `maximum`: 16 in the 8 x 8 digits of scikit-learn.
"""

import numpy as np
import torch
from torch import Tensor

from lmbook.text import SPECIALS

ORDERS = ("raster", "columns", "serpentine", "spiral")


def digits() -> tuple[Tensor, Tensor]:
    """The digits of scikit-learn: images (1797, 8, 8), float32 with whole values 0..16, and labels (1797,), 0..9."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("The digits come with scikit-learn, which is missing: pip install scikit-learn.") from error
    data = load_digits()
    return torch.tensor(data.images, dtype=torch.float32), torch.tensor(data.target, dtype=torch.int64)


def to_levels(images: Tensor, levels: int, maximum: float = 16.0) -> Tensor:
    """The nearest of `levels` evenly spaced greys, 0..maximum: int64 numbers 0..levels-1 of the same shape.

    With 17 levels the digits lose nothing. Raises ValueError for a grey outside 0..maximum.
    """
    _check_levels(levels)
    if not ((images >= 0) & (images <= maximum)).all():  # false for NaN as well
        raise ValueError(f"images hold greys outside 0..{maximum:g}; scale them, or give their maximum.")
    return torch.floor(images / maximum * (levels - 1) + 0.5).long()


def from_levels(numbers: Tensor, levels: int, maximum: float = 16.0) -> Tensor:
    """The greys of level numbers, float32: to_levels(from_levels(q)) is q."""
    _check_levels(levels)
    return numbers.to(torch.float32) * maximum / (levels - 1)


def _check_levels(levels: int) -> None:
    if levels < 2:
        raise ValueError(f"levels is {levels}; an image needs at least 2.")


def pixel_order(name: str, height: int, width: int) -> Tensor:
    """The order in which pixels are read: (height * width,) indices into the image laid out row by row.

    raster: row by row.  columns: column by column.  serpentine: row by row, every second row from right to left.
    spiral: from the upper left corner clockwise inwards. In the last two, neighbours in the sequence touch.
    """
    grid = np.arange(height * width).reshape(height, width)
    if name == "raster":
        order = grid.ravel()
    elif name == "columns":
        order = grid.T.ravel()
    elif name == "serpentine":
        grid[1::2] = grid[1::2, ::-1]
        order = grid.ravel()
    elif name == "spiral":
        rings = []
        while grid.size:
            rings.append(grid[0])
            grid = np.rot90(grid[1:])  # the next side of the ring becomes the upper row
        order = np.concatenate([*rings, np.array([], dtype=np.int64)])
    else:
        raise ValueError(f"order is {name!r}; choose one of {', '.join(ORDERS)}.")
    return torch.tensor(order.copy(), dtype=torch.int64)


class PixelCodec:
    """Images with labels to sequences of ids <class> p_1 .. p_HW, and back.

    The special tokens of lmbook.text keep their ids, though none occurs here; grey level l has id 5 + l and class c has
    id 5 + levels + c. The class stands in front, so that a model can be asked for a digit. `forbid` lists the ids that
    cannot follow it, all but the greys, for lmbook.decode (with eos=None: no id ends an image). `window` is the number
    of tokens that a model reads, height * width: all but the last pixel.
    """

    def __init__(
        self, height: int = 8, width: int = 8, levels: int = 17, classes: int = 10, order: str = "raster", maximum=16.0
    ):
        _check_levels(levels)
        self.height, self.width, self.levels, self.classes, self.maximum = height, width, levels, classes, maximum
        self.order = pixel_order(order, height, width)
        self.first_level = len(SPECIALS)
        self.first_class = self.first_level + levels
        self.vocab = self.first_class + classes
        self.window = height * width
        self.forbid = [*range(self.first_level), *range(self.first_class, self.vocab)]

    def encode(self, images: Tensor, labels: Tensor) -> Tensor:
        """images: (B, height, width).  labels: (B,) in 0..classes-1.  Returns ids (B, 1 + height * width), int64."""
        if images.ndim != 3 or images.shape[1:] != (self.height, self.width):
            raise ValueError(f"images are {tuple(images.shape)}; this codec reads (B, {self.height}, {self.width}).")
        if labels.shape != images.shape[:1]:
            raise ValueError(f"labels are {tuple(labels.shape)}; give one to each of the {len(images)} images.")
        pixels = to_levels(images, self.levels, self.maximum).flatten(1)[:, self.order]
        return torch.cat([self.class_tokens(labels)[:, None], pixels + self.first_level], dim=1)

    def class_tokens(self, labels: Tensor) -> Tensor:
        """The ids that stand in front of an image of each label: (B,) to (B,)."""
        if not ((labels >= 0) & (labels < self.classes)).all():
            raise ValueError(f"labels must lie in 0..{self.classes - 1}; they run {labels.min()}..{labels.max()}.")
        return labels + self.first_class

    def decode(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """ids: (B, 1 + height * width).  Returns the images (B, height, width), quantised greys, and labels (B,)."""
        if ids.ndim != 2 or ids.shape[1] != 1 + self.window:
            raise ValueError(f"ids are {tuple(ids.shape)}; give (B, {1 + self.window}): the class, then each pixel.")
        labels, numbers = ids[:, 0] - self.first_class, ids[:, 1:] - self.first_level
        if not ((labels >= 0) & (labels < self.classes)).all():
            raise ValueError("an id in the first column is no class; give the class token with the pixels.")
        if not ((numbers >= 0) & (numbers < self.levels)).all():
            raise ValueError("an id among the pixels is no grey level; sample with forbid=codec.forbid and eos=None.")
        images = torch.empty_like(numbers)
        images[:, self.order] = numbers
        return from_levels(images.view(-1, self.height, self.width), self.levels, self.maximum), labels
