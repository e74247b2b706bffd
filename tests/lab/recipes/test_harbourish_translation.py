"""The recipe on Harbourish: words have ids, nothing of the test is trained on, and a beam's row says what it did."""

from lmbook.lab.recipes import harbourish_translation, translation


def test_every_word_has_an_id_and_sentences_come_back():
    words = harbourish_translation.word_ids()
    for pair in harbourish_translation.pairs(2000, 100)["train"]:
        for text in pair:
            ids = words.encode(text)
            assert 1 not in ids, f"<unk> in {text!r}"
            assert words.decode(ids) == text
            assert text.endswith(".")
            assert " ." not in text


def test_no_source_of_the_test_is_trained_on():
    parts = harbourish_translation.pairs(2000, 200)
    seen = {source for source, _ in parts["train"]}
    assert not seen & {source for source, _ in parts["test"]}


def test_beams_count_the_words_of_each_setting(monkeypatch):
    written = {(1, 0.0): "a b c", (2, 0.0): "a b", (1, 1.0): "a b c", (2, 1.0): "a b c d"}

    def translate(model, sources, reader, writer, width, max_length, alpha):
        return [written[width, alpha]] * len(sources)

    monkeypatch.setattr(translation, "translate", translate)
    task = translation.Task({"test": [("x", "a b c d")] * 12}, translation.Tokens.build(["x a b c d"]))
    found = translation.beams(None, task, (1, 2), 9)
    assert [(row["width"], row["alpha"], row["words"]) for row in found["beams"]] == [
        (1, 0.0, 3.0),
        (2, 0.0, 2.0),
        (1, 1.0, 3.0),
        (2, 1.0, 4.0),
    ]
    assert found["beams"][3]["bleu"] > 99 > found["beams"][1]["bleu"]
    assert found["words of the references"] == 4
