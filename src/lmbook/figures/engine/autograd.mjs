// autograd.mjs: reverse-mode differentiation in the page: chapter 5's engine (lmbook/autograd.py) in a second language.
//
//   const L = crossEntropy(linear(tanh(linear(e, W, d)), U, b), targets);
//   L.backward();                                   now W.grad = dL/dW, as long as W.data, and so for every Node
//
// A Node is a matrix, its rows one after the other, and knows its inputs and the way back: back(g) adds to the gradient
// of each input the product of g, its own, with the Jacobian. No Jacobian is ever built. Numbers are kept as float32,
// sums are double. A sequence of T steps of B texts is a matrix of T B rows, row t B + b: all texts' first steps, then
// all second ones. One vector is a matrix of one row.
import { logSoftmax, sigmoid as logistic, softmax } from "../kit/numbers.mjs";

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
  constructor(rows, columns, data = new Float32Array(rows * columns), inputs = [], back = null) {
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
    for (const node of order) node.grad = node.grad?.fill(0) ?? new Float32Array(node.data.length);
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

const BLOCK = 64; // terms of a sum at a time: so many rows stay in the processor's first cache

/**
 * C += A B, with C I x J: entry i, k of A is at i ai + k ak, entry k, j of B at j bj + k bk. So one loop serves A B, A
 * B^T and A^T B. Eight entries at once: each number that is read is used twice or four times.
 */
export function product(C, A, B, I, J, K, [ai, ak], [bj, bk]) {
  const evenI = I - (I % 2);
  const fourJ = J - (J % 4);
  for (let start = 0; start < K; start += BLOCK) {
    const end = Math.min(K, start + BLOCK);
    for (let i = 0; i < evenI; i += 2) {
      for (let j = 0; j < fourJ; j += 4) {
        let a0 = i * ai + start * ak;
        let a1 = a0 + ai;
        let b0 = j * bj + start * bk;
        let b1 = b0 + bj;
        let b2 = b1 + bj;
        let b3 = b2 + bj;
        let s00 = 0;
        let s01 = 0;
        let s02 = 0;
        let s03 = 0;
        let s10 = 0;
        let s11 = 0;
        let s12 = 0;
        let s13 = 0;
        for (let k = start; k < end; k += 1) {
          const x = A[a0];
          const y = A[a1];
          const p = B[b0];
          const q = B[b1];
          const r = B[b2];
          const s = B[b3];
          s00 += x * p;
          s01 += x * q;
          s02 += x * r;
          s03 += x * s;
          s10 += y * p;
          s11 += y * q;
          s12 += y * r;
          s13 += y * s;
          a0 += ak;
          a1 += ak;
          b0 += bk;
          b1 += bk;
          b2 += bk;
          b3 += bk;
        }
        const o = i * J + j;
        const u = o + J;
        C[o] += s00;
        C[o + 1] += s01;
        C[o + 2] += s02;
        C[o + 3] += s03;
        C[u] += s10;
        C[u + 1] += s11;
        C[u + 2] += s12;
        C[u + 3] += s13;
      }
    }
    for (let i = 0; i < I; i += 1) {
      // what is left of an odd row, or of columns by four
      for (let j = i < evenI ? fourJ : 0; j < J; j += 1) {
        let sum = 0;
        for (let k = start, a = i * ai + start * ak, b = j * bj + start * bk; k < end; k += 1, a += ak, b += bk)
          sum += A[a] * B[b];
        C[i * J + j] += sum;
      }
    }
  }
}

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
  const out = new Node(I, J, undefined, b ? [x, W, b] : [x, W], (g) => {
    product(x.grad, g, W.data, I, K, J, [J, 1], [1, K]);
    product(W.grad, g, x.data, J, K, I, [1, J], [1, K]);
    if (b) for (let i = 0, o = 0; i < I; i += 1) for (let j = 0; j < J; j += 1, o += 1) b.grad[j] += g[o];
  });
  if (b) for (let i = 0; i < I; i += 1) out.data.set(b.data, i * J);
  if (I === 1) times1(out.data, W.data, x.data);
  else product(out.data, x.data, W.data, I, J, K, [K, 1], [K, 1]);
  return out;
}

/** y += W x, for one vector x: quicker than the loop for many. */
function times1(y, W, x) {
  for (let i = 0, o = 0; i < y.length; i += 1) {
    let one = y[i];
    let two = 0;
    let j = 0;
    for (; j + 1 < x.length; j += 2, o += 2) {
      one += W[o] * x[j];
      two += W[o + 1] * x[j + 1];
    }
    if (j < x.length) {
      one += W[o] * x[j];
      o += 1;
    }
    y[i] = one + two;
  }
}

/**
 * f entry by entry; slope(x, y) is the derivative where f(x) = y.
 * @param {Node} a
 * @param {(x: number) => number} f
 * @param {(x: number, y: number) => number} slope
 */
