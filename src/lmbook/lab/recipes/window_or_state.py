"""What a state gains over a window at equal cost: chapter 4's network and a plain RNN on a quarter of WikiText-2.

Both have a width of 128, one table for input and output, the same batches of the same stream, three epochs, and the
best of RATES for these three epochs by validation, which seed 0 tries in full and the other seeds take over. The window
of five words is carried along the stream as the state is.
"""

import torch
from torch import nn

from lmbook.data import stream_batches
from lmbook.feedforward import FeedForwardLM
from lmbook.lab.recipes.wikitext import FULL_STREAM, prepare, scored, train
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.rnn_models import RecurrentLM

WIDTH, EPOCHS, RATES = 128, 3, (1e-3, 3e-3, 1e-2)
CHOSEN_ON, SCORED_ON = 20_000, 50_000  # tokens of the validation set, of the test set


def built(name: str, vocab: int) -> nn.Module:
    if name == "RNN":
        return RecurrentLM(vocab, WIDTH, WIDTH, 1, "rnn", dropout=0.2, tied=True)
    return FeedForwardLM(vocab, WIDTH, WIDTH, window=5, dropout=0.2, tied=True, bias=True)


@recipe(
    "wikitext2-equal",
    about="WikiText-2, a window of 5 words and a plain RNN: three epochs each on a quarter of the text, own rates",
    minutes=14,
    corpora=("wikitext2",),
    score="window over RNN",
)
def equal(run: Run) -> tuple[dict, None]:
    """Losses on the first tokens of the test set, and by how many nats that of the window is higher."""
    vocabulary, ids = prepare(run)
    text = ids["train"] if run.quick else ids["train"][: len(ids["train"]) // 4]
    held = {"train": text, "valid": ids["valid"][:CHOSEN_ON]}
    total = EPOCHS * (len(text) // (40 * 50))

    def learn(name: str, rate: float, part: str) -> nn.Module:
        torch.manual_seed(run.seed)
        model = built(name, len(vocabulary)).to(run.device)
        adam = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.99))
        train(run, model, held, adam, EPOCHS, 40, 50, 300, 10, True, part, evaluate_every=total)
        return model

    def best(name: str) -> nn.Module:
        """Of the rates tried in full; the record keeps the best training and what the others gave."""
        models, tried = {}, []
        for rate in RATES[: 2 if run.quick else None]:
            models[rate] = learn(name, rate, f"{name}, rate {rate:g}")
            done = run.parts[f"{name}, rate {rate:g}"]
            lowest = min((value for _, value in done["valid"]), default=rate)
            tried.append({"rate": rate, "validation": lowest, "steps": done["steps"], "seconds": done["seconds"]})
        rate = min(tried, key=lambda trial: trial["validation"])["rate"]
        parts = {each: run.parts.pop(f"{name}, rate {each:g}") for each in models}
        run.parts[name] = parts[rate]
        run.parts[name]["settings"]["rates tried"] = tried
        return models[rate]

    scores: dict = {}
    for name in ("window", "RNN"):
        chosen = run.picked(name)
        model = learn(name, chosen["rate"], name) if chosen else best(name)
        found = evaluate(model, stream_batches(ids["test"][:SCORED_ON], 1, 100), FULL_STREAM, stateful=True)
        scores[name] = scored("test", found)
    return scores | {"window over RNN": scores["window"]["test nll"] - scores["RNN"]["test nll"]}, None
