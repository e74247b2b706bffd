// CompleteDigit: the upper rows of a digit are drawn by the reader; a pixel GPT reads them and writes the others.
//
//   P(c | rows) = P(rows | c) / sum_c' P(rows | c')      p_t ~ P(p_t | c, p_1 .. p_t-1)
//
// The engine computes with the weights in the state (pixelgpt.mjs); on request a second model, which reads patches, is
// fetched and says what it takes the whole image for.
import { answered, button, chips, choice, figure, fmt, h, replace, s, select, table, whole } from "../kit/core.mjs";
import { connect } from "../kit/live.mjs";
import { painterOf } from "./painter.mjs";

const SIDE = 8;
const SAMPLES = 4;
const LIKELIEST = -1;
const JUDGE = "digits-patches";
const DIGITS = [...Array(10).keys()];

const style = `
.lm-figure .lmpx-both { display: flex; flex-wrap: wrap; gap: 0.8rem 1.4rem; align-items: flex-start; }
.lm-figure .lmpx-both > :last-child { flex: 1 1 17rem; }
.lm-figure .lmpx-columns { display: grid; grid-template-columns: repeat(10, 1fr); gap: 3px; width: 16.1rem; margin: 0;
  padding: 0; list-style: none; text-align: center; }
.lm-figure .lmpx-columns li { display: flex; flex-direction: column; height: 7.5rem; margin: 0; }
.lmpx-columns span { height: 1.1rem; color: var(--lm-muted); font-size: 0.75rem; font-variant-numeric: tabular-nums;
  line-height: 1.1rem; white-space: nowrap; }
.lmpx-columns i { flex: 1; border-bottom: 1px solid var(--lm-edge);
  background: linear-gradient(0deg, var(--lm-1) calc(100% * var(--lmpx-p)), var(--lm-soft) 0); }
.lmpx-columns b { font-weight: 400; line-height: 1.3; }
.lmpx-columns .lmpx-asked b { font-weight: 700; text-decoration: underline 3px var(--lm-1);
  text-underline-offset: 0.2em; }
.lm-figure .lmpx-both > * { max-width: 100%; }
.lm-figure .lmpx-both > :first-child { flex: 0 1 16.1rem; }
.lm-figure .lmpx-both .lm-chip { padding-inline: 0.5rem; }
.lmpx-one { display: flex; flex-direction: column; gap: 0.2rem; align-items: center; }
@media screen { .lmpx-grid.lm-covered { visibility: visible; }
  .lmpx-grid.lm-covered .lmpx-written { visibility: hidden; }
  .lm-figure .lmpx-grid.lm-covered::before { inset: 50% 0 0; }
  .lm-figure .lmpx-others.lm-covered::before { display: block; inset: 0 auto auto 0; width: 19.5rem; height: 4.6rem;
    line-height: 4.6rem; text-align: center; } }
.lm-figure .lmpx-grid { display: grid; grid-template-columns: repeat(8, 1.9rem); gap: 2px; user-select: none; }
.lm-figure .lmpx-cell { display: block; width: 1.9rem; height: 1.9rem; min-height: 0; margin: 0; padding: 0;
  border: 1px solid var(--lm-line); border-radius: 3px;
  background: color-mix(in srgb, var(--lm-text) calc(var(--lmpx) * 100%), var(--lm-paper)); color: inherit; }
.lm-figure button.lmpx-cell { touch-action: none; cursor: crosshair; border-color: var(--lm-edge); }
.lm-figure .lmpx-written { background: color-mix(in srgb, var(--lm-1) calc(var(--lmpx) * 100%), var(--lm-paper)); }
.lm-figure .lmpx-others { display: flex; gap: 0.5rem; align-items: start; 
  min-height: 5.9rem; } /* before it is drawn, too */
.lm-figure .lmpx-small { display: grid; grid-template-columns: repeat(8, 0.55rem); gap: 0;
  border: 1px solid var(--lm-line); }
.lm-figure .lmpx-small > span { width: 0.55rem; height: 0.55rem;
  background: color-mix(in srgb, var(--lm-text) calc(var(--lmpx) * 100%), var(--lm-paper)); }
.lm-figure .lmpx-small > .lmpx-written {
  background: color-mix(in srgb, var(--lm-1) calc(var(--lmpx) * 100%), var(--lm-paper)); }
@media (max-width: 30rem) {
  .lm-figure .lmpx-small { grid-template-columns: repeat(8, 0.5rem); }
  .lm-figure .lmpx-small > span { width: 0.5rem; height: 0.5rem; }
}
`;

const article = (digit) => `${digit === 8 ? "an" : "a"} ${digit}`;
const shade = (grey) => ({ "--lmpx": (grey / 16).toFixed(3) });

