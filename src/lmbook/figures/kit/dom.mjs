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
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/**
 * An SVG element, made like h().
 * @param {string} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function s(tag, attributes, ...children) {
  return build(/** @type {SVGElement} */ (document.createElementNS(SVG, tag)), attributes, children);
}

/**
 * A name at the end of a line of an SVG chart, after a short piece of that line: underlines there have no colour.
 * @param {number} x
 * @param {number} y
 * @param {string} words
 * @param {Attributes} line  of the piece
 */
export const endLabel = (x, y, words, line) => [
  s("path", { ...line, d: `M${x} ${y - 4}h13` }),
  s("text", { x: x + 17, y, style: "font-weight: 600" }, words),
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
