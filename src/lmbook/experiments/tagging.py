"""A label for every word: parts of speech on UD English EWT, entities on WNUT-17, by LSTMs and by linear models.

    x_t = E[w_t] + E[class(w_t)]      h = LSTM(x_1..x_T)      y_hat_t = softmax(W h_t + b)

A word seen once in training is read as its class (`lmbook.word_shapes`), and so is, in training, a more frequent one
now and then: with probability a / (a + c) for a word seen c times (Kiperwasser and Goldberg 2016, with a = 0.25). After
training the two embeddings of each word are added up, so that what is shipped is a plain `Tagger`.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import checkpoints, data, metrics
from lmbook.baselines import LinearTagger, MajorityTagger
from lmbook.data.batching import pad
from lmbook.decode import evaluating
from lmbook.experiments.run import Run, recipe, records
from lmbook.losses import token_nll
from lmbook.rnn_models import Tagger
from lmbook.schedules import warmup_cosine
from lmbook.train import device_of, evaluate
from lmbook.word_shapes import WordForms

NO_LABEL = -100  # stands beside padding
HIDE = 0.25
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


def labelled(
    ids: Sequence[Sequence[int]], labels: Sequence[Sequence[int]], size: int, seed=None
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Batches of `size` rows of like length: ids and labels (B, T), NO_LABEL at padding, and which rows they are."""
    for batch in data.batches([(row, ()) for row in ids], size, seed):
        yield batch.source, pad([labels[i] for i in batch.rows.tolist()], NO_LABEL), batch.rows


def hiding(forms: WordForms, words: Counter) -> tuple[Tensor, Tensor]:
    """For every id of the forms, (vocab,): that of its class, and the probability a / (a + c) that the class is read.

    words: how often each word occurs in training.
    """
    own = torch.from_numpy(forms.class_ids())
    counts = torch.tensor([words[token] for token in forms.vocabulary.tokens])
    return own, torch.where(own == torch.arange(len(own)), 0.0, HIDE / (HIDE + counts))


def hide(tokens: Tensor, own: Tensor, chance: Tensor) -> Tensor:
    """The tokens, some of them replaced by their class."""
    own, chance = own.to(tokens.device), chance.to(tokens.device)
    return torch.where(torch.rand(tokens.shape, device=tokens.device) < chance[tokens], own[tokens], tokens)


def tag_loss(own: Tensor | None = None, chance: Tensor | None = None):
    """The loss of a tagger; with `hiding`'s tensors some words are hidden in training."""

    def loss(model: nn.Module, batch) -> tuple[Tensor, Tensor]:
        tokens, labels = batch[:2]
        if model.training and own is not None:
            tokens = hide(tokens, own, chance)
        return token_nll(model(tokens), labels, ignore=NO_LABEL)

    return loss


def predict(model: nn.Module, ids: Sequence[Sequence[int]], tags: Sequence[str]) -> list[list[str]]:
    """The most probable tag of every token."""
    found: list[list[str]] = [[] for _ in ids]
    with evaluating(model):
        for tokens, _, rows in labelled(ids, [[0] * len(row) for row in ids], 64):
            best = model(tokens.to(device_of(model))).argmax(-1).tolist()
            for i, row in zip(rows.tolist(), best, strict=True):
                found[i] = [tags[k] for k in row[: len(ids[i])]]
    return found


def score_tags(predicted: list[list[str]], sentences: list, words: Counter, tags: Sequence[str]) -> dict:
    """Accuracy over all tokens, over words that training has and has not, and by how often it has them; the confusion.

    sentences: (words, tags) pairs.  words: counts of the training part.  In "confusion" rows are the right tags and
    columns the predicted ones; "right" has the number of right tags of each sentence.
    """
    number = {tag: i for i, tag in enumerate(tags)}
    pairs = [
        (words[word], number[gold], number[found])
        for (text, labels), guess in zip(sentences, predicted, strict=True)
        for word, gold, found in zip(text, labels, guess, strict=True)
    ]
    seen, gold, found = np.array(pairs).T
    confusion = np.zeros((len(tags), len(tags)), dtype=int)
    np.add.at(confusion, (gold, found), 1)
    hits = np.diagonal(confusion)
    sums = confusion.sum(0) + confusion.sum(1)
    groups = metrics.by_length(seen, [*SEEN, len(gold) * 1000], lambda rows: metrics.accuracy(found[rows], gold[rows]))
    unseen = seen == 0
    scores = {
        "accuracy": metrics.accuracy(found, gold),
        "tokens": len(gold),
        "unknown": int(unseen.sum()),
        "by count": [[low, n, accuracy if n else None] for low, _, n, accuracy in groups],
        "tags": list(tags),
        "f1 by tag": [2 * int(hit) / int(total) if total else None for hit, total in zip(hits, sums, strict=True)],
        "confusion": confusion.tolist(),
        "right": [
            sum(a == b for a, b in zip(labels, guess, strict=True))
            for (_, labels), guess in zip(sentences, predicted, strict=True)
        ],
    }
    for name, mask in (("accuracy known", ~unseen), ("accuracy unknown", unseen)):
        scores[name] = metrics.accuracy(found, gold, mask) if mask.any() else None
    return scores


