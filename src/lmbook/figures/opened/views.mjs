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

/** The view of a path, from all that is known of it. */
export function viewOf(given) {
  const { at } = given;
  const deep = at.number !== null && at.number !== undefined;
  if (at.kind === "whole") return whole(given);
  if (at.kind === "block") return block(given);
  if (at.kind === "head") return (deep ? scoreView : head)({ ...given, stage: given.stages[0] });
  if (at.kind === "feed") return (deep ? unitView : feed)({ ...given, stage: given.stages[0] });
  if (at.kind === "output") return (deep ? logitView : output)(given);
  if (given.about.tower) return (deep ? entryOfRows : sumOfRows)(given);
  return (deep ? entryView : embedding)(given);
}
