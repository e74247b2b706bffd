"""The exam bank and the papers made from it."""

import io
import math
import re
import shutil
import subprocess
import zipfile
from collections import Counter
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from lmbook_cli import main
from lmbook_exams import sheets
from lmbook_exams.bank import CHAPTERS, by_name, chapters_of, objectives, of_chapter, selected
from lmbook_exams.exports import latex, parted, qti
from lmbook_exams.paper import Sheet, choose, papers, seed_of, versions_of
from lmbook_exams.question import fill, question, shown
from lmbook_press.assignments.marking import rubric
from lmbook_press.book import Book

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
            items = rubric(draw.scheme, one.points)
            assert sum(points for points, _ in items) == one.points
            assert not any(re.fullmatch(r"point \d", said) for _, said in items), (
                f"{one.name}: a scheme names its items"
            )
            begun = re.findall(r"(?:\A|\n\n)\(([a-f])\)\s", parted(draw.text))
            assert begun == list("abcdef"[: len(begun)]), f"{one.name}: each part begins a line"
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
        question("x", "riddle", points=1, minutes=1, objective=1, level=1)


def numbers_in(value: object):
    """All numbers in a value, however deep in lists."""
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
        yield value


# Zeros that belong to the question: codes, masks, one-hot vectors, ids, counts from 0, sums of given absent tokens.
ZEROS = {
    "lookup_gradient": {"table", "tokens", "gradient", "twice"}, "negative_sampling": {"centre", "context", "negative"},
    "encode_two_lines": {"rows"}, "forward_by_hand": {"parts"}, "non_normal": {"second", "third"},
    "one_product": {"states"}, "two_queries": {"keys"}, "causal_softmax": {"weights"},
    "zero_after": {"allowed", "zeroed"}, "binary_codes": {"codes"}, "masked_loss": {"powers", "chosen"},
    "bayes_classifier": {"down"}, "router_gates": {"weights"}, "kept_or_replaced": {"left"},
}  # fmt: skip


@pytest.mark.parametrize("number", CHAPTERS)
def test_no_draw_makes_a_question_easier_than_another(number):
    """No given number and no result vanishes, and every draw has as many zeros as the others where zeros belong."""
    for one in of_chapter(number):
        if not one.drawn:
            continue
        for seed in range(200):
            found = {name for name, value in asked(one, seed).numbers.items() if 0 in numbers_in(value)}
            assert found <= ZEROS.get(one.name, set()), (one.name, seed)


