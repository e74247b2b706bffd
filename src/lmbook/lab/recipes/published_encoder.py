"""A published encoder, all-MiniLM-L6-v2, in our code and as it is, beside the BERT that the book trained and counts.

    minilm      tags       linear maps of frozen states, trained on 1% of the tagged sentences of UD English EWT, and a
                           logistic regression on words and endings on the same sentences
                opinions   logistic regression on the vectors of sentences
                meaning    which of 300 sentences says the same as another in other words

The weights come with a package (`lmbook.lab.pretrained.published_minilm`). Sentences that say the same are English
sentences of Tatoeba with one French translation in common, and at most a third of their words.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from lmbook.bert import BERT
from lmbook.data.fetch import Unavailable
from lmbook.lab.baselines import LinearTagger
from lmbook.lab.pretrained import published_minilm, sentence_vectors
from lmbook.lab.recipes.bert_finetuning import CORPUS, LABELS, kept
from lmbook.lab.recipes.bert_pretraining import framed, pretrained
from lmbook.lab.recipes.tagging import prepare
from lmbook.lab.recipes.text_classification import labelled_texts
from lmbook.lab.run import RecipeError, Run, recipe
from lmbook.lab.word_pieces import WordPieces

PAIRS, COMMON, LEAST = 300, 1 / 3, 5  # pairs; the largest share of common words; words of a sentence
LONGEST = 60  # words of a sentence that a probe reads
DRAWS = 3  # of the labelled sentences
Framed = tuple[list[int], list[int]]  # ids, and where each word begins


def minilm(run: Run) -> tuple[BERT, WordPieces]:
    """The published encoder; in a quick run a small random one that knows letters."""
    if run.quick:
        tokenizer = WordPieces({t: i for i, t in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklm"])})
        return BERT(len(tokenizer), 256, 16, 2, 1).eval(), tokenizer
    try:
        return published_minilm()
    except Unavailable as error:
        raise RecipeError(str(error)) from None


@torch.no_grad()
def word_states(bert: BERT, frame: Callable[[list[str]], Framed], texts: Sequence[list[str]]) -> np.ndarray:
    """The state of the first piece of every word, in each layer from 0: (L + 1, words, d_model).

    frame(words): the ids of a sentence, and where its words begin. Sentences are cut after LONGEST words.
    """
    found = []
    for text in texts:
        ids, firsts = frame(text[:LONGEST])
        row = torch.tensor([ids[: bert.window]])
        x = bert.norm(bert.embedding(row) + bert.position(row.shape[1]) + bert.segment(torch.zeros_like(row)))
        states = [x]
        for layer in bert.encoder.layers:
            states.append(layer(states[-1])[0])
        found.append(torch.stack(states)[:, 0, firsts])
    return torch.cat(found, 1).numpy()


def least_squares(H: np.ndarray, y: np.ndarray, classes: int, penalty: float) -> Callable[[np.ndarray], np.ndarray]:
    """The linear probe of chapter 16 on standardised states: a function from states to labels."""
    mean, spread = H.mean(0), H.std(0) + 1e-6

    def ready(states: np.ndarray) -> np.ndarray:
        return np.pad((states - mean) / spread, ((0, 0), (0, 1)), constant_values=1.0)

    one = ready(H)
    W = np.linalg.solve(one.T @ one + penalty * np.eye(one.shape[1]), one.T @ np.eye(classes)[y])
    return lambda states: (ready(states) @ W).argmax(1)


def tags_of(rows: list, tags: list[str]) -> np.ndarray:
    return np.array([tags.index(tag) for _, row in rows for tag in row[:LONGEST]])


def probed(train, valid, test, gold: tuple[np.ndarray, ...], classes: int) -> dict:
    """Test accuracy of the layer and the penalty that are best on "valid".  train, valid, test: (L + 1, words, d)."""
    y, y_valid, y_test = gold
    tried = {
        (layer, penalty): least_squares(train[layer], y, classes, penalty)
        for layer in range(len(train))
        for penalty in (10.0, 100.0, 1000.0)
    }
    best = max(tried, key=lambda key: (tried[key](valid[key[0]]) == y_valid).mean())
    right = tried[best](test[best[0]]) == y_test
    return {"accuracy": float(right.mean()), "layer": best[0], "penalty": best[1]}


def few_labels(run: Run, encoders: dict[str, tuple[BERT, Callable[[list[str]], Framed]]]) -> dict:
    """Accuracies on the test set by system, one for each draw of 1% of the sentences: those of bert-tagging."""
    parts, _, tags = prepare(run, "ud_english_ewt")
    valid, test = parts["valid"][::4], parts["test"]
    texts = {name: [text for text, _ in rows] for name, rows in (("valid", valid), ("test", test))}
    gold = tags_of(valid, tags), tags_of(test, tags)
    states = {
        name: [word_states(bert, frame, texts[part]) for part in ("valid", "test")]
        for name, (bert, frame) in encoders.items()
    }
    scores = defaultdict(list)
    for draw in range(DRAWS):
        order = np.random.default_rng(draw).permutation(len(parts["train"]))
        few = [parts["train"][i] for i in order[: max(1, round(0.01 * len(order)))]]
        models = [LinearTagger(alpha, epochs=20, seed=draw).fit(*zip(*few, strict=True)) for alpha in (1e-5, 1e-4)]
        found = [[tags_of(list(zip(texts["valid"], m.predict(texts["valid"]), strict=True)), tags) for m in models]]
        best = models[int(np.argmax([(guess == gold[0]).mean() for guess in found[0]]))]
        guess = tags_of(list(zip(texts["test"], best.predict(texts["test"]), strict=True)), tags)
        scores["words and endings"].append({"accuracy": float((guess == gold[1]).mean())})
        for name, (bert, frame) in encoders.items():
            train = word_states(bert, frame, [text for text, _ in few])
            scores[name].append(probed(train, *states[name], (tags_of(few, tags), *gold), len(tags)))
    return dict(scores)


def same_meaning(
    rows: list[tuple[str, str]], seed: int = 0, most: int = PAIRS, alike: float = COMMON
) -> list[tuple[str, str]]:
    """Pairs of English sentences with a French translation in common and at most `alike` of their words, each once.

    rows: (English, French).  most: pairs, drawn with the seed.
    """
    by_french = defaultdict(set)
    for english, french in rows:
        if len(english.split()) >= LEAST:
            by_french[french].add(english)
    groups = sorted(sorted(group) for group in by_french.values() if len(group) > 1)
    pairs, used = [], set()
    for i in np.random.default_rng(seed).permutation(len(groups)):
        group = groups[i]
        least = min(((a, b) for k, a in enumerate(group) for b in group[k + 1 :]), key=lambda pair: common(*pair))
        if common(*least) <= alike and not used & set(least):
            used |= set(least)
            pairs.append(least)
        if len(pairs) == most:
            break
    return pairs


def common(one: str, other: str) -> float:
    """Share of the words of two sentences that both have."""
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(a & b) / max(1, len(a | b))


def found_first(queries: Tensor, texts: Tensor) -> dict:
    """How often text i is the nearest to query i by inner product: the share, and "right" for paired tests."""
    likeness = queries @ texts.T
    right = ((likeness > likeness.diag()[:, None]).sum(1) == 0).tolist()
    return {"accuracy": sum(right) / len(right), "right": "".join("01"[hit] for hit in right)}


def counted(pairs: list[tuple[str, str]], **options) -> tuple[Tensor, Tensor]:
    """TF-IDF vectors of both sides.  options: of scikit-learn's TfidfVectorizer."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    left, right = zip(*pairs, strict=True)
    fitted = TfidfVectorizer(**options).fit([*left, *right])
    return tuple(torch.from_numpy(fitted.transform(side).toarray()) for side in (left, right))


