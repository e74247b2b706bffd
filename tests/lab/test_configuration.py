"""What an object was made with, and the way back: only marked classes of lmbook, the same arguments, clear refusals."""

import inspect
import json

import pytest
import torch
from torch import nn

from lmbook.bert import BERT, BERTClassifier
from lmbook.gpt import GPT
from lmbook.lab.configuration import build, configuration, configured
from lmbook.text import BytePairTokenizer, CharTokenizer, Vocabulary


def test_a_model_is_described_with_its_defaults_and_built_again():
    model = GPT(9, 12, d_model=8, n_heads=2, n_layers=1, positions="rotary")
    told = configuration(model)
    assert told["class"] == "lmbook.gpt.GPT"
    assert told.keys() - {"class"} == inspect.signature(GPT).parameters.keys(), (
        "defaults may change, this model may not"
    )
    assert (told["vocab"], told["positions"], told["dropout"]) == (9, "rotary", 0.0)
    again = build(json.loads(json.dumps(told)))
    assert type(again) is GPT
    assert configuration(again) == told
    again.load_state_dict(model.state_dict())
    tokens = torch.tensor([[1, 5, 7]])
    assert torch.equal(again.eval()(tokens), model.eval()(tokens))


def test_a_marked_class_is_the_class_that_it_was():
    assert GPT.__mro__[1] is nn.Module
    assert "vocab" in inspect.signature(GPT).parameters
    assert not any("made_with" in name for name in GPT(9, 12, 8, 2, 1).state_dict())
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        GPT(9, 12, 8, 2, 1, depth=3)


def test_what_a_model_is_made_of_is_described_within_it():
    model = BERTClassifier(BERT(9, 12, 8, 2, 1, 16), 2)
    told = configuration(model)
    assert told["bert"]["class"] == "lmbook.bert.BERT"
    assert build(told).state_dict().keys() == model.state_dict().keys()


def test_tokenizers_come_back_and_read_the_same():
    for tokenizer in (
        CharTokenizer(Vocabulary(c for c in "abc")),  # an iterator can be read once only
        BytePairTokenizer.train("low lower lowest low lower", 5),
    ):
        again = build(json.loads(json.dumps(configuration(tokenizer))))
        assert again.encode("lower cab") == tokenizer.encode("lower cab")
    both = configuration((tokenizer, tokenizer))
    assert [type(one) for one in build(both)] == [BytePairTokenizer, BytePairTokenizer]


def test_an_object_of_another_class_is_not_described():
    class Wider(GPT):  # has arguments of its own
        def __init__(self):
            super().__init__(9, 12, 8, 2, 1)

    assert configuration(Wider()) is None
    assert configuration(nn.Linear(2, 2)) is None
    assert configuration(BERTClassifier(BERT(9, 12, 8, 2, 1, 16), 2, torch.tensor(0.5))) is None, "no JSON"


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ({"class": "os.system", "command": "true"}, "os.system is no class of lmbook"),
        ({"class": "lmbook.gpt.GPTs"}, r"there is no lmbook\.gpt\.GPTs"),
        ({"class": "lmbook.nothing.GPT"}, r"there is no lmbook\.nothing\.GPT"),
        ({"class": "lmbook.gpt.nn.Linear", "in_features": 1}, "there is no"),
        ({"class": "lmbook.gpt.decay_groups"}, "not a class that is marked"),
        ({"class": "lmbook.gpt.Learned"}, "not a class that is marked"),
        ({"class": "lmbook.gpt.GPT", "vocab": 9, "depth": 3}, r"lmbook\.gpt\.GPT cannot be made.*'depth'"),
        ({"class": "lmbook.gpt.GPT", "vocab": 9}, "window"),
    ],
)
def test_nothing_else_is_built(description, said):
    with pytest.raises(ValueError, match=said):
        build(description)


def test_only_the_marked_class_itself_remembers():
    @configured
    class One:
        def __init__(self, a, *, b=2, **more):
            self.a = a

    assert configuration(One(1, c=3)) == {"class": f"{__name__}.{One.__qualname__}", "a": 1, "b": 2, "c": 3}
