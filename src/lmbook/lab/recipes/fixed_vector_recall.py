"""What one vector can hold: random symbols written back through a state of m numbers.

    recall = symbols written back in their places / symbols read
    bits read = N log2 K + log2 P(target | state)                    K kinds, N of them in a source

Both are means over new random sources of one length.

Written backwards, the first symbols needed are the last that were read, which is learned sooner (Sutskever et al. 2014,
section 3.3, reverse the source for this reason).
"""

import math
from functools import partial

import numpy as np
import torch
from torch import nn

import lmbook
from lmbook import data
from lmbook.decode import greedy
from lmbook.lab.recipes.translation import encoder_decoder, learn, loss
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import device_of, evaluate
from lmbook.networks import evaluating
from lmbook.text import EOS_ID, SOS_ID, SPECIALS

SYMBOLS = 16  # four bits a symbol
LONGEST = 20  # symbols of the longest source in training
SIZES = (32, 64, 128, 256, 512)
STEPS = 4000  # of every size
PAGE = (32, 64, 128)  # sizes whose weights ship: the figure of chapter 10 reads any letters with them
FAR = (100, 1000)  # lengths far past training
SHOWN = np.random.default_rng(7).integers(len(SPECIALS), len(SPECIALS) + SYMBOLS, size=2 * LONGEST + 20)


