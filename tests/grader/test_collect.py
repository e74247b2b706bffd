"""Intake: whose a file is, which one counts, and what is read of it."""

import json
import os
import time
import tracemalloc

import nbformat
import pytest
from nbformat.v4 import new_output
from samples import hand_in, master, release, returned

from lmbook_grader.intake.collect import collect
from lmbook_grader.intake.reading import Unreadable, open_submission
from lmbook_grader.intake.roster import read_roster
from lmbook_grader.report.terminal import intake_lines
from lmbook_press.book import BookError


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "submissions"
    path.mkdir()
    return path


METADATA = """
submission_901:
  :submitters:
  - :name: Ann Doe
    :sid: ann
    :email: ann.doe@example.org
  :created_at: 2026-03-02 10:00:00.5 Z
  :score: 0.0
submission_902:
  :submitters:
  - :name: Ann Doe
    :sid: ann
    :email: ann.doe@example.org
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-03-03 10:00:00 Z
    zone: !ruby/object:ActiveSupport::TimeZone
      name: Etc/UTC
submission_903:
  :submitters:
  - :name: Bob Ray
    :sid: bob
  - :name: Ann Doe
    :sid: ann
submission_904:
  :submitters:
  - :name: Bob Ray
    :sid: ''
    :email: BOB@example.org
"""


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("ann.ipynb", "ann"),
        ("01-chain-rule-ann.ipynb", "ann"),
        ("Copy of homework ann (1).ipynb", "ann"),
        ("ann.doe@example.org.ipynb", "ann"),
        ("bob/01-chain-rule/homework.ipynb", "bob"),
        ("BOB/homework.ipynb", "bob"),
        ("doeann_12345_67890_homework-1.ipynb", "ann"),
        ("doeann_LATE_12345_67890_homework.ipynb", "ann"),
        ("oharazoe_1_2_bob.ipynb", "zoe"),  # what a student calls the file is not whose it is
        ("Ann Doe_54321_assignsubmission_file/bob.ipynb", "ann"),
        ("Ann Doe_54321_assignsubmission_file_/Copy of x (1).ipynb", "ann"),
        ("Zoë O'Hara_54321_assignsubmission_file_hw.ipynb", "zoe"),
        ("submission_901/bob.ipynb", "ann"),
        ("submission_904/hw.ipynb", "bob"),
        ("homework.ipynb.txt", None),
        ("homework.ipynb", None),
        ("anna.ipynb", None),
        ("Doe.ipynb", None),
        ("ann-and-bob.ipynb", None),
        ("stranger_1_2_ann.ipynb", None),
        ("submission_999/ann.ipynb", None),
    ],
)
def test_a_file_is_its_students_or_nobodys(folder, roster, name, student):
    (folder / "submission_metadata.yml").write_text(METADATA)
    path = hand_in(returned(), folder / name)
    got = collect(folder, roster)
    assert [(one.student, one.path) for one in got.submissions] == ([(student, path)] if student else [])
    assert [fault.path for fault in got.faults] == ([] if student else [path])
    assert len(got.absent) == (2 if student else 3)


FOR_ANN = "submission_904:\n  :submitters:\n  - :name: Ann Doe\n    :sid: ann\n"


@pytest.mark.parametrize(
    ("written", "deeper"),
    [
        ({"submission_metadata.yml": METADATA, "submission_904/submission_metadata.yml": FOR_ANN}, "submission_904"),
        (
            {"export/submission_metadata.yml": METADATA, "export/submission_904/x/submission_metadata.yml": FOR_ANN},
            "export/submission_904",
        ),
    ],
)
def test_students_do_not_say_whose_work_is_whose(folder, roster, written, deeper):
    path = hand_in(returned(), folder / deeper / "hw.ipynb")
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert [(one.student, one.path) for one in collect(folder, roster).submissions] == [("bob", path)]


