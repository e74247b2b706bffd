"""TwoDirections: what a tagger and a spam classifier say after each word, from the left alone and with both directions.

    left    P(y_t | w_1..w_t)             final as soon as the word is read
    both    P(y_t | w_1..w_k), k >= t     computed anew for each beginning of the sentence

The numbers come from the four models that the package ships, run in float64 when the figure is made. A text of the
reader's is read by the same models in the page (engine.mjs).
"""

from functools import cache

import traitlets

from lmbook.figures import Figure, bundle, counts, draws_nothing, says, table_html

SENTENCES = {  # and their tags by hand, as Universal Dependencies has them
    "We have painted two boats .": "PRON AUX VERB NUM NOUN PUNCT",
    "We have two boats .": "PRON VERB NUM NOUN PUNCT",
    "I went to help .": "PRON VERB PART VERB PUNCT",
    "I went to school .": "PRON VERB ADP NOUN PUNCT",
    "He waited before the storm .": "PRON VERB ADP DET NOUN PUNCT",
    "He waited before he sailed .": "PRON VERB SCONJ PRON VERB PUNCT",
    "I know that .": "PRON VERB PRON PUNCT",
    "I know that boats sink .": "PRON VERB SCONJ NOUN VERB PUNCT",
    "The ferry sails to Oslo tonight .": "DET NOUN VERB ADP PROPN NOUN PUNCT",
    "The girl that sings lives here .": "DET NOUN PRON VERB VERB ADV PUNCT",
    "Since Monday it has rained .": "ADP PROPN PRON AUX VERB PUNCT",
    "Can you open the can ?": "AUX PRON VERB DET NOUN PUNCT",
}
MESSAGES = [
    "are you at the harbour already ? i'll call you in ten minutes",
    "you have won a free cruise ! call 09061234567 now to claim your prize",
    "free tickets for the concert tonight , do you want to come with me ?",
    "congratulations , your parcel is waiting . reply yes to 80082",
]
SHOWN = 3  # classes of a word that are kept, the likeliest first


def _thousandths(row) -> list[int]:
    """The likeliest classes and their probabilities: [class, thousandths, class, thousandths, ..]."""
    best = row.argsort(descending=True)[:SHOWN].tolist()
    return [number for k in best for number in (k, round(1000 * row[k].item()))]


@cache
@draws_nothing
def _computed() -> tuple[list[dict], list[str]]:
    """For every sentence {"words", "task", "left", "both", "gold"}, and the names of the tags.

    gold are the right tags, where the sentence has some. left[t] are the numbers of word t, both[k][t] those of word
    t when k + 1 words are read. A message has one list of probabilities of spam for each: left[k] and both[k] after
    k + 1 words, in thousandths.
    """
    import torch

    from lmbook.lab import checkpoints
    from lmbook.lab.recipes.tagging import trained_tagger

    def run(trained, ids):
        with torch.no_grad():
            return torch.softmax(trained[0](torch.tensor(ids)[None]), dim=-1)[0]

    taggers = [trained_tagger(name) for name in ("ewt-left", "ewt-lstm")]
    classifiers = [checkpoints.load(name) for name in ("sms-spam-left", "sms-spam")]
    for model, *_ in (*taggers, *classifiers):
        model.double()
    found = []
    for text, right in SENTENCES.items():
        left, both = (tagger[1].encode(text.split()) for tagger in taggers)
        steps = range(1, len(left) + 1)
        found.append(
            {
                "task": "tags",
                "words": text.split(),
                "left": [_thousandths(row) for row in run(taggers[0], left)],
                "both": [[_thousandths(row) for row in run(taggers[1], both[:k])] for k in steps],
                "gold": right.split(),
            }
        )
    for text in MESSAGES:
        left, both = (classifier[1].encode(text.split()) for classifier in classifiers)
        steps = range(1, len(left) + 1)
        found.append(
            {
                "task": "spam",
                "words": text.split(),
                "left": [round(1000 * run(classifiers[0], left[:k])[1].item()) for k in steps],
                "both": [round(1000 * run(classifiers[1], both[:k])[1].item()) for k in steps],
            }
        )
    return found, taggers[0][2]


def _percent(thousandths: int) -> str:
    return {0: "< 0.1 %", 1000: "> 99.9 %"}.get(thousandths, f"{thousandths / 10:.1f} %")


