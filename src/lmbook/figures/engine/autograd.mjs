// autograd.mjs: reverse-mode differentiation in the page: chapter 5's engine (lmbook/autograd.py) in a second language.
//
//   const L = crossEntropy(linear(tanh(linear(e, W, d)), U, b), targets);
//   L.backward();                                   now W.grad = dL/dW, as long as W.data, and so for every Node
//
// A Node is a matrix, its rows one after the other, and knows its inputs and the way back: back(g) adds to the gradient
// of each input the product of g, its own, with the Jacobian. No Jacobian is ever built. Numbers and sums are float32;
// the loops that take time are in kernels.mjs. A sequence of T steps of B texts is a matrix of T B rows, row t B + b:
// all texts' first steps, then all second ones. One vector is a matrix of one row.
import { allocated, held, kernels, zeros } from "./kernels.mjs";

let recording = true;

/**
 * What f gives, without a way back: nothing remembers what it was computed from.
 * @template T
 * @param {() => T} f
 */
export function inference(f) {
  const before = recording;
  recording = false;
  try {
    return f();
  } finally {
    recording = before;
  }
}

export class Node {
  /**
   * @param {number} rows
   * @param {number} columns
   * @param {Float32Array} [data]
   * @param {Node[]} [inputs]
   * @param {((g: Float32Array) => void) | null} [back]
   */
  constructor(rows, columns, data = zeros(rows * columns), inputs = [], back = null) {
    this.rows = rows;
    this.columns = columns;
    this.data = data;
    this.inputs = recording ? inputs : [];
    this.back = recording ? back : null;
    /** @type {Float32Array | null} */
    this.grad = null;
  }

  /** Row r, as a vector that shares its numbers. */
  row(r) {
    return this.data.subarray(r * this.columns, (r + 1) * this.columns);
  }

  /** All rows. */
  vectors() {
    return Array.from({ length: this.rows }, (_, r) => this.row(r));
  }

  /** Sets grad of this number and of all that it depends on: the sum over all paths, afresh in each call. */
  backward() {
    if (this.data.length !== 1)
      throw new Error(`backward() starts from one number, not from ${this.rows} x ${this.columns}`);
    const order = this.graph();
    for (const node of order) node.grad = node.grad?.fill(0) ?? zeros(node.data.length);
    this.grad[0] = 1;
    for (const node of order) node.back?.(node.grad); // a node comes after all that use it, so its gradient is complete
  }

  /** This node and all that it depends on, each once, every node before its inputs. */
  graph() {
    /** @type {Set<Node>} */
    const seen = new Set([this]);
    const finished = [];
    /** @type {[Node, number][]} */
    const stack = [[this, 0]];
    while (stack.length) {
      // depth first, without recursion: a long text makes a deep graph
      const top = stack.at(-1);
      const input = top[0].inputs[top[1]];
      top[1] += 1;
      if (!input) finished.push(stack.pop()[0]);
      else if (!seen.has(input)) {
        seen.add(input);
        stack.push([input, 0]);
      }
    }
    return finished.reverse();
  }
}

/** y += x, from entry y0 of y and x0 of x on. */
const plus = (y, x, n = x.length, y0 = 0, x0 = 0) => kernels().plus(y, y0, x, x0, n, 1, 0, 0, 1);

const FEW = 4; // rows that go through a matrix one by one

/**
 * x W^T + b, the rows of x as inputs: a linear layer as torch keeps it. b may be left out.
 * @param {Node} x
 * @param {Node} W
 * @param {Node | null} [b]
 */
