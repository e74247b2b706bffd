"""FixedVector: the page shows the record's numbers for every length and size, by mouse and by keyboard."""

import random

import pytest
from seen import cells_of, rightmost

from lmbook.experiments.run import records
from lmbook.figures import FixedVector

LETTERS = "PKKOJMNDAEENOAHNCMBHNEFELEPHHIJIIPMMLJFP"
SIZES = (32, 64, 512)


def record(letters=LETTERS, sizes=SIZES):
    """A record of the form that `recall` writes: the last symbols are right, as many as fit."""
    rng = random.Random(0)
    runs = {}
    for m in sizes:
        room = m // 8
        lengths = range(1, len(letters) + 1)
        lost = {n: "".join(rng.choice("ABCDEFGHIJ") for _ in range(max(0, n - room))) for n in lengths}
        runs[str(m)] = {
            "recall": [round(min(1, room / n), 4) for n in lengths],
            "bits": [round(4.0 * min(n, room) - 0.1 * n, 2) for n in lengths],
            "written": [lost[n] + letters[len(lost[n]) : n] for n in lengths],
        }
    return {"scores": {"source": letters, "longest in training": 20, "symbols": 16, "backwards": runs}}


def says(page):
    return page.locator(".lm-says").inner_text()


def sliders(page):
    return [page.get_by_role("slider", name=name) for name in ("Source length N", "State size m")]


def rows(page):
    page.locator("details").evaluate("(node) => { node.open = true; }")
    return cells_of(page)


# --- in Python ------------------------------------------------------------------------------------------------------


def test_it_takes_its_numbers_from_the_record():
    run = record()
    figure = FixedVector.from_record(run, length=15, size=64)
    assert figure.sizes == list(SIZES)
    kept = run["scores"]["backwards"]["64"]
    assert figure.chosen() == {
        "recall": kept["recall"][14],
        "bits": kept["bits"][14],
        "read": LETTERS[:15],
        "written": kept["written"][14],
        "right": sum(a == b for a, b in zip(LETTERS, kept["written"][14], strict=False)),
    }
    assert f"{kept['recall'][14]:.0%} of the symbols" in figure.alt
    assert kept["written"][14] in figure.fallback()


def test_the_recorded_run_fits():
    for run in records("recall"):
        for order in ("backwards", "forwards"):
            html = FixedVector.from_record(run, order).html()
            assert len(html) < 60_000
            assert html == FixedVector.from_record(run, order).html()


@pytest.mark.parametrize(
    ("state", "message"),
    [({"length": 0}, "length is 0"), ({"length": 41}, "length is 41"), ({"size": 100}, "size is 100")],
)
def test_what_was_not_measured_is_refused(state, message):
    with pytest.raises(ValueError, match=message):
        FixedVector.from_record(record(), **state)


def test_a_record_with_missing_lengths_is_refused():
    broken = record()
    broken["scores"]["backwards"]["64"]["bits"].pop()
    with pytest.raises(ValueError, match="recall, bits and written for 1 to 40"):
        FixedVector.from_record(broken)
    broken = record()
    broken["scores"]["backwards"]["64"]["written"][6] += "A"
    with pytest.raises(ValueError, match="N letters"):
        FixedVector.from_record(broken)


def test_alternative_text_follows_the_state():
    figure = FixedVector.from_record(record())
    for name, value in (("length", 30), ("size", 512)):
        before = figure.alt
        setattr(figure, name, value)
        assert figure.alt != before


# --- on the page ----------------------------------------------------------------------------------------------------


def test_every_length_and_size_shows_the_numbers_of_python(show):
    figure = FixedVector.from_record(record())
    page = show(figure)
    length, size = sliders(page)
    for m in SIZES:
        size.fill(str(SIZES.index(m)))
        for n in (1, 4, 20, 21, 40):
            length.fill(str(n))
            figure.length, figure.size = n, m
            now = figure.chosen()
            assert f"{m} numbers, {n} symbol" in says(page)
            assert f"{now['right']} of {n} are right" in says(page)
            assert ("No model was trained" in says(page)) == (n > 20)
            cells = page.locator(".lmv-cell")
            texts = [cell.locator("span").all_inner_texts() for cell in cells.all()]
            assert "".join(read for read, _ in texts) == now["read"]
            assert "".join(written for _, written in texts) == now["written"]
            assert page.locator(".lmv-lost").count() == n - now["right"]
            shown = rows(page)[SIZES.index(m)]
            assert shown[0] == str(m)
            assert abs(float(shown[1].split()[0]) / 100 - now["recall"]) <= 0.005
            assert abs(float(shown[2]) - max(0, now["bits"])) <= 0.5
            assert shown[3] == f"{now['right']} of {n}"


def test_keys_move_both_sliders(show):
    page = show(FixedVector.from_record(record(), length=5, size=32))
    length, size = sliders(page)
    length.press("ArrowRight")
    assert "32 numbers, 6 symbols" in says(page)
    length.press("End")
    size.press("ArrowRight")
    assert "64 numbers, 40 symbols" in says(page)
    size.press("Home")
    length.press("Home")
    assert "32 numbers, 1 symbol:" in says(page)
    assert length.get_attribute("aria-valuetext") == "1 symbol"
    assert size.get_attribute("aria-valuetext") == "32 numbers"


def test_the_mouse_drags_the_length(show):
    page = show(FixedVector.from_record(record(), length=1))
    box = sliders(page)[0].bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert "40 symbols" in says(page)


def test_the_line_of_the_chosen_size_stands_out(show):
    page = show(FixedVector.from_record(record(), size=32))
    assert page.locator(".lmv-line").count() == len(SIZES)
    assert page.locator(".lmv-now").count() == 1
    before = page.locator(".lmv-now").get_attribute("points")
    sliders(page)[1].press("End")
    assert page.locator(".lmv-now").get_attribute("points") != before


def test_axe_finds_nothing(show, axe_in_every_view):
    page = show(FixedVector.from_record(record()), FixedVector.from_record(record(), length=40))
    page.locator("summary").first.click()
    assert axe_in_every_view(page) == []


def test_it_fits_a_phone(show):
    page = show(FixedVector.from_record(record(), length=40), width=360)
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert rightmost(page, ".lmv-cell, .lm-chart svg") <= 355


def test_the_result_is_read_out(show):
    page = show(FixedVector.from_record(record(), length=3))
    sliders(page)[0].press("ArrowRight")
    page.wait_for_function("document.querySelector('[role=status]').textContent.includes('4 symbols')")
    assert page.get_by_role("status").inner_text() == says(page)
