// wording.mjs: text cut into words as lmbook.text.words cuts it, and the words of a text with their ids.

export const SPECIALS = ["<pad>", "<unk>", "<sos>", "<eos>", "<mask>"]; // ids 0 to 4, as in lmbook.text
// lmbook.text.WORD in the letters of JavaScript, whose \w knows ASCII only and whose \s differs a little.
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python counts these five as spaces, JavaScript does not
const WORD = /[\p{L}\p{N}\p{M}_]+(?:'[\p{L}\p{N}\p{M}_]+)*|[^\p{L}\p{N}\p{M}_\s\x1c-\x1f\x85]\p{M}*/gu;
const HIDDEN = /[\u00ad\u200c-\u200f\u2060\ufeff]/g;

// Letter and accent as one character where Unicode has one, straight apostrophes, without what nobody sees.
export function composed(text) {
  return text.replaceAll("’", "'").replaceAll("\u200b", " ").replace(HIDDEN, "").normalize("NFC");
}

// A typed sentence as lmbook.text.words cuts it: lower case, punctuation apart, "isn't" in one piece.
export function words(text) {
  return composed(text.toLowerCase()).match(WORD) ?? [];
}

export class Vocabulary {
  // tokens: every type in the order of its id.  barred: types that are never predicted; they may stand in a history.
  constructor(tokens, barred = ["<pad>", "<sos>", "<mask>"]) {
    this.tokens = [...tokens];
    this.ids = new Map(this.tokens.map((token, id) => [token, id]));
    this.allowed = this.tokens.map((token) => !barred.includes(token));
    this.V = this.allowed.filter(Boolean).length; // how many types the uniform distribution is over
  }

  // The vocabulary of a running text, by falling count, ties in alphabetical order.
  static build(tokens) {
    const counts = new Map();
    for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
    const types = [...counts.keys()].filter((token) => !SPECIALS.includes(token));
    return new Vocabulary([...SPECIALS, ...types.sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1))]);
  }

  id(token) {
    return this.ids.get(token) ?? this.ids.get("<unk>");
  }
  encode(tokens) {
    return tokens.map((token) => this.id(token));
  }
  decode(ids) {
    return ids.map((id) => this.tokens[id]);
  }
}
