"""NeighbourMap: words that the reader types, the nearest of them by cosine, and all of these in a plane.

    cos(a, b) = a . b / (|a| |b|)        the plane: the two directions in which the words shown vary most

The vectors are those of the recipe skip-gram-page. The examples are placed here; other words are placed in the page, by
the same table (engine.mjs).
"""

import html
from functools import cache

import traitlets

from lmbook.figures import Figure, bundle, draws_nothing, says, table_html
from lmbook.lab import checkpoints

NAME, NEAR, MOST = "skip-gram-page", 5, 6  # recipe; neighbours a word; words that are placed
GUESS = "red"
EXAMPLES = ["october three mother storm", "king queen emperor", "red album river he", "march second bank"]

# where a word of the drawn map may stand: right (1) or left (-1) of its dot, and how far below it
SPOTS = [(side, down) for down in (0, -9, 9, -18, 18, -28, 28, -38, 38) for side in (1, -1)]


def is_word(token: str) -> bool:
    """Not a punctuation mark."""
    return any(letter.isalnum() for letter in token)


@cache
@draws_nothing
def _trained() -> tuple:
    """The vectors (types, d), what encodes words, and the ids of the types that can be typed."""
    model, reader, _ = checkpoints.load(NAME)
    names = reader.vocabulary.tokens
    readable = [i for i, name in enumerate(names) if is_word(name) and reader.encode(name) == [i]]
    return model.v.weight.detach().double(), reader, readable


def placed(text: str) -> dict:
    """The words of a text, the nearest of each, and all of them in the plane, as the task neighbours of engine.mjs.

    Raises ValueError for a text without a word.
    """
    import torch

    from lmbook.text import SPECIALS
    from lmbook.word2vec import principal_components

    vectors, reader, readable = _trained()
    names = reader.vocabulary.tokens
    typed = list(dict.fromkeys(filter(is_word, reader.split(text))))
    if not typed:
        raise ValueError(f"there is no word in {text!r}.")
    words = [(word, reader.encode(word)[0]) for word in typed[:MOST]]
    unit = torch.nn.functional.normalize(vectors, dim=1)
    near = []
    for _, i in words:
        cosine = (unit @ unit[i]).tolist()
        others = sorted((j for j in readable if j != i), key=lambda j: -cosine[j]) if i >= len(SPECIALS) else []
        near.append([{"id": j, "text": names[j], "cosine": round(cosine[j], 4)} for j in others[:NEAR]])
    ids = list(dict.fromkeys([i for _, i in words if i >= len(SPECIALS)] + [one["id"] for row in near for one in row]))
    plane = principal_components(vectors[ids]) if ids else []
    spread = float((vectors[ids] - vectors[ids].mean(0)).square().sum()) if ids else 0.0
    return {
        "words": [{"typed": word, "id": i, "text": names[i]} for word, i in words],
        "near": near,
        "points": [
            {"id": i, "text": names[i], "x": round(x, 4), "y": round(y, 4)}
            for i, (x, y) in zip(ids, [row.tolist() for row in plane], strict=True)
        ],
        "share": round(float(plane.square().sum()) / spread, 4) if spread else 0.0,
        "left": len(typed) - len(words),
    }


def cosines(word: str, found: dict) -> list[float]:
    """cos(word, w) for each of the words of placed()."""
    import torch

    vectors, reader, _ = _trained()
    a, b = vectors[reader.encode(word)], vectors[[one["id"] for one in found["words"]]]
    return [round(x, 4) for x in torch.cosine_similarity(a, b, dim=1).tolist()]


