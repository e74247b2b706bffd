"""A look-up in drawers, the task of chapter 12: what one head can answer, and what the root of the key width is worth.

Six drawers have a label each, all different, and a content; a state is the sum of the two vectors, h = a + b. The query
is a label. Two labels in one query are a_first + R^T a_second, with R orthogonal.

`drawers` asks for two contents at once: one head or two, and behind them a linear layer or a layer of ReLU units.
Each has the rate of run.RATES that validates best after TRIED steps. `drawers-factor` asks for one content, with states
and keys of width WIDE, and divides the scores by 1, by the root of the width, or by the width, at every rate of GRIDS.
"""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import lmbook
from lmbook.attention import MultiHeadAttention
from lmbook.lab.recipes.tasks import adam
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate

TYPES, DRAWERS, NARROW, WIDE, HIDDEN = 12, 6, 32, 256, 256
TRIED, STEPS, TESTED = 500, 2000, 4000
FACTORS = {"1": 1.0, "1/√d": WIDE**-0.5, "1/d": 1 / WIDE}
GRIDS = {"descent": (torch.optim.SGD, (0.01, 0.03, 0.1, 0.3)), "Adam": (torch.optim.Adam, (3e-4, 1e-3, 3e-3, 1e-2))}
FACTOR_STEPS, FACTOR_TESTED = 60, 1000

Batch = tuple[Tensor, Tensor, Tensor]


def tables(d: int) -> tuple[Tensor, Tensor]:
    """Vectors of the labels and of the contents, each (TYPES, d), with independent normal entries."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(TYPES, d, generator=generator), torch.randn(TYPES, d, generator=generator)


def asked(labels: Tensor, contents: Tensor, B: int, seed: int, parts: int) -> Batch:
    """Queries (B, parts, d) about the first drawers, states (B, DRAWERS, d), and the right contents (B, parts)."""
    generator = torch.Generator().manual_seed(seed)
    label = torch.rand(B, TYPES, generator=generator).argsort(1)[:, :DRAWERS]
    content = torch.randint(TYPES, (B, DRAWERS), generator=generator)
    return labels[label[:, :parts]], labels[label] + contents[content], content[:, :parts]


def two_at_once(B: int, seed: int) -> Batch:
    """As `asked`, with one query (B, 1, NARROW) for two labels, the second turned by R."""
    generator = torch.Generator().manual_seed(1)
    R = torch.linalg.qr(torch.randn(NARROW, NARROW, generator=generator))[0]
    S, H, answer = asked(*tables(NARROW), B, seed, parts=2)
    return S[:, :1] + S[:, 1:] @ R, H, answer


class Heads(nn.Module):
    """n_heads heads and a read-out, linear for hidden = 0: logits (B, 2, TYPES) of the two contents."""

    def __init__(self, n_heads: int, hidden: int):
        super().__init__()
        self.attention = MultiHeadAttention(NARROW, n_heads)
        wide = [nn.Linear(NARROW, hidden), nn.ReLU()] if hidden else []
        self.out = nn.Sequential(*wide, nn.Linear(hidden or NARROW, 2 * TYPES))

    def forward(self, S: Tensor, H: Tensor) -> Tensor:
        return self.out(self.attention(S, H, H)[0]).unflatten(-1, (2, TYPES))[:, 0]


class Wide(nn.Module):
    """One head of width WIDE with scores times `factor`, W_q, W_k and W_v from Xavier's distribution: (B, 1, TYPES)."""

    def __init__(self, factor: float):
        super().__init__()
        self.factor = factor
        self.W_q, self.W_k, self.W_v = (nn.Linear(WIDE, WIDE, bias=False) for _ in range(3))
        self.out = nn.Linear(WIDE, TYPES)
        for projection in (self.W_q, self.W_k, self.W_v):
            nn.init.xavier_uniform_(projection.weight)

    def forward(self, S: Tensor, H: Tensor) -> Tensor:
        scores = self.factor * self.W_q(S) @ self.W_k(H).transpose(1, 2)
        return self.out(torch.softmax(scores, -1) @ self.W_v(H))


