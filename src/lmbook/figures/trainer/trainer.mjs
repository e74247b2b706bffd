// Trainer: small networks of the book are trained here, in the page, on autograd.mjs, in a worker for each
// (training.mjs).
//
// What is seen before is a recorded training by the same code. It stays behind the live curves, to compare.
import { bars, button, choice, field, figure, fmt, h, onwidth, replace, s, select, table } from "../kit/core.mjs";
import { coach } from "./coach.mjs";
import { text as names } from "./names.mjs";
import { text as stories } from "./stories.mjs";

const HIGH = 250;
const LEFT = 40;
const RIGHT = 12;
const LOW = 36; // px of the chart and of its margins
const EARLY = 0.06; // share of the steps in which a curve may be above the chart
const TEXTS = { names, stories };
const SLOW = 60;
const QUIET = 10_000; // seconds to the end, above which a device is called slow; ms between two sentences

const style = `
.lmt-task { font-size: 1.0625rem; }
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
.lmt-live { stroke-width: 2.5; }
.lmt-train { stroke-width: 1; stroke-opacity: 0.55; }
.lmt-before { stroke-width: 1.5; stroke-dasharray: 2 4; }
.lmt-mark { stroke: var(--lm-edge); stroke-dasharray: 6 4; }
.lmt-key { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; font-size: 0.8125rem; color: var(--lm-muted); }
.lmt-key span::before { content: ""; display: inline-block; width: 1.4em; margin-right: 0.4em; vertical-align: middle;
  border-top: 2.5px solid var(--lm-tone); }
.lmt-key .lmt-key-train::before { border-top-width: 1px; }
.lmt-key .lmt-key-before::before { border-top: 2px dotted var(--lm-edge); }
.lmt-head { font-weight: 600; }
.lmt-names { display: flex; flex-wrap: wrap; gap: 0.15rem 0.9rem; margin: 0; padding: 0; list-style: none;
  font-size: 1.0625rem; }
.lm-figure .lmt-names li { margin: 0; }
.lmt-known { color: var(--lm-muted); text-decoration: underline dotted; }
.lmt-text { max-height: 11rem; padding: 0.5rem 0.7rem; overflow-y: auto; border-radius: 6px;
  background: var(--lm-soft); white-space: pre-wrap; overflow-wrap: anywhere;
  font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875rem; line-height: 1.45; }
.lmt-letters { font-family: ui-monospace, Menlo, Consolas, monospace; letter-spacing: 0.12em; }
.lmt-letters mark { text-decoration: underline wavy var(--lm-2); text-underline-offset: 0.2em; }
.lmt-result { display: flex; flex-direction: column; gap: 0.35rem; }
`;

const steps = (n) => `${fmt.count(n)} steps`;
const spent = (seconds) =>
  seconds < 90 ? `${fmt.num(seconds, seconds < 10 ? 1 : 0)} s` : `${fmt.num(seconds / 60, 1)} min`;

