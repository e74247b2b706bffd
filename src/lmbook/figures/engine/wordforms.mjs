// wordforms.mjs: words by their look (lab/word_shapes.py), and typed text cut into the words that the models know.
//
//   "blogged" -> <xx-ged>      "Falluja" -> <Xx-uja>      "EOS-400D" -> <X0->      ":-/" -> <.->
import { Characters, S, W } from "./bytepairs.mjs";
import { composed } from "./wording.mjs";

const LONGEST = 3; // letters of an ending
const DIGITS =
  "\\p{Nd}\u{b2}\u{b3}\u{b9}\u{1369}-\u{1371}\u{19da}\u{2070}\u{2074}-\u{2079}\u{2080}-\u{2089}" +
  "\u{2460}-\u{2468}\u{2474}-\u{247c}\u{2488}-\u{2490}\u{24ea}\u{24f5}-\u{24fd}\u{24ff}\u{2776}-\u{277e}" +
  "\u{2780}-\u{2788}\u{278a}-\u{2792}\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}" +
  "\u{1f100}-\u{1f10a}";
const LETTER = /^\p{L}$/u;
const CAPITAL = /^\p{Lu}$/u;
const DIGIT = new RegExp(`^[${DIGITS}]$`, "u");
/** @type {[RegExp, string][]} */
const PATTERNS = [
  // what no dictionary holds, tried in this order
  [/^(?:https?:|www\.)/u, "url"],
  [new RegExp(`^[^${S}@]+@[^${S}@]+\\.[${W}]`, "u"), "mail"],
  [new RegExp(`^@[${W}]`, "u"), "@"],
  [new RegExp(`^#[${W}]`, "u"), "#"],
];

/** url, mail, @, #, 0 (a number), X0, x0, . (neither letter nor digit), XX, Xx, xX, x-x, xx: as in Python. */
export function shape(word) {
  for (const [pattern, name] of PATTERNS) if (pattern.test(word)) return name;
  const characters = [...word];
  const letters = characters.filter((c) => LETTER.test(c));
  const capitals = letters.map((c) => CAPITAL.test(c));
  if (characters.some((c) => DIGIT.test(c))) return letters.length ? (capitals[0] ? "X0" : "x0") : "0";
  if (!letters.length) return ".";
  if (capitals.every(Boolean)) return "XX";
  if (capitals[0]) return "Xx";
  return capitals.some(Boolean) ? "xX" : word.includes("-") ? "x-x" : "xx";
}

/** The classes of a word, the finest first: its shape with its last 3, 2, 1 and no letters. */
export function classes(word) {
  const kind = shape(word);
  const lower = [...word.toLowerCase()];
  let longest = 0;
  if (["XX", "Xx", "xX", "x-x", "xx"].includes(kind)) {
    while (longest < Math.min(LONGEST, lower.length - 1) && LETTER.test(lower[lower.length - longest - 1]))
      longest += 1;
  }
  return Array.from({ length: longest + 1 }, (_, k) => `<${kind}-${lower.slice(lower.length - longest + k).join("")}>`);
}

/** A vocabulary of words, and of classes for all other words; encode(list of words) gives ids. */
export class WordForms extends Characters {
  constructor(words, held) {
    super([...words, ...held]);
    this.words = words.length;
  }

  token(word) {
    return this.ids.has(word) ? word : (classes(word).find((name) => this.ids.has(name)) ?? "<unk>");
  }
  encode(words) {
    return words.map((word) => this.ids.get(this.token(word)));
  }
}

const WM = `${W}\\p{M}`; // marks belong to words
const TYPED = new RegExp(
  `https?:[^${S}]+|(?:\\p{L}\\.){2,}|\\p{Nd}+(?:[.,:]\\p{Nd}+)+|[${WM}]+(?:'[${WM}]+)*|[^${WM}${S}]\\p{M}*`,
  "gu",
);
const SHORT = /^(.+?)(n't|'(?:s|re|ll|ve|d|m))$/iu;

/** Typed text as the corpora cut it: punctuation apart, "isn't" as "is n't", "ship's" as "ship 's". */
export function cut(text) {
  const found = composed(text).match(TYPED) ?? [];
  return found.flatMap((word) => (SHORT.test(word) ? SHORT.exec(word).slice(1) : [word]));
}
