// schedules.mjs: by what factor the rate is multiplied at a step (lmbook/lab/schedules.py). Steps count from 1.

/** Linear from 0 to 1 at step `warmup`, then half a cosine down to 0 at step `total`; 0 after that. */
export function warmupCosine(step, warmup, total) {
  if (!(0 <= warmup && warmup < total))
    throw new Error(`a warm-up of ${warmup} steps must end before the training of ${total} does`);
  if (step < warmup) return step / warmup;
  const done = Math.min(1, (step - warmup) / (total - warmup));
  return (1 + Math.cos(Math.PI * done)) / 2;
}
