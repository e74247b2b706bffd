"""OpenTransformer: the shipped translator, drawn, and opened from the whole to a block, to a head, to one number.

    x_0 = sqrt(d) E[w] + p      x_k = x_{k-1} + f_k(LN(x_{k-1}))      P = softmax(E LN(x_K))

What is opened is said by a path: "" is the whole; "decoder.2" a block; "decoder.2.cross.1" a head of it, and
"decoder.2.cross.1.3" its score for the third token; "decoder.2.feed" the feed-forward network, ".feed.17" a unit of it;
"source" or "target" the embedding, "source.5" an entry of it; "output" the last step, "output.1" its likeliest logit.
All but the whole is about one word: `read` of the source, in the encoder, or `write` of the translation.

The page computes all of it for a reader's sentence (engine.mjs). What the first view needs is computed here, by torch.
"""

import functools
import html
import re

import torch
import traitlets

from lmbook.decode import evaluating
from lmbook.figures import Figure, bundle
from lmbook.figures.translator import EXAMPLES, LONGEST, rounded, shipped, translated

MODEL = "multi30k-transformer"
SHOWN = 6  # tokens offered at the output
PATH = re.compile(
    r"(?:(?P<side>encoder|decoder)\.(?P<layer>\d+)(?:\.(?P<kind>self|cross)\.(?P<head>\d+)(?:\.(?P<key>\d+))?"
    r"|\.feed(?:\.(?P<unit>\d+))?)?|(?P<end>source|target|output)(?:\.(?P<entry>\d+))?)?"
)
CAPTIONS = {  # by the beginning of the path: what to try there
    "": "Open a layer, then a head, then one score; at each step the formula stands beside it, with the numbers of "
    "this sentence. In which layer of the decoder does the word appear that is written? Choose another word, then type "
    "a sentence of your own.",
    "encoder": "Trained heads: the encoder of the Transformer of chapter 15. Compare the heads of one layer, then the "
    "same head in all four: which look at a neighbour, which at one and the same token wherever they stand? Change the "
    "word, and see what stays.",
    "decoder": "Trained heads, of the Transformer of chapter 15. This one looks at the German word whose translation "
    "is written next. Change the word: does it find the next one too? Open a score, and see which products make it "
    "large. Then close twice, and open other layers.",
    "source": "The code at work: the Transformer of chapter 15 adds it to its words. Change the word with the left and "
    "right arrows: which part of the sum is new when the same word comes again? Open an entry to see the wave that it "
    "is read from.",
}
TITLES = {
    "": "A Transformer, opened down to a number",
    "encoder": "In the encoder every token looks at every other, in each head its own way",
    "decoder": "Heads that look for what is to be translated next",
    "source": "What enters the encoder: a word plus a wave for its position",
}


def parsed(path: str) -> dict[str, str]:
    """The parts of a path, by name: parsed("decoder.2.feed") is {"side": "decoder", "layer": "2", "feed": ""}."""
    found = PATH.fullmatch(path)
    if not found:
        raise ValueError(f"part is {path!r}; write such as 'decoder.2', 'encoder.1.self.3' or 'output'.")
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    return parts | ({"feed": ""} if ".feed" in path else {})


