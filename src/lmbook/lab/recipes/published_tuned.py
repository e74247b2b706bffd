"""A published encoder, all-MiniLM-L6-v2, fine-tuned in our code: tags with 1% of the labels, and opinions on films.

    minilm-tags-tuned        20 epochs on the sentences of bert-tagging, another draw for each seed
    minilm-opinions-tuned    2 epochs on the texts of bert-opinions-tuned, the mean of the states

With seed 0 the rate is the best of a grid on validation data: for tags each rate has a whole training, for opinions a
quarter of an epoch. The other seeds take it. The products of a training step are rounded to bfloat16, which halves its
time on a CPU; weights, sums and scores are of 32 bits. The same encoder, frozen, is in `published_encoder`.
"""

import numpy as np
import torch
from torch import Tensor, nn

import lmbook
from lmbook.bert import BERTClassifier, BERTTagger
from lmbook.gpt import decay_groups
from lmbook.lab.recipes.bert_finetuning import CORPUS, EPOCH, LABELS, kept
from lmbook.lab.recipes.bert_pretraining import pieces
from lmbook.lab.recipes.bert_tagging import drawn
from lmbook.lab.recipes.published_encoder import LONGEST, minilm
from lmbook.lab.recipes.tagging import prepare
from lmbook.lab.recipes.tasks import NO_LABEL, Pair, by_part, fit_labels, label_nll, labelled, outputs
from lmbook.lab.recipes.text_classification import labelled_texts, probabilities
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import evaluate
from lmbook.lab.word_pieces import WordPieces
from lmbook.losses import token_nll

NOTE = "weights of all-MiniLM-L6-v2"
TAG_RATES, TAG_EPOCHS = (1e-4, 3e-4, 1e-3), 20
RATES, TRIAL, EPOCHS = (3e-5, 1e-4, 3e-4), EPOCH // 4, 2


def rounded_nll(model: nn.Module, batch: Pair) -> tuple[Tensor, Tensor]:
    """`tasks.label_nll`, the products of the model in bfloat16."""
    inputs, labels = batch
    with torch.autocast(inputs.device.type, torch.bfloat16):
        logits = model(inputs)
    return token_nll(logits.float(), labels, ignore=NO_LABEL)


def adamw(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    """AdamW with a decay of 0.01 on matrices, all weights in one pass."""
    return torch.optim.AdamW(decay_groups(model, 0.01), lr=rate, fused=True)


def rows_of(rows: list, tokenizer: WordPieces, tags: list[str]) -> tuple[list[list[int]], list[list[int]]]:
    """Ids and labels of (words, tags) sentences, LONGEST words at a time; a word's label stands at its first piece."""
    ids, labels = [], []
    for text, row in rows:
        for some, own in zip(pieces(text, LONGEST), pieces(row, LONGEST), strict=True):
            cut, firsts = tokenizer.framed(some)
            ids.append(cut)
            labels.append([NO_LABEL] * len(cut))
            for at, tag in zip(firsts, own, strict=True):
                labels[-1][at] = tags.index(tag)
    return ids, labels


def right_tags(model: nn.Module, ids: list[list[int]], labels: list[list[int]]) -> float:
    """The share of all words whose tag is the most probable one."""
    found = torch.cat([logits.argmax(-1) for logits in outputs(model, ids)])
    gold = torch.tensor([label for row in labels for label in row])
    return float((found == gold)[gold != NO_LABEL].float().mean())


@recipe(
    "minilm-tags-tuned",
    about="parts of speech: all-MiniLM-L6-v2 fine-tuned on 1% of the labels",
    minutes=5,
    corpora=("ud_english_ewt",),
    score="accuracy",
)
def minilm_tags_tuned(run: Run) -> tuple[dict, None]:
    parts, _, tags = prepare(run, "ud_english_ewt")
    few, _ = drawn(run, parts["train"], "1%")
    known, found, trained = run.picked("model"), [], {}
    for rate in (known["rate"],) if known else TAG_RATES[:2] if run.quick else TAG_RATES:
        lmbook.seed(run.seed)
        bert, tokenizer = minilm(run)
        model, part = BERTTagger(bert, len(tags), dropout=0.1).to(run.device), f"rate {rate:g}"
        rows = {"train": few, "valid": parts["valid"][::4]}
        ids, labels = by_part(rows_of, rows, tokenizer, tags)
        options = {"loss": rounded_nll, "validations": 10, "part": part, "note": NOTE}
        fit_labels(run, model, ids, labels, adamw(model, rate), TAG_EPOCHS, **options)
        right = right_tags(model, ids["valid"], labels["valid"])
        entry = run.parts.pop(part)
        trained[right] = model, entry
        found.append({"rate": rate, "validation": right, "steps": entry["steps"], "seconds": entry["seconds"]})
    model, run.parts["model"] = trained[max(trained)]
    run.parts["model"]["settings"]["rates tried"] = known["rates tried"] if known else found
    accuracy = right_tags(model, *rows_of(parts["test"], tokenizer, tags))
    return {"accuracy": accuracy, "valid accuracy": max(trained), "sentences": len(few)}, None


@recipe(
    "minilm-opinions-tuned",
    about="opinions on films: all-MiniLM-L6-v2 fine-tuned, the mean of its states",
    minutes=15,
    corpora=(CORPUS,),
    seeds=(0, 1),
    score="accuracy",
)
def minilm_opinions_tuned(run: Run) -> tuple[dict, None]:
    texts, gold = labelled_texts(run, CORPUS, LABELS)
    bert, tokenizer = minilm(run)
    ids = {part: [tokenizer.encode(text)[: bert.window] for text in rows] for part, rows in texts.items()}

    def build() -> nn.Module:
        return BERTClassifier(minilm(run)[0], 2, dropout=0.1, pool="mean").to(run.device)

    known = run.picked("model")
    rate = known["rate"] if known else run.tune(
        build,
        lambda epoch: labelled(ids["train"], gold["train"], 32, [run.seed, epoch]),
        rounded_nll,
        adamw,
        rates=RATES,
        steps=TRIAL,
        evaluate_every=TRIAL,
        validate=lambda model: evaluate(model, labelled(ids["valid"], gold["valid"], 64), label_nll),
        schedule=lambda step: warmup(step, 20),
        clip=1.0,
    )  # fmt: skip
    lmbook.seed(run.seed)
    model = build()
    train = {"train": ids["train"], "valid": ids["valid"]}
    fit_labels(run, model, train, gold, adamw(model, rate), EPOCHS, loss=rounded_nll, note=NOTE)
    if known:
        run.parts["model"]["settings"]["rates tried"] = known["rates tried"]
    test, valid = (kept(probabilities(model, ids[part]) > 0.5, np.asarray(gold[part])) for part in ("test", "valid"))
    return test | {"valid accuracy": valid["accuracy"]}, None
