// SwapTheBlock: a block whose parts one exchanges, and what each exchange costs or saves in numbers.
//
//   layer     attention 2 d^2 + 2 d n_kv d_k, or a recurrence 3 d^2; feed-forward 8 d^2; two norms
//   state     2 n_kv d_k min(T, span) numbers, of a recurrence d
//   products  2 (numbers in matrices), and with attention 4 d min(T, span)
//
// Everything is computed here, from the parts and the number of tokens.
import { answered, figure, fmt, h, onwidth, replace, s, table } from "../kit/core.mjs";

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

const GPT2 = { norm: "LayerNorm", ffn: "gelu", kept: 5, reach: "all" };
/** @type {[string, Record<string, any>][]} one exchange each */
const EXCHANGES = [
  ["SwiGLU", { ffn: "SwiGLU" }],
  ["1 head of keys", { kept: 0 }],
  ["a window", { reach: "window" }],
  ["recurrence", { reach: "recurrence" }],
];
const LEAST = 7; // the scale of the shares goes down to 10 to the minus 7

const style = `
@container (min-width: 40rem) { .lm-figure .lmbk-numbers { grid-area: 1 / 2 / span 2; } }
.lm-figure .lmbk-drawing svg { display: block; width: 100%; max-width: 12.75rem; height: auto; }
.lm-figure .lmbk-stream { fill: none; stroke: var(--lm-text); stroke-width: 3; }
.lm-figure .lmbk-arrow { fill: none; stroke: var(--lm-muted); stroke-width: 1.5; }
.lm-figure .lmbk-part { fill: var(--lm-soft); stroke: var(--lm-edge); stroke-width: 1.5; }
.lm-figure .lmbk-plus { fill: var(--lm-paper); }
.lm-figure .lmbk-part.lmbk-new { stroke: var(--lm-1); stroke-width: 2.5; }
.lm-figure .lmbk-drawing text { font-size: 12px; }
.lm-figure .lmbk-full { stroke: var(--lm-text); stroke-width: 1.5; }
.lm-figure .lmbk-lane { stroke: var(--lm-1); stroke-width: 3; }
.lm-figure .lmbk-yours { fill: var(--lm-1); }
.lm-figure .lmbk-other { fill: var(--lm-paper); stroke: var(--lm-2); stroke-width: 2; }
.lm-figure .lmbk-bet { fill: none; stroke: var(--lm-text); stroke-width: 2; stroke-dasharray: 4 3; }
.lm-figure .lmbk-name { font-weight: 600; }
.lm-figure .lmbk-both { --lm-side: 17rem; }
`;

/** The numbers of one block; the same as numbers() in Python. */
export function numbers({ norm, ffn, kept, reach }, tokens) {
  const T = 2 ** tokens;
  const seen = reach === "recurrence" ? 0 : reach === "window" ? Math.min(T, SPAN) : T;
  const mix = reach === "recurrence" ? 3 * D * D : 2 * D * D + 2 * D * 2 ** kept * HEAD;
  const network = ffn === "gelu" ? 8 * D * D : 3 * D * Math.round((8 * D) / 3);
  const matrices = LAYERS * (mix + network);
  const norms = LAYERS * 2 * D * (norm === "LayerNorm" ? 2 : 1);
  const state = LAYERS * (reach === "recurrence" ? D : 2 * 2 ** kept * HEAD * seen);
  return { parameters: matrices + norms, state: 2 * state, operations: 2 * matrices + LAYERS * 4 * D * seen };
}

