"""SoftLookup: a query in the plane of some keys, the weights it gives them, and the mean of their values.

    e_i = beta q_j . k_i     alpha = softmax(e)     c^(j) = sum_i alpha_i v_i     out = [c^(1); ...; c^(n)] W_o

Head j asks with the query turned by j - 1 right angles, q_j = R^(j-1) q; W_o takes the mean of the heads. The page
computes every number anew (lookup.mjs); here lmbook.attention gives the first view.
"""

import html
import math
from collections.abc import Sequence

import torch
import traitlets

from lmbook.attention import MultiHeadAttention
from lmbook.figures import Figure, bars_svg, draws_nothing, says

MOST_HEADS = 4
BETAS = (0.0, 8.0)


class SoftLookup(Figure):
    """Drag a query among keys, or move it with the arrow keys; choose the factor of the scores and the number of heads.

    names, keys, values: N names, N x 2 and N x 2 numbers.  axes: names of the two axes of the keys and of the two of
    the values.  query: 2 numbers within the plane, -reach to reach.  beta: 0 to 8.  heads: 1 to 4.

    Refuses other sizes and values.
    """

    module = "lookup"
    title = says("The answer follows the question, and stays inside the values")
    caption = says(
        "Drag the query, or move it with the arrow keys: can the answer be put onto each of the two stars? Make the "
        "query longer without turning it, and the same happens as with a larger factor. Which question makes all "
        "weights equal? With two heads, the second asks at a right angle to the question."
    )

    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    key_rows = traitlets.List().tag(sync=True)  # `keys` is a widget's own
    value_rows = traitlets.List().tag(sync=True)
    axes = traitlets.List(traitlets.Unicode()).tag(sync=True)
    reach = traitlets.Float().tag(sync=True)
    query = traitlets.List(traitlets.Float()).tag(sync=True)
    beta = traitlets.Float(1.0, min=BETAS[0], max=BETAS[1]).tag(sync=True)
    heads = traitlets.Int(1, min=1, max=MOST_HEADS).tag(sync=True)

    def __init__(
        self,
        names: Sequence[str],
        keys: Sequence[Sequence[float]],
        values: Sequence[Sequence[float]],
        axes: Sequence[str] = ("first key axis", "second key axis", "first value axis", "second value axis"),
        query: Sequence[float] = (1.0, 0.0),
        beta: float = 1.0,
        heads: int = 1,
        **state,
    ):
        if not names or not len(names) == len(keys) == len(values) or {len(x) for x in (*keys, *values)} != {2}:
            raise ValueError(f"{len(names)} names need as many keys and values, each of two numbers.")
        if len(axes) != 4:
            raise ValueError("axes are four names: two for the keys, two for the values.")
        plain = {
            "names": list(names),
            "axes": list(axes),
            "key_rows": [[float(x) for x in key] for key in keys],
            "value_rows": [[float(x) for x in value] for value in values],
        }
        reach = float(math.ceil(max(abs(x) for key in plain["key_rows"] for x in key)) + 1)
        asked = {"query": [float(x) for x in query], "beta": float(beta), "heads": heads}
        super().__init__(reach=reach, **plain, **asked, **state)

    @traitlets.validate("query")
    def _check_query(self, proposal):
        query = proposal["value"]
        if len(query) != 2 or not all(abs(x) <= self.reach for x in query):
            raise ValueError(f"query is {query}; it needs two numbers from {-self.reach:g} to {self.reach:g}.")
        return query

    @draws_nothing
    def layer(self) -> MultiHeadAttention:
        """The figure's attention as a layer, its projections set by hand, d_k = d_v = 2 for each head."""
        n, one = self.heads, torch.eye(2, dtype=torch.float64)
        turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
        turns = [torch.linalg.matrix_power(turn, j) for j in range(n)]
        layer = MultiHeadAttention(2, n, d_k=2, d_v=2, bias=False).double()
        with torch.no_grad():
            layer.W_q.weight.copy_(self.beta * math.sqrt(2) * torch.cat(turns))  # the layer divides by sqrt(d_k)
            layer.W_k.weight.copy_(torch.cat([one] * n))
            layer.W_v.weight.copy_(torch.cat([one] * n))
            layer.W_o.weight.copy_(torch.cat([one / n] * n, dim=1))
        return layer

    @torch.no_grad()
    def numbers(self) -> dict:
        """weights: heads x N.  answers: heads x 2.  answer: 2 numbers, their mean."""
        q, K, V = (torch.tensor(x, dtype=torch.float64)[None] for x in ([self.query], self.key_rows, self.value_rows))
        out, weights = self.layer()(q, K, V, need_weights=True)
        return {
            "weights": weights[0, :, 0].tolist(),
            "answers": (weights[0, :, 0] @ V[0]).tolist(),
            "answer": out[0, 0].tolist(),
        }

    def _mean_weights(self) -> list[float]:
        return [sum(column) / self.heads for column in zip(*self.numbers()["weights"], strict=True)]

    def _describe(self, change=None):
        weights = ", ".join(
            f"{name} {weight:.2f}" for name, weight in zip(self.names, self._mean_weights(), strict=True)
        )
        answer = self.numbers()["answer"]
        one = self.heads == 1
        self.alt = (
            f"Two planes, one with the query and {len(self.names)} keys, one with their values and the answer. "
            f"The query ({self.query[0]:.1f} {self.axes[0]}, {self.query[1]:.1f} {self.axes[1]}), with the factor "
            f"{self.beta:.1f} and {self.heads} head{'' if one else 's'}, gives the {'' if one else 'mean '}weights "
            f"{weights}. "
            f"The answer is {answer[0]:.2f} {self.axes[2]} and {answer[1]:.2f} {self.axes[3]}."
        )

    def fallback(self) -> str:
        rows = [(name, weight, f"{weight:.2f}") for name, weight in zip(self.names, self._mean_weights(), strict=True)]
        return f"<p>{html.escape(self.alt)}</p>{bars_svg(rows, alt=self.alt, top=1.0)}"
