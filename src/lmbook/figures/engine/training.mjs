// training.mjs: a lesson that goes on while its page lives: in a worker, or, where a page allows none, in turns with
// the page. Networks that are compared go step by step together.
//
//   tell it   { start: { abouts, seed, text, every, steps, rate, file, card, from } }      from: what it once kept
//             { go: true }   { go: false }   { rate }   { keep: true }   { pack: true }
//   it tells  { run, step, seconds, train, valid, samples, right, notes }      of each network, before the first step
//             and after every `every` steps; seconds with the reports; samples with the first reports and every fifth
//             { done: true }  after `steps` steps, from where { go: true } takes as many again      { error }
//             { kept: [one a network] }      { packed: bytes of a .safetensors file }
import { packed, weights } from "./checkpoint.mjs";
import { lesson } from "./lessons.mjs";
import { mean } from "../kit/numbers.mjs";

const WRITES = 5;

/** turn: ms of work before messages are heard. Returns what hears a message. */
export function training(tell, turn) {
  let runs = null; // { own, seconds, losses } of each network
  let plan = null;
  let going = false;
  let timer = null;
  let step = 0;
  let end = 0;

  /** Does the work, and counts its time. */
  function timed(run, work) {
    const before = performance.now();
    const found = work();
    run.seconds += (performance.now() - before) / 1000;
    return found;
  }

  function report() {
    const count = step / plan.every;
    const writes = count <= 2 || count % WRITES === 0 || step === end;
    for (const [i, run] of runs.entries()) {
      const found = timed(run, () => run.own.report(writes));
      const train = run.losses.length ? mean(run.losses) : null;
      run.losses = [];
      tell({ run: i, step, seconds: run.seconds, train, notes: run.own.notes, ...found });
    }
  }

  function begin() {
    const { abouts, seed, text, from, file, card } = plan;
    const loaded = file ? weights(file) : null;
    step = from?.step ?? 0;
    end = step + plan.steps - (step % plan.steps);
    runs = abouts.map((about, i) => {
      const run = { own: null, seconds: from?.seconds[i] ?? 0, losses: [] };
      const given = loaded && { weights: loaded, card: card ?? loaded.card };
      run.own = timed(run, () => lesson(about, seed + step, text, given)); // after a pause other batches, by the step
      if (from) run.own.restore(from.kept[i]);
      return run;
    });
    if (!from) report();
  }

  function work() {
    const start = performance.now();
    try {
      if (!runs) begin();
      while (step < end && performance.now() - start < turn) {
        for (const run of runs) run.losses.push(timed(run, () => run.own.step(plan.rate)));
        step += 1;
        if (step % plan.every === 0) report();
      }
    } catch (error) {
      going = false;
      tell({ error: error.message });
    }
    if (going && step >= end) {
      going = false;
      tell({ done: true });
    }
    timer = going ? setTimeout(work) : null;
  }

  return ({ start, go, rate, keep, pack }) => {
    if (start) plan = start;
    if (rate) plan.rate = rate;
    if (keep && runs)
      tell({ kept: { step, seconds: runs.map((run) => run.seconds), kept: runs.map((run) => run.own.kept()) } });
    if (pack && runs)
      tell({ packed: packed(runs[0].own.kept().weights, runs[0].own.network.weights, runs[0].own.card) });
    if (go === undefined) return;
    going = go;
    if (going && runs && step >= end) end += plan.steps;
    if (going) timer ??= setTimeout(work);
    else {
      clearTimeout(timer);
      timer = null;
    }
  };
}

export function serve(scope) {
  const hear = training((message) => scope.postMessage(message), 100);
  scope.onmessage = ({ data }) => hear(data);
}
