// sums.mjs: what several views draw: a row that can be opened, and a number as a sum of products.
import { fmt, s } from "../kit/core.mjs";
import { WIDE, part, sheet, text, vector } from "./shapes.mjs";

/**
 * Rows that can be opened: each [place below `path` from 0, name, value, how long its bar is, of 1, or what is drawn in
 * its place].
 */
export const rows = (top, path, label, role, items) =>
  items.map(([j, name, value, share], k) => row(top + 27 * k, `${path}.${j + 1}`, label, name, value, share, role));

const row = (y, to, label, name, value, share, role) =>
  part(
    to,
    label,
    s("rect", { x: 0, y, width: WIDE, height: 25, rx: 4, class: "lmo-hit" }),
    text(96, y + 17, name, "end"),
    typeof share === "number"
      ? s("rect", {
          x: 104,
          y: y + 6,
          width: Math.max(0.5, 150 * share),
          height: 13,
          rx: 2,
          class: `lmo-head lmo-${role}`,
        })
      : share,
    text(318, y + 17, value, "end"),
  );

/** A number as a sum of products: two vectors and what each pair of entries gives. */
export function products(a, b, names, roles) {
  const each = a.map((value, j) => value * b[j]);
  const lanes = [
    [names[0], a, roles[0]],
    [names[1], b, roles[1]],
    [names[2], each, "state"],
  ];
  const node = sheet(
    252,
    lanes.map(([name, values, role], k) => [
      text(0, 20 + 82 * k, name, "start"),
      vector(0, 26 + 82 * k, WIDE, 52, values, role),
    ]),
  );
  return {
    each,
    node,
    sum: each.reduce((total, value) => total + value, 0),
    rows: each.map((value, j) => [String(j + 1), fmt.num(a[j], 3), fmt.num(b[j], 3), fmt.num(value, 3)]),
  };
}
export const largest = (each) => each.map((value, j) => [value, j]).sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]))[0];
