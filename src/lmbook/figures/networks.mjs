// networks.mjs: the networks that are trained in the page, on autograd.mjs: the book's models, with the weights' names
// in Python.
//
//   const network = new RecurrentLM({ cell: "lstm", vocab, d_embed, hidden }, random);
//   const { logits, state } = network.run(ids, B, network.start(B));        logits of all steps, row t B + b
//
// weights: a Map from names to Nodes. They start as in Python, from numbers of another generator.
import {
  Node,
  add,
  attention,
  concat,
  gather,
  gelu,
  layerNorm,
  linear,
  minus,
  sigmoid,
  slice,
  stack,
  tanh,
  times,
} from "./autograd.mjs";

const SOS = 2;

/** Two halves of a normal pair from two uniform numbers (Box and Muller 1958). */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

class Network {
  constructor(random) {
    this.weights = new Map();
    this.random = random;
  }

  weight(name, rows, columns, draw) {
    const node = new Node(rows, columns);
    for (let i = 0; i < node.data.length; i += 1) node.data[i] = draw();
    this.weights.set(name, node);
    return node;
  }

  uniform(name, rows, columns, bound) {
    return this.weight(name, rows, columns, () => bound * (2 * this.random() - 1));
  }

  normal(name, rows, columns, deviation) {
    return this.weight(name, rows, columns, () => deviation * normal(this.random));
  }

  constant(name, columns, value = 0) {
    return this.weight(name, 1, columns, () => value);
  }

  /** x -> W x + b, started as torch's linear layers are. */
  linear(name, inputs, outputs, bias = true) {
    const W = this.uniform(`${name}.weight`, outputs, inputs, inputs ** -0.5);
    const b = bias ? this.uniform(`${name}.bias`, 1, outputs, inputs ** -0.5) : null;
    return (x) => linear(x, W, b);
  }

  /** The output of a recurrent model: small weights, bias 0. */
  output(inputs, vocab) {
    const W = this.uniform("output.weight", vocab, inputs, 0.1);
    const b = this.constant("output.bias", vocab);
    return (x) => linear(x, W, b);
  }

  /** A cell: its product with all inputs at once, and one step from that and the state. */
  cell(kind, name, inputs, hidden) {
    const W = (part, width) => this.uniform(`${name}.W_${part}`, hidden, width, hidden ** -0.5);
    const bias = (part, value = 0) => this.constant(`${name}.b${part && `_${part}`}`, hidden, value);
    return CELLS[kind](W, bias, inputs, hidden);
  }

  get parameters() {
    return [...new Set(this.weights.values())];
  }

  /** As the models that only compute want them: arrays with a shape. */
  arrays() {
    return new Map(
      [...this.weights].map(([name, { rows, columns, data }]) => [
        name,
        Object.assign(data, { shape: [rows, columns] }),
      ]),
    );
  }
}

/** Of each cell: gates of all inputs X, and step(those of one t, state), the next state. A state is [h], or [h, c]. */
const CELLS = {
  /** h_t = tanh(W_hh h_{t-1} + W_xh x_t + b) */
  rnn(W, bias, inputs, hidden) {
    const W_x = W("xh", inputs);
    const W_h = W("hh", hidden);
    const b = bias("");
    return { parts: 1, gates: (X) => [linear(X, W_x, b)], step: ([x], [h]) => [tanh(add(linear(h, W_h), x))] };
  },

  /** c_t = f * c_{t-1} + i * g      h_t = o * tanh(c_t) */
  lstm(W, bias, inputs, hidden) {
    const W_x = ["i", "f", "g", "o"].map((k) => W(`x${k}`, inputs));
    const W_h = ["i", "f", "g", "o"].map((k) => W(`h${k}`, hidden));
    const b = ["i", "f", "g", "o"].map((k) => bias(k, k === "f" ? 1 : 0));
    return {
      parts: 2,
      gates: (X) => W_x.map((W_xk, k) => linear(X, W_xk, b[k])),
      step(x, [h, c]) {
        const [i, f, g, o] = x.map((x_k, k) => (k === 2 ? tanh : sigmoid)(add(linear(h, W_h[k]), x_k)));
        const memory = add(times(f, c), times(i, g));
        return [times(o, tanh(memory)), memory];
      },
    };
  },

  /** n = tanh(W_xn x + b_n + r * (W_hn h + b_hn))      h_t = n + z * (h_{t-1} - n) */
  gru(W, bias, inputs, hidden) {
    const W_x = ["r", "z", "n"].map((k) => W(`x${k}`, inputs));
    const W_h = ["r", "z", "n"].map((k) => W(`h${k}`, hidden));
    const b = ["r", "z", "n"].map((k) => bias(k));
    const b_hn = bias("hn");
    return {
      parts: 1,
      gates: (X) => W_x.map((W_xk, k) => linear(X, W_xk, b[k])),
      step(x, [h]) {
        const [r, z] = [0, 1].map((k) => sigmoid(add(linear(h, W_h[k]), x[k])));
        const n = tanh(add(x[2], times(r, linear(h, W_h[2], b_hn))));
        return [add(n, times(z, minus(h, n)))];
      },
    };
  },
};

