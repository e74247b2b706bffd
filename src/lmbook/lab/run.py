"""A recipe: everything that turns data and a seed into a trained model and its scores, and the record of such a run.

    @recipe("names-bigram", minutes=1, corpora=("names",), about="...")
    def names_bigram(run):
        names = run.corpus("names")
        run.fit(model, batches, loss, optimizer, steps=1000)
        return {"valid": ...}, model

A run writes into one folder: the training's checkpoint and log, record.json with the scores, and the weights if the
recipe ships them. The records of the runs behind the book's tables are in `recorded` beside this file, the weights that
the book shows in `trained`.

`record` says what a record holds. A training's `settings` (model, optimizer, rates, FLOPs) are collected by run.fit.
run.fit_cosine is run.fit with the schedule and the clipping that most recipes have; `tasks` has their losses. Where
models are compared, run.tune picks each one's rate from the same grid, RATES, by validation, and run.to_plateau trains
each one by the same rule, PLATEAU.

rescore(name) runs a recipe on the weights it ships: run.fit then puts them into the model and trains nothing. So what a
recipe does between fit and its scores must not need what only a training leaves behind (the log, checkpoints to
average): `if not run.rescoring:` in front of it.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import torch
from torch import Tensor, nn

import lmbook
from lmbook import __version__, data, say, write
from lmbook.lab import checkpoints, distributed, settings
from lmbook.lab import record as keeping
from lmbook.lab.checkpoints import TRAINED
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import TrainingError, evaluate, fit

RECORDED = resources.files("lmbook.lab").joinpath("recorded")
RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)  # the grid from which each model of a comparison takes its rate
PATIENCE = 10
PLATEAU = f"""A training is at its plateau when {PATIENCE} validations in a row have brought no new lowest loss.

