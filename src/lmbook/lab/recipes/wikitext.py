"""The perplexity table: WikiText-2, one vocabulary, one test set, every kind of language model.

All models read the same 33,281 ids and are scored on the same 245,569 tokens of the test set as one stream that
starts after <eos>, by the full softmax; <pad>, <sos> and <mask> cannot occur and get no probability. In training the
softmax is estimated (`lmbook.losses`): all of the 1,500 most frequent types, and 1,500 of the others drawn a batch.
"""

import functools
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import data, metrics
from lmbook.counts import Counts
from lmbook.feedforward import FeedForwardLM
from lmbook.gpt import GPT, decay_groups, gelu_tanh
from lmbook.lab.recipes.tasks import Pair, next_token_nll, shifted_stream, stream_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.losses import class_buckets, sampled_nll
from lmbook.networks import n_parameters
from lmbook.ngram import KneserNey, stream_perplexity
from lmbook.rnn_models import RecurrentLM
from lmbook.text import EOS_ID, MASK_ID, PAD_ID, SOS_ID, Vocabulary

NEVER = (PAD_ID, SOS_ID, MASK_ID)
TYPES = 33281  # ids of the vocabulary, the five special ones included
EDGES, DRAWN = (1500, 8000), (0, 900, 600)
D = 256  # the width of every model: embeddings, states and features
FULL = functools.partial(next_token_nll, never=NEVER)
FULL_STREAM = functools.partial(stream_nll, never=NEVER)


def prepare(run: Run) -> tuple[Vocabulary, dict[str, np.ndarray]]:
    """The vocabulary, and each part as one stream of ids that starts with the <eos> before its first token."""
    corpus = run.corpus("wikitext2")
    vocabulary = Vocabulary.build(run.cut(corpus["train"], 10_000))
    parts = {part: run.cut(corpus[part], 3000) for part in ("train", "valid", "test")}
    return vocabulary, {part: np.append(EOS_ID, vocabulary.encode(tokens)) for part, tokens in parts.items()}


def sampled_loss(output: nn.Linear, stateful: bool) -> Callable:
    """The loss of the training: as FULL or FULL_STREAM, with Z estimated.  output: the model's output layer.

    EDGES and DRAWN are in proportion smaller for the smaller vocabulary of a stand-in.
    """
    vocab = len(output.weight)
    buckets = class_buckets(vocab, *(tuple(int(n * (vocab / TYPES)) for n in numbers) for numbers in (EDGES, DRAWN)))

    def nll(h: Tensor, targets: Tensor) -> tuple[Tensor, int]:
        found = sampled_nll(h.flatten(0, 1), targets.flatten(), output.weight, output.bias, buckets, NEVER)
        return found, targets.numel()

    def over_windows(model: nn.Module, batch: Pair) -> tuple[Tensor, int]:
        return nll(model.features(batch[0]), batch[1])

    def over_stream(model: nn.Module, batch: Pair, state) -> tuple[Tensor, int, object]:
        h, state = model.features(batch[0], model.start(len(batch[0])) if state is None else state)
        return *nll(h, batch[1]), state

    return over_stream if stateful else over_windows


