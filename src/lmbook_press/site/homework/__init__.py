"""Homework is solved on its page, with nothing installed: questions, answers, the visible checks, the file to hand in.

    solve.mjs        the button; all else comes when it is pressed
    desk.mjs         the desk: runs, checks, saves, opens
    cells, fields    the cells in their places on the page, and where an answer is written
    notebook.mjs     the file that is handed in
    texts.mjs        the questions of an edition of a student's own, with KaTeX
    device.mjs       what is kept on the device
    report.mjs       what the check found (lmbook_grader.in_page, which runs in the page)

Without the files of Python for the page (`lmbook_press.site.python`) no homework has a desk.
"""

import hashlib
import re
import shutil
from functools import cache
from pathlib import Path

from lmbook_press.rendering import render
from lmbook_press.site.features import mathematics

HERE = Path(__file__).parent
HOMEWORK = re.compile(r"book/homework/(\d\d-[\w-]+)")
ABOUT = re.compile(r'(<p class="lm-about">.*?</p>\n)', re.DOTALL)


@cache
def parts() -> dict[str, bytes]:
    """The files of the desk by name."""
    own = {file.name: file.read_bytes() for file in sorted(HERE.iterdir()) if file.suffix in (".mjs", ".css")}
    return own | {"katex.js": mathematics.katex_script().read_bytes()}


@cache
def folder() -> str:
    """The desk's folder on the site, with a mark of what is in it, so that no browser mixes two versions."""
    return f"homework-{hashlib.sha256(b''.join(parts().values())).hexdigest()[:10]}"


def _page_context(app, pagename, templatename, context, doctree):
    found = HOMEWORK.fullmatch(pagename)
    if not found or app.lmbook_python is None:
        return
    home = f"{context['pathto']('_static', resource=True)}/{folder()}"
    button = str(render("solve.html", name=found[1], home=home))
    context["body"] = ABOUT.sub(lambda about: about[0] + button, context["body"], count=1)


def write_desk(app, exception):
    """Puts the desk and the releases of the homework, as students get them, into a folder of the site."""
    if exception or app.lmbook_python is None:
        return
    static = Path(app.outdir) / "_static"
    for old in static.glob("homework-*"):
        shutil.rmtree(old)
    made = static / folder()
    made.mkdir(parents=True, exist_ok=True)
    for name, data in parts().items():
        (made / name).write_bytes(data)
    for page in sorted(app.env.found_docs):
        if found := HOMEWORK.fullmatch(page):
            release = Path(app.env.doc2path(page))
            (made / f"{found[1]}.ipynb").write_bytes(release.read_bytes())


def setup(app):
    app.connect("html-page-context", _page_context, priority=710)  # after the line that it follows
    app.connect("build-finished", write_desk, priority=960)
