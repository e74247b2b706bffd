"""The Sphinx extension on small books of its own: mathematics, self-check questions, folding, numbers."""

import ast
import asyncio
import json
import logging
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from io import StringIO
from pathlib import Path

import pytest
from lxml import html
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from lmbook.drawings import pictures
from lmbook.drawings.shapes import Panel
from lmbook_press.myst import choices
from lmbook_press.site import repairs
from lmbook_press.site.features import folding, fonts, heights, mathematics, results, status
from lmbook_press.site.patching import patch

KATEX = Path(__file__).parents[3] / "book" / "_static" / "katex"
SETTINGS = {
    "extensions": ["myst_nb", "sphinx_exercise", "sphinxcontrib.bibtex", "lmbook_press.site"],
    "html_theme": "sphinx_book_theme",
    "html_math_renderer": "lmbook_katex",
    "bibtex_bibfiles": [],
    "myst_enable_extensions": ["amsmath", "colon_fence", "dollarmath"],
    "math_numfig": True,
    "math_eqref_format": "({number})",
    "numfig": True,
    "numfig_secnum_depth": 1,
    "nb_execution_mode": "off",
}


@pytest.fixture
def build(tmp_path):
    """build(index=TEXT, other=TEXT, ...) -> (html by page, warnings, exit status) of a strict build."""
    count = iter(range(99))

    def run(**pages):
        source = tmp_path / f"book{next(count)}"
        source.mkdir()
        for name, text in pages.items():
            (source / f"{name}.md").parent.mkdir(exist_ok=True)
            (source / f"{name}.md").write_text(text, encoding="utf8")
        warnings, out = StringIO(), source / "_build"
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                source, None, out, out / ".doctrees", "html", SETTINGS, StringIO(), warnings,
                warningiserror=True, keep_going=True,
            )  # fmt: skip
            app.build()
        html = {name: (out / f"{name}.html").read_text(encoding="utf8") for name in pages}
        return html, re.sub(r"\x1b\[[\d;]*m", "", warnings.getvalue()), app.statuscode

    return run


CHECK = """:::{self-check} Which is it, $a$ or $b$?
- [ ] It is $a$.

  No: $a$ is the other one.
- [x] It is `b`.

  Yes.

  $$
  b = b
  $$
:::
"""

# --- mathematics -------------------------------------------------------------------------------------------------


def test_stylesheet_and_fonts_are_of_the_version_that_renders():
    css = (KATEX / "katex.min.css").read_text()
    assert f'"{mathematics._engine().eval("katex.version")}"' in css
    asked = set(re.findall(r"url\(fonts/([^)]+)\)", css))
    assert asked == {font.name for font in (KATEX / "fonts").iterdir()}
    assert all(name.endswith(".woff2") for name in asked)
    assert "MIT" in (KATEX / "LICENSE").read_text()


@pytest.mark.parametrize("call", ["render", "mathml"])
def test_a_process_that_drew_a_formula_comes_to_its_end(call):
    """V8 loaded by another thread crashed it there, on processors with protection keys."""
    drawing = f"from lmbook_press.site.features import mathematics; mathematics.{call}('x^2')"
    subprocess.run([sys.executable, "-c", drawing], check=True, timeout=60)


def test_a_formula_is_drawn_for_the_eye_and_written_for_the_ear():
    html = mathematics.render(r"\frac{1}{T}\sum_{t=1}^T \log P(w_t \mid w_{<t})")
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML">' in html
    assert 'class="katex-html" aria-hidden="true"' in html
    assert 'display="block"' in mathematics.render("x", display=True)


def test_no_line_ends_at_the_bar_of_a_conditional_probability():
    drawn = mathematics.render(r"P(w_t \mid w_{<t}) = P(b)")
    assert drawn.count('class="base"') == 2
    assert "<mspace>" not in drawn


ODD = {r"T_{\max}": "Tmax", r"\underset{T \times d}{X}": "XT×d", r"\underset{m}{\mathbf{h}_t} = 1": "htm=1"}
ODD |= {r"a \bmod b": "amodb"}


@pytest.mark.parametrize("tex", ODD)
def test_what_katex_writes_is_valid_mathml(tex):
    found = re.search(r"<mrow>.*</mrow>(?=<annotation)", mathematics.render(tex))[0]
    tree = html.fragment_fromstring(found)
    assert [node.tag for node in tree.iter("mi", "mo", "mn", "mtext") if len(node)] == []
    assert {len(node) for node in tree.iter("msub", "munder")} <= {2}
    assert re.sub(r"\s", "", tree.text_content()) == ODD[tex]


