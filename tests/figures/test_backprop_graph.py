"""BackpropGraph: every number on the page is that of lmbook.backprop, and mouse and keyboard do the same."""

import json
import re

import numpy as np
import pytest
from seen import number, says, table
from traitlets import TraitError

from lmbook import backprop
from lmbook.figures import BackpropGraph
from lmbook.figures.backprop import STEPS, node_names

LN2 = float(np.log(2))
BY_HAND = {"x": [1, 2], "W": [[0, LN2], [-LN2, LN2], [2 * LN2, -LN2]], "label": 2}
SETTINGS = [
    BY_HAND,
    {},
    {"x": [-1.5, 0.25], "W": [[3, -2], [0.1, 9.75], [-4.2, 0.001]], "label": 1},
    {"x": [10, 10], "W": [[10, 10], [-10, -10], [0, 0]], "label": 2},  # sure and wrong: the loss is 400
    {"x": [0, 0], "W": [[1, 2], [3, 4], [5, 6]], "label": 3},
]
NAMES = node_names()


def tile(page, name):
    return page.locator(f".lmb-graph button[data-name={name}]")


def detail(page):
    return page.locator(".lmb-detail").inner_text()


def loss(page):
    return number(table(page)[-1][1])


def agrees(page, figure):
    rows, numbers = table(page), figure.numbers()
    assert len(rows) == len(NAMES)
    for name, (_, value, by, _) in zip(NAMES, rows, strict=True):
        assert number(value) == pytest.approx(numbers[name][0], rel=1e-9, abs=1e-9), name
        assert number(by) == pytest.approx(numbers[name][1], rel=1e-9, abs=1e-9), name


# --- the first view, in Python --------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
def test_python_has_the_gradients_of_the_package(setting):
    figure = BackpropGraph(**setting)
    numbers, x, W = figure.numbers(), np.array(figure.x), np.array(figure.W)
    y = backprop.one_hot(figure.label - 1, 3)
    by_W = [numbers[f"w{i}{k}"][1] for i in (1, 2, 3) for k in (1, 2)]
    np.testing.assert_allclose(by_W, backprop.gradient_collapsed(W, x, y).reshape(-1))
    for name, place in {"x1": 0, "x2": 1}.items():
        slope = backprop.numerical_gradient(lambda x: backprop.nll_from_logits(W @ x, y), x, 1e-5)[place]
        assert numbers[name][1] == pytest.approx(slope, abs=1e-6)
    assert numbers["L"] == (pytest.approx(float(backprop.nll_from_logits(W @ x, y))), 1.0)


def test_alternative_text_and_fallback_hold_the_numbers():
    figure = BackpropGraph(**BY_HAND)
    assert "0.571, 0.286, 0.143" in figure.alt
    assert "0.571, −0.714, 0.143" in figure.alt
    assert "<th scope='row'>ŷ₂</th><td>0.286</td><td>−3.500</td>" in figure.fallback()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"x": [1, 2, 3]}, "shape"),
        ({"W": [[1, 2], [3, 4]]}, "shape"),
        ({"x": [1, 11]}, "10"),
        ({"x": [1, float("nan")]}, "10"),
        ({"label": 0}, "label"),
        ({"step": STEPS + 1}, "step"),
        ({"chosen": "z4"}, "'z1'"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, said):
    with pytest.raises((ValueError, TraitError), match=said):
        BackpropGraph(**wrong)


# --- on the page: the numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_number_is_that_of_the_package(show, setting):
    figure = BackpropGraph(**setting, step=STEPS)
    page = show(figure)
    agrees(page, figure)
    y_hat = np.array([figure.numbers()[f"y{i}"][0] for i in (1, 2, 3)])
    jacobian = [[number(cell) for cell in row[1:]] for row in table(page, 1)]
    np.testing.assert_allclose(jacobian, backprop.softmax_jacobian(y_hat), rtol=1e-9, atol=1e-9)
    for row in table(page)[:8]:
        assert number(row[3]) == pytest.approx(number(row[2]), abs=1e-5)  # the slopes of two small steps


def test_the_numbers_of_the_chapter(show):
    page = show(BackpropGraph(**BY_HAND, step=STEPS))
    by = {row[0]: number(row[2]) for row in table(page)}
    assert [7 * by[f"z{i}"] for i in "₁₂₃"] == pytest.approx([4, -5, 1])
    assert [7 * by[f"w{i}{k}"] for i in "₁₂₃" for k in "₁₂"] == pytest.approx([4, 8, -5, -10, 1, 2])


