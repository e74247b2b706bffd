"""The engine in the page: on the shipped files it computes what torch does, and it cuts text as the package does."""

import base64
import random
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from lmbook.bert import MASK_ID
from lmbook.decode import greedy
from lmbook.figures import bundle
from lmbook.lab import checkpoints
from lmbook.lab.configuration import configuration
from lmbook.lab.typed import cut
from lmbook.lab.word_shapes import WordForms
from lmbook.rnn_models import Classifier, RecurrentLM, Tagger
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq
from lmbook.text import EOS_ID, SOS_ID, BytePairTokenizer, CharTokenizer, Vocabulary, WordTokenizer
from lmbook.transformer import Transformer
from lmbook.word2vec import principal_components

CLOSE = 1e-4
TRANSLATORS = (
    "multi30k-transformer",
    "multi30k-additive",
    "caption-ladder",
    "caption-scores",
    "harbourish",
    "addition",
    "recall-32",
    "recall-64",
    "recall-128",
)

IN_THE_PAGE = """
const { bytes, cut, modelOf, plane, textOf } = program();
const models = new Map();
const put = (name, file, about) => { models.set(name, modelOf(bytes(file), about)); };
const flat = (rows) => [rows].flat(Infinity).flatMap((part) => {   // of numbers, lists, typed lists and matrices
  const list = part.data ?? part;
  return ArrayBuffer.isView(list) ? Array.from(list) : list;
});
function packed(numbers) {                                    // as base64: a page hands over a text faster than a list
  const data = new Uint8Array(Float64Array.from(numbers).buffer);
  let text = "";
  for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192));
  return btoa(text);
}
const looks = (trace) => (trace ?? []).filter((one) => one.weights).map((one) => one.weights);
// All that comes out for a list of inputs, one number after the other, in the order of the references in Python.
const outputs = {
  translated: (model, [source, target]) => {                  // teacher forcing: logits, then what each side looked at
    let state = model.start(source);
    const [logits, seen] = [[], (state.source ?? []).map(looks)];
    for (const id of target) {
      const step = model.step(id, state);
      ({ state } = step);
      logits.push(step.logits);
      seen.push(looks(step.trace));
    }
    return [logits, seen];
  },
  read: (model, ids) => {                                     // a language model: logits, and the last state
    let state = model.start();
    const logits = [];
    for (const id of ids) { const step = model.step(id, state); ({ state } = step); logits.push(step.logits); }
    return [logits, state];
  },
  said: (model, ids) => flat(model.run(ids)).map(Math.log),
  likened: (model, id) => {                                   // cosines with every word; twelve words in a plane
    const rows = Array.from({ length: 12 }, (_, k) => model.rows[(id + 31 * k) % model.rows.length]);
    return [model.cosines(id), plane(rows).points];
  },
  judged: (model, greys) => Array.from(model.run(greys).p, Math.log),
  filled: (model, ids) => { const { p, trace } = model.run(ids); return [flat(p).map(Math.log), trace.map(looks)]; },
};
const all = (what, name, inputs) => packed(inputs.flatMap((input) => flat(outputs[what](models.get(name), input))));
"""


@pytest.fixture(scope="module")
def call(browser):
    """A page that holds the engine; put(name, file, about) puts a model there, model(name) a shipped one, once."""
    page, there = browser.new_page(), {}
    own = bundle.source("program-engine").removeprefix("export ")
    page.add_script_tag(content=own + "\n" + IN_THE_PAGE)

    def put(name, data, model):
        page.evaluate("([name, file, about]) => put(name, file, about)", [name, base64.b64encode(data).decode(), model])

    def shipped(name):
        if name not in there:
            there[name] = checkpoints.load(name)
            put(name, (checkpoints.TRAINED / f"{name}.safetensors").read_bytes(), there[name].card["model"])
        return there[name]

    yield SimpleNamespace(page=page, put=put, model=shipped)
    page.close()


def random_ids(generator, vocab, most=6):
    return generator.integers(5, vocab, size=generator.integers(1, most + 1)).tolist()


def rows(weights, t):
    """The weights of query t in every attention, (causal, weights), as the engine has them: a causal row ends at t."""
    return [w[0, :, t, : t + 1] if causal else w[0, :, t] for causal, w in weights]


