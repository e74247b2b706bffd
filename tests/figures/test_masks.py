"""MaskPainter: what can be reached is what derivatives and Python say, for painted masks too, by mouse and by keys."""

import random

import numpy as np
import pytest
import torch
from seen import cells_of, says
from traitlets import TraitError

from lmbook.attention import causal_mask
from lmbook.figures import MaskPainter
from lmbook.figures.masks import PRESETS, WORDS, preset, reach
from lmbook.layers import Encoder

T = len(WORDS)


def painted(seed, share=0.25):
    rng = random.Random(seed)
    return [[int(rng.random() < share) for _ in range(T)] for _ in range(T)]


def cell(page, output, place):
    return page.locator("button.lmk-cell").nth(T * (output - 1) + place - 1)


def shown(page):
    """What can be seen after all layers, as rows of 0 and 1."""
    marks = page.locator("button.lmk-cell").evaluate_all(
        "(cells) => cells.map((c) => Number(c.classList.contains('lmk-on') || c.classList.contains('lmk-leak')))"
    )
    return [marks[i : i + T] for i in range(0, T * T, T)]


def hatched(page):
    return page.locator("button.lmk-cell.lmk-leak").count()


def places(text):
    """The places that a list such as "1, 3 to 5 and 8" names, from 0."""
    if text == f"all {T}":
        return list(range(T))
    ends = [part.split(" to ") for part in text.replace(" and ", ", ").split(", ") if part != "none"]
    return [place for first, *last in ends for place in range(int(first) - 1, int((last or [first])[0]))]


def take(page, label):
    page.get_by_role("radio", name=label).check()


# --- in Python ------------------------------------------------------------------------------------------------------


def test_presets_are_the_masks_of_the_package():
    assert preset("causal", 6) == causal_mask(6).int().tolist()
    assert np.all(preset("full", 5))
    assert [row[:3] for row in preset("prefix", 5)] == [[1, 1, 1]] * 5
    assert preset("prefix", 5)[3] == [1, 1, 1, 1, 0]
    assert {tuple(row) for row in preset("padding", 5)} == {(1, 1, 1, 0, 0)}
    with pytest.raises(ValueError, match="no mask 'diagonal'"):
        preset("diagonal", 5)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_reach_is_where_derivatives_are_not_zero(layers):
    mask = torch.tensor(painted(layers)) > 0
    stack = Encoder(layers, 8, 2, 16).double()
    J = torch.autograd.functional.jacobian(lambda X: stack(X, mask)[0][0], torch.randn(1, T, 8, dtype=torch.float64))
    assert reach(mask.tolist(), layers, residual=True) == (J.abs().sum(dim=(1, 2, 4)) > 0).int().tolist()


def test_without_residual_a_row_sees_what_its_mask_says():
    shift = np.eye(T, k=-1, dtype=int).tolist()
    assert reach(shift, 1, residual=False) == shift
    assert reach(shift, 3, residual=False) == np.eye(T, k=-3, dtype=int).tolist()


def test_leaks_are_the_later_inputs():
    figure = MaskPainter(mask="causal", layers=4)
    assert figure.leaks() == []
    mask = preset("causal", T)
    mask[2][5] = 1
    assert MaskPainter(mask=mask, layers=1).leaks() == [(2, 5)]
    assert (4, 5) in MaskPainter(mask=mask, layers=2).leaks()
    assert (1, 5) not in MaskPainter(mask=mask, layers=4).leaks()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"words": ["a", "b"]}, "2 words"),
        ({"mask": [[1]]}, "8 rows of 8"),
        ({"mask": [[2] * T] * T}, "each 0 or 1"),
        ({"layers": 8}, "layers"),
        ({"chosen": 8}, "chosen is 8"),
    ],
)
def test_other_states_are_refused(state, message):
    with pytest.raises((ValueError, TraitError), match=message):
        MaskPainter(**state)


def test_alternative_text_and_fallback_follow_the_state():
    figure = MaskPainter(layers=1)
    assert "depend on these inputs: 4, 5, 6." in figure.alt
    figure.layers = 2
    assert "3, 4, 5, 6, 7" in figure.alt
    assert figure.fallback().count("<td>sees</td>") == sum(map(sum, figure.reach()))
    assert figure.html() == MaskPainter(layers=2).html()


# --- on the page ----------------------------------------------------------------------------------------------------


def test_the_page_reaches_what_python_reaches(show):
    masks = [*PRESETS, *(painted(seed) for seed in range(3))]
    figures = [
        MaskPainter(mask=mask, layers=1 + k % 4, residual=k % 3 > 0, chosen=k % T) for k, mask in enumerate(masks)
    ]
    for figure in figures:
        page = show(figure)
        assert shown(page) == figure.reach()
        leaks = figure.leaks()
        assert hatched(page) == len(leaks)
        assert ("no output looks ahead" in says(page)) == (not leaks)
        if leaks:
            assert f"; {len(leaks)} pair{'s look' if len(leaks) > 1 else ' looks'} ahead." in says(page)


def test_every_preset_and_number_of_layers(show):
    page = show(MaskPainter())
    labels = dict(zip(PRESETS, ("full", "causal", "prefix of 3", "padding (last 2)", "neighbours"), strict=True))
    for name in PRESETS:
        take(page, labels[name])
        for layers in (1, 3):
            page.get_by_role("slider", name="Layers").fill(str(layers))
            assert shown(page) == MaskPainter(mask=name, layers=layers).reach()
    take(page, "padding (last 2)")
    assert page.locator(".lmk-name").nth(T - 1).inner_text() == "8 <pad>"
    take(page, "causal")
    assert page.locator(".lmk-name").nth(T - 1).inner_text() == f"8 {WORDS[-1]}"


