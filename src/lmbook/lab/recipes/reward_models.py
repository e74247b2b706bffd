"""Reward models: which of two captions would the judge take?

The judge of chapter 22 wants many adjectives, none of them twice, and decides by Bradley and Terry's rule, so that it
may take the worse of two. It is asked about pairs of captions, and three models learn from its verdicts what it wants:

    words            a number for each word; the reward is their sum
    GPT              `captions-base` with a number at the end, all weights learned on
    GPT, no reading  the same model from random weights: a control

Rate and number of updates are those with the lowest loss on other pairs. All are tested on captions that no pair had.
"""

import functools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

import lmbook
from lmbook.answers import Turns, turns
from lmbook.data.harbourish import ADJECTIVES, captions
from lmbook.lab import checkpoints
from lmbook.lab.recipes import assistant
from lmbook.lab.run import PATIENCE, Run, recipe
from lmbook.lab.train import evaluate
from lmbook.networks import evaluating
from lmbook.preferences import RewardModel, optimum, reward_loss

Pairs = tuple[Tensor, Tensor, Tensor, Tensor]  # better and worse, each as Turns
PAIRS, HELD, TESTED = (200, 1000), 500, 20_000
LEARNED, KEPT = 3000, 500  # captions to draw pairs from; to choose by. The rest of the world is for the test
ROWS, EVERY, MOST, FAR = 32, 10, 600, 7.0  # FAR: nats from the reference
RATES_WORDS, RATES_GPT = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2), (3e-5, 1e-4, 3e-4, 1e-3, 3e-3)


def truth(text: str) -> float:
    """The judge's reward: the number of different adjectives, less 2 for each that is said again."""
    said = [word for word in text.split() if word in ADJECTIVES]
    return len(set(said)) - 2.0 * (len(said) - len(set(said)))


@functools.cache
def world() -> tuple[Turns, Tensor]:
    """The captions of the chapter and their true rewards (4000,)."""
    texts = [text for text, _ in captions(4000, seed=5, max_words=20)]
    return turns(assistant.read(texts)), torch.tensor([truth(text) for text in texts])


def asked(n: int, first: int, last: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Two captions of world[first:last] for each of n questions, the one that the judge takes first: (n,), (n,)."""
    _, R = world()
    i, j = torch.randint(first, last, (2, n), generator=generator)
    wins = torch.rand(n, generator=generator) < torch.sigmoid(R[i] - R[j])
    return torch.where(wins, i, j), torch.where(wins, j, i)


def pair(w: Tensor, o: Tensor) -> Pairs:
    """The captions w and those they were preferred to."""
    (tokens, said), _ = world()
    return tokens[w], said[w], tokens[o], said[o]


def drawn(w: Tensor, o: Tensor, seed: int) -> Callable[[int], Iterator[Pairs]]:
    """A function of the epoch: all pairs in another order."""

    def batches(epoch: int) -> Iterator[Pairs]:
        order = torch.randperm(len(w), generator=torch.Generator().manual_seed(1000 * seed + epoch))
        for k in order.split(ROWS):
            yield pair(w[k], o[k])

    return batches


class Words(nn.Module):
    """r(x, y) = sum over the answer of a number for each word."""

    def __init__(self, vocab: int):
        super().__init__()
        self.w = nn.Embedding(vocab, 1)
        nn.init.zeros_(self.w.weight)

    def forward(self, batch: Turns) -> Tensor:
        tokens, said = batch
        return (self.w(tokens).squeeze(2) * said).sum(1)


def read_before() -> RewardModel:
    return RewardModel(checkpoints.load("captions-base")[0].requires_grad_(True), assistant.D)


MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[float, ...]]] = {
    "words": (lambda: Words(len(assistant.vocabulary())), RATES_WORDS),
    "GPT": (read_before, RATES_GPT),
    "GPT, no reading": (lambda: RewardModel(assistant.new_model(), assistant.D), RATES_GPT),
}


def adam(model: nn.Module, rate: float) -> torch.optim.AdamW:
    """AdamW without decay."""
    return torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.99), weight_decay=0.0)


def gained(believed: Tensor, far: float = FAR) -> float:
    """The true reward above the world's mean of the best policy for `believed` at `far` nats, captions being equally
    likely at first. Its beta is found by bisection: the distance falls where beta rises.
    """
    _, R = world()
    ref = torch.full_like(believed, 1 / len(believed))
    low, high = 1e-3, 1e3
    for _ in range(60):
        beta = (low * high) ** 0.5
        p = optimum(ref, believed, beta)
        low, high = (beta, high) if torch.special.entr(p).sum() < ref.log().neg()[0] - far else (low, beta)
    return float(p @ R.to(p) - R.mean())


def measured(model: nn.Module, test: tuple[Tensor, Tensor]) -> dict[str, float]:
    """The share of test pairs that the model orders as the judge's reward does, and `gained`."""
    captions, R = world()
    with evaluating(model):
        believed = torch.cat([model(tuple(part[k] for part in captions)) for k in torch.arange(len(R)).split(500)])
    better, worse = test
    return {"right": (believed[better] > believed[worse]).double().mean().item(), "gained": gained(believed.double())}


@recipe(
    "reward-models",
    about="which of two captions a judge prefers, from 200 or 1,000 pairs: a number a word, or a GPT with a number",
    minutes=6,
    score="right",
)
def reward_models(run: Run) -> tuple[dict, None]:
    """By number of pairs and model: right, in pairs of captions that were in no other, and gained, at FAR nats."""
    generator, (_, R) = torch.Generator().manual_seed(run.seed), world()
    w, o = asked(max(PAIRS), 0, LEARNED, generator)
    held = pair(*asked(10 if run.quick else HELD, LEARNED, LEARNED + KEPT, generator))
    i, j = torch.randint(LEARNED + KEPT, len(R), (2, TESTED), generator=generator)
    test = (torch.where(R[i] > R[j], i, j)[R[i] != R[j]], torch.where(R[i] > R[j], j, i)[R[i] != R[j]])
    scores: dict = {}
    for n in PAIRS[-1:] if run.quick else PAIRS:
        scores[f"{n}"] = {}
        for name, (build, rates) in MODELS.items():
            part = f"{name}, {n} pairs"
            batches = drawn(w[:n], o[:n], run.seed)
            how = {"validate": lambda model: evaluate(model, [held], reward_loss)}
            if (chosen := run.picked(part)) is not None:
                rate = chosen["rate"]
            else:
                many = {"steps": MOST, "evaluate_every": EVERY, "patience": PATIENCE}
                rate = run.tune(build, batches, reward_loss, adam, part, rates, **many, **how)
            lmbook.seed(run.seed)
            model = build().to(run.device)
            run.to_plateau(
                model, batches, reward_loss, adam(model, rate), EVERY, MOST, part,
                note="captions-base" if name == "GPT" else "", **how,
            )  # fmt: skip
            scores[f"{n}"][name] = measured(model, test) | {"rate": rate}
    return scores | {"right": scores["1000"]["GPT"]["right"]}, None
