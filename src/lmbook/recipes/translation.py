"""German to English on Multi30k: one ladder of models, one set of byte pairs, one test set, one BLEU.

All rungs read the same ids: byte-pair encoding with 4,000 types learned on both sides of the training part. The scores
are sacreBLEU's on the 1,000 pairs of test 2016, cased, greedy and with a beam of 5 (length-normalised, alpha = 1);
lower-cased beside it, as many tutorials report. A record keeps the counts of every sentence, so that two rungs can be
compared by a paired bootstrap without either's output.
"""

import functools

import torch
from torch import Tensor, nn

from lmbook import data, metrics
from lmbook.batching import SOS_ID, pad
from lmbook.decode import beam, greedy
from lmbook.evaluation import evaluate, token_nll
from lmbook.recipes.core import Run, recipe
from lmbook.schedules import warmup_cosine
from lmbook.text import BytePairTokenizer
from lmbook.transformer import Transformer

TYPES, MERGES = 4000, 4000 - BytePairTokenizer.FIRST_MERGE
MAX_LENGTH = 80  # the longest reference of the test part has 46 tokens


@functools.cache
def byte_pairs(text: str) -> BytePairTokenizer:
    return BytePairTokenizer.train(text, MERGES)


def prepare(run: Run) -> tuple[BytePairTokenizer, dict[str, list], dict[str, list]]:
    """The tokenizer, and of each part the pairs as ids and as text, (German, English)."""
    corpus = run.corpus("multi30k", languages=("de", "en"))
    texts = {part: run.cut(corpus[part]) for part in ("train", "valid", "test")}
    bpe = byte_pairs("\n".join(side for pair in texts["train"] for side in pair))
    ids = {part: [(bpe.encode(de), bpe.encode(en)) for de, en in pairs] for part, pairs in texts.items()}
    return bpe, ids, texts


def loss(model: nn.Module, batch: data.Batch, smoothing: float = 0.0) -> tuple[Tensor, Tensor]:
    """Summed NLL of the targets, and their number."""
    source, inputs, targets = batch[:3]
    return token_nll(model(source, inputs), targets, smoothing=smoothing)


def tensors(batches):
    """The batches of `data.batches` as tensors."""
    for batch in batches:
        yield data.Batch(*map(torch.from_numpy, batch))


def translate(model: nn.Module, bpe: BytePairTokenizer, sources: list[list[int]], width: int = 1) -> list[str]:
    """Translations of encoded sources, in their order; width 1 is greedy, else the width of the beam."""
    where = next(model.parameters()).device
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    written: list[str] = [""] * len(sources)
    for start in range(0, len(order), 50):
        rows = order[start : start + 50]
        source = torch.from_numpy(pad([sources[i] for i in rows])).to(where)
        if width == 1:
            found, _ = greedy(model, source, MAX_LENGTH, forbid=(SOS_ID,))
        else:
            found, _ = beam(model, source, MAX_LENGTH, width=width, alpha=1.0, forbid=(SOS_ID,))
        for i, ids in zip(rows, found, strict=True):
            written[i] = bpe.decode(ids)
    return written


def score(model: nn.Module, bpe: BytePairTokenizer, ids: dict, texts: dict) -> dict:
    """Perplexity a token, BLEU greedy and with a beam of 5, and what of each sentence a later comparison needs."""
    references = [english for _, english in texts["test"]]
    sources = [source for source, _ in ids["test"]]
    nll = evaluate(model, tensors(data.batches(ids["test"], 100)), loss)
    scores = {"nll": nll, "perplexity": metrics.perplexity(nll)}
    for name, width in (("greedy", 1), ("beam 5", 5)):
        written = translate(model, bpe, sources, width)
        scores[name], scores["signature"] = metrics.sacrebleu_score(written, references)
        scores[f"{name} lower-cased"], _ = metrics.sacrebleu_score(written, references, lowercase=True)
        scores[f"{name} counts"] = [
            [int(n) for n in metrics.bleu_counts(metrics.tokenize_13a(ours), metrics.tokenize_13a(theirs))]
            for ours, theirs in zip(written, references, strict=True)
        ]
    return scores


@recipe(
    "multi30k-transformer",
    about="German-English with a Transformer of 1.8M parameters: 4 + 4 layers of width 128, one shared embedding",
    minutes=100,
    corpora=("multi30k",),
    ships=True,
    seeds=(0,),
    score="beam 5",
)
def multi30k_transformer(run: Run) -> tuple[dict, nn.Module]:
    """The small, strongly regularised setting of Wu et al. 2021, with a cosine in place of their inverse root."""
    bpe, ids, texts = prepare(run)
    model = Transformer(
        len(bpe), len(bpe), d_model=128, n_heads=4, d_ff=256, n_layers=4, dropout=0.3, tied="all", fast=True
    ).to(run.device)
    total = 5500
    run.fit(
        model,
        lambda epoch: tensors(data.batches(ids["train"], 4096, seed=[run.seed, epoch], tokens=True)),
        functools.partial(loss, smoothing=0.1),
        torch.optim.Adam(model.parameters(), lr=4e-3, betas=(0.9, 0.98), eps=1e-9),
        steps=total,
        schedule=lambda step: warmup_cosine(step, warmup=600, total=total),
        clip=1.0,
        validate=lambda model: evaluate(model, tensors(data.batches(ids["valid"], 100)), loss),
        evaluate_every=500,
        save_every=250,
    )
    return score(model, bpe, ids, texts), model
