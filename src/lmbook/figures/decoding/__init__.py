"""DecodingSteps: write a translation word by word, alone or by beam search, with the probabilities of a trained model.

    ln P(y_1..y_t | x) = sum_k ln P(y_k | y_<k, x)          score(y) = ln P(y | x) / |y|^alpha

The model is the shipped one of the recipe harbourish. What it says after each beginning of two sentences stands in
decoding.json, so that the first view needs no model. For a sentence of the reader's, and for words too unlikely to be
stored, the page fetches it (engine.mjs). The file is made by

    python -m lmbook.figures.decoding 23 52          (numbers of test sentences; `stored` below)

For each sentence it has every beginning with P >= LEAST, all that a beam of up to WIDEST looks at, and from each of
them the way on by the likeliest words.
"""

import functools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import traitlets

from lmbook.figures import Figure, bundle, counts, says, table_html

SHOWN, WIDEST, LEAST, MOST = 5, 4, 0.004, 14  # candidates a step, beam, probability of a beginning, tokens
END = "<eos>"
PLACE = Path(__file__).with_name("decoding.json")


class Kept:
    """A beginning in a beam: ids, ln P, the node that says what may follow (None if complete), its place before."""

    def __init__(self, ids: tuple[int, ...], total: float, node, parent: int | None = None):
        self.ids, self.total, self.node, self.parent = ids, total, node, parent


def beam(first, width: int, follow: Callable) -> tuple[list[list[Kept]], list[Kept]]:
    """Beam search over follow(node, ids, k) -> the k likeliest [(id, ln p, next node)]; a next node None is complete.

    Returns what the beam holds after each step, and all that was completed, in the order in which it was.
    """
    kept, steps, complete = [Kept((), 0.0, first)], [], []
    while any(one.node is not None for one in kept) and len(steps) < MOST:
        grown = [Kept(one.ids, one.total, None, place) for place, one in enumerate(kept) if one.node is None]
        ended = len(grown)
        for place, one in enumerate(kept):
            if one.node is not None:
                for word, log_p, node in follow(one.node, one.ids, width):
                    grown.append(Kept((*one.ids, word), one.total + log_p, node, place))
        new = {id(one) for one in grown[ended:]}
        kept = sorted(grown, key=lambda one: -one.total)[:width]
        complete += [one for one in kept if one.node is None and id(one) in new]
        steps.append(kept)
    return steps, complete


def tree(model, source: Sequence[int], start: int, end: int) -> list[list]:
    """The nodes of one source: node 0 is the empty beginning; a node is SHOWN rows [id, ln p, next node].

    The next node is None behind `end`, and -1 where the file does not go on.
    """
    import torch

    said: dict[tuple, tuple] = {}

    def look(ids: tuple[int, ...]):
        """The likeliest tokens after these, and the state behind them."""
        if ids not in said:
            state = look(ids[:-1])[1] if ids else model.start(torch.tensor([list(source)]))
            logits, state = model.step(torch.tensor([ids[-1] if ids else start]), state)
            log_p, token = torch.log_softmax(logits[0].double(), dim=-1).topk(SHOWN)
            said[ids] = (list(zip(token.tolist(), log_p.tolist(), strict=True)), state)
        return said[ids]

    def follow(_, ids: tuple[int, ...], width: int):
        return [(word, log_p, None if word == end else ()) for word, log_p in look(ids)[0][:width]]

    likely = [((), 0.0)]
    for ids, total in likely:
        for word, log_p in look(ids)[0]:
            if word != end and total + log_p >= math.log(LEAST) and len(ids) + 1 < MOST:
                likely.append(((*ids, word), total + log_p))
    for width in range(1, WIDEST + 1):
        beam((), width, follow)
    for ids in list(said):
        while (best := look(ids)[0][0][0]) != end and len(ids) + 1 < MOST:
            ids = (*ids, best)
    number = {ids: i for i, ids in enumerate(said)}
    return [
        [[word, round(log_p, 3), None if word == end else number.get((*ids, word), -1)] for word, log_p in rows]
        for ids, (rows, _) in said.items()
    ]


def stored(chosen: Sequence[int]) -> dict:
    """What decoding.json holds, computed anew from the shipped weights; chosen: test sentences by number."""
    from lmbook.lab import checkpoints
    from lmbook.lab.recipes import harbourish_translation
    from lmbook.networks import evaluating
    from lmbook.text import EOS_ID, SOS_ID

    model, words, _ = checkpoints.load("harbourish")
    test = harbourish_translation.pairs(31_000, 1000)["test"]
    with evaluating(model):
        nodes = [tree(model, words.encode(test[i][0]), SOS_ID, EOS_ID) for i in chosen]
    used = sorted({row[0] for sentence in nodes for node in sentence for row in node})
    place = {word: i for i, word in enumerate(used)}
    sentences = [
        {
            "source": test[i][0],
            "reference": test[i][1],
            "nodes": [[[place[word], log_p, on] for word, log_p, on in node] for node in sentence],
        }
        for i, sentence in zip(chosen, nodes, strict=True)
    ]
    return {"chosen": list(chosen), "words": [words.vocabulary.tokens[word] for word in used], "sentences": sentences}