export default figure(({ el, knob, pick, its, follow, say, wager }) => {
  const norm = pick("norm", "Norm", NORMS);
  const ffn = pick("ffn", "Network", NETWORKS);
  const reach = pick("reach", "Mixing", REACHES);
  const kept = knob("kept", "Heads of keys", [0, 5], (v) => `${2 ** v} of 32`);
  const tokens = knob("tokens", "Tokens read", [7, 20], (v) => fmt.count(2 ** v));
  const drawing = h("div", { class: "lmbk-drawing", "aria-hidden": "true" });
  const heading = h.small("What each takes, as a share of what GPT-2’s block takes");
  const shares = s("svg", { "aria-hidden": "true" });
  const chart = h("div", { class: "lm-chart" }, shares);
  const billions = (n) => `${fmt.num(n / 1e9, 2)} billion`;
  const bytes = (n) => (n < 1e9 ? `${fmt.num(n / 1e6, 2)} MB` : `${fmt.num(n / 1e9, 2)} GB`);
  /** @type {[string, string, (n: number) => string][]} */
  const LANES = [
    ["parameters", "parameters", billions],
    ["operations", "operations a token", billions],
    ["state", "kept of the text", bytes],
  ];
  const rows = table({ caption: "Yours and GPT-2’s block", head: ["what", "yours", "GPT-2’s"] });
  const left = (swap) => numbers({ ...GPT2, ...swap }, asked).state;
  const asked = its.tokens;
  const [least] = EXCHANGES.at(-1);
  const question = wager({
    name: "block",
    of: "tokens",
    asks: `One exchange in GPT-2’s block: which leaves least to keep of ${fmt.count(2 ** asked)} tokens?`,
    options: EXCHANGES.map(([name]) => name),
    told: (bet) => {
      const said = (/** @type {string} */ name) => bytes(left(Object.fromEntries(EXCHANGES)[name]));
      const miss = bet && `; you said ${bet}: ${said(bet)}.`;
      return `The recurrence keeps least: ${said(least)} of ${bytes(left({}))}${answered(bet, least, miss)}`;
    },
    settled: draw,
  });
  const parts = h.stack([norm, ffn, reach, kept, tokens].map(({ node }) => node));
  const found = h.onstage("Numbers", h("div", { class: "lmbk-numbers lm-stack" }, heading, chart, say.node));
  const both = h("div", { class: "lm-split lmbk-both" }, parts, h.onstage("Block", drawing), found);
  el.append(question.node, both, rows.node);

  const part = (y, label, changed) => [
    s("rect", { x: 54, y, width: 148, height: 22, rx: 4, class: changed ? "lmbk-part lmbk-new" : "lmbk-part" }),
    s.text(128, y + 15, label),
  ];
  const sublayer = (y, name, new_norm, label, changed) => [
    s.rule(`M30 ${y + 92} H128 V${y + 84} M128 ${y + 58} V${y + 42} M128 ${y + 18} V${y + 8} H36`, "lmbk-arrow"),
    part(y + 60, name, new_norm),
    part(y + 19, label, changed),
    s("circle", { class: "lmbk-part lmbk-plus", cx: 30, cy: y + 8, r: 7 }),
    s.text(30, y + 12, "+"),
  ];

  /** A lane for each number: GPT-2's at the right end, the reader's block, and what one exchange alone would leave. */
  let wide = 0;
  function drawShares(now, old) {
    if (!wide) return;
    const end = wide - 10;
    const x = (/** @type {number} */ share) => end + ((end - 10) * Math.log10(share)) / LEAST;
    const lane = ([key, name, text], k) => {
      const y = 34 + 44 * k;
      const share = now[key] / old[key];
      const at = x(share);
      const part = share < 0.01 ? `1/${fmt.count(1 / share)}` : fmt.percent(share);
      return [
        s.text(0, y - 12, name, "start", { class: "lmbk-name" }),
        s.text(wide, y - 12, `${part}: ${text(now[key])} of ${text(old[key])}`, "end"),
        s.rule(`M10 ${y}H${end}`),
        s.rule(`M${end} ${y - 9}v18`, "lmbk-full"),
        s.rule(`M${at} ${y}H${end}`, "lmbk-lane"),
        key === "state" && !question.open ? others(y, old) : [],
        s("circle", { class: "lmbk-yours", cx: at, cy: y, r: 6 }),
        k ? [] : s.text(at - 12, y + 4, "yours", "end"),
      ];
    };
    /** Below the last lane what one exchange alone leaves, and which of them was bet on. */
    const others = (y, old) =>
      EXCHANGES.map(([name, swap]) => ({ name, at: x(numbers({ ...GPT2, ...swap }, its.tokens).state / old.state) }))
        .sort((a, b) => a.at - b.at)
        .map(({ name, at }, k) => {
          const mine = name === question.answer;
          const low = y + 34 + 17 * k; // a row for each, from left to right: no leader crosses a name
          const [left, side] = at < 120 ? [at + 6, "start"] : [at - 6, "end"];
          return [
            s.rule(`M${at} ${y}V${low}`),
            s("circle", { class: "lmbk-other", cx: at, cy: y, r: 4.5 }),
            mine && s("circle", { class: "lmbk-bet", cx: at, cy: y, r: 11 }),
            s.text(left, low, mine ? `you: ${name}` : name, side, { class: mine ? "lmbk-name" : null }),
          ];
        });
    const level = (k) => [
      s.rule(`M${x(10 ** -k)} 22V208`),
      s.tick(x(10 ** -k), 226, k ? `1/${fmt.count(10 ** k)}` : "GPT-2", k ? "middle" : "end"),
    ];
    replace(s.sized(shares, wide, 236), LANES.map(lane), [0, 2, 4, 6].map(level));
  }

  function draw() {
    const { norm, ffn, kept, reach } = its;
    const yours = { norm, ffn, kept, reach };
    const now = numbers(yours, its.tokens);
    const old = numbers(GPT2, its.tokens);
    const heads_kept = 2 ** kept;
    const mix = reach === "recurrence" ? "linear recurrence" : `attention, ${fmt.some(heads_kept, "key head")}`;
    const changed = norm !== GPT2.norm;
    const mixing = sublayer(98, norm, changed, mix, heads_kept < 32 || reach !== "all");
    const network = sublayer(2, norm, changed, ffn, ffn !== GPT2.ffn);
    const stream = s.rule("M30 196 V2", "lmbk-stream");
    replace(drawing, s("svg", { viewBox: "0 0 204 198" }, stream, mixing, network));
    drawShares(now, old);
    rows.draw(LANES.map(([key, name, text]) => [name, text(now[key]), text(old[key])]));
    const read = fmt.count(2 ** its.tokens);
    say(`${bytes(now.state)} are kept of ${read} tokens; GPT-2’s block keeps ${bytes(old.state)}.`);
  }

  follow("norm ffn kept reach tokens", draw);
  onwidth(chart, (width) => {
    wide = Math.floor(width);
    draw();
  });
}, style);
