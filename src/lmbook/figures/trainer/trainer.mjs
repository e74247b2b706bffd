// Trainer: small networks of the book are trained here, in the page, on autograd.mjs, in one worker (training.mjs).
//
// What is seen before is a recorded training by the same code. It stays behind the live curves, to compare. A training
// that a reload ends is kept in the browser (kept.mjs) and can go on. The weights of a GPT can be saved and opened.
import { button, choice, disable, field, figure, fmt, h, onwidth, replace, select, table } from "../kit/core.mjs";
import { coach } from "./coach.mjs";
import { chart, lowest } from "./curves.mjs";
import { found as foundKept, forget, keep } from "./kept.mjs";
import { result } from "./writings.mjs";

const SLOW = 1.5; // times the seconds of the record, above which a device is called slow
const QUIET = 10_000; // ms between two sentences that are read out
const KEPT = 5000; // ms between two times that a training is stored

const style = `
.lm-figure .lmt-seed .lm-field { flex-wrap: nowrap; }
.lm-figure .lmt-seed .lm-field input { flex: 0 0 4.5rem; }
.lmt-sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); gap: 0.9rem 1.6rem;
  align-items: start; }
.lmt-sides > * { min-width: 0; }
.lmt-own { display: flex; flex-direction: column; gap: 0.25rem; }
.lm-figure .lmt-own textarea { width: 100%; min-height: 7rem; padding: 0.4rem 0.6rem; border: 1px solid var(--lm-edge);
  border-radius: 6px; background: var(--lm-paper);
  color: inherit; font: 0.875rem/1.4 ui-monospace, Menlo, Consolas, monospace; }
.lm-figure .lmt-own textarea:focus-visible { outline: 2px solid var(--lm-1); outline-offset: 2px; }
.lmt-chart svg { display: block; overflow: visible; }
.lmt-chart path { fill: none; stroke-linejoin: round; stroke: var(--lm-tone); }
.lmt-chart .lmt-inside { overflow: hidden; }
.lmt-chart .lmt-name { fill: var(--lm-text); font-weight: 600; paint-order: stroke; stroke: var(--lm-paper);
  stroke-width: 4px; }
.lmt-live { stroke-width: 2.5; }
.lmt-train { stroke-width: 1; stroke-opacity: 0.55; }
.lmt-before { stroke-width: 1.5; stroke-dasharray: 2 4; }
.lmt-lowest { fill: var(--lm-paper); stroke: var(--lm-tone); stroke-width: 2; }
.lmt-mark { stroke: var(--lm-edge); stroke-dasharray: 6 4; }
.lmt-key { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; font-size: 0.8125rem; color: var(--lm-muted); }
.lmt-key span::before { content: ""; display: inline-block; width: 1.4em; margin-right: 0.4em; vertical-align: middle;
  border-top: 1px solid var(--lm-muted); }
.lmt-key .lmt-key-before::before { border-top: 2px dotted var(--lm-muted); }
.lmt-head { font-weight: 600; }
.lmt-names { display: flex; flex-wrap: wrap; gap: 0.15rem 0.9rem; margin: 0; padding: 0; list-style: none;
  font-size: 1.0625rem; }
.lm-figure .lmt-names li { margin: 0; }
.lmt-known { color: var(--lm-muted); text-decoration: underline dotted; }
.lmt-text { max-height: 14.5rem; padding: 0.5rem 0.7rem; overflow-y: auto; border-radius: 6px;
  background: var(--lm-soft); white-space: pre-wrap; overflow-wrap: anywhere;
  font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875rem; line-height: 1.45; }
.lmt-letters { font-family: ui-monospace, Menlo, Consolas, monospace; letter-spacing: 0.12em; }
.lmt-letters mark, .lmt-result mark { text-decoration: underline wavy var(--lm-2); text-underline-offset: 0.2em; }
.lmt-result { display: flex; flex-direction: column; gap: 0.35rem; }
`;

const steps = (n) => `${fmt.count(n)} steps`;
const spent = (seconds) =>
  seconds < 90 ? `${fmt.num(seconds, seconds < 10 ? 1 : 0)} s` : `${fmt.num(seconds / 60, 1)} min`;

