"""UnrolledRNN: the page shows the states of the trained network as Python has them; mouse and keyboard do the same."""

import numpy as np
import pytest
from seen import cells_of, each, says

from lmbook.figures import UnrolledRNN
from lmbook.figures.unrolled import PLACES, STEPS, TOP, UNITS, compute, signed, stored, visible


def rows(page):
    return cells_of(page, text="textContent")


def bars(page):
    """The values that the bars of the characters stand for, from their heights and their sides of the line."""
    found = each(page, ".lm-along rect", "height", "class")
    return [float(height) / (12 if "lm-plus" in side else -12) for height, side in found]


# --- the stored states ----------------------------------------------------------------------------------------------


def test_the_stored_states_have_the_shapes_they_claim():
    assert len(stored()) == len(PLACES)
    for passage in stored():
        assert len(passage["text"]) == STEPS + 1
        assert len(passage["top"]) == len(passage["p"]) == TOP * STEPS
        assert len(passage["came"]) == STEPS
        likeliest = np.array(passage["p"]).reshape(STEPS, TOP)
        assert (np.diff(likeliest, axis=1) <= 0).all()
        assert (likeliest.sum(1) <= 1001).all()
        for t in range(STEPS):  # what came is among the likeliest with its own probability, or less likely than they
            best = passage["top"][TOP * t : TOP * (t + 1)]
            came = passage["text"][t + 1]
            wanted = likeliest[t, best.index(came)] if came in best else None
            assert passage["came"][t] == wanted if came in best else passage["came"][t] <= likeliest[t, -1]


@pytest.mark.data
def test_the_stored_states_are_those_of_the_shipped_network(real_corpora):
    for old, new in zip(stored(), compute(), strict=True):
        assert old["text"] == new["text"]
        figure, other = UnrolledRNN(), UnrolledRNN()
        figure.passages, other.passages = [old], [new]
        assert abs(figure.states() - other.states()).max() < 1.5 / 127
        assert abs(np.array(old["p"]) - np.array(new["p"])).max() <= 1


def test_alternative_text_holds_the_number_of_the_unit():
    figure = UnrolledRNN(t=5, unit=39, passage=1)
    assert f"unit 39 is {signed(figure.states()[5, 39])}" in figure.alt


# --- on the page ----------------------------------------------------------------------------------------------------


def test_every_number_is_that_of_python(show):
    figure = UnrolledRNN(passage=1, unit=39)
    page = show(figure)
    passage = figure.passages[1]
    found = rows(page)
    heights = bars(page)
    assert len(found) == len(heights) == STEPS
    for t, row in enumerate(found):
        figure.t = t
        guess, p = figure.guesses()[0]
        assert row[:4] == [str(t + 1), visible(passage["text"][t]), signed(figure.states()[t, 39]), visible(guess)]
        assert row[5] == visible(passage["text"][t + 1])
        assert abs(float(row[4].rstrip("%")) - p) < 0.006
        assert abs(heights[t] - figure.states()[t, 39]) < 0.01


def test_a_wrong_order_of_the_bytes_would_be_noticed(show):
    figure, other = UnrolledRNN(unit=39), UnrolledRNN(unit=39)
    first, *rest = other.passages
    other.passages = [{**first, "states": rest[0]["states"]}, *rest]
    assert rows(show(figure)) != rows(show(other))


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_one_scrubs_along_the_text(show, way):
    figure = UnrolledRNN(t=30)
    page = show(figure)
    if way == "mouse":
        page.locator(".lm-along > span").nth(33).click()
    else:
        slider = page.get_by_role("slider", name="Step t")
        for _ in range(3):
            slider.press("ArrowRight")
    figure.t = 33
    guess, h = figure.guesses()[0][0], signed(figure.states()[33, 153])
    assert page.locator(".lm-along > .lm-now").count() == 1
    assert page.locator(".lmu-here").inner_text() == h
    assert f"unit 153 is {h}. Likeliest next: “{visible(guess)}”" in says(page)
    assert page.get_by_role("slider", name="Step t").get_attribute("aria-valuetext") == "34 of 120"


