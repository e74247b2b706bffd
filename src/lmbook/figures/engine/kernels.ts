// kernels.ts: the inner loops of the figures' engine, four numbers at once (WebAssembly SIMD), in AssemblyScript.
//
//   npm run kernels          writes kernels.wasm, the bytes that every page has inlined; a test builds them anew
//
// Everything is float32 and lies in one memory, which kernels.mjs hands out. All arguments that are places or strides
// count bytes. Each sum has a fixed order: the plain form in kernels.mjs adds in the same one, so both give equal bits.

const BLOCK: i32 = 512; // terms of a sum at a time
const PANEL: usize = 1024; // where eight columns of B lie, packed

type V = v128;

@inline function at(p: usize, offset: usize = 0): V { return v128.load(p + offset); }

/** C += A B, entry i, k of A at i ai + k ak, entry k, j of B at k bk + j bj, entry i, j of C at i ci + 4 j. */
export function product(C: usize, ci: usize, A: usize, ai: usize, ak: usize, B: usize, bk: usize, bj: usize,
  I: i32, J: i32, K: i32): void {
  for (let from = 0; from < K; from += BLOCK) {
    const terms = min(BLOCK, K - from);
    const a = A + from * ak;
    for (let j = 0; j < J; j += 8) {
      const wide = min(8, J - j);
      pack(B + from * bk + j * bj, bk, bj, terms, wide);
      let c = C + 4 * j;
      let i = 0;
      let row = a;
      for (; i + 4 <= I; i += 4) {
        four(c, ci, row, ai, ak, terms, wide);
        c += 4 * ci;
        row += 4 * ai;
      }
      for (; i < I; i += 1) {
        one(c, row, ak, terms, wide);
        c += ci;
        row += ai;
      }
    }
  }
}

/** Columns of B next to each other; those that a last panel lacks stay 0. */
function pack(B: usize, bk: usize, bj: usize, terms: i32, wide: i32): void {
  let p = PANEL;
  if (wide < 8) memory.fill(p, 0, 32 * terms);
  if (wide === 8 && bj === 4) {
    for (let k = 0; k < terms; k += 1, p += 32, B += bk) {
      v128.store(p, at(B));
      v128.store(p, at(B, 16), 16);
    }
    return;
  }
  for (let j = 0; j < wide; j += 1) {
    let b = B + j * bj;
    p = PANEL + 4 * j;
    for (let k = 0; k < terms; k += 1, p += 32, b += bk) store<f32>(p, load<f32>(b));
  }
}

@inline function into(c: usize, left: V, right: V, wide: i32): void {
  if (wide === 8) {
    v128.store(c, f32x4.add(at(c), left));
    v128.store(c, f32x4.add(at(c, 16), right), 16);
  } else part(c, left, right, wide);
}

function part(c: usize, left: V, right: V, wide: i32): void {
  v128.store(0, left);
  v128.store(0, right, 16);
  for (let j: usize = 0; j < 4 * wide; j += 4) store<f32>(c + j, load<f32>(c + j) + load<f32>(j));
}

@inline function grown(sum: V, x: V, b: V): V { return f32x4.add(sum, f32x4.mul(x, b)); }

function four(c: usize, ci: usize, a: usize, ai: usize, ak: usize, terms: i32, wide: i32): void {
  let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
  let b = a + ai, d = b + ai, e = d + ai;
  const end = PANEL + 32 * terms;
  for (let p = PANEL; p < end; p += 32) {
    const left = at(p), right = at(p, 16);
    let x = v128.load32_splat(a);
    s0 = grown(s0, x, left);
    t0 = grown(t0, x, right);
    x = v128.load32_splat(b);
    s1 = grown(s1, x, left);
    t1 = grown(t1, x, right);
    x = v128.load32_splat(d);
    s2 = grown(s2, x, left);
    t2 = grown(t2, x, right);
    x = v128.load32_splat(e);
    s3 = grown(s3, x, left);
    t3 = grown(t3, x, right);
    a += ak;
    b += ak;
    d += ak;
    e += ak;
  }
  into(c, s0, t0, wide);
  into(c + ci, s1, t1, wide);
  into(c + 2 * ci, s2, t2, wide);
  into(c + 3 * ci, s3, t3, wide);
}

function one(c: usize, a: usize, ak: usize, terms: i32, wide: i32): void {
  let s = f32x4.splat(0), t = s;
  const end = PANEL + 32 * terms;
  for (let p = PANEL; p < end; p += 32, a += ak) {
    const x = v128.load32_splat(a);
    s = grown(s, x, at(p));
    t = grown(t, x, at(p, 16));
  }
  into(c, s, t, wide);
}

