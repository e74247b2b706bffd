"""LoRA: a matrix is left as it is, and a product of two thin ones is learned beside it  (Hu et al. 2022, eq. 3).

    y = W x + (alpha / r) B A x          W (d_out, d_in) frozen, A (r, d_in), B (d_out, r) learned, B = 0 at the start
    W <- W + (alpha / r) B A             merged: the model has its old form, and costs what it did before

r (d_in + d_out) numbers are learned in the place of d_in d_out.
"""

import math

import torch
from torch import Tensor, nn


class LoRA(nn.Module):
    """y = linear(x) + (alpha / r) B A x, of which A and B are trained. alpha is r by default, a factor of 1."""

    def __init__(self, linear: nn.Linear, r: int, alpha: float | None = None):
        super().__init__()
        if not 1 <= r <= min(linear.weight.shape):
            raise ValueError(f"rank {r} is not between 1 and {min(linear.weight.shape)}, the smaller side of W.")
        d_out, d_in = linear.weight.shape
        self.linear, self.scale = linear.requires_grad_(False), 1.0 if alpha is None else alpha / r
        self.A = nn.Parameter(linear.weight.new_empty(r, d_in).uniform_(-1, 1) * math.sqrt(1 / d_in))
        self.B = nn.Parameter(linear.weight.new_zeros(d_out, r))

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) + self.scale * (x @ self.A.T) @ self.B.T

    @property
    def weight(self) -> Tensor:
        """W + (alpha / r) B A."""
        return self.linear.weight + self.scale * self.B @ self.A

    def merged(self) -> nn.Linear:
        """The linear map with the product added to its matrix, to be trained or not as before."""
        with torch.no_grad():
            self.linear.weight += self.scale * self.B @ self.A
        return self.linear.requires_grad_(True)


def add_lora(model: nn.Module, r: int, alpha: float | None = None) -> nn.Module:
    """Freezes a model and puts a LoRA of rank r beside every linear map in it. Changes the model, and returns it."""
    model.requires_grad_(False)
    for name, part in list(model.named_children()):
        if isinstance(part, nn.Linear):
            setattr(model, name, LoRA(part, r, alpha))
        else:
            add_lora(part, r, alpha)
    return model


def merge(model: nn.Module) -> nn.Module:
    """Merges every LoRA of a model into its matrix; all weights can be trained again. Returns the model."""
    for name, part in list(model.named_children()):
        if isinstance(part, LoRA):
            setattr(model, name, part.merged())
        else:
            merge(part)
    return model.requires_grad_(True)
