"""FixedVector: the page shows the record's numbers for every length and size, by mouse and by keyboard."""

import random

import numpy as np
import pytest
from seen import rightmost, table

from lmbook.figures import FixedVector, modules
from lmbook.figures.bottleneck import typed, written_back
from lmbook.lab import checkpoints
from lmbook.lab.recipes.fixed_vector_recall import letters as as_letters
from lmbook.lab.recipes.fixed_vector_recall import writes
from lmbook.lab.run import records

LETTERS = "PKKOJMNDAEENOAHNCMBHNEFELEPHHIJIIPMMLJFP"
SIZES = (32, 64, 512)


def record(letters=LETTERS, sizes=SIZES):
    """A record of the form that `recall` writes: the last symbols are right, as many as fit."""
    rng = random.Random(0)
    runs = {}
    for m in sizes:
        room = m // 8
        lengths = range(1, len(letters) + 1)
        lost = {n: "".join(rng.choice("ABCDEFGHIJ") for _ in range(max(0, n - room))) for n in lengths}
        runs[str(m)] = {
            "recall": [round(min(1, room / n), 4) for n in lengths],
            "bits": [round(4.0 * min(n, room) - 0.1 * n, 2) for n in lengths],
            "written": [lost[n] + letters[len(lost[n]) : n] for n in lengths],
        }
    return {"scores": {"source": letters, "longest in training": 20, "symbols": 16, "backwards": runs}}


def says(page):
    """What is said of the source, and below it of what was left out."""
    return " ".join(page.locator(".lm-says, .lmv-note").all_inner_texts())


def sliders(page):
    return [page.get_by_role("slider", name=name) for name in ("Source length N", "State size m")]


# --- in Python ------------------------------------------------------------------------------------------------------


def test_it_takes_its_numbers_from_the_record():
    run = record()
    figure = FixedVector.from_record(run, length=15, size=64)
    assert figure.sizes == list(SIZES)
    kept = run["scores"]["backwards"]["64"]
    assert figure.chosen() == {
        "recall": kept["recall"][14],
        "bits": kept["bits"][14],
        "read": LETTERS[:15],
        "written": kept["written"][14],
        "right": sum(a == b for a, b in zip(LETTERS, kept["written"][14], strict=False)),
    }
    assert f"{kept['recall'][14]:.0%} of the symbols" in figure.alt
    assert kept["written"][14] in figure.fallback()


def test_the_recorded_run_fits():
    for run in records("recall"):
        for order in ("backwards", "forwards"):
            html = FixedVector.from_record(run, order).html()
            assert len(html) < 60_000
            assert html == FixedVector.from_record(run, order).html()


@pytest.mark.parametrize(
    ("state", "message"),
    [({"length": 0}, "length is 0"), ({"length": 41}, "length is 41"), ({"size": 100}, "size is 100")],
)
def test_what_was_not_measured_is_refused(state, message):
    with pytest.raises(ValueError, match=message):
        FixedVector.from_record(record(), **state)


def test_a_record_with_missing_lengths_is_refused():
    broken = record()
    broken["scores"]["backwards"]["64"]["bits"].pop()
    with pytest.raises(ValueError, match="recall, bits and written for 1 to 40"):
        FixedVector.from_record(broken)
    broken = record()
    broken["scores"]["backwards"]["64"]["written"][6] += "A"
    with pytest.raises(ValueError, match="N letters"):
        FixedVector.from_record(broken)


# --- on the page ----------------------------------------------------------------------------------------------------