export function linear(x, W, b) {
  const I = x.rows;
  const J = W.rows;
  const K = W.columns;
  const y = allocated(I * J);
  if (b) for (let i = 0; i < I; i += 1) y.set(b.data, i * J);
  else y.fill(0);
  if (I < FEW) for (let i = 0; i < I; i += 1) kernels().through(row(y, i, J), W.data, row(x.data, i, K), J, K);
  else kernels().product(y, 0, J, x.data, 0, K, 1, W.data, 0, 1, K, I, J, K);
  return new Node(I, J, y, b ? [x, W, b] : [x, W], (g) => {
    kernels().product(x.grad, 0, K, g, 0, J, 1, W.data, 0, K, 1, I, K, J);
    kernels().product(W.grad, 0, K, g, 0, 1, J, x.data, 0, K, 1, J, K, I);
    if (b) kernels().plus(b.grad, 0, g, 0, J, I, 0, J, 1);
  });
}

const row = (data, i, d) => data.subarray(i * d, (i + 1) * d);

/**
 * f entry by entry; slope(x, y) is the derivative where f(x) = y.
 * @param {Node} a
 * @param {(x: number) => number} f
 * @param {(x: number, y: number) => number} slope
 */
function entries(a, f, slope) {
  const x = a.data;
  const y = allocated(x.length);
  for (let i = 0; i < x.length; i += 1) y[i] = f(x[i]);
  return new Node(a.rows, a.columns, y, [a], (g) => {
    for (let i = 0; i < g.length; i += 1) a.grad[i] += g[i] * slope(x[i], y[i]);
  });
}

/** tanh, or the logistic function, entry by entry. */
function squashed(a, logistic) {
  const n = a.data.length;
  const y = allocated(n);
  kernels().squashed(y, a.data, n, logistic);
  return new Node(a.rows, a.columns, y, [a], (g) => {
    if (logistic) for (let i = 0; i < n; i += 1) a.grad[i] += g[i] * y[i] * (1 - y[i]);
    else for (let i = 0; i < n; i += 1) a.grad[i] += g[i] * (1 - y[i] * y[i]);
  });
}

/** @param {Node} a */
export const tanh = (a) => squashed(a, 0);
/** @param {Node} a */
export const sigmoid = (a) => squashed(a, 1);
/** @param {Node} a */
export const relu = (a) =>
  entries(
    a,
    (x) => Math.max(0, x),
    (_x, y) => Math.sign(y),
  );
/** @type {(a: Node, c: number) => Node} */
export const scaled = (a, c) =>
  entries(
    a,
    (x) => c * x,
    () => c,
  );

/**
 * x Phi(x), the normal distribution by formula 7.1.26 of Abramowitz and Stegun, whose error is below 1.5e-7. Its slope
 * is Phi(x) + x phi(x).
 * @param {Node} a
 */
export const geluExact = (a) =>
  entries(
    a,
    (x) => {
      const z = Math.abs(x) / Math.SQRT2;
      const t = 1 / (1 + 0.3275911 * z);
      const series = 0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)));
      const tail = t * series * Math.exp(-z * z);
      return x * (x < 0 ? tail / 2 : 1 - tail / 2);
    },
    (x, y) => (x ? y / x : 0.5) + (x * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI),
  );

/**
 * x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), entry by entry. Its slope has the same tanh, so it is computed on the
 * way.
 * @param {Node} a
 */
export function gelu(a) {
  const n = a.data.length;
  const y = allocated(n);
  const slopes = allocated(n);
  kernels().gelu(y, slopes, a.data, n);
  return new Node(a.rows, a.columns, y, [a], (g) => kernels().times(a.grad, g, slopes, n));
}

/**
 * a + b, entry by entry; b may be one row, which is then added to every row of a.
 * @param {Node} a
 * @param {Node} b
 */
export function add(a, b) {
  const n = b.data.length;
  const rows = a.data.length / n;
  const sum = allocated(a.data.length);
  sum.set(a.data);
  kernels().plus(sum, 0, b.data, 0, n, rows, n, 0, 1);
  return new Node(a.rows, a.columns, sum, [a, b], (g) => {
    plus(a.grad, g);
    kernels().plus(b.grad, 0, g, 0, n, rows, 0, n, 1);
  });
}

/**
 * a - b and a * b, entry by entry.
 * @param {Node} a
 * @param {Node} b
 */
