"""The pre-trained BERT as a reader of whole texts: opinions on films, fine-tuned and from scratch, and what it misses.

The words are those of its pre-training; a text is <sos> w_1 .. w_T <eos>. Its label comes from the state of <sos>
through the pooler, or from the mean of all states.

    bert-opinions-tuned    both poolings, each network's rate from one grid, each trained to its plateau
    bert-opinions-read     no network is trained: what the words cost TF-IDF, and what a linear probe reads from the
                           states of the frozen encoder, by pooling

Tagging with this BERT is in `bert_tagging`; the LSTM on its own words is in `text_classification`.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn

import lmbook
from lmbook.bert import BERTClassifier
from lmbook.gpt import decay_groups
from lmbook.lab.baselines import LinearClassifier
from lmbook.lab.recipes.bert_pretraining import WINDOW, encoder, framed, pretrained
from lmbook.lab.recipes.tasks import label_nll, labelled, outputs
from lmbook.lab.recipes.text_classification import labelled_texts, probabilities, score_labels
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import evaluate
from lmbook.lab.word_shapes import WordForms
from lmbook.rnn_models import Classifier
from lmbook.text import words

GRID = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
EPOCH = 268  # steps of 32 texts
CORPUS, LABELS = "sentence_polarity", ("negative", "positive")


def read_texts(run: Run, forms: WordForms) -> tuple[dict[str, list[str]], dict[str, np.ndarray], dict[str, list]]:
    """The texts of each part, their labels, and their ids, cut to the window; as in film-opinions."""
    texts, gold = labelled_texts(run, CORPUS, LABELS)
    ids = {part: [framed(forms, words(text)[: WINDOW - 2]) for text in rows] for part, rows in texts.items()}
    return texts, gold, ids


def adamw(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """AdamW with a decay of 0.01 on matrices."""
    return torch.optim.AdamW(decay_groups(model, 0.01), lr=rate)


@recipe(
    "bert-opinions-tuned",
    about="opinions on films: BERT fine-tuned and from scratch, pooled in two ways, and an LSTM on BERT's tokens",
    minutes=60,
    corpora=(CORPUS,),
    score="fine-tuned, mean, accuracy",
)
def bert_opinions_tuned(run: Run) -> tuple[dict, None]:
    """All five at the best rate of one grid, trained to the plateau.

    With seed 0 each rate has a whole training, since 100 steps said little about 1,000: pre-trained weights with mean
    pooling did best after 100 at a rate that then learned nothing. The other seeds take the rates of that run.
    """
    forms, _ = pretrained(run)
    _, gold, ids = read_texts(run, forms)
    training = {
        "batches": lambda epoch: labelled(ids["train"], gold["train"], 32, [run.seed, epoch]),
        "loss": label_nll,
        "validate": lambda model: evaluate(model, labelled(ids["valid"], gold["valid"], 64), label_nll),
        "schedule": lambda step: warmup(step, 50),
        "clip": 1.0,
    }

    def bert(start: str, pool: str) -> nn.Module:
        return BERTClassifier(encoder(run, start)[1], 2, dropout=0.1, pool=pool).to(run.device)

    systems: dict[str, Callable] = {
        f"{start}, {pool}": lambda start=start, pool=pool: bert(start, pool)
        for pool in ("first", "mean")
        for start in ("fine-tuned", "scratch")
    }
    systems["lstm, mean"] = lambda: Classifier(len(forms), 2, 64, 64, dropout=0.5, pool="mean").to(run.device)
    scores: dict = {}
    for name, build in systems.items():
        note = encoder(run, "fine-tuned")[2] if name.startswith("fine-tuned") else ""
        model = at_best_rate(run, name, build, note=note, every=40, most=8 * EPOCH, **training)
        test, valid = (kept(probabilities(model, ids[part]) > 0.5, gold[part]) for part in ("test", "valid"))
        scores[name] = test | {"valid accuracy": valid["accuracy"]}
        scores[f"{name}, accuracy"] = test["accuracy"]
    return scores, None


def at_best_rate(run: Run, name: str, build: Callable, rates: Sequence[float] = GRID, **training) -> nn.Module:
    """The model trained to its plateau at each rate (with seed 0; then at the best one): the lowest loss wins.

    build(): the model, untrained.  training: as for Run.to_plateau.  The part `name` of the record keeps all rates.
    """
    known = run.picked(name)
    rates = (known["rate"],) if known else rates[:2] if run.quick else rates
    trained = {}
    for rate in rates:
        lmbook.seed(run.seed)
        model, part = build(), f"{name}, rate {rate:g}"
        run.to_plateau(model, optimizer=adamw(model, rate), part=part, **training)
        trained[rate] = model, run.parts.pop(part)
    lowest = {rate: min(loss for _, loss in entry["valid"]) for rate, (_, entry) in trained.items() if entry["valid"]}
    best = min(lowest, key=lowest.get, default=rates[0])
    model, run.parts[name] = trained[best]
    run.parts[name]["settings"]["rates tried"] = known["rates tried"] if known else [
        {"rate": rate, "validation": lowest.get(rate), "steps": entry["steps"], "seconds": entry["seconds"]}
        for rate, (_, entry) in trained.items()
    ]  # fmt: skip
    return model


def tokens_of(forms: WordForms) -> Callable[[str], list[str]]:
    """A tokenizer: what these word forms make of a text, frequent words and classes of the others."""
    return lambda text: [forms.vocabulary.tokens[i] for i in forms.encode(words(text)).tolist()]


def counted(cut: Callable, texts: dict[str, list[str]], gold: dict[str, np.ndarray]) -> dict:
    """Test scores of TF-IDF and logistic regression over the tokens of cut(text)."""
    model = LinearClassifier(cut).fit(texts["train"], gold["train"])
    return kept(np.array(model.predict(texts["test"]), dtype=int), gold["test"])


def kept(found: np.ndarray, gold: np.ndarray) -> dict:
    """The scores that are kept; "right" for paired tests."""
    scores = score_labels(found, gold)
    return {key: scores[key] for key in ("accuracy", "f1", "right")}


def probed(vectors: dict[str, np.ndarray], gold: dict[str, np.ndarray], strengths: Sequence[float]) -> dict:
    """Test scores of logistic regression on these vectors; of the strengths C the one that is best on "valid"."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def fitted(C: float):
        return make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=500)).fit(
            vectors["train"], gold["train"]
        )

    models = [fitted(C) for C in strengths]
    best = max(models, key=lambda model: model.score(vectors["valid"], gold["valid"]))
    return kept(best.predict(vectors["test"]), gold["test"])


