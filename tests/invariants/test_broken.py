"""Every broken model is caught by the check that is to catch it, which its healthy twin passes."""

import re

import pytest

from . import checks
from .broken import FAULTS, NUMBERED
from .slips import slipped
from .test_models import one_thread  # noqa: F401 (a fixture)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_caught(fault):
    fault.check()
    with slipped(fault), pytest.raises(AssertionError):
        fault.check()


def test_the_slip_is_gone_afterwards():
    for fault in FAULTS:
        before = fault.function.__code__
        with slipped(fault):
            pass
        assert fault.function.__code__ is before


def test_a_slip_in_a_line_that_has_changed_is_reported():
    with pytest.raises(ValueError, match="write it anew"), slipped(FAULTS[0]._replace(right="no such line")):
        pass


def test_every_number_of_the_list_has_its_faults():
    assert len(FAULTS) >= 20
    assert re.findall(r"^ +(\d+)  \w", checks.__doc__, re.MULTILINE) == [str(n) for n in range(1, 16)]
    assert all(NUMBERED.get(number) for number in range(1, 16))
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