# --- on the page: forward and back ----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_values_come_going_forward_and_derivatives_going_back(show, way):
    page = show(BackpropGraph(**BY_HAND, step=0))
    seen = []
    for step in range(STEPS + 1):
        rows = table(page)
        known = {row[0][0] for row in rows if row[1]}
        traced = {row[0][0] for row in rows if row[2]}
        seen.append(("".join(sorted(known)), "".join(sorted(traced))))
        now = {name[0] for name in NAMES if tile(page, name).get_attribute("data-now") == "true"}
        assert now == [{"x", "w"}, {"z"}, {"y"}, {"L"}, {"L"}, {"y"}, {"z"}, {"x", "w"}][step]
        if step < STEPS:
            if way == "mouse":
                page.get_by_role("button", name="Next").click()
            else:
                page.get_by_role("slider", name="Step").focus()
                page.keyboard.press("ArrowRight")
    assert seen == [
        ("wx", ""),
        ("wxz", ""),
        ("wxzŷ", ""),
        ("Lwxzŷ", ""),
        ("Lwxzŷ", "L"),
        ("Lwxzŷ", "Lŷ"),
        ("Lwxzŷ", "Lzŷ"),
        ("Lwxzŷ", "Lwxzŷ"),
    ]
    assert page.get_by_role("button", name="Next").is_disabled()
    page.get_by_role("button", name="Back").click()
    assert page.get_by_role("slider", name="Step").get_attribute("aria-valuetext") == "6 of 7, back: logits"
    assert "what the model said minus what came: 0.571, −0.714 and 0.143" in says(page)


def test_the_formula_of_a_number_adds_up_its_paths(show):
    page = show(BackpropGraph(**BY_HAND, step=STEPS))
    for name in NAMES[:-1]:
        tile(page, name).click()
        assert tile(page, name).get_attribute("aria-pressed") == "true"
        parts = [line for line in detail(page).split("\n") if line.startswith("through")]
        assert len(parts) == (3 if name[0] in "xz" else 1)
        for line in parts:
            left, right, product = re.search(r"= \(?([−\d.]+)\)? · \(?([−\d.]+)\)? = ([−\d.]+)$", line).groups()
            assert number(left) * number(right) == pytest.approx(number(product), abs=3e-3)
        total = sum(number(line.rsplit(" = ", 1)[1]) for line in parts)
        assert total == pytest.approx(BackpropGraph(**BY_HAND).numbers()[name][1], abs=2e-3)
    tile(page, "L").click()
    assert "∂L/∂L = 1" in detail(page)


def test_the_lit_arrows_are_those_of_the_formula(show):
    page = show(BackpropGraph(**BY_HAND, step=2))

    def lit():
        return page.locator(".lmb-graph line[data-lit=true]").count()

    for name, arrows in {"z2": 4, "y1": 3, "L": 3, "w11": 1, "x1": 6}.items():
        tile(page, name).click()
        assert lit() == arrows, name
    page.get_by_role("slider", name="Step").fill("7")
    for name, arrows in {"z2": 3, "y1": 1, "L": 0, "w11": 1, "x1": 6}.items():
        tile(page, name).click()
        assert lit() == arrows, name


def test_on_a_lit_arrow_stands_the_derivative_of_its_head(show):
    page, numbers = show(BackpropGraph(**BY_HAND)), BackpropGraph(**BY_HAND).numbers()
    y = [numbers[f"y{i}"][0] for i in (1, 2, 3)]
    local = page.locator(".lmb-strip b:visible")
    assert [number(text) for text in local.all_inner_texts()] == [
        pytest.approx(y[0] * ((i == 0) - y[i]), abs=6e-3) for i in range(3)
    ]
    tile(page, "x2").click()
    assert [number(text) for text in local.all_inner_texts()] == [
        pytest.approx(row[1], abs=6e-3) for row in BY_HAND["W"]
    ]


def test_the_sign_is_bet_before_it_is_seen(show):
    page = show(BackpropGraph(**BY_HAND), bets=True)
    # nor the derivative of w₁₁, which is the same, since x₁ is 1
    assert [tile(page, name).locator(".lmb-by").is_visible() for name in ("z1", "z2", "w11", "y1")] == [False] * 3 + [
        True
    ]
    assert "0.57" not in page.get_by_role("button", name="w₁₁").aria_snapshot()
    page.get_by_role("button", name="negative").click()
    assert "No, it is positive: ŷ₁ − y₁ = 0.571 − 0 = 0.571." in page.locator(".lm-wager").inner_text()
    assert tile(page, "z1").locator(".lmb-by").is_visible()


def test_a_number_that_is_not_known_yet_says_when(show):
    page = show(BackpropGraph(**BY_HAND, step=0))
    tile(page, "y2").click()
    assert "ŷ₂ is computed at step 2" in detail(page)
    assert "∂L/∂ŷ₂ comes at step 5" in detail(page)


