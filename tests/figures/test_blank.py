"""FillTheBlank: the stored answers are the shipped model's, and any word can be hidden, by mouse and keyboard."""

import json

import pytest
from seen import cells_of, number, says

from lmbook.figures import FillTheBlank, modules
from lmbook.figures.blank import PLACE, SENTENCES, SHOWN, shipped, stored
from lmbook.lab.typed import cut

pytestmark = pytest.mark.skipif(not PLACE.is_file(), reason="blank.json is made from weights that are not here yet")


def words(page):
    return page.locator(".lmk-word")


def bars(page):
    """(word, number, whether it is the sentence's) of each bar."""
    label, text = (page.locator(f".lm-bar .lm-bar-{part}").all_text_contents() for part in ("label", "text"))
    tones = page.locator(".lm-bar").evaluate_all("(all) => all.map((one) => one.dataset.tone === '1')")
    return list(zip(label, text, tones, strict=True))


# --- the stored answers ---------------------------------------------------------------------------------------------


def test_the_file_is_what_the_shipped_model_says():
    file, anew = shipped(), stored()
    assert PLACE.stat().st_size < 150_000
    assert [one["words"] for one in file["sentences"]] == [sentence.split() for sentence in SENTENCES]
    for found, wanted in zip(file["sentences"], anew["sentences"], strict=True):
        assert found["words"] == wanted["words"]
        for (offers, own, rank), (again, own_again, rank_again) in zip(found["blanks"], wanted["blanks"], strict=True):
            assert own == pytest.approx(own_again, rel=0.02, abs=1e-6)
            assert rank == pytest.approx(rank_again, rel=0.05, abs=2)
            assert [p for _, p in offers] == pytest.approx([p for _, p in again], rel=0.02, abs=1e-4)
            assert file["words"][offers[0][0]] == anew["words"][again[0][0]] or offers[0][1] - offers[1][1] < 0.005


def test_a_blank_is_the_answer_of_the_package():
    from lmbook.lab.recipes.bert_pretraining import fill, trained_bert

    model, forms = trained_bert()
    figure = FillTheBlank(chosen=2, blank=3)
    (guesses,) = fill(model, forms, figure.with_blank().replace("____", "<mask>").split(), SHOWN)
    assert [word for word, _ in figure.guesses()] == [word for word, _ in guesses]
    assert [p for _, p in figure.guesses()] == pytest.approx([p for _, p in guesses], abs=1e-3)


def test_ranks_and_probabilities_agree():
    file = shipped()
    for sentence in file["sentences"]:
        for word, (offers, own, rank) in zip(sentence["words"], sentence["blanks"], strict=True):
            assert len(offers) == SHOWN
            assert [p for _, p in offers] == sorted((p for _, p in offers), reverse=True)
            assert 0 < own <= 1
            place = next((i for i, (w, _) in enumerate(offers) if file["words"][w] == word), None)
            assert rank > SHOWN if place is None else rank == place + 1


def test_its_text_says_the_first_view():
    figure = FillTheBlank()
    assert figure.guesses()[0][0] in figure.alt
    assert figure.own()[0] in figure.alt


# --- on the page ----------------------------------------------------------------------------------------------------


def expected(figure):
    word, own, rank = figure.own()
    rows = [(guess, p) for guess, p in figure.guesses()]
    return rows if rank <= SHOWN else [*rows, (word, own)]


def matches(page, figure):
    shown = bars(page)
    assert [word for word, _, _ in shown] == [word for word, _ in expected(figure)]
    assert [p for _, p, _ in shown] == [f"{p:.3f}" if p >= 0.0005 else "< 0.001" for _, p in expected(figure)]
    (marked,) = [word for word, _, own in shown if own]
    assert marked == figure.own()[0]
    assert figure.own()[0] in says(page)
    assert figure.guesses()[0][0] in says(page)


def test_every_word_can_be_hidden_by_mouse(show):
    page = show(FillTheBlank())
    for blank, word in enumerate(SENTENCES[0].split()):
        words(page).nth(blank).click()
        assert words(page).nth(blank).get_attribute("aria-pressed") == "true"
        assert page.locator(".lmk-word[aria-pressed=true]").count() == 1
        assert "____" in words(page).nth(blank).inner_text()
        assert words(page).nth(blank).evaluate("(node) => node.firstChild.firstChild.data") == "____"
        # who does not see the place of the blank is told which word it stands for
        assert words(page).nth(blank).locator(".lm-hidden").first.text_content() == f" (hidden: {word})"
        matches(page, FillTheBlank(blank=blank))


def test_before_the_bet_one_word_is_an_example_and_of_the_others_nothing_is_seen(show):
    figure = FillTheBlank()
    page = show(figure, bets=True)
    matches(page, figure)
    for i, word in enumerate(SENTENCES[0].split()):
        example = i == figure.blank
        assert words(page).nth(i).evaluate("(node) => node.firstChild.firstChild.data") == ("____" if example else word)
        assert words(page).nth(i).locator("small").is_visible() == example
    words(page).nth(figure.blank).click()  # it is no answer
    words(page).nth(0).click()
    page.get_by_role("button", name="Show").click()
    right = [rank == 1 for _, _, rank in figure.sentences[0]["blanks"]]
    told = page.locator(".lm-wager").inner_text()
    assert f"It finds {sum(right) - right[figure.blank]} of the other {len(right) - 1} words" in told
    assert f"{int(right[0])} of the 1 word that you chose" in told


