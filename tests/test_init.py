"""The package itself: its device, and files that are written whole or not at all."""

import pytest

import lmbook


def test_the_device_is_the_best_that_torch_sees(monkeypatch):
    for cuda, mps, best in ((True, False, "cuda"), (True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")):
        monkeypatch.setattr("torch.cuda.is_available", lambda cuda=cuda: cuda)
        monkeypatch.setattr("torch.backends.mps.is_available", lambda mps=mps: mps)
        assert lmbook.device() == best


def test_a_write_that_fails_leaves_the_file_of_before(tmp_path, monkeypatch):
    path = tmp_path / "a" / "file"
    lmbook.write(path, b"before")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        lmbook.write(path, b"after")
    assert path.read_bytes() == b"before"
    assert [p.name for p in path.parent.iterdir()] == ["file"]
