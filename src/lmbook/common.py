"""What several models share: how weights start, and which ids a model can read."""

import torch
from torch import Tensor, nn


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


def embed(embedding: nn.Embedding, tokens: Tensor, shape: str = "(B, T)") -> Tensor:
    """The rows of E, with an error that says what is wrong with the ids (on a GPU their range is not looked at)."""
    if tokens.dim() != shape.count(",") + (shape != "(B,)") or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens are {tokens.dtype} {tuple(tokens.shape)}; they must be integer ids {shape}.")
    if (
        tokens.device.type == "cpu"
        and tokens.numel()
        and not 0 <= tokens.min() <= tokens.max() < embedding.num_embeddings
    ):
        raise ValueError(
            f"tokens run from {tokens.min()} to {tokens.max()}; ids of this model run from 0 to "
            f"{embedding.num_embeddings - 1}: encode the text with the vocabulary the model was made for."
        )
    return embedding(tokens)
