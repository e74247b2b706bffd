// GPTWriter: a trained GPT writes in the page. The model runs in the page's engine, on the weights that Python reads.
// These are fetched when a reader has it write; what is seen before stands in the state.
import {
  bars,
  button,
  chips,
  choice,
  disable,
  field,
  figure,
  fmt,
  h,
  reducedMotion,
  replace,
  select,
  slider,
  table,
} from "../kit/core.mjs";
import { visible } from "../kit/format.mjs";
import { connect } from "../kit/live.mjs";
import { distribution, draw as pick, softmax, uniform } from "../kit/numbers.mjs";

const MODEL = "shakespeare";

const MOST = 400;
const SHOWN = 8;
const SPECIALS = 5;
const PAUSE = 25; // characters written, bars, special ids, ms a character

const style = `
.lmw-both { --lm-side: 24rem; }
.lmw-three { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0.4rem 1rem; }
.lmw-three p { white-space: pre-wrap; overflow-wrap: anywhere; font-family: ui-monospace, Menlo, Consolas, monospace;
  font-size: 0.8125rem; line-height: 1.35; }
.lmw-three b { display: block; font-family: var(--lm-font); font-weight: 600; }
.lm-figure .lmw-text mark { text-decoration-color: var(--lm-2); }
.lmw-text { height: 6.6rem; overflow-y: auto; padding: 0.5rem 0.7rem; border-radius: 6px; background: var(--lm-soft);
  white-space: pre-wrap;
  overflow-wrap: anywhere; font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875rem;
    line-height: 1.5; }
.lmw-text .lmw-prompt { font-weight: 700; }
.lm-figure .lmw-strip { min-height: 6.5rem; align-content: flex-start; margin-top: 0.3rem; }
.lmw-strip { display: flex; flex-wrap: wrap; gap: 2px; font-family: ui-monospace, Menlo, Consolas, monospace;
  font-size: 0.875rem; }
.lmw-strip > span { display: block; min-width: 1.05rem; padding: 0.1rem 0; border: 1px solid transparent;
  border-radius: 3px; text-align: center; line-height: 1.2; }
.lmw-strip > span:last-child { border-color: var(--lm-text); }
@container (min-width: 40rem) { .lmw-both .lmw-strip { font-size: 0.75rem; }
  .lmw-both .lmw-strip > span { min-width: 0.9rem; } }
.lm-figure .lmw-note { min-height: 1.5em; }
.lmw-head { margin: 0 0 0.3rem; font-weight: 600; }
`;

const seen = (char) => visible(char, "↵");
const named = (char) => ({ "\n": "the line end", " ": "the space" })[char] ?? fmt.quote(char);

const writable = (/** @type {string} */ text, tokens) =>
  text.length <= MOST && [...text].every((c) => tokens.includes(c));
const about = {
  style,
  allows: {
    // what an address may set
    prompt: (text, { tokens }) => text !== "" && writable(text, tokens),
    written: (text, { tokens }) => writable(text, tokens),
  },
};

