"""SpendTheBudget: its best size is the lowest point of its curve, and the page shows the numbers of Python."""

import numpy as np
import pytest

from lmbook.figures import SpendTheBudget
from lmbook.figures.budget import best, big, terms


@pytest.mark.parametrize("budget", [18.0, 21.5, 26.0])
def test_the_best_size_is_the_lowest_point_of_the_curve(budget):
    sizes = np.linspace(6, 14, 4001)
    losses = [sum(terms(budget, size)) for size in sizes]
    assert sizes[np.argmin(losses)] == pytest.approx(best(budget), abs=2e-3)


def test_what_the_chapter_says_of_two_models():
    assert 10 ** best(np.log10(3.14e23)) == pytest.approx(53e9, rel=0.05)
    assert 10 ** best(np.log10(5.76e23)) == pytest.approx(72e9, rel=0.05)


def test_large_numbers_in_words():
    assert [big(n) for n in (3.4, 1234, 7.06e10, 1.4e12)] == ["3.4", "1.2 thousand", "71 billion", "1.4 trillion"]


def test_the_page_shows_the_numbers_of_python(show):
    page = show(SpendTheBudget())
    for budget, size in ((24.0, 10.5), (20.0, 8.25)):
        page.get_by_role("slider", name="Operations").fill(str(budget))
        page.get_by_role("slider", name="Weights").fill(str(size))
        floor, few, little = terms(budget, size)
        assert page.locator(".lm-bar-text").all_inner_texts() == [f"{one:.2f}" for one in (few, little, floor)]
        assert f"tokens: {floor + few + little:.2f} nats" in page.locator(".lm-says").inner_text()
        assert big(10 ** best(budget)) in page.locator(".lm-says").inner_text()


def test_the_bet_and_the_curves_behind_it(show):
    page = show(SpendTheBudget(), bets=True)
    dots = page.locator(".lmbg-low")
    assert dots.count() == 1, "the lowest points of other budgets would answer"
    page.get_by_role("button", name="Bet", exact=True).click()
    assert dots.count() == 3
    grown = 10 ** (best(24.0) - best(22.0))
    assert (
        f"{big(grown)} times the weights, and {big(100 / grown)} times the text"
        in page.locator(".lm-wager").inner_text()
    )
    # the pin stays on the curve: 50 times the weights, and what that costs
    cost = sum(terms(26.0, best(24.0) + 1.7)) - sum(terms(26.0, best(26.0)))
    assert f"You said 50, which costs {cost:.3f} nats." in page.locator(".lm-wager").inner_text()
    assert page.locator(".lmbg-said").text_content() == f"you: {cost:.3f} more"
    dot, lowest = (
        page.locator(kind).evaluate("(one) => one.cx.baseVal.value") for kind in (".lmbg-bet", ".lmbg-low >> nth=1")
    )
    assert dot > lowest
    ends = page.locator(".lmbg-said").evaluate("(one) => one.getBBox().x + one.getBBox().width")
    assert ends < 386  # within the drawing
    page.get_by_role("slider", name="Operations").press("ArrowLeft")
    assert page.locator(".lmbg-bet").count() == 0  # another budget
