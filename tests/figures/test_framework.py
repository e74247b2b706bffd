"""The figures' common ground: MIME bundle, bundler, mount script, shared drawing helpers."""

import json
import re
import subprocess
import sys

import nbformat
import pytest
import traitlets
from nbclient import NotebookClient

from lmbook import figures
from lmbook.figures import Figure, bars_svg, bundle, modules
from lmbook_press.normalize import tidied

WORDS = {"title": "Numbers grow", "caption": "Press the button.", "alt": "A number, 3."}
COUNTER = """
import { button, figure, fmt, h } from "./core.mjs";
export default figure(({ model, el, listen, say }) => {
  const shown = h("output", {});
  el.append(shown, button("More", () => { model.set("n", model.get("n") + 1); model.save_changes(); }));
  const draw = () => {
    shown.textContent = model.get("n");
    say(`The number is ${model.get("n")}, of ${model.get("note")}.`);
  };
  listen("n", draw);
  draw();
});
"""


@pytest.fixture
def counter(monkeypatch):
    """A figure class with a module of its own, which lives for one test."""
    original = bundle.source
    monkeypatch.setattr(bundle, "source", lambda name: COUNTER if name == "counter" else original(name))
    monkeypatch.setattr(bundle, "names", lambda: ["counter"])
    bundle.bundle.cache_clear()

    class Counter(Figure):
        module = "counter"
        n = traitlets.Int(3).tag(sync=True)
        note = traitlets.Unicode("").tag(sync=True)

        def __init__(self, **state):
            super().__init__(**{**WORDS, **state})

    yield Counter
    bundle.bundle.cache_clear()


def state_of(html):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[1])


# --- the bundle that a cell shows ---------------------------------------------------------------------------------


def test_the_bundle_holds_widget_html_and_text(counter):
    data, _ = counter()._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert data["text/plain"] == "Numbers grow. A number, 3."
    assert state_of(data["text/html"]) == {"n": 3, "note": "", **WORDS}


def test_displayed_the_printed_figure_comes_before_the_living_one(counter, monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda data, raw: shown.append(data))
    counter()._ipython_display_()
    assert [sorted(data) for data in shown] == [["text/html", "text/plain"], [figures.WIDGET_VIEW]]
    assert shown[0]["text/html"] == figures.HIDE_DEAD_VIEW + counter().html()


def test_the_same_state_gives_the_same_bytes_and_no_address(counter):
    one, two = counter(n=4), counter(n=4)
    assert one.html() == two.html()
    assert repr(one) == repr(two)
    assert "0x" not in repr(one)
    assert one.model_id not in one.html()


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!-- <script>", "a\u2028b & <b>&amp;</b> \"'"])
def test_state_cannot_leave_its_script_element(counter, text):
    html = counter(note=text, title=text, caption=text, alt=text).html()
    assert html.count("<script") == html.count("</script>") == 1
    assert state_of(html)["note"] == text


@pytest.mark.parametrize("missing", WORDS)
def test_a_figure_without_its_words_is_refused(counter, missing):
    with pytest.raises(ValueError, match=missing):
        counter(**{missing: " "})


def test_infinity_in_the_state_is_refused_by_name(counter):
    counter.x = None

    class Odd(counter):
        y = traitlets.Float(float("inf")).tag(sync=True)

    with pytest.raises(ValueError, match="Odd"):
        Odd().html()


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(AttributeError, match="ShannonGame"):
        _ = figures.ShanonGame
    with pytest.raises(KeyError, match="core"):
        bundle.source("nothing")


def test_figures_do_not_import_torch():
    code = "import sys; from lmbook.figures import SentenceProbability, ShannonGame; SentenceProbability(); "
    subprocess.run([sys.executable, "-c", code + "assert 'torch' not in sys.modules"], check=True)


