// TwoDirections: a sentence read word by word, and what two trained networks say of it so far.
//
//   from the left     P(y_t | w_1..w_t): never changes once word t is read
//   both directions   P(y_t | w_1..w_k) after k words: may change with every word
//
// For the sentences to choose from the package has computed the probabilities; for the reader's own the same models do
// it here (engine.mjs). `read` of a text has what the models read for each of its words: the word, or the class of its
// look.
import { bars, button, choice, disable, figure, fmt, h, replace, roving, select, slider, table } from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";

const SHOWN = 3;
const MODELS = { tags: ["ewt-left", "ewt-lstm"], spam: ["sms-spam-left", "sms-spam"] };

const style = `
.lm-figure .lmd-tiles { display: flex; flex-wrap: wrap; gap: 0.35rem; }
.lm-figure .lmd-tile { display: flex; flex-direction: column; min-width: 3.6rem; max-width: 100%; margin: 0;
  padding: 0.2rem 0.45rem 0.3rem; border: 1px solid transparent;
  border-radius: 6px; background: var(--lm-soft); color: inherit; font: inherit; line-height: 1.3; text-align: left;
    cursor: pointer; }
.lm-figure .lmd-tile:hover { border-color: var(--lm-edge); }
.lm-figure .lmd-tile b { font-weight: 600; overflow-wrap: anywhere; }
.lm-figure .lmd-tile span { font-size: 0.8125rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.lm-figure .lmd-tile .lm-hidden { font-size: inherit; }
.lm-figure .lmd-tile.lmd-differ { border-color: var(--lm-1); }
.lm-figure .lmd-tile.lmd-changed { border: 1px dashed var(--lm-2); }
.lm-figure .lmd-tile[aria-pressed="true"] { box-shadow: inset 0 0 0 2px var(--lm-1); }
.lm-figure .lmd-tile:disabled { background: none; border: 1px solid var(--lm-line); color: var(--lm-muted);
  cursor: default; }
.lm-figure .lmd-tile:disabled b { font-weight: 400; }
.lm-figure .lmd-two { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 0.6rem 1.6rem; }
`;
const percent = (thousandths) => `${fmt.num(thousandths / 10, 1)} %`;
const WAYS = ["from the left", "both directions"];

