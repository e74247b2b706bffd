// Ways through a stored tree of beginnings: nodes[i] has [word, ln p, the node behind it] of what may follow, the
// likeliest first; null stands for a sentence that is complete, -1 for what was not stored.

export const END = "<eos>";
export const MOST = 14; // words of an output

/**
 * Beam search over the stored tree: { steps: what the beam holds after each, complete }. One: { ids, total, node,
 * parent, from }.
 */
export function search(nodes, width) {
  let kept = [{ ids: [], total: 0, node: 0 }];
  const steps = [];
  const complete = [];
  while (kept.some((one) => one.node !== null) && steps.length < MOST) {
    const grown = kept
      .flatMap((one, parent) =>
        one.node === null
          ? { ...one, parent, again: 1 }
          : nodes[one.node].slice(0, width).map(([id, logP, node]) => {
              return { ids: [...one.ids, id], total: one.total + logP, node, parent, last: logP, again: 0 };
            }),
      )
      .sort((a, b) => b.total - a.total || b.again - a.again);
    kept = grown.slice(0, width);
    complete.push(...kept.filter((one) => one.node === null && !one.again));
    steps.push({ kept, grown });
  }
  return { steps, complete };
}

/** The reader's path: the words with their ln p, their sum, and the node where it stands (null when complete). */
export function walk(nodes, picks) {
  const path = [];
  let node = 0;
  let total = 0;
  for (const pick of picks) {
    const [id, logP, next] = nodes[node][pick];
    total += logP;
    path.push({ id, logP });
    node = next;
  }
  return { path, total, node };
}

export const best = (list, by) => list.reduce((a, b) => (by(b) > by(a) ? b : a));

/** The likeliest sentence that a beam of this width completes. */
export const likeliestOf = (nodes, width) => best(search(nodes, width).complete, (one) => one.total);

/** ln P of a sentence after 0, 1, .. of its words. */
export function falls(nodes, ids) {
  let node = 0;
  const sums = [0];
  for (const id of ids) {
    const [, logP, next] = nodes[node].find((row) => row[0] === id);
    sums.push(sums.at(-1) + logP);
    node = next;
  }
  return sums;
}
