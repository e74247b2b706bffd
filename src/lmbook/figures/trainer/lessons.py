"""The lessons of the Trainer: tasks, the networks that learn them, and their sets of data."""

from lmbook import data
from lmbook.data.harbourish import ADJECTIVES, CONJUNCTIONS, INTRANSITIVE, NOUNS, PREPOSITIONS, TRANSITIVE
from lmbook.plots import SYSTEMS, system

RATES = [0.03, 0.01, 0.005, 0.003, 0.001]
REPORTS = 30  # of a training, those after steps; so many that they cost at most a twentieth of it

SMALL_GPT = {"class": "GPT", "d_model": 32, "heads": 4, "n_layers": 2, "deviation": 0.08}
WINDOW = {"class": "FeedForwardLM", "d_model": 16, "hidden": 100, "window": 5}
PLAIN = {"class": "RecurrentLM", "cell": "rnn", "d_embed": 24, "hidden": 64}
NAMES = {"kind": "names", "B": 32, "network": WINDOW}
GPT_NAMES = {"kind": "names", "B": 32, "listed": True, "network": SMALL_GPT}  # drawn one by one, so in no order
RNN = {"kind": "text", "B": 16, "T": 25, "network": PLAIN}
GPT_TEXT = {"kind": "text", "B": 12, "T": 32, "network": SMALL_GPT}
LARGE_GPT = {"class": "GPT", "d_model": 64, "heads": 4, "n_layers": 4, "deviation": 0.05}
GPT_LONG = {"kind": "text", "B": 8, "T": 64, "network": LARGE_GPT}
BOOKS = {**LARGE_GPT, "d_model": 128, "positions": "rotary"}  # as the recipe shakespeare
BOOKS_GPT = {"kind": "text", "B": 12, "T": 64, "fewest": 100_000, "network": BOOKS}
REVERSAL = {"kind": "reversal", "B": 32, "longest": 12, "symbols": 8, "lengths": [3, 6, 9, 12, 16]}
GAP = {"kind": "gap", "B": 32, "longest": 20, "symbols": 8, "gaps": [1, 5, 10, 20, 40]}
SHORT = {"d_model": 32, "heads": 4, "n_layers": 2, "deviation": 0.1}
TRANSLATION = {"kind": "translation", "B": 32, "network": {"class": "Transformer", **SHORT}}
BLANKS = {"kind": "blanks", "B": 32, "network": {"class": "MaskedLM", "window": 16, **SHORT}}
OWN_NAMES = "Names, one a line, at least 50; they stay in this page"
OWN_TEXT = "Paste a text of at least 800 characters, better 20,000; it stays in this page"


def _way(label: str, text: str, steps: int, unit: str, batch: int, runs: dict[str, dict], reports: int = REPORTS,
         **more: object) -> dict:  # fmt: skip
    """One set of data.  text: of TEXTS, "own", or "" for drawn tasks.  batch: how many `unit` a step has."""
    runs = [{"label": name, "tone": 1 + SYSTEMS.get(system(name), 0), "about": about} for name, about in runs.items()]
    return {
        "label": label, "text": text, "steps": steps, "every": steps // reports, "unit": unit, "batch": batch,
        "runs": runs, **more,
    }  # fmt: skip


