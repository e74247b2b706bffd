"""What `run_autograder` runs in Gradescope's container: one submission is graded, results.json is written.

Its form is that of https://gradescope-autograders.readthedocs.io/en/latest/specs/ ("Output format").  Students may hand
in as often as they like there, and a hidden check that answers at once can be asked for its inputs bit by bit.  So they
see at once what the visible checks say, and points when the course decides, by default after the due date.

Where the container allows it, the student's code runs in bubblewrap, as everywhere; where it does not, as a user of its
own without rights (`sandbox.alone`).  The points are the same.
"""

import json
import sys
import traceback
from pathlib import Path

from lmbook import write
from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Fault, collect_one
from lmbook_grader.intake.match_answers import titles
from lmbook_grader.intake.roster import Roster, read_roster
from lmbook_grader.sandbox.commands import Limits, available
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import BookError

NOT_GRADED = (
    "Your notebook could not be graded, and not by your fault. Tell the people of your course; they can read why."
)
WRITTEN = ("There is no answer yet.", "Your answer is here. It is marked by people.")
UNFINISHED = "This is as far as the grading came."


def grade(home: Path) -> None:
    """Grades what lies in home/submission and writes home/results/results.json, whatever happens.

    What is printed is for instructors alone, as Gradescope has it by default.
    """
    path = home / "results/results.json"
    try:
        settings = json.loads((home / "source/settings.json").read_text(encoding="utf-8"))
        student = whose(home)
        homework = Homework.load(home / "source/course").of(student)
        found = collect_one(home / "submission", student, homework.release)
        if isinstance(found, Fault):
            put(refused(f"{found.why}. Hand in the .ipynb file."), path)
            return
        sandbox = "alone" if available("bwrap") else "bwrap"
        print(f"Graded in: {sandbox}")
        hidden = [home / name for name in ("source", "results", "submission", "submission_metadata.json")]

        def so_far(result: dict) -> None:
            put(results(result | {"notes": [*result["notes"], UNFINISHED]}, homework, settings["visibility"]), path)

        limits = Limits(total=settings["seconds"] or Limits.total)
        result = grade_one(found, home / "source/course", sandbox=sandbox, limits=limits, hidden=hidden, so_far=so_far)
        for question in result["questions"]:
            for check in question["checks"]:
                if "reason" in check:
                    print(f"{check['name']}: {check['reason']}")
        if result["status"] == "ungraded":
            print(result["why"])
        put(results(result, homework, settings["visibility"]), path)
    except Exception:
        traceback.print_exc()
        put(refused(NOT_GRADED), path)


def whose(home: Path) -> str:
    """The id of the student by the roster in the zip, "submission" where there is none.

    Raises BookError for somebody who is not in it.
    """
    if not (home / "source/roster.csv").is_file():
        return "submission"
    roster = read_roster(home / "source/roster.csv")
    people = json.loads((home / "submission_metadata.json").read_text(encoding="utf-8"))["users"]
    for one in people:
        if len(found := _named(one, roster)) == 1:
            return found[0].id
    names = ", ".join(str(one.get("email")) for one in people)
    raise BookError(f"{names}: not in the roster of this autograder. Make the zip anew with the roster of today.")


def _named(one: dict, roster: Roster) -> list:
    return roster.having("email", str(one.get("email") or "")) or roster.named(str(one.get("name") or ""))


def refused(why: str) -> dict:
    """The results of a file that cannot be graded.  Gradescope has no empty score, so it is 0."""
    return _page([{"name": "The file", "status": "failed", "output": why, "visibility": "visible"}], 0, "")


def results(result: dict, homework: Homework, visibility: str) -> dict:
    """A result in Gradescope's form: for each check what its visible part says, and the points."""
    if result["status"] != "graded" and not result["questions"]:
        return refused(NOT_GRADED if result["status"] == "ungraded" else result["why"])
    headings, tests = titles(homework.release), []
    for number, question in enumerate(result["questions"], start=1):
        heading = headings.get(question["id"], question["id"])
        if not question["checks"]:
            there = question["status"] != "missing"
            one = {"name": heading, "number": f"{number}", "output": WRITTEN[there], "visibility": "visible"}
            tests.append(one | {"status": "passed" if there else "failed"})
        for count, check in enumerate(question["checks"], start=1):
            one = {"name": f"{heading}: the check that you can see", "number": f"{number}.{count}"}
            one |= {"status": "failed" if check["seen"] else "passed", "output": check["seen"] or "It passes."}
            tests.append(one | {"visibility": "visible"})
            one = {"name": f"{heading}: points", "number": f"{number}.{count}", "visibility": visibility}
            one |= {"score": check["points"], "max_score": check["max"], "output": check["message"]}
            tests.append(one)
    if printed := str(result["output"]).strip():
        tests.append(
            {"name": "What your notebook printed", "status": "passed", "output": printed, "visibility": "visible"}
        )
    score = sum(question["points"] for question in result["questions"])
    return _page(tests, score, "\n\n".join(result["notes"]), result["seconds"])


def _page(tests: list[dict], score: float, notes: str, seconds: float = 0.0) -> dict:
    plain = {"output_format": "text", "test_output_format": "text", "test_name_format": "text"}
    page = {"score": score, "execution_time": seconds, "output": notes, **plain, "stdout_visibility": "hidden"}
    return page | {"visibility": "visible", "tests": tests}


def put(page: dict, path: Path) -> None:
    write(path, json.dumps(page, indent=1) + "\n")


if __name__ == "__main__":
    grade(Path(sys.argv[1]))
