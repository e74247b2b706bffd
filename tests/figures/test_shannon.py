"""ShannonGame: bets are distributions, losses and perplexities are right in Python and in the page."""

import math
import re

import numpy as np
import pytest
from seen import cells_of, says

from lmbook import data
from lmbook.figures import ShannonGame
from lmbook.figures.shannon import bet_probability, frequencies, prose
from lmbook.ngram import Counts, KneserNey
from lmbook.text import Vocabulary


@pytest.fixture(scope="module")
def trained():
    """Models of the built-in corpus, and text that they were not counted on."""
    corpus = data.load("harbour")
    vocabulary = Vocabulary.build(corpus["train"])
    allowed = np.array([token not in ("<pad>", "<sos>", "<mask>") for token in vocabulary.tokens])
    counts = Counts(vocabulary.encode(corpus["train"]), 3, len(vocabulary))
    models = {name: KneserNey(counts, order, allowed=allowed) for name, order in [("unigram", 1), ("trigram", 3)]}
    return corpus["test"], vocabulary, models


@pytest.fixture(scope="module")
def game(trained):
    """make(...) -> a fresh game: a figure keeps what was played."""
    return lambda **options: ShannonGame.from_models(
        *trained, **{"starts": 2, "n": 3, "context": 12, "candidates": 6, **options}
    )


TOY = {
    "name": "toy",
    "lead": "a b",
    "source": "",
    "positions": [
        {
            "words": ["c", "d"],
            "p": [[0.5], [0.25]],
            "q": [0.1, 0.3],
            "truth": "c",
            "truth_p": [0.5],
            "truth_q": 0.1,
            "shown": " c",
        },
        {
            "words": ["c", "d"],
            "p": [[0.5], [0.25]],
            "q": [0.1, 0.3],
            "truth": "e",
            "truth_p": [0.01],
            "truth_q": 0.2,
            "shown": " e",
        },
    ],
}


def toy(**state):
    return ShannonGame([TOY], ["model"], 10, **state)


# --- in Python ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [{}, {"c": 40}, {"c": 99, "d": 1}, {"c": 30, "d": 0, "x": 5}])
def test_a_bet_is_a_distribution_over_the_vocabulary(points):
    q = {"c": 0.4, "d": 0.3, "x": 0.2, "e": 0.1}
    assert sum(bet_probability(points, word, q) for word in q) == pytest.approx(1)


def test_without_points_a_bet_is_the_unigram_model(game):
    figure = game(bets=[{"points": {}}] * 3)
    assert figure.losses()["you"] == pytest.approx(figure.losses()["unigram"], rel=1e-5)


def test_the_rest_needs_a_unigram_model(trained):
    tokens, vocabulary, models = trained
    with pytest.raises(ValueError, match="order 1"):
        ShannonGame.from_models(tokens, vocabulary, {"trigram": models["trigram"]}, 2, n=3, context=12)


def test_losses_and_perplexities_by_hand():
    played = toy(bets=[{"points": {"c": 50}}, {"points": {"c": 10}}])
    assert played.losses() == {
        "you": [pytest.approx(-math.log(0.5)), pytest.approx(-math.log(0.9 * 0.2 / 0.9))],
        "model": [pytest.approx(-math.log(0.5)), pytest.approx(-math.log(0.01))],
    }
    assert played.perplexities() == {
        "you": pytest.approx((0.5 * 0.9 * 0.2 / 0.9) ** -0.5),
        "model": pytest.approx(0.005**-0.5),
    }


def test_a_zero_costs_infinity():
    played = toy(bets=[{"points": {"c": 50}}, {"points": {"c": 50, "d": 50}}])
    assert played.losses()["you"][1] == math.inf
    assert played.perplexities()["you"] == math.inf