The models of one comparison are validated equally often, on the same data, and the weights with the lowest loss are
kept. A training that its budget ends before is not at its plateau: it is reported as "after N steps"."""


class RecipeError(RuntimeError):
    """A recipe cannot be run; the message says why and what to do."""


@dataclass(frozen=True)
class Recipe:
    """make(run) trains and returns (scores, model); scores are numbers, or lists and dicts of them.

    minutes: on two CPU cores, one seed.  corpora: what it needs of `data.load`.  ships: whether the weights of seed 0
    go with the package.  seeds: those behind the book's tables.  score: which of the scores `lmbook recipes` shows.
    rescored: the scores that the shipped weights must give again, by default the one that is shown. Each must come from
    the shipped model alone and be a number; a rescoring may leave out all others, so name quick ones.
    """

    name: str
    about: str
    make: Callable
    minutes: float
    corpora: tuple[str, ...] = ()
    ships: bool = False
    seeds: tuple[int, ...] = (0, 1, 2)
    score: str = ""
    rescored: tuple[str, ...] = ()


RECIPES: dict[str, Recipe] = {}


def recipe(name: str, **about) -> Callable:
    """Enters a function into RECIPES under this name; keywords as the fields of Recipe."""

    def enter(make: Callable) -> Callable:
        if name in RECIPES:
            raise ValueError(f"two recipes are called {name}; rename one.")
        RECIPES[name] = Recipe(name, make=make, **about)
        return make

    return enter


@dataclass
class Run:
    """One run of a recipe.  quick: three steps and stand-ins for missing corpora, only to see that it runs.

    weights: those of a finished run, to be scored again; then `fit` puts them into each model that they fit, leaves
    others as they are, trains none, and returns an empty log.
    """

    recipe: Recipe
    seed: int
    folder: Path
    device: str = "cpu"
    resume: bool = False
    progress: bool | None = None
    quick: bool = False
    weights: dict[str, Tensor] | None = None
    parts: dict[str, dict] = field(default_factory=dict, init=False)
    tried: dict[str, list[dict]] = field(default_factory=dict, init=False)  # by part: what `tune` found
    text: object = field(default=None, init=False)  # set by a recipe that ships: what encodes its text, for the card

    @property
    def rescoring(self) -> bool:
        """Whether weights are scored again instead of being trained."""
        return self.weights is not None

    def corpus(self, name: str, **options) -> data.Corpus:
        """A corpus that the recipe declares. Raises RecipeError where only a stand-in is to be had."""
        if name not in self.recipe.corpora:
            raise RecipeError(f"{self.recipe.name} uses {name} but does not declare it; add it to its corpora.")
        corpus = data.load(name, **options)
        if not (corpus.real or self.quick):
            raise RecipeError(
                f"{self.recipe.name} needs the corpus {name} itself: connect to the network, or set LMBOOK_DATA to a "
                "folder that holds it (--quick runs three steps on the stand-in)."
            )
        return corpus

    def split(self, name: str, few: int = 40) -> dict[str, list]:
        """The parts "train", "valid" and "test" of a corpus, `cut`."""
        corpus = self.corpus(name)
        return {part: self.cut(corpus[part], few) for part in ("train", "valid", "test")}

    def cut(self, rows: list, few: int = 40) -> list:
        """All rows; in a quick run the first few."""
        return rows[:few] if self.quick else rows

    def fit(
        self, model: nn.Module, batches, loss, optimizer, part: str = "model", note: str = "", **options
    ) -> list[dict]:
        """`train.fit` in this run's folder, on its device, entered into the record with all its settings.

        part: names one of several trainings of a recipe.  note: how the weights began, where it was not at random.
        """
        if self.rescoring:
            if not checkpoints.differences(self.weights, model.state_dict()):
                model.load_state_dict(self.weights)
                self.parts[part] = {}
            return []
        if self.quick:
            options |= {"steps": 3, "evaluate_every": None, "patience": None}
        told = settings.begun(model, batches, loss, optimizer, options, note)
        log = self._fit(model, batches, loss, optimizer, part, options)
        self.parts[part] = settings.part(model, log, told, self.tried.get(part, ()))
        return log

    def _fit(self, model, batches, loss, optimizer, part: str, options: dict) -> list[dict]:
        folder = None if self.quick else self.folder / part
        return fit(
            model, batches, loss, optimizer, folder=folder, resume=self.resume, progress=self.progress, **options
        )

    def fit_cosine(
        self, model: nn.Module, batches, loss, optimizer, warmup: int, total: int, valid: Callable | None = None,
        valid_loss: Callable | None = None, part: str = "model", note: str = "", **options,
    ) -> list[dict]:  # fmt: skip
        """`fit` for `total` steps: a linear warm-up, half a cosine down to 0, gradients clipped at norm 1.

        valid(): the batches of the validation set.  valid_loss: their loss, by default that of the training.
        """
        options = {"clip": 1.0} | ({} if "epochs" in options else {"steps": total}) | options
        options["schedule"] = lambda step: warmup_cosine(step, warmup=warmup, total=total)
        if valid:
            stateful = options.get("stateful", False)
            options["validate"] = lambda model: evaluate(model, valid(), valid_loss or loss, stateful)
        return self.fit(model, batches, loss, optimizer, part, note, **options)

    def to_plateau(
        self, model: nn.Module, batches, loss, optimizer, every: int, most: int, part: str = "model", **options
    ) -> list[dict]:
        """`fit` until the curve is flat, by the rule PLATEAU: a validation every `every` steps, at most `most` steps.

        Needs validate among the options. The schedule must not depend on the number of steps: a rate that falls to 0
        makes any curve flat.
        """
        options |= {"steps": most, "evaluate_every": every, "patience": PATIENCE}
        log = self.fit(model, batches, loss, optimizer, part, **options)
        if not (self.rescoring or self.quick) and self.parts[part]["settings"]["ended"] != "plateau":
            say(f"{self.recipe.name}, {part}: not at its plateau after {most} steps; say so beside its score.")
        return log

    def tune(
        self, build: Callable, batches, loss, optimizer: Callable, part: str = "model", rates=RATES, **options
    ) -> float:
        """The rate of `rates` whose short training validates best; the record of `part` keeps all of them.

        build(): the model, untrained; every rate begins with the same weights.  optimizer(model, rate): its optimizer.
        options: as for `fit`, validate among them; steps is the budget of each rate.
        Raises RecipeError where every rate diverges.
        """
        if self.rescoring:
            return rates[0]
        if self.quick:
            rates, options = rates[:2], options | {"steps": 3, "evaluate_every": None, "patience": None}
        found = self.tried[part] = []
        for rate in rates:
            lmbook.seed(self.seed)
            model = build()
            try:
                log = self._fit(model, batches, loss, optimizer(model, rate), f"{part}, rate {rate:g}", options)
                lowest = min(entry["validation"] for entry in log if "validation" in entry)
                spent = {"steps": sum("loss" in entry for entry in log), "seconds": round(log[-1]["seconds"], 1)}
            except TrainingError as error:
                if error.__cause__ is not None:  # memory ran out; a loss that is NaN has no other cause
                    raise
                lowest, spent = None, {"steps": 0, "seconds": 0.0}
            found.append({"rate": rate, "validation": lowest, **spent})
        lmbook.seed(self.seed)
        held = [trial for trial in found if trial["validation"] is not None]
        if not held:
            raise RecipeError(f"{self.recipe.name}, {part}: no rate of {', '.join(map(str, rates))} can be trained.")
        best = min(held, key=lambda trial: trial["validation"])["rate"]
        if best in (min(rates), max(rates)) and len(rates) > 1 and not self.quick:
            say(f"{self.recipe.name}, {part}: the best rate, {best:g}, is at the edge of the grid; widen it for all.")
        return best

    def picked(self, part: str) -> dict | None:
        """The settings of this part in the run with seed 0, which picked the rate; None in that run itself.

        Raises RecipeError where there is no such run.
        """
        if self.seed == 0:
            return None
        beside = self.folder.parent / f"{self.recipe.name}-0" / "record.json"
        found = [keeping.read(beside)] if beside.is_file() else records(self.recipe.name)
        found = [record["parts"][part]["settings"] for record in found if part in record["parts"]]
        if not found and not self.quick:
            raise RecipeError(f"{self.recipe.name} picks its rates with seed 0: lmbook train {self.recipe.name} first.")
        return found[0] if found else None


def hashes(corpora: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The sha256 of every file of these corpora, as registered."""
    return {name: {file["name"]: file["sha256"] for file in data.card(name)["files"]} for name in corpora}


