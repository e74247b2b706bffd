// seq2seq.mjs: recurrent encoder-decoders, with one vector or with attention (lmbook/seq2seq.py).
//
//   H = encoder(x)      s_0 = bridge(last state)      s_t = cell([E y_{t-1} ; c], s_{t-1})
//   logits_t = W_o r_t + b_o
//
// start(ids, B) reads the sources of B texts; run(ids, B, state) reads y_{t-1} and gives the logits of y_t; step(id,
// state) does so for one token of one text, with what it looks at where there is attention.
import { concat, gather, stack, tanh } from "./autograd.mjs";
import { SCORES, looks } from "./attention.mjs";
import { affine, below } from "./layers.mjs";
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
      return [tanh(W_h(state[0])), ...(W_c ? [W_c(state.at(-1))] : [])];
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

  read(ids, B) {
    const { H, final } = this.encoder.run(gather(this.sourceTable, ids), B);
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

  start(ids, B = 1) {
    const { final, s } = this.read(ids, B);
    return { s, c: final.at(-1)[0] };
  }

  run(ids, B, state) {
    const y = gather(this.table, ids);
    const C = this.every ? stack(new Array(ids.length / B).fill(state.c)) : null;
    const { H, final } = this.decoder.run(C ? concat(y, C) : y, B, state.s);
    const R = C ? tanh(this.W_r(concat(H, C))) : H;
    return { logits: this.output(R), state: { ...state, s: final } };
  }

  step(id, state) {
    const { logits, state: next } = this.run([id], 1, state);
    return { logits: logits.data, state: next };
  }
}

/**
 * A decoder that looks back: "bahdanau" asks with s_{t-1}, before the step, so that it runs one step at a time; "luong"
 * asks with s_t, after it.
 */
export class AttentionSeq2Seq extends EncoderDecoder {
  constructor(w, about) {
    super(w, about);
    this.before = about.attention === "bahdanau";
    this.score = SCORES[about.score](below(w, "score"));
    this.W_r = affine(w, "W_r");
  }

  start(ids, B = 1) {
    const { H, s } = this.read(ids, B);
    return { s, H, keys: this.score.keys(H) };
  }

  run(ids, B, state) {
    const attend = (S) => this.score.attend(S, state.keys, state.H, B);
    const y = gather(this.table, ids);
    const before = this.before ? attend(state.s.at(-1)[0]) : null;
    const { H, final } = this.decoder.run(before ? concat(y, before) : y, B, state.s);
    const C = before ?? attend(H);
    return { logits: this.output(tanh(this.W_r(concat(H, C)))), state: { ...state, s: final }, C };
  }

  step(id, state) {
    const { logits, state: next, C } = this.run([id], 1, state);
    return { logits: logits.data, state: next, trace: [{ kind: "cross", layer: 1, ...looks(C, 0) }] };
  }
}
