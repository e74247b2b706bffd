"""GradientOverDistance and LSTMStep: the page has the numbers of lmbook.cells, by mouse, keyboard and kernel."""

import json
import re

import numpy as np
import pytest
import torch
from seen import cells_of, number, says, table

from lmbook.figures import GradientOverDistance, LSTMStep
from lmbook.figures.distance import M
from lmbook.figures.lstm import EVENTS, FIRST, ORDER
from lmbook.lab import checkpoints

NETWORKS = [
    {},
    {"scale": 0.0, "T": 5},
    {"scale": 1.6, "T": 100, "bias": 6.0},
    {"scale": 3.0, "T": 37, "bias": -2.0, "seed": 3},
]
PROGRAMS = [{}, {"bias": -2.0}, {"events": ["noise"]}, {"events": ["store −1", "show"] * 6, "bias": 8.0}]


def norms_agree(page, figure):
    rows, norms = table(page), figure.norms()
    assert len(rows) == figure.T
    for i, name in enumerate(("tanh", "linear", "lstm"), start=1):
        found = [number(row[i]) for row in rows]
        np.testing.assert_allclose(found, norms[name], rtol=1e-5, atol=1e-300, err_msg=name)


def steps_agree(page, figure):
    rows, numbers = table(page), figure.numbers()
    assert [row[1] for row in rows] == figure.events
    for t, (row, wanted) in enumerate(zip(rows, numbers, strict=True)):
        for k, name in enumerate(ORDER):
            assert number(row[2 + k]) == pytest.approx(wanted[name], abs=2e-6), (t, name)


# --- in Python ------------------------------------------------------------------------------------------------------


def test_the_powers_of_the_matrix_are_powers_of_the_scale():
    norms = GradientOverDistance(scale=0.8, T=30).norms()
    np.testing.assert_allclose(norms["linear"], norms["linear"][0] * 0.8 ** np.arange(30), rtol=1e-3)


def test_the_tanh_network_stays_below_the_bound():
    for scale in (0.5, 1.0, 2.5):
        norms = GradientOverDistance(scale=scale, T=60).norms()
        assert (np.array(norms["tanh"]) <= 1.01 * np.array(norms["linear"])).all()


def test_the_norms_are_those_of_a_gradient_check():
    figure = GradientOverDistance(scale=1.3, T=12)
    given = {name: np.array(value) for name, value in figure.numbers.items()}

    def last(h, t):
        for x in given["x"][t : figure.T]:
            h = np.tanh(1.3 * given["W"] @ h + given["W_x"] @ x)
        return given["v"] @ h

    h = np.zeros(M)
    for x in given["x"][:4]:
        h = np.tanh(1.3 * given["W"] @ h + given["W_x"] @ x)
    slopes = [(last(h + step, 4) - last(h - step, 4)) / 2e-6 for step in 1e-6 * np.eye(M)]
    assert figure.norms()["tanh"][figure.T - 4] == pytest.approx(np.linalg.norm(slopes), rel=1e-5)


def test_the_unit_is_a_latch():
    rows = LSTMStep().numbers()
    assert rows[3]["c"] == pytest.approx(1, abs=0.05)  # stored, through waiting and noise
    assert abs(rows[3]["h"]) < 0.05  # and hidden
    assert rows[4]["h"] > 0.7  # until it is asked for
    assert rows[5]["c"] == pytest.approx(-1, abs=0.05)  # a new value replaces the old
    assert LSTMStep(bias=-1.0).numbers()[3]["c"] < 0.1  # a forget gate that is mostly closed leaks


def test_the_fallback_has_the_numbers_and_the_state_what_the_page_needs():
    figure = GradientOverDistance()
    assert "<th scope='row'>40</th>" in figure.fallback()
    assert "<th scope='row'>noise</th>" in LSTMStep().fallback()
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', figure.html())[1])
    assert {"numbers", "scale", "T", "bias"} <= set(state)


# --- on the page: gradients over distance ---------------------------------------------------------------------------


