"""Objectives are practised and examined: the map fits chapters, homework and bank, and exercises have their minutes."""

import shutil
from pathlib import Path

import nbformat
import pytest
from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lmbook_exams.bank import CHAPTERS, of_chapter
from lmbook_exams.objectives import trained
from lmbook_press.book import Book, BookError
from lmbook_press.editions.slides import chapter
from lmbook_press.exercises import Exercise, exercises
from lmbook_press.site.features import folding

BOOK = Book.find(Path(__file__).parent)
# What only the chapter's own experiments are about.
UNTRAINED = {(13, 4), (19, 3)}


def test_every_objective_is_practised_or_examined_and_nothing_is_lost():
    bare, new = set(), []
    for number in CHAPTERS:
        aims = trained(BOOK, number)
        bare |= {(number, at) for at, aim in enumerate(aims, 1) if not (aim.exercises or aim.homework or aim.exam)}
        assert {one.name for aim in aims for one in aim.exam} == {one.name for one in of_chapter(number)}
        listed = {one.number for aim in aims for one in aim.exercises}
        new += [one.number for one in exercises(chapter(BOOK, str(number))) if one.number not in listed]
        asked = {at for aim in aims for at in aim.homework}
        assert asked == set(range(1, len(asked) + 1))
    assert bare == UNTRAINED
    assert len(new) <= 1, "book/objectives.toml lacks exercises"


@pytest.mark.parametrize(
    ("said", "wrong"),
    [("exercises = [1, 1, 1, 1, 1, 1, 1]", "7 exercises, there are 6"), (None, "it has 6 objectives, no 9")],
)
def test_a_map_that_does_not_fit_is_named(tmp_path, said, wrong):
    for name in ("notebooks", "book"):
        shutil.copytree(BOOK.root / name, tmp_path / name, ignore=lambda _, names: [n for n in names if _skipped(n)])
    shutil.copy(BOOK.root / "_config.yml", tmp_path)
    here = tmp_path / "book" / "objectives.toml"
    text = here.read_text()
    line = next(line for line in text.partition("[chapter.6]\n")[2].split("\n"))
    here.write_text(text.replace(line, said or line.replace("6]", "9]"), 1))
    with pytest.raises(BookError, match=wrong):
        trained(Book.find(tmp_path), 6)


def _skipped(name: str) -> bool:
    return not (name.startswith(("06-", "homework")) or name.endswith(".toml"))


def test_minutes_follow_from_what_is_there(tmp_path):
    cells = [
        "Before.\n\n:::{exercise} 1.1 practice, debug this run\n:label: ex-1-1\n:nonumber:\n\nOne two $ab$ four.\n:::",
        "```{solution-start} ex-1-1\n:class: dropdown\n```\n\nFive words are not many.\n\n$$\nx = 1\n$$",
        None,
        "Two more.\n\n```{solution-end}\n```\n\nAfter it.",
    ]
    made = [new_code_cell("a = 1\n\nb = 2") if text is None else new_markdown_cell(text) for text in cells]
    nbformat.write(new_notebook(cells=made), tmp_path / "01-one.ipynb")
    assert exercises(tmp_path / "01-one.ipynb") == [Exercise("1.1", "practice", "ex-1-1", 4, 8, 2)]
    assert exercises(tmp_path / "page.md") == []
    one = Exercise("1.1", "explore", "ex-1-1", words=100, written=150, lines=15)
    assert one.minutes == 35  # 15 + 1 + 10 + 10, to the next five
    assert Exercise("1.2", "check", "ex-1-2").minutes == 5


def test_a_page_shows_the_minutes_beside_the_grade():
    title = nodes.title("", "Exercise (1.4 practice, debug this run)")
    folding._exercise_title(title, {"1.4": 20})
    assert title.astext() == "Exercise 1.4: debug this run practice about 20 min"


def test_each_exercise_of_the_book_takes_its_time():
    for path in BOOK.chapters():
        found = exercises(path)
        assert all(one.words > 10 and one.written > 8 for one in found), path.stem
        assert all(5 <= one.minutes <= 60 for one in found), path.stem
        assert not found or 75 <= sum(one.minutes for one in found) <= 150, (
            f"{path.stem}: the instructors' page says so"
        )
        assert sum(one.minutes for one in found if one.grade == "check") <= 25, path.stem
