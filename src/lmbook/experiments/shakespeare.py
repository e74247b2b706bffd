"""Shakespeare by the character: one GPT at the sizes of nanoGPT's two settings, one for the page, and a scaling line.

All read the first 90 % of the text. The rest, c_0 .. c_L-1, is scored in windows that do not overlap: window k reads
c_kT .. c_kT+T-1 and predicts c_kT+1 .. c_kT+T, the last one what is left. So every character but c_0 is predicted
exactly once, from 1 to T characters, none of them from before its window. Nats a character: the softmax runs over the
65 characters and the five special ids, which never occur; what they take is reported beside it.
"""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import decode
from lmbook.data.batching import pad
from lmbook.experiments.run import Run, recipe
from lmbook.gpt import GPT, decay_groups, gelu_tanh
from lmbook.losses import token_nll
from lmbook.schedules import warmup_cosine
from lmbook.text import PAD_ID, SPECIALS, CharTokenizer
from lmbook.train import evaluate, fixed_seed

Batch = tuple[Tensor, Tensor]  # inputs, targets: (B, T)
FORBID = tuple(range(len(SPECIALS)))


def prepare(run: Run) -> tuple[CharTokenizer, np.ndarray, np.ndarray]:
    """The tokenizer of the training part, and both parts as ids."""
    corpus = run.corpus("tinyshakespeare")
    texts = [run.cut(corpus[part], 600) for part in ("train", "valid")]
    tokenizer = run.text = CharTokenizer.train(texts[0])
    return tokenizer, *(np.array(tokenizer.encode(text)) for text in texts)


def windows(ids: np.ndarray, T: int, B: int = 64) -> Iterator[Batch]:
    """Windows that do not overlap: id 0 is only read, every other one is a target once, in order; (B, T), padded."""
    starts = range(0, len(ids) - 1, T)
    for i in range(0, len(starts), B):
        rows = [ids[start : start + T + 1] for start in starts[i : i + B]]
        yield pad([row[:-1] for row in rows]), pad([row[1:] for row in rows])