def test_formulae_are_drawn_in_a_notebook_too():
    """Jupyter runs an event loop in the thread that asks; the engine took that for its own."""

    async def asked() -> str:
        mathematics._engine.cache_clear()
        return mathematics.mathml("a^2")

    mathematics._engine()  # whichever test comes first, this thread loads V8, whose memory is closed to other threads
    try:
        with ThreadPoolExecutor(1) as thread:  # in this one a browser's test may have left a loop
            assert "<math" in thread.submit(asyncio.run, asked()).result()
        assert "<math" in mathematics.mathml("a^2")  # and when that loop has ended
    finally:
        mathematics._engine.cache_clear()


@pytest.mark.parametrize(("tex", "position"), [(r"a + \nosuch{b}", 4), (r"x_{1", 4), (r"\frac{1}", 8)])
def test_a_faulty_formula_is_refused_with_its_position(tex, position):
    with pytest.raises(mathematics.MathError) as caught:
        mathematics.render(tex)
    assert caught.value.position == pytest.approx(position, abs=1)


@pytest.mark.parametrize("text", ["Inline $a + \\nosuch{b}$ here.", "$$\na + \\nosuch{b}\n$$ (eq-x)"])
def test_a_faulty_formula_fails_the_build_and_names_page_formula_and_position(build, text):
    _, warnings, status = build(index=f"# Title\n\n{text}\n")
    assert status == 1
    assert re.search(r"index\.md:\d* ?.*WARNING: faulty formula, position 4: .*nosuch", warnings)
    assert "a + \\nosuch{b}" in warnings


def test_a_line_break_outside_an_environment_is_a_fault(build):
    assert build(index="# Title\n\n$$\na \\\\ b\n$$\n")[2] == 1
    assert build(index="# Title\n\n$$\n\\begin{aligned} a \\\\ b \\end{aligned}\n$$\n")[2] == 0


def test_an_environment_without_dollars_is_a_fault(build):
    _, warnings, status = build(index="# Title\n\n\\begin{align*}\na\n\\end{align*}\n")
    assert status == 1
    assert "between lines of $$" in warnings


def test_numbers_follow_chapters_and_start_again_on_pages_without_one(build):
    two = "# {0}\n\n$$\na\n$$ ({0}-a)\n\n$$\nb\n$$ ({0}-b)\n\nSee {{eq}}`{0}-b`.\n"
    lists = "```{toctree}\nwarm\n```\n```{toctree}\n:numbered: 1\none\ntwo\n```\n```{toctree}\nend\n```\n"
    pages = {name: two.format(name) for name in ("warm", "one", "two", "end")}
    html, warnings, status = build(index=f"# Book\n\n{lists}", **pages)
    assert (warnings, status) == ("", 0)
    for name, numbers in {"warm": "12", "one": ["1.1", "1.2"], "two": ["2.1", "2.2"], "end": "12"}.items():
        assert re.findall(r'class="eqno">\(([\d.]+)\)', html[name]) == list(numbers)
        assert f'href="#equation-{name}-b">({numbers[1]})</a>' in html[name]


def test_a_chapter_has_the_number_of_its_file_though_earlier_ones_are_missing(build):
    late = "# Late\n\n## Part\n\n$$\na\n$$ (late-a)\n\nSee {eq}`late-a`.\n"
    lists = "```{toctree}\n:numbered: 1\nnotebooks/01-early\nnotebooks/07-late\n```\n"
    pages = {"notebooks/01-early": "# Early\n\n$$\na\n$$ (early-a)\n", "notebooks/07-late": late}
    html, warnings, status = build(index=f"# Book\n\n{lists}", **pages)
    assert (warnings, status) == ("", 0)
    assert re.findall(r'class="eqno">\(([\d.]+)\)', html["notebooks/07-late"]) == ["7.1"]
    assert 'href="#equation-late-a">(7.1)</a>' in html["notebooks/07-late"]
    assert re.findall(r">(\d)\. (Early|Late)<", html["index"])[:2] == [("1", "Early"), ("7", "Late")]


# --- numbered drawings -------------------------------------------------------------------------------------------


