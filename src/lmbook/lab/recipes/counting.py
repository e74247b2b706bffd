"""What chapter 1 measures with counts: how held-out text is divided, and which words correct a slip.

Both recipes read WikiText-2 and leave its test set alone.  A seed draws other lines, another block, other slips.
"""

import re
import string
from functools import partial

import numpy as np

from lmbook.counts import Context, Counts, Tokens
from lmbook.lab.run import Run, recipe
from lmbook.ngram import AddK, KneserNey
from lmbook.text import EOS_ID, MASK_ID, PAD_ID, SOS_ID, UNK_ID, Vocabulary

BLOCK = 400  # neighbouring lines
RULE = 3  # WikiText-2 has no type that its training set has less often
ONE_SEED_EACH = {"corpora": ("wikitext2",), "seeds": (0, 1, 2)}


def held_out(kept: np.ndarray, rest: np.ndarray, known: np.ndarray) -> dict[str, float]:
    """A trigram (Kneser-Ney) counted on `kept`, scored on `rest`.  known: (vocab,), the types that are not <unk>."""
    known = known.copy()
    known[UNK_ID] = True
    new_id = np.where(known, np.arange(len(known)), UNK_ID)
    model = KneserNey(Counts(new_id[kept], 3, len(known)), 3, allowed=known)
    loss, seen = -model.log_probs(new_id[rest]), np.isin(rest, kept) & (new_id[rest] != UNK_ID)
    uncounted = ~np.isin(new_id[rest], new_id[kept])
    return {
        "loss": float(loss.mean()),
        "loss of words seen": float(loss[seen].mean()),
        "share uncounted": float(uncounted.mean()),
        "nats uncounted": float(loss[uncounted].mean()) if uncounted.any() else 0.0,
    }


@recipe(
    "wikitext2-splits",
    about="a trigram on held-out lines, drawn singly and in blocks, with the vocabulary of all lines or of those kept",
    minutes=1,
    score="gap",
    **ONE_SEED_EACH,
)
def splits(run: Run) -> tuple[dict, None]:
    """A tenth of the lines of the training set, at random or every tenth block of 400 lines from the 3 seed-th on."""
    corpus = run.split("wikitext2", 20_000)
    vocabulary = Vocabulary.build(corpus["train"])
    train, valid = (vocabulary.encode(corpus[part]) for part in ("train", "valid"))
    every = ~np.isin(np.arange(len(vocabulary)), (PAD_ID, SOS_ID, MASK_ID))
    line = np.append(0, np.cumsum(train == EOS_ID)[:-1])  # of each token
    lines = line[-1] + 1
    out = {
        "random": np.random.default_rng(run.seed).permutation(lines) % 10 == 0,
        "block": np.arange(lines) // min(BLOCK, lines // 20) % 10 == 3 * run.seed % 10,
    }
    scores: dict = {"validation": held_out(train, valid, every)}
    for name, chosen in out.items():
        kept, rest = train[~chosen[line]], train[chosen[line]]
        scores[f"{name} lines, full vocabulary"] = held_out(kept, rest, every)
        occurrences = np.bincount(kept, minlength=len(every))
        scores[f"{name} lines, own vocabulary"] = held_out(kept, rest, occurrences >= 1)
        scores[f"{name} lines, seen three times"] = held_out(kept, rest, occurrences >= RULE)
    random, block = (scores[f"{name} lines, seen three times"]["loss of words seen"] for name in out)
    return scores | {"gap": block - random}, None


class Numerators(AddK):
    """c(h w) + 1 without its denominator: no distribution, but it can rank."""

    def estimate(self, lookup: Tokens | Context) -> np.ndarray:
        c = lookup.ngram(self.order, self.c[self.order])
        return np.where(lookup.exists[self.order], c + 1.0, 1.0)


def one_edit(word: str, known: set[str]) -> list[str]:
    """The word, and all known ones that a letter more, less or changed, or a swap of neighbours, makes of it."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    edits = {a + b[1:] for a, b in cuts} | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    for letter in string.ascii_lowercase:
        edits |= {a + letter + b for a, b in cuts} | {a + letter + b[1:] for a, b in cuts}
    return sorted((edits | {word}) & known)


def draw(ids: np.ndarray, vocabulary: Vocabulary, n: int, rng: np.random.Generator) -> tuple[list, np.ndarray]:
    """n slips: for each, nine tokens once for every candidate for the middle one; and which candidate is right."""
    known = {word for word in vocabulary.tokens if re.fullmatch("[a-z]{3,}", word)}
    stretches, right = [], []
    for t in rng.permutation(np.arange(4, len(ids) - 4)):
        word = vocabulary.tokens[ids[t]]
        slips = [other for other in one_edit(word, known) if other != word] if word in known else []
        if slips:
            candidates = one_edit(slips[rng.integers(len(slips))], known)
            stretch = np.tile(ids[t - 4 : t + 5], (len(candidates), 1))
            stretch[:, 4] = vocabulary.encode(candidates)
            stretches.append(stretch)
            right.append(candidates.index(word))
        if len(right) == n:
            break
    return stretches, np.array(right)


def corrected(model: AddK | KneserNey, stretches: list, right: np.ndarray, factors: slice) -> np.ndarray:
    """Whether the candidate with the largest product of these factors is right: (slips,) booleans."""
    log_p = model.log_probs(np.concatenate(stretches).ravel()).reshape(-1, 9)[:, factors].sum(1)
    ends = np.cumsum([len(stretch) for stretch in stretches])[:-1]
    return np.array([part.argmax() for part in np.split(log_p, ends)]) == right


@recipe(
    "wikitext2-slips",
    about="20,000 slips of the validation set corrected by counts: Kneser-Ney, add-one, and numerators alone",
    minutes=2,
    score="corrected by the 5-gram",
    **ONE_SEED_EACH,
)
def slips(run: Run) -> tuple[dict, None]:
    """Each model's loss and share corrected, and the paired differences in points with their standard errors."""
    corpus = run.split("wikitext2", 20_000)
    vocabulary = Vocabulary.build(corpus["train"])
    train, valid = (vocabulary.encode(corpus[part]) for part in ("train", "valid"))
    allowed = ~np.isin(np.arange(len(vocabulary)), (PAD_ID, SOS_ID, MASK_ID))
    counts = Counts(train, 5, len(vocabulary))
    stretches, right = draw(valid, vocabulary, 50 if run.quick else 20_000, np.random.default_rng(run.seed))
    models: dict = {f"{n}-gram": KneserNey(counts, n, allowed=allowed) for n in (1, 2, 3, 5)}
    models["add one"] = AddK(counts, 2, 1.0, allowed)
    models["numerators"] = Numerators(counts, 2, 1.0, allowed)
    by = partial(corrected, stretches=stretches, right=right)
    found = {name: by(model, factors=slice(4, 9)) for name, model in models.items()}
    scores: dict = {
        name: {
            "loss": "no distribution" if name == "numerators" else float(-model.log_probs(valid).mean()),
            "corrected": float(found[name].mean()),
            "own factor": float(by(model, factors=slice(4, 5)).mean()),
        }
        for name, model in models.items()
    }
    pairs = ("2-gram", "1-gram"), ("3-gram", "2-gram"), ("5-gram", "3-gram")
    for a, b in (*pairs, ("add one", "1-gram"), ("numerators", "add one")):
        d = 100 * (found[a].astype(float) - found[b])
        scores[f"{a} over {b}"] = {"difference": float(d.mean()), "error": float(d.std() / len(d) ** 0.5)}
    return scores | {"corrected by the 5-gram": scores["5-gram"]["corrected"]}, None
