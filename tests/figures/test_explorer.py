"""NGramExplorer: every number on the page is that of lmbook.ngram, and mouse and keyboard do the same."""

import json
import re

import numpy as np
import pytest
from seen import number, says, table
from traitlets import TraitError

from lmbook import data, ngram
from lmbook.figures import NGramExplorer
from lmbook.figures.explorer import _typed
from lmbook.text import Vocabulary, words

SETTINGS = [
    {"smoothing": "kneser-ney", "n": 5, "history": "they looked at the"},
    {"smoothing": "kneser-ney", "n": 3, "history": "in the"},
    {"smoothing": "kneser-ney", "n": 2, "history": ""},
    {"smoothing": "interpolated", "n": 4, "history": "out of the"},
    {"smoothing": "add-k", "n": 3, "k": 0.003, "history": "the old"},
    {"smoothing": "add-k", "n": 3, "k": 2.5, "history": "zebra crossing"},
    {"smoothing": "none", "n": 2, "history": "he said . <eos> the"},
    {"smoothing": "none", "n": 4, "history": "purple boats go out to"},
]


class Reference:
    """The same model, put together from lmbook.ngram alone."""

    def __init__(self, figure):
        corpus = data.load("harbour")
        self.vocabulary = Vocabulary.build(corpus["train"])
        allowed = np.array([token not in ("<pad>", "<sos>", "<mask>") for token in self.vocabulary.tokens])
        self.counts = ngram.Counts(self.vocabulary.encode(corpus["train"]), 5, len(self.vocabulary))
        n, kind = figure.n, figure.smoothing
        self.model = {
            "none": lambda: ngram.MaximumLikelihood(self.counts, n, allowed),
            "add-k": lambda: ngram.AddK(self.counts, n, figure.k, allowed),
            "interpolated": lambda: ngram.JelinekMercer(self.counts, figure.weights[n - 1], allowed),
            "kneser-ney": lambda: ngram.KneserNey(self.counts, n, allowed=allowed),
        }[kind]()
        self.tokens = [token for part in re.split("(<eos>)", figure.history) for token in self.cut(part)]
        self.ids = self.vocabulary.encode(self.tokens)
        self.seen = self.ids[max(0, len(self.ids) - n + 1) :]
        self.p = self.model.distribution(self.ids)
        self.perplexity = ngram.stream_perplexity(self.model, self.vocabulary.encode(corpus["test"]))

    @staticmethod
    def cut(part):
        return [part] if part == "<eos>" else words(part)

    def of(self, word):
        return self.p[self.vocabulary[word]]


def history(page):
    return page.get_by_label("History", exact=True).input_value()


def type_in(page, text):
    page.get_by_label("History", exact=True).fill(text)
    page.get_by_label("History", exact=True).press("Enter")


def perplexity(page):
    return number(page.locator(".lmx-score b").inner_text())


def bars(page):
    return page.locator("ol[aria-label='The likeliest next words'] li:not([hidden]) button")


def levels(page):
    return page.locator(".lmx-level:not([hidden]):not(.lmx-beyond)")


# --- the first view, in Python --------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
def test_python_shows_the_likeliest_words_of_the_package(setting):
    figure = NGramExplorer(**setting)
    reference = Reference(figure)
    top = figure.top()
    assert [p for _, p in top] == pytest.approx(sorted(reference.p[reference.p > 0])[: -len(top) - 1 : -1])
    assert all(p == pytest.approx(reference.of(word)) for word, p in top)
    assert f"“{top[0][0]}” likeliest, with probability {top[0][1]:.3g}" in figure.alt
    assert all(f">{p:.3g}<" in figure.fallback() for _, p in top)


def test_suffixes_are_counted_in_the_text():
    stream = f" {' '.join(data.load('harbour')['train'])} "
    for suffix, times, different in NGramExplorer(history="they looked at the", n=4).suffixes():
        found = re.findall(rf"(?<= {suffix} )\S+", stream) if suffix else stream.split()
        assert (times, different) == (len(found), len(set(found)))