def translated(model, pair):
    """Logits (T, vocab), then the weights of every attention, position after position."""
    x, y = (torch.tensor([ids]) for ids in pair)
    first, seen = [], []
    if isinstance(model, Transformer):
        memory, first = model.encoder(model.source(x), need_weights=True)
        h = model.target(y)
        for layer in model.decoder.layers:
            seen.append((True, layer.attention(*[layer.pre_1(h)] * 3, causal=True, need_weights=True)[1]))
            h, cross = layer(h, memory, None, need_weights=True)
            seen.append((False, cross))
        logits = model(x, y)
    elif isinstance(model, AttentionSeq2Seq):
        logits, alpha = model(x, y, need_weights=True)
        seen = [(False, alpha.unsqueeze(1))]
    else:
        logits = model(x, y)
    first = [row for i in range(len(pair[0])) for row in rows([(False, w) for w in first], i)]
    return [logits, *first, *(row for t in range(len(pair[1])) for row in rows(seen, t))]


def read(model, ids):
    logits, state = model.run(torch.tensor([ids]))
    return [logits, *(part for layer in state for part in layer)]


def said(model, ids):
    return [torch.log_softmax(model(torch.tensor([ids])), -1)]


def filled(model, ids):
    _, weights = model.bert(torch.tensor([ids]), need_weights=True)
    seen = [row for t in range(len(ids)) for row in rows([(False, w) for w in weights], t)]
    return [*said(model, ids), *seen]


def worst(call, what, name, model, inputs):
    """The largest difference between the page and torch, over all numbers that come out for all inputs."""
    text = call.page.evaluate("([what, name, inputs]) => all(what, name, inputs)", [what.__name__, name, list(inputs)])
    theirs = np.frombuffer(base64.b64decode(text))
    with torch.no_grad():
        ours = np.concatenate([part.flatten().numpy() for one in inputs for part in what(model, one)])
    assert theirs.shape == ours.shape
    return np.abs(theirs - ours).max()


@pytest.fixture
def inputs(request) -> int:
    """How many inputs are drawn for each model: a quarter of them on a push, all where no mark is left out."""
    return 25 if request.config.option.markexpr else 100


# --- the shipped models ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRANSLATORS)
def test_translators_are_torchs(call, name, inputs):
    model, _, _ = call.model(name)
    generator = np.random.default_rng(0)
    sides = (model.source, model.target) if isinstance(model, Transformer) else (model.encoder, model)
    types = [side.embedding.num_embeddings for side in sides]
    pairs = [[random_ids(generator, types[0]), [SOS_ID, *random_ids(generator, types[1], 3)]] for _ in range(inputs)]
    assert worst(call, translated, name, model, pairs) < CLOSE


@pytest.mark.parametrize("name", ["recall-32", "recall-64", "recall-128"])
def test_memories_of_symbols_are_torchs_and_write_the_same(call, name, inputs):
    """Sources of 1 to 40 symbols: every logit, read and written backwards; and what is written without being told."""
    model, _, _ = call.model(name)
    generator = np.random.default_rng(7)
    sources = [generator.integers(5, 21, 1 + 7 * i % 40).tolist() for i in range(inputs)]
    pairs = [[ids, [SOS_ID, *ids[:0:-1]]] for ids in sources]
    assert worst(call, translated, name, model, pairs) < CLOSE
    data = base64.b64encode((checkpoints.TRAINED / f"{name}.safetensors").read_bytes()).decode()
    theirs = call.page.evaluate(
        """([name, file, card, all]) => { const own = program().engine(); own.load({ name, file: bytes(file), card });
          return all.map((ids) => own.symbols({ name, ids })); }""",
        [name, data, bundle.weights(name)[1], sources],
    )
    ours = [greedy(model, torch.tensor([ids]), len(ids), eos=None, forbid=range(5))[0][0] for ids in sources]
    assert theirs == ours


@pytest.mark.parametrize("name", ["shakespeare-rnn", "shakespeare-gru", "shakespeare-lstm"])
def test_language_models_are_torchs(call, name, inputs):
    model, _, _ = call.model(name)
    generator = np.random.default_rng(1)
    texts = [random_ids(generator, model.embedding.num_embeddings, 12) for _ in range(inputs)]
    assert worst(call, read, name, model, texts) < CLOSE


@pytest.mark.parametrize("name", ["ewt-lstm", "ewt-left", "sms-spam", "sms-spam-left"])
def test_taggers_and_classifiers_are_torchs(call, name, inputs):
    model, _, _ = call.model(name)
    generator = np.random.default_rng(2)
    texts = [random_ids(generator, model.embedding.num_embeddings, 12) for _ in range(inputs)]
    assert worst(call, said, name, model, texts) < CLOSE


