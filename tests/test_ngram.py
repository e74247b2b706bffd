"""Counts and n-gram models: sums to one, two ways to the same number, slow independent versions, and nltk.lm."""

import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import pytest

from lmbook.counts import distinct
from lmbook.ngram import (
    AddK,
    Counts,
    JelinekMercer,
    KneserNey,
    MaximumLikelihood,
    fit_weights,
    sample_stream,
    stream_perplexity,
)

VOCAB = 9
ORDER = 4
NEVER = 8  # a type of the vocabulary that no training stream below contains
FORBIDDEN = 0  # the type that the mask below forbids; it stands in histories all the same


def zipf_stream(length: int, seed: int, types: int = VOCAB - 1) -> np.ndarray:
    """A stream in which some types are frequent and the last is rare, as in text."""
    weights = 1 / np.arange(1, types + 1)
    return np.random.default_rng(seed).choice(types, size=length, p=weights / weights.sum())


TRAIN = zipf_stream(400, seed=1)
COUNTS = Counts(TRAIN, ORDER, VOCAB)
MASK = np.arange(VOCAB) != FORBIDDEN

MODELS = {
    "maximum likelihood": lambda counts, **kw: MaximumLikelihood(counts, ORDER, **kw),
    "add 0.3": lambda counts, **kw: AddK(counts, ORDER, 0.3, **kw),
    "interpolated": lambda counts, **kw: JelinekMercer(counts, [0.1, 0.2, 0.4, 0.2, 0.1], **kw),
    "Kneser-Ney": lambda counts, **kw: KneserNey(counts, ORDER, **kw),
    "Kneser-Ney, given discounts": lambda counts, **kw: KneserNey(counts, ORDER, discount=[0, 0.4, 0.7, 1], **kw),
    "Kneser-Ney, modified": lambda counts, **kw: KneserNey(counts, ORDER, modified=True, **kw),
    "Kneser-Ney, order 1": lambda counts, **kw: KneserNey(counts, 1, **kw),
    "add 1, order 2": lambda counts, **kw: AddK(counts, 2, 1, **kw),
}


@pytest.fixture(params=[None, MASK], ids=["all types allowed", "one forbidden"])
def allowed(request):
    return request.param


@pytest.fixture(params=MODELS, ids=str)
def model(request, allowed):
    return MODELS[request.param](COUNTS, allowed=allowed)


def random_histories(number: int = 150) -> list[list[int]]:
    """Histories of every length up to ORDER + 1: parts of the stream, and random ones, mostly unseen."""
    rng = np.random.default_rng(2)
    seen = [TRAIN[i : i + n].tolist() for n in range(ORDER + 2) for i in rng.integers(0, 390, 5)]
    return seen + [rng.integers(0, VOCAB, rng.integers(0, ORDER + 2)).tolist() for _ in range(number)] + [[NEVER] * 3]


# ---- counts


def naive_counts(ids, n: int) -> Counter:
    return Counter(tuple(ids[i : i + n]) for i in range(len(ids) - n + 1))


@pytest.mark.parametrize("largest", [0, 5, 10**6, 2**40, 2**61])
def test_distinct_is_unique_of_numpy(largest):
    """Small keys are sorted together with their places, large ones alone."""
    keys = np.random.default_rng(0).integers(0, largest, 300, endpoint=True)
    wanted = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    for found, each in zip(distinct(keys), wanted, strict=True):
        np.testing.assert_array_equal(found, each)
        assert found.dtype == each.dtype


@pytest.mark.parametrize(("length", "vocab", "seed"), [(1, 1, 0), (2, 5, 1), (3, 2, 2), (60, 3, 3), (500, 40, 4)])
def test_counts_are_those_of_a_dictionary(length, vocab, seed):
    ids = np.random.default_rng(seed).integers(0, vocab, length).tolist()
    counts = Counts(ids, 5, vocab)
    for n in range(1, 6):
        expected = naive_counts(ids, n)
        assert counts.types(n) == len(expected)
        assert all(counts.count(ngram) == count for ngram, count in expected.items())
        most_common = counts.most_common(n, k=10**6)
        assert dict(most_common) == expected
        assert most_common == sorted(expected.items(), key=lambda item: (-item[1], item[0]))
    assert counts.count([]) == length


