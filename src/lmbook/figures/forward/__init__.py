"""ForwardPass: a feed-forward language model, every unit a button that says where its number comes from.

    e = [E w_t-3; E w_t-2; E w_t-1]      h = sigma(W e)      z = U h      y_hat = softmax(z)

The weights are those of the recipe captions-feedforward, rounded to three decimals; the page computes the rest anew
(forward.mjs), and here NumPy does for the first view and for the tests.
"""

import html
from collections.abc import Sequence

import numpy as np
import traitlets

from lmbook.figures import Figure, bars_svg, draws_nothing, says
from lmbook.lab import checkpoints
from lmbook.text import MASK, PAD, UNK

RECIPE = "captions-feedforward"
SHOWN = 8  # words of the prediction that are drawn
EXAMPLES = ("a man in", "a group of", "in front of", "two men are", "is wearing a", "the street .")


@draws_nothing
def trained() -> dict:
    """The weights and words of the trained model, as the figure holds them."""
    model, vocabulary, _ = checkpoints.load(RECIPE)
    names = {"E": "embedding", "W": "W", "U": "output"}
    weights = {letter: getattr(model, name).weight.detach().double().numpy() for letter, name in names.items()}
    return {"words": vocabulary.tokens} | {letter: (np.round(w, 3) + 0.0).tolist() for letter, w in weights.items()}


class ForwardPass(Figure):
    """The forward pass as a diagram: choose three words, click a unit, and see its numbers and their sources.

    history: three words, the last one next to the prediction; words that the model does not know become <unk>.
    chosen: the unit in view, "e1", "e2" and so on, "h1" and so on, or "z" and a word's id, such as "z17".
    words, E (a row a word), W and U: the model; by default the trained one. Title, caption and alt may be given too.

    Raises ValueError for another number of words and for units that do not exist.
    """

    module = "forward"
    title = says("Each hidden unit has separate weights for each position")
    caption = says(
        "Swap two words: their vectors stay the same, but not what they give. Click any unit to see its numbers. "
        "Then write the likeliest word again and again: when is the beginning forgotten?"
    )

    words = traitlets.List().tag(sync=True)
    E = traitlets.List().tag(sync=True)
    W = traitlets.List().tag(sync=True)
    U = traitlets.List().tag(sync=True)
    history = traitlets.List().tag(sync=True)
    chosen = traitlets.Unicode("h3").tag(sync=True)
    examples = traitlets.List().tag(sync=True)
    shown = traitlets.Int(SHOWN).tag(sync=True)

    def __init__(self, history: Sequence[str] = ("a", "man", "in"), **state):
        if "words" not in state:
            state |= trained()
        known = {word: i for i, word in enumerate(state["words"])}
        ids = [known.get(word, known[UNK]) for word in history]
        if len(ids) * len(state["E"][0]) != len(state["W"][0]) or known[PAD] in ids or known[MASK] in ids:
            raise ValueError(f"history is {list(history)}; give three words, the nearest last.")
        state.setdefault("examples", [row for row in EXAMPLES if all(word in known for word in row.split())])
        super().__init__(history=ids, **state)

    @traitlets.validate("chosen")
    def _check_chosen(self, proposal):
        letter, number = proposal["value"][:1], proposal["value"][1:]
        sizes = {"e": len(self.W[0]), "h": len(self.W), "z": len(self.words) - 1} if self.W else {}
        first = 0 if letter == "z" else 1
        if sizes and not (letter in sizes and number.isdecimal() and first <= int(number) <= sizes[letter]):
            units = f"e1 to e{sizes['e']}, h1 to h{sizes['h']}, or z and an id"
            raise ValueError(f"chosen is {proposal['value']!r}; choose {units}.")
        return proposal["value"]

    def numbers(self) -> dict[str, np.ndarray]:
        """Every layer of the pass: e, a = W e, h, z and y_hat."""
        E, W, U = (np.array(w) for w in (self.E, self.W, self.U))
        e = E[self.history].reshape(-1)
        a = W @ e
        h = 1 / (1 + np.exp(-a))
        z = U @ h
        y_hat = np.exp(z - z.max())
        return {"e": e, "a": a, "h": h, "z": z, "y_hat": y_hat / y_hat.sum()}

    def likeliest(self) -> list[tuple[str, float]]:
        """The words that the figure draws, with their probabilities."""
        y_hat = self.numbers()["y_hat"]
        return [(self.words[i], float(y_hat[i])) for i in np.argsort(-y_hat, kind="stable")[: self.shown]]

    def _describe(self, change=None):
        h = self.numbers()["h"]
        said = ", ".join(f"“{word}” {p:.2f}" for word, p in self.likeliest()[:3])
        self.alt = (
            f"A network of three words, {len(self.W[0])} entries of their vectors, {len(h)} hidden units between"
            f" {h.min():.2f} and {h.max():.2f}, and {len(self.words)} words to come. After"
            f" “{' '.join(self.words[i] for i in self.history)}” the likeliest are {said}."
        )

    def fallback(self) -> str:
        rows = [(word, p, f"{p:.3f}") for word, p in self.likeliest()]
        return f"<p>{html.escape(self.alt)}</p>{bars_svg(rows, alt='Probabilities of the likeliest next words')}"
