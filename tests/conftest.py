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


# On top of axe's defaults, a rule that it counts as experimental: a control's name contains the words in sight.
# Without preload axe asks for no stylesheets of its own, at addresses that it gets wrong.
AXE = {
    "rules": {"label-content-name-mismatch": {"enabled": True}},
    "preload": False,
    "resultTypes": ["violations"],
}


@pytest.fixture(scope="session")
def axe():
    """axe(page) -> the violations that axe-core finds, one line each."""
    from axe_playwright_python.sync_playwright import Axe

    def run(page):
        found = Axe().run(page, options=AXE).response["violations"]
        return [f"{v['id']}: {node['html'][:200]} {node['failureSummary']}" for v in found for node in v["nodes"]]

    return run


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
    monkeypatch.setattr("lmbook.data.fetch.cache_folder", lambda: cache)
    return cache
