"""UnrolledRNN: the states of a trained recurrent network along a text, step by step and unit by unit.

    h_t = tanh(W_hh h_{t-1} + W_xh x_t + b)      P(w_{t+1} | w_1..w_t) = softmax(W_hy h_t + b_y)

The states are those of the shipped recipe shakespeare-rnn on held-out passages, computed once by `compute` and kept in
unrolled.json: 160 units a step, each rounded to a whole number of 127ths; probabilities to thousandths. A text of the
reader's is read by the same network in the page (engine.mjs).
"""

import base64
import html
import json
from functools import cache
from importlib import resources

import numpy as np
import traitlets

from lmbook.figures import Figure, bundle, counts, says

STEPS, UNITS, TOP, SCALE = 120, 160, 3, 127
PLACES = (80_327, 93_326, 70_058)  # where the passages begin in the held-out text
BEFORE = 300  # characters that the network has read before
SIGNS = {" ": "␣", "\n": "⏎"}


@cache
def stored() -> list[dict]:
    """The passages: text, states (base64 of int8, step by step), top and p (TOP a step), came (thousandths)."""
    return json.loads(resources.files("lmbook.figures").joinpath("unrolled", "unrolled.json").read_text("utf-8"))


def compute() -> list[dict]:
    """What unrolled.json holds, from the shipped weights and the corpus. Raises ValueError without the real corpus."""
    import torch

    from lmbook import data
    from lmbook.lab import checkpoints

    corpus = data.load("tinyshakespeare")
    if not corpus.real:
        raise ValueError("the passages come from Tiny Shakespeare itself; lmbook data fetch tinyshakespeare gets it.")
    model, tokenizer, _ = checkpoints.load("shakespeare-rnn")
    passages = []
    for place in PLACES:
        text = corpus["valid"][place - BEFORE : place + STEPS + 1]
        ids = torch.tensor([tokenizer.encode(text)])
        with torch.no_grad():
            h = model.features(ids[:, :-1])[0][0, BEFORE:]
            p = torch.softmax(model.output(h), dim=-1)
        best = p.topk(TOP, dim=-1)
        came = p.gather(1, ids[0, BEFORE + 1 :, None])
        states = np.round(SCALE * h.numpy()).astype(np.int8)
        passages.append(
            {
                "text": text[BEFORE:],  # one character more than there are states: what came after the last
                "states": base64.b64encode(states.tobytes()).decode(),
                "top": tokenizer.decode(best.indices.flatten().tolist()),
                "p": [round(1000 * x) for x in best.values.flatten().tolist()],
                "came": [round(1000 * x) for x in came.flatten().tolist()],
            }
        )
    return passages


def visible(character: str) -> str:
    return SIGNS.get(character, character)


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


class UnrolledRNN(Figure):
    """Scrub along a passage; see h_t as a strip of 160 units, and choose a unit to see where it fires.

    passage: 0, 1 or 2, and 3 for the reader's own, once there is one.  t: the step, from 0.
    unit: 0 to 159.  known: units to try, as pairs [unit, what it goes with].
    Title, caption and alternative text may be given too.  Refuses what does not exist.
    """

    module = "unrolled"
    title = says("One state is rewritten at every character, and some of its units can be read")
    caption = says(
        "Move along the text, ours or your own, and watch the strip: how much of it changes from one character to "
        "the next? Then choose a unit, by number or in the strip: what do the characters at which it is positive have "
        "in common? Find one that stays through a whole name."
    )
    models = ("shakespeare-rnn",)

    passages = traitlets.List().tag(sync=True)
    passage = traitlets.Int(0).tag(sync=True, counts="passages")
    _passage_exists = counts("passage", "passages")
    t = traitlets.Int(0, min=0, max=STEPS - 1).tag(sync=True)
    unit = traitlets.Int(0, min=0, max=UNITS - 1).tag(sync=True)
    known = traitlets.List().tag(sync=True)
    bytes = traitlets.Int().tag(sync=True)

    def __init__(self, passage: int = 0, t: int = 30, unit: int = 153, known=(), **state):
        super().__init__(
            passages=list(stored()),
            bytes=len(bundle.weights(self.models[0])[0]),
            passage=passage,
            t=t,
            unit=unit,
            known=[[int(u), str(what)] for u, what in known],
            **state,
        )

    def step(self) -> int:
        """t, or the last step of a passage that is shorter."""
        return min(self.t, len(self.passages[self.passage]["came"]) - 1)

    def states(self) -> np.ndarray:
        """The states of the chosen passage: (steps, units)."""
        flat = np.frombuffer(base64.b64decode(self.passages[self.passage]["states"]), dtype=np.int8)
        return flat.reshape(-1, UNITS) / SCALE

    def guesses(self) -> list[tuple[str, float]]:
        """The likeliest next characters at step t, with their probabilities."""
        now, t = self.passages[self.passage], self.step()
        at = slice(TOP * t, TOP * (t + 1))
        return [(c, p / 1000) for c, p in zip(now["top"][at], now["p"][at], strict=True)]

    def _describe(self, change=None):
        now, t = self.passages[self.passage], self.step()
        h, read, came = self.states()[t], now["text"][: t + 1], now["text"][t + 1]
        guess, p = self.guesses()[0]
        self.alt = (
            f"After “{''.join(map(visible, read[-15:]))}”, character {t + 1} of {len(now['came'])}, unit {self.unit} is"
            f" {signed(h[self.unit])}, and {int((h > 0.5).sum())} of the 160 units are above one half. The likeliest"
            f" next character is “{visible(guess)}”, with probability {p:.2f}; “{visible(came)}” came."
        )

    def fallback(self) -> str:
        """The strip at step t: a square for each unit, its size |h|, filled where h is positive."""
        cells = []
        for i, value in enumerate(self.states()[self.step()]):
            x, y, side = 10 * (i % 40) + 5, 10 * (i // 40) + 5, 1.5 + 7 * abs(value)
            look = 'fill-opacity="0.7"' if value > 0 else 'fill="none" stroke="currentColor"'
            cells.append(
                f'<rect x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" width="{side:.1f}" height="{side:.1f}" {look}/>'
            )
        alt = html.escape(self.alt)
        return (
            f'<svg role="img" aria-label="{alt}" viewBox="0 0 400 46" width="400" style="max-width:100%;height:auto" '
            f'fill="currentColor">{"".join(cells)}</svg><p>{alt}</p>'
        )
