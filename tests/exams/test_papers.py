"""The exam bank and the papers made from it."""

import math
import re
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

from lmbook_cli import main
from lmbook_exams import sheets
from lmbook_exams.bank import CHAPTERS, by_name, chapters_of, of_chapter
from lmbook_exams.paper import choose, papers, versions_of
from lmbook_exams.question import fill, question, shown
from lmbook_press.assignments.marking import rubric

BANK = [one for number in CHAPTERS for one in of_chapter(number)]
SEEDS = 20
FORMULA = re.compile(r"\$\$\n(.+?)\n\$\$|\$([^$\n]+)\$", re.DOTALL)


def asked(one, seed: int):
    return one.ask(np.random.default_rng(seed))


@pytest.mark.parametrize("number", CHAPTERS)
def test_a_chapter_has_questions_of_many_kinds(number):
    there = of_chapter(number)
    assert len(there) >= 8
    assert sum(one.drawn for one in there) >= 4
    assert {one.kind for one in there} >= {"calculation", "derivation", "bug", "words", "what if"}
    assert sum(one.minutes for one in there) >= 45
    assert all(0.4 <= one.points / one.minutes <= 0.9 for one in there)


def test_no_name_stands_for_two_questions():
    assert [name for name, count in Counter(one.name for one in BANK).items() if count > 1] == []


@pytest.mark.parametrize("number", CHAPTERS)
def test_every_draw_makes_a_whole_question(number):
    for one in of_chapter(number):
        draws = [asked(one, seed) for seed in range(SEEDS if one.drawn else 1)]
        if one.drawn:
            assert len({draw.text for draw in draws}) >= 5, one.name
        for draw in draws:
            whole = "\n\n".join((draw.text, draw.solution, draw.scheme))
            assert not re.search(r"[«»]|Fraction\(|np\.|array\(|\de[+-]\d", whole), one.name
            assert all(math.isfinite(value) for value in draw.numbers.values() if isinstance(value, (int, float)))
            assert min(map(len, (draw.text, draw.solution))) > 40
            assert sum(points for points, _ in rubric(draw.scheme, one.points)) == one.points
            # no formula goes over a line, and nothing but formulae stands between dollars
            assert "$" not in FORMULA.sub("", whole), one.name
            for found in FORMULA.finditer(whole):
                tex = found[1] or found[2]
                assert not re.search(r"[-+] ?-|\\cdot ?-|[^\\]%", tex), (one.name, tex)
                assert tex.count("{") == tex.count("}"), (one.name, tex)


def test_formulae_are_drawn_by_katex():
    from lmbook_press.site.features.mathematics import render

    seen = set()
    for one in BANK[1::4]:
        draw = asked(one, 1)
        for found in FORMULA.finditer(f"{draw.text}\n\n{draw.solution}"):
            tex = (found[1] or found[2]).strip()
            plain = re.sub(r"\d+", "7", tex)  # one of those that differ in their numbers only
            if plain not in seen:
                seen.add(plain)
                assert "katex-mathml" in render(tex, bool(found[1])), (one.name, tex)
    assert len(seen) > 150


def test_a_place_without_a_number_is_an_error():
    assert fill("$«a» + «b»$ and «c»", {"a": 12_000, "b": -3, "c": 12_000}) == "$12{,}000 + (-3)$ and 12,000"
    assert shown(0.1 + 0.2) == "0.3"
    assert fill("$«a:.3g»$, and «b»", {"a": 1050.0, "b": -2.5e-6}) == r"$1.05 \cdot 10^{3}$, and $-2.5 \cdot 10^{-6}$"
    with pytest.raises(KeyError):
        fill("«a»", {})
    with pytest.raises(ValueError, match="not a kind of question"):
        question("x", "riddle", points=1, minutes=1)


def test_chapters_are_covered_evenly_and_by_drawn_numbers():
    for count in (3, 12, 17):
        chosen = choose([1, 2, 3, 4, 5], seed=count, count=count)
        by_chapter = Counter(one.chapter for one in chosen)
        assert sum(by_chapter.values()) == len(set(chosen)) == count
        assert max(by_chapter.values()) - min(by_chapter[number] for number in range(1, 6)) <= 1
        assert sum(one.drawn for one in chosen) * 2 >= count


