"""start, step, run: how every model of the book is used that writes one token after the other.

    state = model.start(B)                          a language model: the state before the first token of B rows
    state = model.start(source, source_mask)        a model that translates: the state when the source has been read
    logits, state = model.step(token, state)        one token further: ids (B,), and logits (B, vocab) of the next
    logits, state = model.run(tokens, state)        a piece of text at once: ids (B, T), and logits (B, T, vocab)

The input comes first and the state second, as in torch's recurrent modules. A state is never changed, so a search may
go on from one several times. Its contents are the model's own affair: the vectors of a recurrent network, the last
words of a window, the keys and values of a Transformer. Seen from outside it is a nested tuple, list or dict of tensors
whose first axis is the batch. Layers and cells that go step by step keep the same order, step(x, state).

A class fits by having the methods; it need not name these.  Shapes: B batch, T time, N source length, vocab.
"""

from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from lmbook.networks import Network

State = Any  # nested tuples, lists and dicts of tensors, the batch first


class Writer(Network, Protocol):
    """Any model that goes on by one token: all that a decoder needs once the model has been started."""

    def step(self, token: Tensor, state: State) -> tuple[Tensor, State]: ...


@runtime_checkable
class LanguageModel(Writer, Protocol):
    """P(w_t | w_<t).  run is step T times over, in one pass where the model allows it."""

    def start(self, batch_size: int) -> State: ...

    def run(self, tokens: Tensor, state: State) -> tuple[Tensor, State]: ...


class Translator(Writer, Protocol):
    """P(y_t | y_<t, x) of a source x.  source: ids (B, N).  source_mask: boolean (B, N), True at real tokens."""

    def start(self, source: Tensor, source_mask: Tensor | None = None) -> State: ...


def check_input(x: object) -> None:
    """Raises TypeError unless x is a tensor: the likeliest reason is a state in the place of the input."""
    if not isinstance(x, Tensor):
        raise TypeError(
            f"the input is a {type(x).__name__}, not a tensor; it comes first and the state second: step(token, state)."
        )
