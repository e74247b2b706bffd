"""ShannonGame: bet on the next word and get a perplexity of your own (after Shannon 1951).

P(word) = points / 100                                        for a word with points of its own
P(word) = rest / 100 * q(word) / (1 - q(words with points))   for each of the others, q being their frequencies
perplexity = exp(mean of -ln P(the word that came))

Shannon's readers knew which words are common. So what is left is not shared evenly among tens of thousands of types,
rare and common alike, but as often as each occurs.
"""

import html
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp, inf, log

import traitlets

from lmbook.figures import Figure, bars_svg, says

_CLOSE, _OPEN = set(",.;:!?)]}%"), set("([{")


def prose(tokens: Sequence[str]) -> list[str]:
    """Running text from tokens, one piece a token: joined, the pieces read as a sentence."""
    pieces, quote, glue = [], False, True
    for token in tokens:
        text, close = token, token in _CLOSE or token.startswith("'") or token in ("n't", "%")
        if len(token) == 3 and token[0] == token[2] == "@":  # WikiText's @-@ stands inside a word
            pieces.append(token[1])
            glue = True
            continue
        if token == '"':
            close, quote = quote, not quote
        if token == "<eos>":
            text, quote = "\n", False
        pieces.append(text if glue or close or text == "\n" else " " + text)
        glue = token in _OPEN or text == "\n" or (token == '"' and quote)
    return pieces