def score_entities(predicted: list[list[str]], sentences: list, words: Counter, tags: Sequence[str]) -> dict:
    """Precision, recall and F1 of whole spans, for all types and each; recall of spans with a word training lacks."""
    gold = [labels for _, labels in sentences]
    scores: dict = metrics.span_f1(predicted, gold)
    types = sorted({tag[2:] for tag in tags if tag != "O"})

    def only(rows: list[list[str]], kind: str) -> list[list[str]]:
        return [[tag if tag[2:] == kind else "O" for tag in row] for row in rows]

    scores["types"] = {kind: metrics.span_f1(only(predicted, kind), only(gold, kind)) for kind in types}
    hits, totals = [0, 0], [0, 0]
    for (text, labels), guess in zip(sentences, predicted, strict=True):
        found = metrics.spans(guess)
        for span in metrics.spans(labels):
            new = any(words[word] == 0 for word in text[span[0] : span[1]])
            totals[new] += 1
            hits[new] += span in found
    scores["entities"] = sum(totals)
    for name, hit, total in zip(("recall known", "recall unknown"), hits, totals, strict=True):
        scores[name] = hit / total if total else None
    return scores


def prepare(run: Run, corpus: str) -> tuple[dict[str, list], Counter, list[str]]:
    """The parts of a corpus as (words, tags), how often each word occurs in training, and the tags in order."""
    loaded = run.corpus(corpus)
    parts = {part: run.cut(loaded[part]) for part in ("train", "valid", "test")}
    words = Counter(word for text, _ in parts["train"] for word in text)
    return parts, words, sorted({tag for part in parts.values() for _, labels in part for tag in labels})


def train_tagger(run: Run, corpus: str, score, epochs: int, min_class: int = 10, **sizes) -> tuple[dict, nn.Module]:
    """A Tagger trained on a corpus and scored on its test part; sizes go to the Tagger."""
    parts, words, tags = prepare(run, corpus)
    forms = run.text = WordForms.build(words.elements(), min_count=2, min_class=min_class)
    number = {tag: i for i, tag in enumerate(tags)}
    ids = {part: [forms.encode(text) for text, _ in parts[part]] for part in parts}
    labels = {part: [[number[tag] for tag in row] for _, row in parts[part]] for part in parts}
    own, chance = hiding(forms, words)
    model = Tagger(len(forms), len(tags), **sizes)
    if not run.rescoring:
        model.embedding = SumEmbedding(sizes["d_embed"], own)
    model.to(run.device)
    total = epochs * -(-len(ids["train"]) // 32)
    run.fit(
        model,
        lambda epoch: (batch[:2] for batch in labelled(ids["train"], labels["train"], 32, [run.seed, epoch])),
        tag_loss(own, chance),
        torch.optim.Adam(model.parameters(), lr=3e-3),
        epochs=epochs,
        schedule=lambda step: warmup_cosine(step, warmup=min(100, total - 1), total=total),
        clip=1.0,
        validate=lambda model: evaluate(model, labelled(ids["valid"], labels["valid"], 64), tag_loss()),
    )
    if not run.rescoring:
        model.embedding = model.embedding.added_up()
    scores = score(predict(model, ids["test"], tags), parts["test"], words, tags)
    return scores | {"tags": tags}, model


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


EWT = {"corpora": ("ud_english_ewt",), "score": "accuracy"}
SIZES = {"d_embed": 64, "hidden": 96, "dropout": 0.3}


@recipe("ewt-linear", about="parts of speech: logistic regression on words, endings and neighbours", minutes=1, **EWT)
def ewt_linear(run: Run) -> tuple[dict, None]:
    return score_baselines(run, "ud_english_ewt", score_tags, alpha=1e-6), None


@recipe("ewt-lstm", about="parts of speech: LSTM in two directions, one layer", minutes=1.5, ships=True, **EWT)
def ewt_lstm(run: Run) -> tuple[dict, nn.Module]:
    return train_tagger(run, "ud_english_ewt", score_tags, 6, **SIZES)


@recipe("ewt-lstm-2", about="parts of speech: LSTM in two directions, two layers", minutes=2.5, **EWT)
def ewt_lstm_2(run: Run) -> tuple[dict, nn.Module]:
    return train_tagger(run, "ud_english_ewt", score_tags, 6, n_layers=2, **SIZES)


@recipe("ewt-left", about="parts of speech: LSTM from the left alone, one layer", minutes=1, ships=True, **EWT)
def ewt_left(run: Run) -> tuple[dict, nn.Module]:
    return train_tagger(run, "ud_english_ewt", score_tags, 6, bidirectional=False, **SIZES)


@recipe("ewt-left-2", about="parts of speech: LSTM from the left alone, two layers", minutes=1.5, **EWT)
def ewt_left_2(run: Run) -> tuple[dict, nn.Module]:
    return train_tagger(run, "ud_english_ewt", score_tags, 6, bidirectional=False, n_layers=2, **SIZES)


WNUT = {"corpora": ("wnut17",), "score": "f1"}


@recipe("wnut17-linear", about="entities: logistic regression on words, endings and neighbours", minutes=0.5, **WNUT)
def wnut17_linear(run: Run) -> tuple[dict, None]:
    return score_baselines(run, "wnut17", score_entities, alpha=1e-6), None


WNUT_SIZES = {"min_class": 5, "d_embed": 64, "hidden": 96, "dropout": 0.5}


@recipe("wnut17-lstm", about="entities: LSTM in two directions, one layer", minutes=1, **WNUT)
def wnut17_lstm(run: Run) -> tuple[dict, nn.Module]:
    return train_tagger(run, "wnut17", score_entities, 10, **WNUT_SIZES)


@recipe("wnut17-lstm-2", about="entities: LSTM in two directions, two layers", minutes=1.5, **WNUT)
def wnut17_lstm_2(run: Run) -> tuple[dict, nn.Module]:
    return train_tagger(run, "wnut17", score_entities, 10, n_layers=2, **WNUT_SIZES)


@recipe("wnut17-left", about="entities: LSTM from the left alone, one layer", minutes=1, **WNUT)
def wnut17_left(run: Run) -> tuple[dict, nn.Module]:
    return train_tagger(run, "wnut17", score_entities, 10, bidirectional=False, **WNUT_SIZES)
