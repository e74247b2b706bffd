// drawnnet.mjs: the layers of the network as buttons, and lines between the chosen unit and its neighbours.
import { button, fmt, h, onwidth, replace, roving, s } from "../kit/core.mjs";
import { named, PLACES } from "./explain.mjs";
import { sources } from "./pass.mjs";

export const netStyle = `
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
@container (min-width: 40rem) {
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

/**
 * press(unit): one was pressed.  draw(now, ranked, chosen): a pass, the likeliest words, the unit that is open.
 * @param {any} net
 * @param {any} first  a pass, as long as any
 * @param {(unit: string) => void} press
 */
export function drawnNet(net, first, press) {
  const width = net.E[0].length;
  const tile = () => {
    /** @type {any} */
    const parts = {
      name: h("span", { class: "lmfp-name" }),
      value: h("span", {}),
      fill: h("span", { class: "lmfp-fill", "aria-hidden": "true" }),
    };
    const node = button(Object.values(parts), () => press(node.dataset.unit), { class: null });
    return { ...parts, node };
  };
  const fill = (parts, unit, name, text, share) => {
    parts.node.dataset.unit = unit;
    replace(parts.name, name);
    parts.value.textContent = text;
    parts.fill.style.setProperty("width", `${100 * Math.min(1, Math.abs(share))}%`);
    parts.fill.dataset.low = String(share < 0);
  };
  const tilesE = first.e.map(tile);
  const tilesH = first.h.map(tile);
  const tilesY = Array.from({ length: net.shown + 1 }, tile);
  const wires = s("svg", { "aria-hidden": "true" });
  const label = (text) => h("p", {}, h("span", {}, text));
  const row = (kind, tiles) => h("div", { class: `lmfp-${kind}` }, [tiles.map(({ node }) => node)]);
  const node = h.group("lmfp-graph", "The network, one tab stop: arrows move, Enter picks a unit", [
    wires,
    label("e: the vectors of the three words"),
    h("div", { class: "lmfp-e" }, [PLACES.map((_, i) => row("place", tilesE.slice(i * width, (i + 1) * width)))]),
    label("h = σ(W e): the hidden units"),
    row("h", tilesH),
    label("ŷ = softmax(U h): the likeliest words"),
    row("y", tilesY),
  ]);
  const group = roving(node, "button:not([hidden])", { keys: "plane" });
  let given = null;

  function wire() {
    const { now, chosen } = given;
    const box = node.getBoundingClientRect();
    const shown = /** @type {HTMLElement[]} */ ([...node.querySelectorAll("button:not([hidden])")]);
    const places = Object.fromEntries(shown.map((one) => [one.dataset.unit, one.getBoundingClientRect()]));
    const links = Object.entries(places).flatMap(([to, q]) =>
      sources(net, now, to)
        .filter(({ from }) => from === chosen || to === chosen)
        .map(({ from, product }) => ({ p: places[from], q, product })),
    );
    const most = Math.max(...links.map(({ product }) => Math.abs(product)), 1e-9);
    const middle = (one) => one.left + one.width / 2 - box.left;
    const line = ({ p, q, product }) => {
      const ends = { x1: middle(p), y1: p.bottom - box.top - 2, x2: middle(q), y2: q.top - box.top + 2 };
      const style = { "stroke-width": `${0.4 + (4 * Math.abs(product)) / most}px` };
      return s("line", { ...ends, "data-low": String(product < 0), style });
    };
    replace(wires, [links.map(line)]);
  }
  onwidth(node, () => given && wire());

  function draw(now, ranked, chosen) {
    given = { now, chosen };
    const strongest = Math.max(...now.e.map(Math.abs));
    now.e.forEach((v, j) => fill(tilesE[j], `e${j + 1}`, named(`e${j + 1}`), fmt.num(v, 1), v / strongest));
    now.h.forEach((v, k) => fill(tilesH[k], `h${k + 1}`, named(`h${k + 1}`), fmt.num(v, 2), v));
    const own = chosen[0] === "z" ? Number(chosen.slice(1)) : null;
    const shown = own === null || ranked.includes(own) ? ranked : [...ranked, own];
    tilesY.forEach((parts, i) => {
      const w = shown[i];
      parts.node.hidden = w === undefined;
      if (w === undefined) delete parts.node.dataset.unit;
      else fill(parts, `z${w}`, net.words[w], fmt.share(now.y[w], 3), now.y[w]);
    });
    for (const { node: one } of [...tilesE, ...tilesH, ...tilesY])
      one.ariaPressed = String(one.dataset.unit === chosen);
    group.refresh();
    wire();
  }
  return { node, draw };
}
