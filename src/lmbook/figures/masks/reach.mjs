// What a stack of self-attention can depend on: R_0 = I, R_{l+1} = (mask or I) R_l in Booleans.

export const PRESETS = ["full", "causal", "prefix", "padding", "neighbours"];

/** One of PRESETS for T positions. prefix: words of the prefix; padded: words at the end taken for padding. */
export function preset(name, T, { prefix, padded }) {
  const allowed = {
    full: () => true,
    causal: (i, j) => j <= i,
    prefix: (i, j) => j <= i || j < prefix,
    padding: (_i, j) => j < T - padded,
    neighbours: (i, j) => Math.abs(i - j) <= 1,
  }[name];
  return Array.from({ length: T }, (_, i) => Array.from({ length: T }, (_, j) => (allowed(i, j) ? 1 : 0)));
}

/** R_0 .. R_layers; the last one has 1 at [i][j] where output i can depend on input j. */
export function reaches(mask, layers, residual) {
  const T = mask.length;
  const step = mask.map((row, i) => row.map((cell, j) => (cell || (residual && i === j) ? 1 : 0)));
  const all = [mask.map((row, i) => row.map((_, j) => (i === j ? 1 : 0)))];
  for (let l = 0; l < layers; l += 1) {
    const before = all.at(-1);
    all.push(
      step.map((row) => Array.from({ length: T }, (_, j) => (row.some((open, k) => open && before[k][j]) ? 1 : 0))),
    );
  }
  return { step, all };
}

/** The pairs [output, input] with a later input. */
export const leaks = (R) => R.flatMap((row, i) => row.flatMap((seen, j) => (seen && j > i ? [[i, j]] : [])));
