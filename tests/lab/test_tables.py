"""Tables are written from records and from nothing else."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lmbook import metrics
from lmbook.lab import differences, layout, run, tables
from lmbook.lab.recipes import RecipeError
from lmbook_cli import main

TOY = """
[toy]
title = "Toy"
caption = "A caption."
columns = [{ head = "score", form = ".1f" }, "parameters (M)", "minutes"]
rows = [
  { label = "Three", recipe = "three" },
  { label = "One", recipe = "one" },
  { label = "Base", recipe = "one", part = "baseline" },
  { label = "Other", recipe = "one", at = ["other *"] },
  { label = "None", recipe = "none" },
]
"""


FOLLOWS = ("parameters", "FLOPs", "seconds")  # of a training: differ with whatever else does

SETTINGS = {
    "model": {"class": "lmbook.gpt.GPT", "d_model": 64, "n_layers": 1}, "optimizer": "Adam", "rate": 3e-3,
    "optimizer options": {"weight decay": 0.1}, "schedule": "constant", "warm-up": 1, "last rate": 3e-3, "dropout": 0.1,
    "vocabulary": [70], "rows": 8, "clip": 1.0, "budget": 10, "patience": None, "evaluate every": 5, "ended": "budget",
    "flops": 10**9, "start": {"embeddings": [0.02], "matrices": [0.01, 0.02]}, "rates tried": [],
}  # fmt: skip


def settled(parameters=100, **changed):
    """A part of a record, with these of its settings changed."""
    part = {"parameters": parameters, "steps": 10, "tokens": 640, "seconds": 90.0, "train": [], "valid": []}
    return {"model": part | {"settings": SETTINGS | changed}}


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """Three runs of one recipe, one of another, and none of a third; a table over them."""

    def write(recipe, seed, scores, parts=None, hardware="abacus CPU"):
        record = {"recipe": recipe, "seed": seed, "scores": scores, "seconds": 90 * (seed + 1), "hardware": hardware}
        record["parts"] = settled(1_500_000) if parts is None else parts
        (tmp_path / f"{recipe}-{seed}.json").write_text(json.dumps(record))

    for seed, score in enumerate((10.0, 11.0, 13.5)):
        write("three", seed, {"score": score})
    write("one", 0, {"score": 7.25, "baseline": {"score": 3.0}, "other score": 4.0, "words": "as they are"})
    monkeypatch.setattr(run, "RECORDED", tmp_path)
    monkeypatch.setattr(layout, "TABLES", layout.read(TOY))
    return write


def cells(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")]


def test_a_cell_is_one_score_or_mean_and_range(recorded):
    head, _, three, one, base, other = cells(tables.table("toy"))
    assert head == ["model", "score", "parameters (M)", "minutes", "seeds"]
    assert three == ["Three", "11.5 (10.0 to 13.5)", "1.50", "3.0", "3"], "of minutes the median"
    assert one == ["One", "7.2", "1.50", "1.5", "1"]
    assert base == ["Base", "3.0", "", "", "1"]
    assert other == ["Other", "4.0", "", "", "1"]


def test_minutes_of_a_gpu_count_only_where_there_are_no_others_and_say_whose_they_are(recorded):
    recorded("three", 9, {"score": 11.5}, hardware="GPU X")  # of 15 minutes
    recorded("none", 0, {"score": 1.0}, hardware="GPU X")
    _, _, three, *_, none = cells(tables.table("toy"))
    assert three == ["Three", "11.5 (10.0 to 13.5)", "1.50", "3.0", "4"]
    assert none == ["None", "1.0", "1.50", "1.5 (GPU X)", "1"]
    recorded("none", 1, {"score": 1.0}, hardware="NVIDIA GPU W 80GB HBM3")
    assert cells(tables.table("toy"))[-1] == ["None", "1.0", "1.50", "2.2 (GPU W or GPU X)", "2"]


def test_columns_of_words_stand_to_the_left_and_numbers_to_the_right():
    rows = [["GRU", "1.97 (1.8 to 2)", "reads a word", "–"], ["LSTM", "-3%", "1 gate", "+2"], ["none", "", "–", "−1"]]
    assert tables.grid(["cell", "score", "what", "gain"], rows).split("\n")[1] == "|:--|--:|:--|--:|"
    assert tables.grid(["cell", "score"], []).split("\n")[1] == "|:--|--:|"


def test_seeds_that_read_alike_are_one_number():
    assert tables.cell([0.99949, 0.99951, 0.9996], ".1%") == "100.0% (99.9% to 100.0%)"
    assert tables.cell([0.9996, 0.99951, 0.9996], ".1%") == "100.0%"


def test_a_score_stands_where_the_table_says():
    run = {"scores": {"echo": {"rotary": [0.5, 1.0, 0.0]}, "rotary, past": 0.25, "rows": [{"from": 6, "bleu": 3}]}}

    def found(score, at=("*",), **column):
        row = layout.Row("", "", at, keys=(("later", "past"),))
        return tables.score(run, row, layout.Column("", score, **column))

    assert found(("echo",), ("*", "rotary"), mean=(1, 3)) == 0.5
    assert found(("echo",), ("*", "rotary"), then=(1,)) == 1.0
    assert found(("later",), ("rotary, *",)) == 0.25
    assert found(("rows", {"from": 6}, "bleu")) == 3
    assert found(("rows", {"from": 7}, "bleu")) is None
    assert found(("echo",), ("*", "sinusoidal")) is None


def test_a_changed_record_changes_the_table(recorded):
    before = tables.table("toy")
    recorded("one", 0, {"score": 8.0, "baseline": {"score": 3.0}})
    assert tables.table("toy") != before


def test_an_unknown_table_is_named(recorded):
    with pytest.raises(RecipeError, match=r"'nothing'.*toy"):
        tables.table("nothing")


def test_the_command_prints_writes_and_refuses(recorded, tmp_path):
    call = CliRunner().invoke
    assert tables.table("toy") in call(main, ["results", "toy"]).output
    file = tmp_path / "tables.md"
    assert call(main, ["results", "--out", str(file)]).exit_code == 0
    assert "**Toy.** A caption." in file.read_text()
    assert tables.differences("toy") in file.read_text()
    wrong = call(main, ["results", "nothing"])
    assert wrong.exit_code == 1
    assert "there is no table 'nothing'" in wrong.output


def test_the_command_lists_every_recipe_and_trains_one(tmp_path):
    call = CliRunner().invoke
    listed = call(main, ["recipes"]).output
    for recipe in run.RECIPES.values():
        assert recipe.name in listed
        assert recipe.about in listed
    wrong = call(main, ["train", "nothing", "--out", str(tmp_path)])
    assert wrong.exit_code == 1
    assert "there is no recipe 'nothing'" in wrong.output


def test_every_row_is_a_recipe_and_every_table_on_the_page():
    page = (Path(__file__).parents[2] / "book/results.md").read_text("utf-8")
    for name, table in layout.TABLES.items():
        assert f"{{results}} {name}\n" in page
        for row in table.rows:
            assert row.recipe in run.RECIPES


def test_every_cell_of_a_recorded_run_has_a_value():
    for name, table in layout.TABLES.items():
        for row in table.rows:
            for record in run.records(row.recipe):
                for column in table.columns:
                    if column.head not in layout.COSTS:
                        assert tables.score(record, row, column) is not None, (name, row.label, column.head)


def test_every_training_of_a_table_is_in_the_record():
    for table in layout.TABLES.values():
        for row in table.rows:
            if row.trained and row.at not in ((row.trained[0], "*"), ("*",)):  # those that the table names itself
                for record in run.records(row.recipe):
                    assert set(row.trained) <= record["parts"].keys(), row


@pytest.fixture
def two(recorded):
    """Writes the runs of the rows One and Three anew, with settings; seed 0 of each."""

    def write(one, three):
        for seed in (1, 2):
            (run.RECORDED / f"three-{seed}.json").unlink(missing_ok=True)
        recorded("one", 0, {"score": 1.0, "baseline": {"score": 1.0}, "other score": 1.0}, one)
        recorded("three", 0, {"score": 2.0}, three)

    return write


def test_rows_that_differ_in_one_thing_differ_in_that_one_thing(two):
    deeper = SETTINGS["model"] | {"n_layers": 3}
    two(settled(), settled(300, model=deeper, flops=3 * 10**9))
    assert {key for key, differs in differences.varied("toy").items() if differs} == {"parameters", "FLOPs", "n_layers"}
    told = tables.differences("toy")
    assert cells(told.split("\n\n")[1]) == [
        ["model", "parameters", "FLOPs in all", "layers"], [":--", "--:", "--:", "--:"],
        ["Three", "300", "3 billion", "3"], ["One", "100", "1 billion", "1"],
    ]  # fmt: skip
    assert "All of them share these settings: steps 10, tokens 640, rate 0.003." in told
    assert "A dash" not in told
    assert "?" not in told


def test_many_settings_stand_below_one_another(two):
    more = {f"d_{letter}": 1 for letter in "ghijlmno"}
    two(settled(), settled(model=SETTINGS["model"] | more))
    told = tables.differences("toy")
    heads, _, *rows = cells(told.split("\n\n")[1])
    assert heads == ["setting", "Three", "One"]
    assert [row[0] for row in rows] == [*more]
    assert {tuple(row[1:]) for row in rows} == {("1", layout.LACKS)}
    assert "A dash means" in told


def test_a_large_number_is_told_in_words():
    numbers = 0, 512, 1234, 4.3e8, 5.93e11, 9.96e11, 1.25e12, 2.9e14
    told = "0", "510", "1,200", "430 million", "590 billion", "1 trillion", "1.2 trillion", "290 trillion"
    assert tuple(map(differences.spoken, numbers)) == told


def test_two_trainings_with_one_setting_do_not_differ_from_a_single_one():
    assert differences._alike("layers", [1, 1], [1])
    assert not differences._alike("layers", [1, 2], [1])
    assert not differences._alike("parameters", [5, 5], [5])  # two networks
    assert differences._alike("embeddings at the start", [0.1, 0.11], [0.1])
    assert not differences._alike("embeddings at the start", [0.1, 0.2], [0.1])


def test_trainings_of_one_row_that_are_alike_are_told_once():
    def shown(key, *seeds):
        return differences._shown(key, {n: [{key: one, "rate": 1} for one in parts] for n, parts in enumerate(seeds)})

    assert shown("steps", [4000, 4000]) == "4,000 each"
    assert shown("steps", [4000, 5000]) == "4,000 / 5,000"
    assert shown("steps", [4000]) == "4,000"
    assert shown("code", ["rotary", "rotary"]) == "rotary"
    assert shown("FLOPs", [5.93e11], [6.01e11]) == "590 to 600 billion"
    assert shown("FLOPs", [9.3e11], [1.1e12]) == "930 billion to 1.1 trillion"
    assert shown("embeddings at the start", [[0.3]], [[0.1]], [[0.2]]) == "0.1 to 0.3"
    assert shown("activation", [{"function": "lmbook.gpt.gelu_tanh"}]) == "gelu_tanh"


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"rate": 1e-2}, "rate"), ({"dropout": 0.3}, "dropout"), ({"vocabulary": [80]}, "vocabulary"),
        ({"start": {"embeddings": [1.0], "matrices": [0.01, 0.02]}}, "embeddings at the start"),
        ({"start": SETTINGS["start"] | {"note": "from bert-wikitext2"}}, "start"),
        ({"optimizer options": {"weight decay": 0.0}}, "weight decay"),
        ({"rates tried": [{"rate": 1e-3}]}, "rates tried"),
        ({"model": {"class": "lmbook.rnn_models.RecurrentLM", "d_model": 64, "n_layers": 1}}, "model"),
    ],
)  # fmt: skip
def test_a_second_thing_that_differs_is_told(two, changed, key):
    two(settled(), settled(**changed))
    assert {name for name, differs in differences.varied("toy").items() if differs} == {key}
    assert differences.SAID.get(key, key) in tables.differences("toy")


def test_a_table_whose_rows_shall_differ_in_one_thing_holds_to_it():
    promised = {name: table.one_thing for name, table in layout.TABLES.items() if table.one_thing is not None}
    assert promised
    for name, allowed in promised.items():
        found = {key for key, differs in differences.varied(name).items() if differs}
        assert found <= {*allowed, *FOLLOWS}, name


@pytest.fixture(scope="module")
def page():
    return tables.page()


def test_every_table_stands_on_the_page_with_what_differs(page):
    for name, table in layout.TABLES.items():
        assert f"**{table.title}" in page
        assert tables.table(name) in page
        if len(differences.systems(name)) > 1:
            assert tables.differences(name) in page
            assert "|" in tables.differences(name)


def test_the_summary_repeats_what_its_tables_say():
    rows = tables.summary().split("\n")[2:]
    assert len(rows) == len(tables.SUMMARY) >= 5
    for line, (task, name, _, *labels) in zip(rows, tables.SUMMARY, strict=True):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        assert cells[0].startswith(f"{task}: ")
        for label, score in zip(labels, (cells[2], cells[4]), strict=True):
            (full,) = [row for row in tables.table(name).split("\n") if row.startswith(f"| {label} |")]
            assert f"| {score} |" in full


def test_no_difference_is_drawn_between_budgets_that_are_not_equal():
    rows = [(row.label, row.recipe) for row in layout.TABLES["translation"].rows]
    read = {label: tables.records(recipe)[0]["parts"]["model"]["tokens"] for label, recipe in rows}
    pairs = re.findall(r"^\| (.+) over (.+?) \|", tables.comparisons(rows), re.MULTILINE)
    assert len(pairs) >= 5
    for second, first in pairs:
        assert read[second] == pytest.approx(read[first], rel=0.02), (second, first)
    unequal = [rows[3], rows[4]]  # the same model after as many steps and after twice as many
    assert read[unequal[0][0]] != pytest.approx(read[unequal[1][0]], rel=0.02)
    assert tables.comparisons(unequal) == ""


def test_every_trained_network_is_listed_once_with_its_parameters():
    rows = tables.models({"names-gpt": "[19](x)", "shakespeare": "[17](y)"}).split("\n")[2:]
    names = [re.match(r"\| `([\w-]+)`", row)[1] for row in rows]
    assert names[:2] == ["names-gpt", "shakespeare"]
    assert names[2:] == sorted(names[2:])
    assert len(set(names)) == len(names)
    assert "shakespeare-counts" not in names  # it counts, and has no parameters
    assert "802,304" in rows[1]
    assert "851 kB" in rows[1]
    assert rows[1].endswith("[17](y) |")
    (several,) = [row for row in rows if row.startswith("| `shakespeare-scaling`")]
    assert "14,272 to 802,304" in several


def test_a_bootstrap_from_counts_is_the_bootstrap_of_the_texts():
    rng = np.random.default_rng(0)
    draw = lambda: [" ".join(rng.choice(list("abcdef"), 8)) for _ in range(40)]  # noqa: E731
    first, second, references = draw(), draw(), draw()
    counts = [
        np.array([metrics.bleu_counts(a.split(), b.split()) for a, b in zip(system, references, strict=True)])
        for system in (first, second)
    ]
    ours = metrics.bootstrap_from_counts(*counts, samples=50, seed=3)
    assert ours == metrics.paired_bootstrap(first, second, references, 50, 3, tokenize=str.split)
    with pytest.raises(ValueError, match="counts are"):
        metrics.bootstrap_from_counts(counts[0], counts[1][:5])
