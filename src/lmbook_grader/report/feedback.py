"""Report: a feedback page for each student, and a summary of the class for the instructor.

A feedback page says per question how many points, what failed in words, and where the chapter treats it.  It holds what
the result holds and of the grading master only how the points of a written answer are given, once it is marked: no
hidden check, no solution.
"""

import re
from collections import Counter
from pathlib import Path
from statistics import mean, median

from nbformat import NotebookNode

from lmbook import write
from lmbook_grader.intake.match_answers import grade_id, titles
from lmbook_grader.intake.roster import Roster
from lmbook_grader.report.html import listing, page, table, text
from lmbook_grader.report.prose import prose
from lmbook_grader.report.results import file_stem, number, score
from lmbook_press.assignments.marking import question_of, solution_and_scheme
from lmbook_press.book import BookError, anchor

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


def pointers(master: NotebookNode, site: str | None = None) -> dict[str, str]:
    """grade_id of an answer -> HTML that names, and with the site's address links, the section that treats it.

    The master says so in its metadata, lmbook.sections: grade_id -> [chapter, heading of the section].
    """
    found = {}
    for name, (chapter, heading) in master.metadata.get("lmbook", {}).get("sections", {}).items():
        said = f"chapter {int(chapter.split('-')[0])}, “{text(heading)}”"
        if site:
            said = f'<a href="{text(site.rstrip("/"))}/notebooks/{text(chapter)}.html#{anchor(heading)}">{said}</a>'
        found[name] = said
    return found


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
    title, headings = name_of(release), titles(release)
    parts = [f"<h1>{text(title)}</h1>", f"<p>{text(student)}, file {text(result['file'])}</p>"]
    if result["status"] == "unreadable":
        parts.append(f"<p>This file could not be read, so there are no points yet. {text(result['why'])}</p>")
        return page(f"{title}: {student}", "\n".join(parts))
    if result["status"] != "graded":
        parts.append("<p>This homework is not graded yet: something on the grading side failed, not your work.</p>")
        return page(f"{title}: {student}", "\n".join(parts))
    points = score(result)
    most = number(points.most)
    if points.points is not None:
        parts.append(f'<p class="total">{number(points.points)} of {most} points</p>')
    else:
        so_far = sum(one["points"] for one in result["questions"])
        parts.append(
            f'<p class="total">{number(so_far)} points so far, of {most}; written answers are not marked yet</p>'
        )
    rows = []
    for one in result["questions"]:
        by_hand = one["status"] in ("manual", "marked", "changed")
        kind = "right" if one["points"] == one["max"] else "" if by_hand else "wrong"
        state = STATES.get(one["status"], one["status"])
        got = (
            f"{number(one['points'])} of {number(one['max'])}"
            if one["status"] != "manual"
            else f"? of {number(one['max'])}"
        )
        rows.append([text(headings.get(one["id"], one["id"])), f'<span class="{kind}">{text(state)}</span>', got])
    parts.append(table("Points by question", ["Question", "Answer", "Points"], rows, numbers=(2,)))
    for one in result["questions"]:
        beside = _written(one, release, schemes or {}) if not one["checks"] else ""
        parts.append(_question(one, headings, sections, beside))
    if result["notes"]:
        parts += ["<h2>About your file</h2>", listing([text(note) for note in result["notes"]])]
    if str(result.get("output") or "").strip():
        parts += ["<h2>What your notebook printed</h2>", f"<pre>{text(result['output'].rstrip())}</pre>"]
    return page(f"{title}: {student}", "\n".join(parts))


def _question(one: dict, headings: dict[str, str], sections: dict[str, str], beside: str) -> str:
    """What is to be said of a question beyond its points; nothing for a right answer without a comment."""
    said = []
    if one["status"] == "changed":
        said.append(f"Changed from {number(one['was'])} to {number(one['points'])} points by the people of the course.")
    if one.get("comment"):
        said.append(text(one["comment"]).replace("\n", "<br>"))
    if any(not check["passed"] or check.get("carried") for check in one["checks"]):
        for place, check in enumerate(one["checks"], start=1):
            why = "passes" if check["passed"] else _code(text(check["message"]))
            if check.get("carried"):
                others = " and ".join(f"{headings.get(name, name)}" for name in check["carried"])
                why = text(f"passes with the right answer to {others}. The mistake there costs its points once.")
            said.append(f"Check {place}, {number(check['points'])} of {number(check['max'])} points: {why}")
    if one["points"] < one["max"] and one["id"] in sections and one["status"] != "manual":
        said.append(f"To read again: {sections[one['id']]}.")
    if not said and not beside:
        return ""
    return f"<h2>{text(headings.get(one['id'], one['id']))}</h2>\n" + beside + listing(said)


