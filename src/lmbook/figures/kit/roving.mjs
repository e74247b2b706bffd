// roving.mjs: the keys in a group of controls. core.mjs hands it on.

import { replace } from "./dom.mjs";

/**
 * Of boxes in a plane, the place of the next one that lies this way, or of the same one; a step aside counts double.
 * @param {HTMLElement[]} all
 * @param {number} here
 * @param {string} key
 */
function beside(all, here, key) {
  const centre = (/** @type {HTMLElement} */ one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return [left + width / 2, top + height / 2];
  };
  const [x, y] = centre(all[here]);
  const across = key === "ArrowRight" || key === "ArrowLeft";
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  const far = all.map((one) => {
    const [there, high] = centre(one);
    const ahead = sign * (across ? there - x : high - y);
    return ahead > 4 ? ahead + 2 * Math.abs(across ? high - y : there - x) : Infinity;
  });
  const best = far.indexOf(Math.min(...far));
  return far[best] < Infinity ? best : here;
}

/**
 * One tab stop for a group: arrows (and Home, End) move the focus between the elements of `container` that match
 * `selector`. Call refresh() after the elements changed. onmove(i) is told of each move by key. keys: "all", or
 * "vertical" where left, right, Home and End belong to the element itself, as in a column of sliders, or "plane" where
 * an arrow goes to the next element that lies that way.
 * @param {HTMLElement} container
 * @param {string} selector
 * @param {{ onmove?: (i: number) => void, index?: number, keys?: "all" | "vertical" | "plane" }} options
 */
export function roving(container, selector, { onmove, index = 0, keys = "all" } = {}) {
  const state = { index };
  const items = () => /** @type {HTMLElement[]} */ ([...container.querySelectorAll(selector)]);
  const mark = () =>
    items().forEach((item, i) => {
      item.setAttribute("tabindex", i === state.index ? "0" : "-1");
      item.setAttribute("data-lm-suppress-shortcuts", "true");
    });
  const across = keys === "vertical" ? {} : { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  const steps = { ArrowDown: 1, ArrowUp: -1, ...across };
  const refresh = () => {
    state.index = Math.max(0, Math.min(items().length - 1, state.index));
    mark();
  };
  const focus = (i) => {
    state.index = i;
    refresh();
    items()[state.index]?.focus();
  };
  container.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || !target.matches(selector)) return;
    event.preventDefault();
    const all = items();
    const here = all.indexOf(target);
    focus(keys === "plane" && event.key.startsWith("Arrow") ? beside(all, here, event.key) : here + steps[event.key]);
    onmove?.(state.index);
  });
  container.addEventListener("focusin", (event) => {
    const i = items().indexOf(/** @type {HTMLElement} */ (event.target));
    if (i >= 0 && i !== state.index) {
      state.index = i;
      mark();
    }
  });
  refresh();
  return {
    refresh,
    focus,
    /** New elements in place of all; the focus, where one of the old ones had it, goes to the i-th. */
    refill(children, i = 0) {
      const had = container.contains(document.activeElement);
      replace(container, children);
      refresh();
      if (had) focus(i);
    },
    get index() {
      return state.index;
    },
  };
}