const about = {
  style,
  allows: {
    pixels: (pixels) => pixels.length === SIDE * SIDE && pixels.every((grey) => whole(grey, 0, 16)),
  },
};

let figures = 0; // on this page, each with weights of its own

export default figure(({ model, el, knob, pick, its, put, follow, ends, say, wager }) => {
  const examples = its.examples;
  let brush = 16;

  const begin = chips({
    label: "Begin with",
    options: [...examples.map((one, i) => [i, String(one.label)]), [-1, "blank"]],
    onchoose: (i) => {
      const pixels = i < 0 ? Array(SIDE * SIDE).fill(0) : examples[i].pixels;
      put({ pixels, digit: LIKELIEST, rows: its.rows || 4 });
    },
  });
  const rows = knob("rows", "Rows that you give", [0, SIDE - 1], (v) => `${v} of 8`);
  const tool = choice({
    label: "Brush",
    options: [
      [16, "full"],
      [8, "half"],
      [0, "empty"],
    ],
    value: brush,
    onchange: (v) => {
      brush = v;
    },
  });
  const tile = (at) => /** @type {HTMLElement} */ (grid.children[at]);
  const named = "The digit: rows to draw (arrows move, Enter paints), then rows that the model wrote";
  const grid = h.group("lmpx-grid", named);
  const digit = pick("digit", "Digit to write", [[LIKELIEST, "the likeliest"], ...DIGITS], select);
  const heat = knob("temperature", "Temperature", [0, 1.5, 0.1], 1);
  const models = connect(model, ends);
  figures += 1;
  const name = `pixels ${figures}`;
  models.ask("pixels", { name, network: its.network });
  let judging = false;
  let judged = 0; // whether the classifier is asked; how often it was
  const judge = button("Ask the classifier", () => {
    judging = true;
    draw();
  });
  const what = "A model that reads patches of 2 × 2 pixels judges the whole image; fetches ";
  const small = (...words) => h("span", { class: "lm-small lm-muted lm-hand" }, words);
  const verdict = h("p", { role: "status" }, small(`${what}${fmt.num(its.bytes / 1e6, 1)} MB once.`));
  const again = button("Write again", () => put({ seed: its.seed + 1 }), { main: true });
  const stood = h.small();
  const others = h("div", { class: "lmpx-others", "aria-hidden": "true" });
  const chart = h("ol", { class: "lmpx-columns", "aria-label": "Probability of each digit given the rows" });
  const head = ["digit", "P(digit | rows)", "bits of the rows"];
  const numbers = table({ caption: "What the rows cost under each digit", head });
  const picture = (/** @type {number[]} */ image, words = "") => {
    const kind = (i) => (i < its.rows * SIDE || words ? "" : "lmpx-written");
    const pixels = image.map((grey, i) => h("span", { class: kind(i), style: shade(grey) }));
    const below = h("span", { class: "lm-small lm-muted" }, words || "\u00a0");
    return h("div", { class: "lmpx-one" }, h("div", { class: "lmpx-small" }, pixels), below);
  };
  const known = () => examples.findIndex((one) => String(one.pixels) === String(its.pixels));
  const asked = known();
  const truth = examples[asked]?.label;
  // How often it is right: of all the halves to begin with.
  const wrong = examples.filter((one) => one.taken !== one.label);
  const slips = fmt.list(wrong.map((one) => `${article(one.label)} for ${article(one.taken)}`));
  const tally = h.small(
    `Of the ${examples.length} upper halves above it tells ${examples.length - wrong.length}` +
      (wrong.length ? `; it takes ${slips}.` : "."),
  );
  /** @type {Parameters<typeof wager>[0]} */
  const stake = {
    name: "digit-half",
    of: "pixels",
    asks: "What will it be?",
    options: DIGITS,
    hides: [chart, grid, others, say.node, numbers.node, tally],
    settled: draw,
    told: (bet) => `The half in sight was ${article(truth)}${answered(bet, truth, `, not ${article(bet)}.`)}`,
  };
  const question = wager(truth === undefined ? null : stake);
  const heading = h("div", { class: "lm-small lm-muted" }, "P(digit | your rows)");
  const hand = h("div", { class: "lm-small lm-muted lm-hand" }, "Draw in the outlined squares.");
  const controls = [begin, rows, tool, heat].map(({ node }) => node);
  const found = [h.row(digit.node, again), stood, others, examples.length > 1 && tally, h.row(judge, verdict)];
  const both = [h.stack(heading, chart, grid, hand, say.node), h.stack(controls, found)];
  el.append(question.node, h("div", { class: "lmpx-both" }, both), numbers.node);

  const painter = painterOf(grid, {
    side: SIDE,
    brush: () => brush,
    pixels: () => its.pixels,
    paint: (pixels) => put({ pixels }),
    lifted: () => draw(),
  });
  /** What the classifier of patches takes an image for: rows given and rows written. */
  async function ask(greys) {
    judged += 1;
    const number = judged;
    try {
      await models.load(JUDGE);
      const { p } = await models.ask("image", { name: JUDGE, greys });
      if (number !== judged) return; // another image came meanwhile
      const [first, second] = [...p.keys()].sort((a, b) => p[b] - p[a]);
      verdict.textContent =
        `The classifier takes the whole image for ${article(first)}, P = ${fmt.share(p[first])}, before ` +
        `${article(second)}, ${fmt.share(p[second])}.`;
    } catch (error) {
      judging = false;
      verdict.textContent = `The classifier could not be asked: ${error.message}.`;
    }
  }

  /** What is known without the model. */
  function sheet() {
    begin.set(question.open || (known() < 0 && its.pixels.some(Boolean)) ? null : known()); // the mark would answer
    painter.rows(its.rows);
    for (const [i, grey] of its.pixels.slice(0, its.rows * SIDE).entries()) {
      s.set(tile(i), { style: shade(grey) });
      tile(i).firstChild.textContent = `row ${Math.floor(i / SIDE) + 1}, column ${(i % SIDE) + 1}: grey ${grey} of 16`;
    }
  }

  /** P of each digit; which is written, which was bet on. */
  function columns(p, wanted = null, said = null) {
    const column = (c) => {
      const was = said !== null && c === truth;
      const mark = c === said ? `you${was ? " ✓" : ""}` : was ? "was" : "";
      return h("li", { class: c === wanted ? "lmpx-asked" : null }, [
        h("span", {}, p[c] < 0.005 ? "" : fmt.share(p[c]).replace("0.", ".")),
        h("i", { "aria-hidden": "true", style: { "--lmpx-p": p[c].toFixed(4) } }),
        h("b", {}, String(c)),
        h("span", {}, mark),
      ]);
    };
    replace(chart, DIGITS.map(column));
  }
  columns(DIGITS.map(() => 0));

  /** What the model finds; while one paints, only the classes. */
  function show({ logP, p, digit: wanted, written }, pixels, given) {
    columns(p, wanted, known() === asked ? question.answer : null);
    if (!written.length) return;
    const images = written.map((rest) => [...pixels.slice(0, given), ...rest]);
    for (const [i, grey] of images[0].entries()) if (i >= given) s.set(tile(i), { style: shade(grey) });
    if (judging) ask(images[0]);
    const was = examples[known()];
    stood.textContent = `${was ? "What stood there, and three" : "Three"} others that the model might write`;
    const first = was && picture(was.pixels, `it was ${article(was.label)}`);
    const more = images.slice(1).map((image) => picture(image));
    replace(others, first, more);
    const bits = (c) => -logP[c] / Math.LN2;
    numbers.draw(DIGITS.map((c) => [String(c), fmt.prob(p[c]), fmt.num(bits(c), 1)]));
    const cost = `${fmt.num(given ? bits(wanted) / given : 0)} bits per pixel as ${article(wanted)}`;
    const likeliest = p.indexOf(Math.max(...p));
    say(
      given === 0
        ? `Nothing is given: the model writes ${article(wanted)} from its name alone.`
        : `From ${fmt.some(its.rows, "row")}: ${article(likeliest)}, P = ${fmt.share(p[likeliest])}; ${cost}.`,
    );
  }

  // One question at a time: what changes while the model computes is asked for when it has answered.
  let asking = false;
  let changed = false;
  async function draw() {
    sheet();
    changed = true;
    if (asking) return;
    asking = true;
    grid.setAttribute("aria-busy", "true");
    while (changed) {
      changed = false;
      const pixels = its.pixels;
      const given = its.rows * SIDE;
      const temperature = its.temperature;
      const images = painter.busy ? 0 : temperature ? SAMPLES : 1; // at 0 all are the same
      const seeds = Array.from({ length: images }, (_, i) => its.seed * SAMPLES + i);
      const greys = pixels.slice(0, given);
      const task = { name, greys, asked: its.digit, rest: SIDE * SIDE - given, temperature, seeds };
      const answer = await models.ask("rows", task);
      if (!changed) show(answer, pixels, given);
    }
    asking = false;
    grid.setAttribute("aria-busy", "false");
  }
  follow("pixels rows digit temperature seed", draw);
  ends(painter.stop);
}, about);
