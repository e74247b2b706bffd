// DoesItFit: memory and time of a step of writing, for a model, its bits, and a batch of texts on one GPU.
//
//   weights = bits/8 N      cache = 2 L width 2 T B      share = 1 - (1 - k/E)^B
//   (where every second layer looks back a short way, half the layers cache no more than that)
//   reading = (bits/8 (N outside + share N inside experts) + cache) / bandwidth
//   computing = 2 N used B / operations
//
// Everything is computed here, from the sizes of the model; a step takes at least the longer of the two times.
import { button, choice, figure, fmt, h, onwidth, replace, s, select, table } from "../kit/core.mjs";

const BITS = [32, 16, 8, 4];
const TEXTS = 10;
const TOKENS = [5, 15];

const style = `
.lm-figure .lmfi-both { --lm-side: 17rem; }
.lmfi svg text { font-size: 12px; }
.lmfi-room { fill: var(--lm-soft); }
.lmfi-weights { fill: var(--lm-1); }
.lmfi-cache { fill: var(--lm-3); }
.lmfi-over { fill: var(--lm-paper); fill-opacity: 0.72; }
.lmfi-line { fill: none; stroke: var(--lm-text); stroke-width: 2; }
.lmfi-broken { fill: none; stroke: var(--lm-paper); stroke-width: 4; }
.lmfi-second { margin-top: 0.7rem !important; }
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
  return {
    B,
    T,
    share,
    cache,
    ofCache: cache / (bandwidth * 1e9), // seconds of the reading
    reading,
    computing,
    weights: (bits / 8) * m.parameters,
    speed: B / Math.max(reading, computing),
  };
}

export default figure(({ el, knob, get, put, listen, say, wager }) => {
  const models = get("models");
  const gpus = get("gpus");
  const which = select({
    label: "Model",
    options: models.map((m, i) => [String(i), m.name]),
    value: String(get("model")),
    onchange: (v) => put({ model: Number(v) }),
  });
  const on = select({
    label: "GPU",
    options: gpus.map((g, i) => [String(i), g.name]),
    value: String(get("gpu")),
    onchange: (v) => put({ gpu: Number(v) }),
  });
  const bits = choice({
    label: "Bits per weight",
    options: BITS.map((v) => [v, String(v)]),
    value: get("bits"),
    onchange: (v) => put({ bits: Number(v) }),
  });
  const texts = knob("texts", "Texts at once", [0, TEXTS], (v) => fmt.count(2 ** v));
  const longest = () => models[get("model")].window;
  const tokens = knob("tokens", "Tokens in each", [TOKENS[0], TOKENS[1]], (v) =>
    fmt.count(Math.min(2 ** v, longest())),
  );
  const memoryHead = h("p", { class: "lm-small lm-muted" });
  const timeHead = h("p", { class: "lm-small lm-muted lmfi-second" }, "Time of a step, for 1 to 1,024 texts at once");
  const memory = s("svg", { role: "img", height: 52 });
  const time = s("svg", { role: "img", height: 204 });
  const times = h("div", {}, time);
  const drawings = h("div", { class: "lm-chart lmfi" }, memoryHead, memory, timeHead, times);
  const state = (label, now) => button(label, () => put(now));
  const presets = h("div", { class: "lm-row" }, [
    state("one text", { texts: 0 }),
    state("many short ones", { texts: 8, tokens: TOKENS[0] }),
    state("many long ones", { texts: 8, tokens: 12 }),
  ]);
  const shown = table({ caption: "This model and batch", head: ["what", "number"] });
  const speeds = () => [gpus[get("gpu")].bandwidth, gpus[get("gpu")].operations];
  const all = () =>
    Array.from({ length: TEXTS + 1 }, (_, k) =>
      numbers(models[get("model")], get("bits"), k, get("tokens"), ...speeds()),
    );
  const half = all().findIndex((now) => now.ofCache > now.reading / 2);
  const question = wager({
    name: "fits-half",
    asks: "From how many texts at once does the cache take more of the reading than the weights?",
    pin: { label: "Texts", min: 0, max: TEXTS, value: 2, text: (v) => fmt.count(2 ** v) },
    hides: [times, say.node],
    told: (bet) =>
      (half < 0 ? "Here from none that is drawn" : `Here from ${fmt.some(2 ** half, "text")}`) +
      (bet === null ? "." : bet === half ? ", as you said." : `; you said ${fmt.count(2 ** bet)}.`),
  });
  el.append(
    question.node,
    h("div", { class: "lm-split lmfi-both" }, [
      h("div", { class: "lm-stack" }, which.node, on.node, bits.node, texts.node, tokens.node, presets),
      drawings,
    ]),
    say.node,
    shown.node,
  );

  const gb = (bytes) => (bytes < 5e6 ? `${fmt.num(bytes / 1e6, 2)} MB` : `${fmt.num(bytes / 1e9, 2)} GB`);

  const ms = (seconds) => (seconds < 1e-4 ? `${fmt.num(1e6 * seconds, 1)} µs` : `${fmt.num(1000 * seconds, 2)} ms`);
  let wide = 0;
  const text = (x, y, words, side = "middle") => s("text", { x, y, "text-anchor": side }, words);
  const sized = (svg, tall, label) => {
    const given = { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, "aria-label": label };
    for (const [name, value] of Object.entries(given)) svg.setAttribute(name, String(value));
  };

  /** One bar, weights and then cache, to a quarter more than the card has; what is over is broken. */
  function drawMemory(now, room) {
    if (!wide) return;
    const x = (/** @type {number} */ bytes) => Math.min(wide - 1, (wide * bytes) / (1.25e9 * room));
    const ends = [0, now.weights, now.weights + now.cache].map(x);
    const over = now.weights + now.cache > 1.25e9 * room;
    sized(memory, 52, `${gb(now.weights)} of weights and ${gb(now.cache)} of cache, of ${room} GB`);
    replace(memory, [
      s("rect", { class: "lmfi-room", x: 0, y: 4, width: wide, height: 26 }),
      ["weights", "cache"].map((name, k) =>
        s("rect", { class: `lmfi-${name}`, x: ends[k], y: 6, width: ends[k + 1] - ends[k], height: 22 }),
      ),
      over
        ? s("path", { class: "lmfi-broken", d: `M${wide - 22} 2l-6 9 8 9-6 12M${wide - 14} 2l-6 9 8 9-6 12` })
        : null,
      s("path", { class: "lmfi-line", d: `M${x(1e9 * room)} 0V34` }),
      text(x(1e9 * room), 48, `${fmt.num(room, 0)} GB`),
      text(0, 48, `${gb(now.weights)} + ${gb(now.cache)}`, "start"),
    ]);
  }

  /** The times over all batches, on logarithmic scales; what does not fit is faint. */
  function drawTime() {
    if (!wide) return;
    const left = 58;
    const right = 76; // room for the names of the curves
    const top = 10;
    const bottom = 170;
    const states = all();
    const most = Math.max(...states.map((now) => Math.max(now.reading, now.computing)));
    const parts = (now) => [now.reading - now.ofCache, now.ofCache, now.computing];
    const least = 0.7 * Math.min(...states.flatMap(parts));
    const x = (/** @type {number} */ k) => left + ((wide - left - right) * k) / TEXTS;
    const y = (/** @type {number} */ v) =>
      bottom - ((bottom - top) * Math.log(v / least)) / Math.log((1.2 * most) / least);
    const line = (f) => states.map((now, k) => `${x(k).toFixed(1)} ${y(f(now)).toFixed(1)}`).join("L");
    const full = states.findIndex((now) => (now.weights + now.cache) / 1e9 > gpus[get("gpu")].memory);
    const powers = Array.from({ length: 14 }, (_, k) => 10 ** (k - 8)).filter((v) => v > least && v < 1.2 * most);
    const names = ["weights", "cache", "computing"];
    const ends = parts(states.at(-1)).map(y);
    const order = [0, 1, 2].sort((a, b) => ends[a] - ends[b]); // names keep a line of their own
    order.slice(1).forEach((k, i) => {
      ends[k] = Math.max(ends[k], ends[order[i]] + 14);
    });
    sized(time, 204, "Time of reading and of computing against the number of texts");
    replace(time, [
      powers.map((v) => [
        s("path", { class: "lm-grid", d: `M${left} ${y(v)}H${wide - right}` }),
        text(
          left - 6,
          y(v) + 4,
          v < 1e-4 ? `${fmt.num(1e6 * v, 0)} µs` : `${Number((1000 * v).toPrecision(1))} ms`,
          "end",
        ),
      ]),
      names.map((name, k) => s("path", { class: `lmfi-curve lmfi-${name}`, d: `M${line((now) => parts(now)[k])}` })),
      names.map((name, k) => text(wide - right + 5, ends[k] + 4, name, "start")),
      full < 0
        ? null
        : [
            s("rect", { class: "lmfi-over", x: x(full), y: top, width: wide - right - x(full), height: bottom - top }),
            text(Math.min(x(full) + 4, wide - right - 68), top + 8, "does not fit", "start"),
          ],
      s("path", { class: "lmfi-line", d: `M${x(get("texts"))} ${top}V${bottom}` }),
      [0, 2, 4, 6, 8, 10].map((k) => text(x(k), bottom + 16, fmt.count(2 ** k))),
      text((left + wide - right) / 2, bottom + 32, "texts at once"),
    ]);
  }

  function draw() {
    const m = models[get("model")];
    const gpu = gpus[get("gpu")];
    const now = numbers(m, get("bits"), get("texts"), get("tokens"), gpu.bandwidth, gpu.operations);
    const total = (now.weights + now.cache) / 1e9;
    const room = gpu.memory;
    which.set(String(get("model")));
    on.set(String(get("gpu")));
    memoryHead.textContent = `Memory, of ${fmt.num(room, 0)} GB`;
    bits.set(get("bits"));
    tokens.set(get("tokens"));
    drawMemory(now, room);
    drawTime();
    shown.draw([
      ["parameters", fmt.count(m.parameters)],
      ["used for a token", fmt.count(m.parameters - m.in_experts * (1 - m.top_k / m.experts))],
      ["share of experts read", m.experts > 1 ? fmt.percent(now.share) : "no experts"],
      ["reading", ms(now.reading)],
      ["computing", ms(now.computing)],
      ["tokens per second, at most", total > room ? "it does not fit" : fmt.count(now.speed)],
    ]);
    const fits =
      total > room
        ? `that is ${fmt.num(total, 1)} GB and does not fit into ${fmt.num(room, 0)}. Take fewer bits, fewer ` +
          "texts or fewer tokens."
        : `that fits into ${fmt.num(room, 0)} GB. ` +
          (now.reading >= now.computing ? "Reading" : "Computing") +
          ` takes longer, so at most ${fmt.count(now.speed)} tokens per second are written.`;
    say(
      `${m.name}, ${get("bits")} bits, ${fmt.some(now.B, "text")} of ` +
        `${fmt.count(now.T)} tokens: ${gb(now.weights)} of weights and ${gb(now.cache)} of cache; ${fits}`,
    );
  }

  listen("model gpu bits texts tokens", draw);
  draw();
  return onwidth(drawings, (width) => {
    wide = width;
    draw();
  });
}, style);
