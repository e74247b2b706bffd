"""The roster: the files that instructors have, and what is wrong with some."""

import pytest
from samples import ROSTER

from lmbook_grader.intake.roster import read_roster
from lmbook_press.book import BookError

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Quiz (7)\n    Points Possible,,,,,10\n"
    '"Doe, Ann",12345,s-1,ann,A,9\n"Student, Test",9,,x,A,0\n'
)
MOODLE = "Identifier,Full name,ID number,Email address,Status,Grade\nParticipant 54321,Ann Doe,s-1,ann@x.org,,-\n"
MOODLE_BARE = "Identifier,Full name,Email address,Status,Grade\nParticipant 54321,Ann Doe,ann@x.org,,-\n"
GRADESCOPE = "First Name,Last Name,SID,Email,Role\nAnn,Doe,s-1,ann@x.org,Student\n"


def read(tmp_path, text, encoding="utf-8"):
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    return read_roster(path)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("id,name,email\ns-1,Ann Doe,ann@x.org\n", ("s-1", "Ann Doe", "ann@x.org", "", "")),
        ("\ufeffStudent ID;Name\r\ns-1;Ann Doe\r\n\r\n", ("s-1", "Ann Doe", "", "", "")),
        (CANVAS, ("s-1", "Doe, Ann", "", "12345", "")),
        (MOODLE, ("s-1", "Ann Doe", "ann@x.org", "", "54321")),
        (MOODLE_BARE, ("54321", "Ann Doe", "ann@x.org", "", "54321")),
        (GRADESCOPE, ("s-1", "Ann Doe", "ann@x.org", "", "")),
    ],
)
def test_every_layout_gives_the_same_student(tmp_path, text, wanted):
    (one,) = read(tmp_path, text)
    assert (one.id, one.name, one.email, one.canvas, one.moodle) == wanted


def test_names_are_found_in_either_order_without_accents_and_case(tmp_path):
    roster = read(tmp_path, ROSTER)
    for spelling in ("oharazoe", "zoeohara", "Zoë O'Hara", "O'Hara, Zoe"):
        assert [student.id for student in roster.named(spelling)] == ["zoe"]
    assert roster.named("zoe") == []
    assert roster.named("") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no student"),
        ("id,name\n", "has no student"),
        ("id name\nann Ann\n", "one column only"),
        ("name,email\nAnn,a@x\n", "no column for an id; it has name, email"),
        ("id,email\nann,a@x\n", "no column for a name"),
        ("id,name\nann,Ann\n,Bob\n", "line 3: Bob has no id"),
        ("id,name\nann,Ann\nANN,Other\n", "line 3: the id ANN is also in line 2"),
        ("id,name\n../etc,Ann\n", "cannot name a file"),
        ("id,name\n..,Ann\n", "cannot name a file"),
    ],
)
def test_a_roster_that_cannot_be_used_says_where_and_why(tmp_path, text, said):
    with pytest.raises(BookError, match=r"roster\.csv") as caught:
        read(tmp_path, text)
    assert said in str(caught.value)


def test_a_roster_in_another_encoding_or_missing_says_what_to_do(tmp_path):
    with pytest.raises(BookError, match="save it as 'CSV UTF-8'"):
        read(tmp_path, "id,name\nzoe,Zoë\n", "latin-1")
    with pytest.raises(BookError, match="is not there"):
        read_roster(tmp_path / "none.csv")
