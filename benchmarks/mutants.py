"""Seeded mutants of the model files: would the tests notice a slip?

    .venv/bin/python benchmarks/mutants.py [--count 100] [--seed 0] [--jobs 2] [--only attention gpt] [--list]

A mutant is one file with one slip: another operator, comparison, constant or default, a negated condition, swapped
arguments, a bound off by one. They are drawn without replacement from all there are, so that the same seed and the same
files give the same mutants. Each runs against the tests of its own module, in a copy of src/, until the first failure;
those that live also meet the invariants of the models made of it. Printed is every survivor, as a line to read: some
change nothing that anybody could see, the others ask for a test. Exits with 1 where fewer than 95% are caught.

Every run is a fork of a process that has imported torch and pytest. Which mutants were caught is kept in
build/mutants.txt, as long as neither the file nor its tests change: after an interruption, or after a test was added,
only the others run.
"""

import argparse
import ast
import compileall
import copy
import hashlib
import importlib.util
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build" / "mutants.txt"
ENOUGH = 0.95  # of the mutants caught
CROWDED = 10  # how many seconds may pass on the clock for one of computing

# file -> which of the invariants (tests/invariants) are about what is made of it; its own tests are tests/test_FILE.py
FILES = {
    "networks": "mode_restored", "embeddings": "padding or first_loss",
    "backprop": "", "autograd": "", "feedforward": "feedforward", "cells": "rnn or lstm or gru",
    "fused": "lstm or gru", "rnn": "rnn or lstm or gru or tagger",
    "rnn_models": "rnn or lstm or gru or tagger or classifier",
    "attention": "seq2seq or transformer or gpt", "seq2seq": "seq2seq or hybrid or one",
    "positions": "rotary or learned", "layers": "transformer or gpt or bert",
    "moe": "experts", "transformer": "transformer or hybrid", "gpt": "gpt", "bert": "bert", "vit": "patches",
    "losses": "loss", "decode": "beam or step", "lab/train": "repeatable or mode_restored or same_losses",
    "data/batching": "",
}  # fmt: skip
OTHER_TESTS = {  # where a file has no test_FILE.py, or not alone
    "networks": ["test_decode.py", "test_gpt.py"],
    "embeddings": ["test_embeddings.py", "test_rnn_models.py"],
    "fused": ["test_rnn.py"],
    "layers": ["test_transformer.py", "test_gpt.py", "test_bert.py"],
    "moe": ["test_transformer.py"],
    "lab/train": ["lab/test_train.py", "lab/test_resume.py"],
    "data/batching": ["data/test_batching.py", "data/test_synthetic.py"],
}

OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult}
OPERATORS |= {ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}
OPERATORS |= {ast.And: ast.Or, ast.Or: ast.And}
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
COMPARISONS |= {ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}


def slips(node: ast.AST):
    """(kind, the node with the slip) for every slip in this one node, leaving what is below it."""

    def but(**changes):
        new = copy.copy(node)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def one_more(bound):
        return ast.BinOp(bound, ast.Add(), ast.Constant(1))

    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in OPERATORS:
            yield "operator", but(op=OPERATORS[type(op)]())
        case ast.UnaryOp():  # -x, ~x, not x
            yield "operator", node.operand
        case ast.Compare(ops=[first, *rest]):
            yield "comparison", but(ops=[COMPARISONS[type(first)](), *rest])
        case ast.If() | ast.While() | ast.IfExp():
            yield "condition", but(test=ast.UnaryOp(ast.Not(), node.test))
        case ast.Call(args=[first, second, *rest]) if not isinstance(second, ast.Starred):
            if ast.dump(first) != ast.dump(second):
                yield "arguments", but(args=[second, first, *rest])
        case ast.Slice():
            for end in ("lower", "upper"):
                if getattr(node, end):
                    yield "off by one", but(**{end: one_more(getattr(node, end))})
        case ast.Constant(value=bool(value)):
            yield "constant", but(value=not value)
        case ast.Constant(value=int(value) | float(value)):
            yield "constant", but(value=value + 1 if isinstance(value, int) else 2 * value + 0.1)
    match node:
        case ast.Call(func=ast.Name("range"), args=[*rest, last]):
            yield "off by one", but(args=[*rest, one_more(last)])


class Slip(ast.NodeTransformer):
    """Puts the slip with this number into a tree; `seen` counts the slips met until then, or all for number None."""

    def __init__(self, number: int | None = None):
        self.number, self.seen, self.kind, self.line = number, 0, "", 0

    def visit(self, node):
        # none in what an error says, in f-strings and in zip's strict: no test needs to see them
        if isinstance(node, ast.Raise | ast.JoinedStr) or getattr(node, "arg", "") == "strict":
            return node
        self.line = getattr(node, "lineno", self.line) if not self.kind else self.line
        for kind, slipped in slips(node):
            self.seen += 1
            if self.seen - 1 == self.number:
                self.kind = kind
                return slipped
        return self.generic_visit(node)


def tree(file: str) -> ast.Module:
    """The file parsed, without its types, which have operators too."""
    parsed = ast.parse((ROOT / "src" / "lmbook" / f"{file}.py").read_text("utf-8"))
    for node in ast.walk(parsed):
        match node:
            case ast.arg():
                node.annotation = None
            case ast.FunctionDef():
                node.returns = None
            case ast.AnnAssign():
                node.annotation = ast.Name("object")
    return parsed


