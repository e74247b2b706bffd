// A GPT over the pixels of an image: it reads the same rows behind each class, and goes on writing from there.
//
// The model itself is the one of gpt.mjs. Its weights come in the state as int8 with one scale a row, s_i q_ij, in
// base64; see digit.py.
import { GPT, bytes, softmax } from "./gpt.mjs";

const floats = (text) => new Float32Array(bytes(text).slice().buffer);

/** The weights by name: a Map to Float32Array, matrices row by row. */
export function unpack(packed) {
  const found = new Map();
  for (const [name, { q, s, v, shape }] of Object.entries(packed)) {
    if (v !== undefined) found.set(name, floats(v));
    else {
      const levels = new Int8Array(bytes(q).slice().buffer);
      const scales = floats(s);
      found.set(
        name,
        Float32Array.from(levels, (level, i) => level * scales[Math.floor(i / shape[1])]),
      );
    }
    found.get(name).shape = shape;
  }
  if (!found.has("output.weight")) found.set("output.weight", found.get("embedding.weight")); // tied
  return found;
}

export function logSoftmax(z) {
  let most = -Infinity;
  let sum = 0;
  for (const v of z) most = Math.max(most, v);
  for (const v of z) sum += Math.exp(v - most);
  return Array.from(z, (v) => v - most - Math.log(sum));
}

/** Uniform numbers in [0, 1) from a whole number (the generator mulberry32), the same here and in Python. */
export function uniforms(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * One of the numbers 0, 1, ... drawn from softmax(z / temperature) with u, uniform in [0, 1); temperature 0: the
 * likeliest.
 */
export function draw(z, temperature, u) {
  if (temperature === 0) return z.indexOf(Math.max(...z));
  let rest = u;
  const p = softmax(z.map((v) => v / temperature));
  const found = p.findIndex((share) => {
    rest -= share;
    return rest < 0;
  });
  return found < 0 ? p.length - 1 : found;
}

/** A GPT over the pixels of an image: <class> p_1 .. p_n, grey l has the id firstLevel + l, class c firstClass + c. */
export class PixelGPT extends GPT {
  constructor({ n_heads, first_level, levels, window, weights }) {
    const found = unpack(weights);
    super((name) => found.get(name), { n_heads, window, slide: window });
    this.firstLevel = first_level;
    this.firstClass = first_level + levels;
  }

  /** What was read so far, to go on from there several times. */
  kept() {
    return { tokens: [...this.tokens], past: this.past, logits: this.logits };
  }

  /** ln P(pixels | class c), and the state behind them, from where writing can go on. */
  behind(pixels, c) {
    this.clear();
    let logits = this.read(this.firstClass + c);
    let logP = 0;
    for (const grey of pixels) {
      logP += logSoftmax(logits)[this.firstLevel + grey];
      logits = this.read(this.firstLevel + grey);
    }
    return { logP, state: this.kept() };
  }

  /** n more pixels behind what was read. Returns the greys. */
  write({ state }, n, temperature, seed) {
    Object.assign(this, state);
    Object.assign(this, this.kept()); // a copy grows, the state stays
    const next = uniforms(seed);
    const greys = [];
    while (greys.length < n) {
      greys.push(draw(Array.from(this.logits.slice(this.firstLevel, this.firstClass)), temperature, next()));
      if (greys.length < n) this.read(this.firstLevel + greys.at(-1));
    }
    return greys;
  }
}
