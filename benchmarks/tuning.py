"""LoRA beside PEFT, DPO and GRPO beside TRL: the same numbers in, ours and theirs out.

    pip install peft trl        (the book does not need them)
    python benchmarks/tuning.py

TRL's losses belong to its trainers. Here their own code runs on a stand-in for the trainer, which holds its settings
and no model: log-probabilities are given. Stops if two differ by more than rounding.
"""

import copy
import inspect
import textwrap
from collections import defaultdict
from types import SimpleNamespace
from unittest.mock import MagicMock

import peft
import torch
import trl
from torch import Tensor, nn
from trl.trainer import dpo_trainer, grpo_trainer

from lmbook import lora, preferences, reinforce
from lmbook.lab import checkpoints

B, P, T, G = 12, 5, 9, 4  # pairs or groups, tokens of prompt and answer, answers in a group


def row(name: str, ours: Tensor, theirs: Tensor) -> None:
    """One line of the table; stops where the two differ."""
    apart = (ours - theirs).abs().max().item()
    print(f"| {name} | {ours.abs().max():.3f} | {apart:.1e} |")
    assert apart <= 1e-5 * max(1.0, ours.abs().max().item()), name


def lengths(rows: int, before: int) -> Tensor:
    """1 where a token of an answer stands, answers of 2 to T tokens behind `before` others."""
    n = torch.randint(2, T + 1, (rows, 1))
    place = torch.arange(before + T) - before
    return ((place >= 0) & (place < n)).long()


def trainer(**settings) -> MagicMock:
    """A stand-in for a trainer of TRL with these settings; what it measures beside the loss goes nowhere."""
    made = MagicMock(**settings, _metrics=defaultdict(lambda: defaultdict(list)), aux_loss_enabled=False)
    made.accelerator.device = torch.device("cpu")
    made.accelerator.gather = made.accelerator.gather_for_metrics = lambda x: x
    return made


def tuned_by_lora(r: int, alpha: float) -> None:
    """Outputs, gradients, and the merged matrices of the captions' model."""
    base, words, _ = checkpoints.load("captions-base")
    tokens = torch.randint(5, len(words), (4, 17))
    names = [name for name, part in base.named_modules() if isinstance(part, nn.Linear)]
    ours = lora.add_lora(copy.deepcopy(base), r, alpha)
    theirs = peft.get_peft_model(base, peft.LoraConfig(r=r, lora_alpha=alpha, target_modules=names))
    inner = theirs.base_model.model
    pairs = [(ours.get_submodule(name), inner.get_submodule(name)) for name in names]
    for a, b in pairs:
        nn.init.normal_(a.B, std=0.05)
        b.lora_A["default"].weight.data.copy_(a.A)
        b.lora_B["default"].weight.data.copy_(a.B)
    y, z = ours(tokens), inner(tokens)
    row(f"LoRA, rank {r}, alpha {alpha:g}: outputs", y, z)
    for out in y, z:
        out.square().mean().backward()
    for name, of in (("A", lambda b: b.lora_A), ("B", lambda b: b.lora_B)):
        gradients = [(getattr(a, name).grad.flatten(), of(b)["default"].weight.grad.flatten()) for a, b in pairs]
        row(f"gradients of {name}", *(torch.cat(one) for one in zip(*gradients, strict=True)))
    lora.merge(ours)
    merged = theirs.merge_and_unload()
    weights = [[model.get_submodule(name).weight.flatten() for name in names] for model in (ours, merged)]
    row("merged matrices", *map(torch.cat, weights))


