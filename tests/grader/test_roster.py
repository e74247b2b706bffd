"""The roster: the files that instructors have, and what is wrong with some."""

import csv

import pytest
from samples import ROSTER, result

from lmbook_grader.intake.roster import read_roster
from lmbook_grader.report.lms_csv import write_scores
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
        ("name,phone\nAnn,a@x\n", "no column for an id; it has name, phone"),
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


PEOPLE = [("s-1", "Ann", "Doe", "ann", "ann@x.org", "501"), ("s-2", "Zoë", "O'Hara", "zoe", "zoe@x.org", "502")]
POINTS = "    Points Possible"


def canvas(head="Student,ID,SIS User ID,SIS Login ID,Section,Quiz (7)", sis=("s-1", "s-2"), manual=True, split=False):
    """As Canvas's lib/gradebook_exporter.rb writes it."""
    blank = "," * head.count(",")
    lines = [head] + ["," * (head.count(",") - 1) + "Manual Posting,"] * manual + [POINTS + blank[:-1] + ",10"]
    for (_, first, last, login, _, number), own in zip(PEOPLE, sis, strict=True):
        name = f"{last},{first}" if split else f'"{last}, {first}"'
        ids = [number, own, login] if "SIS User ID" in head else [number, login]
        lines.append(",".join([name, *ids, "A", "9"]))
    test = "Student,Test" if split else '"Student, Test"'
    return "\n".join([*lines, f"{test},9,{',' * ('SIS User ID' in head)}x,A,0"]) + "\n"


SPLIT = "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,Quiz (7)"
NO_SIS = "Student,ID,SIS Login ID,Section,Quiz (7)"


def worksheet(word, head, ids=("s-1", "s-2"), blind=False):
    """As Moodle's mod/assign/gradingtable.php writes it, in the language of its headings."""
    lines = [head]
    for (_, first, last, _, email, number), own in zip(PEOPLE, ids, strict=True):
        name = [] if blind else [f"{first} {last}"]
        lines.append(
            ",".join(
                [f"{word}{number}", *name, own, *([] if blind else [email]), "ok", "-", "10,00".join('""'), "-", ""]
            )
        )
    return "\n".join(lines) + "\n"


ENGLISH = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments"
)
GERMAN = "ID,Vollständiger Name,ID-Nummer,E-Mail-Adresse,Status,Bewertung,Bestwertung,Geändert,Feedback als Kommentar"
FRENCH = "Identifiant,Nom complet,Numéro,Adresse de courriel,Statut,Note,Note maximale,Dernière modification,Feedback"
BLIND = "Identifier,ID number,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments"
BLIND_GERMAN = "ID,ID-Nummer,Status,Bewertung,Bestwertung,Zuletzt geändert,Feedback als Kommentar"

