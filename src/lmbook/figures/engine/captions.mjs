// captions.mjs: two lessons on short sentences (lessons.mjs): a Transformer translates them, BERT fills their blanks.
//
// The text has a caption a line, for a translator its counterpart behind a tab; words are apart by blanks. A batch has
// captions of one length, whose counterparts are of one length too, so that nothing is padded. "Right" is, for each
// length, the share of held-out captions that are translated without a mistake, or, for each kind of word, the shares
// of those for which, when they alone are hidden, the likeliest word is of the same kind, and is the word itself; then
// of how many. What is shown are mistakes, as long as there are any.
import { crossEntropy } from "./autograd-layers.mjs";
import { Blanks, EOS, FIRST, MASK, SOS } from "./bytepairs.mjs";
import { network as begun } from "./networks.mjs";
import { best } from "./symbols.mjs";
import { likeliest, mean, shuffled, softmax } from "../kit/numbers.mjs";

const CHECKED = 24; // held-out captions of a length that a report looks at
const OPENED = 8; // those of which it hides every word in turn
const TOLD = 3; // likeliest words of a blank that are told
const FEWEST = 20; // words of a kind, below which a share of them says nothing
const [RATE, HIDDEN, OTHER] = [0.15, 0.8, 0.9]; // words to guess; shares of them hidden, and hidden or exchanged

/** Of B texts of one length the tokens in rows t B + b. */
const rows = (texts) => texts[0].flatMap((_, t) => texts.map((text) => text[t]));

/** Those of each length, the shortest first. */
function byLength(captions) {
  const lengths = [...new Set(captions.map(([{ length }]) => length))].sort((a, b) => a - b);
  return new Map(lengths.map((n) => [n, captions.filter(([{ length }]) => length === n)]));
}

/** The words, batches for training, and held-out captions: those of each length. */
function read(text, random, B) {
  const lines = text.split("\n").map((line) => line.split("\t"));
  const words = new Blanks([...new Set(lines.flat().join(" ").split(" "))].sort());
  const ids = lines.map((sides) => sides.map((side) => words.encode(side)));
  const all = shuffled(ids, random);
  const cut = Math.ceil(all.length * 0.9);
  const train = all.slice(0, cut);
  const like = byLength(train);
  const groups = [...byLength(all.slice(cut)).values()];
  const any = (list, luck) => list[Math.floor(luck() * list.length)];
  return {
    words,
    batch() {
      const group = like.get(any(train, random)[0].length); // a length as often as it occurs
      return Array.from({ length: B }, () => any(group, random));
    },
    one: (luck) => any(any(groups, luck), luck),
    held: (most) => groups.map((group) => group.slice(0, most)),
  };
}

export function translation({ network: about, B }, random, text) {
  const { words, batch, one, held } = read(text, random, B);
  const network = begun({ ...about, vocab: words.size }, random);
  const logits = (pairs) => {
    const [source, target] = [0, 1].map((side) => rows(pairs.map((pair) => pair[side])));
    const end = (id) => pairs.map(() => id);
    return { z: network.run([...end(SOS), ...target], source, pairs.length), wanted: [...target, ...end(EOS)] };
  };
  /** The likeliest word at each step. */
  function written(source) {
    const out = [];
    let state = network.start(source);
    for (let id = SOS; out.length < 2 * source.length; out.push(id)) {
      const step = network.step(id, state);
      ({ state } = step);
      [id] = likeliest(step.logits, 1);
      if (id === EOS) break;
    }
    return out;
  }
  return {
    network,
    loss() {
      const { z, wanted } = logits(batch());
      return crossEntropy(z, wanted);
    },
    *report(luck, writes) {
      const losses = [];
      const shares = [];
      let shown = one(luck); // or of the longest captions with a mistake the first
      for (const pairs of held(CHECKED)) {
        const { z, wanted } = logits(pairs);
        // behind right beginnings; a caption without a mistake there is what the likeliest words give
        const wrong = new Set(wanted.flatMap((id, r) => (best(z, r) === id ? [] : [r % pairs.length])));
        losses.push(crossEntropy(z, wanted).data[0]);
        shares.push([pairs[0][0].length, 1 - wrong.size / pairs.length, null, pairs.length]);
        shown = pairs[Math.min(...wrong)] ?? shown;
        yield;
      }
      const [source, wanted] = shown;
      const told = (ids) => words.decode(ids);
      const sample = { source: told(source), wanted: told(wanted), text: writes ? told(written(source)) : "" };
      return { valid: mean(losses), right: shares, samples: writes ? [sample] : [] };
    },
  };
}

