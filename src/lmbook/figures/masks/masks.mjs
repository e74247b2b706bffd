// MaskPainter: paint the mask of self-attention, and see what each output of several layers can depend on.
import { button, choice, figure, fmt, h, onwidth, replace, s, select, table, whole } from "../kit/core.mjs";
import { leaks, preset, PRESETS, reaches } from "./reach.mjs";

const style = `
.lm-figure .lmk-two { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
.lm-figure .lmk-grid { display: grid; width: max-content; max-width: 100%; gap: 2px; align-items: center;
  font-size: 0.8125rem; }
.lm-figure .lmk-row { display: contents; }
.lm-figure .lmk-name { padding-right: 0.4rem; white-space: nowrap; }
.lm-figure .lmk-head { text-align: center; font-variant-numeric: tabular-nums; }
.lm-figure .lmk-cell { display: block; width: 1.6rem; height: 1.6rem; margin: 0; padding: 0;
  border: 1px solid var(--lm-edge); border-radius: 3px; background: transparent; }
.lm-figure button.lmk-cell { cursor: pointer; touch-action: manipulation; }
.lm-figure .lmk-cell.lmk-same { border-width: 2px; border-color: var(--lm-text); }
.lm-figure .lmk-cell.lmk-on { background: var(--lm-1); }
.lm-figure .lmk-cell.lmk-leak { background: repeating-linear-gradient(45deg, var(--lm-2) 0 4px, transparent 4px 7px); }
.lm-figure .lmk-name.lmk-now { font-weight: 700; text-decoration: underline 2px var(--lm-1);
  text-underline-offset: 0.2em; }
.lm-figure .lmk-item { display: inline-block; margin-right: 1.2rem; }
.lm-figure .lmk-key { display: inline-block; width: 0.9rem; height: 0.9rem; margin-right: 0.35rem;
  vertical-align: -0.1rem; }
.lm-figure .lmk-edge { stroke: var(--lm-1); stroke-width: 1.4; opacity: 0.75; }
.lm-figure .lmk-node { fill: var(--lm-soft); stroke: var(--lm-edge); }
.lm-figure .lmk-node.lmk-on { fill: var(--lm-1); stroke: var(--lm-1); }
.lm-figure .lmk-node.lmk-leak { fill: var(--lm-2); stroke: var(--lm-text); stroke-width: 2; }
`;

const about = {
  style,
  allows: {
    // what an address may set
    mask: (mask, { words: { length } }) =>
      mask.length === length && mask.every((row) => row.length === length && row.every((seen) => whole(seen, 0, 1))),
  },
};

