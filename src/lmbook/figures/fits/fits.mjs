// DoesItFit: memory and time of a step of writing, for a model, its bits, and a batch of texts on one GPU.
//
//   weights = bits/8 N      cache = 2 L width 2 T B      share = 1 - (1 - k/E)^B
//   (where every second layer looks back a short way, half the layers cache no more than that)
//   reading = (bits/8 (N outside + share N inside experts) + cache) / bandwidth
//   computing = 2 N used B / operations
//
// Everything is computed here, from the sizes of the model; a step takes at least the longer of the two times.
import { bars, choice, figure, fmt, h, select, table } from "../kit/core.mjs";

const BITS = [32, 16, 8, 4];
const TEXTS = 10;
const TOKENS = [5, 15];

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
    reading,
    computing,
    weights: (bits / 8) * m.parameters,
    speed: B / Math.max(reading, computing),
  };
}

export default figure(({ el, knob, get, put, listen, say }) => {
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
  const timeHead = h("p", { class: "lm-small lm-muted" }, "Time of a step, at least");
  const memory = bars({ label: "memory" });
  const time = bars({ label: "time" });
  const shown = table({ caption: "This model and batch", head: ["what", "number"] });
  el.append(
    which.node,
    on.node,
    bits.node,
    texts.node,
    tokens.node,
    memoryHead,
    memory.node,
    timeHead,
    time.node,
    shown.node,
  );

  const gb = (bytes) => `${fmt.num(bytes / 1e9, 2)} GB`;
  const ms = (seconds) => (seconds < 1e-4 ? `${fmt.num(1e6 * seconds, 1)} µs` : `${fmt.num(1000 * seconds, 2)} ms`);

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
    const most = Math.max(room, total);
    memory.draw(
      [
        { label: "weights", value: now.weights / 1e9, text: gb(now.weights), tone: 1 },
        { label: "cache", value: now.cache / 1e9, text: gb(now.cache), tone: 3 },
        { label: "together", value: total, text: gb(now.weights + now.cache), tone: total > room ? 2 : 0 },
      ],
      { max: most },
    );
    time.draw(
      [
        { label: "reading", value: now.reading, text: ms(now.reading), tone: 1 },
        { label: "computing", value: now.computing, text: ms(now.computing), tone: 2 },
      ],
      { max: Math.max(now.reading, now.computing) },
    );
    shown.draw([
      ["parameters", fmt.count(m.parameters)],
      ["used for a token", fmt.count(m.parameters - m.in_experts * (1 - m.top_k / m.experts))],
      ["share of experts read", m.experts > 1 ? fmt.percent(now.share) : "no experts"],
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
      `${m.name}, ${get("bits")} bits, ${fmt.count(now.B)} text${now.B > 1 ? "s" : ""} of ` +
        `${fmt.count(now.T)} tokens: ${gb(now.weights)} of weights and ${gb(now.cache)} of cache; ${fits}`,
    );
  }

  listen("model gpu bits texts tokens", draw);
  draw();
});
