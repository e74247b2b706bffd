"""The benchmark of the grader: what it spoils in a submission costs the points that it says."""

import importlib.util

import pytest
from points import ROOT, STEMS, open_master

from lmbook_press.assignments.questions import Homework, bound_and_read
from lmbook_press.assignments.variants import values

spec = importlib.util.spec_from_file_location("benchmark", ROOT / "benchmarks" / "homework.py")
benchmark = importlib.util.module_from_spec(spec)
spec.loader.exec_module(benchmark)


@pytest.mark.parametrize("stem", STEMS)
def test_it_finds_an_answer_to_spoil_that_no_other_needs(stem):
    homework = Homework.handed_out(ROOT / "notebooks" / "homework" / f"{stem}.ipynb")
    assert any(one.checks and not benchmark.read_elsewhere(one, homework) for one in homework.questions)


def test_an_answer_that_a_later_one_calls_is_not_taken():
    homework = Homework.handed_out(ROOT / "notebooks" / "homework" / "09-sequence-to-sequence.ipynb")
    step = next(one for one in homework.questions if one.name == "decoder-step")
    assert benchmark.read_elsewhere(step, homework)


@pytest.mark.parametrize("stem", STEMS)
def test_no_wrong_answer_reads_a_drawn_value_which_the_edition_for_all_does_not_name(stem):
    drawn = values(open_master(stem), "").keys()
    for answers, _ in benchmark.mistaken(stem):
        for source in answers.values():
            assert not bound_and_read(source)[1] & drawn
