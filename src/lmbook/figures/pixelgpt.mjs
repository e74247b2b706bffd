// A small GPT in plain JavaScript: the forward pass of lmbook.gpt, one token at a time, with cached keys and values.
//
//   x = E[w] + P[t]      x = x + W_o attention(norm(x))      x = x + W_2 gelu(W_1 norm(x))      logits = E norm(x)
//
// The weights come as int8 with one scale a row, s_i q_ij, in base64; see digit.py.

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const floats = (text) => new Float32Array(bytes(text).buffer);

/** The weights by name: a matrix { rows, columns, w }, or a vector. */
export function unpack(packed) {
  const weights = {};
  for (const [name, { q, s, v, shape }] of Object.entries(packed)) {
    if (v !== undefined) { weights[name] = floats(v); continue; }
    const [rows, columns] = shape;
    const [levels, scales] = [new Int8Array(bytes(q).buffer), floats(s)];
    const w = new Float32Array(rows * columns);
    for (let i = 0; i < w.length; i += 1) w[i] = levels[i] * scales[Math.floor(i / columns)];
    weights[name] = { rows, columns, w };
  }
  return weights;
}

function linear({ rows, columns, w }, x, bias) {
  const out = new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i += 1) {
    let sum = bias ? bias[i] : 0;
    for (let j = 0; j < columns; j += 1, at += 1) sum += w[at] * x[j];
    out[i] = sum;
  }
  return out;
}

function norm(x, g, b) {
  const mean = x.reduce((sum, v) => sum + v, 0) / x.length;
  const scale = 1 / Math.sqrt(x.reduce((sum, v) => sum + (v - mean) ** 2, 0) / x.length + 1e-5);
  return x.map((v, i) => g[i] * (v - mean) * scale + b[i]);
}

const gelu = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

export function logSoftmax(z) {
  const most = Math.max(...z);
  const rest = most + Math.log(z.reduce((sum, v) => sum + Math.exp(v - most), 0));
  return Array.from(z, (v) => v - rest);
}

export class GPT {
  constructor({ n_layers, n_heads, weights }) {
    Object.assign(this, { n_layers, n_heads, W: unpack(weights) });
  }

  start() {
    return Array.from({ length: this.n_layers }, () => ({ K: [], V: [] }));
  }

  /** Where the same prefix goes on in several ways: a state that can be read further without touching this one. */
  fork(state) {
    return state.map(({ K, V }) => ({ K: [...K], V: [...V] }));
  }

  /** Reads one token: the logits of the next. The state grows by one key and one value in each layer. */
  step(state, token) {
    const { W, n_heads } = this;
    const [E, P] = [W["embed.weight"], W["position.table.weight"]];
    const t = state[0].K.length;
    let x = Float64Array.from({ length: E.columns }, (_, j) => E.w[token * E.columns + j] + P.w[t * P.columns + j]);
    state.forEach(({ K, V }, layer) => {
      const at = (name) => W[`decoder.layers.${layer}.${name}`];
      const map = (name, input) => linear(at(`${name}.weight`), input, at(`${name}.bias`));
      const h = norm(x, at("residual_1.norm.g"), at("residual_1.norm.b"));
      const query = map("attention.W_q", h);
      K.push(map("attention.W_k", h));
      V.push(map("attention.W_v", h));
      const out = map("attention.W_o", attend(query, K, V, n_heads));
      x = x.map((v, j) => v + out[j]);
      const inner = map("feed_forward.W_1", norm(x, at("residual_2.norm.g"), at("residual_2.norm.b"))).map(gelu);
      const more = map("feed_forward.W_2", inner);
      x = x.map((v, j) => v + more[j]);
    });
    return linear(W["head.weight"] ?? E, norm(x, W["decoder.norm.g"], W["decoder.norm.b"]));
  }
}

function attend(query, K, V, heads) {
  const [width, out] = [query.length / heads, new Float64Array(query.length)];
  for (let head = 0; head < heads; head += 1) {
    const from = head * width;
    const scores = K.map((key) => {
      let sum = 0;
      for (let j = from; j < from + width; j += 1) sum += query[j] * key[j];
      return sum / Math.sqrt(width);
    });
    const weights = logSoftmax(scores).map(Math.exp);
    weights.forEach((a, i) => { for (let j = from; j < from + width; j += 1) out[j] += a * V[i][j]; });
  }
  return out;
}

/** Uniform numbers in [0, 1) from a whole number (the generator mulberry32), the same here and in Python. */
export function uniforms(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of the numbers 0, 1, ... drawn from softmax(z / temperature) with u, uniform in [0, 1); temperature 0: the likeliest. */
export function draw(z, temperature, u) {
  if (temperature === 0) return z.indexOf(Math.max(...z));
  let rest = u;
  const p = logSoftmax(z.map((v) => v / temperature)).map(Math.exp);
  const found = p.findIndex((share) => (rest -= share) < 0);
  return found < 0 ? p.length - 1 : found;
}

/** A GPT over the pixels of an image: <class> p_1 .. p_n, grey l has the id firstLevel + l, class c firstClass + c. */
export class PixelGPT extends GPT {
  constructor(packed) {
    super(packed);
    Object.assign(this, { firstLevel: packed.first_level, levels: packed.levels, firstClass: packed.first_level + packed.levels });
  }

  /** For each class c: ln P(pixels | c), and the state and logits behind them, from where writing can go on. */
  read(pixels, classes) {
    return Array.from({ length: classes }, (_, c) => {
      const state = this.start();
      let [logits, logP] = [this.step(state, this.firstClass + c), 0];
      for (const grey of pixels) {
        logP += logSoftmax(logits)[this.firstLevel + grey];
        logits = this.step(state, this.firstLevel + grey);
      }
      return { logP, state, logits };
    });
  }

  /** n more pixels behind what was read. Returns the greys. */
  write({ state, logits }, n, temperature, seed) {
    const [own, next, greys] = [this.fork(state), uniforms(seed), []];
    let z = logits;
    while (greys.length < n) {
      greys.push(draw(Array.from(z.slice(this.firstLevel, this.firstClass)), temperature, next()));
      if (greys.length < n) z = this.step(own, this.firstLevel + greys.at(-1));
    }
    return greys;
  }
}
