// TokenizerComparison: one text cut by characters, by words and by byte pairs; ids, and the rows of D that they pick.
//
//   text -> tokens -> ids w_t -> rows X_t = D_{w_t}
//
// The tokenizers are those of bytepairs.mjs, which equal lmbook.text. Each has a table D of its own, trained as
// skip-gram on the harbour stories; a type that they do not hold has a row of zeros.
import { BytePairs, Characters, Words } from "../engine/bytepairs.mjs";
import { answered, button, chips, field, figure, fmt, h, replace, roving, table } from "../kit/core.mjs";
import { text as harbour } from "./harbour.mjs";
import { Vocabulary } from "../engine/ngram.mjs";
import { strip, style as rowStyle, tableOf } from "./rows.mjs";

const MOST = 120; // characters that are cut
const TILES = 50; // of a lane; where one has more tokens, the tiles of all are small, without ids
const NAMES = ["Characters", "Words", "Byte pairs"];
const LANES = ["characters", "words", "byte pairs"];
const style = `
.lm-figure .lm-body:has(> .lmt-lane) { gap: 0.5rem; }
.lm-figure .lmt-lane { display: flex; flex-direction: column; gap: 0.25rem; }
.lm-figure .lmt-lane > p { display: grid; grid-template-columns: 13.5rem minmax(0, 1fr); gap: 0 0.6rem;
  align-items: center; font-size: 0.875rem; }
@container (max-width: 30rem) { .lm-figure .lmt-lane > p { grid-template-columns: minmax(0, 1fr); } }
.lm-figure .lmt-length { position: relative; display: flex; height: 1.1rem; align-items: center; }
.lm-figure .lmt-length > i { flex: none; height: 0.7rem; background: var(--lm-1); }
.lm-figure .lmt-length > .lmt-lost { border: 1px dashed var(--lm-2); background: none; }
.lm-figure .lmt-length > .lmt-bet { position: absolute; width: 3px; height: 1.1rem; background: var(--lm-2); }
@media print { .lm-figure .lmt-length > :is(.lmt-bet, small) { display: none; } }
.lm-figure .lmt-length > small { position: absolute; padding: 0 0.4rem; white-space: nowrap; }
.lm-figure .lmt-tokens { display: flex; flex-wrap: wrap; gap: 0.25rem 0.15rem; min-height: 2.6rem; }
.lm-figure .lmt-token { display: flex; flex-direction: column; align-items: center; min-width: 1.55rem; max-width: 100%;
  margin: 0; padding: 0.1rem 0.2rem; border: 1px solid transparent; border-radius: 5px; background: var(--lm-soft);
  color: inherit; font: inherit; line-height: 1.2; cursor: pointer; }
.lm-figure .lmt-many .lmt-token { min-width: 1.5rem; min-height: 1.5rem; }
.lm-figure .lmt-many .lmt-token > span:not(.lm-hidden) { display: none; }
.lm-figure .lmt-token:hover { border-color: var(--lm-edge); }
.lm-figure .lmt-token b { font-weight: 600; overflow-wrap: anywhere; white-space: pre-wrap; }
.lm-figure .lmt-token span { color: var(--lm-muted); font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.lm-figure .lmt-token.lmt-unknown { border: 1px dashed var(--lm-2); }
.lm-figure .lmt-token:is(.lmt-same, [aria-pressed="true"]) { border: 1px solid var(--lm-1); }
.lm-figure .lmt-token[aria-pressed="true"] { box-shadow: inset 0 0 0 1px var(--lm-1); }
`;

// Blanks, line ends and tabs in visible form, and the character itself where it has one.
const visible = (token) => token.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥") || "∅";

