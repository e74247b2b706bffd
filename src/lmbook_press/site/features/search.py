"""The search of the site: it knows abbreviations, and the chapter that introduces a term comes before others."""

import json
import re
from pathlib import Path

from lmbook_press.site.patching import patch

# what readers type -> words of the book, which are searched for as well
SYNONYMS = {
    "adam": "stochastic gradient descent",
    "autoregressive": "causal",
    "backprop": "back-propagation",
    "backpropagation": "back-propagation",
    "bilstm": "bidirectional",
    "birnn": "bidirectional",
    "bos": "sos",
    "bpe": "byte pair",
    "bptt": "back-propagation through time",
    "encoder-decoder": "sequence to sequence",
    "ffn": "feed-forward",
    "kv cache": "key-value cache",
    "layer norm": "layer normalisation",
    "layernorm": "layer normalisation",
    "llm": "language model",
    "lm": "language model",
    "mha": "heads",
    "mlm": "masked language model",
    "moe": "experts",
    "multi-head": "heads",
    "ner": "named entities",
    "nll": "negative log-likelihood",
    "nmt": "translation",
    "nucleus": "top-p",
    "oov": "unknown",
    "pos": "part of speech",
    "positional encoding": "positions",
    "ppl": "perplexity",
    "quantization": "quantisation",
    "rnn": "recurrent",
    "rope": "rotary",
    "self-attention": "attention without recurrence",
    "seq2seq": "sequence to sequence",
    "sgd": "stochastic gradient descent",
    "tokenization": "tokens",
    "vit": "vision transformer",
    "word2vec": "skip-gram",
}
# chapter -> terms that it treats, though an earlier one names them or none links them
HOME = {
    2: ["perplexity", "backoff"],
    3: ["byte pair", "tokens", "tokenizer", "word vectors"],
    4: ["feed-forward"],
    5: ["softmax", "logits"],
    6: ["recurrent", "recurrent network"],
    7: ["vanishing gradients"],
    14: ["positions", "positional code", "sinusoidal code", "rotary"],
    15: ["layer normalisation"],
    16: ["bert"],
    17: ["gpt", "prompt", "scaling law", "scaling laws"],
}
TERM = re.compile(r"\{term\}`([^`<]*?)(?:\s*<([^>]+)>)?`")
OURS = r"""
// Added by lmbook_press.site.features.search: the words of LM.synonyms are searched for too, and the page that
// introduces what was asked for comes first.
const LM = %DATA%;
LM.plain = (text) => text.toLowerCase().replace(/[^\p{Letter}\p{Number}]+/gu, " ").trim();
LM.alike = (query) => {
  const found = Object.entries(LM.synonyms).filter(([said]) => LM.plain(said) === LM.plain(query));
  return [query, ...found.map(([, ours]) => ours)];
};
LM.home = (queries) => {
  for (const query of queries.map(LM.plain)) {
    for (const form of [query, query.replace(/s$/, ""), `${query}s`]) if (form in LM.first) return LM.first[form];
  }
  return null;
};
// What is found, the best at the end, as Sphinx wants it.
LM.find = (query) => {
  const queries = LM.alike(query);
  const home = LM.home(queries);
  const best = new Map();
  const [terms, highlight] = [new Set(), new Set()];
  for (const [i, one] of queries.entries()) {
    const [said, words, without, shown, objects] = Search._parseQuery(one);
    for (const word of words) terms.add(word);
    for (const word of shown) highlight.add(word);
    for (const item of Search._performSearch(said, words, without, shown, objects)) {
      const key = [item[0], item[1], item[2]].join("|");
      const score = item[4] - i + (item[0] === home && !item[2] ? 1000 : 0);
      if (!best.has(key) || best.get(key)[4] < score) best.set(key, [...item.slice(0, 4), score, item[5]]);
    }
  }
  return { results: [...best.values()].sort(_orderResultsByScoreThenName), terms, highlight };
};
Search.query = (query) => {
  const { results, terms, highlight } = LM.find(query);
  localStorage.setItem("sphinx_highlight_terms", [...highlight].join(" "));
  _displayNextItem(results, results.length, terms, highlight);
};

"""
READY = "_ready(Search.init);"


def plain(text: str) -> str:
    """Words in lower case, as the script compares them."""
    return re.sub(r"[^\w]+", " ", text.lower()).strip()


def introduced(pages: list[tuple[str, str]]) -> dict[str, str]:
    """Term -> the chapter that introduces it: the first to link the term to the glossary, unless HOME knows better.

    pages: (name, text) of the chapters in the order of the book.
    """
    homes = {plain(term): name for name, _ in pages for term in HOME.get(int(name[10:12]), ())}
    for name, text in pages:
        for shown, target in TERM.findall(text):
            homes.setdefault(plain(target or shown), name)
    return homes


def _text(notebook: Path) -> str:
    cells = json.loads(notebook.read_text(encoding="utf8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def _chapters(app) -> list[tuple[str, str]]:
    """(name, text) of the numbered chapters in their order."""
    names = sorted(name for name in app.env.found_docs if re.match(r"notebooks/(0[1-9]|1\d)-", name))
    files = [(name, Path(app.env.doc2path(name))) for name in names]
    return [(name, _text(file)) for name, file in files if file.suffix == ".ipynb"]


def write_search(app, exception):
    """Our part of the search, in the script that Sphinx wrote."""
    script = Path(app.outdir) / "_static" / "searchtools.js"
    if exception or app.builder.format != "html" or not script.exists():
        return
    data = {"synonyms": SYNONYMS, "first": introduced(_chapters(app))}
    ours = OURS.replace("%DATA%", json.dumps(data, ensure_ascii=False))
    patch(script, READY, ours + READY, __name__)


def setup(app):
    app.connect("build-finished", write_search, priority=800)
