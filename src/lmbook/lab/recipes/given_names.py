"""Names by the character: counts, a feed-forward network and a small Transformer on one split of the same file.

A name of n characters is n + 1 predictions, <eos> among them, from <sos> on; losses are nats per prediction. The parts
are those of `data.load`: a tenth of the distinct names to choose by, a tenth to report. Only the bigram on the whole
file counts repeated names as often as they stand there, which is the customary figure.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

from lmbook import decode
from lmbook.counts import Counts
from lmbook.data import fetch, load
from lmbook.feedforward import FeedForwardLM
from lmbook.gpt import GPT, decay_groups, gelu_tanh
from lmbook.lab import checkpoints
from lmbook.lab.recipes.tasks import next_token_nll, nll_by_place, texts, wider
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.ngram import KneserNey, MaximumLikelihood
from lmbook.text import EOS_ID, SOS_ID, SPECIALS, CharTokenizer

LONGEST = 15  # letters, of the names in the file
FORBID = tuple(i for i in range(len(SPECIALS)) if i != EOS_ID)


def prepare(run: Run) -> tuple[CharTokenizer, dict[str, list[list[int]]]]:
    """The tokenizer of the letters in the file, and each part as ids, without special ones."""
    corpus = run.corpus("names")
    parts = {part: [name for name in corpus[part] if len(name) <= LONGEST] for part in ("train", "valid", "test")}
    tokenizer = run.text = CharTokenizer.train("".join(name for names in parts.values() for name in names))
    return tokenizer, {part: [tokenizer.encode(name) for name in run.cut(names)] for part, names in parts.items()}


def stream(names: Sequence[Sequence[int]], before: int) -> np.ndarray:
    """All names in one stream, each as `before` times <sos>, its characters, <eos>: no history reaches another name."""
    return np.array([i for name in names for i in (*[SOS_ID] * before, *name, EOS_ID)])


def drawn(model: nn.Module, tokenizer: CharTokenizer, parts: dict, seed: int, n: int = 1000) -> dict:
    """Twenty of `n` sampled names, and how many of the n are in the training set, or in the two others."""
    generator = torch.Generator().manual_seed(seed)
    written, _ = decode.sample(model, n, LONGEST + 1, forbid=FORBID, generator=generator)
    names = [tokenizer.decode(ids) for ids in written]
    seen = {part: {tokenizer.decode(ids) for ids in rows} for part, rows in parts.items()}
    return {
        "samples": names[:20],
        "sampled": n,
        "samples in training": sum(name in seen["train"] for name in names),
        "samples held out": sum(name in seen["valid"] | seen["test"] for name in names),
    }


def invented(n: int, seed: int = 0) -> list[str]:
    """The first n different names that the shipped names-gpt writes and its data do not have: data.invented_names().

    Raises ValueError without the real names, since then nothing says which ones are new.
    """
    corpus = load("names")
    if not corpus.real:
        raise ValueError("names are new if the file of names does not have them; lmbook data fetch names gets it.")
    known = {name for part in ("train", "valid", "test") for name in corpus[part]}
    model, tokenizer, _ = checkpoints.load("names-gpt")
    generator, found = torch.Generator().manual_seed(seed), {}
    while len(found) < n:
        rows, _ = decode.sample(model, 1000, LONGEST + 1, forbid=FORBID, generator=generator)
        drawn = (tokenizer.decode(ids) for ids in rows)
        found |= dict.fromkeys(name for name in drawn if name not in known and 2 <= len(name) <= LONGEST)
    return list(found)[:n]


def learn(run: Run, build: Callable[[int], nn.Module], steps: int, decay: float) -> tuple[dict, nn.Module]:
    """Trains build(vocab) by AdamW, keeps the weights of the lowest of ten validations, and scores them."""
    tokenizer, parts = prepare(run)
    model = build(len(tokenizer.vocabulary)).to(run.device)
    run.fit_cosine(
        model,
        lambda epoch: texts(parts["train"], 64, [run.seed, epoch]),
        next_token_nll,
        torch.optim.AdamW(decay_groups(model, decay), lr=3e-3, betas=(0.9, 0.99)),
        warmup=100,
        total=steps,
        valid=lambda: texts(parts["valid"], 256),
        evaluate_every=steps // 10,
        patience=10,
    )
    scores = {"nll": evaluate(model, texts(parts["test"], 256), next_token_nll)}
    if run.rescoring:
        return scores, model
    scores["valid nll"] = evaluate(model, texts(parts["valid"], 256), next_token_nll)
    scores["train nll"] = evaluate(model, texts(parts["train"][: len(parts["test"])], 256), next_token_nll)
    scores["by place"] = [round(x, 4) for x in nll_by_place(model, texts(parts["test"], 256))]
    return scores | drawn(model, tokenizer, parts, run.seed, 10 if run.quick else 1000), model


@recipe(
    "names-counts",
    about="names by counting: the bigram table on the whole file, and Kneser-Ney from 1 to 6 characters, held out",
    minutes=0.2,
    corpora=("names",),
    seeds=(0,),  # counting draws nothing at random
    score="bigram, whole file",
)
def counts(run: Run) -> tuple[dict, None]:
    """The bigram of the whole file is its own test, without smoothing; the others are counted on the training set."""
    tokenizer, parts = prepare(run)
    vocab = len(tokenizer.vocabulary)
    every = [name for part in parts.values() for name in part]
    if run.corpus("names").real and not run.quick:
        text = fetch.read("names", "names.txt")[0].decode()
        every = [tokenizer.encode(name) for name in text.removesuffix("\n").split("\n")]
    allowed = ~np.isin(np.arange(vocab), FORBID)
    ids = stream(every, 1)
    log_p = MaximumLikelihood(Counts(ids, 2, vocab), 2, allowed).log_probs(ids)[ids != SOS_ID]
    scores = {"bigram, whole file": float(-log_p.mean()), "names": len(every), "predictions": len(log_p)}
    for order in range(1, 7):
        streams = {part: stream(names, max(1, order - 1)) for part, names in parts.items()}
        model = KneserNey(Counts(streams["train"], order, vocab), order, allowed=allowed)
        for part in ("valid", "test"):
            log_p = model.log_probs(streams[part])[streams[part] != SOS_ID]
            scores[f"{order}-gram {part} nll"] = float(-log_p.mean())
    return scores, None


@recipe(
    "names-mlp",
    about="names by a feed-forward network that sees 6 characters, 300 hidden units",
    minutes=1,
    corpora=("names",),
    score="nll",
)
def mlp(run: Run) -> tuple[dict, nn.Module]:
    """Bengio's model over characters."""

    def build(vocab: int) -> FeedForwardLM:
        return FeedForwardLM(vocab, 24, 300, window=6, bias=True, dropout=0.1)

    return learn(run, build, steps=4000, decay=0.01)


@recipe(
    "names-gpt",
    about="names by a Transformer of 4 layers of width 64",
    minutes=4,
    corpora=("names",),
    ships=True,
    score="nll",
)
def gpt(run: Run) -> tuple[dict, nn.Module]:
    """The window holds <sos> and the longest name."""

    def build(vocab: int) -> GPT:
        return wider(GPT(vocab, LONGEST + 1, 64, n_heads=4, n_layers=4, dropout=0.1, activation=gelu_tanh))

    return learn(run, build, steps=8000, decay=0.1)