def _starts(tokens: Sequence[str], many: int, context: int, length: int) -> list[int]:
    """One start in each of `many` equal parts, in plain text, where a sentence begins `context` tokens before."""
    low, high = context + 1, len(tokens) - length
    if high - low < many:
        raise ValueError(f"{len(tokens)} tokens are too few for {many} passages of {context} + {length} tokens each.")

    def bad(start):
        window = tokens[start - context : start + length]
        return (
            any(token in ("<unk>", "=") for token in window),
            tokens[start - context - 1] not in (".", "<eos>"),
            "<eos>" in window,
        )

    edges = [low + (high - low) * i // many for i in range(many + 1)]
    return [min(range(a, b), key=lambda s: (sum(bad(s)), s)) for a, b in pairwise(edges)]


class ShannonGame(Figure):
    """A guessing game on held-out text: 100 points on what comes next, then the word, the loss, and the models' losses.

    Make it with from_models().  passages: a list of {"name", "lead", "source", "positions"}, where each position has
    "words" (candidates), "p" (their probabilities, a row of one number a model each), "q" (their frequencies), "truth",
    "truth_p", "truth_q" and "shown" (the truth as it continues the text).  models: the names.  vocabulary_size: the
    number of types that can occur.
    Played so far: `bets`, a list of {"points": {word: points}}; see losses() and perplexities().
    """

    module = "shannon"
    title = says("The more words a model sees, the better it bets on the next; can you beat it?")
    caption = says(
        "Share 100 points among the words that may come next; all other words share the rest, as often as each "
        "occurs. Play cautiously on one text and boldly on another: what does one confident mistake cost?"
    )

    passages = traitlets.List().tag(sync=True)
    models = traitlets.List(traitlets.Unicode()).tag(sync=True)
    vocabulary_size = traitlets.Int().tag(sync=True)
    passage = traitlets.Int(0, min=0).tag(sync=True, counts="passages")
    bets = traitlets.List().tag(sync=True)

    def __init__(self, passages: list[dict], models: Sequence[str], vocabulary_size: int, **state):
        if not passages or not models:
            raise ValueError("ShannonGame needs at least one passage and one model: ShannonGame.from_models(...).")
        models = list(models)
        mean = {m: exp(sum(losses) / len(losses)) for m, losses in _losses(passages, models).items()}
        positions = sum(len(p["positions"]) for p in passages)
        state.setdefault(
            "alt",
            f"A guessing game over {len(passages)} texts with {positions} words to guess. Perplexity of the models on "
            f"these words: {', '.join(f'{m} {_pp(x)}' for m, x in mean.items())}.",
        )
        super().__init__(passages=passages, models=models, vocabulary_size=vocabulary_size, **state)

    @classmethod
    def from_models(
        cls,
        tokens: Sequence[str],
        vocabulary,
        models: Mapping,
        starts: int | Sequence[int] = 4,
        *,
        n: int = 10,
        candidates: int = 12,
        context: int = 30,
        source: str = "",
        **state,
    ) -> "ShannonGame":
        """The game over a held-out text, with the candidates and the losses of given models.

        tokens: the text, one stream.  vocabulary: lmbook.text.Vocabulary.  models: name -> model of lmbook.ngram, in
        the order to be shown; the one of order 1 shares the points that are left.  starts: positions of the first word
        to guess, or how many texts to choose (always the same ones, spread over the stream, without headings and <unk>;
        how the models do has no say).  n: words to guess in each.
        candidates: the likeliest by the mean of the models' probabilities.  context: tokens shown before.
        source: attribution, shown below the text.  ValueError for a start outside the text, and without a
        model of order 1.
        """
        q = next((model for model in models.values() if model.order == 1), None)
        if q is None:
            raise ValueError(
                "ShannonGame needs a model of order 1 among its models: it shares the points that are left."
            )
        q = q.distribution([])
        if isinstance(starts, int):
            starts = _starts(tokens, starts, context, n)
        for start in starts:
            if not 0 < start <= len(tokens) - n:
                raise ValueError(
                    f"start {start}: choose one from 1 to {len(tokens) - n} for {n} of {len(tokens)} tokens."
                )
        size, passages = 0, []
        for start in starts:
            first = max(0, start - context)
            pieces = prose(tokens[first : start + n])
            ids = vocabulary.encode(tokens[max(0, first - 10) : start + n])
            positions = []
            for i in range(n):
                t = len(ids) - n + i
                rows = [model.distribution(ids[max(0, t - model.order + 1) : t]) for model in models.values()]
                size = max(size, *(int((row > 0).sum()) for row in rows))
                best = (-sum(rows)).argsort(kind="stable")[:candidates]
                positions.append(
                    {
                        "words": vocabulary.decode(best),
                        "p": [[_short(row[w]) for row in rows] for w in best],
                        "q": [_short(q[w]) for w in best],
                        "truth": vocabulary.decode([ids[t]])[0],
                        "truth_p": [_short(row[ids[t]]) for row in rows],
                        "truth_q": _short(q[ids[t]]),
                        "shown": pieces[start - first + i],
                    }
                )
            lead = "".join(pieces[: start - first]).lstrip()
            passages.append({"lead": lead, "source": source, "positions": positions})
        passages.sort(key=lambda one: -sum(p["truth"] in p["words"] for p in one["positions"][:2]))  # winnable first
        for k, one in enumerate(passages, start=1):
            one["name"] = f"{k}: {' '.join(one['lead'].split()[:5])} …"
        return cls(passages, list(models), size, **state)

    def losses(self) -> dict[str, list[float]]:
        """-ln P of every word played so far, in nats, of "you" and of each model."""
        played = self.passages[self.passage]["positions"][: len(self.bets)]
        mine = [
            _loss(bet_probability(bet["points"], position["truth"], frequencies(position)))
            for bet, position in zip(self.bets, played, strict=True)
        ]
        return {"you": mine, **_losses([{"positions": played}], self.models)}

    def perplexities(self) -> dict[str, float]:
        """exp of the mean loss over the words played so far, of "you" and of each model. Needs one bet."""
        if not self.bets:
            raise ValueError("perplexities(): no word was played yet; bet in the figure first.")
        return {name: exp(sum(losses) / len(losses)) for name, losses in self.losses().items()}

    def fallback(self) -> str:
        lead = self.passages[0]["lead"]
        rows = [(m, log(x), _pp(x)) for m, x in self._perplexity_of_models().items()]
        return (
            f"<p>{html.escape(lead)} …</p><p>Perplexity of the models on the words to guess (bars on a log scale):</p>"
            + bars_svg(rows, alt=self.alt, top=log(self.vocabulary_size))
        )

    def _perplexity_of_models(self) -> dict[str, float]:
        return {m: exp(sum(x) / len(x)) for m, x in _losses(self.passages, self.models).items()}


def bet_probability(points: Mapping[str, int], word: str, q: Mapping[str, float]) -> float:
    """What a bet gives to one word.  points: word -> 1 to 100, at most 100 together.  q: the frequencies.

    The other words share the rest. A reader's own word whose frequency q does not have leaves its part of it unused.
    """
    given = {w: n for w, n in points.items() if n > 0}
    if word in given:
        return given[word] / 100
    return (100 - sum(given.values())) / 100 * q[word] / (1 - sum(q.get(w, 0) for w in given))


def frequencies(position: Mapping) -> dict[str, float]:
    """q of the candidates of a position and of the word that came."""
    return dict(zip(position["words"], position["q"], strict=True)) | {position["truth"]: position["truth_q"]}


def _losses(passages: Sequence[dict], models: Sequence[str]) -> dict[str, list[float]]:
    positions = [position for passage in passages for position in passage["positions"]]
    return {name: [_loss(position["truth_p"][m]) for position in positions] for m, name in enumerate(models)}


def _loss(p: float) -> float:
    return -log(p) if p > 0 else inf


def _short(p: float) -> float:
    return float(f"{p:.6g}")  # six digits: stable across machines, and more than anyone reads


def _pp(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.1f}"
