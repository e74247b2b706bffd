// entries.mjs: what comes in: sums of rows, and their entries.
import { fmt, s } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { mean, sum } from "../kit/numbers.mjs";
import { WIDE, bar, bet, lanes, path, sheet, text } from "./shapes.mjs";
import { cut, seen, signed } from "./path.mjs";
import { falling, rows } from "./sums.mjs";
import { START } from "./whole.mjs";

const ROLES = ["parameter", "encoder", "value"];
const three = (/** @type {number} */ x) => fmt.num(x, 3);
const length = (/** @type {number[]} */ values) => fmt.num(Math.hypot(...values), 1);

/** Rows of tables, added up, as a half alone begins with them. */
export function sumOfRows({ at, about, stages, word, place }) {
  const next = stages.at(-1).next;
  const last = stages.length - 1;
  const names = [
    `row of “${cut(seen(word))}” in E`,
    `row ${place + 1} of P, for its position`,
    "row 1 of S, for the first segment",
  ].slice(0, stages.length);
  const vectors = stages.map((one, k) => [names[k], one.added, ROLES[k]]);
  if (last) vectors.push(["the norm of their sum, which enters the first layer", next, "state"]);
  const order = falling(next.map(Math.abs));
  const under = 6 + 82 * vectors.length;
  const share = (/** @type {number} */ j) => Math.abs(next[j]) / Math.abs(next[order[0]]);
  const largest = order.slice(0, 5).map((j) => [j, `entry ${j}`, fmt.num(next[j]), share(j)]);
  const parts = rows(under, at.path, "entry", "state", largest);
  const drawn = parts.map((one) => one.node);
  return {
    node: sheet(under + 6 + 27 * parts.length, lanes(vectors), drawn),
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
      rows: [...next.keys()].map((j) => [String(j), ...vectors.map(([, values]) => three(values[j]))]),
    },
  };
}

/** One entry of it, from its parts. */
export function entryOfRows({ at, stages, word, place }) {
  const j = at.number;
  const next = stages.at(-1).next;
  const alone = stages.length === 1;
  const sums = next.map((_, k) => sum(stages.map((one) => one.added[k])));
  const middle = mean(sums);
  const deviation = Math.sqrt(mean(sums.map((value) => (value - middle) ** 2)));
  const names = [`“${cut(seen(word))}” in E`, `position ${place + 1}`, "segment 1"];
  const parts = stages.map((one, k) => [names[k], one.added[j], ROLES[k]]);
  if (!alone) parts.push(["sum", sums[j], "state"], ["after the norm", next[j], "state"]);
  const most = Math.max(...parts.map(([, value]) => Math.abs(value)), 1e-9);
  const wide = (value) => (70 * Math.abs(value)) / most;
  const node = sheet(
    20 + 30 * parts.length,
    s("line", { x1: 190, x2: 190, y1: 4, y2: 12 + 30 * parts.length, class: "lmo-zero" }),
    parts.map(([name, value, role], k) => [
      text(112, 22 + 30 * k, name, "end"),
      bar(value < 0 ? 190 - wide(value) : 190, 10 + 30 * k, Math.max(0.5, wide(value)), 14, role),
      text(318, 22 + 30 * k, three(value), "end"),
    ]),
  );
  const own = stages.map((one) => one.added[j]);
  const [first, second, third] = own.map(three);
  return {
    node,
    siblings: [...next.keys()],
    number: j,
    formula: alone
      ? formula(`The entry is ${first}`, `x = ${first}`)
      : formula(
          `The entry is ${three(next[j])}`,
          `s = ${first} ${signed(own[1], 3)} ${signed(own[2], 3)} = ${three(sums[j])}`,
          `x = g frac{s ${signed(-middle, 3)}}{${three(deviation)}} + b = ${three(next[j])}`,
        ),
    note: alone
      ? ""
      : "The norm takes the mean of all entries from the sum and divides by their deviation; then come a gain g " +
        "and a bias b of this entry.",
    words:
      `Entry ${j + 1} of ${fmt.quote(seen(word))} is ${three(next[j])}` +
      (alone ? "" : `: ${first} of the word, ${second} of the position and ${third} of the segment, behind the norm`) +
      ".",
    table: { head: ["part", "value"], rows: parts.map(([name, value]) => [name, three(value)]) },
  };
}

const SPEEDS = [2, 10, 20, 110]; // entries whose waves are fast to slow, counted from 0, as positions are
export const LATER = 4; // positions, to see what is new when a word comes again
/** Entry j of the position t, of d. */
const wave = (j, d) => {
  const omega = 10000 ** ((-2 * Math.floor(j / 2)) / d);
  return { omega, at: (/** @type {number} */ t) => (j % 2 ? Math.cos(t * omega) : Math.sin(t * omega)) };
};

