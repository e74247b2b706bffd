// attention.mjs: attention returned with its weights (lmbook/attention.py).
//
//   e_i = score(s, h_i)      alpha = softmax(e)      c = sum_i alpha_i h_i
//
// One query at a time; the keys are an array of vectors. Who may look where is said by which keys are given.
import { add, affine, linear, rotary, softmax } from "./layers.mjs";

/** c = sum_i alpha_i v_i, over the entries from..to of the values. */
export function mean(alpha, values, from = 0, to = values[0].length) {
  const out = new Float32Array(to - from);
  for (let j = from; j < to; j += 1) {
    let sum = 0;
    for (let i = 0; i < values.length; i += 1) sum += alpha[i] * values[i][j];
    out[j - from] = sum;
  }
  return out;
}

function dot(a, b, from = 0, to = a.length) {
  let sum = 0;
  for (let j = from; j < to; j += 1) sum += a[j] * b[j];
  return sum;
}

/** The four scores of chapter 11: keys(H) is what depends on the states alone, score(s, keys) gives e. */
export const SCORES = {
  dot: () => ({ keys: (H) => H, score: (s, keys) => keys.map((key) => dot(s, key)) }),
  multiplicative(w) {
    const W = affine(w, "W");
    return { keys: (H) => H.map(W), score: (s, keys) => keys.map((key) => dot(s, key)) };
  },
  scaled(w) {
    const { keys, score } = SCORES.multiplicative(w);
    return { keys, score: (s, found) => score(s, found).map((e) => e / Math.sqrt(s.length)) };
  },
  additive(w) {
    const W_s = affine(w, "W_s");
    const W_h = affine(w, "W_h");
    const v = w("v.weight");
    return {
      keys: (H) => H.map(W_h),
      score(s, keys) {
        const asked = W_s(s);
        return keys.map((key) => linear(v, add(asked, key).map(Math.tanh))[0]);
      },
    };
  },
};

/** n_heads attentions side by side: head_j = attend(x W_q^j, X W_k^j, X W_v^j), out = [head_1 ; ..] W_o. */
export class MultiHeadAttention {
  constructor(w, n_heads, turned = false) {
    this.n_heads = n_heads;
    this.turned = turned;
    this.W_q = affine(w, "W_q");
    this.W_k = affine(w, "W_k");
    this.W_v = affine(w, "W_v");
    this.W_o = affine(w, "W_o");
  }

  turn(x, t) {
    return this.turned ? rotary(x, t, x.length / this.n_heads) : x;
  }

  /** Keys and values of a sequence, its first element at position `start`. */
  project(X, start = 0) {
    return { keys: X.map((x, i) => this.turn(this.W_k(x), start + i)), values: X.map(this.W_v) };
  }

  /**
   * One query x, at position t: out, for each head its scores q k / sqrt(d_k) and weights, and the vectors, heads side
   * by side.
   */
  attend(x, { keys, values }, t = 0) {
    const q = this.turn(this.W_q(x), t);
    const d_k = q.length / this.n_heads;
    const d_v = values[0].length / this.n_heads;
    const context = new Float32Array(values[0].length);
    const scores = Array.from({ length: this.n_heads }, (_, head) =>
      keys.map((key) => dot(q, key, head * d_k, (head + 1) * d_k) / Math.sqrt(d_k)),
    );
    const weights = scores.map(softmax);
    weights.forEach((alpha, head) => context.set(mean(alpha, values, head * d_v, (head + 1) * d_v), head * d_v));
    return { out: this.W_o(context), weights, scores, query: q, keys, values, context };
  }
}
