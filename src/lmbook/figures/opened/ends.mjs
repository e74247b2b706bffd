// ends.mjs: what comes in and what goes out: sums of rows, logits, and their entries.
import { fmt, s } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { WIDE, path, sheet, text, vector } from "./shapes.mjs";
import { cut, seen, signed } from "./path.mjs";
import { products, row } from "./sums.mjs";
import { START } from "./whole.mjs";

/** Rows of tables, added up, as a half alone begins with them. */
export function sumOfRows({ at, about, stages, word, place }) {
  const next = stages.at(-1).next;
  const last = stages.length - 1;
  const names = [
    `row of “${cut(seen(word))}” in E`,
    `row ${place + 1} of P, for its position`,
    "row 1 of S, for the first segment",
  ].slice(0, stages.length);
  const lanes = stages.map((one, k) => [names[k], one.added, ["parameter", "encoder", "value"][k]]);
  if (last) lanes.push(["the norm of their sum, which enters the first layer", next, "state"]);
  const order = [...next.keys()].sort((a, b) => Math.abs(next[b]) - Math.abs(next[a]) || a - b);
  const under = 6 + 82 * lanes.length;
  const parts = order
    .slice(0, 5)
    .map((j, k) =>
      row(
        under + 27 * k,
        `${at.path}.${j + 1}`,
        "entry",
        `entry ${j}`,
        fmt.num(next[j]),
        Math.abs(next[j]) / Math.abs(next[order[0]]),
        "state",
      ),
    );
  const length = (vector_) => fmt.num(Math.hypot(...vector_), 1);
  return {
    node: sheet(
      under + 6 + 27 * parts.length,
      lanes.map(([name, values, role], k) => [
        text(0, 16 + 82 * k, name, { anchor: "start", size: 12.5 }),
        vector(0, 22 + 82 * k, WIDE, 54, values, role),
      ]),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula("x 0 is what enters the first layer", START[about.kind], `d = ${next.length}`),
    note: last
      ? "Each vector is drawn to its own scale. The first depends on the word, the second on its position, the " +
        "third is the same everywhere here."
      : "Nothing is added for the position: in every layer queries and keys are turned by it.",
    words: last
      ? `The row of ${fmt.quote(seen(word))} has length ${length(stages[0].added)}, that of position ` +
        `${place + 1} length ${length(stages[1].added)}, and the norm of the sum ${length(next)}.`
      : `The row of ${fmt.quote(seen(word))} in E has length ${length(next)}; it is all that enters.`,
    table: {
      head: ["entry", ...["E", "P", "S"].slice(0, stages.length), ...(last ? ["after the norm"] : [])],
      rows: [...next.keys()].map((j) => [
        String(j),
        ...stages.map((one) => fmt.num(one.added[j], 3)),
        ...(last ? [fmt.num(next[j], 3)] : []),
      ]),
    },
  };
}

/** One entry of it, from its parts. */
export function entryOfRows({ at, stages, word, place }) {
  const j = at.number;
  const next = stages.at(-1).next;
  const alone = stages.length === 1;
  const sums = next.map((_, k) => stages.reduce((sum, one) => sum + one.added[k], 0));
  const mean = sums.reduce((sum, value) => sum + value / sums.length, 0);
  const deviation = Math.sqrt(sums.reduce((sum, value) => sum + (value - mean) ** 2 / sums.length, 0));
  const names = [`“${cut(seen(word))}” in E`, `position ${place + 1}`, "segment 1"];
  const lanes = stages.map((one, k) => [names[k], one.added[j], ["parameter", "encoder", "value"][k]]);
  if (!alone) lanes.push(["sum", sums[j], "state"], ["after the norm", next[j], "state"]);
  const most = Math.max(...lanes.map(([, value]) => Math.abs(value)), 1e-9);
  const wide = (value) => (70 * Math.abs(value)) / most;
  const node = sheet(
    20 + 30 * lanes.length,
    s("line", { x1: 190, x2: 190, y1: 4, y2: 12 + 30 * lanes.length, class: "lmo-zero" }),
    lanes.map(([name, value, role], k) => [
      text(112, 22 + 30 * k, name, { anchor: "end", size: 12.5 }),
      s("rect", {
        x: value < 0 ? 190 - wide(value) : 190,
        y: 10 + 30 * k,
        width: Math.max(0.5, wide(value)),
        height: 14,
        class: `lmo-head lmo-${role}`,
      }),
      text(318, 22 + 30 * k, fmt.num(value, 3), { anchor: "end", size: 12.5 }),
    ]),
  );
  const own = stages.map((one) => one.added[j]);
  return {
    node,
    parts: [],
    siblings: [...next.keys()],
    number: j,
    formula: alone
      ? formula(`The entry is ${fmt.num(own[0], 3)}`, `x = ${fmt.num(own[0], 3)}`)
      : formula(
          `The entry is ${fmt.num(next[j], 3)}`,
          `s = ${fmt.num(own[0], 3)} ${signed(own[1], 3)} ${signed(own[2], 3)} = ${fmt.num(sums[j], 3)}`,
          `x = g frac{s ${signed(-mean, 3)}}{${fmt.num(deviation, 3)}} + b = ${fmt.num(next[j], 3)}`,
        ),
    note: alone
      ? ""
      : "The norm takes the mean of all entries from the sum and divides by their deviation; then come a gain g " +
        "and a bias b of this entry.",
    words:
      `Entry ${j + 1} of ${fmt.quote(seen(word))} is ${fmt.num(next[j], 3)}` +
      (alone
        ? ""
        : `: ${fmt.num(own[0], 3)} of the word, ${fmt.num(own[1], 3)} of the position and ${fmt.num(own[2], 3)} ` +
          "of the segment, behind the norm") +
      ".",
    table: { head: ["part", "value"], rows: lanes.map(([name, value]) => [name, fmt.num(value, 3)]) },
  };
}

const SPEEDS = [2, 10, 20, 40, 110]; // entries whose waves are fast to slow, counted from 0, as positions are

export function embedding({ at, stages, word, place }) {
  const [w, p] = stages.map((one) => one.added);
  const sum = w.map((value, j) => value + p[j]);
  const top = Math.max(...[w, p, sum].flat().map(Math.abs));
  const offered = SPEEDS.filter((j) => j < sum.length);
  const most = Math.max(...offered.map((j) => Math.abs(sum[j])));
  const parts = offered.map((j, k) =>
    row(
      212 + 27 * k,
      `${at.path}.${j + 1}`,
      "sum",
      `entry ${j}`,
      `${fmt.num(w[j])} ${signed(p[j])} = ${fmt.num(sum[j])}`,
      (0.4 * Math.abs(sum[j])) / most,
      "state",
    ),
  );
  const lanes = [
    [`√d times the row of “${cut(seen(word))}” in E`, w, "parameter", top],
    [`position ${place}, drawn taller: fast waves stand left`, p, "encoder", 1],
    ["their sum, which enters the first layer", sum, "state", top],
  ];
  return {
    node: sheet(
      222 + 27 * parts.length,
      lanes.map(([name, values, role, most], k) => [
        text(0, 16 + 70 * k, name, { anchor: "start", size: 12.5 }),
        vector(0, 21 + 70 * k, WIDE, 44, values, role, most),
      ]),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula(
      "x 0 is the root of d times the row of the word, plus the position",
      "*x*_0 = √{d} E_w + *p*_t",
      `p_{t, 2j} = "sin"(t ω_j),  p_{t, 2j+1} = "cos"(t ω_j)`,
      "ω_j = 10000^{−2j/d}",
    ),
    note: `d = ${w.length}; entries and positions are counted from 0.`,
    words:
      `The row of ${fmt.quote(seen(word))} has length ${fmt.num(Math.hypot(...w), 1)}, position ${place} length ` +
      `${fmt.num(Math.hypot(...p), 1)}, and their sum ${fmt.num(Math.hypot(...sum), 1)}.`,
    table: {
      head: ["entry", "word", "position", "sum"],
      rows: sum.map((value, j) => [String(j), fmt.num(w[j], 3), fmt.num(p[j], 3), fmt.num(value, 3)]),
    },
  };
}

export function entryView({ at, stages, word, place, total }) {
  const [w, p] = stages.map((one) => one.added);
  const j = at.number;
  const omega = 10000 ** ((-2 * Math.floor(j / 2)) / w.length);
  const wave = (t) => (j % 2 ? Math.cos(t * omega) : Math.sin(t * omega));
  const x = (t) => 22 + (284 * t) / Math.max(30, place);
  const y = (value) => 80 - 50 * value;
  const end = Math.max(30, place);
  const line = Array.from(
    { length: 4 * end + 1 },
    (_, k) => `${k ? "L" : "M"}${x(k / 4).toFixed(1)} ${y(wave(k / 4)).toFixed(1)}`,
  ).join("");
  return {
    node: sheet(
      190,
      text(0, 16, `entry ${j} of the position, at every position t`, { anchor: "start", size: 12.5 }),
      s("line", { x1: 22, x2: 306, y1: 80, y2: 80, class: "lmo-zero" }),
      path(line, "encoder", 2),
      [1, -1].map((one) => text(10, y(one) + 4, fmt.num(one, 0), { anchor: "end", size: 11.5, muted: true })),
      Array.from({ length: total }, (_, t) =>
        s("circle", { cx: x(t), cy: y(wave(t)), r: 3, class: "lmo-head lmo-encoder" }),
      ),
      s("circle", { cx: x(place), cy: y(wave(place)), r: 6, class: "lmo-head lmo-decoder" }),
      [0, 10, 20, 30].map((t) => text(x(t), 152, String(t), { size: 11.5, muted: true })),
      text(306, 172, "position t", { anchor: "end", size: 11.5, muted: true }),
    ),
    parts: [],
    siblings: [...w.keys()],
    number: j,
    formula: formula(
      `The entry is ${fmt.num(w[j] + p[j])}`,
      `p = "${j % 2 ? "cos" : "sin"}"(${place} · ${fmt.prob(omega)}) = ${fmt.num(p[j], 3)}`,
      "x = √{d} E + p",
      ` = ${fmt.num(w[j], 3)} ${signed(p[j], 3)} = ${fmt.num(w[j] + p[j], 3)}`,
    ),
    words:
      `${fmt.quote(seen(word))} at position ${place}: ${fmt.num(w[j], 3)} of the word and ` +
      `${fmt.num(p[j], 3)} of the position make ${fmt.num(w[j] + p[j], 3)}.`,
    table: {
      head: ["position t", "entry"],
      rows: Array.from({ length: 31 }, (_, t) => [String(t), fmt.num(wave(t), 3)]),
    },
  };
}

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
  const parts = stage.others.map((one, k) =>
    row(
      104 + 27 * k,
      `${at.path}.${k + 1}`,
      "logit and probability",
      cut(seen(one.text)),
      `${fmt.num(one.logit, 1)} → ${fmt.share(one.p, 3)}`,
      0.8 * one.p,
      "decoder",
    ),
  );
  return {
    node: sheet(
      112 + 27 * parts.length,
      text(0, 16, `y: the norm of the last ${last}, ${behind} “${cut(seen(word))}”`, { anchor: "start", size: 12.5 }),
      vector(0, 22, WIDE, 54, stage.read, "state"),
      text(318, 98, "logit → probability", { anchor: "end", size: 11.5, muted: true }),
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
      "E is the " +
      (about.tower === "encoder" ? "model" : "decoder") +
      `'s table of ${about.unit}s once more: a ${about.unit} is likely where its own row points the way of y.`,
    words:
      (about.kind === "blank" ? "At" : "Behind") +
      ` ${fmt.quote(seen(word))} the likeliest is ${fmt.quote(seen(stage.others[0].text))}, with logit ` +
      `${fmt.num(stage.others[0].logit)} and P = ${fmt.share(stage.others[0].p, 3)}.${cameIn(about, stage, hidden)}`,
    table: {
      head: [about.unit, "logit", "P"],
      rows: stage.others.map((one) => [seen(one.text), fmt.num(one.logit, 3), fmt.num(one.p, 4)]),
    },
  };
}

export function logitView({ at, about, stages: [stage] }) {
  const j = Math.min(at.number, stage.others.length - 1);
  const one = stage.others[j];
  const made = products(
    one.row,
    stage.read,
    [
      `row of “${cut(seen(one.text))}” in E`,
      `y: the norm of the last ${about.kind === "blank" ? "map" : "sum"}`,
      "their products, entry by entry",
    ],
    ["parameter", "state"],
  );
  const biased = about.kind === "blank";
  return {
    node: made.node,
    parts: [],
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
    table: { head: ["entry", "E", "y", "product"], rows: made.rows },
  };
}
