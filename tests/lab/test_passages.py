"""The book's paragraphs, searched: what counts as a paragraph, what a question is, and what is stored."""

import json
from pathlib import Path

import numpy as np
import pytest

from lmbook.data.fetch import Unavailable
from lmbook.lab import passages
from lmbook.lab.pretrained import published_minilm
from lmbook_press.book import Book

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
KNOWN = {"she2020": "She (2020)", "share": "12.34", "count": "33281", "eq-one": "(1.3)"}
LONG = "word " * passages.LEAST

PAGE = f"""# Title

Before the first section {LONG}.

## A *first* section

A paragraph with a {{term}}`gate <Gates>` and {{cite:t}}`she2020` and $x_t$ and [a link](b.html), {LONG}.

- a list {LONG}.

:::{{self-check}} Asked
- [x] an option

  An explanation {LONG}.
:::

Too short.

where a formula goes on {LONG}.

## Exercises

An exercise {LONG}.
"""


def cells(*sources):
    return [{"cell_type": "markdown", "source": source} for source in sources]


def test_paragraphs_are_the_running_text_as_far_as_the_exercises():
    ((section, text),) = passages.paragraphs([*cells(PAGE), {"cell_type": "code", "source": LONG}], KNOWN)
    assert section == "A first section"
    assert text.startswith("A paragraph with a gate and She (2020) and x_t and a link, word")


def test_what_is_read_has_no_holes():
    text = "{glue:text}`share:.1f`% of {glue:text}`count:,d`, so {eq}`eq-one` of {cite:t}`she2020`, and {cite}`a` ends"
    assert passages.plain(passages.said(text, KNOWN)) == "12.3% of 33,281, so (1.3) of She (2020), and ends"
    with pytest.raises(KeyError):
        passages.said("{glue:text}`absent`", KNOWN)
    outputs = [{"metadata": {"scrapbook": {"name": "n", "mime_prefix": "x/"}}, "data": {"x/text/plain": "7"}}]
    code = {"cell_type": "code", "source": "", "outputs": [*outputs, {"output_type": "stream", "text": "7"}]}
    assert passages.numbers([code, *cells("$$\na\n$$ (eq-a)\n\n$$\nb\n$$ (eq-b)")], 3) == {
        "n": "7",
        "eq-a": "(3.1)",
        "eq-b": "(3.2)",
    }
    texts = [text for *_, text in passages.read(NOTEBOOKS)]
    assert len(texts) > 500
    assert [text for text in texts if "`" in text or "{" in text or "the formula (" in text] == []


def test_formulae_and_authors_are_called_as_on_the_site():
    book = Book.find(NOTEBOOKS)
    assert passages.authors(book.root / "book" / "references.bib") == {
        key: "{} ({})".format(*book.citation(key)) for key in book.bibliography
    }
    for path in sorted(NOTEBOOKS.glob("[0-9][0-9]-*.ipynb")):
        found = passages.numbers(json.loads(path.read_text("utf-8"))["cells"], int(path.name[:2]))
        there = {label: f"({number})" for label, (place, number) in book.equations.items() if place == path}
        assert {label: number for label, number in found.items() if label.startswith("eq-")} == there


def test_the_passages_that_are_shown_stand_in_the_book():
    """Else: python -m lmbook.lab.passages notebooks, and the cells of chapter 16 that show it."""
    rows = passages.read(NOTEBOOKS)
    today = [[*rows[i][:2], passages.excerpt(rows[i][2])] for i in passages.firsts(rows)]
    stored = passages.shipped()
    few = len(today) // 20  # who mends a word of a chapter need not make it anew
    assert len([one for one in stored["sections"] if one not in today]) <= few
    assert len([one for one in today if one not in stored["sections"]]) <= few
    for _, _, shown in today:
        whole = [text for *_, text in rows if shown.strip("…\u00a0") in text]
        assert whole
        assert shown.startswith("…") or any(text.startswith(shown.strip("…\u00a0")) for text in whole)


def test_an_excerpt_begins_early_and_has_no_formula():
    told = "A state keeps every symbol that it has read, in some form. The rest is noise, or even less, it seems to us."
    assert passages.excerpt(told) == told
    assert passages.excerpt(f"Take a = 1/2 of it. {told} So 1/2 ends it.") == f"…\u00a0{told}\u00a0…"
    assert passages.excerpt(f"{told} So 1/2 ends it.") == f"{told}\u00a0…"
    assert passages.excerpt("Here x = 1/2.") == "Here x = 1/2."
    cut = passages.excerpt(f"{told} {told}")
    assert cut.endswith("\u00a0…")
    assert len(cut) <= passages.SHOWN + 2
    assert passages.excerpt(f"It is of Bengio et al. (2003) and others. {told}").startswith(
        "It is of Bengio et al. (2003)"
    )


def test_the_search_gives_the_nearest_first():
    texts = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert passages.searched(np.array([[0.0, 1.0], [1.0, 0.1]]), texts, 2).tolist() == [[1, 2], [0, 2]]


def test_a_definition_is_asked_without_its_term():
    page = "Forget gate\n  A gate that forgets. Forgetful gates.\n\nKey\n  What a query\n  is compared with."
    found = dict(passages.glossary(f"{page}\n```\n"))
    assert found["key"] == "What a query is compared with."
    assert "gate" not in found["forget gate"].lower()


def test_what_is_stored_fits_together():
    stored = passages.shipped()
    sections, near = stored["sections"], stored["near"]
    assert passages.PLACE.stat().st_size < 150_000
    assert len(sections) == len(near) > 150
    for (chapter, _, text), row in zip(sections, near, strict=True):
        assert text
        assert len(row) == passages.NEAR
        assert [one[1] for one in row] == sorted((one[1] for one in row), reverse=True)
        assert all(sections[j][0] != chapter for j, *_ in row)
        assert all((place > 0) == bool(common) for *_, place, common in row)
    for name, marks in stored["right"].items():
        more = stored["right of twice as many"][name]
        assert len(marks) == len(more) == stored["terms"]
        assert stored["found"][name] == pytest.approx(marks.count("1") / len(marks))
        assert all(one <= two for one, two in zip(marks, more, strict=True)), "ten passages hold the first five"
    assert [answer["question"] for answer in stored["answers"]] == list(passages.QUESTIONS)


def test_a_small_book_is_searched(tmp_path):
    try:
        published_minilm()
    except Unavailable as error:
        pytest.skip(f"NO PUBLISHED ENCODER WAS READ: {error}")
    texts = {
        "A gate decides what is forgotten": "gate forgets the state of the network " * 6,
        "Boats lie in the harbour": "boat sails across the sea to the harbour " * 6,
        "Words become numbers": "tokens of a vocabulary are counted and numbered " * 6,
    }
    for n, (title, text) in enumerate(texts.items()):
        source = "\n\n".join(["# T", f"## {title}", f"The {text.strip()}."])
        place = tmp_path / "notebooks" / f"{n:02}-x.ipynb"
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps({"cells": cells(source)}))
    (tmp_path / "book").mkdir()
    page = "```{glossary}\nHarbour\n  Where ships are moored.\n\nAbsent\n  Nowhere.\n```\n"
    (tmp_path / "book" / "glossary.md").write_text(page)
    stored = passages.stored(tmp_path / "notebooks")
    assert (stored["passages"], stored["terms"]) == (3, 1), "a term that no chapter has is no question"
    assert list(stored["answers"][0]["vectors"][0][:2]) == [0, "A gate decides what is forgotten"]
    assert [one[0] for one in stored["near"][0]] != [0]
