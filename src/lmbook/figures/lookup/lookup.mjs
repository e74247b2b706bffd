// SoftLookup: a query in the plane of the keys, its weights, and the mean of the values.
//
//   e_i = beta q_j . k_i     alpha = softmax(e)     c_j = sum_i alpha_i v_i     answer = mean of c_1 .. c_n
//
// Head j asks with the query turned by j - 1 right angles. Everything is computed here, at every move.
import { bars, figure, fmt, h, onwidth, replace, s, slider, table } from "../kit/core.mjs";
import { dot, softmax } from "../kit/numbers.mjs";

const style = `
.lm-figure .lmq-planes { display: flex; flex-wrap: wrap; gap: 0.8rem; }
.lm-figure .lmq-plane { position: relative; flex: 1 1 15rem; min-width: 0; }
.lm-figure .lmq-plane svg { display: block; max-width: 100%; height: auto; overflow: visible; user-select: none; }
.lm-figure .lmq-plane[tabindex] svg { cursor: crosshair; }
.lm-figure .lmq-handle { position: absolute; width: 3rem; height: 3rem; margin: -1.5rem 0 0 -1.5rem;
  border-radius: 50%; cursor: grab; touch-action: none; }
.lm-figure .lmq-axis { stroke: var(--lm-edge); stroke-width: 1; }
.lm-figure .lmq-key { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 1.6; }
.lm-figure .lmq-value { fill: var(--lm-soft); stroke: var(--lm-text); stroke-width: 1.4; }
.lm-figure .lmq-hull { fill: var(--lm-soft); stroke: var(--lm-edge); stroke-width: 1; stroke-dasharray: 4 3; }
.lm-figure .lmq-link { stroke-linecap: round; opacity: 0.7; }
.lm-figure .lmq-query { stroke-width: 2.6; }
.lm-figure .lmq-answer { fill: var(--lm-1); stroke: var(--lm-paper); stroke-width: 1.5; }
.lm-figure .lmq-name { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; stroke-linejoin: round; }
.lm-figure .lmq-round { fill: none; stroke: var(--lm-muted); stroke-width: 1.5; stroke-dasharray: 2 4;
  stroke-linecap: round; }
.lm-figure .lmq-star { fill: none; stroke: var(--lm-2); stroke-width: 2; }
.lm-figure .lmq-star.lmq-met { fill: var(--lm-2); }
.lm-figure .lmq-heads { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr));
  gap: 0.4rem 1.2rem; }
@container (min-width: 40rem) {
  .lm-figure .lmq-heads { grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); }
  .lm-figure .lmq .lm-says { min-height: 0; }
}
.lm-figure .lmq-bold { font-weight: 700; }
`;
const STAR = "M0-8L2-2.5 8-2.5 3.2 1.2 5 7 0 3.5-5 7-3.2 1.2-8-2.5-2-2.5Z";
/** @type {(from: number, to: number) => number[]} whole numbers, at most five */
const steps = (from, to) => {
  const step = Math.ceil((to - from) / 4) || 1;
  return Array.from({ length: 5 }, (_, i) => Math.ceil(from) + i * step).filter((v) => v <= to);
};
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
const TONES = ["var(--lm-1)", "var(--lm-2)", "var(--lm-3)", "var(--lm-4)"];

/** @type {(place: number[], times: number) => number[]} */
const turned = ([x, y], times) =>
  [
    [x, y],
    [-y, x],
    [-x, -y],
    [y, -x],
  ][times % 4];

/** The weights of one query: softmax over the keys of beta q . k. */
function attend(q, keys, values, beta) {
  const weights = [...softmax(keys.map((k) => beta * dot(q, k)))];
  const answer = [0, 1].map((d) =>
    dot(
      weights,
      values.map((v) => v[d]),
    ),
  );
  return { weights, answer };
}

/** Where the answers of all heads together are, for a query. */
function answered(query, n, keys, values, beta) {
  const all = Array.from({ length: n }, (_, j) => attend(turned(query, j), keys, values, beta));
  return { all, answer: [0, 1].map((d) => all.reduce((sum, head) => sum + head.answer[d], 0) / n) };
}

