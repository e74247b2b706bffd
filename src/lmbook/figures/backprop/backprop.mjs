// BackpropGraph: a softmax layer, number by number. Forward to the loss, back to the weights; everything can be edited.
import { button, disable, field, figure, fmt, h, replace, roving, s, slider, table } from "../kit/core.mjs";
import { layer, measured, NAMES } from "./graph.mjs";
import {
  derivative,
  exact,
  formula,
  input,
  num,
  plain,
  sentence,
  short,
  SLOPE_AT,
  VALUE_AT,
  written,
} from "./derived.mjs";

const LAST = 7;
const MOST = 10;
const STEPS = [
  "inputs given",
  "forward: logits",
  "forward: probabilities",
  "forward: loss",
  "back: the loss itself",
  "back: probabilities",
  "back: logits",
  "back: weights and inputs",
];
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const style = `
.lm-figure .lmb-graph { width: 100%; max-width: 36rem; margin-inline: auto; }
.lmb-graph .lmb-layer { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); }
.lmb-graph .lmb-layer > button { justify-self: center; width: calc(100% - 4px); min-width: 0; margin: 0;
  padding: 0.2rem 0.1rem;
  border: 1px solid var(--lm-edge); border-radius: 6px; background: var(--lm-paper); color: inherit; font: inherit;
  font-size: 0.8125rem; line-height: 1.3; text-align: center; font-variant-numeric: tabular-nums; cursor: pointer; }
.lmb-graph .lmb-layer > button:hover { box-shadow: inset 0 0 0 100vmax var(--lm-soft); }
.lmb-graph .lmb-x > button { grid-column: span 3; max-width: 5.5rem; }
.lmb-graph :is(.lmb-z, .lmb-y) > button { grid-column: span 2; max-width: 5.5rem; }
.lmb-graph .lmb-w > button { border-style: dashed; border-radius: 1rem; }
.lmb-graph .lmb-L > button { grid-column: span 6; max-width: 7rem; }
.lmb-graph .lmb-layer > button[data-now="true"] { border-color: var(--lm-1); border-width: 2px;
  padding: calc(0.2rem - 1px) calc(0.1rem - 1px); }
.lmb-graph .lmb-layer > button[aria-pressed="true"] { box-shadow: 0 0 0 2px var(--lm-paper), 0 0 0 4px var(--lm-2); }
.lmb-graph button > span { display: block; overflow: hidden; white-space: nowrap; }
.lmb-graph .lmb-name { font-weight: 600; }
.lmb-graph .lmb-by { margin-top: 0.1rem; border-top: 1px dashed var(--lm-line); font-style: italic; }
.lmb-graph .lmb-came .lmb-name { text-decoration: underline 2px; text-underline-offset: 0.2em; }
.lmb-graph .lmb-strip { position: relative; }
.lmb-graph svg { display: block; width: 100%; height: 1.7rem; overflow: visible; }
.spare .lmb-graph svg { height: 1.2rem; }
.lmb-strip i { position: absolute; bottom: -1px; width: 8px; height: 6px; margin-left: -4px; background: var(--lm-line);
  clip-path: polygon(0 0, 100% 0, 50% 100%); }
.lmb-strip i[data-lit="true"] { background: var(--lm-2); }
.lmb-strip b { position: absolute; top: 60%; padding: 0 0.2rem; border-radius: 3px; background: var(--lm-paper);
  font-size: 0.75rem; line-height: 1.1; font-variant-numeric: tabular-nums; transform: translate(-50%, -50%);
  pointer-events: none; }
.lmb-graph line { stroke: var(--lm-line); stroke-width: 1.2; vector-effect: non-scaling-stroke; }
.lmb-graph line[data-lit="true"] { stroke: var(--lm-2); stroke-width: 3; }
.lm-figure .lmb-detail { padding: 0.6rem 0.8rem; border-radius: 6px; background: var(--lm-soft); font-size: 0.875rem; }
.lmb-detail p { overflow-wrap: anywhere; }
.lmb-detail ul { margin: 0.2rem 0; padding-left: 1.1rem; }
.lmb-detail li { margin: 0; overflow-wrap: anywhere; }
.lmb-detail .lmb-sum { font-weight: 600; }
.lm-figure .lmb-both { --lm-side: 20.5rem; }
.lmb-walk .lm-slider { flex: 1 1 7rem; }
.lmb-walk .lm-value { display: none; } /* the sentence below says it */
.lmb-both .lm-field input { flex: 0 1 8rem; }
.lmb-both .lm-field input[aria-invalid="true"] { border-color: var(--lm-2); box-shadow: inset 0 0 0 1px var(--lm-2); }
.lmb-both .lmb-detail { min-height: 8.6rem; }
.lmb-both .lmb-fault { min-height: 1.45em; }
`;

