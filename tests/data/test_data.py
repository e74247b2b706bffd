"""Corpora: what the real ones hold, and what happens when a file cannot be had as it should be.

The faults are played by a server on this machine; nothing here uses an outside network.
"""

import errno
import gzip
import hashlib
import io
import os
import re
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lmbook import data
from lmbook.data import corpora, fetch
from lmbook.text import EOS, Vocabulary

TEXT = "".join(f"Line {i} of a small play.\n" for i in range(5000)).encode()


class Server(ThreadingHTTPServer):
    """Serves what `answers` holds: path -> (status, announced length, bytes); counts the requests."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = {}, []

    def serve(self, path: str, body: bytes, status: int = 200, length: int | None = None) -> str:
        self.answers[path] = (status, len(body) if length is None else length, body)
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request, client_address):
        pass  # a client that hangs up early is part of the tests


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        status, length, body = self.server.answers.get(self.path, (404, 0, b""))
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def play(no_corpora, monkeypatch):
    """A corpus of one small file under the name of a real one; returns a function that sets its copies."""
    entry = {"name": "input.txt", "bytes": len(TEXT), "sha256": hashlib.sha256(TEXT).hexdigest(), "copies": []}
    monkeypatch.setattr(fetch, "registry", lambda: {"tinyshakespeare": {"files": [entry]}, "wnut17": {"files": []}})
    monkeypatch.setenv("no_proxy", "*")

    def set_copies(*urls: str, **copy) -> None:
        entry["copies"].append({"file": "input.txt", "packing": "plain", "urls": list(urls), **copy})

    return set_copies


def left_behind(folder) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# Downloading


def test_a_file_is_downloaded_once_then_found_in_the_cache(server, play, no_corpora):
    play(server.serve("/a", TEXT))
    first = data.load("tinyshakespeare")
    assert (first.real, first.source) == (True, "download")
    assert first["train"] + first["valid"] == TEXT.decode()
    second = data.load("tinyshakespeare")
    assert (second.parts, second.source) == (first.parts, "cache")
    assert server.asked == ["/a"]
    assert left_behind(no_corpora) == ["tinyshakespeare/input.txt"]
    assert data.path("tinyshakespeare", "input.txt").read_bytes() == TEXT


@pytest.mark.parametrize("packing", ["gzip", "zip"])
def test_packed_copies_are_unpacked_and_verified_by_their_content(server, play, no_corpora, packing):
    packed = gzip.compress(TEXT) if packing == "gzip" else zipped(**{"other": b"?", "folder/input.txt": TEXT})
    play(server.serve("/packed", packed), file="input.pack", packing=packing, member="folder/input.txt")
    for source in ("download", "cache"):
        corpus = data.load("tinyshakespeare")
        assert corpus["train"] + corpus["valid"] == TEXT.decode()
        assert corpus.source == source
    assert left_behind(no_corpora) == ["tinyshakespeare/input.pack"]


def other(byte_count: int) -> bytes:
    return b"x" * byte_count


FAULTS = {
    "HTTP error": (dict(body=b"", status=503), "HTTP 503"),
    "not there": (dict(body=b"", status=404), "HTTP 404"),
    "cut": (dict(body=TEXT[:70_000], length=len(TEXT)), "cut off after 70,000"),
    "cut, but says that this is all": (dict(body=TEXT[:70_000]), "cut off after 70,000"),
    "too long": (dict(body=TEXT + b"more"), "bytes instead of"),
    "another text of the same size": (dict(body=other(len(TEXT))), "sha256"),
    "empty": (dict(body=b""), "cut off after 0"),
}


@pytest.mark.parametrize(("answer", "says"), FAULTS.values(), ids=FAULTS)
def test_a_fault_gives_one_line_and_the_stand_in_and_leaves_nothing(server, play, no_corpora, capsys, answer, says):
    play(server.serve("/a", **answer))
    corpus = data.load("tinyshakespeare")
    lines = [line for line in re.split("[\r\n]", capsys.readouterr().err) if line.startswith("lmbook")]
    assert len(lines) == 1
    assert "tinyshakespeare/input.txt" in lines[0]
    assert says in lines[0]
    assert "LMBOOK_DATA" in lines[0]
    assert (corpus.real, corpus.source) == (False, "built-in")
    assert left_behind(no_corpora) == []


@pytest.mark.parametrize(("answer", "says"), FAULTS.values(), ids=FAULTS)
def test_after_a_fault_the_next_address_is_tried(server, play, capsys, answer, says):
    play(server.serve("/bad", **answer), server.serve("/good", TEXT))
    corpus = data.load("tinyshakespeare")
    assert (corpus.real, server.asked) == (True, ["/bad", "/good"])
    assert "stand in" not in capsys.readouterr().err


def test_the_next_packing_is_tried_too(server, play):
    play(server.serve("/zip", b"no archive"), file="input.zip", packing="zip", member="input.txt")
    play(server.serve("/empty-zip", zipped(another=b"")), file="input2.zip", packing="zip", member="input.txt")
    play(server.serve("/gz", gzip.compress(TEXT)[:-20]), file="input.txt.gz", packing="gzip")
    play(server.serve("/plain", TEXT))
    assert data.load("tinyshakespeare").real
    assert len(server.asked) == 4


def test_no_network_falls_back_quickly(play, capsys):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    play(f"http://127.0.0.1:{port}/a", f"http://localhost:{port}/b")  # nobody listens there any more
    start = time.monotonic()
    corpus = data.load("tinyshakespeare")
    assert time.monotonic() - start < 3 * fetch.TIMEOUT
    assert not corpus.real
    assert capsys.readouterr().err.count("no connection") == 2


def test_a_silent_server_is_given_up(server, play, monkeypatch, capsys):
    monkeypatch.setattr(fetch, "TIMEOUT", 0.2)
    play(server.serve("/a", TEXT[:100], length=len(TEXT)))
    given_up = threading.Event()
    monkeypatch.setattr(Handler, "finish", lambda self: given_up.wait(300))  # keeps the connection open
    assert not data.load("tinyshakespeare").real
    given_up.set()
    assert "after 100 bytes" in capsys.readouterr().err


def test_a_download_broken_by_the_reader_leaves_nothing(server, play, no_corpora, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    play(server.serve("/a", TEXT))
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        data.load("tinyshakespeare")
    assert left_behind(no_corpora) == []


def test_a_damaged_file_in_the_cache_is_fetched_anew(server, play, no_corpora, capsys):
    play(server.serve("/a", TEXT))
    place = no_corpora / "tinyshakespeare" / "input.txt"
    place.parent.mkdir(parents=True)
    place.write_bytes(TEXT[:-1])
    assert data.load("tinyshakespeare").source == "download"
    assert "bytes instead of" in capsys.readouterr().err
    assert place.read_bytes() == TEXT


def test_a_full_disk_loses_nothing(server, play, no_corpora, monkeypatch, capsys):
    class FullFile(io.FileIO):
        def write(self, content):
            super().write(content[:1000])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    play(server.serve("/a", TEXT))
    monkeypatch.setattr("lmbook.open", lambda handle, mode: FullFile(handle, mode), raising=False)
    corpus = data.load("tinyshakespeare")
    assert corpus.real
    assert corpus["train"] + corpus["valid"] == TEXT.decode()
    assert left_behind(no_corpora) == []
    error = capsys.readouterr().err
    assert error.count("lmbook:") == 1
    assert "No space left" in error
    with pytest.raises(data.DataError, match="free or unlock"):
        data.path("tinyshakespeare", "input.txt")


def test_a_cache_that_cannot_be_written_loses_nothing(server, play, no_corpora, capsys):
    no_corpora.parent.mkdir(exist_ok=True)
    no_corpora.write_text("a file where the folder should be: no user, not even root, can write into it")
    play(server.serve("/a", TEXT))
    assert data.load("tinyshakespeare").real
    assert "used but not kept" in capsys.readouterr().err


@pytest.mark.parametrize("fault", [errno.EROFS, errno.EACCES])
def test_a_read_only_cache_loses_nothing(server, play, no_corpora, monkeypatch, capsys, fault):
    def read_only(*arguments, **options):
        raise OSError(fault, os.strerror(fault))

    play(server.serve("/a", TEXT))
    monkeypatch.setattr("tempfile.mkstemp", read_only)
    assert data.load("tinyshakespeare").real
    assert os.strerror(fault) in capsys.readouterr().err


def test_many_at_once_all_get_the_file(server, play, no_corpora):
    play(server.serve("/a", TEXT))
    loaded = []
    threads = [threading.Thread(target=lambda: loaded.append(data.load("tinyshakespeare"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [corpus["train"] + corpus["valid"] for corpus in loaded] == [TEXT.decode()] * 8
    assert left_behind(no_corpora) == ["tinyshakespeare/input.txt"]


def test_two_processes_at_once_both_get_the_file(server, tmp_path):
    entry = {"name": "input.txt", "bytes": len(TEXT), "sha256": hashlib.sha256(TEXT).hexdigest()}
    entry["copies"] = [{"file": "input.txt", "packing": "plain", "urls": [server.serve("/a", TEXT)]}]
    code = f"""
