"""Embeddings: the look-up of a vector for every token, and how such a table of vectors starts.

    x_t = E[w_t]          row w_t of the table E, (vocab, d_embed)

Every model of the book begins with this line. Ids that do not fit get an error that says what is wrong with them.
Shapes: B batch, T time, vocab, d_embed.
"""

import torch
from torch import Tensor, nn

from lmbook.protocol import check_input


def check_ids(ids: Tensor, vocab: int, dims: int = 2) -> None:
    """Raises ValueError unless ids are whole numbers in 0..vocab-1 of shape (B, T), or (B,) with dims=1.

    Raises TypeError where something else is given, such as a state. The values are checked on the CPU only: a GPU
    would have to stop and wait for the answer.
    """
    check_dims(ids, dims)
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(_unfit(ids, dims))
    if ids.device.type == "cpu" and ids.numel() and not torch.compiler.is_compiling():
        low, high = (int(end) for end in ids.aminmax())
        if low < 0 or high >= vocab:
            raise ValueError(
                f"tokens run from {low} to {high}; ids of this model run from 0 to {vocab - 1}: encode the text with "
                "the vocabulary the model was made for."
            )


def embed(embedding: nn.Embedding, tokens: Tensor, dims: int = 2) -> Tensor:
    """The row of the table for every id: (B, T, d_embed) for tokens (B, T), or with dims=1 (B, d_embed) for (B,).

    Raises as check_ids does.
    """
    check_dims(tokens, dims)
    try:
        return embedding(tokens)
    except (IndexError, RuntimeError):  # checked only where the look-up fails, not at every step of a training
        check_ids(tokens, embedding.num_embeddings, dims)
        raise


def check_dims(ids: Tensor, dims: int) -> None:
    """Raises ValueError unless ids are (B, T), or (B,) with dims=1, and TypeError unless they are a tensor."""
    check_input(ids)
    if ids.dim() != dims:
        raise ValueError(_unfit(ids, dims))


def _unfit(ids: Tensor, dims: int) -> str:
    return f"tokens are {ids.dtype} {tuple(ids.shape)}; they must be integer ids {'(B, T)' if dims == 2 else '(B,)'}."


def initialise_read(table: nn.Embedding, scale: float = 1.0) -> None:
    """Vectors of words that are read and nothing else: entries of variance 1 where they enter the network.

    So starts every translator of the book, recurrent or not. scale: the factor with which the table is read.
    """
    nn.init.normal_(table.weight, std=1 / scale)


def initialise_vocabulary(embedding: nn.Embedding, output: nn.Linear | None = None, tied: bool = False) -> None:
    """Embedding and output matrix uniform in [-0.1, 0.1], the output's bias 0: the first loss is near ln vocab.

    tied: the two are one matrix (Press and Wolf 2017). Raises ValueError where their widths then differ.
    """
    nn.init.uniform_(embedding.weight, -0.1, 0.1)
    if output is None:
        return
    nn.init.uniform_(output.weight, -0.1, 0.1)
    nn.init.zeros_(output.bias)
    if tied:
        d_embed, hidden = embedding.embedding_dim, output.in_features
        if d_embed != hidden:
            raise ValueError(f"tied=True shares E with the output, so d_embed ({d_embed}) must be hidden ({hidden}).")
        output.weight = embedding.weight
