"""A small BERT, trained to fill blanks in WikiText-2. `bert_tagging` and `bert_finetuning` go on from its weights.

The text is cut into sentences, <sos> w_1 .. w_T <eos>, at most 64 tokens each. Its 3,500 most frequent words are
types of their own, all others are read as classes of their look (`lmbook.lab.word_shapes`). So a word is one token in
pre-training, in chapter 8's task and in the page. A quarter of the words is selected for prediction in training, more
than BERT's 15%, so that a short training sees more targets; scores are for 15%, drawn once. The output matrix is
applied to the selected positions alone.
"""

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import data, metrics
from lmbook.bert import BERT, FIRST_ORDINARY, MASK_ID, MaskedLM, mask_tokens, masked_lm_loss
from lmbook.gpt import decay_groups
from lmbook.lab import checkpoints
from lmbook.lab.run import TRAINED, RecipeError, Run, recipe
from lmbook.lab.train import device_of, evaluate
from lmbook.lab.word_shapes import WordForms
from lmbook.networks import evaluating
from lmbook.text import EOS, EOS_ID, SOS_ID

NAME = "bert-wikitext2"
WINDOW, WORDS = 64, 3500
SIZES = {"window": WINDOW, "d_model": 128, "n_heads": 4, "n_layers": 3, "d_ff": 256}
STEPS, RATE, TEST_RATE = 4500, 0.25, 0.15
BLANKS = (  # filled at the end of a training, as examples
    "The city is the capital of <mask> .",
    "He was born in <mask> and died in 1945 .",
    "She <mask> the film and wrote the music .",
    "The ship was built <mask> the war .",
    "They were <mask> of the attack , but did nothing .",
    "The river flows <mask> the town .",
)


def sentences(tokens: list[str]) -> list[list[str]]:
    """The running text of WikiText as sentences of words, its marks for hyphens, commas and points within words undone,
    negations cut as in the treebank; without headings."""
    found = []
    for line in map(str.strip, " ".join(tokens).split(EOS)):
        if line and not line.startswith("="):
            line = re.sub(r" @([.,])@ ", r"\1", line).replace("@-@", "-")
            line = re.sub(r"n 't\b", " n't", line)
            found += [sentence.split() for sentence in re.split(r"(?<= [.?!]) ", line)]
    return found


def pieces(words: list, longest: int = WINDOW - 2) -> list[list]:
    """A sentence in pieces that fit into the window."""
    return [words[i : i + longest] for i in range(0, len(words), longest)]


def framed(forms: WordForms, words: list[str]) -> list[int]:
    """<sos> words <eos> as ids."""
    return [SOS_ID, *forms.encode(words).tolist(), EOS_ID]


def rows(ids: list[list[int]], size: int, seed=None) -> Iterator[tuple[Tensor]]:
    """Batches (B, T) of at most `size` padded tokens, sentences of like length together."""
    for batch in data.batches([(row, ()) for row in ids], size, seed, tokens=True):
        yield (batch.source,)


def blank_loss(model: MaskedLM, batch, generator: torch.Generator, rate: float, **shares) -> tuple[Tensor, Tensor]:
    """Summed NLL of the selected tokens, and their number; which ones, the generator decides."""
    (tokens,) = batch
    inputs, selected = mask_tokens(tokens, model.bert.vocab, generator, rate, **shares)
    n = selected.sum()
    return masked_lm_loss(model(inputs, tokens != 0, at=selected), tokens, selected) * n, n


def score_blanks(model: MaskedLM, ids: list[list[int]], unigram: Tensor) -> dict:
    """NLL, perplexity and accuracy at 15% of the words, drawn with seed 0, and the NLL of the words' frequencies there.

    unigram: the natural logs of the frequencies in training, (vocab,).
    """
    generator, sums = torch.Generator().manual_seed(0), torch.zeros(5, dtype=torch.float64)
    with evaluating(model):
        for (tokens,) in rows(ids, 4096):
            inputs, selected = mask_tokens(tokens, model.bert.vocab, generator, TEST_RATE)
            where, target = device_of(model), tokens[selected]
            if not len(target):
                continue
            log_p = torch.log_softmax(model(inputs.to(where), (tokens != 0).to(where), selected.to(where)), -1).cpu()
            top = log_p.topk(5).indices == target[:, None]
            nll = -log_p[torch.arange(len(target)), target].sum()
            sums += torch.tensor([nll, -unigram[target].sum(), top[:, 0].sum(), top.sum(), len(target)])
    nll, by_frequency, first, five, _ = (sums / sums[-1]).tolist()
    scores = {"nll": nll, "perplexity": metrics.perplexity(nll), "accuracy": first, "among five": five}
    return scores | {"unigram nll": by_frequency, "blanks": int(sums[-1])}


