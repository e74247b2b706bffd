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
import { crossEntropy, inference } from "./autograd.mjs";
import { Characters } from "./bytepairs.mjs";
import { blanks, translation } from "./captions.mjs";
import { scoped } from "./kernels.mjs";
import { Adam, network as begun } from "./networks.mjs";
import { draw, generator, likeliest, mean, shuffled, softmax } from "../kit/numbers.mjs";

const SOS = 2;
const EOS = 3;
const FIRST = 5; // ids of special tokens, and the first of the others
const FEWEST_NAMES = 50;
const FEWEST_CHARACTERS = 800;
const LONGEST = 15;
const MOST = 1_200_000; // of names, characters, letters of a name; characters read
const LOST = 1000; // nats per prediction, which no network needs that learns; NaN is not below it either
const CHECKED = 300; // names, or rows of other tasks, that are held out and looked at in a report

const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
const were = (n) => (n === 1 ? "is" : "are");
const whole = (random, low, high) => low + Math.floor(random() * (high - low + 1));
/** The likeliest id of a row, from id `from` on. */
const best = (z, row, from = 0) => from + likeliest(z.row(row).subarray(from), 1)[0];

/**
 * Characters that a language model writes after `ids`, until `end` says so. Special tokens but <eos> are never drawn.
 * Pauses after each.
 */
function* written(net, ids, random, end) {
  const out = [];
  let state = net.start(1);
  let logits = [];
  net.clear?.();
  const read = (id) => {
    if (net.read) logits = net.read(id);
    else {
      const found = net.run([id], 1, state);
      state = found.state;
      logits = found.logits.data;
    }
  };
  for (const id of ids) read(id);
  while (!end(out)) {
    const p = softmax(Array.from(logits, (z, id) => (id < FIRST && id !== EOS ? -Infinity : z)));
    out.push(draw(p, random()));
    read(out.at(-1));
    yield;
  }
  return out;
}

/** Names as one batch: ids and targets of T steps of all, -1 where a name has ended. */
function nameBatch(names) {
  const B = names.length;
  const T = 1 + Math.max(...names.map((name) => name.length));
  const ids = new Array(T * B).fill(EOS);
  const targets = new Array(T * B).fill(-1);
  names.forEach((name, b) =>
    [SOS, ...name].forEach((id, t) => {
      ids[t * B + b] = id;
      targets[t * B + b] = name[t] ?? EOS;
    }),
  );
  return { ids, targets, B };
}

