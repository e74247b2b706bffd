"""How good is it? Likelihood, perplexity, accuracy, BLEU, F1 of spans, and results by length.

    NLL      J = -1/T sum_t ln P(w_t | w_<t)      nats per token
    PP       exp(J)
    BLEU     BP exp(1/4 sum_n=1..4 ln p_n),  BP = 1 if c > r else exp(1 - r/c)     (Papineni et al. 2002, section 2.3)
    F1       2 P R / (P + R), over whole spans

`bleu` is the readable form; `sacrebleu_score` is the one to report, with its signature. Both give the same number.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np


def nll(log_probs: Sequence[float] | np.ndarray) -> float:
    """Mean negative log-likelihood in nats of tokens with these natural logs: -1/T sum_t ln P(w_t | w_<t).

    inf where a token had probability 0. Raises ValueError for no tokens, or a logarithm above 0 (or NaN).
    """
    log_probs = np.asarray(log_probs, dtype=np.float64).ravel()
    if log_probs.size == 0:
        raise ValueError("nll() of no tokens; give at least one log-probability.")
    if not (log_probs <= 1e-9).all():
        raise ValueError("nll() got a value above 0 (or NaN); it wants natural logs of probabilities.")
    return float(-log_probs.mean()) + 0.0  # no "-0.0" for a certain text


def perplexity(mean_nll: float) -> float:
    """PP = exp(J) of a mean negative log-likelihood J in nats; inf where it is too large for a float."""
    if not mean_nll >= 0:
        raise ValueError(f"perplexity() wants a mean negative log-likelihood of at least 0, not {mean_nll}.")
    try:
        return math.exp(mean_nll)
    except OverflowError:
        return math.inf


def accuracy(predicted: np.ndarray, gold: np.ndarray, mask: np.ndarray | None = None) -> float:
    """Share of positions where both agree. Arrays of any one shape; mask: boolean, True = counts (leave padding out).

    Every position counts the same, however the positions are spread over rows and batches.
    """
    predicted, gold = np.asarray(predicted), np.asarray(gold)
    if predicted.shape != gold.shape:
        raise ValueError(f"accuracy() compares arrays of one shape, not {predicted.shape} with {gold.shape}.")
    mask = np.ones(gold.shape, dtype=bool) if mask is None else np.asarray(mask)
    if mask.shape != gold.shape or mask.dtype != bool:
        raise ValueError(f"the mask must be boolean and of shape {gold.shape}; it is {mask.dtype} {mask.shape}.")
    if not mask.any():
        raise ValueError("accuracy() over no positions; the mask leaves nothing to count.")
    return float((predicted == gold)[mask].mean())


def _texts(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    for name, texts in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError(f"{name} must be a list of strings, one per sentence.")
    if len(hypotheses) != len(references) or not references:
        raise ValueError(f"{len(hypotheses)} hypotheses and {len(references)} references; give equally many, not none.")


def _ngrams(tokens: Sequence[str], n: int) -> Counter:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu_counts(hypothesis: Sequence[str], reference: Sequence[str]) -> np.ndarray:
    """Of one tokenised sentence: matching n-grams for n = 1..4, n-grams for n = 1..4, and both lengths; shape (10,).

    An n-gram of the hypothesis matches as often as the reference has it, and no more ("clipped").
    """
    counts = np.zeros(10)
    for n in range(1, 5):
        ours, theirs = _ngrams(hypothesis, n), _ngrams(reference, n)
        counts[n - 1] = (ours & theirs).total()
        counts[3 + n] = ours.total()
    counts[8:] = len(hypothesis), len(reference)
    return counts


def bleu_from_counts(counts: np.ndarray) -> float:
    """BLEU, 0 to 100, of counts summed over a corpus; an order without a match counts as 1/2, 1/4, ... of one.

    That is the smoothing "exp" of sacreBLEU (Chen and Cherry 2014, method 3); it matters for short texts alone.
    """
    matches, totals, (c, r) = counts[:4], counts[4:8], counts[8:]
    if matches[0] == 0 or not totals.all():
        return 0.0  # no word in common, or no sentence of four words or more
    precisions, doubt = [], 1.0
    for match, total in zip(matches, totals, strict=True):
        if match == 0:
            doubt *= 2
            match = 1 / doubt
        precisions.append(match / total)
    brevity = 1.0 if c > r else math.exp(1 - r / c)
    return 100 * brevity * math.exp(sum(map(math.log, precisions)) / 4)


def tokenize_13a(text: str) -> list[str]:
    """The tokens over which BLEU is counted: those of mteval-v13a, cased, by sacreBLEU's own tokenizer."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()(text.rstrip()).split()


def bleu(
    hypotheses: Sequence[str], references: Sequence[str], tokenize: Callable[[str], list[str]] = tokenize_13a
) -> float:
    """BLEU of a corpus, 0 to 100, one reference per sentence; the counts are summed before anything is divided.

    tokenize: str.split for text that is tokenised already (then nothing but this file is needed).
    """
    _texts(hypotheses, references)
    counts = np.zeros(10)
    for ours, theirs in zip(hypotheses, references, strict=True):
        counts += bleu_counts(tokenize(ours), tokenize(theirs))
    return bleu_from_counts(counts)


