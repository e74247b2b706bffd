// networks.mjs: the networks that are trained in the page: the book's models (gpt.mjs, recurrent.mjs, seq2seq.mjs, and
// Bengio's below), begun with weights as in Python, from numbers of another generator.
//
//   const net = network({ class: "RecurrentLM", cell: "lstm", vocab, d_embed, hidden }, random);
//   const { logits, state } = net.run(ids, B, net.start(B));        logits of all steps, row t B + b
//
// net.weights: a Map from the names in Python to Nodes.
import { Node, gather, tanh } from "./autograd.mjs";
import { MaskedLM } from "./bert.mjs";
import { SOS } from "./bytepairs.mjs";
import { kept, kernels } from "./kernels.mjs";
import { GPT } from "./gpt.mjs";
import { affine } from "./layers.mjs";
import { RecurrentLM } from "./recurrent.mjs";
import { AttentionSeq2Seq, Seq2Seq } from "./seq2seq.mjs";
import { Transformer } from "./transformer.mjs";

/** Bengio's model: e = [E w_{t-n+1}; ..; E w_t], h = tanh(W e + d), logits = U h + b. */
class FeedForwardLM {
  constructor(w, { window }) {
    this.window = window;
    this.embedding = w("embedding.weight");
    this.W = affine(w, "W");
    this.U = affine(w, "output");
  }

  /** The state before the first token: the window - 1 tokens before it, all <sos>. */
  start(B) {
    return new Array((this.window - 1) * B).fill(SOS);
  }

  run(ids, B, before) {
    const text = [...before, ...ids];
    const windows = ids.flatMap((_, r) => Array.from({ length: this.window }, (__, k) => text[r + k * B]));
    const hidden = tanh(this.W(gather(this.embedding, windows, this.window)));
    return { logits: this.U(hidden), state: text.slice(ids.length) };
  }
}

// How weights begin: fill(random) gives one after the other.
const constant = (value) => () => () => value;
const uniform = (bound) => (random) => () => bound * (2 * random() - 1);
/** Half of a normal pair from two uniform numbers (Box and Muller 1958). */
const normal = (deviation) => (random) => () =>
  deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** As torch begins its linear layers. */
const linear = (name, inputs, outputs) => [
  [`${name}.weight`, outputs, inputs, uniform(inputs ** -0.5)],
  [`${name}.bias`, 1, outputs, uniform(inputs ** -0.5)],
];

/** The output of a recurrent model: small weights, bias 0. */
const output = (inputs, vocab) => [
  ["output.weight", vocab, inputs, uniform(0.1)],
  ["output.bias", 1, vocab, constant(0)],
];

const GATES = { rnn: ["h"], lstm: ["i", "f", "g", "o"], gru: ["r", "z", "n"] };

function cell(kind, name, inputs, hidden) {
  const bias = (b, value = 0) => [`${name}.${b}`, 1, hidden, constant(value)];
  const W = (side, columns) =>
    GATES[kind].map((k) => [`${name}.W_${side}${k}`, hidden, columns, uniform(hidden ** -0.5)]);
  const biases =
    kind === "rnn" ? [bias("b")] : GATES[kind].map((k) => bias(`b_${k}`, kind === "lstm" && k === "f" ? 1 : 0));
  return [...W("x", inputs), ...W("h", hidden), ...biases, ...(kind === "gru" ? [bias("b_hn")] : [])];
}

/** A map of a Transformer: weights of one deviation, bias 0. */
const map = (name, inputs, outputs, deviation) => [
  [`${name}.weight`, outputs, inputs, normal(deviation)],
  [`${name}.bias`, 1, outputs, constant(0)],
];
const norm = (name, d) => [
  [`${name}.weight`, 1, d, constant(1)],
  [`${name}.bias`, 1, d, constant(0)],
];

/** The layers below `name`, their norms before ("pre") or behind ("post") each sublayer; cross: they read a source. */
function layers(name, about, place, cross = false) {
  const { d_model, n_layers, deviation } = about;
  const sublayers = cross ? 3 : 2;
  const writes = deviation * (1 / Math.sqrt(sublayers * n_layers)); // so many outputs add up
  const attention = (part) => [
    ...["q", "k", "v"].flatMap((k) => map(`${part}.W_${k}`, d_model, d_model, deviation)),
    ...map(`${part}.W_o`, d_model, d_model, writes),
  ];
  return Array.from({ length: n_layers }, (_, i) => `${name}.${i}`).flatMap((layer) => [
    ...attention(`${layer}.attention`),
    ...(cross ? attention(`${layer}.cross`) : []),
    ...map(`${layer}.ffn.W_1`, d_model, 4 * d_model, deviation),
    ...map(`${layer}.ffn.W_2`, 4 * d_model, d_model, writes),
    ...Array.from({ length: sublayers }, (_, k) => norm(`${layer}.${place}_${k + 1}`, d_model)).flat(),
  ]);
}

