// frame.mjs: what a figure's frame does by itself. On a phone its caption is one sentence of task at a time, and while
// it is used the figure does not get less high under the reader's eyes.

import { button } from "./controls.mjs";
import { h, replace } from "./dom.mjs";

/**
 * The sentences of a caption, each in a box of its own, and a button to the next one, which only a phone shows.
 * Whatever stands before the text, such as a number, is left there.
 * @param {HTMLElement} caption
 * @param {string} [text] in place of what it says
 */
export function tasks(caption, text) {
  const own = [...caption.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).at(-1);
  const said = (text ?? own?.textContent ?? "").trim();
  const sentences = said.split(/(?<=[.?!]”?)\s+(?=[A-Z“])/);
  const boxes = sentences.map((one) => h("span", { class: "lm-task" }, `${one} `));
  let now = 0;
  const more = button("", () => show((now + 1) % boxes.length), { class: "lm-more" });
  function show(/** @type {number} */ i) {
    now = i;
    boxes.forEach((box, k) => box.classList.toggle("lm-now", k === i));
    more.textContent = `${i + 1} of ${boxes.length} ›`;
    more.ariaLabel = `${i + 1} of ${boxes.length} parts of the task: the next one`;
  }
  show(0);
  if (text !== undefined) replace(caption);
  else own?.remove();
  caption.append(...boxes, ...(boxes.length > 1 ? [more] : []));
}

/**
 * A figure that is used gets no less high, unless a fold is closed or it gets another width.
 * @param {HTMLElement} body
 */
export function hold(body) {
  let width = 0;
  const free = () => {
    body.style.minHeight = "";
  };
  const keep = () => {
    if (width !== body.offsetWidth) free();
    width = body.offsetWidth;
    body.style.minHeight = `${body.offsetHeight}px`;
  };
  for (const kind of ["click", "input", "keydown"]) body.addEventListener(kind, keep, true);
  body.addEventListener("toggle", free, true);
}
