"""DecodingSteps: the stored tree is the model's, a beam on it is the package's, and mouse and keyboard can decode."""

import json
import re

import numpy as np
import pytest
from seen import number, says, table
from traitlets import TraitError

from lmbook.figures import DecodingSteps, modules
from lmbook.figures.decoding import END, SHOWN, WIDEST, lexicon, shipped, stored

FILE = shipped()
SENTENCES = range(len(FILE["sentences"]))


def options(page):
    return page.locator(".lmd-options > *")


def likeliest(complete):
    return max(complete, key=lambda one: one.total)


# --- the stored tree ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def anew():
    """What the file should hold, from the shipped weights."""
    return stored(FILE["chosen"])


def test_the_file_is_what_the_shipped_model_says(anew):
    assert len(json.dumps(FILE)) < 150_000
    for found, wanted in zip(FILE["sentences"], anew["sentences"], strict=True):
        assert found["source"] == wanted["source"]
        assert found["reference"] == wanted["reference"]
        for node, again in zip(found["nodes"][0], wanted["nodes"][0], strict=True):
            assert FILE["words"][node[0]] == anew["words"][again[0]]
            assert node[1] == pytest.approx(again[1], abs=0.01)


@pytest.mark.parametrize("width", range(1, WIDEST + 1))
def test_a_beam_on_the_tree_is_the_beam_of_the_package(width):
    import torch

    from lmbook.decode import beam_hypotheses
    from lmbook.lab import checkpoints

    model, words, _ = checkpoints.load("harbourish")
    for chosen in SENTENCES:
        figure = DecodingSteps(chosen=chosen)
        source = torch.tensor([words.encode(FILE["sentences"][chosen]["source"])])
        theirs = beam_hypotheses(model, source, 14, width, alpha=0.0)[0]
        ours = sorted(figure.search(width)[1], key=lambda one: -one.total)[:width]
        for hypothesis, one in zip(theirs, ours, strict=True):
            assert words.vocabulary.decode(hypothesis.tokens) == [FILE["words"][i] for i in one.ids]
            assert one.total == pytest.approx(hypothesis.log_prob, abs=0.02)


def test_from_every_beginning_the_likeliest_words_lead_to_an_end():
    for sentence in FILE["sentences"]:
        nodes = sentence["nodes"]
        for node in range(len(nodes)):
            assert len(nodes[node]) == SHOWN
            assert [row[1] for row in nodes[node]] == sorted((row[1] for row in nodes[node]), reverse=True)
            for _ in range(14):
                word, _, node = nodes[node][0]
                if node is None or node == -1:
                    break
            assert node is None or node == -1
            assert (node is None) == (FILE["words"][word] == END) or node == -1


def test_the_list_of_words_is_what_the_model_reads():
    from lmbook.lab import checkpoints

    known = set(checkpoints.load("harbourish").text.vocabulary.tokens)
    for _, words in lexicon():
        given = re.sub(r"\([^)]*\)", " ", words).replace(",", " ").split()
        assert len(given) >= 6
        for word in given:
            assert {word, word.replace("-", "o"), word.replace("-", "a")} & known, word


def test_somewhere_the_beam_keeps_what_greedy_gave_up():
    gains = []
    for chosen in SENTENCES:
        figure = DecodingSteps(chosen=chosen)
        gains.append(likeliest(figure.search(WIDEST)[1]).total - likeliest(figure.search(1)[1]).total)
    assert max(gains) > 0.05


def test_alternative_text_and_fallback_hold_the_outputs():
    figure = DecodingSteps()
    for width in (1, WIDEST):
        best = likeliest(figure.search(width)[1])
        assert figure.text(best.ids) in figure.alt
        assert figure.text(best.ids) in figure.fallback()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"chosen": len(FILE["sentences"])}, "chosen"),
        ({"width": WIDEST + 1}, "width"),
        ({"picks": [SHOWN]}, "no such path"),
        ({"alpha": 3.0}, "alpha"),
        ({"step": -1}, "step"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, said):
    with pytest.raises((ValueError, TraitError), match=said):
        DecodingSteps(**wrong)


