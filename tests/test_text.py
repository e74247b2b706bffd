"""Vocabulary and tokenizers: round trips, special tokens, and byte pairs against a slow and plain count."""

import random
import subprocess
import sys
import unicodedata
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from lmbook import data, text
from lmbook.text import BytePairTokenizer, CharTokenizer, Vocabulary, WordTokenizer, words


@pytest.fixture(scope="module")
def stories() -> str:
    return "\n".join(sentence for story in data.harbour_stories()["train"] for sentence in story)


@pytest.fixture(scope="module")
def byte_pairs(stories) -> BytePairTokenizer:
    return BytePairTokenizer.train(stories, merges=300)


def test_the_special_tokens_have_the_ids_that_all_models_rely_on():
    vocabulary = Vocabulary(["sea"])
    assert [vocabulary[t] for t in ("<pad>", "<unk>", "<sos>", "<eos>", "<mask>", "sea")] == [0, 1, 2, 3, 4, 5]
    assert text.SPECIALS == ("<pad>", "<unk>", "<sos>", "<eos>", "<mask>")


def test_a_vocabulary_is_ordered_by_count_then_alphabet_and_keeps_special_tokens_in_place():
    vocabulary = Vocabulary.build(["b", "a", "c", "c", "<eos>", "<eos>", "<eos>", "<unk>"])
    assert vocabulary.tokens == [*text.SPECIALS, "c", "a", "b"]
    assert Vocabulary.build(["b", "a", "c", "c"], max_size=6).tokens[5:] == ["c"]
    assert Vocabulary.build(["b", "a", "c", "c"], min_count=2).tokens[5:] == ["c"]
    assert "a" in vocabulary
    assert "d" not in vocabulary


def test_encoding_knows_and_does_not_know():
    vocabulary = Vocabulary(["sea", "boat"])
    ids = vocabulary.encode(["boat", "whale", "sea"])
    assert ids.dtype == np.int64
    assert ids.tolist() == [6, 1, 5]
    assert vocabulary.decode(ids) == ["boat", "<unk>", "sea"]
    assert vocabulary.encode([]).shape == (0,)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: Vocabulary("sea"), TypeError, "one string"),
        (lambda: Vocabulary(["a", "b", "a"]), ValueError, "'a' twice"),
        (lambda: Vocabulary.build(["a"], max_size=5), ValueError, "above 5"),
        (lambda: Vocabulary(["a"]).encode("a sea"), TypeError, "words()"),
        (lambda: Vocabulary(["a"])[5], TypeError, "vocabulary.tokens"),
        (lambda: Vocabulary(["a"]).decode([6]), ValueError, "0 to 5"),
        (lambda: Vocabulary(["a"]).decode([-1]), ValueError, "0 to 5"),
        (lambda: words(["a"]), TypeError, "join"),
        (lambda: BytePairTokenizer.train("sea", merges=-1), ValueError, "-1"),
        (lambda: BytePairTokenizer([(5, 261)]), ValueError, "earlier merges"),
        (lambda: BytePairTokenizer([(0, 5)]), ValueError, "bytes"),
        (lambda: BytePairTokenizer([]).decode([261]), ValueError, "0 to 260"),
    ],
)
def test_bad_input_names_the_input_and_the_remedy(call, error, says):
    with pytest.raises(error, match=says.replace("(", r"\(").replace(")", r"\)")):
        call()


def test_words_are_lower_case_and_apart_from_punctuation():
    assert words("Isn't it 3 o’clock? “Yes,” said Zoë.") == (
        ["isn't", "it", "3", "o'clock", "?", "“", "yes", ",", "”", "said", "zoë", "."]
    )
    assert words("") == []
    assert words("the boys' boat") == ["the", "boys", "'", "boat"]


# a text, and what it has between its blanks; a mark is a character of its own after its letter
SCRIPTS = {
    "İstanbul": ["i̇stanbul"],
    "मैं हिन्दी सीख रहा हूँ": ["मैं", "हिन्दी", "सीख", "रहा", "हूँ"],
    "நான் தமிழ் கற்கிறேன்": ["நான்", "தமிழ்", "கற்கிறேன்"],
    "مَرْحَبًا, שָׁלוֹם": ["مَرْحَبًا", ",", "שָׁלוֹם"],
    "cafe\u0301 de\u0301ja\u0300": ["caf\u00e9", "d\u00e9j\u00e0"],
    "\ufeffsoft\u00adhyphen a\u200bb": ["softhyphen", "a", "b"],
    "❤\ufe0f 'tis": ["❤\ufe0f", "'", "tis"],
}


@pytest.mark.parametrize("text", SCRIPTS)
def test_marks_belong_to_words(text):
    assert words(text) == SCRIPTS[text]


def test_every_mark_stays_in_its_word():
    marks = [chr(c) for c in range(sys.maxunicode) if unicodedata.category(chr(c)).startswith("M")]
    assert len(marks) > 2000
    assert [mark for mark in marks if len(words(f"ab{mark}cd")) != 1] == []


