// SentenceProbability: the chain rule on a sentence of the reader's own.
//
//   P(w_1 .. w_T) = prod_t P(w_t | w_<t)        ln P = sum_t ln P(w_t | w_<t)
//
// The model is interpolated Kneser-Ney over the harbour corpus, counted here in the page (ngram.mjs). A sentence starts
// after <eos>, the end of the one before, and its own <eos> is predicted too.
import { button, chips, disable, field, figure, fmt, h, onwidth, replace, roving, s, table } from "../kit/core.mjs";
import { Counts, KneserNey, Vocabulary, words } from "../engine/ngram.mjs";
import { text } from "./harbour.mjs";

const style = `
.lm-figure .lm-swaps { --lm-side: 15rem; }
.lm-strip rect[data-piece] { fill: var(--lm-1); stroke: var(--lm-paper); }
.lm-strip rect[data-piece="odd"] { fill: color-mix(in srgb, var(--lm-1) 84%, var(--lm-paper)); }
.lm-strip rect[data-piece="unknown"] { fill: var(--lm-2); }
.lm-strip .lm-chosen { stroke: var(--lm-text); stroke-width: 2; }
.lm-strip .lm-within { fill: #fff; pointer-events: none; }
.lm-strip .lm-dies { stroke: var(--lm-text); stroke-width: 1.5; fill: none; }
`;
const LIMIT = 60; // words that are shown
const LONG = 20; // letters of a tile
const PAIRED = 6; // examples that stand in pairs
const END = 149 * Math.LN2; // nats of the smallest float32 above 0
const WIDE = 150; // nats of the strip, or more where a sentence has more
const LETTER = 6.6; // px

let counted = null; // counted once a page, whatever the number of figures

function harbour(order) {
  if (counted?.order !== order) {
    const tokens = text.split("\n").flatMap((line) => [...line.split(" "), "<eos>"]);
    const vocabulary = Vocabulary.build(tokens);
    counted = {
      order,
      vocabulary,
      model: new KneserNey(new Counts(vocabulary.encode(tokens), order, vocabulary), order),
    };
  }
  return counted;
}

/** Every token of the sentence, <eos> last: its probability, the history used, the running product and sum. */
function analyse(sentence, order) {
  const { model, vocabulary } = harbour(order);
  const typed = words(sentence).slice(0, LIMIT);
  const tokens = [...typed, "<eos>"];
  const ids = vocabulary.encode(["<eos>", ...tokens]);
  let sum = 0;
  let single = 1;
  return tokens.map((token, i) => {
    const history = ids.slice(Math.max(0, i + 2 - order), i + 1);
    const p = model.prob(history, ids[i + 1]);
    const level = model.path(history).find(({ words: seen }) => seen.has(ids[i + 1]));
    sum += Math.log(p);
    single = Math.fround(single * Math.fround(p));
    return {
      token,
      p,
      sum,
      single,
      known: vocabulary.ids.has(token),
      asked: vocabulary.decode(history),
      used: level ? vocabulary.decode(level.history) : null,
    };
  });
}

const afterwards = (context) =>
  context === null ? "never seen" : context.length ? `after ${context.join(" ")}` : "after any word";
const times = (x) =>
  Math.abs(x) < 15 ? fmt.count(Number(Math.exp(Math.abs(x)).toPrecision(2))) : fmt.exp(Math.abs(x), 2);
const off = (d) => `${fmt.some(Math.abs(d), "word")} ${d < 0 ? "too early" : "too late"}`;
const gone = (rows) => rows.findIndex((row) => row.single === 0);

/** One sentence that says the change from one log probability to another. */
function change(what, before, after) {
  const d = after - before;
  if (Math.abs(d) < 0.005) return `${what} leaves the log probability as it was, ${fmt.num(after)}.`;
  return (
    `${what} ${d > 0 ? "raises" : "lowers"} the log probability by ${fmt.num(Math.abs(d))}, from ` +
    `${fmt.num(before)} to ${fmt.num(after)}: about ${times(d)} times ${d > 0 ? "more" : "less"} ` +
    "probable."
  );
}

