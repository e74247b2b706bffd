"""FollowToken: one token of a source or a target on its way through every sublayer of a trained Transformer.

    x_0 = sqrt(d) E_w + p          x_k = x_{k-1} + f_k(LN(x_{k-1}))          out = LN(x_K)

The model is the shipped one of the recipe caption-ladder (pre-norm). sublayers.json holds what each sublayer adds at
each position, and the weights of every head; it is made by

    python -m lmbook.figures.sublayers 5 17          (numbers of test sentences; `stored` below)

A vector is kept as whole thousandths, 16 bits each, in base64; sums are taken here and in the page alike.
"""

import base64
import functools
import html
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import traitlets

from lmbook.figures import Figure

PLACE = Path(__file__).with_name("sublayers.json")
SIDES = ("source", "target")
KINDS = {"source": ("self", "feed"), "target": ("self", "cross", "feed")}
NAMES = {"self": "self-attention", "cross": "attention to the source", "feed": "feed-forward"}


def pack(numbers) -> str:
    """Numbers as thousandths of 16 bits, little-endian, in base64."""
    whole = np.clip(np.rint(np.asarray(numbers, dtype=np.float64).ravel() * 1000), -32768, 32767)
    return base64.b64encode(whole.astype("<i2").tobytes()).decode()


def unpack(text: str) -> np.ndarray:
    """The whole thousandths of `pack`."""
    return np.frombuffer(base64.b64decode(text), dtype="<i2").astype(np.int64)


def passes(model, source, inputs) -> dict[str, dict[str, np.ndarray]]:
    """What a pre-norm Transformer computes for one pair of ids (1, N) and (1, T).

    For each side: added (K, positions, d), the embedding, the position and what each sublayer adds; out (positions, d);
    weights, one array (heads, positions, keys) for each attention, in order; active (layers, positions), the hidden
    units above 0 of each feed-forward layer. For the target also log_p (T, vocab).
    """
    import torch

    found: dict[str, dict] = {}

    def embedded(embedding, tokens):
        word = embedding.scale * embedding.embedding(tokens)
        return [word, embedding(tokens) - word]

    def feed(ffn, read):
        hidden = ffn.activation(ffn.W_1(read))
        return ffn.W_2(hidden), (hidden > 0).sum(-1)

    with torch.no_grad():
        added, weights, active = embedded(model.source, source), [], []
        x = sum(added)
        for layer in model.encoder.layers:
            read = layer.pre_1(x)
            out, alpha = layer.attention(read, read, read, need_weights=True)
            x, added, weights = x + out, [*added, out], [*weights, alpha]
            out, count = feed(layer.ffn, layer.pre_2(x))
            x, added, active = x + out, [*added, out], [*active, count]
        memory = model.encoder.norm(x)
        found["source"] = {"added": added, "out": memory, "weights": weights, "active": active}
        added, weights, active = embedded(model.target, inputs), [], []
        x = sum(added)
        for layer in model.decoder.layers:
            read = layer.pre_1(x)
            out, alpha = layer.attention(read, read, read, causal=True, need_weights=True)
            x, added, weights = x + out, [*added, out], [*weights, alpha]
            out, alpha = layer.cross(layer.pre_2(x), memory, memory, need_weights=True)
            x, added, weights = x + out, [*added, out], [*weights, alpha]
            out, count = feed(layer.ffn, layer.pre_3(x))
            x, added, active = x + out, [*added, out], [*active, count]
        out = model.decoder.norm(x)
        log_p = torch.log_softmax(model.output(out), dim=-1)
        found["target"] = {"added": added, "out": out, "weights": weights, "active": active, "log_p": log_p}
    return {
        side: {
            key: [part[0].numpy() for part in value] if isinstance(value, list) else value[0].numpy()
            for key, value in parts.items()
        }
        for side, parts in found.items()
    }


