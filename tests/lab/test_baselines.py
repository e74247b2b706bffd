"""Baselines: counted by hand on a few words, and the linear ones where only their features can tell."""

import pytest

from lmbook.lab.baselines import LinearClassifier, LinearTagger, MajorityTagger, token_features


def test_majority_is_the_most_frequent_tag_of_each_word():
    tagger = MajorityTagger([["a", "b", "a"], ["a", "c", "c"]], [["X", "Y", "X"], ["Y", "Z", "Z"]])
    assert tagger.predict([["a", "b", "c", "new"]]) == [["X", "Y", "Z", "X"]]


def test_majority_without_words_is_refused():
    with pytest.raises(ValueError, match="at least one sentence"):
        MajorityTagger([], [])


def test_features_look_two_words_to_each_side_and_no_further():
    words = ["one", "two", "three", "four", "five", "six", "seven"]
    seen = " ".join(token_features(words, 3))
    assert all(word in seen for word in ("two", "three", "four", "five", "six"))
    assert "one" not in seen
    assert "seven" not in seen
    assert "first True" in token_features(words, 0)


def test_linear_tagger_reads_endings_and_neighbours():
    nouns, verbs = ["walker", "singer", "baker"], ["walking", "singing", "baking"]
    sentences = [[a, b] for a in ("the", "is") for b in nouns + verbs] * 3
    tags = [["D" if a == "the" else "V", "N" if b in nouns else "V"] for a, b in sentences]
    tagger = LinearTagger(alpha=1e-4, epochs=20).fit(sentences, tags)
    assert tagger.predict([["the", "dancer"], ["is", "dancing"]]) == [["D", "N"], ["V", "V"]]
    assert tagger.predict([[], ["the"]]) == [[], ["D"]], "as many tags as words, sentence by sentence"


def test_linear_classifier_uses_pairs_of_words():
    texts = ["not good", "good not bad", "not bad", "bad not good"] * 5
    labels = ["no", "yes", "yes", "no"] * 5
    model = LinearClassifier(str.split).fit(texts, labels)
    assert model.predict(["not good", "not bad"]) == ["no", "yes"]
