"""A paper and its solutions as two pages: one HTML file each that loads nothing and prints on A4 or Letter.

Formulae are drawn by the book's own KaTeX, with its fonts in the file.
"""

from pathlib import Path

from markupsafe import Markup

from lmbook import write
from lmbook_exams.exports import latex, parted, qti
from lmbook_exams.paper import RULES, Paper, Sheet
from lmbook_exams.question import Asked, Question
from lmbook_press.assignments.marking import rubric
from lmbook_press.book import Book, BookError
from lmbook_press.editions.stage import katex_style
from lmbook_press.prose import inline, prose
from lmbook_press.rendering import render

WRITTEN = ("words", "what if")
DESCRIPTORS = (
    ("full", "The claim is right, its reason is named, and the reason is applied to the case that was asked about."),
    (
        "partial",
        "The claim is right and the reason is missing or general, or the reason is right and the case left out.",
    ),
    ("poor", "Only a term or a claim, without a reason; a reason that would fit any model; or beside the question."),
)


def paper_html(paper: Paper, sheet: Sheet, katex: str) -> str:
    """The page for students.  katex: its stylesheet."""
    return _page("paper.html", paper, sheet, katex, rules=RULES)


def solutions_html(paper: Paper, sheet: Sheet, katex: str) -> str:
    """The page for markers: each question with its solution, and the marking scheme as boxes."""
    descriptors = DESCRIPTORS if any(one.kind in WRITTEN for one in paper.questions) else ()
    return _page("solutions.html", paper, sheet, katex, descriptors=descriptors)


def _page(template: str, paper: Paper, sheet: Sheet, katex: str, **values: object) -> str:
    both = zip(paper.questions, paper.asked, strict=True)
    questions = [_shown(question, asked) for question, asked in both]
    values |= {"paper": paper, "sheet": sheet, "katex": Markup(katex), "questions": questions}
    return render(template, "lmbook_exams", **values)


def _shown(question: Question, asked: Asked) -> dict:
    """A question as the templates show it: its Markdown as HTML, each part (a), (b) a paragraph of its own."""
    about = {name: getattr(question, name) for name in ("title", "points", "minutes", "chapter", "kind", "name")}
    about |= {"aim": f"{question.chapter}.{question.objective}", "level": question.level}
    scheme = [inline(item, katex=True) for _, item in rubric(asked.scheme, question.points)]
    parts = (parted(part) for part in (asked.text, asked.solution))
    text, solution = (prose(part, katex=True) for part in parts)
    return about | {"text": text, "solution": solution, "scheme": scheme}


def write_papers(made: list[Paper], book: Book, out: Path, sheet: Sheet, overwrite: bool = False) -> list[Path]:
    """OUT/exam-A.html and OUT/exam-A-solutions.html of each version, and what else the sheet asks for.

    Raises BookError where one is there already.
    """
    files: dict[Path, str | bytes] = {}
    style = katex_style(book)
    for paper in made:
        name = f"exam-{paper.version}"
        files[out / f"{name}.html"] = paper_html(paper, sheet, style)
        files[out / f"{name}-solutions.html"] = solutions_html(paper, sheet, style)
        if sheet.latex:
            files[out / f"{name}.tex"] = latex(paper, sheet, solutions=False)
            files[out / f"{name}-solutions.tex"] = latex(paper, sheet, solutions=True)
        if sheet.qti:
            files[out / f"{name}-qti.zip"] = qti(paper, sheet, solutions=False)
            files[out / f"{name}-qti-solutions.zip"] = qti(paper, sheet, solutions=True)
    if not overwrite and (there := [path for path in files if path.exists()]):
        raise BookError(f"{there[0]} is there already: name another folder, or say --overwrite.")
    if not out.exists() or not any(out.iterdir()):
        write(out / ".gitignore", "# an exam and its solutions\n*\n")
    for path, content in files.items():
        write(path, content)
    return list(files)
