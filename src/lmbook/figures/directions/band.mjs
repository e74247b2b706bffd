// band.mjs: words side by side, and below each what is said of it, row by row.
import { button, h } from "../kit/core.mjs";
import { inWords, percent } from "./reading.mjs";

const ALL = 7; // words of a text up to which every row is shown

export const bandStyle = `
.lm-figure .lmd-band { display: grid; gap: 2px; max-width: 44rem; font-size: 0.75rem; line-height: 1.25; }
@container (min-width: 40rem) { .lm-figure .lmd-band { font-size: 0.8125rem; }
  .lm-figure .lmd-band > .lmd-tile { font-size: 0.9375rem; } }
.lm-figure .lmd-band > * { min-width: 0; margin: 0; padding: 0.15rem 0.1rem; border: 0; border-radius: 4px;
  color: inherit; font: inherit; text-align: center; overflow-wrap: anywhere; }
.lm-figure .lmd-cell { background: var(--lm-soft); font-variant-numeric: tabular-nums; }
.lm-figure .lmd-cell.lmd-left { box-shadow: inset 0 -3px var(--lm-1); }
.lm-figure .lmd-cell.lmd-wrong { color: var(--lm-text); text-decoration: underline wavy var(--lm-2); }
.lm-figure .lmd-cell.lmd-changed { background: color-mix(in srgb, var(--lm-2) 30%, var(--lm-paper)); font-weight: 700;
  box-shadow: inset 0 0 0 2px var(--lm-2); }
.lm-figure .lmd-changed s { display: block; font-weight: 400; }
.lm-figure .lmd-label { grid-column: 1 / -1; padding: 0.3rem 0 0; color: var(--lm-muted); text-align: left; }
.lm-figure .lmd-tile { min-height: 1.75rem; background: none; cursor: pointer; }
.lm-figure .lmd-tile small { display: block; font-size: 0.75rem; }
.lm-figure .lmd-tile:hover { background: var(--lm-soft); }
.lm-figure .lmd-tile[aria-pressed="true"] { box-shadow: inset 0 0 0 2px var(--lm-1); }
.lm-figure .lmd-tile.lmd-later { color: var(--lm-muted); }
.lm-figure .lmd-share { min-height: 2.4rem; align-content: end; background:
  linear-gradient(to top, color-mix(in srgb, var(--lm-tone) 45%, transparent) var(--lmd-p), var(--lm-soft) 0); }
`;

/**
 * Words `from` to `to` of a text of which k words are read and one is chosen; press(t): one is pressed.
 * @param {{ text: any, all: ReturnType<typeof import("./reading.mjs").reading>, k: number, chosen: number,
 *   press: (t: number) => void }} now
 * @param {number} from
 * @param {number} to
 */
export function band({ text: { words, gold, read }, all, k, chosen, press }, from, to) {
  const { spammy, said, name, one, changes } = all;
  const here = [...Array(to - from).keys()].map((t) => t + from);
  const cells = (/** @type {(t: number) => string} */ shown, /** @type {(t: number) => any} */ kind = () => ({})) =>
    here.map((t) =>
      h("span", t < k ? { ...kind(t), class: `lmd-cell ${kind(t).class ?? ""}` } : {}, t < k && shown(t)),
    );
  const shares = (/** @type {number} */ way) =>
    cells(
      (t) => percent(said(t, k)[way]).replace(" %", ""),
      (t) => ({ class: "lmd-share", "data-tone": way + 1, style: { "--lmd-p": `${said(t, k)[way] / 10}%` } }),
    );
  const row = (/** @type {number} */ n) => {
    const changed = changes(n);
    return here.map((t) => {
      if (t >= n) return h("span", {});
      const kind = `lmd-cell${changed.includes(t) ? " lmd-changed" : ""}${n === k ? " lmd-last" : ""}`;
      return h("span", { class: kind }, changed.includes(t) && h("s", {}, one(t, n - 1)), one(t, n));
    });
  };
  const long = words.length > ALL; // then only the rows in which something changes, and the last
  const rows = [...Array(k).keys()]
    .map((n) => n + 1)
    .filter((n) => n > from && (n === k || !long || changes(n).some((t) => t >= from && t < to)));
  const label = (words) => (from ? null : h("span", { class: "lmd-label" }, words)); // once, above the first
  const done = gold && k === words.length;
  const wrong = (t) => ({ class: done && gold[t] !== name(said(t, k)[0]) ? "lmd-left lmd-wrong" : "lmd-left" });
  /** What the models read in place of a word that they do not know. */
  const strange = (/** @type {number} */ t) =>
    read &&
    read[t] !== words[t] &&
    h("small", { class: "lm-muted" }, h("span", { class: "lm-hidden" }, " read as "), ` ${inWords(read[t])}`);
  const tile = (/** @type {number} */ t) =>
    button([words[t], strange(t)], () => press(t), {
      class: `lmd-tile${t < k ? "" : " lmd-later"}`,
      pressed: t === chosen,
    });
  const both = spammy
    ? [label("both directions: P(spam) after this word, %"), shares(1)]
    : [label("both directions, a row for each word that is read"), rows.map(row)];
  return h("div", { class: "lmd-band", style: { "grid-template-columns": `repeat(${here.length}, minmax(0, 1fr))` } }, [
    here.map(tile),
    both,
    label("from the left: said once"),
    spammy ? shares(0) : cells((t) => name(said(t, k)[0]), wrong),
    done && [label("right, by hand"), cells((t) => gold[t])],
  ]);
}
