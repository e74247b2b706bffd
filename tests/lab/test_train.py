"""Training: sums over tokens, schedules, evaluation, and what is said when something goes wrong."""

import math
import random
import signal
import sys

import numpy as np
import pytest
import torch
from torch import nn

import lmbook
from lmbook.lab import resume
from lmbook.lab.train import TrainingError, evaluate, fit, fixed_seed, summed_nll
from lmbook.losses import token_nll

VOCAB = 11


class Model(nn.Module):
    """A small language model with dropout."""

    def __init__(self, hidden: int = 8, dropout: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, hidden)
        self.cell = nn.GRU(hidden, hidden, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(hidden, VOCAB)

    def forward(self, tokens):
        return self.run(tokens, None)[0]

    def run(self, tokens, state):
        H, state = self.cell(self.embedding(tokens), None if state is None else state.transpose(0, 1))
        return self.head(self.dropout(H)), state.transpose(0, 1)


def loss(model, batch):
    inputs, targets = batch
    return token_nll(model(inputs), targets)


def loss_with_state(model, batch, state):
    inputs, targets = batch
    logits, state = model.run(inputs, state)
    return *token_nll(logits, targets), state


def batches(epoch: int, count: int = 5, B: int = 6, T: int = 7):
    """Padded rows of unequal length: what a batch means, and how many tokens it has, differ from row to row."""
    rng = np.random.default_rng([7, epoch])
    for _ in range(count):
        tokens = rng.integers(1, VOCAB, (B, T + 1))
        targets = np.where(np.arange(T) < rng.integers(1, T + 1, (B, 1)), tokens[:, 1:], 0)
        yield torch.from_numpy(tokens[:, :-1]), torch.from_numpy(targets)


def build(dropout: float = 0.0, rate: float = 1e-2, hidden: int = 8):
    lmbook.seed(3)
    model = Model(hidden, dropout)
    return model, torch.optim.AdamW(model.parameters(), lr=rate)


def train(steps: int = 8, **options):
    model, optimizer = build(options.pop("dropout", 0.0))
    log = fit(model, options.pop("batches", batches), options.pop("loss", loss), optimizer, steps=steps, **options)
    return model, log


def values(log: list[dict]) -> list[dict]:
    return [{name: value for name, value in record.items() if name != "seconds"} for record in log]


def same(model, other) -> bool:
    return all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))


# Steps


