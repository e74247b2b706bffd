"""TokenizerComparison: one text, three tokenizers, their ids and the rows of the embedding table that they pick.

    text -> tokens -> ids -> rows:  X_t = D_{w_t}          (lmbook.text, bytepairs.mjs)

The tokenizers are trained on the built-in harbour stories; the page runs them, and here they give the first view. Each
has its own table D, trained as skip-gram on the same stories by `compute` and kept in tokenizers.json. A type that the
stories do not hold has a row of zeros: nothing ever moved it.
"""

import base64
import json
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import traitlets

from lmbook.figures import Figure, says, table_html

MERGES, MOST, WIDTH = 400, 120, 8
NAMES = ("Characters", "Words", "Byte pairs")
EXAMPLES = [
    "The harbour is quiet at night.",
    "The lighthouse keeper sees the submarine.",
    "Anna's boat, Anna's boat!",
    "La mer était calme.",
    "港は静かです ⛵",
    "    two  blanks,\tand a tab",
]


@cache
def _trained() -> tuple:
    """(types of characters, types of words, merges) of the training stories."""
    from lmbook import data
    from lmbook.text import SPECIALS, BytePairTokenizer, Vocabulary

    stories = data.harbour_stories()["train"]
    text = "\n".join(sentence for story in stories for sentence in story)
    types = Vocabulary.build(data.load("harbour")["train"]).tokens[len(SPECIALS) :]
    return sorted(set(text)), types, BytePairTokenizer.train(text, MERGES).merges


# How each table is trained: window, batches of 512 pairs.
TRAINING = ((2, 600), (2, 1500), (3, 2500))
CUTS = (0, 25, 50, 100, 200, MERGES)  # the byte pairs see the stories cut by so many merges, so that no piece is missed
PLACE = Path(__file__).with_name("tokenizers.json")


def compute() -> list[str]:
    """What tokenizers.json holds: the three tables, int8 in 127ths of the largest number of each, base64."""
    import torch

    from lmbook import data
    from lmbook.text import BytePairTokenizer, CharTokenizer, Vocabulary, WordTokenizer
    from lmbook.word2vec import SkipGram, train

    characters, types, merges = _trained()
    texts = ["\n".join(story) for story in data.harbour_stories()["train"]]
    pieces = [BytePairTokenizer(merges[:cut]) for cut in CUTS]
    by_character, by_word = CharTokenizer(Vocabulary(characters)), WordTokenizer(Vocabulary(types))
    sizes = len(by_character.vocabulary), len(by_word.vocabulary), len(pieces[-1])
    tables = []
    for cut_by, size, (window, steps) in zip(([by_character], [by_word], pieces), sizes, TRAINING, strict=True):
        ids = np.concatenate([tokenizer.encode(text) for tokenizer in cut_by for text in texts])
        torch.manual_seed(0)
        model = SkipGram(size, WIDTH)
        list(train(model, ids, steps, window=window, batch=512, lr=0.02))
        rows = model.v.weight.detach().numpy()
        rows[np.bincount(ids, minlength=size) == 0] = 0
        tables.append(base64.b64encode(np.round(127 * rows / abs(rows).max()).astype(np.int8).tobytes()).decode())
    return tables


@cache
def stored() -> list[str]:
    return json.loads(PLACE.read_text("utf-8"))


def table(lane: int) -> np.ndarray:
    """The table D of tokenizer 0, 1 or 2: (types, WIDTH), between -1 and 1."""
    return np.frombuffer(base64.b64decode(stored()[lane]), np.int8).reshape(-1, WIDTH) / 127


class TokenizerComparison(Figure):
    """Type a text; see it cut by characters, words and byte pairs, each token with its id and its row of the table D.

    Choose a token, and the rows most like its own are shown.

    text: what is cut, at most 120 characters of it.  merges: how many of the learned byte pairs are used, 0 to 400.
    examples: texts to try. Title, caption and alternative text may be given too.

    Refuses a number of merges that does not exist.
    """

    module = "tokenizers"
    title = says("Characters give long sequences, words leave gaps, byte pairs strike a balance")
    caption = says(
        "Type a text: which of its words are unknown, and what do the byte pairs make of them? Take merges away: "
        "at 0 only bytes are left. Choose a token: its row of D appears, and those most like it. Whose rows are "
        "like that of “a”, of “she”, of “ harbour”?"
    )

    text = traitlets.Unicode().tag(sync=True)
    merges = traitlets.Int(MERGES, min=0, max=MERGES).tag(sync=True)
    examples = traitlets.List().tag(sync=True)
    characters = traitlets.Unicode().tag(
        sync=True
    )  # the types of the first tokenizer; the page counts the words itself
    learned = traitlets.List().tag(sync=True)  # the byte pairs, one number after the other
    rows = traitlets.List().tag(sync=True)  # the three tables

    def __init__(self, text: str = EXAMPLES[1], merges: int = MERGES, **state):
        characters, _, learned = _trained()
        state.setdefault("examples", EXAMPLES)
        super().__init__(
            text=text,
            merges=merges,
            characters="".join(characters),
            learned=[i for pair in learned for i in pair],
            rows=stored(),
            **state,
        )

    @cached_property
    def fixed(self) -> tuple:
        from lmbook.text import CharTokenizer, Vocabulary, WordTokenizer

        characters, types, _ = _trained()
        return CharTokenizer(Vocabulary(characters)), WordTokenizer(Vocabulary(types))

    def tokens(self) -> list[tuple[str, int, list[tuple[str, int]]]]:
        """For each tokenizer its name, the number of types, and the text's tokens with their ids."""
        from lmbook.text import BytePairTokenizer

        learned = BytePairTokenizer(_trained()[2][: self.merges])
        sizes = [len(tokenizer.vocabulary) for tokenizer in self.fixed] + [len(learned)]
        text = self.text[:MOST]
        found = [zip(t.split(text), t.encode(text), strict=True) for t in (*self.fixed, learned)]
        return [(name, size, list(pairs)) for name, size, pairs in zip(NAMES, sizes, found, strict=True)]

    def _describe(self, change=None):
        parts = []
        for name, size, tokens in self.tokens():
            unknown = sum(i == 1 for _, i in tokens)
            parts.append(f"{name}: {len(tokens)} tokens of {size} types" + (f", {unknown} unknown" if unknown else ""))
        self.alt = f"“{self.text[:MOST]}” cut in three ways. {'; '.join(parts)}."

    def fallback(self) -> str:
        rows = (
            (name, " | ".join(token for token, _ in tokens), " ".join(str(i) for _, i in tokens))
            for name, _, tokens in self.tokens()
        )
        return super().fallback() + table_html(("tokenizer", "tokens", "ids"), rows)
