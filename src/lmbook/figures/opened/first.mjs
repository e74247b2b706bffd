// first.mjs: what an opened Transformer asks before it shows, and the heads of a layer beside one another.
import { button, fmt, h, s } from "../kit/core.mjs";
import { mean } from "../kit/numbers.mjs";
import { fifths, LATER } from "./entries.mjs";
import { seen } from "./path.mjs";

const share = (/** @type {number} */ part) => (part < 0.005 ? "< 1 %" : fmt.percent(part));

/** The bet on the first view: a question with its options and what is said then, or null where there is none. */
export function betOf(at, about, first) {
  const { places, found, opened, inside } = first;
  /** What is told to one who missed, and said something. */
  const missed = (answer, right, words) => (answer === null || answer === right ? "" : ` You said ${words()}.`);
  if (at.kind === "whole") {
    const side = opened.target ?? opened.source;
    const layers = side.filter((/** @type {any} */ one) => one.kind === "feed").map((one) => one.says);
    const last = layers.at(-1);
    const from = layers.findLastIndex(({ text }) => text !== last.text) + 2;
    const word = fmt.quote(seen(last.text));
    const where = (answer) => (answer === from ? `Yes: layer ${from}` : `${word} comes up in layer ${from}`);
    const p = `with P = ${fmt.num(layers[from - 1].p)}; at the end P = ${fmt.num(last.p)}.`;
    return {
      asks: `In which layer does ${word} come up, to stay?`,
      options: layers.map((_, k) => [k + 1, `layer ${k + 1}`]),
      told: (answer) => `${missed(answer, from, () => `layer ${answer}`)} ${where(answer)}, ${p}`.trim(),
    };
  }
  if (at.kind === "head" && at.number === null && (at.look === "cross" || at.tower === "encoder")) {
    const weights = inside[0][3].weights[at.head];
    const words = found.source.map(({ text }) => fmt.quote(seen(text)));
    const top = weights.indexOf(Math.max(...weights));
    const read = places.target ? found.target[places.target - 1].text : "<sos>";
    const next = () => `${fmt.quote(seen(found.target[places.target].text))} comes next. `;
    const where = at.look === "cross" ? `${fmt.quote(seen(read))} is read, ${next()}` : "";
    return {
      asks: `${where}Where does this head look most${where ? "" : ` from ${words[places.source]}`}?`,
      options: words.map((word, j) => [j, word.slice(1, -1)]),
      told: (answer) =>
        `${answer === top ? "Yes, this" : "This"} head looks most at ${words[top]}, weight ${fmt.num(weights[top])}.` +
        missed(answer, top, () => `${words[answer]}: ${fmt.share(weights[answer])}`),
    };
  }
  if (about.kind === "translator" && (at.kind === "source" || at.kind === "target") && at.number === null) {
    const parts = ["1st", "2nd", "3rd", "4th", "5th"];
    const shares = fifths(inside[1][3].added, places[at.kind]);
    const top = shares.indexOf(Math.max(...shares));
    return {
      asks: `The word comes again, ${LATER} places later. In which fifth do the entries of the sum change most?`,
      options: parts.map((words, k) => [k, words]),
      told: (answer) =>
        `${answer === top ? "Yes, m" : "M"}ost of the change, ${share(shares[top])}, is in the ${parts[top]} fifth: ` +
        `fast waves.${missed(answer, top, () => `the ${parts[answer]}: ${share(shares[answer])}`)}`,
    };
  }
  return null;
}

const WAYS = { "-1": "before", 0: "itself", 1: "next" };

/** Where a map's rows look most, on average: at the place before, at their own or at the next one. */
function way(rows) {
  const far = (/** @type {number} */ by) => mean(rows.map((row, t) => row[t + by]).filter(Number.isFinite));
  const best = [-1, 0, 1].reduce((top, by) => (far(by) > far(top) ? by : top));
  return `${WAYS[best]} ${fmt.num(far(best))}`;
}

/**
 * The heads of one layer: rows ask, columns are looked at. looks: [head][query][key], of which one row is now.
 * @type {(looks: number[][][], now: number, head: number, open: (head: number) => void) => any}
 */
export function mapsOf(looks, now, head, open) {
  const square = looks[0].length === looks[0][0].length; // each word looks at all the words of its own sentence
  const cell = (weight, x, y) =>
    weight >= 0.02 && s("rect", { x, y, width: 1, height: 1, "fill-opacity": weight.toFixed(3) });
  const map = (rows, k) => {
    const wide = rows[0].length;
    const drawn = s("svg", { viewBox: `0 0 ${wide} ${rows.length}`, "aria-hidden": "true" }, [
      s("rect", { class: "lmo-field", width: wide, height: rows.length }),
      rows.map((row, y) => row.map((weight, x) => cell(weight, x, y))),
      s("rect", { class: "lmo-asks", y: now, width: wide, height: 1 }),
    ]);
    const label = [`head ${k + 1}`, drawn, square && h("small", {}, way(rows))];
    return button(label, () => open(k), { class: "lmo-map", pressed: k === head });
  };
  const drawn = h.group("lmo-maps", "The heads of this layer", looks.map(map));
  return [drawn, h.small(`Rows ask, columns are looked at${square ? "; below, where most goes" : ""}.`)];
}

export const firstStyle = `
.lm-figure .lmo-maps { display: grid; grid-template-columns: repeat(4, minmax(0, 5rem)); gap: 0.3rem; }
.lm-figure .lmo-map { margin: 0; padding: 0.1rem 0.2rem 0.25rem; border: 1px solid var(--lm-line); border-radius: 5px;
  position: relative; background: none; color: inherit; font: inherit; font-size: 0.8125rem; cursor: pointer; }
.lmo-stage:not(.lm-covered) :is(.lmo-asked, .lmo-fifths) { display: none; }
@media print { .lmo-asked, .lmo-fifths { display: none; } }
.lm-figure .lmo-map[aria-pressed="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1); }
.lm-figure .lmo-map svg { display: block; width: 100%; aspect-ratio: 1; fill: var(--lm-1); }
.lm-figure .lmo-map .lmo-field { fill: var(--lm-soft); }
.lm-figure .lmo-map .lmo-asks { fill: none; stroke: var(--lm-2); stroke-width: 2px; vector-effect: non-scaling-stroke; }
@media screen { /* while a bet is open */
  .lm-figure .lmo-stage.lm-covered { visibility: visible; }
  .lm-figure .lmo-stage.lm-covered::before { content: none; }
  .lm-figure .lmo-stage.lm-covered .lmo-told { visibility: hidden; }
  .lm-figure .lm-covered:has(> .lmo-maps) { visibility: visible; }
  .lm-figure .lm-covered:has(> .lmo-maps)::before { content: none; }
  .lm-covered > .lmo-maps .lmo-map[aria-pressed="true"] :is(svg, small) { visibility: hidden; }
  .lm-covered > .lmo-maps .lmo-map[aria-pressed="true"]::after, .lmo-asked { color: var(--lm-muted);
    font-size: 1.25rem; }
  .lm-covered > .lmo-maps .lmo-map[aria-pressed="true"]::after { content: "?"; position: absolute; inset: 35% 0 0; }
  .lm-figure .lmo-both:has(.lmo-stage.lm-covered) .lmo-token { background: none; }
}
`;