def sacrebleu_score(hypotheses: Sequence[str], references: Sequence[str], lowercase: bool = False) -> tuple[float, str]:
    """BLEU of a corpus by sacreBLEU (Post 2018), 0 to 100, and the signature to report with it."""
    from sacrebleu.metrics import BLEU

    _texts(hypotheses, references)
    metric = BLEU(lowercase=lowercase)
    score = metric.corpus_score(list(hypotheses), [list(references)]).score
    return score, str(metric.get_signature())


def paired_bootstrap(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str],
    samples: int = 1000,
    seed: int = 0,
    tokenize: Callable[[str], list[str]] = tokenize_13a,
) -> dict[str, float]:
    """Is the second system better than the first, or were these test sentences lucky? (Koehn 2004, section 4)

    Draws test sets of the same size from the test sentences, with replacement, and compares both systems on each.
    Returns the BLEU of both ("first", "second"), the 95% interval of the difference second - first ("low", "high"), and
    the share of test sets on which the second is not better ("p").
    """
    _texts(first, references)
    _texts(second, references)
    if samples < 1:
        raise ValueError(f"samples is {samples}; draw at least one test set.")
    tokenized = [tokenize(text) for text in references]

    def counts(system: Sequence[str]) -> np.ndarray:
        return np.array([bleu_counts(tokenize(ours), theirs) for ours, theirs in zip(system, tokenized, strict=True)])

    return bootstrap_from_counts(counts(first), counts(second), samples, seed)


def bootstrap_from_counts(
    first: np.ndarray, second: np.ndarray, samples: int = 1000, seed: int = 0
) -> dict[str, float]:
    """`paired_bootstrap` of two systems from their `bleu_counts`, (sentences, 10) each, of the same test sentences."""
    counts = [np.asarray(system, dtype=np.float64) for system in (first, second)]
    if counts[0].shape != counts[1].shape or counts[0].ndim != 2 or counts[0].shape[1] != 10:
        raise ValueError(f"counts are {counts[0].shape} and {counts[1].shape}; both must be (sentences, 10).")
    rng = np.random.default_rng(seed)
    n = len(counts[0])
    differences = np.empty(samples)
    for i in range(samples):
        drawn = rng.integers(n, size=n)
        differences[i] = bleu_from_counts(counts[1][drawn].sum(axis=0)) - bleu_from_counts(counts[0][drawn].sum(axis=0))
    low, high = np.quantile(differences, (0.025, 0.975))
    scores = [bleu_from_counts(system.sum(axis=0)) for system in counts]
    return {
        "first": scores[0],
        "second": scores[1],
        "low": float(low),
        "high": float(high),
        "p": float((differences <= 0).mean()),
    }


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """The spans (start, end, type) of one sentence of BIO tags, end not included.

    An I- that continues nothing (after O, or after another type) starts a span, as in CoNLL-2000's conlleval script.
    """
    complete: set[tuple[int, int, str]] = set()
    start, kind = 0, None
    for i, tag in enumerate([*tags, "O"]):
        if tag != "O" and tag[:2] not in ("B-", "I-"):
            raise ValueError(f"{tag!r} is not a BIO tag; a tag is O, or B- or I- and a type, for instance B-person.")
        if kind is not None and tag != f"I-{kind}":
            complete.add((start, i, kind))
            kind = None
        if tag != "O" and kind is None:
            start, kind = i, tag[2:]
    return complete


def span_f1(predicted: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> dict[str, float]:
    """Precision, recall and F1 (0 to 1) of whole spans over all sentences; a span counts if start, end and type agree.

    predicted, gold: a list of BIO tags for each sentence. A ratio with nothing below the line is 0.
    """
    if len(predicted) != len(gold):
        raise ValueError(f"{len(predicted)} predicted sentences and {len(gold)} gold ones; give as many of each.")
    n_right = n_predicted = n_gold = 0
    for number, (tags, true_tags) in enumerate(zip(predicted, gold, strict=True)):
        if len(tags) != len(true_tags):
            raise ValueError(f"sentence {number} has {len(tags)} predicted and {len(true_tags)} gold tags.")
        predicted_spans, gold_spans = spans(tags), spans(true_tags)
        n_right += len(predicted_spans & gold_spans)
        n_predicted += len(predicted_spans)
        n_gold += len(gold_spans)
    precision, recall = n_right / max(n_predicted, 1), n_right / max(n_gold, 1)
    f1 = 2 * n_right / max(n_predicted + n_gold, 1)
    return {"precision": precision, "recall": recall, "f1": f1}


def by_length(lengths: Sequence[int], edges: Sequence[int], score: Callable[[np.ndarray], float]) -> list[tuple]:
    """Results by length: [(low, high, how many, score)], for lengths low <= length < high between the edges.

    score: takes the indices of one group and returns its result, for instance
        lambda rows: bleu([hypotheses[i] for i in rows], [references[i] for i in rows])
    An empty group has NaN. Lengths outside the edges belong to no group.
    """
    sizes, edges = np.asarray(lengths), list(edges)
    if len(edges) < 2 or any(low >= high for low, high in pairwise(edges)):
        raise ValueError(f"edges must be at least two rising numbers, for instance [1, 10, 20, 40]; they are {edges}.")
    rows = []
    for low, high in pairwise(edges):
        group = np.flatnonzero((sizes >= low) & (sizes < high))
        rows.append((low, high, len(group), float(score(group)) if len(group) else math.nan))
    return rows