@pytest.mark.parametrize("network", NETWORKS)
def test_every_norm_is_that_of_autograd(show, network):
    figure = GradientOverDistance(**network)
    norms_agree(show(figure), figure)


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_sliders_move_the_curves(show, way):
    page = show(GradientOverDistance())
    before = page.locator("path[data-line=tanh]").get_attribute("d")
    for name, value, presses in (("Scale", "2", 20), ("Steps", "70", 10), ("LSTM", "3", 4)):
        slider = page.get_by_role("slider", name=name)
        if way == "mouse":
            slider.fill(value)
        else:
            slider.focus()
            for _ in range(presses):
                page.keyboard.press("ArrowRight")
    norms_agree(page, GradientOverDistance(scale=2.0, T=70, bias=3.0))
    assert page.locator("path[data-line=tanh]").get_attribute("d") != before
    assert says(page).startswith("Scale 2.00: over 69 steps")
    page.get_by_role("button", name="Start again").click()
    norms_agree(page, GradientOverDistance())


@pytest.mark.parametrize(("scale", "fate"), [(0.5, "vanishes"), (1.6, "passes"), (3.0, "explodes")])
def test_the_sentence_says_what_becomes_of_the_gradient(show, scale, fate):
    figure = GradientOverDistance(scale=scale, T=100)
    left = figure.norms()["tanh"][-1] / figure.norms()["tanh"][0]
    assert fate == ("vanishes" if left < 1e-3 else "explodes" if left > 1e3 else "passes")
    assert says(show(figure)).endswith(f"; it {fate}.")


def test_what_grows_out_of_the_frame_is_cut_there_and_a_bet_on_it_is_taken(show):
    page = show(GradientOverDistance(), bets=True)
    grown = page.locator("svg text").filter(has_text="tanh at 3")
    assert page.locator("svg text").filter(has_text="matrix at 3").text_content() == "matrix at 3 ↑ 10²⁸"
    assert not grown.is_visible()
    page.locator(".lm-wager input").fill("6")
    page.get_by_role("button", name="Bet", exact=True).click()
    norms = GradientOverDistance(scale=3.0).norms()["tanh"]
    power = np.log10(norms[-1] / norms[0])
    assert f"You said 10⁶: {abs(6 - power):.1f} powers of ten away" in page.locator(".lm-wager").inner_text()
    assert grown.is_visible()
    heights = [
        float(y) for y in re.findall(r" ([\d.]+)(?=L|$)", page.locator(".lmd-other path").nth(1).get_attribute("d"))
    ]
    assert len(set(heights)) == len(heights), "a straight line, not one that runs along the frame"


# --- on the page: one unit over time ---------------------------------------------------------------------------------


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_number_is_that_of_the_cell(show, program):
    figure = LSTMStep(**program)
    steps_agree(show(figure), figure)


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_step_is_opened(show, way):
    page = show(LSTMStep())
    for t in (3, 4):
        if way == "mouse":
            page.locator(".lml-events button").nth(t).click()
        else:
            page.locator(".lml-events button[tabindex='0']").focus()
            page.keyboard.press("ArrowRight")
        assert page.locator(".lml-events button[aria-pressed=true]").inner_text() == FIRST[t]
        assert says(page).startswith(f"Step {t + 1}, “{FIRST[t]}”")
    page.locator("[data-step='7']").click()  # in the drawing
    assert says(page).startswith("Step 8, “show”")


def test_the_formulae_add_up(show):
    page = show(LSTMStep(chosen=5))  # "store −1"
    page.locator("summary", has_text="The sums of step 6").click()
    wanted = LSTMStep().numbers()[5]
    for name in ORDER:
        words = page.locator(f".lml-sums [data-name={name}]").inner_text()
        assert number(words.rsplit("= ", 1)[1]) == pytest.approx(wanted[name], abs=6e-4)
    f = page.locator(".lml-sums [data-name=f]").inner_text()
    assert f == "f = σ((−10) · 1 + 5) = σ(−5) = 0.007"


