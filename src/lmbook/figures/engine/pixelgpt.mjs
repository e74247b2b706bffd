// A GPT over the pixels of an image: it reads the same rows behind each class, and goes on writing from there.
//
// The model itself is the one of gpt.mjs. Its weights come in the state as int8 with one scale a row, s_i q_ij, in
// base64; see digit/__init__.py.
import { matrix, restored } from "./checkpoint.mjs";
import { GPT } from "./gpt.mjs";
import { bytes } from "./kernels.mjs";
import { draw, generator, likeliest, logSoftmax, softmax } from "../kit/numbers.mjs";

const floats = (text) => new Float32Array(bytes(text).buffer);

/** The weights by name: a Map to matrices. */
function unpack(packed) {
  const found = new Map();
  for (const [name, { q, s, v, shape }] of Object.entries(packed)) {
    const numbers = v === undefined ? restored(new Int8Array(bytes(q).buffer), floats(s)) : floats(v);
    found.set(name, matrix(numbers, shape));
  }
  if (!found.has("output.weight")) found.set("output.weight", found.get("embedding.weight")); // tied
  return found;
}

/** One of 0, 1, .. drawn from softmax(z / temperature) with u, uniform in [0, 1); temperature 0: the likeliest. */
export const drawn = (z, temperature, u) =>
  temperature === 0 ? likeliest(z, 1)[0] : draw(softmax(Array.from(z, (v) => v / temperature)), u);

/** A GPT over the pixels of an image: <class> p_1 .. p_n, grey l has the id firstLevel + l, class c firstClass + c. */
export class PixelGPT extends GPT {
  constructor({ n_heads, first_level, levels, window, weights }) {
    const found = unpack(weights);
    super((name) => found.get(name), { n_heads, window, slide: window });
    this.firstLevel = first_level;
    this.firstClass = first_level + levels;
    this.classes = Array.from({ length: this.embedding.rows - this.firstClass }, (_, c) => c);
  }

  /** What was read so far, to go on from there several times. */
  kept() {
    return { tokens: [...this.tokens], past: this.past, logits: this.logits };
  }

  /** ln P(pixels | class c), and the state behind them, from where writing can go on. */
  behind(pixels, c) {
    this.clear();
    let logits = this.read(this.firstClass + c);
    let logP = 0;
    for (const grey of pixels) {
      logP += logSoftmax(logits)[this.firstLevel + grey];
      logits = this.read(this.firstLevel + grey);
    }
    return { logP, state: this.kept() };
  }

  /** n more pixels behind what was read. Returns the greys. */
  write({ state }, n, temperature, seed) {
    Object.assign(this, state, { tokens: [...state.tokens] }); // a copy grows, the state stays
    const next = generator(seed);
    const greys = [];
    while (greys.length < n) {
      greys.push(drawn(this.logits.subarray(this.firstLevel, this.firstClass), temperature, next()));
      if (greys.length < n) this.read(this.firstLevel + greys.at(-1));
    }
    return greys;
  }

  /**
   * The upper rows of an image, as greys, behind each class: ln P(rows | class), P(class | rows), the class that is
   * `asked` for, or the likeliest where that is -1, and for each seed the `rest` pixels that are written for it.
   */
  rows({ greys, asked, rest, temperature, seeds }) {
    const read = this.classes.map((c) => this.behind(greys, c));
    const logP = read.map((one) => one.logP);
    const p = logSoftmax(logP).map(Math.exp);
    const digit = asked < 0 ? likeliest(p, 1)[0] : asked;
    return { logP, p, digit, written: seeds.map((seed) => this.write(read[digit], rest, temperature, seed)) };
  }
}
