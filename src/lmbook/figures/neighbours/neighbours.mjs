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
.lm-figure .lmn-place { cursor: pointer; }
.lm-figure .lmn-fly .lmn-place { transition: transform 0.3s ease-out; }
.lm-figure .lmn-hit { fill: transparent; }
.lm-figure .lmn-place:hover .lmn-dot { stroke: var(--lm-text); stroke-width: 2; }
.lm-figure .lmn-lead { stroke: var(--lm-edge); stroke-dasharray: 1.5 2; }
.lm-figure .lmn-nowhere { padding: 2rem 1rem; border: 1px dashed var(--lm-edge); border-radius: 6px;
  text-align: center; }
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
      ...[16, -16, 32, -32, 48, -48].flatMap((aside) => [
        [x + r + 8, y - LINE / 2 + aside],
        [x - r - 8 - wide, y - LINE / 2 + aside],
      ]),
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

export default figure(({ model, el, get, put, listen, say, wager }) => {
  const placed = new Map(Object.entries(get("known"))); // by the text that was typed
  const models = connect(model);
  let found = [...placed.values()][0];
  let width = 0;
  let flip = [1, 1]; // of the axes, so that a word that stays on the map stays on its side
  const at = new Map(); // of the map as it is drawn: id, the place of its word
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
  const svg = s("svg", {});
  const links = s("g", {});
  const dots = s("g", {});
  svg.append(links, dots);
  const nowhere = h(
    "p",
    { class: "lmn-nowhere" },
    "<unk>, what all words become that the table does not have, has no place: no training moved its row.",
  );
  const map = h("div", { class: "lm-chart lmn-map", "aria-hidden": "true" }, svg, nowhere);
  const rest = h("p", { class: "lm-small lm-muted lmn-rest", role: "status" });
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
  const { word: asked, cosines } = get("guess");
  const best = cosines.indexOf(Math.max(...cosines));
  const first = found.words;
  let question = null;
  if (first.length > 2)
    question = wager({
      name: "neighbours-guess",
      asks: `Which of these words is ${fmt.quote(asked)} nearest to?`,
      options: first.map(({ typed }, i) => [i, typed]),
      told: (bet) =>
        `${fmt.quote(first[best].typed)}, with a cosine of ${fmt.num(cosines[best])}.` +
        (bet === null
          ? ""
          : bet === best
            ? " So you said."
            : ` You said ${fmt.quote(first[bet].typed)}, which has ${fmt.num(cosines[bet])}.`),
      settled: (bet) => {
        const text = `${get("words")} ${asked}`;
        if (question && bet !== null && placed.has(text)) put({ words: text, chosen: first.length });
      },
    });
  el.append(
    ...(question ? [question.node] : []),
    line.node,
    examples.node,
    words,
    rest,
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

  /** A dot is a button for the mouse and the finger: a word that was typed is chosen, another one is placed. */
  function press(id, text) {
    const i = found.words.findIndex((word) => word.id === id);
    if (i >= 0) put({ chosen: i });
    else add(text);
  }

  function drawMap(fly = false) {
    if (!width) return;
    svg.classList.toggle("lmn-fly", fly);
    const { points, words: typed } = found;
    svg.style.display = points.length ? "" : "none";
    nowhere.hidden = points.length > 0;
    const tall = Math.round(Math.max(250, Math.min(430, 0.72 * width)));
    flip = flip.map((sign, axis) => {
      const moved = points.reduce((sum, one) => {
        const before = at.get(one.id);
        return before ? sum + before[axis] * one[axis ? "y" : "x"] : sum;
      }, 0);
      return moved ? Math.sign(moved) : sign;
    });
    const xs = points.map(({ x }) => flip[0] * x);
    const ys = points.map(({ y }) => flip[1] * y);
    const middle = (values) => (Math.max(...values) + Math.min(...values)) / 2;
    const span = (values) => Math.max(1e-9, Math.max(...values) - Math.min(...values));
    // equal for both axes: distances can be compared
    const scale = Math.min((width - 110) / span(xs), (tall - 56) / span(ys));
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
    const now = new Set(found.near[chosen()].map(({ id }) => id));
    const rank = ({ id }) => (own.has(id) ? 0 : now.has(id) ? 1 : 2);
    const all = [...place.values()]
      .map((dot) => ({ ...dot, must: own.has(dot.id), r: own.has(dot.id) ? 5 : 3 }))
      .sort((a, b) => rank(a) - rank(b));
    const boxes = labels(all, width);
    const given = { viewBox: `0 0 ${width} ${tall}`, width, height: tall };
    for (const [name, value] of Object.entries(given)) svg.setAttribute(name, String(value));
    replace(links, [
      typed.flatMap(({ id }, i) =>
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
      ),
    ]);
    // a word that stays flies to its new place
    const before = new Map([...dots.children].map((one) => [one.getAttribute("data-id"), one]));
    const groups = all.map((dot, i) => {
      const group = /** @type {SVGElement} */ (
        before.get(String(dot.id)) ?? s("g", { class: "lmn-place", "data-id": dot.id })
      );
      const box = boxes[i];
      const [x, y] = box ? [box[0] - dot.x, box[1] + 11 - dot.y] : [0, 0];
      const far = box && (box[0] > dot.x + dot.r + 6 || box[2] < dot.x - dot.r - 6) && Math.abs(y - 4) > 9;
      replace(group, [
        far ? s("line", { class: "lmn-lead", x1: 0, y1: 0, x2: x > 0 ? x : box[2] - dot.x, y2: y - 4 }) : null,
        s("circle", { class: `lmn-dot${dot.must ? " lmn-typed" : ""}`, r: dot.r }),
        box
          ? s("text", { class: `lmn-label${dot.must ? " lmn-typed" : ""}`, x: x.toFixed(1), y: y.toFixed(1) }, dot.text)
          : null,
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
    const near = found.near[chosen()];
    const unknown = found.words.filter(({ id }) => id < 5).map((word) => fmt.quote(word.typed));
    say(
      near.length
        ? `Nearest to ${fmt.quote(text)}: ${near[0].text} (${fmt.num(near[0].cosine)}).` +
            (found.points.length > 2 ? ` The map holds ${fmt.percent(found.share)} of the variance.` : "")
        : `${fmt.quote(typed)} has no neighbours.`,
    );
    rest.textContent = [
      found.left ? `Only the first ${MOST} different words are placed.` : "",
      unknown.length
        ? `${fmt.list(unknown)} ${unknown.length > 1 ? "are" : "is"} not among the ${fmt.count(get("types"))} words ` +
          "of the table: <unk>, a row that no training moved."
        : "",
    ]
      .join(" ")
      .trim();
    rest.hidden = !rest.textContent;
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
    drawMap(true);
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
