// All who write, in one drawing: ln P of what each has written, word by word.
import { fmt, h, plot, replace, s } from "../kit/core.mjs";
import { falls, likeliestOf, walk } from "./search.mjs";

const HIGH = 250; // px
const LEFT = 30;
const RIGHT = 104;
export const style = `
.lmd-race path:not(.lm-grid) { fill: none; stroke-width: 2.2; }
.lmd-race svg text { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; stroke-linejoin: round; }
.lmd-race .lmd-pin { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 2; }
.lm-figure .lmd-runs { margin-top: 0.25rem; }
.lm-figure .lmd-runs ~ div .lm-says { margin-top: 0.5rem; }
.lm-figure .lmd-runs p { display: grid; grid-template-columns: 4.7rem minmax(0, 1fr) 2.7rem; gap: 0.4rem; }
.lmd-runs p > :last-child { text-align: right; font-variant-numeric: tabular-nums; }
`;

/**
 * Below the lines what each has written.  hides: the beam's part.  draw({ nodes, picks, width, bet }): the tree, the
 * reader's path, how many the beam holds, and what share of its probability greedy was said to reach, or null.
 * @param {(id: number) => string} word
 * @param {(ids: number[]) => string} spelled
 */
export function race(word, spelled) {
  const { node, svg, redraw } = plot("lm-chart lmd-race", lines);
  node.ariaHidden = "true";
  const [axes, plain, rival] = s.layers(svg, 3);
  const runs = h("div", { class: "lmd-runs" });
  const rivalRun = h("div", { class: "lmd-runs" });
  let all = []; // of { name, tone, ids, words, sums }
  let said = null; // ln P at which the reader said that the first ends

  function lines(wide) {
    const end = wide - RIGHT;
    const low = 2 * Math.ceil(Math.max(...all.map(({ sums }) => -sums.at(-1))) / 2);
    const steps = Math.max(...all.map(({ words }) => words.length));
    const x = (k) => LEFT + ((end - LEFT) * k) / steps;
    const y = (v) => 26 + ((HIGH - 62) * -v) / low;
    const step = low > 12 ? 4 : 2;
    const marks = Array.from({ length: low / step + 1 }, (_, k) => -step * k);
    s.sized(svg, wide, HIGH);
    replace(axes, [
      s.levels(marks, y, LEFT, end, (v) => fmt.num(v, 0)),
      s.text(0, 10, "ln P", "start"),
      s.tick((LEFT + end) / 2, HIGH - 2, "words written"),
      Array.from({ length: steps }, (_, k) => s.tick(x(k + 1), HIGH - 16, k + 1)),
    ]);
    // Greedy and the beam: the words in which they differ, or, where those have no room, the first; the higher above
    const [one, other] = all;
    const apart = one.words.map((word, k) => word !== other.words[k]);
    const roomy = x(1) - x(0) > 52;
    const shown = (k) => (roomy ? apart[k] : k === apart.indexOf(true)) && !/<eos>/.test(one.words[k] + other.words[k]);
    const word = (i, k) => {
      if (i > 1 || !shown(k)) return null;
      const higher = all[i].sums[k + 1] > all[1 - i].sums[k + 1];
      // lines fall: above one there is room on the right, below one on the left
      const [aside, down, side] = higher ? [4, -6, "start"] : [-4, 14, "end"];
      return s.text(x(k + 1) + aside, y(all[i].sums[k + 1]) + down, all[i].words[k], side);
    };
    const taken = [];
    const [greedy, beam, ...you] = all.map(({ name, tone, words, sums }, i) => {
      const line = { style: `stroke: var(--lm-${tone})`, "stroke-dasharray": i > 1 ? "6 4" : null };
      return [
        s("path", { ...line, d: s.through(sums.map((v, k) => [x(k), y(v)])) }),
        words.map((_, k) => word(i, k)),
        s.endLabel(x(words.length) + 4, s.free(taken, y(sums.at(-1)) + 4, 14), name, line),
      ];
    });
    const ended = x(one.words.length);
    const down = said > one.sums.at(-1) ? -9 : 18;
    replace(plain, greedy, you);
    replace(rival, [
      beam,
      said !== null && [
        s("circle", { class: "lmd-pin", cx: ended, cy: y(said), r: 5 }),
        s.text(ended - 9, y(said) + down, "your bet", "end", { style: "font-weight: 600" }),
      ],
    ]);
  }

  function draw({ nodes, picks, width, bet }) {
    const own = walk(nodes, picks);
    all = [
      { name: "greedy", tone: 1, ids: likeliestOf(nodes, 1).ids },
      { name: `beam of ${width}`, tone: 2, ids: likeliestOf(nodes, width).ids },
      { name: own.node === null ? "you" : "you, so far", tone: 3, ids: own.path.map(({ id }) => id) },
    ]
      .filter(({ ids }) => ids.length)
      .map((one) => ({ ...one, sums: falls(nodes, one.ids), words: one.ids.map(word) }));
    said = bet && all[1].sums.at(-1) + Math.log(bet);
    const [greedy, beam, ...you] = all.map(({ name, tone, ids, sums }) =>
      h("p", {}, [
        h("b", { style: `text-decoration: underline 3px var(--lm-${tone})` }, name),
        h("span", {}, spelled(ids)),
        h("span", {}, fmt.num(sums.at(-1))),
      ]),
    );
    replace(runs, greedy, you);
    replace(rivalRun, beam);
    redraw();
  }
  return { nodes: [node, runs, rivalRun], hides: [/** @type {any} */ (rival), rivalRun], draw };
}
