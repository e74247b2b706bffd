// FixedVector: what comes back of a source of N symbols through a state of m numbers.
//
//   recall[m][N], bits[m][N], written[m][N]     measured and written by trained models, looked up here
//
//   places[N][m][i]     recall of the i-th symbol of sources of N
//
// The curves and the recorded source are looked up. A source of the reader's is read and written back here, by the
// models whose weights ship (engine.mjs): `own` is what was typed, its letters A, B, ... are read.
import { answered, button, figure, fmt, h, replace, slider, table, whole } from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";
import { longest, recallCurves, recallStyle, WHOLE } from "./recall.mjs";

const FIRST = 5; // the id of A
const HEAD = ["numbers in the state", "recall", "bits that the decoder reads"];

const style = `
.lm-figure .lmv-example { display: flex; flex-wrap: wrap; gap: 0.35rem 0.2rem; }
.lm-figure .lmv-cell { display: flex; flex-direction: column; align-items: center; width: 1.45rem;
  font-family: ui-monospace, monospace; line-height: 1.3; }
.lm-figure .lmv-cell > :last-child { width: 100%; text-align: center; border-bottom: 2px solid var(--lm-text);
  font-weight: 600; }
.lm-figure .lmv-cell.lmv-lost > :last-child { border-bottom: 2px dashed var(--lm-2); font-weight: 400;
  color: var(--lm-muted); }
.lm-figure .lmv-both .lm-slider { flex-wrap: wrap; }
.lm-figure .lmv-both .lm-slider > label { flex: 1 0 100%; max-width: none; }
${recallStyle}`;

/**
 * What a typed text has: the letters that a model knows, as capitals; its other characters, each once; letters that are
 * too many.
 */
export function typed(text, symbols, most) {
  const known = (c) => /^[A-Za-z]$/.test(c) && c.toUpperCase().charCodeAt(0) - 65 < symbols;
  const letters = [...text].filter(known).map((c) => c.toUpperCase());
  return {
    letters: letters.slice(0, most).join(""),
    skipped: [...new Set([...text].filter((c) => !known(c)))],
    over: Math.max(0, letters.length - most),
  };
}

const about = {
  style,
  allows: {
    length: (length, { source }) => whole(length, 1, source.length),
    read: (read, { source }) => whole(read, 0, source.length),
    size: (size, { sizes }) => sizes.includes(size),
  },
};

