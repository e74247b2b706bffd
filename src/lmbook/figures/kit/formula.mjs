// formula.mjs: formulae as plain HTML: letters, indices, fractions and roots, on lines that break before they clip.
//
//   formula("e i equals q times k i over root d k", "e_i = frac{*q* · *k*_i}{√{d_k}}")
//
// A letter is italic, *x* a vector, [LN] the name of a function, "sin" upright; _ and ^ take one character or {..}.
// What is said first is read aloud in place of the letters.
import { h } from "./core.mjs";

const BRACED = "\\{((?:[^{}]|\\{(?:[^{}]|\\{[^{}]*\\})*\\})*)\\}"; // up to three deep
const MARK = new RegExp(
  [
    `frac${BRACED}${BRACED}|√${BRACED}|([_^])(?:${BRACED}|(.))`,
    '\\*(.)\\*|\\[(.+?)\\]|"(.+?)"|([A-Za-zα-ω])|([^_^*[√"A-Za-zα-ω]+)',
  ].join("|"),
  "gu",
);

/** @returns {(string | HTMLElement)[]} */
const typeset = (text) =>
  [...text.matchAll(MARK)].map(([, above, below, rooted, way, many, one, vector, name, upright, letter, rest]) => {
    if (above) return h("span", { class: "lmf-over" }, h("span", {}, typeset(above)), h("span", {}, typeset(below)));
    if (rooted) return h("span", { class: "lmf-root" }, "√", h("span", {}, typeset(rooted)));
    if (way) return h(way === "_" ? "sub" : "sup", {}, typeset(many ?? one));
    if (vector) return h("b", {}, vector);
    if (name) return h("span", { class: "lmf-op" }, name);
    return letter ? h("i", {}, letter) : (upright ?? rest);
  });

/** @type {(said: string, ...lines: string[]) => HTMLElement} */
export const formula = (said, ...lines) =>
  h("div", { class: "lmf", role: "math", "aria-label": said }, [
    lines.map((line) =>
      h("p", {}, [
        typeset(line).map((part) => (typeof part === "string" ? part.replace(/ ?([=+·]|←) /g, "\u00a0$1 ") : part)),
      ]),
    ),
  ]);

export const formulaStyle = `
.lmf { font-family: "Book Serif", "STIX Two Text", Cambria, Georgia, serif; font-size: 1.0625rem; line-height: 1.9; }
.lmf :is(sub, sup) { font-size: max(0.75rem, 0.72em); line-height: 0; }
.lmf-over { display: inline-flex; flex-direction: column; margin: 0 0.15em; vertical-align: middle; text-align: center;
  line-height: 1.35; }
.lmf-over > :first-child { padding: 0 0.25em; border-bottom: 1px solid currentColor; }
.lmf-root > span { padding: 0 0.1em; border-top: 1px solid currentColor; }
.lmf-op { padding-right: 0.1em; font-family: var(--lm-font); font-size: 0.9em; }
`;
