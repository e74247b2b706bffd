"""The recipe of the hybrid: one decoder for three encoders, and counts that a paired bootstrap can use."""

import torch

from lmbook import metrics
from lmbook.lab.recipes import hybrid_encoder, records


def test_the_decoders_are_of_one_kind_and_size():
    models = [hybrid_encoder.translator(name, 50) for name in hybrid_encoder.ENCODERS]
    for part in ("decoder", "embedding", "output"):
        shapes = {tuple(p.shape for p in getattr(model, part).parameters()) for model in models}
        assert len(shapes) == 1
    total = [sum(p.numel() for p in model.parameters()) for model in models]
    assert max(total) < 1.1 * min(total)


def test_without_positions_the_order_of_the_source_is_lost_and_only_there():
    source, start = torch.tensor([[7, 8, 9, 10], [9, 7, 10, 8]]), torch.full((2, 1), 2)
    for name in hybrid_encoder.ENCODERS:
        with torch.no_grad():
            logits = hybrid_encoder.translator(name, 50)(source, start)
        assert torch.allclose(logits[0], logits[1], atol=1e-5) == (name == "without positions")


def test_recorded_scores_agree_with_their_counts():
    for run in records("caption-hybrid"):
        for name in hybrid_encoder.ENCODERS:
            rows = run["scores"][name]["counts"]
            assert rows.shape == (500, 10)
            assert abs(metrics.bleu_from_counts(rows.sum(axis=0)) - run["scores"][name]["bleu"]) < 5
            assert run["scores"][name]["exact"] <= run["scores"][name]["right words"]
