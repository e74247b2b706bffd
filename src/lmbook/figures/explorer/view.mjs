// The two lists of the n-gram explorer: the likeliest next words, and the way down from the longest history to uniform.
// Every order has one colour and one pattern in both; order 0, uniform, is an empty box.
import { button, fmt, h, replace, roving } from "../kit/core.mjs";
import { named, share, times } from "./words.mjs";

export const style = `
.lm-figure .lmx { container-type: inline-size; }
@media print { .lm-figure .lmx { container-type: normal; } }
  /* what knows its width cannot go on on the next page */
.lm-figure .lmx > * + * { margin-top: 0.8rem; }
.lmx .lmx-go { display: flex; flex-wrap: wrap; gap: 0.5rem 0.8rem; align-items: center; }
.lmx .lmx-go > :first-child { flex: 1 1 14rem; flex-wrap: nowrap; }
.lmx .lmx-head { font-weight: 600; }
.lmx .lmx-heads.lmx-row { color: var(--lm-muted); font-size: 0.8125rem; }
.lmx .lmx-head span { color: var(--lm-muted); font-weight: 400; font-size: 0.875rem; }
.lmx .lm-choice legend { width: 100%; }
.lmx :is(ol, li) { margin: 0; padding: 0; list-style: none; }
.lmx .lmx-off { border-color: var(--lm-line); color: var(--lm-muted); }
.lmx .lmx-off input { opacity: 0.5; }
.lmx .lmx-score { display: flex; flex-wrap: wrap; gap: 0 0.7rem; align-items: baseline; padding: 0.45rem 0.7rem;
  border-radius: 6px; background: var(--lm-soft); }
.lmx .lmx-score b { font-size: 1.25rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.lmx .lmx-score span { color: var(--lm-muted); font-size: 0.875rem; }
.lmx .lmx-sight { min-height: 2.9em; }
.lmx .lmx-sight b { border-bottom: 2px solid var(--lm-1); }

.lmx .lmx-row { display: block; width: 100%; margin: 0; padding: 0.22rem 0.4rem; border: 0; border-radius: 6px;
  background: none; color: inherit; font: inherit; line-height: 1.3; text-align: left; }
.lmx button.lmx-row { cursor: pointer; }
.lmx button.lmx-row:hover { background: var(--lm-soft); }
.lmx .lmx-cols { display: grid; grid-template-columns: 7.5rem minmax(4rem, 1fr) 5.6rem 6.2rem; gap: 0 0.7rem;
  align-items: center; }
.lmx .lmx-top { padding: 0 0.4rem; color: var(--lm-muted); font-size: 0.8125rem; }
.lmx .lmx-p, .lmx .lmx-raw { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.lmx .lmx-raw { color: var(--lm-muted); }
.lmx .lmx-name { overflow-wrap: anywhere; }
.lmx .lmx-track { position: relative; display: block; height: 0.85rem; border-radius: 2px; background: var(--lm-soft); }
.lmx .lmx-fill { position: absolute; inset: 0 auto 0 0; display: flex; width: 0; border-radius: 2px; overflow: hidden;
  transition: width 0.25s ease-out; }
.lmx .lmx-thin { display: block; width: 0; height: 3px; margin-top: 2px; background: var(--lm-text);
  transition: width 0.25s ease-out; }
.lmx .lmx-far { height: 7px; margin-top: 0; clip-path: polygon(0 33%, calc(100% - 8px) 33%, calc(100% - 8px) 0,
  100% 50%, calc(100% - 8px) 100%, calc(100% - 8px) 67%, 0 67%); }
.lmx .lmx-piece { flex: none; background-color: var(--lm-tone); }
.lmx .lmx-piece[data-order="4"] {
  background-image: repeating-linear-gradient(45deg, transparent 0 4px, var(--lm-paper) 4px 5.5px); }
.lmx .lmx-piece[data-order="3"] {
  background-image: radial-gradient(var(--lm-paper) 1.1px, transparent 1.5px); background-size: 5px 5px; }
.lmx .lmx-piece[data-order="2"] {
  background-image: repeating-linear-gradient(90deg, transparent 0 3px, var(--lm-paper) 3px 4.5px); }
.lmx .lmx-piece[data-order="1"] {
  background-image: repeating-linear-gradient(0deg, transparent 0 2.5px, var(--lm-paper) 2.5px 4px); }
.lmx .lmx-piece[data-order="0"] { background: var(--lm-paper); box-shadow: inset 0 0 0 1px var(--lm-edge); }

.lmx :is(.lmx-level .lmx-row, .lmx-heads) { display: grid; gap: 0 0.7rem;
  grid-template-columns: minmax(0, 1.2fr) minmax(0, 1.3fr) minmax(0, 1fr) 5.6rem; align-items: center; }
.lmx .lmx-level.lmx-beyond { color: var(--lm-muted); }
.lmx .lmx-swatch { display: inline-block; width: 1.5rem; height: 0.85rem; margin-right: 0.45rem; border-radius: 2px;
  vertical-align: -0.08em; }
.lmx .lmx-step { position: absolute; inset: 0 auto 0 0; border-radius: 2px;
  transition: left 0.25s ease-out, width 0.25s ease-out; }
.lmx .lmx-times { white-space: nowrap; font-variant-numeric: tabular-nums; }
.lmx .lmx-times > i { display: inline-block; width: max(1px, var(--lmx-log) * var(--lmx-long, 2.2rem));
  height: 0.6rem; margin-right: 0.3rem; background: var(--lm-edge); }
.lmx .lmx-about { color: var(--lm-muted); }
.lmx .lmx-lines { max-height: 11rem; margin: 0 0.4rem 0.5rem; padding: 0.4rem 0.6rem; overflow: auto;
  border-left: 3px solid var(--lm-tone); background: var(--lm-soft); font-size: 0.875rem; }
.lmx .lmx-lines p + p { margin-top: 0.2rem; }
.lmx .lmx-lines u { text-underline-offset: 2px; text-decoration-thickness: 2px; }
@container (min-width: 40rem) {
  .lmx .lmx-cols { grid-template-columns: 5rem minmax(4rem, 1fr) 4.4rem 5.2rem; gap: 0 0.5rem; }
  .lmx li:not(.lmx-level) > .lmx-row { min-height: 1.5rem; padding-block: 0.08rem; }
  .lmx .lmx-times { --lmx-long: 4.5rem; }
  .lmx :is(.lmx-level .lmx-row, .lmx-heads) { padding-block: 0.15rem;
    grid-template-columns: 15rem 13rem minmax(0, 1fr) 5.6rem; }
  .lm-figure .lmx > * + * { margin-top: 0.3rem; }
}
@container (max-width: 30rem) {
  .lmx .lmx-cols { grid-template-columns: 5.4rem minmax(3rem, 1fr) 5.2rem; gap: 0 0.5rem; }
  .lmx .lmx-raw { display: none; }
  .lmx .lmx-level .lmx-name { grid-column: 1 / 3; }
  .lmx .lmx-level .lmx-p { grid-area: 1 / 3; }
  .lmx .lmx-level .lmx-track { grid-column: 2 / -1; }
  .lmx .lmx-level .lmx-row { grid-template-columns: 9rem minmax(0, 1fr) 5.6rem; }
  .lmx { display: flex; flex-direction: column; }
  .lm-figure .lmx > .lm-split > * { margin-top: 0.8rem; }
  .lmx > .lm-split { display: contents; }
  .lmx .lmx-off { display: none; } /* what is moved stands right above what it changes */
  .lmx .lmx-heads.lmx-row { display: none; }
}
`;

