"""Parts of speech with the pre-trained BERT: the encoder fine-tuned under a layer for tags, and one from scratch.

bert-tagging has 1, 10 and 100% of the labels, at one rate; bert-tagging-rates has 1%, at three.
"""

from collections import Counter

import numpy as np
import torch
from torch import nn

from lmbook.bert import BERTTagger
from lmbook.gpt import decay_groups
from lmbook.lab.recipes.bert_pretraining import encoder, framed, pieces
from lmbook.lab.recipes.tagging import predict, prepare, score_tags
from lmbook.lab.recipes.tasks import NO_LABEL, by_part, fit_labels
from lmbook.lab.run import Run, recipe
from lmbook.lab.word_shapes import WordForms

SHARES = {"1%": (0.01, 60), "10%": (0.1, 20), "100%": (1.0, 6)}  # of the labelled sentences, and epochs


@recipe(
    "bert-tagging",
    about="parts of speech: the pre-trained BERT fine-tuned, and one from scratch, on 1, 10 and 100% of the labels",
    minutes=6,
    corpora=("ud_english_ewt",),
    score="accuracy",
)
def bert_tagging(run: Run) -> tuple[dict, None]:
    """All at one rate, which was not searched; `bert-tagging-rates` tries others with 1%."""
    parts, _, tags = prepare(run, "ud_english_ewt")
    scores: dict = {"sentences": {}}
    for share in SHARES:
        chosen, words = drawn(run, parts["train"], share)
        scores["sentences"][share] = len(chosen)
        for start in ("fine-tuned", "scratch"):
            part = f"{start} {share}"
            model, forms = tagger(run, parts | {"train": chosen}, tags, start, share, 1e-3, part)
            full = score_tags(tag_pieces(model, parts["test"], forms, tags), parts["test"], words, tags)
            keys = ("accuracy", "accuracy known", "accuracy unknown", "unknown", "f1 by tag")
            scores[part] = {key: full[key] for key in keys}
    return scores | {"tags": tags, "accuracy": scores["fine-tuned 100%"]["accuracy"]}, None


def drawn(run: Run, rows: list, share: str) -> tuple[list, Counter]:
    """This run's share of the tagged sentences, and their words."""
    order = np.random.default_rng(run.seed).permutation(len(rows))
    chosen = [rows[i] for i in order[: max(1, round(SHARES[share][0] * len(order)))]]
    return chosen, Counter(word for text, _ in chosen for word in text)


def tagger(
    run: Run, parts: dict[str, list], tags: list[str], start: str, share: str, rate: float, part: str
) -> tuple[BERTTagger, WordForms]:
    """BERT with a layer for tags, trained on the rows of parts["train"], and its word forms.

    Its validation curve has ten points, each on a quarter of parts["valid"].
    """
    forms, bert, note = encoder(run, start)
    model = BERTTagger(bert, len(tags), dropout=0.1).to(run.device)
    number = {tag: i for i, tag in enumerate(tags)}
    rows = {"train": parts["train"], "valid": parts["valid"][::4]}
    ids, labels = by_part(tagged, rows, forms, number)
    adam = torch.optim.AdamW(decay_groups(model, 0.01), lr=rate)
    fit_labels(run, model, ids, labels, adam, SHARES[share][1], validations=10, part=part, note=note)
    return model, forms


def tagged(rows: list, forms: WordForms, number: dict[str, int]) -> tuple[list[list[int]], list[list[int]]]:
    """Ids and labels of (words, tags) sentences, piece by piece; <sos> and <eos> have no label."""
    ids = [framed(forms, piece) for text, _ in rows for piece in pieces(text)]
    labels = [[NO_LABEL, *(number[tag] for tag in piece), NO_LABEL] for _, tags in rows for piece in pieces(tags)]
    return ids, labels


def tag_pieces(model: nn.Module, rows: list, forms: WordForms, tags: list[str]) -> list[list[str]]:
    """A tag for every word of (words, tags) sentences; long ones are read in pieces and put together again."""
    cut = [pieces(text) for text, _ in rows]
    found = iter(predict(model, [framed(forms, piece) for sentence in cut for piece in sentence], tags))
    return [[tag for _ in sentence for tag in next(found)[1:-1]] for sentence in cut]


@recipe(
    "bert-tagging-rates",
    about="parts of speech with 1% of the labels: BERT fine-tuned and from scratch, each at three rates",
    minutes=3,
    corpora=("ud_english_ewt",),
    score="fine-tuned",
)
def bert_tagging_rates(run: Run) -> tuple[dict, None]:
    """Accuracies by start and rate; of each start that on the test set at the rate that is best on validation data."""
    parts, _, tags = prepare(run, "ud_english_ewt")
    chosen, words = drawn(run, parts["train"], "1%")
    scores: dict = {"rates": []}
    for start in ("fine-tuned", "scratch"):
        tried = []
        for rate in (3e-4, 1e-3, 3e-3):
            model, forms = tagger(run, parts | {"train": chosen}, tags, start, "1%", rate, f"{start}, rate {rate:g}")
            found = {
                part: score_tags(tag_pieces(model, parts[part], forms, tags), parts[part], words, tags)["accuracy"]
                for part in ("valid", "test")
            }
            tried.append({"start": start, "rate": rate} | found)
        scores["rates"] += tried
        scores[start] = max(tried, key=lambda one: one["valid"])["test"]
    return scores, None