def train(
    run: Run, model: nn.Module, ids: dict, optimizer, epochs: int, B: int, T: int, warmup: int, valid_B: int,
    stateful: bool, part: str = "model", loss: Callable | None = None, **options,
) -> None:  # fmt: skip
    """The one training of every neural model here, a state carried along where it has one.

    loss: by default with the softmax estimated.  options: of Run.fit.
    """
    total = epochs * (len(ids["train"]) // (B * T))
    run.fit_cosine(
        model,
        lambda epoch: shifted_stream(ids["train"], B, T, [run.seed, epoch]),
        loss or sampled_loss(model.output, stateful),
        optimizer,
        warmup=min(warmup, total // 10),
        total=total,
        valid=lambda: data.stream_batches(ids["valid"], valid_B, T),
        valid_loss=FULL_STREAM if stateful else FULL,
        stateful=stateful,
        part=part,
        **{"evaluate_every": max(1, total // 5), "save_every": 500} | options,
    )


def train_and_score(
    run: Run, model: nn.Module, ids: dict, epochs: int, rate: float, part: str = "model", parts=("valid", "test"),
    **options,
) -> dict:  # fmt: skip
    """Trains with a carried state, one way for every model that has one, and scores on whole streams.

    options: of `train`.
    """
    adam = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.99))
    train(run, model, ids, adam, epochs, B=40, T=50, warmup=300, valid_B=10, stateful=True, part=part, **options)
    scores = {}
    for name in parts:
        nll = evaluate(model, data.stream_batches(ids[name], 1, 100), FULL_STREAM, stateful=True)
        scores |= scored(name, nll) | {f"{name} tokens": len(ids[name]) - 1}
    return scores


def scored(part: str, nll: float) -> dict[str, float]:
    """A mean NLL and its perplexity."""
    return {f"{part} nll": nll, f"{part} perplexity": metrics.perplexity(nll)}


def recurrent(run: Run, cell: str, epochs: int, rate: float, dropout: float) -> tuple[dict, nn.Module]:
    """One recurrent layer of 256, its embedding tied to the output."""
    vocabulary, ids = prepare(run)
    model = RecurrentLM(len(vocabulary), D, D, 1, cell, dropout=dropout, tied=True).to(run.device)
    return train_and_score(run, model, ids, epochs, rate), model


QUERIES = ("king", "river", "three", "red", "wrote", "north", "she", "album", "June", "very", "Germany", "season")


def neighbours(E: Tensor, vocabulary: Vocabulary, n: int = 8) -> dict[str, list[str]]:
    """The n types whose rows of E have the largest cosine with that of each query, among the 20,000 most frequent."""
    rows = nn.functional.normalize(E[:20_000].detach().cpu(), dim=1)
    found = {}
    for word in QUERIES:
        if word in vocabulary:
            near = (rows @ rows[vocabulary[word]]).topk(n + 1).indices.tolist()
            found[word] = [w for w in vocabulary.decode(near) if w != word][:n]
    return found


TABLE = {"corpora": ("wikitext2",), "seeds": (0,), "score": "test perplexity"}


@recipe("wikitext2-lstm", about="WikiText-2, LSTM of 256 units, tied embedding", minutes=60, **TABLE)
def lstm(run: Run) -> tuple[dict, nn.Module]:
    return recurrent(run, "lstm", epochs=10, rate=4e-3, dropout=0.4)


@recipe(
    "wikitext2-lstm-large",
    about="WikiText-2, LSTM of two layers of 650 units, tied embedding, full softmax: for a GPU",
    minutes=1500,
    **TABLE,
)
def large(run: Run) -> tuple[dict, nn.Module]:
    """Depth, width and dropout of Zaremba et al. 2014, section 4.1; the optimizer is that of the other models here.

    The weights kept are those of the lowest of the validations, one an epoch. On a GPU products are taken in TF32.
    """
    if torch.device(run.device).type == "cuda":
        torch.set_float32_matmul_precision("high")
    vocabulary, ids = prepare(run)
    model = RecurrentLM(len(vocabulary), 650, 650, 2, "lstm", dropout=0.5, tied=True).to(run.device)
    epochs, steps = 20, len(ids["train"]) // (40 * 50)
    options = {"loss": FULL_STREAM, "evaluate_every": max(1, steps), "patience": epochs, "save_every": 5000}
    return train_and_score(run, model, ids, epochs, 1e-3, **options), model


@recipe("wikitext2-gru", about="WikiText-2, GRU of 256 units, tied embedding", minutes=55, **TABLE)
def gru(run: Run) -> tuple[dict, nn.Module]:
    return recurrent(run, "gru", epochs=10, rate=3e-3, dropout=0.4)


@recipe("wikitext2-rnn", about="WikiText-2, vanilla RNN of 256 units, tied embedding", minutes=45, **TABLE)
def rnn(run: Run) -> tuple[dict, nn.Module]:
    return recurrent(run, "rnn", epochs=10, rate=1e-3, dropout=0.3)


@recipe("wikitext2-feedforward", about="WikiText-2, Bengio's model with a window of 5 words", minutes=45, **TABLE)
def feedforward(run: Run) -> tuple[dict, nn.Module]:
    """Its record also holds the nearest neighbours of some words in E, for chapter 4."""
    vocabulary, ids = prepare(run)
    model = FeedForwardLM(len(vocabulary), D, D, window=5, dropout=0.3, tied=True, bias=True).to(run.device)
    scores = train_and_score(run, model, ids, epochs=5, rate=2e-3)
    return scores | {"neighbours": neighbours(model.embedding.weight, vocabulary)}, model


@recipe(
    "wikitext2-windows",
    about="WikiText-2, Bengio's model with windows of 1 to 8 words on a quarter of the training text",
    minutes=30,
    **TABLE | {"score": "window 8"},
)
def windows_of_one_to_eight(run: Run) -> tuple[dict, None]:
    """Width 128, three epochs: only the window differs. Scores are perplexities on the validation set."""
    vocabulary, ids = prepare(run)
    few = ids if run.quick else {**ids, "train": ids["train"][: len(ids["train"]) // 4]}
    scores, sizes = {}, {}
    for window in (1, 2, 3, 5, 8):
        model = FeedForwardLM(len(vocabulary), 128, 128, window=window, dropout=0.2, tied=True, bias=True)
        model = model.to(run.device)
        got = train_and_score(run, model, few, epochs=3, rate=3e-3, part=f"window {window}", parts=("valid",))
        scores[f"window {window}"], sizes[f"window {window}"] = got["valid perplexity"], n_parameters(model)
    return scores | {"parameters": sizes}, None


@recipe("wikitext2-gpt", about="WikiText-2, GPT of 3 layers of width 256 that sees 128 words", minutes=90, **TABLE)
def gpt(run: Run) -> tuple[dict, nn.Module]:
    """Scored by windows of 128 with a stride of 64: each word after 65 to 128 others of the text."""
    vocabulary, ids = prepare(run)
    window, stride = 128, 64
    model = GPT(len(vocabulary), window, D, n_heads=4, n_layers=3, d_ff=768, dropout=0.3, activation=gelu_tanh)
    model = model.to(run.device)
    adam = torch.optim.AdamW(decay_groups(model, 0.01), lr=1e-3, betas=(0.9, 0.99))
    train(run, model, ids, adam, epochs=8, B=16, T=window, warmup=400, valid_B=8, stateful=False)
    scores = {"window": window, "stride": stride}
    for part in ("valid", "test"):
        scores |= scored(part, evaluate(model, data.windows(ids[part], window, B=16, stride=stride), FULL))
    return scores, model


@recipe(
    "wikitext2-ngrams",
    about="WikiText-2, Kneser-Ney and modified Kneser-Ney, unigram to 5-gram: counted, not trained",
    minutes=0.3,
    **TABLE | {"score": "kneser-ney 5"},
)
def ngrams(run: Run) -> tuple[dict, None]:
    """As in chapter 2: interpolated Kneser-Ney with discounts estimated from the counts."""
    vocabulary, ids = prepare(run)
    counts = Counts(ids["train"][1:], 5, len(vocabulary))
    allowed = ~np.isin(np.arange(len(vocabulary)), NEVER)
    scores = {}
    for name, modified in (("kneser-ney", False), ("modified kneser-ney", True)):
        for order in range(1, 6):
            model = KneserNey(counts, order, allowed=allowed, modified=modified)
            scores[f"{name} {order}"] = {
                f"{p} perplexity": stream_perplexity(model, ids[p][1:]) for p in ("valid", "test")
            }
    return scores, None
