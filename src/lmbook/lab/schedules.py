"""Learning rates: by what factor the optimizer's own rate is multiplied at a step.

Pure functions. Steps count from 1. A training that is resumed therefore goes on with the right rate, and a schedule can
be drawn before anything is trained. Give `train.fit` one argument fewer than these take:

    schedule=lambda step: warmup_cosine(step, warmup=200, total=5000)
"""

import math


def constant(step: int) -> float:
    """1 at every step."""
    return 1.0


def warmup(step: int, steps: int) -> float:
    """Linear from 0 to 1 at step `steps`, and 1 from there on, for a training whose end is not known beforehand.

    Raises ValueError unless steps is at least 1.
    """
    if steps < 1:
        raise ValueError(f"steps is {steps}; a warm-up takes at least one step.")
    return min(1.0, step / steps)


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