def compared_by_dpo(beta: float) -> None:
    """The loss of B pairs, and its gradient by the log-probabilities of the tokens."""
    said = lengths(2 * B, P)
    log_pi = (-2 * torch.rand(2 * B, P + T - 1)).requires_grad_()
    log_ref = -2 * torch.rand(2 * B, P + T - 1)

    def output(log_p: Tensor) -> SimpleNamespace:
        zeros = torch.zeros_like(log_p)
        return SimpleNamespace(log_probs=log_p * said[:, 1:], entropy=zeros, mean_logits=zeros, is_top1=zeros.bool())

    me = trainer(beta=beta, ld_alpha=None, f_divergence_type="reverse_kl", loss_types=["sigmoid"], loss_weights=[1.0],
                 use_weighting=False, precompute_ref_logps=False, _total_train_tokens=0, _tp_size=1)  # fmt: skip
    me.ref_model = lambda **_: output(log_ref)
    batch = {"input_ids": said, "attention_mask": said, "completion_mask": said}
    theirs = dpo_trainer.DPOTrainer._compute_loss(me, lambda **_: output(log_pi), batch, False)
    better, worse, ref_better, ref_worse = (
        half for log_p in (log_pi, log_ref) for half in (log_p * said[:, 1:]).sum(1).chunk(2)
    )
    ours = preferences.dpo_loss(better, worse, ref_better, ref_worse, beta).mean()
    row(f"DPO, beta {beta:g}: loss", ours.detach(), theirs.detach())
    row("gradient", *(torch.autograd.grad(loss, log_pi)[0] for loss in (ours, theirs)))


def advantages(scaled: bool) -> None:
    """Of B rewards of 0 or 1 in groups of G, one group with equal ones."""
    rewards = torch.randint(0, 2, (B * G,)).float()
    rewards[:G] = 1.0
    source = inspect.getsource(grpo_trainer.GRPOTrainer)
    begin = source.index("            # Apply weights to each reward function's output and sum")
    end = source.index('        elif self.multi_objective_aggregation == "normalize_then_sum"')
    names = {
        "self": SimpleNamespace(scale_rewards="group" if scaled else "none", reward_weights=torch.ones(1)),
        "rewards_per_func": rewards[:, None], "unscorable_mask": torch.zeros(B * G, dtype=torch.bool),
        "num_generations": G, "device": "cpu", "torch": torch, "nanstd": grpo_trainer.nanstd,
    }  # fmt: skip
    exec(textwrap.dedent(source[begin:end]), names)  # these lines of TRL are no function of their own
    row(f"advantages, scaled {scaled}", reinforce.over_group(rewards, G, scaled), names["advantages"])


def rewarded_by_grpo(beta: float) -> None:
    """The loss of B groups, half of whose ratios are cut off, and its gradient."""
    said = lengths(B * G, 0)
    log_pi = (-2 * torch.rand(B * G, T)).requires_grad_()
    log_old, log_ref = (log_pi.detach() + 0.4 * torch.randn(B * G, T) for _ in range(2))
    A = reinforce.over_group(torch.randn(B * G), G)
    me = trainer(beta=beta, top_entropy_quantile=1.0, off_policy_mask_threshold=None, importance_sampling_level="token",
                 loss_type="grpo", epsilon_low=0.2, epsilon_high=0.2, use_vllm=False, _entropy_bonus_enabled=False,
                 current_gradient_accumulation_steps=1)  # fmt: skip
    me.args.delta, me.args.use_bias_correction_kl = None, False
    me._get_per_token_logps_and_entropies = lambda *_, **__: (log_pi, torch.zeros_like(log_pi), None)
    prompt = torch.ones(B * G, P, dtype=torch.long)
    batch = {
        "prompt_ids": prompt, "prompt_mask": prompt, "completion_ids": said, "completion_mask": said,
        "advantages": A, "old_per_token_logps": log_old, "ref_per_token_logps": log_ref,
    }  # fmt: skip
    theirs = grpo_trainer.GRPOTrainer._compute_loss(me, None, batch)
    ours = reinforce.grpo_loss(log_pi, log_old, A, said.bool(), 0.2, log_ref, beta)
    row(f"GRPO, beta {beta:g}: loss", ours.detach(), theirs.detach())
    row("gradient", *(torch.autograd.grad(loss, log_pi)[0] for loss in (ours, theirs)))


if __name__ == "__main__":
    print(f"peft {peft.__version__}, trl {trl.__version__}, torch {torch.__version__}\n")
    print("| | largest | apart |\n|:--|--:|--:|")
    torch.manual_seed(0)
    for r, alpha in ((1, 1.0), (2, 6.0), (8, 8.0)):
        tuned_by_lora(r, alpha)
    for beta in 0.1, 0.5, 2.0:
        compared_by_dpo(beta)
    for scaled in True, False:
        advantages(scaled)
    for beta in 0.0, 0.04:
        rewarded_by_grpo(beta)
