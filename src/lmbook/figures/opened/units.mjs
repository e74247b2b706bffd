// units.mjs: the network of a position, and one unit of it.
import { fmt, s } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { sheet, text } from "./shapes.mjs";
import { cut, seen, signed } from "./path.mjs";
import { products, rows } from "./sums.mjs";

const activation = (about, inside) => (about.f === "gelu" ? `[gelu](${inside})` : `"max"(0, ${inside})`);

export function feed({ at, about, stage, word }) {
  const { hidden } = stage;
  const order = [...hidden.keys()].sort((a, b) => hidden[b] - hidden[a] || a - b);
  const top = hidden[order[0]] || 1;
  const on = hidden.filter((value) => value > 0).length;
  const squares = hidden.map((value, j) =>
    value > 0
      ? s("rect", {
          x: 10 * (j % 32),
          y: 24 + 10 * Math.floor(j / 32),
          width: 9,
          height: 9,
          class: "lmo-head lmo-parameter",
          "fill-opacity": (0.15 + (0.85 * value) / top).toFixed(2),
        })
      : null,
  );
  const under = 42 + 10 * Math.ceil(hidden.length / 32);
  const largest = order.slice(0, 6).map((j) => [j, `unit ${j + 1}`, fmt.num(hidden[j]), hidden[j] / top]);
  const parts = rows(under + 16, at.path, "value", "parameter", largest);
  return {
    node: sheet(
      under + 22 + 27 * parts.length,
      text(0, 14, `${hidden.length} units; ${on} are above 0`, "start"),
      s("rect", { x: 0, y: 24, width: 319, height: under - 42, fill: "none", class: "lmo-zero" }),
      squares,
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
      "x is " +
      (about.post ? "the stream" : "the norm of the stream") +
      " at this " +
      (about.unit === "word" ? "token" : about.unit) +
      ` alone: the network sees no other. It widens ${stage.read.length} numbers to ${hidden.length}.`,
    words:
      `At ${fmt.quote(seen(word))}, ${on} of ${hidden.length} units are above 0; the largest, unit ` +
      `${order[0] + 1}, has ${fmt.num(top)}.`,
    table: { head: ["unit", "value"], rows: order.slice(0, 40).map((j) => [String(j + 1), fmt.num(hidden[j], 3)]) },
  };
}

export function unitView({ at, about, stage, word }) {
  const value = stage.hidden[stage.unit];
  const made = products(
    stage.row,
    stage.read,
    [
      `row ${stage.unit + 1} of W₁`,
      `x: the ${about.post ? "stream" : "norm of the stream"} at “${cut(seen(word))}”`,
      "their products, entry by entry",
    ],
    ["parameter", "state"],
  );
  const order = [...stage.hidden.keys()].sort((a, b) => stage.hidden[b] - stage.hidden[a] || a - b);
  return {
    node: made.node,
    parts: [],
    siblings: order,
    number: at.number,
    formula: formula(
      `The unit is ${fmt.num(value)}`,
      `a = ${activation(about, "*w* · *x* + b")}`,
      ` = ${activation(about, `${fmt.num(made.sum)} ${signed(stage.bias)}`)}`,
      ` = ${fmt.num(value)}`,
    ),
    words:
      `${stage.row.length} products add up to ${fmt.num(made.sum)}; with the bias ${fmt.num(stage.bias)} and ` +
      (about.f === "gelu" ? "after GELU" : "nothing below 0") +
      ` the unit is ${fmt.num(value)}.`,
    table: { head: ["entry", "W₁", "x", "product"], rows: made.rows },
  };
}
