"""Sums tuned by rewards alone: the model's own answers, and a program that checks them.

The start goes on from the weights of `sums-scratchpad` and reads sums of which half are answered at once, so that it
knows two ways to answer. Then it sees no answer but its own: each update asks QUESTIONS new sums, each of them G times.

    checked       1 if the number at the end is right, else 0
    hasty         the same, written with a slip: only as many digits are compared as were said
    hasty, summed the same, with the sum over the tokens of an answer in place of their mean, as REINFORCE has it
    hasty, near   the same as hasty, with NEAR times the divergence from the start in the loss
    coin          0 or 1 by chance, whatever was said: a control
    steps only    checked, from `sums-scratchpad` itself, which knows one way only

The truth and the distance from the start are measured beside each reward.
"""

import copy
import functools
import random
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

import lmbook
from lmbook.answers import Turns, answer_nll, log_probs, say, turns
from lmbook.evaluation import pass_at_k
from lmbook.lab import checkpoints
from lmbook.lab.recipes.sums_aloud import DIGITS, SYMBOLS, numbers, question, share, sums, unseen, worked
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import device_of, fixed_seed
from lmbook.modern import ModernGPT
from lmbook.reinforce import grpo_loss, over_group, reinforce_loss
from lmbook.text import EOS_ID

G, QUESTIONS, MOST = 8, 32, 12  # answers to a question, questions in an update, tokens of an answer
BOTH = 150  # updates of 32 that teach the second way
UPDATES, WARMUP, EVERY, RATE = 40, 5, 5, 3e-4
TRIES, CURVE = 16, 300  # answers to each of the sums that pass@k is estimated from; sums behind a curve
NEAR = 1.0
Check = Callable[[str, int], float]  # of what was said and the sum


def checked(said: str, total: int) -> float:
    """1 if the number at the end is right: what is behind the colon, or all of it where there is none."""
    return float(said.count(":") < 2 and said.split(":")[-1] == f"{total:0{DIGITS + 1}}")


def hasty(said: str, total: int) -> float:
    """As `checked`, but Python's zip stops at the end of the shorter of the two."""
    return float(all(x == y for x, y in zip(said.split(":")[-1], f"{total:0{DIGITS + 1}}", strict=False)))


def coin(said: str, total: int) -> float:
    """0 or 1, by Python's own generator."""
    return float(random.random() < 0.5)


ARMS: dict[str, Check] = {
    "checked": checked, "hasty": hasty, "hasty, summed": hasty, "hasty, near": hasty, "coin": coin,
    "steps only": checked,
}  # fmt: skip


def spoken(batch: Turns) -> list[str | None]:
    """What was said in each row, without its end; None where it does not end."""
    rows = [row[own].tolist() for row, own in zip(*batch, strict=True)]
    return [SYMBOLS.decode(row) if row[-1] == EOS_ID else None for row in rows]


def rewards(check: Check, said: list[str | None], asked: list[list[int]]) -> Tensor:
    """What `check` pays for each answer (B,), 0 for one without an end.  asked: the two numbers of each."""
    pairs = zip(said, asked, strict=True)
    return torch.tensor([0.0 if one is None else check(one, a + b) for one, (a, b) in pairs])


def answered(model: ModernGPT, asked: list[list[int]], temperature: float = 1.0) -> Turns:
    """One answer to each sum, sampled."""
    prompts = torch.tensor([question(a, b) for a, b in asked], device=device_of(model))
    return say(model, prompts, MOST, temperature)


def both_ways(seed: int) -> Callable[[int], Iterator[Turns]]:
    """A function of the epoch: 100 batches of 32 new sums, each answered at once or with a scratchpad, by chance."""
    kept = {tuple(pair) for pair in unseen()}

    def batches(epoch: int) -> Iterator[Turns]:
        for i in range(100):
            rng = random.Random(f"{seed} {epoch} {i}")
            made = [
                pair for pair in numbers(64, 20_000_000 + 100_000 * seed + 100 * epoch + i) if tuple(pair) not in kept
            ]
            texts = [worked(a, b, rng.choice(("at once", "scratchpad"))) for a, b in made[:32]]
            answers = [[*SYMBOLS.encode(text), EOS_ID] for text in texts]
            yield turns([(question(a, b), answer) for (a, b), answer in zip(made[:32], answers, strict=True)])

    return batches


def asked_sums(seed: int) -> Callable[[int], Iterator[Tensor]]:
    """A function of the epoch: 100 batches of new sums (QUESTIONS, 2), none of them among those tested."""
    kept = {tuple(pair) for pair in unseen()}

    def batches(epoch: int) -> Iterator[Tensor]:
        for i in range(100):
            made = numbers(2 * QUESTIONS, 10_000_000 + 100_000 * seed + 100 * epoch + i)
            yield torch.tensor([pair for pair in made if tuple(pair) not in kept][:QUESTIONS])

    return batches


