"""torch.nn.utils.rnn: sequences of different lengths in one batch."""

from collections import namedtuple

import numpy as np

from ...data import to_tensor
from ...elementwise import wrap
from ...errors import NotCovered, missing
from ...joins import cat, stack

__getattr__ = missing("torch.nn.utils.rnn")
_Packed = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(_Packed):
    """The numbers of all sequences, step after step, longest sequence first."""

    def __new__(cls, data, batch_sizes, sorted_indices=None, unsorted_indices=None):
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Sequences of different lengths as one tensor."""
    from ..functional import pad

    if padding_side != "right":
        raise NotCovered("pad_sequence on the left")
    given = list(sequences)
    longest = max(len(one) for one in given)
    wide = [pad(one, (*[0, 0] * (one.dim() - 1), 0, longest - len(one)), value=padding_value) for one in given]
    return stack(wide, 0 if batch_first else 1)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """What is there of a padded batch."""
    n = to_tensor(lengths)._a.astype(np.int64)
    if (n <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    order = None
    if not enforce_sorted:
        order = np.argsort(-n, kind="stable")
        n = n[order]
        input = input.index_select(0 if batch_first else 1, wrap(order.astype(np.int64)))
    elif (np.diff(n) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
            "not need ONNX exportability."
        )
    x = input.transpose(0, 1) if batch_first else input
    sizes = [int((n > t).sum()) for t in range(int(n[0]))]
    data = cat([x[t][:size] for t, size in enumerate(sizes)])
    back = None if order is None else wrap(np.argsort(order).astype(np.int64))
    return PackedSequence(
        data, wrap(np.array(sizes, np.int64)), None if order is None else wrap(order.astype(np.int64)), back
    )


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch again, and the lengths."""
    from ..functional import pad

    sizes = sequence.batch_sizes.tolist()
    lead = [0, 0] * (sequence.data.dim() - 1)
    steps = [
        pad(part, (*lead, 0, sizes[0] - n), value=padding_value)
        for part, n in zip(sequence.data.split(sizes), sizes, strict=True)
    ]
    out = stack(steps)
    if total_length is not None:
        out = pad(out, (*[0, 0] * (out.dim() - 1), 0, total_length - len(sizes)), value=padding_value)
    lengths = wrap(np.array([sum(size > i for size in sizes) for i in range(sizes[0])], np.int64))
    if sequence.unsorted_indices is not None:
        out, lengths = out.index_select(1, sequence.unsorted_indices), lengths[sequence.unsorted_indices]
    return (out.transpose(0, 1) if batch_first else out), lengths


def pack_sequence(sequences, enforce_sorted=True):
    """Packs sequences of different lengths."""
    return pack_padded_sequence(pad_sequence(sequences), [len(one) for one in sequences], enforce_sorted=enforce_sorted)
