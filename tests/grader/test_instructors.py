"""The instructors' page: its commands exist with their options, and its table says what the homeworks say."""

import re
import shlex
from pathlib import Path

import pytest
from samples import ROSTER, hand_in, result, returned, write_course, write_results

from lmbook_grader.cli import homework
from lmbook_press.assignments.questions import questions
from lmbook_press.normalize import read

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "book" / "instructors.md").read_text(encoding="utf-8")
JOINED = re.sub(r"\\\n\s*", "", TEXT)
COMMANDS = sorted(
    {found.strip() for found in re.findall(r"(?:^\s*(?:\$ )?|`)lmbook (homework [^\n`]+)", JOINED, re.MULTILINE)}
)
MASTERS = sorted((ROOT / "notebooks" / "homework").glob("[0-9]*.ipynb"))


@pytest.fixture
def class_of_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_course(tmp_path / "made").rename(tmp_path / "01")
    (tmp_path / "course").mkdir()
    (tmp_path / "01").rename(tmp_path / "course/01")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    hand_in(returned(), tmp_path / "submissions/01/ann.ipynb")
    for name in ("01-chain-rule.ipynb", "my-answers.ipynb"):
        hand_in(returned(), tmp_path / name)
    write_results(tmp_path / "graded/01", result("ann"))


def test_the_page_shows_every_command():
    assert {command.split()[1] for command in COMMANDS} >= set(homework.commands)


@pytest.mark.parametrize("command", [one for one in COMMANDS if len(one.split()) > 2])
def test_every_command_on_the_page_can_be_called_so(command, class_of_one):
    name, *words = shlex.split(command)[1:]
    homework.commands[name].make_context(name, words)  # raises for an unknown option and a missing argument


def test_an_option_that_does_not_exist_is_seen(class_of_one):
    import click

    with pytest.raises(click.UsageError):
        homework.commands["grade"].make_context("grade", shlex.split("course/01 submissions/01 --rooster roster.csv"))


@pytest.mark.parametrize("path", MASTERS, ids=[path.stem for path in MASTERS])
def test_the_table_says_what_the_homework_says(path):
    row = re.search(rf"^\| {int(path.name[:2])}\. (.+?) \| (.+?) \| (\d+) \| (\d+) \|$", TEXT, re.MULTILINE)
    assert row, f"the table of homeworks in book/instructors.md has no line for {path.name}: add it"
    master = read(path)
    title, time, program, words = row.groups()
    assert master.cells[0].source.startswith(f"# Homework: {title}\n")
    assert f"{time[0].upper()}{time[1:]}." in master.cells[0].source
    asked = questions(master)
    assert int(program) == sum(one.points for one in asked if not one.written)
    assert int(words) == sum(one.points for one in asked if one.written)
