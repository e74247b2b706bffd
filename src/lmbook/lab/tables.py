"""The tables of results, written from the recorded runs and from nothing else; tables.toml says which there are.

    table("language")          the table as Markdown
    differences("language")    which settings differ between its rows, as the records have them
    section("language")        both, under title and caption, as on the page Results of the book
    page()                     all of them
    models()                   every trained network, with its parameters and where its weights are

A cell is the score of one seed, or the mean over seeds with the lowest and the highest in brackets. Of minutes the
median is shown, of those on a CPU if any. A row without a recorded run is left out, and so is a table without rows.
"""

import re
from collections.abc import Iterable, Mapping
from statistics import median

from lmbook import metrics
from lmbook.lab import layout
from lmbook.lab.differences import differences
from lmbook.lab.layout import COSTS, Column, Row, chosen, grid
from lmbook.lab.recipes import RECIPES  # from here, where all of them are entered
from lmbook.lab.run import TRAINED, leading, records


def score(run: dict, row: Row, column: Column):
    """What a record has for a cell; None where it has nothing."""
    if column.head in COSTS and not column.score:  # one of several systems has no cost of its own
        return (COSTS[column.head][0](run) or None) if row.at == ("*",) else None
    keys = tuple(dict(row.keys).get(step, step) if isinstance(step, str) else step for step in column.score)
    path: list = []
    for step in row.at:
        path += keys if step == "*" else [step.replace("*", str(keys[0]))]
    found = run["scores"]
    for step in (*path, *column.then):
        if isinstance(step, dict):
            found = next((one for one in found if step.items() <= one.items()), None)
        else:
            found = found[step] if isinstance(step, int) else found.get(step)
        if found is None:
            return None
    return sum(found[slice(*column.mean)]) / (column.mean[1] - column.mean[0]) if column.mean else found


def cell(values: list, form: str) -> str:
    """One score, or mean (lowest to highest) over seeds, once where they read alike; a text as it is."""
    if any(value is None for value in values) or not values:
        return ""
    if isinstance(values[0], str):
        return values[0]
    mean, low, high = (format(value, form) for value in (sum(values) / len(values), min(values), max(values)))
    return mean if low == high else f"{mean} ({low} to {high})"


def values(row: Row, column: Column, runs: list[dict]) -> list:
    """One value a seed; of a cost, one for all seeds."""
    found = [score(run, row, column) for run in runs]
    if column.head not in COSTS or not found or None in found:
        return found
    return [minutes(runs) if column.head == "minutes" else max(found)]


def minutes(runs: list[dict]) -> str:
    """The median over those on a CPU, or, where there is none, over all, with the machines beside it."""
    timed = [run for run in runs if "CPU" in run["hardware"]]
    names = sorted({re.sub(r"NVIDIA | \d+GB.*", "", run["hardware"]) for run in runs})  # H100 of NVIDIA H100 80GB HBM3
    return f"{median(run['seconds'] for run in timed or runs) / 60:.1f}" + ("" if timed else f" ({' or '.join(names)})")


def table(name: str) -> str:
    """A table as Markdown; a row without a recorded run is left out. Raises RecipeError for an unknown name."""
    rows, columns = [], chosen(name).columns
    for row in chosen(name).rows:
        if runs := records(row.recipe):
            cells = [cell(values(row, column, runs), column.form) for column in columns]
            rows.append([row.label, *cells, str(len(runs))])
    return grid(["model", *(column.head for column in columns), "seeds"], rows) if rows else ""


# What is read or predicted, the table and its column, the row of the simplest model, and that of the best network.
SUMMARY = (
    ("words of WikiText-2", "language", "test", "5-gram, modified Kneser-Ney", "LSTM, 2 layers of 650, full softmax"),
    ("characters of Shakespeare", "characters", "nats", "6-gram, Kneser-Ney", "GPT, nanoGPT's GPU setting"),
    ("German to English, Multi30k", "translation", "beam of 5", "one LSTM for both sides", "Transformer"),
    ("parts of speech, EWT", "tagging", "all words", "logistic regression", "LSTM, both directions"),
    (
        "opinions on films", "classifying", "accuracy",
        "opinions: TF-IDF, logistic regression", "opinions: LSTM, both directions, two layers",
    ),
    ("pixels of digits", "pixels", "bits per pixel", "histogram of each position and class", "pixel GPT"),
    ("digits", "digits", "accuracy", "logistic regression", "small CNN, images shifted in training"),
)  # fmt: skip
UNITS = {"test": "perplexity", "beam of 5": "BLEU, beam of 5", "all words": "right tags"}


