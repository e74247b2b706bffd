"""Word forms: every word has an id, rare ones that of their look, and the look is read as documented."""

import pytest

from lmbook.lab.word_shapes import WordForms, classes, shape
from lmbook.text import SPECIALS


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("blogged", "xx"), ("Falluja", "Xx"), ("NATO", "XX"), ("iPod", "xX"), ("well-known", "x-x"), ("1,200", "0"),
        ("EOS-400D", "X0"), ("2nd", "x0"), (":-/", "."), ("http://a.org", "url"), ("www.a.org", "url"),
        ("@anna", "@"), ("#fun", "#"), ("a.b@c.org", "mail"), ("@", "."), ("I", "XX"), ("Straße", "Xx"), ("", "."),
    ],
)  # fmt: skip
def test_shapes(word, expected):
    assert shape(word) == expected


def test_classes_from_fine_to_coarse():
    assert classes("Running") == ["<Xx-ing>", "<Xx-ng>", "<Xx-g>", "<Xx->"]
    assert classes("ox") == ["<xx-x>", "<xx->"], "one character stays before an ending"
    assert classes("it's") == ["<xx-s>", "<xx->"], "an ending is of letters"
    assert classes("2nd") == ["<x0->"]


@pytest.fixture
def forms():
    endings = [stem + "ing" for stem in ("runn", "sitt", "walk", "pull")] + ["Oslo", "Rome", "42"]
    return WordForms.build(["the", "the", "the", "sea", "sea", *endings], min_count=2, min_class=4)


def test_words_by_count_then_classes(forms):
    assert forms.words == ["the", "sea"]
    assert forms.vocabulary.tokens == [*SPECIALS, "the", "sea", *forms.classes]
    assert "<xx-ing>" in forms.classes
    assert "<xx-ng>" not in forms.classes, "its words have a finer class"
    assert "<Xx->" in forms.classes
    assert "<Xx-o>" not in forms.classes, "one word is fewer than min_class"


def test_an_unseen_word_has_the_class_of_its_look(forms):
    assert forms.token("the") == "the"
    assert forms.token("swimming") == "<xx-ing>"
    assert forms.token("Bergen") == "<Xx->"
    assert forms.token("1985") == "<0->"
    assert forms.token("#oslo") == "<unk>", "no rare word looked like this"
    ids = forms.encode(["the", "swimming", "#oslo"])
    assert forms.vocabulary.decode(ids) == ["the", "<xx-ing>", "<unk>"]


def test_class_ids_hide_words_and_nothing_else(forms):
    own = forms.class_ids()
    tokens = forms.vocabulary.tokens
    for i, token in enumerate(tokens):
        hidden = tokens[own[i]]
        assert hidden == (forms.class_of(token) if token in forms.words else token)


def test_the_same_again_from_its_words_and_classes(forms):
    again = WordForms(" ".join(forms.words).split(" "), " ".join(forms.classes).split(" "))
    text = ["the", "sailing", "Sea", "sea", "7"]
    assert again.encode(text).tolist() == forms.encode(text).tolist()


def test_max_words():
    forms = WordForms.build(["a", "a", "a", "b", "b", "b", "c", "c"], max_words=2)
    assert forms.words == ["a", "b"]
    assert forms.token("c") == "<xx->", "a frequent word that is left out has a class too"


def test_one_string_is_refused(forms):
    with pytest.raises(TypeError, match="list of words"):
        forms.encode("the sea")
