// logits.mjs: what goes out: the logits, and one of them.
import { fmt } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { lanes, sheet, text } from "./shapes.mjs";
import { cut, seen, signed } from "./path.mjs";
import { products, rows } from "./sums.mjs";

const HEAD = {
  translator: "*y* = [LN] *x*_K",
  blank: "*y* = [LN] [gelu](W *x*_K + *b*)",
  next: "*y* = [LN] *x*_K",
};
/** What stands there, or comes next in the text, and what the model gives it. */
function cameIn({ kind }, { came }, hidden) {
  if (!came) return "";
  const told = `has P = ${fmt.prob(came.p)}, rank ${fmt.count(came.rank)}`;
  if (kind === "next") return ` ${fmt.quote(seen(came.text))}, which comes next in the text, ${told}.`;
  return ` ${fmt.quote(seen(came.text))}, which ${hidden ? "is hidden" : "it reads"} there, ${told}.`;
}

export function output({ at, about, stages: [stage], word, hidden }) {
  const [behind, last] = about.kind === "blank" ? ["at", "map"] : ["behind", "sum"];
  const row = ({ text: word, logit, p }, k) => [
    k,
    cut(seen(word)),
    `${fmt.num(logit, 1)} → ${fmt.share(p, 3)}`,
    0.8 * p,
  ];
  const told = stage.others.map(row);
  const [best] = stage.others;
  const parts = rows(104, at.path, "logit and probability", "decoder", told);
  return {
    node: sheet(
      112 + 27 * parts.length,
      lanes([[`y: the norm of the last ${last}, ${behind} “${cut(seen(word))}”`, stage.read, "state"]]),
      text(318, 98, "logit → probability", "end small muted"),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula(
      "The logits are E times y, and P is their softmax",
      HEAD[about.kind],
      `z_w = E_w · *y*${about.kind === "blank" ? " + c_w" : ""}`,
      "P(w) = [softmax](*z*)_w",
    ),
    note:
      `E is the ${about.tower === "encoder" ? "model" : "decoder"}'s table of ${about.unit}s once more: a ` +
      `${about.unit} is likely where its own row points the way of y.`,
    words:
      `${about.kind === "blank" ? "At" : "Behind"} ${fmt.quote(seen(word))} the likeliest is ` +
      `${fmt.quote(seen(best.text))}, with logit ${fmt.num(best.logit)} and P = ${fmt.share(best.p, 3)}.` +
      cameIn(about, stage, hidden),
    table: {
      head: [about.unit, "logit", "P"],
      rows: stage.others.map((one) => [seen(one.text), fmt.num(one.logit, 3), fmt.num(one.p, 4)]),
    },
  };
}

export function logitView({ at, about, stages: [stage] }) {
  const j = Math.min(at.number, stage.others.length - 1);
  const one = stage.others[j];
  const biased = about.kind === "blank";
  const made = products({
    E: [one.row, `row of “${cut(seen(one.text))}” in E`, "parameter"],
    y: [stage.read, `y: the norm of the last ${biased ? "map" : "sum"}`, "state"],
  });
  return {
    ...made,
    siblings: stage.others.map((_, k) => k),
    number: j,
    formula: formula(
      `The logit is ${fmt.num(one.logit)}`,
      `z = E_w · *y*${biased ? " + c_w" : ""} = ${fmt.num(made.sum)}` +
        (biased ? ` ${signed(one.bias)} = ${fmt.num(one.logit)}` : ""),
      `P = frac{e^z}{∑_u e^{z_u}} = ${fmt.num(one.p, 3)}`,
    ),
    words:
      `${one.row.length} products add up to ` +
      (biased ? `${fmt.num(made.sum)}, with the bias to ` : "") +
      `the logit of ${fmt.quote(seen(one.text))}, ${fmt.num(one.logit)}; after the softmax P = ` +
      `${fmt.num(one.p, 3)}.`,
  };
}