def test_bert_is_torchs_with_every_weight_of_attention(call, inputs):
    model, _, _ = call.model("bert-wikitext2")
    generator = np.random.default_rng(3)
    texts = [[SOS_ID, *random_ids(generator, model.bert.vocab), EOS_ID] for _ in range(inputs)]
    for ids in texts:
        ids[int(generator.integers(len(ids)))] = MASK_ID
    assert worst(call, filled, "bert-wikitext2", model, texts) < CLOSE


def judged(model, greys):
    return [torch.log_softmax(model(torch.tensor([greys]).view(1, 8, 8).float()), -1)]


def test_the_classifier_of_patches_is_torchs(call, inputs):
    model, _, _ = call.model("digits-patches")
    images = np.random.default_rng(5).integers(0, 17, (inputs, 64)).tolist()
    assert worst(call, judged, "digits-patches", model.eval(), images) < CLOSE


def likened(model, i):
    vectors = model.v.weight.double()
    cosines = torch.nn.functional.cosine_similarity(vectors, vectors[i : i + 1])
    return [cosines, principal_components(vectors[[(i + 31 * k) % len(vectors) for k in range(12)]])]


def test_cosines_and_planes_of_word_vectors_are_torchs(call, inputs):
    model, _, _ = call.model("skip-gram-page")
    assert worst(call, likened, "skip-gram-page", model, range(5, 5 + 24 * inputs, 24)) < CLOSE


def test_the_comparison_can_fail(call):
    """One weight that is another: the difference is seen."""
    model, _, _ = checkpoints.load("caption-ladder")
    call.model("caption-ladder")
    with torch.no_grad():
        model.decoder.layers[1].cross.W_k.weight[0, 0] += 0.5
    assert worst(call, translated, "caption-ladder", model, [[[7, 8, 9], [SOS_ID, 6, 7]]]) > CLOSE


# --- what the shipped models do not use -----------------------------------------------------------------------------


def small(kind, encoder=None, hidden=12, **options):
    """An untrained model of any shape that the engine reads, with weights that make a difference."""
    if kind is Transformer:
        model = Transformer(20, 20, 8, 2, 16, 2, dropout=0.0, **options)
    elif kind in (Seq2Seq, AttentionSeq2Seq):
        reading = RecurrentEncoder(20, 8, 6, **{"cell": "gru", "bidirectional": True} | (encoder or {}))
        model = kind(reading, 20, 8, hidden, **options)
    else:
        model = kind(20, *([4] if kind in (Tagger, Classifier) else []), 8, 6, **options)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.4 * torch.randn(weight.shape))
    return model.eval()


SHAPES = [
    {"kind": Transformer, "positions": "learned", "norm": "post", "tied": "none"},
    {"kind": Transformer, "positions": "rotary", "scaled": False},
    {"kind": Transformer, "positions": "none", "tied": "all"},
    {"kind": Seq2Seq, "encoder": {"cell": "lstm", "n_layers": 2}, "n_layers": 2, "cell": "lstm"},
    {"kind": Seq2Seq, "encoder": {"cell": "rnn", "n_layers": 2}, "n_layers": 3, "context": "every"},
    {"kind": Seq2Seq, "encoder": {"bidirectional": False}, "hidden": 6},
    {"kind": AttentionSeq2Seq, "attention": "luong", "score": "dot"},
    {"kind": AttentionSeq2Seq, "attention": "luong", "score": "scaled", "cell": "lstm"},
    {"kind": AttentionSeq2Seq, "attention": "bahdanau", "score": "multiplicative", "n_layers": 2},
    {"kind": AttentionSeq2Seq, "attention": "luong", "score": "additive", "d_a": 5, "reset": "before"},
    {"kind": RecurrentLM, "n_layers": 3, "cell": "lstm"},
    {"kind": RecurrentLM, "n_layers": 2, "cell": "gru", "reset": "before"},
    {"kind": Tagger, "n_layers": 2, "cell": "rnn"},
    {"kind": Classifier, "n_layers": 2, "cell": "gru"},
    {"kind": Classifier, "pool": "mean", "bidirectional": False},
]


