"""How a score of contents finds a place, on random symbols written backwards: y_t = x_{N+1-t}.

    chosen     alpha_t = softmax(s_t^T W h_i), learned
    aside      alpha_t prescribed, 1 at the place right of x_{N+1-t}, whose symbol has just been written, else 0
    additive   alpha_t = softmax(v^T tanh(W_h h_i + W_s s_t))
    coverage   alpha_t = softmax(v^T tanh(W_h h_i + W_s s_t + w_c a_ti)),  a_ti = sum_{t' < t} alpha_t'i

Coverage is that of Tu et al. 2016. All read with one bidirectional GRU. All measures are taken with the target given.
"""

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import lmbook
from lmbook.attention import masked_softmax
from lmbook.lab.run import Run, recipe
from lmbook.losses import token_nll
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder
from lmbook.text import SOS_ID, SPECIALS

FIRST, SYMBOLS, LONGEST, ROWS = len(SPECIALS), 20, 10, 64
STEPS, RATE = 400, 8e-3


class Aside(AttentionSeq2Seq):
    """Every step is given the state one place to the right of the symbol that it has to write, the first step h_1."""

    def forward(self, source, target_in, source_mask=None, need_weights=False):
        """As of AttentionSeq2Seq; target_in must have as many columns as the source."""
        state = self.start(source, source_mask)
        S, _ = self.decoder(self.embedding(target_in), state["s"])
        alpha = torch.eye(source.shape[1], device=source.device).flip(1).roll(1, 1).expand(len(source), -1, -1)
        logits = self._logits(S, alpha @ state["H"])
        return (logits, alpha) if need_weights else logits


