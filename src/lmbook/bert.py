"""BERT: the encoder alone, which sees both sides of a token, trained to fill blanks (Devlin et al. 2019).

    X = norm(E[w] + P + S[segment])                              tokens, positions, first or second sentence
    X = norm(X + attention(X));  X = norm(X + ffn(X))         n_layers times, without a causal mask: post-norm
    y_hat_t = softmax(E norm(gelu(W h_t + b)) + c)            the masked language model, at masked positions t
    y_hat   = softmax(W_c tanh(W_p h_1 + b_p) + b_c)          the classifier, on the state of the first token
    y_hat   = softmax(W_c mean(h_1, .., h_T) + b_c)           or on the mean of all states

Our <sos> and <eos> take the places of BERT's [CLS] and [SEP]. gelu is x Phi(x), exact; norms have eps = 1e-12.
Shapes: B batch, T time, vocab, d_model, d_ff = 4 d_model by default, n_heads, n_layers; window is the largest T.
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook.embeddings import embed
from lmbook.layers import Encoder, FeedForward, LayerNorm, initialise
from lmbook.positions import Learned
from lmbook.text import MASK_ID, PAD_ID, SPECIALS

FIRST_ORDINARY = len(SPECIALS)
EPS = 1e-12


class BERT(nn.Module):
    """Hidden states of every token from all tokens: model(tokens) is (B, T, d_model).

    n_types: kinds of segments.  pooler: whether `pool` has its weights W_p, which only a classifier needs.
    dropout: on the embeddings, the attention weights and what each sublayer adds.
    Initialised with normal weights of standard deviation 0.02, biases 0, gains 1.
    """

    def __init__(
        self,
        vocab: int,
        window: int,
        d_model: int,
        n_heads: int,
        n_layers: int,
        d_ff: int | None = None,
        dropout: float = 0.1,
        n_types: int = 2,
        pooler: bool = False,
    ):
        super().__init__()
        self.vocab, self.window, self.n_types, self.d_model = vocab, window, n_types, d_model
        self.embedding = nn.Embedding(vocab, d_model)
        self.position = Learned(window, d_model)
        self.segment = nn.Embedding(n_types, d_model)
        self.norm, self.dropout = LayerNorm(d_model, EPS), nn.Dropout(dropout)
        d_ff, ffn = 4 * d_model if d_ff is None else d_ff, partial(FeedForward, activation=F.gelu)
        self.encoder = Encoder(n_layers, d_model, n_heads, d_ff, "post", dropout, ffn=ffn, eps=EPS)
        self.pooler = nn.Linear(d_model, d_model) if pooler else None
        self.apply(initialise)

    def forward(
        self, tokens: Tensor, mask: Tensor | None = None, types: Tensor | None = None, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """tokens: ids (B, T), T <= window.  mask: boolean (B, T), True at the tokens to attend to, by default all but
        <pad>.  types: (B, T) in 0..n_types-1, by default 0.

        Returns hidden states (B, T, d_model), and with need_weights the attention weights of each layer,
        (B, n_heads, T, T). States at padding mean nothing, but are finite.
        """
        x = embed(self.embedding, tokens) + self.position(tokens.shape[1])
        mask = tokens != PAD_ID if mask is None else mask
        if mask.dtype != torch.bool or mask.shape != tokens.shape:
            raise ValueError(
                f"mask is {mask.dtype} {tuple(mask.shape)}; give a boolean one of shape {tuple(tokens.shape)}."
            )
        if types is None:
            types = torch.zeros_like(tokens)
        elif types.device.type == "cpu" and types.numel() and not 0 <= types.min() <= types.max() < self.n_types:
            raise ValueError(f"types run {types.min()}..{types.max()}; this model knows 0..{self.n_types - 1}.")
        x = self.dropout(self.norm(x + self.segment(types)))
        h, weights = self.encoder(x, mask.unsqueeze(1), need_weights=need_weights)
        return (h, weights) if need_weights else h

    def pool(self, hidden: Tensor) -> Tensor:
        """tanh(W_p h_1 + b_p), the row as one vector: (B, T, d_model) to (B, d_model)."""
        if self.pooler is None:
            raise ValueError("This BERT has no pooler: build it with pooler=True.")
        return torch.tanh(self.pooler(hidden[:, 0]))


class MaskedLM(nn.Module):
    """logits = E norm(gelu(W h + b)) + c: what may be at each position. E is the encoder's table of embeddings."""

    def __init__(self, bert: BERT):
        super().__init__()
        self.bert = bert
        self.W = nn.Linear(bert.d_model, bert.d_model)
        self.norm = LayerNorm(bert.d_model, EPS)
        self.output = nn.Linear(bert.d_model, bert.vocab)
        self.W.apply(initialise)
        nn.init.zeros_(self.output.bias)
        self.output.weight = bert.embedding.weight

    def forward(self, tokens: Tensor, mask: Tensor | None = None, at: Tensor | None = None) -> Tensor:
        """tokens, mask: as of BERT.  at: boolean (B, T), the positions to predict, by default all.

        Returns logits (B, T, vocab), or with `at` (n, vocab) for its n positions, row by row: the rest costs nothing.
        """
        h = self.bert(tokens, mask)
        h = h if at is None else h[at]
        return self.output(self.norm(F.gelu(self.W(h))))


