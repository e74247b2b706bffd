"""Recipes: what a run writes, what it refuses, how its record comes back; with a recipe of one second."""

import json
import pkgutil
import re
from collections import defaultdict
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from lmbook import metrics
from lmbook.gpt import GPT
from lmbook.lab import checkpoints, flops, run
from lmbook.lab import recipes as experiments
from lmbook.lab import record as record_
from lmbook.lab import settings as settings_
from lmbook.lab.schedules import warmup_cosine
from lmbook.moe import MixtureOfExperts
from lmbook.rnn_models import Tagger
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder
from lmbook.text import PAD_ID
from lmbook.transformer import Transformer


def line(run):
    """y = 2 x + 1, learned: the score is known."""
    torch.manual_seed(run.seed)
    x = torch.linspace(-1, 1, 32)[:, None]
    model = nn.Linear(1, 1)

    def loss(model, batch):
        return (model(batch[0]) - batch[1]).square().sum(), len(batch[0])

    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    run.fit(model, lambda epoch: [(x, 2 * x + 1)], loss, optimizer, steps=200)
    return {"slope": model.weight.item()}, model


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(run, "RECIPES", dict(run.RECIPES))
    return run.recipe("toy", about="a line", minutes=0.1, ships=True, score="slope")(line)


def test_a_run_learns_and_writes_record_and_weights(toy, tmp_path):
    record = experiments.train("toy", 1, tmp_path, "cpu", progress=False)
    assert record["scores"]["slope"] == pytest.approx(2, abs=1e-3)
    assert record["parts"]["model"]["parameters"] == 2
    assert record["parts"]["model"]["steps"] == 200
    assert record["parts"]["model"]["tokens"] == 200 * 32
    assert len(record["parts"]["model"]["train"]) <= settings_.POINTS
    folder = tmp_path / "toy-1"
    assert json.loads((folder / "record.json").read_text()) == record
    weights, card = checkpoints.read(folder / "toy.safetensors")
    assert weights["weight"].item() == pytest.approx(2, abs=0.02)  # int8
    assert card["recipe"] == "toy"
    assert card["seed"] == 1
    assert card["int8"] == {"slope": weights["weight"].item()}, "the score of the weights in the file"
    assert record["int8"] == card["int8"] != card["scores"]


def test_the_same_seed_gives_the_same_scores(toy, tmp_path):
    first, second = (experiments.train("toy", 3, tmp_path / part, "cpu", progress=False) for part in "ab")
    assert first["scores"] == second["scores"]
    assert experiments.train("toy", 4, tmp_path, "cpu", progress=False)["parts"] != first["parts"]


def test_a_finished_run_is_not_overwritten(toy, tmp_path):
    experiments.train("toy", 0, tmp_path, "cpu", progress=False)
    before = (tmp_path / "toy-0" / "record.json").read_bytes()
    for resume in (False, True):
        with pytest.raises(experiments.RecipeError, match=r"finished.*Delete"):
            experiments.train("toy", 0, tmp_path, "cpu", resume, progress=False)
    assert (tmp_path / "toy-0" / "record.json").read_bytes() == before