def test_a_figure_named_by_its_number_is_a_link_to_the_drawing(build):
    shown = '```{raw} html\n<figure class="lm-plot lm-drawing" data-drawing="shrinking-product"></figure>\n```\n'
    early = "# Early\n\nSee Figure 7.1, left, `Figure 7.1` and [Figure 7.1](../index.md); Figure 2 of theirs.\n"
    early += "\nOpen [a layer](#figure=opened&part=decoder.3) of it.\n"
    pages = {"notebooks/01-early": early, "notebooks/07-late": f"# Late\n\nAs in Figure 7.1.\n\n{shown}\n{shown}"}
    lists = "```{toctree}\nnotebooks/01-early\nnotebooks/07-late\n```\n"
    html, warnings, status = build(index=f"# Book\n\n{lists}", **pages)
    assert (warnings, status) == ("", 0)
    link = '<a class="lm-to reference internal" href="{}#figure-7-1">Figure 7.1</a>'
    assert html["notebooks/01-early"].count("#figure-7-1") == 1
    assert re.search(r'<a class="lm-state[^"]*" href="#figure=opened&amp;part=decoder.3">', html["notebooks/01-early"])
    assert f"See {link.format('07-late.html')}, left" in html["notebooks/01-early"]
    assert link.format("") in html["notebooks/07-late"]
    assert html["notebooks/07-late"].count('<figure id="figure-7-1"') == 1


def test_a_number_without_a_drawing_fails_the_build(build):
    _, warnings, status = build(index="# Book\n\nSee Figure 7.99.\n")
    assert status == 1
    assert "Figure 7.99" in warnings


# --- self-check --------------------------------------------------------------------------------------------------


def test_a_question_becomes_a_group_of_named_radio_buttons(build):
    html, warnings, status = build(index=f"# Title\n\n{CHECK}\n{CHECK}")
    assert (warnings, status) == ("", 0)
    page = html["index"]
    assert page.count("<fieldset>") == page.count("<legend>") == 2
    inputs = re.findall(r'<input type="radio" name="([\w-]+)" id="([\w-]+)"', page)
    assert [name for name, _ in inputs] == ["check-1", "check-1", "check-2", "check-2"]
    assert len({key for _, key in inputs}) == 4
    assert re.findall(r'<label for="([\w-]+)"', page) == [key for _, key in inputs]
    assert re.findall(r"<strong>(Right|Wrong)\.</strong>", page) == ["Wrong", "Right"] * 2


def test_two_builds_give_the_same_page(build):
    text = f"# Title\n\n{CHECK}\n$$\nx\n$$ (eq-x)\n"
    assert build(index=text)[0] == build(index=text)[0]


FAULTS = {
    "no option is marked as right": "- [ ] One.\n\n  Why.\n- [ ] Two.\n\n  Why.\n",
    "option 2 has no explanation": "- [x] One.\n\n  Why.\n- [ ] Two.\n",
    "option 1 is empty": "- [x]\n\n  Why.\n- [ ] Two.\n\n  Why.\n",
    "it has 1 options": "- [x] One.\n\n  Why.\n",
    "must be a list": "Some text first.\n\n- [x] One.\n\n  Why.\n",
    "is not indented": "- [x] One.\n\nWhy.\n- [ ] Two.\n\n  Why.\n",
}


def test_malformed_questions_fail_the_build_and_say_how(build):
    pages = [f":::{{self-check}} Which {number}?\n{body}:::\n" for number, body in enumerate(FAULTS.values())]
    _, warnings, status = build(index="# Title\n\n" + "\n".join(pages))
    assert status == 1
    for number, message in enumerate(FAULTS):
        (said,) = [line for line in warnings.splitlines() if f"'Which {number}?'" in line]
        assert message in said
        assert "index.md" in said


def test_options_keep_what_belongs_to_them():
    body = CHECK.splitlines()[1:-1]
    (wrong, first, answer, why), (right, second, _, long) = choices(body)
    assert (wrong, right) == (False, True)
    assert (first, second) == (0, 3)
    assert (answer, why) == (["It is $a$."], ["No: $a$ is the other one."])
    assert [line for line in long if line] == ["Yes.", "$$", "b = b", "$$"]


# --- exercises and what folds ------------------------------------------------------------------------------------

EXERCISE = """:::{exercise} 1.4 practice
:label: ex-1-4
:nonumber:
How many?
:::

```{solution-start} ex-1-4
:class: dropdown
```

Two, says the code.

```python
print(2)
```

```{solution-end}
```
"""