def count(file: str) -> int:
    (counter := Slip()).visit(tree(file))
    return counter.seen


def mutant(file: str, number: int) -> tuple[str, str]:
    """The file's text with this slip, and a line that says which it is."""
    slipped = (slip := Slip(number)).visit(tree(file))
    text = ast.unparse(ast.fix_missing_locations(slipped))
    pairs = zip(ast.unparse(tree(file)).splitlines(), text.splitlines(), strict=False)
    before, after = next((a.strip(), b.strip()) for a, b in pairs if a != b)
    return text, f"{file}.py:{slip.line} ({slip.kind})\n      {before}\n   -> {after}"


def tests_of(file: str) -> list[list[str]]:
    """pytest's arguments for a file's own tests, and for the invariants of what is made of it."""
    named = OTHER_TESTS.get(file, [f"test_{file}.py"])
    own = [f"tests/{name}" for name in named if (ROOT / "tests" / name).is_file()]
    return [own, *([["tests/invariants/test_models.py", "-k", FILES[file]]] if FILES[file] else [])]


def passes(source: Path, tests: list[str], limit: int) -> bool:
    """Whether the tests pass on the package in `source`, in a fork of this process; not where they outlast the limit.

    limit: in seconds of computing.
    """
    child = os.fork()
    if not child:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(silence, stream)
        os.chdir(ROOT)
        os.environ["PYTHONPATH"] = str(source)  # for processes that a test starts
        sys.path.insert(0, str(source))
        sys.argv[:] = ["pytest"]
        code = 1
        try:
            import pytest

            code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests])
        finally:
            os._exit(int(code))
    end = time.monotonic() + CROWDED * limit
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        if time.monotonic() > end:
            os.killpg(child, 9)
        time.sleep(0.02)


def prepare(folder: str) -> None:
    """In each worker: what every fork needs is imported, and a copy of the package made."""
    global package
    os.environ |= {"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    for name in ("numpy", "pytest", "torch"):
        importlib.import_module(name)
    package = Path(tempfile.mkdtemp(dir=folder), "src")
    shutil.copytree(ROOT / "src", package, ignore=shutil.ignore_patterns("__pycache__"))
    compileall.compile_dir(package / "lmbook", quiet=2)


@cache
def limit(file: str) -> int:
    """Seconds of computing after which a mutant of this file is taken to be without an end."""
    begun = time.process_time() + sum(os.times()[2:4])
    assert all(passes(package, tests, 600) for tests in tests_of(file)), f"the tests of {file} fail without any slip"
    return round(20 + 3 * (time.process_time() + sum(os.times()[2:4]) - begun))


def run(place: tuple[str, int]) -> str:
    """What became of a mutant: "own", "invariants" (which caught it) or "lives"."""
    (file, _), (text, _) = place, mutant(*place)
    longest, target = limit(file), package / "lmbook" / f"{file}.py"
    original = target.read_text("utf-8")
    Path(importlib.util.cache_from_source(target)).unlink(missing_ok=True)
    target.write_text(text, "utf-8")
    try:
        for name, tests in zip(("own", "invariants"), tests_of(file), strict=False):
            if not passes(package, tests, longest):
                return name
        return "lives"
    finally:
        target.write_text(original, "utf-8")


def key(place: tuple[str, int]) -> str:
    """What a result depends on: the mutant, and the tests that it meets."""
    named = [name for tests in tests_of(place[0]) for name in tests if name.endswith(".py")]
    texts = [mutant(*place)[0], *((ROOT / name).read_text("utf-8") for name in named)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=FILES, default=list(FILES), metavar="FILE")
    parser.add_argument("--list", action="store_true", help="show the mutants, run nothing")
    options = parser.parse_args()

    places = [(file, number) for file in options.only for number in range(count(file))]
    drawn = sorted(random.Random(options.seed).sample(places, min(options.count, len(places))))
    print(f"{len(drawn)} of {len(places)} mutants of {len(options.only)} files, seed {options.seed}", flush=True)
    if options.list:
        print(*(mutant(*place)[1] for place in drawn), sep="\n")
        return 0
    KEPT.parent.mkdir(exist_ok=True)
    known = dict(line.split() for line in KEPT.read_text("utf-8").splitlines()) if KEPT.is_file() else {}
    found = {place: known[key(place)] for place in drawn if key(place) in known}
    print(f"{len(found)} are known to be caught from an earlier run", flush=True)
    left, alive = [place for place in drawn if place not in found], []
    context = multiprocessing.get_context("fork")
    # no multiprocessing.Pool: its workers may have no children of multiprocessing, and some tests want them
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(options.jobs, context, prepare, (folder,)) as pool,
    ):
        for place, became in zip(left, pool.map(run, left), strict=True):
            if became == "lives":
                alive.append(mutant(*place)[1])
                print(f"\nlives: {alive[-1]}", flush=True)
                continue
            found[place] = became
            with KEPT.open("a", encoding="utf-8") as file:
                file.write(f"{key(place)} {became}\n")
            print(".", end="", flush=True)
    share, own = len(found) / len(drawn), sum(became == "own" for became in found.values())
    print(f"\n{len(found)} of {len(drawn)} caught ({share:.0%}), {own} of them by the module's own tests. Survivors:")
    print(*alive, sep="\n")
    return int(share < ENOUGH)


if __name__ == "__main__":
    sys.exit(main())
