"""n-gram language models: the next type depends on the last n-1 only, and its probability comes from counts.

    c(h w)   count of history h followed by w          c(h .) = sum_w c(h w)
    h'       history h without its first type           V      number of types that can occur

Four estimators of P(w | h), each one formula: MaximumLikelihood, AddK, JelinekMercer, KneserNey. All share

    m.distribution(history)      (vocab,) probabilities of every next type
    m.prob(history, word)        one of them
    m.log_probs(ids, start=0)    natural logarithms of the probability of every token of a stream

A history longer than order-1 is cut to its last order-1 types; a shorter one, as at the start of a stream, is used as
it is. `allowed` (vocab,) marks the types that can be predicted, all by default. Another type gets probability 0, but
may stand in a history, as <sos> does.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lmbook.counts import Context, Counts, Tokens, as_ids

Lookup = Tokens | Context
Tables = dict[int, np.ndarray]  # order -> one entry for each n-gram, or for each history, of that order


class Estimator:
    """All estimators: the checks, and one formula (`estimate`) for the tokens of a stream or a whole vocabulary."""

    def __init__(self, counts: Counts, order: int, allowed: ArrayLike | None):
        if not 1 <= order <= counts.order:
            raise ValueError(
                f"order is {order}, but n-grams were counted for 1..{counts.order}: Counts(ids, order, ...)."
            )
        if allowed is None:
            allowed = np.ones(counts.vocab_size, bool)
        allowed = np.asarray(allowed)
        if allowed.shape != (counts.vocab_size,) or allowed.dtype != bool or not allowed.any():
            raise ValueError(
                f"allowed must be {counts.vocab_size} booleans, one per type, and at least one of them True."
            )
        self.counts, self.order, self.allowed = counts, order, allowed
        self.V = int(allowed.sum())
        self.uniform = allowed / self.V  # (vocab,), P_0(w) = 1 / V

    def distribution(self, history: Sequence[int] = ()) -> np.ndarray:
        """P(w | history) of every type w: (vocab,) float64 that sum to 1.  history: ids."""
        context = Context(self.counts, self.order, as_ids(history, self.counts.vocab_size, "history"))
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.estimate(context)

    def prob(self, history: Sequence[int], word: int) -> float:
        """P(word | history) of ids."""
        return float(self._probs([*history, word], len(history))[0])

    def log_probs(self, ids: ArrayLike, start: int = 0) -> np.ndarray:
        """ln P(w_t | the tokens before it) for t = start..T-1: (T - start,) float64, -inf where the probability is 0.

        ids: (T,), one stream. The first tokens have the shorter history that exists: nothing is padded.
        """
        with np.errstate(divide="ignore"):
            return np.log(self._probs(ids, start))

    def _probs(self, ids: ArrayLike, start: int) -> np.ndarray:
        ids = as_ids(ids, self.counts.vocab_size)
        if not 0 <= start <= len(ids):
            raise ValueError(f"start is {start}; the stream has {len(ids)} tokens, so it must lie in 0..{len(ids)}.")
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.estimate(Tokens(self.counts, self.order, ids, start))

    def estimate(self, lookup: Lookup) -> np.ndarray:
        """P(w | h), the estimator's formula, from the entries that the look-up finds."""
        raise NotImplementedError

    def _allowed_counts(self, n: int) -> np.ndarray:
        return np.where(self.allowed[self.counts.keys[n] % self.counts.vocab_size], self.counts.counts[n], 0)

    def _by_history(self, n: int, table: np.ndarray) -> np.ndarray:
        """Sums a table of n-grams over their last type: one entry for each (n-1)-gram."""
        history = self.counts.keys[n] // self.counts.vocab_size
        return np.bincount(history.astype(np.intp, copy=False), table, minlength=len(self.counts.keys[n - 1]))

    def _raw_counts(self) -> tuple[Tables, Tables]:
        """c(h w) and c(h .) of every order."""
        c = {n: self._allowed_counts(n) for n in range(1, self.order + 1)}
        return c, {n: self._by_history(n, c[n]) for n in c}


class MaximumLikelihood(Estimator):
    """P(w | h) = c(h w) / c(h .): the relative frequency, which makes the training stream most likely.

    An unseen history has c(h .) = 0 and the formula says nothing; the shorter history h' takes its place, and so on
    down to the empty one. A type unseen after a seen history gets 0: its log is -inf, and the perplexity infinite.
    """

    def __init__(self, counts: Counts, order: int, allowed: ArrayLike | None = None):
        super().__init__(counts, order, allowed)
        self.c, self.total = self._raw_counts()

    def estimate(self, lookup: Lookup) -> np.ndarray:
        return list(self.by_order(lookup))[-1]

    def by_order(self, lookup: Lookup) -> Iterator[np.ndarray]:
        """P_0 (uniform), P_1, ..., P_order in turn."""
        p = lookup.word(self.uniform)
        yield p
        for n in range(1, self.order + 1):
            c, total = lookup.ngram(n, self.c[n]), lookup.history(n, self.total[n])
            p = np.where(total > 0, c / total, p)
            yield p


