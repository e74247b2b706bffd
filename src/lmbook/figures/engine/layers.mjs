// layers.mjs: what all networks of the book are made of (lmbook/layers.py), on rows of a matrix (autograd.mjs).
//
//   affine  W x + b      norm  g (x - mean) / sqrt(variance + eps) + b
//
// Weights are found by the names that they have in Python: w("encoder.norm.bias") is a Node, or undefined.
import { Node, linear } from "./autograd.mjs";
import { layerNorm as norm } from "./autograd-layers.mjs";

/** @typedef {(name: string) => Node | undefined} Weights */

/**
 * The weights of one part of a model: below(w, "encoder")("norm.bias") is w("encoder.norm.bias").
 * @type {(w: Weights, part: string) => Weights}
 */
export const below = (w, part) => (name) => w(`${part}.${name}`);

/**
 * x -> W x + b, with the weights NAME.weight and, if there is one, NAME.bias.
 * @type {(w: Weights, name: string) => (x: Node) => Node}
 */
export function affine(w, name) {
  const W = w(`${name}.weight`);
  const b = w(`${name}.bias`);
  if (!W) throw new Error(`the file of weights has no ${name}.weight`);
  return (x) => linear(x, W, b);
}

/**
 * The LayerNorm NAME; nothing happens where the model has none there. So pre- and post-norm are one code.
 * @type {(w: Weights, name: string, eps?: number) => (x: Node) => Node}
 */
export function layerNorm(w, name, eps) {
  const g = w(`${name}.weight`);
  const b = w(`${name}.bias`);
  return g ? (x) => norm(x, g, b, eps) : (x) => x;
}

/** Of B texts side by side, the first element at `start`: at which step each row t B + b is. */
export const stepsOf = (ids, B = 1, start = 0) => ids.map((_, r) => start + Math.floor(r / B));

/** Numbers as a matrix of one row.  @type {(numbers: ArrayLike<number>) => Node} */
export const vector = (numbers) => new Node(1, numbers.length, Float32Array.from(numbers));

/** sin(t w_j), cos(t w_j), w_j = base^(-2j/d): the code of position t, of width d. */
export function sinusoidal(t, d, base = 10000) {
  return Float32Array.from({ length: d }, (_, k) => {
    const angle = t * base ** ((-2 * Math.floor(k / 2)) / d);
    return k % 2 ? Math.cos(angle) : Math.sin(angle);
  });
}
