"""PyTorch in the page is held to the real one by name: values, gradients, shapes, types, errors, random numbers."""

import importlib.util
import math
import re

import numpy as np
import pytest
import safetensors.torch
import torch
import torch_cases as cases

import lmbook_torch
from lmbook.lab.checkpoints import TRAINED
from lmbook_press.site.python import packs

REAL, OURS = torch, lmbook_torch
GOOD = {"rtol": 2e-5, "atol": 2e-6}


def names(T, kind: str, leaves: bool = True) -> dict:
    """The tensors and helpers of the cases, with the same numbers in both packages."""
    rng = np.random.default_rng(0)
    made = {name: rng.normal(size=shape) for name, shape in SHAPES.items()}
    made["p"] = np.abs(made["p"]) + 0.1
    found = {name: T.tensor(value.astype(kind)).requires_grad_(leaves) for name, value in made.items()}
    found["i"] = T.tensor(np.array([[0, 1, 3, 2], [2, 2, 0, 1], [3, 0, 1, 1]]))
    found["j"], found["b"] = T.tensor(np.array([2, 0, 1])), T.tensor(rng.random((3, 4)) < 0.5)
    nn = T.nn
    found |= {"math": math, "n": rng.normal(size=(2, 2)).astype(kind), "T": T, "nn": nn, "F": nn.functional}
    found |= {name: getattr(nn.utils.rnn, name) for name in ("pad_sequence",)}
    found["pack"] = lambda given: nn.utils.rnn.pack_sequence(given, enforce_sorted=False)
    found["unpack"] = nn.utils.rnn.pad_packed_sequence
    found |= {"twice": twice, "spoiled": spoiled, "leaf": leaf}
    return found


SHAPES = {"x": (3, 4), "y": (3, 4), "m": (4, 5), "p": (3, 4), "v": (4,), "q": (2, 3, 4), "s": (4, 4), "k": (3, 2, 2, 2)}


def twice(x):
    loss = (x * x).sum()
    loss.backward()
    loss.backward()


def spoiled(x):
    y = x.exp()
    y.mul_(2)
    y.sum().backward()


def leaf(x):
    x.add_(1)


def parts(value) -> list:
    """All tensors and plain values in a result."""
    if isinstance(value, torch.Tensor | lmbook_torch.Tensor) or not isinstance(value, list | tuple | dict):
        return [value]
    return [one for inner in (value.values() if isinstance(value, dict) else value) for one in parts(inner)]


def same(ours, real, what: str, loose: float = 1.0) -> None:
    """Two results with equal types, shapes and numbers."""
    found, wanted = parts(ours), parts(real)
    assert len(found) == len(wanted), what
    for a, b in zip(found, wanted, strict=True):
        if isinstance(b, torch.Tensor):
            assert isinstance(a, lmbook_torch.Tensor), f"{what}: {type(a)}"
            assert str(a.dtype) == str(b.dtype), f"{what}: {a.dtype}, not {b.dtype}"
            assert tuple(a.shape) == tuple(b.shape), f"{what}: {a.shape}, not {b.shape}"
            assert a.requires_grad == b.requires_grad, f"{what}: requires_grad is {a.requires_grad}"
            close = {name: loose * size * (1e-6 if b.dtype == torch.float64 else 1) for name, size in GOOD.items()}
            np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), **close, err_msg=what)
        else:
            assert str(a) == str(b) or (isinstance(b, float) and math.isclose(a, b, rel_tol=1e-5)), (
                f"{what}: {a}, not {b}"
            )


def pulled(T, result) -> None:
    """A gradient for each number of a result, of another size each."""
    total = None
    for one in parts(result):
        if isinstance(one, torch.Tensor | lmbook_torch.Tensor) and one.requires_grad:
            weights = T.tensor(np.cos(np.arange(one.numel())).astype("float64")).to(one.dtype).reshape(tuple(one.shape))
            part = (one * weights).sum().double()
            total = part if total is None else total + part
    if total is not None:
        total.backward()


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_values_and_gradients(kind):
    for text in cases.lines(cases.VALUES):
        held = {}
        for T in (REAL, OURS):
            given = names(T, kind)
            result = eval(text, given)
            pulled(T, result)
            grads = [None if given[name].grad is None else given[name].grad for name in SHAPES]
            held[T] = result, grads
        same(held[OURS][0], held[REAL][0], text)
        same(held[OURS][1], held[REAL][1], f"gradient of {text}", 5)


