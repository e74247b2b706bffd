"""The perplexity table: WikiText-2, one vocabulary, one test set, every kind of language model.

All models read the same 33,281 ids and are scored on the same 245,569 tokens of the test part as one stream that
starts after <eos>, by the full softmax; <pad>, <sos> and <mask> cannot occur and get no probability. In training the
softmax is estimated (`lmbook.losses`): all of the 1,500 most frequent types, and 1,500 of the others drawn a batch.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import data, metrics
from lmbook.counts import Counts
from lmbook.experiments.run import Run, recipe
from lmbook.feedforward import FeedForwardLM
from lmbook.gpt import GPT, decay_groups, gelu_tanh
from lmbook.losses import Buckets, class_buckets, sampled_nll, token_nll
from lmbook.ngram import KneserNey, stream_perplexity
from lmbook.rnn_models import RecurrentLM
from lmbook.schedules import warmup_cosine
from lmbook.text import EOS_ID, MASK, PAD_ID, SOS_ID, SPECIALS, Vocabulary
from lmbook.train import evaluate

NEVER = (PAD_ID, SOS_ID, SPECIALS.index(MASK))
TYPES = 33281  # ids of the vocabulary, the five special ones included
EDGES, DRAWN = (1500, 8000), (0, 900, 600)
D = 256  # the width of every model: embeddings, states and features


def prepare(run: Run) -> tuple[Vocabulary, dict[str, np.ndarray]]:
    """The vocabulary, and each part as one stream of ids that starts with the <eos> before its first token."""
    corpus = run.corpus("wikitext2")
    vocabulary = Vocabulary.build(corpus["train"])
    parts = {part: run.cut(corpus[part], 3000) for part in ("train", "valid", "test")}
    return vocabulary, {part: np.append(EOS_ID, vocabulary.encode(tokens)) for part, tokens in parts.items()}


def shifted(ids: np.ndarray, B: int, T: int, rng: np.random.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """`data.stream_batches` from a random place of the first window on, so that no epoch cuts the text as another."""
    return data.stream_batches(ids[int(rng.integers(min(T, len(ids) // 4))) :], B, T)


def full_loss(model: nn.Module, batch: tuple[Tensor, Tensor], state) -> tuple[Tensor, Tensor, object]:
    """Summed NLL of a window under the full softmax, its tokens, and the state after it."""
    tokens, targets = batch
    logits, state = model.run(tokens, model.start(len(tokens)) if state is None else state)
    logits[..., list(NEVER)] = -torch.inf
    nll, n = token_nll(logits, targets)
    return nll, n, state


def scaled_buckets(vocab: int) -> Buckets:
    """EDGES and DRAWN, in proportion smaller for the smaller vocabulary of a stand-in."""
    scale = vocab / TYPES
    return class_buckets(vocab, tuple(int(edge * scale) for edge in EDGES), tuple(int(k * scale) for k in DRAWN))


def sampled_loss(output: nn.Linear, vocab: int):
    """The loss of the training: as `full_loss`, with Z estimated.  output: the model's output layer."""
    parts = scaled_buckets(vocab)

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor], state) -> tuple[Tensor, int, object]:
        tokens, targets = batch
        h, state = model.features(tokens, model.start(len(tokens)) if state is None else state)
        nll = sampled_nll(h.flatten(0, 1), targets.flatten(), output.weight, output.bias, parts, NEVER)
        return nll, targets.numel(), state

    return loss


