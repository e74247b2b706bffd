"""What a student, a file's name or a traceback can fill stands in every page as text that a reader can see."""

from importlib.resources import files

import numpy as np
import pytest
from samples import ROSTER, Page, hand_in, homework, master, release, result, returned, ungraded

from lmbook import write
from lmbook_exams.paper import Paper
from lmbook_exams.question import Question
from lmbook_exams.sheets import Sheet, paper_html, solutions_html
from lmbook_grader.intake.collect import collect
from lmbook_grader.intake.roster import read_roster
from lmbook_grader.report.feedback import feedback, summary, write_report
from lmbook_grader.report.results import marked
from lmbook_grader.report.written_answers import write_sheet

SCRIPT = "<script>alert(1)</script>"
# A tag, an attribute's end, an entity, a turned direction, colours of a terminal, half of a surrogate pair, a template.
EVIL = f"{SCRIPT}<img src=x onerror=alert(1)>\"'&amp;\u202e\x1b[31m\x9b\ud800{{{{ 7 * 7 }}}}{{% raw %}}"
MARKER = files("lmbook_grader.report").joinpath("templates/written.mjs").read_text(encoding="utf-8")
GONE = "\u202e\x1b\x9b\ud800"


def harmless(html: str, path) -> Page:
    """The page, which is written to a file and has no tag, no attribute and no sign of EVIL's own."""
    write(path, html)
    html = html.replace(f"<script>{MARKER}</script>", "")  # the page's own, whose checksum its policy names
    seen = Page(html)
    assert set(seen.tags).isdisjoint({"script", "img", "iframe", "object", "link", "form", "base"})
    assert [name for name, _ in seen.attributes if name.startswith("on") or name == "src"] == []
    assert not set(html) & set(GONE)
    assert "49" not in seen.text
    assert "default-src 'none'" in html
    return seen


def places(tree, path=()):
    """The way to every text in a result."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))
        elif isinstance(value, str) or value is None:
            yield (*path, key)


def full() -> dict:
    """A result with something in every field that a page may show."""
    one = result(double=False, notes=["A note."], output="printed")
    one["questions"][1]["checks"][0] |= {"carried": ["double"], "reason": "A reason."}
    one["questions"][2]["answer"] = "Because."
    return marked([one], {("ann", "why"): (1, "A comment."), ("ann", "triple"): (1, "A reason.")})[0]


UNCHANGED = {("status",), ("questions", 2, "status"), ("questions", 2, "id")}  # they choose what is shown


@pytest.mark.parametrize("place", sorted(set(places(full())) - UNCHANGED, key=str), ids=str)
def test_every_text_of_a_result_is_escaped(place, tmp_path):
    one = holder = full()
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = EVIL
    roster = read_roster_of(tmp_path)
    harmless(feedback(one, release(), {}, "Ann Doe"), tmp_path / "feedback.html")
    harmless(summary([one], release(), roster, []), tmp_path / "summary.html")


def read_roster_of(folder):
    (folder / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return read_roster(folder / "roster.csv")


def test_what_is_shown_is_shown_to_the_letter(tmp_path):
    """Names, file, message, comment, note and output are all there: nothing was escaped by being left out."""
    one = full() | {"file": EVIL, "notes": [EVIL], "output": EVIL}
    one["questions"][0]["checks"][0]["message"] = one["questions"][2]["comment"] = EVIL
    seen = harmless(feedback(one, release(), {"double": EVIL}, EVIL), tmp_path / "page.html")
    assert seen.text.count(SCRIPT) == 8  # title, student, file, message, section, comment, note, output
    assert seen.text.count("\ufffd" * 4) == 0 < seen.text.count("\ufffd")
    for status in ("unreadable", "ungraded"):
        harmless(feedback(ungraded("ann", status=status, why=EVIL, file=EVIL), release(), {}, EVIL), tmp_path / status)
    faults = [{"file": EVIL, "why": EVIL}]
    rows = [one, ungraded("bob", why=EVIL), ungraded("zoe", status="unreadable", why=EVIL, file=EVIL)]
    seen = harmless(summary(rows, release(), read_roster_of(tmp_path), faults), tmp_path / "class.html")
    assert seen.text.count(SCRIPT) == 6  # a file and its fault, two reasons, a file, a note


def test_a_homework_with_tags_in_its_own_texts(tmp_path):
    notebook = release()
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and not cell.metadata:
            cell.source = cell.source.replace("\n", f" {EVIL}\n", 1) if "\n" in cell.source else cell.source + EVIL
    harmless(feedback(full(), notebook, {}, "Ann"), tmp_path / "feedback.html")
    harmless(summary([full()], notebook, read_roster_of(tmp_path), []), tmp_path / "summary.html")


def test_the_sheet_of_written_answers_is_harmless(tmp_path):
    folder, roster, key = tmp_path / "submissions", read_roster_of(tmp_path), master()
    hand_in(returned(written=f"Because {EVIL}"), folder / "ann.ipynb")
    hand_in(returned(written=f"$x$ {'$' * 300} {EVIL}"), folder / "bob.ipynb")
    key.cells[-1].source += f"\n\n*Marks.* 2 points: {EVIL}"
    out = tmp_path / "out"
    made = write_sheet(collect(folder, roster).submissions, homework(key), out)
    text = made.marks.read_text("utf-8-sig").replace("ann,why,,", "ann,why,<script>1,")
    made.marks.write_text(text, "utf-8")
    made = write_sheet(collect(folder, roster).submissions, homework(key), out)
    seen = harmless(made.reading.read_text("utf-8"), tmp_path / "again.html")
    assert "<script>1 points" in seen.text
    assert seen.text.count("alert(1)") >= 6
    one = full()
    one["questions"][2]["answer"] = EVIL
    for path in write_report([one], homework(key), roster, tmp_path / "report"):
        harmless(path.read_text("utf-8"), path)


@pytest.mark.parametrize("make", [paper_html, solutions_html], ids=["paper", "solutions"])
def test_exam_sheets_are_harmless(make, tmp_path):
    source = f"{EVIL}\n\n*Solution.* {EVIL}\n\n*Marks.* 2 points: {EVIL}"
    question = Question("evil", 1, EVIL, EVIL, 2, 3, 1, 1, source, lambda: None)
    paper = Paper(EVIL, [question], [question.ask(np.random.default_rng(0))])
    seen = harmless(make(paper, Sheet(EVIL, EVIL, EVIL, EVIL), ".katex {}"), tmp_path / "paper.html")
    assert seen.text.count(SCRIPT) >= 5


def test_an_unescaped_text_is_noticed(tmp_path):
    for bad in (SCRIPT, '<p onclick="x">', "<img src=x>", "\x1b"):
        with pytest.raises(AssertionError):
            harmless(f"<!-- default-src 'none' -->{bad}", tmp_path / "page.html")
