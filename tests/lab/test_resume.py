"""A training that goes on after a kill as if nothing had happened, and checkpoints that do not fit."""

import json
import multiprocessing
import os
import random
import signal
import time
from functools import partial

import numpy as np
import pytest
import torch
from test_train import batches, build, loss, loss_with_state, same, train, values
from torch import nn

import lmbook
from lmbook.lab import resume, schedules
from lmbook.lab.checkpoints import CheckpointError
from lmbook.lab.train import evaluate, fit


def options_of_the_long_run(folder, tick=lambda: None):
    own = np.random.default_rng(5)

    def noisy(model, batch, state):
        tick()
        nll, n, state = loss_with_state(model, batch, state)
        noise = random.random() + np.random.rand() + own.random()  # noqa: NPY002
        return nll * (1 + noise / 10), n, state

    return {
        "loss": noisy, "stateful": True, "generators": [own], "dropout": 0.3, "steps": 45, "clip": 1.0,
        "validate": lambda m: evaluate(m, batches(99), loss), "evaluate_every": 7, "patience": 50, "save_every": 3,
        "schedule": partial(schedules.warmup_cosine, warmup=10, total=60), "folder": folder,
    }  # fmt: skip


def long_run(folder, done, seed=None):
    """Resumes the run to the end, counting losses in `done`. With a seed, a SIGKILL cuts some write of a file."""

    def tick():
        done.value += 1

    torch.set_num_threads(1)
    if seed is not None:
        rng, fsync = random.Random(seed), os.fsync

        def cut(descriptor):
            if rng.random() < 0.2:
                os.ftruncate(descriptor, int(os.fstat(descriptor).st_size * rng.random()))
                os.kill(os.getpid(), signal.SIGKILL)
            fsync(descriptor)

        os.fsync = cut
    model, _ = train(**options_of_the_long_run(folder, tick), resume=True)
    torch.save(model.state_dict(), folder / "part")
    os.replace(folder / "part", folder / "final.pt")