export default figure(({ model, el, its, put, listen, follow, ends, say, wager }) => {
  const { sizes, source } = its;
  const live = its.live.map(([m, name, size]) => ({ m, name, bytes: size }));

  // The source that is shown: the reader's, if it has a letter, else the recorded one; N of its letters are read.
  const alphabet = `A to ${String.fromCharCode(64 + its.symbols)}`;
  const parsed = () => typed(live.length ? its.own : "", its.symbols, source.length);
  let failed = null; // what was typed and could not be read, because no weights came
  const recorded = () => ({ text: source, N: its.length, mine: false });
  function shown() {
    const { letters } = parsed();
    if (!letters || its.own === failed) return recorded();
    return { text: letters, N: Math.min(its.read || letters.length, letters.length), mine: true };
  }

  // by the letters that are read: what each live model writes
  const written = new Map(Object.entries(its.known));
  const models = connect(model, ends);
  async function writeBack(letters) {
    const ids = [...letters].map((c) => FIRST + c.charCodeAt(0) - 65);
    const found = await Promise.all(live.map(({ name }) => models.ask("symbols", { name, ids })));
    const spelled = (row) => String.fromCharCode(...row.map((id) => 65 + id - FIRST).reverse()); // they write backwards
    written.set(letters, found.map(spelled));
  }

  const lengths = new Map(); // of a source that was drawn: how many letters of it are to be read
  const reads = (text) => (text === its.own ? its.read : (lengths.get(text) ?? 0));
  const own = ownText({
    models,
    needed: live,
    label: `Your own letters, ${alphabet}`,
    verb: "Write it back",
    value: its.own,
    blank: true,
    beside: button("A new random source", () => {
      const drawn = Array.from(source, () => 65 + Math.floor(Math.random() * its.symbols));
      const random = String.fromCharCode(...drawn);
      lengths.set(random, shown().N);
      if (!live.some(({ m }) => m === its.size)) put({ size: live.at(-1).m });
      own.put(random);
    }),
    work: async (text) => {
      const { letters } = typed(text, its.symbols, source.length);
      if (letters) await writeBack(letters.slice(0, reads(text) || source.length));
    },
    done: (_, text) => {
      failed = null;
      if (text === its.own) draw();
      else put({ read: reads(text), own: text });
    },
  });

  let aim = recorded(); // what the slider moves in
  const length = slider({
    label: "Source length N",
    min: 1,
    max: source.length,
    value: its.length,
    text: (v) => (aim.mine ? `${v} of your ${fmt.some(aim.text.length, "symbol")}` : fmt.some(v, "symbol")),
    oninput: (v) => put({ [aim.mine ? "read" : "length"]: v }),
  });
  const size = slider({
    label: "State size m",
    min: 0,
    max: sizes.length - 1,
    value: sizes.indexOf(its.size),
    text: (v) => `${sizes[v]} numbers`,
    oninput: (v) => put({ size: sizes[v] }),
  });
  const picture = recallCurves(its);
  const heading = h.small();
  const example = h("div", { class: "lmv-example", "aria-hidden": "true" });
  const note = h("p", { class: "lm-small lm-muted lmv-note" });
  const numbers = table({ caption: "What comes back at the chosen length", head: HEAD });
  let view = null; // of shown(), with all that its models write
  const last = sizes.length - 1;
  const least = longest(its.recall[0]);
  const most = longest(its.recall[last]);
  const question = wager({
    name: "bottleneck-whole",
    asks:
      `Sources of ${least} letters come back from ${sizes[0]} numbers, with ${fmt.percent(WHOLE)} right. ` +
      `How long may they be for ${sizes[last]} numbers?`,
    pin: { label: "Letters", min: 1, max: source.length, value: Math.round(source.length / 2) },
    hides: [picture.others],
    settled: draw,
    told: (bet) =>
      `Each doubling of the state adds ${fmt.num((most - least) / Math.log2(sizes[last] / sizes[0]), 1)}: ` +
      `up to ${fmt.some(most, "letter")}` +
      answered(bet, most, `; you said ${bet}, ${Math.abs(bet - most)} too ${bet > most ? "many" : "few"}.`),
  });
  el.append(
    question.node,
    h("div", { class: "lm-split lmv-both" }, [
      h.stack(length.node, size.node, say.node, note),
      h.stack(picture.node, its.places.length > 0 && picture.places),
    ]),
    heading,
    example,
    live.length ? h.onstage("", own.node) : "",
    numbers.node,
  );

  /** What the model of a row has read and written: of the reader's source where the page has its weights (mine). */
  function told(row) {
    const { text, N } = view;
    const at = live.findIndex(({ m }) => m === sizes[row]);
    const mine = view.mine && at >= 0;
    const read = (mine ? text : source).slice(0, N);
    const wrote = mine ? written.get(read)[at] : its.written[row][N - 1];
    return { read, wrote, mine, right: [...wrote].filter((letter, i) => letter === read[i]).length };
  }

  /** What was typed and is not read, and why. */
  function leftOut() {
    const { letters, skipped, over } = parsed();
    if (its.own === failed) return "";
    const names = skipped.map((c) => (/\s/u.test(c) ? "spaces" : fmt.quote(c)));
    const named = [...new Set(names)].slice(0, 8).concat(names.length > 8 ? "others" : []);
    const rest = over ? ` Only the first ${source.length} letters are read.` : "";
    if (!names.length) return rest;
    const end = letters
      ? `; left out: ${fmt.list(named)}.`
      : ", and there is none in what was typed; this is the recorded source.";
    return ` The models know only the letters ${alphabet}${end}${rest}`;
  }

  function tell(N, row) {
    const m = sizes[row];
    const { mine, right } = told(row);
    const recall = fmt.percent(its.recall[row][N - 1]);
    const whose = mine ? "your " : "";
    say(`${m} numbers, ${whose}${fmt.some(N, "symbol")}: ${right} of ${N} are right; on average ${recall} come back.`);
    const why =
      view.mine && !mine
        ? ` This is the recorded source: for ${m} numbers the page has no weights, only for ` +
          `${fmt.list(live.map((one) => String(one.m)))}.`
        : "";
    const past = N > its.trained ? " No model was trained on sources as long as this." : "";
    note.textContent = (why + leftOut() + past).trim();
  }

  function draw() {
    const now = shown();
    const row = sizes.indexOf(its.size);
    const letters = now.text.slice(0, now.N);
    const unread = now.mine && !written.has(letters);
    if (unread) fetched(letters);
    aim = unread && !view?.mine ? recorded() : now; // until it is there, what was shown stays
    length.input.max = aim.text.length;
    length.set(aim.N);
    size.set(row);
    if (unread && aim.mine) return;
    view = aim;
    const { N, mine } = view;
    const { read, wrote, mine: ours, right } = told(row);
    picture.draw({ N, row, right: ours ? right : null, bet: question.answer });
    replace(
      heading,
      `${ours ? "Your" : "One recorded"} source, ${right} of ${N} right: read above, written below, wrong letters `,
      `dashed. A guess is right once in ${its.symbols}.`,
    );
    replace(example, [
      [...wrote].map((letter, i) =>
        h("span", { class: `lmv-cell${letter === read[i] ? "" : " lmv-lost"}` }, [
          h("span", {}, read[i]),
          h("span", {}, letter),
        ]),
      ),
    ]);
    numbers.draw(
      sizes.map((known, i) => [
        String(known),
        fmt.percent(its.recall[i][N - 1]),
        fmt.num(Math.max(0, its.bits[i][N - 1]), 0),
        told(i).mine === mine ? `${told(i).right} of ${N}` : "not in the page",
      ]),
      [...HEAD, `${mine ? "your source" : "example"}: right of N`],
    );
    tell(N, row);
  }

  /** A source that nothing has read yet: another length of the reader's, or one that the address or a kernel gives. */
  async function fetched(letters) {
    const text = its.own;
    if (live.every(({ name }) => models.has(name))) await writeBack(letters);
    else {
      await own.put(text);
      if (own.node.dataset.state !== "failed" || text !== its.own) return;
      failed = text; // the sentence beside the line says why; what is shown is the recorded source
    }
    draw();
  }

  listen("own", () => {
    if (!own.node.contains(document.activeElement)) own.set(its.own);
  });
  follow("length size own read", draw);
}, about);
