"""TokenizerComparison: the page cuts every text as lmbook.text does, and mouse, keyboard and kernel do the same."""

import base64
import re
from functools import cache

import numpy as np
import pytest
import torch
from seen import cells_of, each, says

from lmbook import data
from lmbook.figures import TokenizerComparison, tokenizers
from lmbook.figures.tokenizers import MERGES, MOST, NAMES, table
from lmbook.text import BytePairTokenizer, CharTokenizer, Vocabulary, WordTokenizer
from lmbook.word2vec import nearest

TEXTS = [
    "The lighthouse keeper sees the submarine.",
    "",
    "   ",
    "Anna's boat, Anna’s boat!",
    "  two  blanks,\tand a tab \x85\x1c here",
    "naïve café Ærøskøbing ΟΔΟΣ İstanbul ß",
    "e\u0301 zero\u200bwidth, no\u00a0break, bom\ufeffhere _under_",
    "港は静かです ⛵️ 👩‍👧 ½ ² Ⅷ ٣٤",
    '<img src=x> <eos> <unk> & "quotes"',
    "aaaaaaaa the the the thethethe",
]


@cache
def of_the_package(merges):
    """The three tokenizers, trained anew, by characters, words, byte pairs."""
    stories = "\n".join(line for story in data.harbour_stories()["train"] for line in story)
    by_words = WordTokenizer(Vocabulary.build(data.load("harbour")["train"]))
    return CharTokenizer.train(stories), by_words, BytePairTokenizer.train(stories, merges)


def reference(text, merges=MERGES):
    """Ids by the package alone."""
    return [tokenizer.encode(text) for tokenizer in of_the_package(merges)]


def lanes(page):
    return page.locator(".lmt-tokens").all()


def ids(page):
    return [[int(number) for (number,) in each(lane, "button", "data-id")] for lane in lanes(page)]


def type_in(page, text):
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_label("Text", exact=True).press("Enter")


# --- the first view, in Python --------------------------------------------------------------------------------------


@pytest.mark.parametrize("merges", [0, 7, MERGES])
def test_python_shows_the_tokens_of_the_package(merges):
    figure = TokenizerComparison(merges=merges)
    shown = figure.tokens()
    assert [[i for _, i in tokens] for _, _, tokens in shown] == reference(figure.text, merges)
    assert [name for name, _, _ in shown] == list(NAMES)
    assert shown[2][1] == 261 + merges
    for name, size, tokens in shown:
        assert f"{name}: {len(tokens)} tokens of {size} types" in figure.alt
    assert "".join(token for token, _ in shown[2][2]) == figure.text


def by_name(lane):
    """(ids by name, names) of a tokenizer."""
    fixed = TokenizerComparison().fixed
    if lane < 2:
        names = fixed[lane].vocabulary.tokens
    else:
        stories = "\n".join(line for story in data.harbour_stories()["train"] for line in story)
        names = [piece.decode(errors="replace") for piece in BytePairTokenizer.train(stories, MERGES).pieces]
    return {name: i for i, name in enumerate(names)}, names


@pytest.mark.parametrize(
    ("lane", "token", "like"), [(0, "a", set("eiou")), (1, "she", {"he", "mother"}), (2, " harbour", {" sea", " town"})]
)
def test_rows_are_trained_and_what_is_used_alike_is_alike(lane, token, like):
    ids, names = by_name(lane)
    assert len(names) == len(table(lane))
    near = {names[i] for i, _ in nearest(torch.from_numpy(table(lane).copy()), ids[token], 4)}
    assert len(near & like) >= 2, near


@pytest.mark.parametrize("lane", range(3))
def test_a_type_that_no_story_holds_has_a_row_of_zeros(lane):
    stories = "\n".join(line for story in data.harbour_stories()["train"] for line in story)
    cuts = [*TokenizerComparison().fixed[: lane + 1][-1:]] if lane < 2 else []
    learned = BytePairTokenizer.train(stories, MERGES).merges
    cuts = cuts or [BytePairTokenizer(learned[:cut]) for cut in tokenizers.CUTS]
    seen = np.zeros(len(table(lane)), bool)
    for cut in cuts:
        seen[np.unique(cut.encode(stories))] = True
    assert (table(lane).any(axis=1) == seen).all()
    assert not seen[0]


def test_the_stored_tables_are_those_of_the_training(monkeypatch):
    """A few steps only: of the right size, and stored as they are read."""
    monkeypatch.setattr(tokenizers, "TRAINING", ((2, 2), (2, 2), (3, 2)))
    for lane, text in enumerate(tokenizers.compute()):
        rows = np.frombuffer(base64.b64decode(text), np.int8).reshape(-1, tokenizers.WIDTH)
        assert rows.shape == table(lane).shape
        assert abs(rows).max() == 127
        assert (rows.any(axis=1) <= table(lane).any(axis=1)).all()


