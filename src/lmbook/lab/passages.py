"""The book's own paragraphs, searched by meaning: what a published encoder finds for a question, and what words find.

    python -m lmbook.lab.passages NOTEBOOKS        writes passages.json anew; it needs all-MiniLM-L6-v2 and scikit-learn

A passage is a paragraph of running text of a chapter. Both searches rank all passages for a question, one by the inner
product of sentence vectors (`lmbook.lab.pretrained.sentence_vectors`), one by that of TF-IDF. To count how often they
succeed, each definition of the glossary is a question, its own term struck out: is there a passage with the term among
the first FOUND, or among twice as many? The chapters change, so passages.json is how they were when it was made.

Of each section the first passage has neighbours in other chapters: the nearest by its vector, and how near words alone
find them. What is read is what the page shows: numbers, authors and numbers of formulae stand in their places.
"""

import ast
import contextlib
import functools
import json
import re
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import numpy as np

PLACE = Path(__file__).with_name("passages.json")
FOUND, NEAR, LEAST = 5, 5, 30  # passages that count as found, neighbours of a passage, words of a passage
QUESTIONS = (
    "Why does the network forget what came long before?",
    "Is it cheating to tune on the data you report?",
    "How can I make the model write less boring text?",
    "What if a word was never seen before?",
)
MARKUP = (
    (r"\{term\}`([^`<]*?)(?: <[^>]*>)?`", r"\1"), (r"\{cite\}`[^`]*`", ""), (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"\*\*?([^*]+)\*\*?", r"\1"), (r"`([^`]*)`", r"\1"), (r"\\(?:mathbf|operatorname|text|hat)\s*\{([^}]*)\}", r"\1"),
    (r"\$|\\[,;!]", ""), (r"\\(?:mathbf|boldsymbol|hat)\s*", ""), (r"\s+", " "), (r" ([.,;:?!])", r"\1"),
)  # fmt: skip
# TeX as a line of text.
SIGNS = {"ge": "≥", "le": "≤", "mid": "|", "cdot": "·", "times": "×", "dots": "…", "partial": "∂", "sum": "Σ",
         "infty": "∞", "sigma": "σ", "omega": "ω", "pi": "π", "delta": "δ", "alpha": "α", "theta": "θ", "rho": "ρ",
         "tau": "τ", "approx": "≈", "sqrt": "√", "top": "ᵀ", "lfloor": "⌊", "rfloor": "⌋", "lvert": "|",
         "rvert": "|"}  # fmt: skip
