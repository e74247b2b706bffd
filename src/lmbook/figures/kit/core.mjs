// core.mjs: what every figure of the book shares. Plain JavaScript, no dependencies, no build step.
//
// HOW TO WRITE A FIGURE (a folder NAME with NAME.mjs, and its class in __init__.py, see ../__init__.py)
//
//   import { bars, figure, fmt } from "../kit/core.mjs";
//
//   export default figure(({ el, knob, follow, say }) => {
//     const chart = bars();
//     const n = knob("n", "Order n", [1, 5], (v) => `order ${v}`);
//     el.append(n.node, chart.node);
//     const draw = () => {
//       chart.draw([{ label: "harbour", value: 0.2, text: fmt.prob(0.2) }], { max: 1 });
//       say("With order 2 the likeliest next word is harbour, with probability 0.2.");
//     };
//     follow("n", draw);   // now, and when the trait changes: from here, from Python, from another view of the figure
//   });
//
// The frame (title and task above, live sentence, colours) is made by figure(); draw only what is inside.
// A figure is no taller than a screen of 1280 x 800, as it is opened and after it was typed at: what is long scrolls in
// its own box (from 40rem on: @container (min-width: 40rem) { .. max-height .. }), what is rarely wanted is folded.
//   h("div", { class: "lm-split" }, controls, result)    side by side where there is room; --lm-side says how wide
//                                the first is (with the class lm-split-right, the second)
//   h.folds(details, ..)         closed, on one line
// State lives in the model's traits: set it there, draw from there. Then a kernel and the page see the same.
//   its.name, put({ name: value, .. })       the same with a kernel and without; its[name] where the name is not fixed
//   knob(name, label, [min, max, step], text)  a slider that shows the trait and sets it; text: digits after the
//                                            point, or a function
//   pick(name, label, options, select)       likewise one of a few options, or, with select, of many
//   listen("a b", callback)      callback on a change of trait a or b; taken off when the view goes
//   follow("a b", draw)          the same, and draw() at once
//   ends(callback)               when the view goes: what must be stopped
//   say(sentence)                the result in words, in the polite live region, which is also shown to everybody.
//                                It stands below the figure; el.append(say.node, ...) puts it elsewhere.
//                                While a slider is dragged only the last sentence is read out;
//                                say(sentence, { aloud: false }) is shown only.
//   h.onstage("Rows", node)      where a slide has no room for all in large letters: the part in which it stands
//   wager({ name, asks, options, told, hides, of })   a bet before the answer is in sight (bet.mjs); el.append(node);
//                                wager(null): none, and its node is not seen
//   answered(bet, right, miss)   the end of what is told: ", as you said.", or else the miss
//   the function may be async: until it is done the printed figure stays
//
// The pieces
//   h(tag, attributes, ...children), s(tag, ...)   an HTML or SVG element; strings become text, never markup
//   replace(node, ...children)                     new children
//   button(label, onclick, attributes)             { pressed: true } makes it a toggle, { main: true } the first one,
//                                                  { chip: true } a small one
//   disable(button, idle)                          it does nothing for now, and keeps the focus
//   slider({ label, min, max, step, value, text, oninput }) -> { node, input, get, set(v) }   text(v) is read out
//   field({ label, value, oninput, delay, ... })   -> { node, input, get, set(v) }   a line of text
//   choice({ label, options, value, onchange })    -> { node, set(v) }   one of few, as radio buttons (one tab stop)
//   select({ label, options, value, onchange })    -> { node, set(v) }   one of many: strings or [value, label]
//   bars() -> { node, draw(rows, { max }) }        rows: { label, value, text, note, tone, title, broken, mark, pin,
//                                                  covered }; tone 0 to 6 or "faint"; mark: a second value, as a
//                                                  line; pin: what was bet; covered: the bet is open
//   table({ summary, caption, head, rows })        -> { node, draw(rows, head) }   the numbers, folded in <details>
//   roving(container, selector, options)           -> { refresh, focus(i), refill(children, i), index }   arrows move
//                                                  in a group, one tab stop
//   h.group(class, name, ...), h.scroller(class, name, ...)   what has a name, what scrolls
//   h.stack(...), h.row(...), h.folds(...), h.small(...)   below one another, side by side, folds; small grey text
//   s.text(x, y, words, side), s.tick(..), s.rule(d, class), s.through(places), s.sized(svg, width, height)
//                                                  of a drawing: words, grey words, a line, the d of one through
//                                                  places, its size; s.free(taken, at): a place for a label;
//                                                  s.levels(values, y, left, right, words), s.layers(svg, n)
//   chips({ label, options, onchoose })            -> { node, set(v) }   a row of buttons, one tab stop (examples to
//                                                  try); set(v) marks the one that is shown
//   onwidth(node, draw)                            draw(width in px) now and when the width changes (for SVG charts)
//   plot(class, draw) -> { node, svg, redraw }     an SVG as wide as its place; draw(width) as onwidth, and at redraw()
//   fmt.prob, fmt.exp, fmt.num, fmt.nats, fmt.percent, fmt.count, fmt.list, fmt.quote
//   reducedMotion()                                true: show the end of an animation at once
// Every focusable element made here carries data-lm-suppress-shortcuts, so that JupyterLab leaves its keys alone.
// Colours: CSS only, never in script: the classes of figures.css, or var(--lm-1) to var(--lm-6), var(--lm-text),
// var(--lm-muted), var(--lm-line), var(--lm-soft), var(--lm-good), var(--lm-bad). SVG takes them in style or by class.

