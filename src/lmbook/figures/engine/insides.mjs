// insides.mjs: a model opened at one position of what it reads or writes, for the figure OpenTransformer (opened/).
//
//   positions of BERT and GPT: { trace, logits, came } each;
//   came: the id that stands there, or that comes next, where there is one
//   opened(model, writer, position, reads)         a line for each stage of its stream
//   inside(model, writer, position, side, stage, unit)       one stage with every number
import { EOS, MASK, SOS } from "./bytepairs.mjs";
import { vector } from "./layers.mjs";
import { likeliest, softmax } from "../kit/numbers.mjs";
import { traces } from "./transformer.mjs";
import { cut } from "./wordforms.mjs";

export const BLANK = "____";
const lengthOf = (vector) => Math.hypot(...vector);
const plain = (value) =>
  Array.isArray(value) ? value.map(plain) : ArrayBuffer.isView(value) ? Array.from(/** @type {any} */ (value)) : value;

/** A sentence as BERT reads it: ids, and tokens { id, text, typed }. */
export function framed({ model, reader }, text) {
  const words = cut(text);
  const ids = [SOS, ...reader.encode(words), EOS];
  if (!words.length || ids.length > model.window)
    throw new Error(`the model reads 1 to ${model.window - 2} words; these are ${words.length}`);
  return { ids, tokens: ids.map((id, t) => ({ id, text: reader.name(id), typed: words[t - 1] ?? reader.name(id) })) };
}

/** A text as a GPT of characters reads it, without those that it does not know. */
export function known({ model, reader }, text) {
  const all = reader.split(text);
  const ids = reader.encode(text);
  const tokens = ids.map((id, t) => ({ id, text: all[t] })).filter(({ id }) => id !== 1);
  if (!tokens.length || tokens.length > model.window)
    throw new Error(`the model reads 1 to ${model.window} characters that it knows; these are ${tokens.length}`);
  return { tokens, left: [...new Set(all.filter((_, t) => ids[t] === 1))].join("") };
}

/** Every position of a sentence with the word at `blank` hidden, from 1; 0 hides nothing. */
export function hidden(found, text, blank) {
  const { ids } = framed(found, text);
  const { model } = found;
  const entries = model.entries(ids.map((id, t) => (t && t === blank && t < ids.length - 1 ? MASK : id)));
  const z = model.output(model.head(entries.at(-1).next));
  return traces(entries).map((trace, t) => ({ trace, came: ids[t], logits: z.row(t) }));
}

/** Every position of a text that is read once, token by token. */
export function steps(found, text) {
  const ids = known(found, text).tokens.map((token) => token.id);
  found.model.clear();
  return ids.map((id, t) => {
    const logits = found.model.read(id);
    return { trace: found.model.trace, logits, came: ids[t + 1] };
  });
}

/**
 * For each stage { kind, layer, added, sum } (lengths), of an attention scores and weights, and `says`, the likeliest
 * token.
 */
export function opened(model, writer, { trace }, reads) {
  return trace.map((entry, k) => {
    const { kind, layer, added, next, weights: alpha, scores } = entry;
    let says = null;
    if (reads && (layer || trace[k + 1]?.layer)) {
      // not before the stream is whole
      const p = softmax(model.output(model.head(vector(next))).data);
      const [id] = likeliest(p, 1);
      says = { text: writer.name(id), p: p[id] };
    }
    const looks = { scores: plain(scores ?? null), weights: plain(alpha ?? null) };
    return { kind, layer, added: lengthOf(added), sum: lengthOf(next), says, ...looks };
  });
}

/**
 * One stage: x, read: the vectors before and behind the norm.  Of an attention also query, keys, values, context (heads
 * side by side), scores, weights.  Of a feed-forward network hidden and, for a `unit`, row and bias that make it.
 * Behind the last stage comes the output: the likeliest tokens with their logits and the rows and biases of the output
 * matrix; `came`: what stands there.
 */
export function inside(model, writer, { trace, logits, came }, side, stage, unit, shown = 6) {
  if (stage < trace.length) {
    const found = Object.fromEntries(Object.entries(trace[stage]).map(([key, value]) => [key, plain(value)]));
    if (unit === null) return found;
    const part = (what) => model.w(`${model.stack(side)}.${found.layer - 1}.ffn.W_1.${what}`);
    return { ...found, unit, row: plain(part("weight").row(unit)), bias: part("bias").data[unit] };
  }
  const p = softmax(logits);
  const b = model.w("output.bias");
  const told = (id) => ({ text: writer.name(id), p: p[id], logit: logits[id] });
  const others = likeliest(p, shown).map((id) => ({
    ...told(id),
    row: plain(model.w("output.weight").row(id)),
    bias: b?.data[id] ?? 0,
  }));
  const own = came === undefined ? null : { ...told(came), rank: 1 + p.filter((value) => value > p[came]).length };
  return { kind: "output", layer: 0, read: plain(model.head(vector(trace.at(-1).next)).data), others, came: own };
}
