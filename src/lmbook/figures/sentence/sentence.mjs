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
@container (min-width: 40rem) { .lm-figure .lm-words { max-height: 13.5rem; padding: 2px; overflow-y: auto; }
.lm-figure .lm-word-bar { height: 2.2rem; } }
.lm-figure .lm-swaps { --lm-side: 15rem; }
.lm-figure .lm-sums { --lm-side: 21rem; }
`;
const LIMIT = 60; // words that are shown
const TINY = Math.log10(2 ** -149); // the smallest float32 above 0
const TALL = 12; // nats at the top of a word's bar

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

function summary(rows) {
  const n = rows.length - 1;
  const parts = [
    `${n} token${n === 1 ? "" : "s"} and the end of the sentence: the product of ${n + 1} probabilities is ${fmt.exp(
      rows.at(-1).sum,
    )}, the sum of their logarithms is ${fmt.num(rows.at(-1).sum)}.`,
  ];
  const unknown = [...new Set(rows.filter((row) => !row.known).map((row) => fmt.quote(row.token)))];
  if (unknown.length) {
    parts.push(
      `The corpus does not have ${fmt.list(unknown)}, so the model reads ${unknown.length > 1 ? "them" : "it"} ` +
        "as <unk>.",
    );
  }
  if (gone(rows) >= 0)
    parts.push(`In float32 the product is 0 from token ${gone(rows) + 1} on; the sum of logarithms goes on.`);
  return parts.join(" ");
}

export default figure(({ el, get, put, listen, say }) => {
  let rows = [];
  let chosen = null; // the word clicked first
  const before = []; // sentences to go back to
  let news = ""; // what the last swap or example changed
  let width = 640;

  const setSentence = (sentence, what) => {
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
    onchoose: (i) => setSentence(get("examples")[i][1], "The new sentence"),
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
  const chart = h("div", { class: "lm-chart" });
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
    "Below each word: its probability, and the longest history after which the corpus has it. ",
    h("span", { class: "lm-hand" }, [
      "Click two words to swap them. Keys: arrows move, Enter picks, s swaps with the picked word or the next one.",
    ]),
  ]);
  el.append(
    h("div", { class: "lm-stack" }, input.node, examples.node),
    tiles,
    h("div", { class: "lm-split lm-swaps" }, h("div", { class: "lm-row" }, swapButton, undoButton), totals),
    h("div", { class: "lm-split lm-sums" }, h("div", { class: "lm-stack" }, say.node, keys), chart),
    numbers.node,
  );

  function swap(i, j) {
    const k = j ?? i + 1;
    if (i === k || i < 0 || k < 0 || Math.max(i, k) >= rows.length - 1) return;
    const tokens = rows.slice(0, -1).map((row) => row.token);
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
          h("span", { class: "lm-word-bar", "aria-hidden": "true" }, h("span", {})),
          h("span", { class: "lm-word-token" }),
          h("span", { class: "lm-word-p" }),
          h("span", { class: "lm-word-used" }),
        );
        if (tile) tile.replaceWith(fresh);
        else tiles.append(fresh);
        tile = fresh;
      }
      const [bar, token, p, used] = tile.children;
      const fill = /** @type {HTMLElement} */ (bar.firstChild);
      fill.style.setProperty("height", `${Math.min(1, -Math.log(row.p) / TALL) * 100}%`);
      tile.setAttribute("data-used", row.used ? String(row.used.length) : "none");
      token.textContent = row.token;
      p.textContent = fmt.prob(row.p, 2);
      used.textContent = row.known ? afterwards(row.used) : "read as <unk>";
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

  function drawChart() {
    const left = 46;
    const right = 12;
    const top = 14;
    const bottom = 34;
    const tall = 170;
    const log10 = [0, ...rows.map((row) => row.sum / Math.LN10)];
    const floor = Math.min(-10, 10 * Math.floor(Math.min(log10.at(-1), -1) / 10));
    const x = (i) => left + ((width - left - right) * i) / (log10.length - 1);
    const y = (v) => top + ((tall - top - bottom) * v) / floor;
    const step = [5, 10, 20, 50, 100].find((size) => -floor / size <= 5) ?? 200;
    const marks = Array.from({ length: Math.floor(-floor / step) + 1 }, (_, i) => -i * step);
    const every = Math.ceil(rows.length / Math.max(2, Math.floor(width / 60)));
    const line = (points) =>
      points.map(([i, v], n) => `${n ? "L" : "M"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("");
    const zero = gone(rows);
    const single = rows.slice(0, zero < 0 ? rows.length : zero).map((row, i) => [i + 1, Math.log10(row.single)]);
    const dead = zero < 0 ? null : [single.at(-1), [zero + 1, floor]];
    const words = `Running product on a scale of powers of ten: it falls to ${fmt.exp(rows.at(-1).sum)}${
      zero < 0 ? "; float32 follows it to the end." : `; float32 falls to 0 at token ${zero + 1}.`
    }`;
    replace(chart, [
      s("svg", { role: "img", "aria-label": words, viewBox: `0 0 ${width} ${tall}`, width, height: tall }, [
        floor < TINY
          ? [
              s("rect", {
                class: "lm-zone",
                x: left,
                y: y(TINY),
                width: width - left - right,
                height: y(floor) - y(TINY),
              }),
              s("text", { x: left + 6, y: y(TINY) + 15, class: "lm-tick" }, "below here float32 knows only 0"),
            ]
          : [],
        marks.map((v) => [
          s("line", { class: "lm-grid", x1: left, x2: width - right, y1: y(v), y2: y(v) }),
          s("text", { x: left - 7, y: y(v) + 4, "text-anchor": "end", class: "lm-tick" }, v ? fmt.power(v) : "1"),
        ]),
        rows.map((_, i) =>
          i % every ? null : s("text", { x: x(i + 1), y: tall - 18, "text-anchor": "middle", class: "lm-tick" }, i + 1),
        ),
        s("text", { x: left, y: tall - 3, class: "lm-tick" }, "token"),
        s("path", { class: "lm-line-a", d: line(log10.map((v, i) => [i, v])) }),
        single.map(([i, v]) => s("circle", { class: "lm-dot-b", cx: x(i), cy: y(v), r: 3.2 })),
        dead
          ? [
              s("path", { class: "lm-line-b", d: line(dead) }),
              s("circle", { class: "lm-dot-b", cx: x(zero + 1), cy: y(floor), r: 3.2 }),
            ]
          : [],
      ]),
      h("p", { class: "lm-key lm-small" }, [
        h("span", { class: "lm-key-a" }, "sum of logarithms, drawn as the product it stands for"),
        h("span", { class: "lm-key-b" }, "product in float32"),
      ]),
    ]);
  }

  function draw() {
    rows = analyse(get("sentence"), get("order"));
    if (document.activeElement !== input.input) input.set(get("sentence"));
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
    const sentences = [news, summary(rows)].filter(Boolean);
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
