"""AlignmentExplorer: exchange the words of a caption and see where a translator with attention looks, word by word.

    alpha_t = softmax_i v^T tanh(W_h h_i + W_s s_{t-1})      one row of weights for every word of the translation

The model is the shipped one of the recipe caption-scores, its RNNsearch. Its translations of every combination of the
words on offer, and the weights, rounded to two digits, stand in alignment.json, so that the page needs no model:

    python -m lmbook.figures.alignment
"""

import functools
import html
import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import traitlets

from lmbook.figures import Figure

PLACE = Path(__file__).with_name("alignment.json")
SLOTS = (  # label, options; an option is one text, or one for a single subject and one for several
    ("how many", ("the", "two")),
    ("adjective", ("", "old", "happy")),
    ("adjective 2", ("", "red")),
    ("noun", (("boat", "boats"), ("dog", "dogs"), ("woman", "women"))),
    ("verb", (("sees", "see"), ("follows", "follow"))),
    ("object’s adjective", ("", "white")),
    ("object", ("cat", "tree")),
    ("where", ("", "near the house", "behind the old horse")),
)
OBJECT = 5  # the slot before which the object's article "a" stands
# One sign for each weight 0.00, 0.01, .., 1.00 and for each of up to 101 words; none of them needs an escape.
_PLAIN = "".join(chr(i) for i in range(32, 127) if chr(i) not in '"\\<&>')
SIGNS = _PLAIN[:60] + "ÀÁÂÃÄÅÆÇÈÉË" + _PLAIN[60:]


def combinations() -> Iterator[tuple[int, ...]]:
    """All choices of one option for every slot, in the order of the file: the last slot changes first."""
    return product(*(range(len(options)) for _, options in SLOTS))


def source_of(chosen: Sequence[int]) -> list[str]:
    """The words of a caption, its full stop last; the subject's number decides the forms of noun and verb."""
    several, words = chosen[0] == 1, []
    for slot, (place, (_, options)) in enumerate(zip(chosen, SLOTS, strict=True)):
        option = options[place]
        text = option if isinstance(option, str) else option[several]
        words += (["a"] if slot == OBJECT else []) + text.split()
    return [*words, "."]


def reference_of(chosen: Sequence[int]) -> list[str]:
    """The caption in Harbourish, by the rules of `lmbook.data.harbourish`."""
    from lmbook.data.harbourish import ADJECTIVES, NOUNS, PREPOSITIONS, TRANSITIVE

    def phrase(article: str, adjectives: Sequence[str], noun: str, several: bool = False) -> list[str]:
        _, word, vowel = NOUNS[noun]
        n = "n" if several else ""
        return [article + vowel, word + n, *(ADJECTIVES[a] + vowel + n for a in reversed(adjectives))]

    options = [slot[place] for place, (_, slot) in zip(chosen, SLOTS, strict=True)]
    several = chosen[0] == 1
    words = phrase("dv" if several else "l", [a for a in options[1:3] if a], options[3][0], several)
    words += phrase("t", [options[5]] if options[5] else [], options[6])
    if where := options[7].split():
        words += [*phrase("l", where[2:-1], where[-1]), PREPOSITIONS[where[0]]]
    return [*words, TRANSITIVE[options[4]] + ("en" if several else "a"), "."]


def stored() -> dict:
    """What alignment.json holds, computed anew from the shipped weights.

    words: Harbourish words and what each stands for.  grid: a text for each combination, the T words of the translation
    and then its T x N weights, one sign each.  wrong: the translations that differ from the reference, by number.
    """
    import torch

    from lmbook import checkpoints
    from lmbook.decode import evaluating, greedy
    from lmbook.experiments import attention_scores
    from lmbook.text import EOS_ID, SOS_ID

    model, (reader, writer), _ = checkpoints.load("caption-scores")
    words: list[str] = []
    grid, wrong = [], {}
    with evaluating(model):
        for number, chosen in enumerate(combinations()):
            source = source_of(chosen)
            x = torch.tensor([reader.encode(" ".join(source))])
            (ids,), _ = greedy(model, x, attention_scores.MOST)
            ids = [i for i in ids if i != EOS_ID]
            _, weights = model(x, torch.tensor([[SOS_ID, *ids[:-1]]]), need_weights=True)
            target = writer.vocabulary.decode(ids)
            words += [word for word in target if word not in words]
            signs = [SIGNS[words.index(word)] for word in target]
            signs += [SIGNS[round(100 * weight)] for weight in weights[0].flatten().tolist()]
            grid.append("".join(signs))
            if target != reference_of(chosen):
                wrong[str(number)] = " ".join(reference_of(chosen))
    articles = {
        article + vowel: english for article, english in (("l", "the"), ("t", "a"), ("dv", "two")) for vowel in "oa"
    }
    stands_for = {word: " or ".join(sorted(found)) for word, found in attention_scores.COUNTERPARTS.items()} | articles
    return {"words": [[word, stands_for.get(word, "")] for word in words], "grid": grid, "wrong": wrong}


