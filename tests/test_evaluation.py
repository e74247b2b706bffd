"""Estimates from few draws: against all draws that are possible, scikit-learn and loops."""

import itertools
import math

import numpy as np
import pytest

from lmbook import evaluation
from lmbook.evaluation import calibration_error, lower_first, overlap, pass_at_k, reliability, seen_once


@pytest.mark.parametrize(("n", "c"), [(6, 0), (6, 1), (6, 4), (7, 7)])
def test_pass_at_k_counts_all_choices(n, c):
    for k in range(1, n + 1):
        choices = list(itertools.combinations([True] * c + [False] * (n - c), k))
        assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def expected(estimate, p, n, k):
    """E of estimate(n, c, k) where c is binomial."""
    return sum(math.comb(n, c) * p**c * (1 - p) ** (n - c) * estimate(n, c, k) for c in range(n + 1))


def test_pass_at_k_is_unbiased_and_the_plug_in_is_not():
    def plug_in(n, c, k):
        return 1 - (1 - c / n) ** k

    for p, n, k in itertools.product((0.05, 0.3, 0.9), (5, 20), (1, 2, 5)):
        truth = 1 - (1 - p) ** k
        assert expected(pass_at_k, p, n, k) == pytest.approx(truth)
        if k > 1:
            assert expected(plug_in, p, n, k) < truth - 1e-6


@pytest.mark.slow
def test_a_bin_table_is_that_of_sklearn():
    from sklearn.calibration import calibration_curve

    rng = np.random.default_rng(0)
    confidence = rng.uniform(size=400)
    right = rng.uniform(size=400) < confidence**2
    for bins in (1, 4, 10):
        found = reliability(confidence, right, bins)
        share, claimed = calibration_curve(right, confidence, n_bins=bins)
        assert np.allclose(found[:, 1], claimed)
        assert np.allclose(found[:, 2], share)
        assert found[:, 0].sum() == 400
        assert calibration_error(confidence, right, bins) == pytest.approx(
            sum(n * abs(a - b) for n, a, b in zip(found[:, 0], share, claimed, strict=True)) / 400
        )
    equal = reliability(confidence, right, 10, "count")
    assert (equal[:, 0] == 40).all()
    assert (np.diff(equal[:, 1]) > 0).all()


def test_ends_of_bins_and_bins_without_answers():
    table = reliability([0.0, 0.5, 0.50001, 1.0], [0, 1, 1, 1], bins=2)
    assert table[:, 0].tolist() == [2, 2]
    assert len(reliability([0.95, 0.99], [1, 0], bins=10)) == 1


def test_a_calibrated_model_has_an_error_only_by_chance():
    rng = np.random.default_rng(1)
    errors = {}
    for n in (200, 20_000):
        confidence = rng.uniform(size=n)
        errors[n] = calibration_error(confidence, rng.uniform(size=n) < confidence)
    assert errors[20_000] < 0.02 < errors[200]


def test_overlap_counts_ngrams_that_were_seen():
    train = ["abcde", "xyz"]
    assert overlap(["abcd", "abxy", "q", "zabc"], train, 2).tolist() == [1, 2 / 3, 0, 2 / 3]
    assert overlap([[1, 2, 3]], [[2, 3, 1, 2]], 2).tolist() == [1]


@pytest.mark.slow
def test_lower_first_is_the_area_under_the_curve():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(2)
    members, others = rng.integers(20, size=30), rng.integers(5, 25, size=40)
    label = np.repeat([1, 0], [30, 40])
    assert lower_first(members, others) == pytest.approx(roc_auc_score(label, -np.concatenate([members, others])))


def test_seen_once_estimates_what_is_missing():
    assert seen_once("abracadabra") == 2 / 11
    rng, found = np.random.default_rng(3), []
    p = 1 / np.arange(1, 501)
    p /= p.sum()
    for _ in range(200):
        heard = rng.choice(500, size=300, p=p)
        found.append(seen_once(heard.tolist()) - p[np.setdiff1d(np.arange(500), heard)].sum())
    assert abs(np.mean(found)) < 0.005


def test_bad_input_is_named():
    for call, says in (
        (lambda: pass_at_k(5, 6, 2), "0..n"),
        (lambda: pass_at_k(5, 2, 6), "at least k answers"),
        (lambda: reliability([0.5], [1, 0]), r"\(N,\)"),
        (lambda: reliability([3.0], [1]), "softmax"),
        (lambda: reliability([0.5], [1], equal="size"), '"count"'),
        (lambda: overlap(["a"], ["a"], 0), "at least one token"),
        (lambda: seen_once([]), "at least one"),
    ):
        with pytest.raises(ValueError, match=says):
            call()


def test_a_slip_is_noticed(monkeypatch):
    monkeypatch.setattr(evaluation, "pass_at_k", lambda n, c, k: 1 - (1 - c / n) ** k)
    assert expected(evaluation.pass_at_k, 0.3, 5, 2) != pytest.approx(1 - 0.7**2)
