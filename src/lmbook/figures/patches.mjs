// patches.mjs: an encoder that reads an image as a sentence of patches (lmbook/vit.py).
//
//   X = [class; W patch_1 + b; ..; W patch_N + b] + P      H = encoder(X), pre-norm
//   y_hat = softmax(W_c h_class + b_c)
import { add, affine, below, gelu, row, softmax } from "./layers.mjs";
import { Encoder } from "./transformer.mjs";

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
    this.encoder = new Encoder(below(w, "encoder"), { n_heads, activation: gelu });
  }

  /** Greys row by row, 0 to the maximum, as patches of pixels between 0 and 1, also row by row. */
  patches(greys) {
    const found = [];
    const { height, width, size } = this;
    for (let a = 0; a < height; a += size) {
      for (let b = 0; b < width; b += size) {
        found.push(
          Float32Array.from(
            { length: size * size },
            (_, k) => greys[(a + Math.floor(k / size)) * width + b + (k % size)] / this.maximum,
          ),
        );
      }
    }
    return found;
  }

  /**
   * P of each class, and for each patch the weight that the class vector gives it in the last layer, the mean of the
   * heads.
   */
  run(greys) {
    const { X, trace } = this.encoder.run(
      [this.first, ...this.patches(greys).map(this.W)].map((x, n) => add(x, row(this.places, n))),
    );
    const heads = trace[0].filter((entry) => entry.weights).at(-1).weights;
    return {
      p: softmax(this.output(X[0])),
      weights: Array.from(heads[0], (_, n) => heads.reduce((sum, one) => sum + one[n], 0) / heads.length).slice(1),
    };
  }
}