export function minus(a, b) {
  const n = a.data.length;
  const out = allocated(n);
  out.set(a.data);
  kernels().plus(out, 0, b.data, 0, n, 1, 0, 0, -1);
  return new Node(a.rows, a.columns, out, [a, b], (g) => {
    plus(a.grad, g);
    kernels().plus(b.grad, 0, g, 0, n, 1, 0, 0, -1);
  });
}

/** @type {(a: Node, b: Node) => Node} */
export function times(a, b) {
  const n = a.data.length;
  const out = zeros(n);
  kernels().times(out, a.data, b.data, n);
  return new Node(a.rows, a.columns, out, [a, b], (g) => {
    kernels().times(a.grad, g, b.data, n);
    kernels().times(b.grad, g, a.data, n);
  });
}

/**
 * Rows of a table, `wide` of them side by side in each row: ids has rows x wide entries.
 * @param {Node} table
 * @param {number[]} ids
 */
export function gather(table, ids, wide = 1) {
  const d = table.columns;
  const out = new Node(ids.length / wide, wide * d, undefined, [table], (g) => {
    for (let r = 0; r < ids.length; r += 1) for (let j = 0; j < d; j += 1) table.grad[ids[r] * d + j] += g[r * d + j];
  });
  for (let r = 0; r < ids.length; r += 1) out.data.set(table.data.subarray(ids[r] * d, (ids[r] + 1) * d), r * d);
  return out;
}

/**
 * Each pair of a head's numbers turned by t w_j, w_j = base^(-2j/d_k) (lmbook.positions.rotary); the first row of each
 * of B texts is at `start`.
 * @param {Node} a
 * @param {number} start
 * @param {number} d_k
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

/**
 * Rows from..to.
 * @param {Node} a
 * @param {number} from
 * @param {number} to
 */
export function slice(a, from, to) {
  const start = from * a.columns;
  const part = allocated((to - from) * a.columns);
  part.set(a.data.subarray(start, start + part.length));
  return new Node(to - from, a.columns, part, [a], (g) => plus(a.grad, g, g.length, start));
}

/**
 * Matrices of equal width below each other.
 * @param {Node[]} parts
 */
export function stack(parts) {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const all = allocated(rows * parts[0].columns);
  const each = (f) => {
    let at = 0;
    for (const part of parts) {
      f(part, at);
      at += part.data.length;
    }
  };
  each(({ data }, at) => all.set(data, at));
  return new Node(rows, parts[0].columns, all, parts, (g) => each(({ grad }, at) => plus(grad, g, grad.length, 0, at)));
}

/**
 * [a ; b]: matrices of as many rows side by side.
 * @param {Node} a
 * @param {Node} b
 */
export function concat(a, b) {
  const wide = a.columns + b.columns;
  const each = (f) => {
    for (let r = 0; r < a.rows; r += 1) {
      for (let j = 0; j < a.columns; j += 1) f(r * wide + j, a, r * a.columns + j);
      for (let j = 0; j < b.columns; j += 1) f(r * wide + a.columns + j, b, r * b.columns + j);
    }
  };
  const out = new Node(a.rows, wide, undefined, [a, b], (g) =>
    each((o, part, i) => {
      part.grad[i] += g[o];
    }),
  );
  each((o, part, i) => {
    out.data[o] = part.data[i];
  });
  return out;
}

/**
 * g (x - mean) / sqrt(variance + eps) + b, row by row.
 * @param {Node} x
 * @param {Node} gain
 * @param {Node} b
 */
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
 * @param {Node} Q
 * @param {Node} K
 * @param {Node} V
 * @param {{ B?: number, heads?: number, causal?: boolean, scale?: number }} [options]
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
    for (const [from, to] of [
      [out, context],
      [z, scores],
      [p, weights],
    ])
      if (from !== to) to.set(from);
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

/**
 * The mean of -ln softmax(z)[target] over the rows whose target is not -1; one number.
 * @param {Node} z
 * @param {number[]} targets  of each row an id, or -1
 */
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
