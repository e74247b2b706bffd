// translator-style.mjs: how a translation looks.
import { alignedStyle } from "./aligned.mjs";
import { tilesStyle } from "./tiles.mjs";

export const style = `
.lm-figure .lm-body:has(> .lmx-boards) { gap: 0.45rem; }
.lmx-ask input[type="text"] { font-size: 1.0625rem; }
.lmx-top { justify-content: space-between; }
.lmx-line { display: flex; flex-wrap: wrap; gap: 0.5rem 0.8rem; align-items: center; }
.lmx-line > .lmx-ask { flex: 1 1 20rem; }
.lmx-go { display: flex; flex-wrap: wrap; gap: 0.5rem 0.8rem; align-items: center; }
.lmx-go progress { width: 9rem; accent-color: var(--lm-1); }
.lmx-boards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16.5rem), 1fr));
  gap: 1rem 1.6rem; align-items: start; }
.lmx-boards > .lm-stack { min-width: 0; }
@container (min-width: 40rem) {
  .lmx-boards.lmx-two { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) 14.5rem; }
}
@container (max-width: 30rem) { .lmx-two > :nth-child(3) { display: none; } } /* two drawings fill a phone */
.lm-figure .lmx-two .lmx-written { font-size: 1rem; line-height: 1.3; }
.lm-figure .lmx-boards + div .lm-says { min-height: 1.45em; }
.lmx-open table { font-size: 0.875rem; }
${alignedStyle}${tilesStyle}`;
