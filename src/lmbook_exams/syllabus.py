"""What a class is given of a plan: the calendar of its weeks, and a syllabus to copy.

    ```{calendar} plan.toml
    ```

is the table of a plan's weeks on a page of the book, ```{syllabus} plan.toml the syllabus.  As an extension of Sphinx:
`lmbook_exams.syllabus` in _config.yml.  The same syllabus is written to a file by `lmbook plan --syllabus`.
"""

import datetime
import re
from collections.abc import Callable, Collection, Iterator
from itertools import count, repeat
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from lmbook_exams import plan as making
from lmbook_press.book import Book, BookError, markdown_of
from lmbook_press.rendering import render

SHARES = {0.25: "a quarter", 0.5: "half", 0.75: "three quarters", 1: ""}
HALVES = ("", "half an hour", "an hour", "an hour and a half", "two hours", "two and a half hours", "three hours",
          "three and a half hours", "four hours")  # fmt: skip
NEEDED = ("about", "able", "needs", "grades")  # what a plan says for its syllabus


def title(number: int, book: Book) -> str:
    """The heading of a chapter, as Markdown."""
    return re.search(r"^# (.+)$", markdown_of(making.chapter_of(number, book).path), re.MULTILINE)[1]


def reading(week: dict, named: Callable[[int], str]) -> str:
    """What a week reads, each chapter as `named` writes its number, with the share of it."""
    said = [(named(one["chapter"]), SHARES[one.get("share", 1)]) for one in week.get("read", [])]
    return ", ".join(f"{chapter} ({share})" if share else chapter for chapter, share in said)


def happens(week: dict) -> str:
    """What a week has beside its chapters: exams and events."""
    exams = [f"{one['exam']}." for one in week["meetings"] if "exam" in one]
    return " ".join([*exams, *week.get("events", [])])


def due(week: dict) -> str:
    return ", ".join(f"homework {number}" for number in week.get("due", []))


def calendar(plan: dict, book: Book) -> list[str]:
    """The table of the weeks: what is read, handed in and done in class, and a student's hours."""

    def link(number: int) -> str:
        return f"[{number}](/{making.chapter_of(number, book).path.relative_to(book.root)})"

    rows = ["| week | read | hand in at its end | in class | hours |", "|---|---|---|---|---|"]
    for at, (week, hours) in enumerate(zip(plan["week"], making.hours(plan, book), strict=True), start=1):
        free = [one["free"] for one in week["meetings"] if "free" in one]
        in_class = " ".join(filter(None, [week.get("in_class"), *free, happens(week)]))
        rows.append(f"| {at} | {reading(week, link)} | {due(week)} | {in_class} | {hours['all']:.1f} |")
    return rows


def _about(hours: float) -> str:
    """Hours in words, to the half hour."""
    return HALVES[min(max(round(2 * hours), 1), len(HALVES) - 1)]


def mondays(begin: datetime.date, free: Collection[datetime.date]) -> Iterator[datetime.date]:
    """The days on which weeks begin, without those that are free."""
    return (day for at in count() if (day := begin + datetime.timedelta(weeks=at)) not in free)


def syllabus(plan: dict, book: Book, begin: datetime.date | None = None, free: Collection[datetime.date] = ()) -> str:
    """The syllabus of a plan in Markdown.

    begin: the day on which its first week begins, for dates in the calendar; free: such days of weeks without a course.
    Raises BookError for a plan that does not say what its syllabus needs.
    """
    if missing := [name for name in NEEDED if name not in plan]:
        raise BookError(f"The plan “{plan['title']}” has no {', '.join(missing)}: its syllabus says them.")
    hours, weeks = making.hours(plan, book), plan["week"]
    homeworks = sum(len(week.get("due", [])) for week in weeks)
    days = mondays(begin, free) if begin else repeat(None)
    projects = [at for at, week in enumerate(weeks, start=1) if week.get("project")]
    rows = [
        (
            at,
            day,
            reading(week, lambda number: f"{number}. {title(number, book)}"),
            due(week),
            happens(week),
        )
        for (at, week), day in zip(enumerate(weeks, start=1), days, strict=False)
    ]
    about = {"plan": plan, "rows": rows, "count": homeworks, "projects": (min(projects), max(projects)), "dated": begin}
    for name, times in (("read", len(hours)), ("homework", homeworks)):
        about[name] = _about(sum(one[name] for one in hours) / times)
    return str(render("syllabus.md", "lmbook_exams", **about))


class _Generated(SphinxDirective):
    """Markdown that is made from the plan which the directive names."""

    required_arguments = 1

    def lines(self, plan: dict, book: Book) -> list[str]:
        raise NotImplementedError

    def run(self):
        book = Book(Path(self.env.srcdir))
        file = book.root / "book" / self.arguments[0]
        for source in (file, *book.chapters()):
            self.env.note_dependency(str(source))
        holder = nodes.Element()
        text = self.lines(making.read(file, book), book)
        self.state.nested_parse(StringList(text, source=str(file)), self.content_offset, holder)
        return holder.children


class Calendar(_Generated):
    """The table of a plan's weeks."""

    def lines(self, plan, book):
        return calendar(plan, book)


class Syllabus(_Generated):
    """The syllabus of a plan, as a quotation."""

    def lines(self, plan, book):
        return [f"> {line}".rstrip() for line in syllabus(plan, book).split("\n")]


def setup(app):
    app.add_directive("calendar", Calendar)
    app.add_directive("syllabus", Syllabus)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
