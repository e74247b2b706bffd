"""Translators: pairs of texts, models that learn them, what they write, and how good that is.

Each experiment on translation is made of these; its own file says which data, systems and budget, and what is recorded.
A loss, a score or a search of general use is not here but in `losses`, `metrics` and `decode`.
"""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

import lmbook
from lmbook import data, metrics
from lmbook.data.batching import pad
from lmbook.decode import beam, greedy
from lmbook.lab.configuration import configured
from lmbook.lab.run import RATES, Run
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import TrainingError, device_of, evaluate
from lmbook.losses import token_nll
from lmbook.networks import evaluating
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq
from lmbook.text import EOS_ID, SOS_ID, Vocabulary, WordTokenizer

Pairs = list[tuple[str, str]]  # of source and target
SMALL = RATES[1:]  # for models of about 100,000 weights and a few thousand steps


@configured
class Tokens(WordTokenizer):
    """Texts whose tokens stand apart by blanks."""

    @classmethod
    def build(cls, texts: list[str], min_count: int = 1) -> "Tokens":
        """Rarer tokens are <unk>."""
        return cls(Vocabulary.build(" ".join(texts).split(), min_count=min_count))

    def split(self, text: str) -> list[str]:
        return text.split()

    def decode(self, ids: Iterable[int]) -> str:
        """Without <eos>; any other special token that was written shows."""
        return " ".join(self.vocabulary.decode(i for i in ids if i != EOS_ID))


def encode(pairs: Pairs, reader, writer=None) -> list[tuple[list[int], list[int]]]:
    """Both sides of every pair as ids.  writer: the target's tokenizer, by default that of the source."""
    return [(reader.encode(source), (writer or reader).encode(target)) for source, target in pairs]


def apart(pairs: Pairs, *others: Pairs, key: Callable = str) -> Pairs:
    """The pairs whose source does not occur in the others; key: what makes two sources the same."""
    seen = {key(source) for other in others for source, _ in other}
    return [pair for pair in pairs if key(pair[0]) not in seen]


class Encoded(dict):
    """The pairs of each part as ids, encoded when they are first asked for: a model that is scored again needs no
    training set."""

    def __init__(self, pairs: dict[str, Pairs], reader, writer=None):
        super().__init__()
        self.pairs, self.sides = pairs, (reader, writer)

    def __missing__(self, part: str) -> list[tuple[list[int], list[int]]]:
        self[part] = encode(self.pairs[part], *self.sides)
        return self[part]


class Task:
    """Pairs by part ("train", "valid", "test", ...), also as ids, with the tokenizers of their sources and targets."""

    def __init__(self, pairs: dict[str, Pairs], reader, writer=None):
        self.pairs, self.reader, self.writer = pairs, reader, writer or reader
        self.types = tuple(len(getattr(side, "vocabulary", side)) for side in (self.reader, self.writer))
        self.ids = Encoded(pairs, reader, writer)

    def batches(self, seed: int, size: int, tokens: bool = False) -> Callable:
        """The training batches of an epoch, as `train.fit` wants them.  size, tokens: as in `data.batches`."""
        return lambda epoch: data.batches(self.ids["train"], size, seed=[seed, epoch], tokens=tokens)

    def nll(self, model: nn.Module, part: str = "valid") -> float:
        """Nats per token."""
        return evaluate(model, data.batches(self.ids[part], 100), loss)

    def written(self, model: nn.Module, first: int | None = None, part: str = "test", **how) -> tuple[list, list]:
        """Translations of the first sources of a part, and their references.  how: of `translate`."""
        sources, references = map(list, zip(*self.pairs[part][:first], strict=True))
        return translate(model, sources, self.reader, self.writer, **how), references


