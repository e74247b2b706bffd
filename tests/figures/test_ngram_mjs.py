"""ngram.mjs, run without a browser, gives the numbers of lmbook.ngram."""

import atexit
import json
import unicodedata
from itertools import islice, pairwise
from math import inf

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from lmbook import ngram, text
from lmbook.figures import bundle

VOCAB = 12
BARRED = [0, 2, 4]  # <pad>, <sos>, <mask> in an alphabet of our own: some of them do stand in the stream
PAGE = bundle.bundle("ngram") + "const { generator } = $numbers;"
TOKENS = ["<pad>", "<unk>", "<sos>", "<eos>", "<mask>", *"abcdefg"]


def page(source=None):
    """A JavaScript machine that holds what ngram.mjs exports; call(code) gives the value of an expression."""
    source = PAGE if source is None else source
    machine = MiniRacer()
    atexit.register(machine.close)  # Python 3.13 would wait for its thread for ever
    machine.eval(source.replace("\nexport ", "\n") + "\n;undefined")
    machine.eval("const numbers = (list) => Array.from(list, (x) => (Number.isFinite(x) ? x : String(x)));")

    def call(code, **values):
        machine.eval(";".join(f"globalThis.{name} = {json.dumps(value)}" for name, value in values.items()))
        return json.loads(machine.eval(f"JSON.stringify({code})"))

    call.run = lambda code: machine.eval(code + ";undefined")
    return call


def load(call, ids, order, tokens):
    call("null", ids=[int(i) for i in ids], tokens=tokens, order=order)
    call.run("var vocabulary = new Vocabulary(tokens); var counts = new Counts(ids, order, vocabulary)")


def floats(values):
    return np.array([float(str(x).replace("Infinity", "inf")) for x in values])


def both(counts, allowed, order, kind):
    """The same model as a Python object and as a JavaScript expression."""
    weights = [(n + 1) ** 2 for n in range(order + 1)]
    return {
        "mle": (lambda: ngram.MaximumLikelihood(counts, order, allowed), f"new MaximumLikelihood(counts, {order})"),
        "add-k": (lambda: ngram.AddK(counts, order, 0.3, allowed), f"new AddK(counts, {order}, 0.3)"),
        "interpolated": (
            lambda: ngram.JelinekMercer(counts, np.array(weights) / sum(weights), allowed),
            f"new JelinekMercer(counts, {weights})",
        ),
        "kneser-ney": (lambda: ngram.KneserNey(counts, order, allowed=allowed), f"new KneserNey(counts, {order})"),
    }[kind]


KINDS = ("mle", "add-k", "interpolated", "kneser-ney")


