"""Captions that answer: what counts as one, and a tuning whose curve outlives an interruption."""

import pytest

import lmbook
from lmbook.data.harbourish import captions, grammatical
from lmbook.lab.recipes import RECIPES, RecipeError, Run, assistant


def test_every_caption_is_grammatical_and_no_neighbour_of_it():
    for text, harbourish in captions(200, seed=3):
        words = text.split()
        assert grammatical(words)
        assert not grammatical(harbourish.split())
        assert not grammatical(words[:-1])
        assert not grammatical(["a", *words])


def tuned(folder, resume=False):
    lmbook.seed(0)
    run = Run(RECIPES["captions-ranks"], 0, folder, resume=resume, progress=False)
    chat = assistant.Chat(run)
    return lambda: chat.tune(chat.build(1, table=False), 1e-2, "part")


@pytest.fixture
def small(monkeypatch):
    for name, size in {"STEPS": 20, "CAPTIONS": 40, "HELD": 4, "DIALOGUES": 20, "ROWS": 2}.items():
        monkeypatch.setattr(assistant, name, size)


@pytest.mark.parametrize("stopped_at", [3, 12])
def test_a_resumed_tuning_has_the_curve_of_one_that_ran_through(small, tmp_path, monkeypatch, stopped_at):
    whole = tuned(tmp_path / "whole")()
    assert len(whole) == 4
    loss, calls = assistant.answer_nll, []

    def stopping(model, batch):
        if model.training:
            calls.append(1)
            if len(calls) == stopped_at:
                raise KeyboardInterrupt
        return loss(model, batch)

    monkeypatch.setattr(assistant, "answer_nll", stopping)
    begun = tuned(tmp_path / "stopped")
    with pytest.raises(KeyboardInterrupt):
        begun()
    monkeypatch.setattr(assistant, "answer_nll", loss)
    assert tuned(tmp_path / "stopped", resume=True)() == whole
    assert tuned(tmp_path / "stopped", resume=True)() == whole  # and one that was finished


def test_a_curve_that_is_lost_names_the_remedy(small, tmp_path):
    whole = tuned(tmp_path / "run")()
    (tmp_path / "run" / "part, curve.jsonl").unlink()
    with pytest.raises(RecipeError, match=r"lacks 4 of 4 points; delete .*part and resume"):
        tuned(tmp_path / "run", resume=True)()
    for file in (tmp_path / "run" / "part").iterdir():
        file.unlink()
    assert tuned(tmp_path / "run", resume=True)() == whole