def test_the_mouse_paints_one_cell_and_many(show):
    page = show(MaskPainter(mask="causal", layers=1))
    cell(page, 3, 6).click()
    assert cell(page, 3, 6).get_attribute("aria-pressed") == "true"
    assert says(page) == "After 1 layer output 3 sees inputs: 1 to 3 and 6; 1 pair looks ahead."
    cell(page, 3, 6).click()
    assert hatched(page) == 0
    cell(page, 2, 3).hover()
    page.mouse.down()
    for place in (4, 5, 6):
        cell(page, 2, place).hover()
    page.mouse.up()
    cell(page, 2, 8).hover()
    assert hatched(page) == 4
    cell(page, 4, 8).press("Space")  # a key after a drag is not mistaken for its click
    assert hatched(page) == 5


def test_arrows_move_and_space_paints(show):
    page = show(MaskPainter(mask="causal", layers=2))
    cell(page, 1, 1).focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Space"):
        page.keyboard.press(key)
    mask = preset("causal", T)
    mask[1][2] = 1
    assert shown(page) == MaskPainter(mask=mask, layers=2).reach()
    assert page.evaluate("document.activeElement.ariaLabel") == "output 2, seal, may look at input 3, on"
    page.keyboard.press("Enter")
    assert hatched(page) == 0
    for _ in range(T):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.ariaLabel") == "output 2, seal, may look at input 8, us"
    assert page.locator("button.lmk-cell[tabindex='0']").count() == 1


def test_residual_and_output_can_be_chosen(show):
    mask = np.eye(T, k=-1, dtype=int).tolist()
    page = show(MaskPainter(mask=mask, layers=2, chosen=3))
    assert "output 4 sees inputs: 2 to 4;" in says(page)
    page.get_by_role("button", name="Residual connection").click()
    assert "output 4 sees inputs: 2;" in says(page)
    page.get_by_role("button", name="1 the", exact=True).click()
    assert "output 1 sees inputs: none;" in says(page)
    assert page.locator(".lmk-edge").count() == 0


def test_the_drawn_paths_end_at_the_inputs_it_can_depend_on(show):
    for figure in (MaskPainter(layers=3, chosen=4), MaskPainter(mask=painted(7), layers=2, chosen=2)):
        page = show(figure)
        bottom = page.locator(".lmk-node").evaluate_all(
            "(nodes) => nodes.map((n) => [Number(n.getAttribute('cy')), Number(n.classList.length > 1)])"
        )
        low = max(y for y, _ in bottom)
        assert [on for y, on in bottom if y == low] == figure.reach()[figure.chosen]


def test_the_table_has_every_row(show):
    figure = MaskPainter(mask=painted(5), layers=2)
    page = show(figure)
    page.locator("summary").click()
    rows = cells_of(page, "td")
    for i, (row, (_, after, later)) in enumerate(zip(figure.reach(), rows, strict=True)):
        for text, wanted in ((after, [j for j in range(T) if row[j]]), (later, [j for j in range(i + 1, T) if row[j]])):
            assert places(text) == wanted


def test_strokes_are_undone_and_a_painted_mask_is_kept(show):
    page = show(MaskPainter(mask="causal", layers=1))
    undo = page.get_by_role("button", name="Undo")
    assert undo.is_disabled()
    cell(page, 3, 6).click()
    cell(page, 1, 8).click()
    painted_mask = shown(page)
    take(page, "full")
    take(page, "yours")
    assert shown(page) == painted_mask
    undo.click()
    undo.click()
    assert hatched(page) == 0
    assert undo.is_disabled()


def test_the_ways_from_a_cells_input_to_its_output_are_drawn(show):
    page = show(MaskPainter(layers=3, mask="neighbours"))
    cell(page, 1, 4).hover()
    ways = page.locator(".lmk-way")
    assert ways.count() == 3  # one step a layer: there is no other way
    cell(page, 1, 1).hover()
    assert ways.count() > 3


def test_seven_layers_bring_the_last_word_to_the_first_output(show):
    mask = preset("neighbours", T)
    assert [reach(mask, L, True)[0][T - 1] for L in (6, 7)] == [0, 1]
    page = show(MaskPainter(), bets=True)
    page.get_by_role("button", name="4", exact=True).click()
    assert "7 layers, one for each step of the way; you said 4." in page.locator(".lm-wager").inner_text()
    assert "After 7 layers output 1 sees inputs: all 8" in says(page)
    assert page.locator(".lmk-way").count() == 7  # one way, without a rest
    # the bet stays in the drawing: what output 1 sees after the layers that were bet
    assert page.locator(".lmk-said").text_content() == "you: 4, word 5"  # 800 px leave it no room for more
    ring, nodes = (
        page.locator(kind).evaluate_all("(all) => all.map((one) => [one.cx.baseVal.value, one.cy.baseVal.value])")
        for kind in (".lmk-bet", ".lmk-on.lmk-node, .lmk-leak.lmk-node")
    )
    assert ring[0] == max(place for place in nodes if place[1] == ring[0][1])
    assert reach(mask, 4, True)[0].index(0) == 5
