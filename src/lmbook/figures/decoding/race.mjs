// All who write, in one drawing: ln P of what each has written, word by word.
import { endLabel, fmt, replace, s } from "../kit/core.mjs";

const HIGH = 230; // px
const LEFT = 30;
const RIGHT = 104;
export const style = `
.lmd-race path { fill: none; stroke-width: 2.2; }
.lmd-race svg text { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; stroke-linejoin: round; }
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
  const text = (x, y, words, side = "middle", kind = "lm-tick") =>
    s("text", { x, y, "text-anchor": side, class: kind }, words);

  function draw(all, wide) {
    const end = wide - RIGHT;
    const low = 2 * Math.ceil(Math.max(...all.map(({ sums }) => -sums.at(-1))) / 2);
    const steps = Math.max(...all.map(({ words }) => words.length));
    const x = (k) => LEFT + ((end - LEFT) * k) / steps;
    const y = (v) => 18 + ((HIGH - 48) * -v) / low;
    const step = low > 12 ? 4 : 2;
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${wide} ${HIGH}`, width: wide }))
      node.setAttribute(name, String(value));
    replace(axes, [
      Array.from({ length: low / step + 1 }, (_, k) => -step * k).map((v) => [
        s("path", { class: "lm-grid", style: "stroke-width: 1", d: `M${LEFT} ${y(v)}H${end}` }),
        text(LEFT - 6, y(v) + 4, fmt.num(v, 0), "end"),
      ]),
      text(0, 10, "ln P", "start", ""),
      text((LEFT + end) / 2, HIGH - 2, "words written"),
      Array.from({ length: steps }, (_, k) => text(x(k + 1), HIGH - 16, k + 1)),
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
      return text(x(k + 1) + aside, y(all[i].sums[k + 1]) + down, all[i].words[k], side, "");
    };
    const taken = [];
    return all.map(({ name, tone, words, sums }, i) => {
      let high = y(sums.at(-1)) + 4;
      while (taken.some((place) => Math.abs(place - high) < 14)) high += 2;
      taken.push(high);
      const line = { style: `stroke: var(--lm-${tone})` };
      return [
        s("path", { ...line, d: sums.map((v, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(v).toFixed(1)}`).join("") }),
        words.map((_, k) => word(i, k)),
        endLabel(x(words.length) + 4, high, name, line),
      ];
    });
  }

  return { node, plain, rival, draw };
}
