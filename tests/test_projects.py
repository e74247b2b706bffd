"""The programs on the project pages run as they stand, on the corpora that come with the package."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1] / "book").glob("project-*.md"))


@pytest.mark.parametrize("sheet", PAGES, ids=lambda sheet: sheet.stem)
def test_the_program_runs_and_its_score_is_a_share(no_corpora, sheet):
    (program,) = re.findall(r"```python\n(.*?)```", sheet.read_text("utf-8"), flags=re.DOTALL)
    printed, space = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        exec(compile(program, sheet.name, "exec"), space)
    assert 5 < float(re.search(r"([\d.]+)%", printed.getvalue())[1]) < 95
    if "labels" in space:  # skeleton and labels lose nothing
        for line in space["train"][:200]:
            marks, left = space["labels"](line), space["skeleton"](line)
            assert marks[0] + "".join(c + vowels for c, vowels in zip(left, marks[1:], strict=True)) == line


@pytest.mark.data
@pytest.mark.weekly
@pytest.mark.parametrize("sheet", PAGES, ids=lambda sheet: sheet.stem)
def test_it_prints_on_the_real_corpora_what_the_page_says(real_corpora, sheet):
    text, printed = sheet.read_text("utf-8"), io.StringIO()
    (program,), (said,) = (re.findall(rf"```{kind}\n(.*?)```", text, flags=re.DOTALL) for kind in ("python", "text"))
    with contextlib.redirect_stdout(printed):
        exec(compile(program, sheet.name, "exec"), {})
    assert printed.getvalue() == said


@pytest.mark.parametrize("sheet", PAGES, ids=lambda sheet: sheet.stem)
def test_the_points_of_a_project_add_up(sheet):
    points = [int(n) for n in re.findall(r"^\| (\d+) \|", sheet.read_text("utf-8"), flags=re.MULTILINE)]
    assert sum(points) == 100
