"""Every check of `checks` over every model that it fits; each test is named after its check."""

from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lmbook import autograd, backprop, decode, metrics, ngram, positions
from lmbook.attention import MultiHeadAttention, attend, masked_softmax
from lmbook.cells import GRUCell, LSTMCell, RNNCell
from lmbook.data import batching
from lmbook.lab.train import evaluate, fit
from lmbook.layers import LayerNorm
from lmbook.losses import smoothed_loss, token_nll
from lmbook.transformer import Embedding

from . import checks
from .models import ALLOWED, CASES, FIRST, STREAM, VOCAB, ids, names, ngrams, nll

GENERATES = names("lm", "translator")
READS_PADDING = names("translator", "tagger", "classifier")


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def over(*chosen):
    return pytest.mark.parametrize("name", *chosen)


def unequal(name):
    """Batches of one row, of unequal lengths."""
    return [CASES[name].batch(1, N, T, seed=N) for N, T in ((7, 3), (2, 6), (4, 1), (1, 5))]


# 1


@over(GENERATES)
def test_causality(name):
    case = CASES[name]
    checks.causality(case.lively(), case.batch()[0])


def test_targets_are_shifted_once():
    checks.shifted_once(batching.stream_batches, batching.batches)


# 2


@over(names("lm", "translator", "tagger", "classifier"))
def test_padding(name):
    checks.padding(CASES[name].lively(), unequal(name), masked=name in READS_PADDING)


@over([name for name in GENERATES if name in names("translator") or hasattr(CASES[name].build(), "recurrent")])
def test_final_state(name):
    model, rows = CASES[name].lively(), [inputs[0] for inputs, _ in unequal(name)]
    start = model.start if name in names("translator") else lambda tokens: model.run(tokens, None, tokens != 0)[1]
    checks.final_state(start, rows)


# 3


def heads(query, key, value, mask, need_weights):
    torch.manual_seed(0)
    return MultiHeadAttention(8, 2).double()(query, key, value, mask, need_weights=need_weights)


EMPTY = {
    "attend": attend,
    "masked softmax": lambda q, k, v, m: ((w := masked_softmax(q @ k.transpose(1, 2), m)) @ v, w),
    "heads": partial(heads, need_weights=True),
    "heads, fused": partial(heads, need_weights=False),
}


@over(list(EMPTY))
def test_empty_row(name):
    checks.empty_row(EMPTY[name])


@over(READS_PADDING)
def test_empty_source(name):
    case = CASES[name]
    attends = (name.startswith("transformer") and "fast" not in name) or hasattr(case.build(), "score")
    checks.empty_source(case.lively(), case.batch()[0], attends)


# 4


@over(GENERATES)
def test_step_by_step(name):
    case = CASES[name]
    checks.step_by_step(case.lively(), case.batch()[0])


# 5


@over(list(CASES))
def test_first_loss(name):
    case = CASES[name]
    checks.first_loss(case.build(vocab=300), case.batch(B=40, vocab=300), 300)


@over(list(CASES))
def test_overfit(name):
    case = CASES[name]
    causal = case.kind in ("lm", "translator")
    batch = checks.ambiguous(*case.batch(B=3, N=2, T=3), causal)
    model = case.lively()
    floor = checks.entropy(*batch, causal, getattr(model, "window", None))
    assert floor > 0.1
    checks.overfit(model, batch, floor)


@over(list(CASES))
def test_mixed_precision(name):
    """Under autocast the loss is that of float32 to the three digits of bfloat16, and every gradient is a number."""
    model, (inputs, targets) = CASES[name].build().float(), CASES[name].batch()
    inputs = tuple(x.float() if x.is_floating_point() else x for x in inputs)
    loss, _ = nll(model, (inputs, targets))
    with torch.autocast("cpu", torch.bfloat16):
        rounded, _ = nll(model, (inputs, targets))
    rounded.backward()
    assert rounded.item() == pytest.approx(loss.item(), rel=0.02)
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in model.parameters())


# 6


@over(list(ngrams()))
def test_sums_to_one(name):
    checks.sums_to_one(ngrams()[name](), STREAM, ALLOWED)


