// PositionWheels: the sinusoidal codes of two positions as hands of clocks, and the table of all dot products.
//
//   w_j = base^(-2j/width)
//   pair j of position t: x = sin(t w_j), y = cos(t w_j), a hand from twelve o'clock, clockwise
//   p_t . p_i = sum_j cos((t - i) w_j)
//
// Everything is computed here, from position, offset, width and base.
import { choice, figure, fmt, h, replace, s, table, whole } from "../kit/core.mjs";

const WIDTHS = [4, 8, 12];
const BASES = [10, 100, 10000];
const LONGEST = 15;

const style = `
.lm-figure .lmpw-dials { display: grid; grid-template-columns: repeat(auto-fill, minmax(4.6rem, 1fr)); gap: 0.5rem;
  max-width: 40rem; }
.lm-figure .lmpw-dial { margin: 0; text-align: center; font-size: 0.8125rem; line-height: 1.3; }
.lm-figure .lmpw-dial svg { width: 100%; max-width: 6rem; height: auto; display: block; margin: 0 auto; }
.lm-figure .lmpw-rim { fill: var(--lm-soft); stroke: var(--lm-edge); stroke-width: 1; }
.lm-figure .lmpw-t { stroke: var(--lm-1); stroke-width: 5; stroke-linecap: round; }
.lm-figure .lmpw-i { stroke: var(--lm-2); stroke-width: 3.5; stroke-dasharray: 6 3; }
.lm-figure .lmpw-key { display: inline-block; width: 1.6rem; border-top: 4px solid var(--lm-1); vertical-align: middle;
  margin-right: 0.3rem; }
.lm-figure .lmpw-key.lmpw-key-i { border-top: 3px dashed var(--lm-2); margin-left: 0.9rem; }
.lm-figure .lmpw-both { --lm-side: 21rem; }
.lm-figure .lmpw-table { max-width: 25rem; touch-action: manipulation; }
.lm-figure .lmpw-table svg { width: 100%; height: auto; display: block; cursor: pointer; }
.lm-figure .lmpw-table .lm-tick { font-size: 13.5px; } /* the table shrinks with a phone */
.lm-figure .lmpw-cell { fill: var(--lm-1); }
.lm-figure .lmpw-here { fill: none; stroke: var(--lm-text); stroke-width: 1.8; }
.lm-figure .lmpw-along { stroke: var(--lm-2); stroke-width: 1.6; stroke-dasharray: 4 3; }
`;

const about = {
  style,
  allows: {
    // what an address may set
    i: (i, { length }) => whole(i, 0, length - 1 - LONGEST),
    offset: (offset) => whole(offset, 0, LONGEST),
  },
};

