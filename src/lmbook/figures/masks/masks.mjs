// MaskPainter: paint the mask of self-attention, and see what each output of several layers can depend on.
import { answered, button, choice, disable, figure, fmt, h, plot, roving, table, whole } from "../kit/core.mjs";
import { drawPaths, pathsStyle } from "./paths.mjs";
import { leaks, preset, PRESETS, reaches } from "./reach.mjs";

const style = `
.lm-figure .lmk-grid { display: grid; width: max-content; max-width: 100%; gap: 2px; align-items: center;
  font-size: 0.8125rem; }
.lm-figure .lmk-name { min-height: 1.6rem; margin: 0; padding: 0 0.4rem 0 0; border: 0; background: none;
  color: inherit; font: inherit; text-align: left; white-space: nowrap; cursor: pointer; }
.lm-figure .lmk-head { text-align: center; font-variant-numeric: tabular-nums; }
.lm-figure .lmk-cell { display: block; width: 1.6rem; height: 1.6rem; margin: 0; padding: 0;
  border: 1px solid var(--lm-edge); border-radius: 3px; background: transparent; --lmk: var(--lm-1); }
.lm-figure button.lmk-cell { cursor: pointer; touch-action: none; }
.lm-figure .lmk-cell.lmk-same { border-width: 2px; border-color: var(--lm-text); }
.lm-figure .lmk-cell.lmk-leak { --lmk: var(--lm-2); }
.lm-figure .lmk-cell:is(.lmk-on, .lmk-leak) {
  background: repeating-linear-gradient(45deg, var(--lmk) 0 2px, transparent 2px 6px); }
.lm-figure .lmk-cell.lmk-mask { background: radial-gradient(circle, var(--lmk) 3px, transparent 4px); }
.lm-figure .lmk-cell.lmk-mask:is(.lmk-on, .lmk-leak) { background: var(--lmk); }
.lm-figure .lmk-name[aria-pressed="true"] { font-weight: 700; text-decoration: underline 2px var(--lm-1);
  text-underline-offset: 0.2em; }
.lm-figure .lmk-item { display: inline-block; margin-right: 1.2rem; }
.lm-figure .lmk-key { display: inline-block; width: 0.9rem; height: 0.9rem; margin-right: 0.35rem;
  vertical-align: -0.1rem; }
${pathsStyle}`;

const about = {
  style,
  allows: {
    mask: (mask, { words: { length } }) =>
      mask.length === length && mask.every((row) => row.length === length && row.every((seen) => whole(seen, 0, 1))),
  },
};
const MOST = 7; // layers
const many = (/** @type {number} */ L) => fmt.some(L, "layer");

/** The places that are 1, counted from 1, runs of three and more shortened: "1, 4 to 7". */
export function runs(row) {
  const on = row.flatMap((cell, j) => (cell ? [j + 1] : []));
  if (on.length === row.length) return `all ${row.length}`;
  const found = [];
  for (const n of on) {
    if (n === found.at(-1)?.[1] + 1) found.at(-1)[1] = n;
    else found.push([n, n]);
  }
  const said = found.flatMap(([a, b]) => (b - a > 1 ? `${a} to ${b}` : a === b ? a : [a, b]));
  return fmt.list(said) || "none";
}

