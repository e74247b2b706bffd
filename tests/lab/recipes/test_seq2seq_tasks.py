"""What the recipes on generated tasks measure: held out means unseen, and a score counts what it says."""

import pytest

from lmbook import data
from lmbook.data import synthetic
from lmbook.lab.recipes import seq2seq_tasks
from lmbook.lab.recipes.seq2seq_tasks import DATES, REVERSALS, SUMS, answers, date_form, digits
from lmbook.lab.recipes.translation import apart, bleu_of


def test_every_character_of_a_task_has_an_id_and_comes_back():
    for tokenizer, pairs in (
        (SUMS, data.addition(2000)),
        (DATES, data.dates(5000)),
        (REVERSALS, data.reversal(200, symbols=seq2seq_tasks.NUMBERS, max_length=30)),
    ):
        for text in (text for pair in pairs for text in pair):
            ids = tokenizer.encode(text)
            assert 1 not in ids, f"<unk> in {text!r}"
            assert tokenizer.decode(ids) == text


def test_a_pair_held_out_is_not_trained_on_in_either_order():
    test = [("12+7", "19"), ("5+5", "10")]
    pairs = [("7+12", "19"), ("12+7", "19"), ("12+8", "20"), ("5+5", "10")]
    assert apart(pairs, test, key=seq2seq_tasks.either_way) == [("12+8", "20")]
    assert apart(pairs, test) == [("7+12", "19"), ("12+8", "20")], "by default sources are compared as they are"


def test_answers_count_whole_targets():
    pairs = [("1+1", "2"), ("10+1", "11"), ("1+20", "21"), ("7+8", "15")]
    scores = answers(["2", "11", "12", "150"], pairs, digits)
    assert scores["exact"] == 0.5
    assert scores["apart"] == {"1+1": [0.5, 2], "2+1": [0.5, 2]}
    assert scores["wrong"] == [["1+20", "21", "12"], ["7+8", "15", "150"]]


def test_the_form_of_a_date_is_found():
    found = {date_form(*pair) for pair in data.dates(3000)}
    assert len(found) == len(synthetic.DATE_FORMATS)
    assert date_form("22nd of May, 1987", "1987-05-22") == "3rd of March, 2021"
    with pytest.raises(StopIteration):
        date_form("22nd of May, 1987", "1987-05-21")


def test_bleu_by_length_is_of_the_sequences_of_that_length():
    pairs = data.reversal(300, max_length=10, symbols=seq2seq_tasks.NUMBERS)
    perfect = [target for _, target in pairs]
    assert bleu_of(perfect, pairs, [1, 6, 11])["bleu"] == pytest.approx(100)
    spoiled = [target if len(target.split()) < 6 else "0" for target in perfect]
    short, long = bleu_of(spoiled, pairs, [1, 6, 11])["by length"]
    assert (short["from"], short["to"], short["exact"]) == (1, 5, 1.0)
    assert (long["from"], long["to"], long["exact"]) == (6, 10, 0.0)
    assert long["bleu"] < 5 < 95 < short["bleu"]
    assert short["pairs"] + long["pairs"] == 300
