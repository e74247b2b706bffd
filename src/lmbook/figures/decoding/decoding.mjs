// DecodingSteps: write a translation word by word, or watch a beam do it. The probabilities are a trained model's.
//
// Those of the sentences to choose from were stored; for a sentence of the reader's, and behind a beginning too
// unlikely to be stored, the model is asked here (engine.mjs).
import { button, choice, disable, figure, fmt, h, replace, select, table } from "../kit/core.mjs";
import { beamStyle, rowsOf } from "./beam.mjs";
import { chooser, chooserStyle } from "./chooser.mjs";
import { best, END, MOST, likeliestOf, search, walk } from "./search.mjs";
import { grown, joined } from "./grown.mjs";
import { strange } from "../kit/format.mjs";
import { connect, ownText } from "../kit/live.mjs";
import { race, style as raceStyle } from "./race.mjs";

const MODEL = "harbourish";
const SHARES = { "as likely": 1, "half as likely": 0.5, "a third": 1 / 3, "a tenth": 0.1 }; // what may be bet

const style = `
.lmd-text { min-height: 3.2rem; padding: 0.5rem 0.7rem; border-radius: 6px; background: var(--lm-soft); }
.lmd-text p { margin: 0.15rem 0; overflow-wrap: anywhere; }
@container (min-width: 40rem) { .lm-figure .lmd-text { max-height: 7.4rem; overflow-y: auto; } }
.lmd-written > span { display: inline-block; margin-right: 0.55rem; text-align: center; }
.lmd-written small { display: block; font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.lmd-both { --lm-side: 45%; }
.lm-figure .lmd-which { gap: 0.4rem 2rem; align-items: baseline; }
.lm-figure .lmd-which > details[open] { flex-basis: 100%; }
`;

const about = {
  style: style + chooserStyle + beamStyle + raceStyle,
  allows: {
    picks: (picks, { sentences, chosen }) => {
      let node = 0;
      const { nodes } = sentences[chosen];
      for (const pick of picks) node = nodes[node]?.[pick]?.[2] ?? -1;
      return node !== -1;
    },
  },
};

