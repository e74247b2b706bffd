// recurrent.mjs: recurrent cells, stacked and both ways, and the models made of them (lmbook/cells.py, rnn.py,
// rnn_models.py).
//
//   state_t = cell(x_t, state_{t-1})      a state is [h] or, for the LSTM, [h, c]
//
// Every step also gives its gates, so that a figure can show them.
import { affine, below, beside, linear, row, sigma, softmax } from "./layers.mjs";

const map = (f, ...vectors) => vectors[0].map((_, j) => f(...vectors.map((vector) => vector[j])));

/** x -> W_xk x + W_hk h + b_k for a gate k. */
const gate = (w, k) => {
  const W_x = w(`W_x${k}`);
  const W_h = w(`W_h${k}`);
  const b = w(`b_${k}`) ?? w("b");
  return (x, h, f) => map((u, v) => f(u + v), linear(W_x, x, b), linear(W_h, h));
};

export const CELLS = {
  /** h_t = tanh(W_hh h_{t-1} + W_xh x_t + b) */
  rnn(w) {
    const update = gate(w, "h");
    return (x, [h]) => ({ state: [update(x, h, Math.tanh)], gates: {} });
  },

  /** c_t = f * c_{t-1} + i * g      h_t = o * tanh(c_t) */
  lstm(w) {
    const [input, forget, write, show] = ["i", "f", "g", "o"].map((k) => gate(w, k));
    return (x, [h, c]) => {
      const i = input(x, h, sigma);
      const f = forget(x, h, sigma);
      const g = write(x, h, Math.tanh);
      const o = show(x, h, sigma);
      const memory = map((kept, old, taken, value) => kept * old + taken * value, f, c, i, g);
      return { state: [map((shown, value) => shown * Math.tanh(value), o, memory), memory], gates: { i, f, g, o } };
    };
  },

  /**
   * n = tanh(W_xn x + b_n + r * (W_hn h + b_hn))      h_t = z * h_{t-1} + (1 - z) * n;  reset="before": r * h inside.
   */
  gru(w) {
    const reset = gate(w, "r");
    const keep = gate(w, "z");
    const b_hn = w("b_hn");
    return (x, [h]) => {
      const r = reset(x, h, sigma);
      const z = keep(x, h, sigma);
      const from = linear(w("W_xn"), x, w("b_n"));
      const old = b_hn
        ? map((a, b) => a * b, r, linear(w("W_hn"), h, b_hn))
        : linear(
            w("W_hn"),
            map((a, b) => a * b, r, h),
          );
      const n = map((a, b) => Math.tanh(a + b), from, old);
      return { state: [map((k, a, b) => k * a + (1 - k) * b, z, h, n)], gates: { r, z, n } };
    };
  },
};

/** A stack of layers, each of one cell, or of two that read in opposite directions. */
export class Recurrent {
  constructor(w, cell) {
    this.layers = [];
    const there = (i, j) => w(`layers.${i}.${j}.b`) ?? w(`layers.${i}.${j}.b_n`) ?? w(`layers.${i}.${j}.b_i`);
    for (let i = 0; there(i, 0); i += 1) {
      this.layers.push([0, 1].filter((j) => there(i, j)).map((j) => CELLS[cell](below(w, `layers.${i}.${j}`))));
    }
    this.hidden = there(0, 0).length;
    this.parts = cell === "lstm" ? 2 : 1;
  }

  /** The zero state of one cell. */
  zero() {
    return Array.from({ length: this.parts }, () => new Float32Array(this.hidden));
  }

  /** The zero state of all layers, for step(). */
  start() {
    return this.layers.map(() => this.zero());
  }

  /** Along a sequence X: outputs H of the top layer, the last states, and for each layer and direction its steps. */
  run(X) {
    const final = [];
    const steps = [];
    for (const cells of this.layers) {
      const runs = cells.map((cell, j) => {
        const order = j ? [...X.keys()].reverse() : [...X.keys()];
        const found = [];
        let state = this.zero();
        for (const t of order) {
          found[t] = cell(X[t], state);
          ({ state } = found[t]);
        }
        return { found, state };
      });
      steps.push(runs.map((run) => run.found));
      final.push(this.zero().map((_, part) => beside(...runs.map((run) => run.state[part]))));
      X = X.map((_, t) => beside(...runs.map((run) => run.found[t].state[0])));
    }
    return { H: X, final, steps };
  }

  /** One step: the top layer's h, the next states, and the gates of every layer. */
  step(x, state) {
    const next = [];
    const gates = [];
    this.layers.forEach(([cell], i) => {
      const found = cell(x, state[i]);
      [x] = found.state;
      next.push(found.state);
      gates.push(found.gates);
    });
    return { h: x, state: next, gates };
  }
}

/** A language model: step(state, id) reads a token and gives the logits of the next one. */
export class RecurrentLM {
  constructor(w, about) {
    this.embedding = w("embedding.weight");
    this.recurrent = new Recurrent(below(w, "recurrent"), about.cell);
    this.output = affine(w, "output");
  }

  start() {
    return this.recurrent.start();
  }

  step(state, id) {
    const { h, state: next, gates } = this.recurrent.step(row(this.embedding, id), state);
    return { logits: this.output(h), state: next, gates };
  }
}

/** A tag for every token: P(tag) at each place. */
export class Tagger {
  constructor(w, about) {
    this.embedding = w("embedding.weight");
    this.recurrent = new Recurrent(below(w, "recurrent"), about.cell);
    this.output = affine(w, "output");
  }

  run(ids) {
    return this.recurrent.run(ids.map((id) => row(this.embedding, id))).H.map((h) => softmax(this.output(h)));
  }
}

/** A class for the whole sequence, of the last state or of the mean of the outputs. */
export class Classifier extends Tagger {
  constructor(w, about) {
    super(w, about);
    this.pool = about.pool ?? "last";
  }

  run(ids) {
    const { H, final } = this.recurrent.run(ids.map((id) => row(this.embedding, id)));
    const s =
      this.pool === "mean" ? H[0].map((_, j) => H.reduce((sum, h) => sum + h[j], 0) / H.length) : final.at(-1)[0];
    return softmax(this.output(s));
  }
}
