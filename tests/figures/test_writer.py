"""GPTWriter: the model in the page is the package's on the same file, and mouse and keyboard can make it write."""

import atexit
import base64
import json

import numpy as np
import pytest
import torch
from py_mini_racer import MiniRacer
from seen import ATOB, later, number, table

from lmbook import decode
from lmbook.figures import GPTWriter, bundle, firstwords
from lmbook.figures.writer import BESIDE, EXAMPLES, MODEL, SHOWN, SLIDE, shipped
from lmbook.gpt import GPT, gelu_tanh
from lmbook.lab import checkpoints
from lmbook.lab.run import TRAINED

CHARACTERS = checkpoints.load("shakespeare").text.vocabulary.tokens


def machine(weights=None):
    """A JavaScript machine with gpt.mjs and the shipped weights, or those of a file; call(code) gives a value."""
    js = MiniRacer()
    atexit.register(js.close)
    for name in ("checkpoint", "gpt", "numbers"):
        js.eval(bundle.source(f"program-{name}").replace("export const program", f"const {name}_") + ";undefined")
    js.eval(ATOB)
    data = base64.b64encode(weights or (TRAINED / f"{MODEL}.safetensors").read_bytes()).decode()
    js.eval(f'const file = "{data}";undefined')
    js.eval("const { bytes, weights } = checkpoint_(), { GPT } = gpt_(); undefined")
    js.eval("const { distribution, draw, softmax, uniform } = numbers_(); undefined")
    js.eval("const found = weights(bytes(file));undefined")

    def call(code):
        return json.loads(js.eval(f"JSON.stringify({code})"))

    call.run = lambda code: js.eval(code + ";undefined")
    return call


@pytest.fixture(scope="module")
def page_model():
    call = machine()
    call.run(f"var gpt = new GPT((name) => found.get(name), {{ n_heads: 4, window: 64, slide: {SLIDE} }})")
    return call


def stepped(model, ids):
    """The logits after each id, and the last state."""
    state, rows = model.start(1), []
    with torch.no_grad():
        for token in ids:
            logits, state = model.step(torch.tensor([token]), state)
            rows.append(logits[0])
    return torch.stack(rows), state


# --- the model ------------------------------------------------------------------------------------------------------


def test_the_weights_are_those_of_python(page_model):
    found, _ = checkpoints.read(TRAINED / f"{MODEL}.safetensors")
    assert sorted(page_model("[...weights(bytes(file)).keys()]")) == sorted(found)
    for name in ("embedding.weight", "output.weight", "norm.weight", "layers.2.ffn.W_2.weight"):
        theirs = page_model(f"[...weights(bytes(file)).get('{name}').data].slice(0, 500)")
        assert np.array_equal(np.float32(theirs), found[name].flatten()[:500].numpy())


def test_logits_and_attention_are_those_of_torch_also_past_the_window(page_model):
    _, model = shipped()
    ids = np.random.default_rng(0).integers(5, 70, size=100).tolist()
    logits, state = stepped(model, ids)
    assert logits.std() > 1  # otherwise small differences would prove little
    page_model.run("gpt.clear()")
    theirs = np.array(page_model(f"{ids}.map((id) => [...gpt.read(id)])"))
    assert np.abs(theirs - logits.numpy()).max() < 1e-4
    assert page_model("gpt.tokens") == state["tokens"][0].tolist()
    with torch.no_grad():
        _, weights = model(state["tokens"], need_weights=True)
    alpha = np.array(page_model("gpt.attention.map((layer) => layer.map((head) => [...head]))"))
    assert np.abs(alpha - torch.stack([layer[0, :, -1] for layer in weights]).numpy()).max() < 1e-4


def test_jumping_into_a_text_is_reading_it(page_model):
    ids = np.random.default_rng(1).integers(5, 70, size=120).tolist()
    page_model.run("gpt.clear()")
    wanted = page_model(f"{ids}.map((id) => [...gpt.read(id)])")
    for length in (120, 40, 41, 64, 65, 66, 96, 97, 120, 1):
        assert np.allclose(page_model(f"[...gpt.to({ids[:length]})]"), wanted[length - 1], atol=1e-4)