def summary() -> str:
    """Each task with the score of its simplest model and of its best network, from the tables below it."""
    rows = []
    for task, name, head, *labels in SUMMARY:
        (column,) = (column for column in chosen(name).columns if column.head == head)
        cells = [f"{task}: {UNITS.get(head, head)}"]
        for label in labels:
            (row,) = (row for row in chosen(name).rows if row.label == label)
            cells += [label.removeprefix("opinions: "), cell(values(row, column, records(row.recipe)), column.form)]
        rows.append(cells)
    return grid(["task", "simple model", "its score", "network", "its score"], rows)


def _tokens(record: dict) -> int:
    return sum(part["tokens"] for part in record["parts"].values())


def comparisons(rows: Iterable[tuple[str, str]], key: str = "beam 5 counts") -> str:
    """Each recorded rung of rows (label, recipe) against the last one before it that read as many tokens, to 2%:
    difference of BLEU with its 95% interval, by paired bootstrap. A rung whose budget no other had is left out.
    """
    have = [(label, found[0]) for label, recipe in rows if (found := records(recipe))]
    compared = []
    for place, (second, other) in enumerate(have):
        equal = [rung for rung in have[:place] if abs(_tokens(rung[1]) / _tokens(other) - 1) < 0.02]
        if not equal:
            continue
        first, one = equal[-1]
        test = metrics.bootstrap_from_counts(one["scores"][key], other["scores"][key])
        gain = test["second"] - test["first"]
        compared.append([f"{second} over {first}", f"{gain:+.1f}", f"{test['low']:+.1f} to {test['high']:+.1f}"])
    return grid(["comparison", "BLEU", "95% interval"], compared) if compared else ""


def section(name: str) -> str:
    """A table under its title and caption, with what differs between its rows and, for the ladder of translation, the
    comparisons and BLEU's signature. "summary" is the table at the top of the page, "machines" the list of machines on
    which the recorded runs were made.
    """
    if name == "summary":
        return summary()
    if name == "machines":
        machines = {record["hardware"] for record in records()}
        return "\n".join(f"- {machine}" for machine in sorted(machines))
    rows, title = chosen(name).rows, chosen(name).title
    if not (filled := table(name)):
        return ""
    parts = [f"**{title}{'' if title.endswith('?') else '.'}** {chosen(name).caption}", filled]
    if name == "translation" and (compared := comparisons((row.label, row.recipe) for row in rows)):
        parts += [
            "Differences between rungs that read as many tokens, by a paired bootstrap over test sentences:",
            compared,
        ]
        signatures = {run["scores"]["signature"] for row in rows for run in records(row.recipe)}
        parts.append("Signature: " + ", ".join(f"`{signature}`" for signature in sorted(signatures)) + ".")
    return "\n\n".join(part for part in (*parts, differences(name)) if part)


def models(shown: Mapping[str, str] | None = None) -> str:
    """Every recorded training as Markdown, a recipe each; what only counts or measures is left out.

    shown: for each recipe the chapters that show it, as text; the rows then keep its order, and others follow.
    """
    shown = shown or {}
    first = {name: place for place, name in enumerate(shown)}
    rows = []
    for recipe in sorted(RECIPES.values(), key=lambda recipe: (first.get(recipe.name, len(first)), recipe.name)):
        runs = records(recipe.name)
        sizes = sorted({part["parameters"] for part in runs[0]["parts"].values()}) if runs else []
        if not sizes:
            continue
        file = TRAINED / f"{recipe.name}.safetensors"
        weights = f"{file.stat().st_size / 1000:,.0f} kB" if file.is_file() else ""
        size = " to ".join(f"{n:,}" for n in dict.fromkeys((sizes[0], sizes[-1])))
        rows.append([f"`{recipe.name}`: {recipe.about}", size, minutes(runs), weights, shown.get(recipe.name, "")])
    return grid(["model", "parameters", "minutes", "weights", "chapters"], rows)


def page() -> str:
    """All tables, each under its title."""
    return "\n\n".join(filter(None, map(section, layout.TABLES))) + "\n"


def listing() -> str:
    """All recipes with expected time and recorded score, a line each."""
    lines = []
    for recipe in sorted(RECIPES.values(), key=lambda recipe: recipe.name):
        leads = [leading(record) for record in records(recipe.name)]
        score = f"{recipe.score} {cell(leads, '.3f' if max(leads) < 1e6 else '.3g')}" if leads else "not recorded yet"
        lines.append(f"{recipe.name:<28}{recipe.minutes:>6g} min  {score}\n{'':<6}{recipe.about}")
    return "\n".join(lines)