def train_and_score(
    run: Run,
    model: nn.Module,
    output: nn.Linear,
    ids: dict,
    epochs: int,
    rate: float,
    part: str = "model",
    parts: tuple[str, ...] = ("valid", "test"),
) -> dict:
    """Trains with a carried state, one way for every model that has one, and scores on whole streams."""
    B, T = 40, 50
    total = epochs * (len(ids["train"]) // (B * T))

    def batches(epoch: int):
        return shifted(ids["train"], B, T, np.random.default_rng([run.seed, epoch]))

    run.fit(
        model,
        batches,
        sampled_loss(output, len(output.weight)),
        torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.99)),
        steps=total,
        schedule=lambda step: warmup_cosine(step, warmup=min(300, total // 10), total=total),
        clip=1.0,
        stateful=True,
        validate=lambda model: evaluate(model, data.stream_batches(ids["valid"], 10, 50), full_loss, stateful=True),
        evaluate_every=max(1, total // 5),
        save_every=500,
        part=part,
    )
    scores = {}
    for part in parts:
        nll = evaluate(model, data.stream_batches(ids[part], 1, 100), full_loss, stateful=True)
        scores |= {
            f"{part} nll": nll,
            f"{part} perplexity": metrics.perplexity(nll),
            f"{part} tokens": len(ids[part]) - 1,
        }
    return scores


def recurrent(run: Run, cell: str, epochs: int, rate: float, dropout: float) -> tuple[dict, nn.Module]:
    """One recurrent layer of 256, its embedding tied to the output."""
    vocabulary, ids = prepare(run)
    model = RecurrentLM(len(vocabulary), D, D, 1, cell, dropout=dropout, tied=True).to(run.device)
    return train_and_score(run, model, model.output, ids, epochs, rate), model


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
    scores = train_and_score(run, model, model.output, ids, epochs=5, rate=2e-3)
    return scores | {"neighbours": neighbours(model.embedding.weight, vocabulary)}, model


@recipe(
    "wikitext2-windows",
    about="WikiText-2, Bengio's model with windows of 1 to 8 words on a quarter of the training text",
    minutes=30,
    corpora=("wikitext2",),
    seeds=(0,),
    score="window 8",
)
def windows_of_one_to_eight(run: Run) -> tuple[dict, None]:
    """Width 128, three epochs: only the window differs. Scores are perplexities on the validation part."""
    vocabulary, ids = prepare(run)
    few = ids if run.quick else {**ids, "train": ids["train"][: len(ids["train"]) // 4]}
    scores, sizes = {}, {}
    for window in (1, 2, 3, 5, 8):
        model = FeedForwardLM(len(vocabulary), 128, 128, window=window, dropout=0.2, tied=True, bias=True)
        model = model.to(run.device)
        got = train_and_score(
            run, model, model.output, few, epochs=3, rate=3e-3, part=f"window {window}", parts=("valid",)
        )
        scores[f"window {window}"] = got["valid perplexity"]
        sizes[f"window {window}"] = sum(p.numel() for p in model.parameters())
    return scores | {"parameters": sizes}, None


def strided(ids: np.ndarray, window: int, stride: int, B: int = 16) -> Iterator[tuple[Tensor, Tensor]]:
    """Windows for a model without a state: every token is a target once.

    Behind the first window it comes after window - stride + 1 to window others.

    Inputs and targets (B, window); targets that an earlier window has predicted are <pad>, which does not count.
    """
    starts = range(0, max(1, len(ids) - 1 - window + stride), stride)
    rows = []
    for start in starts:
        piece = torch.as_tensor(ids[start : start + window + 1])
        inputs, targets = torch.full((2, window), PAD_ID)
        inputs[: len(piece) - 1], targets[: len(piece) - 1] = piece[:-1], piece[1:]
        if start:
            targets[: window - stride] = PAD_ID
        rows.append((inputs, targets))
    for i in range(0, len(rows), B):
        inputs, targets = map(torch.stack, zip(*rows[i : i + B], strict=True))
        yield inputs, targets


@recipe(
    "wikitext2-gpt",
    about="WikiText-2, GPT of 3 layers of width 256 that sees 128 words",
    minutes=90,
    corpora=("wikitext2",),
    seeds=(0,),
    score="test perplexity",
)
def gpt(run: Run) -> tuple[dict, nn.Module]:
    """Scored by windows of 128 with a stride of 64: each word after 65 to 128 others of the text."""
    vocabulary, ids = prepare(run)
    window, stride, epochs = 128, 64, 8
    model = GPT(len(vocabulary), window, D, n_heads=4, n_layers=3, d_ff=768, dropout=0.3, activation=gelu_tanh)
    model = model.to(run.device)
    parts = scaled_buckets(len(vocabulary))

    def loss(model: nn.Module, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, int]:
        tokens, targets = batch
        h = model.features(tokens)
        nll = sampled_nll(h.flatten(0, 1), targets.flatten(), model.output.weight, None, parts, NEVER)
        return nll, targets.numel()

    def full(model: nn.Module, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        logits = model(batch[0])
        logits[..., list(NEVER)] = -torch.inf
        return token_nll(logits, batch[1])

    B = 16
    total = epochs * (len(ids["train"]) // (B * window))
    run.fit(
        model,
        lambda epoch: shifted(ids["train"], B, window, np.random.default_rng([run.seed, epoch])),
        loss,
        torch.optim.AdamW(decay_groups(model, 0.01), lr=1e-3, betas=(0.9, 0.99)),
        steps=total,
        schedule=lambda step: warmup_cosine(step, warmup=min(400, total // 10), total=total),
        clip=1.0,
        validate=lambda model: evaluate(model, data.stream_batches(ids["valid"], 8, window), full),
        evaluate_every=max(1, total // 5),
        save_every=500,
    )
    scores = {"window": window, "stride": stride}
    for part in ("valid", "test"):
        nll = evaluate(model, strided(ids[part], window, stride), full)
        scores |= {f"{part} nll": nll, f"{part} perplexity": metrics.perplexity(nll)}
    return scores, model


@recipe(
    "wikitext2-ngrams",
    about="WikiText-2, Kneser-Ney and modified Kneser-Ney, unigram to 5-gram: counted, not trained",
    minutes=0.3,
    corpora=("wikitext2",),
    seeds=(0,),
    score="kneser-ney 5",
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
