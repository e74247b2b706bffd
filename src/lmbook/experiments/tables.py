"""The tables of results, written from the recorded runs in src/lmbook/recorded and from nothing else.

    table("language")          the table as Markdown
    section("language")        under its title and caption, as on the page Results of the book
    page()                     all of them

A cell is the score of one seed, or the mean over seeds with the lowest and the highest in brackets. Of minutes only the
fewest are shown. A row without a recorded run is named below its table.
"""

from collections.abc import Iterable
from itertools import pairwise

from lmbook import metrics
from lmbook.experiments.run import RECIPES, RecipeError, leading, records
from lmbook.experiments.table_rows import TABLES, Column


def cell(values: list, form: str) -> str:
    """One score, or mean (lowest to highest) over seeds, once where they read alike; a text as it is."""
    if any(value is None for value in values) or not values:
        return ""
    if isinstance(values[0], str):
        return values[0]
    mean, low, high = (format(value, form) for value in (sum(values) / len(values), min(values), max(values)))
    return mean if low == high else f"{mean} ({low} to {high})"


def grid(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(heads) + " |", "|:--" + "|--:" * (len(heads) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def systems(row: str) -> list[dict]:
    """The recorded runs of a row, "recipe" or "recipe:part"; a part has no cost of its own."""
    recipe, _, part = row.partition(":")
    runs = records(recipe)
    return (
        [{**run, "parts": {}, "seconds": 0, "scores": scores_of(run["scores"], part)} for run in runs] if part else runs
    )


def scores_of(scores: dict, part: str) -> dict:
    """Those of one system: what stands under its name, the scores whose names begin with it, or one of each task."""
    if part in scores:
        return scores[part]
    named = {key.removeprefix(f"{part} "): value for key, value in scores.items() if key.startswith(f"{part} ")}
    return named or {task: of[part] for task, of in scores.items() if isinstance(of, dict) and part in of}


def values(column: Column, runs: list[dict]) -> list:
    """One value a seed, or the one that the column picks."""
    found = [column.value(run) for run in runs]
    return [column.pick(found)] if column.pick and found and None not in found else found


def table(name: str) -> str:
    """A table as Markdown; rows without a recorded run are named below it. Raises RecipeError for an unknown name."""
    if name not in TABLES:
        raise RecipeError(f"there is no table {name!r}; there are {', '.join(TABLES)}.")
    chosen = TABLES[name]
    rows, waiting = [], []
    for label, recipe in chosen.rows:
        runs = systems(recipe)
        cells = [cell(values(column, runs), column.form) for column in chosen.columns]
        if runs:
            rows.append([label, *cells, str(len(runs))])
        else:
            waiting.append(label)
    parts = [grid(["model", *(column.head for column in chosen.columns), "seeds"], rows)] if rows else []
    if waiting:
        parts.append(f"Without a recorded run so far: {'; '.join(waiting)}.")
    return "\n\n".join(parts)


def comparisons(rows: Iterable[tuple[str, str]], key: str = "beam 5 counts") -> str:
    """Each recorded rung of rows (label, recipe) against the one before it: difference of BLEU with its 95% interval,
    by paired bootstrap.
    """
    have = [(label, found[0]) for label, recipe in rows if (found := records(recipe))]
    compared = []
    for (first, one), (second, other) in pairwise(have):
        test = metrics.bootstrap_from_counts(one["scores"][key], other["scores"][key])
        gain = test["second"] - test["first"]
        compared.append([f"{second} over {first}", f"{gain:+.1f}", f"{test['low']:+.1f} to {test['high']:+.1f}"])
    return grid(["comparison", "BLEU", "95% interval"], compared) if compared else ""


def section(name: str) -> str:
    """A table under its title and caption and, for the ladder of translation, the comparisons and BLEU's signature.

    "machines" stands for the list of machines on which the recorded runs were made.
    """
    if name == "machines":
        return "\n".join(f"- {machine}" for machine in sorted({record["hardware"] for record in records()}))
    chosen = TABLES[name]
    title = chosen.title if chosen.title.endswith("?") else f"{chosen.title}."
    parts = [f"**{title}** {chosen.caption}", table(name)]
    if name == "translation" and (compared := comparisons(chosen.rows)):
        parts += ["Differences between rungs, by a paired bootstrap over the test sentences:", compared]
        signatures = {run["scores"]["signature"] for _, recipe in chosen.rows for run in records(recipe)}
        parts.append("Signature: " + ", ".join(f"`{signature}`" for signature in sorted(signatures)) + ".")
    return "\n\n".join(parts)


def page() -> str:
    """All tables, each under its title."""
    return "\n\n".join(section(name) for name in TABLES) + "\n"


def listing() -> str:
    """All recipes with expected time and recorded score, a line each."""
    lines = []
    for recipe in sorted(RECIPES.values(), key=lambda recipe: recipe.name):
        leads = [leading(record) for record in records(recipe.name)]
        score = f"{recipe.score} {cell(leads, '.3f' if max(leads) < 1e6 else '.3g')}" if leads else "not recorded yet"
        lines.append(f"{recipe.name:<28}{recipe.minutes:>6g} min  {score}\n{'':<6}{recipe.about}")
    return "\n".join(lines)
