"""Python in the page: a reader runs and changes the code of a chapter where it stands, with nothing installed.

    lock.json, files     the files of Pyodide, by their checksums, and who brings them
    names, needs, pages  which cells of a chapter can run, and what each needs
    packs                the book's own source and what else goes with them; the manifest
    kernel.mjs           what a page calls; worker.mjs runs beside it, in a worker
    cells.mjs            the buttons of a chapter, once one is pressed, with steps.mjs, outputs.mjs, editor.mjs
    inside/              the Python part: the kernel, and small stand-ins for packages that need a server

Where the files are not on this machine (`python -m lmbook_press.site.python` fetches them), the site is built without
the buttons, and says so.
"""

import hashlib
import json
from pathlib import Path

from lmbook import say
from lmbook_press.site.python import files, packs, pages

FOLDER = "python"


def look(app, config):
    """Finds the files of Pyodide once; without them no page gets a button."""
    app.lmbook_python = files.complete()
    if app.lmbook_python is None:
        say("THE PAGES HAVE NO PYTHON: `python -m lmbook_press.site.python`, before the build, says what is missing")
    else:
        sources = [Path(__file__).with_name(name) for name in ("names.py", "needs.py", "pages.py", "torch.json")]
        text = json.dumps(files.lock()).encode() + b"".join(file.read_bytes() for file in sources)
        config.lmbook_python = hashlib.sha256(text).hexdigest()


def write_python(app, exception):
    """Puts Python into the folder _static/python of the site."""
    chapters = any(map(pages.CHAPTER.fullmatch, app.env.found_docs)) if not exception else False
    if chapters and app.builder.format == "html" and app.lmbook_python is not None:
        packs.write(Path(app.outdir) / "_static" / FOLDER, app.lmbook_python)


def setup(app):
    app.add_config_value("lmbook_python", "", "html")
    app.connect("config-inited", look)
    app.connect("doctree-resolved", pages.mark)
    app.connect("html-page-context", pages.button)
    app.connect("build-finished", write_python, priority=960)  # no tool that makes pages lighter looks into these files
