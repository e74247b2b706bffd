"""Translator: the reader's own sentence, translated in the page by trained models, with all that they look at.

    alpha_t = softmax_i score(s, h_i)                      RNNsearch: a row of weights for every word that it writes
    alpha_t = softmax_i q_t k_i / sqrt(d_k)                the Transformer: one for every word, layer and head

The models are shipped ones. The page fetches their weights when a reader asks for a translation, and computes it in
JavaScript (engine.mjs). The first sentence is translated here, so that there is something to see before.
"""

import functools
from collections.abc import Sequence

import traitlets

from lmbook.figures import Figure, bundle, draws_nothing, table_html
from lmbook.lab import checkpoints

MOST, LONGEST, OTHERS = 60, 200, 6  # tokens of a translation, characters of a source, tokens offered at a place
TRANSLATORS = {  # recipe: its name here, the language it reads, the language it writes
    "multi30k-transformer": ("Transformer", "German", "English"),
    "multi30k-additive": ("RNNsearch", "German", "English"),
    "caption-scores": ("RNNsearch for captions", "English", "Harbourish"),
}
EXAMPLES = {
    "German": (
        "Ein Mann schläft auf einer grünen Bank im Park.",
        "Zwei Kinder, die am Strand spielen, lachen laut.",
        "Die alte Frau verkauft Blumen auf dem Markt.",
    ),
    "English": ("the happy red dog follows a white cat .", "two old boats near the house see a tree ."),
}

WORDS = {  # title and caption, by the model that comes first
    "transformer": (
        "Some heads look at the word that is translated, others at its neighbours",
        "Choose a head and a word: where does it look? Open the word, and find the layer that decides what is written. "
        "Then type a German sentence of your own, and set RNNsearch beside it.",
    ),
    "rnnsearch": (
        "RNNsearch looks back, and where the word orders differ its lines cross",
        "Choose a word: where do the lines cross? Type a German sentence, as one would say of a photograph, with a "
        "verb at the end. Where the model had several words in mind, choose another.",
    ),
}


@functools.cache
@draws_nothing
def shipped(name: str):
    """The model, and the tokenizers of its source and of its target."""
    model, text, _ = checkpoints.load(name)
    reader, writer = text if isinstance(text, list) else (text, text)
    return model, reader, writer


def looked(model, x, y) -> list[dict]:
    """All that a translator looks at when it reads x (1, N) and writes behind y (1, T): {kind, layer, weights}.

    kind: "encoder", "self" (of the decoder) or "cross".  weights: heads, then a row of weights for each position.
    """
    from lmbook.transformer import Transformer

    if not isinstance(model, Transformer):
        return [{"kind": "cross", "layer": 1, "weights": model(x, y, need_weights=True)[1].tolist()}]
    memory, first = model.encoder(model.source(x), need_weights=True)
    found = [{"kind": "encoder", "layer": i, "weights": w[0].tolist()} for i, w in enumerate(first, 1)]
    h = model.target(y)
    for i, layer in enumerate(model.decoder.layers, 1):
        read = layer.pre_1(h)
        own = layer.attention(read, read, read, causal=True, need_weights=True)[1][0].tolist()
        h, cross = layer(h, memory, None, need_weights=True)
        own = [[row[: t + 1] for t, row in enumerate(head)] for head in own]
        found += [
            {"kind": "self", "layer": i, "weights": own},
            {"kind": "cross", "layer": i, "weights": cross[0].tolist()},
        ]
    return found


def _token(writer, i: int) -> str:
    pieces = getattr(writer, "pieces", None)
    return writer.vocabulary.tokens[i] if pieces is None else pieces[i].decode("utf-8", "replace")


def translated(name: str, text: str, forced: Sequence[int] = ()) -> dict:
    """What engine.mjs gives for the same task, by torch: the likeliest token at each step after those of `forced`."""
    import torch

    from lmbook.networks import evaluating
    from lmbook.text import EOS_ID, SOS_ID

    model, reader, writer = shipped(name)
    source = reader.encode(text)
    if not source:
        raise ValueError("there is no word to translate; give a sentence.")
    x, ids, target = torch.tensor([source]), [SOS_ID], []
    with evaluating(model):
        state = model.start(x)
        while len(target) < MOST and ids[-1] != EOS_ID:
            logits, state = model.step(torch.tensor(ids[-1:]), state)
            p = torch.softmax(logits[0].double(), dim=-1)
            best = (
                p.index_fill(0, torch.tensor([SOS_ID]), -1).sort(descending=True, stable=True).indices[:OTHERS].tolist()
            )
            t = len(target)
            ids.append(forced[t] if t < len(forced) else best[0])
            others = [{"id": i, "text": _token(writer, i), "p": p[i].item()} for i in best]
            target.append({"id": ids[-1], "text": _token(writer, ids[-1]), "p": p[ids[-1]].item(), "others": others})
        attention = looked(model, x, torch.tensor([ids[:-1]]))
    typed = reader.split(text)
    return {
        "source": [{"id": i, "text": _token(reader, i), "typed": word} for i, word in zip(source, typed, strict=True)],
        "target": target,
        "text": writer.decode(ids[1:]).strip(),
        "ended": ids[-1] == EOS_ID,
        "attention": attention,
    }


