"""NeighbourMap: any words are placed as by torch on the shipped vectors; the page does as Python does, by every way."""

import itertools
import math
import re

import pytest
import torch
from seen import cells_of, rightmost

from lmbook.figures import NeighbourMap
from lmbook.figures.neighbours import EXAMPLES, MOST, NAME, NEAR, _overlap, placed
from lmbook.lab import checkpoints
from lmbook.word2vec import nearest, principal_components


@pytest.fixture(scope="module")
def trained():
    model, reader, _ = checkpoints.load(NAME)
    return model.v.weight.detach(), reader.vocabulary


def says(page):
    """What is said of the chosen word, and of words that have no place."""
    return " ".join(page.locator(".lm-says, .lmn-rest").all_inner_texts())


def typed(page, text):
    """Asks for a text that was not placed before."""
    page.get_by_label("Words", exact=True).fill(text)
    page.get_by_role("button", name="Place them").click()
    page.locator(".lm-own-text[data-state=done], .lm-own-text[data-state=failed]").wait_for()


def words(page):
    return [text.split("read as")[0].strip() for text in page.locator(".lmn-word").all_text_contents()]


def numbers(page):
    page.locator("details").evaluate("(node) => { node.open = true; }")
    minus = lambda text: float(text.replace("−", "-"))  # noqa: E731
    return [(word, near, *map(minus, rest)) for word, near, *rest in cells_of(page)]


def same(shown, found):
    """Whether the page's table has the neighbours, cosines and places that Python finds."""
    at = {one["id"]: (one["x"], one["y"]) for one in found["points"]}
    pairs = zip(found["words"], found["near"], strict=True)
    rows = [(word["typed"], one["text"], one["cosine"], *at[one["id"]]) for word, near in pairs for one in near]
    return [row[:2] for row in shown] == [row[:2] for row in rows] and all(
        math.isclose(a, b, abs_tol=0.0051)
        for mine, theirs in zip(shown, rows, strict=True)
        for a, b in zip(mine[2:], theirs[2:], strict=True)
    )


# --- in Python ------------------------------------------------------------------------------------------------------


def test_neighbours_are_those_of_word2vec(trained):
    vectors, vocabulary = trained
    found = placed("october, Three")
    for word, near in zip(("october", "three"), found["near"], strict=True):
        wanted = nearest(vectors, vocabulary[word], 40)
        wanted = [(i, cosine) for i, cosine in wanted if vocabulary.tokens[i].isalnum()][:NEAR]
        assert [one["id"] for one in near] == [i for i, _ in wanted]
        assert [one["cosine"] for one in near] == pytest.approx([cosine for _, cosine in wanted], abs=1e-4)
    months = "january february march april may june july august september november december"
    assert sum(one["text"] in months.split() for one in found["near"][0]) >= 4


def test_the_plane_is_that_of_the_principal_components(trained):
    vectors, _ = trained
    found = placed(EXAMPLES[0])
    chosen = vectors[[one["id"] for one in found["points"]]]
    plane = principal_components(chosen)
    assert torch.allclose(torch.tensor([[one["x"], one["y"]] for one in found["points"]]), plane, atol=1e-3)
    share = plane.var(0).sum() / chosen.var(0).sum()
    assert found["share"] == pytest.approx(share.item(), abs=1e-3)


def test_an_unknown_word_has_no_place_and_a_text_without_words_is_refused():
    found = placed("zebrawood sea")
    assert found["words"][0]["text"] == "<unk>"
    assert found["near"][0] == []
    assert "<unk>" not in {one["text"] for one in found["points"]}
    assert placed("zebrawood")["points"] == []
    assert placed("one two three four five six seven eight")["left"] == 2
    with pytest.raises(ValueError, match=r"no word in '\?!'"):
        NeighbourMap("?!")


def test_the_state_is_small_and_the_same_and_has_a_drawing_without_scripts():
    html = NeighbourMap().html()
    assert html == NeighbourMap().html()
    assert len(html) < 25_000
    assert html.count("<circle") == len(placed(EXAMPLES[0])["points"])
    assert "<svg" not in NeighbourMap("zebrawood").fallback()


def test_the_words_of_the_drawing_without_scripts_do_not_overlap():
    for words in EXAMPLES:
        spots = []
        label = r'<text x="([\d.-]+)" y="([\d.-]+)"( text-anchor="end")? font-weight="\d+">([^<]+)<'
        for x, y, end, text in re.findall(label, NeighbourMap(words).fallback()):
            left, wide = float(x) - (5.5 * len(text) if end else 0), 5.5 * len(text)
            spots.append((left, float(y) - 9, left + wide, float(y) + 2))
        assert len(spots) > 5
        assert not [1 for one, other in itertools.combinations(spots, 2) if _overlap(one, other)]


# --- on the page ----------------------------------------------------------------------------------------------------


def test_words_of_the_readers_are_placed_as_by_torch(show):
    page = show(NeighbourMap())
    assert same(numbers(page), placed(EXAMPLES[0]))
    for text in ("Guitar, piano! church", "paris", "water water zebrawood his", "two three four five six seven eight"):
        typed(page, text)
        found = placed(text)
        assert words(page) == [word["typed"] for word in found["words"]]
        assert same(numbers(page), found)
        assert page.locator(".lmn-dot").count() == len(found["points"])
        assert page.locator(".lmn-link").count() == sum(map(len, found["near"]))
        assert (f"first {MOST} different" in says(page)) == (found["left"] > 0)
        if len(found["points"]) > 2:
            assert f"{found['share'] * 100:.0f} %" in says(page)


