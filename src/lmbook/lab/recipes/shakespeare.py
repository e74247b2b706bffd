"""Shakespeare by the character: GPTs at nanoGPT's two sizes and others, recurrent models, and counts.

The GPTs read the first 90 % of the text. The rest, c_0 .. c_L-1, is scored in windows that do not overlap: window k
reads c_kT .. c_kT+T-1 and predicts c_kT+1 .. c_kT+T, the last one what is left. So every character but c_0 is predicted
exactly once, from 1 to T characters, none of them from before its window. Nats per character: the softmax runs over the
65 characters and the five special ids, which never occur; what they take is reported beside it.

RNN, GRU and LSTM are small enough to run in a page: one layer of 160 units, scored on the same rest as one stream. For
STEPS steps (the characters of shakespeare-long) they have the same data, dropout and optimizer, so that what differs is
the cell. The plain RNN that chapters 6 and 7 take apart is trained for LONG steps without dropout.
"""

import math

import numpy as np
import torch
from torch import nn

from lmbook import decode
from lmbook.data import random_windows, stream_batches, windows
from lmbook.gpt import GPT, decay_groups, gelu_tanh
from lmbook.lab.recipes.tasks import log_probs, next_token_nll, nll_by_place, shifted_stream, stream_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import device_of, evaluate, fixed_seed
from lmbook.networks import n_parameters
from lmbook.ngram import Counts, KneserNey
from lmbook.rnn_models import RecurrentLM
from lmbook.text import PAD_ID, SPECIALS, CharTokenizer

FORBID = tuple(range(len(SPECIALS)))
NLL = {"corpora": ("tinyshakespeare",), "score": "nll"}


def prepare(run: Run) -> tuple[CharTokenizer, np.ndarray, np.ndarray]:
    """The tokenizer of the training set, and both parts as ids."""
    corpus = run.corpus("tinyshakespeare")
    texts = [run.cut(corpus[part], 600) for part in ("train", "valid")]
    tokenizer = run.text = CharTokenizer.train(texts[0])
    return tokenizer, *(np.array(tokenizer.encode(text)) for text in texts)


def gpt(run: Run, tokenizer: CharTokenizer, window: int, d_model: int, n_heads: int = 4, n_layers: int = 4,
        dropout: float = 0.0) -> GPT:  # fmt: skip
    """An untrained GPT with rotary positions."""
    vocab = len(tokenizer.vocabulary)
    model = GPT(vocab, window, d_model, n_heads, n_layers, dropout=dropout, positions="rotary", activation=gelu_tanh)
    return model.to(run.device)


def cost_of_special_ids(model: GPT, ids: np.ndarray) -> float:
    """Nats per character that the model loses because it gives the special ids a probability."""
    lost = 0.0
    with fixed_seed(model):
        for inputs, targets in windows(ids, model.window):
            special = log_probs(model, inputs)[..., list(FORBID)].exp().sum(-1)
            lost -= float(torch.log1p(-special).where(targets != PAD_ID, 0.0).sum())
    return lost / (len(ids) - 1)


def write(model: nn.Module, tokenizer: CharTokenizer, prompt: str, length: int, temperature: float, generator) -> str:
    """`length` characters after the prompt, drawn by lmbook.decode.sample."""
    ids = torch.tensor([tokenizer.encode(prompt)], device=device_of(model))
    drawing = {"temperature": temperature, "generator": generator, "forbid": FORBID}
    written, _ = decode.sample(model, 1, length, prompt=ids, eos=None, **drawing)
    return tokenizer.decode(written[0])


def score(run: Run, model: GPT, tokenizer: CharTokenizer, valid: np.ndarray) -> dict:
    """The loss on the full validation set, by place in the window, and a text."""
    scores = {"nll": evaluate(model, windows(valid, model.window), next_token_nll)}
    if run.rescoring:
        return scores
    scores |= {
        "bits a character": scores["nll"] / math.log(2),
        "characters": len(valid) - 1,
        "window": model.window,
        "special ids": cost_of_special_ids(model, valid),
        "by place": [round(x, 4) for x in nll_by_place(model, windows(valid, model.window))],
    }
    length = 5 if run.quick else 400
    for temperature in (0.5, 0.8, 1.0):
        generator = torch.Generator().manual_seed(run.seed)
        scores[f"text at {temperature}"] = write(model, tokenizer, "\n", length, temperature, generator)
    return scores