class AddK(Estimator):
    """P(w | h) = (c(h w) + k) / (c(h .) + k V): every n-gram counts as seen k times more (Laplace for k = 1, Lidstone).

    After an unseen history this is 1 / V for every type. Raises ValueError unless k > 0.
    """

    def __init__(self, counts: Counts, order: int, k: float, allowed: ArrayLike | None = None):
        super().__init__(counts, order, allowed)
        if not 0 < k < np.inf:
            raise ValueError(f"k is {k}; add a positive number (for k = 0 take MaximumLikelihood).")
        self.k = k
        self.c, self.total = self._raw_counts()

    def estimate(self, lookup: Lookup) -> np.ndarray:
        kV = self.k * self.V
        p = lookup.word(self.uniform)
        for n in range(1, self.order + 1):  # the longest history that exists has the last word
            c, total = lookup.ngram(n, self.c[n]), lookup.history(n, self.total[n])
            p = np.where(lookup.exists[n], (c + kV * lookup.word(self.uniform)) / (total + kV), p)
        return p


class JelinekMercer(Estimator):
    """P(w | h) = sum_n weights[n] P_n(w | h), n = 0..order: a mixture with fixed weights (Jelinek and Mercer 1980).

    P_0 = 1 / V is uniform; P_n is MaximumLikelihood of order n, with its rule for unseen histories: where h is unseen,
    the weight of its order goes to the longest end of h that was seen. weights: (order + 1,), the first for P_0.
    Raises ValueError unless the weights are at least 0 and sum to 1. `fit_weights` finds them on held-out text.
    """

    def __init__(self, counts: Counts, weights: Sequence[float], allowed: ArrayLike | None = None):
        shares = np.asarray(weights, float)
        if shares.ndim != 1 or len(shares) < 2 or not (shares >= 0).all() or abs(shares.sum() - 1) > 1e-6:
            raise ValueError(f"weights are {shares.tolist()}; give order + 1 numbers, at least 0, that sum to 1.")
        super().__init__(counts, len(shares) - 1, allowed)
        self.weights = shares / shares.sum()
        self.components = MaximumLikelihood(counts, self.order, allowed)

    def estimate(self, lookup: Lookup) -> np.ndarray:
        mixture = np.zeros(1)
        for weight, p in zip(self.weights, self.components.by_order(lookup), strict=True):
            mixture = mixture + weight * p
        return mixture


def fit_weights(
    counts: Counts, order: int, held_out: ArrayLike, allowed: ArrayLike | None = None, steps: int = 1000
) -> np.ndarray:
    """The weights of JelinekMercer under which a held-out stream is most likely, by expectation-maximisation (EM).

    From equal weights, each step gives every order its mean share in the probability of the T held-out tokens:

        weights[n] <- 1/T sum_t  weights[n] P_n(w_t | h_t) / sum_m weights[m] P_m(w_t | h_t)

    No step lowers the likelihood, which has one maximum. Stops after `steps`, or when no weight moves by 1e-6.
    held_out: ids that the counts have not seen; on the training stream the highest order would take everything.
    Returns (order + 1,) weights. Raises ValueError if held_out has no token that is allowed.
    """
    model = MaximumLikelihood(counts, order, allowed)
    ids = as_ids(held_out, counts.vocab_size, "held_out")
    with np.errstate(divide="ignore", invalid="ignore"):
        P = np.stack(list(model.by_order(Tokens(counts, order, ids, 0))))[:, model.allowed[ids]]  # (order + 1, T)
    if P.shape[1] == 0:
        raise ValueError("held_out has no token that can be predicted; give a stream of held-out text.")
    weights = np.full(order + 1, 1 / (order + 1))
    for _ in range(steps):
        previous, weights = weights, weights * (P @ (1 / (weights @ P))) / P.shape[1]
        if np.abs(weights - previous).max() < 1e-6:
            break
    return weights


