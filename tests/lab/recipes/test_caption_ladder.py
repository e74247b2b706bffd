"""The ladder: rungs of one size on one set of captions."""

from lmbook.lab import flops
from lmbook.lab.recipes import caption_ladder


def test_every_word_has_an_id_and_nothing_of_the_test_is_trained_on():
    reader, writer, parts = caption_ladder.captions(quick=True)
    for part, pairs in parts.items():
        for source, target in pairs:
            assert 1 not in reader.encode(source) + writer.encode(target)
            longest = caption_ladder.FAR if part == "far" else caption_ladder.WORDS
            assert longest[0] <= len(target.split()) - 1 <= longest[1]
    trained = {source for source, _ in parts["train"]}
    for part in ("valid", "test", "far"):
        assert not trained & {source for source, _ in parts[part]}


def test_the_rungs_are_about_as_large_and_cost_about_as_much():
    reader, writer, _ = caption_ladder.captions(quick=True)
    types = len(reader.vocabulary), len(writer.vocabulary)
    models = [caption_ladder.rung(name, types) for name in caption_ladder.RUNGS]
    sizes = [sum(weight.numel() for weight in model.parameters()) for model in models]
    work = [flops.training(model, 1, 14, 14) for model in models]
    assert max(sizes) / min(sizes) < 1.35
    assert max(work) / min(work) < 1.35
