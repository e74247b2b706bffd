"""Ten checks that a correct model passes and a broken one does not. Each raises AssertionError where it fails.

     1  causality           tokens after t move no logit up to t
     2  padding             a row alone and in a padded batch has the same logits, loss and final state
     3  empty_source        a source that is nothing but padding gives finite logits and gradients
     4  step_by_step        the teacher-forced pass equals the pass token by token
     5  first_loss          near ln V before training;  overfit: one batch can be learned to its entropy, and not below
     6  token_weighted      the evaluation does not depend on the size of the batches
     7  repeatable          two evaluations agree;  mode_restored: writing leaves every module's mode as it was
     8  saved               a saved model comes back;  same_losses: one seed, the same first 20 losses
     9  beam_is_greedy      width 1;  beam_is_exhaustive: as wide as the tree, it finds what brute force finds
    10  rows_apart          a row's logits do not depend on the others;  order_seen: nor are they blind to order

The parts that models are made of have tests of their own: cells, attention, positions, gradients, n-grams.
Models take and give what `models` says; `inputs` are the arguments of one call, batch first in each.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.lab import checkpoints
from lmbook.text import EOS_ID, PAD_ID, SOS_ID

from .models import FIRST, VOCAB, nll

Inputs = tuple[Tensor, ...]


def close(a, b, message: str, tolerance: float = 1e-9) -> None:
    """Equal within the tolerance, and of one shape; a NaN is never equal."""
    a, b = torch.as_tensor(a).detach(), torch.as_tensor(b).detach()
    assert a.shape == b.shape, f"{message}: {tuple(a.shape)} is not {tuple(b.shape)}"
    gap = float((a.double() - b.double()).abs().max()) if a.numel() else 0.0
    assert gap <= tolerance, f"{message}: they differ by {gap}"


def leaves(state) -> list[Tensor]:
    """The tensors of a nested state."""
    if isinstance(state, Tensor):
        return [state]
    parts = state.values() if isinstance(state, dict) else state if isinstance(state, tuple | list) else ()
    return [leaf for part in parts for leaf in leaves(part)]


# 1. Causality


@torch.no_grad()
def causality(model: nn.Module, inputs: Inputs) -> None:
    *source, tokens = inputs
    logits = model(*source, tokens)
    for t in range(1, tokens.shape[1]):
        changed = tokens.clone()
        changed[:, t:] = FIRST + (tokens[:, t:] - FIRST + 1) % (VOCAB - FIRST)
        after = model(*source, changed)
        close(logits[:, :t], after[:, :t], f"a token from {t} on moves the logits before it", 1e-13)
        assert not torch.allclose(logits[:, t], after[:, t]), f"token {t} does not move its own logits"


# 2. Padding


def widen(rows: Sequence[Tensor], value: int = PAD_ID) -> Tensor:
    """Rows (1, n) of unequal length as one (B, longest)."""
    longest = max(row.shape[1] for row in rows)
    return torch.cat([F.pad(row, (0, longest - row.shape[1]), value=value) for row in rows])


@torch.no_grad()
def padding(model: nn.Module, alone: Sequence[tuple[Inputs, Tensor]], masked: bool) -> None:
    """alone: batches of one row, of unequal lengths.  masked: whether the model takes a mask after its inputs."""
    inputs = tuple(widen(parts) for parts in zip(*(one for one, _ in alone), strict=True))
    per_token = alone[0][1].dim() == 2
    targets = widen([y for _, y in alone]) if per_token else torch.cat([y for _, y in alone])
    together = model(*inputs)
    assert together.isfinite().all(), "padding gives logits that are not finite"
    for i, (one, y) in enumerate(alone):
        mine = together[i : i + 1, : y.shape[1]] if per_token else together[i : i + 1]
        close(mine, model(*one), f"row {i}: logits in a padded batch and alone")
    loss, n = nll(model, (inputs, targets))
    close(loss, sum(nll(model, one)[0] for one in alone), "the loss of the batch and of its rows")
    assert n == sum(int((y != PAD_ID).sum()) for _, y in alone)
    if masked:  # what stands in the padding does not matter, only the mask does
        mask = inputs[0] != PAD_ID
        junk = inputs[0].masked_fill(~mask, VOCAB - 1)
        other = model(junk, *inputs[1:], mask)
        real = targets != PAD_ID if per_token else slice(None)
        close(other[real], together[real], "logits with other tokens under the mask")


@torch.no_grad()
def final_state(start: Callable[..., object], alone: Sequence[Tensor]) -> None:
    """start(tokens) is a state; that of a row of a padded batch begins with that of the row alone."""
    together = leaves(start(widen(alone)))
    for i, row in enumerate(alone):
        for mine, own in zip(together, leaves(start(row)), strict=True):
            close(mine[i : i + 1][tuple(map(slice, own.shape))], own, f"row {i}: the state in a padded batch and alone")


# 3. A source of padding alone


def empty_source(model: nn.Module, inputs: Inputs, masked_output: bool = False) -> None:
    """The first row is nothing but padding: finite logits and gradients, the other rows as they were."""
    empty = inputs[0].clone()
    empty[0] = PAD_ID
    before, after = model(*inputs), model(empty, *inputs[1:])
    assert after.isfinite().all(), "an empty row gives NaN"
    close(after[1:], before[1:], "the other rows, beside an empty one")
    after.square().sum().backward()
    for name, p in model.named_parameters():
        assert p.grad is None or p.grad.isfinite().all(), f"the gradient of {name} is not finite"
    model.zero_grad()
    if masked_output:
        weights = model(empty, *inputs[1:], need_weights=True)[1]
        assert (weights[0] == 0).all(), "an empty source has weights"


# 4. Token by token


@torch.no_grad()
def step_by_step(model: nn.Module, inputs: Inputs) -> None:
    *source, tokens = inputs
    logits = model(*source, tokens)
    state = model.start(*source) if source else model.start(len(tokens))
    for t, token in enumerate(tokens.unbind(1)):
        copies = [leaf.clone() for leaf in leaves(state)]
        one, following = model.step(token, state)
        close(one, logits[:, t], f"step {t} and the pass over all tokens")
        assert all(map(torch.equal, copies, leaves(state))), f"step {t} changed the state it was given"
        state = following
    if not source and hasattr(model, "run"):
        first, state = model.run(tokens[:, :2], model.start(len(tokens)))
        second, _ = model.run(tokens[:, 2:], state)
        close(torch.cat([first, second], 1), logits, "two pieces of a text, the state carried, and the whole")


# 5. The first loss, and the last


@torch.no_grad()
def first_loss(model: nn.Module, batch: tuple[Inputs, Tensor], vocab: int) -> None:
    loss, n = nll(model, batch)
    mean = float(loss / n)
    assert abs(mean / math.log(vocab) - 1) < 0.04, f"the first loss is {mean:.3f}, and ln V {math.log(vocab):.3f}"


def ambiguous(inputs: Inputs, targets: Tensor, causal: bool) -> tuple[Inputs, Tensor]:
    """Its second row is like its first one (causal: begins like it), but has other targets."""
    inputs, targets = tuple(x.clone() for x in inputs), targets.clone()
    for x in inputs:
        same = 2 if causal and x is inputs[-1] else None
        x[1, :same] = x[0, :same]
    targets[1] = FIRST + (targets[0] - FIRST + 1) % (VOCAB - FIRST)
    return inputs, targets


def entropy(inputs: Inputs, targets: Tensor, causal: bool, window: int | None = None) -> float:
    """The smallest mean NLL of these targets for a model that sees the tokens up to t (the last `window`), or all."""
    *source, last = inputs
    followers: dict[tuple, Counter] = defaultdict(Counter)
    for b, row in enumerate(targets.reshape(len(targets), -1).tolist()):
        given = tuple(map(tuple, (x[b].flatten().tolist() for x in source)))
        read = tuple(last[b].flatten().tolist())
        for t, target in enumerate(row):
            seen = read[: t + 1] if causal else (t, *read)
            if window is not None:
                seen = ((SOS_ID,) * window + seen)[-window:]
            followers[given, seen][target] += 1
    total = sum(-count * math.log(count / group.total()) for group in followers.values() for count in group.values())
    return total / targets.numel()


def overfit(model: nn.Module, batch: tuple[Inputs, Tensor], floor: float, steps: int = 300, near: float = 0.1) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    after = 0  # steps since the loss came near its floor; one that can fall through it has the time to do so
    for _ in range(steps):
        loss, n = nll(model, batch)
        mean = loss / n
        assert mean > floor - 1e-9, f"a loss of {mean:.4f}, below the entropy {floor:.4f}: the model sees its target"
        after += bool(after or mean < floor + near)
        if after > 20:
            return
        optimizer.zero_grad()
        mean.backward()
        optimizer.step()
    raise AssertionError(f"after {steps} steps on one batch the loss is {mean:.3f}, its entropy {floor:.3f}")


# 6. Evaluation


def token_weighted(evaluate: Callable[[list], float], rows: Sequence[tuple[Inputs, Tensor]], mean: float) -> None:
    """evaluate(batches) is `mean` whatever the batches. rows: batches of one row, of unequal lengths."""
    for size in (1, 2, 3, len(rows)):
        groups = [rows[i : i + size] for i in range(0, len(rows), size)]
        batches = [
            (tuple(map(widen, zip(*(x for x, _ in group), strict=True))), widen([y for _, y in group]))
            for group in groups
        ]
        close(evaluate(batches), mean, f"the mean over tokens, in batches of {size}")


# 7. Evaluation leaves no trace


@torch.no_grad()
def repeatable(model: nn.Module, inputs: Inputs, others: Inputs, drops: bool) -> None:
    """model: in evaluation mode.  others: a batch that is seen in between.  drops: it was built with dropout."""
    first = model(*inputs)
    model(*others)
    assert torch.equal(first, model(*inputs)), "two evaluations of a batch differ"
    model.train()
    assert drops != torch.equal(model(*inputs), model(*inputs)), "dropout does nothing in training"


def mode_restored(model: nn.Module, use: Callable[[nn.Module], object]) -> None:
    """use: writes with the model, or evaluates it. Dropout is off meanwhile; then each module has its own mode back."""
    seen = []
    for mixed in (False, True):
        for training in (False, True):
            model.train(training)
            if mixed:  # a frozen part, as in fine-tuning
                next(module for module in model.modules() if module is not model).train(not training)
            before = [module.training for module in model.modules()]
            seen += [use(model), use(model)]
            assert before == [module.training for module in model.modules()], "the mode is not what it was before"
    assert all(one == seen[0] for one in seen), "it is not in evaluation mode meanwhile"


# 8. Saving and seeds


@torch.no_grad()
def saved(build: Callable[[int], nn.Module], inputs: Inputs, path) -> None:
    """build(seed): the model before training. What was changed comes back in a model of another seed."""
    model, other = build(0), build(1)
    for i, tensor in enumerate([*model.parameters(), *model.buffers()]):
        if tensor.is_floating_point():
            tensor.add_(0.01 * (i + 1))
    assert not torch.equal(model(*inputs), other(*inputs)), "the two models are the same from the start"
    checkpoints.save(path, model, dict.fromkeys(checkpoints.CARD, 0), int8=False)
    checkpoints.load_weights(path, other)
    assert torch.equal(model(*inputs), other(*inputs)), "a model that was loaded gives other logits"
    assert model.state_dict().keys() == other.state_dict().keys()


def same_losses(losses: Callable[[int, int], list[float]], few: int = 3) -> None:
    """losses(seed, steps): the losses of a training; 20 are equal for one seed, and the first few not for two."""
    first = losses(0, 20)
    assert len(first) == 20
    assert first == losses(0, 20), "one seed gives two trainings"
    assert first[:few] != losses(1, few), "the seed has no effect"


# 9. Beams


def beam_is_greedy(model: nn.Module, source, greedy: Callable, beam: Callable, length: int = 6) -> None:
    tokens, log_p = greedy(model, source, length)
    for alpha in (0.0, 1.0):
        same, score = beam(model, source, length, 1, alpha)
        assert same == tokens, "a beam of width 1 is not greedy"
        close(score, [p / len(row) ** alpha for p, row in zip(log_p, tokens, strict=True)], "its score", 1e-5)


@torch.no_grad()
def beam_is_exhaustive(model: nn.Module, source, beam: Callable, length: int = 3) -> None:
    """Against every sequence of at most `length` tokens, scored by the pass over all tokens."""
    forbid = [0, 1, 2, 4, *range(FIRST + 3, VOCAB)]  # <eos> and three ordinary tokens remain
    words = range(FIRST, FIRST + 3)
    sequences = [[*head, EOS_ID] for n in range(length) for head in itertools.product(words, repeat=n)]
    sequences += [list(head) for head in itertools.product(words, repeat=length)]
    B = source if isinstance(source, int) else len(source)
    log_p = torch.full((B, len(sequences)), 0.0, dtype=torch.float64)
    for i, y in enumerate(sequences):
        read = torch.tensor([[SOS_ID, *y[:-1]]]).expand(B, -1)
        logits = model(read) if isinstance(source, int) else model(source, read)
        logits = logits.index_fill(2, torch.tensor(forbid), -math.inf)
        log_p[:, i] = torch.log_softmax(logits, -1).gather(2, torch.tensor(y).expand(B, -1).unsqueeze(2)).sum((1, 2))
    close(log_p.exp().sum(1), torch.ones(B), "the probabilities of all sequences sum to 1")
    for alpha in (0.0, 0.7, 1.0):
        scores = log_p / torch.tensor([len(y) for y in sequences]) ** alpha
        for own, found in zip(scores, beam(model, source, length, len(sequences), alpha, forbid=forbid), strict=True):
            best = own.argsort(descending=True)
            assert found[0].tokens == sequences[best[0]], (
                f"a full beam finds another sequence than brute force, {alpha=}"
            )
            close(
                [one.score for one in found], own[best], f"all scores by a full beam and by brute force, {alpha=}", 1e-6
            )


# 10. Rows and positions


@torch.no_grad()
def rows_apart(model: nn.Module, inputs: Inputs) -> None:
    """A row's logits do not depend on the other rows, nor on its place among them."""
    order = torch.arange(len(inputs[0])).flip(0)
    logits = model(*inputs)
    close(model(*(x[order] for x in inputs))[order], logits, "logits of the rows in another order")
    close(model(*(x[:1] for x in inputs)), logits[:1], "logits of the first row alone")


@torch.no_grad()
def order_seen(model: nn.Module, inputs: Inputs) -> None:
    """Two different tokens exchanged, not the last, or the halves of an image: the last logits move."""
    for i in range(len(inputs)):
        x = inputs[i]
        x = x.roll(4, 1) if x.dim() == 3 else torch.cat([x[:, :-3], x[:, [-2, -3]], x[:, -1:]], 1)
        rows = (x != inputs[i]).flatten(1).any(1)
        assert rows.any()
        moved = model(*inputs[:i], x, *inputs[i + 1 :])[rows]
        last = (lambda logits: logits[:, -1]) if moved.dim() == 3 else (lambda logits: logits)
        assert not torch.allclose(last(moved), last(model(*inputs)[rows])), "the order of the tokens is not seen"