@inline function total(s: V): f32 {
  return (f32x4.extract_lane(s, 0) + f32x4.extract_lane(s, 1)) + (f32x4.extract_lane(s, 2) + f32x4.extract_lane(s, 3));
}

/** y_j += W_j x, rows of K numbers: one vector through a matrix. */
export function through(y: usize, W: usize, x: usize, J: i32, K: i32): void {
  const end = x + 4 * (K & ~7), last = x + 4 * K;
  for (let j = 0; j < J; j += 1, y += 4) {
    let s = f32x4.splat(0), t = s, p = x;
    for (; p < end; p += 32, W += 32) {
      s = grown(s, at(W), at(p));
      t = grown(t, at(W, 16), at(p, 16));
    }
    let sum = total(f32x4.add(s, t));
    for (; p < last; p += 4, W += 4) sum += load<f32>(W) * load<f32>(p);
    store<f32>(y, load<f32>(y) + sum);
  }
}

/** e^x by a polynomial (S. Moshier's Cephes, expf), between e^-87 and e^88. */
function exp(x: V): V {
  x = f32x4.min(f32x4.max(x, f32x4.splat(-87)), f32x4.splat(88));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504)));
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.12194440e-4)));
  let y = f32x4.splat(1.9875691500e-4);
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(1.3981999507e-3));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(8.3334519073e-3));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(4.1665795894e-2));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(1.6666665459e-1));
  y = f32x4.add(f32x4.mul(y, r), f32x4.splat(5.0000001201e-1));
  y = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(y, r), r), r), f32x4.splat(1));
  return f32x4.mul(y, i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23));
}

/** z <- scale z, p <- softmax(z) over the first `seen` entries of each row, `more` more a row; 0 behind them. */
export function softmax(p: usize, z: usize, rows: i32, N: i32, seen: i32, more: i32, scale: f32): void {
  for (let r = 0; r < rows; r += 1, p += 4 * N, z += 4 * N, seen += more) {
    const n = min(seen, N);
    let most: f32 = -Infinity, sum: f32 = 0;
    for (let i: usize = 0; i < 4 * N; i += 4) {
      const v = scale * load<f32>(z + i);
      store<f32>(z + i, v);
      if (i < 4 * n) most = max(most, v);
    }
    let i: usize = 0;
    for (; i + 16 <= 4 * n; i += 16) v128.store(p + i, exp(f32x4.sub(at(z + i), f32x4.splat(most))));
    for (; i < 4 * n; i += 4) store<f32>(p + i, f32x4.extract_lane(exp(f32x4.splat(load<f32>(z + i) - most)), 0));
    for (let i: usize = 0; i < 4 * n; i += 4) sum += load<f32>(p + i);
    for (let i: usize = 0; i < 4 * n; i += 4) store<f32>(p + i, load<f32>(p + i) / sum);
    memory.fill(p + 4 * n, 0, 4 * (N - n));
  }
}

/** g <- scale p (g - sum of p g), row by row: from the slopes by the weights to those by the scores. */
export function softmaxBack(g: usize, p: usize, rows: i32, N: i32, scale: f32): void {
  for (let r = 0; r < rows; r += 1) {
    let mean: f32 = 0;
    const end = p + 4 * N;
    let h = g;
    for (let q = p; q < end; q += 4, h += 4) mean += load<f32>(q) * load<f32>(h);
    for (; p < end; p += 4, g += 4) store<f32>(g, scale * load<f32>(p) * (load<f32>(g) - mean));
  }
}

/** y <- g x' + b, x' <- (x - mean) s, s <- 1 / sqrt(variance + eps), row by row. */
export function norm(
  y: usize, standard: usize, s: usize, x: usize, g: usize, b: usize, rows: i32, d: i32, eps: f32,
): void {
  for (let r = 0; r < rows; r += 1, s += 4) {
    let mean: f32 = 0, square: f32 = 0;
    const end = x + 4 * d;
    for (let o = x; o < end; o += 4) mean += load<f32>(o);
    mean /= f32(d);
    for (let o = x; o < end; o += 4) {
      const v = load<f32>(o) - mean;
      square += v * v;
    }
    const scale: f32 = 1 / sqrt(square / f32(d) + eps);
    store<f32>(s, scale);
    for (let j: usize = 0; x < end; j += 4, x += 4, y += 4, standard += 4) {
      const v = (load<f32>(x) - mean) * scale;
      store<f32>(standard, v);
      store<f32>(y, v * load<f32>(g + j) + load<f32>(b + j));
    }
  }
}

