"""Homework solved on its page: written, kept, run, checked, saved, opened again."""

import base64
import json
import re
from pathlib import Path

import in_page
import nbformat
import pytest
from points import STEMS, open_master
from slips import wrong_answers
from test_saved import answered, solved

from lmbook_grader.self_check import RELEASES, check
from lmbook_grader.verdict import lines
from lmbook_press.assignments.make import student_version
from lmbook_press.assignments.questions import marks
from lmbook_press.normalize import write_notebook
from lmbook_press.site.serving import serve

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

STEM = "01-chain-rule"
PAGE = f"book/homework/{STEM}.html"
READY = "globalThis.lmDesk?.views.length > 3"
FOREIGN = "Wahrscheinlichkeit 🎲🏴\u200d☠️ und שלום עולם, مرحبا. "
PASTE = """([label, bytes]) => {
  const field = [...document.querySelectorAll("textarea")].find((one) => one.ariaLabel.includes(label));
  const given = new DataTransfer();
  const data = Uint8Array.from({ length: bytes }, (_, i) => (i * 7919) % 251);
  given.items.add(new File([data], "plan 1.png", { type: "image/png" }));
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: given, cancelable: true, bubbles: true }));
}"""
CHECKED = "document.querySelector('.lm-result h2')"
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?")


@pytest.fixture(autouse=True)
def python_is_here():
    in_page.python_files()


def press(page, by_key=False):
    """Opens the desk."""
    if by_key:
        page.locator("#lm-solve-here").focus()
        page.keyboard.press("Enter")
    else:
        page.locator("#lm-solve-here").click()
    page.wait_for_function(READY)
    return page


def write(page, name: str, text: str) -> None:
    """Writes an answer over what stands there, by its name."""
    number = page.evaluate(
        "(name) => lmDesk.views.findIndex((one) => one.cell.metadata.nbgrader?.grade_id === name)", name
    )
    field = page.locator(".lm-view").nth(number).locator(".cm-content, textarea")
    field.focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def button(page, words: str):
    return page.get_by_role("button", name=words, exact=True)


def saved(page, path: Path) -> Path:
    with page.expect_download() as waiting:
        button(page, "Save as file").click()
    waiting.value.save_as(path)
    return path


def settled(page) -> None:
    page.wait_for_function("lmDesk.waiting === 0")


def said(page) -> str:
    return page.locator(".lm-said").inner_text()


def same(found: str, wanted: str) -> None:
    """Two reports with the same words, and the same numbers but for what another library rounds otherwise.

    From Python 3.12 on sum() loses fewer digits, and a training that diverges makes much of a small difference. What is
    0 but for rounding, as the error of a fit to points on a line, is another number everywhere.
    """
    assert NUMBER.sub("#", found) == NUMBER.sub("#", wanted)
    assert [float(one) for one in NUMBER.findall(found)] == pytest.approx(
        [float(one) for one in NUMBER.findall(wanted)], rel=1e-4, abs=1e-12
    )


