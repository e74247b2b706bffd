"""Harbourish to English with attention on both sides of the question: does the encoder need recurrence?

The captions and words of `harbourish`. One decoder for all: a GRU that looks back by scaled attention, scored after its
update. Its encoder differs: a bidirectional GRU, or two layers of self-attention, told the positions or not.
"""

from torch import nn

from lmbook import data, metrics
from lmbook.experiments.harbourish_translation import MOST, pairs, word_ids
from lmbook.experiments.multi30k import encoder_decoder, loss, translate
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.seq2seq_tasks import bleu_of, encode, learn
from lmbook.seq2seq import AttentionSeq2Seq, TransformerEncoder
from lmbook.train import evaluate

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


def counts(outputs: list[str], references: list[str]) -> list[str]:
    """`metrics.bleu_counts` of every caption, as ten numbers in a text: for the paired bootstrap, in little space."""
    tokens = ([metrics.tokenize_13a(text) for text in texts] for texts in (outputs, references))
    return [" ".join(str(int(n)) for n in metrics.bleu_counts(*pair)) for pair in zip(*tokens, strict=True)]


@recipe(
    "caption-hybrid",
    about="generated captions, Harbourish to English: attention over a recurrent encoder and over self-attention",
    minutes=3,
    score="bleu",
)
def caption_hybrid(run: Run) -> tuple[dict, nn.Module]:
    """The same pairs, batches, steps and rate for all three."""
    parts, words = pairs(*(300, 60) if run.quick else (31_000, 1000)), word_ids()
    ids = {part: encode(words, rows) for part, rows in parts.items()}
    sources, references = [source for source, _ in ids["test"]], [target for _, target in parts["test"]]
    scores: dict = {"training pairs": len(parts["train"])}
    for name in ENCODERS:
        model = translator(name, len(words.vocabulary)).to(run.device)
        learn(run, model, ids["train"], ids["valid"], STEPS, 64, RATE, name, every=250)
        outputs = translate(model, words, sources, 1, MOST)
        nll = evaluate(model, data.batches(ids["test"], 100), loss)
        scores[name] = {"perplexity": metrics.perplexity(nll)} | bleu_of(outputs, parts["test"], [3, 5, 7, 9])
        scores[name]["exact"] = sum(map(str.__eq__, outputs, references)) / len(references)
        same = [
            sorted(ours.split()) == sorted(theirs.split()) for ours, theirs in zip(outputs, references, strict=True)
        ]
        scores[name]["right words"] = sum(same) / len(same)
        scores[name]["counts"] = counts(outputs[:500], references[:500])
        scores[name]["examples"] = [[*pair, ours] for pair, ours in zip(parts["test"][:8], outputs, strict=False)]
    return {"bleu": scores["with positions"]["bleu"]} | scores, model