import { bars, grid, table } from "./bars.mjs";
import { answered, bet, unasked } from "./bet.mjs";
import { button, choice, disable, field, pairs, select, slider } from "./controls.mjs";
import { h, replace, s } from "./dom.mjs";
import { fmt } from "./format.mjs";
import { framed, hold, tasks } from "./frame.mjs";
import { roving } from "./roving.mjs";

export { answered, bars, button, choice, disable, field, fmt, grid, h, replace, roving, s, select, slider, table };

/**
 * The traits of a figure, from a kernel or from mount.mjs.
 * @typedef {{ get: (name: string) => any, set: (name: string, value: any) => void, save_changes: () => void,
 *   on: (events: string, callback: Function) => void, off: (events: string, callback?: Function) => void }} Model
 *
 * @typedef {((sentence: string, how?: { aloud?: boolean }) => void) & { node: HTMLElement }} Say
 * @typedef {(names: string, callback: Function) => void} Listen
 * @typedef {import("./controls.mjs").Option} Option
 * @typedef {object} Tools
 * @property {Model} model
 * @property {HTMLElement} el
 * @property {Record<string, any>} its
 * @property {(values: Record<string, any>) => void} put
 * @property {(name: string, label: string, range: number[], text?: number | ((value: number) => string),
 *   put?: (values: any) => void) => ReturnType<typeof slider>} knob
 * @property {(name: string, label: string, options: Option[], kind?: any) => ReturnType<typeof choice>} pick
 * @property {Listen} listen
 * @property {Listen} follow
 * @property {(then: () => void) => void} ends
 * @property {Say} say
 * @property {(asked: Omit<Parameters<typeof bet>[0], "inside" | "state"> | null) => ReturnType<typeof bet>} wager
 */

/** A whole number from least to most, as the values of addresses are asked for. */
export const whole = (n, least, most) => Number.isInteger(n) && n >= least && n <= most;

/**
 * Makes a figure from a drawing function: the default export of every figure module. See the head of this file.
 * allows: for traits that an address may set and whose values have more to them than a range, what their Python class
 * checks: { trait: (value, state) => boolean }.
 * @param {(tools: Tools) => any} draw
 * @param {string | { style: string, allows: Record<string, (value: any, state: any) => boolean> }} [about]
 */
