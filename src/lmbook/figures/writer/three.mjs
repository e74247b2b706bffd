// three.mjs: one beginning, the same draws, three temperatures; and the bet after how many characters the second text
// and the third part.
import { answered, h, replace } from "../kit/core.mjs";

const FAR = 60; // characters, to bet on

/** A text, with each word underlined that stood before its neighbour once already. */
function repeated(text) {
  const parts = text.split(/(\s+)/); // a word, what is between, a word ..
  const pair = (/** @type {number} */ i) => `${parts[i - 2]} ${parts[i]}`;
  const before = new Set();
  return parts.map((part, i) => {
    if (i % 2 || i < 2) return part;
    const again = before.has(pair(i));
    before.add(pair(i));
    return again ? h("u", {}, part) : part;
  });
}

/** A text in which one place is marked, and another one, if any, is bet on. */
const marked = (text, place, bet) =>
  [...text].map((char, i) => {
    const kind = { class: i === bet ? "lmw-bet" : null };
    return i === place ? h("mark", kind, char) : i === bet ? h("i", kind, char) : char;
  });

/** beside: [temperature, text] of each; start: their first line. */
export function threeTexts(beside, start, wager) {
  const boxes = beside.map(([t]) => {
    const text = h("p", {});
    return { text, node: h("div", {}, h("b", {}, `Temperature ${t}`), h("p", {}, h("b", {}, start)), text) };
  });
  const [, [, second], [, third]] = beside;
  const truth = [...second].findIndex((char, i) => char !== third[i]);
  const middle = FAR / 2;
  function draw(bet, open) {
    replace(boxes[0].text, repeated(beside[0][1]));
    replace(boxes[1].text, marked(second, open ? null : truth, bet));
    replace(boxes[2].text, marked(third, truth, bet));
  }
  const question = wager({
    name: "writer-apart",
    asks: "After how many characters do the second and the third text part?",
    pin: { label: "Characters", min: 0, max: FAR, value: middle, oninput: (v) => draw(v, true) },
    hides: [boxes[2].text],
    told: (bet) =>
      `They part after ${truth} characters, where one other letter is drawn` +
      answered(bet, truth, `; you said ${bet}, ${Math.abs(truth - bet)} too ${bet > truth ? "many" : "few"}.`),
    settled: (bet) => draw(bet, question.open),
  });
  draw(question.open ? middle : question.answer, question.open);
  return { bet: question.node, node: h("div", { class: "lmw-three" }, [boxes.map(({ node }) => node)]) };
}

export const threeStyle = `
.lmw-three { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0.4rem 1rem; }
.lm-figure .lmw-three p { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.8125rem; line-height: 1.35;
  font-family: ui-monospace, Menlo, Consolas, monospace; }
.lmw-three b { font-weight: 600; font-size: 0.8125rem; }
.lm-figure .lmw-three mark { background: var(--lm-1); color: #fff; }
.lmw-three .lmw-bet { font-style: normal; }
@media screen { .lmw-three .lmw-bet { box-shadow: inset 2px 0 var(--lm-2), 0 3px var(--lm-2); } }
`;
