// bert.mjs: the encoder alone, which sees both sides of a token (lmbook/bert.py).
//
//   X = norm(E[w] + P + S)      X = encoder(X), post-norm      y_hat_t = softmax(E norm(gelu(W h_t + b)) + c)
import { add, affine, below, gelu, layerNorm, row, softmax } from "./layers.mjs";
import { Encoder } from "./transformer.mjs";

const EPS = 1e-12;

export class MaskedLM {
  constructor(w, { bert }) {
    const part = below(w, "bert");
    this.window = bert.window;
    [this.table, this.places, this.segments] = ["embedding.weight", "position.table.weight", "segment.weight"].map(part);
    this.first = layerNorm(part, "norm", EPS);
    this.encoder = new Encoder(below(part, "encoder"), { n_heads: bert.n_heads, activation: gelu, eps: EPS });
    [this.W, this.norm, this.output] = [affine(w, "W"), layerNorm(w, "norm", EPS), affine(w, "output")];
  }

  /** P(w_t) at the places `at`, and the weights of attention, [layer][head][query][key]. */
  run(ids, at = [...ids.keys()]) {
    const segment = row(this.segments, 0);
    const { X, trace } = this.encoder.run(ids.map((id, t) => this.first(add(add(row(this.table, id), row(this.places, t)), segment))));
    return { p: at.map((t) => softmax(this.output(this.norm(this.W(X[t]).map(gelu))))), trace };
  }
}
