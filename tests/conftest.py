"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_corpora() -> Path:
    """The folder with the real corpora; without it the test is skipped and says why."""
    folder = os.environ.get("LMBOOK_DATA")
    if not folder:
        pytest.skip("needs the real corpora: set LMBOOK_DATA to the folder that holds them")
    return Path(folder)


@pytest.fixture
def no_corpora(monkeypatch, tmp_path) -> Path:
    """A machine without corpora: LMBOOK_DATA unset, an empty cache (the folder returned), downloading allowed."""
    monkeypatch.delenv("LMBOOK_DATA", raising=False)
    monkeypatch.delenv("LMBOOK_OFFLINE", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr("lmbook.download.cache_folder", lambda: cache)
    return cache
