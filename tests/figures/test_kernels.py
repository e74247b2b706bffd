"""The inner loops of the page's engine: built from their source, the same bits as the plain form, as exact as torch."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from lmbook.figures import bundle
from lmbook.figures.trainer import LESSONS, TEXTS

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "src" / "lmbook" / "figures" / "engine" / "kernels.wasm"
TWICE = """
const text = $lessons$;
const parts = "return { lesson, ...$kernels, ...$autograd, ...$autograd_layers, generator: $numbers.generator };";
const [simd, plain] = [WebAssembly, undefined].map((one) => new Function("WebAssembly", text + parts)(one));
const random = simd.generator(7);
const numbers = (n) => Float32Array.from({ length: n }, () => 4 * random() - 2);
const bits = (array) => [...new Uint32Array(Float32Array.from(array).buffer)].join(" ");
/** The kernel on arrays of these sizes, in and outside its memory, and in plain JavaScript: all arrays afterwards. */
function tried(name, sizes, rest) {
  const given = sizes.map(numbers);
  const outside = given.map((array) => array.slice());
  const inside = given.map((array) => simd.kept(array));
  const plainly = given.map((array) => array.slice());
  let turn = 0;
  const call = (kernels, arrays) => {
    turn = 0;
    kernels[name](...rest.map((value) => (value === "array" ? arrays[turn++] : value)));
    return arrays.map(bits);
  };
  return [call(simd.kernels(), outside), call(simd.kernels(), inside), call(plain.kernels(), plainly)];
}
function trained(about, text, steps) {
  const own = [simd, plain].map((one) => one.lesson(about, 3, text));
  const losses = own.map((one) => Array.from({ length: steps }, () => one.step(0.01)));
  const last = (pieces, piece = pieces.next()) => (piece.done ? piece.value : last(pieces));
  return own.map(({ network, report }, i) => [
    losses[i].join(" "), [...network.weights.values()].map(({ data }) => bits(data)).join(" "),
    JSON.stringify(last(report())),
  ]);
}
"""


def program():
    lessons, _ = bundle.without_exports(bundle.bundle("lessons"))
    return TWICE.replace("$lessons$", json.dumps(lessons))


@pytest.fixture(scope="module")
def page(bare):
    bare.add_script_tag(content=program())
    assert bare.evaluate("simd.kernels() !== simd.plain && plain.kernels() === plain.plain")
    return bare


def test_the_bytes_come_from_the_source(tmp_path):
    if not (ROOT / "node_modules" / "assemblyscript").is_dir() or not shutil.which("npx"):
        pytest.skip("the compiler is not installed (make javascript)")
    script = json.loads((ROOT / "package.json").read_text("utf-8"))["scripts"]["kernels"].split()
    subprocess.run(["npx", "--no-install", *script[:-1], str(tmp_path / "built.wasm")], cwd=ROOT, check=True)
    assert (tmp_path / "built.wasm").read_bytes() == KERNELS.read_bytes()


def test_they_are_small():
    """At most 4 kB, which every browser compiles at once, on the page's own thread too."""
    assert KERNELS.stat().st_size <= 4096
    assert len(bundle.source("wasm-kernels")) < 5600


def product(I, J, K):  # noqa: E741
    return [I * J, I * K, K * J], ["array", 0, J, "array", 0, K, 1, "array", 0, J, 1, I, J, K]


