"""The engine that trains in the page: every operation, every network and Adam against torch, on the same numbers."""

import json

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from lmbook.bert import BERT, MaskedLM
from lmbook.feedforward import FeedForwardLM
from lmbook.figures import bundle
from lmbook.gpt import GPT, gelu_tanh
from lmbook.positions import rotary
from lmbook.rnn_models import RecurrentLM
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq
from lmbook.transformer import Transformer

CLOSE = 1e-4
IN_THE_PAGE = """
const auto = { ...$autograd$, ...$autograd-layers$ }, nets = $networks$;
const node = ([rows, columns, data]) => new auto.Node(rows, columns, Float32Array.from(data));
const numbers = (array) => Array.from(array);
/** The value of an operation, and the gradients of sum(value * c) by its inputs. */
function tried(call, inputs, c) {
  const nodes = inputs.map(node);
  const out = new Function("auto", "x", `return ${call}`)(auto, nodes);
  const back = ([g]) => c.forEach((v, i) => { out.grad[i] += g * v; });
  const loss = new auto.Node(1, 1, new Float32Array(1), [out], back);
  loss.backward();
  return [numbers(out.data), nodes.map((one) => numbers(one.grad))];
}
/** A network with these weights: losses of `call`, the first gradients, and the weights after n steps of Adam. */
function learned(about, weights, call, n, rate, clip) {
  const net = nets.network(about, () => 0.5);
  for (const [name, data] of Object.entries(weights)) net.weights.get(name).data.set(data);
  const adam = new nets.Adam(net.parameters, { clip });
  const run = new Function("auto", "net", `return ${call}`);
  const found = { missing: [...net.weights.keys()].filter((name) => !(name in weights)), losses: [] };
  const all = (what) => Object.fromEntries([...net.weights].map(([name, one]) => [name, numbers(one[what])]));
  for (let i = 0; i < n; i += 1) {
    const L = run(auto, net);
    L.backward();
    if (!i) found.gradients = all("grad");
    adam.step(rate);
    found.losses.push(L.data[0]);
  }
  return { ...found, after: all("data") };
}
"""


@pytest.fixture(scope="module")
def page(bare):
    text = IN_THE_PAGE
    for name in ("autograd", "autograd-layers", "networks"):
        program = bundle.source(f"program-{name}").split("program = ", 1)[1].rstrip("\n;")
        text = text.replace(f"${name}$", f"({program})()")
    bare.add_script_tag(content=text)
    return bare


# --- operations -----------------------------------------------------------------------------------------------------


def heads(x, T, B, n):
    """Rows t B + b to (B, heads, T, d)."""
    return x.unflatten(0, (T, B)).unflatten(2, (n, -1)).permute(1, 2, 0, 3)


def attended(q, k, v, B, n, causal):
    T, N = len(q) // B, len(k) // B
    out = F.scaled_dot_product_attention(heads(q, T, B, n), heads(k, N, B, n), heads(v, N, B, n), is_causal=causal)
    return out.permute(2, 0, 1, 3).flatten(2).flatten(0, 1)