class BERTClassifier(nn.Module):
    """A label for a row: logits (B, classes).

    pool="first": W_c tanh(W_p h_1 + b_p) + b_c, from the state of the first token; the encoder gets a pooler where it
    has none.  pool="mean": W_c s + b_c, s the mean of the states over the tokens of the row.
    The encoder is used, not copied: fine-tuning changes it.
    """

    def __init__(self, bert: BERT, classes: int, dropout: float = 0.0, pool: str = "first"):
        super().__init__()
        if pool not in ("first", "mean"):
            raise ValueError(f'pool is {pool!r}; it must be "first" or "mean".')
        self.bert, self.dropout, self.output = bert, nn.Dropout(dropout), nn.Linear(bert.d_model, classes)
        self.pool = pool
        self.output.apply(initialise)
        if pool == "first" and bert.pooler is None:
            bert.pooler = nn.Linear(bert.d_model, bert.d_model).to(bert.embedding.weight)
            bert.pooler.apply(initialise)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """tokens, mask: as of BERT.  Returns logits (B, classes)."""
        mask = tokens != PAD_ID if mask is None else mask
        h = self.bert(tokens, mask)
        if self.pool == "first":
            s = self.bert.pool(h)
        else:
            s = (h * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return self.output(self.dropout(s))


class BERTTagger(nn.Module):
    """logits_t = W_c h_t + b_c, (B, T, tags): a label for each token. The encoder is used, not copied."""

    def __init__(self, bert: BERT, tags: int, dropout: float = 0.0):
        super().__init__()
        self.bert, self.dropout, self.output = bert, nn.Dropout(dropout), nn.Linear(bert.d_model, tags)
        self.output.apply(initialise)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """tokens, mask: as of BERT.  Returns logits (B, T, tags)."""
        return self.output(self.dropout(self.bert(tokens, mask)))


def mask_tokens(
    tokens: Tensor,
    vocab: int,
    generator: torch.Generator,
    rate: float = 0.15,
    shares: tuple[float, float, float] = (0.8, 0.1, 0.1),
) -> tuple[Tensor, Tensor]:
    """BERT's blanks: each ordinary token is selected with probability `rate`, and a selected one becomes

        <mask> with probability 0.8,     a random ordinary token with 0.1,     itself with 0.1

    (Devlin et al. 2019, section 3.1; drawn token by token here, so that the share of a row varies). Special tokens, ids
    below 5, are neither selected nor drawn.  tokens: ids (B, T).  generator: torch.Generator().manual_seed(seed).
    shares: other probabilities of the three fates, in this order.
    Returns the inputs (B, T) and the selected positions, boolean (B, T); what to predict there is in tokens.
    """
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator is {generator!r}; give a torch Generator: torch.Generator().manual_seed(0).")
    if not 0 <= rate <= 1:
        raise ValueError(f"rate is {rate}; it is a probability, 0 to 1.")
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"shares are {shares}; they are the probabilities of <mask>, another token and itself.")
    if vocab <= FIRST_ORDINARY:
        raise ValueError(f"a vocabulary of {vocab} types has no ordinary one: ids 0..4 are special.")

    def uniform() -> Tensor:
        return torch.rand(tokens.shape, generator=generator, device=generator.device).to(tokens.device)

    masked, replaced, _ = shares
    selected = (tokens >= FIRST_ORDINARY) & (uniform() < rate)
    fate = uniform()
    other = torch.randint(FIRST_ORDINARY, vocab, tokens.shape, generator=generator, device=generator.device)
    inputs = torch.where(selected & (fate < masked), MASK_ID, tokens)
    return torch.where(selected & (fate >= 1 - replaced), other.to(tokens), inputs), selected


def masked_lm_loss(logits: Tensor, tokens: Tensor, selected: Tensor) -> Tensor:
    """-1/n sum over the n selected positions of ln y_hat_t,w_t, in nats: the others have no part in it.

    logits: (B, T, vocab), or (n, vocab) from MaskedLM with at=selected.  tokens: ids (B, T) before masking.  selected:
    boolean (B, T).  Where nothing is selected the loss is 0, and so is its gradient.
    """
    logits = logits[selected] if logits.dim() == 3 else logits
    return F.cross_entropy(logits, tokens[selected], reduction="sum") / max(len(logits), 1)
