"""Learning rates: by what factor the optimiser's own rate is multiplied at a step.

Pure functions. Steps count from 1. A training that is resumed therefore goes on with the right rate, and a schedule can
be drawn before anything is trained. Give `train.fit` one argument fewer than these take:

    schedule=lambda step: warmup_cosine(step, warmup=200, total=5000)
"""

import math
from collections.abc import Sequence


def constant(step: int) -> float:
    """1 at every step."""
    return 1.0


def warmup_cosine(step: int, warmup: int, total: int, floor: float = 0.0) -> float:
    """Linear from 0 to 1 at step `warmup`, then half a cosine down to `floor` at step `total`; `floor` after that.

    Raises ValueError unless 0 <= warmup < total.
    """
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup} and total is {total}; the warm-up must end before the training does.")
    if step < warmup:
        return step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2


def inverse_sqrt(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 min(step^-0.5, step warmup^-1.5)  (Vaswani et al. 2017, section 5.3, equation 3).

    It is the rate itself, so the optimiser's own must be 1. The two branches meet at step `warmup`, its highest point.
    Raises ValueError for a step, d_model or warmup below 1.
    """
    if min(step, d_model, warmup) < 1:
        raise ValueError(f"step is {step}, d_model {d_model}, warmup {warmup}; each must be at least 1.")
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def plateau(losses: Sequence[float], factor: float = 0.25, patience: int = 1) -> float:
    """factor^(number of drops): a drop each time `patience` validations in a row have not brought a new lowest loss.

    losses: all validation losses so far, oldest first. After a drop the count starts again.
    Raises ValueError for a factor outside 0..1 or a patience below 1.
    """
    if not 0 < factor < 1 or patience < 1:
        raise ValueError(
            f"factor is {factor} and patience {patience}; take a factor between 0 and 1, a patience from 1."
        )
    best, waited, drops = math.inf, 0, 0
    for loss in losses:
        best, waited = (loss, 0) if loss < best else (best, waited + 1)
        if waited == patience:
            drops, waited = drops + 1, 0
    return factor**drops
