"""Losses over tokens, in nats.

    token_nll        L = -sum ln softmax(z)[target]  and how many targets there are; what `train.fit` wants
    smoothed_loss    mean of -sum_k q_k ln y_hat_k,  with a share of q on every type
    sampled_nll      L with the softmax over a large vocabulary estimated from a sample of the types:

    ln P(w) = z_w - ln Z       Z = sum_k exp z_k ~ sum over buckets s of  size_s / drawn_s  sum_{k drawn of s} exp z_k

Z runs over all types for every token; with 33,000 of them that is most of a language model's work. Types that are
frequent are always in; of the rare ones, some are drawn anew for each batch, each with the weight size / drawn.
The estimate of Z is unbiased, and exact where every type is drawn. The type of the target is always in, with weight 1.
Importance sampling of Z goes back to Bengio and Senecal (2003); one sample shared by a whole batch is the form of Jean
et al. (2015). A model is evaluated with the full softmax.

Shapes: n tokens, d width of their features, vocab types, whose ids fall in frequency.
"""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from lmbook.text import PAD_ID


def token_nll(logits: Tensor, targets: Tensor, ignore: int = 0, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
    """L = -sum ln softmax(logits)[target] over all targets but `ignore` (padding), and their number.

    logits: (..., vocab).  targets: (...) ids.  smoothing: that share of the target goes evenly to the whole vocabulary.
    """
    total = nn.functional.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=ignore, label_smoothing=smoothing, reduction="sum"
    )
    return total, (targets != ignore).sum()


def smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.1, pad: int = PAD_ID) -> Tensor:
    """Mean over the targets that are not padding of  -sum_k q_k ln y_hat_k,  in nats.

    q is 1 - smoothing on the target plus smoothing / vocab on every type  (Szegedy et al. 2016, section 7).
    logits: (B, T, vocab).  targets: ids (B, T).  Its smallest value is the entropy of q, not 0;
    without a target that is not padding it is 0.
    """
    log_probs = torch.log_softmax(logits, dim=-1)
    right = log_probs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    loss = -(1 - smoothing) * right - smoothing * log_probs.mean(dim=-1)  # (B, T)
    real = targets != pad
    return (loss * real).sum() / real.sum().clamp(min=1)


Buckets = tuple[tuple[int, int, int], ...]


def class_buckets(vocab: int, edges: tuple[int, ...], drawn: tuple[int, ...], first: int = 0) -> Buckets:
    """(start, end, drawn) of each bucket of types: ids first..edges[0], edges[0]..edges[1], ..., edges[-1]..vocab.

    drawn: how many types to draw of each; 0 means all. Raises ValueError where the numbers do not fit.
    """
    bounds = (first, *edges, vocab)
    if len(drawn) != len(edges) + 1 or any(a >= b for a, b in pairwise(bounds)):
        raise ValueError(f"edges {edges} and drawn {drawn} do not cut {first}..{vocab} into {len(edges) + 1} parts.")
    buckets = tuple((a, b, k or b - a) for (a, b), k in zip(pairwise(bounds), drawn, strict=True))
    if any(not 1 < k <= b - a for a, b, k in buckets):
        raise ValueError(f"drawn is {drawn}; of each bucket draw from 2 types to all it has ({buckets}).")
    return buckets


def sampled_nll(
    features: Tensor,
    targets: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    buckets: Buckets,
    never: tuple[int, ...] = (),
) -> Tensor:
    """Summed NLL in nats of the targets (n,) with Z estimated; features (n, d), weight (vocab, d), bias (vocab,).

    never: ids that cannot occur and get no probability, such as <pad>; all below the first bucket's end.
    Draws with torch's own generator. Raises ValueError for a target that no bucket holds.
    """
    device = targets.device
    sample, log_weights, whole = [], [], torch.zeros_like(targets, dtype=torch.bool)
    for start, end, drawn in buckets:
        ids = torch.arange(start, end, device=device)
        if drawn < end - start:
            ids = ids[torch.randperm(end - start, device=device)[:drawn].sort().values]
        else:
            whole |= (targets >= start) & (targets < end)
        ids = ids[~torch.isin(ids, torch.tensor(never, device=device, dtype=ids.dtype))]
        sample.append(ids)
        log_weights.append(torch.full((len(ids),), math.log((end - start) / drawn), device=device))
    ids = torch.cat(sample)  # rising, as the buckets are
    place = torch.searchsorted(ids, targets).clamp(max=len(ids) - 1)
    drawn_too = ids[place] == targets
    bad = (whole & ~drawn_too) | (targets < buckets[0][0]) | (targets >= buckets[-1][1])
    if bad.any():
        raise ValueError(f"target {int(targets[bad][0])} is in no bucket, or among the ids that never occur, {never}.")
    z, z_target = features @ weight[ids].T, (features * weight[targets]).sum(1)
    if bias is not None:
        z, z_target = z + bias[ids], z_target + bias[targets]
    z = z + torch.cat(log_weights)
    # A rare target counts once, with weight 1: where it was drawn, its place among the others is taken out.
    twice = (drawn_too & ~whole).nonzero().squeeze(1)
    z = z.index_put((twice, place[twice]), z.new_tensor(-torch.inf))
    log_z = torch.logsumexp(z, dim=1)
    log_z = torch.where(whole, log_z, torch.logaddexp(log_z, z_target))
    return (log_z - z_target).sum()
