// layers.mjs: what all networks of the book are made of (lmbook/layers.py), on rows of a matrix (autograd.mjs).
//
//   affine  W x + b      norm  g (x - mean) / sqrt(variance + eps) + b
//
// Weights are found by the names that they have in Python: w("encoder.norm.bias") is a Node, or undefined.
import { Node, layerNorm as norm, linear } from "./autograd.mjs";

/** @typedef {(name: string) => Node | undefined} Weights */

/**
 * The weights of one part of a model: below(w, "encoder")("norm.bias") is w("encoder.norm.bias").
 * @param {Weights} w
 * @param {string} part
 * @returns {Weights}
 */
export const below = (w, part) => (name) => w(`${part}.${name}`);

/**
 * x -> W x + b, with the weights NAME.weight and, if there is one, NAME.bias.
 * @param {Weights} w
 * @param {string} name
 * @returns {(x: Node) => Node}
 */
export function affine(w, name) {
  const W = w(`${name}.weight`);
  const b = w(`${name}.bias`);
  if (!W) throw new Error(`the file of weights has no ${name}.weight`);
  return (x) => linear(x, W, b);
}

/**
 * The LayerNorm NAME; nothing happens where the model has none there. So pre- and post-norm are one code.
 * @param {Weights} w
 * @param {string} name
 * @param {number} [eps]
 * @returns {(x: Node) => Node}
 */
export function layerNorm(w, name, eps) {
  const g = w(`${name}.weight`);
  const b = w(`${name}.bias`);
  return g ? (x) => norm(x, g, b, eps) : (x) => x;
}

/**
 * Numbers as a matrix of one row.
 * @param {ArrayLike<number>} numbers
 */
export const vector = (numbers) => new Node(1, numbers.length, Float32Array.from(numbers));

/** sin(t w_j), cos(t w_j), w_j = base^(-2j/d): the code of position t, of width d. */
export function sinusoidal(t, d, base = 10000) {
  return Float32Array.from({ length: d }, (_, k) => {
    const angle = t * base ** ((-2 * Math.floor(k / 2)) / d);
    return k % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}