/** The curves: for each run its points, and those of the recorded run. marks: [[height, words]]; tones: of the runs. */
function chart() {
  const node = h("div", { class: "lmt-chart" });
  let wide = 320;
  let given = null;
  const draw = () => {
    if (!given) return;
    const { runs, before, marks, end, tones } = given;
    const all = [...runs, ...before].flat();
    const last = Math.max(end, ...all.map(([step]) => step));
    // the fall from the start would flatten what comes after it
    const settled = all.filter(([step]) => step >= EARLY * last);
    const heights = [
      ...(settled.length ? settled : all).flatMap(([, train, valid]) => [train, valid]),
      ...marks.map(([height]) => height),
    ].filter(Number.isFinite);
    const top = 1.05 * Math.max(...heights, 0.1);
    const low = Math.min(...heights) > 0.5 * top ? Math.floor(Math.min(...heights) * 10) / 10 : 0;
    const x = (step) => LEFT + ((wide - LEFT - RIGHT) * step) / last;
    const y = (v) => 8 + (HIGH - LOW - 8) * (1 - (v - low) / (top - low));
    const first = Math.max(...[...runs, ...before].map((points) => Math.max(points[0]?.[1] ?? 0, points[0]?.[2] ?? 0)));
    const ended = ([points]) => points?.at(-1)?.[2] ?? 0;
    const line = (points, which) =>
      points
        .filter((point) => Number.isFinite(point[which]))
        .map((point, i) => `${i ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[which]).toFixed(1)}`)
        .join("");
    const size = 10 ** Math.floor(Math.log10(last / 2));
    const every = [1, 2, 5, 10].map((k) => k * size).find((step) => last / step <= 5);
    const gap = [0.1, 0.2, 0.5, 1, 2].find((step) => (top - low) / step <= 5) ?? 5;
    const across = [];
    const up = [];
    for (let step = 0; step <= last; step += every) across.push(step);
    for (let v = Math.ceil(low / gap) * gap; v <= top + 1e-9; v += gap) up.push(v);
    replace(node, [
      s("svg", { width: wide, height: HIGH, viewBox: `0 0 ${wide} ${HIGH}`, "aria-hidden": "true" }, [
        up.map((v) => [
          s("line", { class: "lm-grid", x1: LEFT, x2: wide - RIGHT, y1: y(v), y2: y(v) }),
          s("text", { class: "lm-tick", x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, fmt.num(v, gap < 1 ? 1 : 0)),
        ]),
        across.map((step) =>
          s("text", { class: "lm-tick", x: x(step), y: HIGH - LOW + 16, "text-anchor": "middle" }, fmt.count(step)),
        ),
        s("text", { class: "lm-tick", x: wide - RIGHT, y: HIGH - 2, "text-anchor": "end" }, "steps"),
        s(
          "text",
          { class: "lm-tick", x: 0, y: HIGH - 2 },
          `loss, nats per prediction${first > top ? `; ${fmt.num(first, 1)} at first` : ""}`,
        ),
        marks.map(([height, words]) => [
          s("line", { class: "lmt-mark", x1: LEFT, x2: wide - RIGHT, y1: y(height), y2: y(height) }),
          s(
            "text",
            {
              class: "lm-tick",
              x: wide - RIGHT,
              y: y(height) + (ended(before) > height ? 14 : -4),
              "text-anchor": "end",
            },
            [words],
          ),
        ]),
        s(
          "svg",
          { class: "lmt-inside", y: 6, width: wide, height: HIGH - LOW - 4, viewBox: `0 6 ${wide} ${HIGH - LOW - 4}` },
          [
            before.map((points, i) => s("path", { class: "lmt-before", "data-tone": tones[i], d: line(points, 2) })),
            runs.map((points, i) => [
              s("path", { class: "lmt-train", "data-tone": tones[i], d: line(points, 1) }),
              s("path", { class: "lmt-live", "data-tone": tones[i], d: line(points, 2) }),
            ]),
          ],
        ),
      ]),
    ]);
  };
  return {
    node,
    draw: (next) => {
      given = next;
      draw();
    },
    resize: (width) => {
      wide = Math.max(240, width);
      draw();
    },
  };
}

/** What a network can do by now: names, a text, symbols backwards, or right answers by length. */
function result() {
  const head = h("p", { class: "lmt-head" });
  const words = h("div", {});
  const shares = bars({ label: "Right by length" });
  const note = h("p", { class: "lm-small lm-muted" }, "Underlined: a name of the data.");
  const wrong = (text, wanted) => [...text].map((char, i) => (char === wanted[i] ? char : h("mark", {}, char)));
  return {
    node: h("div", { class: "lmt-result" }, head, words, note, shares.node),
    draw({ label, samples = [], right = [] }, { unit, tone, headed }) {
      head.textContent = label;
      head.hidden = !headed;
      replace(words, [
        samples[0]?.source
          ? samples.map(({ source, wanted, text }) =>
              h("p", { class: "lm-small" }, [
                "reads ",
                h("span", { class: "lmt-letters" }, source),
                h("br", {}),
                "writes ",
                h("span", { class: "lmt-letters", "aria-label": text }, wrong(text, wanted)),
                text === wanted ? ", right" : "",
              ]),
            )
          : samples.length > 1 || samples[0]?.known !== undefined
            ? h("ul", { class: "lmt-names" }, [
                samples.map(({ text, known }) => h("li", { class: known ? "lmt-known" : null }, text)),
              ])
            : samples.map(({ text }) =>
                h(
                  "div",
                  { class: "lmt-text", tabindex: "0", role: "region", "aria-label": "what the network writes" },
                  [text],
                ),
              ),
      ]);
      note.hidden = !samples.some(({ known }) => known);
      shares.node.hidden = !right.length;
      shares.draw(
        right.map(([length, share]) => ({ label: `${unit} ${length}`, value: share, text: fmt.percent(share), tone })),
        { max: 1 },
      );
    },
  };
}

export default figure(({ el, get, say }) => {
  const { task, ways, rates } = get("lesson");
  let way = ways.find((one) => one.record) ?? ways[0];
  let rate = get("rate");
  let seed = get("seed");
  let coaches = [];
  let runs = [];
  let state = "before";
  let spoke = 0; // state: before, going, paused, done, failed

  const start = button("Train", () => (state === "going" ? pause() : go()), { class: "lm-button lm-main" });
  const again = button("Reset", () => reset());
  const pace = select({
    label: "Rate",
    value: rate,
    options: rates.map((value) => [value, String(value)]),
    onchange: (value) => {
      rate = value;
      for (const one of coaches) one.tell({ rate });
    },
  });
  const number = field({
    label: "Seed",
    value: String(seed),
    maxlength: 6,
    oninput: (text) => {
      const value = Number(text);
      if (!Number.isInteger(value) || value < 0) return say("A seed is a whole number, 0 or more.");
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
  el.append(
    h("p", { class: "lmt-task" }, task),
    ways.length > 1 ? which.node : "",
    own,
    h("div", { class: "lm-row lmt-seed" }, start, again, pace.node, number.node),
    now,
    h("div", { class: "lmt-sides" }, h("div", { class: "lm-stack" }, picture.node, key), results),
    say.node,
    numbers.node,
  );

  function textOf() {
    return way.text === "own" ? area.value : (TEXTS[way.text] ?? "");
  }

  function go() {
    if (state === "failed") reset();
    if (!coaches.length) {
      runs = way.runs.map(({ label }) => ({ label, points: [], samples: [], right: [], seconds: 0, done: false }));
      coaches = way.runs.map((_, i) => coach((message) => heard(i, message)));
      coaches.forEach((one, i) =>
        one.tell({
          start: { about: way.runs[i].about, seed, text: textOf(), every: way.every, steps: way.steps, rate },
        }),
      );
    }
    for (const run of runs) run.done = false;
    for (const one of coaches) one.tell({ go: true });
    change(
      "going",
      coaches.some((one) => one.inPage)
        ? "This page allows no worker, so the training shares the page with you, which may feel slow."
        : "The training has begun.",
    );
  }

  function pause(why = "") {
    for (const one of coaches) one.tell({ go: false });
    change("paused", `Paused after ${steps(runs[0].points.at(-1)?.[0] ?? 0)}${why}.`);
  }

  function reset() {
    for (const one of coaches) one.stop();
    coaches = [];
    runs = [];
    change("before", "");
  }

  function heard(i, message) {
    const run = runs[i];
    if (!run || state === "failed") return;
    if (message.error) {
      for (const one of coaches) one.stop();
      coaches = [];
      change("failed", `The training stopped: ${message.error}.`);
    } else if (message.done) {
      run.done = true;
      if (runs.every((one) => one.done)) change("done", finding());
    } else {
      const { step, train, valid, seconds, samples = [], right = [] } = message;
      run.points.push([step, train ?? NaN, valid]);
      Object.assign(run, { seconds, samples, right });
      draw();
      if (step && state === "going" && performance.now() - spoke > QUIET) tell(finding());
    }
  }

  function tell(words) {
    spoke = performance.now();
    say(words);
  }

  function change(next, words) {
    state = next;
    start.textContent = { going: "Pause", paused: "Go on", done: "Go on" }[state] ?? "Train";
    draw();
    tell(words || get("alt"));
  }

  /** The result in a sentence. */
  function finding() {
    const said = ({ label, points, seconds }) => {
      const [step, , valid] = points.at(-1) ?? [0, 0, NaN];
      return (
        `${runs.length > 1 ? `${label}: ` : ""}${fmt.num(valid)} nats on what is held out after ${steps(step)}, ` +
        `${spent(seconds)}`
      );
    };
    return `${runs.map(said).join("; ")}.`;
  }

  /** How fast it goes here, and how long it will take. */
  function speed() {
    const [run] = [...runs].sort((a, b) => b.seconds / b.points.at(-1)?.[0] - a.seconds / a.points.at(-1)?.[0]);
    const step = run?.points.at(-1)?.[0];
    if (!step) return "";
    const all = (run.seconds / step) * way.steps;
    const slow =
      all > SLOW && state === "going"
        ? " This device is slower than the one of the measurement: the whole training will take about " +
          `${spent(all)}, and the curve is the same.`
        : "";
    return (
      `${steps(step)} of ${fmt.count(way.steps)}, ${fmt.count((step * way.batch) / run.seconds)} ${way.unit} per ` +
      `second.${slow}`
    );
  }

  function draw() {
    const { record } = way;
    const live = runs.some((run) => run.points.length);
    own.hidden = way.text !== "own";
    own.firstChild.textContent = way.asks ?? "";
    which.set(ways.indexOf(way));
    again.disabled = state === "before";
    const shown = live ? runs : (record?.runs ?? []);
    const recorded = () => [
      `Dotted: a recorded training by the same code, ${spent(record.seconds)} on one core` +
        (way.runs.length > 1 ? " for each network" : "") +
        ". ",
      h("span", { class: "lm-hand" }, "Press Train to do it here."),
    ];
    replace(now, live ? speed() : state === "going" ? "Starting …" : record ? recorded() : "Nothing leaves this page.");
    picture.draw({
      runs: live ? runs.map((run) => run.points) : [],
      before: record ? record.runs.map((run) => run.points) : [],
      marks: way.marks ?? [],
      end: way.steps,
      tones: way.runs.map((run) => run.tone),
    });
    replace(key, [
      way.runs.map(({ label, tone }) => h("span", { "data-tone": tone }, `${label}, held out`)),
      h("span", { class: "lmt-key-train", "data-tone": way.runs[0].tone }, "in training"),
      record ? h("span", { class: "lmt-key-before" }, "recorded") : null,
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
    const first = shown[0]?.points ?? [];
    numbers.node.hidden = !first.length;
    const cell = (v) => (Number.isFinite(v) ? fmt.num(v, 3) : "");
    numbers.draw(
      first.map(([step], k) => [
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
  return () => {
    document.removeEventListener("visibilitychange", hidden);
    narrow();
    for (const one of coaches) one.stop();
  };
}, style);
