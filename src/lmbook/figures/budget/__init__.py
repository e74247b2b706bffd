"""SpendTheBudget: a fixed number of operations, a size chosen for it, and the loss that comes of both.

loss   E + A / N^alpha + B / D^beta,   D = C / (6 N)        the published fit, with the numbers of Besiroglu et al. 2024
best   N = (alpha A / (beta B))^(1 / (alpha + beta)) (C / 6)^(beta / (alpha + beta))

The budget C and the size N are told as their decimal logarithms.
"""

import html
import math

import traitlets

from lmbook.figures import Figure, bars_svg, says

E, A, B, ALPHA, BETA = 1.8172, 482.01, 2085.43, 0.3478, 0.3658
BUDGETS, SIZES = (18, 26), (7, 13)
TERMS = ("floor", "too few weights", "too little text")


def terms(budget: float, size: float) -> tuple[float, float, float]:
    """E, A / N^alpha and B / D^beta for C = 10^budget and N = 10^size, in nats per token: their sum is the loss."""
    N = 10**size
    D = 10**budget / (6 * N)
    return E, A / N**ALPHA, B / D**BETA


def best(budget: float) -> float:
    """log_10 of the size with the lowest loss."""
    return (math.log10(ALPHA * A / (BETA * B)) + BETA * (budget - math.log10(6))) / (ALPHA + BETA)


def big(n: float) -> str:
    """A large number in words, with two digits."""
    names = ["thousand", "million", "billion", "trillion", "quadrillion", "quintillion"]
    for power, name in reversed([(3 * (k + 1), name) for k, name in enumerate(names)]):
        if n >= 10**power:
            return f"{float(f'{n / 10**power:.2g}'):g} {name}"
    return f"{float(f'{n:.2g}'):g}"


class SpendTheBudget(Figure):
    """The loss of one size at one budget, term by term, and the curve over all sizes.

    budget: log_10 of the operations, 18 to 26.  size: log_10 of the weights, 7 to 13.
    """

    module = "budget"
    title = says("For every budget one size has the lowest loss")
    caption = says(
        "The loss that a published law expects of a model of the chosen size, trained with all the operations of "
        "the budget. At which size are the two upper bars about equal? And if the budget grows a hundredfold, by "
        "how much should the model grow?"
    )

    budget = traitlets.Float(24.0, min=BUDGETS[0], max=BUDGETS[1]).tag(sync=True)
    size = traitlets.Float(11.0, min=SIZES[0], max=SIZES[1]).tag(sync=True)

    def _describe(self, change=None):
        parts, N, C = terms(self.budget, self.size), 10**self.size, 10**self.budget
        lowest = best(self.budget)
        self.alt = (
            f"With {C:.1e} operations a model of {big(N)} weights can read {big(C / 6 / N)} tokens. The law expects "
            f"{sum(parts):.2f} nats per token: a floor of {E:.2f}, {parts[1]:.2f} for too few weights and "
            f"{parts[2]:.2f} for too little text. The best size is {big(10**lowest)} weights, with "
            f"{sum(terms(self.budget, lowest)):.2f} nats."
        )

    def fallback(self) -> str:
        parts = terms(self.budget, self.size)
        rows = [(name, part, f"{part:.2f} nats") for name, part in zip(TERMS, parts, strict=True)]
        return f"<p>{html.escape(self.alt)}</p>{bars_svg(rows, alt=self.alt)}"
