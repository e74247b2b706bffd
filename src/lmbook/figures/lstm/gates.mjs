// The gates and the memory of one unit of a trained LSTM along a text of the reader's, computed here (engine.mjs).
//
//   c_t = f_t c_{t-1} + i_t g_t      h_t = o_t tanh(c_t)
import { chips, fmt, h, replace, s, select, slider, table } from "../kit/core.mjs";
import { visible } from "../kit/format.mjs";
import { ownText } from "../kit/live.mjs";

const UNKNOWN = "▯";
const SHOWN = 3;
const PARTS = [
  ["c", "the memory c"],
  ["f", "the forget gate f"],
  ["i", "the input gate i"],
  ["g", "what could be written, g"],
  ["o", "the output gate o"],
  ["h", "what is shown, h"],
];

export const style = `
.lmg-text { display: flex; flex-wrap: wrap; gap: 0.2rem 1px; font-family: var(--pst-font-family-monospace, monospace); }
@container (min-width: 40rem) { .lmg-text { max-height: 11rem; overflow-y: auto; padding: 2px; } }
.lmg-char { display: flex; flex-direction: column; align-items: center; width: 0.95rem; border-radius: 3px;
  cursor: pointer; }
.lmg-char svg { display: block; }
.lmg-now { outline: 2px solid var(--lm-text); outline-offset: 1px; font-weight: 700; }
.lmg-plus { fill: var(--lm-3); }
.lmg-minus { fill: none; stroke: var(--lm-2); stroke-width: 1.4; }
`;

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
  let t = 0;
  let unit = 0;
  let part = "c";
  let example = null;
  const own = ownText({
    models,
    needed: [about],
    label: "Your own text",
    verb: "Read it",
    value: "ROMEO: But soft! what light",
    maxlength: 120,
    work: (text) => models.ask("read", { name: about.name, text, shown: 1 }),
    done(read) {
      steps = stepsOf(read);
      t = steps.length - 1;
      const kept = steps[0].f.map((_, u) => steps.reduce((sum, step) => sum + step.f[u], 0) / steps.length);
      const order = kept.map((_, u) => u).sort((a, b) => kept[b] - kept[a]);
      [unit] = order;
      const named = (u) => [u, `${u}: keeps ${fmt.percent(kept[u])} a step`];
      example = chips({
        label: "Units with the longest memory here, and the shortest",
        options: [...order.slice(0, SHOWN), order.at(-1)].map(named),
        onchoose: (u) => {
          unit = u;
          draw();
        },
      });
      replace(tries, example.node);
      which.input.max = String(kept.length - 1);
      place.input.max = String(steps.length - 1);
      replace(text, [
        steps.map((step, k) =>
          h(
            "span",
            {
              class: "lmg-char",
              onclick: () => {
                t = k;
                draw();
              },
            },
            [
              s("svg", { width: 12, height: 26, viewBox: "0 0 12 26" }, [
                s("rect", { x: 2, width: 8 }),
                s("line", { x1: 0, x2: 12, y1: 13, y2: 13, stroke: "var(--lm-edge)" }),
              ]),
              h("span", {}, visible(step.char)),
            ],
          ),
        ),
      ]);
      node.append(found); // not before: without a text there is nothing to choose from
      draw();
    },
  });
  const tries = h("div", {});
  const what = select({
    label: "Bars:",
    options: PARTS,
    value: part,
    onchange: (value) => {
      part = value;
      draw();
    },
  });
  const which = slider({
    label: "Unit",
    min: 0,
    max: 1,
    value: 0,
    text: String,
    oninput: (value) => {
      unit = value;
      draw();
    },
  });
  const place = slider({
    label: "Character",
    min: 0,
    max: 1,
    value: 0,
    text: (v) => `${v + 1} of ${steps.length || 1}`,
    oninput: (value) => {
      t = value;
      draw();
    },
  });
  const text = h("div", { class: "lmg-text", "aria-hidden": "true" });
  const words = h("p", {});
  const heard = h("p", { class: "lm-hidden", role: "status", "aria-live": "polite" });
  const numbers = table({
    summary: "The unit at every character, as a table",
    head: ["Read", "f", "i", "g", "c", "o", "h"],
  });
  const found = h("div", { class: "lm-stack" }, [
    tries,
    h("div", { class: "lm-row" }, which.node, place.node, what.node),
    text,
    words,
    heard,
    numbers.node,
  ]);
  const node = h("div", { class: "lm-stack" }, [
    h("p", { class: "lm-small lm-muted" }, "It learned from Shakespeare, and begins with an empty memory."),
    own.node,
  ]);
  let timer = null;

  function draw() {
    const now = steps[t];
    const at = (name, k = t) => steps[k][name][unit];
    const before = t ? at("c", t - 1) : 0;
    // the memory has no bounds
    const longest = part === "c" ? Math.max(...steps.map((_, k) => Math.abs(at("c", k))), 1e-9) : 1;
    which.set(unit);
    example.set(unit);
    place.set(t);
    [...text.children].forEach((one, k) => {
      const value = at(part, k) / longest;
      const bar = one.querySelector("rect");
      bar.setAttribute("y", (value > 0 ? 13 - 12 * value : 13).toFixed(1));
      bar.setAttribute("height", (12 * Math.abs(value)).toFixed(1));
      bar.setAttribute("class", value > 0 ? "lmg-plus" : "lmg-minus");
      one.classList.toggle("lmg-now", k === t);
    });
    const top = /** @type {HTMLElement} */ (text.children[t]).offsetTop - text.offsetTop;
    const high = text.clientHeight;
    if (top < text.scrollTop || top + 54 > text.scrollTop + high) text.scrollTop = top - high / 2; // within its own box
    const strange = steps.some((step) => step.char === UNKNOWN)
      ? ` ${UNKNOWN} stands for characters that the network does not have; it reads <unk>.`
      : "";
    words.textContent =
      `At ${fmt.quote(visible(now.char))} unit ${unit} keeps ${fmt.percent(at("f"))} of its memory ` +
      `${fmt.num(before)} and adds ${fmt.num(at("i"))} · ${fmt.num(at("g"))} = ${fmt.num(at("i") * at("g"))}: ` +
      (`the memory is ${fmt.num(at("c"))}. The output gate ${fmt.num(at("o"))} shows ${fmt.num(at("h"))}.` +
        (part === "c" ? ` The longest bar stands for ${fmt.num(longest)}.` : "") +
        `${strange}`);
    clearTimeout(timer);
    timer = setTimeout(() => {
      heard.textContent = words.textContent;
    }, 350);
    words.setAttribute("aria-hidden", "true");
    numbers.draw(
      steps.map((step, k) => [
        visible(step.char),
        ...["f", "i", "g", "c", "o", "h"].map((name) => fmt.num(at(name, k), 3)),
      ]),
    );
  }

  return {
    node,
    stop: () => {
      clearTimeout(timer);
      own.stop();
    },
  };
}