def train(
    name: str,
    seed: int = 0,
    folder: str | Path = "runs",
    device: str | None = None,
    resume: bool = False,
    progress: bool | None = None,
    quick: bool = False,
) -> dict:
    """Runs a recipe in folder/NAME-SEED and returns its record, which is also written there as record.json.

    A quick run writes nothing there. Raises RecipeError for a name that does not exist, and where the run is finished.
    """
    if name not in RECIPES:
        raise RecipeError(f"there is no recipe {name!r}; lmbook recipes lists them.")
    chosen, device = RECIPES[name], device or lmbook.device()
    if quick:
        with tempfile.TemporaryDirectory() as place:
            return made(Run(chosen, seed, Path(place), device, progress=progress, quick=True))[0]
    folder = Path(folder) / f"{name}-{seed}"
    place = folder / "record.json"
    if place.exists():
        raise RecipeError(f"{place} exists: this run is finished. Delete {folder} to run it again.")
    run = Run(chosen, seed, folder, device, resume, progress)
    record, model = made(run)
    first = distributed.rank_and_world_size()[0] == 0  # of several processes one writes
    if chosen.ships and model is not None:
        path = folder / f"{name}.safetensors"
        if first:
            checkpoints.save(path, model, card(record), text=run.text)
        distributed.gather(None)  # the others wait for the file
        record["int8"] = rescore(name, folder)
        if first:
            checkpoints.save(path, model, card(record), text=run.text)
    if not first:
        return record
    write(place, keeping.dumps(record))
    say(f"{place}: {headline(record)}")
    return record


def made(run: Run) -> tuple[dict, nn.Module | None]:
    """The record of a run, which happens here, and the model."""
    lmbook.seed(run.seed)
    scores, model = run.recipe.make(run)
    record = {
        "recipe": run.recipe.name,
        "seed": run.seed,
        "scores": scores,
        "parts": run.parts,
        "seconds": round(sum(part["seconds"] for part in run.parts.values()), 1),
        "hardware": machine(run.device),
        "data": hashes(run.recipe.corpora),
        "torch": str(torch.__version__),
        "lmbook": __version__,
    }
    return keeping.check(record), model


def machine(device: str) -> str:
    """What a run is computed on, and by how many processes, where there are several."""
    processes = distributed.rank_and_world_size()[1]
    return ("" if processes == 1 else f"{processes} processes, each: ") + checkpoints.hardware(device)


def card(record: dict) -> dict:
    """What a checkpoint's card takes from the record of its run; of the scores those that are one number or one text.

    "int8" are scores of the weights as the file has them, "scores" those of the float32 weights before.
    """
    told = {key: record[key] for key in ("recipe", "seed", "data", "seconds", "hardware", "int8") if key in record}
    return told | {
        "scores": {key: value for key, value in record["scores"].items() if isinstance(value, str | int | float)}
    }


def rescore(name: str, folder: str | Path | None = None) -> dict[str, float]:
    """The scores Recipe.rescored of the weights in folder/NAME.safetensors (by default those shipped), computed anew.

    Raises CheckpointError where there are none, RecipeError where they fit no model of the recipe.
    """
    chosen = RECIPES[name]
    path = Path(folder or TRAINED) / f"{name}.safetensors"
    weights, made = checkpoints.read(path)
    lmbook.seed(made["seed"])
    with tempfile.TemporaryDirectory() as place:
        run = Run(chosen, made["seed"], Path(place), progress=False, weights=weights)
        scores, _ = chosen.make(run)
    if not run.parts:
        raise RecipeError(f"{path} fits no model of the recipe {name}; train it again.")
    return {score: scores[score] for score in chosen.rescored or (chosen.score,)}


def headline(record: dict) -> str:
    """The score of a record that the recipe names first."""
    name = RECIPES[record["recipe"]].score
    value = leading(record)
    return f"{name} {value}" if value is None else f"{name} {value:.3f}"


def leading(record: dict) -> float | None:
    """The score by which the recipe goes; where a part of it is named, the test perplexity of that part."""
    value = record["scores"].get(RECIPES[record["recipe"]].score)
    return value["test perplexity"] if isinstance(value, dict) else value


def records(name: str | None = None) -> list[dict]:
    """The recorded runs, those of one recipe or all, by name and seed."""
    if not RECORDED.is_dir():
        return []
    files = [file for file in RECORDED.iterdir() if file.name.endswith(".json")]
    of_name = [file for file in files if name in (None, file.name.rpartition("-")[0])]  # RECIPE-SEED.json
    return sorted((keeping.read(file) for file in of_name), key=lambda r: (r["recipe"], r["seed"]))
