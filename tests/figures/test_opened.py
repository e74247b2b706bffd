"""OpenTransformer: it opens by keys, mouse and address, and each number in it is torch's for the reader's sentence."""

import base64
import json
import random
import re

import numpy as np
import pytest
import torch
from seen import says

from lmbook import data, positions
from lmbook.figures import OpenTransformer, bundle, modules
from lmbook.figures.insides import Opened, tokens
from lmbook.figures.opened import ABOUT, BERT, GPT, asked, described, first_view, looks, parsed
from lmbook.figures.opened import TRANSLATOR as MODEL
from lmbook.figures.translator import shipped, translated

OWN = "Drei rote Katzen jagen zwölf Mäuse über den Zaun."


def ready(page):
    page.wait_for_function("!document.querySelector('.lmo-stage').ariaBusy")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
        ready(page)


def to(page, address):
    page.evaluate("(address) => { location.hash = address; }", f"#figure=opened&{address}")
    ready(page)


def now(page):
    """What has the focus, and where the figure is open."""
    return page.evaluate("document.activeElement.ariaLabel"), page.locator(".lmo-way [aria-current]").inner_text()


# --- in Python ------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_the_parts_add_up_to_the_model():
    model, reader, _ = shipped(MODEL)
    x, ids = torch.tensor([reader.encode(OWN)]), [7, 300, 41, 9]
    trace = Opened(MODEL, OWN, "target", 3, ids)
    logits, alpha = model(x, torch.tensor([[2, *ids[:-1]]]), need_weights=True)
    y = model.decoder.norm(trace.stages[-1]["next"])
    assert torch.allclose(model.output(y), logits[0, 3], atol=1e-4)
    cross = [stage for stage in trace.stages if stage["kind"] == "cross"]
    assert torch.allclose(cross[-1]["weights"].mean(0), alpha[0, 3], atol=1e-5)
    for stage, layer in zip(cross, model.decoder.layers, strict=True):
        assert torch.allclose(layer.cross.W_o(stage["context"]), stage["added"], atol=1e-4)
    last = trace.inside(len(trace.stages))
    assert last["others"][0]["logit"] == pytest.approx(logits[0, 3].max().item(), abs=1e-4)
    source = Opened(MODEL, OWN, "source", 2)
    assert torch.allclose(model.encoder.norm(source.stages[-1]["next"]), model.encode(x)[0, 2], atol=1e-4)


