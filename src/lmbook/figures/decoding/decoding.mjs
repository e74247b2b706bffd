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
.lm-figure .lmd-which { gap: 0.4rem 2rem; align-items: baseline; }
.lm-figure .lmd-which > details[open] { flex-basis: 100%; }
`;

const about = {
  style: style + chooserStyle + beamStyle + raceStyle,
  allows: {
    picks: (picks, { sentences, chosen }) =>
      picks.reduce((node, pick) => sentences[chosen].nodes[node]?.[pick]?.[2] ?? -1, 0) !== -1,
  },
};

export default figure(({ model, el, knob, its, put, follow, ends, say, wager }) => {
  const word = (id) => its.words[id];
  const spelled = (ids) => `${ids.map(word).join(" ")} `.replace(`${END} `, "").replace(" .", ".").trim();
  const sentence = () => its.sentences[its.chosen];
  const score = (one) => one.total / one.ids.length ** its.alpha;
  let told = false;
  let steps = []; // of the beam
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
    const once = models.has(MODEL) ? "" : `; it is fetched once, ${fmt.num(its.bytes / 1e6, 1)} MB`;
    say(`The model is asked what may follow${once}.`);
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

  // --- you
  const pick = (i, on) =>
    on === -1 && its.picks.length + 1 < MOST ? grow([...its.picks, i]) : put({ picks: [...its.picks, i] });
  const yours = chooser({ word, pick, back: (n) => put({ picks: its.picks.slice(0, n) }) });

  // --- a beam
  const go = (step) => put({ step: Math.max(0, Math.min(steps.length, step)) });
  const next = button("Next step", () => go(its.step + 1), { main: true });
  const back = button("Back", () => go(its.step - 1));
  const end = button("To the end", () => go(MOST));
  const ranks = h.scroller("lmd-beam", "The beam, step by step");
  const key = h.small(
    "Rows: steps. Boxes: beginnings, with ln P; bars: shares of the likeliest. ",
    "Dashed: given up; double: complete; bold: wins.",
  );
  const power = knob("alpha", "alpha", [0, 2, 0.1], 1);
  const theirs = h.row(next, back, end);

  // --- all who write, in one drawing: ln P over the words
  const picture = race(word, spelled);
  const [one, four] = [1, 4].map((width) => likeliestOf(its.sentences[0].nodes, width).total);
  const question = wager({
    name: "decoding-greedy",
    of: "chosen",
    asks: "How likely is the sentence that greedy finds, beside that of a beam of 4?",
    options: Object.entries(SHARES).map(([words, value]) => [value, words]),
    hides: picture.hides,
    told: (bet) =>
      `${fmt.num(Math.exp(one - four))} times as likely: a start that looked worse led to better words.` +
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
  const lexicon = h("details", { class: "lm-small" }, [
    h("summary", {}, "The words of Harbourish"),
    its.lexicon.map(([kind, list]) => h("p", {}, h("b", {}, kind), `: ${list}`)),
  ]);
  el.append(
    question.node,
    h("div", { class: "lm-row lmd-which" }, which.node, lexicon, tell),
    h("div", { class: "lm-row lmd-which" }, who.node, power.node),
    h("div", { class: "lm-split", style: "--lm-side: 45%" }, [
      h("div", {}, picture.nodes, say.node),
      h.stack(h("div", { class: "lmd-text" }, source, reference, written), yours.node, theirs, ranks),
    ]),
    key,
    h.onstage("", own.node),
    h.folds(outputs.node, extensions.node),
  );

  const complete = (all) => {
    const name = ({ ids, whose = "" }) => spelled(ids) + whose;
    outputs.draw(all.map((one) => [name(one), fmt.num(one.total), one.ids.length, fmt.num(score(one), 3)]));
  };

  function drawYours() {
    const { nodes, reference: right, read } = sentence();
    const { path, total, node } = walk(nodes, its.picks);
    const chance = (/** @type {number} */ logP) => fmt.share(Math.exp(logP), 3);
    replace(written, [
      path.length ? path.map(({ id, logP }) => h("span", {}, word(id), h("small", {}, chance(logP)))) : "…",
    ]);
    const offers = node === null ? [] : nodes[node];
    // where the longest output ends, a word is a line of text: nothing that looks like a button does nothing
    const full = path.length + 1 >= MOST;
    yours.draw(offers, full, node === null, path.length === 0);
    const ids = path.map(({ id }) => id);
    const others = [1, 4].map((n) => ({ ...likeliestOf(nodes, n), whose: n > 1 ? " (beam of 4)" : " (greedy)" }));
    const [greedy] = others;
    complete(node === null ? [{ ids, total, whose: " (yours)" }, ...others] : others);
    extensions.draw(
      offers.map(([id, logP, on], i) => [
        `${spelled(ids)} ${word(id)}`.trim(),
        fmt.num(logP, 3),
        fmt.num(total + logP, 3),
        i === 0 ? "by greedy" : on === -1 ? "not stored" : "no",
      ]),
    );
    const so = `${fmt.quote(spelled(ids))}${node === null ? "." : ":"} ln P = ${fmt.num(total)}`;
    if (node === null) {
      const ahead = total - greedy.total;
      const more = Math.abs(ahead) <= 1e-9 ? "as much as" : ahead > 0 ? "more than" : "less than";
      return say(`Complete: ${so}, ${more} greedy finds.${spelled(ids) === right ? " It is the reference." : ""}`);
    }
    const [[id, logP]] = offers;
    const likeliest = fmt.quote(word(id));
    if (!path.length)
      return say(`The likeliest first word is ${likeliest}, with probability ${chance(logP)}.${strange(read ?? [])}`);
    const rest = full ? ` No output is longer than ${MOST} words.` : "";
    return say(`${so}. Likeliest next: ${likeliest}, ${chance(logP)}.${rest}`);
  }

  function drawBeam() {
    const width = its.width;
    const found = search(sentence().nodes, width);
    steps = found.steps;
    const step = Math.min(its.step, steps.length);
    const shown = steps.slice(0, step);
    const done = step === steps.length;
    replace(ranks, rowsOf(shown, best(found.complete, score), word));
    for (const one of [next, end]) disable(one, done);
    disable(back, step === 0);
    const ended = found.complete.filter((one) => one.ids.length <= step).sort((a, b) => score(b) - score(a));
    const { kept, grown } = shown.at(-1) ?? { kept: [], grown: [] };
    const [top] = done ? ended : kept;
    replace(written, top ? spelled(top.ids) : "…");
    complete(ended);
    extensions.draw(
      grown.map((one, i) => [
        spelled(one.ids) + (one.node === null ? " (end)" : ""),
        one.again ? "complete" : fmt.num(one.last, 3),
        fmt.num(one.total, 3),
        i < width ? "yes" : "no",
      ]),
    );
    const name = width === 1 ? "Greedy" : `The beam of ${width}`;
    const compared = `${name.toLowerCase()} compared ${fmt.some(grown.length, "extension")} and holds ${kept.length}`;
    if (!step) return say(`${name} has nothing yet. Press Next step.`);
    if (!done) return say(`Step ${step}: ${compared}.`);
    const alpha = fmt.num(its.alpha, 1);
    return say(`${name} ends: ${fmt.quote(spelled(top.ids))}, ln P = ${fmt.num(top.total)}, best at alpha ${alpha}.`);
  }

  function draw() {
    which.set(its.chosen);
    who.set(its.width);
    source.textContent = `Source: ${sentence().source}`;
    tell.hidden = !sentence().reference;
    reference.textContent = told && sentence().reference ? `Reference: ${sentence().reference}` : "";
    tell.ariaPressed = String(told);
    yours.node.hidden = its.width > 0;
    for (const one of [theirs, power.node, key, ranks]) one.hidden = !its.width;
    if (its.width) drawBeam();
    else drawYours();
    drawRace();
    if (trouble) say(trouble);
    trouble = "";
  }

  follow("words sentences chosen width picks step alpha", draw);
}, about);
