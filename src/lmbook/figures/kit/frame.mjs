// frame.mjs: what a figure's frame does by itself. On a phone its caption is one sentence of task at a time, and while
// it is used the figure does not get less high under the reader's eyes.

import { button } from "./controls.mjs";
import { h, replace } from "./dom.mjs";

/**
 * The sentences of a caption, each in a box of its own, and a button to the next one, which only a phone shows.
 * Whatever stands before the text, such as a number, is left there.  text: in place of what it says.
 * @type {(caption: HTMLElement, text?: string) => void}
 */
export function tasks(caption, text) {
  const own = [...caption.childNodes].findLast((node) => node.nodeType === Node.TEXT_NODE);
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

/** A figure that is used gets no less high, unless a fold is closed or it gets another width. */
export function hold(/** @type {HTMLElement} */ body) {
  let width = 0;
  const free = () => body.style.removeProperty("min-height");
  const keep = () => {
    if (width !== body.offsetWidth) free();
    width = body.offsetWidth;
    body.style.minHeight = `${body.offsetHeight}px`;
  };
  for (const kind of ["click", "input", "keydown"]) body.addEventListener(kind, keep, true);
  body.addEventListener("toggle", free, true);
}

/**
 * The frame of a figure in a notebook, with title and caption above its body. There the same figure stands printed in
 * the output before (Figure._ipython_display_). It goes once this one is in the page, which is after render(). Returns
 * what ends the wait.
 */
export function framed(el, body, model, listen) {
  const title = h("p", { class: "lm-title" });
  const caption = h("figcaption", {});
  const frame = h("figure", { class: "lm-figure" }, title, body, caption);
  const words = () => {
    title.textContent = model.get("title");
    tasks(caption, model.get("caption"));
    frame.setAttribute("aria-label", model.get("title"));
  };
  listen("title caption", words);
  words();
  el.append(frame);
  const timer = setInterval(() => {
    if (!frame.isConnected) return;
    clearInterval(timer);
    const outputs = frame.closest(".jp-OutputArea, .cell_container") ?? document; // of the cell: JupyterLab, VS Code
    const printed = [...outputs.querySelectorAll("figure.lm-figure[data-module]")];
    printed.findLast((one) => one.compareDocumentPosition(frame) & Node.DOCUMENT_POSITION_FOLLOWING)?.remove();
  }, 20);
  return () => clearInterval(timer);
}
