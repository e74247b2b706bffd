"""YourPreferences: the reader's clicks are the preferences, and a model of 27 sentences moves.

ref(y)      the product of the probabilities of its three words: "the ADJECTIVE NOUN VERB"
r(y)        the sum of a number for each word, by gradient ascent on  mean ln sigmoid(r(y_w) - r(y_l))  over the clicks
pi(y)       ref(y) exp(r(y) / beta) / Z      so r = beta ln(pi / ref) + beta ln Z: the ascent is DPO's

Everything is exact, over all 27 sentences. A click is a letter of the trait `clicks`, "l" or "r": which of the two of a
pair was better. Pair k consists of the sentences a and b of `pair(k)`.
"""

import html
import itertools
import math

import traitlets

from lmbook.figures import Figure, bars_svg, says

WORDS = (("red", "old", "quiet"), ("dog", "boat", "tree"), ("sleeps", "waits", "sings"))
REF = ((0.2, 0.5, 0.3), (0.5, 0.3, 0.2), (0.5, 0.3, 0.2))
SENTENCES = tuple(itertools.product(range(3), repeat=3))
MOST_CLICKS, UPDATES, BETAS = 60, (0, 400), (1, 20)


def text(i: int) -> str:
    return " ".join(["the", *(WORDS[place][k] for place, k in enumerate(SENTENCES[i]))])


def pair(k: int) -> tuple[int, int]:
    """The two sentences of pair k, always different ones."""
    a = (7 * k + 4) % 27
    return a, (a + 1 + (5 * k + 3) % 26) % 27


def numbers(clicks: str, updates: int, beta: float) -> dict:
    """probability of each word, of each sentence, KL to the reference in nats, clicks that the rewards agree with."""
    pairs = [pair(k) if click == "l" else pair(k)[::-1] for k, click in enumerate(clicks)]
    r = [[0.0] * 3 for _ in range(3)]

    def reward(i: int) -> float:
        return sum(r[place][k] for place, k in enumerate(SENTENCES[i]))

    for _ in range(updates if pairs else 0):
        step = [[0.0] * 3 for _ in range(3)]
        for better, worse in pairs:
            push = 1 / (1 + math.exp(reward(better) - reward(worse))) / len(pairs)
            for place in range(3):
                step[place][SENTENCES[better][place]] += push
                step[place][SENTENCES[worse][place]] -= push
        r = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(r, step, strict=True)]
    ref = [math.prod(REF[place][k] for place, k in enumerate(one)) for one in SENTENCES]
    mass = [p * math.exp(reward(i) / beta) for i, p in enumerate(ref)]
    pi = [m / sum(mass) for m in mass]
    words = [[sum(p for p, one in zip(pi, SENTENCES, strict=True) if one[place] == k) for k in range(3)]
             for place in range(3)]  # fmt: skip
    kl = sum(p * math.log(p / q) for p, q in zip(pi, ref, strict=True) if p > 0)
    agreed = sum(reward(better) > reward(worse) for better, worse in pairs)
    return {"words": words, "sentences": pi, "kl": kl, "agreed": agreed}


class YourPreferences(Figure):
    """Pairs of sentences to choose from, and the model that follows the choices.

    clicks: "l" or "r" for each pair so far, at most 60.  updates: of the rewards, from 0.  beta: in tenths.
    """

    module = "preferring"
    title = says("A few clicks move a whole model, and not only where they were meant to")
    caption = says(
        "Which sentence is better? Decide by one word only, say red. How many clicks does it take until the model "
        "writes red nine times in ten, and which other words have changed, though nobody asked for it? Then give "
        "the rewards more updates, or lower β."
    )

    clicks = traitlets.Unicode("").tag(sync=True)
    updates = traitlets.Int(100, min=UPDATES[0], max=UPDATES[1]).tag(sync=True)
    beta = traitlets.Int(10, min=BETAS[0], max=BETAS[1]).tag(sync=True)

    @traitlets.validate("clicks")
    def _clicks(self, proposal):
        if len(proposal.value) > MOST_CLICKS or set(proposal.value) - {"l", "r"}:
            raise traitlets.TraitError(f"clicks is {proposal.value!r}; it has at most {MOST_CLICKS} letters l and r.")
        return proposal.value

    def numbers(self) -> dict:
        return numbers(self.clicks, self.updates, self.beta / 10)

    def _describe(self, change=None):
        now = self.numbers()
        best = max(range(27), key=now["sentences"].__getitem__)
        self.alt = (
            f"After {len(self.clicks)} clicks, {self.updates} updates and with β of {self.beta / 10:.1f} the likeliest "
            f"sentence is “{text(best)}” with probability {now['sentences'][best]:.2f}. Red has probability "
            f"{now['words'][0][0]:.2f}, at first 0.20. The distance from the first model is {now['kl']:.2f} nats."
        )

    def fallback(self) -> str:
        now = self.numbers()["words"]
        rows = [(WORDS[a][k], now[a][k], f"{now[a][k]:.2f}, at first {REF[a][k]:.2f}")
                for a in range(3) for k in range(3)]  # fmt: skip
        return f"<p>{html.escape(self.alt)}</p>{bars_svg(rows, alt=self.alt)}"
