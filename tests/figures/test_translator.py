"""Translator: the page translates what a reader types as torch does, says what fails, and fetches nothing unasked."""

import random

import pytest
import torch
from playwright.sync_api import expect
from seen import cells_of, says
from traitlets import TraitError

from lmbook.figures import Translator, modules
from lmbook.figures.translator import EXAMPLES, MOST, looked, shipped, translated

WORDS = (
    "der",
    "ein",
    "Mann",
    "Hund",
    "Frau",
    "zwei",
    "alte",
    "rote",
    "Kinder",
    "spielt",
    "im",
    "Park",
    "Ball",
    "xylofon",
)


def sentence(seed):
    """One that nobody computed beforehand."""
    return " ".join(random.Random(seed).choices(WORDS, k=7)) + "."


def written(page, k=0):
    return page.locator(".lmx-written").nth(k).inner_text()


def rows(page):
    table = page.locator("details").last
    table.evaluate("(node) => { node.open = true; }")
    cells = cells_of(table)
    return [[float(cell) for cell in row[1:]] for row in cells]


def translate(page, text):
    page.locator(".lmx-ask input").fill(text)
    page.get_by_role("button", name="Translate", exact=True).click()
    page.wait_for_function(
        "() => !document.querySelector('.lmx-go').innerText.includes('…')"
    )  # done, or it says why not


# --- in Python ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["multi30k-transformer", "multi30k-additive", "caption-scores"])
def test_the_weights_are_those_of_the_model(name):
    model, reader, _ = shipped(name)
    text = sentence(0) if name != "caption-scores" else EXAMPLES["English"][0]
    found = translated(name, text)
    x = torch.tensor([reader.encode(text)])
    y = torch.tensor([[2, *(token["id"] for token in found["target"][:-1])]])
    with torch.no_grad():
        logits, alpha = model(x, y, need_weights=True)
    likeliest = logits[0].index_fill(1, torch.tensor([2]), -99).argmax(-1)  # never <sos>
    assert [token["id"] for token in found["target"]] == likeliest.tolist()
    heads = torch.tensor([one for one in found["attention"] if one["kind"] == "cross"][-1]["weights"])
    assert torch.allclose(heads.mean(0), alpha[0], atol=1e-5)
    assert len(looked(model, x, y)) == len(found["attention"])


def test_a_beginning_that_is_given_is_kept():
    free = translated("multi30k-additive", EXAMPLES["German"][0])["target"]
    other = free[2]["others"][1]["id"]
    forced = [token["id"] for token in free[:2]] + [other]
    again = translated("multi30k-additive", EXAMPLES["German"][0], forced)["target"]
    assert [token["id"] for token in again[:3]] == forced
    assert again[2]["p"] == pytest.approx(free[2]["others"][1]["p"])


def test_alternative_text_and_fallback_say_what_is_seen():
    figure = Translator(text="Zwei Hunde laufen am Strand.")
    assert translated("multi30k-transformer", "Zwei Hunde laufen am Strand.")["text"] in figure.alt
    word, at, weight = figure.strongest()[1]
    assert f"{word} at {at} ({weight:.2f})" in figure.alt
    assert f"<th scope='row'>{word}</th><td>{at}</td><td>{weight:.2f}</td>" in figure.fallback()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"use": ("shakespeare",)}, "there are multi30k"),
        ({"text": "x" * 300}, "text has 300"),
        ({"text": " \n"}, "no word"),
        ({"shown": [2]}, "shown"),
        ({"use": ("multi30k-additive", "caption-scores"), "shown": [0, 1]}, "one language"),
        ({"kind": "past"}, "kind"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, said):
    with pytest.raises((ValueError, TraitError), match=said):
        Translator(**wrong)


def test_the_kernel_hands_over_the_weights_that_are_asked_for(monkeypatch):
    figure, sent = Translator(), []
    monkeypatch.setattr(figure, "send", lambda message, buffers=None: sent.append((message, buffers)))
    figure._handle_custom_msg({"weights": "multi30k-additive"}, [])
    figure._handle_custom_msg({"weights": "shakespeare"}, [])
    figure._handle_custom_msg({"something": "else"}, [])
    (answer, (data,)), (refusal, nothing) = sent
    assert answer["card"]["model"]["class"].endswith("AttentionSeq2Seq")
    assert len(data) == figure.translators[1]["bytes"]
    assert "no model shakespeare" in refusal["error"]
    assert nothing is None


# --- on the page ----------------------------------------------------------------------------------------------------


def test_the_first_view_needs_no_model_and_is_pythons(show):
    page = show(Translator(place=3, head=2, layer=3))
    found = translated("multi30k-transformer", EXAMPLES["German"][0])
    assert written(page) == found["text"]
    weights = [one for one in found["attention"] if one["kind"] == "cross"][2]["weights"][1]
    assert rows(page) == [pytest.approx(row, abs=0.006) for row in weights]
    page.locator(".lmx-heads button").nth(5).click()  # what is shown is chosen without a model
    assert "layer 2, head 2" in page.locator(".lmx-board").inner_text()
    assert page.asked == []


