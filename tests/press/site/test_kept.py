"""Guesses and answers that the device keeps: they stand in the page, are saved, deleted and brought back."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.browser


def test_a_guess_opens_the_answer_stands_beside_it_and_stays(visit):
    page = visit("notebooks/17-gpt.html")
    answer, question = page.locator("#answer-1"), page.locator("#predict-1")
    assert not answer.locator(".lm-answer-body").is_visible()
    question.get_by_label("Your guess").fill("about 12")
    page.keyboard.press("Enter")
    assert answer.locator(".lm-answer-body").is_visible()
    assert "about 12" in answer.locator(".lm-yours").inner_text()
    page.reload()
    page.locator("#answer-1 .lm-yours strong").wait_for()
    assert "about 12" in answer.locator(".lm-yours").text_content()  # far away, nothing is laid out yet
    page.locator("#answer-1").get_by_role("button", name="Change it").click()
    assert not answer.locator(".lm-answer-body").is_visible()
    assert json.loads(page.evaluate("localStorage.getItem('lmbook')"))["guesses"] == {}


def test_what_is_kept_can_be_saved_deleted_and_brought_back(visit):
    page = visit("book/how-to-use.html")
    page.evaluate(
        """localStorage.setItem("lmbook", JSON.stringify({ guesses: { a: "b" }, answers: { c: 1, d: 0 } }))"""
    )
    page.reload()
    box = page.locator("#lm-kept")
    box.get_by_role("button", name="Save them").wait_for()
    assert "1 guess, 2 answers" in box.inner_text()
    with page.expect_download() as saved:
        box.get_by_role("button", name="Save them").click()
    text = Path(saved.value.path()).read_text()
    assert json.loads(text)["answers"] == {"c": 1, "d": 0}
    box.get_by_role("button", name="Delete them").click()
    stored = "localStorage.getItem('lmbook')"
    assert page.evaluate(stored) is None

    def bring(content, answer):
        """Waits for this file's own answer: what was said of the file before it still stands until then."""
        file = {"name": "mine.json", "mimeType": "application/json", "buffer": content.encode()}
        box.locator("input[type=file]").set_input_files(file)
        box.get_by_text(answer).wait_for()

    for wrong, why in (
        ("not json", "not JSON"),
        ("[1]", "no table"),
        ('{"guesses": {}}', "no answers"),
        (json.dumps({"guesses": {"a": 1}, "answers": {}, "read": {}}), "“a”"),
        (json.dumps({"guesses": {}, "answers": {"c": -1}, "read": {}}), "“c”"),
        (json.dumps({"guesses": {}, "answers": {}, "read": {"01": 7}}), "between 0 and 1"),
        (json.dumps({"guesses": {}, "answers": {}, "read": {}, "cards": {"q": [1, 2]}}), "five numbers"),
        (json.dumps({"guesses": {}, "answers": {}, "read": {}, "days": {"2027-01-01": {"guesses": "many"}}}), "a day"),
        ("x" * 1_000_001, "too long"),
    ):
        bring(wrong, why)
        assert "Nothing was changed" in box.inner_text()
    assert page.evaluate(stored) is None
    bring(text, "1 guess, 2 answers")
    assert "from mine.json" in box.inner_text()
    later, earlier = [2, 6, 250, 20800, 7], [1, 1, 236, 20790, 7]
    page.evaluate(  # as another tab, or a day of work, would leave it
        "(more) => { Object.assign(lmKept.kept(), more); lmKept.keep(); }",
        {"cards": {"p": later, "q": earlier}, "days": {"2027-01-01": {"guesses": 3}}},
    )
    further = {"guesses": {"a": "z", "e": "f"}, "answers": {}, "read": {"01-chain-rule": 0.5}}
    further |= {"cards": {"p": earlier, "q": later}, "days": {"2027-01-01": {"guesses": 2, "answers": 1}}}
    bring(json.dumps(further), "2 guesses, 2 answers")
    kept = json.loads(page.evaluate(stored))
    assert kept["guesses"] == {"a": "z", "e": "f"}
    assert kept["answers"] == {"c": 1, "d": 0}
    assert kept["read"] == {"01-chain-rule": 0.5}
    assert kept["cards"] == {"p": later, "q": later}
    assert kept["days"] == {"2027-01-01": {"guesses": 3, "answers": 1}}