class Trace:
    """All that happens at one position of one pass, by torch: a stage for each vector that is added to the sum."""

    def __init__(self, text: str, ids: list[int], side: str, place: int):
        model, reader, self.writer = shipped(MODEL)
        self.model, self.place, self.stages = model, place, []
        with evaluating(model):
            source = torch.tensor([reader.encode(text)])
            if side == "source":
                self._run(model.source, source, model.encoder.layers)
            else:
                memory = model.encode(source)
                self._run(model.target, torch.tensor([[2, *ids[:-1]]]), model.decoder.layers, memory)

    def _run(self, table, tokens, layers, memory=None):
        words = table.scale * table.embedding(tokens)
        self._keep("embedding", 0, words, None, None)
        self._keep("position", 0, table(tokens) - words, None, None)
        x = table(tokens)
        for number, layer in enumerate(layers, 1):
            looks = [("self", layer.attention, layer.pre_1)]
            if memory is not None:
                looks.append(("cross", layer.cross, layer.pre_2))
            for kind, attention, norm in looks:
                read = norm(x)
                seen = read if kind == "self" else memory
                added = attention(read, seen, seen, causal=kind == "self" and memory is not None)[0]
                self._keep(kind, number, added, x, read, self._heads(attention, read, seen, kind, memory))
                x = x + added
            norm = layer.pre_2 if memory is None else layer.pre_3
            read = norm(x)
            hidden = torch.relu(layer.ffn.W_1(read))
            self._keep("feed", number, layer.ffn(read), x, read, {"hidden": hidden[0, self.place]})
            x = x + layer.ffn(read)

    def _heads(self, attention, read, seen, kind, memory) -> dict:
        """What stands behind the weights of one query: heads side by side in each vector."""
        if kind == "self" and memory is not None:
            seen = seen[:, : self.place + 1]
        keys, values = attention.W_k(seen)[0], attention.W_v(seen)[0]
        query = attention.W_q(read)[0, self.place]
        by_head = (attention.n_heads, -1)
        scores = torch.einsum("hd,nhd->hn", query.view(by_head), keys.unflatten(-1, by_head)) / attention.d_k**0.5
        weights = scores.softmax(-1)
        context = torch.einsum("hn,nhd->hd", weights, values.unflatten(-1, by_head)).flatten()
        return {
            "query": query,
            "keys": keys,
            "values": values,
            "scores": scores,
            "weights": weights,
            "context": context,
        }

    def _keep(self, kind, layer, added, x, read, more=None):
        stage = {"kind": kind, "layer": layer, "added": added[0, self.place]} | (more or {})
        if x is not None:
            stage |= {"x": x[0, self.place], "read": read[0, self.place]}
        self.stages.append(stage)

    def sums(self) -> list[torch.Tensor]:
        """The stream behind each stage."""
        return list(torch.stack([stage["added"] for stage in self.stages]).cumsum(0))

    def opened(self, side: str) -> list[dict]:
        """What engine.mjs gives for its task `open`."""
        rows = []
        for stage, total in zip(self.stages, self.sums(), strict=True):
            row = {"kind": stage["kind"], "layer": stage["layer"], "says": None}
            row |= {"added": stage["added"].norm().item(), "sum": total.norm().item()}
            if side == "target":
                p, best = self.model.output(self.model.decoder.norm(total)).double().softmax(-1).max(-1)
                row["says"] = {"text": _piece(self.writer, best.item()), "p": p.item()}
            row |= {name: stage[name].tolist() if name in stage else None for name in ("scores", "weights")}
            rows.append(row)
        return rows

    def inside(self, stage: int, unit: int | None = None, layers=None) -> dict:
        """What engine.mjs gives for its task `inside`."""
        if stage < len(self.stages):
            found = {
                name: value.tolist() if isinstance(value, torch.Tensor) else value
                for name, value in self.stages[stage].items()
            }
            if unit is not None:
                W = layers[found["layer"] - 1].ffn.W_1
                found |= {"unit": unit, "row": W.weight[unit].tolist(), "bias": W.bias[unit].item()}
            return found
        y = self.model.decoder.norm(self.sums()[-1])
        logits = self.model.output(y)
        p = logits.double().softmax(-1)
        best = p.sort(descending=True, stable=True).indices[:SHOWN].tolist()
        others = [
            {"text": _piece(self.writer, i), "p": p[i].item(), "logit": logits[i].item()}
            | {"row": self.model.output.weight[i].tolist()}
            for i in best
        ]
        return {"kind": "output", "layer": 0, "read": y.tolist(), "others": others}


def _piece(writer, i: int) -> str:
    return writer.pieces[i].decode("utf-8", "replace")


def asked(path: str, n_layers: int) -> list[list]:
    """The stages that a path looks into: lists of [side, stage, unit or None], as the page asks the engine for them."""
    parts = parsed(path)
    if parts.get("end") == "output":
        return [["target", 2 + 3 * n_layers, None]]
    if "end" in parts:
        return [[parts["end"], 0, None], [parts["end"], 1, None]]
    if not ("kind" in parts or "feed" in parts):
        return []
    side, each = ("source", 2) if parts["side"] == "encoder" else ("target", 3)
    stage = 2 + each * (int(parts["layer"]) - 1) + {"self": 0, "cross": 1}.get(parts.get("kind"), each - 1)
    return [[side, stage, int(parts["unit"]) - 1 if "unit" in parts else None]]


@functools.cache
@torch.no_grad()
def first_view(text: str, path: str, read: int, write: int) -> dict:
    """All that is seen before a model is there: the translation, two words opened, and what the path looks into."""
    found = translated(MODEL, text)
    ids = [token["id"] for token in found["target"]]
    places = {"source": min(read, len(found["source"]) - 1), "target": min(write, len(ids) - 1)}
    traces = {side: Trace(text, ids, side, place) for side, place in places.items()}
    model = shipped(MODEL)[0]
    inside = []
    for side, stage, unit in asked(path, len(model.encoder.layers)):
        layers = (model.encoder if side == "source" else model.decoder).layers
        inside.append([side, stage, unit, rounded(traces[side].inside(stage, unit, layers), 3)])
    opened = {side: rounded(trace.opened(side), 3) for side, trace in traces.items()}
    for row in (row for rows in opened.values() for row in rows):
        row |= {"scores": None, "added": round(row["added"], 1), "sum": round(row["sum"], 1)}  # as they are shown
    tokens = {
        "source": [{"id": one["id"], "text": one["text"]} for one in found["source"]],
        "target": [{"id": one["id"], "text": one["text"], "p": round(one["p"], 3)} for one in found["target"]],
    }
    return {"text": text, "found": tokens, "places": places, "opened": opened, "inside": inside}


