// TwoDirections: a sentence read word by word, and what two trained networks say of it so far.
//
//   from the left     P(y_t | w_1..w_t): never changes once word t is read
//   both directions   P(y_t | w_1..w_k) after k words: may change with every word
//
// A triangle: a row for each word that is read, in it the tags in both directions; where it changes a tag, the old one
// is struck through. Below it stands the only row there is from the left, and what is right. For the sentences to
// choose from the package has computed the probabilities; for the reader's own the same models do it here (engine.mjs).
// `read` of a text has what the models read for each of its words: the word, or the class of its look.
import {
  bars,
  button,
  choice,
  disable,
  figure,
  fmt,
  h,
  onwidth,
  replace,
  roving,
  select,
  slider,
} from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";

const SHOWN = 3;
const BAND = 7; // words side by side
const WIDE = 13; // and where there is room
const MODELS = { tags: ["ewt-left", "ewt-lstm"], spam: ["sms-spam-left", "sms-spam"] };
const MEANS = {
  ADP: "preposition",
  ADV: "adverb",
  AUX: "auxiliary",
  CCONJ: "and, or, but",
  DET: "determiner",
  INTJ: "interjection",
  PART: "particle",
  PROPN: "name",
  PUNCT: "punctuation",
  SCONJ: "subordinating conjunction",
};

const style = `
.lm-figure .lmd-band { display: grid; gap: 2px; max-width: 44rem; font-size: 0.75rem; line-height: 1.25; }
@container (min-width: 40rem) { .lm-figure .lmd-band { font-size: 0.8125rem; } }
.lm-figure .lmd-band > * { min-width: 0; margin: 0; padding: 0.15rem 0.1rem; border: 0; border-radius: 4px;
  color: inherit;
  font: inherit; text-align: center; overflow-wrap: anywhere; }
.lm-figure .lmd-cell { background: var(--lm-soft); font-variant-numeric: tabular-nums; }
.lm-figure .lmd-cell.lmd-left { box-shadow: inset 0 -3px var(--lm-1); }
.lm-figure .lmd-cell.lmd-wrong { color: var(--lm-text); text-decoration: underline wavy var(--lm-2); }
.lm-figure .lmd-cell.lmd-changed { background: color-mix(in srgb, var(--lm-2) 30%, var(--lm-paper)); font-weight: 700;
  box-shadow: inset 0 0 0 2px var(--lm-2); }
.lm-figure .lmd-changed s { display: block; font-weight: 400; }
.lm-figure .lmd-label { grid-column: 1 / -1; padding: 0.3rem 0 0; color: var(--lm-muted); text-align: left; }
.lm-figure .lmd-tile { min-height: 1.75rem; background: none; cursor: pointer; }
.lm-figure .lmd-tile:hover { background: var(--lm-soft); }
.lm-figure .lmd-tile[aria-pressed="true"] { box-shadow: inset 0 0 0 2px var(--lm-1); }
.lm-figure .lmd-tile.lmd-later { color: var(--lm-muted); }
.lm-figure .lmd-share { min-height: 2.4rem; align-content: end; background:
  linear-gradient(to top, color-mix(in srgb, var(--lm-tone) 45%, transparent) var(--lmd-p), var(--lm-soft) 0); }
@container (min-width: 40rem) { .lm-figure .lmd .lm-says { min-height: 0; } }
@media screen { /* while a bet is open, the last row is what it is about */
  .lm-figure .lmd-triangle.lm-covered::before { content: none; }
  .lm-figure .lm-covered .lmd-band > :not(.lmd-last) { visibility: visible; }
  .lm-figure .lm-covered .lmd-last::before { visibility: visible; content: "?"; float: left; width: 100%;
    font-weight: 400; }
  .lm-figure .lm-covered .lmd-tile { box-shadow: none !important; }
}
.lm-figure .lmd-two { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 0.3rem 1.6rem; }
`;
const percent = (thousandths) =>
  thousandths === 0 ? "< 0.1 %" : thousandths === 1000 ? "> 99.9 %" : `${fmt.num(thousandths / 10, 1)} %`;
const share = (/** @type {number} */ thousandths) => percent(thousandths).replace(" %", "");
const WAYS = ["from the left", "both directions"];