def test_a_path_says_which_stages_are_looked_into():
    both, bert, gpt = (described(name) for name in ABOUT)
    assert asked("encoder.2.self.1.4", both) == [["source", 4, None]]
    assert asked("decoder.1.cross.3", both) == [["target", 3, None]]
    assert asked("decoder.4.feed.17", both) == [["target", 13, 16]]
    assert asked("output.2", both) == [["target", 14, None]]
    assert asked("", both) == asked("decoder.3", both) == []
    assert asked("encoder.2.self.1.4", bert) == [["source", 5, None]]
    assert asked("encoder.3.feed", bert) == [["source", 8, None]]
    assert asked("output", bert) == [["source", 9, None]]
    assert asked("decoder.4.feed.17", gpt) == [["target", 8, 16]]
    assert asked("output", gpt) == [["target", 9, None]]
    assert asked("target.3", gpt) == [["target", 0, None]]
    assert parsed("source.5") == {"end": "source", "entry": "5"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"part": "decoder.5"}, "the model has 4 layers"),
        ({"part": "encoder.1.cross.1"}, "only the decoder"),
        ({"part": "decoder.1.feed.321"}, "320 units"),
        ({"part": "attention"}, "write such as"),
        ({"text": " "}, "no word"),
        ({"text": "x" * 201}, "201 characters"),
        ({"read": -1}, "counted from 0"),
        ({"model": "gpt-2"}, "no model 'gpt-2' to open"),
        ({"model": BERT, "part": "decoder.1"}, "BERT is encoder alone"),
        ({"model": BERT, "part": "encoder.4"}, "3 layers"),
        ({"model": BERT, "text": "a " * 63}, "reads 1 to 62"),
        ({"model": GPT, "part": "source"}, "GPT is decoder alone"),
        ({"model": GPT, "part": "decoder.1.cross.2"}, "only the decoder of a translator"),
        ({"model": GPT, "text": "x" * 65}, "65 characters"),
        ({"model": GPT, "text": "日本"}, "0 characters that the model knows"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        OpenTransformer(**wrong)


def test_alternative_text_and_fallback_say_what_is_seen():
    figure = OpenTransformer()
    rows = first_view(MODEL, figure.text, "", figure.read, figure.write)["opened"]["target"]
    for row in (row for row in rows if row["kind"] == "feed"):
        assert f"“{row['says']['text'].strip()}” ({row['says']['p']:.2f})" in figure.alt
        assert f"feed, layer {row['layer']}</th><td>{row['added']:.1f}</td>" in figure.fallback()
    assert len(OpenTransformer("decoder.3.cross.1").html()) < 45_000  # a head with all its numbers, and maps


@pytest.mark.parametrize(
    ("path", "maps", "size"), [("decoder.3.cross.1", 1, 13 * 10), ("encoder.1.self.4", 4, 4 * 10 * 10)]
)
def test_the_still_of_a_head_draws_its_weights(path, maps, size):
    figure = OpenTransformer(path)
    drawn = figure.fallback()
    assert drawn.count("h.95v.95h-.95z") == size
    assert drawn.count('fill="none" stroke="currentColor"') == maps  # a frame around the row that is spoken of
    side, head = ("target", 0) if path.startswith("decoder") else ("source", 3)
    ids = [token["id"] for token in figure.first["found"]["target"]]
    at = figure.first["places"][side]
    ((_, stage, _),) = asked(path, figure.about)
    seen = Opened(MODEL, figure.text, side, at, ids).inside(stage)["weights"][head]
    weights = looks(MODEL, figure.text, path, figure.write)
    assert weights[head][at] == pytest.approx(seen, abs=6e-4)
    assert all(sum(row) == pytest.approx(1, abs=0.01) for rows in weights for row in rows)
    assert f"(weight {max(seen):.2f})" in drawn


def test_the_still_of_what_enters_draws_word_wave_and_sum():
    drawn = OpenTransformer("source").fallback()
    word, wave, total = (
        [float(dot.split(",")[1]) for dot in line.split()] for line in re.findall(r'<polyline points="([^"]+)"', drawn)
    )
    heights = [[20 + 26 + 80 * i - y for y in line] for i, line in enumerate((word, wave, total))]
    assert all(abs(a + b - c) < 0.2 for a, b, c in zip(*heights, strict=True))


def test_the_still_of_the_gpt_and_of_bert_can_be_drawn():
    assert OpenTransformer("decoder.1.self.2", model=GPT).fallback().count("h.95v.95h-.95z") == 21 * 22 // 2
    assert "____" in OpenTransformer("encoder.1.self.2", model="bert-wikitext2").fallback()


# --- on the page ----------------------------------------------------------------------------------------------------


def test_the_keyboard_walks_from_the_whole_to_a_number_and_back(show):
    page = show(OpenTransformer("decoder.3.cross.1"))
    page.locator(".lmo-part[tabindex='0']").focus()
    press(page, "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
    label, place = now(page)
    assert place == "score of “auf”"
    assert "make the score 4.04" in label
    press(page, "ArrowDown", "ArrowUp")  # the score of the next token, and back
    press(page, "Escape")
    assert now(page)[0] == "weight and score: auf 0.87 4.0"
    assert page.asked == []  # the first view goes down to the number without a model
    press(page, "Escape")
    assert now(page) == ("attention to the source, head 1", "decoder, layer 3")
    press(page, "Escape")
    assert now(page) == ("decoder: layer 3 “on” 0.89", "Transformer")
    press(page, "ArrowUp", "ArrowUp", "Enter", "ArrowDown", "Enter")
    assert page.asked  # the output was not there
    assert now(page)[1] == "logit 2"
    press(page, "ArrowRight", "Escape", "Escape")
    assert page.locator(".lmo-token[data-now='true']").last.inner_text() == "a"
    press(page, *["ArrowDown"] * 6, "ArrowLeft", "Enter")
    assert now(page)[1] == "encoder, layer 4"
    assert page.locator(".lmo-token[data-now='true']").all_inner_texts() == ["einer"]


def test_each_number_is_torchs_for_the_readers_sentence(show):
    page = show(OpenTransformer())
    page.get_by_label("Your sentence in German").fill(OWN)
    page.get_by_role("button", name="Translate").click()
    found = translated(MODEL, OWN)
    written = [token["text"].strip() for token in found["target"]]
    page.wait_for_function("(n) => document.querySelectorAll('.lmo-tokens button').length === n",
                           arg=len(found["source"]) + len(written))  # fmt: skip
    assert page.locator(".lmo-tokens").last.locator("button").all_inner_texts() == written
    ids = [token["id"] for token in found["target"]]
    with torch.no_grad():
        for place in (5,):
            trace = Opened(MODEL, OWN, "target", place, ids)
            to(page, f"part=decoder.2.cross.3&write={place}")
            assert says(page).startswith("Head 3 looks from")
            stage = trace.stages[6]
            assert numbers(page)[-1] == pytest.approx(stage["weights"][2].tolist(), abs=6e-4)
            to(page, "part=decoder.2.cross.3.2")
            e = stage["scores"][2, 1].item()
            assert f"the score {e:.2f}".replace("-", "−") in says(page)
            to(page, "part=decoder.4.feed.9")
            value = stage_of(trace, "feed", 4)["hidden"][8].item()
            assert says(page).endswith(f"the unit is {value:.2f}.")
            to(page, "part=output.1")
            assert f"P = {found['target'][place]['p']:.3f}" in says(page)
        trace = Opened(MODEL, OWN, "source", 4)
        to(page, "part=source.9&read=4")
        parts = [stage["added"][8].item() for stage in trace.stages[:2]]
        assert says(page).endswith(f"make {sum(parts):.3f}.".replace("-", "−"))
    page.get_by_label("Your sentence in German").fill("  ")
    page.get_by_role("button", name="Translate").click()
    assert "there is no word yet" in page.locator(".lm-own-text").inner_text()
    to(page, "part=decoder.9.cross")  # leads nowhere
    page.get_by_text("The address asks for a part that this figure cannot have.").wait_for()
    assert now(page)[1] == "entry 8"  # counted from 0, as in the formula
    to(page, "part=&write=900")  # the last word
    assert now(page)[1] == "Transformer"
    assert f"writes “{written[-1]}”" in says(page)
    to(page, "part=decoder.2")
    page.reload()  # an address opens a figure from the start, too
    page.wait_for_function("document.querySelector('figure').dataset.live === 'true'")
    assert now(page)[1] == "decoder, layer 2"


def numbers(page):
    page.locator("details").last.evaluate("(node) => { node.open = true; }")
    lines = page.locator("details tbody tr").all()
    cells = [line.locator("td").all_inner_texts() for line in lines]
    return [[float(re.sub("−", "-", cell)) for cell in column] for column in zip(*cells, strict=True)]


def stage_of(trace, kind, layer):
    return next(stage for stage in trace.stages if (stage["kind"], stage["layer"]) == (kind, layer))


def test_where_the_weights_are_missing_a_sentence_says_so_and_the_view_stays(show):
    page = show(OpenTransformer(), files=modules())
    page.expected = "404"
    page.get_by_role("button", name="output").click()
    page.wait_for_function("document.querySelector('.lm-says').innerText.startsWith('That could not')")
    assert "the server answered 404" in says(page)
    assert now(page)[1] == "Transformer"
    assert page.locator(".lmo-part").count() == 11


def test_axe_finds_nothing_and_a_phone_shows_every_depth(show, axe_in_every_view):
    page = show(OpenTransformer(), width=360, motion="reduce")
    for part in (
        "",
        "decoder.1",
        "encoder.2.self.4",
        "decoder.3.cross.1.2",
        "decoder.2.feed",
        "source",
        "source.3",
        "output",
    ):
        to(page, f"part={part}")
        if part in ("", "encoder.2.self.4", "output"):
            assert axe_in_every_view(page, wide=360) == []
        clipped = page.evaluate("""[...document.querySelectorAll(".lmo-stage text, .lmf p")].filter((one) => {
            const { left, right } = one.getBoundingClientRect();
            return left < 0 || right > 360;
        }).map((one) => one.textContent)""")
        assert clipped == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
    moving = "getComputedStyle(document.querySelector('.lmo-stage svg')).animationName"
    assert page.evaluate(moving) == "none"


# --- the engine in the page, and the halves ------------------------------------------------------------------------

SENTENCE = "The king of the old city did not know that his 12 blorgling sons were born in March , and she left ."


@pytest.fixture(scope="module")
def ask(browser):
    """ask(task, given) -> what the engine says in a page, where all three models are loaded."""
    page = browser.new_page()
    own = bundle.source("program-engine").removeprefix("export ")
    page.add_script_tag(content=f"{own}\nconst own = program().engine();")
    put = "({ file, ...given }) => own.load({ ...given, file: Uint8Array.from(atob(file), (c) => c.charCodeAt(0)) })"
    for name in ABOUT:
        file, card = bundle.weights(name)
        page.evaluate(put, {"name": name, "card": card, "file": base64.b64encode(file).decode()})
    say = "([task, given]) => JSON.stringify(own[task](given))"
    yield lambda task, **given: json.loads(page.evaluate(say, [task, given]))
    page.close()


def same(found, wanted):
    """The largest difference of all numbers, of large ones by their size; what is no number is equal."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        return max(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list) and isinstance(wanted[0], dict):
        return max(same(*pair) for pair in zip(found, wanted, strict=True))
    if isinstance(wanted, float | list):
        found, wanted = np.array(found), np.array(wanted)
        return (abs(found - wanted) / np.maximum(1, abs(wanted))).max()
    assert found == wanted
    return 0


def drawn(name, seed):
    """A text, the place that is opened, the one that is hidden, and what a translator has written."""
    chance = random.Random(seed)
    if name == MODEL:
        words = chance.choices(("Zwei", "Hunde", "xy", "grüne", "Bänke", "und", "rennen"), k=5)
        return " ".join(words), chance.randrange(5), 0, [chance.randrange(5, 4000) for _ in range(5)]
    if name == BERT:
        words = [chance.choice(SENTENCE.split()) for _ in range(chance.randint(2, 9))]
        places = range(len(words) + 2)
        return " ".join(words), chance.choice(places), chance.choice(places[:-1]), []
    text = data.load("tinyshakespeare")["train"]
    start, length = chance.randrange(len(text) - 64), chance.randint(1, 64)
    return text[start : start + length], chance.randrange(length), 0, []


@pytest.mark.parametrize(("name", "side"), [(MODEL, "source"), (MODEL, "target"), (BERT, "source"), (GPT, "target")])
def test_every_number_is_torchs_on_drawn_sentences(ask, name, side):
    for seed in range(3):
        text, place, blank, ids = drawn(name, seed)
        opened = Opened(name, text, side, place, ids, blank)
        given = {"name": name, "text": text, "side": side, "place": place, "blank": blank, "ids": ids}
        if name != MODEL:  # which translates to have them
            theirs, ours = ask("tokens", name=name, text=text), tokens(name, text)
            assert [token["id"] for token in theirs[side]] == [token["id"] for token in ours[side]]
        assert same(ask("open", **given), opened.rows()) < 1e-4
        last = len(opened.stages) - (
            (name, side) == (MODEL, "source")
        )  # behind which comes the output, but for that one
        for stage in range(last + 1) if seed == 0 else (3, last):
            feed = stage < len(opened.stages) and opened.stages[stage]["kind"] == "feed"
            unit = 7 * seed if feed else None
            assert same(ask("inside", **given, stage=stage, unit=unit), opened.inside(stage, unit)) < 1e-4


def test_the_comparison_of_the_halves_can_fail(ask):
    given = {"name": BERT, "text": "A dog ran .", "side": "source", "place": 2, "ids": []}
    other = Opened(BERT, "A dog ran .", "source", 2, blank=3).inside(5)
    asked_for = (ask("inside", **given, blank=blank, stage=5) for blank in (3, 2))
    assert same(next(asked_for), other) < 1e-4 < same(next(asked_for), other)


@torch.no_grad()
def test_the_parts_of_the_halves_are_what_the_models_do():
    model = shipped(GPT)[0]
    opened = Opened(GPT, "my lor", "target", 5)
    ids = torch.tensor([[token["id"] for token in tokens(GPT, "my lor")["target"]]])
    logits, alpha = model(ids, need_weights=True)
    assert opened.inside(9)["others"][0]["logit"] == pytest.approx(logits[0, 5].max().item(), abs=1e-4)
    assert torch.allclose(stage_of(opened, "self", 3)["weights"], alpha[2][0, :, 5], atol=1e-5)
    bert = shipped(BERT)[0]
    opened = Opened(BERT, "A dog ran .", "source", 2, blank=2)
    ids = torch.tensor([[token["id"] for token in tokens(BERT, "A dog ran .")["source"]]])
    ids[0, 2] = 4
    logits = bert.output(opened.head(opened.stages[-1]["next"]))
    assert torch.allclose(logits, bert(ids)[0, 2], atol=1e-4)


def test_a_blank_of_the_readers_sentence_is_opened(show):
    page = show(OpenTransformer(model=BERT))
    place = lambda lane: page.locator(".lmo-tokens").nth(lane).locator("[data-now=true]").inner_text()  # noqa: E731
    assert (place(0), place(1), page.asked) == ("his", "____", [])
    page.get_by_label("Your sentence in English").fill("The blorgling king left the old city.")
    assert "fetches 1.0 MB once" in page.locator(".lm-own-text").inner_text()
    page.get_by_role("button", name="Read it").click()
    page.wait_for_function("document.querySelectorAll('.lmo-tokens button').length === 19")
    assert "fetches" not in page.locator(".lm-own-text").inner_text()
    page.get_by_role("button", name="blorgling").click()  # hide it
    ready(page)
    assert (place(0), place(1)) == ("blorgling", "____")
    text = "The blorgling king left the old city."
    hidden = Opened(BERT, text, "source", 2, blank=2)
    to(page, "part=output")
    came = hidden.inside(9)["came"]
    assert came["text"] == "<xx-ing>"
    assert f"“<xx-ing>”, which is hidden there, has P = {came['p']:.3g}, rank {came['rank']}." in says(page)
    press(page, "Escape")  # nothing is focused: it stays
    page.get_by_role("button", name="nothing").click()
    ready(page)
    read = Opened(BERT, text, "source", 2).inside(9)["came"]
    assert f"“<xx-ing>”, which it reads there, has P = {read['p']:.3g}, rank {read['rank']}." in says(page)
    to(page, "part=encoder.2.self.3.4&read=5&write=3")
    e = stage_of(Opened(BERT, text, "source", 5, blank=3), "self", 2)["scores"][2, 3].item()
    assert f"the score {e:.2f}".replace("-", "−") in says(page)
    page.get_by_label("Your sentence in English").fill("a " * 70)
    page.locator(".lm-own-text[data-state=failed]").wait_for()
    assert "the model reads 1 to 62 words; these are 70" in page.locator(".lm-own-text").inner_text()
    before = now(page)
    to(page, "part=decoder.2.cross.1")  # a tower that it has not
    page.get_by_text("The address asks for a part that this figure cannot have.").wait_for()
    assert now(page) == before


def test_a_text_of_the_readers_is_read_with_mask_and_cache(show, axe_in_every_view):
    page = show(OpenTransformer(model=GPT), width=360, motion="reduce")
    text = "my sweet qu"
    page.get_by_label("Your text").fill("my sweet 日qu")
    page.get_by_role("button", name="Read it").click()
    page.wait_for_function("document.querySelectorAll('.lmo-tokens button').length === 11")
    assert "the model has no such character: “日”." in says(page)
    opened = Opened(GPT, text, "target", 7)
    to(page, "part=decoder.2.self.3&write=7")
    assert page.locator(".lmo-token[data-later=true]").all_inner_texts() == ["␣", "q", "u"]
    assert numbers(page)[-1] == pytest.approx(stage_of(opened, "self", 2)["weights"][2].tolist(), abs=6e-4)
    assert "the first 7 were kept from before, in the cache" in page.locator(".lmo-both").inner_text()
    assert f"now holds {2 * 4 * 128 * 8:,} numbers" in page.locator(".lmo-both").inner_text()
    page.locator(".lmo-part[tabindex='0']").focus()
    press(page, "Escape", "Escape", "ArrowLeft")
    came = Opened(GPT, text, "target", 6).inside(9)["came"]
    assert page.locator(".lmo-token[data-now=true]").inner_text() == "e"
    for part in ("", "decoder.4", "output", "target.3"):
        to(page, f"part={part}&write=6")
        if part == "output":
            assert f"“t”, which comes next in the text, has P = {came['p']:.3g}, rank {came['rank']}." in says(page)
            assert axe_in_every_view(page, wide=360) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


# --- the bet, and the heads beside one another ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "pressed", "told"),
    [
        (
            lambda: OpenTransformer(),
            "layer 3",
            "You said layer 3. “on” comes up in layer 2, with P = 0.61;",
        ),
        (
            lambda: OpenTransformer("decoder.3.cross.1"),
            "einer",
            "looks most at “auf”, weight 0.87. You said “einer”: 0.0",
        ),
        (
            lambda: OpenTransformer("decoder.3.cross.1", write=5),
            "grünen",
            "this head looks most at “grünen”, weight 0.95.",
        ),
        (lambda: OpenTransformer("source"), "3rd", "You said the 3rd: "),
    ],
)
def test_a_bet_is_taken_before_what_it_asks_for_is_in_sight(show, figure, pressed, told):
    page = show(figure(), bets=True)
    covered = (
        "[...document.querySelectorAll('.lmo-told')].filter((one) => one.checkVisibility({ visibilityProperty: true }))"
    )
    assert page.evaluate(f"{covered}.length") == 0
    page.get_by_role("group", name="Your bet").get_by_role("button", name=pressed, exact=True).click()
    assert told in page.locator(".lm-wager").inner_text()
    assert page.evaluate(f"{covered}.length") == page.locator(".lmo-told").count()
    assert page.locator(".lmo-bet").count() == 1  # it stays in the drawing


def test_the_entries_that_change_most_are_the_fast_ones(show):
    page = show(figure := OpenTransformer("source"), bets=True)
    place, d = figure.first["places"]["source"], figure.about["d_model"]
    code = positions.sinusoidal(place + 5, d).double()
    change = (code[place + 4] - code[place]) ** 2
    first, second, *_ = [part.sum() / change.sum() for part in change.tensor_split(5)]
    assert d % 5 == 0
    page.get_by_role("button", name="2nd").click()
    told = page.locator(".lm-wager").inner_text()
    assert f"Most of the change, {100 * first:.0f} %, is in the 1st fifth" in told
    assert f"You said the 2nd: {100 * second:.0f} %." in told


def test_all_heads_of_a_layer_are_drawn_and_open(show):
    page = show(OpenTransformer("encoder.1.self.4"))
    weights = looks(MODEL, ABOUT[MODEL]["examples"][0], "encoder.1.self.4", 4)
    assert page.locator(".lmo-map").count() == len(weights) == 4
    drawn = """(all) => all.map((map) => [...map.querySelectorAll("[fill-opacity]")].map((one) =>
        [+one.getAttribute("x"), +one.getAttribute("y"), +one.getAttribute("fill-opacity")]))"""

    def agree(weights):
        for cells, rows in zip(page.locator(".lmo-map").evaluate_all(drawn), weights, strict=True):
            assert len(cells) > len(rows) - 1
            for x, y, opacity in cells:
                assert opacity == pytest.approx(rows[y][x], abs=0.011)
            assert {(x, y) for x, y, _ in cells} >= {
                (x, y) for y, row in enumerate(rows) for x, weight in enumerate(row) if weight > 0.03
            }

    agree(weights)
    page.locator(".lmo-map").nth(1).click()
    ready(page)
    assert page.locator(".lmo-way [aria-current]").inner_text() == "self-attention, head 2"
    page.get_by_label("Your sentence in German").fill("Ein Hund rennt.")
    page.get_by_role("button", name="Translate").click()
    page.wait_for_function("document.querySelector('.lmo-map svg')?.getAttribute('viewBox') === '0 0 4 4'")
    agree(looks(MODEL, "Ein Hund rennt.", "encoder.1.self.2", 0))
