// YourPreferences: the reader's clicks are the preferences, and a model of 27 sentences moves.
//
//   r(y)    a number for each word, by gradient ascent on mean ln sigmoid(r(better) - r(worse)) over the clicks
//   pi(y)   ref(y) exp(r(y) / beta) / Z
//
// Everything is computed here, exactly, over all sentences.
import { answered, bars, button, disable, figure, fmt, h } from "../kit/core.mjs";
import { sigmoid, sum as total } from "../kit/numbers.mjs";

const WORDS = [
  ["red", "old", "quiet"],
  ["dog", "boat", "tree"],
  ["sleeps", "waits", "sings"],
];
const REF = [
  [0.2, 0.5, 0.3],
  [0.5, 0.3, 0.2],
  [0.5, 0.3, 0.2],
];
const N = 27;
const MOST = 60;
const PLACES = [0, 1, 2];

/** The words of sentence i, as numbers. */
const parts = (i) => [Math.floor(i / 9), Math.floor(i / 3) % 3, i % 3];
const text = (i) => ["the", ...parts(i).map((k, place) => WORDS[place][k])].join(" ");

/** The two sentences of pair k. */
export function pair(k) {
  const a = (7 * k + 4) % N;
  return [a, (a + 1 + ((5 * k + 3) % 26)) % N];
}
/** Of each click the sentence that it took, and the other. */
const ordered = (clicks) => [...clicks].map((click, k) => (click === "l" ? pair(k) : pair(k).reverse()));

/** The same as numbers() in Python. */
export function numbers(clicks, updates, beta) {
  const pairs = ordered(clicks);
  const r = PLACES.map(() => [0, 0, 0]);
  const reward = (i) => total(parts(i).map((k, place) => r[place][k]));
  for (let n = 0; n < (pairs.length ? updates : 0); n++) {
    const step = PLACES.map(() => [0, 0, 0]);
    for (const [better, worse] of pairs) {
      const push = sigmoid(reward(worse) - reward(better)) / pairs.length;
      for (const place of PLACES) {
        step[place][parts(better)[place]] += push;
        step[place][parts(worse)[place]] -= push;
      }
    }
    for (const place of PLACES) for (const k of PLACES) r[place][k] += step[place][k];
  }
  const all = Array.from({ length: N }, (_, i) => i);
  const ref = all.map((i) => parts(i).reduce((p, k, place) => p * REF[place][k], 1));
  const mass = all.map((i) => ref[i] * Math.exp(reward(i) / beta));
  const Z = total(mass);
  const sentences = mass.map((m) => m / Z);
  const words = PLACES.map((place) =>
    PLACES.map((k) => total(all.filter((i) => parts(i)[place] === k).map((i) => sentences[i]))),
  );
  const kl = total(sentences.map((p, i) => (p > 0 ? p * Math.log(p / ref[i]) : 0)));
  const agreed = pairs.filter(([better, worse]) => reward(better) > reward(worse)).length;
  return { words, sentences, kl, agreed };
}

/** A word that every click took that could, if there is one. */
const wanted = (/** @type {string} */ clicks) =>
  WORDS.flatMap((list, place) => list.map((word, k) => ({ word, place, k }))).find(({ place, k }) => {
    const asked = ordered(clicks).map((both) => both.map((i) => parts(i)[place] === k));
    return asked.some(([better, worse]) => better && !worse) && asked.every(([better, worse]) => better || !worse);
  })?.word;

/** What someone who wants red would click in pair k; where red does not decide, the left one. */
const forRed = (k) => {
  const [left, right] = pair(k).map((i) => parts(i)[0] === 0);
  return right && !left ? "r" : "l";
};

const style = `
.lm-figure .lmpr-both .lm-bars { grid-template-columns: 6.5rem minmax(4rem, 1fr) 3.2rem; } /* all tracks stay */
.lm-figure .lmpr-both .lm-bar:nth-child(3n + 1):not(:first-child) { margin-top: 0.6rem; }
@container (min-width: 40rem) { .lm-figure .lmpr-asked { min-height: 2.9em; } }
.lm-figure .lmpr-pair button { display: block; width: 100%; margin: 0.3rem 0; text-align: start; }
`;

const about = { style, allows: { clicks: (value) => /^[lr]{0,60}$/.test(value) } };

