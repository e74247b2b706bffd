// AlignmentExplorer: a caption put together from options, its translation, and where each word of it looks.
//
//   grid[combination] = T signs for the words of the translation, then T x N signs for weights 0.00 .. 1.00
//
// Nothing is computed in the page: translations and weights are those of the trained model, looked up here.
import { figure, fmt, h, onwidth, replace, roving, s, select, table } from "./core.mjs";

const style = `
.lm-figure .lma-slots { display: flex; flex-wrap: wrap; gap: 0.3rem 0.8rem; }
.lm-figure .lma-slots .lm-control { margin: 0; }
.lm-figure .lma-slots label { display: block; font-size: 0.8125rem; }
.lm-figure .lma-row { display: flex; flex-wrap: wrap; gap: 0.25rem; align-items: flex-end; margin: 0.3rem 0 0.6rem; }
.lm-figure .lma-head { margin: 0.7rem 0 0; }
.lm-figure .lma-source { display: flex; flex-direction: column; align-items: center; min-width: 2.6rem; padding: 0 0.15rem; line-height: 1.3; }
.lm-figure .lma-track { display: flex; align-items: flex-end; width: 1.5rem; height: 3rem; border-bottom: 1px solid var(--lm-edge); }
.lm-figure .lma-bar { width: 100%; background: var(--lm-1); border-radius: 3px 3px 0 0; }
.lm-figure .lma-source small { font-variant-numeric: tabular-nums; }
.lm-figure .lma-most { font-weight: 700; }
.lm-figure .lma-word { display: flex; flex-direction: column; align-items: center; min-width: 2.6rem; padding: 0.2rem 0.35rem; line-height: 1.25; border: 1px solid var(--lm-edge);
  border-radius: 6px; background: var(--lm-paper); color: inherit; font: inherit; cursor: pointer; }
.lm-figure .lma-word[aria-pressed="true"] { border: 2px solid var(--lm-1); font-weight: 700; }
.lm-figure .lma-word small { font-size: 0.75rem; font-weight: 400; color: var(--lm-muted); }
.lm-figure .lma-cell { fill: var(--lm-1); }
.lm-figure .lma-frame { fill: none; stroke: var(--lm-edge); stroke-width: 1; }
.lm-figure .lma-now { fill: none; stroke: var(--lm-1); stroke-width: 2; }
`;

/** The words of the caption for the chosen options: [[label, [[one, several], ..]], ..]. */
export function sourceOf(slots, article, chosen) {
  const several = chosen[0] === 1 ? 1 : 0;
  const words = [];
  slots.forEach(([, options], slot) => {
    if (slot === article) words.push("a");
    words.push(...options[chosen[slot]][several].split(" ").filter(Boolean));
  });
  return [...words, "."];
}

/** The translation [[word, what it stands for], ..] and its rows of weights. */
export function look(entry, signs, words, N) {
  const values = [...entry].map((sign) => signs.indexOf(sign));
  const T = values.length / (1 + N);
  const rows = Array.from({ length: T }, (_, t) => values.slice(T + t * N, T + (t + 1) * N).map((value) => value / 100));
  return { target: values.slice(0, T).map((value) => words[value]), rows };
}