def test_the_title_is_true():
    figure = NGramExplorer()
    train, test = data.load("harbour")["train"], data.load("harbour")["test"]
    share = []
    for n in range(2, 6):
        known = {tuple(train[i : i + n - 1]) for i in range(len(train) - n + 1)}
        asked = [tuple(test[i : i + n - 1]) for i in range(len(test) - n + 1)]
        share.append(np.mean([history in known for history in asked]))
    assert share == sorted(share, reverse=True)
    assert share[-1] < 0.5 * share[0]
    assert len(figure.suffixes()) == 3
    counts = [times for _, times, _ in NGramExplorer(n=5).suffixes()]
    assert counts == sorted(counts)
    assert counts[0] >= 1  # the first view's history has been seen, so that all orders have something to show


def test_the_weights_are_fitted_and_sum_to_one():
    figure = NGramExplorer()
    valid = figure.vocabulary.encode(data.load("harbour")["valid"])
    for n, row in enumerate(figure.weights, start=1):
        assert sum(row) == pytest.approx(1, abs=1e-9)
        assert min(row) >= 0
        fitted = ngram.JelinekMercer(figure.counts, row, figure.allowed)
        equal = ngram.JelinekMercer(figure.counts, [1 / (n + 1)] * (n + 1), figure.allowed)
        assert ngram.stream_perplexity(fitted, valid) < ngram.stream_perplexity(equal, valid)


def test_the_state_stays_small_and_the_same():
    corpus = data.load("harbour")
    figure, again = NGramExplorer(), NGramExplorer(text=corpus["train"])
    assert figure.html() == again.html()
    assert len(figure.html()) < 15_000  # the training text is in the module, not in every stored output
    assert figure.text == ""
    assert figure.test.replace("\n", "<eos>").split(" ") == corpus["test"]


@pytest.mark.parametrize("part", ["train", "valid", "test"])
def test_what_is_sampled_can_be_typed(part):
    tokens = data.load("harbour")[part]
    assert _typed(" ".join(tokens)) == tokens


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"text": []}, "0 tokens"),
        ({"text": ["a"] * 50_001}, "50,001 tokens"),
        ({"text": ["New York"]}, "'New York'"),
        ({"weights": [[0.5, 0.5]]}, "weights must be 5 lists"),
    ],
)
def test_bad_arguments_are_named(bad, says):
    with pytest.raises((ValueError, TraitError), match=re.escape(says)):
        NGramExplorer(**bad)


def test_a_text_must_be_cut():
    with pytest.raises(TypeError, match="words"):
        NGramExplorer(text="the sea was calm")


# --- on the page: numbers -------------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_package(show):
    made = [NGramExplorer(**setting) for setting in SETTINGS]
    page = show(*made)
    for i, figure in enumerate(made):
        numbers_are_those_of_the_package(page.locator("figure.lm-figure").nth(i), figure)


