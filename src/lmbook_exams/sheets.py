"""A paper and its solutions as two pages: one HTML file each that loads nothing and prints on A4 or Letter.

Formulae are drawn by the book's own KaTeX, with its fonts in the file.
"""

import re
from html import escape as text
from pathlib import Path

from lmbook import write
from lmbook_exams.paper import Paper
from lmbook_exams.question import Asked, Question
from lmbook_press.assignments.marking import rubric
from lmbook_press.book import Book, BookError
from lmbook_press.prose import prose as html_of
from lmbook_press.slides import katex_style

STYLE = """
:root { color-scheme: light; --ink: #1d2126; --muted: #5a626c; --line: #c9cdd2; --soft: #f5f6f8; }
* { box-sizing: border-box; }
body { max-width: 46rem; margin: 0 auto; padding: 1.5rem; color: var(--ink); background: #fff;
  font: 11.5pt/1.45 system-ui, sans-serif; }
h1 { margin: 0 0 .2rem; font-size: 1.5rem; } h2 { margin: 0 0 .3rem; font-size: 1.05rem; break-after: avoid; }
.fields { display: flex; gap: 2rem; margin: 1.2rem 0; }
.fields span { flex: 1; border-bottom: 1px solid var(--ink); padding-bottom: .3rem; }
.fields span:first-child { flex: 3; }
article { margin: 1.4rem 0; padding-top: .6rem; border-top: 1px solid var(--line); }
.asked { break-inside: avoid; } h2 .worth { float: right; font-weight: 400; color: var(--muted); }
.room { border-left: 1px dotted var(--line); }
p { margin: .45rem 0; }
pre { margin: .6rem 0; padding: .5rem .7rem; background: var(--soft);
  font: .85em/1.4 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; }
table { border-collapse: collapse; margin: .5rem 0; font-size: .95em; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: left; }
blockquote { margin: .4rem 0 .4rem 1rem; } .katex { font-size: 1.1em; } .katex-display { margin: .5rem 0; }
.solution { margin: .6rem 0; padding: .4rem .8rem; border-left: 4px solid #1f5a8c; background: var(--soft); }
.scheme { margin: .5rem 0 0; padding: 0; list-style: none; }
.scheme li { margin: .2rem 0; }
.scheme li::before { content: "☐ "; }
.descriptors { font-size: .92em; } footer { margin-top: 2rem; color: var(--muted); font-size: .85em; }
@page { margin: 18mm 16mm; @bottom-center { content: counter(page) " / " counter(pages);
  font: 9pt system-ui, sans-serif; } }
@media print { body { max-width: none; padding: 0; } .wide { page-break-before: always; } }
"""
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


def prose(markdown: str) -> str:
    """Its HTML, with each part (a), (b) a paragraph of its own."""
    return html_of(PART.sub("\n\n", markdown), katex=True)


def page(title: str, body: str, style: str) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'; font-src data:"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="robots" content="noindex">\n'
        f"<title>{text(title)}</title>\n<style>{style}</style>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def paper_html(paper: Paper, title: str, style: str, compact: bool = False) -> str:
    """What students get.  compact: without room for answers."""
    count = f"{len(paper.questions)} questions · {paper.points} points · {paper.minutes} minutes"
    head = (
        f"<h1>{text(title)}</h1>\n<p>Version {text(paper.version)} · {count}</p>\n"
        '<div class="fields"><span>Name</span><span>Number</span></div>\n'
        "<p>Give the way to each result, not only the number. Fractions, roots and logarithms may stay as they are. "
        "Letters are those of the book: logarithms are natural unless a base is written, losses are in nats, a mask is "
        "true where a query may look.</p>"
    )
    parts = [head]
    for number, (question, asked) in enumerate(zip(paper.questions, paper.asked, strict=True), start=1):
        room = "" if compact else f'<div class="room" style="height: {ROOM * question.minutes}mm"></div>'
        parts.append(f"<article>{_question(number, question, asked)}{room}</article>")
    return page(f"{title}, version {paper.version}", "\n".join(parts), style)


def solutions_html(paper: Paper, title: str, style: str, seed: int) -> str:
    """What markers get: each question with its solution, and the marking scheme as boxes."""
    about = f"Version {text(paper.version)} · {paper.points} points · {paper.minutes} minutes · seed {seed}"
    head = (
        f"<h1>{text(title)}: solutions</h1>\n<p>{about}</p>\n"
        "<p>For markers. A box is worth what it says; an item is there or not. A slip in arithmetic costs its own item "
        "only: what follows from it is right if it is right for the wrong number. Another way to the result gets the "
        "same points.</p>"
    )
    parts = [head]
    if any(one.kind in WRITTEN for one in paper.questions):
        rows = "".join(f'<tr><th scope="row">{name}</th><td>{text(said)}</td></tr>' for name, said in DESCRIPTORS)
        caption = "<caption>An item of an answer in words</caption>"
        parts.append(f'<table class="descriptors">{caption}<tbody>{rows}</tbody></table>')
    for number, (question, asked) in enumerate(zip(paper.questions, paper.asked, strict=True), start=1):
        items = "".join(f"<li>{_inline(item)}</li>" for _, item in rubric(asked.scheme, question.points))
        origin = f"<p><small>Chapter {question.chapter} · {question.kind} · {question.name}</small></p>"
        parts.append(
            f'<article>{_question(number, question, asked)}<div class="solution">{prose(asked.solution)}</div>'
            f'<ul class="scheme">{items}</ul>{origin}</article>'
        )
    return page(f"{title}, version {paper.version}: solutions", "\n".join(parts), style)


def _inline(markdown: str) -> str:
    return prose(markdown).strip().removeprefix("<p>").removesuffix("</p>")


def _question(number: int, question: Question, asked: Asked) -> str:
    worth = f'<span class="worth">{question.points} points · {question.minutes} min</span>'
    return f'<div class="asked"><h2>{worth}{number}. {text(question.title)}</h2>\n{prose(asked.text)}</div>'


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
