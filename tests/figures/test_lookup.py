"""SoftLookup: the page computes the attention of lmbook.attention, whatever is dragged, by mouse and by keyboard."""

import random

import pytest
import torch
from seen import cells_of, number, says

from lmbook.attention import attend
from lmbook.figures import SoftLookup

NAMES = ["pilot", "mechanic", "fisher", "baker", "poet"]
KEYS = [[2, 0], [0, 2], [1, 1], [-1, 0], [-1, -1]]
VALUES = [[3, 1], [1, 4], [2, 2], [6, 0], [5, 5]]
AXES = ["sea", "engines", "hours", "coins"]


def lookup(**state):
    return SoftLookup(NAMES, KEYS, VALUES, AXES, **state)


def control(page, name):
    return page.get_by_role("slider", name=name)


def rows(page):
    unfold(page)
    return cells_of(page)


def unfold(page):
    page.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")


def asked(page):
    unfold(page)
    return [control(page, f"Query, {axis}").get_attribute("aria-valuetext") for axis in AXES[:2]]


def middle(page):
    """The pixel of the plane's origin and the pixels of one unit."""
    plane = page.locator(".lmq-plane[tabindex] svg")
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, (box["width"] - 32) / 6


# --- in Python ------------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_attention():
    for heads in (1, 2, 3, 4):
        figure = lookup(query=[0.7, -1.2], beta=1.5, heads=heads)
        numbers = figure.numbers()
        K, V = (torch.tensor(x, dtype=torch.float64) for x in (KEYS, VALUES))
        q, answers = torch.tensor([0.7, -1.2], dtype=torch.float64), []
        for weights, answer in zip(numbers["weights"], numbers["answers"], strict=True):
            expected, alpha = attend(1.5 * 2**0.5 * q[None, None], K[None], V[None])
            torch.testing.assert_close(torch.tensor(weights, dtype=torch.float64), alpha[0, 0])
            torch.testing.assert_close(torch.tensor(answer, dtype=torch.float64), expected[0, 0])
            answers.append(expected[0, 0])
            q = torch.stack([-q[1], q[0]])  # the next head asks at a right angle
        torch.testing.assert_close(
            torch.tensor(numbers["answer"], dtype=torch.float64), torch.stack(answers).mean(0), atol=1e-12, rtol=0
        )


def test_the_first_view_by_hand():
    figure = lookup()
    (weights,) = figure.numbers()["weights"]
    exps = [2.718281828**e for e in (2, 0, 1, -1, -1)]
    assert weights == pytest.approx([e / sum(exps) for e in exps], abs=1e-6)
    assert "pilot 0.62" in figure.alt
    assert "pilot" in figure.fallback()


def test_keys_without_their_values_are_refused():
    with pytest.raises(ValueError, match="5 names need as many keys and values"):
        SoftLookup(NAMES, KEYS, VALUES[:-1])
    with pytest.raises(ValueError, match="four names"):
        SoftLookup(NAMES, KEYS, VALUES, AXES[:2])


# --- on the page ----------------------------------------------------------------------------------------------------


def agrees(text: str, weight: float) -> bool:
    """A weight of a softmax with four decimals, which is never shown as 0 or 1."""
    if text[0] in "<>":
        return 0 < (weight if text[0] == "<" else 1 - weight) < 0.00005
    return abs(number(text) - weight) <= 0.000051


def assert_page_shows(page, figure):
    numbers = figure.numbers()
    shown = rows(page)
    for i, name in enumerate(NAMES):
        assert shown[i][0] == name
        for j, weights in enumerate(numbers["weights"]):
            assert agrees(shown[i][3 + j], weights[i])
    assert [number(v) for v in shown[-1][2].split(", ")] == pytest.approx(numbers["answer"], abs=0.00051)
    for j, answer in enumerate(numbers["answers"]):
        assert [number(v) for v in shown[-1][3 + j].split(", ")] == pytest.approx(answer, abs=0.00051)


def test_every_number_of_the_page_equals_pythons(show):
    figure = lookup()
    page = show(figure)
    assert_page_shows(page, figure)
    rng = random.Random(0)
    for heads in (1, 2, 3, 4):
        q = [round(rng.uniform(-3, 3), 1) for _ in range(2)]
        factor = round(rng.uniform(0, 8), 1)
        for name, value in (("Query, sea", q[0]), ("Query, engines", q[1]), ("Factor", factor), ("Heads", heads)):
            control(page, name).fill(str(value))
        figure.query, figure.beta, figure.heads = q, factor, heads
        assert_page_shows(page, figure)
        answer = figure.numbers()["answer"]
        said = says(page).replace("−", "-")
        assert f"{answer[0]:.2f} hours" in said or f"{answer[0] + 1e-9:.2f} hours" in said


def test_the_factor_zero_makes_all_weights_equal(show):
    page = show(lookup())
    control(page, "Factor").press("Home")
    assert "All weights are equal" in says(page)


