"""PositionWheels: dials, angles and dot products are those of `positions`, by mouse and by keyboard."""

import math
import re

import pytest
from seen import each, number, says, table

from lmbook import positions
from lmbook.figures import PositionWheels
from lmbook.figures.wheels import BASES, LONGEST, WIDTHS


def sliders(page):
    return [page.get_by_role("slider", name=name) for name in ("Position i", "Offset t − i")]


def choose(page, label, value):
    page.get_by_role("group", name=label).get_by_role("radio", name=value, exact=True).check()


def code(width, base, t):
    return positions.sinusoidal(1, width, float(base), start=t)[0].double()


# --- in Python ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("base", BASES)
def test_hands_and_product_are_those_of_the_codes(width, base):
    for i, offset in ((0, 0), (5, 3), (24, 15)):
        figure = PositionWheels(width=width, base=base, i=i, offset=offset)
        one, other = code(width, base, i), code(width, base, i + offset)
        assert figure.product() == pytest.approx((one @ other).item(), abs=1e-5)
        assert len(figure.hands()) == width // 2
        for j, hand in enumerate(figure.hands()):
            for p, place in ((one, "i"), (other, "t")):
                assert math.sin(math.radians(hand[place])) == pytest.approx(p[2 * j].item(), abs=1e-5)
                assert math.cos(math.radians(hand[place])) == pytest.approx(p[2 * j + 1].item(), abs=1e-5)
            assert hand["period"] * hand["speed"] == pytest.approx(2 * math.pi)


def test_alternative_text_and_fallback_hold_the_product():
    figure = PositionWheels(i=9, offset=7, width=12, base=10)
    assert f"{figure.product():.2f}" in figure.alt
    assert f"{figure.product():.2f}".replace("-", "−") in figure.fallback()


def test_bars_of_the_still_lie_on_the_side_of_their_sign():
    figure = PositionWheels(i=17, offset=3)
    bars = re.findall(r'<rect x="([\d.]+)" y="\d+" width="([\d.]+)"', figure.fallback())
    middle = 172
    for (x, wide), hand in zip(bars, figure.hands(), strict=True):
        end = float(x) if hand["cosine"] < 0 else float(x) + float(wide)
        assert end == pytest.approx(middle + 100 * hand["cosine"], abs=0.11)
    assert "table" not in figure.fallback()
    assert "−0.99" in figure.fallback()


# --- on the page ----------------------------------------------------------------------------------------------------


def test_the_page_shows_the_numbers_of_python(show):
    page = show(PositionWheels())
    i, offset = sliders(page)
    for width, base, at, k in ((4, 10, 0, 0), (8, 100, 24, 15), (12, 10_000, 7, 1), (12, 10, 3, 8)):
        choose(page, "Width D", str(width))
        choose(page, "Base C", f"{base:,}")
        i.fill(str(at))
        offset.fill(str(k))
        figure = PositionWheels(width=width, base=base, i=at, offset=k)
        shown = table(page)
        assert len(shown) == width // 2 + 1
        for row, hand in zip(shown, figure.hands(), strict=False):
            assert number(row[2]) % 360 == pytest.approx(hand["i"], abs=0.51) or hand["i"] > 359.4
            assert number(row[3]) % 360 == pytest.approx(hand["t"], abs=0.51) or hand["t"] > 359.4
            assert number(row[4]) == pytest.approx(hand["cosine"], abs=6e-4)
        assert number(shown[-1][4]) == pytest.approx(figure.product(), abs=6e-4)
        product = (code(width, base, at) @ code(width, base, at + k)).item()
        assert number(says(page).split("dot product is ")[1].split(" ")[0]) == pytest.approx(product, abs=1e-3)
        hands = each(page, "svg > .lmpw-t", "x2", "y2")
        assert len(hands) == width // 2
        for j, ends in enumerate(hands):
            x, y = (float(end) - 50 for end in ends)
            assert x / 42 == pytest.approx(code(width, base, at + k)[2 * j].item(), abs=1e-4)
            assert -y / 42 == pytest.approx(code(width, base, at + k)[2 * j + 1].item(), abs=1e-4)


def test_the_shades_of_the_table_follow_the_products(show):
    figure = PositionWheels()
    page = show(figure)
    cells = each(page, ".lmpw-cell", "fill-opacity", "class")
    shades = [float(opacity) * (-1 if "minus" in kind else 1) for opacity, kind in cells]
    P = positions.sinusoidal(figure.length, figure.width, float(figure.base)).double()
    assert shades == pytest.approx((P @ P.T / (figure.width / 2)).flatten().tolist(), abs=6e-4)
    assert min(shades) < 0


