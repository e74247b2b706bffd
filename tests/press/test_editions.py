"""The Colab edition: plain Markdown, no solutions, and an error for whatever it does not know."""

import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from raw_markup import raw_markup

from lmbook import drawings
from lmbook_press import myst
from lmbook_press.book import Book, BookError, anchor, term_anchor
from lmbook_press.drawn import gallery, redraw, shown_by
from lmbook_press.editions.colab import edition, needs_of, write_editions

ROOT = Path(__file__).parents[2]
SITE = "https://example.org/book"
CONFIG = f"repository:\n  url: https://example.org/somebody/lmbook\nhtml:\n  baseurl: {SITE}\n"
PROJECT = (
    '[project]\nname = "lmbook"\nversion = "1.2.3"\ndependencies = ["anywidget>=0.9", "numpy>=2.0", "torch>=2.6"]\n'
)
REFERENCES = r"""
@article{one, author = {M{\"u}ller, Eva}, title = {A}, year = {2001}}
@article{two, author = {de Vries, Jan and Li, Bo}, title = {B}, year = {2002}}
@article{three, author = {Abel, A. and Bebel, B. and Cebel, C.}, title = {C}, year = {2003}}
"""
GLOSSARY = "# Glossary\n\n```{glossary}\nPerplexity\n  How many.\n\nn-gram\nN-grams\n  So many in a row.\n```\n"


@pytest.fixture
def book(tmp_path) -> Book:
    """A book of one chapter; `chapter` fills it."""
    for folder in ("notebooks/homework", "book"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "book/references.bib").write_text(REFERENCES)
    (tmp_path / "book/glossary.md").write_text(GLOSSARY)
    (tmp_path / "book/bibliography.md").write_text("# Bibliography\n\n```{bibliography}\n```\n")
    other = new_notebook(cells=[new_markdown_cell("# Counting\n\n(sec-two)=\n## Part two\n\n$$\nz\n$$ (eq-z)")])
    nbformat.write(other, tmp_path / "notebooks/02-counting.ipynb")
    return Book(tmp_path, ref="0123abc")


def glue_cell(**values: object) -> nbformat.NotebookNode:
    cell = new_code_cell("store()", execution_count=1)
    for name, value in values.items():
        bundle = {"application/papermill.record/text/plain": repr(value)}
        cell.outputs.append(new_output("display_data", bundle, metadata={"scrapbook": {"name": name}}))
    return cell


def chapter(book: Book, *cells) -> Path:
    path = book.root / "notebooks/01-start.ipynb"
    made = [new_markdown_cell(cell) if isinstance(cell, str) else cell for cell in ("# Start", *cells)]
    nbformat.write(new_notebook(cells=made), path)
    return path


