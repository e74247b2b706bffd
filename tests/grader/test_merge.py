"""Merging results of several machines: all of them, or nothing."""

import json

import pytest
from samples import result, ungraded, write_results

from lmbook_grader.grading.merge import merge
from lmbook_press.book import BookError


def names(folder):
    return sorted(path.name for path in (folder / "results").iterdir())


def test_parts_become_one(tmp_path):
    parts = [write_results(tmp_path / name, result(name)) for name in ("ann", "bob", "zoe")]
    assert merge(parts, tmp_path / "all") == (3, [])
    assert names(tmp_path / "all") == ["ann.json", "bob.json", "zoe.json"]
    assert json.loads((tmp_path / "all/results/bob.json").read_text()) == result("bob")


def test_the_folder_merged_into_takes_part(tmp_path):
    all_of_them = write_results(tmp_path / "all", result("ann"))
    assert merge([write_results(tmp_path / "b", result("bob"))], all_of_them)[0] == 2
    assert names(all_of_them) == ["ann.json", "bob.json"]
    assert merge([tmp_path / "b"], all_of_them)[0] == 2  # once more changes nothing
    with pytest.raises(BookError, match="ann"):
        merge([write_results(tmp_path / "c", result("ann", triple=False))], all_of_them)


def test_the_same_result_twice_counts_once_and_is_said(tmp_path):
    a = write_results(tmp_path / "a", result("ann"))
    b = write_results(tmp_path / "b", result("ann", seconds=9.0, sandbox="docker"))
    count, remarks = merge([a, b], tmp_path / "all")
    assert count == 1
    assert "ann: graded twice, with the same result" in remarks[0]


@pytest.mark.parametrize("order", [1, -1])
def test_a_graded_result_goes_before_an_ungraded_one_of_the_same_file(tmp_path, order):
    parts = [write_results(tmp_path / "a", result("ann")), write_results(tmp_path / "b", ungraded("ann"))]
    merge(parts[::order], tmp_path / "all")
    assert json.loads((tmp_path / "all/results/ann.json").read_text())["status"] == "graded"


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"file_sha256": "another"}, "different files were graded"),
        ({"double": False}, "the same file has different results"),
        ({"notes": ["x"]}, "the same file has different results"),
    ],
)
def test_conflicts_are_named_and_nothing_is_written(tmp_path, other, said):
    a = write_results(tmp_path / "a", result("ann"), result("bob"))
    b = write_results(tmp_path / "b", result("ann", **other), result("bob", **other))
    with pytest.raises(BookError) as caught:
        merge([a, b], tmp_path / "all")
    lines = str(caught.value).split("\n")
    assert lines[0] == "Nothing was merged:"
    assert [line.split(":")[0] for line in lines[1:3]] == ["ann", "bob"]
    assert said in lines[1]
    assert str(a / "results" / "ann.json") in lines[1]
    assert not (tmp_path / "all").exists()


def test_results_of_two_homeworks_are_not_mixed(tmp_path):
    a = write_results(tmp_path / "a", result("ann"))
    b = write_results(tmp_path / "b", result("bob", homework="08-other"))
    with pytest.raises(BookError, match="several homeworks"):
        merge([a, b], tmp_path / "all")
    assert not (tmp_path / "all").exists()


def test_an_empty_or_cut_part_is_named(tmp_path):
    a = write_results(tmp_path / "a", result("ann"))
    (tmp_path / "b/results").mkdir(parents=True)
    with pytest.raises(BookError, match="b holds no results"):
        merge([a, tmp_path / "b"], tmp_path / "all")
    (tmp_path / "b/results/bob.json").write_text("{")
    with pytest.raises(BookError, match=r"bob\.json is not a result"):
        merge([a, tmp_path / "b"], tmp_path / "all")


def test_faults_of_the_intakes_are_kept_once_each(tmp_path):
    parts = [write_results(tmp_path / name, result(name)) for name in ("ann", "bob")]
    for part in parts:
        (part / "intake.json").write_text('{"faults": [{"file": "x.pdf", "why": "is not a notebook"}]}')
    merge(parts, tmp_path / "all")
    assert len(json.loads((tmp_path / "all/intake.json").read_text())["faults"]) == 1


def test_a_part_that_did_not_end_is_missed(tmp_path):
    parts, names = [], ("ann", "bob", "cy", "dan", "zoe")
    for number, whom in ((1, ("ann", "dan")), (2, ("bob",))):  # the second one lacks zoe, and the third is not there
        part = write_results(tmp_path / str(number), *map(result, whom))
        content = {"faults": [], "part": f"{number}/3", "submissions": names}
        (part / "intake.json").write_text(json.dumps(content))
        parts.append(part)
    with pytest.raises(BookError) as caught:
        merge(parts, tmp_path / "all")
    said = "2 submissions have no result (cy, zoe). Run part 2/3, 3/3 again, with --resume."
    assert str(caught.value) == f"Nothing was merged: {said}"
    assert not (tmp_path / "all").exists()
    write_results(parts[1], result("zoe"))
    assert merge([*parts, write_results(tmp_path / "3", result("cy"))], tmp_path / "all") == (5, [])
    (tmp_path / "all/results/ann.json").unlink()
    with pytest.raises(BookError, match="ann"):
        merge([parts[1]], tmp_path / "all")