def sentence(model, reader, writer, pair: tuple[str, str]) -> dict:
    """One entry of sublayers.json: tokens, and for each side the packed numbers of every token."""
    import torch

    from lmbook.text import SOS_ID

    source, target = reader.encode(pair[0]), [SOS_ID, *writer.encode(pair[1])]
    found = passes(model, torch.tensor([source]), torch.tensor([target]))
    words = {"source": pair[0].split(), "target": ["<sos>", *pair[1].split()]}
    entry: dict = {"heads": model.encoder.layers[0].attention.n_heads, "layers": len(model.encoder.layers)}
    for side in SIDES:
        parts = found[side]
        entry[side] = {
            "words": words[side],
            "vectors": [
                pack([*(part[i] for part in parts["added"]), parts["out"][i]]) for i in range(len(words[side]))
            ],
            "weights": [
                pack(np.concatenate([alpha[:, i].ravel() for alpha in parts["weights"]]))
                for i in range(len(words[side]))
            ],
            "active": [[int(count[i]) for count in parts["active"]] for i in range(len(words[side]))],
        }
    likeliest = np.argsort(-found["target"]["log_p"], axis=1)[:, :4]
    entry["next"] = [
        [[writer.vocabulary.tokens[k], round(float(np.exp(row[k])), 4)] for k in best]
        for row, best in zip(found["target"]["log_p"], likeliest, strict=True)
    ]
    return entry


def trained():
    """The shipped Transformer of caption-ladder with its tokenizers and its captions."""
    from lmbook import checkpoints
    from lmbook.experiments import caption_ladder

    model, (reader, writer), _ = checkpoints.load("caption-ladder")
    return model, reader, writer, caption_ladder.captions(quick=False)[2]


def stored(chosen: Sequence[int]) -> dict:
    """What sublayers.json holds, computed anew from the shipped weights; chosen: test sentences by number."""
    model, reader, writer, parts = trained()
    d_ff = model.encoder.layers[0].ffn.W_1.out_features
    entries = [sentence(model, reader, writer, parts["test"][i]) for i in chosen]
    return {"chosen": list(chosen), "width": model.output.in_features, "d_ff": d_ff, "sentences": entries}


@functools.cache
def shipped() -> dict:
    return json.loads(PLACE.read_text("utf-8"))


