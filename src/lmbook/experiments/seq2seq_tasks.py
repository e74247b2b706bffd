"""Tasks made by a rule and learned to the end: sums, dates, and sequences backwards.

Nothing is downloaded. Each recipe trains an encoder-decoder on pairs of the rule and writes the targets of held-out
sources token by token (greedy). A record keeps the scores apart by what makes a source hard, and the first wrong
answers, so that a chapter can show both without training.
"""

import datetime

import torch
from torch import nn

from lmbook import data, metrics
from lmbook.data import synthetic
from lmbook.experiments.multi30k import encoder_decoder, loss, translate
from lmbook.experiments.run import Run, recipe
from lmbook.schedules import warmup_cosine
from lmbook.seq2seq import AttentionSeq2Seq, Seq2Seq
from lmbook.text import CharTokenizer, Vocabulary, WordTokenizer
from lmbook.train import evaluate

SUMS = CharTokenizer(Vocabulary(list("0123456789+")))
DATES = CharTokenizer.train(
    "0123456789 ,./-stndrdthof" + (letters := "".join(synthetic.MONTHS + synthetic.DAYS)) + letters.lower()
)
NUMBERS = [str(number) for number in range(50)]
REVERSALS = WordTokenizer(Vocabulary(NUMBERS))


def encode(tokenizer, pairs: list[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
    """Both sides of every pair as ids."""
    return [(tokenizer.encode(source), tokenizer.encode(target)) for source, target in pairs]


def apart(pairs: list[tuple[str, str]], *others: list[tuple[str, str]], key=str) -> list[tuple[str, str]]:
    """The pairs whose source does not occur in the others; key: what makes two sources the same."""
    seen = {key(source) for other in others for source, _ in other}
    return [pair for pair in pairs if key(pair[0]) not in seen]


def learn(
    run: Run,
    model: nn.Module,
    train: list,
    valid: list,
    steps: int,
    size: int,
    rate: float,
    part: str = "model",
    warmup: int = 100,
    every: int | None = None,
    **adam,
) -> nn.Module:
    """Trains on pairs of ids, in batches of `size` rows, with Adam; the rate rises for `warmup` steps, then falls to 0.

    every: steps between two validations, by default a tenth of all.
    """
    run.fit(
        model,
        lambda epoch: data.batches(train, size, seed=[run.seed, epoch]),
        loss,
        torch.optim.Adam(model.parameters(), lr=rate, **adam),
        steps=steps,
        schedule=lambda step: warmup_cosine(step, warmup=warmup, total=steps),
        clip=1.0,
        validate=lambda model: evaluate(model, data.batches(valid, 250), loss),
        evaluate_every=every or max(1, steps // 10),
        part=part,
    )
    return model


def written(model: nn.Module, tokenizer, pairs: list[tuple[str, str]]) -> list[str]:
    """What the model writes for the sources of the pairs, greedy."""
    return translate(model, tokenizer, [tokenizer.encode(source) for source, _ in pairs])


def answers(outputs: list[str], pairs: list[tuple[str, str]], kind) -> dict:
    """Share of targets that are written without a mistake: of all, and apart by kind(source, target); 20 mistakes."""
    right = [output == target for output, (_, target) in zip(outputs, pairs, strict=True)]
    kinds: dict[str, list[bool]] = {}
    for hit, pair in zip(right, pairs, strict=True):
        kinds.setdefault(kind(*pair), []).append(hit)
    wrong = [[*pair, output] for hit, output, pair in zip(right, outputs, pairs, strict=True) if not hit]
    return {
        "exact": sum(right) / len(right),
        "pairs": len(right),
        "apart": {name: [sum(hits) / len(hits), len(hits)] for name, hits in sorted(kinds.items())},
        "wrong": wrong[:20],
    }


def spread(model: Seq2Seq | AttentionSeq2Seq) -> Seq2Seq | AttentionSeq2Seq:
    """The model with embeddings drawn from N(0, 1), as torch draws them: they start so small that, with few symbols,
    the gates hardly see them at first."""
    for embedding in (model.encoder.embedding, model.embedding):
        nn.init.normal_(embedding.weight)
    return model


def calculator() -> Seq2Seq:
    """The encoder-decoder that adds, untrained."""
    types = len(SUMS.vocabulary)
    return spread(encoder_decoder((types, types), 32, 128, cell="lstm", context="every"))


def either_way(source: str) -> frozenset[str]:
    """What "12+7" and "7+12" have in common."""
    return frozenset(source.split("+"))


def digits(source: str, target: str) -> str:
    """How many digits the two numbers have, the longer first: "3+1"."""
    return "+".join(map(str, sorted(map(len, source.split("+")), reverse=True)))


def backwards(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs with their sources read from the last character to the first."""
    return [(source[::-1], target) for source, target in pairs]


@recipe(
    "addition",
    about="sums of two numbers below 1,000, character by character, through one vector",
    minutes=5,
    ships=True,
    score="exact",
)
def addition(run: Run) -> tuple[dict, nn.Module]:
    """No attention. The source is read backwards, units first (as Sutskever et al. 2014, section 3.3, do); nothing is
    padded, the sum is written forwards. Where a+b is in the test, b+a is not trained on either."""
    number, tested = (400, 200) if run.quick else (160_000, 4000)
    pairs = data.held_out(data.addition(number, even=False), 100, tested)
    train = apart(pairs["train"], pairs["valid"], pairs["test"], key=either_way)
    model, run.text = calculator().to(run.device), SUMS
    ids = [encode(SUMS, backwards(part)) for part in (train, pairs["valid"])]
    learn(run, model, *ids, steps=7000, size=128, rate=5e-3)
    scores = answers(written(model, SUMS, backwards(pairs["test"])), pairs["test"], digits)
    return scores | {"training pairs": len(train)}, model


def date_form(source: str, target: str) -> str:
    """The form a date is written in, shown with another day: "3 March 2021"."""
    day = datetime.date.fromisoformat(target)
    form = next(form for form in synthetic.DATE_FORMATS if form(day) == source)
    return form(datetime.date(2021, 3, 3))


@recipe(
    "dates",
    about="dates as people write them to the form of ISO 8601, character by character, through one vector",
    minutes=4,
    score="exact",
)
def dates(run: Run) -> tuple[dict, nn.Module]:
    """Each day occurs once, so no day of the test was seen in training in any form."""
    pairs = data.held_out(data.dates(400 if run.quick else 30_000), 100, 200 if run.quick else 4000)
    types = len(DATES.vocabulary)
    model = spread(encoder_decoder((types, types), 32, 128, bidirectional=True))
    learn(run, model.to(run.device), encode(DATES, pairs["train"]), encode(DATES, pairs["valid"]), 6000, 64, rate=3e-3)
    return answers(written(model, DATES, pairs["test"]), pairs["test"], date_form), model


READERS = {  # both with the same encoder
    "fixed vector": {"context": "every"},
    "attention": {"attention": "luong", "score": "multiplicative"},
}


def bleu_of(outputs: list[str], pairs: list[tuple[str, str]], edges: list[int]) -> dict:
    """BLEU of all, and for lengths between the edges also accuracy: what was written without a mistake."""
    references, lengths = [target for _, target in pairs], [len(source.split()) for source, _ in pairs]
    bleu, signature = metrics.sacrebleu_score(outputs, references)
    groups = metrics.by_length(
        lengths,
        edges,
        lambda rows: metrics.sacrebleu_score([outputs[i] for i in rows], [references[i] for i in rows])[0],
    )
    whole = metrics.by_length(lengths, edges, lambda rows: sum(outputs[i] == references[i] for i in rows) / len(rows))
    return {
        "bleu": bleu,
        "signature": signature,
        "by length": [
            {"from": low, "to": high - 1, "pairs": n, "bleu": score, "exact": share[3]}
            for (low, high, n, score), share in zip(groups, whole, strict=True)
            if n
        ],
    }


@recipe(
    "reversal",
    about="sequences of up to 25 of 50 numbers backwards, tested up to 30, with attention and through one vector",
    minutes=4,
    score="bleu",
)
def reversal(run: Run) -> tuple[dict, nn.Module]:
    """Sizes of the data and lengths as in JoeyNMT's reverse task (scripts/generate_reverse_task.py): 50,000 pairs of
    lengths 1 to 25 for training, 1,000 of lengths 1 to 30 for test; here no source of the test is trained on."""
    few = run.quick
    test = data.reversal(60 if few else 1000, seed=1, max_length=30, symbols=NUMBERS)
    rest = data.reversal(200 if few else 51_000, seed=0, max_length=25, symbols=NUMBERS)
    train, valid = rest[:-100], rest[-100:]
    train = apart(train, valid, test)
    scores = {}
    for name, options in READERS.items():
        model = spread(encoder_decoder((55, 55), 32, 64, bidirectional=True, **options))
        learn(run, model.to(run.device), encode(REVERSALS, train), encode(REVERSALS, valid), 1200, 64, 3e-3, name)
        outputs = written(model, REVERSALS, test)
        scores[name] = bleu_of(outputs, test, [1, 6, 11, 16, 21, 26, 31])
        scores[name]["past training"] = scores[name]["by length"][-1]["bleu"]
    return {"bleu": scores["attention"]["bleu"], "training pairs": len(train), **scores}, model
