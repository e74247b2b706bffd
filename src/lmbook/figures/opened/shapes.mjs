// shapes.mjs: the shapes of an opened network, as in the book's drawings: boxes, streams, arrows, vectors as
// bars.
import { s } from "../kit/core.mjs";

export const WIDE = 320; // px of every sheet, so that a phone shows it whole

/**
 * Words of the drawing; how: where they stand, "start" or "end", and "small", "muted", "bold", "told". On a slide no
 * letter is smaller than --lm-least.
 */
export function text(x, y, words, how = "") {
  const is = (/** @type {string} */ word) => how.split(" ").includes(word);
  const side = ["start", "end"].find(is);
  const size = is("small") ? 12 : side ? 12.5 : 13;
  return s.text(x, y, words, side ?? "middle", {
    class: is("muted") ? "lm-tick" : is("told") ? "lmo-told" : null,
    style: { "font-size": `max(${size}px, var(--lm-least, 0px))`, "font-weight": is("bold") ? 600 : 400 },
  });
}

/** A box of a role: "encoder", "decoder", "parameter", "plain". */
export const box = (x, y, width, height, role = "plain") =>
  s("rect", { x, y, width, height, rx: 5, class: `lmo-box lmo-${role}` });

export const path = (d, role = "plain", wide = 1.5) =>
  s("path", { d, class: `lmo-line lmo-${role}`, "stroke-width": wide });

/** A filled bar; kinds: its role, and "told" where a bet hides it. */
export const bar = (x, y, width, height, kinds, more = {}) =>
  s("rect", { x, y, width, height, class: `lmo-head ${kinds.replace(/\w+/g, "lmo-$&")}`, ...more });

/** A line with a head at its end, which points up, right or left. */
export function arrow(d, x, y, way, role = "plain", wide = 1.5) {
  const head = {
    up: `M${x - 4} ${y + 7}L${x} ${y}l4 7z`,
    right: `M${x - 7} ${y - 4}L${x} ${y}l-7 4z`,
    left: `M${x + 7} ${y - 4}L${x} ${y}l7 4z`,
  }[way];
  return [path(d, role, wide), s("path", { d: head, class: `lmo-head lmo-${role}` })];
}

export const plus = (x, y) => [
  s("circle", { cx: x, cy: y, r: 8, class: "lmo-sum lmo-state" }),
  path(`M${x - 4} ${y}h8M${x} ${y - 4}v8`),
];

/** A vector: its entries as bars above and below a line.  top: what the tallest bar stands for. */
export function vector(x, y, width, height, values, role, top = Math.max(...values.map(Math.abs), 1e-9)) {
  const half = height / 2;
  const heights = values.map((value) => Math.max(-1, Math.min(1, value / top)) * half);
  return bars(x, y + half, width / values.length, width, role, heights);
}

/** Bars on a line of this width, upwards from it, or downwards where they are negative. */
function bars(x, y, step, width, role, heights) {
  const across = (0.8 * step).toFixed(2);
  const one = (up, j) =>
    `M${(x + j * step).toFixed(1)} ${y.toFixed(1)}v${(-up).toFixed(1)}h${across}v${up.toFixed(1)}z`;
  return [
    s("path", { d: heights.map(one).join(""), class: `lmo-bars lmo-${role}` }),
    s("line", { x1: x, x2: x + width, y1: y, y2: y, class: "lmo-zero" }),
  ];
}

/** Vectors below one another, each under its name: [name, values, role, top]. */
export const lanes = (list, y = 16, tall = 54, step = 82, gap = 6) =>
  list.map(([name, values, role, top], k) => [
    text(0, y + step * k, name, "start"),
    vector(0, y + gap + step * k, WIDE, tall, values, role, top),
  ]);

/** Weights as columns on a line; of `total` places those behind the last weight are masked. */
export function columns(x, y, width, height, weights, role, total = weights.length) {
  const step = width / total;
  const open = step * weights.length;
  const masked = s("rect", { x: x + open, y, width: width - open, height, class: "lmo-masked" });
  const heights = weights.map((w) => height * w);
  return [masked, bars(x, y + height, step, width, role, heights)];
}

/**
 * What can be chosen and opened: shapes in a group that is a button. Its name is the label and what is written on it,
 * without what a bet still hides if that is not told.
 */
export function part(to, label, ...shapes) {
  const apart = shapes.flat(9).flatMap((shape) => [shape, " "]); // the words
  const node = s("g", { class: "lmo-part", role: "button", tabindex: "-1" }, apart);
  /** @param {boolean} told */
  const name = (told) => {
    const seen = [...node.children].filter((one) => told || !one.classList.contains("lmo-told"));
    const written = seen.flatMap((one) => one.textContent.match(/\S+/g) ?? []).join(" ");
    node.setAttribute("aria-label", label.endsWith(written) ? label : `${label}: ${written}`);
  };
  name(true);
  return { to, node, name };
}

/** Where a row is pressed. */
export const hit = (y, height) => s("rect", { x: 0, y, width: WIDE, height, rx: 4, class: "lmo-hit" });

/** What the reader bet on. */
export const bet = (x, y, width, height) => s("rect", { class: "lmo-bet", x, y, width, height, rx: 6 });

export const sheet = (height, ...shapes) => s("svg", { class: "lmo-sheet", viewBox: `0 0 ${WIDE} ${height}` }, shapes);

export const shapesStyle = `
.lmo-sheet { display: block; width: 100%; max-width: 24rem; height: auto; overflow: visible; }
.lmo-encoder { --lmo: var(--lm-1); } .lmo-decoder { --lmo: var(--lm-2); } .lmo-value { --lmo: var(--lm-3); }
.lmo-parameter { --lmo: var(--lm-5); } .lmo-state { --lmo: var(--lm-6); } .lmo-plain { --lmo: var(--lm-text); }
.lmo-box { fill: color-mix(in srgb, var(--lmo) 14%, var(--lm-paper)); stroke: var(--lmo); stroke-width: 1.5; }
.lmo-box.lmo-plain { fill: var(--lm-soft); stroke: var(--lm-edge); }
.lmo-line { fill: none; stroke: var(--lmo); }
.lmo-line.lmo-plain { stroke: var(--lm-edge); }
.lmo-head, .lmo-bars { fill: var(--lmo); }
.lmo-head.lmo-plain { fill: var(--lm-edge); }
.lmo-sum { fill: var(--lm-paper); stroke: var(--lmo); stroke-width: 1.5; }
.lmo-masked { fill: var(--lm-edge); fill-opacity: 0.35; }
.lmo-zero { stroke: var(--lm-edge); stroke-width: 0.75; }
.lmo-bet { fill: none; stroke: var(--lm-text); stroke-width: 2; stroke-dasharray: 5 3; pointer-events: none; }
.lmo-part { cursor: pointer; outline: none; }
.lmo-part .lmo-hit { fill: transparent; }
.lmo-part:hover :is(.lmo-box, .lmo-hit) { stroke-width: 2.5; }
.lmo-part:hover .lmo-hit { fill: var(--lm-soft); }
.lm-figure .lmo-part:focus-visible { outline: 2px solid var(--lm-1); outline-offset: 2px; border-radius: 5px; }
`;
