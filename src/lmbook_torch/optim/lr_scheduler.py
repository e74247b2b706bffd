"""torch.optim.lr_scheduler: OneCycleLR, LambdaLR and a few more."""

import math

from ..errors import NotCovered, missing

__getattr__ = missing("torch.optim.lr_scheduler")


class LRScheduler:
    """Sets the learning rates after each step()."""

    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs = [group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups]
        self.step()

    def step(self):
        self.last_epoch += 1
        self._last_lr = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, self._last_lr, strict=True):
            group["lr"] = lr

    def get_last_lr(self):
        return self._last_lr


class LambdaLR(LRScheduler):
    """The first learning rate times a function of the step."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * self.lr_lambda(self.last_epoch) for base in self.base_lrs]


class StepLR(LRScheduler):
    """Times gamma after each step_size steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma after each step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Along half a cosine from the first rate to eta_min in T_max steps."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        share = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From start_factor to end_factor of the first rate in total_iters steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        self.ends, self.total_iters = (start_factor, end_factor), total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        a, b = self.ends
        factor = a + (b - a) * min(self.last_epoch, self.total_iters) / self.total_iters
        return [base * factor for base in self.base_lrs]


class OneCycleLR(LRScheduler):
    """Up to max_lr, then far down, along two halves of a cosine or of a line; betas[0] the other way."""

    def __init__(
        self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos",
        cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, div_factor=25.0, final_div_factor=1e4,
        three_phase=False, last_epoch=-1,
    ):  # fmt: skip
        if three_phase:
            raise NotCovered("OneCycleLR with three phases")
        self.total_steps = total_steps or epochs * steps_per_epoch
        self.turn, self.strategy, self.momentum = (
            float(pct_start * self.total_steps) - 1,
            anneal_strategy,
            cycle_momentum,
        )
        rates = max_lr if isinstance(max_lr, list | tuple) else [max_lr] * len(optimizer.param_groups)
        for group, top in zip(optimizer.param_groups, rates, strict=True):
            group["initial_lr"], group["max_lr"] = top / div_factor, top
            group["min_lr"] = group["initial_lr"] / final_div_factor
            group["max_momentum"], group["base_momentum"] = max_momentum, base_momentum
            if cycle_momentum and "betas" in group:
                group["betas"] = (max_momentum, *group["betas"][1:])
            elif cycle_momentum:
                group["momentum"] = max_momentum
        super().__init__(optimizer, last_epoch)

    def between(self, start, end, share):
        if self.strategy == "linear":
            return (end - start) * share + start
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * share))

    def get_lr(self):
        now = self.last_epoch
        if now > self.total_steps:
            raise ValueError(f"Tried to step {now} times. The specified number of total steps is {self.total_steps}")
        found = []
        for group in self.optimizer.param_groups:
            if now <= self.turn:
                share, names = (
                    now / self.turn if self.turn else 0.0,
                    ("initial_lr", "max_lr", "max_momentum", "base_momentum"),
                )
            else:
                share, names = (
                    (now - self.turn) / (self.total_steps - 1 - self.turn),
                    ("max_lr", "min_lr", "base_momentum", "max_momentum"),
                )
            lr, momentum = (self.between(group[names[i]], group[names[i + 1]], share) for i in (0, 2))
            found.append(lr)
            if self.momentum and "betas" in group:
                group["betas"] = (momentum, *group["betas"][1:])
            elif self.momentum:
                group["momentum"] = momentum
        return found
