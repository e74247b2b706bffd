// A softmax layer as a graph of numbers: three logits, two inputs. Reverse mode, one product an arrow.
//
//   z_i = w_i1 x_1 + w_i2 x_2      y_i = e^{z_i} / sum_j e^{z_j}  (y-hat)      L = -ln y_label

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
  const value = {};
  x.forEach((v, k) => {
    value[`x${k + 1}`] = v;
  });
  W.forEach((row, i) =>
    row.forEach((v, k) => {
      value[`w${i + 1}${k + 1}`] = v;
    }),
  );
  for (const i of ROWS) value[`z${i}`] = value[`w${i}1`] * value.x1 + value[`w${i}2`] * value.x2;
  const most = Math.max(...ROWS.map((i) => value[`z${i}`]));
  const rest = Math.log(ROWS.reduce((sum, i) => sum + Math.exp(value[`z${i}`] - most), 0));
  for (const i of ROWS) value[`y${i}`] = Math.exp(value[`z${i}`] - most - rest);
  value.L = -(value[`z${label}`] - most - rest);

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

/** The slope of L by an input or a weight, from two small steps. */
export function measured(x, W, label, name, step = 1e-5) {
  const at = (shift) => {
    const a = [...x];
    const b = W.map((row) => [...row]);
    if (name[0] === "x") a[name[1] - 1] += shift;
    else b[name[1] - 1][name[2] - 1] += shift;
    return layer(a, b, label).value.L;
  };
  return (at(step) - at(-step)) / (2 * step);
}