def symbol_batches(seed: list[int], B: int, longest: int, steps: int, backwards: bool):
    """Batches of random sequences of one length each, drawn evenly from 1..longest, and the same or backwards."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        yield symbol_batch(rng, B, int(rng.integers(1, longest + 1)), backwards)


def symbol_batch(rng: np.random.Generator, B: int, length: int, backwards: bool) -> data.Batch:
    """B random sequences of one length and the same or backwards, between <sos> and <eos>."""
    source = rng.integers(len(SPECIALS), len(SPECIALS) + SYMBOLS, size=(B, length))
    target = source[:, ::-1] if backwards else source
    ends = [np.full((B, 1), end) for end in (SOS_ID, EOS_ID)]
    batch = source, np.hstack([ends[0], target]), np.hstack([target, ends[1]]), np.arange(B)
    return data.Batch(*map(torch.tensor, batch))


def writes(model: nn.Module, source: np.ndarray, backwards: bool) -> np.ndarray:
    """What the model writes for sources (B, N) of one length, greedy, N symbols each, in the order of the source."""
    x, forbidden = torch.tensor(source, device=device_of(model)), range(len(SPECIALS))
    outputs, _ = greedy(model, x, source.shape[1], eos=None, forbid=forbidden)
    return np.array(outputs)[:, ::-1] if backwards else np.array(outputs)


def hits(model: nn.Module, length: int, rows: int, backwards: bool, seed: int = 10_000) -> np.ndarray:
    """Which symbols of `rows` new random sequences are written, in the order of the source: (rows, length), boolean.

    Greedy and without <eos>; their mean is the recall.
    """
    source = symbol_batch(np.random.default_rng([seed, length]), rows, length, backwards).source.numpy()
    return writes(model, source, backwards) == source


@torch.no_grad()
def bits_read(model: nn.Module, length: int, rows: int, backwards: bool, seed: int = 20_000) -> float:
    """A lower bound of the bits that the state tells about a source: N log2 K + log2 P(target | state), averaged.

    Since H(x | c) is at most the cross-entropy of any model, I(x; c) = H(x) - H(x | c) is at least this. Negative
    where the model is sure and wrong, as on lengths far from those of its training.
    """
    where = device_of(model)
    source, inputs, targets, _ = symbol_batch(np.random.default_rng([seed, length]), rows, length, backwards)
    with evaluating(model):
        logits = model(source.to(where), inputs.to(where))[:, :-1]  # <eos> says only where the source ends
    nll = nn.functional.cross_entropy(logits.transpose(1, 2), targets[:, :-1].to(where), reduction="sum")
    return length * math.log2(SYMBOLS) - float(nll) / rows / math.log(2)


def letters(symbols: np.ndarray) -> str:
    """Symbols 0, 1, ... as A, B, ..."""
    return "".join(chr(ord("A") + symbol - len(SPECIALS)) for symbol in symbols)


def grid(model: nn.Module, lengths: range, backwards: bool, far: tuple[int, ...] = FAR) -> dict:
    """By length: recall, the bits read, and what the model writes for the first N symbols of one sequence; at a few
    lengths also recall by place in the source; and recall at the lengths `far`."""
    found: dict = {"recall": [], "bits": [], "written": [], "places": {}, "far": {}}
    for length in lengths:
        right = hits(model, length, 200, backwards)
        found["recall"].append(round(float(right.mean()), 4))
        found["bits"].append(round(bits_read(model, length, 200, backwards), 2))
        found["written"].append(letters(writes(model, SHOWN[None, :length], backwards)[0]))
        if length % 10 == 0:
            found["places"][str(length)] = [round(share, 3) for share in right.mean(0).tolist()]
    for length in far:
        found["far"][str(length)] = round(float(hits(model, length, 20, backwards).mean()), 4)
    return found


def memory(
    run: Run, sizes: tuple[int, ...], backwards: bool = True, steps: int = STEPS, longest: int = LONGEST
) -> tuple[dict, nn.Module]:
    """For each size of the state, what is read back of sources of the lengths 1, 2, ..., longest and 20 more; and the
    model of the last size.

    Every size has as many steps and begins with the same random numbers, whichever others are trained beside it. A wide
    state learns more in a step, at a smaller rate, and a step costs more.
    """
    types, kept = len(SPECIALS) + SYMBOLS, {}
    for size in sizes:
        lmbook.seed(run.seed)
        model = encoder_decoder((types, types), 32, size)
        learn(
            run,
            model,
            lambda epoch: symbol_batches([run.seed, epoch], 32, longest, 100, backwards),
            steps,
            3e-3 * min(1.0, (128 / size) ** 0.5),
            f"{size} {'backwards' if backwards else 'forwards'}",
            warmup=100,
            validate=lambda model: evaluate(model, symbol_batches([30_000], 32, longest, 20, backwards), loss),
            evaluate_every=steps // 10,
        )
        lengths, far = range(1, longest + 21), FAR
        if run.quick:
            lengths, far = range(1, 4), ()
        elif run.rescoring:
            lengths, far = range(longest, longest + 1), ()
        kept[str(size)] = grid(model, lengths, backwards, far)
    return kept, model


def every_size(
    run: Run, orders: tuple[tuple[str, tuple[int, ...]], ...], steps: int = STEPS, longest: int = LONGEST
) -> tuple[dict, None]:
    """The scores of `memory` for each order of writing and its sizes."""
    sizes = {order: PAGE[1:] if run.quick else sizes for order, sizes in orders}
    kept = {order: memory(run, sizes[order], order == "backwards", steps, longest)[0] for order, _ in orders}
    scores = {
        "64 numbers, mean recall": float(np.mean(kept["backwards"]["64"]["recall"][:longest])),
        "symbols": SYMBOLS,
        "longest in training": longest,
        "source": letters(SHOWN[: longest + 20]),
        **kept,
    }
    return scores, None


recipe(
    "recall",
    about="random symbols written back from a state of 32 to 512 numbers: recall by length",
    minutes=18,
    score="64 numbers, mean recall",
)(partial(every_size, orders=(("backwards", SIZES), ("forwards", (64, 128)))))

recipe(
    "recall-long",
    about="the same, written backwards, with twice the steps",
    minutes=23,
    score="64 numbers, mean recall",
)(partial(every_size, orders=(("backwards", SIZES),), steps=2 * STEPS))


recipe(
    "recall-longer-sources",
    about="the same, written backwards, with sources of up to 40 symbols in training",
    minutes=6,
    seeds=(0,),
    score="64 numbers, mean recall",
)(partial(every_size, orders=(("backwards", PAGE),), longest=2 * LONGEST))


def one_size(run: Run, size: int) -> tuple[dict, nn.Module]:
    kept, model = memory(run, (size,))
    return {"recall of 20": kept[str(size)]["recall"][-1 if run.quick or run.rescoring else LONGEST - 1]}, model


for size in PAGE:
    recipe(
        f"recall-{size}",
        about=f"one memory of the recipe recall, with a state of {size} numbers",
        minutes=1,
        ships=True,
        seeds=(0,),
        score="recall of 20",
    )(partial(one_size, size=size))
