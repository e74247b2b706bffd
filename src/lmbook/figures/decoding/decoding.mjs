// DecodingSteps: write a translation word by word, or watch a beam do it. The probabilities are a trained model's.
//
// Those of the sentences to choose from were stored; for a sentence of the reader's, and behind a beginning too
// unlikely to be stored, the model is asked here (engine.mjs).
import { button, choice, disable, figure, fmt, h, onwidth, replace, roving, select, table } from "../kit/core.mjs";
import { beamStyle, rowsOf } from "./beam.mjs";
import { best, END, falls, MOST, last, likeliestOf, search, walk } from "./search.mjs";
import { grown, joined } from "./grown.mjs";
import { strange } from "../kit/format.mjs";
import { connect, ownText } from "../kit/live.mjs";
import { race, style as raceStyle } from "./race.mjs";

const MODEL = "harbourish";
const SHARES = { "as likely": 1, "half as likely": 0.5, "a third": 1 / 3, "a tenth": 0.1 }; // what may be bet

const style = `
.lmd-text { min-height: 3.2rem; padding: 0.5rem 0.7rem; border-radius: 6px; background: var(--lm-soft); }
.lmd-text p { margin: 0.15rem 0; overflow-wrap: anywhere; }
.lmd-written > span { display: inline-block; margin-right: 0.55rem; text-align: center; }
.lmd-written small { display: block; font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.lmd-options { display: grid; gap: 0.25rem; max-width: 30rem; }
.lm-figure .lmd-options + .lm-row { margin-top: 0.6rem; }
.lm-figure .lmd-options > :is(button, p) { display: grid; grid-template-columns: 6rem 1fr 5.2rem; align-items: center;
  gap: 0.5rem;
  padding: 0.1rem 0.5rem; border: 1px solid transparent; color: inherit; font: inherit; font-size: 0.9375rem;
    text-align: left; }
.lm-figure .lmd-options > button { border-color: var(--lm-edge); border-radius: 6px; background: var(--lm-paper);
  cursor: pointer; }
.lm-figure .lmd-options > button:hover { box-shadow: inset 0 0 0 100vmax var(--lm-soft); }
.lm-figure .lmd-options > p { color: var(--lm-muted); }
.lmd-options .lmd-track { height: 0.7rem; border-radius: 3px; background: var(--lm-soft); }
.lmd-options .lmd-fill { display: block; height: 100%; border-radius: 3px; background: var(--lm-1); }
.lmd-options .lmd-p { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.lmd-both { --lm-side: 45%; }
.lm-figure .lmd-which { gap: 0.4rem 2rem; align-items: baseline; }
.lm-figure .lmd-which > details[open] { flex-basis: 100%; }
.lm-figure .lmd-runs { margin-top: 0.25rem; }
.lm-figure .lmd-runs ~ div .lm-says { margin-top: 0.5rem; }
.lm-figure .lmd-runs p { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr) 3.4rem; gap: 0.5rem; }
.lmd-runs p > :last-child { text-align: right; font-variant-numeric: tabular-nums; }
`;

const about = {
  style: style + beamStyle + raceStyle,
  allows: {
    // what an address may set
    picks: (picks, { sentences, chosen }) => {
      let node = 0;
      const { nodes } = sentences[chosen];
      for (const pick of picks) node = nodes[node]?.[pick]?.[2] ?? -1;
      return node !== -1;
    },
  },
};

