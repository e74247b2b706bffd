"""Report: a feedback page for each student, and a summary of the class for the instructor.

A feedback page says per question how many points, what failed in words, and where the chapter treats it.  It holds what
the result holds and of the grading master only how the points of a written answer are given, once it is marked: no
hidden check, no solution.
"""

from collections import Counter
from pathlib import Path
from statistics import mean, median

from nbformat import NotebookNode

from lmbook import write
from lmbook_grader.intake.match_answers import grade_id, titles
from lmbook_grader.intake.roster import Roster
from lmbook_grader.report.pointers import pointers
from lmbook_grader.report.prose import prose, their_prose, with_code
from lmbook_grader.report.results import file_stem, number, score
from lmbook_press.assignments.marking import question_of, solution_and_scheme
from lmbook_press.assignments.questions import Homework
from lmbook_press.book import BookError
from lmbook_press.rendering import filled, render

TEMPLATES = "lmbook_grader.report"

STATES = {
    "right": "right",
    "partly": "partly right",
    "wrong": "not right yet",
    "missing": "no answer found",
    "error": "stopped with an error",
    "manual": "not marked yet",
    "marked": "marked",
    "changed": "points changed by hand",
}


def name_of(release: NotebookNode) -> str:
    """The homework's title: its first heading."""
    first = next((cell.source for cell in release.cells if cell.source.startswith("# ")), "# Homework")
    return first.split("\n")[0].removeprefix("# ").strip()


def feedback(
    result: dict, release: NotebookNode, sections: dict[str, str], student: str, schemes: dict[str, str] | None = None
) -> str:
    """The page of one student.  result: with the marks given by people in it (results.marked).

    schemes: how the points of each written answer are given; shown once it is marked.
    """
    page = {"title": name_of(release), "student": student, "result": result}
    if result["status"] == "graded":
        headings, points = titles(release), score(result)
        total = f"{number(points.points or 0)} of {number(points.most)} points"
        if points.points is None:
            so_far = sum(one["points"] for one in result["questions"])
            total = f"{number(so_far)} points so far, of {number(points.most)}; written answers are not marked yet"
        asked = [_question(one, release, headings, sections, schemes or {}) for one in result["questions"]]
        page["total"], page["rows"] = total, [_row(one, headings) for one in result["questions"]]
        page["questions"] = [one for one in asked if one["written"] or one["remarks"]]
        page["output"] = str(result.get("output") or "").rstrip()
    return render("feedback.html", TEMPLATES, **page)


def _row(one: dict, headings: dict[str, str]) -> list[str]:
    """A line of the table of points."""
    by_hand = one["status"] in ("manual", "marked", "changed")
    kind = "right" if one["points"] == one["max"] else "" if by_hand else "wrong"
    state = filled('<span class="{}">{}</span>', kind, STATES.get(one["status"], one["status"]))
    points = "?" if one["status"] == "manual" else number(one["points"])
    return [headings.get(one["id"], one["id"]), state, f"{points} of {number(one['max'])}"]


def _question(one: dict, release: NotebookNode, headings: dict, sections: dict, schemes: dict) -> dict:
    """A question beyond its points, for the template: remarks, which a right answer has none of; of a written one its
    text, the student's own words, and, once it is marked, how points are given."""
    remarks = []
    if one["status"] == "changed":
        was, now = number(one["was"]), number(one["points"])
        remarks.append(f"Changed from {was} to {now} points by the people of the course.")
    if one.get("comment"):
        remarks.append(filled('<span class="lines">{}</span>', one["comment"]))
    if any(not check["passed"] or check.get("carried") for check in one["checks"]):
        for place, check in enumerate(one["checks"], start=1):
            why = "passes" if check["passed"] else with_code(check["message"])
            if check.get("carried"):
                others = " and ".join(headings.get(name, name) for name in check["carried"])
                why = f"passes with the right answer to {others}. The mistake there costs its points once."
            points = f"{number(check['points'])} of {number(check['max'])} points"
            remarks.append(filled("Check {}, {}: {}", place, points, why))
    if one["points"] < one["max"] and one.get("hint"):
        remarks.append(filled("Hint: {}", with_code(one["hint"])))
    if one["points"] < one["max"] and one["id"] in sections and one["status"] != "manual":
        remarks.append(filled("To read again: {}.", sections[one["id"]]))
    seen = {"heading": headings.get(one["id"], one["id"]), "remarks": remarks, "written": not one["checks"]}
    if not one["checks"]:
        seen["question"] = prose(question_of(release, one["id"]))
        seen["answer"] = their_prose(one["answer"]) if one.get("answer") else None
        scheme = schemes.get(one["id"]) if one["status"] == "marked" else None
        seen["scheme"] = prose(scheme) if scheme else None
    return seen


