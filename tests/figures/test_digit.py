"""CompleteDigit: the model in the page computes what torch computes, and rows are drawn by mouse and by keyboard."""

import atexit
import functools
import json
import random

import pytest
import torch
from playwright.sync_api import expect
from py_mini_racer import MiniRacer
from seen import ATOB
from traitlets import TraitError

from lmbook.data.digits import PixelCodec, digits
from lmbook.figures import CompleteDigit, bundle, digit, modules
from lmbook.gpt import GPT, gelu_tanh
from lmbook.lab import checkpoints
from lmbook.lab.recipes.tasks import next_token_nll
from lmbook.lab.train import evaluate


@functools.cache
def gpt(seed=0, n_layers=2):
    """An untrained GPT with weights large enough for sharp answers."""
    torch.manual_seed(seed)
    model = GPT(32, 64, 16, n_heads=4, n_layers=n_layers, activation=gelu_tanh)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * (0.3 if weight.dim() > 1 else 0.1))
    return model


def greys(seed):
    rng = random.Random(seed)
    return [rng.randrange(17) for _ in range(64)]


@pytest.fixture
def call():
    """call(expression, name=value, ...) -> its value, where pixelgpt.mjs is loaded without a browser."""
    machine = MiniRacer()
    atexit.register(machine.close)
    machine.eval(ATOB)
    machine.eval(bundle.bundle("pixelgpt").replace("export ", "") + ";undefined")

    def run(expression, **values):
        machine.eval(";".join(f"globalThis.{name} = {json.dumps(value)}" for name, value in values.items()))
        return json.loads(machine.eval(f"JSON.stringify({expression})"))

    return run


def answered(page):
    """Waits until the engine has answered to what stands there."""
    page.locator(".lmpx-grid[aria-busy=false]").wait_for()


def says(page):
    answered(page)
    return page.locator(".lm-says").inner_text()


def columns(page):
    """The height of each digit's column."""
    answered(page)
    return page.locator(".lmpx-columns i").evaluate_all(
        "(all) => all.map((one) => Number(one.style.getPropertyValue('--lmpx-p')))"
    )


def shades(page):
    """The grey of each of the 64 squares."""
    answered(page)
    return page.locator(".lmpx-grid .lmpx-cell").evaluate_all(
        "(cells) => cells.map((c) => Math.round(16 * parseFloat(c.style.getPropertyValue('--lmpx'))))"
    )


EXAMPLES = [{"label": 3, "pixels": greys(3)}, {"label": 7, "pixels": greys(7)}]


# --- the model in JavaScript ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_layers", [1, 2])
def test_logits_in_the_page_are_those_of_torch(call, n_layers):
    network = digit.packed(gpt(n_layers=n_layers))
    torch.manual_seed(1)
    ids = torch.randint(32, (64,))
    with torch.no_grad():
        wanted = digit.unpacked(network)(ids[None])[0]
    code = "(() => { const g = new PixelGPT(net); return ids.map((id) => Array.from(g.read(id))); })()"
    found = torch.tensor(call(code, net=network, ids=ids.tolist()))
    assert (found - wanted).abs().max() < 1e-4
    assert wanted.abs().max() > 1  # not all the same near 0


def test_rounding_to_int8_changes_little_and_rounding_again_nothing():
    model = gpt()
    network = digit.packed(model)
    rounded = digit.unpacked(network)
    for name, weight in model.state_dict().items():
        change = (rounded.state_dict()[name] - weight).abs().max()
        assert change <= (weight.abs().max() / 250 if weight.ndim == 2 else 0)
    again = digit.unpacked(digit.packed(rounded))
    for name, weight in rounded.state_dict().items():
        assert torch.allclose(again.state_dict()[name], weight, atol=1e-7)


@pytest.mark.parametrize("rows", [0, 1, 4, 7])
def test_likelihoods_and_completions_agree(call, rows):
    figure = CompleteDigit(gpt(), pixels=greys(0), rows=rows, seed=5)
    call("null", net=figure.network)
    call(
        "(globalThis.model = new PixelGPT(net), "
        "globalThis.read = [...Array(10).keys()].map((c) => model.behind(given, c)), null)",
        given=greys(0)[: 8 * rows],
    )
    found = torch.tensor(call("read.map((one) => one.logP)"), dtype=torch.float64)
    assert (found - figure.log_likelihoods()).abs().max() < 1e-4
    for temperature in (0.0, 0.8, 1.5):
        figure.temperature = temperature
        for sample in range(3):
            code = f"model.write(read[{figure.asked()}], {64 - 8 * rows}, {temperature}, {5 * digit.SAMPLES + sample})"
            assert call(code) == figure.completion(sample)