class Coverage(AttentionSeq2Seq):
    """The additive score is told how much weight each position has had so far."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.w_c = nn.Linear(1, self.score.v.in_features, bias=False)

    def attend(self, s: Tensor, state: dict) -> tuple[Tensor, Tensor]:
        """s: (B, T, hidden), all steps from the first on.  Returns c (B, T, width), alpha (B, T, N)."""
        had, rows = torch.zeros_like(state["keys"][..., 0]), []  # had: a_t (B, N)
        for query in self.score.W_s(s).unbind(1):
            scores = self.score.v(torch.tanh(state["keys"] + query.unsqueeze(1) + self.w_c(had.unsqueeze(-1))))
            rows.append(masked_softmax(scores.squeeze(-1), state["mask"]))
            had = had + rows[-1]
        alpha = torch.stack(rows, dim=1)
        return alpha @ state["H"], alpha


SYSTEMS = {
    "chosen": (AttentionSeq2Seq, "multiplicative"),
    "aside": (Aside, "multiplicative"),
    "additive": (AttentionSeq2Seq, "additive"),
    "coverage": (Coverage, "additive"),
}


def build(name: str) -> AttentionSeq2Seq:
    kind, score = SYSTEMS[name]
    encoder = RecurrentEncoder(FIRST + SYMBOLS, 24, 48, bidirectional=True)
    return kind(encoder, FIRST + SYMBOLS, 24, 48, attention="luong", score=score)


def shifted(y: Tensor) -> Tensor:
    """<sos> y_1 .. y_{T-1}."""
    return F.pad(y[:, :-1], (1, 0), value=SOS_ID)


def drawn(rng: np.random.Generator, rows: int, N: int, kinds: int = SYMBOLS) -> Tensor:
    """Sources (rows, N), each symbol drawn from so many kinds."""
    return torch.from_numpy(rng.integers(FIRST, FIRST + kinds, size=(rows, N)))


def distinct(rng: np.random.Generator, rows: int, N: int) -> Tensor:
    """Sources (rows, N) in which no symbol occurs twice."""
    return torch.from_numpy(rng.permuted(np.tile(np.arange(SYMBOLS), (rows, 1)), axis=1)[:, :N] + FIRST)


def loss(model: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    y = x.flip(1)
    return token_nll(model(x, shifted(y)), y)


def looked(model: nn.Module, x: Tensor, inputs: Tensor) -> Tensor:
    """The place of the largest weight at every step (B, T)."""
    return model(x, inputs, need_weights=True)[1].argmax(-1)


@torch.no_grad()
def follows_or_counts(model: nn.Module, x: Tensor, rng: np.random.Generator) -> dict[str, float]:
    """Where the decoder looks while it reads symbols that it has not written.  x: sources without a repeated symbol.

    A decoder that counts looks at its own place N + 1 - t; one that follows looks left of the symbol that it reads.
    """
    N, order = x.shape[1], torch.from_numpy(rng.permuted(np.tile(np.arange(x.shape[1]), (len(x), 1)), axis=1))
    own, left = torch.arange(N).flip(0)[1:].expand(len(x), -1), order[:, :-1] - 1
    at = looked(model, x, shifted(x.gather(1, order)))[:, 1:]
    apart = (left >= 0) & (left != own)  # the two differ, and there is something to the left
    return {"own place": share((at == own)[apart]), "left of what it read": share((at == left)[apart])}


@torch.no_grad()
def changed(model: nn.Module, x: Tensor, aside: int) -> float:
    """How often the word of a step changes when the symbol `aside` places right of x_{N+1-t} is exchanged."""
    N, inputs = x.shape[1], shifted(x.flip(1))
    said, hits = model(x, inputs).argmax(-1), []
    for t in range(1, N):  # at t = 0 nothing is on the right
        other, place = x.clone(), N - 1 - t + aside
        other[:, place] = FIRST + (other[:, place] - FIRST + 7) % SYMBOLS
        hits.append(model(other, inputs).argmax(-1)[:, t] != said[:, t])
    return share(torch.cat(hits))


@torch.no_grad()
def permuted(model: AttentionSeq2Seq, x: Tensor, rng: np.random.Generator) -> float:
    """The share of symbols right with the weights of every step in a random order  (Jain and Wallace 2019)."""
    inputs, state = shifted(x.flip(1)), model.start(x)
    S, _ = model.decoder(model.embedding(inputs), state["s"])
    _, alpha = model.attend(S, state)
    mixed = torch.from_numpy(rng.permuted(alpha.numpy(), axis=-1))
    return share(model._logits(S, mixed @ state["H"]).argmax(-1) == x.flip(1))


@torch.no_grad()
def right(model: nn.Module, x: Tensor) -> float:
    return share(model(x, shifted(x.flip(1))).argmax(-1) == x.flip(1))


def share(hits: Tensor) -> float:
    return hits.float().mean().item()


def measured(model: nn.Module, name: str, rows: int) -> dict:
    """All measures of one system; the same sources for every system and seed."""
    rng = np.random.default_rng(1)
    x, own = distinct(rng, rows, 8), torch.arange(8).flip(0)
    found: dict = {
        "right": right(model, x),
        "right, 3 kinds": right(model, drawn(rng, rows, 8, 3)),
        "right, 15 symbols": right(model, drawn(rng, rows, 15)),
        "exchanged": {"its place": changed(model, x, 0), "one to the right": changed(model, x, 1)},
    }
    if name != "aside":
        same = drawn(rng, rows, 1).expand(-1, 8)
        at = looked(model, same, shifted(same))
        found |= {
            "at its place": share(looked(model, x, shifted(x.flip(1))) == own),
            **follows_or_counts(model, x, rng),
            "one symbol": [share(column) for column in (at == own).unbind(1)],
        }
    if name == "chosen":
        found["permuted"] = permuted(model, x, rng)
    return found


@recipe(
    "looking-back",
    about="random symbols written backwards: does attention count or follow, weights aside, coverage",
    minutes=4,
    score="right",
)
def looking_back(run: Run) -> tuple[dict, None]:
    """400 steps of every system, from the same start where they have the same parts."""

    def batches(epoch: int) -> Iterator[Tensor]:
        rng = np.random.default_rng([run.seed, epoch])
        for _ in range(STEPS):
            yield drawn(rng, ROWS, int(rng.integers(2, LONGEST + 1)))

    scores, held = {}, drawn(np.random.default_rng(2), ROWS, LONGEST)
    for name in SYSTEMS:
        lmbook.seed(run.seed)
        model = build(name)
        optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
        run.fit_cosine(
            model, batches, loss, optimizer, STEPS // 10, STEPS, lambda: [held], part=name, evaluate_every=STEPS // 10
        )
        scores[name] = measured(model.cpu().eval(), name, 20 if run.quick else 300)
    scores["right"] = scores["chosen"]["right"]
    return scores, None
