// SoftLookup: a query in the plane of the keys, its weights, and the mean of the values.
//
//   e_i = beta q_j . k_i     alpha = softmax(e)     c_j = sum_i alpha_i v_i     answer = mean of c_1 .. c_n
//
// Head j asks with the query turned by j - 1 right angles. Everything is computed here, at every move.
import { bars, figure, fmt, h, onwidth, s, slider, table } from "../kit/core.mjs";
import { answered } from "./attend.mjs";
import { MARGIN, planesOf, planesStyle, TONES } from "./planes.mjs";

const style = `
.lm-figure .lmq-planes { display: flex; flex-wrap: wrap; gap: 0.8rem; }
.lm-figure .lmq-plane { position: relative; flex: 1 1 15rem; min-width: 0; }
.lm-figure .lmq-plane svg { display: block; max-width: 100%; height: auto; overflow: visible; user-select: none; }
.lm-figure .lmq-plane[tabindex] svg { cursor: crosshair; }
.lm-figure .lmq-handle { position: absolute; width: 3rem; height: 3rem; margin: -1.5rem 0 0 -1.5rem;
  border-radius: 50%; cursor: grab; touch-action: none; }
.lm-figure .lmq-heads { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr));
  gap: 0.4rem 1.2rem; }
@container (min-width: 40rem) {
  .lm-figure .lmq-heads { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); }
  .lm-figure .lmq-heads .lm-bars { grid-template-columns: max-content minmax(3rem, 1fr) max-content;
    font-size: 0.875rem; }
  .lm-figure .lmq .lm-says { min-height: 0; }
}
${planesStyle}`;
const about = {
  style,
  allows: { query: (query, { reach }) => query.length === 2 && query.every((x) => Math.abs(x) <= reach) },
};

