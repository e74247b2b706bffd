"""The tables of results, written from the recorded runs in src/lmbook/recorded and from nothing else.

    table("language")          the table as Markdown
    section("language")        with its caption, as on the page Results of the book
    page()                     all of them

A cell is the score of one seed, or the mean over seeds with the lowest and the highest in brackets. A recipe without a
recorded run is shown as such.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from lmbook import metrics
from lmbook.recipes.core import RECIPES, RecipeError, records


@dataclass(frozen=True)
class Column:
    """A column: its head, the score (a key of the record's scores, or a function of the record), and its format."""

    head: str
    score: str | Callable[[dict], float]
    form: str = ".2f"

    def value(self, record: dict) -> float | str | None:
        return self.score(record) if callable(self.score) else record["scores"].get(self.score)


def parameters(record: dict) -> float | None:
    """Parameters of the recipe's model, in millions; None where nothing was trained."""
    return sum(part["parameters"] for part in record["parts"].values()) / 1e6 or None


def minutes(record: dict) -> float | None:
    """Minutes of training, evaluations during it included; None where nothing was trained."""
    return record["seconds"] / 60 or None


COST = (Column("parameters (M)", parameters), Column("minutes", minutes, ".0f"))


@dataclass(frozen=True)
class Table:
    """title, caption in Markdown, rows (label, recipe) in order, columns.

    "recipe:part" stands for one of several systems of a recipe: its scores are then those under the key `part`.
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
}


def cell(values: list, form: str) -> str:
    """One score, or mean (lowest to highest) over seeds; a text as it is."""
    if any(value is None for value in values) or not values:
        return ""
    if isinstance(values[0], str):
        return values[0]
    mean = format(sum(values) / len(values), form)
    return mean if len(values) == 1 else f"{mean} ({format(min(values), form)} to {format(max(values), form)})"


def grid(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(heads) + " |", "|:--" + "|--:" * (len(heads) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def systems(row: str) -> list[dict]:
    """The recorded runs of a row, "recipe" or "recipe:part"."""
    recipe, _, part = row.partition(":")
    runs = records(recipe)
    return [{**run, "parts": {}, "seconds": 0, "scores": run["scores"][part]} for run in runs] if part else runs


def table(name: str) -> str:
    """A table as Markdown. Raises RecipeError for a name that does not exist."""
    if name not in TABLES:
        raise RecipeError(f"there is no table {name!r}; there are {', '.join(TABLES)}.")
    chosen = TABLES[name]
    rows = []
    for label, recipe in chosen.rows:
        runs = systems(recipe)
        cells = [cell([column.value(run) for run in runs], column.form) for column in chosen.columns]
        seeds = str(len(runs)) if runs else "no recorded run"
        rows.append([label, *cells, seeds])
    return grid(["model", *(column.head for column in chosen.columns), "seeds"], rows)


def comparisons(recipes: list[str], key: str = "beam 5 counts") -> str:
    """Each recorded rung against the one before it: difference of BLEU with its 95% interval, by paired bootstrap."""
    have = [(recipe, found[0]) for recipe in recipes if (found := records(recipe))]
    rows = []
    for (first, one), (second, other) in pairwise(have):
        test = metrics.bootstrap_from_counts(one["scores"][key], other["scores"][key])
        gain = test["second"] - test["first"]
        rows.append([f"{second} over {first}", f"{gain:+.1f}", f"{test['low']:+.1f} to {test['high']:+.1f}"])
    return grid(["comparison", "BLEU", "95% interval"], rows) if rows else ""


def section(name: str) -> str:
    """A table with its caption and, for the ladder of translation, the comparisons and BLEU's signature.

    "machines" stands for the list of machines on which the recorded runs were made.
    """
    if name == "machines":
        return "\n".join(f"- {machine}" for machine in sorted({record["hardware"] for record in records()}))
    parts = [table(name), TABLES[name].caption]
    if name == "translation" and (compared := comparisons([recipe for _, recipe in TABLES[name].rows])):
        parts += ["Differences between rungs, by a paired bootstrap over the test sentences:", compared]
        signatures = {run["scores"]["signature"] for _, recipe in TABLES[name].rows for run in records(recipe)}
        parts.append("Signature: " + ", ".join(f"`{signature}`" for signature in sorted(signatures)) + ".")
    return "\n\n".join(parts)


def page() -> str:
    """All tables, each under its title."""
    return "\n\n".join(f"## {chosen.title}\n\n{section(name)}" for name, chosen in TABLES.items()) + "\n"


def listing() -> str:
    """All recipes with expected time and recorded score, a line each."""
    lines = []
    for recipe in sorted(RECIPES.values(), key=lambda recipe: recipe.name):
        values = [record["scores"].get(recipe.score) for record in records(recipe.name)]
        score = f"{recipe.score} {cell(values, '.3f')}" if values else "not recorded yet"
        lines.append(f"{recipe.name:<28}{recipe.minutes:>5.0f} min  {score}\n{'':<6}{recipe.about}")
    return "\n".join(lines)