export default figure(({ model, el, listen, say }) => {
  const get = (name) => model.get(name);
  const slots = get("slots");
  const signs = [...get("signs")];
  const selects = slots.map(([label, options], slot) => select({ label, value: get("chosen")[slot],
    options: options.map(([one, several], i) => [i, one === several ? one || "none" : `${one}, ${several}`]),
    onchange: (value) => {
      model.set("chosen", get("chosen").map((old, i) => (i === slot ? value : old)));
      model.save_changes();
    } }));
  const english = h("div", { class: "lma-row", "aria-hidden": "true" });
  const harbourish = h("div", { class: "lma-row", role: "group", "aria-label": "Translation, word by word" });
  const chart = h("div", { class: "lm-chart", "aria-hidden": "true" });
  const numbers = table({ caption: "Weights, a row for each word of the translation" });
  const head = (words) => h("p", { class: "lma-head lm-small lm-muted" }, words);
  el.append(h("style", {}, style), h("div", { class: "lma-slots" }, selects.map((one) => one.node)),
    head("English, with the weight of each word"), english, head("Harbourish: choose a word"), harbourish, chart, numbers.node);
  let [width, drawn] = [520, null];

  const number = () => slots.reduce((place, [, options], slot) => place * options.length + get("chosen")[slot], 0);
  const now = () => {
    const source = sourceOf(slots, get("article"), get("chosen"));
    return { source, ...look(get("grid")[number()], signs, get("words"), source.length) };
  };
  const choose = (t) => {
    if (t === get("word")) return;
    model.set("word", t);
    model.save_changes();
  };
  const group = roving(harbourish, ".lma-word", { onmove: choose });

  function drawWords({ target }) {
    replace(harbourish, target.map(([word, gloss], t) => h("button", { type: "button", class: "lma-word",
      onclick: () => choose(t), onmouseenter: () => choose(t), onfocus: () => choose(t) }, h("span", {}, word), " ", h("small", {}, gloss || "\u00a0"))));
    group.refresh();
  }

  function drawChart({ source, target, rows }, t) {
    const left = 78;
    const top = 70;
    const cell = Math.max(14, Math.min(30, (width - left - 4) / source.length));
    const [wide, tall] = [left + cell * source.length + 2, top + cell * target.length + 2];
    const parts = source.map((word, i) => s("text", { class: "lm-tick", x: 0, y: 0,
      transform: `translate(${left + (i + 0.65) * cell} ${top - 6}) rotate(-60)` }, word));
    target.forEach(([word], k) => {
      parts.push(s("text", { class: "lm-tick", x: left - 6, y: top + (k + 0.5) * cell + 4, "text-anchor": "end" }, word));
      rows[k].forEach((weight, i) => {
        if (weight > 0) parts.push(s("rect", { class: "lma-cell", x: left + i * cell, y: top + k * cell, width: cell, height: cell, "fill-opacity": weight }));
      });
    });
    parts.push(s("rect", { class: "lma-frame", x: left, y: top, width: cell * source.length, height: cell * target.length }));
    parts.push(s("rect", { class: "lma-now", x: left, y: top + t * cell, width: cell * source.length, height: cell }));
    replace(chart, s("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall }, parts));
  }

  function draw() {
    const all = now();
    const { source, target, rows } = all;
    const t = Math.min(get("word"), target.length - 1);
    selects.forEach((one, slot) => one.set(get("chosen")[slot]));
    if (drawn !== number()) { drawWords(all); drawn = number(); }
    [...harbourish.children].forEach((word, k) => word.setAttribute("aria-pressed", String(k === t)));
    const order = rows[t].map((weight, i) => [weight, i]).sort(([a, i], [b, j]) => b - a || i - j);
    const best = order[0][1];
    replace(english, source.map((word, i) => h("div", { class: `lma-source${i === best ? " lma-most" : ""}` },
      h("div", { class: "lma-track" }, h("div", { class: "lma-bar", style: { height: `${100 * rows[t][i]}%` } })),
      h("span", {}, word), h("small", {}, fmt.num(rows[t][i], 2)))));
    drawChart(all, t);
    numbers.draw(target.map(([word], k) => [word, ...rows[k].map((weight) => fmt.num(weight, 2))]), ["word", ...source]);
    const [word, gloss] = target[t];
    const next = order[1] && order[1][0] >= 0.05 ? `, then at ${fmt.quote(source[order[1][1]])} (${fmt.num(order[1][0], 2)})` : "";
    const right = get("wrong")[number()];
    say(`Word ${t + 1} of ${target.length}, ${fmt.quote(word)}${gloss ? ` (${gloss})` : ""}, looks most at ${fmt.quote(source[best])}, `
      + `word ${best + 1}, with weight ${fmt.num(order[0][0], 2)}${next}. `
      + (right ? `The translation is wrong; right is ${fmt.quote(right)}` : "The translation is right."));
  }

  listen("chosen word", draw);
  const stop = onwidth(chart, (w) => { width = Math.round(w); const all = now(); drawChart(all, Math.min(get("word"), all.target.length - 1)); });
  draw();
  return stop;
});
