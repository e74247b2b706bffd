// gpt.mjs: a trained GPT of the package in plain JavaScript. It reads the int8 file that Python reads, keeps keys and
// values, and gives back the attention of the last token. The equations are those of lmbook/gpt.py:
//
//   X = E[w] (+ P, where learned)     X = X + attention(norm(X))     X = X + W_2 gelu(W_1 norm(X) + b_1) + b_2
//   logits = E norm(X)

import { bytes, weights } from "./checkpoint.mjs";
import { affine, geluTanh, layerNorm, row, softmax } from "./layers.mjs";
import { begun, decoderStep, layersOf, noPast } from "./transformer.mjs";

export { bytes, softmax, weights };

/**
 * A GPT over weights, w(name). read(id) takes one more token; then .logits are those of the next one,
 * .attention[layer][head] are the weights of this token over .tokens, the context, itself the last, and .trace has all
 * that happened (transformer.mjs). A full window slides as GPT.step does: the oldest `slide` tokens leave, and the rest
 * is read anew.
 */
export class GPT {
  constructor(w, { n_heads, window, slide }) {
    this.w = w;
    this.window = window;
    this.slide = slide;
    this.stack = () => "layers";
    this.embedding = w("embedding.weight");
    this.places = w("position.table.weight"); // none where positions are rotary
    this.layers = layersOf(w, "layers", { n_heads, turned: !this.places, activation: geluTanh });
    this.norm = layerNorm(w, "norm");
    this.output = affine(w, "output");
    this.clear();
  }

  clear() {
    this.tokens = [];
    this.past = noPast(this.layers);
  }

  read(id) {
    if (this.tokens.length === this.window) {
      const rest = this.tokens.slice(this.slide);
      this.clear();
      for (const token of rest) this.read(token);
    }
    const t = this.tokens.length;
    this.tokens.push(id);
    const first = begun([
      ["embedding", row(this.embedding, id)],
      ...(this.places ? [["position", row(this.places, t)]] : []),
    ]);
    const { x, past, trace } = decoderStep(this.layers, first.at(-1).next, this.past);
    this.past = past;
    this.trace = [...first, ...trace];
    this.attention = trace.filter((entry) => entry.kind === "self").map((entry) => entry.weights);
    this.logits = this.output(this.norm(x));
    return this.logits;
  }

  /** What stands behind the last logits: the vector that the output matrix reads, after a stage of the trace. */
  head({ next }) {
    return this.norm(next);
  }

  /** The state after reading ids one by one, whatever was read before; reads only what is new. */
  to(ids) {
    const { window, slide, tokens } = this;
    const kept = ids.length <= window ? ids.length : window - slide + 1 + ((ids.length - window - 1) % slide);
    const context = ids.slice(ids.length - kept);
    const known = tokens.length <= kept && tokens.every((id, i) => id === context[i]);
    if (!known) this.clear();
    for (const id of context.slice(this.tokens.length)) this.read(id);
    return this.logits;
  }
}

/**
 * What is drawn from: softmax(logits / temperature), cut to the topK likeliest, then to the fewest with topP together,
 * as lmbook.decode.distribution. Temperature 0 is greedy; topK 0 keeps all; -Infinity is never drawn.
 */
export function distribution(logits, temperature, topK, topP) {
  const greedy = temperature === 0;
  let p = softmax(Array.from(logits, (z) => z / (greedy ? 1 : temperature)));
  const order = [...p.keys()].sort((a, b) => p[b] - p[a] || a - b);
  const most = greedy ? 1 : topK || p.length;
  const share = (ids) => {
    const sum = ids.reduce((total, i) => total + p[i], 0);
    const next = new Float64Array(p.length);
    for (const i of ids) next[i] = p[i] / sum;
    p = next;
  };
  share(order.slice(0, most));
  let before = 0;
  share(
    order.slice(0, most).filter((i) => {
      const stays = topP >= 1 || before < topP;
      before += p[i];
      return stays;
    }),
  );
  return p;
}

/** A number in [0, 1) that follows from the seed and the place alone (mulberry32). */
export function uniform(seed, place) {
  let a = (Math.imul(seed + 1, 0x9e3779b1) + Math.imul(place + 1, 0x6d2b79f5)) | 0;
  let t = Math.imul(a ^ (a >>> 15), a | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  a = (t ^ (t >>> 14)) >>> 0;
  return a / 4294967296;
}

/** The id at which the running sum of p passes u. */
export function draw(p, u) {
  let sum = 0;
  let last = 0;
  for (let i = 0; i < p.length; i += 1) {
    if (p[i] > 0) {
      sum += p[i];
      last = i;
      if (u < sum) return i;
    }
  }
  return last;
}
