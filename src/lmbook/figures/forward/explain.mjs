// What is said of a unit of the forward pass: where its number comes from.
import { fmt, grid, h } from "../kit/core.mjs";
import { gives, sources } from "./pass.mjs";

export const style = `
.lmfp-detail ul { margin: 0.2rem 0; padding-left: 1.1rem; }
.lmfp-detail :is(li, p) { margin: 0 0 0.2rem; overflow-wrap: anywhere; }
.lmfp-detail .lmfp-sum { font-weight: 600; }
.lm-figure .lmfp-gives table { display: table; width: 100%; margin: 0.4rem 0; border-collapse: separate;
  border-spacing: 4px 2px; table-layout: fixed; font: inherit; }
.lm-figure .lmfp-gives tr { background: none !important; }
.lm-figure .lmfp-gives :is(th, td) { padding: 0.1rem 0.3rem; border: 0; font-weight: 400; text-align: center;
  overflow-wrap: anywhere; }
.lm-figure .lmfp-gives th:first-child { text-align: left; font-weight: 600; }
.lm-figure .lmfp-gives td { padding: 0; }
.lm-figure .lmfp-gives div { padding: 0.1rem 0.3rem; border: 1px dashed var(--lm-line); border-radius: 4px;
  color: var(--lm-muted); font-variant-numeric: tabular-nums; }
.lm-figure .lmfp-gives .lmfp-used { border: 2px solid var(--lm-text); color: inherit; font-weight: 600; }
.lm-figure .lmfp-gives i { display: block; height: 0.7rem; border-bottom: 1px solid var(--lm-line);
  background: linear-gradient(90deg, transparent var(--lmfp-from), var(--lmfp-tone) 0 var(--lmfp-to), transparent 0)
    0 0 / 100% 0.55rem no-repeat; }
@container (min-width: 40rem) {
  .lm-figure .lmfp-gives i { display: inline-block; width: calc(100% - 3.6rem); }
  .lm-figure .lmfp-gives div > span { display: inline-block; width: 3.5rem; text-align: right; }
}
`;

export const num = (v) => fmt.num(v, 3);
/** e_3 with its index below the line. */
export const named = (/** @type {string} */ unit) => [unit[0], h("sub", {}, unit.slice(1))];
export const inside = (v) => (v < 0 ? `(${num(v)})` : num(v)); // a factor of a product
export const PLACES = ["3 back", "2 back", "1 back"];

const ends = (list, n) => {
  const sorted = [...list].sort((x, y) => y[1] - x[1]);
  return [sorted.slice(0, n), sorted.slice(-n).reverse()];
};
const told = (list) => list.map(([word, v]) => `${fmt.quote(word)} ${fmt.num(v, 2)}`).join(", ");

/** open: whether a bet hides what the words would give at other places. */
export function explain({ net, now, usable, history, chosen, open }) {
  const width = net.E[0].length;
  const word = (/** @type {number} */ i) => fmt.quote(net.words[i]);
  const i = Number(chosen.slice(1));
  if (chosen[0] === "e") {
    const p = Math.floor((i - 1) / width);
    const entry = (i - 1) % width;
    const [high, low] = ends(
      usable.map(([w, text]) => [text, net.E[w][entry]]),
      5,
    );
    return [
      h("p", { class: "lmfp-sum" }, [
        named(chosen),
        ` = ${num(now.e[i - 1])}: entry ${entry + 1} of the vector of ${word(history[p])}, the word ${PLACES[p]}`,
      ]),
      h("p", {}, "Not computed but looked up: one number of the table E."),
      h("ul", {}, [
        h("li", {}, `Words with the largest entry ${entry + 1}: ${told(high)}`),
        h("li", {}, `with the smallest: ${told(low)}`),
      ]),
    ];
  }
  const from = sources(net, now, chosen);
  if (chosen[0] === "h") {
    const all = history.map((w) => PLACES.map((_, p) => gives(net, i, w, p)));
    const most = Math.max(...all.flat().map(Math.abs), 1e-9);
    const cell = (v, p, q) => {
      const hidden = p !== q && open ? "lm-covered" : null;
      const style = {
        "--lmfp-tone": `var(--lm-${v < 0 ? 2 : 3})`,
        "--lmfp-from": `${50 + Math.min(0, (49 * v) / most)}%`,
        "--lmfp-to": `${50 + Math.max(0, (49 * v) / most)}%`,
      };
      return h("div", { class: p === q ? "lmfp-used" : null }, [
        h("i", { "aria-hidden": "true", class: hidden, style }),
        h("span", { class: hidden }, num(v)),
      ]);
    };
    const rows = all.map((row, p) => [net.words[history[p]], ...row.map((v, q) => cell(v, p, q))]);
    return [
      h("div", { class: "lmfp-gives" }, grid([[named(chosen), " gets from"], ...PLACES], rows)),
      h("p", { class: "lmfp-sum" }, [
        named(chosen),
        ` = σ(${all.map((row, p) => inside(row[p])).join(" + ")}) = σ(${num(now.a[i - 1])}) = ${num(now.h[i - 1])}`,
        h("span", { class: "lm-muted", style: "font-weight: 400" }, " (framed: each word where it stands)"),
      ]),
    ];
  }
  const best = [...from].sort((x, y) => Math.abs(y.product) - Math.abs(x.product)).slice(0, 4);
  const sum = `exp z / Σ exp z = ${fmt.exp(now.z[i])} / ${fmt.exp(now.log_sum)} = ${fmt.prob(now.y[i])}`;
  return [
    h("p", { class: "lmfp-sum" }, `ŷ(${net.words[i]}) = ${sum}`),
    h("p", {}, [
      `The logit z = ${num(now.z[i])} adds up ${from.length} products of a weight of U with hidden units. The largest:`,
    ]),
    h("ul", {}, [
      best.map(({ from: unit, weight, input, product }) =>
        h("li", {}, named(unit), `: ${inside(weight)} · ${inside(input)} = ${num(product)}`),
      ),
    ]),
  ];
}
