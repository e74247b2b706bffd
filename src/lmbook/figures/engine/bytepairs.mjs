// Three tokenizers in the page, equal to those of lmbook.text: by character, by word and by byte pair.
//
//   new Characters(types)   new Words(vocabulary)   new BytePairs([[a, b], ...])
//   new Blanks(vocabulary)
//   tokenizer.encode(text)  ids        tokenizer.split(text)  the tokens as a reader sees them        tokenizer.size
//   tokenizer.decode(ids)   the text, without <pad>, <sos> and <eos>          tokenizer.name(id)  one token
//
// Ids 0 to 4 are the special tokens; an unknown character or word is 1, <unk>. Byte pairs have ids 5 to 260 for the
// bytes, then one id a merge.
import { SPECIALS, words } from "./wording.mjs";

const PLACES = new Set([0, 2, 3]); // <pad>, <sos>, <eos>: they mark places rather than stand for text
export const SOS = 2;
export const EOS = 3;
export const MASK = 4;
export const FIRST = 5; // the id of the first that is none of them
const FIRST_MERGE = 261;

// Python's \w and \s in the letters of JavaScript; its PIECE: " ?\w+| ?[^\w\s]+|\s+(?!\S)|\s+"
const W = "\\p{L}\\p{N}_";
const S = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const PIECE = new RegExp(` ?[${W}]+| ?[^${W}${S}]+|[${S}]+(?![^${S}])|[${S}]+`, "gu");

export { S, SPECIALS, W };

export class Characters {
  constructor(types) {
    this.types = [...SPECIALS, ...types.filter((type) => !SPECIALS.includes(type))];
    this.ids = new Map(this.types.map((type, id) => [type, id]));
    this.size = this.types.length;
  }
  name(id) {
    return this.types[id];
  }
  split(text) {
    return [...text];
  }
  encode(text) {
    return this.split(text).map((token) => this.ids.get(token) ?? 1);
  }
  decode(ids, between = "") {
    return ids
      .filter((id) => !PLACES.has(id))
      .map((id) => this.types[id])
      .join(between);
  }
}

export class Words extends Characters {
  split(text) {
    return words(text);
  }
  decode(ids) {
    return super.decode(ids, " ");
  }
}

/** Tokens apart by blanks. */
export class Blanks extends Words {
  split(text) {
    return text.match(new RegExp(`[^${S}]+`, "gu")) ?? [];
  }
}

export class BytePairs {
  constructor(merges) {
    this.ranks = new Map(merges.map(([a, b], i) => [`${a} ${b}`, FIRST_MERGE + i]));
    this.pieces = [
      ...SPECIALS.map((token) => [...new TextEncoder().encode(token)]),
      ...Array.from({ length: 256 }, (_, b) => [b]),
    ];
    for (const [a, b] of merges) this.pieces.push([...this.pieces[a], ...this.pieces[b]]);
    this.size = this.pieces.length;
  }

  // A piece that is no whole character is written as its bytes, for instance <C3>.
  name(id) {
    const bytes = this.pieces[id];
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(bytes));
    } catch {
      return bytes.map((b) => `<${b.toString(16).toUpperCase().padStart(2, "0")}>`).join("");
    }
  }

  split(text) {
    return this.encode(text).map((id) => this.name(id));
  }
  decode(ids) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      new Uint8Array(ids.filter((id) => id >= FIRST).flatMap((id) => this.pieces[id])),
    );
  }
  encode(text) {
    return (text.match(PIECE) ?? []).flatMap((piece) => this.piece(piece));
  }

  piece(piece) {
    let ids = [...new TextEncoder().encode(piece)].map((b) => FIRST + b);
    for (;;) {
      const found = ids.slice(1).map((b, i) => this.ranks.get(`${ids[i]} ${b}`) ?? Infinity);
      const first = Math.min(...found);
      if (first === Infinity) return ids;
      const merged = [];
      for (let i = 0; i < ids.length; i++) {
        const here = this.ranks.get(`${ids[i]} ${ids[i + 1]}`) === first;
        merged.push(here ? first : ids[i]);
        if (here) i += 1;
      }
      ids = merged;
    }
  }
}
