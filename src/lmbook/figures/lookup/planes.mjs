// planes.mjs: the plane of the keys with the query, and the plane of the values with the answer.
import { fmt, replace, s } from "../kit/core.mjs";
import { answered, hull, turned } from "./attend.mjs";

export const MARGIN = 16; // px around a plane
const STAR = "M0-8L2-2.5 8-2.5 3.2 1.2 5 7 0 3.5-5 7-3.2 1.2-8-2.5-2-2.5Z";
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
export const TONES = ["var(--lm-1)", "var(--lm-2)", "var(--lm-3)", "var(--lm-4)"];

export const planesStyle = `
.lm-figure .lmq-axis { fill: none; stroke: var(--lm-edge); stroke-width: 1; }
.lm-figure .lmq-key { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 1.6; }
.lm-figure .lmq-value { fill: var(--lm-soft); stroke: var(--lm-text); stroke-width: 1.4; }
.lm-figure .lmq-hull { fill: var(--lm-soft); stroke: var(--lm-edge); stroke-width: 1; stroke-dasharray: 4 3; }
.lm-figure .lmq-link { stroke-linecap: round; opacity: 0.7; }
.lm-figure .lmq-query { stroke-width: 2.6; }
.lm-figure .lmq-answer { fill: var(--lm-1); stroke: var(--lm-paper); stroke-width: 1.5; }
.lm-figure .lmq-name { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; stroke-linejoin: round; }
.lm-figure .lmq-round { fill: none; stroke: var(--lm-muted); stroke-width: 1.5; stroke-dasharray: 2 4;
  stroke-linecap: round; }
.lm-figure .lmq-bet { fill: none; stroke: var(--lm-text); stroke-width: 1.6; stroke-dasharray: 4 3; }
.lm-figure .lmq-star { fill: none; stroke: var(--lm-2); stroke-width: 2; }
.lm-figure .lmq-star.lmq-met { fill: var(--lm-2); }
.lm-figure .lmq-bold { font-weight: 700; }
`;

/** @type {(from: number, to: number) => number[]} whole numbers, at most five */
const steps = (from, to) => {
  const step = Math.ceil((to - from) / 4) || 1;
  return Array.from({ length: 5 }, (_, i) => Math.ceil(from) + i * step).filter((v) => v <= to);
};

/** @type {(side: number, low: number, high: number) => (v: number) => number} */
const scale = (side, low, high) => (v) => MARGIN + ((v - low) / (high - low)) * (side - 2 * MARGIN);
const axesOf = (side, reach) => {
  const to = scale(side, -reach, reach);
  return [to, (v) => side - to(v)];
};

/** @type {(a: number[], b: number[], attributes?: Record<string, any>) => SVGElement} */
const line = (a, b, attributes) => s("path", { d: s.through([a, b]), ...attributes });
/** As thick as its weight. */
const link = (a, b, weight, tone, data) =>
  line(a, b, { class: "lmq-link", style: `stroke: ${tone}`, "stroke-width": (12 * weight).toFixed(2), ...data });
const spot = (kind, /** @type {number[]} */ [cx, cy], r, more = {}) =>
  s("circle", { class: kind, cx, cy, r: r.toFixed(1), ...more });
const named = (at, words, bold = false) =>
  s.text(at[0], at[1], words, "start", { class: `lmq-name${bold ? " lmq-bold" : ""}` });
// A label goes where it is farthest from what is drawn already; `taken` holds points of that, and gets the label's
// own.
const label = (/** @type {number[]} */ [px, py], words, taken, side, { bold = false, off = 10 } = {}) => {
  const wide = 6.6 * words.length;
  const left = -off - wide;
  // beside, below, above, and at the four corners
  const across = [off, left, -wide / 2, -wide / 2, off - 2, left + 2, off - 2, left + 2];
  const starts = [4, 4, off + 10, -off - 2, -off + 3, -off + 3, off + 8, off + 8].map((down, k) => [across[k], down]);
  /** @type {(start: number[]) => number[][]} */
  const points = ([dx, dy]) => [0, 0.25, 0.5, 0.75, 1].map((part) => [px + dx + part * wide, py + dy - 4]);
  const fits = ([dx]) => px + dx >= 0 && px + dx + wide <= side;
  const others = taken.filter(([c, d]) => Math.hypot(c - px, d - py) > 1);
  const room = (start) =>
    Math.min(
      40,
      ...points(start).flatMap(([a, b]) => others.map(([c, d]) => Math.hypot((a - c) * 0.8, (b - d) * 1.3))),
    ) - (fits(start) ? 0 : 100);
  const best = starts.reduce((one, other) => (room(other) > room(one) + 0.5 ? other : one));
  taken.push(...points(best));
  return named([px + best[0], py + best[1]], words, bold);
};
const between = (a, b) =>
  [0.2, 0.4, 0.6, 0.8].map((part) => [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]);

