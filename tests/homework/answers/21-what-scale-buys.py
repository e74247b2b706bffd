"""Common wrong answers to homework 21, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def cost(N, D, L, d, T):
    weights, attention = 2 * N * D, 4 * L * d * T * D
    return (weights + attention) * (1 + AGAIN + 2)


def divide(C):
    each = 6 + 2 * AGAIN
    N = np.sqrt(C / (each * RATIO))
    return N, N * RATIO


def lowest(N, loss):
    x = np.log(N)
    middle = x.mean()
    a, b, c = np.polyfit(x - middle, loss, 2)
    at = -b / (2 * a)
    return np.exp(at + middle), a * at**2 + b * at + c


def power_law(x, y):
    u, v = np.log(x), np.log(y)
    p = np.sum((u - u.mean()) * (v - v.mean())) / np.sum((u - u.mean()) ** 2)
    return np.exp(v.mean() - p * u.mean()), p


def ring_step(parts, step):
    P, out = len(parts), parts.copy()
    for i in range(P):
        c, right = (i - step) % P, (i + 1) % P
        if step < P - 1:
            out[right, c] = parts[right, c] + parts[i, c]
        else:
            out[right, c] = parts[i, c]
    return out


def bytes_held(N, P, stage):
    weights, gradients, adam = 2 * N, 2 * N, OPT * N
    if stage >= 1:
        adam = adam // P
    if stage >= 2:
        gradients = gradients // P
    if stage == 3:
        weights = weights // P
    return weights + gradients + adam


def interval_score(low, high, loss, alpha):
    below, above = np.maximum(low - loss, 0), np.maximum(loss - high, 0)
    return (high - low) + 2 / alpha * below + 2 / alpha * above


def predict(C, loss, C_new):
    x, z, n = np.log(C), np.log(loss), len(C)
    middle, far = x.mean(), np.sum((x - x.mean()) ** 2)
    p = np.sum((x - middle) * (z - z.mean())) / far
    s = np.sqrt(np.sum((z - z.mean() - p * (x - middle)) ** 2) / (n - 2))
    off = np.log(C_new) - middle
    half = 1.94 * s * np.sqrt(1 + 1 / n + off**2 / far)
    here = z.mean() + p * off
    return np.exp(here - half), np.exp(here + half)


wrong("only the forward pass", 14, cost, {" * (1 + AGAIN + 2)": ""})
wrong("the backward pass costs as much as the forward pass", 14, cost, {"AGAIN + 2": "AGAIN + 1"})
wrong("attention's own products are left out", 14, cost, {"weights + attention": "weights"})
wrong("attention in one layer only", 14, cost, {"4 * L * d": "4 * d"})
wrong("scores without the weighted sums", 14, cost, {"4 * L * d": "2 * L * d"})
wrong("one operation for a weight", 14, cost, {"2 * N * D": "N * D"})
wrong("N and D exchanged", 14, divide, {"return N, N * RATIO": "return N * RATIO, N"})
wrong(
    "N and D take half of the budget each",
    14,
    divide,
    {"N = np.sqrt(C / (each * RATIO))": "N = C / each / (1 + RATIO)"},
)
wrong("two operations for a weight and a token", 14, divide, {"each = 6 + 2 * AGAIN": "each = 2"})
wrong("the best of the sizes that were tried", 14, lowest, {"at = -b / (2 * a)": "at = x[np.argmin(loss)] - middle"})
wrong(
    "a parabola in N",
    14,
    lowest,
    {"x = np.log(N)": "x = np.asarray(N, dtype=float)", "np.exp(at + middle)": "at + middle"},
)
wrong("the logarithm of N is returned", 14, lowest, {"np.exp(at + middle)": "at + middle"})
wrong("the vertex at -b / a", 14, lowest, {"/ (2 * a)": "/ a"})
wrong("the constant in place of the lowest loss", 14, lowest, {"a * at**2 + b * at + c": "c"})
wrong("y is not in logarithms", 14, power_law, {"np.log(y)": "np.asarray(y)"})
wrong("the logarithm of k is returned", 14, power_law, {"np.exp(v.mean() - p * u.mean())": "v.mean() - p * u.mean()"})
wrong(
    "k and p exchanged",
    14,
    power_law,
    {"return np.exp(v.mean() - p * u.mean()), p": "return p, np.exp(v.mean() - p * u.mean())"},
)
wrong("the array that was given is changed", 14, ring_step, {"parts.copy()": "parts"})
wrong("always added", 14, ring_step, {"step < P - 1": "True"})
wrong("one adding step too many", 14, ring_step, {"step < P - 1": "step < P"})
wrong("to the left", 14, ring_step, {"(i + 1) % P": "(i - 1) % P"})
wrong("the same chunk in every step", 14, ring_step, {"(i - step) % P": "i"})
wrong("stage one shares out nothing", 14, bytes_held, {"stage >= 1": "stage >= 2"})
wrong("the weights are shared out from stage two on", 14, bytes_held, {"stage == 3": "stage >= 2"})
wrong("no optimizer", 14, bytes_held, {"OPT * N": "0 * N"})
wrong(
    "everything is shared out in every stage",
    14,
    bytes_held,
    {"stage >= 1": "True", "stage >= 2": "True", "stage == 3": "True"},
)
wrong(
    "a miss costs no more than the width",
    14,
    interval_score,
    {"2 / alpha * below + 2 / alpha * above": "below + above"},
)
wrong(
    "1 / alpha in place of 2 / alpha",
    14,
    interval_score,
    {"2 / alpha * below + 2 / alpha * above": "(below + above) / alpha"},
)
wrong("misses above are free", 14, interval_score, {" + 2 / alpha * above": ""})
wrong("the width is not counted", 14, interval_score, {"(high - low) + ": ""})
wrong("a point in place of an interval", 14, predict, {"half = 1.94 * s": "half = 0 * s"})
wrong(
    "as sure far away as in the middle",
    14,
    predict,
    {"half = 1.94 * s * np.sqrt(1 + 1 / n + off**2 / far)": "half = s / n"},
)
wrong("everything is possible", 14, predict, {"1.94 * s": "30 * s"})
wrong(
    "a line without logarithms",
    14,
    predict,
    {
        "x, z, n = np.log(C), np.log(loss), len(C)": "x, z, n = np.asarray(C), np.log(loss), len(C)",
        "np.log(C_new)": "C_new",
    },
)
