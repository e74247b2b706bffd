"""Project I with a network: chapter 4's model and counts, each within 20 MB, suggest three words to the same typists.

An n-gram takes 12 bytes (a key of 8, its number 4), a weight 4. Of the counts the longest n that fits is taken; the
network looks back as far as a 5-gram.
"""

import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import nn

from lmbook.data import load, windows
from lmbook.feedforward import FeedForwardLM
from lmbook.lab.recipes.keyboard import Keyboard, gain, measures, other_text, typed
from lmbook.lab.recipes.tasks import Pair, next_token_nll, shifted_stream
from lmbook.lab.recipes.wikitext import NEVER
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.losses import class_buckets, sampled_nll
from lmbook.metrics import perplexity
from lmbook.networks import n_parameters
from lmbook.ngram import Counts, KneserNey, stream_perplexity
from lmbook.text import EOS_ID, Vocabulary

BUDGET, TYPES, WIDTH, WINDOW = 20_000_000, 10_000, 256, 4
B, T, WARMUP, RATES, TRIED = 40, 50, 50, (1e-3, 3e-3, 1e-2), 150
LETTERS, LENGTHS = 6, ((1, 3), (4, 6), (7, 9), (10, 99))
FULL = functools.partial(next_token_nll, never=NEVER)


def sampled(model: FeedForwardLM, batch: Pair) -> tuple[torch.Tensor, int]:
    """The loss of the training, its softmax estimated from all of the frequent types and some of the others."""
    vocab = len(model.output.weight)
    buckets = class_buckets(vocab, (vocab // 8, vocab // 2), (0, vocab // 16, vocab // 16))
    h, _ = model.features(batch[0], model.start(len(batch[0])))
    nll = sampled_nll(h.flatten(0, 1), batch[1].flatten(), model.output.weight, model.output.bias, buckets, NEVER)
    return nll, batch[1].numel()


def network(run: Run, ids: dict[str, np.ndarray], vocab: int) -> nn.Module:
    """One epoch at the best of three rates after 150 steps."""

    def build() -> nn.Module:
        model = FeedForwardLM(vocab, WIDTH, WIDTH, WINDOW, dropout=0.1, tied=True, bias=True)
        return model.to(run.device)

    def batches(epoch: int) -> Iterator[Pair]:
        return shifted_stream(ids["train"], B, T, [run.seed, epoch])

    def adam(model: nn.Module, rate: float) -> torch.optim.Adam:
        return torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.99))

    trial = {"steps": TRIED, "clip": 1.0, "evaluate_every": TRIED}
    trial["schedule"] = functools.partial(warmup_cosine, warmup=WARMUP, total=TRIED)
    trial["validate"] = lambda model: evaluate(model, windows(ids["valid"][:20_000], T), FULL)
    rate = run.tune(build, batches, sampled, adam, "model", RATES, **trial)
    model, total = build(), max(WARMUP + 1, len(ids["train"]) // (B * T))
    run.fit_cosine(
        model, batches, sampled, adam(model, rate), WARMUP, total, validate=trial["validate"],
        evaluate_every=max(1, total // 10),
    )  # fmt: skip
    return model


def chances_of(model: nn.Module) -> Callable[[np.ndarray], np.ndarray]:
    """P(word | the words before it) of a network with a window."""

    @torch.no_grad()
    def chances(history: np.ndarray) -> np.ndarray:
        logits = model(torch.as_tensor(np.append(EOS_ID, history), device=model.output.weight.device)[None])[0, -1]
        return torch.softmax(logits, -1).cpu().numpy()

    model.eval()
    return chances


def by_letters(found: np.ndarray) -> list[float]:
    """The share of words among the three after 0, 1, ... letters."""
    _, strokes, alone = found.T
    return [float(((strokes <= k + 1) & (strokes < alone)).mean()) for k in range(LETTERS)]


def by_length(found: np.ndarray) -> list[float]:
    """Which part of all that is saved comes from words of LENGTHS letters."""
    _, strokes, alone = found.T
    within = [(alone - 1 >= low) & (alone - 1 <= high) for low, high in LENGTHS]
    return [float((alone - strokes)[rows].sum() / max(1, (alone - strokes).sum())) for rows in within]


def only(one: np.ndarray, other: np.ndarray, words: list[str], few: int = 10) -> str:
    """The first words, each after its predecessor, that one suggests before their first letter and the other not."""
    rows = np.flatnonzero((one[:, 0] > 0) & (other[:, 0] == 0))[:few]
    return ", ".join(words[row] for row in rows)


@recipe(
    "keyboard-network",
    about="three suggested words by chapter 4's network and by counts, each within 20 MB",
    minutes=5,
    corpora=("wikitext2",),
    seeds=(0,),
    score="network",
)
def keyboard_network(run: Run) -> tuple[dict, None]:
    corpus = run.split("wikitext2", 20_000)
    vocabulary = Vocabulary.build(corpus["train"], max_size=TYPES)
    parts = {part: np.asarray(vocabulary.encode(corpus[part])) for part in ("train", "valid", "test")}
    board, span = Keyboard(vocabulary), 100 if run.quick else 2000
    counts = Counts(parts["train"], 4, len(vocabulary))
    megabytes = [12 * sum(counts.types(n) for n in range(1, order + 1)) / 1e6 for order in range(1, 5)]
    order = max(n for n in range(1, 5) if 1e6 * megabytes[n - 1] <= BUDGET)
    model = network(run, parts, len(vocabulary))
    counted = {n: KneserNey(counts, n) for n in {1, order}}
    by = {f"{n}-gram": kneser_ney.distribution for n, kneser_ney in counted.items()} | {"network": chances_of(model)}
    scores: dict = {"order": order, "MB": [*megabytes, 4 * n_parameters(model) / 1e6]}
    found = {}
    for part in ("valid", "test"):
        ids, text = parts[part], corpus[part]

        def chances(t: int, ids: np.ndarray = ids) -> dict[str, np.ndarray]:
            return {name: p(ids[max(0, t - WINDOW) : t]) for name, p in by.items()}

        found = typed(board, ids, text, 100, 100 + span, chances)
        held = {f"{n}-gram": float(stream_perplexity(kneser_ney, ids)) for n, kneser_ney in counted.items()}
        held["network"] = perplexity(evaluate(model, windows(ids, T), FULL))
        scores[part] = {name: measures(rows) | {"perplexity": held[name]} for name, rows in found.items()}
    ngram = f"{order}-gram"
    words = [f"{a} {b}" for a, b in itertools.pairwise(text[99 : 100 + span]) if b[0].isalpha()]
    stories = list(load("harbour")["train"])
    return scores | {
        "network": scores["test"]["network"]["keystrokes saved"],
        "network over n-gram": gain(found["network"], found[ngram]),
        "by letters": {name: by_letters(rows) for name, rows in found.items()},
        "by length": {name: by_length(rows) for name, rows in found.items()},
        "only the network": only(found["network"], found[ngram], words),
        "only the n-gram": only(found[ngram], found["network"], words),
        "stories": {name: other_text(board, by[name], vocabulary, stories, span) for name in (ngram, "network")},
    }, None