def test_unknown_characters_are_named():
    with pytest.warns(UserWarning, match="'é', 'x'"):
        CharTokenizer.train("abc").encode("aéxb")


def test_words_lose_no_visible_character(stories):
    assert "".join(words(stories)) == "".join(stories.lower().split())


def test_characters_round_trip(stories):
    tokenizer = CharTokenizer.train(stories)
    assert tokenizer.decode(tokenizer.encode(stories)) == stories
    with pytest.warns(UserWarning, match="'é'"):
        assert tokenizer.decode(tokenizer.encode("é")) == "<unk>"


def test_word_tokenizer_gives_words_back(stories):
    tokenizer = WordTokenizer.train(stories)
    assert tokenizer.decode(tokenizer.encode("The boats come home.")) == "the boats come home ."
    assert tokenizer.decode(tokenizer.encode("The zeppelins come home.")) == "the <unk> come home ."
    assert tokenizer.decode([text.SPECIALS.index("<sos>"), tokenizer.vocabulary["sea"], 3, 0]) == "sea"


AWKWARD = [
    *("", " ", "\n", "\r\n\t  x", "a  b   c", " lead", "trail  ", "_", "a_b __"),
    *("🙂", "👩‍👩‍👧", "e\u0301 é", "\u200d", "שלום 世界 नमस्ते", "\x00\x7f\x85\u2028", "\U0010ffff", "\ufffd"),
    *("don't", "“x”", "3.14%", "\u00a0\u202f!", "\ud800"),
]


@pytest.mark.parametrize("string", AWKWARD)
def test_byte_pairs_encode_any_string(byte_pairs, string):
    assert byte_pairs.decode(byte_pairs.encode(string)) == string


def test_byte_pairs_encode_random_strings(byte_pairs):
    rng = random.Random(0)
    ranges = [(0, 0x80), (0x80, 0x800), (0x300, 0x370), (0x800, 0x10000), (0x10000, 0x110000)]
    for _ in range(500):
        string = "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randrange(30)))
        assert byte_pairs.decode(byte_pairs.encode(string)) == string


def plain_byte_pairs(string: str, merges: int) -> list[tuple[bytes, bytes]]:
    """The definition, word for word and slowly: count all pairs, merge the most frequent, again."""
    pieces = [[bytes([b]) for b in piece.encode()] for piece in text.PIECE.findall(string)]
    order = {bytes([b]): b for b in range(256)}
    learned = []
    for _ in range(merges):
        counts = Counter(pair for piece in pieces for pair in pairwise(piece))
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], order[pair[0]], order[pair[1]]))
        learned.append(best)
        order.setdefault(best[0] + best[1], 256 + len(learned))
        for piece in pieces:
            i = 0
            while i < len(piece) - 1:
                if (piece[i], piece[i + 1]) == best:
                    piece[i : i + 2] = [best[0] + best[1]]
                i += 1
    return learned


@pytest.mark.parametrize(
    "string", ["aaaa aaa aa a", "the cat sat on the mat, the cat sat", "mississippi 🙂🙂🙂 mississippi"]
)
def test_byte_pairs_learn_what_the_definition_says(string):
    tokenizer = BytePairTokenizer.train(string, merges=40)
    learned = [(tokenizer.pieces[a], tokenizer.pieces[b]) for a, b in tokenizer.merges]
    assert learned == plain_byte_pairs(string, 40)


def test_byte_pairs_learn_what_the_definition_says_on_real_text(stories):
    part = stories[:6000]
    tokenizer = BytePairTokenizer.train(part, merges=60)
    assert [(tokenizer.pieces[a], tokenizer.pieces[b]) for a, b in tokenizer.merges] == plain_byte_pairs(part, 60)


def test_more_merges_make_shorter_sequences_and_the_first_merges_are_the_same(stories):
    few, many = BytePairTokenizer.train(stories, 50), BytePairTokenizer.train(stories, 200)
    assert many.merges[:50] == few.merges
    assert len(many.encode(stories)) < len(few.encode(stories)) < len(stories)
    assert len(many) == 5 + 256 + 200


def test_byte_pairs_stop_when_no_pair_occurs_twice():
    assert BytePairTokenizer.train("abcdefg", merges=10).merges == []


def test_byte_pairs_show_their_pieces(byte_pairs, stories):
    assert "".join(byte_pairs.split(stories)) == stories
    assert byte_pairs.split("é") == ["<C3>", "<A9>"]
    assert byte_pairs.decode(byte_pairs.encode("é")[:1]) == "\ufffd"
    assert byte_pairs.decode([2, *byte_pairs.encode("sea"), 3, 0]) == "sea"


def test_the_merge_step_goes_from_left_to_right():
    assert text.merge([1, 1, 1, 2], (1, 1), 9) == [9, 1, 2]
    assert text.merge([], (1, 1), 9) == []


def test_importing_text_and_data_needs_no_torch():
    code = "import sys, lmbook, lmbook.text, lmbook.data, lmbook.metrics; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