def test_uniform_ngram():
    counts = ngram.Counts(STREAM, 2, VOCAB)
    checks.uniform(ngram.stream_perplexity(ngram.AddK(counts, 2, 1e12, ALLOWED), STREAM), VOCAB - FIRST)


@over(list(CASES))
def test_uniform(name):
    case = CASES[name]
    model = case.build()
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    checks.uniform(metrics.perplexity(evaluate(model, [case.batch()], nll)), VOCAB)


# 7


@over(names("lm", "translator", "tagger"))
def test_token_weighted(name):
    model, rows = CASES[name].lively(), unequal(name)
    with torch.no_grad():
        totals, counts = zip(*(nll(model, row) for row in rows), strict=True)
    mean = float(sum(totals) / sum(counts))
    checks.token_weighted(lambda batches: evaluate(model, batches, nll), rows, mean)

    def by_logits(model, batch):
        return token_nll(model(*batch[0]), batch[1])

    checks.token_weighted(lambda batches: evaluate(model, batches, by_logits), rows, mean)


# 8


def test_gradient_of_the_loss():
    rng = np.random.default_rng(0)
    z, y, x = rng.normal(size=5), np.eye(5)[2], rng.normal(size=3)
    W = rng.normal(size=(5, 3))
    y_hat = backprop.softmax(z)
    target = torch.tensor(y)
    checks.gradient(lambda p: backprop.nll(p, y), y_hat, backprop.nll_gradient(y_hat, y))
    for i in range(5):
        checks.gradient(lambda a: backprop.softmax(a)[i], z, backprop.softmax_jacobian(y_hat)[i])  # noqa: B023
    g = rng.normal(size=5)
    checks.gradient(
        lambda a: g @ backprop.softmax(a), z, backprop.softmax_vjp(y_hat, g), lambda a: torch.tensor(g) @ a.softmax(0)
    )

    def loss(V):
        return backprop.nll_from_logits(V @ x, y)

    def same(V):
        return -(target * torch.log_softmax(V @ torch.tensor(x), 0)).sum()

    checks.gradient(loss, W, backprop.gradient_by_jacobians(W, x, y), same)
    checks.gradient(loss, W, backprop.gradient_collapsed(W, x, y), same)


def test_gradient_of_the_network():
    rng = np.random.default_rng(1)
    weights = {"E": rng.normal(size=(3, 6)), "W": rng.normal(size=(4, 9)), "U": rng.normal(size=(6, 4))}
    window, target = [2, 5, 2], 1
    by_hand = backprop.network_gradients(**weights, window=window, target=target)

    def same(changed):
        w = {key: torch.tensor(value) for key, value in weights.items()} | changed
        e = w["E"][:, window].T.reshape(-1)
        return -torch.log_softmax(w["U"] @ torch.sigmoid(w["W"] @ e), 0)[target]

    for name in weights:
        checks.gradient(
            lambda a: -np.log(backprop.network(**(weights | {name: a}), window=window).y_hat[target]),  # noqa: B023
            weights[name],
            by_hand[name],
            lambda a: same({name: a}),  # noqa: B023
        )


def engine_loss(x):
    """One number from all operations of the engine, with broadcasting and a row taken twice."""
    node = x if isinstance(x, autograd.Node) else autograd.Node(x)
    h = autograd.tanh(node @ node.T + node[[0, 0, 1]].sum(axis=1)) * autograd.sigmoid(node.T @ node)
    h = h + autograd.exp(-node) * (1 / (node**2 + 1) - node / 3)
    return -(autograd.log_softmax(h)[:, 0]).mean() + autograd.log((h * h).sum())


def test_gradient_of_the_engine():
    x = np.random.default_rng(2).normal(size=(3, 3))
    node = autograd.Node(x)
    engine_loss(node).backward()
    checks.gradient(lambda a: engine_loss(a).data, x, node.grad)


# 9


@pytest.mark.parametrize(
    ("own", "kind", "gates"), [(RNNCell, "rnn", "h"), (LSTMCell, "lstm", "ifgo"), (GRUCell, "gru", "rzn")]
)
def test_cell(own, kind, gates):
    checks.cell(own(4, 5), kind, gates)