@pytest.mark.parametrize(
    "name",
    [
        "bob/doeann_1_99999_hw.ipynb",
        "bob/Ann Doe_1_assignsubmission_file_hw.ipynb",
        "bob/submission_901/hw.ipynb",
        "bob/ann/ann.ipynb",
        "Bob Ray_2_assignsubmission_file_/submission_901/ann.ipynb",
        "submission_904/Ann Doe_1_assignsubmission_file_/ann.ipynb",
    ],
)
def test_a_name_inside_a_students_own_folder_makes_nothing_anothers(folder, roster, name):
    (folder / "submission_metadata.yml").write_text(METADATA)
    own = hand_in(returned(), folder / "ann.ipynb")
    path = hand_in(returned(), folder / name)
    assert [(one.student, one.path) for one in collect(folder, roster).submissions] == [("ann", own), ("bob", path)]


def test_a_longer_id_counts_before_those_inside_it(folder, tmp_path):
    (tmp_path / "both.csv").write_text("id,name\nann,Ann Doe\nann-marie,Ann-Marie Ray\nmarie,Marie Low\n")
    names = {"ann.ipynb": "ann", "ann-marie.ipynb": "ann-marie", "hw-marie.ipynb": "marie"}
    for name in names:
        hand_in(returned(), folder / name)
    both = hand_in(returned(), folder / "ann and ann-marie.ipynb")
    got = collect(folder, read_roster(tmp_path / "both.csv"))
    assert {one.path.name: one.student for one in got.submissions} == names
    assert [fault.path for fault in got.faults] == [both]


def test_an_id_of_one_letter_is_all_of_a_name(folder, tmp_path):
    (tmp_path / "short.csv").write_text("id,name\na,Ann Doe\n7,Bob Ray\n")
    names = {"a.ipynb": "a", "7/homework.ipynb": "7"}
    for name in names:
        hand_in(returned(), folder / name)
    other = hand_in(returned(), folder / "exercise a.ipynb")
    got = collect(folder, read_roster(tmp_path / "short.csv"))
    assert {one.path.relative_to(folder).as_posix(): one.student for one in got.submissions} == names
    assert [fault.path for fault in got.faults] == [other]


def test_a_name_that_is_no_text_stops_nobody(folder, roster):
    hand_in(returned(), folder / "ann.ipynb")
    os.rename(folder / "ann.ipynb", os.fsencode(folder) + b"/ann \xff.ipynb")
    os.mkdir(os.fsencode(folder) + b"/\xfe")
    hand_in(returned(), folder / "bob.ipynb")
    got = collect(folder, roster)
    assert [one.student for one in got.submissions] == ["ann", "bob"]
    "\n".join(intake_lines(got, folder, roster)).encode()


def test_the_dry_run_says_names_and_whose_each_note_is(folder, roster):
    hand_in(returned(), folder / "doeann_LATE_1_2_hw.ipynb")
    hand_in(returned(), folder / "bob.ipynb")
    assert intake_lines(collect(folder, roster), folder, roster)[:3] == [
        "ann (Ann Doe): doeann_LATE_1_2_hw.ipynb",
        "    to ann: The learning system marks this submission as late.",
        "bob (Bob Ray): bob.ipynb",
    ]


def test_a_name_moves_no_cursor(folder, roster):
    hand_in(returned(), folder / "ann\x1b[2J\n\u202e.ipynb")
    hand_in(returned(), folder / "\x1b]0;x\x07\nbob: 100 points.txt")
    got = collect(folder, roster)
    lines = intake_lines(got, folder, roster)
    assert len(got.submissions) == len(got.faults) == 1
    assert all(sign.isprintable() for line in lines for sign in line.removeprefix("\n"))
    assert any(r"ann\x1b[2J\n\u202e.ipynb" in line for line in lines)


