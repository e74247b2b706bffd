"""When each page was changed, and when, where and how long its notebook was executed and compared with what it shows.

`make notebooks` writes build/status.json (notebooks/conftest.py); a site that is built afterwards says what is in it,
at the end of each chapter and in the table of the directive `status`. Without the file, only git's dates are shown.
"""

import json
import re
import subprocess
from functools import cache
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from lmbook import __version__
from lmbook_press.rendering import filled

RECORD = Path("build") / "status.json"
CHAPTER = re.compile(r"notebooks/(\d\d)-[\w-]+")


def recorded(root: Path) -> dict[str, dict]:
    """Chapter -> its last execution {date, seconds, cells, torch, python}; of a run in which a cell differed, none."""
    file = root / RECORD
    runs = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {name: run for name, run in runs.items() if run["passed"]}


@cache
def changed(root: Path) -> dict[str, tuple[str, str]]:
    """File -> (day, commit) of its last change; nothing in a copy without its history."""
    command = ["git", "log", "--format=%x00%cs %h", "--name-only", "--", "notebooks", "book"]
    try:
        log = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    found: dict[str, tuple[str, str]] = {}
    for entry in log.split("\0")[1:]:
        head, *files = entry.strip().split("\n")
        day, commit = head.split()
        for file in filter(None, files):
            found.setdefault(file, (day, commit))
    return found


def source(env, page: str) -> str:
    """The file that a page is made from; of a homework, its master."""
    name = page.replace("book/homework/", "notebooks/homework/")
    return name + Path(env.doc2path(page)).suffix


def points(root: Path, name: str) -> float | None:
    """The points of a chapter's homework."""
    import nbformat

    from lmbook_press.assignments.make import total_points

    master = root / "notebooks" / "homework" / f"{name}.ipynb"
    return total_points(nbformat.read(master, as_version=4)) if master.is_file() else None


def rows(env) -> list[str]:
    """The rows of the table, as Markdown."""
    root = Path(env.srcdir)
    runs, days = recorded(root), changed(root)
    lines = ["| | chapter | changed | executed | cells | seconds | torch | homework, points |"]
    lines.append("|---|---|---|---|--:|--:|---|--:|")
    for page in sorted(page for page in env.found_docs if CHAPTER.fullmatch(page)):
        name, run = page.removeprefix("notebooks/"), runs.get(page.removeprefix("notebooks/"), {})
        seconds = f"{run['seconds']:.0f}" if run else "–"
        given = points(root, name)
        cells = [
            str(int(name[:2]) or ""),
            f"[](/{page}.ipynb)",
            days.get(source(env, page), ("–",))[0],
            run.get("date", "–"),
            str(run.get("cells", "–")),
            seconds,
            run.get("torch", "–"),
            f"[{given:g}](/book/homework/{name}.ipynb)" if given else "–",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


class Status(SphinxDirective):
    """The table of all chapters, and a sentence where no execution was recorded."""

    def run(self):
        root = Path(self.env.srcdir)
        self.env.note_dependency(str(root / RECORD))
        text = rows(self.env)
        if not recorded(root):
            text += [
                "",
                "This copy was built without the record of such a run; `make notebooks` makes one.",
            ]
        holder = nodes.Element()
        self.state.nested_parse(StringList(text, source="status"), self.content_offset, holder)
        return holder.children


def _page_context(app, pagename, templatename, context, doctree):
    """The last line of a page: the version, its last change, and of a chapter its last execution."""
    if doctree is None or pagename not in app.env.found_docs:
        return
    root = Path(app.srcdir)
    said = [f"lmbook {__version__}"]
    if found := changed(root).get(source(app.env, pagename)):
        said.append(f"page last changed on {found[0]} ({found[1]})")
    if run := recorded(root).get(pagename.removeprefix("notebooks/")) if CHAPTER.fullmatch(pagename) else None:
        said.append(
            f"executed from top to bottom and compared with what it shows on {run['date']}, "
            f"in {run['seconds']:.0f} s, with torch {run['torch']}"
        )
    line = str(filled('<p class="lm-version">{}</p>\n', "; ".join(said)))
    body = context.get("body", "")
    place = body.rstrip().rfind("</section>")
    if place >= 0:
        context["body"] = body[:place] + line + body[place:]


def setup(app):
    app.add_directive("status", Status)
    app.connect("html-page-context", _page_context, priority=750)  # after the end of a chapter
