// OpenTransformer: a drawn Transformer, or a half of one, that opens, from the whole to a block, a head and a number,
// on the reader's own sentence.
//
// Where it is open is said by `part` (a path, see __init__.py), at which word by `read` and `write`. The first view was
// computed by the package; for everything else the model is fetched (live.mjs) and asked (engine.mjs). The views are in
// views.mjs. Keys: up and down move, Enter opens, Escape closes, left and right change the word.
import { figure, fmt, h, replace, roving, table } from "../kit/core.mjs";
import { answersOf } from "./answers.mjs";
import { connect, ownText, sentences } from "../kit/live.mjs";
import { betOf, mapsOf } from "./first.mjs";
import { lane } from "./lanes.mjs";
import { style } from "./opened-style.mjs";
import { nameOf, parsed } from "./path.mjs";
import { viewOf } from "./views.mjs";

const BLANK = "____";
const about = {
  style,
  allows: {
    part: (part, { about }) => parsed(part, about).path === part,
    text: (text, { about }) => text.length <= about.longest,
  },
};

export default figure(({ model, el, its, put, follow, ends, say, wager }) => {
  const { about, first } = its;
  const blanks = about.kind === "blank";
  const writesOn = about.kind === "next";
  const models = connect(model, ends);
  const { task, get: known, ask, questions, looks } = answersOf(about, first, models);
  const state = () => ({ part: its.part, text: its.text, read: its.read, write: its.write });
  let shown = null;
  let busy = false;
  let trouble = ""; // shown: the last state that could be drawn
  const chosen = new Map(); // by path: which of its parts

  const own = ownText({
    models,
    needed: [{ name: about.name, bytes: about.bytes }],
    label: about.asks,
    verb: about.verb,
    value: its.text,
    maxlength: about.longest,
    work: (text) => ask(task, { text }),
    done: (found, text) => put({ text, ...begin(found) }),
  });
  /** Where a new text is opened first: a hidden word in its middle, the last character, the first word. */
  const begin = ({ source, target }) =>
    blanks
      ? { read: Math.floor(source.length / 2), write: Math.floor(source.length / 2) }
      : { read: 0, write: writesOn ? target.length - 1 : 0 };
  const examples = sentences(about.examples, (text) => own.put(text));
  const way = h("ol", { class: "lmo-way", "aria-label": `Where the ${about.called} is open` });
  const lanes = {
    source: lane("reads", (t) => put({ read: t })),
    target: lane(blanks ? "hides" : writesOn ? "reads" : "writes", (t) =>
      put(blanks ? { write: t, read: t || its.read } : { write: t }),
    ),
  };
  const rows = blanks ? [lanes.target, lanes.source] : writesOn ? [lanes.target] : [lanes.source, lanes.target];
  const stage = h("div", { class: "lmo-stage", role: "group", onkeydown: keys });
  const group = roving(stage, ".lmo-part", { keys: "vertical" });
  const formulas = h("div", {});
  const maps = h("div", {});
  const note = h.small();
  const keysHint = h("span", { class: "lmo-keys" }, "; keys: ↑ ↓, Enter, Esc, ← →");
  const hint = h("p", { class: "lm-small lm-muted lm-hand" }, "Press a part to open it", keysHint, ".");
  const numbers = table({ caption: "What the drawing shows" });
  const start = parsed(its.part, about);
  const asked = betOf(start, about, first);
  const bet = wager(
    asked && {
      name: `opened-${about.kind}-${start.tower ?? start.end ?? "whole"}`,
      of: "text read write",
      ...asked,
      hides: start.end ? [stage] : [stage, say.node, numbers.node, ...(start.look ? [maps] : [])],
      settled: draw,
    },
  );
  el.append(
    h.onstage("Inside", bet.node),
    h("div", { class: "lmo-both" }, [
      h.onstage("Inside Sentence", h("div", { class: "lm-stack lmo-lanes" }, [rows.map((one) => one.node)])),
      h.onstage("Inside Formulae", way),
      h.onstage("Inside Formulae", stage),
      h("div", { class: "lm-stack lmo-said" }, [
        h.onstage("Inside", maps),
        h.onstage("Formulae", formulas),
        h.onstage("Formulae", h("div", { class: "lmo-notes" }, note, " ", hint)),
      ]),
      h.onstage("Inside", h("div", { class: "lmo-say" }, say.node)),
    ]),
    h.onstage("Sentence", own.node),
    h.onstage("Sentence", examples.node),
    numbers.node,
  );

  /** Whether the view is the one about which a bet was taken. */
  const isFirst = ({ path }, /** @type {any} */ { source, target }) =>
    path === start.path && its.text === first.text && source === first.places.source && target === first.places.target;

  async function draw() {
    const wanted = questions(state());
    const missing = wanted.list.filter(([what, given]) => !known(what, given));
    if (!missing.length) return paint(wanted);
    if (busy) return undefined;
    busy = true;
    trouble = "";
    stage.setAttribute("aria-busy", "true");
    const fetched = `; it is fetched once, ${fmt.num(about.bytes / 1e6, 1)} MB`;
    say(`The model computes it${models.has(about.name) ? "" : fetched}.`);
    try {
      for (const [what, given] of missing) await ask(what, given);
    } catch (error) {
      trouble = `That could not be opened: ${error.message}. What you see is the last view that could.`;
    }
    busy = false;
    stage.removeAttribute("aria-busy");
    if (!trouble) return draw();
    const words = trouble;
    put(shown ?? { part: "", text: first.text, read: first.places.source, write: first.places.target });
    return say(words);
  }

  let view = { parts: [] };
  /** The names of the parts tell no more than is seen. */
  const named = () => {
    for (const one of view.parts) one.name(!stage.classList.contains("lm-covered"));
  };

  function paint({ at, found, places, place, list }) {
    // what the decoder has read
    const before = writesOn ? found.target : [{ text: "<sos>" }, ...found.target.slice(0, -1)];
    const read = found.source.map((token, t) => (blanks && t && t === places.target ? { text: BLANK } : token));
    const causal = at.look === "self" && at.side === "target";
    const keysOf = causal ? before.slice(0, place + 1) : read;
    // an earlier word sees fewer
    if (at.kind === "head" && at.number !== null) at.number = Math.min(at.number, keysOf.length - 1);
    const word = (at.side === "source" ? read : before)[place].text;
    const answers = list.map(([what, given]) => known(what, given));
    const had = stage.contains(document.activeElement) || way.contains(document.activeElement);
    if (shown && view.parts.length) chosen.set(shown.part, view.parts[group.index].to);
    view = viewOf({
      at,
      about,
      keys: keysOf,
      word,
      place,
      total: (at.side === "source" ? read : before).length,
      trace: answers[0],
      stages: answers,
      hidden: blanks && place === places.target,
      left: found.left ?? "",
      said: isFirst(at, places) ? bet.answer : null,
      words: { read: read[places.source], written: found.target[places.target] },
    });
    shown = { ...state(), part: at.path };
    stage.ariaLabel =
      `${nameOf(at, { keys: keysOf })}, drawn. Up and down move, Enter opens, Escape closes, left and right ` +
      `change the ${about.unit}.`;
    const level = { class: "lmo-level", role: "group", tabindex: "0", "aria-label": view.words };
    replace(stage, view.parts.length ? view.node : h("div", level, view.node));
    for (const one of view.parts) one.node.addEventListener("click", () => open(one.to));
    named();
    const last = `${about.tower || "decoder"}.${about.n_layers}`; // of the whole
    const i = view.parts.findIndex(({ to }) => to === (chosen.get(at.path) ?? last));
    group.refresh(i);
    if (had) /** @type {HTMLElement} */ (view.parts[group.index]?.node ?? stage.firstChild).focus();
    const step = (/** @type {string} */ level, /** @type {number} */ k) => {
      const name = nameOf(parsed(level, about), { keys: keysOf });
      const back = () => h("button", { type: "button", onclick: () => open(level, at.levels[k + 1]) }, name);
      return h("li", {}, level === at.levels.at(-1) ? h("span", { "aria-current": "step" }, name) : back());
    };
    replace(way, at.levels.map(step));
    const whole = at.kind === "whole";
    const { tints = [] } = view;
    const past = tints.slice(writesOn ? 0 : 1); // <sos> is not written
    const both = whole || at.side === "source";
    const other = whole || blanks || at.side === "target";
    const hides = () => [{ text: "nothing" }, ...found.source.slice(1, -1).map(({ typed }) => ({ text: typed }))];
    lanes.source.draw(read, both ? places.source : -1, both, causal ? [] : tints);
    const written = blanks ? hides() : found.target;
    lanes.target.draw(written, other ? places.target : -1, other, causal ? past : [], writesOn);
    const text = its.text;
    const seenBy = looks(at, found, text, () => its.text === text && !busy && draw());
    const focused = [...maps.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement));
    const head = (/** @type {number} */ k) => open(`${at.path.replace(/\d+$/, "")}${k + 1}`);
    replace(maps, seenBy && mapsOf(seenBy, place, at.head, head));
    maps.querySelectorAll("button")[focused]?.focus(); // the same head, drawn anew
    replace(formulas, view.formula);
    note.textContent = view.note ?? "";
    note.hidden = !view.note;
    hint.hidden = !view.parts.length; // nothing to open
    examples.set(its.text);
    numbers.draw(view.table.rows, view.table.head);
    say(trouble || view.words);
    trouble = "";
  }

  function open(to, from) {
    if (from) chosen.set(to, from);
    put({ part: to });
  }

  function keys(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { at, last, places } = questions(state());
    const here = view.parts.findIndex((one) => one.node === document.activeElement);
    const side = at.kind === "whole" && here >= 0 && /^(encoder|source)/.test(view.parts[here].to) ? "source" : at.side;
    const turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (turn && view.siblings) {
      // a number: the next one beside it
      const next = view.siblings[view.siblings.indexOf(view.number) + turn];
      if (next !== undefined) put({ part: `${at.levels.at(-2)}.${next + 1}` });
    } else if (step && places)
      put({ [side === "source" ? "read" : "write"]: Math.max(0, Math.min(last[side], places[side] + step)) });
    else if ((event.key === "Enter" || event.key === " ") && here >= 0) open(view.parts[here].to);
    else if (event.key === "Escape" && at.levels.length > 1) open(at.levels.at(-2), at.levels.at(-1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  follow("part text read write", draw);
}, about);