def test_probabilities_come_from_the_models(trained, game):
    tokens, vocabulary, models = trained
    start = 40
    figure = game(starts=[start], n=5)
    ids = vocabulary.encode(tokens)
    assert figure.vocabulary_size == len(vocabulary) - 3
    for i, position in enumerate(figure.passages[0]["positions"]):
        t = start + i
        assert position["truth"] == vocabulary.decode([ids[t]])[0]
        logs = [model.log_probs(ids[: t + 1], start=t)[0] for model in models.values()]
        np.testing.assert_allclose(np.log(position["truth_p"]), logs, atol=1e-5)
        for word, row in zip(position["words"], position["p"], strict=True):
            expected = [model.prob(ids[:t], vocabulary[word]) for model in models.values()]
            np.testing.assert_allclose(row, expected, rtol=1e-5)
        mean = sum(model.distribution(ids[t - 2 : t]) for model in models.values())
        assert mean[vocabulary.encode(position["words"])].min() >= np.sort(mean)[-6]


def test_candidates_do_not_depend_on_the_truth(trained, game):
    tokens, vocabulary, models = trained
    changed = [*tokens]
    changed[42] = "lighthouse" if tokens[42] != "lighthouse" else "cat"
    one = game(starts=[40])
    two = ShannonGame.from_models(changed, vocabulary, models, [40], n=3, context=12, candidates=6)
    assert one.passages[0]["positions"][2]["truth"] != two.passages[0]["positions"][2]["truth"]
    assert one.passages[0]["positions"][2]["words"] == two.passages[0]["positions"][2]["words"]


def test_the_same_texts_are_chosen_every_time(game):
    assert game().html() == game().html()
    assert len({passage["lead"] for passage in game(starts=4).passages}) == 4


def test_bad_starts_are_refused(trained, game):
    with pytest.raises(ValueError, match="start 0"):
        game(starts=[0])
    with pytest.raises(ValueError, match=str(len(trained[0]))):
        game(starts=[len(trained[0])])
    with pytest.raises(ValueError, match="too few"):
        game(starts=10**6)
    with pytest.raises(ValueError, match="at least one"):
        ShannonGame([], ["model"], 10)
    with pytest.raises(ValueError, match="no word was played"):
        toy().perplexities()


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("the ship ( 12 @,@ 000 tons ) sank .", "the ship (12,000 tons) sank."),
        ('a well @-@ known " big cat " , isn \'t it ?', 'a well-known "big cat", isn\'t it?'),
        ("the end . <eos> A new line", "the end.\nA new line"),
    ],
)
def test_tokens_read_as_prose(tokens, text):
    assert "".join(prose(tokens.split())).strip() == text
    assert len(prose(tokens.split())) == len(tokens.split())


def test_the_fallback_gives_the_models_away_and_no_answer(game):
    figure = game(starts=[40], n=1)
    truth = figure.passages[0]["positions"][0]
    mean = [f"{math.exp(-math.log(p)):.1f}" for p in truth["truth_p"]]
    shown = [x if float(x) < 100 else f"{float(x):,.0f}" for x in mean]
    assert all(number in figure.fallback() for number in shown)


# --- on the page ----------------------------------------------------------------------------------------------------


def points(page):
    return [int(x) for x in page.locator(".lm-points").all_inner_texts()]


def bars(page, label):
    rows = page.get_by_role("list", name=label).locator(".lm-bar")
    names, texts = (rows.locator(part).all_inner_texts() for part in (".lm-bar-label", ".lm-bar-text"))
    return dict(zip(names, texts, strict=True))


def bet(page):
    page.get_by_role("button", name="Bet and look").click()