export default figure(({ el, knob, bound, get, put, listen, say }) => {
  const first = get("words");
  const T = first.length;
  const all = [...first.keys()];
  const settings = { prefix: get("prefix"), padded: get("padded") };
  const labels = {
    full: "full",
    causal: "causal",
    prefix: `prefix of ${settings.prefix}`,
    padding: `padding (last ${settings.padded})`,
    neighbours: "neighbours",
  };
  const same = (a, b) => a.every((row, i) => row.every((cell, j) => cell === b[i][j]));
  const named = () => PRESETS.find((name) => same(get("mask"), preset(name, T, settings)));

  const start = choice({
    label: "Mask",
    options: PRESETS.map((name) => [name, labels[name]]),
    value: named(),
    onchange: (name) => {
      const words = name === "padding" ? first.map((word, i) => (i < T - settings.padded ? word : "<pad>")) : first;
      put({ words, mask: preset(name, T, settings) });
    },
  });
  const layers = knob("layers", "Layers", [1, 4], (v) => `${v} layer${v === 1 ? "" : "s"}`);
  const residual = button("Residual connection", () => put({ residual: !get("residual") }), {
    pressed: get("residual"),
  });
  const output = select({
    label: "Output",
    options: all.map((i) => [i, `${i + 1}, ${first[i]}`]),
    ...bound("chosen", "onchange"),
  });

  // --- the mask, to be painted -------------------------------------------------------------------------------------
  const paint = (i, j, value) => {
    if (get("mask")[i][j] === value) return;
    put({ mask: get("mask").map((row, r) => (r === i ? row.map((cell, c) => (c === j ? value : cell)) : row)) });
  };
  let brush = null; // what the pressed mouse paints
  let byMouse = false; // the click that follows a press of the mouse has been dealt with
  const cells = all.map((i) =>
    all.map((j) => {
      const flip = () => paint(i, j, 1 - get("mask")[i][j]);
      return h("button", {
        type: "button",
        class: `lmk-cell${i === j ? " lmk-same" : ""}`,
        "aria-pressed": "false",
        onpointerdown: (event) => {
          if (event.pointerType !== "mouse" || event.button !== 0) return;
          brush = 1 - get("mask")[i][j];
          byMouse = true;
          flip();
        },
        onpointerenter: () => {
          if (brush !== null) paint(i, j, brush);
        },
        onclick: () => {
          if (!byMouse) flip();
          byMouse = false;
        },
      });
    }),
  );
  const lift = () => {
    brush = null;
    setTimeout(() => {
      byMouse = false;
    }, 0);
  };
  document.addEventListener("pointerup", lift);
  let at = [0, 0];
  /** @param {number[]} place */
  const stop = ([i, j]) => {
    cells[at[0]][at[1]].setAttribute("tabindex", "-1");
    at = [i, j];
    cells[i][j].setAttribute("tabindex", "0");
  };
  cells.flat().forEach((cell) => cell.setAttribute("tabindex", "-1"));
  stop(at);
  const columns = { style: { "grid-template-columns": `max-content repeat(${T}, 1.6rem)` } };
  const heads = () => [h("span", {}), ...all.map((j) => h("span", { class: "lmk-head lm-muted" }, String(j + 1)))];
  const names = [0, 1].map(() => all.map(() => h("span", { class: "lmk-name" })));
  const painted = h(
    "div",
    {
      class: "lmk-grid",
      role: "group",
      "aria-label": "The mask: rows are outputs, columns are inputs; arrows move, space paints",
      ...columns,
    },
    [
      heads().map((head) => {
        head.setAttribute("aria-hidden", "true");
        return head;
      }),
      all.map((i) => [names[0][i], ...cells[i]]),
    ],
  );
  const step = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -T],
    End: [0, T],
  };
  painted.addEventListener("keydown", (event) => {
    const move = step[event.key];
    if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const clamp = (k) => Math.max(0, Math.min(T - 1, k));
    stop([clamp(at[0] + move[0]), clamp(at[1] + move[1])]);
    cells[at[0]][at[1]].focus();
  });
  painted.addEventListener("focusin", (event) => {
    const k = cells.flat().indexOf(/** @type {HTMLButtonElement} */ (event.target));
    if (k >= 0) stop([Math.floor(k / T), k % T]);
  });

  // --- what can be reached -----------------------------------------------------------------------------------------
  const found = all.map((i) =>
    all.map((j) => h("span", { class: `lmk-cell${i === j ? " lmk-same" : ""}`, onclick: () => put({ chosen: i }) })),
  );
  const seen = h("div", { class: "lmk-grid", "aria-hidden": "true", ...columns }, [
    heads(),
    all.map((i) => [names[1][i], ...found[i]]),
  ]);
  const after = h("p", { class: "lm-small lm-muted" });
  const key = h("p", { class: "lm-small lm-muted" }, [
    [
      ["lmk-on", "can depend on it"],
      ["lmk-leak", "can, though it comes later"],
      ["lmk-same", "its own position"],
    ].map(([mark, words]) => h("span", { class: "lmk-item" }, h("span", { class: `lmk-cell lmk-key ${mark}` }), words)),
  ]);
  const paths = h("div", { class: "lm-chart", "aria-hidden": "true" });
  const rows = table({
    caption: "Inputs on which each output can depend",
    head: ["Output", "May look at", "After all layers", "Later inputs"],
  });
  el.append(
    start.node,
    h("div", { class: "lm-row" }, layers.node, residual),
    h("div", { class: "lmk-two" }, [
      h("div", { class: "lm-stack" }, [
        h("p", { class: "lm-small lm-muted" }, "One layer: who may look at whom (paint here)"),
        painted,
      ]),
      h("div", { class: "lm-stack" }, after, seen),
    ]),
    h("div", { class: "lm-row lmk-line" }, key, output.node),
    paths,
    say.node,
    rows.node,
  );

  const list = (row) => row.flatMap((cell, j) => (cell ? [j + 1] : []));
  const words = (row) => (list(row).length ? fmt.list(list(row).map(String)) : "none");
  let width = 560;

  function drawPaths(step_, L) {
    const high = 46;
    const gap = width / T;
    const chosen = get("chosen");
    const x = (j) => (j + 0.5) * gap;
    const y = (l) => 24 + (L - l) * high;
    const on = Array.from({ length: L + 1 }, () => new Set());
    on[L].add(chosen);
    const edges = [];
    for (let l = L; l > 0; l -= 1) {
      for (const i of on[l]) {
        step_[i].forEach((open, j) => {
          if (!open) return;
          on[l - 1].add(j);
          edges.push(s("line", { class: "lmk-edge", x1: x(j), y1: y(l - 1), x2: x(i), y2: y(l) }));
        });
      }
    }
    const nodes = on.flatMap((set, l) =>
      all.map((j) => {
        const kind = !set.has(j) ? "" : l === 0 && j > chosen ? " lmk-leak" : " lmk-on";
        return s("circle", { class: `lmk-node${kind}`, cx: x(j), cy: y(l), r: 6 });
      }),
    );
    const text = all.map((j) =>
      s("text", { x: x(j), y: y(0) + 24, "text-anchor": "middle" }, gap < 52 ? String(j + 1) : get("words")[j]),
    );
    const top = s(
      "text",
      { x: x(chosen), y: 12, "text-anchor": chosen === 0 ? "start" : chosen === T - 1 ? "end" : "middle" },
      `output ${chosen + 1}`,
    );
    replace(paths, [
      s("svg", { viewBox: `0 0 ${width} ${y(0) + 32}`, width, height: y(0) + 32 }, edges, nodes, text, top),
    ]);
  }

  function draw() {
    const mask = get("mask");
    const L = get("layers");
    const chosen = get("chosen");
    const shown = get("words");
    const { step: step_, all: R } = reaches(mask, L, get("residual"));
    const reach = R[L];
    const later = leaks(reach);
    start.set(named());
    output.set(chosen);
    residual.setAttribute("aria-pressed", String(get("residual")));
    all.forEach((i) =>
      all.forEach((j) => {
        cells[i][j].classList.toggle("lmk-on", mask[i][j] === 1);
        cells[i][j].setAttribute("aria-pressed", String(mask[i][j] === 1));
        cells[i][j].setAttribute("aria-label", `output ${i + 1}, ${shown[i]}, may look at input ${j + 1}, ${shown[j]}`);
        found[i][j].classList.toggle("lmk-on", reach[i][j] === 1 && j <= i);
        found[i][j].classList.toggle("lmk-leak", reach[i][j] === 1 && j > i);
      }),
    );
    for (const column of names) {
      column.forEach((name, i) => {
        name.textContent = `${i + 1} ${shown[i]}`;
        name.classList.toggle("lmk-now", i === chosen);
      });
    }
    after.textContent = `After ${L} layer${L === 1 ? "" : "s"}: who can depend on whom`;
    rows.draw(
      all.map((i) => [
        `${i + 1} ${shown[i]}`,
        words(mask[i]),
        words(reach[i]),
        words(reach[i].map((cell, j) => (j > i ? cell : 0))),
      ]),
    );
    drawPaths(step_, L);
    const outputs = new Set(later.map(([i]) => i)).size;
    const verdict =
      later.length === 0
        ? "No output can depend on a later input."
        : `${outputs} of ${T} outputs can depend on later inputs, in ${later.length} of ${(T * (T - 1)) / 2} ` +
          `pairs; the first is output ${later[0][0] + 1}, which can depend on input ${later[0][1] + 1}.`;
    const depends = list(reach[chosen]).length
      ? `can depend on input${list(reach[chosen]).length === 1 ? "" : "s"} ${words(reach[chosen])}`
      : "can depend on no input";
    say(
      `After ${L} layer${L === 1 ? "" : "s"} output ${chosen + 1}, ${fmt.quote(shown[chosen])}, ${depends}. ${verdict}`,
    );
  }

  listen("words mask layers residual chosen", draw);
  const leave = onwidth(paths, (w) => {
    width = Math.round(Math.min(w, 640));
    drawPaths(reaches(get("mask"), get("layers"), get("residual")).step, get("layers"));
  });
  draw();
  return () => {
    leave();
    document.removeEventListener("pointerup", lift);
  };
}, about);
