"""Trainer: small networks of the book are trained in the page, by the book's own gradients, on two cores in a minute.

    theta <- theta - rate m / (sqrt(v) + eps)       Adam, with the gradients of autograd.mjs

A lesson is a task, the networks that learn it, and one or more sets of data: built in, generated, or the reader's own
text, which stays in the page. What is seen before anything is trained is a recorded training by the same code
(`record`, kept in trainer.json), with how long it took.
"""

import functools
import html
import json
import math
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import traitlets

from lmbook import data
from lmbook.data.harbourish import ADJECTIVES, CONJUNCTIONS, INTRANSITIVE, NOUNS, PREPOSITIONS, TRANSITIVE
from lmbook.figures import Figure, bundle
from lmbook.figures.stills import plot_svg
from lmbook.plots import LINE_STYLES, SYSTEMS, system

PLACE = Path(__file__).with_name("trainer.json")
RATES = [0.03, 0.01, 0.005, 0.003, 0.001]
STEPS_A_CURVE = 30  # points of a recorded curve
DOTTED = LINE_STYLES.index(":")  # for the loss in training

SMALL_GPT = {"class": "GPT", "d_model": 32, "heads": 4, "n_layers": 2, "deviation": 0.08}
WINDOW = {"class": "FeedForwardLM", "d_model": 16, "hidden": 100, "window": 5}
PLAIN = {"class": "RecurrentLM", "cell": "rnn", "d_embed": 24, "hidden": 64}
NAMES = {"kind": "names", "B": 32, "network": WINDOW}
GPT_NAMES = {"kind": "names", "B": 32, "network": SMALL_GPT}
RNN = {"kind": "text", "B": 16, "T": 25, "network": PLAIN}
GPT_TEXT = {"kind": "text", "B": 12, "T": 32, "network": SMALL_GPT}
LARGE_GPT = {"class": "GPT", "d_model": 64, "heads": 4, "n_layers": 4, "deviation": 0.05}
GPT_LONG = {"kind": "text", "B": 8, "T": 64, "network": LARGE_GPT}
BOOKS = {**LARGE_GPT, "d_model": 128, "positions": "rotary"}  # as the recipe shakespeare
BOOKS_GPT = {"kind": "text", "B": 12, "T": 64, "network": BOOKS}
REVERSAL = {"kind": "reversal", "B": 32, "longest": 12, "symbols": 8, "lengths": [3, 6, 9, 12, 16]}
GAP = {"kind": "gap", "B": 32, "longest": 20, "symbols": 8, "gaps": [1, 5, 10, 20, 40]}
SHORT = {"d_model": 32, "heads": 4, "n_layers": 2, "deviation": 0.1}
TRANSLATION = {"kind": "translation", "B": 32, "network": {"class": "Transformer", **SHORT}}
BLANKS = {"kind": "blanks", "B": 32, "network": {"class": "MaskedLM", "window": 16, **SHORT}}
OWN_NAMES = "Names, one a line, at least 50; they stay in this page"
OWN_TEXT = "Paste a text of at least 800 characters, better 20,000; it stays in this page"


def _way(label: str, text: str, steps: int, unit: str, batch: int, runs: dict[str, dict], **more: object) -> dict:
    """One set of data.  text: of TEXTS, "own", or "" for drawn tasks.  batch: how many `unit` a step has."""
    runs = [{"label": name, "tone": 1 + SYSTEMS.get(system(name), 0), "about": about} for name, about in runs.items()]
    return {
        "label": label, "text": text, "steps": steps, "every": steps // STEPS_A_CURVE, "unit": unit, "batch": batch,
        "runs": runs, **more,
    }  # fmt: skip