@pytest.fixture(scope="module")
def processes():
    """Starts processes that have torch already, so that a kill costs no three seconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["test_resume", "torch._dynamo"])  # an optimizer's first step imports the latter
    return context


@pytest.mark.slow
def test_a_run_killed_again_and_again_ends_as_one_that_was_not(tmp_path, processes):
    rng, kills, writes, attempt, steps = random.Random(1), 0, 0, 0, set()
    model, log = train(**options_of_the_long_run(tmp_path / "whole"))
    folder = tmp_path / "killed"
    folder.mkdir()
    while not (folder / "final.pt").exists():
        attempt += 1
        assert attempt < 40
        done, cut = processes.Value("i", 0), attempt % 2 == 0 and writes < 3
        process = processes.Process(target=long_run, args=(folder, done, attempt if cut else None))
        process.start()
        if not cut and kills < 5:  # after a few of the 45 losses, at any moment of a step
            losses, moment = rng.randint(2, 7), rng.uniform(0, 0.02)
            while done.value < losses and process.is_alive():
                time.sleep(0.001)
            time.sleep(moment)
        else:
            process.join()
        kills += not cut and process.is_alive()
        process.kill()
        process.join()
        writes += bool(cut and process.exitcode == -signal.SIGKILL)
        assert process.exitcode in (0, -signal.SIGKILL)
        if (folder / "checkpoint.pt").exists():
            steps.add(resume.read_state(folder / "checkpoint.pt")["progress"]["step"])
    assert len(steps) >= 3  # not always from the start
    assert kills >= 3
    assert writes >= 2
    final = torch.load(folder / "final.pt")
    assert all(torch.equal(w, final[name]) for name, w in model.state_dict().items())
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert values(lines) == values(log)
    assert sorted(p.name for p in folder.iterdir() if p.name != "part") == ["checkpoint.pt", "final.pt", "log.jsonl"]


@pytest.fixture
def half(tmp_path):
    """A folder with the checkpoint of a training after 4 of 8 steps."""
    train(steps=4, folder=tmp_path)
    return tmp_path


def test_a_longer_run_goes_on_from_a_shorter_one(half):
    model, log = train(steps=8, folder=half, resume=True)
    whole, whole_log = train(steps=8)
    assert same(model, whole)
    assert values(log) == values(whole_log)
    again, log = train(steps=8, folder=half, resume=True)
    assert same(again, whole)
    assert values(log) == values(whole_log)


@pytest.mark.parametrize("steps", [5, 10])
@pytest.mark.parametrize("every", [None, 5, 2])
def test_a_run_in_two_pieces_at_the_end_of_an_epoch(tmp_path, steps, every):
    options = {"validate": lambda m: evaluate(m, batches(99), loss), "evaluate_every": every, "dropout": 0.3}
    options |= {"loss": loss_with_state, "stateful": True}
    train(steps=steps, folder=tmp_path, **options)
    model, log = train(steps=17, folder=tmp_path, resume=True, **options)
    whole, whole_log = train(steps=17, **options)
    assert same(model, whole)
    at_the_end = steps if every and steps % every else None  # the first piece validates where it ends
    assert [record for record in values(log) if "loss" in record or record["step"] != at_the_end] == values(whole_log)


def test_the_best_weights_and_the_waiting_outlive_a_stop(tmp_path):
    """Validations 5 3 4 4: with a stop behind the third, patience 2 still ends the run at the fourth."""
    heard, seen = iter([5.0, 3.0, 4.0, 4.0, 1.0]), []

    def validate(model):
        seen.append({name: w.clone() for name, w in model.state_dict().items()})
        return next(heard)

    options = {"validate": validate, "evaluate_every": 2, "patience": 2, "folder": tmp_path}
    train(steps=6, **options)
    model, log = train(steps=99, resume=True, **options)
    assert log[-1]["step"] == 8
    assert all(torch.equal(w, seen[1][name]) for name, w in model.state_dict().items())


def test_resume_without_a_checkpoint_begins(tmp_path):
    assert values(train(folder=tmp_path / "new", resume=True)[1]) == values(train()[1])


def test_a_checkpoint_is_not_overwritten_by_a_new_training(half):
    with pytest.raises(CheckpointError, match=r"checkpoint\.pt exists; resume the training"):
        train(folder=half)


def test_a_checkpoint_of_another_model_names_the_weights(half):
    model, optimizer = build(hidden=9)
    with pytest.raises(CheckpointError, match=r"another model: cell.* and 1 more"):
        fit(model, batches, loss, optimizer, steps=8, folder=half, resume=True)
    layer = nn.Linear(2, 2)
    with pytest.raises(CheckpointError, match=r"which the model lacks; it lacks bias, weight"):
        fit(layer, batches, loss, torch.optim.SGD(layer.parameters()), steps=8, folder=half, resume=True)


def test_other_settings_are_named(half):
    with pytest.raises(CheckpointError, match=r"clip was None, now 0\.5; bf16 was False, now True"):
        train(folder=half, resume=True, bf16=True, clip=0.5)
    model, _ = build()
    with pytest.raises(CheckpointError, match="optimizer was 'AdamW', now 'SGD'"):
        fit(model, batches, loss, torch.optim.SGD(model.parameters()), steps=8, folder=half, resume=True)
    model, _ = build()
    with pytest.raises(CheckpointError, match=r"initial_lr of group 0 was 0\.01, now 0\.5"):
        fit(model, batches, loss, torch.optim.AdamW(model.parameters(), lr=0.5), steps=8, folder=half, resume=True)


def test_other_data_are_noticed(half):
    with pytest.raises(CheckpointError, match=r"other batches: number 3 of the epoch differs"):
        train(folder=half, resume=True, batches=lambda epoch: batches(epoch + 1))
    with pytest.raises(CheckpointError, match="other batches"):
        train(folder=half, resume=True, batches=lambda epoch: batches(epoch, count=2))


def test_a_checkpoint_of_another_version_is_named(half, monkeypatch):
    monkeypatch.setattr("lmbook.lab.resume.__version__", "9.9")
    with pytest.raises(CheckpointError, match=rf"of lmbook {lmbook.__version__}, and this is 9\.9"):
        train(folder=half, resume=True)
    path = half / "checkpoint.pt"
    path.write_bytes(path.read_bytes().replace(b"training 3", b"training 2", 1))
    with pytest.raises(CheckpointError, match="its format is 'lmbook training 2'"):
        train(folder=half, resume=True)


def test_a_damaged_checkpoint_is_named(half):
    path = half / "checkpoint.pt"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    for damaged in (data, data[: len(data) // 2], b"", b"something else"):
        path.write_bytes(damaged)
        log = (half / "log.jsonl").read_bytes()
        with pytest.raises(CheckpointError, match="damaged"):
            train(folder=half, resume=True)
        assert (half / "log.jsonl").read_bytes() == log


def test_a_checkpoint_runs_no_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "evil"),)

    resume.write_state(tmp_path / "checkpoint.pt", {"weights": Evil()})
    with pytest.raises(CheckpointError, match="more than tensors"):
        train(folder=tmp_path, resume=True)
    assert not (tmp_path / "evil").exists()


@pytest.fixture(scope="module")
def whole() -> tuple:
    """Twenty noisy steps without an interruption."""
    return train(**{**options_of_the_long_run(None), "steps": 20})


def differs(folder, whole) -> bool:
    """Is the same run in two pieces, cut inside an epoch, another one?"""
    options = {"save_every": 99, "validate": None, "patience": None}
    train(**{**options_of_the_long_run(folder), **options, "steps": 13})
    model, log = train(**{**options_of_the_long_run(folder), **options, "steps": 20}, resume=True)
    return not same(model, whole[0]) or values(log) != [record for record in values(whole[1]) if "loss" in record]


def test_a_run_in_two_pieces_is_the_run_in_one(tmp_path, whole):
    assert not differs(tmp_path, whole)


@pytest.mark.parametrize("forgotten", ["random", "own", "state", "optimizer", "position"])
def test_whatever_a_checkpoint_forgets_is_noticed(tmp_path, whole, monkeypatch, forgotten):
    read = resume.read_state

    def forgetful(path):
        found = read(path)
        (process,) = found["processes"]
        if forgotten == "random":
            process["random"]["torch"] = torch.Generator().manual_seed(1).get_state()
        elif forgotten == "own":
            process["random"]["own"] = resume.random_state([np.random.default_rng(6)])["own"]
        elif forgotten == "state":
            process["state"] = None
        elif forgotten == "optimizer":
            found["optimizer"]["state"] = {}
        else:
            found["progress"]["taken"] = 0
        return found

    monkeypatch.setattr(resume, "read_state", forgetful)
    assert differs(tmp_path, whole)


def test_a_file_written_in_place_would_be_lost(half, monkeypatch):
    """What the killed run shows, turned round: without the move at the end a cut write leaves no checkpoint."""
    path = half / "checkpoint.pt"
    data = path.read_bytes()

    def in_place(place, data):
        place.write_bytes(data[: len(data) // 2])

    monkeypatch.setattr(resume, "write", in_place)
    resume.write_state(path, {})
    with pytest.raises(CheckpointError, match="damaged"):
        resume.read_state(path)
    assert path.read_bytes() != data


def test_what_cannot_be_read_back_is_refused_at_the_first_save(tmp_path):
    model, optimizer = build()
    optimizer.param_groups[0]["note"] = random.Random(1)
    with pytest.raises(CheckpointError, match="more than tensors"):
        fit(model, batches, loss, optimizer, steps=4, folder=tmp_path, save_every=1)


def test_a_state_of_anything_but_tensors_is_refused_at_the_first_step():
    def with_object(model, batch, state):
        return *loss(model, batch), {"rng": random.Random(1)}

    with pytest.raises(TypeError, match="holds a Random"):
        train(loss=with_object, stateful=True)
