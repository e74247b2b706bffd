"""What a model or a tokenizer was made with, as JSON, so that a file can say how to make it again.

    configuration(GPT(70, 64, ...))     {"class": "lmbook.gpt.GPT", "vocab": 70, "window": 64, ...}
    build(configuration(model))         another model of the same sizes, untrained

The classes of the lesson know nothing of this. From the import of this module on, the objects of those in LESSON
remember their arguments, the defaults among them; `configured` marks other classes, such as those of a recipe. Nothing
but marked classes is ever built, so that a file from somewhere else can run no other code; a function among the
arguments (an activation) is kept by its name and is not called.
"""

import functools
import importlib
import inspect
from collections.abc import Iterator

from lmbook.bert import BERT, BERTClassifier, BERTTagger, MaskedLM
from lmbook.data.digits import PixelCodec
from lmbook.feedforward import FeedForwardLM
from lmbook.gpt import GPT
from lmbook.modern import ModernGPT
from lmbook.rnn_models import Classifier, RecurrentLM, Tagger
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq, SingleRNNTranslator
from lmbook.text import BytePairTokenizer, CharTokenizer, Vocabulary, WordTokenizer
from lmbook.transformer import Transformer, TransformerEncoder
from lmbook.vit import PatchClassifier
from lmbook.word2vec import SkipGram

LESSON = (
    Vocabulary, CharTokenizer, WordTokenizer, BytePairTokenizer, PixelCodec, SkipGram, FeedForwardLM, RecurrentLM,
    Tagger, Classifier, RecurrentEncoder, TransformerEncoder, Seq2Seq, AttentionSeq2Seq, SingleRNNTranslator,
    Transformer, BERT, MaskedLM, BERTClassifier, BERTTagger, GPT, ModernGPT, PatchClassifier,
)  # fmt: skip
REMEMBERED = "_made_with"
FUNCTIONAL = "torch.nn.functional"  # its functions may be arguments


def configured(cls: type) -> type:
    """Marks a class: its objects remember the arguments they were made with. Subclasses must be marked themselves."""
    init = cls.__init__
    signature = inspect.signature(init)

    @functools.wraps(init)
    def remembering(self, *args, **options):
        try:
            bound = signature.bind(self, *args, **options)
        except TypeError:
            init(self, *args, **options)  # which says what is wrong with them
            raise
        for name, value in bound.arguments.items():
            if isinstance(value, Iterator):
                bound.arguments[name] = list(value)  # can be read once only
        init(*bound.args, **bound.kwargs)
        if type(self) is cls:  # an object of a subclass was made with that one's arguments
            bound.apply_defaults()
            given = dict(list(bound.arguments.items())[1:])
            for parameter in signature.parameters.values():
                if parameter.kind is parameter.VAR_KEYWORD:
                    given |= given.pop(parameter.name)
            setattr(self, REMEMBERED, given)

    remembering.configured = cls
    cls.__init__ = remembering
    return cls


for lesson in LESSON:
    configured(lesson)


def configuration(thing) -> dict | list | None:
    """The class of an object and its arguments; a list of these for a list or tuple of objects.

    None where a class is not marked, an object was made before this module was imported, or an argument is neither of a
    marked class nor plain JSON.
    """
    try:
        return _plain(getattr(thing, "_orig_mod", thing))  # torch.compile wraps a model
    except TypeError:
        return None


def _plain(value):
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    given = getattr(value, "__dict__", {}).get(REMEMBERED)
    if given is None:
        for module in (FUNCTIONAL, str(getattr(value, "__module__", ""))):  # an activation, by its name
            name = getattr(value, "__name__", "")
            if _named(module) and getattr(importlib.import_module(module), name, None) is value:
                return {"function": f"{module}.{name}"}
        raise TypeError(f"{type(value).__name__} is not configured.")
    return {"class": f"{type(value).__module__}.{type(value).__qualname__}", **_plain(given)}


def _named(module: str) -> bool:
    """Whether a file may name what is in this module."""
    return module.startswith("lmbook.") or module == FUNCTIONAL


def build(description):
    """What `configuration` described. Raises ValueError that names the class and what does not fit."""
    if isinstance(description, list):
        return [build(one) for one in description]
    if not isinstance(description, dict):
        return description
    if "function" in description:
        module, _, name = str(description["function"]).rpartition(".")
        if not _named(module) or not callable(function := getattr(importlib.import_module(module), name, None)):
            raise ValueError(f"there is no function {description['function']} in this lmbook.")
        return function
    options = {key: build(value) for key, value in description.items() if key != "class"}
    if "class" not in description:
        return options
    path = str(description["class"])
    module, _, name = path.rpartition(".")
    if not module.startswith("lmbook."):
        raise ValueError(f"{path} is no class of lmbook, and no other is made.")
    try:
        cls = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        raise ValueError(f"there is no {path} in this lmbook.") from None
    if not isinstance(cls, type) or getattr(cls.__init__, "configured", None) is not cls:
        raise ValueError(f"{path} is not a class that is marked as configured.")
    try:
        return cls(**options)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} cannot be made with what is written: {error}") from error
