"""MaskPainter: which outputs of a stack of self-attention can depend on which inputs, for a mask that one paints.

    one layer     output i depends on input j where mask[i][j] is 1, and on i itself if there is a residual
    L layers      R_0 = I,  R_{l+1} = (mask or I) R_l  in Booleans: a path of one permitted step a layer

A causal model needs R to be 0 above its diagonal: an entry there is a leak. The page computes every entry anew
(masks.mjs, reach.mjs).
"""

import numpy as np
import traitlets

from lmbook.figures import Figure, counts, says, table_html

WORDS = ("the", "seal", "on", "the", "rock", "barks", "at", "us")
PREFIX, PADDED = 3, 2  # words of the prefix; words at the end that are taken for padding
PRESETS = ("full", "causal", "prefix", "padding", "neighbours")
MOST_LAYERS = 7


def preset(name: str, T: int) -> list[list[int]]:
    """One of PRESETS for T positions, as rows of 0 and 1. Raises ValueError for another name."""
    i, j = np.indices((T, T))
    masks = {
        "full": i >= 0,
        "causal": j <= i,
        "prefix": (j <= i) | (j < PREFIX),
        "padding": j < T - PADDED,
        "neighbours": abs(i - j) <= 1,
    }
    if name not in masks:
        raise ValueError(f"there is no mask {name!r}; there are {', '.join(PRESETS)}.")
    return masks[name].astype(int).tolist()


def reach(mask: list[list[int]], layers: int, residual: bool) -> list[list[int]]:
    """reach[i][j] = 1 where output i of that many layers can depend on input j."""
    step = np.array(mask, dtype=bool)
    if residual:
        step = step | np.eye(len(step), dtype=bool)
    seen = np.eye(len(step), dtype=bool)
    for _ in range(layers):
        seen = (step.astype(int) @ seen.astype(int)) > 0
    return seen.astype(int).tolist()


class MaskPainter(Figure):
    """Paint a mask, choose the number of layers, and see what each output can depend on.

    words: one for each position, 3 to 10.  mask: rows of 0 and 1, one row an output, or the name of one of PRESETS.
    layers: 1 to 7.  residual: whether each layer hands a position's own vector on.  chosen: the output, from 0.
    """

    module = "masks"
    title = says("One layer sees what its mask allows; layers together see further")
    caption = says(
        "Filled cells are looked at in one layer, hatched ones are seen through other words. Raise the layers. Then "
        "take “causal” and paint one cell two places above the diagonal: which outputs see a later word in one layer, "
        "and which in two?"
    )

    words = traitlets.List(traitlets.Unicode()).tag(sync=True)
    mask = traitlets.List().tag(sync=True)
    layers = traitlets.Int(2, min=1, max=MOST_LAYERS).tag(sync=True)
    residual = traitlets.Bool().tag(sync=True)
    chosen = traitlets.Int().tag(sync=True, counts="words")
    _chosen_exists = counts("chosen", "words")
    prefix = traitlets.Int(PREFIX).tag(sync=True)
    padded = traitlets.Int(PADDED).tag(sync=True)

    def __init__(self, words=WORDS, mask="neighbours", layers=2, residual=True, chosen=4, **state):
        if not 3 <= len(words) <= 10:
            raise ValueError(f"there are {len(words)} words; give 3 to 10.")
        if isinstance(mask, str):
            mask = preset(mask, len(words))
        super().__init__(words=list(words), mask=mask, layers=layers, residual=residual, chosen=chosen, **state)

    @traitlets.validate("mask")
    def _check_mask(self, proposal):
        mask, T = proposal["value"], len(self.words)
        if len(mask) != T or any(len(row) != T or set(row) - {0, 1} for row in mask):
            raise ValueError(f"the mask must have {T} rows of {T} numbers, each 0 or 1.")
        return mask

    def reach(self) -> list[list[int]]:
        """Which outputs (rows) can depend on which inputs (columns)."""
        return reach(self.mask, self.layers, self.residual)

    def leaks(self) -> list[tuple[int, int]]:
        """The pairs (output, input) with a later input, counted from 0."""
        return [(i, j) for i, row in enumerate(self.reach()) for j, seen in enumerate(row) if seen and j > i]

    def _seen(self) -> str:
        places = [j + 1 for j, seen in enumerate(self.reach()[self.chosen]) if seen]
        return ", ".join(map(str, places)) or "none"

    def _describe(self, change=None):
        T, leaks = len(self.words), len(self.leaks())
        layers = f"{self.layers} layer{'s' if self.layers > 1 else ''}"
        self.alt = (
            f"A mask of {T} by {T} cells with {sum(map(sum, self.mask))} allowed. After {layers} output"
            f" {self.chosen + 1}, “{self.words[self.chosen]}”, can depend on these inputs: {self._seen()}."
            f" {leaks} of {T * (T - 1) // 2} pairs of an output and a later input are connected."
        )

    def fallback(self) -> str:
        rows = (
            (word, *("sees" if seen else "–" for seen in row))
            for word, row in zip(self.words, self.reach(), strict=True)
        )
        return super().fallback() + table_html(("output", *self.words), rows)
