// bert.mjs: the encoder alone, which sees both sides of a token (lmbook/bert.py).
//
//   X = norm(E[w] + P + S)      X = encoder(X), post-norm      y_hat_t = softmax(E norm(gelu(W h_t + b)) + c)
import { gather, geluExact } from "./autograd.mjs";
import { scoped } from "./kernels.mjs";
import { affine, below, layerNorm, stepsOf } from "./layers.mjs";
import { softmax } from "../kit/numbers.mjs";
import { Encoder, begun, traces } from "./transformer.mjs";

const EPS = 1e-12;

export class MaskedLM {
  constructor(w, { bert }) {
    const part = below(w, "bert");
    this.w = w;
    this.stack = () => "bert.encoder.layers";
    this.window = bert.window;
    this.table = part("embedding.weight");
    this.places = part("position.table.weight");
    this.segments = part("segment.weight");
    this.first = layerNorm(part, "norm", EPS);
    this.encoder = new Encoder(below(part, "encoder"), { n_heads: bert.n_heads, activation: geluExact, eps: EPS });
    this.W = affine(w, "W");
    this.norm = layerNorm(w, "norm", EPS);
    this.output = affine(w, "output");
  }

  /** What happened in a pass through B texts, rows t B + b: it begins with the sum of three rows, and their norm. */
  entries(ids, B = 1) {
    const first = begun([
      ["embedding", gather(this.table, ids)],
      ["position", gather(this.places, stepsOf(ids, B))],
      ["segment", gather(this.segments, new Array(ids.length).fill(0))],
    ]);
    first.at(-1).next = this.first(first.at(-1).next);
    return [...first, ...this.encoder.run(first.at(-1).next, B).entries];
  }

  /** The vectors that the output matrix reads, did the encoder end after a stage whose vectors are `next`. */
  head(next) {
    return this.norm(geluExact(this.W(next)));
  }

  /** P(w_t) at the places `at`, and the trace of each position. */
  run(ids, at = [...ids.keys()]) {
    const entries = this.entries(ids);
    return { p: this.told(at, entries), trace: traces(entries) };
  }

  /** P at each of the places, of a text in which this place alone is hidden: as many texts, read at once. */
  blanks(ids, places, mask) {
    return scoped(() => {
      const B = places.length;
      const texts = ids.flatMap((id, t) => places.map((place) => (place === t ? mask : id)));
      const rows = places.map((place, b) => place * B + b);
      return this.told(rows, this.entries(texts, B));
    });
  }

  /** Logits at some rows of B texts. */
  at(rows, ids, B) {
    return this.logits(rows, this.entries(ids, B));
  }

  logits(rows, entries) {
    return this.output(this.head(gather(entries.at(-1).next, rows)));
  }

  told(rows, entries) {
    const found = this.logits(rows, entries);
    return found.vectors().map(softmax);
  }
}
