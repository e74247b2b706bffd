"""Sums of two numbers of two digits, answered at once or after steps that are written down.

    at once        48+57=105
    scratchpad     48+57=1510:105       15 and 10, the sum of each column from the right with what is carried to it
    dots           48+57=....:105       as many tokens, without content

All models have the same size, start and number of updates. Each takes, with every seed, the best of RATES_SUMS after
trainings of full length, by sums that are not among those of the score.
`sums-scratchpad` is one that stopped early.
"""

import functools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

import lmbook
from lmbook.answers import Turns, answer_nll, exact, turns
from lmbook.lab.recipes.shakespeare import adamw
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.modern import ModernGPT
from lmbook.text import CharTokenizer, Vocabulary

DIGITS = 2
SYMBOLS = CharTokenizer(Vocabulary([*"0123456789", "+", "=", ":", "."]))
D, HEADS, LAYERS, WINDOW, ROWS = 64, 4, 2, 32, 32
STEPS, WARMUP, EVERY, EARLY, CHOOSING = 400, 50, 50, 300, 200
RATES_SUMS = (1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3)
KINDS = {"at once": "sums-at-once", "scratchpad": "sums-aloud", "dots": "sums-dots"}


def columns(a: int, b: int) -> str:
    """The sum of each column from the right, two digits each, with what was carried from the one before."""
    written, carried = "", 0
    for k in range(DIGITS):
        column = a // 10**k % 10 + b // 10**k % 10 + carried
        written, carried = written + f"{column:02}", column // 10
    return written


def worked(a: int, b: int, kind: str) -> str:
    """What a model of this kind is to say."""
    total, steps = f"{a + b:0{DIGITS + 1}}", columns(a, b)
    return {
        "at once": total,
        "scratchpad": f"{steps}:{total}",
        "dots": "." * len(steps) + f":{total}",
    }[kind]


def question(a: int, b: int) -> list[int]:
    return SYMBOLS.encode(f"{a:0{DIGITS}}+{b:0{DIGITS}}=")


def sums(kind: str, numbers: list[list[int]]) -> Turns:
    """A batch: prompts with the right answers, each with its end."""
    end = SYMBOLS.vocabulary["<eos>"]
    return turns([(question(a, b), [*SYMBOLS.encode(worked(a, b, kind)), end]) for a, b in numbers])


def numbers(n: int, seed: int) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 10**DIGITS, (n, 2), generator=generator).tolist()


def unseen() -> list[list[int]]:
    """500 sums that no training is shown."""
    return numbers(500, 2**32 - 1)


def drawn(kind: str, rows: int, seed: int) -> Callable[[int], Iterator[Turns]]:
    """A function of the epoch: 100 batches of new sums, none of them among those tested."""
    kept = {tuple(pair) for pair in unseen()}

    def batches(epoch: int) -> Iterator[Turns]:
        for i in range(100):
            made = numbers(2 * rows, 100_000 * seed + 100 * epoch + i)
            yield sums(kind, [pair for pair in made if tuple(pair) not in kept][:rows])

    return batches


def new_model() -> ModernGPT:
    return ModernGPT(len(SYMBOLS.vocabulary), WINDOW, D, HEADS, LAYERS)


def share(right: Tensor) -> float:
    return right.float().mean().item()


@recipe(
    "sums-scratchpad",
    about="sums of two digits with a scratchpad, stopped early",
    minutes=0.5,
    ships=True,
    score="right",
    rescored=("right",),
)
def sums_scratchpad(run: Run) -> tuple[dict, nn.Module]:
    """Share of new sums that are answered exactly after EARLY updates."""
    run.text = SYMBOLS
    model = new_model().to(run.device)
    batches = drawn("scratchpad", ROWS, run.seed)
    run.fit_cosine(
        model, batches, answer_nll, adamw(model, 8e-3), warmup=50, total=EARLY, evaluate_every=EARLY // 10,
        valid=lambda: [sums("scratchpad", unseen())],
    )  # fmt: skip
    return {"right": share(exact(model, sums("scratchpad", unseen())))}, model


def compared(run: Run, kind: str) -> tuple[dict, None]:
    """Share of new sums that are answered exactly, and nats per token of what is to be said."""
    batches, new = drawn(kind, ROWS, run.seed), unseen()
    choosing, test = sums(kind, new[:CHOOSING]), sums(kind, new[CHOOSING:])

    def wrong(model: nn.Module) -> float:
        return 1 - share(exact(model, choosing))

    schedule = functools.partial(warmup_cosine, warmup=WARMUP, total=STEPS)
    how = {"steps": STEPS, "schedule": schedule, "clip": 1.0, "validate": wrong, "evaluate_every": STEPS}
    rate = run.tune(new_model, batches, answer_nll, adamw, "model", RATES_SUMS, **how)
    lmbook.seed(run.seed)
    model = new_model()
    run.fit(model, batches, answer_nll, adamw(model, rate), **how | {"evaluate_every": EVERY})
    return {"right": share(exact(model, test)), "nats": evaluate(model, [test], answer_nll), "rate": rate}, None


for kind, name in KINDS.items():
    recipe(name, about=f"sums of two digits, answered: {kind}", minutes=6, score="right")(
        functools.partial(compared, kind=kind)
    )