def test_greedy_writes_what_the_package_writes(page_model):
    _, model = shipped()
    prompt = [CHARACTERS.index(c) for c in "ROMEO:\n"]
    (written,), _ = decode.greedy(model, 1, 90, prompt=torch.tensor([prompt]), eos=None, forbid=range(5))
    page_model.run(f"var ids = {prompt}")
    page_model.run(
        "for (let n = 0; n < 90; n += 1) { const z = gpt.to(ids).map((v, i) => (i < 5 ? -Infinity : v));"
        "ids.push(draw(distribution(z, 0, 0, 1), 0.5)); }"
    )
    assert page_model("ids")[len(prompt) :] == written


def test_learned_positions_and_a_head_of_its_own_are_read_as_well(tmp_path):
    torch.manual_seed(0)
    model = GPT(9, 12, 8, n_heads=2, n_layers=2, tied=False, slide=3, activation=gelu_tanh).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn(p.shape))
    card = dict.fromkeys(checkpoints.CARD, "test")
    checkpoints.save(tmp_path / "small.safetensors", model, card)
    checkpoints.load_weights(tmp_path / "small.safetensors", model)
    call = machine((tmp_path / "small.safetensors").read_bytes())
    call.run("var gpt = new GPT((name) => found.get(name), { n_heads: 2, window: 12, slide: 3 })")
    ids = np.random.default_rng(2).integers(9, size=30).tolist()
    assert np.abs(np.array(call(f"{ids}.map((id) => [...gpt.read(id)])")) - stepped(model, ids)[0].numpy()).max() < 1e-4


@pytest.mark.parametrize("options", [(1.0, 0, 1.0), (0.0, 0, 1.0), (0.5, 3, 1.0), (2.0, 0, 0.7), (1.3, 10, 0.5)])
def test_the_distribution_is_that_of_the_package(page_model, options):
    temperature, top_k, top_p = options
    for seed in range(5):
        logits = np.random.default_rng(seed).normal(size=30).round(1) * 2  # rounded: some are equal
        wanted = decode.distribution(torch.tensor(logits), temperature, top_k or None, top_p)
        found = page_model(f"[...distribution({logits.tolist()}, {temperature}, {top_k}, {top_p})]")
        assert np.allclose(found, wanted, atol=1e-12)


