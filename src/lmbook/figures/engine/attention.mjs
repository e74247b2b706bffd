// attention.mjs: attention returned with its weights (lmbook/attention.py).
//
//   e_i = score(s, h_i)      alpha = softmax(e)      c = sum_i alpha_i h_i
import { Node, add, linear, tanh } from "./autograd.mjs";
import { attention, rotary } from "./autograd-layers.mjs";
import { affine } from "./layers.mjs";
import { softmax } from "../kit/numbers.mjs";

/** The four scores of chapter 11: keys(H) is what depends on the states alone, attend(S, keys, H) looks with them. */
export const SCORES = {
  dot: () => ({ keys: (H) => H, attend: (S, keys, H, B) => attention(S, keys, H, { B, scale: 1 }) }),
  multiplicative: (w) => ({ keys: affine(w, "W"), attend: SCORES.dot().attend }),
  scaled: (w) => ({ keys: affine(w, "W"), attend: (S, keys, H, B) => attention(S, keys, H, { B }) }),
  /** Of one query, in inference alone: no way back leads through it. */
  additive(w) {
    const W_s = affine(w, "W_s");
    const v = w("v.weight");
    return {
      keys: affine(w, "W_h"),
      attend(s, keys, H) {
        const scores = linear(tanh(add(keys, W_s(s))), v).data;
        const weights = Float32Array.from(softmax(scores));
        const c = linear(new Node(1, H.rows, weights), transposed(H));
        return Object.assign(c, { heads: 1, weights, scores });
      },
    };
  },
};

function transposed({ rows, columns, data }) {
  const at = (_, i) => data[(i % rows) * columns + Math.floor(i / rows)];
  return new Node(columns, rows, Float32Array.from(data, at));
}

/** What row r of one text looks at: the weights and the scores of each head. */
export function looks({ rows, heads, weights, scores }, r) {
  const N = weights.length / heads / rows;
  const each = (found) => Array.from({ length: heads }, (_, h) => found.subarray((h * rows + r) * N).subarray(0, N));
  return { weights: each(weights), scores: each(scores) };
}

/** n_heads attentions side by side: head_j = attend(X W_q^j, X W_k^j, X W_v^j), out = [head_1 ; ..] W_o. */
export class MultiHeadAttention {
  constructor(w, n_heads, turned = false) {
    this.n_heads = n_heads;
    this.turned = turned;
    this.W_q = affine(w, "W_q");
    this.W_k = affine(w, "W_k");
    this.W_v = affine(w, "W_v");
    this.W_o = affine(w, "W_o");
  }

  turn(X, start, B) {
    return this.turned ? rotary(X, start, X.columns / this.n_heads, B) : X;
  }

  /** Keys and values of sequences, their first elements at position `start`. */
  project(X, { start = 0, B = 1 } = {}) {
    return { keys: this.turn(this.W_k(X), start, B), values: this.W_v(X) };
  }

  /**
   * Queries X, the first at position `start`: what comes out, and what it was computed from.
   * @type {(X: Node, source: { keys: Node, values: Node },
   *   options?: { start?: number, B?: number, causal?: boolean }) => any}
   */
  attend(X, { keys, values }, { start = 0, ...options } = {}) {
    const query = this.turn(this.W_q(X), start, options.B);
    const context = attention(query, keys, values, { heads: this.n_heads, ...options });
    return { out: this.W_o(context), query, keys, values, context };
  }
}