def test_an_interrupted_run_goes_on_and_ends_as_one_that_was_not(toy, tmp_path, monkeypatch):
    whole = experiments.train("toy", 0, tmp_path / "whole", "cpu", progress=False)
    step = torch.optim.SGD.step
    calls = []

    def interrupted(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 120:
            raise RuntimeError("power cut")
        return step(self, *args, **kwargs)

    fit = run.fit
    monkeypatch.setattr(run, "fit", lambda *args, **options: fit(*args, **options, save_every=50))
    monkeypatch.setattr(torch.optim.SGD, "step", interrupted)
    with pytest.raises(RuntimeError, match="power cut"):
        experiments.train("toy", 0, tmp_path, "cpu", progress=False)
    assert not (tmp_path / "toy-0" / "record.json").exists()
    with pytest.raises(checkpoints.CheckpointError, match="resume"):
        experiments.train("toy", 0, tmp_path, "cpu", progress=False)
    resumed = experiments.train("toy", 0, tmp_path, "cpu", True, progress=False)
    assert resumed["scores"] == whole["scores"]
    assert resumed["parts"]["model"]["train"] == whole["parts"]["model"]["train"]


def test_a_quick_run_leaves_nothing_that_looks_finished(toy, tmp_path):
    record = experiments.train("toy", 0, tmp_path, "cpu", progress=False, quick=True)
    assert record["parts"]["model"]["steps"] == 3
    assert not list(tmp_path.iterdir())
    whole = experiments.train("toy", 0, tmp_path, "cpu", progress=False)  # nothing of the quick run is in its way
    assert whole["parts"]["model"]["steps"] > 3


def test_a_run_on_a_named_processor_is_recorded(toy, tmp_path):
    record = experiments.train("toy", 0, tmp_path, "cpu:0", progress=False)
    threads = torch.get_num_threads()
    assert record["hardware"].endswith(f"CPU, {threads} thread{'s' * (threads > 1)}")


def test_an_unknown_recipe_is_named(tmp_path):
    with pytest.raises(experiments.RecipeError, match=r"'nothing'.*lmbook recipes"):
        experiments.train("nothing", folder=tmp_path)


def test_two_recipes_of_one_name_are_refused(toy):
    with pytest.raises(ValueError, match="two recipes are called toy"):
        run.recipe("toy", about="another", minutes=1)(line)


def test_a_stand_in_makes_no_result(no_corpora, monkeypatch, tmp_path):
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    with pytest.raises(experiments.RecipeError, match=r"needs the corpus names itself.*LMBOOK_DATA"):
        experiments.Run(run.Recipe("x", "", line, 1, ("names",)), 0, tmp_path).corpus("names")
    quick = experiments.Run(run.Recipe("x", "", line, 1, ("names",)), 0, tmp_path, quick=True)
    assert not quick.corpus("names").real


def test_a_corpus_must_be_declared(tmp_path):
    with pytest.raises(experiments.RecipeError, match="does not declare"):
        experiments.Run(run.Recipe("x", "", line, 1), 0, tmp_path).corpus("names")


def test_the_settings_of_a_run_are_in_its_record(toy, tmp_path):
    """None of them is typed by the recipe `line`; the products of y = w x + b are 2 a row, three times."""
    settings = experiments.train("toy", 0, tmp_path, "cpu", progress=False)["parts"]["model"]["settings"]
    assert settings.pop("start")["matrices"][0] >= 0
    assert settings == {
        "model": {"class": "torch.nn.modules.linear.Linear"},
        "optimizer": "SGD", "rate": 0.3, "optimizer options": {"momentum": 0, "weight decay": 0},
        "schedule": "constant", "warm-up": 1, "last rate": 0.3, "dropout": 0.0, "vocabulary": [], "rows": 32,
        "clip": None, "budget": 200, "patience": None, "evaluate every": None, "ended": "budget",
        "flops": 3 * 2 * 32 * 200, "rates tried": [],
    }  # fmt: skip


def piece(run, **options):
    """What the recipes below share: a line, 32 points, squared error as validation."""
    x = torch.linspace(-1, 1, 32)[:, None]
    loss = lambda model, batch: ((model(batch[0]) - batch[1]).square().sum(), len(batch[0]))  # noqa: E731
    validate = lambda model: (model(x) - 2 * x - 1).square().mean().item()  # noqa: E731
    return lambda epoch: [(x, 2 * x + 1)], loss, {"validate": validate, **options}


@pytest.fixture
def a_run(tmp_path):
    return experiments.Run(run.Recipe("toy", "", line, 1), 0, tmp_path, progress=False)


def test_a_rate_is_picked_by_validation_and_the_grid_is_recorded(a_run):
    batches, loss, options = piece(a_run, steps=20)
    sgd = lambda model, rate: torch.optim.SGD(model.parameters(), lr=rate)  # noqa: E731
    seen = []

    def build():
        seen.append(nn.Linear(1, 1))
        return seen[-1]

    rate = a_run.tune(build, batches, loss, sgd, rates=(1e-3, 0.3, 0.03, 1e6), clip=None, **options)
    assert rate == 0.3
    model = nn.Linear(1, 1)
    a_run.fit(model, batches, loss, sgd(model, rate), **options)
    tried = a_run.parts["model"]["settings"]["rates tried"]
    assert [trial["rate"] for trial in tried] == [1e-3, 0.3, 0.03, 1e6]
    assert min(t["validation"] for t in tried if t["validation"] is not None) == tried[1]["validation"]
    assert tried[1]["steps"] == 20
    assert a_run.parts.keys() == {"model"}, "trials are no trainings of the record"
    assert len(seen) == 4


def test_every_rate_starts_alike(a_run, monkeypatch):
    batches, loss, options = piece(a_run, steps=1)
    starts = []

    def build():
        model = nn.Linear(1, 1)
        starts.append(model.weight.item())
        return model

    a_run.tune(build, batches, loss, lambda m, rate: torch.optim.SGD(m.parameters(), lr=rate), **options)
    assert len(starts) == len(run.RATES)
    assert len(set(starts)) == 1
    assert build().weight.item() == starts[0], "and so does the training that follows"


def test_a_grid_that_only_diverges_is_refused(a_run):
    batches, loss, options = piece(a_run, steps=60)
    with pytest.raises(experiments.RecipeError, match="no rate of 100000"):
        a_run.tune(
            lambda: nn.Linear(1, 1), batches, loss, lambda m, r: torch.optim.SGD(m.parameters(), lr=r),
            rates=(1e5, 1e6), **options,
        )  # fmt: skip


def test_a_training_goes_on_to_its_plateau_and_says_where_it_did_not(a_run, capsys):
    batches, loss, options = piece(a_run)
    for part, most, ended in (("long", 5000, "plateau"), ("short", 5, "budget")):
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
        a_run.to_plateau(model, batches, loss, optimizer, every=1, most=most, part=part, **options)
        settings = a_run.parts[part]["settings"]
        assert (settings["ended"], settings["patience"]) == (ended, run.PATIENCE)
    valid = [loss for _, loss in a_run.parts["long"]["valid"]]
    assert a_run.parts["long"]["steps"] < 5000
    assert min(valid) == pytest.approx(0, abs=1e-4)
    assert "short: not at its plateau after 5 steps" in capsys.readouterr().err


def test_a_cosine_has_its_schedule_its_clipping_and_its_validation_in_the_record(a_run):
    x, model = torch.linspace(-1, 1, 32)[:, None], nn.Linear(1, 1)

    def loss(model, batch):
        return (model(batch[0]) - batch[1]).square().sum(), len(batch[0])

    log = a_run.fit_cosine(
        model, lambda epoch: [(x, 2 * x + 1)], loss, torch.optim.SGD(model.parameters(), lr=0.3),
        warmup=5, total=40, valid=lambda: [(x, 2 * x)], evaluate_every=20,
    )  # fmt: skip
    wanted = [0.3 * warmup_cosine(step, 5, 40) for step in range(1, 41)]
    assert [entry["lr"] for entry in log if "lr" in entry] == pytest.approx(wanted)
    settings = a_run.parts["model"]["settings"]
    assert (settings["schedule"], settings["warm-up"], settings["clip"]) == ("warmup_cosine", 5, 1.0)
    held_out = [entry["validation"] for entry in log if "validation" in entry]
    assert len(held_out) == 2
    assert held_out[-1] == pytest.approx((model(x) - 2 * x).square().mean().item())


def test_reading_off_the_settings_changes_no_random_number(a_run):
    """Dropout, batches and a generator of the caller's own draw on as if nobody had looked."""
    generator = torch.Generator().manual_seed(5)
    model = nn.Sequential(nn.Linear(1, 1), nn.Dropout(0.5))

    def loss(model, batch):
        noise = torch.rand(32, 1, generator=generator)
        return (model(batch[0]) - noise).square().sum(), 32

    before = torch.get_rng_state(), generator.get_state()
    settings = settings_.begun(
        model, lambda epoch: [(torch.rand(32, 1),)], loss, torch.optim.Adam(model.parameters()),
        {"generators": [generator], "steps": 3},
    )  # fmt: skip
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.equal(generator.get_state(), before[1])
    assert settings["dropout"] == 0.5
    assert model.training


def test_flops_are_those_of_the_formulae():
    model = Transformer(30, 40, d_model=16, n_heads=2, d_ff=32, n_layers=2)
    B, N, T = 3, 7, 5
    source, inputs = torch.randint(5, 30, (B, N)), torch.randint(5, 40, (B, T))
    loss = lambda model, batch: (model(*batch).sum(), batch[1].numel())  # noqa: E731
    found = settings_.flops_per_token(model, [(source, inputs)], loss, stateful=False)
    assert found == pytest.approx(flops.training(model, B, N, T) / (B * T), rel=0.01)


COUNTED = {
    "GRU, both directions": lambda: Tagger(30, 30, 8, 12, cell="gru", bidirectional=True),
    "GPT": lambda: GPT(30, 16, 16, n_heads=2, n_layers=2, positions="rotary"),
    "Transformer": lambda: Transformer(30, 30, 16, n_heads=2, d_ff=32, n_layers=2),
    "experts": lambda: Transformer(30, 30, 16, 2, 32, 2, ffn=partial(MixtureOfExperts, n_experts=3)),
    "Bahdanau": lambda: AttentionSeq2Seq(RecurrentEncoder(30, 8, 12), 30, 8, 12),
}


@pytest.mark.parametrize("name", COUNTED)
def test_flops_are_those_that_torchs_own_counter_finds(name):
    model, ids = COUNTED[name](), torch.randint(5, 30, (3, 7))
    ids[0, 4:] = 0
    inputs = (ids, ids) if hasattr(model, "encoder") else (ids,)
    loss = lambda model, batch: (model(*batch).sum(), batch[0].numel())  # noqa: E731
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(*inputs)
    found = settings_.flops_per_token(model, [inputs], loss, stateful=False)
    assert found == pytest.approx(3 * counter.get_total_flops() / ids.numel())
    assert found > 0


NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=[pytest.mark.gpu, NO_GPU])])
@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
@pytest.mark.parametrize("lengths", [(7, 7, 7), (7, 4, 1)], ids=["full rows", "padded rows"])
def test_flops_of_recurrent_layers_are_those_of_the_formula_whichever_kernel_runs_them(cell, lengths, device):
    model = Tagger(30, 5, 8, 12, n_layers=2, cell=cell, bidirectional=True).to(device)
    ids = torch.randint(5, 30, (3, 7)).masked_fill(torch.arange(7) >= torch.tensor(lengths)[:, None], PAD_ID)
    loss = lambda model, batch: (model(batch).sum(), 1)  # noqa: E731
    for training in (True, False):
        products = flops.recurrent(sum(lengths), model.recurrent) + flops.linear(ids.numel(), model.output)
        assert settings_.flops_per_token(model.train(training), [ids], loss, stateful=False) == 3 * products