export default figure(({ model, el, knob, bound, get, put, listen, say }) => {
  const length = get("length");
  const first = knob("i", "Position i", [0, length - 1 - LONGEST]);
  const gap = knob("offset", "Offset t − i", [0, LONGEST]);
  const width = choice({
    label: "Width D",
    options: WIDTHS.map((v) => [v, String(v)]),
    ...bound("width", "onchange"),
  });
  const base = choice({
    label: "Base C",
    options: BASES.map((v) => [v, fmt.count(v)]),
    ...bound("base", "onchange"),
  });
  const key = h("p", { class: "lm-small lm-muted", "aria-hidden": "true" });
  const dials = h("div", { class: "lmpw-dials", "aria-hidden": "true" });
  const heading = h(
    "p",
    { class: "lm-small lm-muted" },
    `Dot products of positions 0 to ${length - 1}: the stronger the colour, the larger`,
  );
  const grid = h("div", { class: "lmpw-table", "aria-hidden": "true" });
  const numbers = table({
    caption: "The dials",
    head: ["dial", "positions a turn", "hand at i", "hand at t", "cosine of the angle"],
  });
  el.append(
    h("div", { class: "lm-split lmpw-both" }, [
      h("div", { class: "lm-stack" }, first.node, gap.node, width.node, base.node, key, dials, say.node),
      h("div", {}, heading, grid),
    ]),
    numbers.node,
  );

  const speeds = () => Array.from({ length: get("width") / 2 }, (_, j) => get("base") ** ((-2 * j) / get("width")));
  const product = (k) => speeds().reduce((sum, w) => sum + Math.cos(k * w), 0);
  const degrees = (angle) => ((angle * 180) / Math.PI) % 360;

  function dial(j, w, i, t) {
    const hand = (p, kind, reach) =>
      s("line", { class: kind, x1: 50, y1: 50, x2: 50 + reach * Math.sin(p * w), y2: 50 - reach * Math.cos(p * w) });
    return h("div", { class: "lmpw-dial" }, [
      s("svg", { viewBox: "0 0 100 100" }, [
        s("circle", { class: "lmpw-rim", cx: 50, cy: 50, r: 46 }),
        s("line", { class: "lm-grid", x1: 50, x2: 50, y1: 4, y2: 12 }),
        hand(t, "lmpw-t", 42),
        hand(i, "lmpw-i", 42),
      ]),
      h("div", {}, `dial ${j}`),
      h("div", { class: "lm-muted" }, `a turn in ${turn(w)}`),
    ]);
  }
  const turn = (w) => {
    const n = (2 * Math.PI) / w;
    return n < 100 ? fmt.num(n, 1) : fmt.count(n);
  };

  const size = 8; // of a cell, in the units of the drawing
  const marks = s("g", {});
  function drawTable() {
    const most = get("width") / 2;
    const values = Array.from({ length }, (_, k) => (product(k) / most + 1) / 2);
    const cells = [];
    for (let t = 0; t < length; t += 1) {
      for (let i = 0; i < length; i += 1) {
        cells.push(
          s("rect", {
            class: "lmpw-cell",
            x: i * size,
            y: t * size,
            width: size,
            height: size,
            "fill-opacity": (values[Math.abs(t - i)] ** 2).toFixed(3),
          }),
        );
      }
    }
    const side = length * size;
    const svg = s("svg", { viewBox: `-26 -4 ${side + 30} ${side + 34}` }, [
      cells,
      marks,
      [0, 10, 20, 30]
        .filter((p) => p < length)
        .flatMap((p) => [
          s("text", { class: "lm-tick", x: -4, y: p * size + size, "text-anchor": "end" }, p),
          s("text", { class: "lm-tick", x: p * size + size / 2, y: side + 12, "text-anchor": "middle" }, p),
        ]),
      s("text", { class: "lm-tick", x: side, y: side + 24, "text-anchor": "end" }, "position i"),
      s("text", { class: "lm-tick", x: -22, y: side + 12 }, "t"),
    ]);
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const unit = (side + 30) / box.width;
      const i = Math.floor(((event.clientX - box.left) * unit - 26) / size);
      const t = Math.floor(((event.clientY - box.top) * unit - 4) / size);
      const low = Math.min(i, t);
      const high = Math.max(i, t); // the table is symmetric: both halves mean the same pair
      if (low < 0 || low > length - 1 - LONGEST || high - low > LONGEST) return;
      model.set("i", low);
      put({ offset: high - low });
    });
    replace(grid, svg);
  }

  function draw() {
    const i = get("i");
    const k = get("offset");
    const t = i + k;
    const all = speeds();
    width.set(get("width"));
    base.set(get("base"));
    replace(key, [
      h("span", { class: "lmpw-key" }),
      `hand at t = ${t}`,
      h("span", { class: "lmpw-key lmpw-key-i" }),
      `hand at i = ${i}`,
    ]);
    replace(dials, [all.map((w, j) => dial(j, w, i, t))]);
    const end = length * size;
    replace(marks, [
      s("line", {
        class: "lmpw-along",
        x1: size / 2,
        y1: (k + 0.5) * size,
        x2: end - (k + 0.5) * size,
        y2: end - size / 2,
      }),
      s("rect", { class: "lmpw-here", x: i * size, y: t * size, width: size, height: size }),
    ]);
    numbers.draw(
      all
        .map((w, j) => [
          String(j),
          turn(w),
          `${fmt.num(degrees(i * w), 0)}°`,
          `${fmt.num(degrees(t * w), 0)}°`,
          fmt.num(Math.cos(k * w), 3),
        ])
        .concat([["sum", "", "", "", fmt.num(product(k), 3)]]),
    );
    say(
      `Positions ${i} and ${t}, offset ${k}: the dot product is ${fmt.num(product(k), 3)} of at most ${all.length}, ` +
        (`the same for all ${length - k} pairs at this offset. From i to t the hands turn by ` +
          `${fmt.list(all.map((w) => `${fmt.num((k * w * 180) / Math.PI, 0)}°`))}.`),
    );
  }

  listen("width base", drawTable);
  listen("i offset width base", draw);
  drawTable();
  draw();
}, about);
