// FixedVector: what comes back of a source of N symbols through a state of m numbers.
//
//   recall[m][N], bits[m][N], written[m][N]     measured and written by trained models, looked up here
//
//   places[N][m][i]     recall of the i-th symbol of sources of N
//
// The curves and the recorded source are looked up. A source of the reader's is read and written back here, by the
// models whose weights ship (engine.mjs): `own` is what was typed, its letters A, B, ... are read.
import { answered, button, figure, fmt, h, onwidth, replace, s, slider, table, whole } from "../kit/core.mjs";
import { connect, ownText } from "../kit/live.mjs";

const FIRST = 5; // the id of A
const WHOLE = 0.95; // of the symbols: then a source counts as come back

const style = `
.lm-figure .lmv-example { display: flex; flex-wrap: wrap; gap: 0.35rem 0.2rem; }
.lm-figure .lmv-cell { display: flex; flex-direction: column; align-items: center; width: 1.45rem;
  font-family: ui-monospace, monospace; line-height: 1.3; }
.lm-figure .lmv-cell > :last-child { width: 100%; text-align: center; border-bottom: 2px solid var(--lm-text);
  font-weight: 600; }
.lm-figure .lmv-cell.lmv-lost > :last-child { border-bottom: 2px dashed var(--lm-2); font-weight: 400;
  color: var(--lm-muted); }
.lm-figure .lmv-line { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke: var(--lm-edge); }
.lm-figure .lmv-line.lmv-now { stroke: var(--lm-1); stroke-width: 3; }
.lm-figure .lmv-now-text { font-weight: 700; }
.lm-figure .lmv-here { stroke: var(--lm-1); stroke-width: 1; }
.lm-figure .lmv-bet { stroke: var(--lm-2); stroke-width: 2; }
.lm-figure .lmv-both { --lm-side: 15rem; }
.lm-figure .lmv-both .lm-slider { flex-wrap: wrap; }
.lm-figure .lmv-both .lm-slider > label { flex: 1 0 100%; max-width: none; }
.lm-figure .lmv-places { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 0.2rem 0.7rem; }
.lm-figure .lmv-places svg { border-top: 1px dotted var(--lm-edge); border-bottom: 1px solid var(--lm-edge); }
.lm-figure .lmv-place { fill: var(--lm-1); }
.lm-figure .lmv-whole { fill: var(--lm-paper); stroke: var(--lm-text); stroke-width: 1.5; }
.lm-figure .lmv-edge { stroke: var(--lm-edge); stroke-width: 1; stroke-dasharray: 4 4; }
.lm-figure .lmv-dot { fill: var(--lm-1); }
.lm-figure .lmv-clear { paint-order: stroke; stroke: var(--lm-paper); stroke-width: 3px; stroke-linejoin: round; }
.lm-figure .lmv-own { fill: var(--lm-paper); stroke: var(--lm-1); stroke-width: 2; }
`;

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
    // what an address may set
    length: (length, { source }) => whole(length, 1, source.length),
    read: (read, { source }) => whole(read, 0, source.length),
    size: (size, { sizes }) => sizes.includes(size),
  },
};