def test_flops_of_a_token_are_alike_in_all_recorded_seeds():
    """A kernel without a count left LSTMs out where the first batch had equal rows.

    Texts of one label each differ most: a text message may be five times as long as another, and few are counted.
    """
    found = defaultdict(list)
    for record in run.records():
        for name, part in record["parts"].items():
            found[record["recipe"], name].append(part["settings"]["flops"] / part["tokens"])
    assert found
    assert [key for key, each in found.items() if max(each) > 1.7 * min(each)] == []


def test_a_schedule_is_named_by_what_it_calls(a_run):
    batches, loss, options = piece(a_run, steps=50, schedule=lambda step: warmup_cosine(step, warmup=20, total=50))
    model = nn.Linear(1, 1)
    a_run.fit(model, batches, loss, torch.optim.SGD(model.parameters(), lr=0.1), **options)
    settings = a_run.parts["model"]["settings"]
    assert (settings["schedule"], settings["warm-up"]) == ("warmup_cosine", 20)
    assert settings["last rate"] < settings["rate"] == 0.1


def test_a_record_is_checked(toy, tmp_path):
    record = experiments.train("toy", 0, tmp_path, "cpu", progress=False)
    part = record["parts"]["model"]
    for wrong, said in (
        ({k: v for k, v in record.items() if k != "torch"}, "the record lacks torch"),
        (record | {"score": 1}, "has score, which record.py does not describe"),
        (record | {"seed": True}, "seed is True"),
        (record | {"parts": {"model": part | {"steps": "200"}}}, r"part 'model': steps is '200'"),
        (record | {"parts": {"model": part | {"train": [1, 2.5, 3]}}}, "pairs"),
        (record | {"parts": {"model": {k: v for k, v in part.items() if k != "settings"}}}, "'model' lacks settings"),
        (record | {"parts": {"model": part | {"settings": {}}}}, "settings of part 'model' lacks .*rate"),
    ):
        with pytest.raises((ValueError, TypeError), match=said):
            record_.check(wrong)


