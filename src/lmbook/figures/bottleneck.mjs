// FixedVector: what comes back of a source of N symbols through a state of m numbers.
//
//   recall[m][N], bits[m][N], written[m][N]     measured and written by trained models, looked up here
//
// Nothing is computed in the page but the comparison of two texts: the numbers are those of the recorded run.
import { figure, fmt, h, onwidth, replace, s, slider, table } from "./core.mjs";

const style = `
.lm-figure .lmv-example { display: flex; flex-wrap: wrap; gap: 0.35rem 0.2rem; }
.lm-figure .lmv-cell { display: flex; flex-direction: column; align-items: center; width: 1.45rem; font-family: ui-monospace, monospace; line-height: 1.3; }
.lm-figure .lmv-cell > :last-child { width: 100%; text-align: center; border-bottom: 2px solid var(--lm-3); font-weight: 600; }
.lm-figure .lmv-cell.lmv-lost > :last-child { border-bottom: 2px dashed var(--lm-2); font-weight: 400; color: var(--lm-muted); }
.lm-figure .lmv-line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke: var(--lm-edge); }
.lm-figure .lmv-line.lmv-now { stroke: var(--lm-1); stroke-width: 3; }
.lm-figure .lmv-now-text { font-weight: 700; }
.lm-figure .lmv-here { stroke: var(--lm-1); stroke-width: 1; }
.lm-figure .lmv-edge { stroke: var(--lm-edge); stroke-width: 1; stroke-dasharray: 4 4; }
.lm-figure .lmv-dot { fill: var(--lm-1); }
`;

export default figure(({ model, el, listen, say }) => {
  const [sizes, source] = [model.get("sizes"), model.get("source")];
  const perSymbol = Math.log2(model.get("symbols"));
  const set = (name, value) => { model.set(name, value); model.save_changes(); };
  const length = slider({ label: "Source length N", min: 1, max: source.length, value: model.get("length"),
    text: (v) => `${v} symbol${v === 1 ? "" : "s"}`, oninput: (v) => set("length", v) });
  const size = slider({ label: "State size m", min: 0, max: sizes.length - 1, value: sizes.indexOf(model.get("size")),
    text: (v) => `${sizes[v]} numbers`, oninput: (v) => set("size", sizes[v]) });
  const chart = h("div", { class: "lm-chart", "aria-hidden": "true" });
  const heading = h("p", { class: "lm-small lm-muted" }, "One source: read above, written below (solid line: right; dashed: wrong)");
  const example = h("div", { class: "lmv-example", "aria-hidden": "true" });
  const numbers = table({ caption: "What comes back at the chosen length", head: ["numbers in the state", "recall", "bits kept, at least", "example: right of N"] });
  el.append(h("style", {}, style), length.node, size.node, chart, heading, example, numbers.node);
  let width = 560;

  function right(row, N) {
    const written = model.get("written")[row][N - 1];
    return [...written].filter((letter, i) => letter === source[i]).length;
  }

  function drawChart(N, row) {
    const [tall, left, bottom, top] = [230, 40, 34, 12];
    const end = width - 34;
    const x = (n) => left + ((n - 1) / Math.max(1, source.length - 1)) * (end - left);
    const y = (r) => top + (1 - r) * (tall - top - bottom);
    const recall = model.get("recall");
    const parts = [0, 0.25, 0.5, 0.75, 1].flatMap((r) => [
      s("line", { class: "lm-grid", x1: left, x2: end, y1: y(r), y2: y(r) }),
      s("text", { class: "lm-tick", x: left - 6, y: y(r) + 4, "text-anchor": "end" }, `${100 * r} %`)]);
    const ticks = [1, ...Array.from({ length: Math.floor(source.length / 10) }, (_, i) => 10 * (i + 1))];
    parts.push(...ticks.map((n) => s("text", { class: "lm-tick", x: x(n), y: tall - bottom + 16, "text-anchor": "middle" }, n)));
    parts.push(s("text", { class: "lm-tick", x: (left + end) / 2, y: tall - 2, "text-anchor": "middle" }, "symbols in the source"));
    const edge = x(Math.min(source.length, model.get("trained") + 0.5));
    parts.push(s("line", { class: "lmv-edge", x1: edge, x2: edge, y1: top, y2: tall - bottom }));
    if (end - edge > 130) parts.push(s("text", { class: "lm-tick", x: edge + 5, y: top + 10 }, "not in training"));
    parts.push(s("line", { class: "lmv-here", x1: x(N), x2: x(N), y1: top, y2: tall - bottom }));
    const order = recall.map((_, i) => i).filter((i) => i !== row).concat(row);
    let last = Infinity;
    const heights = recall.map((values) => y(values.at(-1)) + 4);
    const placed = new Map();
    for (const i of recall.map((_, k) => k).sort((a, b) => heights[b] - heights[a])) {
      last = Math.min(heights[i], last - 13);
      placed.set(i, last);
    }
    for (const i of order) {
      const now = i === row ? " lmv-now" : "";
      parts.push(s("polyline", { class: `lmv-line${now}`, points: recall[i].map((r, k) => `${x(k + 1).toFixed(1)},${y(r).toFixed(1)}`).join(" ") }));
      parts.push(s("text", { class: `lm-tick${now ? " lmv-now-text" : ""}`, x: end + 5, y: placed.get(i) }, sizes[i]));
    }
    parts.push(s("circle", { class: "lmv-dot", cx: x(N), cy: y(recall[row][N - 1]), r: 5 }));
    replace(chart, s("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall }, parts));
  }

  function draw() {
    const [N, m] = [model.get("length"), model.get("size")];
    const row = sizes.indexOf(m);
    length.set(N);
    size.set(row);
    drawChart(N, row);
    const written = model.get("written")[row][N - 1];
    replace(example, [...written].map((letter, i) => h("span", { class: `lmv-cell${letter === source[i] ? "" : " lmv-lost"}` },
      h("span", {}, source[i]), h("span", {}, letter))));
    const kept = (i) => Math.max(0, model.get("bits")[i][N - 1]);
    numbers.draw(sizes.map((known, i) => [String(known), fmt.percent(model.get("recall")[i][N - 1]), fmt.num(kept(i), 0), `${right(i, N)} of ${N}`]));
    const lost = [...written].findIndex((letter, i) => letter !== source[i]);
    const past = N > model.get("trained") ? " No model was trained on sources as long as this." : "";
    say(`${m} numbers, ${N} symbol${N === 1 ? "" : "s"}: ${fmt.percent(model.get("recall")[row][N - 1])} of the symbols come back; of ${fmt.num(N * perSymbol, 0)} bits `
      + `at least ${fmt.num(kept(row), 0)} are kept. In the example ${right(row, N)} of ${N} are right${lost < 0 ? "" : `, the first wrong one is number ${lost + 1}`}.${past}`);
  }

  listen("length size", draw);
  const stop = onwidth(chart, (w) => { width = Math.round(w); drawChart(model.get("length"), sizes.indexOf(model.get("size"))); });
  draw();
  return stop;
});