/** kinds: { kind: its words, apart by blanks }, all words of the text. */
export function blanks({ network: about, B, kinds }, random, text) {
  const { words, batch, held } = read(text, random, B);
  const network = begun({ ...about, vocab: words.size }, random);
  const kindOf = new Map(Object.entries(kinds).flatMap(([kind, all]) => words.encode(all).map((id) => [id, kind])));
  const guessed = (texts, hidden, places) => {
    const at = places.map(([b, t]) => t * texts.length + b);
    return { z: network.at(at, rows(hidden), texts.length), wanted: places.map(([b, t]) => texts[b][t]) };
  };
  /** As BERT is trained: of the words to guess most are hidden, some exchanged for any other, some left. */
  function disturbed(texts) {
    const places = [];
    const hidden = texts.map((text, b) => {
      const least = Math.floor(random() * text.length); // one at least
      return text.map((id, t) => {
        if (t !== least && random() >= RATE) return id;
        places.push([b, t]);
        const luck = random();
        return luck < HIDDEN ? MASK : luck < OTHER ? FIRST + Math.floor(random() * (words.size - FIRST)) : id;
      });
    });
    return guessed(texts, hidden, places);
  }
  /** Word t of a text is hidden, for each [text, t]. */
  function blank(places) {
    const texts = places.map(([text]) => text);
    const hidden = places.map(([text, t]) => text.map((id, k) => (k === t ? MASK : id)));
    const at = places.map(([, t], b) => [b, t]);
    return { ...guessed(texts, hidden, at), hidden };
  }
  return {
    network,
    loss() {
      const { z, wanted } = disturbed(batch().map(([text]) => text));
      return crossEntropy(z, wanted);
    },
    *report(luck, writes) {
      const losses = [];
      const found = new Map(Object.keys(kinds).map((kind) => [kind, []]));
      const blanks = [];
      for (const captions of held(OPENED)) {
        const { z, wanted, hidden } = blank(captions.flatMap(([text]) => text.map((_, t) => [text, t])));
        losses.push(crossEntropy(z, wanted).data[0]);
        for (const [r, id] of wanted.entries()) {
          const kind = kindOf.get(id);
          const guess = best(z, r);
          found.get(kind).push([Number(kindOf.get(guess) === kind), Number(guess === id)]);
          if (writes) blanks.push({ text: hidden[r], id, right: guess === id, kind, p: softmax(z.row(r)) });
        }
        yield;
      }
      // of each of two kinds a mistake, and a right answer
      const mixed = shuffled(blanks, luck);
      const first = mixed.find(({ right }) => !right);
      const second = mixed.find(({ right, kind }) => !right && kind !== first.kind);
      const samples = [first, second, mixed.find(({ right }) => right)].filter(Boolean).map(({ text, id, p }) => {
        const source = text.map((id) => (id === MASK ? "___" : words.name(id))).join(" ");
        const odds = likeliest(p, TOLD).map((id) => [words.name(id), p[id]]);
        return { source, wanted: words.name(id), text: odds[0][0], odds };
      });
      const shares = (hits) => [0, 1].map((which) => mean(hits.map((hit) => hit[which])));
      const right = [...found]
        .filter(([, hits]) => hits.length >= FEWEST)
        .map(([kind, hits]) => [kind, ...shares(hits), hits.length]);
      return { valid: mean(losses), right, samples };
    },
  };
}