def test_a_step_is_the_gradient_of_the_mean_over_tokens():
    model, optimizer = build()
    theirs, _ = build()
    reference = torch.optim.AdamW(theirs.parameters(), lr=1e-2)
    log = fit(model, batches, loss, optimizer, steps=7, clip=0.1)
    stream = [batch for epoch in range(2) for batch in batches(epoch)][:7]
    for record, (inputs, targets) in zip(log, stream, strict=True):
        logits = theirs(inputs)
        mean = nn.functional.cross_entropy(logits.transpose(1, 2), targets, ignore_index=0)
        reference.zero_grad()
        mean.backward()
        norm = nn.utils.clip_grad_norm_(theirs.parameters(), 0.1)
        reference.step()
        assert record["loss"] == pytest.approx(mean.item(), rel=1e-6)
        assert record["norm"] == pytest.approx(norm.item(), rel=1e-5)
        assert record["norm"] > 0.1
        assert record["tokens"] == (targets > 0).sum()
    for a, b in zip(model.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def gradient_in_shards(monkeypatch, world: int, divide_each: bool = False) -> tuple[list[torch.Tensor], float]:
    """The mean gradient and loss of one batch whose rows several processes share, one process after another."""
    (model, _), nll, tokens = build(), 0.0, 0
    batch, state = next(batches(0)), torch.randn(6, 1, 8, generator=torch.Generator().manual_seed(1))
    for rank in range(world):
        monkeypatch.setattr("lmbook.lab.distributed.rank_and_world_size", lambda rank=rank: (rank, world))
        own = state.tensor_split(world)[rank]
        part, n, _ = summed_nll(model, batch, loss_with_state, own, True, False)
        part, n = (part / n, 1) if divide_each else (part, n)
        part.backward()
        nll, tokens = nll + part.item(), tokens + n
    return [p.grad / tokens for p in model.parameters()], nll / int(tokens)


@pytest.mark.parametrize("world", [2, 4, 6, 9])
def test_the_shards_of_a_batch_make_the_same_step(monkeypatch, world):
    whole, mean = gradient_in_shards(monkeypatch, 1)
    sharded, same_mean = gradient_in_shards(monkeypatch, world)
    assert same_mean == pytest.approx(mean, rel=1e-6)
    for a, b in zip(whole, sharded, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)


def test_a_mean_of_means_would_be_caught(monkeypatch):
    whole, mean = gradient_in_shards(monkeypatch, 1, divide_each=True)
    sharded, other = gradient_in_shards(monkeypatch, 2, divide_each=True)
    assert other != pytest.approx(mean, rel=1e-3)
    assert not all(torch.allclose(a, b, rtol=1e-3, atol=1e-4) for a, b in zip(whole, sharded, strict=True))


def test_a_carried_state_is_the_one_of_a_loop_by_hand():
    model, optimizer = build()
    log = fit(model, batches, loss_with_state, optimizer, steps=10, stateful=True)
    model, optimizer = build()
    for epoch in range(2):
        state = None
        for i, batch in enumerate(batches(epoch)):
            nll, n, state = loss_with_state(model, batch, state)
            state = state.detach()
            assert log[5 * epoch + i]["loss"] == pytest.approx((nll / n).item(), rel=1e-6)
            optimizer.zero_grad()
            (nll / n).backward()
            optimizer.step()


def test_the_rate_of_a_step_is_the_optimizers_times_the_schedule():
    _, log = train(schedule=lambda step: 1 / step)
    assert [record["lr"] for record in log] == pytest.approx([1e-2 / s for s in range(1, 9)])


# Evaluation


def test_two_evaluations_are_identical_and_leave_mode_and_randomness_as_they_were():
    model, _ = build(dropout=0.5)
    model.train()
    model.cell.eval()

    def noisy(model, batch):
        nll, n = loss(model, batch)
        return nll * torch.rand(()) * np.random.default_rng(random.randrange(9)).random(), n

    before = torch.get_rng_state()
    first = evaluate(model, batches(0), noisy)
    assert torch.equal(before, torch.get_rng_state())
    torch.rand(5)
    random.random()
    assert evaluate(model, batches(0), noisy) == first
    assert (model.training, model.dropout.training, model.cell.training) == (True, True, False)
    with pytest.raises(ZeroDivisionError), fixed_seed(model):
        1 / model.dropout.training
    assert model.dropout.training


def test_validation_changes_nothing_in_the_training():
    model, log = train(dropout=0.3)
    watched, watched_log = train(dropout=0.3, validate=lambda m: evaluate(m, batches(99), loss), evaluate_every=1)
    assert same(model, watched)
    assert values(log) == [record for record in values(watched_log) if "validation" not in record]


def test_early_stopping_gives_the_best_weights_back():
    heard, seen = iter([5.0, 3.0, 4.0, 3.5, 1.0]), []

    def validate(model):
        assert not model.training
        seen.append({name: w.clone() for name, w in model.state_dict().items()})
        return next(heard)

    model, log = train(steps=99, validate=validate, evaluate_every=3, patience=2)
    assert [r["validation"] for r in log if "validation" in r] == [5.0, 3.0, 4.0, 3.5]
    assert log[-1]["step"] == 12
    assert all(torch.equal(w, seen[1][name]) for name, w in model.state_dict().items())
    assert not torch.equal(seen[1]["head.weight"], seen[3]["head.weight"])


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_patience_stops_where_torchs_scheduler_loses_it(patience):
    curve = np.random.default_rng(patience).integers(0, 12, 40).astype(float).tolist()
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0)
    torchs = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=patience - 1, threshold=0)
    for stop, value in enumerate(curve, 1):  # noqa: B007 (the last one is wanted)
        torchs.step(value)
        if optimizer.param_groups[0]["lr"] < 1:
            break
    heard = iter(curve)
    _, log = train(steps=40, validate=lambda model: next(heard), evaluate_every=1, patience=patience)
    assert [record["validation"] for record in log if "validation" in record] == curve[:stop]


