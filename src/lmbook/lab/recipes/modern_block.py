"""The block of today, one change at a time: small GPTs on Tiny Shakespeare, and recurrences that copy.

All models of `modern-block` have three layers of width 64 and, to within two per cent, the matrices of GPT-2's block,
so that a step costs the same products; d_ff takes up what another part saves or needs. All go by one rule: the rate is
that of RATES_BLOCK whose TRIED steps validate best, found with seed 0, which other seeds take over; then STEPS steps.
Data, order and optimizer are those of `shakespeare`.
"""

import functools
from collections.abc import Iterator

from torch import nn

from lmbook.data import random_windows, windows
from lmbook.lab.recipes.position_codes import SEPARATOR, copy, right, validation
from lmbook.lab.recipes.shakespeare import adamw, prepare
from lmbook.lab.recipes.tasks import Pair, next_token_nll, random_lengths
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.modern import ModernGPT
from lmbook.networks import n_parameters

D, HEADS, LAYERS, WINDOW, ROWS = 64, 4, 3, 64, 12
STEPS, TRIED, WARMUP = 600, 150, 50
RATES_BLOCK = (4e-3, 8e-3, 16e-3, 32e-3, 64e-3)
GPT2 = {"norm": "layer", "ffn": "gelu", "positions": "learned", "qk_norm": False, "bias": True, "d_ff": 256}
# every model: GPT-2's block and what differs from it, or today's and what differs from that
BLOCKS = {
    "GPT-2": GPT2,
    "no biases": GPT2 | {"bias": False},
    "RMSNorm": GPT2 | {"norm": "rms"},
    "SwiGLU": GPT2 | {"ffn": "swiglu", "d_ff": 171},
    "rotary": GPT2 | {"positions": "rotary"},
    "QK-norm": GPT2 | {"qk_norm": True},
    "grouped queries": GPT2 | {"n_kv": 2, "d_ff": 288},
    "window of 16": GPT2 | {"span": 16},
    "all": {"n_kv": 2, "d_ff": 192},
    "all, minimal GRU": {"mixers": ["mingru"], "units": 85, "d_ff": 171},
    "all, selective": {"mixers": ["selective"], "units": 64, "d_ff": 167},
}


def picked_or_tuned(run: Run, build, batches, part: str, held, rates, steps: int) -> float:
    """The rate that seed 0 chose, or in the run with seed 0 the best after `steps` steps."""
    chosen = run.picked(part)
    return chosen["rate"] if chosen else tuned_rate(run, build, batches, part, held, rates, steps)


def tuned_rate(run: Run, build, batches, part: str, held, rates, steps: int) -> float:
    """The best rate after `steps` steps."""
    schedule = functools.partial(warmup_cosine, warmup=WARMUP, total=steps)
    trial = {"steps": steps, "schedule": schedule, "clip": 1.0, "validate": held, "evaluate_every": steps}
    return run.tune(build, batches, next_token_nll, adamw, part, rates, **trial)


