// vectors.mjs: word vectors, their neighbours, and a few of them seen in a plane (lmbook/word2vec.py).
//
//   cos(a, b) = a . b / (|a| |b|)        centred rows C = U S V^T, of which U S has the first two columns

import { FIRST } from "./bytepairs.mjs";
import { dot, mean as middle, sum } from "../kit/numbers.mjs";

/** The table v of trained word vectors. */
export class SkipGram {
  constructor(w) {
    const v = w("v.weight");
    if (!v) throw new Error("the file of weights has no v.weight");
    this.rows = v.vectors().map((row) => Float64Array.from(row));
    this.lengths = this.rows.map((row) => Math.sqrt(dot(row, row)));
  }

  /** The cosine of word id with every word. */
  cosines(id) {
    return this.rows.map((row, i) => dot(row, this.rows[id]) / (this.lengths[i] * this.lengths[id]));
  }

  /** The n words with the largest cosine, of those that `among` lets through: [{ id, cosine }]. */
  nearest(id, n, among) {
    const cosine = this.cosines(id);
    const others = cosine.map((_, i) => i).filter((i) => i !== id && among(i));
    return others
      .sort((a, b) => cosine[b] - cosine[a])
      .slice(0, n)
      .map((i) => ({ id: i, cosine: cosine[i] }));
  }
}

const squares = (rows) => sum(rows.map((row) => dot(row, row)));

/** Eigenvalues and eigenvectors (in columns) of a symmetric matrix, by Jacobi's rotations: each makes one entry 0. */
function eigen(matrix) {
  const n = matrix.length;
  const A = matrix.map((row) => [...row]);
  const V = matrix.map((_, i) => matrix.map((__, j) => Number(i === j)));
  const size = squares(A);
  const rest = () => squares(A.map((row, i) => row.filter((_, j) => j !== i)));
  for (let sweep = 0; sweep < 50 && rest() > 1e-24 * size; sweep += 1) {
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) {
        if (A[p][q] === 0) continue;
        const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const cos = 1 / Math.sqrt(t * t + 1);
        const sin = t * cos;
        for (const rows of [A, V])
          for (const row of rows) [row[p], row[q]] = [cos * row[p] - sin * row[q], sin * row[p] + cos * row[q]];
        for (let k = 0; k < n; k += 1)
          [A[p][k], A[q][k]] = [cos * A[p][k] - sin * A[q][k], sin * A[p][k] + cos * A[q][k]];
      }
    }
  }
  return { values: A.map((row, i) => row[i]), vectors: V };
}

/**
 * Rows seen along the two directions in which they vary most, { points: [[x, y]], share }, with the share of the
 * variance that is seen. Each axis points so that its entry of largest size is above 0. C C^T = U S^2 U^T has a row a
 * word, and words are few.
 */
export function plane(rows) {
  const mean = rows[0].map((_, j) => middle(rows.map((row) => row[j])));
  const centred = rows.map((row) => row.map((x, j) => x - mean[j]));
  const { values, vectors } = eigen(centred.map((a) => centred.map((b) => dot(a, b))));
  const axes = values
    .map((_, k) => k)
    .sort((a, b) => values[b] - values[a])
    .slice(0, 2)
    .map((k) => {
      const seen = vectors.map((row) => row[k] * Math.sqrt(Math.max(0, values[k])));
      const largest = seen.reduce((best, x) => (Math.abs(x) > Math.abs(best) ? x : best), 0);
      return largest < 0 ? seen.map((x) => -x) : seen;
    });
  const all = squares(centred);
  const share = all > 0 ? squares(axes) / all : 0;
  return { points: rows.map((_, i) => [axes[0][i], axes[1]?.[i] ?? 0]), share };
}

/**
 * Words as vectors: the first `most` different words of a text, each with its row and its `n` nearest, and all of
 * these in a plane.  words: { typed, id, text }; a word that is not in the table is <unk>, which has no neighbours
 * and no place. near: a list of { id, text, cosine } a word.  points: { id, text, x, y }.  left: how many words
 * were too many.
 */
export function neighbours({ model, reader }, { text, n = 5, most = 6 }) {
  const isWord = (token) => /[\p{L}\p{N}]/u.test(token); // not a punctuation mark
  const all = [...new Set(reader.split(text).filter(isWord))];
  if (!all.length) throw new Error("there is no word in it");
  const named = (one) => ({ ...one, text: reader.name(one.id) });
  const words = all.slice(0, most).map((typed) => named({ typed, id: reader.encode(typed)[0] }));
  const readable = (id) => isWord(reader.name(id)) && String(reader.encode(reader.name(id))) === String(id);
  const near = words.map(({ id }) => (id < FIRST ? [] : model.nearest(id, n, readable).map(named)));
  const ids = [...new Set([...words, ...near.flat()].map(({ id }) => id).filter((id) => id >= FIRST))];
  const { points, share } = ids.length ? plane(ids.map((id) => model.rows[id])) : { points: [], share: 0 };
  const placed = points.map(([x, y], i) => ({ ...named({ id: ids[i] }), x, y }));
  return { words, near, points: placed, share, left: all.length - words.length };
}