from pathlib import Path
from lmbook import data
from lmbook.data import fetch
fetch.registry = lambda: {{"tinyshakespeare": {{"files": [{entry!r}]}}}}
fetch.cache_folder = lambda: Path({str(tmp_path / "cache")!r})
corpus = data.load("tinyshakespeare")
print(corpus.real, len(corpus["train"]) + len(corpus["valid"]))
"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LMBOOK_")} | {"no_proxy": "*"}
    processes = [
        subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert [process.communicate()[0] for process in processes] == [f"True {len(TEXT)}\n"] * 2
    assert left_behind(tmp_path / "cache") == ["tinyshakespeare/input.txt"]


def test_offline_asks_nobody(server, play, monkeypatch, capsys):
    play(server.serve("/a", TEXT))
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    assert not data.load("tinyshakespeare").real
    assert server.asked == []
    assert "LMBOOK_OFFLINE" in capsys.readouterr().err
    monkeypatch.setenv("LMBOOK_OFFLINE", "0")
    assert data.load("tinyshakespeare").real
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    assert data.load("tinyshakespeare").source == "cache"


def test_the_progress_bar_is_no_widget(server, play, capsys):
    play(server.serve("/a", TEXT))
    data.load("tinyshakespeare")
    assert "tinyshakespeare/input.txt" in capsys.readouterr().err
    assert "notebook" not in fetch.tqdm.__module__


# LMBOOK_DATA


@pytest.mark.parametrize("packed", [False, True])
def test_the_named_folder_may_hold_the_file_or_its_gz(play, monkeypatch, tmp_path, packed):
    folder = tmp_path / "data" / "tinyshakespeare"
    folder.mkdir(parents=True)
    place = folder / ("input.txt.gz" if packed else "input.txt")
    place.write_bytes(gzip.compress(TEXT) if packed else TEXT)
    monkeypatch.setenv("LMBOOK_DATA", str(tmp_path / "data"))
    corpus = data.load("tinyshakespeare")
    assert (corpus.real, corpus.source) == (True, "LMBOOK_DATA")
    assert corpus["train"] + corpus["valid"] == TEXT.decode()
    assert data.path("tinyshakespeare", "input.txt") == place


def test_a_wrong_named_folder_is_an_error_with_the_remedy(server, play, monkeypatch, tmp_path):
    play(server.serve("/a", TEXT))
    monkeypatch.setenv("LMBOOK_DATA", str(tmp_path / "missing"))
    with pytest.raises(data.DataError, match=r"not a folder; correct it, or unset it"):
        data.load("tinyshakespeare")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("LMBOOK_DATA", str(tmp_path / "empty"))
    with pytest.raises(data.DataError, match=r"has no tinyshakespeare/input.txt .*unset LMBOOK_DATA"):
        data.load("tinyshakespeare")
    assert server.asked == []


@pytest.mark.parametrize("wrong", [("input.txt", other(len(TEXT))), ("input.txt", TEXT[:-1]), ("input.txt.gz", TEXT)])
def test_a_wrong_file_in_the_named_folder_is_never_used_nor_changed(play, monkeypatch, tmp_path, wrong):
    name, content = wrong
    place = tmp_path / "tinyshakespeare" / name
    place.parent.mkdir()
    place.write_bytes(content)
    monkeypatch.setenv("LMBOOK_DATA", str(tmp_path))
    with pytest.raises(data.DataError, match=r"is not the file it should be: .*Replace it") as error:
        data.load("tinyshakespeare")
    assert "\n" not in str(error.value)
    assert place.read_bytes() == content


# Names


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("wikitext-2", "did you mean 'wikitext2'?"),
        ("WikiText2", "did you mean 'wikitext2'?"),
        ("harbor", "did you mean 'harbour'?"),
        ("multi30", "did you mean 'multi30k'?"),
        ("???", "there are harbour, multi30k"),
    ],
)
def test_an_unknown_name_suggests_the_nearest(wrong, hint):
    for call in (data.load, data.card, lambda name: data.path(name, "train.txt")):
        with pytest.raises(data.DataError) as error:
            call(wrong)
        assert hint in str(error.value)


