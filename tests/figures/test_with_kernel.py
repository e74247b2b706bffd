"""In JupyterLab: what a cell sets, the view draws; what a hand moves in the view, a cell reads.

For the figures that have no such test beside their others: one notebook and one kernel for all of them.
"""

import re

import pytest


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
    ("LSTMStep()", "place = 4", press("Next"), "place", 5),
    ("GradientOverDistance()", "T = 20", slide("Steps T", "End"), "T", 100),
    ("DecodingSteps()", "chosen = 1", press("Take the likeliest"), "picks", [0]),
    ("ForwardPass()", "history = [5, 6, 7]", press(re.compile("^Look at")), "chosen", "z"),
    (VECTOR, "length = 2", slide("Source length N", "Home"), "length", 1),
    (LOOKUP, "beta = 4.0", slide("Heads", "ArrowRight"), "heads", 2),
    ("MaskPainter()", "layers = 2", press("Residual connection"), "residual", False),
    ("PositionWheels()", "i = 9", slide("Offset t − i", "Home"), "offset", 0),
    ("Translator()", "place = 5", choose("Where it looks:", 2), "kind", "encoder"),
    ("FillTheBlank()", "chosen = 1", choose("Sentence", 2), "chosen", 2),
    ("GPTWriter()", "prompt = 'JULIET:\\n'", slide("Temperature", "Home"), "temperature", 0.0),
    ("CompleteDigit()", "rows = 6", press("Write again"), "seed", 1),
    ("TwoDirections()", "read = 3", press("Next word"), "read", 4),
    ("TokenizerComparison('the sea')", "merges = 0", slide("Merges used", "ArrowRight"), "merges", 1),
    ("DoesItFit()", "bits = 4", slide("Texts at once", "ArrowRight"), "texts", 1),
]


@pytest.mark.slow
def test_in_jupyterlab_figure_and_kernel_follow_each_other(lab):
    made = [(make, change, trait) for make, change, _, trait, _ in CASES]
    page = lab(
        f"from lmbook.figures import *\ncases = iter({made!r})",
        "make, change, trait = next(cases)\nf = eval(make)\nf",
        "exec(f'f.{change}')",
        "print(f'{make}: {trait} = {getattr(f, trait)}')",
    )
    page.run(0)
    figure = page.cells.nth(1).locator(".jp-OutputArea figure.lm-figure")
    for make, _, hand, trait, end in CASES:
        page.run(1)
        figure.locator(".lm-says", has_text=re.compile(r"\S")).wait_for()
        before = figure.locator(".lm-says").inner_text()
        page.run(2)
        figure.locator(".lm-says", has_not_text=before).wait_for()
        hand(figure)
        page.run_until(3, f"{make}: {trait} = {end}")
