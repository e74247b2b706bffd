"""A device that the test's machine need not have: tensors that say they are on a GPU, computed on the CPU.

    with elsewhere() as device:
        model.to(device)                      # works, and gives the numbers that the CPU gives
        model(torch.tensor([[5, 6]]))         # RuntimeError: tensors of two devices, as there

There are no 64-bit floats, as on an Apple GPU (TypeError), and a CPU tensor takes part only if it has no dimensions.
Unlike torch's fake tensors these have values, so that decoding and training, which look at some, go through whole.
It calls itself "meta", since torch asks every other for its driver.
"""

from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import torch
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only

COPY = torch.ops.aten.copy_.default


class Elsewhere(torch.Tensor):
    """A tensor that says it is on `place`; `here` holds its numbers."""

    place = torch.device("meta", 0)
    here: torch.Tensor

    @staticmethod
    def __new__(cls, here: torch.Tensor):
        if here.dtype in (torch.float64, torch.complex128):
            raise TypeError("this device has no 64-bit floats")
        made = torch.Tensor._make_wrapper_subclass(
            cls,
            here.shape,
            strides=here.stride(),
            storage_offset=here.storage_offset(),
            dtype=here.dtype,
            device=cls.place,
        )
        made.here = here
        return made

    def tolist(self):
        return self.here.tolist()

    def new_tensor(self, data, dtype=None):
        return Elsewhere(self.here.new_tensor(data, dtype=dtype))

    def __repr__(self):
        return f"Elsewhere({self.here})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


def _run(func, args, kwargs):
    leaves = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, torch.Tensor)]
    there = [isinstance(leaf, Elsewhere) for leaf in leaves]
    asked = kwargs.get("device")
    if (
        any(there)
        and func is not COPY
        and not all(far or leaf.dim() == 0 for far, leaf in zip(there, leaves, strict=True))
    ):
        raise RuntimeError(f"{func}: tensors of two devices")
    if asked is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    far = any(there) if asked is None else torch.device(asked).type == Elsewhere.place.type
    here = lambda tree: tree_map_only(Elsewhere, lambda leaf: leaf.here, tree)  # noqa: E731
    found = func(*here(args), **here(kwargs))
    if torch.Tag.inplace_view in func.tags and any(there):
        with no_dispatch():  # what the tensor itself says of its shape
            func(*args, **kwargs)
    if func is COPY:
        return args[0]
    if func._schema.is_mutable and leaves:  # in place: the tensor itself
        return args[0]
    return tree_map_only(torch.Tensor, Elsewhere, found) if far else found


class _Factories(TorchDispatchMode):
    """What makes tensors there out of none."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return _run(func, args, kwargs or {})


def _tensor(made, data, device=None, **options):
    """torch.tensor, which makes numbers of this name without values."""
    return made(data, **options) if device is None else made(data, **options).to(device)


@contextmanager
def elsewhere():
    """Inside, there is such a device."""
    torch.__future__.set_swap_module_params_on_conversion(True)  # .to() cannot change the kind of a tensor in place
    try:
        with patch("torch.tensor", partial(_tensor, torch.tensor)), _Factories():
            yield Elsewhere.place
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
