// roving.mjs: the keys in a group of controls. core.mjs hands it on.

import { replace, s } from "./dom.mjs";

/**
 * Of boxes in a plane, the place of the next one that lies this way, or of the same one; a step aside counts double.
 * @type {(all: HTMLElement[], here: number, key: string) => number}
 */
function beside(all, here, key) {
  const across = key === "ArrowRight" || key === "ArrowLeft";
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  const [along, aside] = [across, !across].map((level) => (/** @type {HTMLElement} */ one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    return level ? left + width / 2 : top + height / 2;
  });
  const far = all.map((one) => {
    const ahead = sign * (along(one) - along(all[here]));
    return ahead > 4 ? ahead + 2 * Math.abs(aside(one) - aside(all[here])) : Infinity;
  });
  const best = far.indexOf(Math.min(...far));
  return far[best] < Infinity ? best : here;
}

/**
 * One tab stop for a group: arrows (and Home, End) move the focus between the elements of `container` that match
 * `selector`. Call refresh() after the elements changed, refresh(i) to make the i-th the one that Tab reaches.
 * onmove(i) is told of each move by key. keys: "all", or "vertical" where left, right, Home and End belong to the
 * element itself, as in a column of sliders, or "plane" where an arrow goes to the next element that lies that way.
 * @type {(container: HTMLElement, selector: string, options?: { onmove?: (i: number) => void, index?: number,
 *   keys?: "all" | "vertical" | "plane" }) => any}
 */
export function roving(container, selector, { onmove, index = 0, keys = "all" } = {}) {
  const items = () => /** @type {HTMLElement[]} */ ([...container.querySelectorAll(selector)]);
  const across = keys === "vertical" ? {} : { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  const steps = { ArrowDown: 1, ArrowUp: -1, ...across };
  const refresh = (i = index) => {
    const all = items();
    index = Math.max(0, Math.min(all.length - 1, i));
    for (const [k, item] of all.entries())
      s.set(item, { tabindex: k === index ? 0 : -1, "data-lm-suppress-shortcuts": "true" });
  };
  const focus = (i) => {
    refresh(i);
    items()[index]?.focus();
  };
  container.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey || !target.matches(selector)) return;
    event.preventDefault();
    const all = items();
    const here = all.indexOf(target);
    focus(keys === "plane" && event.key.startsWith("Arrow") ? beside(all, here, event.key) : here + steps[event.key]);
    onmove?.(index);
  });
  container.addEventListener("focusin", (event) => {
    const i = items().indexOf(/** @type {HTMLElement} */ (event.target));
    if (i >= 0 && i !== index) refresh(i);
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
      return index;
    },
  };
}
