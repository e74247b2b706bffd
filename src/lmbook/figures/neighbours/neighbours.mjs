// NeighbourMap: words that the reader types, their nearest words, and all of them in a plane.
//
//   cos(a, b) = a . b / (|a| |b|)        the plane: the two directions in which the words shown vary most
//
// The examples were placed by the package; for other words the same table is searched here (engine.mjs).
import { chips, figure, fmt, h, onwidth, replace, roving, s, table } from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";

const NAME = "skip-gram-page";
const MOST = 6;
const LETTER = 6.9;
const LINE = 14; // of the labels: px a letter, px a line

const style = `
.lm-figure .lmn-words { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.lm-figure .lmn-word { max-width: 100%; overflow-wrap: anywhere; font-weight: 600; }
.lm-figure .lmn-word.lmn-unknown { border-style: dashed; border-color: var(--lm-2); }
.lm-figure .lmn-word span { color: var(--lm-muted); font-weight: 400; }
.lm-figure .lmn-near { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.lm-figure .lmn-near small { color: var(--lm-muted); font-variant-numeric: tabular-nums; }
.lm-figure .lmn-map { touch-action: auto; }
.lm-figure .lmn-link { stroke: var(--lm-edge); stroke-opacity: 0.5; }
.lm-figure .lmn-link.lmn-now { stroke: var(--lm-1); stroke-opacity: 1; }
.lm-figure .lmn-dot { fill: var(--lm-edge); }
.lm-figure .lmn-dot.lmn-typed { fill: var(--lm-1); }
.lm-figure .lmn-label { fill: var(--lm-text); font-size: 0.8125rem; paint-order: stroke; stroke: var(--lm-paper);
  stroke-width: 3px; stroke-linejoin: round; }
.lm-figure .lmn-label.lmn-typed { font-weight: 700; }
`;

/** Places for labels beside their dots, so that none covers another: a box each, or null where there is no room. */
function labels(dots, width) {
  const taken = dots.map(({ x, y, r }) => [x - r, y - r, x + r, y + r]);
  const cover = ([a, b, c, d]) =>
    taken.reduce(
      (sum, [p, q, u, v]) =>
        sum + Math.max(0, Math.min(c, u) - Math.max(a, p)) * Math.max(0, Math.min(d, v) - Math.max(b, q)),
      0,
    );
  return dots.map(({ x, y, r, text, must }) => {
    const wide = LETTER * text.length + (must ? 4 : 0);
    const up = y - r - LINE - 1;
    const down = y + r + 1;
    const places = [
      [x + r + 3, y - LINE / 2],
      [x - r - 3 - wide, y - LINE / 2],
      [x - wide / 2, up],
      [x - wide / 2, down],
      [x + r, up],
      [x + r, down],
      [x - r - wide, up],
      [x - r - wide, down],
    ]
      .map(([left, top]) => [Math.max(0, Math.min(width - wide, left)), top])
      .map(([left, top]) => [left, top, left + wide, top + LINE]);
    const costs = places.map(cover);
    const best = costs.indexOf(Math.min(...costs));
    if (costs[best] > 0.5 && !must) return null;
    taken.push(places[best]);
    return places[best];
  });
}

const about = {
  style,
  allows: {
    // what an address may set
    words: (text) => /[\p{L}\p{N}]/u.test(text),
  },
};