const dot = (/** @type {number[]} */ [cx, cy], r, role) => s("circle", { cx, cy, r, class: `lmo-head lmo-${role}` });

/** By how much each entry of the position's code changes until the word comes again. */
const moved = (p, place) => p.map((value, j) => wave(j, p.length).at(place + LATER) - value);
const PARTS = 5;
/** The share of that change, squared, in each fifth of the entries, from the left. */
export function fifths(p, place) {
  const squares = moved(p, place).map((change) => change ** 2);
  const end = (/** @type {number} */ k) => Math.round((k * p.length) / PARTS);
  return Array.from({ length: PARTS }, (_, k) => sum(squares.slice(end(k), end(k + 1))) / sum(squares));
}

export function embedding({ at, stages, word, place, said }) {
  const [w, p] = stages.map((one) => one.added);
  const all = w.map((value, j) => value + p[j]);
  const top = Math.max(...[w, p, all].flat().map(Math.abs));
  const end = Math.max(30, place);
  const speeds = SPEEDS.filter((j) => j < all.length).map((j, k) => {
    const own = wave(j, w.length);
    const spot = (/** @type {number} */ t) => [104 + (46 * t) / end, 236.5 + 27 * k - 9 * own.at(t)];
    const line = path(s.through(Array.from({ length: 4 * end + 1 }, (_, i) => spot(i / 4))), "encoder", 1.2);
    const value = `${three(w[j])} ${signed(p[j], 3)} = ${three(all[j])}`;
    return [j, `entry ${j}`, value, [line, dot(spot(place), 4, "decoder")]];
  });
  const parts = rows(224, at.path, "sum", "", speeds);
  const later = moved(p, place);
  const vectors = [
    [`√d times the row of “${cut(seen(word))}” in E`, w, "parameter", top],
    [`position ${place}, drawn taller`, p, "encoder", 1],
    ["their sum, which enters the first layer", all, "state", top],
    [`the sum ${LATER} places later, minus the sum here`, later, "encoder", 2],
  ];
  const drawn = lanes(vectors, 14, 34, 56, 4);
  return {
    node: sheet(
      232 + 27 * parts.length,
      drawn.slice(0, 3),
      s("g", { class: "lmo-told" }, drawn.slice(3)),
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
      `The row of ${fmt.quote(seen(word))} has length ${length(w)}, position ${place} length ${length(p)}, and ` +
      `their sum ${length(all)}.`,
    table: {
      head: ["entry", "word", "position", "sum"],
      rows: all.map((value, j) => [String(j), ...[w[j], p[j], value].map(three)]),
    },
  };
}

export function entryView({ at, stages, word, place, total }) {
  const [w, p] = stages.map((one) => one.added);
  const j = at.number;
  const { omega, at: height } = wave(j, w.length);
  const end = Math.max(30, place);
  const x = (t) => 22 + (284 * t) / end;
  const y = (value) => 80 - 50 * value;
  const spot = (t) => [x(t), y(height(t))];
  const line = s.through(Array.from({ length: 4 * end + 1 }, (_, k) => spot(k / 4)));
  return {
    node: sheet(
      190,
      text(0, 16, `entry ${j} of the position, at every position t`, "start"),
      s("line", { x1: 22, x2: 306, y1: 80, y2: 80, class: "lmo-zero" }),
      path(line, "encoder", 2),
      [1, -1].map((one) => text(10, y(one) + 4, fmt.num(one, 0), "end small muted")),
      Array.from({ length: total }, (_, t) => dot(spot(t), 3, "encoder")),
      dot(spot(place), 6, "decoder"),
      [0, 10, 20, 30].map((t) => text(x(t), 152, String(t), "small muted")),
      text(306, 172, "position t", "end small muted"),
    ),
    siblings: [...w.keys()],
    number: j,
    formula: formula(
      `The entry is ${fmt.num(w[j] + p[j])}`,
      `p = "${j % 2 ? "cos" : "sin"}"(${place} · ${fmt.prob(omega)}) = ${three(p[j])}`,
      "x = √{d} E + p",
      ` = ${three(w[j])} ${signed(p[j], 3)} = ${three(w[j] + p[j])}`,
    ),
    words:
      `${fmt.quote(seen(word))} at position ${place}: ${three(w[j])} of the word and ${three(p[j])} of the ` +
      `position make ${three(w[j] + p[j])}.`,
    table: {
      head: ["position t", "entry"],
      rows: Array.from({ length: 31 }, (_, t) => [String(t), three(height(t))]),
    },
  };
}
