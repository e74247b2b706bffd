"""The search of the site: it knows abbreviations, and the chapter that introduces a term comes before others."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path

from sphinx.search.en import SearchEnglish

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
    "named entity recognition": "named entities",
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
    "tied embeddings": "tied",
    "vit": "vision transformer",
    "weight tying": "tied",
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
// The query, and what the book says in the place of its words: each alone, then all of them.
LM.alike = (query) => {
  const found = Object.entries(LM.synonyms)
    .map(([said, ours]) => [new RegExp(`(^| )${LM.plain(said)}(?= |$)`), ours])
    .filter(([said]) => said.test(LM.plain(query)));
  const put = (text, [said, ours]) => text.replace(said, `$1${LM.plain(ours)}`);
  const plain = LM.plain(query);
  return [...new Set([query, ...found.map((one) => put(plain, one)), found.reduce(put, plain)])];
};
// "homework 7", "figure 17.2", "eq. (13.2)": the page, and the place on it; null for what is no such number.
LM.direct = (query) => {
  const asked = /^(ch|chapter|homework|hw|fig|figure|ex|exercise|eq|equation|formula)\b[\s.]*\(?(\d+)(?:\.(\d+))?\)?$/;
  const [, kind, chapter, number] = asked.exec(query.trim().toLowerCase()) ?? [];
  if (!kind) return null;
  const folder = kind.startsWith("h") ? "book/homework/" : "notebooks/";
  const page = Search._index.docnames.find((name) => name.startsWith(`${folder}${chapter.padStart(2, "0")}-`));
  if (!page) return null;
  const title = Search._index.titles[Search._index.docnames.indexOf(page)];
  let anchor = "";
  if (number && kind.startsWith("f") && kind !== "formula") anchor = `#figure-${chapter}-${number}`;
  else if (number && kind.startsWith("ex")) anchor = `#ex-${chapter}-${number}`;
  else if (number) anchor = `#${LM.equations[page]?.[number - 1] ?? ""}`;
  return [page, number ? `${query.trim()}: ${title}` : title, anchor, null, 10_000];
};
// How much a chapter says of the words: a digit for log2(1 + count) of each, more for words that few chapters have.
LM.said = (page, words) => {
  const chapter = LM.chapters.indexOf(page);
  return words.reduce((sum, word) => {
    const digits = LM.often[word] ?? "";
    const rare = Math.log(LM.chapters.length / Math.max(1, digits.replaceAll("0", "").length)) + 0.3;
    return sum + Number(digits[chapter] ?? 0) * rare;
  }, 0);
};
LM.home = (queries) => {
  for (const query of queries.map(LM.plain)) {
    for (const form of [query, query.replace(/s$/, ""), `${query}s`]) if (form in LM.first) return LM.first[form];
  }
  return null;
};
// Chapters that introduce a part of the query, longer parts count more.
LM.near = (query) => {
  const near = {};
  for (const [term, page] of Object.entries(LM.first))
    if (` ${LM.plain(query)} `.includes(` ${term} `)) near[page] = (near[page] ?? 0) + 6 * term.split(" ").length;
  return near;
};
// What is found, the best at the end, as Sphinx wants it.
LM.find = (query) => {
  const queries = LM.alike(query);
  const home = LM.home(queries);
  const best = new Map();
  const direct = LM.direct(query);
  if (direct) best.set("direct", [...direct, Search._index.filenames[Search._index.docnames.indexOf(direct[0])]]);
  const [terms, highlight] = [new Set(), new Set()];
  for (const [i, one] of queries.entries()) {
    const near = LM.near(one);
    const [said, words, without, shown, objects] = Search._parseQuery(one);
    for (const word of words) terms.add(word);
    for (const word of shown) highlight.add(word);
    for (const item of Search._performSearch(said, words, without, shown, objects)) {
      const key = [item[0], item[1], item[2]].join("|");
      const first = item[0] === home && !item[2] ? 1000 : (near[item[0]] ?? 0);
      const score = item[4] / 3 - i + 2 * LM.said(item[0], [...words]) + first;
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


def often(texts: list[str]) -> dict[str, str]:
    """Stem of a word, as Sphinx makes it -> log2(1 + how often each text says it), a digit each; 9 at most."""
    stem = cache(SearchEnglish({}).stem)
    counts = [Counter(stem(word) for word in re.findall(r"\w{3,}", text.lower())) for text in texts]
    common = sorted(word for word in set().union(*counts) if max(count[word] for count in counts) >= 3)
    return {word: "".join(str(min(9, (1 + count[word]).bit_length() - 1)) for count in counts) for word in common}


def equations(out: Path) -> dict[str, list[str]]:
    """Page -> the ids of its numbered equations, in the order of their numbers."""
    pages = sorted(out.glob("notebooks/[0-9]*.html"))
    found = {page: re.findall(r'id="(equation-[^"]+)"', page.read_text(encoding="utf8")) for page in pages}
    return {f"notebooks/{page.stem}": ids for page, ids in found.items() if ids}


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
    chapters = _chapters(app)
    data = {"synonyms": SYNONYMS, "first": introduced(chapters), "equations": equations(Path(app.outdir))}
    data |= {"chapters": [name for name, _ in chapters], "often": often([text for _, text in chapters])}
    ours = OURS.replace("%DATA%", json.dumps(data, ensure_ascii=False))
    patch(script, READY, ours + READY, __name__)


def setup(app):
    app.connect("build-finished", write_search, priority=800)
