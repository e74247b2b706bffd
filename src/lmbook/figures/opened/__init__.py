"""OpenTransformer: a shipped model, drawn, and opened from the whole to a block, to a head, to one number.

    x_0 = sqrt(d) E[w] + p      x_k = x_{k-1} + f_k(LN(x_{k-1}))      P = softmax(E LN(x_K))

Three models can be opened: the translator, which has both towers, and its halves: BERT, an encoder that fills a blank,
and a GPT of characters, a decoder that writes on (their equations differ a little: see insides.py).

What is opened is said by a path: "" is the whole; "decoder.2" a block; "decoder.2.cross.1" a head of it, and
"decoder.2.cross.1.3" its score for the third token; "decoder.2.feed" the feed-forward network, ".feed.17" a unit of it;
"source" or "target" the embedding, "source.5" an entry of it; "output" the last step, "output.1" its likeliest logit.
All is about one position. Of the translator it is `read` of the source, in the encoder, or `write` of the translation;
of BERT `read`, while `write` is the place that is hidden, 0 for none; of the GPT `write`.

The page computes all of it for a reader's sentence (insides.mjs). What the first view needs is computed here, by torch.
"""

import functools
import html
import re

import traitlets

from lmbook.figures import Figure, bundle, table_html
from lmbook.figures.insides import Opened, tokens
from lmbook.figures.stills import maps_svg, strips_svg
from lmbook.figures.translator import EXAMPLES, LONGEST, rounded

TRANSLATOR, BERT, GPT = "multi30k-transformer", "bert-wikitext2", "shakespeare"
BLANK = "____"
PATH = re.compile(
    r"(?:(?P<side>encoder|decoder)\.(?P<layer>\d+)(?:\.(?P<kind>self|cross)\.(?P<head>\d+)(?:\.(?P<key>\d+))?"
    r"|\.feed(?:\.(?P<unit>\d+))?)?|(?P<end>source|target|output)(?:\.(?P<entry>\d+))?)?"
)
# What the page has to know of a model.  tower: the one that it has, or "" for both.  starts: vectors that are added
# before the first layer.  read, write: the position that is opened at first.
ABOUT = {
    TRANSLATOR: {
        "kind": "translator",
        "called": "Transformer",
        "tower": "",
        "starts": 2,
        "post": False,
        "f": "max",
        "unit": "word",
        "asks": "Your sentence in German",
        "verb": "Translate",
        "longest": LONGEST,
        "examples": list(EXAMPLES["German"]),
        "read": 5,
        "write": 4,
    },
    BERT: {
        "kind": "blank",
        "called": "BERT",
        "tower": "encoder",
        "starts": 3,
        "post": True,
        "f": "gelu",
        "unit": "word",
        "asks": "Your sentence in English",
        "verb": "Read it",
        "longest": LONGEST,
        "examples": [
            "She played the role of his mother in the film.",
            "The king and his army were defeated in the battle.",
            "The city is the capital of France.",
        ],
        "read": 6,
        "write": 6,
    },
    GPT: {
        "kind": "next",
        "called": "GPT",
        "tower": "decoder",
        "starts": 1,
        "post": False,
        "f": "gelu",
        "unit": "character",
        "asks": "Your text, up to 64 characters",
        "verb": "Read it",
        "longest": 64,
        "examples": ["the queen of the quee", "Good morrow, my lor", "What is thy nam"],
        "read": 0,
        "write": 20,
    },
}
WORDS = {  # title and caption, by model and by the beginning of the path
    (TRANSLATOR, ""): (
        "Layer by layer, a guess becomes the next word",
        "Open a layer, then a head, then one score: the formula beside it has the numbers of this sentence. Choose "
        "another word, then type a sentence of your own.",
    ),
    (TRANSLATOR, "encoder"): (
        "In the encoder each head looks in its own way",
        "The heads of the first layer, in chapter 15's Transformer, and one of them open. Which look at a neighbour, "
        "which at the word itself? Change the word, and see what stays; then open another layer.",
    ),
    (TRANSLATOR, "decoder"): (
        "One head of the decoder reads along in the German sentence as the English is written",
        "Choose another word: does this head of chapter 15's Transformer find the German word that is translated next, "
        "an article too? Open a score: which products make it large?",
    ),
    (TRANSLATOR, "source"): (
        "What enters the encoder: a word plus a wave for its position",
        "In the Transformer of chapter 15. Change the word: which part of the sum is new when a word comes again? Open "
        "an entry to see the wave that it is read from.",
    ),
    (BERT, ""): (
        "Layer by layer, the encoder alone makes up its mind about a blank",
        "The BERT of this chapter. Hide a word of this sentence, or of one that you type. In which layer does the "
        "answer appear? Open that layer: which heads look to the right of the blank? Then hide nothing, and see what "
        "the model says about a word that it can read.",
    ),
    (GPT, ""): (
        "Layer by layer, the decoder alone settles on the next character",
        "The GPT of this chapter. Choose a character: all that follow it are masked. In which layer does the "
        "next one appear? Open a head, then choose a later character: the keys and values of the earlier ones stay "
        "as they are, so they can be kept. Then type a text of your own.",
    ),
}


