"""An image as a sequence of patches, which an encoder reads (Dosovitskiy et al. 2021).

    x_n = W patch_n + b + pos_n         one vector per patch, as a word has one embedding

Images are (B, height, width).  Shapes: B batch, N patches, d_model width of the model.
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.layers import Encoder, FeedForward, initialise


def to_patches(images: Tensor, size: int) -> Tensor:
    """Cuts images (B, height, width) into square patches (B, N, size * size), row by row, as are the pixels in each.

    N = (height / size) (width / size). Raises ValueError unless size divides both sides.
    """
    if images.ndim != 3:
        raise ValueError(f"images are {tuple(images.shape)}; give (B, height, width).")
    B, height, width = images.shape
    _check_size(height, width, size)
    cells = images.reshape(B, height // size, size, width // size, size)
    return cells.transpose(2, 3).reshape(B, height * width // size**2, size * size)


def from_patches(patches: Tensor, height: int, width: int) -> Tensor:
    """Puts patches (B, N, size * size) together again: (B, height, width)."""
    size = round(patches.shape[-1] ** 0.5)
    _check_size(height, width, size)
    if patches.shape[1:] != (height * width // size**2, size**2):
        raise ValueError(f"patches {tuple(patches.shape)} do not make images of {height} x {width}.")
    cells = patches.reshape(-1, height // size, width // size, size, size)
    return cells.transpose(2, 3).reshape(-1, height, width)


def _check_size(height: int, width: int, size: int) -> None:
    if size < 1 or height % size or width % size:
        raise ValueError(f"patches of {size} x {size} do not tile {height} x {width}; take a divisor of both sides.")


class PatchEmbedding(nn.Module):
    """x_n = W patch_n + b: one linear map for all patches, which is a convolution whose stride is its width.

    Returns (B, N, d_model) for images (B, height, width).
    """

    def __init__(self, size: int, d_model: int):
        super().__init__()
        self.size = size
        self.W = nn.Linear(size * size, d_model)

    def forward(self, images: Tensor) -> Tensor:
        return self.W(to_patches(images, self.size))


class PatchClassifier(nn.Module):
    """A vision Transformer for grey images (Dosovitskiy et al. 2021):

        X = [class; W patch_1 + b; ..; W patch_N + b] + P        H = encoder(X)        logits = W_c h_class + b_c

    The class vector and the positions P are learned; the encoder is BERT's stack in its pre-norm form, without a mask.
    Initialised as BERT, normal weights of standard deviation 0.02 and biases 0, but for W and b, which keep torch's
    default: patches are narrow, and a weight of 0.02 would leave them fainter than their positions.
    """

    def __init__(
        self,
        height: int,
        width: int,
        size: int,
        classes: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int | None = None,
        dropout: float = 0.0,
        maximum: float = 16.0,
        norm: str = "pre",
    ):
        super().__init__()
        _check_size(height, width, size)
        self.height, self.width, self.maximum = height, width, maximum
        self.class_vector = nn.Parameter(torch.randn(d_model) * 0.02)
        self.position = nn.Embedding(1 + height * width // size**2, d_model)
        self.dropout = nn.Dropout(dropout)
        d_ff = 4 * d_model if d_ff is None else d_ff
        self.encoder = Encoder(
            n_layers, d_model, n_heads, d_ff, norm, dropout, ffn=partial(FeedForward, activation=F.gelu)
        )
        self.output = nn.Linear(d_model, classes)
        self.apply(initialise)
        self.patch = PatchEmbedding(size, d_model)

    def forward(self, images: Tensor, need_weights: bool = False) -> Tensor | tuple[Tensor, list[Tensor]]:
        """images: (B, height, width), greys 0..maximum.  Returns logits (B, classes), and with need_weights the
        attention weights of each layer, (B, n_heads, 1 + N, 1 + N).
        """
        if images.ndim != 3 or images.shape[1:] != (self.height, self.width):
            raise ValueError(f"images are {tuple(images.shape)}; this model reads (B, {self.height}, {self.width}).")
        x = self.patch(images / self.maximum)
        x = torch.cat([self.class_vector.expand(len(x), 1, -1), x], dim=1)
        h, weights = self.encoder(self.dropout(x + self.position.weight), need_weights=need_weights)
        logits = self.output(h[:, 0])
        return (logits, weights) if need_weights else logits