def numbers_are_those_of_the_package(page, figure):
    reference = Reference(figure)

    rows = table(page, 0)
    best = np.sort(reference.p[reference.p > 0])[::-1][: len(rows)]
    np.testing.assert_allclose([number(row[1]) for row in rows], best, rtol=6e-4)  # four digits are shown
    np.testing.assert_allclose([reference.of(row[0]) for row in rows], best, rtol=1e-9)
    np.testing.assert_allclose([sum(map(number, row[3:])) for row in rows], best, rtol=0.02)
    followers, how_often = reference.counts.followers(reference.seen)
    raw = dict(zip(followers.tolist(), how_often.tolist(), strict=True))
    total = how_often.sum()
    expected = [f"{raw.get(reference.vocabulary[row[0]], 0)} of {total}" if total else "none" for row in rows]
    assert [row[2] for row in rows] == expected
    assert bars(page).count() == len(rows) == 10 or figure.smoothing == "none"
    assert bars(page).locator(".lmx-name").all_inner_texts() == [row[0] for row in rows]

    down = table(page, 1)
    assert sum(number(row[6]) for row in down) == pytest.approx(1, abs=0.004)
    for i, row in enumerate(down[:-1]):
        suffix = reference.seen[i:]
        _, how_often = reference.counts.followers(suffix)
        assert row[1] == (" ".join(reference.vocabulary.decode(suffix)) or "(none)")
        assert [number(row[2]), number(row[3])] == [how_often.sum(), len(how_often)]
        if figure.smoothing == "kneser-ney" and row[4]:
            assert number(row[4]) == pytest.approx(reference.model.discounts[len(suffix)], abs=6e-4)

    assert perplexity(page) == pytest.approx(reference.perplexity, abs=0.06)
    ((name, shown, stored),) = table(page, 2)
    assert name.endswith(f"n = {figure.n}")
    assert number(shown) == pytest.approx(reference.perplexity, abs=0.006)
    assert number(stored) == sum(reference.counts.types(n) for n in range(1, figure.n + 1))


def test_the_bars_show_which_order_gave_what(show):
    page = show(NGramExplorer(n=4), motion="reduce")
    rows = table(page, 0)
    top = max(max(number(row[1]), eval(row[2].replace(" of ", "/"))) for row in rows)
    track = bars(page).first.locator(".lmx-track").bounding_box()["width"]
    for row, bar in zip(rows, bars(page).all(), strict=True):
        parts = [number(cell) for cell in row[3:]]  # orders 4, 3, 2, 1, uniform
        for piece in bar.locator(".lmx-piece").all():
            order = int(piece.get_attribute("data-order"))
            width = piece.bounding_box()["width"]
            assert width == pytest.approx(track * parts[4 - order] / top, abs=0.6)
        raw, of = map(int, row[2].split(" of "))
        assert bar.locator(".lmx-thin").bounding_box()["width"] == pytest.approx(track * raw / of / top, abs=0.6)


def test_raw_shares_of_an_unseen_history_have_nothing_to_say(show):
    page = show(NGramExplorer(smoothing="none", history="purple sea"))
    assert "“<unk> sea” never occurs before a word" in says(page)
    assert "nothing to say" in says(page)
    assert page.locator(".lmx-sight").inner_text() == "After purple sea (not in the text: purple)"
    levels(page).first.get_by_role("button").click()
    assert "0 / 0" in levels(page).first.inner_text()
    assert page.locator(".lmx-score b").inner_text() == "infinite"
    zeros = int(re.search(r"(\d+) of (\d+) tokens got probability 0", page.locator(".lmx-score").inner_text())[1])
    figure = NGramExplorer(smoothing="none")
    assert zeros == np.isinf(figure.model().log_probs(figure.vocabulary.encode(figure.held_out))).sum() > 0
    page.get_by_role("radio", name="Kneser-Ney").check()
    assert "nothing to say" not in says(page)
    assert perplexity(page) < 1000


def test_the_lines_are_all_that_the_model_has_read(show):
    page = show(NGramExplorer(n=3, history="at the"))
    figure = NGramExplorer(n=3, history="at the")
    stream = " ".join(figure.training)
    for i, (suffix, times, _) in enumerate(figure.suffixes()):
        button = levels(page).nth(i).get_by_role("button")
        assert button.get_attribute("aria-expanded") == "false"
        button.press("Enter")
        assert button.get_attribute("aria-expanded") == "true"
        shown = levels(page).nth(i).locator(".lmx-lines p:not(.lmx-about)")
        if suffix:
            assert shown.count() == times
            found = sorted(
                f"{b} {u}"
                for b, u in zip(
                    levels(page).nth(i).locator(".lmx-lines b").all_inner_texts(),
                    levels(page).nth(i).locator(".lmx-lines u").all_inner_texts(),
                    strict=True,
                )
            )
            assert found == sorted(re.findall(rf"(?<!\S){suffix} \S+", stream))
            assert all(" ".join(line.split()) in stream for line in shown.all_inner_texts())
        else:
            assert " <eos> ".join(line.strip() for line in shown.all_inner_texts()) + " <eos>" == stream
        button.press("Enter")
        assert levels(page).nth(i).locator(".lmx-lines").is_hidden()


