// Trainer: small networks of the book are trained here, in the page, on autograd.mjs, in one worker (training.mjs).
//
// What is seen before is a recorded training by the same code. It stays behind the live curves, to compare. A training
// that a reload ends is kept in the browser (kept.mjs) and can go on. The weights of a GPT can be saved and opened.
import { button, choice, disable, field, figure, fmt, h, replace, select, table } from "../kit/core.mjs";
import { compared, stakeOn } from "./bets.mjs";
import { chart } from "./curves.mjs";
import { style } from "./dress.mjs";
import { found as foundKept } from "./kept.mjs";
import { session } from "./session.mjs";
import { course, key, spent, speed } from "./spoken.mjs";
import { answers, result } from "./writings.mjs";

export default figure(({ el, its, ends, say, wager }) => {
  const { ways, rates, rate: usual, name, bet, texts } = its.lesson;
  let way = ways.find((one) => one.record) ?? ways[0];
  // an address may ask for any number
  const first = rates.includes(its.rate) ? its.rate : usual;
  let rate = first;
  let seed = Number.isSafeInteger(its.seed) && its.seed >= 0 ? its.seed : 0;
  let parts = 1; // workers that share each batch
  const it = session({
    place: `${location.pathname} ${its.title}`,
    chosen: () => ({
      ...{ way, name: ways.indexOf(way), rate, seed, parts: shared() ? parts : 1 },
      text: way.text === "own" ? area.value : (texts[way.text] ?? ""),
    }),
    draw: () => draw(),
    say: (words, how) => say(words + (it.state === "done" && way === ways[0] ? compared(bet, it.runs) : ""), how),
    give,
    refused(why) {
      if (own.hidden || !/^the text|^there are/.test(why)) return;
      area.setAttribute("aria-invalid", "true");
      area.focus();
    },
  });
  const renew = () => it.state === "before" || it.reset();
  const typed = () => {
    area.removeAttribute("aria-invalid");
    renew();
  };

  const start = button("Train", train, { main: true });
  const again = button("Reset", () => it.reset());
  const pace = select({
    label: "Rate",
    value: rate,
    options: rates,
    onchange: (value) => {
      rate = value;
      it.tell({ rate });
    },
  });
  const crews = [1, 2, 4].filter((n) => n <= (navigator.hardwareConcurrency || 1));
  const crew = select({
    label: "Workers",
    value: parts,
    options: crews,
    onchange: (value) => {
      parts = value;
      renew();
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
      if (!fits) return say(`A seed is a whole number; ${seed} is used.`);
      if (value !== seed) {
        seed = value;
        it.reset();
      }
      return undefined;
    },
  });
  number.input.inputMode = "numeric";
  const which = (ways.length > 2 ? select : choice)({
    label: "Data",
    value: ways.indexOf(way),
    options: ways.map((one, i) => [i, one.label]),
    onchange: (i) => {
      way = ways[i];
      rate = way.rate ?? first;
      it.reset();
    },
  });
  const area = h("textarea", { id: `${number.input.id}-text`, spellcheck: "false", oninput: typed });
  const save = button("Download the weights", () => it.tell({ pack: true }));
  const file = h("input", { type: "file", multiple: true, hidden: true, accept: ".safetensors,.json" });
  file.addEventListener("change", () => open([...file.files]));
  const load = button("Open weights", () => file.click());
  const opens = h.small("lmbook.lab.checkpoints.load opens them");
  const weights = h.row(save, load, opens, file);
  /** Whether several workers may share a batch: its windows are drawn one by one, and none goes on from another. */
  const shared = () => way.runs.every(({ about }) => about.kind === "text" && about.network.class === "GPT");
  const own = h("div", { class: "lmt-own" }, h("label", { class: "lm-small lm-muted", for: area.id }, ""), area);
  const now = h("p", { class: "lm-small lm-muted lmt-now" });
  const right = answers();
  const results = h("div", { class: "lm-stack" });
  let found = [];
  const caption = "Nats per prediction: the mean over the batches since the row above, and on what is held out";
  const numbers = table({ caption });
  let pin = bet?.pin.value ?? null; // where that of the bet stands
  const move = (/** @type {number | null} */ v) => {
    pin = v;
    draw();
  };
  const question = wager(bet && stakeOn(name, bet, [say.node, numbers.node], move, move));
  if (!question.open) pin = question.answer;
  const picture = chart((step, nats) => {
    if (question.open && bet.on !== "share") question.set(bet.on === "step" ? step : nats);
  }, name === "gpt");
  question.node.dataset.of = ways[0].label;
  el.append(
    question.node,
    own,
    h("div", { class: "lm-row lmt-seed" }, [
      h.row(start, again),
      h.row(pace.node, number.node),
      ways.length > 1 ? which.node : null,
      crew.node, // last: it comes and goes with the data
    ]),
    h("div", { class: "lmt-sides" }, [
      h.onstage("Curve", h.stack(picture.node, h.onstage("", say.node), now, h.onstage("", weights))),
      h.onstage("Results", results),
    ]),
    h.onstage("", numbers.node),
  );

  function train() {
    if (number.get() !== String(seed)) {
      number.set(String(seed)); // what is in the line is what is trained with
      number.input.removeAttribute("aria-invalid");
    }
    return it.state === "going" ? it.pause() : it.go();
  }

  /** A .safetensors file, with the card in it or in a .json beside it. */
  async function open(files) {
    const [data, beside] = [".safetensors", ".json"].map((end) => files.find(({ name }) => name.endsWith(end)));
    file.value = "";
    if (!data) return say("Weights are in a .safetensors file; the .json beside it may come too.");
    try {
      const card = beside ? JSON.parse(await beside.text()) : null;
      it.reset();
      it.opened = { file: new Uint8Array(await data.arrayBuffer()), card, name: data.name };
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

  /** How it goes, or what can be begun. */
  function state(live) {
    if (live) return speed(way, it) + course(way, rate, it) + key(way);
    if (it.state === "going") return "Starting …";
    if (it.opened) return `From ${it.opened.name}.`;
    if (!way.record) return `Nothing leaves this page.${course(way, rate, it)}`;
    const each = way.runs.length > 1 ? " for each network" : "";
    return [
      `Recorded with seed 0, by the same code, in ${spent(way.record.seconds)} on one core${each}.` +
        `${way.record.seeds ? " Pale: four other seeds." : ""}${course(way, rate, it)} `,
      h("span", { class: "lm-hand" }, "Press Train to do it here."),
    ];
  }

  function draw() {
    const { record } = way;
    const { runs } = it;
    const several = way.runs.length > 1;
    const tones = way.runs.map(({ tone }) => tone);
    const live = runs.some((run) => run.points.length);
    const asked = way === ways[0] ? bet : null;
    const covered = question.open && asked && !live;
    const wide = el.offsetWidth > 640; // there the line of a bet on other data keeps its place
    question.node.hidden = !asked && !(bet && wide && way.text !== "own");
    question.node.classList.toggle("lmt-away", !asked);
    start.textContent = { going: "Pause", paused: "Go on", done: "Go on" }[it.state] ?? "Train";
    own.hidden = way.text !== "own";
    own.firstChild.textContent = way.asks ?? "";
    which.set(ways.indexOf(way));
    disable(again, it.state === "before");
    pace.set(rate);
    crew.node.hidden = !shared() || crews.length < 2;
    weights.hidden = way.runs[0].about.network.class !== "GPT";
    disable(save, !it.writes);
    const shown = live ? runs : (record?.runs ?? []);
    replace(now, state(live));
    now.dataset.course = String(way.warmup !== undefined);
    picture.draw({
      live: live ? runs.map((run) => run.points) : [],
      before: record ? record.runs.map((run) => run.points) : [],
      seeds: record?.seeds ?? [],
      names: way.runs.map(({ label }) => label),
      tones,
      marks: way.marks,
      steps: way.steps,
      bet: asked,
      pin,
      covered,
      behind: asked && name === "gpt",
    });
    if (found.length !== shown.length) {
      found = shown.map(() => result());
      replace(results, [found.map((one) => one.node), right.node]);
    }
    shown.forEach((run, i) => {
      const label = several ? run.label : "What it writes";
      found[i].draw({ ...run, label }, several ? tones[i] : "", shown[i - 1]?.samples);
    });
    const { longest, symbols } = way.runs[0].about;
    const others = record?.rights ?? [];
    const stake = asked?.on === "share" ? { row: asked.row, pin, covered } : null;
    right.draw(shown, { unit: way.counted ?? "", tones, longest, guess: symbols && 1 / symbols, others, stake });
    const rows = shown[0]?.points ?? [];
    numbers.node.hidden = !rows.length;
    const cell = (v) => (Number.isFinite(v) ? fmt.num(v, 3) : "");
    const cells = (k) => shown.flatMap(({ points }) => [cell(points[k]?.[1]), cell(points[k]?.[2])]);
    const heads = shown.flatMap(({ label }) => [`${label}: in training`, "held out"]);
    const lines = rows.map(([step], k) => [fmt.count(step), ...cells(k)]);
    numbers.draw(lines, ["step", ...heads]);
  }

  const hidden = () => {
    if (document.hidden && it.state === "going") it.pause(", because the page went out of sight");
  };
  document.addEventListener("visibilitychange", hidden);
  it.begin();
  foundKept(it.place).then((kept) => {
    const one = ways[kept?.name];
    if (it.state !== "before" || !one || kept.lesson !== JSON.stringify(one.runs)) return;
    ({ rate, seed } = kept);
    way = one;
    number.set(String(seed));
    if (way.text === "own") area.value = kept.text;
    it.take(kept);
  });
  ends(() => {
    document.removeEventListener("visibilitychange", hidden);
    it.stop();
  });
}, style);
