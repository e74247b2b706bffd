// kernels.mjs: the inner loops of autograd.mjs, and the memory in which they work.
//
//   kernels().product(C, 0, J, A, 0, K, 1, B, 0, J, 1, I, J, K)         C += A B
//   scoped(() => ..)       what is allocated meanwhile is free afterwards; allocated(n), zeros(n): room for n numbers
//
// Where a browser has WebAssembly SIMD (all since 2023) they are those of kernels.ts, otherwise the plain
// ones (plain-kernels.mjs). Both compute in float32 and add in the same order, so a seed gives the same weights
// everywhere, to the last bit.
// Arrays that lie in the kernels' memory are worked on in place, others are copied there and back.
import { plain } from "./plain-kernels.mjs";
import { wasm } from "./wasm-kernels.mjs";

export { plain };

const HEAP = 1 << 15; // what is below belongs to kernels.ts
const PAGES = [4096, 512]; // of 64 kB; a browser takes them when they are touched

let memory = null; // of the kernels, as numbers
let top = HEAP; // the first byte that is free
let depth = 0; // of scopes
let chosen = null;

/** Where n numbers have room in the memory, whole vectors of four; 0 where it is full. */
function place(n) {
  const at = top;
  if (at + 4 * n + 16 > memory.byteLength) return 0;
  top += 16 * Math.ceil(n / 4);
  return at;
}

/** Room for n numbers that will be overwritten. Weights and what a scope needs lie in the kernels' memory. */
export function allocated(n, kept = depth > 0) {
  kernels();
  const at = memory && kept ? place(n) : 0;
  return at ? new Float32Array(memory.buffer, at, n) : new Float32Array(n);
}

/** Room for n numbers, all 0. */
export const zeros = (n) => (depth ? allocated(n).fill(0) : new Float32Array(n));

/** These numbers, where the kernels have them at hand as long as the page lives. */
export function kept(numbers) {
  const room = allocated(numbers.length, true);
  room.set(numbers);
  return room;
}

/**
 * What work() gives. The numbers that it allocates are gone afterwards: none of them may be in what it gives.
 * @type {<T>(work: () => T) => T}
 */
export function scoped(work) {
  const before = top;
  depth += 1;
  try {
    return work();
  } finally {
    depth -= 1;
    top = before;
  }
}

/** Works with arrays as they lie in the memory; copies of the others are there meanwhile. */
export function held(arrays, work) {
  if (!memory) return work(...arrays);
  const before = top;
  try {
    return work(...arrays.map((array) => (array.buffer === memory.buffer ? array : kept(array))));
  } finally {
    top = before;
  }
}

/** Bytes of a text in base64.  @type {(text: string) => Uint8Array<ArrayBuffer>} */
export const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function compiled() {
  const program = new WebAssembly.Module(bytes(wasm));
  for (const initial of PAGES) {
    try {
      const own = new WebAssembly.Memory({ initial });
      return { raw: /** @type {any} */ (new WebAssembly.Instance(program, { env: { memory: own } }).exports), own };
    } catch {
      /* less memory, then */
    }
  }
  throw new Error("no memory");
}

/** The kernels over arrays, whose places in the memory they find; the first `written` are given back what they held. */
function simd() {
  const { raw, own } = compiled();
  memory = new Float32Array(own.buffer);
  const start = (array) => {
    if (array.buffer === memory.buffer) return array.byteOffset;
    const at = place(array.length);
    if (!at) throw new RangeError("the kernels' memory is full");
    memory.set(array, at / 4);
    return at;
  };
  const back = (array, at) => {
    if (array.buffer !== memory.buffer) array.set(memory.subarray(at / 4, at / 4 + array.length));
  };
  const plainly =
    (name, arrays, written) =>
    (...given) => {
      const before = top;
      const places = given.slice(0, arrays).map(start);
      raw[name](...places, ...given.slice(arrays));
      for (let i = 0; i < written; i += 1) back(given[i], places[i]);
      top = before;
    };
  return {
    through: plainly("through", 3, 1),
    softmax: plainly("softmax", 2, 2),
    softmaxBack: plainly("softmaxBack", 2, 1),
    norm: plainly("norm", 6, 3),
    normBack: plainly("normBack", 7, 3),
    squashed: plainly("squashed", 2, 1),
    gelu: plainly("gelu", 3, 2),
    times: plainly("times", 3, 1),
    adam: plainly("adam", 4, 3),
    product(C, c0, ci, A, a0, ai, ak, B, b0, bk, bj, I, J, K) {
      const before = top;
      const c = start(C);
      const a = start(A);
      const b = start(B);
      raw.product(c + 4 * c0, 4 * ci, a + 4 * a0, 4 * ai, 4 * ak, b + 4 * b0, 4 * bk, 4 * bj, I, J, K);
      back(C, c);
      top = before;
    },
    plus(y, y0, x, x0, n, rows, dy, dx, c) {
      const before = top;
      const a = start(y);
      raw.plus(a + 4 * y0, start(x) + 4 * x0, n, rows, 4 * dy, 4 * dx, c);
      back(y, a);
      top = before;
    },
  };
}

/** @returns {typeof plain} */
export function kernels() {
  if (!chosen) {
    try {
      chosen = simd();
    } catch {
      memory = null;
      chosen = plain; // no SIMD, or a page that allows no WebAssembly
    }
  }
  return chosen;
}