/** Of each network the model, what describes it, and its weights: [name, rows, columns, how they begin]. */
const NETWORKS = {
  FeedForwardLM: ({ vocab, d_model, hidden, window }) => ({
    Kind: FeedForwardLM,
    about: { window },
    weights: [
      ["embedding.weight", vocab, d_model, normal(1)],
      ...linear("W", window * d_model, hidden),
      ...linear("output", hidden, vocab),
    ],
  }),

  RecurrentLM: ({ cell: kind, vocab, d_embed, hidden }) => ({
    Kind: RecurrentLM,
    about: { cell: kind },
    weights: [
      ["embedding.weight", vocab, d_embed, uniform(0.1)],
      ...cell(kind, "recurrent.layers.0.0", d_embed, hidden),
      ...output(hidden, vocab),
    ],
  }),

  /** Positions learned or rotary, the output tied to the embeddings. */
  GPT: ({ vocab, window, heads, positions = "learned", ...about }) => ({
    Kind: GPT,
    about: { n_heads: heads, window },
    weights: [
      ["embedding.weight", vocab, about.d_model, normal(about.deviation)],
      ...(positions === "learned" ? [["position.table.weight", window, about.d_model, normal(about.deviation)]] : []),
      ...layers("layers", about, "pre"),
      ...norm("norm", about.d_model),
    ],
    tied: { "output.weight": "embedding.weight" },
  }),

  /** BERT under its head, which is tied to the embeddings. */
  MaskedLM: ({ vocab, window, heads, ...about }) => ({
    Kind: MaskedLM,
    about: { bert: { n_heads: heads, window } },
    weights: [
      ["bert.embedding.weight", vocab, about.d_model, normal(about.deviation)],
      ["bert.position.table.weight", window, about.d_model, normal(about.deviation)],
      ["bert.segment.weight", 2, about.d_model, normal(about.deviation)],
      ...norm("bert.norm", about.d_model),
      ...layers("bert.encoder.layers", about, "post"),
      ...map("W", about.d_model, about.d_model, about.deviation),
      ...norm("norm", about.d_model),
      ["output.bias", 1, vocab, constant(0)],
    ],
    tied: { "output.weight": "bert.embedding.weight" },
  }),

  /** Norms before the sublayers, sinusoidal positions, the output tied to the embeddings of the target. */
  Transformer: ({ vocab, heads, ...about }) => ({
    Kind: Transformer,
    about: { n_heads: heads, positions: "sinusoidal" },
    weights: [
      ["source.embedding.weight", vocab, about.d_model, normal(about.deviation)],
      ["target.embedding.weight", vocab, about.d_model, normal(about.deviation)],
      ...layers("encoder.layers", about, "pre"),
      ...norm("encoder.norm", about.d_model),
      ...layers("decoder.layers", about, "pre", true),
      ...norm("decoder.norm", about.d_model),
    ],
    tied: { "output.weight": "target.embedding.weight" },
  }),

  /**
   * An encoder-decoder of one GRU each.  attention: false, the decoder starts from the encoder's last state and hears
   * no more of the source; true, it looks back after each step (Luong et al. 2015) with the scaled score s W h /
   * sqrt(m).
   */
  Seq2Seq: ({ vocab, d_embed, hidden, attention }) => ({
    Kind: attention ? AttentionSeq2Seq : Seq2Seq,
    about: { encoder: { cell: "gru" }, cell: "gru", attention: "luong", score: "scaled" },
    weights: [
      ["encoder.embedding.weight", vocab, d_embed, normal(1)],
      ...cell("gru", "encoder.recurrent.layers.0.0", d_embed, hidden),
      ["embedding.weight", vocab, d_embed, normal(1)],
      ...cell("gru", "decoder.layers.0.0", d_embed, hidden),
      ...(attention ? [["score.W.weight", hidden, hidden, uniform(hidden ** -0.5)]] : []),
      ...(attention ? [["W_r.weight", hidden, 2 * hidden, uniform((2 * hidden) ** -0.5)]] : []),
      ...output(hidden, vocab),
    ],
  }),
};

/** A network with the weights that it begins with. */
export function network(given, random) {
  const { Kind, about, weights: list, tied = {} } = NETWORKS[given.class](given);
  const weights = new Map();
  for (const [name, rows, columns, begin] of list) {
    const numbers = Float32Array.from({ length: rows * columns }, begin(random));
    const node = new Node(rows, columns, kept(numbers));
    node.grad = kept(numbers); // not among what a step allocates
    weights.set(name, node);
  }
  const parameters = [...weights.values()];
  for (const [name, source] of Object.entries(tied)) weights.set(name, weights.get(source));
  return Object.assign(new Kind((name) => weights.get(name), about), { weights, parameters });
}

/**
 * Adam (Kingma and Ba 2015) on the weights of a network, as torch.optim.Adam; gradients longer than `clip` together are
 * shortened.
 */
export class Adam {
  constructor(parameters, { clip = Infinity, beta_1 = 0.9, beta_2 = 0.999, eps = 1e-8 } = {}) {
    const zeros = () => parameters.map(({ data }) => kept(new Float32Array(data.length)));
    this.parameters = parameters;
    this.options = { clip, beta_1, beta_2, eps };
    this.m = zeros();
    this.v = zeros();
    this.steps = 0;
  }

  step(rate) {
    this.steps += 1;
    const { steps } = this;
    const { clip, beta_1, beta_2, eps } = this.options;
    let square = 0;
    for (const { grad } of this.parameters) for (let i = 0; i < grad.length; i += 1) square += grad[i] * grad[i];
    const shorter = Math.min(1, clip / (Math.sqrt(square) + 1e-6));
    const first = 1 - beta_1 ** steps;
    const second = Math.sqrt(1 - beta_2 ** steps);
    const { adam } = kernels();
    this.parameters.forEach(({ data, grad }, k) =>
      adam(data, this.m[k], this.v[k], grad, data.length, shorter, beta_1, beta_2, rate / first, 1 / second, eps),
    );
    return Math.sqrt(square);
  }
}