export default figure(({ el, get, say, wager }) => {
  const { ways, rates, rate: usual } = get("lesson");
  let way = ways.find((one) => one.record) ?? ways[0];
  // an address may ask for any number
  const first = rates.includes(get("rate")) ? get("rate") : usual;
  let rate = first;
  let seed = Number.isSafeInteger(get("seed")) && get("seed") >= 0 ? get("seed") : 0;
  const place = `${location.pathname} ${get("title")}`; // of this figure among the trainings that are kept
  let parts = 1; // workers that share each batch
  let worker = null;
  let runs = [];
  let from = null; // what a training was kept with
  let opened = null; // a file of weights: { file, card, name }
  let notes = [];
  let stored = 0;
  let text = ""; // that is learned
  let state = "before"; // or going, paused, done, failed
  let spoke = 0;
  let why = ""; // it was paused

  const start = button("Train", () => (state === "going" ? pause() : go()), { class: "lm-button lm-main" });
  const again = button("Reset", () => reset());
  const pace = select({
    label: "Rate",
    value: rate,
    options: rates.map((value) => [value, String(value)]),
    onchange: (value) => {
      rate = value;
      worker?.tell({ rate });
    },
  });
  const crews = [1, 2, 4].filter((n) => n <= (navigator.hardwareConcurrency || 1));
  const crew = select({
    label: "Workers",
    value: parts,
    options: crews.map((n) => [n, String(n)]),
    onchange: (value) => {
      parts = value;
      if (state !== "before") reset();
    },
  });
  const number = field({
    label: "Seed",
    value: String(seed),
    maxlength: 6,
    oninput: (text) => {
      const value = Number(text);
      const fits = /^\d+$/.test(text);
      number.input.setAttribute("aria-invalid", String(!fits));
      if (!fits) return say("A seed is a whole number, 0 or more.");
      if (value !== seed) {
        seed = value;
        reset();
      }
      return undefined;
    },
  });
  number.input.inputMode = "numeric";
  const which = choice({
    label: "Data",
    value: ways.indexOf(way),
    options: ways.map((one, i) => [i, one.label]),
    onchange: (i) => {
      way = ways[i];
      rate = way.rate ?? first;
      reset();
    },
  });
  const area = h("textarea", {
    id: `${number.input.id}-text`,
    spellcheck: "false",
    oninput: () => {
      if (state !== "before") reset();
    },
  });
  const save = button("Download the weights", () => worker?.tell({ pack: true }));
  const file = h("input", { type: "file", multiple: true, hidden: true, accept: ".safetensors,.json" });
  file.addEventListener("change", () => open([...file.files]));
  const load = button("Open weights", () => file.click());
  const weights = h("div", { class: "lm-row" }, save, load, file);
  /** Whether several workers may share a batch: its windows are drawn one by one, and none goes on from another. */
  const shared = () => way.runs.every(({ about }) => about.kind === "text" && about.network.class === "GPT");
  const own = h("div", { class: "lmt-own" }, h("label", { class: "lm-small lm-muted", for: area.id }, ""), area);
  const now = h("p", { class: "lm-small lm-muted" });
  const picture = chart();
  const key = h("div", { class: "lmt-key" });
  const results = h("div", { class: "lm-stack" });
  let found = [];
  const numbers = table({
    summary: "The numbers as a table",
    caption: "Nats per prediction: the mean over the batches since the row above, and on what is held out",
  });
  /** The bet on the recorded training of the first data set: where its held-out loss ends. */
  let flag = null;
  function betOn({ record, steps: many, runs: nets }) {
    const [first_, ...rest] = record.runs.map(({ points }) => [points[0][2], points.at(-1)[2]]);
    const [began, ended] = first_;
    flag = Number((began / 2).toFixed(1));
    const on = rest.length ? ` of the ${nets[0].label}` : "";
    return wager({
      name: `trainer-${get("lesson").name}`,
      asks: `The held-out loss${on} begins at ${fmt.num(began)} nats. Where is it after ${steps(many)}?`,
      pin: {
        label: "Nats",
        min: 0,
        max: Number(began.toFixed(1)),
        step: 0.05,
        value: flag,
        text: fmt.num,
        oninput: (/** @type {number} */ v) => {
          flag = v;
          draw();
        },
      },
      hides: [key, results, say.node, numbers.node],
      told: (bet) =>
        `The recorded one ended at ${fmt.num(ended)} nats` +
        (bet === null
          ? "."
          : `; you said ${fmt.num(bet)}, ${fmt.num(Math.abs(bet - ended))} too ${bet > ended ? "high" : "low"}.`),
      settled: (bet) => {
        flag = bet;
        if (number.node.isConnected) draw();
      },
    });
  }
  /** @type {ReturnType<typeof wager> | null} */
  let question = null;
  if (ways[0].record) question = betOn(ways[0]);
  el.append(
    question?.node ?? "",
    ways.length > 1 ? which.node : "",
    own,
    h("div", { class: "lm-row lmt-seed" }, start, again, pace.node, number.node, crew.node),
    now,
    h("div", { class: "lmt-sides" }, h("div", { class: "lm-stack" }, picture.node, key), results),
    say.node,
    weights,
    numbers.node,
  );

  function textOf() {
    return way.text === "own" ? area.value : (get("lesson").texts[way.text] ?? "");
  }

  /** A .safetensors file, with the card in it or in a .json beside it. */
  async function open(files) {
    const [data, beside] = [".safetensors", ".json"].map((end) => files.find(({ name }) => name.endsWith(end)));
    file.value = "";
    if (!data) return say("A file of weights ends in .safetensors; a .json of the same name may come with it.");
    try {
      const card = beside ? JSON.parse(await beside.text()) : null;
      reset();
      opened = { file: new Uint8Array(await data.arrayBuffer()), card, name: data.name };
    } catch (error) {
      return say(`That could not be opened: ${error.message}.`);
    }
    draw();
    return say(`${data.name} is open. Press Train: it writes, and learns on from there.`);
  }

  /** A file to the reader's disk. */
  function give(bytes) {
    const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    h("a", { href: address, download: "trained-in-the-page.safetensors" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  function go() {
    if (state === "failed") reset();
    if (!worker) {
      if (!from) {
        text = textOf();
        runs = way.runs.map(({ label }) => ({ label, points: [], samples: [], right: [], written: [], seconds: 0 }));
      }
      worker = coach(heard, shared() ? parts : 1);
      const abouts = way.runs.map(({ about }) => about);
      const { file: data = null, card = null } = opened ?? {};
      const { every, steps: many, warmup } = way;
      worker.tell({ start: { abouts, seed, text, every, steps: many, warmup, rate, file: data, card, from } });
    }
    worker.tell({ go: true });
    change(
      "going",
      worker.inPage
        ? "This page allows no worker, so the training shares the page with you, which may feel slow."
        : "The training has begun.",
    );
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
    runs = [];
    notes = [];
    opened = null;
    if (from || stored) forget(place);
    from = null;
    stored = 0;
    change("before", "");
  }

  function heard(message) {
    if (state === "failed" || !worker) return;
    if (message.error) {
      worker.stop();
      worker = null;
      change("failed", `The training stopped: ${message.error}.`);
    } else if (message.packed) give(message.packed);
    else if (message.kept) {
      const { kept } = message;
      if (state === "paused")
        tell(`Paused after ${steps(kept.step)}${runs.length > 1 ? " of each network" : ""}${why}.`);
      const name = ways.indexOf(way);
      keep(place, { name, lesson: JSON.stringify(way.runs), rate, seed, text, runs, from: kept });
    } else if (message.done) {
      worker.tell({ keep: true });
      runs[0].more = message.done;
      change("done", finding());
    } else {
      const { step, end, rate: next, train, valid, seconds, samples = [], right = [] } = message;
      const run = runs[message.run];
      run.points.push([step, train ?? NaN, valid]);
      Object.assign(run, { seconds, right, end, rate: next });
      if (samples.length) {
        run.samples = samples;
        if (!samples[0].source) run.written.push([step, samples.map((one) => one.text)]);
      }
      notes = message.notes ?? [];
      if (message.run < runs.length - 1) return;
      draw();
      if (!step || state !== "going") return;
      tell(finding(), performance.now() - spoke > QUIET);
      if (performance.now() - stored > KEPT) {
        stored = performance.now();
        worker.tell({ keep: true });
      }
    }
  }

  /** Shows a sentence with the numbers of this moment; not every one is read out. */
  function tell(words, aloud = true) {
    if (aloud) spoke = performance.now();
    say(words, { aloud });
  }

  function change(next, words) {
    state = next;
    start.textContent = { going: "Pause", paused: "Go on", done: "Go on" }[state] ?? "Train";
    draw();
    const told = ways.find((one) => one.record) === way ? get("alt") : `A recorded training: ${finding(way.record)}`;
    tell(words || (way.record ? told : "Nothing is trained yet."));
  }

  /** The result in a sentence. */
  function finding(record = null) {
    const said = ({ label, points }) => {
      const [step, , valid] = points.at(-1) ?? [0, 0, NaN];
      const best = lowest(points);
      const before = best && best[0] < step && valid > best[2] + 0.01;
      return (
        `${runs.length > 1 ? `${label}: ` : ""}${fmt.num(valid)} nats on what is held out after ${steps(step)}` +
        `${before ? ` (lowest ${fmt.num(best[2])}, after ${fmt.count(best[0])})` : ""}`
      );
    };
    return `${(record?.runs ?? runs).map(said).join("; ")}; ${spent(record?.seconds ?? total())}.`;
  }

  /** Seconds of work on all networks, with their reports. */
  const total = () => runs.reduce((sum, { seconds }) => sum + seconds, 0);

  /** What the rate does, where it does not stay. */
  function course() {
    if (way.warmup === undefined) return "";
    const { end = way.steps, rate: next = null, more } = runs[0] ?? {};
    if (state === "done" && more)
      return (
        ` The rate has fallen to 0. Go on raises the budget to ${steps(more.end)}: the rate begins again at ` +
        `${fmt.num(more.rate, 4)} and falls to 0 there.`
      );
    return (
      ` The rate climbs to ${rate} in ${steps(way.warmup)}, then falls along half a cosine to 0 at step ` +
      `${fmt.count(end)}${next === null ? "" : `; now it is ${fmt.num(next, 4)}`}.`
    );
  }

  /** How fast it goes here, and how long it will take. */
  function speed() {
    const step = runs[0]?.points.at(-1)?.[0];
    if (!step) return "";
    const all = (total() / step) * way.steps;
    const record = way.record ? way.record.seconds * runs.length : null;
    const slow =
      record && all > SLOW * record && state === "going" && step < way.steps
        ? ` This device takes ${fmt.num(all / record, 1)} times as long as the one of the record: about ` +
          `${spent(all)} for the whole training.`
        : "";
    const of = ` of ${fmt.count(runs[0].end ?? way.steps)}`;
    return (
      `${steps(step)}${of}${runs.length > 1 ? " each" : ""}, ${spent(total())}, ` +
      `${fmt.count((runs.length * step * way.batch) / total())} ${way.unit} per second.${slow}` +
      (worker?.parts > 1
        ? ` ${worker.parts} workers read ${fmt.count(way.batch / worker.parts)} each; at every step their gradients ` +
          "are sent and averaged."
        : "") +
      notes.map((note) => ` Of the text, ${note}.`).join("") +
      course()
    );
  }

  function draw() {
    const { record } = way;
    const live = runs.some((run) => run.points.length);
    own.hidden = way.text !== "own";
    own.firstChild.textContent = way.asks ?? "";
    which.set(ways.indexOf(way));
    disable(again, state === "before");
    pace.set(rate);
    crew.node.hidden = !shared() || crews.length < 2;
    weights.hidden = way.runs[0].about.network.class !== "GPT";
    disable(save, !worker || !runs[0]?.points.length);
    const shown = live ? runs : (record?.runs ?? []);
    const recorded = () => [
      `Dotted: a recorded training by the same code, ${spent(record.seconds)} on one core` +
        `${way.runs.length > 1 ? " for each network" : ""}.${course()} `,
      h("span", { class: "lm-hand" }, "Press Train to do it here."),
    ];
    const learned = opened ? `From ${opened.name}. ` : "";
    replace(
      now,
      live
        ? speed()
        : state === "going"
          ? "Starting …"
          : opened
            ? learned
            : record
              ? recorded()
              : `Nothing leaves this page.${course()}`,
    );
    picture.draw({
      runs: live ? runs.map((run) => run.points) : [],
      before: record ? record.runs.map((run) => run.points) : [],
      marks: [...(way.marks ?? []), ...(flag !== null && way === ways[0] ? [[flag, "your bet"]] : [])],
      covered: question?.open && way === ways[0] && !live,
      labels: way.runs.length > 1 ? way.runs.map(({ label }) => label) : ["held out"],
      end: runs[0]?.end ?? way.steps,
      tones: way.runs.map((run) => run.tone),
    });
    replace(key, [
      h("span", {}, "thin: in training"),
      record ? h("span", { class: "lmt-key-before" }, "recorded, with seed 0") : null,
    ]);
    if (found.length !== shown.length) {
      found = shown.map(() => result());
      replace(results, [found.map((one) => one.node)]);
    }
    shown.forEach((run, i) =>
      found[i].draw(
        { ...run, label: live ? run.label : `${run.label}, recorded` },
        { unit: way.counted ?? "", tone: way.runs[i].tone, headed: true },
      ),
    );
    const rows = shown[0]?.points ?? [];
    numbers.node.hidden = !rows.length;
    const cell = (v) => (Number.isFinite(v) ? fmt.num(v, 3) : "");
    numbers.draw(
      rows.map(([step], k) => [
        fmt.count(step),
        ...shown.flatMap((run) => (run.points[k] ? run.points[k].slice(1).map(cell) : ["", ""])),
      ]),
      ["step", ...shown.flatMap(({ label }) => [`${label}: in training`, "held out"])],
    );
  }

  const hidden = () => {
    if (document.hidden && state === "going") pause(", because the page went out of sight");
  };
  document.addEventListener("visibilitychange", hidden);
  const narrow = onwidth(picture.node, (width) => picture.resize(width));
  change("before", "");
  foundKept(place).then((kept) => {
    const one = ways[kept?.name];
    if (state !== "before" || !one || kept.lesson !== JSON.stringify(one.runs)) return;
    ({ rate, seed, text, runs, from } = kept);
    way = one;
    number.set(String(seed));
    if (way.text === "own") area.value = text;
    change("paused", `A training of yours was kept in this browser, ${steps(from.step)} long. Go on, or reset it.`);
  });
  return () => {
    document.removeEventListener("visibilitychange", hidden);
    narrow();
    worker?.stop();
  };
}, style);
