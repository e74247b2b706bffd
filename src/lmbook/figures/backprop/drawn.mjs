// drawn.mjs: the graph of numbers: boxes in layers, and lines between them; those of the chosen number are lit.
import { button, h, roving, s } from "../kit/core.mjs";
import { input, known, short, SLOPE_AT, three, traced, VALUE_AT, written } from "./derived.mjs";
import { NAMES } from "./graph.mjs";

export const graphStyle = `
.lm-figure .lmb-graph { width: 100%; max-width: 36rem; margin-inline: auto; }
.lmb-graph .lmb-layer { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); }
.lmb-graph .lmb-layer > button { justify-self: center; width: calc(100% - 4px); min-width: 0; margin: 0;
  padding: 0.2rem 0.1rem;
  border: 1px solid var(--lm-edge); border-radius: 6px; background: var(--lm-paper); color: inherit; font: inherit;
  font-size: 0.8125rem; line-height: 1.3; text-align: center; font-variant-numeric: tabular-nums; cursor: pointer; }
.lmb-graph .lmb-layer > button:hover { box-shadow: inset 0 0 0 100vmax var(--lm-soft); }
.lmb-graph .lmb-x > button { grid-column: span 3; max-width: 5.5rem; }
.lmb-graph :is(.lmb-z, .lmb-y) > button { grid-column: span 2; max-width: 5.5rem; }
.lmb-graph .lmb-w > button { border-style: dashed; border-radius: 1rem; }
.lmb-graph .lmb-L > button { grid-column: span 6; max-width: 7rem; }
.lmb-graph .lmb-layer > button[data-now="true"] { border-color: var(--lm-1); border-width: 2px;
  padding: calc(0.2rem - 1px) calc(0.1rem - 1px); }
.lmb-graph .lmb-layer > button[aria-pressed="true"] { box-shadow: 0 0 0 2px var(--lm-paper), 0 0 0 4px var(--lm-2); }
.lmb-graph button > span { display: block; overflow: hidden; white-space: nowrap; }
.lmb-graph .lmb-name { font-weight: 600; }
.lmb-graph .lmb-by { margin-top: 0.1rem; border-top: 1px dashed var(--lm-line); font-style: italic; }
.lmb-graph .lmb-came .lmb-name { text-decoration: underline 2px; text-underline-offset: 0.2em; }
.lmb-graph .lmb-strip { position: relative; }
.lmb-graph svg { display: block; width: 100%; height: 1.7rem; overflow: visible; }
.spare .lmb-graph svg { height: 1.2rem; }
.lmb-strip i { position: absolute; bottom: -1px; width: 8px; height: 6px; margin-left: -4px; background: var(--lm-line);
  clip-path: polygon(0 0, 100% 0, 50% 100%); }
.lmb-strip i[data-lit="true"] { background: var(--lm-2); }
.lmb-strip b { position: absolute; top: 60%; padding: 0 0.2rem; border-radius: 3px; background: var(--lm-paper);
  font-size: 0.75rem; line-height: 1.1; font-variant-numeric: tabular-nums; transform: translate(-50%, -50%);
  pointer-events: none; }
.lmb-graph line { stroke: var(--lm-line); stroke-width: 1.2; vector-effect: non-scaling-stroke; }
.lmb-graph line[data-lit="true"] { stroke: var(--lm-2); stroke-width: 3; }
`;

const two = [1, 2];
const AT = { z: (i) => 2 * i - 1, w: (i, k) => 2 * i - 2.5 + k, x: (k) => 3 * k - 1.5 }; // across, of 6

/**
 * choose(name): a number was pressed.  answers: what tells the derivatives.  draw(state, chosen, bet): the numbers that
 * are known, and beside z1 the sign that was bet, or null.
 * @param {(name: string) => void} choose
 * @param {string} chosen
 */