export default figure(({ el, knob, its, put, follow, ends, say, wager }) => {
  const first = its.words;
  const T = first.length;
  const all = [...first.keys()];
  const { prefix, padded } = its;
  const labels = { prefix: `prefix of ${prefix}`, padding: `padding (last ${padded})` };
  const made = (/** @type {string} */ name) => preset(name, T, { prefix, padded });
  const same = (a, b) => a.every((row, i) => row.every((cell, j) => cell === b[i][j]));
  const named = () => PRESETS.find((name) => same(its.mask, made(name))) ?? "yours";

  let yours = its.mask; // the mask that was painted last
  const strokes = []; // the masks before each stroke
  const start = choice({
    label: "Mask",
    options: [...PRESETS, "yours"].map((name) => [name, labels[name] ?? name]),
    value: named(),
    onchange: (name) => {
      const words = name === "padding" ? first.map((word, i) => (i < T - padded ? word : "<pad>")) : first;
      put({ words, mask: name === "yours" ? yours : made(name) });
    },
  });
  const farthest = T - 1; // layers from the last word to output 1, a neighbour at a time
  const layers = knob("layers", "Layers", [1, MOST], many);
  const residual = button("Residual connection", () => put({ residual: !its.residual }), { pressed: its.residual });
  const undo = button("Undo", () => put({ mask: strokes.pop() }));

  // --- the mask, to be painted -------------------------------------------------------------------------------------
  const paint = (i, j, value) => {
    if (its.mask[i][j] === value) return;
    yours = its.mask.with(i, its.mask[i].with(j, value));
    put({ mask: yours, chosen: i });
  };
  const begin = (i, j) => {
    strokes.push(its.mask);
    paint(i, j, 1 - its.mask[i][j]);
  };
  const cells = all.map(() => all.map(() => h("button", { type: "button" })));
  const placeOf = (/** @type {any} */ node) => {
    const k = cells.flat().indexOf(node);
    return k < 0 ? null : [Math.floor(k / T), k % T];
  };
  const names = all.map((i) => button("", () => put({ chosen: i }), { class: "lmk-name" }));
  const painted = h.group("lmk-grid", "The mask: rows are outputs, columns are inputs; arrows move, space paints", [
    h("span", { "aria-hidden": "true" }),
    all.map((j) => h("span", { class: "lmk-head lm-muted", "aria-hidden": "true" }, j + 1)),
    all.map((i) => [names[i], cells[i]]),
  ]);
  painted.style.gridTemplateColumns = `max-content repeat(${T}, 1.6rem)`;
  roving(painted, "button", { keys: "plane", index: 1 });
  let brush = null; // what the pressed pointer paints
  let pressed = false; // the click that follows a press has been dealt with
  let pointed = null; // the cell under the pointer or the focus, whose ways are drawn
  const point = (place) => {
    if (String(place) === String(pointed)) return;
    pointed = place;
    redraw();
  };
  painted.addEventListener("pointerdown", (event) => {
    const place = placeOf(event.target);
    if (!place || event.button !== 0) return;
    /** @type {Element} */ (event.target).releasePointerCapture(event.pointerId);
    brush = 1 - its.mask[place[0]][place[1]];
    pressed = true;
    point(place);
    begin(place[0], place[1]);
  });
  painted.addEventListener("pointermove", (event) => {
    const place = placeOf(document.elementFromPoint(event.clientX, event.clientY));
    point(place);
    if (place && brush !== null) paint(place[0], place[1], brush);
  });
  painted.addEventListener("pointerleave", () => point(null));
  painted.addEventListener("focusin", (event) => point(placeOf(event.target)));
  painted.addEventListener("focusout", () => point(null));
  painted.addEventListener("click", (event) => {
    const place = placeOf(event.target);
    if (place && !pressed) begin(place[0], place[1]);
    pressed = false;
  });
  const lift = () => {
    brush = null;
    setTimeout(() => {
      pressed = false;
    });
  };
  document.addEventListener("pointerup", lift);

  // --- what can be reached -----------------------------------------------------------------------------------------
  const key = h.small([
    [
      ["lmk-mask lmk-on", "in one layer"],
      ["lmk-on", "only through others"],
      ["lmk-mask lmk-leak", "a later word"],
      ["lmk-same", "its own position"],
    ].map(([mark, words]) => h("span", { class: "lmk-item" }, h("span", { class: `lmk-cell lmk-key ${mark}` }), words)),
  ]);
  const { node: paths, svg, redraw } = plot("lm-chart", (width) => drawWays(Math.min(width, 640)));
  paths.ariaHidden = "true";
  const rows = table({
    caption: "Inputs on which each output can depend",
    head: ["Output", "May look at", "After all layers", "Later inputs"],
  });
  const question = wager({
    name: "masks-farthest",
    of: "words mask",
    asks: `Two layers of neighbours see two places far. How many does output 1 need to see word ${T}?`,
    options: [3, 4, farthest, farthest + 1],
    told: (bet) =>
      `Output 1 sees word ${T} after ${many(farthest)}, one for each step of the way` +
      answered(bet, farthest, `; you said ${bet}.`),
    // the way is drawn, and how far the layers come that were bet
    settled: (bet) =>
      bet !== null && put({ words: first, mask: made("neighbours"), layers: farthest, residual: true, chosen: 0 }),
  });
  el.append(
    question.node,
    h("div", { class: "lm-split", style: "--lm-side: 21rem" }, [
      h.stack([
        start.node,
        h.row(layers.node, residual, undo),
        h.small("Rows are outputs, columns are inputs. Paint here:"),
        painted,
      ]),
      h.stack(paths, key, say.node),
    ]),
    rows.node,
  );

  function drawWays(width) {
    const { mask, layers: L, residual, words } = its;
    const asked = question.answer !== null && its.chosen === 0 && L === farthest && named() === "neighbours";
    const chosen = pointed?.[0] ?? its.chosen;
    const from = pointed?.[1] ?? (asked ? T - 1 : -1);
    const bet = asked && !pointed ? question.answer : null;
    const choose = (/** @type {number} */ i) => put({ chosen: i });
    drawPaths(svg, width, { mask, L, residual, words, chosen, from, bet, choose });
  }

  function draw() {
    const { mask, layers: L, chosen, words: shown } = its;
    const reach = reaches(mask, L, its.residual).all[L];
    const ahead = leaks(reach).length;
    start.set(named());
    residual.ariaPressed = String(its.residual);
    disable(undo, !strokes.length);
    all.forEach((i) => {
      names[i].textContent = `${i + 1} ${shown[i]}`;
      names[i].ariaPressed = String(i === chosen);
      all.forEach((j) => {
        const cell = cells[i][j];
        const kinds = [i === j && "lmk-same", mask[i][j] && "lmk-mask", reach[i][j] && (j > i ? "lmk-leak" : "lmk-on")];
        cell.className = ["lmk-cell", ...kinds].filter(Boolean).join(" ");
        cell.ariaPressed = String(mask[i][j] === 1);
        cell.ariaLabel = `output ${i + 1}, ${shown[i]}, may look at input ${j + 1}, ${shown[j]}`;
      });
    });
    rows.draw(
      all.map((i) => [
        `${i + 1} ${shown[i]}`,
        runs(mask[i]),
        runs(reach[i]),
        runs(reach[i].map((cell, j) => (j > i ? cell : 0))),
      ]),
    );
    redraw();
    say(
      `After ${many(L)} output ${chosen + 1} sees inputs: ${runs(reach[chosen])}; ` +
        `${ahead ? fmt.some(ahead, "pair looks", "pairs look") : "no output looks"} ahead.`,
    );
  }

  follow("words mask layers residual chosen", draw);
  ends(() => document.removeEventListener("pointerup", lift));
}, about);
