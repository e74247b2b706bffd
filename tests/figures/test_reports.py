"""What a training reports on its way costs at most a twentieth of it, counted in work, so that no clock decides."""

import pytest

from lmbook.figures import bundle
from lmbook.figures.trainer import LESSONS, TEXTS

CALL = 3000  # multiply-adds that take as long as the call of a kernel, about
WORK = """([program, about, text, reports]) => {
  const { lesson, kernels, training } = new Function(program)();
  let work = 0;
  const all = kernels();
  for (const [name, kernel] of Object.entries(all))
    all[name] = (...given) => {
      const sizes = { product: given.slice(11, 14), through: given.slice(3, 5) }[name] ?? [0];
      work += sizes.reduce((a, b) => a * b) + CALL;
      return kernel(...given);
    };
  const counted = (f) => {
    const before = work;
    f();
    return work - before;
  };
  const own = lesson(about, 0, text);
  const STEPS = 24; // of other lengths, in some lessons
  const step = counted(() => { for (let i = 0; i < STEPS; i += 1) own.step(0.003); }) / STEPS;
  return new Promise((done) => {
    const hear = training((told) => {
      if (told.error || told.done) done([step, work - before - reports * step, told.error]);
    }, 1e9);
    const before = work;
    hear({ start: { abouts: [about], seed: 0, text, every: 1, steps: reports, rate: 0.003 }, go: true });
  });
}""".replace("CALL", str(CALL))
TRAININGS = {
    f"{lesson}, {way['label']}, {run['label']}": (way, run)
    for lesson, about in LESSONS.items()
    for way in about["ways"]
    for run in way["runs"]
    if way["text"] != "own"  # a text of the reader's is learned by the same networks
}


def share(page, way, run, reports):
    """Of the work of the whole training that of its reports, the first one and those that write among them."""
    body, _ = bundle.without_exports(bundle.bundle("training"))
    program = f"{body}; return {{ training, lesson: $lessons.lesson, kernels: $kernels.kernels }};"
    text = TEXTS.get(way["text"], "")
    step, reporting, error = page.evaluate(WORK, [program, run["about"], text, reports])
    assert error is None
    return reporting / (reporting + way["steps"] * step)


@pytest.fixture(scope="module")
def page(browser):
    tab = browser.new_page()
    yield tab
    tab.close()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.weekly if "209,000" in name else ()) for name in TRAININGS]
)
def test_reports_cost_at_most_a_twentieth(page, name):
    way, run = TRAININGS[name]
    assert share(page, way, run, way["steps"] // way["every"]) <= 0.05


def test_with_three_times_as_many_they_would_cost_more(page):
    way, run = TRAININGS["race, , attention"]
    assert share(page, way, run, 3 * way["steps"] // way["every"]) > 0.05