def test_the_readers_sentence_is_translated_as_by_torch(show):
    page = show(Translator())
    for seed in range(3):
        translate(page, sentence(seed))
        found = translated("multi30k-transformer", sentence(seed))
        assert written(page) == found["text"]
        page.locator(".lmx-heads button").nth(6).click()
        weights = [one for one in found["attention"] if one["kind"] == "cross"][1]["weights"][2]
        assert rows(page) == [pytest.approx(row, abs=0.006) for row in weights]
    for way, kind in (("the source, to read it", "encoder"), ("what is written so far", "self")):
        page.get_by_label("It looks at").select_option(label=way)
        weights = [one for one in found["attention"] if one["kind"] == kind][1]["weights"][2]
        assert [row[: len(wanted)] for row, wanted in zip(rows(page), weights, strict=True)] == [
            pytest.approx(row, abs=0.006) for row in weights
        ]


def test_a_word_is_opened_to_its_sums_and_scores(show):
    page, text = show(Translator()), sentence(5)
    translate(page, text)
    page.locator(".lmx-draw ol button").nth(1).click()
    page.locator(".lmx-open summary").click()
    page.wait_for_function("document.querySelectorAll('.lmx-open table').length === 2")
    stages, scores = page.locator(".lmx-open table").all()
    model, _, writer = shipped("multi30k-transformer")
    target = translated("multi30k-transformer", text)["target"]
    best = target[1]["others"][0]
    cells = cells_of(stages)
    assert len(cells) == 2 + 3 * len(model.decoder.layers)
    with torch.no_grad():
        word = model.target.scale * model.target.embedding.weight[target[0]["id"]]
    assert float(cells[0][2]) == pytest.approx(word.norm().item(), abs=0.06)
    assert cells[-1][1] == f"{writer.pieces[best['id']].decode().strip()} ({best['p']:.2f})"
    numbers = cells_of(scores, "td")
    e, alpha = zip(*[[float(cell.replace("−", "-")) for cell in row] for row in numbers], strict=True)
    assert torch.softmax(torch.tensor(e), 0).tolist() == pytest.approx(alpha, abs=0.01)


def test_what_is_opened_is_of_the_translation_in_sight_whatever_is_typed_now(show):
    page = show(Translator())
    translate(page, sentence(5))
    page.locator(".lmx-open summary").click()
    tables = page.locator(".lmx-open table")

    def opened(place):
        page.locator(".lmx-draw ol button").nth(place).click()
        expect(page.locator(".lmx-open .lm-table")).to_have_attribute("aria-busy", "false")
        return [cells_of(table) for table in tables.all()]

    second, first = opened(1), opened(0)
    assert second != first
    translate(page, "  ")
    assert says(page).startswith("Type a sentence in German")
    assert opened(1) == second


def test_another_word_changes_what_follows(show):
    page = show(Translator(("multi30k-additive",)))
    text = sentence(7)
    translate(page, text)
    free = translated("multi30k-additive", text)["target"]
    page.locator(".lmx-draw ol button").nth(1).click()
    other = next(one for one in free[1]["others"] if one["id"] != free[1]["id"])
    page.get_by_role("button", name=other["text"].strip()).first.click()
    wanted = translated("multi30k-additive", text, [free[0]["id"], other["id"]])["text"]
    page.wait_for_function("(text) => document.querySelector('.lmx-written').textContent === text", arg=wanted)


def test_two_translators_side_by_side(show):
    page = show(Translator())
    page.get_by_label("side by side").click()
    translate(page, sentence(9))
    assert written(page) == translated("multi30k-transformer", sentence(9))["text"]
    assert written(page, 1) == translated("multi30k-additive", sentence(9))["text"]


def test_unknown_words_are_shown_as_what_they_become(show):
    page = show(Translator(("multi30k-additive", "caption-scores")))
    page.get_by_label("RNNsearch for captions").click()
    translate(page, "the happy zebra sees a cat .")
    assert "The model has no “zebra”; it reads <unk>" in says(page)
    assert written(page) == translated("caption-scores", "the happy zebra sees a cat .")["text"]


def test_nothing_to_translate_and_more_than_it_can_end(show):
    page = show(Translator(("multi30k-additive",)))
    translate(page, "   ")
    assert says(page).startswith("Type a sentence in German")
    translate(page, "zz " * 60)
    found = translated("multi30k-additive", "zz " * 60)
    assert written(page) == found["text"]
    assert ("stopped after" in says(page)) == (len(found["target"]) == MOST and not found["ended"])


def test_where_the_weights_are_missing_a_sentence_says_so_and_the_first_view_stays(show):
    page = show(Translator(), files=modules())
    page.expected = "404"
    first = written(page)
    translate(page, "Ein Hund.")
    assert "could not be made: the server answered 404" in says(page)
    assert written(page) == first


def test_without_a_worker_the_page_computes_itself(show):
    page = show("<script>delete window.Worker;</script>", Translator(("multi30k-additive",)))
    translate(page, sentence(11))
    assert written(page) == translated("multi30k-additive", sentence(11))["text"]


def test_the_keyboard_walks_the_translation(show):
    page = show(Translator(place=0))
    first = page.locator(".lmx-draw ol button").first
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator(".lmx-draw ol button[aria-pressed='true']").inner_text() == "is"
    assert "“is” looks most at" in says(page)
    page.locator(".lmx-heads button[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert "head 2" in page.locator(".lmx-board").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_it_fits_a_phone(show, axe, scheme):
    page = show(Translator(shown=[0, 1]), scheme=scheme, width=360)
    for summary in page.locator("summary").all():
        summary.click()
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
