// ForwardPass: a feed-forward language model, number by number. Every unit is a button that says where it comes from.
import {
  answered,
  button,
  chips,
  figure,
  fmt,
  h,
  onwidth,
  replace,
  roving,
  s,
  select,
  table,
  whole,
} from "../kit/core.mjs";
import { explain, named, num, PLACES, style as explainStyle } from "./explain.mjs";
import { forward, gives, sources } from "./pass.mjs";

const style = `
.lm-figure .lmfp-words { display: grid; grid-template-columns: minmax(0, 1fr) auto minmax(0, 1fr) auto minmax(0, 1fr);
  gap: 0.4rem; align-items: end; }
.lmfp-words .lm-control { flex-direction: column; align-items: stretch; }
.lm-figure .lmfp-graph { position: relative; display: flex; flex-direction: column; gap: 0.35rem; }
.lmfp-graph > svg { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
.lmfp-graph line { stroke: var(--lm-1); }
.lmfp-graph line[data-low="true"] { stroke: var(--lm-2); stroke-dasharray: 4 3; }
.lmfp-graph p { font-size: 0.8125rem; color: var(--lm-muted); margin-top: 0.75rem; }
.lmfp-graph p:first-of-type { margin-top: 0; }
.lmfp-graph p > span { position: relative; background: var(--lm-paper); padding-right: 0.4rem; }
.lmfp-graph .lmfp-e { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 0.6rem; }
.lmfp-graph .lmfp-place { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 3px; }
.lmfp-graph .lmfp-h { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 3px; }
.lmfp-graph .lmfp-y { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 3px; }
.lmfp-graph button { position: relative; min-width: 0; margin: 0; padding: 0.15rem 0.1rem 0.3rem;
  border: 1px solid var(--lm-edge); border-radius: 6px; background: var(--lm-paper); color: inherit; font: inherit;
  font-size: 0.8125rem; line-height: 1.25; text-align: center; font-variant-numeric: tabular-nums; cursor: pointer;
  overflow: hidden; }
.lmfp-graph button:hover { box-shadow: inset 0 0 0 100vmax var(--lm-soft); }
.lmfp-graph button[aria-pressed="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 2px var(--lm-1); }
.lmfp-graph button > span { display: block; white-space: nowrap; }
.lmfp-graph .lmfp-y button > span { overflow: hidden; text-overflow: ellipsis; }
.lmfp-graph sub { line-height: 0; }
.lmfp-graph .lmfp-name { font-weight: 600; }
.lmfp-graph .lmfp-fill { position: absolute; left: 0; bottom: 0; height: 4px; background: var(--lm-3); }
.lmfp-graph .lmfp-fill[data-low="true"] { background: var(--lm-2); }
.lmfp-text { font-size: 1.0625rem; }
.lm-figure .lm-body:has(> .lmfp-graph) { gap: 0.45rem; }
.lm-figure .lmfp-detail + div .lm-says { min-height: 1.45em; }
.lm-figure .lmfp-detail { min-height: 10.2rem; padding: 0.4rem 0.8rem; border-radius: 6px; background: var(--lm-soft);
  font-size: 0.875rem; }
@container (min-width: 40rem) {
  .lmfp-words .lm-control { flex-direction: row; flex-wrap: nowrap; align-items: center; }
  .lmfp-words select { flex: 1 1 4rem; }
  .lmfp-graph .lmfp-place { grid-template-columns: repeat(6, minmax(0, 1fr)); }
  .lmfp-graph .lmfp-h { grid-template-columns: repeat(12, minmax(0, 1fr)); }
  .lmfp-graph .lmfp-y { grid-template-columns: repeat(9, minmax(0, 1fr)); }
  /* a layer's name stands beside it, where no line passes */
  .lm-figure .lmfp-graph { display: grid; grid-template-columns: 6.6rem minmax(0, 1fr); gap: 2.1rem 0.8rem; }
  .lm-figure .lmfp-graph p { margin: 0; align-self: center; line-height: 1.25; }
  .lm-figure .lmfp-graph > :is(p:first-of-type, .lmfp-e) { grid-column: 1 / -1; } /* no line comes from above */
  .lm-figure .lmfp-graph p:first-of-type { margin-bottom: -1.8rem; }
}
`;

