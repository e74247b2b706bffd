"""How far back must the gradient go? Truncated back-propagation through time with the cut at four places.

A vanilla RNN of 64 units reads Tiny Shakespeare by the character, in windows of 30 on 32 streams, and always carries
its state on. What differs is where the gradient is cut: after every step, or after 3, 10 or 30. Weights at the start,
batches and number of steps are the same; each has the rate of RATES that validates best after TRIED steps with seed 0.
`truncation-frozen` is the control for the cut after every step: its W_hh stays as it was drawn.
Scored on the rest of the text as one stream, in nats per character.
"""

from functools import partial

import torch
from torch import Tensor

import lmbook
from lmbook.data import stream_batches
from lmbook.lab.recipes.shakespeare import prepare
from lmbook.lab.recipes.tasks import Pair, shifted_stream, stream_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import evaluate
from lmbook.losses import token_nll
from lmbook.rnn_models import RecurrentLM, detach

CUTS = (1, 3, 10, 30)  # steps; the last is the window
TRIED, BUDGETS = 500, (6000, 12_000)  # steps for each rate, and for a training


def cut_nll(model: RecurrentLM, batch: Pair, state, cut: int) -> tuple[Tensor, Tensor, object]:
    """`stream_nll` of a window whose gradient reaches back `cut` steps at most; the state goes on across every cut."""
    inputs, targets = batch
    state, h = model.start(len(inputs)) if state is None else state, []
    for piece in inputs.split(cut, dim=1):
        features, state = model.features(piece, state)
        h.append(features)
        state = detach(state)
    return *token_nll(model.output(torch.cat(h, dim=1)), targets), state


def train_and_score(run: Run, steps: int, cuts: tuple[int, ...] = CUTS, frozen: bool = False) -> tuple[dict, None]:
    """The score of each cut is its NLL after the last step.  frozen: W_hh is not trained."""
    tokenizer, ids, valid = prepare(run)
    scores: dict = {}

    def build() -> RecurrentLM:
        model = RecurrentLM(len(tokenizer.vocabulary), 32, 64, cell="rnn").to(run.device)
        model.recurrent.layers[0][0].W_hh.requires_grad_(not frozen)
        return model

    def adam(model: RecurrentLM, rate: float) -> torch.optim.Adam:
        return torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=rate)

    def batches(epoch: int):
        return shifted_stream(ids, 32, CUTS[-1], [run.seed, epoch])

    def validate(model: RecurrentLM) -> float:
        return evaluate(model, stream_batches(valid, 20, 100), stream_nll, stateful=True)

    for cut in cuts:
        part, loss = f"cut {cut}", partial(cut_nll, cut=cut)
        trial = {"steps": TRIED, "evaluate_every": TRIED, "schedule": partial(warmup, steps=50)}
        trial |= {"clip": 1.0, "stateful": True, "validate": validate}
        if known := run.picked(part):
            rate, run.tried[part] = known["rate"], known["rates tried"]
        else:
            rate = run.tune(build, batches, loss, adam, part, **trial)
        lmbook.seed(run.seed)
        model = build()
        options = {"stateful": True, "validate": validate, "evaluate_every": steps // 12, "part": part}
        run.fit_cosine(model, batches, loss, adam(model, rate), warmup=steps // 60, total=steps, **options)
        nll = evaluate(model, stream_batches(valid, 1, 200), stream_nll, stateful=True)
        scores[part] = {"nll": nll}
    return scores | {"lowest nll": min(score["nll"] for score in scores.values())}, None


for name, steps in zip(("truncation", "truncation-long"), BUDGETS, strict=True):
    recipe(
        name,
        about=f"characters by a vanilla RNN, its gradient cut after 1, 3, 10 or 30 steps; {steps:,} updates",
        minutes=steps / 750,
        corpora=("tinyshakespeare",),
        score="lowest nll",
    )(partial(train_and_score, steps=steps))

recipe(
    "truncation-frozen",
    about=f"characters by a vanilla RNN whose recurrent matrix stays as it was drawn; {BUDGETS[0]:,} updates",
    minutes=3,
    corpora=("tinyshakespeare",),
    score="lowest nll",
)(partial(train_and_score, steps=BUDGETS[0], cuts=CUTS[:1], frozen=True))
