// UnrolledRNN: scrub along a passage, see the state h_t as a strip of units, choose a unit and see where it fires.
//
//   h_t = tanh(W_hh h_{t-1} + W_xh x_t + b)      P(w_{t+1} | w_1..w_t) = softmax(W_hy h_t + b_y)
//
// The states of the passages come from __init__.py: one byte a unit and step, in 127ths. For a text of the reader's the
// same network computes them here (engine.mjs), from the zero state, and they are kept in the same form.
import { chips, figure, fmt, h, replace, s, select, table } from "../kit/core.mjs";
import { squares, style as squaresStyle } from "./squares.mjs";
import { visible } from "../kit/format.mjs";
import { connect, ownText } from "../kit/live.mjs";

const MODEL = "shakespeare-rnn";
const UNKNOWN = "▯"; // the second stands for a character that the network does not have

const UNITS = 160;
const TOP = 3;
const SCALE = 127;
// What a unit may go with, for a bet
const RULES = { vowels: /[aeiou]/i, "capital letters": /[A-Z]/, "spaces and line ends": /\s/ };
const style = `
.lm-figure .lmu-text { display: flex; flex-wrap: wrap; gap: 0.2rem 1px;
  font-family: var(--pst-font-family-monospace, monospace); }
.lm-figure .lmu-char { display: flex; flex-direction: column; align-items: center; width: 0.95rem; border-radius: 3px;
  cursor: pointer; }
.lm-figure .lmu-char svg { display: block; overflow: visible; }
.lm-figure .lmu-char.lmu-now { outline: 2px solid var(--lm-text); outline-offset: 1px; font-weight: 700; }
.lm-figure .lm-split:has(.lmu-text) { --lm-side: 22.5rem; }
.lm-figure .lmu-steps { display: grid; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 0.25rem 0.9rem;
  padding-left: 0.9rem; text-align: center; }
.lm-figure .lmu-steps > div { position: relative; padding: 0.15rem; border-radius: 5px; font-size: 0.875rem; }
.lm-figure .lmu-state { border: 1px solid var(--lm-edge); font-variant-numeric: tabular-nums; }
.lm-figure .lmu-state.lmu-here { border: 2px solid var(--lm-text); font-weight: 700; }
.lm-figure .lmu-state::before { content: "→"; position: absolute; left: -0.95rem; top: 0.1rem; color: var(--lm-muted);
  font-weight: 400; }
.lm-figure .lmu-arrow { color: var(--lm-muted); line-height: 1; }
/* on a phone the examples stand between the unit and the text that they change */
@container (max-width: 39.9rem) { .lm-figure .lmu-both { display: contents; }
  .lm-figure .lmu-both > :first-child { order: 1; }
  .lm-figure .lm-chips:has(~ .lmu-both) { order: 2; }
  .lm-figure .lmu-both > :last-child { order: 3; }
  .lm-figure .lmu-both ~ * { order: 4; } }
@media (max-width: 480px) { .lm-figure .lmu-steps { grid-template-columns: repeat(3, minmax(0, 1fr)); }
.lm-figure .lmu-far { display: none; } }
`;

