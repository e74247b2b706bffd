// TwoDirections: a sentence read word by word, and what two trained networks say of it so far.
//
//   from the left     P(y_t | w_1..w_t): never changes once word t is read
//   both directions   P(y_t | w_1..w_k) after k words: may change with every word
//
// A triangle: a row for each word that is read, in it the tags in both directions; where it changes a tag, the old one
// is struck through. Below it stands the only row there is from the left, and what is right. For the sentences to
// choose from the package has computed the probabilities; for the reader's own the same models do it here (engine.mjs).
// `read` of a text has what the models read for each of its words: the word, or the class of its look.
import { bars, button, choice, disable, figure, fmt, h, onwidth, replace, roving, select } from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";
import { band, bandStyle } from "./band.mjs";
import { likeliest } from "../kit/numbers.mjs";
import { percent, reading } from "./reading.mjs";

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
@container (min-width: 40rem) { .lm-figure .lmd .lm-says { min-height: 0; }
  .lm-figure .lmd-triangle { min-height: 18.5rem; max-height: 18.5rem; overflow-y: auto; } }
@media screen { /* while a bet is open, the last row is what it is about */
  .lm-figure .lmd-triangle.lm-covered::before { content: none; }
  .lm-figure .lm-covered .lmd-band > :not(.lmd-last) { visibility: visible; }
  .lm-figure .lm-covered .lmd-last { position: relative; }
  .lm-figure .lm-covered .lmd-last::before { visibility: visible; content: "?"; position: absolute; inset: 0;
    font-weight: 400; }
}
.lm-figure .lmd-two { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 0.3rem 1.6rem; }
${bandStyle}`;
const WAYS = ["from the left", "both directions"];

export default figure(({ model, el, knob, its, put, follow, ends, say, wager }) => {
  const tags = its.tags;
  const all = () => its.sentences;
  const now = () => all()[its.at];
  const ours = all().filter((one) => !one.read).length; // the others are the reader's
  const read = () => Math.max(1, Math.min(now().words.length, its.read));
  /** While it is asked which word changes, the chosen word would answer. */
  const word = () => Math.max(0, bet.open ? read() - 1 : Math.min(read() - 1, its.word));
  const said = () => reading(now(), tags);
  const models = connect(model, ends);
  const thousandths = (p) => likeliest(p, SHOWN).flatMap((k) => [k, Math.round(1000 * p[k])]);
  const spam = (p) => Math.round(1000 * p[1]);
  /** A text of the reader's in the form of the others. */
  const ownLine = (task, label, verb) =>
    ownText({
      models,
      label,
      verb,
      needed: MODELS[task].map((name) => ({ name, bytes: its.bytes[name] })),
      maxlength: 160,
      work: (typed) => Promise.all(MODELS[task].map((name) => models.ask("beginnings", { name, typed }))),
      done: ([left, { words, read, said }]) => {
        const text =
          task === "spam"
            ? { left: left.said.map(spam), both: said.map(spam) }
            : { left: left.said.at(-1).map(thousandths), both: said.map((rows) => rows.map(thousandths)) };
        const sentences = [...all().slice(0, ours), { ...text, task, words, read, gold: null }];
        put({ sentences, read: words.length, word: words.length - 1, at: ours });
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
        value: its.at,
        onchange: (i) => (all()[i]?.task === task ? open(i) : menus[task].set(its.at)),
      }),
    ]),
  );
  const what = choice({
    label: "Read",
    options: Object.entries({ tags: "a sentence, for its tags", spam: "a message: spam or not" }),
    value: now().task,
    onchange: (task) => open(texts(task)[0][0]),
  });
  const steps = knob("read", "Words read", [1, now().words.length], (k) => `${k} of ${now().words.length}`);
  const next = button("Next word", () => put({ read: Math.min(now().words.length, read() + 1) }));
  const triangle = h.group("lm-stack lmd-triangle", "Words: one tab stop, arrows move, Enter shows the probabilities");
  const group = roving(triangle, ".lmd-tile");
  const key = h.small();
  const title = h("p", { class: "lm-small" });
  const charts = WAYS.map((way) => bars({ label: `Probabilities, ${way}` }));

  let roomy = false;
  function drawTriangle() {
    const many = now().words.length;
    const bands = Math.ceil(many / (roomy ? WIDE : BAND));
    const wide = Math.ceil(many / bands);
    const k = read();
    const press = (/** @type {number} */ t) => put(t < k ? { word: t } : { read: t + 1, word: t });
    const here = { text: now(), all: said(), k, chosen: word(), press };
    group.refill(
      [...Array(bands).keys()].map((n) => band(here, n * wide, Math.min(many, (n + 1) * wide))),
      group.index,
    );
    const shown = /** @type {any} */ (triangle.querySelector('[aria-pressed="true"]')?.closest(".lmd-band"));
    triangle.scrollTop = shown ? shown.offsetTop - triangle.offsetTop : 0; // of a long text the rest scrolls
  }

  function drawBars() {
    const { spammy, said: of } = said();
    const k = spammy ? word() + 1 : read();
    const t = word();
    replace(title, [
      spammy ? "After " : "The word ",
      h("b", {}, fmt.quote(now().words[t])),
      spammy ? ", the message is spam with probability" : `, after ${fmt.some(k, "word")}, is with probability`,
    ]);
    of(t, k).forEach((values, i) => {
      const named = spammy ? ["spam", "not spam"] : values.filter((_, j) => j % 2 === 0).map((tag) => tags[tag]);
      const shares = spammy ? [values, 1000 - values] : values.filter((_, j) => j % 2);
      charts[i].draw(
        named.map((label, j) => ({ label, value: shares[j], text: percent(shares[j]), tone: j ? 0 : i + 1 })),
        { max: 1000 },
      );
    });
  }

  function draw() {
    const { words, task } = now();
    const k = read();
    steps.input.max = words.length;
    what.set(task);
    for (const [name, line] of Object.entries(own)) {
      line.node.hidden = name !== task;
      menus[name].node.hidden = name !== task;
      menus[name].set(its.at);
    }
    steps.set(k);
    disable(next, k === words.length);
    const { spammy, said: of, name, told } = said();
    const seen = new Set([...Array(k).keys()].flatMap((t) => of(t, k).map(name)));
    const meant = Object.entries(MEANS).filter(([tag]) => seen.has(tag));
    replace(key, meant.map(([tag, means]) => `${tag} ${means}`).join(", "));
    key.hidden = spammy;
    drawTriangle();
    drawBars();
    const [left, both] = of(k - 1, k).map(name);
    const last = fmt.quote(words[k - 1]);
    say(spammy ? `After ${last}: spam with ${left} from the left, ${both} with both directions.` : told(k));
  }

  const probabilities = h("div", { class: "lmd-two" }, [
    charts.map((chart, i) => h("div", {}, h.small(WAYS[i]), chart.node)),
  ]);
  const after = h.stack(say.node, h.row(title, key), probabilities);
  const asked = read();
  const { spammy, changes } = said();
  const right = asked > 1 && !spammy ? changes(asked).map((t) => now().words[t]) : [];
  const bet = wager(
    !spammy &&
      asked > 1 && {
        name: "directions",
        of: "sentences at",
        asks: `${fmt.quote(now().words[asked - 1])} is read. Which tag before it does it change?`,
        options: [...now().words.slice(0, asked - 1), "none"],
        told: (answer) =>
          (answer === null ? "It changes " : (right.length ? right : ["none"]).includes(answer) ? "Yes: " : "No: ") +
          `${right.length ? fmt.list(right.map(fmt.quote)) : "none"}.`,
        hides: [triangle, after],
        settled: draw,
      },
  );
  el.classList.add("lmd");
  el.append(
    h.row(what.node, menus.tags.node, menus.spam.node),
    bet.node,
    h.row(steps.node, next),
    triangle,
    after,
    h.onstage("", own.tags.node),
    h.onstage("", own.spam.node),
  );

  follow("sentences at read word", draw);
  onwidth(triangle, (width) => {
    if (roomy === width > 560) return;
    roomy = !roomy;
    drawTriangle();
  });
}, style);