def test_cell_of_cho():
    checks.cho_cell(GRUCell(4, 5, reset="before"))


# 10


@pytest.mark.parametrize("causal", [False, True])
def test_multi_head(causal):
    checks.multi_head(MultiHeadAttention(8, 2), causal)


def test_layer_norm():
    checks.layer_norm(LayerNorm(6))


def test_sinusoids():
    checks.sinusoids(positions.sinusoidal)


# 11


def test_bleu():
    checks.bleu(metrics.bleu)


# 12


@over(list(CASES))
def test_repeatable(name):
    case = CASES[name]
    checks.repeatable(case.build(dropout=0.5), case.batch()[0], case.batch(seed=9)[0])


WRITE = {
    "greedy": lambda model, source: decode.greedy(model, source, 5),
    "sample": lambda model, source: decode.sample(model, source, 5, generator=torch.Generator().manual_seed(0)),
    "beam": lambda model, source: decode.beam(model, source, 5, 3),
}


def source_of(name):
    return 3 if name in names("lm") else CASES[name].batch()[0][0]


@pytest.mark.parametrize("how", list(WRITE))
@over(GENERATES)
def test_mode_restored(name, how):
    checks.mode_restored(CASES[name].build(dropout=0.5), lambda model: WRITE[how](model, source_of(name)))


@over(list(CASES))
def test_mode_restored_by_evaluation(name):
    case = CASES[name]
    checks.mode_restored(case.build(dropout=0.5), lambda model: evaluate(model, [case.batch()], nll))


# 13


@over(list(CASES))
def test_saved(name, tmp_path):
    case = CASES[name]
    checks.saved(lambda seed: case.build(seed=seed), case.batch()[0], tmp_path / "model.safetensors")


@over(list(CASES))
def test_same_losses(name):
    case = CASES[name]

    def losses(seed, steps):
        model = case.build(dropout=0.1, seed=seed)
        batch, optimizer = case.batch(B=2, N=2, T=3), torch.optim.Adam(model.parameters())
        log = fit(model, lambda epoch: [batch], nll, optimizer, steps=steps, progress=False)
        return [record["loss"] for record in log]

    checks.same_losses(losses)


# 14


@over(GENERATES)
def test_beam_is_greedy(name):
    checks.beam_is_greedy(CASES[name].lively(), source_of(name), decode.greedy, decode.beam)


@over(GENERATES)
def test_beam_is_exhaustive(name):
    checks.beam_is_exhaustive(CASES[name].lively(), source_of(name), decode.beam_hypotheses)


# 15

CODES = {
    "integer": (positions.integer, 1),
    "binary": (partial(positions.binary, n_bits=3), 3),
    "sinusoidal": (lambda T: positions.sinusoidal(T, 6), 6),
    "learned": (positions.Learned(5, 6), 6),
}


@over(list(CODES))
def test_positions_in_time(name):
    code, d = CODES[name]
    checks.positions_in_time(code, lambda x: positions.place(x, code(5)), d)


def test_positions_of_an_embedding():
    for kind, code in (("sinusoidal", lambda T: positions.sinusoidal(T, 6)), ("learned", None)):
        embedding = Embedding(VOCAB, 6, kind, max_length=5)
        torch.nn.init.zeros_(embedding.embedding.weight)
        checks.positions_in_time(code or embedding.learned, lambda x: embedding(x[..., 0].long()), 6)  # noqa: B023


@over(list(CASES))
def test_rows_apart(name):
    case = CASES[name]
    checks.rows_apart(case.lively(), case.batch(B=6, N=6, T=6)[0])


@over(list(CASES))
def test_order_seen(name):
    case = CASES[name]
    checks.order_seen(case.lively(), case.batch()[0])


def test_smoothed_loss_without_smoothing_is_the_loss():
    logits = torch.randn(3, 6, VOCAB, generator=torch.Generator().manual_seed(0))
    targets = ids(3, 6, torch.Generator().manual_seed(0))
    targets[1, 3:] = 0
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0)
    checks.close(smoothed_loss(logits, targets, 0.0), expected, "the loss without smoothing", 1e-6)
