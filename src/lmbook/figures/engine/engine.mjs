// engine.mjs: the trained models of the book at work. It makes a model from its file and its card, and does tasks with
// it.
//
//   const own = engine();      own.load({ name, file, card })      own.translate({ name, text })      ...
//   serve(self)                the same behind messages, in a worker:
//                              { number, task, given } -> { number, found } or { number, error }
//
// The models read like the book's, in a second language: checkpoint, layers, attention, recurrent, seq2seq,
// transformer, bert, gpt, patches.
import { inference } from "./autograd.mjs";
import { MaskedLM } from "./bert.mjs";
import { Blanks, BytePairs, Characters, EOS, FIRST, MASK, SOS, Words } from "./bytepairs.mjs";
import { weights } from "./checkpoint.mjs";
import { GPT } from "./gpt.mjs";
import { framed, hidden, inside, known as kept, opened, steps } from "./insides.mjs";
import { bytes } from "./kernels.mjs";
import { likeliest } from "../kit/numbers.mjs";
import { PatchClassifier } from "./patches.mjs";
import { PixelGPT } from "./pixelgpt.mjs";
import { Classifier, RecurrentLM, Tagger, readAlong } from "./recurrent.mjs";
import { AttentionSeq2Seq, Seq2Seq } from "./seq2seq.mjs";
import { Transformer } from "./transformer.mjs";
import { training } from "./training.mjs";
import { read, translated, tree } from "./translating.mjs";
import { SkipGram, neighbours, plane } from "./vectors.mjs";
import { WordForms, cut } from "./wordforms.mjs";
import { words as lowerWords } from "./wording.mjs";

export { bytes, cut, plane, training };

const MODELS = {
  AttentionSeq2Seq,
  Classifier,
  GPT,
  MaskedLM,
  PatchClassifier,
  RecurrentLM,
  Seq2Seq,
  SkipGram,
  Tagger,
  Transformer,
};
const TEXTS = {
  BytePairTokenizer: (about) => new BytePairs(about.merges),
  CharTokenizer: (about) => new Characters(about.vocabulary.types),
  Sentences: (about) => new Words(about.vocabulary.types),
  Tokens: (about) => new Blanks(about.vocabulary.types),
  WordForms: (about) => new WordForms(about.words, about.classes),
  WordTokenizer: (about) => new Words(about.vocabulary.types),
};

/** Of the parts that the page has the one that a card describes as { class: "lmbook.part.Name", .. }. */
function partOf(parts, about) {
  const kind = about.class.split(".").at(-1);
  if (!(kind in parts)) throw new Error(`the page has no ${kind}`);
  return parts[kind];
}

/** The model of a file, whose card describes it as `about`; and the tokenizer of a text that is described. */
export function modelOf(file, about) {
  const found = weights(file);
  return new (partOf(MODELS, about))((name) => found.get(name), about);
}
export const textOf = (about) => partOf(TEXTS, about)(about);

