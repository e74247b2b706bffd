"""What holds for every figure: axe finds nothing, a phone shows all of it, its keys are its own, its page is small,
its alternative text says what is set, and what it does not have is refused.

Where a figure has stages of its own for axe or a phone, or more to look at there, its own file goes through them.
"""

import random

import pytest
import test_bottleneck as bottleneck
import test_digit as digit
import test_directions as directions
import test_lookup as lookup
import test_sentence as sentence
import torch
from seen import rightmost
from traitlets import TraitError

from lmbook import figures
from lmbook.figures.blank import SENTENCES
from lmbook.figures.distance import LONGEST
from lmbook.figures.tokenizers import MERGES
from lmbook.figures.unrolled import STEPS, UNITS

# name -> (what is shown side by side, the parts that end within a phone's width, the most bytes of the first as HTML)
FIGURES = {
    "backprop": (lambda: [figures.BackpropGraph(step=7)], ".lmb-graph button", 20_000),
    "blank": (lambda: [figures.FillTheBlank(), figures.FillTheBlank(chosen=3, blank=8)], "button, select", 150_000),
    "block": (
        lambda: [
            figures.SwapTheBlock(),
            figures.SwapTheBlock(norm="RMSNorm", ffn="SwiGLU", kept=0, reach="recurrence"),
        ],
        ".lm-slider, .lm-choice, .lmbk-drawing svg",
        20_000,
    ),
    "preferring": (
        lambda: [figures.YourPreferences(), figures.YourPreferences(clicks="lr" * 30, updates=400, beta=1)],
        "button, .lm-slider, .lm-bar",
        20_000,
    ),
    "bottleneck": (
        lambda: [figures.FixedVector.from_record(bottleneck.record(), length=length) for length in (12, 40)],
        ".lmv-cell, .lm-chart svg",
        60_000,
    ),
    "budget": (
        lambda: [figures.SpendTheBudget(), figures.SpendTheBudget(budget=20.0, size=8.5)],
        ".lm-slider, .lmbg-curve svg",
        20_000,
    ),
    "decoding": (
        lambda: [figures.DecodingSteps(width=width, step=14, picks=[0, 0, 0]) for width in (0, 4)],
        "button, select",
        150_000,
    ),
    "digit": (
        lambda: [figures.CompleteDigit(digit.gpt(), digit.EXAMPLES, rows=rows) for rows in (4, 0)],
        ".lmpx-cell, .lmpx-small, .lm-chip",
        150_000,
    ),
    "directions": (
        lambda: [figures.TwoDirections(read=3), figures.TwoDirections(at=len(directions.SENTENCES) + 1, read=14)],
        ".lmd-tile, .lm-bar, select",
        30_000,
    ),
    "draft": (
        lambda: [figures.DraftAndCheck(), figures.DraftAndCheck(draft="stubborn", letters=2, gamma=8)],
        ".lm-slider, .lm-choice, .lm-bars",
        20_000,
    ),
    "distance": (lambda: [figures.GradientOverDistance(scale=3.0, T=100)], "button, .lm-slider", 50_000),
    "explorer": (
        lambda: [
            figures.NGramExplorer(
                n=5, smoothing="add-k", history="supercalifragilisticexpialidocious boats out of the"
            ),
            figures.NGramExplorer(smoothing="none", history="purple sea"),
        ],
        ".lmx-p, .lmx-raw, .lmx-name",
        15_000,
    ),
    "fits": (
        lambda: [figures.DoesItFit(), figures.DoesItFit(model=2, texts=10, tokens=15)],
        ".lm-slider, .lm-choice",
        20_000,
    ),
    "forward": (lambda: [figures.ForwardPass(chosen="z40")], ".lmfp-graph button", 150_000),
    "lookup": (
        lambda: [lookup.lookup(), lookup.lookup(heads=4, beta=2)],
        ".lmq-plane svg, .lm-slider",
        10_000,
    ),
    "lstm": (lambda: [figures.LSTMStep(chosen=5)], "button, .lm-slider", 20_000),
    "masks": (
        lambda: [figures.MaskPainter(), figures.MaskPainter(mask="padding", layers=4)],
        ".lmk-cell, .lm-chart svg",
        20_000,
    ),
    "nearby": (lambda: [figures.NearSections(), figures.NearSections(chosen=3)], ".lmns-near button", 100_000),
    "neighbours": (
        lambda: [figures.NeighbourMap(), figures.NeighbourMap("zebrawood")],
        ".lmn-word, .lmn-near button, .lmn-map svg, .lmn-label",
        25_000,
    ),
    "sentence": (
        lambda: [figures.SentenceProbability(text) for text in (sentence.LONG, "the sea was calm .")],
        ".lm-chart svg, .lm-word",
        20_000,
    ),
    "tokenizers": (
        lambda: [
            figures.TokenizerComparison(text) for text in ("港は静かです ⛵", "supercalifragilisticexpialidocious " * 3)
        ],
        ".lmt-token, .lmt-row",
        25_000,
    ),
    "unrolled": (lambda: [figures.UnrolledRNN(known=[[39, "capital"]])], "button, .lm-slider", 150_000),
    "wheels": (
        lambda: [figures.PositionWheels(), figures.PositionWheels(width=12, i=24, offset=15)],
        ".lmpw-dial, .lmpw-table svg",
        20_000,
    ),
    "writer": (
        lambda: [figures.GPTWriter(written="Which is the sea that is not in the world of men.", top_p=0.5)],
        "button, .lm-slider",
        20_000,
    ),
}
# name -> what is set in the first of its figures, one after the other; the writer reads its text once, when it is made
CHANGES = {
    "backprop": {"label": 3},
    "blank": {"chosen": 3, "blank": 4},
    "block": {"norm": "RMSNorm", "ffn": "SwiGLU", "kept": 2, "reach": "window", "tokens": 17},
    "preferring": {"clicks": "rl", "updates": 7, "beta": 2},
    "bottleneck": {"length": 30, "size": 512},
    "budget": {"budget": 20.0, "size": 9.0},
    "decoding": {"chosen": 1},
    "digit": {"rows": 2, "digit": 8, "pixels": digit.greys(1)},
    "directions": {"read": 4, "word": 2, "at": len(directions.SENTENCES)},
    "distance": {"scale": 2.0, "T": 20},
    "draft": {"draft": "even", "letters": 3, "gamma": 7},
    "explorer": {"history": "in the", "n": 2, "k": 1.0, "smoothing": "none"},
    "fits": {"model": 3, "gpu": 1, "bits": 8, "texts": 5, "tokens": 11},
    "forward": {"history": [5, 4, 6]},
    "lookup": {"query": [0.0, 2.0], "beta": 3.0, "heads": 2},
    "lstm": {"bias": 0.0},
    "masks": {"layers": 4},
    "nearby": {"chosen": 8},
    "neighbours": {"chosen": 2, "words": "paris"},
    "sentence": {"sentence": "the cat sleeps .", "order": 2},
    "tokenizers": {"text": "in the", "merges": 3},
    "unrolled": {"t": 5, "unit": 39, "passage": 1},
    "wheels": {"i": 9, "offset": 7, "width": 12, "base": 10},
}
# figure -> what may be set, and values that it does not have
WRONG = {
    figures.DoesItFit: {"model": [7], "gpu": [3], "bits": [12], "texts": [11], "tokens": [4]},
    figures.DraftAndCheck: {"draft": ["oracle"], "letters": [15], "gamma": [0]},
    figures.FillTheBlank: {"chosen": [-1, len(SENTENCES)], "blank": [99]},
    figures.GPTWriter: {
        "prompt": ["é", ""],
        "written": ["x" * 401],
        "temperature": [3.0],
        "top_k": [-1],
        "top_p": [0.0],
        "layer": [4],
        "head": [4],
    },
    figures.GradientOverDistance: {"scale": [3.5], "T": [LONGEST + 1], "bias": [-3]},
    figures.LSTMStep: {"events": [["sleep"], []], "bias": [9], "chosen": [-1]},
    figures.NearSections: {"chosen": [-1, 10_000]},
    figures.NGramExplorer: {"n": [0, 6], "k": [0.0, float("inf")], "smoothing": ["laplace"]},
    figures.PositionWheels: {"width": [5], "base": [50], "i": [25, -1], "offset": [16]},
    figures.SpendTheBudget: {"budget": [17.0], "size": [14.0]},
    figures.SwapTheBlock: {"norm": ["BatchNorm"], "kept": [6], "reach": ["none"], "tokens": [21]},
    figures.TokenizerComparison: {"merges": [-1, MERGES + 1]},
    figures.TwoDirections: {"at": [-1, len(directions.SENTENCES) + len(directions.MESSAGES)]},
    figures.UnrolledRNN: {"passage": [3, -1], "t": [STEPS], "unit": [UNITS]},
    figures.YourPreferences: {"clicks": ["lx", "l" * 61], "updates": [401], "beta": [0]},
    lookup.lookup: {"query": [[4, 0], [1]], "beta": [9], "heads": [5]},
}
FOCUSABLE = "[...document.querySelectorAll('figure :is(button, input, select, summary, [tabindex])')]"


