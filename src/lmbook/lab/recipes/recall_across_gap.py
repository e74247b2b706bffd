"""Recall across a gap: one symbol is read, then a number of others, then it is asked for.

One layer of 32 units, trained on gaps from 1 to 60, drawn evenly, one a batch. The loss is that of the answer alone, so
nothing but the gradient across the gap can teach it. A guess is right once in eight.

All go by one rule: the rate is that of GRID that validates best after TRIED steps, and the training ends at its
plateau, or after MOST steps. Validation has questions of the trained gaps; a thousandth of a nat counts as a gain. The
plain cell is also started from an orthogonal W_hh, which carries a gradient further (exercise 7.3).
"""

import functools

import torch
from torch import Tensor, nn

from lmbook.lab.recipes.tasks import Pair, adam, random_lengths
from lmbook.lab.run import RATES, Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import device_of, evaluate
from lmbook.losses import token_nll
from lmbook.rnn_models import RecurrentLM
from lmbook.text import SPECIALS

SYMBOLS = 8  # to be recalled; as many others fill the gap, and one more asks
LONGEST = 60  # gap in training
GAPS = (1, 2, 5, 10, 20, 40, 60, 80, 120)
CELLS = {"rnn": "rnn", "rnn, orthogonal": "rnn", "gru": "gru", "lstm": "lstm"}  # what is trained, and its cell
GRID = (*RATES, 3e-2)  # the best of RATES alone is its highest
TRIED, MOST, EVERY = 1500, 12_000, 200  # steps: for each rate, for a training at most, from one validation to the next


def questions(generator: torch.Generator, rows: int, gap: int) -> tuple[Tensor, Tensor]:
    """tokens (rows, gap + 2): the symbol, `gap` others, the question; and the symbols asked for (rows, 1)."""
    first = len(SPECIALS)
    symbol = torch.randint(first, first + SYMBOLS, (rows, 1), generator=generator)
    others = torch.randint(first + SYMBOLS, first + 2 * SYMBOLS, (rows, gap), generator=generator)
    return torch.cat([symbol, others, torch.full((rows, 1), first + 2 * SYMBOLS)], dim=1), symbol


def reader(cell: str, **options: float) -> RecurrentLM:
    """The model that is asked: inputs of 16, a state of 32."""
    return RecurrentLM(len(SPECIALS) + 2 * SYMBOLS + 1, 16, 32, 1, cell, **options)


def started(name: str) -> RecurrentLM:
    """The untrained reader of one of CELLS."""
    model = reader(CELLS[name])
    if name.endswith("orthogonal"):
        nn.init.orthogonal_(model.recurrent.layers[0][0].W_hh)
    return model


def answers(model: RecurrentLM, tokens: Tensor) -> Tensor:
    """The logits after the question, (rows, 1, vocab)."""
    return model.output(model.features(tokens)[0][:, -1:])


def loss(model: RecurrentLM, batch: Pair) -> tuple[Tensor, Tensor]:
    """Summed NLL of the answers, and how many there are."""
    return token_nll(answers(model, batch[0]), batch[1])


@torch.no_grad()
def accuracy(model: RecurrentLM, gap: int, rows: int = 1000) -> float:
    """Share of new questions that are answered rightly."""
    tokens, symbol = questions(torch.Generator().manual_seed(10_000 + gap), rows, gap)
    return (answers(model, tokens.to(device_of(model))).argmax(-1).cpu() == symbol).float().mean().item()


def validation(rows: int = 32) -> list[Pair]:
    """Questions that no training has, a batch for each of its gaps."""
    generator = torch.Generator().manual_seed(5_000)
    return [questions(generator, rows, gap) for gap in range(1, LONGEST + 1)]


@recipe("gap", about="one symbol recalled after a gap, by RNN, GRU and LSTM", minutes=9, score="lstm, longest gap")
def recall_across_a_gap(run: Run) -> tuple[dict, None]:
    """Accuracy by gap, up to twice the longest gap of the training."""
    batches, valid = random_lengths(questions, 1, LONGEST, MOST, run.seed), validation()
    gaps, scores = GAPS[:2] if run.quick else GAPS, {}

    options = {
        "clip": 1.0,
        "schedule": functools.partial(warmup, steps=50),
        "validate": lambda model: round(evaluate(model, valid, loss), 3),
    }
    for name in CELLS:
        build = functools.partial(started, name)
        rate = run.tune(build, batches, loss, adam, name, GRID, steps=TRIED, evaluate_every=TRIED // 3, **options)
        model = build()
        note = "W_hh orthogonal" if "orthogonal" in name else ""
        run.to_plateau(model, batches, loss, adam(model, rate), EVERY, MOST, name, note=note, **options)
        scores[name] = {str(gap): accuracy(model, gap) for gap in gaps}
    longest = str(gaps[-1] if run.quick else LONGEST)
    return scores | {"lstm, longest gap": scores["lstm"][longest]}, None
