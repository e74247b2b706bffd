"""A label for every word: parts of speech on UD English EWT, entities on WNUT-17, by LSTMs and by linear models.

    x_t = E[w_t] + E[class(w_t)]      h = LSTM(x_1..x_T)      y_hat_t = softmax(W h_t + b)

A word seen once in training is read as its class (`lab.word_shapes`), and so is, in training, a more frequent one now
and then: with probability a / (a + c) for a word seen c times (Kiperwasser and Goldberg 2016, with a = 0.25). After
training the two embeddings of each word are added up, so that what is shipped is a plain `Tagger`.
"""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

import lmbook
from lmbook import metrics
from lmbook.lab import checkpoints
from lmbook.lab.baselines import LinearTagger, MajorityTagger
from lmbook.lab.recipes.tasks import Pair, confusion, fit_labels, label_nll, outputs
from lmbook.lab.run import Run, recipe, records
from lmbook.lab.word_shapes import WordForms
from lmbook.rnn_models import Tagger

HIDE = 0.25
WNUT17 = {"epochs": 30, "min_class": 5, "dropout": 0.5}
SEEN = (0, 1, 3, 10, 100, 1000)  # edges of how often a word was seen in training, for the accuracy of rare words


class SumEmbedding(nn.Embedding):
    """E[w] + E[class(w)]; E[w] alone for a class and a special token.  own: class_ids of the word forms, (vocab,)."""

    def __init__(self, width: int, own: Tensor):
        super().__init__(len(own), width)
        nn.init.uniform_(self.weight, -0.1, 0.1)
        self.register_buffer("own", own, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        classes = self.own[tokens]
        words = super().forward(tokens).masked_fill((classes == tokens).unsqueeze(-1), 0.0)
        return words + super().forward(classes)

    def added_up(self) -> nn.Embedding:
        """The same as a plain table."""
        with torch.no_grad():
            return nn.Embedding.from_pretrained(self(torch.arange(len(self.own), device=self.own.device)), freeze=False)


def hiding(forms: WordForms, words: Counter, a: float = HIDE) -> tuple[Tensor, Tensor]:
    """For every id of the forms, (vocab,): that of its class, and the probability a / (a + c) that the class is read.

    words: how often each word occurs in training.
    """
    own = torch.from_numpy(forms.class_ids())
    counts = torch.tensor([words[token] for token in forms.vocabulary.tokens])
    return own, torch.where(own == torch.arange(len(own)), 0.0, a / (a + counts))


def hide(tokens: Tensor, own: Tensor, chance: Tensor) -> Tensor:
    """The tokens, some of them replaced by their class."""
    own, chance = own.to(tokens.device), chance.to(tokens.device)
    return torch.where(torch.rand(tokens.shape, device=tokens.device) < chance[tokens], own[tokens], tokens)


def hiding_loss(forms: WordForms, words: Counter, a: float = HIDE) -> Callable:
    """`label_nll` with some words hidden: the loss of a training."""
    own, chance = hiding(forms, words, a)

    def loss(model: nn.Module, batch: Pair) -> tuple[Tensor, Tensor]:
        tokens, labels = batch
        return label_nll(model, (hide(tokens, own, chance), labels))

    return loss


def predict(model: nn.Module, ids: Sequence[Sequence[int]], tags: Sequence[str]) -> list[list[str]]:
    """The most probable tag of every token."""
    return [[tags[k] for k in logits.argmax(-1).tolist()] for logits in outputs(model, ids)]


def score_tags(predicted: list[list[str]], sentences: list, words: Counter, tags: Sequence[str]) -> dict:
    """Accuracy over all tokens, over words that training has and has not, and by how often it has them; the confusion.

    sentences: (words, tags) pairs.  words: counts of the training set.  In "confusion" rows are the right tags and
    columns the predicted ones; "right" has the number of right tags of each sentence.
    """
    number = {tag: i for i, tag in enumerate(tags)}
    seen = np.array([words[word] for text, _ in sentences for word in text])
    gold = np.array([number[tag] for _, labels in sentences for tag in labels])
    found = np.array([number[tag] for labels in predicted for tag in labels])
    counts, known = confusion(gold, found, len(tags)), seen > 0
    hits, sums = np.diagonal(counts), counts.sum(0) + counts.sum(1)
    groups = metrics.by_length(seen, [*SEEN, len(gold) * 1000], lambda rows: metrics.accuracy(found[rows], gold[rows]))
    ends = np.cumsum([len(labels) for _, labels in sentences])[:-1]
    return {
        "accuracy": metrics.accuracy(found, gold),
        "tokens": len(gold),
        "unknown": int((~known).sum()),
        "by count": [[low, n, accuracy if n else None] for low, _, n, accuracy in groups],
        "tags": list(tags),
        "f1 by tag": [2 * int(hit) / int(total) if total else None for hit, total in zip(hits, sums, strict=True)],
        "confusion": counts.tolist(),
        "right": [int(right.sum()) for right in np.split(gold == found, ends)],
        "accuracy known": metrics.accuracy(found, gold, known) if known.any() else None,
        "accuracy unknown": metrics.accuracy(found, gold, ~known) if not known.all() else None,
    }


def score_entities(predicted: list[list[str]], sentences: list, words: Counter, tags: Sequence[str]) -> dict:
    """Precision, recall and F1 of whole spans, for all types and each; recall of spans with a word training lacks."""
    gold = [labels for _, labels in sentences]
    scores: dict = metrics.span_f1(predicted, gold)
    types = sorted({tag[2:] for tag in tags if tag != "O"})

    def only(rows: list[list[str]], kind: str) -> list[list[str]]:
        return [[tag if tag[2:] == kind else "O" for tag in row] for row in rows]

    scores["types"] = {kind: metrics.span_f1(only(predicted, kind), only(gold, kind)) for kind in types}
    found = {False: [], True: []}  # by whether a word of the span is new: which spans were found
    for (text, labels), guess in zip(sentences, predicted, strict=True):
        guessed = metrics.spans(guess)
        for span in metrics.spans(labels):
            found[any(words[word] == 0 for word in text[span[0] : span[1]])].append(span in guessed)
    scores["entities"] = len(found[False]) + len(found[True])
    for name, hits in zip(("recall known", "recall unknown"), found.values(), strict=True):
        scores[name] = sum(hits) / len(hits) if hits else None
    return scores


def prepare(run: Run, corpus: str) -> tuple[dict[str, list], Counter, list[str]]:
    """The parts of a corpus as (words, tags), how often each word occurs in training, and the tags in order."""
    parts = run.split(corpus)
    words = Counter(word for text, _ in parts["train"] for word in text)
    return parts, words, sorted({tag for part in parts.values() for _, labels in part for tag in labels})


def train_tagger(
    run: Run, corpus: str, score: Callable, epochs: int, min_class: int = 10, rate: float = 3e-3, a: float = HIDE,
    scored: str = "test", part: str = "model", **sizes,
) -> tuple[dict, nn.Module]:  # fmt: skip
    """A Tagger trained on a corpus and scored on one of its parts, the test set; sizes go to the Tagger."""
    parts, words, tags = prepare(run, corpus)
    forms = run.text = WordForms.build(words.elements(), min_count=2, min_class=min_class)
    number = {tag: i for i, tag in enumerate(tags)}
    ids = {part: [forms.encode(text) for text, _ in parts[part]] for part in parts}
    labels = {part: [[number[tag] for tag in row] for _, row in parts[part]] for part in parts}
    model = Tagger(len(forms), len(tags), **sizes)
    if not run.rescoring:
        model.embedding = SumEmbedding(sizes["d_embed"], torch.from_numpy(forms.class_ids()))
    adam = torch.optim.Adam(model.to(run.device).parameters(), lr=rate)
    fit_labels(run, model, ids, labels, adam, epochs, warmup=100, loss=hiding_loss(forms, words, a), part=part)
    if not run.rescoring:
        model.embedding = model.embedding.added_up()
    return score(predict(model, ids[scored], tags), parts[scored], words, tags) | {"tags": tags}, model


def score_baselines(run: Run, corpus: str, score, alpha: float) -> dict:
    """The linear tagger's scores, and under "majority" those of the most frequent tag of each word."""
    parts, words, tags = prepare(run, corpus)
    texts, labels = zip(*parts["train"], strict=True)
    test = [text for text, _ in parts["test"]]
    linear = LinearTagger(alpha, seed=run.seed).fit(texts, labels).predict(test)
    scores = score(linear, parts["test"], words, tags)
    return scores | {"majority": score(MajorityTagger(texts, labels).predict(test), parts["test"], words, tags)}


def trained_tagger(name: str) -> tuple[Tagger, WordForms, list[str]]:
    """A tagger that the package ships, ready to use; its vocabulary, and its tags in the order of its logits."""
    model, forms, _ = checkpoints.load(name)
    return model, forms, records(name)[0]["scores"]["tags"]


SYSTEMS = {
    "lstm": ("LSTM in two directions, one layer", {}),
    "lstm-2": ("LSTM in two directions, two layers", {"n_layers": 2}),
    "left": ("LSTM from the left alone, one layer", {"bidirectional": False}),
    "left-2": ("LSTM from the left alone, two layers", {"bidirectional": False, "n_layers": 2}),
}


def enter(prefix: str, task: str, minutes: dict[str, float], ships: tuple[str, ...], corpus: str, shown: str, score,
          **training) -> None:  # fmt: skip
    """Enters the recipes of one corpus: the linear tagger, and the SYSTEMS with their minutes."""
    about = {"corpora": (corpus,), "score": shown}

    @recipe(f"{prefix}-linear", about=f"{task}: logistic regression on words, endings and neighbours",
            minutes=minutes.pop("linear"), **about)  # fmt: skip
    def linear(run: Run) -> tuple[dict, None]:
        return score_baselines(run, corpus, score, alpha=1e-6), None

    for name, each in minutes.items():
        what, sizes = SYSTEMS[name]

        @recipe(f"{prefix}-{name}", about=f"{task}: {what}", minutes=each, ships=name in ships, **about)
        def lstm(run: Run, sizes: dict = sizes) -> tuple[dict, nn.Module]:
            return train_tagger(run, corpus, score, d_embed=64, hidden=96, **training, **sizes)


enter(
    "ewt", "parts of speech", {"linear": 1, "lstm": 1.5, "lstm-2": 2.5, "left": 1, "left-2": 1.5}, ("lstm", "left"),
    "ud_english_ewt", "accuracy", score_tags, epochs=6, dropout=0.3,
)  # fmt: skip
enter(
    "wnut17", "entities", {"linear": 0.5, "lstm": 2, "lstm-2": 3, "left": 1.5}, (),
    "wnut17", "f1", score_entities, **WNUT17,
)  # fmt: skip


@recipe(
    "wnut17-settings",
    about="entities: the LSTM of one layer at three rates, with words hidden seldom and more often, on validation data",
    minutes=10,
    corpora=("wnut17",),
    score="rate 0.003, a 0.25",
)
def settings(run: Run) -> tuple[dict, None]:
    """F1 on the validation set for every rate and a; the other recipes on WNUT-17 have the rate 0.003 and a = 0.25."""
    found = {}
    for rate in (1e-3, 3e-3, 1e-2):
        for a in (HIDE, 4 * HIDE):
            name = f"rate {rate:g}, a {a:g}"
            lmbook.seed(run.seed)
            scores, _ = train_tagger(
                run,
                "wnut17",
                score_entities,
                d_embed=64,
                hidden=96,
                rate=rate,
                a=a,
                scored="valid",
                part=name,
                **WNUT17,
            )
            found[name] = scores["f1"]
    return found, None


@recipe(
    "wnut17-passes",
    about="entities: one direction and two, after 60 and 120 passes through the text",
    minutes=10,
    corpora=("wnut17",),
    score="both, 120 passes",
)
def passes(run: Run) -> tuple[dict, None]:
    """F1 on the test set. Each number of passes is a whole training, with the schedule of wnut17-left and -lstm."""
    found = {}
    for system, name in (("left", "left"), ("lstm", "both")):
        for epochs in (60, 120):
            part = f"{name}, {epochs} passes"
            lmbook.seed(run.seed)
            options = WNUT17 | {"epochs": epochs} | SYSTEMS[system][1]
            scores, _ = train_tagger(run, "wnut17", score_entities, d_embed=64, hidden=96, part=part, **options)
            found[part] = scores["f1"]
    return found, None
