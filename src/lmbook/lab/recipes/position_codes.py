"""Copying with several codes of position, trained up to one length and tested past it.

    echo   reads <sos> and symbols, and says at each position the symbol three positions before
    copy   reads <sos>, N symbols and a separator, and writes the N symbols again

Both need order: which symbol is asked for depends on its position alone. Echo asks for one fixed offset, copy for an
offset that is another one for every N. The model is the same for all codes, two layers of causal self-attention; one
more reads without a mask and without positions, and cannot tell order at all. A guess is right once in eight.

All codes go by one rule: the rate is that of run.RATES that validates best after TRIED steps, and the training ends at
its plateau, or after MOST steps. Validation has sequences of the trained lengths alone; a thousandth of a nat counts as
a gain.
"""

import functools
import math
from copy import deepcopy

import torch
from torch import Tensor, nn

from lmbook.attention import MultiHeadAttention
from lmbook.lab.configuration import configured
from lmbook.lab.recipes.tasks import Pair, adam, next_token_nll, random_lengths
from lmbook.lab.run import Run, recipe
from lmbook.lab.schedules import warmup
from lmbook.lab.train import device_of, evaluate
from lmbook.layers import Encoder
from lmbook.positions import binary, integer, place, rotary, slopes
from lmbook.text import PAD_ID, SOS_ID, SPECIALS
from lmbook.transformer import Embedding

CODES = ("none", "learned", "sinusoidal", "rotary", "linear bias")
BESIDE = {"integer": integer, "binary": functools.partial(binary, n_bits=7)}  # codes put beside the embeddings
SYMBOLS, BACK = 8, 3
FIRST, SOS = len(SPECIALS), SOS_ID
SEPARATOR = FIRST + SYMBOLS
NOTHING = PAD_ID  # where no answer is asked for
LONGEST, PLACES = 24, 96  # echo: symbols in training, and in the test
LONGEST_COPY, TESTED = 10, (2, 4, 6, 8, 9, 10, 11, 12, 14, 16, 20)  # copy: the same
ROWS = 16
TRIED, MOST, EVERY = 250, 6000, 100  # steps: for each rate, for a training at most, from one validation to the next


def symbols(generator: torch.Generator, rows: int, N: int) -> Tensor:
    """Ids (rows, N), each drawn from 8 types with equal probability."""
    return torch.randint(FIRST, FIRST + SYMBOLS, (rows, N), generator=generator)


def echo(generator: torch.Generator, rows: int, N: int) -> tuple[Tensor, Tensor]:
    """tokens (rows, N + 1), <sos> first, and targets of the same shape: the symbol three places before, or <pad>."""
    tokens = torch.cat([torch.full((rows, 1), SOS), symbols(generator, rows, N)], dim=1)
    targets = torch.full_like(tokens, NOTHING)
    targets[:, BACK + 1 :] = tokens[:, 1 : max(1, N + 1 - BACK)]
    return tokens, targets


def copy(generator: torch.Generator, rows: int, N: int) -> tuple[Tensor, Tensor]:
    """tokens (rows, 2N + 1): <sos>, N symbols, separator, the first N - 1 again; targets: the symbols, where due."""
    read = symbols(generator, rows, N)
    sos, separator = torch.full((rows, 1), SOS), torch.full((rows, 1), SEPARATOR)
    tokens = torch.cat([sos, read, separator, read[:, :-1]], dim=1)
    return tokens, torch.cat([torch.full((rows, N + 1), NOTHING), read], dim=1)