def test_every_length_and_size_shows_the_numbers_of_python(show):
    figure = FixedVector.from_record(record())
    page = show(figure)
    length, size = sliders(page)
    for m in SIZES:
        size.fill(str(SIZES.index(m)))
        for n in (1, 4, 20, 21, 40):
            length.fill(str(n))
            figure.length, figure.size = n, m
            now = figure.chosen()
            assert f"{m} numbers, {n} symbol" in says(page)
            assert f"{now['right']} of {n} are right" in says(page)
            assert ("No model was trained" in says(page)) == (n > 20)
            texts = page.locator(".lmv-cell span").all_inner_texts()
            assert "".join(texts[::2]) == now["read"]
            assert "".join(texts[1::2]) == now["written"]
            assert page.locator(".lmv-lost").count() == n - now["right"]
            shown = table(page)[SIZES.index(m)]
            assert shown[0] == str(m)
            assert abs(float(shown[1].split()[0]) / 100 - now["recall"]) <= 0.005
            assert abs(float(shown[2]) - max(0, now["bits"])) <= 0.5
            assert shown[3] == f"{now['right']} of {n}"


def test_keys_move_both_sliders(show):
    page = show(FixedVector.from_record(record(), length=5, size=32))
    length, size = sliders(page)
    length.press("ArrowRight")
    assert "32 numbers, 6 symbols" in says(page)
    length.press("End")
    size.press("ArrowRight")
    assert "64 numbers, 40 symbols" in says(page)
    size.press("Home")
    length.press("Home")
    assert "32 numbers, 1 symbol:" in says(page)
    assert length.get_attribute("aria-valuetext") == "1 symbol"
    assert size.get_attribute("aria-valuetext") == "32 numbers"