def test_the_likelihood_is_the_one_of_the_recipe():
    images, labels = (x[:3] for x in digits())
    ids = PixelCodec().encode(images, labels)
    for image, label, row in zip(images, labels, ids, strict=True):
        figure = CompleteDigit(gpt(), pixels=image.flatten().int().tolist(), rows=7)
        short = row[None, : 1 + 56]
        wanted = evaluate(digit.unpacked(figure.network), [(short[:, :-1], short[:, 1:])], next_token_nll) * 56
        assert -float(figure.log_likelihoods()[label]) == pytest.approx(wanted, rel=1e-4)


def test_the_random_numbers_are_uniform_and_the_same_in_both(call):
    found = call("(() => { const u = generator(7); return Array.from({ length: 500 }, u); })()")
    ours = digit.uniforms(7)
    assert found == [next(ours) for _ in range(500)]
    assert 0.45 < sum(found) / 500 < 0.55
    assert min(found) < 0.02
    assert max(found) > 0.98


def test_drawing_follows_the_probabilities(call):
    z = [0.0, 1.0, -1.0]
    code = "(() => { const u = generator(1); return Array.from({ length: 4000 }, () => drawn(z, 0.5, u())); })()"
    found = torch.tensor(call(code, z=z)).bincount() / 4000
    assert (found - torch.softmax(torch.tensor(z) / 0.5, 0)).abs().max() < 0.03


# --- in Python ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"rows": 8}, "rows"),
        ({"digit": 10}, "digit"),
        ({"temperature": 2.0}, "temperature"),
        ({"pixels": [0] * 63}, "63 numbers"),
        ({"pixels": [17] + [0] * 63}, "0 to 16"),
    ],
)
def test_what_does_not_exist_is_refused(state, message):
    with pytest.raises((ValueError, TraitError), match=message):
        CompleteDigit(gpt(), **state)


def test_the_shipped_model_fits_and_knows_digits():
    images, labels = digits()
    figure = CompleteDigit(examples=[{"label": 3, "pixels": images[3].flatten().int().tolist()}])
    assert len(figure.html()) < 150_000
    right = 0
    for image, label in zip(images[:30], labels[:30], strict=True):
        figure.pixels, figure.rows = image.flatten().int().tolist(), 7
        right += int(figure.posterior().argmax()) == label
    assert right >= 25  # chance is 3


# --- on the page ----------------------------------------------------------------------------------------------------


def test_the_page_shows_the_numbers_of_python(show):
    figure = CompleteDigit(gpt(), EXAMPLES)
    page = show(figure)
    p = figure.posterior()
    expect(page.locator(".lm-says")).to_contain_text(f": a {int(p.argmax())},".replace("a 8", "an 8"))
    assert columns(page) == pytest.approx(p.tolist(), abs=0.001)
    named = {str(c): f"{x:.2f}".removeprefix("0") for c, x in enumerate(p.tolist()) if 0.005 <= x < 0.995}
    shown = [one.split() for one in page.locator(".lmpx-columns li").all_inner_texts()]
    assert named.items() <= {one[-1]: one[0] for one in shown}.items()
    assert shades(page) == [*EXAMPLES[0]["pixels"][:32], *figure.completion()]
    page.get_by_role("button", name="7", exact=True).click()
    figure.pixels = EXAMPLES[1]["pixels"]
    assert shades(page) == [*EXAMPLES[1]["pixels"][:32], *figure.completion()]


def test_another_digit_and_another_try(show):
    figure = CompleteDigit(gpt(), EXAMPLES)
    page = show(figure)
    page.get_by_label("Digit to write").select_option(label="8")
    figure.digit = 8
    answered(page)
    assert page.locator(".lmpx-asked").inner_text().split()[-1] == "8"
    assert shades(page)[32:] == figure.completion()
    page.get_by_role("button", name="Write again").click()
    figure.seed = 1
    assert shades(page)[32:] == figure.completion()


