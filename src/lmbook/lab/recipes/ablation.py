"""What is each part of a Transformer for? The model of chapter 15, narrower, whole and with one part taken out.

ablation-dates reads dates, character by character. What is left of a model begins with the weights that the whole model
of that seed begins with; all see the same batches and take the same number of steps, each at the rate of four that
validated best after a quarter of them. ablation-dates-together takes three parts out at once and trains to the end at
every rate.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

import lmbook
from lmbook import data
from lmbook.data.batching import pad
from lmbook.lab.recipes.seq2seq_tasks import DATES
from lmbook.lab.recipes.translation import SMALL, Task, apart, learn, race
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import device_of
from lmbook.layers import DecoderLayer, EncoderLayer
from lmbook.networks import evaluating
from lmbook.text import EOS_ID, SOS_ID
from lmbook.transformer import Transformer

D_MODEL, HEADS, D_FF, LAYERS = 32, 4, 128, 2
ADAM = {"betas": (0.9, 0.98), "eps": 1e-9}


def layers(model: Transformer) -> list[EncoderLayer | DecoderLayer]:
    return [*model.encoder.layers, *model.decoder.layers]


def silence(*maps: nn.Linear) -> None:
    """A sublayer whose last map is 0, and stays 0, adds nothing."""
    for weight in (weight for map_ in maps for weight in map_.parameters()):
        weight.requires_grad_(False).zero_()


class EncoderChain(EncoderLayer):
    """Each sublayer replaces what it reads: x = ffn(pre_2(attention(pre_1(x))))."""

    def forward(self, x, mask=None, causal=False, need_weights=False):
        h = self.pre_1(x)
        out, weights = self.attention(h, h, h, mask, causal, need_weights)
        return self.ffn(self.pre_2(out)), weights


class DecoderChain(DecoderLayer):
    """As EncoderChain, with the attention to the memory between."""

    def forward(self, y, memory, memory_mask=None, need_weights=False):
        h = self.pre_1(y)
        h = self.pre_2(self.attention(h, h, h, causal=True)[0])
        out, weights = self.cross(h, memory, memory, memory_mask, need_weights=need_weights)
        return self.ffn(self.pre_3(out)), weights


class Sighted(nn.Module):
    """The decoder's self-attention without its causal mask."""

    def __init__(self, attention: nn.Module):
        super().__init__()
        self.attention = attention

    def forward(self, query, key, value, mask=None, causal=False, need_weights=False):
        return self.attention(query, key, value, mask, False, need_weights)


def _residuals(model: Transformer) -> None:
    for layer in layers(model):
        layer.__class__ = DecoderChain if isinstance(layer, DecoderLayer) else EncoderChain


def _norms(model: Transformer) -> None:
    for layer in layers(model):
        for name in ("pre_1", "pre_2", "pre_3"):
            if hasattr(layer, name):
                setattr(layer, name, nn.Identity())
    model.encoder.norm = model.decoder.norm = nn.Identity()


def _positions(model: Transformer) -> None:
    model.source.positions = model.target.positions = "none"


def _factor(model: Transformer) -> None:
    model.source.scale = model.target.scale = 1.0


def _mask(model: Transformer) -> None:
    for layer in model.decoder.layers:
        layer.attention = Sighted(layer.attention)


PARTS: dict[str, Callable[[Transformer], None]] = {  # what is taken out
    "nothing": lambda model: None,
    "feed-forward networks": lambda model: silence(*(layer.ffn.W_2 for layer in layers(model))),
    "LayerNorms": _norms,
    "residuals": _residuals,
    "positions": _positions,
    "factor √d": _factor,
    "encoder's self-attention": lambda model: silence(*(layer.attention.W_o for layer in model.encoder.layers)),
    "decoder's self-attention": lambda model: silence(*(layer.attention.W_o for layer in model.decoder.layers)),
    "cross-attention": lambda model: silence(*(layer.cross.W_o for layer in model.decoder.layers)),
    "causal mask": _mask,
}


THREE = ("feed-forward networks", "LayerNorms", "decoder's self-attention")


