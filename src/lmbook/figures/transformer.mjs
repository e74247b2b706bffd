// transformer.mjs: the Transformer, and the layers that BERT and GPT share with it (lmbook/layers.py,
// lmbook/transformer.py).
//
//   x <- post(x + sublayer(pre(x)))      pre or post is a LayerNorm, the other one nothing
//
// Every pass leaves a trace: for each position a list of { kind, layer, added, next, weights, scores }, one a sublayer,
// where `added` is what the sublayer adds to the vector x, `read` what it reads of it, and `next` what x becomes; an
// attention has the weights and scores of every head, and what they were computed from; a feed-forward network has its
// units, `hidden`.
import { MultiHeadAttention } from "./attention.mjs";
import { add, affine, below, layerNorm, relu, row, sinusoidal } from "./layers.mjs";

/** out = W_2 hidden + b_2, hidden = f(W_1 x + b_1) */
export function feedForward(w, f = relu) {
  const W_1 = affine(w, "W_1");
  const W_2 = affine(w, "W_2");
  return (x) => {
    const hidden = W_1(x).map(f);
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

  /** Sublayer k (from 0) on one vector: what comes out, and its entry in the trace. */
  sublayer(k, kind, x, f) {
    const { pre, post } = this.norms[k];
    const read = pre(x);
    const { out, ...seen } = f(read);
    const next = post(add(x, out));
    return [next, { kind, layer: this.number, x, read, added: out, next, ...seen }];
  }

  feed(x) {
    return this.sublayer(this.cross ? 2 : 1, "feed", x, this.ffn);
  }
}

/** The layers below `name`, as many as the file has. */
export function layersOf(w, name, options) {
  const layers = [];
  for (let i = 0; w(`${name}.${i}.attention.W_q.weight`); i += 1)
    layers.push(new Layer(below(w, `${name}.${i}`), { ...options, number: i + 1 }));
  return layers;
}

/** All positions see all positions: the outputs X, and the trace of each. */
export class Encoder {
  constructor(w, options) {
    this.layers = layersOf(w, "layers", options);
    this.norm = layerNorm(w, "norm", options.eps);
  }

  run(X) {
    const trace = X.map(() => []);
    for (const layer of this.layers) {
      const seen = layer.attention.project(X.map(layer.norms[0].pre));
      X = X.map((x, i) => {
        const [y, entry] = layer.sublayer(0, "self", x, (h) => layer.attention.attend(h, seen, i));
        const [z, more] = layer.feed(y);
        trace[i].push(entry, more);
        return z;
      });
    }
    return { X: X.map(this.norm), trace };
  }
}

/** One new position after those of the caches `past`; memories: keys and values of the source, one a layer, or none. */
export function decoderStep(layers, x, past, memories = []) {
  const trace = [];
  const next = [];
  const t = past[0].keys.length;
  layers.forEach((layer, i) => {
    let entry;
    const own = layer.attention.project([layer.norms[0].pre(x)], t);
    const cache = { keys: [...past[i].keys, ...own.keys], values: [...past[i].values, ...own.values] };
    [x, entry] = layer.sublayer(0, "self", x, (h) => layer.attention.attend(h, cache, t));
    trace.push(entry);
    if (layer.cross) {
      [x, entry] = layer.sublayer(1, "cross", x, (h) => layer.cross.attend(h, memories[i]));
      trace.push(entry);
    }
    [x, entry] = layer.feed(x);
    trace.push(entry);
    next.push(cache);
  });
  return { x, past: next, trace };
}

export const noPast = (layers) => layers.map(() => ({ keys: [], values: [] }));

/** The beginning of a trace: the vectors that are added to make the first x.  parts: [kind, vector]. */
export function begun(parts) {
  let next = null;
  return parts.map(([kind, added]) => {
    next = next ? add(next, added) : added;
    return { kind, layer: 0, added, next };
  });
}

/** sqrt(d_model) E[w_t] + p_t, in two parts: the trace begins with them. */
class Embedding {
  constructor(w, { positions, scaled = true }) {
    this.table = w("embedding.weight");
    this.learned = w("learned.table.weight");
    this.positions = positions;
    this.scale = scaled ? Math.sqrt(this.table.shape[1]) : 1;
  }

  at(id, t) {
    const word = row(this.table, id).map((v) => this.scale * v);
    const place = this.learned
      ? row(this.learned, t)
      : this.positions === "sinusoidal"
        ? sinusoidal(t, word.length)
        : word.map(() => 0);
    const first = begun([
      ["embedding", word],
      ["position", place],
    ]);
    return [first[1].next, first];
  }
}

/** Encoder and decoder. start(ids) reads the source, step(state, id) gives the logits of the next token. */
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

  start(ids) {
    const embedded = ids.map((id, t) => this.source.at(id, t));
    const { X, trace } = this.encoder.run(embedded.map(([x]) => x));
    return {
      memories: this.layers.map((layer) => layer.cross.project(X)),
      past: noPast(this.layers),
      source: embedded.map(([, first], i) => [...first, ...trace[i]]),
    };
  }

  step(state, id) {
    const [x, first] = this.target.at(id, state.past[0].keys.length);
    const { x: last, past, trace } = decoderStep(this.layers, x, state.past, state.memories);
    return { logits: this.output(this.norm(last)), state: { ...state, past }, trace: [...first, ...trace] };
  }

  /** The vector that the output matrix reads, did the decoder end after this stage of the trace. */
  head({ next }) {
    return this.norm(next);
  }
}
