"""FirstWords: the GPT of chapter 17 writes on from the reader's words, on the first page of the book.

What is seen before its weights are fetched, and where no script runs, was written by the same model with the same
draws: WRITTEN, and after it each character with the nats that its logit lies below the largest, so that the temperature
acts before anything is fetched. A test has the page's model write them again.
"""

import html
import math

import traitlets

from lmbook.figures import Figure, bars_svg, says

PROMPT = "ROMEO:\n"
TEMPERATURE = 0.7
WRITTEN = (
    "God day, sir, the poor think my blood\n"
    "To fut my lord, made tide honour thund him,\n"
    "So I crust and come for as our hears.\n"
    "But was not of it death? stand not, that door;\n"
    "When that this tenders her not a slow the fair.\n"
    "\n"
    "DUKE VINCENTIO:\n"
    "You make with the brands of "
)
SEED = 2
CHARACTERS = "thmaysclidwbGnofpgIReEMruBCYHLjkPAvSqTJ'WDFNVKO Uxz\nQ-:;,.XZ!?3&$"
BELOW = [
    0.0,
    0.628,
    0.688,
    1.254,
    1.321,
    1.409,
    1.615,
    1.775,
    1.854,
    1.855,
    1.855,
    2.256,
    2.355,
    2.391,
    2.408,
    2.445,
    2.528,
    2.594,
    2.651,
    2.666,
    2.709,
    2.776,
    3.062,
    3.119,
    3.266,
    3.387,
    3.411,
    3.433,
    3.498,
    3.576,
    3.587,
    3.873,
    4.076,
    4.079,
    4.195,
    4.276,
    4.368,
    4.387,
    4.447,
    4.586,
    4.66,
    4.721,
    4.776,
    5.24,
    5.509,
    5.514,
    6.193,
    6.623,
    6.745,
    6.861,
    6.934,
    6.989,
    7.234,
    7.668,
    7.8,
    8.032,
    8.047,
    8.201,
    8.225,
    8.416,
    8.472,
    8.548,
    9.997,
    10.191,
    13.22,
]
SHOWN = 6


def likeliest(odds: list, temperature: float) -> list[list]:
    """The likeliest characters at a temperature, as [character, P]. odds: [character, nats below the largest logit]."""
    mass = [math.exp(-below / temperature) for _, below in odds]
    return [[char, round(m / sum(mass), 4)] for (char, _), m in zip(odds[:SHOWN], mass, strict=False)]


ODDS = [list(pair) for pair in zip(CHARACTERS, BELOW, strict=True)]
NEXT = likeliest(ODDS, TEMPERATURE)


class FirstWords(Figure):
    """A GPT of characters writes after a prompt, one draw at a time, beside the distribution that it draws from.

    prompt, written: the text so far.  next: the likeliest characters after it, as [character, P].  odds: of those after
    the recorded text, for other temperatures.  temperature, seed: of the draws.
    """

    module = "firstwords"
    title = says("0.8 million numbers write almost English, one character after the other")
    caption = says(
        "By chapter 17 you know what every one of them is for. This GPT learned from a million characters of "
        "Shakespeare. Type a beginning of your own and press the button; then raise the temperature, and watch the "
        "bars flatten and the words fall apart."
    )
    models = ("shakespeare",)

    prompt = traitlets.Unicode(PROMPT).tag(sync=True)
    written = traitlets.Unicode(WRITTEN).tag(sync=True)
    next = traitlets.List(NEXT).tag(sync=True)
    odds = traitlets.List(ODDS).tag(sync=True)
    temperature = traitlets.Float(TEMPERATURE, min=0.2, max=1.6).tag(sync=True)
    seed = traitlets.Int(SEED).tag(sync=True)

    def __init__(self, **state):
        (best, p), (second, q), *_ = self._named()
        state.setdefault(
            "alt",
            f"A GPT of characters has written {len(WRITTEN)} characters after “{PROMPT.strip()}”. For the next one it "
            f"gives {best} {p:.2f} and {second} {q:.2f}.",
        )
        super().__init__(**state)

    @staticmethod
    def _named() -> list[tuple[str, float]]:
        return [({"\n": "a new line", " ": "a space"}.get(char, f"“{char}”"), p) for char, p in NEXT]

    def fallback(self) -> str:
        rows = [({"\n": "↵", " ": "␣"}.get(char, char), p, f"{p:.2f}") for char, p in self.next]
        text = f"<b>{html.escape(self.prompt)}</b>{html.escape(self.written)}"
        return f"<p style='white-space:pre-wrap'>{text}</p>{bars_svg(rows, alt=self.alt, top=1.0)}"
