"""Fixtures for all tests."""

import os
from pathlib import Path

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """With LMBOOK_SKIP_NOTHING set, as in continuous integration, a skipped test fails unless it needs a GPU."""
    report = yield
    if report.skipped and os.environ.get("LMBOOK_SKIP_NOTHING") and "gpu" not in item.keywords:
        report.outcome = "failed"
        report.longrepr = f"LMBOOK_SKIP_NOTHING is set, yet this was skipped: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def real_corpora() -> Path:
    """The folder with the real corpora; without it the test is skipped and says why."""
    folder = os.environ.get("LMBOOK_DATA")
    if not folder:
        pytest.skip("needs the real corpora: set LMBOOK_DATA to the folder that holds them")
    return Path(folder)


@pytest.fixture
def float64():
    """Random numbers from seed 0, and float64 wherever a test does not ask for another type."""
    import torch

    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def no_corpora(monkeypatch, tmp_path) -> Path:
    """A machine without corpora: LMBOOK_DATA unset, an empty cache (the folder returned), downloading allowed."""
    monkeypatch.delenv("LMBOOK_DATA", raising=False)
    monkeypatch.delenv("LMBOOK_OFFLINE", raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr("lmbook.download.cache_folder", lambda: cache)
    return cache