export default figure(({ el, knob, its, put, follow, say, wager }) => {
  const vocabulary = Vocabulary.build(harbour.split("\n").flatMap((line) => [...line.split(" "), "<eos>"]));
  const learned = Array.from({ length: its.learned.length / 2 }, (_, i) => its.learned.slice(2 * i, 2 * i + 2));
  const tables = its.rows.map(tableOf);
  const fixed = [new Characters([...its.characters]), new Words(vocabulary.tokens.slice(5))];
  const pairs = (merges) => new BytePairs(learned.slice(0, merges));
  let tokenizers = [];
  let cut = []; // for each tokenizer its tokens: { token, id }
  let chosen = { lane: 0, at: 5 }; // a vowel of the first text

  const input = field({ label: "Text", value: its.text, oninput: (text) => put({ text }), maxlength: MOST });
  const examples = chips({
    label: "Try",
    options: its.examples.map((text) => [text, text.trim().split(/\s+/).slice(0, 2).join(" ")]),
    onchoose: (text) => put({ text }),
  });
  const merges = knob("merges", "Merges used", [0, learned.length], (v) => `${v} of ${learned.length}`);

  const lanes = NAMES.map((name, lane) => {
    const head = h("p", {});
    const tokens = h.group("lmt-tokens", `${name}: one tab stop, arrows move, Enter shows the row`);
    const group = roving(tokens, "button", { onmove: (at) => choose(lane, at) });
    return { head, tokens, group, node: h("div", { class: "lmt-lane" }, head, tokens) };
  });
  const joined = h.small();
  const title = h("p", { class: "lm-small" });
  const rows = h.group("lmt-rows", "The chosen row of the table D, and the rows most like it");
  rows.role = "list";
  const numbers = table({
    summary: "Tokens, ids and rows as a table",
    caption: "Each token, its id, and its row of D",
    head: ["Tokenizer", "Token", "Id", "Row of D"],
  });
  numbers.node.addEventListener("toggle", list);
  const first = { text: its.text, merges: its.merges };
  let yours = 30; // the tokens that are bet, while the text is the one asked for
  const pinned = (/** @type {number | null} */ bet) => {
    yours = bet;
    draw();
  };
  const asked = wager({
    name: "tokenizers-pairs",
    of: "text merges",
    asks: "How many tokens will the byte pairs make of this text?",
    pin: { label: "Tokens", min: 1, max: 60, value: yours, oninput: pinned },
    hides: [lanes[2].tokens, say.node],
    told: (bet) => {
      const { length } = pairs(first.merges).encode(first.text);
      const off = `; you said ${bet}, ${Math.abs(bet - length)} too ${bet < length ? "few" : "many"}.`;
      return `The byte pairs make ${fmt.some(length, "token")} of this text${answered(bet, length, off)}`;
    },
    settled: pinned,
  });
  if (!asked.open) yours = asked.answer;
  el.append(
    ...[input, examples, asked].map(({ node }) => h.onstage("Text", node)),
    ...lanes.map(({ node }) => node),
    h.onstage("Text", h.row(merges.node, joined)),
    h.onstage(
      "Rows",
      h("div", { class: "lm-split lm-split-right", style: "--lm-side: 19rem" }, [h.stack(say.node, title), rows]),
    ),
    numbers.node,
  );

  function choose(lane, at) {
    chosen = { lane, at };
    mark();
    sayRow();
  }

  const clamp = () => {
    const some = cut.findIndex((tokens) => tokens.length);
    if (!cut[chosen.lane].length) chosen.lane = Math.max(0, some);
    chosen.at = Math.max(0, Math.min(cut[chosen.lane].length, TILES, chosen.at + 1) - 1);
  };

  function drawLane(lane) {
    const { head, tokens } = lanes[lane];
    const many = cut[lane].length;
    const unknown = cut[lane].filter(({ id }) => id === 1).length;
    const most = Math.max(...cut.map((tokens) => tokens.length), 1);
    const share = (/** @type {number} */ n) => `${(100 * Math.min(most, n)) / most}%`;
    const long = (/** @type {number} */ n) => ({ style: { width: share(n) } });
    const bet = lane === 2 && its.text === first.text ? yours : null;
    const beside = Math.max(bet ?? 0, many); // right of the bar and of the bet
    const aside = beside < 0.8 * most ? { left: share(beside) } : { right: share(most - bet) };
    const covered = lane === 2 && asked.open ? "lm-covered" : null;
    const count = `${fmt.some(many, "token")}${unknown ? `, ${fmt.count(unknown)} unknown` : ""}`;
    replace(head, [
      h("span", {}, h("b", {}, NAMES[lane]), " ", h("span", { class: covered }, count)),
      h("span", { class: "lmt-length" }, [
        h("i", { class: covered, ...long(many - unknown) }),
        unknown > 0 && h("i", { class: "lmt-lost", ...long(unknown) }),
        bet && [h("i", { class: "lmt-bet", style: { left: share(bet) } }), h("small", { style: aside }, "your bet")],
      ]),
    ]);
    tokens.classList.toggle("lmt-many", most > TILES);
    const now = JSON.stringify(cut[lane]);
    if (tokens.dataset.shown === now) return;
    tokens.dataset.shown = now;
    const tile = ({ token, id }, at) => {
      const parts = [
        h("b", { "aria-hidden": String(token === " ") }, visible(token)),
        h("span", { class: "lm-hidden" }, `${token === " " ? "space" : ""}, id `),
        h("span", {}, id),
        h("span", { class: "lm-hidden" }, id === 1 ? ", unknown" : ""),
      ];
      const kind = `lmt-token${id === 1 ? " lmt-unknown" : ""}`;
      return button(parts, () => choose(lane, at), { class: kind, "data-id": id });
    };
    const more = many - TILES;
    replace(tokens, [
      cut[lane].slice(0, TILES).map(tile),
      more > 0 && h("small", {}, `… ${fmt.some(more, "more token")}`),
    ]);
  }

  function mark() {
    clamp();
    const now = cut[chosen.lane][chosen.at];
    lanes.forEach(({ tokens }, lane) => {
      [...tokens.querySelectorAll("button")].forEach((tile, at) => {
        tile.ariaPressed = String(lane === chosen.lane && at === chosen.at);
        tile.classList.toggle("lmt-same", lane === chosen.lane && cut[lane][at].id === now?.id);
      });
    });
    replace(title, "No token: the text is empty.");
    replace(rows);
    if (!now) return;
    const { table, tokenizer, near, kind } = picked(now);
    replace(title, [
      h("b", {}, visible(now.token)),
      ` picks row ${now.id} of the ${fmt.count(tokenizer.size)} rows of D (${kind}). `,
      "Below that row are those most like it, with their cosines.",
    ]);
    const row = (id, said, mark = "") =>
      h("div", { class: `lmt-row${mark}`, role: "listitem" }, [
        h("span", {}, `row ${id}`),
        h("span", {}, visible(tokenizer.name(id))),
        h("span", {}, said),
        strip(table.row(id), 72, 22),
      ]);
    replace(rows, [
      row(now.id, table.trained(now.id) ? "" : "never trained", " lmt-chosen"),
      near.map(({ id, like }) => row(id, fmt.num(like))),
    ]);
  }

  /** Of the chosen token: its tokenizer, and the rows of its table that are most like its own. */
  function picked({ id }) {
    const { lane } = chosen;
    const tokenizer = tokenizers[lane];
    return { tokenizer, table: tables[lane], near: tables[lane].nearest(id, tokenizer.size), kind: LANES[lane] };
  }

  function sayRow() {
    const now = cut[chosen.lane][chosen.at];
    if (!now) return;
    const { tokenizer, near, kind } = picked(now);
    const places = cut[chosen.lane].filter(({ id }) => id === now.id).length;
    const what = now.id === 1 ? "is no known word: <unk>, id 1" : `has id ${now.id} among ${kind}`;
    const [like] = near.map(({ id, like }) => `that of ${fmt.quote(visible(tokenizer.name(id)))} (${fmt.num(like)})`);
    const nearest = like ? `Nearest row: ${like}.` : `No training moved row ${now.id} of D: it is 0.`;
    say(`${fmt.quote(visible(now.token))} ${what}${places > 1 ? `, ${places} times here` : ""}. ${nearest}`);
  }

  function sayText() {
    const counts = ["character", "word token", "byte-pair token"].map((one, lane) => fmt.some(cut[lane].length, one));
    const unknown = cut[1].filter(({ id }) => id === 1).map(({ token }) => fmt.quote(token));
    const lost = cut[0].filter(({ id }) => id === 1).length;
    if (!cut[0].length) return say("The text is empty.");
    const words = unknown.length ? `Unknown words: ${fmt.list([...new Set(unknown)])}.` : "Every word is known.";
    say(`${counts.join(", ")}. ${words}${lost ? ` ${fmt.some(lost, "character")} unknown, too.` : ""}`);
  }

  function list() {
    if (!numbers.node.open) return;
    const spelled = (lane, id) => tables[lane].row(id).map((x) => fmt.num(x));
    numbers.draw(
      cut.flatMap((tokens, lane) =>
        tokens.map(({ token, id }) => [NAMES[lane], visible(token), String(id), spelled(lane, id).join("  ")]),
      ),
    );
  }

  function draw() {
    const all = [...its.text];
    const most = all.length < MOST ? MOST : all.lastIndexOf(" ", MOST - 1) + 1 || MOST; // no word is cut in two
    const text = all.slice(0, most).join("");
    tokenizers = [...fixed, pairs(its.merges)];
    cut = tokenizers.map((tokenizer) => {
      const ids = tokenizer.encode(text);
      return tokenizer.split(text).map((token, i) => ({ token, id: ids[i] }));
    });
    if (document.activeElement !== input.input) input.set(its.text);
    examples.set(its.text);
    lanes.forEach((_, lane) => drawLane(lane));
    mark();
    lanes.forEach(({ group }) => group.refresh());
    const m = its.merges;
    const pair = m ? learned[m - 1].map((id) => fmt.quote(visible(tokenizers[2].name(id)))) : [];
    joined.textContent = m ? `Merge ${m} joined ${fmt.list(pair)}.` : "Without merges each byte is a token.";
    list();
    sayText();
  }

  follow("text merges", draw);
}, style + rowStyle);
