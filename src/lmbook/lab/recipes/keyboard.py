"""A keyboard that suggests three words, by counting: the measures of project I and what its systems reach.

Typed is letter by letter, with three suggestions before each letter, all of which begin with what has been typed of the
word.  Taking one costs a stroke and types the space.  Measured are the words that may be suggested, those that begin
with a letter; <unk>, which stands for no word, is left out.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from lmbook.data import load
from lmbook.lab.run import Run, recipe
from lmbook.ngram import Counts, KneserNey, stream_perplexity
from lmbook.text import UNK_ID, Vocabulary

SHOWN, BLOCK = 3, 50  # suggestions; words of a stretch that the bootstrap draws as a whole
WEIGHTS = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3)


class Keyboard:
    """Which words may be suggested, and after how many letters one is among the three."""

    def __init__(self, vocabulary: Vocabulary):
        self.may = np.array([token[0].isalpha() for token in vocabulary.tokens])
        begins = defaultdict(list)
        for word, token in enumerate(vocabulary.tokens):
            for letters in range(len(token) + 1) if self.may[word] else ():
                begins[token[:letters]].append(word)
        self.begins = {start: np.array(ids) for start, ids in begins.items()}

    def letters(self, p: np.ndarray, word: int, token: str) -> int | None:
        """How many letters of the word are typed before it is suggested; None where it never is.  p: (vocab,)."""
        if word == UNK_ID:
            return None
        for typed in range(len(token) + 1):
            others = self.begins[token[:typed]]
            better = (p[others] > p[word]) | ((p[others] == p[word]) & (others < word))
            if better.sum() < SHOWN:
                return typed
        return None


def typed(
    keyboard: Keyboard, ids: np.ndarray, tokens: Sequence[str], first: int, last: int, chances: Callable
) -> dict[object, np.ndarray]:
    """For each model that `chances(t)` names with its probabilities: (words, 3), whether a word was hit at once, its
    strokes with suggestions, and those without."""
    rows = defaultdict(list)
    for t in range(first, last):
        token = tokens[t]
        if not token[0].isalpha():
            continue
        for name, p in chances(t).items():
            letters = keyboard.letters(p, ids[t], token)
            alone = len(token) + 1
            rows[name].append((letters == 0, alone if letters is None else min(letters + 1, alone), alone))
    return {name: np.array(found, float) for name, found in rows.items()}


def measures(found: np.ndarray) -> dict[str, float]:
    hit, strokes, alone = found.T
    saved = 1 - strokes.sum() / alone.sum()
    return {"hit rate": float(hit.mean()), "keystrokes saved": float(saved), "words": len(found)}


def gain(better: np.ndarray, worse: np.ndarray, draws: int = 2000, seed: int = 0) -> list[float]:
    """By how much more keystrokes are saved: the difference, and its 2.5 and 97.5 percentiles over stretches."""
    cut = len(better) // BLOCK * BLOCK
    blocks = np.stack([better[:cut, 1], worse[:cut, 1], worse[:cut, 2]], -1).reshape(-1, BLOCK, 3).sum(1)
    drawn = np.random.default_rng(seed).integers(len(blocks), size=(draws, len(blocks)))
    sums = np.vstack([blocks.sum(0)[None], blocks[drawn].sum(1)])
    differences = (sums[:, 1] - sums[:, 0]) / sums[:, 2]
    return [float(differences[0]), *map(float, np.percentile(differences[1:], (2.5, 97.5)))]


@recipe(
    "keyboard",
    about="three suggested words by counting: Kneser-Ney of 1 to 5 words, and mixed with what was typed so far",
    minutes=2,
    corpora=("wikitext2",),
    seeds=(0,),  # counting draws nothing at random
    score="keystrokes saved",
)
def keyboard(run: Run) -> tuple[dict, None]:
    """n and the weight of the mixture are chosen on the validation set and on the first half of the other text."""
    corpus = run.split("wikitext2", 20_000)
    vocabulary = Vocabulary.build(corpus["train"], max_size=10_000)
    parts = {part: vocabulary.encode(corpus[part]) for part in ("train", "valid", "test")}
    board, span = Keyboard(vocabulary), 60 if run.quick else 2000
    models = {n: KneserNey(Counts(parts["train"], n, len(vocabulary)), n) for n in range(1, 6)}

    def by_order(ids: np.ndarray) -> Callable:
        return lambda t: {n: model.distribution(ids[max(0, t - 4) : t]) for n, model in models.items()}

    found = {
        part: typed(board, parts[part], corpus[part], 100, 100 + span, by_order(parts[part]))
        for part in ("valid", "test")
    }
    scores: dict = {"valid": {}, "test": {}}
    for part, by_n in found.items():
        for n, rows in by_n.items():
            pp = stream_perplexity(models[n], parts[part])
            scores[part][f"{n}-gram"] = measures(rows) | {"perplexity": float(pp)}
    best = max(models, key=lambda n: scores["valid"][f"{n}-gram"]["keystrokes saved"])
    text = list(load("harbour")["train"])
    scores |= {"n": best, "keystrokes saved": scores["test"][f"{best}-gram"]["keystrokes saved"]}
    return scores | other_text(board, models[best].distribution, vocabulary, text, span), None


def other_text(board: Keyboard, by: Callable, vocabulary: Vocabulary, text: list[str], span: int) -> dict:
    """A model on a text of another kind, alone and mixed with the words typed so far, counted one by one.

    by(history): its probabilities.
    """
    ids, before = vocabulary.encode(text), np.zeros(len(vocabulary))

    def mixed(t: int) -> dict[float, np.ndarray]:
        p, own = by(ids[max(0, t - 4) : t]), before / max(1.0, before.sum())
        before[ids[t]] += 1
        return {weight: weight * p + (1 - weight) * own for weight in WEIGHTS}

    tuned = typed(board, ids, text, 0, span, mixed)
    weight = max(WEIGHTS, key=lambda one: measures(tuned[one])["keystrokes saved"])
    final = typed(board, ids, text, span, 2 * span, mixed)
    return {
        "other text": measures(final[1.0]),
        "other text, mixed": measures(final[weight]),
        "weight": weight,
        "gain": gain(final[weight], final[1.0]),
    }
