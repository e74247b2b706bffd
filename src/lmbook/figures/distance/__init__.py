"""GradientOverDistance: the norms of dL_T/dh_t against the distance T - t, for a recurrent matrix of any scale.

    RNN      h_t = tanh(W_hh h_{t-1} + W_xh x_t)     dL/dh_t
    linear   the same without tanh: powers of W_hh
    LSTM     of the same size                        dL/dc_t

W_hh is a random rotation times `scale`, so all its eigenvalues and singular values have that size; so are the four
of the LSTM, under each other. L = v . h_T.
The page computes every norm anew (distance.mjs); here lmbook.cells and autograd give the first view.
"""

import numpy as np
import torch
import traitlets

from lmbook.cells import LSTMCell, RNNCell
from lmbook.figures import Figure, draws_nothing, says, table_html
from lmbook.rnn_models import state_gradients

LONGEST, M, D_IN = 100, 12, 3
SCALES, BIASES = (0.0, 3.0), (-2.0, 6.0)


def _rows(array: np.ndarray) -> list[list[float]]:
    return np.round(array, 5).tolist()


def parts(seed: int = 0) -> dict[str, list]:
    """Rotations W (m, m), and W_x (m, d_in); the same of the LSTM, of 4 m rows; x (100, d_in) and v (m,)."""
    rng = np.random.default_rng(seed)
    W, *lstm = (np.linalg.qr(rng.normal(size=(M, M)))[0] for _ in range(5))
    return {
        "W": _rows(W),
        "W_x": _rows(rng.normal(size=(M, D_IN)) * 0.3),
        "lstm_W": _rows(np.concatenate(lstm)),
        "lstm_W_x": _rows(rng.normal(size=(4 * M, D_IN)) * 0.3),
        "x": _rows(rng.normal(size=(LONGEST, D_IN))),
        "v": np.round(rng.normal(size=M) / M**0.5, 3).tolist(),
    }


class GradientOverDistance(Figure):
    """The gradient norm against distance: set the scale of the recurrent matrix, T and the LSTM's forget bias.

    scale: spectral radius of the recurrent matrix, 0 to 3.  T: steps, 5 to 100.  bias: of the forget gate, -2 to 6.
    seed: another network and other inputs.  Title, caption and alternative text may be given too.

    Refuses numbers outside these ranges.
    """

    module = "distance"
    title = says("Over distance a gradient shrinks or grows by a factor at each step")
    caption = says(
        "Move the scale slowly from 0.5 to 3: where do the tanh network and its matrix part? Then raise the bias of "
        "the LSTM's forget gate: what does its factor a step do?"
    )

    numbers = traitlets.Dict().tag(sync=True)
    scale = traitlets.Float(1.0, min=SCALES[0], max=SCALES[1]).tag(sync=True)
    T = traitlets.Int(60, min=5, max=LONGEST).tag(sync=True)
    bias = traitlets.Float(1.0, min=BIASES[0], max=BIASES[1]).tag(sync=True)

    def __init__(self, scale: float = 1.0, T: int = 60, bias: float = 1.0, seed: int = 1, **state):
        super().__init__(numbers=parts(seed), scale=scale, T=T, bias=bias, **state)

    @draws_nothing
    def norms(self) -> dict[str, list[float]]:
        """The norms by distance 0, 1, ..., T - 1: "tanh", "linear" and "lstm"."""
        given = {name: torch.tensor(value, dtype=torch.float64) for name, value in self.numbers.items()}
        x, v = given["x"][None, : self.T], given["v"]
        rnn, lstm = RNNCell(D_IN, M).double(), LSTMCell(D_IN, M, self.bias).double()
        with torch.no_grad():
            rnn.W_hh.copy_(self.scale * given["W"])
            rnn.W_xh.copy_(given["W_x"])
            for at, gate in enumerate("ifgo"):
                rows = slice(at * M, (at + 1) * M)
                getattr(lstm, f"W_h{gate}").copy_(self.scale * given["lstm_W"][rows])
                getattr(lstm, f"W_x{gate}").copy_(given["lstm_W_x"][rows])
        powers, g = [v], v
        for _ in range(self.T - 1):
            g = g @ (self.scale * given["W"])
            powers.append(g)
        return {
            "tanh": state_gradients(rnn, x, lambda h: h @ v)[0][0].flip(0).tolist(),
            "linear": [power.norm().item() for power in powers],
            "lstm": state_gradients(lstm, x, lambda h: h @ v)[1][0].flip(0).tolist(),
        }

    def _describe(self, change=None):
        norms = self.norms()
        left = {name: values[-1] / values[0] for name, values in norms.items()}
        self.alt = (
            f"Lines of the gradient's norm against distance on a logarithmic scale, up to distance {self.T - 1}, for a"
            f" recurrent matrix of spectral radius {self.scale:.2f}. What is left at the end: {left['tanh']:.1g} of it"
            f" in the tanh network, {left['linear']:.1g} for the powers of the matrix, {left['lstm']:.1g} in the LSTM."
        )

    def fallback(self) -> str:
        norms, at = self.norms(), [k for k in (0, 1, 5, 10, 20, 40, 80) if k < self.T]
        rows = ((k, *(f"{norms[name][k]:.2g}" for name in norms)) for k in at)
        return super().fallback() + table_html(("distance", "tanh network", "powers of the matrix", "LSTM"), rows)
