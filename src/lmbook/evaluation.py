"""How good is a model, and how sure may it be? Scores that are estimated from few draws, with what can go wrong.

    pass@k        1 - C(n - c, k) / C(n, k)                   of n answers c are right     Chen et al. 2021, eq. 1
    calibration   sum_b n_b / N |right_b - confidence_b|      over bins b of confidence    Guo et al. 2017, eq. 3
    contamination share of the n-grams of a test that occur in the training text           Brown et al. 2020, app. C
    seen once     N_1 / N, what has not been seen yet weighs about as much                 Good 1953

Shapes: P problems, N answers with a confidence each.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that of k answers, drawn without replacement from n of which c are right, at least one is right.

    1 - C(n - c, k) / C(n, k), an unbiased estimate of 1 - (1 - p)^k where each answer is right with chance p  (Chen et
    al. 2021, eq. 1). As a product, so that no binomial overflows.  Raises ValueError unless 0 <= c <= n, 1 <= k <= n.
    """
    if not 0 <= c <= n:
        raise ValueError(f"pass_at_k: {c} right answers of {n}; c must lie in 0..n.")
    if not 1 <= k <= n:
        raise ValueError(f"pass_at_k: k is {k}; it must lie in 1..{n}. Draw at least k answers for every problem.")
    all_wrong = 1.0
    for i in range(k):  # the (i + 1)th answer drawn is wrong too
        all_wrong *= max(0, n - c - i) / (n - i)
    return 1 - all_wrong


def reliability(confidence: ArrayLike, right: ArrayLike, bins: int = 10, equal: str = "width") -> np.ndarray:
    """By bin of confidence: how many answers, their mean confidence, the share that is right. (bins not empty, 3).

    confidence: (N,) in 0..1.  right: (N,) Booleans.  equal: "width", bins of 1 / bins, the upper end included, or
    "count", bins of equally many answers.  Raises ValueError where the two do not fit.
    """
    confidence, right = np.asarray(confidence, float), np.asarray(right, float)
    if confidence.ndim != 1 or confidence.shape != right.shape or not len(right):
        raise ValueError(
            f"reliability: confidence {confidence.shape} and right {right.shape} must both be (N,), N > 0."
        )
    if confidence.min() < 0 or confidence.max() > 1:
        raise ValueError("reliability: a confidence is a probability, from 0 to 1; give softmax outputs, not logits.")
    if bins < 1 or equal not in ("width", "count"):
        raise ValueError(f'reliability: bins is {bins} (1 or more), equal is {equal!r} ("width" or "count").')
    if equal == "width":
        which = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    else:
        which = np.empty(len(right), int)
        which[np.argsort(confidence, kind="stable")] = np.arange(len(right)) * bins // len(right)
    members = [which == b for b in range(bins)]
    return np.array([[one.sum(), confidence[one].mean(), right[one].mean()] for one in members if one.any()])


def calibration_error(confidence: ArrayLike, right: ArrayLike, bins: int = 10, equal: str = "width") -> float:
    """Expected calibration error, sum_b n_b / N |right_b - confidence_b|  (Guo et al. 2017, eq. 3).

    It is biased upwards where bins hold few answers: a share of few draws is off by chance. Arguments: `reliability`.
    """
    n, claimed, found = reliability(confidence, right, bins, equal).T
    return float((n * np.abs(found - claimed)).sum() / n.sum())


def ngrams(tokens: Sequence[Hashable], n: int) -> list[tuple]:
    """All n-grams of a sequence, in order; none where it is shorter than n."""
    return [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


def overlap(test: Iterable[Sequence[Hashable]], train: Iterable[Sequence[Hashable]], n: int) -> np.ndarray:
    """For each test item the share of its n-grams that occur anywhere in the training texts; 0 where it has none.

    Raises ValueError where n is below 1.
    """
    if n < 1:
        raise ValueError(f"overlap: n is {n}; an n-gram has at least one token.")
    seen = {gram for text in train for gram in ngrams(text, n)}
    return np.array([sum(g in seen for g in grams) / max(1, len(grams)) for grams in (ngrams(t, n) for t in test)])


def lower_first(members: ArrayLike, others: ArrayLike) -> float:
    """How often a member has a lower loss than one of the others, ties counted half: the area under the ROC curve.

    1/2 where losses tell nothing about membership (Yeom et al. 2018, section 3.2, with every threshold at once).
    """
    members, others = np.asarray(members, float)[:, None], np.asarray(others, float)[None]
    return float((members < others).mean() + (members == others).mean() / 2)


def seen_once(facts: Iterable[Hashable]) -> float:
    """N_1 / N: of N observations the share whose kind occurs exactly once  (Good 1953, eq. 9).

    It estimates the probability that the next observation is of a kind that has not been seen.
    """
    counts = Counter(facts)
    if not counts:
        raise ValueError("seen_once: no observation; give at least one.")
    return sum(c == 1 for c in counts.values()) / sum(counts.values())
