// path.mjs: where an opened Transformer is open: what a path names, and what must be asked for it.
import { fmt } from "../kit/core.mjs";

const INNER = "\\.(self|cross)\\.(\\d+)(?:\\.(\\d+))?|\\.(feed)(?:\\.(\\d+))?"; // a head and a key, or a unit
const PATH = new RegExp(`^(?:(encoder|decoder)\\.(\\d+)(?:${INNER})?|(source|target|output)(?:\\.(\\d+))?)?$`);

/** A path in parts; of a path that leads nowhere, the whole.  number: what is opened inside of it, from 0, or null. */
export function parsed(given, { n_layers, n_heads, d_ff, d_model, called, tower: alone }) {
  const [found, tower, layer, look, head, key, feed, unit, end, entry] = PATH.exec(given) ?? [""];
  const within = (value, most) => value === undefined || (Number(value) >= 1 && Number(value) <= most);
  const there =
    found !== undefined &&
    within(layer, n_layers) &&
    within(head, n_heads) &&
    within(unit, d_ff) &&
    within(entry, d_model) &&
    within(key, Infinity) &&
    !(look === "cross" && (alone || tower === "encoder")) &&
    !(alone && tower && tower !== alone);
  const only = { encoder: "source", decoder: "target" }[alone];
  if (!found || !there || (only && end && end !== "output" && end !== only))
    return { path: "", kind: "whole", called, side: only ?? "target", levels: [""] };
  const number = [key, unit, entry].find((value) => value !== undefined);
  const block = tower ? `${tower}.${layer}` : null;
  const inner = look ? `${block}.${look}.${head}` : feed ? `${block}.feed` : (end ?? null);
  return {
    path: found,
    called,
    tower,
    layer: Number(layer),
    look,
    head: Number(head) - 1,
    end,
    number: number === undefined ? null : Number(number) - 1,
    kind: end ?? (look ? "head" : feed ? "feed" : "block"),
    side: only ?? (tower === "encoder" || end === "source" ? "source" : "target"),
    levels: ["", block, inner, number === undefined ? null : found].filter((level) => level !== null),
  };
}

/** The sublayers of a path that the engine has to open: [stage, unit]. */
export function stagesOf(at, { n_layers, starts, tower }) {
  const each = at.side === "source" || tower ? 2 : 3;
  if (at.kind === "output") return [[starts + each * n_layers, null]];
  if (at.end) return Array.from({ length: starts }, (_, stage) => [stage, null]);
  if (at.kind === "head") return [[starts + each * (at.layer - 1) + (at.look === "cross" ? 1 : 0), null]];
  return at.kind === "feed" ? [[starts - 1 + each * at.layer, at.number]] : [];
}

export const cut = (word, most = 11) => (word.length > most ? `${word.slice(0, most - 1)}…` : word);
export const seen = (word) => word.trim() || (word ? "␣" : "∅");
export const NAMES = {
  self: "self-attention",
  cross: "attention to the source",
  feed: "feed-forward network",
  embedding: "embedding",
  position: "position",
  segment: "segment",
};
export const signed = (x, digits = 2) => (x < 0 ? `− ${fmt.num(-x, digits)}` : `+ ${fmt.num(x, digits)}`);

/** The name of a level of a path, for the way back. */
export function nameOf(at, { keys = [] }) {
  const start = at.called === "GPT" ? "embedding" : "embedding and position";
  const key = () => keys[Math.min(at.number, keys.length - 1)].text;
  const [level, number] = {
    whole: [at.called],
    block: [`${at.tower}, layer ${at.layer}`],
    head: [`${NAMES[at.look]}, head ${at.head + 1}`, () => `score of “${seen(key())}”`],
    feed: [NAMES.feed, () => `unit ${at.number + 1}`],
    output: ["output", () => `logit ${at.number + 1}`],
  }[at.kind] ?? [start, () => `entry ${at.number}`];
  return number && at.number !== null ? number() : level;
}
