// A state as a band of squares, one a unit: filled where h is positive and an outline where it is negative; the side
// grows with |h|. So it reads without colour, too.
import { onwidth, s } from "../kit/core.mjs";

const PITCH = 12; // of a square, in units of the drawing
export const style = `
.lm-figure .lmu-strip { display: block; width: 100%; height: auto; cursor: pointer; }
.lm-figure .lmu-turned { fill: none; stroke: var(--lm-text); stroke-width: 0.8; }
.lm-figure .lmu-mark { fill: none; stroke: var(--lm-text); stroke-width: 2; }
`;

/**
 * hover(unit or null) of the mouse, choose(unit) of a click.  draw(values, turned): each in [-1, 1], and the units that
 * get a thin frame.  mark(unit): frames it.
 * @param {number} units
 * @param {{ hover: (u: number | null) => void, choose: (u: number) => void }} told
 */
export function squares(units, { hover, choose }) {
  let columns = 40;
  let last = { values: Array(units).fill(0), turned: [], marked: 0 };
  const all = Array.from({ length: units }, (_, u) => s("rect", { "data-unit": u }));
  const frame = s("rect", { class: "lmu-mark", width: PITCH - 1, height: PITCH - 1 });
  const frames = s("path", { class: "lmu-turned" });
  const node = s("svg", { class: "lmu-strip", "aria-hidden": "true" }, all, frames, frame);
  const at = (/** @type {number} */ u) => [u % columns, Math.floor(u / columns)].map((k) => PITCH * (k + 0.5));

  function mark(marked) {
    last = { ...last, marked };
    const [x, y] = at(marked);
    s.set(frame, { x: x - (PITCH - 1) / 2, y: y - (PITCH - 1) / 2 });
  }

  function draw(values, turned) {
    last = { ...last, values, turned };
    const around = turned.map((u) => at(u).map((middle) => middle - 5));
    s.set(frames, { d: around.map(([x, y]) => `M${x} ${y}h10v10h-10z`).join("") });
    s.set(node, { viewBox: `0 0 ${PITCH * columns} ${PITCH * Math.ceil(units / columns)}` });
    all.forEach((square, u) => {
      const side = 1.5 + 7 * Math.abs(values[u]);
      const [x, y] = at(u).map((middle) => (middle - side / 2).toFixed(2));
      const kind = values[u] > 0 ? "lm-plus" : "lm-minus";
      s.set(square, { x, y, width: side.toFixed(2), height: side.toFixed(2), class: kind });
    });
    mark(last.marked);
  }

  const unitAt = (/** @type {PointerEvent | MouseEvent} */ { clientX, clientY }) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const x = Math.floor(((clientX - left) / width) * columns);
    const u = Math.floor((((clientY - top) / height) * units) / columns) * columns + x;
    return x >= 0 && x < columns && u >= 0 && u < units ? u : null;
  };
  node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.pointerType === "mouse") hover(unitAt(event));
  });
  node.addEventListener("pointerleave", () => hover(null));
  node.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const u = unitAt(event);
    if (u !== null) choose(u);
  });
  // rows of 40, or of 20 on a narrow screen
  onwidth(node, (width) => {
    const fit = width < 480 ? 20 : 40;
    if (fit === columns) return;
    columns = fit;
    draw(last.values, last.turned);
  });
  return { node, draw, mark };
}
