"""FollowToken: the stored numbers are the model's, the page shows Python's, mouse and keyboard reach every stage."""

import numpy as np
import pytest
import torch

from lmbook.figures import FollowToken
from lmbook.figures.sublayers import SIDES, pack, passes, sentence, shipped, trained, unpack

FILE = shipped()


@pytest.fixture(scope="module")
def model():
    return trained()


def says(page):
    return page.locator(".lm-says").inner_text()


def stages(page):
    return page.locator(".lmt-stages button")


def number(text):
    return float(text.replace("−", "-"))


def rows(page):
    page.locator("details").evaluate("(node) => { node.open = true; }")
    return [line.locator("th, td").all_inner_texts() for line in page.locator("details tbody tr").all()]


# --- in Python ------------------------------------------------------------------------------------------------------


def test_packing_keeps_thousandths():
    numbers = np.array([0.0, -1.2345, 3.0004, 32.7, -0.0006])
    assert unpack(pack(numbers)).tolist() == [0, -1234, 3000, 32700, -1]


def test_the_stages_add_up_to_what_the_model_computes(model):
    transformer, reader, writer, parts = model
    source, target = parts["test"][FILE["chosen"][0]]
    x, y = torch.tensor([reader.encode(source)]), torch.tensor([[2, *writer.encode(target)]])
    found = passes(transformer, x, y)
    with torch.no_grad():
        memory, logits = transformer.encode(x)[0], transformer(x, y)[0]
    assert np.allclose(found["source"]["out"], memory, atol=1e-5)
    assert np.allclose(found["target"]["log_p"], torch.log_softmax(logits, dim=-1), atol=1e-4)
    for side in SIDES:
        for alpha in found[side]["weights"]:
            assert np.allclose(alpha.sum(-1), 1, atol=1e-5)


def test_the_stored_file_is_what_the_shipped_weights_give(model):
    transformer, reader, writer, parts = model
    for number_, kept in zip(FILE["chosen"], FILE["sentences"], strict=True):
        again = sentence(transformer, reader, writer, parts["test"][number_])
        for side in SIDES:
            assert again[side]["words"] == kept[side]["words"]
            for key in ("vectors", "weights"):
                for one, other in zip(again[side][key], kept[side][key], strict=True):
                    assert np.abs(unpack(one) - unpack(other)).max() <= 2
        assert [[word for word, _ in row] for row in again["next"]] == [
            [word for word, _ in row] for row in kept["next"]
        ]


def test_it_is_small_and_the_same_each_time():
    assert len(FollowToken().html()) < 150_000
    assert FollowToken().html() == FollowToken().html()


def test_alternative_text_follows_the_state():
    figure = FollowToken()
    for name, value in (("stage", 5), ("side", "source"), ("token", 3), ("chosen", 1)):
        before = figure.alt
        setattr(figure, name, value)
        assert figure.alt != before
    assert "likeliest next word" in FollowToken(side="target", stage=9).alt


@pytest.mark.parametrize(
    ("state", "message"),
    [({"chosen": 99}, "chosen is 99"), ({"stage": -1}, "stage is -1"), ({"side": "left"}, "'left'")],
)
def test_what_is_not_there_is_refused(state, message):
    with pytest.raises(ValueError, match=message):
        FollowToken(**state)


# --- on the page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", SIDES)
def test_every_stage_shows_the_numbers_of_python(show, side):
    figure = FollowToken(side=side, token=2, stage=0)
    page = show(figure)
    count = stages(page).count()
    assert count == len(figure.stages(side))
    for stage in range(count):
        stages(page).nth(stage).click()
        figure.stage = stage
        now, shown = figure.now(), rows(page)
        assert np.allclose([number(row[2]) for row in shown], now["sum"] / 1000, atol=0.0051)
        if now["added"] is not None:
            assert np.allclose([number(row[1]) for row in shown], now["added"] / 1000, atol=0.0051)
            assert f"length {np.linalg.norm(now['sum'] / 1000):.1f}" in says(page)
        if now["weights"] is not None:
            cells = page.locator(".lmt-heads tbody td").all_inner_texts()
            assert np.allclose([number(cell) for cell in cells], now["weights"].ravel() / 1000, atol=0.0051)
        if now["kind"] == "feed":
            assert f"{now['active']} are above 0" in page.locator(".lmt-panel").inner_text()
        if now["kind"] == "output":
            labels = page.locator(".lm-bar-label").all_inner_texts()
            assert labels == [word for word, _ in now["next"]]
        assert f"“{now['word']}”" in says(page)


def test_next_and_back(show):
    page = show(FollowToken(side="source", token=0, stage=0))
    back, forward = (page.get_by_role("button", name=name, exact=True) for name in ("Back", "Next"))
    assert back.is_disabled()
    before = says(page)
    for _ in range(stages(page).count() - 1):
        forward.click()
        assert says(page) != before
        before = says(page)
    assert forward.is_disabled()
    assert "last layernorm" in says(page)


def test_a_click_chooses_the_token_and_its_side(show):
    page = show(FollowToken(side="source", token=0, stage=2))
    words = FILE["sentences"][0]["target"]["words"]
    group = page.get_by_role("group", name="tokens of the target")
    group.get_by_role("button").nth(3).click()
    assert f"“{words[3]}”" in says(page)
    assert group.get_by_role("button", pressed=True).all_inner_texts() == [words[3]]


def test_keys_move_among_tokens_and_stages(show):
    page = show(FollowToken(side="target", token=0, stage=0))
    page.get_by_role("group", name="tokens of the target").get_by_role("button").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert f"“{FILE['sentences'][0]['target']['words'][1]}”" in says(page)
    page.locator(".lmt-stages button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert "self-attention, layer 1" in says(page)
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"


def test_another_sentence(show):
    page = show(FollowToken(side="target", token=1, stage=2))
    page.get_by_label("Source", exact=True).select_option(index=1)
    assert f"“{FILE['sentences'][1]['target']['words'][1]}”" in says(page)


@pytest.mark.parametrize("stage", [3, 9])
def test_axe_finds_nothing_and_it_fits_a_phone(show, axe_in_every_view, stage):
    page = show(FollowToken(side="target", token=2, stage=stage))
    page.locator("summary").click()
    assert axe_in_every_view(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
    page.set_viewport_size({"width": 360, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    suppressed = "[...document.querySelectorAll('figure :is(button, input, select, summary, [tabindex])')]"
    assert page.evaluate(f"{suppressed}.every((node) => node.dataset.lmSuppressShortcuts === 'true')")


def test_the_result_is_read_out(show):
    page = show(FollowToken(side="target", token=2, stage=2))
    page.get_by_role("button", name="Next", exact=True).click()
    page.wait_for_function("document.querySelector('[role=status]').textContent.includes('attention to the source')")
    assert page.get_by_role("status").inner_text() == says(page)