def test_draws_are_even_and_follow_the_distribution(page_model):
    u = np.array(page_model("Array.from({ length: 20000 }, (_, n) => uniform(n % 7, Math.floor(n / 7)))"))
    assert u.min() >= 0
    assert u.max() < 1
    counts = np.histogram(u, bins=20, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 44  # chi-square with 19 degrees of freedom, 1 in 1000
    drawn = page_model("Array.from({ length: 5000 }, (_, n) => draw([0.2, 0, 0.5, 0.3], uniform(1, n)))")
    assert np.allclose(np.bincount(drawn, minlength=4) / 5000, [0.2, 0, 0.5, 0.3], atol=0.03)


# --- the class ------------------------------------------------------------------------------------------------------


def test_alternative_text_and_fallback_say_what_the_model_says():
    figure = GPTWriter(prompt="KING ", temperature=0.5)
    (char, own, p), *_ = figure.next()
    assert p > own
    assert f"“{char}” {own:.2f}" in figure.alt
    assert f"{p:.2f}" in figure.fallback()
    assert len(figure.html()) < 20_000


# --- on the page ----------------------------------------------------------------------------------------------------


def visible(char):
    return {"\n": "↵", " ": "␣"}.get(char, char)


def written(page):
    return page.locator(".lmw-text").evaluate("(node) => node.lastChild.nodeType === 3 ? node.lastChild.data : ''")


@pytest.mark.parametrize(
    "state",
    [{}, {"prompt": "My lord, ", "temperature": 0.5, "top_p": 0.8}, {"temperature": 1.5, "top_k": 5, "layer": 0}],
)
def test_the_page_shows_the_numbers_of_python(show, state):
    figure = GPTWriter(**state)
    page = show(figure)
    for cells, (char, own, p) in zip(table(page), figure.next(), strict=True):
        assert cells[0] == visible(char)
        assert number(cells[1]) == pytest.approx(own, rel=0.01)
        assert cells[2] == "cut" if p == 0 else number(cells[2]) == pytest.approx(p, rel=0.01)
    _, alpha = figure.after(figure.prompt)
    mean = alpha[figure.layer].mean(0)
    page.get_by_text("What the last character looks at").click()
    assert [float(cells[2]) for cells in table(page, 2)] == pytest.approx(mean.tolist(), abs=6e-4)
    page.get_by_label("Head", exact=True).select_option(label="2")
    assert [float(cells[2]) for cells in table(page, 2)] == pytest.approx(alpha[figure.layer][1].tolist(), abs=6e-4)
    assert page.locator(".lm-bar").count() == SHOWN


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_greedy_text_is_the_packages(show, way):
    _, model = shipped()
    prompt = [CHARACTERS.index(c) for c in "ROMEO:\n"]
    (ids,), _ = decode.greedy(model, 1, 100, prompt=torch.tensor([prompt]), eos=None, forbid=range(5))
    page = show(GPTWriter(), motion="reduce")
    if way == "mouse":
        page.get_by_role("slider", name="Temperature").fill("0")
        page.get_by_role("button", name="Write 100 characters").click()
    else:
        page.get_by_role("slider", name="Temperature").focus()
        page.keyboard.press("Home")
        page.get_by_role("button", name="Write 100 characters").press("Enter")
    page.wait_for_function("document.querySelector('.lmw-text').lastChild.data?.length === 100")
    assert written(page) == "".join(CHARACTERS[i] for i in ids)
    page.locator(".lm-says:has-text('drawn with 1;')").wait_for()


def test_it_writes_before_the_readers_eyes_and_stops(show):
    page = show(GPTWriter())
    page.get_by_role("button", name="Write 100 characters").click()
    page.wait_for_function("document.querySelector('.lmw-text').lastChild.data?.length > 5")
    page.get_by_role("button", name="Stop").click()
    text = written(page)
    assert 5 < len(text) < 100
    later(page, 150)
    assert written(page) == text
    page.get_by_role("button", name="One character").click()
    page.wait_for_function(
        "(most) => document.querySelector('.lmw-text').lastChild.data?.length === most", arg=len(text) + 1
    )
    assert written(page)[:-1] == text
    page.get_by_role("button", name="Back").click()
    assert written(page) == text
    page.get_by_role("button", name="Another draw").click()
    page.wait_for_function(
        "(old) => !old.startsWith(document.querySelector('.lmw-text').lastChild.data ?? '')", arg=text
    )
    page.get_by_role("button", name="Start again").click()
    assert page.get_by_role("button", name="Back").is_disabled()


def test_the_weights_come_when_the_model_is_to_write(show):
    page = show(GPTWriter())
    page.get_by_role("slider", name="Temperature").fill("0.2")
    page.get_by_text("What the last character looks at").click()
    page.get_by_role("radio", name="1", exact=True).check()
    page.mouse.move(9, 9)
    assert page.asked == []
    characters = page.locator(".lmw-strip > span")  # of what the model has read
    before = characters.count()
    page.get_by_role("button", name="One character").click()  # drawn from the first view; then the model reads on
    characters.nth(before).wait_for()
    assert len(written(page)) == 1
    assert sum(url.endswith(".safetensors") for url in page.asked) == 1
    page.get_by_role("button", name="Another draw").click()
    page.wait_for_function("document.querySelector('.lmw-text').lastChild.data?.length > 2")
    assert sum(url.endswith(".safetensors") for url in page.asked) == 1


def test_a_prompt_of_the_readers_own(show):
    page = show(GPTWriter())
    page.get_by_role("button", name=EXAMPLES[1]).click()
    assert page.get_by_label("Prompt").input_value() == EXAMPLES[1]
    page.get_by_label("Prompt").fill("Zoë↵Go")
    page.get_by_label("Prompt").press("Enter")
    page.locator(".lm-says:has-text('Left out')").wait_for()
    assert page.locator(".lmw-prompt").inner_text() == "Zo\nGo"
    assert "Left out, because the model has no such character: “ë”." in page.locator(".lm-says").inner_text()
    wanted = GPTWriter(prompt="Zo\nGo").next()
    assert [cells[0] for cells in table(page)][:5] == [visible(char) for char, *_ in wanted][:5]


def test_the_three_texts_beside_one_another_are_what_the_model_writes(page_model):
    prompt = [CHARACTERS.index(c) for c in EXAMPLES[0]]
    for temperature, text in BESIDE:
        page_model.run(f"var ids = {prompt}, none = (z) => Array.from(z, (v, i) => (i < 5 ? -Infinity : v))")
        page_model.run(f"var next = () => distribution(none(gpt.to(ids)), {temperature}, 0, 1)")
        page_model.run(f"for (let n = 0; n < {len(text)}; n += 1) ids.push(draw(next(), uniform(0, n)))")
        assert "".join(CHARACTERS[i] for i in page_model("ids")[len(prompt) :]) == text


def test_a_slider_writes_the_text_anew_with_the_same_draws(show):
    page = show(GPTWriter(), motion="reduce")
    page.get_by_role("button", name="Write 100 characters").click()
    page.wait_for_function("document.querySelector('.lmw-text').lastChild.data?.length === 100")
    assert written(page).startswith(BESIDE[1][1])
    page.get_by_role("slider", name="Temperature").fill("0")
    page.wait_for_function("document.querySelector('.lmw-text').textContent.includes('I will the see')")
    mark = page.locator(".lmw-text mark")
    assert mark.inner_text() == "I"
    assert page.locator(".lmw-text").text_content().removeprefix(EXAMPLES[0])[: len(BESIDE[0][1])] == BESIDE[0][1]


def test_a_bet_where_two_texts_part_is_answered_in_both(show):
    page = show(GPTWriter(), bets=True)
    assert not page.get_by_text(BESIDE[2][1][:20]).is_visible()
    page.locator(".lm-wager input").fill("12")
    page.get_by_role("button", name="Bet", exact=True).click()
    (_, second), (_, third) = BESIDE[1:]
    same = next(i for i, (a, b) in enumerate(zip(second, third, strict=False)) if a != b)
    assert f"They part after {same} characters" in page.locator(".lm-wager").inner_text()
    assert f"you said 12, {12 - same} too many." in page.locator(".lm-wager").inner_text()
    marks, bets = (page.locator(f".lmw-three {kind}").all_text_contents() for kind in ("mark", ".lmw-bet"))
    assert marks == [text[same] for _, text in BESIDE[1:]]
    assert bets == [text[12] for _, text in BESIDE[1:]]


def test_what_the_first_page_shows_is_what_the_model_writes_there(page_model):
    prompt = [CHARACTERS.index(c) for c in firstwords.PROMPT]
    page_model.run(f"var ids = {prompt}, none = (z) => Array.from(z, (v, i) => (i < 5 ? -Infinity : v))")
    page_model.run(f"var next = () => distribution(none(gpt.to(ids)), {firstwords.TEMPERATURE}, 0, 1)")
    page_model.run(
        f"for (let n = 0; n < {len(firstwords.WRITTEN)}; n += 1) ids.push(draw(next(), uniform({firstwords.SEED}, n)))"
    )
    assert "".join(CHARACTERS[i] for i in page_model("ids")[len(prompt) :]) == firstwords.WRITTEN
    p = np.array(page_model("[...next()]"))
    order = sorted(range(len(p)), key=lambda i: (-p[i], i))[: len(firstwords.NEXT)]
    assert [CHARACTERS[i] for i in order] == [char for char, _ in firstwords.NEXT]
    assert p[order] == pytest.approx([share for _, share in firstwords.NEXT], abs=5e-4)
    logits = page_model("none(gpt.to(ids))")
    odds = [[CHARACTERS[i], max(filter(None, logits)) - z] for i, z in enumerate(logits) if z is not None]
    assert [char for char, _ in sorted(odds, key=lambda one: one[1])] == [char for char, _ in firstwords.ODDS]
    assert sorted(below for _, below in odds) == pytest.approx([below for _, below in firstwords.ODDS], abs=6e-4)
