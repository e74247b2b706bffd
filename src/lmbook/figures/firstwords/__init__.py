"""FirstWords: the GPT of chapter 17 writes on from the reader's words, on the first page of the book.

What is seen before its weights are fetched, and where no script runs, was written by the same model with the same
draws: WRITTEN, and NEXT, the likeliest characters after it. A test has the page's model write them again.
"""

import html

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
NEXT = [["t", 0.3297], ["h", 0.1344], ["m", 0.1234], ["a", 0.0550], ["y", 0.0499], ["s", 0.0441]]


class FirstWords(Figure):
    """A GPT of characters writes after a prompt, one draw at a time, beside the distribution that it draws from.

    prompt, written: the text so far.  next: the likeliest characters after it, as [character, P].  temperature,
    seed: of the draws.
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
