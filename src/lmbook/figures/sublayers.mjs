// FollowToken: one token through every sublayer of a trained Transformer.
//
//   x_k = x_{k-1} + f_k(LN(x_{k-1}))      what f_k adds is stored, in thousandths; the sums are taken here
import { bars, button, figure, fmt, h, replace, roving, s, select, table } from "./core.mjs";

const KINDS = { source: ["self", "feed"], target: ["self", "cross", "feed"] };
const ATTENTION = new Set(["self", "cross"]);
const NAMES = { embedding: "Embedding", position: "Position", self: "Self-attention", cross: "Attention to the source", feed: "Feed-forward", norm: "Last LayerNorm", output: "Next word" };

const style = `
.lmt-words { display: flex; flex-wrap: wrap; gap: 0.3rem; align-items: baseline; }
.lm-figure .lmt-words .lm-button { min-height: 1.8rem; padding: 0.1rem 0.5rem; font-size: 0.875rem; }
.lmt-side { min-width: 3.6rem; }
.lmt-two { display: grid; grid-template-columns: minmax(11rem, 15rem) minmax(0, 1fr); gap: 0.8rem 1.1rem; align-items: start; }
.lmt-stages { display: flex; flex-direction: column; gap: 0.2rem; }
.lm-figure .lmt-stages .lm-button { display: flex; justify-content: space-between; gap: 0.6rem; min-height: 1.8rem; padding: 0.1rem 0.55rem; font-size: 0.875rem; text-align: left; }
.lmt-stages small { font-size: 0.75rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.lmt-panel { display: flex; flex-direction: column; gap: 0.45rem; min-width: 0; }
.lmt-panel svg { display: block; width: 100%; height: 46px; }
.lmt-up { fill: var(--lm-1); }
.lmt-down { fill: var(--lm-2); }
.lmt-zero { stroke: var(--lm-edge); stroke-width: 1; vector-effect: non-scaling-stroke; }
.lmt-scroll { overflow-x: auto; }
.lm-figure .lmt-heads { display: table; width: auto; margin: 0; border: 0; border-collapse: separate; border-spacing: 2px; background: none; font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
.lm-figure .lmt-heads tr { background: none !important; }
.lm-figure .lmt-heads :is(th, td) { padding: 0.1rem 0.3rem; border: 0; background: none; color: inherit; font-weight: 400; text-align: center; white-space: nowrap; }
.lm-figure .lmt-heads td { border-bottom: 3px solid color-mix(in srgb, var(--lm-1) var(--lmt-share), transparent); background: color-mix(in srgb, var(--lm-1) calc(var(--lmt-share) * 0.35), transparent); }
.lm-figure .lmt-heads td[data-most="true"] { font-weight: 700; text-decoration: underline; }
@media (max-width: 30rem) { .lmt-two { grid-template-columns: minmax(0, 1fr); } }
`;

/** The whole thousandths of a packed text. */
export function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 2 }, (_, i) => view.getInt16(2 * i, true));
}

/** [kind, layer] of every stage of a side. */
export function stagesOf(entry, side) {
  const middle = Array.from({ length: entry.layers }, (_, i) => KINDS[side].map((kind) => [kind, i + 1])).flat();
  return [["embedding", 0], ["position", 0], ...middle, ["norm", 0], ...(side === "target" ? [["output", 0]] : [])];
}

/** The numbers of a stage: { kind, layer, word, added, sum, weights, keys, active, next }. */
export function stageOf(entry, width, side, token, stage) {
  const stages = stagesOf(entry, side);
  const [kind, layer] = stages[stage];
  const own = entry[side];
  const flat = unpack(own.vectors[token]);
  const vector = (k) => flat.slice(k * width, (k + 1) * width);
  const found = { kind, layer, word: own.words[token], added: null, weights: null };
  if (kind === "norm" || kind === "output") found.sum = flat.slice(-width);
  else {
    found.added = vector(stage);
    found.sum = Array.from({ length: width }, (_, j) => { let sum = 0; for (let k = 0; k <= stage; k += 1) sum += flat[k * width + j]; return sum; });
  }
  if (ATTENTION.has(kind)) {
    const words = (name) => entry[name === "cross" ? "source" : side].words;
    const before = stages.slice(0, stage).filter(([name]) => ATTENTION.has(name)).reduce((sum, [name]) => sum + words(name).length, 0);
    found.keys = words(kind);
    const all = unpack(own.weights[token]);
    found.weights = Array.from({ length: entry.heads }, (_, k) => all.slice(entry.heads * before + k * found.keys.length, entry.heads * before + (k + 1) * found.keys.length));
  }
  if (kind === "feed") found.active = own.active[token][layer - 1];
  if (kind === "output") found.next = entry.next[token];
  return found;
}

