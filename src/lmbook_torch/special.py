"""The error function, which NumPy does not have."""

import math

import numpy as np


def erf(x: np.ndarray) -> np.ndarray:
    """erf(x) = 2/sqrt(pi) int_0^x exp(-t^2) dt, to about 1e-15: a table of its values at steps of 1/64 and a Taylor series.

    With H_0 = 1, H_1 = 2t, H_{n+1} = 2t H_n - 2n H_{n-1}, the derivatives are erf^(n+1)(t) = (-1)^n H_n(t) erf'(t).
    """
    wide = np.abs(np.asarray(x, np.float64))
    held = np.minimum(np.nan_to_num(wide, nan=0.0), 6.0)
    at = np.rint(held * 64).astype(np.intp)
    t, d = at / 64.0, held - at / 64.0
    before, now = np.zeros_like(t), np.ones_like(t)
    total, power = np.zeros_like(t), np.array(d)
    for n in range(7):
        total += (-1) ** n * now * power / math.factorial(n + 1)
        before, now = now, 2 * t * now - 2 * n * before
        power = power * d
    y = TABLE[at] + 2 / math.sqrt(math.pi) * np.exp(-t * t) * total
    return np.where(np.isnan(x), np.nan, np.copysign(y, x)).astype(np.asarray(x).dtype)


TABLE = np.array([math.erf(i / 64) for i in range(6 * 64 + 1)])
