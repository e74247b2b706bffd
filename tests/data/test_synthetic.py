"""Generated tasks and batches: right by an independent rule, different, repeatable, and shifted by exactly one."""

import datetime
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch

from lmbook import data
from lmbook.data import harbourish as language
from lmbook.data import synthetic

EVERY = {
    "captions": lambda n, seed: data.captions(n, seed),
    "addition": lambda n, seed: data.addition(n, seed),
    "reversal": lambda n, seed: data.reversal(n, seed),
    "dates": lambda n, seed: data.dates(n, seed),
    "brackets": lambda n, seed: data.brackets(n, seed),
}


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_pairs_differ_and_a_seed_repeats_them(make):
    pairs = make(1000, 3)
    assert len({source for source, _ in pairs}) == 1000
    assert pairs == make(1000, 3)
    assert pairs[:50] != make(50, 4)
    assert make(0, 0) == []
    with pytest.raises(ValueError, match="-1"):
        make(-1, 0)


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_held_out_parts_share_no_source(make):
    parts = data.held_out(make(500, 0), 50, 100)
    assert [len(parts[part]) for part in ("train", "valid", "test")] == [350, 50, 100]
    sources = [{source for source, _ in parts[part]} for part in parts]
    assert len(set.union(*sources)) == sum(map(len, sources))
    with pytest.raises(ValueError, match="500 pairs"):
        data.held_out(make(500, 0), 300, 300)


def test_sums_are_right():
    for source, target in data.addition(500, digits=4):
        a, b = source.split("+")
        assert int(a) + int(b) == int(target)
        assert max(len(a), len(b)) <= 4


def test_summands_have_even_lengths_or_are_even_themselves():
    lengths = {
        even: Counter(len(a) for s, _ in data.addition(3000, even=even) for a in s.split("+")) for even in (1, 0)
    }
    assert lengths[0][3] == pytest.approx(0.9 * 6000, rel=0.03)
    assert lengths[1][3] < 0.7 * 6000


def test_joined_texts_are_pairs_side_by_side_of_the_lengths_asked_for():
    pairs = [(" ".join([f"w{i}"] * (3 + i % 9)), f"t{i}") for i in range(200)]
    made = synthetic.joined(pairs, 500, seed=1, min_words=12, max_words=40)
    assert len({source for source, _ in made}) == 500
    assert made == synthetic.joined(pairs, 500, seed=1, min_words=12, max_words=40)
    for source, target in made:
        parts = target.split()
        assert source == " ".join(pairs[int(part[1:])][0] for part in parts), "sources in the order of the targets"
    lengths = Counter(len(source.split()) for source, _ in made)
    assert set(lengths) <= set(range(12, 41))
    assert len(lengths) > 25
    with pytest.raises(ValueError, match="at most 2 words"):
        synthetic.joined(pairs, 1, max_words=2)
    with pytest.raises(ValueError, match="hardly make texts of 12 to 12"):
        synthetic.joined([("a " * 7, "b")], 1, min_words=12, max_words=12)
    with pytest.raises(ValueError, match="only 1 of 5"):
        synthetic.joined([("a b c", "d")], 5, min_words=3, max_words=3)


def test_reversals_are_right_and_of_the_lengths_asked_for():
    pairs = data.reversal(500, min_length=5, max_length=8, symbols="abc")
    assert all(source[::-1] == target for source, target in pairs)
    assert {len(source.split()) for source, _ in pairs} == {5, 6, 7, 8}


def test_dates_say_the_same_day():
    months = {name.lower()[:3]: i + 1 for i, name in enumerate(synthetic.MONTHS)}
    pairs = data.dates(2000)
    assert len({target for _, target in pairs}) == 2000
    for source, target in pairs:
        date = datetime.date.fromisoformat(target)
        numbers = [int(number) for number in re.findall(r"\d+", source)]
        if len(numbers) == 1:
            assert source == date.strftime("%Y%m%d")
        elif len(numbers) == 3:
            day_first = numbers if "." in source else numbers[::-1]
            assert day_first == [date.day, date.month, date.year]
        else:
            assert numbers == [date.day, date.year]
            assert any(months.get(word[:3].lower()) == date.month for word in re.findall("[A-Za-z]+", source))
        for day in re.findall("(Mon|Tue|Wed|Thu|Fri|Sat|Sun)", source):
            assert date.strftime("%a") == day
        for number, ending in re.findall(r"(\d+)(st|nd|rd|th)", source):
            right = {"1": "st", "2": "nd", "3": "rd", "21": "st", "22": "nd", "23": "rd", "31": "st"}
            assert ending == right.get(number, "th")