def rounded(value, digits: int = 3):
    """The same with every number rounded, so that the first view stays small."""
    if isinstance(value, float):
        return round(value, digits)
    if isinstance(value, list):
        return [rounded(one, digits) for one in value]
    return {key: rounded(one, digits) for key, one in value.items()} if isinstance(value, dict) else value


class Translator(Figure):
    """A sentence of the reader's, its translation, and for each word of it where every head looked.

    use: names of shipped models, of TRANSLATORS.  text: the sentence.  shown: which models, by number from 0; two of
    them stand side by side where they read one language.  place: of a word that is looked at, from 0.  forced: ids with
    which it has to begin, [] at first.  kind: "cross", "self" or "encoder".  layer, head: from 1; head 0 is
    their mean.  first: what is seen before a model is there, by name.  Refuses what does not exist.
    """

    module = "translator"
    models = tuple(TRANSLATORS)

    translators = traitlets.List().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    shown = traitlets.List(traitlets.Int()).tag(sync=True)
    place = traitlets.Int(3).tag(sync=True)
    forced = traitlets.List(traitlets.Int()).tag(sync=True)
    kind = traitlets.Enum(("cross", "self", "encoder"), "cross").tag(sync=True)
    layer = traitlets.Int(1).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    first = traitlets.Dict().tag(sync=True)

    def __init__(self, use: Sequence[str] = ("multi30k-transformer", "multi30k-additive"), text: str = "", **state):
        if wrong := [name for name in use if name not in TRANSLATORS]:
            raise ValueError(f"use has {', '.join(wrong)}; there are {', '.join(TRANSLATORS)}.")
        if text and not text.strip():
            raise ValueError("text has no word; give a sentence, or nothing for an example.")
        text = text or EXAMPLES[TRANSLATORS[use[0]][1]][0]
        self.use = tuple(use)
        self._check_numbers(state.get("shown", [0]))
        translators = [self._about(name, text if self._reads_like(name, use[0]) else "") for name in use]
        state = {"translators": translators, "text": text, "shown": [0]} | state
        state.setdefault("layer", translators[state["shown"][0]]["layers"])
        texts = {name: text if self._reads_like(name, use[0]) else EXAMPLES[TRANSLATORS[name][1]][0] for name in use}
        first = {name: {"text": texts[name], "found": rounded(self._first(name, texts[name]))} for name in use}
        title, caption = WORDS["transformer" if translators[0]["layers"] > 1 else "rnnsearch"]
        state.setdefault("title", title)
        state.setdefault("caption", caption)
        state.setdefault("alt", "…")  # said below, when the state is known
        super().__init__(first=first, **state)
        if state["alt"] == "…":
            self.alt = self._described()

    @staticmethod
    def _about(name: str, text: str) -> dict:
        label, reads, writes = TRANSLATORS[name]
        data, card = bundle.weights(name)
        layers = card["model"]["n_layers"] if card["model"]["class"].endswith(".Transformer") else 1
        about = {"name": name, "label": label, "reads": reads, "writes": writes, "bytes": len(data), "layers": layers}
        return about | {"examples": list(dict.fromkeys([text] * bool(text) + list(EXAMPLES[reads])))[:3]}

    @staticmethod
    def _reads_like(name: str, other: str) -> bool:
        return TRANSLATORS[name][1] == TRANSLATORS[other][1]

    @staticmethod
    @functools.cache
    def _first(name: str, text: str) -> dict:
        return translated(name, text)

    @traitlets.validate("shown")
    def _check_shown(self, proposal):
        return self._check_numbers(proposal["value"])

    def _check_numbers(self, shown: list[int]) -> list[int]:
        use = self.use
        if not shown or len(set(shown)) < len(shown) or not all(0 <= i < len(use) for i in shown):
            raise ValueError(f"shown is {shown}; give numbers of models, from 0 to {len(use) - 1}.")
        if not all(self._reads_like(use[i], use[shown[0]]) for i in shown):
            raise ValueError("side by side stand only models that read one language.")
        return shown

    @traitlets.validate("text")
    def _check_text(self, proposal):
        if len(proposal["value"]) > LONGEST:
            raise ValueError(f"text has {len(proposal['value'])} characters; it may have {LONGEST}.")
        return proposal["value"]

    def strongest(self) -> list[tuple[str, str, float]]:
        """For every token of the first translation: the source token with the largest weight, and that weight.

        The weights are the mean over the heads of the last layer.
        """
        found = self._first(self.use[self.shown[0]], self.text)
        heads = [one for one in found["attention"] if one["kind"] == "cross"][-1]["weights"]
        rows = []
        for t, token in enumerate(found["target"]):
            mean = [sum(head[t][i] for head in heads) / len(heads) for i in range(len(found["source"]))]
            best = max(range(len(mean)), key=mean.__getitem__)
            rows.append((token["text"].strip(), found["source"][best]["text"].strip(), mean[best]))
        return rows

    def _described(self) -> str:
        about = self.translators[self.shown[0]]
        written = self._first(about["name"], self.text)["text"]
        looks = ", ".join(f"{word} at {at} ({weight:.2f})" for word, at, weight in self.strongest()[:-1])
        return f"The {about['label']} translates “{self.text}” as “{written}”. Each piece looks most at: {looks}."

    def fallback(self) -> str:
        rows = ((word, at, f"{weight:.2f}") for word, at, weight in self.strongest())
        return super().fallback() + table_html(("written", "looks most at", "weight"), rows)
