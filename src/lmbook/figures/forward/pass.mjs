// The forward pass of a feed-forward language model: every layer of it, and what goes into each unit.
import { dot, logSoftmax, sigmoid, softmax } from "../kit/numbers.mjs";

/** Every layer of the pass. E has a row a word, W a row a hidden unit, U a row a word. */
export function forward(net, history) {
  const { E, W, U } = net;
  const e = history.flatMap((id) => E[id]);
  const a = W.map((row) => dot(row, e));
  const hidden = a.map(sigmoid);
  const z = U.map((row) => dot(row, hidden));
  return { e, a, h: hidden, z, y: [...softmax(z)], log_sum: z[0] - logSoftmax(z)[0] };
}

/** What goes into a unit: [{ from, weight, input, product }], the inputs of the layer before. */
export function sources(net, now, chosen) {
  const i = Number(chosen.slice(1));
  const layers = { e: [[]], h: [net.W[i - 1], "e", now.e], z: [net.U[i], "h", now.h] };
  const [weights, before, inputs] = layers[chosen[0]];
  return weights.map((weight, j) => {
    return { from: `${before}${j + 1}`, weight, input: inputs[j], product: weight * inputs[j] };
  });
}

/**
 * What word w gives hidden unit i at place p: the weights of this place times its vector.
 * @param {any} net
 * @param {number} i
 * @param {number} w
 * @param {number} p
 */
export const gives = ({ W, E }, i, w, p) => dot(W[i - 1].slice(p * E[0].length, (p + 1) * E[0].length), E[w]);
