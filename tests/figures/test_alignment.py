"""AlignmentExplorer: the file is what the shipped model does, and the page shows its numbers by mouse and keyboard."""

import json
import re

import pytest

from lmbook.figures import AlignmentExplorer
from lmbook.figures.alignment import PLACE, SIGNS, SLOTS, combinations, reference_of, shipped, source_of

FIRST = [0] * len(SLOTS)
LONGEST = [1, 2, 1, 2, 1, 1, 1, 2]


def says(page):
    return page.locator(".lm-says").inner_text()


def words(page):
    return page.locator(".lma-word")


def rows(page):
    page.locator("details").evaluate("(node) => { node.open = true; }")
    return [line.locator("th, td").all_inner_texts() for line in page.locator("tbody tr").all()]


# --- the stored grid ------------------------------------------------------------------------------------------------


def test_every_combination_is_in_the_file():
    found = list(combinations())
    assert len(found) == len(shipped()["grid"])
    assert PLACE.stat().st_size < 150_000
    for number, chosen in enumerate(found):
        figure_number = 0
        for choice, (_, options) in zip(chosen, SLOTS, strict=True):
            figure_number = figure_number * len(options) + choice
        assert figure_number == number


def test_the_file_is_what_the_shipped_model_does():
    import torch

    from lmbook import checkpoints
    from lmbook.decode import evaluating, greedy
    from lmbook.text import EOS_ID, SOS_ID

    model, (reader, writer), _ = checkpoints.load("caption-scores")
    for chosen in list(combinations())[::37]:
        source, target, weights = AlignmentExplorer(chosen=list(chosen)).look()
        with evaluating(model):
            x = torch.tensor([reader.encode(" ".join(source))])
            ids = [i for i in greedy(model, x, 40)[0][0] if i != EOS_ID]
            _, again = model(x, torch.tensor([[SOS_ID, *ids[:-1]]]), need_weights=True)
        assert target == writer.vocabulary.decode(ids)
        assert torch.allclose(torch.tensor(weights), again[0], atol=0.0101)


def test_wrong_translations_and_no_others_have_the_right_one_beside_them():
    for number, chosen in enumerate(combinations()):
        _, target, _ = AlignmentExplorer(chosen=list(chosen)).look() if number % 53 == 0 else (None, None, None)
        if target is not None:
            right = " ".join(reference_of(chosen))
            assert shipped()["wrong"].get(str(number), " ".join(target)) == right


def test_references_follow_the_rules_of_the_generator():
    """Captions of the generator that have the form of a combination come out as the generator has them."""
    from lmbook import data

    ours = {" ".join(source_of(chosen)): " ".join(reference_of(chosen)) for chosen in combinations()}
    made = [pair for seed in range(3) for pair in data.captions(4000, seed, 5, 6) if pair[0] in ours]
    assert len(made) >= 3
    assert all(ours[source] == target for source, target in made)


def test_weights_of_a_word_add_up_to_one():
    for chosen in list(combinations())[::29]:
        source, target, weights = AlignmentExplorer(chosen=list(chosen)).look()
        assert all(len(row) == len(source) for row in weights)
        assert all(abs(sum(row) - 1) < 0.005 * len(row) + 1e-9 for row in weights)
        assert len(weights) == len(target)


def test_alternative_text_and_fallback_hold_the_translation():
    figure = AlignmentExplorer()
    for chosen in (FIRST, LONGEST):
        figure.chosen = chosen
        source, target, _ = figure.look()
        assert " ".join(source) in figure.alt
        assert " ".join(target) in figure.alt
        assert all(word in figure.fallback() for word in target)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"chosen": [2, *FIRST[1:]]}, "chosen is"), ({"chosen": FIRST[1:]}, "chosen is"), ({"word": 30}, "word is 30")],
)
def test_what_does_not_exist_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        AlignmentExplorer(**wrong)


def test_signs_need_no_escape():
    assert len(set(SIGNS)) == len(SIGNS) >= 101
    assert json.dumps(SIGNS, ensure_ascii=False) == f'"{SIGNS}"'
    assert not re.search(r"[<>&]", SIGNS)


# --- on the page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", [FIRST, LONGEST, [0, 1, 0, 1, 0, 1, 1, 1]])
def test_the_page_shows_the_numbers_of_python(show, chosen):
    figure = AlignmentExplorer(chosen=chosen)
    source, target, weights = figure.look()
    page = show(figure)
    assert words(page).locator("span").all_inner_texts() == target
    assert page.locator(".lma-source > span").all_inner_texts() == source
    assert rows(page) == [[word, *(f"{w:.2f}" for w in row)] for word, row in zip(target, weights, strict=True)]
    for t in range(len(target)):
        words(page).nth(t).hover()
        assert page.locator(".lma-source small").all_inner_texts() == [f"{w:.2f}" for w in weights[t]]
        best = max(weights[t])
        assert f"Word {t + 1} of {len(target)}, “{target[t]}”" in says(page)
        assert f"with weight {best:.2f}" in says(page)


def test_every_select_changes_the_caption(show):
    page = show(AlignmentExplorer(chosen=FIRST))
    chosen = list(FIRST)
    for slot, (label, options) in enumerate(SLOTS):
        page.get_by_label(label, exact=True).select_option(index=len(options) - 1)
        chosen[slot] = len(options) - 1
        source, target, _ = AlignmentExplorer(chosen=chosen).look()
        assert page.locator(".lma-source > span").all_inner_texts() == source
        assert words(page).locator("span").all_inner_texts() == target
    right = "The translation is right" if str(len(shipped()["grid"]) - 1) not in shipped()["wrong"] else "is wrong"
    assert right in says(page)


def test_arrows_go_along_the_translation(show):
    page = show(AlignmentExplorer(chosen=LONGEST))
    words(page).first.focus()
    page.keyboard.press("ArrowRight")
    assert says(page).startswith("Word 2 of")
    page.keyboard.press("End")
    n = words(page).count()
    assert says(page).startswith(f"Word {n} of {n}")
    assert words(page).last.get_attribute("aria-pressed") == "true"
    assert page.locator('.lma-word[tabindex="0"]').count() == 1
    page.keyboard.press("Home")
    assert says(page).startswith("Word 1 of")


def test_a_shorter_translation_keeps_the_choice_in_range(show):
    page = show(AlignmentExplorer(chosen=LONGEST))
    words(page).last.click()
    page.get_by_label("where", exact=True).select_option(index=0)
    n = words(page).count()
    assert says(page).startswith(f"Word {n} of {n}")


def test_axe_finds_nothing(show, axe_in_every_view):
    page = show(AlignmentExplorer(), AlignmentExplorer(chosen=LONGEST))
    page.locator("summary").first.click()
    assert axe_in_every_view(page) == []


def test_it_fits_a_phone(show):
    page = show(AlignmentExplorer(chosen=LONGEST), width=360)
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for piece in page.locator(".lma-word, .lma-source, .lm-chart svg").all():
        box = piece.bounding_box()
        assert box["x"] + box["width"] <= 356


def test_the_result_is_read_out(show):
    page = show(AlignmentExplorer())
    words(page).nth(2).focus()
    page.wait_for_function("document.querySelector('[role=status]').textContent.startsWith('Word 3 of')")
    assert page.get_by_role("status").inner_text() == says(page)