def nll(model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
    """Summed NLL of the contents, and how many there are."""
    S, H, answer = batch
    return F.cross_entropy(model(S, H).flatten(0, 1), answer.flatten(), reduction="sum"), answer.numel()


def drawn(sample: Callable[[int, int], Batch], B: int, seed: int):
    """Endless batches of the training with this seed, for run.fit."""
    return lambda epoch: (sample(B, 10**6 * (seed + 1) + 1000 * epoch + step) for step in range(1000))


@recipe(
    "drawers",
    about="two contents of drawers by one query: one head or two, a linear or a nonlinear read-out",
    minutes=2,
    score="both parts",
)
def two_parts(run: Run) -> tuple[dict, None]:
    """Shares of right answers to both parts, and the greatest mean weight of a head on each of the two drawers."""

    def valid(model: nn.Module) -> float:
        return evaluate(model, [two_at_once(1000, 1)], nll)

    scores: dict = {"steps": STEPS}
    test = two_at_once(TESTED, 0)
    for n_heads, words in ((1, "one head"), (2, "two heads")):
        for hidden, behind in ((0, "linear"), (HIDDEN, "ReLU")):
            part = f"{words}, {behind}"
            build, batches = partial(Heads, n_heads, hidden), drawn(two_at_once, 128, run.seed)
            rate = run.tune(build, batches, nll, adam, part, steps=TRIED, evaluate_every=TRIED, validate=valid)
            model = build()
            run.fit_cosine(
                model, batches, nll, adam(model, rate), STEPS // 20, STEPS, part=part, validate=valid,
                evaluate_every=STEPS // 10,
            )  # fmt: skip
            with torch.no_grad():
                S, H, answer = test
                right = (model(S, H).argmax(-1) == answer).float().mean(0).tolist()
                weights = model.attention(S, H, H, need_weights=True)[1].mean(0)[:, 0]  # (n_heads, DRAWERS)
            first, second = weights.max(0).values[:2].tolist()
            scores[part] = dict(zip(("first", "second"), right, strict=True))
            scores[part] |= {"weight first": first, "weight second": second}
    return scores | {"both parts": min(scores["one head, ReLU"][part] for part in ("first", "second"))}, None


@recipe(
    "drawers-factor",
    about="one content of drawers with keys of width 256: scores divided by 1, its root or itself, four rates",
    minutes=1,
    score="lowest",
)
def factors(run: Run) -> tuple[dict, None]:
    """Loss on new drawers after FACTOR_STEPS, for each factor, optimizer and rate."""
    labels, contents = (table / 2**0.5 for table in tables(WIDE))  # the entries of a state have variance 1

    def sample(B: int, seed: int) -> Batch:
        S, H, answer = asked(labels, contents, B, seed, parts=1)
        return 2**0.5 * S, H, answer

    def valid(model: nn.Module) -> float:
        return evaluate(model, [sample(FACTOR_TESTED, 1)], nll)

    scores: dict = {"steps": FACTOR_STEPS}
    for factor, scale in FACTORS.items():
        scores[factor] = {}
        for name, (optimizer, rates) in GRIDS.items():
            for rate in rates:
                lmbook.seed(run.seed)
                model, part = Wide(scale), f"{factor}, {name} {rate:g}"
                adjusted = optimizer(model.parameters(), lr=rate)
                run.fit(
                    model, drawn(sample, 64, run.seed), nll, adjusted, part, steps=FACTOR_STEPS, validate=valid,
                    evaluate_every=FACTOR_STEPS // 10,
                )  # fmt: skip
                scores[factor][f"{name} {rate:g}"] = evaluate(model, [sample(FACTOR_TESTED, 0)], nll)
    lowest = min(loss for factor in FACTORS for loss in scores[factor].values())
    return scores | {"lowest": lowest}, None
