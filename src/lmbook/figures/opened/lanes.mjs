// lanes.mjs: the tokens of one side; those of the side that is looked at can be chosen.
import { h, roving } from "../kit/core.mjs";
import { seen } from "./path.mjs";

export const lanesStyle = `
.lmo-tokens { display: flex; flex-wrap: wrap; gap: 0.2rem; align-items: baseline; }
.lmo-tokens > :first-child { flex: 0 0 3.4rem; color: var(--lm-muted); font-size: 0.8125rem; }
.lmo-tokens > div { position: relative; display: flex; flex: 1 1 10rem; flex-wrap: wrap; gap: 0.2rem;
  max-height: 6.8rem; padding: 3px; overflow-y: auto; } /* of a long text three lines, which scroll */
@container (min-width: 40rem) { .lmo-lanes:has(> :nth-child(2)) .lmo-tokens > div { max-height: 5.6rem; } }
.lm-figure .lmo-token { min-width: 1.5rem; min-height: 1.75rem; margin: 0; padding: 0.05rem 0.35rem;
  border: 1px solid transparent; border-radius: 5px; color: inherit; font: inherit; line-height: 1.4;
  background: color-mix(in srgb, var(--lm-1) var(--lmo-share, 0%), transparent); }
.lm-figure button.lmo-token { border-color: var(--lm-line); cursor: pointer; }
.lm-figure button.lmo-token:hover { border-color: var(--lm-edge); }
.lm-figure .lmo-token[data-now="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1);
  font-weight: 600; }
.lm-figure .lmo-token[data-later="true"] { border-style: dashed; color: var(--lm-muted); }
`;

/** name: what the model does with them.  move(t): one is chosen. */
export function lane(/** @type {string} */ name, /** @type {(t: number) => void} */ move) {
  const list = h("div", { role: "group", "aria-label": `what it ${name}` });
  const group = roving(list, "button", { onmove: move });
  return {
    node: h("div", { class: "lmo-tokens" }, h("span", {}, name), list),
    /** open: they can be chosen.  tints: how much of each is used.  causal: those behind `now` are masked. */
    draw(tokens, now, open, tints, causal = false) {
      const token = ({ text }, t) => {
        const chosen = String(t === now);
        const press = open ? { type: "button", "aria-pressed": chosen, onclick: () => move(t) } : {};
        const style = { "--lmo-share": `${Math.round(70 * (tints[t] ?? 0))}%` };
        const masked = String(causal && t > now);
        const about = { class: "lmo-token", "data-now": chosen, "data-later": masked, style, ...press };
        return h(open ? "button" : "span", about, seen(text));
      };
      group.refill(tokens.map(token), now);
      const marked = /** @type {HTMLElement | undefined} */ (list.children[now]);
      list.scrollTop = Math.max(0, (marked?.offsetTop ?? 0) - 70);
    },
  };
}