class KneserNey(Estimator):
    """Interpolated Kneser-Ney smoothing (Kneser and Ney 1995, in the interpolated form of Chen and Goodman 1999).

        P_n(w | h) = max(c_n(h w) - D_n, 0) / c_n(h .)  +  D_n N(h .) / c_n(h .)  P_{n-1}(w | h')        P_0(w) = 1 / V

    c_n is the raw count at the highest order and, below it, the continuation count: how many different types were seen
    before h w. c_n(h .) sums c_n(h w) over w, and N(h .) is the number of w with c_n(h w) > 0. So the unigram, too, is
    discounted, and interpolated with the uniform distribution over the allowed types. Where c_n(h .) = 0, as for an
    unseen history, P_n(w | h) = P_{n-1}(w | h'). A short history starts at the order it reaches, with its c_n.

    discount: D_n in 0..1, one number for all orders or one for each, first the unigram's. By default they are estimated
    from n_1 and n_2, the numbers of n-grams with c_n = 1 and 2: D_n = n_1 / (n_1 + 2 n_2), and 0 if n_1 = 0.
    modified=True takes three discounts per order, for counts of 1, 2, and 3 or more (modified Kneser-Ney, same paper).
    `discounts` holds what is used: (order,) or, modified, (order, 3).
    """

    def __init__(
        self,
        counts: Counts,
        order: int,
        discount: float | Sequence[float] | None = None,
        allowed: ArrayLike | None = None,
        modified: bool = False,
    ):
        super().__init__(counts, order, allowed)
        c = {n: self._continuations(n) for n in range(1, order)} | {order: self._allowed_counts(order)}
        if discount is None:
            D = np.array([_modified_discounts(c_n) if modified else [_discount(c_n)] * 3 for c_n in c.values()])
        elif modified:
            raise ValueError("modified=True estimates its three discounts per order; leave discount out.")
        else:
            D = np.broadcast_to(np.reshape(_checked_discount(discount, order), (-1, 1)), (order, 3))
        self.discounts = D if modified else D[:, 0]
        self.discounted: Tables = {}  # max(c_n(h w) - D_n, 0)
        self.reserved: Tables = {}  # D_n N(h .), the mass for the shorter history
        self.total: Tables = {}  # c_n(h .)
        for n in range(1, order + 1):
            taken = np.array([0.0, *D[n - 1]])[np.minimum(c[n], 3)]  # D_n, or 0 where c_n(h w) = 0
            self.discounted[n] = c[n] - taken
            self.reserved[n] = self._by_history(n, taken)
            self.total[n] = self._by_history(n, c[n])

    def _continuations(self, n: int) -> np.ndarray:
        """How many different types were seen before each n-gram: the longer n-grams that end in it."""
        suffix = self.counts.suffix[n + 1].astype(np.intp, copy=False)  # of 32 bits in a browser, and bincount insists
        before = np.bincount(suffix, minlength=len(self.counts.keys[n]))
        return np.where(self.allowed[self.counts.keys[n] % self.counts.vocab_size], before, 0)

    def estimate(self, lookup: Lookup) -> np.ndarray:
        p = lookup.word(self.uniform)
        for n in range(1, self.order + 1):
            total = lookup.history(n, self.total[n])
            seen, weight = lookup.ngram(n, self.discounted[n]) / total, lookup.history(n, self.reserved[n]) / total
            p = np.where(total > 0, seen + weight * p, p)
        return p


def _discount(c: np.ndarray) -> float:
    n1, n2 = (c == 1).sum(), (c == 2).sum()
    return n1 / (n1 + 2 * n2) if n1 else 0.0


def _modified_discounts(c: np.ndarray) -> list[float]:
    """D_i = i - (i + 1) Y n_{i+1} / n_i for i = 1, 2, 3, kept within 0..i; Y where n_i = 0; all 0 where Y is."""
    Y = _discount(c)
    if Y == 0:
        return [0.0] * 3
    n = [(c == i).sum() for i in range(5)]
    return [float(np.clip(i - (i + 1) * Y * n[i + 1] / n[i], 0, i)) if n[i] else Y for i in (1, 2, 3)]


def _checked_discount(discount: float | Sequence[float], order: int) -> np.ndarray:
    D = np.asarray(discount, float)
    if D.ndim == 0:
        D = np.full(order, D)
    if D.shape != (order,) or not ((D >= 0) & (D <= 1)).all():
        raise ValueError(f"discount is {discount}; give one number in 0..1, or {order} of them, one per order.")
    return D


def stream_perplexity(model: Estimator, ids: ArrayLike) -> float:
    """PP = exp(-1/T sum_t ln P(w_t | w_<t)), over the T tokens of the stream that the model may predict.

    Tokens of types that are not allowed (<sos>, <pad>) are history only and do not count. Infinite if one P is 0.
    Raises ValueError if no token is left.
    """
    log_p = model.log_probs(ids)[model.allowed[np.asarray(ids, np.int64)]]
    if len(log_p) == 0:
        raise ValueError("ids has no token that can be predicted; perplexity is a mean over at least one.")
    return float(np.exp(-log_p.mean()))


def sample_stream(model: Estimator, length: int, rng: np.random.Generator, history: Sequence[int] = ()) -> list[int]:
    """Draws `length` tokens from a model, one after the other, each given the history and those before it.

    rng: numpy.random.default_rng(seed). Returns the new ids only.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {rng!r}; give a NumPy Generator, such as numpy.random.default_rng(0).")
    if length < 0:
        raise ValueError(f"length is {length}; draw 0 tokens or more.")
    ids = list(history)
    for _ in range(length):
        ids.append(int(rng.choice(model.counts.vocab_size, p=model.distribution(ids[-model.order :]))))
    return ids[len(ids) - length :]
