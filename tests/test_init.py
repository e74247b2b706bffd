"""The package itself: a file is written whole or not at all."""

import pytest

import lmbook


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