# --- on the page ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", SENTENCES)
def test_the_page_finds_what_python_finds(show, chosen):
    page = show(DecodingSteps(chosen=chosen, width=1))
    for width in range(1, WIDEST + 1):
        figure = DecodingSteps(chosen=chosen, width=width)
        page.get_by_role("radio", name="greedy" if width == 1 else f"beam of {width}").check()
        page.get_by_role("button", name="To the end").click()
        steps, complete = figure.search(width)
        rows = table(page)
        wanted = sorted(complete, key=lambda one: -one.total / len(one.ids))
        assert [row[0] for row in rows] == [figure.text(one.ids) for one in wanted]
        for row, one in zip(rows, wanted, strict=True):
            assert number(row[1]) == pytest.approx(one.total, abs=0.006)
            assert int(row[2]) == len(one.ids)
            assert number(row[3]) == pytest.approx(one.total / len(one.ids), abs=6e-4)
        last = page.locator(".lmd-rank").last.locator("small").all_inner_texts()
        assert [number(text) for text in last] == pytest.approx([one.total for one in steps[-1]], abs=0.006)


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_the_reader_writes_a_translation(show, way):
    figure = DecodingSteps()
    page = show(figure)
    nodes, node, total, chosen = FILE["sentences"][0]["nodes"], 0, 0.0, []
    if way == "keyboard":
        page.get_by_role("radio", name="you").focus()
        page.keyboard.press("Tab")
    while node is not None:
        second = len(chosen) == 1 and nodes[node][1][2] not in (-1, None)
        word, log_p, node = nodes[node][int(second)]
        total, chosen = total + log_p, [*chosen, word]
        if way == "mouse":
            options(page).nth(int(second)).click()
        else:
            if second:
                page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
    assert says(page).startswith(f"Complete: “{figure.text(chosen)}”.")
    assert number(re.search(r"ln P = (\S+),", says(page))[1]) == pytest.approx(total, abs=0.006)
    assert options(page).count() == 0
    page.get_by_role("button", name="Undo").click()
    assert options(page).count() == SHOWN
    page.get_by_role("button", name="Start again").click()
    assert page.locator(".lmd-written").inner_text() == "…"


def test_the_likeliest_words_are_greedy(show):
    figure = DecodingSteps()
    page = show(figure)
    button = page.get_by_role("button", name="Take the likeliest")
    while button.is_enabled():
        button.click()
    assert figure.text(figure.search(1)[1][0].ids) in says(page)
    assert "as much as greedy finds" in says(page)


def test_the_readers_sentence_and_any_word_are_the_models(show):
    """Sentences that no file holds, and beginnings so unlikely that none is stored: ln P is torch's."""
    import torch

    from lmbook.lab import checkpoints

    model, words, _ = checkpoints.load("harbourish")
    page = show(DecodingSteps())

    def log_p(source, written):
        ids = words.vocabulary.encode([*written.replace(".", " .").split(), END])
        with torch.no_grad():
            logits = model(torch.tensor([words.encode(source)]), torch.tensor([[2, *ids[:-1]]]))
        return torch.log_softmax(logits[0].double(), -1)[range(len(ids)), ids].sum().item()

    def type_in(source):
        page.get_by_label("Your own Harbourish").fill(source)
        page.get_by_label("Your own Harbourish").press("Enter")
        page.wait_for_function(
            "(text) => document.querySelector('.lmd-text').innerText.includes(text)", arg=f"Source: {source}"
        )

    for source in (FILE["sentences"][0]["source"], "ta dragon pika la hira cun velka."):
        if "dragon" in source:
            type_in(source)
            assert "The model has no “dragon”; it reads <unk>" in says(page)
        for step in range(2):  # the unlikeliest words of the five, twice
            options(page).filter(has_not_text="(end here)").last.click()
            page.wait_for_function("(n) => document.querySelectorAll('.lmd-written > span').length === n", arg=step + 1)
        page.evaluate("() => { for (let one; (one = document.querySelector('.lmd-options button')); ) one.click(); }")
        written, total = re.match(r"Complete: “(.*)”. ln P = (\S+),", says(page)).groups()
        assert number(total) == pytest.approx(log_p(source, written), abs=0.02)
    assert page.asked
    type_in("la nila zeba bela lo resken.")
    assert page.locator(".lmd-written").inner_text() == "…"
    page.get_by_role("radio", name="beam of 4").check()
    page.get_by_role("button", name="To the end").click()
    for text, total, *_ in table(page):
        assert number(total) == pytest.approx(log_p("la nila zeba bela lo resken.", text), abs=0.02)


