"""Two operations on pictures."""

import math

import numpy as np

from ..elementwise import wrap
from ..engine import node
from ..errors import NotCovered


def pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Cross-correlation of pictures (B, C, H, W) with filters (D, C, h, w)."""
    if pair(dilation) != (1, 1) or groups != 1 or isinstance(padding, str):
        raise NotCovered("conv2d with dilation, groups or named padding")
    (up, left), (down, right) = pair(padding), pair(stride)
    x = np.pad(input._a, ((0, 0), (0, 0), (up, up), (left, left)))
    h, w = weight._a.shape[2:]
    if x.shape[1] != weight._a.shape[1]:
        raise RuntimeError(
            f"Given groups=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.shape[1]} channels, but got {x.shape[1]} channels instead"
        )
    patches = np.lib.stride_tricks.sliding_window_view(x, (h, w), (2, 3))[:, :, ::down, ::right]
    rows, columns = patches.shape[2:4]
    flat = patches.transpose(0, 2, 3, 1, 4, 5).reshape(-1, math.prod(weight._a.shape[1:]))
    filters = weight._a.reshape(len(weight._a), -1)
    y = (flat @ filters.T).reshape(len(x), rows, columns, -1).transpose(0, 3, 1, 2)
    y = y if bias is None else y + bias._a[:, None, None]

    def back(g):
        each = (g.transpose(0, 2, 3, 1).reshape(-1, len(filters)) @ filters).reshape(len(x), rows, columns, -1, h, w)
        whole = np.zeros_like(x)
        for i in range(h):
            for j in range(w):
                place = (
                    slice(None),
                    slice(None),
                    slice(i, i + rows * down, down),
                    slice(j, j + columns * right, right),
                )
                whole[place] += each[..., i, j].transpose(0, 3, 1, 2)
        return whole[:, :, up : whole.shape[2] - up, left : whole.shape[3] - left]

    def back_filters(g):
        return (g.transpose(0, 2, 3, 1).reshape(-1, len(filters)).T @ flat).reshape(weight._a.shape)

    edges = [(input, back), (weight, back_filters)] + ([] if bias is None else [(bias, lambda g: g.sum((0, 2, 3)))])
    return node("ConvolutionBackward0", wrap(np.ascontiguousarray(y)), edges, [input, weight])


def max_pool2d(input, kernel_size, stride=None, padding=0):
    """The largest of each square of pixels, where squares do not overlap."""
    h, w = pair(kernel_size)
    if padding or (stride is not None and pair(stride) != (h, w)):
        raise NotCovered("max_pool2d with padding, or with squares that overlap")
    b, c, rows, columns = input._a.shape
    cut = input._a[:, :, : rows // h * h, : columns // w * w]
    squares = (
        cut.reshape(b, c, rows // h, h, columns // w, w)
        .transpose(0, 1, 2, 4, 3, 5)
        .reshape(b, c, rows // h, columns // w, h * w)
    )
    first = squares.argmax(-1)

    def back(g):
        each = np.zeros_like(squares)
        np.put_along_axis(each, first[..., None], g[..., None], -1)
        whole = np.zeros_like(input._a)
        whole[:, :, : cut.shape[2], : cut.shape[3]] = (
            each.reshape(b, c, rows // h, columns // w, h, w).transpose(0, 1, 2, 4, 3, 5).reshape(cut.shape)
        )
        return whole

    return node("MaxPool2DWithIndicesBackward0", wrap(squares.max(-1)), [(input, back)], [input])
