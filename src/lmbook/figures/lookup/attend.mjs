// attend.mjs: a soft look-up by several heads, each of which asks with the query turned by another right angle.
import { dot, softmax } from "../kit/numbers.mjs";

/** @type {(place: number[], times: number) => number[]} */
export const turned = ([x, y], times) => (times ? turned([-y, x], times - 1) : [x, y]);

/** The weights of one query: softmax over the keys of beta q . k. */
function attend(q, keys, values, beta) {
  const weights = [...softmax(keys.map((k) => beta * dot(q, k)))];
  return { weights, answer: [0, 1].map((d) => values.reduce((sum, v, i) => sum + weights[i] * v[d], 0)) };
}

/** Where the answers of all heads together are, for a query. */
export function answered(query, n, keys, values, beta) {
  const all = Array.from({ length: n }, (_, j) => attend(turned(query, j), keys, values, beta));
  return { all, answer: [0, 1].map((d) => all.reduce((sum, head) => sum + head.answer[d], 0) / n) };
}

/** The corners of the convex hull, in order (Andrew's monotone chain). */
export function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const left = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) =>
    list.reduce((chain, p) => {
      while (chain.length > 1 && left(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
      chain.push(p);
      return chain;
    }, []);
  return [...half(sorted).slice(0, -1), ...half(sorted.reverse()).slice(0, -1)];
}
