// FillTheBlank: hide a word, see what a trained model would put there. One blank at a time: P(w_t | all other words).
//
// For the sentences to choose from the package has computed the probabilities; for a sentence of the reader's the model
// does it here (engine.mjs). A blank is [[[number of a word, P], ...], P of the word that stands there, its rank], and
// `read` of a sentence has what the model reads for each of its words: the word, or the class of its look.
import { bars, figure, fmt, h, replace, roving, select, table, whole } from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";

const MODEL = "bert-wikitext2";

const style = `
.lmk-words { display: flex; flex-wrap: wrap; gap: 0.5rem 0.25rem; align-items: flex-end;
  max-height: 22rem; padding: 3px; overflow-y: auto; } /* what is longer scrolls */
.lm-figure .lmk-word { display: flex; flex-direction: column-reverse; align-items: center; min-width: 2.4rem; margin: 0;
  padding: 0.15rem 0.2rem; border: 2px solid transparent; border-radius: 6px; background: none; color: inherit;
  font: inherit; font-size: 1.0625rem; line-height: 1.3; cursor: pointer; }
.lm-figure .lmk-word:hover { border-color: var(--lm-line); }
.lm-figure .lmk-word[aria-pressed="true"] { border: 2px dashed var(--lm-1); }
.lmk-word small { color: var(--lm-muted); font-size: 0.75rem; line-height: 1.1; font-variant-numeric: tabular-nums; }
.lm-figure .lmk-both { --lm-side: 17rem; }
.lmk-word i { align-self: stretch; height: 2.75rem; margin: 0.1rem 0; border-bottom: 1px solid var(--lm-edge);
  background: linear-gradient(0deg, var(--lmk-tone) calc(100% * var(--lmk-p)), var(--lm-soft) 0);
  --lmk-tone: var(--lm-edge); }
.lmk-word.lmk-first i { --lmk-tone: var(--lm-1); }
.lmk-word.lmk-bet { box-shadow: inset 0 -3px 0 var(--lm-2); }
.lm-figure .lmk-both .lm-bars { grid-template-columns: 6.25rem minmax(4rem, 1fr) max-content; }
@container (min-width: 40rem) { .lm-figure .lmk-words { max-height: 11.5rem; }
  .lm-figure .lmk-both .lm-bars { min-height: 13.6rem; align-content: start; } }
@media screen {
  .lm-figure .lmk-words[data-open="true"] .lmk-word:not(.lmk-example, [aria-pressed="true"]) {
    border: 2px solid var(--lm-line); }
  .lmk-words[data-open="true"] .lmk-word:not(.lmk-example) small { visibility: hidden; }
  .lm-figure .lmk-words[data-open="true"] .lmk-word:not(.lmk-example) i { --lmk-tone: var(--lm-soft); }
}
`;

const ENDINGS = { one: "st", two: "nd", few: "rd", other: "th" };
const ordinals = new Intl.PluralRules("en", { type: "ordinal" });
const ordinal = (n) => `${fmt.count(n)}${ENDINGS[ordinals.select(n)]}`;

/** ln of the product of the probabilities of all words of a sentence, each blank alone. */
export const logP = (sentence) => sentence.blanks.reduce((sum, [, p]) => sum + Math.log(p), 0);

const about = {
  style,
  allows: { blank: (t, { sentences, chosen }) => whole(t, 0, sentences[chosen].words.length - 1) },
};

