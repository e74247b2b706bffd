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
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from statistics import median

from lmbook import metrics
from lmbook.lab.recipes import RECIPES, TRAINED, RecipeError, records  # entered there, or nothing would be listed
from lmbook.lab.run import leading

# Parameters in millions, minutes of training and evaluations; load changes those of one training by a factor of ten.
COSTS = {
    "parameters (M)": (lambda run: sum(part["parameters"] for part in run["parts"].values()) / 1e6, ".2f"),
    "minutes": (lambda run: run["seconds"] / 60, ".1f"),
}
ALWAYS = ("parameters", "steps", "tokens", "seconds")  # what records have without settings too
# Settings that are alike if they differ by less, as a share: the deviations of a start; and the highest rate, which is
# a little below the one that was set where the schedule falls from the first step on.
NEARLY = {"embeddings at the start": 0.2, "rate": 0.001}
UNKNOWN, LACKS = "?", "–"
NUMBER = re.compile(r"[-+−]?[\d.]")  # how a cell with a number begins


@dataclass(frozen=True)
class Column:
    """As in tables.toml; score and then are paths, mean is the range of places or nothing."""

    head: str
    score: tuple = ()
    then: tuple = ()
    mean: tuple[int, ...] = ()
    form: str = ".2f"


@dataclass(frozen=True)
class Row:
    """As in tables.toml; at is the path to the scores, trained the names of the trainings, None for all."""

    label: str
    recipe: str
    at: tuple = ("*",)
    trained: tuple[str, ...] | None = None
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Table:
    """title, caption in Markdown, rows in order, columns.  one_thing: the settings in which alone its rows differ."""

    title: str
    caption: str
    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    one_thing: tuple[str, ...] | None = None


def _path(found) -> tuple:
    return tuple(found) if isinstance(found, list) else (found,)


def _column(found: dict | str) -> Column:
    if isinstance(found, str):
        return Column(found, form=COSTS[found][1])
    score, then = _path(found.get("score", found["head"])), _path(found["then"]) if "then" in found else ()
    return Column(found["head"], score, then, tuple(found.get("mean", ())), found.get("form", ".2f"))


def _row(found: dict) -> Row:
    part = found.get("part")
    at = tuple(found["at"]) if "at" in found else ("*",) if part is None else (part, "*")
    default = None if part is None and "at" not in found else () if part is None else (part,)
    trained = tuple(found["trained"]) if "trained" in found else default
    return Row(found["label"], found["recipe"], at, trained, tuple(found.get("keys", {}).items()))


def read(text: str) -> dict[str, Table]:
    """The tables of a TOML file, by name."""
    return {
        name: Table(
            found["title"],
            found["caption"],
            tuple(map(_row, found["rows"])),
            tuple(map(_column, found["columns"])),
            tuple(found["one_thing"]) if "one_thing" in found else None,
        )
        for name, found in tomllib.loads(text).items()
    }


TABLES = read(resources.files("lmbook.lab").joinpath("tables.toml").read_text("utf-8"))


def chosen(name: str) -> Table:
    """A table by its name. Raises RecipeError for an unknown one."""
    if name not in TABLES:
        raise RecipeError(f"there is no table {name!r}; there are {', '.join(TABLES)}.")
    return TABLES[name]


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


MOST = 7  # settings that stand side by side
# What a setting is called in a table, where the name of an argument or of an entry of the records says too little.
SAID = {
    "FLOPs": "FLOPs in all",
    "model": "class in the code",
    "vocab": "size of the vocabulary",
    "vocab_source": "size of the source vocabulary",
    "vocab_target": "size of the target vocabulary",
    "vocabulary": "rows of each embedding table",
    "d_embed": "width of an embedding",
    "d_model": "width of the model",
    "d_ff": "width of the feed-forward layers",
    "d_a": "width of the comparison",
    "hidden": "units of a state",
    "n_layers": "layers",
    "n_heads": "heads",
    "n_types": "types",
    "max_length": "longest text",
    "cell": "recurrent cell",
    "bidirectional": "reads in both directions",
    "residual": "residual connections",
    "context": "steps that get the fixed vector",
    "tied": "shared embedding tables",
    "scaled": "embeddings scaled",
    "betas": "Adam's betas",
    "eps": "Adam's epsilon",
    "rows": "rows of a batch",
    "budget": "steps at most",
    "ended": "ended by",
}