class OpenTransformer(Figure):
    """A drawn Transformer that opens.  part: a path, see above.  text: the sentence that it translates, in German.

    read, write: which word of the source and of the translation, from 0.  Raises ValueError for a path that leads
    nowhere in the shipped model, or a text without a word.
    """

    module = "opened"
    models = (MODEL,)

    about = traitlets.Dict().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    part = traitlets.Unicode("").tag(sync=True)
    read = traitlets.Int(5).tag(sync=True)
    write = traitlets.Int(4).tag(sync=True)
    first = traitlets.Dict().tag(sync=True)

    def __init__(self, part: str = "", text: str = EXAMPLES["German"][0], read: int = 5, write: int = 4, **state):
        if not text.strip():
            raise ValueError("text has no word; give a sentence.")
        if min(read, write) < 0:
            raise ValueError(f"read is {read} and write {write}; words are counted from 0.")
        data, card = bundle.weights(MODEL)
        sizes = {name: card["model"][name] for name in ("d_model", "n_heads", "d_ff", "n_layers")}
        about = {"name": MODEL, "bytes": len(data), **sizes, "examples": list(EXAMPLES["German"])}
        self._sizes = sizes
        first = first_view(text, self._checked(part), read, write)
        beginning = next((name for name in ("encoder", "decoder", "source") if part.startswith(name)), "")
        state.setdefault("title", TITLES[beginning])
        state.setdefault("caption", CAPTIONS[beginning])
        state.setdefault("alt", self._described(first))
        super().__init__(about=about, text=text, part=part, read=read, write=write, first=first, **state)

    def _checked(self, path: str) -> str:
        parts, sizes = parsed(path), self._sizes
        each = sizes["d_model"] // sizes["n_heads"]
        most = {"layer": sizes["n_layers"], "head": sizes["n_heads"], "unit": sizes["d_ff"], "entry": sizes["d_model"]}
        wrong = [name for name, limit in most.items() if name in parts and not 1 <= int(parts[name]) <= limit]
        if wrong or parts.get("key") == "0" or (parts.get("side"), parts.get("kind")) == ("encoder", "cross"):
            raise ValueError(
                f"part is {path!r}; the model has {sizes['n_layers']} layers with {sizes['n_heads']} heads of {each} "
                f"numbers, {sizes['d_ff']} units and vectors of {sizes['d_model']} numbers, counted from 1, and only "
                "the decoder has cross-attention."
            )
        return path

    @traitlets.validate("part")
    def _check_part(self, proposal):
        return self._checked(proposal["value"])

    @traitlets.validate("text")
    def _check_text(self, proposal):
        if len(proposal["value"]) > LONGEST:
            raise ValueError(f"text has {len(proposal['value'])} characters; it may have {LONGEST}.")
        return proposal["value"]

    @staticmethod
    def _described(first: dict) -> str:
        found, place = first["found"], first["places"]["target"]
        written = "".join(token["text"] for token in found["target"][:-1]).strip()
        rows = [row for row in first["opened"]["target"] if row["kind"] == "feed"]
        says = ", ".join(f"“{row['says']['text'].strip()}” ({row['says']['p']:.2f})" for row in rows)
        word = found["target"][place]["text"].strip()
        return (
            f"Two towers, an encoder and a decoder, translate “{first['text']}” as “{written}”. Where “{word}” is "
            f"written, the decoder would say after its layers 1 to {len(rows)}: {says}."
        )

    def fallback(self) -> str:
        lines = [
            (f"{row['added']:.1f}", f"{row['sum']:.1f}", f"{row['says']['text'].strip()} ({row['says']['p']:.2f})")
            for row in self.first["opened"]["target"]
        ]
        names = [f"{row['kind']}, layer {row['layer']}" for row in self.first["opened"]["target"]]
        rows = "".join(
            f"<tr><th scope='row'>{name}</th>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>"
            for name, cells in zip(names, lines, strict=True)
        )
        head = "".join(
            f"<th scope='col'>{words}</th>" for words in ("sublayer", "length added", "length of sum", "would write")
        )
        return f"<p>{html.escape(self.alt)}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
