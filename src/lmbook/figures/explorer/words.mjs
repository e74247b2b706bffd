// What the n-gram explorer says in words: what the model sees, why an order gives what it gives, the lines of the text.
import { fmt, h } from "../kit/core.mjs";

const BEFORE = 4; // words out of sight that are still shown
export const named = (history) => (history.length ? fmt.quote(history.join(" ")) : "no history");
export const share = (p) => (p > 0 && p < 0.001 ? fmt.prob(p, 2) : fmt.percent(p, p > 0 && p < 0.1 ? 1 : 0));
export const points = (perplexity) => (perplexity < Infinity ? fmt.num(perplexity, 1) : "infinite");
export const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${fmt.count(n)} times`);

// The words that the model sees, marked, after those that are out of its sight.
export function sight(tokens, seen, vocabulary) {
  const shown = tokens.slice(-seen - BEFORE);
  const cut = shown.length - seen;
  const strange = [...new Set(shown)].filter((token) => !vocabulary.ids.has(token));
  return [
    seen ? "After " : "After no word ",
    h("span", {}, `${shown.length < tokens.length ? "… " : ""}${shown.slice(0, cut).join(" ")} `),
    shown.slice(cut).flatMap((token) => [h("b", {}, token), " "]),
    strange.length > 0 && h("span", {}, `(not in the text: ${strange.join(", ")})`),
  ];
}

// What followed a history: how often, and which words most.
export function seen({ history, total, followers }) {
  if (!total) return "Never seen before a word of the training text.";
  const most = followers.slice(0, 3).map(([word, c]) => `${fmt.quote(word)} ${fmt.count(c)}`);
  const rest = followers.length - most.length;
  const others = rest ? `, ${fmt.some(rest, "other word")}` : "";
  return `${history.length ? `Seen ${times(total)}` : `${fmt.count(total)} tokens`}: ${most.join(", ")}${others}.`;
}

// Why a level of the path gives what it gives, in the terms of its estimator. `now`: { kind, n, k }.
export function why(now, level, V) {
  if (!level) return "Add-k looks at one order only: this one is not asked.";
  const { order, total, words, discount, arrives, passes } = level;
  if (order === 0) return arrives === 0 ? "Not asked." : `1 / ${fmt.count(V)} for each word of the vocabulary.`;
  if (now.kind === "none") {
    if (!total) return "0 / 0: raw shares have nothing to say here. The next shorter history takes over.";
    if (!arrives) return "Not asked: a longer history was seen.";
    return "Gives everything, in proportion to its counts; a word that never followed gets 0.";
  }
  if (now.kind === "add-k") {
    const added = `k × V = ${now.k} × ${fmt.count(V)} = ${fmt.prob(now.k * V)} imagined counts`;
    if (!total) return `${added} and no real one: every word alike.`;
    return `${added} beside ${fmt.count(total)} real: ${share(passes)} goes to every word alike.`;
  }
  if (!total) return "Passes everything on to the next shorter history.";
  if (now.kind === "interpolated") return `Its weight in the mixture is ${fmt.prob(arrives * (1 - passes))}.`;
  const size = words.size === 1 ? "the one count" : `each of ${fmt.count(words.size)} counts`;
  const taken = `${fmt.num(discount, 3)} off ${size} (sum ${fmt.count(total)}): ${share(passes)} is passed on.`;
  return order === now.n ? taken : `A word counts once for every different word seen before it. ${taken}`;
}

// Every place where a phrase of ids stands before a word, as the sentence around it. No phrase: the whole text.
export function lines(ids, vocabulary, phrase) {
  const end = vocabulary.id("<eos>");
  const text = (from, to) => vocabulary.decode(ids.slice(from, to)).join(" ");
  const start = (i) => (i ? ids.lastIndexOf(end, i - 1) + 1 : 0);
  const stop = (i) => {
    const at = ids.indexOf(end, i);
    return at < 0 ? ids.length : at;
  };
  const found = [];
  if (!phrase.length) {
    for (let i = 0; i < ids.length; i = stop(i) + 1) found.push(h("p", {}, text(i, stop(i))));
    return found;
  }
  for (let i = 0; i + phrase.length < ids.length; i++) {
    if (!phrase.every((id, j) => ids[i + j] === id)) continue;
    const next = i + phrase.length;
    const marked = [h("b", {}, text(i, next)), " ", h("u", {}, text(next, next + 1))];
    found.push(h("p", {}, `${text(start(i), i)} `, marked, ` ${text(next + 1, stop(next))}`));
  }
  return found.length ? found : [h("p", {}, "It occurs nowhere in the text.")];
}

// The result in a sentence.
export function sentence(now, recent, rows, total) {
  if (now.kind === "none" && !total)
    return `${named(recent)} never occurs before a word: 0 / 0, so raw shares have nothing to say.`;
  const [top] = rows;
  const raw =
    now.kind === "none" ? "" : total ? `, raw count ${fmt.count(top.raw)} of ${fmt.count(total)}` : ", no raw count";
  return (
    `${recent.length ? `After ${named(recent)}` : "With no history"}, ${now.name}: likeliest ` +
    `${fmt.quote(top.word)}, ${fmt.prob(top.p)}${raw}.`
  );
}
