// autograd.mjs: reverse-mode differentiation in the page: chapter 5's engine (lmbook/autograd.py) in a second language.
//
//   const L = crossEntropy(linear(tanh(linear(e, W, d)), U, b), targets);
//   L.backward();                                   now W.grad = dL/dW, as long as W.data, and so for every Node
//
// A Node is a matrix, its rows one after the other, and knows its inputs and the way back: back(g) adds to the gradient
// of each input the product of g, its own, with the Jacobian. No Jacobian is ever built. Numbers and sums are float32;
// the loops that take time are in kernels.mjs. A sequence of T steps of B texts is a matrix of T B rows, row t B + b:
// all texts' first steps, then all second ones. One vector is a matrix of one row.
import { allocated, kernels, zeros } from "./kernels.mjs";

let recording = true;

/** What f gives, without a way back: nothing remembers what it was computed from.  @type {<T>(f: () => T) => T} */
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
  constructor(rows, columns, data = zeros(rows * columns), inputs = [], back = null) {
    this.rows = rows;
    this.columns = columns;
    this.data = data;
    /** @type {Node[]} */
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
 * @type {(x: Node, W: Node, b?: Node | null) => Node}
 */
export function linear(x, W, b) {
  const { rows: I } = x;
  const { rows: J, columns: K } = W;
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
 * @type {(f: (x: number) => number, slope: (x: number, y: number) => number) => (a: Node) => Node}
 */
const entries = (f, slope) => (a) => {
  const x = a.data;
  const y = allocated(x.length);
  for (let i = 0; i < x.length; i += 1) y[i] = f(x[i]);
  return new Node(a.rows, a.columns, y, [a], (g) => {
    for (let i = 0; i < g.length; i += 1) a.grad[i] += g[i] * slope(x[i], y[i]);
  });
};

/** tanh, or the logistic function, entry by entry.  @type {(logistic: 0 | 1) => (a: Node) => Node} */
const squashed = (logistic) => (a) => {
  const n = a.data.length;
  const y = allocated(n);
  kernels().squashed(y, a.data, n, logistic);
  return new Node(a.rows, a.columns, y, [a], (g) => {
    if (logistic) for (let i = 0; i < n; i += 1) a.grad[i] += g[i] * y[i] * (1 - y[i]);
    else for (let i = 0; i < n; i += 1) a.grad[i] += g[i] * (1 - y[i] * y[i]);
  });
};

export const tanh = squashed(0);
export const sigmoid = squashed(1);
const positive = (/** @type {number} */ x) => Math.max(0, x);
export const relu = entries(positive, (_x, y) => Math.sign(y));
const multiple = (/** @type {number} */ c) => (/** @type {number} */ x) => c * x;
/** @type {(a: Node, c: number) => Node} */
export const scaled = (a, c) => entries(multiple(c), () => c)(a);

function normal(/** @type {number} */ x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const series = 0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)));
  const tail = t * series * Math.exp(-z * z);
  return x * (x < 0 ? tail / 2 : 1 - tail / 2);
}
const bell = (/** @type {number} */ x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
/**
 * x Phi(x), the normal distribution by formula 7.1.26 of Abramowitz and Stegun, whose error is below 1.5e-7. Its slope
 * is Phi(x) + x phi(x).
 */
export const geluExact = entries(normal, (x, y) => (x ? y / x : 0.5) + x * bell(x));

/**
 * x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), entry by entry. Its slope has the same tanh, so it is computed on the
 * way.
 */
export function gelu(/** @type {Node} */ a) {
  const n = a.data.length;
  const y = allocated(n);
  const slopes = allocated(n);
  kernels().gelu(y, slopes, a.data, n);
  return new Node(a.rows, a.columns, y, [a], (g) => kernels().times(a.grad, g, slopes, n));
}

/** @typedef {(a: Node, b: Node) => Node} OfTwo */
/** a + b, entry by entry; b may be one row, which is then added to every row of a.  @type {OfTwo} */
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

/** a - b and a * b, entry by entry.  @type {OfTwo} */
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

/** @type {OfTwo} */
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
 * @type {(table: Node, ids: number[], wide?: number) => Node}
 */
export function gather(table, ids, wide = 1) {
  const d = table.columns;
  const out = new Node(ids.length / wide, wide * d, undefined, [table], (g) => {
    for (let r = 0; r < ids.length; r += 1) for (let j = 0; j < d; j += 1) table.grad[ids[r] * d + j] += g[r * d + j];
  });
  for (let r = 0; r < ids.length; r += 1) out.data.set(table.data.subarray(ids[r] * d, (ids[r] + 1) * d), r * d);
  return out;
}

/** Rows from..to.  @type {(a: Node, from: number, to: number) => Node} */
export function slice(a, from, to) {
  const start = from * a.columns;
  const part = allocated((to - from) * a.columns);
  part.set(a.data.subarray(start, start + part.length));
  return new Node(to - from, a.columns, part, [a], (g) => plus(a.grad, g, g.length, start));
}

/** Matrices of equal width below each other. */
export function stack(/** @type {Node[]} */ parts) {
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

/** [a ; b]: matrices of as many rows side by side.  @type {OfTwo} */
export function concat(a, b) {
  const wide = a.columns + b.columns;
  const { plus } = kernels();
  const out = new Node(a.rows, wide, undefined, [a, b], (g) => {
    plus(a.grad, 0, g, 0, a.columns, a.rows, a.columns, wide, 1);
    plus(b.grad, 0, g, a.columns, b.columns, a.rows, b.columns, wide, 1);
  });
  for (const [r, row] of a.vectors().entries()) out.data.set(row, r * wide);
  for (const [r, row] of b.vectors().entries()) out.data.set(row, r * wide + a.columns);
  return out;
}
