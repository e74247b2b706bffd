"""Recurrent language models of characters, small enough to run in a page: RNN, GRU and LSTM on Tiny Shakespeare.

One layer of 160 units each, the same data, budget and optimiser: what differs is the cell. Scored on the last tenth of
the text as one stream, every character of it but the first predicted once.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from lmbook.data import stream_batches
from lmbook.decode import sample
from lmbook.experiments.run import Run, recipe
from lmbook.losses import token_nll
from lmbook.rnn_models import RecurrentLM
from lmbook.schedules import warmup_cosine
from lmbook.text import SPECIALS, CharTokenizer
from lmbook.train import evaluate

B, T, STEPS = 32, 64, 3000
NAMES = {"rnn": "vanilla RNN", "gru": "GRU", "lstm": "LSTM"}
RATES = {"rnn": 2e-3, "gru": 4e-3, "lstm": 6e-3}


def loss(model: nn.Module, batch: tuple[Tensor, Tensor], state) -> tuple[Tensor, Tensor, object]:
    """Summed NLL of a window, its characters, the state after it."""
    tokens, targets = batch
    logits, state = model.run(tokens, model.start(len(tokens)) if state is None else state)
    nll, n = token_nll(logits, targets)
    return nll, n, state


def enter(cell: str) -> None:
    """Enters the recipe of one cell."""

    @recipe(
        f"shakespeare-{cell}",
        about=f"characters of Tiny Shakespeare, {NAMES[cell]} of 160 units",
        minutes=5,
        corpora=("tinyshakespeare",),
        ships=True,
        score="nll",
    )
    def character_model(run: Run) -> tuple[dict, nn.Module]:
        corpus = run.corpus("tinyshakespeare")
        tokenizer = run.text = CharTokenizer.train(corpus["train"] + corpus["valid"])
        train, valid = (tokenizer.encode(run.cut(corpus[part], 5000)) for part in ("train", "valid"))
        model = RecurrentLM(len(tokenizer.vocabulary), 64, 160, 1, cell, dropout=0.1).to(run.device)

        def batches(epoch: int) -> Iterator[tuple[Tensor, Tensor]]:
            return stream_batches(train[int(np.random.default_rng([run.seed, epoch]).integers(T)) :], B, T)

        run.fit(
            model,
            batches,
            loss,
            torch.optim.Adam(model.parameters(), lr=RATES[cell], betas=(0.9, 0.99)),
            steps=STEPS,
            schedule=lambda step: warmup_cosine(step, warmup=100, total=STEPS),
            clip=1.0,
            stateful=True,
            validate=lambda model: evaluate(model, stream_batches(valid, 20, 100), loss, stateful=True),
            evaluate_every=500,
        )
        nll = evaluate(model, stream_batches(valid, 1, 200), loss, stateful=True)
        generator = torch.Generator().manual_seed(run.seed)
        prompt = torch.tensor([tokenizer.encode("ROMEO:")])
        never = range(len(SPECIALS))
        written, _ = sample(
            model, 1, 300, temperature=0.8, generator=generator, prompt=prompt, eos=None, forbid=list(never)
        )
        return {"nll": nll, "sample": "ROMEO:" + tokenizer.decode(written[0])}, model


for name in NAMES:
    enter(name)