def summary(results: list[dict], release: NotebookNode, roster: Roster, faults: list[dict]) -> str:
    """The page of the class, for the instructor: points, questions, and everything that waits for a person."""
    headings = titles(release)
    graded = [result for result in results if result["status"] == "graded"]
    final = [one.points for one in map(score, graded) if one.points is not None]
    here = {result["student"] for result in results}
    counts = {
        "In the roster": len(roster),
        "Graded": len(graded),
        "Not graded (to be repeated)": sum(result["status"] == "ungraded" for result in results),
        "File could not be read": sum(result["status"] == "unreadable" for result in results),
        "Handed in nothing that could be used": sum(one.id not in here for one in roster),
        "With a written answer still to be marked": len(graded) - len(final),
    }
    points = ""
    if final:
        most = number(max(score(result).most for result in graded))
        points = f"Complete: {len(final)}. Points, of {most}: mean {mean(final):.1f}, median {number(median(final))}, "
        points += f"lowest {number(min(final))}, highest {number(max(final))}."
    rows = []
    for name in dict.fromkeys(one["id"] for result in graded for one in result["questions"]):
        asked = [one for result in graded for one in result["questions"] if one["id"] == name]
        states = Counter(one["status"] for one in asked)
        done = [one["points"] / one["max"] for one in asked if one["max"] and one["status"] != "manual"]
        share = f"{100 * mean(done):.0f} %" if done else "?"
        answers = ", ".join(f"{count} {STATES.get(state, state)}" for state, count in states.most_common())
        rows.append([headings.get(name, name), share, answers])
    return render(
        "summary.html",
        TEMPLATES,
        title=name_of(release),
        counts=list(counts.items()),
        points=points,
        questions=rows,
        failed=_failed(graded, headings),
        reasons=_reasons(graded, headings),
        waiting=_waiting(results, roster, faults),
    )


def _failed(graded: list[dict], headings: dict[str, str]) -> list[list[str]]:
    """The checks that fail most, which is where teaching may help."""
    failed, asked = Counter(), Counter()
    for result in graded:
        for question in result["questions"]:
            for check in question["checks"]:
                asked[question["id"], check["name"]] += 1
                failed[question["id"], check["name"]] += not check["passed"]
    return [
        [name, headings.get(question, question), f"{count} of {asked[question, name]}"]
        for (question, name), count in failed.most_common(8)
        if count
    ]


def _reasons(graded: list[dict], headings: dict[str, str]) -> list[tuple[str, list[str]]]:
    """Why checks failed, with lines of them that no student may see: by question, the commonest reason first."""
    found: dict[str, dict[tuple[str, str], list[str]]] = {}
    for result in graded:
        for question in result["questions"]:
            for check in question["checks"]:
                if reason := check.get("reason"):
                    same = found.setdefault(headings.get(question["id"], question["id"]), {})
                    same.setdefault((check["name"], reason), []).append(result["student"])
    by_number = {name: sorted(same.items(), key=lambda one: -len(one[1])) for name, same in found.items()}
    return [
        (name, [filled("{}: {} ({})", check, with_code(why), ", ".join(who)) for (check, why), who in same])
        for name, same in by_number.items()
    ]


def _waiting(results: list[dict], roster: Roster, faults: list[dict]) -> dict[str, list[str]]:
    """All that waits for a person, by its heading."""
    there = {result["student"] for result in results}
    return {
        "Not graded": [f"{r['student']}: {r['why']}" for r in results if r["status"] == "ungraded"],
        "Stopped: their points so far count": [r["student"] for r in results if r.get("stopped")],
        "Files that could not be read": [
            f"{r['student']}: {r['file']}. {r['why']}" for r in results if r["status"] == "unreadable"
        ],
        "Points changed by hand": [
            f"{r['student']}, {one['id']}: {number(one['points'])} in place of {number(one['was'])}. {one['comment']}"
            for r in results
            for one in r["questions"]
            if one["status"] == "changed"
        ],
        "Files that nobody could be graded for": [f"{fault['file']}: {fault['why']}" for fault in faults],
        "Notebooks that were made for somebody else": [
            f"{r['student']}: the file was made for {r['made_for']}" for r in results if r.get("made_for")
        ],
        "No submission": [f"{student.id} ({student.name})" for student in roster if student.id not in there],
        "Remarks of the intake": [f"{r['student']}: {note}" for r in results for note in r["notes"]],
    }


def write_report(
    results: list[dict],
    homework: Homework,
    roster: Roster,
    out: Path,
    faults: list[dict] = (),
    site: str | None = None,
) -> list[Path]:
    """Writes OUT/feedback/STUDENT.html for each result and OUT/summary.html; returns their paths.

    Raises BookError, before anything is written, for a result of a student who is not in the roster.
    """
    if strangers := [result["student"] for result in results if result["student"] not in roster]:
        raise BookError(f"Not in the roster: {', '.join(strangers)}. Use the roster that they were graded with.")
    sections, pages = pointers(homework.grading, site), {}
    for result in results:
        student = result["student"]
        made = homework.of(student)
        written = {grade_id(cell): cell.source for cell in made.grading.cells if cell.cell_type == "markdown"}
        schemes = {name: solution_and_scheme(source)[1] for name, source in written.items() if name}
        page = feedback(result, made.release, sections, roster[student].name or student, schemes)
        pages[out / "feedback" / f"{file_stem(student)}.html"] = page
    pages[out / "summary.html"] = summary(results, homework.release, roster, list(faults))
    for path, content in pages.items():
        write(path, content)
    return list(pages)