OPERATIONS = {  # what: the call in the page, the shapes of its inputs, the same in torch
    "linear": ("auto.linear(x[0], x[1], x[2])", [(7, 130), (9, 130), (1, 9)], lambda x, W, b: x @ W.T + b),
    "linear without a bias": ("auto.linear(x[0], x[1])", [(4, 6), (8, 6)], lambda x, W: x @ W.T),
    "tanh": ("auto.tanh(x[0])", [(3, 5)], torch.tanh),
    "sigmoid": ("auto.sigmoid(x[0])", [(3, 5)], torch.sigmoid),
    "gelu": ("auto.gelu(x[0])", [(3, 5)], gelu_tanh),
    "exact gelu": ("auto.geluExact(x[0])", [(3, 5)], F.gelu),
    "relu": ("auto.relu(x[0])", [(3, 5)], torch.relu),
    "scaled": ("auto.scaled(x[0], -3)", [(3, 5)], lambda x: -3 * x),
    "turned": (
        "auto.rotary(x[0], 7, 4)",
        [(5, 8)],
        lambda x: torch.cat([rotary(head, 7) for head in x.split(4, 1)], 1),
    ),
    "turned, two texts": (
        "auto.rotary(x[0], 0, 8, 2)",
        [(6, 8)],
        lambda x: rotary(x.unflatten(0, (3, 2)).transpose(0, 1)).transpose(0, 1).flatten(0, 1),
    ),
    "add": ("auto.add(x[0], x[1])", [(4, 5), (4, 5)], torch.add),
    "add a row": ("auto.add(x[0], x[1])", [(4, 5), (1, 5)], torch.add),
    "minus": ("auto.minus(x[0], x[1])", [(4, 5), (4, 5)], torch.sub),
    "times": ("auto.times(x[0], x[1])", [(4, 5), (4, 5)], torch.mul),
    "times itself": ("auto.times(x[0], x[0])", [(4, 5)], lambda x: x * x),
    "gather": ("auto.gather(x[0], [2, 0, 2, 4])", [(5, 3)], lambda E: E[[2, 0, 2, 4]]),
    "gather, two in a row": ("auto.gather(x[0], [2, 0, 2, 4], 2)", [(5, 3)], lambda E: E[[2, 0, 2, 4]].view(2, 6)),
    "slice": ("auto.slice(x[0], 1, 3)", [(4, 3)], lambda x: x[1:3]),
    "stack": ("auto.stack([x[0], x[1], x[0]])", [(2, 3), (1, 3)], lambda x, y: torch.cat([x, y, x])),
    "concat": ("auto.concat(x[0], x[1])", [(4, 3), (4, 2)], lambda x, y: torch.cat([x, y], 1)),
    "layer norm": (
        "auto.layerNorm(x[0], x[1], x[2])",
        [(4, 6), (1, 6), (1, 6)],
        lambda x, g, b: F.layer_norm(x, (6,), g[0], b[0]),
    ),
    "attention": (
        "auto.attention(x[0], x[1], x[2], { B: 3 })",
        [(6, 5), (12, 5), (12, 4)],
        lambda q, k, v: attended(q, k, v, 3, 1, False),
    ),
    "causal attention": (
        "auto.attention(x[0], x[1], x[2], { B: 2, heads: 2, causal: true })",
        [(10, 6), (10, 6), (10, 6)],
        lambda q, k, v: attended(q, k, v, 2, 2, True),
    ),
    "cross-entropy": (
        "auto.crossEntropy(x[0], [2, -1, 0, 6])",
        [(4, 7)],
        lambda z: F.cross_entropy(z, torch.tensor([2, -1, 0, 6]), ignore_index=-1).view(1, 1),
    ),
}  # fmt: skip


def tried(page, call, inputs, c):
    given = [[*x.shape, x.flatten().tolist()] for x in inputs]
    return page.evaluate("([call, inputs, c]) => tried(call, inputs, c)", [call, given, c.flatten().tolist()])


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_and_its_gradients_are_torchs(page, name):
    call, shapes, same = OPERATIONS[name]
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(shape, generator=generator, requires_grad=True) for shape in shapes]
    out = same(*inputs)
    c = torch.randn(out.shape, generator=generator)
    gradients = torch.autograd.grad((out * c).sum(), inputs)
    value, found = tried(page, call, inputs, c)
    assert np.abs(np.array(value) - out.detach().flatten().numpy()).max() < CLOSE
    for theirs, ours in zip(found, gradients, strict=True):
        assert np.abs(np.array(theirs) - ours.flatten().numpy()).max() < CLOSE


def test_the_comparison_of_gradients_can_fail(page):
    x, c = torch.ones(2, 2), torch.ones(2, 2)
    _, [wrong] = tried(page, "auto.stack([x[0]])", [x], c)
    _, [right] = tried(page, "auto.stack([auto.times(x[0], x[0])])", [x], c)
    assert max(abs(a - b) for a, b in zip(wrong, right, strict=True)) > CLOSE


def test_backward_starts_from_one_number(page):
    with pytest.raises(Exception, match="from 2 x 3"):
        page.evaluate("new auto.Node(2, 3).backward()")


# --- networks -------------------------------------------------------------------------------------------------------

B, T, VOCAB = 3, 5, 11
IDS = np.random.default_rng(0).integers(5, VOCAB, size=(T + 1, B))
ROWS, NEXT = json.dumps(IDS[:-1].flatten().tolist()), json.dumps(IDS[1:].flatten().tolist())
TOKENS, TARGETS = torch.tensor(IDS[:-1].T), torch.tensor(IDS[1:].T)
LANGUAGE = f"auto.crossEntropy(net.run({ROWS}, {B}, net.start({B})).logits, {NEXT})"
LAST = json.dumps(IDS[-1].tolist())
ANSWER = f"auto.crossEntropy(net.run({ROWS}, {B}, net.start({B}), {{ last: true }}).logits, {LAST})"
TRANSLATION = f"auto.crossEntropy(net.run({ROWS}, {B}, net.start({ROWS}, {B})).logits, {NEXT})"
ENCODER = {"vocab": VOCAB, "d_embed": 4, "hidden": 6}
GPT_ABOUT = {"class": "GPT", "window": T, "d_model": 8, "heads": 2, "n_layers": 2, "deviation": 0.1}


