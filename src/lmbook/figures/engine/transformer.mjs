// transformer.mjs: the Transformer, and the layers that BERT and GPT share with it (lmbook/layers.py,
// lmbook/transformer.py).
//
//   X <- post(X + sublayer(pre(X)))      pre or post is a LayerNorm, the other one nothing
//
// Every pass leaves a list of { kind, layer, x, read, added, next, .. }, one a sublayer, where `added` is what the
// sublayer adds to the vectors x, `read` what it reads of them, and `next` what they become; an attention has its
// query, keys, values and context, a feed-forward network its units, `hidden`. traces() gives all that for each
// position.
import { Node, add, gather, relu, scaled, stack } from "./autograd.mjs";
import { MultiHeadAttention, looks } from "./attention.mjs";
import { affine, below, layerNorm, sinusoidal, stepsOf } from "./layers.mjs";

/** out = W_2 hidden + b_2, hidden = f(W_1 x + b_1) */
function feedForward(w, f = relu) {
  const W_1 = affine(w, "W_1");
  const W_2 = affine(w, "W_2");
  return (X) => {
    const hidden = f(W_1(X));
    return { out: W_2(hidden), hidden };
  };
}

/** A layer of an encoder or a decoder: its sublayers in their order, each between its norms. */
class Layer {
  constructor(w, { number, n_heads, turned, activation, eps, cross = false }) {
    this.number = number;
    this.attention = new MultiHeadAttention(below(w, "attention"), n_heads, turned);
    this.cross = cross ? new MultiHeadAttention(below(w, "cross"), n_heads) : null;
    this.ffn = feedForward(below(w, "ffn"), activation);
    this.norms = [1, 2, 3].map((k) => ({ pre: layerNorm(w, `pre_${k}`, eps), post: layerNorm(w, `post_${k}`, eps) }));
  }

  /** Sublayer k (from 0): what the vectors become, and what happened. */
  sublayer(k, kind, x, f) {
    const { pre, post } = this.norms[k];
    const read = pre(x);
    const { out, ...seen } = f(read);
    const next = post(add(x, out));
    return { kind, layer: this.number, x, read, added: out, next, ...seen };
  }

  feed(x) {
    return this.sublayer(this.cross ? 2 : 1, "feed", x, this.ffn);
  }

  /** On whole texts, with the vectors of a source or without one. options: as attention has them. */
  run(X, options, source = null) {
    const { attention, cross } = this;
    const entries = [this.sublayer(0, "self", X, (H) => attention.attend(H, attention.project(H, options), options))];
    const read = (H) => cross.attend(H, cross.project(source), { B: options.B });
    if (source) entries.push(this.sublayer(1, "cross", entries[0].next, read));
    return [...entries, this.feed(entries.at(-1).next)];
  }

  /**
   * New positions of B texts behind those of the cache `past`: one, or, where there is none yet, all that come first.
   * memory: keys and values of the source of one text, or none.
   */
  step(X, past, memory, B) {
    const start = (past?.keys.rows ?? 0) / B;
    const causal = X.rows > B;
    let cache = past;
    const self = this.sublayer(0, "self", X, (H) => {
      const own = this.attention.project(H, { start, B });
      cache = past ? { keys: stack([past.keys, own.keys]), values: stack([past.values, own.values]) } : own;
      return this.attention.attend(H, cache, { start, causal, B });
    });
    const entries = [self];
    if (this.cross) entries.push(this.sublayer(1, "cross", self.next, (H) => this.cross.attend(H, memory)));
    entries.push(this.feed(entries.at(-1).next));
    return { entries, cache };
  }
}

/** The layers below `name`, as many as the file has. */
export function layersOf(w, name, options) {
  const layers = [];
  for (let i = 0; w(`${name}.${i}.attention.W_q.weight`); i += 1)
    layers.push(new Layer(below(w, `${name}.${i}`), { ...options, number: i + 1 }));
  return layers;
}

/** Layer after layer on whole texts: what happened. */
export function through(layers, X, options, source = null) {
  const entries = [];
  for (const layer of layers) entries.push(...layer.run(entries.at(-1)?.next ?? X, options, source));
  return entries;
}

/**
 * A new position of each of B texts behind those of the caches `past`, or the first ones; memories: keys and values of
 * the source, one a layer, or none. trace: of the last position, made when it is asked for.
 */
