"""The gradebook as a page for the people of the course: distributions, questions, sections, marking, every student."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import mean, median, quantiles

from markupsafe import Markup
from matplotlib import pyplot as plt

from lmbook import plots, write
from lmbook_grader.course.gradebook import Graded, Line, brief, in_words, last_call, rounded, waiting
from lmbook_grader.course.gradebook_csv import sections
from lmbook_grader.course.policy import Policy
from lmbook_grader.intake.match_answers import titles
from lmbook_grader.report.feedback import TEMPLATES
from lmbook_grader.report.results import is_written, mark_lines, number
from lmbook_grader.report.written_answers import noted_minutes
from lmbook_press.rendering import render


def write_page(policy: Policy, course: dict[str, Graded], lines: list[Line], graded: Path, path: Path) -> None:
    """Writes the page.  graded: the folder of the results, whose marks.csv hold the minutes of the markers."""
    plots.use_style()
    questions = _questions(course, lines)
    values = {
        "rules": in_words(policy),
        "dates": [_dates(policy, key, one) for key, one in course.items()],
        "counts": _counts(lines),
        "figures": [figure for figure in (_totals(lines, policy), _homeworks(lines), _hardest(questions)) if figure],
        "homeworks": [_homework(key, one, lines) for key, one in course.items()],
        "groups": list(sections(lines)),
        "questions": [row[:-1] for row in questions],
        "sections": _sections(sections(lines), course),
        "marking": _marking(course, graded),
        "waiting": waiting(lines),
        "head": ["Student", "Name", *course, "Late days left", "Total"],
        "students": [_student(line, policy) for line in lines],
    }
    write(path, render("gradebook.html", TEMPLATES, **values))


def _dates(policy: Policy, key: str, graded: Graded) -> list[str]:
    due = last_call(policy, key, "")
    end = f"{due.astimezone(policy.zone):%Y-%m-%d %H:%M:%S %Z}" if due else "no date"
    later = sum(number == key for _, number in policy.extensions)
    excused = sum(number == key for _, number in policy.excuses)
    return [f"{key}. {graded.title}", end, number(policy.tasks[key].weight), str(later), str(excused)]


def _counts(lines: list[Line]) -> list[list[str]]:
    states = Counter(entry.status for line in lines for entry in line.entries.values())
    late = [entry for line in lines for entry in line.entries.values() if entry.days]
    counts = {
        "Students": len(lines),
        "Totals that stand": sum(line.total is not None for line in lines),
        "Graded": states["graded"],
        "Waiting for a person": states["waiting"],
        "Not handed in": states["missing"],
        "Not due yet": states["open"],
        "Excused": states["excused"],
        "Late": len(late),
        "Free late days used": sum(entry.free for entry in late),
    }
    return [[what, str(count)] for what, count in counts.items()]


def _shares(lines: Iterable[Line], key: str) -> list[float]:
    """The shares of a homework, in per cent after lateness, of those who handed it in."""
    entries = (line.entries[key] for line in lines)
    return [100 * float(entry.share) for entry in entries if entry.status == "graded" and entry.share is not None]


def _homework(key: str, graded: Graded, lines: list[Line]) -> list[str]:
    shares = _shares(lines, key)
    entries = [line.entries[key] for line in lines]
    spread = [f"{of(shares):.0f}" if shares else "?" for of in (mean, median, min, max)]
    missing, late = sum(entry.status == "missing" for entry in entries), sum(bool(entry.days) for entry in entries)
    return [f"{key}. {graded.title}", str(len(shares)), *spread, str(late), str(missing)]


def _questions(course: dict[str, Graded], lines: list[Line]) -> list[list]:
    """Homework, question, section of the book, mean share of the class and of each of its sections; and that mean."""
    groups, rows = sections(lines), []
    for key, graded in course.items():
        headings = titles(graded.homework.release)
        books = graded.homework.grading.metadata.get("lmbook", {}).get("sections", {})
        for question in graded.homework.questions:
            given = {
                student: one["points"] / one["max"]
                for student, result in graded.results.items()
                for one in result["questions"]
                if one["id"] == question.name and one["max"] and one["status"] != "manual"
            }
            means = [_mean(given, [line.student.id for line in who]) for who in (lines, *groups.values())]
            section = books.get(question.name, ["", ""])[1]
            percent = ["?" if one is None else f"{100 * one:.0f}" for one in means]
            rows.append([key, headings.get(question.name, question.name), section, *percent, means[0]])
    return rows


def _mean(given: dict[str, float], who: list[str]) -> float | None:
    here = [given[student] for student in who if student in given]
    return mean(here) if here else None


def _sections(groups: dict[str, list[Line]], course: dict[str, Graded]) -> list[list[str]]:
    rows = []
    for name, lines in groups.items():
        totals = [float(line.total) for line in lines if line.total is not None]
        each = [f"{mean(shares):.0f}" if (shares := _shares(lines, key)) else "?" for key in course]
        rows.append([name, str(len(lines)), *each, f"{mean(totals):.1f}" if totals else "?"])
    return rows


def _marking(course: dict[str, Graded], folder: Path) -> list[list[str]]:
    """The time that markers noted, and what the answers without points may still take."""
    rows = []
    for key, graded in course.items():
        sheet = folder / key / "marks.csv"
        minutes = noted_minutes(mark_lines(sheet)[0]) if sheet.is_file() else []
        written = [one for result in graded.results.values() for one in result["questions"] if is_written(one)]
        left = sum(one["status"] == "manual" for one in written)
        each = f"{mean(minutes):.1f}" if minutes else "?"
        more = f"{mean(minutes) * left:.0f}" if minutes else ("0" if not left else "?")
        done = sum(one["status"] == "marked" for one in written)
        rows.append([key, str(done), str(len(minutes)), f"{sum(minutes):g}", each, str(left), more])
    return rows


def _student(line: Line, policy: Policy) -> list[str]:
    cells = []
    for entry in line.entries.values():
        if not entry.counts:
            cells.append({"waiting": "?", "excused": "excused", "open": ""}[entry.status])
            continue
        late = f", {entry.days} late" if entry.days else ""
        text = f"{brief(entry.worth)}{late}" if entry.status == "graded" else "0, none"
        cells.append(f"({text})" if entry.dropped else text)
    total = "?" if line.total is None else rounded(line.total, policy.decimals)
    return [line.student.id, line.student.name, *cells, str(line.left), total]


def _figure(figure, alt: str, caption: str) -> Markup:
    html = Markup(plots.to_html(figure, alt, caption))  # escapes both
    plt.close(figure)
    return html


def _totals(lines: list[Line], policy: Policy) -> Markup | None:
    totals = [float(line.total) for line in lines if line.total is not None]
    if not totals:
        return None
    figure, axes = plt.subplots(figsize=(6, 2.6))
    counts, _, _ = axes.hist(totals, bins=range(0, 105, 5), color=plots.PALETTE[0], edgecolor="none")
    axes.set(title="The totals", xlabel="total in per cent", ylabel="students", xlim=(0, 100))
    axes.yaxis.get_major_locator().set_params(integer=True)
    alt = f"Histogram of {len(totals)} totals: median {median(totals):.1f}, "
    alt += f"from {min(totals):.1f} to {max(totals):.1f} per cent."
    most = int(counts.argmax()) * 5
    return _figure(figure, alt, f"The totals that stand, in steps of 5 per cent; the fullest step begins at {most}.")


def _homeworks(lines: list[Line]) -> Markup | None:
    keys = [key for key in lines[0].entries if _shares(lines, key)] if lines else []
    if not keys:
        return None
    figure, axes = plt.subplots(figsize=(6, 1.1 + 0.32 * len(keys)))
    for place, key in enumerate(reversed(keys)):
        shares = sorted(_shares(lines, key))
        low, middle, high = quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else shares * 3
        axes.plot([shares[0], shares[-1]], [place] * 2, color=plots.PALETTE[0], lw=1, ls="-", marker="")
        axes.plot([low, high], [place] * 2, color=plots.PALETTE[0], lw=7, ls="-", marker="", solid_capstyle="butt")
        axes.plot([middle], [place], color=plots.PALETTE[1], ls="None", marker="D")
    axes.set(title="The homeworks", xlabel="share of the points in per cent, after lateness", xlim=(-2, 102))
    axes.set_ylim(-0.6, len(keys) - 0.4)
    axes.set_yticks(range(len(keys)), [f"homework {key}" for key in reversed(keys)])
    middles = {key: median(_shares(lines, key)) for key in keys}
    low, high = min(middles, key=middles.get), max(middles, key=middles.get)
    alt = f"Share of the points by homework: the lowest median is {middles[low]:.0f} (homework {low}), "
    alt += f"the highest {middles[high]:.0f} (homework {high})."
    caption = (
        "Of those who handed a homework in: lowest to highest (thin), the middle half (thick), the median (diamond)."
    )
    return _figure(figure, alt, caption)


def _hardest(questions: list[list]) -> Markup | None:
    """The twelve questions of the lowest mean share; of those with all points for all there is nothing to see."""
    found = [(row[-1], f"{row[0]}: {row[1]}"[:44]) for row in questions]
    rows = sorted((share, name) for share, name in found if share is not None and share < 1)[:12]
    if not rows:
        return None
    figure, axes = plt.subplots(figsize=(6, 1.1 + 0.3 * len(rows)))
    shares = [100 * share for share, _ in reversed(rows)]
    axes.barh(range(len(rows)), shares, color=plots.PALETTE[2], height=0.6)
    axes.set(title="The hardest questions", xlabel="mean share of the points in per cent", xlim=(0, 100))
    axes.set_yticks(range(len(rows)), [name for _, name in reversed(rows)])
    alt = f"Mean share of the hardest questions: from {100 * rows[0][0]:.0f} to {100 * rows[-1][0]:.0f} per cent; "
    alt += f"the hardest is {rows[0][1]}."
    return _figure(figure, alt, "The questions with the lowest mean share among those who handed the homework in.")