function entries(a, f, slope) {
  const x = a.data;
  const y = new Float32Array(x.length);
  for (let i = 0; i < x.length; i += 1) y[i] = f(x[i]);
  return new Node(a.rows, a.columns, y, [a], (g) => {
    for (let i = 0; i < g.length; i += 1) a.grad[i] += g[i] * slope(x[i], y[i]);
  });
}

const ROOT = Math.sqrt(2 / Math.PI);
const hyperbolic = (x) => 1 - 2 / (1 + Math.exp(2 * x)); // quicker than Math.tanh, and as good in float32

/** @param {Node} a */
export const tanh = (a) => entries(a, hyperbolic, (_x, y) => 1 - y * y);
/** @param {Node} a */
export const sigmoid = (a) => entries(a, logistic, (_x, y) => y * (1 - y));
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
 * x Phi(x), the normal distribution by formula 7.1.26 of Abramowitz and Stegun, whose error is below 1.5e-7. Nothing
 * that is trained in the page has it, so it knows no slope.
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
    () => NaN,
  );

/**
 * x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), entry by entry. Its slope has the same tanh, so it is computed on the
 * way.
 * @param {Node} a
 */
export function gelu(a) {
  const out = new Node(a.rows, a.columns, undefined, [a], (g) => {
    for (let i = 0; i < g.length; i += 1) a.grad[i] += g[i] * slopes[i];
  });
  const slopes = new Float64Array(a.data.length);
  for (let i = 0; i < slopes.length; i += 1) {
    const x = a.data[i];
    const t = hyperbolic(ROOT * (x + 0.044715 * x * x * x));
    out.data[i] = 0.5 * x * (1 + t);
    slopes[i] = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * ROOT * (1 + 0.134145 * x * x);
  }
  return out;
}

/**
 * a + b, entry by entry; b may be one row, which is then added to every row of a.
 * @param {Node} a
 * @param {Node} b
 */
export function add(a, b) {
  const x = a.data;
  const y = b.data;
  const n = b.data.length;
  const sum = new Float32Array(x.length);
  for (let i = 0, j = 0; i < x.length; i += 1, j = j + 1 === n ? 0 : j + 1) sum[i] = x[i] + y[j];
  return new Node(a.rows, a.columns, sum, [a, b], (g) => {
    for (let i = 0, j = 0; i < g.length; i += 1, j = j + 1 === n ? 0 : j + 1) {
      a.grad[i] += g[i];
      b.grad[j] += g[i];
    }
  });
}

/**
 * a - b and a * b, entry by entry.
 * @param {Node} a
 * @param {Node} b
 */
export function minus(a, b) {
  return new Node(
    a.rows,
    a.columns,
    a.data.map((v, i) => v - b.data[i]),
    [a, b],
    (g) => {
      for (let i = 0; i < g.length; i += 1) {
        a.grad[i] += g[i];
        b.grad[i] -= g[i];
      }
    },
  );
}