def test_changes_in_place():
    for text in cases.lines(cases.CHANGES):
        held = {}
        for T in (REAL, OURS):
            given = names(T, "float32")
            given["z"] = given["x"] * 1
            exec(text, given)
            pulled(T, given["z"])
            held[T] = given["z"], [given[name].grad for name in ("x", "y", "p")]
        same(held[OURS][0], held[REAL][0], text)
        same(held[OURS][1], held[REAL][1], f"gradient of {text}", 5)


def test_random_numbers():
    for text in cases.lines(cases.DRAWS):
        held = {}
        for T in (REAL, OURS):
            given = names(T, "float32", leaves=False)
            T.manual_seed(3)
            held[T] = [eval(text, given), eval(text, given), T.rand(2)]
        same(held[OURS], held[REAL], text)


def test_a_generator_goes_on_where_its_state_was_taken():
    draw = OURS.Generator().manual_seed(4)
    OURS.randn(3, generator=draw)
    state = draw.get_state()
    first = OURS.randn(5, generator=draw)
    assert OURS.equal(OURS.randn(5, generator=draw.set_state(state)), first)


@pytest.mark.parametrize("T", [OURS, REAL])
def test_what_is_drawn_in_a_fork_takes_nothing_from_the_generator(T):
    T.manual_seed(4)
    T.randn(3)  # one of a pair is kept for the next
    with T.random.fork_rng(devices=[]):
        inside = T.randn(5)
    with T.random.fork_rng(devices=[], enabled=False):
        assert T.equal(T.randn(5), inside)
    assert not T.equal(T.randn(5), inside)


def test_modules():
    for text in cases.lines(cases.MODULES):
        code, _, given_to = text.partition(" | ")
        held = {}
        for T in (REAL, OURS):
            given = names(T, "float32")
            T.manual_seed(1)
            module = eval(code, given)
            state = {name: value.clone() for name, value in module.state_dict().items()}
            result = module(eval(given_to, given))
            pulled(T, result)
            grads = [value.grad for value in module.parameters()]
            names_of = [name for name, _ in module.named_parameters()], repr(module), list(state)
            held[T] = state, result, grads, names_of, given["x"].grad, given["q"].grad
        assert held[OURS][3] == held[REAL][3], text
        for i in (0, 1, 2, 4, 5):
            same(held[OURS][i], held[REAL][i], f"{text} ({i})", 5)


def test_optimizers():
    for text in cases.lines(cases.OPTIMIZERS):
        held = {}
        for T in (REAL, OURS):
            given = names(T, "float32", leaves=False)
            T.manual_seed(2)
            module = T.nn.Linear(4, 3)
            optimizer = eval(text, {"T": T, "ps": list(module.parameters())})
            schedule = T.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=6)
            lengths, rates = [], []
            for _ in range(5):
                optimizer.zero_grad()
                loss = (module(given["x"]) ** 2).sum()
                loss.backward()
                lengths.append(T.nn.utils.clip_grad_norm_(module.parameters(), 1.0))
                optimizer.step()
                schedule.step()
                rates += schedule.get_last_lr()
            held[T] = [*module.parameters(), *lengths, *rates]
        same(held[OURS], held[REAL], text, 5)


def test_errors_have_the_words_of_pytorch():
    for text in cases.lines(cases.ERRORS):
        said = {}
        for T in (REAL, OURS):
            given = names(T, "float32") | {"ps": list(T.nn.Linear(2, 2).parameters())}
            if text.startswith("x.float"):
                given |= names(T, "float32", leaves=False)
            with pytest.raises(Exception) as error:  # noqa: PT011 - of which kind the real one decides
                eval(text, given)
            said[T] = type(error.value), str(error.value)
        known = issubclass(said[OURS][0], said[REAL][0])
        assert known, f"{text}: {said[OURS]}, not {said[REAL]}"
        words = [re.sub(r"\s+", " ", said[T][1]).strip().split(". ")[0][:60] for T in (OURS, REAL)]
        assert words[0] == words[1] or text in SAID_OTHERWISE, f"{text}:\n  {words[0]}\n  {words[1]}"