@pytest.mark.parametrize("width", [800, 600, 360])  # beside the text, above it, on a phone
def test_a_unit_is_chosen_in_the_strip_by_number_or_by_a_button(show, width):
    figure = UnrolledRNN(t=30, known=[[39, "capital"], [21, "blank"]])
    page = show(figure, width=width)
    page.locator(".lmu-strip").scroll_into_view_if_needed()
    box = page.locator(".lmu-strip").bounding_box()
    columns = 40 if width == 600 else 20
    pitch = box["width"] / columns
    x, y = (47 % columns + 0.5) * pitch, (47 // columns + 0.5) * pitch
    page.mouse.move(box["x"] + x, box["y"] + y)
    assert page.locator("b", has_text="Unit 47").count() == 1  # shown while the mouse is there, not yet chosen
    assert "unit 153 is" in says(page)
    page.mouse.down()
    page.mouse.up()
    page.mouse.move(1, 1)
    states = figure.states()
    assert f"unit 47 is {signed(states[30, 47])}" in says(page)
    page.get_by_role("button", name="39: capital").click()
    assert f"unit 39 is {signed(states[30, 39])}" in says(page)
    page.get_by_role("slider", name="Unit").press("End")
    assert f"unit 159 is {signed(states[30, 159])}" in says(page)


def test_the_strip_shows_size_and_sign_of_every_unit(show):
    figure = UnrolledRNN(t=12)
    page = show(figure)
    squares = each(page, ".lmu-strip rect[data-unit]", "width", "class")
    assert len(squares) == UNITS
    for (width, sign), value in zip(squares, figure.states()[12], strict=True):
        assert abs(float(width) - (1.5 + 7 * abs(value))) < 0.01
        assert sign == ("lm-plus" if value > 0 else "lm-minus")


def test_another_passage_brings_its_own_text(show):
    page = show(UnrolledRNN(t=3))
    page.get_by_label("Passage").select_option(index=2)
    shown = "".join(page.locator(".lm-along > span").all_inner_texts())
    assert shown == "".join(map(visible, stored()[2]["text"][:STEPS]))
    assert "After “" + "".join(map(visible, stored()[2]["text"][:4])) in says(page)


@pytest.mark.parametrize("t", [0, STEPS - 1])
def test_the_ends_of_the_text_do_no_harm(show, t):
    figure = UnrolledRNN(t=t)
    page = show(figure)
    assert signed(figure.states()[t, 153]) == page.locator(".lmu-here").inner_text()
    assert "unit 153 is" in says(page)


# --- a text of the reader's -------------------------------------------------------------------------------------------


def test_a_text_of_the_readers_is_read_as_by_torch(show):
    import torch

    from lmbook.lab import checkpoints

    model, tokenizer, _ = checkpoints.load("shakespeare-rnn")
    page = show(UnrolledRNN(unit=17))
    for text in ("My dear computer, what a day!", "über alles"):
        page.get_by_label("Your own text").fill(text)
        page.get_by_role("button", name="Read it").click()
        page.wait_for_function("(n) => document.querySelectorAll('.lm-along > span').length === n", arg=len(text) - 1)
        ids = torch.tensor([tokenizer.encode(text)])
        with torch.no_grad():
            h = model.features(ids[:, :-1])[0][0]
            p = torch.softmax(model.output(h), dim=-1)
        cells = rows(page)
        assert [row[1] for row in cells] == [visible(c) if c != "ü" else "▯" for c in text[:-1]]
        found = [float(row[2].replace("−", "-")) for row in cells]
        assert found == pytest.approx(h[:, 17].tolist(), abs=0.01)
        assert [float(row[4]) for row in cells] == pytest.approx(p.amax(-1).tolist(), abs=0.001)
        came = p.gather(1, ids[0, 1:, None])[:, 0].tolist()
        assert [float(row[6]) for row in cells] == pytest.approx(came, abs=0.001)
    assert "▯ stands for characters that the network does not have" in says(page)


def test_one_character_is_too_few(show):
    page = show(UnrolledRNN())
    page.get_by_label("Your own text").fill("a")
    page.get_by_role("button", name="Read it").click()
    page.get_by_text("two characters are the least").wait_for()
    assert page.locator(".lm-along > span").count() == STEPS