/** @type {(a: Node, b: Node) => Node} */
export function times(a, b) {
  const x = a.data;
  const y = b.data;
  const out = new Float32Array(x.length);
  for (let i = 0; i < x.length; i += 1) out[i] = x[i] * y[i];
  return new Node(a.rows, a.columns, out, [a, b], (g) => {
    for (let i = 0; i < g.length; i += 1) {
      a.grad[i] += g[i] * y[i];
      b.grad[i] += g[i] * x[i];
    }
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
 * Each pair of a head's numbers turned by t w_j, w_j = base^(-2j/d_k) (lmbook.positions.rotary); row 0 is at `start`.
 * @param {Node} a
 * @param {number} start
 * @param {number} d_k
 */
export function rotary(a, start, d_k, base = 10000) {
  const turned = (data, way) => {
    const out = new Float32Array(data.length);
    for (let o = 0; o < out.length; o += 2) {
      const t = start + Math.floor(o / a.columns);
      const angle = way * t * base ** (-((o % a.columns) % d_k) / d_k);
      out[o] = data[o] * Math.cos(angle) - data[o + 1] * Math.sin(angle);
      out[o + 1] = data[o] * Math.sin(angle) + data[o + 1] * Math.cos(angle);
    }
    return out;
  };
  return new Node(a.rows, a.columns, turned(a.data, 1), [a], (g) => {
    turned(g, -1).forEach((v, i) => {
      a.grad[i] += v;
    });
  });
}

/**
 * Rows from..to.
 * @param {Node} a
 * @param {number} from
 * @param {number} to
 */
export function slice(a, from, to) {
  const start = from * a.columns;
  const end = to * a.columns;
  return new Node(to - from, a.columns, a.data.slice(start, end), [a], (g) => {
    for (let i = 0; i < g.length; i += 1) a.grad[start + i] += g[i];
  });
}

/**
 * Matrices of equal width below each other.
 * @param {Node[]} parts
 */
export function stack(parts) {
  const out = new Node(
    parts.reduce((sum, part) => sum + part.rows, 0),
    parts[0].columns,
    undefined,
    parts,
    (g) => {
      let at = 0;
      for (const { grad } of parts) for (let i = 0; i < grad.length; i += 1, at += 1) grad[i] += g[at];
    },
  );
  let at = 0;
  for (const { data } of parts) {
    out.data.set(data, at);
    at += data.length;
  }
  return out;
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
  const d = x.columns;
  const standard = new Float32Array(x.data.length);
  const scale = new Float64Array(x.rows);
  const out = new Node(x.rows, d, undefined, [x, gain, b], (g) => {
    for (let r = 0; r < x.rows; r += 1) {
      let mean = 0;
      let along = 0;
      for (let j = 0, o = r * d; j < d; j += 1, o += 1) {
        mean += (g[o] * gain.data[j]) / d;
        along += (g[o] * gain.data[j] * standard[o]) / d;
        gain.grad[j] += g[o] * standard[o];
        b.grad[j] += g[o];
      }
      for (let j = 0, o = r * d; j < d; j += 1, o += 1)
        x.grad[o] += scale[r] * (g[o] * gain.data[j] - mean - along * standard[o]);
    }
  });
  for (let r = 0; r < x.rows; r += 1) {
    let mean = 0;
    let square = 0;
    for (let o = r * d; o < (r + 1) * d; o += 1) mean += x.data[o] / d;
    for (let o = r * d; o < (r + 1) * d; o += 1) square += (x.data[o] - mean) ** 2 / d;
    scale[r] = 1 / Math.sqrt(square + eps);
    for (let j = 0, o = r * d; j < d; j += 1, o += 1) {
      standard[o] = (x.data[o] - mean) * scale[r];
      out.data[o] = standard[o] * gain.data[j] + b.data[j];
    }
  }
  return out;
}

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
  const q_row = Q.columns;
  const v_row = V.columns;
  const weights = new Float32Array(B * heads * T * N); // 0 where a step may not look
  const scores = new Float32Array(weights.length);
  const each = (f) => {
    for (let b = 0, w = 0; b < B; b += 1)
      for (let h = 0; h < heads; h += 1) for (let t = 0; t < T; t += 1, w += N) f(b, h, t, w, causal ? t + 1 : N);
  };
  const slopes = new Float64Array(N);
  const out = new Node(Q.rows, V.columns, undefined, [Q, K, V], (g) =>
    each((b, h, t, w, seen) => {
      const q = (t * B + b) * q_row + h * d_k;
      const o = (t * B + b) * v_row + h * d_v;
      let mean = 0; // of the slopes by the weights
      for (let i = 0; i < seen; i += 1) {
        const v = (i * B + b) * v_row + h * d_v;
        const alpha = weights[w + i];
        let slope = 0;
        for (let j = 0; j < d_v; j += 1) {
          slope += g[o + j] * V.data[v + j];
          V.grad[v + j] += alpha * g[o + j];
        }
        slopes[i] = slope;
        mean += alpha * slope;
      }
      for (let i = 0; i < seen; i += 1) {
        const k = (i * B + b) * q_row + h * d_k;
        const score = scale * weights[w + i] * (slopes[i] - mean);
        for (let j = 0; j < d_k; j += 1) {
          Q.grad[q + j] += score * K.data[k + j];
          K.grad[k + j] += score * Q.data[q + j];
        }
      }
    }),
  );
  each((b, h, t, w, seen) => {
    const q = (t * B + b) * q_row + h * d_k;
    const o = (t * B + b) * v_row + h * d_v;
    let most = -Infinity;
    let sum = 0;
    for (let i = 0; i < seen; i += 1) {
      const k = (i * B + b) * q_row + h * d_k;
      let score = 0;
      for (let j = 0; j < d_k; j += 1) score += Q.data[q + j] * K.data[k + j];
      scores[w + i] = scale * score;
      most = Math.max(most, scores[w + i]);
    }
    for (let i = 0; i < seen; i += 1) {
      weights[w + i] = Math.exp(scores[w + i] - most);
      sum += weights[w + i];
    }
    for (let i = 0; i < seen; i += 1) {
      const v = (i * B + b) * v_row + h * d_v;
      weights[w + i] /= sum;
      for (let j = 0; j < d_v; j += 1) out.data[o + j] += weights[w + i] * V.data[v + j];
    }
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
  const p = z.vectors().map((row, r) => (targets[r] < 0 ? null : softmax(row)));
  const out = new Node(1, 1, undefined, [z], ([g]) => {
    p.forEach((row, r) => {
      if (row) for (let j = 0; j < d; j += 1) z.grad[r * d + j] += (g / n) * (row[j] - (j === targets[r] ? 1 : 0));
    });
  });
  out.data[0] = -targets.reduce((total, target, r) => total + (target < 0 ? 0 : logSoftmax(z.row(r))[target]), 0) / n;
  return out;
}
