// opened-style.mjs: how an opened Transformer looks.
import { formulaStyle } from "../kit/formula.mjs";
import { firstStyle } from "./first.mjs";
import { lanesStyle } from "./lanes.mjs";
import { shapesStyle } from "./shapes.mjs";

export const style = `
.lmo-notes > p { display: inline; }
@media (hover: none), (max-width: 30rem) { .lmo-keys { display: none; } } /* a thumb has no keys */
.lmo-both { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem 1.8rem; align-items: start; }
.lmo-both > * { min-width: 0; }
.lmo-both > .lmo-said { order: 1; }
@container (min-width: 40rem) {
  .lmo-both { grid-template: auto auto auto 1fr / repeat(2, minmax(0, 1fr)); row-gap: 0.375rem; }
  .lm-figure .lmo-both .lmo-token { min-height: 1.5rem; }
  .lmo-both > * { grid-column: 2; }
  .lmo-both > .lmo-stage { grid-area: 1 / 1 / span 3; max-height: 28.5rem; padding: 3px; overflow-y: auto; }
  .lmo-both > .lmo-said { grid-area: 3 / 2 / span 2; }
  .lmo-both > .lmo-say { grid-area: 4 / 1; }
  .lm-figure .lmo-say .lm-says { min-height: 0; }
  .spare .lmo-stage svg { max-width: 21.5rem; }
  .spare .lmo-both:has(> .lmo-said > .lm-off) > .lmo-say { grid-area: 4 / 2; }
}
.lm-figure ol.lmo-way { display: flex; flex-wrap: wrap; gap: 0.1rem 0.35rem; align-items: center; margin: 0;
  padding: 0; list-style: none; font-size: 0.875rem; }
.lm-figure .lmo-way li { margin: 0; }
.lmo-way li + li::before { content: "›"; margin-right: 0.35rem; color: var(--lm-muted); }
.lmo-way [aria-current] { font-weight: 600; }
.lm-figure .lmo-way button { min-height: 1.5rem; padding: 0 0.25rem; border: 0; background: none;
  color: var(--lm-text); font: inherit; text-decoration: underline; cursor: pointer; }
.lmo-stage[aria-busy="true"] { opacity: 0.55; }
.lmo-level { outline: none; border-radius: 6px; }
${formulaStyle}${lanesStyle}${shapesStyle}${firstStyle}`;
