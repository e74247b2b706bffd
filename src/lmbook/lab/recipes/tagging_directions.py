"""What a second direction, a second layer and a delay are worth to a tagger: each trained to its plateau.

    left, right     one direction            late k    from the left, the tag of word t due after word t + k
    both            two, trained jointly     apart     the states of left and right under a new output layer

A sixth of UD English EWT, networks of 48 units, one rule for all: the rate is that of RATES that validates best
after TRIED passes, and the training ends at its plateau, or after MOST passes. Validation is the share of wrong tags on
a third of the part "valid", twice in a pass. The joint network's output layer is trained on for as many steps as that
of the two that were trained apart, which is the control of their comparison.
"""

import functools

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import metrics
from lmbook.lab.recipes.tasks import NO_LABEL, adam, label_nll, labelled, outputs
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import device_of
from lmbook.lab.word_shapes import WordForms
from lmbook.networks import evaluating
from lmbook.rnn_models import Tagger
from lmbook.text import EOS_ID

SHARE, LONGEST = 6, 30  # every sixth sentence of at most 30 words
SIZES = {"d_embed": 32, "hidden": 48, "dropout": 0.2}
SYSTEMS = {
    "left": {"bidirectional": False},
    "right": {"bidirectional": False},
    "both": {},
    "left, two layers": {"bidirectional": False, "n_layers": 2},
    "both, two layers": {"n_layers": 2},
    "late 1": {"bidirectional": False},
    "late 2": {"bidirectional": False},
}
RATES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # 0.03 was the best of run.RATES for four of the seven, its highest
TRIED, MOST, OUTPUT_STEPS = 3, 40, 200  # passes for each rate, passes at most, steps of a new output layer
Rows = tuple[list[list[int]], list[list[int]]]  # word ids and tag ids of each sentence


def late(rows: Rows, k: int) -> Rows:
    """The same with every tag k places later: k tokens <eos> behind each sentence, k places without a tag before it."""
    ids, labels = rows
    return [[*row, *[EOS_ID] * k] for row in ids], [[*[NO_LABEL] * k, *row] for row in labels]


def seen(system: str, rows: Rows) -> Rows:
    """The sentences as one of SYSTEMS reads them."""
    if system == "right":
        return [row[::-1] for row in rows[0]], [row[::-1] for row in rows[1]]
    return late(rows, int(system[5:])) if system.startswith("late") else rows


def accuracy(logits: list[Tensor], labels: list[list[int]]) -> float:
    """Share of right tags where there is one.  logits: of each sentence (its length, tags)."""
    found = np.concatenate([row.argmax(-1).numpy() for row in logits])
    gold = np.concatenate(labels)
    return metrics.accuracy(found, gold, gold != NO_LABEL)


def states(model: Tagger, ids: list[list[int]]) -> list[Tensor]:
    """The states under the output layer, of each sentence (its length, width)."""
    with evaluating(model):
        rows = [torch.tensor(row, device=device_of(model))[None] for row in ids]
        return [model.recurrent(model.embedding(row))[0][0].cpu() for row in rows]


def trained_output(run: Run, layer: nn.Linear, features: list[Tensor], labels: list[list[int]]) -> nn.Linear:
    """The layer after OUTPUT_STEPS steps on the states of all sentences at once."""
    h, y = torch.cat(features), torch.as_tensor(np.concatenate(labels))
    adam = torch.optim.Adam(layer.parameters(), lr=0.02)
    for _ in range(3 if run.quick else OUTPUT_STEPS):
        adam.zero_grad()
        nn.functional.cross_entropy(layer(h), y).backward()
        adam.step()
    return layer


def trained(run: Run, system: str, sizes: dict, train: Rows, valid: Rows) -> Tagger:
    """One of SYSTEMS, by the rule of this file."""
    (ids, labels), (valid_ids, valid_labels) = seen(system, train), seen(system, valid)
    half = max(1, -(-len(ids) // 32) // 2)  # steps of half a pass

    def build() -> Tagger:
        return Tagger(**sizes, **SYSTEMS[system]).to(run.device)

    def batches(epoch: int):
        return labelled(ids, labels, 32, [run.seed, epoch])

    options = {
        "clip": 1.0,
        "schedule": functools.partial(warmup, steps=20),
        "validate": lambda model: round(1 - accuracy(outputs(model, valid_ids), valid_labels), 4),
    }
    rate = run.tune(build, batches, label_nll, adam, system, RATES, steps=2 * TRIED * half, **options)
    model = build()
    run.to_plateau(model, batches, label_nll, adam(model, rate), half, 2 * MOST * half, system, **options)
    return model


@recipe(
    "ewt-directions",
    about="parts of speech on a sixth of the treebank: directions, layers and delays, each to its plateau",
    minutes=4,
    corpora=("ud_english_ewt",),
    score="jointly",
)
def directions(run: Run) -> tuple[dict, None]:
    """Share of right tags on the test set: of SYSTEMS, of left and right apart, and of both with the control."""
    parts = run.split("ud_english_ewt")
    chosen = [pair for pair in parts["train"] if len(pair[0]) <= LONGEST][::SHARE]
    forms = WordForms.build(word for text, _ in chosen for word in text)
    tags = sorted({tag for part in parts.values() for _, labels in part for tag in labels})

    def numbers(sentences: list) -> Rows:
        labels = [[tags.index(tag) for tag in row] for _, row in sentences]
        return [forms.encode(text).tolist() for text, _ in sentences], labels

    train, valid, test = numbers(chosen), numbers(parts["valid"][::3]), numbers(parts["test"])
    sizes = {"vocab": len(forms), "tags": len(tags)} | SIZES
    models = {system: trained(run, system, sizes, train, valid) for system in SYSTEMS}
    scores = {}
    for system, model in models.items():
        ids, labels = seen(system, test)
        scores[system] = {"accuracy": accuracy(outputs(model, ids), labels)}

    def apart(ids: list[list[int]]) -> list[Tensor]:
        right = states(models["right"], [row[::-1] for row in ids])
        return [torch.cat([f, b.flip(0)], 1) for f, b in zip(states(models["left"], ids), right, strict=True)]

    joint = models["both"].cpu()
    joined = trained_output(run, nn.Linear(2 * SIZES["hidden"], len(tags)), apart(train[0]), train[1])
    h, kept = states(joint, test[0]), torch.arange(2 * SIZES["hidden"]) < SIZES["hidden"]
    logits = {
        "apart": [joined(row) for row in apart(test[0])],
        "both, backward half off": [joint.output(row * kept) for row in h],
    }
    output = trained_output(run, joint.output, states(joint, train[0]), train[1])
    logits["both, output trained on"] = [output(row) for row in h]
    for system, found in logits.items():
        scores[system] = {"accuracy": accuracy([row.detach() for row in found], test[1])}
    return scores | {"jointly": scores["both"]["accuracy"]}, None
