// HTML and SVG elements for the figures. Text stays text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";
const FOCUSABLE = "button, input, select, textarea, summary, a, [tabindex]";

/** @typedef {any} Child  a string, a number, a node, or a list of these; null, undefined and false leave nothing */
/** @typedef {Record<string, any>} Attributes */

const nothing = (value) => value === null || value === undefined || value === false;
const flat = (children) => children.flat(Infinity).filter((child) => !nothing(child));

/** @type {<T extends Element>(element: T, attributes: Attributes, children?: Child[]) => T} */
function build(element, attributes, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (nothing(value)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style" && typeof value === "object") {
      for (const pair of Object.entries(value)) /** @type {any} */ (element).style.setProperty(...pair);
    } else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  if (element.matches(FOCUSABLE)) element.setAttribute("data-lm-suppress-shortcuts", "true");
  element.append(...flat(children));
  return element;
}

/**
 * An HTML element. Attributes: onclick etc. take functions, style may be an object, null and false are left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
const html = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);

/** An SVG element, made like h().  @type {(tag: string, attributes: Attributes, ...children: Child[]) => SVGElement} */
const svg = (tag, attributes, ...children) =>
  build(/** @type {SVGElement} */ (document.createElementNS(SVG, tag)), attributes, children);

/** @typedef {(kind: string, label: string, ...children: Child[]) => HTMLDivElement} Named */
/** What belongs together, with a name that is read out.  @type {Named} */
const group = (kind, label, ...children) => html("div", { class: kind, role: "group", "aria-label": label }, children);

/** A box that may scroll, which keys can reach then.  @type {Named} */
const scroller = (kind, label, ...children) =>
  html("div", { class: kind, tabindex: "0", role: "region", "aria-label": label }, children);

/**
 * On a slide where all has no room in large letters, the node stands in the parts of these names only, each one word;
 * with the name "" in none, as what nobody needs in front of a room. Everywhere else this changes nothing.
 * @type {<T extends HTMLElement | SVGElement>(names: string, node: T) => T}
 */
function onstage(names, node) {
  node.dataset.part = names;
  return node;
}

/** A line of small grey text.  @type {(...children: Child[]) => HTMLElement} */
const small = (...children) => html("p", { class: "lm-small lm-muted" }, children);

/** @type {(kind: string) => (...children: Child[]) => HTMLDivElement} */
const placed =
  (kind) =>
  (...children) =>
    html("div", { class: kind }, children);

/** Words in a drawing; side: of the place they stand on, "start", "middle" or "end". */
const text = (x, y, words, side = "middle", more = {}) => svg("text", { x, y, "text-anchor": side, ...more }, words);

/** Words at an axis, small and grey. */
const tick = (x, y, words, side = "middle") => text(x, y, words, side, { class: "lm-tick" });

/** A line through places, as the d of a path.  @type {(places: number[][]) => string} */
const through = (places) => `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

/** A piece of a line of a grid or an axis: from one place straight to another. */
const rule = (d, kind = "lm-grid") => svg("path", { class: kind, d });

/**
 * The lines of a scale from `left` to `right`, before each its value in words.
 * @type {(values: number[], y: (value: number) => number, left: number, right: number,
 *   words?: (value: number) => any) => Child}
 */
const levels = (values, y, left, right, words = String) =>
  values.map((v) => [rule(`M${left} ${y(v)}H${right}`), tick(left - 6, y(v) + 4, words(v), "end")]);

/** So many groups in a drawing, one over another: what is drawn anew at different times. */
function layers(drawing, n) {
  const all = Array.from({ length: n }, () => svg("g", {}));
  drawing.append(...all);
  return all;
}

/** A drawing of this size; with a label it is a picture that has a name. */
const sized = (drawing, width, height, label = null) =>
  build(drawing, { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": label });

/**
 * The place nearest to `at` that is `gap` away from all that is taken, and within its bounds; it is taken then.
 * @type {(taken: number[], at: number, gap?: number, bounds?: number[]) => number}
 */
function free(taken, at, gap = 15, [least, most] = [-Infinity, Infinity]) {
  const within = Math.max(least, Math.min(most, at));
  const fits = (/** @type {number} */ place) =>
    place >= least && place <= most && taken.every((other) => Math.abs(other - place) >= gap);
  let away = 0;
  while (away < 200 && !fits(within + away) && !fits(within - away)) away += 1;
  taken.push(fits(within + away) ? within + away : within - away);
  return taken.at(-1);
}

/** A name at the end of a line of an SVG chart, after a short piece of that line: underlines there have no colour. */
const endLabel = (x, y, words, line) => [
  svg("path", { ...line, d: `M${x} ${y - 4}h13` }),
  text(x + 17, y, words, "start", { style: "font-weight: 600" }),
];

/** The node with new children.  @type {<T extends Element>(node: T, ...children: Child[]) => T} */
export function replace(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

/** HTML: h(tag, attributes, ...children), and what is made of it. */
export const h = Object.assign(html, {
  ...{ group, onstage, scroller, small },
  ...{ stack: placed("lm-stack"), row: placed("lm-row"), folds: placed("lm-folds") },
});
/** SVG: s(tag, attributes, ...children), and what is made of it. */
export const s = Object.assign(svg, { endLabel, free, layers, levels, rule, set: build, sized, text, through, tick });
