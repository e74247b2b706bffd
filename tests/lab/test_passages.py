"""The book's paragraphs, searched: what counts as a paragraph, what a question is, and what is stored."""

import json

import numpy as np
import pytest

from lmbook.data.fetch import Unavailable
from lmbook.lab import passages
from lmbook.lab.pretrained import published_minilm

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
    ((section, text),) = passages.paragraphs([*cells(PAGE), {"cell_type": "code", "source": LONG}])
    assert section == "A first section"
    assert text.startswith("A paragraph with a gate and They and x_t and a link, word")


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
        assert [cosine for _, cosine in row] == sorted((cosine for _, cosine in row), reverse=True)
        assert all(sections[j][0] != chapter for j, _ in row)
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
    assert [[j for j, _ in row] for row in stored["near"]]
