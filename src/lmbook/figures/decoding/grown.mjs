// A stored tree that grows: what the model says behind a beginning that was too unlikely to be stored.

/**
 * The tree with every beginning of these picks in it; ask(more) gives the model's tree of the sentence.
 * @param {(given: any) => Promise<any>} ask
 * @param {number[]} picks
 */
export async function grown(ask, picks) {
  const plain = await ask({ shown: 5 });
  const kept = [];
  let tree = plain;
  for (let t = 1; t <= picks.length; t += 1) {
    // each beginning on the way, whatever was stored of it
    let node = 0;
    const ids = picks.slice(0, t).map((pick) => {
      const [{ id }, , next] = tree.nodes[node][pick];
      node = next;
      return id;
    });
    if (node === -1) {
      kept.push(ids);
      tree = await ask({ kept });
    }
  }
  return tree;
}

/**
 * The state with this tree as sentence number `at`; words that it brings along are put behind the others.
 * @param {Record<string, any>} its  traits
 * @param {{ nodes: any[][] }} tree
 * @param {number} at
 * @param {string} source
 * @param {any} read
 */
export function joined(its, { nodes }, at, source, read) {
  const words = [...its.words];
  const number = (token) => (words.includes(token) ? words.indexOf(token) : words.push(token) - 1);
  const sentences = [...its.sentences];
  sentences[at] = {
    source,
    nodes: nodes.map((rows) => rows.map(([token, logP, next]) => [number(token.text), logP, next])),
    ids: nodes.map((rows) => rows.map(([{ id }]) => id)),
    ...(read ? { read } : {}),
    reference: its.sentences[at]?.reference ?? "",
  };
  return { words, sentences };
}
