// Translator: the reader's own sentence, translated here by trained models (engine.mjs), and where every head looked.
//
//   alpha_t = softmax_i score(s_t, h_i)      a row of weights for every token that is written, for each layer and head
//
// What is seen before a model is loaded was computed by the package. Left in a drawing stands what is looked at, right
// who looks.
import { button, choice, field, figure, fmt, h, replace, roving, table, whole } from "../kit/core.mjs";
import { strange } from "../kit/format.mjs";
import { connect, fetches, loading, sentences } from "../kit/live.mjs";
import { board, shown, top } from "./aligned.mjs";
import { opening } from "./opening.mjs";
import { stakeOn } from "./stake.mjs";
import { chosenWeights, tilesOf } from "./tiles.mjs";
import { style } from "./translator-style.mjs";

const LONGEST = 200; // characters
const about = {
  style,
  allows: {
    shown: (shown, { translators: all }) =>
      whole(shown.length, 1, all.length) &&
      new Set(shown).size === shown.length &&
      shown.every((i) => whole(i, 0, all.length - 1) && all[i].reads === all[shown[0]].reads),
    text: (text) => text.length <= LONGEST,
  },
};

export default figure(({ model, el, its, put, follow, ends, say, wager }) => {
  const all = its.translators;
  const models = connect(model, ends);
  const known = new Map(); // what was translated, and `of` which sentence: by model, sentence and beginning
  const keyOf = (i, text = its.text, forced = its.forced) =>
    JSON.stringify([all[i].name, text, i === its.shown[0] ? forced : []]);
  for (const [name, { text, found }] of Object.entries(its.first))
    known.set(JSON.stringify([name, text, []]), { ...found, of: text });
  const last = new Map(); // the translation that is shown until the next one is there
  const board0 = () => its.shown[0];
  let trouble = "";
  let spoken = known.get(keyOf(board0()))?.text; // what was translated
  let busy = false;

  const press = () => begin(ask.get(), true); // to type neither fetches nor translates
  const ask = field({ label: "", value: its.text, maxlength: LONGEST, onenter: press });
  ask.node.classList.add("lmx-ask");
  const go = button("Translate", press, { main: true });
  const { bar, note, come } = loading(models);
  const examples = h("div", {});
  let tries = null; // the chips in it
  const ways = all.map((one, i) => [JSON.stringify([i]), one.label]);
  const pairs = all.flatMap(({ reads }, i) => all.flatMap((b, k) => (k > i && b.reads === reads ? [[i, k]] : [])));
  const which = choice({
    label: "Translator",
    value: JSON.stringify(its.shown),
    options: [...ways, ...pairs.map((pair) => [JSON.stringify(pair), "side by side"])],
    onchange: (value) => change(JSON.parse(value)),
  });
  const boards = h("div", { class: "lmx-boards" });
  const places = [board((t) => put({ place: t })), board(across)];
  // another side has other words
  const side = (kind) => put({ ...([kind, its.kind].includes("encoder") ? { place: 0 } : {}), kind });
  const tiles = tilesOf(its.kind, side, put);
  const instead = h("div", { class: "lm-row" });
  const options = roving(instead, "button");
  const others = h.row(h.small(), instead);
  const open = opening({
    about: () => all[board0()],
    ready: models.has,
    load: () => begin(its.text, true),
    ask: (given) => models.ask("open", given),
    head: () => its.head,
    layer: () => its.layer,
  });
  const numbers = table({
    summary: "The weights as a table",
    caption: "A row for each token that looks, a column for each that is looked at",
  });
  const asked = keyOf(board0());
  const at = its.place;
  const first = known.get(asked);
  const hides = first?.attention.length > 1 ? tiles.covers : [say.node, numbers.node];
  const stake = () => ({ ...stakeOn(all[board0()], first, at), hides, settled: draw });
  const question = wager(its.kind === "cross" && at < first?.target.length && stake());
  /** What was bet, while that is in sight on which it was. */
  const bet = () => (keyOf(board0()) === asked && its.place === at && its.kind === "cross" ? question.answer : null);
  const going = h("div", { class: "lmx-go" }, bar, note);
  el.append(
    h.onstage("Sentence", h("div", { class: "lm-row lmx-top" }, all.length > 1 && which.node, going)),
    h.onstage("Weights", question.node),
    h.onstage("Weights", boards),
    say.node,
    h.onstage("Sentence", others),
    h.onstage("Sentence", h("div", { class: "lmx-line" }, ask.node, go)),
    h.onstage("Sentence", examples),
    h.folds(open.node, numbers.node),
  );

  const result = (i) => {
    if (known.has(keyOf(i))) last.set(i, known.get(keyOf(i)));
    return last.get(i);
  };

  /**
   * Where the text, or the translator, is another: fetch what is needed and translate. `asked`: the reader pressed the
   * button.
   */
  function begin(text, asked = false) {
    const sentence = text.slice(0, LONGEST);
    if (sentence === its.text && !asked) return undefined;
    put({ forced: [], place: 0, text: sentence });
    return work(asked);
  }

  function change(pair) {
    const { reads, layers, examples } = all[pair[0]];
    const text = reads === all[board0()].reads ? its.text : examples[0];
    put({ forced: [], kind: "cross", head: 0, layer: layers, text, shown: pair });
    ask.set(its.text);
    return work();
  }

  /** Translates what is asked for; a model that the reader asked for is fetched even where the first view would do. */
  async function work(asked = false) {
    const text = its.text;
    trouble = text.trim() ? "" : `Type a sentence in ${all[board0()].reads}; there is no word to translate yet.`;
    if (!text.trim()) return draw();
    busy = true;
    draw();
    try {
      for (const i of its.shown) {
        if (known.has(keyOf(i)) && (models.has(all[i].name) || !asked)) continue;
        await come([all[i]]);
        const key = keyOf(i);
        const given = { name: all[i].name, text: its.text, forced: i === board0() ? its.forced : [] };
        known.set(key, { ...(await models.ask("translate", given)), of: given.text });
      }
    } catch (error) {
      trouble = `The translation could not be made: ${error.message}. What you see is the last one that could.`;
    }
    busy = false;
    if (its.text !== text && its.text.trim()) return work(asked); // typed on meanwhile
    return draw();
  }

  /** A word of the second board is chosen: of the first, the one that looks most at the same word of the source. */
  function across(t) {
    const [first, second] = its.shown.map((i, k) => view(result(i), k ? 99 : its.layer, k ? 0 : its.head));
    put({ place: like(first, top(second.rows[t])) });
  }
  const like = ({ rows }, i) => top(rows.map((row) => row[i] ?? 0));

  /** Another word at this place: what stands before it stays, what follows is written anew. */
  function instead_of(id) {
    const found = result(board0());
    const before = found.target.slice(0, its.place).map((token) => token.id);
    put({ kind: "cross", forced: id === null ? [] : [...before, id] });
    work();
  }

  /** What the drawing shows of a translation: who looks, what is looked at, and the weights. */
  function view(found, layer, head) {
    const way = found.attention.some((one) => one.kind === its.kind) ? its.kind : "cross";
    const maps = found.attention.filter((one) => one.kind === way);
    const map = maps[Math.min(layer, maps.length) - 1];
    const queries = way === "encoder" ? found.source : found.target;
    const seen = way === "self" ? [{ text: "<sos>" }, ...found.target.slice(0, -1)] : found.source;
    const place = Math.min(its.place, queries.length - 1);
    return { way, maps, map, queries, seen, rows: chosenWeights(map, head), place };
  }

  function drawOthers(found, now) {
    others.hidden = now.way === "encoder";
    if (others.hidden) return;
    const token = found.target[now.place];
    others.firstChild.textContent = `Instead of “${shown(token.text).word}” (P = ${fmt.prob(token.p, 2)}):`;
    const chip = (words, id) => button(words, () => instead_of(id), { chip: true });
    const word = ({ id, text, p }) => chip(`${text.trim() || "␣"} ${p ? fmt.prob(p, 2) : "< 0.001"}`, id);
    const five = token.others.filter(({ id }) => id !== token.id).slice(0, 5);
    options.refill([five.map(word), its.forced.length > 0 && chip("Its own words again", null)]);
  }

  function draw() {
    const pair = its.shown;
    const about = all[pair[0]];
    which.set(JSON.stringify(pair));
    ask.set(its.text);
    ask.node.querySelector("label").textContent = `Your sentence in ${about.reads}`;
    ask.input.lang = about.reads === "German" ? "de" : "en";
    if (examples.dataset.of !== about.reads) {
      examples.dataset.of = about.reads;
      tries = sentences(about.examples, (text) => begin(text, true));
      replace(examples, tries.node);
    }
    tries.set(its.text);
    const missing = pair.map((i) => all[i]).filter(({ name }) => !models.has(name));
    if (bar.hidden) note.textContent = busy ? "Translating …" : missing.length ? fetches(missing) : "";
    const found = result(pair[0]);
    const there = pair.filter((i) => result(i));
    const inside = [...there.map((_, k) => places[k].node), ...(found ? [tiles.node] : [])];
    if (inside.length !== boards.children.length || inside.some((node, k) => node !== boards.children[k]))
      replace(boards, inside); // else the focus would go
    boards.classList.toggle("lmx-two", there.length > 1);
    const now = found && view(found, its.layer, its.head);
    const views = there.map((i, k) => {
      if (!k) return now;
      const second = view(result(i), 99, 0);
      const alike = now.way !== "encoder" && second.way === now.way;
      return alike ? { ...second, place: like(second, top(now.rows[now.place])) } : second;
    });
    for (const [k, now] of views.entries()) {
      const { label } = all[there[k]];
      const alone = now.maps.length === 1 && now.map.weights.length === 1;
      const head = k || !its.head ? "mean of the heads" : `head ${its.head}`;
      places[k].draw({
        ...{ ...now, found: result(there[k]), alone, forced: k ? 0 : its.forced.length },
        label: alone ? (there.length < 2 ? "" : label) : `${label}, layer ${now.map.layer}, ${head}`,
        open: alone && question.open,
        said: k || !alone ? null : bet(),
      });
    }
    for (const part of [others, open.node, numbers.node]) part.hidden = !found;
    if (!found) return say(trouble || "Press Translate.");
    tiles.draw(now, [its.layer, its.head], bet());
    drawOthers(found, now);
    open.draw(found, now);
    numbers.draw(
      now.rows.map((row, t) => [shown(now.queries[t].text, t).word, ...row.map((w) => fmt.num(w))]),
      ["token", ...now.seen.map(({ text }, i) => shown(text, i).word)],
    );
    if (trouble) return say(trouble);
    const cut = found.ended ? "" : " It was stopped after 60 tokens.";
    const fresh = spoken === found.text ? "" : `${fmt.quote(found.text)} `; // a translation is read out once
    spoken = found.text;
    if (fresh) return say(`${fresh}${strange(found.source)}${cut}`.trim());
    const quoted = ({ text }) => fmt.quote(shown(text).word);
    const [first, second] = views.map(({ seen, rows, place }) => quoted(seen[top(rows[place])]));
    const weight = fmt.num(Math.max(...now.rows[now.place]));
    const told = `${quoted(now.queries[now.place])} looks most at ${first}, weight ${weight}`;
    const beside = second ? `; beside it at ${second}` : "";
    return say(`${told}${beside}.${strange(found.source)}${cut}`);
  }

  open.node.addEventListener("toggle", draw);
  follow("text shown place forced kind layer head", draw);
}, about);