def _num(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", "−")


class FollowToken(Figure):
    """Choose a sentence, a token of one side and a sublayer; see what it reads from where, and what it adds.

    chosen: the sentence, from 0.  side: "source" or "target".  token: its place, from 0.  stage: from 0 (the embedding)
    to the last; see `stages`.  width, d_ff, sentences: as in sublayers.json.  Raises ValueError for what is not there.
    """

    module = "sublayers"

    width = traitlets.Int().tag(sync=True)
    d_ff = traitlets.Int().tag(sync=True)
    sentences = traitlets.List().tag(sync=True)
    chosen = traitlets.Int(0).tag(sync=True)
    side = traitlets.Unicode("target").tag(sync=True)
    token = traitlets.Int(1).tag(sync=True)
    stage = traitlets.Int(3).tag(sync=True)

    def __init__(self, **state):
        state = {key: shipped()[key] for key in ("width", "d_ff", "sentences")} | state
        state.setdefault("title", "A token is one vector on its way up; every sublayer only adds to it")
        state.setdefault(
            "caption",
            "Go through the stages with Next. Where does the vector get longer, and which sublayer adds most? Stop at "
            "the attention to the source: which head looks at the word that is to be written next?",
        )
        state.setdefault("alt", "…")  # said by _describe() as soon as the state is known
        super().__init__(**state)
        if state["alt"] == "…":
            self._describe()
            self.observe(self._describe, ["sentences", "chosen", "side", "token", "stage"])

    @traitlets.validate("chosen", "token", "stage")
    def _check_range(self, proposal):
        name, value = proposal["trait"].name, proposal["value"]
        if self.sentences:
            most = {
                "chosen": len(self.sentences),
                "token": max(len(self.sentences[0][side]["words"]) for side in SIDES) + 100,
                "stage": 4 + len(KINDS["target"]) * self.sentences[0]["layers"],  # one model, so one number for all
            }[name]
            if not 0 <= value < most:
                raise ValueError(f"{name} is {value}; it must be from 0 to {most - 1}.")
        return value

    @traitlets.validate("side")
    def _check_side(self, proposal):
        if proposal["value"] not in SIDES:
            raise ValueError(f"side is {proposal['value']!r}; it must be 'source' or 'target'.")
        return proposal["value"]

    def stages(self, side: str) -> list[tuple[str, int]]:
        """(kind, layer) of every stage: embedding, position, the sublayers, norm, and for the target the output."""
        layers = self.sentences[self.chosen]["layers"]
        middle = [(kind, layer) for layer in range(1, layers + 1) for kind in KINDS[side]]
        last = [("norm", 0), ("output", 0)] if side == "target" else [("norm", 0)]
        return [("embedding", 0), ("position", 0), *middle, *last]

    def now(self, stage: int | None = None) -> dict:
        """The numbers of a stage, by default the chosen one: added and sum, in thousandths, and the heads' weights."""
        entry = self.sentences[self.chosen]
        side, token = entry[self.side], min(self.token, len(entry[self.side]["words"]) - 1)
        stages = self.stages(self.side)
        stage = min(self.stage if stage is None else stage, len(stages) - 1)
        kind, layer = stages[stage]
        vectors = unpack(side["vectors"][token]).reshape(-1, self.width)
        found: dict = {"kind": kind, "layer": layer, "word": side["words"][token], "added": None, "weights": None}
        if kind in ("norm", "output"):
            found["sum"] = vectors[-1]
        else:
            found |= {"added": vectors[stage], "sum": vectors[: stage + 1].sum(axis=0)}
        if kind in ("self", "cross"):
            keys = entry["source" if kind == "cross" else self.side]["words"]
            sizes = [
                len(entry["source" if one == "cross" else self.side]["words"])
                for one, _ in stages
                if one in ("self", "cross")
            ]
            at = [one for one in range(stage) if stages[one][0] in ("self", "cross")]
            start = entry["heads"] * sum(sizes[: len(at)])
            weights = unpack(side["weights"][token])[start : start + entry["heads"] * len(keys)]
            found |= {"weights": weights.reshape(entry["heads"], -1), "keys": keys}
        if kind == "feed":
            found["active"] = side["active"][token][layer - 1]
        if kind == "output":
            found["next"] = entry["next"][token]
        return found

    def _describe(self, change=None):
        now = self.now()
        length = _num(float(np.linalg.norm(now["sum"] / 1000)), 1)
        words = {side: " ".join(self.sentences[self.chosen][side]["words"]) for side in SIDES}
        text = f"A Transformer reads “{words['source']}” and writes “{words['target']}”."
        if now["kind"] == "output":
            word, p = now["next"][0]
            text += f" After “{now['word']}” the likeliest next word is “{word}”, with probability {p:.2f}."
        elif now["added"] is None:
            text += f" The last LayerNorm makes of “{now['word']}” a vector of length {length}."
        else:
            added = _num(float(np.linalg.norm(now["added"] / 1000)), 1)
            name = {"embedding": "the embedding", "position": "the position"}.get(now["kind"], "")
            name = name or f"{NAMES[now['kind']]} of layer {now['layer']}"
            text += f" For “{now['word']}”, {name} adds a vector of length {added}; the sum has length {length}."
        if now["weights"] is not None:
            head, key = np.unravel_index(now["weights"].argmax(), now["weights"].shape)
            weight = _num(now["weights"][head, key] / 1000)
            text += f" Head {head + 1} looks most at “{now['keys'][key]}”, with weight {weight}."
        self.alt = text

    def fallback(self) -> str:
        rows = []
        for i, (kind, layer) in enumerate(self.stages(self.side)):
            name = f"{NAMES[kind]}, layer {layer}" if layer else kind
            length = _num(float(np.linalg.norm(self.now(i)["sum"] / 1000)), 1)
            rows.append(f"<tr><th scope='row'>{name}</th><td>{length}</td></tr>")
        head = "<th scope='col'>stage</th><th scope='col'>length of the vector</th>"
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return f"<p>{html.escape(self.alt)}</p>{table}"


if __name__ == "__main__":
    import sys

    PLACE.write_text(json.dumps(stored([int(i) for i in sys.argv[1:]]), ensure_ascii=False, separators=(",", ":")))
