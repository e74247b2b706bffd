"""Common wrong answers to homework 23, as slips.py says."""

import numpy as np
from slips import Wrong

wrong = Wrong(full=16)


def pass_at_k(n, c, k):
    from math import comb

    return 1 - comb(n - c, k) / comb(n, k)


def fewest_tries(counts, n, goal):
    from math import comb

    for k in range(1, n + 1):
        solved = [1 - comb(n - c, k) / comb(n, k) for c in counts]
        if sum(solved) >= goal * len(solved):
            return k
    return 0


def calibration(confidence, right):
    total = 0.0
    which = np.minimum((confidence * BINS).astype(int), BINS - 1)
    for b in range(BINS):
        inside = which == b
        if inside.any():
            total += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    return total


def best_temperature(logits, gold, taus):
    def loss(tau):
        z = (logits - logits.max(axis=1)[:, None]) / tau
        own = z[np.arange(len(gold)), gold]
        return np.mean(np.log(np.exp(z).sum(axis=1)) - own)

    return min(taus, key=loss)


def suspicious(items, training):
    found = []
    for i, item in enumerate(items):
        size = GRAM
        pieces = [item[j : j + size] for j in range(len(item) - size + 1)]
        read = [any(piece in text for text in training) for piece in pieces]
        if read and sum(read) / len(read) >= 0.5:
            found.append(i)
    return found


def lower_first(members, others):
    lower = [(x < y) + 0.5 * (x == y) for x in members for y in others]
    return sum(lower) / len(lower)


def checked(p, q, drafted, u):
    kept = 0
    for x, chance in zip(drafted, u, strict=True):
        if chance >= p[kept][x] / q[kept][x]:
            rest = np.clip(p[kept] - q[kept], 0, None)
            return kept, rest / rest.sum()
        kept += 1
    return kept, p[kept]


def times_as_fast(beta, gamma, c):
    tokens = sum(beta**i for i in range(gamma + 1))
    return tokens / (1 + gamma * c + FEE / 10)


def audit(report):
    from math import comb

    tries = [1 - comb(report["n"] - c, report["k"]) / comb(report["n"], report["k"]) for c in report["counts"]]
    return [
        sum(tries) / len(tries) >= report["solved"],
        calibration(report["confidence"], report["right"]) <= report["error"],
        not suspicious(report["items"], report["training"]),
        times_as_fast(report["beta"], report["gamma"], report["c"]) >= report["faster"],
    ]


wrong("c / n in the place of p", 13, pass_at_k, {"comb(n - c, k) / comb(n, k)": "(1 - c / n) ** k"})
wrong("all tries right in place of one", 13, pass_at_k, {"1 - comb(n - c, k)": "comb(c, k)"})
wrong("the chance that all are wrong", 13, pass_at_k, {"1 - comb(n - c, k)": "comb(n - c, k)"})
wrong("the last number of tries is left out", 15, fewest_tries, {"range(1, n + 1)": "range(1, n)"})
wrong(
    "one task that reaches the goal is enough",
    15,
    fewest_tries,
    {"sum(solved) >= goal * len(solved)": "max(solved) >= goal"},
)
wrong("a goal that is not reached gives n", 15, fewest_tries, {"return 0": "return n"})
wrong("one bin for all", 14, calibration, {"(confidence * BINS)": "(0 * confidence * BINS)"})
wrong("every bin counts alike", 12, calibration, {"inside.mean() * abs": "1 / BINS * abs"})
wrong("errors of opposite signs cancel", 14, calibration, {"abs(": "("})
wrong(
    "a confidence of 1 falls out",
    14,
    calibration,
    {"np.minimum((confidence * BINS).astype(int), BINS - 1)": "(confidence * BINS).astype(int)"},
)
wrong("times in place of divided by", 15, best_temperature, {"[:, None]) / tau": "[:, None]) * tau"})
wrong("the highest loss", 15, best_temperature, {"min(taus": "max(taus"})
wrong("large logits overflow", 15, best_temperature, {"(logits - logits.max(axis=1)[:, None]) / tau": "logits / tau"})
wrong("a single piece is enough", 14, suspicious, {"sum(read) / len(read) >= 0.5": "any(read)"})
wrong("more than half", 14, suspicious, {">= 0.5": "> 0.5"})
wrong(
    "pieces one character longer",
    14,
    suspicious,
    {"size = GRAM": "size = GRAM + 1"},
)
wrong(
    "training texts glued together",
    14,
    suspicious,
    {"any(piece in text for text in training)": "piece in ''.join(training)"},
)
wrong("ties count nothing", 14, lower_first, {" + 0.5 * (x == y)": ""})
wrong("how often the higher comes first", 14, lower_first, {"(x < y)": "(x > y)"})
wrong("the ratio upside down", 14, checked, {"p[kept][x] / q[kept][x]": "q[kept][x] / p[kept][x]"})
wrong("drawn again from p", 14, checked, {"return kept, rest / rest.sum()": "return kept, p[kept]"})
wrong("what is left is not normalised", 14, checked, {"rest / rest.sum()": "rest"})
wrong(
    "the draft of the rejected place",
    14,
    checked,
    {"np.clip(p[kept] - q[kept], 0, None)": "np.clip(q[kept] - p[kept], 0, None)"},
)
wrong("no token behind the drafts", 14, times_as_fast, {"range(gamma + 1)": "range(1, gamma + 1)"})
wrong("every draft is kept", 14, times_as_fast, {"beta**i": "beta"})
wrong("the drafts cost nothing", 14, times_as_fast, {"gamma * c": "0 * c"})
wrong("the claims about error and speed the other way round", 14, audit, {'<= report["error"]': '>= report["error"]'})
