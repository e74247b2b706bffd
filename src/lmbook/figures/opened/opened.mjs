// OpenTransformer: a drawn Transformer, or a half of one, that opens, from the whole to a block, a head and a number,
// on the reader's own sentence.
//
// Where it is open is said by `part` (a path, see __init__.py), at which word by `read` and `write`. The first view was
// computed by the package; for everything else the model is fetched (live.mjs) and asked (engine.mjs). The views are in
// views.mjs. Keys: up and down move, Enter opens, Escape closes, left and right change the word.
import { chips, figure, fmt, h, replace, roving, table } from "../kit/core.mjs";
import { formulaStyle } from "../kit/formula.mjs";
import { connect, ownText } from "../kit/live.mjs";
import { betOf, firstStyle, mapsOf } from "./first.mjs";
import { shapesStyle } from "./shapes.mjs";
import { nameOf, parsed, seen, stagesOf } from "./path.mjs";
import { viewOf } from "./views.mjs";

const BLANK = "____";
const style = `
.lmo-notes > p { display: inline; }
@media (hover: none), (max-width: 30rem) { .lmo-keys { display: none; } } /* a thumb has no keys */
.lmo-both { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem 1.8rem; align-items: start; }
.lmo-both > * { min-width: 0; }
.lmo-both > .lmo-said { order: 1; }
@container (min-width: 40rem) {
  .lmo-both { grid-template: auto auto auto 1fr / repeat(2, minmax(0, 1fr)); row-gap: 0.375rem; }
  .lm-figure .lmo-both .lmo-token { min-height: 1.5rem; }
  .lmo-both > * { grid-column: 2; }
  .lmo-both > .lmo-stage { grid-area: 1 / 1 / span 3; max-height: 28.5rem; padding: 3px; overflow-y: auto; }
  .lmo-both > .lmo-said { grid-area: 3 / 2 / span 2; }
  .lmo-both > .lmo-say { grid-area: 4 / 1; }
  .lm-figure .lmo-say .lm-says { min-height: 0; }
}
.lm-figure ol.lmo-way { display: flex; flex-wrap: wrap; gap: 0.1rem 0.35rem; align-items: center; margin: 0;
  padding: 0; list-style: none; font-size: 0.875rem; }
.lm-figure .lmo-way li { margin: 0; }
.lmo-way li + li::before { content: "›"; margin-right: 0.35rem; color: var(--lm-muted); }
.lmo-way [aria-current] { font-weight: 600; }
.lm-figure .lmo-way button { min-height: 1.5rem; padding: 0 0.25rem; border: 0; background: none;
  color: var(--lm-text); font: inherit; text-decoration: underline; cursor: pointer; }
.lmo-tokens { display: flex; flex-wrap: wrap; gap: 0.2rem; align-items: baseline; }
.lmo-tokens > :first-child { flex: 0 0 3.4rem; color: var(--lm-muted); font-size: 0.8125rem; }
.lmo-tokens > div { position: relative; display: flex; flex: 1 1 10rem; flex-wrap: wrap; gap: 0.2rem;
  max-height: 8.6rem; padding: 3px; overflow-y: auto; } /* of a long text four lines, which scroll */
.lm-figure .lmo-token { min-width: 1.5rem; min-height: 1.75rem; margin: 0; padding: 0.05rem 0.35rem;
  border: 1px solid transparent; border-radius: 5px; color: inherit; font: inherit; line-height: 1.4;
  background: color-mix(in srgb, var(--lm-1) var(--lmo-share, 0%), transparent); }
.lm-figure button.lmo-token { border-color: var(--lm-line); cursor: pointer; }
.lm-figure button.lmo-token:hover { border-color: var(--lm-edge); }
.lm-figure .lmo-token[data-now="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1);
  font-weight: 600; }
.lm-figure .lmo-token[data-later="true"] { border-style: dashed; color: var(--lm-muted); }
.lmo-stage[data-fresh="true"] svg { animation: lmo-open 0.25s ease-out; }
@keyframes lmo-open { from { opacity: 0.2; transform: scale(0.94); } }
.lmo-stage[aria-busy="true"] { opacity: 0.55; }
.lmo-level { outline: none; border-radius: 6px; }
${formulaStyle}${shapesStyle}${firstStyle}`;

const about = {
  style,
  allows: {
    // what an address may set
    part: (part, { about }) => parsed(part, about).path === part,
    text: (text, { about }) => text.length <= about.longest,
  },
};