@pytest.mark.parametrize("name", FIGURES)
def test_axe_finds_nothing_a_phone_shows_all_and_keys_reach_the_figure_alone(show, axe_in_every_view, name):
    """One visit, with everything open that folds in the first: wide in both themes, then narrow."""
    make, parts, _ = FIGURES[name]
    page = show(*make())
    folded = page.locator("figure").first.locator("summary, button[aria-expanded='false']")
    folded.evaluate_all("(all) => all.forEach((one) => one.click())")
    assert axe_in_every_view(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
    page.set_viewport_size({"width": 360, "height": 900})
    page.wait_for_function("document.documentElement.scrollWidth <= 360")
    page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    assert rightmost(page, parts) <= 356
    assert page.evaluate(f"{FOCUSABLE}.every((node) => node.dataset.lmSuppressShortcuts === 'true')")


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_state_gives_the_same_small_page(name):
    make, _, most = FIGURES[name]
    html = make()[0].html()
    assert html == make()[0].html()
    assert len(html) < most


@pytest.mark.parametrize("name", FIGURES)
def test_a_chapter_draws_the_same_numbers_with_and_without_the_figure(name):
    digit.gpt()  # made and kept: its test draws its weights
    before = torch.get_rng_state(), random.getstate()
    FIGURES[name][0]()[0].html()
    assert torch.equal(torch.get_rng_state(), before[0])
    assert random.getstate() == before[1]


@pytest.mark.parametrize("name", sorted(FIGURES.keys() - {"writer"}))
def test_alternative_text_follows_the_state(name):
    figure = FIGURES[name][0]()[0]
    for state, value in CHANGES[name].items():
        before = figure.alt
        setattr(figure, state, value)
        assert figure.alt != before, state


@pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)
def test_what_the_figure_does_not_have_is_refused(make):
    for state, values in WRONG[make].items():
        for value in values:
            with pytest.raises((ValueError, TraitError), match=rf"\b{state}\b"):
                make(**{state: value})
