// plain-kernels.mjs: the loops of kernels.ts in JavaScript, for a browser that has no WebAssembly SIMD.

const f = Math.fround;
const BLOCK = 512; // terms of a sum at a time, as in kernels.ts

const bits = new Int32Array(1);
const power = new Float32Array(bits.buffer);
const COEFFICIENTS = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
].map(f);
const LOG2_E = f(Math.LOG2E);
const LN_2 = f(0.693359375);
const LN_2_REST = f(-2.1219444e-4);
const NEAREST = 12582912; // 1.5 * 2^23: added and taken away, it rounds to a whole number

function exp(x) {
  x = Math.min(Math.max(x, -87), 88);
  const n = f(f(f(x * LOG2_E) + NEAREST) - NEAREST);
  const r = f(f(x - f(n * LN_2)) - f(n * LN_2_REST));
  let y = COEFFICIENTS[0];
  for (let i = 1; i < 6; i += 1) y = f(f(y * r) + COEFFICIENTS[i]);
  bits[0] = (n + 127) << 23;
  return f(f(f(f(f(y * r) * r) + r) + 1) * power[0]);
}

const tanh = (x) => f(1 - f(2 / f(1 + exp(f(x + x)))));

/** Each as its namesake in kernels.ts; only places are indices and strides numbers here. */
export const plain = {
  product(C, c0, ci, A, a0, ai, ak, B, b0, bk, bj, I, J, K) {
    for (let from = 0; from < K; from += BLOCK) {
      const terms = Math.min(BLOCK, K - from);
      for (let i = 0; i < I; i += 1) {
        const start = a0 + i * ai + from * ak;
        let j = 0;
        for (; j + 4 <= J; j += 4) {
          let a = start;
          let b = b0 + from * bk + j * bj;
          let s = 0;
          let t = 0;
          let u = 0;
          let v = 0;
          for (let k = 0; k < terms; k += 1, a += ak, b += bk) {
            const x = A[a];
            s = f(s + f(x * B[b]));
            t = f(t + f(x * B[b + bj]));
            u = f(u + f(x * B[b + 2 * bj]));
            v = f(v + f(x * B[b + 3 * bj]));
          }
          const c = c0 + i * ci + j;
          C[c] += s;
          C[c + 1] += t;
          C[c + 2] += u;
          C[c + 3] += v;
        }
        for (; j < J; j += 1) {
          let s = 0;
          for (let k = 0, a = start, b = b0 + from * bk + j * bj; k < terms; k += 1, a += ak, b += bk)
            s = f(s + f(A[a] * B[b]));
          C[c0 + i * ci + j] += s;
        }
      }
    }
  },

  through(y, W, x, J, K) {
    const sums = new Float32Array(8);
    const whole = K & ~7;
    for (let j = 0, o = 0; j < J; j += 1) {
      sums.fill(0);
      for (let k = 0; k < whole; k += 8) for (let l = 0; l < 8; l += 1, o += 1) sums[l] += f(W[o] * x[k + l]);
      for (let l = 0; l < 4; l += 1) sums[l] += sums[l + 4];
      let sum = f(f(sums[0] + sums[1]) + f(sums[2] + sums[3]));
      for (let k = whole; k < K; k += 1, o += 1) sum = f(sum + f(W[o] * x[k]));
      y[j] += sum;
    }
  },

  softmax(p, z, rows, N, seen, more, scale) {
    scale = f(scale);
    for (let o = 0; o < rows * N; o += N, seen += more) {
      const n = Math.min(seen, N);
      let most = -Infinity;
      let sum = 0;
      for (let i = o; i < o + N; i += 1) {
        z[i] *= scale;
        if (i < o + n) most = Math.max(most, z[i]);
      }
      for (let i = o; i < o + n; i += 1) p[i] = exp(f(z[i] - most));
      for (let i = o; i < o + n; i += 1) sum = f(sum + p[i]);
      for (let i = o; i < o + n; i += 1) p[i] /= sum;
      p.fill(0, o + n, o + N);
    }
  },

  softmaxBack(g, p, rows, N, scale) {
    scale = f(scale);
    for (let o = 0; o < rows * N; o += N) {
      let mean = 0;
      for (let i = o; i < o + N; i += 1) mean = f(mean + f(p[i] * g[i]));
      for (let i = o; i < o + N; i += 1) g[i] = f(scale * p[i]) * f(g[i] - mean);
    }
  },

  norm(y, standard, s, x, g, b, rows, d, eps) {
    eps = f(eps);
    for (let r = 0, o = 0; r < rows; r += 1) {
      const end = o + d;
      let mean = 0;
      let square = 0;
      for (let i = o; i < end; i += 1) mean = f(mean + x[i]);
      mean = f(mean / d);
      for (let i = o; i < end; i += 1) {
        const v = f(x[i] - mean);
        square = f(square + f(v * v));
      }
      s[r] = 1 / f(Math.sqrt(f(f(square / d) + eps)));
      for (let j = 0; o < end; j += 1, o += 1) {
        standard[o] = f(x[o] - mean) * s[r];
        y[o] = f(standard[o] * g[j]) + b[j];
      }
    }
  },

  normBack(dx, dg, db, dy, standard, s, g, rows, d) {
    for (let r = 0, o = 0; r < rows; r += 1, o += d) {
      let mean = 0;
      let along = 0;
      for (let j = 0, i = o; j < d; j += 1, i += 1) {
        const w = f(dy[i] * g[j]);
        mean = f(mean + w);
        along = f(along + f(w * standard[i]));
        dg[j] += f(dy[i] * standard[i]);
        db[j] += dy[i];
      }
      mean = f(mean / d);
      along = f(along / d);
      for (let j = 0, i = o; j < d; j += 1, i += 1)
        dx[i] += f(s[r] * f(f(f(dy[i] * g[j]) - mean) - f(along * standard[i])));
    }
  },

  squashed(y, x, n, logistic) {
    for (let i = 0; i < n; i += 1) y[i] = logistic ? 1 / f(1 + exp(-x[i])) : tanh(x[i]);
  },

  gelu(y, slope, x, n) {
    const root = f(0.7978845608);
    const cubic = f(0.044715);
    const three = f(0.134145);
    for (let i = 0; i < n; i += 1) {
      const v = x[i];
      const w = f(v * v);
      const t = tanh(f(root * f(v + f(cubic * f(w * v)))));
      const level = f(0.5 * f(1 + t));
      const bend = f(f(1 - f(t * t)) * f(1 + f(three * w)));
      y[i] = v * level;
      slope[i] = level + f(f(f(0.5 * v) * root) * bend);
    }
  },

  times(y, a, b, n) {
    for (let i = 0; i < n; i += 1) y[i] += f(a[i] * b[i]);
  },

  plus(y, y0, x, x0, n, rows, dy, dx, c) {
    c = f(c);
    for (let r = 0; r < rows; r += 1, y0 += dy, x0 += dx) for (let j = 0; j < n; j += 1) y[y0 + j] += f(c * x[x0 + j]);
  },

  adam(w, m, v, g, n, short, one, two, rate, second, eps) {
    const [s1, o1, o2, down, e] = [short, one, two, second, eps].map(f);
    const left1 = f(1 - o1);
    const left2 = f(1 - o2);
    const r = f(rate);
    for (let i = 0; i < n; i += 1) {
      const s = f(s1 * g[i]);
      m[i] = f(o1 * m[i]) + f(left1 * s);
      v[i] = f(o2 * v[i]) + f(f(left2 * s) * s);
      w[i] -= f(f(r * m[i]) / f(f(f(Math.sqrt(v[i])) * down) + e));
    }
  },
};
