// FirstWords: the GPT of chapter 17 writes on from the reader's words. What is seen first was written by the same
// model; its weights are fetched when the reader asks for more, and then it runs in the page's engine.
import { answered, button, field, figure, fmt, h, reducedMotion, replace, roving } from "../kit/core.mjs";
import { visible } from "../kit/format.mjs";
import { connect, fetches, loading } from "../kit/live.mjs";
import { distribution, draw as pick, likeliest, uniform } from "../kit/numbers.mjs";

const NAME = "shakespeare";
const NEEDED = [{ name: NAME, bytes: 0.9e6 }];
const SLIDE = 16; // characters that leave a full window
const LENGTH = 260;
const SHOWN = 6;
const FIRST = 5;
const PAUSE = 30;
const WRITE = "Write on from my words";

const style = `
.lmo-work { display: grid; grid-template-columns: minmax(0, 1.7fr) minmax(11rem, 1fr); gap: 0.9rem 1.4rem; }
.lm-figure .lmo-text { min-height: 15.5rem; max-height: 15.5rem; padding: 0.7rem 0.9rem; overflow-y: auto;
  border-radius: 6px; background: var(--lm-soft); white-space: pre-wrap;
  overflow-wrap: anywhere; font-family: var(--book-serif, serif); font-size: 1.0625rem; line-height: 1.4; }
.lmo-text b { font-weight: 600; }
.lmo-text span::after { content: ""; display: inline-block; width: 0.55em; height: 1.05em; margin-left: 1px;
  vertical-align: text-bottom; background: var(--lm-1); opacity: 0.7; }
.lmo-next p { margin-bottom: 0.4rem; color: var(--lm-muted); font-size: 0.875rem; }
.lm-figure .lmo-pick { width: 100%; min-height: 1.6rem; margin: 0; padding: 0; border: 0; border-radius: 4px;
  background: none; color: inherit; font: inherit; text-align: left; cursor: pointer; }
.lmo-pick:hover { background: var(--lm-soft); }
.lmo-next .lm-slider { margin-top: 0.6rem; }
@media (min-width: 40rem) { .lm-figure .lmo-own ~ div .lm-says { min-height: 1.45em; } }
.lmo-own { display: flex; flex-wrap: wrap; gap: 0.5rem 0.7rem; align-items: center; }
.lm-figure .lmo-own .lm-field { flex: 1 1 16rem; flex-wrap: nowrap; }
.lm-figure .lmo-own .lm-field label { white-space: nowrap; }
.lm-figure .lmo-own .lm-field input { flex-basis: 5rem; }
@media (max-width: 40rem) {
  .lmo-work { grid-template-columns: minmax(0, 1fr); }
  .lm-figure .lmo-text { min-height: 20rem; max-height: none; }
}
`;

const seen = (char) => visible(char, "↵");
const named = (char) => ({ "\n": "a new line", " ": "a space" })[char] ?? fmt.quote(char);

