"""Vowels put back by labelling: what project II's first milestone of a network reaches.

    thr ws n wnd   h = LSTM(<sos>, x_1..x_n) from both sides   label_t = the vowels behind x_t, label_0 those before x_1

Lines and cut are those of the project's page: the package's part "train" of Tiny Shakespeare, the last tenth of which
validates and is scored. The part "valid" stays unseen, for the students' last table.
"""

from collections import Counter, defaultdict
from collections.abc import Callable

import torch

from lmbook.lab.recipes.tasks import NO_LABEL, fit_labels, outputs
from lmbook.lab.run import Run, recipe
from lmbook.rnn_models import Tagger
from lmbook.text import SOS_ID, Vocabulary

VOWELS = "aeiou"


def skeleton(line: str) -> str:
    return "".join(c for c in line if c not in VOWELS)


def labels(line: str) -> list[str]:
    """The vowels before the first character that is left, then those behind each."""
    found = [""]
    for c in line:
        if c in VOWELS:
            found[-1] += c
        else:
            found.append("")
    return found


def together(text: str, found: list[str]) -> str:
    """The line of a skeleton and its labels."""
    return found[0] + "".join(c + vowels for c, vowels in zip(text, found[1:], strict=True))


def edits(a: str, b: str) -> int:
    """The fewest characters to insert, delete or change that turn a into b (Levenshtein 1966)."""
    row = list(range(len(b) + 1))
    for i, c in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, d in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (c != d))
    return row[-1]


def measures(restore: Callable[[str], str], lines: list[str]) -> dict[str, float]:
    """The share of words that come back, and edits per hundred characters of the lines."""
    pairs = [(restore(skeleton(line)), line) for line in lines]
    right = [a == b for ours, line in pairs for a, b in zip(ours.split(" "), line.split(" "), strict=True)]
    changed = sum(edits(ours, line) for ours, line in pairs)
    return {"words right": sum(right) / len(right), "edits": 100 * changed / sum(map(len, lines)), "words": len(right)}


def commonest(lines: list[str]) -> Callable[[str], str]:
    """The baseline of the page: for each skeleton its commonest word; one that was never seen stays."""
    seen = defaultdict(Counter)
    for line in lines:
        for word in line.split():
            seen[skeleton(word)][word] += 1
    best = {bare: counts.most_common(1)[0][0] for bare, counts in seen.items()}
    return lambda text: " ".join(best.get(bare, bare) for bare in text.split(" "))


@recipe(
    "vowels",
    about="vowels put back into Shakespeare: a tagger over characters in both directions, twenty passes",
    minutes=20,
    corpora=("tinyshakespeare",),
    score="words right",
)
def vowels(run: Run) -> tuple[dict, None]:
    text = run.corpus("tinyshakespeare")["train"].lower()
    lines = run.cut([line for line in text.splitlines() if len(line.split()) > 2], 200)
    train, valid = lines[: len(lines) * 9 // 10], lines[len(lines) * 9 // 10 :]
    characters = Vocabulary(sorted({c for line in train for c in skeleton(line)}))
    kinds = sorted({kind for line in train for kind in labels(line)})
    number = {kind: i for i, kind in enumerate(kinds)}

    def read(text: str) -> list[int]:
        return [SOS_ID, *characters.encode(list(text)).tolist()]

    ids, wanted = {}, {}
    for part, rows in (("train", train), ("valid", valid)):
        ids[part] = [read(skeleton(line)) for line in rows]
        wanted[part] = [[number.get(kind, NO_LABEL) for kind in labels(line)] for line in rows]
    model = Tagger(len(characters), len(kinds), d_embed=64, hidden=128, dropout=0.2).to(run.device)
    fit_labels(run, model, ids, wanted, torch.optim.Adam(model.parameters(), lr=0.01), epochs=20)
    found = {}
    for line, logits in zip(valid, outputs(model, ids["valid"]), strict=True):
        text = skeleton(line)
        found[text] = together(text, [kinds[k] for k in logits.argmax(-1).tolist()])
    return measures(found.__getitem__, valid) | {"commonest": measures(commonest(train), valid)}, None
