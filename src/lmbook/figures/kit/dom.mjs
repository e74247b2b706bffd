// HTML and SVG elements for the figures. Text stays text: nothing here reads markup.

const SVG = "http://www.w3.org/2000/svg";
const FOCUSABLE = new Set(["button", "input", "select", "textarea", "summary", "a"]);

/** @typedef {any} Child  a string, a number, a node, or a list of these; null, undefined and false leave nothing */
/** @typedef {Record<string, any>} Attributes */

/**
 * @template {HTMLElement | SVGElement} T
 * @param {T} element
 * @param {Attributes | null | undefined} attributes
 * @param {Child[]} children
 */
function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style" && typeof value === "object") {
      for (const [property, setting] of Object.entries(value)) element.style.setProperty(property, setting);
    } else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  if (FOCUSABLE.has(element.localName) || element.hasAttribute("tabindex")) {
    element.setAttribute("data-lm-suppress-shortcuts", "true");
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/**
 * An HTML element. Attributes: onclick etc. take functions, style may be an object, null and false are left out.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
function html(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/**
 * An SVG element, made like h().
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {SVGElement}
 */
function svg(tag, attributes, ...children) {
  return build(/** @type {SVGElement} */ (document.createElementNS(SVG, tag)), attributes, children);
}

/**
 * What belongs together, with a name that is read out.
 * @param {string} kind
 * @param {string} label
 * @param {...Child} children
 */
const group = (kind, label, ...children) =>
  html("div", { class: kind, role: "group", "aria-label": label }, ...children);

/**
 * A box that may scroll, which keys can reach then.
 * @param {string} kind
 * @param {string} label
 * @param {...Child} children
 */
const scroller = (kind, label, ...children) =>
  html("div", { class: kind, tabindex: "0", role: "region", "aria-label": label }, ...children);

/**
 * On a slide where all has no room in large letters, the node stands in the parts of these names only, each one word;
 * with the name "" in none, as what nobody needs in front of a room. Everywhere else this changes nothing.
 * @template {HTMLElement | SVGElement} T
 * @param {string} names
 * @param {T} node
 */
function onstage(names, node) {
  node.dataset.part = names;
  return node;
}

/**
 * A line of small grey text.
 * @param {...Child} children
 */
const small = (...children) => html("p", { class: "lm-small lm-muted" }, ...children);

/** @type {(kind: string) => (...children: Child[]) => HTMLDivElement} */
const placed =
  (kind) =>
  (...children) =>
    html("div", { class: kind }, ...children);

/**
 * Words in a drawing; side: of the place they stand on, "start", "middle" or "end".
 * @param {any} x
 * @param {any} y
 * @param {Child} words
 * @param {string} side
 * @param {Attributes} more
 */
const text = (x, y, words, side = "middle", more = {}) => svg("text", { x, y, "text-anchor": side, ...more }, words);

/**
 * Words at an axis, small and grey.
 * @param {any} x
 * @param {any} y
 * @param {Child} words
 * @param {string} [side]
 */
const tick = (x, y, words, side) => text(x, y, words, side, { class: "lm-tick" });

/**
 * A line through places, as the d of a path.
 * @param {number[][]} places
 */
const through = (places) => `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

/**
 * A piece of a line of a grid or an axis: from one place straight to another.
 * @param {string} d
 * @param {string} kind
 */
const rule = (d, kind = "lm-grid") => svg("path", { class: kind, d });

/**
 * The lines of a scale from `left` to `right`, before each its value in words.
 * @param {number[]} values
 * @param {(value: number) => number} y
 * @param {number} left
 * @param {number} right
 * @param {(value: number) => any} words
 */
const levels = (values, y, left, right, words = String) =>
  values.map((v) => [rule(`M${left} ${y(v)}H${right}`), tick(left - 6, y(v) + 4, words(v), "end")]);

/**
 * So many groups in a drawing, one over another: what is drawn anew at different times.
 * @param {Element} drawing
 * @param {number} n
 */
function layers(drawing, n) {
  const all = Array.from({ length: n }, () => svg("g", {}));
  drawing.append(...all);
  return all;
}

/**
 * Gives a node these attributes.
 * @param {Element} node
 * @param {Attributes} attributes
 */
function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
}

/**
 * A drawing of this size; with a label it is a picture that has a name.
 * @param {Element} svg
 * @param {number} width
 * @param {number} height
 * @param {string} [label]
 */
const sized = (svg, width, height, label) =>
  set(svg, { viewBox: `0 0 ${width} ${height}`, width, height, ...(label ? { "aria-label": label } : {}) });

/**
 * The place nearest to `at` that is `gap` away from all that is taken, and within its bounds; it is taken then.
 * @param {number[]} taken
 * @param {number} at
 * @param {number} gap
 * @param {number[]} bounds
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

/**
 * A name at the end of a line of an SVG chart, after a short piece of that line: underlines there have no colour.
 * @param {number} x
 * @param {number} y
 * @param {string} words
 * @param {Attributes} line  of the piece
 */
const endLabel = (x, y, words, line) => [
  svg("path", { ...line, d: `M${x} ${y - 4}h13` }),
  text(x + 17, y, words, "start", { style: "font-weight: 600" }),
];

/**
 * The node with new children.
 * @template {Element} T
 * @param {T} node
 * @param {...Child} children
 */
export function replace(node, ...children) {
  node.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return node;
}

/** HTML: h(tag, attributes, ...children), and what is made of it. */
export const h = Object.assign(html, {
  ...{ group, onstage, scroller, small },
  ...{ stack: placed("lm-stack"), row: placed("lm-row"), folds: placed("lm-folds") },
});
/** SVG: s(tag, attributes, ...children), and what is made of it. */
export const s = Object.assign(svg, { endLabel, free, layers, levels, rule, set, sized, text, through, tick });
