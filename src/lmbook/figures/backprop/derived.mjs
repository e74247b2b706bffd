// What is said of a number of the graph: how it was computed, how its derivative was found, and what a step did.
import { fmt, h } from "../kit/core.mjs";

export const VALUE_AT = { x: 0, w: 0, z: 1, y: 2, L: 3 }; // the step at which a number is known
export const SLOPE_AT = { L: 4, y: 5, z: 6, w: 7, x: 7 }; // and the derivative of L by it
export const known = (name, step) => step >= VALUE_AT[name[0]];
export const traced = (name, step) => step >= SLOPE_AT[name[0]];
const SUB = "₀₁₂₃";
export const three = [1, 2, 3];

export const written = (name) =>
  (name[0] === "y" ? "ŷ" : name[0]) + [...name.slice(1)].map((digit) => SUB[digit]).join("");
const slope = (name) => `∂L/∂${written(name)}`;
const trim = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
export const num = (v) => {
  const size = Math.abs(v);
  if (size === 0 || (size >= 5e-4 && size < 2e5)) return trim(fmt.num(v, 3));
  return `${v < 0 ? "−" : ""}${size < 1 ? fmt.prob(size) : fmt.exp(Math.log(size))}`;
};
const inside = (v) => (v < 0 ? `(${num(v)})` : num(v)); // a factor of a product
export const short = (v) =>
  Math.abs(v) < 1000
    ? fmt.num(v, Math.abs(v) >= 100 ? 0 : Math.abs(v) >= 10 ? 1 : 2)
    : `${v < 0 ? "−" : ""}${fmt.exp(Math.log(Math.abs(v)), 1).replaceAll(" ", "")}`;
export const plain = (v) => String(Number(v.toPrecision(12)));
export const exact = (v) => {
  const [mantissa, exponent] = plain(v).split("e");
  return mantissa.replace("-", "−") + (exponent ? ` × ${fmt.power(Number(exponent))}` : "");
};
export const input = (name) => name[0] === "x" || name[0] === "w";

/** How the number was computed, as the state { now, step, label } has it. */
export function formula(name, { now, step, label }) {
  const v = now.value;
  const i = name[1];
  if (step < VALUE_AT[name[0]]) return `${written(name)} is computed at step ${VALUE_AT[name[0]]}.`;
  if (input(name)) return `${written(name)} = ${num(v[name])}, given.`;
  if (name === "L") return `L = −ln ${written(`y${label}`)} = −ln ${fmt.prob(v[`y${label}`])} = ${num(v.L)}`;
  if (name[0] === "z") {
    const [one, two] = [1, 2].map((k) => `${inside(v[`w${i}${k}`])} · ${inside(v[`x${k}`])}`);
    return `${written(name)} = w${SUB[i]}₁ x₁ + w${SUB[i]}₂ x₂ = ${one} + ${two} = ${num(v[name])}`;
  }
  const powers = three.map((j) => fmt.exp(v[`z${j}`]));
  return (
    `${written(name)} = exp ${written(`z${i}`)} / (exp z₁ + exp z₂ + exp z₃) = ${powers[i - 1]} / ` +
    `(${powers.join(" + ")}) = ${fmt.prob(v[name])}`
  );
}

/** How the derivative of L by it was found. */
export function derivative(name, { now, step, label }) {
  if (step < SLOPE_AT[name[0]])
    return [h("p", {}, `${slope(name)} comes at step ${SLOPE_AT[name[0]]}, on the way back.`)];
  if (name === "L") return [h("p", { class: "lmb-sum" }, "∂L/∂L = 1: the way back starts here.")];
  const paths = now.arrows.filter((arrow) => arrow.from === name);
  const shown = paths.map(({ to, local }) =>
    h("li", {}, [
      `through ${written(to)}: ${slope(to)} · ∂${written(to)}/∂${written(name)} = ${inside(now.by[to])} · ` +
        `${inside(local)} = ${num(now.by[to] * local)}`,
    ]),
  );
  const i = Number(name[1]);
  const how = paths.length > 1 ? "the sum of the paths = " : "";
  const error = `${written(`y${i}`)} − y${SUB[i]} = ${fmt.prob(now.value[`y${i}`])} − ${i === label ? 1 : 0}`;
  const sum = `${slope(name)} = ${how}${num(now.by[name])}${name[0] === "z" ? `, which is ${error}` : ""}`;
  return [h("ul", {}, shown), h("p", { class: "lmb-sum" }, sum)];
}

/** What the last step did. */
export function sentence({ now, step, label }) {
  const all = (letter, list) => fmt.list(three.map((i) => num(list[`${letter}${i}`])));
  const came = written(`y${label}`);
  return [
    `Given: two inputs, six weights, and word ${label} came. Press Next to compute.`,
    `Forward: W x gives the logits ${all("z", now.value)}.`,
    `Forward: the softmax turns them into the probabilities ${all("y", now.value)}.`,
    `Forward: word ${label} came, with probability ${num(now.value[`y${label}`])}; the loss is ${num(now.value.L)}.`,
    "Back: the derivative of the loss by itself is 1.",
    `Back: by ${came} it is −1/${came} = ${num(now.by[`y${label}`])}, by the other two 0.`,
    `Back: for each logit, what the model said minus what came: ${all("z", now.by)}.`,
    `Back: each weight gets its logit's derivative times its input; the loss is ${num(now.value.L)}.`,
  ][step];
}
