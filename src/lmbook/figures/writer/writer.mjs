// GPTWriter: a trained GPT writes in the page. The model runs in the page's engine, on the weights that Python reads.
// These are fetched when a reader has it write; what is seen before stands in the state.
import { button, chips, disable, field, figure, fmt, h, reducedMotion, replace, select, slider } from "../kit/core.mjs";
import { leftOut, visible } from "../kit/format.mjs";
import { connect, fetches, loading } from "../kit/live.mjs";
import { distribution, draw as drawn_, softmax, uniform } from "../kit/numbers.mjs";
import { looks, looksStyle } from "./looks.mjs";
import { oddsOf } from "./odds.mjs";
import { threeStyle, threeTexts } from "./three.mjs";

const MODEL = "shakespeare";
const MOST = 400; // characters written
const SPECIALS = 5; // ids
const PAUSE = 25; // ms a character

const style = `
.lmw-both { --lm-side: 24rem; }
.lm-figure .lmw-both .lm-slider > label { min-width: 6em; } /* the tracks begin in one line */
.lm-figure .lmw-text mark { background: var(--lm-1); color: #fff; }
.lmw-text { height: 9.4rem; overflow-y: auto; padding: 0.5rem 0.7rem; border-radius: 6px; background: var(--lm-soft);
  white-space: pre-wrap;
  overflow-wrap: anywhere; font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.875rem;
    line-height: 1.5; }
.lmw-text .lmw-prompt { font-weight: 700; }
.lm-figure .lmw-note { min-height: 1.5em; }
.lmw-head { margin: 0 0 0.3rem; font-weight: 600; }
`;

const seen = (char) => visible(char, "↵");
const named = (char) => ({ "\n": "the line end", " ": "the space" })[char] ?? fmt.quote(char);

const writable = (/** @type {string} */ text, tokens) =>
  text.length <= MOST && [...text].every((c) => tokens.includes(c));
const about = {
  style: style + threeStyle + looksStyle,
  allows: {
    prompt: (text, { tokens }) => text !== "" && writable(text, tokens),
    written: (text, { tokens }) => writable(text, tokens),
  },
};

