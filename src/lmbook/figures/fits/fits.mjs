// DoesItFit: memory and time of a step of writing, for a model, its bits, and a batch of texts on one GPU.
//
//   weights = bits/8 N      cache = 2 L width 2 T B      share = 1 - (1 - k/E)^B
//   (where every second layer looks back a short way, half the layers cache no more than that)
//   reading = (bits/8 (N outside + share N inside experts) + cache) / bandwidth
//   computing = 2 N used B / operations
//
// Everything is computed here, from the sizes of the model; a step takes at least the longer of the two times.
import { answered, chips, figure, fmt, h, plot, replace, s, select, table } from "../kit/core.mjs";

const BITS = [32, 16, 8, 4];
const TEXTS = 10;
const TOKENS = [5, 15];

const style = `
.lmfi svg text { font-size: 12px; }
.lmfi-key { display: inline-block; width: 0.8rem; height: 0.8rem; margin: 0 0.3rem 0 0.6rem; vertical-align: -0.1rem; }
.lmfi-key.lmfi-weights { background: var(--lm-1); }
.lmfi-key.lmfi-cache { background: var(--lm-3); }
.lmfi-bet { fill: none; stroke: var(--lm-text); stroke-width: 1.6; stroke-dasharray: 4 3; }
.lmfi-here { fill: none; stroke: var(--lm-text); stroke-width: 2; }
.lmfi .lmfi-said { font-weight: 600; paint-order: stroke; stroke: var(--lm-paper); stroke-width: 4px; }
.lmfi-room { fill: var(--lm-soft); }
.lmfi-weights { fill: var(--lm-1); }
.lmfi-cache { fill: var(--lm-3); }
.lmfi-over { fill: var(--lm-paper); fill-opacity: 0.72; }
.lmfi-line { fill: none; stroke: var(--lm-text); stroke-width: 2; }
.lmfi-broken { fill: none; stroke: var(--lm-paper); stroke-width: 4; }
.lmfi .lmfi-curve { fill: none; stroke-width: 2.5; stroke-linejoin: round; }
.lmfi-curve.lmfi-weights { stroke: var(--lm-1); }
.lmfi-curve.lmfi-cache { stroke: var(--lm-3); }
.lmfi-curve.lmfi-computing { stroke: var(--lm-text); stroke-dasharray: 5 4; }
`;

/** The numbers of one state; the same as DoesItFit.numbers() in Python. */
export function numbers(m, bits, texts, tokens, bandwidth, operations) {
  const B = 2 ** texts;
  const T = Math.min(2 ** tokens, m.window);
  const share = 1 - (1 - m.top_k / m.experts) ** B;
  const kept = m.short ? (T + Math.min(T, m.short)) / 2 : T;
  const cache = 2 * m.n_layers * m.width * 2 * kept * B;
  const outside = m.parameters - m.in_experts;
  const reading = ((bits / 8) * (outside + share * m.in_experts) + cache) / (bandwidth * 1e9);
  const computing = (2 * (outside + (m.in_experts * m.top_k) / m.experts) * B) / (operations * 1e12);
  const ofCache = cache / (bandwidth * 1e9); // seconds of the reading
  const weights = (bits / 8) * m.parameters;
  return { T, share, cache, ofCache, reading, computing, weights, speed: B / Math.max(reading, computing) };
}