# --- on the page: what the reader does ------------------------------------------------------------------------------


def test_typing_changes_everything_and_markup_stays_text(show):
    page = show(NGramExplorer())
    type_in(page, "<img src=x> In the")
    reference = Reference(NGramExplorer(history="<img src=x> In the"))
    assert says(page).startswith("After “in the”")
    assert number(table(page, 0)[0][1]) == pytest.approx(reference.p.max(), rel=6e-4)
    assert page.locator("figure img").count() == 0


def test_the_order_moves_with_the_arrow_keys(show):
    page = show(NGramExplorer(history="they looked at the", n=3))
    slider = page.get_by_role("slider", name="Order n")
    slider.focus()
    for n in (4, 5, 5):
        page.keyboard.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") == f"n = {n}: {n - 1} words before"
        assert levels(page).count() == n + 1 if n < 5 else levels(page).count() == 6
        assert perplexity(page) == pytest.approx(Reference(NGramExplorer(n=n)).perplexity, abs=0.06)
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "n = 1: no word before"
    assert levels(page).count() == 2
    assert page.locator(".lmx-sight b").count() == 0
    lowest = min(Reference(NGramExplorer(n=n)).perplexity for n in (1, 3, 4, 5))
    assert f"lowest so far: {lowest:.1f}, Kneser-Ney, n = " in page.locator(".lmx-score").inner_text()
    assert len(table(page, 2)) == 4


def test_k_is_searched_on_a_log_scale(show):
    page = show(NGramExplorer(smoothing="add-k", n=2, k=1))
    slider = page.get_by_role("slider", name="Added count k")
    assert slider.get_attribute("aria-valuetext") == "k = 1"
    slider.focus()
    for k in (0.7, 0.5, 0.3, 0.2, 0.15, 0.1):
        page.keyboard.press("ArrowLeft")
        assert slider.get_attribute("aria-valuetext") == f"k = {k}"
        expected = Reference(NGramExplorer(smoothing="add-k", n=2, k=k)).perplexity
        assert perplexity(page) == pytest.approx(expected, abs=0.06)
    page.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext") == "k = 0.0001"
    page.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "k = 10"
    page.get_by_role("radio", name="interpolated").check()
    assert slider.is_disabled()


@pytest.mark.parametrize("way", ["mouse", "Enter", "Space"])
def test_a_bar_adds_its_word(show, way):
    page = show(NGramExplorer(history="in the"))
    second = bars(page).nth(1).locator(".lmx-name").inner_text()
    if way == "mouse":
        bars(page).nth(1).click()
    else:
        bars(page).nth(0).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press(way)
        assert bars(page).nth(1).evaluate("(bar) => bar === document.activeElement")
    assert history(page) == f"in the {second}"
    reference = Reference(NGramExplorer(history=f"in the {second}"))
    assert number(table(page, 0)[0][1]) == pytest.approx(reference.p.max(), rel=6e-4)
    page.get_by_role("button", name="Undo").click()
    assert history(page) == "in the"


def test_sampling_starts_again_with_the_same_words(show):
    page = show(NGramExplorer(history="in the"), NGramExplorer(history="in the", seed=2))
    one, other = page.locator("figure").all()

    def go(figure):
        for name in ("Sample a word", "Sample a word", "Sample a sentence", "Sample a sentence"):
            figure.get_by_role("button", name=name).click()
        return history(figure)

    first = go(one)
    assert first.startswith("in the ")
    assert 1 <= first.count("<eos>") <= 4
    assert set(_typed(first)) <= set(data.load("harbour")["train"]) | {"<unk>"}
    assert first.endswith("<eos>") or len(_typed(first)) >= 42
    one.get_by_role("button", name="Start again").click()
    assert history(one) == "in the"
    assert go(one) == first
    assert go(other) != first
    one.get_by_role("button", name="Undo").click()
    assert first.startswith(history(one))
    assert history(one) != first
    for _ in range(9):  # more often than there is something to undo
        one.get_by_role("button", name="Undo").press("Enter")
    assert history(one) == "in the"


