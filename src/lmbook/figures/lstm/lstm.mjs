// LSTMStep: one LSTM unit over time. The memory is a line from left to right; gates are valves: what is written comes
// in from above through the input gate, what is kept passes the forget gate, what is shown leaves below through the
// output gate. Then the same of a trained LSTM on a text of the reader's (gates.mjs).
import { button, choice, figure, fmt, h, plot, replace, roving, s, select, table, whole } from "../kit/core.mjs";
import { gatesOf, kept, ORDER, style as gatesStyle } from "./gates.mjs";
import { connect } from "../kit/live.mjs";
import { unit } from "./unit.mjs";

const NAMES = { f: "forget gate", i: "input gate", o: "output gate" };
const Y = { written: 14, input: 46, top: 84, bottom: 184, forget: 222, output: 256, shown: 298, tall: 306 };
const ROWS = {
  ...{ written: "g, to write", input: "i, input gate", top: "c, memory" },
  ...{ forget: "f, forget gate", output: "o, output gate", shown: "h, shown" },
};
const VALVE = 9; // px of the drawing

const style = `
.lm-figure .lml-events { display: grid; grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; gap: 2px; }
.lm-figure .lml-events button { min-width: 24px; min-height: 2.6rem; margin: 0; padding: 0; border-radius: 6px;
  border: 1px solid var(--lm-line); background: none; color: inherit; font: inherit; font-size: 0.75rem;
  line-height: 1.2; cursor: pointer; overflow-wrap: anywhere; }
.lm-figure .lml-events button[aria-pressed="true"] { border-color: var(--lm-1);
  box-shadow: inset 0 0 0 1px var(--lm-1); font-weight: 600; }
.lml-time svg { display: block; width: 100%; overflow: visible; }
.lm-figure .lml-time text { font-size: 12px; font-variant-numeric: tabular-nums; }
.lm-figure .lml-time .lml-row { fill: var(--lm-muted); }
.lml-time .lml-memory { fill: none; stroke: var(--lm-3); stroke-width: 5; stroke-linejoin: round; }
.lml-time .lml-flow { fill: none; stroke: var(--lm-edge); }
.lml-time .lml-tap { stroke: var(--lm-line); stroke-width: 1.5; }
.lml-time .lml-head { fill: var(--lm-edge); }
.lml-time .lml-case { fill: var(--lm-paper); stroke: var(--lm-edge); }
.lml-time .lml-chosen { fill: var(--lm-soft); }
.lml-time [data-step] { cursor: pointer; fill: transparent; }
.lml-sums { display: grid; gap: 0.1rem 1.4rem; margin: 0; padding: 0; list-style: none; font-size: 0.875rem;
  font-variant-numeric: tabular-nums; }
.lm-figure .lml-sums li { margin: 0; overflow-wrap: anywhere; }
@container (min-width: 40rem) { .lml-sums { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
`;

const num = (v) => fmt.num(v, 3);
const round = (v) => String(Number(v.toFixed(3))).replace("-", "−"); // in a formula: no noughts that say nothing
const term = (v) => (v < 0 ? `(${round(v)})` : round(v));

const about = {
  style: style + gatesStyle,
  allows: {
    events: (events, { known }) => whole(events.length, 1, 12) && events.every((event) => Object.hasOwn(known, event)),
    chosen: (chosen, { events }) => whole(chosen, 0, events.length - 1),
  },
};