def test_a_thinned_curve_keeps_its_ends_and_the_lowest_validation():
    log = [{"step": i, "validation": abs(i - 777) / 10 + 1} for i in range(1, 2001)]
    valid = settings_.curves(log)["valid"]
    assert len(valid) <= settings_.VALIDATIONS
    assert (valid[0][0], valid[-1][0], min(valid, key=lambda point: point[1])[0]) == (1, 2000, 777)
    assert settings_.thinned([1, 2, 3], 60) == [1, 2, 3]


def test_every_recorded_run_is_of_a_recipe_and_whole():
    """What lies in recorded/ is a record, has the name of its recipe and seed, its data's hashes, a score to show."""
    texts = {file: file.read_text("utf-8") for file in run.RECORDED.iterdir()} if run.RECORDED.is_dir() else {}
    assert sum(text.count("\n") for text in texts.values()) < 100_000
    assert sum(map(len, texts.values())) < 5_000_000
    for file, text in texts.items():
        record = record_.check(record_.read(file))
        assert file.name == f"{record['recipe']}-{record['seed']}.json"
        recipe = run.RECIPES[record["recipe"]]
        assert record["seed"] in recipe.seeds
        assert record["data"] == run.hashes(recipe.corpora)
        assert recipe.score in record["scores"]
        assert record_.dumps(record) == text  # one form, and nothing is lost in it
        for name in re.findall(r'"class": "(lmbook\.[\w.]+)"', text):
            assert isinstance(pkgutil.resolve_name(name), type)