export function drawnGraph(choose, chosen) {
  const tiles = {};
  const tile = (name) => {
    const parts = {
      name: h("span", { class: "lmb-name" }, written(name)),
      value: h("span", {}),
      note: h("span", { class: "lm-hidden" }),
      by: h("span", { class: "lmb-by" }),
    };
    const node = button(Object.values(parts), () => choose(name), { class: null, "data-name": name });
    tiles[name] = { ...parts, node };
    return node;
  };
  const lines = [];
  const tips = new Map(); // arrowheads, by the number that they point to
  const strip = (arrows) => {
    const at = (/** @type {number} */ x) => ({ left: `${(100 * x) / 6}%` });
    const own = arrows.map(([from, to, x1, x2]) => {
      if (!tips.has(to)) tips.set(to, h("i", { style: at(x2) }));
      const number = h("b", { style: at(x1 + 0.6 * (x2 - x1)), hidden: true }); // nearer to its head: none meet
      return { from, to, line: s("line", { x1, x2, y1: 0, y2: 1 }), number };
    });
    lines.push(...own);
    return h("div", { class: "lmb-strip", "aria-hidden": "true" }, [
      s("svg", { viewBox: "0 0 6 1", preserveAspectRatio: "none" }, [own.map(({ line }) => line)]),
      [...new Set(own.map(({ to }) => tips.get(to)))],
      own.map(({ number }) => number),
    ]);
  };
  const row = (letter) =>
    h("div", { class: `lmb-layer lmb-${letter}` }, NAMES.filter((name) => name[0] === letter).map(tile));
  const node = h.group("lmb-graph", "The graph, one tab stop: arrows move, Enter picks a number", [
    row("x"),
    strip(three.flatMap((i) => two.map((k) => [`x${k}`, `w${i}${k}`, AT.x(k), AT.w(i, k)]))),
    row("w"),
    strip(three.flatMap((i) => two.map((k) => [`w${i}${k}`, `z${i}`, AT.w(i, k), AT.z(i)]))),
    row("z"),
    strip(three.flatMap((i) => three.map((j) => [`z${j}`, `y${i}`, AT.z(j), AT.z(i)]))),
    row("y"),
    strip(three.map((i) => [`y${i}`, "L", AT.z(i), 3])),
    row("L"),
  ]);
  const group = roving(node, "button", { index: NAMES.indexOf(chosen), keys: "plane" });

  function draw({ now, step, label }, chosen, bet) {
    for (const name of NAMES) {
      const { node, value, by, note } = tiles[name];
      const there = known(name, step);
      const derived = traced(name, step);
      value.textContent = there ? short(now.value[name]) : "·";
      by.textContent = derived ? short(now.by[name]) : "·";
      if (name === "z1" && bet !== null) by.append(h("b", {}, ` you: ${"−0+"[bet + 1]}`));
      value.ariaHidden = String(!there);
      by.ariaHidden = String(!derived);
      note.textContent = !there ? "not yet computed" : derived ? "derivative" : "";
      node.dataset.now = String((step > 3 ? SLOPE_AT : VALUE_AT)[name[0]] === step);
      node.ariaPressed = String(name === chosen);
      node.classList.toggle("lmb-came", name === `y${label}`);
    }
    const forward = !traced(chosen, step) && !input(chosen);
    const near = forward ? "to" : "from";
    for (const arrow of lines) {
      let lit = arrow[near] === chosen;
      // x and z are two strips apart, with the weight on the line between them
      if (forward && chosen[0] === "z") lit ||= arrow.to[0] === "w" && arrow.to[1] === chosen[1];
      if (!forward && chosen[0] === "x") lit ||= arrow.from[0] === "w" && arrow.from[2] === chosen[1];
      arrow.line.dataset.lit = String(lit);
      const tail = chosen[0] === "x" ? chosen : arrow.from; // the weight on the way is a factor
      const there = now.arrows.find(({ from, to }) => from === tail && to === arrow.to);
      arrow.number.hidden = !(lit && there && traced(chosen, step));
      arrow.number.textContent = there ? short(there.local) : "";
    }
    for (const [name, tip] of tips)
      tip.dataset.lit = String(lines.some((arrow) => arrow.to === name && arrow.line.dataset.lit === "true"));
    group.refresh();
  }

  const later = NAMES.filter((name) => /[xwz]/.test(name));
  const answers = [...later.map((name) => tiles[name].by), ...lines.map(({ number }) => number)];
  return { node, answers, draw };
}