const length = (vector) => Math.sqrt(vector.reduce((sum, v) => sum + (v / 1000) ** 2, 0));

export default figure(({ model, el, listen, say }) => {
  const get = (name) => model.get(name);
  const put = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
  };
  const entry = () => get("sentences")[get("chosen")];
  const place = () => Math.min(get("token"), entry()[get("side")].words.length - 1);
  const where = () => Math.min(get("stage"), stagesOf(entry(), get("side")).length - 1);

  const which = select({ label: "Source", value: get("chosen"), options: get("sentences").map((one, i) => [i, one.source.words.join(" ")]),
    onchange: (chosen) => put({ token: 1, chosen }) });
  const rows = {};
  for (const side of ["source", "target"]) {
    const group = h("div", { class: "lmt-words", role: "group", "aria-label": `tokens of the ${side}` });
    rows[side] = { group, keys: roving(group, "button") };
  }
  const line = (side) => h("div", { class: "lmt-words" }, h("span", { class: "lmt-side lm-muted lm-small", "aria-hidden": "true" }, side), rows[side].group);
  const list = h("div", { class: "lmt-stages", role: "group", "aria-label": "stages, from the embedding on" });
  const keys = roving(list, "button");
  const back = button("Back", () => put({ stage: where() - 1 }));
  const next = button("Next", () => put({ stage: where() + 1 }), { class: "lm-button lm-main" });
  const panel = h("div", { class: "lmt-panel" });
  const words = bars({ label: "likeliest next words" });
  const numbers = table({ caption: "Entries of the token's vector, to two decimals", head: ["entry", "added", "sum"] });
  el.append(h("style", {}, style), which.node, line("source"), line("target"),
    h("div", { class: "lmt-two" }, h("div", { class: "lm-stack" }, list, h("div", { class: "lm-row" }, back, next)), panel), say.node, numbers.node);

  /** The vector as little bars up and down from a line, with its length. */
  function strip(title, vector, most) {
    const wide = 100 / vector.length;
    const marks = vector.map((v, j) => {
      const tall = Math.max(0.4, (22 * Math.abs(v)) / most);
      return s("rect", { class: v < 0 ? "lmt-down" : "lmt-up", x: j * wide, width: 0.8 * wide, y: v < 0 ? 23 : 23 - tall, height: tall });
    });
    return [h("p", { class: "lm-small" }, `${title}: ${vector.length} numbers, length ${fmt.num(length(vector), 1)}`),
      s("svg", { viewBox: "0 0 100 46", preserveAspectRatio: "none", "aria-hidden": "true" }, marks, s("line", { class: "lmt-zero", x1: 0, x2: 100, y1: 23, y2: 23 }))];
  }

  function heads(now) {
    const top = h("tr", {}, h("th", { scope: "col" }, "head"), now.keys.map((word) => h("th", { scope: "col" }, word)));
    const body = now.weights.map((row, k) => {
      const most = row.indexOf(Math.max(...row));
      return h("tr", {}, h("th", { scope: "row" }, String(k + 1)), row.map((w, i) => h("td", { style: { "--lmt-share": `${w / 10}%` }, "data-most": String(i === most) }, fmt.num(w / 1000))));
    });
    return h("div", { class: "lmt-scroll", tabindex: "0", role: "region", "aria-label": "weights of each head" },
      h("table", { class: "lmt-heads" }, h("thead", {}, top), h("tbody", {}, body)));
  }

  function shapes(now) {
    const [N, T, d, k] = [entry().source.words.length, entry().target.words.length, get("width"), entry().heads];
    const own = get("side") === "source" ? N : T;
    const other = now.kind === "cross" ? N : own;
    if (now.kind === "embedding") return `${own} rows of the table, times √${d}: (${own}, ${d})`;
    if (now.kind === "position") return `sines and cosines: (${own}, ${d})`;
    if (now.kind === "feed") return `(${own}, ${d}) → (${own}, ${get("d_ff")}) → (${own}, ${d}); of ${get("d_ff")} hidden units ${now.active} are above 0`;
    if (now.kind === "norm") return `mean 0, variance 1, then g and b: (${own}, ${d})`;
    if (now.kind === "output") return `times the table of target words: (${own}, ${d}) → (${own}, words)`;
    return `Q (${k}, ${own}, ${d / k}), K and V (${k}, ${other}, ${d / k}); weights (${k}, ${own}, ${other}); out (${own}, ${d})`;
  }

  function draw() {
    const [side, token, stage] = [get("side"), place(), where()];
    const stages = stagesOf(entry(), side);
    const now = stageOf(entry(), get("width"), side, token, stage);
    which.set(get("chosen"));
    for (const [name, { group, keys: group_keys }] of Object.entries(rows)) {
      const had = group.contains(document.activeElement);
      replace(group, entry()[name].words.map((word, i) => button(word, () => put({ token: i, side: name }), { pressed: name === side && i === token })));
      group_keys.refresh();
      if (had && name === side) group_keys.focus(token);
    }
    const had = list.contains(document.activeElement);
    replace(list, stages.map(([kind, layer], i) => button([h("span", {}, NAMES[kind], layer ? ` ${layer}` : ""), h("small", {}, fmt.num(length(stageOf(entry(), get("width"), side, token, i).sum), 1), h("span", { class: "lm-hidden" }, " length"))],
      () => put({ stage: i }), { pressed: i === stage })));
    keys.refresh();
    if (had) keys.focus(stage);
    back.disabled = stage === 0;
    next.disabled = stage === stages.length - 1;
    const most = Math.max(...now.sum.map(Math.abs), ...(now.added ?? [0]).map(Math.abs), 1);
    const title = now.layer ? `${NAMES[now.kind]}, layer ${now.layer}` : NAMES[now.kind];
    const parts = [h("p", {}, h("strong", {}, title)), h("p", { class: "lm-small lm-muted" }, shapes(now))];
    if (now.weights) parts.push(heads(now));
    if (now.kind === "output") {
      words.draw(now.next.map(([word, p]) => ({ label: word, value: p, text: fmt.num(p, 2) })), { max: 1 });
      parts.push(words.node);
    } else {
      if (now.added) parts.push(...strip("added", now.added, most));
      if (stage > 0) parts.push(...strip(now.added ? "sum so far" : "after the norm", now.sum, most));
    }
    replace(panel, parts);
    numbers.draw(now.sum.map((v, j) => [String(j + 1), now.added ? fmt.num(now.added[j] / 1000) : "", fmt.num(v / 1000)]));
    const name = `${fmt.quote(now.word)}, ${title.toLowerCase()}`;
    if (now.kind === "output") return say(`After ${fmt.quote(now.word)} the likeliest next word is ${fmt.quote(now.next[0][0])}, with probability ${fmt.num(now.next[0][1])}.`);
    if (!now.added) return say(`${name}: a vector of length ${fmt.num(length(now.sum), 1)}.`);
    let more = "";
    if (now.weights) {
      const flat = now.weights.flat();
      const at = flat.indexOf(Math.max(...flat));
      more = ` Head ${Math.floor(at / now.keys.length) + 1} looks most at ${fmt.quote(now.keys[at % now.keys.length])}, with weight ${fmt.num(flat[at] / 1000)}.`;
    }
    return say(`${name}: adds a vector of length ${fmt.num(length(now.added), 1)}; the sum has length ${fmt.num(length(now.sum), 1)}.${more}`);
  }

  listen("sentences chosen side token stage", draw);
  draw();
});
