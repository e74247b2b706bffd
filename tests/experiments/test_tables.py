"""Tables are written from records and from nothing else."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from lmbook import metrics
from lmbook.experiments import RecipeError, run, table_rows, tables
from lmbook_grader.cli import main

COLUMNS = (table_rows.Column("score", "score", ".1f"), *table_rows.COST)


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    """Three runs of one recipe, one of another, and none of a third; a table over them."""

    def write(recipe, seed, scores, parts=None):
        record = {"recipe": recipe, "seed": seed, "scores": scores, "seconds": 90 * (seed + 1), "hardware": "abacus"}
        record["parts"] = {"model": {"parameters": 1_500_000}} if parts is None else parts
        (tmp_path / f"{recipe}-{seed}.json").write_text(json.dumps(record))

    for seed, score in enumerate((10.0, 11.0, 13.5)):
        write("three", seed, {"score": score})
    write("one", 0, {"score": 7.25, "baseline": {"score": 3.0}, "other score": 4.0, "words": "as they are"})
    monkeypatch.setattr(run, "RECORDED", tmp_path)
    rows = (("Three", "three"), ("One", "one"), ("Base", "one:baseline"), ("Other", "one:other"), ("None", "none"))
    monkeypatch.setitem(tables.TABLES, "toy", table_rows.Table("Toy", "A caption.", rows, COLUMNS))
    return write


def cells(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")]


def test_a_cell_is_one_score_or_mean_and_range(recorded):
    table, waiting = tables.table("toy").split("\n\n")
    head, _, three, one, base, other = cells(table)
    assert head == ["model", "score", "parameters (M)", "minutes", "seeds"]
    assert three == ["Three", "11.5 (10.0 to 13.5)", "1.50", "1.5", "3"], "of minutes the fewest"
    assert one == ["One", "7.2", "1.50", "1.5", "1"]
    assert base == ["Base", "3.0", "", "", "1"]
    assert other == ["Other", "4.0", "", "", "1"]
    assert waiting == "Without a recorded run so far: None."


def test_seeds_that_read_alike_are_one_number():
    assert tables.cell([0.99949, 0.99951, 0.9996], ".1%") == "100.0% (99.9% to 100.0%)"
    assert tables.cell([0.9996, 0.99951, 0.9996], ".1%") == "100.0%"


def test_one_system_of_a_recipe_with_several_tasks():
    scores = {"echo": {"none": 0.2, "rotary": 1.0}, "copy": {"rotary": 0.5}, "rotary, trained": 1.0, "back": 3}
    assert tables.scores_of(scores, "rotary") == {"echo": 1.0, "copy": 0.5}
    assert tables.scores_of(scores, "none") == {"echo": 0.2}
    assert tables.scores_of(scores | {"none": {"echo": 0.3}}, "none") == {"echo": 0.3}


def test_a_changed_record_changes_the_table(recorded):
    before = tables.table("toy")
    recorded("one", 0, {"score": 8.0, "baseline": {"score": 3.0}})
    assert tables.table("toy") != before


def test_an_unknown_table_is_named(recorded):
    with pytest.raises(RecipeError, match=r"'nothing'.*language"):
        tables.table("nothing")


def test_the_command_prints_writes_and_refuses(recorded, tmp_path):
    call = CliRunner().invoke
    assert tables.table("toy") in call(main, ["results", "toy"]).output
    file = tmp_path / "tables.md"
    assert call(main, ["results", "--out", str(file)]).exit_code == 0
    assert "**Toy.** A caption." in file.read_text()
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
    from pathlib import Path

    page = (Path(__file__).parents[2] / "book/results.md").read_text("utf-8")
    for name, table in tables.TABLES.items():
        assert f"{{results}} {name}\n" in page
        for _, row in table.rows:
            assert row.partition(":")[0] in run.RECIPES


def test_every_cell_of_a_recorded_run_has_a_value():
    for name, table in tables.TABLES.items():
        for label, row in table.rows:
            for record in tables.systems(row):
                for column in table.columns:
                    if column not in table_rows.COST:
                        assert column.value(record) is not None, (name, label, column.head)


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
