"""A mixture of experts: several feed-forward layers, of which each token is given to a few.

    MixtureOfExperts(x) = sum_e gate_e(x) FeedForward_e(x)            only top_k gates differ from 0

Shapes: any number of axes before d_model; n tokens in all, n_experts experts.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.layers import FeedForward


class MixtureOfExperts(nn.Module):
    """sum_e gate_e(x) FeedForward_e(x), gate(x) = softmax over the top_k largest entries of W_g x, 0 elsewhere.

    Shazeer et al. 2017, equations 1, 3 and 5, without the noise. Parameters grow with n_experts, the work for a token
    with top_k, because an expert is given its own tokens only.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        n_experts: int,
        top_k: int = 2,
        activation: Callable[[Tensor], Tensor] = F.relu,
    ):
        super().__init__()
        if not 1 <= top_k <= n_experts:
            raise ValueError(f"top_k is {top_k}; it must be between 1 and n_experts = {n_experts}.")
        self.top_k = top_k
        self.W_g = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(d_model, d_ff, activation) for _ in range(n_experts))

    def forward(self, x: Tensor) -> Tensor:
        """x: (..., d_model).  Returns the same shape."""
        rows = x.flatten(0, -2)
        gates = top_gates(self.W_g(rows), self.top_k)  # (n, n_experts), most of them 0
        out = torch.zeros_like(rows)
        for e, expert in enumerate(self.experts):
            chosen = gates[:, e].nonzero().squeeze(1)
            out = out.index_add(0, chosen, (gates[chosen, e, None] * expert(rows[chosen])).to(out.dtype))
        return out.view_as(x)


def top_gates(logits: Tensor, top_k: int) -> Tensor:
    """Softmax over the top_k largest logits of each row, 0 elsewhere.  logits: (..., n_experts), and so the result."""
    largest, chosen = logits.topk(top_k, dim=-1)
    gates = torch.softmax(largest, dim=-1)  # float32 under autocast, whatever the logits are
    return torch.zeros_like(logits, dtype=gates.dtype).scatter(-1, chosen, gates)


def load_balancing_loss(logits: Tensor, top_k: int) -> Tensor:
    """n_experts sum_e f_e P_e: 1 where all experts get the same share, n_experts where one gets all.

    f_e: share of the choices that fell on expert e.  P_e: mean probability of e by a softmax over all experts, which
    carries the gradient. Fedus et al. 2022, equations 4 to 6, for top_k = 1.  logits: W_g x, (..., n_experts).
    """
    n_experts = logits.shape[-1]
    probabilities = torch.softmax(logits, dim=-1).flatten(0, -2)
    chosen = logits.flatten(0, -2).topk(top_k, dim=-1).indices
    f = F.one_hot(chosen, n_experts).to(logits.dtype).mean(dim=(0, 1))
    return n_experts * (f * probabilities.mean(dim=0)).sum()
