"""German to English on Multi30k: one ladder of models, one set of byte pairs, one test set, one BLEU.

All rungs read the same ids: byte-pair encoding with 4,000 types learned on both sides of the training part. The scores
are sacreBLEU's on the 1,000 pairs of test 2016, cased, greedy and with a beam of 5 (length-normalised, alpha = 1);
lower-cased beside it, as many tutorials report. A record keeps the counts of every sentence, so that two rungs can be
compared by a paired bootstrap without either's output.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from lmbook import data, metrics
from lmbook.attention import MultiHeadAttention
from lmbook.data.batching import pad
from lmbook.decode import beam, greedy
from lmbook.experiments.run import Run, recipe
from lmbook.losses import token_nll
from lmbook.schedules import warmup_cosine
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq, SingleRNNTranslator, TransformerEncoder
from lmbook.text import SOS_ID, BytePairTokenizer
from lmbook.train import evaluate
from lmbook.transformer import Transformer

TYPES, MERGES = 4000, 4000 - BytePairTokenizer.FIRST_MERGE
RESCORED = ("nll", "greedy, first 100")  # quick enough for a test of the shipped weights
MAX_LENGTH = 80  # the longest reference of the test part has 46 tokens
WIDTHS = {"multi30k-first": (1, 2, 5, 10)}  # the beams of a recipe that chapter 9 compares


@functools.cache
def byte_pairs(text: str) -> BytePairTokenizer:
    return BytePairTokenizer.train(text, MERGES)


def prepare(run: Run) -> tuple[BytePairTokenizer, dict[str, list], dict[str, list]]:
    """The tokenizer, and of each part the pairs as ids and as text, (German, English)."""
    corpus = run.corpus("multi30k", languages=("de", "en"))
    texts = {part: run.cut(corpus[part]) for part in ("train", "valid", "test")}
    bpe = run.text = byte_pairs("\n".join(side for pair in texts["train"] for side in pair))
    ids = {part: [(bpe.encode(de), bpe.encode(en)) for de, en in pairs] for part, pairs in texts.items()}
    return bpe, ids, texts


def loss(model: nn.Module, batch: data.Batch, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
    """Summed NLL of the targets, and their number."""
    source, inputs, targets = batch[:3]
    return token_nll(model(source, inputs), targets, smoothing=smoothing)


def translate(
    model: nn.Module,
    bpe: BytePairTokenizer,
    sources: list[list[int]],
    width: int = 1,
    max_length: int = MAX_LENGTH,
    alpha: float = 1.0,
) -> list[str]:
    """Translations of encoded sources, in their order; width 1 is greedy, else the width of the beam."""
    where = next(model.parameters()).device
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    written: list[str] = [""] * len(sources)
    for start in range(0, len(order), 50):
        rows = order[start : start + 50]
        source = pad([sources[i] for i in rows]).to(where)
        if width == 1:
            found, _ = greedy(model, source, max_length, forbid=(SOS_ID,))
        else:
            found, _ = beam(model, source, max_length, width=width, alpha=alpha, forbid=(SOS_ID,))
        for i, ids in zip(rows, found, strict=True):
            written[i] = bpe.decode(ids)
    return written


def score(run: Run, model: nn.Module, bpe: BytePairTokenizer, ids: dict, texts: dict) -> dict:
    """Perplexity a token, BLEU greedy and with a beam of 5, and what of each sentence a later comparison needs."""
    max_length = 5 if run.quick else MAX_LENGTH
    references = [english for _, english in texts["test"]]
    sources = [source for source, _ in ids["test"]]
    nll = evaluate(model, data.batches(ids["test"], 100), loss)
    scores = {"nll": nll, "perplexity": metrics.perplexity(nll)}
    few = translate(model, bpe, sources[:100], 1, max_length)
    scores["greedy, first 100"], _ = metrics.sacrebleu_score(few, references[:100])
    if run.rescoring:
        return scores
    for name, width in (("greedy", 1), ("beam 5", 5)):
        written = translate(model, bpe, sources, width, max_length)
        scores[name], scores["signature"] = metrics.sacrebleu_score(written, references)
        scores[f"{name} lower-cased"], _ = metrics.sacrebleu_score(written, references, lowercase=True)
        scores[f"{name} counts"] = [
            [int(n) for n in metrics.bleu_counts(metrics.tokenize_13a(ours), metrics.tokenize_13a(theirs))]
            for ours, theirs in zip(written, references, strict=True)
        ]
    if widths := WIDTHS.get(run.recipe.name):
        scores |= beams(model, bpe, sources, texts["test"], widths[:2] if run.quick else widths, max_length)
    return scores


def beams(
    model: nn.Module, bpe, sources: list[list[int]], pairs: list[tuple[str, str]], widths: tuple[int, ...], most: int
) -> dict:
    """BLEU and words written for beams of these widths, with and without the division by length, and ten examples.

    Of the first 500 sentences. bpe: whatever has `decode`.  An example: source, reference, greedy, beam of the widths.
    """
    sources, pairs = sources[:500], pairs[:500]
    references, rows, outputs = [target for _, target in pairs], [], {}
    for alpha in (0.0, 1.0):
        for width in widths:
            written = outputs[alpha, width] = translate(model, bpe, sources, width, most, alpha)
            bleu, _ = metrics.sacrebleu_score(written, references)
            words = sum(len(metrics.tokenize_13a(text)) for text in written) / len(written)
            rows.append({"width": width, "alpha": alpha, "bleu": bleu, "words": words})
    right = sum(len(metrics.tokenize_13a(text)) for text in references) / len(references)
    examples = [[*pairs[i], *(outputs[1.0, width][i] for width in widths)] for i in range(min(10, len(pairs)))]
    return {"beams": rows, "words of the references": right, "examples": examples}


@dataclass(frozen=True)
class Rung:
    """build(types, dropout) makes the model.  rate: the highest, after `warmup` steps.  tokens: of a batch, padded."""

    about: str
    build: Callable[..., nn.Module]
    minutes: int
    rate: float
    steps: int
    warmup: int
    tokens: int
    adam: dict = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    ships: bool = False


def transformer(types: int, dropout: float = 0.3) -> nn.Module:
    """Small and strongly regularised, after Wu et al. 2021; no dropout on the weights of attention."""
    model = Transformer(types, types, 160, n_heads=4, d_ff=320, n_layers=4, dropout=dropout, tied="all")
    for part in model.modules():
        if isinstance(part, MultiHeadAttention):
            part.dropout = 0.0
    return model


D = 192  # width of embeddings and states of every recurrent rung


def encoder_decoder(
    types: tuple[int, int],
    d_embed: int,
    hidden: int,
    encoder: nn.Module | None = None,
    cell: str = "gru",
    n_layers: int = 1,
    bidirectional: bool = False,
    dropout: float = 0.0,
    **options,
) -> Seq2Seq | AttentionSeq2Seq:
    """A recurrent decoder after the encoder given, by default a recurrent one of the same cell, sizes and depth.

    types: of source and target.  options: of the decoder, an AttentionSeq2Seq if attention is among them.
    """
    if encoder is None:
        encoder = RecurrentEncoder(types[0], d_embed, hidden, n_layers, cell, bidirectional, dropout)
    kind = AttentionSeq2Seq if "attention" in options else Seq2Seq
    return kind(encoder, types[1], d_embed, hidden, n_layers, cell, dropout=dropout, **options)


def recurrent(types: int, dropout: float = 0.3, **options) -> nn.Module:
    """GRUs of width 192, a bidirectional encoder unless the options say otherwise."""
    settings = {"bidirectional": True, "tied": True, "dropout": dropout} | options
    return encoder_decoder((types, types), D, D, **settings)


def hybrid(types: int, dropout: float = 0.3) -> nn.Module:
    """A Transformer encoder of 3 layers in place of the recurrent one."""
    encoder = TransformerEncoder(types, D, d_ff=2 * D, n_layers=3, dropout=dropout)
    return recurrent(types, dropout, encoder=encoder, attention="bahdanau")


def one_rnn(types: int, dropout: float = 0.3) -> nn.Module:
    """As wide as the other rungs are in all: 288 units, one embedding for both languages and the output."""
    return SingleRNNTranslator(types, 288, 288, cell="lstm", dropout=dropout, tied=True)


BUDGET = {"minutes": 35, "rate": 3e-3, "steps": 3500, "warmup": 300, "tokens": 2048}  # of a recurrent rung
RUNGS: dict[str, Rung] = {
    "multi30k-one-rnn": Rung("one LSTM that reads the source and goes on with the target", one_rnn, **BUDGET),
    "multi30k-first": Rung("encoder-decoder, context into the first state", recurrent, **BUDGET),
    "multi30k-every": Rung(
        "encoder-decoder, context into every step", functools.partial(recurrent, context="every"), **BUDGET
    ),
    "multi30k-two-layers": Rung(
        "encoder-decoder of two layers, context into every step",
        functools.partial(recurrent, context="every", n_layers=2),
        **BUDGET,
    ),
    "multi30k-additive": Rung(
        "RNNsearch: additive attention, scored before the update",
        functools.partial(recurrent, attention="bahdanau"),
        **BUDGET,
        ships=True,
    ),
    "multi30k-hybrid": Rung(
        "the hybrid: a Transformer encoder of 3 layers and a recurrent decoder with additive attention",
        hybrid,
        **BUDGET,
    ),
    "multi30k-transformer": Rung(
        "a Transformer of 2.7M parameters: 4 + 4 layers of width 160, one shared embedding",
        transformer,
        minutes=120,
        rate=3e-3,
        steps=7500,
        warmup=900,
        tokens=4096,
        adam={"betas": (0.9, 0.98), "eps": 1e-9},
        ships=True,
    ),
    **{  # compared with each other: shorter runs, more seeds
        f"multi30k-score-{score}": Rung(
            f"{score} attention over an encoder of one direction, scored after the update",
            functools.partial(recurrent, attention="luong", score=score, bidirectional=False),
            **BUDGET | {"minutes": 15, "steps": 1500},
            seeds=(0, 1, 2),
        )
        for score in ("dot", "multiplicative", "additive", "scaled")
    },
}


def train_and_score(run: Run, rung: Rung) -> tuple[dict, nn.Module]:
    """One way for every rung: Adam, a cosine, smoothing 0.1, gradients clipped at 1."""
    bpe, ids, texts = prepare(run)
    model = rung.build(len(bpe)).to(run.device)
    run.fit(
        model,
        lambda epoch: data.batches(ids["train"], rung.tokens, seed=[run.seed, epoch], tokens=True),
        functools.partial(loss, smoothing=0.1),
        torch.optim.Adam(model.parameters(), lr=rung.rate, **rung.adam),
        steps=rung.steps,
        schedule=lambda step: warmup_cosine(step, warmup=rung.warmup, total=rung.steps),
        clip=1.0,
        validate=lambda model: evaluate(model, data.batches(ids["valid"], 100), loss),
        evaluate_every=500,
        save_every=250,
    )
    return score(run, model, bpe, ids, texts), model


def enter(name: str, rung: Rung) -> None:
    """Enters the recipe of one rung."""

    @recipe(
        name,
        about=f"German-English, {rung.about}",
        minutes=rung.minutes,
        corpora=("multi30k",),
        ships=rung.ships,
        seeds=rung.seeds,
        score="beam 5",
        rescored=RESCORED,
    )
    def make(run: Run) -> tuple[dict, nn.Module]:
        return train_and_score(run, rung)


for rung_name in RUNGS:
    enter(rung_name, RUNGS[rung_name])
