// symbols.mjs: two lessons whose questions are drawn anew for every batch (lessons.mjs): a symbol that is asked for
// after a gap (experiments/recall_across_gap.py), and symbols that are to be written backwards.
import { crossEntropy } from "./autograd-layers.mjs";
import { EOS, FIRST, SOS } from "./bytepairs.mjs";
import { network as begun } from "./networks.mjs";
import { generator, likeliest, mean, whole } from "../kit/numbers.mjs";

const ASKED = 48; // after each gap in a report, always the same
const TURNED = 24; // sequences of each length in a report, always the same
const SAME = 5000; // the seed of both

/** The likeliest id of a row, from id `from` on. */
export const best = (z, row, from = 0) => from + likeliest(z.row(row).subarray(from), 1)[0];
/** Every third length up to the longest. */
const thirds = (longest) => Array.from({ length: Math.ceil(longest / 3) }, (_, i) => 1 + 3 * i);

export function gap({ network: about, B, longest, symbols, gaps }, random) {
  const question = FIRST + 2 * symbols;
  const network = begun({ ...about, vocab: question + 1 }, random);
  const ids = (n, first, from) => Array.from({ length: n }, () => first + whole(from, 0, symbols - 1));
  return {
    network,
    loss() {
      const gap = whole(random, 1, longest);
      const answers = ids(B, FIRST, random);
      const others = ids(B * gap, FIRST + symbols, random);
      const all = [...answers, ...others, ...new Array(B).fill(question)];
      return crossEntropy(network.run(all, B, network.start(B), { last: true }).logits, answers);
    },
    /** The same symbols are read on from gap to gap, and the question comes after each. */
    *report() {
      const from = generator(SAME);
      const answers = ids(ASKED, FIRST, from);
      const losses = [];
      const right = [];
      let more = answers;
      let state = network.start(ASKED);
      let read = 0;
      const inLoss = thirds(longest);
      for (const gap of [...new Set([...inLoss, ...gaps])].sort((a, b) => a - b)) {
        more = [...more, ...ids(ASKED * (gap - read), FIRST + symbols, from)];
        ({ state } = network.run(more, ASKED, state, { last: true }));
        const z = network.run(new Array(ASKED).fill(question), ASKED, state).logits;
        if (inLoss.includes(gap)) losses.push(crossEntropy(z, answers).data[0]);
        if (gaps.includes(gap)) right.push([gap, mean(answers.map((id, b) => Number(best(z, b) === id)))]);
        more = [];
        read = gap;
        yield;
      }
      return { valid: mean(losses), right };
    },
  };
}

export function reversal({ network: about, B, longest, symbols, lengths }, random) {
  const network = begun({ ...about, vocab: FIRST + symbols }, random);
  const sequences = (rows, length, from) => {
    const source = Array.from({ length: rows * length }, () => FIRST + whole(from, 0, symbols - 1));
    const backwards = source.map((_, r) => source[(length - 1 - Math.floor(r / rows)) * rows + (r % rows)]);
    return [source, [...new Array(rows).fill(SOS), ...backwards], [...backwards, ...new Array(rows).fill(EOS)]];
  };
  const loss = (target, rows, state, wanted) => crossEntropy(network.run(target, rows, state).logits, wanted);
  /** What is written for each source, the likeliest symbol at each step. */
  const writes = (rows, length, state) => {
    let ids = new Array(rows).fill(SOS);
    const out = [];
    for (let t = 0; t < length; t += 1) {
      const found = network.run(ids, rows, state);
      ({ state } = found);
      ids = ids.map((_, b) => best(found.logits, b, FIRST));
      out.push(...ids);
    }
    return out;
  };
  return {
    network,
    loss() {
      const [source, target, wanted] = sequences(B, whole(random, 1, longest), random);
      return loss(target, B, network.start(source, B), wanted);
    },
    /** Each source is read once. Lengths that are never trained are not in the loss. */
    *report() {
      const from = generator(SAME);
      const losses = [];
      const right = [];
      const samples = [];
      for (const length of lengths) {
        const [source, target, wanted] = sequences(TURNED, length, from);
        const state = network.start(source, TURNED);
        if (length <= longest) losses.push(loss(target, TURNED, state, wanted).data[0]);
        const out = writes(TURNED, length, state);
        right.push([length, mean(out.map((id, r) => Number(id === wanted[r])))]);
        const first = (ids) =>
          ids.flatMap((id, r) => (r % TURNED || id < FIRST ? [] : [String.fromCharCode(65 + id - FIRST)])).join("");
        if (length === longest) samples.push({ source: first(source), wanted: first(wanted), text: first(out) });
        yield;
      }
      return { valid: mean(losses), right, samples };
    },
  };
}