@functools.cache
def shipped() -> dict:
    return json.loads(PLACE.read_text("utf-8"))


class AlignmentExplorer(Figure):
    """A caption put together from options, its translation by a trained model, and where each word of it looks.

    chosen: the option of every slot, from 0.  word: the word of the translation that is looked at, from 0.
    slots, article, signs, words, grid, wrong: as above.  Raises ValueError for an option or a word that does not exist.
    """

    module = "alignment"

    slots = traitlets.List().tag(sync=True)
    article = traitlets.Int(OBJECT).tag(sync=True)
    signs = traitlets.Unicode(SIGNS).tag(sync=True)
    words = traitlets.List().tag(sync=True)
    grid = traitlets.List().tag(sync=True)
    wrong = traitlets.Dict().tag(sync=True)
    chosen = traitlets.List(traitlets.Int()).tag(sync=True)
    word = traitlets.Int(0).tag(sync=True)

    def __init__(self, **state):
        slots = [[label, [[o, o] if isinstance(o, str) else list(o) for o in options]] for label, options in SLOTS]
        state = {"slots": slots, **shipped(), "chosen": [0, 2, 1, 0, 0, 1, 0, 1]} | state
        state.setdefault("title", "The translator looks back: noun first, then its adjectives in reversed order")
        state.setdefault(
            "caption",
            "Go along the translation word by word, by mouse or keyboard, and follow the bars over the English words. "
            "Then exchange the noun: which words of the translation change, and where does the article look? The "
            "translations and weights of all combinations were computed beforehand by the trained model.",
        )
        state.setdefault("alt", "…")  # said by _describe() as soon as the state is known
        super().__init__(**state)
        if state["alt"] == "…":
            self._describe()
            self.observe(self._describe, ["chosen"])

    @traitlets.validate("chosen")
    def _check_chosen(self, proposal):
        value, sizes = proposal["value"], [len(options) for _, options in SLOTS]
        if len(value) != len(sizes) or not all(0 <= place < size for place, size in zip(value, sizes, strict=True)):
            raise ValueError(
                f"chosen is {value}; it needs one option for each of {len(sizes)} slots of {sizes} options."
            )
        return value

    @traitlets.validate("word")
    def _check_word(self, proposal):
        if not 0 <= proposal["value"] < 30:
            raise ValueError(f"word is {proposal['value']}; the words of a translation count from 0.")
        return proposal["value"]

    def number(self) -> int:
        """The place of the chosen combination in the file."""
        place = 0
        for choice, (_, options) in zip(self.chosen, SLOTS, strict=True):
            place = place * len(options) + choice
        return place

    def look(self) -> tuple[list[str], list[str], list[list[float]]]:
        """Source, translation, and for each word of it the weights of the source words."""
        source, signs = source_of(self.chosen), self.grid[self.number()]
        T, N = len(signs) // (1 + len(source)), len(source)
        values = [SIGNS.index(sign) for sign in signs]
        rows = [[value / 100 for value in values[T + t * N : T + (t + 1) * N]] for t in range(T)]
        return source, [self.words[value][0] for value in values[:T]], rows

    def strongest(self) -> list[tuple[str, str, float]]:
        """For every word of the translation the source word with its largest weight, and that weight."""
        source, target, rows = self.look()
        best = [max(range(len(source)), key=row.__getitem__) for row in rows]
        return [(word, source[i], row[i]) for word, i, row in zip(target, best, rows, strict=True)]

    def _describe(self, change=None):
        source, target, _ = self.look()
        looks = ", ".join(f"{word} at {at} ({weight:.2f})" for word, at, weight in self.strongest())
        self.alt = f"“{' '.join(source)}” is translated as “{' '.join(target)}”. Each word looks most at: {looks}."

    def fallback(self) -> str:
        lines = "".join(
            f"<tr><th scope='row'>{html.escape(word)}</th><td>{html.escape(at)}</td><td>{weight:.2f}</td></tr>"
            for word, at, weight in self.strongest()
        )
        head = "".join(f"<th scope='col'>{words}</th>" for words in ("Harbourish", "looks most at", "weight"))
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
        return f"<p>{html.escape(self.alt)}</p>{table}"


if __name__ == "__main__":
    PLACE.write_text(json.dumps(stored(), ensure_ascii=False, separators=(",", ":")), "utf-8")