def test_the_line_of_the_memory_is_its_numbers(show):
    page, wanted = show(LSTMStep()), [row["c"] for row in LSTMStep().numbers()]
    path = page.locator(".lml-memory").get_attribute("d")
    heights = [float(y) for y in re.findall(r"L[\d.]+ ([\d.]+)", path)]
    assert np.corrcoef(heights, wanted)[0, 1] < -0.99999
    assert heights[0] - heights[5] == pytest.approx(50 * (wanted[5] - wanted[0]), abs=0.2)


def test_inputs_and_bias_can_be_changed(show):
    page = show(LSTMStep(chosen=2))
    page.get_by_label("Input of step 3").select_option("store −1")
    events = [*FIRST[:2], "store −1", *FIRST[3:]]
    steps_agree(page, LSTMStep(events=events))
    page.get_by_role("slider", name="Bias").fill("-1.5")
    steps_agree(page, LSTMStep(events=events, bias=-1.5))
    page.get_by_role("button", name="Start again").click()
    steps_agree(page, LSTMStep())


def test_a_bet_comes_before_the_gates(show):
    page = show(LSTMStep(), bets=True)
    said = page.locator(".lm-says")
    assert not said.is_visible()
    page.get_by_role("button", name="the output gate").click()
    assert said.is_visible()
    o = LSTMStep().numbers()[2]["o"]
    assert f"You said output gate: that one is at {o:.3f}." in page.locator(".lm-wager").inner_text()
    page.reload()
    page.wait_for_function("document.querySelector('figure').dataset.live")
    assert said.is_visible()  # kept on the device
    page.get_by_role("button", name="Bet again").click()
    assert not said.is_visible()
    page.get_by_role("slider", name="Bias").press("ArrowLeft")  # whoever uses the figure has skipped
    assert said.is_visible()


# --- for everybody --------------------------------------------------------------------------------------------------


def test_axe_finds_nothing_and_a_phone_shows_all_of_a_text_of_the_readers(show, axe_in_every_view):
    page = show(LSTMStep(chosen=5))
    page.get_by_role("radio", name="a trained LSTM on your text").check()
    page.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
    assert axe_in_every_view(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
    page.set_viewport_size({"width": 360, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_events_are_inputs_of_one_cell():
    cell = LSTMStep().cell()
    assert {len(x) for x in EVENTS.values()} == {cell.d_in}
    assert isinstance(cell.start(1)[0], torch.Tensor)


# --- a trained network on a text of the reader's ----------------------------------------------------------------------


def test_a_text_of_the_readers_is_read_as_by_torch(show):
    model, tokenizer, _ = checkpoints.load("shakespeare-lstm")
    (cell,), embedding = model.recurrent.layers[0], model.embedding
    page = show(LSTMStep())
    page.get_by_role("radio", name="a trained LSTM on your text").check()
    page.wait_for_function("() => document.querySelectorAll('.lm-along > span').length === 27")  # a text of the book's
    for text in ("Sail on, my computer!", "naïve"):
        page.get_by_label("Your own text").fill(text)
        page.get_by_role("button", name="Read it").click()
        page.wait_for_function("(n) => document.querySelectorAll('.lm-along > span').length === n", arg=len(text))
        assert page.get_by_label("Bars:").is_visible()
        page.get_by_role("slider", name="Unit").fill("17")
        page.locator("details").last.evaluate("(node) => { node.open = true; }")
        rows = cells_of(page.locator("details").last)
        state, wanted = cell.start(1), []
        with torch.no_grad():
            for number_ in tokenizer.encode(text):
                x = embedding.weight[number_].unsqueeze(0)
                i, f, o, g = cell.gates(x, state)
                h, c = state = cell(x, state)
                wanted.append([part[0, 17].item() for part in (f, i, g, c, o, h)])
        assert [[number(cell_) for cell_ in row[1:]] for row in rows] == [
            pytest.approx(row, abs=6e-4) for row in wanted
        ]
        assert [row[0] for row in rows] == [{" ": "␣", "ï": "▯"}.get(c, c) for c in text]
    assert "▯ stands for characters that the network does not have" in page.locator("figure").inner_text()
