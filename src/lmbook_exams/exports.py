"""A paper as files for other systems: LaTeX to be edited, and a QTI 2.1 package for those that examine on a screen.

Both come from the Markdown of the questions.  LaTeX is written by docutils.  QTI is the specification of 1EdTech (IMS
Global): an item for each question, with a box for the answer and the points; in a package of its own, solution and
scheme as well, which are for scorers alone. Not every system that reads QTI keeps these from students.
"""

import re
import zipfile
from io import BytesIO, StringIO

from lmbook_exams.paper import RULES, Paper, Sheet
from lmbook_exams.question import Asked, Question
from lmbook_press.assignments.marking import rubric
from lmbook_press.editions.epub import FIRST
from lmbook_press.prose import prose
from lmbook_press.rendering import render

# Where a part of a question begins, and not in "(a), (b) and (c)".
PART = re.compile(r"(?:(?<=[.?,:;])|(?<=\.\)))(?<!\([a-f]\),)\s(?=\([a-f]\)\s)")
DISPLAY = re.compile(r"\$\$\s*(.+?)\s*\$\$", re.DOTALL)
PREAMBLE = r"""\usepackage{mathptmx,courier,amssymb}\usepackage[margin=20mm]{geometry}\raggedbottom
\setlength{\parindent}{0pt}\setlength{\parskip}{4pt}\setlength{\headheight}{20pt}
\makeatletter\def\@maketitle{{\LARGE\bfseries\@title\par}\medskip}\def\verbatim@font{\ttfamily%s}\makeatother
"""
# Each page but the first, which has fields of its own, asks for the name.
HEADER = r"\usepackage{fancyhdr}\pagestyle{fancy}\renewcommand{\headrulewidth}{0pt}\fancyhead{}"
HEADER += r"\rhead{\normalsize Name \rule{45mm}{.4pt}\ Number \rule{22mm}{.4pt}}"
BOXES = r"\renewcommand{\labelitemi}{$\square$}"
# A page ends between two questions and not inside one; the room for an answer stays with it.
BREAK, ROOM = "\\filbreak", "\\nopagebreak\\vspace*{{{}mm}}"
FIELDS, DATE = r"\bigskip Name \hrulefill\ Number \rule{35mm}{.4pt}", r"\ Date \rule{25mm}{.4pt}"
LARGE = r"\AtBeginDocument{\Large}"  # 17 points, with 12 in the document's options
LINES = 1.3  # lines of an answer in a minute


def parted(text: str) -> str:
    """Markdown with each part (a), (b) of a question as a paragraph of its own."""
    return PART.sub("\n\n", text)


def _scheme(question: Question, asked: Asked) -> list[str]:
    return [item for _, item in rubric(asked.scheme, question.points)]


def _raw(tex: str) -> str:
    return f"```{{raw}} latex\n{tex}\n```"


def _cover(paper: Paper, sheet: Sheet) -> list[str]:
    """Fields for the name, aids, rules and a table for the marks, in Markdown."""
    rows = [["Question", *range(1, len(paper.questions) + 1), "Sum"]]
    rows += [["---", *[":-:"] * (len(rows[0]) - 1)], ["Points", *(one.points for one in paper.questions), paper.points]]
    rows += [["Reached", *[" "] * (len(rows[0]) - 1)]]
    marks = "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)
    return [_raw(FIELDS + DATE * (not sheet.date) + r"\bigskip"), f"**Aids:** {sheet.aids}", RULES, marks, _raw(BREAK)]


def latex(paper: Paper, sheet: Sheet, solutions: bool) -> str:
    """The paper as a LaTeX document; with solutions and schemes, or with a cover and room for the answers."""
    from docutils.core import publish_string
    from myst_parser.docutils_ import Parser

    where = [", ".join(filter(None, (sheet.course, sheet.date)))]
    parts = [f"# {sheet.title}{': solutions' * solutions}", *filter(None, where), sheet.about(paper)]
    parts += [] if solutions else _cover(paper, sheet)
    for number, (one, asked) in enumerate(zip(paper.questions, paper.asked, strict=True), start=1):
        parts += [f"## {number}. {one.title} ({one.points} points, {one.minutes} min)", parted(asked.text)]
        if solutions:
            parts += ["**Solution.**", parted(asked.solution), *(f"- {item}" for item in _scheme(one, asked))]
        elif not sheet.compact:
            parts += [_raw(ROOM.format(sheet.room(one.minutes)))]
        parts += [_raw(BREAK)]
    settings = {"myst_enable_extensions": ["dollarmath"], "myst_highlight_code_blocks": False}
    settings |= {"output_encoding": "unicode", "literal_block_env": "verbatim"}
    settings |= {
        "report_level": 2,
        "halt_level": 2,
        "warning_stream": StringIO(),
        "documentoptions": f"a4paper,{'12pt' if sheet.large else '11pt'}",
    }
    settings |= {"raw_enabled": True, "use_latex_citations": True, "legacy_column_widths": False}
    preamble = PREAMBLE % (r"\small" if sheet.large else r"\footnotesize")
    settings |= {"latex_preamble": preamble + (BOXES if solutions else HEADER) + LARGE * sheet.large}
    text = DISPLAY.sub(r"$$\1$$", "\n\n".join(parts))  # an empty line in an equation is an error of LaTeX
    return publish_string(text, parser=Parser(), writer_name="latex", settings_overrides=settings)


def qti(paper: Paper, sheet: Sheet, solutions: bool) -> bytes:
    """The paper as a QTI 2.1 package: a zip of a manifest, a test in one section and an item for each question.

    solutions: with solution and scheme in a block that is marked as one for scorers.
    """
    both = list(zip(paper.questions, paper.asked, strict=True))
    head = {"paper": paper, "sheet": sheet, "title": f"{sheet.title}, version {paper.version}", "rules": RULES}
    files = {
        "imsmanifest.xml": render("qti-manifest.xml", "lmbook_exams", **head),
        "test.xml": render("qti-test.xml", "lmbook_exams", **head),
    }
    for one, asked in both:
        about = {"one": one, "lines": round(LINES * one.minutes), "text": _xhtml(parted(asked.text))}
        if solutions:
            about |= {"solution": _xhtml(parted(asked.solution))}
            about |= {"scheme": [_xhtml(item) for item in _scheme(one, asked)]}
        files[f"{one.name}.xml"] = render("qti-item.xml", "lmbook_exams", **about)
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, FIRST), content)
    return packed.getvalue()


def _xhtml(markdown: str):
    """Markdown as the XHTML of an item: formulae are MathML, and each element is closed."""
    from lxml import etree, html
    from markupsafe import Markup

    body = html.fragment_fromstring(str(prose(markdown)), create_parent="div")
    etree.strip_elements(body, "annotation", with_tail=False)
    etree.strip_tags(body, "semantics")
    for formula in body.iter("math"):
        formula.set("xmlns", "http://www.w3.org/1998/Math/MathML")
    return Markup(etree.tostring(body, encoding="unicode", method="xml"))
