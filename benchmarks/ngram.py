"""n-gram models: ours beside nltk.lm on the same text in the same run, then all of WikiText-2.

    python benchmarks/ngram.py          both tables as Markdown
    python benchmarks/ngram.py full     only WikiText-2: time, peak memory, perplexities

Both sides start from lists of tokens and end with the log-probability of every token of the text to be scored; the run
stops if the two differ. WikiText-2 comes from lmbook.data: from the folder that LMBOOK_DATA names, or downloaded. Times
beside nltk are CPU seconds of the process, which other programs on the machine disturb less than the clock.
"""

import resource
import subprocess
import sys
import time

import numpy as np
from nltk.lm import KneserNeyInterpolated, Lidstone
from nltk.lm.preprocessing import everygrams

from lmbook import data
from lmbook.ngram import AddK, Counts, JelinekMercer, KneserNey, MaximumLikelihood, fit_weights, stream_perplexity
from lmbook.text import MASK, PAD, SOS, Vocabulary

ORDERS = range(1, 6)


def ours(train, test, order, estimator):
    """Natural logs of every test token. A type that training lacks becomes one extra type, as nltk's <UNK>."""
    number = {token: i for i, token in enumerate(dict.fromkeys(train))}
    encode = [np.array([number.get(token, len(number)) for token in tokens]) for tokens in (train, test)]
    return estimator(Counts(encode[0], order, len(number) + 1)).log_probs(encode[1])


def nltks(train, test, order, model):
    """The same by nltk.lm, with the shorter history that exists at the start, and no padding."""
    model.fit([everygrams(train, max_len=order)], vocabulary_text=train)
    scores = [model.score(word, test[max(0, t - order + 1) : t]) for t, word in enumerate(test)]
    with np.errstate(divide="ignore"):
        return np.log(scores)


def beside_nltk(corpus):
    print("| estimator | trained on | scored | nltk.lm, s | lmbook, s | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    cases = [
        ("add 0.1, order 3", 200_000, 20_000, lambda c: AddK(c, 3, 0.1), Lidstone(0.1, 3)),
        ("Kneser-Ney, order 3", 20_000, 200, lambda c: KneserNey(c, 3, [0, 0.7, 0.7]), KneserNeyInterpolated(3, 0.7)),
    ]
    for name, length, scored, estimator, model in cases:
        # The first two tokens come again at the end: only then do the two Kneser-Neys agree (see tests/test_ngram.py).
        train, test = corpus["train"][:length], corpus["test"][:scored]
        train = train + train[:2]
        start = time.process_time()
        expected = nltks(train, test, 3, model)
        middle = time.process_time()
        found = ours(train, test, 3, estimator)
        end = time.process_time()
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        slow, fast = middle - start, end - middle
        print(f"| {name} | {length:,} | {scored:,} | {slow:.2f} | {fast:.3f} | {slow / fast:.0f} |", flush=True)


def full():
    clock = [time.perf_counter()]
    corpus = data.load("wikitext2")
    if not corpus.real:
        sys.exit("WikiText-2 is not here: set LMBOOK_DATA to the folder that holds it.")
    vocabulary = Vocabulary.build(corpus["train"])
    train, valid, test = (np.array(vocabulary.encode(corpus[part])) for part in ("train", "valid", "test"))
    allowed = np.ones(len(vocabulary), bool)
    allowed[[vocabulary[PAD], vocabulary[SOS], vocabulary[MASK]]] = False
    clock.append(time.perf_counter())
    counts = Counts(train, 5, len(vocabulary))
    clock.append(time.perf_counter())
    stream_perplexity(KneserNey(counts, 5, allowed=allowed), test)
    clock.append(time.perf_counter())
    # Linux gives kilobytes, macOS bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9
    load, count, score = np.diff(clock)
    print(
        f"Read and encode {load:.1f} s; count {len(train):,} tokens to order 5 {count:.1f} s; build 5-gram Kneser-Ney "
        f"and score {len(test):,} tokens {score:.1f} s; peak memory so far {peak:.2f} GB.\n"
    )

    print(
        "| order | n-grams | seen once | in test, seen | maximum likelihood | add 1 | add k (best k) | interpolated |",
        end="",
    )
    print(" Kneser-Ney | modified |\n|" + " ---: |" * 10)
    tails = []
    for n in ORDERS:
        k = min(10.0 ** -np.arange(7), key=lambda k: stream_perplexity(AddK(counts, n, k, allowed), valid))
        weights = fit_weights(counts, n, valid, allowed)
        kneser_ney, modified = (KneserNey(counts, n, allowed=allowed, modified=m) for m in (False, True))
        models = {
            "ml": MaximumLikelihood(counts, n, allowed),
            "add1": AddK(counts, n, 1, allowed),
            "addk": AddK(counts, n, k, allowed),
            "mix": JelinekMercer(counts, weights, allowed),
            "kn": kneser_ney,
            "mkn": modified,
        }
        pp = {name: stream_perplexity(model, test) for name, model in models.items()}
        once, seen = (counts.counts[n] == 1).mean(), (counts.find(test)[n] >= 0).mean()
        print(
            f"| {n} | {counts.types(n):,} | {once:.1%} | {seen:.1%} | {pp['ml']:.1f} | {pp['add1']:,.1f} "
            f"| {pp['addk']:,.1f} ({k:g}) | {pp['mix']:.1f} | {pp['kn']:.1f} | {pp['mkn']:.1f} |",
            flush=True,
        )
        tails.append((n, weights, kneser_ney.discounts, modified.discounts[-1]))
    print(
        "\n| order | weights of interpolation, uniform first | Kneser-Ney discounts, unigram first "
        "| modified, highest order |"
    )
    print("| ---: | --- | --- | --- |")
    for n, *rows in tails:
        print(f"| {n} | " + " | ".join(" ".join(f"{x:.3f}" for x in row) for row in rows) + " |")


if __name__ == "__main__":
    if sys.argv[1:] == ["full"]:
        full()
    else:
        beside_nltk(data.load("wikitext2"))
        print(flush=True)
        # A process of its own, so that its peak memory is its own.
        sys.exit(subprocess.run([sys.executable, __file__, "full"], check=False).returncode)
