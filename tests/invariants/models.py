"""Every model of the book, small, seeded and in float64, and batches to try it on.

A case has a kind, which says what the model takes and gives, with VOCAB outputs whatever they mean:

    lm            model(tokens (B, T)) -> (B, T, VOCAB), causal, with start(batch_size) and step(token, state)
    translator    model(source (B, N), target_in (B, T)) -> (B, T, VOCAB), with start(source) and step(token, state)
    tagger        model(tokens (B, T)) -> (B, T, VOCAB), from both sides
    classifier    model(tokens (B, T)) -> (B, VOCAB)
    images        model(images (B, 8, 8)) -> (B, VOCAB)
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn

from lmbook.bert import BERT, BERTClassifier, BERTTagger, MaskedLM
from lmbook.feedforward import FeedForwardLM
from lmbook.gpt import GPT
from lmbook.modern import ModernGPT
from lmbook.moe import MixtureOfExperts
from lmbook.rnn_models import Classifier, RecurrentLM, Tagger
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq, SingleRNNTranslator
from lmbook.text import PAD_ID, SOS_ID
from lmbook.transformer import Transformer, TransformerEncoder
from lmbook.vit import PatchClassifier

VOCAB, FIRST = 11, 5  # ids 0..4 are special
WINDOW = 12


class Case(NamedTuple):
    kind: str
    factory: Callable[[int, float], nn.Module]  # vocab, dropout

    def build(self, dropout: float = 0.0, seed: int = 0, vocab: int = VOCAB) -> nn.Module:
        """The model in evaluation mode."""
        torch.manual_seed(seed)
        return self.factory(vocab, dropout).double().eval()

    def lively(self) -> nn.Module:
        """The model with weights so large that tokens far away move its logits and a slip cannot hide."""
        model = self.build()
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.4 * torch.randn(p.shape, generator=generator, dtype=p.dtype))
        return model

    def batch(
        self, B: int = 3, N: int = 7, T: int = 6, seed: int = 2, vocab: int = VOCAB
    ) -> tuple[tuple[Tensor, ...], Tensor]:
        """The inputs of the model, and the targets; no row holds padding."""
        generator = torch.Generator().manual_seed(seed)
        rows = ids(B, T + 1, generator, vocab)
        if self.kind == "lm":
            return (rows[:, :-1],), rows[:, 1:]
        if self.kind == "translator":
            return (ids(B, N, generator, vocab), torch.cat([torch.full((B, 1), SOS_ID), rows[:, 1:T]], 1)), rows[:, 1:]
        if self.kind == "tagger":
            return (rows[:, :-1],), ids(B, T, generator, vocab)
        if self.kind == "classifier":
            return (rows[:, :-1],), ids(B, 1, generator, vocab)[:, 0]
        return (torch.randint(17, (B, 8, 8), generator=generator).double(),), ids(B, 1, generator, vocab)[:, 0]


def ids(B: int, T: int, generator: torch.Generator, vocab: int = VOCAB) -> Tensor:
    """Ordinary tokens (B, T)."""
    return torch.randint(FIRST, vocab, (B, T), generator=generator)


def nll(model: nn.Module, batch: tuple[tuple[Tensor, ...], Tensor]) -> tuple[Tensor, Tensor]:
    """The summed negative log-likelihood of the targets that are not padding, and their number."""
    inputs, targets = batch
    log_p = torch.log_softmax(model(*inputs), dim=-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    real = targets != PAD_ID
    return -(log_p * real).sum(), real.sum()


def _recurrent(cell: str, **options) -> Case:
    return Case("lm", lambda V, dropout: RecurrentLM(V, 8, 8, 2, cell, dropout=dropout, **options))


def _gpt(**options) -> Case:
    return Case("lm", lambda V, dropout: GPT(V, WINDOW, 8, 2, 2, dropout=dropout, **options))


def _modern(d: int = 8, **options) -> Case:
    return Case("lm", lambda V, dropout: ModernGPT(V, WINDOW, d, 2, 2, **options))


def _transformer(**options) -> Case:
    return Case("translator", lambda V, dropout: Transformer(V, V, 8, 2, 16, 2, dropout=dropout, **options))


def _seq2seq(bidirectional: bool = False, n_layers: int = 1, cell: str = "gru", **options) -> Case:
    kind = AttentionSeq2Seq if "attention" in options else Seq2Seq

    def build(V, dropout):
        encoder = RecurrentEncoder(V, 8, 8, n_layers, cell, bidirectional, dropout)
        return kind(encoder, V, 8, 8, n_layers, cell, dropout=dropout, **options)

    return Case("translator", build)


def _hybrid(positions: str = "sinusoidal", **options) -> Case:
    def build(V, dropout):
        encoder = TransformerEncoder(V, 8, n_heads=2, positions=positions, dropout=dropout)
        return AttentionSeq2Seq(encoder, V, 8, 8, dropout=dropout, **options)

    return Case("translator", build)


def _uneven(V: int, dropout: float) -> Seq2Seq:
    """More layers in the decoder than in the encoder, and a memory that the encoder does not have."""
    return Seq2Seq(RecurrentEncoder(V, 8, 8, 2, "gru", dropout=dropout), V, 8, 8, 3, "lstm", dropout=dropout, tied=True)


def _bert(kind: str, head: Callable[[BERT], nn.Module], **options) -> Case:
    return Case(kind, lambda V, dropout: head(BERT(V, WINDOW, 8, 2, 2, dropout=dropout, **options)))


def _patches(**options) -> Case:
    return Case("images", lambda V, dropout: PatchClassifier(8, 8, 4, V, 8, 2, 2, dropout=dropout, **options))


CASES: dict[str, Case] = {
    "feedforward": Case("lm", lambda V, dropout: FeedForwardLM(V, 8, 8, window=3, dropout=dropout)),
    "feedforward, tied": Case("lm", lambda V, dropout: FeedForwardLM(V, 8, 8, 4, "sigmoid", True, dropout, True)),
    "rnn": _recurrent("rnn"),
    "lstm": _recurrent("lstm"),
    "lstm, tied": _recurrent("lstm", tied=True),
    "gru": _recurrent("gru"),
    "gru, reset before": _recurrent("gru", reset="before"),
    "gpt": _gpt(),
    "gpt, rotary": _gpt(positions="rotary"),
    "gpt, unbiased": _gpt(bias=False),
    "gpt, untied": _gpt(tied=False),
    "modern": _modern(n_kv=1, span=3),
    "modern, recurrent": _modern(4, mixers=["mingru", "selective"]),
    "transformer, pre": _transformer(norm="pre"),
    "transformer, post": _transformer(norm="post"),
    "transformer, rotary": _transformer(positions="rotary"),
    "transformer, learned": _transformer(positions="learned", tied="all"),
    "transformer, experts": _transformer(ffn=partial(MixtureOfExperts, n_experts=3, top_k=2)),
    "seq2seq, first": _seq2seq(),
    "seq2seq, every": _seq2seq(context="every", cell="lstm"),
    "seq2seq, deep": _seq2seq(n_layers=3, cell="rnn", bidirectional=True),
    "seq2seq, dot": _seq2seq(attention="luong", score="dot"),
    "seq2seq, multiplicative": _seq2seq(attention="bahdanau", score="multiplicative", bidirectional=True),
    "seq2seq, additive": _seq2seq(attention="bahdanau", bidirectional=True, d_a=5),
    "seq2seq, scaled": _seq2seq(attention="bahdanau", score="scaled", cell="lstm", n_layers=2),
    "seq2seq, uneven": Case("translator", _uneven),
    "hybrid": _hybrid(),
    "hybrid, luong": _hybrid("rotary", attention="luong", score="scaled", cell="lstm", n_layers=2),
    "one rnn": Case("translator", lambda V, dropout: SingleRNNTranslator(V, 8, 8, dropout=dropout)),
    "tagger": Case("tagger", lambda V, dropout: Tagger(V, V, 8, 8, dropout=dropout)),
    "tagger, deep": Case("tagger", lambda V, dropout: Tagger(V, V, 8, 8, 2, "gru", dropout=dropout)),
    "classifier, last": Case("classifier", lambda V, dropout: Classifier(V, V, 8, 8, dropout=dropout)),
    "classifier, mean": Case("classifier", lambda V, dropout: Classifier(V, V, 8, 8, pool="mean", dropout=dropout)),
    "classifier, one way": Case("classifier", lambda V, dropout: Classifier(V, V, 8, 8, 2, "gru", False, dropout)),
    "bert": _bert("tagger", MaskedLM),
    "bert tagger": _bert("tagger", lambda bert: BERTTagger(bert, bert.vocab)),
    "bert classifier": _bert("classifier", lambda bert: BERTClassifier(bert, bert.vocab)),
    "patches": _patches(),
    "patches, post": _patches(norm="post"),
}


# One of each class: where options change nothing, as for a seed, the others come once a week.
FIRST_OF_A_CLASS = {"feedforward", "lstm", "gpt", "modern", "modern, recurrent", "transformer, experts", "hybrid"}
FIRST_OF_A_CLASS |= {"seq2seq, additive", "seq2seq, first", "one rnn", "tagger", "classifier, mean", "bert", "patches"}


def of_each_class(chosen: list[str]):
    """A mark: these models one by one."""
    weekly = {name: [pytest.mark.weekly] * (name not in FIRST_OF_A_CLASS) for name in chosen}
    return pytest.mark.parametrize("name", [pytest.param(name, marks=marks) for name, marks in weekly.items()])


def names(*kinds: str) -> list[str]:
    """The models of these kinds, all of them by default."""
    return [name for name, case in CASES.items() if not kinds or case.kind in kinds]