def convert(book: Book, *cells) -> str:
    """The Markdown of the edition of a chapter with these cells, without its title and set-up."""
    made = edition(chapter(book, *cells), book).cells[3:]
    return "\n\n".join(cell.source for cell in made if cell.cell_type == "markdown")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{cite:t}`one`", f"[Müller (2001)]({SITE}/book/bibliography.html)"),
        ("{cite:t}`two`", f"[de Vries and Li (2002)]({SITE}/book/bibliography.html)"),
        ("{cite}`three`", f"([Abel et al., 2003]({SITE}/book/bibliography.html))"),
        ("{cite}`one,two`", f"([Müller, 2001; de Vries and Li, 2002]({SITE}/book/bibliography.html))"),
        ("{term}`perplexity`", f"[perplexity]({SITE}/book/glossary.html#term-Perplexity)"),
        ("{term}`so many <N-grams>`", f"[so many]({SITE}/book/glossary.html#term-N-grams)"),
        ("{ref}`sec-two`", f"[Part two]({SITE}/notebooks/02-counting.html#sec-two)"),
        ("{ref}`there <sec-two>`", f"[there]({SITE}/notebooks/02-counting.html#sec-two)"),
        ("{eq}`eq-z`", f"[(2.1)]({SITE}/notebooks/02-counting.html#equation-eq-z)"),
        ("[next](02-counting.ipynb)", f"[next]({SITE}/notebooks/02-counting.html)"),
        ("[](02-counting.ipynb)", f"[Counting]({SITE}/notebooks/02-counting.html)"),
        ("[part](02-counting.ipynb#sec-two)", f"[part]({SITE}/notebooks/02-counting.html#sec-two)"),
        ("[part](02-counting.ipynb#part-two)", f"[part]({SITE}/notebooks/02-counting.html#part-two)"),
        ("## Why *not*?\n\n[above](#why-not)", f"## Why *not*?\n\n[above]({SITE}/notebooks/01-start.html#why-not)"),
        ("[words](../book/glossary.md)", f"[words]({SITE}/book/glossary.html)"),
        ("[out](https://example.com/a_(b))", "[out](https://example.com/a_(b))"),
        ("`{cite}` and ``{eq}`x` `` stay", "`{cite}` and ``{eq}`x` `` stay"),
        ("$a_{b}$ costs \\$3", "$a_{b}$ costs \\$3"),
        ("(here)=\n## Title", "## Title"),
        ("code:\n\n    {eq}`y`\n    $$ x", "code:\n\n    {eq}`y`\n    $$ x"),
        ('> [a\n> b](02-counting.ipynb "t")', f'> [a\n> b]({SITE}/notebooks/02-counting.html "t")'),
        ("```python\n:::{x} {eq}`y`\n```", "```python\n:::{x} {eq}`y`\n```"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
    ],
)
def test_markup_becomes_plain_markdown(book, source, expected):
    assert convert(book, source) == expected


def test_equations_are_numbered_by_chapter_in_order(book):
    text = convert(book, "$$\na\n$$ (eq-a)\n\n$$ plain $$\n\n$$ b $$ (eq-b)\n\nBy {eq}`eq-b` and {eq}`eq-a`.")
    assert text.startswith("$$\na\n\\tag{1.1}\n$$")
    assert "$$b \\tag{1.2}$$" in text
    assert "By (1.2) and (1.1)." in text
    assert text.count("\\tag") == 2


@pytest.mark.parametrize(
    ("value", "shown", "expected"),
    [
        (52.6431, "x:.1f", "52.6"),
        (2088628, "x:,.0f", "2,088,628"),
        (7, "x", "7"),
        ("cat's", "x", "cat's"),
        (0.25, "x:.0%", "25%"),
    ],
)
def test_numbers_come_from_the_stored_outputs(book, value, shown, expected):
    assert convert(book, glue_cell(x=value), f"It is {{glue:text}}`{shown}`.") == f"It is {expected}."


@pytest.mark.parametrize("value", [52.6431, 7, 2088628, "word", True])
@pytest.mark.parametrize("form", ["", ":.2f", ":,.0f", ":.0%", ":d", ":,d", ":s", ":>8s"])
def test_a_number_reads_as_on_the_site(book, value, form):
    from myst_nb.core.variables import format_plain_text

    try:
        theirs = format_plain_text(repr(value), form[1:] or "s")
    except ValueError:
        with pytest.raises(BookError, match="cannot be shown"):
            convert(book, glue_cell(x=value), f"It is {{glue:text}}`x{form}`.")
    else:
        assert convert(book, glue_cell(x=value), f"It is {{glue:text}}`x{form}`.") == f"It is {theirs}."


def test_mathematics_in_a_quote_or_a_list_is_numbered_too_and_stays_on_one_line(book):
    text = convert(book, "> $$\n> a\n> = b\n> $$ (eq-a)\n\n1. c\n\n   $$\n   d\n   $$ (eq-d)")
    assert text == "> $$a = b \\tag{1.1}$$\n\n1. c\n\n   $$d \\tag{1.2}$$"


def test_the_editions_know_every_extension_of_the_markup_that_the_site_has():
    assert set(Book(ROOT).config["parse"]["myst_enable_extensions"]) <= myst.EXTENSIONS


def test_an_admonition_becomes_a_quote_and_mathematics_in_it_one_line(book):
    text = convert(book, ":::{admonition} Predict first\n:class: predict\nHow *many*?\n\n$$\na\n= b\n$$ (eq-a)\n:::")
    assert text == "> **Predict first**\n>\n> How *many*?\n>\n> $$a = b \\tag{1.1}$$"