ROLE = re.compile(r"\{(glue:text|eq|cite:t)\}`([^`]*)`")
NUMBERED = re.compile(r"\$\$[ ]*\((eq-[\w-]+)\)")
SENTENCE = re.compile(r".+?[.?!](?= [A-Z\"“]|$)")
SIGN = re.compile(r"[=√/^_∂Σ|\\]|…")  # of a formula, which a line of text does not show well
LONG, SHORT, SHOWN = 100, 60, 170  # characters: enough, the fewest, the most of what is shown of a passage
BOX = re.compile(r"^(:{3,})\{.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
ASIDE = re.compile(r"\s*(:|\||-|\d+\.|`|\$\$|#|\[|\\)")  # lists, tables and formulae


def said(text: str, known: dict[str, str]) -> str:
    """A text with its computed numbers, the numbers of formulae and the authors that it names, as `known` has them."""

    def shown(found: re.Match) -> str:
        role, words = found.groups()
        if role != "glue:text":
            return ", ".join(known[one.strip()] for one in words.split(","))
        name, _, form = words.rpartition(":") if ":" in words else (words, "", "s")
        value = known[name]
        with contextlib.suppress(SyntaxError, ValueError):
            value = ast.literal_eval(value)
        kind = str if form.endswith("s") else int if form[-1:] in "bcdoxX" else float
        return format(kind(value), form)

    return ROLE.sub(shown, text)


def numbers(cells: list[dict], chapter: int) -> dict[str, str]:
    """Of a notebook: name -> what its cells stored with lmbook.glue, label of a formula -> its number."""
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    scraps = [(out["metadata"]["scrapbook"], out["data"]) for out in outputs if "scrapbook" in out.get("metadata", {})]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    labels = [label for source in sources for label in NUMBERED.findall(source)]
    counted = {label: f"({chapter}.{n})" if chapter else f"({n})" for n, label in enumerate(labels, start=1)}
    return counted | {about["name"]: data[f"{about['mime_prefix']}text/plain"] for about, data in scraps}


def authors(bibliography: Path) -> dict[str, str]:
    """Key of a reference -> how a sentence names it: Bengio et al. (2003)."""
    from pybtex.database import parse_file
    from pybtex.richtext import Text

    found = {}
    for key, entry in parse_file(str(bibliography)).entries.items():
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        names = [str(Text.from_latex(" ".join(one.prelast_names + one.last_names))) for one in people]
        names = names or [str(Text.from_latex(entry.fields.get("organization") or entry.fields["title"]))]
        shown = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
        found[key] = f"{shown} ({entry.fields.get('year', 'n.d.')})"
    return found


def read(notebooks: Path) -> list[tuple[int, str, str]]:
    """(chapter, section, paragraph) of the running text of all chapters."""
    bibliography = notebooks.parent / "book" / "references.bib"
    known = authors(bibliography) if bibliography.exists() else {}
    chapters = {
        int(path.name[:2]): json.loads(path.read_text("utf-8"))["cells"]
        for path in sorted(notebooks.glob("[0-9][0-9]-*.ipynb"))
    }
    for chapter, cells in chapters.items():
        known |= numbers(cells, chapter)
    return [(chapter, *found) for chapter, cells in chapters.items() for found in paragraphs(cells, known)]


def firsts(rows: Iterable[tuple[int, str, str]]) -> list[int]:
    """Of each section the number of its first paragraph."""
    found = {}
    for i, (chapter, section, _) in enumerate(rows):
        found.setdefault((chapter, section), i)
    return list(found.values())


def excerpt(text: str) -> str:
    """The first run of sentences without signs of formulae that is long enough to say something, cut off where it is
    too long; where there is none, the beginning. An ellipsis stands for what is left out at either end."""
    runs = groupby(SENTENCE.findall(text), lambda one: not SIGN.search(one))
    told = ["".join(run).strip() for fits, run in runs if fits]
    long = [one for one in told if len(one) >= LONG] or [max(told, key=len, default="")]
    shown = long[0] if len(long[0]) >= SHORT else text
    before = "" if text.startswith(shown) else "…\u00a0"
    after = "" if text.endswith(shown) or len(shown) > SHOWN else "\u00a0…"
    return before + shortened(shown, SHOWN) + after


def plain(text: str) -> str:
    """A paragraph of Markdown without its marks."""
    for pattern, by in MARKUP:
        text = re.sub(pattern, by, text)
    return untexed(text).strip()


def untexed(text: str) -> str:
    """The formulae in a text without TeX's commands: \\frac{a}{b} becomes a/b."""
    text = re.sub(r"\\[td]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2", text)
    text = re.sub(r"\\[td]?frac\s*(\w)\s*(\w)", r"\1/\2", text)
    text = re.sub(r"\\(?:texttt|mathrm|text)\s*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\([A-Za-z]+)", lambda found: SIGNS.get(found[1], found[1]), text)
    return re.sub(r"\\(?=[^A-Za-z])|[{}]", "", text)


def paragraphs(cells: list[dict], known: dict[str, str]) -> list[tuple[str, str]]:
    """(section, paragraph) of the running text of a notebook, as far as its exercises; `known` is for `said`."""
    found, section = [], ""
    for cell in cells:
        text = BOX.sub("", "".join(cell["source"])) if cell["cell_type"] == "markdown" else ""
        for block in re.split(r"\n\s*\n", text):
            if heading := re.match(r"##+ (.*)", block):
                section = plain(heading[1])
                if section == "Exercises":
                    return found
            if section and not ASIDE.match(block) and "$$" not in block:
                words = plain(said(block, known))
                if len(words.split()) >= LEAST and re.match(r"[A-Z*].*[.?!]$", words):
                    found.append((section, words))
    return found


def searched(questions: np.ndarray, passages: np.ndarray, most: int) -> np.ndarray:
    """For each question the numbers of the nearest passages, the nearest first."""
    return np.argsort(-(questions @ passages.T), axis=1, kind="stable")[:, :most]


def glossary(page: str) -> list[tuple[str, str]]:
    """(term, definition without the words of the term)."""
    entries = re.findall(r"(?:^|\n\n)(\S[^\n]*)\n  (.*?)(?=\n\n\S|\n```|$)", page, flags=re.DOTALL)
    found = []
    for term, text in entries:
        struck = plain(text)
        for word in re.findall(r"\w+", term):
            struck = re.sub(rf"\b{re.escape(word)}\w*", "", struck, flags=re.IGNORECASE)
        found.append((term.lower(), re.sub(r"\s+", " ", struck)))
    return found


def stored(notebooks: Path) -> dict:
    """What passages.json holds."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    from lmbook.lab.pretrained import published_minilm, sentence_vectors

    rows = read(notebooks)
    texts = [text for _, _, text in rows]
    entries = glossary((notebooks.parent / "book" / "glossary.md").read_text("utf-8").split("```{glossary}\n")[1])
    entries = [(term, text) for term, text in entries if any(term in passage.lower() for passage in texts)]
    asked = [*QUESTIONS, *(text for _, text in entries)]
    model, pieces = published_minilm()
    vectors = {
        "vectors": [sentence_vectors(model, [pieces.encode(t) for t in part]).numpy() for part in (asked, texts)]
    }
    fitted = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit(texts)
    vectors["words"] = [fitted.transform(part).toarray() for part in (asked, texts)]
    nearest = {name: searched(*both, 2 * FOUND).tolist() for name, both in vectors.items()}
    answers = [
        {"question": question} | {name: [rows[i] for i in found[n][:3]] for name, found in nearest.items()}
        for n, question in enumerate(QUESTIONS)
    ]

    def hits(found: list[list[int]], most: int) -> str:
        """For each term 1 where one of the first passages has it, else 0."""
        rows = zip(entries, found[len(QUESTIONS) :], strict=True)
        return "".join("01"[any(term in texts[i].lower() for i in row[:most])] for (term, _), row in rows)

    few = firsts(rows)
    same = np.array([rows[i][0] for i in few])
    near = {}
    for name, (_, both) in vectors.items():
        near[name] = both[few] @ both[few].T
        near[name][same[:, None] == same[None]] = -1  # neighbours are looked for in other chapters
    order = np.argsort(-near["vectors"], axis=1, kind="stable")[:, :NEAR]
    words = [set(fitted.build_analyzer()(texts[i])) for i in few]

    def neighbour(i: int, j: int) -> list:
        """The other's number, cosine, place by TF-IDF, 0 without a word in common, and the words in common."""
        place = 1 + int((near["words"][i] > near["words"][i, j]).sum())
        common = " ".join(sorted(words[i] & words[j]))
        return [j, round(float(near["vectors"][i, j]), 2), place if common else 0, common]

    right = {name: hits(found, FOUND) for name, found in nearest.items()}
    return {
        "passages": len(rows),
        "answers": answers,
        "terms": len(entries),
        "found": {name: marks.count("1") / len(marks) for name, marks in right.items()},
        "right": right,
        "right of twice as many": {name: hits(found, 2 * FOUND) for name, found in nearest.items()},
        "sections": [[*rows[i][:2], excerpt(rows[i][2])] for i in few],
        "near": [[neighbour(i, int(j)) for j in row] for i, row in enumerate(order)],
    }


def shortened(text: str, most: int) -> str:
    """The beginning of a text, cut at a blank."""
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + "\u00a0…"


@functools.cache
def shipped() -> dict:
    """What was computed, as `stored` gives it."""
    return json.loads(PLACE.read_text("utf-8"))


if __name__ == "__main__":
    PLACE.write_text(json.dumps(stored(Path(sys.argv[1])), ensure_ascii=False) + "\n", "utf-8")
