// −ln P of all words of a sentence end to end; the same place on the lower scale is their product.
import { fmt, plot, replace, s } from "../kit/core.mjs";
import { gone } from "./chain.mjs";

export const style = `
.lm-strip rect[data-piece] { fill: var(--lm-1); stroke: var(--lm-paper); }
.lm-strip rect[data-piece="odd"] { fill: color-mix(in srgb, var(--lm-1) 84%, var(--lm-paper)); }
.lm-strip rect[data-piece="unknown"] { fill: var(--lm-2); }
.lm-strip .lm-chosen { stroke: var(--lm-text); stroke-width: 2; }
.lm-strip .lm-earlier { fill: var(--lm-edge); }
.lm-strip .lm-within { fill: #fff; pointer-events: none; }
.lm-strip .lm-dies { stroke: var(--lm-text); stroke-width: 1.5; fill: none; }
.lm-strip .lm-flag { stroke: var(--lm-2); stroke-width: 3; fill: none; }
`;
const END = 149 * Math.LN2; // nats of the smallest float32 above 0
const WIDE = 150; // nats of the strip, or more where a sentence has more
const LETTER = 6.6; // px
const TOP = 40; // px of the drawing: where the words begin, how high they are, and all of it
const TALL = 34;
const ALL = 128;

/**
 * end: where float32 ends, which a bet may hide.
 * draw({ rows, chosen, open, yours, earlier }): the words, the one that is picked, whether the bet is open, the word
 * that was bet on, the words of the sentence to compare with, or none.
 */
export function strip() {
  let last = null;
  const { node, svg, redraw } = plot("lm-chart lm-strip", (width) => last && words(width, last));
  svg.role = "img";
  const [end, pieces, scale] = s.layers(svg, 3);

  function words(width, { rows, chosen, open, yours, earlier }) {
    const total = -rows.at(-1).sum;
    const most = Math.max(WIDE, total);
    const x = (/** @type {number} */ nats) => ((width - 2) * nats) / most + 1;
    const zero = gone(rows);
    const start = (/** @type {number} */ i) => (i ? -rows[i - 1].sum : 0);
    const every = width > 560 ? 20 : 50;
    const marks = (size, unit) => Array.from({ length: Math.floor(most / (size * unit)) + 1 }, (_, i) => i * size);
    const tick = (at, y, words) => s.tick(at, y, words, at < 20 ? "start" : at > width - 12 ? "end" : "middle");
    const below = TOP + TALL;
    const aside = width - x(END) < 160;
    const thin = { class: "lm-earlier", y: TOP - 5, height: 4 };
    replace(pieces, [
      earlier.map(({ sum }, i) => {
        const from = x(i ? -earlier[i - 1].sum : 0);
        return s("rect", { ...thin, x: from, width: Math.max(0, x(-sum) - from - 1) });
      }),
      rows.map((row, i) => {
        const from = x(start(i));
        const to = x(-row.sum);
        const kind = row.known ? (i % 2 ? "odd" : "even") : "unknown";
        const box = { x: from, y: TOP, width: to - from, height: TALL, class: i === chosen ? "lm-chosen" : "" };
        const title = s("title", {}, `${row.token}: −ln P = ${fmt.num(-Math.log(row.p))}`);
        const roomy = to - from > LETTER * row.token.length + 6;
        return [
          s("rect", { "data-piece": kind, ...box }, title),
          roomy && s.text((from + to) / 2, TOP + 22, row.token, "middle", { class: "lm-within" }),
        ];
      }),
      yours !== null && s.rule(`M${x(-rows[yours].sum)} ${TOP - 6}v${TALL + 12}`, "lm-flag"),
    ]);
    replace(scale, [
      s.tick(1, 12, "−ln P of the words, end to end, in nats", "start"),
      marks(every, 1).map((v) => tick(x(v), TOP - 9, String(v))),
      marks(every > 20 ? 20 : 10, Math.LN10).map((v) =>
        tick(x(v * Math.LN10), below + 16, v ? fmt.power(-v) : "product: 1"),
      ),
      yours !== null && tick(x(-rows[yours].sum), below + 34, "your bet"),
    ]);
    replace(end, [
      s("rect", { class: "lm-zone", x: x(END), y: TOP, width: Math.max(0, width - x(END)), height: TALL + 24 }),
      s.rule(`M${x(END)} ${TOP - 4}v${TALL + 46}`, "lm-dies"),
      s.tick(x(END) + (aside ? -6 : 6), below + 50, "float32 ends: from here 0", aside ? "end" : "start"),
    ]);
    const after =
      zero < 0 ? "; the product stays above the smallest float32." : `; float32 gives 0 from token ${zero + 1} on.`;
    s.sized(svg, width, ALL, `The words end to end${open ? "." : `, ${fmt.num(total)} nats in all${after}`}`);
  }

  return {
    node,
    end,
    draw(now) {
      last = now;
      redraw();
    },
  };
}
