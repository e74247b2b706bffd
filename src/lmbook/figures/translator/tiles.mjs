// tiles.mjs: every head of every layer as a small map, and how many of them look most at one token.
import { bars, button, fmt, h, roving, select } from "../kit/core.mjs";
import { shown, small, top } from "./aligned.mjs";

const KINDS = [
  ["cross", "the source, to translate"],
  ["self", "what is written so far"],
  ["encoder", "the source, to read it"],
];

export const tilesStyle = `
.lmx-heads { display: grid; grid-template-columns: max-content repeat(var(--lmx-n), minmax(0, 3.2rem));
  gap: 0.3rem 0.4rem; align-items: center; font-size: 0.8125rem; }
.lm-figure .lmx-heads button { display: block; width: 100%; margin: 0; padding: 2px; border: 1px solid var(--lm-line);
  border-radius: 4px; background: none; color: inherit; cursor: pointer; line-height: 0; }
.lm-figure .lmx-heads button[aria-pressed="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 2px var(--lm-1);
  background: color-mix(in srgb, var(--lm-1) 18%, transparent); }
.lm-figure .lmx-heads button.lmx-looks { outline: 2px solid var(--lm-text); outline-offset: -1px; }
.lmx-two .lmx-heads + div > p { display: none; }
.lmx-heads .lmx-column { text-align: center; color: var(--lm-muted); }
.lmx-heads svg { display: block; width: 100%; height: auto; aspect-ratio: 1; } /* however long the map is */
`;

/** The mean over the heads, or one head: weights[query][key]. */
export function chosenWeights({ weights }, head) {
  if (head) return weights[head - 1];
  return weights[0].map((row, t) =>
    row.map((_, i) => weights.reduce((sum, one) => sum + one[t][i], 0) / weights.length),
  );
}

/** Of these maps: the token at which the mean of the last looks most, and which heads do so, layer after layer. */
export function lookers(maps, place) {
  const best = top(chosenWeights(maps.at(-1), 0)[place]);
  return { best, looks: maps.flatMap(({ weights }) => weights.map((rows) => top(rows[place]) === best)) };
}

/**
 * kind: the select's value at first, changed(kind) when it is another.
 * @type {(kind: string, changed: (kind: string) => void,
 *   choose: (chosen: { layer?: number, head: number }) => void) => any}
 */
export function tilesOf(kind, changed, choose) {
  const which = select({ label: "It looks at", value: kind, options: KINDS, onchange: changed });
  const mean = button("", () => choose({ head: 0 }), { pressed: true });
  const grid = h.group("lmx-heads", "Every head of every layer: arrows move, Enter chooses");
  const group = roving(grid, "button");
  const tally = bars({ label: "Heads that look most at one token" });
  const framed = h("div", {}, tally.node, h.small("In each: rows look, columns are looked at."));
  const node = h.stack(h.row(which.node, mean), grid, framed);

  /** chosen: [layer, head].  bet: how many the reader said, or null. */
  function draw({ maps, way, seen, place }, [layer, head], bet) {
    node.hidden = maps.length === 1 && maps[0].weights.length === 1;
    if (node.hidden) return;
    const heads = maps[0].weights.length;
    const { best, looks } = lookers(maps, place);
    const many = looks.filter(Boolean).length;
    const label = `Framed: at ${fmt.quote(shown(seen[best].text).word)}`;
    const text = `${many} of ${looks.length}`;
    tally.draw([{ label, value: many, text, mark: bet ?? undefined }], { max: looks.length });
    grid.style.setProperty("--lmx-n", heads);
    const tile = (rows, row, k) =>
      button(small(rows, place), () => choose({ layer: maps[row].layer, head: k + 1 }), {
        class: looks[row * heads + k] ? "lmx-looks" : null,
        "aria-label": `layer ${maps[row].layer}, head ${k + 1}`,
        pressed: head === k + 1 && layer === maps[row].layer,
      });
    const columns = maps[0].weights.map((_, k) => h("span", { class: "lmx-column" }, `head ${k + 1}`));
    const line = ({ weights, layer }, row) => [
      h("span", { class: "lm-muted" }, `layer ${layer}`),
      weights.map((rows, k) => tile(rows, row, k)),
    ];
    group.refill([h("span", {}), columns, maps.map(line)], group.index);
    mean.textContent = `mean of layer ${layer}`;
    mean.setAttribute("aria-pressed", String(head === 0));
    which.set(way);
  }

  return { node, covers: [grid, framed], draw };
}