def test_a_link_that_sets_a_figure_leads_to_the_site(book):
    text = convert(book, "Open [a layer](#figure=opened&part=decoder.3).")
    assert text == f"Open [a layer]({SITE}/notebooks/01-start.html#figure=opened&part=decoder.3)."


def test_a_drop_down_opens_with_a_click(book):
    text = convert(book, ":::{tip}\n:class: dropdown\nTry `x`.\n:::")
    assert text == "<details>\n<summary><b>Tip</b></summary>\n\nTry `x`.\n\n</details>"


CHECK = ":::{self-check} Which?\n- [ ] One,\n  or so.\n\n  No, {eq}`eq-z`.\n- [x] Two.\n\n  Yes.\n:::"


def test_a_self_check_hides_each_explanation_under_its_option(book):
    text = convert(book, CHECK)
    question, first, second = re.split(r"- \*\*[AB]\.\*\* ", text)
    assert question == "**Check yourself.** Which?\n\n"
    explained = {"One,\n  or so.\n\n  <details>": "**Not so.** No, [(2.1)]", "Two.\n\n  <details>": "**Right.** Yes."}
    for option in (first, second):
        (why,) = [why for start, why in explained.items() if option.startswith(start)]
        assert why in option
    assert text.count("<details>") == text.count("</details>") == 2


def test_solutions_become_a_link_over_several_cells_and_their_code_is_gone(book):
    exercise = ":::{exercise} 1.4 practice\n:label: ex-1-4\n:nonumber:\nHow long?\n:::\n\n"
    exercise += "```{solution-start} ex-1-4\n:class: dropdown\n```\nSECRET one"
    cells = (
        exercise,
        new_code_cell("SECRET_two()"),
        "SECRET three {unknown}`x`\n\n```{solution-end}\n```\n\nGoing on.",
    )
    made = edition(chapter(book, *cells), book)
    everything = "\n".join(cell.source for cell in made.cells)
    assert "SECRET" not in everything
    assert "**Exercise 1.4 (practice, about 5 minutes).**\n\nHow long?" in everything
    assert f"[Solution of exercise 1.4 on the book's page]({SITE}/notebooks/01-start.html#ex-1-4)" in everything
    assert "Going on." in everything
    assert [cell.cell_type for cell in made.cells].count("code") == 1  # the set-up


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        ("a\n\n:::{figure} x.png\n:::", 3, "figure"),
        ("a\nb {numref}`x`", 2, "numref"),
        ("```{code-cell}\n1\n```", 1, "code-cell"),
        ("a\n:::{note}\nnever closed", 2, "never closed"),
        ("{eq}`eq-nowhere`", 1, "no equation has the label eq-nowhere"),
        ("a\n\nb\n{cite}`nobody`", 4, "no entry 'nobody'"),
        ("{term}`zyx`", 1, "no term 'zyx'"),
        ("{ref}`nowhere`", 1, "no section"),
        ("{glue:text}`nothing:.2f`", 1, "no cell of this notebook stored 'nothing'"),
        ("[x](03-missing.ipynb)", 1, "leads to no page"),
        ("[x](02-counting.ipynb#nowhere)", 1, "02-counting.ipynb has no section nowhere"),
        ("[x](#nowhere)", 1, "no section nowhere"),
        ("[x](data.csv)", 1, "leads to no page"),
        ("![x](picture.png)", 1, "picture"),
        ("a footnote[^1]", 1, "footnote"),
        ("a\n\n[^1]: one", 3, "footnote"),
        ("- a\n\n  | b |\n  |---|\n  | {eq}`no` |", 5, "no equation"),
        ("text\n$$\na\n$$ (eq-a)", 2, "no blank line before it"),
        ("{{ name }}", 1, "substitution"),
        ("[x]{.big}", 1, "attributes"),
        ("% hidden", 1, "comment"),
        ("a\n+++\nb", 2, "block break"),
        ("$$\na", 1, "no closing"),
        (":::{admonition}\nx\n:::", 1, "is not followed by its title"),
        ("```{solution-end}\n```", 1, "without a {solution-start}"),
        ("```{solution-start} ex-1\n```", None, "no {solution-end}"),
        (":::{note}\ntext\n\n{cite}`nobody`\n:::", 4, "nobody"),
        ("- item\n\n  :::{note}\n  x\n  :::", 3, "indented"),
        (":::{self-check} Which?\n- [ ] One.\n- [x] Two.\n\n  Yes.\n:::", 1, "option 1 has no explanation"),
        (":::{self-check} Which?\n- [ ] One.\n\n  No.\n- [ ] Two.\n\n  No.\n:::", 1, "no option is marked as right"),
        (":::{self-check}\n- [x] One.\n\n  No.\n:::", 1, "is not followed by its title, its question"),
        (":::{admonition} A\n::::{exercise} 1.1 check\n::::\n:::", 2, "exercise"),
        (":::\nx\n:::", 1, "names no directive"),
    ],
)
def test_unknown_markup_is_an_error_that_names_notebook_cell_and_line(book, source, line, reason):
    with pytest.raises(BookError) as caught:
        convert(book, "A paragraph.", source)
    said = str(caught.value)
    assert reason in said
    place = "notebooks/01-start.ipynb, cell 3" + (f", line {line}:" if line else ":")
    assert said.startswith(place)


