// Numbers and words as the book writes them.

const SUPER = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
// a true minus sign, as in the text of the book
const minus = (text) => text.replace(/^-(?=.*[1-9])/, "−").replace(/^-/, "");

export const fmt = {
  /** A fixed number of decimals. */
  num: (x, digits = 2) => (Number.isFinite(x) ? minus(x.toFixed(digits)) : x > 0 ? "∞" : x < 0 ? "−∞" : "undefined"),
  /** A probability: 0.132, 0.0041, 3.2 × 10⁻⁵, > 0.999, and 0 or 1 where it is just that. */
  prob(p, digits = 3) {
    if (p === 0 || p === 1) return String(p);
    const near = Number(p.toPrecision(digits));
    if (near === 1 && p < 1) return fmt.share(p, digits);
    if (near >= 0.001) return String(near);
    const [mantissa, exponent] = p.toExponential(digits - 1).split("e");
    return `${mantissa} × ${fmt.power(Number(exponent))}`;
  },
  /** A probability of a softmax, which is never 0 nor 1, with fixed decimals: 0.53, < 0.01, > 0.99. */
  share(p, digits = 2) {
    const least = 10 ** -digits;
    if (p < least / 2) return `< ${least}`;
    return p > 1 - least / 2 ? `> ${fmt.num(1 - least, digits)}` : fmt.num(p, digits);
  },
  /** 10 to an integer power: 10⁻⁵ */
  power: (exponent) => `10${[...String(exponent)].map((c) => SUPER[c]).join("")}`,
  /** e to the power x, like fmt.prob, also where a double would be 0 or infinite. */
  exp(x, digits = 3) {
    if (!Number.isFinite(x) || (x > -6 && x < 12)) return fmt.prob(Math.exp(x), digits);
    const exponent = Math.floor(x / Math.LN10);
    const mantissa = Math.exp(x - exponent * Math.LN10).toPrecision(digits);
    return Number(mantissa) >= 10
      ? `${(1).toFixed(digits - 1)} × ${fmt.power(exponent + 1)}`
      : `${mantissa} × ${fmt.power(exponent)}`;
  },
  nats: (x, digits = 2) => `${fmt.num(x, digits)} nats`,
  percent: (p, digits = 0) => `${fmt.num(100 * p, digits)} %`,
  /** 2088628 -> 2,088,628 */
  count: (n) => minus(String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",")),
  /** 1 word, 2 words, 1,000 words */
  some: (n, one, more = `${one}s`) => `${fmt.count(n)} ${n === 1 ? one : more}`,
  /** ["a", "b", "c"] -> "a, b and c" */
  list: (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`),
  /** “word”, of a very long one its beginning. */
  quote: (word) => `“${/\s/.test(word) || word.length <= 24 ? word : `${word.slice(0, 23)}…`}”`,
};

/** What becomes of words that a model has never read: of tokens { text, typed }. */
export function strange(tokens) {
  const typed = tokens.filter(({ text }) => text === "<unk>").map((token) => fmt.quote(token.typed ?? token.text));
  return typed.length
    ? ` The model has no ${fmt.list([...new Set(typed)])}; it reads <unk>, “a word that I do not know”.`
    : "";
}

/** What a model of characters does not read of a text. */
export const leftOut = (characters) =>
  characters && `Left out, because the model has no such character: ${fmt.list([...characters].map(fmt.quote))}. `;

/** A character where blanks and line ends must be seen. */
export const visible = (char, end = "⏎") => ({ " ": "␣", "\n": end })[char] ?? char;
