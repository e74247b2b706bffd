// norms.mjs: the norms of gradients over distance, of a recurrent network, of its matrix alone and of an LSTM.
//
//   RNN   h_t = tanh(W_h h_{t-1} + W_x x_t)
//   LSTM  i, f, o = sigma(..), g = tanh(..)      c_t = f c_{t-1} + i g      h_t = o tanh(c_t)
//
// A matrix is a list of rows. The four matrices of the LSTM stand under each other in the order i, f, g, o, as in
// torch.

import { dot, sigmoid as sigma } from "../kit/numbers.mjs";

const times = (W, v) => W.map((row) => dot(row, v));
const back = (W, g) => W[0].map((_, i) => W.reduce((sum, row, j) => sum + row[i] * g[j], 0)); // W^T g
const norm = (v) => Math.sqrt(dot(v, v));
const zeros = (n) => Array(n).fill(0);

/**
 * Norms of dL/dh_T, dL/dh_{T-1}, .., dL/dh_1 of the RNN with scale W_h, for L = v . h_T. inputs: W_x x_t, one row a
 * step.
 */
export function rnnNorms({ W, v, inputs, scale, T }) {
  const states = [];
  let h = zeros(v.length);
  for (const input of inputs.slice(0, T)) {
    h = times(W, h).map((a, j) => Math.tanh(scale * a + input[j]));
    states.push(h);
  }
  return normsBack({ W, v, T }, (t, j) => scale * (1 - states[t][j] ** 2));
}

/** The same without the tanh: powers of the matrix. */
export const linearNorms = ({ W, v, scale, T }) => normsBack({ W, v, T }, () => scale);

/** The norms on the way back through W, where slope(t, j) multiplies the j-th number at step t. */
function normsBack({ W, v, T }, slope) {
  const norms = [norm(v)];
  for (let t = T - 1, g = v; t > 0; t -= 1) {
    const before = g.map((value, j) => value * slope(t, j));
    g = back(W, before);
    norms.push(norm(g));
  }
  return norms;
}

/** Norms of dL/dc_T, .., dL/dc_1 of the LSTM. W: (4 m, m); inputs: (T, 4 m); bias: of the forget gate. */
export function lstmNorms({ W, v, inputs, scale, T, bias }) {
  const m = v.length;
  const steps = [];
  let h = zeros(m);
  let c = zeros(m);
  for (const input of inputs.slice(0, T)) {
    const a = times(W, h).map((value, j) => scale * value + input[j]);
    const part = (k, fn, shift = 0) => a.slice(k * m, (k + 1) * m).map((value) => fn(value + shift));
    const step = { i: part(0, sigma), f: part(1, sigma, bias), g: part(2, Math.tanh), o: part(3, sigma), before: c };
    c = c.map((value, j) => step.f[j] * value + step.i[j] * step.g[j]);
    step.shown = c.map(Math.tanh);
    h = step.shown.map((value, j) => step.o[j] * value);
    steps.push(step);
  }
  let dh = v;
  let dc = zeros(m);
  const norms = [];
  for (const { i, f, g, o, before, shown } of steps.reverse()) {
    dc = dc.map((value, j) => value + dh[j] * o[j] * (1 - shown[j] ** 2));
    norms.push(norm(dc));
    const da = [
      dc.map((d, j) => d * g[j] * i[j] * (1 - i[j])),
      dc.map((d, j) => d * before[j] * f[j] * (1 - f[j])),
      dc.map((d, j) => d * i[j] * (1 - g[j] ** 2)),
      dh.map((d, j) => d * shown[j] * o[j] * (1 - o[j])),
    ].flat();
    dh = back(W, da).map((value) => scale * value);
    dc = dc.map((value, j) => value * f[j]);
  }
  return norms;
}

/** The rows of `inputs` times W_x: what the inputs add to each sum. */
export const projected = (W, inputs) => inputs.map((x) => times(W, x));
