"""A shipped model opened at one position, by torch: what insides.mjs computes in the page.

    x_0 = E[w] + ..      x_k = post(x_{k-1} + f_k(pre(x_{k-1})))      P = softmax(E head(x_K))

pre or post is a LayerNorm, the other one nothing; head is the last LayerNorm, of BERT also a linear map and GELU.
"""

import functools

import torch
import torch.nn.functional as F

from lmbook.bert import MaskedLM
from lmbook.figures.translator import shipped, translated
from lmbook.gpt import GPT
from lmbook.lab.typed import cut
from lmbook.networks import evaluating
from lmbook.text import EOS_ID, MASK_ID, SOS_ID, UNK_ID

SHOWN = 6  # tokens offered at the output


def tokens(name: str, text: str) -> dict[str, list[dict]]:
    """What a model reads and writes: {"source": [{"id", "text", ..}], "target": [..]}, empty where it has no such side.

    A translator writes its translation; BERT reads <sos> words <eos>, a GPT the characters that it knows. Raises
    ValueError where there are none, or more than its window holds.
    """
    model, reader, _ = shipped(name)
    if isinstance(model, MaskedLM):
        words = cut(text)
        ids = [SOS_ID, *reader.encode(words).tolist(), EOS_ID]
        if not words or len(ids) > model.bert.window:
            raise ValueError(f"text has {len(words)} words; the model reads 1 to {model.bert.window - 2}.")
        names = [reader.vocabulary.tokens[i] for i in ids]
        typed = [names[0], *words, names[-1]]
        rows = [{"id": i, "text": word, "typed": own} for i, word, own in zip(ids, names, typed, strict=True)]
        return {"source": rows, "target": []}
    if isinstance(model, GPT):
        known = [{"id": i, "text": char} for i, char in zip(reader.encode(text), text, strict=True) if i != UNK_ID]
        if not 1 <= len(known) <= model.window:
            raise ValueError(f"text has {len(known)} characters that the model knows; it reads 1 to {model.window}.")
        return {"source": [], "target": known, "left": ""}
    found = translated(name, text)
    return {
        "source": [{"id": one["id"], "text": one["text"]} for one in found["source"]],
        "target": [{"id": one["id"], "text": one["text"], "p": round(one["p"], 3)} for one in found["target"]],
    }


