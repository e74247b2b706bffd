"""PositionWheels: sinusoidal codes of two positions as clock hands, and the table of all dot products.

p_t = (sin t w_0, cos t w_0, sin t w_1, cos t w_1, ...)      w_j = base^(-2j/width)
p_t . p_i = sum_j cos((t - i) w_j)

With x = sine and y = cosine, pair j is a hand that starts at twelve o'clock and turns clockwise by w_j a position.
"""

import html
from math import cos, degrees, pi

import traitlets

from lmbook.figures import Figure, says
from lmbook.figures.stills import signed_bars_svg

WIDTHS, BASES, LONGEST = (4, 8, 12), (10, 100, 10_000), 15


class PositionWheels(Figure):
    """Position i and an offset choose two codes, those of i and of t = i + offset.

    width: of the code, one of 4, 8, 12.  base: one of 10, 100, 10,000.  i: 0 to length - 1 - 15.  offset: 0 to 15.
    length: positions in the table of dot products.
    """

    module = "wheels"
    title = says("Both hands of a dial turn, and the angle between them stays")
    caption = says(
        "Drag position i: all hands turn, and each opening stays. Then drag the offset, or drag in the table: which "
        "pairs have a product below 0? Try base 10,000: which hands still move?"
    )

    width = traitlets.Enum(WIDTHS, 8).tag(sync=True)
    base = traitlets.Enum(BASES, 100).tag(sync=True)
    i = traitlets.Int(5).tag(sync=True)
    offset = traitlets.Int(3).tag(sync=True)
    length = traitlets.Int(40).tag(sync=True)

    @traitlets.validate("i", "offset")
    def _check_position(self, proposal):
        last = {"i": self.length - 1 - LONGEST, "offset": LONGEST}[proposal["trait"].name]
        if not 0 <= proposal["value"] <= last:
            raise ValueError(f"{proposal['trait'].name} is {proposal['value']}; it must lie in 0 to {last}.")
        return proposal["value"]

    def hands(self) -> list[dict]:
        """For each dial: speed in radians a position, period, where both hands stand and their angle, in degrees."""
        speeds = [self.base ** (-2 * j / self.width) for j in range(self.width // 2)]
        return [
            {
                "speed": w,
                "period": 2 * pi / w,
                "i": degrees(self.i * w) % 360,
                "t": degrees((self.i + self.offset) * w) % 360,
                "cosine": cos(self.offset * w),
            }
            for w in speeds
        ]

    def product(self) -> float:
        """The dot product of the two codes."""
        return sum(hand["cosine"] for hand in self.hands())

    def _describe(self, change=None):
        t, most = self.i + self.offset, self.width // 2
        stand = ", ".join(f"{hand['t']:.0f}" for hand in self.hands())
        self.alt = (
            f"{most} dials with two hands each, for positions {self.i} and {t}; below them a table of the dot products "
            f"of all positions, the same along each diagonal. At position {t} the hands stand at {stand} degrees; the "
            f"dot product of the two codes is {self.product():.2f} of at most {most}."
        )

    def fallback(self) -> str:
        """The cosine of each dial, to the right of a middle line or to the left, and their sum; no table."""
        rows = [(f"dial {j}", hand["cosine"], _signed(hand["cosine"])) for j, hand in enumerate(self.hands())]
        words = (
            f"Cosine of the angle between the two hands of each dial, for positions {self.i} and "
            f"{self.i + self.offset}. Their sum is the dot product of the two codes: {_signed(self.product())} of at "
            f"most {self.width // 2}."
        )
        return f"<p>{html.escape(words)}</p>{signed_bars_svg(rows, alt=words, most=1.0)}"


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
