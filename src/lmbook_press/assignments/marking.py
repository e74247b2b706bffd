"""Written questions of masters and exams: the text of a question, its solution, and how its points are given."""

import re

MARKS = re.compile(r"^\*Marks\.\*\s*", re.MULTILINE)
ITEM = re.compile(r"(?=\b\d+ points?\b(?: for|:))")


def question_of(release, name: str) -> str:
    """The text of the question that the answer `name` belongs to, without its heading."""
    last = ""
    for cell in release.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade_id") == name:
            break
        if cell.cell_type == "markdown" and not marks.get("solution"):
            last = cell.source
    return re.sub(r"\A#+ [^\n]*\n*", "", last)


def solution_and_scheme(source: str) -> tuple[str, str]:
    """A written answer of the master in its two parts: the solution, and how points are given."""
    found = MARKS.search(source)
    return (source[: found.start()].strip(), source[found.end() :].strip()) if found else (source, "")


def rubric(scheme: str, most: float) -> list[tuple[float, str]]:
    """The scheme's items with their points, where these make up the question's; else `most` items of one point."""
    parts = [part.strip() for part in ITEM.split(scheme) if re.match(r"\d+ point", part)]
    items = [(float(part.split(" ", 1)[0]), part) for part in parts]
    if sum(points for points, _ in items) == most:
        return items
    return [(1.0, f"point {number}") for number in range(1, int(most) + 1)]
