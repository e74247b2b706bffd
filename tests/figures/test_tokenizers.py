"""TokenizerComparison: the page cuts every text as lmbook.text does, and mouse, keyboard and kernel do the same."""

import pytest

from lmbook import data
from lmbook.figures import TokenizerComparison
from lmbook.figures.tokenizers import MERGES, MOST, NAMES, row
from lmbook.text import BytePairTokenizer, CharTokenizer, Vocabulary, WordTokenizer

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


def reference(text, merges=MERGES):
    """Ids by the package alone: characters, words, byte pairs."""
    stories = "\n".join(line for story in data.harbour_stories()["train"] for line in story)
    learned = BytePairTokenizer.train(stories, merges)
    by_words = WordTokenizer(Vocabulary.build(data.load("harbour")["train"]))
    return [tokenizer.encode(text) for tokenizer in (CharTokenizer.train(stories), by_words, learned)]


def lanes(page):
    return page.locator(".lmt-tokens").all()


def ids(page):
    return [[int(tile.get_attribute("data-id")) for tile in lane.locator("button").all()] for lane in lanes(page)]


def says(page):
    return page.locator(".lm-says").inner_text()


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


def test_rows_are_numbers_of_their_own():
    rows = [row(i, seed) for seed in range(3) for i in range(200)]
    assert len({tuple(numbers) for numbers in rows}) == 600
    flat = [x for numbers in rows for x in numbers]
    assert min(flat) >= -1
    assert max(flat) <= 1
    assert abs(sum(flat) / len(flat)) < 0.05


def test_the_state_is_small_and_the_same():
    assert TokenizerComparison().html() == TokenizerComparison().html()
    assert len(TokenizerComparison().html()) < 15_000


@pytest.mark.parametrize("merges", [-1, MERGES + 1])
def test_bad_arguments_are_named(merges):
    with pytest.raises(ValueError, match=f"merges is {merges}"):
        TokenizerComparison(merges=merges)


def test_alternative_text_follows_the_state():
    figure = TokenizerComparison()
    for name, value in [("text", "in the"), ("merges", 3)]:
        before = figure.alt
        setattr(figure, name, value)
        assert figure.alt != before


# --- on the page ----------------------------------------------------------------------------------------------------


def test_ids_are_those_of_the_package(show):
    page = show(TokenizerComparison(examples=TEXTS))
    for text in TEXTS:  # by the model, since a line of text cannot hold every character
        page.locator(".lm-chip").nth(TEXTS.index(text)).click()
        assert ids(page) == reference(text), text
    slider = page.get_by_role("slider", name="Merges used")
    for keys, merges in (("Home", 0), ("ArrowRight", 1), ("PageUp", None), ("End", MERGES)):
        slider.press(keys)
        now = int(slider.input_value())
        assert merges in (None, now)
        assert ids(page) == reference(TEXTS[-1], now)


def test_a_wrong_order_of_merges_would_be_noticed(show):
    figure = TokenizerComparison()
    figure.learned = figure.learned[2:4] + figure.learned[:2] + figure.learned[4:]
    assert ids(show(figure)) != reference(figure.text)


def test_tokens_and_rows_are_those_of_python(show):
    figure = TokenizerComparison("Käse on the quay")
    page = show(figure)
    page.locator("summary").click()
    cells = [line.locator("th, td").all_inner_texts() for line in page.locator("tbody tr").all()]
    expected = [
        [name, token.replace(" ", "␣"), str(i), "  ".join(f"{x:.2f}".replace("-", "−") for x in row(i, lane))]
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
    numbers = ", ".join(f"{x:.2f}".replace("-", "−") for x in row(i, 1)[:3])
    assert f"“the” has id {i} among words; row {i} of D begins {numbers}. 2 places" in says(page)


def test_unknown_words_are_named_and_markup_stays_text(show):
    page = show(TokenizerComparison())
    type_in(page, "<img src=x> the zebra")
    assert "Unknown words: “<”, “img”" in says(page)
    assert "“zebra”" in says(page)
    assert page.locator("figure img").count() == 0
    assert lanes(page)[1].locator(".lmt-unknown").count() == sum(i == 1 for i in reference("<img src=x> the zebra")[1])


def test_long_and_empty_texts_do_no_harm(show):
    page = show(TokenizerComparison("word " * 300))
    assert [len(tokens) for tokens in ids(page)] == [len(tokens) for tokens in reference(("word " * 300)[:MOST])]
    type_in(page, "")
    assert ids(page) == [[], [], []]
    assert "No token" in page.locator(".lm-body").inner_text()
    type_in(page, "sea")
    assert ids(page) == reference("sea")


def test_each_group_is_one_tab_stop(show):
    page = show(TokenizerComparison())
    page.get_by_label("Text", exact=True).focus()
    stops = []
    for _ in range(6):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("""() => { const node = document.activeElement;
              const group = node.closest("[role=group]")?.getAttribute("aria-label");
              return group?.split(":")[0] ?? node.type ?? node.localName; }""")
        )
    assert stops == ["Try", *NAMES, "range", "summary"]
    suppressed = "[...document.querySelectorAll('figure :is(button, input, summary, [tabindex])')]"
    assert page.evaluate(f"{suppressed}.every((node) => node.dataset.lmSuppressShortcuts === 'true')")


def test_axe_finds_nothing(show, axe_in_every_view):
    page = show(TokenizerComparison(), TokenizerComparison("港は静かです ⛵"))
    page.locator("summary").first.click()
    assert axe_in_every_view(page) == []


def test_it_fits_a_phone(show):
    page = show(TokenizerComparison("supercalifragilisticexpialidocious " * 3), width=360)
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for piece in page.locator(".lmt-token, .lmt-row").all():
        box = piece.bounding_box()
        assert box["x"] + box["width"] <= 350


def test_the_result_is_read_out(show):
    page = show(TokenizerComparison())
    type_in(page, "the sea")
    page.wait_for_function(
        "document.querySelector('[role=status]').textContent.startsWith('7 characters, 2 word tokens')"
    )
    assert page.get_by_role("status").inner_text() == says(page)