def test_other_wrong_names_are_named():
    with pytest.raises(data.DataError, match=r"no file 'train.csv'; it has train.txt"):
        data.path("wikitext2", "train.csv")
    with pytest.raises(KeyError, match="no part 'dev'; it has train, valid, test"):
        data.load("harbour")["dev"]
    with pytest.raises(TypeError, match="option 'language'"):
        data.load("multi30k", language="de")
    with pytest.raises(TypeError, match="option 'languages'"):
        data.load("wikitext2", languages=("en",))


@pytest.mark.parametrize("languages", ["de", (), ("en", "es")])
def test_unknown_languages_are_refused(languages):
    with pytest.raises(data.DataError, match="en, de and fr"):
        data.load("multi30k", languages=languages)


# The registry


@pytest.mark.parametrize("name", sorted(fetch.registry()))
def test_every_card_is_complete(name):
    card = data.card(name)
    assert card["title"]
    assert card["citation"]
    assert card["licence"]["id"]
    assert isinstance(card["licence"]["redistribution"], bool | str | None)
    for file in card["files"]:
        assert file["bytes"] > 0
        assert len(file["sha256"]) == 64
        assert any(copy["urls"] for copy in file["copies"])
        for copy in file["copies"]:
            assert copy["packing"] in ("plain", "gzip", "zip")
            assert ("member" in copy) == (copy["packing"] == "zip")
            # an address that may change must not decide by itself what is right; a pinned one is at a commit
            assert all(url.startswith("https://") or "sha1" in copy for url in copy["urls"])
    assert name in corpora.READERS


