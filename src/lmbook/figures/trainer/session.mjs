// session.mjs: one training behind the figure, in its workers (coach.mjs): it begins, pauses, goes on, ends, and is
// kept in the browser (kept.mjs), so that one which a reload ends can go on.
import { coach } from "./coach.mjs";
import { forget, keep } from "./kept.mjs";
import { finding, steps } from "./spoken.mjs";

const QUIET = 10_000; // ms between two sentences that are read out
const KEPT = 5000; // ms between two times that a training is stored

/**
 * place: its name among those that are kept.  chosen() -> { way, name, rate, seed, text, parts }, as the controls
 * stand.  draw(): something changed.  say(sentence, { aloud }).  give(bytes): weights for the reader's disk.
 * refused(why): nothing was begun with what was chosen.
 */
export function session({ place, chosen, draw, say, give, refused }) {
  let worker = null;
  let stored = 0;
  let spoke = 0;
  let text = ""; // that is learned
  let why = ""; // it was paused
  const it = {
    state: "before", // or going, paused, done, failed
    runs: [],
    notes: [],
    from: null, // what a training was kept with
    opened: null, // a file of weights: { file, card, name }
    get parts() {
      return worker?.parts ?? 1;
    },
    get writes() {
      return Boolean(worker && it.runs[0]?.points.length);
    },
    place,
    begin: () => change("before", ""),
    go,
    pause,
    reset,
    tell: (message) => worker?.tell(message),
    stop: () => worker?.stop(),
    /** Goes on with one that was kept. */
    take: (kept) => {
      ({ text, runs: it.runs, from: it.from } = kept);
      change("paused", `A training of yours was kept here, ${steps(it.from.step)} long: go on, or reset it.`);
    },
  };

  function change(state, words) {
    it.state = state;
    draw();
    tell(words);
  }

  /** Shows a sentence with the numbers of this moment; not every one is read out. */
  function tell(words, aloud = true) {
    if (aloud) spoke = performance.now();
    const record = chosen().way.record;
    say(words || (record ? `Recorded, ${finding(record.runs)}` : "Nothing is trained yet."), { aloud });
  }

  const told = () => `A${finding(it.runs).slice(1)}`;

  function go() {
    if (it.state === "failed") reset();
    if (!worker) {
      const { way, rate, seed, text: typed, parts } = chosen();
      if (!it.from) {
        text = typed;
        it.runs = way.runs.map(({ label }) => ({ label, points: [], samples: [], right: [], written: [], seconds: 0 }));
      }
      worker = coach(heard, parts);
      const { every, steps: many, warmup } = way;
      const abouts = way.runs.map(({ about }) => about);
      const { file = null, card = null } = it.opened ?? {};
      worker.tell({ start: { abouts, seed, text, every, steps: many, warmup, rate, file, card, from: it.from } });
    }
    worker.tell({ go: true });
    const slow = "No worker is allowed here: the training shares this page, which may feel slow.";
    change("going", worker.inPage ? slow : "The training has begun.");
  }

  function pause(reason = "") {
    worker.tell({ go: false });
    worker.tell({ keep: true });
    why = reason;
    change("paused", `Paused${why}.`);
  }

  function reset() {
    worker?.stop();
    worker = null;
    if (it.state !== "before") forget(place);
    Object.assign(it, { runs: [], notes: [], opened: null, from: null });
    stored = 0;
    change("before", "");
  }

  function heard(message) {
    if (it.state === "failed" || !worker) return;
    const { runs } = it;
    if (message.error) {
      const begun = it.runs.some(({ points }) => points.length);
      worker.stop();
      worker = null;
      change("failed", `${begun ? "The training stopped" : "Not trained"}: ${message.error}.`);
      if (!begun) refused(message.error);
    } else if (message.packed) give(message.packed);
    else if (message.kept) {
      const { kept } = message;
      if (it.state === "paused")
        tell(`Paused after ${steps(kept.step)}${runs.length > 1 ? " of each network" : ""}${why}.`);
      const { way, name, rate, seed } = chosen();
      keep(place, { name, lesson: JSON.stringify(way.runs), rate, seed, text, runs, from: kept });
    } else if (message.done) {
      worker.tell({ keep: true });
      runs[0].more = message.done;
      change("done", told());
    } else {
      const { step, end, rate, train, valid, seconds, samples = [], right = [] } = message;
      const run = runs[message.run];
      run.points.push([step, train ?? NaN, valid]);
      Object.assign(run, { seconds, right, end, rate });
      if (samples.length) {
        run.samples = samples;
        if (!samples[0].source) run.written.push([step, samples.map((one) => one.text)]);
      }
      it.notes = message.notes ?? [];
      if (message.run < runs.length - 1) return;
      draw();
      if (!step || it.state !== "going") return;
      tell(told(), performance.now() - spoke > QUIET);
      if (performance.now() - stored > KEPT) {
        stored = performance.now();
        worker.tell({ keep: true });
      }
    }
  }

  return it;
}
