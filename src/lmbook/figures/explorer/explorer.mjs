// The n-gram explorer: type a history, see what the training text says about the next word, sample onwards.
// The text is counted here in the page; the models are those of ngram.mjs, which equal lmbook.ngram.
import { answered, button, disable, field, figure, fmt, h, replace, roving, slider, table } from "../kit/core.mjs";
import { nextWords, style, wayDown } from "./view.mjs";
import { KINDS, read, shelf, typed } from "./shelf.mjs";
import { lines, named, points, seen, sentence, sight, times, why } from "./words.mjs";
import { text as harbour } from "./harbour.mjs";
import * as ngram from "../engine/ngram.mjs";
import { generator, likeliest } from "../kit/numbers.mjs";

const ORDERS = 5;
const SHOWN = 10;
// The stops of the slider for k: 0.0001, 0.00015, 0.0002, ..., 7, 10.
const STOPS = [-4, -3, -2, -1, 0]
  .flatMap((power) => [1, 1.5, 2, 3, 5, 7].map((x) => Number(`${x}e${power}`)))
  .concat(10);

const pause = () => new Promise((then) => setTimeout(then)); // whatever else the page has to do comes first

const about = { style, allows: { k: (k) => k > 0 && k < Infinity } };

export default figure(async ({ el, knob, pick, its, put, follow, say, wager }) => {
  const training = read(its.text || `${harbour}\n`);
  const vocabulary = ngram.Vocabulary.build(training);
  const counts = new ngram.Counts(vocabulary.encode(training), ORDERS, vocabulary);
  const held = vocabulary.encode(read(its.test));
  const models = shelf(counts, held, its.weights);
  const current = () => models.take(its.smoothing, its.n, its.k);
  // What takes longest, in pieces: a phone answers in between.
  for (let order = 1; order <= its.n; order += 1) {
    counts.raw(order);
    await pause();
  }
  current();
  await pause();

  // Going on from the history; the same presses give the same words.
  const first = { history: its.history, n: its.n, k: its.k, smoothing: its.smoothing };
  const past = [];
  let random = generator(its.seed);
  const go = (history) => {
    if (history === its.history) return;
    past.push(its.history);
    put({ history });
  };
  const append = (words) => go([its.history.trim(), ...words].filter(Boolean).join(" "));
  const draws = (draw) => append(vocabulary.decode(draw(current().model, vocabulary.encode(typed(its.history)))));
  const restart = () => {
    random = generator(its.seed);
    past.length = 0;
    put(first);
  };

  const history = field({ label: "History", value: its.history, oninput: go, placeholder: "no word yet" });
  const undoing = button("Undo", () => put({ history: past.pop() }));
  const tools = h("div", { class: "lm-row", role: "toolbar", "aria-label": "Go on from the history" }, [
    button("Sample a word", () => draws((model, ids) => [ngram.draw(model, random, ids)])),
    button("Sample a sentence", () => draws((model, ids) => ngram.sampleSentence(model, random, ids))),
    undoing,
    button("Start again", restart),
  ]);
  roving(tools, "button");
  const smoothing = pick("smoothing", "Smoothing", Object.entries({ ...KINDS, none: "none" }));
  const sees = (v) => (v > 1 ? fmt.some(v - 1, "word") : "no word");
  const n = knob("n", "Order n", [1, ORDERS], (v) => `n = ${v}: ${sees(v)} before`);
  const far = (i, k) => Math.abs(Math.log(STOPS[i] / k));
  const stop = (k) => STOPS.reduce((best, _, i) => (far(i, k) < far(best, k) ? i : best), 0);
  const k = slider({
    label: "Added count k",
    min: 0,
    max: STOPS.length - 1,
    value: stop(its.k),
    text: (i) => `k = ${stop(its.k) === i ? its.k : STOPS[i]}`,
    oninput: (i) => put({ k: STOPS[i] }),
  });

  const score = h("p", { class: "lmx-score", hidden: !held.length });
  const after = h("p", { class: "lmx-head lmx-sight" });
  const words = nextWords(SHOWN, (word) => append([word]));
  const down = wayDown(ORDERS);
  const wordTable = table({ caption: "The likeliest next words" });
  const levelTable = table({
    summary: "The way down as a table",
    caption: "What each order has seen, gives and passes on",
    head: ["order", "history", "seen", "different followers", "discount", "reaches it", "gives", "passes on"],
  });
  const triedTable = table({
    summary: "The settings you have tried",
    caption: "Perplexity on the held-out text",
    head: ["model", "perplexity", "stored n-grams"],
  });
  const head = h(
    "p",
    { class: "lmx-head" },
    "The way down ",
    h("span", {}, "from the longest history to no history at all"),
  );
  const controls = h.stack(smoothing.node, k.node, n.node, score, say.node);
  const split = { class: "lm-split", style: "--lm-side: min(22.5rem, 46%)" };
  el.append(
    h("div", { class: "lmx" }, [
      h("div", { class: "lmx-go" }, history.node, tools),
      h.onstage("Words", h("div", split, controls, h("div", {}, after, words.node))),
      h.onstage("Histories", h.stack(betOn(typed(its.history))?.node, head, down.node)),
      h.folds(wordTable.node, levelTable.node, triedTable.node),
    ]),
  );

  /** How often do two words stand in the text, if the last of them alone stands there so often? */
  function betOn(tokens) {
    const [one, two] = [1, 2].map((many) => counts.followers(vocabulary.encode(tokens.slice(-many))).total);
    if (tokens.length < 2 || two < 2 || one < 400) return null;
    const near = [2, 20, 200].map((part) => Number((one / part).toPrecision(1)));
    const far = (/** @type {number} */ guess) => Math.abs(Math.log(guess / two));
    const [last, both] = [1, 2].map((many) => named(tokens.slice(-many)));
    const counted = [...down.node.querySelectorAll(".lmx-times")];
    return wager({
      name: "explorer-seen",
      asks: `${last} stands before a word ${fmt.count(one)} times in the text. And ${both}, about?`,
      options: near.map((guess) => [guess, fmt.count(guess)]),
      hides: [...counted.slice(0, ORDERS - 2), ...words.node.querySelectorAll(".lmx-raw"), say.node],
      told: (bet) => {
        const right = near.reduce((best, guess) => (far(guess) < far(best) ? guess : best));
        return `${both} was seen ${times(two)}${answered(bet, right, `, not ${fmt.count(bet ?? 0)}.`)}`;
      },
    });
  }

  function draw() {
    const now = current();
    const tokens = typed(its.history);
    const ids = vocabulary.encode(tokens);
    const recent = now.model.recent(ids);
    const path = now.model.path(ids);
    const p = now.model.distribution(ids);
    const { total, words: raw } = counts.followers(recent);

    history.set(its.history);
    k.set(stop(now.k));
    k.input.disabled = now.kind !== "add-k";
    k.node.classList.toggle("lmx-off", k.input.disabled);
    disable(undoing, !past.length);

    const rows = likeliest(p, SHOWN)
      .filter((id) => p[id] > 0)
      .map((id) => ({
        word: vocabulary.tokens[id],
        p: p[id],
        raw: raw.get(id) ?? 0,
        of: total,
        parts: path.map((level) => [level.order, level.mass(id)]).filter(([, mass]) => mass > 0),
      }));
    replace(after, sight(tokens, recent.length, vocabulary));
    words.draw(rows);

    const told = (level) => {
      const { arrives, passes } = level ?? { ...path.at(-1), passes: 1 };
      return { level, left: arrives, gives: arrives * (1 - passes) };
    };
    const long = ids.slice(Math.max(0, ids.length - ORDERS + 1)); // with what the model does not see
    const every = [...long.map((_, i) => long.slice(i)), []].map((suffix) => {
      const order = suffix.length + 1;
      const used = order <= recent.length + 1;
      const level = path.find((one) => one.order === order);
      const known = counts.followers(suffix);
      const sorted = [...known.words].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
      const followers = sorted.map(([id, c]) => [vocabulary.tokens[id], c]);
      const one = { order, used, history: vocabulary.decode(suffix), total: known.total, followers };
      return {
        ...one,
        ...(used ? told(level) : { level, gives: 0, left: 0 }),
        about: `${seen(one)} ${used ? why(now, level, vocabulary.V) : `With n = ${now.n} the model does not see it.`}`,
        lines: () => lines(counts.ids, vocabulary, suffix),
      };
    });
    const uniform = { order: 0, used: true, history: [], total: 0, followers: [], lines: () => [] };
    every.push({ ...uniform, ...told(path.at(-1)), about: why(now, path.at(-1), vocabulary.V) });
    down.draw(every, training.length);
    const levels = every.filter(({ used }) => used);

    const lowest = models.tried().reduce((a, b) => (b.perplexity < a.perplexity ? b : a));
    const zeros = now.zeros ? [`${fmt.count(now.zeros)} of ${fmt.count(held.length)} tokens got probability 0`] : [];
    const record = lowest === now ? "the lowest so far" : `lowest so far: ${points(lowest.perplexity)}, ${lowest.name}`;
    const note = [...zeros, ...(lowest.perplexity < Infinity ? [record] : [])].join("; ");
    const reached = h("b", {}, points(now.perplexity));
    replace(score, "Perplexity on the held-out text ", reached, " ", h("span", {}, note));

    const from = levels.map(({ order }) => `from ${order ? `order ${order}` : "uniform"}`);
    wordTable.draw(
      rows.map(({ word, p, raw, parts }) => [
        word,
        fmt.prob(p, 4),
        total ? `${raw} of ${total}` : "none",
        ...levels.map(({ order }) => fmt.prob(parts.find(([from]) => from === order)?.[1] ?? 0)),
      ]),
      ["word", "probability", "raw count", ...from],
    );
    levelTable.draw(
      levels.map(({ order, history: h_, total, followers, level, gives }) => [
        order || "uniform",
        h_.join(" ") || "(none)",
        order ? fmt.count(total) : "",
        order ? fmt.count(followers.length) : "",
        level?.discount ? fmt.num(level.discount, 3) : "",
        fmt.prob(level?.arrives ?? 0),
        fmt.prob(gives),
        fmt.prob(level ? level.arrives * level.passes : 0),
      ]),
    );
    triedTable.draw(
      models.tried().map((one) => [one.name, held.length ? fmt.num(one.perplexity) : "", fmt.count(one.stored)]),
    );
    say(sentence(now, vocabulary.decode(recent), rows, total));
  }

  follow("history n k smoothing", draw);
}, about);
