"""Does a recipe still do what its record says?  Its first steps are run again and compared with the recorded losses.

    python benchmarks/first_steps.py shakespeare-rnn-0 dates-1      some records
    python benchmarks/first_steps.py --write RECORD                 notes the settings of a run that agrees and has none

A run of several processes needs as many: torchrun --nproc-per-node 2 benchmarks/first_steps.py RECORD.

Each training of the recipe runs from its seed to the second point of its recorded curve, which costs a fiftieth of it.
Both losses must agree to --like nats per token; other processors add up in another order. What follows on a training
(tests, translations) is left out after the last one.

--stream: the trainings of the recipe share one stream of random numbers, so that only the first can be compared.
"""

import argparse
import contextlib
import dataclasses
import sys
import tempfile
from pathlib import Path

import lmbook
from lmbook.lab import distributed, settings
from lmbook.lab import record as keeping
from lmbook.lab.recipes import RECIPES
from lmbook.lab.run import RECORDED, Run
from lmbook.lab.schedules import constant


class Enough(Exception):
    """The last training of the record was compared."""


@dataclasses.dataclass
class FirstSteps(Run):
    """A run whose trainings end at the second point of the recorded curves; `compared` has the differences."""

    record: dict = dataclasses.field(kw_only=True)
    compared: dict = dataclasses.field(default_factory=dict, init=False)

    def fit(self, model, batches, loss, optimizer, part="model", note="", **options):
        recorded = self.record["parts"][part]
        told = settings.begun(model, batches, loss, optimizer, options, note)
        points = recorded["train"][:2]
        short = options | {"steps": points[-1][0], "evaluate_every": None, "validate": None, "patience": None}
        log = {entry["step"]: entry for entry in self._fit(model, batches, loss, optimizer, part, short)}
        losses = [(step, wanted, log[step]["loss"]) for step, wanted in points]
        self.compared[part] = max(abs(wanted - float(got)) for _, wanted, got in losses)
        print(self.recipe.name, self.seed, part, *(f"{s}: {w:.4f} {g:.4f}" for s, w, g in losses), flush=True)
        self.parts[part] = settings.part(model, whole(recorded, optimizer, options), told)
        if len(self.compared) == len(self.record["parts"]):
            raise Enough
        return list(log.values())

    def _fit(self, *args):
        *before, part, options = args
        return super()._fit(*before, part, options | {"save_every": 10**9})


def whole(recorded: dict, optimizer, options: dict) -> list[dict]:
    """The log of the recorded training, as far as settings are read off it."""
    schedule, steps = options.get("schedule", constant), recorded["steps"]
    rate = optimizer.param_groups[0]["initial_lr"]
    log = [{"step": step, "loss": 0.0, "tokens": 0, "lr": rate * schedule(step)} for step in range(1, steps + 1)]
    log[-1]["tokens"] = recorded["tokens"]
    log += [{"step": step, "validation": value} for step, value in recorded["valid"]]
    return [entry | {"seconds": recorded["seconds"]} for entry in log]


def again(name: str) -> FirstSteps:
    """The first steps of all trainings of a recorded run, compared."""
    recipe, _, seed = name.rpartition("-")
    record = keeping.read(Path(str(RECORDED)) / f"{name}.json")
    lmbook.seed(int(seed))
    with tempfile.TemporaryDirectory() as folder:
        run = FirstSteps(RECIPES[recipe], int(seed), Path(folder), progress=False, record=record)
        with contextlib.suppress(Enough):
            run.recipe.make(run)
    return run


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--like", type=float, default=0.001)
    options = parser.parse_args()
    failed = 0
    for name in options.records:
        with distributed.processes() as (rank, _):
            run = again(name)
        compared = list(run.compared.items())[: 1 if options.stream else None]
        unlike = {part: off for part, off in compared if off > options.like}
        failed += bool(unlike)
        print(name, "differs" if unlike else "agrees", unlike or f"{max(off for _, off in compared):.1e}", flush=True)
        if options.write and not unlike and rank == 0:
            for part, made in run.parts.items():
                if run.record["parts"][part]["parameters"] != made["parameters"]:
                    raise ValueError(f"{name}, {part}: {made['parameters']} parameters, recorded with another number.")
                run.record["parts"][part].setdefault("settings", made["settings"])
            path = Path(str(RECORDED)) / f"{name}.json"
            path.write_text(keeping.dumps(keeping.check(run.record)), "utf-8")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
