"""A paper and its solutions as two pages: one HTML file each that loads nothing and prints on A4 or Letter.

Formulae are drawn by the book's own KaTeX, with its fonts in the file.
"""

import re
from pathlib import Path

from markupsafe import Markup

from lmbook import write
from lmbook_exams.paper import Paper
from lmbook_exams.question import Asked, Question
from lmbook_press.assignments.marking import rubric
from lmbook_press.book import Book, BookError
from lmbook_press.editions.slides import katex_style
from lmbook_press.prose import inline, prose
from lmbook_press.rendering import render

PART = re.compile(r"(?<=[.?]) (?=\([a-e]\) )")  # where a part of a question begins
WRITTEN = ("words", "what if")
DESCRIPTORS = (
    ("full", "The claim is right, its reason is named, and the reason is applied to the case that was asked about."),
    (
        "partial",
        "The claim is right and the reason is missing or general, or the reason is right and the case left out.",
    ),
    ("poor", "Only a term or a claim, without a reason; a reason that would fit any model; or beside the question."),
)
ROOM = 7  # millimetres of room for a minute of work


def paper_html(paper: Paper, title: str, katex: str, compact: bool = False) -> str:
    """The page for students.  katex: its stylesheet; compact: without room for answers."""
    room = 0 if compact else ROOM
    return _sheet("paper.html", paper, title, katex, room=room)


def solutions_html(paper: Paper, title: str, katex: str, seed: int) -> str:
    """The page for markers: each question with its solution, and the marking scheme as boxes."""
    descriptors = DESCRIPTORS if any(one.kind in WRITTEN for one in paper.questions) else ()
    return _sheet("solutions.html", paper, title, katex, seed=seed, descriptors=descriptors)


def _sheet(template: str, paper: Paper, title: str, katex: str, **values: object) -> str:
    both = zip(paper.questions, paper.asked, strict=True)
    questions = [_shown(question, asked) for question, asked in both]
    values |= {"paper": paper, "title": title, "katex": Markup(katex), "questions": questions}
    return render(template, "lmbook_exams", **values)


def _shown(question: Question, asked: Asked) -> dict:
    """A question as the templates show it: its Markdown as HTML, each part (a), (b) a paragraph of its own."""
    about = {name: getattr(question, name) for name in ("title", "points", "minutes", "chapter", "kind", "name")}
    scheme = [inline(item, katex=True) for _, item in rubric(asked.scheme, question.points)]
    text, solution = (prose(PART.sub("\n\n", part), katex=True) for part in (asked.text, asked.solution))
    return about | {"text": text, "solution": solution, "scheme": scheme}


def write_papers(
    made: list[Paper], book: Book, out: Path, title: str, seed: int, compact: bool = False, overwrite: bool = False
) -> list[Path]:
    """OUT/exam-A.html and OUT/exam-A-solutions.html of each version.  Raises BookError where one is there already."""
    files = {}
    style = katex_style(book)
    for paper in made:
        files[out / f"exam-{paper.version}.html"] = paper_html(paper, title, style, compact)
        files[out / f"exam-{paper.version}-solutions.html"] = solutions_html(paper, title, style, seed)
    if not overwrite and (there := [path for path in files if path.exists()]):
        raise BookError(f"{there[0]} is there already: name another folder, or say --overwrite.")
    if not out.exists() or not any(out.iterdir()):
        write(out / ".gitignore", "# an exam and its solutions\n*\n")
    for path, content in files.items():
        write(path, content)
    return list(files)