def test_brackets_are_labelled_by_a_rule_of_their_own():
    pairs = data.brackets(1000)
    for source, label in pairs:
        reduced = source
        while (shorter := re.sub(r"\(\)|\[\]|\{\}", "", reduced)) != reduced:
            reduced = shorter
        assert label == ("unbalanced" if reduced else "balanced")
    assert 400 < Counter(label for _, label in pairs)["balanced"] < 600


def translate(source: str) -> str:
    """Harbourish from the plain English, by its own small parser, not by the generator."""
    nouns = {form: (noun, False) for noun in language.NOUNS for form in [noun]}
    nouns |= {entry[0]: (noun, True) for noun, entry in language.NOUNS.items()}
    verbs = {form: (stem, i) for table in (language.TRANSITIVE, language.INTRANSITIVE)
             for forms, stem in table.items() for i, form in enumerate(forms)}  # fmt: skip
    out, verb, waiting, adjectives, article, preposition = [], None, [], [], None, None
    for word in source.split():
        if word in ("a", "an", "the", "two"):
            article, adjectives = word, []
        elif word in language.ADJECTIVES:
            adjectives.append(word)
        elif word in nouns:
            noun, plural = nouns[word]
            _, stem, vowel = language.NOUNS[noun]
            ending = "n" if plural else ""
            waiting.append({"a": "t", "an": "t", "the": "l", "two": "dv"}[article] + vowel)
            waiting.append(stem + ending)
            waiting += [language.ADJECTIVES[adjective] + vowel + ending for adjective in adjectives[::-1]]
            if preposition:
                waiting.append(language.PREPOSITIONS[preposition])
                preposition = None
        elif word in verbs:
            stem, plural = verbs[word]
            verb = stem + ("en" if plural else "a")
        elif word in language.PREPOSITIONS:
            preposition = word
        else:
            out += [*waiting, verb, "." if word == "." else language.CONJUNCTIONS[word]]
            waiting, verb = [], None
    return " ".join(out)


def test_captions_are_translated_by_the_grammar_that_the_docstring_gives():
    for source, target in data.captions(2000, seed=1, min_words=3, max_words=60):
        assert translate(source) == target
    example = "the happy boat waits with an old ball beside the horse ."
    assert translate(example) in " ".join(language.__doc__.split())


def test_captions_have_the_length_asked_for():
    for length in (3, 4, 17, 60):
        assert {len(source.split()) - 1 for source, _ in data.captions(30, 0, length, length)} == {length}
    lengths = Counter(len(source.split()) - 1 for source, _ in data.captions(5700, 0, 4, 60))
    assert set(lengths) == set(range(4, 61))


def test_the_alignment_of_captions_joins_each_word_with_its_counterpart():
    """Against the word lists: a Harbourish word begins with the stem of the English word that it stands for."""
    stems = {form: stem for singular, (plural, stem, _) in language.NOUNS.items() for form in (singular, plural)}
    stems |= {form: stem for verbs in (language.TRANSITIVE, language.INTRANSITIVE) for forms, stem in verbs.items()
              for form in forms}  # fmt: skip
    stems |= language.ADJECTIVES | language.PREPOSITIONS | language.CONJUNCTIONS
    stems |= {"a": "t", "an": "t", "the": "l", "two": "dv", ".": "."}
    made = data.aligned_captions(2000, seed=3, min_words=3, max_words=60)
    assert data.captions(2000, 3, 3, 60) == [(" ".join(source), " ".join(target)) for source, target, _ in made]
    for source, target, order in made:
        assert sorted(order) == list(range(len(source)))
        assert all(word.startswith(stems[source[i]]) for word, i in zip(target, order, strict=True))
        for t, i in enumerate(order):
            if source[i] in ("dogs", "boats", "women"):  # its article is its own, with only adjectives between the two
                article = order[t - 1]
                assert source[article] in ("the", "two")
                assert all(word in language.ADJECTIVES for word in source[article + 1 : i])


@pytest.mark.parametrize(("low", "high"), [(2, 5), (5, 4), (5, 61)])
def test_captions_of_impossible_length_are_refused(low, high):
    with pytest.raises(ValueError, match=f"{low} and max_words is {high}"):
        data.captions(1, 0, low, high)


def test_captions_agree_in_number_and_article():
    for words, tags in data.tagged_captions(1000):
        assert len(words) == len(tags)
        for this, following in pairwise(words):
            if this in ("a", "an"):
                assert (this == "an") == (following[0] in "aeiou")
        assert all((tag == "NUM") == (word == "two") for word, tag in zip(words, tags, strict=True))
        assert tags.count("VERB") == 1 + tags.count("CCONJ") + tags.count("SCONJ")


