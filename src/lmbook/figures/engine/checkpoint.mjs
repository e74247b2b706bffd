// checkpoint.mjs: the trained weights as lmbook/lab/checkpoints.py writes them: safetensors, matrices in int8 by row.
//
//   w_ij = s_i q_ij      s_i q_ij is exact in float32, so that the page computes with the very weights of Python

import { Node } from "./autograd.mjs";
import { bytes, kept } from "./kernels.mjs";

export { bytes };

/** Numbers as a matrix of weights; a list is one row. */
export function matrix(numbers, shape) {
  const columns = shape.at(-1);
  return new Node(numbers.length / columns, columns, kept(numbers));
}

/** The header of a file: { metadata, entries, start }. An Error says so where the file is cut or of another kind. */
function opened(file) {
  const size = file[0] + 256 * file[1] + 65536 * file[2] + 16777216 * file[3]; // the upper four bytes are 0
  try {
    let text = "";
    for (const code of file.subarray(8, 8 + size)) text += String.fromCharCode(code);
    const { __metadata__: metadata, ...entries } = JSON.parse(text);
    const last = Math.max(...Object.values(entries).map((entry) => entry.data_offsets[1]));
    if (metadata.format.startsWith("lmbook") && file.length === 8 + size + last)
      return { metadata, entries, start: 8 + size };
  } catch {
    /* said below */
  }
  throw new Error("the file of weights is cut, or is no checkpoint of the book");
}

/** s_i q_ij */
export function restored(q, scale) {
  const width = q.length / scale.length;
  return Float32Array.from(q, (level, i) => level * scale[Math.floor(i / width)]);
}

/** The weights of a checkpoint: a Map from names to matrices, rows s_i q_ij restored. */
export function weights(file) {
  const { metadata, entries, start } = opened(file);
  const raw = (name) => {
    const [from, to] = entries[name].data_offsets;
    const { buffer } = file.slice(start + from, start + to); // a copy, so that it is aligned
    return entries[name].dtype === "I8" ? new Int8Array(buffer) : new Float32Array(buffer);
  };
  const int8 = new Set(JSON.parse(metadata.int8));
  const tied = JSON.parse(metadata.tied);
  const found = new Map();
  for (const [name, { shape }] of Object.entries(entries)) {
    if (int8.has(name)) found.set(name, matrix(restored(raw(name), raw(`${name}.scale`)), shape));
    else if (!int8.has(name.replace(/\.scale$/, ""))) found.set(name, matrix(raw(name), shape));
  }
  for (const [name, source] of Object.entries(tied)) found.set(name, found.get(source));
  return Object.assign(found, { card: metadata.card ? JSON.parse(metadata.card) : {} });
}

/**
 * A file that lmbook.lab.checkpoints.load reads: float32, tied matrices once, the card in the header.  nodes: of the
 * same names as the numbers, with the shapes; tied ones are one node.
 * @type {(numbers: Map<string, Float32Array>, nodes: Map<string, Node>, card: object) => Uint8Array}
 */
export function packed(numbers, nodes, card) {
  const tied = {};
  const entries = {};
  const seen = new Map();
  let end = 0;
  for (const [name, node] of nodes) {
    if (seen.has(node)) tied[name] = seen.get(node);
    else {
      seen.set(node, name);
      const { rows, columns } = node;
      const shape = /(bias|(norm|pre_\d|post_\d)\.weight)$/.test(name) ? [columns] : [rows, columns];
      entries[name] = { dtype: "F32", shape, data_offsets: [end, end + 4 * rows * columns] };
      end += 4 * rows * columns;
    }
  }
  const texts = { int8: [], tied, card: { ...card, parameters: end / 4 } };
  const metadata = Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, JSON.stringify(value)]));
  const ascii = (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const header = JSON.stringify({ __metadata__: { format: "lmbook 1", ...metadata }, ...entries });
  const head = Uint8Array.from(header.replace(/[\u0080-\uffff]/g, ascii), (letter) => letter.charCodeAt(0));
  const start = 8 + 8 * Math.ceil(head.length / 8);
  const file = new Uint8Array(start + end);
  new DataView(file.buffer).setUint32(0, start - 8, true);
  file.fill(32, 8, start); // blanks behind the header, so that the numbers are aligned
  file.set(head, 8);
  for (const [name, { data_offsets }] of Object.entries(entries))
    new Float32Array(file.buffer, start + data_offsets[0], numbers.get(name).length).set(numbers.get(name));
  return file;
}
