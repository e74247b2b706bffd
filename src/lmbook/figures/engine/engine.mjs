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
import { bytes, weights } from "./checkpoint.mjs";
import { GPT } from "./gpt.mjs";
import { framed, hidden, inside, known as kept, opened, read } from "./insides.mjs";
import { words as lowerWords } from "./ngram.mjs";
import { likeliest, logSoftmax, softmax } from "../kit/numbers.mjs";
import { PatchClassifier } from "./patches.mjs";
import { PixelGPT } from "./pixelgpt.mjs";
import { Classifier, RecurrentLM, Tagger } from "./recurrent.mjs";
import { AttentionSeq2Seq, Seq2Seq } from "./seq2seq.mjs";
import { Transformer } from "./transformer.mjs";
import { training } from "./training.mjs";
import { SkipGram, plane } from "./vectors.mjs";
import { WordForms, cut } from "./wordforms.mjs";

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

/** What a card describes as { class: "lmbook.part.Name", .. }, made of the parts that the page has. */
function made(parts, about, make) {
  const kind = about.class.split(".").at(-1);
  if (!(kind in parts)) throw new Error(`the page has no ${kind}`);
  return make(parts[kind]);
}

/** The model of a file, whose card describes it as `about`; and the tokenizer of a text that is described. */
export function modelOf(file, about) {
  const found = weights(file);
  return made(MODELS, about, (Kind) => new Kind((name) => found.get(name), about));
}
export const textOf = (about) => made(TEXTS, about, (make) => make(about));

const attentions = (trace) => trace.filter((entry) => entry.weights);

