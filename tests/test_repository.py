"""What must hold of the repository as a whole: one address, one version, no stray hosts or paths, a modest size."""

import ast
import re
import subprocess
import tomllib
from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path
from types import SimpleNamespace

import long
import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def tracked() -> list[Path]:
    """The files that git tracks, or, in an unpacked archive, every file outside the folders that the build makes."""
    git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode == 0:
        return [ROOT / name for name in git.stdout.split("\0") if name and (ROOT / name).is_file()]
    made = {".venv", "node_modules", "_build", "build", ".git"}
    return [p for p in ROOT.rglob("*") if p.is_file() and not made & set(p.relative_to(ROOT).parts)]


def texts():
    for path in tracked():
        if path.suffix not in {".woff2", ".png", ".svg", ".safetensors", ".gz"}:
            yield path, path.read_text(encoding="utf-8", errors="replace")


def test_the_repository_is_small_enough_to_clone():
    assert sum(p.stat().st_size for p in tracked()) < 60e6


def test_the_address_of_the_repository_stands_in_one_place():
    address = yaml.safe_load((ROOT / "_config.yml").read_text())["repository"]["url"]
    holders = {p.relative_to(ROOT).as_posix() for p, text in texts() if address in text}
    assert holders == {"_config.yml"}


def test_no_package_registry_is_named():
    hosts = ["pypi" + ".org", "python" + "hosted.org", "npmjs" + ".org", "deb." + "debian.org"]
    named = [(p.name, host) for p, text in texts() for host in hosts if host in text]
    assert named == []


def test_nothing_is_left_unfinished():
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME)\b|coming " + "soon", re.IGNORECASE)
    assert [p.name for p, text in texts() if p.suffix in {".py", ".md", ".ipynb", ".mjs"} and marks.search(text)] == []


def test_every_place_states_the_same_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"] == installed_version("lmbook")


def pins(path: Path) -> dict[str, str]:
    lines = [line.split("#")[0].strip() for line in path.read_text().splitlines()]
    return dict(re.fullmatch(r"([\w.-]+)==(\S+)", line).groups() for line in lines if line)


@pytest.mark.parametrize("pinned", ["requirements.txt", "tests/colab/requirements.txt"])
def test_the_package_accepts_the_pinned_versions(pinned):
    """Both the versions that the book is tested with and Colab's own lie in the ranges of pyproject.toml."""
    versions = {re.sub(r"[-_.]+", "-", name).lower(): v for name, v in pins(ROOT / pinned).items()}
    versions.setdefault("torch", "2.11.0")  # Colab's own, which the test environment of that name cannot install
    for requirement in map(Requirement, PROJECT["dependencies"]):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        assert name in versions, f"{pinned} has no {name}"
        assert requirement.specifier.contains(versions[name]), (
            f"{pinned}: {name} {versions[name]}, wanted {requirement}"
        )


def test_what_is_installed_is_what_is_pinned():
    """A test run with other versions than the pinned ones would prove nothing about them."""
    for name, wanted in pins(ROOT / "requirements.txt").items():
        assert installed_version(name).split("+")[0] == wanted


def test_the_glossary_is_in_alphabetical_order():
    """Sphinx prints the entries as they stand, so a reader who looks one up finds it only if they are in order."""
    entries = (ROOT / "book" / "glossary.md").read_text().split("```{glossary}\n")[1].split("\n```")[0]
    terms = re.findall(r"(?:^|\n\n)(\S[^\n]*)\n  ", entries)
    assert len(terms) > 100
    assert terms == sorted(terms, key=str.casefold)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_files_and_commands_that_a_page_names_are_there(page):
    """Links, paths in the folders of the repository, and targets of make; NN, name and NAME stand for any."""
    text = (ROOT / page).read_text()
    paths = re.findall(r"\]\(([\w./-]+)\)", text)
    paths += re.findall(r"`((?:src|tests|book|notebooks|benchmarks|\.ci)/[\w./-]+)", text)
    wanted = {path for path in paths if not re.search(r"\bNN\b|\bNAME\b|\bname\b|book/homework", path)}
    assert [
        path
        for path in sorted(wanted)
        if not (ROOT / path).exists() and not (ROOT / page).parent.joinpath(path).exists()
    ] == []
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {name for name in re.findall(r"(?:`|^)make (\w+)", text, re.MULTILINE)} <= targets


@pytest.mark.parametrize("benchmark", [path.name for path in sorted((ROOT / "benchmarks").glob("*.py"))])
def test_what_a_benchmark_imports_of_the_book_is_there(benchmark):
    """Nothing else of a benchmark runs in the tests."""
    for node in ast.walk(ast.parse((ROOT / "benchmarks" / benchmark).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("lmbook"):
            module = import_module(node.module)
            for name in node.names:
                assert hasattr(module, name.name) or import_module(f"{node.module}.{name.name}"), name.name


def test_nothing_that_is_made_for_a_course_or_a_build_is_tracked():
    git = subprocess.run(["git", "ls-files", "book/homework", "build"], cwd=ROOT, capture_output=True, text=True)
    assert git.stdout.strip() == ""


@pytest.mark.parametrize("rule", long.KEPT)
def test_what_is_said_to_take_long_is_there(rule):
    file, _, name = rule.partition("::")
    place = ROOT / "tests" / file
    assert place.is_dir() or f"def {name}" in place.with_suffix(".py").read_text()


@pytest.mark.parametrize("asked", ["tests", "tests/lab/test_quick.py"])
def test_of_what_takes_long_a_share_stays_and_all_of_a_file_that_is_named(asked):
    class Item(SimpleNamespace):
        path, originalname = ROOT / "tests/lab/test_quick.py", "test_recipe_runs"

        def get_closest_marker(self, name):
            return None

        def add_marker(self, name):
            self.marks.append(name)

    items = [Item(marks=[]) for _ in range(40)]
    long.mark(items, [str(ROOT / asked)])
    left = [place for place, item in enumerate(items) if item.marks == ["push"]]
    assert left == ([place for place in range(40) if place % 8] if asked == "tests" else [])
