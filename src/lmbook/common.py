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


def check_ids(ids: Tensor, vocab: int, shape: str = "(B, T)") -> None:
    """Raises ValueError unless ids are whole numbers of this shape, (B, T) or (B,), in 0..vocab-1.

    The values are looked at on the CPU only: a GPU would have to stop and wait for the answer.
    """
    if ids.dim() != len(shape.strip("(),").split(",")) or ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens are {ids.dtype} {tuple(ids.shape)}; they must be integer ids {shape}.")
    if ids.device.type == "cpu" and ids.numel() and not torch.compiler.is_compiling():
        low, high = (int(end) for end in ids.aminmax())
        if low < 0 or high >= vocab:
            raise ValueError(
                f"tokens run from {low} to {high}; ids of this model run from 0 to {vocab - 1}: encode the text with "
                "the vocabulary the model was made for."
            )


def check_tokens(tokens: Tensor, vocab: int, window: int) -> None:
    """check_ids for tokens (B, T), and ValueError where T is above the window."""
    check_ids(tokens, vocab)
    if tokens.shape[1] > window:
        raise ValueError(
            f"{tokens.shape[1]} tokens do not fit into the window of {window}: cut the text, or build a larger model."
        )


def embed(embedding: nn.Embedding, tokens: Tensor, shape: str = "(B, T)") -> Tensor:
    """The rows of E, with an error that says what is wrong with the ids; shape as of check_ids."""
    check_ids(tokens, embedding.num_embeddings, shape)
    return embedding(tokens)
