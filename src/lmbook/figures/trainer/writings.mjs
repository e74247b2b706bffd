// writings.mjs: what a network in training writes, and how often it is right.
import { bars, fmt, h, replace } from "../kit/core.mjs";

const LINE = 26; // characters of what was written earlier
const BLANKS = "Picked: two mistakes and a right answer. Bold: what was hidden.";
const LONG = "Picked: one of the longest captions that it gets wrong.";

/** Marked where it differs: letter by letter, or word by word. */
function wrong(text, wanted, words) {
  const cut = (all) => (words ? all.split(/(?= )/) : [...all]);
  const right = cut(wanted);
  return cut(text).map((part, i) => (part === right[i] ? part : h("mark", {}, part)));
}

/** again: the network above read the same. */
function translated({ source, wanted, text, odds }, again) {
  const spaced = source.includes(" ");
  const right = text === wanted;
  const bold = (word) => (word === wanted ? h("b", {}, word) : word);
  const [before, after] = source.split("___");
  const lines = odds
    ? [
        ["reads", [before, bold(wanted), after]],
        [right ? "right" : "wrong", odds.map(([word, p], i) => [i ? ", " : "", bold(word), ` ${fmt.share(p)}`])],
      ]
    : [
        !again && ["reads", source],
        ["writes", right ? [text, h("small", {}, " right")] : wrong(text, wanted, spaced)],
        !right && spaced && ["should be", wanted],
      ];
  const drawn = ([name, words]) => [h("span", {}, name), h("span", { class: spaced ? "" : "lmt-letters" }, words)];
  return h("p", { class: "lmt-pair" }, lines.filter(Boolean).map(drawn));
}

const begun = (/** @type {string} */ text) => (text.length > LINE ? `${text.slice(0, LINE)} …` : text);

/** Of what was written on the way the first two and that in the middle, before the last: as `early` in recorded.py. */
const stagesOf = (written) =>
  [0, 1, Math.max(2, Math.floor(written.length / 2))].map((k) => (k < written.length - 1 ? written[k] : null));

/** What a network can do by now: names, a text, or symbols backwards; before it, what it could do earlier. */
export function result() {
  const head = h("p", { class: "lmt-head" });
  const words = h("div", {});
  const note = h.small();
  const node = h("div", { class: "lmt-result" }, head, words, note);
  return {
    node,
    draw({ label, points = [], samples = [], written = [] }, tone, before) {
      node.hidden = !samples.length;
      const { source, known } = samples[0] ?? {};
      const last = points.at(-1)?.[0] ?? 0;
      head.textContent = source ? `${label}, after ${fmt.some(last, "step")}` : label;
      head.dataset.tone = tone;
      words.className = source ? "lm-stack" : "lmt-stages";
      const step = (/** @type {number} */ n) => h("span", {}, `step ${fmt.count(n)}`);
      const items = () => samples.map(({ text, known: old }) => h("li", { class: old ? "lmt-known" : null }, text));
      const stage = (one) => [
        one ? step(one[0]) : h("span", {}, "\u00a0"), // those to come have their lines already
        h("span", { class: "lmt-earlier" }, one ? begun(one[1].join(" ").replaceAll("\n", " ")) : ""),
      ];
      const newest = () =>
        samples.length > 1 || known !== undefined
          ? h("ul", { class: "lmt-names" }, items())
          : h.scroller("lmt-text", "what the network writes", samples[0]?.text);
      const lines = () => [stagesOf(written).map(stage), step(written.at(-1)?.[0] ?? last), newest()];
      const pairs = () => samples.map((one, i) => translated(one, before?.[i]?.source === one.source));
      replace(words, source ? pairs() : lines());
      const long = source?.includes(" ") && samples[0].text !== samples[0].wanted ? LONG : "";
      const picked = samples[0]?.odds ? BLANKS : long;
      note.textContent = samples.some((one) => one.known) ? "Underlined: a name of the data." : picked;
      note.hidden = !note.textContent;
    },
  };
}

/** How often the networks are right, on one scale: of each length or kind a bar for each network. */
export function answers() {
  const shares = bars({ label: "How often they are right" });
  const key = h.small();
  return {
    node: h("div", { class: "lmt-answers" }, key, shares.node),
    /**
     * A row of right: [length or kind, share, of words also that of the very word, of how many].  others: such rows of
     * other seeds.  stake: { row, pin, covered }.
     */
    draw(runs, { unit, tones, longest, guess, others, stake }) {
      const lengths = runs[0]?.right ?? [];
      key.parentElement.hidden = !lengths.length;
      const many = lengths.map((one) => one[3]).filter(Number.isFinite);
      const line = guess ? ` Line: a guess, ${fmt.percent(guess)}.` : "";
      const two = Number.isFinite(lengths[0]?.[2]);
      replace(
        key,
        `Right answers${two ? ". Line: a word of the right kind. Bar: the word itself" : ""}`,
        runs.length > 1 ? [": ", named(runs, tones)] : null,
        many.length ? `, of ${Math.min(...many)} to ${Math.max(...many)} each` : null,
        `.${line}${others.length ? " Thin: four other seeds, at the end." : ""}`,
      );
      const beyond = (length) => (longest && length > longest ? "longer than any in training" : "");
      const row = ([length], { right }, i, k) => {
        const [, kind, word] = right[k];
        const share = word ?? kind;
        const here = length === stake?.row;
        return {
          label: i ? "" : `${unit} ${length}`.trim(),
          value: share,
          text: fmt.percent(share),
          tone: tones[i],
          mark: Number.isFinite(word) ? kind : guess,
          ticks: others.flatMap((seed) => seed.filter(([name]) => name === length)).map((one) => one[2] ?? one[1]),
          note: i === runs.length - 1 ? beyond(length) : "",
          ...(here ? { pin: stake.pin ?? undefined, yours: stake.pin !== null, covered: stake.covered } : {}),
        };
      };
      shares.draw(
        lengths.flatMap((one, k) => runs.filter(({ right }) => right[k]).map((run, i) => row(one, run, i, k))),
        { max: 1 },
      );
    },
  };
}

const named = (runs, tones) =>
  runs.map(({ label }, i) => [i ? ", " : "", h("b", { class: "lmt-head", "data-tone": tones[i] }, label)]);