def test_a_sampled_word_could_follow(show):
    page = show(NGramExplorer(history="the end of", smoothing="none", n=3))
    followers, _ = NGramExplorer().counts.followers(NGramExplorer().vocabulary.encode(["end", "of"]))
    possible = set(NGramExplorer().vocabulary.decode(followers))
    for _ in range(6):
        page.get_by_role("button", name="Sample a word").click()
        assert _typed(history(page))[-1] in possible
        page.get_by_role("button", name="Undo").click()


def test_each_group_is_one_tab_stop(show):
    page = show(NGramExplorer(smoothing="add-k"))
    page.get_by_label("History", exact=True).focus()
    stops = []
    for _ in range(10):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("""() => {
          const node = document.activeElement;
          return node.closest("[role=toolbar]") ? "tools" : node.type === "radio" ? "smoothing"
            : node.type === "range" ? "slider" : node.closest("ol")?.getAttribute("aria-label") ?? node.localName;
        }""")
        )
    way = "The way down from the longest history to the uniform distribution"
    first = ["tools", "smoothing", "slider", "slider", "The likeliest next words", "button", way]
    assert stops == first + ["summary"] * 3
    bars(page).first.focus()
    page.keyboard.press("End")
    assert bars(page).last.evaluate("(bar) => bar === document.activeElement")


ODD = ["", "   ", "!", "<eos>", "<unk> <unk>", "word " * 300, "…", "<pad> <sos>"]


@pytest.mark.parametrize("smoothing", [pytest.param("none", marks=pytest.mark.weekly), "kneser-ney"])
def test_odd_histories_do_no_harm(show, smoothing):
    page = show(NGramExplorer(smoothing=smoothing))
    for text in ODD:
        type_in(page, text)
        shares = [number(bar.locator(".lmx-p").inner_text()) for bar in bars(page).all()]
        assert shares, text
        assert all(0 < p <= 1 for p in shares), text
        page.get_by_role("button", name="Sample a sentence").click()
        assert len(_typed(history(page))) > len(_typed(text)), text


def test_another_text_is_counted_in_the_page(show):
    text = [*words("The rain in Spain stays mainly in the plain."), "<eos>"] * 3
    figure = NGramExplorer(text, test=text[:5], history="in", n=2)
    page = show(figure)
    assert json.loads(re.search(r'"text":("(?:[^"\\]|\\.)*")', figure.html())[1]).count("\n") == 3
    rows = table(page, 0)
    assert {row[0]: row[2] for row in rows[:2]} == {"spain": "3 of 6", "the": "3 of 6"}
    for word, p in figure.top():
        assert number(next(row[1] for row in rows if row[0] == word)) == pytest.approx(p, rel=6e-4)
    ids = figure.vocabulary.encode(text[:5])
    assert perplexity(page) == pytest.approx(ngram.stream_perplexity(figure.model(), ids), abs=0.06)
    bare = show(NGramExplorer(text, history="in"))
    assert bare.locator(".lmx-score").is_hidden()
    assert "Perplexity" not in says(bare)


# --- on the page: for everybody -------------------------------------------------------------------------------------


def test_orders_differ_without_colour(show):
    page = show(NGramExplorer(n=5))
    looks = [
        swatch.evaluate("(node) => { const s = getComputedStyle(node); return s.backgroundImage + s.boxShadow; }")
        for swatch in page.locator(".lmx-level .lmx-swatch").all()
    ]
    assert len(looks) == len(set(looks)) == 6
