// n-gram models in the page: the estimators of lmbook.ngram, number for number, small enough to read.
//
//   const tokens = words("The sea was calm. The sea was grey.");  // ["the", "sea", "was", "calm", ".", "the", ...]
//   const vocabulary = Vocabulary.build(tokens);                  // or new Vocabulary(tokens of a Python Vocabulary)
//   const ids = vocabulary.encode(tokens);                        // unknown words become <unk>
//   const counts = new Counts(ids, 3, vocabulary);                // all n-grams up to n = 3, when asked for
//   const model = new KneserNey(counts, 3);   // or MaximumLikelihood, AddK(.., k), JelinekMercer(counts, weights)
//   model.distribution(vocabulary.encode(["the", "sea"]))         // Float64Array (vocab,), sums to 1
//   model.prob(history, id)        model.logProbs(ids)
//   model.path(history)                                           // one level per order: see Model.path
//   sampleSentence(model, generator(1), history)                  // ids up to and with <eos>, by the seed
//
// A token is an id, a history an array of ids of any length (only the last order - 1 are used), logarithms are natural.
// Every model is a sum over orders, P(w | h) = sum of level.mass(w) over the levels of path(h), so that a picture can
// show which order gave which part of a probability.
import { Vocabulary, words } from "./wording.mjs";
import { draw as drawn, sum } from "../kit/numbers.mjs";

export { Vocabulary, words };

// A table says what followed each history: a Map from key(history) to { history, total, words: Map of id -> count }.
const key = (ids) => ids.join(" ");
const UNSEEN = { passes: 1, share: () => 0, discount: 0 };
const NOTHING = { total: 0, words: new Map() };

function add(table, history, word) {
  const name = key(history);
  if (!table.has(name)) table.set(name, { history, total: 0, words: new Map() });
  const entry = table.get(name);
  entry.words.set(word, (entry.words.get(word) ?? 0) + 1);
  entry.total += 1;
}

export class Counts {
  // How often each n-gram occurs in one stream of ids, n = 1..order. A stream starts without a history: no padding.
  // Each order is counted when it is first asked for, so that a page waits only for those that it shows.
  constructor(ids, order, vocabulary) {
    const barred = ids.some((id) => !vocabulary.allowed[id]); // a text without such types is counted once, not twice
    this.ids = ids;
    this.order = order;
    this.vocabulary = vocabulary;
    this.barred = barred;
    this.made = new Map();
  }

  once(name, make) {
    if (!this.made.has(name)) this.made.set(name, make());
    return this.made.get(name);
  }

  counted(n, wanted) {
    const table = new Map();
    for (let end = n - 1; end < this.ids.length; end++) {
      if (wanted(this.ids[end])) add(table, this.ids.slice(end - n + 1, end), this.ids[end]);
    }
    return table;
  }

  // What followed every n - 1 words, and how often.
  table(n) {
    return this.once(`table ${n}`, () => this.counted(n, () => true));
  }

  // The same without the types that are never predicted: c(h w) of the models.
  raw(n) {
    if (!this.barred) return this.table(n);
    return this.once(`raw ${n}`, () => this.counted(n, (id) => this.vocabulary.allowed[id]));
  }

  // How many different types stood before each n-gram of raw(n): N1+(. h w), for n < order.
  continuation(n) {
    return this.once(`continuation ${n}`, () => {
      const before = new Map();
      for (const { history, words } of this.raw(n + 1).values()) {
        for (const word of words.keys()) add(before, history.slice(1), word);
      }
      return before;
    });
  }

  // How many different n-grams there are: what a model of order n must store.
  types(n) {
    return [...this.table(n).values()].reduce((sum, entry) => sum + entry.words.size, 0);
  }

  // What followed a history: { total, words: Map of id -> count }, empty if it never occurred before a word.
  followers(history) {
    return this.table(history.length + 1).get(key(history)) ?? NOTHING;
  }
}

class Model {
  constructor(counts, order) {
    if (!(order >= 1 && order <= counts.order)) throw new Error(`order is ${order}; counted were 1 to ${counts.order}`);
    this.counts = counts;
    this.order = order;
    this.vocabulary = counts.vocabulary;
  }

  // The way down from the longest history to the uniform distribution, one level per order:
  //   order     n, 0 for uniform             history   the n - 1 ids it looks at
  //   total     sum of its counts            words     Map id -> count of what followed (continuation counts, if used)
  //   discount  what is taken off a count    arrives   share of the probability that is left when the level is reached
  //   passes    part of that share that it leaves to the levels below: 1 where the history was never seen
  //   mass(w)   what the level adds to P(w | h)
  path(history) {
    const levels = [];
    let left = 1;
    for (let h = this.recent(history); h; h = h.length ? h.slice(1) : null) {
      const level = this.level(h, left);
      levels.push(level);
      left *= level.passes;
    }
    return [...levels, this.uniform(left)];
  }

