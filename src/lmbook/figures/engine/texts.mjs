// texts.mjs: two lessons on characters (lessons.mjs): names, one a line, and a text that goes on and on.
import { crossEntropy } from "./autograd-layers.mjs";
import { Characters, EOS, FIRST, MASK, SOS } from "./bytepairs.mjs";
import { network as begun } from "./networks.mjs";
import { draw, mean, shuffled, softmax, whole } from "../kit/numbers.mjs";

const FEWEST_NAMES = 50;
const FEWEST_CHARACTERS = 800;
const LONGEST = 15;
const MOST = 1_200_000; // of names, characters, letters of a name; characters read
const CHECKED = [200, 50]; // held-out names that a report looks at, and how many at once
const WINDOWS = 24; // of a held-out text that it looks at
const WRITTEN = [12, 240]; // names, or characters, that it writes
const PIECE = 16; // characters between two pauses
const NEVER = [0, 1, SOS, MASK]; // drawn

const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
const were = (n) => (n === 1 ? "is" : "are");

/**
 * What a language model writes after `begin` in B texts at once, until `ended` says so: of each its ids. Special tokens
 * but <eos> are never drawn. Between two pieces a GPT keeps the ids alone: it reads them anew, as when its window
 * slides.
 */
function* written(net, begin, B, random, ended) {
  const ids = new Array(B).fill(begin);
  let state = net.start(B);
  const read = (next) => {
    if (net.read) return net.read(...next);
    const { logits, state: after } = net.run(next, B, state);
    state = after;
    return logits.data;
  };
  while (!ended(ids)) {
    net.clear?.(B);
    const known = net.take ? B * Math.min(ids.length / B, net.window - net.slide + 1) : B;
    let logits = net.take ? net.take(ids.slice(-known)) : read(ids.slice(-known));
    for (let k = 1; ; k += 1) {
      const d = logits.length / B;
      for (let b = 0; b < B; b += 1) {
        const row = Array.from(logits.subarray(b * d, (b + 1) * d));
        for (const id of NEVER) row[id] = -Infinity;
        ids.push(draw(softmax(row), random()));
      }
      if (k === PIECE || ended(ids)) break;
      logits = read(ids.slice(-B));
    }
    yield;
  }
  return Array.from({ length: B }, (_, b) => ids.filter((_id, r) => r % B === b));
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

/** listed: the last tenth of the list is held out as it stands, so that every seed has the same names there. */
export function names({ network: about, B, listed }, random, text, types) {
  const lines =
    text
      .toLowerCase()
      .match(/\S[^\n]*/g)
      ?.map((line) => line.trimEnd()) ?? [];
  const all = [...new Set(lines.filter((name) => [...name].length <= LONGEST))];
  const long = lines.filter((name) => [...name].length > LONGEST).length;
  const few = `there are ${all.length} different names of up to ${LONGEST} letters`;
  if (all.length < FEWEST_NAMES) throw new Error(`${few}; at least ${FEWEST_NAMES} are needed, one a line`);
  const characters = new Characters(types ?? [...new Set(all.join(""))].sort());
  const order = listed ? all : shuffled(all, random);
  const cut = Math.ceil(all.length * 0.9);
  const ids = order.map((name) => characters.encode(name));
  const train = ids.slice(0, cut);
  // names of like lengths come together, so that little of a batch is empty
  const batches = (names, B) => {
    const sorted = [...names].sort((a, b) => a.length - b.length);
    return Array.from({ length: Math.ceil(sorted.length / B) }, (_, i) => sorted.slice(i * B, (i + 1) * B));
  };
  const [most, at_once] = CHECKED;
  const checks = batches(ids.slice(cut).slice(0, most), at_once);
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
      if (!queue.length) queue = shuffled(batches(shuffled(train, random), B), random);
      return loss(queue.pop());
    },
    *report(luck, writes) {
      let sum = 0;
      let letters = 0;
      for (const names of checks) {
        const n = names.reduce((all, name) => all + name.length + 1, 0);
        sum += n * loss(names).data[0];
        letters += n;
        yield;
      }
      const [B] = WRITTEN;
      const ended = (ids) =>
        ids.length > (LONGEST + 1) * B || new Set(ids.flatMap((id, r) => (id === EOS ? [r % B] : []))).size === B;
      const rows = writes ? yield* written(network, SOS, B, luck, ended) : [];
      const names = rows.map((ids) => characters.decode([...ids, EOS].slice(0, [...ids, EOS].indexOf(EOS))));
      const samples = names.filter(Boolean).map((name) => ({ text: name, known: known.has(name) }));
      return { valid: sum / letters, samples };
    },
  };
}

