// formula.mjs: formulae as plain HTML: letters, indices, fractions and roots, on lines that break before they clip.
//
//   formula("e i equals q times k i over root d k",
//     [i("e"), sub("i"), " = ", over([v("q"), " · ", v("k")], root(i("d")))])
//
// What is said first is read aloud in place of the letters.
import { h } from "./core.mjs";

export const v = (letter) => h("b", {}, letter); // a vector
export const i = (letter) => h("i", {}, letter);
export const sub = (...below) => h("sub", {}, below);
export const sup = (...above) => h("sup", {}, above);
export const over = (above, below) => h("span", { class: "lmf-over" }, h("span", {}, above), h("span", {}, below));
export const root = (...inside) => h("span", { class: "lmf-root" }, "√", h("span", {}, inside));
export const op = (name) => h("span", { class: "lmf-op" }, name); // softmax, LN

export const formula = (said, ...lines) =>
  h("div", { class: "lmf", role: "math", "aria-label": said }, [
    lines.map((parts) =>
      h("p", {}, [parts.map((part) => (typeof part === "string" ? part.replace(/ ?([=+·]|←) /g, "\u00a0$1 ") : part))]),
    ),
  ]);

export const formulaStyle = `
.lmf { font-family: "Book Serif", "STIX Two Text", Cambria, Georgia, serif; font-size: 1.0625rem; line-height: 1.9; }
.lmf :is(sub, sup) { font-size: 0.72em; line-height: 0; }
.lmf-over { display: inline-flex; flex-direction: column; margin: 0 0.15em; vertical-align: middle; text-align: center;
  line-height: 1.35; }
.lmf-over > :first-child { padding: 0 0.25em; border-bottom: 1px solid currentColor; }
.lmf-root > span { padding: 0 0.1em; border-top: 1px solid currentColor; }
.lmf-op { padding-right: 0.1em; font-family: var(--lm-font); font-size: 0.9em; }
`;
