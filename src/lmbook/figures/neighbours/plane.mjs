// plane.mjs: the map of words: dots, lines to neighbours, and labels that keep clear of each other.
import { h, plot, replace, s } from "../kit/core.mjs";
import { sum } from "../kit/numbers.mjs";

const LINE = 15; // px a line of the labels
const TURNS = Array.from({ length: 16 }, (_, k) => (k * Math.PI) / 8); // in which a label may lie
const FAR = [3, 9, 17, 27, 39, 53]; // px from a dot to its label

export const planeStyle = `
.lm-figure .lmn-place { cursor: pointer; }
.lm-figure .lmn-fly .lmn-place { transition: transform 0.3s ease-out; }
.lm-figure .lmn-hit { fill: transparent; }
.lm-figure .lmn-place:hover .lmn-dot { stroke: var(--lm-text); stroke-width: 2; }
.lm-figure .lmn-lead { stroke: var(--lm-edge); stroke-dasharray: 1.5 2; }
.lm-figure .lmn-map { position: relative; touch-action: auto; }
.lm-figure .lmn-nowhere { position: absolute; inset: 0; display: grid; place-items: center; text-align: center; }
.lm-figure .lmn-link { stroke: var(--lm-edge); stroke-opacity: 0.5; }
.lm-figure .lmn-link.lmn-now { stroke: var(--lm-1); stroke-opacity: 1; }
.lm-figure .lmn-bet { stroke: var(--lm-2); stroke-width: 2; stroke-dasharray: 5 4; }
.lm-figure .lmn-dot { fill: var(--lm-edge); }
.lm-figure .lmn-dot.lmn-typed { fill: var(--lm-1); }
.lm-figure .lmn-label { fill: var(--lm-text); font-size: 0.8125rem; paint-order: stroke; stroke: var(--lm-paper);
  stroke-width: 3px; stroke-linejoin: round; }
.lm-figure .lmn-label.lmn-typed { font-weight: 700; }
`;

/** The number from low to high that is nearest to 0. */
const nearest = (/** @type {number} */ low, /** @type {number} */ high) => Math.max(low, Math.min(0, high));

/** Places for labels around their dots, so that none covers another: a box each, or null where there is no room. */
function labels(dots, width, tall, family) {
  const taken = dots.map(({ x, y, r }) => [x - r - 1, y - r - 1, x + r + 1, y + r + 1]);
  const both = (a, c, p, u) => Math.max(0, Math.min(c, u) - Math.max(a, p)); // of two stretches, what they share
  const cover = (/** @type {number[]} */ [a, b, c, d]) =>
    sum(taken.map(([p, q, u, v]) => both(a, c, p, u) * both(b, d, q, v)));
  const pen = document.createElement("canvas").getContext("2d");
  return dots.map(({ x, y, r, text, must }) => {
    pen.font = `${must ? 700 : 400} 13px ${family}`;
    const wide = pen.measureText(text).width + 3;
    const places = FAR.flatMap((far) =>
      TURNS.map((turn) => {
        const across = Math.cos(turn);
        const down = Math.sin(turn);
        const left = x + (r + far) * across + (wide * (Math.sign(Math.round(2 * across)) - 1)) / 2;
        const top = y + (r + far + LINE / 2) * down - LINE / 2;
        const box = [Math.max(0, Math.min(width - wide, left)), Math.max(0, Math.min(tall - LINE, top))];
        return { far, box: [...box, box[0] + wide, box[1] + LINE] };
      }),
    );
    const costs = places.map(({ far, box }) => cover(box) + far / 50);
    const { box } = places[costs.indexOf(Math.min(...costs))];
    if (cover(box) > 1 && !must) return null;
    taken.push(box);
    return box;
  });
}

/**
 * draw({ found, chosen, bet }): what was found, which of its words is chosen, the ids between which a bet is
 * drawn.  press(id, text): a dot was pressed.
 */
