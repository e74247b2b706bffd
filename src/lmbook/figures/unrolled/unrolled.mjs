// UnrolledRNN: scrub along a passage, see the state h_t as a strip of units, choose a unit and see where it fires.
//
//   h_t = tanh(W_hh h_{t-1} + W_xh x_t + b)      P(w_{t+1} | w_1..w_t) = softmax(W_hy h_t + b_y)
//
// The states of the passages come from __init__.py: one byte a unit and step, in 127ths. For a text of the reader's the
// same network computes them here (engine.mjs), from the zero state, and they are kept in the same form.
import { answered, chips, figure, fmt, h, replace, select, table } from "../kit/core.mjs";
import { along, alongStyle, strange, UNKNOWN } from "../kit/along.mjs";
import { squares, style as squaresStyle } from "./squares.mjs";
import { chance, signed, stepsAround, style as stepsStyle } from "./steps.mjs";
import { visible } from "../kit/format.mjs";
import { connect, ownText } from "../kit/live.mjs";

const MODEL = "shakespeare-rnn";
const UNITS = 160;
const TOP = 3;
const SCALE = 127;
// What a unit may go with, for a bet
const RULES = { vowels: /[aeiou]/i, "capital letters": /[A-Z]/, "spaces and line ends": /\s/ };
const style = `
.lm-figure :is(.lmu-rule, .lmu-said) > :last-child { width: 100%; border-radius: 3px; text-align: center; }
.lm-figure .lmu-both ~ .lm-chips.lm-covered::before { content: none; } /* before the bet its place is empty */
.lm-figure .lmu-rule > :last-child { background: color-mix(in srgb, var(--lm-text) 20%, transparent); }
.lm-figure .lmu-said > :last-child { outline: 1.5px dashed var(--lm-text); outline-offset: -1px; }
/* on a phone all stands below the text that it changes: units, then steps */
@container (max-width: 39.9rem) { .lm-figure :is(.lmu-both, .lmu-both > *) { display: contents; }
  .lm-figure .lmu-both > :last-child > * { order: 1; }
  .lm-figure .lmu-unit, .lm-figure .lmu-both ~ .lm-chips { order: 2; }
  .lmu-both > :first-child > :is(p, svg) { order: 3; }
  .lmu-both > :first-child > :is(.lmu-time, .lmu-steps) { order: 4; }
  .lm-figure .lmu-both ~ * { order: 5; } }
${stepsStyle}${squaresStyle}${alongStyle}`;

const bytes = (text) => Int8Array.from(atob(text), (c) => c.charCodeAt(0));

/** At how many of the characters that follow the rule a unit is above 0. */
function above(rule, characters, values) {
  const some = values.filter((_, t) => rule.test(characters[t]));
  return `${some.filter((v) => v > 0).length} of ${some.length}`;
}

