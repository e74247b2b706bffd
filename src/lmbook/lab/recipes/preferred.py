"""Preferences on captions: a rule is the judge, so that the truth is known beside what a reward model believes.

    truth(x, y) = different adjectives - 2 (adjectives said again), and -2 where y does not fit x

Pairs of answers of `captions-chat` are compared by Bradley and Terry's law with the rule's truth. A reward model learns
from the pairs. Then the chat model is tuned: by DPO on the pairs themselves, or by group-relative reinforcement with
the reward model as judge. Truth, belief and the distance from the chat model are measured as it goes.
"""

import copy
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from lmbook.answers import Turns, log_probs, say
from lmbook.data.harbourish import ADJECTIVES
from lmbook.lab import checkpoints
from lmbook.lab.recipes.assistant import ASKED, MOST, D, fits, prompt, told, tuned
from lmbook.lab.run import Run, recipe
from lmbook.networks import evaluating
from lmbook.preferences import RewardModel, bradley_terry_loss, dpo_loss
from lmbook.reinforce import grpo_loss, over_group

Pairs = tuple[Tensor, Tensor, Tensor, Tensor]  # tokens and said of the better answers, and of the worse ones
N_PAIRS, ROWS, GROUP = 1000, 32, 8
BETAS = (0.03, 0.3)


def truth(asked: str, words: list[str]) -> float:
    """What the rule gives for an answer."""
    if not fits(asked, words):
        return -2.0
    said = [word for word in words if word in ADJECTIVES]
    return len(set(said)) - 2.0 * (len(said) - len(set(said)))


def truths(asked: list[str], batch: Turns) -> Tensor:
    return torch.tensor([truth(one, words) for one, words in zip(asked, told(batch), strict=True)])


def answers(model: nn.Module, asked: list[str], generator: torch.Generator | None = None) -> Turns:
    """One sampled answer each, at most MOST words, padded to one width."""
    tokens, said = say(model, torch.tensor([prompt(one) for one in asked]), MOST, generator=generator)
    wide = len(prompt(asked[0])) + MOST - tokens.shape[1]
    return nn.functional.pad(tokens, (0, wide)), nn.functional.pad(said, (0, wide))


def compared(model: nn.Module, n: int, seed: int) -> Pairs:
    """n pairs of answers, the better one first, as the judge drew it."""
    generator = torch.Generator().manual_seed(seed)
    asked = [ASKED[i] for i in torch.randint(len(ASKED), (n,), generator=generator).tolist()]
    (a, said_a), (b, said_b) = (answers(model, asked, generator) for _ in range(2))
    won = torch.sigmoid(truths(asked, (a, said_a)) - truths(asked, (b, said_b)))
    first = (torch.rand(n, generator=generator) < won).unsqueeze(1)
    return (torch.where(first, a, b), torch.where(first, said_a, said_b),
            torch.where(first, b, a), torch.where(first, said_b, said_a))  # fmt: skip


def shuffled(pairs: Pairs, seed: int) -> Callable[[int], Iterator[tuple[Tensor, ...]]]:
    """A function of the epoch: its batches, every pair once."""

    def batches(epoch: int) -> Iterator[tuple[Tensor, ...]]:
        generator = torch.Generator().manual_seed(1000 * seed + epoch)
        for rows in torch.randperm(len(pairs[0]), generator=generator).split(ROWS):
            yield tuple(part[rows] for part in pairs)

    return batches


def reward_loss(model: RewardModel, batch: Pairs) -> tuple[Tensor, Tensor]:
    """Bradley and Terry's loss of a batch of pairs, summed, and their number."""
    better, said_better, worse, said_worse = batch
    loss = bradley_terry_loss(model((better, said_better)), model((worse, said_worse)))
    return loss.sum(), torch.tensor(len(better))


def with_reference(ref: nn.Module, pairs: Pairs) -> tuple[Tensor, ...]:
    """The pairs and ln ref(y | x) of the two answers."""
    with evaluating(ref):
        better, worse = (log_probs(ref, pairs[i : i + 2]).sum(1) for i in (0, 2))
    return *pairs, better, worse


def preference_loss(model: nn.Module, batch: tuple[Tensor, ...], beta: float) -> tuple[Tensor, Tensor]:
    """DPO's loss of a batch of pairs, summed, and their number."""
    better, said_better, worse, said_worse, ref_better, ref_worse = batch
    log_w, log_l = (log_probs(model, turns).sum(1) for turns in ((better, said_better), (worse, said_worse)))
    return dpo_loss(log_w, log_l, ref_better, ref_worse, beta).sum(), torch.tensor(len(better))


