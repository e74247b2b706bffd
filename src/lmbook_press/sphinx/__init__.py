"""The Sphinx extension of the book's website: `lmbook_press.sphinx` in _config.yml.

    mathematics   formulae rendered with KaTeX while the site is built; a faulty one is a warning
    code          long lines of code that wrap
    selfcheck     the self-check questions
    predict       answers folded below the questions "Predict first"
    folding       solutions and dropdowns as <details>, titles of exercises
    citations     (Author, year) in round brackets
    numbered      "Figure 9.2" in the text leads to the drawing
    results       the tables of recorded runs
    chapters      links between chapter and homework, how to cite, descriptions
    landing       the first page: a GPT at work, the line of chapters (pictures: a small one for each)
    status        when each page was changed, each chapter executed
    heights       room for figures before they are alive, and for sections before they are drawn
    states        links that set a figure
    search        abbreviations, and the order of what is found
    pages         what a page loads, what it is called, repairs of the theme for screen readers
    assets        the theme's files made light after the build; figures; downloads
    fonts         fonts of icons and formulae, cut to what the pages draw with them
    joined        the stylesheets of a page as one file, its scripts as two
    serving       a small web server, for tests and measurements of the built site

Not here: what a directive's text means to the other editions too (`lmbook_press.myst`). Nothing outside imports from
here; a reader who runs the chapters needs none of it.
"""

from pathlib import Path

from lmbook_press.sphinx import (
    assets,
    chapters,
    citations,
    code,
    folding,
    heights,
    landing,
    mathematics,
    numbered,
    pages,
    predict,
    results,
    search,
    selfcheck,
    states,
    status,
)

TEMPLATES = Path(__file__).parent / "templates"


def _use_our_templates(app, config):
    config.templates_path.insert(0, str(TEMPLATES))


def setup(app):
    """Registers everything with Sphinx."""
    app.connect("config-inited", _use_our_templates)
    parts = (mathematics, code, selfcheck, predict, folding, citations, numbered, results, landing, status, heights)
    for part in (*parts, states, chapters, pages, search, assets):
        part.setup(app)
    return {"version": "1", "env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}
