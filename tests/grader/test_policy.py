"""course.toml: every fault is a sentence with the key's name; what is late is right to the second."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from samples import ROSTER, write_course

from lmbook_grader.course.lateness import days_late, end_of_day
from lmbook_grader.course.policy import read_policy
from lmbook_grader.intake.roster import read_roster
from lmbook_press.book import BookError

BERLIN, NEW_YORK, LORD_HOWE = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Australia/Lord_Howe")
NONE, SECOND = timedelta(), timedelta(seconds=1)
RULES = 'timezone = "Europe/Berlin"\npenalty = 10\n[homework.07]\ndue = 2026-09-14T23:59:59\n'


def policy_of(tmp_path, text):
    write_course(tmp_path)
    (tmp_path / "course.toml").write_text(text, encoding="utf-8")
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return read_policy(tmp_path, read_roster(tmp_path / "roster.csv"))


FAULTS = {
    "": ["timezone is missing", "homework: there is none"],
    RULES.replace("penalty = 10\n", ""): ["penalty is missing"],
    RULES.replace("penalty", "penalti"): ["penalti: is no key; do you mean penalty?", "penalty is missing"],
    RULES.replace("10", "110"): ["penalty: is 110; write a number from 0 to 100"],
    RULES.replace("10", "true"): ["penalty: is True; write a number"],
    RULES.replace("Berlin", "Bärlin"): ["timezone: 'Europe/Bärlin' is no time zone"],
    RULES.replace('"Europe/Berlin"', "1"): ["timezone: 1 is no time zone"],
    RULES.replace("07", "08"): ["homework.08: there is no such homework", "has 07"],
    RULES.replace("2026-09-14T23:59:59", '"14 September"'): ["homework.07.due: is '14 September'; write a date"],
    RULES.replace("2026-09-14T23:59:59", "2026-03-29T02:30:00"): ["homework.07.due", "does not exist in Europe/Berlin"],
    RULES.replace("due =", "duee ="): ["homework.07.duee: is no key; do you mean due?"],
    RULES + "weight = -1\n": ["homework.07.weight: is -1"],
    RULES + "weight = 0\n": ["homework: all weights are 0"],
    RULES + 'column = "Final Score"\n': ["homework.07.column", "Canvas", "Choose other words"],
    RULES + 'column = "Section"\n': ["homework.07.column", "another column of Canvas"],
    RULES + "column = 7\n": ["homework.07.column: is 7"],
    "grace = 10\n" + RULES: ["grace: is 10; write a whole number and a unit"],
    'grace = "10 minutes"\n' + RULES: ["grace: is '10 minutes'"],
    "late_days = 1.5\n" + RULES: ["late_days: is 1.5; write a whole number"],
    "drop = 1\n" + RULES: ["drop: is 1, but the file has 1 homeworks"],
    "decimals = 9\n" + RULES: ["decimals: is 9"],
    'times = "mine"\n' + RULES: ["times: is 'mine'"],
    "homework = 3\n": ["homework: is 3; it has to be a section, [homework]"],
    RULES + "[student.anne]\nlate_days = 3\n": ["student.anne", "nobody with this id; do you mean ann?"],
    RULES + "[student.ann]\ndue = { 08 = 2026-09-20 }\n": ["student.ann.due.08: there is no homework 08"],
    RULES + "[student.ann]\ndue = { 07 = 2026-09-13 }\n": ["student.ann.due.07: is no extension"],
    RULES + '[student.ann]\nexcused = "07"\n': ["student.ann.excused: is '07'; write a list"],
    RULES + '[student.ann]\nexcused = ["7"]\n': ["student.ann.excused: there is no homework 7"],
    RULES + "[student.ann]\nlate_days = -1\n": ["student.ann.late_days: is -1"],
    "timezone = Berlin": ["is not TOML", "line 1"],
}


@pytest.mark.parametrize("text", FAULTS, ids=[" + ".join(said)[:40] for said in FAULTS.values()])
def test_a_fault_is_a_sentence_with_the_key(tmp_path, text):
    with pytest.raises(BookError) as raised:
        policy_of(tmp_path, text)
    for said in FAULTS[text]:
        assert said in str(raised.value)
    assert str(tmp_path / "course.toml") in str(raised.value)


def test_all_faults_are_said_at_once(tmp_path):
    with pytest.raises(BookError) as raised:
        policy_of(tmp_path, "drop = -1\ngrace = 3\n" + RULES + "weight = 'much'\n")
    assert str(raised.value).count("course.toml, ") == 3


def test_no_file_is_said_too(tmp_path):
    write_course(tmp_path)
    (tmp_path / "roster.csv").write_text(ROSTER, encoding="utf-8")
    with pytest.raises(BookError, match="is not there"):
        read_policy(tmp_path, read_roster(tmp_path / "roster.csv"))


def test_what_is_right_is_read(tmp_path):
    text = (
        'grace = "10 min"\nlate_days = 4\nlate_days_each = 2\nlatest = 5\n'
        + RULES
        + 'weight = 2.5\ncolumn = "HW (1)"\n'
        '[student.ann]\ndue = { 07 = 2026-09-17 }\nlate_days = 6\n[student.bob]\nexcused = ["07"]\n'
    )
    policy = policy_of(tmp_path, text)
    assert (policy.zone, policy.grace, policy.tasks["07"].weight) == (BERLIN, timedelta(minutes=10), 2.5)
    assert policy.due("ann", "07") == datetime(2026, 9, 17, 23, 59, 59)  # a date alone is its last second
    assert policy.due("bob", "07") == datetime(2026, 9, 14, 23, 59, 59)
    assert (policy.late_days_of("ann"), policy.late_days_of("bob")) == (6, 4)
    assert policy.excused("bob", "07")
    assert not policy.excused("ann", "07")


def late(submitted, due=datetime(2026, 9, 14, 23, 59, 59), grace=NONE, zone=BERLIN):
    return days_late(submitted, due, grace, zone)


def test_a_second_decides():
    due = datetime(2026, 9, 14, 23, 59, 59)
    assert late(due) == late(due.replace(microsecond=999_999)) == 0  # the last second is all of it
    assert late(due + SECOND) == 1
    assert late(due + timedelta(1)) == 1
    assert late(due + timedelta(1) + SECOND) == 2
    assert late(due - timedelta(300)) == 0


def test_grace_is_added_to_each_day():
    due, grace = datetime(2026, 9, 14, 23, 59, 59), timedelta(minutes=10)
    assert late(due + grace, grace=grace) == 0
    assert late(due + grace + SECOND, grace=grace) == 1
    assert late(due + timedelta(1) + grace, grace=grace) == 1
    assert late(due + timedelta(1) + grace + SECOND, grace=grace) == 2


def test_other_zones_are_the_same_instant():
    due = datetime(2026, 9, 14, 23, 59, 59)
    assert late(datetime(2026, 9, 14, 21, 59, 59, tzinfo=UTC)) == 0
    assert late(datetime(2026, 9, 14, 22, 0, 0, tzinfo=UTC)) == 1
    assert late(datetime(2026, 9, 14, 17, 59, 59, tzinfo=NEW_YORK)) == 0
    assert late(datetime(2026, 9, 15, 7, 29, 59, tzinfo=timezone(timedelta(hours=9, minutes=30)))) == 0
    assert late(due, due=datetime(2026, 9, 14, 21, 59, 58, tzinfo=UTC)) == 1  # the date may name its own zone


def test_a_day_in_which_clocks_change_is_a_day():
    spring, autumn = datetime(2026, 3, 28, 23, 59, 59), datetime(2026, 10, 24, 23, 59, 59)
    for due, hours in ((spring, 23), (autumn, 25)):
        end = due.replace(tzinfo=BERLIN).astimezone(UTC) + timedelta(hours=hours)
        assert (end_of_day(due, 1, NONE, BERLIN) - end_of_day(due, 0, NONE, BERLIN)) == timedelta(hours=hours)
        assert (late(end, due), late(end + SECOND, due)) == (1, 2)
    half = datetime(2026, 4, 4, 23, 59, 59)  # half an hour, on Lord Howe Island
    assert end_of_day(half, 1, NONE, LORD_HOWE) - end_of_day(half, 0, NONE, LORD_HOWE) == timedelta(
        hours=24, minutes=30
    )


def test_a_time_that_is_shown_twice_counts_at_its_second():
    due = datetime(2026, 10, 25, 2, 30)  # 2:30 comes at 0:30 and at 1:30 UTC
    assert late(datetime(2026, 10, 25, 1, 30, tzinfo=UTC), due) == 0
    assert late(datetime(2026, 10, 25, 1, 30, 1, tzinfo=UTC), due) == 1


def test_a_day_that_ends_at_a_time_which_is_left_out_ends_later():
    due = datetime(2026, 3, 28, 2, 30)  # on the 29th clocks go from 2:00 to 3:00, at 1:00 UTC
    assert late(datetime(2026, 3, 29, 1, 30, tzinfo=UTC), due) == 1
    assert late(datetime(2026, 3, 29, 1, 30, 1, tzinfo=UTC), due) == 2


def test_days_are_those_of_a_loop_that_tries_all():
    for due in (datetime(2026, 3, 27, 23, 59, 59), datetime(2026, 10, 23, 12), datetime(2026, 11, 1, 1, 30)):
        for zone in (BERLIN, NEW_YORK, LORD_HOWE, ZoneInfo("UTC")):
            for hours in range(-5, 120, 1):
                moment = end_of_day(due, 0, NONE, zone) + timedelta(hours=hours, seconds=1)
                tried = next(n for n in range(9) if moment <= end_of_day(due, n, NONE, zone))
                assert late(moment, due, NONE, zone) == tried
