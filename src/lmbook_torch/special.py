"""The error function, which NumPy does not have."""

import math

import numpy as np

STEPS, END = 64, 6  # values at multiples of 1/64; erf(6) is 1 to all digits


def _series() -> np.ndarray:
    """Row k: erf^(k)(t) / k! at each t. With H_0 = 1, H_1 = 2t, H_{n+1} = 2t H_n - 2n H_{n-1} it is

    erf^(n+1)(t) = (-1)^n H_n(t) erf'(t).
    """
    t = np.arange(END * STEPS + 1) / STEPS
    rows = [np.array([math.erf(one) for one in t])]
    before, now = np.zeros_like(t), np.ones_like(t)
    for n in range(7):
        rows.append((-1) ** n * now * 2 / math.sqrt(math.pi) * np.exp(-t * t) / math.factorial(n + 1))
        before, now = now, 2 * t * now - 2 * n * before
    return np.array(rows)


SERIES = _series()


def erf(x: np.ndarray) -> np.ndarray:
    """erf(x) = 2/sqrt(pi) int_0^x exp(-t^2) dt by the Taylor series around the nearest of a table's places.

    To about 1e-15, or for float32 to 1e-9.
    """
    x = np.asarray(x)
    held = np.minimum(np.nan_to_num(np.abs(x, dtype=np.float64)), END)
    at = np.rint(held * STEPS).astype(np.intp)
    d = held - at / STEPS
    rows = SERIES[: 8 if x.dtype == np.float64 else 5]
    y = rows[-1][at]
    for row in rows[-2::-1]:
        y *= d
        y += row[at]
    return np.where(np.isnan(x), np.nan, np.copysign(y, x)).astype(x.dtype)