CASES = {
    **{f"product {shape}": ("product", *product(*shape)) for shape in [(1, 1, 1), (5, 9, 3), (7, 31, 600), (4, 8, 0)]},
    "product, both turned": (
        "product", [45, 35, 63], ["array", 0, 9, "array", 0, 1, 5, "array", 0, 1, 7, 5, 9, 7],
    ),
    "product inside larger ones": (
        "product", [60, 60, 60], ["array", 3, 12, "array", 2, 11, 2, "array", 1, 13, 1, 4, 9, 3],
    ),
    "through": ("through", [5, 5 * 13, 13], ["array", "array", "array", 5, 13]),
    "softmax": ("softmax", [35, 35], ["array", "array", 5, 7, 1, 1, 0.3]),
    "softmax of all": ("softmax", [35, 35], ["array", "array", 5, 7, 7, 0, 20]),
    "softmaxBack": ("softmaxBack", [35, 35], ["array", "array", 5, 7, 0.3]),
    "norm": ("norm", [35, 35, 5, 35, 7, 7], [*["array"] * 6, 5, 7, 1e-5]),
    "normBack": ("normBack", [35, 7, 7, 35, 35, 5, 7], [*["array"] * 7, 5, 7]),
    "tanh": ("squashed", [33, 33], ["array", "array", 33, 0]),
    "sigmoid": ("squashed", [33, 33], ["array", "array", 33, 1]),
    "gelu": ("gelu", [33, 33, 33], ["array", "array", "array", 33]),
    "times": ("times", [33, 33, 33], ["array", "array", "array", 33]),
    "plus": ("plus", [33, 33], ["array", 0, "array", 0, 33, 1, 0, 0, -3]),
    "plus a row": ("plus", [35, 7], ["array", 0, "array", 0, 7, 5, 7, 0, 1]),
    "plus a part": ("plus", [7, 33], ["array", 1, "array", 5, 6, 1, 0, 0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_forms_of_a_kernel_give_the_same_bits(page, name):
    outside, inside, plain = page.evaluate("(given) => tried(...given)", CASES[name])
    assert outside == inside == plain


def test_the_comparison_of_bits_can_fail(page):
    """Half a unit in the last place more, and it is seen."""
    one, two = page.evaluate("[bits([1]), bits([1 + 2 ** -23])]")
    assert one != two


def of_lesson(name):
    """What its networks are, and a short text of the kind that they learn."""
    way = LESSONS[name]["ways"][0]
    text = "\n".join(f"{a}{b}{c}" for a in "bdgkl" for b in "aeiou" for c in "nrst") + "\n"
    text = {"names": text, "stories": 4 * text}.get(way["text"], TEXTS.get(way["text"], ""))
    return [run["about"] for run in way["runs"]], text


@pytest.mark.parametrize("name", LESSONS)
def test_both_forms_train_the_same_weights_to_the_last_bit(page, name):
    abouts, text = of_lesson(name)
    for about in abouts:
        simd, plain = page.evaluate("(given) => trained(...given)", [about, text, 6])
        assert simd == plain
        assert '"valid":' in simd[2]


@pytest.mark.parametrize("name", ["names", "gap", "gpt"])
def test_both_browsers_train_the_same_network(page, browser, name):
    """The same losses, and after six steps the same sentence or answers."""
    other = browser.new_page()
    other.add_script_tag(content=program())
    [about, *_], text = of_lesson(name)
    (losses, _, report), (theirs, _, same) = (
        one.evaluate("(given) => trained(...given)", [about, text, 6])[0] for one in (page, other)
    )
    other.close()
    assert [float(loss) for loss in losses.split()] == pytest.approx([float(loss) for loss in theirs.split()], abs=1e-5)
    found, theirs = json.loads(report), json.loads(same)
    assert found.pop("valid") == pytest.approx(theirs.pop("valid"), abs=1e-5)
    assert found == theirs


# --- as exact as torch ----------------------------------------------------------------------------------------------


def apart(page, name, arrays, rest, exact):
    """The largest difference from the exact value, of ours and of torch in float32, which `exact` gives for a dtype."""
    given = [array.flatten().tolist() for array in arrays]
    found = page.evaluate(
        """([name, given, rest]) => {
          const arrays = given.map((array) => Float32Array.from(array));
          let turn = 0;
          simd.kernels()[name](...rest.map((value) => (value === "array" ? arrays[turn++] : value)));
          return [...arrays[0]];
        }""",
        [name, given, rest],
    )
    right = exact(torch.float64).flatten().numpy()
    return np.abs(np.array(found) - right).max(), np.abs(exact(torch.float32).flatten().numpy() - right).max()


@pytest.mark.parametrize("shape", [(512, 256, 64), (33, 63, 130), (4, 64, 512)])
def test_a_product_is_as_exact_as_torchs(page, shape):
    I, J, K = shape  # noqa: E741
    generator = torch.Generator().manual_seed(0)
    C, A, B = torch.zeros(I, J), torch.randn(I, K, generator=generator), torch.randn(K, J, generator=generator)
    ours, torchs = apart(page, "product", [C, A, B], product(I, J, K)[1], lambda dtype: A.to(dtype) @ B.to(dtype))
    assert ours < 5 * torchs
    assert ours < 4e-5


@pytest.mark.parametrize("logistic", [0, 1])
def test_the_curves_are_within_two_units_in_the_last_place_of_one(page, logistic):
    x = torch.cat([torch.linspace(-30, 30, 4001), torch.tensor([-1e30, -1e-6, 0.0, 1e-6, 1e30, torch.inf, -torch.inf])])
    exact = lambda dtype: (torch.sigmoid if logistic else torch.tanh)(x.to(dtype))  # noqa: E731
    given = ["array", "array", len(x), logistic]
    ours, _ = apart(
        page, "squashed", [torch.zeros(len(x)), torch.nan_to_num(x, posinf=3e38, neginf=-3e38)], given, exact
    )
    assert ours < 2 * 2**-23
