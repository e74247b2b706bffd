"""Translation by length: a score is of its length, both translators are alike."""

import pytest

from lmbook import metrics
from lmbook.lab.recipes import translation_by_length
from lmbook.lab.recipes.translation import by_length
from lmbook.lab.recipes.translation_by_length import CAPTIONS, EDGES, TRANSLATORS, translator, with_counts, words


def test_bleu_by_words_is_that_of_the_sentences_of_that_length():
    references = [" ".join(f"w{i}" for i in range(n)) for n in (4, 5, 6, 10, 58)]
    outputs = [*references[:4], "w0 w1"]
    rows = by_length(outputs, references, [len(text.split()) for text in references], EDGES, with_counts)
    assert [(row["from"], row["to"], row["pairs"], row["exact"]) for row in rows] == [
        (1, 5, 2, 1.0), (6, 10, 2, 1.0), (56, 60, 1, 0.0),
    ]  # fmt: skip
    assert rows[0]["bleu"] == pytest.approx(100)
    assert rows[2]["bleu"] == pytest.approx(metrics.bleu(outputs[4:], references[4:], str.split))
    counts = sum(row["counts"][0] for row in rows)
    assert metrics.bleu_from_counts(counts) == pytest.approx(metrics.bleu(outputs, references, str.split))


def test_bins_end_at_the_longest_sources_of_training():
    assert {limit + 1 for limit in translation_by_length.LIMITS} <= set(EDGES), (
        "a bin is all within training or all past it"
    )


def test_both_translators_have_the_same_encoder_and_nearly_as_many_parameters():
    models = {name: translator((100, 120), CAPTIONS, options) for name, options in TRANSLATORS.items()}
    shapes = [{n: p.shape for n, p in model.encoder.named_parameters()} for model in models.values()]
    assert shapes[0] == shapes[1]
    sizes = [sum(p.numel() for p in model.parameters()) for model in models.values()]
    assert max(sizes) / min(sizes) < 1.3


def test_words_leave_out_the_full_stop_that_stands_apart():
    assert words("the dog runs .") == 3
    assert words("the dog runs") == 3