@functools.cache
def shipped() -> dict:
    return json.loads(PLACE.read_text("utf-8"))


def lexicon() -> list[list[str]]:
    """The words of Harbourish with their meaning, and how they bend."""
    from lmbook.data import harbourish

    nouns = {word: english for english, (_, word, _) in harbourish.NOUNS.items()}
    verbs = {f"{stem}a": one for (one, _), stem in (harbourish.TRANSITIVE | harbourish.INTRANSITIVE).items()}
    kinds = {
        "a noun, with -n for several": nouns,
        "behind it an adjective, with -o or -a like its noun": {
            f"{stem}-": english for english, stem in harbourish.ADJECTIVES.items()
        },
        "at the end the verb, with -en for several": verbs,
        "behind its noun": {word: english for english, word in harbourish.PREPOSITIONS.items()},
        "before all of it": {"lo, la": "the", "to, ta": "a", "dvo, dva": "two"},
    }
    return [
        [kind, ", ".join(f"{word} ({english})" for word, english in sorted(words.items()))]
        for kind, words in kinds.items()
    ]


def _num(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


class DecodingSteps(Figure):
    """Choose each next word of a translation, or let a beam of 1 to 4 do it.

    chosen: the sentence, from 0.  width: of the beam, 1 is greedy; 0: the reader chooses.  picks: the places (0 is the
    likeliest) of the reader's choices so far.  step: steps the beam has taken.  alpha: the power of the length.
    words, sentences: as in decoding.json.  Refuses a sentence, a width or a pick that does not exist.
    """

    module = "decoding"
    models = ("harbourish",)
    title = says("The likeliest next word need not lead to the likeliest sentence")
    caption = says(
        "Write a translation yourself: can you beat greedy, which takes the likeliest word each time? Then let a beam "
        "(the 2 to 4 likeliest beginnings) do it: what did greedy give up and the beam keep? At the end, move alpha, "
        "which weighs the length."
    )

    bytes = traitlets.Int().tag(sync=True)
    lexicon = traitlets.List().tag(sync=True)  # what one needs to write Harbourish: [kind, "word meaning, .."]
    words = traitlets.List().tag(sync=True)
    sentences = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True, counts="sentences")
    _chosen_exists = counts("chosen", "sentences")
    width = traitlets.Int(0, min=0, max=WIDEST).tag(sync=True)
    picks = traitlets.List().tag(sync=True)
    step = traitlets.Int(0, min=0, max=MOST).tag(sync=True)
    alpha = traitlets.Float(1.0, min=0, max=2).tag(sync=True)

    def __init__(self, **state):
        state = {key: shipped()[key] for key in ("words", "sentences")} | state
        super().__init__(bytes=len(bundle.weights("harbourish")[0]), lexicon=lexicon(), **state)

    @traitlets.validate("picks")
    def _check_picks(self, proposal):
        node = 0
        for pick in proposal["value"]:
            nodes = self.sentences[self.chosen]["nodes"]
            if node is None or pick not in range(SHOWN) or (node := nodes[node][pick][2]) == -1:
                raise ValueError(f"picks are {proposal['value']}; the stored tree of this sentence has no such path.")
        return proposal["value"]

    def search(self, width: int) -> tuple[list[list[Kept]], list[Kept]]:
        """What a beam of this width does with the chosen sentence: its steps, and the complete outputs."""
        nodes = self.sentences[self.chosen]["nodes"]
        return beam(0, width, lambda node, ids, k: nodes[node][:k])

    def text(self, ids: Sequence[int]) -> str:
        return " ".join(self.words[i] for i in ids if self.words[i] != END).replace(" .", ".")

    def _describe(self, change=None):
        sentence = self.sentences[self.chosen]
        greedy, best = (max(self.search(width)[1], key=lambda one: one.total) for width in (1, WIDEST))
        self.alt = (
            f"A translator writes “{sentence['source']}” in English, word by word. Greedy writes"
            f" “{self.text(greedy.ids)}”, with a log-probability of {_num(greedy.total)}; the likeliest output of a"
            f" beam of {WIDEST} is “{self.text(best.ids)}”, with {_num(best.total)}."
        )

    def fallback(self) -> str:
        rows = []
        for width in range(1, WIDEST + 1):
            best = max(self.search(width)[1], key=lambda one: one.total)
            name = "greedy" if width == 1 else f"beam of {width}"
            rows.append((name, self.text(best.ids), _num(best.total)))
        return super().fallback() + table_html(("search", "likeliest output", "ln P"), rows)