# Results that must differ in every draw: where they agree, an answer that leaves out the step in question is right too.
APART = {
    "bigrams_of_a_line": ("ml", "add", "rest"), "window_parameters": ("E", "U", "W"), "window_shapes": ("e", "h"),
    "loss_to_weights": ("c", "i"), "through_tanh": ("d1", "d2"), "recurrent_parameters": ("hh", "xh"),
    "whole_spans": ("P", "R"), "spam_baseline": ("P", "R"), "stack_parameters": ("one", "both", "second"),
    "four_tasks": ("B", "T", "m", "V", "tags", "classes"), "translator_shapes": ("B", "N", "T", "d", "m", "V"),
    "scores_by_hand": ("dot", "general", "scaled"), "masks_together": ("causal", "padding", "both"),
    "warm_up": ("first", "second"), "decoder_shapes": ("B", "n", "T", "N", "dk", "ff"),
    "bits_per_pixel": ("bits", "uniform", "each"), "patch_index": ("a", "b"), "known_so_far": ("raster", "columns"),
    "symbols_fit": ("bits", "most"), "one_group": ("mean", "rest", "std"), "variance": ("first_b", "second_b", "slope"),
    "what_is_new": ("once", "twice"), "error_in_bins": ("n1", "n2"), "is_it_faster": ("fast1", "fast2"),
    "leak_adds": ("L", "cL"), "patch_shapes": ("B", "N", "M", "d", "n", "size"),
    "shared_heads": ("B", "T", "nh", "nkv", "dk", "k", "d"), "beside_a_matrix": ("out", "inside", "r", "N", "T"),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_no_draw_gives_the_same_result_twice(name):
    for seed in range(200):
        numbers = asked(by_name(name), seed).numbers
        assert len({numbers[key] for key in APART[name]}) == len(APART[name]), seed


def test_each_version_of_an_influence_needs_its_logarithm():
    for seed in range(200):
        n = asked(by_name("influence"), seed).numbers
        assert n["k"] >= 8, "a small power is found by trying"
        assert n["w"].numerator > 1, "a power of a unit fraction is found in the head"


def test_no_state_repeats_in_any_version():
    for name, key in (("context_vector", "h"), ("three_summaries", "h"), ("score_gradient", "states")):
        for seed in range(200):
            states = asked(by_name(name), seed).numbers[key]
            assert len({repr(state) for state in states}) == len(states), (name, seed)


@pytest.mark.parametrize("number", CHAPTERS)
def test_every_objective_exists_and_is_examined(number):
    aims = objectives(Book.find(), number)
    assert {one.objective for one in of_chapter(number)} <= set(range(1, len(aims) + 1))
    assert {one.level for one in of_chapter(number)} == {1, 2, 3}
    # Some objectives are practised at a computer; a paper examines most.
    assert len({one.objective for one in of_chapter(number)}) >= 0.4 * len(aims)


def test_chapters_are_covered_evenly_and_by_drawn_numbers():
    for count in (3, 12, 17):
        chosen = choose(selected("1-5"), seed=count, count=count)
        by_chapter = Counter(one.chapter for one in chosen)
        assert sum(by_chapter.values()) == len(set(chosen)) == count
        assert max(by_chapter.values()) - min(by_chapter[number] for number in range(1, 6)) <= 1
        assert sum(one.drawn for one in chosen) * 2 >= count


@pytest.mark.parametrize("chapters", ["1-23", "1-5", "6-10", "11-15", "16-23", "20-23"])
def test_kinds_are_mixed(chapters):
    for seed in range(12):
        kinds = Counter(one.kind for one in choose(selected(chapters), seed, minutes=90))
        total = kinds.total()
        assert 0.4 <= kinds["calculation"] / total <= 0.6, kinds
        assert min(kinds[kind] for kind in ("derivation", "bug", "words", "what if")) >= 1, kinds
        assert max(count for kind, count in kinds.items() if kind != "calculation") <= 3, kinds
    there = {one.kind for one in selected(chapters)}
    for seed in range(24):
        assert {one.kind for one in choose(selected(chapters), seed, minutes=60)} == there, seed


def test_kinds_and_levels_can_be_asked_for():
    pool = selected("3-8", kinds="bug, what if", levels="2-3")
    assert {one.kind for one in choose(pool, 1, count=5)} == {"bug", "what if"}
    assert {one.level for one in pool} <= {2, 3}
    said = lmbook("list", "--chapters", "7", "--kinds", "bug", "--objectives").output
    assert "lstm_bug" in said
    assert "7.3 write the equations of LSTM and GRU" in said


def test_minutes_add_up_and_named_questions_are_in():
    for seed in range(5):
        chosen = choose(selected("1-23"), seed, minutes=90, named=("collapse", "beam_of_two"))
        assert sum(one.minutes for one in chosen) == 90
        assert {by_name("collapse"), by_name("beam_of_two")} <= set(chosen)
        assert max(Counter(one.chapter for one in chosen).values()) == 1
    both = choose(selected("6,7"), 0, count=8, minutes=52)
    assert (len(both), sum(one.minutes for one in both)) == (8, 52)


def test_everything_follows_from_the_seed_and_versions_share_no_numbers():
    first, again, other = (choose(selected("8-10"), seed, count=9) for seed in (4, 4, 5))
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
        (lambda: chapters_of("0-3"), "chapters 1 to 23, none for 0"),
        (lambda: chapters_of("18-24"), "none for 24"),
        (lambda: chapters_of("5-1"), "numbers and ranges"),
        (lambda: chapters_of("one"), "numbers and ranges"),
        (lambda: versions_of("A,A"), "different letters"),
        (lambda: versions_of("../A"), "different letters"),
        (lambda: choose(selected("1"), 0, count=99), "99 questions are asked for; there are 9"),
        (lambda: choose(selected("1"), 0, minutes=500), "9 take 59"),
        (lambda: choose(selected("1"), 0, minutes=2), "kinds and levels take 2 minutes"),
        (lambda: choose(selected("1"), 0, named=("collapse",)), "chapter 5, which is not asked for"),
        (lambda: choose(selected("1"), 0, named=("riddle",)), "There is no question riddle"),
        (lambda: selected("1", kinds="riddle"), "'riddle' is no kind of question; there are calculation"),
        (lambda: selected("1", levels="4"), "levels 1 to 3, none for 4"),
        (lambda: selected("1", kinds="shapes"), "allow more of them"),
        (
            lambda: choose(selected("5"), 0, count=1, named=("collapse", "two_paths")),
            "2 questions are named, and 1 asked for",
        ),
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
    first = lmbook(*call)
    assert first.exit_code == 0, first.output
    names = ["exam-A-solutions.html", "exam-A.html", "exam-B-solutions.html", "exam-B.html"]
    assert sorted(path.name for path in out.glob("*.html")) == names
    pages = {path.name: path.read_text("utf-8") for path in out.glob("*.html")}
    secret = (out / "secret.txt").read_text().strip()
    chosen = papers(choose(selected("5"), seed_of(secret), count=2), seed_of(secret), ["A"])[0]
    for name, page in pages.items():
        assert not re.search(r'(?:src|href)="|url\((?!data:)|@import|<script|<i>', page)
        assert ('class="solution"' in page) == ("solutions" in name)
        assert all(one.title in page for one in chosen.questions)
        assert secret not in page
    assert pages["exam-A.html"] != pages["exam-B.html"].replace("ersion B", "ersion A")
    assert (out / ".gitignore").read_text().splitlines() == ["*"]
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    refused = lmbook(*call)
    assert refused.exit_code == 1
    assert "is there already" in refused.output
    assert before == {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert lmbook(*call, "--overwrite").exit_code == 0
    assert {path.name: path.read_text("utf-8") for path in out.glob("*.html")} == pages, "the secret makes it again"
    assert lmbook(*call, "--overwrite", "--seed", "another").exit_code == 0
    assert (out / "exam-A.html").read_text("utf-8") != pages["exam-A.html"]


def test_what_cannot_be_made_leaves_no_secret_behind(tmp_path):
    assert lmbook("make", "--chapters", "1", "--minutes", 2, "--out", tmp_path / "exam").exit_code == 1
    assert not (tmp_path / "exam").exists()


def test_the_cover_has_points_aids_and_time(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "katex_style", lambda book: ".katex{}")
    call = ("--seed", "s", "--chapters", "5-9", "--minutes", 60, "--course", "LM & co", "--date", "3 May", "--out")
    said = lmbook("make", *call, tmp_path / "a", "--large", "--time", 80, "--extra-time", 25, "--aids", "None.")
    assert said.exit_code == 0, said.output
    page = (tmp_path / "a/exam-A.html").read_text("utf-8")
    row = re.search(r"Points</th>(.*?)</tr>", page)[1]
    *points, total = map(int, re.findall(r"<td>(\d+)</td>", row))
    assert sum(points) == total == int(re.search(r"(\d+) points, 60 minutes", said.output)[1])
    assert all(part in page for part in ("LM &amp; co", "3 May", "None.", "100 minutes", "font: 17pt"))


def test_all_questions_as_latex():
    paper = papers(BANK, 3, ["A"])[0]
    text, solved = (latex(paper, Sheet("Every & one"), solutions=with_them) for with_them in (False, True))
    assert text.count(r"\section{") == solved.count(r"\section{") == len(BANK)
    assert r"Every \& one" in text
    assert "Solution." not in text
    assert solved.count("Solution.") >= len(BANK)
    for source in (text, solved):
        assert source.isascii() or not set(source) - set(map(chr, range(0x250))) - set("–—“”‘’€…·•→\u2009\u2060")
        for environment in set(re.findall(r"\\begin\{(\w+\*?)\}", source)):
            assert source.count(rf"\begin{{{environment}}}") == source.count(rf"\end{{{environment}}}")
        # An empty line in an equation ends it in an error.
        assert not re.search(r"\\begin\{equation\*\}\n\n", source)


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no pdflatex")
@pytest.mark.tex
def test_latex_compiles(tmp_path):
    for name, solutions in (("paper", False), ("solutions", True)):
        (tmp_path / f"{name}.tex").write_text(latex(papers(BANK, 4, ["A"])[0], Sheet("All"), solutions), "utf-8")
        call = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
        done = subprocess.run(call, cwd=tmp_path, capture_output=True, timeout=300)
        assert done.returncode == 0, done.stdout[-2000:]


def test_the_latex_paper_has_a_cover_and_keeps_the_room_for_an_answer_with_its_question():
    paper = papers(BANK[::9], 3, ["A"])[0]
    sheet = Sheet("Exam", course="LM & co", date="3 May", aids="One page, 50% full.", extra_time=25, large=True)
    text = latex(paper, sheet, solutions=False)
    cover = text[: text.index(r"\section{")]
    assert r"\rhead{\normalsize Name" in cover, "each page asks for the name"
    assert r"\labelitemi}{$\square$}" in latex(paper, sheet, solutions=True), "a box to tick for each item"
    time = paper.minutes + math.ceil(paper.minutes / 4)
    assert all(part in cover for part in (r"LM \& co, 3 May", r"50\% full", f"{time} minutes", "Reached", "Number"))
    rooms = list(map(int, re.findall(r"\\nopagebreak\\vspace\*\{(\d+)mm\}", text)))
    assert rooms == [sheet.room(one.minutes) for one in paper.questions]
    assert rooms[0] > Sheet().room(paper.questions[0].minutes)
    assert text.count(r"\filbreak") == len(paper.questions) + 1


NONE, INLINE = (
    set(),
    {"a", "abbr", "b", "br", "cite", "code", "em", "i", "img", "q", "span", "strong", "sub", "sup", "math"},
)
BLOCK = {"p", "pre", "blockquote", "div", "ol", "ul", "hr", "table", "math", "rubricBlock", "extendedTextInteraction"}
# What may stand in an element of an item's body, by the specification of QTI 2.1; text only where INLINE may.
CONTENT = {"itemBody": BLOCK, "rubricBlock": BLOCK - {"rubricBlock"}, "blockquote": BLOCK, "table": {"thead", "tbody"}}
CONTENT |= dict.fromkeys(("p", "pre", "em", "strong", "code", "span", "sub", "sup"), INLINE)
CONTENT |= dict.fromkeys(("div", "li", "td", "th"), INLINE | BLOCK)
CONTENT |= {"ul": {"li"}, "ol": {"li"}, "thead": {"tr"}, "tbody": {"tr"}, "tr": {"td", "th"}}
CONTENT |= {"extendedTextInteraction": NONE, "br": NONE}
ATTRIBUTES = {"rubricBlock": {"view"}, "extendedTextInteraction": {"responseIdentifier", "expectedLines"}}
ATTRIBUTES |= {"td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan", "scope"}}


def strange(element, item: str) -> list[str]:
    """What stands in an element against CONTENT and ATTRIBUTES."""
    name, found = element.tag.removeprefix(item), []
    if element.tag.startswith("{http://www.w3.org/1998/Math/MathML}"):
        return []
    found += [f"{name} {key}" for key in set(element.keys()) - ATTRIBUTES.get(name, NONE) - {"class", "id"}]
    allowed = CONTENT[name]
    words = "".join([element.text or "", *(child.tail or "" for child in element)])
    if words.strip() and not allowed & {"em"}:
        found.append(f"{name}: {words.strip()[:40]}")
    for child in element:
        plain = child.tag.rpartition("}")[2]
        found += [f"{plain} in {name}"] if plain not in allowed else strange(child, item)
    return found


def test_a_qti_item_is_as_the_specification_has_it():
    paper = papers(BANK, 5, ["A"])[0]
    packed = zipfile.ZipFile(io.BytesIO(qti(paper, Sheet("All", extra_time=10), solutions=True)))
    item = "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
    names = [one.name for one in paper.questions]
    assert all(re.fullmatch(r"[A-Za-z_][\w.-]*", name) for name in names)
    for name in names:
        tree = ElementTree.fromstring(packed.read(f"{name}.xml"))
        assert [one.tag.removeprefix(item) for one in tree] == [
            "responseDeclaration", "outcomeDeclaration", "outcomeDeclaration", "itemBody"]  # fmt: skip
        declared = {one.get("identifier"): one for one in tree.iter(f"{item}responseDeclaration")}
        (asked,) = tree.iter(f"{item}extendedTextInteraction")
        answer = declared[asked.get("responseIdentifier")]
        assert (answer.get("cardinality"), answer.get("baseType")) == ("single", "string")
        assert len(declared) == 1
        assert strange(tree.find(f"{item}itemBody"), item) == [], name
    test = ElementTree.fromstring(packed.read("test.xml"))
    (limits,) = test.iter(f"{item}timeLimits")
    assert int(limits.get("maxTime")) == 60 * math.ceil(Fraction(11, 10) * paper.minutes)
    (told,) = test.iter(f"{item}rubricBlock")
    assert told.get("view") == "candidate"
    assert strange(told, item) == []
    assert [one.get("identifier").removeprefix("ref-") for one in test.iter(f"{item}assessmentItemRef")] == names


def test_a_qti_package_names_all_that_it_holds():
    paper = papers(BANK[::3], 3, ["A"])[0]
    sheet = Sheet("A < B & C")
    packed, without = (zipfile.ZipFile(io.BytesIO(qti(paper, sheet, solutions))) for solutions in (True, False))
    assert packed.namelist() == without.namelist()
    assert not any(b"scorer" in without.read(name) for name in without.namelist()), "some systems ignore that mark"
    trees = {name: ElementTree.fromstring(packed.read(name)) for name in packed.namelist()}
    content, item = "{http://www.imsglobal.org/xsd/imscp_v1p1}", "{http://www.imsglobal.org/xsd/imsqti_v2p1}"
    resources = {one.get("identifier"): one for one in trees["imsmanifest.xml"].iter(f"{content}resource")}
    assert {one.get("href") for one in resources.values()} == set(trees) - {"imsmanifest.xml"}
    needed = {one.get("identifierref") for one in resources["test"].iter(f"{content}dependency")}
    assert needed == set(resources) - {"test"}
    assert trees["test.xml"].get("title") == "A < B & C, version A"
    assert [one.get("href") for one in trees["test.xml"].iter(f"{item}assessmentItemRef")] == [
        f"{one.name}.xml" for one in paper.questions
    ]
    for one, was_asked in zip(paper.questions, paper.asked, strict=True):
        tree = trees[f"{one.name}.xml"]
        body = tree.find(f"{item}itemBody")
        (block,) = body.iter(f"{item}rubricBlock")
        assert block.get("view") == "scorer"
        body.remove(block)
        for_students = ElementTree.fromstring(without.read(f"{one.name}.xml")).find(f"{item}itemBody")
        assert " ".join("".join(for_students.itertext()).split()) == " ".join("".join(body.itertext()).split())
        shown = "".join(body.itertext())
        assert "$" not in shown
        assert not list(tree.iter("{http://www.w3.org/1998/Math/MathML}annotation"))
        assert len(list(block.iter(f"{item}li"))) >= len(rubric(was_asked.scheme, one.points))
        score = {found.get("identifier"): found for found in tree.iter(f"{item}outcomeDeclaration")}["SCORE"]
        assert float(score.get("normalMaximum")) == one.points
        assert len(list(body.iter(f"{item}extendedTextInteraction"))) == 1


def test_the_list_names_every_question():
    said = lmbook("list").output
    assert [line.split()[1 + ("*" in line.split()[1])] for line in said.splitlines()] == [one.name for one in BANK]