def test_a_raw_cell_is_an_error(book):
    with pytest.raises(BookError, match="cell 2: a raw cell"):
        edition(chapter(book, nbformat.v4.new_raw_cell("x")), book)


@pytest.mark.parametrize(
    "text",
    [
        ":::{note}",
        "{eq}`x`",
        "(sec)=",
        "$$ (eq-a)",
        "```{note}",
        "[x](../book/a.md)",
        "x[^1]",
        "{{ a }}",
        "[a]{.b}",
        "% no",
    ],
)
def test_the_last_look_finds_raw_markup(text):
    assert raw_markup(f"before\n\n{text}\n\nafter") != []


@pytest.mark.parametrize(
    "text",
    ["`{eq}` is code", "$x_{a}$ and $$a$$", "```\n:::{note}\n```", "[a](https://b.c) {braces} (x)=y", "5% of it"],
)
def test_the_last_look_lets_plain_markdown_pass(text):
    assert raw_markup(f"before\n\n{text}\n\nafter") == []


def test_the_set_up_cell_comes_first_and_names_source_commit_and_version(book):
    made = edition(chapter(book, new_code_cell("import lmbook")), book)
    first = made.cells[0]
    assert first.cell_type == "code"
    compile(first.source, "set-up", "exec")
    assert 'VERSION = "1.2.3"' in first.source
    assert 'SOURCE = "git+https://example.org/somebody/lmbook"' in first.source
    assert 'COMMIT = "0123abc"' in first.source
    assert 'NEEDS = ["anywidget>=0.9"]' in first.source  # never torch, never numpy
    local = Book(book.root, source="git+file:///x", ref="9")
    assert 'SOURCE = "git+file:///x"' in edition(book.root / "notebooks/01-start.ipynb", local).cells[0].source
    nbformat.validate(made)


def test_what_colab_lacks_is_asked_for_by_the_chapters_that_use_it(book):
    uses = new_notebook(cells=[new_code_cell("from lmbook.metrics import sacrebleu")])
    only_names = new_notebook(cells=[new_markdown_cell("We mention sacrebleu.")])
    through_us = new_notebook(cells=[new_code_cell("metrics.sacrebleu_score(ours, theirs)")])
    assert "sacrebleu" in needs_of(uses, book)
    assert "sacrebleu" in needs_of(through_us, book)
    assert "sacrebleu" not in needs_of(only_names, book)
    images = new_notebook(cells=[new_code_cell("split = digits.parts()")])  # through our recipes
    assert "scikit-learn" in needs_of(images, book)


def test_outputs_are_cleared_and_the_source_notebook_is_left_alone(book):
    path = chapter(book, glue_cell(x=1), "{glue:text}`x`")
    before = path.read_bytes()
    made = edition(path, book)
    assert all(not cell.outputs and cell.execution_count is None for cell in made.cells if cell.cell_type == "code")
    assert path.read_bytes() == before


