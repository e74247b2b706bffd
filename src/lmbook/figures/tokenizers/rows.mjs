// The rows of a table D: as bars, and those that are most like one of them.
import { dot } from "../kit/numbers.mjs";
import { s } from "../kit/core.mjs";

const WIDTH = 8; // numbers in a row
const LIKE = 4; // rows that are shown beside the chosen one
export const style = `
.lm-figure .lmt-strip { display: block; }
.lm-figure .lmt-strip rect { fill: var(--lm-1); }
.lm-figure .lmt-strip line { stroke: var(--lm-edge); stroke-width: 1; }
.lm-figure .lmt-rows { display: grid;
  grid-template-columns: max-content minmax(3.5rem, 9rem) minmax(2.6rem, max-content) max-content; gap: 0.15rem 0.8rem;
  align-items: center; font-size: 0.875rem; }
.lm-figure .lmt-row { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: center;
  padding: 0.15rem 0.4rem; border-left: 3px solid transparent; border-radius: 3px; }
.lm-figure .lmt-row.lmt-chosen { border-left-color: var(--lm-1); background: var(--lm-soft); font-weight: 600; }
.lm-figure .lmt-row > :first-child { font-variant-numeric: tabular-nums; }
.lm-figure .lmt-row > :nth-child(2) { overflow-wrap: anywhere; }
`;

const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

// Eight numbers as bars above and below a line, the largest of them as high as there is room: what a cosine compares.
export function strip(row, wide, tall) {
  const half = tall / 2;
  const step = wide / row.length;
  const most = Math.max(...row.map(Math.abs)) || 1;
  const bar = (v, j) => {
    const high = (half * v) / most;
    return s("rect", { x: j * step, width: step - 0.8, y: half - Math.max(0, high), height: Math.abs(high) });
  };
  const svg = s("svg", { class: "lmt-strip", "aria-hidden": "true" }, [
    row.map(bar),
    s("line", { x1: 0, x2: wide, y1: half, y2: half }),
  ]);
  s.sized(svg, wide, tall);
  return svg;
}

/** The table of this text, int8 in 127ths: row(id), whether training ever moved it, and the ids most like it. */
export function tableOf(text) {
  const flat = Int8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const row = (/** @type {number} */ id) => Array.from(flat.subarray(id * WIDTH, (id + 1) * WIDTH), (v) => v / 127);
  const trained = (/** @type {number} */ id) => row(id).some((v) => v !== 0);

  /** [{ id, like }]: of the first `size` rows those most like that of `id` by cosine; none where it was never moved. */
  function nearest(id, size) {
    if (!trained(id)) return [];
    const own = row(id);
    return Array.from({ length: size }, (_, other) => other)
      .filter((other) => other !== id && trained(other))
      .map((other) => ({ id: other, like: cosine(own, row(other)) }))
      .sort((a, b) => b.like - a.like)
      .slice(0, LIKE);
  }
  return { row, trained, nearest };
}
