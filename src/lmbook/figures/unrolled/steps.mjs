// The network unrolled around a step: what goes in, the state, what comes out.
import { fmt, h, replace } from "../kit/core.mjs";
import { visible } from "../kit/format.mjs";

export const chance = (/** @type {number} */ p) => fmt.share(p, 3);
export const signed = (/** @type {number} */ v) => `${v < 0 ? "−" : "+"}${Math.abs(v).toFixed(2)}`;

export const style = `
.lm-figure .lmu-steps { display: grid; grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 0.25rem 0.9rem;
  padding-left: 0.9rem; text-align: center; }
.lm-figure .lmu-steps > div { position: relative; padding: 0.15rem; border-radius: 5px; font-size: 0.875rem; }
.lm-figure .lmu-state { border: 1px solid var(--lm-edge); font-variant-numeric: tabular-nums; }
.lm-figure .lmu-state.lmu-here { border: 2px solid var(--lm-text); font-weight: 700; }
.lm-figure .lmu-state::before { content: "→"; position: absolute; left: -0.95rem; top: 0.1rem; color: var(--lm-muted);
  font-weight: 400; }
.lm-figure .lmu-arrow { color: var(--lm-muted); line-height: 1; }
.lm-figure .lmu-steps small { display: block; font-size: max(0.75rem, var(--lm-least, 0px)); }
@media (max-width: 480px) { .lm-figure .lmu-steps { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .lm-figure .lmu-far { display: none; } }
`;

/** draw(t, many, at): around step t of so many; at(k) = { read, value, guess: [character, probability] } of step k. */
export function stepsAround() {
  const node = h("div", { class: "lmu-steps", "aria-hidden": "true" });
  function draw(t, many, at) {
    const around = [t - 2, t - 1, t, t + 1, t + 2];
    const row = (kind, cell) =>
      around.map((k, i) => {
        const there = k >= 0 && k < many;
        const far = i === 0 || i === 4 ? " lmu-far" : "";
        const here = k === t && kind === "lmu-state" ? " lmu-here" : "";
        return h("div", { class: (there ? kind + here : "") + far }, there ? cell(at(k)) : "");
      });
    const arrows = () => row("lmu-arrow", () => "↑");
    replace(node, [
      row("", ({ guess: [char, p] }) => [h("b", {}, visible(char)), h("small", {}, chance(p))]),
      arrows(),
      row("lmu-state", ({ value }) => signed(value)),
      arrows(),
      row("", ({ read }) => h("b", {}, visible(read))),
    ]);
  }
  return { node, draw };
}
