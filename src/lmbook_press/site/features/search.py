"""The search of the site: how often each page says what, and other words for it; templates/search.js ranks by that."""

import json
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

from sphinx.search.en import SearchEnglish

import lmbook_press
from lmbook_press.book import markdown_of
from lmbook_press.site.patching import patch

WEIGHTS = {"k": 20, "b": 0.2, "home": 6, "least": 0.03}
# beginning of a page's name -> its weight beside the chapters
PRIORS = [["book/homework", 0.6], ["book/bibliography", 0.4], ["book/status", 0.4], ["book/index", 0.5], ["book/", 0.8]]
# words in which a question is asked, beside Sphinx's list
ASKING = """
how why what which who when where can could should would does do did am has have between from my your our me we you i
one so not many much about vs versus difference different mean meaning explain explained explanation example work works
working use used using get need compute calculate trick mechanism algorithm method way
""".split()  # noqa: SIM905
# what readers type -> words of the book; where it has both, a page may say either
SYNONYMS = json.loads(Path(__file__).with_name("synonyms.json").read_text(encoding="utf8"))
BRITISH = re.compile(r"is(?=(ations?|ers?|e[sd]?|ing)\b)")
STOPWORDS = {*SearchEnglish.stopwords, *ASKING}
TERM = re.compile(r"\{term\}`([^`<]*?)(?:\s*<([^>]+)>)?`")
# What is no word of the text: formulae, roles and directives, addresses.
NO_WORDS = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$|\{[\w:-]+\}(?:`[^`<]*<[^`]*`)?|\]\([^)]*\)|https?:\S+", re.DOTALL)
HEADING = re.compile(r"^(#+)\s+(.*)$", re.MULTILINE)
IN_TITLE, IN_HEADING = 15, 5  # how often a word counts that stands there
MOST = 3  # of a word that no page says as often as this, Sphinx's own index knows enough
OURS = Path(lmbook_press.__file__).parent / "templates" / "search.js"
READY = "_ready(Search.init);"


def plain(text: str) -> str:
    """Words in lower case, as the script compares them."""
    return BRITISH.sub("iz", re.sub(r"[^\w]+", " ", text.lower()).strip())


def introduced(pages: dict[str, str]) -> dict[str, str]:
    """Term -> the chapter that has it as its name; of the glossary, the first that links it.

    pages: name -> text of the chapters in the order of the book.
    """
    homes = {plain(name.partition("-")[2]): name for name in pages if "-" in name}
    for name, text in pages.items():
        for shown, target in TERM.findall(text):
            homes.setdefault(plain(target or shown), name)
    return homes


def counted(text: str) -> Counter:
    """How often a text says each word; in its headings it says a word louder."""
    words = Counter(_spoken(text))
    for marks, heading in HEADING.findall(text):
        for word in _spoken(heading):
            words[word] += IN_TITLE if marks == "#" else IN_HEADING
    return words


def _spoken(text: str) -> list[str]:
    """The words of a text, and each two that stand side by side."""
    words = plain(NO_WORDS.sub(" ", text)).split()
    pairs = [f"{a} {b}" for a, b in pairwise(words) if not {a, b} & STOPWORDS and not (a + b).isdigit()]
    return words + pairs


def often(texts: list[str]) -> dict[str, str]:
    """Word, of each stem the commonest form -> log2(1 + how often each text says it), a digit each; 9 at most."""
    one_stem = cache(SearchEnglish({}).stem)
    stem = cache(lambda said: " ".join(map(one_stem, said.split())))
    counts, forms = [Counter() for _ in texts], defaultdict(Counter)
    for text, count in zip(texts, counts, strict=True):
        for word, times in counted(text).items():
            count[stem(word)] += times
            forms[stem(word)][word] += times
    common = sorted(one for one in forms if len(one) > 1 and max(count[one] for count in counts) >= MOST)
    digits = lambda one: "".join(str(min(9, (1 + count[one]).bit_length() - 1)) for count in counts)  # noqa: E731
    return {forms[one].most_common(1)[0][0]: digits(one) for one in common}


def equations(out: Path) -> dict[str, list[str]]:
    """Page -> the ids of its numbered equations, in the order of their numbers."""
    pages = sorted(out.glob("notebooks/[0-9]*.html"))
    found = {page: re.findall(r'id="(equation-[^"]+)"', page.read_text(encoding="utf8")) for page in pages}
    return {f"notebooks/{page.stem}": ids for page, ids in found.items() if ids}


def data(pages: dict[str, str], out: Path) -> dict:
    """What the script knows of these pages, name -> text."""
    chapters = {name: text for name, text in pages.items() if name.startswith("notebooks/")}
    lengths = [len(text) for text in pages.values()]
    return {
        "synonyms": SYNONYMS, "asking": ASKING, "priors": PRIORS, **WEIGHTS, "heading": IN_HEADING,
        "first": introduced(chapters), "equations": equations(out), "pages": list(pages),
        "lengths": [round(long * len(lengths) / sum(lengths), 2) for long in lengths],
        # the name of a page's file says what it is about, in the field's words
        "words": often([f"# {name.split('/')[-1]}\n{text}" for name, text in pages.items()]),
    }  # fmt: skip


def write_search(app, exception):
    """Our part of the search, in the script that Sphinx wrote."""
    script = Path(app.outdir) / "_static" / "searchtools.js"
    if exception or app.builder.format != "html" or not script.exists():
        return
    names = sorted(name for name in app.env.found_docs if not name.startswith("book/homework/"))
    pages = {name: markdown_of(Path(app.env.doc2path(name))) for name in names}
    known = json.dumps(data(pages, Path(app.outdir)), ensure_ascii=False)
    ours = OURS.read_text(encoding="utf8").replace("%DATA%", known)
    patch(script, READY, f"{ours}\n{READY}", __name__)


def setup(app):
    app.connect("build-finished", write_search, priority=800)