def test_the_mouse_drags_the_query(show):
    page = show(lookup())
    x, y, unit = middle(page)
    page.mouse.move(x + unit, y)  # the query stands at (1, 0)
    page.mouse.down()
    page.mouse.move(x - unit, y - 2 * unit, steps=5)
    assert asked(page) == ["−1.0", "2.0"]
    page.mouse.move(x - 9 * unit, y, steps=3)  # no farther than the plane
    assert asked(page) == ["−3.0", "0.0"]
    page.mouse.up()
    page.mouse.move(x, y)
    assert asked(page) == ["−3.0", "0.0"]


TOUCH = """([kinds, x, y]) => { for (const kind of kinds) document.querySelector(".lmq-plane svg").dispatchEvent(
  new PointerEvent(kind, { pointerType: "touch", clientX: x, clientY: y, bubbles: true })); }"""


def test_a_finger_beside_the_handle_scrolls_and_taps(show):
    page = show(lookup())
    x, y, unit = middle(page)
    page.evaluate(TOUCH, [["pointerdown", "pointermove", "pointerup"], x - unit, y])
    assert asked(page) == ["1.0", "0.0"]
    page.evaluate(TOUCH, [["click"], x - unit, y])
    assert asked(page) == ["−1.0", "0.0"]
    assert page.locator(".lmq-handle").bounding_box()["width"] >= 44


def test_the_arrow_keys_move_the_query(show):
    page = show(lookup())
    plane = page.get_by_role("group", name="Plane of the keys")
    unfold(page)
    plane.focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowUp", "Shift+ArrowLeft", "ArrowDown"):
        plane.press(key)
    assert asked(page) == ["0.6", "0.1"]
    control(page, "Query, engines").press("ArrowUp")
    assert asked(page) == ["0.6", "0.2"]
    control(page, "Heads").press("ArrowRight")
    assert says(page).startswith("2 heads: most weight on")
    assert control(page, "Heads").get_attribute("aria-valuetext") == "2 heads"


def test_a_line_is_as_thick_as_its_weight(show):
    figure = lookup(heads=2)
    page = show(figure)
    for j, weights in enumerate(figure.numbers()["weights"], 1):
        for name, weight in zip(NAMES, weights, strict=True):
            line = page.locator(f".lmq-link[data-head='{j}'][data-key='{name}']")
            assert abs(float(line.get_attribute("stroke-width")) - 12 * weight) < 0.006


def test_a_tap_on_a_phone_moves_the_query(show):
    page = show(lookup(heads=3), width=360)
    x, y, unit = middle(page)
    page.mouse.click(x, y - unit)
    assert asked(page) == ["0.0", "1.0"]


def test_no_weight_of_a_softmax_is_shown_as_0_or_1(show):
    page = show(lookup(query=[3, -1], beta=8))
    texts = [*page.locator(".lm-bar-text").all_inner_texts(), *page.locator(".lmq-name").all_text_contents()]
    weights = [text.partition(" ")[2] if text.split(" ")[0] in NAMES else text for text in texts]
    cells = [row[3] for row in rows(page)[:-1]]
    assert {"0.00", "1.00", "0.0000", "1.0000"}.isdisjoint(weights + cells)
    assert {"> 0.99", "< 0.01"} <= set(weights)
    assert {"> 0.9999", "< 0.0001"} <= set(cells)
    assert says(page).startswith("Most weight on pilot, > 0.99.")


def test_ties_are_all_named(show):
    page = show(lookup(query=[3, 3]))
    assert says(page).startswith("Most weight on pilot, mechanic and fisher, 0.33 each.")


def test_one_star_can_be_reached_and_no_query_reaches_the_other(show):
    page = show(lookup(), bets=True)
    page.get_by_role("button", name="B alone").click()
    assert "You said B alone. A alone:" in page.locator(".lm-wager").inner_text()
    ring, star = (page.locator(kind).bounding_box() for kind in (".lmq-bet", ".lmq-star >> nth=1"))
    assert ring["x"] < star["x"] < star["x"] + star["width"] < ring["x"] + ring["width"]
    unfold(page)
    control(page, "Query, sea").fill("-1.2")
    assert "star" not in says(page)
    control(page, "Query, engines").fill("1.6")
    assert "on star A!" in says(page)
    assert page.locator(".lmq-met").count() == 1
    where = """(stars) => stars.map((star) => star.getAttribute("transform").match(/[\\d.]+/g).map(Number))"""
    _, far = page.locator(".lmq-star").evaluate_all(where)
    corners = page.locator(".lmq-hull").get_attribute("d").strip("MZ").split("L")
    hull = [tuple(map(float, corner.split())) for corner in corners]

    def inside(a, b, point):
        return (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]) > 0

    assert len({inside(a, b, far) for a, b in zip(hull, [*hull[1:], hull[0]], strict=True)}) == 2


def test_the_answers_of_a_turned_query_are_drawn_where_it_passes(show):
    page = show(lookup())
    before = page.locator(".lmq-round").last.get_attribute("d")
    unfold(page)
    control(page, "Query, sea").fill("0")
    control(page, "Query, engines").fill("-1")  # as long
    points = [set(path[1:].split("L")) for path in (before, page.locator(".lmq-round").last.get_attribute("d"))]
    assert points[0] == points[1]
    middle = page.locator(".lmq-answer").get_attribute("d")[1:].split("l")[0].split()
    assert f"{float(middle[0]):.1f} {float(middle[1]) + 9:.1f}" in points[0]
