// layers.mjs: what all networks of the book are made of, on one vector at a time (lmbook/layers.py).
//
//   affine  W x + b      norm  g (x - mean) / sqrt(variance + eps) + b      softmax  e^x / sum e^x
//
// A vector is a Float32Array, a sequence an array of vectors. Sums are taken in double precision.
// Weights are found by the names that they have in Python: w("encoder.norm.bias") is an array, or undefined.

/** The weights of one part of a model: below(w, "encoder")("norm.bias") is w("encoder.norm.bias"). */
export const below = (w, part) => (name) => w(`${part}.${name}`);

/** W x + b.  W: rows one after the other. */
export function linear(W, x, b) {
  const rows = W.length / x.length;
  const width = x.length;
  const out = new Float32Array(rows);
  for (let i = 0, o = 0; i < rows; i += 1) {
    let one = b ? b[i] : 0;
    let two = 0;
    let j = 0;
    for (; j + 1 < width; j += 2, o += 2) {
      one += W[o] * x[j];
      two += W[o + 1] * x[j + 1];
    }
    if (j < width) {
      one += W[o] * x[j];
      o += 1;
    }
    out[i] = one + two;
  }
  return out;
}

/** x -> W x + b, with the weights NAME.weight and, if there is one, NAME.bias. */
export function affine(w, name) {
  const W = w(`${name}.weight`);
  const b = w(`${name}.bias`);
  if (!W) throw new Error(`the file of weights has no ${name}.weight`);
  return (x) => linear(W, x, b);
}

/** g (x - mean) / sqrt(variance + eps) + b */
export function norm(x, g, b, eps = 1e-5) {
  let mean = 0;
  let square = 0;
  for (const v of x) mean += v / x.length;
  for (const v of x) square += (v - mean) ** 2 / x.length;
  const scale = 1 / Math.sqrt(square + eps);
  return x.map((v, i) => g[i] * (v - mean) * scale + (b ? b[i] : 0));
}

/** The LayerNorm NAME; nothing happens where the model has none there. So pre- and post-norm are one code. */
export function layerNorm(w, name, eps) {
  const g = w(`${name}.weight`);
  const b = w(`${name}.bias`);
  return g ? (x) => norm(x, g, b, eps) : (x) => x;
}

/** Row i of a table, as a vector of its own. */
export const row = (table, i) => table.slice(i * table.shape[1], (i + 1) * table.shape[1]);

export const add = (a, b) => a.map((v, i) => v + b[i]);

/** [a ; b], one below the other. */
export function beside(...parts) {
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** e^x normalised, in double precision. */
export function softmax(x) {
  let most = -Infinity;
  let sum = 0;
  for (const v of x) most = Math.max(most, v);
  const out = Float64Array.from(x, (v) => Math.exp(v - most));
  for (const v of out) sum += v;
  return out.map((v) => v / sum);
}

export const sigma = (a) => 1 / (1 + Math.exp(-a));
export const relu = (x) => Math.max(0, x);
export const geluTanh = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** x Phi(x), the normal distribution by formula 7.1.26 of Abramowitz and Stegun, whose error is below 1.5e-7. */
export function gelu(x) {
  const z = Math.abs(x) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * z);
  const tail =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) *
    Math.exp(-z * z);
  return x * (x < 0 ? tail / 2 : 1 - tail / 2);
}

/** sin(t w_j), cos(t w_j), w_j = base^(-2j/d): the code of position t, of width d. */
export function sinusoidal(t, d, base = 10000) {
  return Float32Array.from({ length: d }, (_, k) => {
    const angle = t * base ** ((-2 * Math.floor(k / 2)) / d);
    return k % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** Each pair of a head's numbers turned by the angle t w_j (lmbook.positions.rotary).  d_k: width of a head. */
export function rotary(x, t, d_k, base = 10000) {
  for (let i = 0; i < x.length; i += 2) {
    const angle = t * base ** (-(i % d_k) / d_k);
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    const a = x[i];
    const b = x[i + 1];
    x[i] = a * cos - b * sin;
    x[i + 1] = a * sin + b * cos;
  }
  return x;
}
