// The text of the n-gram explorer cut into tokens, and the models that were made over it.
import { sum } from "../kit/numbers.mjs";
import * as ngram from "../engine/ngram.mjs";

export const KINDS = { none: "raw shares", "add-k": "add-k", interpolated: "interpolated", "kneser-ney": "Kneser-Ney" };

// A corpus is one string: tokens apart by spaces, a line end for each <eos>.
export const read = (text) => text.replaceAll("\n", " <eos> ").split(" ").filter(Boolean);
// A typed history may hold <eos> and <unk>, which words() would cut up.
export const typed = (text) =>
  text.split(/(<eos>|<unk>)/).flatMap((part) => (/^<\w+>$/.test(part) ? [part] : ngram.words(part)));
// The models over one text, made when first asked for: { name, kind, n, k, model, perplexity, zeros, stored }.
export function shelf(counts, held, weights) {
  const made = new Map();
  const build = {
    none: (n) => new ngram.MaximumLikelihood(counts, n),
    "add-k": (n, k) => new ngram.AddK(counts, n, k),
    interpolated: (n) => new ngram.JelinekMercer(counts, weights[n - 1]),
    "kneser-ney": (n) => new ngram.KneserNey(counts, n),
  };
  return {
    tried: () => [...made.values()],
    take(kind, n, k) {
      const name = `${kind === "add-k" ? `add-k with k = ${k}` : KINDS[kind]}, n = ${n}`;
      if (!made.has(name)) {
        const model = build[kind](n, k);
        const logs = model.logProbs(held);
        const stored = sum(Array.from({ length: n }, (_, i) => counts.types(i + 1)));
        const perplexity = held.length ? Math.exp(-sum(logs) / logs.length) : NaN;
        const zeros = logs.filter((log) => log === -Infinity).length;
        made.set(name, { name, kind, n, k, model, stored, perplexity, zeros });
      }
      return made.get(name);
    },
  };
}
