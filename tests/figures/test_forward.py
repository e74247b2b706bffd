"""ForwardPass: every number on the page is that of the package's model, and mouse and keyboard do the same."""

import json
import re

import numpy as np
import pytest
import torch
from seen import number, table

from lmbook.figures import ForwardPass
from lmbook.figures.forward import RECIPE, trained
from lmbook.lab import checkpoints


def tile(page, unit):
    return page.locator(f".lmfp-graph button[data-unit={unit}]")


def detail(page):
    return page.locator(".lmfp-detail").inner_text()


def agrees(page, figure):
    layers = figure.numbers()
    found = {row[0]: row[1:] for row in table(page, 1)}
    for letter in "eh":
        for i, value in enumerate(layers[letter], 1):
            assert number(found[f"{letter}{i}"][0]) == pytest.approx(value, abs=6e-6)
    for i, word in enumerate(figure.words):
        if word not in ("<pad>", "<mask>"):
            assert number(found[word][0]) == pytest.approx(layers["y_hat"][i], rel=1e-5)
            assert number(found[word][1].removeprefix("logit ")) == pytest.approx(layers["z"][i], abs=6e-6)


def test_python_computes_what_the_trained_model_computes():
    figure = ForwardPass()
    model = checkpoints.load(RECIPE).model
    with torch.no_grad():
        said = model(torch.tensor([figure.history]))[0, -1].softmax(-1).numpy()
    np.testing.assert_allclose(figure.numbers()["y_hat"], said, atol=0.003)  # the figure rounds to three decimals
    assert figure.likeliest()[0][0] == figure.words[int(said.argmax())]


def test_alternative_text_and_fallback_hold_the_numbers():
    figure = ForwardPass(["a", "group", "of"])
    word, p = figure.likeliest()[0]
    assert f"After “a group of” the likeliest are “{word}” {p:.2f}" in figure.alt
    assert f"{p:.3f}" in figure.fallback()


@pytest.mark.parametrize(
    ("history", "state", "said"),
    [
        (["a", "man"], {}, "three words"),
        (["a", "man", "<pad>"], {}, "three words"),
        (["a", "man", "in"], {"chosen": "h13"}, "h1 to h12"),
        (["a", "man", "in"], {"chosen": "e0"}, "e1 to e18"),
        (["a", "man", "in"], {"chosen": "W"}, "e1"),
    ],
)
def test_what_does_not_fit_is_refused(history, state, said):
    with pytest.raises(ValueError, match=said):
        ForwardPass(history, **state)


def test_a_word_that_it_does_not_know_is_unknown():
    figure = ForwardPass(["a", "zeppelin", "in"])
    assert figure.words[figure.history[1]] == "<unk>"


def test_its_state_is_all_the_page_needs():
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', ForwardPass().html(), re.S)[1])
    assert {"words", "E", "W", "U", "history", "chosen", "shown"} <= set(state)
    assert state["words"] == trained()["words"]


@pytest.mark.parametrize("history", [("a", "man", "in"), ("<sos>", "<sos>", "<sos>"), ("<unk>", "the", ".")])
def test_every_number_is_that_of_python(show, history):
    figure = ForwardPass(history)
    agrees(show(figure), figure)


def test_a_click_says_where_a_number_comes_from(show):
    figure = ForwardPass(["a", "man", "in"])
    page, layers = show(figure), figure.numbers()
    tile(page, "e8").click()
    assert "entry 2 of the vector of “man”, the word 2 back" in detail(page)
    assert page.locator(".lmfp-graph line").count() == 12
    tile(page, "h5").click()
    assert f"= {layers['h'][4]:.3f}" in detail(page)
    rows = table(page, 0)
    assert len(rows) == 18
    assert sum(number(row[3]) for row in rows) == pytest.approx(layers["a"][4], abs=1e-4)
    weights = {row[0]: number(row[1]) for row in rows}
    assert [weights[f"e{j}"] for j in range(1, 19)] == pytest.approx(figure.W[4], abs=6e-4)
    assert page.locator(".lmfp-graph line").count() == 18 + 8
    best = int(layers["y_hat"].argmax())
    tile(page, f"z{best}").click()
    rows = table(page, 0)
    assert sum(number(row[3]) for row in rows) == pytest.approx(layers["z"][best], abs=1e-4)
    assert f"ŷ({figure.words[best]})" in detail(page)


