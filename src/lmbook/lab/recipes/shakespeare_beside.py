"""Shakespeare by the character: a GRU at the cost of the GPT of `shakespeare`, and as large as it.

Parameters, characters and updates are the same, and so the operations to within a few per cent. Data are those of
`shakespeare`; the loss is measured along one stream, as for its other recurrent models.
"""

import functools
from collections.abc import Iterator

import torch
from torch import nn

from lmbook.data import stream_batches
from lmbook.gpt import decay_groups
from lmbook.lab.recipes.shakespeare import NLL, prepare
from lmbook.lab.recipes.tasks import Pair, shifted_stream, stream_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.rnn_models import RecurrentLM

HIDDEN, STEPS, TRIED = 472, 2000, 400  # units; updates of the training, and of each trial of a rate
RATES = (1e-3, 2e-3, 4e-3, 8e-3)


@recipe(
    "shakespeare-gru-beside",
    about="Shakespeare by the character, a GRU of 0.8 million parameters: characters and updates of the GPT",
    minutes=6,
    **NLL,
)
def gru_beside(run: Run) -> tuple[dict, nn.Module]:
    """12 streams in windows of 64, 2,000 updates; the best rate of four after 400, which other seeds take over."""
    tokenizer, ids, valid = prepare(run)

    def build() -> nn.Module:
        return RecurrentLM(len(tokenizer.vocabulary), 64, HIDDEN, 1, "gru").to(run.device)

    def batches(epoch: int) -> Iterator[Pair]:
        return shifted_stream(ids, 2 if run.quick else 12, 64, [run.seed, epoch])

    def adamw(model: nn.Module, rate: float) -> torch.optim.AdamW:
        return torch.optim.AdamW(decay_groups(model, 0.1), lr=rate, betas=(0.9, 0.99))

    def held(model: nn.Module) -> float:
        return evaluate(model, stream_batches(valid[: len(valid) // 4], 8, 200), stream_nll, stateful=True)

    if chosen := run.picked("model"):
        rate = chosen["rate"]
    else:
        trial = {"steps": TRIED, "schedule": functools.partial(warmup_cosine, warmup=100, total=TRIED), "clip": 1.0}
        trial |= {"stateful": True, "validate": held, "evaluate_every": TRIED}
        rate = run.tune(build, batches, stream_nll, adamw, "model", RATES, **trial)
    model = build()
    run.fit_cosine(
        model, batches, stream_nll, adamw(model, rate), warmup=100, total=STEPS, stateful=True, save_every=100,
        valid=lambda: stream_batches(valid, 20, 100), evaluate_every=500,
    )  # fmt: skip
    return {"nll": evaluate(model, stream_batches(valid, 1, 200), stream_nll, stateful=True)}, model
