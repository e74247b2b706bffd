"""What is measured of BERT as a reader of opinions without training it."""

import numpy as np

from lmbook.lab.recipes import bert_finetuning
from lmbook.lab.word_shapes import WordForms


def test_the_tokens_are_the_words_that_the_forms_hold_and_classes_of_the_others():
    forms = WordForms(["a", "good", "film"], ["<xx-lm>", "<xx-y>", "<xx->"])
    assert bert_finetuning.tokens_of(forms)("a good silly film") == ["a", "good", "<xx-y>", "film"]


def test_counts_lose_what_two_words_that_read_alike_told_apart():
    texts = {"train": ["silly", "jolly"] * 20, "test": ["jolly", "silly"] * 5}
    gold = {"train": np.array([0, 1] * 20), "test": np.array([1, 0] * 5)}
    forms = WordForms(["film"], ["<xx-y>"])
    assert bert_finetuning.counted(str.split, texts, gold)["accuracy"] == 1.0
    assert bert_finetuning.counted(bert_finetuning.tokens_of(forms), texts, gold)["accuracy"] == 0.5


def test_a_probe_reads_what_a_line_can_separate_and_nothing_from_noise():
    rng = np.random.default_rng(0)
    gold = {part: rng.integers(2, size=n) for part, n in (("train", 400), ("valid", 100), ("test", 400))}
    noise = {part: rng.normal(size=(len(labels), 5)) for part, labels in gold.items()}
    told = {part: noise[part] + 4 * labels[:, None] for part, labels in gold.items()}
    assert bert_finetuning.probed(told, gold, (0.1, 1.0))["accuracy"] > 0.98
    found = bert_finetuning.probed(noise, gold, (0.1, 1.0))
    assert abs(found["accuracy"] - 0.5) < 0.1
    assert len(found["right"]) == 400
