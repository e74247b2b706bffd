// controls.mjs: what a reader presses, drags, types and chooses. core.mjs hands it on, and says how it is called.

import { h } from "./dom.mjs";

/**
 * @typedef {string | number | [value: any, words: string] | (string | number)[]} Option
 * @typedef {{ label?: string, value?: any, options: Option[], onchange?: (value: any) => void }} Choice
 */

/** A name for a pair of label and control; made in the page, so nothing stored depends on it. */
const unique = () => `lm-${Math.random().toString(36).slice(2)}`;
const named = (kind, id, label, ...parts) =>
  h("div", { class: `lm-control ${kind}` }, h("label", { for: id }, label), parts);

/**
 * @type {(label: import("./dom.mjs").Child, onclick: (event: MouseEvent) => void,
 *   attributes?: import("./dom.mjs").Attributes) => HTMLButtonElement}
 */
export function button(label, onclick, { pressed, main, chip, skip, ...rest } = {}) {
  const kind = `lm-button${main ? " lm-main" : ""}${chip ? " lm-chip" : ""}${skip ? " lm-skip" : ""}`;
  const press = (/** @type {MouseEvent} */ event) => {
    if (node.ariaDisabled !== "true") onclick(event);
  };
  const about = { type: "button", class: kind, onclick: press, "aria-pressed": pressed?.toString(), ...rest };
  const node = h("button", about, label);
  return node;
}

/** A button that does nothing for now. It keeps the focus, which one that is `disabled` would lose to the page. */
export const disable = (node, idle) => node.setAttribute("aria-disabled", String(idle));

/**
 * A slider with its label and value; text(v) says the value in words (aria-valuetext, and shown beside it).
 * @param {{ label: string, min: number, max: number, step?: number, value?: number, text?: (value: number) => string,
 *   oninput?: (value: number) => void, [attribute: string]: any }} options
 */
export function slider({ label, min, max, step = 1, value, text = String, oninput, ...rest }) {
  const id = unique();
  const out = h("span", { class: "lm-value", "aria-hidden": "true" });
  const input = h("input", { type: "range", id, min, max, step, ...rest });
  const show = () => {
    out.textContent = text(Number(input.value));
    input.setAttribute("aria-valuetext", out.textContent);
  };
  input.addEventListener("input", () => {
    show();
    oninput?.(Number(input.value));
  });
  const set = (v) => {
    input.value = String(v);
    show();
  };
  set(value ?? min);
  return { node: named("lm-slider", id, label, input, out), input, set, get: () => Number(input.value) };
}

/**
 * A line of text. oninput comes `delay` ms after the last key, and at once on Enter, before onenter. What is typed is
 * handed on with its accents composed (NFC), as the models read it; the line itself is left as it is. Where no
 * more than maxlength characters fit, the label says so as soon as they are full.
 * @param {{ label: string, value?: string, oninput?: (value: string) => void, onenter?: () => void, delay?: number,
 *   [attribute: string]: any }} options
 */
export function field({ label, value = "", oninput, onenter, delay = 250, ...rest }) {
  const id = unique();
  const input = h("input", { type: "text", id, autocomplete: "off", spellcheck: "false", ...rest });
  const full = h("span", { class: "lm-full" });
  const get = () => input.value.normalize("NFC");
  const limit = () => {
    const reached = input.maxLength > 0 && input.value.length >= input.maxLength;
    if (reached) full.setAttribute("role", "status");
    full.textContent = reached ? ` (full: ${input.maxLength} characters are read)` : "";
  };
  const set = (/** @type {string} */ text) => {
    if (get() !== text) input.value = text;
    limit();
  };
  let timer = null;
  const tell = () => {
    clearTimeout(timer);
    oninput?.(get());
  };
  input.addEventListener("input", () => {
    limit();
    clearTimeout(timer);
    timer = setTimeout(tell, delay);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    tell();
    onenter?.();
  });
  set(value);
  return { node: named("lm-field", id, label, full, input), input, set, get };
}

/** @type {(options: Option[]) => any[][]} */
export const pairs = (options) => options.map((option) => (Array.isArray(option) ? option : [option, String(option)]));

/**
 * One of a few options, all in view. Radio buttons: arrows choose, one tab stop.
 * @param {Choice} options
 */
export function choice({ label, options, value, onchange }) {
  const name = unique();
  const inputs = pairs(options).map(([v, words]) => {
    const input = h("input", { type: "radio", name, onchange: () => onchange?.(v) });
    return { v, input, node: h("label", { class: "lm-option" }, input, h("span", {}, words)) };
  });
  const node = h("fieldset", { class: "lm-control lm-choice" }, [h("legend", {}, label), inputs.map((o) => o.node)]);
  const set = (v) => {
    for (const o of inputs) o.input.checked = o.v === v;
  };
  set(value);
  return { node, set };
}

/**
 * One of many. A choice acts at once; but what arrows and letters run through while the list is closed acts on Enter,
 * or when the focus goes on.
 * @param {Choice} options
 */
export function select({ label, options, value, onchange }) {
  const id = unique();
  const list = pairs(options);
  const input = h("select", { id }, [list.map(([, words], i) => h("option", { value: i }, words))]);
  let key = false; // a key is doing this: the browser tells of the change at once
  let waits = false;
  const tell = () => {
    waits = false;
    onchange?.(list[input.selectedIndex][0]);
  };
  const set = (/** @type {any} */ v) => {
    if (!waits) input.selectedIndex = list.findIndex(([known]) => known === v);
  };
  input.addEventListener("change", () => {
    if (key) waits = true;
    else tell();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && waits) {
      event.preventDefault();
      tell();
    } else {
      key = true;
      setTimeout(() => (key = false));
    }
  });
  input.addEventListener("blur", () => {
    if (waits) tell();
  });
  set(value);
  return { node: named("", id, label, input), input, set };
}