/** A cell along X, T B rows, from a state: all h below each other, and the last state. */
function along(cell, X, B, state) {
  const gates = cell.gates(X);
  const H = [];
  for (let t = 0; t < X.rows / B; t += 1) {
    state = cell.step(
      gates.map((gate) => slice(gate, t * B, (t + 1) * B)),
      state,
    );
    H.push(state[0]);
  }
  return { H: stack(H), state };
}

const zero = (cell, B, hidden) => Array.from({ length: cell.parts }, () => new Node(B, hidden));

/** Bengio's model: e = [E w_{t-n+1}; ..; E w_t], h = tanh(W e + d), logits = U h + b. */
export class FeedForwardLM extends Network {
  constructor({ vocab, d_model, hidden, window }, random) {
    super(random);
    this.window = window;
    this.embedding = this.normal("embedding.weight", vocab, d_model, 1);
    this.W = this.linear("W", window * d_model, hidden);
    this.U = this.linear("output", hidden, vocab);
  }

  /** The state before the first token: the window - 1 tokens before it, all <sos>. */
  start(B) {
    return new Array((this.window - 1) * B).fill(SOS);
  }

  run(ids, B, before) {
    const text = [...before, ...ids];
    const windows = [];
    for (let r = 0; r < ids.length; r += 1) for (let k = 0; k < this.window; k += 1) windows.push(text[r + k * B]);
    return {
      logits: this.U(tanh(this.W(gather(this.embedding, windows, this.window)))),
      state: text.slice(ids.length),
    };
  }
}

/** x_t = E w_t, h_t = cell(x_t, h_{t-1}), logits = W h_t + b.  only: the logits of the last step alone. */
export class RecurrentLM extends Network {
  constructor({ cell, vocab, d_embed, hidden }, random) {
    super(random);
    this.hidden = hidden;
    this.embedding = this.uniform("embedding.weight", vocab, d_embed, 0.1);
    this.recurrent = this.cell(cell, "recurrent.layers.0.0", d_embed, hidden);
    this.W = this.output(hidden, vocab);
  }

  start(B) {
    return zero(this.recurrent, B, this.hidden);
  }

  run(ids, B, state, { last = false } = {}) {
    const found = along(this.recurrent, gather(this.embedding, ids), B, state);
    // a number, with no way back
    const state_T = found.state.map(({ rows, columns, data }) => new Node(rows, columns, data.slice()));
    return { logits: this.W(last ? found.state[0] : found.H), state: state_T };
  }
}

/**
 * The decoder alone, norm first, learned positions, the output tied to the embeddings. Weights start with deviation
 * `deviation`.
 */
export class GPT extends Network {
  constructor({ vocab, window, d_model, heads, n_layers, deviation }, random) {
    super(random);
    this.window = window;
    this.heads = heads;
    const part = (name, inputs, outputs, scale = 1) => {
      const W = this.normal(`${name}.weight`, outputs, inputs, deviation * scale);
      const b = this.constant(`${name}.bias`, outputs);
      return (x) => linear(x, W, b);
    };
    const norm = (name) => {
      const gain = this.constant(`${name}.weight`, d_model, 1);
      const b = this.constant(`${name}.bias`, d_model);
      return (x) => layerNorm(x, gain, b);
    };
    const writes = 1 / Math.sqrt(2 * n_layers); // 2 n_layers outputs add up
    this.embedding = this.normal("embedding.weight", vocab, d_model, deviation);
    this.position = this.normal("position.table.weight", window, d_model, deviation);
    this.layers = Array.from({ length: n_layers }, (_, i) => {
      const name = `layers.${i}`;
      const [W_q, W_k, W_v] = ["q", "k", "v"].map((k) => part(`${name}.attention.W_${k}`, d_model, d_model));
      const W_o = part(`${name}.attention.W_o`, d_model, d_model, writes);
      const W_1 = part(`${name}.ffn.W_1`, d_model, 4 * d_model);
      const W_2 = part(`${name}.ffn.W_2`, 4 * d_model, d_model, writes);
      return { W_q, W_k, W_v, W_o, W_1, W_2, pre_1: norm(`${name}.pre_1`), pre_2: norm(`${name}.pre_2`) };
    });
    this.norm = norm("norm");
    this.weights.set("output.weight", this.embedding);
  }

