"""Harbourish to English with attention on both sides of the question: does the encoder need recurrence?

The captions and words of `harbourish`. One decoder for all: a GRU that looks back by scaled attention, scored after its
update. Its encoder differs: a bidirectional GRU, or two layers of self-attention, told the positions or not.
"""

from functools import partial

import numpy as np
from torch import nn

from lmbook import metrics
from lmbook.lab.recipes.harbourish_translation import EDGES, MOST, captions
from lmbook.lab.recipes.translation import counts, encoder_decoder, race, scored
from lmbook.lab.run import Run, recipe
from lmbook.seq2seq import AttentionSeq2Seq
from lmbook.transformer import TransformerEncoder

D, BUDGETS, TRIAL = 64, (1000, 2000), (500,)  # one width for embeddings, self-attention and the decoder's state; steps
ENCODERS: dict[str, str | None] = {  # positions of a Transformer encoder; None is the recurrent one
    "recurrent encoder": None,
    "with positions": "sinusoidal",
    "without positions": "none",
}


def translator(name: str, types: int) -> AttentionSeq2Seq:
    """One of ENCODERS with its decoder, untrained."""
    positions = ENCODERS[name]
    encoder = positions and TransformerEncoder(types, D, n_heads=4, d_ff=2 * D, n_layers=2, positions=positions)
    return encoder_decoder((types, types), D, D, encoder, bidirectional=True, attention="luong", score="scaled")


@recipe(
    "caption-hybrid",
    about="generated captions, Harbourish to English: attention over a recurrent encoder and over self-attention",
    minutes=3,
    score="bleu",
)
def caption_hybrid(run: Run) -> tuple[dict, nn.Module]:
    """The same pairs, batches and budgets for all; scores without a number of steps are those after the longest."""
    task = captions(run.quick)
    batches, test = task.batches(run.seed, 64), task.pairs["test"]
    references = [english for _, english in test]
    scores: dict = {"training pairs": len(task.pairs["train"])}
    for name in ENCODERS:
        scores[name] = {}
        for steps, model in race(run, partial(translator, name, task.types[0]), task, batches, BUDGETS, TRIAL, name):
            found, outputs = scored(model, task, EDGES, 5 if run.quick else MOST)
            both = zip(outputs, references, strict=True)
            found["right words"] = float(np.mean([sorted(a.split()) == sorted(b.split()) for a, b in both]))
            told = ("bleu", "perplexity", "exact", "right words")
            scores[name] |= {f"{key}, {steps} steps": found[key] for key in told}
        scores[name] |= found | {
            "counts": counts(outputs[:500], references[:500], metrics.tokenize_13a),
            "examples": [[*pair, ours] for pair, ours in zip(test[:8], outputs, strict=False)],
        }
    return {"bleu": scores["with positions"]["bleu"]} | scores, model