export default figure(({ model, el, knob, pick, its, put, follow, ends, say, wager }) => {
  const models = connect(model, ends);
  const needed = [{ name: MODEL, bytes: its.bytes }];
  const { bar, note, come } = loading(models);
  let found = its.first; // { text, logits, attention[layer][head] } of what the model has read
  const tokens = its.tokens;
  const number = new Map(tokens.map((token, id) => [token, id]).slice(SPECIALS));
  const text = () => its.prompt + its.written;
  const known = () => text() === found.text;
  /** What comes next after the text that was read, and what of it is drawn from. */
  const next = ({ logits }) => {
    const z = Array.from(logits, (value, id) => (id < SPECIALS ? -Infinity : value));
    return { own: softmax(z), p: distribution(z, its.temperature, its.top_k, its.top_p) };
  };
  const drawn = (read, place) => tokens[drawn_(next(read).p, uniform(its.seed, place))];
  let timer = null;
  let dropped = "";

  /** Reads a text with the model, which is fetched first where it is not there. */
  async function read(wanted) {
    await come(needed);
    note.textContent = "";
    const ids = [...wanted].map((char) => number.get(char));
    const { logits, attention, context } = await models.ask("next", { name: MODEL, ids, slide: its.slide });
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
    options: its.examples.map((text) => [text, text.replaceAll("\n", "↵")]),
    onchoose: (text) => {
      typing = false;
      begin(text);
    },
  });
  let typing = false; // is what stands in the line only typed? Typing fetches nothing, Enter does.
  let inField = null; // the prompt that the line stands for
  const prompt = field({
    label: "Prompt (↵ is a line end)",
    oninput: (text) => {
      const typed = text.replaceAll("↵", "\n");
      typing = true;
      inField = readable(typed);
      begin(typed);
    },
    onenter: () => {
      typing = false;
      draw();
    },
    maxlength: 120,
  });
  const heat = knob("temperature", "Temperature", [0, 2, 0.1], (v) => (v ? fmt.num(v, 1) : "0, greedy"), anew);
  const all = tokens.length - SPECIALS;
  const topK = slider({
    label: "top-k",
    min: 1,
    max: all,
    text: (v) => (v === all ? "all" : String(v)),
    oninput: (v) => anew({ top_k: v % all }),
  });
  const topP = knob("top_p", "top-p", [0.05, 1, 0.05], (v) => (v === 1 ? "1, all" : fmt.num(v)), anew);
  const many = button("Write 100 characters", () => (timer === null ? start(100) : stop()), { main: true });
  const one = button("One character", () => afterReading(write));
  const stopped = (values) => {
    stop();
    put(values);
  };
  const back = button("Back", () => stopped({ written: its.written.slice(0, -1) }));
  const again = button("Start again", () => stopped({ written: "" }));
  const other = button("Another draw", () => {
    stopped({ seed: its.seed + 1, written: "" });
    start(100);
  });
  let before = ""; // what stood there until a slider was moved
  let length = 0; // of what is to be written anew
  let rest = null; // the timer of a slider that moves
  /** The same draws at another temperature or cut: what was written is written again. */
  function anew(values) {
    const written = its.written;
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
  const three = threeTexts(its.beside, its.examples[0].trim(), wager);
  note.textContent = fetches(needed);
  const page = h.scroller("lmw-text", "The text so far");
  const numbered = (/** @type {any[]} */ list) => list.map((_, i) => [i, String(i + 1)]);
  const layer = pick("layer", "Layer", numbered(found.attention));
  const head = pick("head", "Head", [[-1, "mean of all"], ...numbered(found.attention[0])], select);
  const looked = looks([layer.node, head.node], { seen, named });
  const odds = oddsOf((id) => seen(tokens[id]));
  const coming = h("div", { class: "lm-row lmw-note" }, bar, note);
  const writing = h.stack(page, h.row(many, one, back, again, other), coming, say.node);
  const drawing = h.stack(odds.node, h("div", {}, heat.node, topK.node, topP.node));
  el.append(
    ...[three.bet, three.node, examples.node].map((node) => h.onstage("Three", node)),
    prompt.node,
    h.onstage("Draw", h("div", { class: "lm-split lmw-both" }, writing, drawing)),
    h.folds(odds.table, looked.node),
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
    put({ written: its.written + drawn(found, its.written.length) });
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    many.textContent = "Write 100 characters";
  }

  function start(count, atOnce = reducedMotion()) {
    const end = Math.min(MOST, its.written.length + count);
    const whole = async () => {
      const begun = its.prompt;
      let last = found;
      let more = its.written;
      while (more.length < end) {
        more += drawn(last, more.length);
        last = await read(begun + more);
      }
      found = last;
      put({ prompt: begun, written: more });
    };
    if (atOnce) return afterReading(whole);
    many.textContent = "Stop";
    const go = () =>
      afterReading(() => {
        if (timer === null) return;
        write();
        if (its.written.length >= end) stop();
        else timer = setTimeout(go, PAUSE);
      });
    timer = setTimeout(go);
    return undefined;
  }

  function draw() {
    const written = its.written;
    if (its.prompt !== inField) prompt.set(its.prompt.replaceAll("\n", "↵")); // it came from elsewhere
    inField = its.prompt;
    examples.set(its.prompt);
    topK.set(its.top_k || all);
    const odd = [...written].findIndex((char, i) => before && i < before.length && char !== before[i]);
    const shown = odd < 0 ? [written] : [written.slice(0, odd), h("mark", {}, written[odd]), written.slice(odd + 1)];
    replace(page, h("span", { class: "lmw-prompt" }, its.prompt), shown);
    page.scrollTop = page.scrollHeight; // what was written last is in sight, or else what has changed
    const mark = page.querySelector("mark");
    if (mark) page.scrollTop = Math.min(page.scrollTop, mark.offsetTop - page.offsetTop - 8);
    for (const node of [back, again]) disable(node, !written);
    disable(many, timer === null && written.length >= MOST);
    disable(one, written.length >= MOST);
    const unread = !known() && typing && !models.has(MODEL);
    for (const { style } of [...odds.parts, looked.node]) style.visibility = unread ? "hidden" : "";
    if (unread) return say("Press Enter, and the model reads it and says what may come next.");
    if (!known()) return afterReading(draw);

    const { own, p } = next(found);
    const order = [...own.keys()].filter((id) => id >= SPECIALS).sort((a, b) => own[b] - own[a] || a - b);
    const stay = order.filter((id) => p[id] > 0);
    odds.draw(order, own, p);
    looked.draw(found, its.layer, its.head);
    const may = stay.length === order.length ? "all may come" : `${stay.length} of ${order.length} may come`;
    const best = order[0];
    return say(
      `${leftOut(dropped)}Likeliest next: ${named(tokens[best])}, by the model ${fmt.prob(own[best], 2)}, ` +
        `drawn with ${fmt.prob(p[best], 2)}; ${may}.`,
    );
  }

  follow("prompt written temperature top_k top_p seed layer head", draw);
  ends(() => {
    stop();
    clearTimeout(rest);
  });
}, about);
