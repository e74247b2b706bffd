"""Shipped weights: the bound of int8 by row, exact in float32, and clear words for a file that does not fit."""

import hashlib
import json
import struct

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import nn

from lmbook.gpt import GPT
from lmbook.lab import checkpoints
from lmbook.lab.checkpoints import CheckpointError, dequantize, differences, load, load_weights, quantize, read, save
from lmbook.text import CharTokenizer, Vocabulary

CARD = {"recipe": "tiny", "seed": 0, "data": "5f3a", "scores": {"nll": 1.25}, "seconds": 3.0, "hardware": "two cores"}


class Tied(nn.Module):
    """Embedding and head share one matrix; there is a vector, a buffer of integers and a tensor of three axes too."""

    def __init__(self, hidden: int = 6):
        super().__init__()
        self.embedding = nn.Embedding(9, hidden)
        self.head = nn.Linear(hidden, 9)
        self.head.weight = self.embedding.weight
        self.stack = nn.Parameter(torch.randn(2, 3, hidden))
        self.register_buffer("order", torch.arange(4))


@pytest.fixture
def model() -> Tied:
    torch.manual_seed(0)
    return Tied()


def rows() -> torch.Tensor:
    """Rows of very different sizes, with ties, zeros, one large value, and the smallest numbers of float32."""
    torch.manual_seed(1)
    W = torch.randn(40, 33) * torch.logspace(-36, 30, 40)[:, None]
    W[3] = 0
    W[4] = torch.arange(33) * 0.5 - 8
    W[5, 7] = 1e9
    W[6] = 1e-45
    W[7] = torch.where(torch.arange(33) == 0, 127.0, 2.5)  # scale exactly 1: ties
    return W


def test_the_error_is_at_most_half_a_step_and_never_more():
    W = rows()
    q, s = quantize(W)
    assert (q.dtype, s.dtype, q.shape, s.shape) == (torch.int8, torch.float32, W.shape, (40,))
    error = (W.double() - q.double() * s.double()[:, None]).abs()  # exact: the products have 23 bits
    assert (error <= s.double()[:, None] / 2).all()
    assert q.min() >= -127
    assert error[7].max() == 0.5  # the bound is reached, so a smaller one would fail


def test_the_step_is_hardly_larger_than_the_largest_weight_asks_for():
    W = rows()[8:]
    s = quantize(W)[1].double()
    ideal = W.double().abs().amax(1) / 127
    ordinary = ideal > 2.0**-99
    assert (s >= ideal).all()
    assert (s[ordinary] <= ideal[ordinary] * (1 + 2.0**-15)).all()


def test_what_is_restored_is_exact_in_float32():
    q, s = quantize(rows())
    assert torch.equal(dequantize(q, s).double(), q.double() * s.double()[:, None])


def test_restored_weights_are_written_again_without_a_change():
    W = dequantize(*quantize(torch.randn(20, 30)))
    assert torch.equal(dequantize(*quantize(W)), W)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_no_int8_for_a_weight_that_is_no_number(bad, model, tmp_path):
    with torch.no_grad():
        model.stack[0, 1, 2] = bad
    with pytest.raises(ValueError, match="stack: a weight that is NaN or infinite"):
        save(tmp_path / "m.safetensors", model, CARD)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("int8", [True, False])
def test_a_round_trip(model, tmp_path, int8, capsys):
    size = save(tmp_path / "m.safetensors", model, CARD, int8=int8)
    assert size == (tmp_path / "m.safetensors").stat().st_size
    assert f"m.safetensors: {size:,} bytes, 99 parameters" in capsys.readouterr().err
    other = Tied()
    card = load_weights(tmp_path / "m.safetensors", other)
    assert {name: card[name] for name in CARD} == CARD
    assert (card["parameters"], card["bytes"]) == (sum(p.numel() for p in model.parameters()), size)
    assert other.head.weight is other.embedding.weight
    for name, weight in model.state_dict().items():
        matrix = int8 and weight.is_floating_point() and weight.ndim > 1
        expected = dequantize(*quantize(weight)) if matrix else weight
        assert torch.equal(other.state_dict()[name], expected), name