export default figure(({ model, el, get, put, listen, say, wager }) => {
  const about = get("about");
  const first = get("first");
  const blanks = about.kind === "blank";
  const writesOn = about.kind === "next";
  const task = about.kind === "translator" ? "translate" : "tokens"; // what gives the tokens of a text
  const models = connect(model);
  const keyOf = (task, given) => JSON.stringify([task, ...Object.values(given)]);
  const known = new Map([[keyOf(task, { text: first.text }), first.found]]); // what the engine said, by what was asked
  const where = (text, side, places) => ({ text, side, place: places[side], blank: blanks ? places.target : 0 });
  for (const side of Object.keys(first.opened))
    known.set(keyOf("open", where(first.text, side, first.places)), first.opened[side]);
  for (const [side, stage, unit, found] of first.inside)
    known.set(keyOf("inside", { ...where(first.text, side, first.places), stage, unit }), found);
  let shown = null;
  let busy = false;
  let gone = false;
  let trouble = ""; // shown: the last state that could be drawn
  const chosen = new Map(); // by path: which of its parts

  const own = ownText({
    models,
    needed: [{ name: about.name, bytes: about.bytes }],
    label: about.asks,
    verb: about.verb,
    value: get("text"),
    maxlength: about.longest,
    work: (text) => ask(task, { text }),
    done: (found, text) => put({ text, ...begin(found) }),
  });
  /** Where a new text is opened first: a hidden word in its middle, the last character, the first word. */
  const begin = ({ source, target }) =>
    blanks
      ? { read: Math.floor(source.length / 2), write: Math.floor(source.length / 2) }
      : { read: 0, write: writesOn ? target.length - 1 : 0 };
  const examples = chips({
    label: "Examples",
    options: about.examples.map((text) => [text, text.length > 28 ? `${text.slice(0, 26).trim()} …` : text]),
    onchoose: (text) => own.put(text),
  });
  const way = h("ol", { class: "lmo-way", "aria-label": `Where the ${about.called} is open` });
  const lanes = {
    source: lane("reads", (t) => put({ read: t })),
    target: lane(blanks ? "hides" : writesOn ? "reads" : "writes", (t) =>
      put(blanks ? { write: t, read: t || get("read") } : { write: t }),
    ),
  };
  const rows = blanks ? [lanes.target, lanes.source] : writesOn ? [lanes.target] : [lanes.source, lanes.target];
  const stage = h("div", { class: "lmo-stage", role: "group", onkeydown: keys, onfocusin: marked });
  const formulas = h("div", {});
  const maps = h("div", {});
  const note = h("p", { class: "lm-small lm-muted" });
  const keysHint = h("span", { class: "lmo-keys" }, "; keys: ↑ ↓, Enter, Esc, ← →");
  const hint = h("p", { class: "lm-small lm-muted lm-hand" }, "Press a part to open it", keysHint, ".");
  const numbers = table({ caption: "What the drawing shows" });
  const start = parsed(get("part"), about);
  const asked = betOf(start, about, first);
  let bet = null;
  bet =
    asked &&
    wager({
      name: `opened-${about.kind}-${start.tower ?? start.end ?? "whole"}`,
      ...asked,
      hides: start.end ? [] : [stage, say.node, numbers.node, ...(start.look ? [maps] : [])],
      settled: () => bet && named(),
    });
  el.append(
    ...(bet ? [bet.node] : []),
    h("div", { class: "lmo-both" }, [
      h("div", { class: "lm-stack lmo-lanes" }, [rows.map((one) => one.node)]),
      way,
      stage,
      h("div", { class: "lm-stack lmo-said" }, maps, formulas, h("div", { class: "lmo-notes" }, note, " ", hint)),
      h("div", { class: "lmo-say" }, say.node),
    ]),
    own.node,
    examples.node,
    numbers.node,
  );

  /** The tokens of one side; those of the side that is looked at can be chosen. */
  function lane(name, move) {
    const list = h("div", { role: "group", "aria-label": `what it ${name}` });
    const group = roving(list, "button", { onmove: move });
    return {
      node: h("div", { class: "lmo-tokens" }, h("span", {}, name), list),
      draw(tokens, now, open, tints, causal = false) {
        const had = list.contains(document.activeElement);
        replace(list, [
          tokens.map(({ text }, t) =>
            open ? h("button", { type: "button", onclick: () => move(t) }, seen(text)) : h("span", {}, seen(text)),
          ),
        ]);
        /** @type {HTMLElement[]} */ ([...list.children]).forEach((one, t) => {
          one.className = "lmo-token";
          one.dataset.now = String(t === now);
          one.dataset.later = String(causal && t > now); // masked
          if (open) one.setAttribute("aria-pressed", String(t === now));
          if (tints) one.style.setProperty("--lmo-share", `${Math.round(70 * (tints[t] ?? 0))}%`);
        });
        group.refresh();
        const marked = /** @type {HTMLElement | undefined} */ (list.children[now]);
        list.scrollTop = Math.max(0, (marked?.offsetTop ?? 0) - 70);
        if (had && open) group.focus(now);
      },
    };
  }

  /** What the engine says, asked once. The model is fetched when it is first needed. */
  async function ask(what, given) {
    const key = keyOf(what, given);
    if (!known.has(key)) {
      await models.load(about.name);
      const ids =
        what === task ? {} : { ids: known.get(keyOf(task, { text: given.text })).target.map((token) => token.id) };
      known.set(key, await models.ask(what, { name: about.name, ...given, ...ids }));
    }
    return known.get(key);
  }

  /** What all heads of a layer look at, from everywhere, or null until that is known. */
  function looks(at, found) {
    if (at.kind !== "head" || at.number !== null || about.kind !== "translator") return null;
    const text = get("text");
    const [[number, unit]] = stagesOf(at, about);
    if (text === first.text && first.looks?.part === at.levels.at(-1).replace(/\d+$/, "")) return first.looks.weights;
    const all = found[at.side].map((_, t) => ({
      ...where(text, at.side, { ...first.places, [at.side]: t }),
      stage: number,
      unit,
    }));
    const rows = all.map((given) => known.get(keyOf("inside", given))?.weights);
    if (rows.every(Boolean))
      return rows[0].map((_, head) =>
        rows.map((row) => [...row[head], ...Array(rows.at(-1)[head].length - row[head].length).fill(0)]),
      );
    if (models.has(about.name))
      Promise.all(all.map((given) => ask("inside", given))).then(
        () => !gone && get("text") === text && !busy && draw(),
        () => {},
      );
    return null;
  }

  /** All that the present state needs, as questions to the engine. */
  function questions() {
    const at = parsed(get("part"), about);
    const text = get("text");
    const found = known.get(keyOf(task, { text }));
    if (!found) return { at, found, list: [[task, { text }]], places: null, place: 0, last: null };
    const last = {
      source: found.source.length - 1,
      target: blanks ? found.source.length - 2 : found.target.length - 1,
    };
    const places = {
      source: Math.max(0, Math.min(get("read"), last.source)),
      target: Math.max(0, Math.min(get("write"), last.target)),
    };
    const given = where(text, at.side, places);
    const list =
      at.kind === "whole" || at.kind === "block"
        ? [["open", given]]
        : stagesOf(at, about).map(([number, unit]) => ["inside", { ...given, stage: number, unit }]);
    return { at, found, places, place: places[at.side], last, list };
  }

  async function draw(fresh = false) {
    const wanted = questions();
    const missing = wanted.list.filter(([what, given]) => !known.has(keyOf(what, given)));
    if (!missing.length) return paint(wanted, fresh);
    if (busy) return undefined;
    busy = true;
    trouble = "";
    stage.setAttribute("aria-busy", "true");
    say(
      models.has(about.name)
        ? "The model computes it."
        : `The model computes it; it is fetched once, ${fmt.num(about.bytes / 1e6, 1)} MB.`,
    );
    try {
      for (const [what, given] of missing) await ask(what, given);
    } catch (error) {
      trouble = `That could not be opened: ${error.message}. What you see is the last view that could.`;
    }
    busy = false;
    stage.removeAttribute("aria-busy");
    if (gone) return undefined;
    if (!trouble) return draw(fresh);
    const words = trouble;
    put(shown ?? { part: "", text: first.text, read: first.places.source, write: first.places.target });
    return say(words);
  }

  let view = { parts: [] };
  /** The names of the parts tell no more than is seen. */
  const named = () => {
    for (const one of view.parts) one.name(!stage.classList.contains("lm-covered"));
  };

  function paint({ at, found, places, place, list }, fresh) {
    // what the decoder has read
    const before = writesOn ? found.target : [{ text: "<sos>" }, ...found.target.slice(0, -1)];
    const read = found.source.map((token, t) => (blanks && t && t === places.target ? { text: BLANK } : token));
    const causal = at.look === "self" && at.side === "target";
    const keysOf = causal ? before.slice(0, place + 1) : read;
    // an earlier word sees fewer
    if (at.kind === "head" && at.number !== null) at.number = Math.min(at.number, keysOf.length - 1);
    const word = (at.side === "source" ? read : before)[place].text;
    const answers = list.map(([what, given]) => known.get(keyOf(what, given)));
    const had = stage.contains(document.activeElement) || way.contains(document.activeElement);
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
      words: { read: read[places.source], written: found.target[places.target], before: before[places.target]?.text },
    });
    shown = { part: at.path, text: get("text"), read: get("read"), write: get("write") };
    stage.setAttribute(
      "aria-label",
      `${nameOf(at, { keys: keysOf })}, drawn. Up and down move, Enter opens, Escape closes, left and right ` +
        `change the ${about.unit}.`,
    );
    stage.dataset.fresh = String(fresh);
    replace(stage, [
      view.parts.length
        ? view.node
        : h("div", { class: "lmo-level", role: "group", tabindex: "0", "aria-label": view.words }, view.node),
    ]);
    for (const one of view.parts) {
      one.node.setAttribute("data-lm-suppress-shortcuts", "true");
      one.node.addEventListener("click", () => open(one.to));
    }
    named();
    mark(
      chosen.get(at.path) ??
        (at.kind === "whole" ? `${about.tower || "decoder"}.${about.n_layers}` : view.parts[0]?.to),
      had,
    );
    replace(way, [
      at.levels.map((level, k) => {
        const name = nameOf(parsed(level, about), { keys: keysOf });
        return h("li", {}, [
          k === at.levels.length - 1
            ? h("span", { "aria-current": "step" }, name)
            : h("button", { type: "button", onclick: () => open(level, at.levels[k + 1]) }, name),
        ]);
      }),
    ]);
    const whole = at.kind === "whole";
    const tinted = view.tints && !causal ? view.tints : null;
    const past = view.tints && causal ? view.tints.slice(writesOn ? 0 : 1) : null; // <sos> is not written
    const both = whole || at.side === "source";
    const other = whole || blanks || at.side === "target";
    lanes.source.draw(read, both ? places.source : -1, both, tinted ?? []);
    lanes.target.draw(
      blanks ? [{ text: "nothing" }, ...found.source.slice(1, -1).map(({ typed }) => ({ text: typed }))] : found.target,
      other ? places.target : -1,
      other,
      past ?? [],
      writesOn,
    );
    const seenBy = looks(at, found);
    replace(
      maps,
      seenBy ? mapsOf(seenBy, place, at.head, (k) => open(`${at.path.replace(/\d+$/, "")}${k + 1}`)) : null,
    );
    replace(formulas, view.formula);
    note.textContent = view.note ?? "";
    note.hidden = !view.note;
    hint.hidden = !view.parts.length; // nothing to open
    examples.set(get("text"));
    numbers.draw(view.table.rows, view.table.head);
    say(trouble || view.words);
    trouble = "";
  }

  /** Makes one part the one that Tab reaches. */
  function mark(to, focus = false) {
    const now = view.parts.find((one) => one.to === to) ?? view.parts[0];
    for (const one of view.parts) one.node.setAttribute("tabindex", one === now ? "0" : "-1");
    if (focus) (now?.node ?? stage.firstChild).focus();
    if (now) chosen.set(parsed(get("part"), about).path, now.to);
  }

  function marked({ target }) {
    const now = view.parts.find((one) => one.node === target);
    if (now) mark(now.to);
  }

  function open(to, from) {
    if (from) chosen.set(to, from);
    put({ part: to });
  }

  function keys(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { at } = questions();
    const here = view.parts.findIndex((one) => one.node === document.activeElement);
    const side = at.kind === "whole" && here >= 0 && /^(encoder|source)/.test(view.parts[here].to) ? "source" : at.side;
    const turn = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (turn && view.siblings) {
      // a number: the next one beside it
      const next = view.siblings[view.siblings.indexOf(view.number) + turn];
      if (next !== undefined) put({ part: `${at.levels.at(-2)}.${next + 1}` });
    } else if (turn) mark(view.parts[Math.max(0, Math.min(view.parts.length - 1, here + turn))].to, true);
    else if (step) {
      const { last, places } = questions();
      if (places)
        put({ [side === "source" ? "read" : "write"]: Math.max(0, Math.min(last[side], places[side] + step)) });
    } else if ((event.key === "Enter" || event.key === " ") && here >= 0) open(view.parts[here].to);
    else if (event.key === "Escape" && at.levels.length > 1) open(at.levels.at(-2), at.levels.at(-1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  listen("part", () => draw(true));
  listen("text read write", () => draw());
  draw();
  return () => {
    gone = true;
    own.stop();
    models.stop();
  };
}, about);
