"""Every check of `checks` over every model that it fits; each test is named after its check."""

import pytest
import torch

from lmbook import decode, metrics
from lmbook.lab.train import evaluate, fit
from lmbook.losses import token_nll
from lmbook.text import PAD_ID

from . import checks
from .models import CASES, VOCAB, names, nll, of_each_class

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


@over(READS_PADDING)
def test_empty_source(name):
    case = CASES[name]
    attends = (name.startswith("transformer") and "fast" not in name) or hasattr(case.build(), "score")
    checks.empty_source(case.lively(), case.batch()[0], attends)


# 4


@over(GENERATES)
def test_step_by_step(name):
    case = CASES[name]
    inputs, _ = case.batch()
    if case.kind == "translator":
        inputs[0][1, 4:] = PAD_ID
    checks.step_by_step(case.lively(), inputs)


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


@over(list(CASES))
def test_uniform(name):
    case = CASES[name]
    model = case.build()
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    assert metrics.perplexity(evaluate(model, [case.batch()], nll)) == pytest.approx(VOCAB)


# 6


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


# 7


@over(list(CASES))
def test_repeatable(name):
    case = CASES[name]
    drops = not name.startswith("modern")  # which has no dropout
    checks.repeatable(case.build(dropout=0.5), case.batch()[0], case.batch(seed=9)[0], drops)


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


# 8


@over(list(CASES))
def test_saved(name, tmp_path):
    case = CASES[name]
    checks.saved(lambda seed: case.build(seed=seed), case.batch()[0], tmp_path / "model.safetensors")


@of_each_class(list(CASES))
def test_same_losses(name):
    case = CASES[name]

    def losses(seed, steps):
        model = case.build(dropout=0.1, seed=seed)
        batch, optimizer = case.batch(B=2, N=2, T=3), torch.optim.Adam(model.parameters())
        log = fit(model, lambda epoch: [batch], nll, optimizer, steps=steps, progress=False)
        return [record["loss"] for record in log]

    checks.same_losses(losses)


# 9


@over(GENERATES)
def test_beam_is_greedy(name):
    checks.beam_is_greedy(CASES[name].lively(), source_of(name), decode.greedy, decode.beam)


@over(GENERATES)
def test_beam_is_exhaustive(name):
    checks.beam_is_exhaustive(CASES[name].lively(), source_of(name), decode.beam_hypotheses)


# 10


@over(list(CASES))
def test_rows_apart(name):
    case = CASES[name]
    checks.rows_apart(case.lively(), case.batch(B=6, N=6, T=6)[0])


@over(list(CASES))
def test_order_seen(name):
    case = CASES[name]
    checks.order_seen(case.lively(), case.batch()[0])
