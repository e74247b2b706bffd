// The layers over one another: what one output sees, step by step, and the ways from one input to it.
import { fmt, replace, s } from "../kit/core.mjs";
import { reaches } from "./reach.mjs";

export const pathsStyle = `
.lm-figure .lmk-edge { stroke: var(--lm-1); stroke-width: 1.4; opacity: 0.6; }
.lm-figure .lmk-edge.lmk-way { stroke: var(--lm-text); stroke-width: 2.4; opacity: 1; }
.lm-figure .lmk-node { fill: var(--lm-paper); stroke: var(--lm-edge); cursor: pointer; }
.lm-figure .lmk-node.lmk-on { fill: var(--lm-1); stroke: var(--lm-1); }
.lm-figure .lmk-node.lmk-leak { fill: var(--lm-2); stroke: var(--lm-text); stroke-width: 2; }
.lm-figure .lmk-bet { fill: none; stroke: var(--lm-text); stroke-width: 2; stroke-dasharray: 4 3; }
.lm-figure .lmk-said { font-weight: 600; paint-order: stroke; stroke: var(--lm-paper); stroke-width: 4px; }
`;
const LEFT = 58; // px, for the names of the layers
const later = (a, b) => Number(a.matches(".lmk-way")) - Number(b.matches(".lmk-way"));

/**
 * Draws what output `chosen` of L layers sees; black are the ways from input `from`, where that is one.  bet: how many
 * layers the reader said that it takes, or null.
 * @param {Element} drawing
 * @param {number} width
 * @param {{ mask: number[][], L: number, residual: boolean, words: string[], chosen: number, from: number,
 *   bet: number | null, choose: (i: number) => void }} state
 */
export function drawPaths(drawing, width, { mask, L, residual, words, chosen, from, bet, choose }) {
  const T = words.length;
  const all = [...words.keys()];
  const { step, all: R } = reaches(mask, L, residual);
  const high = (width < 400 ? 200 : 252) / L; // the drawing keeps its height
  const gap = (width - LEFT) / T;
  const x = (/** @type {number} */ j) => LEFT + (j + 0.5) * gap;
  const y = (/** @type {number} */ l) => 24 + (L - l) * high;
  const on = Array.from({ length: L + 1 }, () => new Set());
  on[L].add(chosen);
  const edges = [];
  for (let l = L; l > 0; l -= 1) {
    for (const i of on[l]) {
      step[i].forEach((open, j) => {
        if (!open) return;
        on[l - 1].add(j);
        const way = from >= 0 && R[l - 1][j][from] ? " lmk-way" : "";
        edges.push(s.rule(`M${x(j)} ${y(l - 1)}L${x(i)} ${y(l)}`, `lmk-edge${way}`));
      });
    }
  }
  const nodes = on.flatMap((set, l) =>
    all.map((j) => {
      const kind = !set.has(j) ? "" : l === 0 && j > chosen ? " lmk-leak" : " lmk-on";
      const onclick = l === L ? () => choose(j) : null;
      return s("circle", { class: `lmk-node${kind}`, cx: x(j), cy: y(l), r: 6, onclick });
    }),
  );
  const top = s.text(x(chosen), 12, `output ${chosen + 1}`, chosen < T - 1 ? "middle" : "end");
  s.sized(drawing, width, y(0) + 32);
  replace(drawing, [
    edges.sort(later),
    nodes,
    all.map((j) => s.text(x(j), y(0) + 24, gap < 52 ? j + 1 : words[j])),
    on.map((_, l) => s.tick(0, y(l) + 4, l ? `layer ${l}` : "input", "start")),
    top,
    bet !== null && pin(),
  ]);

  /** Where the layers end that were bet: the farthest word that they bring. */
  function pin() {
    const short = bet < L;
    const far = on[L - Math.min(bet, L)].has(T - 1) ? T - 1 : Math.max(...on[L - bet]);
    const many = width < 400 ? bet : fmt.some(bet, "layer"); // a phone has less room
    const said = `you: ${many}${short ? `, word ${far + 1}` : ""}`;
    const place = y(L - Math.min(bet, L));
    return [
      s("circle", { class: "lmk-bet", cx: x(far), cy: place, r: 11 }),
      s.text(Math.min(x(far), width - 66), place - 15, said, "middle", { class: "lmk-said" }),
    ];
  }
}
