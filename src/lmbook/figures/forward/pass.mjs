// The forward pass of a feed-forward language model: every layer of it, and what goes into each unit.
import { dot, logSoftmax, sigmoid, softmax } from "../kit/numbers.mjs";

/**
 * Every layer of the pass. E has a row a word, W a row a hidden unit, U a row a word.
 * @param {{ E?: number[][], W?: number[][], U?: number[][], history: number[] }} net
 */
export function forward({ E, W, U, history }) {
  const e = history.flatMap((id) => E[id]);
  const a = W.map((row) => dot(row, e));
  const hidden = a.map(sigmoid);
  const z = U.map((row) => dot(row, hidden));
  return { e, a, h: hidden, z, y: [...softmax(z)], log_sum: z[0] - logSoftmax(z)[0] };
}

/** What goes into a unit: [{ from, weight, input, product }], the inputs of the layer before. */
export function sources(net, now, chosen) {
  const i = Number(chosen.slice(1));
  if (chosen[0] === "h")
    return net.W[i - 1].map((weight, j) => ({
      from: `e${j + 1}`,
      weight,
      input: now.e[j],
      product: weight * now.e[j],
    }));
  if (chosen[0] === "z")
    return net.U[i].map((weight, k) => ({ from: `h${k + 1}`, weight, input: now.h[k], product: weight * now.h[k] }));
  return [];
}

/**
 * What word w gives hidden unit i at place p: the weights of this place times its vector.
 * @param {any} net
 * @param {number} i
 * @param {number} w
 * @param {number} p
 */
export const gives = ({ W, E }, i, w, p) => dot(W[i - 1].slice(p * E[0].length, (p + 1) * E[0].length), E[w]);
