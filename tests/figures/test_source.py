"""The form of the JavaScript, where biome and tsc (`make javascript`) do not look; no Node is needed here."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from lmbook.figures import FIGURES, bundle

ROOT = Path(__file__).parents[2]
MODULES = sorted([*ROOT.glob("src/**/*.mjs"), *ROOT.glob("book/_static/*.mjs")])
PARALLEL = re.compile(r"^( *)(?:export )?(?:const|let) \[[^=]*?\] = \[(?:.*|\n(?:\1  .*\n)*\1)\];$", re.MULTILINE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_can_be_read_and_searched(path):
    """Lines of at most 120 characters, as in Python (biome leaves long strings as they are), and one name a line."""
    text = path.read_text("utf-8")
    assert [line for line in text.splitlines() if len(line) > 120] == []
    assert PARALLEL.findall(text) == []


def test_no_two_modules_of_the_figures_have_one_name():
    """The bundle knows a module by its name without the folder."""
    assert len(bundle.files()) == len([*(ROOT / "src/lmbook/figures").rglob("*.mjs")])


def test_a_parallel_declaration_is_seen():
    assert PARALLEL.search("  const [a, b] = [1, 2];")
    assert PARALLEL.search("let [\n  a,\n  b,\n] = [\n  1,\n  2,\n];")
    assert not PARALLEL.search("const [a, b] = pair;\nconst [c] = list.map((x) => [x]);")


def test_the_checks_are_pinned_and_fetched_from_wherever_npm_is_set_to():
    """A lock with addresses would tie everybody to one registry. npm install --omit-lockfile-registry-resolved."""
    lock = (ROOT / "package-lock.json").read_text("utf-8")
    assert "resolved" not in lock
    assert re.findall(r"https?://[^\"]*", lock) == []
    wanted = json.loads((ROOT / "package.json").read_text("utf-8"))["devDependencies"]
    packages = json.loads(lock)["packages"]
    assert {name: packages[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert all("integrity" in package for name, package in packages.items() if name)


def on_the_page(name):
    """The modules that a figure computes with on the page's own thread: all that it imports but programs of workers."""
    imported = {one for _, one in bundle._IMPORT.findall(bundle.source(name)) if not one.startswith("program-")}
    return imported.union(*map(on_the_page, imported)) if imported else imported


@pytest.mark.parametrize("name", sorted(FIGURES.values()))
def test_no_network_is_computed_on_the_pages_own_thread(name):
    assert "autograd" not in on_the_page(name)


def test_what_a_program_computes_with_is_seen():
    assert "autograd" in on_the_page("engine")


def test_no_two_folders_have_a_module_of_one_name():
    """The bundler knows a module by its name alone."""
    names = [path.name for path in bundle.HERE.rglob("*.mjs")]
    assert [name for name, count in Counter(names).items() if count > 1] == []
