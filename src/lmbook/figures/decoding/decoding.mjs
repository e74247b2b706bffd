// DecodingSteps: write a translation word by word, or watch a beam do it. The probabilities are a trained model's.
//
// Those of the sentences to choose from were stored; for a sentence of the reader's, and behind a beginning too
// unlikely to be stored, the model is asked here (engine.mjs).
import { button, choice, disable, figure, fmt, h, onwidth, replace, roving, s, select, table } from "../kit/core.mjs";
import { best, falls, MOST, last, likeliestOf, search, walk } from "./search.mjs";
import { connect, ownText } from "../kit/live.mjs";
import { race, style as raceStyle } from "./race.mjs";

const END = "<eos>";
const MODEL = "harbourish";

const style = `
.lmd-text { min-height: 3.2rem; padding: 0.5rem 0.7rem; border-radius: 6px; background: var(--lm-soft); }
.lmd-text p { margin: 0.15rem 0; overflow-wrap: anywhere; }
.lmd-written > span { display: inline-block; margin-right: 0.55rem; text-align: center; }
.lmd-written small { display: block; font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.lmd-options { display: grid; gap: 0.25rem; max-width: 30rem; }
.lm-figure .lmd-options + .lm-row { margin-top: 0.6rem; }
.lm-figure .lmd-key { margin: 0.5rem 0; }
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
.lmd-beam { max-width: 36rem; }
.lmd-both { --lm-side: 45%; }
.lm-figure .lmd-which { gap: 0.4rem 2rem; align-items: baseline; }
.lm-figure .lmd-which > details[open] { flex-basis: 100%; }
.lmd-rank { display: grid; grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; gap: 4px; }
.lmd-rank > div { position: relative; padding: 0.1rem 0.15rem 0.25rem; border: 1px solid var(--lm-edge);
  border-radius: 6px;
  background: var(--lm-paper); font-size: 0.8125rem; line-height: 1.25; text-align: center; overflow-wrap: anywhere; }
.lmd-rank > div[data-now="true"] { border: 2px solid var(--lm-1); }
.lmd-rank > div[data-done="true"] { border-style: double; border-width: 3px; }
.lmd-rank > div[data-lost="true"] { border-style: dashed; color: var(--lm-muted); }
.lmd-rank > div[data-best="true"] { font-weight: 700; }
.lmd-rank i { position: absolute; bottom: 1px; left: 3px; height: 3px; max-width: calc(100% - 6px);
  background: var(--lm-2); }
@container (min-width: 40rem) { .lm-figure .lmd-rank small { display: inline; margin-left: 0.4em; } }
.lmd-rank small { display: block; font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.lmd-beam svg { display: block; width: 100%; height: 0.6rem; overflow: visible; }
.lm-figure .lmd-runs p { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr) 3.4rem; gap: 0.5rem; }
.lmd-runs p > :last-child { text-align: right; font-variant-numeric: tabular-nums; }
.lmd-beam line { stroke: var(--lm-muted); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
`;