const about = {
  style: style + explainStyle,
  allows: {
    // what an address may set
    chosen: (name, { W, words }) => {
      const [, letter, number] = /^([ehz])(\d+)$/.exec(name) ?? [];
      const most = { e: W[0].length, h: W.length, z: words.length - 1 }[letter];
      return whole(Number(number), letter === "z" ? 0 : 1, most);
    },
  },
};

export default figure(({ el, get, put, listen, say, wager }) => {
  const net = Object.fromEntries(["words", "E", "W", "U", "shown"].map((name) => [name, get(name)]));
  const width = net.E[0].length;
  const usable = net.words.map((word, i) => [i, word]).filter(([, word]) => word !== "<pad>" && word !== "<mask>");
  const sorted = [...usable].sort((x, y) => (x[1] < y[1] ? -1 : 1));
  const id = (word) => net.words.indexOf(word);
  const place = (j) => Math.floor((j - 1) / width); // of e_j: 0 is 3 back
  const rank = (pass) => usable.map(([w]) => w).sort((x, y) => pass.y[y] - pass.y[x] || x - y);
  let now = forward({ ...net, history: get("history") });
  let ranked = [];
  let before = []; // words that were written and have left the window

  // --- controls
  const pickers = PLACES.map((label, i) =>
    select({
      label,
      options: sorted.filter(([, word]) => word !== "<eos>"),
      value: get("history")[i],
      onchange: (value) => start(get("history").map((old, k) => (k === i ? value : old))),
    }),
  );
  const start = (/** @type {number[]} */ history) => {
    before = [];
    put({ history });
  };
  /** @param {number} i */
  const swap = (i) => {
    const history = [...get("history")];
    [history[i], history[i + 1]] = [history[i + 1], history[i]];
    start(history);
  };
  const swaps = [0, 1].map((i) =>
    button("⇄", () => swap(i), { "aria-label": `Swap the ${i ? "last" : "first"} two words` }),
  );
  const tries = chips({
    label: "Try",
    options: get("examples"),
    onchoose: (text) => start(text.split(" ").map(id)),
  });
  const look = select({
    label: "Look at the word",
    options: [[null, "(any of them)"], ...sorted],
    value: null,
    onchange: (value) => value !== null && put({ chosen: `z${value}` }),
  });
  const next = () => (get("chosen")[0] === "z" ? Number(get("chosen").slice(1)) : ranked[0]);
  const write = button(
    "",
    () => {
      const word = next();
      const ends_ = word === id("<eos>");
      const history = ends_ ? PLACES.map(() => id("<sos>")) : [...get("history").slice(1), word];
      before = ends_ ? [] : [...before, get("history")[0]];
      const chosen = get("chosen")[0] === "z" ? `z${rank(forward({ ...net, history }))[0]}` : get("chosen");
      put({ history, chosen });
    },
    { class: "lm-button lm-main" },
  );

  // --- the diagram
  const tile = () => {
    /** @type {any} */
    const parts = {
      name: h("span", { class: "lmfp-name" }),
      value: h("span", {}),
      fill: h("span", { class: "lmfp-fill", "aria-hidden": "true" }),
    };
    const press = () => put({ chosen: parts.node.dataset.unit });
    return Object.assign(parts, { node: button(Object.values(parts), press, { class: null }) });
  };
  const fill = (parts, unit, name, text, share) => {
    parts.node.dataset.unit = unit;
    replace(parts.name, name);
    parts.value.textContent = text;
    parts.fill.style.setProperty("width", `${100 * Math.min(1, Math.abs(share))}%`);
    parts.fill.dataset.low = String(share < 0);
    parts.node.setAttribute("aria-pressed", String(unit === get("chosen")));
  };
  const tilesE = now.e.map(tile);
  const tilesH = now.h.map(tile);
  const tilesY = Array.from({ length: net.shown + 1 }, tile);
  const wires = s("svg", { "aria-hidden": "true" });
  const label = (text) => h("p", {}, h("span", {}, text));
  const row = (kind, tiles) => h("div", { class: `lmfp-${kind}` }, [tiles.map(({ node }) => node)]);
  const graph = h.group("lmfp-graph", "The network, one tab stop: arrows move, Enter picks a unit", [
    wires,
    label("e: the vectors of the three words"),
    h("div", { class: "lmfp-e" }, [PLACES.map((_, i) => row("place", tilesE.slice(i * width, (i + 1) * width)))]),
    label("h = σ(W e): the hidden units"),
    row("h", tilesH),
    label("ŷ = softmax(U h): the likeliest words"),
    row("y", tilesY),
  ]);
  const group = roving(graph, "button:not([hidden])", { keys: "plane" });
  const detail = h("div", { class: "lmfp-detail" });
  const parts = table({
    summary: "All that goes into the chosen unit",
    caption: "Weight times input, largest first",
    head: ["From", "Weight", "Input", "Product"],
  });
  const numbers = table({
    summary: "Every layer as numbers",
    caption: "The units of this forward pass; of the words, all of them",
    head: ["Unit", "Value", "What it is"],
  });
  /** @type {ReturnType<typeof wager> | null} */
  let question = null;
  if (get("chosen")[0] === "h") {
    const i = Number(get("chosen").slice(1));
    const w = get("history")[1];
    const [here, there] = [1, 2].map((p) => num(gives(net, i, w, p)));
    question = wager({
      name: "forward-place",
      of: "history chosen",
      asks: `${fmt.quote(net.words[w])} gives this unit ${here}, 2 back. And 1 back?`,
      options: ["more", "less", "the same"],
      told: (bet) => {
        const right = Number(there.replace("−", "-")) > Number(here.replace("−", "-")) ? "more" : "less";
        const said = `1 back ${fmt.quote(net.words[w])} gives this unit ${there}`;
        return `${said}: ${right}${answered(bet, right, `, not ${bet}.`)}`;
      },
      settled: () => question && draw(),
    });
  }
  const line = h("p", { class: "lmfp-text" });
  el.append(
    h.onstage(
      "Network",
      h("div", { class: "lmfp-words" }, pickers[0].node, swaps[0], pickers[1].node, swaps[1], pickers[2].node),
    ),
    h.onstage("Network", tries.node),
    graph,
    h.onstage("Network", h("div", { class: "lm-row" }, write, line, look.node)),
    ...(question ? [h.onstage("Network", question.node)] : []),
    h.onstage("Unit", detail),
    h.onstage("Network", say.node),
    h("div", { class: "lm-folds" }, parts.node, numbers.node),
  );

  // --- lines between the chosen unit and its neighbours
  function wire() {
    const chosen = get("chosen");
    const box = graph.getBoundingClientRect();
    const buttons = Object.fromEntries(
      [...graph.querySelectorAll("button")]
        .filter((node) => !node.hidden)
        .map((node) => [node.dataset.unit, node.getBoundingClientRect()]),
    );
    const links = sources(net, now, chosen).map(({ from, product }) => [from, chosen, product]);
    const i = Number(chosen.slice(1));
    if (chosen[0] === "e") net.W.forEach((row, k) => links.push([chosen, `h${k + 1}`, row[i - 1] * now.e[i - 1]]));
    if (chosen[0] === "h") {
      for (const unit of Object.keys(buttons))
        if (unit[0] === "z") links.push([chosen, unit, net.U[Number(unit.slice(1))][i - 1] * now.h[i - 1]]);
    }
    const most = Math.max(...links.map(([, , v]) => Math.abs(v)), 1e-9);
    const drawn = links.filter(([from, to]) => buttons[from] && buttons[to]);
    replace(wires, [
      drawn.map(([from, to, v]) => {
        const p = buttons[from];
        const q = buttons[to];
        const middle = (one) => one.left + one.width / 2 - box.left;
        const line = { x1: middle(p), y1: p.bottom - box.top - 2, x2: middle(q), y2: q.top - box.top + 2 };
        const style = { "stroke-width": `${0.4 + (4 * Math.abs(v)) / most}px` };
        return s("line", { ...line, "data-low": String(v < 0), style });
      }),
    ]);
  }

  const word = (/** @type {number} */ i) => fmt.quote(net.words[i]);
  function draw() {
    const history = get("history");
    const chosen = get("chosen");
    now = forward({ ...net, history });
    ranked = rank(now).slice(0, net.shown);
    const extra = chosen[0] === "z" && !ranked.includes(Number(chosen.slice(1))) ? [Number(chosen.slice(1))] : [];
    const strongest = Math.max(...now.e.map(Math.abs));
    now.e.forEach((v, j) => fill(tilesE[j], `e${j + 1}`, named(`e${j + 1}`), fmt.num(v, 1), v / strongest));
    now.h.forEach((v, k) => fill(tilesH[k], `h${k + 1}`, named(`h${k + 1}`), fmt.num(v, 2), v));
    tilesY.forEach((parts_, i) => {
      const w = [...ranked, ...extra][i];
      parts_.node.hidden = w === undefined;
      if (w === undefined) delete parts_.node.dataset.unit;
      else fill(parts_, `z${w}`, net.words[w], fmt.share(now.y[w], 3), now.y[w]);
    });
    pickers.forEach((picker, i) => picker.set(history[i]));
    tries.set(history.map((w) => net.words[w]).join(" "));
    look.set(chosen[0] === "z" ? Number(chosen.slice(1)) : null);
    write.textContent = `Write ${word(next())}`;
    replace(line, [
      h("span", { class: "lm-muted" }, `${before.map((w) => net.words[w]).join(" ")} `),
      h("b", {}, history.map((w) => net.words[w]).join(" ")),
      ` ${before.length ? "… (grey: forgotten)" : "…"}`,
    ]);
    const open = question?.open ?? false;
    replace(detail, explain({ net, now, usable, history, chosen, open }));
    const from = sources(net, now, chosen).sort((x, y) => Math.abs(y.product) - Math.abs(x.product));
    parts.draw(
      from.map(({ from: unit, weight, input, product }) => [
        named(unit),
        num(weight),
        fmt.num(input, 5),
        fmt.num(product, 5),
      ]),
    );
    parts.node.hidden = !from.length;
    numbers.draw([
      ...now.e.map((v, j) => [
        named(`e${j + 1}`),
        fmt.num(v, 5),
        `entry ${(j % width) + 1} of ${word(history[place(j + 1)])}, ${PLACES[place(j + 1)]}`,
      ]),
      ...now.h.map((v, k) => [named(`h${k + 1}`), fmt.num(v, 5), `σ(${fmt.num(now.a[k], 5)})`]),
      ...usable.map(([w, text]) => [text, fmt.prob(now.y[w], 6), `logit ${fmt.num(now.z[w], 5)}`]),
    ]);
    group.refresh();
    wire();
    const after = history.map((w) => net.words[w]).join(" ");
    say(
      `After ${fmt.quote(after)} the likeliest: ` +
        `${fmt.list(ranked.slice(0, 3).map((w) => `${word(w)} (${fmt.share(now.y[w], 3)})`))}.`,
    );
  }

  listen("history chosen", draw);
  draw();
  return onwidth(graph, wire);
}, about);