def test_a_whole_game_by_keyboard(show, game):
    figure = game()
    page = show(figure)
    played = []
    page.locator(".lm-bet input").first.focus()
    for position in figure.passages[0]["positions"]:
        page.keyboard.press("4")  # 40 points on the first word
        page.keyboard.press("ArrowDown")
        page.keyboard.press("2")  # 20 on the second
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert points(page) == [40, 22, 0, 0, 0, 0, 38]
        slider = page.locator(".lm-bet input").nth(1)
        assert slider.get_attribute("aria-valuetext") == "22 points, 38 left for other words"
        page.keyboard.press("Enter")
        played.append({"points": {position["words"][0]: 40, position["words"][1]: 22}})
        assert f"“{position['truth']}”" in says(page)
        assert page.evaluate("document.activeElement.textContent") in ("Next word", "See the result")
        page.keyboard.press("Enter")
    expected = ShannonGame(figure.passages, figure.models, figure.vocabulary_size, bets=played)
    perplexity = expected.perplexities()
    text = {k: f"{x:.1f}" if x < 100 else f"{x:,.0f}" for k, x in perplexity.items()}
    assert bars(page, "Perplexity") == text
    assert f"your perplexity is {text['you']}." in says(page)
    beaten = [m for m in figure.models if perplexity["you"] < perplexity[m]]
    assert all(m in re.search(r"You beat (.*)\.|They all beat", says(page))[0] or len(beaten) != 1 for m in beaten)
    assert page.evaluate("document.activeElement.textContent") == "Play again"
    rows = cells_of(page)  # which is open at the end
    shown = np.array([[float(x) for x in row[2:]] for row in rows])
    np.testing.assert_allclose(shown.T, list(expected.losses().values()), atol=0.0051)


def test_losses_beside_the_models_after_one_bet_by_mouse(show, game):
    figure = game()
    page = show(figure)
    page.get_by_role("button", name="spread evenly").click()
    assert points(page) == [15] * 6 + [10]
    bet(page)
    position = figure.passages[0]["positions"][0]
    mine = bet_probability(dict.fromkeys(position["words"], 15), position["truth"], frequencies(position))
    losses = [f"{-math.log(p):.2f}" for p in (mine, *position["truth_p"])]
    assert list(bars(page, "Loss on this word").values()) == losses
    came = page.locator(".lm-came")
    assert came.count() == 1
    assert position["truth"] in came.inner_text()


def test_points_never_exceed_a_hundred_and_one_is_kept(show, game):
    page = show(game())
    page.locator(".lm-bet input").nth(0).fill("100")
    assert points(page) == [99, 0, 0, 0, 0, 0, 1]
    page.locator(".lm-bet input").nth(1).fill("50")
    assert points(page) == [99, 0, 0, 0, 0, 0, 1]
    page.get_by_label("keep 1 point").uncheck()
    page.locator(".lm-bet input").nth(0).fill("100")
    assert points(page) == [100, 0, 0, 0, 0, 0, 0]
    assert "your loss is −ln 0, infinite" in says(page)
    page.get_by_label("keep 1 point").check()
    assert points(page) == [99, 0, 0, 0, 0, 0, 1]


def test_a_zero_is_infinite_on_the_page_too(show):
    page = show(toy())
    page.locator(".lm-bet input").nth(0).fill("50")
    bet(page)
    page.get_by_role("button", name="Next word").click()
    page.get_by_label("keep 1 point").uncheck()
    page.locator(".lm-bet input").nth(0).fill("100")
    bet(page)
    assert "your loss is infinite" in says(page)
    page.get_by_role("button", name="See the result").click()
    assert "your perplexity is infinite" in says(page)
    assert bars(page, "Perplexity") == {"you": "infinite", "model": f"{0.005**-0.5:.1f}"}
    assert page.locator(".lm-bar[data-broken]:visible").count() == 1


def test_a_word_of_the_readers_own_can_win(show):
    page = show(toy())
    page.locator(".lm-bet input").nth(0).fill("50")
    bet(page)
    page.get_by_role("button", name="Next word").click()
    page.get_by_label("Add a word").fill(" e ")
    page.get_by_label("Add a word").press("Enter")
    page.keyboard.press("8")
    assert points(page) == [0, 0, 80, 20]
    bet(page)
    assert "You gave it 0.8" in says(page)
    page.get_by_role("button", name="See the result").click()
    assert bars(page, "Perplexity")["you"] == f"{0.4**-0.5:.1f}"
    page.get_by_role("button", name="Play again").click()
    assert "Word 1 of 2" in says(page)
    assert points(page) == [0, 0, 100]