def test_minutes_add_up_and_named_questions_are_in():
    for seed in range(5):
        chosen = choose(list(CHAPTERS), seed, minutes=90, named=("collapse", "beam_of_two"))
        assert sum(one.minutes for one in chosen) == 90
        assert {by_name("collapse"), by_name("beam_of_two")} <= set(chosen)
        assert max(Counter(one.chapter for one in chosen).values()) == 1
    both = choose([6, 7], 0, count=8, minutes=52)
    assert (len(both), sum(one.minutes for one in both)) == (8, 52)


def test_everything_follows_from_the_seed_and_versions_share_no_numbers():
    first, again, other = (choose([8, 9, 10], seed, count=9) for seed in (4, 4, 5))
    assert first == again != other
    a, b, c = papers(first, 4, ["A", "B", "C"])
    assert a == papers(first, 4, ["A"])[0]
    for at, one in enumerate(first):
        texts = {paper.asked[at].text for paper in (a, b, c)}
        assert len(texts) == (3 if one.drawn else 1)


def test_two_versions_differ_even_where_few_draws_are_possible():
    one = by_name("vanishing_product")
    for seed in range(10):
        made = papers([one], seed, ["A", "B", "C", "D"])
        assert len({paper.asked[0].text for paper in made}) == 4


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: chapters_of("0-3"), "chapters 1 to 19, none for 0"),
        (lambda: chapters_of("18-20"), "none for 20"),
        (lambda: chapters_of("5-1"), "numbers and ranges"),
        (lambda: chapters_of("one"), "numbers and ranges"),
        (lambda: versions_of("A,A"), "different letters"),
        (lambda: versions_of("../A"), "different letters"),
        (lambda: choose([1], 0, count=99), "99 questions are asked for; these chapters have 9"),
        (lambda: choose([1], 0, minutes=500), "9 take 59"),
        (lambda: choose([1], 0, minutes=2), "No questions of these chapters take 2 minutes"),
        (lambda: choose([1], 0, named=("collapse",)), "chapter 5, which is not asked for"),
        (lambda: choose([1], 0, named=("riddle",)), "There is no question riddle"),
        (lambda: choose([5], 0, count=1, named=("collapse", "two_paths")), "2 questions are named, and 1 asked for"),
    ],
)
def test_what_cannot_be_made_is_said(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()


def lmbook(*words: object):
    return CliRunner().invoke(main, ["exam", *map(str, words)])


def test_the_command_writes_paper_and_solutions_and_replaces_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "katex_style", lambda book: ".katex{}")
    out = tmp_path / "exam"
    call = ("make", "--chapters", "5", "--questions", 2, "--versions", "A,B", "--title", "<i>Mid</i>", "--out", out)
    assert lmbook(*call).exit_code == 0
    names = ["exam-A-solutions.html", "exam-A.html", "exam-B-solutions.html", "exam-B.html"]
    assert sorted(path.name for path in out.glob("*.html")) == names
    pages = {path.name: path.read_text("utf-8") for path in out.glob("*.html")}
    chosen = papers(choose([5], 0, count=2), 0, ["A"])[0]
    for name, page in pages.items():
        assert not re.search(r'(?:src|href)="|url\((?!data:)|@import|<script|<i>', page)
        assert ('class="solution"' in page) == ("solutions" in name)
        assert all(one.title in page for one in chosen.questions)
    assert pages["exam-A.html"] != pages["exam-B.html"].replace("ersion B", "ersion A")
    assert (out / ".gitignore").exists()
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    refused = lmbook(*call)
    assert refused.exit_code == 1
    assert "is there already" in refused.output
    assert before == {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert lmbook(*call, "--overwrite", "--seed", 1).exit_code == 0


def test_the_list_names_every_question():
    said = lmbook("list").output
    assert [line.split()[1 + ("*" in line.split()[1])] for line in said.splitlines()] == [one.name for one in BANK]