def test_the_mouse_drags_the_length(show):
    page = show(FixedVector.from_record(record(), length=1))
    box = sliders(page)[0].bounding_box()
    page.mouse.move(box["x"] + 3, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert "40 symbols" in says(page)


def test_the_line_of_the_chosen_size_stands_out(show):
    page = show(FixedVector.from_record(record(), size=32))
    assert page.locator(".lmv-line").count() == len(SIZES)
    assert page.locator(".lmv-now").count() == 1
    before = page.locator(".lmv-now").get_attribute("d")
    sliders(page)[1].press("End")
    assert page.locator(".lmv-now").get_attribute("d") != before


NAMES = """[...document.querySelectorAll(".lmv-line")].map((line) => {
  const box = line.ownerSVGElement.getBoundingClientRect();
  const points = line.getAttribute("d").slice(1).split("L").map((pair) => pair.split(" ").map(Number));
  const name = [...document.querySelectorAll(".lmv-clear")].find((one) => {
    const at = points.findIndex(([x]) => Math.abs(x - Number(one.getAttribute("x"))) < 0.1);
    return at >= 0 && Math.abs(Number(one.getAttribute("y")) - 4 - points[at][1]) < 0.1;
  });
  return [name?.textContent, name && name.getBoundingClientRect().top - box.top];
})"""


@pytest.mark.parametrize("width", [360, 1280])
def test_each_line_has_its_name_on_it_where_the_lines_are_apart(show, width):
    run = records("recall")[0]
    page = show(FixedVector.from_record(run), width=width)
    found = page.evaluate(NAMES)
    assert {name for name, _ in found} == set(run["scores"]["backwards"])
    heights = sorted(top for _, top in found)
    assert min(np.diff(heights)) > 12


def test_recall_by_place_is_drawn_as_measured(show):
    run = records("recall")[0]
    figure = FixedVector.from_record(run, size=128)
    measured = run["scores"]["backwards"]["128"]["places"]
    assert [str(N) for N, _ in figure.places] == list(measured)
    page = show(figure)
    drawings = page.locator(".lmv-places svg")
    for drawing, (N, shares) in zip(drawings.all(), measured.items(), strict=True):
        heights = drawing.locator("rect").evaluate_all("(all) => all.map((one) => Number(one.getAttribute('height')))")
        assert heights == pytest.approx([44 * share for share in shares])
        assert len(heights) == int(N)


def test_a_bet_on_the_largest_size_is_taken(show):
    run = records("recall")[0]
    page = show(FixedVector.from_record(run), bets=True)
    assert page.locator(".lmv-now").is_visible()
    assert not page.locator(".lmv-line:not(.lmv-now)").first.is_visible()
    page.locator(".lm-wager input").fill("34")
    page.get_by_role("button", name="Bet", exact=True).click()
    recall = run["scores"]["backwards"]["512"]["recall"]
    longest = max(n for n, share in enumerate(recall, 1) if share >= 0.95)
    words = page.locator(".lm-wager").inner_text()
    assert f"up to {longest} letters; you said 34, {34 - longest} too many." in words
    assert page.locator(".lmv-line:not(.lmv-now)").first.is_visible()


def test_a_random_source_takes_a_size_that_the_page_can_read(show):
    page = show(FixedVector.from_record(record(), size=512))
    page.get_by_role("button", name="A new random source").click()
    page.locator(".lm-own-text[data-state=done]").wait_for()
    same_as_torch(page, 64, line(page).input_value()[: len(shown(page)[0][0])])


# --- a source of the reader's -----------------------------------------------------------------------------------------


def drawn(N, seed=0):
    return "".join(random.Random(seed).choices("ABCDEFGHIJKLMNOP", k=N))


def by_torch(size, read):
    """What the shipped model writes, and how many letters of it are right."""
    model, _, _ = checkpoints.load(f"recall-{size}")
    source = np.array([["ABCDEFGHIJKLMNOP".index(letter) + 5 for letter in read]])
    written = as_letters(writes(model, source, backwards=True)[0])
    return written, sum(a == b for a, b in zip(read, written, strict=True))


def line(page):
    return page.get_by_label("Your own letters, A to P")


def type_letters(page, text):
    line(page).fill(text)
    page.get_by_role("button", name="Write it back").click()
    page.locator(".lm-own-text[data-state=done], .lm-own-text[data-state=failed]").wait_for()


def shown(page):
    """The letters read and written, and which are marked as lost."""
    cells = page.locator(".lmv-cell").evaluate_all(
        "(cells) => cells.map((c) => [c.children[0].textContent, c.children[1].textContent, c.matches('.lmv-lost')])"
    )
    return tuple("".join(part) for part in list(zip(*cells, strict=True))[:2]), [lost for *_, lost in cells]


def same_as_torch(page, size, read):
    written, right = by_torch(size, read)
    assert shown(page) == ((read, written), [a != b for a, b in zip(read, written, strict=True)])
    N = len(read)
    assert f"{size} numbers, your {N} symbol{'s' * (N > 1)}: {right} of {N} are right" in says(page)
    assert f"Your source, {right} of {N} right" in page.locator("figure").inner_text()


def test_typed_text_has_letters_other_characters_and_too_many():
    assert typed("aB pQ9é9😀p", 16, 40) == ("ABPP", [" ", "Q", "9", "é", "😀"], 0)
    assert typed("abcabc", 2, 3) == ("ABA", ["c"], 1)
    assert typed("", 16, 40) == ("", [], 0)


def test_an_own_source_is_written_back_by_the_shipped_model():
    figure = FixedVector.from_record(record(), own="x " + drawn(14).lower(), size=64)
    written, right = by_torch(64, drawn(14))
    now = figure.chosen()
    assert (now["read"], now["written"], now["right"]) == (drawn(14), written, right)
    assert figure.known == {drawn(14): [written_back(m, drawn(14)) for m in (32, 64)]}
    assert written in figure.alt
    assert written in figure.fallback()
    figure.read = 5
    assert figure.chosen()["read"] == drawn(5)
    assert figure.chosen()["recall"] == figure.recall[1][4]
    figure.size = 512
    assert figure.chosen()["read"] == LETTERS[:5], "no weights of this size ship"
    with pytest.raises(ValueError, match="read is 41"):
        figure.read = 41
    forwards = {"scores": {**record()["scores"], "forwards": record()["scores"]["backwards"]}}
    assert FixedVector.from_record(forwards, "forwards", own="ABC").live == [], "the shipped models write backwards"


def test_what_is_typed_is_written_back_as_by_torch(show):
    page = show(FixedVector.from_record(record(), size=64))
    length, size = sliders(page)
    for seed, N in ((1, 1), (2, 11), (3, 26), (4, 40)):
        read = drawn(N, seed)
        type_letters(page, read.lower() if seed % 2 else read)
        for number in (0, 1):
            size.fill(str(number))
            same_as_torch(page, SIZES[number], read)
        assert length.get_attribute("aria-valuetext") == f"{N} of your {N} symbol{'s' * (N > 1)}"
        assert ("No model was trained" in says(page)) == (N > 20)
        assert [row[3] for row in table(page)] == [f"{by_torch(m, read)[1]} of {N}" for m in (32, 64)] + [
            "not in the page"
        ]
    recall = record()["scores"]["backwards"]["64"]["recall"][39]
    assert f"on average {100 * recall:.0f} % come back." in says(page)
    assert page.locator(".lmv-own").count() == 1


def test_a_beginning_of_the_readers_source_is_read_when_the_length_is_dragged(show):
    page, read = show(FixedVector.from_record(record(), size=64)), drawn(30, 5)
    type_letters(page, read)
    length, _ = sliders(page)
    for N in (29, 7):
        length.fill(str(N))
        page.locator(f".lmv-cell:nth-child({N}):last-child").wait_for()
        same_as_torch(page, 64, read[:N])
    length.press("ArrowRight")
    page.locator(".lmv-cell:nth-child(8):last-child").wait_for()
    same_as_torch(page, 64, read[:8])
    assert line(page).input_value() == read


def test_where_no_weights_ship_the_recorded_source_is_shown_and_why(show):
    page = show(FixedVector.from_record(record(), size=64))
    type_letters(page, drawn(9))
    sliders(page)[1].fill("2")
    (read, written), _ = shown(page)
    assert (read, written) == (LETTERS[:9], record()["scores"]["backwards"]["512"]["written"][8])
    assert "This is the recorded source: for 512 numbers the page has no weights, only for 32 and 64" in says(page)
    assert "One recorded source" in page.locator("figure").inner_text()
    assert page.locator(".lmv-own").count() == 0


def test_a_random_source_is_drawn_and_read(show):
    page = show(FixedVector.from_record(record(), size=64, length=13))
    seen = set()
    for _ in range(3):
        page.get_by_role("button", name="A new random source").click()
        page.wait_for_function(
            "(seen) => { const line = document.querySelector('.lm-own-text input').value;"
            " const state = document.querySelector('.lm-own-text').dataset.state;"
            " return state === 'done' && line.length === 40 && !seen.includes(line); }",
            arg=list(seen),
        )
        seen.add(line(page).input_value())
        same_as_torch(page, 64, line(page).input_value()[:13])
    assert len(seen) == 3
    drawn_letters = set("".join(seen))  # of 120: one of the 16 is missing in one run of 150
    assert drawn_letters <= set("ABCDEFGHIJKLMNOP")
    assert len(drawn_letters) > 10


def test_characters_that_are_no_letters_of_the_models_are_named_and_too_many_are_said(show):
    page = show(FixedVector.from_record(record(), size=64))
    type_letters(page, "ab-c Dz ÄA<b>z")
    same_as_torch(page, 64, "ABCDAB")
    names = "“-”, spaces, “z”, “Ä”, “<” and “>”"
    assert f"The models know only the letters A to P; left out: {names}." in says(page)
    read = drawn(45, 6)
    type_letters(page, read)
    same_as_torch(page, 64, read[:40])
    assert "Only the first 40 letters are read." in says(page)
    type_letters(page, "xyz 123")
    assert "there is none in what was typed; this is the recorded source" in says(page)
    assert shown(page)[0][0] == LETTERS[:12]


def test_an_empty_line_brings_the_recorded_source_back(show):
    figure = FixedVector.from_record(record(), size=64, length=15)
    page = show(figure)
    type_letters(page, "  ")
    assert shown(page)[0] == (LETTERS[:15], figure.chosen()["written"])
    assert "fetches 0.1 MB once" in page.locator(".lm-own-text").inner_text()
    sliders(page)[0].press("ArrowLeft")
    assert page.asked == [], "nothing is fetched before it is needed"
    type_letters(page, drawn(4))
    same_as_torch(page, 64, drawn(4))
    assert any("recall-64" in url for url in page.asked)
    line(page).fill("")
    page.locator(".lmv-cell:nth-child(14):last-child").wait_for()
    assert "64 numbers, 14 symbols" in says(page)


def test_where_the_weights_are_missing_or_cut_a_sentence_says_so_and_the_recorded_source_stays(show):
    figure = FixedVector.from_record(record(), size=64, length=15)
    page = show(figure, files=modules())
    page.expected = "404"
    type_letters(page, drawn(8))
    assert "That could not be done: the server answered 404." in page.locator(".lm-own-text").inner_text()
    assert shown(page)[0] == (LETTERS[:15], figure.chosen()["written"])
    page.evaluate("location.hash = '#figure=bottleneck&own=ABBA'")
    page.wait_for_function("document.querySelector('.lm-own-text input').value === 'ABBA'")
    page.locator(".lm-own-text[data-state=failed]").wait_for()
    sliders(page)[0].press("ArrowRight")
    assert "64 numbers, 16 symbols" in says(page)
    assert shown(page)[0][0] == LETTERS[:16]

    page = show(figure)
    cut = lambda route: route.fulfill(body=checkpoints.TRAINED.joinpath("recall-64.safetensors").read_bytes()[:-9])  # noqa: E731
    page.route("**/recall-64*.safetensors", cut)
    type_letters(page, drawn(8))
    assert "That could not be done: " in page.locator(".lm-own-text").inner_text()
    assert "cut, or is no checkpoint" in page.locator(".lm-own-text").inner_text()
    assert shown(page)[0] == (LETTERS[:15], figure.chosen()["written"])
    page.unroute("**/recall-64*.safetensors")
    page.get_by_role("button", name="Write it back").click()  # once more, and now the file comes
    page.locator(".lm-own-text[data-state=done]").wait_for()
    same_as_torch(page, 64, drawn(8))


def test_the_address_sets_the_readers_source(show):
    page = show(FixedVector.from_record(record(), size=32))
    page.evaluate("location.hash = '#figure=bottleneck&own=aabbaabbaabb&size=64&read=10'")
    page.locator(".lmv-own").wait_for()
    same_as_torch(page, 64, "AABBAABBAA")
    assert line(page).input_value() == "aabbaabbaabb"
    page.evaluate("location.hash = '#figure=bottleneck&own=PONMLKJ&read=0'")
    page.locator(".lmv-cell:nth-child(7):last-child").wait_for()
    same_as_torch(page, 64, "PONMLKJ")


def test_without_a_worker_the_page_reads_it_itself(show):
    page = show("<script>delete window.Worker;</script>", FixedVector.from_record(record(), size=64))
    type_letters(page, drawn(17, 8))
    same_as_torch(page, 64, drawn(17, 8))


def test_the_readers_source_by_keyboard_at_360_pixels(show, axe_in_every_view):
    page = show(FixedVector.from_record(record(), size=64), width=360)
    line(page).focus()
    page.keyboard.type(drawn(40, 9))
    page.keyboard.press("Enter")
    page.locator(".lm-own-text[data-state=done]").wait_for()
    same_as_torch(page, 64, drawn(40, 9))
    stops = []
    for _ in range(3):
        page.keyboard.press("Tab")
        stops.append(page.evaluate("document.activeElement.textContent"))
    assert stops == ["Write it back", "A new random source", "The numbers as a table"]
    page.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert rightmost(page, ".lmv-cell, .lm-chart svg, .lm-own-text, .lm-own-text *") <= 355
    assert axe_in_every_view(page, wide=360) == []


def test_a_comparison_with_torch_can_fail(show):
    """A figure that says it knows what comes back, but does not: seen."""
    figure = FixedVector.from_record(record(), size=64, own=drawn(10))
    right = show(figure)
    same_as_torch(right, 64, drawn(10))
    figure.known = {drawn(10): [text[::-1] for text in figure.known[drawn(10)]]}
    with pytest.raises(AssertionError):
        same_as_torch(show(figure), 64, drawn(10))
