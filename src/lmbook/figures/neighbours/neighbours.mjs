// NeighbourMap: words that the reader types, their nearest words, and all of them in a plane.
//
//   cos(a, b) = a . b / (|a| |b|)        the plane: the two directions in which the words shown vary most
//
// The examples were placed by the package; for other words the same table is searched here (engine.mjs).
import { answered, button, chips, figure, fmt, h, replace, roving, table } from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";
import { plane, planeStyle } from "./plane.mjs";

const NAME = "skip-gram-page";
const MOST = 6;
const style = `
.lm-figure .lmn-words { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.lm-figure .lmn-word { max-width: 100%; overflow-wrap: anywhere; font-weight: 600; }
.lm-figure .lmn-word.lmn-unknown { border-style: dashed; border-color: var(--lm-2); }
.lm-figure .lmn-word span { color: var(--lm-muted); font-weight: 400; }
.lm-figure .lmn-rest { min-height: 1.45em; }
.lm-figure .lmn-near { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.lm-figure .lmn-near small { color: var(--lm-muted); font-variant-numeric: tabular-nums; }
`;

const about = { style: style + planeStyle, allows: { words: (text) => /[\p{L}\p{N}]/u.test(text) } };

export default figure(({ model, el, its, put, follow, ends, say, wager }) => {
  const placed = new Map(Object.entries(its.known)); // by the text that was typed
  const models = connect(model, ends);
  let found = [...placed.values()][0];
  const chosen = () => Math.max(0, Math.min(found.words.length - 1, its.chosen));

  const line = ownText({
    models,
    needed: [{ name: NAME, bytes: its.bytes }],
    label: "Words",
    verb: "Place them",
    value: its.words,
    maxlength: 80,
    work: (text) => models.ask("neighbours", { name: NAME, text, most: MOST }),
    done: (result, text) => {
      placed.set(text, result);
      if (its.words === text) draw();
      else put({ chosen: 0, words: text });
    },
  });
  const examples = chips({ label: "Try", options: its.examples, onchoose: (words) => put({ chosen: 0, words }) });
  const words = h.group("lmn-words", "Words on the map: one tab stop, arrows move, Enter shows the neighbours");
  const tiles = roving(words, "button", { onmove: (at) => put({ chosen: at }) });
  const map = plane(press);
  const rest = h("p", { class: "lm-small lm-muted lmn-rest", role: "status" });
  const title = h.small();
  const near = h.group("lmn-near", "Its neighbours: one tab stop, arrows move, Enter places the word on the map");
  const group = roving(near, "button");
  const numbers = table({
    caption: "Neighbours by cosine, and where they are on the map",
    head: ["Word", "Neighbour", "Cosine", "x", "y"],
  });
  const { word: asked, cosines } = its.guess;
  const best = cosines.indexOf(Math.max(...cosines));
  const first = found.words;
  let yours = null; // the word that was bet on
  const question = wager(
    first.length > 2 && {
      name: "neighbours-guess",
      of: "words",
      asks: `Which of these words is ${fmt.quote(asked)} nearest to?`,
      options: first.map(({ typed }, i) => [i, typed]),
      told: (bet) =>
        `${fmt.quote(asked)} is nearest to ${fmt.quote(first[best].typed)}: ${fmt.num(cosines[best])}` +
        answered(bet, best, `; ${fmt.quote(first[bet ?? best].typed)} has ${fmt.num(cosines[bet ?? best])} (dashed).`),
      settled: (bet, now) => {
        const text = `${its.words} ${asked}`;
        if (!now || !placed.has(text)) return;
        yours = first[bet]?.id ?? null;
        put({ words: text, chosen: first.length });
      },
    },
  );
  el.append(
    question.node,
    line.node,
    h.onstage("", examples.node),
    words,
    rest,
    h("div", { class: "lm-split lm-split-right" }, map.node, h.stack(title, near, say.node)),
    numbers.node,
  );

  function add(word) {
    const typed = found.words.map((one) => one.typed).filter((one) => one !== word);
    const kept = typed.slice(1 - MOST);
    const text = [...kept, word].join(" ");
    if (placed.has(text)) put({ words: text, chosen: kept.length });
    else line.put(text).then(() => its.words === text && put({ chosen: kept.length }));
  }

  /** A dot is a button for the mouse and the finger: a word that was typed is chosen, another one is placed. */
  function press(id, text) {
    const i = found.words.findIndex((word) => word.id === id);
    if (i >= 0) put({ chosen: i });
    else add(text);
  }

  function drawNear() {
    const { text } = found.words[chosen()];
    const list = found.near[chosen()];
    const hand = h("span", { class: "lm-hand" }, "Choose one to place it on the map too:");
    replace(title, list.length > 0 && [`Nearest to ${fmt.quote(text)}, by cosine. `, hand]);
    const tile = ({ text, cosine }) =>
      button([text, " ", h("small", {}, fmt.num(cosine))], () => add(text), { chip: true });
    group.refill(list.map(tile));
  }

  function drawWords() {
    const arrow = () => h("span", { "aria-hidden": "true" }, " → ");
    const readAs = (text) => h("span", {}, h("span", { class: "lm-hidden" }, " read as "), arrow(), text);
    const tile = ({ typed, id, text }, i) => {
      const about = { class: `lm-button lm-chip lmn-word${id < 5 ? " lmn-unknown" : ""}`, pressed: i === chosen() };
      return button([typed, typed !== text && readAs(text)], () => put({ chosen: i }), about);
    };
    tiles.refill(found.words.map(tile), chosen());
  }

  function tell() {
    const { typed, text } = found.words[chosen()];
    const near = found.near[chosen()];
    const unknown = found.words.filter(({ id }) => id < 5).map((word) => fmt.quote(word.typed));
    const held = found.points.length > 2 ? ` The map holds ${fmt.percent(found.share)} of the variance.` : "";
    if (near.length) say(`Nearest to ${fmt.quote(text)}: ${near[0].text} (${fmt.num(near[0].cosine)}).${held}`);
    else say(`${fmt.quote(typed)} has no neighbours.`);
    const among = `not among the ${fmt.count(its.types)} words of the table: <unk>, a row that no training moved.`;
    rest.textContent = [
      found.left ? `Only the first ${MOST} different words are placed.` : "",
      unknown.length ? `${fmt.list(unknown)} ${unknown.length > 1 ? "are" : "is"} ${among}` : "",
    ].join(" ");
  }

  function draw() {
    const text = its.words;
    // asked by the address or by a kernel: what is shown stays until it is there
    if (!placed.has(text)) return void line.put(text);
    found = placed.get(text);
    line.set(text);
    examples.set(text);
    drawWords();
    const ids = [found.words.find(({ typed }) => typed === asked)?.id, yours];
    map.draw({ found, chosen: chosen(), bet: ids });
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

  follow("words chosen", draw);
}, about);
