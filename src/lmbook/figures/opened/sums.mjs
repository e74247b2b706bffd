// sums.mjs: what several views draw: a row that can be opened, and a number as a sum of products.
import { fmt } from "../kit/core.mjs";
import { bar, hit, lanes, part, sheet, text } from "./shapes.mjs";

/**
 * Rows that can be opened: each [place below `path` from 0, name, value, how long its bar is, of 1, or what is drawn in
 * its place].
 */
export const rows = (top, path, label, role, items) =>
  items.map(([j, name, value, share], k) => {
    const y = top + 27 * k;
    return part(
      `${path}.${j + 1}`,
      label,
      hit(y, 25),
      text(96, y + 17, name, "end"),
      typeof share === "number" ? bar(104, y + 6, Math.max(0.5, 150 * share), 13, role, { rx: 2 }) : share,
      text(318, y + 17, value, "end"),
    );
  });

/** A sum of products: two vectors, { letter: [vector, name, role] }, and what each pair of entries gives. */
export function products(vectors) {
  const [[a], [b]] = Object.values(vectors);
  const each = a.map((value, j) => value * b[j]);
  const all = [...Object.values(vectors), [each, "their products, entry by entry", "state"]];
  return {
    each,
    node: sheet(
      252,
      lanes(
        all.map(([values, name, role]) => [name, values, role]),
        20,
        52,
      ),
    ),
    sum: each.reduce((total, value) => total + value, 0),
    table: {
      head: ["entry", ...Object.keys(vectors), "product"],
      rows: each.map((value, j) => [String(j + 1), ...[a[j], b[j], value].map((x) => fmt.num(x, 3))]),
    },
  };
}

/** The places of values from the largest to the smallest, of equal ones the first before the others. */
export const falling = (values) => [...values.keys()].sort((a, b) => values[b] - values[a] || a - b);