def _falling(label: str, text: str, steps: int, *rest, **more: object) -> dict:
    """As `_way`; the rate climbs for a twentieth of the steps, then falls to 0, as in the recipe `shakespeare`."""
    return _way(label, text, steps, *rest, warmup=steps // 20, **more)


PAIRS = data.captions(1000, seed=0, max_words=7)
NUMBERED = {
    ("nouns, one", "nouns, several"): [(one, several) for one, (several, *_) in NOUNS.items()],
    ("verbs of one", "verbs of several"): [*TRANSITIVE, *INTRANSITIVE],
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
        "title": "A network learns to invent names while you watch",
        "caption": (
            "It sees five letters and says which comes next. Train it, and read what it writes: when do the names "
            "become pronounceable? Watch for the step at which the loss on held-out names stops falling while the "
            "other still falls. Then start with a rate of 0.03, or with a list of your own."
        ),
        "rate": 0.005,
        "ways": [
            _way("6,000 invented names", "names", 2400, "names", 32, {"network": NAMES}),
            _way("your own list", "own", 2400, "names", 32, {"network": NAMES}, asks=OWN_NAMES),
        ],
    },
    "text": {
        "title": "A recurrent network learns to write while you watch",
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
            }, counted="gap"),
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
            }, counted="length"),
        ],
    },
    "translation": {
        "title": "A Transformer learns a language while you watch",
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
        "title": "A blank tells BERT the kind of word, not the word",
        "caption": (
            "A BERT with two layers of width 32 reads captions in which some words are hidden. Train it. The bars say "
            "how often it names a word of the right kind: which kind comes first, which last? Then read its wrong "
            "answers: could anybody know better?"
        ),
        "rate": 0.003,
        "ways": [
            _way("", "captions", 1200, "captions", 32, {"BERT": BLANKS | {"kinds": WORDS}}),
        ],
    },
    "gpt": {
        "title": "A GPT is trained in this page, with 27,000 to 802,000 parameters",
        "caption": (
            "The model of this chapter, first with two layers of width 32. Train it on names and on the stories, and "
            "read what it writes as the loss falls. Then with four layers of width 64: where is its held-out loss "
            "lowest? Last, train it on a text of yours, and open its weights with lmbook.lab.checkpoints.load."
        ),
        "rate": 0.005,
        "ways": [
            _falling("6,000 invented names", "names", 1200, "names", 32, {"GPT": GPT_NAMES}),
            _falling("the book's short stories", "stories", 900, "characters", 384, {"GPT": GPT_TEXT}),
            _falling("the stories, 209,000 parameters", "stories", 2010, "characters", 512, {"GPT": GPT_LONG},
                     rate=0.003),
            _falling("your own text", "own", 2010, "characters", 512, {"GPT": GPT_LONG}, rate=0.003, asks=OWN_TEXT),
            _falling("a long text of yours, 802,000 parameters", "own", 2010, "characters", 768, {"GPT": BOOKS_GPT},
                     rate=0.003, asks="Paste a text of 100,000 to 1,200,000 characters; it stays in this page"),
        ],
    },
}  # fmt: skip


PROGRAM = """
import { training } from "./training.mjs";
import { readFileSync } from "fs";
const told = [];
const hear = training((message) => {
  told.push(message);
  const { user, system } = process.cpuUsage();
  if (message.done || message.error) console.log(JSON.stringify([told, (user + system) / 1e6]));
}, 100);
hear({ start: JSON.parse(readFileSync("start.json", "utf8")), go: true });
"""


def trained(way: dict, about: dict, rate: float, seed: int = 0) -> tuple[list[dict], float]:
    """What training.mjs tells of one training, in Node, whose JavaScript engine is Chromium's, and the CPU seconds.

    Raises RuntimeError where there is no Node, or the training ends with an error.
    """
    start = {key: way[key] for key in ("every", "steps", "warmup") if key in way} | {
        "abouts": [about],
        "seed": seed,
        "rate": rate,
        "text": TEXTS.get(way["text"], ""),
    }
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "training.mjs").write_text(bundle.bundle("training"), encoding="utf-8")
        (place / "run.mjs").write_text(PROGRAM, encoding="utf-8")
        (place / "start.json").write_text(json.dumps(start), encoding="utf-8")
        try:
            run = subprocess.run(["node", "run.mjs"], cwd=place, capture_output=True, text=True, check=True)
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            raise RuntimeError(f"the training did not run in Node: {getattr(error, 'stderr', error)}") from None
    told, seconds = json.loads(run.stdout)
    if "error" in told[-1]:
        raise RuntimeError(told[-1]["error"])
    return told[:-1], seconds


def marks(lesson: str, way: dict) -> list[tuple[float, str]]:
    """Losses to compare with: a guess, a table of counts on the same text, the GPT that made the names up."""
    if lesson == "gap":
        return [(round(math.log(GAP["symbols"]), 3), "a guess")]
    if lesson == "blanks":
        words = Counter(TEXTS["captions"].split())
        shares = [count / words.total() for count in words.values()]
        return [(round(-sum(p * math.log(p) for p in shares), 3), "words as often as they occur")]
    if way["text"] == "names":
        return [(round(_of_the_author(), 3), "the GPT that made them up")]
    return [(round(_of_counts(TEXTS["stories"], 3), 3), "a table of 3-grams")] if way["text"] == "stories" else []


def _of_the_author() -> float:
    """Mean loss of the shipped names-gpt on the names that it invented."""
    from lmbook import data
    from lmbook.lab import checkpoints
    from lmbook.lab.recipes.tasks import next_token_nll, texts
    from lmbook.lab.train import evaluate

    model, tokenizer, _ = checkpoints.load("names-gpt")
    return evaluate(model, texts([tokenizer.encode(name) for name in data.invented_names()], 256), next_token_nll)


