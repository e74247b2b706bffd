// lessons.mjs: what is trained in the page: a task with its batches, its loss, and what shows how far the network has
// come.
//
//   const own = lesson({ kind, network, .. }, seed, text);
//   own.step(rate) -> loss of a batch      own.report(writes) -> in pieces, a generator: see below
//   own.gradient() -> loss; own.gradients() -> all numbers; own.learn(rate, gradients)      a step in two halves
//   own.kept(), own.restore(kept)      weights and what Adam remembers, to go on later; own.card, what they are
//
// names: one a line, each begun with <sos> and ended with <eos>.  text: characters, on and on.  gap: a symbol, others,
// a question (experiments/recall_across_gap.py).  reversal: symbols, to be written backwards.  Losses are nats per
// prediction. The last tenth of a text, or of shuffled names, is held out. Gaps and symbols are drawn anew for every
// batch. share: [k, parts] computes the k-th part of the rows of each batch, the same in every worker: the mean of
// their gradients is that of the whole.
import { inference } from "./autograd.mjs";
import { FIRST } from "./bytepairs.mjs";
import { blanks, translation } from "./captions.mjs";
import { scoped } from "./kernels.mjs";
import { Adam } from "./networks.mjs";
import { gap, reversal } from "./symbols.mjs";
import { names, text } from "./texts.mjs";
import { generator } from "../kit/numbers.mjs";

const LOST = 1000; // nats per prediction, which no network needs that learns; NaN is not below it either

const KINDS = { names, text, gap, reversal, translation, blanks };

/** How a GPT of the page is described so that lmbook.lab.checkpoints.load makes the same one in Python. */
const described = ({ d_model, heads, n_layers, positions = "learned" }, window, { types, size }) => ({
  recipe: "trained in the page",
  model: {
    class: "lmbook.gpt.GPT",
    vocab: size,
    window,
    d_model,
    n_heads: heads,
    n_layers,
    positions,
    activation: { function: "lmbook.gpt.gelu_tanh" },
  },
  text: {
    class: "lmbook.text.CharTokenizer",
    vocabulary: { class: "lmbook.text.Vocabulary", types: types.slice(FIRST) },
  },
});

/** The network of a file, as a lesson takes it. Throws an Error that says why the page cannot train it. */
function ofFile(/** @type {{ model?: any, text?: any }} */ { model = {}, text }, about) {
  const { class: kind, n_heads: heads, d_model, n_layers, window, d_ff, positions, tied, bias, activation } = model;
  const types = text?.vocabulary?.types;
  const sized = [d_model, n_layers, heads, window].every((size) => Number.isInteger(size) && size > 0);
  if (!/\.GPT$/.test(kind) || !sized || !/CharTokenizer$/.test(text?.class) || !Array.isArray(types))
    throw new Error("the page trains a GPT of characters only; the file describes another model, or none");
  const other = (d_ff ?? 4 * d_model) !== 4 * d_model || tied === false || bias === false;
  if (other || !/gelu_tanh$/.test(activation?.function))
    throw new Error("the page has a tied output, biases and gelu_tanh; the file's GPT differs");
  const network = { class: "GPT", d_model, heads, n_layers, positions, deviation: 0.02 };
  const fits = about.kind === "text" ? { T: window } : {};
  return { about: { ...about, ...fits, network: { ...network, window } }, types };
}

/**
 * A network at its task. step(rate): trains on one batch and gives its loss.  report(writes): { valid, the loss on what
 * is held out; samples, where it writes; right: [[length, share]] }.  notes: what was done to the text.  loaded:
 * weights and card of a file, from which it begins.  Throws an Error with the remedy where text or file do not do, or
 * the loss grows without end.
 */
export function lesson(about, seed, read = "", loaded = null) {
  const random = generator(seed);
  const given = loaded ? ofFile(loaded.card, about) : { about, types: undefined };
  const own = KINDS[about.kind](given.about, random, read, given.types);
  const { network, loss, report, characters, notes = [] } = own;
  const adam = new Adam(network.parameters, { clip: 1 });
  let steps = 0;
  const put = (found) => {
    for (const [name, { data }] of network.weights) {
      const numbers = found.get(name)?.data ?? found.get(name);
      if (numbers?.length !== data.length) throw new Error(`the file's ${name} does not fit the model it describes`);
      data.set(numbers);
    }
  };
  if (loaded) put(loaded.weights);
  const each = (f) =>
    network.parameters.reduce((at, { grad }) => {
      f(grad, at);
      return at + grad.length;
    }, 0);
  const gradient = () =>
    scoped(() => {
      const L = loss();
      if (!(L.data[0] < LOST))
        throw new Error(`after ${steps} steps the loss has left all bounds; choose a lower rate and start again`);
      L.backward();
      return L.data[0];
    });
  /** One step down these gradients, or those that were computed last. */
  function learn(rate, gradients = null) {
    if (gradients) each((grad, at) => grad.set(gradients.subarray(at, at + grad.length)));
    adam.step(rate);
    steps += 1;
  }
  return {
    network,
    notes,
    card: given.about.network.class === "GPT" ? described(given.about.network, network.window, characters) : null,
    gradient,
    /** The gradients of all weights behind each other. */
    gradients() {
      const all = new Float32Array(network.parameters.reduce((sum, { data }) => sum + data.length, 0));
      each((grad, at) => all.set(grad, at));
      return all;
    },
    learn,
    step(rate) {
      const L = gradient();
      learn(rate);
      return L;
    },
    /** Whoever asks for the pieces may do other things between them; nothing that a piece allocates outlives it. */
    *report(writes = true) {
      const pieces = report(generator(seed + steps), writes);
      for (;;) {
        const { done, value } = scoped(() => inference(() => pieces.next()));
        if (done) return value;
        yield;
      }
    },
    kept: () => ({
      steps,
      weights: new Map([...network.weights].map(([name, { data }]) => [name, data.slice()])),
      m: adam.m.map((one) => one.slice()),
      v: adam.v.map((one) => one.slice()),
    }),
    restore({ steps: before, weights, m, v }) {
      put(weights);
      for (const [k, one] of adam.m.entries()) one.set(m[k]);
      for (const [k, one] of adam.v.entries()) one.set(v[k]);
      steps = before;
      adam.steps = before;
    },
  };
}
