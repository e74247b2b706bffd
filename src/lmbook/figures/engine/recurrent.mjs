// recurrent.mjs: recurrent cells, stacked and both ways, and the models made of them (lmbook/cells.py, rnn.py,
// rnn_models.py).
//
//   state_t = cell(x_t, state_{t-1})      a state is [h] or, for the LSTM, [h, c], each with a row a text
//
// Every step also gives its gates, so that a figure can show them.
import { Node, add, concat, gather, linear, minus, sigmoid, slice, stack, tanh, times } from "./autograd.mjs";
import { affine, below, vector } from "./layers.mjs";
import { likeliest, mean, softmax } from "../kit/numbers.mjs";

/** The weights of gate k: it is f(W_xk x + W_hk h + b_k). */
const gate = (w, k) => ({ W_x: w(`W_x${k}`), W_h: w(`W_h${k}`), b: w(`b_${k}`) ?? w("b") });

/** Of each cell: its gates, and step(x, state): what comes of the products W_x x + b of all gates at one t. */
const CELLS = {
  /** h_t = tanh(W_hh h_{t-1} + W_xh x_t + b) */
  rnn(w) {
    const gates = [gate(w, "h")];
    return { gates, step: ([x], [h]) => ({ state: [tanh(add(linear(h, gates[0].W_h), x))], gates: {} }) };
  },

  /** c_t = f * c_{t-1} + i * g      h_t = o * tanh(c_t) */
  lstm(w) {
    const gates = ["i", "f", "g", "o"].map((k) => gate(w, k));
    return {
      gates,
      step(x, [h, c]) {
        const [i, f, g, o] = gates.map(({ W_h }, k) => (k === 2 ? tanh : sigmoid)(add(linear(h, W_h), x[k])));
        const memory = add(times(f, c), times(i, g));
        return { state: [times(o, tanh(memory)), memory], gates: { i, f, g, o } };
      },
    };
  },

  /** n = tanh(W_xn x + b_n + r * (W_hn h + b_hn))      h_t = n + z * (h_{t-1} - n);  reset="before": r * h inside. */
  gru(w) {
    const gates = ["r", "z", "n"].map((k) => gate(w, k));
    const b_hn = w("b_hn");
    return {
      gates,
      step(x, [h]) {
        const [r, z] = [0, 1].map((k) => sigmoid(add(linear(h, gates[k].W_h), x[k])));
        const old = b_hn ? times(r, linear(h, gates[2].W_h, b_hn)) : linear(times(r, h), gates[2].W_h);
        const n = tanh(add(x[2], old));
        return { state: [add(n, times(z, minus(h, n)))], gates: { r, z, n } };
      },
    };
  },
};

const products = (cell, X) => cell.gates.map(({ W_x, b }) => linear(X, W_x, b));

/** A cell along X, T B rows, or against it: all h below each other, and the last state. */
function along(cell, X, B, state, against) {
  const all = products(cell, X);
  const T = X.rows / B;
  const H = new Array(T);
  for (let k = 0; k < T; k += 1) {
    const t = against ? T - 1 - k : k;
    const x = all.map((gate) => slice(gate, t * B, (t + 1) * B));
    ({ state } = cell.step(x, state));
    H[t] = state[0];
  }
  return { H: stack(H), state };
}

/** A stack of layers, each of one cell, or of two that read in opposite directions. */
export class Recurrent {
  constructor(w, cell) {
    this.layers = [];
    const there = (i, j) => ["b", "b_n", "b_i"].map((b) => w(`layers.${i}.${j}.${b}`)).find(Boolean);
    for (let i = 0; there(i, 0); i += 1) {
      this.layers.push([0, 1].filter((j) => there(i, j)).map((j) => CELLS[cell](below(w, `layers.${i}.${j}`))));
    }
    this.hidden = there(0, 0).columns;
    this.parts = cell === "lstm" ? 2 : 1;
  }

  /** The zero state of one cell. */
  zero(B) {
    return Array.from({ length: this.parts }, () => new Node(B, this.hidden));
  }

  /** The zero state of all layers. */
  start(B = 1) {
    return this.layers.map(() => this.zero(B));
  }

  /** Along B texts, X, from a state: outputs H of the top layer, and the last states. */
  run(X, B = 1, start = this.start(B)) {
    const final = this.layers.map((cells, i) => {
      const runs = cells.map((cell, j) => along(cell, X, B, j ? this.zero(B) : start[i], j === 1));
      X = runs.map(({ H }) => H).reduce(concat);
      return start[i].map((_, part) => runs.map(({ state }) => state[part]).reduce(concat));
    });
    return { H: X, final };
  }

  /** One step: the top layer's h, the next states, and the gates of every layer. */
  step(x, state) {
    const found = this.layers.map(([cell], i) => {
      const next = cell.step(products(cell, x), state[i]);
      [x] = next.state;
      return next;
    });
    return { h: x, state: found.map((next) => next.state), gates: found.map((next) => next.gates) };
  }
}

class Reader {
  constructor(w, about) {
    this.embedding = w("embedding.weight");
    this.recurrent = new Recurrent(below(w, "recurrent"), about.cell);
    this.output = affine(w, "output");
  }
}

/** x_t = E w_t, h_t = cell(x_t, h_{t-1}), logits = W h_t + b. */
export class RecurrentLM extends Reader {
  start(B = 1) {
    return this.recurrent.start(B);
  }

  /** Logits of B texts, rows t B + b, or of their last steps alone, and the last state: numbers, with no way back. */
  run(ids, B, state, { last = false } = {}) {
    const { H, final } = this.recurrent.run(gather(this.embedding, ids), B, state);
    const cut = ({ rows, columns, data }) => new Node(rows, columns, data.slice());
    return { logits: this.output(last ? final.at(-1)[0] : H), state: final.map((parts) => parts.map(cut)) };
  }

  /** Reads a token and gives the logits of the next one. */
  step(id, state) {
    const { h, state: next, gates } = this.recurrent.step(gather(this.embedding, [id]), state);
    return { logits: this.output(h).data, state: next, gates };
  }
}

/** A tag for every token: P(tag) at each place. */
export class Tagger extends Reader {
  run(ids) {
    const tags = this.output(this.recurrent.run(gather(this.embedding, ids)).H);
    return tags.vectors().map(softmax);
  }
}

/** A class for the whole sequence, of the last state or of the mean of the outputs. */
export class Classifier extends Reader {
  constructor(w, about) {
    super(w, about);
    this.pool = about.pool ?? "last";
  }

  run(ids) {
    const { H, final } = this.recurrent.run(gather(this.embedding, ids));
    const rows = H.vectors();
    const pooled = () => vector(rows[0].map((_, j) => mean(rows.map((h) => h[j]))));
    return softmax(this.output(this.pool === "mean" ? pooled() : final.at(-1)[0]).data);
  }
}

/**
 * A language model reads a text token by token: its states, its gates, what it expects next, and P of what came.
 */
export function readAlong({ model, reader }, { text, shown = 5 }) {
  const plain = (parts) =>
    Object.fromEntries(Object.entries(parts).map(([name, { data }]) => [name, Array.from(data)]));
  let state = model.start();
  return reader.encode(text).map((id, t, ids) => {
    const step = model.step(id, state);
    ({ state } = step);
    const p = softmax(step.logits);
    return {
      id,
      text: reader.name(id),
      came: p[ids[t + 1]] ?? null,
      states: state.map((layer) => layer.map((part) => Array.from(part.data))),
      gates: step.gates.map(plain),
      next: likeliest(p, shown).map((other) => ({ id: other, text: reader.name(other), p: p[other] })),
    };
  });
}
