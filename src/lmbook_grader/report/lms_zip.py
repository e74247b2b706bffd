"""Feedback pages in one zip, named as Moodle and Canvas name the files that they hand out and take back.

    Moodle   Ann Doe_54321_assignsubmission_file_feedback.html     (Upload multiple feedback files in a zip)
    Canvas   doeann_12345_67890_homework-1.html                    (Upload submissions)

Both find the student by a number of their own.  It is in the name of the file or folder that was handed in, and for
Moodle also in the roster, where that is its grading worksheet.
"""

import zipfile
from pathlib import Path

from lmbook_grader.intake.file_owners import CANVAS, MOODLE
from lmbook_grader.intake.roster import Roster
from lmbook_grader.report.results import file_stem


def _moodle(result: dict, roster: Roster) -> str | None:
    found = MOODLE.fullmatch(result.get("folder", "")) or MOODLE.fullmatch(result["file"])
    student = roster[result["student"]]
    name, number = (found["name"], found["user"]) if found else (student.name, student.moodle)
    plain = name.replace("/", " ").replace("_", " ")
    return f"{plain}_{number}_assignsubmission_file_feedback.html" if number else None


def _canvas(result: dict, roster: Roster) -> str | None:
    found = CANVAS.fullmatch(result["file"])
    return f"{result['file'].partition('.ipynb')[0]}.html" if found else None


NAMES = {"moodle": _moodle, "canvas": _canvas}


def write_zip(kind: str, results: list[dict], roster: Roster, out: Path) -> tuple[Path, list[str]]:
    """Writes OUT/feedback-KIND.zip of the pages in OUT/feedback; returns it and the students whom it cannot name."""
    path, unnamed = out / f"feedback-{kind}.zip", []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for result in results:
            name = NAMES[kind](result, roster)
            if name is None:
                unnamed.append(result["student"])
                continue
            archive.write(out / "feedback" / f"{file_stem(result['student'])}.html", name)
    return path, unnamed