def fill(model: MaskedLM, forms: WordForms, words: list[str], k: int = 5) -> list[list]:
    """For each <mask> among the words the k most probable words (classes left out), each with its probability."""
    ids = torch.tensor([framed(forms, words)], device=device_of(model))
    with evaluating(model):
        p = torch.softmax(model(ids)[0, ids[0] == MASK_ID], -1)
    p[:, :FIRST_ORDINARY] = 0
    p[:, FIRST_ORDINARY + len(forms.words) :] = 0
    return [[[forms.vocabulary.tokens[i], round(float(row[i]), 4)] for i in row.topk(k).indices.tolist()] for row in p]


def word_forms(text: list[list[str]], words: int = WORDS) -> WordForms:
    """The types of this BERT, of the training sentences."""
    return WordForms.build((word for sentence in text for word in sentence), max_words=words, min_class=40)


def validation(ids: list[list[int]]) -> Callable[[MaskedLM], float]:
    """The loss of the same blanks every time, in about 500 of these rows."""
    few = ids[:: max(1, len(ids) // 500)]

    def valid(model: MaskedLM) -> float:
        fixed = torch.Generator().manual_seed(0)
        return evaluate(model, rows(few, 4096), functools.partial(blank_loss, generator=fixed, rate=TEST_RATE))

    return valid


def train_blanks(run: Run, model: MaskedLM, ids: dict[str, list[list[int]]]) -> dict:
    """Pre-trains the model to fill blanks in the rows of ids["train"]; its scores on those of ids["test"]."""
    generator = torch.Generator().manual_seed(run.seed)
    run.fit_cosine(
        model,
        lambda epoch: rows(ids["train"], 4096, seed=[run.seed, epoch]),
        functools.partial(blank_loss, generator=generator, rate=RATE),
        torch.optim.AdamW(decay_groups(model, 0.01), lr=1.5e-3, betas=(0.9, 0.98)),
        warmup=300,
        total=STEPS,
        validate=validation(ids["valid"]),
        evaluate_every=150,
        save_every=150,
        generators=[generator],
    )
    types = len(model.bert.embedding.weight)
    counts = torch.from_numpy(np.bincount(np.concatenate(ids["train"]), minlength=types)).double()
    counts[:FIRST_ORDINARY] = 0
    return score_blanks(model, ids["test"], ((counts + 1) / (counts + 1).sum()).log())


@recipe(
    NAME,
    about="fill in the blank: a BERT of 0.9M parameters, 3 layers of width 128, pre-trained on WikiText-2",
    minutes=30,
    corpora=("wikitext2",),
    ships=True,
    seeds=(0,),
    score="perplexity",
)
def bert_wikitext2(run: Run) -> tuple[dict, nn.Module]:
    text = {part: sentences(tokens) for part, tokens in run.split("wikitext2", 3000).items()}
    forms = run.text = word_forms(text["train"])
    ids = {part: [framed(forms, p) for row in text[part] for p in pieces(row)] for part in text}
    model = MaskedLM(BERT(len(forms), dropout=0.1, **SIZES)).to(run.device)
    scores = train_blanks(run, model, ids)
    scores["filled"] = {blank: fill(model, forms, blank.split())[0] for blank in BLANKS}
    return scores, model


def trained_bert(folder: str | Path | None = None) -> tuple[MaskedLM, WordForms]:
    """The BERT that the package ships, or that of a run's folder, ready to use; and its word forms.

    Raises CheckpointError where there is none.
    """
    model, forms, _ = checkpoints.load(Path(folder or TRAINED) / f"{NAME}.safetensors")
    return model, forms


def pretrained(run: Run) -> tuple[WordForms, BERT]:
    """The word forms and the encoder of the pre-trained BERT, from a run beside this one or from those shipped."""
    beside = run.folder.parent / f"{NAME}-0"
    for folder in (beside, TRAINED):
        if (Path(folder) / f"{NAME}.safetensors").is_file():
            model, forms = trained_bert(folder)
            return forms, model.train().bert
    if run.quick:
        forms = word_forms([text for text, _ in run.cut(run.corpus("ud_english_ewt")["train"])])
        return forms, BERT(len(forms), dropout=0.1, **SIZES)
    raise RecipeError(
        f"there is no pre-trained BERT, neither in {beside} nor in the package: lmbook train {NAME} first."
    )


def encoder(run: Run, start: str) -> tuple[WordForms, BERT, str]:
    """The word forms, the encoder and the record's note of its weights.  start: "fine-tuned" or "scratch"."""
    forms, bert = pretrained(run)
    if start == "scratch":
        return forms, BERT(len(forms), dropout=0.1, **SIZES), ""
    return forms, bert, f"weights of {NAME}"
