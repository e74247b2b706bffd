"""FixedVector: what comes back of a source through a state of m numbers, as the trained models of `recall` wrote it.

recall      symbols that come back in their places / symbols of the source, measured on many sources of each length
bits        a lower bound of what the state tells about a source: N log2 K - (negative log-likelihood in bits)
written     what each model wrote for the first N letters of one source
"""

import html
from math import log2

import traitlets

from lmbook.figures import Figure, bars_svg


class FixedVector(Figure):
    """Length of the source and size of the state choose a measured recall and a worked example.

    sizes: m of each model, rising.  source: letters, the longest source.  recall, bits, written: for each size a list
    over the lengths 1, 2, ..., len(source).  trained: the longest source in training.  symbols: K.
    Chosen: `length` (1 to len(source)) and `size` (one of sizes). Make it with from_record().
    """

    module = "bottleneck"

    sizes = traitlets.List(traitlets.Int()).tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    recall = traitlets.List().tag(sync=True)
    bits = traitlets.List().tag(sync=True)
    written = traitlets.List().tag(sync=True)
    trained = traitlets.Int().tag(sync=True)
    symbols = traitlets.Int().tag(sync=True)
    length = traitlets.Int().tag(sync=True)
    size = traitlets.Int().tag(sync=True)

    def __init__(self, sizes, source, recall, bits, written, trained, symbols, length=12, size=None, **state):
        rows = [len(row) for kind in (recall, bits, written) for row in kind]
        if not sizes or rows != [len(source)] * 3 * len(sizes):
            raise ValueError(
                f"each of {len(sizes)} sizes needs recall, bits and written for 1 to {len(source)} letters."
            )
        if any(len(text) != n for row in written for n, text in enumerate(row, 1)):
            raise ValueError("what is written for N letters must have N letters.")
        state.setdefault(
            "title", "Every state has a length that it gives back whole; past it the newest symbols are safest"
        )
        state.setdefault(
            "caption",
            "Drag the length until the first letter is lost, then make the state larger. How much longer can a source "
            "be with twice as many numbers? Then go past the dashed line, to lengths that no model was trained on.",
        )
        state.setdefault("alt", "…")  # said by _describe() as soon as the state is known
        chosen = {"length": length, "size": sizes[0] if size is None else size}
        data = {"recall": recall, "bits": bits, "written": written}
        super().__init__(sizes=sizes, source=source, trained=trained, symbols=symbols, **data, **chosen, **state)
        if state["alt"] == "…":
            self._describe()
            self.observe(self._describe, ["length", "size"])

    @classmethod
    def from_record(cls, record: dict, order: str = "backwards", **state) -> "FixedVector":
        """The figure of a recorded run of the recipe `recall`."""
        scores = record["scores"]
        runs = {int(m): run for m, run in scores[order].items()}
        sizes = sorted(runs)
        lists = {kind: [runs[m][kind] for m in sizes] for kind in ("recall", "bits", "written")}
        state.setdefault("size", sizes[len(sizes) // 2])
        longest = len(lists["recall"][0])
        return cls(
            sizes=sizes,
            source=scores["source"][:longest],
            trained=scores["longest in training"],
            symbols=scores["symbols"],
            **lists,
            **state,
        )

    @traitlets.validate("length")
    def _check_length(self, proposal):
        if not 1 <= proposal["value"] <= len(self.source):
            raise ValueError(f"length is {proposal['value']}; the sources have 1 to {len(self.source)} letters.")
        return proposal["value"]

    @traitlets.validate("size")
    def _check_size(self, proposal):
        if proposal["value"] not in self.sizes:
            raise ValueError(f"size is {proposal['value']}; measured are {', '.join(map(str, self.sizes))}.")
        return proposal["value"]

    def chosen(self) -> dict:
        """recall and bits of the chosen size and length, what was read and written, and how many letters are right."""
        row, at = self.sizes.index(self.size), self.length - 1
        read, written = self.source[: self.length], self.written[row][at]
        return {
            "recall": self.recall[row][at],
            "bits": self.bits[row][at],
            "read": read,
            "written": written,
            "right": sum(a == b for a, b in zip(read, written, strict=True)),
        }

    def _describe(self, change=None):
        now = self.chosen()
        self.alt = (
            f"Recall against the length of the source for states of {', '.join(map(str, self.sizes))} numbers. With "
            f"{self.size} numbers {now['recall']:.0%} of the symbols of sources of {self.length} come back; "
            f"of {self.length * log2(self.symbols):.0f} bits at least {max(0, now['bits']):.0f} are kept. "
            f"One example: {now['read']} was read and {now['written']} written."
        )

    def fallback(self) -> str:
        now, at = self.chosen(), self.length - 1
        rows = [
            (f"{m} numbers", recall[at], f"{recall[at]:.0%}") for m, recall in zip(self.sizes, self.recall, strict=True)
        ]
        words = html.escape(f"Symbols that come back of sources of {self.length}. {self.alt}")
        example = html.escape(f"read {now['read']}, written {now['written']}")
        return f"<p>{words}</p>{bars_svg(rows, alt=self.alt, top=1.0)}<p>With {self.size} numbers: {example}.</p>"
