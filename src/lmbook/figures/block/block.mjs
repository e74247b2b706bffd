// SwapTheBlock: a block whose parts one exchanges, and what each exchange costs or saves in numbers.
//
//   layer     attention 2 d^2 + 2 d n_kv d_k, or a recurrence 3 d^2; feed-forward 8 d^2; two norms
//   state     2 n_kv d_k min(T, span) numbers, of a recurrence d
//   products  2 (numbers in matrices), and with attention 4 d min(T, span)
//
// Everything is computed here, from the parts and the number of tokens.
import { bars, choice, figure, fmt, h, replace, s } from "../kit/core.mjs";

const D = 4096;
const LAYERS = 32;
const HEAD = 128;
const SPAN = 4096;
const NORMS = ["LayerNorm", "RMSNorm"];
const NETWORKS = ["gelu", "SwiGLU"];
const REACHES = [
  ["all", "attention to all"],
  ["window", "attention, window"],
  ["recurrence", "recurrence"],
];

const style = `
.lm-figure .lmbk-drawing svg { display: block; width: 100%; max-width: 15rem; height: auto; }
.lm-figure .lmbk-stream { fill: none; stroke: var(--lm-text); stroke-width: 3; }
.lm-figure .lmbk-arrow { fill: none; stroke: var(--lm-muted); stroke-width: 1.5; }
.lm-figure .lmbk-part { fill: var(--lm-soft); stroke: var(--lm-edge); stroke-width: 1.5; }
.lm-figure .lmbk-plus { fill: var(--lm-paper); }
.lm-figure .lmbk-part.lmbk-new { stroke: var(--lm-1); stroke-width: 2.5; }
.lm-figure .lmbk-drawing text { fill: var(--lm-text); font-size: 12px; text-anchor: middle; }
.lm-figure .lmbk-both { --lm-side: 17rem; }
`;

/** The numbers of one block; the same as numbers() in Python. */
export function numbers(norm, ffn, kept, reach, tokens) {
  const T = 2 ** tokens;
  const seen = reach === "recurrence" ? 0 : reach === "window" ? Math.min(T, SPAN) : T;
  const mix = reach === "recurrence" ? 3 * D * D : 2 * D * D + 2 * D * 2 ** kept * HEAD;
  const network = ffn === "gelu" ? 8 * D * D : 3 * D * Math.round((8 * D) / 3);
  const matrices = LAYERS * (mix + network);
  const norms = LAYERS * 2 * D * (norm === "LayerNorm" ? 2 : 1);
  const state = LAYERS * (reach === "recurrence" ? D : 2 * 2 ** kept * HEAD * seen);
  return { parameters: matrices + norms, state: 2 * state, operations: 2 * matrices + LAYERS * 4 * D * seen };
}

export default figure(({ el, knob, bound, get, listen, say, wager }) => {
  const norm = choice({ label: "Norm", options: NORMS.map((v) => [v, v]), ...bound("norm", "onchange") });
  const ffn = choice({ label: "Network", options: NETWORKS.map((v) => [v, v]), ...bound("ffn", "onchange") });
  const reach = choice({ label: "Mixing", options: REACHES, ...bound("reach", "onchange") });
  const kept = knob("kept", "Heads of keys", [0, 5], (v) => `${2 ** v} of 32`);
  const tokens = knob("tokens", "Tokens read", [7, 20], (v) => fmt.count(2 ** v));
  const drawing = h("div", { class: "lmbk-drawing", "aria-hidden": "true" });
  const heading = h("p", { class: "lm-small lm-muted" });
  const chart = bars({ label: "Yours as a share of GPT-2’s block" });
  const billions = (n) => `${fmt.num(n / 1e9, 2)} billion`;
  const bytes = (n) => (n < 1e9 ? `${fmt.num(n / 1e6, 2)} MB` : `${fmt.num(n / 1e9, 2)} GB`);
  const left = (...swap) => bytes(numbers("LayerNorm", "gelu", ...swap, 15).state);
  const question = wager({
    name: "block",
    asks: "GPT-2’s block, one exchange: which leaves least to be kept of 32,768 tokens?",
    options: ["SwiGLU", "1 head of keys", "a window", "recurrence"].map((text) => [text, text]),
    told: (answer) =>
      `${answer === "recurrence" ? "Yes, the" : "The"} recurrence: ${left(5, "recurrence")} of ${left(5, "all")}; ` +
      `1 head leaves ${left(0, "all")}, a window ${left(5, "window")}.` +
      (answer === null || answer === "recurrence" ? "" : ` You said ${answer}.`),
  });
  el.append(
    question.node,
    h("div", { class: "lm-split lmbk-both" }, [
      h("div", { class: "lm-stack" }, [norm.node, ffn.node, reach.node, kept.node, tokens.node]),
      h("div", { class: "lm-stack" }, [heading, chart.node, drawing]),
    ]),
  );

  function part(y, label, changed) {
    const place = { x: 54, y, width: 148, height: 22, rx: 4 };
    return [
      s("rect", { ...place, class: changed ? "lmbk-part lmbk-new" : "lmbk-part" }),
      s("text", { x: 128, y: y + 15 }, label),
    ];
  }

  function sublayer(y, name, new_norm, label, changed) {
    return [
      s("path", {
        class: "lmbk-arrow",
        d: `M30 ${y + 92} H128 V${y + 84} M128 ${y + 58} V${y + 42} M128 ${y + 18} V${y + 8} H36`,
      }),
      ...part(y + 60, name, new_norm),
      ...part(y + 19, label, changed),
      s("circle", { class: "lmbk-part lmbk-plus", cx: 30, cy: y + 8, r: 7 }),
      s("text", { x: 30, y: y + 12 }, "+"),
    ];
  }

  function draw() {
    const state = ["norm", "ffn", "kept", "reach", "tokens"].map(get);
    const now = numbers(...state);
    const old = numbers("LayerNorm", "gelu", 5, "all", get("tokens"));
    norm.set(get("norm"));
    ffn.set(get("ffn"));
    reach.set(get("reach"));
    const heads_kept = 2 ** get("kept");
    const attends = get("reach") !== "recurrence";
    const mix = attends ? `attention, ${heads_kept} key heads` : "linear recurrence";
    const changed = get("norm") !== "LayerNorm";
    replace(
      drawing,
      s("svg", { viewBox: "0 0 204 208" }, [
        s("path", { class: "lmbk-stream", d: "M30 206 V2" }),
        ...sublayer(106, get("norm"), changed, mix, heads_kept < 32 || get("reach") !== "all"),
        ...sublayer(4, get("norm"), changed, get("ffn"), get("ffn") !== "gelu"),
      ]),
    );
    const read = fmt.count(2 ** get("tokens"));
    heading.textContent = `Yours as a share of GPT-2’s block, whose bars would be full; ${read} tokens read`;
    const row = (label, mine, full, text) => ({
      label,
      value: mine / full,
      text: text(mine),
      note: `of ${text(full)}`,
    });
    chart.draw(
      [
        row("parameters", now.parameters, old.parameters, billions),
        row("kept of the text", now.state, old.state, bytes),
        row("operations a token", now.operations, old.operations, billions),
      ],
      { max: 1 },
    );
    say(`${bytes(now.state)} are kept of ${read} tokens; GPT-2’s block keeps ${bytes(old.state)}.`);
  }

  listen("norm ffn kept reach tokens", draw);
  draw();
}, style);
