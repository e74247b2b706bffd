// PositionWheels: the sinusoidal codes of two positions as hands of clocks, and the table of all dot products.
//
//   w_j = base^(-2j/width)
//   pair j of position t: x = sin(t w_j), y = cos(t w_j), a hand from twelve o'clock, clockwise
//   p_t . p_i = sum_j cos((t - i) w_j)
//
// Everything is computed here, from position, offset, width and base.
import { answered, figure, fmt, h, replace, s, table, whole } from "../kit/core.mjs";
import { sum } from "../kit/numbers.mjs";

const WIDTHS = [4, 8, 12];
const BASES = [10, 100, 10000];
const LONGEST = 15;

const style = `
.lm-figure .lmpw-dials { display: grid; grid-template-columns: repeat(auto-fill, minmax(4.6rem, 1fr)); gap: 0.5rem; }
@container (min-width: 40rem) {
  .lm-figure .lmpw-dials { grid-template-columns: repeat(auto-fill, minmax(4.85rem, 1fr)); } }
@container (max-width: 39.9rem) { /* the table stands right below the dials */
  .lm-figure .lmpw-both > :first-child { display: contents; }
  .lm-figure .lmpw-both > :last-child { order: 2; }
  .lm-figure .lmpw-dials ~ * { order: 3; } }
.lm-figure .lmpw-dial { text-align: center; font-size: 0.8125rem; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
.lm-figure .lmpw-dial svg { width: 100%; max-width: 6rem; height: auto; display: block; margin: 0 auto;
  overflow: visible; }
.lm-figure .lmpw-rim { fill: none; stroke: var(--lm-edge); stroke-width: 1; }
.lm-figure .lmpw-open { fill: var(--lm-3); fill-opacity: 0.5; }
.lm-figure .lmpw-t { stroke: var(--lm-1); stroke-width: 5; stroke-linecap: round; }
.lm-figure .lmpw-i { stroke: var(--lm-2); stroke-width: 3.5; stroke-dasharray: 6 3; }
.lm-figure .lmpw-before { opacity: 0.75; }
.lm-figure .lmpw-before .lmpw-open { fill: none; }
.lm-figure .lmpw-before :is(.lmpw-t, .lmpw-i) { stroke: var(--lm-muted); stroke-width: 2; }
.lm-figure .lmpw-keys { display: flex; flex-wrap: wrap; gap: 0 0.5rem; }
.lm-figure .lmpw-keys > span { white-space: nowrap; }
.lm-figure .lmpw-key { display: inline-block; width: 1rem; border-top: 4px solid var(--lm-1); vertical-align: middle;
  margin-right: 0.25rem; }
.lm-figure .lmpw-key-i { border-top: 3px dashed var(--lm-2); }
.lm-figure .lmpw-key-old { width: 0; height: 0.9rem; border: 0; border-left: 2px solid var(--lm-text); }
.lm-figure .lmpw-old { stroke: var(--lm-text); stroke-width: 2; }
.lm-figure .lmpw-mine { border-radius: 6px; box-shadow: 0 0 0 2px var(--lm-text); }
.lm-figure .lmpw-track { fill: var(--lm-soft); }
.lm-figure .lmpw-plus { fill: var(--lm-1); }
.lm-figure .lmpw-minus { fill: var(--lm-2); }
.lm-figure .lmpw-table { max-width: 25rem; touch-action: manipulation; }
.lm-figure .lmpw-table svg { width: 100%; height: auto; display: block; cursor: pointer; user-select: none; }
.lm-figure .lmpw-table .lm-tick { font-size: 13.5px; } /* the table shrinks with a phone */
.lm-figure .lmpw-here { fill: none; stroke: var(--lm-text); stroke-width: 1.8; }
.lm-figure .lmpw-along { stroke: var(--lm-text); stroke-width: 1.2; stroke-dasharray: 4 3; }
`;

const about = {
  style,
  allows: { i: (i, { length }) => whole(i, 0, length - 1 - LONGEST), offset: (offset) => whole(offset, 0, LONGEST) },
};
const TURN = 2 * Math.PI;
const clamp = (x, most) => Math.max(0, Math.min(most, x));

/** The angle between two hands, from -pi to pi, of which the second is ahead by `ahead`. */
const opening = (ahead) => ahead - TURN * Math.round(ahead / TURN);

