// gpt.mjs: a trained GPT of the package in plain JavaScript. It reads the int8 file that Python reads, keeps keys and values,
// and gives back the attention of the last token. The equations are those of lmbook/gpt.py:
//
//   X = E[w] (+ P, where learned)     X = X + attention(norm(X))     X = X + W_2 gelu(W_1 norm(X) + b_1) + b_2     logits = E norm(X)

const [LETTERS, EPS, BASE] = ["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 1e-5, 10000];

/** Bytes of a text in base64. */
export function bytes(text) {
  const value = new Uint8Array(128);
  for (let i = 0; i < 64; i += 1) value[LETTERS.charCodeAt(i)] = i;
  const end = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const out = new Uint8Array((text.length / 4) * 3);
  for (let i = 0, o = 0; i < text.length; i += 4, o += 3) {
    const four = (value[text.charCodeAt(i)] << 18) | (value[text.charCodeAt(i + 1)] << 12) | (value[text.charCodeAt(i + 2)] << 6) | value[text.charCodeAt(i + 3)];
    out[o] = four >> 16;
    out[o + 1] = (four >> 8) & 255;
    out[o + 2] = four & 255;
  }
  return out.subarray(0, out.length - end);
}

/** The weights of a checkpoint of lmbook (lmbook/checkpoints.py): a Map from names to Float32Array, rows s_i q_ij restored. */
export function weights(file) {
  const size = file[0] + 256 * file[1] + 65536 * file[2] + 16777216 * file[3]; // the upper four bytes are 0
  let text = "";
  for (const code of file.subarray(8, 8 + size)) text += String.fromCharCode(code);
  const { __metadata__: about, ...entries } = JSON.parse(text);
  const raw = (name) => {
    const [from, to] = entries[name].data_offsets;
    const { buffer } = file.slice(8 + size + from, 8 + size + to); // a copy, so that it is aligned
    return entries[name].dtype === "I8" ? new Int8Array(buffer) : new Float32Array(buffer);
  };
  const [int8, tied, found] = [new Set(JSON.parse(about.int8)), JSON.parse(about.tied), new Map()];
  for (const name of Object.keys(entries)) {
    if (int8.has(name)) {
      const [q, scale] = [raw(name), raw(`${name}.scale`)];
      const width = q.length / scale.length;
      found.set(name, Float32Array.from(q, (v, i) => v * scale[Math.floor(i / width)]));
    } else if (!(name.endsWith(".scale") && int8.has(name.slice(0, -6)))) found.set(name, raw(name));
  }
  for (const [name, source] of Object.entries(tied)) found.set(name, found.get(source));
  return found;
}

/** W x + b.  W: rows one after the other.  Sums in double precision. */
function linear(W, x, b) {
  const [rows, width] = [W.length / x.length, x.length];
  const out = new Float32Array(rows);
  for (let i = 0, o = 0; i < rows; i += 1) {
    let [one, two] = [b ? b[i] : 0, 0];
    let j = 0;
    for (; j + 1 < width; j += 2, o += 2) {
      one += W[o] * x[j];
      two += W[o + 1] * x[j + 1];
    }
    if (j < width) { one += W[o] * x[j]; o += 1; }
    out[i] = one + two;
  }
  return out;
}

/** g (x - mean) / sqrt(variance + eps) + b */
function norm(x, g, b) {
  let [mean, square] = [0, 0];
  for (const v of x) mean += v / x.length;
  for (const v of x) square += ((v - mean) ** 2) / x.length;
  const scale = 1 / Math.sqrt(square + EPS);
  return x.map((v, i) => g[i] * (v - mean) * scale + b[i]);
}

const gelu = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** e^x normalised, in double precision. */
export function softmax(x) {
  let [most, sum] = [-Infinity, 0];
  for (const v of x) most = Math.max(most, v);
  const out = Float64Array.from(x, (v) => Math.exp(v - most));
  for (const v of out) sum += v;
  return out.map((v) => v / sum);
}

/**
 * A GPT over the weights of a file. read(id) takes one more token; then .logits are those of the next one, and
 * .attention[layer][head] are the weights of this token over .tokens, the context, itself the last.
 * A full window slides as GPT.step does: the oldest `slide` tokens leave, and the rest is read anew.
 */
export class GPT {
  constructor(found, { heads, window, slide }) {
    Object.assign(this, { heads, window, slide });
    const of = (name) => found.get(name);
    const both = (name) => [of(`${name}.weight`), of(`${name}.bias`)];
    this.embedding = of("embedding.weight");
    this.places = of("position.table.weight"); // none where positions are rotary
    this.output = of("output.weight");
    this.last = both("norm");
    this.d = this.last[0].length;
    this.layers = [];
    for (let i = 0; found.has(`layers.${i}.attention.W_q.weight`); i += 1) {
      const part = (name) => both(`layers.${i}.${name}`);
      this.layers.push({
        pre_1: part("pre_1"), pre_2: part("pre_2"), W_1: part("ffn.W_1"), W_2: part("ffn.W_2"),
        W_q: part("attention.W_q"), W_k: part("attention.W_k"), W_v: part("attention.W_v"), W_o: part("attention.W_o"),
      });
    }
    this.clear();
  }

  clear() {
    this.tokens = [];
    this.cache = this.layers.map(() => ({ keys: [], values: [] }));
  }

  /** Each pair of a head's numbers turned by the angle t w_j, w_j = 10000^(-2j/d_k). */
  turn(x, t) {
    if (this.places) return x;
    const d_k = this.d / this.heads;
    for (let i = 0; i < x.length; i += 2) {
      const angle = t * BASE ** (-(i % d_k) / d_k);
      const [cos, sin, a, b] = [Math.cos(angle), Math.sin(angle), x[i], x[i + 1]];
      x[i] = a * cos - b * sin;
      x[i + 1] = a * sin + b * cos;
    }
    return x;
  }

  attend(layer, { keys, values }, x, t) {
    const d_k = this.d / this.heads;
    const q = this.turn(linear(layer.W_q[0], x, layer.W_q[1]), t);
    keys.push(this.turn(linear(layer.W_k[0], x, layer.W_k[1]), t));
    values.push(linear(layer.W_v[0], x, layer.W_v[1]));
    const context = new Float32Array(this.d);
    const alpha = Array.from({ length: this.heads }, (_, head) => {
      const [from, to] = [head * d_k, (head + 1) * d_k];
      const weights = softmax(keys.map((key) => {
        let score = 0;
        for (let j = from; j < to; j += 1) score += q[j] * key[j];
        return score / Math.sqrt(d_k);
      }));
      for (let j = from; j < to; j += 1) {
        let sum = 0;
        for (let i = 0; i < values.length; i += 1) sum += weights[i] * values[i][j];
        context[j] = sum;
      }
      return weights;
    });
    return [linear(layer.W_o[0], context, layer.W_o[1]), alpha];
  }

  read(id) {
    if (this.tokens.length === this.window) {
      const rest = this.tokens.slice(this.slide);
      this.clear();
      for (const token of rest) this.read(token);
    }
    const t = this.tokens.length;
    this.tokens.push(id);
    let x = this.embedding.slice(id * this.d, (id + 1) * this.d);
    if (this.places) x = x.map((v, j) => v + this.places[t * this.d + j]);
    this.attention = this.layers.map((layer, i) => {
      const [out, alpha] = this.attend(layer, this.cache[i], norm(x, ...layer.pre_1), t);
      x = x.map((v, j) => v + out[j]);
      const inner = linear(layer.W_1[0], norm(x, ...layer.pre_2), layer.W_1[1]).map(gelu);
      const more = linear(layer.W_2[0], inner, layer.W_2[1]);
      x = x.map((v, j) => v + more[j]);
      return alpha;
    });
    this.logits = linear(this.output, norm(x, ...this.last));
    return this.logits;
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
  share(order.slice(0, most).filter((i) => {
    const stays = topP >= 1 || before < topP;
    before += p[i];
    return stays;
  }));
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
  let [sum, last] = [0, 0];
  for (let i = 0; i < p.length; i += 1) {
    if (p[i] > 0) {
      sum += p[i];
      last = i;
      if (u < sum) return i;
    }
  }
  return last;
}
