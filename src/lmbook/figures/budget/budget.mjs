// SpendTheBudget: a fixed number of operations, a size chosen for it, and the loss that comes of both.
//
//   loss   E + A / N^alpha + B / D^beta,   D = C / (6 N)      the numbers of Besiroglu et al. 2024
//   best   N = (alpha A / (beta B))^(1 / (alpha + beta)) (C / 6)^(beta / (alpha + beta))
import { bars, figure, fmt, h, replace, s } from "../kit/core.mjs";

const E = 1.8172;
const A = 482.01;
const B = 2085.43;
const ALPHA = 0.3478;
const BETA = 0.3658;
const SIZES = [7, 13];
const [LOWEST, HIGHEST] = [1.6, 4.2]; // nats at the bottom and at the top of the drawing
/** @type {[string, number, number][]} */
const MODELS = [
  ["GPT-3", 175e9, 300e9],
  ["Chinchilla", 70e9, 1.4e12],
  ["Llama 3, 8B", 8e9, 15e12],
  ["Llama 3, 405B", 405e9, 15.6e12],
];

const NAMES = ["", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion"];

const style = `
.lm-figure .lmbg-curve svg { display: block; width: 100%; max-width: 27rem; height: auto; }
.lm-figure .lmbg-line { fill: none; stroke: var(--lm-1); stroke-width: 2; }
.lm-figure .lmbg-other { fill: none; stroke: var(--lm-edge); stroke-width: 1.5; }
.lm-figure .lmbg-axis { fill: none; stroke: var(--lm-muted); stroke-width: 1; }
.lm-figure .lmbg-best { fill: none; stroke: var(--lm-muted); stroke-width: 1.5; stroke-dasharray: 4 3; }
.lm-figure .lmbg-low { fill: var(--lm-text); }
.lm-figure .lmbg-dot { fill: var(--lm-2); stroke: var(--lm-text); stroke-width: 1; }
.lm-figure .lmbg-bet { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 2; }
.lm-figure .lmbg-curve .lmbg-said { font-weight: 600; }
@container (min-width: 40rem) { .lm-figure .lmbg-curve svg text { font-size: 12px; } }
.lm-figure .lmbg-curve text { font-size: 14px; paint-order: stroke; stroke: var(--lm-paper); stroke-width: 4px; }
.lm-figure .lmbg-both { --lm-side: 17rem; }
.lm-figure .lmbg-both .lm-value { white-space: nowrap; }
`;

/** The three terms of the loss; the same as terms() in Python. */
export function terms(budget, size) {
  const N = 10 ** size;
  return [E, A / N ** ALPHA, B / (10 ** budget / (6 * N)) ** BETA];
}

/** log_10 of the best size; the same as best() in Python. */
export const best = (budget) =>
  (Math.log10((ALPHA * A) / (BETA * B)) + BETA * (budget - Math.log10(6))) / (ALPHA + BETA);

/** A large number in words, with two digits. */
export function big(n) {
  const k = Math.max(
    0,
    NAMES.findLastIndex((_, k) => n >= 1000 ** k),
  );
  return `${Number((n / 1000 ** k).toPrecision(2))} ${NAMES[k]}`.trim();
}

const total = (budget, size) => terms(budget, size).reduce((a, b) => a + b);

export default figure(({ el, knob, its, follow, say, wager }) => {
  const operations = (v) => fmt.exp(v * Math.LN10, 2);
  const budget = knob("budget", "Operations", [18, 26, 0.1], operations);
  const size = knob("size", "Weights", [...SIZES, 0.05], (v) => big(10 ** v));
  const beside = h.small();
  const chart = bars({ label: "nats per token" });
  const curve = h("div", { class: "lmbg-curve", "aria-hidden": "true" });
  const asked = its.budget;
  /** What is lost at a hundred times the budget by so many times the weights, as a power of 10. */
  const cost = (/** @type {number} */ more) => total(asked + 2, best(asked) + more) - total(asked + 2, best(asked + 2));
  const [bigger, longer] = [BETA, ALPHA].map((power) => 10 ** ((2 * power) / (ALPHA + BETA)));
  const question = wager({
    name: "budget",
    asks: "A hundred times the budget: how many times the weights?",
    pin: { label: "Times", min: 0, max: 2, step: 0.1, value: 1.7, text: (v) => big(10 ** v) },
    told: (bet) =>
      `${big(bigger)} times the weights, and ${big(longer)} times the text.` +
      (bet === null ? "" : ` You said ${big(10 ** bet)}, which costs ${fmt.share(cost(bet), 3)} nats.`),
    settled: draw,
  });
  const stack = h.stack(budget.node, size.node, chart.node, beside, say.node);
  el.append(question.node, h("div", { class: "lm-split lmbg-both" }, stack, curve));

  const x = (v) => 30 + ((v - SIZES[0]) / (SIZES[1] - SIZES[0])) * 320;
  const y = (loss) => 190 - ((loss - LOWEST) / (HIGHEST - LOWEST)) * 170;
  const all = Array.from({ length: 601 }, (_, i) => SIZES[0] + i / 100);
  /** The curve of a budget; higher losses are above the drawing, as is the dot then. */
  function curveOf(C, kind) {
    const points = all.filter((v) => total(C, v) <= HIGHEST);
    if (!points.length) return [];
    return s.rule(s.through(points.map((v) => [x(v), y(total(C, v))])), kind);
  }

  /** What the reader bet, on the curve of the hundredfold budget: so many times the weights, and the loss there. */
  function pin(C) {
    if (C !== asked || question.answer === null) return [];
    const at = best(C) + question.answer;
    const px = x(at);
    const py = y(total(C + 2, at));
    const said = `you: ${fmt.share(cost(question.answer), 3)} more`;
    const more = 10 ** question.answer > bigger; // on the other side stands the lowest point
    const beside = more ? [px + 10, py + 4, "start"] : [px - 10, py + 4, "end"];
    const [left, low, side] = more && px > 290 ? [380, py - 12, "end"] : beside;
    return [
      s("circle", { class: "lmbg-bet", cx: px, cy: py, r: 6 }),
      s.text(left, low, said, String(side), { class: "lmbg-said" }),
    ];
  }

  function draw() {
    const { budget: C, size: N } = its;
    const [floor, few, little] = terms(C, N);
    const loss = total(C, N);
    const lowest = best(C);
    const tokens = 10 ** C / (6 * 10 ** N);
    const row = (label, value, tone) => ({ label, value, text: fmt.num(value, 2), tone });
    const rows = [row("too few weights", few, 1), row("too little text", little, 1), row("floor", floor, "faint")];
    chart.draw(rows, { max: Math.max(2, few, little, floor) });
    const lowestOf = (/** @type {number} */ C) => {
      const at = best(C);
      return { at: x(at), dot: s("circle", { class: "lmbg-low", cx: x(at), cy: y(total(C, at)), r: 3 }) };
    };
    /** At the end of a curve, right of the frame or above. */
    const name = (C, words) => {
      const last = all.findLast((v) => total(C, v) <= HIGHEST);
      if (last === undefined) return null;
      const ends = last === SIZES[1];
      return ends ? s.text(384, y(total(C, last)) - 6, words, "end") : s.text(x(last) + 8, 30, words, "start");
    };
    const other = (/** @type {number} */ more) => {
      const { at, dot } = lowestOf(C + more);
      const low = y(total(C + more, best(C + more)));
      const inside = at > 30 && at < 350 && low > 20;
      return [
        curveOf(C + more, "lmbg-other"),
        inside && [s.rule(`M${at} ${low} V190`, "lmbg-best"), dot],
        name(C + more, more < 0 ? "1/100" : "×100"),
      ];
    };
    replace(
      curve,
      s("svg", { viewBox: "0 0 386 214" }, [
        s.rule("M30 20 V190 H350", "lmbg-axis"),
        [8, 10, 12].map((v) => s.text(x(v), 208, big(10 ** v))),
        s.text(384, 208, "weights", "end"),
        [2, 3, 4].map((nats) => s.text(18, y(nats) + 4, nats)),
        s.rule(`M30 ${y(E)} H350`, "lmbg-best"),
        s.text(34, y(E) - 4, `floor ${fmt.num(E)}`, "start"),
        question.open ? [] : [-2, 2].map(other), // the lowest points of other budgets answer the bet
        curveOf(C, "lmbg-line"),
        lowestOf(C).dot,
        pin(C),
        loss <= HIGHEST
          ? s("circle", { class: "lmbg-dot", cx: x(N), cy: y(loss), r: 6 })
          : s.text(x(N), 16, `↑ ${fmt.num(loss, 1)}`),
        s.text(30, 15, "nats"),
      ]),
    );
    const near = MODELS.filter(([, n, d]) => Math.abs(Math.log10(6 * n * d) - C) < 0.15);
    const named = near.map(([name, n, d]) => `${name} (${big(n)} weights, ${big(d)} tokens)`).join(", ");
    beside.textContent = named && `About this budget: ${named}.`;
    say(
      `${big(10 ** N)} weights read ${big(tokens)} tokens: ${fmt.num(loss, 2)} nats; ` +
        `the best ${big(10 ** lowest)}, ${fmt.num(total(C, lowest), 2)}.`,
    );
  }

  follow("budget size", draw);
}, style);
