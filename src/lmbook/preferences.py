"""Preferences: of two answers to a prompt one is better, y_w than y_l.

    P(y_w beats y_l) = sigmoid(r(x, y_w) - r(x, y_l))                     Bradley and Terry 1952
    L_R = -ln sigmoid(r(x, y_w) - r(x, y_l)), r a language model with a number at the end   Ouyang et al. 2022, eq. 1
    pi*  maximises   E_pi[r] - beta KL(pi || ref)                         pi* = ref exp(r / beta) / Z(x)
    so   r = beta ln(pi* / ref) + beta ln Z(x), and Z cancels in a pair:
    L_DPO = -ln sigmoid(beta (ln pi(y_w)/ref(y_w) - ln pi(y_l)/ref(y_l)))            Rafailov et al. 2023, eq. 7

B pairs; log-probabilities are those of whole answers, (B,), given their prompts.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.answers import Turns
from lmbook.modern import ModernGPT


def bradley_terry_loss(better: Tensor, worse: Tensor) -> Tensor:
    """-ln sigmoid(r_w - r_l) of each pair of rewards, (B,)."""
    return -F.logsigmoid(better - worse)


def dpo_loss(better: Tensor, worse: Tensor, ref_better: Tensor, ref_worse: Tensor, beta: float) -> Tensor:
    """L_DPO of each pair, (B,): Bradley and Terry's loss of the rewards beta ln(pi / ref)."""
    return bradley_terry_loss(beta * (better - ref_better), beta * (worse - ref_worse))


def optimum(ref: Tensor, reward: Tensor, beta: float) -> Tensor:
    """ref exp(reward / beta) / Z over the last axis: the policy with the largest E[reward] - beta KL to ref.

    ref: probabilities of all answers (..., K).  reward: (..., K).  Raises ValueError for a beta that is not positive.
    """
    if beta <= 0:
        raise ValueError(f"beta is {beta}; it must be positive: at 0 all probability goes to the best answer.")
    return torch.softmax(ref.log() + reward / beta, dim=-1)


class RewardModel(nn.Module):
    """r(x, y) = w . h, with h the last layer's vector at the last token of the answer.

    body: a language model, whose weights are trained on, with a method `hidden`.
    """

    def __init__(self, body: ModernGPT, d_model: int):
        super().__init__()
        self.body, self.w = body, nn.Linear(d_model, 1, bias=False)
        nn.init.zeros_(self.w.weight)

    def forward(self, batch: Turns) -> Tensor:
        """The rewards (B,) of prompts with their answers."""
        tokens, said = batch
        h, _ = self.body.hidden(tokens, self.body.start(len(tokens)))
        last = said.int().cumsum(1).argmax(1)  # where the answer ends
        return self.w(h[torch.arange(len(tokens)), last]).squeeze(1)


def reward_loss(reward: nn.Module, pairs: tuple[Tensor, Tensor, Tensor, Tensor]) -> tuple[Tensor, int]:
    """sum of L_R over pairs, and their number.  pairs: tokens and said of the better answers, then of the worse."""
    better, worse = pairs[:2], pairs[2:]
    return bradley_terry_loss(reward(better), reward(worse)).sum(), len(pairs[0])