def test_another_neighbour_or_place_would_be_noticed():
    found = placed("paris")
    at = {one["id"]: (one["x"], one["y"]) for one in found["points"]}
    shown = [("paris", one["text"], one["cosine"], *at[one["id"]]) for one in found["near"][0]]
    assert same(shown, found)
    assert not same(shown[::-1], found)
    assert not same([(*row[:3], -row[3], row[4]) for row in shown], found)


def test_unknown_words_are_shown_as_what_they_become_and_markup_stays_text(show):
    page = show(NeighbourMap())
    typed(page, "<img src=x> zebrawood")
    assert page.locator("figure img").count() == 0
    assert "“zebrawood”" in says(page)
    assert "<unk>, a row that no training moved" in says(page)
    assert page.locator(".lmn-unknown").last.inner_text().split() == ["zebrawood", "read", "as", "→", "<unk>"]
    before = words(page)
    for text, fault in (("  ", "there is no word yet"), ("?!", "there is no word in it")):
        typed(page, text)
        assert fault in page.locator(".lm-own-text").inner_text()
        assert words(page) == before, "what was shown stays"


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_word_shows_its_neighbours_and_a_neighbour_joins_the_map(show, way):
    page = show(NeighbourMap(EXAMPLES[0]))
    found = placed(EXAMPLES[0])
    if way == "mouse":
        page.locator(".lmn-word").nth(2).click()
    else:
        page.locator(".lmn-word").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
    assert page.locator(".lmn-word[aria-pressed=true]").inner_text() == "mother"
    near = found["near"][2]
    assert f"Nearest to “mother”: {near[0]['text']} ({near[0]['cosine']:.2f})." in says(page)
    chips = page.locator(".lmn-near button")
    assert chips.all_inner_texts() == [f"{one['text']} {one['cosine']:.2f}" for one in near]
    assert page.locator(".lmn-now").count() == NEAR
    if way == "mouse":
        chips.nth(1).click()
    else:
        chips.first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
    joined = f"{EXAMPLES[0]} {near[1]['text']}"
    page.locator(f".lmn-word[aria-pressed=true]:has-text('{near[1]['text']}')").wait_for()
    assert page.get_by_label("Words", exact=True).input_value() == joined
    assert same(numbers(page), placed(joined))


def test_a_dot_places_its_word_and_every_dot_has_its_name(show):
    page, found = show(NeighbourMap(), width=390), placed(EXAMPLES[0])
    names = page.locator(".lmn-label").all_text_contents()
    assert sorted(names) == sorted(one["text"] for one in found["points"])
    far = found["near"][3][-1]
    page.locator(f"[data-id='{far['id']}']").dispatch_event("click")
    page.locator(f".lmn-word[aria-pressed=true]:has-text('{far['text']}')").wait_for()
    assert same(numbers(page), placed(f"{EXAMPLES[0]} {far['text']}"))
    page.locator(f"[data-id='{found['words'][0]['id']}']").dispatch_event("click")
    assert page.locator(".lmn-word[aria-pressed=true]").inner_text() == found["words"][0]["typed"]


def test_a_map_without_a_place_says_so(show):
    page = show(NeighbourMap())
    assert not page.locator(".lmn-nowhere").is_visible()
    typed(page, "zebrawood")
    assert page.locator(".lmn-nowhere").is_visible()


def test_a_bet_on_a_neighbour_is_answered_by_cosines(show, trained):
    vectors, vocabulary = trained
    page = show(NeighbourMap(), bets=True)
    page.get_by_label("Your bet").get_by_role("button", name="storm").click()
    at = lambda word: vectors[vocabulary[word]]  # noqa: E731
    wanted = {word: torch.cosine_similarity(at("red"), at(word), dim=0).item() for word in EXAMPLES[0].split()}
    best = max(wanted, key=wanted.get)
    words = page.locator(".lm-wager").inner_text()
    assert f"is nearest to “{best}”: {wanted[best]:.2f}" in words
    assert f"; “storm” has {wanted['storm']:.2f} (dashed)." in words
    assert page.locator(".lmn-bet").count() == 1


def test_the_address_places_words_and_each_group_is_one_tab_stop(show):
    page = show(NeighbourMap())
    page.evaluate("location.hash = '#figure=neighbours&words=london+red&chosen=1'")
    page.locator(".lmn-word:has-text('london')").wait_for()
    assert same(numbers(page), placed("london red"))
    page.get_by_label("Words", exact=True).focus()
    stops = []
    for _ in range(5):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("""() => { const node = document.activeElement;
              const group = node.closest("[role=group]")?.getAttribute("aria-label") ?? node.textContent;
              return group.split(":")[0]; }""")
        )
    assert stops == ["Place them", "Try", "Words on the map", "Its neighbours", "The numbers as a table"]


def test_it_fits_a_phone(show):
    page = show(NeighbourMap(), width=360)
    typed(page, "october november december january february three")
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert rightmost(page, ".lmn-word, .lmn-near button, .lmn-map svg, .lmn-label") <= 352
    page.wait_for_function("document.getAnimations().length === 0")  # the words have landed
    cover = page.locator(".lmn-label").evaluate_all(
        """(labels) => {
          const boxes = labels.map((label) => {
            const [{ x, y, width, height }, { e, f }] = [label.getBBox(), label.getCTM()];
            return { x: x + e, y: y + f, width, height };
          });
          const end = (box, side, size) => box[side] + box[size];
          const apart = (a, b, side, size, part) => (
            Math.max(a[side], b[side]) + part >= Math.min(end(a, side, size), end(b, side, size)));
          const both = (a, b) => !apart(a, b, "x", "width", 1) && !apart(a, b, "y", "height", 3);
          return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => both(a, b))).length;
        }"""
    )
    assert cover <= 2, "labels keep clear of each other, but for words that were typed"