def test_what_a_word_gives_at_each_place(show):
    """The table of a hidden unit: its own weights for each place, times the vector of each word."""
    figure = ForwardPass(["a", "man", "in"])
    page = show(figure)
    E, W = (np.array(w) for w in (figure.E, figure.W))
    blocks = W[2].reshape(3, -1)  # of h3, a row a place
    cells = page.locator(".lmfp-gives tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))"
    )
    found = np.array([[number(cell) for cell in row] for row in cells])
    np.testing.assert_allclose(found, E[figure.history] @ blocks.T, atol=6e-4)
    assert found.trace() == pytest.approx(figure.numbers()["a"][2], abs=2e-3)
    page.get_by_role("button", name="Swap the last two words").click()
    swapped = ForwardPass(["a", "in", "man"])
    agrees(page, swapped)
    assert [number(text) for text in page.locator(".lmfp-used").all_inner_texts()] == pytest.approx(
        [E[w] @ blocks[p] for p, w in enumerate(swapped.history)], abs=6e-4
    )


def test_what_has_left_the_window_is_grey(show):
    page = show(ForwardPass(["a", "group", "of"]))
    for _ in range(2):
        page.get_by_role("button", name="Write “").click()
    assert page.locator(".lmfp-text .lm-muted").inner_text().split() == ["a", "group"]
    page.get_by_role("button", name="in front of").click()
    assert page.locator(".lmfp-text .lm-muted").inner_text().split() == []


def test_words_can_be_chosen_tried_and_written(show):
    figure = ForwardPass(["a", "man", "in"])
    page = show(figure)
    page.get_by_label("3 back").select_option("the")
    agrees(page, ForwardPass(["the", "man", "in"]))
    page.get_by_role("button", name="a group of").click()
    now = ForwardPass(["a", "group", "of"])
    agrees(page, now)
    best = now.likeliest()[0][0]
    page.get_by_role("button", name=f"Write “{best}”").press("Enter")
    agrees(page, ForwardPass(["group", "of", best]))
    page.get_by_label("Look at the word").select_option("dog")
    assert "ŷ(dog)" in detail(page)
    page.get_by_role("button", name="Write “dog”").click()
    agrees(page, ForwardPass(["of", best, "dog"]))
    page.get_by_label("Look at the word").select_option("<eos>")
    page.get_by_role("button", name="Write “<eos>”").click()
    agrees(page, ForwardPass(["<sos>", "<sos>", "<sos>"]))


def test_the_network_is_one_tab_stop(show):
    page = show(ForwardPass())
    tile(page, "e1").focus()
    focused = "document.activeElement.dataset.unit"
    for unit in (f"e{j}" for j in range(1, 19)):
        assert page.evaluate(focused) == unit
        page.keyboard.press("ArrowRight")
    for row in "hz":  # an arrow goes where the picture says
        page.keyboard.press("ArrowDown")
        assert page.evaluate(focused).startswith(row)
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused).startswith("h")
    page.keyboard.press("End")
    assert page.evaluate(focused).startswith("z")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert detail(page).replace("\n", "").startswith("e1 =")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("Write")


def test_it_fits_a_phone(show):
    page = show(ForwardPass(chosen="z40"), width=360)
    table(page, 0)
    table(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for part in page.locator(".lmfp-graph :is(.lmfp-e, .lmfp-h) button > span").all():
        assert part.evaluate("(span) => span.scrollWidth <= span.clientWidth + 1"), part.inner_text()
