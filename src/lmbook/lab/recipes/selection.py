"""What a selective layer can do that a filter cannot: count again from a mark on.

    text   . a a . | a . a          . nothing, a something, | a mark
    count  0 1 2 2 0 1 1 2          of all a since the last mark, at most MOST

Without marks the count is a sum over all that was read, which a filter with equal weights computes. With a mark every
sum must be cleared at a place that only the text knows. One layer of chapter 20's block, `selective` and `unselective`,
which gets more units for the weights it saves; every rate is that of RATES_COUNT which is best after TRIED updates with
seed 0.
"""

import functools
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from lmbook.lab.recipes.shakespeare import adamw
from lmbook.lab.recipes.tasks import Pair, next_token_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import device_of, evaluate
from lmbook.modern import ModernGPT
from lmbook.networks import evaluating, n_parameters
from lmbook.text import SPECIALS

NOTHING, SOMETHING, MARK, ZERO = range(len(SPECIALS), len(SPECIALS) + 4)  # ids; ZERO is the count 0
D, T, MOST, ROWS, HELD = 32, 24, 9, 32, 400
STEPS, TRIED, WARMUP = 400, 150, 20
RATES_COUNT = (1e-2, 3e-2, 9e-2, 2.7e-1, 8.1e-1)
OFTEN = 0.4  # how many tokens are an a
MARKS = {"without marks": 0.0, "with marks": 0.1}  # how many tokens are a mark
LAYERS = {"selective": 32, "unselective": 44}  # units, so that both have about equally many weights


def counts(generator: torch.Generator, rows: int, marks: float) -> Pair:
    """Tokens (rows, T), and at each place how many a there were since the last mark, as ids."""
    u = torch.rand(rows, T, generator=generator)
    tokens = torch.where(u < OFTEN, SOMETHING, NOTHING)
    tokens[u > 1 - marks] = MARK
    total = (tokens == SOMETHING).cumsum(1)
    before = torch.where(tokens == MARK, total, 0).cummax(1).values
    return tokens, ZERO + (total - before).clamp_max(MOST)


def right(model: nn.Module, pair: tuple[Tensor, Tensor]) -> float:
    """Share of right counts."""
    tokens, targets = pair
    with evaluating(model):
        said = model(tokens.to(device_of(model))).argmax(-1).cpu()
    return (said == targets).float().mean().item()


@recipe(
    "counting-from-a-mark",
    about="counting from the last mark on: a selective state space, and the same without selection",
    minutes=3,
    score="right",
)
def counting_from_a_mark(run: Run) -> tuple[dict, None]:
    """Share of right counts by layer and task."""
    scores: dict = {"parameters": {}}
    for layer, units in LAYERS.items():
        for task, marks in MARKS.items():
            name = f"{layer}, {task}"
            held = counts(torch.Generator().manual_seed(10_000), 4 if run.quick else HELD, marks)

            def build(layer: str = layer, units: int = units) -> ModernGPT:
                options = {"d_ff": 2 * D, "mixers": [layer], "units": units}
                return ModernGPT(ZERO + MOST + 1, T, D, 1, 1, **options).to(run.device)

            def batches(epoch: int, marks: float = marks) -> Iterator[Pair]:
                generator = torch.Generator().manual_seed(1000 * run.seed + epoch)
                return (counts(generator, ROWS, marks) for _ in range(STEPS))

            def validate(model: nn.Module, held: Pair = held) -> float:
                return evaluate(model, [held], next_token_nll)

            if (chosen := run.picked(name)) is not None:
                rate = chosen["rate"]
            else:
                schedule = functools.partial(warmup_cosine, warmup=WARMUP, total=TRIED)
                trial = {"steps": TRIED, "schedule": schedule, "clip": 1.0, "validate": validate}
                rate = run.tune(build, batches, next_token_nll, adamw, name, RATES_COUNT, evaluate_every=TRIED, **trial)
            model = build()
            run.fit_cosine(
                model, batches, next_token_nll, adamw(model, rate), warmup=WARMUP, total=STEPS, part=name,
                validate=validate, evaluate_every=100,
            )  # fmt: skip
            tested = counts(torch.Generator().manual_seed(20_000), 4 if run.quick else HELD, marks)
            scores.setdefault(layer, {})[task] = right(model, tested)
            scores["parameters"][layer] = n_parameters(model)
    return scores | {"right": scores["selective"]["with marks"]}, None
