"""Python in the page: a reader runs and changes the code of a chapter where it stands, with nothing installed.

    lock.json, files     the files of Pyodide, by their checksums, and who brings them
    packs                the book's own source and what else goes with them; the manifest
    kernel.mjs           what a page calls; worker.mjs runs beside it, in a worker
    inside/              the Python part: the kernel, and small stand-ins for packages that need a server

Where the files are not on this machine (`python -m lmbook_press.site.python` fetches them), the site is built without
the buttons, and says so.
"""

from pathlib import Path

from lmbook import say
from lmbook_press.site.python import files, packs

FOLDER = "python"


def write_python(app, exception):
    """Puts Python into the folder _static/python of the site."""
    if exception or app.builder.format != "html":
        return
    found = files.complete()
    if found is None:
        say("the site has no Python in its pages: run `python -m lmbook_press.site.python` before the build")
        return
    packs.write(Path(app.outdir) / "_static" / FOLDER, found)


def setup(app):
    app.connect("build-finished", write_python, priority=960)  # no tool that makes pages lighter looks into these files
