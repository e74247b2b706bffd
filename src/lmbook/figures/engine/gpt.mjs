// gpt.mjs: the GPT of the package in the page, to be trained or read from the int8 file that Python reads. It keeps
// keys and values, and gives back the attention of the last token. The equations are those of lmbook/gpt.py:
//
//   X = E[w] (+ P, where learned)     X = X + attention(norm(X))     X = X + W_2 gelu(W_1 norm(X) + b_1) + b_2
//   logits = E norm(X)
import { gather, gelu, inference, slice } from "./autograd.mjs";
import { affine, layerNorm, stepsOf } from "./layers.mjs";
import { begun, decoderStep, layersOf, through } from "./transformer.mjs";

/**
 * A GPT over weights, w(name). read(id) takes one more token; then .logits are those of the next one,
 * .attention[layer][head] are the weights of this token over .tokens, the context, itself the last, and .trace has all
 * that happened (transformer.mjs). A full window slides as GPT.step does: the oldest `slide` tokens leave, and the rest
 * is read anew.
 */
export class GPT {
  constructor(w, { n_heads, window, slide = Math.ceil(window / 4) }) {
    this.w = w;
    this.window = window;
    this.slide = slide;
    this.stack = () => "layers";
    this.embedding = w("embedding.weight");
    this.places = w("position.table.weight"); // none where positions are rotary
    this.layers = layersOf(w, "layers", { n_heads, turned: !this.places, activation: gelu });
    this.norm = layerNorm(w, "norm");
    this.output = affine(w, "output");
    this.clear();
  }

  /** Forgets all; B texts come, side by side. */
  clear(B = 1) {
    this.B = B;
    this.tokens = [];
    this.past = [];
    this.found = null;
  }

  /** The vectors of tokens of B texts, the first at position `start`. */
  at(ids, B, start = 0) {
    const words = ["embedding", gather(this.embedding, ids)];
    return begun(this.places ? [words, ["position", gather(this.places, stepsOf(ids, B, start))]] : [words]);
  }

  start() {
    return null;
  }

  /** Logits of B whole texts, rows t B + b. No state is kept: each is read from its first position on. */
  run(ids, B = 1) {
    const entries = through(this.layers, this.at(ids, B).at(-1).next, { B, causal: true });
    return { logits: this.output(this.norm(entries.at(-1).next)), state: null };
  }

  /** One more token of each text. */
  read(...ids) {
    const { B } = this;
    if (this.tokens.length < B * this.window) return this.take(ids);
    const rest = this.tokens.slice(B * this.slide);
    this.clear(B);
    return this.take([...rest, ...ids]);
  }

  /**
   * Reads a token behind those in the context; where there is none, all that are given, at once. Of B texts rows t B +
   * b, and so are the logits, of the last tokens.
   */
  take(ids) {
    return inference(() => {
      const { B } = this;
      const first = this.at(ids, B, this.tokens.length / B);
      this.found = decoderStep(this.layers, first, this.past, [], B);
      this.tokens.push(...ids);
      this.past = this.found.past;
      this.logits = this.output(this.norm(slice(this.found.x, ids.length - B, ids.length))).data;
      return this.logits;
    });
  }

  /** What happened at the last token. */
  get trace() {
    return this.found?.trace ?? [];
  }

  get attention() {
    return this.trace.filter((entry) => entry.kind === "self").map((entry) => entry.weights);
  }

  /** The vector that the output matrix reads, did the decoder end after a stage whose vectors are `next`. */
  head(next) {
    return this.norm(next);
  }

  /** The state after reading ids one by one, whatever was read before; reads only what is new. */
  to(ids) {
    const { window, slide, tokens } = this;
    const kept = ids.length <= window ? ids.length : window - slide + 1 + ((ids.length - window - 1) % slide);
    const context = ids.slice(ids.length - kept);
    const known = tokens.length <= kept && tokens.every((id, i) => id === context[i]);
    if (!known) this.clear();
    const more = context.slice(this.tokens.length);
    if (!this.tokens.length) this.take(more);
    else for (const id of more) this.read(id);
    return this.logits;
  }
}