  // What of a history counts: its last order - 1 types, fewer where there are no more.
  recent(history) {
    return history.slice(Math.max(0, history.length - this.order + 1));
  }

  level(history, arrives) {
    const order = history.length + 1;
    const { total, words } = this.table(order).get(key(history)) ?? NOTHING;
    const { passes, share, discount = 0 } = total ? this.split(order, total, words, arrives) : UNSEEN;
    const mass = (word) => (words.has(word) ? arrives * share(words.get(word)) : 0);
    return { order, history, total, words, discount, arrives, passes, mass };
  }

  uniform(arrives) {
    const { allowed, V } = this.vocabulary;
    const mass = (word) => (allowed[word] ? arrives / V : 0);
    return { ...NOTHING, order: 0, history: [], discount: 0, arrives, passes: 0, mass };
  }

  table(order) {
    return this.counts.raw(order);
  }

  /**
   * What a model does with the counts of one history (order, total, words, arrives): what it passes to the levels
   * below, the share of a word.
   * @type {(...given: any[]) => { passes: number, share: (count: number) => number, discount?: number }}
   */
  split() {
    throw new Error("each model has a split of its own");
  }

  prob(history, word) {
    return this.path(history).reduce((sum, level) => sum + level.mass(word), 0);
  }

  distribution(history) {
    const levels = this.path(history);
    const p = Float64Array.from(this.vocabulary.tokens, (_, word) => levels.at(-1).mass(word));
    for (const level of levels) for (const word of level.words.keys()) p[word] += level.mass(word);
    return p;
  }

  // ln P of every token of a stream, each after the tokens before it; -Infinity where P = 0.
  logProbs(ids) {
    const before = (t) => ids.slice(Math.max(0, t - this.order), t);
    return ids.map((word, t) => Math.log(this.prob(before(t), word)));
  }
}

// P(w | h) = c(h w) / c(h .). An unseen history says nothing: its longest end that was seen takes its place.
export class MaximumLikelihood extends Model {
  split(_order, total) {
    return { passes: 0, share: (c) => c / total };
  }
}

// P(w | h) = (c(h w) + k) / (c(h .) + k V): every n-gram counts as seen k times more. One order, then uniform.
export class AddK extends Model {
  constructor(counts, order, k) {
    super(counts, order);
    if (!(k > 0)) throw new Error(`k is ${k}; add a positive number`);
    this.k = k;
  }

  path(history) {
    const level = this.level(this.recent(history), 1);
    return [level, this.uniform(level.passes)];
  }

  split(_order, total) {
    const added = this.k * this.vocabulary.V;
    return { passes: added / (total + added), share: (c) => c / (total + added) };
  }
}

// P(w | h) = sum_n weights[n] P_n(w | h), n = 0 (uniform) to order, with P_n and the rule of MaximumLikelihood: the
// weight of an unseen history goes to its longest seen end.
export class JelinekMercer extends Model {
  constructor(counts, weights) {
    super(counts, weights.length - 1);
    const total = sum(weights);
    this.weights = weights.map((weight) => weight / total);
  }

  split(order, total, _words, arrives) {
    const below = sum(this.weights.slice(0, order));
    const passes = arrives ? Math.min(1, below / arrives) : 0;
    return { passes, share: (c) => ((1 - passes) * c) / total };
  }
}

// P_n(w | h) = max(c_n(h w) - D_n, 0) / c_n(h .) + D_n N(h .) / c_n(h .) P_{n-1}(w | h'), P_0 = 1 / V.
// h' is h without its first word; c_n the raw count at the highest order, the continuation count below; D_n is
// n_1 / (n_1 + 2 n_2), where n_r n-grams have c_n = r. A short history starts at the lower order that it reaches.
export class KneserNey extends Model {
  constructor(counts, order) {
    super(counts, order);
    this.discounts = [0]; // D_n by order
    for (let n = 1; n <= order; n++) {
      const many = [0, 0, 0];
      for (const { words } of this.table(n).values()) for (const c of words.values()) if (c < 3) many[c] += 1;
      this.discounts.push(many[1] ? many[1] / (many[1] + 2 * many[2]) : 0);
    }
  }

  table(order) {
    return order === this.order ? this.counts.raw(order) : this.counts.continuation(order);
  }

  split(order, total, words) {
    const discount = this.discounts[order];
    return { discount, passes: (discount * words.size) / total, share: (c) => (c - discount) / total };
  }
}

// One id drawn from P(. | history).
export const draw = (model, random, history = []) => drawn(model.distribution(history), random());

// Ids up to and with <eos>, at most `limit`.
export function sampleSentence(model, random, history = [], limit = 40) {
  const ids = [];
  const end = model.vocabulary.id("<eos>");
  while (ids.length < limit && ids.at(-1) !== end) ids.push(draw(model, random, [...history, ...ids]));
  return ids;
}
