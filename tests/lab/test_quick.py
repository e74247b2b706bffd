"""Every recipe runs from its data to a record: three steps of each training, on few rows or stand-ins."""

import math

import pytest

from lmbook.data import STAND_INS
from lmbook.lab.recipes import RECIPES, train
from lmbook.lab.record import dumps, read

# These run the lines of another recipe with another option: once a week is enough.
SIBLINGS = {f"wikitext2-{cell}" for cell in ("rnn", "lstm")} | {f"shakespeare-{cell}" for cell in ("rnn", "lstm")}
SIBLINGS |= {f"{task}-left" for task in ("ewt", "sms-spam", "film-opinions", "wnut17")}
SIBLINGS |= {"ewt-left-2", "ewt-lstm-2", "sms-spam-2", "film-opinions-2", "wnut17-lstm-2", "wnut17-settings"}
SIBLINGS |= {"wnut17-passes", "truncation-long", "truncation-frozen", "shakespeare-rnn-short"}
SIBLINGS |= {"multi30k-transformer-short", "multi30k-additive-long", "multi30k-additive-low", "multi30k-additive-high"}
SIBLINGS |= {"shakespeare-gpu", "shakespeare-long", "shakespeare-gru-long", "digits-page", "wikitext2-windows"}
SIBLINGS |= {"length-joined", "harbourish-depth", "harbourish-residual", "multi30k-every", "multi30k-hybrid"}
SIBLINGS |= {name for name in RECIPES if name.startswith("multi30k-score-")}
SIBLINGS |= {"length-joined-long", "multi30k-hybrid-low", "multi30k-hybrid-high", "caption-scores-long"}
SIBLINGS |= {"wikitext2-lstm-large", "time-by-length-gpu", "digits-orders-long"}
SIBLINGS |= {"recall-long", "recall-32", "recall-128", "skip-gram-windows", "skip-gram-narrow"}
SIBLINGS |= {"multi30k-hybrid-twice", "multi30k-additive-twice", "multi30k-every-low", "multi30k-every-high"}
SIBLINGS |= {"multi30k-one-rnn", "recall-longer-sources", "film-opinions", "wnut17-linear"}
# And these, the slowest of a file of which others stay, the training loop of the file among them.
SIBLINGS |= {"caption-ladder", "norm-curves", "wikitext2-gpt", "wikitext2-feedforward", "shakespeare-scaling"}
SIBLINGS |= {"bert-opinions-tuned", "multi30k-transformer", "multi30k-flops"}
SIBLINGS |= {"copying-learned", "harbourish-beams", "shakespeare-gru-beside"}
SIBLINGS |= {"ablation-dates-together", "bert-tagging-rates"}
SIBLINGS |= {"block-rates", "rate-by-width", "reversal", "copying", "copying-recurrence", "digits-orders", "skip-gram"}
# And these take a dozen seconds or more, for their data or a published model.
LONG = {"sums-rewarded", "bert-byte-pairs", "keyboard-network", "captions-ranks", "smollm", "ablation-dates"}
LONG |= {"facts-seen-once", "length-captions"}
# Seeds 1 and 2 are still to be run; the pages say that there is one.
ONE_SEED = {"ewt-letters", "recall-longer-sources", "keyboard-network", "minilm-opinions-tuned", "bert-doubts"}
# One training of another recipe again, kept with its weights: that one has the seeds.
REPEATS = dict.fromkeys(("recall-32", "recall-64", "recall-128"), "recall")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.weekly] * (name in SIBLINGS | LONG)) for name in sorted(RECIPES)]
)
def test_recipe_runs(name, tmp_path, request):
    recipe = RECIPES[name]
    if not set(recipe.corpora) <= set(STAND_INS):
        request.getfixturevalue("real_corpora")
    record = train(name, quick=True, folder=tmp_path, device="cpu", progress=False)
    file = tmp_path / "record.json"
    file.write_text(dumps(record), "utf-8")
    assert dumps(read(file)) == file.read_text("utf-8"), "a record comes back equal"
    assert record["recipe"] == name
    assert recipe.score in record["scores"], "the score that `lmbook recipes` shows"
    for score in recipe.rescored:
        assert math.isfinite(record["scores"][score])
    seeds = len(RECIPES[REPEATS.get(name, name)].seeds)
    enough = seeds >= 3 or recipe.minutes >= 30 or name in ONE_SEED
    assert enough or not record["parts"], "a short training is done with three seeds"
    for part in record["parts"].values():
        assert part["steps"] <= 3
        assert all(math.isfinite(loss) for _, loss in part["train"])
    assert not (tmp_path / f"{name}-0" / "record.json").exists(), "a quick run is no finished run"


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_recipe_says_what_it_is(name):
    recipe = RECIPES[name]
    assert recipe.about
    assert recipe.minutes > 0
    assert recipe.seeds


def test_siblings_are_recipes_and_every_file_has_one_that_is_none():
    assert set(RECIPES) >= SIBLINGS | LONG
    files = {name: getattr(one.make, "func", one.make).__module__ for name, one in RECIPES.items()}
    assert {files[name] for name in RECIPES.keys() - SIBLINGS} == set(files.values())