def test_counts_do_not_overflow_with_a_large_vocabulary():
    vocab = 2**31  # its square does not fit into 64 bits; numbering the histories avoids the square
    ids = [vocab - 1, vocab - 2, vocab - 1, vocab - 2, vocab - 1]
    counts = Counts(ids, 4, vocab)
    assert counts.count(ids[:4]) == 1
    assert counts.count(ids[:3]) == 2
    assert counts.count(ids[1:4]) == 1


def test_followers_are_the_types_after_a_history():
    expected = defaultdict(Counter)
    for n in range(1, ORDER + 1):
        for ngram, count in naive_counts(TRAIN.tolist(), n).items():
            expected[ngram[:-1]][ngram[-1]] = count
    for history, followers in expected.items():
        ids, counts = COUNTS.followers(history)
        assert dict(zip(ids.tolist(), counts.tolist(), strict=True)) == followers
        assert ids.tolist() == sorted(ids)
    assert [len(part) for part in COUNTS.followers([NEVER])] == [0, 0]


def test_find_gives_the_ngram_that_ends_at_each_position():
    other = np.concatenate([zipf_stream(80, seed=5), [NEVER], zipf_stream(30, seed=6)])
    expected = [naive_counts(TRAIN.tolist(), n) for n in range(ORDER + 1)]
    for n, numbers in enumerate(COUNTS.find(other)):
        for t, number in enumerate(numbers):
            ngram = tuple(other[t - n + 1 : t + 1].tolist()) if n else ()
            assert (number >= 0) == (t >= n - 1 and ngram in expected[n])
            assert number == (COUNTS.number(np.array(ngram, int)) if t >= n - 1 else -1)


# ---- properties of every model


def check_sums_to_one(model):
    for history in random_histories():
        p = model.distribution(history)
        assert p.shape == (VOCAB,)
        assert (p >= 0).all()
        assert p.sum() == pytest.approx(1, abs=1e-12), history
        assert (p[~model.allowed] == 0).all()


def test_every_conditional_sums_to_one(model):
    check_sums_to_one(model)


def test_a_model_that_forgets_the_freed_mass_is_caught():
    broken = KneserNey(COUNTS, ORDER)
    broken.reserved[3] = broken.reserved[3] * 0.9
    with pytest.raises(AssertionError):
        check_sums_to_one(broken)


def test_log_probs_of_a_stream_equal_the_distributions_one_by_one(model):
    ids = np.concatenate([zipf_stream(60, seed=7), [NEVER, 1, 0], zipf_stream(20, seed=8)])
    one_by_one = [model.distribution(ids[:t])[ids[t]] for t in range(len(ids))]
    np.testing.assert_allclose(np.exp(model.log_probs(ids)), one_by_one, rtol=1e-12, atol=0)
    assert model.prob(ids[:5], ids[5]) == pytest.approx(one_by_one[5], rel=1e-12)


def test_scoring_from_a_later_start_is_the_end_of_scoring_all(model):
    ids = zipf_stream(40, seed=9)
    for start in (0, 1, 2, 3, 17, 39, 40):
        np.testing.assert_array_equal(model.log_probs(ids, start=start), model.log_probs(ids)[start:])


def test_no_probability_depends_on_later_tokens(model):
    ids, changed = zipf_stream(40, seed=10), zipf_stream(40, seed=11)
    changed[:25] = ids[:25]
    np.testing.assert_array_equal(model.log_probs(ids)[:25], model.log_probs(changed)[:25])


def test_only_the_last_tokens_of_a_history_matter(model):
    for history in random_histories(20):
        cut = history[max(0, len(history) - model.order + 1) :]
        np.testing.assert_array_equal(model.distribution(history), model.distribution(cut))


def test_the_uniform_model_has_as_perplexity_the_number_of_types_that_can_occur(allowed):
    uniform = JelinekMercer(COUNTS, [1, 0, 0], allowed=allowed)
    ids = zipf_stream(50, seed=12)
    assert stream_perplexity(uniform, ids) == pytest.approx(VOCAB if allowed is None else VOCAB - 1, rel=1e-12)


def test_random_digits_have_perplexity_ten():
    digits = np.random.default_rng(0).integers(0, 10, 200_000)
    assert stream_perplexity(MaximumLikelihood(Counts(digits, 1, 10), 1), digits) == pytest.approx(10, rel=1e-3)