def test_openings_and_bars_are_angles_and_cosines_and_stay_where_i_moves(show):
    page = show(figure := PositionWheels(i=17, offset=3))

    def seen():
        dials = page.locator(".lmpw-dial").all_inner_texts()
        return [number(text.split(": ")[1].split("°")[0]) for text in dials], each(
            page, ".lmpw-dial rect", "x", "width"
        )

    before = seen()
    wanted = [math.degrees(math.acos(hand["cosine"])) for hand in figure.hands()]
    assert before[0] == pytest.approx(wanted, abs=0.51)
    for (x, wide), hand in zip(before[1][1::2], figure.hands(), strict=True):
        end = float(x) + (float(wide) if hand["cosine"] > 0 else 0)
        assert end == pytest.approx(50 + 50 * hand["cosine"], abs=1e-6)
    hands = each(page, ".lmpw-t", "x2")
    sliders(page)[0].press("ArrowRight")
    assert seen() == before
    assert each(page, ".lmpw-t", "x2") != hands
    sliders(page)[1].press("ArrowRight")
    assert seen() != before


def test_the_bet_names_the_dial_that_changes_most(show):
    page = show(PositionWheels(i=17, offset=3), bets=True)
    page.get_by_role("button", name="dial 2").click()
    changes = [
        other["cosine"] - one["cosine"]
        for one, other in zip(PositionWheels(offset=3).hands(), PositionWheels(offset=6).hands(), strict=True)
    ]
    most = max(range(4), key=lambda j: abs(changes[j]))
    told = page.locator(".lm-wager").inner_text()
    assert f"From offset 3 to 6 dial {most} changes the product most, by {changes[most]:+.2f}, and dial 2" in told
    assert "offset 6" in says(page)
    dials = page.locator(".lmpw-dial")
    for dial, change in zip(dials.all_inner_texts(), changes, strict=True):
        assert f"{change:+.2f}".replace("-", "−") in dial
    assert [one for one in range(4) if "you" in dials.nth(one).inner_text()] == [2]
    assert page.locator(".lmpw-most").inner_text() == f"change {changes[most]:+.2f}"
    ends = page.locator(".lmpw-old").evaluate_all("(lines) => lines.map((line) => line.x1.baseVal.value)")
    assert ends == pytest.approx([50 + 50 * hand["cosine"] for hand in PositionWheels(offset=3).hands()], abs=1e-3)


def test_keys_move_both_sliders_and_the_product_stays_at_one_offset(show):
    page = show(PositionWheels(i=5, offset=3))
    i, offset = sliders(page)
    before = says(page).split("dot product is ")[1].split(" ")[0]
    i.press("ArrowRight")
    assert "Positions 6 and 9, offset 3" in says(page)
    assert says(page).split("dot product is ")[1].split(" ")[0] == before
    i.press("End")
    assert "Positions 24 and 27" in says(page)
    offset.press("ArrowRight")
    assert "Positions 24 and 28, offset 4" in says(page)
    assert says(page).split("dot product is ")[1].split(" ")[0] != before
    offset.press("End")
    assert f"offset {LONGEST}:" in says(page)


def test_the_key_of_the_hands_stands_in_one_line(show):
    page = show(PositionWheels(i=24, offset=LONGEST - 1))
    sliders(page)[1].press("End")
    key = page.locator("p:has(> * .lmpw-key, > .lmpw-key)")
    assert f"offset {LONGEST - 1}" in key.inner_text().replace("\u00a0", " ")
    assert key.evaluate("(one) => one.offsetHeight / parseFloat(getComputedStyle(one).fontSize)") < 2


def test_the_mouse_drags_a_slider_and_picks_a_pair_in_the_table(show):
    page = show(PositionWheels(i=0))
    box = sliders(page)[0].bounding_box()
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert "Positions 24 and 27" in says(page)
    cells = page.locator(".lmpw-cell")
    cells.nth(13 * 40 + 6).click()
    assert "Positions 6 and 13, offset 7" in says(page)
    cells.nth(2 * 40 + 10).click()  # above the diagonal: the same pair, mirrored
    assert "Positions 2 and 10, offset 8" in says(page)
    cells.nth(39 * 40).click()  # too far apart: the nearest that there is
    assert f"Positions 0 and {LONGEST}, offset {LONGEST}" in says(page)
    cells.nth(7 * 40 + 3).hover()
    page.mouse.down()
    cells.nth(12 * 40 + 5).hover()  # dragged
    assert "Positions 5 and 12, offset 7" in says(page)
    page.mouse.up()
