"""In JupyterLab: what a cell sets, the view draws; what a hand moves in the view, a cell reads.

All figures, so that JupyterLab starts once: most of them in one notebook, the others in one each.
"""

import re

import pytest
import test_backprop_graph as backprop_graph
import test_explorer as explorer
import test_sentence as sentence
import test_shannon as shannon
import test_translator as translator

from lmbook.figures import BackpropGraph, NGramExplorer, SentenceProbability
from lmbook.figures.translator import translated


def slide(label, key):
    return lambda figure: figure.get_by_role("slider", name=label, exact=True).press(key)


def press(name):
    return lambda figure: figure.get_by_role("button", name=name, exact=isinstance(name, str)).click()


def choose(label, index):
    return lambda figure: figure.get_by_label(label, exact=True).select_option(index=index)


VECTOR = "FixedVector([2, 4], 'abc', [[1, .5, .3]] * 2, [[2, 3, 4]] * 2, [['a', 'ab', 'abd']] * 2, 2, 4, 3)"
LOOKUP = "SoftLookup(['red', 'blue'], [[1, 0], [0, 1]], [[1, 0], [0, 1]])"
# how it is made; what a cell sets; what the hand does; what a cell then reads of which trait
CASES = [
    ("UnrolledRNN()", "t = 40", slide("Step t", "Home"), "t", 0),
    ("LSTMStep()", "chosen = 4", slide("Bias of the forget gate", "Home"), "bias", -2.0),
    ("GradientOverDistance()", "T = 20", slide("Steps T", "End"), "T", 100),
    ("DecodingSteps()", "chosen = 1", press("Take the likeliest"), "picks", [0]),
    ("ForwardPass()", "history = [5, 6, 7]", press(re.compile("^Look at")), "chosen", "z"),
    (VECTOR, "length = 2", slide("Source length N", "Home"), "length", 1),
    (LOOKUP, "beta = 4.0", slide("Heads", "ArrowRight"), "heads", 2),
    ("MaskPainter()", "layers = 2", press("Residual connection"), "residual", False),
    ("PositionWheels()", "i = 9", slide("Offset t − i", "Home"), "offset", 0),
    ("Translator()", "place = 5", choose("It looks at", 2), "kind", "encoder"),
    ("OpenTransformer()", "part = 'decoder.2'", press(re.compile("^feed-forward")), "part", "decoder.2.feed"),
    ("FillTheBlank()", "chosen = 1", choose("Sentence", 2), "chosen", 2),
    ("GPTWriter()", "prompt = 'JULIET:\\n'", slide("Temperature", "Home"), "temperature", 0.0),
    ("CompleteDigit()", "rows = 6", press("Write again"), "seed", 1),
    ("TwoDirections()", "read = 3", press("Next word"), "read", 4),
    ("TokenizerComparison('the sea')", "merges = 0", slide("Merges used", "ArrowRight"), "merges", 1),
    ("DoesItFit()", "bits = 4", slide("Texts at once", "ArrowRight"), "texts", 1),
]


SOME = [CASES[3], CASES[10], CASES[12]]  # whose traits are a list, a text and a number: on a push; all once a week


@pytest.mark.slow
@pytest.mark.parametrize("cases", [SOME, pytest.param(CASES, marks=pytest.mark.weekly)], ids=["some", "all"])
def test_in_jupyterlab_figure_and_kernel_follow_each_other(lab, cases):
    made = [(make, change, trait) for make, change, _, trait, _ in cases]
    page = lab(
        f"from lmbook import figures\ncases = iter({made!r})",
        "make, change, trait = next(cases)\nf = eval(f'figures.{make}')\nf",
        "exec(f'f.{change}')",
        "print(f'{make}: {trait} = {getattr(f, trait)}')",
    )
    page.run(0)
    figure = page.cells.nth(1).locator(".jp-OutputArea figure.lm-figure")
    for make, _, hand, trait, end in cases:
        page.run(1)
        figure.locator(".lm-says", has_text=re.compile(r"\S")).wait_for()
        before = figure.locator(".lm-says").inner_text()
        page.run(2)
        figure.locator(".lm-says", has_not_text=before).wait_for()
        hand(figure)
        page.run_until(3, f"{make}: {trait} = {end}")


@pytest.mark.slow
def test_a_notebook_opened_again_shows_the_printed_figure_which_lives_when_its_cell_is_run(lab):
    page = lab(
        "from lmbook.figures import DoesItFit, PositionWheels\nfrom IPython.display import display",
        "f = PositionWheels(i=3)\ndisplay(f, DoesItFit())\nprint('after')",
        "f.i = 9",
    )
    page.run(0)
    page.run(1)
    outputs = page.cells.nth(1).locator(".jp-OutputArea")
    living, printed = outputs.locator("figure:not([data-module])"), outputs.locator("figure[data-module]")
    living.nth(1).locator(".lm-says", has_text=re.compile(r"\S")).wait_for()
    page.wait_for_function("!document.querySelector('.jp-Notebook figure[data-module]')")
    assert living.count() == 2
    page.open_again()
    printed.nth(1).wait_for()
    assert [figure.is_visible() for figure in printed.all()] == [True, True]
    page.get_by_text("model not found").nth(1).wait_for(state="attached")  # JupyterLab has tried
    assert not page.get_by_text("model not found").filter(visible=True).count()
    assert outputs.get_by_text("after").is_visible()
    assert living.count() == 0
    page.run(0)
    page.run(1)
    living.nth(1).locator(".lm-says", has_text=re.compile(r"\S")).wait_for()
    assert [figure.is_visible() for figure in living.all()] == [True, True]
    before = living.first.locator(".lm-says").inner_text()
    page.run(2)
    living.first.locator(".lm-says", has_not_text=before).wait_for()


