// answers.mjs: what is asked of the engine for a view, and what it has said, each asked once.
import { parsed, stagesOf } from "./path.mjs";

/**
 * about: the model.  first: what is known without it.  models: the line to the engine.
 * @param {any} about
 * @param {any} first
 * @param {any} models
 */
export function answersOf(about, first, models) {
  const blanks = about.kind === "blank";
  const task = about.kind === "translator" ? "translate" : "tokens"; // what gives the tokens of a text
  const keyOf = (what, given) => JSON.stringify([what, ...Object.values(given)]);
  const known = new Map([[keyOf(task, { text: first.text }), first.found]]); // what the engine said, by what was asked
  const where = (text, side, places) => ({ text, side, place: places[side], blank: blanks ? places.target : 0 });
  for (const side of Object.keys(first.opened))
    known.set(keyOf("open", where(first.text, side, first.places)), first.opened[side]);
  for (const [side, stage, unit, found] of first.inside)
    known.set(keyOf("inside", { ...where(first.text, side, first.places), stage, unit }), found);
  const get = (what, given) => known.get(keyOf(what, given));

  /** What the engine says. The model is fetched when it is first needed. */
  async function ask(what, given) {
    if (!get(what, given)) {
      await models.load(about.name);
      const ids = what === task ? {} : { ids: get(task, { text: given.text }).target.map((token) => token.id) };
      known.set(keyOf(what, given), await models.ask(what, { name: about.name, ...given, ...ids }));
    }
    return get(what, given);
  }

  /** All that a state needs, as questions to the engine. */
  function questions({ part, text, read, write }) {
    const at = parsed(part, about);
    const found = get(task, { text });
    if (!found) return { at, found, list: [[task, { text }]], places: null, place: 0, last: null };
    const last = {
      source: found.source.length - 1,
      target: blanks ? found.source.length - 2 : found.target.length - 1,
    };
    const places = {
      source: Math.max(0, Math.min(read, last.source)),
      target: Math.max(0, Math.min(write, last.target)),
    };
    const given = where(text, at.side, places);
    const list =
      at.kind === "whole" || at.kind === "block"
        ? [["open", given]]
        : stagesOf(at, about).map(([number, unit]) => ["inside", { ...given, stage: number, unit }]);
    return { at, found, places, place: places[at.side], last, list };
  }

  /** What all heads of a layer look at, from everywhere, or null until that is known; then come() is called. */
  function looks(at, found, text, come) {
    if (at.kind !== "head" || at.number !== null || about.kind !== "translator") return null;
    const [[number, unit]] = stagesOf(at, about);
    if (text === first.text && first.looks?.part === at.levels.at(-1).replace(/\d+$/, "")) return first.looks.weights;
    const all = found[at.side].map((_, t) => ({
      ...where(text, at.side, { ...first.places, [at.side]: t }),
      stage: number,
      unit,
    }));
    const rows = all.map((given) => get("inside", given)?.weights);
    if (rows.every(Boolean))
      return rows[0].map((_, head) =>
        rows.map((row) => [...row[head], ...Array(rows.at(-1)[head].length - row[head].length).fill(0)]),
      );
    if (models.has(about.name)) Promise.all(all.map((given) => ask("inside", given))).then(come, () => {});
    return null;
  }

  return { task, get, ask, questions, looks };
}
