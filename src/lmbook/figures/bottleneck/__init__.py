"""FixedVector: what comes back of a source through a state of m numbers, as the trained models of `recall` wrote it.

A source that the reader types is read and written back in the page by the models whose weights ship (engine.mjs).

recall      symbols that come back in their places / symbols of the source, measured on many sources of each length
bits        what the decoder reads, a lower bound of what the state tells: N log2 K - (negative log-likelihood in bits)
places      recall by place in the source, for some lengths
written     what each model wrote for the first N letters of one source
"""

import html
from functools import cache
from math import log2

import traitlets

from lmbook.figures import Figure, bars_svg, bundle, draws_nothing, says

LIVE = {32: "recall-32", 64: "recall-64", 128: "recall-128"}  # recipes whose weights the page can fetch


def typed(text: str, symbols: int, most: int) -> tuple[str, list[str], int]:
    """The letters of a typed text that a model knows, as capitals; the other characters, each once; how many letters
    were too many."""
    known = {chr(ord(first) + i) for first in "Aa" for i in range(symbols)}
    letters = [c.upper() for c in text if c in known]
    return "".join(letters[:most]), list(dict.fromkeys(c for c in text if c not in known)), max(0, len(letters) - most)


@cache
@draws_nothing
def written_back(size: int, letters: str) -> str:
    """What the shipped model of this size writes for a source, in the order of the source."""
    import numpy as np

    from lmbook.lab import checkpoints
    from lmbook.lab.recipes import fixed_vector_recall

    model, _, _ = checkpoints.load(LIVE[size])
    source = np.array([[ord(letter) - ord("A") + len(fixed_vector_recall.SPECIALS) for letter in letters]])
    return fixed_vector_recall.letters(fixed_vector_recall.writes(model, source, backwards=True)[0])


class FixedVector(Figure):
    """Length of the source and size of the state choose a measured recall and a worked example.

    sizes: m of each model, rising.  source: letters, the longest source.  recall, bits, written: for each size a list
    over the lengths 1, 2, ..., len(source).  trained: the longest source in training.  symbols: K.
    live: the sizes whose models can read another source, written backwards.
    Chosen: `length` (1 to len(source)) and `size` (one of sizes). `own`: a source of the reader's, as it was typed, in
    place of the recorded one, where it has a letter that the models know; `read`: how many of its letters, 0 for all.
    Make it with from_record().
    """

    module = "bottleneck"
    title = says("Every size has a length that comes back whole; beyond it the newest symbols are safest")
    caption = says(
        "Drag the length until the first letter is lost, then make the state larger. Which places of a long source "
        "are lost first? Right of the dashed line no model was trained. Then type a source of your own, one letter "
        "repeated or the letters from A to L: does it come back better than a random one?"
    )
    models = tuple(LIVE.values())

    sizes = traitlets.List(traitlets.Int()).tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    recall = traitlets.List().tag(sync=True)
    bits = traitlets.List().tag(sync=True)
    written = traitlets.List().tag(sync=True)
    places = traitlets.List().tag(sync=True)  # [N, recall by place of each size], where it was measured
    trained = traitlets.Int().tag(sync=True)
    symbols = traitlets.Int().tag(sync=True)
    length = traitlets.Int().tag(sync=True)
    size = traitlets.Int().tag(sync=True)
    own = traitlets.Unicode("").tag(sync=True)
    read = traitlets.Int(0).tag(sync=True)
    live = traitlets.List().tag(sync=True)  # size, name and bytes of each model that the page can fetch
    known = traitlets.Dict().tag(sync=True)  # what these write for `own` as the figure is made, by what is read

    def __init__(
        self, sizes, source, recall, bits, written, trained, symbols, length=12, size=None, live=(), own="", **state
    ):
        rows = [len(row) for kind in (recall, bits, written) for row in kind]
        if not sizes or rows != [len(source)] * 3 * len(sizes):
            raise ValueError(
                f"each of {len(sizes)} sizes needs recall, bits and written for 1 to {len(source)} letters."
            )
        if any(len(text) != n for row in written for n, text in enumerate(row, 1)):
            raise ValueError("what is written for N letters must have N letters.")
        chosen = {"length": length, "size": sizes[0] if size is None else size}
        data = {"recall": recall, "bits": bits, "written": written, "own": own}
        data["live"] = [[m, LIVE[m], len(bundle.weights(LIVE[m])[0])] for m in live]
        super().__init__(sizes=sizes, source=source, trained=trained, symbols=symbols, **data, **chosen, **state)
        own, recorded = self._source()
        if not recorded:
            self.known = {own: [written_back(m, own) for m in live]}

    @classmethod
    def from_record(cls, record: dict, order: str = "backwards", **state) -> "FixedVector":
        """The figure of a recorded run of the recipe `recall`."""
        scores = record["scores"]
        runs = {int(m): run for m, run in scores[order].items()}
        sizes = sorted(runs)
        lists = {kind: [runs[m][kind] for m in sizes] for kind in ("recall", "bits", "written")}
        state.setdefault("size", sizes[len(sizes) // 2])
        state.setdefault("live", [m for m in sizes if m in LIVE] if order == "backwards" else [])
        longest = len(lists["recall"][0])
        measured = [N for N in runs[sizes[0]].get("places", {}) if int(N) <= longest]
        state.setdefault("places", [[int(N), [runs[m]["places"][N] for m in sizes]] for N in measured])
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

    def _source(self) -> tuple[str, bool]:
        """The letters that are read, and whether they are the recorded ones."""
        own = typed(self.own, self.symbols, len(self.source))[0] if self.live else ""
        return (own[: self.read or None], False) if own else (self.source[: self.length], True)

    def chosen(self) -> dict:
        """recall and bits of the chosen size and length, what was read and written, and how many letters are right.

        Of a source of the reader's, where the size has weights; else of the recorded source of that length.
        """
        read, recorded = self._source()
        row, at = self.sizes.index(self.size), len(read) - 1
        if recorded or self.size not in [m for m, *_ in self.live]:
            read, written = self.source[: at + 1], self.written[row][at]
        else:
            written = written_back(self.size, read)
        return {
            "recall": self.recall[row][at],
            "bits": self.bits[row][at],
            "read": read,
            "written": written,
            "right": sum(a == b for a, b in zip(read, written, strict=True)),
        }

    @traitlets.validate("read")
    def _check_read(self, proposal):
        if not 0 <= proposal["value"] <= len(self.source):
            raise ValueError(f"read is {proposal['value']}; it is 0 for all letters, or at most {len(self.source)}.")
        return proposal["value"]

    def _describe(self, change=None):
        now = self.chosen()
        N = len(now["read"])
        self.alt = (
            f"Recall against the length of the source for states of {', '.join(map(str, self.sizes))} numbers. With "
            f"{self.size} numbers {now['recall']:.0%} of the symbols of sources of {N} come back; "
            f"of {N * log2(self.symbols):.0f} bits the decoder reads {max(0, now['bits']):.0f}. "
            f"One example: {now['read']} was read and {now['written']} written."
        )

    def fallback(self) -> str:
        now = self.chosen()
        at = len(now["read"]) - 1
        rows = [
            (f"{m} numbers", recall[at], f"{recall[at]:.0%}") for m, recall in zip(self.sizes, self.recall, strict=True)
        ]
        words = html.escape(f"Symbols that come back of sources of {at + 1}. {self.alt}")
        example = html.escape(f"read {now['read']}, written {now['written']}")
        return f"<p>{words}</p>{bars_svg(rows, alt=self.alt, top=1.0)}<p>With {self.size} numbers: {example}.</p>"
