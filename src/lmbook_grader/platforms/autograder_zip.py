"""The zip for Gradescope's "Configure Autograder": the grader, one homework of a course, and two scripts.

What Gradescope wants is in its specification, https://gradescope-autograders.readthedocs.io/en/latest/specs/:
`setup.sh` is run once, when the image is built, and `run_autograder` for each submission.
"""

import csv
import importlib.metadata
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import lmbook
from lmbook_grader.intake.roster import Roster
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import BookError

FILES = Path(__file__).parent / "files"
PACKAGES = ("lmbook", "lmbook_press", "lmbook_grader")
LEFT_OUT = {"__pycache__", "recipes", "recorded", "trained", "releases"}  # what no grading needs
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # of every entry: the same homework gives the same zip


def write_zip(course: Path, path: Path, roster: Roster | None, visibility: str, seconds: int | None) -> list[str]:
    """Writes the zip for the homework in folder `course`; returns the names in it.

    visibility: when students see points, in Gradescope's words.  roster: needed where each student has a homework of
    their own; ids, names and emails of it go into the zip.
    """
    homework = Homework.load(course)
    if (course / "students").is_dir() and roster is None:
        raise BookError(f"{course} has a homework for each student: name the class with --roster.")
    settings = {"visibility": visibility, "seconds": seconds}
    entries = {name: (FILES / name).read_bytes() for name in ("setup.sh", "run_autograder")}
    entries["requirements.txt"] = "\n".join(requirements(homework)).encode() + b"\n"
    entries["settings.json"] = json.dumps(settings).encode() + b"\n"
    if roster is not None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [("id", "name", "email"), *((one.id, one.name, one.email) for one in roster)]
        )
        entries["roster.csv"] = text.getvalue().encode()
    entries |= {f"course/{name}": data for name, data in _files(course, "*.ipynb")}
    for package in PACKAGES:
        entries |= {
            f"package/{package}/{name}": data for name, data in _files(Path(lmbook.__file__).parents[1] / package)
        }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo(name, FIRST_DAY)
            info.external_attr = (0o755 if name in ("setup.sh", "run_autograder") else 0o644) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return list(entries)


def _files(folder: Path, pattern: str = "*") -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob(pattern)):
        parts = path.relative_to(folder).parts
        if path.is_file() and not LEFT_OUT & set(parts):
            yield "/".join(parts), path.read_bytes()


def requirements(homework: Homework) -> list[str]:
    """What pip installs for the grader: what lmbook brings, and torch only where the homework uses it."""
    try:
        asked = importlib.metadata.requires("lmbook") or []
    except importlib.metadata.PackageNotFoundError as error:
        raise BookError("lmbook is not installed: pip install '.[homework]' in the book's folder.") from error
    code = "\n".join(cell.source for cell in homework.grading.cells if cell.cell_type == "code")
    torch = bool(re.search(r"^\s*(import|from) (torch|lmbook)\b", code, re.MULTILINE))
    needed = [one for one in asked if "extra ==" not in one and (torch or not re.match(r"torch\b", one))]
    return sorted([*needed, "nbformat>=5.7"])