const piece = (order, name = "", css = {}) =>
  h("span", { class: `lmx-piece ${name}`, "data-order": order, "data-tone": order, "aria-hidden": "true", style: css });

// draw(words): a row for each { word, p, raw, of, parts: [[order, mass], ...] }; choose(word) when one is pressed.
export function nextWords(count, choose) {
  const list = h("ol", { "aria-label": "The likeliest next words" });
  const rows = Array.from({ length: count }, () => {
    const names = ["name", "p", "raw", "fill", "thin"];
    const row = Object.fromEntries(names.map((name) => [name, h("span", { class: `lmx-${name}` })]));
    const chart = h("span", { "aria-hidden": "true" }, h("span", { class: "lmx-track" }, row.fill), row.thin);
    const hint = h("span", { class: "lm-hidden" }, "Add it to the history.");
    const parts = [row.name, " ", chart, " ", row.p, " ", row.raw, " ", hint];
    const add = button(parts, () => choose(row.word), { class: "lmx-row lmx-cols" });
    row.node = h("li", {}, add);
    list.append(row.node);
    return row;
  });
  const scale = h("span", {});
  const top = h("div", { class: "lmx-cols lmx-top", "aria-hidden": "true" }, [
    h("span", {}, "next word"),
    h("span", {}, "line: raw share; to ", scale),
    h("span", { class: "lmx-p" }, "probability"),
    h("span", { class: "lmx-raw" }, "raw count"),
  ]);
  const keys = roving(list, "li:not([hidden]) > button");
  return {
    node: h("div", {}, top, list),
    draw(words) {
      const longest = Math.max(...words.map(({ p }) => p));
      scale.textContent = fmt.share(longest, 4);
      rows.forEach((row, i) => {
        row.node.hidden = i >= words.length;
        if (row.node.hidden) return;
        const { word, p, raw, of, parts } = words[i];
        row.word = word;
        row.name.textContent = word;
        row.p.textContent = p === 1 ? "1" : fmt.share(p, 4);
        row.raw.textContent = of ? `${fmt.count(raw)} of ${fmt.count(of)}` : "no count";
        row.fill.style.width = `${(100 * p) / longest}%`;
        const share = of ? raw / of / longest : 0;
        row.thin.style.width = `${100 * Math.min(1, share)}%`;
        row.thin.classList.toggle("lmx-far", share > 1); // it goes on beyond the frame
        replace(row.fill, [parts.map(([order, mass]) => piece(order, "", { width: `${(100 * mass) / p}%` }))]);
      });
      keys.refresh();
    },
  };
}