@recipe(
    "bert-opinions-read",
    about="opinions on films: TF-IDF over the words and over BERT's tokens, and linear probes of its states",
    minutes=1,
    corpora=(CORPUS,),
    score="probe, mean, accuracy",
)
def bert_opinions_read(run: Run) -> tuple[dict, None]:
    """Only the tokens differ between the two TF-IDFs, only the pooling or the encoder's weights between the probes."""
    forms, _ = pretrained(run)
    texts, gold, ids = read_texts(run, forms)
    scores: dict = {}
    if len(set(gold["train"].tolist())) == 2:
        scores = {
            "tf-idf": counted(words, texts, gold),
            "tf-idf, tokens of BERT": counted(tokens_of(forms), texts, gold),
        }
        for start, name in (("fine-tuned", "probe"), ("scratch", "probe of random weights")):
            bert = encoder(run, start)[1].to(run.device)
            states = {part: outputs(bert, rows) for part, rows in ids.items()}
            for pool, vector in (("first", lambda H: H[0]), ("mean", lambda H: H.mean(0))):
                vectors = {part: torch.stack([vector(H) for H in rows]).numpy() for part, rows in states.items()}
                scores[f"{name}, {pool}"] = probed(vectors, gold, (0.01, 0.1, 1.0))
    scores |= {f"{name}, accuracy": found["accuracy"] for name, found in scores.items()}
    asked, known = [word for text in texts["test"] for word in words(text)], set(forms.words)
    return scores | {"not words of BERT": sum(word not in known for word in asked) / len(asked)}, None