def test_where_the_weights_are_missing_a_sentence_says_so(show):
    page = show(DecodingSteps(), files=modules())
    page.expected = "404"
    place = next(i for i, row in enumerate(FILE["sentences"][0]["nodes"][0]) if row[2] == -1)
    options(page).nth(place).click()
    page.wait_for_function("document.querySelector('.lm-says').innerText.startsWith('What follows could not')")
    assert page.locator(".lmd-written").inner_text() == "…"
    assert options(page).count() == SHOWN


def test_step_by_step_and_back(show):
    page = show(DecodingSteps(width=3))
    assert page.get_by_role("button", name="Back").is_disabled()
    for step in (1, 2, 3):
        page.get_by_role("button", name="Next step").click()
        assert page.locator(".lmd-rank").count() == step
        assert says(page).startswith(f"Step {step}: the beam of 3 compared {3 if step == 1 else 9} extensions")
        kept = [row for row in table(page, 1) if row[3] == "yes"]
        assert len(kept) == 3
    page.get_by_role("button", name="Back").click()
    assert page.locator(".lmd-rank").count() == 2


def test_the_race_ends_at_the_log_probabilities_and_a_bet_on_it_is_taken(show):
    figure = DecodingSteps()
    greedy, best = (likeliest(figure.search(width)[1]) for width in (1, WIDEST))
    page = show(figure, bets=True)
    rows = page.locator(".lmd-runs p")
    assert not rows.filter(has_text="beam of 4").is_visible()
    page.get_by_role("button", name="half as likely").click()
    ratio = np.exp(greedy.total - best.total)
    assert page.locator(".lm-wager").inner_text().startswith(f"{ratio:.2f} times as likely")
    for one in (greedy, best):
        name, _, total = rows.filter(has_text=figure.text(one.ids)).locator("*").all_inner_texts()
        assert name in ("greedy", f"beam of {WIDEST}")
        assert number(total) == pytest.approx(one.total, abs=0.006)
    ends = page.locator(".lmd-race path[d*=L]").evaluate_all(
        "(all) => all.map((one) => Number(one.getAttribute('d').split(' ').at(-1)))"
    )
    assert ends[0] > ends[1], "greedy ends lower"


def test_alpha_orders_the_outputs(show):
    page = show(DecodingSteps(width=4, step=14))
    for alpha in (0.0, 1.0, 2.0):
        page.get_by_role("slider", name="alpha").fill(str(alpha))
        scores = [number(row[3]) for row in table(page)]
        assert scores == sorted(scores, reverse=True)
        rows = table(page)
        assert number(rows[0][3]) == pytest.approx(number(rows[0][1]) / int(rows[0][2]) ** alpha, abs=0.006)


def test_the_reference_is_hidden_until_it_is_asked_for(show):
    page = show(DecodingSteps())
    reference = FILE["sentences"][0]["reference"]
    assert f"Reference: {reference}" not in page.inner_text("figure")
    page.get_by_role("button", name="Show the reference").click()
    assert f"Reference: {reference}" in page.inner_text("figure")
