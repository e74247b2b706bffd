"""Fifteen checks that a correct model passes and a broken one does not. Each raises AssertionError where it fails.

     1  causality           tokens after t move no logit up to t; targets are the next tokens, shifted once
     2  padding             a row alone and in a padded batch has the same logits, loss and final state
     3  empty_row           a query that may attend to nothing gets zeros, never NaN, never uniform weights
     4  step_by_step        the teacher-forced pass equals the pass token by token
     5  first_loss          near ln V before training;  overfit: one batch can be learned to its entropy, and not below
     6  sums_to_one         n-gram conditionals, after histories seen or not;  uniform: PP is V
     7  token_weighted      the evaluation does not depend on the size of the batches
     8  gradient            a gradient by hand against finite differences and autograd
     9  cell                RNN, LSTM and GRU against torch.nn with mapped weights
    10  multi_head, layer_norm, sinusoids       against torch.nn, and by an explicit loop, and as a rotation
    11  bleu                our BLEU is sacreBLEU's
    12  repeatable          two evaluations agree;  mode_restored: writing leaves every module's mode as it was
    13  saved               a saved model comes back;  same_losses: one seed, the same first 20 losses
    14  beam_is_greedy      width 1;  beam_is_exhaustive: as wide as the tree, it finds what brute force finds
    15  positions_in_time   a code varies along time;  rows_apart, order_seen: a model's logits along the batch and time

Models take and give what `models` says; `inputs` are the arguments of one call, batch first in each.
"""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
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


def shifted_once(stream_batches: Callable, batches: Callable) -> None:
    stream = np.arange(100, 141)
    inputs, targets = (torch.cat(part, dim=1) for part in zip(*stream_batches(stream, 2, 6), strict=True))
    assert torch.equal(targets, inputs + 1), "a target of a stream is not the token after its input"
    pairs = [([7, 8], [20, 21, 22]), ([9], [23]), ([10, 11, 12], [24, 25])]
    for batch in batches(pairs, 2):
        for row, x, y in zip(batch.rows, batch.inputs, batch.targets, strict=True):
            target = pairs[row][1]
            assert x[x != PAD_ID].tolist() == [SOS_ID, *target], "the decoder does not read <sos> y_1 .. y_T-1"
            assert y[y != PAD_ID].tolist() == [*target, EOS_ID], "its targets are not y_1 .. y_T-1 <eos>"


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


# 3. A row that may attend to nothing


def empty_row(attend: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor | None]]) -> None:
    """attend(query (2, 3, 8), key (2, 5, 8), value (2, 5, 8), mask (2, 3, 5)) -> contexts, weights (or None)."""
    generator = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(2, n, 8, generator=generator, dtype=torch.float64).requires_grad_() for n in (3, 5, 5)
    )
    mask = torch.rand(2, 3, 5, generator=generator) < 0.6
    mask[..., 0], mask[0, 1] = True, False
    out, weights = attend(query, key, value, mask)
    assert out.isfinite().all(), "an empty row gives NaN"
    assert (out[0, 1] == 0).all(), "an empty row has a context"
    if weights is not None:
        weights = weights.reshape(2, -1, 3, 5)
        assert (weights[0, :, 1] == 0).all(), "an empty row has weights"
        assert (weights.masked_select(~mask.unsqueeze(1)) == 0).all(), "a forbidden key has weight"
        some = mask.any(-1).unsqueeze(1).expand(weights.shape[:-1])
        close(weights.sum(-1), some.double(), "weights sum to 1, in an empty row to 0")
    for gradient in torch.autograd.grad(out.square().sum(), (query, key, value)):
        assert gradient.isfinite().all(), "an empty row gives a gradient of NaN"


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


# 6. n-grams


def sums_to_one(model, ids: np.ndarray, allowed: np.ndarray) -> None:
    vocab = len(allowed)
    seen = [tuple(ids[t : t + n]) for n in (1, 2) for t in range(0, len(ids) - n, 7)]
    unseen = [(vocab - 1,), (vocab - 1, vocab - 1), (SOS_ID,), (int(ids[0]), vocab - 1), (vocab - 1, int(ids[0]))]
    for history in [(), *seen, *unseen]:
        p = model.distribution(history)
        close(p.sum(), 1.0, f"the sum of P(w | {history})")
        assert (p >= 0).all(), f"P(w | {history}) below 0"
        assert (p[~allowed] == 0).all(), f"after {history} a type that cannot occur has a probability"
    text = np.array([*ids[:12], vocab - 1, *ids[12:16]])
    one_by_one = [model.distribution(text[:t])[w] for t, w in enumerate(text)]
    close(np.exp(model.log_probs(text)), one_by_one, "probabilities of a stream and of each token")