def test_a_forbidden_type_is_history_only_and_does_not_count_in_perplexity():
    start, a, b = 0, 1, 2
    sentences = [start, a, b, start, a, a, start, a, b]
    model = MaximumLikelihood(Counts(sentences, 2, 3), 2, allowed=np.array([False, True, True]))
    assert model.prob([start], a) == 1
    assert model.prob([a], b) == pytest.approx(2 / 3)  # the <sos> after the second a is no prediction: a a, a b, a b
    assert stream_perplexity(model, [start, a, b]) == pytest.approx((1 * 2 / 3) ** (-1 / 2))


# ---- each estimator


def test_maximum_likelihood_is_the_relative_frequency_and_backs_off_only_from_unseen_histories():
    model = MaximumLikelihood(Counts([0, 1, 0, 2, 0, 1], 3, 4), 3)
    np.testing.assert_allclose(model.distribution([0]), [0, 2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(model.distribution([2, 0]), [0, 1, 0, 0])
    np.testing.assert_array_equal(model.distribution([3, 0]), model.distribution([0]))
    np.testing.assert_array_equal(model.distribution([1, 3]), [3 / 6, 2 / 6, 1 / 6, 0])
    assert model.log_probs([0, 2, 2]).tolist()[2] == -np.inf
    assert stream_perplexity(model, [0, 2, 2]) == np.inf


def test_no_other_bigram_model_gives_the_training_stream_a_higher_likelihood():
    best = MaximumLikelihood(COUNTS, 2).log_probs(TRAIN)[1:].mean()
    others = [AddK(COUNTS, 2, k).log_probs(TRAIN)[1:].mean() for k in (1e-4, 0.1, 1)]
    others += [
        KneserNey(COUNTS, 2).log_probs(TRAIN)[1:].mean(),
        MaximumLikelihood(COUNTS, 1).log_probs(TRAIN)[1:].mean(),
    ]
    assert best > max(others)


def test_add_k_by_its_formula_and_uniform_after_an_unseen_history():
    model = AddK(Counts([0, 1, 0, 2, 0, 1], 2, 4), 2, k=0.5)
    np.testing.assert_allclose(model.distribution([0]), np.array([0.5, 2.5, 1.5, 0.5]) / 5)
    np.testing.assert_array_equal(model.distribution([3]), np.full(4, 1 / 4))
    np.testing.assert_allclose(model.distribution(), np.array([3.5, 2.5, 1.5, 0.5]) / 8)


def test_interpolation_is_the_weighted_sum_of_its_orders():
    weights = [0.1, 0.3, 0.4, 0.2]
    model = JelinekMercer(COUNTS, weights, allowed=MASK)
    for history in random_histories(30):
        parts = [MASK / MASK.sum()] + [MaximumLikelihood(COUNTS, n, MASK).distribution(history) for n in (1, 2, 3)]
        np.testing.assert_allclose(model.distribution(history), np.array(weights) @ parts, rtol=1e-12)


def test_every_step_of_em_raises_the_held_out_likelihood_and_the_end_is_its_maximum():
    held_out = zipf_stream(300, seed=14)

    def likelihood(weights):
        return JelinekMercer(COUNTS, weights).log_probs(held_out).mean()

    steps = [likelihood(fit_weights(COUNTS, 3, held_out, steps=n)) for n in (0, 1, 2, 4, 8, 16, 1000)]
    assert all(later > earlier for earlier, later in itertools.pairwise(steps))
    best = fit_weights(COUNTS, 3, held_out)
    assert best.sum() == pytest.approx(1, abs=1e-12)
    for away in np.random.default_rng(0).dirichlet(np.ones(4), 200):
        assert likelihood(0.98 * best + 0.02 * away) < likelihood(best) + 1e-6


def test_training_text_as_held_out_text_gives_the_highest_order_everything():
    assert fit_weights(COUNTS, 3, TRAIN)[-1] > 0.95


# ---- Kneser-Ney against slow versions


def dictionary_kneser_ney(stream, order, discount, types):
    """P(w | h) straight from the formula, with dictionaries and recursion. discount(n, count) -> what is taken off."""
    grams = {n: naive_counts(stream, n) for n in range(1, order + 1)}
    used = {order: grams[order]}
    for n in range(1, order):
        used[n] = Counter(longer[1:] for longer in grams[n + 1])  # one for each type before it

    def p(word, history):
        n = len(history) + 1
        after = {w: used[n][(*history, w)] for w in types if used[n][(*history, w)] > 0}
        lower = p(word, history[1:]) if history else 1 / len(types)
        if not after:
            return lower
        total = sum(after.values())
        freed = sum(discount(n, count) for count in after.values())
        kept = after[word] - discount(n, after[word]) if word in after else 0
        return kept / total + freed / total * lower

    return p, used


def counts_of_counts(used: Counter) -> list[int]:
    return [sum(count == i for count in used.values()) for i in range(5)]


@pytest.mark.parametrize("order", [1, 2, *(pytest.param(n, marks=pytest.mark.slow) for n in (3, 4))])
@pytest.mark.parametrize("modified", [False, True], ids=["one discount", "three discounts"])
def test_kneser_ney_equals_the_formula_with_dictionaries(order, modified):
    stream = zipf_stream(1500, seed=17, types=100).tolist()
    types = range(102)  # two of them never occur
    taken = {}
    p, used = dictionary_kneser_ney(stream, order, lambda n, count: taken[n, min(count, 3)], types)
    for n in range(1, order + 1):
        _, n1, n2, n3, n4 = counts_of_counts(used[n])
        Y = n1 / (n1 + 2 * n2)
        three = (1 - 2 * Y * n2 / n1, 2 - 3 * Y * n3 / n2, 3 - 4 * Y * n4 / n3) if modified else (Y, Y, Y)
        assert all(0 <= d <= i for i, d in enumerate(three, 1)), "choose a stream in which nothing has to be clipped"
        taken.update({(n, i): d for i, d in enumerate(three, 1)})
    model = KneserNey(Counts(stream, order, 102), order, modified=modified)
    np.testing.assert_allclose(
        model.discounts, [[taken[n, i] for i in (1, 2, 3)] if modified else taken[n, 1] for n in range(1, order + 1)]
    )
    rng = np.random.default_rng(16)
    histories = [tuple(rng.integers(0, 102, rng.integers(0, order)).tolist()) for _ in range(25)]
    histories += [tuple(stream[i : i + order - 1]) for i in range(0, 1490, 50)]
    for history in histories:
        expected = [p(word, history) for word in types]
        np.testing.assert_allclose(model.distribution(history), expected, rtol=1e-10)


def test_kneser_ney_by_hand():
    # Stream a b a c a b: bigrams ab 2, ba 1, ac 1, ca 1. Before a: b, c; before b: a; before c: a; four bigram types.
    model = KneserNey(Counts([0, 1, 0, 2, 0, 1], 2, 3), 2, discount=[0, 0.5])
    unigram = np.array([2, 1, 1]) / 4
    np.testing.assert_allclose(model.distribution(), unigram)
    np.testing.assert_allclose(model.distribution([0]), np.array([0, 1.5, 0.5]) / 3 + 0.5 * 2 / 3 * unigram)
    np.testing.assert_allclose(model.distribution([1]), np.array([0.5, 0, 0]) + 0.5 * unigram)


def test_the_continuation_count_ignores_how_often_a_fixed_phrase_occurs():
    san, francisco, glasses = 0, 1, 2
    stream = [san, francisco] * 20
    for other in range(3, 9):
        stream += [other, glasses]
    p = KneserNey(Counts(stream, 2, 9), 2).distribution()
    assert p[glasses] > 3 * p[francisco]
    assert MaximumLikelihood(Counts(stream, 2, 9), 1).prob([], francisco) > 3 / 9


def test_discounts_without_single_counts_are_zero():
    assert KneserNey(Counts([0, 1] * 50, 1, 2), 1).discounts.tolist() == [0]


# ---- against nltk.lm

WORDS = [f"w{i}" for i in range(8)]  # nltk's vocabulary adds <UNK>: it is our type number 8, which never occurs
NLTK_ORDER = 3


@pytest.fixture(scope="module")
def nltk_fitted():
    """nltk_fitted(kind, ids, ...) -> nltk's model of this kind.  nltk brings SciPy: two seconds, for who asks only."""
    from nltk import lm
    from nltk.lm.preprocessing import everygrams

    def fitted(kind, ids, **options):
        model = getattr(lm, kind)(order=NLTK_ORDER, **options)
        model.fit([list(everygrams([WORDS[i] for i in ids], max_len=NLTK_ORDER))], vocabulary_text=WORDS)
        assert len(model.vocab) == VOCAB
        return model

    return fitted


def all_histories(longest: int = NLTK_ORDER - 1):
    return itertools.chain(*(itertools.product(range(8), repeat=n) for n in range(longest + 1)))


def nltk_distribution(model, history) -> list[float]:
    return [model.score(word, [WORDS[i] for i in history]) for word in [*WORDS, "<UNK>"]]


@pytest.mark.slow
def test_kneser_ney_agrees_with_nltk_where_both_define_the_same_estimator(nltk_fitted):
    """nltk.lm 3.10 and ours are the same function if three things are set alike.

    - nltk takes one discount for all orders from the caller (0.1 by default) and estimates none: ours gets it, too.
    - nltk's unigram is the plain continuation count over its sum, neither discounted nor mixed with the uniform
      distribution: our unigram discount is 0.
    - In lower orders nltk counts N(h .) from the raw counts, we from the continuation counts. They differ only for an
      n-gram that nothing precedes, that is, one that occurs at the start of the stream alone: here the first two
      tokens come again at the end. (The next test shows what happens otherwise.)
    An unseen history defers to the shorter one in both.
    """
    stream = np.concatenate([TRAIN, TRAIN[: NLTK_ORDER - 1]])
    ours = KneserNey(Counts(stream, NLTK_ORDER, VOCAB), NLTK_ORDER, discount=[0, 0.6, 0.6])
    reference = nltk_fitted("KneserNeyInterpolated", stream, discount=0.6)
    for history in all_histories():
        np.testing.assert_allclose(ours.distribution(history), nltk_distribution(reference, history), rtol=1e-10)


@pytest.mark.slow
def test_where_nothing_precedes_an_ngram_nltk_does_not_sum_to_one_and_ours_does(nltk_fitted):
    stream = [0, 1, 2, 1, 3, 2, 3, 1, 0, 2, 0, 3]  # "0 1" occurs at the start only, so its continuation count is 0
    ours = KneserNey(Counts(stream, NLTK_ORDER, VOCAB), NLTK_ORDER, discount=[0, 0.6, 0.6])
    reference = nltk_fitted("KneserNeyInterpolated", stream, discount=0.6)
    assert sum(nltk_distribution(reference, [0])) > 1.1
    assert ours.distribution([0]).sum() == pytest.approx(1, abs=1e-12)


# ---- sampling


def test_samples_follow_the_distribution_and_the_seed():
    model = KneserNey(COUNTS, 2)
    drawn = [sample_stream(model, 1, rng, history=[1])[0] for rng in np.random.default_rng(0).spawn(4000)]
    expected = model.distribution([1])
    error = np.sqrt(expected * (1 - expected) / 4000)
    assert (np.abs(np.bincount(drawn, minlength=VOCAB) / 4000 - expected) <= 4.5 * error).all()
    once, again, other = (sample_stream(model, 30, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert once == again != other
    assert len(once) == 30


def test_a_sample_of_a_maximum_likelihood_model_holds_only_ngrams_of_the_stream():
    ids = sample_stream(MaximumLikelihood(COUNTS, 3), 100, np.random.default_rng(1), history=TRAIN[:2].tolist())
    assert all(COUNTS.count(ids[i : i + 3]) for i in range(98))


# ---- faults


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: Counts([], 2, 5), ValueError, "empty"),
        (lambda: Counts([0, 1], 0, 5), ValueError, "order is 0"),
        (lambda: Counts([0, 5], 2, 5), ValueError, r"ids\[1\] is 5.*vocabulary of 5"),
        (lambda: Counts([0, -1], 2, 5), ValueError, r"ids\[1\] is -1"),
        (lambda: Counts([0.0, 1.0], 2, 5), TypeError, "not integers"),
        (lambda: Counts([[0, 1], [1, 2]], 2, 5), ValueError, "2 dimensions"),
        (lambda: COUNTS.count([1] * 5), ValueError, "length 5.*order 4"),
        (lambda: COUNTS.followers([1] * 4), ValueError, "length 5.*order 4"),
        (lambda: COUNTS.types(0), ValueError, "length 0"),
        (lambda: MaximumLikelihood(COUNTS, 5), ValueError, "order is 5.*1..4"),
        (lambda: KneserNey(COUNTS, 0), ValueError, "order is 0"),
        (lambda: AddK(COUNTS, 2, 0), ValueError, "k is 0"),
        (lambda: AddK(COUNTS, 2, -1), ValueError, "k is -1"),
        (lambda: AddK(COUNTS, 2, math.nan), ValueError, "k is nan"),
        (lambda: JelinekMercer(COUNTS, [0.5, 0.4]), ValueError, "sum to 1"),
        (lambda: JelinekMercer(COUNTS, [1.5, -0.5]), ValueError, "at least 0"),
        (lambda: JelinekMercer(COUNTS, [math.nan, 1]), ValueError, "sum to 1"),
        (lambda: JelinekMercer(COUNTS, [0.2] * 6 + [-0.2]), ValueError, "at least 0"),
        (lambda: KneserNey(COUNTS, 2, discount=1.5), ValueError, r"discount is 1.5.*0\.\.1"),
        (lambda: KneserNey(COUNTS, 2, discount=[0.5]), ValueError, "2 of them"),
        (lambda: KneserNey(COUNTS, 2, discount=0.5, modified=True), ValueError, "leave discount out"),
        (lambda: AddK(COUNTS, 2, 1, allowed=np.ones(3, bool)), ValueError, "9 booleans"),
        (lambda: AddK(COUNTS, 2, 1, allowed=np.zeros(VOCAB, bool)), ValueError, "at least one"),
        (lambda: AddK(COUNTS, 2, 1).distribution([9]), ValueError, r"history\[0\] is 9"),
        (lambda: AddK(COUNTS, 2, 1).prob([1], 9), ValueError, "is 9, outside"),
        (lambda: AddK(COUNTS, 2, 1).log_probs([1, 9]), ValueError, r"ids\[1\] is 9"),
        (lambda: AddK(COUNTS, 2, 1).log_probs([1, 2], start=3), ValueError, "start is 3.*0..2"),
        (lambda: stream_perplexity(AddK(COUNTS, 2, 1), []), ValueError, "no token"),
        (lambda: fit_weights(COUNTS, 2, []), ValueError, "held_out has no token"),
        (lambda: sample_stream(AddK(COUNTS, 2, 1), 5, 0), TypeError, "default_rng"),
        (lambda: sample_stream(AddK(COUNTS, 2, 1), -1, np.random.default_rng(0)), ValueError, "length is -1"),
    ],
)
def test_a_fault_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


# ---- the real corpus


@pytest.mark.data
@pytest.mark.slow
def test_wikitext2_follows_the_protocol(real_corpora):
    from lmbook import data
    from lmbook.text import MASK as MASK_TOKEN
    from lmbook.text import PAD, SOS, Vocabulary

    corpus = data.load("wikitext2")
    vocabulary = Vocabulary.build(corpus["train"])
    allowed = np.ones(len(vocabulary), bool)
    allowed[[vocabulary[PAD], vocabulary[SOS], vocabulary[MASK_TOKEN]]] = False
    train, test = (np.array(vocabulary.encode(corpus[part])) for part in ("train", "test"))
    counts = Counts(train, 3, len(vocabulary))
    assert allowed.sum() == counts.types(1) == 33_278
    models = [KneserNey(counts, n, allowed=allowed) for n in (1, 2, 3)]
    scores = [model.log_probs(test) for model in models]
    assert len(scores[2]) == 245_569
    assert models[2].distribution(test[:100]).sum() == pytest.approx(1, abs=1e-9)
    # A longer history helps; smoothing by Kneser-Ney beats fixed weights, as Chen and Goodman found on other text.
    assert scores[0].mean() < scores[1].mean() < scores[2].mean()
    valid = np.array(vocabulary.encode(corpus["valid"]))
    weights = fit_weights(counts, 3, valid, allowed)
    assert JelinekMercer(counts, weights, allowed).log_probs(test).mean() < scores[2].mean()