export default figure(({ model, el, get, put, listen, say, wager }) => {
  const sizes = get("sizes");
  const source = get("source");
  const live = get("live").map(([m, name, size]) => ({ m, name, bytes: size }));

  // The source that is shown: the reader's, if it has a letter, else the recorded one; N of its letters are read.
  const alphabet = `A to ${String.fromCharCode(64 + get("symbols"))}`;
  const parsed = () => typed(live.length ? get("own") : "", get("symbols"), source.length);
  let failed = null; // what was typed and could not be read, because no weights came
  const recorded = () => ({ text: source, N: get("length"), mine: false });
  function shown() {
    const { letters } = parsed();
    if (!letters || get("own") === failed) return recorded();
    return { text: letters, N: Math.min(get("read") || letters.length, letters.length), mine: true };
  }

  // by the letters that are read: what each live model writes
  const written = new Map(Object.entries(get("known")));
  const models = connect(model);
  async function writeBack(letters) {
    const ids = [...letters].map((c) => FIRST + c.charCodeAt(0) - 65);
    const found = await Promise.all(live.map(({ name }) => models.ask("symbols", { name, ids })));
    written.set(
      letters,
      found.map((row) =>
        row
          .map((id) => String.fromCharCode(65 + id - FIRST))
          .reverse()
          .join(""),
      ),
    ); // they write backwards
  }

  const lengths = new Map(); // of a source that was drawn: how many letters of it are to be read
  const reads = (text) => (text === get("own") ? get("read") : (lengths.get(text) ?? 0));
  const own = ownText({
    models,
    needed: live,
    label: `Your own letters, ${alphabet}`,
    verb: "Write it back",
    value: get("own"),
    blank: true,
    beside: button("A new random source", () => {
      const random = Array.from(source, () =>
        String.fromCharCode(65 + Math.floor(Math.random() * get("symbols"))),
      ).join("");
      lengths.set(random, shown().N);
      if (!live.some(({ m }) => m === get("size"))) put({ size: live.at(-1).m });
      own.put(random);
    }),
    work: async (text) => {
      const { letters } = typed(text, get("symbols"), source.length);
      if (letters) await writeBack(letters.slice(0, reads(text) || source.length));
    },
    done: (_, text) => {
      failed = null;
      if (text === get("own")) draw();
      else put({ read: reads(text), own: text });
    },
  });

  let aim = recorded(); // what the slider moves in
  const length = slider({
    label: "Source length N",
    min: 1,
    max: source.length,
    value: get("length"),
    text: (v) =>
      `${v}${aim.mine ? ` of your ${aim.text.length}` : ""} symbol${(aim.mine ? aim.text.length : v) === 1 ? "" : "s"}`,
    oninput: (v) => put({ [aim.mine ? "read" : "length"]: v }),
  });
  const size = slider({
    label: "State size m",
    min: 0,
    max: sizes.length - 1,
    value: sizes.indexOf(get("size")),
    text: (v) => `${sizes[v]} numbers`,
    oninput: (v) => put({ size: sizes[v] }),
  });
  const svg = s("svg", { "aria-hidden": "true" });
  const axes = s("g", {});
  const others = s("g", {});
  const shownLine = s("g", {});
  svg.append(axes, others, shownLine);
  const chart = h("div", { class: "lm-chart", "aria-hidden": "true" }, svg);
  const profile = h("div", { class: "lmv-places", "aria-hidden": "true" });
  const heading = h.small();
  const example = h("div", { class: "lmv-example", "aria-hidden": "true" });
  const note = h("p", { class: "lm-small lm-muted lmv-note" });
  const numbers = table({
    caption: "What comes back at the chosen length",
    head: ["numbers in the state", "recall", "bits that the decoder reads"],
  });
  /** The longest source of which a size gives back WHOLE. */
  const whole_ = (row) => get("recall")[row].findLastIndex((r) => r >= WHOLE) + 1;
  let view = null; // of shown(), with all that its models write
  let yours = null; // the length that was bet
  const last = sizes.length - 1;
  const least = whole_(0);
  const most = whole_(last);
  const question = wager({
    name: "bottleneck-whole",
    asks:
      `Sources of ${least} letters come back from ${sizes[0]} numbers, with ${fmt.percent(WHOLE)} right. ` +
      `How long may they be for ${sizes[last]} numbers?`,
    pin: { label: "Letters", min: 1, max: source.length, value: Math.round(source.length / 2) },
    hides: [others],
    settled: (bet) => {
      yours = bet;
      if (view) draw();
    },
    told: (bet) =>
      `Each doubling of the state adds ${fmt.num((most - least) / Math.log2(sizes[last] / sizes[0]), 1)}: ` +
      `up to ${fmt.some(most, "letter")}` +
      answered(bet, most, `; you said ${bet}, ${Math.abs(bet - most)} too ${bet > most ? "many" : "few"}.`),
  });
  const measured = h.small();
  el.append(
    question.node,
    h("div", { class: "lm-split lmv-both" }, [
      h("div", { class: "lm-stack" }, length.node, size.node, say.node, note),
      h("div", { class: "lm-stack" }, chart, ...(get("places").length ? [measured, profile] : [])),
    ]),
    heading,
    example,
    ...(live.length ? [h.onstage("", own.node)] : []),
    numbers.node,
  );
  let width = 560;

  /** What the model of a row has read and written: of the reader's source where the page has its weights (mine). */
  function told(row) {
    const { text, N, mine } = view;
    const at = live.findIndex(({ m }) => m === sizes[row]);
    const ours = mine && at >= 0;
    const [read, wrote] = ours
      ? [text.slice(0, N), written.get(text.slice(0, N))[at]]
      : [source.slice(0, N), get("written")[row][N - 1]];
    return { read, wrote, mine: ours, right: [...wrote].filter((letter, i) => letter === read[i]).length };
  }

  function drawChart(N, row) {
    const tall = 236;
    const left = 40;
    const bottom = 34;
    const top = 24;
    const end = width - 12;
    const x = (n) => left + ((n - 1) / Math.max(1, source.length - 1)) * (end - left);
    const y = (r) => top + (1 - r) * (tall - top - bottom);
    const recall = get("recall");
    const ticks = [1, ...Array.from({ length: Math.floor(source.length / 10) }, (_, i) => 10 * (i + 1))];
    const edge = x(Math.min(source.length, get("trained") + 0.5));
    replace(axes, [
      [0, 0.25, 0.5, 0.75, 1].map((r) => [
        s.rule(`M${left} ${y(r)}H${end}`),
        s.tick(left - 6, y(r) + 4, `${100 * r} %`, "end"),
      ]),
      ticks.map((n) => s.tick(x(n), tall - bottom + 16, n)),
      s.tick((left + end) / 2, tall - 2, "symbols in the source"),
      s.tick(0, 10, "symbols that come back", "start"),
      s.rule(`M${left} ${y(WHOLE)}H${end}M${edge} ${top}V${tall - bottom}`, "lmv-edge"),
      end - edge > 130 && s.tick(edge + 5, tall - bottom - 6, "not in training", "start"),
      s.rule(`M${x(N)} ${top}V${tall - bottom}`, "lmv-here"),
    ]);
    const apart = (k) => {
      // the least distance of two lines at k + 1 symbols
      const values = recall.map((line) => line[k]).sort((a, b) => a - b);
      return Math.min(...values.slice(1).map((value, i) => value - values[i]));
    };
    const names = recall[0].map((_, k) => k).reduce((best, k) => (apart(k) > apart(best) ? k : best), 0);
    const dot = (kind, n, r, size = 5) => s("circle", { class: kind, cx: x(n), cy: y(r), r: size });
    const named = (now) => ({ class: `lm-tick lmv-clear${now ? " lmv-now-text" : ""}` });
    const drawn = recall.map((line, i) => {
      const n = whole_(i);
      return [
        s.rule(s.through(line.map((r, k) => [x(k + 1), y(r)])), `lmv-line${i === row ? " lmv-now" : ""}`),
        n > 0 && dot("lmv-whole", n, line[n - 1], 3.5),
        s.text(x(names + 1), y(line[names]) + 4, sizes[i], "middle", named(i === row)),
      ];
    });
    replace(others, [drawn.filter((_, i) => i !== row)]);
    const { mine, right } = told(row);
    const before = x(N) > end - 40 || (x(N) <= edge && x(N) > edge - 40);
    const high = y(right / N) + (right / N > 0.9 ? 16 : -6);
    replace(shownLine, [
      drawn[row],
      dot("lmv-dot", N, recall[row][N - 1]),
      yours && [
        s.rule(`M${x(yours)} ${top}V${tall - bottom}`, "lmv-bet"),
        s.text(x(yours) + 5, y(0.5), "your bet", "start", named(true)),
      ],
      mine && [
        dot("lmv-own", N, right / N),
        s.text(x(N) + (before ? -9 : 9), high, "yours", before ? "end" : "start", named(true)),
      ],
    ]);
    s.sized(svg, width, tall);
  }

  /** Recall by place, a small drawing for each length that was measured so: the oldest left, the newest right. */
  function drawPlaces(row) {
    measured.textContent = `Right by place, oldest left, newest right, for ${sizes[row]} numbers; dots: 100 %`;
    replace(profile, [
      get("places").map(([N, shares]) =>
        h("div", {}, [
          s("svg", { viewBox: "0 0 80 44", preserveAspectRatio: "none", width: "100%", height: 44 }, [
            shares[row].map((share, i) =>
              s("rect", {
                class: "lmv-place",
                x: (80 * i) / N,
                y: 44 - 44 * share,
                width: 72 / N,
                height: 44 * share,
              }),
            ),
          ]),
          h("div", { class: "lm-small lm-muted" }, `N = ${N}`),
        ]),
      ),
    ]);
  }

  /** What was typed and is not read, and why. */
  function leftOut() {
    const { letters, skipped, over } = parsed();
    if (get("own") === failed) return "";
    const names = skipped.map((c) => (/\s/u.test(c) ? "spaces" : fmt.quote(c)));
    const named = [...new Set(names)].slice(0, 8);
    const what = fmt.list(names.length > 8 ? [...named, "others"] : named);
    if (!letters)
      return names.length && live.length
        ? ` The models know only the letters ${alphabet}, and there is none in what was typed; this is the ` +
            "recorded source."
        : "";
    return (
      "" +
      (names.length ? ` The models know only the letters ${alphabet}; left out: ${what}.` : "") +
      (over ? ` Only the first ${source.length} letters are read.` : "")
    );
  }

  function tell(N, row) {
    const m = sizes[row];
    const { mine, right } = told(row);
    const recall = fmt.percent(get("recall")[row][N - 1]);
    const whose = mine ? "your " : "";
    say(`${m} numbers, ${whose}${fmt.some(N, "symbol")}: ${right} of ${N} are right; on average ${recall} come back.`);
    const why =
      view.mine && !mine
        ? ` This is the recorded source: for ${m} numbers the page has no weights, only for ` +
          `${fmt.list(live.map((one) => String(one.m)))}.`
        : "";
    const past = N > get("trained") ? " No model was trained on sources as long as this." : "";
    note.textContent = (why + leftOut() + past).trim();
  }

  function draw() {
    const now = shown();
    const row = sizes.indexOf(get("size"));
    const unread = now.mine && !written.has(now.text.slice(0, now.N));
    if (unread) fetched(now.text.slice(0, now.N));
    aim = unread && !view?.mine ? recorded() : now; // until it is there, what was shown stays
    length.input.max = aim.text.length;
    length.set(aim.N);
    size.set(row);
    if (unread && aim.mine) return;
    view = aim;
    const { N, mine } = view;
    drawChart(N, row);
    drawPlaces(row);
    const { read, wrote, mine: ours, right } = told(row);
    replace(heading, [
      `${ours ? "Your" : "One recorded"} source, ${right} of ${N} right: read above, written below, wrong letters ` +
        `dashed. A guess is right once in ${get("symbols")}.`,
    ]);
    replace(example, [
      [...wrote].map((letter, i) =>
        h("span", { class: `lmv-cell${letter === read[i] ? "" : " lmv-lost"}` }, [
          h("span", {}, read[i]),
          h("span", {}, letter),
        ]),
      ),
    ]);
    const bitsRead = (i) => Math.max(0, get("bits")[i][N - 1]);
    numbers.draw(
      sizes.map((known, i) => [
        String(known),
        fmt.percent(get("recall")[i][N - 1]),
        fmt.num(bitsRead(i), 0),
        told(i).mine === mine ? `${told(i).right} of ${N}` : "not in the page",
      ]),
      [
        "numbers in the state",
        "recall",
        "bits that the decoder reads",
        `${mine ? "your source" : "example"}: right of N`,
      ],
    );
    tell(N, row);
  }

  /** A source that nothing has read yet: another length of the reader's, or one that the address or a kernel gives. */
  async function fetched(letters) {
    const text = get("own");
    if (live.every(({ name }) => models.has(name))) {
      await writeBack(letters);
      draw();
      return;
    }
    await own.put(text);
    if (own.node.dataset.state !== "failed" || text !== get("own")) return;
    failed = text; // the sentence beside the line says why; what is shown is the recorded source
    draw();
  }

  listen("own", () => {
    if (!own.node.contains(document.activeElement)) own.set(get("own"));
  });
  listen("length size own read", draw);
  const stop = onwidth(chart, (w) => {
    width = Math.round(w);
    drawChart(view.N, sizes.indexOf(get("size")));
  });
  draw();
  return () => {
    stop();
    own.stop();
    models.stop();
  };
}, about);
