// LSTMStep: one LSTM unit, gate by gate. Choose what comes in, and see what is kept, written and shown; then the same
// of a trained LSTM on a text of the reader's (gates.mjs).
import { button, choice, disable, figure, fmt, h, select, slider, table, whole } from "../kit/core.mjs";
import { gatesOf, style as gatesStyle } from "./gates.mjs";
import { connect } from "../kit/live.mjs";
import { unit } from "./unit.mjs";

const ORDER = ["f", "i", "g", "c", "o", "h"];
const NAMES = {
  f: "forget gate",
  i: "input gate",
  g: "what could be written",
  c: "memory",
  o: "output gate",
  h: "what is shown",
};
const TONE = { f: 1, i: 2, g: 4, c: 3, o: 5, h: 6 };

const style = `
.lml-rows { display: grid; gap: 0.35rem; }
.lml-row { display: grid; grid-template-columns: 1.6rem minmax(5rem, 8rem) minmax(0, 1fr); gap: 0.1rem 0.6rem;
  align-items: center;
  padding: 0.3rem 0.5rem; border: 1px solid var(--lm-line); border-radius: 6px; }
.lml-row[data-now="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1); }
@container (min-width: 40rem) {
  .lml-rows { grid-template: repeat(3, auto) / repeat(2, minmax(0, 1fr)); grid-auto-flow: column; }
  .lml-row { align-content: start; min-height: 4.7rem; }
}
.lm-figure .lml-set { gap: 0.4rem 2rem; }
.lml-name { font-weight: 600; }
.lml-track { position: relative; height: 0.8rem; border-radius: 3px; background: var(--lm-soft); overflow: hidden; }
.lml-track::after { content: ""; position: absolute; left: 50%; top: 0; bottom: 0;
  border-left: 1px solid var(--lm-edge); }
.lml-fill { position: absolute; top: 0; bottom: 0; background: var(--lm-tone); transition: left 0.2s, width 0.2s; }
.lml-words { grid-column: 2 / -1; font-size: 0.875rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
@media (prefers-reduced-motion: reduce) { .lml-fill { transition: none; } }
`;

const num = (v) => fmt.num(v, 3);
const term = (v) => (v < 0 ? `(${num(v)})` : num(v));

const about = {
  style: style + gatesStyle,
  allows: {
    // what an address may set
    events: (events, { known }) => whole(events.length, 1, 12) && events.every((event) => Object.hasOwn(known, event)),
  },
};