def _written(one: dict, release: NotebookNode, schemes: dict[str, str]) -> str:
    """The question and the student's own words; how points are given, once they are."""
    parts = [f"<details><summary>The question</summary>{prose(question_of(release, one['id']))}</details>"]
    if one.get("answer"):
        parts.append(f"<details><summary>Your answer</summary>{prose(one['answer'])}</details>")
    if one["status"] == "marked" and schemes.get(one["id"]):
        parts.append(f"<p>How the points are given:</p>{prose(schemes[one['id']])}")
    return "\n".join(parts) + "\n"


def _code(escaped: str) -> str:
    """`name` as code, in text that is escaped already."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", escaped)


def summary(results: list[dict], release: NotebookNode, roster: Roster, faults: list[dict]) -> str:
    """The page of the class, for the instructor: points, questions, and everything that waits for a person."""
    title, headings = name_of(release), titles(release)
    graded = [result for result in results if result["status"] == "graded"]
    final = [one.points for one in map(score, graded) if one.points is not None]
    parts = [f"<h1>The class. {text(title)}</h1>"]
    counts = [
        ["In the roster", str(len(roster))],
        ["Graded", str(len(graded))],
        ["Not graded (to be repeated)", str(sum(result["status"] == "ungraded" for result in results))],
        ["File could not be read", str(sum(result["status"] == "unreadable" for result in results))],
        [
            "Handed in nothing that could be used",
            str(sum(one.id not in {r["student"] for r in results} for one in roster)),
        ],
        ["With a written answer still to be marked", str(len(graded) - len(final))],
    ]
    parts.append(table("Submissions", ["Students", "Number"], counts, numbers=(1,)))
    if final:
        most = max(score(result).most for result in graded)
        shown = f"mean {mean(final):.1f}, median {number(median(final))}"
        shown += f", lowest {number(min(final))}, highest {number(max(final))}"
        parts.append(f"<p>Complete: {len(final)}. Points, of {number(most)}: {shown}.</p>")
    rows = []
    for name in dict.fromkeys(one["id"] for result in graded for one in result["questions"]):
        asked = [one for result in graded for one in result["questions"] if one["id"] == name]
        states = Counter(one["status"] for one in asked)
        done = [one["points"] / one["max"] for one in asked if one["max"] and one["status"] != "manual"]
        share = f"{100 * mean(done):.0f} %" if done else "?"
        said = ", ".join(f"{count} {STATES.get(state, state)}" for state, count in states.most_common())
        rows.append([text(headings.get(name, name)), share, text(said)])
    if rows:
        parts.append(table("Questions", ["Question", "Mean share of points", "Answers"], rows, numbers=(1,)))
        parts.append(_missed(graded, headings))
    parts += _waiting(results, roster, faults)
    return page(f"The class. {title}", "\n".join(part for part in parts if part))


def _missed(graded: list[dict], headings: dict[str, str]) -> str:
    """The checks that fail most, which is where teaching may help."""
    failed, asked = Counter(), Counter()
    for result in graded:
        for question in result["questions"]:
            for check in question["checks"]:
                asked[question["id"], check["name"]] += 1
                failed[question["id"], check["name"]] += not check["passed"]
    rows = [
        [text(name), text(headings.get(question, question)), f"{count} of {asked[question, name]}"]
        for (question, name), count in failed.most_common(8)
        if count
    ]
    return table("Checks that fail most often", ["Check", "Question", "Failed"], rows, numbers=(2,)) if rows else ""


def _waiting(results: list[dict], roster: Roster, faults: list[dict]) -> list[str]:
    there = {result["student"] for result in results}
    lists = {
        "Not graded": [f"{r['student']}: {r['why']}" for r in results if r["status"] == "ungraded"],
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
        "No submission": [f"{student.id} ({student.name})" for student in roster if student.id not in there],
        "Remarks of the intake": [f"{r['student']}: {note}" for r in results for note in r["notes"]],
    }
    return [f"<h2>{head}</h2>\n{listing([text(item) for item in items])}" for head, items in lists.items() if items]


def write_report(
    results: list[dict], release: NotebookNode, master: NotebookNode, roster: Roster, out: Path,
    faults: list[dict] = (), site: str | None = None,
) -> list[Path]:  # fmt: skip
    """Writes OUT/feedback/STUDENT.html for each result and OUT/summary.html; returns their paths.

    Raises BookError, before anything is written, for a result of a student who is not in the roster.
    """
    if strangers := [result["student"] for result in results if result["student"] not in roster]:
        raise BookError(f"Not in the roster: {', '.join(strangers)}. Use the roster that they were graded with.")
    sections = pointers(master, site)
    written = {grade_id(cell): cell.source for cell in master.cells if cell.cell_type == "markdown" and grade_id(cell)}
    schemes = {name: solution_and_scheme(source)[1] for name, source in written.items()}
    pages = {
        out / "feedback" / f"{file_stem(result['student'])}.html": feedback(
            result, release, sections, roster[result["student"]].name or result["student"], schemes
        )
        for result in results
    }
    pages[out / "summary.html"] = summary(results, release, roster, list(faults))
    for path, content in pages.items():
        write(path, content)
    return list(pages)
