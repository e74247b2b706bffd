// aligned.mjs: a sentence and its translation, token by token, with the weights between them as lines and as a matrix.
import { button, fmt, h, replace, roving, s } from "../kit/core.mjs";

const ROW = 24; // px of a line of the drawing
const FIT = 18; // columns of the matrix that have their words below them
const FAINT = 0.04; // weights below are not drawn

export const alignedStyle = `
.lmx-written { font-size: 1.1875rem; font-weight: 600; line-height: 1.35; overflow-wrap: anywhere; }
.lmx-board { display: flex; flex-direction: column; gap: 0.45rem; min-width: 0; }
.lm-figure .lmx-draw { display: grid; grid-template-columns: fit-content(46%) minmax(2.5rem, 8rem) fit-content(42%);
  align-items: start; max-height: 26rem; overflow-y: auto; } /* what is longer scrolls */
.lmx-draw svg { display: block; width: 100%; }
.lmx-lines { overflow: visible; }
.lmx-draw ol { margin: 0; padding: 0; list-style: none; }
.lmx-draw li { display: flex; height: ${ROW}px; margin: 0; align-items: center; }
.lmx-keys li { justify-content: flex-end; }
.lm-figure .lmx-token { max-width: 100%; min-width: 24px; min-height: 24px; margin: 0; padding: 0.05rem 0.4rem;
  border: 1px solid transparent; border-radius: 5px; background: none; color: inherit;
  font: inherit; line-height: 1.35; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.lmx-keys .lmx-token { background: color-mix(in srgb, var(--lm-1) var(--lmx-share, 0%), transparent); }
.lmx-keys small { flex: none; width: 1.9rem; color: var(--lm-muted); font-size: 0.75rem;
  font-variant-numeric: tabular-nums; }
.lm-figure button.lmx-token { cursor: pointer; border-color: var(--lm-line); }
.lm-figure button.lmx-token:hover { border-color: var(--lm-edge); }
.lm-figure button.lmx-token[aria-pressed="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1);
  font-weight: 600; }
.lm-figure button.lmx-forced { border-style: dashed; border-color: var(--lm-2); }
.lm-figure .lmx-said { border: 2px dashed var(--lm-text); }
.lmx-you { flex: none; margin-right: 0.3rem; font-size: 0.75rem; }
.lmx-axis { color: var(--lm-muted); font-size: 0.75rem; line-height: 1.3; }
.lmx-below { display: grid; grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; padding-top: 3px; }
.lmx-below > span { max-height: 5rem; overflow: hidden; color: var(--lm-muted); font-size: 0.75rem; line-height: 1;
  justify-self: center; writing-mode: vertical-rl; }
.lmx-part { color: var(--lm-muted); }
.lmx-mark { color: var(--lm-muted); font-style: italic; }
.lmx-link { fill: none; stroke: var(--lm-text); vector-effect: non-scaling-stroke; }
.lmx-now { fill: none; stroke: var(--lm-1); stroke-linecap: round; vector-effect: non-scaling-stroke; }
.lmx-map path, .lmx-heads path { fill: var(--lm-1); }
.lmx-map rect, .lmx-heads rect { fill: none; stroke: var(--lm-2); stroke-width: 1.5;
  vector-effect: non-scaling-stroke; }
.lmx-heads rect { stroke-width: 1; }
.lmx-map { display: none; }
@container (min-width: 40rem) {
  .lm-figure .lmx-board { max-height: 24.5rem; }
  .lm-figure .lmx-two .lmx-board { max-height: 20.5rem; }
  .lm-figure .lmx-draw { min-height: 12rem; max-height: none; }
  .lmx-boards:not(.lmx-two) .lmx-mapped { grid-template-columns: fit-content(46%) minmax(2.5rem, 8rem)
    max-content minmax(6rem, 17rem); }
  .lmx-boards:not(.lmx-two) .lmx-mapped > .lmx-map { display: block; padding: 0 2px 0 1rem; }
}
@media screen { /* while a bet is open: where the chosen token looks */
  .lm-figure .lmx-asked :is(.lmx-keys small, .lmx-now) { visibility: hidden; }
  .lm-figure .lmx-asked .lmx-keys .lmx-token { background: none; }
  .lm-figure .lmx-asked .lmx-map rect { fill: var(--lm-paper); }
}
`;

/**
 * How a token is shown: without its blank in front, a place for what cannot be seen, and whether it goes on with a
 * word, where the tokens are pieces of words.
 */
export function shown(text, i = 0, pieces = false) {
  const seen = text.trim();
  return {
    word: seen || (text ? "␣" : "∅"),
    joined: pieces && i > 0 && !/^\s/.test(text) && /^[\p{L}\p{N}]/u.test(text),
    mark: /^<.+>$/.test(text),
  };
}

