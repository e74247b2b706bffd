// SentenceProbability: the chain rule on a sentence of the reader's own (chain.mjs has its numbers).
import { answered, button, chips, disable, field, figure, fmt, h, replace, roving, table } from "../kit/core.mjs";
import { afterwards, analyse, change, cut, gone, off, summary } from "./chain.mjs";
import { strip, style } from "./strip.mjs";
import { words } from "../engine/ngram.mjs";

const LONG = 20; // letters of a tile
const PAIRED = 6; // examples that stand in pairs

export default figure(({ el, its, put, follow, say, wager }) => {
  let rows = [];
  let chosen = null; // the word clicked first
  const before = []; // sentences to go back to
  let earlier = []; // the words of the sentence before, where the two are compared
  let news = ""; // what the last swap or example changed

  const setSentence = (sentence, what = "", undone = false) => {
    const old = rows.at(-1).sum;
    if (!undone) before.push(its.sentence);
    chosen = null;
    earlier = what ? rows : [];
    if (what) news = change(what, old, analyse(sentence, its.order).at(-1).sum);
    put({ sentence });
    if (news) draw(); // the same sentence again: no change event
  };
  const input = field({
    label: "Sentence",
    value: its.sentence,
    maxlength: 600,
    oninput: (v) => {
      if (v !== its.sentence) setSentence(v);
    },
  });
  const examples = chips({
    label: "Try",
    options: its.examples.map(([label], i) => [i, label]),
    onchoose: (i) => {
      const pair = its.examples[i ^ 1]?.[1] === its.sentence && i < PAIRED; // what belongs together is compared
      setSentence(its.examples[i][1], pair ? `After ${fmt.quote(its.examples[i ^ 1][0])}` : "");
    },
  });

  const tiles = h.group("lm-words", "The words, one tab stop: arrows move, Enter picks a word, s swaps");
  const group = roving(tiles, "button");
  const swapButton = button("Swap with next (s)", () => swap(Math.min(chosen ?? group.index, rows.length - 3)));
  const undoButton = button("Undo", () => setSentence(before.pop(), "Undone", true));
  const totals = h("div", { class: "lm-totals" });
  const chart = strip();
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
    "On a tile: P after the two words before. ",
    h("span", { class: "lm-hand" }, "Click two to swap them (keys: arrows, Enter, s)."),
  ]);
  const first = analyse(its.sentence, its.order);
  const dead = gone(first);
  let pin = Math.round(first.length / 2); // where the bet's slider stands
  const question = wager(
    dead >= 0 && {
      name: "sentence-float",
      of: "sentence order",
      asks: `In float32, the product of ${first.length - 1} tokens and <eos> becomes 0. At which word?`,
      pin: {
        label: "Word",
        min: 1,
        max: first.length,
        value: pin,
        text: (v) => `${v}: ${first[v - 1].token}`,
        oninput: (v) => {
          pin = v;
          draw();
        },
      },
      hides: [chart.end, totals, say.node, numbers.node],
      settled: draw,
      told: (bet) =>
        `The product becomes 0 at word ${dead + 1}, ${fmt.quote(first[dead].token)}` +
        answered(bet, dead + 1, `; you said ${bet}, ${off(bet - dead - 1)}.`),
    },
  );
  el.append(
    h.stack(input.node, h.onstage("Words", examples.node)),
    h.onstage("Product", question.node),
    h.onstage("Product", chart.node),
    totals,
    h.onstage("Words", tiles),
    h.onstage("Words", h.row(swapButton, undoButton, keys)),
    say.node,
    numbers.node,
  );

  function swap(i, k = i + 1) {
    if (i === k || i < 0 || k < 0 || Math.max(i, k) >= rows.length - 1) return;
    const all = words(its.sentence);
    const typed = its.sentence.trim().split(/\s+/);
    const tokens = typed.length === all.length ? typed : all; // as they were typed, where they stand apart
    [tokens[i], tokens[k]] = [tokens[k], tokens[i]];
    setSentence(tokens.join(" "), `Swapped ${fmt.quote(rows[i].token)} and ${fmt.quote(rows[k].token)}`);
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
    const other = chosen !== null && chosen !== group.index ? chosen : undefined;
    swap(group.index, other);
    // the word that moved keeps the focus
    if (other === undefined) group.focus(Math.min(group.index + 1, rows.length - 2));
  });

  function drawTiles() {
    const dead = question.open ? -1 : gone(rows);
    const tile = (row, i) => {
      const about = {
        class: `lm-word${i === dead ? " lm-dead" : ""}`,
        title: row.known ? afterwards(row.used) : "",
      };
      const parts = [
        h("span", { class: "lm-word-token" }, row.token.length > LONG ? `${row.token.slice(0, LONG - 1)}…` : row.token),
        h("span", { class: "lm-word-p" }, row.p < 0.001 ? fmt.prob(row.p, 2) : row.p.toPrecision(2)),
        h("span", { class: "lm-word-used" }, row.known ? "" : "read as <unk>"),
      ];
      if (i === rows.length - 1) return h("div", about, parts);
      return button(parts, () => pick(i), { ...about, pressed: i === chosen });
    };
    group.refill(rows.map(tile), group.index);
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

  function draw() {
    rows = analyse(its.sentence, its.order);
    if (document.activeElement !== input.input) input.set(its.sentence);
    examples.set(its.examples.findIndex(([, sentence]) => sentence === its.sentence));
    drawTiles();
    drawTotals();
    const theirs = rows.map(({ token }) => token).join() === first.map(({ token }) => token).join();
    const { open } = question;
    const bet = open ? pin : question.answer;
    chart.draw({ rows, chosen, open, yours: theirs && bet ? bet - 1 : null, earlier });
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
    // the change, where there was one
    say(`${news || summary(rows)} ${cut(words(its.sentence).length - rows.length + 1)}`.trim());
    news = "";
  }

  follow("sentence order", draw);
}, style);