export default figure(({ model, el, knob, its, put, listen, follow, ends, say, wager }) => {
  const opened = (p) => ({ ...p, characters: [...p.text], tops: [...p.top], h: bytes(p.states) });
  let passages = its.passages.map(opened);
  const ours = passages.filter((p) => !p.own).length;
  const steps = () => now().came.length;
  const here = () => Math.min(its.t, steps() - 1);
  let over = null; // the unit under the mouse, shown in place of the chosen one

  const now = () => passages[its.passage];
  const shown = () => over ?? its.unit;
  const value = (t, unit) => now().h[t * UNITS + unit] / SCALE;
  const course = (unit) => Array.from({ length: steps() }, (_, t) => value(t, unit));
  const likeliest = (t) => [now().tops[t * TOP], now().p[t * TOP] / 1000]; // of TOP for each step

  const passage = select({
    label: "Passage",
    value: its.passage,
    onchange: (v) => (passages[v] ? put({ passage: v }) : passage.set(its.passage)),
    options: [
      ...passages.slice(0, ours).map((p, i) => [i, `${i + 1}: ${p.text.slice(0, 24).replaceAll("\n", " ").trim()} …`]),
      [ours, "(your own)"],
    ],
  });
  const models = connect(model, ends);
  const own = ownText({
    models,
    needed: [{ name: MODEL, bytes: its.bytes }],
    label: "Your own text",
    verb: "Read it",
    maxlength: 121,
    work: async (text) => {
      if ([...text].length < 2) throw new Error("two characters are the least");
      return models.ask("read", { name: MODEL, text, shown: TOP });
    },
    done: (read) => {
      const taken = read.slice(0, -1); // of the last character only its probability is shown
      const next = taken.flatMap((step) => step.next);
      const states = taken.flatMap((step) => step.states[0][0]).map((v) => Math.round(SCALE * v) & 255);
      const text = {
        own: true,
        text: read.map((step) => (step.id === 1 ? UNKNOWN : step.text)).join(""),
        states: btoa(String.fromCharCode(...states)),
        top: next.map(({ text }) => (text.length > 1 ? UNKNOWN : text)).join(""),
        p: next.map(({ p }) => Math.round(1000 * p)),
        came: taken.map((step) => Math.round(1000 * step.came)),
      };
      put({ passages: [...its.passages.slice(0, ours), text], t: taken.length - 1, passage: ours });
    },
  });
  const time = knob("t", "Step t", [0, steps() - 1], (t) => `${t + 1} of ${steps()}`);
  const unit = knob("unit", "Unit", [0, UNITS - 1]);
  time.node.classList.add("lmu-time");
  unit.node.classList.add("lmu-unit");
  const known = its.known;
  const options = known.map(([u, what]) => [u, `${u}: ${what}`]);
  const tries = chips({ label: "Try", options, onchoose: (u) => put({ unit: u }) });
  tries.node.hidden = !known.length;
  const unrolled = stepsAround();
  const strip = squares(UNITS, {
    hover(u) {
      if (u === over) return;
      over = u;
      drawText();
      drawSteps();
      strip.mark(shown());
    },
    choose: (u) => put({ unit: u }),
  });
  const stripTitle = h("p", { class: "lm-small" });
  const text = along((t) => put({ t }));
  const textTitle = h("p", { class: "lm-small" });
  const numbers = table({
    summary: "The chosen unit and the predictions as a table",
    caption: "Each step: what was read, the unit, the likeliest next character, what came",
    head: ["Step", "Read", "Unit", "Likeliest next", "Its probability", "Came", "Its probability"],
  });
  const asked = its.unit;
  const values = course(asked);
  const read = now().characters;
  const rule = Object.keys(RULES).find((name) => known.some(([u, what]) => u === asked && name.startsWith(what)));
  const start = its.passage;
  const question = wager(
    rule && {
      name: "unrolled-rule",
      of: "passage unit",
      asks: `Look at the bars over the text: after which characters is unit ${asked} above 0?`,
      options: Object.keys(RULES),
      hides: [tries.node],
      settled: drawText,
      told: (bet) => {
        const said = (name) => above(RULES[name], read, values);
        const end = answered(bet, rule, `; after ${bet}: at ${said(bet ?? rule)}.`);
        return `After ${rule}: above 0 at ${said(rule)}${end}`;
      },
    },
  );
  el.append(
    h.onstage("Text", question.node),
    h("div", { class: "lm-split lmu-both", style: "--lm-side: 22.5rem" }, [
      h.stack([
        h.onstage("Text", passage.node),
        time.node,
        unrolled.node,
        ...[stripTitle, strip.node, unit.node].map((one) => h.onstage("State", one)),
      ]),
      h.stack(textTitle, text.node, h.onstage("Text", say.node)),
    ]),
    h.onstage("Text", tries.node),
    h.onstage("", own.node),
    numbers.node,
  );

  // --- the text, with the chosen unit as a bar over or under the middle of every character

  const makeText = () => text.write(now().characters.slice(0, steps()));

  function drawText() {
    const u = shown();
    text.draw(course(u), here());
    const bet = u === asked && its.passage === start ? question.answer : null;
    [...text.node.children].forEach((one, t) => {
      const follows = (/** @type {string | null} */ name) => bet !== null && RULES[name].test(now().characters[t]);
      one.classList.toggle("lmu-rule", follows(rule));
      one.classList.toggle("lmu-said", bet !== rule && follows(bet));
    });
    replace(textTitle, [
      h("b", {}, `Unit ${u}`),
      " along the text: a filled bar upwards is positive, an outline downwards negative. ",
      bet === null
        ? h("span", { class: "lm-hand" }, "Click a character.")
        : `Grey: ${rule}${bet === rule ? "" : "; dashed"}: your bet.`,
    ]);
  }

  function drawStrip() {
    const t = here();
    const values = Array.from({ length: UNITS }, (_, u) => value(t, u));
    const turned = t ? [...values.keys()].filter((u) => Math.sign(values[u]) !== Math.sign(value(t - 1, u))) : [];
    strip.draw(values, turned);
    strip.mark(shown());
    const high = values.filter((v) => v > 0.5).length;
    replace(stripTitle, [
      "The state ",
      h("b", {}, "h", h("sub", {}, "t")),
      `: 160 units, filled where positive, size by |h|; ${high} above one half` +
        `${t ? `, ${turned.length} with a new sign (framed)` : ""}. `,
      h("span", { class: "lm-hand" }, "Point, or click."),
    ]);
  }

  const step = (k) => ({ read: now().characters[k], value: value(k, shown()), guess: likeliest(k) });
  const drawSteps = () => unrolled.draw(here(), steps(), step);

  function tell() {
    const t = here();
    const u = its.unit;
    const [guess, p] = likeliest(t);
    const came = now().characters[t + 1];
    const { characters } = now();
    const read = characters.slice(Math.max(0, t - 14), t + 1).map((c) => visible(c));
    const other = `; ${fmt.quote(visible(came))} came, ${chance(now().came[t] / 1000)}`;
    say(
      `After ${fmt.quote(read.join(""))} unit ${u} is ${signed(value(t, u))}. ` +
        `Likeliest next: ${fmt.quote(visible(guess))}, ${chance(p)}${came === guess ? ", and it came" : other}.` +
        strange(characters),
    );
  }

  function drawTable() {
    numbers.draw(
      course(its.unit).map((v, t) => [
        String(t + 1),
        visible(now().characters[t]),
        signed(v),
        visible(likeliest(t)[0]),
        chance(likeliest(t)[1]),
        visible(now().characters[t + 1]),
        chance(now().came[t] / 1000),
      ]),
    );
  }

  function draw() {
    passage.set(its.passage);
    tries.set(its.unit);
    time.input.max = String(steps() - 1);
    time.set(here());
    drawText();
    drawStrip();
    drawSteps();
    drawTable();
    tell();
  }

  makeText();
  listen("passages passage", () => {
    passages = its.passages.map(opened);
    makeText();
  });
  follow("passages passage t unit", draw);
}, style);