  start() {
    return null;
  }

  /** A state is not kept: a window is read as a whole, from its first position on. */
  run(ids, B) {
    const places = ids.map((_, r) => Math.floor(r / B));
    let X = add(gather(this.embedding, ids), gather(this.position, places));
    for (const { W_q, W_k, W_v, W_o, W_1, W_2, pre_1, pre_2 } of this.layers) {
      const h = pre_1(X);
      X = add(X, W_o(attention(W_q(h), W_k(h), W_v(h), { B, heads: this.heads, causal: true })));
      X = add(X, W_2(gelu(W_1(pre_2(X)))));
    }
    return { logits: linear(this.norm(X), this.embedding), state: null };
  }
}

/**
 * An encoder-decoder of one GRU each.  attention: false, the decoder starts from the encoder's last state and hears no
 * more of the source; true, it looks back after each step (Luong et al. 2015) with the scaled score s W h / sqrt(m).
 */
export class Seq2Seq extends Network {
  constructor({ vocab, d_embed, hidden, attention: back }, random) {
    super(random);
    this.hidden = hidden;
    this.source = this.normal("encoder.embedding.weight", vocab, d_embed, 1);
    this.encoder = this.cell("gru", "encoder.recurrent.layers.0.0", d_embed, hidden);
    this.embedding = this.normal("embedding.weight", vocab, d_embed, 1);
    this.decoder = this.cell("gru", "decoder.layers.0.0", d_embed, hidden);
    this.keys = back ? this.linear("score.W", hidden, hidden, false) : null;
    this.W_r = back ? this.linear("W_r", 2 * hidden, hidden, false) : null;
    this.W_o = this.output(hidden, vocab);
  }

  start(ids, B) {
    const { H, state } = along(this.encoder, gather(this.source, ids), B, zero(this.encoder, B, this.hidden));
    return { s: state, H, keys: this.keys?.(H) };
  }

  /** target: <sos> y_1 .. y_{T-1}; logits of y_1 .. y_T. */
  run(target, B, state) {
    const { H: S, state: s } = along(this.decoder, gather(this.embedding, target), B, state.s);
    const C = state.keys ? attention(S, state.keys, state.H, { B }) : null;
    return { logits: this.W_o(C ? tanh(this.W_r(concat(S, C))) : S), state: { ...state, s } };
  }
}

export const NETWORKS = { FeedForwardLM, GPT, RecurrentLM, Seq2Seq };

/**
 * Adam (Kingma and Ba 2015) on the weights of a network, as torch.optim.Adam; gradients longer than `clip` together are
 * shortened.
 */
export class Adam {
  constructor(parameters, { clip = Infinity, beta_1 = 0.9, beta_2 = 0.999, eps = 1e-8 } = {}) {
    const zeros = () => parameters.map(({ data }) => new Float32Array(data.length));
    this.parameters = parameters;
    this.clip = clip;
    this.beta_1 = beta_1;
    this.beta_2 = beta_2;
    this.eps = eps;
    this.m = zeros();
    this.v = zeros();
    this.steps = 0;
  }

  step(rate) {
    this.steps += 1;
    let square = 0;
    for (const { grad } of this.parameters) for (let i = 0; i < grad.length; i += 1) square += grad[i] * grad[i];
    const shorter = Math.min(1, this.clip / (Math.sqrt(square) + 1e-6));
    const { beta_1, beta_2, eps, steps } = this;
    const first = 1 - beta_1 ** steps;
    const second = Math.sqrt(1 - beta_2 ** steps);
    this.parameters.forEach(({ data, grad }, k) => {
      const m = this.m[k];
      const v = this.v[k];
      for (let i = 0; i < data.length; i += 1) {
        const g = shorter * grad[i];
        m[i] = beta_1 * m[i] + (1 - beta_1) * g;
        v[i] = beta_2 * v[i] + (1 - beta_2) * g * g;
        data[i] -= (rate / first) * (m[i] / (Math.sqrt(v[i]) / second + eps));
      }
    });
    return Math.sqrt(square);
  }
}
