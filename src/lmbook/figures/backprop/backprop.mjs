// BackpropGraph: a softmax layer, number by number. Forward to the loss, back to the weights; everything can be edited.
import { button, disable, field, figure, fmt, h, replace, slider, table } from "../kit/core.mjs";
import { derivative, exact, formula, input, known, num, plain, sentence, three, traced, written } from "./derived.mjs";
import { drawnGraph, graphStyle } from "./drawn.mjs";
import { changed, layer, measured, NAMES } from "./graph.mjs";

const LAST = 7;
const MOST = 10;
const STEPS = [
  "inputs given",
  "forward: logits",
  "forward: probabilities",
  "forward: loss",
  "back: the loss itself",
  "back: probabilities",
  "back: logits",
  "back: weights and inputs",
];
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const style = `
.lm-figure .lmb-detail { padding: 0.6rem 0.8rem; border-radius: 6px; background: var(--lm-soft); font-size: 0.875rem; }
.lmb-detail p { overflow-wrap: anywhere; }
.lmb-detail ul { margin: 0.2rem 0; padding-left: 1.1rem; }
.lmb-detail li { margin: 0; overflow-wrap: anywhere; }
.lmb-detail .lmb-sum { font-weight: 600; }
.lmb-walk .lm-slider { flex: 1 1 7rem; }
.lmb-walk .lm-value { display: none; } /* the sentence below says it */
.lmb-both .lm-field input { flex: 0 1 8rem; }
.lmb-both .lm-field input[aria-invalid="true"] { border-color: var(--lm-2); box-shadow: inset 0 0 0 1px var(--lm-2); }
.lmb-both .lmb-detail { min-height: 8.6rem; }
.lmb-both .lmb-fault { min-height: 1.45em; }
${graphStyle}`;

const bounded = (/** @type {number} */ x) => Math.max(-MOST, Math.min(MOST, x));
const fits = (/** @type {number} */ x) => typeof x === "number" && Math.abs(x) <= MOST;
const about = {
  style,
  allows: {
    x: (x) => x.length === 2 && x.every(fits),
    W: (W) => W.length === 3 && W.every((row) => row.length === 2 && row.every(fits)),
  },
};

