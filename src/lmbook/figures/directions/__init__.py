"""TwoDirections: what a tagger and a spam classifier say after each word, from the left alone and with both directions.

    left    P(y_t | w_1..w_t)             final as soon as the word is read
    both    P(y_t | w_1..w_k), k >= t     computed anew for each beginning of the sentence

The numbers come from the four models that the package ships, run in float64 when the figure is made. A text of the
reader's is read by the same models in the page (engine.mjs).
"""

import html
from functools import cache

import traitlets

from lmbook.figures import Figure, bundle

SENTENCES = [
    "We have painted two boats .",
    "We have two boats .",
    "I went to help .",
    "I went to school .",
    "He waited before the storm .",
    "He waited before he sailed .",
    "I know that .",
    "I know that boats sink .",
    "The ferry sails to Oslo tonight .",
    "The girl that sings lives here .",
    "Since Monday it has rained .",
    "Can you open the can ?",
]
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
def _computed() -> tuple[list[dict], list[str]]:
    """For every sentence {"words", "task", "left", "both"}, and the names of the tags.

    left[t] are the numbers of word t, both[k][t] those of word t when k + 1 words are read. A message has one list of
    probabilities of spam for each: left[k] and both[k] after k + 1 words, in thousandths.
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
    for text in SENTENCES:
        left, both = (tagger[1].encode(text.split()) for tagger in taggers)
        steps = range(1, len(left) + 1)
        found.append(
            {
                "task": "tags",
                "words": text.split(),
                "left": [_thousandths(row) for row in run(taggers[0], left)],
                "both": [[_thousandths(row) for row in run(taggers[1], both[:k])] for k in steps],
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


class TwoDirections(Figure):
    """Let the words of a sentence come one by one; see what each network says of them, and when it changes its mind.

    at: which of the sentences and messages, from 0.  read: how many words are read, from 1.  word: the one whose
    probabilities are shown. Title, caption and alternative text may be given too.

    Raises ValueError for a sentence that does not exist.
    """

    module = "directions"
    models = ("ewt-left", "ewt-lstm", "sms-spam-left", "sms-spam")

    at = traitlets.Int(0).tag(sync=True, counts="sentences")
    read = traitlets.Int(2).tag(sync=True)
    word = traitlets.Int(1).tag(sync=True)
    sentences = traitlets.List().tag(sync=True)
    tags = traitlets.List().tag(sync=True)
    bytes = traitlets.Dict().tag(sync=True)

    def __init__(self, at: int = 0, read: int = 2, word: int = 1, **state):
        sentences, tags = _computed()
        state.setdefault("title", "With a backward direction, each new word may change what was said before")
        state.setdefault(
            "caption",
            "Let the words come one by one. From the left a tag is final when its word is read; with both directions "
            "it may still change. Compare sentences that begin alike, and write your own. Then take a message: which "
            "word makes it spam, and for which of the two networks first?",
        )
        state.setdefault("alt", "…")  # said by _describe() as soon as the sentence is known
        sizes = {name: len(bundle.weights(name)[0]) for name in self.models}
        given = {"at": at, "read": read, "word": word, "sentences": list(sentences), "tags": tags, "bytes": sizes}
        super().__init__(**given, **state)
        if state["alt"] == "…":
            self._describe()
            self.observe(self._describe, ["at", "read", "word"])

    @traitlets.validate("at")
    def _check_at(self, proposal):
        if not 0 <= proposal["value"] < len(self.sentences):
            raise ValueError(f"at is {proposal['value']}; there are {len(self.sentences)} sentences, from 0.")
        return proposal["value"]

    def shown(self) -> list[tuple[str, str, str]]:
        """The words read so far, each with what is said from the left and with both directions: a tag, or P(spam)."""
        chosen = self.sentences[self.at]
        read = max(1, min(self.read, len(chosen["words"])))
        if chosen["task"] == "spam":
            pairs = zip(chosen["left"][:read], chosen["both"][:read], strict=True)
            said = [(f"{left / 10:.1f} %", f"{both / 10:.1f} %") for left, both in pairs]
        else:
            pairs = zip(chosen["left"][:read], chosen["both"][read - 1], strict=True)
            said = [(self.tags[left[0]], self.tags[both[0]]) for left, both in pairs]
        return [(word, *both) for word, both in zip(chosen["words"], said, strict=False)]

    def _describe(self, change=None):
        chosen = self.sentences[self.at]
        rows = self.shown()
        text, seen = " ".join(chosen["words"]), " ".join(word for word, _, _ in rows)
        if chosen["task"] == "spam":
            _, left, both = rows[-1]
            said = f"P(spam) is {left} from the left and {both} with both directions."
        else:
            t = max(0, min(self.word, len(rows) - 1))
            left, both = chosen["left"][t], chosen["both"][len(rows) - 1][t]
            said = (
                f"“{rows[t][0]}” is {self.tags[left[0]]} with probability {left[1] / 1000:.3f} from the left, and "
                f"{self.tags[both[0]]} with probability {both[1] / 1000:.3f} with both directions."
            )
        self.alt = f"“{text}”, of which “{seen}” is read. {said}"

    def _next(self) -> int | None:
        """How many words are read when, next, both directions change what they say of a word; None for never."""
        chosen, said = self.sentences[self.at], len(self.shown())
        if chosen["task"] == "spam":
            return None
        before = [word[0] for word in chosen["both"][said - 1]]
        later = range(said + 1, len(chosen["words"]) + 1)
        return next((k for k in later if [word[0] for word in chosen["both"][k - 1]][:said] != before), None)

    def fallback(self) -> str:
        """What is said now, and beside it what both directions say after the word that changes it."""
        chosen, shown, k = self.sentences[self.at], self.shown(), self._next()
        heads, cells, told = ["word", "from the left", "both directions"], [list(row) for row in shown], ""
        if k:
            new, tags = chosen["words"][k - 1], [self.tags[word[0]] for word in chosen["both"][k - 1]]
            heads = ["word", "from the left", f"both, up to “{shown[-1][0]}”", f"both, up to “{new}”"]
            cells += [[chosen["words"][t], self.tags[chosen["left"][t][0]], ""] for t in range(len(shown), k)]
            changed = [t for t, (_, _, both) in enumerate(shown) if both != tags[t]]
            for row, tag in zip(cells, tags, strict=True):
                row.append(tag)
            what = " and ".join(f"“{shown[t][0]}” from {shown[t][2]} to {tags[t]}" for t in changed)
            told = f" With both directions, “{new}” changes {what}; from the left nothing changes."
        head = "".join(f"<th scope='col'>{html.escape(words)}</th>" for words in heads)
        rows = "".join(
            f"<tr><th scope='row'>{html.escape(word)}</th>{''.join(f'<td>{cell}</td>' for cell in said)}</tr>"
            for word, *said in cells
        )
        words = html.escape(self.alt + told)
        return f"<p>{words}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
