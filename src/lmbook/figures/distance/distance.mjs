// GradientOverDistance: gradient norms of a tanh network, of its matrix alone, and of an LSTM, live while the sliders
// move.
import { button, figure, fmt, h, onwidth, replace, s, table } from "../kit/core.mjs";
import { linearNorms, lstmNorms, projected, rnnNorms } from "./norms.mjs";

const LINES = { tanh: ["tanh network", "", 1], linear: ["powers of the matrix", "6 4", 2], lstm: ["LSTM", "2 3", 3] };
const LOW = -12;
const HIGH = 6; // powers of ten that the picture shows

const style = `
.lmd-chart svg { display: block; max-width: 100%; height: auto; overflow: visible; }
.lmd-chart text { fill: var(--lm-text); font-size: 12px; }
.lmd-chart .lmd-grid { stroke: var(--lm-line); stroke-width: 1; }
.lmd-chart path { fill: none; stroke-width: 2.2; }
.lmd-key { display: flex; flex-wrap: wrap; gap: 0.2rem 1.2rem; margin: 0; font-size: 0.875rem; }
.lmd-key svg { width: 2.2rem; height: 0.7rem; vertical-align: middle; margin-right: 0.4rem; }
`;

const size = (value) => (value === 0 ? "0" : fmt.exp(Math.log(value), 2));
const factor = (value) => (value === 0 ? "0" : value >= 0.01 && value < 100 ? fmt.num(value, 2) : size(value));

export default figure(({ el, knob, get, put, listen, say }) => {
  const first = { scale: get("scale"), T: get("T"), bias: get("bias") };
  let inputs;
  let wide = 560;

  const scale = knob("scale", "Scale of the recurrent matrix (spectral radius)", [0, 3, 0.05], 2);
  const length = knob("T", "Steps T", [5, 100], (v) => `${v} steps`);
  const bias = knob("bias", "LSTM: bias of the forget gate", [-2, 6, 0.5], 1);
  const again = button("Start again", () => {
    put(first);
  });
  const chart = h("div", { class: "lmd-chart" });
  const line = (name, attributes) =>
    s("path", { ...attributes, "stroke-dasharray": LINES[name][1], style: `stroke: var(--lm-${LINES[name][2]})` });
  const key = h("p", { class: "lmd-key" }, [
    Object.entries(LINES).map(([name, [words]]) =>
      h("span", {}, [
        s("svg", { viewBox: "0 0 35 11", "aria-hidden": "true" }, [
          line(name, { d: "M 0 6 H 35", "stroke-width": 2.2, fill: "none" }),
        ]),
        words,
      ]),
    ),
  ]);
  const numbers = table({
    caption: "Norm of the gradient by distance",
    head: ["Distance", ...Object.values(LINES).map(([words]) => words)],
  });
  el.append(
    scale.node,
    length.node,
    bias.node,
    key,
    chart,
    say.node,
    h("div", { class: "lm-row" }, again),
    numbers.node,
  );

  function norms() {
    const given = get("numbers");
    inputs ??= { rnn: projected(given.W_x, given.x), lstm: projected(given.lstm_W_x, given.x) };
    const now = { v: given.v, scale: get("scale"), T: get("T") };
    return {
      tanh: rnnNorms({ ...now, W: given.W, inputs: inputs.rnn }),
      linear: linearNorms({ ...now, W: given.W }),
      lstm: lstmNorms({ ...now, W: given.lstm_W, inputs: inputs.lstm, bias: get("bias") }),
    };
  }

  function picture(found, words) {
    const left = 46;
    const right = 12;
    const top = 26;
    const bottom = 40;
    const tall = 278;
    const T = get("T");
    const x = (k) => left + ((wide - left - right) * k) / (T - 1);
    const y = (power) => top + ((tall - top - bottom) * (HIGH - power)) / (HIGH - LOW);
    const grid = [];
    for (let power = LOW; power <= HIGH; power += 3) {
      grid.push(
        s("line", { class: "lmd-grid", x1: left, x2: wide - right, y1: y(power), y2: y(power) }),
        s("text", { x: left - 6, y: y(power) + 4, "text-anchor": "end" }, power ? fmt.power(power) : "1"),
      );
    }
    const step = [1, 2, 5, 10, 20].find((each) => (T - 1) / each <= 8);
    for (let k = 0; k < T; k += step)
      grid.push(s("text", { x: x(k), y: tall - bottom + 16, "text-anchor": "middle" }, String(k)));
    const paths = Object.entries(found).map(([name, values]) => {
      const points = values.map((value, k) => [
        x(k),
        y(Math.max(LOW, Math.min(HIGH, value > 0 ? Math.log10(value) : -Infinity))),
      ]);
      return line(name, {
        d: points.map(([a, b], k) => `${k ? "L" : "M"} ${a.toFixed(1)} ${b.toFixed(1)}`).join(" "),
        "data-line": name,
      });
    });
    replace(chart, [
      s("svg", { role: "img", "aria-label": words, viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall }, [
        grid,
        paths,
        s("text", { x: 0, y: 12 }, "norm of the gradient"),
        s("text", { x: (left + wide - right) / 2, y: tall - 6, "text-anchor": "middle" }, "distance T − t, in steps"),
      ]),
    ]);
  }

  function draw() {
    const found = norms();
    const T = get("T");
    const share = Object.fromEntries(Object.entries(found).map(([name, values]) => [name, values[T - 1] / values[0]]));
    const each = Object.fromEntries(Object.entries(share).map(([name, value]) => [name, value ** (1 / (T - 1))]));
    const fate = share.tanh < 1e-3 ? "vanishes" : share.tanh > 1e3 ? "explodes" : "passes";
    const words =
      `Scale ${fmt.num(get("scale"), 2)}: over ${T - 1} steps the gradient of the tanh network ${fate}: ` +
      `${size(share.tanh)} of it is left, a factor of ${factor(each.tanh)} a step; the matrix alone ` +
      `would take ${factor(each.linear)}. Of the LSTM's, ${size(share.lstm)} is left, ${factor(each.lstm)} a ` +
      "step.";
    picture(found, words);
    numbers.draw(
      found.tanh.map((_, k) => [String(k), ...Object.keys(LINES).map((name) => found[name][k].toExponential(6))]),
    );
    say(words);
  }

  listen("numbers", () => {
    inputs = undefined;
    draw();
  });
  listen("scale T bias", draw);
  draw();
  return onwidth(chart, (width) => {
    const next = Math.max(260, Math.min(680, Math.floor(width)));
    if (next !== wide) {
      wide = next;
      draw();
    }
  });
}, style);
