"""Reinforcement: answers are sampled and rewarded, and the model is pushed towards those that did well.

    grad E[R] = E[R grad ln pi(y | x)] = E[(R - b) grad ln pi(y | x)]      b: any number that does not depend on y
    REINFORCE         b: the mean reward of a batch                        Williams 1992
    group-relative    G answers to each prompt, A_i = (R_i - mean) / std   GRPO, Shao et al. 2024, section 4.1.2

    L = -1/B sum_i 1/|y_i| sum_t min(rho_t A_i, clip(rho_t, 1 - eps, 1 + eps) A_i) - beta KL_t
    rho_t = pi(y_t | x, y_<t) / old(y_t | x, y_<t)        KL_t = ref/pi - ln(ref/pi) - 1        Schulman 2020

B answers, T places; log-probabilities (B, T) are 0 where `said` is False.
"""

import torch
from torch import Tensor


def over_batch(rewards: Tensor) -> Tensor:
    """R - b, b the mean of the others: it must not depend on the answer that it is subtracted from. rewards: (B,)."""
    others = (rewards.sum() - rewards) / max(1, len(rewards) - 1)
    return rewards - others


def over_group(rewards: Tensor, G: int, scaled: bool = True, eps: float = 1e-4) -> Tensor:
    """(R - mean) / (std + eps) in each group of G rewards that follow each other; 0 where all of a group are equal.

    rewards: (B,), B a multiple of G.  scaled: whether to divide (Liu et al. 2025 do not).
    """
    if G < 2 or len(rewards) % G:
        raise ValueError(f"{len(rewards)} rewards do not fall into groups of {G}; a group has 2 or more.")
    groups = rewards.view(-1, G)
    A = groups - groups.mean(1, keepdim=True)
    return (A / (groups.std(1, keepdim=True) + eps) if scaled else A).flatten()


def reinforce_loss(log_pi: Tensor, advantages: Tensor) -> Tensor:
    """-mean of A ln pi(y | x); its gradient is the estimate above.  log_pi: (B, T).  advantages: (B,)."""
    return -(advantages * log_pi.sum(1)).mean()


def grpo_loss(
    log_pi: Tensor,
    log_old: Tensor,
    advantages: Tensor,
    said: Tensor,
    clip: float = 0.2,
    log_ref: Tensor | None = None,
    beta: float = 0.0,
) -> Tensor:
    """L of the head of this file.  log_pi, log_old, log_ref: (B, T).  advantages: (B,).  said: boolean (B, T).

    log_old are those of the model that sampled the answers, a constant, as log_ref is.
    """
    A = advantages.unsqueeze(1)
    rho = torch.exp(log_pi - log_old)
    gain = torch.minimum(rho * A, rho.clamp(1 - clip, 1 + clip) * A)
    if beta:
        if log_ref is None:
            raise ValueError("beta needs log_ref, the log-probabilities of the reference model.")
        gap = log_ref - log_pi
        gain = gain - beta * (gap.exp() - gap - 1)
    return -((gain * said).sum(1) / said.sum(1)).mean()
