"""GPTWriter: a trained GPT of characters writes in the page, under the reader's prompt, temperature, top-k and top-p.

    p = softmax(logits / temperature), cut to the top_k likeliest, then to the fewest that have top_p together

The model is the shipped one of the recipe shakespeare. In the page it is computed in JavaScript (gpt.mjs) from the same
file of weights, fetched when a reader has it write; logits and attention of the first view stand in the state.
"""

import functools
import html

import traitlets

from lmbook.figures import Figure, bars_svg, bundle, draws_nothing, says
from lmbook.lab import checkpoints

MODEL, SLIDE, MOST, SHOWN = "shakespeare", 16, 400, 8  # recipe, tokens that leave a full window, characters, bars
EXAMPLES = ["ROMEO:\n", "To be, or not to", "KING ", "My lord, the sea", "The king of France is "]

BESIDE = [  # behind the first of EXAMPLES, with the draws of seed 0
    [0.0, "I will the see the see the see the see the seal\nThat shall the sent the see the see the se"],
    [0.8, "No, the rear, with the presenger and drishomen,\nFor I spose thee no must my soul!\n\nRICHARD"],
    [1.5, "No, time; Cleets,--fon our duket' no,\norrit, thed nadrowsmaltily's-bowl. My rish,\nIs ho!\na"],
]


@functools.cache
@draws_nothing
def shipped():
    """The tokens of the shipped model by id, and the model, with a window that slides by SLIDE."""
    model, tokenizer, _ = checkpoints.load(MODEL, slide=SLIDE)
    return tokenizer.vocabulary.tokens, model


def named(char: str) -> str:
    return {"\n": "the line end", " ": "the space"}.get(char, f"“{char}”")


class GPTWriter(Figure):
    """A GPT that writes a character at a time, with its next distribution and the attention of the last character.

    prompt, written: the text so far.  temperature, top_k (0: all), top_p: as lmbook.decode.distribution.  seed: of the
    draws.  layer, head (-1: the mean of all): whose attention is shown, from 0.  Refuses a character
    that the model does not have, and numbers out of their range.
    """

    module = "writer"
    models = (MODEL,)
    title = says("Without chance the text repeats itself; with too much of it the words fall apart")
    caption = says(
        "The same draws at three temperatures, repeats underlined. Let it write, then move the temperature: the first "
        "character that differs is marked. At 1.5, bring the words back with top-p alone."
    )

    tokens = traitlets.List().tag(sync=True)
    n_heads = traitlets.Int(4).tag(sync=True)
    window = traitlets.Int().tag(sync=True)
    slide = traitlets.Int().tag(sync=True)
    examples = traitlets.List(EXAMPLES).tag(sync=True)
    prompt = traitlets.Unicode("ROMEO:\n").tag(sync=True)
    written = traitlets.Unicode("").tag(sync=True)
    temperature = traitlets.Float(0.8, min=0, max=2).tag(sync=True)
    top_k = traitlets.Int(0, min=0, max=65).tag(sync=True)
    top_p = traitlets.Float(1.0, min=0.01, max=1).tag(sync=True)
    seed = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(3, min=0, max=3).tag(sync=True)
    head = traitlets.Int(-1, min=-1, max=3).tag(sync=True)
    beside = traitlets.List(BESIDE).tag(sync=True)  # [temperature, what it writes behind the first example]
    first = traitlets.Dict().tag(sync=True)
    bytes = traitlets.Int().tag(sync=True)

    def __init__(self, **state):
        tokens, model = shipped()
        state = {"tokens": tokens, "window": model.window, "slide": model.slide} | state
        super().__init__(**{"alt": "…"} | state)
        if self.alt == "…":  # not at each change: to read a long text takes the model half a second
            self._describe()
        text = self.prompt + self.written
        logits, attention = self.after(text)
        self.first = {
            "text": text,
            "logits": [0.0] * 5 + [round(z, 4) for z in logits[5:].tolist()],  # special ones are never drawn
            "attention": [[[round(a, 4) for a in head] for head in layer] for layer in attention.tolist()],
        }
        self.bytes = len(bundle.weights(MODEL)[0])

    @traitlets.validate("prompt", "written")
    def _check_text(self, proposal):
        name, text = proposal["trait"].name, proposal["value"]
        if unknown := sorted(set(text) - set(self.tokens)):
            raise ValueError(f"{name} has {', '.join(map(repr, unknown))}, which the model does not know.")
        if len(text) > MOST or (name == "prompt" and not text):
            raise ValueError(f"{name} has {len(text)} characters; it may have {MOST}, and a prompt has at least 1.")
        return text

    def after(self, text: str):
        """The logits after a text, special ids at -inf, and the attention of its last character (layer, head, T)."""
        import torch

        tokens, model = shipped()
        number = {token: i for i, token in enumerate(tokens)}
        state = model.start(1)
        with torch.no_grad():
            for char in text:
                logits, state = model.step(torch.tensor([number[char]]), state)
            _, weights = model(state["tokens"], need_weights=True)
        logits[:, :5] = -torch.inf
        return logits[0], torch.stack([layer[0, :, -1] for layer in weights])

    def next(self) -> list[tuple[str, float, float]]:
        """(character, the model's probability, the probability that it is drawn with), the likeliest first."""
        from lmbook.decode import distribution

        logits, _ = self.after(self.prompt + self.written)
        own, p = distribution(logits), distribution(logits, self.temperature, self.top_k or None, self.top_p)
        rows = list(zip(self.tokens, own.tolist(), p.tolist(), strict=True))[5:]
        return sorted(rows, key=lambda row: -row[1])

    def _describe(self, change=None):
        rows = self.next()
        likeliest = ", ".join(f"{named(char)} {own:.2f}" for char, own, _ in rows[:3])
        self.alt = (
            f"A GPT of characters has read “{(self.prompt + self.written).strip()}”. Its likeliest next characters are"
            f" {likeliest}; at temperature {self.temperature:g} the first is drawn with {rows[0][2]:.2f}."
        )

    def fallback(self) -> str:
        rows = [({"\n": "↵", " ": "␣"}.get(char, char), p, f"{p:.2f}") for char, _, p in self.next()[:SHOWN]]
        text = html.escape(self.prompt + self.written)
        bars = bars_svg(rows, alt=self.alt, top=1.0)
        return f"<p style='white-space:pre-wrap'>{text}</p>{bars}<p>{html.escape(self.alt)}</p>"
