"""The ladder: rungs of one size on one set of captions."""

from lmbook.lab import flops
from lmbook.lab.recipes import caption_ladder

READER, WRITER, PARTS = caption_ladder.captions(quick=True)
TYPES = len(READER.vocabulary), len(WRITER.vocabulary)


def test_every_word_has_an_id_and_nothing_of_the_test_is_trained_on():
    for part, pairs in PARTS.items():
        for source, target in pairs:
            assert 1 not in READER.encode(source) + WRITER.encode(target)
            longest = caption_ladder.FAR if part == "far" else caption_ladder.WORDS
            assert longest[0] <= len(target.split()) - 1 <= longest[1]
    trained = {source for source, _ in PARTS["train"]}
    for part in ("valid", "test", "far"):
        assert not trained & {source for source, _ in PARTS[part]}


def test_the_rungs_are_about_as_large_and_cost_about_as_much():
    models = [caption_ladder.rung(name, TYPES) for name in caption_ladder.RUNGS]
    sizes = [sum(weight.numel() for weight in model.parameters()) for model in models]
    work = [flops.training(model, 1, 14, 14) for model in models]
    assert max(sizes) / min(sizes) < 1.35
    assert max(work) / min(work) < 1.35
