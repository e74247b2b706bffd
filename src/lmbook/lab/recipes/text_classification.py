"""A label for a whole text: spam among messages, opinions on films; an LSTM beside TF-IDF and logistic regression.

    x_t = E[w_t]      h = LSTM(x_1..x_T)      y_hat = softmax(W s + b),  s the mean of h_1..h_T

Words as `text.words` cuts them, lower-cased; a word seen once is read as its class, as in `tagging`. The baselines
are scored in the same run: the commonest label, and a linear model on single words and pairs of words.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from lmbook.lab.baselines import LinearClassifier
from lmbook.lab.recipes.tagging import hiding_loss
from lmbook.lab.recipes.tasks import confusion, fit_labels, outputs
from lmbook.lab.run import Run, recipe
from lmbook.lab.word_shapes import WordForms
from lmbook.rnn_models import Classifier
from lmbook.text import words

LONGEST = 120  # tokens of a text that are read


def probabilities(model: nn.Module, ids: Sequence[Sequence[int]]) -> np.ndarray:
    """P(second label) of every text, (texts,)."""
    return torch.softmax(torch.stack(outputs(model, ids)), -1)[:, 1].double().numpy()


def score_labels(found: np.ndarray, gold: np.ndarray) -> dict:
    """Accuracy; precision, recall and F1 of label 1; the confusion (rows: the right label); which texts were right."""
    found, gold = np.asarray(found, dtype=int), np.asarray(gold, dtype=int)
    counts = confusion(gold, found, 2)
    hits, ours, theirs = counts[1, 1], counts[:, 1].sum(), counts[1].sum()
    return {
        "accuracy": float((found == gold).mean()),
        "precision": float(hits / max(ours, 1)),
        "recall": float(hits / max(theirs, 1)),
        "f1": float(2 * hits / max(ours + theirs, 1)),
        "confusion": counts.tolist(),
        "right": "".join("01"[int(right)] for right in found == gold),
    }


def near_copies(texts: Sequence[Sequence[str]], others: Sequence[Sequence[str]], share: float = 0.8) -> np.ndarray:
    """Which texts share at least `share` of their words with one of the others, (texts,): |a & b| / |a or b|.

    A number counts as the same word as any other number, so that one advertisement sent twice is found.
    """

    def types(text: Sequence[str]) -> set[str]:
        return {re.sub(r"\d+", "0", word) for word in text}

    known = [types(text) for text in others]
    return np.array([any(len(a & b) >= share * len(a | b) for b in known) for a in map(types, texts)])


def labelled_texts(run: Run, corpus: str, names: tuple[str, str]) -> tuple[dict[str, list[str]], dict[str, np.ndarray]]:
    """The texts of each part, and their labels, 0 or 1: the places in `names`."""
    parts = run.split(corpus)
    gold = {part: np.array([names.index(label) for _, label in rows]) for part, rows in parts.items()}
    return {part: [text for text, _ in rows] for part, rows in parts.items()}, gold


def train_classifier(run: Run, corpus: str, names: tuple[str, str], epochs: int, **sizes) -> tuple[dict, nn.Module]:
    """A Classifier trained on a corpus and scored on its test set, and both baselines; names: labels 0 and 1."""
    texts, gold = labelled_texts(run, corpus, names)
    tokens = {part: [words(text)[:LONGEST] or ["."] for text in texts[part]] for part in texts}
    counts = Counter(token for row in tokens["train"] for token in row)
    forms = run.text = WordForms.build(counts.elements(), min_count=2)
    ids = {part: [forms.encode(row) for row in tokens[part]] for part in tokens}
    model = Classifier(len(forms), 2, pool="mean", **sizes).to(run.device)
    adam = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    fit_labels(run, model, ids, gold, adam, epochs, warmup=100, loss=hiding_loss(forms, counts))
    found = probabilities(model, ids["test"]) > 0.5
    scores = score_labels(found, gold["test"])
    scores["valid accuracy"] = score_labels(probabilities(model, ids["valid"]) > 0.5, gold["valid"])["accuracy"]
    scores["labels"] = list(names)
    if run.rescoring:
        return scores, model
    copies = near_copies(tokens["test"], tokens["train"])
    scores["near copies"] = int(copies.sum())

    def no_copies(found: np.ndarray) -> dict:
        """F1 and accuracy once more, on the texts of which training has nothing like it."""
        new = score_labels(found[~copies], gold["test"][~copies])
        return {f"{key}, no copies": new[key] for key in ("accuracy", "f1")}

    scores |= no_copies(found)
    commonest = np.bincount(gold["train"]).argmax()
    scores["majority"] = score_labels(np.full(len(gold["test"]), commonest), gold["test"])
    if len(set(gold["train"].tolist())) == 2:
        linear = LinearClassifier(words).fit(texts["train"], gold["train"])
        found = np.array(linear.predict(texts["test"]), dtype=int)
        scores["linear"] = score_labels(found, gold["test"]) | no_copies(found)
    return scores, model


def enter(name: str, about: tuple[str, str], ships: tuple[str, ...], shown: str, corpus: str, **training) -> None:
    """Enters the recipes of one corpus: LSTMs in two directions, with two layers, and from the left alone."""
    long, short = about
    systems = {
        "": (f"{long}: LSTM in two directions, beside TF-IDF and logistic regression", {}),
        "-2": (f"{long}: LSTM in two directions, two layers", {"n_layers": 2}),
        "-left": (f"{short}: LSTM from the left alone", {"bidirectional": False}),
    }
    for ending, (what, sizes) in systems.items():

        @recipe(name + ending, about=what, minutes=1, corpora=(corpus,), ships=ending in ships, score=shown)
        def lstm(run: Run, sizes: dict = sizes) -> tuple[dict, nn.Module]:
            return train_classifier(run, corpus, **training, **sizes)


enter(
    "sms-spam", ("spam among text messages",) * 2, ("", "-left"), "f1",
    "sms_spam", names=("ham", "spam"), epochs=6, d_embed=48, hidden=48, dropout=0.3,
)  # fmt: skip
enter(
    "film-opinions", ("positive and negative sentences on films", "opinions on films, sentence by sentence"), (),
    "accuracy", "sentence_polarity", names=("negative", "positive"), epochs=5, d_embed=64, hidden=64, dropout=0.5,
)  # fmt: skip
