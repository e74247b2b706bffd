// training.mjs: a lesson that goes on while its page lives: in a worker, or, where a page allows none, in turns with
// the page. Networks that are compared go step by step together.
//
// Several workers may share each batch (data parallel): one leads, and each of the others, with a line to it, computes
// the gradient of its part of the rows and sends it; all take the step that the mean of these gradients says.
//
//   tell it   { crew: { part, parts, lines } }      before the start: lines to the others, or to the leader
//             { start: { abouts, seed, text, every, steps, rate, warmup, file, card, from } }      from: what it once
//             kept; warmup: so many steps, and then the rate falls to 0 at the last one (schedules.mjs)
//             { go: true }   { go: false }   { rate }   { keep: true }   { pack: true }
//   it tells  { run, step, end, rate, seconds, train, valid, samples, right, notes }      of each network, before the
//             first step and after every `every` steps; rate: of the next step; seconds with the reports; samples with
//             the first reports and every fifth
//             { done: { end, rate } }  after `steps` steps: where { go: true } would go from here, and the first rate
//             { error }
//             { kept: [one a network] }      { packed: bytes of a .safetensors file }
import { packed, weights } from "./checkpoint.mjs";
import { lesson } from "./lessons.mjs";
import { warmupCosine } from "./schedules.mjs";
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
  let working = false;
  const asked = []; // while it works: what is to be told between two steps
  let crew = { part: 0, parts: 1, lines: [] };
  const others = []; // of each the next gradient

  /** The rate of the next step. */
  const rateNow = (last = end) =>
    plan.rate * (plan.warmup === undefined ? 1 : warmupCosine(step + 1, plan.warmup, last));

  /** Does the work, and counts its time. */
  function timed(run, work) {
    const before = performance.now();
    const found = work();
    run.seconds += (performance.now() - before) / 1000;
    return found;
  }

  /** Of all networks, in pieces: after `turn` messages are heard; where there is no worker, the page has its turn. */
  async function report() {
    const count = step / plan.every;
    const writes = count <= 2 || count % WRITES === 0 || step === end;
    for (const [i, run] of runs.entries()) {
      const pieces = run.own.report(writes);
      let piece = null;
      const some = (start = performance.now()) => {
        do piece = pieces.next();
        while (!piece.done && performance.now() - start < turn);
      };
      for (timed(run, some); !piece.done; timed(run, some)) await new Promise((then) => setTimeout(then));
      const found = piece.value;
      const train = run.losses.length ? mean(run.losses) : null;
      run.losses = [];
      tell({ run: i, step, end, rate: rateNow(), seconds: run.seconds, train, notes: run.own.notes, ...found });
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
      const mine = crew.parts > 1 ? { ...about, share: [crew.part, crew.parts] } : about;
      run.own = timed(run, () => lesson(mine, seed + step, text, given)); // after a pause other batches, by the step
      if (from) run.own.restore(from.kept[i]);
      return run;
    });
  }

  /** Computes its part for the one that leads: a gradient, and after each step that all take the next one. */
  function follow() {
    const [line] = crew.lines;
    const send = () => {
      try {
        if (!runs) begin();
        const loss = runs[0].own.gradient();
        const gradients = runs[0].own.gradients();
        line.postMessage({ loss, gradients }, [gradients.buffer]);
      } catch (error) {
        line.postMessage({ error: error.message });
      }
    };
    line.onmessage = ({ data }) => {
      runs[0].own.learn(data.rate, data.gradients);
      send();
    };
    send();
  }

  /** What comes over a line, one after the other: each call gives a promise of the next. */
  function next(line) {
    const arrived = [];
    const awaited = [];
    line.onmessage = ({ data }) => (awaited.length ? awaited.shift()(data) : arrived.push(data));
    return () => new Promise((then) => (arrived.length ? then(arrived.shift()) : awaited.push(then)));
  }

  /** A step of all together; its loss. */
  async function together(own) {
    const loss = own.gradient();
    const gradients = own.gradients();
    const found = await Promise.all(others.map((hear) => hear()));
    for (const { error, gradients: more } of found) {
      if (error) throw new Error(error);
      for (let i = 0; i < gradients.length; i += 1) gradients[i] += more[i];
    }
    for (let i = 0; i < gradients.length; i += 1) gradients[i] /= crew.parts;
    const rate = rateNow();
    for (const line of crew.lines) line.postMessage({ rate, gradients });
    own.learn(rate, gradients);
    return mean([loss, ...found.map((one) => one.loss)]);
  }

  async function work() {
    if (working) return; // it waits for the others
    working = true;
    const start = performance.now();
    try {
      if (!runs) {
        begin();
        if (!plan.from) await report();
      }
      while (going && step < end && performance.now() - start < turn) {
        for (const run of runs) {
          const before = performance.now();
          run.losses.push(crew.parts > 1 ? await together(run.own) : run.own.step(rateNow()));
          run.seconds += (performance.now() - before) / 1000;
        }
        step += 1;
        if (step % plan.every === 0) await report();
      }
    } catch (error) {
      going = false;
      tell({ error: error.message });
    }
    working = false;
    for (const answer of asked.splice(0)) answer();
    if (going && step >= end) {
      going = false;
      tell({ done: { end: end + plan.steps, rate: rateNow(end + plan.steps) } });
    }
    timer = going ? setTimeout(work) : null;
  }

  return ({ crew: given, start, go, rate, keep, pack }) => {
    if (given) {
      crew = given;
      if (!crew.part) others.push(...crew.lines.map(next));
    }
    if (start) plan = start;
    if (start && crew.part) follow();
    if (rate) plan.rate = rate;
    const answer = () => {
      const all = runs.map((run) => run.own.kept());
      if (keep) tell({ kept: { step, seconds: runs.map((run) => run.seconds), kept: all } });
      if (pack) tell({ packed: packed(all[0].weights, runs[0].own.network.weights, runs[0].own.card) });
    };
    if ((keep || pack) && runs) working ? asked.push(answer) : answer();
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
