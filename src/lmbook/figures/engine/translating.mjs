// translating.mjs: what an encoder-decoder writes for a sentence, token by token, and what else it might write.
import { EOS, SOS } from "./bytepairs.mjs";
import { likeliest, softmax } from "../kit/numbers.mjs";

/** Tokens with their probabilities. */
const named = (writer, p) => (/** @type {number} */ id) => ({ id, text: writer.name(id), p: p[id] });

/** A source as ids; an Error where it has no word. */
function encoded(reader, text) {
  const source = reader.encode(text);
  if (!source.length) throw new Error("there is no word to translate");
  return source;
}

/** The source as ids, and the states of a decoder that has read <sos> and the ids given. */
export function read({ model, reader }, text, ids) {
  const source = encoded(reader, text);
  const start = model.start(source);
  const steps = [];
  for (const id of [SOS, ...ids]) steps.push(model.step(id, steps.at(-1)?.state ?? start));
  return { source, start, steps };
}

/** Rows of traces, one a position, as maps: { kind, layer, weights[head][query][key] } for each attention. */
function maps(traces) {
  const all = traces.map((trace) => trace.filter((entry) => entry.weights));
  const row = (i, head) => all.map((attentions) => Array.from(attentions[i].weights[head]));
  return all[0].map(({ kind, layer, weights }, i) => ({
    kind,
    layer,
    weights: weights.map((_, head) => row(i, head)),
  }));
}

/**
 * Writes the likeliest token at each step, after those of `forced`, until <eos> or `most` tokens.
 * source: { id, text, typed } of each token read.  target: { id, text, p, others: [{ id, text, p }] }.
 * attention: as `maps`; kind is "encoder", "self" (of the decoder) or "cross".
 */
export function translated({ model, reader, writer }, { source, start, steps }, { text, forced, most }) {
  const target = [];
  for (let t = 0; ; t += 1) {
    const p = softmax(steps[t].logits);
    const allowed = p.map((value, id) => (id === SOS ? -1 : value));
    const best = likeliest(allowed, 6);
    const id = forced[t] ?? best[0];
    target.push({ ...named(writer, p)(id), others: best.map(named(writer, p)) });
    if (id === EOS || target.length === most) break;
    if (t + 1 === steps.length) steps.push(model.step(id, steps[t].state));
  }
  const typed = reader.split(text);
  const encoder = start.source ? maps(start.source).map((map) => ({ ...map, kind: "encoder" })) : [];
  return {
    source: source.map((id, i) => ({ id, text: reader.name(id), typed: typed[i] })),
    target,
    text: writer.decode(target.map((token) => token.id)).trim(),
    ended: target.at(-1).id === EOS,
    attention: [...encoder, ...maps(steps.slice(0, target.length).map((step) => step.trace ?? []))],
  };
}

/**
 * What a translator without attention may write: nodes of `shown` rows [token, ln p, next node], node 0 first, as
 * `tree` in decoding/__init__.py has them: all beginnings with P of `least`, what beams of up to `widest` look at,
 * and `kept`, beginnings as ids; from each of them on by the likeliest tokens.  A next node is null behind the end,
 * -1 where the tree does not go on.
 */
export function tree({ model, reader, writer }, { text, kept = [], shown = 5, widest = 4, least = 0.004, most = 14 }) {
  const source = encoded(reader, text);
  const said = new Map();
  const look = (ids) => {
    const key = ids.join(" ");
    if (!said.has(key)) {
      const before = ids.length ? look(ids.slice(0, -1)).state : model.start(source);
      const { logits, state } = model.step(ids.at(-1) ?? SOS, before);
      const p = softmax(logits);
      said.set(key, { ids, state, rows: likeliest(p, shown).map((id) => ({ id, logP: Math.log(p[id]) })) });
    }
    return said.get(key);
  };
  const goesOn = ({ id }, ids) => id !== EOS && ids.length + 1 < most;
  const grown = ({ ids, total }, { id, logP }) => ({ ids: [...ids, id], total: total + logP, open: id !== EOS });
  const nothing = { ids: [], total: 0, open: true };
  const likely = [nothing];
  for (const one of likely)
    for (const row of look(one.ids).rows)
      if (goesOn(row, one.ids) && one.total + row.logP >= Math.log(least)) likely.push(grown(one, row));
  for (let width = 1; width <= widest; width += 1) {
    let beam = [nothing];
    const further = (one) => look(one.ids).rows.map((row) => grown(one, row));
    for (let step = 0; step < most && beam.some((one) => one.open); step += 1) {
      const all = beam.flatMap((one) => (one.open ? further(one).slice(0, width) : [one]));
      beam = all.sort((a, b) => b.total - a.total).slice(0, width);
    }
  }
  for (const ids of kept) ids.forEach((_, t) => look(ids.slice(0, t + 1)));
  for (let { ids, rows } of [...said.values()])
    while (goesOn(rows[0], ids)) ({ ids, rows } = look([...ids, rows[0].id]));
  const number = new Map([...said.keys()].map((key, i) => [key, i]));
  const next = (ids, id) => (id === EOS ? null : (number.get([...ids, id].join(" ")) ?? -1));
  const typed = reader.split(text);
  return {
    read: source.map((id, i) => ({ text: reader.name(id), typed: typed[i] })),
    nodes: [...said.values()].map(({ ids, rows }) =>
      rows.map(({ id, logP }) => [{ id, text: writer.name(id) }, logP, next(ids, id)]),
    ),
  };
}
