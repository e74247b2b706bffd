// dress.mjs: how the trainer looks.

export const style = `
.lm-figure .lmt-seed { gap: 0.4rem 1.2rem; }
.lm-figure .lmt-seed .lm-field { flex-wrap: nowrap; }
.lm-figure .lmt-seed .lm-main { min-width: 4.4rem; } /* each of its words fits */
.lm-figure .lmt-away { visibility: hidden; position: relative; }
.lmt-away::after { content: "The bet is on " attr(data-of) "."; position: absolute; inset: 0 auto 0 0.9rem;
  align-content: center; color: var(--lm-muted); font-size: 0.875rem; visibility: visible; }
.lm-figure .lmt-seed > .lm-control select { max-width: min(100%, 19rem); }
.lm-figure .lmt-seed .lm-field input { flex: 0 0 4.5rem; }
.lmt-sides { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.9rem 1.4rem; align-items: start; }
@container (min-width: 40rem) {
  .lmt-sides:not(:has(> .lm-off)) { grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); }
}
.lmt-sides > * { min-width: 0; }
.lm-figure .lmt-sides .lm-says { min-height: 1.45em; }
.lm-figure .lmt-now { min-height: 3em; } /* what is said of a training may need two lines, of its rate more */
.lm-figure .lmt-now[data-course="true"] { min-height: 5.8em; }
@container (min-width: 40rem) { .lm-figure .lmt-now[data-course="true"] { min-height: 4.4em; } }
.lmt-own { display: flex; flex-direction: column; gap: 0.25rem; }
.lm-figure .lmt-own textarea { width: 100%; min-height: 4.5rem; padding: 0.4rem 0.6rem;
  border: 1px solid var(--lm-edge);
  border-radius: 6px; background: var(--lm-paper);
  color: inherit; font: 0.875rem/1.4 ui-monospace, Menlo, Consolas, monospace; }
.lm-figure .lmt-own textarea:focus-visible { outline: 2px solid var(--lm-1); outline-offset: 2px; }
.lmt-chart svg { display: block; overflow: visible; }
.lmt-chart path { fill: none; stroke-linejoin: round; stroke: var(--lm-tone); }
.lmt-chart text { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; }
.lmt-chart .lmt-name { font-weight: 600; }
.lmt-line { stroke-width: 2.2; }
.lmt-chart .lmt-train { stroke: var(--lm-muted); stroke-width: 1.1; }
.lmt-chart .lmt-seed-line { stroke: color-mix(in srgb, var(--lm-tone), var(--lm-muted)); stroke-width: 1;
  stroke-opacity: 0.75; }
.lmt-before { stroke-width: 1.5; stroke-dasharray: 2 4; }
.lmt-before.lmt-train { stroke-width: 1; }
@media print { .lmt-begun, .lmt-stake { display: none; } } /* on paper nobody bets */
.lmt-chart .lmt-gap { fill: color-mix(in srgb, var(--lm-tone) 16%, transparent); stroke: none; }
.lmt-lowest { fill: var(--lm-paper); stroke: var(--lm-tone); stroke-width: 2; }
.lmt-chart .lmt-mark { stroke: var(--lm-edge); stroke-dasharray: 6 4; }
.lmt-pen { fill: var(--lm-tone); }
.lmt-chart .lmt-short { stroke: var(--lm-muted); }
.lmt-chart .lmt-bet { stroke: var(--lm-2); stroke-width: 2; }
.lmt-chart .lmt-miss { stroke: var(--lm-2); stroke-width: 5; stroke-opacity: 0.6; }
.lmt-truth { fill: var(--lm-text); stroke: var(--lm-paper); stroke-width: 1.5; }
.lmt-head { font-weight: 600; text-decoration: underline 3px var(--lm-tone); text-underline-offset: 0.25em; }
.lm-figure .lmt-stages { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.2rem 0.8rem;
  align-items: baseline; }
.lmt-stages > :nth-child(odd) { color: var(--lm-muted); font-size: 0.875rem; text-align: right;
  font-variant-numeric: tabular-nums; }
.lmt-stages > :nth-child(even) { overflow-wrap: anywhere; }
.lmt-stages > .lmt-earlier { color: var(--lm-muted); font-size: 0.875rem; }
.lm-figure .lmt-names { display: flex; flex-wrap: wrap; gap: 0.15rem 0.9rem; margin: 0; padding: 0; list-style: none;
  font-size: 1.0625rem; }
.lm-figure .lmt-names li { margin: 0; }
.lmt-known { color: var(--lm-muted); text-decoration: underline dotted; }
.lm-figure .lmt-stages > .lmt-text { grid-column: 1 / -1; }
.lmt-text { min-height: 15rem; max-height: 15rem; padding: 0.5rem 0.7rem; overflow-y: auto; border-radius: 6px;
  background: var(--lm-soft); white-space: pre-wrap; overflow-wrap: anywhere;
  font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875rem; line-height: 1.45; }
.lm-figure .lmt-answers .lm-bars {
  grid-template-columns: minmax(3.5rem, max-content) minmax(3rem, 1fr) max-content; }
.lm-figure .lmt-answers .lm-bar-text { font-size: 0.875rem; }
.lm-figure .lmt-pair { display: grid; gap: 0.1rem 0.7rem;
  grid-template-columns: minmax(2.8rem, max-content) minmax(0, 1fr); align-items: baseline; }
.lmt-pair > :nth-child(odd) { color: var(--lm-muted); font-size: 0.875rem; }
.lmt-letters { font-family: ui-monospace, Menlo, Consolas, monospace; letter-spacing: 0.12em; }
.lmt-result mark { text-decoration: underline wavy var(--lm-2); text-underline-offset: 0.2em; }
.lmt-result { display: flex; flex-direction: column; gap: 0.35rem; }
`;