/** Rows of traces, one a position, as maps: { kind, layer, weights[head][query][key] } for each attention. */
const maps = (traces) =>
  attentions(traces[0]).map(({ kind, layer, weights: heads }, i) => ({
    kind,
    layer,
    weights: heads.map((_, head) => traces.map((trace) => Array.from(attentions(trace)[i].weights[head]))),
  }));

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

  /** The source as ids, and the states of a decoder that has read <sos> and the ids given. */
  const begun = (name, text, ids) => once([name, text, ids], () => readAnew(name, text, ids));

  /**
   * A position of a pass, as insides.mjs takes it.
   * @param {{ name: string, side: string, text?: string, ids?: number[], place?: number, blank?: number }} given
   */
  function position({ name, text, ids, side, place, blank }) {
    const found = get(name);
    if (found.model instanceof MaskedLM) return once([name, text, blank], () => hidden(found, text, blank))[place];
    if (found.model instanceof GPT) return once([name, text], () => read(found, text))[place];
    const { start, steps } = begun(name, text, ids.slice(0, -1));
    return side === "source" ? { trace: start.source[place] } : steps[place];
  }

  function readAnew(name, text, ids) {
    const { model, reader, writer } = get(name);
    const source = reader.encode(text);
    if (!source.length) throw new Error("there is no word to translate");
    const start = model.start(source);
    const steps = [];
    for (const id of [SOS, ...ids]) steps.push(model.step(id, steps.length ? steps.at(-1).state : start));
    return { model, reader, writer, source, start, steps };
  }

  const tasks = {
    /** Takes a file of weights (Uint8Array) and its card (an object). */
    load({ name, file, card }) {
      const [reader, writer] = [card.text ?? []].flat().map(textOf); // of an image there is none
      known.set(name, { model: modelOf(file, card.model), reader, writer: writer ?? reader });
      return { name };
    },

    /**
     * Writes the likeliest token at each step, after those of `forced`, until <eos> or `most` tokens.
     * source: { id, text, typed } of each token read.  target: { id, text, p, others: [{ id, text, p }] }.
     * attention: as `maps`; kind is "encoder", "self" (of the decoder) or "cross".
     */
    translate({ name, text, forced = [], most = 60 }) {
      const { model, reader, writer, source, start, steps } = begun(name, text, forced.slice(0, most - 1));
      const target = [];
      for (let t = 0; ; t += 1) {
        const p = softmax(steps[t].logits);
        const allowed = p.map((value, id) => (id === SOS ? -1 : value));
        const best = likeliest(allowed, 6);
        const id = forced[t] ?? best[0];
        target.push({
          id,
          text: writer.name(id),
          p: p[id],
          others: best.map((other) => ({ id: other, text: writer.name(other), p: p[other] })),
        });
        if (id === EOS || target.length === most) break;
        if (t + 1 === steps.length) steps.push(model.step(id, steps[t].state));
      }
      const written = steps.slice(0, target.length).map((step) => step.trace ?? []);
      const typed = reader.split(text);
      const encoder = start.source ? maps(start.source).map((map) => ({ ...map, kind: "encoder" })) : [];
      return {
        source: source.map((id, i) => ({ id, text: reader.name(id), typed: typed[i] })),
        target,
        text: writer.decode(target.map((token) => token.id)).trim(),
        ended: target.at(-1).id === EOS,
        attention: [...encoder, ...maps(written)],
      };
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
      return opened(
        model,
        writer,
        position({ name, side, ...given }),
        !(model instanceof Transformer && side === "source"),
      );
    },

    /** One sublayer at this position, with every number: stage as in `open`; behind the last one comes the output. */
    inside({ name, side, stage, unit = null, ...given }) {
      const { model, writer } = get(name);
      return inside(model, writer, position({ name, side, ...given }), side, stage, unit);
    },

    /**
     * What a translator without attention may write: nodes of `shown` rows [token, ln p, next node], node 0 first, as
     * `tree` in decoding/__init__.py has them: all beginnings with P of `least`, what beams of up to `widest` look at,
     * and `kept`, beginnings as ids; from each of them on by the likeliest tokens.  A next node is null behind the end,
     * -1 where the tree does not go on.
     */
    tree({ name, text, kept = [], shown = 5, widest = 4, least = 0.004, most = 14 }) {
      const { model, reader, writer } = get(name);
      const source = reader.encode(text);
      if (!source.length) throw new Error("there is no word to translate");
      const said = new Map();
      const look = (ids) => {
        const key = ids.join(" ");
        if (!said.has(key)) {
          const { logits, state } = model.step(
            ids.at(-1) ?? SOS,
            ids.length ? look(ids.slice(0, -1)).state : model.start(source),
          );
          const p = softmax(logits);
          said.set(key, { ids, state, rows: likeliest(p, shown).map((id) => ({ id, logP: Math.log(p[id]) })) });
        }
        return said.get(key);
      };
      const goesOn = ({ id }, ids) => id !== EOS && ids.length + 1 < most;
      const likely = [{ ids: [], total: 0 }];
      for (const { ids, total } of likely) {
        for (const row of look(ids).rows)
          if (goesOn(row, ids) && total + row.logP >= Math.log(least))
            likely.push({ ids: [...ids, row.id], total: total + row.logP });
      }
      for (let width = 1; width <= widest; width += 1) {
        let beam = [{ ids: [], total: 0, open: true }];
        for (let step = 0; step < most && beam.some((one) => one.open); step += 1) {
          const grown = beam.flatMap((one) =>
            one.open
              ? look(one.ids)
                  .rows.slice(0, width)
                  .map(({ id, logP }) => ({ ids: [...one.ids, id], total: one.total + logP, open: id !== EOS }))
              : [one],
          );
          beam = grown.sort((a, b) => b.total - a.total).slice(0, width);
        }
      }
      for (const ids of kept) ids.forEach((_, t) => look(ids.slice(0, t + 1)));
      for (let { ids, rows } of [...said.values()])
        while (goesOn(rows[0], ids)) ({ ids, rows } = look([...ids, rows[0].id]));
      const number = new Map([...said.keys()].map((key, i) => [key, i]));
      return {
        read: source.map((id, i) => ({ text: reader.name(id), typed: reader.split(text)[i] })),
        nodes: [...said.values()].map(({ ids, rows }) =>
          rows.map(({ id, logP }) => [
            { id, text: writer.name(id) },
            logP,
            id === EOS ? null : (number.get([...ids, id].join(" ")) ?? -1),
          ]),
        ),
      };
    },

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
      const words = model instanceof Classifier ? lowerWords(typed) : cut(typed);
      if (!words.length) throw new Error("there is no word in it");
      const ids = reader.encode(words);
      const rows = (found) => (model instanceof Classifier ? Array.from(found) : found.map((p) => Array.from(p)));
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

    /**
     * The upper rows of an image, as greys, behind each class: ln P(rows | class), P(class | rows), the class that is
     * `asked` for, or the likeliest where that is -1, and for each seed the `rest` pixels that are written for it.
     */
    rows({ name, greys, asked, rest, temperature, seeds }) {
      const { model } = get(name);
      const read = model.classes.map((c) => model.behind(greys, c));
      const logP = read.map((one) => one.logP);
      const p = logSoftmax(logP).map(Math.exp);
      const digit = asked < 0 ? likeliest(p, 1)[0] : asked;
      return { logP, p, digit, written: seeds.map((seed) => model.write(read[digit], rest, temperature, seed)) };
    },

    /** What a classifier of images takes these greys for: P of each class, and where it looks. */
    image({ name, greys }) {
      const { p, weights: looks } = get(name).model.run(greys);
      return { p: Array.from(p), weights: looks };
    },

    /**
     * Words as vectors: the first `most` different words of a text, each with its row and its `n` nearest, and all of
     * these in a plane.  words: { typed, id, text }; a word that is not in the table is <unk>, which has no neighbours
     * and no place. near: a list of { id, text, cosine } a word.  points: { id, text, x, y }.  left: how many words
     * were too many.
     */
    neighbours({ name, text, n = 5, most = 6 }) {
      const { model, reader } = get(name);
      const isWord = (token) => /[\p{L}\p{N}]/u.test(token); // not a punctuation mark
      const all = [...new Set(reader.split(text).filter(isWord))];
      if (!all.length) throw new Error("there is no word in it");
      const words = all
        .slice(0, most)
        .map((typed) => ({ typed, id: reader.encode(typed)[0] }))
        .map((word) => ({ ...word, text: reader.name(word.id) }));
      const readable = (id) => {
        // can be typed
        const ids = reader.encode(reader.name(id));
        return isWord(reader.name(id)) && ids.length === 1 && ids[0] === id;
      };
      const near = words.map(({ id }) =>
        id < FIRST ? [] : model.nearest(id, n, readable).map((one) => ({ ...one, text: reader.name(one.id) })),
      );
      const ids = [
        ...new Set([...words.map(({ id }) => id).filter((id) => id >= FIRST), ...near.flat().map(({ id }) => id)]),
      ];
      const { points, share } = ids.length ? plane(ids.map((id) => model.rows[id])) : { points: [], share: 0 };
      return {
        words,
        near,
        points: points.map(([x, y], i) => ({ id: ids[i], text: reader.name(ids[i]), x, y })),
        share,
        left: all.length - words.length,
      };
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

    /**
     * A language model reads a text token by token: its states, its gates, what it expects next, and P of what came.
     */
    read({ name, text, shown = 5 }) {
      const { model, reader } = get(name);
      let state = model.start();
      return reader.encode(text).map((id, t, ids) => {
        const step = model.step(id, state);
        ({ state } = step);
        const p = softmax(step.logits);
        return {
          id,
          text: reader.name(id),
          came: p[ids[t + 1]] ?? null,
          states: state.map((layer) => layer.map((part) => Array.from(part.data))),
          gates: step.gates.map((layer) =>
            Object.fromEntries(Object.entries(layer).map(([gate, values]) => [gate, Array.from(values.data)])),
          ),
          next: likeliest(p, shown).map((other) => ({ id: other, text: reader.name(other), p: p[other] })),
        };
      });
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
    } catch (error) {
      return scope.postMessage({ number, error: error.message });
    }
  };
}
