// autograd-layers.mjs: layers of which each is one Node of the graph (autograd.mjs), with a way back of its own.
import { Node } from "./autograd.mjs";
import { allocated, held, kernels, zeros } from "./kernels.mjs";

/**
 * Each pair of a head's numbers turned by t w_j, w_j = base^(-2j/d_k) (lmbook.positions.rotary); the first row of each
 * of B texts is at `start`.
 * @type {(a: Node, start: number, d_k: number, B?: number, base?: number) => Node}
 */
export function rotary(a, start, d_k, B = 1, base = 10000) {
  const pairs = d_k / 2;
  const angles = Float64Array.from({ length: (a.rows / B) * pairs }, (_, i) => {
    const j = i % pairs;
    return (start + (i - j) / pairs) * base ** (-j / pairs);
  });
  const cos = angles.map(Math.cos);
  const sin = angles.map(Math.sin);
  /** out += data, turned one way (1) or back (-1). */
  const turn = (data, out, way) => {
    for (let r = 0, o = 0; r < a.rows; r += 1) {
      const at = Math.floor(r / B) * pairs;
      for (let k = 0; k < a.columns / 2; k += 1, o += 2) {
        const i = at + (k % pairs);
        out[o] += data[o] * cos[i] - way * data[o + 1] * sin[i];
        out[o + 1] += way * data[o] * sin[i] + data[o + 1] * cos[i];
      }
    }
  };
  const out = new Node(a.rows, a.columns, undefined, [a], (g) => turn(g, a.grad, -1));
  turn(a.data, out.data, 1);
  return out;
}

/** g (x - mean) / sqrt(variance + eps) + b, row by row. */
export function layerNorm(x, gain, b, eps = 1e-5) {
  const { rows, columns: d } = x;
  const [y, standard, scale] = [rows * d, rows * d, rows].map((n) => allocated(n));
  kernels().norm(y, standard, scale, x.data, gain.data, b.data, rows, d, eps);
  return new Node(rows, d, y, [x, gain, b], (g) =>
    kernels().normBack(x.grad, gain.grad, b.grad, g, standard, scale, gain.data, rows, d),
  );
}

const ROWS = 32; // steps at a time: what none of them may see is not computed

/**
 * softmax(scale Q K^T) V for each of B texts and each head, a head being a slice of the columns; scale is 1 / sqrt(d_k)
 * where none is given. causal: step t sees steps 0..t. Q may have another number of steps than K and V. Weights
 * and scores stand behind each other: of text b, head h and step t the N from ((b heads + h) T + t) N.
 * @type {(Q: Node, K: Node, V: Node, options?: { B?: number, heads?: number, causal?: boolean, scale?: number }) =>
 *   Node & { heads: number, weights: Float32Array, scores: Float32Array }}
 */
export function attention(Q, K, V, { B = 1, heads = 1, causal = false, scale = Math.sqrt(heads / Q.columns) } = {}) {
  const T = Q.rows / B;
  const N = K.rows / B;
  const d_k = Q.columns / heads;
  const d_v = V.columns / heads;
  const [q, k, v] = [Q, K, V].map(({ columns }) => B * columns); // from one step to the next
  const [weights, scores] = [0, 0].map(() => zeros(B * heads * T * N)); // 0 where a step may not look
  /** For each text and head: where its numbers begin in Q, K, V and the weights. */
  const each = (f) => {
    for (let b = 0, w = 0; b < B; b += 1)
      for (let h = 0; h < heads; h += 1, w += T * N)
        f(b * Q.columns + h * d_k, b * K.columns + h * d_k, b * V.columns + h * d_v, w);
  };
  const { product, softmax, softmaxBack } = kernels();
  const context = zeros(Q.rows * V.columns);
  held([context, scores, weights, Q.data, K.data, V.data], (out, z, p, x, y, u) => {
    each((q0, k0, v0, w) => {
      const steps = (f) => {
        for (let t = 0; t < T; t += ROWS) {
          const rows = Math.min(ROWS, T - t);
          f(t, rows, causal ? Math.min(N, t + rows) : N);
        }
      };
      steps((t, rows, seen) => product(z, w + t * N, N, x, q0 + t * q, q, 1, y, k0, 1, k, rows, seen, d_k));
      softmax(p.subarray(w, w + T * N), z.subarray(w, w + T * N), T, N, causal ? 1 : N, causal ? 1 : 0, scale);
      steps((t, rows, seen) => product(out, v0 + t * v, v, p, w + t * N, N, 1, u, v0, v, 1, rows, d_v, seen));
    });
    if (out !== context) context.set(out);
    if (z !== scores) scores.set(z);
    if (p !== weights) weights.set(p);
  });
  const out = new Node(Q.rows, V.columns, context, [Q, K, V], (g) => {
    const slopes = zeros(T * N);
    each((q0, k0, v0, w) => {
      slopes.fill(0);
      product(slopes, 0, N, g, v0, v, 1, V.data, v0, 1, v, T, N, d_v);
      softmaxBack(slopes, weights.subarray(w, w + T * N), T, N, scale);
      product(Q.grad, q0, q, slopes, 0, N, 1, K.data, k0, k, 1, T, d_k, N);
      product(K.grad, k0, k, slopes, 0, 1, N, Q.data, q0, q, 1, N, d_k, T);
      product(V.grad, v0, v, weights, w, 1, N, g, v0, v, 1, N, d_v, T);
    });
  });
  return Object.assign(out, { heads, weights, scores });
}

/** The mean of -ln softmax(z)[target] over the rows whose target, an id, is not -1; one number. */
export function crossEntropy(z, targets) {
  const d = z.columns;
  const n = targets.filter((target) => target >= 0).length;
  const slopes = allocated(z.data.length).fill(0); // p, and p - 1 at the target
  let total = 0;
  targets.forEach((target, r) => {
    if (target < 0) return;
    const from = r * d;
    let most = -Infinity;
    let sum = 0;
    for (let i = from; i < from + d; i += 1) most = Math.max(most, z.data[i]);
    for (let i = from; i < from + d; i += 1) {
      slopes[i] = Math.exp(z.data[i] - most);
      sum += slopes[i];
    }
    for (let i = from; i < from + d; i += 1) slopes[i] /= sum;
    slopes[from + target] -= 1;
    total += most + Math.log(sum) - z.data[from + target];
  });
  const out = new Node(1, 1, undefined, [z], ([g]) =>
    kernels().plus(z.grad, 0, slopes, 0, slopes.length, 1, 0, 0, g / n),
  );
  out.data[0] = total / n;
  return out;
}