/** What dy adds to the gradients of x, g and b. */
export function normBack(
  dx: usize, dg: usize, db: usize, dy: usize, standard: usize, s: usize, g: usize, rows: i32, d: i32,
): void {
  for (let r = 0; r < rows; r += 1, s += 4) {
    let mean: f32 = 0, along: f32 = 0;
    const scale = load<f32>(s);
    for (let j: usize = 0; j < 4 * d; j += 4) {
      const v = load<f32>(dy + j), u = load<f32>(standard + j), w = v * load<f32>(g + j);
      mean += w;
      along += w * u;
      store<f32>(dg + j, load<f32>(dg + j) + v * u);
      store<f32>(db + j, load<f32>(db + j) + v);
    }
    mean /= f32(d);
    along /= f32(d);
    for (let j: usize = 0; j < 4 * d; j += 4, dx += 4, dy += 4, standard += 4)
      store<f32>(dx, load<f32>(dx) + scale * (load<f32>(dy) * load<f32>(g + j) - mean - along * load<f32>(standard)));
  }
}

/** tanh x = 1 - 2 / (1 + e^2x) */
@inline function tanh(x: V): V {
  const y = exp(f32x4.add(x, x));
  return f32x4.sub(f32x4.splat(1), f32x4.div(f32x4.splat(2), f32x4.add(f32x4.splat(1), y)));
}

/** y <- f(x): tanh, or 1 / (1 + e^-x) where `logistic`. */
export function squashed(y: usize, x: usize, n: i32, logistic: i32): void {
  const one = f32x4.splat(1);
  for (; n > 0; n -= 4, x += 16, y += 16) {
    const v = at(x);
    v128.store(y, logistic ? f32x4.div(one, f32x4.add(one, exp(f32x4.neg(v)))) : tanh(v));
  }
}

/** y <- x/2 (1 + tanh u), u = sqrt(2/pi) (x + 0.044715 x^3), and its slope by x. */
export function gelu(y: usize, slope: usize, x: usize, n: i32): void {
  const half = f32x4.splat(0.5), one = f32x4.splat(1), root = f32x4.splat(0.7978845608);
  for (; n > 0; n -= 4, x += 16, y += 16, slope += 16) {
    const v = at(x), w = f32x4.mul(v, v);
    const t = tanh(f32x4.mul(root, f32x4.add(v, f32x4.mul(f32x4.splat(0.044715), f32x4.mul(w, v)))));
    const level = f32x4.mul(half, f32x4.add(one, t));
    const bend = f32x4.mul(f32x4.sub(one, f32x4.mul(t, t)), f32x4.add(one, f32x4.mul(f32x4.splat(0.134145), w)));
    v128.store(y, f32x4.mul(v, level));
    v128.store(slope, f32x4.add(level, f32x4.mul(f32x4.mul(f32x4.mul(half, v), root), bend)));
  }
}

/** y += a b, entry by entry. */
export function times(y: usize, a: usize, b: usize, n: i32): void {
  for (; n > 0; n -= 4, y += 16, a += 16, b += 16) v128.store(y, grown(at(y), at(a), at(b)));
}

/** y += c x, n numbers in each of `rows` rows; dy and dx from one row to the next, 0 where there is only one. */
export function plus(y: usize, x: usize, n: i32, rows: i32, dy: usize, dx: usize, c: f32): void {
  for (let r = 0; r < rows; r += 1, y += dy, x += dx) {
    let j: usize = 0;
    for (; j + 16 <= 4 * n; j += 16) v128.store(y + j, grown(at(y + j), f32x4.splat(c), at(x + j)));
    for (; j < 4 * n; j += 4) store<f32>(y + j, load<f32>(y + j) + c * load<f32>(x + j));
  }
}

/** A step of Adam on n weights: m and v with the gradient `short` g, then w -= rate m / (sqrt(v) / second + eps). */
export function adam(
  w: usize, m: usize, v: usize, g: usize, n: i32, short: f32, one: f32, two: f32, rate: f32, second: f32, eps: f32,
): void {
  for (; n > 0; n -= 4, w += 16, g += 16, m += 16, v += 16) {
    const s = f32x4.mul(f32x4.splat(short), at(g));
    const a = f32x4.add(f32x4.mul(f32x4.splat(one), at(m)), f32x4.mul(f32x4.splat(1 - one), s));
    const b = f32x4.add(f32x4.mul(f32x4.splat(two), at(v)), f32x4.mul(f32x4.mul(f32x4.splat(1 - two), s), s));
    v128.store(m, a);
    v128.store(v, b);
    const down = f32x4.add(f32x4.mul(f32x4.sqrt(b), f32x4.splat(second)), f32x4.splat(eps));
    v128.store(w, f32x4.sub(at(w), f32x4.div(f32x4.mul(f32x4.splat(rate), a), down)));
  }
}
