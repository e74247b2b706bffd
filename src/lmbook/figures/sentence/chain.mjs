// The chain rule on a sentence: the model's numbers for each token, and the sentences that tell them.
//
//   P(w_1 .. w_T) = prod_t P(w_t | w_<t)        ln P = sum_t ln P(w_t | w_<t)
//
// The model is interpolated Kneser-Ney over the harbour corpus, counted here in the page (ngram.mjs). A sentence starts
// after <eos>, the end of the one before, and its own <eos> is predicted too.
import { Counts, KneserNey, Vocabulary, words } from "../engine/ngram.mjs";
import { fmt } from "../kit/core.mjs";
import { text } from "./harbour.mjs";

const LIMIT = 60; // words that are shown
let counted = null; // counted once a page, whatever the number of figures

function harbour(order) {
  if (counted?.order !== order) {
    const tokens = text.split("\n").flatMap((line) => [...line.split(" "), "<eos>"]);
    const vocabulary = Vocabulary.build(tokens);
    const counts = new Counts(vocabulary.encode(tokens), order, vocabulary);
    counted = { order, vocabulary, model: new KneserNey(counts, order) };
  }
  return counted;
}

/** Every token of the sentence, <eos> last: its probability, the history used, the running product and sum. */
export function analyse(sentence, order) {
  const { model, vocabulary } = harbour(order);
  const typed = words(sentence).slice(0, LIMIT);
  const tokens = [...typed, "<eos>"];
  const ids = vocabulary.encode(["<eos>", ...tokens]);
  let sum = 0;
  let single = 1;
  return tokens.map((token, i) => {
    const history = ids.slice(Math.max(0, i + 2 - order), i + 1);
    const p = model.prob(history, ids[i + 1]);
    const level = model.path(history).find(({ words: seen }) => seen.has(ids[i + 1]));
    sum += Math.log(p);
    single = Math.fround(single * Math.fround(p));
    return {
      token,
      p,
      sum,
      single,
      known: vocabulary.ids.has(token),
      asked: vocabulary.decode(history),
      used: level ? vocabulary.decode(level.history) : null,
    };
  });
}

export const afterwards = (context) =>
  context === null ? "never seen" : context.length ? `after ${context.join(" ")}` : "after any word";
const times = (x) =>
  Math.abs(x) < 15 ? fmt.count(Number(Math.exp(Math.abs(x)).toPrecision(2))) : fmt.exp(Math.abs(x), 2);
export const off = (d) => `${fmt.some(Math.abs(d), "word")} ${d < 0 ? "too early" : "too late"}`;
export const gone = (rows) => rows.findIndex((row) => row.single === 0);

/** One sentence that says the change from one log probability to another. */
export function change(what, before, after) {
  const d = after - before;
  if (Math.abs(d) < 0.005) return `${what}: ln P stays at ${fmt.num(after)}.`;
  const [way, more] = d > 0 ? ["rises", "more"] : ["falls", "less"];
  return `${what}: ln P ${way} to ${fmt.num(after)}, ${times(d)} times ${more} probable.`;
}

export function summary(rows) {
  const n = rows.length - 1;
  const { sum } = rows.at(-1);
  const lost = gone(rows) < 0 ? "" : `, in float32 0 from token ${gone(rows) + 1} on`;
  const unknown = [...new Set(rows.filter((row) => !row.known).map((row) => fmt.quote(row.token)))];
  const them = unknown.length > 1 ? "them" : "it";
  const strange = ` The corpus does not have ${fmt.list(unknown)}, so the model reads ${them} as <unk>.`;
  const whole = `${fmt.some(n, "token")}: product ${fmt.exp(sum)}${lost}; sum ${fmt.num(sum)}.`;
  return unknown.length ? whole + strange : whole;
}

/** What is said of a sentence that has more words than are shown. */
export const cut = (/** @type {number} */ left) =>
  left ? `Only the first ${LIMIT} tokens are read; ${fmt.some(left, "more is", "more are")} left out.` : "";