/** about: what the planes show, low, high: the corners of the values, stars: two places among them. */
export function planesOf({ names, keys, values, axes, reach, low, high, stars }) {
  /** The plane of the keys, side px wide: where the query q is, and the weights of all heads. Gives where q is. */
  function keyPlane(svg, side, q, all) {
    const [x, y] = axesOf(side, reach);
    /** @type {(place: number[]) => number[]} */
    const at = ([a, b]) => [x(a), y(b)];
    const middle = at([0, 0]);
    const tips = all.map((_, j) => at(turned(q, j)));
    const axis = [-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1].map((part) => part * reach);
    const taken = [
      ...axis.flatMap((v) => [at([v, 0]), at([0, v])]),
      ...keys.map(at),
      ...tips,
      ...tips.flatMap((tip) => between(middle, tip)),
    ];
    const query = all.length > 1 ? (j) => `query ${j + 1}` : () => `query (${q.map((v) => fmt.num(v, 1)).join(", ")})`;
    s.sized(svg, side, side);
    replace(svg, [
      s.rule(`M${MARGIN} ${y(0)}H${side - MARGIN}M${x(0)} ${MARGIN}V${side - MARGIN}`, "lmq-axis"),
      s.tick(side - 2, side - 2, `${axes[0]} →`, "end"),
      s.tick(2, 11, `↑ ${axes[1]}`, "start"),
      spot("lmq-round", middle, Math.hypot(...q) * (x(1) - x(0))),
      all.map(({ weights }, j) =>
        keys.map((key, i) =>
          link(tips[j], at(key), weights[i], TONES[j], { "data-head": j + 1, "data-key": names[i] }),
        ),
      ),
      tips.map((tip, j) => [
        line(middle, tip, { class: "lmq-query", style: `stroke: ${TONES[j]}`, "stroke-dasharray": DASHES[j] }),
        spot("", tip, j ? 4 : 8, { style: `fill: ${TONES[j]}` }),
      ]),
      keys.map((key, i) => [spot("lmq-key", at(key), 5), label(at(key), names[i], taken, side)]),
      tips.map((tip, j) => label(tip, query(j), taken, side, { bold: true, off: 12 })),
    ]);
    return tips[0];
  }

  /**
   * The plane of the values, side px wide: the mean weights, the answer, how far it comes as q turns; the stars that
   * were met, and whether it was said of one that it can be.
   */
  function valuePlane(svg, side, { q, beta, all, mean, answer, met, said }) {
    const [x0, y0] = low;
    const [x1, y1] = high;
    const pad = (low, high) => scale(side, low - 0.12 * (high - low || 1), high + 0.3 * (high - low || 1));
    const at = (/** @type {number[]} */ [a, b]) => [pad(x0, x1)(a), side - 14 - (pad(y0, y1)(b) * (side - 30)) / side];
    const floor = side - 22;
    const middle = at(answer);
    const round = Array.from({ length: 73 }, (_, n) => (n * Math.PI) / 36).map((angle) => {
      const [cos, sin] = [Math.cos, Math.sin].map((f) => f(angle));
      const asked = [q[0] * cos - q[1] * sin, q[0] * sin + q[1] * cos];
      return at(answered(asked, all.length, keys, values, beta).answer);
    });
    const spots = all.length > 1 ? all.map((head) => at(head.answer)) : [];
    const taken = [...[...values, ...stars].map(at), middle, ...spots, ...spots.flatMap((one) => between(one, middle))];
    s.sized(svg, side, side);
    replace(svg, [
      s.rule(`M${side - MARGIN} ${floor}H${MARGIN}V${MARGIN}`, "lmq-axis"),
      s.tick(side, side - 1, `${axes[2]} →`, "end"),
      s.tick(2, 9, `↑ ${axes[3]}`, "start"),
      steps(x0, x1).map((v) => s.tick(at([v, y0])[0], side - 7, v)),
      steps(y0, y1).map((v) => s.tick(MARGIN - 4, at([x0, v])[1] + 4, v, "end")),
      s.rule(`${s.through(hull(values).map(at))}Z`, "lmq-hull"),
      s.rule(s.through(round), "lmq-round"),
      values.map((value, i) => link(at(value), middle, mean[i], TONES[0], { "data-value-link": names[i] })),
      stars.map((star, k) => {
        const [px, py] = at(star);
        const kind = `lmq-star${met.has(k) ? " lmq-met" : ""}`;
        return [
          s("path", { class: kind, d: STAR, transform: `translate(${px} ${py})` }),
          said(k) && spot("lmq-bet", [px, py], 13),
          named([px + (said(k) ? 14 : 10), py - 6], `${"AB"[k]}${said(k) ? ", you" : ""}`, true),
        ];
      }),
      values.map((value, i) => {
        const wide = 14 * Math.sqrt(mean[i]);
        return [
          spot("lmq-value", at(value), 3 + wide, { "data-value": names[i] }),
          label(at(value), `${names[i]} ${fmt.share(mean[i])}`, taken, side, { off: 6 + wide }),
        ];
      }),
      spots.map((one, j) => [
        line(one, middle, { style: `stroke: ${TONES[j]}`, "stroke-width": 1.5, "stroke-dasharray": DASHES[j] }),
        spot("", one, 5, { style: `fill: ${TONES[j]}` }),
        label(one, `head ${j + 1}`, taken, side),
      ]),
      s.rule(`M${middle[0]} ${middle[1] - 9}l9 9l-9 9l-9-9z`, "lmq-answer"),
      label(middle, "answer", taken, side, { bold: true, off: 13 }),
    ]);
  }

  return { keyPlane, valuePlane };
}
