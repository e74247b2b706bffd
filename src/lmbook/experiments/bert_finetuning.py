"""The pre-trained BERT as a reader of whole texts: opinions on films, fine-tuned and from scratch, pooled in two ways.

The words are those of its pre-training; a text is <sos> w_1 .. w_T <eos>. Its label comes from the state of <sos>
through the pooler, or from the mean of all states. Every network's rate is picked from one grid and every network is
trained to the same plateau. What the words cost is measured without BERT: an LSTM reads the same tokens, and TF-IDF
counts first the text's own words, then the tokens that BERT sees of them.

Tagging with this BERT is `bert_pretraining.bert_tagging`; the LSTM on its own words is in `text_classification`.
"""

from collections.abc import Callable

import torch
from torch import nn

from lmbook.baselines import LinearClassifier
from lmbook.bert import BERTClassifier
from lmbook.experiments.bert_pretraining import WINDOW, encoder, framed, pretrained
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.tasks import label_nll, labelled
from lmbook.experiments.text_classification import labelled_texts, probabilities, score_labels
from lmbook.gpt import decay_groups
from lmbook.rnn_models import Classifier
from lmbook.schedules import warmup
from lmbook.text import words
from lmbook.train import evaluate
from lmbook.word_shapes import WordForms

GRID = (3e-4, 1e-3, 3e-3)
EPOCH = 268  # steps of 32 texts


def reads(forms: WordForms) -> Callable[[str], list[str]]:
    """A tokenizer: the tokens that these word forms make of a text, frequent words and classes of the others."""
    return lambda text: [forms.vocabulary.tokens[i] for i in forms.encode(words(text)).tolist()]


def counted(cut: Callable, texts: dict[str, list[str]], gold: dict) -> dict:
    """Test and validation accuracy of TF-IDF and logistic regression over these tokens."""
    model = LinearClassifier(cut).fit(texts["train"], gold["train"])
    found = {part: [int(label) for label in model.predict(texts[part])] for part in ("test", "valid")}
    return scored(*(score_labels(found[part], gold[part]) for part in ("test", "valid")))


def scored(test: dict, valid: dict) -> dict:
    """What is kept of the scores of two parts."""
    return {key: test[key] for key in ("accuracy", "f1", "right")} | {"valid accuracy": valid["accuracy"]}


@recipe(
    "bert-opinions",
    about="opinions on films, sentence by sentence: BERT fine-tuned and from scratch, and what its words cost",
    minutes=8,
    corpora=("sentence_polarity",),
    score="fine-tuned, mean, accuracy",
)
def bert_opinions(run: Run) -> tuple[dict, None]:
    """The same texts and parts as film-opinions; what is longer than the window is cut."""
    texts, gold = labelled_texts(run, "sentence_polarity", ("negative", "positive"))
    forms, _ = pretrained(run)
    ids = {part: [framed(forms, words(text)[: WINDOW - 2]) for text in rows] for part, rows in texts.items()}
    training = {
        "batches": lambda epoch: labelled(ids["train"], gold["train"], 32, [run.seed, epoch]),
        "loss": label_nll,
        "validate": lambda model: evaluate(model, labelled(ids["valid"], gold["valid"], 64), label_nll),
        "schedule": lambda step: warmup(step, 50),
        "clip": 1.0,
    }

    def bert(start: str, pool: str) -> nn.Module:
        return BERTClassifier(encoder(run, start)[1], 2, dropout=0.1, pool=pool).to(run.device)

    def adam(model: nn.Module, rate: float) -> torch.optim.Optimizer:
        return torch.optim.AdamW(decay_groups(model, 0.01), lr=rate)

    systems = {
        f"{start}, {pool}": lambda start=start, pool=pool: bert(start, pool)
        for pool in ("first", "mean")
        for start in ("fine-tuned", "scratch")
    }
    systems["lstm, mean"] = lambda: Classifier(len(forms), 2, 64, 64, dropout=0.5, pool="mean").to(run.device)
    scores: dict = {}
    for name, build in systems.items():
        rate = run.tune(build, part=name, optimiser=adam, rates=GRID, steps=100, evaluate_every=50, **training)
        model, note = build(), encoder(run, "fine-tuned")[2] if name.startswith("fine-tuned") else ""
        run.to_plateau(model, optimiser=adam(model, rate), every=40, most=4 * EPOCH, part=name, note=note, **training)
        found = {part: score_labels(probabilities(model, ids[part]) > 0.5, gold[part]) for part in ("test", "valid")}
        scores[name] = scored(**found)
        scores[f"{name}, accuracy"] = scores[name]["accuracy"]
    for name, cut in {"tf-idf": words, "tf-idf, tokens of BERT": reads(forms)}.items():
        scores[name] = counted(cut, texts, gold)
    tokens = [word for text in texts["test"] for word in words(text)]
    scores["not words of BERT"] = sum(word not in set(forms.words) for word in tokens) / len(tokens)
    return scores, None