export default figure(({ el, knob, pick, its, put, follow, say, wager }) => {
  const length = its.length;
  const last = length - 1 - LONGEST;
  const first = knob("i", "Position i", [0, last]);
  const gap = knob("offset", "Offset t − i", [0, LONGEST]);
  const width = pick("width", "Width D", WIDTHS);
  const bases = BASES.map((v) => [v, fmt.count(v)]);
  const base = pick("base", "Base C", bases);
  const keys = h("p", { class: "lm-small lm-muted lmpw-keys", "aria-hidden": "true" });
  const dials = h("div", { class: "lmpw-dials", "aria-hidden": "true" });
  const heading = h.small();
  const grid = h("div", { class: "lmpw-table", "aria-hidden": "true" });
  const numbers = table({
    caption: "The dials",
    head: ["dial", "positions a turn", "hand at i", "hand at t", "cosine of the angle"],
  });

  const speeds = () => Array.from({ length: its.width / 2 }, (_, j) => its.base ** ((-2 * j) / its.width));
  const product = (k) => sum(speeds().map((w) => Math.cos(k * w)));
  const degrees = (angle) => `${fmt.num(((angle * 180) / Math.PI) % 360, 0)}°`;
  const turn = (w) => (TURN / w < 100 ? fmt.num(TURN / w, 1) : fmt.count(TURN / w));

  // The bet: how much more each dial gives, or less, when the offset doubles.
  const betOn = its.offset;
  const start = { width: its.width, base: its.base };
  const changes = speeds().map((w) => Math.cos(2 * betOn * w) - Math.cos(betOn * w));
  const most = changes.reduce((best, x, j) => (Math.abs(x) > Math.abs(changes[best]) ? j : best), 0);
  const told = (/** @type {number} */ j) => `${changes[j] < 0 ? "−" : "+"}${fmt.num(Math.abs(changes[j]))}`;
  const bet = wager({
    name: "wheels",
    of: "width base",
    asks: `The offset doubles, from ${betOn} to ${2 * betOn}. Which dial changes the product most?`,
    options: changes.map((_, j) => [j, `dial ${j}`]),
    told: (answer) =>
      `From offset ${betOn} to ${2 * betOn} dial ${most} changes the product most, by ${told(most)}` +
      `${answered(answer, most, `, and dial ${answer} by ${told(answer ?? most)}.`)}`,
    settled: (answer) => answer !== null && put({ offset: 2 * betOn, width: start.width, base: start.base }),
  });
  el.append(
    bet.node,
    h("div", { class: "lm-split lmpw-both", style: "--lm-side: 21rem" }, [
      h.stack(first.node, gap.node, keys, dials, say.node, width.node, base.node),
      h("div", {}, heading, grid),
    ]),
    numbers.node,
  );

  /** Where a hand ends that has turned by this angle. */
  const tip = (angle, reach = 42) => [50 + reach * Math.sin(angle), 50 - reach * Math.cos(angle)];
  const hand = (angle, kind) => s("line", { class: kind, x1: 50, y1: 50, x2: tip(angle)[0], y2: tip(angle)[1] });
  /** Both hands at position i and i + k, and what opens between them. */
  function pair(w, i, k) {
    const [from, to] = [tip(i * w, 34), tip((i + k) * w, 34)].map((end) => end.map((x) => x.toFixed(2)));
    const way = opening(k * w) > 0 ? 1 : 0;
    return [
      s("path", { class: "lmpw-open", d: `M50 50L${from}A34 34 0 0 ${way} ${to}Z` }),
      hand((i + k) * w, "lmpw-t"),
      hand(i * w, "lmpw-i"),
    ];
  }
  /** A bar to the right of its middle, or to the left, as a part of what is possible; a line where it ended before. */
  function bar(part, old) {
    const side = part < 0 ? "minus" : "plus";
    return s("svg", { viewBox: "0 0 100 12" }, [
      s("rect", { class: "lmpw-track", width: 100, height: 12 }),
      s("rect", { class: `lmpw-${side}`, x: 50 + Math.min(0, 50 * part), width: Math.abs(50 * part), height: 12 }),
      s("line", { x1: 50, x2: 50, y2: 12, stroke: "currentColor" }),
      old !== part && s("line", { class: "lmpw-old", x1: 50 + 50 * old, x2: 50 + 50 * old, y1: -2, y2: 14 }),
    ]);
  }
  function dial(w, j, i, k, asked) {
    const now = Math.cos(k * w);
    const mine = asked && j === bet.answer;
    const said = asked ? `change ${told(j)}` : `a turn in ${turn(w)}`;
    return h("div", { class: `lmpw-dial${mine ? " lmpw-mine" : ""}` }, [
      s("svg", { viewBox: "0 0 100 100" }, [
        s("circle", { class: "lmpw-rim", cx: 50, cy: 50, r: 46 }),
        s("g", { class: "lmpw-before" }, pair(w, before, k)),
        pair(w, i, k),
      ]),
      h("div", {}, `dial ${j}: ${degrees(Math.abs(opening(k * w)))}`),
      bar(now, Math.cos(earlier * w)),
      h("div", {}, fmt.num(now, 3)),
      h("div", { class: asked && j === most ? "lmpw-most" : "lm-muted" }, said),
      asked && h("div", {}, mine ? `you${j === most ? " ✓" : ""}` : j === most ? "most" : "\u00a0"),
    ]);
  }

  const size = 8; // of a cell, in the units of the drawing
  const side = length * size;
  const marks = s("g", { "pointer-events": "none" });
  function drawTable() {
    const values = Array.from({ length }, (_, k) => product(k) / (its.width / 2));
    const cells = Array.from({ length: length * length }, (_, n) => {
      const t = Math.floor(n / length);
      const i = n % length;
      const value = values[Math.abs(t - i)];
      const kind = `lmpw-cell lmpw-${value < 0 ? "minus" : "plus"}`;
      const opacity = Math.abs(value).toFixed(3);
      return s("rect", { class: kind, x: i * size, y: t * size, width: size, height: size, "fill-opacity": opacity });
    });
    const svg = s("svg", { viewBox: `-26 -4 ${side + 30} ${side + 34}` }, [
      cells,
      marks,
      [0, 10, 20, 30].map((p) => [s.tick(-4, p * size + size, p, "end"), s.tick(p * size + size / 2, side + 12, p)]),
      s.tick(side, side + 24, "position i →", "end"),
      s.tick(-4, side, "t ↓", "end"),
    ]);
    // The table is symmetric: both halves mean the same pair. Beyond the sliders' ends it is the nearest one.
    const choose = (/** @type {PointerEvent} */ { clientX, clientY, buttons, type }) => {
      if (type === "pointermove" && !buttons) return;
      const box = svg.getBoundingClientRect();
      const unit = (side + 30) / box.width / size;
      const [i, t] = [(clientX - box.left) * unit - 26 / size, (clientY - box.top) * unit - 4 / size].map(Math.floor);
      const low = clamp(Math.min(i, t), last);
      put({ i: low, offset: clamp(Math.max(i, t) - low, LONGEST) });
    };
    svg.addEventListener("pointermove", choose);
    svg.addEventListener("click", choose);
    replace(grid, svg);
  }

  // What both hands were before they were moved stays, thin: their opening is the same.
  let before = its.i < 10 ? its.i + 10 : its.i - 10;
  let stands = { i: its.i, k: betOn, since: 0 };
  let earlier = betOn; // the offset before
  function draw() {
    const { i, offset: k } = its;
    const all = speeds();
    if (i !== stands.i || k !== stands.k) {
      if (performance.now() - stands.since > 500) {
        if (i !== stands.i) before = stands.i;
        earlier = stands.k;
      }
      stands = { i, k, since: performance.now() };
    }
    // what was bet on is drawn: the change of every dial, and whose it was
    const { width, base } = start;
    const asked = bet.answer !== null && k === 2 * betOn && its.width === width && its.base === base;
    if (asked) earlier = betOn;
    const key = (/** @type {string} */ kind, /** @type {string} */ words) =>
      h("span", {}, h("i", { class: `lmpw-key ${kind}` }), words);
    replace(keys, [
      key("", `at t = ${i + k}`),
      key("lmpw-key-i", `at i = ${i}; thin: before`),
      earlier !== k && key("lmpw-key-old", `offset ${earlier}`),
    ]);
    replace(dials, [all.map((w, j) => dial(w, j, i, k, asked))]);
    const total = product(k);
    const line = (k + 0.5) * size;
    replace(marks, [
      s("line", { class: "lmpw-along", x1: size / 2, y1: line, x2: side - line, y2: side - size / 2 }),
      s("rect", { class: "lmpw-here", x: i * size, y: (i + k) * size, width: size, height: size }),
    ]);
    const said = `The sum of the cosines, ${fmt.num(total, 3)} of ${all.length}, for every pair on the dashed line. `;
    replace(heading, said, "Blue is above 0, gold below.");
    numbers.draw([
      ...all.map((w, j) => [String(j), turn(w), degrees(i * w), degrees((i + k) * w), fmt.num(Math.cos(k * w), 3)]),
      ["sum", "", "", "", fmt.num(total, 3)],
    ]);
    say(`Positions ${i} and ${i + k}, offset ${k}: the dot product is ${fmt.num(total, 3)} of at most ${all.length}.`);
  }

  follow("width base", drawTable);
  follow("i offset width base", draw);
}, about);
