// units.mjs: the network of a position, and one unit of it.
import { fmt, s } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { bar, sheet, text } from "./shapes.mjs";
import { cut, seen, signed } from "./path.mjs";
import { falling, products, rows } from "./sums.mjs";

const streamOf = ({ post }) => (post ? "stream" : "norm of the stream"); // what the network reads
const activation = (about, inside) => (about.f === "gelu" ? `[gelu](${inside})` : `"max"(0, ${inside})`);

export function feed({ at, about, stage, word }) {
  const { hidden } = stage;
  const order = falling(hidden);
  const top = hidden[order[0]] || 1;
  const on = hidden.filter((value) => value > 0).length;
  const square = (value, j) => {
    const dark = { "fill-opacity": (0.15 + (0.85 * value) / top).toFixed(2) };
    return value > 0 && bar(10 * (j % 32), 24 + 10 * Math.floor(j / 32), 9, 9, "parameter", dark);
  };
  const under = 42 + 10 * Math.ceil(hidden.length / 32);
  const largest = order.slice(0, 6).map((j) => [j, `unit ${j + 1}`, fmt.num(hidden[j]), hidden[j] / top]);
  const parts = rows(under + 16, at.path, "value", "parameter", largest);
  return {
    node: sheet(
      under + 22 + 27 * parts.length,
      text(0, 14, `${hidden.length} units; ${on} are above 0`, "start"),
      s("rect", { x: 0, y: 24, width: 319, height: under - 42, fill: "none", class: "lmo-zero" }),
      hidden.map(square),
      text(0, under + 6, "The largest:", "start"),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula(
      `W 2 times ${about.f === "gelu" ? "gelu" : "the larger of 0 and"} W 1 x plus b 1, plus b 2`,
      "[FFN](*x*) = W_2 *a* + *b*_2",
      `*a* = ${activation(about, "W_1 *x* + *b*_1")}`,
    ),
    note:
      `x is the ${streamOf(about)} at this ${about.unit === "word" ? "token" : about.unit} alone: the network sees ` +
      `no other. It widens ${stage.read.length} numbers to ${hidden.length}.`,
    words:
      `At ${fmt.quote(seen(word))}, ${on} of ${hidden.length} units are above 0; the largest, unit ` +
      `${order[0] + 1}, has ${fmt.num(top)}.`,
    table: { head: ["unit", "value"], rows: order.slice(0, 40).map((j) => [String(j + 1), fmt.num(hidden[j], 3)]) },
  };
}

export function unitView({ at, about, stage, word }) {
  const value = stage.hidden[stage.unit];
  const x = `x: the ${streamOf(about)} at “${cut(seen(word))}”`;
  const made = products({
    "W₁": [stage.row, `row ${stage.unit + 1} of W₁`, "parameter"],
    x: [stage.read, x, "state"],
  });
  return {
    ...made,
    siblings: falling(stage.hidden),
    number: at.number,
    formula: formula(
      `The unit is ${fmt.num(value)}`,
      `a = ${activation(about, "*w* · *x* + b")}`,
      ` = ${activation(about, `${fmt.num(made.sum)} ${signed(stage.bias)}`)}`,
      ` = ${fmt.num(value)}`,
    ),
    words:
      `${stage.row.length} products add up to ${fmt.num(made.sum)}; with the bias ${fmt.num(stage.bias)} and ` +
      `${about.f === "gelu" ? "after GELU" : "nothing below 0"} the unit is ${fmt.num(value)}.`,
  };
}