def test_aliases_do_not_explode(folder, roster):
    levels = "\n".join(f"  l{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]" for at in range(1, 30))
    merged = "\n".join(f"  m{at}: &m{at} {{<<: [{', '.join([f'*m{at - 1}'] * 9)}]}}" for at in range(1, 30))
    bomb = f"bomb:\n  l0: &a0 [lol]\n{levels}\n  m0: &m0 {{x: 1}}\n{merged}\n"
    bomb += "submission_9:\n  :submitters:\n  - :name: *a29\n"
    (folder / "submission_metadata.yml").write_text(f"{bomb}{METADATA}")
    path = hand_in(returned(), folder / "submission_904/hw.ipynb")
    stranger = hand_in(returned(), folder / "submission_9/hw.ipynb")
    got = collect(folder, roster)
    assert [(one.student, one.path) for one in got.submissions] == [("bob", path)]
    assert [fault.path for fault in got.faults] == [stranger]


def test_a_late_mark_is_kept(folder, roster):
    hand_in(returned(), folder / "doeann_LATE_1_2_hw.ipynb")
    hand_in(returned(), folder / "raybob_1_2_hw.ipynb")
    ann, bob = collect(folder, roster).submissions
    assert (ann.late, bob.late) == (True, False)
    assert ["late" in " ".join(one.notes) for one in (ann, bob)] == [True, False]


def test_numbers_of_the_system_identify_and_contradictions_are_reported(folder, tmp_path):
    path = tmp_path / "canvas.csv"
    path.write_text(
        "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
        '"Doe, Ann",12345,s-ann,ann,A\n"Ray, Bob",22222,s-bob,bob,A\n"Ray, Bob",33333,s-bob2,bob2,B\n'
    )
    roster = read_roster(path)
    hand_in(returned(), folder / "whatever_12345_1_hw.ipynb")
    hand_in(returned(), folder / "raybob_33333_1_hw.ipynb")
    hand_in(returned(), folder / "raybob_9_1_hw.ipynb")
    hand_in(returned(), folder / "raybob_12345_1_hw.ipynb")
    got = collect(folder, roster)
    assert [one.student for one in got.submissions] == ["s-ann", "s-bob2"]
    why = {fault.path.name: fault.why for fault in got.faults}
    assert "2 students: s-bob, s-bob2" in why["raybob_9_1_hw.ipynb"]
    assert "the number is s-ann's, the name is s-bob's" in why["raybob_12345_1_hw.ipynb"]


@pytest.mark.parametrize(
    ("names", "newest"),
    [
        (["doeann_1_500_hw.ipynb", "doeann_1_90_hw-3.ipynb"], "doeann_1_500_hw.ipynb"),  # the number, not its digits
        (["doeann_1_90_hw-2.ipynb", "doeann_1_90_hw-10.ipynb"], "doeann_1_90_hw-10.ipynb"),
        (["submission_901/a.ipynb", "submission_902/a.ipynb"], "submission_902/a.ipynb"),
        (["ann-new.ipynb", "ann-old.ipynb"], "ann-old.ipynb"),
    ],
)
def test_of_two_files_the_newest_counts_and_the_student_is_told(folder, roster, names, newest):
    (folder / "submission_metadata.yml").write_text(METADATA)
    for age, name in enumerate(names):
        path = hand_in(returned(double=f"def double(x): return {age}"), folder / name)
        os.utime(path, (1_700_000_000 + age,) * 2)
    got = collect(folder, roster)
    assert [one.path.relative_to(folder).as_posix() for one in got.submissions] == [newest]
    assert "more than one file" in got.submissions[0].notes[0]


def test_two_different_files_of_the_same_moment_are_not_guessed(folder, roster):
    paths = [hand_in(returned(double=f"def double(x): return {n}"), folder / f"ann-{n}.ipynb") for n in range(2)]
    for path in paths:
        os.utime(path, (1_700_000_000,) * 2)
    got = collect(folder, roster)
    assert got.submissions == []
    assert "ann-0.ipynb, ann-1.ipynb" in got.faults[0].why
    hand_in(returned(double="def double(x): return 0"), paths[1])
    os.utime(paths[1], (1_700_000_000,) * 2)
    assert [one.student for one in collect(folder, roster).submissions] == ["ann"]  # the same content: no matter which


