// seq2seq.mjs: recurrent encoder-decoders, with one vector or with attention (lmbook/seq2seq.py).
//
//   H = encoder(x)      s_0 = bridge(last state)      s_t = cell([E y_{t-1} ; c], s_{t-1})
//   logits_t = W_o r_t + b_o
//
// start(ids) reads the source; step(state, id) reads y_{t-1} and gives the logits of y_t, and alpha where there is
// attention.
import { SCORES, mean } from "./attention.mjs";
import { affine, below, beside, row, softmax } from "./layers.mjs";
import { Recurrent } from "./recurrent.mjs";

/** From the encoder's last states to the decoder's first: tanh(W h + b), and W c + b for a memory. */
function bridge(w, n_layers) {
  const maps = Array.from({ length: n_layers }, (_, i) =>
    [0, 1].filter((j) => w(`layers.${i}.${j}.weight`)).map((j) => affine(w, `layers.${i}.${j}`)),
  );
  return (final) =>
    maps.map(([W_h, W_c], i) => {
      const state = final[Math.max(i + final.length - n_layers, 0)];
      if (!W_h) return state; // of the decoder's cell and width already
      return [W_h(state[0]).map(Math.tanh), ...(W_c ? [W_c(state.at(-1))] : [])];
    });
}

class EncoderDecoder {
  constructor(w, about) {
    this.sourceTable = w("encoder.embedding.weight");
    this.encoder = new Recurrent(below(w, "encoder.recurrent"), about.encoder.cell);
    this.table = w("embedding.weight");
    this.decoder = new Recurrent(below(w, "decoder"), about.cell);
    this.bridge = bridge(below(w, "bridge"), this.decoder.layers.length);
    this.output = affine(w, "output");
  }

  read(ids) {
    const { H, final } = this.encoder.run(ids.map((id) => row(this.sourceTable, id)));
    return { H, final, s: this.bridge(final) };
  }
}

/** The source as one vector c, at the first step or at every step. */
export class Seq2Seq extends EncoderDecoder {
  constructor(w, about) {
    super(w, about);
    this.every = about.context === "every";
    if (this.every) this.W_r = affine(w, "W_r");
  }

  start(ids) {
    const { final, s } = this.read(ids);
    return { s, c: final.at(-1)[0] };
  }

  step({ s, c }, id) {
    const y = row(this.table, id);
    const { h, state, gates } = this.decoder.step(this.every ? beside(y, c) : y, s);
    const r = this.every ? this.W_r(beside(h, c)).map(Math.tanh) : h;
    return { logits: this.output(r), state: { s: state, c }, gates };
  }
}

/** A decoder that looks back: "bahdanau" asks with s_{t-1}, before the step, "luong" with s_t, after it. */
export class AttentionSeq2Seq extends EncoderDecoder {
  constructor(w, about) {
    super(w, about);
    this.before = about.attention === "bahdanau";
    this.score = SCORES[about.score](below(w, "score"));
    this.W_r = affine(w, "W_r");
  }

  start(ids) {
    const { H, s } = this.read(ids);
    return { s, H, keys: this.score.keys(H) };
  }

  attend(s, { H, keys }) {
    const scores = this.score.score(s, keys);
    const alpha = softmax(scores);
    return { c: mean(alpha, H), alpha, scores };
  }

  step(state, id) {
    const y = row(this.table, id);
    const before = this.before ? this.attend(state.s.at(-1)[0], state) : null;
    const { h, state: s, gates } = this.decoder.step(before ? beside(y, before.c) : y, state.s);
    const { c, alpha, scores } = before ?? this.attend(h, state);
    const logits = this.output(this.W_r(beside(h, c)).map(Math.tanh));
    return {
      logits,
      state: { ...state, s },
      gates,
      trace: [{ kind: "cross", layer: 1, weights: [alpha], scores: [scores] }],
    };
  }
}