export function plane(press) {
  let given = null;
  let fly = false; // words that stay fly to their new places
  let flip = [1, 1]; // of the axes, so that a word that stays on the map stays on its side
  const at = new Map(); // of the map as it is drawn: id, the place of its word
  const { node, svg, redraw } = plot("lm-chart lmn-map", map);
  node.ariaHidden = "true";
  const [links, dots] = s.layers(svg, 2);
  const lost = "<unk>, what all words become that the table does not have, has no place: no training moved its row.";
  const nowhere = h("p", { class: "lmn-nowhere" }, lost);
  node.append(nowhere);

  function map(width) {
    if (!given) return;
    const { found, chosen, bet } = given;
    svg.classList.toggle("lmn-fly", fly);
    const { points, words: typed } = found;
    nowhere.hidden = points.length > 0;
    const tall = Math.round(Math.max(250, Math.min(430, (node.closest(".spare") ? 0.5 : 0.72) * width)));
    flip = flip.map((sign, axis) => {
      const stay = points.filter(({ id }) => at.has(id));
      return Math.sign(sum(stay.map((one) => at.get(one.id)[axis] * one[axis ? "y" : "x"]))) || sign;
    });
    const xs = points.map(({ x }) => flip[0] * x);
    const ys = points.map(({ y }) => flip[1] * y);
    const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
    const span = (values) => Math.max(1e-9, Math.max(...values) - Math.min(...values));
    // equal for both axes: distances can be compared
    const scale = Math.min((width - 140) / span(xs), (tall - 56) / span(ys));
    at.clear();
    const place = new Map(
      points.map(({ id, text }, i) => {
        at.set(id, [xs[i], ys[i]]);
        const x = width / 2 + (points.length > 1 ? scale * (xs[i] - middle(xs)) : 0);
        const y = tall / 2 - (points.length > 1 ? scale * (ys[i] - middle(ys)) : 0);
        return [id, { id, text, x, y }];
      }),
    );
    const own = new Set(typed.map(({ id }) => id));
    const now = new Set(found.near[chosen].map(({ id }) => id));
    const rank = ({ id }) => (own.has(id) ? 0 : now.has(id) ? 1 : 2);
    const all = [...place.values()]
      .map((dot) => ({ ...dot, must: own.has(dot.id), r: own.has(dot.id) ? 5 : 3 }))
      .sort((a, b) => rank(a) - rank(b));
    const line = (ids, kind, more = {}) =>
      s("path", { class: kind, d: s.through(ids.map((id) => [place.get(id).x, place.get(id).y])), ...more });
    const boxes = labels(all, width, tall, getComputedStyle(node).fontFamily);
    s.sized(svg, width, tall);
    replace(links, [
      typed.map(({ id }, i) =>
        found.near[i].map((one) => {
          const wide = (0.5 + 2.5 * Math.max(0, one.cosine) ** 2).toFixed(2);
          return line([id, one.id], `lmn-link${i === chosen ? " lmn-now" : ""}`, { "stroke-width": wide });
        }),
      ),
      bet.every((id) => place.has(id)) && line(bet, "lmn-bet"),
    ]);
    // a word that stays flies to its new place
    const before = new Map([...dots.children].map((one) => [one.getAttribute("data-id"), one]));
    const groups = all.map((dot, i) => {
      const group = /** @type {SVGElement} */ (
        before.get(String(dot.id)) ?? s("g", { class: "lmn-place", "data-id": dot.id })
      );
      const box = boxes[i];
      const [x, y] = box ? [box[0] - dot.x, box[1] + 11 - dot.y] : [0, 0];
      // the place of the label that is nearest to the dot
      const [across, down] = box ? [nearest(x, box[2] - dot.x), nearest(box[1] - dot.y, box[3] - dot.y)] : [0, 0];
      replace(group, [
        Math.hypot(across, down) > dot.r + 8 && s.rule(`M0 0L${across} ${down}`, "lmn-lead"),
        s("circle", { class: `lmn-dot${dot.must ? " lmn-typed" : ""}`, r: dot.r }),
        box &&
          s.text(x.toFixed(1), y.toFixed(1), dot.text, "start", { class: `lmn-label${dot.must ? " lmn-typed" : ""}` }),
        s("circle", { class: "lmn-hit", r: 10 }),
        s("title", {}, dot.text),
      ]);
      group.style.transform = `translate(${dot.x.toFixed(1)}px, ${dot.y.toFixed(1)}px)`;
      group.onclick = () => press(dot.id, dot.text);
      return group;
    });
    const stay = new Set(groups);
    for (const one of [...dots.children]) if (!stay.has(/** @type {any} */ (one))) one.remove();
    dots.append(...groups.filter((one) => !one.isConnected));
  }

  return {
    node,
    draw(next) {
      given = next;
      fly = true;
      redraw();
      fly = false;
    },
  };
}
