// What a beam holds after each step: a row of boxes, with lines to the beginnings that they come from.
import { END } from "./search.mjs";
import { fmt, h, s } from "../kit/core.mjs";

export const beamStyle = `
.lmd-beam { max-width: 36rem; }
.lmd-rank { display: grid; grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; gap: 4px; }
.lmd-rank > div { position: relative; padding: 0.1rem 0.15rem 0.25rem; border: 1px solid var(--lm-edge);
  border-radius: 6px; background: var(--lm-paper); font-size: 0.8125rem; line-height: 1.25; text-align: center;
  overflow-wrap: anywhere; }
.lmd-rank > div[data-now] { border: 2px solid var(--lm-1); }
.lmd-rank > div[data-done] { border-style: double; border-width: 3px; }
.lmd-rank > div[data-lost] { border-style: dashed; color: var(--lm-muted); }
.lmd-rank > div[data-best] { font-weight: 700; }
.lmd-rank i { position: absolute; bottom: 1px; left: 3px; height: 3px; max-width: calc(100% - 6px);
  background: var(--lm-2); }
@container (min-width: 40rem) { .lmd-beam { max-height: 16rem; overflow-y: auto; }
  .lm-figure .lmd-rank small { display: inline; margin-left: 0.4em; } }
.lmd-rank small { display: block; font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.lmd-beam svg { display: block; width: 100%; height: 0.6rem; overflow: visible; }
.lmd-beam line { stroke: var(--lm-muted); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
`;

/**
 * shown: the steps so far.  wins: the output that scores best in the end.  word(id): as it is written.
 * @param {any[]} shown
 * @param {any} wins
 * @param {(id: number) => string} word
 */
export function rowsOf(shown, wins, word) {
  return shown.map(({ kept }, t) => {
    const before = t ? shown[t - 1].kept.length : 1;
    const lines = kept.map((one, i) =>
      s("line", { x1: (one.parent + 0.5) / before, x2: (i + 0.5) / kept.length, y1: 0, y2: 1 }),
    );
    const lost = (i) => t + 1 < shown.length && !shown[t + 1].kept.some((one) => one.parent === i);
    const boxes = kept.map((one, i) => {
      const state = {
        "data-now": t === shown.length - 1,
        "data-done": one.node === null,
        "data-lost": lost(i),
        "data-best": wins.ids.slice(0, one.ids.length).join() === one.ids.join(),
      };
      return h("div", state, [
        word(one.ids.at(-1)).replace(END, "(end)"),
        h("small", {}, fmt.num(one.total)),
        h("i", { style: { width: `${100 * Math.exp(one.total - kept[0].total)}%` } }),
      ]);
    });
    return [
      t ? s("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" }, lines) : null,
      h("div", { class: "lmd-rank" }, boxes),
    ];
  });
}