def adamw(model: nn.Module, rate: float) -> torch.optim.AdamW:
    """AdamW with a decay of 0.1 on matrices."""
    return torch.optim.AdamW(decay_groups(model, 0.1), lr=rate, betas=(0.9, 0.99))


def learn(
    run: Run, model: GPT, ids: np.ndarray, valid: np.ndarray, B: int, steps: int, rate: float, **options
) -> list[dict]:
    """`adamw`, windows in random order."""
    return run.fit_cosine(
        model,
        lambda epoch: random_windows(ids, model.window, 2 if run.quick else B, [run.seed, epoch]),
        next_token_nll,
        adamw(model, rate),
        warmup=100,
        total=steps,
        valid=lambda: windows(valid, model.window),
        save_every=250,
        **{"evaluate_every": 500} | options,
    )


def train_and_score(run: Run, sizes: dict, B: int, steps: int, rate: float, **options) -> tuple[dict, GPT]:
    """One GPT; sizes: as for `gpt`.  options: as for Run.fit."""
    tokenizer, ids, valid = prepare(run)
    model = gpt(run, tokenizer, **sizes)
    learn(run, model, ids, valid, B, steps, rate, **options)
    return score(run, model, tokenizer, valid), model


@recipe(
    "shakespeare",
    about="Shakespeare by the character, nanoGPT's CPU setting: 4 layers of width 128, window 64, 2,000 steps of 12",
    minutes=3,
    ships=True,
    **NLL,
)
def shakespeare(run: Run) -> tuple[dict, nn.Module]:
    """Size, window, batch and steps are nanoGPT's. A rate four times its own, rotary positions, decay to 0 are ours."""
    return train_and_score(run, {"window": 64, "d_model": 128}, B=12, steps=2000, rate=4e-3)


@recipe(
    "shakespeare-long",
    about="Shakespeare by the character, as shakespeare for 8,000 steps: the 6.1M characters of the recurrent models",
    minutes=9,
    **NLL,
)
def shakespeare_long(run: Run) -> tuple[dict, nn.Module]:
    """Only the number of steps differs from `shakespeare`; the weights kept have the lowest of 16 validations."""
    return train_and_score(run, {"window": 64, "d_model": 128}, B=12, steps=8000, rate=4e-3, patience=16)


@recipe(
    "shakespeare-gpu",
    about="Shakespeare by the character, nanoGPT's GPU setting: 6 layers of width 384, window 256, 5,000 steps of 64",
    minutes=1500,
    **NLL,
)
def shakespeare_gpu(run: Run) -> tuple[dict, nn.Module]:
    """For a GPU, in bfloat16. As in nanoGPT the weights kept are those of the lowest of the validations, here 20."""
    sizes = {"window": 256, "d_model": 384, "n_heads": 6, "n_layers": 6, "dropout": 0.2}
    bf16 = torch.device(run.device).type == "cuda"
    return train_and_score(run, sizes, B=64, steps=5000, rate=1e-3, evaluate_every=250, patience=20, bf16=bf16)


WIDTHS = (16, 24, 32, 48, 64, 128)


@recipe(
    "shakespeare-scaling",
    about="Shakespeare by the character: loss against parameters, widths 16 to 128 on the whole text",
    minutes=35,
    corpora=("tinyshakespeare",),
    seeds=(0,),
    score="lowest nll",
)
def shakespeare_scaling(run: Run) -> tuple[dict, None]:
    """Six GPTs of 4 layers, 2,000 steps of 768 characters: 1.5 epochs.

    Narrow models take a higher rate, 4e-3 sqrt(128 / d_model): a rule, not tuned. "nll" is that of the weights with the
    lowest of ten validations.
    """
    tokenizer, ids, valid = prepare(run)
    rows = []
    for d_model in WIDTHS:
        model = gpt(run, tokenizer, 64, d_model)
        rate, part = 4e-3 * math.sqrt(128 / d_model), f"d {d_model}"
        learn(run, model, ids, valid, B=12, steps=2000, rate=rate, part=part, evaluate_every=200, patience=10)
        rows.append(
            {
                "d_model": d_model,
                "parameters": n_parameters(model),
                "parameters without embeddings": n_parameters(model) - model.embedding.weight.numel(),
                "nll": evaluate(model, windows(valid, 64), next_token_nll),
            }
        )
    return {"runs": rows, "lowest nll": min(row["nll"] for row in rows)}, None


