"""German to English on Multi30k: one ladder of models, one set of byte pairs, one test set, one BLEU.

All rungs read the same ids: byte-pair encoding with 4,000 types learned on both sides of the training set. The scores
are sacreBLEU's on the 1,000 pairs of test 2016, cased, greedy and with a beam of 5 (length-normalised, alpha = 1);
lower-cased beside it, as many tutorials report. A record keeps the counts of every sentence, so that two rungs can be
compared by a paired bootstrap without either's output.

One rule of dropout for all: 0.3 of the embeddings, between layers and after sublayers, none of the weights of
attention (`Rung.model`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial

from torch import nn

from lmbook import metrics
from lmbook.attention import SCORES, MultiHeadAttention
from lmbook.lab.recipes.translation import Task, counts, encoder_decoder, learn
from lmbook.lab.run import Run, recipe
from lmbook.seq2seq import SingleRNNTranslator
from lmbook.text import BytePairTokenizer
from lmbook.transformer import Transformer, TransformerEncoder

TYPES, MERGES = 4000, 4000 - BytePairTokenizer.FIRST_MERGE


@cache
def byte_pairs(text: str) -> BytePairTokenizer:
    return BytePairTokenizer.train(text, MERGES)


def prepare(run: Run) -> Task:
    """German to English, as byte pairs of the training set."""
    corpus = run.corpus("multi30k", languages=("de", "en"))
    pairs = {part: run.cut(corpus[part]) for part in ("train", "valid", "test")}
    run.text = byte_pairs("\n".join(side for pair in pairs["train"] for side in pair))
    return Task(pairs, run.text)


@dataclass(frozen=True)
class Rung:
    """build(types, dropout) makes the model.  rate: the highest, after `warmup` steps.  tokens: of a batch, padded.

    every: steps from one validation to the next.
    """

    about: str
    build: Callable[..., nn.Module]
    minutes: int = 35
    rate: float = 3e-3
    steps: int = 3500
    warmup: int = 300
    tokens: int = 2048
    every: int = 500
    adam: dict = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    ships: bool = False

    def model(self, types: int) -> nn.Module:
        """Untrained. Additive attention has no dropout on its weights, so no other attention has it either."""
        model = self.build(types)
        for part in model.modules():
            if isinstance(part, MultiHeadAttention):
                part.dropout = 0.0
        return model


def transformer(types: int, dropout: float = 0.3) -> nn.Module:
    """Small and strongly regularised, after Wu et al. 2021."""
    return Transformer(types, types, 160, n_heads=4, d_ff=320, n_layers=4, dropout=dropout, tied="all")


D = 192  # width of embeddings and states of every recurrent rung


def recurrent(types: int, dropout: float = 0.3, **options) -> nn.Module:
    """GRUs of width 192, a bidirectional encoder unless the options say otherwise."""
    settings = {"bidirectional": True, "tied": True, "dropout": dropout} | options
    return encoder_decoder((types, types), D, D, **settings)


def hybrid(types: int, dropout: float = 0.3) -> nn.Module:
    """A Transformer encoder of 3 layers in place of the recurrent one."""
    encoder = TransformerEncoder(types, D, d_ff=2 * D, n_layers=3, dropout=dropout)
    return recurrent(types, dropout, encoder=encoder, attention="bahdanau")


def one_rnn(types: int, dropout: float = 0.3) -> nn.Module:
    """As wide as the other rungs are in all: 288 units, one embedding for both languages and the output."""
    return SingleRNNTranslator(types, 288, 288, cell="lstm", dropout=dropout, tied=True)


RUNGS: dict[str, Rung] = {
    "multi30k-one-rnn": Rung("one LSTM that reads the source and goes on with the target", one_rnn),
    "multi30k-every": Rung("encoder-decoder, context into every step", partial(recurrent, context="every")),
    "multi30k-additive": Rung(
        "RNNsearch: additive attention, scored before the update",
        partial(recurrent, attention="bahdanau"),
        seeds=(0, 1, 2),
        ships=True,
    ),
    "multi30k-hybrid": Rung(
        "the hybrid: a Transformer encoder of 3 layers and a recurrent decoder with additive attention", hybrid
    ),
    "multi30k-transformer": Rung(
        "a Transformer of 2.7M parameters: 4 + 4 layers of width 160, one shared embedding",
        transformer,
        minutes=120,
        steps=7500,
        warmup=900,
        tokens=4096,
        adam={"betas": (0.9, 0.98), "eps": 1e-9},
        seeds=(0, 1, 2),
        ships=True,
    ),
    **{  # compared with each other: shorter runs, more seeds
        f"multi30k-score-{score}": Rung(
            f"{score} attention over an encoder of one direction, scored after the update",
            partial(recurrent, attention="luong", score=score, bidirectional=False),
            minutes=15,
            steps=1500,
            seeds=(0, 1, 2),
        )
        for score in SCORES
    },
}

# The race at equal tokens, both ways: all that differs from the rung of which each is made is how long it trains.
RUNGS["multi30k-transformer-short"] = replace(
    RUNGS["multi30k-transformer"],
    about="the Transformer at the number of tokens of the recurrent rungs",
    minutes=45,
    steps=1850,
    warmup=220,
    seeds=(0,),
    ships=False,
)
RUNGS["multi30k-additive-long"] = replace(
    RUNGS["multi30k-additive"],
    about="RNNsearch at the Transformer's number of tokens",
    minutes=120,
    steps=14_200,
    warmup=1200,
    seeds=(0,),
    ships=False,
)

# Is the hybrid only later? Both it and RNNsearch twice as long, the warm-up with the rest.
for rung, called in (("hybrid", "the hybrid"), ("additive", "RNNsearch")):
    RUNGS[f"multi30k-{rung}-twice"] = replace(
        RUNGS[f"multi30k-{rung}"],
        about=f"{called}, twice the steps",
        minutes=70,
        steps=7000,
        warmup=600,
        every=1000,
        seeds=(0,),
        ships=False,
    )

# Is the ladder's rate a fair one for these rungs? Others, trained to the same end.
OTHERS = {"low": 1e-3, "high": 1e-2}
BEST = [f"score-{score}-high" for score in SCORES if score != "multiplicative"]  # these validated best of all rates
for rung, called, rates in (
    ("every", "the fixed vector at every step", OTHERS),
    ("additive", "RNNsearch", OTHERS),
    ("hybrid", "the hybrid", OTHERS),
    *((f"score-{score}", f"{score} attention as above,", OTHERS | {"highest": 3e-2}) for score in SCORES),
):
    for name, rate in rates.items():
        seeds, about = (0, 1, 2) if f"{rung}-{name}" in BEST else (0,), f"{called} at a rate of {rate:g}"
        RUNGS[f"multi30k-{rung}-{name}"] = replace(
            RUNGS[f"multi30k-{rung}"], about=about, rate=rate, seeds=seeds, ships=False
        )


def train_and_score(run: Run, rung: Rung) -> tuple[dict, nn.Module]:
    """One way for every rung: Adam, a cosine, smoothing 0.1, gradients clipped at 1."""
    task = prepare(run)
    model = learn(
        run,
        rung.model(len(task.reader)),
        task.batches(run.seed, rung.tokens, tokens=True),
        rung.steps,
        rung.rate,
        warmup=rung.warmup,
        smoothing=0.1,
        adam=rung.adam,
        validate=task.nll,
        evaluate_every=rung.every,
        save_every=250,
    )
    return score(run, model, task), model


def score(run: Run, model: nn.Module, task: Task) -> dict:
    """Perplexity a token, BLEU greedy and with a beam of 5, and what of each sentence a later comparison needs."""
    most = 5 if run.quick else 80  # the longest reference of the test set has 46 tokens
    nll = task.nll(model, "test")
    scores = {"nll": nll, "perplexity": metrics.perplexity(nll)}
    for name, width in (("greedy", 1),) if run.rescoring else (("greedy", 1), ("beam 5", 5)):
        texts = task.written(model, width=width, max_length=most)
        scores[name], scores["signature"] = metrics.sacrebleu_score(*texts)
        scores[f"{name} lower-cased"], _ = metrics.sacrebleu_score(*texts, lowercase=True)
        scores[f"{name} counts"] = counts(*texts, metrics.tokenize_13a)
    return scores


for name, rung in RUNGS.items():
    recipe(
        name,
        about=f"German-English, {rung.about}",
        minutes=rung.minutes,
        corpora=("multi30k",),
        ships=rung.ships,
        seeds=rung.seeds,
        score="beam 5",
        rescored=("nll", "greedy"),  # quick enough for a test of the shipped weights
    )(partial(train_and_score, rung=rung))
