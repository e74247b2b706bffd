"""What the words of a row can look up at each other, the tasks of chapter 13.

`articles`: generated English captions; for every article the class of its noun in Harbourish. Five encoders at one rate
and budget, those of the chapter. Of two layers of self-attention with positions also where the heads of the first layer
look, and what is still right with one weight of one head forbidden.

`pointers`: PLACES random numbers, each the number of a place. At every place one asks for the number that stands where
its own number points, or one step further on. Each number of layers has the rate of RATES that validates best.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lmbook import data
from lmbook.data import harbourish
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import evaluate
from lmbook.seq2seq import RecurrentEncoder
from lmbook.transformer import TransformerEncoder

ARTICLES = {"the", "a", "an", "two"}
CLASS = {form: "oa".index(nouns[2]) for noun, nouns in harbourish.NOUNS.items() for form in (noun, nouns[0])}
TRAINED_ON, TESTED_TO, CAPTIONS, D, STEPS = 6400, 7000, 7200, 32, 200  # the last 200 captions are for validation
PLACES, TRIED, LONG, TESTED, RATES = 10, 300, 1000, 2000, (0.003, 0.005, 0.01, 0.02)
LONGER = 4000  # steps of one layer that is to follow twice

EVERY = slice(None)

Labelled = tuple[list[str], list[int]]
Batch = tuple[Tensor, Tensor]
Reads = TransformerEncoder | RecurrentEncoder


def labelled(sentence: str) -> Labelled:
    """The words; for each article the class of the next noun, 0 or 1; else -1."""
    words, labels, noun = sentence.split(), [], -1
    for word in reversed(words):
        noun = CLASS.get(word, noun)
        labels.append(noun if word in ARTICLES else -1)
    return words, labels[::-1]


def nouns(words: list[str]) -> list[int]:
    """The places of the nouns."""
    return [place for place, word in enumerate(words) if word in CLASS]


def by_number(words: list[str], article: str) -> float:
    """The chance that a rule without order names class 1: it counts the nouns that fit the article in number."""
    plural = {"two": True, "a": False, "an": False}.get(article)
    fitting = [CLASS[word] for word in words if word in CLASS and plural in (None, word in harbourish.SINGULAR)]
    ones = sum(fitting)
    return 0.5 if 2 * ones == len(fitting) else float(2 * ones > len(fitting))


class Reader(nn.Module):
    """An encoder and a linear layer on each of its states: ids (B, N), 0 for padding, to logits (B, N, classes)."""

    def __init__(self, encoder: Reads, classes: int):
        super().__init__()
        self.encoder, self.out = encoder, nn.Linear(encoder.width, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.encoder(x, x != 0)[0])

    def looked(self, x: Tensor, hidden: Tensor | None = None, heads: slice = EVERY) -> tuple[Tensor, Tensor]:
        """Logits, and the weights (B, heads, N, N) of the first layer, for an encoder of self-attention. The cells
        `hidden` (B, N, N) are forbidden in some heads of the first layer, in EVERY head also of all others."""
        read, weights = cast(TransformerEncoder, self.encoder), []
        state = read.embedding(x)
        for number, layer in enumerate(read.encoder.layers):
            mask = (x != 0)[:, None, None].repeat(1, layer.attention.n_heads, x.shape[1], 1)
            if hidden is not None and (number == 0 or heads == EVERY):
                mask[:, heads] &= ~hidden[:, None]
            state, weight = layer(state, mask, need_weights=True)
            weights.append(weight)
        return self.out(read.encoder.norm(state)), weights[0]


def nll(model: nn.Module, batch: Batch) -> tuple[Tensor, int]:
    """Summed NLL of the labels that are not -1, and how many there are."""
    x, y = batch
    return F.cross_entropy(model(x).transpose(1, 2), y, ignore_index=-1, reduction="sum"), int((y >= 0).sum())


def adam(model: nn.Module, rate: float) -> torch.optim.Adam:
    return torch.optim.Adam(model.parameters(), lr=rate)


def trained(run: Run, model: nn.Module, batches: Callable, held: Batch, rate: float, steps: int, part: str) -> None:
    """Trains a model for so many steps, with ten validations on `held`."""
    validated = {"validate": lambda model: evaluate(model, [held], nll), "evaluate_every": steps // 10}
    run.fit(model, batches, nll, adam(model, rate), part, steps=steps, **validated)


def attention(V: int, layers: int, positions: str = "sinusoidal") -> TransformerEncoder:
    return TransformerEncoder(V, D, 4, 2 * D, layers, positions=positions)


def recurrent(V: int, both: bool) -> RecurrentEncoder:
    return RecurrentEncoder(V, D, D, bidirectional=both)


ENCODERS: dict[str, Callable[[int], Reads]] = {
    "recurrent, left to right": partial(recurrent, both=False),
    "recurrent, both directions": partial(recurrent, both=True),
    "two layers of attention": partial(attention, layers=2),
    "one layer of attention": partial(attention, layers=1),
    "two layers, without positions": partial(attention, layers=2, positions="none"),
}


class Articles:
    """The captions as batches, and the articles of the test captions with their places."""

    def __init__(self, run: Run):
        self.rows = [labelled(english) for english, _ in data.captions(CAPTIONS, 0, 3, 9)]
        known = sorted({word for words, _ in self.rows for word in words})
        self.ids = {word: 5 + number for number, word in enumerate(known)}
        self.held, self.test = self.batch(self.rows[TESTED_TO:]), run.cut(self.rows[TRAINED_ON:TESTED_TO])
        self.x, self.y = self.batch(self.test)
        self.two = torch.tensor([len({CLASS[words[at]] for at in nouns(words)}) == 2 for words, _ in self.test])

    def batch(self, rows: list[Labelled]) -> Batch:
        x = [torch.tensor([self.ids[word] for word in words]) for words, _ in rows]
        y = [torch.tensor(labels) for _, labels in rows]
        together = nn.utils.rnn.pad_sequence
        return together(x, True), together(y, True, -1)

    def training(self, epoch: int) -> list[Batch]:
        return [self.batch(self.rows[at : at + 32]) for at in range(0, TRAINED_ON, 32)]

    def shares(self, right: Tensor) -> dict[str, float]:
        """Of all articles, of those of captions with nouns of one class, and of two.  right: (B, N)."""
        asked, two = self.y >= 0, self.two[:, None]
        parts = {"all": asked, "one class": asked & ~two, "two classes": asked & two}
        return {name: float(right[cells].float().mean()) for name, cells in parts.items()}

    def cells(self) -> dict[str, Tensor]:
        """Of articles with a word between them and their noun, (B, N, N): the noun, the word to the right, the other
        nouns of their captions."""
        kinds = ("own noun", "word to the right", "other nouns")
        found = {kind: torch.zeros(*self.x.shape, self.x.shape[1], dtype=torch.bool) for kind in kinds}
        for row, (words, labels) in enumerate(self.test):
            for at, label in enumerate(labels):
                own, *_ = [noun for noun in nouns(words) if noun > at] or [at]
                if label >= 0 and own > at + 1:
                    found["own noun"][row, at, own] = found["word to the right"][row, at, at + 1] = True
                    found["other nouns"][row, at, [noun for noun in nouns(words) if noun != own]] = True
        return found


@recipe(
    "articles",
    about="the class of an article's noun: recurrent encoders, self-attention with and without positions",
    minutes=1,
    score="attention",
)
def articles(run: Run) -> tuple[dict, None]:
    """Shares of right articles, by encoder and for a rule without order; what one head looks at, and is needed for."""
    task = Articles(run)
    asked = task.y >= 0
    chance = torch.zeros(task.y.shape)
    for row, (words, labels) in enumerate(task.test):
        for at, label in enumerate(labels):
            if label >= 0:
                one = by_number(words, words[at])
                chance[row, at] = one if label else 1 - one
    scores: dict = {"articles": {"all": int(asked.sum()), "two classes": int(asked[task.two].sum())}}
    scores["rule without order"] = task.shares(chance)
    for name, build in ENCODERS.items():
        torch.manual_seed(run.seed)
        model = Reader(build(5 + len(task.ids)), 2)
        trained(run, model, task.training, task.held, 5e-3, STEPS, name)
        with torch.no_grad():
            scores[name] = task.shares(model(task.x).argmax(-1) == task.y)
            if name == "two layers of attention":
                scores |= looks(model, task)
    return {"attention": scores["two layers of attention"]["all"]} | scores, None


def looks(model: Reader, task: Articles) -> dict:
    """Mean weights of the heads of the first layer for articles with a word between them and their noun; the head with
    the largest on the noun; and the share of these articles that is right with some weights forbidden, to this head
    alone or "everywhere", to all heads of all layers."""
    cells = task.cells()
    weights = model.looked(task.x)[1]
    kinds = {kind: [float(weights[:, head][cell].mean()) for head in range(4)] for kind, cell in cells.items()}
    head = max(range(4), key=kinds["own noun"].__getitem__)
    far = cells["own noun"].any(-1)
    asked: dict[str, tuple[Tensor | None, slice]] = {
        kind: (cell, slice(head, head + 1)) for kind, cell in cells.items()
    }
    asked["nothing"] = None, EVERY
    asked |= {f"{kind}, everywhere": (cells[kind], EVERY) for kind in ("own noun", "other nouns")}
    found = {
        kind: float((model.looked(task.x, hidden, heads)[0].argmax(-1) == task.y)[far].float().mean())
        for kind, (hidden, heads) in asked.items()
    }
    return {"weights": kinds, "head": head + 1, "articles with a word between": int(far.sum()), "right without": found}


def pointed(B: int, seed: int, steps: int) -> Batch:
    """Numbers of places + 5, (B, PLACES), and at each place the number that one reads after so many steps."""
    x = torch.randint(PLACES, (B, PLACES), generator=torch.Generator().manual_seed(seed))
    y = x
    for _ in range(steps):
        y = x.gather(1, y)
    return x + 5, y


def most_frequent(x: Tensor, y: Tensor) -> float:
    """The share that is right for who always names the most frequent number of the row."""
    return float((x.mode(1, keepdim=True).values - 5 == y).float().mean())


def following(run: Run, layers: int, steps: int, part: str, x: Tensor, y: Tensor) -> dict[str, float]:
    """Shares right of a model of so many layers at its best rate, after LONG steps; of one layer that is to follow
    twice also after LONGER, in a training of its own."""

    def build() -> Reader:
        return Reader(attention(5 + PLACES, layers), PLACES)

    def drawn(epoch: int) -> Iterator[Batch]:
        return (pointed(64, 10**6 * (run.seed + 1) + 1000 * epoch + n, steps) for n in range(1000))

    held = pointed(TESTED // 2, 1, steps)
    rate = run.tune(
        build, drawn, nll, adam, part, RATES, steps=TRIED, evaluate_every=TRIED,
        validate=lambda model: evaluate(model, [held], nll),
    )  # fmt: skip
    found = {", rate": rate}
    budgets = {"": LONG} | ({", longer": LONGER} if layers < steps else {})
    for name, budget in budgets.items():
        model = build()
        trained(run, model, drawn, held, rate, budget, part + name)
        with torch.no_grad():
            found[name] = float((model(x).argmax(-1) == y).float().mean())
    return found


@recipe(
    "pointers",
    about="numbers that point to places, followed once or twice, by one layer of self-attention and by two",
    minutes=3,
    score="two layers twice",
)
def pointers(run: Run) -> tuple[dict, None]:
    """Shares of right answers on TESTED new rows, and of the most frequent number of the row."""
    scores: dict = {"steps": LONG, "most frequent": {}, "one layer": {}, "two layers": {}}
    for steps, often in ((1, "once"), (2, "twice")):
        x, y = pointed(TESTED, 0, steps)
        scores["most frequent"][often] = most_frequent(x, y)
        for layers, name in ((1, "one layer"), (2, "two layers")):
            found = following(run, layers, steps, f"{name}, {often}", x, y)
            scores[name] |= {often + longer: share for longer, share in found.items()}
    return scores | {"two layers twice": scores["two layers"]["twice"]}, None
