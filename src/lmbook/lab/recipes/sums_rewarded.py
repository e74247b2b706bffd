"""Sums with a reward in the place of an answer: a checker reads what was said, and accepts it or not.

`sums-rewarded` goes on from `sums-scratchpad`, which stopped early: by answers that are given (more of the same), by
REINFORCE with a baseline, and by the group-relative form, each at its own rate. The checker reads the number behind the
colon. A second checker, meant to save tokens, reads the last digit and takes off a little for every token: what it pays
and what is true are told apart.
"""

import copy
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from lmbook.answers import Turns, answer_nll, log_probs, say
from lmbook.lab import checkpoints
from lmbook.lab.recipes.assistant import tuned
from lmbook.lab.recipes.sums_aloud import DIGITS, SYMBOLS, drawn, numbers, question, share, unseen
from lmbook.lab.run import Run, recipe
from lmbook.reinforce import grpo_loss, over_batch, over_group, reinforce_loss

MOST, QUESTIONS, GROUP, UPDATES, TRIED = 12, 8, 8, 60, 20
RATES = (5e-4, 1e-3, 2e-3)
PRICE = 0.03  # of a token, for the checker that saves


def said(batch: Turns) -> list[str]:
    """What was said, a character a token, without its end."""
    rows = [SYMBOLS.vocabulary.decode(row[own].tolist()) for row, own in zip(*batch, strict=True)]
    return ["".join(one if len(one) == 1 else "?" for one in row if one != "<eos>") for row in rows]


def true(asked: list, texts: list[str]) -> Tensor:
    """1 where what stands behind the last colon is the sum, else 0."""
    return torch.tensor([
        float(text.rsplit(":", 1)[-1] == f"{a + b:0{DIGITS + 1}}") for (a, b), text in zip(asked, texts, strict=True)
    ])  # fmt: skip


def saving(asked: list, texts: list[str]) -> Tensor:
    """1 where the last digit is right, less PRICE for every token."""
    return torch.tensor([
        float(text[-1:] == str((a + b) % 10)) - PRICE * len(text) for (a, b), text in zip(asked, texts, strict=True)
    ])  # fmt: skip


def answers(model: nn.Module, asked: list, generator: torch.Generator | None = None, temperature: float = 1.0) -> Turns:
    prompts = torch.tensor([question(a, b) for a, b in asked])
    return say(model, prompts, MOST, temperature, SYMBOLS.vocabulary["<eos>"], generator)


def measured(model: nn.Module, n: int) -> dict[str, float]:
    """Of n unseen sums: true and what the saving checker pays for sampled answers, true for the likeliest, tokens."""
    asked = unseen()[:n]
    texts = said(answers(model, asked, torch.Generator().manual_seed(0)))
    found = {"true": share(true(asked, texts)), "paid": share(saving(asked, texts))}
    found["tokens"] = sum(map(len, texts)) / n
    found["greedy"] = share(true(asked, said(answers(model, asked, temperature=0.0))))
    return {name: round(value, 4) for name, value in found.items()}


def rewarded(checker: Callable[[list, list[str]], Tensor], form: str):
    """A loss for run.fit, of a batch of sums (B, 2): samples answers, asks the checker, and gives the form's loss."""

    def loss(model: nn.Module, batch: tuple[Tensor]) -> tuple[Tensor, Tensor]:
        asked = batch[0].tolist()
        made = answers(model, asked)
        R, log_pi, mine = checker(asked, said(made)), log_probs(model, made), made[1][:, 1:]
        if form == "groups":
            total = grpo_loss(log_pi, log_pi.detach(), over_group(R, GROUP), mine)
        else:
            total = reinforce_loss(log_pi, over_batch(R))
        return total * len(asked), torch.tensor(len(asked))

    return loss


def asked_for(seed: int, group: int) -> Callable[[int], Iterator[tuple[Tensor]]]:
    """A function of the epoch: batches of QUESTIONS * GROUP sums, each `group` times in a row."""

    def batches(epoch: int) -> Iterator[tuple[Tensor]]:
        for i in range(100):
            made = numbers(QUESTIONS * GROUP // group, 500_000 + 100_000 * seed + 100 * epoch + i)
            yield (torch.tensor(made).repeat_interleave(group, 0),)

    return batches


# every way to go on: the form of the loss (None: answers are given), how often a sum is asked, the checker
WAYS: dict[str, tuple[str | None, int, Callable]] = {
    "more answers": (None, 1, true),
    "REINFORCE": ("baseline", 1, true),
    "groups of 8": ("groups", GROUP, true),
    "saving checker": ("groups", GROUP, saving),
}


@recipe(
    "sums-rewarded",
    about="sums with a scratchpad, rewarded where a checker accepts them: REINFORCE, groups, a checker that is gamed",
    minutes=4,
    score="before",
)
def sums_rewarded(run: Run) -> tuple[dict, None]:
    """The share of true answers before and along each way to go on, and what the saving checker would pay."""
    early, _, _ = checkpoints.load("sums-scratchpad")
    n = 20 if run.quick else 200
    scores: dict = {"start": measured(early, n), "rates": {}, "seconds": {}}
    scores["before"] = scores["start"]["true"]
    for name, (form, group, checker) in WAYS.items():

        def build() -> nn.Module:
            return copy.deepcopy(early).requires_grad_(True).to(run.device)

        curve: list = []

        def validate(model: nn.Module, curve: list = curve, gamed: bool = checker is saving) -> float:
            curve.append(measured(model, n))
            return -curve[-1]["paid" if gamed else "true"]

        if form is None:
            batches, loss = drawn("scratchpad", QUESTIONS * GROUP, 7 + run.seed), answer_nll
        else:
            batches, loss = asked_for(run.seed, group), rewarded(checker, form)
        if (chosen := run.picked(name)) is not None:
            rate = chosen["rate"]
        else:
            rate = run.tune(
                build, batches, loss, tuned, name, RATES, steps=TRIED, clip=1.0, validate=validate, evaluate_every=TRIED
            )
        curve.clear()
        model = build()
        run.fit(
            model, batches, loss, tuned(model, rate), part=name, steps=UPDATES, clip=1.0, validate=validate,
            evaluate_every=20, note="sums-scratchpad",
        )  # fmt: skip
        scores[name] = {"curve": curve} | curve[-1]
        scores["rates"][name] = rate
    return scores, None
