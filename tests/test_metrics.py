"""Metrics against their definitions by hand, sacreBLEU, and an independent count of spans."""

import math
import random

import numpy as np
import pytest
import sacrebleu

from lmbook import metrics


def test_perplexity_of_a_uniform_model_is_its_number_of_outcomes():
    assert metrics.perplexity(metrics.nll(np.log(np.full(7, 1 / 33_278)))) == pytest.approx(33_278)


def test_perplexity_is_the_inverse_geometric_mean():
    probabilities = [0.5, 0.1, 0.25, 0.9]
    assert metrics.perplexity(metrics.nll(np.log(probabilities))) == pytest.approx(math.prod(probabilities) ** (-1 / 4))


def test_a_token_of_probability_zero_makes_both_infinite():
    with np.errstate(divide="ignore"):
        assert metrics.nll(np.log([0.5, 0.0])) == math.inf
    assert metrics.perplexity(math.inf) == math.inf
    assert metrics.perplexity(1e6) == math.inf
    assert metrics.perplexity(metrics.nll([0.0])) == 1


@pytest.mark.parametrize("values", [[], [0.5], [math.nan, -1.0]])
def test_nll_refuses_what_is_no_logarithm_of_a_probability(values):
    with pytest.raises(ValueError, match="log"):
        metrics.nll(values)


@pytest.mark.parametrize("value", [-0.1, math.nan])
def test_perplexity_refuses_what_is_no_mean_nll(value):
    with pytest.raises(ValueError, match="at least 0"):
        metrics.perplexity(value)


WORDS = ["the", "cat", ",", "sat", ".", "on", "mat", "Mat", "3.5", "(x)", "don't", "a-b", "&amp;", "é"]


def noisy(rng: random.Random, sentence: str) -> str:
    if rng.random() < 0.1:
        return ""
    kept = [word for word in sentence.split() if rng.random() < 0.95]
    return " ".join(word if rng.random() < 0.8 else rng.choice(WORDS) for word in kept)


def test_bleu_equals_sacrebleu_on_random_corpora():
    rng = random.Random(0)
    for _ in range(400):
        references = [" ".join(rng.choices(WORDS, k=rng.randrange(10))) for _ in range(rng.randint(1, 6))]
        hypotheses = [noisy(rng, reference) for reference in references]
        expected = sacrebleu.corpus_bleu(hypotheses, [references]).score
        assert metrics.bleu(hypotheses, references) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        ([""], ["the cat sat on the mat"]),
        ([""], [""]),
        (["the cat"], ["the cat"]),
        (["the cat sat on"], ["the cat sat on the mat ."]),
        (["the the the the the the the"], ["the cat is on the mat"]),
        (["dog"], ["cat"]),
        (["the mat on sat cat the"], ["the cat sat on the mat"]),
        (["The cat sat on the mat."], ["the cat sat on the mat ."]),
        (["a b c d e", ""], ["a b c d e", "f g"]),
        (["a b c d e \n"], ["a b c d e"]),
        (["a b c d e f g h i j"], ["a b c d"]),
    ],
)
def test_bleu_equals_sacrebleu_on_edge_cases(hypotheses, references):
    expected = sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert metrics.bleu(hypotheses, references) == pytest.approx(expected, abs=1e-9)


def test_bleu_by_hand():
    # of the hypothesis 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples are in the reference
    score = metrics.bleu(["the cat sat on a mat"], ["the cat sat on the mat"], tokenize=str.split)
    assert score == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_the_brevity_penalty_is_for_short_hypotheses_only():
    short = metrics.bleu(["a b c d e"], ["a b c d e f g h i j"], tokenize=str.split)
    assert short == pytest.approx(100 * math.exp(1 - 10 / 5))
    assert metrics.bleu(["a b c d e"], ["a b c d e"]) == pytest.approx(100)


def test_swapped_arguments_give_another_bleu():
    long, short = ["the cat sat on the mat in the sun"], ["the cat sat on the mat"]
    assert metrics.bleu(short, long) != pytest.approx(metrics.bleu(long, short))


def test_sacrebleu_comes_with_its_signature():
    score, signature = metrics.sacrebleu_score(["The cat sat on the mat"], ["the cat sat on the mat"])
    lower, lower_signature = metrics.sacrebleu_score(
        ["The cat sat on the mat"], ["the cat sat on the mat"], lowercase=True
    )
    assert score < lower == pytest.approx(100)
    assert all(part in signature for part in ("case:mixed", "tok:13a", "smooth:exp", "version:"))
    assert "case:lc" in lower_signature


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: metrics.bleu("the cat", ["the cat"]), TypeError),
        (lambda: metrics.bleu([["the", "cat"]], ["the cat"]), TypeError),
        (lambda: metrics.bleu(["a"], ["a", "b"]), ValueError),
        (lambda: metrics.bleu([], []), ValueError),
        (lambda: metrics.sacrebleu_score(["a"], []), ValueError),
        (lambda: metrics.paired_bootstrap(["a"], ["a", "b"], ["a"]), ValueError),
        (lambda: metrics.paired_bootstrap(["a"], ["a"], ["a"], samples=0), ValueError),
    ],
)
def test_bad_texts_are_refused(call, error):
    with pytest.raises(error):
        call()


def test_bootstrap_tells_a_real_difference_from_none():
    rng = random.Random(1)
    references = [" ".join(rng.choices(WORDS[:8], k=12)) for _ in range(200)]
    bad = [" ".join(w if rng.random() < 0.6 else "dog" for w in r.split()) for r in references]
    good = [" ".join(w if rng.random() < 0.8 else "dog" for w in r.split()) for r in references]
    better = metrics.paired_bootstrap(bad, good, references, samples=200)
    assert better["p"] == 0
    assert 0 < better["low"] <= better["second"] - better["first"] <= better["high"]
    assert better["second"] == pytest.approx(metrics.bleu(good, references))
    worse = metrics.paired_bootstrap(good, bad, references, samples=200)
    assert (worse["p"], worse["low"]) == (1, pytest.approx(-better["high"]))
    same = metrics.paired_bootstrap(bad, bad, references, samples=50)
    assert (same["low"], same["high"], same["p"]) == (0, 0, 1)


