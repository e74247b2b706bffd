// patches.mjs: an encoder that reads an image as a sentence of patches (lmbook/vit.py).
//
//   X = [class; W patch_1 + b; ..; W patch_N + b] + P      H = encoder(X), pre-norm
//   y_hat = softmax(W_c h_class + b_c)
import { Node, add, geluExact, slice, stack } from "./autograd.mjs";
import { affine, below } from "./layers.mjs";
import { mean, softmax } from "../kit/numbers.mjs";
import { Encoder, traces } from "./transformer.mjs";

export class PatchClassifier {
  constructor(w, { height, width, size, maximum, n_heads }) {
    this.height = height;
    this.width = width;
    this.size = size;
    this.maximum = maximum;
    this.first = w("class_vector");
    this.places = w("position.weight");
    this.W = affine(w, "patch.W");
    this.output = affine(w, "output");
    this.encoder = new Encoder(below(w, "encoder"), { n_heads, activation: geluExact });
  }

  /** Greys row by row, 0 to the maximum, as patches of pixels between 0 and 1, also row by row. */
  patches(greys) {
    const { height, width, size, maximum } = this;
    const wide = width / size;
    const patches = new Node((height / size) * wide, size * size);
    patches.data.forEach((_, i) => {
      const n = Math.floor(i / size ** 2);
      const k = i % size ** 2;
      const y = Math.floor(n / wide) * size + Math.floor(k / size);
      patches.data[i] = greys[y * width + (n % wide) * size + (k % size)] / maximum;
    });
    return patches;
  }

  /**
   * P of each class, and for each patch the weight that the class vector gives it in the last layer, the mean of the
   * heads.
   */
  run(greys) {
    const { X, entries } = this.encoder.run(add(stack([this.first, this.W(this.patches(greys))]), this.places));
    const heads = traces(entries)[0].findLast((entry) => entry.weights).weights;
    return {
      p: softmax(this.output(slice(X, 0, 1)).data),
      weights: Array.from(heads[0], (_, n) => mean(heads.map((one) => one[n]))).slice(1),
    };
  }
}
