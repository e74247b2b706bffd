// along.mjs: a number along a text: over each character a filled bar upwards where it is positive, an outline downwards
// where it is negative. So it reads without colour, too.
import { h, replace, s } from "./core.mjs";
import { visible } from "./format.mjs";

export const UNKNOWN = "▯"; // a character that the network does not have
/** What is said of it, where it stands among the characters. */
export const strange = (/** @type {string[]} */ characters) =>
  characters.includes(UNKNOWN)
    ? ` ${UNKNOWN} stands for characters that the network does not have; it reads <unk>.`
    : "";

export const alongStyle = `
.lm-figure .lm-along { display: flex; flex-wrap: wrap; gap: 0.2rem 1px;
  font-family: var(--pst-font-family-monospace, monospace); }
.lm-figure .lm-along > span { display: flex; flex-direction: column; align-items: center; width: 0.95rem;
  border-radius: 3px; cursor: pointer; }
.lm-figure .lm-along svg { display: block; overflow: visible; }
.lm-figure .lm-along > .lm-now { outline: 2px solid var(--lm-text); outline-offset: 1px; font-weight: 700; }
.lm-figure .lm-plus { fill: var(--lm-1); stroke: var(--lm-1); }
.lm-figure .lm-minus { fill: none; stroke: var(--lm-2); stroke-width: 1.4; }
`;

/**
 * A text for the eye.  write(characters).  draw(values, t): each in [-1, 1], one for each character; the t-th is marked
 * and in sight.
 */
export function along(/** @type {(t: number) => void} */ choose) {
  const node = h("div", { class: "lm-along", "aria-hidden": "true" });
  return {
    node,
    write: (/** @type {string[]} */ characters) =>
      replace(node, [
        characters.map((char, t) =>
          h("span", { onclick: () => choose(t) }, [
            s("svg", { width: 12, height: 26, viewBox: "0 0 12 26" }, [
              s("rect", { x: 2, width: 8 }),
              s("line", { x1: 0, x2: 12, y1: 13, y2: 13, stroke: "var(--lm-edge)" }),
            ]),
            h("span", {}, visible(char)),
          ]),
        ),
      ]),
    draw(/** @type {number[]} */ values, /** @type {number} */ now) {
      [...node.children].forEach((one, t) => {
        const high = 12 * values[t];
        const place = { y: (13 - Math.max(0, high)).toFixed(1), height: Math.abs(high).toFixed(1) };
        s.set(one.querySelector("rect"), { ...place, class: high > 0 ? "lm-plus" : "lm-minus" });
        one.classList.toggle("lm-now", t === now);
      });
      const top = /** @type {HTMLElement} */ (node.children[now]).offsetTop - node.offsetTop;
      const high = node.clientHeight; // within its own box
      if (top < node.scrollTop || top + 54 > node.scrollTop + high) node.scrollTop = top - high / 2;
    },
  };
}
