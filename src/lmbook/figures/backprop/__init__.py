"""BackpropGraph: one softmax layer as a graph of numbers, stepped through forward and backward.

    z = W x      y_hat = softmax(z)      L = -ln y_hat_label         W is 3 x 2
    dL/dy_hat = -y / y_hat      dL/dz = y_hat - y      dL/dW = (y_hat - y) x^T      dL/dx = W^T (y_hat - y)

The page computes every number anew (backprop.mjs); here lmbook.backprop gives the first view.
"""

from collections.abc import Sequence

import numpy as np
import traitlets

from lmbook import backprop
from lmbook.figures import Figure, says, table_html

STEPS = 7  # inputs given; z, y_hat, L; dL/dL, dL/dy_hat, dL/dz, dL/dW and dL/dx
MOST = 10.0
SUBSCRIPTS = "₀₁₂₃"


def _num(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}f}"
    return text.replace("-", "−") if float(text) else text.removeprefix("-")


def node_names() -> list[str]:
    """The numbers of the graph, layer by layer: x1, x2, w11 .. w32, z1 .. z3, y1 .. y3 (probabilities), L."""
    weights = [f"w{i}{k}" for i in (1, 2, 3) for k in (1, 2)]
    return ["x1", "x2", *weights, *(f"{letter}{i}" for letter in "zy" for i in (1, 2, 3)), "L"]


class BackpropGraph(Figure):
    """Step through the graph of a softmax layer; edit x, W and the label, and watch every partial derivative.

    x: two numbers.  W: three rows of two.  label: 1, 2 or 3, the word that came.  step: how far the reader has gone, 0
    (inputs only) to 7 (all derivatives).  chosen: the number whose formula is shown, such as "z1" (see `node_names`).
    rate: of the gradient step.  Title, caption and alternative text may be given too.

    Refuses other shapes, numbers beyond 10 in size, and labels, steps and names that do not exist.
    """

    module = "backprop"
    title = says("To find a derivative, look only at the arrows leaving the node and the derivatives at their heads")
    caption = says(
        "Pick any number to see how its derivative was found, or go the whole way from the inputs. Compare the "
        "derivatives of the logits with the probabilities. Then set a weight, the input or the label; or take "
        "gradient steps, and watch all derivatives fade."
    )

    x = traitlets.List().tag(sync=True)
    W = traitlets.List().tag(sync=True)
    label = traitlets.Int(2, min=1, max=3).tag(sync=True)
    step = traitlets.Int(STEPS, min=0, max=STEPS).tag(sync=True)
    chosen = traitlets.Enum(node_names(), "z1").tag(sync=True)
    rate = traitlets.Float(0.1).tag(sync=True)

    def __init__(
        self,
        x: Sequence[float] = (1.0, 2.0),
        W: Sequence[Sequence[float]] = ((0.0, 0.7), (-0.7, 0.7), (1.4, -0.7)),
        label: int = 2,
        **state,
    ):
        x, W = [float(value) for value in x], [[float(value) for value in row] for row in W]
        super().__init__(x=x, W=W, label=label, **state)

    @traitlets.validate("x", "W")
    def _check_numbers(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        shape = (2,) if name == "x" else (3, 2)
        array = np.array(value, dtype=float)
        if array.shape != shape or not (np.abs(array) <= MOST).all():
            raise ValueError(f"{name} must have the shape {shape} and numbers of at most {MOST:g} in size.")
        return array.tolist()

    def numbers(self) -> dict[str, tuple[float, float]]:
        """Every number of the graph by name: (value, derivative of L by it)."""
        x, W, y = np.array(self.x), np.array(self.W), backprop.one_hot(self.label - 1, 3)
        z = W @ x
        y_hat = backprop.softmax(z)
        loss = backprop.nll_from_logits(z, y)
        by_z = y_hat - y
        values = np.concatenate([x, W.reshape(-1), z, y_hat, [loss]])
        by = [W.T @ by_z, np.outer(by_z, x).reshape(-1), by_z, backprop.nll_gradient(y_hat, y), [1.0]]
        return dict(zip(node_names(), zip(values.tolist(), np.concatenate(by).tolist(), strict=True), strict=True))

    def _describe(self, change=None):
        numbers = self.numbers()
        said = ", ".join(_num(numbers[f"y{i}"][0]) for i in (1, 2, 3))
        gradient = ", ".join(_num(numbers[f"z{i}"][1]) for i in (1, 2, 3))
        self.alt = (
            "A graph from two inputs and six weights to three logits, three probabilities and the loss. The"
            f" probabilities are {said}; word {self.label} came, so the loss is {_num(numbers['L'][0])} and the"
            f" derivatives of the logits are {gradient}."
        )

    def fallback(self) -> str:
        rows = ((_written(name), _num(value), _num(by)) for name, (value, by) in self.numbers().items())
        return super().fallback() + table_html(("number", "value", "derivative of L by it"), rows)


def _written(name: str) -> str:
    letter = {"y": "ŷ"}.get(name[0], name[0])
    return letter + "".join(SUBSCRIPTS[int(digit)] for digit in name[1:])
