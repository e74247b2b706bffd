"""Trainer: what is trained in the page is what was recorded, on the reader's text, and what goes wrong is said."""

import re
import string
from copy import deepcopy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from seen import cells_of
from test_autograd_mjs import MODELS
from test_kernels import of_lesson
from traitlets import TraitError

from lmbook import data
from lmbook.figures import Trainer, bundle
from lmbook.figures.stills import LEFT, RIGHT, TALL, TOP
from lmbook.figures.trainer import LESSONS, PLACE, stored
from lmbook.figures.trainer.bets import bet, crossing
from lmbook.figures.trainer.recorded import early, marks
from lmbook.gpt import GPT, gelu_tanh
from lmbook.lab import checkpoints
from lmbook.lab.recipes import given_names
from lmbook.lab.schedules import warmup_cosine
from lmbook.text import CharTokenizer, Vocabulary


def short(lesson, steps, every, **changed):
    """A figure whose trainings end soon."""
    figure = Trainer(lesson, seed=0)  # as the record
    ways = [{**way, "steps": steps, "every": every} for way in figure.lesson["ways"]]
    ways = [{**way, "warmup": steps // 20} if "warmup" in way else way for way in ways]
    figure.lesson = {**figure.lesson, "ways": ways} | changed
    return figure


def says(figure):
    return figure.locator(".lm-says").inner_text()


def press(figure, name):
    figure.get_by_role("button", name=name, exact=True).click()


def data_of(figure, label):
    """Chooses a set of data, of two by a button, of more in a menu."""
    if figure.locator("select", has_text=label).count():
        figure.get_by_label("Data").select_option(label=label)
    else:
        figure.get_by_label(label).check()


def finished(figure):
    """Waits until the button offers to go on, or to begin again where the training has failed."""
    figure.locator(".lm-main:not(:text-is('Pause'))").wait_for()


def rows(figure):
    table = figure.locator("details:has(> summary:text-is('The numbers as a table'))")
    table.evaluate("(node) => { node.open = true; }")
    cells = cells_of(table)
    return [[float(cell.replace(",", "")) if cell else None for cell in row] for row in cells]


# --- in Python ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LESSONS)
def test_the_first_view_is_the_recorded_training(name):
    figure = Trainer(name)
    for way, record in zip(LESSONS[name]["ways"], stored()[name], strict=True):
        if way["text"] == "own":
            assert record is None
            continue
        assert record["seconds"] < 120  # of one core
        assert [run["label"] for run in record["runs"]] == [run["label"] for run in way["runs"]]
        for run in record["runs"]:
            assert [point[0] for point in run["points"]] == list(range(0, way["steps"] + 1, way["every"]))
            assert run["points"][-1][2] < 0.85 * run["points"][0][2]
    last = stored()[name][0]["runs"][-1]
    assert f"{last['points'][-1][2]:.2f} ({last['label']})" in figure.alt
    several = len(LESSONS[name]["ways"][0]["runs"]) > 1
    label = last["label"] if several else "held out"
    assert f">{label} {last['points'][-1][2]:.2f}<" in figure.fallback()
    assert (">held-out loss, nats<" in figure.fallback()) == several
    assert PLACE.stat().st_size < 100_000


@pytest.mark.parametrize("name", LESSONS)
def test_the_still_has_axes_and_nothing_outside_them(name):
    drawn = Trainer(name).fallback()
    curves = re.findall(r'<polyline points="([^"]+)"[^>]* stroke-dasharray="([^"]+)"', drawn)
    dots = [tuple(map(float, dot.split(","))) for points, _ in curves for dot in points.split()]
    assert all(LEFT <= x <= RIGHT and TOP <= y <= TOP + TALL for x, y in dots)
    assert len({dashes for _, dashes in curves}) == len(curves) == 2
    ticks = [float(tick) for tick in re.findall(r'text-anchor="end">([\d.]+)</text>', drawn)]
    assert ticks == sorted(ticks)
    assert 3 <= len(ticks) <= 5
    assert f">{LESSONS[name]['ways'][0]['steps']:,}</text>" in drawn
    assert all(f">{label} {value:.2f}</text>" in drawn for value, label in stored()[name][0]["marks"])


@pytest.mark.parametrize("name", LESSONS)
def test_labels_of_the_still_stand_apart_in_the_order_of_their_lines(name):
    drawn = Trainer(name).fallback()
    ends = [float(points.split(",")[-1]) for points in re.findall(r'<polyline points="([^"]+)"', drawn)]
    labels = [float(height) for height in re.findall(r'<text class="lm-end" x="\d+" y="([^"]+)"', drawn)]
    (first, above), (second, below) = sorted(zip(ends, labels, strict=True))
    assert below - above >= 14
    assert max(abs(above - first), abs(below - second)) <= 18


def of_five_seeds(lesson, which):
    """Of one network each seed's held-out losses, or its right answers at the end."""
    record, [run] = stored()[lesson][0], stored()[lesson][0]["runs"]
    if which == "right":
        found = [run["right"], *record["rights"]]
    else:
        found = [[valid for *_, valid in run["points"]], *record["seeds"][0]]
    assert len(found) == 5
    return found


def test_what_the_pages_claim_is_in_the_records():
    plain, lstm = stored()["gap"][0]["runs"]
    assert lstm["points"][-1][2] < 0.01 < 0.5 < plain["points"][-1][2]
    vector, attention = stored()["race"][0]["runs"]
    assert attention["points"][-1][2] < vector["points"][-1][2] / 3
    assert max(share for run in (vector, attention) for length, share in run["right"] if length == 16) < 0.5
    for right in of_five_seeds("translation", "right"):
        shares = {length: share for length, share, *_ in right}
        assert min(shares.values()) > 0.5
        assert min(shares, key=shares.get) == max(shares)
    [translator] = stored()["translation"][0]["runs"]
    [sample] = translator["samples"]
    assert sample["text"] != sample["wanted"]
    assert len(sample["source"].split()) == 8
    for right in of_five_seeds("blanks", "right"):
        assert min(kind for _, kind, *_ in right) > 0.9  # the kind of word is known
        words = {kind: word for kind, _, word, _ in right}
        assert (
            max(words[kind] for kind in ("nouns, singular", "verbs, singular", "adjectives")) < 0.25
        )  # and seldom which it is
        assert {kind: share for kind, share, *_ in right}["adjectives"] == 1
        assert min(many for *_, many in right) >= 20
    [bert] = stored()["blanks"][0]["runs"]
    assert bert["points"][-1][2] > 1.5  # one of ten adjectives alone leaves ln 10
    assert [one["text"] == one["wanted"] for one in bert["samples"]] == [False, False, True]
    for valid in of_five_seeds("names", "seeds"):
        assert valid.index(min(valid)) < 0.75 * len(valid)
        assert valid[-1] > min(valid) + 0.01
    level = {lesson: stored()[lesson][0]["marks"][0][0] for lesson in ("text", "gpt")}
    assert all(valid[-1] < level["text"] for valid in of_five_seeds("text", "seeds"))
    assert all(level["gpt"] < valid[-1] < level["gpt"] + 0.2 for valid in of_five_seeds("gpt", "seeds"))
    for lesson in ("gap", "race"):
        [record] = stored()[lesson]
        ends = [[valid[-1] for valid in seeds] for seeds in record["seeds"]]
        assert [len(seeds) for seeds in ends] == [4, 4]
        assert max(ends[1]) < min(ends[0]), "in every seed gates, and looking back, end lower"


@pytest.mark.parametrize("name", LESSONS)
def test_what_is_bet_on_is_in_the_record(name):
    one, record = bet(name), stored()[name][0]
    run = record["runs"][one["hides"][0][0] if one["hides"] else 0]
    assert one["pin"]["min"] <= one["truth"] <= one["pin"]["max"]
    assert one["truth"] != one["pin"]["value"]
    if one["on"] == "nats":
        assert one["truth"] == run["points"][-1][2]
    elif one["on"] == "step":
        steps, _, losses = zip(*run["points"], strict=True)
        if name in ("gap", "gpt"):  # the last of five seeds
            seeds = [losses, *record["seeds"][one["hides"][0][0]]]
            losses = max(seeds, key=lambda seed: max(k for k, loss in enumerate(seed) if loss > one["level"]))
        assert np.interp(one["truth"], steps, losses) == pytest.approx(one["level"], abs=0.1)
        assert all(loss <= one["level"] for step, loss in zip(steps, losses, strict=True) if step > one["truth"] + 5)
    else:
        assert one["truth"] in {row[0]: row for row in run["right"]}[one["row"]]


def test_what_was_written_stands_in_four_stages(show):
    """The first two, that in the middle and the last of what was written, recorded and here."""
    records = [one for kept in stored().values() for one in kept if one]
    written = [run["written"] for record in records for run in record["runs"] if "written" in run]
    assert len(written) == 5
    for stages in written:
        steps, texts = zip(*stages, strict=True)
        assert len(set(steps)) == len(set(map(str, texts))) == 4
        assert all(text for text in texts)
    live, recorded = show(short("names", 20, 1), Trainer("names")).locator("figure").all()
    stages = lambda figure: figure.locator(".lmt-stages > :nth-child(odd)").all_inner_texts()  # noqa: E731
    assert stages(recorded) == [f"step {step:,}" for step, _ in stored()["names"][0]["runs"][0]["written"]]
    press(live, "Train")
    finished(live)
    told = [{"step": step, "samples": [step] * (step < 3 or step % 5 == 0)} for step in range(21)]
    assert stages(live) == [f"step {one['step']}" for one in early(told)] == ["step 0", "step 1", "step 5", "step 20"]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="there are names, text"):
        Trainer("chess")
    with pytest.raises((ValueError, TraitError), match="rate"):
        Trainer("gap", rate=2.0)


def test_every_network_that_is_trained_is_compared_with_torch():
    used = [run["about"]["network"] for lesson in LESSONS.values() for way in lesson["ways"] for run in way["runs"]]
    kind = lambda about: tuple(map(about.get, ("class", "cell", "attention", "positions")))  # noqa: E731
    assert set(map(kind, used)) <= {kind(about) for about, *_ in MODELS.values()}


def test_the_invented_names_are_the_gpts_own_and_nobodys(real_corpora):
    names = data.invented_names()
    assert len(set(names)) == len(names) == 6000
    assert not set(names) & {name for part in ("train", "valid", "test") for name in data.load("names")[part]}
    assert given_names.invented(100) == names[:100]


# --- on the page ----------------------------------------------------------------------------------------------------


def test_two_networks_are_trained_as_they_were_recorded(show):
    """The same numbers, step by step: so the page, Node and every machine train the same."""
    figure, longer = show(short("gap", 80, 80), short("gap", 4000, 40)).locator("figure").all()
    recorded = [run["points"] for run in stored()["gap"][0]["runs"]]
    press(figure, "Train")
    finished(figure)
    (first, second) = rows(figure)
    assert first == [0, None, pytest.approx(recorded[0][0][2]), None, pytest.approx(recorded[1][0][2])]
    assert second[1:] == pytest.approx(recorded[0][1][1:] + recorded[1][1][1:], abs=0.002)
    assert re.match(r"After 80 steps: plain RNN [12].\d+ nats.*, LSTM [12].\d+ nats", says(figure))
    press(longer, "Train")
    longer.get_by_text(re.compile(r"^\d+ steps of 4,000")).wait_for()
    press(longer, "Pause")
    longer.locator(".lm-says:has-text('Paused after')").wait_for()
    assert (
        40
        <= int(re.fullmatch(r"Paused after ([\d,]+) steps of each network\.", says(longer))[1].replace(",", ""))
        < 4000
    )
    press(longer, "Reset")
    assert longer.locator("button:text-is('Train')").count() == 1
    assert len(rows(longer)) == len(recorded[0])


def test_the_readers_own_text_is_learned_and_one_that_does_not_do_is_refused(show):
    page = show(short("gpt", 4, 2), short("names", 4, 2))
    gpt, names = page.locator("figure").all()
    data_of(gpt, "your own text")
    gpt.locator("textarea").fill("zu kurz")
    press(gpt, "Train")
    finished(gpt)
    assert says(gpt) == "Not trained: the text has 7 characters; at least 800 are needed."
    area = gpt.locator("textarea")
    assert area.get_attribute("aria-invalid") == "true"
    assert area.evaluate("(one) => document.activeElement === one")
    text = "Ψοø! " * 300
    gpt.locator("textarea").fill(text)
    press(gpt, "Train")
    finished(gpt)
    assert "fter 4 steps" in says(gpt)
    written = gpt.locator(".lmt-text").inner_text()
    assert len(written) > 50
    assert set(written) <= set(text)
    data_of(names, "your own list")
    names.locator("textarea").fill("\n".join(f"q{a}{b}" for a in string.ascii_lowercase[:8] for b in "aeiouyqz"))
    press(names, "Train")
    finished(names)
    assert all(set(name) <= set("abcdefghiouyqz") for name in names.locator("li").all_inner_texts())


def test_no_control_moves_from_under_the_hand_where_other_data_are_chosen(show):
    page = show(short("gpt", 4, 2))
    controls = [page.locator("button:text-is('Train')"), page.get_by_label("Data"), page.get_by_label("Seed")]
    before = [control.bounding_box() for control in controls]
    for label in ("the stories, 209,000 parameters", "the book's short stories", "6,000 invented names"):
        data_of(page, label)
        assert [control.bounding_box() for control in controls] == before, label


def test_other_data_say_what_the_bet_is_on_and_a_long_text_is_asked_for(show):
    page = show(short("gpt", 4, 2))
    bet = page.locator(".lm-wager")
    words = "(node) => getComputedStyle(node, '::after').content"
    assert bet.evaluate(words) == "none"
    data_of(page, "a long text of yours, 802,000 parameters")
    assert bet.evaluate(words).replace('" "', "").replace("'", '"').startswith('"The bet is on ')
    assert bet.get_attribute("data-of") == "6,000 invented names"
    page.locator("textarea").fill("a" * 3000)
    press(page, "Train")
    finished(page)
    assert says(page) == "Not trained: the text has 3,000 characters; at least 100,000 are needed."


def test_nothing_moves_where_one_trains_pauses_and_goes_on(show):
    page = show(short("gpt", 400, 20))
    controls = [page.get_by_label("Rate"), page.get_by_label("Seed"), page.get_by_label("Data")]
    before = [control.bounding_box() for control in controls]
    for word, then in (("Train", "Pause"), ("Pause", "Go on")):
        press(page, word)
        page.locator(f"button:text-is('{then}')").wait_for()
        assert [control.bounding_box() for control in controls] == before, then


CROSSED = """(lines, [from, to, low]) => lines.filter((line) => {
  const long = line.getTotalLength();
  return Array.from({ length: 400 }, (_, k) => line.getPointAtLength((k * long) / 399))
    .some(({ x, y }) => x > from && x < to && y < low - 3);
}).length"""


def test_while_a_gpt_trains_its_name_is_clear_of_the_curves_and_the_bracket_waits_for_the_end(show):
    page = show(Trainer("gpt"))
    bracket = page.locator(".lmt-short")
    assert bracket.count() == 1

    def between():
        name = page.locator(".lmt-name")
        assert name.all_text_contents() == ["held out"]
        assert bracket.count() == 0
        assert "Dotted: recorded; pale: four other seeds; thin: in training." in page.locator(".lmt-now").inner_text()
        box = name.evaluate(
            "(one) => { const { x, y, width, height } = one.getBBox(); return [x, x + width, y + height]; }"
        )
        assert page.locator("path.lmt-line").evaluate_all(CROSSED, box) == 0

    for step in (80, 480):
        press(page, "Train" if step == 80 else "Go on")
        page.wait_for_function(f"document.querySelectorAll('tbody tr').length > {step // 80}")
        press(page, "Pause")
        page.locator(".lm-says:has-text('Paused after')").wait_for()
        between()
    press(page, "Go on")
    finished(page)
    assert bracket.count() == 1
    points = rows(page)
    level = bet("gpt")["level"]
    assert says(page).endswith(f" Below {level:.2f} from about step {crossing(points, level):,}.")
    press(page, "Go on")
    page.get_by_text(re.compile(r"^1,[3-9]\d\d steps of 2,400")).wait_for()
    press(page, "Pause")
    page.locator(".lm-says:has-text('Paused after')").wait_for()
    assert page.locator(".lmt-now").inner_text().startswith("Last report: 1,")
    between()


def test_where_a_training_here_crosses_the_level_of_the_bet_is_found_as_in_the_record(new_context):
    page = new_context().new_page()
    page.add_script_tag(content=bundle.without_exports(bundle.bundle("bets"))[0])
    said = lambda one, runs: page.evaluate("([one, runs]) => compared(one, runs)", [one, runs])  # noqa: E731
    for name in ("gpt", "text", "gap", "race"):
        one, runs = bet(name), stored()[name][0]["runs"]
        place = one["hides"][0][0]
        step = crossing(runs[place]["points"], one["level"])
        begins = f" {runs[place]['label']}: below" if len(runs) > 1 else " Below"
        assert said(one, runs) == f"{begins} {one['level']:.2f} from about step {step:,}."
    one = bet("gpt")
    assert said(one, [{"points": [[0, None, 3.0], [80, 2.9, 2.5]]}]) == f" Not below {one['level']:.2f} to the end."
    assert said(bet("names"), []) == ""


def test_on_paper_nothing_is_drawn_of_the_bet(show):
    page = show(Trainer("gpt"), bets=True)
    bracket = page.locator(".lmt-short").first
    page.emulate_media(media="print")
    assert bracket.evaluate("(one) => getComputedStyle(one).visibility") == "visible"
    for mark in (".lmt-begun", ".lmt-truth", ".lmt-bet"):
        assert not page.locator(mark).first.is_visible(), mark


def test_a_rate_that_is_too_high_and_a_page_out_of_sight(show):
    page = show(short("names", 400, 200, rates=[0.005, 1e30]), short("race", 300, 300))
    names, race = page.locator("figure").all()
    names.get_by_label("Rate").select_option("1e+30")
    press(names, "Train")
    finished(names)
    assert re.search(r"after \d+ steps the loss has left all bounds; choose a lower rate", says(names))
    press(race, "Train")
    page.evaluate(
        "Object.defineProperty(document, 'hidden', { value: true });"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    assert "because the page went out of sight" in says(race)
    assert race.locator("button:text-is('Go on')").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_a_worker_by_keyboard_on_a_phone(show, axe, scheme):
    page = show("<script>delete window.Worker;</script>", short("text", 4, 2), scheme=scheme, width=360)
    figure = page.locator("figure")
    figure.get_by_role("button", name="Train").focus()
    page.keyboard.press("Enter")
    finished(figure)
    assert figure.locator(".lmt-text").inner_text()
    assert [row[0] for row in rows(figure)] == [0, 2, 4]
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_an_address_may_ask_for_what_python_refuses(show):
    """mount.mjs takes any number; the figure then begins with its own."""
    figure = Trainer("gap")
    page = show(figure.html().replace('"rate":0.01,"seed":5', '"rate":-0.005,"seed":-7'))
    assert page.get_by_label("Rate").evaluate("(list) => list.selectedOptions[0].text") == "0.01"
    assert page.get_by_label("Seed").input_value() == "0"


TEXT = "Ψοø! " * 300
ENGINE = bundle.source("program-engine").removeprefix("export ")


def own_text(figure, text):
    data_of(figure, "your own text")
    figure.locator("textarea").fill(text)
    press(figure, "Train")
    finished(figure)


def held_out_loss(model, tokenizer, text):
    """What the page reports: windows of the last tenth, evenly apart, as many as there is room for, at most 24."""
    ids = torch.tensor(tokenizer.encode(text[-(-len(text) * 9 // 10) :]))
    T = model.window
    many = min(24, (len(ids) - 1) // T)
    starts = [i * (len(ids) - 1 - T) // max(1, many - 1) for i in range(many)]
    x, y = (torch.stack([ids[i + shift : i + shift + T] for i in starts]) for shift in (0, 1))
    with torch.no_grad():
        return F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()


@pytest.mark.parametrize("positions", ["learned", "rotary"])
def test_the_weights_go_into_python_and_come_back(show, tmp_path, positions):
    gpt = short("gpt", 4, 2)
    gpt.lesson = deepcopy(gpt.lesson)
    [own] = [way for way in gpt.lesson["ways"] if way["label"] == "your own text"]
    own["runs"][0]["about"]["network"]["positions"] = positions
    page = show(gpt)
    figure = page.locator("figure")
    own_text(figure, TEXT)
    with page.expect_download() as coming:
        press(figure, "Download the weights")
    place = tmp_path / "mine.safetensors"
    coming.value.save_as(place)
    model, tokenizer, card = checkpoints.load(place)
    assert (model.window, card["recipe"]) == (64, "trained in the page")
    assert held_out_loss(model, tokenizer, TEXT) == pytest.approx(rows(figure)[-1][2], abs=1e-3)

    torch.manual_seed(0)
    model = GPT(9, 32, 16, n_heads=2, n_layers=1, positions=positions, activation=gelu_tanh).eval()
    tokenizer = CharTokenizer(Vocabulary(list(" !Ψοø")[:4]))
    about = {"recipe": "mine", "seed": 0, "data": "", "scores": {}, "seconds": 0, "hardware": "", "note": "é"}
    checkpoints.save(tmp_path / "small.safetensors", model, about, text=tokenizer)
    model, tokenizer, _ = checkpoints.load(tmp_path / "small.safetensors")
    (tmp_path / "small.json").unlink()  # the file alone is enough
    figure.locator("input[type=file]").set_input_files(tmp_path / "small.safetensors")
    figure.locator(".lm-says:has-text('small.safetensors is open')").wait_for()
    press(figure, "Train")
    finished(figure)
    known = "".join(char for char in TEXT if char in tokenizer.vocabulary.tokens)
    assert rows(figure)[0][2] == pytest.approx(held_out_loss(model, tokenizer, known), abs=2e-3)
    assert "that the weights do not know" in figure.inner_text()


def test_a_file_that_the_page_cannot_train_is_refused(show, tmp_path):
    model = GPT(9, 32, 16, n_heads=2, n_layers=1)  # with the exact gelu
    about = {"recipe": "mine", "seed": 0, "data": "", "scores": {}, "seconds": 0, "hardware": ""}
    checkpoints.save(tmp_path / "exact.safetensors", model, about, text=CharTokenizer(Vocabulary(list("abcd"))))
    (tmp_path / "none.safetensors").write_bytes(b"nothing")
    figure = show(short("gpt", 4, 2)).locator("figure")
    for name, why in (("exact", "the file's GPT differs"), ("none", "is cut, or is no checkpoint")):
        figure.locator("input[type=file]").set_input_files(tmp_path / f"{name}.safetensors")
        figure.locator(f".lm-says:has-text('{name}.safetensors is open')").wait_for()
        press(figure, "Train")
        finished(figure)
        assert why in says(figure)


IN_STORE = """() => new Promise((then) => {
  const opening = indexedDB.open("lmbook", 1);
  opening.onsuccess = () => {
    const asking = opening.result.transaction("trainings").objectStore("trainings").count();
    asking.onsuccess = () => { opening.result.close(); then(asking.result); };
  };
})"""


def in_store(page, count):
    """Waits until the browser keeps so many trainings: it writes, and deletes, after what is seen."""
    for _ in range(1000):
        if page.evaluate(IN_STORE) == count:
            return
    raise AssertionError(f"{page.evaluate(IN_STORE)} kept, not {count}")


def test_a_training_goes_on_after_a_reload(show):
    page = show(short("text", 800, 8))  # long enough not to end before it is paused, on a busy machine too
    figure = page.locator("figure")
    press(figure, "Train")
    figure.locator("tbody tr:nth-child(4)").first.wait_for(state="attached")
    press(figure, "Pause")
    figure.locator(".lm-says:has-text('Paused after')").wait_for()
    before, seen = rows(figure), says(figure)
    in_store(page, 1)
    page.reload()
    figure.locator(".lm-says:has-text('was kept here')").wait_for()
    assert rows(figure) == before
    assert re.search(r"\d+ steps", seen)[0] in says(figure)
    press(figure, "Go on")
    finished(figure)
    after = rows(figure)
    assert after[: len(before)] == before
    assert after[-1][0] == 800


def test_a_training_that_is_reset_does_not_come_back(show):
    page = show(short("text", 800, 8))
    figure = page.locator("figure")
    press(figure, "Train")
    figure.locator("tbody tr:nth-child(4)").first.wait_for(state="attached")
    press(figure, "Pause")
    in_store(page, 1)
    press(figure, "Reset")
    in_store(page, 0)
    page.reload()
    figure.get_by_role("button", name="Train", exact=True).wait_for()
    assert figure.locator("button:text-is('Go on')").count() == 0


@pytest.fixture
def lessons(new_context):
    page = new_context().new_page()
    body, _ = bundle.without_exports(bundle.bundle("lessons"))
    page.add_script_tag(content=body)
    return page


TOLD = """([about, text]) => {
  const own = lesson(about, 0, text);
  own.step(0.01);
  const pieces = own.report();
  let last = pieces.next();
  while (!last.done) last = pieces.next();
  const { samples } = last.value;
  return [own.network.weights.get("embedding.weight").rows - 5, own.notes, samples[0].text];
}"""


def test_a_text_is_cut_between_characters_and_what_is_left_out_is_said(lessons):
    about = LESSONS["gpt"]["ways"][1]["runs"][0]["about"]
    faces = "😀😃😄😁😆"
    types, notes, written = lessons.evaluate(TOLD, [about, faces * 201 + "b"])  # nine tenths end within an emoji
    assert (types, notes) == (5, ["1 character that the first nine tenths do not have is left out"])
    assert set(written) <= set(faces)
    with pytest.raises(Exception, match="the text has 400 characters; at least 800"):
        lessons.evaluate(TOLD, [about, faces * 80])
    _, notes, _ = lessons.evaluate(TOLD, [about, "ab" * 600_001])
    assert notes == ["only the first 1,200,000 characters of the text are read"]


HELD_OUT = """([about, text]) => {
  const pieces = lesson(about, 0, text).report();
  let last = pieces.next();
  while (!last.done) last = pieces.next();
  return last.value.valid;
}"""


def test_listed_names_are_held_out_as_they_stand_and_the_author_reads_the_same(lessons):
    names = data.invented_names()[:500]
    of = lambda lesson, *rest: lessons.evaluate(  # noqa: E731
        HELD_OUT, [LESSONS[lesson]["ways"][0]["runs"][0]["about"], "\n".join([*rest])]
    )
    turned = [*names[449::-1], *names[450:]]
    assert of("gpt", *names) == of("gpt", *turned)  # the last tenth is the same
    assert of("gpt", *names) != of("gpt", *names[50:], *names[:50])
    assert of("names", *names) != of("names", *turned)
    way, mark = LESSONS["gpt"]["ways"][0], stored()["gpt"][0]["marks"][0][0]
    assert marks("gpt", way)[0][0] == pytest.approx(mark, abs=1e-3)


def test_seconds_count_the_reports(lessons):
    """A clock that goes on by one second whenever it is asked: a step takes one, a report another."""
    told = lessons.evaluate(
        """async ([program, abouts]) => {
          let now = 0;
          performance.now = () => (now += 1000);
          const told = [];
          const make = new Function(`${program}; return program;`)();
          await new Promise((done) => {
            const hear = make().training((m) => { told.push(m); if (m.done || m.error) done(); }, 1e9);
            hear({ start: { abouts, seed: 0, text: "", every: 2, steps: 4, rate: 0.01 }, go: true });
          });
          return told;
        }""",
        [ENGINE, [run["about"] for run in LESSONS["gap"]["ways"][0]["runs"]]],
    )
    told = told[:-1]
    assert [(one["run"], one["step"]) for one in told] == [(run, step) for step in (0, 2, 4) for run in (0, 1)]
    report = told[0]["seconds"] - 1  # the first, and a second to begin
    assert report >= 1
    assert [one["seconds"] for one in told] == [1 + report + step + step / 2 * report for step in (0, 0, 2, 2, 4, 4)]


@pytest.mark.parametrize("name", ["names", "gap"])
def test_a_report_in_pieces_is_the_same(lessons, name):
    """Where there is no worker the page has its turn between two pieces; what is asked meanwhile is told afterwards."""
    runs = lessons.evaluate(
        """async ([program, abouts, text]) => {
          const later = setTimeout;
          const make = new Function("setTimeout", `${program}; return program;`);
          const trained = (turn) => new Promise((done) => {
            const told = [];
            let turns = 0;
            const counted = (f) => {
              turns += 1;
              return later(() => {
                f();
                if (turns === 3) hear({ keep: true });
              });
            };
            const hear = make(counted)().training(({ seconds, kept, ...rest }) => {
              told.push(kept ? ["kept", kept.step] : rest);
              if (rest.done) done([told, turns]);
            }, turn);
            hear({ start: { abouts, seed: 0, text, every: 2, steps: 4, rate: 0.01 }, go: true });
          });
          return [await trained(1e9), await trained(1e-9)]; // ms of work in a turn
        }""",
        [ENGINE, *of_lesson(name)],
    )
    (at_once, _), (in_pieces, turns) = runs
    assert turns >= 4 + 2 * 3  # steps; of three reports each takes more than one
    assert in_pieces.index(["kept", 0]) == len(of_lesson(name)[0])  # after the first report of all networks
    in_pieces.remove(["kept", 0])
    assert in_pieces == at_once


def test_the_rate_climbs_and_falls_as_in_the_recipes(lessons):
    """At every step that of lmbook.lab.schedules; and so again where "Go on" raises the budget from 6 steps to 12."""
    told = lessons.evaluate(
        """async ([program, abouts, text]) => {
          const told = [];
          const make = new Function(`${program}; return program;`)();
          const start = { abouts, seed: 0, text, every: 1, steps: 6, rate: 0.01, warmup: 2 };
          await new Promise((done) => {
            const hear = make().training((m) => {
              told.push(m);
              if (m.done && told.length > 8) done();
              else if (m.done) setTimeout(() => hear({ go: true }));
            }, 1e9);
            hear({ start, go: true });
          });
          return told;
        }""",
        [ENGINE, [LESSONS["gpt"]["ways"][1]["runs"][0]["about"]], "the harbour light went out, and came again. " * 40],
    )
    reports, ends = ([one for one in told if ("done" in one) == last] for last in (False, True))
    assert [one["step"] for one in reports] == list(range(13))
    for one in reports:
        total = 6 if one["step"] <= 6 else 12
        assert one["end"] == total
        assert one["rate"] == pytest.approx(0.01 * warmup_cosine(one["step"] + 1, 2, total), abs=1e-12)
    again = 0.01 * warmup_cosine(7, 2, 12)
    assert ends[0]["done"] == {"end": 12, "rate": pytest.approx(again, abs=1e-12)}
    losses = [one["valid"] for one in reports]
    assert losses[5] == losses[6]  # the last step of the budget has the rate 0, and takes it
    assert len(set(losses)) == 11  # so has the last of the raised one; no other


@pytest.mark.parametrize("warmup", [-1, 6, 7])
def test_a_warm_up_ends_before_the_training(new_context, warmup):
    page = new_context().new_page()
    page.add_script_tag(content=bundle.without_exports(bundle.bundle("schedules"))[0])
    with pytest.raises(ValueError, match="must end before"):
        warmup_cosine(1, warmup, 6)
    with pytest.raises(Exception, match="must end before"):
        page.evaluate("(warmup) => warmupCosine(1, warmup, 6)", warmup)


def test_workers_that_share_a_batch_take_the_steps_of_one_that_reads_it_all(lessons):
    """The mean of the gradients of equal parts is the gradient of the whole, whichever number of workers there are."""
    runs = lessons.evaluate(
        """async ([program, abouts, text]) => {
          const make = new Function(`${program}; return program;`)();
          const start = { abouts, seed: 3, text, every: 5, steps: 10, rate: 0.003, warmup: 2 };
          const trained = (parts) => new Promise((done, failed) => {
            const told = [];
            const leader = make().training((m) => {
              told.push(m);
              if (m.error) failed(m.error);
              if (m.done) done(told.slice(0, -1).map(({ train, valid }) => [train, valid]));
            }, 1e9);
            const ends = Array.from({ length: parts - 1 }, () => new MessageChannel());
            ends.forEach(({ port2 }, i) => {
              const other = make().training(failed, 1e9);
              other({ crew: { part: i + 1, parts, lines: [port2] } });
              other({ start });
            });
            leader({ crew: { part: 0, parts, lines: ends.map(({ port1 }) => port1) } });
            leader({ start, go: true });
          });
          return [await trained(1), await trained(2), await trained(4)];
        }""",
        [ENGINE, [LESSONS["gpt"]["ways"][1]["runs"][0]["about"]], "the harbour light went out, and came again. " * 40],
    )
    alone = runs[0]
    assert alone[2][1] < 0.9 * alone[0][1]
    for shared in runs[1:]:
        assert shared[0][1] == alone[0][1]  # the same weights at first
        for (train, valid), (one, other) in zip(shared[1:], alone[1:], strict=True):
            assert (train, valid) == pytest.approx((one, other), abs=2e-4)
    assert runs[1] != alone  # sums of parts are rounded otherwise: the parts were really computed apart


def test_two_workers_train_in_the_page(show):
    page = show(short("gpt", 6, 3))
    figure = page.locator("figure")
    data_of(figure, "the stories, 209,000 parameters")
    figure.get_by_label("Workers").select_option("2")
    press(figure, "Train")
    finished(figure)
    assert "2 workers read 256 each" in figure.inner_text()
    assert len(page.workers) == 2
    shared = rows(figure)
    press(figure, "Reset")
    figure.get_by_label("Workers").select_option("1")
    press(figure, "Train")
    finished(figure)
    for row, other in zip(shared[1:], rows(figure)[1:], strict=True):
        assert row == pytest.approx(other, abs=0.002)


SECOND_DIES = """<script>
  let made = 0;
  const dies = "onmessage = ({ data }) => { if (data.start) throw Error('no memory'); }";
  const end = URL.createObjectURL(new Blob([dies]));
  window.Worker = class extends Worker {
    constructor(address) { super((made += 1) === 2 ? end : address); }
  };
</script>"""


def test_a_worker_that_ends_ends_the_training_of_all_and_fewer_can_begin_again(show):
    page = show(SECOND_DIES, short("gpt", 6, 3))
    figure = page.locator("figure")
    data_of(figure, "the stories, 209,000 parameters")
    figure.get_by_label("Workers").select_option("2")
    press(figure, "Train")
    finished(figure)
    assert says(figure) == "Not trained: one of the workers has ended; choose fewer and start again."
    for _ in range(100):  # the browser tells of an end when it comes to it
        if page.workers:
            page.wait_for_timeout(50)
    assert page.workers == []
    figure.get_by_label("Workers").select_option("1")
    press(figure, "Train")
    finished(figure)
    assert says(figure).startswith("After 6 steps")