const KINDS = {
  blanks,
  translation,

  names({ network: about, B }, random, text, types) {
    const lines = text
      .split("\n")
      .map((line) => line.trim().toLowerCase())
      .filter(Boolean);
    const all = [...new Set(lines.filter((name) => [...name].length <= LONGEST))];
    const long = lines.filter((name) => [...name].length > LONGEST).length;
    if (all.length < FEWEST_NAMES)
      throw new Error(
        `there are ${all.length} different names of up to ${LONGEST} letters; at least ${FEWEST_NAMES} are ` +
          "needed, one a line",
      );
    const characters = new Characters(types ?? [...new Set(all.join(""))].sort());
    const order = shuffled(all, random);
    const cut = Math.ceil(all.length * 0.9);
    const [train, valid] = [order.slice(0, cut), order.slice(cut)].map((names) =>
      names.map((name) => characters.encode(name)),
    );
    const known = new Set(all);
    const network = begun({ ...about, vocab: characters.size, window: about.window ?? LONGEST + 1 }, random);
    const loss = (names) => {
      const { ids, targets, B: rows } = nameBatch(names);
      return crossEntropy(network.run(ids, rows, network.start(rows)).logits, targets);
    };
    let queue = [];
    return {
      network,
      characters,
      notes: long ? [`${counted(long, "name")} of more than ${LONGEST} letters ${were(long)} left out`] : [],
      loss() {
        if (!queue.length) {
          // names of like lengths come together, so that little of a batch is empty
          const sorted = shuffled(train, random).sort((a, b) => a.length - b.length);
          queue = shuffled(
            Array.from({ length: Math.ceil(sorted.length / B) }, (_, i) => sorted.slice(i * B, (i + 1) * B)),
            random,
          );
        }
        return loss(queue.pop());
      },
      *report(luck, writes) {
        const names = [];
        for (const wanted = writes ? 12 : 0; names.length < wanted; ) {
          const end = (out) => out.at(-1) === EOS || out.length > LONGEST;
          names.push(characters.decode(yield* written(network, [SOS], luck, end)));
        }
        return {
          valid: scoped(() => loss(valid.slice(0, CHECKED)).data[0]),
          samples: names.filter(Boolean).map((name) => ({ text: name, known: known.has(name) })),
        };
      },
    };
  },

  text({ network: about, B, T, share: [part, parts] = [0, 1] }, random, text, types) {
    const all = [...text.replace(/\r\n?/g, "\n")];
    if (all.length < FEWEST_CHARACTERS)
      throw new Error(`the text has ${counted(all.length, "character")}; at least ${FEWEST_CHARACTERS} are needed`);
    const read = all.slice(0, MOST);
    const cut = Math.ceil(read.length * 0.9);
    const characters = new Characters(types ?? [...new Set(read.slice(0, cut))].sort());
    const ids = read.map((char) => characters.ids.get(char) ?? 1);
    const [train, valid] = [ids.slice(0, cut), ids.slice(cut)].map((part) => part.filter((id) => id >= FIRST));
    const unknown = ids.filter((id) => id < FIRST).length;
    const notes = [];
    if (all.length > MOST) notes.push(`only the first ${MOST.toLocaleString("en")} characters of the text are read`);
    if (unknown)
      notes.push(
        `${counted(unknown, "character")} that ` +
          `${types ? "the weights do not know" : "the first nine tenths do not have"} ${were(unknown)} left out`,
      );
    const network = begun({ ...about, vocab: characters.size, window: T }, random);
    const windows = (ids, starts) => {
      const rows = starts.length;
      const at = (shift) =>
        Array.from({ length: T * rows }, (_, r) => ids[starts[r % rows] + Math.floor(r / rows) + shift]);
      return [at(0), at(1), rows];
    };
    // B texts side by side, each read on from window to window. After B windows each begins elsewhere, one at every
    // step: a network that hardly ever begins anew does not learn to.
    const stateful = about.class === "RecurrentLM";
    if (valid.length <= T || train.length <= (B + 1) * T)
      throw new Error(`the text is too short for ${B} windows of ${T} characters`);
    const anywhere = (ahead) => whole(random, 0, train.length - ahead * T - 1);
    const starts = Array.from({ length: B }, () => (stateful ? anywhere(B) : 0));
    let state = network.start(B);
    let turn = 0;
    const checks = Array.from({ length: Math.min(24, Math.floor((valid.length - 1) / T)) }, (_, i) => i * T);
    return {
      network,
      characters,
      notes,
      loss() {
        if (!stateful)
          starts.forEach((_, b) => {
            starts[b] = anywhere(1);
          });
        const [ids, targets, rows] = windows(train, starts.slice((part * B) / parts, ((part + 1) * B) / parts));
        const found = network.run(ids, rows, state);
        if (stateful) {
          state = found.state;
          starts.forEach((_, b) => {
            starts[b] += T;
          });
          starts[turn] = anywhere(B);
          for (const { data, columns } of state.flat()) data.fill(0, turn * columns, (turn + 1) * columns);
          turn = (turn + 1) % B;
        }
        return crossEntropy(found.logits, targets);
      },
      *report(luck, writes) {
        const loss = (at, from) => {
          const [ids, targets, rows] = windows(valid, at);
          return scoped(() => {
            const found = network.run(ids, rows, from);
            return [crossEntropy(found.logits, targets).data[0], found.state];
          });
        };
        const losses = [];
        for (let i = 0, carried = network.start(1); stateful && i < checks.length; i += 1) {
          // one text, read from window to window
          [losses[i], carried] = loss([checks[i]], carried);
          yield;
        }
        if (!stateful) [losses[0]] = loss(checks);
        const samples = [];
        if (writes) {
          const from = train.slice(0, 1);
          const more = yield* written(network, from, luck, (out) => out.length >= 240);
          samples.push({ text: characters.decode([...from, ...more]) });
        }
        return { valid: mean(losses), samples };
      },
    };
  },

  gap({ network: about, B, longest, symbols, gaps }, random) {
    const network = begun({ ...about, vocab: FIRST + 2 * symbols + 1 }, random);
    const questions = (rows, gap, from) => {
      const answers = Array.from({ length: rows }, () => FIRST + whole(from, 0, symbols - 1));
      const others = Array.from({ length: rows * gap }, () => FIRST + symbols + whole(from, 0, symbols - 1));
      return [[...answers, ...others, ...new Array(rows).fill(FIRST + 2 * symbols)], answers];
    };
    const answered = (rows, gap, from) => {
      const [ids, answers] = questions(rows, gap, from);
      return { z: network.run(ids, rows, network.start(rows), { last: true }).logits, answers };
    };
    return {
      network,
      loss() {
        const { z, answers } = answered(B, whole(random, 1, longest), random);
        return crossEntropy(z, answers);
      },
      *report() {
        const from = generator(5000); // the same questions in every report
        const losses = [];
        for (let gap = 1; gap <= longest; gap += 3) {
          const { z, answers } = answered(32, gap, from);
          losses.push(crossEntropy(z, answers).data[0]);
          yield;
        }
        const right = [];
        for (const gap of gaps) {
          const { z, answers } = answered(100, gap, from);
          right.push([gap, mean(answers.map((id, b) => Number(best(z, b) === id)))]);
          yield;
        }
        return { valid: mean(losses), right };
      },
    };
  },

  reversal({ network: about, B, longest, symbols, lengths }, random) {
    const network = begun({ ...about, vocab: FIRST + symbols }, random);
    const sequences = (rows, length, from) => {
      const source = Array.from({ length: rows * length }, () => FIRST + whole(from, 0, symbols - 1));
      const backwards = source.map((_, r) => source[(length - 1 - Math.floor(r / rows)) * rows + (r % rows)]);
      return [source, [...new Array(rows).fill(SOS), ...backwards], [...backwards, ...new Array(rows).fill(EOS)]];
    };
    const loss = (rows, length, from) => {
      const [source, target, wanted] = sequences(rows, length, from);
      return crossEntropy(network.run(target, rows, network.start(source, rows)).logits, wanted);
    };
    /** What is written for each source, the likeliest symbol at each step. */
    const writes = (source, rows, length) => {
      let state = network.start(source, rows);
      let ids = new Array(rows).fill(SOS);
      const out = [];
      for (let t = 0; t < length; t += 1) {
        const found = network.run(ids, rows, state);
        ({ state } = found);
        const z = found.logits;
        ids = ids.map((_, b) => best(z, b, FIRST));
        out.push(...ids);
      }
      return out;
    };
    const letters = (ids) => ids.map((id) => String.fromCharCode(65 + id - FIRST)).join("");
    return {
      network,
      loss: () => loss(B, whole(random, 1, longest), random),
      *report() {
        const from = generator(5000);
        const losses = [];
        for (let length = 1; length <= longest; length += 3) {
          losses.push(loss(32, length, from).data[0]);
          yield;
        }
        const right = [];
        for (const length of lengths) {
          const [source, , wanted] = sequences(50, length, from);
          const out = writes(source, 50, length);
          right.push([length, mean(out.map((id, r) => Number(id === wanted[r])))]);
          yield;
        }
        const [source, , wanted] = sequences(1, longest, from);
        const out = writes(source, 1, longest);
        return {
          valid: mean(losses),
          right,
          samples: [{ source: letters(source), wanted: letters(wanted.slice(0, -1)), text: letters(out) }],
        };
      },
    };
  },
};

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

/**
 * The network of a file, as a lesson takes it. Throws an Error that says why the page cannot train it.
 * @param {{ model?: any, text?: any }} card
 * @param {any} about
 */
function ofFile({ model = {}, text }, about) {
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
export function lesson(about, seed, text = "", loaded = null) {
  const random = generator(seed);
  const given = loaded ? ofFile(loaded.card, about) : { about, types: undefined };
  const own = KINDS[about.kind](given.about, random, text, given.types);
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
    /** Whoever asks for the pieces may do other things between them. */
    *report(writes = true) {
      const pieces = report(generator(seed + steps), writes);
      for (;;) {
        const { done, value } = inference(() => pieces.next());
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
      adam.m.forEach((one, k) => {
        one.set(m[k]);
      });
      adam.v.forEach((one, k) => {
        one.set(v[k]);
      });
      steps = before;
      adam.steps = before;
    },
  };
}
