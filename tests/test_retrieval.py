"""tf-idf against scikit-learn, and an answerer that says only what stands there."""

import numpy as np
import pytest

from lmbook.retrieval import TfIdf, quote, sentences, words

TEXTS = (
    "The gate decides what is kept. A forget gate near 1 keeps the cell.",
    "Attention is a weighted mean. The weights are a softmax of scores, and the scores compare queries with keys.",
    "A bigram counts pairs of words. Counts of counts say what was not seen.",
    "Words, words, words; the gate and the key!",
)


@pytest.mark.slow
def test_the_weights_are_those_of_sklearn():
    from sklearn.feature_extraction.text import TfidfVectorizer

    ours, theirs = TfIdf(TEXTS), TfidfVectorizer(sublinear_tf=True).fit(TEXTS)
    assert list(ours.places) == list(theirs.get_feature_names_out())
    assert np.allclose(ours.rows, theirs.transform(TEXTS).toarray())
    asked = "Which gate keeps words, words and Ölgemälde?"
    assert np.allclose(ours.vector(asked), theirs.transform([asked]).toarray()[0])
    scores = (theirs.transform(TEXTS) @ theirs.transform([asked]).T).toarray()[:, 0]
    assert [i for i, _ in ours.search(asked, 4)] == np.argsort(-scores, kind="stable").tolist()


def test_without_idf_another_text_would_win():
    """Where only a frequent word is shared, the rare one decides."""
    texts = ["the the the the cat", "the dog sat", "the dog ran", "the bird"]
    assert TfIdf(texts).search("the cat", 1)[0][0] == 0
    assert TfIdf(texts).search("the bird", 1)[0][0] == 3


def test_a_quote_stands_in_its_source_and_is_nearest():
    found = quote("what does softmax compare, keys?", TEXTS)
    assert found.source == 1
    assert found.text in TEXTS[1]
    assert found.text.startswith("The weights")
    assert quote("quarks, gluons", TEXTS) is None
    assert quote("the gate", TEXTS, least=1.1) is None


def test_sentences_and_words():
    assert sentences("One. Two? Three!") == ["One.", "Two?", "Three!"]
    assert sentences("At 1.5 it ends, e.g. here.") == ["At 1.5 it ends, e.g. here."]
    assert words("A softmax, b1 I") == ["softmax", "b1"]
    with pytest.raises(ValueError, match="at least one"):
        TfIdf([])