def grid(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; columns of numbers stand to the right, the first one and columns of words to the left."""
    columns = list(zip(*rows, strict=True))[1:] or [()] * (len(heads) - 1)
    told = [[cell for cell in column if cell.strip() not in ("", LACKS)] for column in columns]
    sides = ["--:" if all(map(NUMBER.match, column)) else ":--" for column in told]
    lines = ["| " + " | ".join(heads) + " |", "|".join(["", ":--", *sides, ""])]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


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


def settings(part: dict) -> dict[str, object]:
    """The settings of a training, flat: its costs, then the model's class and arguments, then all others."""
    told = part.get("settings", {})
    flat = {key: part[key] for key in ("parameters", "steps", "tokens")}
    flat |= {"FLOPs": told["flops"]} if told else {}
    flat |= {"seconds": part["seconds"]}
    if told:
        start = told["start"]
        flat |= _flat(told["model"], "model") | {"optimizer": told["optimizer"]} | told["optimizer options"]
        flat |= {
            key: told[key] for key in told if key not in ("model", "optimizer", "optimizer options", "flops", "start")
        }
        flat |= {"embeddings at the start": start["embeddings"], "start": start.get("note", "at random")}
        flat["rates tried"] = sorted({trial["rate"] for trial in told["rates tried"]})
    return flat


def _flat(model: dict, name: str) -> dict:
    """A model's class under this name, and its arguments; those of a model within it stand beside them."""
    flat = {name: model["class"].rpartition(".")[2]}
    for key, value in model.items():
        if isinstance(value, dict) and "class" in value:
            flat |= _flat(value, key)
        elif key != "class":
            flat[key] = value
    return flat


def systems(name: str) -> dict[str, dict[int, list[dict]]]:
    """The trainings behind the rows of a table: for each label and seed the parts of the record, one or several.

    In a table of one row, whose columns are compared, each training is a row.
    """
    found: dict[str, dict[int, list[dict]]] = {}
    rows = chosen(name).rows
    for row in rows:
        for run in records(row.recipe):
            names = [part for part in (run["parts"] if row.trained is None else row.trained) if part in run["parts"]]
            groups = {part: [part] for part in names} if len(rows) == 1 and len(names) > 1 else {row.label: names}
            for label, group in groups.items():
                if group:
                    found.setdefault(label, {})[run["seed"]] = [settings(run["parts"][part]) for part in group]
    return found


def _alike(key: str, one: list, other: list) -> bool:
    if key not in (*ALWAYS, "FLOPs"):  # two trainings with one setting have the setting of a single one
        one, other = (values[:1] if all(v == values[0] for v in values) else values for values in (one, other))
    if key not in NEARLY or LACKS in (*one, *other):
        return one == other
    ones, others = ([v if isinstance(v, list) else [v] for v in values] for values in (one, other))
    pairs = list(zip(ones, others, strict=False))
    if len(ones) != len(others) or any(len(a) != len(b) for a, b in pairs):  # not one to one: all must be alike
        every = [x for part in (*ones, *others) for x in part]
        return max(every) <= (1 + NEARLY[key]) * min(every)
    return all(max(x, y) <= (1 + NEARLY[key]) * min(x, y) for a, b in pairs for x, y in zip(a, b, strict=True))


def varied(name: str) -> dict[str, bool]:
    """Every setting that the trainings of a table record, and whether it differs between them, seed by seed.

    A setting that one model has and another has not differs; one that only some of the records tell does not count.
    """
    every = list(systems(name).values())
    keys = dict.fromkeys(key for seeds in every for parts in seeds.values() for part in parts for key in part)
    differ = {}
    for key in keys:
        told = [
            {seed: [part.get(key, LACKS) for part in parts] for seed, parts in seeds.items()}
            for seeds in every
            if key in ALWAYS or all("rate" in part for parts in seeds.values() for part in parts)
        ]
        differ[key] = any(
            not _alike(key, one[seed], other[seed])
            for i, one in enumerate(told)
            for other in told[:i]
            for seed in (one.keys() & other.keys() or ())
        )
    return differ


def spoken(number: float) -> str:
    """A large number with two digits and its unit in words: 5.93e11 is 590 billion."""
    rounded = float(f"{number:.2g}")
    for unit, name in (1e12, " trillion"), (1e9, " billion"), (1e6, " million"):
        if rounded >= unit:
            return f"{rounded / unit:,g}{name}"
    return f"{rounded:,g}"


def _shown(key: str, seeds: dict[int, list[dict]]) -> str:
    """A setting of a row: of several trainings one after the other, of several seeds the lowest to the highest."""

    def text(value) -> str:
        if isinstance(value, list):
            return ", ".join(map(text, value)) or "none"
        if isinstance(value, dict):  # a function; see lmbook.configuration
            return value["function"].rpartition(".")[2]
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return {True: "yes", False: "no", None: "none"}.get(value, value)
        if key == "FLOPs":
            return spoken(value)
        return f"{value:,.0f}" if isinstance(value, int) or key == "seconds" else f"{value:g}"

    parts = []
    for group in zip(*seeds.values(), strict=True):
        told = [part.get(key, LACKS if "rate" in part else UNKNOWN) for part in group]
        told = [value[0] if isinstance(value, list) and len(value) == 1 else value for value in told]
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in told)
        ends = (min(told), max(told)) if numbers else told
        told = list(dict.fromkeys(map(text, ends)))
        units = {value.partition(" ")[2] for value in told}
        if key == "FLOPs" and len(units) == 1:  # 590 to 600 billion
            told[:-1] = [value.partition(" ")[0] for value in told[:-1]]
        parts.append(" to ".join(told))
    if len(set(parts)) == 1:  # one training, or several that are alike
        return f"{parts[0]} each" if len(parts) > 1 and key in (*ALWAYS, "FLOPs") else parts[0]
    return " / ".join(parts)