def check(call, counts, allowed, order, kind, stream, histories):
    make, expression = both(counts, allowed, order, kind)
    model = make()
    call.run(f"var model = {expression}")
    stream = [int(i) for i in stream]
    for history in histories:
        history = [int(i) for i in history]
        p = floats(call("numbers(model.distribution(history))", history=history))
        np.testing.assert_allclose(p, model.distribution(history), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(p.sum(), 1, rtol=1e-9)
        one_by_one = floats(call("numbers(vocabulary.tokens.map((_, id) => model.prob(history, id)))", history=history))
        np.testing.assert_allclose(one_by_one, p, rtol=1e-12, atol=1e-15)
    logs = floats(call("numbers(model.logProbs(stream))", stream=stream))
    np.testing.assert_allclose(logs, model.log_probs(stream), rtol=1e-9, atol=1e-9)


@pytest.fixture(scope="module")
def call():
    return page()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_random_corpora_of_every_order(call, kind, seed):
    rng = np.random.default_rng(seed)
    # Zipf-like, so that there are unseen histories and n-grams of every count; types 10 and 11 never occur.
    ids = np.minimum(rng.geometric(0.25, size=150) - 1, VOCAB - 3)
    allowed = ~np.isin(np.arange(VOCAB), BARRED)
    counts = ngram.Counts(ids, 5, VOCAB)
    load(call, ids, 5, TOKENS)
    histories = [[], [11], [0], [2, 11], [1, 1, 1, 1], *(rng.integers(0, VOCAB, size=n) for n in (1, 2, 3, 4, 7))]
    histories += [ids[i : i + 4] for i in (0, 20, 40)]
    for order in range(1, 6):
        check(call, counts, allowed, order, kind, rng.integers(0, VOCAB, size=60), histories)


def test_a_wrong_discount_would_be_noticed():
    source = PAGE.replace("many[1] + 2 * many[2]", "many[1] + 3 * many[2]")
    assert source != PAGE
    with pytest.raises(AssertionError):
        test_random_corpora_of_every_order(page(source), "kneser-ney", 0)


@pytest.fixture(scope="module")
def harbour():
    data = pytest.importorskip("lmbook.data")
    return data.load("harbour")


@pytest.mark.parametrize("kind", KINDS)
def test_the_harbour_corpus(call, harbour, kind):
    vocabulary = text.Vocabulary.build(harbour["train"])
    allowed = ~np.isin(np.arange(len(vocabulary)), vocabulary.encode(["<pad>", "<sos>", "<mask>"]))
    ids, test = vocabulary.encode(harbour["train"]), vocabulary.encode(harbour["test"])
    counts = ngram.Counts(ids, 5, len(vocabulary))
    load(call, ids, 5, vocabulary.tokens)
    histories = [
        [],
        ids[100:104],
        test[:4],
        test[50:54],
        vocabulary.encode(["the", "dog"]),
        vocabulary.encode(["xyzzy"]),
    ]
    for order in (1, 3, 5):
        check(call, counts, allowed, order, kind, test, histories)


def test_counts_types_and_followers(call):
    ids = np.minimum(np.random.default_rng(9).geometric(0.3, size=300) - 1, VOCAB - 1)
    counts = ngram.Counts(ids, 4, VOCAB)
    load(call, ids, 4, TOKENS)
    assert call("[1, 2, 3, 4].map((n) => counts.types(n))") == [counts.types(n) for n in range(1, 5)]
    for phrase in ([3], [0, 1], [1, 0, 0], [0, 0, 1, 0], [9, 9, 9]):
        count = "counts.followers(phrase.slice(0, -1)).words.get(phrase.at(-1)) ?? 0"
        assert call(count, phrase=phrase) == counts.count(phrase)
        followers, how_often = counts.followers(phrase[1:])
        found = call("[...counts.followers(phrase.slice(1)).words].sort((a, b) => a[0] - b[0])")
        assert found == [[w, c] for w, c in zip(followers.tolist(), how_often.tolist(), strict=True)]
        assert call("counts.followers(phrase.slice(1)).total") == how_often.sum()


def test_the_vocabulary_is_the_one_that_python_builds(call, harbour):
    tokens = harbour["train"]
    vocabulary = text.Vocabulary.build(tokens)
    call.run("var built = Vocabulary.build(" + json.dumps(tokens) + ")")
    assert call("built.tokens") == vocabulary.tokens
    assert call("built.V") == len(vocabulary) - 3
    assert call('built.encode(["the", "xyzzy", "<eos>"])') == vocabulary.encode(["the", "xyzzy", "<eos>"]).tolist()


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "   ",
        "The Sea was calm; isn't it?  She said: “No.”",
        "rock ’n’ roll, o'clock, dogs' tails, 'quoted' don’t",
        "naïve café Ærøskøbing ΟΔΟΣ İstanbul ß ſ",
        "e\u0301 combining, zero\u200bwidth, no\u00a0break, bom\ufeffhere, \x85 \x1c \x1f_under_score_",
        "数字 ٣٤ ½ ² Ⅷ 🙂 👩‍👧 3.14 1,000 --- ... <eos> <unk>",
        "tabs\tand\nlines\r\n\u2028\u2029",
    ],
)
def test_words_cuts_as_python_does(call, typed):
    assert call("words(typed)", typed=typed) == text.words(typed)