def test_a_solution_folds_around_all_of_it(build):
    html, warnings, status = build(index=f"# Title\n\n{EXERCISE}\nAfter.\n")
    assert (warnings, status) == ("", 0)
    box = re.search(
        r'<details class="[^"]*solution[^"]*" id="solution-ex-1-4">(.*?)</details>', html["index"], re.DOTALL
    )
    assert "Solution to Exercise 1.4" in re.search("<summary.*?</summary>", box[1], re.DOTALL)[0]
    assert "print" in box[1]
    assert "After." not in box[1]
    assert 'id="ex-1-4"' in html["index"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1.4 practice", ("1.4", "practice", "")),
        ("1.4 (check)", ("1.4", "check", "")),
        ("2.10 explore: Longer texts", ("2.10", "explore", "Longer texts")),
    ],
)
def test_the_title_of_an_exercise(written, shown):
    kind, *found = folding.TITLE.fullmatch(f"Exercise ({written})").groups()
    assert (kind, tuple(found)) == ("Exercise", shown)


def test_any_dropdown_folds(build):
    html, *_ = build(index="# Title\n\n:::{admonition} More\n:class: dropdown\nHidden.\n:::\n\n:::{note}\nOpen.\n:::\n")
    assert re.search(r"<details[^>]*>\s*<summary[^>]*>More</summary>", html["index"])
    assert html["index"].count("<details") == 1


# --- files -------------------------------------------------------------------------------------------------------


def test_a_section_below_the_title_says_how_high_it_may_be():
    def page(inner):
        below = f'<section id="a"><h2>A</h2>{inner}</section>\n<section id="b"></section>'
        return f'<section id="title"><h1>T</h1>{below}</section>'

    def room(inner):
        page_ = heights.roomy(page(inner))
        (high, low) = re.findall(r'<section id="[ab]" style="--lm-room:(\d+)px">', page_)
        assert re.sub(r' style="--lm-room:\d+px"', "", page_) == page(inner)  # nothing else is changed
        assert low == "0"
        return int(high)

    text, few = "<p>" + "word " * 200 + "</p>", room("<p>word</p>")
    assert room(text) > 20 * few
    assert room(f'<section id="c"><h3>C</h3>{text}</section>') == pytest.approx(room(text), abs=2)
    folded = f"<details><summary>Answer</summary>{text}</details>"
    assert few < room(folded) < room(text) / 4
    assert 150 < room("<pre>" + "<span>x</span>\n" * 10 + "</pre>") < 350  # ten lines
    assert room("<math>" + "x" * 500 + "</math>") == room("")


def test_rules_of_icons_nobody_uses_go():
    css = '.a{color:red}.fa-one:before,.fa-1:before{content:"\\31"}.fa-two:before{content:"\\f002"}.fa-spin{x:y}'
    assert fonts.trim_icon_rules(css, {"fa-two"}) == '.a{color:red}.fa-two:before{content:"\\f002"}.fa-spin{x:y}'
    assert '.fa-1:before{content:"\\31"}' in fonts.trim_icon_rules(css, {"fa-1"})


def test_the_chapters_of_a_model_are_those_whose_code_names_it(tmp_path):
    def chapter(name, *lines):
        cells = [{"cell_type": "code", "source": [line]} for line in lines]
        (tmp_path / name).write_text(json.dumps({"cells": cells}), "utf-8")

    chapter("06-x.ipynb", 'for cell in "gru", "lstm":\n    records(f"shakespeare-{cell}")', 'tables.table("names")')
    chapter("17-y.ipynb", 'checkpoints.load("shakespeare")', "# text: shakespeare-rnn")
    found = results.shown_in(tmp_path)
    assert found["shakespeare-gru"] == found["shakespeare-lstm"] == "[6](../notebooks/06-x.ipynb)"
    assert found["shakespeare"] == "[17](../notebooks/17-y.ipynb)"
    assert "6" in found["names-gpt"]
    assert not {"shakespeare-rnn", "shakespeare-scaling"} & found.keys()


# --- the first page, the room for figures, the record of the last run -------------------------------------------------


def test_every_chapter_has_a_picture_inside_its_frame():
    for number, draw in enumerate(pictures.PICTURES):
        panel = Panel(pictures.WIDTH, pictures.HEIGHT)
        draw(panel)
        svg = pictures.svg(number)
        assert 'aria-hidden="true"' in svg
        assert svg.count("<") > 8, draw.__name__
        for box in panel.boxes:
            assert -1 <= box.x <= box.x + box.width <= pictures.WIDTH + 1, draw.__name__
            assert -1 <= box.y <= box.y + box.height <= pictures.HEIGHT + 1, draw.__name__
        points = [point for path in panel.paths for point in path]
        assert all(0 <= x <= pictures.WIDTH and 0 <= y <= pictures.HEIGHT for x, y in points), draw.__name__
    assert len(pictures.PICTURES) == len(list((KATEX.parents[2] / "notebooks").glob("[0-9]*.ipynb")))


