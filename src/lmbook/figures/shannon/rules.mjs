// The rules of the game: what a bet gives to a word, what it costs, and who did better.
//
//   P(word) = points / 100                                        for a word with points of its own
//   P(word) = rest / 100 * q(word) / (1 - q(words with points))   for each of the others, as often as each occurs
//   loss = -ln P(the word that came)                              perplexity = exp(mean loss)
//
// So a bet is a distribution over the whole vocabulary, like the models', and the two can be compared.
import { fmt } from "../kit/core.mjs";
import { mean, sum } from "../kit/numbers.mjs";

export const spent = (points) => sum(Object.values(points));
export const loss = (p) => (p > 0 ? -Math.log(p) : Infinity);
export const perplexity = (losses) => Math.exp(mean(losses));
export const pp = (x) => (x < 100 ? fmt.num(x, 1) : Number.isFinite(x) ? fmt.count(x) : "infinite");

/** What a bet gives to one word. points: { word: 1 to 100 }, at most 100 together; q: Map from words to frequencies. */
function probability(points, word, q) {
  if (points[word] > 0) return points[word] / 100;
  const taken = Object.keys(points)
    .filter((w) => points[w] > 0)
    .map((w) => q.get(w) ?? 0);
  return (((100 - spent(points)) / 100) * q.get(word)) / (1 - sum(taken));
}

/** What the bets on these positions gave to the words that came. */
export const chances = (bets, positions) =>
  bets.map(({ points }, i) => {
    const { words, q, truth, truth_q } = positions[i];
    return probability(points, truth, new Map([...words.map((word, k) => [word, q[k]]), [truth, truth_q]]));
  });

/** The losses of each model on these positions. */
export const losses = (names, positions) => names.map((_, m) => positions.map(({ truth_p }) => loss(truth_p[m])));

/** What is said of one bet, which gave p to the word that came. */
export function verdict(names, { truth, truth_p }, p) {
  const better = names.filter((_, m) => truth_p[m] > p);
  const rank = !better.length
    ? "You beat every model."
    : better.length === names.length
      ? "Every model did better."
      : `Better than you: ${fmt.list(better)}.`;
  const cost = p > 0 ? `your loss is ${fmt.nats(loss(p))}` : "your loss is infinite";
  return `${fmt.quote(truth)} came. You gave it ${fmt.prob(p)}: ${cost}. ${rank}`;
}

/** What is said at the end, of the reader's probabilities and the models' losses. */
export function result(names, mine, theirs) {
  const you = perplexity(mine.map(loss));
  const beaten = names.filter((_, m) => you < perplexity(theirs[m]));
  const end =
    beaten.length === names.length
      ? "You beat them all."
      : beaten.length
        ? `You beat ${fmt.list(beaten)}.`
        : "They all beat you this time.";
  const mind = Number.isFinite(you) ? "" : " One word to which you gave probability 0 is enough for that.";
  return `Over ${fmt.some(mine.length, "word")} your perplexity is ${pp(you)}.${mind} ${end}`;
}
