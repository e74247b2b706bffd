// DraftAndCheck: a draft proposes letters, the target keeps or replaces them, and what is written is the target's.
//
//   x ~ q, kept where u < p(x) / q(x); else drawn from max(p - q, 0), normalised
//
// Everything is computed here, from a seed; written() in Python gives the same.
import { bars, figure, fmt, h, replace } from "../kit/core.mjs";
import { draw as at, generator } from "../kit/numbers.mjs";

const LETTERS = ["i", "o", "a", "e", "h", "others"];
const TARGET = [0.402, 0.277, 0.206, 0.061, 0.03, 0.024];
const DRAFTS = {
  itself: TARGET,
  GRU: [0.464, 0.276, 0.163, 0.065, 0.019, 0.013],
  even: [1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6],
  stubborn: [0.01, 0.01, 0.01, 0.01, 0.95, 0.01],
};
const NAMES = [
  ["itself", "the GPT itself"],
  ["GRU", "the GRU"],
  ["even", "all letters alike"],
  ["stubborn", "nearly always h"],
];
const SEED = 11;
const LISTED = 3;

const style = `
.lm-figure .lmdr-both { --lm-side: 17rem; }
.lm-figure .lmdr-log { list-style: none; margin: 0; padding: 0; min-height: 6.5em; }
.lm-figure .lmdr-both .lm-bars { grid-template-columns: 3.5rem minmax(4rem, 1fr) 4rem; } /* all tracks are equal */
`;

/** What was written at one place, how many drafts were kept, and the last rounds. */
export function written(draft, letters) {
  const q = DRAFTS[draft];
  const rest = TARGET.map((p, i) => Math.max(0, p - q[i]));
  const sum = rest.reduce((a, b) => a + b, 0) || 1;
  const leftover = rest.map((one) => one / sum);
  const counts = TARGET.map(() => 0);
  const uniform = generator(SEED);
  const last = [];
  let kept = 0;
  for (let i = 0; i < 2 ** letters; i += 1) {
    const x = at(q, uniform());
    const u = uniform();
    const instead = uniform();
    const keeps = u * q[x] < TARGET[x];
    const y = keeps ? x : at(leftover, instead);
    counts[y] += 1;
    if (keeps) kept += 1;
    last.push({ x, y, u, keeps, ratio: Math.min(1, TARGET[x] / q[x]) });
    if (last.length > LISTED) last.shift();
  }
  return { counts, kept, last };
}

export default figure(({ el, knob, pick, its, follow, say, wager }) => {
  const draft = pick("draft", "The draft", NAMES);
  const letters = knob("letters", "Letters written", [0, 14], (v) => fmt.count(2 ** v));
  const gamma = knob("gamma", "Drafts a round", [1, 8]);
  const log = h("ul", { class: "lmdr-log lm-small lm-muted" });
  const heads = [
    "What the draft would write. Line: the GPT alone",
    "What both write together. Line: the GPT alone",
    "Letters for each pass of the GPT, which alone gives 1",
  ];
  const charts = heads.map((label) => bars({ label }));
  const shares = h.stack(heads.flatMap((head, i) => [h.small(head), charts[i].node]));
  const H = LETTERS.indexOf("h");
  const first = written("stubborn", 10).counts[H] / 2 ** 10;
  const question = wager({
    name: "draft",
    of: "draft",
    asks: "A draft says h 95 times in 100. What share of the written letters is h?",
    pin: { label: "Share", min: 0, max: 1, step: 0.01, value: 0.5, text: (v) => fmt.percent(v) },
    told: (bet) =>
      `h is ${fmt.percent(first, 1)} of the 1,024 letters; the GPT alone writes ${fmt.percent(TARGET[H], 1)}.` +
      (bet === null ? "" : ` You said ${fmt.percent(bet)}, ${fmt.num(100 * Math.abs(bet - first), 0)} points away.`),
    hides: [charts[1].node, say.node],
    settled: show,
  });
  const controls = h.stack(draft.node, letters.node, gamma.node, log, say.node);
  el.append(question.node, h("div", { class: "lm-split lmdr-both" }, controls, shares));

  function told({ x, y, u, keeps, ratio }) {
    const way = `u = ${fmt.num(u, 2)} is ${keeps ? "below" : "above"} P/Q = ${fmt.num(ratio, 2)}`;
    return h("li", {}, `${LETTERS[x]} drafted; ${way}, so ${keeps ? "kept" : `${LETTERS[y]} instead`}`);
  }

  function show() {
    const q = DRAFTS[its.draft];
    const n = 2 ** its.letters;
    const { counts, kept, last } = written(its.draft, its.letters);
    const beta = TARGET.reduce((sum, p, i) => sum + Math.min(p, q[i]), 0);
    const row = (value, i, tone) => ({ label: LETTERS[i], value, text: fmt.percent(value, 1), mark: TARGET[i], tone });
    const pin = (i) => (i === H && its.draft === "stubborn" ? { pin: question.answer ?? undefined } : {});
    const [proposed, both, passes] = charts;
    const drafted = q.map((value, i) => row(value, i, 2));
    const wrote = counts.map((c, i) => ({ ...row(c / n, i, 1), ...pin(i) }));
    proposed.draw(drafted, { max: 1 });
    both.draw(wrote, { max: 1 });
    replace(log, last.map(told));
    let tokens = 0;
    for (let i = 0; i <= its.gamma; i += 1) tokens += beta ** i;
    const letters = { label: "letters", value: tokens, text: fmt.num(tokens, 2), mark: 1, tone: 3 };
    passes.draw([letters], { max: its.gamma + 1 });
    say(
      `Of ${fmt.some(n, "draft")} ${fmt.percent(kept / n, 1)} ${n === 1 ? "was" : "were"} kept, ` +
        `${fmt.percent(beta, 1)} expected: ${fmt.num(tokens, 2)} letters a pass.`,
    );
  }

  follow("draft letters gamma", show);
}, style);