def test_all_names():
    assert data.names() == sorted([*fetch.registry(), "harbour"])
    assert len(data.names()) == 10


# Harbour, and what stands in for the rest


def test_our_own_stories_make_a_corpus():
    corpus = data.load("harbour")
    assert (corpus.real, corpus.source) == (True, "built-in")
    stories = data.harbour_stories()
    everything = [sentence for part in stories.values() for story in part for sentence in story]
    assert all(sentence.rstrip('"')[-1] in ".!?" for sentence in everything)
    assert len(set(everything)) == len(everything)  # so no test sentence occurs in training
    for part in stories:
        assert corpus[part].count(EOS) == sum(map(len, stories[part]))
        assert corpus[part][-1] == EOS
    sizes = {part: len(corpus[part]) for part in stories}
    assert 0.7 < sizes["train"] / sum(sizes.values()) < 0.9
    assert min(sizes.values()) > 500


def test_phrases_of_our_stories_recur_so_that_n_grams_can_be_taught():
    train, test = data.load("harbour")["train"], data.load("harbour")["test"]
    for n, least in ((1, 0.9), (2, 0.5), (3, 0.25), (4, 0.1)):
        seen = {tuple(train[i : i + n]) for i in range(len(train))}
        share = sum(tuple(test[i : i + n]) in seen for i in range(len(test))) / len(test)
        assert least < share < 1
    assert 600 < len(set(train)) < 1100


def test_the_stand_in_for_wikitext_has_its_form(no_corpora, monkeypatch):
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    corpus = data.load("wikitext2")
    types = set(corpus["train"])
    assert {"<unk>", EOS} < types
    assert set(corpus["valid"]) | set(corpus["test"]) <= types
    assert min(Counter(corpus["train"]).values()) > 1


@pytest.mark.parametrize("name", ["multi30k", "tatoeba_eng_fra", "ud_english_ewt", "names", "tinyshakespeare"])
def test_stand_ins_have_the_form_of_the_real_one(name, no_corpora, monkeypatch, capsys):
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    corpus = data.load(name)
    assert not corpus.real
    assert f"stand in for {name}" in capsys.readouterr().err
    item = corpus["train"][0]
    if name in ("names", "tinyshakespeare"):
        assert isinstance(item, str)
    else:
        assert len(item) == 2
    if name != "tinyshakespeare":
        keys = [{str(item if name == "names" else item[0]) for item in corpus[part]} for part in corpus.parts]
        assert not keys[0] & keys[2]
    assert all(len(corpus[part]) for part in corpus.parts)


