"""What scale buys: how the loss falls with parameters N, tokens D and operations C, and rates that survive a new width.

C = 6 N D                              2 a weight and token forward, twice as many backward  (Kaplan et al. 2020)
L(N_opt, C)                            the lowest of a parabola in ln N, at fixed C          (Hoffmann et al. 2022)
L = E + (C_0 / C)^alpha                a power law that falls to a floor E
muP                                    hidden matrices learn at rate 1 / width               (Yang et al. 2022)
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from lmbook.modern import ModernGPT


def weights_used(model: nn.Module) -> int:
    """N: the entries of all matrices, each of which multiplies once a token; a tied table as the output layer."""
    return sum(p.numel() for p in model.parameters() if p.dim() >= 2)


def tokens_for(C: float, N: int) -> int:
    """D = C / (6 N): how many tokens a model of N weights can be trained on with C operations."""
    if C <= 0 or N <= 0:
        raise ValueError(f"C is {C} and N is {N}; both must be positive.")
    return round(C / (6 * N))


def lowest(N: Sequence[float], loss: Sequence[float]) -> tuple[float, float]:
    """The lowest point (N_opt, loss) of the parabola in ln N through the losses of one budget, by least squares.

    Raises ValueError for fewer than three sizes, and where the parabola does not open upwards or its lowest point is
    outside the sizes: then the best size was not among those tried.
    """
    if len(N) < 3 or len(N) != len(loss):
        raise ValueError(f"{len(N)} sizes and {len(loss)} losses; a parabola needs three or more of each.")
    x = np.log(np.asarray(N, dtype=float))
    a, b, c = np.polyfit(x - x.mean(), loss, 2)
    best = -b / (2 * a) + x.mean() if a > 0 else np.inf
    if not x.min() <= best <= x.max():
        raise ValueError("no size between the smallest and the largest is the best at this budget; try other sizes.")
    return float(np.exp(best)), float(c - b * b / (4 * a))


def power_law(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """k and exponent p of y = k x^p, by least squares in the logarithms of both."""
    p, log_k = np.polyfit(np.log(x), np.log(y), 1)
    return float(np.exp(log_k)), float(p)


def mup(model: ModernGPT, base: int, rate: float) -> list[dict]:
    """Puts a ModernGPT under muP and returns the parameter groups of its Adam  (Yang et al. 2022, table 8).

    base: the width at which `rate` was found; there nothing changes. With m = d_model / base:
        embeddings      start as at the base width          rate
        hidden matrices start as they are, ~ 1/sqrt(d)      rate / m
        last norm       its gain starts at 1 / m            rate / m     (the output is tied: logits are divided by m)
        other vectors   start as they are                   rate
    The heads of every width must be equally wide, as otherwise their scores would have to be scaled as well.
    """
    m = model.embedding.embedding_dim / base
    with torch.no_grad():
        model.embedding.weight.mul_(m**0.5)  # ModernGPT starts with a deviation ~ 1 / sqrt(d_model)
        model.norm.get_parameter("weight").div_(m)
    hidden = [p for block in model.blocks for p in block.parameters() if p.dim() >= 2]
    slow = {id(p) for p in [*hidden, *model.norm.parameters()]}
    return [
        {"params": [p for p in model.parameters() if id(p) in slow], "lr": rate / m},
        {"params": [p for p in model.parameters() if id(p) not in slow], "lr": rate},
    ]