/** fewest: characters that the text must have. */
export function text(about, random, text, types) {
  const { network: of, B, T, share: [part, parts] = [0, 1], fewest = FEWEST_CHARACTERS } = about;
  const all = [...text.replace(/\r\n?/g, "\n")];
  if (all.length < fewest) {
    const needs = `at least ${fewest.toLocaleString("en")} are needed`;
    throw new Error(`the text has ${counted(all.length, "character")}; ${needs}`);
  }
  const read = all.slice(0, MOST);
  const cut = Math.ceil(read.length * 0.9);
  const characters = new Characters(types ?? [...new Set(read.slice(0, cut))].sort());
  const ids = read.map((char) => characters.ids.get(char) ?? 1);
  const [train, valid] = [ids.slice(0, cut), ids.slice(cut)].map((part) => part.filter((id) => id >= FIRST));
  const unknown = ids.filter((id) => id < FIRST).length;
  const notes = [];
  if (all.length > MOST) notes.push(`only the first ${MOST.toLocaleString("en")} characters of the text are read`);
  const lacks = types ? "the weights do not know" : "the first nine tenths do not have";
  if (unknown) notes.push(`${counted(unknown, "character")} that ${lacks} ${were(unknown)} left out`);
  const network = begun({ ...of, vocab: characters.size, window: T }, random);
  const windows = (ids, starts) => {
    const rows = starts.length;
    const at = (shift) =>
      Array.from({ length: T * rows }, (_, r) => ids[starts[r % rows] + Math.floor(r / rows) + shift]);
    return [at(0), at(1), rows];
  };
  // B texts side by side, each read on from window to window. After B windows each begins elsewhere, one at every
  // step: a network that hardly ever begins anew does not learn to.
  const stateful = of.class === "RecurrentLM";
  if (valid.length <= T || train.length <= (B + 1) * T)
    throw new Error(`the text is too short for ${B} windows of ${T} characters`);
  const anywhere = (ahead) => whole(random, 0, train.length - ahead * T - 1);
  let starts = Array.from({ length: B }, () => (stateful ? anywhere(B) : 0));
  let state = network.start(B);
  let turn = 0;
  // Held out: windows that follow on from one another where a state is carried, else from all of it, evenly apart.
  const many = Math.min(WINDOWS, Math.floor((valid.length - 1) / T));
  const spread = (i) => Math.floor((i * (valid.length - 1 - T)) / Math.max(1, many - 1));
  const checks = Array.from({ length: many }, (_, i) => (stateful ? i * T : spread(i)));
  return {
    network,
    characters,
    notes,
    loss() {
      if (!stateful) starts = starts.map(() => anywhere(1));
      const [ids, targets, rows] = windows(train, starts.slice((part * B) / parts, ((part + 1) * B) / parts));
      const found = network.run(ids, rows, state);
      if (stateful) {
        state = found.state;
        starts = starts.map((at) => at + T);
        starts[turn] = anywhere(B);
        for (const { data, columns } of state.flat()) data.fill(0, turn * columns, (turn + 1) * columns);
        turn = (turn + 1) % B;
      }
      return crossEntropy(found.logits, targets);
    },
    *report(luck, writes) {
      const loss = (at, from) => {
        const [ids, targets, rows] = windows(valid, at);
        const found = network.run(ids, rows, from);
        return [crossEntropy(found.logits, targets).data[0], found.state];
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
        const [ids] = yield* written(network, train[0], 1, luck, (ids) => ids.length > WRITTEN[1]);
        samples.push({ text: characters.decode(ids) });
      }
      return { valid: mean(losses), samples };
    },
  };
}
