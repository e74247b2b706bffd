// recall.mjs: how much of a source comes back, as a curve over its length for each size of the state, and by place.
import { fmt, h, plot, replace, s } from "../kit/core.mjs";

export const WHOLE = 0.95; // of the symbols: then a source counts as come back
/** The longest source of which a size gives back WHOLE. */
export const longest = (/** @type {number[]} */ line) => line.findLastIndex((r) => r >= WHOLE) + 1;

const [TALL, LEFT, BOTTOM, TOP] = [236, 40, 34, 24]; // px

export const recallStyle = `
.lm-figure .lmv-line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke: var(--lm-edge); }
.lm-figure .lmv-line.lmv-now { stroke: var(--lm-1); stroke-width: 3; }
.lm-figure .lmv-now-text { font-weight: 700; }
.lm-figure .lmv-here { stroke: var(--lm-1); stroke-width: 1; }
.lm-figure .lmv-bet { stroke: var(--lm-2); stroke-width: 2; }
.lm-figure .lmv-places { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.2rem 0.7rem; }
.lm-figure .lmv-places svg { border-top: 1px dotted var(--lm-edge); border-bottom: 1px solid var(--lm-edge); }
.lm-figure .lmv-place { fill: var(--lm-1); }
.lm-figure .lmv-whole { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 1.5; }
.lm-figure .lmv-edge { stroke: var(--lm-edge); stroke-width: 1; stroke-dasharray: 4 4; }
.lm-figure .lmv-dot { fill: var(--lm-1); }
.lm-figure .lmv-clear { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; stroke-linejoin: round; }
.lm-figure .lmv-own { fill: var(--lm-paper); stroke: var(--lm-1); stroke-width: 2; }
`;

/**
 * node: the curves; others: those of the sizes that are not chosen; places: recall by place.
 * draw(state): N symbols and the size of this row; of the reader's source so many are right, or null; the length that
 * was bet, or null.
 * @param {any} its  what was measured
 */
export function recallCurves({ recall, sizes, source, trained, places: measured }) {
  let state = null; // { N, row, right, bet }
  const { node, svg, redraw } = plot("lm-chart", (width) => state && curves(width, state));
  node.ariaHidden = "true";
  const [axes, others, chosen] = s.layers(svg, 3);
  const title = h.small();
  const profile = h("div", { class: "lmv-places", "aria-hidden": "true" });
  const n_ = source.length;
  /** The least distance of two lines at k + 1 symbols; their names stand where that is largest. */
  const apart = (/** @type {number} */ k) => {
    const values = recall.map((line) => line[k]).sort((a, b) => a - b);
    return Math.min(...values.slice(1).map((value, i) => value - values[i]));
  };
  const names = recall[0].map((_, k) => k).reduce((best, k) => (apart(k) > apart(best) ? k : best), 0);

  function curves(width, { N, row, right, bet }) {
    const end = width - 12;
    const x = (n) => LEFT + ((n - 1) / Math.max(1, n_ - 1)) * (end - LEFT);
    const y = (r) => TOP + (1 - r) * (TALL - TOP - BOTTOM);
    const ticks = [1, ...Array.from({ length: Math.floor(n_ / 10) }, (_, i) => 10 * (i + 1))];
    const edge = x(Math.min(n_, trained + 0.5));
    const upright = (at, kind) => s.rule(`M${at} ${TOP}V${TALL - BOTTOM}`, kind);
    const dot = (kind, n, r, size = 5) => s("circle", { class: kind, cx: x(n), cy: y(r), r: size });
    const named = (now) => ({ class: `lm-tick lmv-clear${now ? " lmv-now-text" : ""}` });
    replace(axes, [
      s.levels([0, 0.25, 0.5, 0.75, 1], y, LEFT, end, (r) => fmt.percent(r)),
      ticks.map((n) => s.tick(x(n), TALL - BOTTOM + 16, n)),
      s.tick((LEFT + end) / 2, TALL - 2, "symbols in the source"),
      s.tick(0, 10, "symbols that come back", "start"),
      s.rule(`M${LEFT} ${y(WHOLE)}H${end}`, "lmv-edge"),
      upright(edge, "lmv-edge"),
      end - edge > 130 && s.tick(edge + 5, TALL - BOTTOM - 6, "not in training", "start"),
      upright(x(N), "lmv-here"),
    ]);
    const drawn = recall.map((line, i) => {
      const n = longest(line);
      return [
        s.rule(s.through(line.map((r, k) => [x(k + 1), y(r)])), `lmv-line${i === row ? " lmv-now" : ""}`),
        n > 0 && dot("lmv-whole", n, line[n - 1], 3.5),
        s.text(x(names + 1), y(line[names]) + 4, sizes[i], "middle", named(i === row)),
      ];
    });
    replace(others, [drawn.filter((_, i) => i !== row)]);
    const before = x(N) > end - 40 || (x(N) <= edge && x(N) > edge - 40);
    const high = y(right / N) + (right / N > 0.9 ? 16 : -6);
    replace(chosen, [
      drawn[row],
      dot("lmv-dot", N, recall[row][N - 1]),
      bet && [upright(x(bet), "lmv-bet"), s.text(x(bet) + 5, y(0.5), "your bet", "start", named(true))],
      right !== null && [
        dot("lmv-own", N, right / N),
        s.text(x(N) + (before ? -9 : 9), high, "yours", before ? "end" : "start", named(true)),
      ],
    ]);
    s.sized(svg, width, TALL);
  }

  function draw(next) {
    state = next;
    redraw();
    const { row } = state;
    title.textContent = `Right by place, oldest left, newest right, for ${sizes[row]} numbers; dots: 100 %`;
    const bar = (share, i, n) =>
      s("rect", { class: "lmv-place", x: (80 * i) / n, y: 44 - 44 * share, width: 72 / n, height: 44 * share });
    replace(profile, [
      measured.map(([n, shares]) =>
        h("div", {}, [
          s("svg", { viewBox: "0 0 80 44", preserveAspectRatio: "none", width: "100%", height: 44 }, [
            shares[row].map((share, i) => bar(share, i, n)),
          ]),
          h("div", { class: "lm-small lm-muted" }, `N = ${n}`),
        ]),
      ),
    ]);
  }
  return { node, others, places: h.stack(title, profile), draw };
}
