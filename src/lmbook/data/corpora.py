"""The readers of the real corpora: from the text of the files to parts for training, validation and test.

Each takes a function `read` (file name -> text) and returns {"train": ..., "valid": ..., "test": ...}; only Tiny
Shakespeare has no test set.
"""

import hashlib
from collections.abc import Callable, Iterable

from lmbook.data.fetch import DataError
from lmbook.text import EOS

Read = Callable[[str], str]


def by_hash(items: Iterable, key: Callable[[object], str]) -> dict[str, list]:
    """Parts for a corpus that comes without: the sha256 of an item's key decides, one tenth each for valid and test.

    Items with the same key land in the same part. Within a part they are in the order of the hashes: shuffled, and the
    same everywhere.
    """
    hashed = sorted(((hashlib.sha256(key(item).encode()).digest(), i, item) for i, item in enumerate(items)))
    parts: dict[str, list] = {"train": [], "valid": [], "test": []}
    for digest, _, item in hashed:
        part = {0: "valid", 1: "test"}.get(int.from_bytes(digest, "big") % 10, "train")
        parts[part].append(item)
    return parts


def _lines(text: str) -> list[str]:
    # split("\n") and not splitlines(): some corpora hold other characters that count as line ends
    return text.removesuffix("\n").split("\n")


def wikitext2(read: Read) -> dict:
    """One list of tokens a part; every line, blank ones too, ends with <eos>."""
    return {
        part: [token for line in _lines(read(f"{part}.txt")) for token in (*line.split(), EOS)]
        for part in ("train", "valid", "test")
    }


def tinyshakespeare(read: Read) -> dict:
    """One string a part: the customary first 90% of the characters, and the rest for validation."""
    text = read("input.txt")
    return {"train": text[: int(0.9 * len(text))], "valid": text[int(0.9 * len(text)) :]}


def multi30k(read: Read, languages: tuple[str, ...] = ("en", "de")) -> dict:
    """Pairs (or triples) of captions; languages: some of "en", "de", "fr", in the order wanted."""
    if isinstance(languages, str) or not languages or not set(languages) <= {"en", "de", "fr"}:
        raise DataError(f"multi30k has the languages en, de and fr; languages={languages!r} asks for something else.")
    files = {"train": "train", "valid": "val", "test": "test_2016_flickr"}
    return {
        part: list(zip(*(_lines(read(f"{file}.{language}")) for language in languages), strict=True))
        for part, file in files.items()
    }


def tatoeba_eng_fra(read: Read) -> dict:
    """Pairs (English, French). All translations of an English sentence are in one part, one after the other."""
    return by_hash((tuple(line.split("\t")[:2]) for line in _lines(read("fra.txt"))), key=lambda pair: pair[0])


def conllu(text: str) -> list[tuple[list[str], list[str]]]:
    """Sentences of a CoNLL-U file: (words, universal parts of speech), without multiword tokens and empty nodes."""
    sentences = []
    for block in text.strip("\n").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdecimal()]
        sentences.append(([row[1] for row in rows], [row[3] for row in rows]))
    return sentences


def ud_english_ewt(read: Read) -> dict:
    """(words, tags) sentences; those of valid and test whose words also occur as a training sentence are left out."""
    parts = {
        part: conllu(read(f"en_ewt-ud-{file}.conllu"))
        for part, file in (("train", "train"), ("valid", "dev"), ("test", "test"))
    }
    seen = {tuple(tokens) for tokens, _ in parts["train"]}
    for part in ("valid", "test"):
        parts[part] = [(tokens, tags) for tokens, tags in parts[part] if tuple(tokens) not in seen]
    return parts


def sms_spam(read: Read) -> dict:
    """(message, "ham" or "spam"), each message once."""
    rows = (line.split("\t", 1) for line in _lines(read("sms.tsv")))
    return by_hash({text: (text, label) for label, text in rows}.values(), key=lambda pair: pair[0])


def sentence_polarity(read: Read) -> dict:
    """(sentence, "negative" or "positive"), lower-cased, tokens apart by blanks."""
    files = {"rt-polarity.neg": "negative", "rt-polarity.pos": "positive"}
    pairs = [(line.strip(), label) for file, label in files.items() for line in _lines(read(file))]
    return by_hash(pairs, key=lambda pair: pair[0])


def given_names(read: Read) -> dict:
    """Lower-case names, each once."""
    return by_hash(dict.fromkeys(_lines(read("names.txt"))), key=str)


def bio(text: str) -> list[tuple[list[str], list[str]]]:
    """Sentences of a file with a token and its BIO tag a line, blank (or white) lines between: (tokens, tags)."""
    sentences: list[tuple[list[str], list[str]]] = [([], [])]
    for line in _lines(text):
        if line.strip():
            token, tag = line.split("\t")
            sentences[-1][0].append(token)
            sentences[-1][1].append(tag.strip())
        elif sentences[-1][0]:
            sentences.append(([], []))
    return [sentence for sentence in sentences if sentence[0]]


def wnut17(read: Read) -> dict:
    """(tokens, BIO tags) sentences. The parts come from different sources, by design."""
    files = {"train": "wnut17train.conll", "valid": "emerging.dev.conll", "test": "emerging.test.annotated"}
    return {part: bio(read(file)) for part, file in files.items()}


READERS: dict[str, Callable] = {
    "wikitext2": wikitext2,
    "tinyshakespeare": tinyshakespeare,
    "multi30k": multi30k,
    "tatoeba_eng_fra": tatoeba_eng_fra,
    "ud_english_ewt": ud_english_ewt,
    "sms_spam": sms_spam,
    "sentence_polarity": sentence_polarity,
    "names": given_names,
    "wnut17": wnut17,
}