const about = {
  style: style + raceStyle,
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
  const spelled = (ids) =>
    ids
      .map(word)
      .filter((w) => w !== END)
      .join(" ")
      .replace(" .", ".");
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
        .slice(0, ours)
        .map((one, i) => [i, one.source]),
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
    done: (tree, typed) => put({ picks: [], step: 0, ...with_(tree, ours, typed, tree.read), chosen: ours }),
  });

  /** The state with this tree as sentence number `at`; words that it brings along are put behind the others. */
  function with_({ nodes }, at, source, read) {
    const words = [...get("words")];
    const number = (token) => (words.includes(token) ? words.indexOf(token) : words.push(token) - 1);
    const sentence = {
      source,
      nodes: nodes.map((rows) => rows.map(([token, logP, next]) => [number(token.text), logP, next])),
      ids: nodes.map((rows) => rows.map(([{ id }]) => id)),
      ...(read ? { read } : {}),
      reference: get("sentences")[at]?.reference ?? "",
    };
    const sentences = [...get("sentences")];
    sentences[at] = sentence;
    return { words, sentences };
  }

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
      const plain = await models.ask("tree", { name: MODEL, text: source, shown: 5 });
      const kept = [];
      let tree = plain;
      for (let t = 1; t <= picks.length; t += 1) {
        // each beginning on the way, whatever was stored of it
        let node = 0;
        const ids = picks.slice(0, t).map((pick) => {
          const [{ id }, , next] = tree.nodes[node][pick];
          node = next;
          return id;
        });
        if (node === -1) {
          kept.push(ids);
          tree = await models.ask("tree", { name: MODEL, text: source, kept });
        }
      }
      if (at === get("chosen")) put({ ...with_(tree, at, source, read), picks });
    } catch (error) {
      trouble = `What follows could not be computed: ${error.message}.`;
      draw();
    }
  }
  const who = choice({
    label: "Who writes?",
    value: get("width"),
    options: [
      [0, "you"],
      [1, "greedy"],
      [2, "beam of 2"],
      [3, "beam of 3"],
      [4, "beam of 4"],
    ],
    onchange: (width) => put({ width, step: 0 }),
  });
  const tell = button(
    "Show the reference",
    () => {
      told = !told;
      draw();
    },
    { pressed: false },
  );
  const source = h("p", {});
  const reference = h("p", {});
  const written = h("p", { class: "lmd-written" });
  const given = h("div", { class: "lmd-text" }, source, reference, written);

  /** What becomes of words that the model has never read. */
  function unknown() {
    const strange = (sentence().read ?? [])
      .filter((token) => token.text === "<unk>")
      .map((token) => fmt.quote(token.typed));
    return strange.length
      ? ` The model has no ${fmt.list([...new Set(strange)])}; it reads <unk>, “a word that I do not know”.`
      : "";
  }

  // --- you
  const options = h("div", {
    class: "lmd-options",
    role: "group",
    "aria-label": "The five likeliest next words, one tab stop",
  });
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
  const ranks = h("div", {
    class: "lmd-beam",
    tabindex: "0",
    role: "region",
    "aria-label": "The beam, step by step",
  });
  const key = h("p", { class: "lm-muted lm-small lmd-key" }, [
    "Rows are steps, boxes beginnings, with ln P; the bar is their share of the likeliest. Dashed: given up; double " +
      "frame: complete; bold: what wins.",
  ]);
  const power = knob("alpha", "alpha", [0, 2, 0.1], 1);
  const theirs = h("div", { class: "lm-row" }, next, back, end, power.node);

  // --- all who write, in one drawing: ln P over the words
  const picture = race();
  const { plain, rival } = picture;
  const chart = h("div", { class: "lm-chart lmd-race", "aria-hidden": "true" }, picture.node);
  const runs = h("div", { class: "lmd-runs" });
  const rivalRun = h("div", { class: "lmd-runs" });
  let wide = 0;
  const first = get("sentences")[0].nodes;
  const share = Math.exp(likeliestOf(first, 1).total - likeliestOf(first, 4).total);
  const question = wager({
    name: "decoding-greedy",
    asks: "How likely is the sentence that greedy finds, beside that of a beam of 4?",
    options: [
      [1, "as likely"],
      [0.5, "half as likely"],
      [1 / 3, "a third"],
      [0.1, "a tenth"],
    ],
    hides: [/** @type {any} */ (rival), rivalRun],
    told: (bet) =>
      `${fmt.num(share)} times as likely: a start that looked worse led to better words.` +
      (bet === null ? "" : ` You said ${fmt.num(bet)}.`),
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
    const [greedy, beam, ...you] = picture.draw(all, wide);
    const rows = all.map(({ name, tone, ids, sums }) =>
      h("p", {}, [
        h("b", { style: `text-decoration: underline 3px var(--lm-${tone})` }, name),
        h("span", {}, spelled(ids)),
        h("span", {}, fmt.num(last(sums))),
      ]),
    );
    replace(plain, greedy, you);
    replace(rival, beam);
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
    h("div", { class: "lm-split lmd-both" }, [
      h("div", {}, chart, runs, rivalRun, say.node, key),
      h("div", { class: "lm-stack" }, given, who.node, yours, theirs, ranks),
    ]),
    own.node,
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
    const focused = options.contains(document.activeElement);
    // where the longest output ends, a word is a line of text: nothing that looks like a button does nothing
    const full = path.length + 1 >= MOST;
    replace(options, [
      offers.map(([id, logP, on], i) =>
        h(on === -1 && full ? "p" : "button", on === -1 && full ? {} : { type: "button", onclick: () => pick(i, on) }, [
          h("span", {}, word(id) === END ? "(end here)" : word(id)),
          h("span", { class: "lmd-track", "aria-hidden": "true" }, [
            h("span", { class: "lmd-fill", style: { width: `${100 * Math.exp(logP)}%` } }),
          ]),
          h("span", { class: "lmd-p" }, fmt.share(Math.exp(logP), 3)),
        ]),
      ),
    ]);
    group.refresh();
    disable(likeliest, node === null);
    for (const one of [undo, restart]) disable(one, path.length === 0);
    if (focused && offers.length)
      group.focus(0); // the button that had the focus is gone
    else if (inside && !offers.length) undo.focus();
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
          `${fmt.share(Math.exp(offers[0][1]), 3)}.${unknown()}`,
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
    replace(ranks, [
      shown.map(({ kept }, t) => {
        const before = t ? shown[t - 1].kept.length : 1;
        const lines = kept.map((one, i) =>
          s("line", { x1: (one.parent + 0.5) / before, x2: (i + 0.5) / kept.length, y1: 0, y2: 1 }),
        );
        const lost = (i) => t + 1 < shown.length && !shown[t + 1].kept.some((one) => one.parent === i);
        const boxes = kept.map((one, i) =>
          h(
            "div",
            {
              "data-now": String(t === step - 1),
              "data-done": String(one.node === null),
              "data-lost": String(lost(i)),
              "data-best": String(wins.ids.slice(0, one.ids.length).join() === one.ids.join()),
            },
            [
              word(last(one.ids)) === END ? "(end)" : word(last(one.ids)),
              h("small", {}, fmt.num(one.total)),
              h("i", { style: { width: `${100 * Math.exp(one.total - kept[0].total)}%` } }),
            ],
          ),
        );
        return [
          t ? s("svg", { viewBox: "0 0 1 1", preserveAspectRatio: "none", "aria-hidden": "true" }, lines) : null,
          h("div", { class: "lmd-rank" }, boxes),
        ];
      }),
    ]);
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