def of_shakespeare(run: Run):
    """batches(epoch), held(model): the loss on a quarter of the validation text, build(options), and this text."""
    tokenizer, ids, valid = prepare(run)

    def batches(epoch: int) -> Iterator[Pair]:
        return random_windows(ids, WINDOW, 2 if run.quick else ROWS, [run.seed, epoch])

    def held(model: nn.Module) -> float:
        return evaluate(model, windows(valid[: len(valid) // 4], WINDOW), next_token_nll)

    def build(options: dict) -> ModernGPT:
        return ModernGPT(len(tokenizer.vocabulary), WINDOW, D, HEADS, LAYERS, **options).to(run.device)

    return batches, held, build, valid


@recipe(
    "modern-block",
    about="Shakespeare by the character: GPT-2's block, each change of it alone, all of them, and recurrences",
    minutes=15,
    corpora=("tinyshakespeare",),
    score="all",
)
def modern_block(run: Run) -> tuple[dict, None]:
    """Nats per character on the validation text for every block, at its own rate."""
    batches, held, build, valid = of_shakespeare(run)
    scores: dict = {"parameters": {}, "rates": {}}
    for name, options in BLOCKS.items():
        rate = picked_or_tuned(run, functools.partial(build, options), batches, name, held, RATES_BLOCK, TRIED)
        model = build(options)
        run.fit_cosine(
            model, batches, next_token_nll, adamw(model, rate), warmup=WARMUP, total=STEPS, part=name,
            valid=lambda: windows(valid[: len(valid) // 4], WINDOW), evaluate_every=150, save_every=150,
        )  # fmt: skip
        scores[name] = evaluate(model, windows(valid, WINDOW), next_token_nll)
        scores["parameters"][name], scores["rates"][name] = n_parameters(model), rate
    return scores, None


# beside GPT-2's block: three with other norms, and two with its own norms as controls
AT_RATES = ("GPT-2", "RMSNorm", "QK-norm", "all", "no biases", "grouped queries")


@recipe(
    "block-rates",
    about="six of the blocks at five rates, 150 updates each: does a norm of queries and keys allow higher rates?",
    minutes=10,
    corpora=("tinyshakespeare",),
    score="GPT-2, highest",
    seeds=(1, 2),
)
def block_rates(run: Run) -> tuple[dict, None]:
    """By block: [rate, nats per character after TRIED updates, None if it diverged]. With seed 0 these are the trials
    of `modern-block`, whose record has them.
    """
    batches, held, build, _ = of_shakespeare(run)
    scores: dict = {}
    for name in AT_RATES:
        tuned_rate(run, functools.partial(build, BLOCKS[name]), batches, name, held, RATES_BLOCK, TRIED)
        scores[name] = [[one["rate"], one["validation"]] for one in run.tried[name]]
    return scores | {"GPT-2, highest": scores["GPT-2"][-1][1]}, None


LONGEST, COPY_STEPS, COPY_TRIED, COPY_ROWS = 12, 1500, 150, 16
COPY_RATES = (7e-4, 2e-3, 6e-3, 18e-3, 54e-3)
TESTED = (1, 2, 4, 6, 8, 10, 12)
# two layers each; numbers: how many the state has, in both layers together, however long the text
COPIERS = {
    "attention": {"mixers": ["attention"]},
    "minimal GRU, 32 numbers": {"mixers": ["mingru"], "units": 16},
    "minimal GRU, 128 numbers": {"mixers": ["mingru"], "units": 64},
    "minimal GRU, 512 numbers": {"mixers": ["mingru"], "units": 256},
    "selective, 512 numbers": {"mixers": ["selective"], "units": 64},
    "minimal GRU, then attention": {"mixers": ["mingru", "attention"], "units": 64},
}


@recipe(
    "copying-recurrence",
    about="copying up to 12 symbols: attention, linear recurrences with states of several sizes, and one layer of each",
    minutes=10,
    score="attention, 12 symbols",
)
def copying_recurrence(run: Run) -> tuple[dict, None]:
    """Share of right symbols by how many are to be copied, all lengths within those of the training."""
    valid = run.cut(validation(copy, 1, LONGEST), 2)
    batches = random_lengths(copy, 1, LONGEST, COPY_STEPS, run.seed, COPY_ROWS)
    scores: dict = {"copy": {}}

    def held(model: nn.Module) -> float:
        return evaluate(model, valid, next_token_nll)

    for name, options in COPIERS.items():

        def build(options: dict = options) -> ModernGPT:
            return ModernGPT(SEPARATOR + 1, 2 * LONGEST + 1, D, HEADS, 2, **options).to(run.device)

        rate = picked_or_tuned(run, build, batches, name, held, COPY_RATES, COPY_TRIED)
        model = build()
        run.fit_cosine(
            model, batches, next_token_nll, adamw(model, rate), warmup=WARMUP, total=COPY_STEPS, part=name,
            valid=lambda: valid, evaluate_every=150, save_every=150,
        )  # fmt: skip
        tested = TESTED[:2] if run.quick else TESTED
        scores["copy"][name] = {str(N): round(right(model, copy, N).mean().item(), 3) for N in tested}
    scores["attention, 12 symbols"] = list(scores["copy"]["attention"].values())[-1]
    return scores, None
