// unit.mjs: one LSTM unit, gate by gate.
//
//   i, f, o = sigma(..), g = tanh(..)      c_t = f c_{t-1} + i g      h_t = o tanh(c_t)
import { dot, sigmoid as sigma } from "../kit/numbers.mjs";

/**
 * One LSTM unit over a list of inputs (each a list of numbers). weights: { i, f, g, o } of [w for each input, w for h,
 * b]. Returns a row a step: { x, before: c_{t-1}, h1: h_{t-1}, a: { i, f, g, o }, i, f, g, o, c, shown: tanh(c), h }.
 */
export function unit(weights, inputs, bias) {
  let h = 0;
  let c = 0;
  return inputs.map((x) => {
    const a = Object.fromEntries(
      ["i", "f", "g", "o"].map((gate) => {
        const w = weights[gate];
        return [gate, dot(x, w) + w[x.length] * h + (gate === "f" ? bias : w[x.length + 1])];
      }),
    );
    const row = { x, before: c, h1: h, a, i: sigma(a.i), f: sigma(a.f), g: Math.tanh(a.g), o: sigma(a.o) };
    c = row.f * c + row.i * row.g;
    row.c = c;
    row.shown = Math.tanh(c);
    h = row.o * row.shown;
    row.h = h;
    return row;
  });
}
