"""What teaches a masked model to doubt a word that it reads: the small BERT, trained on with replaced words or without.

    bert-doubts    from the weights of bert-wikitext2, 300 steps more with the shares (0.8, 0.1, 0.1) of <mask>, another
                   word and itself, as before, and 300 with (0.8, 0, 0.2); batches and selected words are the same

Each is asked for held-out words twice, behind <mask> and where the word is read, and for wrong words in their places
(chapter 16).
"""

import functools

import numpy as np
import torch
from torch import Tensor

import lmbook
from lmbook.bert import FIRST_ORDINARY, MaskedLM
from lmbook.gpt import decay_groups
from lmbook.lab.recipes.bert_pretraining import (
    NAME,
    RATE,
    blank_loss,
    framed,
    pieces,
    rows,
    sentences,
    trained_bert,
    validation,
)
from lmbook.lab.run import Run, recipe
from lmbook.lab.word_shapes import WordForms
from lmbook.text import MASK_ID

ASKED = 25  # held-out sentences of 8 to 30 words, those of the page
STEPS, HIGHEST = 300, 5e-4
SHARES = {"replaced": (0.8, 0.1, 0.1), "unreplaced": (0.8, 0.0, 0.2)}


@torch.no_grad()
def doubts(model: MaskedLM, forms: WordForms, sentence: list[str], rng: np.random.Generator) -> Tensor:
    """Of each word v of a sentence p(v) where it is masked and P(v) where it is read, and of a wrong word both: (4, T).

    Words of a class count as their class.
    """
    ids, found = torch.tensor(framed(forms, sentence)), []
    place = torch.arange(1, len(ids) - 1)
    wrong = torch.from_numpy(rng.integers(FIRST_ORDINARY, len(forms), size=len(place)))
    for v in ids[1:-1], wrong:
        for shown in torch.full_like(v, MASK_ID), v:
            rows = ids.repeat(len(place), 1)
            rows[place - 1, place] = shown
            found.append(torch.softmax(model(rows)[place - 1, place], dim=-1)[place - 1, v])
    return torch.stack(found)


@recipe(
    "bert-doubts",
    about="the small BERT trained on for 300 steps, with BERT's shares and without replaced words: what it doubts",
    minutes=5,
    corpora=("wikitext2",),
    seeds=(0,),
    score="unreplaced, doubted",
)
def bert_doubts(run: Run) -> tuple[dict, None]:
    parts = run.split("wikitext2", 3000)
    heldout = [row for row in sentences(parts["valid"]) if 8 <= len(row) <= 30][:ASKED]
    scores: dict = {}
    for name, shares in {"before": None, **SHARES}.items():
        model, forms = trained_bert()
        if shares:
            ids = {
                part: [framed(forms, piece) for row in sentences(parts[part]) for piece in pieces(row)]
                for part in ("train", "valid")
            }
            lmbook.seed(run.seed)
            generator = torch.Generator().manual_seed(run.seed)
            run.fit_cosine(
                model.train().to(run.device),
                lambda epoch, ids=ids: rows(ids["train"], 4096, seed=[run.seed, epoch]),
                functools.partial(blank_loss, generator=generator, rate=RATE, shares=shares),
                torch.optim.AdamW(decay_groups(model, 0.01), lr=HIGHEST, betas=(0.9, 0.98)),
                warmup=STEPS // 10,
                total=STEPS,
                part=name,
                note=f"weights of {NAME}",
                validate=validation(ids["valid"]),
                evaluate_every=30,
                save_every=100,
                generators=[generator],
            )
        model.eval().cpu()
        points = torch.cat([doubts(model, forms, row, np.random.default_rng(i)) for i, row in enumerate(heldout)], 1)
        scores[name] = {"doubted": float((points[1] < 0.5).float().mean())}
        scores[f"{name}, doubted"] = scores[name]["wrong, doubted"] = float((points[3] < 0.5).float().mean())
        if name == "unreplaced":  # for the figure, every third word
            rounded = [[float(f"{p:.2g}") for p in row] for row in points[2:, ::3].tolist()]
            scores[name] |= dict(zip(("wrong, p", "wrong, read"), rounded, strict=True))
    return scores, None