export default figure(({ el, knob, its, put, follow, say, wager }) => {
  const { names, key_rows: keys, value_rows: values, axes, reach } = its;
  const inside = (v) => Math.max(-reach, Math.min(reach, Math.round(v * 10) / 10));
  const ask = (...query) => put({ query: query.map(inside) });
  const sliders = [0, 1].map((axis) => {
    const range = { min: -reach, max: reach, step: 0.1, value: its.query[axis] };
    const oninput = (v) => ask(...its.query.with(axis, v));
    return slider({ label: `Query, ${axes[axis]}`, ...range, text: (v) => fmt.num(v, 1), oninput });
  });
  const beta = knob("beta", "Factor of the scores", [0, 8, 0.1], 1);
  const heads = knob("heads", "Heads", [1, 4], (v) => fmt.some(v, "head"));

  const handle = h("div", { class: "lmq-handle", "aria-hidden": "true" });
  const keyDrawing = s("svg", { "aria-hidden": "true" });
  const valueDrawing = s("svg", { "aria-hidden": "true" });
  const keyPlane = h.group("lmq-plane", "Plane of the keys; the arrow keys move the query", keyDrawing, handle);
  s.set(keyPlane, { tabindex: 0, "data-lm-suppress-shortcuts": true });
  const valuePlane = h("div", { class: "lmq-plane" }, valueDrawing);
  const weights = Array.from({ length: TONES.length }, (_, j) => bars({ label: `Weights, head ${j + 1}` }));
  const numbers = table({ caption: "Weights and answers of every head", head: ["who"] });

  // Two stars: an answer to another question, and a corner of the plane that is far from all values.
  const [low, high] = [Math.min, Math.max].map((end) => [0, 1].map((d) => end(...values.map((v) => v[d]))));
  const far = (/** @type {number[]} */ at) => Math.min(...values.map(([a, b]) => Math.hypot(a - at[0], b - at[1])));
  const corners = [low, high, [low[0], high[1]], [high[0], low[1]]];
  const stars = [
    answered([-1.2, 1.6], 1, keys, values, 1).answer,
    corners.reduce((best, at) => (far(at) > far(best) ? at : best)),
  ];
  const planes = planesOf({ names, keys, values, axes, reach, low, high, stars });
  const near = 0.03 * Math.hypot(high[0] - low[0], high[1] - low[1]);
  const met = new Set();
  const bet = wager({
    name: "lookup",
    of: "heads",
    asks: "Onto which star can a query put the answer?",
    options: ["A alone", "B alone", "both"],
    told: (answer) =>
      (answer === null ? "" : answer === "A alone" ? "Yes. " : `You said ${answer}. `) +
      "A alone: it lies between the values; a mean goes no further.",
    settled: draw,
  });
  el.classList.add("lmq");
  el.append(
    h.onstage("Planes", bet.node),
    h.row(beta.node, heads.node),
    h("div", { class: "lmq-planes" }, keyPlane, valuePlane),
    h.onstage("Planes", say.node),
    h.onstage("Weights", h("div", { class: "lmq-heads" }, [weights.map((one) => one.node)])),
    h.folds([
      h("details", {}, [h("summary", {}, "The query by its numbers"), h.stack(sliders[0].node, sliders[1].node)]),
      numbers.node,
    ]),
  );

  let side = 270;
  // pointer: the handle or any place of the plane; coordinates from the drawing's box
  const place = (event) => {
    // of the drawing, which is narrower than its place where that is wide
    const box = keyDrawing.getBoundingClientRect();
    const unit = (side - 2 * MARGIN) / (2 * reach);
    const shrink = side / box.width;
    ask(
      ((event.clientX - box.left) * shrink - MARGIN) / unit - reach,
      reach - ((event.clientY - box.top) * shrink - MARGIN) / unit,
    );
  };
  // A finger that starts beside the handle scrolls the page; where it only taps, the query comes.
  const scrolls = (event) => event.pointerType === "touch" && event.target !== handle;
  keyPlane.addEventListener("click", (event) => {
    if (scrolls(event)) place(event);
  });
  keyPlane.addEventListener("pointerdown", (event) => {
    if (scrolls(event)) return;
    event.preventDefault(); // it would select the names
    keyPlane.focus({ preventScroll: true });
    keyPlane.setPointerCapture(event.pointerId);
    place(event);
  });
  keyPlane.addEventListener("pointermove", (event) => {
    if (keyPlane.hasPointerCapture(event.pointerId)) place(event);
  });
  const moves = { ArrowRight: [0.1, 0], ArrowLeft: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  keyPlane.addEventListener("keydown", (event) => {
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const much = event.shiftKey ? 5 : 1;
    ask(...its.query.map((v, axis) => v + much * moves[event.key][axis]));
  });

  /** Whether it was bet that the answer can be put onto this star. */
  const said = (/** @type {number} */ k) => bet.answer === "both" || bet.answer === `${"AB"[k]} alone`;

  function draw() {
    const { query: q, beta: b, heads: n } = its;
    sliders.forEach((one, axis) => one.set(q[axis]));
    const { all, answer } = answered(q, n, keys, values, b);
    const mean = names.map((_, i) => all.reduce((sum, head) => sum + head.weights[i], 0) / n);
    const [left, up] = planes.keyPlane(keyDrawing, side, q, all);
    handle.style.setProperty("left", `${left}px`);
    handle.style.setProperty("top", `${up}px`);
    const star = stars.findIndex(([a, b]) => Math.hypot(a - answer[0], b - answer[1]) < near);
    if (star >= 0) met.add(star); // they are far apart
    planes.valuePlane(valueDrawing, side, { q, beta: b, all, mean, answer, met, said });
    weights.forEach(({ node, draw }, j) => {
      node.hidden = j >= n;
      const own = all[j]?.weights ?? [];
      draw(
        own.map((value, i) => ({ label: names[i], value, text: fmt.share(value), tone: j + 1 })),
        { max: 1 },
      );
    });
    const pair = (p) => p.map((v) => fmt.num(v, 3)).join(", ");
    const row = (i) => [names[i], pair(keys[i]), pair(values[i]), ...all.map((head) => fmt.share(head.weights[i], 4))];
    numbers.draw(
      [...[...names.keys()].map(row), ["answer", "–", pair(answer), ...all.map((head) => pair(head.answer))]],
      ["who", `key (${axes[0]}, ${axes[1]})`, `value (${axes[2]}, ${axes[3]})`, ...all.map((_, j) => `head ${j + 1}`)],
    );
    const most = Math.max(...mean);
    const first = names.filter((_, i) => most - mean[i] < 0.0005);
    const told =
      first.length === names.length
        ? "All weights are equal"
        : `Most weight on ${fmt.list(first)}, ${fmt.share(most)}${first.length > 1 ? " each" : ""}`;
    const who = n === 1 ? told : `${n} heads: ${told[0].toLowerCase()}${told.slice(1)}`;
    say(
      `${who}. The answer: ${fmt.num(answer[0], 2)} ${axes[2]}, ${fmt.num(answer[1], 2)} ${axes[3]}` +
        `${star < 0 ? "." : `, on star ${"AB"[star]}!`}`,
    );
  }

  onwidth(keyPlane, (width) => {
    side = Math.round(width < 370 ? Math.min(290, width) : el.closest(".spare") ? 260 : 330); // both on one screen
    draw();
  });
  follow("query beta heads", draw);
}, about);
