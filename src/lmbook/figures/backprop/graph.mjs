// A softmax layer as a graph of numbers: three logits, two inputs. Reverse mode, one product an arrow.
//
//   z_i = w_i1 x_1 + w_i2 x_2      y_i = e^{z_i} / sum_j e^{z_j}  (y-hat)      L = -ln y_label

import { dot, logSoftmax } from "../kit/numbers.mjs";

const ROWS = [1, 2, 3];
const COLUMNS = [1, 2];

/** The names of all numbers, inputs first: x1, x2, w11 .. w32, z1 .. z3, y1 .. y3, L. */
export const NAMES = [
  ...COLUMNS.map((k) => `x${k}`),
  ...ROWS.flatMap((i) => COLUMNS.map((k) => `w${i}${k}`)),
  ...ROWS.map((i) => `z${i}`),
  ...ROWS.map((i) => `y${i}`),
  "L",
];

/**
 * { value, by, arrows }: every number, the derivative of L by it, and the arrows { from, to, local }, local = d to / d
 * from.
 */
export function layer(x, W, label) {
  const z = W.map((row) => dot(row, x));
  const logs = [...logSoftmax(z)];
  const all = [...x, ...W.flat(), ...z, ...logs.map(Math.exp), -logs[label - 1]];
  const value = Object.fromEntries(NAMES.map((name, n) => [name, all[n]]));

  const arrows = [];
  for (const i of ROWS) {
    for (const k of COLUMNS) {
      arrows.push({ from: `w${i}${k}`, to: `z${i}`, local: value[`x${k}`] });
      arrows.push({ from: `x${k}`, to: `z${i}`, local: value[`w${i}${k}`] });
    }
    for (const j of ROWS) {
      const local = value[`y${i}`] * ((i === j ? 1 : 0) - value[`y${j}`]);
      arrows.push({ from: `z${j}`, to: `y${i}`, local });
    }
    arrows.push({ from: `y${i}`, to: "L", local: i === label ? -1 / value[`y${i}`] : 0 });
  }
  const by = Object.fromEntries(NAMES.map((name) => [name, 0]));
  by.L = 1;
  // In this order every number comes after all that are computed from it, so its derivative is complete.
  for (const name of [...NAMES].reverse()) {
    for (const { to, local } of arrows.filter((arrow) => arrow.from === name)) by[name] += by[to] * local;
  }
  return { value, by, arrows };
}

/** { x, W } with another value of one of its numbers. */
export function changed(now, name, value) {
  const { x, W } = now;
  const [k, j] = [...name.slice(1)].map((digit) => digit - 1);
  if (name[0] === "x") return { x: x.with(k, value), W };
  return { x, W: W.with(k, W[k].with(j, value)) };
}

/** The slope of L by an input or a weight, from two small steps. */
export function measured(now, label, name, value, step = 1e-5) {
  const at = (v) => {
    const { x, W } = changed(now, name, v);
    return layer(x, W, label).value.L;
  };
  return (at(value + step) - at(value - step)) / (2 * step);
}