def parsed(path: str) -> dict[str, str]:
    """The parts of a path, by name: parsed("decoder.2.feed") is {"side": "decoder", "layer": "2", "feed": ""}."""
    found = PATH.fullmatch(path)
    if not found:
        raise ValueError(f"part is {path!r}; write such as 'decoder.2', 'encoder.1.self.3' or 'output'.")
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    return parts | ({"feed": ""} if ".feed" in path else {})


@functools.cache
def described(model: str) -> dict:
    """What the page has to know of a model: ABOUT with its name, its sizes and those of its file."""
    data, card = bundle.weights(model)
    own = card["model"].get("bert", card["model"])
    sizes = {name: own[name] for name in ("d_model", "n_heads", "n_layers")}
    d_ff = own["d_ff"] or 4 * own["d_model"]
    return {"name": model, "bytes": len(data), **sizes, "d_ff": d_ff, **ABOUT[model]}


def asked(path: str, about: dict) -> list[list]:
    """The stages that a path looks into: lists of [side, stage, unit or None], as the page asks the engine for them."""
    parts, layers = parsed(path), about["n_layers"]
    alone = {"encoder": "source", "decoder": "target"}.get(about["tower"])
    if parts.get("end") == "output":
        side = alone or "target"
        return [[side, about["starts"] + (2 if alone else 3) * layers, None]]
    if "end" in parts:
        return [[parts["end"], stage, None] for stage in range(about["starts"])]
    if not ("kind" in parts or "feed" in parts):
        return []
    side = "source" if parts["side"] == "encoder" else "target"
    each = 2 if alone or side == "source" else 3
    sublayer = {"self": 0, "cross": 1}.get(parts.get("kind"), each - 1)
    stage = about["starts"] + each * (int(parts["layer"]) - 1) + sublayer
    return [[side, stage, int(parts["unit"]) - 1 if "unit" in parts else None]]


@functools.cache
def first_view(model: str, text: str, path: str, read: int, write: int) -> dict:
    """All that is seen before a model is there: its tokens, the positions opened, and what the path looks into."""
    about, found = described(model), tokens(model, text)
    kind, ids = about["kind"], [token["id"] for token in found["target"]]
    last = {"source": len(found["source"]) - 1, "target": len(ids) - 1}
    if kind == "blank":
        last["target"] = last["source"] - 1  # the place that is hidden
    places = {"source": min(read, max(0, last["source"])), "target": min(write, last["target"])}
    sides = {"blank": ["source"], "next": ["target"]}.get(kind, ["source", "target"])
    blank = places["target"] if kind == "blank" else 0
    passes = {side: Opened(model, text, side, places[side], ids, blank) for side in sides}
    inside = [[side, *at, rounded(passes[side].inside(*at), 3)] for side, *at in asked(path, about)]
    opened = {side: rounded(one.rows(), 3) for side, one in passes.items()}
    for row in (row for rows in opened.values() for row in rows):
        row |= {"scores": None, "added": round(row["added"], 1), "sum": round(row["sum"], 1)}  # as they are shown
    first = {"text": text, "found": found, "places": places, "opened": opened, "inside": inside}
    if kind == "translator" and re.fullmatch(r"\w+\.\d\.\w+\.\d", path):  # all heads of the layer, for the page
        first["looks"] = {"part": path[:-1], "weights": rounded(looks(model, text, path, write), 2)}
    return first


