"""Corpora by name, with their parts for training, validation and test.

    load("wikitext2")["train"]      a list of tokens, one stream
    names(), card("wikitext2")      what there is; title, licence, citation and files of one corpus

Where a file is neither on this machine nor to be downloaded, `load` says so in one line and gives a stand-in (`real` is
then False), so that a chapter still runs.

Here: the files and their checksums (`fetch`, registry.json, our own in built_in), what each part of a corpus holds
(`corpora`), tasks made by a rule (`synthetic`, `harbourish`), images of digits as sequences (`digits`), and batches of
all these (`batching`).
Not here: words and their ids (`lmbook.text`), or anything about one experiment (`lmbook.lab.recipes`).
"""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources

import lmbook
from lmbook.data import fetch
from lmbook.data.corpora import READERS, by_hash
from lmbook.data.fetch import DataError, path
from lmbook.data.harbourish import aligned_captions, captions, tagged_captions
from lmbook.data.synthetic import addition, brackets, dates, held_out, reversal
from lmbook.text import EOS, UNK, words

__all__ = [
    "Batch",
    "Corpus",
    "DataError",
    "addition",
    "aligned_captions",
    "batches",
    "brackets",
    "captions",
    "card",
    "dates",
    "harbour_stories",
    "held_out",
    "invented_names",
    "load",
    "names",
    "pad",
    "path",
    "random_windows",
    "reversal",
    "stream_batches",
    "tagged_captions",
    "windows",
]


def __getattr__(name: str):
    """Batches are tensors: torch is imported when one of them is asked for, so that chapters of counts start soon."""
    if name in ("Batch", "batches", "pad", "random_windows", "stream_batches", "windows"):
        from lmbook.data import batching

        return getattr(batching, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


HARBOUR = {
    "title": "Harbour: short stories from a small town by the sea",
    "tasks": ["language modelling"],
    "languages": ["en"],
    "licence": {"id": "CC-BY-4.0", "name": "Creative Commons Attribution 4.0 International"},
    "citation": "The lmbook authors, Harbour, part of the book From the Chain Rule to Transformers.",
    "files": [],
}


@dataclass
class Corpus:
    """A corpus in parts: corpus["train"] and so on.

    real: False for a stand-in.  source: "LMBOOK_DATA", "cache", "download", "built-in" or "generated".
    """

    name: str
    parts: dict[str, list | str] = field(repr=False)
    real: bool
    source: str

    def __getitem__(self, part: str) -> list | str:
        if part not in self.parts:
            raise KeyError(f"{self.name} has no part {part!r}; it has {', '.join(self.parts)}")
        return self.parts[part]


def names() -> list[str]:
    """The names that `load` knows, in alphabetical order."""
    return sorted([*fetch.registry(), "harbour"])


def card(name: str) -> dict:
    """Title, tasks, languages, licence, citation and files of a corpus. Raises DataError for an unknown name."""
    return HARBOUR if name == "harbour" else fetch.card(name)


def harbour_stories() -> dict[str, list[list[str]]]:
    """Our own stories, each a list of sentences. Of ten stories the ninth is for validation, the tenth for test."""
    text = resources.files("lmbook.data").joinpath("built_in", "harbour.txt").read_text("utf-8")
    parts: dict[str, list[list[str]]] = {"train": [], "valid": [], "test": []}
    for i, story in enumerate(text.strip("\n").split("\n\n")):
        parts[{8: "valid", 9: "test"}.get(i % 10, "train")].append(story.split("\n"))
    return parts


def invented_names() -> list[str]:
    """6,000 names that a small GPT made up, none of them in the list that it was trained on.

    They are samples of the shipped model names-gpt, in the order in which `given_names.invented` drew them.
    """
    return resources.files("lmbook.data").joinpath("built_in", "invented_names.txt").read_text("utf-8").split()


def _harbour_tokens() -> dict:
    stories = harbour_stories()
    return {
        part: [token for story in stories[part] for sentence in story for token in (*words(sentence), EOS)]
        for part in stories
    }


def _harbour_closed() -> dict:
    """The stories in the form of WikiText-2: the words that occur once in training, or never, are <unk>."""
    parts = _harbour_tokens()
    counts = Counter(parts["train"])
    return {part: [token if counts[token] > 1 else UNK for token in tokens] for part, tokens in parts.items()}


def _harbour_text() -> dict:
    stories = harbour_stories()
    text = {part: "\n\n".join("\n".join(story) for story in stories[part]) + "\n" for part in stories}
    return {"train": text["train"], "valid": text["valid"] + "\n" + text["test"]}


def _harbour_types() -> dict:
    types = dict.fromkeys(word for part in _harbour_tokens().values() for word in part if word.isalpha())
    return by_hash(types, key=str)


def _caption_pairs(languages: tuple[str, ...] = ("en", "de")) -> dict:
    parts = held_out(captions(12_000, seed=0), 1000, 1000)
    return {part: [tuple(pair[language != "en"] for language in languages) for pair in parts[part]] for part in parts}


# What stands in for a corpus that cannot be had: what it is, where it comes from, and how it is made. There is none for
# sentiment, spam and named entities: made-up opinions would teach nothing.
STAND_INS: dict[str, tuple[str, str, Callable]] = {
    "wikitext2": ("the built-in stories (harbour)", "built-in", _harbour_closed),
    "tinyshakespeare": ("the built-in stories (harbour)", "built-in", _harbour_text),
    "names": ("the words of the built-in stories (harbour)", "built-in", _harbour_types),
    "multi30k": ("generated captions in an invented language", "generated", _caption_pairs),
    "tatoeba_eng_fra": ("generated captions in an invented language", "generated", _caption_pairs),
    "ud_english_ewt": (
        "generated captions with parts of speech",
        "generated",
        lambda: held_out(tagged_captions(6_000, seed=0), 500, 500),
    ),
}


def load(name: str, **options: object) -> Corpus:
    """A corpus by name; the reader of this name in `corpora` says what its parts hold.

    options: only multi30k has one, languages=("en", "de").
    Where no file can be had: a stand-in and one line on stderr, or DataError for a corpus that has none. Raises
    DataError for an unknown name, and where LMBOOK_DATA names a folder that does not hold the files.
    """
    if name == "harbour":
        return Corpus(name, _harbour_tokens(), True, "built-in")
    fetch.card(name)
    if options and (name != "multi30k" or set(options) != {"languages"}):
        raise TypeError(f"load({name!r}) does not know the option {next(iter(options))!r}.")
    sources = set()

    def read(file: str) -> str:
        content, source, _ = fetch.read(name, file)
        sources.add(source)
        return content.decode("utf-8")

    try:
        parts = READERS[name](read, **options)
    except fetch.Unavailable as reason:
        remedy = "connect to the network, or set LMBOOK_DATA to a folder that holds the file"
        if sys.platform == "emscripten":
            remedy = "open this notebook in Colab"
        if name not in STAND_INS:
            raise DataError(f"{reason}; nothing stands in for {name}: {remedy}.") from None
        what, source, make = STAND_INS[name]
        lmbook.say(f"{reason}; {what} stand in for {name}. For the real one, {remedy}.")
        return Corpus(name, make(**options), False, source)
    return Corpus(name, parts, True, "download" if "download" in sources else min(sources))
