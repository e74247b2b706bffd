"""Slides of a chapter, made from the chapter alone: one HTML page that loads nothing, with living figures.

A slide holds one thing: the formulae, a drawing, a figure, a table, a list, or a piece of code with its output.  Its
title is the claim that the cell's metadata has for it (`slides.titles`, one for each slide that begins in the cell, ""
for none), else that of a living figure, else the sentence that leads to it; the section stands above.  Of long code
the lines of `slides.lines` are shown, as in "1-4, 9".  A prediction and a self-check are a question
on one slide and the answer on the next.  The prose itself goes into the notes.  Exercises and boxes about lectures and
papers stay in the book.

The stage is reveal.js (its files are those of the package sphinx-revealjs).  To the right goes the core, at most
MOST_CORE slides for a meeting of 75 minutes: predictions and answers, two self-checks, figures, drawings, plots,
formulae, and more self-checks where there is room.  What else the chapter has lies below, in its order.  A cell with
the tag slide-core or slide-below decides for itself.
"""

import re
from hashlib import sha256
from itertools import takewhile
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode

from lmbook_press.book import Book, BookError
from lmbook_press.editions.code import MOST_BESIDE, output_of, source_of
from lmbook_press.editions.colab import glued
from lmbook_press.editions.slide import Slide, cut, inline, paragraph, prose, sentences, stacked
from lmbook_press.editions.stage import katex_style, living, stage
from lmbook_press.myst import DIRECTIVE, FENCES, blocks, choices, options_of
from lmbook_press.myst_blocks import PlainMarkdown
from lmbook_press.normalize import read
from lmbook_press.rendering import filled, render

LEADING = re.compile(r"[:,]$")  # a sentence that leads to what a slide does not show
ELSEWHERE = re.compile(
    r"[:,?]$|^(?:Take|Suppose|Here (?:is|are))\b|\b(?:cell|code|Figure|exercise|figure)\b"
)  # a sentence of the page, not of the formula
HEADING = re.compile(r"^(#+)\s+(.+?)\s*$")
TITLE_OF_FIGURE = re.compile(r'class="lm-title">(?:<[^>]*>)*([^<]+)')
REFERENCE = re.compile(r"\s*\(\[(?:[Hh]ow this was measured|settings)\]\([^)]*\)\)")  # of the page, not of a slide
LONGEST_TITLE = 110  # letters of a sentence that is a title
LEAST_REMARK, LONGEST_REMARK = 12, 260  # letters of what explains a formula
LONGEST_LINK = 150  # letters of what leads from one formula to the next
CAPTION = re.compile(r"<figcaption>.*?</figcaption>", re.DOTALL)


