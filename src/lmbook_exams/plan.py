"""Run sheets of a course, one page for each meeting, and its hours added up, from a plan in `book/` and the chapters.

A sheet has what a lecturer looks for in the minute before: objectives, minutes, the slides of the core, the figures,
the predictions to ask, the derivation for the board, the question to leave with, and what goes wrong.  The hours of a
student follow from what the chapters have, by RULE, and from the minutes of the exercises whose grade the plan names;
those of homework are the estimates on the instructors' page.
"""

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import nbformat
import numpy as np
from markupsafe import Markup

from lmbook_exams.bank import CHAPTERS, of_chapter
from lmbook_exams.objectives import trained
from lmbook_press.book import Book, BookError, markdown_of
from lmbook_press.editions.slide import Slide, cut, inline, prose
from lmbook_press.editions.slides import Deck, chapter
from lmbook_press.editions.stage import katex_style
from lmbook_press.exercises import Exercise, exercises
from lmbook_press.myst import FENCES, blocks, choices, options_of
from lmbook_press.rendering import render

# Minutes for each: 100 words of prose, a numbered equation, a cell of code that is shown, a question to be answered.
RULE = {"words": 1.0, "equations": 2.0, "cells": 2.0, "questions": 3.0}
PARTS = ("all", "first", "second")
WEEK = ("read", "due", "project", "events", "in_class", "meetings", "from_chapter")
MOST_SLIPS = 2
OPENING, CLOSING = (5, "the exit question of last time"), 5  # minutes
FIRST = (5, "how the course works, and what it asks of them")
TIMES = {"about 90 minutes": 90, "about two hours": 120, "about two and a half hours": 150}
ESTIMATE = re.compile(r"^\| (\d+)\. [^|]*\| ([^|]+) \|", re.MULTILINE)
SLIP = re.compile(r"^:{3,}\{admonition\} A common slip\n(?::class:[^\n]*\n)?(.*?)^:{3,}$", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


@dataclass
class Chapter:
    """What a plan needs to know of a chapter."""

    number: int
    book: Book

    @cached_property
    def path(self) -> Path:
        return chapter(self.book, str(self.number))

    @cached_property
    def notebook(self) -> nbformat.NotebookNode:
        return nbformat.read(self.path, as_version=4)

    @cached_property
    def deck(self) -> Deck:
        return Deck(self.notebook, self.path, self.book).read()

    @cached_property
    def core(self) -> list[tuple[int, Slide]]:
        """(number on stage, slide): the title is the first, and all of a stack have one number."""
        aims = Slide("What you will be able to do", parts=[self.deck.objectives])
        slides = [aims, *self.deck.slides] if self.deck.objectives else self.deck.slides
        return [(at, stack[0]) for at, stack in enumerate(cut(slides), start=2)]

    @property
    def counted(self) -> dict[str, float]:
        """{what: how much} of RULE, up to the exercises."""
        text = markdown_of(self.path).split("\n## Exercises")[0]
        hidden = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
        end = next((n for n, one in enumerate(self.notebook.cells) if "## Exercises" in one.source), None)
        shown = [one for one in self.notebook.cells[:end] if one.cell_type == "code"]
        return {
            "words": len(FORMULA.sub("x", text).split()) / 100,
            "equations": len(re.findall(r"^\$\$ \(", text, re.MULTILINE)),
            "cells": sum(not hidden & set(one.metadata.get("tags", [])) for one in shown),
            "questions": text.count("{self-check}") + text.count(":class: predict"),
        }

    @property
    def hours(self) -> float:
        return sum(RULE[what] * much for what, much in self.counted.items()) / 60

    @cached_property
    def exercises(self) -> list[Exercise]:
        return exercises(self.path)

    @property
    def aims(self) -> Markup:
        """The list of objectives, without what one needs before."""
        return Markup(self.deck.objectives.partition("</ul>")[0] + Markup("</ul>"))

    def part(self, part: str) -> list[tuple[int, Slide]]:
        half = (len(self.core) + 1) // 2
        if part == "second" and self.core[half][1].kind == "answer":
            half += 1  # the question is in the first half
        return {"all": self.core, "first": self.core[:half], "second": self.core[half:]}[part]

    def slips(self) -> list[str]:
        """What goes wrong: the chapter's boxes, or where it has none wrong options of its self-checks with reasons."""
        text = markdown_of(self.path)
        found = [slip.strip() for slip in SLIP.findall(text)]
        return [prose(self.deck.markup.convert(slip, 0)) for slip in found or self._misconceptions(text)]

    def _misconceptions(self, text: str) -> list[str]:
        """MOST_SLIPS self-checks, each with a wrong option and its explanation: those whose option says most."""
        found = []
        for kind, token, _, _ in blocks(text):
            if kind in FENCES and "{self-check}" in token.info:
                wrong = [
                    (" ".join(said), " ".join(why))
                    for right, _, said, why in choices(options_of(token)[1])
                    if not right
                ]
                option, why = max(wrong, key=lambda one: len(one[0]))
                asked = token.info.partition("}")[2].strip()
                found.append((len(option), f"**{asked}** “{option.rstrip('.')}.” {why}"))
        return [said for _, said in sorted(found, reverse=True)[:MOST_SLIPS]]


@cache
def chapter_of(number: int, book: Book) -> Chapter:
    """The chapter of this number, read once."""
    return Chapter(number, book)


@dataclass
class Meeting:
    """One sheet.  rows: (minutes, what); of an exam or a free meeting they are those of the plan, as `run`."""

    week: int
    number: int
    title: str
    chapter: Chapter | None = None
    slides: list[tuple[int, Slide]] = field(default_factory=list)
    rows: list[tuple[int, str]] = field(default_factory=list)
    board: str = ""
    solved: str = ""  # what stands on the board
    what_if: str = ""  # what the class is asked where the slides ask nothing
    bug: bool = False
    slips: list[str] = field(default_factory=list)

    def of(self, *kinds: str) -> list[tuple[int, Slide]]:
        return [(at, slide) for at, slide in self.slides if slide.kind in kinds]

    @property
    def figures(self) -> list[tuple[int, str]]:
        found = [(at, re.findall(r'class="lm-title">(.*?)</p>', "".join(slide.parts))) for at, slide in self.slides]
        return [(at, title) for at, titles in found for title in titles]

    @property
    def asked(self) -> list[tuple[int, Slide]]:
        """What the class is asked in the meeting itself."""
        return [one for one in self.of("ask") if one not in self.exit]

    @property
    def exit(self) -> list[tuple[int, Slide]]:
        """The self-check to leave with, else the last prediction."""
        asked = self.of("ask")
        return [one for one in asked if one[1].heading == "Check yourself"][-1:] or asked[-1:]


def read(path: Path, book: Book) -> dict:
    """The plan in a file, where a week with `from_chapter` stands for one week with each chapter from there on.

    Raises BookError, with what is wrong, for a plan that cannot be.
    """
    try:
        plan = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BookError(f"{path}: {error}") from None
    for at, week in enumerate(plan.get("week", []), start=1):
        for name in set(week) - set(WEEK):
            raise BookError(f"{path}, week {at}: {name} is none of {', '.join(WEEK)}.")
        for one in week.get("meetings", []):
            if one.get("part", "all") not in PARTS:
                raise BookError(f"{path}, week {at}: part is {one['part']!r}; write one of {', '.join(PARTS)}.")
            if not {"chapter", "exam", "free"} & set(one) and "from_chapter" not in week:
                raise BookError(f"{path}, week {at}: a meeting needs a chapter, an exam or free.")
    if not plan.get("week"):
        raise BookError(f"{path} has no [[week]].")
    weeks = [one for week in plan["week"] for one in _each(week, book)]
    weeks[-1] = weeks[-1] | {"events": [*weeks[-1].get("events", []), *([plan["ends"]] if "ends" in plan else [])]}
    return plan | {"week": weeks}


def _each(week: dict, book: Book) -> list[dict]:
    """The week itself, or one like it for each chapter from `from_chapter` on, whose meetings are about the chapter."""
    if (first := week.get("from_chapter")) is None:
        return [week]

    def about(number: int) -> dict:
        meetings = [one if {"exam", "free"} & set(one) else {"chapter": number, **one} for one in week["meetings"]]
        return week | {"read": [{"chapter": number}], "meetings": meetings}

    return [about(number) for path in book.chapters() if (number := book.chapter_number(path)) >= first]


def homework(book: Book) -> dict[int, int]:
    """Homework -> minutes, as the instructors' page estimates them."""
    page = (book.root / "book" / "instructors.md").read_text("utf-8")
    return {int(number): TIMES[time] for number, time in ESTIMATE.findall(page) if time in TIMES}


def hours(plan: dict, book: Book) -> list[dict]:
    """For each week of a student: {read, exercises, homework, class, project, all}, in hours."""
    minutes, found, grades = homework(book), [], plan["exercises"]
    for week in plan["week"]:
        chapters = [(chapter_of(one["chapter"], book), one.get("share", 1)) for one in week.get("read", [])]
        one = {"read": sum(chapter.hours * share for chapter, share in chapters)}
        done = [
            (sum(each.minutes for each in chapter.exercises if each.grade in grades), share)
            for chapter, share in chapters
        ]
        one |= {"exercises": sum(spent * share for spent, share in done) / 60}
        one |= {"homework": sum(minutes[number] for number in week.get("due", [])) / 60}
        one |= {"class": len(week["meetings"]) * plan["minutes"] / 60, "project": week.get("project", 0)}
        found.append(one | {"all": sum(one.values())})
    return found


def staff(plan: dict) -> dict[str, float]:
    """Hours of the staff in the term, for what the plan estimates."""
    students, minutes = plan["students"], plan["staff"]
    meetings = [one for week in plan["week"] for one in week["meetings"]]
    exams = 1 + sum("exam" in one for one in meetings)
    due = sum(len(week.get("due", [])) for week in plan["week"])
    return {
        "meetings, and preparing them": len(meetings) * (plan["minutes"] + minutes["prepare_a_meeting"]) / 60,
        "answers in words": due * students * minutes["mark_an_answer_in_words"] / 60,
        "two talks with each student": 2 * students * minutes["talk_with_a_student"] / 60,
        "exams": exams * students * minutes["mark_an_exam"] / 60,
        "projects of groups of three": -(-students // 3) * minutes["mark_a_project"] / 60,
    }


def meetings(plan: dict, book: Book) -> list[Meeting]:
    """All meetings with their sheets filled in."""
    found, number = [], 0
    for at, week in enumerate(plan["week"], start=1):
        for one in week["meetings"]:
            number += 1
            if "chapter" not in one:
                found.append(Meeting(at, number, one.get("exam") or one["free"], rows=one.get("run", [])))
                continue
            about, part = chapter_of(one["chapter"], book), one.get("part", "all")
            title = about.deck.title + {"all": "", "first": ", first half", "second": ", second half"}[part]
            meeting = Meeting(at, number, title, about, about.part(part), bug=part == "second")
            meeting.board, meeting.solved = _board(about.number, "bug" if meeting.bug else "derivation")
            meeting.slips = [] if part == "first" else about.slips()
            meeting.what_if = "" if meeting.asked else _board(about.number, "what if")[0]
            meeting.rows = _minutes(meeting, plan["minutes"], opening=OPENING if number > 1 else FIRST)
            found.append(meeting)
    return found


def _board(number: int, kind: str) -> tuple[str, str]:
    """A question of the exam bank and its solution: a derivation or a mistake to find for the board, a "what if"."""
    found = [one for one in of_chapter(number) if one.kind == kind] if number in CHAPTERS else []
    if not found:
        return "", ""
    asked, title = found[0].ask(np.random.default_rng(0)), found[0].title
    stop = "." * (title[-1] not in "?!")
    return prose(f"**{title}{stop}** {asked.text}"), prose(f"**{title}{stop}** {asked.solution}")


def _minutes(meeting: Meeting, minutes: int, opening: tuple[int, str]) -> list[tuple[int, str]]:
    """The time of a meeting: fixed pieces, and what is left for the slides."""
    asked, figures = len(meeting.asked) or int(bool(meeting.what_if)), len(meeting.figures)
    rows = [opening]
    rows += [(3 * asked, f"{asked} question{'s' * (asked > 1)}: hands first, then the answer")] * bool(asked)
    rows += [(5 * figures, "figures: the class says what to change")] * bool(figures)
    rows += [(12, "on the board")] * bool(meeting.board)
    rest = minutes - CLOSING - sum(time for time, _ in rows)
    return [*rows, (rest, f"the other slides, {len(meeting.slides)} in all"), (CLOSING, "the exit question")]


def page(book: Book, path: Path) -> str:
    """The whole plan as one page that prints: the calendar, then a sheet for each meeting."""
    plan = read(path, book)
    weeks = [(week, one) for week, one in zip(plan["week"], hours(plan, book), strict=True)]
    about = {"plan": plan, "weeks": weeks, "staff": staff(plan), "meetings": meetings(plan, book), "rule": RULE}
    about |= {"chapters": [(number, chapter_of(number, book).deck.title, trained(book, number)) for number in CHAPTERS]}
    return render("plan.html", "lmbook_exams", katex=Markup(katex_style(book)), inline=inline, **about)
