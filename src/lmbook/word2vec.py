"""Word vectors: skip-gram with negative sampling (Mikolov, Sutskever, Chen, Corrado and Dean 2013).

A word c is asked which words o occur near it. Each word has two vectors, v as centre and u as context:

    J = -ln sigma(u_o . v_c) - sum_{k=1..K} ln sigma(-u_{n_k} . v_c)          (equation 4 of the paper, for one pair)

with n_1..n_K drawn from the noise distribution P_n(w), proportional to c(w)^{3/4}. Words that keep the same company get
like vectors v. Shapes: B pairs, K negative samples, vocab types, d_model width of a vector.
"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.nn.functional import logsigmoid


def pairs(ids: ArrayLike, window: int, rng: np.random.Generator | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All (centre, context) pairs of a stream whose places differ by 1 to `window`: two arrays of ids (P,).

    With rng the reach of each centre is drawn evenly from 1..window, so that near words count more, as in word2vec.
    """
    ids = np.asarray(ids)
    if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer) or len(ids) < 2 or window < 1:
        raise ValueError("pairs() wants one stream of at least two ids (whole numbers), and a window of at least 1.")
    reach = np.full(len(ids), window) if rng is None else rng.integers(1, window + 1, len(ids))
    centres, contexts = [], []
    for distance in range(1, min(window, len(ids) - 1) + 1):
        left, right = ids[:-distance], ids[distance:]
        looks_right, looks_left = reach[:-distance] >= distance, reach[distance:] >= distance
        centres += [left[looks_right], right[looks_left]]
        contexts += [right[looks_right], left[looks_left]]
    return np.concatenate(centres), np.concatenate(contexts)


def keep_probability(counts: ArrayLike, threshold: float = 1e-4) -> np.ndarray:
    """min(1, sqrt(t / f(w))), the chance that a token w stays (equation 5 of the paper), f its relative frequency.

    counts: (vocab,).  threshold: t.  `ids[rng.random(len(ids)) < keep_probability(counts)[ids]]` thins out a stream.
    """
    counts = _counts(counts)
    with np.errstate(divide="ignore"):
        return np.minimum(1, np.sqrt(threshold * counts.sum() / counts))


def noise_distribution(counts: ArrayLike, power: float = 0.75) -> Tensor:
    """P_n(w) = c(w)^power / sum_v c(v)^power; between relative frequency (1) and uniform (0).  counts: (vocab,).

    A type that never occurred has probability 0. Returns (vocab,) float64. Raises ValueError for counts below 0.
    """
    counts = _counts(counts)
    weights = np.where(counts > 0, counts, 1) ** power * (counts > 0)
    return torch.from_numpy(weights / weights.sum())


def _counts(counts: ArrayLike) -> np.ndarray:
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim != 1 or not (counts >= 0).all() or not counts.sum() > 0:
        raise ValueError("counts must be one number per type, none below 0 and not all 0; np.bincount(ids) makes them.")
    return counts


class SkipGram(nn.Module):
    """The two tables of vectors, v (vocab, d_model) and u (vocab, d_model); v is what is used afterwards.

    v is drawn evenly from -1/(2 d_model) to 1/(2 d_model) and u is 0, as in the authors' word2vec: every inner product
    starts as 0, and J as (1 + K) ln 2.
    """

    def __init__(self, vocab: int, d_model: int):
        super().__init__()
        if min(vocab, d_model) < 1:
            raise ValueError(f"vocab is {vocab} and d_model is {d_model}; both must be at least 1.")
        self.v, self.u = nn.Embedding(vocab, d_model), nn.Embedding(vocab, d_model)
        nn.init.uniform_(self.v.weight, -0.5 / d_model, 0.5 / d_model)
        nn.init.zeros_(self.u.weight)

    def forward(self, centre: Tensor, context: Tensor, negatives: Tensor) -> Tensor:
        """J of every pair.  centre, context: (B,) ids.  negatives: (B, K) ids.  Returns (B,), in nats."""
        if centre.shape != context.shape or centre.ndim != 1 or negatives.ndim != 2 or len(negatives) != len(centre):
            shapes = ", ".join(str(tuple(ids.shape)) for ids in (centre, context, negatives))
            raise ValueError(f"centre, context and negatives must be (B,), (B,) and (B, K); they are {shapes}.")
        v_c, u_o, u_n = self.v(centre), self.u(context), self.u(negatives)  # (B, d_model) twice, (B, K, d_model)
        positive = (u_o * v_c).sum(-1)
        negative = (u_n @ v_c.unsqueeze(-1)).squeeze(-1)  # (B, K)
        return -logsigmoid(positive) - logsigmoid(-negative).sum(-1)


def train(
    model: SkipGram,
    ids: ArrayLike,
    steps: int,
    window: int = 5,
    K: int = 5,
    batch: int = 1024,
    lr: float = 0.01,
    seed: int = 0,
) -> Iterator[float]:
    """Adam on the pairs of a stream, drawn at random with replacement; yields the mean J of each of `steps` batches.

    The noise distribution is that of the stream. Nothing happens until the losses are asked for, as by list(...).
    Raises ValueError for ids that the model does not know.
    """
    rng = np.random.default_rng(seed)
    generator = torch.Generator().manual_seed(seed)
    device = model.v.weight.device
    centres, contexts = (torch.from_numpy(side) for side in pairs(ids, window, rng))
    counts = np.bincount(ids, minlength=model.v.num_embeddings)
    if len(counts) > model.v.num_embeddings:
        raise ValueError(f"ids go up to {len(counts) - 1}; the model knows 0 to {model.v.num_embeddings - 1}.")
    noise = noise_distribution(counts)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(steps):
        rows = torch.randint(len(centres), (batch,), generator=generator)
        negatives = torch.multinomial(noise, batch * K, replacement=True, generator=generator).view(batch, K)
        loss = model(centres[rows].to(device), contexts[rows].to(device), negatives.to(device)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def nearest(vectors: Tensor, word: int, n: int = 10) -> list[tuple[int, float]]:
    """The n other types with the largest cosine v . v' / (|v| |v'|), largest first: [(id, cosine)].

    vectors: (vocab, d_model).  word: an id. A vector of length 0 has cosine 0 with every other.
    """
    if not 0 <= word < len(vectors):
        raise ValueError(f"word is {word}; the ids run from 0 to {len(vectors) - 1}.")
    unit = nn.functional.normalize(vectors.detach(), dim=-1)
    cosine = unit @ unit[word]
    cosine[word] = -torch.inf
    best = cosine.topk(min(n, len(vectors) - 1))
    return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))


def principal_components(vectors: Tensor, axes: int = 2) -> Tensor:
    """The vectors, centred, seen along the directions in which they vary most.

    vectors: (n, d_model).  Returns (n, axes). Each axis points so that its entry of largest size is above 0.
    """
    centred = vectors.detach() - vectors.detach().mean(dim=0)
    U, S, _ = torch.linalg.svd(centred, full_matrices=False)  # centred = U S V^T, so centred V = U S
    components = (U * S)[:, :axes]
    return components * components.gather(0, components.abs().argmax(dim=0, keepdim=True)).sign()