export const top = (row) => row.indexOf(Math.max(...row));

/** A matrix of weights as squares, a path for each of five tones. */
export function small(rows, place, attributes = {}) {
  const wide = Math.max(...rows.map((row) => row.length));
  const paths = Array(5).fill("");
  for (const [t, row] of rows.entries())
    for (const [i, w] of row.entries()) if (w > FAINT) paths[Math.min(4, Math.floor(w * 5))] += `M${i} ${t}h1v1h-1z`;
  return s("svg", { viewBox: `0 0 ${wide} ${rows.length}`, "aria-hidden": "true", ...attributes }, [
    paths.map((d, k) => (d ? s("path", { d, "fill-opacity": (k + 1) / 5 }) : null)),
    place === null ? null : s("rect", { x: 0, y: place, width: wide, height: 1 }),
  ]);
}

function tokenOf(text, i, pieces, typed) {
  const { word, joined, mark } = shown(text, i, pieces);
  return [
    joined ? h("span", { class: "lmx-part", "aria-hidden": "true" }, "·") : null,
    h("span", { class: mark ? "lmx-mark" : "" }, word),
    mark && typed && typed !== text ? h("span", { class: "lmx-part" }, ` ${typed}`) : null,
  ];
}

/** One translation with its drawing: tokens left and right, lines between them. */
export function board(onchoose) {
  const head = h.small();
  const written = h("p", { class: "lmx-written" });
  const keys = h("ol", { class: "lmx-keys" });
  const asking = h("ol", { "aria-label": "Tokens: arrows move, Enter chooses" });
  const lines = s("svg", { class: "lmx-lines", preserveAspectRatio: "none", "aria-hidden": "true" });
  const map = h("div", { class: "lmx-map" });
  const group = roving(asking, "button", { onmove: (t) => onchoose(t) });
  const drawing = h("div", { class: "lmx-draw" }, keys, lines, asking, map);
  let drawn = null;

  return {
    node: h("div", { class: "lmx-board" }, head, written, drawing),
    /** open: whether it is asked where the token looks; said: where the reader said that it does, or null. */
    draw({ label, found, queries, seen, rows, place, alone, forced, open, said }) {
      head.textContent = label;
      head.hidden = !label;
      written.textContent = found.text || "(nothing)";
      const pieces = [...found.source, ...found.target].some(({ text }) => /^\s/.test(text)); // and not whole words
      if (drawn !== queries) {
        const token = ({ text }, t) => button(tokenOf(text, t, pieces), () => onchoose(t), { class: "lmx-token" });
        const items = queries.map((query, t) => h("li", {}, token(query, t)));
        group.refill(items, Math.min(place, queries.length - 1));
        drawn = queries;
      }
      [...asking.querySelectorAll("button")].forEach((one, t) => {
        one.setAttribute("aria-pressed", String(t === place));
        one.classList.toggle("lmx-forced", t < forced);
      });
      const now = rows[place];
      const key = ({ text, typed }, i) => {
        const weight = now[i] ?? 0;
        const style = { "--lmx-share": `${Math.round(70 * weight)}%` };
        return h("li", {}, [
          h("small", {}, weight >= 0.005 ? fmt.num(weight) : ""),
          i === said && h("b", { class: "lmx-you" }, "you"),
          h("span", { class: `lmx-token${i === said ? " lmx-said" : ""}`, style }, tokenOf(text, i, pieces, typed)),
        ]);
      };
      replace(keys, seen.map(key));
      const tall = ROW * Math.max(seen.length, queries.length);
      const y = (i) => ROW * (i + 0.5);
      const curve = (i, t) => `M0 ${y(i)}C55 ${y(i)} 45 ${y(t)} 100 ${y(t)}`;
      s.set(lines, { viewBox: `0 0 100 ${tall}`, style: { height: `${tall}px` } });
      const line = (i, t, kind, wide, dark = 1) =>
        s("path", { class: kind, d: curve(i, t), "stroke-width": wide, "stroke-opacity": dark });
      replace(lines, [
        rows.map((row, t) => (t === place ? null : line(top(row), t, "lmx-link", 1.2, 0.4))),
        now.map((w, i) => (w > FAINT ? line(i, place, "lmx-now", 1 + 6 * w, 0.55 + 0.45 * w) : null)),
      ]);
      drawing.classList.toggle("lmx-mapped", alone);
      drawing.classList.toggle("lmx-asked", open);
      const height = `${ROW * rows.length}px`;
      const axis =
        seen.length > FIT
          ? h("div", { class: "lmx-axis" }, "rows: written ↓, columns: source →")
          : h("div", { class: "lmx-below" }, [seen.map(({ text }) => h("span", {}, shown(text).word))]);
      replace(map, alone && [small(rows, place, { preserveAspectRatio: "none", style: { height } }), axis]);
    },
  };
}
