// bert.mjs: the encoder alone, which sees both sides of a token (lmbook/bert.py).
//
//   X = norm(E[w] + P + S)      X = encoder(X), post-norm      y_hat_t = softmax(E norm(gelu(W h_t + b)) + c)
import { affine, below, gelu, layerNorm, row, softmax } from "./layers.mjs";
import { Encoder, begun } from "./transformer.mjs";

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
    this.encoder = new Encoder(below(part, "encoder"), { n_heads: bert.n_heads, activation: gelu, eps: EPS });
    this.W = affine(w, "W");
    this.norm = layerNorm(w, "norm", EPS);
    this.output = affine(w, "output");
  }

  /** The trace of each position: it begins with the sum of three rows, and the norm behind it. */
  traces(ids) {
    const first = ids.map((id, t) => {
      const [word, place, { next, ...segment }] = begun([
        ["embedding", row(this.table, id)],
        ["position", row(this.places, t)],
        ["segment", row(this.segments, 0)],
      ]);
      return [word, place, { ...segment, next: this.first(next) }];
    });
    const { trace } = this.encoder.run(first.map((parts) => parts.at(-1).next));
    return trace.map((entries, t) => [...first[t], ...entries]);
  }

  /** The vector that the output matrix reads, did the encoder end after this stage of a trace. */
  head({ next }) {
    return this.norm(this.W(next).map(gelu));
  }

  /** P(w_t) at the places `at`, and the trace of each position. */
  run(ids, at = [...ids.keys()]) {
    const trace = this.traces(ids);
    return { p: at.map((t) => softmax(this.output(this.head(trace[t].at(-1))))), trace };
  }
}