# Defaults


def test_by_default_nothing_clips_the_gradient_and_the_rate_is_the_optimizers():
    model, _ = build()
    before = [p.detach().clone() for p in model.parameters()]
    large = lambda model, batch: (1e4 * loss(model, batch)[0], loss(model, batch)[1])  # noqa: E731
    (record,) = fit(model, batches, large, torch.optim.SGD(model.parameters(), lr=1e-3), steps=1)
    assert record["norm"] > 1e3
    for p, start in zip(model.parameters(), before, strict=True):
        torch.testing.assert_close(start - p, 1e-3 * p.grad, rtol=1e-3, atol=1e-6)
    assert record["lr"] == 1e-3


def test_by_default_every_epoch_is_validated_and_the_last_weights_stay():
    seen = []

    def validate(model):  # ever worse
        seen.append({name: w.clone() for name, w in model.state_dict().items()})
        return float(len(seen))

    model, log = train(steps=33, validate=validate)
    assert [r["step"] for r in log if "validation" in r] == [5, 10, 15, 20, 25, 30, 33]
    assert all(torch.equal(w, seen[-1][name]) for name, w in model.state_dict().items())


def test_by_default_steps_and_epochs_do_not_bound_each_other():
    assert len(train(steps=None, epochs=3)[1]) == 15
    assert len(train(steps=17)[1]) == 17


def test_by_default_no_file_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train()
    assert list(tmp_path.iterdir()) == []


def test_by_default_a_checkpoint_is_written_every_thousand_steps(monkeypatch):
    saved, model = [], nn.Linear(1, 1)
    monkeypatch.setattr(resume.Snapshots, "save", lambda self, state: saved.append(state.step))
    square = lambda model, batch: (model(batch).square().sum(), 1)  # noqa: E731
    fit(model, lambda epoch: [torch.ones(1, 1)] * 5000, square, torch.optim.SGD(model.parameters(), 1e-3), steps=2001)
    assert saved == [1000, 2000, 2001]


def test_by_default_loss_has_no_state_and_full_precision(monkeypatch):
    asked, honest = [], summed_nll

    def asking(model, batch, loss, state, stateful, bf16):
        asked.append((stateful, bf16))
        return honest(model, batch, loss, state, stateful, bf16)

    monkeypatch.setattr("lmbook.lab.train.summed_nll", asking)
    model, _ = train(steps=1)
    evaluate(model, batches(0), loss)
    assert set(asked) == {(False, False)}


def test_by_default_a_terminal_has_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    train(steps=3)
    assert "3/3" in capsys.readouterr().err
    train(steps=3, progress=False)
    assert capsys.readouterr().err == ""


# Errors


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("gradient", [False, True])
def test_a_loss_that_is_no_number_names_step_and_batch(tmp_path, bad, gradient):
    seen = []

    def breaks(model, batch):
        nll, n = loss(model, batch)
        seen.append({name: w.clone() for name, w in model.state_dict().items()})
        if len(seen) == 7:
            nll = nll + (nll * bad - nll.detach() * bad).nan_to_num(0) if gradient else nll * bad
            if gradient:
                nll.register_hook(lambda g: g * bad)
        return nll, n

    what = "norm of the gradient" if gradient else f"loss is {bad}"
    with pytest.raises(TrainingError, match=rf"{what}.* at step 7 \(batch 1 of epoch 1, .*, of step 6, is .*Lower"):
        train(loss=breaks, folder=tmp_path, save_every=3)
    found = resume.read_state(tmp_path / "checkpoint.pt")
    assert found["progress"]["step"] == 6
    assert all(torch.equal(w, seen[6][name]) for name, w in found["weights"].items())
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 6


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA"), MemoryError(), RuntimeError("can't allocate memory")]
)
def test_too_little_memory_suggests_half_the_batch(error):
    def too_large(model, batch):
        raise error

    with pytest.raises(TrainingError, match=r"at step 1 .* batch of 6 rows\. Try 3 rows\. No checkpoint"):
        train(loss=too_large)


