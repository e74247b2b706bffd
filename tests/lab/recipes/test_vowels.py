"""The measures of project II in cases where one can say before what they must be; and the page's own baseline."""

import re
from pathlib import Path

from lmbook.lab.recipes.vowels import commonest, edits, labels, measures, skeleton, together

PAGE = (Path(__file__).parents[3] / "book/project-2.md").read_text("utf-8")
LINES = ["the sea is a sea", "a", "i see the sun, the son", "aeiou xyz"]


def test_edits_are_counted():
    assert [edits(*pair) for pair in (("", ""), ("", "abc"), ("sea", "sea"), ("sea", "sun"), ("sea", "se"))] == [
        0, 3, 0, 2, 1,
    ]  # fmt: skip
    assert edits("kitten", "sitting") == edits("sitting", "kitten") == 3


def test_skeleton_and_labels_lose_nothing():
    for line in LINES:
        assert together(skeleton(line), labels(line)) == line


def test_a_system_that_gives_back_the_line_is_right_and_one_that_gives_back_the_skeleton_lacks_its_vowels():
    whole = {skeleton(line): line for line in LINES}
    assert measures(whole.__getitem__, LINES) == {"words right": 1.0, "edits": 0.0, "words": 14}
    bare = measures(lambda text: text, LINES)
    vowels = sum(map(len, LINES)) - sum(len(skeleton(line)) for line in LINES)
    assert bare["edits"] == 100 * vowels / sum(map(len, LINES))
    assert bare["words right"] == 1 / 14  # xyz


def test_baseline_skeleton_and_labels_are_those_of_the_page(no_corpora, capsys):
    (program,), space = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL), {}
    exec(program, space)
    restore, right = commonest(space["train"]), space["right"] / len(space["words"])
    assert measures(restore, space["valid"])["words right"] == right
    for line in space["valid"]:
        text = skeleton(line)
        assert (text, labels(line)) == (space["skeleton"](line), space["labels"](line))
        assert restore(text) == space["restore"](text)
