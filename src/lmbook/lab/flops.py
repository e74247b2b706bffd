"""What a translator costs: the floating-point operations of its products, counted by formula.

    (a x b) by (b x c)     a c inner products of b terms, each term a multiplication and an addition: 2 a b c FLOPs
    forward                the sum over all products of the model
    training               3 x forward: from dL/dY of Y = X W^T come dL/dX and dL/dW, two products of the same size

Softmax, norms, gates and sums of vectors are left out: each costs a few operations a number, the products some hundred.
An embedding is a look-up and costs nothing here. Padding counts like tokens, because a machine computes it as well.

Sizes: N source tokens, T target tokens, of one sentence pair.
"""

from torch import nn

from lmbook.attention import AdditiveScore, DotScore
from lmbook.layers import Encoder
from lmbook.rnn import Recurrent
from lmbook.seq2seq import AttentionSeq2Seq, Seq2Seq
from lmbook.transformer import Transformer, TransformerEncoder

GATES = {"RNNCell": 1, "GRUCell": 3, "LSTMCell": 4}


def linear(rows: int, layer: nn.Linear) -> int:
    """A linear layer at `rows` positions: 2 rows d_in d_out."""
    return 2 * rows * layer.in_features * layer.out_features


def recurrent(T: int, layers: Recurrent) -> int:
    """T steps of every cell: for each gate a product with the input and one with the state, 2 m (d_in + m)."""
    cells = [cell for both in layers.layers for cell in both]
    return sum(2 * T * GATES[type(cell).__name__] * cell.hidden * (cell.d_in + cell.hidden) for cell in cells)


def attention(T: int, N: int, d_model: int) -> int:
    """T queries at N keys, all heads together: queries and output 4 T d^2, keys and values 4 N d^2, and 4 T N d for the
    scores and the weighted sums, however many heads share d."""
    return 4 * T * d_model**2 + 4 * N * d_model**2 + 4 * T * N * d_model


def feed_forward(T: int, d_model: int, d_ff: int) -> int:
    """d_model -> d_ff -> d_model at T positions."""
    return 4 * T * d_model * d_ff


def encoder(N: int, d_model: int, d_ff: int, n_layers: int) -> int:
    """The encoder of a Transformer: in each layer self-attention and feed-forward."""
    return n_layers * (attention(N, N, d_model) + feed_forward(N, d_model, d_ff))


def transformer(N: int, T: int, d_model: int, d_ff: int, n_layers: int, vocab: int) -> int:
    """Encoder, decoder and the product with the output matrix  (Vaswani et al. 2017).

    The causal mask halves what is needed of T^2; the plain product computes it all, and so does this count.
    """
    layer = attention(T, T, d_model) + attention(T, N, d_model) + feed_forward(T, d_model, d_ff)
    return encoder(N, d_model, d_ff, n_layers) + n_layers * layer + 2 * T * d_model * vocab


def _stack(layers: Encoder) -> tuple[int, int, int]:
    """d_model, d_ff and n_layers of a stack of layers."""
    W_1 = layers.layers[0].ffn.W_1
    return W_1.in_features, W_1.out_features, len(layers.layers)


def forward(model: nn.Module, N: int, T: int) -> int:
    """FLOPs of one pass over a pair of N source and T target tokens, of a Transformer or a recurrent translator."""
    if isinstance(model, Transformer):
        return transformer(N, T, *_stack(model.encoder), model.output.out_features)
    if not isinstance(model, Seq2Seq | AttentionSeq2Seq):
        raise TypeError(f"forward() counts a Transformer, Seq2Seq or AttentionSeq2Seq, not {type(model).__name__}.")
    if isinstance(model.encoder, TransformerEncoder):
        total = encoder(N, *_stack(model.encoder.encoder))
    else:
        total = recurrent(N, model.encoder.recurrent)
    total += sum(linear(1, W) for maps in model.bridge.layers for W in maps)
    total += recurrent(T, model.decoder) + linear(T, model.output)
    if model.W_r is not None:
        total += linear(T, model.W_r)
    if isinstance(model, AttentionSeq2Seq):
        total += _attention(model.score, N, T, model.output.in_features, model.encoder.width)
    return total


def _attention(score: nn.Module, N: int, T: int, hidden: int, width: int) -> int:
    """Scores of T states against N, and the weighted sums of the N; what depends on the source alone is done once."""
    sums = 2 * T * N * width
    if isinstance(score, AdditiveScore):
        return sums + linear(N, score.W_h) + linear(T, score.W_s) + T * linear(N, score.v)
    keys = 0 if isinstance(score, DotScore) else linear(N, score.W)
    return sums + keys + 2 * T * N * hidden


def training(model: nn.Module, B: int, N: int, T: int) -> int:
    """FLOPs of a training step on a batch of B pairs, padded to N and T: three times the forward pass.

    A little less is really done where a recurrent state starts at a constant 0: nobody asks for its derivative.
    """
    return 3 * B * forward(model, N, T)
