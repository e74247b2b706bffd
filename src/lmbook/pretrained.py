"""What GPT and BERT share: how weights start, which ids fit, and how published weights get our names."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

# Their name: our names, which share it in equal parts along the first axis; True where theirs is the transpose.
Names = Mapping[str, tuple[Sequence[str], bool]]


def initialise(module: nn.Module) -> None:
    """Weights of a linear map or a table normal with standard deviation 0.02, biases 0; for nn.Module.apply.

    So start GPT-2 and BERT (Radford et al. 2019, Devlin et al. 2019); LayerNorm keeps its gains 1 and biases 0.
    """
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def check_tokens(tokens: Tensor, vocab: int, window: int) -> None:
    """Raises ValueError unless tokens are (B, T) ids in 0..vocab-1 with T <= window.

    The values are looked at on the CPU only: a GPU would have to stop and wait for the answer.
    """
    if tokens.dim() != 2 or tokens.is_floating_point():
        raise ValueError(f"tokens are {tokens.dtype} {tuple(tokens.shape)}; give whole numbers (B, T).")
    if tokens.shape[1] > window:
        raise ValueError(
            f"{tokens.shape[1]} tokens do not fit into the window of {window}: cut the text, or build a larger model."
        )
    if tokens.device.type == "cpu" and tokens.numel() and not torch.compiler.is_compiling():
        low, high = (int(end) for end in tokens.aminmax())
        if low < 0 or high >= vocab:
            raise ValueError(f"Token ids run {low}..{high}; this model knows 0..{vocab - 1}.")


def missing_names(weights: Mapping[str, Tensor], names: Sequence[str]) -> None:
    """Raises ValueError where a name is not among the weights."""
    missing = [name for name in names if name not in weights]
    if missing:
        raise ValueError(f"The weights do not fit; missing: {_listed(missing)}.")


def default_heads(d_model: int) -> int:
    """d_model / 64: published GPT-2s and BERTs have heads of width 64. Raises ValueError where 64 does not divide."""
    if d_model % 64:
        raise ValueError(f"d_model is {d_model}, no multiple of 64, so n_heads cannot be guessed: give it.")
    return d_model // 64


@torch.no_grad()
def copy_weights(model: nn.Module, weights: Mapping[str, Tensor], names: Names) -> None:
    """Copies published weights into a model under its own names.

    Raises ValueError, and says which, where a name is missing, a name is not in the map, or a shape is another.
    """
    missing = [name for name in names if name not in weights]
    surplus = [name for name in weights if name not in names]
    if missing or surplus:
        parts = [f"missing: {_listed(missing)}"] * bool(missing) + [f"not known: {_listed(surplus)}"] * bool(surplus)
        raise ValueError(f"The weights do not fit; {'; '.join(parts)}.")
    parameters = dict(model.named_parameters(remove_duplicate=False))
    wrong = []
    for theirs, (ours, transposed) in names.items():
        weight = weights[theirs].T if transposed else weights[theirs]
        targets = [parameters[name] for name in ours]
        expected = (sum(p.shape[0] for p in targets), *targets[0].shape[1:])
        if weight.shape != expected:
            wanted = expected[::-1] if transposed else expected
            wrong.append(f"{theirs} is {tuple(weights[theirs].shape)}, expected {wanted}")
            continue
        for target, part in zip(targets, weight.chunk(len(targets)), strict=True):
            target.copy_(part)
    if wrong:
        raise ValueError(f"The weights do not fit; other shapes: {_listed(wrong)}.")


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
