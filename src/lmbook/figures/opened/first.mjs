// first.mjs: what an opened Transformer asks before it shows, and the heads of a layer beside one another.
import { button, fmt, h, s } from "../kit/core.mjs";
import { seen } from "./path.mjs";

/** The bet on the first view: a question with its options and what is said then, or null where there is none. */
export function betOf(at, about, first) {
  const { places, found, opened, inside } = first;
  const said = (/** @type {any} */ answer, /** @type {string} */ yours) =>
    answer === null ? "" : `You said ${yours}. `;
  if (at.kind === "whole") {
    const side = opened.target ?? opened.source;
    const layers = side.filter((/** @type {any} */ one) => one.kind === "feed").map((one) => one.says);
    const last = layers.at(-1);
    const from = layers.findLastIndex(({ text }) => text !== last.text) + 2;
    return {
      asks: `In which layer does ${fmt.quote(seen(last.text))} come up, to stay?`,
      options: layers.map((_, k) => [k + 1, `layer ${k + 1}`]),
      told: (answer) =>
        `${said(answer, `layer ${answer}`)}It comes up in layer ${from}, with P = ${fmt.num(layers[from - 1].p)}; ` +
        `at the end P = ${fmt.num(last.p)}.`,
    };
  }
  if (at.kind === "head" && at.number === null && (at.look === "cross" || at.tower === "encoder")) {
    const weights = inside[0][3].weights[at.head];
    const words = found.source.map(({ text }) => fmt.quote(seen(text)));
    const top = weights.indexOf(Math.max(...weights));
    const read = places.target ? found.target[places.target - 1].text : "<sos>";
    const where =
      at.look === "cross"
        ? `${fmt.quote(seen(read))} is read, ${fmt.quote(seen(found.target[places.target].text))} comes next. `
        : "";
    return {
      asks: `${where}Where does this head look most${where ? "" : ` from ${words[places.source]}`}?`,
      options: words.map((word, j) => [j, word.slice(1, -1)]),
      told: (answer) => `${said(answer, words[answer])}Most at ${words[top]}, weight ${fmt.num(weights[top])}.`,
    };
  }
  if (about.kind === "translator" && (at.kind === "source" || at.kind === "target") && at.number === null)
    return {
      asks: "The word comes again, later: what of this sum is new?",
      options: ["the row in E", "the wave", "both"].map((text) => [text, text]),
      told: (answer) => `${said(answer, answer)}The wave alone: a word has one row, wherever it stands.`,
    };
  return null;
}

/**
 * The heads of one layer: rows ask, columns are looked at. looks: [head][query][key], of which one row is now.
 * @param {number[][][]} looks
 * @param {number} now
 * @param {number} head
 * @param {(head: number) => void} open
 */
export function mapsOf(looks, now, head, open) {
  return h("div", { class: "lmo-maps", role: "group", "aria-label": "The heads of this layer" }, [
    looks.map((rows, k) => {
      const wide = rows[0].length;
      const name = `head ${k + 1}`;
      return button(
        [
          name,
          s("svg", { viewBox: `0 0 ${wide} ${rows.length}`, "aria-hidden": "true" }, [
            s("rect", { class: "lmo-field", width: wide, height: rows.length }),
            rows.flatMap((row, y) =>
              row.map((weight, x) =>
                weight < 0.02 ? null : s("rect", { x, y, width: 1, height: 1, "fill-opacity": weight.toFixed(3) }),
              ),
            ),
            s("rect", { class: "lmo-asks", y: now, width: wide, height: 1 }),
          ]),
        ],
        () => open(k),
        { class: "lmo-map", pressed: k === head },
      );
    }),
  ]);
}

export const firstStyle = `
.lm-figure .lmo-maps { display: grid; grid-template-columns: repeat(4, minmax(0, 5rem)); gap: 0.3rem; }
.lm-figure .lmo-map { margin: 0; padding: 0.1rem 0.2rem 0.25rem; border: 1px solid var(--lm-line); border-radius: 5px;
  background: none; color: inherit; font: inherit; font-size: 0.8125rem; cursor: pointer; }
.lm-figure .lmo-map[aria-pressed="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1); }
.lm-figure .lmo-map svg { display: block; width: 100%; aspect-ratio: 1; fill: var(--lm-1); }
.lm-figure .lmo-map .lmo-field { fill: var(--lm-soft); }
.lm-figure .lmo-map .lmo-asks { fill: none; stroke: var(--lm-2); stroke-width: 2px; vector-effect: non-scaling-stroke; }
@media screen { /* while a bet is open */
  .lm-figure .lmo-stage.lm-covered { visibility: visible; }
  .lm-figure .lmo-stage.lm-covered::before { content: none; }
  .lm-figure .lmo-stage.lm-covered .lmo-told { visibility: hidden; }
  .lm-figure .lmo-both:has(.lmo-stage.lm-covered) .lmo-token { background: none; }
}
`;
