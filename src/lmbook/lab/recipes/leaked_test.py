"""A test that leaked into the training: small GPTs learn two-digit sums, PAIRS of them, in one order each.

Of the test, half LEAKED is in the training of some models, as it stands or with the summands exchanged, and takes the
place of other sums; the other half never is. All models are equally large, see equally many sums, and each takes the
rate of RATES whose TRIED steps validate best with seed 0.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from lmbook.evaluation import lower_first, overlap
from lmbook.gpt import GPT
from lmbook.lab.recipes.shakespeare import adamw
from lmbook.lab.recipes.tasks import Pair, next_token_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import device_of, evaluate
from lmbook.networks import evaluating
from lmbook.text import PAD_ID, SPECIALS

FIRST = len(SPECIALS)  # the id of digit 0; after the nine come + and =
PAIRS, LEAKED, TRIED, STEPS, ROWS = 250, 100, 80, 350, 64
RATES = (3e-3, 6e-3, 12e-3, 24e-3)
Sum = tuple[int, int]


def sums(pairs: list[Sum]) -> Tensor:
    """37+58=095 for each pair: ids (n, 9)."""
    signs = {str(d): FIRST + d for d in range(10)} | {"+": FIRST + 10, "=": FIRST + 11}
    return torch.tensor([[signs[c] for c in f"{a:02d}+{b:02d}={a + b:03d}"] for a, b in pairs])


def exchanged(pairs: list[Sum]) -> list[Sum]:
    """b + a for each a + b."""
    return [(b, a) for a, b in pairs]


def split_sums(seed: int) -> dict[str, list[Sum]]:
    """ "train", "valid" and the halves "leaked" and "kept" of the test: pairs a != b, each in one order only."""
    rng = np.random.default_rng(seed)
    every = [(a, b) for a in range(100) for b in range(a)]
    turned = [every[i][:: 1 if rng.random() < 0.5 else -1] for i in rng.permutation(len(every))]
    ends = np.cumsum([LEAKED, LEAKED, LEAKED, PAIRS])
    names = ("leaked", "kept", "valid", "train")
    return {name: turned[end - n : end] for name, n, end in zip(names, (*3 * (LEAKED,), PAIRS), ends, strict=True)}


def asked(rows: Tensor) -> Pair:
    """Inputs and targets (B, 8); only the three digits of the answer are targets."""
    targets = rows[:, 1:].clone()
    targets[:, :5] = PAD_ID
    return rows[:, :-1], targets


def drawn(rows: Tensor, seed: list[int], size: int) -> Iterator[Pair]:
    """The rows in random order, in batches."""
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(rows)))
    for some in order.split(size):
        yield asked(rows[some])


@torch.no_grad()
def answers(model: nn.Module, rows: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Of each row: whether the greedy answer is right, and the NLL of the right one."""
    text = rows[:, :6].to(device_of(model))
    with evaluating(model):
        log_p = model(rows[:, :-1].to(text))[:, 5:].log_softmax(-1)
        for _ in range(3):
            text = torch.cat([text, model(text)[:, -1:].argmax(-1)], dim=1)
    nll = -log_p.gather(-1, rows[:, 6:, None].to(text)).squeeze(-1).sum(-1)
    return (text.cpu() == rows).all(1).numpy(), nll.cpu().numpy()


@recipe(
    "sums-leaked",
    about="two-digit sums by a small GPT: half of the test leaked into the training, as it stands or exchanged",
    minutes=2,
    seeds=tuple(range(6)),
    score="exact",
)
def sums_leaked(run: Run) -> tuple[dict, None]:
    """By model: share right and NLL on both halves, how well the loss tells them apart, and shared 8-grams."""
    parts = split_sums(run.seed)
    test = {half: sums(parts[half]) for half in ("leaked", "kept")}
    few = parts["train"][: PAIRS - LEAKED]
    trainings = {
        "clean": parts["train"],
        "leaked": few + parts["leaked"],
        "exchanged": few + exchanged(parts["leaked"]),
    }
    scores: dict = {}
    for name, pairs in trainings.items():
        rows = sums(pairs)

        def build() -> GPT:
            return GPT(FIRST + 12, 8, 64, n_heads=4, n_layers=2).to(run.device)

        def batches(epoch: int, rows: Tensor = rows) -> Iterator[Pair]:
            return drawn(rows, [run.seed, epoch], ROWS)

        def held() -> list[Pair]:
            return [asked(sums(parts["valid"]))]

        rate = tuned(run, build, batches, name, held)
        model = build()
        run.fit_cosine(
            model, batches, next_token_nll, adamw(model, rate), warmup=50, total=STEPS, part=name, valid=held,
            evaluate_every=50,
        )  # fmt: skip
        found = {half: answers(model, rows) for half, rows in test.items()}
        turned, _ = answers(model, sums(exchanged(parts["kept"])))
        texts = [f"{a:02d}+{b:02d}={a + b:03d}" for a, b in pairs]
        shared = overlap([f"{a:02d}+{b:02d}={a + b:03d}" for a, b in parts["leaked"]], texts, 8)
        scores[name] = {
            "leaked half": float(found["leaked"][0].mean()),
            "kept half": float(found["kept"][0].mean()),
            "nll leaked half": float(found["leaked"][1].mean()),
            "nll kept half": float(found["kept"][1].mean()),
            "lower first": lower_first(found["leaked"][1], found["kept"][1]),
            "8-grams seen": float(shared.mean()),
            "exchanged": float(turned.mean()),
            "right in one order only": float((turned != found["kept"][0]).mean()),
        }
    scores["exact"] = scores["clean"]["kept half"]
    return scores, None


def tuned(run: Run, build: Callable, batches: Callable, part: str, held: Callable[[], Iterable[Pair]]) -> float:
    """The rate that seed 0 chose, or in the run with seed 0 the best of RATES after TRIED steps."""
    if chosen := run.picked(part):
        return chosen["rate"]
    trial = {"steps": TRIED, "clip": 1.0, "evaluate_every": TRIED}
    trial["schedule"] = lambda step: warmup_cosine(step, warmup=20, total=TRIED)
    trial["validate"] = lambda model: evaluate(model, held(), next_token_nll)
    return run.tune(build, batches, next_token_nll, adamw, part, RATES, **trial)