# Whose batches are drawn anew: the curve of the training is one of batches that were not learned from yet. Their
# weights ship (recall-N, sums-scratchpad), or they train for hours.
DRAWN = {"recall", "recall-32", "recall-64", "recall-128", "recall-long", "recall-longer-sources", "sums-scratchpad"}


def test_every_recorded_training_has_its_settings_and_a_validation_curve():
    for found in run.records():
        for part, training in found.get("parts", {}).items():
            assert training["settings"], (found["recipe"], part)
            curve = training["train" if found["recipe"] in DRAWN else "valid"]
            assert curve, (found["recipe"], part)


def test_counts_of_bleu_come_back_from_a_record(tmp_path):
    a, b = ["a", "b", "c", "d"], ["x", "y"]
    counts = np.array([metrics.bleu_counts(*texts) for texts in ((a, a), (b, a), ([], b), (b, b))])
    scores = {
        "counts": counts,
        "beam 5 counts": counts.sum(0, keepdims=True),
        "outputs": ["1 2 3"] * 60,
        "x": {"y": None},
    }
    (tmp_path / "record.json").write_text(record_.dumps({"scores": scores}), "utf-8")
    found = record_.read(tmp_path / "record.json")["scores"]
    for key in "counts", "beam 5 counts":
        assert np.array_equal(found.pop(key), scores.pop(key))
    assert found == scores
    assert max(map(len, (tmp_path / "record.json").read_text("utf-8").split("\n"))) <= record_.WIDTH + 1