def _three(model: Transformer) -> None:
    for part in THREE:
        PARTS[part](model)


def without(part: str, types: tuple[int, int]) -> Transformer:
    """The Transformer without one of PARTS, or without THREE of them ("three").

    At the same seed, what is left begins with the weights of the whole.
    """
    model = Transformer(*types, D_MODEL, HEADS, D_FF, LAYERS, dropout=0.0)
    with torch.no_grad():
        (_three if part == "three" else PARTS[part])(model)
    return model


def written(model: nn.Module, source: Tensor, most: int) -> list[list[int]]:
    """Greedy, each token by a whole pass: a model without a part may have no `step`."""
    source = source.to(device_of(model))
    tokens = source.new_full((len(source), 1), SOS_ID)
    with evaluating(model):
        for _ in range(most):
            tokens = torch.cat([tokens, model(source, tokens)[:, -1].argmax(-1, keepdim=True)], dim=1)
    return [row[: [*row, EOS_ID].index(EOS_ID)] for row in tokens[:, 1:].tolist()]


STEPS = 600


class Dates:
    """The task of both recipes."""

    def __init__(self, run: Run):
        pairs, self.tested = data.dates(60 if run.quick else 10_900, 2), 10 if run.quick else 200
        self.made = {"test": pairs[: self.tested], "valid": pairs[self.tested : 2 * self.tested]}
        rest = apart(pairs[2 * self.tested :], *self.made.values())
        self.task, self.run = Task(self.made | {"train": rest}, DATES), run
        self.batches = self.task.batches(run.seed, 64)

    def race(self, part: str) -> dict:
        """The scores without this part, at its best rate."""
        build = partial(without, part, self.task.types)
        *_, (_, model) = race(self.run, build, self.task, self.batches, (STEPS,), (STEPS // 4,), part, ADAM)
        return self.scores(model)

    def scores(self, model: nn.Module) -> dict:
        """The loss with teacher forcing, and the share of test dates that are written without a mistake."""
        sources, targets = zip(*self.task.ids["test"], strict=True)
        outputs = written(model, pad(sources), 3 if self.run.quick else len(targets[0]) + 1)
        right = [output == list(target) for output, target in zip(outputs, targets, strict=True)]
        shown = zip(self.made["test"][:3], outputs, strict=False)
        return {
            "loss": self.task.nll(model, "test"),
            "exact": sum(right) / self.tested,
            "outputs": [[source, self.task.writer.decode(y)] for (source, _), y in shown],
        }


@recipe(
    "ablation-dates",
    about="dates into ISO 8601, character by character: a Transformer of 2 + 2 layers without one of its parts",
    minutes=6,
    score="exact",
)
def ablation_dates(run: Run) -> tuple[dict, None]:
    dates = Dates(run)
    scores: dict = {"steps": STEPS, "test pairs": dates.tested}
    scores |= {part: dates.race(part) for part in (list(PARTS)[:2] if run.quick else PARTS)}
    return scores | {"exact": scores["nothing"]["exact"]}, None


@recipe(
    "ablation-dates-together",
    about="dates into ISO 8601: the three parts that are not missed alone, taken out together, at each of four rates",
    minutes=2,
    score="exact",
)
def ablation_dates_together(run: Run) -> tuple[dict, None]:
    """Each rate for all of the steps; the best is the one with the lowest loss on the validation dates."""
    dates, tried = Dates(run), []
    for rate in SMALL[:1] if run.quick else SMALL:
        lmbook.seed(run.seed)
        model = without("three", dates.task.types)
        ends = {"validate": dates.task.nll, "evaluate_every": STEPS // 4}
        model = learn(run, model, dates.batches, STEPS, rate, f"three, rate {rate:g}", adam=ADAM, **ends)
        tried.append({"rate": rate, "valid": dates.task.nll(model, "valid")} | dates.scores(model))
    best = min(tried, key=lambda one: one["valid"])
    return {"rates": tried, "loss": best["loss"], "exact": best["exact"]}, None
