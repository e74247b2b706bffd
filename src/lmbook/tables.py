"""Which tables of results there are: their rows are recipes, their columns scores. `results` fills them in."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column: its head, the score (a key of the record's scores, the first there is of several keys, or a function
    of the record), and its format.
    """

    head: str
    score: str | tuple[str, ...] | Callable[[dict], float]
    form: str = ".2f"

    def value(self, record: dict) -> float | str | None:
        if callable(self.score):
            return self.score(record)
        keys = (self.score,) if isinstance(self.score, str) else self.score
        return next((record["scores"][key] for key in keys if key in record["scores"]), None)


def parameters(record: dict) -> float | None:
    """Parameters of the recipe's model, in millions; None where nothing was trained."""
    return sum(part["parameters"] for part in record["parts"].values()) / 1e6 or None


def minutes(record: dict) -> float | None:
    """Minutes of training, evaluations during it included; None where nothing was trained."""
    return record["seconds"] / 60 or None


COST = (Column("parameters (M)", parameters), Column("minutes", minutes, ".1f"))


@dataclass(frozen=True)
class Table:
    """title, caption in Markdown, rows (label, recipe) in order, columns.

    "recipe:part" stands for one of several systems of a recipe: its scores are then those under the key `part`, or
    those whose names begin with it.
    """

    title: str
    caption: str
    rows: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]


TABLES: dict[str, Table] = {
    "language": Table(
        "WikiText-2: every kind of language model",
        "Perplexity on the test part, 245,569 tokens in one stream, the same vocabulary of 33,278 types for all "
        "models; lower is better.",
        (
            ("unigram", "wikitext2-ngrams:kneser-ney 1"),
            ("bigram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 2"),
            ("trigram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 3"),
            ("4-gram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 4"),
            ("5-gram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 5"),
            ("5-gram, modified Kneser-Ney", "wikitext2-ngrams:modified kneser-ney 5"),
            ("feed-forward, window of 5", "wikitext2-feedforward"),
            ("RNN", "wikitext2-rnn"),
            ("GRU", "wikitext2-gru"),
            ("LSTM", "wikitext2-lstm"),
            ("GPT", "wikitext2-gpt"),
        ),
        (Column("validation", "valid perplexity", ".1f"), Column("test", "test perplexity", ".1f"), *COST),
    ),
    "translation": Table(
        "Multi30k, German to English: the ladder",
        "sacreBLEU, cased, on the 1,000 pairs of test 2016; all models read the same byte pairs.",
        (
            ("one LSTM for both sides", "multi30k-one-rnn"),
            ("encoder-decoder, first state", "multi30k-first"),
            ("encoder-decoder, every step", "multi30k-every"),
            ("encoder-decoder, every step, two layers", "multi30k-two-layers"),
            ("additive attention (RNNsearch)", "multi30k-additive"),
            ("hybrid", "multi30k-hybrid"),
            ("Transformer", "multi30k-transformer"),
        ),
        (
            Column("greedy", "greedy", ".1f"),
            Column("beam of 5", "beam 5", ".1f"),
            Column("lower-cased, beam", "beam 5 lower-cased", ".1f"),
            Column("perplexity", "perplexity"),
            *COST,
        ),
    ),
    "harbourish": Table(
        "Harbourish to English",
        "Generated captions through one vector: sacreBLEU, cased, on 1,000 held-out captions, greedy, and the share "
        "without a mistake.",
        tuple(
            (label, f"harbourish:{part}")
            for label, part in (
                ("one GRU for both sides", "one RNN"),
                ("encoder-decoder, first state", "first state"),
                ("encoder-decoder, every step", "every step"),
                ("encoder-decoder, every step, two layers", "two layers"),
                ("encoder-decoder, every step, stopped after 300 of 1,000 steps", "stopped early"),
            )
        ),
        (Column("BLEU", "bleu", ".1f"), Column("exact", "exact", ".1%"), Column("perplexity", "perplexity", ".3f")),
    ),
            Column("perplexity", "perplexity", ".3f"),
        ),
    ),
    "caption-ladder": Table(
        "The ladder on captions",
        "Harbourish to English, up to 20 words, the same 600 steps for all: BLEU over words, greedy, on 500 captions, "
        "and on 200 that are longer than any in training.",
        tuple((name, f"caption-ladder:{name}") for name in ("RNNenc", "RNNsearch", "hybrid", "Transformer")),
        (
            Column("BLEU", "bleu", ".1f"),
            Column("21 to 30 words", "bleu, longer than trained", ".1f"),
            Column("exact", "exact", ".1%"),
