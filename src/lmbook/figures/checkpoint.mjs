// checkpoint.mjs: the trained weights as lmbook/checkpoints.py writes them: safetensors, matrices in int8 by row.
//
//   w_ij = s_i q_ij      s_i q_ij is exact in float32, so that the page computes with the very weights of Python

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Bytes of a text in base64. */
export function bytes(text) {
  const value = new Uint8Array(128);
  for (let i = 0; i < 64; i += 1) value[LETTERS.charCodeAt(i)] = i;
  const end = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const out = new Uint8Array((text.length / 4) * 3);
  for (let i = 0, o = 0; i < text.length; i += 4, o += 3) {
    const four =
      (value[text.charCodeAt(i)] << 18) |
      (value[text.charCodeAt(i + 1)] << 12) |
      (value[text.charCodeAt(i + 2)] << 6) |
      value[text.charCodeAt(i + 3)];
    out[o] = four >> 16;
    out[o + 1] = (four >> 8) & 255;
    out[o + 2] = four & 255;
  }
  return out.subarray(0, out.length - end);
}

/** The header of a file: { metadata, entries, start }. An Error says so where the file is cut or of another kind. */
function opened(file) {
  const size = file[0] + 256 * file[1] + 65536 * file[2] + 16777216 * file[3]; // the upper four bytes are 0
  let text = "";
  for (const code of file.subarray(8, 8 + size)) text += String.fromCharCode(code);
  try {
    const { __metadata__: metadata, ...entries } = JSON.parse(text);
    const last = Math.max(...Object.values(entries).map((entry) => entry.data_offsets[1]));
    if (metadata.format.startsWith("lmbook") && file.length === 8 + size + last)
      return { metadata, entries, start: 8 + size };
  } catch {
    /* said below */
  }
  throw new Error("the file of weights is cut, or is no checkpoint of the book");
}

/** The weights of a checkpoint: a Map from names to Float32Array, rows s_i q_ij restored, each with its .shape. */
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
  for (const name of Object.keys(entries)) {
    if (int8.has(name)) {
      const q = raw(name);
      const scale = raw(`${name}.scale`);
      const width = q.length / scale.length;
      const restored = new Float32Array(q.length);
      for (let i = 0, o = 0; i < scale.length; i += 1)
        for (let j = 0; j < width; j += 1, o += 1) restored[o] = q[o] * scale[i];
      found.set(name, restored);
    } else if (!(name.endsWith(".scale") && int8.has(name.slice(0, -6)))) found.set(name, raw(name));
    else continue;
    found.get(name).shape = entries[name].shape;
  }
  for (const [name, source] of Object.entries(tied)) found.set(name, found.get(source));
  return found;
}