export function figure(draw, about = "") {
  const { style, allows } = typeof about === "string" ? { style: about, allows: {} } : about;
  return {
    allows,
    /** @param {{ model: Model, el: HTMLElement }} view */
    async render({ model, el }) {
      const undo = [];
      const listen = (names, callback) => {
        const events = names.replace(/\S+/g, "change:$&");
        model.on(events, callback);
        undo.push(() => model.off(events, callback));
      };
      const put = (values) => {
        for (const [name, value] of Object.entries(values)) model.set(name, value);
        model.save_changes();
      };
      const bound = (name, control) => {
        listen(name, () => control.set(model.get(name)));
        return control;
      };
      const body = h("div", { class: "lm-body" }, style && h("style", {}, style));
      const live = liveRegion();
      undo.push(live.stop);
      hold(body);
      const printed = el.closest("figure.lm-figure");
      if (printed) {
        el.append(body);
        tasks(printed.querySelector("figcaption"));
      } else undo.push(framed(el, body, model, listen));
      const its = new Proxy({}, { get: (_, name) => model.get(String(name)) });
      await draw({
        model,
        el: body,
        its,
        put,
        knob: (name, label, [min, max, step = 1], text = String, to = put) => {
          const shown = typeof text === "number" ? (/** @type {number} */ v) => fmt.num(v, text) : text;
          const oninput = (/** @type {number} */ value) => to({ [name]: value });
          return bound(name, slider({ label, min, max, step, value: its[name], text: shown, oninput }));
        },
        pick: (name, label, options, kind = choice) => {
          const onchange = (/** @type {any} */ value) => put({ [name]: value });
          return bound(name, kind({ label, options, value: its[name], onchange }));
        },
        listen,
        follow: (names, callback) => {
          listen(names, callback);
          callback();
        },
        ends: (then) => undo.push(then),
        say: Object.assign(live.say, { node: live.node }),
        wager: (asked) => (asked ? bet({ ...asked, inside: body, state: { its, put, listen } }) : unasked()),
      });
      if (!body.contains(live.node)) body.append(live.node);
      return () => {
        for (const step of undo) step();
      };
    },
  };
}

function liveRegion() {
  const shown = h("p", { class: "lm-says", "aria-hidden": "true" });
  const read = h("p", { class: "lm-hidden", role: "status", "aria-live": "polite" });
  let timer = null;
  return {
    node: h("div", {}, shown, read),
    stop: () => clearTimeout(timer),
    say(sentence, { aloud = true } = {}) {
      shown.textContent = sentence;
      if (!aloud) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (read.textContent !== sentence) read.textContent = sentence;
      }, 350);
    },
  };
}

/**
 * A row of buttons, such as examples to try; arrows move between them. options: strings or [value, words]. set(v) marks
 * the one of this value, if there is one.
 * @param {{ label: string, options: Option[], onchoose: (value: any) => void }} options
 */
export function chips({ label, options, onchoose }) {
  const chip = (value, words) => ({ value, node: button(words, () => onchoose(value), { chip: true }) });
  const list = pairs(options).map(([value, words]) => chip(value, words));
  const group = h.group("lm-row", label, [list.map(({ node }) => node)]);
  roving(group, ".lm-chip");
  const name = h("span", { class: "lm-muted lm-small", "aria-hidden": "true" }, label);
  return {
    node: h("div", { class: "lm-control lm-chips" }, name, group),
    set: (/** @type {any} */ v) => {
      for (const { value, node } of list) node.ariaPressed = String(value === v);
    },
  };
}

/**
 * Calls draw(width) when the width of the node is known and whenever it changes, as long as the node lives; the figure
 * is drawn before that.
 * @type {(node: Element, draw: (width: number) => void) => void}
 */
export function onwidth(node, draw) {
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width > 0) draw(entry.contentRect.width);
  }).observe(node);
}

/**
 * A drawing as wide as its place: draw(width) when that is known and whenever it changes, and at redraw() from then on.
 * @param {string} kind
 * @param {(width: number) => void} draw
 */
export function plot(kind, draw) {
  const svg = s("svg", {});
  const node = h("div", { class: kind }, svg);
  let width = 0;
  const redraw = () => width && draw(width);
  onwidth(node, (wide) => {
    width = Math.floor(wide);
    redraw();
  });
  return { node, svg, redraw };
}

export const reducedMotion = () => globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