export function decoderStep(layers, first, past, memories = [], B = 1) {
  const entries = [...first];
  const caches = layers.map((layer, i) => {
    const found = layer.step(entries.at(-1).next, past[i], memories[i], B);
    entries.push(...found.entries);
    return found.cache;
  });
  let trace = null;
  return {
    x: entries.at(-1).next,
    past: caches,
    get trace() {
      trace ??= traces(entries, entries[0].next.rows - 1)[0];
      return trace;
    },
  };
}

/** All positions of a text see all of it; of B texts, rows t B + b. */
export class Encoder {
  constructor(w, options) {
    this.layers = layersOf(w, "layers", options);
    this.norm = layerNorm(w, "norm", options.eps);
  }

  run(X, B = 1) {
    const entries = through(this.layers, X, { B });
    return { X: this.norm(entries.at(-1).next), entries };
  }
}

/** The beginning of a pass: the vectors that are added to make the first x.  parts: [kind, vectors]. */
export function begun(parts) {
  let next = null;
  return parts.map(([kind, added]) => {
    next = next ? add(next, added) : added;
    return { kind, layer: 0, added, next };
  });
}

/**
 * What happened at each position from `first` on, in plain vectors; an attention has the weights and scores of every
 * head.
 */
export function traces(entries, first = 0) {
  const parts = entries.map(({ kind, layer, keys, values, ...own }) => {
    const all = keys ? { keys: keys.vectors(), values: values.vectors() } : {};
    return (r) => {
      const vectors = Object.fromEntries(Object.entries(own).map(([name, X]) => [name, X.row(r)]));
      return { kind, layer, ...vectors, ...all, ...(keys ? looks(own.context, r) : {}) };
    };
  });
  return Array.from({ length: entries[0].next.rows - first }, (_, r) => parts.map((part) => part(first + r)));
}

/** sqrt(d_model) E[w_t] + p_t, in two parts: a pass begins with them. */
class Embedding {
  constructor(w, { positions, scaled: rooted = true }) {
    this.table = w("embedding.weight");
    this.learned = w("learned.table.weight");
    this.positions = positions;
    this.scale = rooted ? Math.sqrt(this.table.columns) : 1;
  }

  /** The tokens `ids`, the first at position `start`; of B texts, rows t B + b. */
  at(ids, start = 0, B = 1) {
    const d = this.table.columns;
    const places = stepsOf(ids, B, start);
    const codes = new Node(ids.length, d);
    if (this.positions === "sinusoidal") for (const [i, t] of places.entries()) codes.row(i).set(sinusoidal(t, d));
    return begun([
      ["embedding", scaled(gather(this.table, ids), this.scale)],
      ["position", this.learned ? gather(this.learned, places) : codes],
    ]);
  }
}

/** Encoder and decoder. start(ids) reads the source, step(id, state) gives the logits of the next token. */
export class Transformer {
  constructor(w, about) {
    const options = { n_heads: about.n_heads, turned: about.positions === "rotary" };
    this.source = new Embedding(below(w, "source"), about);
    this.target = new Embedding(below(w, "target"), about);
    this.encoder = new Encoder(below(w, "encoder"), options);
    this.layers = layersOf(w, "decoder.layers", { ...options, cross: true });
    this.norm = layerNorm(w, "decoder.norm");
    this.output = affine(w, "output");
    this.w = w;
    this.stack = (side) => `${side === "source" ? "encoder" : "decoder"}.layers`;
  }

  /** Logits of B whole targets behind their sources, those of a side equally long, rows t B + b. */
  run(target, source, B) {
    const { X } = this.encoder.run(this.source.at(source, 0, B).at(-1).next, B);
    const entries = through(this.layers, this.target.at(target, 0, B).at(-1).next, { B, causal: true }, X);
    return this.output(this.norm(entries.at(-1).next));
  }

  start(ids) {
    const first = this.source.at(ids);
    const { X, entries } = this.encoder.run(first.at(-1).next);
    return {
      memories: this.layers.map((layer) => layer.cross.project(X)),
      past: [],
      source: traces([...first, ...entries]),
    };
  }

  step(id, state) {
    const first = this.target.at([id], state.past[0]?.keys.rows ?? 0);
    const found = decoderStep(this.layers, first, state.past, state.memories);
    return {
      logits: this.output(this.norm(found.x)).data,
      state: { ...state, past: found.past },
      get trace() {
        return found.trace;
      },
    };
  }

  /** The vector that the output matrix reads, did the decoder end after a stage whose vectors are `next`. */
  head(next) {
    return this.norm(next);
  }
}