export default figure(({ model, el, knob, its, put, follow, ends, say, wager }) => {
  const first = { events: its.events, bias: its.bias, chosen: its.chosen };
  const rows = ({ events, bias } = its) => {
    const inputs = events.map((event) => its.known[event]);
    return unit(its.weights, inputs, bias);
  };
  const input = select({
    label: "",
    options: Object.keys(its.known),
    value: its.events[its.chosen],
    onchange: (event) => put({ events: its.events.with(its.chosen, event) }),
  });
  const bias = knob("bias", "Bias of the forget gate", [-2, 8, 0.5], 1);
  const again = button("Start again", () => put(first));
  const now = () => Math.min(its.chosen, its.events.length - 1);
  const step = (event, t) => button(event, () => put({ chosen: t }), { class: null, pressed: t === now() });
  const events = h.group("lml-events", "Inputs over time: arrows move, Enter opens a step", [its.events.map(step)]);
  const group = roving(events, "button", { index: its.chosen, onmove: (chosen) => put({ chosen }) });
  const { node: time, svg: drawing, redraw } = plot("lml-time", drawTime);
  drawing.ariaHidden = "true";
  drawing.setAttribute("height", `${Y.tall}`); // its room, also before its width is known
  const [line, valves, names, taps] = s.layers(drawing, 4);
  const summary = h("summary", {});
  const sums = h("ul", { class: "lml-sums" });
  const numbers = table({
    summary: "All steps as a table",
    caption: "Every number of every step",
    head: ["Step", "Input", ...ORDER],
  });
  const question = wager(
    first.events[2] === "noise" && {
      name: "lstm-noise",
      of: "events bias weights",
      asks: "At step 3 noise of −1 knocks. Which gate keeps it out of the memory?",
      options: Object.entries(NAMES).map(([gate, name]) => [gate, `the ${name}`]),
      told: (gate) => {
        const row = rows(first)[2];
        const yours = gate && gate !== "i" ? ` You said ${NAMES[gate]}: that one is at ${num(row[gate])}.` : "";
        return `${gate === "i" ? "Yes: the" : "The"} input gate, which is open by ${num(row.i)} only.${yours}`;
      },
      hides: [valves, say.node],
    },
  );
  const byHand = h.stack([
    h.onstage("Memory", question.node),
    h("div", {}, events, time),
    h.onstage("Inputs", h.row(bias.node, input.node, again)),
    h.onstage("Memory", say.node),
    h.folds(h("details", { class: "lm-table" }, summary, sums), numbers.node),
  ]);
  const which = choice({
    label: "Look at",
    options: [true, false].map((hand) => [hand, hand ? "one unit over time" : "a trained LSTM on your text"]),
    value: true,
    onchange: (hand) => {
      byHand.hidden = !hand;
      gates.node.hidden = hand;
      if (!hand) gates.begin();
    },
  });
  const models = connect(model, ends);
  const gates = gatesOf({ models, about: { name: "shakespeare-lstm", bytes: its.bytes } });
  el.append(h.onstage("Inputs", which.node), byHand, gates.node);
  gates.node.hidden = true;

  const sum = (row, gate) => {
    const weights = its.weights[gate];
    const shift = gate === "f" ? its.bias : weights[4];
    const terms = [...row.x, row.h1].map((value, k) => value && weights[k] && `${term(weights[k])} · ${term(value)}`);
    return [...terms, shift && term(shift)].filter(Boolean).join(" + ");
  };
  const formula = (row, name) => {
    const written = `${num(row.i)} · ${term(row.g)}`;
    if (name === "c")
      return `c = f · c before + i · g = ${num(row.f)} · ${term(row.before)} + ${written} = ${num(row.c)}`;
    if (name === "h") return `h = o · tanh(c) = ${num(row.o)} · ${term(row.shown)} = ${num(row.h)}`;
    const words = sum(row, name);
    const squash = name === "g" ? "tanh" : "σ";
    const sums = words.includes("·") ? `${squash}(${words}) = ` : "";
    return `${name} = ${sums}${squash}(${round(row.a[name])}) = ${num(row[name])}`;
  };

  function drawTime(wide) {
    const all = rows();
    const roomy = wide > 560;
    const LEFT = roomy ? 104 : 24;
    events.style.paddingLeft = `${LEFT}px`;
    const step = (wide - LEFT) / all.length;
    const most = Math.max(1, ...all.map((row) => Math.abs(row.c)));
    const x = (/** @type {number} */ t) => LEFT + step * (t + 0.5);
    const y = (/** @type {number} */ c) => (Y.top + Y.bottom) / 2 - ((Y.bottom - Y.top) / 2) * (c / most);
    const valve = (at, height, share, tone) => [
      s("circle", { class: "lml-case", cx: at, cy: height, r: VALVE }),
      s("circle", { cx: at, cy: height, r: VALVE * Math.sqrt(share), style: `fill: var(--lm-${tone})` }),
    ];
    const arrow = (at, from, to, size) =>
      size >= 0.005 && [
        s("path", { class: "lml-flow", d: `M${at} ${from}V${to - 6}`, "stroke-width": 1 + 5 * Math.min(1, size) }),
        s.rule(`M${at - 6} ${to - 8}h12l-6 8z`, "lml-head"),
      ];
    s.sized(drawing, wide, Y.tall);
    const gap = step - 2 * VALVE > 34; // room for a number beside a valve
    const beside = (at, height, value) => (gap ? s.text(at + VALVE + 3, height + 4, fmt.num(value), "start") : null);
    const path = all.map((row, t) => `H${x(t) - step / 2 + VALVE}L${x(t)} ${y(row.c).toFixed(1)}`);
    replace(line, [
      s("rect", { class: "lml-chosen", x: x(its.chosen) - step / 2, y: 0, width: step, height: Y.tall, rx: 6 }),
      [most, 0, -most].map((c) => [
        s.rule(`M${LEFT} ${y(c)}H${wide}`),
        s.tick(LEFT - 12, y(c) + 4, fmt.num(c, most > 1 ? 1 : 0), "end"),
      ]),
      s("path", { class: "lml-memory", d: `M${LEFT} ${y(0)}${path.join("")}H${wide}` }),
      all.map((row, t) => [
        arrow(x(t), Y.written + 4, Y.input - VALVE, Math.abs(row.g)),
        row.g !== 0 && s.text(x(t), Y.written - 2, fmt.num(row.g)),
        s("path", { class: "lml-tap", d: `M${x(t)} ${y(row.c) + 3}V${Y.output - VALVE}` }),
        // clear of the line, which comes from the left: below it where it falls
        row.c < row.before - 0.01
          ? s.text(x(t) + 5, y(row.c) + 17, fmt.num(row.c), "start")
          : s.text(x(t), y(row.c) - 9, fmt.num(row.c)),
        s.text(x(t), Y.shown + 4, fmt.num(row.h)),
      ]),
    ]);
    replace(valves, [
      all.map((row, t) => [
        arrow(x(t), Y.input + VALVE, y(row.c) - 20, Math.abs(row.i * row.g)),
        arrow(x(t), Y.output + VALVE, Y.shown - 8, Math.abs(row.h)),
        valve(x(t), Y.input, row.i, 2),
        beside(x(t), Y.input, row.i),
        valve(x(t) - step / 2, y(row.before), row.f, 1),
        s.text(x(t) - step / 2, Y.forget, fmt.num(row.f)),
        valve(x(t), Y.output, row.o, 5),
        beside(x(t), Y.output, row.o),
      ]),
    ]);
    const label = ([row, words]) =>
      s.text(0, Y[row] + (row === "top" ? -8 : 4), roomy ? words : words[0], "start", { class: "lml-row" });
    replace(names, [Object.entries(ROWS).map(label)]);
    const tap = (_, t) => {
      const onclick = () => put({ chosen: t });
      return s("rect", { "data-step": t, x: x(t) - step / 2, y: 0, width: step, height: Y.tall, onclick });
    };
    replace(taps, [all.map(tap)]);
  }

  function draw() {
    const all = rows();
    const t = now();
    const row = all[t];
    group.refill(its.events.map(step), group.index);
    input.set(its.events[t]);
    input.node.firstChild.textContent = `Input of step ${t + 1}`;
    redraw();
    summary.textContent = `The sums of step ${t + 1}`;
    replace(sums, [ORDER.map((name) => h("li", { "data-name": name }, formula(row, name)))]);
    numbers.draw(all.map((one, k) => [String(k + 1), its.events[k], ...ORDER.map((name) => fmt.num(one[name], 6))]));
    say(
      `Step ${t + 1}, ${fmt.quote(its.events[t])}: ${kept(row.f)} of ${fmt.num(row.before)} kept, ` +
        `${fmt.num(row.i * row.g)} added: memory ${fmt.num(row.c)}, shown ${fmt.num(row.h)}.`,
    );
  }

  follow("events bias chosen weights", draw);
}, about);