def read(bert: BERT, encode: Callable[[str], list[int]], pairs: list[tuple[str, str]]) -> tuple[Tensor, Tensor]:
    """The vectors of both sides.  encode(text): its ids."""
    return tuple(sentence_vectors(bert, [encode(text) for text in side]) for side in zip(*pairs, strict=True))


@recipe(
    "minilm",
    about="all-MiniLM-L6-v2 as it is: tags from 1% of the labels, opinions, and sentences that say the same",
    minutes=5,
    corpora=("ud_english_ewt", CORPUS, "tatoeba_eng_fra"),
    seeds=(0,),
    score="opinions, accuracy",
)
def minilm_as_it_is(run: Run) -> tuple[dict, None]:
    """No network is trained."""
    from sklearn.linear_model import LogisticRegression

    bert, tokenizer = minilm(run)
    forms, own = pretrained(run)
    own.eval()

    def frame(words: list[str]) -> Framed:
        return framed(forms, words), list(range(1, len(words) + 1))

    scores: dict = {"tags": few_labels(run, {"our BERT": (own, frame), "minilm": (bert, tokenizer.framed)})}
    texts, gold = labelled_texts(run, CORPUS, LABELS)
    vectors = {
        part: sentence_vectors(bert, [tokenizer.encode(text) for text in rows]).numpy() for part, rows in texts.items()
    }
    if len(set(gold["train"].tolist())) == 2:
        models = [LogisticRegression(C=C, max_iter=500).fit(vectors["train"], gold["train"]) for C in (0.1, 1.0, 10.0)]
        best = max(models, key=lambda model: model.score(vectors["valid"], gold["valid"]))
        scores["opinions"] = kept(best.predict(vectors["test"]), gold["test"])
        scores["opinions, accuracy"] = scores["opinions"]["accuracy"]
    tatoeba = run.split("tatoeba_eng_fra")
    if pairs := same_meaning([row for rows in tatoeba.values() for row in rows]):
        scores["pairs"], scores["common words"] = len(pairs), float(np.mean([common(*pair) for pair in pairs]))
        scores["meaning"] = {
            "words": found_first(*counted(pairs)),
            "letters": found_first(*counted(pairs, analyzer="char_wb", ngram_range=(2, 4))),
            "minilm": found_first(*read(bert, tokenizer.encode, pairs)),
        }
    return scores, None
