// Translator: the reader's own sentence, translated here by trained models (engine.mjs), and where every head looked.
//
//   alpha_t = softmax_i score(s_t, h_i)      a row of weights for every token that is written, for each layer and head
//
// What is seen before a model is loaded was computed by the package. Left in a drawing stands what is looked at, right
// who looks.
import {
  button,
  chips,
  choice,
  field,
  figure,
  fmt,
  h,
  replace,
  roving,
  s,
  select,
  table,
  whole,
} from "../kit/core.mjs";
import { connect } from "../kit/live.mjs";

const ROW = 24;
const LONGEST = 200;
const FAINT = 0.04; // px of a line of the drawing; characters; weights below are not drawn
const KINDS = [
  ["cross", "the source, from the translation"],
  ["self", "what is written, from the translation"],
  ["encoder", "the source, from the source"],
];

const style = `
.lmx-ask input[type="text"] { font-size: 1.0625rem; }
.lmx-line > .lm-main { align-self: flex-start; }
.lmx-go { display: flex; flex-wrap: wrap; gap: 0.5rem 0.8rem; align-items: center; }
.lmx-go progress { width: 9rem; accent-color: var(--lm-1); }
.lmx-boards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16.5rem), 1fr));
  gap: 1rem 1.6rem; align-items: start; }
.lmx-written { font-size: 1.1875rem; font-weight: 600; line-height: 1.35; overflow-wrap: anywhere; }
.lmx-board { display: flex; flex-direction: column; gap: 0.45rem; min-width: 0; }
.lmx-draw { display: grid; grid-template-columns: fit-content(46%) minmax(2.5rem, 8rem) fit-content(42%);
  align-items: start; }
.lmx-draw svg { display: block; width: 100%; overflow: visible; }
.lmx-draw ol { margin: 0; padding: 0; list-style: none; }
.lmx-draw li { display: flex; height: ${ROW}px; margin: 0; align-items: center; }
.lmx-keys li { justify-content: flex-end; }
.lm-figure .lmx-token { max-width: 100%; min-width: 24px; min-height: 24px; margin: 0; padding: 0.05rem 0.4rem;
  border: 1px solid transparent; border-radius: 5px; background: none; color: inherit;
  font: inherit; line-height: 1.35; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.lmx-keys .lmx-token { background: color-mix(in srgb, var(--lm-1) var(--lmx-share, 0%), transparent); }
.lmx-keys small { flex: none; width: 1.9rem; color: var(--lm-muted); font-size: 0.75rem;
  font-variant-numeric: tabular-nums; }
.lm-figure button.lmx-token { cursor: pointer; border-color: var(--lm-line); }
.lm-figure button.lmx-token:hover { border-color: var(--lm-edge); }
.lm-figure button.lmx-token[aria-pressed="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1);
  font-weight: 600; }
.lmx-part { color: var(--lm-muted); }
.lmx-mark { color: var(--lm-muted); font-style: italic; }
.lmx-link { fill: none; stroke: var(--lm-edge); stroke-opacity: 0.35; vector-effect: non-scaling-stroke; }
.lmx-now { fill: none; stroke: var(--lm-1); stroke-linecap: round; vector-effect: non-scaling-stroke; }
.lmx-boards > .lm-stack { min-width: 0; }
@container (min-width: 40rem) {
  .lm-figure .lmx-board { max-height: 26.5rem; } /* what is longer scrolls */
  .lm-figure .lmx-draw { min-height: 12rem; overflow-y: auto; }
  .lmx-boards.lmx-two { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) 13.5rem; }
  .lm-figure .lmx-line { display: grid; grid-template: "which note note" "ask ask go" / 1fr auto auto;
    gap: 0.35rem 0.8rem; align-items: center; }
  .lmx-line > .lm-choice { grid-area: which; }
  .lmx-line > .lmx-ask { grid-area: ask; }
  .lmx-line > .lmx-go { grid-area: note; }
}
.lm-figure .lmx-two .lmx-written { font-size: 1rem; line-height: 1.3; }
.lm-figure .lmx-boards + div .lm-says { min-height: 1.45em; }
.lmx-heads { display: grid; grid-template-columns: max-content repeat(var(--lmx-n), minmax(0, 4.6rem));
  gap: 0.3rem 0.4rem; align-items: center; font-size: 0.8125rem; }
.lm-figure .lmx-heads button { display: block; width: 100%; margin: 0; padding: 2px; border: 1px solid var(--lm-line);
  border-radius: 4px; background: none; color: inherit; cursor: pointer; line-height: 0; }
.lm-figure .lmx-heads button[aria-pressed="true"] { border-color: var(--lm-1); box-shadow: inset 0 0 0 1px var(--lm-1);
  }
.lmx-heads svg { display: block; width: 100%; height: auto; aspect-ratio: 1; } /* however long the map is */
.lmx-heads path { fill: var(--lm-1); }
.lmx-heads rect { fill: none; stroke: var(--lm-2); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.lmx-open table { font-size: 0.875rem; }
.lmx-warn { font-weight: 600; }
`;