SHARES, ORDER, BLOCK = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0), 6, 1000


def interleaved(ids: np.ndarray, share: float, seed: int) -> np.ndarray:
    """A share of a text in blocks of BLOCK characters drawn from all over it, in the order of the text.

    With the same seed a smaller share is part of a larger one.
    """
    n = -(-len(ids) // BLOCK)
    drawn = np.random.default_rng(seed).permutation(n)[: max(1, round(share * n))]
    return np.concatenate([ids[BLOCK * i : BLOCK * (i + 1)] for i in np.sort(drawn)])


@recipe(
    "shakespeare-counts",
    about="Shakespeare by the character: 6-grams, Kneser-Ney, of 3 to 100 % of the text drawn from all over it",
    minutes=0.2,
    **NLL,
)
def shakespeare_counts(run: Run) -> tuple[dict, None]:
    """Loss against text for a model that is counted: it has no steps, no rate and no epochs to keep equal.

    "shares": nats by share, interleaved. "pieces": a half of the text is its beginning, its end, or drawn.
    """
    tokenizer, ids, valid = prepare(run)
    vocab = len(tokenizer.vocabulary)
    allowed = np.isin(np.arange(vocab), np.concatenate([ids, valid]))

    def nll(some: np.ndarray) -> float:
        return float(-KneserNey(Counts(some, ORDER, vocab), ORDER, allowed=allowed).log_probs(valid).mean())

    shares = [[len(some), nll(some)] for some in (interleaved(ids, share, run.seed) for share in SHARES)]
    middle = len(ids) // 2
    pieces = {"first half": nll(ids[:middle]), "last half": nll(ids[middle:]), "half, drawn": shares[-2][1]}
    return {"nll": shares[-1][1], "shares": shares, "pieces": pieces}, None


CELLS = {"rnn": ("vanilla RNN", 2e-3), "gru": ("GRU", 4e-3), "lstm": ("LSTM", 6e-3)}  # their names and rates
STEPS, LONG = 3000, 12_000


def enter(cell: str, steps: int, dropout: float, suffix: str = "", **about) -> None:
    """Enters the recipe of one cell."""
    name, rate = CELLS[cell]

    @recipe(
        f"shakespeare-{cell}{suffix}",
        about=f"characters of Tiny Shakespeare, {name} of 160 units, {steps:,} steps, dropout {dropout:g}",
        minutes=5 * steps / STEPS,
        **NLL,
        **about,
    )
    def recurrent(run: Run) -> tuple[dict, nn.Module]:
        corpus = run.corpus("tinyshakespeare")
        tokenizer = run.text = CharTokenizer.train(corpus["train"] + corpus["valid"])
        train, valid = (tokenizer.encode(run.cut(corpus[part], 5000)) for part in ("train", "valid"))
        model = RecurrentLM(len(tokenizer.vocabulary), 64, 160, 1, cell, dropout=dropout).to(run.device)
        run.fit_cosine(
            model,
            lambda epoch: shifted_stream(train, 32, 64, [run.seed, epoch]),
            stream_nll,
            torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.99)),
            warmup=100,
            total=steps,
            valid=lambda: stream_batches(valid, 20, 100),
            stateful=True,
            evaluate_every=500,
        )
        nll = evaluate(model, stream_batches(valid, 1, 200), stream_nll, stateful=True)
        generator = torch.Generator().manual_seed(run.seed)
        return {"nll": nll, "sample": "ROMEO:" + write(model, tokenizer, "ROMEO:", 300, 0.8, generator)}, model


enter("rnn", STEPS, 0.1, "-short")
enter("rnn", LONG, 0.0, ships=True)
enter("gru", STEPS, 0.1, ships=True)
enter("gru", LONG, 0.1, "-long")
enter("lstm", STEPS, 0.1, ships=True)