# name: the file's text, and the ids of the two students
FILES = {
    "Canvas with grades posted by hand": (canvas(), "s-1 s-2"),
    "Canvas with both names apart": (canvas(SPLIT, split=True), "s-1 s-2"),
    "Canvas without SIS ids": (canvas(NO_SIS), "ann zoe"),
    "Canvas with an empty column of SIS ids": (canvas(sis=("", "")), "ann zoe"),
    "Canvas with a guest": (canvas(sis=("s-1", "")), "s-1 zoe"),
    "Canvas, semicolons and a mark": (
        "\ufeff" + canvas(manual=False).replace(", ", "~").replace(",", ";").replace("~", ", "),
        "s-1 s-2"),
    "Canvas, a name that begins with =": (canvas().replace('"Doe, Ann"', '"=""Doe, Ann"""'), "s-1 s-2"),
    "Moodle": (worksheet("Participant ", ENGLISH), "s-1 s-2"),
    "Moodle with a guest": (worksheet("Participant ", ENGLISH, ("s-1", "")), "s-1 502"),
    "Moodle without ID numbers": (worksheet("Participant ", ENGLISH, ("", "")), "501 502"),
    "Moodle in German": (worksheet("Teilnehmer/in", GERMAN), "501 502"),
    "Moodle in French": (worksheet("Participant·e ", FRENCH), "501 502"),
    "Moodle, blind": (worksheet("Participant ", BLIND, blind=True), "s-1 s-2"),
    "Moodle, blind and without ID numbers": (worksheet("Participant ", BLIND, ("", ""), blind=True), "501 502"),
    "Moodle, blind and in German": (worksheet("Teilnehmer/in ", BLIND_GERMAN, ("", ""), blind=True), "501 502"),
    "Gradescope with staff": (
        "First Name,Last Name,SID,Email,Role\nAnn,Doe,s-1,ann@x.org,Student\nZoë,O'Hara,s-2,zoe@x.org,Student\n"
        "Ina,Prof,,ina@x.org,Instructor\nTim,Aid,,tim@x.org,TA\n", "s-1 s-2"),
    "D2L": ("OrgDefinedId,Username,Last Name,First Name,Email,End-of-Line Indicator\n"
            "#s-1,ann,Doe,Ann,ann@x.org,#\n#s-2,zoe,O'Hara,Zoë,zoe@x.org,#\n", "s-1 s-2"),
    "Blackboard": ("Last Name\tFirst Name\tUsername\tStudent ID\tAvailability\nDoe\tAnn\tann\ts-1\tYes\n"
                   "O'Hara\tZoë\tzoe\ts-2\tYes\nProf\tIna\tina_previewuser\tina_previewuser\tYes\n", "s-1 s-2"),
    "Sakai": ("Student ID,Student Name,Homework 1 [10]\ns-1,\"Doe, Ann\",\ns-2,\"O'Hara, Zoë\",\n", "s-1 s-2"),
    "Google Classroom": ("Last Name,First Name,Email Address,Homework\nDate,,,2026-03-01\nPoints,,,10\n"
                         "Doe,Ann,ann@x.org,\nO'Hara,Zoë,zoe@x.org,\n", "ann@x.org zoe@x.org"),
    "GitHub Classroom": (
        "identifier,github_username,github_id,name\ns-1,ann,1,Ann Doe\ns-2,zoe,2,Zoë O'Hara\n", "s-1 s-2"),
    "Excel's own line": ("sep=;\nid;name\ns-1;Ann Doe\ns-2;Zoë O'Hara\n", "s-1 s-2"),
    "a title above": ("Natural language processing\n\nid,name\ns-1,Ann Doe\ns-2,Zoë O'Hara\n", "s-1 s-2"),
    "an id that a spreadsheet would compute": ("id,name\n'-s-1,Ann Doe\n'@s-2,Zoë O'Hara\n", "-s-1 @s-2"),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", FILES)
def test_a_roster_as_its_platform_writes_it(tmp_path, name, encoding):
    text, ids = FILES[name]
    roster = read(tmp_path, text, encoding)
    assert [one.id for one in roster] == ids.split()
    if "blind" not in name:
        assert [[student.id for student in roster.named(who)] for who in ("Ann Doe", "O'Hara, Zoë")] == [
            [one] for one in ids.split()
        ]
    if name.startswith("Moodle"):
        assert [one.moodle for one in roster] == ["501", "502"]
    if name.startswith("Canvas"):
        assert [one.canvas for one in roster] == ["501", "502"]


@pytest.mark.parametrize(
    ("head", "grade", "feedback"),
    [
        (ENGLISH, "Grade", "Feedback comments"),
        (GERMAN, "Bewertung", "Feedback als Kommentar"),
        (FRENCH, "Note", "Feedback"),
        (BLIND_GERMAN, "Bewertung", "Feedback als Kommentar"),
    ],
)
def test_a_worksheet_comes_back_under_its_own_headings(tmp_path, head, grade, feedback):
    """Moodle's importer looks for the words of its language (mod/assign/feedback/offline/importgradeslib.php)."""
    roster = read(tmp_path, worksheet("Teilnehmer/in ", head, blind="ame" not in head and "Nom" not in head))
    graded = [result(one.id, why="marked") for one in roster]
    write_scores("moodle", graded, roster, "Homework", tmp_path / "scores.csv")
    lines = list(csv.DictReader((tmp_path / "scores.csv").read_text("utf-8-sig").splitlines()))
    assert list(lines[0]) == head.split(",")
    assert [line[head.split(",")[0]] for line in lines] == ["Teilnehmer/in 501", "Teilnehmer/in 502"]
    assert [line[grade] for line in lines] == ["5", "5"]
    assert all("double: 2 of 2" in line[feedback] for line in lines)


@pytest.mark.parametrize("text", [canvas(SPLIT, split=True), canvas(), canvas(NO_SIS)])
def test_canvas_gets_back_the_columns_that_it_gave(tmp_path, text):
    roster = read(tmp_path, text)
    write_scores("canvas", [result(one.id, why="marked") for one in roster], roster, "Homework (4)", tmp_path / "s.csv")
    lines = list(csv.reader((tmp_path / "s.csv").read_text("utf-8").splitlines()))
    assert lines[0] == [*text.splitlines()[0].split(",")[:-1], "Homework (4)"]
    assert lines[1][0] == POINTS
    assert [line[-1] for line in lines[1:]] == ["7", "5", "5"]
