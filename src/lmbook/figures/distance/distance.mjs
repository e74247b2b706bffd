// GradientOverDistance: gradient norms of a tanh network, of its matrix alone, and of an LSTM, live while the sliders
// move; beside them, thin, the same tanh network at a small and at a large scale.
import { button, figure, fmt, h, plot, replace, s, table } from "../kit/core.mjs";
import { mean } from "../kit/numbers.mjs";
import { linearNorms, lstmNorms, projected, rnnNorms } from "./norms.mjs";

const LINES = { tanh: ["tanh", "", 1], linear: ["matrix", "6 4", 2], lstm: ["LSTM", "2 3", 3] };
const SMALL = 0.5;
const LARGE = 3; // scales to compare with
const LOW = -12;
const HIGH = 6; // powers of ten that the picture shows
const TALL = 316;
const LEFT = 40;
const RIGHT = 106;
const TOP = 26;
const BOTTOM = 40;
const LETTER = 6.6; // px at most

const style = `
.lm-figure .lmd-both .lm-slider { flex-wrap: wrap; }
.lm-figure .lmd-both .lm-value { min-width: 4.5em; }
.lm-figure .lmd-both .lm-slider > label { flex: 1 0 100%; max-width: none; }
.lmd-chart path:not(.lm-grid) { fill: none; stroke-width: 2.2; }
.lmd-chart .lmd-other path { stroke: var(--lm-muted); stroke-width: 1.2; }
.lmd-chart .lmd-yours { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 1.5; }
`;

const size = (v) =>
  v === 0 ? "0" : v >= 100 && v < 1e6 ? fmt.count(Number(v.toPrecision(2))) : fmt.exp(Math.log(v), 2);
const left = (share) =>
  share >= 1 ? `the gradient is ${size(share)} times as large` : `${size(share)} of the gradient is left`;

/** The factor of a step, from the slope of ln norm over all distances by least squares; 0 where nothing is left. */
export function factor(norms) {
  const logs = norms.map(Math.log);
  if (logs.includes(-Infinity)) return 0;
  const k = mean([...norms.keys()]);
  const l = mean(logs);
  const sums = logs.map((y, i) => [(i - k) * (y - l), (i - k) ** 2]);
  return Math.exp(mean(sums.map(([xy]) => xy)) / mean(sums.map(([, xx]) => xx)));
}