def _of_counts(text: str, order: int) -> float:
    """Mean loss of a Kneser-Ney table of nine tenths of a text on the rest."""
    import numpy as np

    from lmbook.counts import Counts
    from lmbook.ngram import KneserNey

    cut = -(-len(text) * 9 // 10)
    number = {char: i for i, char in enumerate(sorted(set(text[:cut])))}
    train, held_out = (np.array([number[char] for char in part if char in number]) for part in (text[:cut], text[cut:]))
    return float(-KneserNey(Counts(train, order, len(number)), order).log_probs(held_out).mean())


def compute(lesson: str) -> list[dict | None]:
    """What trainer.json holds of a lesson: for each set of data the recorded training, None for the reader's own."""

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 3)

    records = []
    for way in LESSONS[lesson]["ways"]:
        if way["text"] == "own":
            records.append(None)
            continue
        runs, seconds = [], []
        for run in way["runs"]:
            told, took = trained(way, run["about"], way.get("rate", LESSONS[lesson]["rate"]))
            points = [[one["step"], rounded(one["train"]), rounded(one["valid"])] for one in told]
            last = {key: told[-1][key] for key in ("samples", "right") if key in told[-1]}
            runs.append({"label": run["label"], "points": points} | last)
            seconds.append(took)
        records.append({"seconds": round(max(seconds), 1), "runs": runs, "marks": marks(lesson, way)})
    return records


@functools.cache
def stored() -> dict:
    return json.loads(PLACE.read_text("utf-8"))


class Trainer(Figure):
    """Networks that are trained in the page.

    lesson: "names", "text", "gap", "race", "translation", "blanks" or "gpt", with what is needed to train it and its
    record.  rate, seed: with which the training starts; the record has the seed 0.  Refuses another lesson, and a rate
    or seed that cannot be.
    """

    module = "trainer"
    state_version = 2

    lesson = traitlets.Dict().tag(sync=True)
    rate = traitlets.Enum(RATES).tag(sync=True)
    seed = traitlets.Int(1, min=0, max=999_999).tag(sync=True)

    def __init__(self, lesson: str, **state):
        if lesson not in LESSONS:
            raise ValueError(f"there is no lesson {lesson!r}; there are {', '.join(LESSONS)}.")
        about = LESSONS[lesson]
        kept = stored()[lesson]
        self._shown = next(one for one in kept if one)
        ways = [
            {**way, "record": one, "marks": one["marks"] if one else []}
            for way, one in zip(about["ways"], kept, strict=True)
        ]
        texts = {way["text"]: TEXTS[way["text"]] for way in ways if way["text"] in TEXTS}
        state["lesson"] = {"name": lesson, "rates": RATES, "rate": about["rate"], "texts": texts, "ways": ways}
        for name in ("title", "caption", "rate"):
            state.setdefault(name, about[name])
        state.setdefault("alt", self._describe())
        super().__init__(**state)

    def _describe(self) -> str:
        """The recorded training in words."""
        seconds, runs = self._shown["seconds"], self._shown["runs"]
        ends = " and ".join(f"{run['points'][-1][2]:.2f} ({run['label']})" for run in runs)
        first, last = runs[0]["points"][0], runs[0]["points"][-1]
        each = " of each" if len(runs) > 1 else ""
        return (
            f"A recorded training: {last[0]:,} steps{each} took {seconds:.0f} seconds on one core, and the held-out "
            f"loss went from {first[2]:.2f} nats to {ends}."
        )

    def fallback(self) -> str:
        """The recorded curves, drawn, and what was written at the end. The curve in training only where it is alone."""
        runs, curves = self._shown["runs"], []
        for run in runs:
            place = SYSTEMS.get(system(run["label"]), 0)
            held_out = [(step, value) for step, _, value in run["points"]]
            label = run["label"] if len(runs) > 1 else "held out"
            curves.append((f"{label} {held_out[-1][1]:.2f}", place, 2.2, held_out))
        if len(runs) == 1:
            training = [(step, value) for step, value, _ in runs[0]["points"] if value is not None]
            curves.append((f"training {training[-1][1]:.2f}", DOTTED, 1.6, training))
        up = "held-out loss, nats" if len(runs) > 1 else "loss, nats"
        marks = [(value, f"{name} {value:.2f}") for value, name in self._shown["marks"]]
        words = [sample["text"] for run in runs for sample in run.get("samples", [])]
        written = ", ".join(words) if len(words) > 2 else "\n".join(words)
        says = f'<p style="white-space:pre-wrap">{html.escape(written)}</p>' if written else ""
        return f"{plot_svg(curves, marks, alt=self.alt, across='step', up=up)}{says}<p>{html.escape(self.alt)}</p>"
