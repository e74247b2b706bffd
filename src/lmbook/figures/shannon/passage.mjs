// The look of the game: a passage with a gap, and a column of bets.
export const style = `
.lm-figure .lm-between { justify-content: space-between; }
.lm-figure .lm-passage { padding: 0.5rem 0.9rem; border-radius: 6px; background: var(--lm-soft);
  font-size: 1.0625rem; line-height: 1.45; white-space: pre-line; }
.lm-figure .lm-source { display: block; margin-top: 0.35rem; color: var(--lm-muted); font-size: 0.75rem;
  line-height: 1.3; }
.lm-figure mark { text-decoration: underline 2px; text-underline-offset: 0.25em; }
.lm-figure mark.lm-won { text-decoration-color: var(--lm-3); }
.lm-figure mark.lm-lost { text-decoration-color: var(--lm-2); text-decoration-style: dotted; }
.lm-figure .lm-gap { display: inline-block; width: 4.5em; margin-left: 0.3em; border-bottom: 2px solid var(--lm-1);
  vertical-align: baseline; }
.lm-figure .lm-bets { display: grid; grid-template-columns: minmax(5rem, max-content) minmax(6rem, 1fr) 2.2rem;
  gap: 0 0.7rem; }
.lm-figure .lm-bet { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; align-items: center;
  min-height: 1.5rem; padding: 0 0.4rem; border-left: 3px solid transparent; border-radius: 3px; }
.lm-figure .lm-bet > :first-child { max-width: 11rem; overflow-wrap: anywhere; font-weight: 600; }
.lm-figure .lm-bet-rest > :first-child { font-weight: 400; font-style: italic; }
.lm-figure .lm-bet input[type="range"] { width: 100%; max-width: none; }
.lm-figure .lm-bet-rest .lm-bar-fill { background: var(--lm-edge); }
.lm-figure .lm-bet .lm-bar-track { position: relative; overflow: visible; }
.lm-figure .lm-mark { position: absolute; top: -0.2rem; bottom: -0.2rem; width: 3px; border-radius: 2px;
  background: var(--lm-tone); }
.lm-figure .lm-mark-key { display: inline-block; position: static; height: 0.9rem; margin: 0 0.25rem 0 0.7rem;
  vertical-align: -0.15rem; }
.lm-figure .lm-each { margin-right: 0.6em; white-space: nowrap; }
.lm-figure .lm-points { font-variant-numeric: tabular-nums; text-align: right; }
.lm-figure .lm-bet-note { grid-column: 2 / -1; color: var(--lm-muted); font-size: 0.8125rem; line-height: 1.25; }
.lm-figure .lm-bet-note:empty { display: none; }
.lm-figure .lm-came { border-left-color: var(--lm-3); background: color-mix(in srgb, var(--lm-3) 14%, transparent); }
.lm-figure .lm-none .lm-bet-note { color: inherit; font-weight: 600; }
.lm-figure .lm-own { flex-wrap: nowrap; }
.lm-figure .lm-own .lm-field { flex: 0 1 18rem; flex-wrap: nowrap; }
.lm-figure .lm-own .lm-field label { white-space: nowrap; }
.lm-figure .lm-own .lm-field input { flex-basis: 4rem; }
.lm-figure .lm-part { margin-bottom: 0.3rem; color: var(--lm-muted); font-size: 0.875rem; }
@media print { .lm-figure .lm-unplayed { display: none; } } /* no empty form on paper */
`;
