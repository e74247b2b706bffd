"""Which hint an answer gets, without walls; run as a program: the table of homework, wrong answers, and those named.

python tests/homework/hinted.py [--write] [NN ...]      --write: named.json too, to be read line by line before commit
"""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from points import STEMS, code_cells, compiled, needed, open_master, with_functions, with_values
from slips import wrong_answers

from lmbook_grader.hints import FOLDER, Hint, read
from lmbook_press.assignments import variants
from lmbook_press.assignments.questions import defined, marks

SECRET = "a sentence that only the course knows"
STUDENTS = ("ann", "bob", "eve")
NAMED = Path(__file__).parent / "named.json"


def hints(stem: str) -> list[Hint]:
    return read(FOLDER / f"{stem}.py")


@cache
def space(before: tuple[str, ...]) -> dict:
    names: dict = {"__name__": "homework"}
    with contextlib.redirect_stdout(io.StringIO()):
        for source in before:
            exec(compiled(source), names)
    return names


@cache
def drawn(stem: str, student: str | None) -> dict[str, dict]:
    """By question, what was drawn for a student: as make writes it into the notebook."""
    master = open_master(stem)
    return variants.in_answers(master, variants.values(master, variants.key(SECRET, stem), student)) if student else {}


def true(
    stem: str, answers: dict[str, str], hint: Hint, student: str | None = None, form: Callable | None = None
) -> bool:
    """Whether the probe finds its misconception in these answers, the master's taking the place of all others.

    student: in whose edition; None in that for all.  form: what changes the values that the answers return.
    """
    values = drawn(stem, student).get(hint.question, {})
    if not hint.holds(values):
        return False
    cells = [cell for cell in code_cells(stem, SECRET, student) if not marks(cell).get("grade")]
    answers = {name: with_values(stem, source, SECRET, student) for name, source in answers.items()}
    before = tuple(
        (answers.get(marks(cell).get("grade_id"), cell.source), marks(cell).get("solution", False)) for cell in cells
    )
    names = space(needed(", ".join(hint.functions), before))
    asked = {name: names[name] for name in hint.functions}
    if form is not None:
        own = set().union(*(defined(source)[0] for source, answer in before if answer))
        asked |= {name: _in(form, function) for name, function in asked.items() if name in own}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return bool(hint.probe(**asked, **hint.drawn(values)))
    except Exception:
        return False


def _in(form: Callable, function: Callable) -> Callable:
    return lambda *arguments, **options: form(function(*arguments, **options), None, arguments)


def first(stem: str, answers: dict[str, str], student: str | None = None) -> str | None:
    """The name of the probe whose hint these answers get, of the questions that they answer."""
    found = (hint for hint in hints(stem) if hint.question in answers and true(stem, answers, hint, student))
    return next((hint.probe.__name__ for hint in found), None)


def named(stem: str, student: str | None = None) -> dict[str, str | None]:
    """Wrong answer -> the hint it gets."""
    cases = wrong_answers(stem).cases.items()
    return {name: first(stem, with_functions(stem, functions), student) for name, (_, functions) in cases}


def missing_points(stem: str) -> list[str]:
    """The listed answers that are wrong: some are right ones in another form."""
    wrong = wrong_answers(stem)
    return [name for name, (points, _) in wrong.cases.items() if points < wrong.full]


def table(found: dict[str, dict[str, str | None]]) -> list[str]:
    rows = [f"{'homework':<28}{'wrong':>6}{'named':>6}{'share':>7}"]
    counts = {stem: (len(missing_points(stem)), sum(map(bool, names.values()))) for stem, names in found.items()}
    counts["all"] = tuple(map(sum, zip(*counts.values(), strict=True)))
    return rows + [
        f"{stem:<28}{wrong:>6}{right:>6}{100 * right / wrong:>6.0f}%" for stem, (wrong, right) in counts.items()
    ]


def main() -> None:
    chosen = [stem for stem in STEMS if stem[:2] in sys.argv] or STEMS
    found = {stem: named(stem) for stem in chosen if hints(stem)}
    for stem, names in found.items():
        false = [
            (h.probe.__name__, s) for s in (None, "ann", "bob", "eve") for h in hints(stem) if true(stem, {}, h, s)
        ]
        print(stem, "FALSE ALARMS " + str(false) if false else "")
        for name, probe in names.items():
            print(f"    {probe or '---':<28}{name}" + ("" if name in missing_points(stem) else "   (right)"))
        unused = [h.probe.__name__ for h in hints(stem) if h.probe.__name__ not in names.values()]
        print("    unused:", unused)
    print("\n".join(table(found)))
    print("In an edition drawn for a student:")
    print("\n".join(table({stem: named(stem, "ann") for stem in found})))
    if "--write" in sys.argv:
        before = json.loads(NAMED.read_text()) if NAMED.exists() else {}
        NAMED.write_text(json.dumps(dict(sorted((before | found).items())), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