def uniform(perplexity: float, V: int) -> None:
    close(perplexity, float(V), f"the perplexity of a model that knows nothing of {V} types", 1e-6 * V)


# 7. Evaluation


def token_weighted(evaluate: Callable[[list], float], rows: Sequence[tuple[Inputs, Tensor]], mean: float) -> None:
    """evaluate(batches) is `mean` whatever the batches. rows: batches of one row, of unequal lengths."""
    for size in (1, 2, 3, len(rows)):
        groups = [rows[i : i + size] for i in range(0, len(rows), size)]
        batches = [
            (tuple(map(widen, zip(*(x for x, _ in group), strict=True))), widen([y for _, y in group]))
            for group in groups
        ]
        close(evaluate(batches), mean, f"the mean over tokens, in batches of {size}")


# 8. Gradients


def gradient(f: Callable, x: np.ndarray, by_hand: np.ndarray, same: Callable[[Tensor], Tensor] | None = None) -> None:
    """f: from an array to one number.  by_hand: df/dx.  same: f in torch, for autograd."""
    numbers = np.empty_like(x, dtype=np.float64)
    for i in np.ndindex(x.shape):
        up, down = x.astype(np.float64), x.astype(np.float64)
        up[i], down[i] = up[i] + 1e-5, down[i] - 1e-5
        numbers[i] = (float(f(up)) - float(f(down))) / 2e-5
    close(by_hand, numbers, "a gradient by hand and by finite differences", 1e-7)
    if same is not None:
        leaf = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        close(by_hand, torch.autograd.grad(same(leaf), leaf)[0], "a gradient by hand and by autograd")


# 9. Cells


def cell(own: nn.Module, kind: str, gates: str) -> None:
    """own: a cell of d_in 4 and hidden 5.  gates: in the order in which torch.nn stacks them."""
    torch.manual_seed(3)
    own = own.double()
    with torch.no_grad():
        for p in own.parameters():
            p.normal_()
    theirs = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}[kind](4, 5, batch_first=True).double()
    weights = dict(own.named_parameters())
    bias = "b" if kind == "rnn" else "b_{}"
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(torch.cat([weights[f"W_x{gate}"] for gate in gates]))
        theirs.weight_hh_l0.copy_(torch.cat([weights[f"W_h{gate}"] for gate in gates]))
        theirs.bias_ih_l0.copy_(torch.cat([weights[bias.format(gate)] for gate in gates]))
        theirs.bias_hh_l0.zero_()
        if kind == "gru":
            theirs.bias_hh_l0[10:] = weights["b_hn"]
    x = torch.randn(3, 6, 4, dtype=torch.float64)
    outputs, last = theirs(x)
    state = own.start(3)
    for t in range(6):
        state = own(x[:, t], state)
        close(state[0], outputs[:, t], f"h_{t} of the cell and of torch.nn")
    for mine, other in zip(state, last if kind == "lstm" else (last,), strict=True):
        close(mine, other[0], "the last state of the cell and of torch.nn")


def cho_cell(own: nn.Module) -> None:
    """The GRU of Cho et al. 2014, which resets before the product, number by number."""
    own = own.double()
    torch.manual_seed(4)
    x, h = torch.randn(4, dtype=torch.float64), torch.randn(5, dtype=torch.float64)
    r = torch.sigmoid(own.W_xr @ x + own.W_hr @ h + own.b_r)
    z = torch.sigmoid(own.W_xz @ x + own.W_hz @ h + own.b_z)
    new = [
        z[j] * h[j]
        + (1 - z[j]) * torch.tanh(own.W_xn[j] @ x + sum(own.W_hn[j, k] * r[k] * h[k] for k in range(5)) + own.b_n[j])
        for j in range(5)
    ]
    close(own(x[None], (h[None],))[0][0], torch.stack(new), "a step of the cell and of its equation")


# 10. Attention, LayerNorm, sinusoids


