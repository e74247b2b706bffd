"""What of a published encoder makes the difference? all-MiniLM-L6-v2 in parts, beside the book's BERT, on two tasks.

    minilm-parts       the published encoder before its layers, after two and after all; our BERT as it is and after a
                       training on pairs of sentences
    minilm-shuffled    the published encoder with the numbers of each weight in other places: it has the size, the
                       tokenizer and the spread of the weights, and nothing that was learned

The tasks are tags from 1% of the labels and sentences that say the same, each read by one rule from frozen states.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

import lmbook
from lmbook import data
from lmbook.bert import BERT
from lmbook.lab.recipes.bert_pretraining import framed, pretrained
from lmbook.lab.recipes.published_encoder import (
    DRAWS,
    LONGEST,
    Framed,
    found_first,
    minilm,
    probed,
    same_meaning,
    tags_of,
)  # fmt: skip
from lmbook.lab.recipes.tagging import prepare
from lmbook.lab.run import Run, recipe
from lmbook.lab.typed import cut
from lmbook.text import PAD_ID

SEEDS = 3  # of the trainings on pairs
STEPS, BATCH, TAU, RATES = 45, 64, 0.05, (3e-4, 1e-3)  # of a training on pairs; the steps are those of the page


@dataclass(frozen=True)
class System:
    """A network and what it is fed: frame(words), for tags, the ids and where words begin; the ids sentence(text)."""

    bert: BERT
    frame: Callable[[list[str]], Framed]
    sentence: Callable[[str], list[int]]


@torch.no_grad()
def shuffled(bert: BERT, seed: int) -> BERT:
    """A copy in which the numbers of each weight have changed places at random."""
    generator, new = torch.Generator().manual_seed(seed), copy.deepcopy(bert).eval()
    for w in new.parameters():
        w.copy_(w.flatten()[torch.randperm(w.numel(), generator=generator)].view(w.shape))
    return new


@torch.no_grad()
def states_of(bert: BERT, rows: Sequence[list[int]], batch: int = 64) -> Iterator[tuple[list[int], Tensor]]:
    """Batches of rows of one length, which need no mask: their places, and the states (L + 1, B, T, d_model)."""
    for T in sorted({len(row) for row in rows}):
        same = [i for i, row in enumerate(rows) if len(row) == T]
        for some in (same[i : i + batch] for i in range(0, len(same), batch)):
            ids = torch.tensor([rows[i] for i in some])
            states = [bert.norm(bert.embedding(ids) + bert.position(T) + bert.segment(torch.zeros_like(ids)))]
            for layer in bert.encoder.layers:
                states.append(layer(states[-1])[0])
            yield some, torch.stack(states)


def mean_states(bert: BERT, rows: Sequence[list[int]], batch: int = 64) -> Tensor:
    """The mean of the states of each row, of length 1, in each layer from 0: (L + 1, rows, d_model)."""
    found: list[Tensor] = [torch.empty(0)] * len(rows)
    for some, states in states_of(bert, [row[: bert.window] for row in rows], batch):
        for i, vector in zip(some, states.mean(2).unbind(1), strict=True):
            found[i] = F.normalize(vector, dim=-1)
    return torch.stack(found, dim=1)


def word_states(system: "System", texts: Sequence[list[str]]) -> np.ndarray:
    """As `published_encoder.word_states`, sentences of one length together."""
    frames = [system.frame(text[:LONGEST]) for text in texts]
    found: list[Tensor] = [torch.empty(0)] * len(texts)
    for some, states in states_of(system.bert, [ids[: system.bert.window] for ids, _ in frames]):
        for i, of_row in zip(some, states.unbind(1), strict=True):
            found[i] = of_row[:, frames[i][1]]
    return torch.cat(found, 1).numpy()


def on_pairs(system: System, pairs: Sequence[tuple[str, str]], seed: int, rate: float, steps: int = STEPS) -> System:
    """The system after a training in which each sentence has to find its partner in a batch (chapter 16)."""
    lmbook.seed(seed)
    bert = copy.deepcopy(system.bert).train()
    adam, rng = torch.optim.Adam(bert.parameters(), rate), np.random.default_rng(seed)
    for _ in range(steps):
        some = rng.choice(len(pairs), min(BATCH, len(pairs)), replace=False)
        one, other = (vectors(bert, [system.sentence(pairs[i][side]) for i in some]) for side in (0, 1))
        loss = F.cross_entropy(one @ other.T / TAU, torch.arange(len(one)))
        adam.zero_grad()
        loss.backward()
        adam.step()
    return replace(system, bert=bert.eval())


def vectors(bert: BERT, rows: Sequence[list[int]]) -> Tensor:
    ids = data.pad([row[: bert.window] for row in rows])
    mask = (ids != PAD_ID).unsqueeze(-1)
    return F.normalize((bert(ids) * mask).sum(1) / mask.sum(1), dim=-1)


class Tasks:
    """The data of the two tasks, and what a system reads there."""

    def __init__(self, run: Run):
        self.parts, _, self.tags = prepare(run, "ud_english_ewt")
        self.valid, self.test = self.parts["valid"][::4], self.parts["test"]
        rows = [row for part in run.split("tatoeba_eng_fra").values() for row in part]
        own = [("Suddenly it began to rain.", "All of a sudden it rained.")] * run.quick
        self.asked = same_meaning(rows) or own
        used = {text for pair in self.asked for text in pair}
        others = same_meaning([row for row in rows if row[0] not in used], seed=1, most=len(rows), alike=1.0) or own
        self.chosen_on, self.pairs = others[:300], others[300:] or own

    def few(self, draw: int) -> list:
        order = np.random.default_rng(draw).permutation(len(self.parts["train"]))
        return [self.parts["train"][i] for i in order[: max(1, round(0.01 * len(order)))]]

    def read(self, system: System, depths: Sequence[int]) -> dict[str, dict]:
        """For each depth the accuracies of the two tasks, read from the network's first layers up to this one.

        Tags: each draw's best layer and penalty on validation data; sentences: the mean of the states of the layer
        `depth` itself.
        """
        gold = tags_of(self.valid, self.tags), tags_of(self.test, self.tags)
        states = [word_states(system, [text for text, _ in rows]) for rows in (self.valid, self.test)]
        few = [self.few(draw) for draw in range(DRAWS)]
        train = [word_states(system, [text for text, _ in rows]) for rows in few]
        sides = [mean_states(system.bert, [system.sentence(p[i]) for p in self.asked]) for i in (0, 1)]
        found: dict[str, dict] = {}
        for depth in depths:
            upto = slice(depth + 1)
            tags = [
                probed(x[upto], *(s[upto] for s in states), (tags_of(rows, self.tags), *gold), len(self.tags))
                for x, rows in zip(train, few, strict=True)
            ]
            found[str(depth)] = {"tags": tags, "sentences": found_first(sides[0][depth], sides[1][depth])}
        return found

    def at_best_rate(self, system: System, steps: int) -> tuple[float, dict[str, float], System]:
        """Of RATES the one whose training with seed 0 finds most partners among pairs that are used for this alone,
        the shares of all, and the system trained at the best."""
        trained = {rate: on_pairs(system, self.pairs, 0, rate, steps) for rate in RATES}
        found = {}
        for rate, one in trained.items():
            sides = [mean_states(one.bert, [one.sentence(pair[i]) for pair in self.chosen_on])[-1] for i in (0, 1)]
            found[rate] = found_first(*sides)["accuracy"]
        best = max(found, key=found.get)
        return best, {f"{rate:g}": share for rate, share in found.items()}, trained[best]


def systems(run: Run) -> tuple[System, Callable[[int], System], System]:
    """The published encoder, this one shuffled with a seed, and our BERT."""
    (bert, pieces), (forms, own) = minilm(run), pretrained(run)
    ours = System(
        own.eval(),
        lambda text: (framed(forms, text), list(range(1, len(text) + 1))),
        lambda text: framed(forms, cut(text)[:62]),
    )
    published = System(bert, pieces.framed, pieces.encode)
    return published, lambda seed: replace(published, bert=shuffled(bert, seed)), ours


def top(system: System) -> int:
    return len(system.bert.encoder.layers)


@recipe(
    "minilm-parts",
    about="all-MiniLM-L6-v2 before its layers, after two and after all, and our BERT, also after a training on pairs",
    minutes=30,
    corpora=("ud_english_ewt", "tatoeba_eng_fra"),
    seeds=(0,),
    score="sentences, accuracy",
)
def minilm_parts(run: Run) -> tuple[dict, None]:
    """The three trainings on pairs, at the better of two rates, are inside the one run."""
    tasks, (published, _, ours) = Tasks(run), systems(run)
    depths = sorted({0, min(2, top(published)), top(published)})
    scores: dict = {"published": tasks.read(published, depths), "ours": tasks.read(ours, [top(ours)])}
    scores["sentences, accuracy"] = scores["published"][str(top(published))]["sentences"]["accuracy"]
    seeds, steps = (1, 2) if run.quick else (SEEDS, STEPS)
    rate, tried, first = tasks.at_best_rate(ours, steps)
    scores["pairs"] = {"number": len(tasks.pairs), "rates tried": tried, "rate": rate}
    trained = [first, *(on_pairs(ours, tasks.pairs, seed, rate, steps) for seed in range(1, seeds))]
    scores["ours, pairs"] = [tasks.read(one, [top(one)])[str(top(one))] for one in trained]
    return scores, None


@recipe(
    "minilm-shuffled",
    about="all-MiniLM-L6-v2 with the numbers of each weight in other places: what its size and tokenizer give",
    minutes=10,
    corpora=("ud_english_ewt", "tatoeba_eng_fra"),
    seeds=(0, 1, 2),
    score="sentences, accuracy",
)
def minilm_shuffled(run: Run) -> tuple[dict, None]:
    """No network is trained."""
    tasks, (_, drawn, _) = Tasks(run), systems(run)
    system = drawn(run.seed)
    bare, scores = tasks.read(system, [0, top(system)]).values()
    scores["before its layers"] = bare  # shuffled layers blur what the words alone would give
    return scores | {"sentences, accuracy": scores["sentences"]["accuracy"]}, None