@pytest.mark.parametrize(
    "call",
    [
        lambda: data.reversal(100, max_length=2, symbols="ab"),
        lambda: data.dates(400, first_year=2001, last_year=2001),
        lambda: data.brackets(1000, max_pairs=1),
        lambda: data.addition(101, digits=1),
    ],
)
def test_more_pairs_than_exist_are_refused(call):
    with pytest.raises(ValueError, match="different pairs"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: data.addition(1, digits=0),
        lambda: data.reversal(1, min_length=3, max_length=2),
        lambda: data.dates(1, first_year=2001, last_year=2000),
        lambda: data.brackets(1, max_pairs=0),
    ],
)
def test_impossible_ranges_are_refused(call):
    with pytest.raises(ValueError, match="no range"):
        call()


# Batches


def random_pairs(n: int) -> list[tuple[list[int], list[int]]]:
    rng = np.random.default_rng(0)
    return [tuple(rng.integers(5, 99, size=rng.integers(0, 12)).tolist() for _ in range(2)) for _ in range(n)]


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize(("size", "tokens"), [(8, False), (1, False), (60, True), (1, True)])
def test_every_pair_comes_once_padded_and_shifted(seed, size, tokens):
    pairs = random_pairs(101)
    seen = []
    for batch in data.batches(pairs, size, seed, tokens):
        assert batch.source.dtype == batch.targets.dtype == torch.int64
        assert batch.inputs.shape == batch.targets.shape
        if tokens:
            assert len(batch.rows) == 1 or len(batch.rows) * max(batch.source.shape[1], batch.inputs.shape[1]) <= size
        else:
            assert len(batch.rows) <= size
        for row, source, inputs, targets in zip(batch.rows, batch.source, batch.inputs, batch.targets, strict=True):
            x, y = pairs[row]
            assert source.tolist() == x + [0] * (len(source) - len(x))
            rest = [0] * (len(inputs) - len(y) - 1)
            assert inputs.tolist() == [2, *y, *rest]
            assert targets.tolist() == [*y, 3, *rest]
        seen += batch.rows.tolist()
    assert sorted(seen) == list(range(101))


def test_batches_keep_like_lengths_together_and_shuffle_by_seed():
    pairs = random_pairs(400)
    rows = [batch.rows.tolist() for batch in data.batches(pairs, 16, seed=1)]
    assert rows == [batch.rows.tolist() for batch in data.batches(pairs, 16, seed=1)]
    assert rows != [batch.rows.tolist() for batch in data.batches(pairs, 16, seed=2)]
    padding = sum((batch.targets == 0).sum() for batch in data.batches(pairs, 16, seed=1))
    in_order = sum((data.pad([[*y, 3] for _, y in pairs[i : i + 16]]) == 0).sum() for i in range(0, 400, 16))
    assert padding < in_order / 4


def test_batches_of_nothing_and_of_no_size():
    assert list(data.batches([], 4)) == []
    with pytest.raises(ValueError, match="size is 0"):
        next(data.batches(random_pairs(3), 0))


def test_streams_continue_and_targets_are_the_next_tokens():
    ids = np.arange(1000)
    windows = list(data.stream_batches(ids, B=7, T=20))
    inputs = torch.cat([inputs for inputs, _ in windows], dim=1)
    targets = torch.cat([targets for _, targets in windows], dim=1)
    assert {window.shape for window, _ in windows[:-1]} == {(7, 20)}
    assert (targets == inputs + 1).all()
    assert (inputs[:, 1:] == targets[:, :-1]).all()
    assert (inputs[1:, 0] == targets[:-1, -1]).all()
    assert 1000 - 1 - targets.numel() < 7


def test_one_stream_predicts_every_token_but_the_first():
    targets = torch.cat([targets[0] for _, targets in data.stream_batches(list(range(11)), B=1, T=4)])
    assert targets.tolist() == list(range(1, 11))


@pytest.mark.parametrize(("length", "B", "T"), [(5, 5, 2), (1, 1, 1), (10, 0, 1), (10, 1, 0)])
def test_streams_refuse_what_they_cannot_cut(length, B, T):
    with pytest.raises(ValueError, match=r"fewer|at least 1"):
        next(data.stream_batches(range(length), B, T))


def test_padding():
    assert data.pad([[1, 2], [], [3]], value=9).tolist() == [[1, 2], [9, 9], [3, 9]]
    assert data.pad([]).shape == (0, 0)