def test_every_word_can_be_hidden_by_keyboard(show):
    page = show(FillTheBlank())
    words(page).nth(1).focus()
    for blank in (2, 3):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        matches(page, FillTheBlank(blank=blank))
    page.keyboard.press("End")
    page.keyboard.press("Space")
    matches(page, FillTheBlank(blank=len(SENTENCES[0].split()) - 1))
    assert page.locator(".lmk-word[tabindex='0']").count() == 1


def test_another_sentence(show):
    page = show(FillTheBlank(blank=9))
    page.get_by_label("Sentence", exact=True).select_option(index=9)
    assert words(page).count() == len(SENTENCES[9].split())
    matches(page, FillTheBlank(chosen=9, blank=min(9, len(SENTENCES[9].split()) - 1)))


def test_the_table_has_every_word(show):
    figure = FillTheBlank(chosen=1)
    page = show(figure)
    page.locator("summary").click()
    rows = cells_of(page)
    assert [row[0] for row in rows] == SENTENCES[1].split()
    for row, (offers, own, rank) in zip(rows, figure.sentences[1]["blanks"], strict=True):
        assert number(row[1]) == pytest.approx(own, rel=0.01)
        assert int(row[2].replace(",", "")) == rank
        assert row[3] == figure.words[offers[0][0]]
    assert f"{figure.log_p():.2f}".replace("-", "−") in page.locator("figure").inner_text()


def test_the_state_in_the_page_is_the_state_in_python(show):
    figure = FillTheBlank(chosen=4, blank=2)
    page = show(figure)
    state = json.loads(page.locator("figure script").text_content())
    assert (state["chosen"], state["blank"]) == (4, 2)
    matches(page, figure)


# --- a sentence of the reader's ---------------------------------------------------------------------------------------


def typed(page, text):
    page.get_by_label("Your own words").fill(text)
    page.get_by_role("button", name="Hide its words").click()
    page.locator(".lm-own-text[data-state=done], .lm-own-text[data-state=failed]").wait_for()


def test_a_sentence_of_the_readers_is_filled_as_by_the_package(show):
    from lmbook.lab.recipes.bert_pretraining import fill, trained_bert

    model, forms = trained_bert()
    page = show(FillTheBlank(blank=3))
    for text in ("Her brother isn't in the old garden, he said.", "Nobody knows which of the five kings won the war ."):
        typed(page, text)
        tokens = cut(text)
        assert words(page).count() == len(tokens)
        for blank in (0, 3, len(tokens) - 2):
            words(page).nth(blank).click()
            (guesses,) = fill(model, forms, [*tokens[:blank], "<mask>", *tokens[blank + 1 :]], SHOWN)
            found = [(word, number(p)) for word, p, _ in bars(page)][:SHOWN]
            assert [word for word, _ in found] == [word for word, _ in guesses]
            assert [p for _, p in found] == pytest.approx([p for _, p in guesses], rel=0.01, abs=1e-3)


def test_a_word_that_it_does_not_know_is_shown_as_what_it_becomes(show):
    page = show(FillTheBlank(blank=1))
    typed(page, "The blorgling of the house .")
    assert "<xx-ing>" in words(page).nth(1).inner_text()
    assert "“blorgling” is not among the words that it knows: it reads the class <xx-ing>" in says(page)


@pytest.mark.parametrize(("text", "said"), [("  ", "there is no word yet"), ("a " * 70, "reads 1 to 62 words")])
def test_a_text_that_cannot_be_read_says_so(show, text, said):
    page = show(FillTheBlank())
    typed(page, text)
    assert said in page.locator(".lm-own-text").inner_text()
    assert words(page).count() == len(SENTENCES[0].split())


def test_nothing_is_fetched_before_it_is_asked_for_and_a_failure_is_said(show):
    page = show(FillTheBlank(), files=modules())
    page.expected = "404"
    words(page).nth(2).click()
    assert page.asked == []
    typed(page, "A dog .")
    assert "That could not be done: the server answered 404." in page.locator(".lm-own-text").inner_text()


def test_two_figures_of_a_page_have_one_worker_and_fetch_a_model_once(show):
    page = show(FillTheBlank(), FillTheBlank())
    first, second = page.locator("figure").all()
    typed(first, "A dog .")
    assert second.locator(".lm-own-text [role=status]").text_content() == "the text stays in this page"
    typed(second, "A red dog .")
    assert (words(first).count(), words(second).count()) == (3, 4)
    assert sum("bert-wikitext2" in address and address.endswith("tensors") for address in page.asked) == 1
    assert len(page.workers) == 1