const chance = (p) => fmt.share(p, 3);
const signed = (v) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(2)}`;
const bytes = (text) => Int8Array.from(atob(text), (c) => c.charCodeAt(0));

/** At how many of the characters that follow the rule, and of the others, a unit is above 0. */
function above(rule, characters, values) {
  const count = (follows) => {
    const some = values.filter((_, t) => rule.test(characters[t]) === follows);
    return `${some.filter((v) => v > 0).length} of ${some.length}`;
  };
  return `above 0 at ${count(true)}, and at ${count(false)} other characters`;
}

export default figure(({ model, el, knob, get, put, listen, say, wager }) => {
  const opened = (p) => ({ ...p, characters: [...p.text], tops: [...p.top], h: bytes(p.states) });
  let passages = get("passages").map(opened);
  const ours = passages.filter((p) => !p.own).length;
  const steps = () => now().came.length;
  const here = () => Math.min(get("t"), steps() - 1);
  let over = null; // the unit under the mouse, shown in place of the chosen one

  const now = () => passages[get("passage")];
  const shown = () => over ?? get("unit");
  const value = (t, unit) => now().h[t * UNITS + unit] / SCALE;
  const guesses = (t) => Array.from({ length: TOP }, (_, i) => [now().tops[t * TOP + i], now().p[t * TOP + i] / 1000]);

  const passage = select({
    label: "Passage",
    value: get("passage"),
    onchange: (v) => {
      if (passages[v]) put({ passage: v });
      else passage.set(get("passage"));
    },
    options: [
      ...passages.slice(0, ours).map((p, i) => [i, `${i + 1}: ${p.text.slice(0, 24).replaceAll("\n", " ").trim()} …`]),
      [ours, "(your own)"],
    ],
  });
  const models = connect(model);
  const own = ownText({
    models,
    needed: [{ name: MODEL, bytes: get("bytes") }],
    label: "Your own text",
    verb: "Read it",
    maxlength: 121,
    work: async (text) => {
      if ([...text].length < 2) throw new Error("two characters are the least");
      return models.ask("read", { name: MODEL, text, shown: TOP });
    },
    done: (read) => {
      const taken = read.slice(0, -1); // of the last character only its probability is shown
      const states = Int8Array.from(
        taken.flatMap((step) => step.states[0][0]),
        (v) => Math.round(SCALE * v),
      );
      const text = {
        own: true,
        text: read.map((step) => (step.id === 1 ? UNKNOWN : step.text)).join(""),
        states: btoa(String.fromCharCode(...new Uint8Array(states.buffer))),
        top: taken.flatMap((step) => step.next.map((next) => (next.text.length > 1 ? UNKNOWN : next.text))).join(""),
        p: taken.flatMap((step) => step.next.map((next) => Math.round(1000 * next.p))),
        came: taken.map((step) => Math.round(1000 * step.came)),
      };
      model.set("passages", [...get("passages").slice(0, ours), text]);
      model.set("t", taken.length - 1);
      put({ passage: ours });
    },
  });
  const time = knob("t", "Step t", [0, steps() - 1], (t) => `${t + 1} of ${steps()}`);
  const unit = knob("unit", "Unit", [0, UNITS - 1]);
  const known = get("known");
  const tries = known.length
    ? chips({
        label: "Try",
        options: known.map(([u, what]) => [u, `${u}: ${what}`]),
        onchoose: (u) => put({ unit: u }),
      })
    : null;
  const unrolled = h("div", { class: "lmu-steps", "aria-hidden": "true" });
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
  const text = h("div", { class: "lmu-text", "aria-hidden": "true" });
  const textTitle = h("p", { class: "lm-small" });
  const numbers = table({
    summary: "The chosen unit and the predictions as a table",
    caption: "Each step: what was read, the unit, the likeliest next character, what came",
    head: ["Step", "Read", "Unit", "Likeliest next", "Its probability", "Came", "Its probability"],
  });
  const asked = get("unit");
  const along = Array.from({ length: steps() }, (_, t) => value(t, asked));
  const read = now().characters;
  const rule = Object.keys(RULES).find((name) => known.some(([u, what]) => u === asked && name.startsWith(what)));
  const question = rule
    ? wager({
        name: "unrolled-rule",
        asks: `Look at the bars over the text: after which characters is unit ${asked} above 0?`,
        options: Object.keys(RULES),
        hides: [tries.node],
        told: (bet) => {
          const said = (name) => above(RULES[name], read, along);
          const yours = bet === null ? "." : bet === rule ? ", as you said." : `. You said ${bet}: ${said(bet)}.`;
          return `After ${rule}: ${said(rule)}${yours}`;
        },
      })
    : null;
  el.append(
    ...(question ? [question.node] : []),
    ...(tries ? [tries.node] : []),
    h("div", { class: "lm-split lmu-both" }, [
      h("div", { class: "lm-stack" }, passage.node, time.node, unrolled, stripTitle, strip.node, unit.node),
      h("div", { class: "lm-stack" }, textTitle, text, say.node),
    ]),
    own.node,
    numbers.node,
  );

  // --- the text, with the chosen unit as a bar over or under the middle of every character

  let tiles = [];
  function makeText() {
    tiles = now()
      .characters.slice(0, steps())
      .map((c, t) => {
        const bar = s("rect", { x: 2, width: 8 });
        const node = h("span", { class: "lmu-char", onclick: () => put({ t: t }) }, [
          s("svg", { width: 12, height: 26, viewBox: "0 0 12 26" }, [
            bar,
            s("line", { x1: 0, x2: 12, y1: 13, y2: 13, stroke: "var(--lm-edge)" }),
          ]),
          h("span", {}, visible(c)),
        ]);
        return { node, bar, c };
      });
    replace(text, [tiles.flatMap(({ node, c }) => (c === "\n" ? [node, h("span", { class: "lmu-break" })] : [node]))]);
  }

  function drawText() {
    const u = shown();
    tiles.forEach(({ node, bar }, t) => {
      const v = value(t, u);
      bar.setAttribute("y", (v > 0 ? 13 - 12 * v : 13).toFixed(1));
      bar.setAttribute("height", (12 * Math.abs(v)).toFixed(1));
      bar.setAttribute("class", v > 0 ? "lmu-plus" : "lmu-minus");
      node.classList.toggle("lmu-now", t === here());
    });
    const at_ = tiles[here()].node.offsetTop - text.offsetTop;
    const place = text.clientHeight;
    // within its own box
    if (at_ < text.scrollTop || at_ + 54 > text.scrollTop + place) text.scrollTop = at_ - place / 2;
    replace(textTitle, [
      h("b", {}, `Unit ${u}`),
      " along the text: a filled bar upwards is positive, an outline downwards negative. ",
      h("span", { class: "lm-hand" }, "A character can be clicked."),
    ]);
  }

  function drawStrip() {
    const t = here();
    const values = Array.from({ length: UNITS }, (_, u) => value(t, u));
    strip.draw(values);
    strip.mark(shown());
    const high = values.filter((v) => v > 0.5).length;
    const moved = t ? values.filter((v, u) => Math.sign(v) !== Math.sign(value(t - 1, u))).length : null;
    replace(stripTitle, [
      "The state ",
      h("b", {}, "h", h("sub", {}, "t")),
      `: 160 units, filled where positive, size by |h|; ${high} are above one half` +
        `${moved === null ? "" : `, ${moved} have changed their sign in this step`}. `,
      h("span", { class: "lm-hand" }, "Point at one, or click it."),
    ]);
  }

  // --- the unrolled network around step t: what goes in, the state, what comes out

  function drawSteps() {
    const t = here();
    const around = [t - 2, t - 1, t, t + 1, t + 2];
    const far = (i) => (i === 0 || i === 4 ? " lmu-far" : "");
    const there = (i) => around[i] >= 0 && around[i] < steps();
    replace(unrolled, [
      around.map((k, i) =>
        h("div", { class: far(i) }, [
          there(i) ? [h("b", {}, visible(guesses(k)[0][0])), ` ${chance(guesses(k)[0][1])}`] : "",
        ]),
      ),
      around.map((_, i) => h("div", { class: `lmu-arrow${far(i)}` }, there(i) ? "↑" : "")),
      around.map((k, i) =>
        h("div", { class: there(i) ? `lmu-state${i === 2 ? " lmu-here" : ""}${far(i)}` : far(i).trim() }, [
          there(i) ? signed(value(k, shown())) : "",
        ]),
      ),
      around.map((_, i) => h("div", { class: `lmu-arrow${far(i)}` }, there(i) ? "↑" : "")),
      around.map((k, i) => h("div", { class: far(i) }, there(i) ? h("b", {}, visible(now().characters[k])) : "")),
    ]);
  }

  function tell() {
    const t = here();
    const u = get("unit");
    const [guess, p] = guesses(t)[0];
    const came = now().characters[t + 1];
    const read = now()
      .characters.slice(Math.max(0, t - 14), t + 1)
      .map((c) => visible(c))
      .join("");
    say(
      `After ${fmt.quote(read)} unit ${u} is ${signed(value(t, u))}. The likeliest next character is ` +
        `${fmt.quote(visible(guess))}, with probability ` +
        `${chance(p)}; ${fmt.quote(visible(came))} came, with probability ${chance(now().came[t] / 1000)}.` +
        (now().characters.includes(UNKNOWN)
          ? ` ${UNKNOWN} stands for characters that the network does not have; it reads <unk>.`
          : ""),
    );
  }

  function drawTable() {
    const u = get("unit");
    numbers.draw(
      Array.from({ length: steps() }, (_, t) => [
        String(t + 1),
        visible(now().characters[t]),
        signed(value(t, u)),
        visible(guesses(t)[0][0]),
        chance(guesses(t)[0][1]),
        visible(now().characters[t + 1]),
        chance(now().came[t] / 1000),
      ]),
    );
  }

  function draw() {
    passage.set(get("passage"));
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
    passages = get("passages").map(opened);
    makeText();
  });
  listen("passages passage t unit", draw);
  draw();
  return () => {
    strip.stop();
    own.stop();
    models.stop();
  };
}, style + squaresStyle);
