// views.mjs: what an opened Transformer shows at each depth: the whole, a block, a head, a network, a vector, a
// number.
//
// A view is { node, parts, formula, words, table, tints }: the drawing, what can be opened in it from top to bottom,
// the formula with its numbers, the result in a sentence, and the numbers as rows; tints: how much of each token is
// used. `about` says which model it is (__init__.py): both towers, or one of them alone; norms before or behind the
// sum; max or GELU.
import { embedding, entryOfRows, entryView, sumOfRows } from "./entries.mjs";
import { logitView, output } from "./logits.mjs";
import { head, scoreView } from "./heads.mjs";
import { feed, unitView } from "./units.mjs";
import { block, whole } from "./whole.mjs";

/** Of each kind of level the view of the level, and that of a number of it. */
const VIEWS = {
  whole: [whole],
  block: [block],
  head: [head, scoreView],
  feed: [feed, unitView],
  output: [output, logitView],
  start: [embedding, entryView],
  startOfRows: [sumOfRows, entryOfRows],
};

/** The view of a path, from all that is known of it. */
export function viewOf(given) {
  const { at, about, stages } = given;
  const start = about.tower ? "startOfRows" : "start";
  const view = VIEWS[at.kind in VIEWS ? at.kind : start][Number((at.number ?? null) !== null)];
  return { parts: [], ...view({ ...given, stage: stages[0] }) };
}