@pytest.mark.parametrize(
    "shape", SHAPES, ids=lambda shape: "-".join(map(str, [shape["kind"].__name__, *shape.values()][2:]))
)
def test_every_shape_is_torchs(call, shape, tmp_path):
    torch.manual_seed(0)
    model, file = small(**shape), tmp_path / "small.safetensors"
    checkpoints.save(file, model, dict.fromkeys(checkpoints.CARD, "test"))
    checkpoints.load_weights(file, model)
    call.put("small", file.read_bytes(), configuration(model))
    generator = np.random.default_rng(4)
    inputs = [random_ids(generator, 20) for _ in range(10)]
    if hasattr(model, "encoder"):
        what, inputs = translated, [[ids, [SOS_ID, *ids[::-1]]] for ids in inputs]
    else:
        what = read if isinstance(model, RecurrentLM) else said
    assert worst(call, what, "small", model, inputs) < CLOSE


def test_a_file_that_is_cut_says_so(call):
    data = (checkpoints.TRAINED / "shakespeare-rnn.safetensors").read_bytes()
    _, _, card = checkpoints.load("shakespeare-rnn")
    for wrong in (data[:-1], data[:200], b"", b"<!doctype html><title>404</title>" * 9):
        with pytest.raises(Exception, match="cut, or is no checkpoint"):
            call.put("cut", wrong, card["model"])
    with pytest.raises(Exception, match="the page has no Oracle"):
        call.put("other", data, {"class": "lmbook.other.Oracle"})


# --- text -----------------------------------------------------------------------------------------------------------

PIECES = [
    *"aeinrstABEZÄÖÜßéñøŁ0123456789.,:;!?'’\"-_/()[]{}<>@#&%$€ \t\n\u00a0\u200b\ufeff²½ⅧΣςіжي港は😀👩\u0301\u0130",
    *("the", "Ein", "und", "isn't", "John's", "http://a.b/c", "www.x", "a@b.cd", "#tag", "@name", "U.S.", "1,000"),
    *("3.14", "e-mail", "iPhone", "NATO", "<unk>", "ing"),
]


def strings(n, seed=0):
    generator = random.Random(seed)
    return ["".join(generator.choices(PIECES, k=generator.randint(0, 12))) for _ in range(n)]


def tokenizers():
    text = "\n".join(strings(300, seed=1))
    forms = WordForms(
        [word for word in cut(text) if word not in ("<unk>",)][:1], ["<xx->", "<Xx-ing>", "<0->", "<.->", "<xx-s>"]
    )
    words = sorted({*text.split(), "the"})
    return {
        "bytes": BytePairTokenizer.train(text, 300),
        "characters": CharTokenizer.train(text),
        "words": WordTokenizer(Vocabulary.build(text.lower().split())),
        "forms": forms,
        "shipped": checkpoints.load("multi30k-transformer").text,
        "ewt": checkpoints.load("ewt-lstm").text,
        "blanks": checkpoints.load("caption-ladder").text[0],
        "all": WordTokenizer(Vocabulary(words)),
    }


@pytest.mark.parametrize("name", ["bytes", "characters", "words", "forms", "shipped", "ewt", "blanks", "all"])
def test_text_is_cut_and_numbered_as_in_python(call, name):
    tokenizer, texts = tokenizers()[name], strings(2000)
    about = configuration(tokenizer)
    if isinstance(tokenizer, WordForms):
        wanted = [tokenizer.encode(cut(text)).tolist() for text in texts]
        theirs = call.page.evaluate(
            "([about, texts]) => { const t = textOf(about); return texts.map((x) => t.encode(cut(x))); }",
            [about, texts],
        )
    else:
        wanted = [tokenizer.encode(text) for text in texts]
        code = "([about, texts]) => { const t = textOf(about); return texts.map((x) => t.encode(x)); }"
        theirs = call.page.evaluate(code, [about, texts])
        back = call.page.evaluate(
            "([about, ids]) => { const t = textOf(about); return ids.map((x) => t.decode(x)); }", [about, wanted]
        )
        assert back == [tokenizer.decode(ids) for ids in wanted]
    assert theirs == wanted


def test_typed_text_is_cut_the_same_here_and_in_the_page(call):
    assert cut("Isn't the ship's captain, e.g. Dr. O'Neil, 1,000 miles off?") == [
        *("Is", "n't", "the", "ship", "'s", "captain", ",", "e.g.", "Dr", ".", "O'Neil", ","),
        *("1,000", "miles", "off", "?"),
    ]  # fmt: skip
    texts = strings(3000, seed=2)
    assert call.page.evaluate("(texts) => texts.map((text) => cut(text))", texts) == [cut(text) for text in texts]
