// All who write, in one drawing: ln P of what each has written, word by word.
import { fmt, replace, s } from "../kit/core.mjs";

const HIGH = 250; // px
const LEFT = 30;
const RIGHT = 104;
export const style = `
.lmd-race path:not(.lm-grid) { fill: none; stroke-width: 2.2; }
.lmd-race svg text { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; stroke-linejoin: round; }
.lmd-race .lmd-pin { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 2; }
`;

/** plain, rival: the lines, where the second may be hidden.  draw(all, wide) of { name, tone, words, sums }. */
export function race() {
  const axes = s("g", {});
  const plain = s("g", {});
  const rival = s("g", {});
  const node = s("svg", { role: "img", height: HIGH, "aria-label": "ln P of each beginning, word by word" }, [
    axes,
    plain,
    rival,
  ]);

  /** bet: ln P at which the reader said that the first ends, or null. */
  function draw(all, wide, bet) {
    const end = wide - RIGHT;
    const low = 2 * Math.ceil(Math.max(...all.map(({ sums }) => -sums.at(-1))) / 2);
    const steps = Math.max(...all.map(({ words }) => words.length));
    const x = (k) => LEFT + ((end - LEFT) * k) / steps;
    const y = (v) => 26 + ((HIGH - 62) * -v) / low;
    const step = low > 12 ? 4 : 2;
    s.sized(node, wide, HIGH);
    replace(axes, [
      Array.from({ length: low / step + 1 }, (_, k) => -step * k).map((v) => [
        s.rule(`M${LEFT} ${y(v)}H${end}`),
        s.tick(LEFT - 6, y(v) + 4, fmt.num(v, 0), "end"),
      ]),
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
    const ended = x(one.words.length);
    const pin =
      bet === null
        ? []
        : [
            s("circle", { class: "lmd-pin", cx: ended, cy: y(bet), r: 5 }),
            s.text(ended - 9, y(bet) + (bet > one.sums.at(-1) ? -9 : 18), "your bet", "end", {
              style: "font-weight: 600",
            }),
          ];
    return [
      pin,
      ...all.map(({ name, tone, words, sums }, i) => {
        const line = { style: `stroke: var(--lm-${tone})` };
        return [
          s("path", { ...line, d: s.through(sums.map((v, k) => [x(k), y(v)])) }),
          words.map((_, k) => word(i, k)),
          s.endLabel(x(words.length) + 4, s.free(taken, y(sums.at(-1)) + 4, 14), name, line),
        ];
      }),
    ];
  }

  return { node, plain, rival, draw };
}