export default figure(({ model, el, knob, its, put, follow, ends, say, wager }) => {
  const word = (id) => its.words[id];
  const spelled = (ids) => `${ids.map(word).join(" ")} `.replace(`${END} `, "").replace(" .", ".").trim();
  const sentence = () => its.sentences[its.chosen];
  const score = (one) => one.total / one.ids.length ** its.alpha;
  let told = false;
  let found = null;
  let trouble = "";

  const ours = its.sentences.filter((one) => !one.read).length; // one more is the reader's
  const models = connect(model, ends);
  const which = select({
    label: "Sentence",
    value: its.chosen,
    options: [...its.sentences.map(({ source }, i) => [i, source]).slice(0, ours), [ours, "(your own)"]],
    onchange: (chosen) => {
      told = false;
      if (its.sentences[chosen]) put({ picks: [], step: 0, chosen });
      else which.set(its.chosen);
    },
  });
  const own = ownText({
    models,
    needed: [{ name: MODEL, bytes: its.bytes }],
    label: "Your own Harbourish",
    verb: "Translate",
    value: its.sentences[0].source,
    work: (typed) => models.ask("tree", { name: MODEL, text: typed }),
    done: (tree, typed) => put({ picks: [], step: 0, ...joined(its, tree, ours, typed, tree.read), chosen: ours }),
  });

  /** The reader goes on where the stored tree ends: the model says what may follow. */
  async function grow(picks) {
    const at = its.chosen;
    const { source, read } = sentence();
    trouble = "";
    say(
      "The model is asked what may follow" +
        (models.has(MODEL) ? "" : `; it is fetched once, ${fmt.num(its.bytes / 1e6, 1)} MB`) +
        ".",
    );
    try {
      await models.load(MODEL);
      const tree = await grown((given) => models.ask("tree", { name: MODEL, text: source, ...given }), picks);
      if (at === its.chosen) put({ ...joined(its, tree, at, source, read), picks });
    } catch (error) {
      trouble = `What follows could not be computed: ${error.message}.`;
      draw();
    }
  }
  const who = choice({
    label: "Who writes?",
    value: its.width,
    options: ["you", "greedy", ...[2, 3, 4].map((n) => `beam of ${n}`)].map((words, width) => [width, words]),
    onchange: (width) => put({ width, step: 0 }),
  });
  const reveal = () => {
    told = !told;
    draw();
  };
  const tell = button("Show the reference", reveal, { pressed: false });
  const source = h("p", {});
  const reference = h("p", {});
  const written = h("p", { class: "lmd-written" });
  const given = h("div", { class: "lmd-text" }, source, reference, written);

  // --- you
  const pick = (i, on) =>
    on === -1 && its.picks.length + 1 < MOST ? grow([...its.picks, i]) : put({ picks: [...its.picks, i] });
  const yours = chooser({ word, pick, back: (n) => put({ picks: its.picks.slice(0, n) }) });

  // --- a beam
  const go = (step) => put({ step: Math.max(0, Math.min(found.steps.length, step)) });
  const next = button("Next step", () => go(its.step + 1), { main: true });
  const back = button("Back", () => go(its.step - 1));
  const end = button("To the end", () => go(MOST));
  const ranks = h.scroller("lmd-beam", "The beam, step by step");
  const key = h.small([
    "Rows: steps. Boxes: beginnings, with ln P; bars: shares of the likeliest. Dashed: given up; double: complete; " +
      "bold: wins.",
  ]);
  const power = knob("alpha", "alpha", [0, 2, 0.1], 1);
  const theirs = h.row(next, back, end);

  // --- all who write, in one drawing: ln P over the words
  const picture = race(word, spelled);
  const first = its.sentences[0].nodes;
  const share = Math.exp(likeliestOf(first, 1).total - likeliestOf(first, 4).total);
  const question = wager({
    name: "decoding-greedy",
    of: "chosen",
    asks: "How likely is the sentence that greedy finds, beside that of a beam of 4?",
    options: Object.entries(SHARES).map(([words, value]) => [value, words]),
    hides: picture.hides,
    told: (bet) =>
      `${fmt.num(share)} times as likely: a start that looked worse led to better words.` +
      (bet === null ? "" : ` You said: ${Object.keys(SHARES).find((words) => SHARES[words] === bet)}.`),
    settled: drawRace,
  });

  function drawRace() {
    const width = its.width > 1 ? its.width : 4;
    const bet = its.chosen === 0 && width === 4 ? question.answer : null;
    picture.draw({ nodes: sentence().nodes, picks: its.picks, width, bet });
  }

  const outputs = table({
    summary: "Complete outputs",
    caption: "What was completed so far, the best score ln P / |y|^alpha first",
    head: ["Output", "ln P", "|y|", "Score"],
  });
  const extensions = table({
    summary: "What was compared at this step",
    caption: "Every extension of the beginnings held, the likeliest first",
    head: ["Beginning and next word", "ln p of the word", "ln P", "Kept"],
  });
  const words = h("details", { class: "lm-small" }, [
    h("summary", {}, "The words of Harbourish"),
    its.lexicon.map(([kind, list]) => h("p", {}, h("b", {}, kind), `: ${list}`)),
  ]);
  el.append(
    question.node,
    h("div", { class: "lm-row lmd-which" }, which.node, words, tell),
    h("div", { class: "lm-row lmd-which" }, who.node, power.node),
    h("div", { class: "lm-split lmd-both" }, [
      h("div", {}, picture.nodes, say.node),
      h.stack(given, yours.node, theirs, ranks),
    ]),
    key,
    h.onstage("", own.node),
    h.folds(outputs.node, extensions.node),
  );

  function drawYours() {
    const { nodes } = sentence();
    const { path, total, node } = walk(nodes, its.picks);
    replace(written, [
      path.length
        ? path.map(({ id, logP }) => h("span", {}, word(id), h("small", {}, fmt.share(Math.exp(logP), 3))))
        : "…",
    ]);
    const offers = node === null ? [] : nodes[node];
    // where the longest output ends, a word is a line of text: nothing that looks like a button does nothing
    const full = path.length + 1 >= MOST;
    yours.draw(offers, full, node === null, path.length === 0);
    const ids = path.map(({ id }) => id);
    const greedy = likeliestOf(nodes, 1);
    const widest = likeliestOf(nodes, 4);
    const done = node === null ? [{ ids, total, whose: "yours" }] : [];
    outputs.draw(
      [...done, { ...greedy, whose: "greedy" }, { ...widest, whose: "beam of 4" }].map((one) => [
        `${spelled(one.ids)} (${one.whose})`,
        fmt.num(one.total),
        String(one.ids.length),
        fmt.num(score(one), 3),
      ]),
    );
    extensions.draw(
      offers.map(([id, logP, on], i) => [
        `${spelled(ids)} ${word(id)}`.trim(),
        fmt.num(logP, 3),
        fmt.num(total + logP, 3),
        i === 0 ? "by greedy" : on === -1 ? "not stored" : "no",
      ]),
    );
    const so = `ln P = ${fmt.num(total)}`;
    if (node === null) {
      const more =
        total > greedy.total + 1e-9
          ? "more than greedy finds"
          : total < greedy.total - 1e-9
            ? "less than greedy finds"
            : "as much as greedy finds";
      const same = spelled(ids) === sentence().reference ? " It is the reference." : "";
      say(`Complete: ${fmt.quote(spelled(ids))}. ${so}, ${more}.${same}`);
    } else if (!path.length)
      say(
        `The likeliest first word is ${fmt.quote(word(offers[0][0]))}, with probability ` +
          `${fmt.share(Math.exp(offers[0][1]), 3)}.${strange(sentence().read ?? [])}`,
      );
    else {
      const rest = full ? ` No output is longer than ${MOST} words.` : "";
      say(
        `${fmt.quote(spelled(ids))}: ${so}. Likeliest next: ${fmt.quote(word(offers[0][0]))}, ` +
          `${fmt.share(Math.exp(offers[0][1]), 3)}.${rest}`,
      );
    }
  }

  function drawBeam() {
    const { nodes } = sentence();
    const width = its.width;
    found = search(nodes, width);
    const step = Math.min(its.step, found.steps.length);
    const shown = found.steps.slice(0, step);
    const wins = best(found.complete, score);
    replace(ranks, rowsOf(shown, wins, word));
    for (const one of [next, end]) disable(one, step === found.steps.length);
    disable(back, step === 0);
    const complete = found.complete.filter((one) => one.ids.length <= step).sort((a, b) => score(b) - score(a));
    const leader = step === found.steps.length ? complete[0] : step ? shown[step - 1].kept[0] : null;
    replace(written, leader ? spelled(leader.ids) : "…");
    outputs.draw(
      complete.map((one) => [spelled(one.ids), fmt.num(one.total), String(one.ids.length), fmt.num(score(one), 3)]),
    );
    extensions.draw(
      step
        ? shown[step - 1].grown.map((one, i) => [
            spelled(one.ids) + (one.node === null ? " (end)" : ""),
            one.again ? "complete" : fmt.num(one.last, 3),
            fmt.num(one.total, 3),
            i < width ? "yes" : "no",
          ])
        : [],
    );
    const name = width === 1 ? "Greedy" : `The beam of ${width}`;
    if (!step) return say(`${name} has nothing yet. Press Next step.`);
    const { kept, grown } = shown[step - 1];
    if (step < found.steps.length) {
      return say(
        `Step ${step}: ${name.toLowerCase()} compared ${fmt.some(grown.length, "extension")} and holds ${kept.length}.`,
      );
    }
    const top = complete[0];
    return say(
      `${name} ends: ${fmt.quote(spelled(top.ids))}, ln P = ${fmt.num(top.total)}, best at alpha ` +
        `${fmt.num(its.alpha, 1)}.`,
    );
  }

  function draw() {
    which.set(its.chosen);
    who.set(its.width);
    source.textContent = `Source: ${sentence().source}`;
    tell.hidden = !sentence().reference;
    reference.textContent = told && sentence().reference ? `Reference: ${sentence().reference}` : "";
    tell.setAttribute("aria-pressed", String(told));
    const you = its.width === 0;
    yours.node.hidden = !you;
    theirs.hidden = you;
    power.node.hidden = you;
    key.hidden = you;
    ranks.hidden = you;
    if (you) drawYours();
    else drawBeam();
    drawRace();
    if (trouble) say(trouble);
    trouble = "";
  }

  follow("words sentences chosen width picks step alpha", draw);
}, about);