def test_an_executed_notebook_holds_the_page_form(tmp_path):
    code = "from lmbook.figures import SentenceProbability\nSentenceProbability('the sea was calm .')"
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    outputs = []
    for _ in range(2):
        NotebookClient(nb, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
        (output,) = tidied(nb).cells[0].outputs  # the view goes, and what hides it when it is dead
        outputs.append((output["data"]["text/html"], output["data"]["text/plain"]))
    assert outputs[0] == outputs[1]
    assert outputs[0][0].startswith('<figure class="lm-figure" data-module="sentence"')


# --- the bundler --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", bundle.names())
def test_a_bundle_imports_nothing_and_exports_the_figure(name):
    text = bundle.bundle(name)
    assert not re.search(r"^\s*import[\s{*]", text, re.MULTILINE)
    assert "$core" in text
    assert text.count("export default") == 1


def test_a_page_loads_no_indentation_and_no_line_of_comments(monkeypatch, tmp_path):
    path = tmp_path / "small.mjs"
    path.write_text("// a\n/**\n * b\n */\nif (c) {\n  // d\n  /** @type {E} */ (f).g();\n\n  h(); // i\n}\n/** j */\n")
    monkeypatch.setattr(bundle, "files", lambda: {"small": path})
    assert bundle.source("small") == "if (c) {\n/** @type {E} */ (f).g();\nh(); // i\n}\n"


def test_names_of_two_modules_cannot_clash(monkeypatch):
    from py_mini_racer import MiniRacer

    a = 'import { value as fromB } from "./b.mjs";\nimport * as c from "./c.mjs";\nconst value = 1;\n'
    b = 'import { value as fromC } from "./c.mjs";\nconst hidden = 10;\nexport const value = hidden + fromC;\n'
    c = "const hidden = 100;\nconst value = hidden;\nexport { value };\n"
    files = {"a": a + "var total = value + fromB + c.value;\n", "b": b, "c": c}
    monkeypatch.setattr(bundle, "source", files.__getitem__)
    bundle.bundle.cache_clear()
    text = bundle.bundle("a")
    bundle.bundle.cache_clear()
    with MiniRacer() as machine:
        machine.eval(text)
        assert machine.eval("total") == 1 + 110 + 100
    assert text.count("const hidden = 100") == 1  # c is there once, although two modules want it


def test_a_changed_module_gets_a_new_file_name(counter):
    (old,) = [name for name in modules() if name.startswith("counter.")]
    assert re.fullmatch(r"counter\.[0-9a-f]{8}\.mjs", old)
    assert old in modules()["mount.mjs"]
    assert bundle.version("one") != bundle.version("two")


def test_a_module_becomes_a_program_that_stands_alone():
    from py_mini_racer import MiniRacer

    text = bundle.source("program-engine")
    assert not re.search(r"^\s*(import|export)\s(?!const program)", text, re.MULTILINE)
    with MiniRacer() as machine:  # a worker gets the text of the function, nothing else
        machine.eval(text.removeprefix("export ") + ";undefined")
        assert machine.eval("Object.keys(eval(`(${program})`)()).includes('serve')")


def test_a_site_has_the_engine_and_the_shared_parts_once():
    files = modules()
    for name, mark in (("program-engine", "class MaskedLM"), ("core", "function replace(")):
        (holder,) = [file for file, text in files.items() if mark in text]
        assert holder.startswith(f"{name}.")
    alone = modules(shared=())
    assert sum("class MaskedLM" in text for text in alone.values()) > 5  # where a file must stand alone
    assert not any(re.search(r"^import\b", text, re.MULTILINE) for text in alone.values())


def test_a_site_serves_the_weights_that_figures_fetch_and_knows_their_size():
    files, mount = bundle.served(), modules()["mount.mjs"]
    table = json.loads(re.search(r"^const WEIGHTS = (.*);$", mount, re.MULTILINE)[1])
    assert table.keys() == set(bundle.SERVED)
    for name, (file, size) in table.items():
        data, card = bundle.weights(name)
        assert files[file.removeprefix("./")] == data
        assert size == len(data)
        assert json.loads(files[file.removeprefix("./").replace("safetensors", "json")]) == card
    with pytest.raises(KeyError, match="no figure fetches 'digits-page'"):
        bundle.weights("digits-page")


# --- on the page --------------------------------------------------------------------------------------------------


def test_a_figure_lives_on_a_page_in_a_subfolder(counter, show):
    page = show(counter(note="<b>bold</b>"), counter(n=7))
    first, second = page.locator("figure").all()
    first.get_by_role("button", name="More").click()
    assert first.locator("output").text_content() == "4"
    assert second.locator("output").text_content() == "7"  # each has its own state
    assert "of <b>bold</b>." in first.locator(".lm-says").text_content()
    assert first.locator(".lm-fallback").count() == 0


@pytest.mark.parametrize("fault", ["no module", "module throws", "drawing throws"])
def test_the_fallback_stays_when_anything_fails(counter, show, fault):
    files = modules()
    (name,) = [name for name in files if name.startswith("counter.")]
    if fault == "no module":
        del files[name]
    elif fault == "module throws":
        files[name] = "throw new Error('no')"
    else:
        files[name] = files[name].replace("draw();\n});", "nothing.there();\n});")
        assert "nothing.there" in files[name]
    page = show(counter(), files=files)
    assert page.locator("figure").get_attribute("data-live") == "failed"
    assert page.locator("figure .lm-fallback").text_content() == "A number, 3."
    assert page.locator("figure button").count() == 0
    if fault == "no module":
        page.expected = "404"  # the browser reports the missing file


@pytest.mark.parametrize("elsewhere", ["https://elsewhere.example/x.png", "http://192.0.2.1/x.png"])
def test_what_is_asked_of_another_host_is_noted_and_goes_nowhere(show, elsewhere):
    page = show(f'<img src="{elsewhere}" alt="">')
    assert page.errors == [f"outside request: {elsewhere}", "Failed to load resource: net::ERR_NAME_NOT_RESOLVED"]
    page.errors.clear()


def test_without_scripts_the_figure_is_whole(counter, new_context):
    page = new_context(java_script_enabled=False).new_page()
    page.set_content(counter().html())
    seen = page.locator("figure").inner_text().split("\n")
    assert [line for line in seen if line] == ["Numbers grow", "A number, 3.", "Press the button."]


def test_the_models_of_the_page_behave_like_a_kernels(counter, show):
    page = show(counter())
    log = page.evaluate("""async () => {
      const { model } = await import("./_static/figures/mount.mjs");
      const m = model({ a: [1], b: 2 }), log = [];
      const hear = (self, value) => log.push(value);
      m.on("change:a change:b", hear);
      m.set("a", [1]);            // equal: no event
      m.set("a", [1, 2]);
      m.set("b", 3);
      m.off("change:a", hear);
      m.set("a", []);
      m.off("change:b");
      m.set("b", 4);
      m.save_changes();
      return [log, m.get("a"), m.get("b")];
    }""")
    assert log == [[[1, 2], 3], [], 4]


# --- the shared pieces ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fmt():
    from py_mini_racer import MiniRacer

    with MiniRacer() as machine:
        machine.eval(bundle.source("format").replace("export const", "var").replace("export ", ""))
        yield lambda call: machine.eval(f"fmt.{call}")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("prob(0)", "0"),
        ("prob(1)", "1"),
        ("prob(0.25)", "0.25"),
        ("prob(0.12345)", "0.123"),
        ("prob(0.00099999)", "0.001"),
        ("prob(0.0000321)", "3.21 × 10⁻⁵"),
        ("exp(-1000)", "5.08 × 10⁻⁴³⁵"),  # e^-1000 = 5.0760e-435
        ("exp(Math.log(0.5))", "0.5"),
        ("exp(-Infinity)", "0"),
        ("num(-1.005, 1)", "−1.0"),
        ("num(-0.0001)", "0.00"),
        ("num(Infinity)", "∞"),
        ("count(2088628)", "2,088,628"),
        ("count(-1234)", "−1,234"),
        ("count(999)", "999"),
        ('list(["a"])', "a"),
        ('list(["a", "b", "c"])', "a, b and c"),
        ("percent(0.125, 1)", "12.5 %"),
    ],
)
def test_numbers_are_written_as_in_the_book(fmt, call, text):
    assert fmt(call) == text


def test_the_fallback_chart_is_escaped_and_says_what_it_shows():
    svg = bars_svg([("<unk>", 0.5, "0.5"), ("sea", 1.0, "1")], alt='two "bars"')
    assert 'aria-label="two &quot;bars&quot;"' in svg
    assert "&lt;unk&gt;" in svg
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', svg)]
    assert widths[0] == pytest.approx(widths[1] / 2, abs=0.1)
    assert 'width="0.0"' in bars_svg([("none", 0.0, "0")], alt="nothing")


def test_the_page_has_the_palette_of_the_static_figures():
    from lmbook.plots import PALETTE

    colours = dict(re.findall(r"--lm-(\d): (#[0-9a-f]{6});", bundle.style()))
    assert [colours[str(n)] for n in range(1, 7)] == list(PALETTE)
