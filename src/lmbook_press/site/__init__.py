"""The book's website as an extension of Sphinx: `lmbook_press.site` in _config.yml.

    features      what the book adds, one file each
    python        Python in the page: chapters that run where they are read
    homework      homework that is solved on its page
    repairs       faults of other packages, one file each, to be deleted when they are gone
    templates     files of the theme that are other ones here
    serving       a small web server, for tests and measurements of the built site

Not here: what a directive's text means to the other editions too (`lmbook_press.myst`). A reader who runs the chapters
needs none of it.
"""

from importlib import import_module
from pathlib import Path

TEMPLATES = Path(__file__).parent / "templates"
FEATURES = (
    "mathematics", "code", "selfcheck", "predict", "folding", "citations", "numbered", "results", "landing", "status",
    "heights", "states", "chapters", "machines", "pages", "search", "assets",
)  # fmt: skip


def _use_our_templates(app, config):
    config.templates_path.insert(0, str(TEMPLATES))


def setup(app):
    """Registers everything with Sphinx."""
    app.connect("config-inited", _use_our_templates)
    for name in (*(f"features.{feature}" for feature in FEATURES), "python", "homework", "repairs"):
        import_module(f"lmbook_press.site.{name}").setup(app)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