def multi_head(own: nn.Module, causal: bool = False) -> None:
    """own: MultiHeadAttention(8, 2), against torch's two forms, with a mask of which no row is empty."""
    own = own.double().eval()
    torch.manual_seed(5)
    query, memory = torch.randn(2, 5, 8, dtype=torch.float64), torch.randn(2, 5, 8, dtype=torch.float64)
    mask = torch.rand(2, 5, 5) < 0.6
    mask[..., 0] = True
    allowed = mask & torch.ones(5, 5, dtype=torch.bool).tril() if causal else mask
    theirs = nn.MultiheadAttention(8, 2, batch_first=True).double()
    with torch.no_grad():
        for p in own.parameters():
            p.normal_()
        theirs.in_proj_weight.copy_(torch.cat([own.W_q.weight, own.W_k.weight, own.W_v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([own.W_q.bias, own.W_k.bias, own.W_v.bias]))
        theirs.out_proj.weight.copy_(own.W_o.weight)
        theirs.out_proj.bias.copy_(own.W_o.bias)
    # self-attention too, which has a product of its own, and the fused kernel, which gives no weights
    for key, need_weights in itertools.product((memory, query), (False, True)):
        out, weights = own(query, key, key, mask, causal, need_weights)
        forbidden = ~allowed.repeat_interleave(2, dim=0)
        other, shares = theirs(query, key, key, attn_mask=forbidden, average_attn_weights=False)
        close(out, other, "heads and nn.MultiheadAttention")
        if weights is not None:
            close(weights, shares, "their weights")
        Q, K, V = (W(x).view(2, 5, 2, 4).transpose(1, 2) for W, x in ((own.W_q, query), (own.W_k, key), (own.W_v, key)))
        fused = F.scaled_dot_product_attention(Q, K, V, allowed.unsqueeze(1))
        close(out, own.W_o(fused.transpose(1, 2).reshape(2, 5, 8)), "heads and scaled_dot_product_attention")


def layer_norm(own: nn.Module) -> None:
    """own: LayerNorm(6)."""
    own = own.double()
    torch.manual_seed(6)
    with torch.no_grad():
        for p in own.parameters():
            p.normal_()
    x = 3 * torch.randn(4, 3, 6, dtype=torch.float64) + 1
    mean = sum(x[..., j] for j in range(6)) / 6
    variance = sum((x[..., j] - mean) ** 2 for j in range(6)) / 6
    for j in range(6):
        expected = own.weight[j] * (x[..., j] - mean) / (variance + 1e-5).sqrt() + own.bias[j]
        close(own(x)[..., j], expected, "LayerNorm and its formula")


def sinusoids(code: Callable[[int, int], Tensor]) -> None:
    T, d = 9, 6
    p = code(T, d)
    for t, j in itertools.product(range(T), range(d // 2)):
        w = 10000 ** (-2 * j / d)
        close(p[t, 2 * j : 2 * j + 2], [math.sin(t * w), math.cos(t * w)], f"sinusoids at {t}, {j}", 1e-6)
        if t + 3 < T:  # three positions later, each pair is turned by 3 w, whatever t
            sin, cos = math.sin(3 * w), math.cos(3 * w)
            turn = torch.tensor([[cos, sin], [-sin, cos]], dtype=p.dtype)
            close(turn @ p[t, 2 * j : 2 * j + 2], p[t + 3, 2 * j : 2 * j + 2], "the code, turned", 1e-6)


# 11. BLEU


def bleu(own: Callable[[list[str], list[str]], float]) -> None:
    from sacrebleu.metrics import BLEU

    rng = np.random.default_rng(0)
    words = ["a", "the", "dog", "runs", "home", "U.S.", "3.5", "it's", "(so)", "well,", "stop."]

    def corpus(n: int, low: int, high: int) -> list[str]:
        return [" ".join(rng.choice(words, rng.integers(low, high))) for _ in range(n)]

    tests = [(corpus(n, low, 9), corpus(n, 1, 14)) for n, low in itertools.product((1, 2, 20), (0, 1, 4))]
    long = corpus(5, 6, 12)
    shuffled = [" ".join(reversed(text.split())) for text in long]
    tests += [
        (long, long),
        (shuffled, long),
        ([""], ["a dog"]),
        (["a dog runs home"], ["the"]),
        (long, corpus(5, 1, 4)),
    ]
    tests += [([text + " stop. the" for text in long], long), ([" ".join(text.split()[:-2]) for text in long], long)]
    for ours, references in tests:
        close(own(ours, references), BLEU().corpus_score(ours, [references]).score, f"BLEU of {ours[:1]}", 1e-9)


# 12. Evaluation leaves no trace


@torch.no_grad()
def repeatable(model: nn.Module, inputs: Inputs, others: Inputs) -> None:
    """model: in evaluation mode, built with dropout.  others: a batch that is seen in between."""
    first = model(*inputs)
    model(*others)
    assert torch.equal(first, model(*inputs)), "two evaluations of a batch differ"


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


# 13. Saving and seeds


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


# 14. Beams


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


# 15. Positions


def positions_in_time(code: Callable[[int], Tensor], x: Callable[[Tensor], Tensor], d: int) -> None:
    """code(T): (T, d), all rows different.  x: adds the positions to (B, T, d), for B = T as well."""
    p = code(5)
    assert p.shape[0] == 5, f"a code of 5 positions is {tuple(p.shape)}"
    for s, t in itertools.combinations(range(5), 2):
        assert not torch.allclose(p[s], p[t]), f"positions {s} and {t} have one code"
    for B in (1, 3, 5):
        added = x(torch.zeros(B, 5, d))
        close(added, p.expand(B, 5, -1), "the code is the same in every row of the batch", 1e-6)


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
