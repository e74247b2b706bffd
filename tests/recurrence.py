"""What the tests of recurrent layers and of the models made of them share."""

import pytest
import torch
from torch import nn

from lmbook.cells import CELLS

B, T, D_IN, HIDDEN = 4, 7, 3, 5
LENGTHS = torch.tensor([7, 4, 1, 6])
MASK = torch.arange(T) < LENGTHS[:, None]

kinds = pytest.mark.parametrize("cell", CELLS)
directions = pytest.mark.parametrize("bidirectional", [False, True], ids=["one direction", "two directions"])


def randomised(network: nn.Module) -> nn.Module:
    """In float64, with every parameter, biases too, away from 0."""
    for parameter in network.parameters():
        nn.init.normal_(parameter, std=0.5)
    return network.double()


def flat(state) -> list[torch.Tensor]:
    return [part for layer in state for part in layer]
