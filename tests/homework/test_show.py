"""What a homework ends in: its last cell trains the model that the answers make, and prints what it does."""

import contextlib
import io
import re

import pytest
from points import STEMS, code_cells, compiled, marks

SWITCH = re.compile(r"^((?:\w+, )?steps = .*\b)0(?=  # )", re.MULTILINE)
SHOWN = [stem for stem in STEMS if SWITCH.search(code_cells(stem, None)[-1].source)]


@pytest.mark.parametrize("stem", SHOWN)
def test_the_last_cell_shows_what_the_model_does(stem):
    *cells, show = code_cells(stem, None)
    space = {"__name__": "homework"}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells:
            if not marks(cell).get("grade"):
                exec(compiled(cell.source), space)
    printed = []
    for source in (show.source, SWITCH.sub(r"\g<1>5", show.source)):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(source, space)
        printed.append(out.getvalue())
    assert printed[0] == "", "without steps it does nothing, so that it costs no time where the homework is graded"
    assert len(printed[1].splitlines()) >= 5


def test_there_are_homeworks_that_end_in_a_model():
    made = {"03", "04", "05", "06", "07", "08", "09", "11", "13", "15", "16", "17"}
    assert {stem[:2] for stem in SHOWN} >= made