export default figure(({ model, el, get, put, listen, say }) => {
  const tags = get("tags");
  const all = () => get("sentences");
  const now = () => all()[get("at")];
  const ours = all().filter((one) => !one.read).length; // the others are the reader's
  const read = () => Math.max(1, Math.min(now().words.length, get("read")));
  const word = () => Math.max(0, Math.min(read() - 1, get("word")));
  // What is said of word t when k words are read: [from the left, both directions], numbers as in directions.py
  const said = (t, k) =>
    now().task === "spam" ? [now().left[t], now().both[t]] : [now().left[t], now().both[k - 1][t]];
  const name = (numbers) => (now().task === "spam" ? percent(numbers) : tags[numbers[0]]);

  const options = all()
    .slice(0, ours)
    .map(({ task, words }, i) => [i, `${task === "spam" ? "Spam? " : "Tags: "}${words.join(" ")}`]);
  const sentence = select({
    label: "Sentence",
    options: [...options, [ours, "(your own)"]],
    value: get("at"),
    onchange: (at) => {
      if (all()[at]) put({ read: Math.min(2, all()[at].words.length), word: 1, at });
      else sentence.set(get("at"));
    },
  });

  const models = connect(model);
  const thousandths = (p) =>
    p
      .map((_, k) => k)
      .sort((a, b) => p[b] - p[a] || a - b)
      .slice(0, SHOWN)
      .flatMap((k) => [k, Math.round(1000 * p[k])]);
  const spam = (p) => Math.round(1000 * p[1]);
  /** A text of the reader's in the form of the others. */
  const own = (task, label, verb) =>
    ownText({
      models,
      label,
      verb,
      needed: MODELS[task].map((name) => ({ name, bytes: get("bytes")[name] })),
      maxlength: 160,
      work: (typed) => Promise.all(MODELS[task].map((name) => models.ask("beginnings", { name, typed }))),
      done: ([left, both]) => {
        const { words } = both;
        const text = {
          task,
          words,
          read: both.read,
          left: task === "spam" ? left.said.map(spam) : left.said.at(-1).map(thousandths),
          both: task === "spam" ? both.said.map(spam) : both.said.map((rows) => rows.map(thousandths)),
        };
        put({ sentences: [...all().slice(0, ours), text], read: words.length, word: words.length - 1, at: ours });
      },
    });
  const lines = { tags: own("tags", "Your own words", "Tag them"), spam: own("spam", "Your own message", "Judge it") };
  const ask = (task) => {
    for (const [name, { node }] of Object.entries(lines)) node.hidden = name !== task;
  };
  const what = choice({
    label: "Type yourself",
    options: [
      ["tags", "a sentence, for its tags"],
      ["spam", "a message: spam or not"],
    ],
    value: "tags",
    onchange: ask,
  });
  ask("tags");
  const steps = slider({
    label: "Words read",
    min: 1,
    max: now().words.length,
    value: read(),
    text: (k) => `${k} of ${now().words.length}`,
    oninput: (k) => put({ read: k }),
  });
  const next = button("Next word", () => put({ read: Math.min(now().words.length, read() + 1) }));
  const key = h("p", { class: "lm-muted lm-small" });
  const tiles = h("div", {
    class: "lmd-tiles",
    role: "group",
    "aria-label": "Words: one tab stop, arrows move, Enter shows the probabilities",
  });
  const group = roving(tiles, "button:not(:disabled)");
  const title = h("p", {});
  const charts = WAYS.map((way) => bars({ label: `Probabilities, ${way}` }));
  const numbers = table({
    summary: "What is said of each word, as a table",
    head: ["Word", "From the left", "Both directions"],
  });
  el.append(
    what.node,
    lines.tags.node,
    lines.spam.node,
    sentence.node,
    h("div", { class: "lm-row" }, steps.node, next),
    key,
    tiles,
    say.node,
    title,
    h("div", { class: "lmd-two" }, [
      charts.map((chart, i) => h("div", {}, h("p", { class: "lm-muted lm-small" }, WAYS[i]), chart.node)),
    ]),
    numbers.node,
  );

  /** What the models read in place of a word that they do not know. */
  const strange = (t) =>
    now().read && now().read[t] !== now().words[t]
      ? h("span", { class: "lm-muted" }, h("span", { class: "lm-hidden" }, " read as "), now().read[t])
      : null;

  function changes() {
    const k = read();
    if (now().task === "spam" || k < 2) return [];
    return Array.from({ length: k - 1 }, (_, t) => t).filter((t) => name(said(t, k)[1]) !== name(said(t, k - 1)[1]));
  }

  function drawTiles() {
    const { words, task } = now();
    const k = read();
    const changed = new Set(changes());
    const focused = tiles.contains(document.activeElement) ? [...tiles.children].indexOf(document.activeElement) : -1;
    replace(tiles, [
      words.map((token, t) => {
        if (t >= k)
          return h("button", { type: "button", class: "lmd-tile", disabled: true }, [
            h("b", {}, token),
            h("span", {}, "not read"),
            h("span", {}, "\u00a0"),
          ]);
        const [left, both] = said(t, k).map(name);
        const differ = task === "tags" && left !== both;
        return h(
          "button",
          {
            type: "button",
            class: `lmd-tile${differ ? " lmd-differ" : ""}${changed.has(t) ? " lmd-changed" : ""}`,
            "aria-pressed": String(t === word()),
            onclick: () => put({ word: t }),
          },
          [
            h("b", {}, token),
            strange(t),
            h("span", {}, h("span", { class: "lm-hidden" }, " from the left "), "→ ", left),
            h("span", {}, [
              h("span", { class: "lm-hidden" }, " both directions "),
              "⇄ ",
              both,
              changed.has(t) ? h("span", { class: "lm-hidden" }, " changed") : null,
            ]),
          ],
        );
      }),
    ]);
    group.refresh();
    if (focused >= 0 && focused < k) group.focus(focused);
  }

  function drawBars() {
    const k = read();
    const t = now().task === "spam" ? k - 1 : word();
    replace(title, [
      now().task === "spam" ? "After " : "The word ",
      h("b", {}, now().words[t]),
      now().task === "spam"
        ? `, word ${k}, the message is spam with probability`
        : `, when ${k} of ${now().words.length} words are read, is with probability`,
    ]);
    said(t, k).forEach((values, i) => {
      const rows =
        now().task === "spam"
          ? [
              ["spam", values],
              ["not spam", 1000 - values],
            ]
          : Array.from({ length: values.length / 2 }, (_, j) => [tags[values[2 * j]], values[2 * j + 1]]);
      charts[i].draw(
        rows.map(([label, p], j) => ({ label, value: p, text: percent(p), tone: j ? 0 : i + 1 })),
        { max: 1000 },
      );
    });
  }

  function tell() {
    const k = read();
    const { words, task } = now();
    const last = fmt.quote(words[k - 1]);
    if (task === "spam") {
      const [left, both] = said(k - 1, k);
      say(`After ${last}: spam with ${percent(left)} from the left, ${percent(both)} with both directions.`);
      return;
    }
    const [left, both] = said(k - 1, k).map(name);
    const changed = changes().map(
      (t) => `${fmt.quote(words[t])} from ${name(said(t, k - 1)[1])} to ${name(said(t, k)[1])}`,
    );
    const differ = words
      .slice(0, k)
      .map((_, t) => t)
      .filter((t) => name(said(t, k)[0]) !== name(said(t, k)[1]));
    say(
      `${last} is ${left} from the left${both === left ? " and" : `, ${both}`} with both directions. ` +
        `${changed.length ? `It changes ${fmt.list(changed)}, with both directions.` : "No tag before it changes."} ` +
        (differ.length
          ? `The two now differ on ${fmt.list(differ.map((t) => fmt.quote(words[t])))}.`
          : "The two agree on every word so far."),
    );
  }

  function draw() {
    const { words, task } = now();
    steps.input.max = words.length;
    sentence.set(get("at"));
    steps.set(read());
    disable(next, read() === words.length);
    replace(key, [
      task === "spam"
        ? "Under each word, the probability of spam when it was read: → from the left, ⇄ with both directions."
        : "Under each word its tag: → from the left, ⇄ with both directions. Dashed: just changed. Framed: the " +
          "two differ.",
    ]);
    drawTiles();
    drawBars();
    numbers.draw(words.slice(0, read()).map((token, t) => [token, ...said(t, read()).map(name)]));
    tell();
  }

  listen("sentences at read word", draw);
  draw();
  return () => {
    for (const { stop } of Object.values(lines)) stop();
    models.stop();
  };
}, style);
