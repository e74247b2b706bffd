"""Fixtures: a virtual environment with Colab's versions, and a git clone of the files as they stand."""

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "tests" / "colab" / "requirements.txt"
ENVIRONMENT = ROOT / ".venv-colab"


def needed_by(name: str, found: dict[str, Distribution] | None = None) -> dict[str, Distribution]:
    """The distribution of this name here, and all that it needs."""
    found = {} if found is None else found
    key = name.lower().replace("_", "-")
    if key not in found:
        found[key] = distribution(name)
        for line in found[key].requires or []:
            requirement = Requirement(line)
            if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
                needed_by(requirement.name, found)
    return found


def lend_torch(python: Path) -> None:
    """Links torch, and what it needs and the environment lacks, from here: a second copy would take gigabytes."""
    command = [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    target = Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
    there = {d.name.lower().replace("_", "-") for d in distributions(path=[str(target)])}
    for name, found in needed_by("torch").items():
        if name in there:
            continue
        for top in {file.parts[0] for file in found.files or []} - {"..", "__pycache__"}:
            if not (target / top).exists():
                (target / top).symlink_to(Path(found.locate_file(top)).resolve())


def make_environment(folder: Path) -> Path:
    """The environment's Python. It is made anew where the requirements, torch or Python have changed."""
    python = folder / "bin" / "python"
    stamp = folder / "made-from"
    recipe = REQUIREMENTS.read_bytes() + f"{sys.version} {distribution('torch').version} {sys.prefix} 1".encode()
    digest = hashlib.sha256(recipe).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == digest):
        run = {"check": True, "capture_output": True, "text": True, "timeout": 900}
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], **run)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
        subprocess.run([*pip, "install", "-q", "--no-deps", "--no-compile", "-r", str(REQUIREMENTS)], **run)
        lend_torch(python)
        kernel = folder / "share" / "jupyter" / "kernels" / "colab"
        kernel.mkdir(parents=True)
        argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": "Colab's versions", "language": "python"}
        (kernel / "kernel.json").write_text(json.dumps(spec))
        stamp.write_text(digest)
    return python


@pytest.fixture(scope="session")
def colab_python():
    """Python of the environment with Colab's versions, without lmbook; one test process at a time uses it."""
    with open(REQUIREMENTS) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            python = make_environment(ENVIRONMENT)
        except subprocess.SubprocessError as error:
            said = (getattr(error, "stderr", "") or str(error)).strip()[-600:]
            message = f"the environment with Colab's versions cannot be made: {said}"
            if os.environ.get("LMBOOK_SKIP_NOTHING"):
                pytest.fail(message)
            pytest.skip(message)
        subprocess.run([str(python), "-m", "pip", "uninstall", "--quiet", "--yes", "lmbook"], capture_output=True)
        yield python


def run_git(folder: Path, *command: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *command], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="session")
def git():
    """Runs git in a folder: git(folder, "status") -> what it printed."""
    return run_git


@pytest.fixture(scope="session")
def clone(git, tmp_path_factory) -> Path:
    """A git repository with the book's files as they stand here, committed or not."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    folder = tmp_path_factory.mktemp("clone") / "lmbook"
    for name in listed:
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "the book as it stands")
    return folder