# --- on the page ----------------------------------------------------------------------------------------------------


def test_ids_are_those_of_the_package(show):
    page = show(TokenizerComparison(examples=TEXTS))
    for text in TEXTS:  # by the model, since a line of text cannot hold every character
        page.locator(".lm-chip").nth(TEXTS.index(text)).click()
        assert ids(page) == [tokens[:50] for tokens in reference(text)], text
    slider = page.get_by_role("slider", name="Merges used")
    for keys, merges in (("Home", 0), ("ArrowRight", 1), ("PageUp", None), ("End", MERGES)):
        slider.press(keys)
        now = int(slider.input_value())
        assert merges in (None, now)
        assert ids(page) == [tokens[:50] for tokens in reference(TEXTS[-1], now)]


def test_a_wrong_order_of_merges_would_be_noticed(show):
    figure = TokenizerComparison()
    figure.learned = figure.learned[2:4] + figure.learned[:2] + figure.learned[4:]
    assert ids(show(figure)) != reference(figure.text)


def test_tokens_and_rows_are_those_of_python(show):
    figure = TokenizerComparison("Käse on the quay")
    page = show(figure)
    page.locator("summary").click()
    page.locator("tbody tr").first.wait_for()  # it is filled once it is open
    cells = cells_of(page)
    expected = [
        [name, token.replace(" ", "␣"), str(i), "  ".join(f"{x:.2f}".replace("-", "−") for x in table(lane)[i])]
        for lane, (name, _, tokens) in enumerate(figure.tokens())
        for token, i in tokens
    ]
    assert [[*cell[:3], " ".join(cell[3].split())] for cell in cells] == [
        [*line[:3], " ".join(line[3].replace("−0.00", "0.00").split())] for line in expected
    ]


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_token_shows_its_row_and_its_other_places(show, way):
    page = show(TokenizerComparison("the sea and the sky"))
    lane = lanes(page)[1]
    third = lane.locator("button").nth(3)
    if way == "mouse":
        third.click()
    else:
        lane.locator("button").first.focus()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        assert third.evaluate("(tile) => tile === document.activeElement")
    i = int(third.get_attribute("data-id"))
    assert third.get_attribute("aria-pressed") == "true"
    assert [tile.get_attribute("data-id") for tile in lane.locator(".lmt-same").all()] == [str(i)] * 2
    assert page.locator(".lmt-chosen").inner_text().split() == ["row", str(i), "the"]
    _, names = by_name(1)
    near = nearest(torch.from_numpy(table(1).copy()), i, 4)
    like = [f"“{names[other]}” ({cosine:.2f})" for other, cosine in near]
    assert says(page) == f"“the” has id {i} among words, 2 times here. Nearest row: that of {like[0]}."
    shown = [line.split()[1:] for line in page.locator(".lmt-row").all_inner_texts()]
    assert shown[1:] == [[str(other), names[other], f"{cosine:.2f}"] for other, cosine in near]


def test_a_row_that_no_training_moved_says_so(show):
    page = show(TokenizerComparison("the zebra"))
    lanes(page)[1].locator("button").nth(1).click()
    assert "No training moved row 1 of D" in says(page)
    assert page.locator(".lmt-row").count() == 1


def test_unknown_words_are_named_and_markup_stays_text(show):
    page = show(TokenizerComparison())
    type_in(page, "<img src=x> the zebra")
    assert "Unknown words: “<”, “img”" in says(page)
    assert "“zebra”" in says(page)
    assert page.locator("figure img").count() == 0
    assert lanes(page)[1].locator(".lmt-unknown").count() == sum(i == 1 for i in reference("<img src=x> the zebra")[1])


def test_long_and_empty_texts_do_no_harm(show):
    page = show(TokenizerComparison("word " * 300))
    lanes = reference(("word " * 300)[:MOST])
    assert ids(page) == [tokens[:50] for tokens in lanes]
    assert [len(tokens) - 50 for tokens in lanes if len(tokens) > 50] == [
        int(re.search(r"\d+", more)[0]) for more in page.locator(".lmt-tokens > small").all_inner_texts()
    ]
    type_in(page, "")
    assert ids(page) == [[], [], []]
    assert "No token" in page.locator(".lm-body").inner_text()
    type_in(page, "sea")
    assert ids(page) == reference("sea")


def test_each_group_is_one_tab_stop(show):
    page = show(TokenizerComparison())
    page.get_by_label("Text", exact=True).focus()
    stops = []
    for _ in range(7):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("""() => { const node = document.activeElement;
              const group = node.closest("[role=group]")?.getAttribute("aria-label");
              return group?.split(":")[0] ?? node.type ?? node.localName; }""")
        )
    assert stops == ["Try", "Your bet", *NAMES, "range", "summary"]