export default figure(({ model, el, get, put, listen, say, wager }) => {
  const models = connect(model);
  let found = get("first"); // { text, logits, attention[layer][head] } of what the model has read
  const tokens = get("tokens");
  const number = new Map(tokens.map((token, id) => [token, id]).slice(SPECIALS));
  const allowed = (logits) => Array.from(logits, (z, id) => (id < SPECIALS ? -Infinity : z));
  const text = () => get("prompt") + get("written");
  const known = () => text() === found.text;
  /** What comes next after the text that was read, and what of it is drawn from. */
  const next = ({ logits }) => {
    const z = allowed(logits);
    return { own: softmax(z), p: distribution(z, get("temperature"), get("top_k"), get("top_p")) };
  };
  const drawn = (read, place) => tokens[pick(next(read).p, uniform(get("seed"), place))];
  let timer = null;
  let dropped = "";

  /** Reads a text with the model, which is fetched first where it is not there. */
  async function read(wanted) {
    if (!models.has(MODEL)) note.textContent = `Loading ${fmt.num(get("bytes") / 1e6, 1)} MB, once …`;
    await models.load(MODEL);
    note.textContent = "";
    const ids = [...wanted].map((char) => number.get(char));
    const { logits, attention, context } = await models.ask("next", { name: MODEL, ids, slide: get("slide") });
    return { text: wanted, logits, attention, context: context.map((id) => tokens[id]) };
  }

  /** Does f once the model has read what stands there; what fails is said. */
  async function afterReading(f) {
    try {
      while (!known()) found = await read(text());
      await f();
    } catch (error) {
      note.textContent = `The model did not come: ${error.message}.`;
    }
  }

  const examples = chips({
    label: "Beginnings to try",
    options: get("examples").map((text) => [text, [...text].map((c) => (c === "\n" ? "↵" : c)).join("")]),
    onchoose: (text) => begin(text),
  });
  let inField = null; // the prompt that the line stands for
  const prompt = field({
    label: "Prompt (↵ is a line end)",
    oninput: (text) => {
      const typed = text.replaceAll("↵", "\n");
      inField = readable(typed);
      begin(typed);
    },
    maxlength: 120,
  });
  const heat = slider({
    label: "Temperature",
    min: 0,
    max: 2,
    step: 0.1,
    text: (v) => (v === 0 ? "0, greedy" : fmt.num(v, 1)),
    oninput: (temperature) => anew({ temperature }),
  });
  const topK = slider({
    label: "top-k",
    min: 1,
    max: tokens.length - SPECIALS,
    text: (v) => (v === tokens.length - SPECIALS ? "all" : String(v)),
    oninput: (v) => anew({ top_k: v === tokens.length - SPECIALS ? 0 : v }),
  });
  const topP = slider({
    label: "top-p",
    min: 0.05,
    max: 1,
    step: 0.05,
    text: (v) => (v === 1 ? "1, all" : fmt.num(v, 2)),
    oninput: (top_p) => anew({ top_p }),
  });
  const many = button("Write 100 characters", () => (timer === null ? start(100) : stop()), {
    class: "lm-button lm-main",
  });
  const one = button("One character", () => afterReading(write));
  const back = button("Back", () => {
    stop();
    put({ written: get("written").slice(0, -1) });
  });
  const again = button("Start again", () => {
    stop();
    put({ written: "" });
  });
  const other = button("Another draw", () => {
    stop();
    put({ seed: get("seed") + 1, written: "" });
    start(100);
  });
  let before = ""; // what stood there until a slider was moved
  let length = 0; // of what is to be written anew
  let rest = null; // the timer of a slider that moves
  /** The same draws at another temperature or cut: what was written is written again. */
  function anew(values) {
    const written = get("written");
    if (!written && !length) return put(values);
    if (!length) [before, length] = [written, timer === null ? written.length : Math.max(100, written.length)];
    stop();
    clearTimeout(rest);
    rest = setTimeout(() => {
      const count = length;
      length = 0;
      put({ written: "" });
      start(count);
    }, 250);
    return put(values);
  }
  const { own: own0 } = next(found);
  const top0 = own0.indexOf(Math.max(...own0));
  const half = distribution(allowed(found.logits), 0.5, 0, 1)[top0];
  const question = wager({
    name: "writer-half",
    asks: `${named(tokens[top0])} has probability ${fmt.num(own0[top0])} to come next. And at temperature 0.5?`,
    pin: { label: "Probability", min: 0, max: 1, step: 0.01, value: fmt.num(own0[top0]), text: (v) => fmt.num(v) },
    told: (bet) =>
      `${fmt.num(half)}: each probability is squared, then all are divided by their sum.` +
      (bet === null
        ? ""
        : ` You said ${fmt.num(bet)}, ${fmt.num(Math.abs(bet - half))} too ${bet > half ? "high" : "low"}.`),
  });
  const three = h("div", { class: "lmw-three" }, [
    get("beside").map(([t, written]) =>
      h("p", {}, h("b", {}, `${get("examples")[0].replace("\n", "↵")} at temperature ${t}`), written),
    ),
  ]);
  const looking = h("p", { class: "lm-small lm-muted" });
  const note = h("p", { class: "lm-small lm-muted lmw-note", role: "status" });
  note.textContent = `fetches ${fmt.num(get("bytes") / 1e6, 1)} MB once; the text stays in this page`;
  const page = h("div", { class: "lmw-text", tabindex: "0", role: "region", "aria-label": "The text so far" });
  const chart = bars({ label: "The likeliest next characters" });
  const layer = choice({
    label: "Layer",
    options: found.attention.map((_, i) => [i, String(i + 1)]),
    onchange: (value) => put({ layer: value }),
  });
  const head = select({
    label: "Head",
    options: [[-1, "mean of all"], ...found.attention[0].map((_, i) => [i, String(i + 1)])],
    onchange: (value) => put({ head: value }),
  });
  const strip = h("div", { class: "lmw-strip", role: "img" });
  const odds = table({
    summary: "All characters that may come next",
    caption: "What the model says, and what is drawn from",
    head: ["Character", "Model", "Drawn from"],
  });
  const looks = table({
    summary: "Attention of the last character",
    caption: "Position in the context, character, weight",
    head: ["Position", "Character", "Weight"],
  });
  el.append(
    question.node,
    three,
    examples.node,
    prompt.node,
    h("div", { class: "lm-split lmw-both" }, [
      h("div", { class: "lm-stack" }, [
        page,
        h("div", { class: "lm-row" }, many, one, back, again, other),
        note,
        heat.node,
        topK.node,
        topP.node,
      ]),
      h("div", { class: "lm-stack" }, [
        h(
          "div",
          { class: "lmw-bars" },
          h("p", { class: "lmw-head" }, "Next character"),
          chart.node,
          h("p", { class: "lm-small lm-muted" }, "Bar: what is drawn from. Mark: what the model says."),
        ),
        say.node,
      ]),
    ]),
    h("div", { class: "lm-folds" }, odds.node, looks.node, [
      h("details", {}, [
        h("summary", {}, "What the last character looks at"),
        h("div", { class: "lm-row" }, layer.node, head.node),
        strip,
        looking,
      ]),
    ]),
  );

  /** What the model can read of a text. An empty line stands for the line end, which begins every speech. */
  const readable = (typed) => [...typed].filter((char) => number.has(char)).join("") || "\n";

  function begin(typed) {
    stop();
    dropped = [...new Set([...typed].filter((char) => !number.has(char)))].join("");
    before = "";
    put({ prompt: readable(typed), written: "" });
    if (dropped) draw();
  }

  function write() {
    put({ written: get("written") + drawn(found, get("written").length) });
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    many.textContent = "Write 100 characters";
  }

  function start(count, atOnce = reducedMotion()) {
    const end = Math.min(MOST, get("written").length + count);
    if (atOnce) {
      return afterReading(async () => {
        const begun = get("prompt");
        let last = found;
        let more = get("written");
        while (more.length < end) {
          more += drawn(last, more.length);
          last = await read(begun + more);
        }
        found = last;
        put({ prompt: begun, written: more });
      });
    }
    many.textContent = "Stop";
    const go = () =>
      afterReading(() => {
        if (timer === null) return;
        write();
        if (get("written").length >= end) stop();
        else timer = setTimeout(go, PAUSE);
      });
    timer = setTimeout(go);
    return undefined;
  }

  function draw() {
    const written = get("written");
    if (get("prompt") !== inField) prompt.set(get("prompt").replaceAll("\n", "↵")); // it came from elsewhere
    inField = get("prompt");
    examples.set(get("prompt"));
    heat.set(get("temperature"));
    topK.set(get("top_k") || tokens.length - SPECIALS);
    topP.set(get("top_p"));
    layer.set(get("layer"));
    head.set(get("head"));
    const odd = [...written].findIndex((char, i) => before && i < before.length && char !== before[i]);
    const shown = odd < 0 ? [written] : [written.slice(0, odd), h("mark", {}, written[odd]), written.slice(odd + 1)];
    replace(page, h("span", { class: "lmw-prompt" }, get("prompt")), shown);
    page.scrollTop = page.scrollHeight; // what was written last is in sight
    for (const node of [back, again]) disable(node, !written);
    disable(many, timer === null && written.length >= MOST);
    disable(one, written.length >= MOST);
    if (!known()) return afterReading(draw);

    const { own, p } = next(found);
    const order = [...own.keys()].filter((id) => id >= SPECIALS).sort((a, b) => own[b] - own[a] || a - b);
    const stay = order.filter((id) => p[id] > 0);
    chart.draw(
      order.slice(0, SHOWN).map((id) => ({
        label: seen(tokens[id]),
        value: p[id],
        tone: p[id] > 0 ? 1 : "faint",
        text: p[id] > 0 ? fmt.prob(p[id], 2) : "cut",
        mark: own[id],
        title: `the model says ${fmt.prob(own[id], 2)}`,
      })),
      { max: 1 },
    );
    odds.draw(order.map((id) => [seen(tokens[id]), fmt.prob(own[id]), p[id] > 0 ? fmt.prob(p[id]) : "cut"]));

    const heads = found.attention[get("layer")];
    const alpha =
      get("head") < 0
        ? Array.from(heads[0], (_, i) => heads.reduce((sum, weight) => sum + weight[i] / heads.length, 0))
        : Array.from(heads[get("head")]);
    const top = Math.max(...alpha);
    const context = found.context ?? [...found.text].slice(-alpha.length);
    replace(strip, [
      context.map((char, i) =>
        h(
          "span",
          {
            style: {
              background: `color-mix(in srgb, var(--lm-1) ${Math.round((55 * alpha[i]) / top)}%, transparent)`,
            },
          },
          [seen(char)],
        ),
      ),
    ]);
    looks.draw(context.map((char, i) => [String(i + 1), seen(char), fmt.num(alpha[i], 3)]));
    const most = alpha.indexOf(top);
    const behind = context.length - 1 - most;
    const where = behind
      ? `${named(context[most])}, ${behind} ${behind === 1 ? "position" : "positions"} back`
      : "itself";
    const sees =
      `In layer ${get("layer") + 1}, ` +
      (get("head") < 0 ? "on average over the heads" : `head ${get("head") + 1}`) +
      `, ${named(context.at(-1))} looks most at ${where} (${fmt.num(top)}).`;
    looking.textContent = sees;
    strip.setAttribute("aria-label", `The context of ${context.length} characters, shaded by attention. ${sees}`);
    const without = dropped
      ? `Left out, because the model has no such character: ${fmt.list([...dropped].map(fmt.quote))}. `
      : "";
    const all = stay.length === order.length ? "all may come" : `${stay.length} of ${order.length} may come`;
    const best = order[0];
    return say(
      `${without}Likeliest next: ${named(tokens[best])}, by the model ${fmt.prob(own[best], 2)}, ` +
        `drawn with ${fmt.prob(p[best], 2)}; ${all}.`,
    );
  }

  listen("prompt written temperature top_k top_p seed layer head", draw);
  draw();
  return () => {
    stop();
    clearTimeout(rest);
    models.stop();
  };
}, about);