class Deck:
    """Goes through a chapter cell by cell and collects its slides."""

    def __init__(self, notebook: NotebookNode, path: Path, book: Book):
        self.markup, self.notebook, self.path = PlainMarkdown(book, path, glued(notebook)), notebook, path
        self.slides: list[Slide] = []
        self.title, self.objectives, self.heading = path.stem, "", ""
        self.lead: list[str] = []  # the sentences of the paragraph that was read last
        self.said: list[str] = []  # prose since the last slide: its notes
        self.opening: list[str] = []  # first sentences of a section that has no slide yet
        self.question: Slide | None = None  # a prediction that waits for the output that answers it
        self.answer: Slide | None = None  # the slide of an output that the next paragraph explains
        self.tag = ""  # of the cell that is read
        self.titles: list[str] = []  # that this cell still has for its slides
        self.lines = ""  # those of its code that are shown
        self.done = False

    def read(self) -> "Deck":
        for number, cell in enumerate(self.notebook.cells, start=1):
            if self.done:
                break
            tags = {"slide-core", "slide-below"} & set(cell.metadata.get("tags", []))
            self.tag = min(tags, default="")
            marks = cell.metadata.get("slides", {})
            self.titles, self.lines = list(marks.get("titles", [])), marks.get("lines", "")
            if cell.cell_type == "markdown":
                self._cell(cell.source, number)
            elif cell.cell_type == "code":
                self._code(cell)
            if self.titles:
                raise BookError(f"{self.path.name}, cell {number}: no slide begins for the title {self.titles[0]!r}.")
        self._close_section()
        for slide in self.slides:
            if slide.kind == "formula" and len(slide.parts) == 1:
                if slide.after:
                    slide.parts.append(paragraph(slide.after))
                # What goes on in the formula's sentence is not understood without its beginning.
                if slide.claim and slide.before and not (slide.after and slide.after[0].isupper()):
                    slide.parts.insert(0, paragraph(slide.before))
        return self

    def _plain(self, text: str, number: int) -> str:
        return REFERENCE.sub("", self.markup.convert(text, number))

    def _add(self, parts: list[str], kind: str = "", section: str = "", lead: str = "", closing: bool = False) -> Slide:
        """lead: the sentence that leads to the parts, which is the title where it is short enough.

        closing: the slide belongs to the cells before this one.
        """
        asked = kind in ("ask", "answer") or closing
        figure = TITLE_OF_FIGURE.search("".join(parts)) if not asked else None
        written = (self.titles.pop(0) if self.titles and not asked else "") or (figure[1] if figure else "")
        if written:
            lead = written
        titled = bool(written) or 0 < len(lead) <= LONGEST_TITLE
        if lead and not titled:
            parts = [paragraph(lead), *parts]
        section = section or self.heading
        heading = lead if written else lead.rstrip(":.") if titled else section
        slide = Slide(heading, kind, parts, self.said, section if section != heading else "", self.tag, bool(written))
        self.slides.append(slide)
        self.lead, self.said, self.opening = [], [], []
        return slide

    def _leading(self, last: bool = False) -> str:
        """The sentence that leads to what comes: the last one where it ends in a colon, else the first."""
        if not self.lead:
            return ""
        return self.lead[-1] if last and self.lead[-1].endswith(":") else self.lead[0]

    def _close_section(self) -> None:
        if self.opening:
            points = Markup().join(filled("<li>{}</li>", inline(said)) for said in self.opening[:5])
            listing = filled("<ul>{}</ul>", points)
            last = self.slides[-1] if self.slides else None
            if (
                last and last.kind != "ask" and self.heading in (last.heading, last.section)
            ):  # a slide shows one thing; the rest is told
                last.notes += self.said
                self.lead, self.said, self.opening = [], [], []
            else:
                self._add([listing], closing=True)

    def _cell(self, source: str, number: int) -> None:
        text: list[str] = []  # what stands between two formulae, boxes or pieces of code
        for kind, token, _, lines in blocks(source):
            if kind in FENCES or kind.startswith("math_block"):
                self._text("\n".join(text), number)
                text = []
                self._fence(token, "\n".join(lines), number) if kind in FENCES else self._formula(lines, number)
            elif kind != "myst_target":
                text += lines
        self._text("\n".join(text), number)

    def _formula(self, lines: list[str], number: int) -> None:
        if self.done or self.markup.solution:
            return
        shown = prose(stacked(self._plain("\n".join(lines), number)))
        before = self.slides[-1] if self.slides else None
        same = before and before.kind == "formula" and self.heading in (before.heading, before.section)
        if same and len(before.parts) < 4:
            said = _last(self.lead, LONGEST_LINK) or self._leading(last=True)
            before.parts += [*([paragraph(said)] if said else []), shown]
            before.notes += self.said
            self.lead, self.said, self.opening = [], [], []
        else:
            before = _last(self.lead)
            self._add([shown], "formula", lead=self._leading(last=True)).before = before

    def _text(self, text: str, number: int) -> None:
        for part in re.split(r"\n[ \t]*\n(?![ \t]|[-*] |\d+\. )", text):  # a list stays whole
            if self.done or self.markup.solution or not part.strip():
                continue
            first, _, rest = part.strip("\n").partition("\n")
            if found := HEADING.match(first):
                self._head(found, number)
                self._text(rest, number)
                continue
            plain = self._plain(part, number)
            html = prose(plain)
            if html.startswith(("<table", "<ul", "<ol")):
                self._add([html], lead=self._leading(last=True))
                continue
            self.lead = sentences(plain)
            if self.answer is not None:
                said = list(takewhile(lambda one: not LEADING.search(one), self.lead[:2]))
                while said and said[-1].endswith("?"):  # it leads to what comes next
                    said.pop()
                self.answer.parts += [paragraph(" ".join(said))] * bool(said)
                self.answer.notes.append(html)
                self.answer = None
                continue
            self._explain()
            self.said.append(html)
            self.opening += self.lead[:1]

    def _explain(self) -> None:
        """Keeps what the paragraph behind a formula says of it: two sentences at most, up to one that leads away."""
        if self.slides and self.slides[-1].kind == "formula" and self.slides[-1].after is None:
            first = list(takewhile(lambda said: not ELSEWHERE.search(said), self.lead[:2]))
            while first and len(" ".join(first)) > LONGEST_REMARK:
                first.pop()
            said = " ".join(first)
            self.slides[-1].after = said if len(said) > LEAST_REMARK else ""  # not the end of the formula's sentence

    def _head(self, found: re.Match, number: int) -> None:
        level, title = len(found[1]), self._plain(found[2], number)
        if level == 1:
            self.title = title
            return
        self._close_section()
        if re.match(r"(Exercises|Further reading|Summary of results)\b", title):
            self.done = True
        self.heading = title
        self.lead = []
        if self.slides and self.slides[-1].after is None:
            self.slides[-1].after = ""  # what follows is about something else

    def _fence(self, token, text: str, number: int) -> None:
        found = DIRECTIVE.match(token.info.strip())
        name, title = found.groups() if found else ("", "")
        if name in ("exercise", "solution-start"):
            self.done = True
        if self.done or not found:
            if not self.done and not self.markup.solution:
                self._add([prose(text)], lead=self._leading())
            return
        options, body = options_of(token)
        if name == "self-check":
            self._check(title, body, number)
        elif name == "admonition" and options.get("class") == "predict":
            self.question = self._add([paragraph(self._plain("\n".join(body), number))], "ask", "Predict first")
            self.question.section = self.heading  # it may speak of what the section is about
        elif name == "admonition" and title.startswith("What you will be able to do"):
            self.objectives = prose(self._plain("\n".join(body), number))

    def _check(self, question: str, body: list[str], number: int) -> None:
        asked, shown, told = paragraph(self._plain(question, number)), Markup(), Markup()
        # In an order that follows from the question; in the source many are right in one place.
        drawn = sorted(choices(body), key=lambda one: sha256(f"{question}{one[2]}".encode()).digest())
        for letter, (right, _, answer, why) in zip("ABCDEFGH", drawn, strict=False):
            option = filled("<p><strong>{}.</strong> {}</p>", letter, inline(self._plain("\n".join(answer), number)))
            reason = prose(self._plain("\n".join(why), number))
            shown += option
            told += filled('<div class="{}">{}</div>', *(("right", option + reason) if right else ("wrong", option)))
        self._add([asked, shown], "ask", "Check yourself")
        self._add([asked, told], "answer", "Check yourself: the answer")

    def _code(self, cell: NotebookNode) -> None:
        tags = cell.metadata.get("tags", [])
        hidden = "hide-input" in tags or "remove-input" in tags or "hide-cell" in tags
        shown = [] if hidden else source_of(cell.source, self.lines)
        outputs = [] if "remove-output" in tags else [html for output in cell.outputs if (html := output_of(output))]
        if self.question is not None and outputs:
            self.question = None
            short = shown if cell.source.count("\n") < MOST_BESIDE else []
            self.answer = self._add([*short, *outputs], "answer", "Predict first: the answer")
            return
        living = [html for html in outputs if "data-module" in html]
        still = [*shown, *(html for html in outputs if html not in living)]
        if still:
            self._add(still, lead=self._leading())
        if living:  # a slide of its own; where its caption has no room, it is in the notes
            self._add(living, lead=self._leading()).notes += [Markup(one) for one in CAPTION.findall("".join(living))]

    def html(self) -> str:
        book = f"From the Chain Rule to Transformers, chapter {int(self.path.stem[:2])}"
        aims = Slide("What you will be able to do", parts=[self.objectives])
        slides = [aims, *self.slides] if self.objectives else self.slides
        stacks = cut(slides)
        style = Markup(katex_style(self.markup.book))
        about = {"title": self.title, "book": book, "katex": style, "inline": inline, "stage": stage()}
        return render("slides.html", stacks=stacks, living=living(slides), **about)


def _last(said: list[str], longest: int = LONGEST_REMARK) -> str:
    """The last sentences of a paragraph, as many as there is room for, back to one that speaks of the page."""
    found: list[str] = []
    for one in reversed(said):
        if ELSEWHERE.search(one.rstrip(":,")) or len(" ".join([one, *found])) > longest:
            break
        found.insert(0, one)
    return " ".join(found)


def slides(path: Path, book: Book) -> str:
    """The slides of the chapter at `path` as one page."""
    return Deck(read(path), path.resolve(), book).read().html()


def chapter(book: Book, name: str) -> Path:
    """The chapter with this number or name.  Raises BookError, with those that there are."""
    for path in book.chapters():
        if name in (path.stem, path.name) or path.stem.split("-")[0] == name.zfill(2):
            return path
    raise BookError(f"There is no chapter {name}; there are {', '.join(path.stem for path in book.chapters())}.")
