"""The instructors' page: its commands exist with their options, and its table says what the homeworks say."""

import json
import re
import shlex
from pathlib import Path

import pytest
from samples import ROSTER, hand_in, result, returned, write_course, write_results

from lmbook_exams.bank import CHAPTERS, of_chapter
from lmbook_exams.cli import exam
from lmbook_exams.sheets import DESCRIPTORS
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
    (tmp_path / "last-year").mkdir()
    (tmp_path / "parts/1/01").mkdir(parents=True)


def test_the_page_shows_every_command():
    assert {command.split()[1] for command in COMMANDS} >= set(homework.commands)


@pytest.mark.parametrize("command", [one for one in COMMANDS if len(one.split()) > 2])
def test_every_command_on_the_page_can_be_called_so(command, class_of_one):
    name, *words = shlex.split(command)[1:]
    words = [found for word in words for found in sorted(map(str, Path().glob(word))) or [word]]  # as a shell does
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


@pytest.mark.parametrize("command", re.findall(r"(?:^|`)lmbook exam ([^\n`]+)", JOINED, re.MULTILINE))
def test_every_command_about_exams_can_be_called_so(command):
    name, *words = shlex.split(command)
    exam.commands[name].make_context(name, words)


def test_the_bank_is_as_large_as_the_page_says():
    sizes = {len(of_chapter(number)) for number in CHAPTERS}
    assert (min(sizes), max(sizes)) == (9, 14)
    assert "a bank of nine to fourteen questions for each chapter" in TEXT


def test_page_and_solutions_describe_answers_alike():
    for name, said in DESCRIPTORS:
        assert f"| {name} | {said} |" in TEXT


def test_the_weights_of_a_grade_add_up():
    assert sum(int(n) for n in re.findall(r"^\| (\d+) % \|", TEXT, re.MULTILINE)) == 100


def record(recipe: str, seed: int = 0) -> dict:
    return json.loads((ROOT / f"src/lmbook/lab/recorded/{recipe}-{seed}.json").read_text("utf-8"))


def test_what_to_expect_of_a_project_is_recorded_or_on_its_page():
    rows = {name: line for line in TEXT.splitlines() for name in re.findall(r"^\| \[\w+\]\((project-\d)\.md\)", line)}
    assert len(rows) == 5
    for name, line in rows.items():
        page = (ROOT / "book" / f"{name}.md").read_text("utf-8").replace("%", " %")
        program, reference = line.split("|")[2:4]
        for number in re.findall(r"\d+\.\d+", program if name == "project-4" else program + reference):
            assert re.search(rf"\b{number}\b", page), (name, number)
    scores = record("caption-scores")["scores"]
    kinds = [scores[kind] for kind in ("additive", "dot", "multiplicative", "scaled")]
    said = [float(n) for n in re.findall(r"\d+\.\d", rows["project-3"].split("|")[3])]
    assert said == [round(100 * one["aligned"], 1) for one in kinds] + [round(one["bleu"], 1) for one in kinds]
    found = [record(f"shakespeare{kind}") for kind in ("-gru", "-lstm", "")]
    assert re.findall(r"\d\.\d\d\b", rows["project-4"].split("|")[3]) == [
        f"{one['scores']['nll']:.2f}" for one in found
    ]
    assert f"{found[0]['parts']['model']['parameters']:,} parameters" in rows["project-4"]
    tagger = record("vowels")["scores"]
    said = re.findall(r"\d+\.\d", rows["project-2"].split("|")[3])[1:]  # the first is the program's: test_projects
    shares = (100 * tagger["words right"], tagger["edits"], tagger["commonest"]["edits"])
    assert said == [f"{share:.1f}" for share in shares]
    assert f"{100 * tagger['commonest']['words right']:.1f} %" in rows["project-2"].split("|")[2]
    for seed in range(3):  # "a little more than the program above"
        found = record("vowels", seed)["scores"]
        assert 0 < found["words right"] - found["commonest"]["words right"] < 0.03
        assert found["edits"] < found["commonest"]["edits"]
    page = (ROOT / "book/project-4.md").read_text("utf-8")
    gpt, counts = record("shakespeare"), record("shakespeare-counts")["scores"]
    assert f"reach {counts['nll']:.3f} nats" in page
    mean = sum(record("shakespeare", seed)["scores"]["nll"] for seed in range(3)) / 3
    assert f"{mean:.3f} after {gpt['parts']['model']['tokens'] / 1e6:.1f} million characters" in page
    assert f"GPT of {gpt['parts']['model']['parameters'] / 1e6:.1f} million parameters" in page
    assert (ROOT / "src/lmbook/lab/trained/shakespeare.safetensors").stat().st_size <= 1_000_000
    board = record("keyboard")["scores"]
    best, mixed = board["test"][f"{board['n']}-gram"], board["other text, mixed"]
    said = re.findall(r"(\d+\.\d) %", rows["project-1"].split("|")[3])
    shares = (best["hit rate"], best["keystrokes saved"], mixed["keystrokes saved"])
    assert said == [f"{100 * share:.1f}" for share in shares]