class LinearBias(MultiHeadAttention):
    """Causal self-attention whose score falls by m_h a place, m_h = slopes(n_heads)  (Press et al. 2022).

    Behind a causal mask -m_h (t - i) may be replaced by m_h i, which is one product more: each query gets the number
    m_h and each key its place i. (Places are counted back from the last, so that the numbers stay small.)
    """

    def attend_in_heads(
        self, Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None, causal: bool, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        if not causal or Q.shape[2] != K.shape[2]:
            raise ValueError("LinearBias is for causal self-attention over a whole sequence.")
        T, d_k = Q.shape[2:]
        scale = math.sqrt(d_k + 1)  # by which attend will divide, since the keys have one number more
        m = scale * slopes(self.n_heads).to(Q).view(-1, 1, 1)
        i = torch.arange(1 - T, 1).to(K).unsqueeze(1)
        Q = torch.cat([Q * scale / math.sqrt(d_k), m.expand(*Q.shape[:-1], 1)], dim=-1)
        K = torch.cat([K, i.expand(*K.shape[:-1], 1)], dim=-1)
        return super().attend_in_heads(Q, K, V, mask, causal, need_weights)


@configured
class Reader(nn.Module):
    """Self-attention over tokens with one of CODES or BESIDE, and a linear output: logits (B, T, vocab).

    max_length: rows of the table of learned positions.
    """

    def __init__(
        self,
        code: str,
        d_model: int = 64,
        n_heads: int = 4,
        n_layers: int = 2,
        causal: bool = True,
        max_length: int = 128,
        vocab: int = SEPARATOR + 1,
        outputs: int | None = None,
    ):
        super().__init__()
        if code not in (*CODES, *BESIDE):
            raise ValueError(f"code is {code!r}; choose one of {', '.join((*CODES, *BESIDE))}.")
        self.causal, self.beside = causal, BESIDE.get(code)
        added = "none" if code == "linear bias" or self.beside else code
        narrower = self.beside(1).shape[1] if self.beside else 0
        self.embedding = Embedding(vocab, d_model - narrower, added, max_length)
        turn = rotary if code == "rotary" else None
        self.encoder = Encoder(n_layers, d_model, n_heads, 4 * d_model, rotate=turn)
        if code == "linear bias":
            for layer in self.encoder.layers:
                layer.attention = LinearBias(d_model, n_heads)
        self.output = nn.Linear(d_model, vocab if outputs is None else outputs)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        if self.beside:
            x = place(x, self.beside(x.shape[1]), "concatenate")
        return self.output(self.encoder(x, causal=self.causal)[0])


@torch.no_grad()
def right(model: nn.Module, task, N: int, rows: int = 400) -> Tensor:
    """Share of right answers at each place that asks for one, on new sequences of N symbols."""
    tokens, targets = task(torch.Generator().manual_seed(10_000 + N), rows, N)
    model.eval()
    written = model(tokens.to(device_of(model))).argmax(-1).cpu()
    asked = targets[0] != NOTHING
    return (written == targets)[:, asked].float().mean(dim=0)


def validation(task, least: int, longest: int, rows: int = ROWS) -> list[Pair]:
    """Batches of the task that no training has, one of each length."""
    generator = torch.Generator().manual_seed(5_000)
    return [task(generator, rows, N) for N in range(least, longest + 1)]


def trained(run: Run, part: str, code: str, task, least: int, longest: int, causal: bool = True) -> Reader:
    """A model trained on batches of the task, each of one length from least to longest, by the rule of this file."""
    valid = run.cut(validation(task, least, longest), 2)

    def build() -> Reader:
        return Reader(code, causal=causal).to(run.device)

    batches = random_lengths(task, least, longest, MOST, run.seed, ROWS)
    options = {
        "clip": 1.0,
        "schedule": functools.partial(warmup, steps=50),
        "validate": lambda model: round(evaluate(model, valid, next_token_nll), 3),
    }
    rate = run.tune(build, batches, next_token_nll, adam, part, steps=TRIED, **options)
    model = build()
    run.to_plateau(model, batches, next_token_nll, adam(model, rate), EVERY, MOST, part, **options)
    return model


def echoed(run: Run, code: str, name: str = "", causal: bool = True) -> Tensor:
    """The share right at each place up to four times the trained length."""
    model = trained(run, f"echo {name or code}", code, echo, BACK + 1, LONGEST, causal)
    return right(model, echo, PLACES, rows=20 if run.quick else 400)


@recipe("copying", about="copying with codes of position, past the trained length", minutes=12, score="rotary, trained")
def copying(run: Run) -> tuple[dict, None]:
    """Echo: share right at each place up to four times the trained length. Copy: share right by length, up to twice."""
    scores = {"echo": {}, "copy": {}, "trained to": {"echo": LONGEST, "copy": LONGEST_COPY}, "back": BACK}
    for code in CODES:
        scores["echo"][code] = [round(share, 3) for share in echoed(run, code).tolist()]
    scores["echo"]["none, no mask"] = [round(s, 3) for s in echoed(run, "none", "none, no mask", False).tolist()]
    for code in CODES:
        model = trained(run, f"copy {code}", code, copy, 1, LONGEST_COPY)
        tested = TESTED[:2] if run.quick else TESTED
        scores["copy"][code] = {str(N): round(right(model, copy, N).mean().item(), 3) for N in tested}
    inside = scores["echo"]["rotary"][: LONGEST - BACK]
    return scores | {"rotary, trained": sum(inside) / len(inside)}, None


@recipe(
    "copying-beside",
    about="echo with the place beside each embedding, as an integer or in binary, past the trained length",
    minutes=2,
    score="binary, trained",
)
def copying_beside(run: Run) -> tuple[dict, None]:
    """Share right within the trained length, and past it up to four times as far."""
    scores = {}
    for code in BESIDE:
        places = echoed(run, code)
        inside, past = places[: LONGEST - BACK], places[LONGEST - BACK :]
        scores |= {f"{code}, trained": inside.mean().item(), f"{code}, past": past.mean().item()}
    return scores, None


@torch.no_grad()
def without_rows(model: Reader, first: int, last: int) -> Reader:
    """A copy of the model in which rows first .. last of the learned table are 0."""
    copied = deepcopy(model)
    copied.embedding.learned.table.weight[first : last + 1] = 0.0
    return copied


@recipe(
    "copying-learned",
    about="copy with learned positions past the trained length: what trained and untrained rows do",
    minutes=2,
    score="output at rows 0, 12 symbols",
)
def copying_learned(run: Run) -> tuple[dict, None]:
    """Share right by number N of symbols. The output stands at positions N + 1 .. 2N; rows up to 20 were trained.

    "trained rows", "untrained rows": where the row of the position was trained, and where it was not.  "zeroed": the
    rows of the output are 0, so that the model has no code there.  "untrained zeroed": only those that no training saw.
    """
    model, last = trained(run, "copy learned", "learned", copy, 1, LONGEST_COPY), 2 * LONGEST_COPY
    scores: dict = {}
    for N in TESTED[:2] if run.quick else TESTED:
        by_place, inside = right(model, copy, N), max(0, last - N)
        found = {"right": by_place, "trained rows": by_place[:inside], "untrained rows": by_place[inside:]}
        found["zeroed"] = right(without_rows(model, N + 1, 2 * N), copy, N)
        found["untrained zeroed"] = right(without_rows(model, last + 1, 2 * N), copy, N)
        scores[str(N)] = {name: round(share.mean().item(), 3) for name, share in found.items() if len(share)}
    return {"copy": scores, "output at rows 0, 12 symbols": scores["2" if run.quick else "12"]["zeroed"]}, None
