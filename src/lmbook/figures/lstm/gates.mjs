// The gates and the memory of one unit of a trained LSTM along a text of the reader's, computed here (engine.mjs).
//
//   c_t = f_t c_{t-1} + i_t g_t      h_t = o_t tanh(c_t)
import { chips, fmt, h, replace, select, slider, table } from "../kit/core.mjs";
import { along, alongStyle, strange, UNKNOWN } from "../kit/along.mjs";
import { visible } from "../kit/format.mjs";
import { ownText } from "../kit/live.mjs";
import { mean } from "../kit/numbers.mjs";

const FIRST = "ROMEO: But soft! what light";
const SHOWN = 3;
export const ORDER = ["f", "i", "g", "c", "o", "h"];
const PARTS = [
  ["c", "the memory c"],
  ["f", "the forget gate f"],
  ["i", "the input gate i"],
  ["g", "what could be written, g"],
  ["o", "the output gate o"],
  ["h", "what is shown, h"],
];

export const style = `
@container (min-width: 40rem) { .lm-figure .lmg-text { max-height: 11rem; overflow-y: auto; padding: 2px; } }
${alongStyle}`;

/** A share that is kept; of one near all so many digits that the sum is right. */
export const kept = (/** @type {number} */ f) => (f > 0.9995 ? "> 99.9 %" : fmt.percent(f, f > 0.98 ? 1 : 0));

/**
 * What happens in every unit at every step of a text: [{ char, f, i, g, c, o, h }], each a list of numbers, one a unit.
 */
const stepsOf = (read) =>
  read.map(({ id, text, states: [[shown, memory]], gates: [gates] }) => ({
    char: id === 1 ? UNKNOWN : text,
    ...gates,
    c: memory,
    h: shown,
  }));

/** A panel with a line for the text, and then one unit of the network `about` = { name, bytes } along it. */
export function gatesOf({ models, about }) {
  let steps = [];
  const now = { t: 0, unit: 0, part: "c" }; // what is looked at
  let example = null;
  const own = ownText({
    models,
    needed: [about],
    label: "Your own text",
    verb: "Read it",
    value: FIRST,
    maxlength: 120,
    work: (text) => models.ask("read", { name: about.name, text, shown: 1 }),
    done(read) {
      steps = stepsOf(read);
      now.t = steps.length - 1;
      const keeps = steps[0].f.map((_, u) => mean(steps.map((step) => step.f[u])));
      const order = keeps.map((_, u) => u).sort((a, b) => keeps[b] - keeps[a]);
      [now.unit] = order;
      const named = (u) => [u, `${u}: keeps ${kept(keeps[u])} a step`];
      example = chips({
        label: "Units with the longest memory here, and the shortest",
        options: [...order.slice(0, SHOWN), order.at(-1)].map(named),
        onchoose: set("unit"),
      });
      replace(tries, example.node);
      which.input.max = String(keeps.length - 1);
      place.input.max = String(steps.length - 1);
      text.write(steps.map(({ char }) => char));
      node.append(found); // not before: without a text there is nothing to choose from
      draw();
    },
  });
  const tries = h("div", {});
  const set = (name) => (value) => {
    now[name] = value;
    draw();
  };
  const what = select({ label: "Bars:", options: PARTS, value: now.part, onchange: set("part") });
  const which = slider({ label: "Unit", min: 0, max: 1, oninput: set("unit") });
  const place = slider({
    label: "Character",
    min: 0,
    max: 1,
    text: (v) => `${v + 1} of ${steps.length || 1}`,
    oninput: set("t"),
  });
  const text = along(set("t"));
  text.node.classList.add("lmg-text");
  const words = h("p", {});
  const heard = h("p", { class: "lm-hidden", role: "status", "aria-live": "polite" });
  const numbers = table({
    summary: "The unit at every character, as a table",
    head: ["Read", ...ORDER],
  });
  const found = h.stack([tries, h.row(which.node, place.node, what.node), text.node, words, heard, numbers.node]);
  const node = h.stack([h.small("It learned from Shakespeare, and begins with an empty memory."), own.node]);
  let timer = null;

  function draw() {
    const { t, unit, part } = now;
    const at = (name, k = t) => steps[k][name][unit];
    const before = t ? at("c", t - 1) : 0;
    // the memory has no bounds
    const longest = part === "c" ? Math.max(...steps.map((_, k) => Math.abs(at("c", k))), 1e-9) : 1;
    which.set(unit);
    example.set(unit);
    place.set(t);
    text.draw(
      steps.map((_, k) => at(part, k) / longest),
      t,
    );
    words.textContent =
      `At ${fmt.quote(visible(steps[t].char))}: ${kept(at("f"))} of ${fmt.num(before)} kept, ` +
      `${fmt.num(at("i") * at("g"))} added: memory ${fmt.num(at("c"))}, shown ${fmt.num(at("h"))}.` +
      (part === "c" ? ` Longest bar: ${fmt.num(longest)}.` : "") +
      strange(steps.map(({ char }) => char));
    clearTimeout(timer);
    timer = setTimeout(() => {
      heard.textContent = words.textContent;
    }, 350);
    words.setAttribute("aria-hidden", "true");
    numbers.draw(steps.map((step, k) => [visible(step.char), ...ORDER.map((name) => fmt.num(at(name, k), 3))]));
  }

  /** The first time: the text that stands there is read. */
  const begin = () => steps.length || own.put(FIRST);
  return { node, begin };
}