def test_a_homework_is_solved_on_its_page(visit, served, tmp_path, axe_in_every_view):
    """One visit, the keys alone where that can be: nothing before the press; kept, run, checked, saved, opened."""
    answers, before = answered(STEM, {}), len(served[1])
    page = visit(PAGE)
    assert not [path for path, _, _ in served[1][before:] if "/homework-" in path and not path.endswith("solve.mjs")]
    press(page, by_key=True)
    assert not [path for path, _, _ in served[1][before:] if "pyodide" in path], "Python is not asked for yet"
    assert page.evaluate("document.activeElement.textContent") == "Check"
    written = next(name for name, text in answers.items() if "\ndef " not in f"\n{text}" and "=" not in text)
    answers[written] = FOREIGN * 300
    for name, text in answers.items():
        write(page, name, text)
    first = page.locator(".lm-view .cm-content").first
    first.focus()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(
        "document.querySelector('.lm-said').textContent.includes('checks below pass')", timeout=90_000
    )
    assert re.search(r"the cell ran\. (\d) of \1 checks below pass", said(page))
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == "Run", "Escape leaves the editor"
    page.evaluate(PASTE, ["Your answer", 1_500_000])
    page.wait_for_selector(".lm-pictures img")
    settled(page)

    button(page, "Check").click()
    page.wait_for_function(CHECKED, timeout=90_000)
    assert page.evaluate("document.activeElement.className") == "lm-result"
    file = saved(page, tmp_path / "page.ipynb")
    assert file.stat().st_size > 2_000_000
    wanted = lines(check(file), f"{STEM}.ipynb")
    assert wanted[-1] in page.locator(".lm-result").inner_text()
    assert page.locator(".lm-result li.lm-correct").count() == page.locator(".lm-result > ul > li").count()
    assert axe_in_every_view(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than a phone"

    own = nbformat.read(file, as_version=4)
    plan = solved(STEM, {})
    assert [cell.id for cell in own.cells] == [cell.id for cell in plan.cells]
    assert [cell.metadata for cell in own.cells] == [cell.metadata for cell in plan.cells]
    assert own.metadata == plan.metadata
    for cell in own.cells:
        if marks(cell).get("solution"):
            text = answers[marks(cell)["grade_id"]]
            name = marks(cell)["grade_id"]
            assert (
                cell.source.removeprefix("![plan-1](attachment:plan-1.png)").replace(
                    "![plan-1](attachment:plan-1.png)", ""
                )
                == text
            ), name
    (picture,) = [cell.attachments for cell in own.cells if cell.get("attachments")]
    data = base64.b64decode(picture["plan-1.png"]["image/png"])
    assert data == bytes(i * 7919 % 251 for i in range(1_500_000))

    page.reload()
    assert page.locator("#lm-solve-here").inner_text() == "Go on solving it here"
    press(page)
    assert source(saved(page, tmp_path / "again.ipynb")) == source(file), "nothing is lost with the page"
    page.on("dialog", lambda dialog: dialog.accept())
    button(page, "Start over").click()
    page.wait_for_function("lmDesk.views.every((one) => !one.cell.attachments)")
    assert source(saved(page, tmp_path / "empty.ipynb")) == source(RELEASES / f"{STEM}.ipynb")
    page.locator("input[type=file]").set_input_files(file)
    page.wait_for_function("lmDesk.views.some((one) => one.cell.attachments)")
    assert source(saved(page, tmp_path / "opened.ipynb")) == source(file), "out and back"


def source(path: Path) -> list:
    """The cells of a file without what their last run left."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [{key: cell[key] for key in sorted(cell) if key not in ("outputs", "execution_count")} for cell in cells]


def test_two_tabs_do_not_overwrite_each_other(visit, served):
    page = press(visit(PAGE))
    name = next(iter(answered(STEM, {})))
    write(page, name, "first = 1")
    settled(page)
    other = page.context.new_page()
    other.goto(served[0] + PAGE)
    press(other)
    assert "first = 1" in other.locator(".cm-content").first.inner_text()
    page.get_by_role("button", name="Go on in this tab").wait_for()
    assert page.evaluate("lmDesk.views.every((one) => one.input.inert)")
    write(other, name, "second = 2")
    settled(other)
    # a key that comes too late in the first tab changes nothing that is kept
    assert (
        page.evaluate("lmDesk.device.save('c04', { source: 'late' }).catch((error) => error.constructor.name)")
        == "Taken"
    )
    page.get_by_role("button", name="Go on in this tab").click()
    page.wait_for_function("document.querySelector('.cm-content').textContent.includes('second = 2')")
    other.get_by_role("button", name="Go on in this tab").wait_for()


DENIED = "Object.defineProperty(window, 'indexedDB', { get() { throw new DOMException('no', 'SecurityError'); } })"
FULL = "void (IDBObjectStore.prototype.put = () => { throw new DOMException('full', 'QuotaExceededError'); })"


@pytest.mark.parametrize("way", [DENIED, FULL], ids=["denied", "full"])
def test_a_browser_that_keeps_nothing_says_so_before_a_word_is_lost(visit, tmp_path, way):
    page = visit(PAGE)
    page.evaluate(way)
    press(page)
    assert "This browser keeps nothing here" in page.get_by_role("alert").inner_text()
    name = next(iter(answered(STEM, {})))
    write(page, name, "mine = 1")
    with page.expect_event("dialog") as asked:
        page.close(run_before_unload=True)
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    assert "mine = 1" in saved(page, tmp_path / "mine.ipynb").read_text(encoding="utf-8")


def test_a_disk_that_gets_full_while_one_writes(visit, tmp_path):
    page = press(visit(PAGE))
    name = next(iter(answered(STEM, {})))
    write(page, name, "early = 1")
    settled(page)
    page.evaluate(FULL)
    write(page, name, "late = 2")
    page.get_by_role("alert").wait_for()
    assert "keeps nothing" in page.get_by_role("alert").inner_text()
    assert "late = 2" in saved(page, tmp_path / "mine.ipynb").read_text(encoding="utf-8")


@pytest.mark.weekly  # test_saved.py has the same file natively
def test_an_edition_of_a_students_own(visit, tmp_path):
    """A notebook that was drawn for somebody: its questions are shown, its checks asked, and it comes out as it was."""
    own = student_version(open_master(STEM), f"notebooks/homework/{STEM}.ipynb", "a secret", "ann")
    handed_out = tmp_path / "release" / f"{STEM}.ipynb"
    write_notebook(own, handed_out)
    page = press(visit(PAGE))
    page.locator("input[type=file]").set_input_files(handed_out)
    page.wait_for_function("document.querySelector('.lm-said').textContent.includes('an edition of your own')")
    shown = page.locator("article").text_content()
    book = {cell.source for cell in nbformat.read(RELEASES / f"{STEM}.ipynb", as_version=4).cells}
    checks = [cell.source for cell in own.cells if cell.cell_type == "code" and marks(cell).get("grade")]
    assert [text for text in checks if text not in book]
    for text in checks:
        assert text.split("\n")[0] in shown
    headings = [line for cell in own.cells for line in cell.source.split("\n") if line.startswith("## ")]
    assert [line for line in headings if line.removeprefix("## ") not in shown] == []
    assert page.evaluate("lmDesk.views.every((one) => one.box.checkVisibility())")
    file = saved(page, tmp_path / "ann.ipynb")
    assert source(file) == source(handed_out)
    assert nbformat.read(file, as_version=4).metadata == own.metadata
    write(page, next(iter(answered(STEM, {}))), "answer = 1")
    settled(page)
    button(page, "Check").click()
    page.wait_for_function(CHECKED, timeout=90_000)
    file = saved(page, file)
    wanted = check(file, handed_out)
    rows = page.locator(".lm-result > ul > li").all_inner_texts()
    assert [one.title in row and f": {one.state}" in row for one, row in zip(wanted.questions, rows, strict=True)]


# --- The verdict


@pytest.fixture(scope="module")
def kernel(tmp_path_factory, browser):
    """The page's Python on a blank page: run(code) -> what it printed."""
    with serve(in_page.write_site(tmp_path_factory.mktemp("python"))) as (address, _):
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{address}index.html")
        page.evaluate(in_page.START)

        def run(code: str) -> str:
            done = page.evaluate(in_page.RUN, [code, "check"])
            assert done["status"] == "ok", done["outputs"][-1]
            return "".join(output["text"] for output in done["outputs"])

        yield run
        context.close()


def cases(stem: str) -> dict[str, dict[str, str]]:
    """Name -> the functions that stand in the right answers."""
    return {"right": {}, **{name: functions for name, (_, functions) in wrong_answers(stem).cases.items()}}


# The vectors of this answer run into one direction, and its check compares two products that are both 1 but for their
# last digit: which of them is larger is rounding, on any two machines.
# The wrong sums of the other are 0 but for a last digit, and which of them prints as 0 is rounding, too.
AT_THE_EDGE = {
    ("03-tokens-and-embeddings", "the steps go uphill"): "Who keeps the same company?",
    ("16-bert", "a sum in place of the mean"): "An opinion in one vector",
}
EVERY = [(stem, name) for stem in STEMS for name in cases(stem)]
DAILY = {EVERY[0], *((stem, next(iter(wrong_answers(stem).cases))) for stem in STEMS if stem[:2] in ("05", "07"))}
ENTRIES = [
    pytest.param(*entry, id=": ".join(entry), marks=[pytest.mark.weekly] * (entry not in DAILY)) for entry in EVERY
]


@pytest.mark.parametrize(("stem", "name"), ENTRIES)
def test_the_verdict_of_the_page_is_that_of_the_command(kernel, tmp_path, stem, name):
    """Right and listed wrong answers; two of every twenty at each push, all of them once a week."""
    path, release = tmp_path / "mine.ipynb", (RELEASES / f"{stem}.ipynb").read_text(encoding="utf-8")
    nbformat.write(solved(stem, cases(stem)[name]), path)
    text = path.read_text(encoding="utf-8")
    given = ", ".join(json.dumps(one) for one in (release, text, f"{stem}.ipynb"))
    torch = "import torch\n" if "import torch" in text else ""  # as the desk does, which loads it so
    found = json.loads(kernel(f"{torch}import lmbook_grader.in_page as _check\n_check.check({given})"))
    wanted = check(path)
    edge = AT_THE_EDGE.get((stem, name), "no such question")
    apart = re.compile(rf"  \d+\. {re.escape(edge)}.*?(?=\n  \d+\. |\n\n)", re.DOTALL)
    reports = [apart.sub("", "\n".join(report)) for report in (found["lines"], lines(wanted, f"{stem}.ipynb"))]
    same(*reports)
    assert found["good"] == wanted.good


def test_a_loop_without_end_ends(kernel):
    """No signal and no other process: the clock of Python's own jumps, also inside of a bare except."""
    assert (
        kernel(
            "from lmbook_grader.sandbox import clock\n"
            "class Late(BaseException): pass\n"
            "def loop():\n"
            "    while True:\n"
            "        try:\n"
            "            x = 1\n"
            "        except Exception:\n"
            "            pass\n"
            "for bound in (0.2, 0.1):\n"
            "    try:\n"
            "        with clock.bounded(5, ValueError), clock.bounded(bound, Late):\n"
            "            with clock.paused():\n"
            "                sum(range(1000))\n"
            "            loop()\n"
            "    except Late:\n"
            "        print('ended')\n"
        )
        == "ended\nended\n"
    )