export default figure(({ model, el, knob, get, put, listen, say }) => {
  const first = { events: get("events"), bias: get("bias"), place: 0 };
  const last = () => get("events").length * ORDER.length;
  const where = () => {
    // the step shown (from 0) and how many of its numbers are known
    const place = Math.min(get("place"), last());
    const t = Math.min(Math.max(0, Math.ceil(place / ORDER.length) - 1), get("events").length - 1);
    return { t, known: place - t * ORDER.length };
  };
  const said = (place) =>
    place === 0 ? "start" : `step ${Math.ceil(place / ORDER.length)}, ${NAMES[ORDER[(place - 1) % ORDER.length]]}`;

  const go = (place) => put({ place: Math.max(0, Math.min(last(), place)) });
  const back = button("Back", () => go(get("place") - 1));
  const next = button("Next", () => go(get("place") + 1), { class: "lm-button lm-main" });
  const step = button("Next step", () => go((where().t + (where().known === ORDER.length ? 2 : 1)) * ORDER.length));
  const walk = slider({ label: "Stage", min: 0, max: last(), value: get("place"), text: said, oninput: go });
  const input = select({
    label: "Input of this step",
    options: Object.keys(get("known")),
    value: get("events")[0],
    onchange: (event) => {
      const events = [...get("events")];
      events[where().t] = event;
      put({ events });
    },
  });
  const bias = knob("bias", "Bias of the forget gate", [-2, 8, 0.5], 1);
  const again = button("Start again", () => put(first));

  const parts = {};
  const rows = h("div", { class: "lml-rows", role: "list", "aria-label": "The six numbers of the step" }, [
    ORDER.map((name) => {
      const fill = h("span", { class: "lml-fill", style: `--lm-tone: var(--lm-${TONE[name]})` });
      const words = h("span", { class: "lml-words" });
      const node = h("div", { class: "lml-row", role: "listitem", "data-name": name }, [
        h("span", { class: "lml-name" }, name),
        h("span", { class: "lm-small" }, NAMES[name]),
        h("span", { class: "lml-track", "aria-hidden": "true" }, fill),
        words,
      ]);
      parts[name] = { fill, words, node };
      return node;
    }),
  ]);
  const given = h("p", { class: "lm-muted lm-small" });
  const numbers = table({
    summary: "All steps as a table",
    caption: "Every number of every step, as far as you have gone",
    head: ["Step", "Input", ...ORDER],
  });
  const byHand = h("div", { class: "lm-stack" }, [
    h("div", { class: "lm-row" }, back, next, step, walk.node, again),
    h("div", { class: "lm-row lml-set" }, input.node, bias.node),
    given,
    rows,
    say.node,
    numbers.node,
  ]);
  const which = choice({
    label: "Look at",
    options: [
      [true, "one unit, step by step"],
      [false, "a trained LSTM on your text"],
    ],
    value: true,
    onchange: (hand) => {
      byHand.hidden = !hand;
      gates.node.hidden = hand;
    },
  });
  const models = connect(model);
  const gates = gatesOf({ models, about: { name: "shakespeare-lstm", bytes: get("bytes") } });
  el.append(which.node, byHand, gates.node);
  gates.node.hidden = true;

  const sum = (row, gate) => {
    const weights = get("weights")[gate];
    const terms = row.x
      .map((value, k) => [weights[k], value])
      .concat([[weights[3], row.h1]])
      .filter(([w, value]) => w && value);
    const shift = gate === "f" ? get("bias") : weights[4];
    return terms
      .map(([w, value]) => `${term(w)} · ${term(value)}`)
      .concat(shift ? [term(shift)] : [])
      .join(" + ");
  };
  const formula = (row, name) => {
    if (name === "c")
      return (
        `c = f · c before + i · g = ${num(row.f)} · ${term(row.before)} + ${num(row.i)} · ${term(row.g)} = ` +
        `${num(row.c)}`
      );
    if (name === "h") return `h = o · tanh(c) = ${num(row.o)} · ${term(row.shown)} = ${num(row.h)}`;
    const words = sum(row, name);
    const squash = name === "g" ? "tanh" : "σ";
    return (
      `${name} = ` +
      (words.includes("·") ? `${squash}(${words}) = ` : "") +
      `${squash}(${num(row.a[name])}) = ${num(row[name])}`
    );
  };
  const meaning = (row, name) =>
    ({
      f: `${fmt.percent(row.f, 1)} of the memory ${num(row.before)} is kept.`,
      i: `${fmt.percent(row.i, 1)} of what comes next will be written.`,
      g: `${num(row.g)} could be written; with the input gate at ${num(row.i)} it adds ${num(row.i * row.g)}.`,
      c: `the memory goes from ${num(row.before)} to ${num(row.c)}.`,
      o: `${fmt.percent(row.o, 1)} of the memory, squashed, is shown.`,
      h: `the rest of the network sees ${num(row.h)}, while the memory holds ${num(row.c)}.`,
    })[name];

  function draw() {
    const events = get("events");
    const all = unit(
      get("weights"),
      events.map((event) => get("known")[event]),
      get("bias"),
    );
    const { t, known } = where();
    const row = all[t];
    const place = Math.min(get("place"), last());
    walk.input.max = String(last());
    walk.set(place);
    disable(back, place === 0);
    for (const one of [next, step]) disable(one, place === last());
    input.set(events[t]);
    given.textContent =
      `Step ${t + 1} of ${events.length}: store ${row.x[0]}, value ${num(row.x[1])}, show ${row.x[2]}; memory ` +
      `before ${num(row.before)}, h before ${num(row.h1)}.`;
    ORDER.forEach((name, k) => {
      const { fill, words, node } = parts[name];
      const there = k < known;
      const reach = there ? Math.max(-1, Math.min(1, row[name])) / 2 : 0;
      fill.style.setProperty("left", `${(0.5 + Math.min(0, reach)) * 100}%`);
      fill.style.setProperty("width", `${Math.abs(reach) * 100}%`);
      words.textContent = there ? formula(row, name) : "not yet computed";
      node.dataset.now = String(k === known - 1);
    });
    const done = (i, k) => i * ORDER.length + k < place;
    numbers.draw(
      events.map((event, i) => [
        String(i + 1),
        event,
        ...ORDER.map((name, k) => (done(i, k) ? fmt.num(all[i][name], 6) : "")),
      ]),
    );
    say(
      known === 0
        ? `The input of step ${t + 1} is “${events[t]}”. Press Next to compute the forget gate.`
        : `Step ${t + 1}, “${events[t]}”, ${NAMES[ORDER[known - 1]]}: ${meaning(row, ORDER[known - 1])}`,
    );
  }

  listen("events bias place weights", draw);
  draw();
  return () => {
    gates.stop();
    models.stop();
  };
}, about);