export function engine() {
  const known = new Map();
  const get = (name) => {
    if (!known.has(name)) throw new Error(`the model ${name} is not loaded`);
    return known.get(name);
  };

  /** What work() gives; the last one is kept. */
  let last = "";
  let done = null;
  function once(key, work) {
    const told = JSON.stringify(key);
    if (told !== last) {
      done = work();
      last = told;
    }
    return done;
  }

  const begun = (name, text, ids) => once([name, text, ids], () => read(get(name), text, ids));

  /** A position of a pass, as insides.mjs takes it. */
  function position(/** @type {any} */ { name, text, ids, side, place, blank }) {
    const found = get(name);
    if (found.model instanceof MaskedLM) return once([name, text, blank], () => hidden(found, text, blank))[place];
    if (found.model instanceof GPT) return once([name, text], () => steps(found, text))[place];
    const { start, steps: all } = begun(name, text, ids.slice(0, -1));
    return side === "source" ? { trace: start.source[place] } : all[place];
  }

  const tasks = {
    /** Takes a file of weights (Uint8Array) and its card (an object). */
    load({ name, file, card }) {
      const [reader, writer] = [card.text ?? []].flat().map(textOf); // of an image there is none
      known.set(name, { model: modelOf(file, card.model), reader, writer: writer ?? reader });
      return { name };
    },

    /**
     * The tokens that a model reads: of BERT as `source`, of a GPT as `target`; left: characters that the GPT does not
     * know.
     */
    tokens({ name, text }) {
      const found = get(name);
      if (found.model instanceof MaskedLM) return { source: framed(found, text).tokens, target: [] };
      const { tokens, left } = kept(found, text);
      return { source: [], target: tokens, left };
    },

    /**
     * One position opened: side "source" or "target", place from 0; ids: what a translator has written; blank: the
     * place that BERT does not see.  A line for each stage, see insides.mjs; `says` is what would be written, did the
     * model end there.
     */
    open({ name, side, ...given }) {
      const { model, writer } = get(name);
      const reads = !(model instanceof Transformer && side === "source");
      return opened(model, writer, position({ name, side, ...given }), reads);
    },

    /** One sublayer at this position, with every number: stage as in `open`; behind the last one comes the output. */
    inside({ name, side, stage, unit = null, ...given }) {
      const { model, writer } = get(name);
      return inside(model, writer, position({ name, side, ...given }), side, stage, unit);
    },

    translate: ({ name, text, forced = [], most = 60 }) => {
      const found = begun(name, text, forced.slice(0, most - 1));
      return translated(get(name), found, { text, forced, most });
    },
    tree: (given) => tree(get(given.name), given),
    neighbours: (given) => neighbours(get(given.name), given),
    rows: (given) => get(given.name).model.rows(given),
    read: (given) => readAlong(get(given.name), given),

    /**
     * Each word hidden alone: the likeliest words there, P and rank (from 1, among words) of the one that stood there.
     */
    blanks({ name, words, shown = 8 }) {
      const { model, reader } = get(name);
      const ids = [SOS, ...reader.encode(words), EOS];
      if (words.length === 0 || ids.length > model.window)
        throw new Error(`the model reads 1 to ${model.window - 2} words`);
      const places = words.map((_, t) => t + 1);
      const found = model.blanks(ids, places, MASK);
      return words.map((word, t) => {
        const p = found[t];
        const own = p[ids[t + 1]];
        const only = p.map((value, id) => (id >= FIRST && id < FIRST + reader.words ? value : 0));
        return {
          read: reader.token(word),
          own,
          rank: 1 + only.filter((value) => value > own).length,
          others: likeliest(only, shown).map((id) => ({ text: reader.name(id), p: p[id] })),
        };
      });
    },

    /** The same for a sentence as it was typed: its words, and their blanks. */
    sentence({ name, typed, shown }) {
      const words = cut(typed);
      return { words, blanks: tasks.blanks({ name, words, shown }) };
    },

    /**
     * P of every class for each beginning of a text: a tagger gives a row a word, a classifier one row. A classifier's
     * words are cut in lower case, as its messages were.
     */
    beginnings({ name, typed }) {
      const { model, reader } = get(name);
      const whole = model instanceof Classifier;
      const words = whole ? lowerWords(typed) : cut(typed);
      if (!words.length) throw new Error("there is no word in it");
      const ids = reader.encode(words);
      const rows = (found) => (whole ? Array.from(found) : found.map((p) => Array.from(p)));
      return {
        words,
        read: words.map((word) => reader.token(word)),
        said: ids.map((_, k) => rows(model.run(ids.slice(0, k + 1)))),
      };
    },

    /** Takes the GPT over pixels that a figure has in its state. */
    pixels({ name, network }) {
      known.set(name, { model: new PixelGPT(network) });
      return { name };
    },

    /** What a classifier of images takes these greys for: P of each class, and where it looks. */
    image({ name, greys }) {
      const { p, weights: looks } = get(name).model.run(greys);
      return { p: Array.from(p), weights: looks };
    },

    /**
     * What a memory of symbols writes for the ids that it has read: the likeliest symbol at each step, as many as were
     * read.
     */
    symbols({ name, ids }) {
      const { model } = get(name);
      let state = model.start(ids);
      let id = SOS;
      return ids.map(() => {
        const step = model.step(id, state);
        ({ state } = step);
        id = FIRST + likeliest(step.logits.slice(FIRST), 1)[0];
        return id;
      });
    },

    /** The tokens of a model by id. */
    types: ({ name }) => get(name).reader.types,

    /**
     * What a GPT expects behind these ids: the logits of the next token, and for each layer and head how its last token
     * looks at the `context`, the ids in its window. slide: how many tokens leave a full window at once.
     */
    next({ name, ids, slide }) {
      const { model } = get(name);
      model.slide = slide;
      const logits = Array.from(model.to(ids));
      const attention = model.attention.map((heads) => heads.map((alpha) => Array.from(alpha)));
      return { logits, attention, context: [...model.tokens] };
    },
  };
  // nothing is trained here: no number remembers what it was computed from
  for (const [name, task] of Object.entries(tasks)) tasks[name] = (given) => inference(() => task(given));
  return tasks;
}

/** Answers numbered messages with the tasks of an engine, and trains as the others say (training.mjs). */
export function serve(scope) {
  const own = engine();
  const hear = training((message) => scope.postMessage(message), 100);
  scope.onmessage = ({ data }) => {
    if (data.number === undefined) return hear(data);
    const { number, task, given } = data;
    try {
      return scope.postMessage({ number, found: own[task](given) });
    } catch ({ message }) {
      return scope.postMessage({ number, error: message });
    }
  };
}