export default figure(({ model, el, get, put, listen, say }) => {
  const placed = new Map(Object.entries(get("known"))); // by the text that was typed
  const models = connect(model);
  let found = [...placed.values()][0];
  let width = 560;
  const chosen = () => Math.max(0, Math.min(found.words.length - 1, get("chosen")));

  const line = ownText({
    models,
    needed: [{ name: NAME, bytes: get("bytes") }],
    label: "Words",
    verb: "Place them",
    value: get("words"),
    maxlength: 80,
    work: (text) => models.ask("neighbours", { name: NAME, text, most: MOST }),
    done: (result, text) => {
      placed.set(text, result);
      if (get("words") === text) draw();
      else put({ chosen: 0, words: text });
    },
  });
  const examples = chips({
    label: "Try",
    options: get("examples"),
    onchoose: (words) => put({ chosen: 0, words }),
  });
  const words = h("div", {
    class: "lmn-words",
    role: "group",
    "aria-label": "Words on the map: one tab stop, arrows move, Enter shows the neighbours",
  });
  const tiles = roving(words, "button", { onmove: (at) => put({ chosen: at }) });
  const map = h("div", { class: "lm-chart lmn-map", "aria-hidden": "true" });
  const title = h("p", { class: "lm-small lm-muted" });
  const near = h("div", {
    class: "lmn-near",
    role: "group",
    "aria-label": "Its neighbours: one tab stop, arrows move, Enter places the word on the map",
  });
  const group = roving(near, "button");
  const numbers = table({
    caption: "Neighbours by cosine, and where they are on the map",
    head: ["Word", "Neighbour", "Cosine", "x", "y"],
  });
  el.append(
    line.node,
    examples.node,
    words,
    h("div", { class: "lm-split lm-split-right" }, map, h("div", { class: "lm-stack" }, title, near, say.node)),
    numbers.node,
  );

  function add(word) {
    const kept = found.words
      .map(({ typed }) => typed)
      .filter((typed) => typed !== word)
      .slice(1 - MOST);
    const text = [...kept, word].join(" ");
    if (placed.has(text)) put({ words: text, chosen: kept.length });
    else
      line.put(text).then(() => {
        if (get("words") === text) put({ chosen: kept.length });
      });
  }

  function drawMap() {
    const tall = Math.round(Math.max(250, Math.min(430, 0.72 * width)));
    const { points, words: typed } = found;
    const xs = points.map(({ x }) => x);
    const ys = points.map(({ y }) => y);
    const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
    const span = (values) => Math.max(1e-9, Math.max(...values) - Math.min(...values));
    // equal for both axes: distances can be compared
    const scale = Math.min((width - 110) / span(xs), (tall - 56) / span(ys));
    const place = new Map(
      points.map(({ id, text, x, y }) => [
        id,
        {
          id,
          text,
          x: width / 2 + (points.length > 1 ? scale * (x - middle(xs)) : 0),
          y: tall / 2 - (points.length > 1 ? scale * (y - middle(ys)) : 0),
        },
      ]),
    );
    const own = new Set(typed.map(({ id }) => id));
    const now = new Set(found.near[chosen()].map(({ id }) => id));
    const rank = ({ id }) => (own.has(id) ? 0 : now.has(id) ? 1 : 2);
    const dots = [...place.values()]
      .map((dot) => ({ ...dot, must: own.has(dot.id), r: own.has(dot.id) ? 5 : 3 }))
      .sort((a, b) => rank(a) - rank(b));
    const boxes = labels(dots, width);
    const links = typed.flatMap(({ id }, i) =>
      found.near[i].map((one) =>
        s("line", {
          class: `lmn-link${i === chosen() ? " lmn-now" : ""}`,
          x1: place.get(id).x.toFixed(1),
          y1: place.get(id).y.toFixed(1),
          x2: place.get(one.id).x.toFixed(1),
          y2: place.get(one.id).y.toFixed(1),
          "stroke-width": (0.5 + 2.5 * Math.max(0, one.cosine) ** 2).toFixed(2),
        }),
      ),
    );
    const name = (dot, at) =>
      at
        ? s(
            "text",
            { class: `lmn-label${dot.must ? " lmn-typed" : ""}`, x: at[0].toFixed(1), y: (at[1] + 11).toFixed(1) },
            [dot.text],
          )
        : null;
    replace(map, [
      s("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall }, [
        links,
        dots.map((dot) =>
          s(
            "circle",
            { class: `lmn-dot${dot.must ? " lmn-typed" : ""}`, cx: dot.x.toFixed(1), cy: dot.y.toFixed(1), r: dot.r },
            [s("title", {}, dot.text)],
          ),
        ),
        dots.map((dot, i) => name(dot, boxes[i])),
      ]),
    ]);
  }

  function drawNear() {
    const { typed, text } = found.words[chosen()];
    const list = found.near[chosen()];
    replace(title, [
      list.length ? `Nearest to ${fmt.quote(text)}, by cosine. ` : `${fmt.quote(typed)} has no neighbours.`,
      list.length > 0 && h("span", { class: "lm-hand" }, "Choose one to place it on the map too:"),
    ]);
    const had = near.contains(document.activeElement);
    replace(near, [
      list.map((one) =>
        h("button", { type: "button", class: "lm-button lm-chip", onclick: () => add(one.text) }, [
          one.text,
          " ",
          h("small", {}, fmt.num(one.cosine)),
        ]),
      ),
    ]);
    group.refresh();
    if (had) group.focus(0);
  }

  function drawWords() {
    const had = words.contains(document.activeElement);
    replace(words, [
      found.words.map(({ typed, id, text }, i) =>
        h(
          "button",
          {
            type: "button",
            class: `lm-button lm-chip lmn-word${id < 5 ? " lmn-unknown" : ""}`,
            "aria-pressed": String(i === chosen()),
            onclick: () => put({ chosen: i }),
          },
          [
            typed,
            typed === text
              ? null
              : h("span", {}, [
                  h("span", { class: "lm-hidden" }, " read as "),
                  h("span", { "aria-hidden": "true" }, " → "),
                  text,
                ]),
          ],
        ),
      ),
    ]);
    tiles.refresh();
    if (had) tiles.focus(chosen());
  }

  function tell() {
    const { typed, text } = found.words[chosen()];
    const list = found.near[chosen()].map((one) => `${one.text} (${fmt.num(one.cosine)})`);
    const unknown = found.words.filter(({ id }) => id < 5).map((word) => fmt.quote(word.typed));
    const known = found.points.length;
    say(
      (list.length
        ? `Nearest to ${fmt.quote(text)} are ${fmt.list(list)}.`
        : `${fmt.quote(typed)} has no neighbours.`) +
        `${
          unknown.length
            ? ` ${fmt.list(unknown)} ${unknown.length > 1 ? "are" : "is"} not among the ` +
              `${fmt.count(get("types"))} words of the table, so ` +
              (unknown.length > 1 ? "they become" : "it becomes") +
              " <unk>, a row that no training moved."
            : ""
        }` +
        `${
          known > 2
            ? ` The map shows ${fmt.count(known)} words along the two directions in which they vary most, with ` +
              `${fmt.percent(found.share)} of their variance.`
            : ""
        }` +
        `${found.left ? ` Only the first ${MOST} different words are placed.` : ""}`,
    );
  }

  function draw() {
    const text = get("words");
    if (!placed.has(text)) {
      line.put(text);
      return;
    } // asked by the address or by a kernel: what is shown stays until it is there
    found = placed.get(text);
    line.set(text);
    examples.set(text);
    drawWords();
    drawMap();
    drawNear();
    numbers.draw(
      found.words.flatMap(({ typed }, i) =>
        found.near[i].map((one) => {
          const { x, y } = found.points.find(({ id }) => id === one.id);
          return [typed, one.text, fmt.num(one.cosine), fmt.num(x), fmt.num(y)];
        }),
      ),
    );
    tell();
  }

  listen("words chosen", draw);
  const stop = onwidth(map, (w) => {
    width = Math.round(w);
    drawMap();
  });
  draw();
  return () => {
    stop();
    line.stop();
    models.stop();
  };
}, about);
