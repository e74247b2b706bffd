"""Wherever a course, its submissions and its results lie, no student's process sees them; nor a closed library."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import small

from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Submission
from lmbook_grader.sandbox import walls as bubblewrap
from lmbook_grader.sandbox.commands import Limits, command
from lmbook_grader.sandbox.places import places
from lmbook_press.book import BookError

LOOK = """
import os
def inside(folder):
    for where, folders, names in os.walk(folder):
        for name in names:
            try:
                yield os.path.join(where, name), open(os.path.join(where, name), errors="ignore").read(10**7)
            except OSError:
                continue
for folder in FOLDERS:
    ours = (".ipynb", ".csv", ".json", "other.txt")
    print("there", [name for name, text in inside(folder) if text == "SECRET" or name.endswith(ours)])
def double(x):
    return 2 * x"""


def layout(folder: Path, release, course: Path) -> list[Path]:
    """A course, a class's files, results and a roster below this folder."""
    for kind in ("release", "grading"):
        (folder / "course/09" / kind).mkdir(parents=True)
        text = (course / kind / "09-small.ipynb").read_text("utf-8")
        (folder / "course/09" / kind / "09-small.ipynb").write_text(text, "utf-8")
    (folder / "course/secret.txt").write_text("SECRET", "utf-8")
    (folder / "course/10").mkdir()
    (folder / "course/10/other.txt").write_text("SECRET", "utf-8")
    for name in ("subs/ann", "subs/bob", "out"):
        (folder / name).mkdir(parents=True)
    look = LOOK.replace("FOLDERS", repr([str(folder)]))
    (folder / "subs/ann/ann.ipynb").write_text(json.dumps(small.answered(release, double=look)), "utf-8")
    (folder / "subs/bob/bob.ipynb").write_text(json.dumps(small.answered(release)), "utf-8")
    (folder / "out/ann.json").write_text("SECRET", "utf-8")
    (folder / "roster.csv").write_text("SECRET", "utf-8")
    return [folder / "subs", folder / "out", folder / "roster.csv"]


def test_a_course_below_usr(walls, release, course, package, tmp_path_factory):
    if not os.access("/usr/local/share", os.W_OK):
        pytest.skip("/usr/local/share cannot be written to")
    with tempfile.TemporaryDirectory(dir="/usr/local/share", prefix="lmbook-test-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        hidden = layout(folder, release, course)
        ann = Submission("ann", folder / "subs/ann/ann.ipynb")
        result = grade_one(ann, folder / "course/09", package=package, hidden=hidden)
        assert result["output"].strip() == "there []"
        assert [one["points"] for one in result["questions"]][:3] == [3, 3, 2]
        assert bubblewrap.covers([]) == []


@pytest.mark.parametrize("place", [".", "lib/class", "lib/python3.{minor}/site-packages/class"])
def test_a_course_in_pythons_own_folder(place, walls, release, course, tmp_path):
    """`python -m venv .` in the folder of the course, and a course among the libraries."""
    home = tmp_path / "nlp"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True, timeout=300)
    minor = sys.version_info.minor
    site = home / f"lib/python3.{minor}/site-packages"
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join(others), "utf-8")
    folder = home / place.format(minor=minor)
    hidden = layout(folder, release, course)
    program = f"""
import json
from pathlib import Path
from lmbook_grader.grading.grade import grade_one
from lmbook_grader.intake.collect import Submission
folder = Path({str(folder)!r})
hidden = [Path(one) for one in {[str(one) for one in hidden]!r}]
print(json.dumps(grade_one(Submission("ann", folder / "subs/ann/ann.ipynb"), folder / "course/09", hidden=hidden)))
"""
    source = str(Path(__file__).parents[3] / "src")
    environment = os.environ | {"PYTHONPATH": source}
    words = [home / "bin/python", "-c", program]
    told = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=500)
    result = json.loads(told.stdout.splitlines()[-1])
    assert result["status"] == "graded", result["why"]
    assert result["output"].strip() == "there []"
    assert [one["points"] for one in result["questions"]][:3] == [3, 3, 2]


def test_what_cannot_be_hidden_is_refused_with_a_sentence():
    for folder in (Path("/usr"), Path(sys.executable).resolve().parent, Path(os.__file__).parent):
        with pytest.raises(BookError, match="Move the course"):
            bubblewrap.private([folder])


def test_a_layout_that_is_not_covered_is_noticed(walls, release, course, package, monkeypatch):
    monkeypatch.setattr(bubblewrap, "inside", lambda _: [])
    with pytest.raises(AssertionError):
        test_a_course_below_usr(None, release, course, package, None)


OPENED = """
import sys, importlib, importlib.util
class Open:
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, path, target)
sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)] + [Open()]
for name in ("torch", "sklearn", "nltk", "lmbook"):
    try:
        module = importlib.import_module(name)
        print(name, getattr(module, "__file__", None), len(dir(module)) > 20)
    except ImportError:
        print(name, None, False)
def double(x):
    import torch
    return float(torch.tensor(x) * 2)"""


def test_a_closed_library_is_not_there_at_all(grade_answers):
    """Who takes the worker's own refusal away finds an empty folder."""
    result = grade_answers(double=OPENED)
    said = [[name, "None", "False"] for name in ("torch", "sklearn", "nltk", "lmbook")]
    assert [line.split() for line in result["output"].splitlines()[:4]] == said, result["output"]
    assert result["questions"][0]["points"] == 0


def test_places_of_libraries(tmp_path):
    for name in ("torch", "torch-2.0.dist-info", "torchvision", "a/torch"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("jax.py", "nltk.cpython-311-x86_64-linux-gnu.so", "jax.txt", "keras"):
        (tmp_path / name).touch()
    found = places(["torch", "jax", "nltk", "keras"], [str(tmp_path), str(tmp_path), "/nowhere"])
    assert sorted(Path(path).name for path in found) == ["jax.py", "nltk.cpython-311-x86_64-linux-gnu.so", "torch"]


ENGINE = """#!/bin/sh
while [ "$1" != python3 ]; do shift; done
shift
exec PYTHON "$@"
"""


def test_a_container_has_nothing_in_the_place_of_a_closed_library(tmp_path, monkeypatch, package):
    """Where a library lies in the image is asked of the image's own Python, here this machine's by another name."""
    (tmp_path / "docker").write_text(ENGINE.replace("PYTHON", sys.executable))
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    made = command("docker", Limits(), package, f"image of {tmp_path}").closing(["torch", "lmbook", "slopes"])
    words = made.words[: made.words.index(f"image of {tmp_path}")]
    hidden = [words[at + 1] for at, word in enumerate(words) if word == "--tmpfs"]
    found = [place.partition(":")[0] for place in hidden if place.endswith("size=1k")]
    assert "/opt/lmbook-package/lmbook" in found
    assert [Path(one).name for one in found if one.endswith("torch")] == ["torch"]
    assert made.settings["closed"] == ["torch", "lmbook", "slopes"]