def test_bootstrap_draws_the_same_sentences_for_both_systems():
    references = [" ".join(WORDS[:8])] * 20
    first = [references[0] if i % 2 else "dog dog dog dog" for i in range(20)]
    # equal sentence by sentence up to the words that are wrong, so paired draws never differ; unpaired ones would
    second = [text.replace("dog", "cow") for text in first]
    result = metrics.paired_bootstrap(first, second, references, samples=100)
    assert (result["low"], result["high"]) == (0, 0)


def test_accuracy_counts_positions_and_leaves_the_masked_out():
    gold = np.array([[1, 2, 3], [1, 0, 0]])
    predicted = np.array([[1, 2, 4], [2, 0, 0]])
    assert metrics.accuracy(predicted, gold) == pytest.approx(4 / 6)
    assert metrics.accuracy(predicted, gold, gold != 0) == pytest.approx(2 / 4)


@pytest.mark.parametrize(
    "arguments",
    [
        ([1, 2], [1, 2, 3]),
        ([1, 2], [1, 2], [1, 0]),
        ([1, 2], [1, 2], [False, False]),
        ([1, 2], [1, 2], [True]),
        ([], []),
    ],
)
def test_accuracy_refuses_what_it_cannot_compare(arguments):
    with pytest.raises(ValueError, match=r"accuracy|mask"):
        metrics.accuracy(*arguments)


def conlleval(predicted: list[list[str]], gold: list[list[str]]) -> tuple[int, int, int]:
    """Counts (right, found, wanted) as the CoNLL-2000 script does: token by token, by rules for starts and ends."""

    def ends(tag: str, next_tag: str) -> bool:
        return tag != "O" and (next_tag[0] in "OB" or next_tag[2:] != tag[2:])

    def starts(tag: str, last_tag: str) -> bool:
        return tag != "O" and (tag[0] == "B" or last_tag == "O" or last_tag[2:] != tag[2:])

    right = found = wanted = 0
    for ours, theirs in zip(predicted, gold, strict=True):
        running = False
        for i in range(len(ours)):
            last = [row[i - 1] if i else "O" for row in (ours, theirs)]
            following = [row[i + 1] if i + 1 < len(row) else "O" for row in (ours, theirs)]
            start = [starts(ours[i], last[0]), starts(theirs[i], last[1])]
            end = [ends(ours[i], following[0]), ends(theirs[i], following[1])]
            found, wanted = found + start[0], wanted + start[1]
            if start[0] or start[1]:
                running = start == [True, True] and ours[i][2:] == theirs[i][2:]
            elif ours[i] != theirs[i]:
                running = False
            if end[0] or end[1]:
                right += running and end == [True, True]
                running = False
    return right, found, wanted


def test_span_f1_agrees_with_an_independent_count():
    rng = random.Random(2)
    tags = ["O", "O", "B-person", "I-person", "B-place", "I-place"]
    for _ in range(500):
        gold = [rng.choices(tags, k=rng.randrange(12)) for _ in range(4)]
        predicted = [[tag if rng.random() < 0.8 else rng.choice(tags) for tag in row] for row in gold]
        right, found, wanted = conlleval(predicted, gold)
        result = metrics.span_f1(predicted, gold)
        precision, recall = right / max(found, 1), right / max(wanted, 1)
        assert result["precision"] == pytest.approx(precision)
        assert result["recall"] == pytest.approx(recall)
        expected = 2 * precision * recall / (precision + recall) if right else 0
        assert result["f1"] == pytest.approx(expected)


def test_spans_of_awkward_tags():
    assert metrics.spans(["I-a", "I-a", "I-b", "B-b", "O", "I-a"]) == {
        (0, 2, "a"),
        (2, 3, "b"),
        (3, 4, "b"),
        (5, 6, "a"),
    }
    assert metrics.spans([]) == set()


def test_half_a_span_is_no_span():
    assert metrics.span_f1([["B-a", "O"]], [["B-a", "I-a"]])["f1"] == 0
    assert metrics.span_f1([["B-a", "I-a"]], [["B-a", "I-a"]])["f1"] == 1
    assert metrics.span_f1([["O"]], [["O"]])["f1"] == 0


@pytest.mark.parametrize(
    ("predicted", "gold", "says"),
    [
        ([["O"]], [], "1 predicted"),
        ([["O"]], [["O", "O"]], "sentence 0"),
        ([["person"]], [["O"]], "not a BIO tag"),
    ],
)
def test_span_f1_refuses_bad_tags(predicted, gold, says):
    with pytest.raises(ValueError, match=says):
        metrics.span_f1(predicted, gold)


def test_results_by_length_cover_each_item_once():
    lengths = [1, 5, 9, 10, 19, 20, 39]
    rows = metrics.by_length(lengths, [1, 10, 20, 30, 40], score=lambda group: np.array(lengths)[group].mean())
    assert [(low, high, n) for low, high, n, _ in rows] == [(1, 10, 3), (10, 20, 2), (20, 30, 1), (30, 40, 1)]
    assert [score for *_, score in rows] == [5, 14.5, 20, 39]
    assert math.isnan(metrics.by_length([1], [5, 6], len)[0][3])
    with pytest.raises(ValueError, match="rising"):
        metrics.by_length([1], [10, 1], len)