/**
 * How a token is shown: without its blank in front, a place for what cannot be seen, and whether it goes on with a
 * word.
 */
export function shown(text, i) {
  const seen = text.trim();
  return {
    word: seen || (text ? "␣" : "∅"),
    joined: i > 0 && !/^\s/.test(text) && /^[\p{L}\p{N}]/u.test(text),
    mark: /^<.+>$/.test(text),
  };
}

/** The mean over the heads, or one head: weights[query][key]. */
function chosenWeights({ weights }, head) {
  if (head) return weights[head - 1];
  return weights[0].map((row, t) =>
    row.map((_, i) => weights.reduce((sum, one) => sum + one[t][i], 0) / weights.length),
  );
}

const top = (row) => row.reduce((best, v, i) => (v > row[best] ? i : best), 0);
const megabytes = (bytes) => `${fmt.num(bytes / 1e6, 1)} MB`;

/** A matrix of weights as squares, a path for each of five tones. */
function small(rows, place) {
  const wide = Math.max(...rows.map((row) => row.length));
  const paths = Array.from({ length: 5 }, () => "");
  rows.forEach((row, t) =>
    row.forEach((w, i) => {
      if (w > FAINT) paths[Math.min(4, Math.floor(w * 5))] += `M${i} ${t}h1v1h-1z`;
    }),
  );
  return s("svg", { viewBox: `0 0 ${wide} ${rows.length}`, "aria-hidden": "true" }, [
    paths.map((d, k) => (d ? s("path", { d, "fill-opacity": (k + 1) / 5 }) : null)),
    place === null ? null : s("rect", { x: 0, y: place, width: wide, height: 1 }),
  ]);
}

/** One translation with its drawing: tokens left and right, lines between them. */
function board(onchoose) {
  const head = h("p", { class: "lm-small lm-muted" });
  const written = h("p", { class: "lmx-written" });
  const keys = h("ol", { class: "lmx-keys" });
  const asking = h("ol", { "aria-label": "Tokens: arrows move, Enter chooses" });
  const lines = s("svg", { preserveAspectRatio: "none", "aria-hidden": "true" });
  const group = roving(asking, "button", { onmove: (t) => onchoose(t) });
  const node = h("div", { class: "lmx-board" }, head, written, h("div", { class: "lmx-draw" }, keys, lines, asking));
  let drawn = null;

  const tokenOf = (text, i, typed) => {
    const { word, joined, mark } = shown(text, i);
    return [
      joined ? h("span", { class: "lmx-part", "aria-hidden": "true" }, "·") : null,
      h("span", { class: mark ? "lmx-mark" : "" }, word),
      mark && typed && typed !== text ? h("span", { class: "lmx-part" }, ` ${typed}`) : null,
    ];
  };

  return {
    node,
    draw({ label, found, queries, seen, rows, place }) {
      head.textContent = label;
      written.textContent = found.text || "(nothing)";
      if (drawn !== queries) {
        const had = asking.contains(document.activeElement);
        replace(asking, [
          queries.map(({ text }, t) =>
            h("li", {}, [
              h("button", { type: "button", class: "lmx-token", onclick: () => onchoose(t) }, tokenOf(text, t)),
            ]),
          ),
        ]);
        drawn = queries;
        group.refresh();
        if (had) group.focus(Math.min(place, queries.length - 1));
      }
      [...asking.querySelectorAll("button")].forEach((one, t) => one.setAttribute("aria-pressed", String(t === place)));
      const now = rows[place];
      replace(keys, [
        seen.map(({ text, typed }, i) =>
          h("li", {}, [
            h("small", {}, (now[i] ?? 0) >= 0.005 ? fmt.num(now[i]) : ""),
            h("span", { class: "lmx-token", style: { "--lmx-share": `${Math.round(70 * (now[i] ?? 0))}%` } }, [
              tokenOf(text, i, typed),
            ]),
          ]),
        ),
      ]);
      const tall = ROW * Math.max(seen.length, queries.length);
      const y = (i) => ROW * (i + 0.5);
      const curve = (i, t) => `M0 ${y(i)}C55 ${y(i)} 45 ${y(t)} 100 ${y(t)}`;
      lines.setAttribute("viewBox", `0 0 100 ${tall}`);
      lines.style.setProperty("height", `${tall}px`);
      replace(lines, [
        rows.map((row, t) =>
          t === place ? null : s("path", { class: "lmx-link", d: curve(top(row), t), "stroke-width": 1.5 }),
        ),
        now.map((w, i) =>
          w > FAINT
            ? s("path", {
                class: "lmx-now",
                d: curve(i, place),
                "stroke-width": 1 + 6 * w,
                "stroke-opacity": 0.25 + 0.75 * w,
              })
            : null,
        ),
      ]);
    },
  };
}

