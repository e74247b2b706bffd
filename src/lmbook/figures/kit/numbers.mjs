// numbers.mjs: the mathematics that figures and networks share.

/** @typedef {ArrayLike<number>} Numbers */

/** @param {Numbers} values */
export function sum(values) {
  let total = 0;
  for (let i = 0; i < values.length; i += 1) total += values[i];
  return total;
}

/** @param {Numbers} values */
export const mean = (values) => sum(values) / values.length;

/** a_1 b_1 + a_2 b_2 + ..  @type {(a: Numbers, b: Numbers) => number} */
export function dot(a, b) {
  let total = 0;
  for (let i = 0; i < a.length; i += 1) total += a[i] * b[i];
  return total;
}

export const sigmoid = (a) => 1 / (1 + Math.exp(-a));

const largest = (/** @type {Numbers} */ x) => {
  let most = -Infinity;
  for (let i = 0; i < x.length; i += 1) most = Math.max(most, x[i]);
  return most;
};

/** The logarithms of e^x normalised, in double precision.  @param {Numbers} x */
export function logSoftmax(x) {
  const most = largest(x);
  let total = 0;
  for (let i = 0; i < x.length; i += 1) total += Math.exp(x[i] - most);
  return Float64Array.from(x, (v) => v - most - Math.log(total));
}

/** e^x normalised, in double precision.  @param {Numbers} x */
export function softmax(x) {
  const most = largest(x);
  const out = Float64Array.from(x, (v) => Math.exp(v - most));
  const total = sum(out);
  return out.map((v) => v / total);
}

/** The k likeliest ids, the likeliest first, of equal ones the smaller id.  @param {Numbers} p */
export function likeliest(p, /** @type {number} */ k) {
  const best = [];
  for (let id = 0; id < p.length; id += 1) {
    if (best.length === k && p[id] <= p[best[k - 1]]) continue;
    let at = best.length;
    while (at > 0 && p[best[at - 1]] < p[id]) at -= 1;
    best.splice(at, 0, id);
    if (best.length > k) best.pop();
  }
  return best;
}

/** The last step of mulberry32: bits well mixed, as a number in [0, 1). */
function mixed(a) {
  let t = Math.imul(a ^ (a >>> 15), a | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

/** Uniform numbers in [0, 1) that follow from the seed alone (mulberry32), the same here and in Python. */
export function generator(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    return mixed(a);
  };
}

/** A number in [0, 1) that follows from the seed and the place alone. */
export const uniform = (seed, place) => mixed((Math.imul(seed + 1, 0x9e3779b1) + Math.imul(place + 1, 0x6d2b79f5)) | 0);

/** The id at which the running sum of p passes u; rounding may leave the sum a hair below 1. */
export function draw(/** @type {Numbers} */ p, /** @type {number} */ u) {
  let total = 0;
  let last = 0;
  for (let i = 0; i < p.length; i += 1) {
    if (p[i] <= 0) continue;
    total += p[i];
    last = i;
    if (u < total) break;
  }
  return last;
}

/**
 * What is drawn from: softmax(logits / temperature), cut to the topK likeliest, then to the fewest with topP together,
 * as lmbook.decode.distribution. Temperature 0 is greedy; topK 0 keeps all; -Infinity is never drawn.
 */
export function distribution(logits, temperature, topK, topP) {
  const greedy = temperature === 0;
  let p = softmax(Array.from(logits, (z) => z / (greedy ? 1 : temperature)));
  const order = [...p.keys()].sort((a, b) => p[b] - p[a] || a - b);
  const most = greedy ? 1 : topK || p.length;
  const share = (ids) => {
    const sum = ids.reduce((total, i) => total + p[i], 0);
    const next = new Float64Array(p.length);
    for (const i of ids) next[i] = p[i] / sum;
    p = next;
  };
  share(order.slice(0, most));
  let before = 0;
  share(
    order.slice(0, most).filter((i) => {
      const stays = topP >= 1 || before < topP;
      before += p[i];
      return stays;
    }),
  );
  return p;
}

/** A whole number from low to high.  @type {(random: () => number, low: number, high: number) => number} */
export const whole = (random, low, high) => low + Math.floor(random() * (high - low + 1));

/** The items in another order. */
export function shuffled(items, random) {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}