def test_the_model_report_says_what_was_measured():
    page, board = (ROOT / "book/model-report.md").read_text("utf-8"), record("keyboard")["scores"]
    for n in range(1, 6):
        valid, test = board["valid"][f"{n}-gram"], board["test"][f"{n}-gram"]
        cells = [f"{100 * part[key]:.1f} %" for part in (valid, test) for key in ("hit rate", "keystrokes saved")]
        assert f"| {n}-gram | {' | '.join(cells)} | {valid['perplexity']:.1f} |" in page
    alone, mixed = (board[key]["keystrokes saved"] for key in ("other text", "other text, mixed"))
    difference, low, high = (f"{100 * one:.1f}" for one in board["gain"])
    assert f"the 5-gram saves {100 * alone:.1f} %" in page
    assert f"it saves {100 * mixed:.1f} %. We chose $\\lambda = {board['weight']}$" in page
    assert f"gain is {difference} points" in page
    assert f"between {low} and {high}" in page
    words = [board["valid"]["5-gram"]["words"], board["test"]["5-gram"]["words"], board["other text"]["words"]]
    assert all(f"{count:,}" in page for count in words)
    given = [(int(a), int(b)) for a, b in re.findall(r"^\| (\d+) \| (\d+) \|", page, re.MULTILINE)]
    assert (sum(a for a, _ in given), sum(b for _, b in given)) == (96, 100)


def test_the_model_report_says_what_the_network_did():
    page, board = (ROOT / "book/model-report.md").read_text("utf-8"), record("keyboard-network")["scores"]
    sizes = dict(zip(("1-gram", "2-gram", "3-gram", "4-gram", "network"), board["MB"], strict=True))
    assert f"take {sizes['2-gram']:.1f} MB up to bigrams, {sizes['3-gram']:.1f} MB up to trigrams" in page
    for name in "1-gram", "3-gram", "network":
        cells = [f"{sizes[name]:.1f}"]
        for part in (board["valid"][name], board["test"][name]):
            cells += [f"{100 * part[key]:.1f} %" for key in ("hit rate", "keystrokes saved")]
            cells.append(f"{part['perplexity']:.1f}")
        assert f"| {name} | {' | '.join(cells)} |" in page
        found = " | ".join(f"{100 * share:.0f} %" for share in board["by letters"][name])
        assert f"| {name} | {found} |" in page
    less, most, least = (f"{-100 * one:.1f}" for one in board["network over n-gram"])
    assert f"saves {less} points fewer than the trigram" in page
    assert f"between {least} and {most} fewer" in page
    for name in "1-gram", "3-gram":
        a, b, c, d = (f"{100 * share:.0f}" for share in board["by length"][name])
        assert f"{a}, {b}, {c} and {d} %" in page
    for name in "3-gram", "network":
        of = board["stories"][name]
        ways = [100 * of[way]["keystrokes saved"] for way in ("other text", "other text, mixed")]
        assert f"from {ways[0]:.1f} to {ways[1]:.1f} %" in page
    assert f"$\\lambda = {of['weight']}$" in page
    assert all(word in page for word in board["only the n-gram"].split(", "))