# --- on the page: editing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["typing", "slider"])
@pytest.mark.parametrize("name", ["x2", "w31"])
def test_an_edit_changes_everything(show, name, way):
    page = show(BackpropGraph(**BY_HAND, step=STEPS))
    tile(page, name).click()
    if way == "typing":
        field = page.get_by_label("exactly")
        field.fill("−1.25")
        field.press("Enter")
        value = -1.25
    else:
        slider = page.get_by_role("slider", name="Set")
        slider.fill("-3.4")
        value = -3.4
    x, W = list(BY_HAND["x"]), [list(row) for row in BY_HAND["W"]]
    if name == "x2":
        x[1] = value
    else:
        W[2][0] = value
    agrees(page, BackpropGraph(x=x, W=W, label=2))
    said = re.search(r"moved by (\S+): the derivative (\S+) predicts (\S+) more loss; it was (\S+)\.", says(page))
    before = BackpropGraph(**BY_HAND).numbers()
    after = BackpropGraph(x=x, W=W, label=2).numbers()
    moved = value - before[name][0]
    wanted = [moved, before[name][1], moved * before[name][1], after["L"][0] - before["L"][0]]
    assert [number(part) for part in said.groups()] == pytest.approx(wanted, abs=6e-4)


@pytest.mark.parametrize("text", ["", "abc", "1e99", "1e999", "−", "NaN", "--3", "0x1"])
def test_what_is_no_number_is_marked_said_plainly_and_changes_nothing_wild(show, text):
    page = show(BackpropGraph(**BY_HAND, step=STEPS))
    field = page.get_by_label("exactly")
    field.fill(text)
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    said = page.locator(".lmb-fault")
    words = (
        "Type a number" if not text else "Numbers here go from −10 to 10." if "e9" in text else f"“{text}” is no number"
    )
    assert said.inner_text().startswith(words)
    assert "w₁₁ is " in said.inner_text()
    values = [number(row[1]) for row in table(page)]
    assert max(abs(value) for value in values) < 100
    field.fill("0.5")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "false"
    assert said.inner_text() == ""
    assert number(table(page)[2][1]) == 0.5


def test_the_label_changes_the_loss(show):
    page = show(BackpropGraph(**BY_HAND, step=STEPS))
    for label in (1, 3, 2):
        page.get_by_role("radio", name=str(label)).check()
        agrees(page, BackpropGraph(**{**BY_HAND, "label": label}))
        assert tile(page, f"y{label}").get_attribute("class") == "lmb-came"


def test_gradient_steps_take_the_loss_down(show):
    page = show(BackpropGraph(**BY_HAND, step=0))
    button = page.get_by_role("button", name="Gradient step on W")
    assert button.is_disabled()
    page.get_by_role("slider", name="Step").fill("7")
    W, x, y = np.array(BY_HAND["W"]), np.array(BY_HAND["x"]), np.array([0.0, 1, 0])
    losses = [loss(page)]
    for _ in range(5):
        button.press("Enter")
        W = W - 0.1 * backprop.gradient_collapsed(W, x, y)
        losses.append(loss(page))
        assert losses[-1] == pytest.approx(float(backprop.nll_from_logits(W @ x, y)), rel=1e-9)
    assert losses == sorted(losses, reverse=True)
    agrees(page, BackpropGraph(x=x, W=W.tolist(), label=2))
    page.get_by_role("button", name="Start again").click()
    page.get_by_role("slider", name="Step").fill("7")
    agrees(page, BackpropGraph(**BY_HAND))


# --- on the page: for everybody -------------------------------------------------------------------------------------


def test_the_graph_is_one_tab_stop(show):
    page = show(BackpropGraph(**BY_HAND, step=3))
    page.get_by_role("slider", name="Step").focus()
    page.keyboard.press("Tab")
    focused = "document.activeElement.dataset.name"
    assert page.evaluate(focused) == "z1"  # the number whose formula is shown
    page.keyboard.press("Home")
    for key, name in [("Right", "x2"), ("Down", "w31"), ("Down", "z3"), ("Left", "z2"), ("Left", "z1"), ("Down", "y1")]:
        page.keyboard.press(f"Arrow{key}")  # where the picture says
        assert page.evaluate(focused) == name
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    assert detail(page).startswith("ŷ₂ =")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "range"


@pytest.mark.parametrize("setting", [BY_HAND, SETTINGS[3], {"x": [-9.99, -9.99], "W": [[-9.99, -9.99]] * 3}])
def test_it_fits_a_phone(show, setting):
    page = show(BackpropGraph(**setting, step=STEPS), width=360)
    table(page, 0)
    table(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for part in page.locator(".lmb-graph button > span:not(.lm-hidden)").all():
        assert part.evaluate("(span) => span.scrollWidth <= span.clientWidth + 1"), part.inner_text()


def test_the_names_of_the_nodes_say_what_is_computed(show):
    page = show(BackpropGraph(**BY_HAND, step=3))
    named = lambda name: page.get_by_role("button", name=name, exact=True).count()  # noqa: E731
    assert named("z₁ 1.39") == 1
    assert named("L 1.25") == 1
    page.get_by_role("slider", name="Step").fill("1")
    assert named("L not yet computed") == 1
    page.get_by_role("slider", name="Step").fill("4")
    assert named("L 1.25 derivative 1.00") == 1


def test_its_state_is_what_the_page_needs():
    state = json.loads(re.search(r'<script type="application/json">(.*?)</script>', BackpropGraph().html())[1])
    assert {"x", "W", "label", "step", "chosen", "rate"} <= set(state)