def test_in_a_page_it_says_what_its_reader_can_do(no_corpora, monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "emscripten")
    data.load("names")
    said = capsys.readouterr().err
    assert said.startswith("lmbook: names/names.txt does not come with this page; the words of the built-in stories")
    assert said.endswith("open this notebook in Colab.\n")


def test_three_languages_stay_three_in_the_stand_in(no_corpora, monkeypatch):
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    assert {len(item) for item in data.load("multi30k", languages=("en", "de", "fr"))["test"]} == {3}
    assert {len(item) for item in data.load("multi30k", languages=("de",))["test"]} == {1}


@pytest.mark.parametrize("name", ["sms_spam", "sentence_polarity", "wnut17"])
def test_where_nothing_honest_stands_in_the_error_says_the_remedy(name, no_corpora, monkeypatch):
    monkeypatch.setenv("LMBOOK_OFFLINE", "1")
    with pytest.raises(data.DataError, match=rf"nothing stands in for {name}: connect .*LMBOOK_DATA"):
        data.load(name)


# Reading


def test_conllu_skips_what_are_no_words():
    rows = ["1-2\tdon't\t_\t_", "1\tdo\tdo\tAUX", "2\tn't\tnot\tPART", "2.1\tgo\tgo\tVERB", "3\t\u2028\t_\tSYM"]
    text = "# sent_id = 1\n" + "\n".join(rows) + "\n\n# text = Hi\n1\tHi\thi\tINTJ\n\n"
    assert corpora.conllu(text) == [(["do", "n't", "\u2028"], ["AUX", "PART", "SYM"]), (["Hi"], ["INTJ"])]


def test_bio_sentences_end_at_white_lines():
    text = "a\tO\nb\tB-x\n\t\nc\tI-x\n\n\nd\tO\n"
    assert corpora.bio(text) == [(["a", "b"], ["O", "B-x"]), (["c"], ["I-x"]), (["d"], ["O"])]


def test_a_split_by_hash_keeps_equal_keys_together_and_does_not_depend_on_the_order():
    items = [(str(i % 300), i) for i in range(900)]
    parts = corpora.by_hash(items, key=lambda item: item[0])
    keys = [{key for key, _ in parts[part]} for part in parts]
    assert sum(map(len, keys)) == len(set.union(*keys)) == 300
    again = corpora.by_hash(items[::-1], key=lambda item: item[0])
    assert {part: sorted(parts[part]) for part in parts} == {part: sorted(again[part]) for part in again}
    assert len(keys[1]) + len(keys[2]) < 90
    assert [int(key) for key, _ in parts["train"]] != sorted(int(key) for key, _ in parts["train"])


# The real corpora: the published counts


@pytest.fixture
def real(real_corpora, monkeypatch):
    monkeypatch.setenv("LMBOOK_DATA", str(real_corpora))

    def load(name, **options):
        corpus = data.load(name, **options)
        assert corpus.real
        return corpus

    return load


def sizes(corpus) -> dict[str, int]:
    return {part: len(corpus[part]) for part in corpus.parts}


@pytest.mark.data
def test_wikitext2(real):
    corpus = real("wikitext2")
    assert sizes(corpus) == {"train": 2_088_628, "valid": 217_646, "test": 245_569}
    assert {part: corpus[part].count(EOS) for part in corpus.parts} == {"train": 36_718, "valid": 3_760, "test": 4_358}
    assert {part: corpus[part].count("<unk>") for part in corpus.parts} == (
        {"train": 54_625, "valid": 11_718, "test": 15_218}
    )
    types = set(corpus["train"])
    assert len(types) == 33_278
    assert set(corpus["valid"]) | set(corpus["test"]) <= types
    assert len(Vocabulary.build(corpus["train"])) == 33_278 + 3  # <pad>, <sos> and <mask> do not occur


