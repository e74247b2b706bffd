"""The book's own paragraphs, searched by meaning: what a published encoder finds for a question, and what words find.

    python -m lmbook.lab.passages NOTEBOOKS        writes passages.json anew; it needs all-MiniLM-L6-v2 and scikit-learn

A passage is a paragraph of running text of a chapter. Both searches rank all passages for a question, one by the inner
product of sentence vectors (`lmbook.lab.pretrained.sentence_vectors`), one by that of TF-IDF. To count how often they
succeed, each definition of the glossary is a question, its own term struck out: is there a passage with the term among
the first FOUND, or among twice as many? The chapters change, so passages.json is how they were when it was made.
"""

import functools
import json
import re
import sys
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
    (r"\{term\}`([^`<]*?)(?: <[^>]*>)?`", r"\1"), (r"\{cite:t\}`[^`]*`", "They"), (r"\{cite\}`[^`]*`", ""),
    (r"\{eq\}`[^`]*`", "the formula"), (r"\{glue:text\}`[^`]*`", "…"), (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"\*\*?([^*]+)\*\*?", r"\1"), (r"`([^`]*)`", r"\1"), (r"\\(?:mathbf|operatorname|text|hat)\s*\{([^}]*)\}", r"\1"),
    (r"\$|\\[,;!]", ""), (r"\\(?:mathbf|boldsymbol|hat)\s*", ""), (r"\s+", " "), (r" ([.,])", r"\1"),
)  # fmt: skip
# TeX as a line of text.
SIGNS = {"ge": "≥", "le": "≤", "mid": "|", "cdot": "·", "times": "×", "dots": "…", "partial": "∂", "sum": "Σ",
         "infty": "∞", "sigma": "σ", "omega": "ω", "pi": "π", "delta": "δ", "alpha": "α", "theta": "θ", "rho": "ρ",
         "tau": "τ", "approx": "≈", "sqrt": "√", "top": "ᵀ", "lfloor": "⌊", "rfloor": "⌋", "lvert": "|",
         "rvert": "|"}  # fmt: skip
BOX = re.compile(r"^(:{3,})\{.*?^\1[ ]*$", re.MULTILINE | re.DOTALL)
ASIDE = re.compile(r"\s*(:|\||-|\d+\.|`|\$\$|#|\[|\\)")  # lists, tables and formulae


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


def paragraphs(cells: list[dict]) -> list[tuple[str, str]]:
    """(section, paragraph) of the running text of a notebook, as far as its exercises."""
    found, section = [], ""
    for cell in cells:
        text = BOX.sub("", "".join(cell["source"])) if cell["cell_type"] == "markdown" else ""
        for block in re.split(r"\n\s*\n", text):
            if heading := re.match(r"##+ (.*)", block):
                section = plain(heading[1])
                if section == "Exercises":
                    return found
            running = section and not ASIDE.match(block) and "$$" not in block
            if running and len(plain(block).split()) >= LEAST and re.match(r"[A-Z*].*[.?!]$", plain(block)):
                found.append((section, plain(block)))
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

    rows = [
        (int(path.name[:2]), *passage)
        for path in sorted(notebooks.glob("[0-9][0-9]-*.ipynb"))
        for passage in paragraphs(json.loads(path.read_text("utf-8"))["cells"])
    ]
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

    first = {}
    for i, (chapter, section, _) in enumerate(rows):  # of the neighbours: one passage a section
        first.setdefault((chapter, section), i)
    few = list(first.values())
    own = vectors["vectors"][1][few]
    likeness = own @ own.T
    same = np.array([rows[i][0] for i in few])
    likeness[same[:, None] == same[None]] = -1  # neighbours are looked for in other chapters
    order = np.argsort(-likeness, axis=1, kind="stable")[:, :NEAR]
    right = {name: hits(found, FOUND) for name, found in nearest.items()}
    return {
        "passages": len(rows),
        "answers": answers,
        "terms": len(entries),
        "found": {name: marks.count("1") / len(marks) for name, marks in right.items()},
        "right": right,
        "right of twice as many": {name: hits(found, 2 * FOUND) for name, found in nearest.items()},
        "sections": [[*rows[i][:2], shortened(rows[i][2])] for i in few],
        "near": [[[int(j), round(float(likeness[i, j]), 2)] for j in row] for i, row in enumerate(order)],
    }


def shortened(text: str, most: int = 170) -> str:
    """The beginning of a text, cut at a blank."""
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


@functools.cache
def shipped() -> dict:
    """What was computed, as `stored` gives it."""
    return json.loads(PLACE.read_text("utf-8"))


if __name__ == "__main__":
    PLACE.write_text(json.dumps(stored(Path(sys.argv[1])), ensure_ascii=False) + "\n", "utf-8")