export default figure(({ el, knob, pick, its, put, follow, say, wager }) => {
  const { models, gpus } = its;
  const named = (/** @type {any[]} */ all) => all.map(({ name }, i) => [i, name]);
  const which = pick("model", "Model", named(models), select);
  const on = pick("gpu", "GPU", named(gpus), select);
  const bits = pick("bits", "Bits per weight", BITS);
  const texts = knob("texts", "Texts at once", [0, TEXTS], (v) => fmt.count(2 ** v));
  const tokens = knob("tokens", "Tokens in each", TOKENS, (v) => fmt.count(Math.min(2 ** v, models[its.model].window)));
  const memoryHead = h.small();
  const timeHead = h.small("Time of a step, for 1 to 1,024 texts at once");
  const memory = s("svg", { role: "img", height: 52 });
  const { node: drawings, svg: time, redraw } = plot("lm-chart lmfi", drawTime);
  time.role = "img";
  time.before(memoryHead, memory, timeHead);
  const states = {
    "one text": { texts: 0 },
    "many short": { texts: 8, tokens: TOKENS[0] },
    "many long": { texts: 8, tokens: 12 },
  };
  const presets = chips({ label: "", options: Object.keys(states), onchoose: (name) => put(states[name]) });
  const shown = table({ caption: "This model and batch", head: ["what", "number"] });
  function batch(/** @type {number} */ k) {
    const { bandwidth, operations } = gpus[its.gpu];
    return numbers(models[its.model], its.bits, k, its.tokens, bandwidth, operations);
  }
  /** From how many texts on the cache is more than half of what is read; 0: from none that is drawn. */
  const crossing = () =>
    Array.from({ length: 2 ** TEXTS }, (_, i) => i + 1).find((B) => {
      const { ofCache, reading } = batch(Math.log2(B));
      return ofCache > reading / 2;
    }) ?? 0;
  const half = crossing();
  const setting = () => JSON.stringify([its.model, its.gpu, its.bits, its.tokens]);
  const asked = setting();
  const question = wager({
    name: "fits-half",
    of: "model gpu bits tokens",
    asks: "From how many texts at once does the cache take more of the reading than the weights?",
    pin: { label: "Texts", min: 0, max: TEXTS, value: 2, text: (v) => fmt.count(2 ** v) },
    hides: [say.node],
    told: (bet) => {
      const off = half / 2 ** bet;
      const miss = `, ${fmt.num(Math.max(off, 1 / off), 1)} times too ${off > 1 ? "few" : "many"}`;
      return (
        `Here the cache takes more ${half ? `from ${fmt.some(half, "text")} on` : "for none that is drawn"}` +
        answered(2 ** bet, half, `; you said ${fmt.count(2 ** bet)}${half ? miss : ""}.`)
      );
    },
    settled: draw,
  });
  el.append(
    question.node,
    h("div", { class: "lm-split", style: "--lm-side: 18.5rem" }, [
      h.stack(which.node, on.node, bits.node, texts.node, tokens.node, presets.node, say.node),
      drawings,
    ]),
    shown.node,
  );

  const gb = (bytes) => (bytes < 5e6 ? `${fmt.num(bytes / 1e6, 2)} MB` : `${fmt.num(bytes / 1e9, 2)} GB`);
  const ms = (seconds) => (seconds < 1e-4 ? `${fmt.num(1e6 * seconds, 1)} µs` : `${fmt.num(1000 * seconds, 2)} ms`);

  /** One bar, weights and then cache, to a quarter more than the card has; what is over is broken. */
  function drawMemory(wide, now, room) {
    const x = (/** @type {number} */ bytes) => Math.min(wide - 1, (wide * bytes) / (1.25e9 * room));
    const ends = [0, now.weights, now.weights + now.cache].map(x);
    const over = now.weights + now.cache > 1.25e9 * room;
    s.sized(memory, wide, 52, `${gb(now.weights)} of weights and ${gb(now.cache)} of cache, of ${room} GB`);
    replace(memory, [
      s("rect", { class: "lmfi-room", x: 0, y: 4, width: wide, height: 26 }),
      ["weights", "cache"].map((name, k) =>
        s("rect", { class: `lmfi-${name}`, x: ends[k], y: 6, width: ends[k + 1] - ends[k], height: 22 }),
      ),
      over && s.rule(`M${wide - 22} 2l-6 9 8 9-6 12M${wide - 14} 2l-6 9 8 9-6 12`, "lmfi-broken"),
      s.rule(`M${x(1e9 * room)} 0V34`, "lmfi-line"),
      s.text(x(1e9 * room), 48, `${fmt.num(room, 0)} GB`),
    ]);
  }

  /** Where the cache's curve has come above that of the weights, and where the reader said that it does. */
  function marks(x, y, wide) {
    const from = crossing();
    const k = Math.log2(from);
    const covered = question.open ? " lm-covered" : "";
    const bet = setting() === asked ? question.answer : null;
    const flag = (/** @type {number} */ at, /** @type {number} */ down, /** @type {string} */ words, right = true) =>
      s.text(at + (right ? 6 : -6), down, words, right ? "start" : "end", { class: "lmfi-said" });
    return [
      bet !== null && s.rule(`M${x(bet)} 18V170`, "lmfi-bet"),
      bet !== null && flag(x(bet), 28, `you: ${fmt.count(2 ** bet)}`, x(bet) < 110),
      from && s("circle", { class: `lmfi-here${covered}`, cx: x(k), cy: y(batch(k).ofCache), r: 5 }),
      from && !question.open && flag(x(k), y(batch(k).ofCache) + 22, `from ${fmt.count(from)}`, x(k) < wide - 130),
    ];
  }

  /** The times over all batches, on logarithmic scales; what does not fit is faint. */
  function drawTime(wide) {
    drawMemory(wide, batch(its.texts), gpus[its.gpu].memory);
    const left = 58;
    const right = 76; // room for the names of the curves
    const top = 18;
    const bottom = 170;
    const states = Array.from({ length: TEXTS + 1 }, (_, k) => batch(k));
    const most = Math.max(...states.map((now) => Math.max(now.reading, now.computing)));
    const parts = (now) => [now.reading - now.ofCache, now.ofCache, now.computing];
    const least = 0.7 * Math.min(...states.flatMap(parts));
    const x = (/** @type {number} */ k) => left + ((wide - left - right) * k) / TEXTS;
    const y = (/** @type {number} */ v) =>
      bottom - ((bottom - top) * Math.log(v / least)) / Math.log((1.2 * most) / least);
    const full = states.findIndex((now) => (now.weights + now.cache) / 1e9 > gpus[its.gpu].memory);
    const powers = Array.from({ length: 14 }, (_, k) => 10 ** (k - 8)).filter((v) => v > least && v < 1.2 * most);
    const names = ["weights", "cache", "computing"];
    const taken = []; // names keep a line of their own
    s.sized(time, wide, 204, "Time of reading and of computing against the number of texts");
    replace(time, [
      s.levels(powers, y, left, wide - right, (v) =>
        v < 1e-4 ? `${fmt.num(1e6 * v, 0)} µs` : `${Number((1000 * v).toPrecision(1))} ms`,
      ),
      names.map((name, k) => {
        const places = states.map((now, i) => [x(i), y(parts(now)[k])]);
        return [
          s.rule(s.through(places), `lmfi-curve lmfi-${name}${name === "cache" && question.open ? " lm-covered" : ""}`),
          s.text(wide - right + 5, s.free(taken, places.at(-1)[1] + 4, 14), name, "start"),
        ];
      }),
      full >= 0 &&
        s("rect", { class: "lmfi-over", x: x(full), y: top, width: wide - right - x(full), height: bottom - top }),
      s.rule(`M${x(its.texts)} ${top}V${bottom}`, "lmfi-line"),
      full >= 0 && s.text(Math.min(x(full), wide - right - 64), 12, "does not fit", "start"),
      marks(x, y, wide),
      [0, 2, 4, 6, 8, 10].map((k) => s.text(x(k), bottom + 16, fmt.count(2 ** k))),
      s.text((left + wide - right) / 2, bottom + 32, "texts at once"),
    ]);
  }

  function draw() {
    const m = models[its.model];
    const now = batch(its.texts);
    const over = (now.weights + now.cache) / 1e9 > gpus[its.gpu].memory;
    const part = (/** @type {string} */ name, /** @type {number} */ bytes) => [
      h("span", { class: `lmfi-key lmfi-${name}` }),
      `${name} ${gb(bytes)}`,
    ];
    replace(memoryHead, ["Memory: ", part("weights", now.weights), part("cache", now.cache)]);
    tokens.set(its.tokens);
    const fits = (now) => Object.entries(now).every(([name, value]) => its[name] === value);
    presets.set(Object.keys(states).find((name) => fits(states[name])));
    redraw();
    shown.draw([
      ["parameters", fmt.count(m.parameters)],
      ["tokens in each text", fmt.count(now.T)],
      ["used for a token", fmt.count(m.parameters - m.in_experts * (1 - m.top_k / m.experts))],
      ["share of experts read", m.experts > 1 ? fmt.percent(now.share) : "no experts"],
      ["reading", ms(now.reading)],
      ["computing", ms(now.computing)],
      ["tokens per second, at most", over ? "it does not fit" : fmt.count(now.speed)],
    ]);
    const slower = now.reading >= now.computing ? "Reading" : "Computing";
    say(
      over
        ? `It does not fit: ${gb(now.weights)} of weights, ${gb(now.cache)} of cache.`
        : `It fits. ${slower} takes longer: at most ${fmt.count(now.speed)} tokens per second.`,
    );
  }

  follow("model gpu bits texts tokens", draw);
}, style);