/** The corners of the convex hull, in order (Andrew's monotone chain). */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const left = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (list) =>
    list.reduce((chain, p) => {
      while (chain.length > 1 && left(chain.at(-2), chain.at(-1), p) <= 0) chain.pop();
      chain.push(p);
      return chain;
    }, []);
  return [...half(sorted).slice(0, -1), ...half(sorted.reverse()).slice(0, -1)];
}

const about = {
  style,
  allows: {
    // what an address may set
    query: (query, { reach }) => query.length === 2 && query.every((x) => Math.abs(x) <= reach),
  },
};

export default figure(({ el, knob, get, put, listen, say, wager }) => {
  const [names, keys, values, axes, reach] = ["names", "key_rows", "value_rows", "axes", "reach"].map((name) =>
    get(name),
  );
  const inside = (v) => Math.max(-reach, Math.min(reach, Math.round(v * 10) / 10));
  const ask = (x, y) => put({ query: [inside(x), inside(y)] });
  const coordinate = (axis) =>
    slider({
      label: `Query, ${axes[axis]}`,
      min: -reach,
      max: reach,
      step: 0.1,
      value: get("query")[axis],
      text: (v) => fmt.num(v, 1),
      oninput: (v) => {
        const q = get("query");
        ask(axis ? q[0] : v, axis ? v : q[1]);
      },
    });
  const sliders = [coordinate(0), coordinate(1)];
  const beta = knob("beta", "Factor of the scores", [0, 8, 0.1], 1);
  const heads = knob("heads", "Heads", [1, 4], (v) => fmt.some(v, "head"));

  const handle = h("div", { class: "lmq-handle", "aria-hidden": "true" });
  const keyDrawing = h("div", { "aria-hidden": "true" });
  const valueDrawing = h("div", { "aria-hidden": "true" });
  const keyPlane = h(
    "div",
    {
      class: "lmq-plane",
      tabindex: "0",
      role: "group",
      "aria-label": "Plane of the keys; the arrow keys move the query",
    },
    [keyDrawing, handle],
  );
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
  const near = 0.03 * Math.hypot(high[0] - low[0], high[1] - low[1]);
  const met = new Set();
  const bet = wager({
    name: "lookup",
    asks: "Onto which star can a query put the answer?",
    options: ["A alone", "B alone", "both"].map((text) => [text, text]),
    told: (answer) =>
      `${answer === null ? "" : `You said ${answer}. `}A alone: it lies between the values; a mean goes no further.`,
  });
  el.classList.add("lmq");
  el.append(
    bet.node,
    h("div", { class: "lm-row" }, beta.node, heads.node),
    h("div", { class: "lmq-planes" }, keyPlane, valuePlane),
    say.node,
    h(
      "div",
      { class: "lmq-heads" },
      weights.map((one) => one.node),
    ),
    h("div", { class: "lm-folds" }, [
      h("details", {}, [
        h("summary", {}, "The query by its numbers"),
        h("div", { class: "lm-stack" }, sliders[0].node, sliders[1].node),
      ]),
      numbers.node,
    ]),
  );

  let side = 270;
  const margin = 16;
  const scale = (low, high) => (v) => margin + ((v - low) / (high - low)) * (side - 2 * margin);
  const x = (v) => scale(-reach, reach)(v);
  const y = (v) => side - scale(-reach, reach)(v);

  // pointer: the handle or any place of the plane; coordinates from the drawing's box
  const place = (event) => {
    // of the drawing, which is narrower than its place where that is wide
    const box = keyDrawing.firstElementChild.getBoundingClientRect();
    const unit = (side - 2 * margin) / (2 * reach);
    const shrink = side / box.width;
    ask(
      ((event.clientX - box.left) * shrink - margin) / unit - reach,
      reach - ((event.clientY - box.top) * shrink - margin) / unit,
    );
  };
  // A finger that starts beside the handle scrolls the page; where it only taps, the query comes.
  let dragging = false;
  const scrolls = (event) => event.pointerType === "touch" && event.target !== handle;
  keyPlane.addEventListener("click", (event) => {
    if (scrolls(event)) place(event);
  });
  keyPlane.addEventListener("pointerdown", (event) => {
    if (scrolls(event)) return;
    event.preventDefault(); // it would select the names
    keyPlane.focus({ preventScroll: true });
    dragging = true;
    keyPlane.setPointerCapture(event.pointerId);
    place(event);
  });
  keyPlane.addEventListener("pointermove", (event) => {
    if (dragging) place(event);
  });
  for (const end of ["pointerup", "pointercancel"])
    keyPlane.addEventListener(end, () => {
      dragging = false;
    });
  const moves = { ArrowRight: [0.1, 0], ArrowLeft: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  keyPlane.addEventListener("keydown", (event) => {
    if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const q = get("query");
    const step = moves[event.key];
    const much = event.shiftKey ? 5 : 1;
    ask(q[0] + much * step[0], q[1] + much * step[1]);
  });

  /** @type {(a: number[], b: number[], attributes?: Record<string, any>) => SVGElement} */
  const line = (a, b, attributes) =>
    s("line", { x1: a[0].toFixed(1), y1: a[1].toFixed(1), x2: b[0].toFixed(1), y2: b[1].toFixed(1), ...attributes });
  const named = (at, words, bold = false) =>
    s("text", { class: `lmq-name${bold ? " lmq-bold" : ""}`, x: at[0].toFixed(1), y: at[1].toFixed(1) }, words);
  // A label goes where it is farthest from what is drawn already; `taken` holds points of that, and gets the label's
  // own.
  const label = (px, py, words, taken, { bold = false, off = 10 } = {}) => {
    const wide = 6.6 * words.length;
    const starts = [
      [off, 4],
      [-off - wide, 4],
      [-wide / 2, off + 10],
      [-wide / 2, -off - 2],
      [off - 2, -off + 3],
      [-off + 2 - wide, -off + 3],
      [off - 2, off + 8],
      [-off + 2 - wide, off + 8],
    ];
    /** @type {(start: number[]) => number[][]} */
    const points = ([dx, dy]) => [0, 0.25, 0.5, 0.75, 1].map((part) => [px + dx + part * wide, py + dy - 4]);
    const fits = ([dx]) => px + dx >= 0 && px + dx + wide <= side;
    const others = taken.filter(([c, d]) => Math.hypot(c - px, d - py) > 1);
    const room = (start) =>
      Math.min(
        40,
        ...points(start).flatMap(([a, b]) => others.map(([c, d]) => Math.hypot((a - c) * 0.8, (b - d) * 1.3))),
      ) - (fits(start) ? 0 : 100);
    const best = starts.reduce((one, other) => (room(other) > room(one) + 0.5 ? other : one));
    taken.push(...points(best));
    return named([px + best[0], py + best[1]], words, bold);
  };
  const between = (a, b) =>
    [0.2, 0.4, 0.6, 0.8].map((part) => [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])]);

  function drawKeys(q, all) {
    /** @type {(place: number[]) => number[]} */
    const at = ([a, b]) => [x(a), y(b)];
    const parts = [
      line([margin, y(0)], [side - margin, y(0)], { class: "lmq-axis" }),
      line([x(0), margin], [x(0), side - margin], { class: "lmq-axis" }),
      s("text", { class: "lm-tick", x: side - 2, y: side - 2, "text-anchor": "end" }, `${axes[0]} →`),
      s("text", { class: "lm-tick", x: 2, y: 11 }, `↑ ${axes[1]}`),
      s("circle", { class: "lmq-round", cx: x(0), cy: y(0), r: Math.hypot(...q) * (x(1) - x(0)) }),
    ];
    all.forEach((head, j) =>
      keys.forEach((key, i) => {
        const width = (12 * head.weights[i]).toFixed(2);
        parts.push(
          line(at(turned(q, j)), at(key), {
            class: "lmq-link",
            style: `stroke: ${TONES[j]}`,
            "stroke-width": width,
            "data-head": j + 1,
            "data-key": names[i],
          }),
        );
      }),
    );
    all.forEach((_, j) => {
      const tip = at(turned(q, j));
      parts.push(
        line([x(0), y(0)], tip, { class: "lmq-query", style: `stroke: ${TONES[j]}`, "stroke-dasharray": DASHES[j] }),
      );
      parts.push(
        s("circle", { cx: tip[0].toFixed(1), cy: tip[1].toFixed(1), r: j ? 4 : 8, style: `fill: ${TONES[j]}` }),
      );
    });
    const tips = all.map((_, j) => at(turned(q, j)));
    const axis = [-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1].map((part) => part * reach);
    const taken = [
      ...axis.flatMap((v) => [at([v, 0]), at([0, v])]),
      ...keys.map(at),
      ...tips,
      ...tips.flatMap((tip) => between([x(0), y(0)], tip)),
    ];
    keys.forEach((key, i) => {
      const [px, py] = at(key);
      parts.push(
        s("circle", { class: "lmq-key", cx: px.toFixed(1), cy: py.toFixed(1), r: 5 }),
        label(px, py, names[i], taken),
      );
    });
    tips.forEach(([px, py], j) =>
      parts.push(
        label(px, py, all.length > 1 ? `query ${j + 1}` : `query (${q.map((v) => fmt.num(v, 1)).join(", ")})`, taken, {
          bold: true,
          off: 12,
        }),
      ),
    );
    replace(keyDrawing, s("svg", { viewBox: `0 0 ${side} ${side}`, width: side, height: side }, parts));
    const [px, py] = at(q);
    handle.style.setProperty("left", `${px}px`);
    handle.style.setProperty("top", `${py}px`);
  }

  function drawValues(q, all, mean, answer) {
    const [x0, y0] = low;
    const [x1, y1] = high;
    const pad = (low, high) => scale(low - 0.12 * (high - low || 1), high + 0.3 * (high - low || 1));
    const at = (/** @type {number[]} */ [a, b]) => [pad(x0, x1)(a), side - 14 - (pad(y0, y1)(b) * (side - 30)) / side];
    const floor = side - 22;
    /** @type {any[]} */
    const parts = [
      line([margin, floor], [side - margin, floor], { class: "lmq-axis" }),
      line([margin, margin], [margin, floor], { class: "lmq-axis" }),
      s("text", { class: "lm-tick", x: side, y: side - 1, "text-anchor": "end" }, `${axes[2]} →`),
      s("text", { class: "lm-tick", x: 2, y: 9 }, `↑ ${axes[3]}`),
      steps(x0, x1).map((v) => s("text", { class: "lm-tick", x: at([v, y0])[0] - 3, y: side - 7 }, v)),
      steps(y0, y1).map((v) =>
        s("text", { class: "lm-tick", x: margin - 4, y: at([x0, v])[1] + 4, "text-anchor": "end" }, v),
      ),
    ];
    parts.push(
      s("polygon", {
        class: "lmq-hull",
        points: hull(values)
          .map((v) =>
            at(v)
              .map((n) => n.toFixed(1))
              .join(","),
          )
          .join(" "),
      }),
    );
    const middle = at(answer);
    const round = Array.from({ length: 73 }, (_, n) => (n * Math.PI) / 36).map((angle) => {
      const cos = Math.cos(angle);
      const sin = Math.sin(angle);
      const asked = [q[0] * cos - q[1] * sin, q[0] * sin + q[1] * cos];
      return at(answered(asked, all.length, keys, values, get("beta")).answer).map((v) => v.toFixed(1));
    });
    parts.push(
      s("path", { class: "lmq-round", d: `M${round.join("L")}` }),
      values.map((value, i) =>
        line(at(value), middle, {
          class: "lmq-link",
          style: "stroke: var(--lm-1)",
          "stroke-width": (12 * mean[i]).toFixed(2),
          "data-value-link": names[i],
        }),
      ),
      stars.map((star, k) => {
        const [px, py] = at(star);
        return [
          s("path", { class: `lmq-star${met.has(k) ? " lmq-met" : ""}`, d: STAR, transform: `translate(${px} ${py})` }),
          named([px + 10, py - 6], "AB"[k], true),
        ];
      }),
    );
    const spots = all.length > 1 ? all.map((head) => at(head.answer)) : [];
    const taken = [
      ...values.map(at),
      ...stars.map(at),
      middle,
      ...spots,
      ...spots.flatMap((spot) => between(spot, middle)),
    ];
    values.forEach((value, i) => {
      const [px, py] = at(value);
      parts.push(
        s("circle", {
          class: "lmq-value",
          cx: px.toFixed(1),
          cy: py.toFixed(1),
          r: (3 + 14 * Math.sqrt(mean[i])).toFixed(1),
          "data-value": names[i],
        }),
      );
      parts.push(label(px, py, `${names[i]} ${fmt.num(mean[i], 2)}`, taken, { off: 6 + 14 * Math.sqrt(mean[i]) }));
    });
    spots.forEach(([px, py], j) => {
      parts.push(
        line([px, py], middle, { style: `stroke: ${TONES[j]}`, "stroke-width": 1.5, "stroke-dasharray": DASHES[j] }),
      );
      parts.push(
        s("circle", { cx: px.toFixed(1), cy: py.toFixed(1), r: 5, style: `fill: ${TONES[j]}` }),
        label(px, py, `head ${j + 1}`, taken),
      );
    });
    const [px, py] = middle;
    parts.push(
      s("path", { class: "lmq-answer", d: `M${px.toFixed(1)},${(py - 9).toFixed(1)}l9,9l-9,9l-9,-9z` }),
      label(px, py, "answer", taken, { bold: true, off: 13 }),
    );
    replace(valueDrawing, s("svg", { viewBox: `0 0 ${side} ${side}`, width: side, height: side }, parts));
  }

  function draw() {
    const q = get("query");
    const b = get("beta");
    const n = get("heads");
    sliders.forEach((one, axis) => one.set(q[axis]));
    const { all, answer } = answered(q, n, keys, values, b);
    const mean = names.map((_, i) => all.reduce((sum, head) => sum + head.weights[i], 0) / n);
    drawKeys(q, all);
    stars.forEach((star, k) => {
      if (Math.hypot(star[0] - answer[0], star[1] - answer[1]) < near) met.add(k);
    });
    drawValues(q, all, mean, answer);
    weights.forEach(({ node, draw }, j) => {
      node.hidden = j >= n;
      if (j < n)
        draw(
          names.map((name, i) => ({
            label: name,
            value: all[j].weights[i],
            text: fmt.num(all[j].weights[i], 2),
            tone: j + 1,
          })),
          { max: 1 },
        );
    });
    const pair = (p) => p.map((v) => fmt.num(v, 3)).join(", ");
    numbers.draw(
      [
        ...names.map((name, i) => [
          name,
          pair(keys[i]),
          pair(values[i]),
          ...all.map((head) => fmt.num(head.weights[i], 4)),
        ]),
        ["answer", "–", pair(answer), ...all.map((head) => pair(head.answer))],
      ],
      ["who", `key (${axes[0]}, ${axes[1]})`, `value (${axes[2]}, ${axes[3]})`, ...all.map((_, j) => `head ${j + 1}`)],
    );
    const most = Math.max(...mean);
    const first = names.filter((_, i) => most - mean[i] < 0.0005);
    const told =
      first.length === names.length
        ? "All weights are equal"
        : `Most weight on ${fmt.list(first)}, ${fmt.num(most, 2)}${first.length > 1 ? " each" : ""}`;
    const who = n === 1 ? told : `${n} heads: ${told[0].toLowerCase()}${told.slice(1)}`;
    const star = stars.findIndex(([a, b]) => Math.hypot(a - answer[0], b - answer[1]) < near);
    say(
      `${who}. The answer: ${fmt.num(answer[0], 2)} ${axes[2]}, ${fmt.num(answer[1], 2)} ${axes[3]}` +
        `${star < 0 ? "." : `, on star ${"AB"[star]}!`}`,
    );
  }

  listen("query beta heads", draw);
  const stop = onwidth(keyPlane, (width) => {
    side = Math.round(width < 370 ? Math.min(290, width) : 330); // on a phone both are on one screen
    draw();
  });
  draw();
  return stop;
}, about);