class TwoDirections(Figure):
    """Let the words of a sentence come one by one; see what each network says of them, and when it changes its mind.

    at: which of the sentences and messages, from 0.  read: how many words are read, from 1.  word: the one whose
    probabilities are shown. Title, caption and alternative text may be given too.

    Raises ValueError for a sentence that does not exist.
    """

    module = "directions"
    state_version = 2
    models = ("ewt-left", "ewt-lstm", "sms-spam-left", "sms-spam")
    title = says("With a backward direction, each new word may change what was said before")
    caption = says(
        "Let the words come one by one: which of them changes a tag before it, and can the tagger that reads from the "
        "left do so? Compare sentences that begin alike, and write your own. Then take a message: which word makes it "
        "spam, and for which of the two networks first?"
    )

    at = traitlets.Int(0).tag(sync=True, counts="sentences")
    _at_exists = counts("at", "sentences")
    read = traitlets.Int(3).tag(sync=True)
    word = traitlets.Int(1).tag(sync=True)
    sentences = traitlets.List().tag(sync=True)
    tags = traitlets.List().tag(sync=True)
    bytes = traitlets.Dict().tag(sync=True)

    def __init__(self, at: int = 0, **state):
        sentences, tags = _computed()
        sizes = {name: len(bundle.weights(name)[0]) for name in self.models}
        super().__init__(at=at, sentences=list(sentences), tags=tags, bytes=sizes, **state)

    def shown(self) -> list[tuple[str, str, str]]:
        """The words read so far, each with what is said from the left and with both directions: a tag, or P(spam)."""
        chosen = self.sentences[self.at]
        read = max(1, min(self.read, len(chosen["words"])))
        if chosen["task"] == "spam":
            pairs = zip(chosen["left"][:read], chosen["both"][:read], strict=True)
            said = [(_percent(left), _percent(both)) for left, both in pairs]
        else:
            pairs = zip(chosen["left"][:read], chosen["both"][read - 1], strict=True)
            said = [(self.tags[left[0]], self.tags[both[0]]) for left, both in pairs]
        return [(word, *both) for word, both in zip(chosen["words"], said, strict=False)]

    def changes(self, read: int) -> list[tuple[str, str, str]]:
        """The words whose tag the read-th word changes in both directions, each with the old and the new tag."""
        chosen = self.sentences[self.at]
        if chosen["task"] == "spam" or read < 2:
            return []
        old, new = ([self.tags[row[0]] for row in chosen["both"][k]] for k in (read - 2, read - 1))
        return [row for row in zip(chosen["words"], old, new, strict=False) if row[1] != row[2]]

    def _describe(self, change=None):
        chosen, rows = self.sentences[self.at], self.shown()
        text, seen = " ".join(chosen["words"]), " ".join(word for word, _, _ in rows)
        if chosen["task"] == "spam":
            _, left, both = rows[-1]
            said = f"P(spam) is {left} from the left and {both} with both directions."
        else:
            t = max(0, min(self.word, len(rows) - 1))
            left, both = chosen["left"][t], chosen["both"][len(rows) - 1][t]
            said = "".join(
                f"With both directions “{rows[-1][0]}” changes “{word}” from {old} to {new}. "
                for word, old, new in self.changes(len(rows))
            )
            said += (
                f"“{rows[t][0]}” is {self.tags[left[0]]} with probability {left[1] / 1000:.3f} from the left, and "
                f"{self.tags[both[0]]} with probability {both[1] / 1000:.3f} with both directions."
            )
        self.alt = f"“{text}”, of which “{seen}” is read. {said}"

    def fallback(self) -> str:
        """A row for each word that is read: the tags in both directions so far; below them, those from the left."""
        chosen, shown = self.sentences[self.at], self.shown()
        words = [word for word, _, _ in shown]
        if chosen["task"] == "spam":
            rows = [("both directions", *(both for _, _, both in shown))]
        else:
            tags = [[self.tags[row[0]] for row in chosen["both"][k]] for k in range(len(shown))]
            rows = [(f"both directions, up to “{word}”", *row) for word, row in zip(words, tags, strict=True)]
        rows.append(("from the left", *(left for _, left, _ in shown)))
        return super().fallback() + table_html(("", *words), rows)