def test_a_newer_file_that_is_no_notebook_gives_way_to_the_one_that_is(folder, roster):
    good = hand_in(returned(), folder / "ann-1.ipynb")
    os.utime(good, (1_700_000_000,) * 2)
    (folder / "ann-2.ipynb").write_text("oops")
    (got,) = collect(folder, roster).submissions
    assert got.path == good
    assert "ann-2.ipynb was set aside" in got.notes[0]


def test_a_newer_file_of_another_homework_gives_way(folder, roster):
    mine = hand_in(returned(), folder / "ann-1.ipynb")
    os.utime(mine, (1_700_000_000,) * 2)
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("def halve(x): return x / 2")])
    hand_in(other, folder / "ann-2.ipynb")
    assert collect(folder, roster, release()).submissions[0].path == mine
    assert collect(folder, roster).submissions[0].path == folder / "ann-2.ipynb"


def test_links_and_odd_files_are_refused_and_their_targets_not_read(folder, roster, tmp_path):
    secret = hand_in(returned(), tmp_path / "elsewhere/ann.ipynb")
    (folder / "ann.ipynb").symlink_to(secret)
    (folder / "bob").symlink_to(secret.parent)
    os.mkfifo(folder / "zoe.ipynb")
    (folder / "essay.pdf").write_bytes(b"%PDF")
    got = collect(folder, roster)
    assert got.submissions == []
    assert {(fault.path.name, fault.why.split(";")[0]) for fault in got.faults} == {
        ("ann.ipynb", "is a link"),
        ("bob", "is a link"),
        ("zoe.ipynb", "is not a plain file"),
        ("essay.pdf", "is no notebook by its name (.ipynb): ask for the .ipynb file"),
    }
    with pytest.raises(Unreadable, match="could not be opened"):
        open_submission(folder / "ann.ipynb")