def test_a_cell_that_is_folded_on_the_page_is_folded_in_colab_and_jupyter(book):
    folded = edition(chapter(book, new_code_cell("x = 1", metadata={"tags": ["hide-input"]})), book).cells[-1]
    assert folded.source.splitlines() == ["# @title The code of this cell is folded", "x = 1"]
    assert folded.metadata.cellView == "form"
    assert folded.metadata.jupyter.source_hidden


def test_a_drawing_is_stored_in_the_edition_as_its_source_has_it_now(book):
    """It is no result of a run, so a reader sees it before running anything."""
    source = 'from lmbook import drawings\n\ndrawings.show("lstm-cell")'
    path = chapter(book, new_code_cell(source, metadata={"tags": ["remove-input"]}))
    assert redraw(path) == ["lstm-cell"]
    assert redraw(path) == []
    made = edition(path, book).cells[-1]
    assert made.outputs == [new_output("display_data", drawings.bundle("lstm-cell"))]
    assert made.metadata.cellView == "form"
    assert shown_by(new_code_cell(source + "\nprint(1)")) is None


def test_the_gallery_has_every_drawing_in_files_that_stand_alone(tmp_path):
    paths = gallery(tmp_path)
    trees = [ElementTree.parse(path).getroot() for path in paths[:-1]]
    assert {tree.tag for tree in trees} == {"{http://www.w3.org/2000/svg}svg"}
    assert len(paths) == 1 + sum(len(drawn.make()) for drawn in drawings.every().values())
    assert paths[-1].read_text("utf-8").count("data-drawing=") == 4 * len(drawings.every())


def test_nothing_is_written_if_one_chapter_fails(book, tmp_path):
    chapter(book, "{unknown}`x`")
    with pytest.raises(BookError):
        write_editions(tmp_path / "out", book)
    assert not (tmp_path / "out").exists()
    chapter(book, "fine")
    written = write_editions(tmp_path / "out", book)
    names = {path.relative_to(tmp_path / "out").as_posix() for path in written}
    assert names == {"notebooks/01-start.ipynb", "notebooks/02-counting.ipynb"}
    assert {p.name for p in (tmp_path / "out/notebooks").iterdir()} == {"01-start.ipynb", "02-counting.ipynb"}


def test_a_setting_that_is_missing_is_named(book):
    path = chapter(book, "x")
    (book.root / "_config.yml").write_text("title: x\n")
    with pytest.raises(BookError, match=r"_config\.yml does not set"):
        edition(path, Book(book.root, ref="1"))


def test_the_commit_is_the_one_checked_out_and_its_absence_is_said(book):
    with pytest.raises(BookError, match="--ref"):
        _ = Book(book.root).install_ref
    assert Book(ROOT, ref="abc").install_ref == "abc"
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode == 0:
        assert Book(ROOT).install_ref == git.stdout.strip()


def test_an_equation_label_used_twice_is_an_error(book):
    with pytest.raises(BookError, match="eq-z is used twice"):
        convert(book, "$$\na\n$$ (eq-z)\n\n{eq}`eq-z`")


def test_anchors_are_those_of_the_site():
    from docutils.nodes import make_id
    from sphinx.util.nodes import _make_id

    for label in ("sec_one", "Sec: Two", "1-three", "é b"):
        assert anchor(label) == make_id(label)
    for term in ("Perplexity", "Add-k smoothing", "Kneser-Ney (smoothing)", "Bits and nats", "<unk>"):
        assert term_anchor(term) == _make_id(f"term-{term}")


CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")) + sorted(
    (ROOT / "notebooks/homework").glob("[0-9]*.ipynb")
)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.relative_to(ROOT / "notebooks").as_posix())
def test_the_books_own_notebooks_convert_without_raw_markup(path):
    made = edition(path, Book.find(ROOT, ref="0123abc"))
    nbformat.validate(made)
    for number, cell in enumerate(made.cells):
        if cell.cell_type == "markdown":
            assert raw_markup(cell.source) == [], number
            assert cell.source.count("<details>") == cell.source.count("</details>")
    assert "BEGIN SOLUTION" not in str(made)
    assert "solution-start" not in str(made)