def test_rows_and_temperature_by_key(show):
    figure = CompleteDigit(gpt(), EXAMPLES)
    page = show(figure)
    page.get_by_role("slider", name="Rows that you give").press("ArrowLeft")
    assert page.locator("button.lmpx-cell").count() == 24
    assert "From 3 rows" in says(page)
    page.get_by_role("slider", name="Temperature").press("Home")
    figure.rows, figure.temperature = 3, 0.0
    assert shades(page)[24:] == figure.completion()
    page.get_by_role("slider", name="Rows that you give").press("Home")
    assert page.locator("button.lmpx-cell").count() == 0
    assert "Nothing is given" in says(page)


def test_keys_move_and_paint(show):
    page = show(CompleteDigit(gpt(), EXAMPLES, pixels=[0] * 64))
    cells = page.locator("button.lmpx-cell")
    assert cells.evaluate_all("(list) => list.filter((c) => c.tabIndex === 0).length") == 1
    cells.first.focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert shades(page)[9] == 16
    assert page.locator(":focus").inner_text() == "row 2, column 2: grey 16 of 16"
    page.keyboard.press("Space")
    assert shades(page)[9] == 0
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    assert "row 2, column 1" in page.locator(":focus").inner_text()
    for _ in range(9):
        page.keyboard.press("ArrowDown")
    assert "row 4, column 1" in page.locator(":focus").inner_text()


def test_the_mouse_draws_a_line_and_the_brush_has_a_grey(show):
    page = show(CompleteDigit(gpt(), EXAMPLES, pixels=[0] * 64))
    boxes = [page.locator("button.lmpx-cell").nth(i).bounding_box() for i in (10, 13)]
    page.get_by_role("radio", name="half").check()
    page.mouse.move(boxes[0]["x"] + 9, boxes[0]["y"] + 9)
    page.mouse.down()
    page.mouse.move(boxes[1]["x"] + 9, boxes[1]["y"] + 9)  # in one leap
    page.mouse.up()
    assert shades(page)[8:16] == [0, 0, 8, 8, 8, 8, 0, 0]
    page.locator("button.lmpx-cell").nth(11).click()
    assert shades(page)[8:16] == [0, 0, 8, 0, 8, 8, 0, 0]


def test_the_classifier_of_patches_judges_the_whole_image(show):
    page = show(figure := CompleteDigit(pixels=greys(8), rows=5, temperature=0.0))
    assert "could" not in page.inner_text("figure")
    page.get_by_role("button", name="Ask the classifier").click()
    classifier = checkpoints.load(figure.models[0]).model
    for rows in (5, 3):  # once asked it goes on judging
        figure.rows = rows
        page.get_by_role("slider", name="Rows that you give").fill(str(rows))
        image = torch.tensor(figure.pixels[: rows * digit.SIDE] + figure.completion(), dtype=torch.float32)
        p = classifier(image.view(1, digit.SIDE, digit.SIDE))[0].softmax(-1)
        first, second = p.argsort(descending=True)[:2].tolist()
        said = f"P = {p[first]:.2f}, before {'an' if second == 8 else 'a'} {second}, {p[second]:.2f}."
        page.get_by_text(
            f"The classifier takes the whole image for {'an' if first == 8 else 'a'} {first}, {said}"
        ).wait_for()


def test_where_the_classifier_is_missing_a_sentence_says_so(show):
    page = show(CompleteDigit(), files=modules())
    page.expected = "404"
    page.get_by_role("button", name="Ask the classifier").click()
    page.get_by_text("The classifier could not be asked: the server answered 404.").wait_for()


def test_the_samples_have_their_room_before_they_are_drawn(show):
    for width in (360, 800):
        page = show(CompleteDigit(gpt(), EXAMPLES), width=width)
        page.locator(".lmpx-others .lmpx-small").first.wait_for()
        others = page.locator(".lmpx-others")
        drawn = others.evaluate("(one) => one.offsetHeight")
        others.evaluate("(one) => one.replaceChildren()")
        assert others.evaluate("(one) => one.offsetHeight") == pytest.approx(drawn, abs=2)
