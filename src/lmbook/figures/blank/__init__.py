"""FillTheBlank: hide any word of a sentence, and see what a trained BERT would put there.

    P(w_t | all the other words)          for each place t of each sentence, one blank at a time

What the shipped model of the recipe bert-wikitext2 says of each place of some sentences stands in blank.json, so that
there is something to see at once. A sentence of the reader's is computed in the page, by the same model (engine.mjs).
The file is made from the weights by

    python -m lmbook.figures.blank
"""

import functools
import json
import math
from pathlib import Path

import traitlets

from lmbook.figures import Figure, bundle, says, table_html

SHOWN = 8  # words offered at a place
PLACE = Path(__file__).with_name("blank.json")
SENTENCES = (
    "She played the role of his mother in the film .",
    "The song was written by two members of the band .",
    "He was born in London and died in 1945 .",
    "The old road , which was built by two brothers , was closed in 1960 .",
    "In the second half the team scored two goals .",
    "The second season of the series began in October .",
    "The storm moved north and became a hurricane .",
    "The king and his army were defeated in the battle .",
    "It is one of the most popular games of all time .",
    "They did not know what to do .",
    "On 3 March 1918 the ship left the port .",
    "She said that she would not return to the island .",
    "You can play the game with one or two players .",
    "The play was written in the early years of the century .",
    "The species is found in the south of Australia .",
    "The album received positive reviews from critics .",
    "Both of them were killed , and the house was destroyed .",
    "The city is the capital of France .",
)


def stored(folder: str | Path | None = None) -> dict:
    """What blank.json holds, computed anew from the shipped weights, or from those of a run's folder.

    For each place: the SHOWN likeliest words as [number, P], and of the word that stands there P and its rank, from 1.
    Only words count: classes of look and special tokens are left out, as they are no answers.
    """
    import torch

    from lmbook.bert import FIRST_ORDINARY, MASK_ID
    from lmbook.lab.recipes.bert_pretraining import framed, trained_bert
    from lmbook.networks import evaluating

    model, forms = trained_bert(folder)
    found, used = [], {}
    for sentence in SENTENCES:
        words = sentence.split()
        ids = torch.tensor(framed(forms, words))
        places = torch.arange(len(words))
        blanked = ids.repeat(len(words), 1)
        blanked[places, places + 1] = MASK_ID  # row t has its blank at word t; <sos> stands before the first
        with evaluating(model):
            p = torch.softmax(model(blanked)[places, places + 1].double(), dim=-1)
        p[:, :FIRST_ORDINARY] = 0
        p[:, FIRST_ORDINARY + len(forms.words) :] = 0
        blanks = []
        for row, own in zip(p, ids[1:-1].tolist(), strict=True):
            best = row.topk(SHOWN)
            offers = [
                [used.setdefault(forms.vocabulary.tokens[i], len(used)), float(f"{chance:.3g}")]
                for i, chance in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            ]
            blanks.append([offers, float(f"{row[own].item():.3g}"), int((row > row[own]).sum()) + 1])
        found.append({"words": words, "blanks": blanks})
    return {"words": list(used), "sentences": found}


@functools.cache
def shipped() -> dict:
    return json.loads(PLACE.read_text("utf-8"))


class FillTheBlank(Figure):
    """Click a word of the sentence to hide it; bars show what the model would put in its place.

    chosen: the sentence, from 0.  blank: the hidden word, from 0.  words, sentences: as in blank.json; one more may be
    the reader's.  typed: what stands in the line for it.
    Raises ValueError for a sentence or a word that does not exist.
    """

    module = "blank"
    models = ("bert-wikitext2",)
    title = says("Some words can be guessed from both sides, and some cannot")
    caption = says(
        "Hide one word after the other, in our sentences and in your own. Compare a grammatical word such as “of” "
        "with a noun or a name: which does the model find, and are its wrong answers of the right kind?"
    )

    words = traitlets.List().tag(sync=True)
    sentences = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True, counts="sentences")
    blank = traitlets.Int(5).tag(sync=True)
    typed = traitlets.Unicode("").tag(sync=True)
    bytes = traitlets.Int().tag(sync=True)

    def __init__(self, **state):
        state = {key: shipped()[key] for key in ("words", "sentences")} | state
        state |= {"bytes": len(bundle.weights(self.models[0])[0])}
        super().__init__(**state)

    @traitlets.validate("chosen", "blank")
    def _check(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        most = len(self.sentences if name == "chosen" else self.sentences[self.chosen]["words"]) - 1
        if not 0 <= value <= most:
            raise ValueError(f"{name} is {value}; it must be from 0 to {most}.")
        return value

    def guesses(self) -> list[tuple[str, float]]:
        """The likeliest words for the blank, with their probabilities."""
        return [(self.words[i], p) for i, p in self.sentences[self.chosen]["blanks"][self.blank][0]]

    def own(self) -> tuple[str, float, int]:
        """The word that stands there, its probability and its rank."""
        sentence = self.sentences[self.chosen]
        return sentence["words"][self.blank], *sentence["blanks"][self.blank][1:]

    def log_p(self) -> float:
        """sum_t ln P(w_t | the other words) of the sentence, each blank alone."""
        return sum(math.log(p) for _, p, _ in self.sentences[self.chosen]["blanks"])

    def with_blank(self) -> str:
        words = list(self.sentences[self.chosen]["words"])
        words[self.blank] = "____"
        return " ".join(words)

    def _describe(self, change=None):
        (first, p), (second, q), *_ = self.guesses()
        word, own, rank = self.own()
        self.alt = (
            f"A trained BERT fills the blank of “{self.with_blank()}”: “{first}” with probability {p:.2f}, “{second}”"
            f" with {q:.2f}. The word that was there, “{word}”, has rank {rank} and probability {own:.3g}."
        )

    def fallback(self) -> str:
        rows = ((word, f"{p:.3g}") for word, p in self.guesses())
        return super().fallback() + table_html(("word for the blank", "probability"), rows)
