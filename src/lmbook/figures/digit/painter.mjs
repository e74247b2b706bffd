// painter.mjs: squares that a pointer or a key paints: buttons for the rows that are given, plain ones for the others.
import { button, h, roving } from "../kit/core.mjs";

/**
 * side: squares of a row.  brush(): the grey that it paints, once more takes it away.  pixels(): those that there are;
 * paint(pixels): the new ones.  lifted(): the pointer has left.
 * @type {(grid: HTMLElement, given: { side: number, brush: () => number, pixels: () => number[],
 *   paint: (pixels: number[]) => void, lifted: () => void }) => any}
 */
export function painterOf(grid, { side, brush, pixels, paint, lifted }) {
  const cells = roving(grid, "button", { keys: "plane" });
  let painting = null; // with which grey
  let last = 0; // the cell that was painted before
  let shown = -1;

  const set = (at, grey) => pixels()[at] !== grey && paint(pixels().with(at, grey));
  const toggled = (at) => (pixels()[at] === brush() ? 0 : brush());
  const under = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest?.("button.lmpx-cell");
  const number = (cell) => Number(cell.dataset.at);
  // from the keyboard or a screen reader: no pointer was down
  const pressed = ({ detail, currentTarget }) =>
    detail === 0 && set(number(currentTarget), toggled(number(currentTarget)));
  grid.addEventListener("pointerdown", (event) => {
    const cell = under(event);
    if (!cell || !grid.contains(cell) || event.button > 0) return;
    last = number(cell);
    painting = toggled(last);
    set(last, painting);
  });
  grid.addEventListener("pointermove", (event) => {
    const cell = painting === null || !event.buttons ? null : under(event);
    if (!cell || !grid.contains(cell)) return;
    // a fast hand skips cells: all on the way are painted
    const from = last;
    const to = number(cell);
    const down = Math.floor(to / side) - Math.floor(from / side);
    const across = (to % side) - (from % side);
    const far = Math.max(Math.abs(down), Math.abs(across));
    for (let k = 1; k <= far; k += 1)
      set(from + side * Math.round((k * down) / far) + Math.round((k * across) / far), painting);
    last = to;
  });
  const stop = () => {
    if (painting === null) return;
    painting = null;
    lifted();
  };
  const ended = new AbortController();
  for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, stop, ended);

  return {
    /** So many rows can be painted. */
    rows(many) {
      if (shown === many) return;
      shown = many;
      const given = (i) => button(h("span", { class: "lm-hidden" }), pressed, { class: "lmpx-cell", "data-at": i });
      const written = () => h("span", { class: "lmpx-cell lmpx-written", "aria-hidden": "true" });
      const all = pixels().map((_, i) => (i < many * side ? given(i) : written()));
      cells.refill(all, cells.index);
    },
    /** Whether a pointer is painting. */
    get busy() {
      return painting !== null;
    },
    stop: () => ended.abort(),
  };
}
