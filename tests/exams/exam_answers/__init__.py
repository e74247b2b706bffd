"""Answers of exam questions, computed another way: by torch, by the book's own functions, or by trying all cases.

A function here has the name of its question, takes the numbers that it drew, and asserts that the answers among them
are right.
"""

import numpy as np
import pytest
import torch

approx = pytest.approx


def floats(rows) -> torch.Tensor:
    return torch.tensor(np.array(rows, dtype=float))


def numbers(rows) -> list[float]:
    return floats(rows).flatten().tolist()


def close(found: torch.Tensor, wanted) -> bool:
    return found.flatten().tolist() == approx(numbers(wanted))
