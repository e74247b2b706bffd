"""A label for a whole text: spam among messages, opinions on films; an LSTM beside TF-IDF and logistic regression.

    x_t = E[w_t]      h = LSTM(x_1..x_T)      y_hat = softmax(W s + b),  s the mean of h_1..h_T

Words as `text.words` cuts them, lower-cased; a word seen once is read as its class, as in `recipes.tagging`. The
baselines are scored in the same run: the commonest label, and a linear model on single words and pairs of words.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook import data
from lmbook.baselines import LinearClassifier
from lmbook.decode import evaluating
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.tagging import hide, hiding
from lmbook.rnn_models import Classifier
from lmbook.schedules import warmup_cosine
from lmbook.text import words
from lmbook.train import device_of, evaluate
from lmbook.word_shapes import WordForms

LONGEST = 120  # tokens of a text that are read


def rows_with_class(
    ids: Sequence[Sequence[int]], labels: Sequence[int], size: int, seed=None
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Batches of `size` texts of like length: ids (B, T), labels (B,) and which texts they are (B,)."""
    labels = torch.as_tensor(labels)
    for batch in data.batches([(row, ()) for row in ids], size, seed):
        yield batch.source, labels[batch.rows], batch.rows


def class_loss(own: Tensor | None = None, chance: Tensor | None = None):
    """Summed NLL of the labels, and their number; with `hiding`'s tensors some words are hidden in training."""

    def loss(model: nn.Module, batch) -> tuple[Tensor, Tensor]:
        tokens, labels = batch[:2]
        if model.training and own is not None:
            tokens = hide(tokens, own, chance)
        return F.cross_entropy(model(tokens), labels, reduction="sum"), torch.tensor(len(labels))

    return loss


def probabilities(model: nn.Module, ids: Sequence[Sequence[int]]) -> np.ndarray:
    """P(second label) of every text, (texts,)."""
    found = np.zeros(len(ids))
    with evaluating(model):
        for tokens, _, rows in rows_with_class(ids, [0] * len(ids), 64):
            found[rows] = torch.softmax(model(tokens.to(device_of(model))), -1)[:, 1].cpu()
    return found


def score_labels(found: np.ndarray, gold: np.ndarray) -> dict:
    """Accuracy; precision, recall and F1 of label 1; the confusion (rows: the right label); which texts were right."""
    found, gold = np.asarray(found, dtype=int), np.asarray(gold, dtype=int)
    confusion = np.zeros((2, 2), dtype=int)
    np.add.at(confusion, (gold, found), 1)
    hits, ours, theirs = confusion[1, 1], confusion[:, 1].sum(), confusion[1].sum()
    return {
        "accuracy": float((found == gold).mean()),
        "precision": float(hits / max(ours, 1)),
        "recall": float(hits / max(theirs, 1)),
        "f1": float(2 * hits / max(ours + theirs, 1)),
        "confusion": confusion.tolist(),
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


def train_classifier(run: Run, corpus: str, names: tuple[str, str], epochs: int, **sizes) -> tuple[dict, nn.Module]:
    """A Classifier trained on a corpus and scored on its test part, and both baselines; names: labels 0 and 1."""
    loaded = run.corpus(corpus)
    parts = {part: run.cut(loaded[part]) for part in ("train", "valid", "test")}
    texts = {part: [text for text, _ in parts[part]] for part in parts}
    gold = {part: np.array([names.index(label) for _, label in parts[part]]) for part in parts}
    tokens = {part: [words(text)[:LONGEST] or ["."] for text in texts[part]] for part in parts}
    counts = Counter(token for row in tokens["train"] for token in row)
    forms = run.text = WordForms.build(counts.elements(), min_count=2)
    ids = {part: [forms.encode(row) for row in tokens[part]] for part in parts}
    own, chance = hiding(forms, counts)
    model = Classifier(len(forms), 2, pool="mean", **sizes).to(run.device)
    total = epochs * -(-len(ids["train"]) // 32)
    run.fit(
        model,
        lambda epoch: (batch[:2] for batch in rows_with_class(ids["train"], gold["train"], 32, [run.seed, epoch])),
        class_loss(own, chance),
        torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01),
        epochs=epochs,
        schedule=lambda step: warmup_cosine(step, warmup=min(100, total - 1), total=total),
        clip=1.0,
        validate=lambda model: evaluate(model, rows_with_class(ids["valid"], gold["valid"], 64), class_loss()),
    )
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


SMS = {"corpora": ("sms_spam",), "score": "f1", "minutes": 1}
SMS_SIZES = {"d_embed": 48, "hidden": 48, "dropout": 0.3}


def spam(run: Run, **sizes) -> tuple[dict, nn.Module]:
    return train_classifier(run, "sms_spam", ("ham", "spam"), 6, **SMS_SIZES, **sizes)


@recipe(
    "sms-spam",
    about="spam among text messages: LSTM in two directions, beside TF-IDF and logistic regression",
    ships=True,
    **SMS,
)
def sms_spam(run: Run) -> tuple[dict, nn.Module]:
    return spam(run)


@recipe("sms-spam-2", about="spam among text messages: LSTM in two directions, two layers", **SMS)
def sms_spam_2(run: Run) -> tuple[dict, nn.Module]:
    return spam(run, n_layers=2)


@recipe("sms-spam-left", about="spam among text messages: LSTM from the left alone", ships=True, **SMS)
def sms_spam_left(run: Run) -> tuple[dict, nn.Module]:
    return spam(run, bidirectional=False)


FILMS = {"corpora": ("sentence_polarity",), "score": "accuracy", "minutes": 1}


def opinions(run: Run, **sizes) -> tuple[dict, nn.Module]:
    names = ("negative", "positive")
    return train_classifier(run, "sentence_polarity", names, 5, d_embed=64, hidden=64, dropout=0.5, **sizes)


@recipe(
    "film-opinions",
    about="positive and negative sentences on films: LSTM in two directions, beside TF-IDF and logistic regression",
    **FILMS,
)
def film_opinions(run: Run) -> tuple[dict, nn.Module]:
    return opinions(run)


@recipe(
    "film-opinions-2", about="positive and negative sentences on films: LSTM in two directions, two layers", **FILMS
)
def film_opinions_2(run: Run) -> tuple[dict, nn.Module]:
    return opinions(run, n_layers=2)


@recipe("film-opinions-left", about="opinions on films, sentence by sentence: LSTM from the left alone", **FILMS)
def film_opinions_left(run: Run) -> tuple[dict, nn.Module]:
    return opinions(run, bidirectional=False)
