"""Trainer: small networks of the book are trained in the page, by the book's own gradients, on two cores in a minute.

    theta <- theta - rate m / (sqrt(v) + eps)       Adam, with the gradients of autograd.mjs

A lesson is a task, the networks that learn it, and one or more sets of data: built in, generated, or the reader's own
text, which stays in the page. What is seen before anything is trained is a recorded training by the same code
(`record`, kept in trainer.json), with how long it took.
"""

import html

import traitlets

from lmbook.figures import Figure
from lmbook.figures.stills import plot_svg
from lmbook.figures.trainer.bets import bet
from lmbook.figures.trainer.lessons import LESSONS, RATES, TEXTS
from lmbook.figures.trainer.recorded import PLACE, compute, stored
from lmbook.plots import LINE_STYLES, SYSTEMS, system

__all__ = ["LESSONS", "PLACE", "TEXTS", "Trainer", "compute", "stored"]
DOTTED = LINE_STYLES.index(":")  # for the loss in training


class Trainer(Figure):
    """Networks that are trained in the page.

    lesson: "names", "text", "gap", "race", "translation", "blanks" or "gpt", with what is needed to train it and its
    record.  rate, seed: with which the training starts; the records have the seeds 0 to 4.  Refuses another lesson,
    and a rate or seed that cannot be.
    """

    module = "trainer"
    state_version = 2

    lesson = traitlets.Dict().tag(sync=True)
    rate = traitlets.Enum(RATES).tag(sync=True)
    seed = traitlets.Int(5, min=0, max=999_999).tag(sync=True)

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
        lesson_ = {"name": lesson, "rates": RATES, "rate": about["rate"], "texts": texts, "ways": ways}
        state["lesson"] = lesson_ | {"bet": bet(lesson)}
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