export default figure(({ el, knob, its, put, follow, say, wager }) => {
  const choices = ["l", "r"].map((letter) => button("", () => put({ clicks: its.clicks + letter })));
  const undo = button("Take back", () => put({ clicks: its.clicks.slice(0, -1) }));
  const withTen = (clicks) => {
    const more = Array.from({ length: 10 }, (_, k) => forRed(clicks.length + k));
    return (clicks + more.join("")).slice(0, Math.max(MOST, clicks.length));
  };
  const ten = button("Ten clicks for red", () => put({ clicks: withTen(its.clicks) }));
  const asked = h("p", { class: "lm-small lm-muted lmpr-asked" });
  const agree = h("span", { class: "lm-small lm-muted" });
  const updates = knob("updates", "Updates of the rewards", [0, 400], 0);
  const beta = knob("beta", "β, to the first model", [1, 20], (v) => fmt.num(v / 10, 1));
  const chart = bars({ label: "Probability of each word" });
  const key = h.small();
  const start = its.clicks;
  const wish = wanted(start);
  const whose = wish ? `, each for ${fmt.quote(wish)}` : "";
  const made = `${fmt.some(start.length, "click is", "clicks are")} made${whose}. `;
  const [before, after] = [start, withTen(start)].map((clicks) => numbers(clicks, its.updates, its.beta / 10).words);
  const others = [1, 2].flatMap((place) =>
    PLACES.map((k) => ({ word: WORDS[place][k], from: before[place][k], to: after[place][k] })),
  );
  const moved = ({ from, to }) => Math.abs(to - from);
  const most = others.reduce((top, one) => (moved(one) > moved(top) ? one : top)).word;
  const ends = (/** @type {string} */ word) => {
    const { from, to } = others.find((one) => one.word === word);
    return `from ${fmt.share(from)} to ${fmt.share(to)}`;
  };
  let yours = null; // the word that was bet, while the ten clicks are shown
  const question = wager({
    name: "preferring",
    of: "clicks updates beta",
    asks: "Ten more clicks, for “red” alone. Which other word will change most?",
    options: others.map(({ word }) => [word, word]),
    told: (bet) =>
      `The ten clicks change ${fmt.quote(most)} most: ${ends(most)}` +
      answered(bet, most, `. ${fmt.quote(bet ?? most)}: ${ends(bet ?? most)}.`),
    settled: (bet, now) => {
      if (!now) return;
      yours = bet;
      put({ clicks: withTen(start) });
      draw();
    },
  });
  el.append(
    question.node,
    h("div", { class: "lm-split lmpr-both", style: "--lm-side: 20rem" }, [
      h.stack([
        asked,
        h.group("lmpr-pair", "Which is better?", choices),
        h.row([undo, ten, agree]),
        updates.node,
        beta.node,
        say.node,
      ]),
      h("div", {}, [key, chart.node]),
    ]),
  );

  function draw() {
    const clicks = its.clicks;
    const now = numbers(clicks, its.updates, its.beta / 10);
    const full = clicks.length >= MOST;
    agree.textContent = `the rewards agree with ${now.agreed} of ${fmt.some(clicks.length, "click")}`;
    asked.textContent = full
      ? "That is enough: no more pairs."
      : `${clicks && clicks === start ? made : ""}Pair ${clicks.length + 1}: which is better?`;
    pair(clicks.length).forEach((i, side) => {
      choices[side].textContent = text(i);
      disable(choices[side], full);
    });
    disable(undo, !clicks);
    disable(ten, full);
    if (clicks !== withTen(start)) yours = null;
    const note = (/** @type {string} */ word) =>
      [word === most && "most", word === yours && "your bet"].filter(Boolean).join(", ");
    key.textContent = `Bar: probability of each word now. Line: ${yours ? "before the ten clicks" : "at first"}.`;
    chart.draw(
      PLACES.flatMap((place) =>
        PLACES.map((k) => ({
          label: [WORDS[place][k], yours && place ? note(WORDS[place][k]) : ""].filter(Boolean).join(": "),
          value: now.words[place][k],
          text: fmt.share(now.words[place][k]),
          mark: (yours ? before : REF)[place][k],
          tone: place + 1,
        })),
      ),
      { max: 1 },
    );
    const best = now.sentences.indexOf(Math.max(...now.sentences));
    say(`${fmt.quote(text(best))} is likeliest, ${fmt.share(now.sentences[best])}; KL ${fmt.nats(now.kl)}.`);
  }

  follow("clicks updates beta", draw);
}, about);