export default figure(({ model, el, its, put, follow, ends, say, wager }) => {
  const now = () => its.sentences[its.chosen];
  const at = () => Math.max(0, Math.min(now().words.length - 1, its.blank));

  const ours = its.sentences.filter((one) => !one.read).length; // the others are the reader's
  const which = select({
    label: "Sentence",
    value: its.chosen,
    options: [...its.sentences.slice(0, ours).map((one, i) => [i, one.words.join(" ")]), [ours, "(your own)"]],
    onchange: (chosen) => {
      if (its.sentences[chosen]) put({ blank: Math.min(its.blank, its.sentences[chosen].words.length - 1), chosen });
      else {
        which.set(its.chosen);
        say("Type words of your own below, and hide them.");
      }
    },
  });
  const models = connect(model, ends);
  const own = ownText({
    models,
    needed: [{ name: MODEL, bytes: its.bytes }],
    label: "Your own words",
    verb: "Hide its words",
    value: its.typed,
    work: (typed) => models.ask("sentence", { name: MODEL, typed, shown: now().blanks[0][0].length }),
    done: ({ words, blanks }, typed) => {
      const list = [...its.words];
      const number = (word) => (list.includes(word) ? list.indexOf(word) : list.push(word) - 1);
      const sentence = {
        words,
        read: blanks.map((one) => one.read),
        blanks: blanks.map((one) => [one.others.map(({ text, p }) => [number(text), p]), one.own, one.rank]),
      };
      const sentences = [...its.sentences.slice(0, ours), sentence];
      put({ words: list, sentences, typed, blank: Math.min(its.blank, words.length - 1), chosen: ours });
    },
  });
  const words = h("div", { class: "lmk-words", role: "group", "aria-label": "Words: arrows move, Enter hides one" });
  const group = roving(words, ".lmk-word", { index: at() });
  const blue = () => h("b", { style: "text-decoration: underline 3px var(--lm-1)" }, "blue");
  const key = h.small("P(word | all the others), each word hidden alone; ", blue(), ": no word is likelier.");
  const title = h.small("In place of ____; ", blue(), ": what the sentence has. Classes are left out");
  const sums = h.small();
  const chart = bars({ label: "Likeliest words for the blank" });
  const numbers = table({
    summary: "Every word of this sentence, hidden alone",
    head: ["Word", "Its probability", "Its rank", "Likeliest"],
  });
  const guessed = new Set(); // the places that the reader bets on
  const betOn = now();
  const example = at(); // its chart is in sight before the bet, which asks of the others
  const found = (sentence) => sentence.blanks.flatMap((blank, i) => (blank[2] === 1 && i !== example ? [i] : []));
  const question = wager({
    name: "blank-found",
    of: "chosen",
    asks: "Which of the other words does the model find, each hidden alone? Tap them.",
    options: [[() => [...guessed], "Show"]],
    by: words,
    hides: [sums, numbers.node],
    told: (bet) => {
      const right = found(betOn);
      const all = `It finds ${right.length} of the other ${betOn.words.length - 1} words`;
      if (!bet?.length) return `${all}.`;
      const hits = bet.filter((i) => right.includes(i)).length;
      return `${all}, and ${hits} of the ${fmt.some(bet.length, "word")} that you chose.`;
    },
    settled: draw,
  });
  const both = [h("div", {}, title, chart.node), h.stack(say.node, sums)];
  const result = h("div", { class: "lm-split lm-split-right lmk-both" }, both);
  el.append(which.node, question.node, key, words, result, h.onstage("", own.node), numbers.node);
  function press(i) {
    if (!question.open) return put({ blank: i });
    if (i !== example && !guessed.delete(i)) guessed.add(i);
    draw();
  }

  let shown = null;
  function tiles() {
    if (shown === now()) return;
    shown = now();
    const tile = (word, i) => h("button", { type: "button", class: "lmk-word", onclick: () => press(i) }, word);
    replace(words, shown.words.map(tile));
  }

  function draw() {
    which.set(its.chosen);
    tiles();
    const sentence = now();
    const t = at();
    words.dataset.open = String(question.open);
    [...words.children].forEach((tile, i) => {
      const [, p, rank] = sentence.blanks[i];
      const hidden = i === (question.open ? example : t);
      const read = sentence.read && sentence.read[i] !== sentence.words[i];
      tile.setAttribute("aria-pressed", String(hidden || (question.open && guessed.has(i))));
      tile.classList.toggle("lmk-example", i === example);
      tile.classList.toggle("lmk-first", rank === 1);
      tile.classList.toggle("lmk-bet", guessed.has(i) && sentence === betOn);
      const word = h("span", {}, hidden ? "____" : sentence.words[i]);
      if (hidden) word.append(h("span", { class: "lm-hidden" }, ` (hidden: ${sentence.words[i]})`));
      replace(tile, [
        word,
        read && h("small", {}, h("span", { class: "lm-hidden" }, " read as "), sentence.read[i]),
        h("small", {}, fmt.share(p)),
        h("i", { "aria-hidden": "true", style: { "--lmk-p": p.toFixed(3) } }),
      ]);
    });
    group.refresh();
    const [offers, own, rank] = sentence.blanks[t];
    const word = sentence.words[t];
    const row = (label, p) => ({ label, value: p, text: fmt.share(p, 3), tone: label === word ? 1 : 0 });
    const rows = offers.map(([i, p]) => row(its.words[i], p));
    const behind = rank > offers.length ? [{ ...row(word, own), note: `${ordinal(rank)} of all` }] : [];
    chart.draw([...rows, ...behind], { max: 1 });
    const first = its.words[offers[0][0]];
    const strange = sentence.read?.[t] ?? word;
    const counted = `it reads the class ${strange}, and that is what is counted.`;
    const instead = strange === word ? "" : ` ${fmt.quote(word)} is not among the words that it knows: ${counted}`;
    const likelier = `The model would put ${fmt.quote(first)} there (${fmt.prob(offers[0][1])}).`;
    const verdict =
      rank === 1
        ? `The model finds ${fmt.quote(word)}, with probability ${fmt.prob(own)}.`
        : `${likelier} ${fmt.quote(word)} comes ${ordinal(rank)}, with ${fmt.prob(own)}.`;
    const right = sentence.blanks.filter((blank) => blank[2] === 1).length;
    sums.textContent =
      `Of the ${fmt.some(sentence.words.length, "word")} it finds ${right}; ` +
      `the sum of ln P over all of them is ${fmt.num(logP(sentence))}.`;
    say(verdict + instead);
    const line = ([[[likeliest]], p, rank], i) => [
      sentence.words[i],
      fmt.prob(p),
      fmt.count(rank),
      its.words[likeliest],
    ];
    numbers.draw(sentence.blanks.map(line));
  }

  follow("words sentences chosen blank", draw);
}, about);