export default figure(({ el, knob, pick, its, put, follow, say, wager }) => {
  const first = { x: its.x, W: its.W, label: its.label, step: its.step };
  let now = layer(its.x, its.W, its.label);
  let edited = "w11"; // the input or weight that the controls set
  let news = "";

  const set = (name, v) => {
    const value = bounded(v);
    const by = value - now.value[name];
    if (!by) return;
    const { x, W } = changed(its, name, value);
    if (its.step === LAST) {
      news =
        `${written(name)} moved by ${num(by)}: the derivative ${num(now.by[name])} predicts ` +
        `${num(now.by[name] * by)} more loss; it was ${num(layer(x, W, its.label).value.L - now.value.L)}.`;
    }
    put({ x, W });
  };

  // --- steps
  const go = (step) => put({ step: Math.max(0, Math.min(LAST, step)) });
  const walk = knob("step", "Step", [0, LAST], (v) => `${v} of ${LAST}, ${STEPS[v]}`);
  const back = button("Back", () => go(its.step - 1));
  const next = button("Next", () => go(its.step + 1), { main: true });

  const graph = drawnGraph(choose, its.chosen);
  function choose(name) {
    if (input(name)) edited = name;
    if (name === its.chosen) draw();
    else put({ chosen: name });
  }

  // --- controls
  const detail = h("div", { class: "lmb-detail" });
  const move = slider({
    label: "",
    min: -MOST,
    max: MOST,
    step: 0.01,
    value: 0,
    text: (v) => fmt.num(v, 2),
    oninput: (v) => set(edited, v),
  });
  const fault = h("p", { class: "lm-small lmb-fault", "aria-live": "polite" });
  const wrong = (sentence) => {
    fault.textContent = sentence;
    typed.input.setAttribute("aria-invalid", String(sentence !== ""));
  };
  const typed = field({
    label: "exactly",
    value: "",
    inputmode: "decimal",
    oninput: (text) => {
      const digits = text.trim().replace("−", "-").replace(",", ".");
      const v = NUMBER.test(digits) ? Number(digits) : NaN;
      if (Number.isFinite(v)) set(edited, v);
      const stays = `${written(edited)} is ${num(now.value[edited])}.`;
      if (!digits) wrong(`Type a number from −${MOST} to ${MOST}, such as 0.5. Until then ${stays}`);
      else if (Number.isNaN(v))
        wrong(`${fmt.quote(text.trim().slice(0, 20))} is no number; one looks like −0.5 or 2. ${stays}`);
      else wrong(Math.abs(v) > MOST ? `Numbers here go from −${MOST} to ${MOST}. ${stays}` : "");
    },
  });
  const came = pick("label", "Word that came", [1, 2, 3]);
  const descend = button("", () => {
    const W = its.W.map((weights, i) => weights.map((v, k) => bounded(v - its.rate * now.by[`w${i + 1}${k + 1}`])));
    news =
      `A step of ${its.rate} against the gradient takes the loss from ${num(now.value.L)} to ` +
      `${num(layer(its.x, W, its.label).value.L)}.`;
    put({ W });
  });
  const again = button("Start again", () => put(first));
  const replay = button("From the inputs", () => go(0));

  const key = h.small("In a box: name, value, derivative of L. On an arrow: that of its head.");
  const numbers = table({
    caption: "Every number, the derivative of L by it, and what two small steps measure",
    head: ["Number", "Value", "Derivative of L", "Measured"],
  });
  const jacobian = table({
    summary: "The Jacobian of the softmax",
    caption: "Row ŷᵢ, column zⱼ: the derivative of ŷᵢ by zⱼ",
    head: ["of", "z₁", "z₂", "z₃"],
  });
  const signs = ["negative", "zero", "positive"]; // −1, 0, 1
  const question = wager(
    first.step === LAST && {
      name: "backprop-sign",
      of: "x W label",
      asks: `Word ${first.label} came. Which sign has the derivative of L by z₁?`,
      options: signs.map((name, k) => [k - 1, name]),
      // what comes before z₁ on the way back may stay in sight: it gives nothing away
      hides: [...graph.answers, detail, say.node],
      told: (bet) => {
        const { by, value } = layer(first.x, first.W, first.label);
        const sign = Math.sign(by.z1);
        return (
          (bet === null ? "It is " : bet === sign ? "Yes, " : "No, it is ") +
          `${signs[sign + 1]}: ŷ₁ − y₁ = ${fmt.prob(value.y1)} − ${first.label === 1 ? 1 : 0} = ${num(by.z1)}.`
        );
      },
      settled: draw,
    },
  );
  el.append(
    h.onstage("Graph", question.node),
    h("div", { class: "lm-split lm-split-right lmb-both", style: "--lm-side: 20.5rem" }, [
      h.stack([h("div", { class: "lm-row lmb-walk" }, back, next, replay, walk.node), graph.node, key]),
      h.stack([
        h.onstage("Graph", detail),
        ...[move.node, typed.node, fault, came.node, h.row(descend, again)].map((one) => h.onstage("Change", one)),
      ]),
    ]),
    h.onstage("Change", say.node),
    h.folds(numbers.node, jacobian.node),
  );

  // --- drawing
  function draw() {
    now = layer(its.x, its.W, its.label);
    const { step, chosen } = its;
    const state = { now, step, label: its.label };
    const same = Object.keys(first).every((name) => String(its[name]) === String(first[name]));
    graph.draw(state, chosen, same ? question.answer : null);
    disable(back, step === 0);
    disable(next, step === LAST);
    disable(descend, step < LAST);
    descend.textContent = `Gradient step on W (${its.rate})`;
    move.node.querySelector("label").textContent = `Set ${written(edited)}`;
    move.set(now.value[edited]);
    if (document.activeElement !== typed.input) {
      typed.set(plain(now.value[edited]));
      wrong("");
    }
    replace(detail, h("p", {}, formula(chosen, state)), derivative(chosen, state));
    numbers.draw(
      NAMES.map((name) => [
        written(name),
        known(name, step) ? exact(now.value[name]) : "",
        traced(name, step) ? exact(now.by[name]) : "",
        input(name) && traced(name, step) ? fmt.num(measured(its, its.label, name, now.value[name]), 7) : "",
      ]),
    );
    const entry = (i, j) => now.arrows.find((arrow) => arrow.from === `z${j}` && arrow.to === `y${i}`).local;
    jacobian.draw(three.map((i) => [written(`y${i}`), ...three.map((j) => (step >= 2 ? exact(entry(i, j)) : ""))]));
    say(news || sentence(state)); // the change, where there was one
    news = "";
  }

  follow("x W label step chosen rate", draw);
}, about);