SAID_OTHERWISE = {"x.foo", 'T.device("abacus")', 'T.einsum("ab,bc->ac", x, x)'}
SHOWN = """
T.arange(5); T.tensor([1.0, 2.5, -3.0]); T.tensor([1e-5, 1.0]); T.tensor([1e6, 1.0]); T.tensor([1.0, 2.0])
T.tensor([0.0, 0.0]); T.tensor([math.nan, 1.0]); T.tensor([math.inf, 1.5]); T.tensor(3.5); T.tensor(7)
T.tensor([True, False]); T.zeros(2, 0); T.tensor([]); x; q; x.double(); x.requires_grad_()
(x.requires_grad_() * 2).exp(); T.arange(2000).reshape(40, 50); T.arange(30.0); T.tensor([[-1, 100], [3, 4]])
T.nn.Parameter(x); x.shape; x.dtype; T.device("cpu"); T.tensor([1e-10]); T.tensor([123456789.0])
T.tensor([0.001, 0.5]); T.ones(3, dtype=T.int32); T.ones(2, 2, 2); x.max(1).indices; x.sum()
T.tensor([-math.inf, -0.0]); T.linspace(-1, 1, 1500); f"{x[0, 0]:.3f}"; x.softmax(1).sum(1); T.Size([1])
"""


def test_tensors_are_printed_alike():
    for text in cases.lines(SHOWN):
        ours, real = (repr(eval(text, {**names(T, "float32", leaves=False), "math": math})) for T in (OURS, REAL))
        assert ours == real, text


def test_every_name_is_held_to_the_real_one():
    """No function, method, module or initialiser is there that no case asks for."""
    text = "\n".join((cases.VALUES, cases.CHANGES, cases.DRAWS, cases.MODULES, cases.OPTIMIZERS, cases.ERRORS))
    asked = set(re.findall(r"[\w]+", text))
    from lmbook_torch import elementwise, linalg, methods

    nn = OURS.nn
    held = {*elementwise.METHODS, *(f"{name}_" for name in methods.CHANGES)}
    for module in (nn.functional, nn.init, nn, linalg, OURS.optim):
        held |= {
            name for name, value in vars(module).items()
            if getattr(value, "__module__", "").startswith("lmbook_torch") and not name.startswith("_")
        }  # fmt: skip
    beside = {
        "Module",
        "Parameter",
        "Buffer",
        "ParameterList",
        "CrossEntropyLoss",
        "MSELoss",
        "Optimizer",
        "NotCovered",
    }
    beside |= {"bitwise_and_", "bitwise_or_", "fans", "pair", "node", "wrap", "add_rows", "product", "cast", "total"}
    beside |= {"checked", "missing", "together", "unbroadcast", "Tensor", "no_grad", "enable_grad", "erf", "eigvals"}
    beside |= {"Eig", "QR", "SVD", "METHODS_INNER", "public", "half", "bfloat16"}  # the last two raise NotCovered
    assert sorted(name for name in held - asked - beside) == []


def test_what_is_not_covered_says_so_and_names_colab():
    x = OURS.randn(3, requires_grad=True)
    view = (x * 1)[1:]
    for ask in (
        lambda: OURS.fft, lambda: OURS.nn.Transformer, lambda: OURS.nn.functional.ctc_loss, lambda: x.lgamma(),
        lambda: OURS.optim.Adagrad, lambda: OURS.linalg.cholesky, lambda: x.to(OURS.bfloat16), lambda: view.mul_(2),
        lambda: OURS.linalg.svdvals(x[:, None]).sum().backward(), lambda: x.sum().backward(create_graph=True),
        lambda: OURS.optim.Adam([x], amsgrad=True),
    ):  # fmt: skip
        with pytest.raises(OURS.NotCovered, match="Colab"):
            ask()
    assert not hasattr(OURS, "fft")


def test_a_meta_tensor_has_a_shape_and_no_numbers():
    with OURS.device("meta"):
        module = OURS.nn.Linear(10_000, 100_000)
    assert sum(value.numel() for value in module.parameters()) == 1_000_100_000
    with pytest.raises(NotImplementedError, match="no data"):
        module.weight.sum()


def read_in_a_page(data: bytes) -> dict:
    """What the reader of weights for a page gives, over the real torch."""
    found = importlib.util.spec_from_file_location("weights_in_a_page", packs.INSIDE / "safetensors" / "torch.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module.load(data)


def test_trained_models_are_read_without_the_compiled_package():
    for name in (name for names in packs.TRAINED.values() for name in names):
        data = (TRAINED / f"{name}.safetensors").read_bytes()
        found, wanted = read_in_a_page(data), safetensors.torch.load(data)
        assert found.keys() == wanted.keys()
        assert all(torch.equal(found[key], wanted[key]) and found[key].dtype == wanted[key].dtype for key in found)
    for wrong in (data[:-1], data[:40], b"\x02" + bytes(7) + b"{,", b""):
        with pytest.raises(safetensors.SafetensorError):
            read_in_a_page(wrong)
