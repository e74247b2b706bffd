"""Written answers: a sheet for the people who mark them, and a page to read them on, question by question."""

from pathlib import Path

from nbformat import NotebookNode

from lmbook import write
from lmbook_grader.intake.collect import Submission, Unreadable, open_submission, place
from lmbook_grader.intake.match_answers import grade_id, is_answer, titles
from lmbook_grader.report.feedback import name_of
from lmbook_grader.report.html import page, text
from lmbook_grader.report.results import MARKS, number, write_csv


def written_answers(submissions: list[Submission], release: NotebookNode) -> dict[str, list[tuple[str, str]]]:
    """Question -> (student, answer) for every written answer that is there, in the order of the submissions."""
    asked = [grade_id(cell) for cell in release.cells if is_answer(cell) and cell.cell_type == "markdown"]
    found: dict[str, list[tuple[str, str]]] = {name: [] for name in asked}
    for one in submissions:
        try:
            placed = place(open_submission(one.path), release)
        except Unreadable:
            continue
        sources = {grade_id(cell): cell.source for cell in placed.notebook.cells}
        for name in asked:
            if name not in placed.missing:
                found[name].append((one.student, sources[name]))
    return found


def write_sheet(
    submissions: list[Submission], release: NotebookNode, master: NotebookNode, out: Path
) -> tuple[Path, Path, int]:
    """Writes OUT/marks.csv, to be filled in, and OUT/written.html, to be read; returns both and the number of answers.

    Students are named by their ids only, and stand question by question, so that one answer does not colour the next.
    An existing marks.csv is never overwritten: it may hold marks.  Raises FileExistsError then.
    """
    sheet, reading = out / "marks.csv", out / "written.html"
    if sheet.exists():
        raise FileExistsError(
            f"{sheet} is there already and may hold marks: move it, or name another folder with --out."
        )
    answers = written_answers(submissions, release)
    rows = [{"student": student, "question": name} for name, found in answers.items() for student, _ in found]
    write_csv(rows, list(MARKS), sheet)
    headings, solutions = titles(release), {grade_id(cell): cell for cell in master.cells}
    parts = [
        f"<h1>{text(name_of(release))}: written answers</h1>",
        "<p>For markers: this page holds the solutions.</p>",
    ]
    for name, found in answers.items():
        most = number(solutions[name].metadata.nbgrader.points)
        parts.append(f"<h2>{text(headings[name])} ({text(name)}, {most} points)</h2>")
        solution = text(solutions[name].source)
        parts.append(f'<details><summary>Solution and marks</summary><p class="answer">{solution}</p></details>')
        parts += [f'<h3>{text(student)}</h3>\n<p class="answer">{text(answer)}</p>' for student, answer in found]
    write(reading, page("Written answers", "\n".join(parts)))
    return sheet, reading, len(rows)