export default figure(({ model, el, knob, its, put, listen, follow, ends, say, wager }) => {
  const models = connect(model, ends);
  let types = null; // the model's characters by id
  let after = its.odds.map(([char, below]) => [char, -below]); // every character that may come, with its logit
  const begun = after;
  const warm = fmt.num(its.temperature, 1);
  let run = 0; // of the writing: an answer to an earlier one is not waited for any more
  let busy = false;
  let timer = null;
  let note = "";

  const prompt = field({ label: "Begin with", value: its.prompt.trim(), maxlength: 80, onenter: () => go() });
  const main = button(WRITE, () => (timer === null ? go() : stop()), { main: true });
  const other = button("Another draw", () => {
    put({ seed: its.seed + 1 });
    go();
  });
  const heat = knob("temperature", "Temperature", [0.2, 1.6, 0.1], 1);
  const { bar, note: state, come } = loading(models);
  state.textContent = fetches(NEEDED);
  const text = h.scroller("lmo-text", "What the model has written");
  const picks = Array.from({ length: SHOWN }, (_, i) => {
    const [label, fill, text] = ["label", "fill", "text"].map((part) => h("span", { class: `lm-bar-${part}` }));
    const track = h("span", { class: "lm-bar-track", "aria-hidden": "true" }, fill);
    const node = button([label, track, text], () => add(its.next[i][0]), { class: "lm-bar lmo-pick", "data-tone": 1 });
    return { label, fill, text, node };
  });
  const chart = h.group("lm-bars", "Likely next characters: Enter writes one", [picks.map(({ node }) => node)]);
  roving(chart, ".lmo-pick");
  const offered = its.next;
  const shown = () => its.prompt + its.written;
  const start = shown();
  const end = start.split("\n").at(-1);
  const question = wager({
    name: "firstwords-next",
    asks: `After ${fmt.quote(`… ${end.split(" ").slice(-4).join(" ")}`)}, which character is the likeliest?`,
    options: offered.map(([char]) => [char, seen(char)]).sort(),
    hides: [chart, say.node],
    of: "prompt written temperature",
    told: (bet) => {
      const [[best, p]] = offered;
      const yours = offered.find(([char]) => char === bet);
      const miss = yours ? `; you said ${named(bet)}, ${fmt.share(yours[1])}` : "";
      const told = `At temperature ${warm} the likeliest is ${named(best)}, ${fmt.share(p)}`;
      return told + answered(bet, best, `${miss}.`);
    },
    settled: () => {
      if (shown() === start) {
        stop();
        after = begun; // it may have been asked again, of what stood there first
        put({ next: best() });
      }
      draw();
    },
  });
  el.append(
    h("div", { class: "lmo-work" }, [
      text,
      h("div", { class: "lmo-next" }, h("p", {}, "What may come next; press one to write it"), chart, heat.node),
    ]),
    question.node,
    h("div", { class: "lmo-own" }, prompt.node, main, other),
    h.row(bar, state),
    say.node,
  );

  const stop = () => {
    run += 1;
    clearTimeout(timer);
    timer = null;
    main.textContent = WRITE;
  };

  /** Whether the model is here; it is fetched once. */
  async function ready() {
    if (types) return true;
    busy = true;
    try {
      await come(NEEDED);
      types = await models.ask("types", { name: NAME });
      state.textContent = "The model is here, in this page.";
    } catch (error) {
      state.textContent = `That could not be done: ${error.message}.`;
    }
    busy = false;
    return types !== null;
  }

  /** The reader's own choice in place of a draw. */
  async function add(char) {
    if (busy) return;
    stop();
    if (!(await ready())) return;
    busy = true; // a second press now would be read without the first
    await read(char).finally(() => {
      busy = false;
    });
    put({ written: its.written + char, next: best() });
  }

  async function go() {
    if (busy) return;
    stop();
    if (!(await ready())) return;
    const typed = [...prompt.get()];
    const unknown = [...new Set(typed.filter((char) => !types.includes(char) && !/[\p{Cf}\p{M}]/u.test(char)))];
    const left = fmt.list(unknown.map(fmt.quote));
    note = left && `Left out, because the model has no such character: ${left}. `;
    const known = typed.filter((char) => types.includes(char)).join("");
    // a name in capitals begins a speech
    put({ prompt: /^[A-Z ]+:$/.test(known) ? `${known}\n` : known || "\n", written: "", next: [] });
    main.textContent = "Stop";
    const mine = run;
    await read();
    if (mine === run) step(mine);
  }

  /** Has the model read what stands there and `more`. */
  async function read(more = "") {
    const ids = [...(shown() + more)].map((char) => types.indexOf(char));
    const { logits } = await models.ask("next", { name: NAME, ids, slide: SLIDE });
    after = Array.from(logits, (z, id) => [types[id], id < FIRST ? -Infinity : z]);
  }

  /** What may come next, at the temperature of now. */
  function next() {
    const logits = after.map(([, z]) => z);
    return distribution(logits, its.temperature, 0, 1);
  }
  function best() {
    const p = next();
    return likeliest(p, SHOWN).map((i) => [after[i][0], p[i]]);
  }

  /** Draws a character; where nothing should move, all of them. */
  async function step(mine) {
    let more = "";
    const length = () => its.written.length + more.length;
    do {
      more += types[pick(next(), uniform(its.seed, length()))];
      await read(more);
      if (mine !== run) return;
    } while (reducedMotion() && length() < LENGTH);
    put({ written: its.written + more, next: best() });
    if (length() >= LENGTH) stop();
    else timer = setTimeout(step, PAUSE, mine);
  }

  function draw() {
    replace(text, h("b", {}, its.prompt), h("span", {}, its.written));
    text.scrollTop = text.scrollHeight; // what may come next is said of its end
    const next = its.next;
    if (!next.length) return;
    next.forEach(([char, p], i) => {
      replace(picks[i].label, seen(char), question.answer === char && shown() === start && h("small", {}, " your bet"));
      picks[i].text.textContent = fmt.share(p);
      picks[i].fill.style.setProperty("width", `${100 * p}%`);
    });
    const all = fmt.percent(next.reduce((sum, [, p]) => sum + p, 0));
    const at = fmt.num(its.temperature, 1);
    say(`${note}At temperature ${at} these ${next.length} characters hold ${all} of the probability.`);
  }

  follow("next", draw);
  listen("temperature", () => timer === null && put({ next: best() })); // at once, before anything is fetched, too
  ends(stop);
}, style);