def test_too_little_memory_for_the_optimizer_or_the_validation_says_so(monkeypatch):
    def full(*_):
        raise torch.OutOfMemoryError("CUDA")

    with pytest.raises(TrainingError, match=r"in the validation after step 2\. Give validate smaller batches"):
        train(validate=full, evaluate_every=2)
    monkeypatch.setattr(torch.optim.AdamW, "step", full)
    with pytest.raises(TrainingError, match=r"at step 1 .* Try 3 rows"):
        train()


def test_another_schedule_is_noticed_when_a_training_goes_on(tmp_path, capsys):
    train(steps=4, folder=tmp_path, schedule=lambda step: 1 / step)
    train(steps=6, folder=tmp_path, schedule=lambda step: 1 / step, resume=True)
    assert "schedule" not in capsys.readouterr().err
    train(steps=8, folder=tmp_path, schedule=lambda step: 1.0, resume=True)
    assert "step 6 had the rate 0.00167, the schedule now gives 0.01" in capsys.readouterr().err


def test_a_batch_of_anything_but_tensors_says_so():
    with pytest.raises(TypeError, match=r"a batch or a state holds tensors.* holds a ndarray"):
        train(batches=lambda epoch: [(np.zeros((2, 3)), np.zeros((2, 3)))])


def test_an_error_of_the_model_stays_what_it_is():
    def wrong(model, batch):
        raise RuntimeError("shapes do not fit")

    with pytest.raises(RuntimeError, match=r"^shapes do not fit$"):
        train(loss=wrong)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"steps": None}, "give steps, epochs"),
        ({"steps": 0}, "steps is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"save_every": 0}, "save_every is 0"),
        ({"evaluate_every": 0}, "evaluate_every is 0"),
        ({"patience": 0}, "patience is 0"),
        ({"patience": 2}, "patience needs validate"),
        ({"batches": lambda epoch: []}, r"batches\(0\) gave no batch"),
        ({"loss": lambda model, batch: (model.head.weight, 1)}, r"shape \(11, 8\); it must give the sum"),
        ({"loss": lambda model, batch: (model.head.weight.sum(), 0)}, "holds no token"),
    ],
)
def test_bad_input_names_the_input_and_the_remedy(options, says):
    with pytest.raises(ValueError, match=says):
        train(**options)


def test_evaluation_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no token to evaluate"):
        evaluate(build()[0], [], loss)


def test_ctrl_c_ends_the_step_saves_and_says_how_to_resume(tmp_path, capsys):
    def pressed(model, batch):
        calls.append(1)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
        return loss(model, batch)

    calls, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(
        KeyboardInterrupt, match=r"stopped after step 4; saved in .*resume=True \(lmbook train RECIPE --res"
    ):
        train(loss=pressed, folder=tmp_path, dropout=0.3)
    assert "stopped after step 4" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
    model, log = train(folder=tmp_path, dropout=0.3, resume=True)
    whole, whole_log = train(dropout=0.3)
    assert same(model, whole)
    assert values(log) == values(whole_log)


def test_modes_are_restored_and_the_bar_is_plain_and_asked_for(capsys, monkeypatch):
    model, optimizer = build()
    model.eval()
    assert len(fit(model, batches, loss, optimizer, epochs=1)) == 5
    assert not model.training
    assert capsys.readouterr().err == ""  # no terminal, no bar
    fit(model, batches, loss, optimizer, steps=3, progress=True)
    assert "3/3" in (shown := capsys.readouterr().err)
    assert "tokens/s" in shown
    speeds = []
    monkeypatch.setattr("lmbook.lab.loop.tqdm.set_postfix_str", lambda bar, text, **_: speeds.append(text))
    log = fit(model, batches, loss, optimizer, steps=3, progress=True)
    told = float(speeds[-1].split(", ")[1].removesuffix(" tokens/s").replace(",", ""))
    assert told == pytest.approx(sum(step["tokens"] for step in log) / log[-1]["seconds"], rel=0.5)
    assert log[-1]["seconds"] >= log[0]["seconds"] > 0
