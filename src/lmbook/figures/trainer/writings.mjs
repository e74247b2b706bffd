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
  const dress = spaced ? "" : "lmt-letters";
  const [before, after] = source.split("___");
  const line = (/** @type {string} */ name, /** @type {any} */ words) => [
    h("span", {}, name),
    h("span", { class: dress }, words),
  ];
  if (odds)
    return h("p", { class: "lmt-pair" }, [
      line("reads", [before, h("b", {}, wanted), after]),
      line(text === wanted ? "right" : "wrong", [
        odds.map(([word, p], i) => [i ? ", " : "", word === wanted ? h("b", {}, word) : word, ` ${fmt.share(p)}`]),
      ]),
    ]);
  return h("p", { class: "lmt-pair" }, [
    again ? null : line("reads", source),
    line("writes", text === wanted ? [text, h("small", {}, " right")] : wrong(text, wanted, spaced)),
    text !== wanted && spaced ? line("should be", wanted) : null,
  ]);
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
      const long = { class: "lmt-text", tabindex: "0", role: "region", "aria-label": "what the network writes" };
      replace(words, [
        source
          ? samples.map((one, i) => translated(one, before?.[i]?.source === one.source))
          : [
              // those to come have their lines already
              stagesOf(written).map((one) => [
                one ? step(one[0]) : h("span", {}, "\u00a0"),
                h("span", { class: "lmt-earlier" }, one ? begun(one[1].join(" ").replaceAll("\n", " ")) : ""),
              ]),
              step(written.at(-1)?.[0] ?? last),
              samples.length > 1 || known !== undefined
                ? h("ul", { class: "lmt-names" }, items())
                : h("div", long, samples[0]?.text ?? ""),
            ],
      ]);
      const picked = samples[0]?.odds
        ? BLANKS
        : source?.includes(" ") && samples[0].text !== samples[0].wanted
          ? LONG
          : "";
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
      replace(
        key,
        Number.isFinite(lengths[0]?.[2])
          ? "Right answers. Line: a word of the right kind. Bar: the word itself"
          : "Right answers",
        runs.length > 1 ? [": ", named(runs, tones)] : null,
        many.length ? `, of ${Math.min(...many)} to ${Math.max(...many)} each` : null,
        `.${line}${others.length ? " Thin: four other seeds." : ""}`,
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