def text_loss(model):
    return F.cross_entropy(model(TOKENS).flatten(0, 1), TARGETS.flatten())


def answer_loss(model):
    return F.cross_entropy(model(TOKENS)[:, -1], TARGETS[:, -1])


def pair_loss(model):
    return F.cross_entropy(model(TOKENS, TOKENS).flatten(0, 1), TARGETS.flatten())


def attention():
    return AttentionSeq2Seq(RecurrentEncoder(VOCAB, 4, 6), VOCAB, 4, 6, attention="luong", score="scaled")


MODELS = {  # what: the network in the page, the call, the package's model, its loss
    "feed-forward": (
        {"class": "FeedForwardLM", "d_model": 4, "hidden": 6, "window": 3},
        LANGUAGE,
        lambda: FeedForwardLM(VOCAB, 4, 6, window=3, bias=True),
        text_loss,
    ),
    "rnn": ({"class": "RecurrentLM", "cell": "rnn"}, LANGUAGE, lambda: RecurrentLM(VOCAB, 4, 6, cell="rnn"), text_loss),
    "lstm, one answer": (
        {"class": "RecurrentLM", "cell": "lstm"},
        ANSWER,
        lambda: RecurrentLM(VOCAB, 4, 6, cell="lstm"),
        answer_loss,
    ),
    "gpt": (
        GPT_ABOUT,
        LANGUAGE,
        lambda: GPT(VOCAB, T, 8, n_heads=2, n_layers=2, activation=gelu_tanh),
        text_loss,
    ),
    "gpt, rotary": (
        {**GPT_ABOUT, "positions": "rotary"},
        LANGUAGE,
        lambda: GPT(VOCAB, T, 8, n_heads=2, n_layers=2, positions="rotary", activation=gelu_tanh),
        text_loss,
    ),
    "one vector": (
        {"class": "Seq2Seq", "attention": False},
        TRANSLATION,
        lambda: Seq2Seq(RecurrentEncoder(VOCAB, 4, 6), VOCAB, 4, 6),
        pair_loss,
    ),
    "attention": ({"class": "Seq2Seq", "attention": True}, TRANSLATION, attention, pair_loss),
    "bert": (
        {"class": "MaskedLM", "window": T, "d_model": 8, "heads": 2, "n_layers": 2, "deviation": 0.1},
        f"auto.crossEntropy(net.at([1, 4, 9], {ROWS}, {B}), [5, 6, 7])",
        lambda: MaskedLM(BERT(VOCAB, T, 8, n_heads=2, d_ff=32, n_layers=2, dropout=0.0)),
        lambda model: F.cross_entropy(model(TOKENS)[[1, 1, 0], [0, 1, 3]], torch.tensor([5, 6, 7])),  # row t B + b
    ),
    "transformer": (
        {"class": "Transformer", "d_model": 8, "heads": 2, "n_layers": 2, "deviation": 0.1},
        f"auto.crossEntropy(net.run({ROWS}, {ROWS}, {B}), {NEXT})",
        lambda: Transformer(VOCAB, VOCAB, 8, n_heads=2, d_ff=32, n_layers=2, dropout=0.0, norm="pre"),
        pair_loss,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_network_its_gradients_and_twenty_steps_of_adam_are_torchs(page, name):
    """The gradient is cut to a norm that it has more than: so clipping is compared as well."""
    about, call, build, loss = MODELS[name]
    torch.manual_seed(0)
    model = build()
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.5 * torch.randn(weight.shape))
    named = dict(model.named_parameters())
    given = {key: weight.flatten().tolist() for key, weight in named.items()}
    adam, losses, gradients = torch.optim.Adam(model.parameters(), lr=0.01), [], {}
    for step in range(20):
        adam.zero_grad()
        value = loss(model)
        value.backward()
        if step == 0:
            gradients = {key: weight.grad.clone() for key, weight in named.items()}
        assert torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5) > 0.5 or step
        adam.step()
        losses.append(value.item())
    found = page.evaluate("(given) => learned(...given)", [ENCODER | about, given, call, 20, 0.01, 0.5])
    assert found["missing"] in ([], ["output.weight"])  # the GPT's output is its embedding
    assert np.abs(np.array(found["losses"]) - losses).max() < CLOSE
    for key, weight in named.items():
        assert np.abs(np.array(found["gradients"][key]) - gradients[key].flatten().numpy()).max() < CLOSE, key
        if gradients[key].abs().max() > 1e-6:  # b_k shifts all scores of a query alike: its gradient is only rounding
            assert np.abs(np.array(found["after"][key]) - weight.detach().flatten().numpy()).max() < CLOSE, key