const fits = (/** @type {number} */ x) => typeof x === "number" && Math.abs(x) <= MOST;
const about = {
  style,
  allows: {
    // what an address may set
    x: (x) => x.length === 2 && x.every(fits),
    W: (W) => W.length === 3 && W.every((row) => row.length === 2 && row.every(fits)),
  },
};

export default figure(({ el, pick, get, put, listen, say, wager }) => {
  const first = { x: get("x"), W: get("W"), label: get("label"), step: get("step") };
  let now = layer(get("x"), get("W"), get("label"));
  let edited = "w11"; // the input or weight that the controls set
  let news = "";

  const set = (name, v) => {
    const value = Math.max(-MOST, Math.min(MOST, v));
    if (value === now.value[name]) return;
    const before = now.value.L;
    const x = [...get("x")];
    const W = get("W").map((row) => [...row]);
    if (name[0] === "x") x[name[1] - 1] = value;
    else W[name[1] - 1][name[2] - 1] = value;
    const predicted = now.by[name] * (value - now.value[name]);
    const after = layer(x, W, get("label")).value.L;
    if (get("step") === LAST) {
      news =
        `${written(name)} moved by ${num(value - now.value[name])}: the derivative ${num(now.by[name])} predicts ` +
        `${num(predicted)} more loss; it was ${num(after - before)}.`;
    }
    put({ x, W });
  };

  // --- steps
  const go = (step) => put({ step: Math.max(0, Math.min(LAST, step)) });
  const walk = slider({
    label: "Step",
    min: 0,
    max: LAST,
    value: get("step"),
    text: (v) => `${v} of ${LAST}, ${STEPS[v]}`,
    oninput: go,
  });
  const back = button("Back", () => go(get("step") - 1));
  const next = button("Next", () => go(get("step") + 1), { class: "lm-button lm-main" });

  // --- the graph
  const tiles = {};
  const tile = (name) => {
    const parts = {
      name: h("span", { class: "lmb-name" }, written(name)),
      value: h("span", {}),
      by: h("span", { class: "lmb-by" }),
      note: h("span", { class: "lm-hidden" }),
    };
    const shown = [parts.name, parts.value, parts.note, parts.by];
    tiles[name] = { ...parts, node: button(shown, () => choose(name), { class: null, "data-name": name }) };
    return tiles[name].node;
  };
  const lines = [];
  const tips = new Map(); // arrowheads, by the number that they point to
  const strip = (arrows) => {
    const at = (/** @type {number} */ x) => ({ left: `${(100 * x) / 6}%` });
    const local = arrows.map(([from, to, x1, x2]) => {
      const line = s("line", { x1, x2, y1: 0, y2: 1 });
      const number = h("b", { style: at(x1 + 0.6 * (x2 - x1)), hidden: true }); // nearer to its head: none meet
      if (!tips.has(to)) tips.set(to, h("i", { style: at(x2) }));
      lines.push({ from, to, line, number });
      return number;
    });
    const drawn = lines.slice(-arrows.length).map(({ line }) => line);
    return h("div", { class: "lmb-strip", "aria-hidden": "true" }, [
      s("svg", { viewBox: "0 0 6 1", preserveAspectRatio: "none" }, drawn),
      [...new Set(arrows.map(([, to]) => tips.get(to)))],
      local,
    ]);
  };
  const at = { z: (i) => 2 * i - 1, w: (i, k) => 2 * i - 2.5 + k, x: (k) => 3 * k - 1.5 };
  const three = [1, 2, 3];
  const two = [1, 2];
  const row = (letter) =>
    h("div", { class: `lmb-layer lmb-${letter}` }, NAMES.filter((name) => name[0] === letter).map(tile));
  const graph = h.group("lmb-graph", "The graph, one tab stop: arrows move, Enter picks a number", [
    row("x"),
    strip(three.flatMap((i) => two.map((k) => [`x${k}`, `w${i}${k}`, at.x(k), at.w(i, k)]))),
    row("w"),
    strip(three.flatMap((i) => two.map((k) => [`w${i}${k}`, `z${i}`, at.w(i, k), at.z(i)]))),
    row("z"),
    strip(three.flatMap((i) => three.map((j) => [`z${j}`, `y${i}`, at.z(j), at.z(i)]))),
    row("y"),
    strip(three.map((i) => [`y${i}`, "L", at.z(i), 3])),
    row("L"),
  ]);
  const group = roving(graph, "button", { index: NAMES.indexOf(get("chosen")), keys: "plane" });
  const choose = (name) => {
    if (input(name)) edited = name;
    if (name === get("chosen")) draw();
    else put({ chosen: name });
  };

  // --- controls
  const detail = h("div", { class: "lmb-detail" });
  const move = slider({
    label: "",
    min: -MOST,
    max: MOST,
    step: 0.01,
    value: 0,
    text: (v) => fmt.num(v, 2),
    oninput: (v) => set(edited, v),
  });
  const label_ = move.node.querySelector("label");
  const fault = h("p", { class: "lm-small lmb-fault", "aria-live": "polite" });
  const wrong = (sentence) => {
    fault.textContent = sentence;
    typed.input.setAttribute("aria-invalid", String(sentence !== ""));
  };
  const typed = field({
    label: "exactly",
    value: "",
    inputmode: "decimal",
    oninput: (text) => {
      const digits = text.trim().replace("−", "-").replace(",", ".");
      const v = NUMBER.test(digits) ? Number(digits) : NaN;
      if (Number.isFinite(v)) set(edited, v);
      const stays = `${written(edited)} is ${num(now.value[edited])}.`;
      if (!digits) wrong(`Type a number from −${MOST} to ${MOST}, such as 0.5. Until then ${stays}`);
      else if (Number.isNaN(v))
        wrong(`${fmt.quote(text.trim().slice(0, 20))} is no number; one looks like −0.5 or 2. ${stays}`);
      else wrong(Math.abs(v) > MOST ? `Numbers here go from −${MOST} to ${MOST}. ${stays}` : "");
    },
  });
  const came = pick("label", "Word that came", three);
  const descend = button("", () => {
    const before = now.value.L;
    const W = get("W").map((weights, i) =>
      weights.map((v, k) => Math.max(-MOST, Math.min(MOST, v - get("rate") * now.by[`w${i + 1}${k + 1}`]))),
    );
    news =
      `A step of ${get("rate")} against the gradient takes the loss from ${num(before)} to ` +
      `${num(layer(get("x"), W, get("label")).value.L)}.`;
    put({ W });
  });
  const again = button("Start again", () => put(first));
  const replay = button("From the inputs", () => go(0));

  const key = h.small("In a box: name, value, derivative of L. On an arrow: that of its head.");
  const numbers = table({
    caption: "Every number, the derivative of L by it, and what two small steps measure",
    head: ["Number", "Value", "Derivative of L", "Measured"],
  });
  const jacobian = table({
    summary: "The Jacobian of the softmax",
    caption: "Row ŷᵢ, column zⱼ: the derivative of ŷᵢ by zⱼ",
    head: ["of", "z₁", "z₂", "z₃"],
  });
  const signs = [
    [-1, "negative"],
    [0, "zero"],
    [1, "positive"],
  ];
  const later = NAMES.filter((name) => /[xwz]/.test(name));
  let question = null;
  if (first.step === LAST)
    question = wager({
      name: "backprop-sign",
      of: "x W label",
      asks: `Word ${first.label} came. Which sign has the derivative of L by z₁?`,
      options: signs,
      // what comes before z₁ on the way back may stay in sight: it gives nothing away
      hides: [...later.map((name) => tiles[name].by), detail, say.node, ...lines.map(({ number }) => number)],
      told: (bet) => {
        const { by, value } = layer(first.x, first.W, first.label);
        const sign = signs.find(([sign]) => sign === Math.sign(by.z1))[1];
        return (
          (bet === null ? "It is " : bet === Math.sign(by.z1) ? "Yes, " : "No, it is ") +
          `${sign}: ŷ₁ − y₁ = ${fmt.prob(value.y1)} − ${first.label === 1 ? 1 : 0} = ${num(by.z1)}.`
        );
      },
      settled: () => question && draw(),
    });
  el.append(
    ...(question ? [h.onstage("Graph", question.node)] : []),
    h("div", { class: "lm-split lm-split-right lmb-both" }, [
      h("div", { class: "lm-stack" }, [
        h("div", { class: "lm-row lmb-walk" }, back, next, replay, walk.node),
        graph,
        key,
      ]),
      h("div", { class: "lm-stack" }, [
        h.onstage("Graph", detail),
        ...[move.node, typed.node, fault, came.node, h("div", { class: "lm-row" }, descend, again)].map((one) =>
          h.onstage("Change", one),
        ),
      ]),
    ]),
    h.onstage("Change", say.node),
    h("div", { class: "lm-folds" }, numbers.node, jacobian.node),
  );

  // --- drawing
  const known = (name) => get("step") >= VALUE_AT[name[0]];
  const traced = (name) => get("step") >= SLOPE_AT[name[0]];

  function draw() {
    now = layer(get("x"), get("W"), get("label"));
    const step = get("step");
    const chosen = get("chosen");
    const state = { now, step, label: get("label") };
    const same = ["x", "W", "label", "step"].every((name) => String(get(name)) === String(first[name]));
    const bet = same ? (question?.answer ?? null) : null;
    for (const name of NAMES) {
      const { node, value, by, note } = tiles[name];
      value.textContent = known(name) ? short(now.value[name]) : "·";
      by.textContent = traced(name) ? short(now.by[name]) : "·";
      if (name === "z1" && bet !== null) by.append(h("b", {}, ` you: ${"−0+"[bet + 1]}`));
      value.setAttribute("aria-hidden", String(!known(name)));
      by.setAttribute("aria-hidden", String(!traced(name)));
      note.textContent = !known(name) ? "not yet computed" : traced(name) ? "derivative" : "";
      node.dataset.now = String(step > 3 ? SLOPE_AT[name[0]] === step : VALUE_AT[name[0]] === step);
      node.setAttribute("aria-pressed", String(name === chosen));
      node.classList.toggle("lmb-came", name === `y${get("label")}`);
    }
    const forward = !traced(chosen) && !input(chosen);
    const near = forward ? "to" : "from";
    for (const arrow of lines) {
      let lit = arrow[near] === chosen;
      // x and z are two strips apart, with the weight on the line between them
      if (forward && chosen[0] === "z") lit ||= arrow.to[0] === "w" && arrow.to[1] === chosen[1];
      if (!forward && chosen[0] === "x") lit ||= arrow.from[0] === "w" && arrow.from[2] === chosen[1];
      arrow.line.dataset.lit = String(lit);
      const tail = chosen[0] === "x" ? chosen : arrow.from; // the weight on the way is a factor
      const known = now.arrows.find(({ from, to }) => from === tail && to === arrow.to);
      arrow.number.hidden = !(lit && known && traced(chosen));
      arrow.number.textContent = known ? short(known.local) : "";
    }
    for (const [name, tip] of tips)
      tip.dataset.lit = String(lines.some((arrow) => arrow.to === name && arrow.line.dataset.lit === "true"));
    walk.set(step);
    disable(back, step === 0);
    disable(next, step === LAST);
    disable(descend, step < LAST);
    descend.textContent = `Gradient step on W (${get("rate")})`;
    label_.textContent = `Set ${written(edited)}`;
    move.set(now.value[edited]);
    if (document.activeElement !== typed.input) {
      typed.set(plain(now.value[edited]));
      wrong("");
    }
    replace(detail, h("p", {}, formula(chosen, state)), derivative(chosen, state));
    numbers.draw(
      NAMES.map((name) => [
        written(name),
        known(name) ? exact(now.value[name]) : "",
        traced(name) ? exact(now.by[name]) : "",
        input(name) && traced(name) ? fmt.num(measured(get("x"), get("W"), get("label"), name), 7) : "",
      ]),
    );
    const entry = (i, j) => now.arrows.find((arrow) => arrow.from === `z${j}` && arrow.to === `y${i}`).local;
    jacobian.draw(three.map((i) => [written(`y${i}`), ...three.map((j) => (step >= 2 ? exact(entry(i, j)) : ""))]));
    group.refresh();
    say(news || sentence(state)); // the change, where there was one
    news = "";
  }

  listen("x W label step chosen rate", draw);
  draw();
}, about);