@pytest.mark.data
def test_tinyshakespeare(real):
    corpus = real("tinyshakespeare")
    assert sizes(corpus) == {"train": 1_003_854, "valid": 111_540}
    assert len(set(corpus["train"] + corpus["valid"])) == 65
    with pytest.raises(KeyError, match="train, valid"):
        corpus["test"]


@pytest.mark.data
def test_multi30k(real):
    corpus = real("multi30k", languages=("en", "de", "fr"))
    assert sizes(corpus) == {"train": 29_000, "valid": 1_014, "test": 1_000}
    for i, tokens in enumerate((345_020, 322_383, 362_021)):
        assert sum(len(item[i].split()) for item in corpus["train"]) == tokens
    assert real("multi30k")["test"] == [item[:2] for item in corpus["test"]]


@pytest.mark.data
def test_tatoeba_is_split_by_english_sentence(real):
    corpus = real("tatoeba_eng_fra")
    assert sum(sizes(corpus).values()) == 167_130
    english = [{pair[0] for pair in corpus[part]} for part in corpus.parts]
    assert sum(map(len, english)) == len(set.union(*english)) == 116_830
    assert len({pair[1] for part in corpus.parts for pair in corpus[part]}) == 158_527
    assert all(0.09 < len(side) / 116_830 < 0.11 for side in english[1:])
    assert sum(len(pair[0].split()) for part in corpus.parts for pair in corpus[part]) == 1_028_095


@pytest.mark.data
def test_ud_english_ewt(real):
    corpus = real("ud_english_ewt")
    raw = {
        part: corpora.conllu(fetch.read("ud_english_ewt", f"en_ewt-ud-{part}.conllu")[0].decode())
        for part in ("train", "dev", "test")
    }
    counts = {part: (len(rows), sum(len(words) for words, _ in rows)) for part, rows in raw.items()}
    assert counts == {"train": (12_544, 204_577), "dev": (2_001, 25_147), "test": (2_077, 25_094)}
    assert len({tag for _, tags in raw["train"] for tag in tags}) == 17
    assert corpus["train"] == raw["train"]
    train = {tuple(words) for words, _ in corpus["train"]}
    for part in ("valid", "test"):
        assert not train & {tuple(words) for words, _ in corpus[part]}
    assert len(raw["test"]) - len(corpus["test"]) == sum(tuple(words) in train for words, _ in raw["test"]) > 90


@pytest.mark.data
def test_sms_spam(real):
    corpus = real("sms_spam")
    pairs = [pair for part in corpus.parts for pair in corpus[part]]
    assert len(pairs) == len({text for text, _ in pairs}) == 5_171
    assert {label for _, label in pairs} == {"ham", "spam"}
    rows = [line.split("\t")[0] for line in fetch.read("sms_spam", "sms.tsv")[0].decode().split("\n") if line]
    assert Counter(rows) == {"ham": 4_827, "spam": 747}


@pytest.mark.data
def test_sentence_polarity(real):
    corpus = real("sentence_polarity")
    pairs = [pair for part in corpus.parts for pair in corpus[part]]
    assert Counter(label for _, label in pairs) == {"negative": 5_331, "positive": 5_331}
    assert sum(len(text.split()) for text, _ in pairs) == 224_073
    assert 0.4 < sum(label == "positive" for _, label in corpus["train"][:500]) / 500 < 0.6  # shuffled


@pytest.mark.data
def test_names(real):
    corpus = real("names")
    names = [name for part in corpus.parts for name in corpus[part]]
    assert len(names) == len(set(names)) == 29_494
    assert set("".join(names)) == set("abcdefghijklmnopqrstuvwxyz")
    assert {2, 15} == {min(map(len, names)), max(map(len, names))}


@pytest.mark.data
def test_wnut17(real):
    corpus = real("wnut17")
    assert sizes(corpus) == {"train": 3_394, "valid": 1_009, "test": 1_287}
    for part, tokens, entities in (("train", 62_730, 1_975), ("valid", 15_733, 836), ("test", 23_394, 1_079)):
        tags = [tag for _, tags in corpus[part] for tag in tags]
        assert len(tags) == tokens
        assert sum(tag.startswith("B-") for tag in tags) == entities
    labels = {tag[2:] for _, tags in corpus["train"] for tag in tags} - {""}
    assert labels == {"person", "location", "group", "creative-work", "corporation", "product"}
