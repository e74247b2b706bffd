"""The pre-trained BERT as a reader of whole texts: opinions on films, fine-tuned and from scratch.

The words are those of its pre-training; a text is <sos> w_1 .. w_T <eos>, and its label comes from the state of <sos>.
Tagging with the same encoder is `masked.bert_tagging`; the LSTM and the linear baseline are `recipes.classifying`.
"""

import functools

import numpy as np
import torch

from lmbook.bert import BERT, BERTClassifier
from lmbook.experiments.bert_pretraining import NAME, SIZES, WINDOW, framed, pretrained
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.text_classification import class_loss, probabilities, rows_with_class, score_labels
from lmbook.gpt import decay_groups
from lmbook.schedules import warmup_cosine
from lmbook.text import words
from lmbook.train import evaluate

NAMES, EPOCHS, ROWS = ("negative", "positive"), 4, 32


@recipe(
    "bert-opinions",
    about="opinions on films, sentence by sentence: the pre-trained BERT fine-tuned, and one from scratch",
    minutes=6,
    corpora=("sentence_polarity",),
    score="fine-tuned, accuracy",
)
def bert_opinions(run: Run) -> tuple[dict, None]:
    """The same texts and parts as film-opinions; what is longer than the window is cut."""
    loaded = run.corpus("sentence_polarity")
    parts = {part: run.cut(loaded[part]) for part in ("train", "valid", "test")}
    gold = {part: np.array([NAMES.index(label) for _, label in rows]) for part, rows in parts.items()}
    scores: dict = {}
    for start in ("fine-tuned", "scratch"):
        forms, bert = pretrained(run)
        if start == "scratch":
            bert = BERT(len(forms), dropout=0.1, **SIZES)
        model = BERTClassifier(bert, len(NAMES), dropout=0.1).to(run.device)
        ids = {part: [framed(forms, words(text)[: WINDOW - 2]) for text, _ in rows] for part, rows in parts.items()}
        batches = functools.partial(rows_with_class, ids["train"], gold["train"], ROWS)
        total = EPOCHS * -(-len(ids["train"]) // ROWS)
        run.fit(
            model,
            lambda epoch, batches=batches: (batch[:2] for batch in batches([run.seed, epoch])),
            class_loss(),
            torch.optim.AdamW(decay_groups(model, 0.01), lr=5e-4),
            part=start,
            note=f"weights of {NAME}" if start == "fine-tuned" else "",
            epochs=EPOCHS,
            schedule=lambda step, total=total: warmup_cosine(step, warmup=max(1, total // 10), total=total),
            clip=1.0,
            validate=lambda model, ids=ids: evaluate(
                model, rows_with_class(ids["valid"], gold["valid"], 64), class_loss()
            ),
        )
        found = score_labels(probabilities(model, ids["test"]) > 0.5, gold["test"])
        scores[start] = {key: found[key] for key in ("accuracy", "f1", "right")}
        scores[f"{start}, accuracy"] = found["accuracy"]
    return scores, None
