// looks.mjs: what the last character of a text looks at, as shades over the text and as a table.
import { fmt, h, replace, table } from "../kit/core.mjs";
import { mean } from "../kit/numbers.mjs";

export const looksStyle = `
.lm-figure .lmw-strip { display: flex; flex-wrap: wrap; gap: 2px; min-height: 6.5rem; align-content: flex-start;
  margin-top: 0.3rem; font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875rem; }
.lmw-strip > span { display: block; min-width: 1.05rem; padding: 0.1rem 0; border: 1px solid transparent;
  border-radius: 3px; text-align: center; line-height: 1.2; }
.lmw-strip > span:last-child { border-color: var(--lm-text); }
`;

/**
 * controls: of the layer and the head.  seen(char), named(char): how it is shown, how it is called.
 * draw(found, layer, head): what the model has read; head -1 is the mean of all.
 */
export function looks(controls, { seen, named }) {
  const said = h.small();
  const strip = h("div", { class: "lmw-strip", role: "img" });
  const head = ["Position", "Character", "Weight"];
  const weights = table({ caption: "Position in the context, character, weight", head });
  return {
    node: h(
      "details",
      {},
      h("summary", {}, "What the last character looks at"),
      h.row(controls),
      strip,
      said,
      weights.node,
    ),
    draw(found, layer, head) {
      const heads = found.attention[layer];
      const alpha = Array.from(head < 0 ? heads[0].map((_, i) => mean(heads.map((one) => one[i]))) : heads[head]);
      const top = Math.max(...alpha);
      const context = found.context ?? [...found.text].slice(-alpha.length);
      const shade = (share) => `color-mix(in srgb, var(--lm-1) ${Math.round((55 * share) / top)}%, transparent)`;
      replace(strip, [context.map((char, i) => h("span", { style: { background: shade(alpha[i]) } }, seen(char)))]);
      weights.draw(context.map((char, i) => [String(i + 1), seen(char), fmt.num(alpha[i], 3)]));
      const most = alpha.indexOf(top);
      const behind = context.length - 1 - most;
      const where = behind ? `${named(context[most])}, ${fmt.some(behind, "position")} back` : "itself";
      said.textContent =
        `In layer ${layer + 1}, ${head < 0 ? "on average over the heads" : `head ${head + 1}`}, ` +
        `${named(context.at(-1))} looks most at ${where} (${fmt.num(top)}).`;
      const label = `The context of ${context.length} characters, shaded by attention. ${said.textContent}`;
      strip.setAttribute("aria-label", label);
    },
  };
}
