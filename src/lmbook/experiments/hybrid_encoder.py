"""Harbourish to English with attention on both sides of the question: does the encoder need recurrence?

The captions and words of `harbourish`. One decoder for all: a GRU that looks back by scaled attention, scored after its
update. Its encoder differs: a bidirectional GRU, or two layers of self-attention, told the positions or not.
"""

import numpy as np
from torch import nn

from lmbook import metrics
from lmbook.experiments.harbourish_translation import EDGES, MOST, captions
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.translation import as_texts, counts, encoder_decoder, learn, scored
from lmbook.seq2seq import AttentionSeq2Seq, TransformerEncoder

D, STEPS, RATE = 64, 1000, 4e-3  # one width for embeddings, self-attention and the decoder's state
ENCODERS: dict[str, str | None] = {  # positions of a Transformer encoder; None is the recurrent one
    "recurrent encoder": None,
    "with positions": "sinusoidal",
    "without positions": "none",
}


def translator(name: str, types: int) -> AttentionSeq2Seq:
    """One of ENCODERS with its decoder, untrained; embeddings of the recurrent parts from N(0, 1)."""
    positions = ENCODERS[name]
    encoder = positions and TransformerEncoder(types, D, n_heads=4, d_ff=2 * D, n_layers=2, positions=positions)
    model = encoder_decoder((types, types), D, D, encoder, bidirectional=True, attention="luong", score="scaled")
    nn.init.normal_(model.embedding.weight)
    if positions is None:
        nn.init.normal_(model.encoder.embedding.weight)
    return model


@recipe(
    "caption-hybrid",
    about="generated captions, Harbourish to English: attention over a recurrent encoder and over self-attention",
    minutes=3,
    score="bleu",
)
def caption_hybrid(run: Run) -> tuple[dict, nn.Module]:
    """The same pairs, batches, steps and rate for all three."""
    task = captions(run.quick)
    batches, test = task.batches(run.seed, 64), task.pairs["test"]
    references = [english for _, english in test]
    scores: dict = {"training pairs": len(task.pairs["train"])}
    for name in ENCODERS:
        model = translator(name, task.types[0])
        learn(run, model, batches, STEPS, RATE, name, validate=task.nll, evaluate_every=250)
        scores[name], outputs = scored(model, task, EDGES, MOST)
        both = zip(outputs, references, strict=True)
        scores[name] |= {
            "right words": float(np.mean([sorted(ours.split()) == sorted(theirs.split()) for ours, theirs in both])),
            "counts": as_texts(counts(outputs[:500], references[:500], metrics.tokenize_13a)),
            "examples": [[*pair, ours] for pair, ours in zip(test[:8], outputs, strict=False)],
        }
    return {"bleu": scores["with positions"]["bleu"]} | scores, model