def test_a_station_leads_to_its_chapter_and_a_wrong_one_fails_the_build(build):
    entries = "03-x What <is> it?\n03-y What?\n03-x\n"
    text = f"# Book\n\n```{{toctree}}\nnotebooks/03-x\n```\n\n```{{stations}} 2\n{entries}```\n"
    html, warnings, status = build(**{"index": text, "notebooks/03-x": "# Words & vectors\n"})
    assert '<ol class="lm-stations" data-part="2">' in html["index"]
    assert '<a href="notebooks/03-x.html"><span class="lm-stop">3</span> Words &amp; vectors</a>' in html["index"]
    assert "What &lt;is&gt; it?" in html["index"]
    assert html["index"].count('class="lm-station"') == 1
    assert status == 1
    assert re.findall(r"stations: '([^']+)' is not a chapter", warnings) == ["03-y What?", "03-x"]


def test_room_is_kept_for_the_figures_that_were_measured():
    figure = '<figure class="lm-figure" data-module="a">x</figure>'
    one, two, three = heights.reserve(figure * 3, [[9, 8, 7], None]).split("</figure>")[:3]
    assert '<figure class="lm-figure" style="--lm-high-360:9px;--lm-high-768:8px;--lm-high-1280:7px" data' in one
    assert "style" not in two + three


def test_a_figure_carries_the_address_of_its_page_for_the_paper(build):
    raw = '```{raw} html\n<figure class="lm-figure" data-module="a"></figure>\n```\n'
    html, _, _ = build(**{"index": f"# Book\n\n```{{toctree}}\nb/c\n```\n\n{raw}", "b/c": f"# C\n\n{raw}"})
    assert '<figure class="lm-figure" data-at="index.html" data-module="a">' in html["index"]
    assert '<figure class="lm-figure" data-at="b/c.html" data-module="a">' in html["b/c"]


def test_a_run_is_recorded_when_all_cells_ran_and_shown_when_all_passed(tmp_path):
    from types import SimpleNamespace

    import nbformat

    source = (KATEX.parents[2] / "notebooks" / "conftest.py").read_text()
    names: dict = {}
    exec(compile(source, "conftest.py", "exec"), names)
    for name in ("01-a", "02-b", "03-c"):
        cells = [nbformat.v4.new_code_cell("1"), nbformat.v4.new_markdown_cell("x"), nbformat.v4.new_code_cell("2")]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / f"{name}.ipynb")
    report = lambda name, passed=True: SimpleNamespace(  # noqa: E731
        when="call", fspath=f"{name}.ipynb", duration=1.5, passed=passed
    )
    reports = [report("01-a"), report("01-a"), report("02-b"), report("02-b", passed=False), report("03-c")]
    names["record"](reports, tmp_path / status.RECORD, tmp_path)
    (run,) = status.recorded(tmp_path).items()
    assert (run[0], run[1]["seconds"], run[1]["cells"]) == ("01-a", 3.0, 2)
    assert status.recorded(tmp_path / "nothing") == {}


def test_a_patch_is_made_once_and_says_what_has_changed(tmp_path, caplog):
    script, logger = tmp_path / "theme.js", logging.getLogger("sphinx.lmbook_press.site.patching")
    logger.addHandler(caplog.handler)
    script.write_text("look at (boxes)")
    for _ in range(2):
        patch(script, "boxes", "no boxes", "the.module")
        assert script.read_text() == "look at (no boxes)"
    patch(tmp_path / "not there.js", "a", "b", "the.module")
    assert caplog.text == ""
    patch(script, "circles", "none", "the.module")
    assert "theme.js has changed: see the.module" in caplog.text
    logger.removeHandler(caplog.handler)


def test_a_repair_names_package_version_and_end():
    for path in Path(repairs.__file__).parent.glob("[!_]*.py"):
        head = ast.get_docstring(ast.parse(path.read_text("utf-8")))
        named = re.findall(r"([\w-]+) (\d+(?:\.\d+)+)", head)
        assert named, path.name
        assert all(version(package) == said for package, said in named), f"{path.name}: is the fault still there?"
        assert re.search(r"It can go (?:with|where|once) ", head), path.name