def differences(name: str) -> str:
    """Which settings differ between the trainings of a table, as Markdown; empty where there are not two to compare.

    A row for each model, or for each setting where those are many: a page is higher than it is wide.
    """
    found, differ = systems(name), varied(name)
    if len(found) < 2:
        return ""
    keys = [key for key in differ if differ[key]]
    rows = [[label, *(_shown(key, seeds) for key in keys)] for label, seeds in found.items()]
    silent = [label for label, seeds in found.items() if any("rate" not in p for ps in seeds.values() for p in ps)]
    heads = ["model", *(SAID.get(key, key) for key in keys)]
    if len(keys) > max(MOST, len(rows)):
        heads, *rows = map(list, zip(["setting", *heads[1:]], *rows, strict=True))
    cells = {cell for row in rows for cell in row}
    lines = ["According to their records, these trainings differ in the following settings:", grid(heads, rows)]
    first = next(iter(found.values()))
    shared = (key for key in differ if not differ[key] and key in ("steps", "tokens", "rate"))
    same = [f"{key} {told}" for key in shared if (told := _shown(key, first)) != UNKNOWN]
    notes = [f"All of them share these settings: {', '.join(same)}."] if same else []
    notes += ["A dash means that a model has no such setting."] if LACKS in cells else []
    notes += ["A question mark means that it was not recorded."] if UNKNOWN in cells else []
    if silent:
        which = "these runs" if len(silent) == len(found) else "; ".join(silent)
        notes.append(f"Other settings (rate, dropout, start, widths) of {which} were not recorded.")
    return "\n\n".join([*lines, *([" ".join(notes)] if notes else [])])


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
    """A table under its title and caption, with what differs between its rows and, for the ladder of translation, the
    comparisons and BLEU's signature. "machines" stands for the list of machines on which the recorded runs were made.
    """
    if name == "machines":
        machines = {record["hardware"] for record in records()}
        return "\n".join(f"- {machine}" for machine in sorted(machines))
    rows, title = chosen(name).rows, chosen(name).title
    if not (filled := table(name)):
        return ""
    parts = [f"**{title}{'' if title.endswith('?') else '.'}** {chosen(name).caption}", filled]
    if name == "translation" and (compared := comparisons((row.label, row.recipe) for row in rows)):
        parts += ["Differences between rungs, by a paired bootstrap over the test sentences:", compared]
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
    return "\n\n".join(filter(None, map(section, TABLES))) + "\n"


def listing() -> str:
    """All recipes with expected time and recorded score, a line each."""
    lines = []
    for recipe in sorted(RECIPES.values(), key=lambda recipe: recipe.name):
        leads = [leading(record) for record in records(recipe.name)]
        score = f"{recipe.score} {cell(leads, '.3f' if max(leads) < 1e6 else '.3g')}" if leads else "not recorded yet"
        lines.append(f"{recipe.name:<28}{recipe.minutes:>6g} min  {score}\n{'':<6}{recipe.about}")
    return "\n".join(lines)