def encoder_decoder(
    types: tuple[int, int], d_embed: int, hidden: int, encoder: nn.Module | None = None, *, cell: str = "gru",
    n_layers: int = 1, bidirectional: bool = False, dropout: float = 0.0, **options,
) -> Seq2Seq | AttentionSeq2Seq:  # fmt: skip
    """A recurrent decoder after the encoder given, by default a recurrent one of the same cell, sizes and depth.

    types: of source and target.  options: of the decoder, an AttentionSeq2Seq if attention is among them.
    """
    if encoder is None:
        encoder = RecurrentEncoder(types[0], d_embed, hidden, n_layers, cell, bidirectional, dropout)
    kind = AttentionSeq2Seq if "attention" in options else Seq2Seq
    return kind(encoder, types[1], d_embed, hidden, n_layers, cell, dropout=dropout, **options)


def loss(model: nn.Module, batch: data.Batch, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
    """Summed NLL of the targets, and their number."""
    return token_nll(model(batch.source, batch.inputs), batch.targets, smoothing=smoothing)


def learn(
    run: Run, model: nn.Module, batches: Callable, steps: int, rate: float, part: str = "model",
    warmup: int | None = None, smoothing: float = 0.0, adam: dict | None = None, **options,
) -> nn.Module:  # fmt: skip
    """Trains on the run's device with Adam, gradients clipped at 1; the rate rises for `warmup` steps, by default a
    tenth of them, then falls to 0 by half a cosine.

    options: of `train.fit`.
    """
    warmup = steps // 10 if warmup is None else warmup
    model.to(run.device)
    run.fit(
        model,
        batches,
        functools.partial(loss, smoothing=smoothing),
        torch.optim.Adam(model.parameters(), lr=rate, **(adam or {})),
        part,
        steps=steps,
        schedule=lambda step: warmup_cosine(step, warmup=warmup, total=steps),
        clip=1.0,
        **options,
    )
    return model


def race(
    run: Run, build: Callable, task: Task, batches: Callable, budgets: Sequence[int], rounds: Sequence[int], part: str,
    adam: dict | None = None,
) -> Iterator[tuple[int, nn.Module]]:  # fmt: skip
    """What one system of a comparison has learned after each of the budgets: (steps, model), the longest last.

    Every training is a whole one by `learn`, from the same weights; the part of the longest is called `part`. They have
    one rate, picked from SMALL with seed 0 by validation: after the steps of the first of the rounds the two best go
    on to the next round. A rate that is ahead after few steps is often too high for many, hence a second round where
    the longest budget is far from the first. The other seeds take the rate from the record of that run.
    """
    every, made = max(budgets) // 40, {}

    def train(rate: float, steps: int) -> nn.Module:
        """The model; its entry in the record is kept in `made` until it is known to be wanted."""
        name = f"{part}, rate {rate:g}, {steps} steps"
        if (rate, steps) not in made:
            lmbook.seed(run.seed)
            model = learn(run, build(), batches, steps, rate, name, adam=adam, validate=task.nll, evaluate_every=every)
            made[rate, steps] = model, run.parts.pop(name, None)
        return made[rate, steps][0]

    def lowest(rate: float, steps: int) -> float:
        try:
            train(rate, steps)
        except TrainingError as error:
            if error.__cause__ is not None:  # memory ran out; a loss that is NaN has no other cause
                raise
            return math.inf
        return min(loss for _, loss in made[rate, steps][1]["valid"])

    tried, rates = [], SMALL[:2] if run.quick else SMALL
    if run.rescoring:
        rates = SMALL[:1]
    elif known := run.picked(part):
        rates, tried = [known["rate"]], known["rates tried"]
    else:
        for steps in rounds:
            losses = {rate: lowest(rate, steps) for rate in rates}
            rates = sorted(losses, key=losses.get)[:2]
            tried += [
                {"rate": rate, "validation": loss if math.isfinite(loss) else None}
                | {key: made[rate, steps][1][key] if math.isfinite(loss) else 0 for key in ("steps", "seconds")}
                for rate, loss in losses.items()
            ]
    for steps in sorted(budgets):
        model, entry = train(rates[0], steps), made[rates[0], steps][1]
        if entry is not None:
            run.parts[part if steps == max(budgets) else f"{part}, {steps} steps"] = entry
        if not run.rescoring:
            entry["settings"]["rates tried"] = tried
        yield steps, model


def translate(
    model: nn.Module, sources: list[str], reader, writer=None, width: int = 1, max_length: int = 80, alpha: float = 1.0
) -> list[str]:
    """Translations of texts.  reader, writer: as in `encode`.  width: of the beam; 1 is greedy."""
    ids, outputs = [reader.encode(source) for source in sources], [""] * len(sources)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    search = greedy if width == 1 else functools.partial(beam, width=width, alpha=alpha)
    for start in range(0, len(order), 50):
        rows = order[start : start + 50]
        source = pad([ids[i] for i in rows]).to(device_of(model))
        for i, found in zip(rows, search(model, source, max_length, forbid=(SOS_ID,))[0], strict=True):
            outputs[i] = (writer or reader).decode(found)
    return outputs


def attention_weights(model: nn.Module, batch: data.Batch) -> Tensor:
    """alpha (B, T, N) where the targets are given."""
    where = device_of(model)
    with evaluating(model):
        return model(batch.source.to(where), batch.inputs.to(where), need_weights=True)[1]


def exact(outputs: list[str], references: list[str]) -> float:
    """Share of translations without a mistake."""
    return sum(map(str.__eq__, outputs, references)) / len(references)


def by_text(outputs: list[str], references: list[str]) -> dict:
    """BLEU by sacreBLEU, and the share without a mistake."""
    return {"bleu": metrics.sacrebleu_score(outputs, references)[0], "exact": exact(outputs, references)}


def by_words(outputs: list[str], references: list[str]) -> dict:
    """BLEU over what stands apart by blanks, and the share without a mistake."""
    return {"bleu": metrics.bleu(outputs, references, str.split), "exact": exact(outputs, references)}


def by_length(
    outputs: list[str], references: list[str], lengths: list[int], edges: list[int], score: Callable = by_text
) -> list[dict]:
    """score(outputs, references) of the lengths between two edges, where there are any."""
    rows = []
    for low, high in pairwise(edges):
        if group := [i for i, length in enumerate(lengths) if low <= length < high]:
            texts = ([side[i] for i in group] for side in (outputs, references))
            rows.append({"from": low, "to": high - 1, "pairs": len(group), **score(*texts)})
    return rows


def bleu_of(outputs: list[str], pairs: Pairs, edges: list[int]) -> dict:
    """BLEU of all and by words of the source, the latter with the share without a mistake."""
    references, lengths = [target for _, target in pairs], [len(source.split()) for source, _ in pairs]
    bleu, signature = metrics.sacrebleu_score(outputs, references)
    return {"bleu": bleu, "signature": signature, "by length": by_length(outputs, references, lengths, edges)}


def scored(model: nn.Module, task: Task, edges: list[int], max_length: int) -> tuple[dict, list[str]]:
    """On the test set perplexity a token, BLEU by length and the share without a mistake; the translations."""
    outputs, references = task.written(model, max_length=max_length)
    scores = {"perplexity": metrics.perplexity(task.nll(model, "test"))} | bleu_of(outputs, task.pairs["test"], edges)
    return scores | {"exact": exact(outputs, references)}, outputs


def beams(model: nn.Module, task: Task, widths: tuple[int, ...], max_length: int) -> dict:
    """BLEU and words written for beams of these widths, with and without the division by length, of 500 sentences."""

    def words(texts: list[str]) -> float:
        return sum(len(metrics.tokenize_13a(text)) for text in texts) / len(texts)

    rows = []
    for alpha in (0.0, 1.0):
        for width in widths:
            outputs, references = task.written(model, 500, width=width, max_length=max_length, alpha=alpha)
            bleu, _ = metrics.sacrebleu_score(outputs, references)
            rows.append({"width": width, "alpha": alpha, "bleu": bleu, "words": words(outputs)})
    return {"beams": rows, "words of the references": words(references)}


def counts(outputs: list[str], references: list[str], tokenize: Callable = str.split) -> np.ndarray:
    """`metrics.bleu_counts` of every sentence, (sentences, 10), for a paired bootstrap without the texts."""
    pairs = zip(outputs, references, strict=True)
    return np.array([metrics.bleu_counts(tokenize(ours), tokenize(theirs)) for ours, theirs in pairs], dtype=int)
