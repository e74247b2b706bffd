// entries.mjs: what comes in: sums of rows, and their entries.
import { fmt, s } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { WIDE, bet, path, sheet, text, vector } from "./shapes.mjs";
import { cut, seen, signed } from "./path.mjs";
import { rows } from "./sums.mjs";
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
  const share = (/** @type {number} */ j) => Math.abs(next[j]) / Math.abs(next[order[0]]);
  const largest = order.slice(0, 5).map((j) => [j, `entry ${j}`, fmt.num(next[j]), share(j)]);
  const parts = rows(under, at.path, "entry", "state", largest);
  const length = (vector_) => fmt.num(Math.hypot(...vector_), 1);
  return {
    node: sheet(
      under + 6 + 27 * parts.length,
      lanes.map(([name, values, role], k) => [
        text(0, 16 + 82 * k, name, "start"),
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
      text(112, 22 + 30 * k, name, "end"),
      s("rect", {
        x: value < 0 ? 190 - wide(value) : 190,
        y: 10 + 30 * k,
        width: Math.max(0.5, wide(value)),
        height: 14,
        class: `lmo-head lmo-${role}`,
      }),
      text(318, 22 + 30 * k, fmt.num(value, 3), "end"),
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

const SPEEDS = [2, 10, 20, 110]; // entries whose waves are fast to slow, counted from 0, as positions are
export const LATER = 4; // positions, to see what is new when a word comes again
/** Entry j of the position t, of d. */
const wave = (j, d) => {
  const omega = 10000 ** ((-2 * Math.floor(j / 2)) / d);
  return { omega, at: (/** @type {number} */ t) => (j % 2 ? Math.cos(t * omega) : Math.sin(t * omega)) };
};

/** By how much each entry of the position's code changes until the word comes again. */
const moved = (p, place) => p.map((value, j) => wave(j, p.length).at(place + LATER) - value);
const PARTS = 5;
/** The share of that change, squared, in each fifth of the entries, from the left. */
export function fifths(p, place) {
  const squares = moved(p, place).map((change) => change ** 2);
  const all = squares.reduce((a, b) => a + b);
  const end = (/** @type {number} */ k) => Math.round((k * p.length) / PARTS);
  return Array.from({ length: PARTS }, (_, k) => squares.slice(end(k), end(k + 1)).reduce((a, b) => a + b, 0) / all);
}

export function embedding({ at, stages, word, place, said }) {
  const [w, p] = stages.map((one) => one.added);
  const sum = w.map((value, j) => value + p[j]);
  const top = Math.max(...[w, p, sum].flat().map(Math.abs));
  const end = Math.max(30, place);
  const speeds = SPEEDS.filter((j) => j < sum.length).map((j, k) => {
    const y = 224 + 27 * k;
    const own = wave(j, w.length);
    const spot = (/** @type {number} */ t) => [104 + (46 * t) / end, y + 12.5 - 9 * own.at(t)];
    const [cx, cy] = spot(place);
    const drawn = Array.from({ length: 4 * end + 1 }, (_, i) => spot(i / 4));
    return [
      j,
      `entry ${j}`,
      `${fmt.num(w[j], 3)} ${signed(p[j], 3)} = ${fmt.num(sum[j], 3)}`,
      [path(s.through(drawn), "encoder", 1.2), s("circle", { cx, cy, r: 4, class: "lmo-head lmo-decoder" })],
    ];
  });
  const parts = rows(224, at.path, "sum", "", speeds);
  const later = moved(p, place);
  const lanes = [
    [`√d times the row of “${cut(seen(word))}” in E`, w, "parameter", top],
    [`position ${place}, drawn taller`, p, "encoder", 1],
    ["their sum, which enters the first layer", sum, "state", top],
    [`the sum ${LATER} places later, minus the sum here`, later, "encoder", 2],
  ].map(([name, values, role, most], k) => [
    text(0, 14 + 56 * k, name, "start"),
    vector(0, 18 + 56 * k, WIDE, 34, values, role, most),
  ]);
  return {
    node: sheet(
      232 + 27 * parts.length,
      lanes.slice(0, 3),
      s("g", { class: "lmo-told" }, lanes.slice(3)),
      s("g", { class: "lmo-fifths" }, [
        Array.from({ length: PARTS + 1 }, (_, k) => s.rule(`M${(WIDE * k) / PARTS} 18V222`)),
        Array.from({ length: PARTS }, (_, k) => text((WIDE * (k + 0.5)) / PARTS, 196, String(k + 1), "small muted")),
      ]),
      said === null ? [] : bet((WIDE * said) / PARTS, 185, WIDE / PARTS, 37),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula(
      "x 0 is the root of d times the row of the word, plus the position",
      "*x*_0 = √{d} E_w + *p*_t",
      `p_{t, 2j} = "sin"(t ω_j),  p_{t, 2j+1} = "cos"(t ω_j)`,
      "ω_j = 10000^{−2j/d}",
    ),
    note: `d = ${w.length}; entries and positions are counted from 0. Beside each entry its wave, with this position.`,
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
  const { omega, at: height } = wave(j, w.length);
  const x = (t) => 22 + (284 * t) / Math.max(30, place);
  const y = (value) => 80 - 50 * value;
  const end = Math.max(30, place);
  const line = s.through(Array.from({ length: 4 * end + 1 }, (_, k) => [x(k / 4), y(height(k / 4))]));
  return {
    node: sheet(
      190,
      text(0, 16, `entry ${j} of the position, at every position t`, "start"),
      s("line", { x1: 22, x2: 306, y1: 80, y2: 80, class: "lmo-zero" }),
      path(line, "encoder", 2),
      [1, -1].map((one) => text(10, y(one) + 4, fmt.num(one, 0), "end small muted")),
      Array.from({ length: total }, (_, t) =>
        s("circle", { cx: x(t), cy: y(height(t)), r: 3, class: "lmo-head lmo-encoder" }),
      ),
      s("circle", { cx: x(place), cy: y(height(place)), r: 6, class: "lmo-head lmo-decoder" }),
      [0, 10, 20, 30].map((t) => text(x(t), 152, String(t), "small muted")),
      text(306, 172, "position t", "end small muted"),
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
      rows: Array.from({ length: 31 }, (_, t) => [String(t), fmt.num(height(t), 3)]),
    },
  };
}
