"""What a homework ends in: its last cells train the model that the answers make, and print what it does."""

import contextlib
import io
import re

import pytest
from points import STEMS, code_cells, compiled, marks, open_master

SWITCH = re.compile(r"^((?:\w+, )?steps = .*\b)0(?=  # )", re.MULTILINE)
SHOWN = [stem for stem in STEMS if any(SWITCH.search(cell.source) for cell in open_master(stem).cells)]


@pytest.mark.parametrize("stem", SHOWN)
def test_the_last_cells_show_what_the_model_does(stem):
    cells = code_cells(stem, None)
    first = max(i for i, cell in enumerate(cells) if SWITCH.search(cell.source))
    space = {"__name__": "homework"}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells[:first]:
            if not marks(cell).get("grade"):
                exec(compiled(cell.source), space)
    show, printed = "\n".join(cell.source for cell in cells[first:]), []
    for source in (show, SWITCH.sub(r"\g<1>5", show)):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(source, space)
        printed.append(out.getvalue())
    assert printed[0] == "", "without steps they do nothing, so that they cost no time where the homework is graded"
    assert len(printed[1].splitlines()) >= 5


def test_there_are_homeworks_that_end_in_a_model():
    made = {"03", "04", "05", "06", "07", "08", "09", "11", "13", "15", "16", "17", "20", "21", "23"}
    assert {stem[:2] for stem in SHOWN} >= made
