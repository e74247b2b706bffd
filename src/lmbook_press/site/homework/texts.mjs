// The questions of an edition of a student's own, which the page has not printed: their Markdown, with formulae.

import { markdown } from "../python/outputs.mjs";

const FORMULA = /\$\$([\s\S]+?)\$\$|\$(?!\s)([^$\n]+?)(?<!\s)\$/g;
let katex = null;

/** KaTeX, which the other pages do not need: their formulae are made when the site is built. */
function formulae() {
  katex ??= new Promise((resolve) => {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet" });
    sheet.href = new URL("../katex/katex.min.css", import.meta.url).href;
    const script = document.createElement("script");
    script.src = new URL("katex.js", import.meta.url).href;
    const answer = () => resolve(Reflect.get(globalThis, "katex") ?? null);
    script.addEventListener("load", answer);
    script.addEventListener("error", answer);
    document.head.append(sheet, script);
  });
  return katex;
}

/** Fills a box with Markdown; nothing in it is taken for HTML. @param {HTMLElement} box @param {string} text */
export async function fill(box, text) {
  const found = [];
  const rest = text.replace(FORMULA, (_, shown, inside) => `\uE000${found.push({ shown, inside }) - 1}\uE001`);
  const engine = found.length ? await formulae() : null;
  box.innerHTML = markdown(rest).replace(/\uE000(\d+)\uE001/g, (_, number) => {
    const { shown, inside } = found[Number(number)];
    const options = { displayMode: Boolean(shown), throwOnError: false, output: "htmlAndMathml" };
    if (engine) return engine.renderToString(shown ?? inside, options);
    const tex = document.createElement("code");
    tex.textContent = shown ?? inside;
    return tex.outerHTML;
  });
}
