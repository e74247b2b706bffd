"""published_gpt2: a folder of transformers becomes our GPT with its tokenizer, and what cannot be had says why."""

import builtins
import json

import pytest
import torch

from lmbook.data.fetch import Unavailable
from lmbook.decode import greedy
from lmbook.lab.pretrained import published_gpt2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny random GPT-2 with a tokenizer of bytes and one merge, as save_pretrained leaves them."""
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    place = tmp_path_factory.mktemp("gpt2")
    letters = list(bytes_to_unicode().values())
    vocabulary = {piece: i for i, piece in enumerate([*letters, "th", "<|endoftext|>"])}
    (place / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (place / "merges.txt").write_text("#version: 0.2\nt h\n", encoding="utf-8")
    GPT2Tokenizer.from_pretrained(place).save_pretrained(place)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(vocabulary), n_positions=16, n_embd=24, n_layer=2, n_head=3)
    config.eos_token_id = config.bos_token_id = len(vocabulary) - 1
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.3 * torch.randn(p.shape))
    model.save_pretrained(place)
    return place, model


def test_logits_and_text_are_those_of_transformers(folder):
    place, theirs = folder
    ours, tokenizer = published_gpt2(place)
    tokens = torch.tensor([tokenizer.encode("the path")])
    assert tokenizer.decode(tokens[0]) == "the path"
    assert tokens.shape == (1, 6)  # "th" is one token
    assert not ours.training
    with torch.no_grad():
        torch.testing.assert_close(ours(tokens), theirs(tokens).logits, atol=1e-4, rtol=1e-4)
    options = {"attention_mask": torch.ones_like(tokens), "max_new_tokens": 8, "do_sample": False, "eos_token_id": None}
    written = theirs.generate(tokens, pad_token_id=0, **options)[0, 6:].tolist()
    assert greedy(ours, 1, 8, prompt=tokens, eos=None)[0] == [written]


def test_the_number_of_heads_is_that_of_the_file(folder):
    ours, _ = published_gpt2(folder[0])
    assert ours.layers[0].attention.n_heads == 3


def test_offline_it_says_so(monkeypatch):
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    with pytest.raises(Unavailable, match=r"lmbook/no-such-gpt2 is not on this machine.*LMBOOK_OFFLINE"):
        published_gpt2("lmbook/no-such-gpt2")


def test_without_transformers_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("transformers"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(Unavailable, match="pip install transformers"):
        published_gpt2()
