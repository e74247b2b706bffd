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
.lm-figure .lmbk-drawing svg { display: block; width: 100%; max-width: 15rem; height: auto; margin: 0 auto; }
.lm-figure .lmbk-stream { fill: none; stroke: var(--lm-text); stroke-width: 3; }
.lm-figure .lmbk-arrow { fill: none; stroke: var(--lm-muted); stroke-width: 1.5; }
.lm-figure .lmbk-part { fill: var(--lm-soft); stroke: var(--lm-edge); stroke-width: 1.5; }
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

export default figure(({ el, knob, bound, get, listen, say }) => {
  const norm = choice({ label: "Norm", options: NORMS.map((v) => [v, v]), ...bound("norm", "onchange") });
  const ffn = choice({ label: "Network", options: NETWORKS.map((v) => [v, v]), ...bound("ffn", "onchange") });
  const reach = choice({ label: "Mixing", options: REACHES, ...bound("reach", "onchange") });
  const kept = knob("kept", "Heads of keys", [0, 5], (v) => `${2 ** v} for 32 of queries`);
  const tokens = knob("tokens", "Tokens read", [7, 20], (v) => fmt.count(2 ** v));
  const drawing = h("div", { class: "lmbk-drawing", "aria-hidden": "true" });
  const heads = ["Parameters", "Kept of the text", "Operations for the next token"].map((text) =>
    h("p", { class: "lm-small lm-muted" }, text),
  );
  const charts = ["parameters", "state", "operations"].map((label) => bars({ label }));
  el.append(
    h("div", { class: "lm-split lmbk-both" }, [
      h("div", {}, [norm.node, ffn.node, reach.node, kept.node, tokens.node, drawing]),
      h(
        "div",
        {},
        heads.flatMap((head, i) => [head, charts[i].node]),
      ),
    ]),
  );

  const billions = (n) => `${fmt.num(n / 1e9, 2)} billion`;
  const bytes = (n) => (n < 1e9 ? `${fmt.num(n / 1e6, 2)} MB` : `${fmt.num(n / 1e9, 2)} GB`);

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
      s("circle", { class: "lmbk-part", cx: 30, cy: y + 8, r: 7 }),
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
    const show = (i, name, text) =>
      charts[i].draw(
        [
          { label: "GPT-2’s", value: old[name], text: text(old[name]), tone: "faint" },
          { label: "yours", value: now[name], text: text(now[name]), tone: 1 },
        ],
        { max: Math.max(now[name], old[name]) },
      );
    show(0, "parameters", billions);
    show(1, "state", bytes);
    show(2, "operations", billions);
    const size = { all: "all tokens", window: `the last ${fmt.count(SPAN)} tokens`, recurrence: "" }[get("reach")];
    say(
      `${get("norm")}, ${get("ffn")}, ` +
        `${attends ? `attention to ${size} with ${heads_kept} of 32 heads of keys` : mix}: ` +
        `after ${fmt.count(2 ** get("tokens"))} tokens ${bytes(now.state)} must be kept, where GPT-2’s block keeps ` +
        `${bytes(old.state)}. The next token takes ${billions(now.operations)} operations; GPT-2’s ` +
        `${billions(old.operations)}.`,
    );
  }

  listen("norm ffn kept reach tokens", draw);
  draw();
}, style);