def test_another_text_starts_a_new_game(show, game):
    figure = game()
    page = show(figure)
    bet(page)
    page.get_by_label("Text", exact=True).select_option(index=1)
    assert figure.passages[1]["lead"].split("\n")[0] in page.locator(".lm-passage").inner_text()
    assert "Word 1 of 3" in says(page)
    assert page.get_by_role("list", name="Perplexity").get_by_text("?", exact=True).count() == 1
    page.get_by_label("Text", exact=True).select_option(index=0)
    assert "Word 2 of 3" in page.locator(".lm-row").first.inner_text()  # what was played is kept


def test_what_the_models_gave_stands_on_the_scale_of_the_points(show, game):
    figure = game()
    page = show(figure)
    bars_before = bars(page, "Perplexity")
    assert bars_before.pop("you") == "?"
    truths = [position["truth_p"] for position in figure.passages[0]["positions"]]
    goal = np.exp(-np.log(truths).mean(0))
    assert list(bars_before.values()) == [f"{x:.1f}" if x < 100 else f"{x:,.0f}" for x in goal]
    page.locator(".lm-bet input").first.fill("40")
    bet(page)
    position = figure.passages[0]["positions"][0]
    shown = page.locator(".lm-bet:not(.lm-bet-rest)").evaluate_all(
        "(all) => all.map((one) => [...one.querySelectorAll('.lm-mark')].map((mark) => mark.style.left))"
    )
    for marks, row in zip(shown, position["p"], strict=True):
        assert [float(re.search(r"[\d.e-]+", mark)[0]) for mark in marks] == pytest.approx([100 * p for p in row])
    assert page.locator(".lm-bet .lm-bar-fill").first.evaluate("(one) => one.style.width") == "40%"


def test_texts_whose_first_words_can_be_guessed_come_first(game):
    firsts = [
        sum(position["truth"] in position["words"] for position in passage["positions"][:2])
        for passage in game(starts=4).passages
    ]
    assert firsts == sorted(firsts, reverse=True)


def test_a_phone_folds_the_less_likely_words(show, game):
    page = show(game(candidates=12), width=390)
    assert page.locator(".lm-bet input:visible").count() == 6
    page.get_by_role("button", name="6 more words").click()
    assert page.locator(".lm-bet input:visible").count() == 12
    assert page.evaluate("document.activeElement.type") == "range"


def test_several_words_are_not_taken_for_one(show):
    page = show(toy())
    page.get_by_label("Add a word").fill("two words")
    page.get_by_label("Add a word").press("Enter")
    assert says(page) == "One word at a time, please."
    assert page.get_by_label("Add a word").input_value() == "two words"


def test_the_answer_is_not_shown_before_the_bet(show):
    passage = {**TOY, "positions": [{**TOY["positions"][0], "truth": "zebra", "truth_q": 0.01, "shown": " zebra"}]}
    page = show(ShannonGame([passage], ["model"], 10))
    assert "zebra" not in page.locator("figure").inner_text()
    bet(page)
    assert "zebra" in page.locator(".lm-passage").inner_text()


def test_the_bets_are_one_tab_stop(show, game):
    page = show(game())
    page.locator(".lm-bet input").nth(0).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == page.locator(".lm-bet input").nth(
        2
    ).get_attribute("aria-label")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Bet and look"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.type") == "range"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.localName") == "select"


def test_axe_finds_nothing_at_any_stage(show, axe_in_every_view, game):
    page = show(game(n=1))
    assert axe_in_every_view(page) == []
    page.get_by_role("button", name="spread evenly").click()
    bet(page)
    page.locator("summary").click()
    assert axe_in_every_view(page) == []
    page.get_by_role("button", name="See the result").click()
    assert axe_in_every_view(page) == []


def test_it_fits_a_phone(show, game):
    page = show(game(), width=360)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="spread evenly").click()
    bet(page)
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
