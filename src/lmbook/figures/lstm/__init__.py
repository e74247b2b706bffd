"""LSTMStep: one unit of an LSTM and its gates over time, on a few inputs that the reader chooses.

    i, f, o = sigma(w . x_t + w_h h_{t-1} + b)     g = tanh(the same)     c_t = f c_{t-1} + i g     h_t = o tanh(c_t)

The weights are set by hand and make the unit a latch with three inputs: store, value, show. The page computes every
number anew (lstm.mjs); here lmbook.cells gives the first view.
"""

from collections.abc import Sequence

import torch
import traitlets

from lmbook.cells import LSTMCell
from lmbook.figures import Figure, bundle, draws_nothing, says, table_html
from lmbook.figures.stills import plot_svg

EVENTS = {
    "store +1": (1, 1, 0),
    "store −1": (1, -1, 0),
    "wait": (0, 0, 0),
    "noise": (0, -1, 0),
    "show": (0, 0, 1),
}
WEIGHTS = {  # of store, value, show, h, and the bias; that of f is the trait
    "i": (10, 0, 0, 0, -5),
    "f": (-10, 0, 0, 0, 0),
    "g": (0, 3, 0, 0.5, 0),
    "o": (0, 0, 10, 0, -5),
}
ORDER = ("f", "i", "g", "c", "o", "h")  # in which the figure computes them
FIRST = ("store +1", "wait", "noise", "wait", "show", "store −1", "wait", "show")
BIASES = (-2.0, 8.0)


class LSTMStep(Figure):
    """The memory of one LSTM unit over time, and its gates; choose the inputs and the bias of the forget gate.

    events: the inputs, 1 to 12 of EVENTS.  chosen: the step whose sums are shown, from 0;
    without it the third.
    bias: of the forget gate, -2 to 8.  Title, caption and alternative text may be given too.

    Refuses other events, steps and biases.
    """

    module = "lstm"
    state_version = 2
    title = says("Three gates decide what is kept, what is written and what is shown")
    caption = says(
        "A value is stored, waits and is shown. Lower the bias of the forget gate: where does the line of the "
        "memory begin to sink? Change an input. Then let a trained LSTM read a text of yours: does the output of "
        "its slowest units ever change?"
    )
    models = ("shakespeare-lstm",)

    known = traitlets.Dict().tag(sync=True)
    weights = traitlets.Dict().tag(sync=True)
    events = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(2).tag(sync=True)
    bias = traitlets.Float(5.0, min=BIASES[0], max=BIASES[1]).tag(sync=True)
    bytes = traitlets.Int().tag(sync=True)

    def __init__(self, events: Sequence[str] = FIRST, bias: float = 5.0, chosen: int | None = None, **state):
        known = {name: list(x) for name, x in EVENTS.items()}
        weights = {gate: list(values) for gate, values in WEIGHTS.items()}
        if chosen is None:  # the noise of FIRST
            chosen = max(0, min(2, len(events) - 1))
        given = {"known": known, "weights": weights, "bytes": len(bundle.weights(self.models[0])[0])}
        super().__init__(
            **given,
            events=list(events),
            bias=bias,
            chosen=chosen,
            **state,
        )

    @traitlets.validate("events")
    def _check_events(self, proposal):
        events = proposal["value"]
        if not 1 <= len(events) <= 12 or set(events) - set(EVENTS):
            raise ValueError(f"events are 1 to 12 of {', '.join(EVENTS)}.")
        return events

    @traitlets.validate("chosen")
    def _check_chosen(self, proposal):
        if not 0 <= proposal["value"] < max(1, len(self.events)):
            raise ValueError(f"chosen is {proposal['value']}; the steps are 0 to {len(self.events) - 1}.")
        return proposal["value"]

    @draws_nothing
    def cell(self) -> LSTMCell:
        """The unit as a cell of the package."""
        cell = LSTMCell(3, 1, self.bias).double()
        with torch.no_grad():
            for gate, (*by_x, by_h, b) in self.weights.items():
                getattr(cell, f"W_x{gate}").copy_(torch.tensor([by_x]))
                getattr(cell, f"W_h{gate}").fill_(by_h)
                if gate != "f":
                    getattr(cell, f"b_{gate}").fill_(b)
        return cell

    @torch.no_grad()
    def numbers(self) -> list[dict[str, float]]:
        """f, i, g, c, o and h of every step."""
        cell = self.cell()
        state, rows = cell.start(1), []
        for event in self.events:
            x = torch.tensor([EVENTS[event]], dtype=torch.float64)
            i, f, o, g = (gate.item() for gate in cell.gates(x, state))
            state = cell(x, state)
            rows.append({"f": f, "i": i, "g": g, "c": state[1].item(), "o": o, "h": state[0].item()})
        return rows

    def _describe(self, change=None):
        memory, shown = (", ".join(f"{row[name]:.2f}" for row in self.numbers()) for name in "ch")
        self.alt = (
            f"One LSTM unit over {len(self.events)} inputs: {', '.join(self.events)}. Its memory after each is"
            f" {memory}; what it shows is {shown}."
        )

    def fallback(self) -> str:
        numbers = self.numbers()
        rows = (
            (event, *(f"{row[name]:.3f}" for name in ORDER)) for event, row in zip(self.events, numbers, strict=True)
        )
        steps = list(enumerate(numbers, start=1))
        curves = [
            (label, place, width, [(0.0, 0.0), *((float(t), row[name]) for t, row in steps)])
            for label, place, width, name in (("memory c", 2, 3.0, "c"), ("shown h", 5, 1.8, "h"))
        ]
        plot = plot_svg(curves, [(1.0, ""), (-1.0, "")], alt=self.alt, across="step", up="memory and what is shown")
        return plot + super().fallback() + table_html(("input", *ORDER), rows)