def _falling(label: str, text: str, steps: int, *rest, **more: object) -> dict:
    """As `_way`; the rate climbs for a twentieth of the steps, then falls to 0, as in the recipe `shakespeare`."""
    return _way(label, text, steps, *rest, warmup=steps // 20, **more)


PAIRS = data.captions(1000, seed=0, max_words=7)
NUMBERED = {
    ("nouns, singular", "nouns, plural"): [(one, several) for one, (several, *_) in NOUNS.items()],
    ("verbs, singular", "verbs, plural"): [*TRANSITIVE, *INTRANSITIVE],
}
WORDS = {
    kind: " ".join(words)
    for kinds, pairs in NUMBERED.items()
    for kind, words in zip(kinds, zip(*pairs, strict=True), strict=True)
} | {
    "adjectives": " ".join(ADJECTIVES),
    "articles": "a an the two",
    "prepositions": " ".join(PREPOSITIONS),
    "the rest": " ".join([*CONJUNCTIONS, "."]),
}
TEXTS = {
    "names": "\n".join(data.invented_names()) + "\n",
    "stories": "\n\n".join("\n".join(story) for story in data.harbour_stories()["train"]) + "\n",
    "pairs": "\n".join(map("\t".join, PAIRS)),
    "captions": "\n".join(source for source, _ in PAIRS),
}
LESSONS = {
    "names": {
        "title": "A network learns to invent names, and begins to overfit before the end",
        "caption": (
            "It sees five letters and says which comes next. Train it, and read what it writes: when do the names "
            "become pronounceable? Watch for the step at which the loss on held-out names stops falling while the "
            "other still falls. Then start with a rate of 0.03, or with a list of your own."
        ),
        "rate": 0.005,
        "ways": [
            _way("6,000 invented names", "names", 2400, "names", 32, {"network": NAMES}, reports=20),
            _way("your own list", "own", 2400, "names", 32, {"network": NAMES}, reports=20, asks=OWN_NAMES),
        ],
    },
    "text": {
        "title": "In 1,800 steps a recurrent network predicts better than a table of 3-grams",
        "caption": (
            "The network of this chapter, its gradient cut after each window; at every step one of 16 streams starts "
            "afresh. Train it and read on: what does it get right first, spaces, words or quotation marks? Then lower "
            "the rate to 0.001 and go on: does the loss fall once more? Last, give it a text of your own, and "
            "watch whether the loss on held-out text parts from the loss in training."
        ),
        "rate": 0.005,
        "ways": [
            _way("the book's short stories", "stories", 1800, "characters", 400, {"network": RNN}),
            _way("your own text", "own", 1800, "characters", 400, {"network": RNN}, asks=OWN_TEXT),
        ],
    },
    "gap": {
        "title": "The same task, the same steps: gates find the gap sooner",
        "caption": (
            "Two networks read a symbol, then up to 20 others, and are asked for the first one. Train them: at which "
            "step does each curve fall to 0, if it does? Compare the answers for a gap of 40, twice as long as any in "
            "the training. Then take another seed: which of the two curves changes more?"
        ),
        "rate": 0.01,
        "ways": [
            _way("", "", 1200, "questions", 32, {
                name: GAP | {"network": {"class": "RecurrentLM", "cell": cell, "d_embed": 16, "hidden": 32}}
                for name, cell in (("plain RNN", "rnn"), ("LSTM", "lstm"))
            }, counted="gap", reports=15),
        ],
    },
    "race": {
        "title": "What one vector learns slowly, looking back learns sooner",
        "caption": (
            "Two equal GRUs read up to 12 letters and write them backwards; one may also look back at all its states. "
            "Train both and compare the losses at equal steps. Which letters does the single vector get wrong? Both "
            "fail at 16, a length that neither was trained on."
        ),
        "rate": 0.005,
        "ways": [
            _way("", "", 1200, "sequences", 32, {
                name: REVERSAL | {"network": {"class": "Seq2Seq", "d_embed": 16, "hidden": 32, "attention": back}}
                for name, back in (("one vector", False), ("attention", True))
            }, counted="length", reports=15),
        ],
    },
    "translation": {
        "title": "In 900 steps a small Transformer translates most captions, the longest least often",
        "caption": (
            "Two layers of width 32 on each side read 900 captions and their counterparts in Harbourish. Train them: "
            "what is right first, the words, their order or their endings? Which lengths come last? Then take a rate "
            "of 0.03."
        ),
        "rate": 0.003,
        "ways": [
            _way("", "pairs", 900, "captions", 32, {"Transformer": TRANSLATION}, counted="tokens:"),
        ],
    },
    "blanks": {
        "title": "A blank tells BERT the kind of word, but seldom which noun, verb or adjective",
        "caption": (
            "A BERT with two layers of width 32 reads captions in which some words are hidden. Train it. A line says "
            "how often it names a word of the right kind, a bar how often the word itself: which comes first? Then "
            "read its wrong answers: could anybody know better?"
        ),
        "rate": 0.003,
        "ways": [
            _way("", "captions", 1200, "captions", 32, {"BERT": BLANKS | {"kinds": WORDS}}, reports=15),
        ],
    },
    "gpt": {
        "title": "A small GPT trained here on names comes within 0.2 nats of the one that made them",
        "caption": (
            "This chapter's model, with two layers of width 32; on names, the line below is their maker's. Train it on "
            "names and on the stories: what does it write as the loss falls? Then with four layers of width 64: from "
            "when on does only the loss in training fall? Last, on your own text."
        ),
        "rate": 0.005,
        "ways": [
            _falling("6,000 invented names", "names", 1200, "names", 32, {"GPT": GPT_NAMES}, reports=15),
            _falling("the book's short stories", "stories", 900, "characters", 384, {"GPT": GPT_TEXT}, reports=15),
            _falling("the stories, 209,000 parameters", "stories", 2010, "characters", 512, {"GPT": GPT_LONG},
                     rate=0.003),
            _falling("your own text", "own", 2010, "characters", 512, {"GPT": GPT_LONG}, rate=0.003, asks=OWN_TEXT),
            _falling("a long text of yours, 802,000 parameters", "own", 2010, "characters", 768, {"GPT": BOOKS_GPT},
                     rate=0.003, asks="Paste a text of 100,000 to 1,200,000 characters; it stays in this page"),
        ],
    },
}  # fmt: skip