@functools.cache
def looks(model: str, text: str, path: str, write: int) -> list[list[list[float]]]:
    """The weights behind a path into a head, for every position: [head][query][key], of all heads of its sublayer."""
    found, (side, stage, _) = tokens(model, text), asked(path, described(model))[0]
    ids = [token["id"] for token in found["target"]]
    blank = min(write, len(found["source"]) - 2) if described(model)["kind"] == "blank" else 0
    places = range(len(found[side]))
    rows = [Opened(model, text, side, at, ids, blank).inside(stage)["weights"] for at in places]
    return [[rounded(row[head], 3) for row in rows] for head in range(described(model)["n_heads"])]


class OpenTransformer(Figure):
    """A drawn Transformer, or a half of one, that opens.  part: a path, see above.  text: what it reads.

    model: "multi30k-transformer", "bert-wikitext2" or "shakespeare".  read, write: the position, from 0; see above.
    Raises ValueError for another model, a path that leads nowhere in it, or a text without a word.
    """

    module = "opened"
    models = tuple(ABOUT)
    state_version = 2

    about = traitlets.Dict().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    part = traitlets.Unicode("").tag(sync=True)
    read = traitlets.Int(5).tag(sync=True)
    write = traitlets.Int(4).tag(sync=True)
    first = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        part: str = "",
        text: str | None = None,
        read: int | None = None,
        write: int | None = None,
        model: str = TRANSLATOR,
        **state,
    ):
        if model not in ABOUT:
            raise ValueError(f"there is no model {model!r} to open; there are {', '.join(ABOUT)}.")
        self._sizes = about = described(model)
        text = about["examples"][0] if text is None else text
        read, write = (about[name] if at is None else at for name, at in (("read", read), ("write", write)))
        if not text.strip():
            raise ValueError("text has no word; give a sentence.")
        if min(read, write) < 0:
            raise ValueError(f"read is {read} and write {write}; {about['unit']}s are counted from 0.")
        first = first_view(model, self._short(text), self._checked(part), read, write)
        title, caption = WORDS.get((model, part.split(".")[0]), WORDS[model, ""])
        state = {"title": title, "caption": caption, "alt": self._described(first)} | state
        super().__init__(about=about, text=text, part=part, read=read, write=write, first=first, **state)

    def _checked(self, path: str) -> str:
        parts, sizes = parsed(path), self._sizes
        each, tower = sizes["d_model"] // sizes["n_heads"], sizes["tower"]
        most = {"layer": sizes["n_layers"], "head": sizes["n_heads"], "unit": sizes["d_ff"], "entry": sizes["d_model"]}
        wrong = [name for name, limit in most.items() if name in parts and not 1 <= int(parts[name]) <= limit]
        towers = {"encoder": ("encoder", "source", "output"), "decoder": ("decoder", "target", "output")}
        if tower and path and path.split(".")[0] not in towers[tower]:
            raise ValueError(f"part is {path!r}, but {sizes['called']} is {tower} alone: write such as '{tower}.2'.")
        cross = parts.get("kind") == "cross"
        if wrong or parts.get("key") == "0" or (cross and (tower or parts["side"] == "encoder")):
            raise ValueError(
                f"part is {path!r}; the model has {sizes['n_layers']} layers with {sizes['n_heads']} heads of {each} "
                f"numbers, {sizes['d_ff']} units and vectors of {sizes['d_model']} numbers, counted from 1, and only "
                "the decoder of a translator has cross-attention."
            )
        return path

    def _short(self, text: str) -> str:
        if len(text) > self._sizes["longest"]:
            raise ValueError(f"text has {len(text)} characters; it may have {self._sizes['longest']}.")
        return text

    @traitlets.validate("part")
    def _check_part(self, proposal):
        return self._checked(proposal["value"])

    @traitlets.validate("text")
    def _check_text(self, proposal):
        return self._short(proposal["value"])

    def _described(self, first: dict) -> str:
        found, places = first["found"], first["places"]
        source, target = ([token["text"] for token in found[side]] for side in ("source", "target"))
        rows = [row for row in first["opened"].get("target", first["opened"].get("source")) if row["kind"] == "feed"]
        says = ", ".join(f"“{row['says']['text'].strip() or '␣'}” ({row['says']['p']:.2f})" for row in rows)
        if self._sizes["kind"] == "blank":
            source[places["target"]] = BLANK
            words, place = " ".join(source[1:-1]), source[places["source"]]
            return f"An encoder reads “{words}”. At “{place}” it would say after its layers 1 to {len(rows)}: {says}."
        if self._sizes["kind"] == "next":
            text = "".join(target[: places["target"] + 1])
            return f"A decoder has read “{text}”. Next it would say after its layers 1 to {len(rows)}: {says}."
        written, word = "".join(target[:-1]).strip(), target[places["target"]].strip()
        return (
            f"Two towers, an encoder and a decoder, translate “{first['text']}” as “{written}”. Where “{word}” is "
            f"written, the decoder would say after its layers 1 to {len(rows)}: {says}."
        )

    def _seen(self) -> tuple[str, str]:
        """What is drawn where the title speaks of it, a head or the sum that enters: in words, and as a drawing."""
        parts, sizes = parsed(self.part), self._sizes
        first = first_view(sizes["name"], self.first["text"], self.part, self.read, self.write)
        sides = {side: [one["text"].strip() or "␣" for one in first["found"][side]] for side in ("source", "target")}
        if "kind" in parts:
            side = "source" if parts["side"] == "encoder" else "target"
            keys = "source" if parts["kind"] == "cross" else side
            at, head = first["places"][side], int(parts["head"]) - 1
            if sizes["kind"] == "blank":
                sides["source"][first["places"]["target"]] = BLANK
            weights = looks(sizes["name"], first["text"], self.part, self.write)
            best = max(range(len(weights[head][at])), key=lambda k: weights[head][at][k])
            name = f"head {head + 1} of layer {parts['layer']} of the {parts['side']}"
            shown = enumerate(weights) if side == "source" else [(head, weights[head])]
            maps = [(f"head {k + 1}" if side == "source" else "", rows) for k, rows in shown]
            does = {"source": "read", "target": "written"}[side] if sizes["kind"] == "translator" else "read"
            words = (
                f"Where “{sides[side][at]}” is {does}, {name} looks most at “{sides[keys][best]}” "
                f"(weight {weights[head][at][best]:.2f})."
            )
            more = (
                f" Each row is a {sizes['unit']} that looks, each column one that is looked at; the fuller the colour, "
                "the larger the weight. Each row of a map sums to 1."
            )
            return words + more, maps_svg(maps, sides[side], sides[keys], alt=words, chosen=at)
        end = parts["end"]
        vectors = [one["added"] for *_, one in first["inside"]]
        total = first["inside"][-1][-1]["next"]
        word = sides[end][first["places"][end]]
        strips = [(f"the word “{word}”", vectors[0]), ("the wave of its position", vectors[1]), ("their sum", total)]
        words = (
            f"The {len(total)} entries of the vector of “{word}”, of the code of its position, "
            f"{first['places'][end] + 1} of {len(sides[end])}, and of their sum, on one scale."
        )
        return words, strips_svg(strips, alt=words)

    def _is_drawn(self) -> bool:
        parts = parsed(self.part)
        return "kind" in parts or (parts.get("end") in ("source", "target") and self._sizes["starts"] == 2)

    def fallback(self) -> str:
        if self._is_drawn():
            words, picture = self._seen()
            return f"<p>{html.escape(words)}</p>{picture}"
        rows = []
        for row in self.first["opened"].get("target", self.first["opened"].get("source")):
            says = f"{row['says']['text'].strip() or '␣'} ({row['says']['p']:.2f})" if row["says"] else ""
            rows.append((f"{row['kind']}, layer {row['layer']}", f"{row['added']:.1f}", f"{row['sum']:.1f}", says))
        head = "sublayer", "length added", "length of sum", "would write"
        return super().fallback() + table_html(head, rows)