function summary(rows, left) {
  const n = rows.length - 1;
  const parts = [
    `${fmt.some(n, "token")} and the end: the product of ${fmt.some(n + 1, "probability", "probabilities")} is ` +
      `${fmt.exp(rows.at(-1).sum)}, the sum of their logarithms is ${fmt.num(rows.at(-1).sum)}.`,
  ];
  const unknown = [...new Set(rows.filter((row) => !row.known).map((row) => fmt.quote(row.token)))];
  if (unknown.length) {
    parts.push(
      `The corpus does not have ${fmt.list(unknown)}, so the model reads ${unknown.length > 1 ? "them" : "it"} ` +
        "as <unk>.",
    );
  }
  if (left) parts.push(`Only the first ${LIMIT} tokens are read; ${fmt.some(left, "more is", "more are")} left out.`);
  if (gone(rows) >= 0)
    parts.push(`In float32 the product is 0 from token ${gone(rows) + 1} on; the sum of logarithms goes on.`);
  return parts.join(" ");
}

export default figure(({ el, get, put, listen, say, wager }) => {
  let rows = [];
  let chosen = null; // the word clicked first
  const before = []; // sentences to go back to
  let news = ""; // what the last swap or example changed
  let width = 640;

  const setSentence = (sentence, what = "") => {
    const old = rows.at(-1).sum;
    before.push(get("sentence"));
    chosen = null;
    if (what) news = change(what, old, analyse(sentence, get("order")).at(-1).sum);
    put({ sentence });
    if (news) draw(); // the same sentence again: no change event
  };
  const input = field({
    label: "Sentence",
    value: get("sentence"),
    maxlength: 600,
    oninput: (v) => {
      if (v !== get("sentence")) setSentence(v);
    },
  });
  const examples = chips({
    label: "Try",
    options: get("examples").map(([label], i) => [i, label]),
    onchoose: (i) => {
      const pair = get("examples")[i ^ 1]?.[1] === get("sentence") && i < PAIRED; // what belongs together is compared
      setSentence(get("examples")[i][1], pair ? `Against ${fmt.quote(get("examples")[i ^ 1][0])}, this` : "");
    },
  });

  const tiles = h("div", {
    class: "lm-words",
    role: "group",
    "aria-label": "The words, one tab stop: arrows move, Enter picks a word, s swaps",
  });
  const group = roving(tiles, "button");
  const swapButton = button("Swap with next (s)", () => {
    swap(Math.min(chosen ?? group.index, rows.length - 3), null);
  });
  const undoButton = button("Undo", () => {
    const old = rows.at(-1).sum;
    const sentence = before.pop();
    chosen = null;
    news = change("Going back", old, analyse(sentence, get("order")).at(-1).sum);
    put({ sentence });
  });
  const totals = h("div", { class: "lm-totals" });
  const scale = s("g", {});
  const end = s("g", {});
  const pieces = s("g", {});
  const drawing = s("svg", { role: "img", height: 104 }, end, pieces, scale);
  const chart = h("div", { class: "lm-chart lm-strip" }, [
    drawing,
    h(
      "p",
      { class: "lm-small lm-muted" },
      "Above: −ln P of the words, end to end. Below: their product. On each tile: P after the two words before.",
    ),
  ]);
  const numbers = table({
    caption: "Each token, its probability, and the running product and sum",
    head: [
      "Token",
      "P(token | history)",
      "ln P",
      "Longest history seen before it",
      "Product",
      "Product in float32",
      "Sum of ln P",
    ],
  });
  const keys = h("p", { class: "lm-muted lm-small" }, [
    h("span", { class: "lm-hand" }, [
      "Click two words to swap them. Keys: arrows move, Enter picks, s swaps with the picked word or the next one.",
    ]),
  ]);
  const first = analyse(get("sentence"), get("order"));
  const dead = gone(first);
  const question =
    dead < 0
      ? null
      : wager({
          name: "sentence-float",
          asks: `Multiplied in float32, the ${first.length} probabilities become 0 at one of the words. At which?`,
          pin: {
            label: "Word",
            min: 1,
            max: first.length,
            value: Math.round(first.length / 2),
            text: (v) => `${v}: ${first[v - 1].token}`,
          },
          hides: [end, totals, say.node, numbers.node],
          told: (bet) =>
            `It is word ${dead + 1}, ${fmt.quote(first[dead].token)}` +
            (bet === null ? "." : bet === dead + 1 ? ", as you said." : `; you said ${bet}, ${off(bet - dead - 1)}.`),
        });
  el.append(
    h("div", { class: "lm-stack" }, input.node, examples.node),
    ...(question ? [question.node] : []),
    chart,
    tiles,
    h("div", { class: "lm-split lm-swaps" }, h("div", { class: "lm-row" }, swapButton, undoButton), totals),
    say.node,
    keys,
    numbers.node,
  );

  function swap(i, j) {
    const k = j ?? i + 1;
    if (i === k || i < 0 || k < 0 || Math.max(i, k) >= rows.length - 1) return;
    const all = words(get("sentence"));
    const typed = get("sentence").trim().split(/\s+/);
    const tokens = typed.length === all.length ? typed : all; // as they were typed, where they stand apart
    [tokens[i], tokens[k]] = [tokens[k], tokens[i]];
    setSentence(tokens.join(" "), `Swapping ${fmt.quote(rows[i].token)} and ${fmt.quote(rows[k].token)}`);
  }

  function pick(i) {
    if (chosen === null || chosen >= rows.length - 1) chosen = i;
    else if (chosen === i) chosen = null;
    else return swap(chosen, i);
    draw();
    if (chosen !== null) say(`${fmt.quote(rows[i].token)} is picked: pick a second word to swap them.`);
  }

  tiles.addEventListener("keydown", (event) => {
    if (event.key !== "s" || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const other = chosen !== null && chosen !== group.index ? chosen : null;
    swap(group.index, other);
    if (other === null) group.focus(Math.min(group.index + 1, rows.length - 2)); // the word that moved keeps the focus
  });

  function drawTiles() {
    while (tiles.children.length > rows.length) tiles.lastChild.remove();
    rows.forEach((row, i) => {
      const last = i === rows.length - 1;
      let tile = tiles.children[i];
      if (!tile || (tile.localName === "button") === last) {
        const fresh = h(
          last ? "div" : "button",
          last ? { class: "lm-word" } : { class: "lm-word", type: "button", onclick: () => pick(i) },
        );
        fresh.append(
          h("span", { class: "lm-word-token" }),
          h("span", { class: "lm-word-p" }),
          h("span", { class: "lm-word-used" }),
        );
        if (tile) tile.replaceWith(fresh);
        else tiles.append(fresh);
        tile = fresh;
      }
      const [token, p, used] = tile.children;
      /** @type {HTMLElement} */ (tile).title = row.known ? afterwards(row.used) : "";
      tile.classList.toggle("lm-dead", i === gone(rows));
      token.textContent = row.token.length > LONG ? `${row.token.slice(0, LONG - 1)}…` : row.token;
      p.textContent = fmt.prob(row.p, 2);
      used.textContent = row.known ? "" : "read as <unk>";
      if (last) return;
      tile.setAttribute("aria-pressed", String(i === chosen));
    });
    group.refresh();
  }

  function drawTotals() {
    const { sum, single } = rows.at(-1);
    const item = (name, value, warn) =>
      h("div", {}, [
        h("span", { class: "lm-muted lm-small" }, name),
        h("span", { class: warn ? "lm-total lm-warn" : "lm-total" }, value),
      ]);
    replace(totals, [
      item("Product", fmt.exp(sum)),
      item("Product in float32", single === 0 ? "0 (underflow)" : fmt.prob(single), single === 0),
      item("Sum of logarithms", fmt.num(sum)),
    ]);
  }

  /** −ln P of all words end to end; the same place on the lower scale is their product. */
  function drawChart() {
    const most = Math.max(WIDE, -rows.at(-1).sum);
    const x = (/** @type {number} */ nats) => ((width - 2) * nats) / most + 1;
    const top = 22;
    const tall = 34;
    const start = (/** @type {number} */ i) => (i ? -rows[i - 1].sum : 0);
    const tick = (at, height, words) =>
      s("text", { class: "lm-tick", x: at, y: height, "text-anchor": at < 20 ? "start" : "middle" }, words);
    const every = width > 560 ? 20 : 50;
    const marks = (size, scale) => Array.from({ length: Math.floor(most / (size * scale)) + 1 }, (_, i) => i * size);
    const aside = width - x(END) < 160;
    replace(pieces, [
      rows.map((row, i) => {
        const long = x(-row.sum) - x(start(i));
        const kind = row.known ? (i % 2 ? "odd" : "even") : "unknown";
        return [
          s(
            "rect",
            {
              "data-piece": kind,
              class: i === chosen ? "lm-chosen" : "",
              x: x(start(i)),
              y: top,
              width: long,
              height: tall,
            },
            s("title", {}, `${row.token}: −ln P = ${fmt.num(-Math.log(row.p))}`),
          ),
          long > LETTER * row.token.length + 6
            ? s(
                "text",
                { class: "lm-within", x: x(start(i)) + long / 2, y: top + 22, "text-anchor": "middle" },
                row.token,
              )
            : null,
        ];
      }),
    ]);
    replace(scale, [
      marks(every, 1).map((v) => tick(x(v), top - 8, String(v))),
      marks(every > 20 ? 20 : 10, Math.LN10).map((v) =>
        tick(x(v * Math.LN10), top + tall + 16, v ? fmt.power(-v) : "1"),
      ),
    ]);
    replace(end, [
      s("rect", { class: "lm-zone", x: x(END), y: top, width: Math.max(0, width - x(END)), height: tall + 24 }),
      s("path", { class: "lm-dies", d: `M${x(END)} ${top - 4}v${tall + 46}` }),
      s(
        "text",
        { x: x(END) + (aside ? -6 : 6), y: top + tall + 40, "text-anchor": aside ? "end" : "start", class: "lm-tick" },
        "float32 ends: from here 0",
      ),
    ]);
    for (const [name, value] of Object.entries({
      viewBox: `0 0 ${width} 104`,
      width,
      height: 104,
      "aria-label": "The words end to end, each as long as its −ln P, and where float32 ends",
    }))
      drawing.setAttribute(name, String(value));
  }

  function draw() {
    rows = analyse(get("sentence"), get("order"));
    if (document.activeElement !== input.input) input.set(get("sentence"));
    examples.set(get("examples").findIndex(([, sentence]) => sentence === get("sentence")));
    drawTiles();
    drawTotals();
    drawChart();
    disable(swapButton, rows.length < 3);
    disable(undoButton, before.length === 0);
    numbers.draw(
      rows.map((row) => [
        row.known ? row.token : `${row.token} (<unk>)`,
        fmt.prob(row.p),
        fmt.num(Math.log(row.p), 4),
        row.used === null ? "none, never seen" : row.used.join(" ") || "empty",
        fmt.exp(row.sum),
        fmt.prob(row.single),
        fmt.num(row.sum, 4),
      ]),
    );
    const sentences = [news, summary(rows, words(get("sentence")).length - rows.length + 1)].filter(Boolean);
    news = "";
    say(sentences.join(" "));
  }

  listen("sentence order", draw);
  draw();
  return onwidth(chart, (w) => {
    if (Math.abs(w - width) > 1) {
      width = w;
      drawChart();
    }
  });
}, style);