// draw(levels, most): a row for each { order, history, total, used, gives, left, about, lines() }, orders to 0; most is
// the largest total. A row says how often its history was seen, and unfolds to why it gives what it gives, and to the
// lines.
export function wayDown(orders) {
  const list = h("ol", { "aria-label": "The way down from the longest history to the uniform distribution" });
  const rows = Array.from({ length: orders + 1 }, (_, i) => {
    const order = orders - i;
    const names = ["name", "times", "p"];
    /** @type {Record<string, any>} */
    const row = { order, ...Object.fromEntries(names.map((name) => [name, h("span", { class: `lmx-${name}` })])) };
    row.step = piece(order, "lmx-step");
    row.lines = h("div", { class: "lmx-lines", role: "region", tabindex: "0", hidden: true });
    const track = h("span", { class: "lmx-track", "aria-hidden": "true" }, row.step);
    const parts = [row.name, " ", row.times, " ", track, " ", row.p];
    row.button = button(parts, () => show(row, row.lines.hidden), { class: "lmx-row" });
    row.node = h("li", { class: "lmx-level", "data-tone": order }, row.button, row.lines);
    list.append(row.node);
    return row;
  });
  const keys = roving(list, "li:not([hidden]) > button");
  const heads = ["history", "seen in the text (bar: logarithm)", "its share of the probability", ""];
  const top = h("div", { class: "lmx-row lmx-heads", "aria-hidden": "true" }, [heads.map((one) => h("span", {}, one))]);
  function show(row, open) {
    row.button.setAttribute("aria-expanded", String(open));
    row.lines.hidden = !open;
    row.lines.setAttribute("aria-label", `Order ${row.order}: the training text around ${named(row.level.history)}`);
    replace(row.lines, open ? [h("p", { class: "lmx-about" }, row.level.about), row.level.lines()] : []);
  }
  return {
    node: h("div", {}, top, list),
    draw(levels, most) {
      for (const row of rows) {
        const level = levels.find(({ order }) => order === row.order);
        row.node.hidden = !level;
        if (!level) continue;
        const { order, history, total, used, gives, left } = level;
        row.level = level;
        replace(row.name, piece(order, "lmx-swatch"), order ? named(history) : "every word alike");
        const log = h("i", { style: { "--lmx-log": (Math.log1p(total) / Math.log1p(most)).toFixed(3) } });
        replace(row.times, order > 0 && [log, total ? `seen ${times(total)}` : "never seen"]);
        row.p.textContent = used ? `gives ${share(gives)}` : "not asked";
        row.node.classList.toggle("lmx-beyond", !used);
        row.step.style.left = `${100 * (1 - left)}%`;
        row.step.style.width = `${100 * gives}%`;
        show(row, !row.lines.hidden);
      }
      keys.refresh();
    },
  };
}
