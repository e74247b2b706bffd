"""A small BERT of byte pairs beside that of words (`bert_pretraining`): does the vocabulary make the difference?

The sizes, the text, the number of steps, the tokens of a step and the rates are those of bert-wikitext2. Its 3,500
words and classes of rare words give way to 8,000 byte pairs, so every word can be read. A blank hides one piece. Where
one state stands for a word, it is that of its first piece, as in Devlin et al. (2019), section 5.3.
"""

import numpy as np
import torch
from torch import nn

import lmbook
from lmbook.bert import BERT, BERTClassifier, BERTTagger, MaskedLM
from lmbook.gpt import decay_groups
from lmbook.lab.recipes import bert_finetuning as opinions
from lmbook.lab.recipes.bert_pretraining import SIZES, sentences, train_blanks
from lmbook.lab.recipes.tagging import predict, prepare
from lmbook.lab.recipes.tasks import NO_LABEL, by_part, fit_labels, label_nll, labelled
from lmbook.lab.recipes.text_classification import labelled_texts, probabilities
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import evaluate
from lmbook.text import EOS_ID, SOS_ID, UNK, UNK_ID, BytePairTokenizer, words

TYPES, WINDOW = 8000, 96  # the window has room for as many words as that of words
LONGEST = 16  # pieces of a word that are read
DRAWS, RATES = 3, (1e-4, 3e-4)  # draws of 1% of the tagged sentences; rates tried on opinions
Row = tuple[list[int], list[int]]


def framed(pairs: BytePairTokenizer, sentence: list[str]) -> list[Row]:
    """A sentence as rows <sos> pieces <eos> that fit into the window, each with the places where its words begin."""
    found: list[Row] = []
    ids, firsts = [SOS_ID], []
    for word in sentence:
        pieces = [UNK_ID] if word == UNK else pairs.encode(" " + word)[:LONGEST]
        if len(ids) + len(pieces) >= WINDOW:
            found.append(([*ids, EOS_ID], firsts))
            ids, firsts = [SOS_ID], []
        firsts.append(len(ids))
        ids += pieces
    return [*found, ([*ids, EOS_ID], firsts)]


def pretrained(run: Run) -> tuple[BytePairTokenizer, MaskedLM, dict]:
    """The byte pairs of WikiText-2's training text, the BERT that fills blanks, and its scores on the test text."""
    text = {part: sentences(tokens) for part, tokens in run.split("wikitext2", 3000).items()}
    running = " ".join(word for sentence in text["train"] for word in sentence if word != UNK)
    pairs = BytePairTokenizer.train(running, (300 if run.quick else TYPES) - BytePairTokenizer.FIRST_MERGE)
    ids = {part: [row for sentence in text[part] for row, _ in framed(pairs, sentence)] for part in text}
    model = MaskedLM(BERT(len(pairs), dropout=0.1, **SIZES | {"window": WINDOW})).to(run.device)
    scores = train_blanks(run, model, ids)
    n_words = sum(len(sentence) for sentence in text["train"])
    return pairs, model, scores | {"types": len(pairs), "pieces per word": sum(map(len, ids["train"])) / n_words}


def fresh(pairs: BytePairTokenizer, weights: dict | None) -> BERT:
    """An encoder with these weights, or with random ones."""
    bert = BERT(len(pairs), dropout=0.1, **SIZES | {"window": WINDOW})
    if weights is not None:
        bert.load_state_dict(weights)
    return bert


def tag_words(model: nn.Module, pairs: BytePairTokenizer, texts: list[list[str]], tags: list[str]) -> list[str]:
    """A tag for every word, read at its first piece."""
    cut = [row for text in texts for row in framed(pairs, text)]
    found = predict(model, [ids for ids, _ in cut], tags)
    return [found_row[at] for found_row, (_, firsts) in zip(found, cut, strict=True) for at in firsts]


def tagged(rows: list, pairs: BytePairTokenizer, tags: list[str]) -> tuple[list[list[int]], list[list[int]]]:
    """Ids and labels of (words, tags) sentences; a word's label stands at its first piece."""
    ids, labels = [], []
    for text, row in rows:
        left = iter(row)
        for pieces, firsts in framed(pairs, text):
            ids.append(pieces)
            labels.append([NO_LABEL] * len(pieces))
            for at in firsts:
                labels[-1][at] = tags.index(next(left))
    return ids, labels


def few_labels(run: Run, pairs: BytePairTokenizer, starts: dict[str, dict | None]) -> dict:
    """Accuracies on the test set, fine-tuned on 1% of the sentences: the draws and the settings of bert-tagging."""
    parts, _, tags = prepare(run, "ud_english_ewt")
    gold = [tag for _, row in parts["test"] for tag in row]
    scores: dict = {name: [] for name in starts}
    for draw in range(DRAWS):
        order = np.random.default_rng(draw).permutation(len(parts["train"]))
        few = [parts["train"][i] for i in order[: max(1, round(0.01 * len(order)))]]
        ids, labels = by_part(tagged, {"train": few, "valid": parts["valid"][::4]}, pairs, tags)
        for name, weights in starts.items():
            lmbook.seed(draw)
            model = BERTTagger(fresh(pairs, weights), len(tags), dropout=0.1).to(run.device)
            adam = torch.optim.AdamW(decay_groups(model, 0.01), lr=1e-3)
            fit_labels(run, model, ids, labels, adam, 60, validations=10, part=f"{name}, tags, draw {draw}")
            found = tag_words(model, pairs, [text for text, _ in parts["test"]], tags)
            scores[name].append({"accuracy": float(np.mean([a == b for a, b in zip(found, gold, strict=True)]))})
    return scores


def film_opinions(run: Run, pairs: BytePairTokenizer, weights: dict) -> dict:
    """Test scores on opinions, fine-tuned at the better of RATES to the plateau, and of TF-IDF over the byte pairs."""
    texts, gold = labelled_texts(run, opinions.CORPUS, opinions.LABELS)
    ids = {part: [framed(pairs, words(text))[0][0] for text in some] for part, some in texts.items()}
    model = opinions.at_best_rate(
        run,
        "fine-tuned, opinions",
        lambda: BERTClassifier(fresh(pairs, weights), 2, dropout=0.1, pool="mean").to(run.device),
        rates=RATES,
        batches=lambda epoch: labelled(ids["train"], gold["train"], 32, [run.seed, epoch]),
        loss=label_nll,
        validate=lambda model: evaluate(model, labelled(ids["valid"], gold["valid"], 64), label_nll),
        schedule=lambda step: warmup(step, 50),
        clip=1.0,
        every=40,
        most=8 * opinions.EPOCH,
    )
    scores = {"fine-tuned": opinions.kept(probabilities(model, ids["test"]) > 0.5, gold["test"])}
    if len(set(gold["train"].tolist())) == 2:
        scores["tf-idf"] = opinions.counted(pairs.split, texts, gold)
    return scores


@recipe(
    "bert-byte-pairs",
    about="the small BERT on 8,000 byte pairs in place of words: blanks, tags with 1% of the labels, opinions on films",
    minutes=60,
    corpora=("wikitext2", "ud_english_ewt", opinions.CORPUS),
    seeds=(0,),
    score="perplexity",
)
def bert_byte_pairs(run: Run) -> tuple[dict, None]:
    pairs, model, scores = pretrained(run)
    starts = {"fine-tuned": model.bert.state_dict(), "scratch": None}
    scores["tags"] = few_labels(run, pairs, starts)
    return scores | {"opinions": film_opinions(run, pairs, starts["fine-tuned"])}, None