def test_what_systems_leave_about_is_passed_over(folder, roster):
    for name in (".DS_Store", "__MACOSX/ann.ipynb", "bob/.ipynb_checkpoints/hw-checkpoint.ipynb", "._ann.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    got = collect(folder, roster)
    assert (got.submissions, got.faults) == ([], [])


def test_a_folder_that_is_none_is_named(tmp_path, roster):
    with pytest.raises(BookError, match=r"all\.zip is not a folder of submissions: unpack it"):
        collect(tmp_path / "all.zip", roster)


def test_a_huge_file_is_refused_before_it_is_read(folder):
    path = folder / "ann.ipynb"
    with path.open("wb") as file:
        file.truncate(200_000_000)  # takes no room on disk
    tracemalloc.start()
    with pytest.raises(Unreadable, match="The file has 191 MB, more than the 20 MB"):
        open_submission(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


WHOLE = json.dumps(master())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("hello", "not JSON"),
        (WHOLE[: len(WHOLE) // 2], "cut off"),
        ("[" * 100_000, "not JSON"),
        ("%PDF-1.7\n1 0 obj", "not a notebook but a PDF"),
        ("PK\x03\x04 word/document.xml", "not a notebook but a zip or a Word file"),
        ("<!doctype html>", "not a notebook but a web page"),
        ("[]", "not a notebook"),
        ('{"a": 1}', "does not say its format"),
        ('{"nbformat": 2, "worksheets": []}', "format 2"),
        ('{"nbformat": 5, "cells": []}', "format 5"),
        ('{"nbformat": 3, "nbformat_minor": 0}', "no list of cells"),
        ('{"nbformat": 3, "worksheets": [{"cells": []}, 7]}', "no list of cells"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "no list of cells"),
        ('{"nbformat": 4, "cells": [' + ",".join(["{}"] * 1001) + "]}", "1001 cells"),
    ],
)
def test_what_is_no_notebook_is_refused_in_a_sentence(folder, content, said):
    path = folder / "ann.ipynb"
    path.write_text(content)
    with pytest.raises(Unreadable, match=said) as caught:
        open_submission(path)
    assert str(caught.value).endswith(".")
    assert str(folder) not in str(caught.value)


def test_format_3_and_newer_minor_versions_are_read(folder):
    old = nbformat.convert(master(), 3)
    (folder / "old.ipynb").write_text(json.dumps(old))
    newer = json.loads(WHOLE) | {"nbformat_minor": 99, "of the future": True}
    newer["cells"][0]["of the future"] = {"x": 1}
    (folder / "new.ipynb").write_text(json.dumps(newer))
    (folder / "bom.ipynb").write_bytes(b"\xef\xbb\xbf" + WHOLE.encode())
    wanted = [cell.source for cell in master().cells]
    for name in ("old", "new", "bom"):
        assert [cell.source for cell in open_submission(folder / f"{name}.ipynb").cells] == wanted


def test_format_3_costs_no_more_than_format_4(folder):
    """Outputs are what a file can hold most of, and none of them is looked at."""
    said = [{"output_type": "stream", "text": "a"}] * 20_000
    cell = {"cell_type": "code", "input": ["x = 1\n", "y"], "outputs": said}
    old = {"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [cell]}, {"cells": [cell | {"outputs": []}]}]}
    path = folder / "ann.ipynb"
    path.write_text(json.dumps(old))
    begun = time.process_time()
    tracemalloc.start()
    plain = open_submission(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [cell.source for cell in plain.cells] == ["x = 1\ny"] * 2
    assert time.process_time() - begun < 5
    assert peak < 50_000_000


def test_only_sources_and_grade_ids_are_read(folder):
    notebook = returned()
    cell = notebook.cells[3]
    cell.metadata.tags = ["skip-execution"]
    cell.outputs = [new_output("display_data", {"text/html": "<script>alert(1)</script>"})]
    cell.execution_count = 7
    notebook.metadata.evil = "x"
    plain = open_submission(hand_in(notebook, folder / "ann.ipynb"))
    assert plain.cells[3].metadata == {"nbgrader": {"grade_id": "double"}}
    assert plain.cells[3].outputs == []
    assert "script" not in json.dumps(plain)
    assert "evil" not in json.dumps(plain)


def test_odd_cells_do_no_harm(folder):
    cells = [
        None,
        7,
        {"cell_type": "code"},
        {"cell_type": "video", "source": "x"},
        {"cell_type": ["code"], "source": "x"},
        {"cell_type": "code", "source": ["a\n", 3, "b"], "metadata": 5},
        {"cell_type": "markdown", "source": {"a": 1}},
        {"cell_type": "code", "source": "x\r\ny\ud800", "metadata": {"nbgrader": {"grade_id": ["list"]}}},
    ]
    path = folder / "ann.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}))
    plain = open_submission(path)
    assert [cell.source for cell in plain.cells] == ["", "a\nb", "x\ny?"]
    nbformat.validate(plain)


PLATFORMS = """id,name,email,login,group
s-1,Ann Doe,ann.doe@example.org,anndoe,Team Red
bob,Bob Ray,bob@example.org,bob_ray,Team Red
zoe,"O'Hara, Zoë",zoe@example.org,zoe-oh,Team Blue
cy,Mary-Ann Smith,cy@example.org,cy,
"""


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text(PLATFORMS, encoding="utf-8")
    return read_roster(tmp_path / "people.csv")


@pytest.mark.parametrize(
    ("name", "owners"),
    [
        # D2L
        ("397063-2557369 - Ann Doe - Sep 24, 2024 926 PM/bob.ipynb", "s-1"),
        ("397063-2557369 - Mary-Ann Smith - Sep 24, 2024 926 PM/hw.ipynb", "cy"),
        ("271836-442356 - Zoë O'Hara - Dec 5, 2024 1149 AM - bob.ipynb", "zoe"),
        ("397063-2557369 - Eve Fox - Sep 24, 2024 926 PM/bob.ipynb", ""),
        ("397063-2557369 - Team Red - Sep 24, 2024 926 PM/hw.ipynb", "s-1 bob"),
        # Blackboard
        ("Homework 1_bob_ray_attempt_2026-03-01-10-30-00_ann.ipynb", "bob"),
        ("Homework_1_anndoe_attempt_2026-03-01-10-30-00_bob.ipynb", "s-1"),
        ("Homework 1_eve_attempt_2026-03-01-10-30-00_bob.ipynb", ""),
        # Sakai
        ("Homework 1/Doe, Ann(anndoe)/Submission attachment(s)/bob.ipynb", "s-1"),
        ("Homework 1/Doe, Ann(s-1)/Submission attachment(s)/hw.ipynb", "s-1"),
        ("Homework 1/Doe, Ann(bob)/Submission attachment(s)/hw.ipynb", ""),
        ("Homework 1/Fox, Eve(eve)/Submission attachment(s)/bob.ipynb", ""),
        ("Doe, Ann(anndoe)_Submission attachment(s)_bob.ipynb", "s-1"),
        ("Homework 1/Team Red(81-4)/Submission attachment(s)/hw.ipynb", "s-1 bob"),
        # GitHub Classroom
        ("homework-1-submissions/homework-1-zoe-oh/bob.ipynb", "zoe"),
        ("homework-1-submissions/homework-1-bob_ray/work/hw.ipynb", "bob"),
        ("homework-1-submissions/homework-1-Team Red/hw.ipynb", "s-1 bob"),
        ("homework-1-submissions/homework-1-eve/bob.ipynb", ""),
        # Google Classroom
        ("Ann Doe - Homework 1.ipynb", "s-1"),
        ("Mary-Ann Smith - Copy of 01-chain-rule.ipynb", "cy"),
        ("Classroom/NLP/Homework 1/Zoë O'Hara - Homework 1.ipynb", "zoe"),
        # Moodle with groups and blind marking
        ("Team Red-Ann Doe_54321_assignsubmission_file_/bob.ipynb", "s-1"),
        ("Mary-Ann Smith_54321_assignsubmission_file_/bob.ipynb", "cy"),
        ("Participant_54321_assignsubmission_file_/bob.ipynb", ""),
        ("Team Red_54321_assignsubmission_file_/hw.ipynb", "s-1 bob"),
        # groups, and layouts that nobody knows
        ("Team Red/hw.ipynb", "s-1 bob"),
        ("Team Red/zoe.ipynb", ""),
        ("hw 1 - Ann Doe - late/hw.ipynb", "s-1"),
        ("hw 1 - Ann Doe - late/bob.ipynb", ""),
        ("hw 1 - Eve Fox - late/bob.ipynb", ""),
        ("Fox, Eve/bob.ipynb", ""),
        ("week 1/bob.ipynb", "bob"),
        ("homework_01/section A/bob.ipynb", "bob"),
    ],
)
def test_platforms_are_known_by_name(folder, people, name, owners):
    path = hand_in(returned(), folder / name)
    got = collect(folder, people)
    assert [one.student for one in got.submissions] == owners.split()
    assert {one.path for one in got.submissions} == ({path} if owners else set())
    assert [fault.path for fault in got.faults] == ([] if owners else [path])
    assert all("group of 2" in " ".join(one.notes) for one in got.submissions if " " in owners)


def test_folders_of_one_student_each_have_to_name_them(folder, people):
    """Nothing says what this system's names mean, only that each folder is one person's: so bob's name is no proof."""
    hand_in(returned(), folder / "8412/bob.ipynb")
    hand_in(returned(), folder / "8413/homework.ipynb")
    hand_in(returned(), folder / "8414/zoe.ipynb")
    got = collect(folder, people)
    assert got.submissions == []
    assert len(got.faults) == 3
    assert any("8412 names nobody" in fault.why for fault in got.faults)


def test_sections_hold_many_and_need_no_name(folder, people):
    for name in ("section 1/bob.ipynb", "section 1/s-1.ipynb", "section 2/zoe.ipynb"):
        hand_in(returned(), folder / name)
    assert [one.student for one in collect(folder, people).submissions] == ["s-1", "bob", "zoe"]


def test_a_cloned_classroom_is_known_by_the_folder_that_is_named(tmp_path, people):
    folder = tmp_path / "homework-1-submissions"
    hand_in(returned(), folder / "homework-1-anndoe/bob.ipynb")
    (folder / "homework-1-anndoe/.git/hooks").mkdir(parents=True)
    (folder / "homework-1-anndoe/.git/config").write_text("x")
    (folder / "homework-1-anndoe/README.md").write_text("x")
    got = collect(folder, people)
    assert [one.student for one in got.submissions] == ["s-1"]
    assert got.faults == []


def test_a_group_of_gradescope_counts_for_each_who_is_there(folder, roster):
    text = METADATA.replace(
        ":name: Ann Doe\n    :sid: ann\nsubmission_904", ":name: Eve Fox\n    :sid: eve\nsubmission_904"
    )
    (folder / "submission_metadata.yml").write_text(text)
    path = hand_in(returned(), folder / "submission_903/hw.ipynb")
    got = collect(folder, roster)
    assert [(one.student, one.path) for one in got.submissions] == [("bob", path)]
    assert "Eve Fox fits nobody" in got.faults[0].why
    (folder / "submission_metadata.yml").write_text(METADATA)
    assert [one.student for one in collect(folder, roster).submissions] == ["ann", "bob"]


def test_what_systems_and_students_lay_beside_a_notebook_is_no_fault(folder, people):
    hand_in(returned(), folder / "hw/Doe, Ann(anndoe)/Submission attachment(s)/hw.ipynb")
    for name in (
        "hw/grades.csv",
        "hw/Doe, Ann(anndoe)/timestamp.txt",
        "hw/Doe, Ann(anndoe)/Submission attachment(s)/data.txt",
    ):
        (folder / name).write_text("x")
    assert collect(folder, people).faults == []


def test_a_zip_and_another_homework_get_a_sentence(folder, people):
    (folder / "bob.zip").write_bytes(b"PK")
    other = returned()
    other.cells = [cell for cell in other.cells if not cell.metadata]
    hand_in(other, folder / "zoe.ipynb")
    got = collect(folder, people, release())
    assert "archive" in got.faults[0].why
    assert "bob" in got.faults[0].why
    assert "another homework" in got.submissions[0].notes[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_notebook_in_another_form_of_unicode_is_read(folder, encoding):
    path = folder / "ann.ipynb"
    path.write_bytes(json.dumps(returned(written="Zoë: café"), ensure_ascii=False).encode(encoding))
    assert "Zoë: café" in [cell.source for cell in open_submission(path).cells]


def test_a_class_of_ten_thousand_is_not_searched_for_every_file(tmp_path, folder, monkeypatch):
    """Nothing is asked of each student for each file: 10,000 files took hours so, in each part of a class."""
    names = [f"u{number:03}" for number in range(60)]
    rows = "".join(f"{name},Name {name},{name}@example.org,{at}\n" for at, name in enumerate(names, start=100))
    (tmp_path / "roster.csv").write_text(f"id,name,email,canvas id\n{rows}", encoding="utf-8")
    roster, asked = read_roster(tmp_path / "roster.csv"), []
    monkeypatch.setattr(type(roster), "__iter__", lambda self: asked.append(1) or iter(self.students))
    for at, name in enumerate(names, start=100):
        kind = (f"{name}.ipynb", f"{name}/hw.ipynb", f"name{name}_{at}_{at}_hw.ipynb", f"Name {name} - Homework.ipynb")
        hand_in(returned(), folder / kind[at % 4])
    assert [one.student for one in collect(folder, roster, release()).submissions] == names
    assert len(asked) < 10