export default figure(({ model, el, get, put, listen, say, wager }) => {
  const tags = get("tags");
  const all = () => get("sentences");
  const now = () => all()[get("at")];
  const spammy = () => now().task === "spam";
  const ours = all().filter((one) => !one.read).length; // the others are the reader's
  const read = () => Math.max(1, Math.min(now().words.length, get("read")));
  const word = () => Math.max(0, Math.min(read() - 1, get("word")));
  // What is said of word t when k words are read: [from the left, both directions], numbers as in directions.py
  const said = (t, k) => (spammy() ? [now().left[t], now().both[t]] : [now().left[t], now().both[k - 1][t]]);
  const name = (numbers) => (spammy() ? percent(numbers) : tags[numbers[0]]);
  const one = (/** @type {number} */ t, /** @type {number} */ k) => name(said(t, k)[1]);
  /** The words before the k-th whose tag it changes. */
  const changes = (/** @type {number} */ k) =>
    spammy() ? [] : [...Array(k - 1).keys()].filter((t) => one(t, k) !== one(t, k - 1));

  const models = connect(model);
  const thousandths = (p) =>
    p
      .map((_, k) => k)
      .sort((a, b) => p[b] - p[a] || a - b)
      .slice(0, SHOWN)
      .flatMap((k) => [k, Math.round(1000 * p[k])]);
  const spam = (p) => Math.round(1000 * p[1]);
  /** A text of the reader's in the form of the others. */
  const ownLine = (task, label, verb) =>
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
          gold: null,
          both: task === "spam" ? both.said.map(spam) : both.said.map((rows) => rows.map(thousandths)),
        };
        put({ sentences: [...all().slice(0, ours), text], read: words.length, word: words.length - 1, at: ours });
      },
    });
  const own = {
    tags: ownLine("tags", "Your own words", "Tag them"),
    spam: ownLine("spam", "Your own message", "Judge it"),
  };
  const open = (/** @type {number} */ at) => put({ read: all()[at].task === "spam" ? 1 : 2, word: 0, at });
  const texts = (/** @type {string} */ task) =>
    [...all().slice(0, ours).keys()].filter((i) => all()[i].task === task).map((i) => [i, all()[i].words.join(" ")]);
  const menus = Object.fromEntries(
    ["tags", "spam"].map((task) => [
      task,
      select({
        label: task === "spam" ? "Message" : "Sentence",
        options: [...texts(task), [ours, "(your own)"]],
        value: get("at"),
        onchange: (i) => (all()[i]?.task === task ? open(i) : menus[task].set(get("at"))),
      }),
    ]),
  );
  const what = choice({
    label: "Read",
    options: [
      ["tags", "a sentence, for its tags"],
      ["spam", "a message: spam or not"],
    ],
    value: now().task,
    onchange: (task) => open(texts(task)[0][0]),
  });
  const steps = slider({
    label: "Words read",
    min: 1,
    max: now().words.length,
    value: read(),
    text: (k) => `${k} of ${now().words.length}`,
    oninput: (k) => put({ read: k }),
  });
  const next = button("Next word", () => put({ read: Math.min(now().words.length, read() + 1) }));
  const triangle = h("div", {
    class: "lm-stack lmd-triangle",
    role: "group",
    "aria-label": "Words: one tab stop, arrows move, Enter shows the probabilities",
  });
  const group = roving(triangle, ".lmd-tile");
  const key = h("p", { class: "lm-muted lm-small" });
  const title = h("p", { class: "lm-small" });
  const charts = WAYS.map((way) => bars({ label: `Probabilities, ${way}` }));

  /** What the models read in place of a word that they do not know. */
  const strange = (t) =>
    now().read && now().read[t] !== now().words[t]
      ? h("small", { class: "lm-muted" }, h("span", { class: "lm-hidden" }, " read as "), ` ${now().read[t]}`)
      : null;

  let roomy = false;
  /** Words `from` to `to`, and below each what is said of it, row by row. */
  function band(from, to) {
    const { words, gold } = now();
    const k = read();
    const here = [...Array(to - from).keys()].map((t) => t + from);
    const cells = (/** @type {(t: number) => any} */ kind, /** @type {(t: number) => string} */ text) =>
      here.map((t) =>
        t < k ? h("span", { ...kind(t), class: `lmd-cell ${kind(t).class ?? ""}` }, text(t)) : h("span", {}),
      );
    const shares = (/** @type {number} */ way) =>
      cells(
        (t) => ({ class: "lmd-share", "data-tone": way + 1, style: { "--lmd-p": `${said(t, k)[way] / 10}%` } }),
        (t) => share(said(t, k)[way]),
      );
    const row = (/** @type {number} */ n) => {
      const changed = changes(n);
      return here.map((t) => {
        if (t >= n) return h("span", {});
        const fresh = changed.includes(t);
        return h("span", { class: `lmd-cell${fresh ? " lmd-changed" : ""}${n === k ? " lmd-last" : ""}` }, [
          fresh ? h("s", {}, one(t, n - 1)) : null,
          one(t, n),
        ]);
      });
    };
    const long = words.length > BAND; // then only the rows in which something changes, and the last
    const rows = [...Array(k).keys()]
      .map((n) => n + 1)
      .filter((n) => n > from && (n === k || !long || changes(n).some((t) => t >= from && t < to)));
    const label = (words) => (from ? null : h("span", { class: "lmd-label" }, words)); // once, above the first
    const done = gold && k === words.length;
    const wrong = (t) => ({ class: done && gold[t] !== name(said(t, k)[0]) ? "lmd-left lmd-wrong" : "lmd-left" });
    return h(
      "div",
      { class: "lmd-band", style: { "grid-template-columns": `repeat(${here.length}, minmax(0, 1fr))` } },
      [
        here.map((t) =>
          h(
            "button",
            {
              type: "button",
              class: `lmd-tile${t < k ? "" : " lmd-later"}`,
              "aria-pressed": String(t === word()),
              onclick: () => put(t < k ? { word: t } : { read: t + 1, word: t }),
            },
            words[t],
            strange(t),
          ),
        ),
        label(
          spammy()
            ? "both directions: P(spam) after this word, %"
            : "both directions, a row for each word that is read",
        ),
        spammy() ? shares(1) : rows.map(row),
        label("from the left: said once"),
        spammy() ? shares(0) : cells(wrong, (t) => name(said(t, k)[0])),
        done
          ? [
              label("right, by hand"),
              cells(
                () => ({}),
                (t) => gold[t],
              ),
            ]
          : null,
      ],
    );
  }

  function drawTriangle() {
    const many = now().words.length;
    const focused = triangle.contains(document.activeElement)
      ? [...triangle.querySelectorAll(".lmd-tile")].indexOf(document.activeElement)
      : -1;
    const bands = Math.ceil(many / (roomy ? WIDE : BAND));
    const wide = Math.ceil(many / bands);
    replace(
      triangle,
      [...Array(bands).keys()].map((n) => band(n * wide, Math.min(many, (n + 1) * wide))),
    );
    group.refresh();
    if (focused >= 0) group.focus(focused);
  }

  function drawBars() {
    const k = spammy() ? word() + 1 : read();
    const t = word();
    replace(title, [
      spammy() ? "After " : "The word ",
      h("b", {}, fmt.quote(now().words[t])),
      spammy() ? ", the message is spam with probability" : `, after ${fmt.some(k, "word")}, is with probability`,
    ]);
    said(t, k).forEach((values, i) => {
      const rows = spammy()
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

  /** What the k-th word does to those before it. */
  function told(k) {
    const { words } = now();
    const last = fmt.quote(words[k - 1]);
    const changed = changes(k).map((t) => `${fmt.quote(words[t])} from ${one(t, k - 1)} to ${one(t, k)}`);
    return changed.length ? `${last} changes ${fmt.list(changed)}.` : `${last} changes no tag before it.`;
  }
  function tell() {
    const k = read();
    const [left, both] = said(k - 1, k).map(name);
    const last = fmt.quote(now().words[k - 1]);
    if (spammy()) say(`After ${last}: spam with ${left} from the left, ${both} with both directions.`);
    else say(told(k));
  }

  function draw() {
    const { words, task } = now();
    steps.input.max = words.length;
    what.set(task);
    for (const [name, line] of Object.entries(own)) {
      line.node.hidden = name !== task;
      menus[name].node.hidden = name !== task;
      menus[name].set(get("at"));
    }
    steps.set(read());
    disable(next, read() === words.length);
    const seen = new Set([...Array(read()).keys()].flatMap((t) => said(t, read()).map(name)));
    const meant = Object.entries(MEANS).filter(([tag]) => seen.has(tag));
    replace(key, meant.map(([tag, means]) => `${tag} ${means}`).join(", "));
    key.hidden = spammy();
    drawTriangle();
    drawBars();
    tell();
  }

  const probabilities = h("div", { class: "lmd-two" }, [
    charts.map((chart, i) => h("div", {}, h("p", { class: "lm-muted lm-small" }, WAYS[i]), chart.node)),
  ]);
  const after = h("div", { class: "lm-stack" }, say.node, key, title, probabilities);
  const asked = read();
  const opened = told(asked);
  const bet =
    spammy() || asked < 2
      ? null
      : wager({
          name: "directions",
          asks: `${fmt.quote(now().words[asked - 1])} is read. Which tag before it does it change?`,
          options: [...now().words.slice(0, asked - 1), "none"].map((text) => [text, text]),
          told: (answer) => `${answer === null ? "" : `You said ${fmt.quote(answer)}. `}${opened}`,
          hides: [triangle, after],
        });
  el.classList.add("lmd");
  el.append(
    h("div", { class: "lm-row" }, what.node, menus.tags.node, menus.spam.node),
    ...(bet ? [bet.node] : []),
    h("div", { class: "lm-row" }, steps.node, next),
    triangle,
    after,
    own.tags.node,
    own.spam.node,
  );

  listen("sentences at read word", draw);
  draw();
  const stop = onwidth(triangle, (width) => {
    if (roomy === width > 560) return;
    roomy = !roomy;
    drawTriangle();
  });
  return () => {
    stop();
    for (const { stop } of Object.values(own)) stop();
    models.stop();
  };
}, style);
