"""Recall across a gap: one symbol is read, then a number of others, then it is asked for.

One layer of 32 units, trained on gaps from 1 to 60, drawn evenly, one a batch; the same data, budget and optimiser for
all. The loss is that of the answer alone, so nothing but the gradient across the gap can teach it. A guess is right
once in eight.
"""

import torch
from torch import Tensor

from lmbook.experiments.run import Run, recipe
from lmbook.experiments.tasks import Pair, random_lengths
from lmbook.losses import token_nll
from lmbook.rnn_models import RecurrentLM
from lmbook.text import SPECIALS
from lmbook.train import device_of

SYMBOLS = 8  # to be recalled; as many others fill the gap, and one more asks
LONGEST = 60  # gap in training
GAPS = (1, 2, 5, 10, 20, 40, 60, 80, 120)
CELLS = ("rnn", "gru", "lstm")
STEPS, RATE = 3000, 1e-2


def questions(generator: torch.Generator, rows: int, gap: int) -> tuple[Tensor, Tensor]:
    """tokens (rows, gap + 2): the symbol, `gap` others, the question; and the symbols asked for (rows, 1)."""
    first = len(SPECIALS)
    symbol = torch.randint(first, first + SYMBOLS, (rows, 1), generator=generator)
    others = torch.randint(first + SYMBOLS, first + 2 * SYMBOLS, (rows, gap), generator=generator)
    return torch.cat([symbol, others, torch.full((rows, 1), first + 2 * SYMBOLS)], dim=1), symbol


def reader(cell: str, **options: float) -> RecurrentLM:
    """The model that is asked: inputs of 16, a state of 32."""
    return RecurrentLM(len(SPECIALS) + 2 * SYMBOLS + 1, 16, 32, 1, cell, **options)


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


@recipe("gap", about="one symbol recalled after a gap, by RNN, GRU and LSTM", minutes=4, score="lstm, longest gap")
def recall_across_a_gap(run: Run) -> tuple[dict, None]:
    """Accuracy by gap, up to twice the longest gap of the training."""
    batches = random_lengths(questions, 1, LONGEST, STEPS, run.seed)
    gaps, scores = GAPS[:2] if run.quick else GAPS, {}
    for cell in CELLS:
        model = reader(cell).to(run.device)
        adam = torch.optim.Adam(model.parameters(), lr=RATE)
        run.fit_cosine(model, batches, loss, adam, warmup=50, total=STEPS, part=cell)
        scores[cell] = {str(gap): accuracy(model, gap) for gap in gaps}
    longest = str(gaps[-1] if run.quick else LONGEST)
    return scores | {"lstm, longest gap": scores["lstm"][longest]}, None
