"""Which tables of results there are, as tables.toml says, and how a table looks in Markdown."""

import re
import tomllib
from dataclasses import dataclass
from importlib import resources

from lmbook.lab.run import RecipeError


def _sum(run: dict, *path: str) -> float:
    """The sum over all trainings of a run of what stands there, 0 where none has it."""
    total = 0
    for part in run["parts"].values():
        found = part
        for step in path:
            found = found.get(step, {})
        total += found or 0
    return total


# Parameters and tokens in millions; minutes of training and evaluations, which load changes by a factor of ten.
COSTS = {
    "parameters (M)": (lambda run: _sum(run, "parameters") / 1e6, ".2f"),
    "tokens read (M)": (lambda run: _sum(run, "tokens") / 1e6, ".1f"),
    "updates": (lambda run: _sum(run, "steps"), ",.0f"),
    "10¹² FLOPs": (lambda run: _sum(run, "settings", "flops") / 1e12, ",.1f"),
    "minutes": (lambda run: run["seconds"] / 60, ".1f"),
}
LACKS = "–"
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


def grid(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; columns of numbers stand to the right, the first one and columns of words to the left."""
    columns = list(zip(*rows, strict=True))[1:] or [()] * (len(heads) - 1)
    told = [[cell for cell in column if cell.strip() not in ("", LACKS)] for column in columns]
    sides = ["--:" if all(map(NUMBER.match, column)) else ":--" for column in told]
    lines = ["| " + " | ".join(heads) + " |", "|".join(["", ":--", *sides, ""])]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])