def judged(model: nn.Module, ref: nn.Module, judge: RewardModel, n: int, seed: int = 0) -> dict[str, float]:
    """Of n sampled answers: truth, belief of the reward model, KL to ref in nats, length."""
    asked = list(ASKED * n)[:n]
    batch = answers(model, asked, torch.Generator().manual_seed(seed))
    with evaluating(judge), evaluating(ref), evaluating(model):
        distance = (log_probs(model, batch) - log_probs(ref, batch)).sum(1)
        believed = judge(batch)
    found = {"truth": truths(asked, batch), "belief": believed, "KL": distance, "words": batch[1].sum(1).float() - 1}
    found["fits"] = torch.tensor([float(fits(one, words)) for one, words in zip(asked, told(batch), strict=True)])
    return {name: round(values.mean().item(), 4) for name, values in found.items()}


def rewarded(asked_for: Callable[[int], list], judge: Callable[[list, Turns], Tensor], ref: nn.Module, beta: float):
    """A loss for run.fit: samples a group of answers to each request, judges them, and gives GRPO's loss."""

    def loss(model: nn.Module, batch: tuple[Tensor]) -> tuple[Tensor, Tensor]:
        asked = [one for one in asked_for(int(batch[0][0])) for _ in range(GROUP)]
        made = answers(model, asked)
        A = over_group(judge(asked, made), GROUP)
        log_pi = log_probs(model, made)
        with torch.no_grad():
            log_ref = log_probs(ref, made)
        total = grpo_loss(log_pi, log_pi.detach(), A, made[1][:, 1:], log_ref=log_ref, beta=beta)
        return total * len(asked), torch.tensor(len(asked))

    return loss


@recipe(
    "captions-preferred",
    about="the captions' assistant tuned by preferences: a reward model, DPO, reinforcement by belief and by the truth",
    minutes=4,
    score="truth before",
)
def captions_preferred(run: Run) -> tuple[dict, None]:
    """Truth, belief and distance before and along each tuning."""
    chat, _, _ = checkpoints.load("captions-chat")
    n = 32 if run.quick else 192
    pairs = compared(chat, 64 if run.quick else N_PAIRS, run.seed)
    tested = compared(chat, n, 100 + run.seed)
    judge = RewardModel(copy.deepcopy(chat).requires_grad_(True), D)
    run.fit_cosine(
        judge, shuffled(pairs, run.seed), reward_loss, tuned(judge, 1e-3), warmup=10, total=100, part="reward model",
        valid=lambda: [tested], evaluate_every=25, note="captions-chat",
    )  # fmt: skip
    with evaluating(judge):
        agreed = (judge(tested[:2]) > judge(tested[2:])).float().mean().item()
    scores: dict = {"agreed": agreed, "before": judged(chat, chat, judge, n)}
    scores["truth before"] = scores["before"]["truth"]

    def along(curve: list) -> Callable[[nn.Module], float]:
        def validate(model: nn.Module) -> float:
            curve.append(judged(model, chat, judge, n))
            return -curve[-1]["truth"]

        return validate

    paired = with_reference(chat, pairs)
    for beta in BETAS:
        curve: list = []
        model = copy.deepcopy(chat).requires_grad_(True)
        run.fit_cosine(
            model, shuffled(paired, run.seed), lambda model, batch, beta=beta: preference_loss(model, batch, beta),
            tuned(model, 1e-3), warmup=10, total=100, part=f"DPO, beta {beta}", validate=along(curve),
            evaluate_every=20, note="captions-chat",
        )  # fmt: skip
        scores[f"DPO, beta {beta}"] = {"curve": curve} | curve[-1]

    def prompts(epoch: int) -> Iterator[tuple[Tensor]]:
        generator = torch.Generator().manual_seed(1000 * run.seed + epoch)
        for i in torch.randint(2**31, (100,), generator=generator):
            yield (i.repeat(1),)

    def asked_for(seed: int) -> list:
        chosen = torch.randint(len(ASKED), (8,), generator=torch.Generator().manual_seed(seed))
        return [ASKED[i] for i in chosen.tolist()]

    def belief(_: list, made: Turns) -> Tensor:
        with evaluating(judge):
            return judge(made)

    for name, by, beta in (("belief", belief, 0.0), ("belief, KL 0.1", belief, 0.1), ("truth", truths, 0.0)):
        curve = []
        model = copy.deepcopy(chat).requires_grad_(True)
        run.fit_cosine(
            model, prompts, rewarded(asked_for, by, chat, beta), tuned(model, 1e-3), warmup=5, total=60, part=name,
            validate=along(curve), evaluate_every=10, note="captions-chat",
        )  # fmt: skip
        scores[name] = {"curve": curve} | curve[-1]
    return scores, None