@pytest.mark.slow
def test_edits_in_the_graph_reach_python_and_back(lab):
    page = lab(
        "from lmbook.figures import BackpropGraph\nf = BackpropGraph(x=[1, 2], step=7)\nf",
        "f.label = 3",
        "print(f.x, f.label, f.chosen)",
    )
    page.run(0)
    figure = page.cells.nth(0).locator(".jp-OutputArea figure.lm-figure")
    figure.locator(".lmb-graph").wait_for()
    assert figure.locator("figcaption").inner_text() == BackpropGraph().caption
    backprop_graph.tile(figure, "x1").focus()  # keys reach the figure, not the notebook
    page.keyboard.press("Enter")
    figure.get_by_label("exactly").fill("0.5")
    figure.get_by_label("exactly").press("Enter")
    page.run_until(2, "[0.5, 2.0] 2 x1")
    page.run(1)
    figure.locator(".lm-says", has_text="The loss is").wait_for()
    wanted = BackpropGraph(x=[0.5, 2], label=3).numbers()["L"][0]
    figure.locator(".lmb-graph button[data-name=L]", has_text=f"{wanted:.2f}").wait_for()
    assert page.cells.count() == 3


@pytest.mark.slow
def test_keys_in_the_explorer_reach_the_figure_alone(lab):
    page = lab(
        "from lmbook.figures import NGramExplorer\nf = NGramExplorer(history='in the')\nf",
        "f.n = 2\nf.smoothing = 'interpolated'",
        "print(repr(f.history), f.n, f.smoothing)",
    )
    page.run(0)
    figure = page.cells.nth(0).locator(".jp-OutputArea figure.lm-figure")
    explorer.bars(figure).first.wait_for()
    assert figure.locator("figcaption").inner_text() == NGramExplorer().caption
    second = explorer.bars(figure).nth(1).locator(".lmx-name").inner_text()
    # keys reach the figure, not the notebook: arrows would leave the cell, Enter would edit it
    explorer.bars(figure).first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.run_until(2, f"'in the {second}' 3 kneser-ney")
    page.run(1)
    figure.locator(".lm-says", has_text="interpolated, n = 2").wait_for()
    reference = explorer.Reference(NGramExplorer(history=f"in the {second}", n=2, smoothing="interpolated"))
    assert explorer.perplexity(figure) == pytest.approx(reference.perplexity, abs=0.06)
    assert explorer.number(explorer.bars(figure).first.locator(".lmx-p").inner_text()) == pytest.approx(
        reference.p.max(), rel=6e-3
    )
    assert page.cells.count() == 3


@pytest.mark.slow
@pytest.mark.weekly  # keys as in the explorer
def test_keys_in_the_sentence_reach_the_figure_alone(lab):
    page = lab(
        "from lmbook.figures import SentenceProbability\nf = SentenceProbability('the sea was calm .')\nf",
        "f.sentence = 'the cat sleeps .'",
        "print(f.sentence)",
    )
    page.run(0)
    figure = page.cells.nth(0).locator(".jp-OutputArea figure.lm-figure")
    figure.locator(".lm-word").first.wait_for()
    assert figure.locator("figcaption").inner_text() == SentenceProbability().caption
    assert sentence.tiles(figure) == ["the", "sea", "was", "calm", ".", "<eos>"]
    # keys reach the figure, not the notebook: s would save, arrows would leave the cell, x would cut it
    figure.locator("button.lm-word").first.focus()
    page.keyboard.press("s")
    page.keyboard.press("x")
    assert sentence.tiles(figure)[:2] == ["sea", "the"]
    assert sentence.total(figure) == pytest.approx(sum(sentence.by_hand("sea the was calm .")), abs=0.006)
    assert page.cells.count() == 3
    page.run_until(2, "sea the was calm .")
    page.run(1)
    figure.locator(".lm-word-token", has_text="sleeps").wait_for()
    assert sentence.total(figure) == pytest.approx(sum(sentence.by_hand("the cat sleeps .")), abs=0.006)
    figure.get_by_label("Sentence").fill("they went home .")
    figure.get_by_label("Sentence").press("Enter")
    page.run_until(2, "they went home .")


@pytest.mark.slow
def test_python_knows_the_bets_and_can_take_them_back(lab):
    page = lab(
        f"from lmbook.figures import ShannonGame\ngame = ShannonGame([{shannon.TOY!r}], ['model'], 10)\ngame",
        "print(game.perplexities())",
        "game.bets = []",
    )
    page.run(0)
    figure = page.cells.nth(0).locator(".jp-OutputArea figure.lm-figure")
    slider = figure.locator(".lm-bet input").first
    slider.focus()
    page.keyboard.press("5")
    page.keyboard.press("ArrowUp")  # at the top already; must not leave the cell
    page.keyboard.press("Enter")
    figure.get_by_text("You gave it 0.5").first.wait_for()
    page.run_until(1, "{'you': 2.0, 'model': 2.0}")
    figure.get_by_role("button", name="Next word").click()
    assert figure.get_by_text("Word 2 of 2").count() > 0
    page.run(2)
    figure.get_by_text("Word 1 of 2").first.wait_for()
    assert figure.get_by_role("list", name="Perplexity so far").count() == 0


@pytest.mark.slow
def test_the_kernel_sends_the_weights_of_the_translator(lab):
    page = lab("from lmbook.figures import Translator\nf = Translator(('multi30k-additive',))\nf", "print(f.text)")
    page.run(0)
    page.locator(".lmx-written").wait_for()
    translator.translate(page, translator.sentence(13))
    wanted = translated("multi30k-additive", translator.sentence(13))["text"]
    page.wait_for_function("(text) => document.querySelector('.lmx-written').textContent === text", arg=wanted)
    page.run_until(1, translator.sentence(13))