def drawn(ids: np.ndarray, T: int, B: int, seed: list[int]) -> Iterator[Batch]:
    """Windows of T in random order, from a random start below T; no character is a target twice in an epoch."""
    rng = np.random.default_rng(seed)
    first = rng.integers(min(T, len(ids) - T))
    starts = first + T * rng.permutation((len(ids) - 1 - first) // T)
    for i in range(0, max(1, len(starts) - B + 1), B):
        rows = torch.as_tensor(ids[starts[i : i + B, None] + np.arange(T + 1)])
        yield rows[:, :-1], rows[:, 1:]


def loss(model: nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
    """Summed NLL of the targets, and their number."""
    return token_nll(model(batch[0]), batch[1])


def by_place(model: GPT, ids: np.ndarray) -> tuple[list[float], float]:
    """Mean NLL after 1, 2, .. window characters, and how many nats a character the special ids cost."""
    nll, count, lost = torch.zeros(model.window), torch.zeros(model.window), 0.0
    where = next(model.parameters()).device
    with fixed_seed(model):
        for inputs, targets in windows(ids, model.window):
            log_p = torch.log_softmax(model(inputs.to(where)).float(), dim=-1).cpu()
            real, T = targets != PAD_ID, targets.shape[1]
            at = -log_p.gather(2, targets.unsqueeze(2)).squeeze(2).where(real, 0.0)
            nll[:T] += at.sum(0)
            count[:T] += real.sum(0)
            lost -= float(torch.log1p(-log_p[..., list(FORBID)].exp().sum(-1)).where(real, 0.0).sum())
    seen = count > 0
    return (nll[seen] / count[seen]).tolist(), lost / float(count.sum())


def write(model: GPT, tokenizer: CharTokenizer, length: int, **options) -> str:
    """`length` characters after a line end, drawn by lmbook.decode.sample."""
    prompt = torch.tensor([tokenizer.encode("\n")], device=next(model.parameters()).device)
    written, _ = decode.sample(model, 1, length, prompt=prompt, eos=None, forbid=FORBID, **options)
    return tokenizer.decode(written[0])


def score(run: Run, model: GPT, tokenizer: CharTokenizer, valid: np.ndarray) -> dict:
    """The loss on the full validation part, by place in the window, and a text."""
    scores = {"nll": evaluate(model, windows(valid, model.window), loss)}
    if run.rescoring:
        return scores
    places, lost = by_place(model, valid)
    scores |= {
        "bits a character": scores["nll"] / math.log(2),
        "characters": len(valid) - 1,
        "window": model.window,
        "special ids": lost,
        "by place": [round(x, 4) for x in places],
    }
    length = 5 if run.quick else 400
    for temperature in (0.5, 0.8, 1.0):
        generator = torch.Generator().manual_seed(run.seed)
        scores[f"text at {temperature}"] = write(model, tokenizer, length, temperature=temperature, generator=generator)
    return scores


def learn(
    run: Run, model: GPT, ids: np.ndarray, valid: np.ndarray, B: int, steps: int, rate: float, part="model", **options
) -> list[dict]:
    """AdamW on matrices with decay 0.1, warm-up of 100 steps, a cosine down to 0; gradients clipped at 1."""
    return run.fit(
        model,
        lambda epoch: drawn(ids, model.window, 2 if run.quick else B, [run.seed, epoch]),
        loss,
        torch.optim.AdamW(decay_groups(model, 0.1), lr=rate, betas=(0.9, 0.99)),
        part=part,
        steps=steps,
        schedule=lambda step: warmup_cosine(step, warmup=100, total=steps),
        clip=1.0,
        validate=lambda model: evaluate(model, windows(valid, model.window), loss),
        save_every=250,
        **{"evaluate_every": 500} | options,
    )


@recipe(
    "shakespeare",
    about="Shakespeare by the character, nanoGPT's CPU setting: 4 layers of width 128, window 64, 2,000 steps of 12",
    minutes=3,
    corpora=("tinyshakespeare",),
    ships=True,
    score="nll",
)
def shakespeare(run: Run) -> tuple[dict, nn.Module]:
    """Size, window, batch and steps are nanoGPT's. A rate four times its own, rotary positions, decay to 0 are ours."""
    tokenizer, ids, valid = prepare(run)
    vocab = len(tokenizer.vocabulary)
    model = GPT(vocab, 64, 128, n_heads=4, n_layers=4, positions="rotary", activation=gelu_tanh).to(run.device)
    learn(run, model, ids, valid, B=12, steps=2000, rate=4e-3)
    return score(run, model, tokenizer, valid), model


@recipe(
    "shakespeare-page",
    about="Shakespeare by the character, the model in the page: 4 layers of width 160, window 128, 4,500 steps of 16",
    minutes=30,
    corpora=("tinyshakespeare",),
    ships=True,
    seeds=(0,),
    score="nll",
)
def shakespeare_page(run: Run) -> tuple[dict, nn.Module]:
    """Nine epochs with dropout 0.1. The weights kept are those of the lowest of nine validations."""
    tokenizer, ids, valid = prepare(run)
    vocab = len(tokenizer.vocabulary)
    model = GPT(vocab, 128, 160, n_heads=5, n_layers=4, dropout=0.1, positions="rotary", activation=gelu_tanh).to(
        run.device
    )
    learn(run, model, ids, valid, B=16, steps=4500, rate=3e-3, patience=9)
    return score(run, model, tokenizer, valid), model


@recipe(
    "shakespeare-gpu",
    about="Shakespeare by the character, nanoGPT's GPU setting: 6 layers of width 384, window 256, 5,000 steps of 64",
    minutes=1500,
    corpora=("tinyshakespeare",),
    seeds=(0,),
    score="nll",
)
def shakespeare_gpu(run: Run) -> tuple[dict, nn.Module]:
    """For a GPU, in bfloat16. As in nanoGPT the weights kept are those of the lowest of the validations, here 20."""
    tokenizer, ids, valid = prepare(run)
    vocab = len(tokenizer.vocabulary)
    model = GPT(vocab, 256, 384, n_heads=6, n_layers=6, dropout=0.2, positions="rotary", activation=gelu_tanh).to(
        run.device
    )
    bf16 = torch.device(run.device).type == "cuda"
    learn(run, model, ids, valid, B=64, steps=5000, rate=1e-3, evaluate_every=250, patience=20, bf16=bf16)
    return score(run, model, tokenizer, valid), model


# Width of the model and share of the training text: six sizes on all of it, six shares at one size.
GRID = (
    *((16, 1.0), (24, 1.0), (32, 1.0), (48, 1.0), (64, 1.0), (128, 1.0)),
    *((64, 0.03), (64, 0.06), (64, 0.12), (64, 0.25), (64, 0.5)),
)


@recipe(
    "shakespeare-scaling",
    about="Shakespeare by the character: loss against parameters (widths 16 to 128) and against text (3 to 100 %)",
    minutes=10,
    corpora=("tinyshakespeare",),
    score="lowest nll",
)
def shakespeare_scaling(run: Run) -> tuple[dict, None]:
    """Eleven GPTs of 4 layers, 2,000 steps of 768 characters: 1.5 epochs of the whole text, more of a part.

    Narrow models take a higher rate, 4e-3 sqrt(128 / d_model). "nll" is that of the weights with the lowest of ten
    validations: on little text the last ones have learned it by heart, and "last nll" says how much that costs.
    """
    tokenizer, ids, valid = prepare(run)
    vocab, rows = len(tokenizer.vocabulary), []
    for d_model, share in GRID:
        model = GPT(vocab, 64, d_model, n_heads=4, n_layers=4, positions="rotary", activation=gelu_tanh).to(run.device)
        some = ids[: max(200, round(share * len(ids)))]
        log = learn(
            run,
            model,
            some,
            valid,
            B=12,
            steps=2000,
            rate=4e-3 * math.sqrt(128 / d_model),
            part=f"d {d_model}, {share:.0%}",
            evaluate_every=200,
            patience=10,
        )
        validations = [entry["validation"] for entry in log if "validation" in entry]
        parameters = sum(p.numel() for p in model.parameters())
        rows.append(
            {
                "d_model": d_model,
                "parameters": parameters,
                "parameters without embeddings": parameters - model.embedding.weight.numel(),
                "characters": len(some),
                "nll": evaluate(model, windows(valid, 64), loss),
                "last nll": validations[-1],
                "train nll": evaluate(model, windows(some[: len(valid)], 64), loss),
            }
        )
    return {"runs": rows, "lowest nll": min(row["nll"] for row in rows)}, None