export default figure(({ el, knob, its, put, listen, follow, say, wager }) => {
  const first = { scale: its.scale, T: its.T, bias: its.bias };
  let inputs;

  const scale = knob("scale", "Scale of the recurrent matrix (spectral radius)", [0, 3, 0.05], 2);
  const length = knob("T", "Steps T", [5, 100], (v) => `${v} steps`);
  const bias = knob("bias", "LSTM: bias of the forget gate", [-2, 6, 0.5], 1);
  const again = button("Start again", () => put(first));
  const { node: chart, svg, redraw } = plot("lm-chart lmd-chart", picture);
  s.set(svg, { role: "img" });
  const [axes, others, large, mine] = s.layers(svg, 4);
  for (const one of [others, large]) one.classList.add("lmd-other");
  const numbers = table({
    caption: "Norm of the gradient by distance",
    head: ["Distance", "tanh network", "powers of the matrix", "LSTM"],
  });

  function norms(at = its.scale) {
    const given = its.numbers;
    inputs ??= { rnn: projected(given.W_x, given.x), lstm: projected(given.lstm_W_x, given.x) };
    const now = { v: given.v, scale: at, T: its.T };
    return {
      tanh: rnnNorms({ ...now, W: given.W, inputs: inputs.rnn }),
      linear: linearNorms({ ...now, W: given.W }),
      lstm: lstmNorms({ ...now, W: given.lstm_W, inputs: inputs.lstm, bias: its.bias }),
    };
  }
  const share = (values) => values.at(-1) / values[0];

  const power = (p) => fmt.power(Math.round(p));
  const question = wager({
    name: "distance-large",
    of: "numbers T bias",
    asks: `At scale ${LARGE} the matrix alone multiplies a gradient by ${LARGE} a step. And the tanh network, in 59?`,
    pin: { label: "Times", min: -12, max: 28, value: 14, text: power },
    hides: [large],
    told: (bet) => {
      const found = Math.log10(share(norms(LARGE).tanh));
      const miss =
        bet === null ? "" : ` You said ${power(bet)}: ${fmt.num(Math.abs(bet - found), 1)} powers of ten away.`;
      return `“tanh at ${LARGE}”: times ${size(10 ** found)}, since 1 − h² is below 1.${miss}`;
    },
    settled: redraw,
  });
  el.append(
    question.node,
    h("div", { class: "lm-split lmd-both", style: "--lm-side: 16rem" }, [
      h.stack(scale.node, length.node, bias.node, h.row(again)),
      chart,
    ]),
    say.node,
    numbers.node,
  );

  /** A line, cut where it leaves the frame, with what it comes to; where its end is free, null stands there. */
  function curve(values, x, y, attributes) {
    const powers = values.map(Math.log10);
    const out = powers.findIndex((p) => p < LOW || p > HIGH);
    const points = powers.slice(0, out < 0 ? undefined : out).map((p, k) => [x(k), y(p)]);
    let mark = null;
    if (out > 0) {
      const edge = powers[out] > HIGH ? HIGH : LOW;
      const part = powers[out] === -Infinity ? 1 : (edge - powers[out - 1]) / (powers[out] - powers[out - 1]);
      const at = x(out - 1 + part);
      points.push([at, y(edge)]);
      mark = [`${edge === HIGH ? "↑" : "↓"} ${powers.at(-1) === -Infinity ? "0" : power(powers.at(-1))}`, at, edge];
    }
    return { path: s("path", { ...attributes, d: s.through(points) }), mark, end: out < 0 ? points.at(-1)[1] : null };
  }

  function picture(wide) {
    const yours = question.answer; // a power of ten
    const found = norms();
    const T = its.T;
    const end = wide - RIGHT;
    const x = (k) => LEFT + ((end - LEFT) * k) / (T - 1);
    const y = (p) => TOP + ((TALL - TOP - BOTTOM) * (HIGH - p)) / (HIGH - LOW);
    s.sized(svg, wide, TALL, "Norm of the gradient against distance");
    const step = [1, 2, 5, 10, 20].find((each) => (T - 1) / each <= (end - LEFT) / 34);
    const ticks = Array.from({ length: Math.ceil(T / step) }, (_, i) => i * step);
    replace(axes, [
      s.levels([-12, -9, -6, -3, 0, 3, 6], y, LEFT, end, (p) => (p ? power(p) : "1")),
      ticks.map((k) => s.tick(x(k), TALL - BOTTOM + 16, k)),
      s.text(0, 12, "norm of the gradient", "start"),
      s.text((LEFT + end) / 2, TALL - 6, "distance T − t, in steps"),
    ]);

    // Labels stand at the ends of their lines, or above and below the frame; each finds a free place.
    const taken = [];
    const left = []; // labels of lines that leave the frame, which stand over one another where they meet
    const aside = (at) => s.free(taken, at);
    const named = (line, words, more = {}) => {
      if (line.end !== null) return s.text(end + 6, aside(line.end + 4), words, "start", more);
      const [says, at, edge] = line.mark ?? ["", LEFT, LOW];
      const said = `${words} ${says}`;
      const side = at + LETTER * said.length > wide ? "end" : "start";
      const from = side === "end" ? at - 5 - LETTER * said.length : at + 5;
      const near = left.filter((one) => one.edge === edge && Math.abs(one.from - from) < LETTER * 20);
      left.push({ edge, from });
      const down = edge === HIGH ? 13 + 14 * near.length : -6 - 14 * near.length;
      return s.text(at + (side === "end" ? -5 : 5), y(edge) + down, said, side, more);
    };
    const drawn = Object.entries(LINES).map(([name, [words, dash, tone]]) => {
      const look = { "stroke-dasharray": dash, style: `stroke: var(--lm-${tone})` };
      const line = curve(found[name], x, y, { "data-line": name, ...look });
      const said = `${words} ×${fmt.num(factor(found[name]), 2)}`;
      const label =
        line.end === null
          ? named(line, said, { style: "font-weight: 600" })
          : s.endLabel(end + 4, aside(line.end + 4), said, look);
      return [line.path, label];
    });
    const bet = Math.max(LOW, Math.min(HIGH, yours ?? 0));
    replace(mine, [
      drawn,
      yours !== null && [
        s("circle", { class: "lmd-yours", cx: end, cy: y(bet), r: 5 }),
        s.text(end + 9, aside(y(bet) + 4), `your bet${yours > HIGH ? " ↑" : ""}`, "start"),
      ],
    ]);
    /** A line at another scale; at the reader's own it is the reader's. */
    const other = (at, kind) => {
      if (at === its.scale) return [];
      const line = curve(norms(at)[kind], x, y, { "stroke-dasharray": LINES[kind][1] });
      return [line.path, named(line, `${LINES[kind][0]} at ${at}`)];
    };
    replace(others, other(SMALL, "tanh"), other(LARGE, "linear"));
    replace(large, other(LARGE, "tanh"));
  }

  function draw() {
    const found = norms();
    const kept = share(found.tanh);
    const fate = kept < 1e-3 ? "vanishes" : kept > 1e3 ? "explodes" : "passes";
    numbers.draw(
      found.tanh.map((_, k) => [String(k), ...Object.keys(LINES).map((name) => found[name][k].toExponential(6))]),
    );
    redraw();
    say(`Scale ${fmt.num(its.scale, 2)}: over ${its.T - 1} steps ${left(kept)}; it ${fate}.`);
  }

  listen("numbers", () => {
    inputs = undefined;
    draw();
  });
  follow("scale T bias", draw);
}, style);