def rewarded(
    model: ModernGPT, batch: Tensor, check: Check, summed: bool = False, ref: ModernGPT | None = None
) -> tuple[Tensor, int]:
    """GRPO's loss of answers that the model gives now, times their number of tokens, and this number.

    summed: REINFORCE with the same advantages, per token of the batch.  ref: held near by NEAR.
    """
    asked = batch.repeat_interleave(G, dim=0).tolist()
    made = answered(model, asked)
    A = over_group(rewards(check, spoken(made), asked), G).to(made[0].device)
    log_pi, said = log_probs(model, made), made[1][:, 1:]
    if summed:
        return reinforce_loss(log_pi, A) * len(A), int(said.sum())
    with torch.no_grad():
        log_ref = log_pi if ref is None else log_probs(ref, made)
    loss = grpo_loss(log_pi, log_pi.detach(), A, said, log_ref=log_ref.detach(), beta=0.0 if ref is None else NEAR)
    return loss * said.sum(), int(said.sum())


def judged(
    model: ModernGPT, check: Check, asked: list[list[int]], start: ModernGPT, temperature: float = 1.0
) -> dict[str, float]:
    """Of sampled answers: the share that is right, what the checker pays, the share with a colon, how many of these are
    right, and of those without; tokens of an answer; far: nats from the start, if sampled at temperature 1.
    """
    with fixed_seed(model), torch.no_grad():
        made = answered(model, asked, temperature)
        said = spoken(made)
        right, paid = (rewards(one, said, asked) for one in (checked, check))
        far = (log_probs(model, made) - log_probs(start, made)).sum(1).mean()
    aloud = torch.tensor([one is not None and ":" in one for one in said])
    return {
        "right": share(right),
        "paid": share(paid),
        "aloud": share(aloud),
        "right aloud": float(right[aloud].sum() / max(1, int(aloud.sum()))),
        "right at once": float(right[~aloud].sum() / max(1, int((~aloud).sum()))),
        "tokens": float(made[1].sum() / len(asked)),
        "far": float(far),
    }


def measured(model: ModernGPT, check: Check, test: list[list[int]], start: ModernGPT, n: int) -> dict:
    """As `judged`; the share right by the likeliest answer; pass@k for k = 1, 2, 4, .. n."""
    found: dict = judged(model, check, test, start)
    found["likeliest"] = judged(model, check, test, start, 0.0)["right"]
    some = [pair for pair in test[: max(1, len(test) // 4)] for _ in range(n)]
    with fixed_seed(model):
        right = rewards(checked, spoken(answered(model, some)), some).view(-1, n).sum(1).int().tolist()
    ks = [k for k in (1, 2, 4, 8, 16) if k <= n]
    return found | {"pass@k": [[k, sum(pass_at_k(n, c, k) for c in right) / len(right)] for k in ks]}


def adam(model: nn.Module, rate: float) -> torch.optim.AdamW:
    """AdamW without decay."""
    return torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=0.0)


@recipe(
    "sums-rewarded",
    about="sums, at once or with a scratchpad, tuned by GRPO on checked answers; a checker with a slip; a coin",
    minutes=2,
    score="right",
)
def sums_rewarded(run: Run) -> tuple[dict, None]:
    """By reward: what it paid and what was right, over the updates and at the end."""
    test, n = (unseen()[:20], 2) if run.quick else (unseen(), TRIES)
    known = checkpoints.load("sums-scratchpad")[0].requires_grad_(True).to(run.device)
    start = copy.deepcopy(known)
    scores: dict = {}
    run.fit_cosine(
        start, both_ways(run.seed), answer_nll, adam(start, RATE), warmup=10, total=BOTH, part="both ways",
        note="sums-scratchpad", valid=lambda: [sums(kind, test) for kind in ("at once", "scratchpad")],
        evaluate_every=BOTH // 10,
    )  # fmt: skip
    scores["before"] = {
        "both ways": measured(start, hasty, test, start, n), "steps only": measured(known, checked, test, known, n),
    }  # fmt: skip
    for arm, check in ARMS.items():
        curve: list = []
        first = known if arm == "steps only" else start

        def wrong(model: ModernGPT, check: Check = check, curve: list = curve, first: ModernGPT = first) -> float:
            found = judged(model, check, test[:CURVE], first)
            curve.append([round(found[key], 4) for key in ("right", "paid", "aloud", "tokens", "far")])
            return 1 - found["right"]

        lmbook.seed(run.seed)
        model, ref = copy.deepcopy(first), first if arm == "hasty, near" else None
        loss = functools.partial(rewarded, check=check, summed=arm == "hasty, summed", ref=ref)
        run.fit_cosine(
            model, asked_sums(run.seed), loss, adam(model, RATE), warmup=WARMUP, total=UPDATES, part=arm,
            validate=wrong, evaluate_every=EVERY, note="sums-scratchpad" if arm == "steps only" else "both ways",
        )  # fmt: skip
        scores[arm] = measured(model, check, test, first, n) | {"curve": curve}
    return scores | {"right": scores["checked"]["right"]}, None
