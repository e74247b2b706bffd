// chooser.mjs: the five likeliest next words, for a reader who writes.
import { button, disable, fmt, h, roving } from "../kit/core.mjs";
import { END } from "./search.mjs";

export const chooserStyle = `
.lmd-options { display: grid; gap: 0.25rem; max-width: 30rem; }
.lm-figure .lmd-options + .lm-row { margin-top: 0.6rem; }
.lm-figure .lmd-options > :is(button, p) { display: grid; grid-template-columns: 6rem 1fr 5.2rem; align-items: center;
  gap: 0.5rem;
  padding: 0.1rem 0.5rem; border: 1px solid transparent; color: inherit; font: inherit; font-size: 0.9375rem;
    text-align: left; }
.lm-figure .lmd-options > button { border-color: var(--lm-edge); border-radius: 6px; background: var(--lm-paper);
  cursor: pointer; }
.lm-figure .lmd-options > button:hover { box-shadow: inset 0 0 0 100vmax var(--lm-soft); }
.lm-figure .lmd-options > p { color: var(--lm-muted); }
.lmd-options .lmd-track { height: 0.7rem; border-radius: 3px; background: var(--lm-soft); }
.lmd-options .lmd-fill { display: block; height: 100%; border-radius: 3px; background: var(--lm-1); }
.lmd-options .lmd-p { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
`;

/** pick(i, on): the i-th word, behind which stands node `on`; back(n): to the words from the n-th on without them. */
export function chooser({ word, pick, back }) {
  const options = h.group("lmd-options", "The five likeliest next words, one tab stop");
  const group = roving(options, "button");
  const likeliest = button("Take the likeliest", () => pick(0, null), { main: true });
  const undo = button("Undo", () => back(-1));
  const restart = button("Start again", () => back(0));
  return {
    node: h("div", {}, options, h.row(likeliest, undo, restart)),
    /** full: no further word fits; done: the sentence is complete; empty: nothing is written. */
    draw(offers, full, done, empty) {
      const inside = options.contains(document.activeElement) || document.activeElement === likeliest;
      group.refill(
        offers.map(([id, logP, on], i) => {
          const fill = h("span", { class: "lmd-fill", style: { width: `${100 * Math.exp(logP)}%` } });
          const parts = [
            h("span", {}, word(id) === END ? "(end here)" : word(id)),
            h("span", { class: "lmd-track", "aria-hidden": "true" }, fill),
            h("span", { class: "lmd-p" }, fmt.share(Math.exp(logP), 3)),
          ];
          return on === -1 && full ? h("p", {}, parts) : button(parts, () => pick(i, on), { class: null });
        }),
      );
      disable(likeliest, done);
      for (const one of [undo, restart]) disable(one, empty);
      if (inside && !offers.length) undo.focus();
    },
  };
}
