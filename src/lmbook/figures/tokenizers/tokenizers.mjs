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
.lm-figure .lmt-both { --lm-side: 19rem; }
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
  margin: 0; padding: 0.1rem 0.2rem;
  border: 1px solid transparent; border-radius: 5px; background: var(--lm-soft); color: inherit; font: inherit;
    line-height: 1.2; cursor: pointer; }
.lm-figure .lmt-many .lmt-token { min-width: 1.5rem; min-height: 1.5rem; }
.lm-figure .lmt-many .lmt-token > span:not(.lm-hidden) { display: none; }
.lm-figure .lmt-token:hover { border-color: var(--lm-edge); }
.lm-figure .lmt-token b { font-weight: 600; overflow-wrap: anywhere; white-space: pre-wrap; }
.lm-figure .lmt-token span { color: var(--lm-muted); font-size: 0.75rem; font-variant-numeric: tabular-nums; }
.lm-figure .lmt-token.lmt-unknown { border: 1px dashed var(--lm-2); }
.lm-figure .lmt-token.lmt-same { border: 1px solid var(--lm-1); }
.lm-figure .lmt-token[aria-pressed="true"] { border: 1px solid var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1); }
`;

// Blanks, line ends and tabs in visible form, and the character itself where it has one.
const visible = (token) => token.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥") || "∅";

export default figure(({ el, knob, its, put, follow, say, wager }) => {
  const vocabulary = Vocabulary.build(harbour.split("\n").flatMap((line) => [...line.split(" "), "<eos>"]));
  const flat = its.learned;
  const learned = Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);
  const tables = its.rows.map(tableOf);
  const fixed = [new Characters([...its.characters]), new Words(vocabulary.tokens.slice(5))];
  const pairs = () => new BytePairs(learned.slice(0, its.merges));
  let tokenizers = [];
  let cut = []; // for each tokenizer its tokens: { token, id }
  let chosen = { lane: 0, at: 5 }; // a vowel of the first text

  const input = field({ label: "Text", value: its.text, oninput: (text) => put({ text }), maxlength: MOST });
  const examples = chips({
    label: "Try",
    options: its.examples.map((text) => [text, text.trim().split(/\s+/).slice(0, 2).join(" ")]),
    onchoose: (text) => put({ text: text }),
  });
  const merges = knob("merges", "Merges used", [0, learned.length], (v) => `${v} of ${learned.length}`);

  const lanes = NAMES.map((name, lane) => {
    const head = h("p", {});
    const tokens = h.group("lmt-tokens", `${name}: one tab stop, arrows move, Enter shows the row`);
    return {
      head,
      tokens,
      group: roving(tokens, "button", { onmove: (at) => choose(lane, at) }),
      node: h("div", { class: "lmt-lane" }, head, tokens),
    };
  });
  const joined = h.small();
  const title = h("p", { class: "lm-small" });
  const rows = h("div", {
    class: "lmt-rows",
    role: "list",
    "aria-label": "The chosen row of the table D, and the rows most like it",
  });
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
      const { length } = new BytePairs(learned.slice(0, first.merges)).encode(first.text);
      const off = `; you said ${bet}, ${Math.abs(bet - length)} too ${bet < length ? "few" : "many"}.`;
      return `The byte pairs make ${fmt.some(length, "token")} of this text${answered(bet, length, off)}`;
    },
    settled: pinned,
  });
  if (!asked.open) yours = asked.answer;
  el.append(
    h.onstage("Text", input.node),
    h.onstage("Text", examples.node),
    h.onstage("Text", asked.node),
    lanes[0].node,
    lanes[1].node,
    lanes[2].node,
    h.onstage("Text", h.row(merges.node, joined)),
    h.onstage("Rows", h("div", { class: "lm-split lm-split-right lmt-both" }, [h.stack(say.node, title), rows])),
    numbers.node,
  );

  function choose(lane, at) {
    chosen = { lane, at };
    mark();
    sayRow();
  }

  const clamp = () => {
    if (!cut[chosen.lane].length)
      chosen.lane = Math.max(
        0,
        cut.findIndex((tokens) => tokens.length),
      );
    chosen.at = Math.max(0, Math.min(cut[chosen.lane].length, TILES, chosen.at + 1) - 1);
  };

  function drawLane(lane) {
    const { head, tokens } = lanes[lane];
    const unknown = cut[lane].filter(({ id }) => id === 1).length;
    const most = Math.max(...cut.map((tokens) => tokens.length), 1);
    const share = (/** @type {number} */ n) => `${(100 * Math.min(most, n)) / most}%`;
    const long = (/** @type {number} */ n) => ({ style: { width: share(n) } });
    const bet = lane === 2 && its.text === first.text ? yours : null;
    const beside = Math.max(bet ?? 0, cut[lane].length); // right of the bar and of the bet
    const covered = lane === 2 && asked.open ? "lm-covered" : null;
    const count = `${fmt.some(cut[lane].length, "token")}${unknown ? `, ${fmt.count(unknown)} unknown` : ""}`;
    replace(head, [
      h("span", {}, h("b", {}, NAMES[lane]), " ", h("span", { class: covered }, count)),
      h("span", { class: "lmt-length" }, [
        h("i", { class: covered, ...long(cut[lane].length - unknown) }),
        unknown ? h("i", { class: "lmt-lost", ...long(unknown) }) : null,
        bet ? h("i", { class: "lmt-bet", style: { left: share(bet) } }) : null,
        bet
          ? h(
              "small",
              { style: beside < 0.8 * most ? { left: share(beside) } : { right: share(most - bet) } },
              "your bet",
            )
          : null,
      ]),
    ]);
    tokens.classList.toggle("lmt-many", most > TILES);
    const now = JSON.stringify(cut[lane]);
    if (tokens.dataset.shown === now) return;
    tokens.dataset.shown = now;
    const more = cut[lane].length - TILES;
    replace(tokens, [
      cut[lane]
        .slice(0, TILES)
        .map(({ token, id }, at) =>
          button(
            [
              h("b", { "aria-hidden": String(token === " ") }, visible(token)),
              h("span", { class: "lm-hidden" }, `${token === " " ? "space" : ""}, id `),
              h("span", {}, id),
              h("span", { class: "lm-hidden" }, id === 1 ? ", unknown" : ""),
            ],
            () => choose(lane, at),
            { class: `lmt-token${id === 1 ? " lmt-unknown" : ""}`, "data-id": id },
          ),
        ),
      more > 0 && h("small", {}, `… ${fmt.some(more, "more token")}`),
    ]);
  }

  function mark() {
    clamp();
    lanes.forEach(({ tokens }, lane) => {
      const same = lane === chosen.lane ? cut[lane][chosen.at]?.id : null;
      [...tokens.querySelectorAll("button")].forEach((tile, at) => {
        tile.setAttribute("aria-pressed", String(lane === chosen.lane && at === chosen.at));
        tile.classList.toggle("lmt-same", cut[lane][at].id === same);
      });
    });
    const now = cut[chosen.lane][chosen.at];
    if (!now) {
      replace(title, "No token: the text is empty.");
      replace(rows);
      return;
    }
    const { size } = tokenizers[chosen.lane];
    replace(title, [
      h("b", {}, visible(now.token)),
      ` picks row ${now.id} of the ${fmt.count(size)} rows of D (${LANES[chosen.lane]}). ` +
        "Below that row are those most like it, with their cosines.",
    ]);
    const shown = [{ id: now.id, like: null }, ...tables[chosen.lane].nearest(now.id, tokenizers[chosen.lane].size)];
    replace(rows, [
      shown.map(({ id, like }) =>
        h("div", { class: `lmt-row${like === null ? " lmt-chosen" : ""}`, role: "listitem" }, [
          h("span", {}, `row ${id}`),
          h("span", {}, visible(tokenizers[chosen.lane].name(id))),
          h("span", {}, like === null ? (tables[chosen.lane].trained(id) ? "" : "never trained") : fmt.num(like)),
          strip(tables[chosen.lane].row(id), 72, 22),
        ]),
      ),
    ]);
  }

  function sayRow() {
    const now = cut[chosen.lane][chosen.at];
    if (!now) return;
    const places = cut[chosen.lane].filter(({ id }) => id === now.id).length;
    const what =
      now.id === 1
        ? `${fmt.quote(visible(now.token))} is no known word: <unk>, id 1`
        : `${fmt.quote(visible(now.token))} has id ${now.id} among ${LANES[chosen.lane]}`;
    const [first] = tables[chosen.lane].nearest(now.id, tokenizers[chosen.lane].size);
    const like = first && fmt.quote(visible(tokenizers[chosen.lane].name(first.id)));
    say(
      `${what}${places > 1 ? `, ${places} times here` : ""}. ` +
        (first
          ? `Nearest row: that of ${like} (${fmt.num(first.like)}).`
          : `No training moved row ${now.id} of D: it is 0.`),
    );
  }

  function sayText() {
    const [characters, cutWords, byteTokens] = cut.map((tokens) => tokens.length);
    const unknown = cut[1].filter(({ id }) => id === 1).map(({ token }) => fmt.quote(token));
    const lost = cut[0].filter(({ id }) => id === 1).length;
    if (!characters) return say("The text is empty.");
    say(
      `${fmt.some(characters, "character")}, ${fmt.some(cutWords, "word token")}, ` +
        `${fmt.some(byteTokens, "byte-pair token")}. ` +
        `${unknown.length ? `Unknown words: ${fmt.list([...new Set(unknown)])}.` : "Every word is known."}` +
        `${lost ? ` ${fmt.some(lost, "character")} unknown, too.` : ""}`,
    );
  }

  function list() {
    if (!numbers.node.open) return;
    numbers.draw(
      cut.flatMap((tokens, lane) =>
        tokens.map(({ token, id }) => [
          NAMES[lane],
          visible(token),
          String(id),
          tables[lane]
            .row(id)
            .map((x) => fmt.num(x))
            .join("  "),
        ]),
      ),
    );
  }

  function draw() {
    const all = [...its.text];
    const most = all.length < MOST ? MOST : all.lastIndexOf(" ", MOST - 1) + 1 || MOST; // no word is cut in two
    const text = all.slice(0, most).join("");
    tokenizers = [...fixed, pairs()];
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
    joined.textContent = m
      ? `Merge ${m} joined ${fmt.list(learned[m - 1].map((id) => fmt.quote(visible(tokenizers[2].name(id)))))}.`
      : "Without merges each byte is a token.";
    list();
    sayText();
  }

  follow("text merges", draw);
}, style + rowStyle);
