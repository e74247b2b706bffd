"""A notebook for each student: the seal in it outlives a rename, and what it says changes nobody's points wrongly."""

import json
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from points import ROOT, code_cells

from lmbook_cli import main
from lmbook_grader.grading.pool import stored_result
from lmbook_grader.intake.collect import collect
from lmbook_grader.intake.made_for import FOREIGN, FORGED, MISSING, OLDER, made_for, seal_of
from lmbook_grader.intake.roster import read_roster
from lmbook_grader.self_check import check
from lmbook_press.assignments.questions import Homework, marks

STEM = "02-ngrams-and-perplexity"
SECRET = "a course's secret"
PEOPLE = ("ann", "bob", "cy", "dee", "eve", "fay")
DRAWN = {"perplexity", "operator"}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    lines = ["id,name,email", *(f"{one},{one.title()} Lee,{one}@x.org" for one in PEOPLE)]
    (folder / "roster.csv").write_text("\n".join(lines) + "\n")
    words = ["homework", "make", "2", "--out", str(folder), "--seed", SECRET, "--roster", str(folder / "roster.csv")]
    done = CliRunner().invoke(main, [*words, "--book", str(ROOT)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def roster(course):
    return read_roster(course / "roster.csv")


def made(course: Path, student: str) -> nbformat.NotebookNode:
    """The student's notebook as it was handed out."""
    return nbformat.read(course / "02" / "students" / student / f"{STEM}.ipynb", as_version=4)


def answered(course: Path, student: str) -> nbformat.NotebookNode:
    """And with the right answers to it."""
    notebook = made(course, student)
    right = {marks(cell)["grade_id"]: cell.source for cell in code_cells(STEM, SECRET, student) if marks(cell)}
    for cell in notebook.cells:
        if marks(cell).get("solution"):
            cell.source = right.get(marks(cell)["grade_id"], f"In the words of {student}.")
    return notebook


def write(notebook, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    return path


def test_make_gives_each_student_another_notebook_and_the_class_one_as_before(course):
    release = nbformat.read(course / "02" / "release" / f"{STEM}.ipynb", as_version=4)
    shipped = nbformat.read(ROOT / "src/lmbook_grader/releases" / f"{STEM}.ipynb", as_version=4)
    assert release == shipped
    texts = {"\n".join(cell.source for cell in made(course, one).cells) for one in PEOPLE}
    assert len(texts) == len(PEOPLE)
    assert (course / "02/students/ann/README.md").read_text().count(f"{STEM}.ipynb") == 2
    assert f"book/homework/{STEM}.html>," in (course / "02/students/ann/README.md").read_text()
    secret = Homework.load(course / "02").sealed["key"]
    assert not any(secret in path.read_text() for path in (course / "02/students").rglob("*.*"))


def test_the_homework_of_a_student_has_its_own_question_case_and_checks(course):
    homework = Homework.load(course / "02")
    ann = homework.of("ann")
    assert [one.name for one in ann.questions] == [one.name for one in homework.questions]
    differing = {
        one.name
        for one, other in zip(ann.questions, homework.questions, strict=True)
        if [check.source for check in one.checks] != [check.source for check in other.checks]
    }
    assert differing == DRAWN
    assert homework.of("nobody") is homework


def test_a_seal_is_believed_only_as_it_was_made(course, tmp_path):
    homework, notebook = Homework.load(course / "02"), made(course, "ann")
    seal = notebook.metadata["lmbook"]["made_for"]

    def said(change=None, **changes):
        other = nbformat.from_dict(notebook)
        other.metadata["lmbook"]["made_for"] = {**seal, **changes} if change is None else change
        return seal_of(write(other, tmp_path / "x.ipynb"), homework)

    assert (said().student, said().note) == ("ann", "")
    for forged in (
        {"student": "bob"},
        {"edition": "0" * 16},
        {"seal": "0" * 64},
        {"seal": "é\ud800"},
        {"student": None},
    ):
        assert (said(**forged).student, said(**forged).note) == ("", FORGED)
    for forged in ([], "ann", 7, {}, {"seal": {}}):
        assert said(forged).note == FORGED
    del notebook.metadata["lmbook"]["made_for"]
    assert seal_of(write(notebook, tmp_path / "x.ipynb"), homework).note == MISSING
    homework.grading.metadata["lmbook"]["edition"] = "of another text"
    assert said().note == OLDER
    (tmp_path / "x.ipynb").write_bytes(b"\xff{")
    assert seal_of(tmp_path / "x.ipynb", homework).student == ""


def test_a_seal_of_another_homework_or_course_is_none(course, tmp_path):
    homework = Homework.load(course / "02")
    words = ["homework", "make", "1", "2", "--out", str(tmp_path), "--seed", "another", "--book", str(ROOT)]
    assert CliRunner().invoke(main, [*words, "--roster", str(course / "roster.csv")]).exit_code == 0
    for path in (tmp_path / "01/students/ann", tmp_path / "02/students/ann"):
        (file,) = path.glob("*.ipynb")
        assert seal_of(file, homework).note == FORGED


def test_a_file_whose_name_says_nothing_is_found_by_its_seal(course, tmp_path, roster):
    homework = Homework.load(course / "02")
    folder = tmp_path / "in"
    write(answered(course, "ann"), folder / "homework (1).ipynb")
    write(answered(course, "bob"), folder / "cy.ipynb")  # the name says whose it is
    for name in ("mine.ipynb", "also mine.ipynb"):
        write(answered(course, "dee"), folder / name)
    stranger = answered(course, "eve")
    stranger.metadata["lmbook"]["made_for"]["student"] = "zed"
    write(stranger, folder / "solution.ipynb")
    found = collect(folder, roster, homework.release, made_for(homework))
    assert {one.student: one.path.name for one in found.submissions} == {
        "ann": "homework (1).ipynb",
        "cy": "cy.ipynb",
    }
    assert any("made for you" in note for note in found.submissions[0].notes)
    why = {fault.path.name: fault.why for fault in found.faults}
    assert "made for dee, as another file here was" in why["mine.ipynb"]
    assert why["solution.ipynb"].startswith("the name fits nobody")
    assert [one.student for one in collect(folder, roster, homework.release).submissions] == ["cy"]


def test_a_class_is_graded_each_by_their_own_and_swapped_files_lose_what_is_drawn(walls, course, tmp_path):
    folder = tmp_path / "in"
    write(answered(course, "ann"), folder / "ann.ipynb")
    write(answered(course, "cy"), folder / "bob.ipynb")
    write(answered(course, "bob"), folder / "cy.ipynb")
    bare, forged = answered(course, "dee"), answered(course, "eve")
    del bare.metadata["lmbook"]
    forged.metadata["lmbook"]["made_for"]["student"] = "ann"
    write(bare, folder / "dee.ipynb")
    write(forged, folder / "eve.ipynb")
    common = nbformat.read(course / "02" / "release" / f"{STEM}.ipynb", as_version=4)
    right = {marks(cell)["grade_id"]: cell.source for cell in code_cells(STEM, SECRET) if marks(cell)}
    for cell in common.cells:
        if marks(cell).get("solution"):
            cell.source = right.get(marks(cell)["grade_id"], "As the book has it.")
    write(common, folder / "fay.ipynb")
    runs = ["--roster", str(course / "roster.csv"), "--out", str(tmp_path / "graded")]
    done = CliRunner().invoke(main, ["homework", "grade", str(course / "02"), str(folder), *runs, "--jobs", "2"])
    assert done.exit_code == 0, done.output
    results = {one: stored_result(tmp_path / "graded/02/results" / f"{one}.json") for one in PEOPLE}
    lost = {
        one: {question["id"] for question in result["questions"] if question["status"] not in ("right", "manual")}
        for one, result in results.items()
    }
    assert lost == {"ann": set(), "bob": DRAWN, "cy": DRAWN, "dee": set(), "eve": set(), "fay": DRAWN}
    said = {one: [note for note in result["notes"] if "made" in note] for one, result in results.items()}
    assert said == {"ann": [], "bob": [FOREIGN], "cy": [FOREIGN], "dee": [MISSING], "eve": [FORGED], "fay": [MISSING]}
    assert {one: result.get("made_for") for one, result in results.items()} == dict.fromkeys(PEOPLE) | {
        "bob": "cy",
        "cy": "bob",
    }

    for words in (
        ["sheet", str(course / "02"), str(folder)],
        ["report", str(course / "02"), str(tmp_path / "graded/02")],
    ):
        done = CliRunner().invoke(main, ["homework", *words, *runs[:2], *(runs[2:] if words[0] == "sheet" else [])])
        assert done.exit_code == 0, done.output
    homework, page = Homework.load(course / "02"), (tmp_path / "graded/02/written.html").read_text()
    case = {one: json.dumps(_case(homework.of(one))) for one in PEOPLE}
    assert page.count("<h2>") == len(set(case.values()))
    summary = (tmp_path / "graded/02/summary.html").read_text()
    assert "bob: the file was made for cy" in summary
    assert "made for cy" not in (tmp_path / "graded/02/feedback/bob.html").read_text()


def _case(homework: Homework) -> list[str]:
    return [cell.source for cell in homework.release.cells if "In your own words" in cell.source]


def test_check_goes_with_a_students_own_notebook(course, tmp_path):
    mine, release = write(answered(course, "ann"), tmp_path / "mine.ipynb"), course / "02/students/ann"
    assert check(mine, release / f"{STEM}.ipynb").good
    theirs = check(mine, course / "02/students/bob" / f"{STEM}.ipynb")
    wrong = [one.title for one in theirs.questions if one.said]
    assert len(wrong) == len(DRAWN)
    assert "Your course may have its own version" in check(mine).lacks