const about = {
  style,
  allows: {
    // what an address may set
    shown: (shown, { translators: all }) =>
      whole(shown.length, 1, all.length) &&
      new Set(shown).size === shown.length &&
      shown.every((i) => whole(i, 0, all.length - 1) && all[i].reads === all[shown[0]].reads),
    text: (text) => text.length <= LONGEST,
  },
};

export default figure(({ model, el, get, put, listen, say }) => {
  const all = get("translators");
  const models = connect(model);
  const ready = new Set();
  const known = new Map(); // what was translated, and `of` which sentence: by model, sentence and beginning
  const keyOf = (i, text = get("text"), forced = get("forced")) =>
    JSON.stringify([all[i].name, text, i === get("shown")[0] ? forced : []]);
  for (const [name, { text, found }] of Object.entries(get("first")))
    known.set(JSON.stringify([name, text, []]), { ...found, of: text });
  const last = new Map(); // the translation that is shown until the next one is there
  let trouble = "";
  let busy = false;
  let gone = false;

  const ask = field({ label: "", value: get("text"), maxlength: LONGEST }); // to type neither fetches nor translates
  ask.node.classList.add("lmx-ask");
  ask.input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") begin(ask.get(), true);
  });
  const go = button("Translate", () => begin(ask.get(), true), { class: "lm-button lm-main" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "loading the model", hidden: true });
  const note = h("span", { class: "lm-small lm-muted" });
  const examples = h("div", {});
  const ways = all.map((one, i) => [JSON.stringify([i]), one.label]);
  const pairs = all.flatMap((a, i) =>
    all
      .slice(i + 1)
      .map((_b, j) => [i, i + 1 + j])
      .filter(([, k]) => all[k].reads === a.reads),
  );
  const which = choice({
    label: "Translator",
    value: JSON.stringify(get("shown")),
    options: [...ways, ...pairs.map((pair) => [JSON.stringify(pair), "side by side"])],
    onchange: (value) => change(JSON.parse(value)),
  });
  const boards = h("div", { class: "lmx-boards" });
  const places = [board((t) => put({ place: t })), board((t) => put({ place: t }))];
  const kind = select({
    label: "Where it looks:",
    value: get("kind"),
    options: KINDS,
    onchange: (value) => put({ place: 0, kind: value }),
  });
  const mean = button("mean of the heads", () => put({ head: 0 }), { pressed: true });
  const grid = h("div", {
    class: "lmx-heads",
    role: "group",
    "aria-label": "Every head of every layer: arrows move, Enter chooses",
  });
  const tiles = roving(grid, "button");
  const heads = h("div", { class: "lm-stack" }, h("div", { class: "lm-row" }, kind.node, mean), grid);
  const instead = h("div", { class: "lm-row" });
  const options = roving(instead, "button");
  const others = h("div", { class: "lm-row" }, h("p", { class: "lm-small lm-muted" }), instead);
  const open = openWord();
  const numbers = table({
    summary: "The weights as a table",
    caption: "A row for each token that looks, a column for each that is looked at",
  });
  el.append(
    h("div", { class: "lm-stack lmx-line" }, [
      all.length > 1 ? which.node : null,
      ask.node,
      go,
      h("div", { class: "lmx-go" }, bar, note),
    ]),
    examples,
    boards,
    say.node,
    others,
    h("div", { class: "lm-folds" }, open.node, numbers.node),
  );

  const board0 = () => get("shown")[0];
  const result = (i) => {
    if (known.has(keyOf(i))) last.set(i, known.get(keyOf(i)));
    return last.get(i);
  };

  /**
   * Where the text, or the translator, is another: fetch what is needed and translate. `asked`: the reader pressed the
   * button.
   */
  function begin(text, asked = false) {
    const sentence = text.slice(0, LONGEST);
    if (sentence === get("text") && !asked) return undefined;
    put({ forced: [], place: 0, text: sentence });
    return work(asked);
  }

  function change(pair) {
    const other = all[pair[0]].reads !== all[board0()].reads;
    put({
      forced: [],
      kind: "cross",
      head: 0,
      layer: all[pair[0]].layers,
      ...(other ? { text: all[pair[0]].examples[0] } : {}),
      shown: pair,
    });
    ask.set(get("text"));
    return work();
  }

  /** Translates what is asked for; a model that the reader asked for is fetched even where the first view would do. */
  async function work(asked = false) {
    const text = get("text");
    trouble = text.trim() ? "" : `Type a sentence in ${all[board0()].reads}; there is no word to translate yet.`;
    if (!text.trim()) return draw();
    busy = true;
    draw();
    try {
      for (const i of get("shown")) {
        if (known.has(keyOf(i)) && (ready.has(all[i].name) || !asked)) continue;
        const { name, bytes } = all[i];
        if (!ready.has(name)) {
          note.textContent = `Loading ${megabytes(bytes)}, once …`;
          bar.hidden = false;
          await models.load(name, (share) => {
            bar.value = share;
          });
          bar.hidden = true;
          ready.add(name);
        }
        const key = keyOf(i);
        const of = get("text");
        const found = await models.ask("translate", { name, text: of, forced: i === board0() ? get("forced") : [] });
        if (gone) return undefined;
        known.set(key, { ...found, of });
      }
    } catch (error) {
      trouble = `The translation could not be made: ${error.message}. What you see is the last one that could.`;
    }
    busy = false;
    bar.hidden = true;
    if (get("text") !== text && get("text").trim()) return work(asked); // typed on meanwhile
    return draw();
  }

  /** Another word at this place: what stands before it stays, what follows is written anew. */
  function instead_of(id) {
    const found = result(board0());
    put({ kind: "cross", forced: [...found.target.slice(0, get("place")).map((token) => token.id), id] });
    work();
  }

  /** What the drawing shows of a translation: who looks, what is looked at, and the weights. */
  function view(found, layer, head) {
    const kinds = new Set(found.attention.map((one) => one.kind));
    const way = kinds.has(get("kind")) ? get("kind") : "cross";
    const maps = found.attention.filter((one) => one.kind === way);
    const map = maps[Math.min(layer, maps.length) - 1];
    const start = { id: 2, text: "<sos>" };
    const queries = way === "encoder" ? found.source : found.target;
    const seen = way === "self" ? [start, ...found.target.slice(0, -1)] : found.source;
    return {
      way,
      kinds,
      maps,
      map,
      queries,
      seen,
      rows: chosenWeights(map, head),
      place: Math.min(get("place"), queries.length - 1),
    };
  }

  function drawHeads(now) {
    const { maps, place } = now;
    heads.hidden = maps.length === 1 && maps[0].weights.length === 1;
    if (heads.hidden) return;
    grid.style.setProperty("--lmx-n", maps[0].weights.length);
    const focused = grid.contains(document.activeElement) ? tiles.index : -1;
    replace(grid, [
      maps.map(({ layer, weights }) => [
        h("span", { class: "lm-muted" }, `layer ${layer}`),
        weights.map((rows, k) =>
          h(
            "button",
            {
              type: "button",
              "aria-label": `layer ${layer}, head ${k + 1}`,
              "aria-pressed": String(get("head") === k + 1 && get("layer") === layer),
              onclick: () => put({ layer, head: k + 1 }),
            },
            [small(rows, place)],
          ),
        ),
      ]),
    ]);
    tiles.refresh();
    if (focused >= 0) tiles.focus(focused);
    mean.textContent = `mean of the heads of layer ${get("layer")}`;
    mean.setAttribute("aria-pressed", String(get("head") === 0));
    kind.set(now.way);
  }

  function drawOthers(found, now) {
    others.hidden = now.way === "encoder";
    if (others.hidden) return;
    const token = found.target[now.place];
    others.firstChild.textContent = `Instead of “${shown(token.text, 0).word}” (P = ${fmt.prob(token.p, 2)}):`;
    const had = instead.contains(document.activeElement);
    replace(instead, [
      token.others
        .filter((other) => other.id !== token.id)
        .slice(0, 5)
        .map((other) =>
          button(
            `${other.text.trim() || "␣"} ${other.p ? fmt.prob(other.p, 2) : "< 0.001"}`,
            () => instead_of(other.id),
            {
              class: "lm-button lm-chip",
            },
          ),
        ),
    ]);
    options.refresh();
    if (had) options.focus(0);
  }

  /** One word opened: what each sublayer adds, what the decoder would say there, and the scores behind the weights. */
  function openWord() {
    const body = h("div", {
      class: "lm-scroll lm-table",
      tabindex: "0",
      role: "region",
      "aria-label": "The way of one token through the layers",
    });
    const words = h("p", { class: "lm-small lm-muted" });
    const node = h("details", { class: "lmx-open" }, [
      h("summary", {}, "Open this word: the sum of all that the layers add to it"),
      words,
      body,
    ]);
    let wanted = "";
    const stages = {
      embedding: "embedding",
      position: "position",
      self: "self-attention",
      cross: "attention to the source",
      feed: "feed-forward",
    };
    async function draw(found, now) {
      node.hidden = found.attention.length === 1;
      if (!node.open || node.hidden) {
        wanted = "";
        return;
      }
      const { name } = all[board0()];
      if (!ready.has(name)) {
        replace(words, [
          "The numbers are computed here, by the model itself. ",
          button(`Load it (${megabytes(all[board0()].bytes)})`, () => begin(get("text"), true)),
        ]);
        replace(body);
        return;
      }
      const side = now.way === "encoder" ? "source" : "target";
      const given = { name, text: found.of, ids: found.target.map((token) => token.id), side, place: now.place };
      const key = JSON.stringify([given, get("head"), get("layer"), now.way]);
      if (key === wanted) return;
      wanted = key;
      body.setAttribute("aria-busy", "true");
      const trace = await models.ask("open", given);
      if (gone || wanted !== key) return;
      body.setAttribute("aria-busy", "false");
      const token = now.queries[now.place];
      const before =
        side === "target"
          ? "The decoder has read " +
            `${fmt.quote(now.place ? shown(found.target[now.place - 1].text, 0).word : "<sos>")} and is to write ` +
            `${fmt.quote(shown(token.text, 0).word)}.`
          : `The encoder reads ${fmt.quote(shown(token.text, 0).word)}.`;
      replace(words, [
        `${before} Each line adds a vector to the sum; the lengths of both are given.` +
          (side === "target" ? " The last column says what the model would write if it ended there." : ""),
      ]);
      const head = ["sublayer", "length added", "length of the sum", ...(side === "target" ? ["would write"] : [])];
      const chosen = trace.find(
        (one) =>
          one.scores && one.layer === get("layer") && (side === "source" ? one.kind === "self" : one.kind === now.way),
      );
      const k = get("head") || 1;
      replace(body, [
        h("table", {}, [
          h("thead", {}, [h("tr", {}, [head.map((word) => h("th", { scope: "col" }, word))])]),
          h("tbody", {}, [
            trace.map((one) =>
              h("tr", {}, [
                h("th", { scope: "row" }, `${stages[one.kind]}${one.layer ? `, layer ${one.layer}` : ""}`),
                h("td", {}, fmt.num(one.added, 1)),
                h("td", {}, fmt.num(one.sum, 1)),
                one.says ? h("td", {}, `${one.says.text.trim() || "␣"} (${fmt.num(one.says.p)})`) : null,
              ]),
            ),
          ]),
        ]),
        chosen
          ? [
              h(
                "p",
                { class: "lm-small lm-muted" },
                `Layer ${chosen.layer}, head ${k}: score q·k/√d_k, then its softmax`,
              ),
              h("table", {}, [
                h("thead", {}, [
                  h("tr", {}, [["looked at", "score", "e^score / sum"].map((word) => h("th", { scope: "col" }, word))]),
                ]),
                h("tbody", {}, [
                  chosen.scores[k - 1].map((score, i) =>
                    h("tr", {}, [
                      h("th", { scope: "row" }, shown(now.seen[i].text, 0).word),
                      h("td", {}, fmt.num(score)),
                      h("td", {}, fmt.num(chosen.weights[k - 1][i], 3)),
                    ]),
                  ),
                ]),
              ]),
            ]
          : null,
      ]);
    }
    return { node, draw };
  }

  function draw() {
    const pair = get("shown");
    const about = all[pair[0]];
    which.set(JSON.stringify(pair));
    ask.set(get("text"));
    ask.node.querySelector("label").textContent = `Your sentence in ${about.reads}`;
    ask.input.lang = about.reads === "German" ? "de" : "en";
    if (examples.dataset.of !== about.reads) {
      examples.dataset.of = about.reads;
      replace(examples, [
        chips({
          label: "Examples",
          options: about.examples.map((text) => [text, text.length > 28 ? `${text.slice(0, 26).trim()} …` : text]),
          onchoose: (text) => begin(text, true),
        }).node,
      ]);
    }
    const missing = pair.filter((i) => !ready.has(all[i].name));
    if (bar.hidden)
      note.textContent = busy
        ? "Translating …"
        : missing.length
          ? `fetches ${megabytes(missing.reduce((sum, i) => sum + all[i].bytes, 0))} once; the text stays in this page`
          : "";
    const found = result(pair[0]);
    const there = pair.filter((i) => result(i));
    const inside = [...there.map((_, k) => places[k].node), ...(found ? [heads] : [])];
    if (inside.length !== boards.children.length || inside.some((node, k) => node !== boards.children[k]))
      replace(boards, inside); // else the focus would go
    boards.classList.toggle("lmx-two", there.length > 1);
    there.forEach((i, k) => {
      const own = result(i);
      const now = k ? view(own, 99, 0) : view(own, get("layer"), get("head"));
      const head = k || !get("head") ? "mean of the heads" : `head ${get("head")}`;
      const from = now.maps.length > 1 || now.map.weights.length > 1 ? `, layer ${now.map.layer}, ${head}` : "";
      places[k].draw({ label: `${all[i].label}${from}`, found: own, ...now });
    });
    const parts = [others, open.node, numbers.node];
    for (const part of parts) part.hidden = !found;
    if (!found) return say(trouble || "Press Translate.");
    const now = view(found, get("layer"), get("head"));
    drawHeads(now);
    drawOthers(found, now);
    open.draw(found, now);
    numbers.draw(
      now.rows.map((row, t) => [shown(now.queries[t].text, t).word, ...row.map((w) => fmt.num(w))]),
      ["token", ...now.seen.map(({ text }, i) => shown(text, i).word)],
    );
    if (trouble) return say(trouble);
    const row = now.rows[now.place];
    const best = top(row);
    const strange = found.source
      .filter((token) => token.text === "<unk>")
      .map((token) => fmt.quote(token.typed ?? token.text));
    const unknown = strange.length
      ? ` The model has no ${fmt.list([...new Set(strange)])}; it reads <unk>, “a word that I do not know”.`
      : "";
    const cut = found.ended ? "" : " It was stopped after 60 tokens.";
    return say(
      `${fmt.quote(found.text)}: here ${fmt.quote(shown(now.queries[now.place].text, 0).word)} looks most at ` +
        `${fmt.quote(shown(now.seen[best].text, 0).word)}, with weight ${fmt.num(row[best])}.${unknown}${cut}`,
    );
  }

  open.node.addEventListener("toggle", draw);
  listen("text shown place forced kind layer head", draw);
  draw();
  return () => {
    gone = true;
    models.stop();
  };
}, about);