def test_the_file_is_what_another_reader_expects(model, tmp_path):
    """Read as the page reads it: the length of the header, the header in JSON, the bytes."""
    save(tmp_path / "m.safetensors", model, CARD)
    data = (tmp_path / "m.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    assert sorted(json.loads(header["__metadata__"]["int8"])) == ["embedding.weight", "stack"]
    assert json.loads(header["__metadata__"]["tied"]) == {"head.weight": "embedding.weight"}
    assert "head.weight" not in header

    def array(name, kind):
        start, end = header[name]["data_offsets"]
        return np.frombuffer(data[8 + length + start : 8 + length + end], kind).reshape(header[name]["shape"])

    W = array("embedding.weight", np.int8).astype(np.float32) * array("embedding.weight.scale", np.float32)[:, None]
    assert np.array_equal(W, read(tmp_path / "m.safetensors")[0]["head.weight"].numpy())


def test_a_large_matrix_takes_a_quarter_of_the_bytes(tmp_path):
    layer = nn.Linear(512, 256)
    whole, small = (save(tmp_path / f"{i}.safetensors", layer, CARD, int8=i) for i in (False, True))
    assert small < 0.27 * whole


def test_the_card_is_plain_json_and_must_be_complete(model, tmp_path):
    with pytest.raises(ValueError, match="lacks seed, hardware"):
        save(tmp_path / "m.safetensors", model, {k: v for k, v in CARD.items() if k not in ("seed", "hardware")})
    with pytest.raises(ValueError, match=r"must end in \.safetensors"):
        save(tmp_path / "m.pt", model, CARD)
    save(tmp_path / "m.safetensors", model, CARD)
    assert json.loads((tmp_path / "m.json").read_text())["scores"] == {"nll": 1.25}
    assert str(tmp_path) not in (tmp_path / "m.json").read_text()


def test_the_hardware_is_that_of_the_device(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {torch.device(device).index}")
    assert checkpoints.hardware("cuda:1") == "GPU 1"
    for device in "cpu", "cpu:0":
        threads = torch.get_num_threads()
        assert checkpoints.hardware(device).endswith(f"CPU, {threads} thread{'s' * (threads > 1)}")


def test_another_model_is_named_and_left_alone(model, tmp_path):
    save(tmp_path / "m.safetensors", model, CARD)
    wider = Tied(hidden=7)
    before = wider.head.bias.clone()
    with pytest.raises(
        CheckpointError, match=r"another model: embedding.weight is \(9, 6\) instead of \(9, 7\).*'tiny'"
    ):
        load_weights(tmp_path / "m.safetensors", wider)
    with pytest.raises(
        CheckpointError, match=r"it has embedding.weight, head.bias.*which the model lacks; it lacks weight"
    ):
        load_weights(tmp_path / "m.safetensors", nn.Linear(2, 2, bias=False))
    assert torch.equal(wider.head.bias, before)
    assert differences(model.state_dict(), model.state_dict()) == ""


def test_damaged_and_missing_files_are_named(model, tmp_path):
    path = tmp_path / "m.safetensors"
    with pytest.raises(CheckpointError, match=r"m\.safetensors cannot be read: No such file"):
        read(path)
    save(path, model, CARD)
    data = path.read_bytes()
    for damage in (data[:-3], data[:40] + b"x" + data[41:], b""):
        path.write_bytes(damage)
        with pytest.raises(CheckpointError, match="damaged, or not the file of m"):
            load_weights(path, model)
    path.write_bytes(data)
    (tmp_path / "m.json").write_text("{")
    with pytest.raises(CheckpointError, match="not JSON"):
        load_weights(path, model)


def test_a_file_of_another_program_is_named(model, tmp_path):
    path = tmp_path / "m.safetensors"
    foreign = safetensors.torch.save({"weight": torch.zeros(2, 2)})
    for data in (foreign, b"no safetensors at all"):
        path.write_bytes(data)
        (tmp_path / "m.json").write_text(json.dumps({"sha256": hashlib.sha256(data).hexdigest()}))
        with pytest.raises(CheckpointError, match="no checkpoint of lmbook"):
            load_weights(path, model)


def test_a_model_comes_back_with_what_encodes_its_text(tmp_path):
    gpt, tokenizer = GPT(8, 12, 8, 2, 1, positions="rotary"), CharTokenizer(Vocabulary(list("cba")))
    save(tmp_path / "m.safetensors", gpt.train(), CARD, text=tokenizer)
    model, text, card = load(tmp_path / "m.safetensors")
    assert (type(model), model.training, card["seed"]) == (GPT, False, 0)
    assert text.encode("abc") == tokenizer.encode("abc")
    for name, weight in gpt.state_dict().items():
        assert torch.allclose(model.state_dict()[name], weight, atol=weight.abs().max() / 250), name
    assert load(tmp_path / "m.safetensors", window=99).model.window == 99
    save(tmp_path / "m.safetensors", gpt, CARD, text=(tokenizer, tokenizer))
    assert [type(one) for one in load(tmp_path / "m.safetensors").text] == [CharTokenizer, CharTokenizer]
    save(tmp_path / "m.safetensors", gpt, CARD)
    assert load(tmp_path / "m.safetensors").text is None


def test_a_card_that_does_not_fit_says_what_does_not(model, tmp_path):
    path = tmp_path / "m.safetensors"
    with pytest.raises(CheckpointError, match=r"'nothing' is shipped; there are .*shakespeare"):
        load("nothing")
    save(path, model, CARD)
    with pytest.raises(CheckpointError, match=r"does not describe its model.*recipe 'tiny'.*load_weights"):
        load(path)
    save(path, GPT(8, 12, 8, 2, 1), CARD)
    card = json.loads((tmp_path / "m.json").read_text())

    def described(**changed):
        (tmp_path / "m.json").write_text(json.dumps(card | {"model": card["model"] | changed}))

    for changed, said in (
        ({"depth": 3}, r"lmbook\.gpt\.GPT cannot be made.*'depth'"),
        ({"class": "subprocess.Popen"}, r"subprocess\.Popen is no class of lmbook"),
        ({"vocab": 9}, r"its card describes: .*\(8, 8\) instead of \(9, 8\)"),
    ):
        described(**changed)
        with pytest.raises(CheckpointError, match=said):
            load(path)


def test_a_card_has_a_line_for_each_key(model, tmp_path):
    save(tmp_path / "m.safetensors", model, CARD, text=Vocabulary([f"w{i}" for i in range(1000)]))
    text = (tmp_path / "m.json").read_text()
    assert len(text.splitlines()) == len(json.loads(text)) + 2