class Opened:
    """All that happens at one position of one pass: a stage for each vector that is added to the stream.

    side: "source" or "target".  place: from 0.  ids: what a translator has written.  blank: the place whose word BERT
    does not see, 0 for none.
    """

    def __init__(self, name: str, text: str, side: str, place: int, ids: list[int] = (), blank: int = 0):
        self.model, reader, self.writer = shipped(name)
        self.side, self.place, self.stages, self.came = side, place, [], None
        model = self.model
        with evaluating(model):
            if isinstance(model, MaskedLM):
                self._bert([one["id"] for one in tokens(name, text)["source"]], blank)
            elif isinstance(model, GPT):
                self._gpt([one["id"] for one in tokens(name, text)["target"]])
            else:
                source = torch.tensor([reader.encode(text)])
                if side == "source":
                    self._scaled(model.source, source, model.encoder.layers)
                else:
                    read = torch.tensor([[SOS_ID, *ids[:-1]]])
                    self._scaled(model.target, read, model.decoder.layers, model.encode(source))

    def _bert(self, ids: list[int], blank: int) -> None:
        bert, self.came = self.model.bert, ids[self.place]
        x = torch.tensor([ids])
        if 0 < blank < len(ids) - 1:
            x[0, blank] = MASK_ID
        parts = bert.embedding(x), bert.position(len(ids)), bert.segment(torch.zeros_like(x))
        for kind, part in zip(("embedding", "position", "segment"), parts, strict=True):
            self._keep(kind, 0, part.expand(1, len(ids), -1), sum(parts[: 1 + len(self.stages)]))
        self.stages[-1]["next"] = bert.norm(sum(parts))[0, self.place]
        self._run(bert.norm(sum(parts)), bert.encoder.layers, causal=False)

    def _gpt(self, ids: list[int]) -> None:
        self.came = ids[self.place + 1] if self.place + 1 < len(ids) else None
        x = self.model.embedding(torch.tensor([ids]))
        self._keep("embedding", 0, x, x)
        if self.model.position is not None:
            place = self.model.position(len(ids))
            self._keep("position", 0, place.expand_as(x), x + place)
            x = x + place
        self._run(x, self.model.layers, causal=True)

    def _scaled(self, table, ids, layers, memory=None) -> None:
        words = table.scale * table.embedding(ids)
        self._keep("embedding", 0, words, words)
        self._keep("position", 0, table(ids) - words, table(ids))
        self._run(table(ids), layers, causal=memory is not None, memory=memory)

    def _run(self, x, layers, causal: bool, memory=None) -> None:
        for number, layer in enumerate(layers, 1):
            looks = [("self", layer.attention, layer.pre_1, layer.post_1)]
            norms = layer.pre_2, layer.post_2
            if memory is not None:
                looks.append(("cross", layer.cross, layer.pre_2, layer.post_2))
                norms = layer.pre_3, layer.post_3
            for kind, attention, pre, post in looks:
                read = pre(x)
                seen = read if kind == "self" else memory
                hides = causal and kind == "self"
                added = attention(read, seen, seen, causal=hides)[0]
                after = post(x + added)
                self._keep(kind, number, added, after, x, read, self._heads(attention, read, seen, hides))
                x = after
            read = norms[0](x)
            hidden = layer.ffn.activation(layer.ffn.W_1(read))
            added = layer.ffn(read)
            after = norms[1](x + added)
            self._keep("feed", number, added, after, x, read, {"hidden": hidden[0, self.place]})
            x = after

    def _heads(self, attention, read, seen, hides: bool) -> dict:
        """What stands behind the weights of one query: heads side by side in each vector."""
        if hides:
            seen = seen[:, : self.place + 1]
        turn = attention.rotate or (lambda x, start: x)

        def heads(x, start=0):
            return turn(x.unflatten(-1, (attention.n_heads, -1)).transpose(1, 2), start)[0]  # (n_heads, T, d_k)

        keys, values = heads(attention.W_k(seen)), attention.W_v(seen)[0]
        query = heads(attention.W_q(read)[:, self.place : self.place + 1], self.place)
        scores = (query @ keys.mT)[:, 0] / attention.d_k**0.5
        weights = scores.softmax(-1)
        context = torch.einsum("hn,nhd->hd", weights, values.unflatten(-1, (attention.n_heads, -1))).flatten()
        return {
            "query": query.flatten(),
            "keys": keys.transpose(0, 1).flatten(1),
            "values": values,
            "scores": scores,
            "weights": weights,
            "context": context,
        }

    def _keep(self, kind, layer, added, after, x=None, read=None, more=None) -> None:
        stage = {"kind": kind, "layer": layer, "added": added[0, self.place], "next": after[0, self.place]}
        if x is not None:
            stage |= {"x": x[0, self.place], "read": read[0, self.place]}
        self.stages.append(stage | (more or {}))

    def head(self, x: torch.Tensor) -> torch.Tensor:
        """The vector that the output matrix reads, did the model end with the stream x."""
        if isinstance(self.model, MaskedLM):
            return self.model.norm(F.gelu(self.model.W(x)))
        return self.model.norm(x) if isinstance(self.model, GPT) else self.model.decoder.norm(x)

    def _name(self, i: int) -> str:
        pieces = getattr(self.writer, "pieces", None)
        return self.writer.vocabulary.tokens[i] if pieces is None else pieces[i].decode("utf-8", "replace")

    @torch.no_grad()
    def rows(self) -> list[dict]:
        """What engine.mjs gives for its task `open`."""
        found = []
        reads = self.side == "target" or isinstance(self.model, MaskedLM)
        whole = [bool(stage["layer"]) for stage in [*self.stages[1:], self.stages[-1]]]
        for stage, complete in zip(self.stages, whole, strict=True):
            row = {"kind": stage["kind"], "layer": stage["layer"], "says": None}
            row |= {"added": stage["added"].norm().item(), "sum": stage["next"].norm().item()}
            if reads and complete:
                p, best = self.model.output(self.head(stage["next"])).double().softmax(-1).max(-1)
                row["says"] = {"text": self._name(best.item()), "p": p.item()}
            row |= {name: stage[name].tolist() if name in stage else None for name in ("scores", "weights")}
            found.append(row)
        return found

    @torch.no_grad()
    def inside(self, stage: int, unit: int | None = None) -> dict:
        """What engine.mjs gives for its task `inside`."""
        if stage < len(self.stages):
            plain = self.stages[stage].items()
            found = {name: value.tolist() if isinstance(value, torch.Tensor) else value for name, value in plain}
            if unit is not None:
                W = self._layers[found["layer"] - 1].ffn.W_1
                found |= {"unit": unit, "row": W.weight[unit].tolist(), "bias": W.bias[unit].item()}
            return found
        y, output = self.head(self.stages[-1]["next"]), self.model.output
        logits = output(y)
        p = logits.double().softmax(-1)
        b = torch.zeros(len(p)) if output.bias is None else output.bias

        def told(i: int) -> dict:
            return {"text": self._name(i), "p": p[i].item(), "logit": logits[i].item()}

        best = p.sort(descending=True, stable=True).indices[:SHOWN].tolist()
        others = [told(i) | {"row": output.weight[i].tolist(), "bias": b[i].item()} for i in best]
        came = None if self.came is None else told(self.came) | {"rank": 1 + int((p > p[self.came]).sum())}
        return {"kind": "output", "layer": 0, "read": y.tolist(), "others": others, "came": came}

    @functools.cached_property
    def _layers(self):
        if isinstance(self.model, GPT):
            return self.model.layers
        if isinstance(self.model, MaskedLM):
            return self.model.bert.encoder.layers
        return (self.model.encoder if self.side == "source" else self.model.decoder).layers