export default figure(({ model, el, knob, get, put, listen, say, wager }) => {
  const word = (id) => get("words")[id];
  const spelled = (ids) => `${ids.map(word).join(" ")} `.replace(`${END} `, "").replace(" .", ".").trim();
  const sentence = () => get("sentences")[get("chosen")];
  const score = (one) => one.total / one.ids.length ** get("alpha");
  let told = false;
  let found = null;
  let trouble = "";

  const ours = get("sentences").filter((one) => !one.read).length; // one more is the reader's
  const models = connect(model);
  const which = select({
    label: "Sentence",
    value: get("chosen"),
    options: [
      ...get("sentences")
        .map(({ source }, i) => [i, source])
        .slice(0, ours),
      [ours, "(your own)"],
    ],
    onchange: (chosen) => {
      told = false;
      if (get("sentences")[chosen]) put({ picks: [], step: 0, chosen });
      else which.set(get("chosen"));
    },
  });
  const own = ownText({
    models,
    needed: [{ name: MODEL, bytes: get("bytes") }],
    label: "Your own Harbourish",
    verb: "Translate",
    value: get("sentences")[0].source,
    work: (typed) => models.ask("tree", { name: MODEL, text: typed }),
    done: (tree, typed) => put({ picks: [], step: 0, ...joined(get, tree, ours, typed, tree.read), chosen: ours }),
  });

  /** The reader goes on where the stored tree ends: the model says what may follow. */
  async function grow(picks) {
    const at = get("chosen");
    const { source, read } = sentence();
    trouble = "";
    say(
      "The model is asked what may follow" +
        (models.has(MODEL) ? "" : `; it is fetched once, ${fmt.num(get("bytes") / 1e6, 1)} MB`) +
        ".",
    );
    try {
      await models.load(MODEL);
      const tree = await grown((given) => models.ask("tree", { name: MODEL, text: source, ...given }), picks);
      if (at === get("chosen")) put({ ...joined(get, tree, at, source, read), picks });
    } catch (error) {
      trouble = `What follows could not be computed: ${error.message}.`;
      draw();
    }
  }
  const who = choice({
    label: "Who writes?",
    value: get("width"),
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
  const options = h.group("lmd-options", "The five likeliest next words, one tab stop");
  const group = roving(options, "button");
  const pick = (i, on) =>
    on === -1 && get("picks").length + 1 < MOST ? grow([...get("picks"), i]) : put({ picks: [...get("picks"), i] });
  const likeliest = button("Take the likeliest", () => put({ picks: [...get("picks"), 0] }), {
    class: "lm-button lm-main",
  });
  const undo = button("Undo", () => put({ picks: get("picks").slice(0, -1) }));
  const restart = button("Start again", () => put({ picks: [] }));
  const yours = h("div", {}, options, h("div", { class: "lm-row" }, likeliest, undo, restart));

  // --- a beam
  const go = (step) => put({ step: Math.max(0, Math.min(found.steps.length, step)) });
  const next = button("Next step", () => go(get("step") + 1), { class: "lm-button lm-main" });
  const back = button("Back", () => go(get("step") - 1));
  const end = button("To the end", () => go(MOST));
  const ranks = h.scroller("lmd-beam", "The beam, step by step");
  const key = h("p", { class: "lm-muted lm-small" }, [
    "Rows: steps. Boxes: beginnings, with ln P; bars: shares of the likeliest. Dashed: given up; double: complete; " +
      "bold: wins.",
  ]);
  const power = knob("alpha", "alpha", [0, 2, 0.1], 1);
  const theirs = h("div", { class: "lm-row" }, next, back, end);

  // --- all who write, in one drawing: ln P over the words
  const picture = race();
  const { plain, rival } = picture;
  const chart = h("div", { class: "lm-chart lmd-race", "aria-hidden": "true" }, picture.node);
  const runs = h("div", { class: "lmd-runs" });
  const rivalRun = h("div", { class: "lmd-runs" });
  let wide = 0;
  const first = get("sentences")[0].nodes;
  const share = Math.exp(likeliestOf(first, 1).total - likeliestOf(first, 4).total);
  let question = null;
  question = wager({
    name: "decoding-greedy",
    of: "chosen",
    asks: "How likely is the sentence that greedy finds, beside that of a beam of 4?",
    options: Object.entries(SHARES).map(([words, value]) => [value, words]),
    hides: [/** @type {any} */ (rival), rivalRun],
    told: (bet) =>
      `${fmt.num(share)} times as likely: a start that looked worse led to better words.` +
      (bet === null ? "" : ` You said: ${Object.keys(SHARES).find((words) => SHARES[words] === bet)}.`),
    settled: () => question && drawRace(),
  });

  function drawRace() {
    if (!wide) return;
    const { nodes } = sentence();
    const width = get("width") > 1 ? get("width") : 4;
    const own = walk(nodes, get("picks")).path.map(({ id }) => id);
    const all = [
      { name: "greedy", tone: 1, ids: likeliestOf(nodes, 1).ids },
      { name: `beam of ${width}`, tone: 2, ids: likeliestOf(nodes, width).ids },
      { name: "you", tone: 3, ids: own },
    ]
      .filter(({ ids }) => ids.length)
      .map((one) => ({ ...one, sums: falls(nodes, one.ids), words: one.ids.map(word) }));
    const asked = question.answer !== null && get("chosen") === 0 && width === 4;
    const [pin, greedy, beam, ...you] = picture.draw(
      all,
      wide,
      asked ? last(all[1].sums) + Math.log(question.answer) : null,
    );
    const rows = all.map(({ name, tone, ids, sums }) =>
      h("p", {}, [
        h("b", { style: `text-decoration: underline 3px var(--lm-${tone})` }, name),
        h("span", {}, spelled(ids)),
        h("span", {}, fmt.num(last(sums))),
      ]),
    );
    replace(plain, greedy, you);
    replace(rival, beam, pin);
    replace(runs, [rows.filter((_, i) => i !== 1)]);
    replace(rivalRun, rows[1]);
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
    get("lexicon").map(([kind, list]) => h("p", {}, h("b", {}, kind), `: ${list}`)),
  ]);
  el.append(
    question.node,
    h("div", { class: "lm-row lmd-which" }, which.node, words, tell),
    h("div", { class: "lm-row lmd-which" }, who.node, power.node),
    h("div", { class: "lm-split lmd-both" }, [
      h("div", {}, chart, runs, rivalRun, say.node),
      h("div", { class: "lm-stack" }, given, yours, theirs, ranks),
    ]),
    key,
    h.onstage("", own.node),
    h("div", { class: "lm-folds" }, outputs.node, extensions.node),
  );

  function drawYours() {
    const { nodes } = sentence();
    const { path, total, node } = walk(nodes, get("picks"));
    replace(written, [
      path.length
        ? path.map(({ id, logP }) => h("span", {}, word(id), h("small", {}, fmt.share(Math.exp(logP), 3))))
        : "…",
    ]);
    const offers = node === null ? [] : nodes[node];
    const inside = options.contains(document.activeElement) || document.activeElement === likeliest;
    // where the longest output ends, a word is a line of text: nothing that looks like a button does nothing
    const full = path.length + 1 >= MOST;
    group.refill(
      offers.map(([id, logP, on], i) => {
        const fill = h("span", { class: "lmd-fill", style: { width: `${100 * Math.exp(logP)}%` } });
        const parts = [
          h("span", {}, word(id) === END ? "(end here)" : word(id)),
          h("span", { class: "lmd-track", "aria-hidden": "true" }, fill),
          h("span", { class: "lmd-p" }, fmt.share(Math.exp(logP), 3)),
        ];
        return on === -1 && full ? h("p", {}, parts) : button(parts, () => pick(i, on), { class: null });
      }),
    );
    disable(likeliest, node === null);
    for (const one of [undo, restart]) disable(one, path.length === 0);
    if (inside && !offers.length) undo.focus();
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
    const width = get("width");
    found = search(nodes, width);
    const step = Math.min(get("step"), found.steps.length);
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
        `${fmt.num(get("alpha"), 1)}.`,
    );
  }

  function draw() {
    which.set(get("chosen"));
    who.set(get("width"));
    source.textContent = `Source: ${sentence().source}`;
    tell.hidden = !sentence().reference;
    reference.textContent = told && sentence().reference ? `Reference: ${sentence().reference}` : "";
    tell.setAttribute("aria-pressed", String(told));
    const you = get("width") === 0;
    yours.hidden = !you;
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

  listen("words sentences chosen width picks step alpha", draw);
  draw();
  const leave = onwidth(chart, (width) => {
    wide = Math.floor(width);
    drawRace();
  });
  return () => {
    leave();
    own.stop();
    models.stop();
  };
}, about);