def _overlap(one: tuple, other: tuple) -> bool:
    """Whether two boxes (left, top, right, bottom) share any of the sheet."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


class NeighbourMap(Figure):
    """Type words; see the nearest of each and all of them on a map.

    words: what is typed, of which the first six different words are placed.  chosen: the one whose neighbours are
    listed, from 0.  examples: words to try. Title, caption and alternative text may be given too.

    Raises ValueError for a text without a word.
    """

    module = "neighbours"
    title = says("Words that keep the same company are neighbours")
    caption = says(
        "Choose a word to see its neighbours, and press a neighbour or its dot to place it too. Type words of your "
        "own, several at once: which lies near two families? What becomes of a word that was never seen?"
    )
    models = (NAME,)

    words = traitlets.Unicode().tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True)
    examples = traitlets.List().tag(sync=True)
    known = traitlets.Dict().tag(sync=True)  # what is placed already, by text; that of `words` is the first
    guess = traitlets.Dict().tag(sync=True)  # a word to bet on, and its cosine with each of `words` at first
    types = traitlets.Int().tag(sync=True)
    bytes = traitlets.Int().tag(sync=True)

    def __init__(self, words: str = EXAMPLES[0], chosen: int = 0, **state):
        readable = _trained()[2]
        state.setdefault("examples", EXAMPLES)
        with_guess = f"{words} {GUESS}"  # what the map shows after a bet
        known = {text: placed(text) for text in (words, *state["examples"], with_guess)}
        state.setdefault("guess", {"word": GUESS, "cosines": cosines(GUESS, known[words])})
        given = {"words": words, "chosen": chosen, "known": known, "types": len(readable)}
        super().__init__(**given, bytes=len(bundle.weights(NAME)[0]), **state)

    @traitlets.validate("words")
    def _check_words(self, proposal):
        placed(proposal["value"])
        return proposal["value"]

    def _describe(self, change=None):
        found = placed(self.words)
        at = max(0, min(self.chosen, len(found["words"]) - 1))
        near = ", ".join(f"{one['text']} {one['cosine']:.2f}" for one in found["near"][at]) or "none"
        self.alt = (
            f"A map of {len(found['points'])} words: {', '.join(word['typed'] for word in found['words'])}, and their "
            f"nearest words. The nearest of “{found['words'][at]['typed']}” by cosine: {near}."
        )

    def fallback(self) -> str:
        found = placed(self.words)
        rows = (
            (word["typed"], ", ".join(f"{one['text']} {one['cosine']:.2f}" for one in near) or word["text"])
            for word, near in zip(found["words"], found["near"], strict=True)
        )
        drawn = self._map(found) if len(found["points"]) > 1 else ""
        return super().fallback() + drawn + table_html(("word", "nearest, with their cosines"), rows)

    def _map(self, found: dict) -> str:
        """The map as a drawing: dots with their words, a line from each word to its neighbours."""
        xs, ys = ([one[axis] for one in found["points"]] for axis in "xy")
        scale = min(270 / (max(xs) - min(xs) or 1), 230 / (max(ys) - min(ys) or 1))
        at = {
            one["id"]: (75 + scale * (one["x"] - min(xs)), 20 + scale * (max(ys) - one["y"]), one["text"])
            for one in found["points"]
        }
        lines, leaders, dots, taken = "", "", "", [(x - 4, y - 4, x + 4, y + 4) for x, y, _ in at.values()]
        for word, near in zip(found["words"], found["near"], strict=True):
            for one in near:
                (x, y, _), (u, v, _) = at[word["id"]], at[one["id"]]
                lines += f'<path d="M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}"/>'
        typed = {word["id"] for word in found["words"]}
        for i, (x, y, text) in at.items():
            weight, r = (700, 4) if i in typed else (400, 2.5)
            dots += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
            wide = (7.2 if i in typed else 6.4) * len(text)
            for aside, down in SPOTS:  # beside its dot, as near as nothing else stands there
                left, base = (x + 5 if aside > 0 else x - 5 - wide), y + 4 + down
                spot = (left, base - 9, left + wide, base + 2)
                if left > 0 and left + wide < 420 and base > 9 and not any(_overlap(spot, other) for other in taken):
                    break
            taken.append(spot)
            if abs(down) > 9:  # a dotted line leads to what found no place beside its dot
                near = base - 3.5 if down > 0 else base
                leaders += f'<path d="M{x:.1f} {y:.1f}L{x + 4 * aside:.1f} {near:.1f}"/>'
            side = "" if aside > 0 else ' text-anchor="end"'
            place = f'x="{x + 5 * aside:.1f}" y="{base:.1f}"'
            dots += f'<text {place}{side} font-weight="{weight}">{html.escape(text)}</text>'
        tall = max(40 + scale * (max(ys) - min(ys)), *(bottom + 4 for _, _, _, bottom in taken))
        return (
            f'<svg role="img" aria-label="{html.escape(self.alt)}" viewBox="0 0 420 {tall:.0f}" width="420" '
            'style="max-width:100%;height:auto" fill="currentColor" font-family="inherit" font-size="11">'
            f'<g stroke="currentColor" stroke-opacity="0.4">{lines}</g>'
            f'<g stroke="currentColor" stroke-dasharray="1.5 2">{leaders}</g>{dots}</svg>'
        )
