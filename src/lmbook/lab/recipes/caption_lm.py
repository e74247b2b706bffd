"""Bengio's model of captions. One is small enough to look into: the figure of chapter 4 shows every number of it.

    e = [E w_t-3; E w_t-2; E w_t-1]      h = sigma(W e)      z = U h      P(w_t) = softmax(z)

English captions of Multi30k in lower case, each from <sos> to <eos>; the 300 most frequent words, <unk> for the others.

The other has tanh, biases and one tied table, and is trained for longer than a page can wait. It reads the
captions as one stream, an <eos> after each, with 1,000 types, and is scored beside 4-grams of the same stream.

The third is the chapter's own module on windows and the word after each, for few captions, so that it overfits: what
Adam, one table, dropout and weight decay each change, and what a position is worth to a network trained without it.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

import lmbook
from lmbook import data, metrics
from lmbook.feedforward import FeedForwardLM
from lmbook.lab.recipes.tasks import next_token_nll, stream_nll, texts
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.losses import token_nll
from lmbook.ngram import Counts, KneserNey
from lmbook.text import EOS, MASK, PAD, SOS, SPECIALS, Vocabulary, words

WORDS, WIDTH, HIDDEN, WINDOW = 300, 6, 12, 3


@recipe(
    "captions-feedforward",
    about="captions of Multi30k by a feed-forward network of 12 units that sees 3 words, for a figure",
    minutes=1,
    corpora=("multi30k",),
    ships=True,
    score="test perplexity",
)
def captions(run: Run) -> tuple[dict, nn.Module]:
    """Sigmoid units and no biases, as in the formula."""
    parts = {part: [words(pair[0].lower()) for pair in pairs] for part, pairs in run.split("multi30k").items()}
    vocabulary = run.text = Vocabulary.build((w for row in parts["train"] for w in row), max_size=WORDS + len(SPECIALS))
    ids = {part: [vocabulary.encode(row).tolist() for row in rows] for part, rows in parts.items()}
    model = FeedForwardLM(len(vocabulary), WIDTH, HIDDEN, WINDOW, activation="sigmoid").to(run.device)
    total = 3 * -(-len(ids["train"]) // 64)
    run.fit_cosine(
        model,
        lambda epoch: texts(ids["train"], 64, [run.seed, epoch]),
        next_token_nll,
        torch.optim.Adam(model.parameters(), lr=1e-2),
        warmup=min(50, total // 10),
        total=total,
        valid=lambda: texts(ids["valid"], 256),
    )
    nll = {part: evaluate(model, texts(ids[part], 256), next_token_nll) for part in ("valid", "test")}
    return {f"{part} perplexity": metrics.perplexity(mean) for part, mean in nll.items()}, model


EPOCHS, TYPES = (3, 6, 12), 1000


@recipe(
    "captions-epochs",
    about="captions of Multi30k by a feed-forward network of 48 units, trained for 3, 6 and 12 epochs, and 4-grams",
    minutes=5,
    corpora=("multi30k",),
    score="12 epochs",
)
def captions_epochs(run: Run) -> tuple[dict, None]:
    """Perplexity of the validation captions. The rate falls to a twentieth along a straight line, however long."""
    parts = {part: [words(pair[0].lower()) for pair in pairs] for part, pairs in run.split("multi30k").items()}
    text, held_out = ([w for row in parts[part] for w in (*row, EOS)] for part in ("train", "valid"))
    vocabulary = Vocabulary.build(text, max_size=TYPES)
    train, valid = vocabulary.encode(text), vocabulary.encode(held_out)
    never = [vocabulary[token] for token in (PAD, SOS, MASK)]
    allowed = ~np.isin(np.arange(len(vocabulary)), never)
    counted = KneserNey(Counts(train, 4, len(vocabulary)), 4, allowed=allowed, modified=True)
    scores = {"4-gram": metrics.perplexity(float(-counted.log_probs(valid)[1:].mean()))}
    for epochs in EPOCHS:
        lmbook.seed(run.seed)
        model = FeedForwardLM(len(vocabulary), 48, 48, 3, bias=True, tied=True).to(run.device)
        total = epochs * sum(1 for _ in data.stream_batches(train, 20, 25))
        run.fit(
            model,
            lambda epoch: data.stream_batches(train, 20, 25),
            stream_nll,
            torch.optim.Adam(model.parameters(), lr=6e-3),
            part=f"{epochs} epochs",
            steps=total,
            schedule=lambda step, total=total: 1 - 0.95 * min(1.0, step / total),
            stateful=True,
            validate=lambda model: evaluate(model, data.stream_batches(valid, 20, 25), stream_nll, stateful=True),
            evaluate_every=total // epochs,
        )
        nll = evaluate(model, data.stream_batches(valid, 1, 1000), partial(stream_nll, never=never), stateful=True)
        scores[f"{epochs} epochs"] = metrics.perplexity(nll)
    return scores, None


FEW, SIZE, ROWS, MOST = 2_000, 64, 128, 40  # captions; d_model and hidden; windows a batch; epochs at most
STEPS, ADAM = (1.0, 3.0, 10.0), (1e-3, 3e-3, 1e-2)  # the rates tried
CHANGES: dict[str, dict] = {  # by name: what differs from Adam on a network without any of these
    "plain steps": {"optimizer": torch.optim.SGD, "rates": STEPS},
    "Adam": {},
    "one table": {"tied": True},
    "dropout": {"dropout": 0.2},
    "weight decay": {"optimizer": partial(torch.optim.AdamW, weight_decay=0.3)},
    "all three": {"tied": True, "dropout": 0.2, "optimizer": partial(torch.optim.AdamW, weight_decay=0.3)},
}
Windows = tuple[Tensor, Tensor]  # (B, WINDOW) ids, the oldest first, and the word that came (B,)


def window_nll(model: FeedForwardLM, batch: Windows) -> tuple[Tensor, Tensor]:
    """-sum ln P(the word that came) of windows, and their number."""
    windows, came = batch
    logits, _ = model.run(windows[:, -1:], (windows[:, :-1],))
    return token_nll(logits[:, 0], came)


def of_captions(rows: list[list[str]], vocabulary: Vocabulary, places: list[int]) -> Windows:
    """All windows of the captions as one stream, an <eos> after each.  places: which of the WINDOW words are read."""
    ids = torch.from_numpy(vocabulary.encode([w for row in rows for w in (*row, EOS)]))
    windows = ids.unfold(0, WINDOW + 1, 1)
    return windows[:, places], windows[:, -1]


def drawn(windows: Windows, seed: list[int]) -> Iterator[Windows]:
    """One epoch: all windows once, in random order."""
    order = np.random.default_rng(seed).permutation(len(windows[0]))
    for at in torch.from_numpy(order).split(ROWS):
        yield windows[0][at], windows[1][at]


@recipe(
    "captions-one-change",
    about="2,000 captions of Multi30k by chapter 4's own network: what Adam, one table, dropout, weight decay change",
    minutes=6,
    corpora=("multi30k",),
    score="Adam",
)
def one_change(run: Run) -> tuple[dict, None]:
    """Validation perplexity of each of CHANGES, and of Adam's without one position, `silenced` and trained anew."""
    parts = {part: [words(pair[0].lower()) for pair in pairs] for part, pairs in run.split("multi30k").items()}
    vocabulary = Vocabulary.build((w for row in parts["train"] for w in (*row, EOS)), max_size=TYPES)
    every = list(range(WINDOW))
    few, valid = parts["train"][:FEW], of_captions(parts["valid"], vocabulary, every)
    ways = {name: (every, change) for name, change in CHANGES.items()}
    ways |= {f"without {WINDOW - gone} back": ([at for at in every if at != gone], {}) for gone in every}
    scores: dict = {}
    for name, (places, change) in ways.items():
        network = {"tied": change.get("tied", False), "dropout": change.get("dropout", 0.0)}
        text = of_captions(few, vocabulary, places)
        held_out = valid[0][:, places], valid[1]

        def build(network=network, places=places) -> FeedForwardLM:
            return FeedForwardLM(len(vocabulary), SIZE, SIZE, len(places), "sigmoid", **network).to(run.device)

        def batches(epoch: int, text=text) -> Iterator[Windows]:
            return drawn(text, [run.seed, epoch])

        def validate(model: nn.Module, held_out=held_out) -> float:
            return evaluate(model, zip(*(side.split(4_000) for side in held_out), strict=True), window_nll)

        optimizer: Callable = change.get("optimizer", torch.optim.Adam)
        epoch = -(-len(text[1]) // ROWS)
        options = {"part": name, "validate": validate}
        if known := run.picked(name):
            rate, run.tried[name] = known["rate"], known["rates tried"]
        else:
            rates = change.get("rates", ADAM) if places == every else (run.parts["Adam"]["settings"]["rate"],)
            rate = run.tune(
                build, batches, window_nll, lambda model, rate, make=optimizer: make(model.parameters(), lr=rate),
                rates=rates, steps=5 * epoch, evaluate_every=epoch, **options,
            )  # fmt: skip
        lmbook.seed(run.seed)
        model = build()
        run.to_plateau(
            model, batches, window_nll, optimizer(model.parameters(), lr=rate), epoch, MOST * epoch, **options
        )
        scores[name] = metrics.perplexity(validate(model))
        if name == "Adam":
            scores["silenced"] = {
                f"{back} back": metrics.perplexity(validate(silenced(model, back, text[0])))
                for back in range(1, WINDOW + 1)
            }
    return scores, None


def silenced(model: FeedForwardLM, back: int, windows: Tensor) -> FeedForwardLM:
    """A copy in which the word `back` positions back is always the mean vector of the words that stood there."""
    copy = FeedForwardLM(*model.embedding.weight.shape, model.W.out_features, model.window, "sigmoid", bias=True)
    copy = copy.to(model.W.weight.device)
    with torch.no_grad():
        for name in ("embedding", "W", "output"):
            getattr(copy, name).weight.copy_(getattr(model, name).weight)
        mean = model.embedding.weight[windows[:, -back].to(model.W.weight.device)].mean(0)
        at = slice((model.window - back) * len(mean), (model.window - back + 1) * len(mean))
        copy.output.bias.zero_()
        copy.W.bias.copy_(model.W.weight[:, at] @ mean)
        copy.W.weight[:, at] = 0
    return copy