def test_words_agrees_on_every_letter_up_to_the_emoji(call):
    assigned = (chr(i) for i in range(0x20000) if unicodedata.category(chr(i)) not in ("Cn", "Cs", "Co"))
    different = []
    while part := list(islice(assigned, 256)):
        typed = " ".join(f"a{c}b" for c in part)
        if call("words(typed)", typed=typed) != text.words(typed):
            different += [c for c in part if call("words(typed)", typed=f"a{c}b") != text.words(f"a{c}b")]
    assert different == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_accounts_for_all_of_the_probability(call, kind):
    ids = np.minimum(np.random.default_rng(3).geometric(0.25, size=200) - 1, 9)
    load(call, ids, 5, TOKENS)
    _, expression = both(None, None, 4, kind)
    call.run(f"var model = {expression}")
    for history in ([], [1], [5, 6, 7], [9, 9, 9], [1, 1, 1]):
        levels = call(
            "model.path(history).map((l) => ({ order: l.order, total: l.total, arrives: l.arrives, "
            "passes: l.passes, given: vocabulary.tokens.reduce((sum, _, id) => sum + l.mass(id), 0) }))",
            history=history,
        )
        assert levels[0]["order"] == min(4, len(history) + 1)
        assert levels[0]["arrives"] == 1
        assert levels[-1]["order"] == 0
        for level, below in pairwise(levels):
            assert below["arrives"] == pytest.approx(level["arrives"] * level["passes"], abs=1e-12)
            # what a level does not pass on it gives to the words it has seen
            assert level["given"] == pytest.approx(level["arrives"] * (1 - level["passes"]), abs=1e-12)
            assert level["total"] or level["passes"] == 1
        assert levels[-1]["given"] == pytest.approx(levels[-1]["arrives"], abs=1e-12)


def test_kneser_ney_by_hand(call):
    # "a b a b a c", bigrams: a b twice, b a twice, a c once; so D_2 = 1 / (1 + 2 * 2) = 0.2. Continuation counts are
    # 1 for each of a, b, c, so D_1 = 1 and order 1 passes everything to the uniform distribution over the four types.
    load(call, [1, 2, 1, 2, 1, 3], 2, ["<unk>", "a", "b", "c"])
    call.run("var model = new KneserNey(counts, 2)")
    assert call("model.discounts") == pytest.approx([0, 1, 0.2])
    passes = 0.2 * 2 / 3
    by_hand = [passes / 4, passes / 4, 1.8 / 3 + passes / 4, 0.8 / 3 + passes / 4]
    assert call("numbers(model.distribution([1]))") == pytest.approx(by_hand)


def test_samples_follow_the_distribution_and_the_seed(call):
    load(call, np.minimum(np.random.default_rng(1).geometric(0.3, size=300) - 1, 9), 3, TOKENS)
    call.run("var model = new KneserNey(counts, 3)")
    sampled = "sampleSentence(model, generator({}), [1, 1], 30)"
    assert call(sampled.format(7)) == call(sampled.format(7))
    assert call(sampled.format(7)) != call(sampled.format(8))
    draws = np.array(
        call("(() => { const r = generator(5); return Array.from({ length: 20000 }, () => draw(model, r, [1])) })()")
    )
    p = floats(call("numbers(model.distribution([1]))"))
    share = np.bincount(draws, minlength=VOCAB) / len(draws)
    assert np.abs(share - p).max() < 5 * np.sqrt(0.25 / len(draws))  # five standard errors
    assert not set(draws) & set(BARRED)


def test_a_sampled_sentence_ends(call):
    load(call, [5, 6, 3] * 20, 3, TOKENS)
    call.run("var model = new KneserNey(counts, 3)")
    sentences = call("[1, 2, 3, 4, 5].map((seed) => sampleSentence(model, generator(seed), [5], 12))")
    for sentence in sentences:
        assert 1 <= len(sentence) <= 12
        assert 3 not in sentence[:-1]
        assert sentence[-1] == 3 or len(sentence) == 12


def test_the_generator_is_even(call):
    x = np.array(call("(() => { const r = generator(0); return Array.from({ length: 20000 }, r) })()"))
    assert x.min() >= 0
    assert x.max() < 1
    counts = np.histogram(x, bins=20, range=(0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8  # chi-square, 19 degrees of freedom, p = 0.001


def test_a_probability_of_zero_has_an_infinite_logarithm(call):
    load(call, [5, 6, 5, 6], 2, TOKENS)
    call.run("var model = new MaximumLikelihood(counts, 2)")
    assert min(floats(call("numbers(model.logProbs([5, 6, 7]))"))) == -inf
    assert call("model.prob([5], 6)") == 1


@pytest.mark.parametrize(
    ("bad", "says"), [("new KneserNey(counts, 3)", "order is 3"), ("new AddK(counts, 2, 0)", "k is 0")]
)
def test_bad_arguments_are_named(call, bad, says):
    load(call, [5, 6, 5, 6], 2, TOKENS)
    assert says in call(f"(() => {{ try {{ {bad}; return '' }} catch (error) {{ return error.message }} }})()")
