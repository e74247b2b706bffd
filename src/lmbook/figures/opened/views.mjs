// views.mjs: what an opened Transformer shows at each depth: the whole, a block, a head, a network, a vector, a
// number.
//
// A view is { node, parts, formula, words, table, tints }: the drawing, what can be opened in it from top to bottom,
// the formula with its numbers, the result in a sentence, and the numbers as rows; tints: how much of each token is
// used. `about` says which model it is (opened.py): both towers, or one of them alone; norms before or behind the sum;
// max or GELU.
import { fmt, s } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { WIDE, arrow, box, columns, part, path, plus, sheet, text, vector } from "./shapes.mjs";

const INNER = "\\.(self|cross)\\.(\\d+)(?:\\.(\\d+))?|\\.(feed)(?:\\.(\\d+))?"; // a head and a key, or a unit
const PATH = new RegExp(`^(?:(encoder|decoder)\\.(\\d+)(?:${INNER})?|(source|target|output)(?:\\.(\\d+))?)?$`);

/** A path in parts; of a path that leads nowhere, the whole.  number: what is opened inside of it, from 0, or null. */
export function parsed(given, { n_layers, n_heads, d_ff, d_model, called, tower: alone }) {
  const [found, tower, layer, look, head, key, feed, unit, end, entry] = PATH.exec(given) ?? [""];
  const within = (value, most) => value === undefined || (Number(value) >= 1 && Number(value) <= most);
  const there =
    found !== undefined &&
    within(layer, n_layers) &&
    within(head, n_heads) &&
    within(unit, d_ff) &&
    within(entry, d_model) &&
    within(key, Infinity) &&
    !(look === "cross" && (alone || tower === "encoder")) &&
    !(alone && tower && tower !== alone);
  const only = { encoder: "source", decoder: "target" }[alone];
  if (!found || !there || (only && end && end !== "output" && end !== only))
    return { path: "", kind: "whole", called, side: only ?? "target", levels: [""] };
  const number = [key, unit, entry].find((value) => value !== undefined);
  const block = tower ? `${tower}.${layer}` : null;
  const inner = look ? `${block}.${look}.${head}` : feed ? `${block}.feed` : (end ?? null);
  return {
    path: found,
    called,
    tower,
    layer: Number(layer),
    look,
    head: Number(head) - 1,
    end,
    number: number === undefined ? null : Number(number) - 1,
    kind: end ?? (look ? "head" : feed ? "feed" : "block"),
    side: only ?? (tower === "encoder" || end === "source" ? "source" : "target"),
    levels: ["", block, inner, number === undefined ? null : found].filter((level) => level !== null),
  };
}

/** The sublayers of a path that the engine has to open: [stage, unit]. */
export function stagesOf(at, { n_layers, starts, tower }) {
  const each = at.side === "source" || tower ? 2 : 3;
  if (at.kind === "output") return [[starts + each * n_layers, null]];
  if (at.end) return Array.from({ length: starts }, (_, stage) => [stage, null]);
  if (at.kind === "head") return [[starts + each * (at.layer - 1) + (at.look === "cross" ? 1 : 0), null]];
  return at.kind === "feed" ? [[starts - 1 + each * at.layer, at.number]] : [];
}

const cut = (word, most = 11) => (word.length > most ? `${word.slice(0, most - 1)}…` : word);
const seen = (word) => word.trim() || (word ? "␣" : "∅");
const says = ({ text: word, p }) => `${cut(seen(word))} ${fmt.num(p)}`;
const NAMES = {
  self: "self-attention",
  cross: "attention to the source",
  feed: "feed-forward network",
  embedding: "embedding",
  position: "position",
  segment: "segment",
};
const signed = (x, digits = 2) => (x < 0 ? `− ${fmt.num(-x, digits)}` : `+ ${fmt.num(x, digits)}`);

/** The name of a level of a path, for the way back. */
export function nameOf(at, { keys = [] }) {
  const tower = at.tower;
  if (at.kind === "whole") return at.called;
  if (at.kind === "block") return `${tower}, layer ${at.layer}`;
  if (at.number === null)
    return at.kind === "head"
      ? `${NAMES[at.look]}, head ${at.head + 1}`
      : at.kind === "feed"
        ? NAMES.feed
        : at.end === "output"
          ? "output"
          : at.called === "GPT"
            ? "embedding"
            : "embedding and position";
  if (at.kind === "head") return `score of “${seen(keys[Math.min(at.number, keys.length - 1)].text)}”`;
  return at.kind === "feed"
    ? `unit ${at.number + 1}`
    : at.kind === "output"
      ? `logit ${at.number + 1}`
      : `entry ${at.number + 1}`;
}

// --- the whole ------------------------------------------------------------------------------------------------------

/** Softmax of E times the head of the last x: how each model says what comes. */
const OUTPUT = {
  translator: "P(y_t | y_{<t}, x) = [softmax](E [LN] *x*_K)",
  blank: "P(w_t | [the others]) = [softmax](E [LN] [gelu](W*x*_K + *b*) + *c*)",
  next: "P(w_{t+1} | w_{≤t}) = [softmax](E [LN] *x*_K)",
};
const STREAM = {
  pre: "*x*_k = *x*_{k−1} + f_k([LN] *x*_{k−1})",
  post: "*x*_k = [LN](*x*_{k−1} + f_k(*x*_{k−1}))",
};
const START = {
  translator: "*x*_0 = √{d} E_w + *p*_t",
  blank: "*x*_0 = [LN](E_w + P_t + S_1)",
  next: "*x*_0 = E_w",
};
const ground = { translator: "√d E + position", blank: "LN(E + P + S)", next: "E" };

export function whole({ about, words, trace, word, hidden, left }) {
  const { n_layers: L, tower, kind } = about;
  const x = tower ? 160 : 248;
  const half = tower ? 92 : 62;
  const encoder = 72;
  const bottom = 66 + 50 * L; // x: of the tower that ends in the output
  const top = (k) => bottom - 50 * k + 8;
  const parts = [
    part(
      "output",
      "output",
      box(x - half, 34, 2 * half, 26, "parameter"),
      text(x, 51, kind === "blank" ? "W, LN, E, softmax" : "E, softmax", { size: 12 }),
    ),
  ];
  const told = (k) => trace.find((one) => one.kind === "feed" && one.layer === k).says;
  const own = tower || "decoder";
  for (let k = L; k; k -= 1) {
    parts.push(
      part(
        `${own}.${k}`,
        own,
        box(x - half, top(k), 2 * half, 36, own),
        text(x, top(k) + 14, `layer ${k}`, { size: 12, bold: true }),
        text(x, top(k) + 29, `“${cut(seen(told(k).text), 9)}” ${fmt.num(told(k).p)}`, { size: 11.5 }),
      ),
    );
  }
  const below = (at, wide, end, name) =>
    part(
      end,
      `embedding${about.starts > 1 ? " and position" : ""} of ${name}`,
      box(at - wide, bottom + 18, 2 * wide, 26, "parameter"),
      text(at, bottom + 35, ground[kind], { size: 12 }),
    );
  parts.push(below(x, half, own === "encoder" ? "source" : "target", seen(word)));
  if (!tower) {
    for (let k = L; k; k -= 1)
      parts.push(
        part(
          `encoder.${k}`,
          "encoder",
          box(encoder - half, top(k), 2 * half, 36, "encoder"),
          text(encoder, top(k) + 14, `layer ${k}`, { size: 12, bold: true }),
          text(encoder, top(k) + 29, "attention, FFN", { size: 11.5 }),
        ),
      );
    parts.push(below(encoder, half, "source", seen(words.read.text)));
  }
  const stream = (at, from, to) => arrow(`M${at} ${from}V${to + 5}`, at, to, "up", "state", 2.5);
  const last = kind === "translator" ? { ...words.written, p: words.written.p ?? 0 } : told(L);
  const H = top(L) - 20;
  const memory = () => [
    path(`M${encoder} ${top(L)}V${H}H160V${top(1) + 18}`, "encoder", 2.5),
    Array.from({ length: L }, (_, k) =>
      arrow(`M160 ${top(k + 1) + 18}H182`, x - half, top(k + 1) + 18, "right", "encoder", 2),
    ),
    text(encoder + 46, H - 6, "H", { bold: true }),
    text(encoder, 14, "encoder", { muted: true }),
    text(encoder, bottom + 72, `reads “${cut(seen(words.read.text))}”`),
  ];
  const ends = `${kind === "blank" ? "says" : "writes"} “${cut(seen(last.text), 9)}” ${fmt.num(last.p)}`;
  const node = sheet(
    bottom + 78,
    (tower ? [x] : [encoder, x]).map((at) => [
      stream(at, bottom + 58, bottom + 44),
      Array.from({ length: L }, (_, k) => stream(at, bottom - 50 * k + 18, bottom - 50 * k - 6)),
    ]),
    stream(x, top(L), 60),
    stream(x, 34, 22),
    tower ? [] : memory(),
    text(x, 16, ends, { bold: true }),
    text(x, bottom + 72, `${kind === "blank" ? "reads" : "has read"} “${cut(seen(word), 9)}”`),
    parts.map((one) => one.node),
  );
  const after = fmt.list(Array.from({ length: L }, (_, k) => fmt.quote(seen(told(k + 1).text))));
  const dropped = left
    ? ` Left out, because the model has no such character: ${fmt.list([...left].map(fmt.quote))}.`
    : "";
  return {
    node,
    parts,
    formula: formula(
      "The first x is a sum of vectors. The stream x k comes from x k minus 1 and what sublayer k makes of it. " +
        "The output is softmax of E times what the last x becomes.",
      START[kind],
      STREAM[about.post ? "post" : "pre"],
      OUTPUT[kind],
    ),
    note: {
      translator: "In each layer of the decoder: the word that the model would write, did it end there.",
      blank:
        "In each layer: what the model would say, did it end there. " +
        (hidden ? "It does not see the word that is hidden." : "It reads the word about which it speaks."),
      next: "In each layer: the character that the model would write next, did it end there. Dashed: masked.",
    }[kind],
    words: {
      translator:
        `The decoder has read ${fmt.quote(seen(word))} and writes ${fmt.quote(seen(last.text))}, P = ` +
        `${fmt.num(last.p)}. After its layers 1 to ${L} it would say ${after}.`,
      blank:
        `At ${fmt.quote(seen(word))} the encoder says ${fmt.quote(seen(last.text))}, P = ${fmt.num(last.p)}. ` +
        `After its layers 1 to ${L} it would say ${after}.`,
      next:
        `The decoder has read up to ${fmt.quote(seen(word))}; next it says ${fmt.quote(seen(last.text))}, P = ` +
        `${fmt.num(last.p)}. After its layers 1 to ${L} it would say ${after}.${dropped}`,
    }[kind],
    table: {
      head: [
        `sublayer of the ${own}`,
        "length added",
        about.post ? "length behind it" : "length of the sum",
        `would ${kind === "blank" ? "say" : "write"}`,
      ],
      rows: trace.map((one) => [
        `${NAMES[one.kind]}${one.layer ? `, layer ${one.layer}` : ""}`,
        fmt.num(one.added, 1),
        fmt.num(one.sum, 1),
        one.says ? says(one.says) : "",
      ]),
    },
  };
}

// --- a block --------------------------------------------------------------------------------------------------------

export function block({ at, about, trace, word, total }) {
  const own = trace.filter((one) => one.layer === at.layer);
  const verb = about.kind === "blank" ? "say" : "write";
  const stream = 20;
  const high = about.post ? 124 : 104; // a norm behind the sum takes room of its own
  const bottom = 22 + high * own.length;
  const rows = own.map((one, k) => {
    const y = bottom - high * k - 34; // where the branch leaves the stream
    const role =
      one.kind === "feed" ? "parameter" : one.kind === "cross" || at.tower === "encoder" ? "encoder" : "decoder";
    const heads = one.weights?.map((weights, j) =>
      part(
        `${at.path}.${one.kind}.${j + 1}`,
        `${NAMES[one.kind]}, head ${j + 1}`,
        box(92 + 57 * j, y - 34, 53, 50, role),
        columns(96 + 57 * j, y - 30, 45, 30, weights, role, one.kind === "self" ? total : weights.length),
        text(118.5 + 57 * j, y + 12, `head ${j + 1}`, { size: 10.5 }),
      ),
    ) ?? [
      part(
        `${at.path}.feed`,
        NAMES.feed,
        box(92, y - 26, 224, 38, role),
        text(204, y - 3, about.f === "gelu" ? "W₂ gelu(W₁ x + b₁) + b₂" : "W₂ max(0, W₁ x + b₁) + b₂", { size: 12 }),
      ),
    ];
    const before = [
      arrow(`M${stream} ${y}H38`, 44, y, "right"),
      box(44, y - 12, 32, 24),
      text(60, y + 4, "LN", { size: 12 }),
      arrow(`M76 ${y}H86`, 92, y, "right"),
    ];
    const behind = [
      arrow(`M${stream} ${y}H86`, 92, y, "right"),
      box(stream - 16, y - 92, 32, 22),
      text(stream, y - 77, "LN", { size: 12 }),
    ];
    const wires = [
      s("circle", { cx: stream, cy: y, r: 3, class: "lmo-head lmo-state" }),
      about.post ? behind : before,
      arrow(`M204 ${y - (one.weights ? 34 : 26)}V${y - 54}H${stream + 14}`, stream + 8, y - 54, "left"),
      plus(stream, y - 54),
      text(92, y + 29, NAMES[one.kind], { size: 12, anchor: "start" }),
      text(
        44,
        y - 60,
        `adds ${fmt.num(one.added, 1)}; ` +
          (about.post ? "behind the norm the length is" : "the sum has length") +
          ` ${fmt.num(one.sum, 1)}`,
        { size: 11.5, anchor: "start", muted: true },
      ),
    ];
    return { heads, wires };
  });
  const parts = rows.toReversed().flatMap(({ heads }) => heads);
  const last = own.at(-1);
  const node = sheet(
    bottom + 28,
    arrow(`M${stream} ${bottom + 6}V14`, stream, 8, "up", "state", 2.5),
    rows.map(({ wires }) => wires),
    parts.map((one) => one.node),
    text(34, bottom + 16, `“${cut(seen(word))}” comes in`, { size: 12, anchor: "start" }),
    text(
      34,
      14,
      last.says ? `goes on; would ${verb} “${cut(seen(last.says.text))}” ${fmt.num(last.says.p)}` : "goes on",
      { size: 12, anchor: "start" },
    ),
  );
  const add = (name, more = "") =>
    about.post ? `*x* ← [LN](*x* + [${name}](*x*))` : `*x* ← *x* + [${name}]([LN] *x*${more})`;
  const lines = [
    add(at.tower === "encoder" ? "SelfAttention" : "CausalAttention"),
    ...(own.length > 2 ? [add("Attention", ", H")] : []),
    add("FFN"),
  ];
  const most = own.reduce((a, b) => (b.added > a.added ? b : a));
  return {
    node,
    parts,
    formula: formula(
      about.post
        ? "What each sublayer makes of x is added to it, and the norm of the sum goes on."
        : "Each sublayer reads the norm of x, and what it makes is added to x.",
      ...lines,
    ),
    note:
      "Small columns: the weight of each " +
      (about.unit === "word" ? "token" : about.unit) +
      ", from left to right, in each head." +
      (at.tower === "decoder" && total > own[0].weights[0].length ? " Those behind this one are masked." : ""),
    words:
      `In ${nameOf(at, {})}, at ${fmt.quote(seen(word))}, the ${NAMES[most.kind]} adds most, a vector of length ` +
      `${fmt.num(most.added, 1)}.`,
    table: {
      head: [
        "sublayer",
        "length added",
        about.post ? "length behind it" : "length of the sum",
        ...(last.says ? [`would ${verb}`] : []),
      ],
      rows: own.map((one) => [
        NAMES[one.kind],
        fmt.num(one.added, 1),
        fmt.num(one.sum, 1),
        ...(one.says ? [says(one.says)] : []),
      ]),
    },
  };
}

// --- a head ---------------------------------------------------------------------------------------------------------

/** The numbers of one head: query, keys, values, scores, weights, mean. */
function headOf(at, stage) {
  const d = stage.query.length / stage.weights.length;
  const own = (vector_) => vector_.slice(at.head * d, (at.head + 1) * d);
  return {
    d,
    q: own(stage.query),
    k: stage.keys.map(own),
    v: stage.values.map(own),
    e: stage.scores[at.head],
    alpha: stage.weights[at.head],
    c: own(stage.context),
  };
}
const best = (values) => values.reduce((top, value, j) => (value > values[top] ? j : top), 0);
const SCORE = `e_i = frac{*q* · *k*_i}{√{d_{"k"}}}`;

const SHOWN = 14; // tokens of a head that are drawn: of more, those with the largest weights

export function head({ at, about, stage, keys, word, total }) {
  const own = headOf(at, stage);
  const drawn = [...own.alpha.keys()]
    .sort((a, b) => own.alpha[b] - own.alpha[a] || a - b)
    .slice(0, SHOWN)
    .sort((a, b) => a - b);
  const rest = own.alpha.length - drawn.length;
  const role = at.look === "cross" || at.tower === "encoder" ? "encoder" : "decoder";
  const tops = { k: Math.max(...own.k.flat().map(Math.abs)), v: Math.max(...own.v.flat().map(Math.abs)) };
  const rows = drawn.map((j, place) => {
    const k = own.k[j];
    const y = 66 + 27 * place;
    return part(
      `${at.path}.${j + 1}`,
      "score and weight",
      s("rect", { x: 0, y, width: WIDE, height: 25, rx: 4, class: "lmo-hit" }),
      text(74, y + 17, cut(seen(keys[j].text), 10), { anchor: "end", size: 12.5 }),
      vector(82, y + 2, 76, 21, k, "encoder", tops.k),
      text(200, y + 17, fmt.num(own.e[j], 1), { anchor: "end", size: 12 }),
      s("rect", {
        x: 206,
        y: y + 6,
        width: Math.max(0.5, 24 * own.alpha[j]),
        height: 13,
        class: `lmo-head lmo-${role}`,
      }),
      text(259, y + 17, fmt.num(own.alpha[j]), { anchor: "end", size: 12 }),
      vector(266, y + 2, 54, 21, own.v[j], "value", tops.v),
    );
  });
  const end = 66 + 27 * rows.length + (rest ? 18 : 0);
  const node = sheet(
    end + 40,
    text(74, 19, cut(seen(word), 10), { anchor: "end", size: 12.5, bold: true }),
    vector(82, 2, 76, 25, own.q, "decoder"),
    text(165, 19, "asks: the query q", { anchor: "start", size: 12 }),
    [
      [120, "key k"],
      [188, "score"],
      [234, "weight"],
      [293, "value v"],
    ].map(([x, name]) => text(x, 54, name, { size: 11.5, muted: true })),
    rows.map((one) => one.node),
    rest
      ? text(259, end - 4, `${rest} others share ${fmt.num(1 - drawn.reduce((sum, j) => sum + own.alpha[j], 0))}`, {
          anchor: "end",
          size: 11.5,
          muted: true,
        })
      : [],
    text(259, end + 24, "mean of the values: c", { anchor: "end", size: 12 }),
    vector(266, end + 6, 54, 25, own.c, "value", tops.v),
  );
  const top = best(own.alpha);
  return {
    node,
    parts: rows,
    tints: own.alpha,
    formula: formula(
      "e i is q times k i over the root of d k. Alpha is the softmax of e. c is the sum of alpha i v i.",
      SCORE,
      "α = [softmax](e)",
      "*c* = ∑_i α_i *v*_i",
      `d_{"k"} = ${own.d}`,
    ),
    note:
      about.kind !== "next"
        ? "The means of all heads, side by side, times Wₒ: that is what the sublayer adds."
        : "Of these keys and values " +
          (own.k.length > 1
            ? `the first ${own.k.length - 1} were kept from before, in the cache; q, k and v of ` +
              `${fmt.quote(seen(word))} are new`
            : "all are new") +
          `. In all layers the cache now holds ${fmt.count(2 * about.n_layers * about.d_model * own.k.length)} ` +
          "numbers. q and k were turned by their positions." +
          (total > own.k.length ? ` ${total - own.k.length} later characters are masked.` : ""),
    words:
      `Head ${at.head + 1} looks from ${fmt.quote(seen(word))} most at ${fmt.quote(seen(keys[top].text))}, with ` +
      `score ${fmt.num(own.e[top])} and weight ${fmt.num(own.alpha[top])}.`,
    table: {
      head: ["looked at", "score e", "weight α"],
      rows: own.e.map((e, j) => [seen(keys[j].text), fmt.num(e, 3), fmt.num(own.alpha[j], 3)]),
    },
  };
}

/** A number as a sum of products: two vectors and what each pair of entries gives. */
function products(a, b, names, roles) {
  const each = a.map((value, j) => value * b[j]);
  const lanes = [
    [names[0], a, roles[0]],
    [names[1], b, roles[1]],
    [names[2], each, "state"],
  ];
  const node = sheet(
    252,
    lanes.map(([name, values, role], k) => [
      text(0, 20 + 82 * k, name, { anchor: "start", size: 12.5 }),
      vector(0, 26 + 82 * k, WIDE, 52, values, role),
    ]),
  );
  return {
    each,
    node,
    sum: each.reduce((total, value) => total + value, 0),
    rows: each.map((value, j) => [String(j + 1), fmt.num(a[j], 3), fmt.num(b[j], 3), fmt.num(value, 3)]),
  };
}
const largest = (each) => each.map((value, j) => [value, j]).sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]))[0];

function scoreView({ at, stage, keys, word }) {
  const own = headOf(at, stage);
  const j = Math.min(at.number, own.e.length - 1);
  const made = products(
    own.q,
    own.k[j],
    [`query q of “${cut(seen(word))}”`, `key k of “${cut(seen(keys[j].text))}”`, "their products, entry by entry"],
    ["decoder", "encoder"],
  );
  const [most, place] = largest(made.each);
  return {
    node: made.node,
    parts: [],
    siblings: own.e.map((_, k) => k),
    number: j,
    tints: own.alpha,
    formula: formula(
      `The score is ${fmt.num(own.e[j])}, the weight ${fmt.num(own.alpha[j])}`,
      `e = frac{*q* · *k*}{√{d_{"k"}}} = frac{${fmt.num(made.sum)}}{√{${own.d}}} = ${fmt.num(own.e[j])}`,
      `α = frac{e^{${fmt.num(own.e[j])}}}{∑_j e^{e_j}} = ${fmt.num(own.alpha[j], 3)}`,
    ),
    words:
      `${own.d} products add up to ${fmt.num(made.sum)}; over √${own.d} that is the score ${fmt.num(own.e[j])}, ` +
      `and after the softmax a weight of ${fmt.num(own.alpha[j], 3)}. The largest product is ${fmt.num(most)}, ` +
      `at entry ${place + 1}.`,
    table: { head: ["entry", "q", "k", "product"], rows: made.rows },
  };
}

// --- the network of a position --------------------------------------------------------------------------------------

const row = (y, to, label, name, value, share, role) =>
  part(
    to,
    label,
    s("rect", { x: 0, y, width: WIDE, height: 25, rx: 4, class: "lmo-hit" }),
    text(96, y + 17, name, { anchor: "end", size: 12.5 }),
    s("rect", {
      x: 104,
      y: y + 6,
      width: Math.max(0.5, 150 * share),
      height: 13,
      rx: 2,
      class: `lmo-head lmo-${role}`,
    }),
    text(318, y + 17, value, { anchor: "end", size: 12.5 }),
  );

const activation = (about, inside) => (about.f === "gelu" ? `[gelu](${inside})` : `"max"(0, ${inside})`);

export function feed({ at, about, stage, word }) {
  const { hidden } = stage;
  const order = [...hidden.keys()].sort((a, b) => hidden[b] - hidden[a] || a - b);
  const top = hidden[order[0]] || 1;
  const on = hidden.filter((value) => value > 0).length;
  const squares = hidden.map((value, j) =>
    value > 0
      ? s("rect", {
          x: 10 * (j % 32),
          y: 24 + 10 * Math.floor(j / 32),
          width: 9,
          height: 9,
          class: "lmo-head lmo-parameter",
          "fill-opacity": (0.15 + (0.85 * value) / top).toFixed(2),
        })
      : null,
  );
  const under = 42 + 10 * Math.ceil(hidden.length / 32);
  const parts = order
    .slice(0, 6)
    .map((j, k) =>
      row(
        under + 16 + 27 * k,
        `${at.path}.${j + 1}`,
        "value",
        `unit ${j + 1}`,
        fmt.num(hidden[j]),
        hidden[j] / top,
        "parameter",
      ),
    );
  return {
    node: sheet(
      under + 22 + 27 * parts.length,
      text(0, 14, `${hidden.length} units; ${on} are above 0`, { anchor: "start", size: 12.5 }),
      s("rect", { x: 0, y: 24, width: 319, height: under - 42, fill: "none", class: "lmo-zero" }),
      squares,
      text(0, under + 6, "The largest:", { anchor: "start", size: 12.5 }),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula(
      `W 2 times ${about.f === "gelu" ? "gelu" : "the larger of 0 and"} W 1 x plus b 1, plus b 2`,
      "[FFN](*x*) = W_2 *a* + *b*_2",
      `*a* = ${activation(about, "W_1 *x* + *b*_1")}`,
    ),
    note:
      "x is " +
      (about.post ? "the stream" : "the norm of the stream") +
      " at this " +
      (about.unit === "word" ? "token" : about.unit) +
      ` alone: the network sees no other. It widens ${stage.read.length} numbers to ${hidden.length}.`,
    words:
      `At ${fmt.quote(seen(word))}, ${on} of ${hidden.length} units are above 0; the largest, unit ` +
      `${order[0] + 1}, has ${fmt.num(top)}.`,
    table: { head: ["unit", "value"], rows: order.slice(0, 40).map((j) => [String(j + 1), fmt.num(hidden[j], 3)]) },
  };
}

function unitView({ at, about, stage, word }) {
  const value = stage.hidden[stage.unit];
  const made = products(
    stage.row,
    stage.read,
    [
      `row ${stage.unit + 1} of W₁`,
      `x: the ${about.post ? "stream" : "norm of the stream"} at “${cut(seen(word))}”`,
      "their products, entry by entry",
    ],
    ["parameter", "state"],
  );
  const order = [...stage.hidden.keys()].sort((a, b) => stage.hidden[b] - stage.hidden[a] || a - b);
  return {
    node: made.node,
    parts: [],
    siblings: order,
    number: at.number,
    formula: formula(
      `The unit is ${fmt.num(value)}`,
      `a = ${activation(about, "*w* · *x* + b")}`,
      ` = ${activation(about, `${fmt.num(made.sum)} ${signed(stage.bias)}`)}`,
      ` = ${fmt.num(value)}`,
    ),
    words:
      `${stage.row.length} products add up to ${fmt.num(made.sum)}; with the bias ${fmt.num(stage.bias)} and ` +
      (about.f === "gelu" ? "after GELU" : "nothing below 0") +
      ` the unit is ${fmt.num(value)}.`,
    table: { head: ["entry", "W₁", "x", "product"], rows: made.rows },
  };
}

// --- both ends ------------------------------------------------------------------------------------------------------

/** Rows of tables, added up, as a half alone begins with them. */
function sumOfRows({ at, about, stages, word, place }) {
  const next = stages.at(-1).next;
  const last = stages.length - 1;
  const names = [
    `row of “${cut(seen(word))}” in E`,
    `row ${place + 1} of P, for its position`,
    "row 1 of S, for the first segment",
  ].slice(0, stages.length);
  const lanes = stages.map((one, k) => [names[k], one.added, ["parameter", "encoder", "value"][k]]);
  if (last) lanes.push(["the norm of their sum, which enters the first layer", next, "state"]);
  const order = [...next.keys()].sort((a, b) => Math.abs(next[b]) - Math.abs(next[a]) || a - b);
  const under = 6 + 82 * lanes.length;
  const parts = order
    .slice(0, 5)
    .map((j, k) =>
      row(
        under + 27 * k,
        `${at.path}.${j + 1}`,
        "entry",
        `entry ${j + 1}`,
        fmt.num(next[j]),
        Math.abs(next[j]) / Math.abs(next[order[0]]),
        "state",
      ),
    );
  const length = (vector_) => fmt.num(Math.hypot(...vector_), 1);
  return {
    node: sheet(
      under + 6 + 27 * parts.length,
      lanes.map(([name, values, role], k) => [
        text(0, 16 + 82 * k, name, { anchor: "start", size: 12.5 }),
        vector(0, 22 + 82 * k, WIDE, 54, values, role),
      ]),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula("x 0 is what enters the first layer", START[about.kind], `d = ${next.length}`),
    note: last
      ? "Each vector is drawn to its own scale. The first depends on the word, the second on its position, the " +
        "third is the same everywhere here."
      : "Nothing is added for the position: in every layer queries and keys are turned by it.",
    words: last
      ? `The row of ${fmt.quote(seen(word))} has length ${length(stages[0].added)}, that of position ` +
        `${place + 1} length ${length(stages[1].added)}, and the norm of the sum ${length(next)}.`
      : `The row of ${fmt.quote(seen(word))} in E has length ${length(next)}; it is all that enters.`,
    table: {
      head: ["entry", ...["E", "P", "S"].slice(0, stages.length), ...(last ? ["after the norm"] : [])],
      rows: [...next.keys()].map((j) => [
        String(j + 1),
        ...stages.map((one) => fmt.num(one.added[j], 3)),
        ...(last ? [fmt.num(next[j], 3)] : []),
      ]),
    },
  };
}

/** One entry of it, from its parts. */
function entryOfRows({ at, stages, word, place }) {
  const j = at.number;
  const next = stages.at(-1).next;
  const alone = stages.length === 1;
  const sums = next.map((_, k) => stages.reduce((sum, one) => sum + one.added[k], 0));
  const mean = sums.reduce((sum, value) => sum + value / sums.length, 0);
  const deviation = Math.sqrt(sums.reduce((sum, value) => sum + (value - mean) ** 2 / sums.length, 0));
  const names = [`“${cut(seen(word))}” in E`, `position ${place + 1}`, "segment 1"];
  const lanes = stages.map((one, k) => [names[k], one.added[j], ["parameter", "encoder", "value"][k]]);
  if (!alone) lanes.push(["sum", sums[j], "state"], ["after the norm", next[j], "state"]);
  const most = Math.max(...lanes.map(([, value]) => Math.abs(value)), 1e-9);
  const wide = (value) => (70 * Math.abs(value)) / most;
  const node = sheet(
    20 + 30 * lanes.length,
    s("line", { x1: 190, x2: 190, y1: 4, y2: 12 + 30 * lanes.length, class: "lmo-zero" }),
    lanes.map(([name, value, role], k) => [
      text(112, 22 + 30 * k, name, { anchor: "end", size: 12.5 }),
      s("rect", {
        x: value < 0 ? 190 - wide(value) : 190,
        y: 10 + 30 * k,
        width: Math.max(0.5, wide(value)),
        height: 14,
        class: `lmo-head lmo-${role}`,
      }),
      text(318, 22 + 30 * k, fmt.num(value, 3), { anchor: "end", size: 12.5 }),
    ]),
  );
  const own = stages.map((one) => one.added[j]);
  return {
    node,
    parts: [],
    siblings: [...next.keys()],
    number: j,
    formula: alone
      ? formula(`The entry is ${fmt.num(own[0], 3)}`, `x = ${fmt.num(own[0], 3)}`)
      : formula(
          `The entry is ${fmt.num(next[j], 3)}`,
          `s = ${fmt.num(own[0], 3)} ${signed(own[1], 3)} ${signed(own[2], 3)} = ${fmt.num(sums[j], 3)}`,
          `x = g frac{s ${signed(-mean, 3)}}{${fmt.num(deviation, 3)}} + b = ${fmt.num(next[j], 3)}`,
        ),
    note: alone
      ? ""
      : "The norm takes the mean of all entries from the sum and divides by their deviation; then come a gain g " +
        "and a bias b of this entry.",
    words:
      `Entry ${j + 1} of ${fmt.quote(seen(word))} is ${fmt.num(next[j], 3)}` +
      (alone
        ? ""
        : `: ${fmt.num(own[0], 3)} of the word, ${fmt.num(own[1], 3)} of the position and ${fmt.num(own[2], 3)} ` +
          "of the segment, behind the norm") +
      ".",
    table: { head: ["part", "value"], rows: lanes.map(([name, value]) => [name, fmt.num(value, 3)]) },
  };
}

export function embedding({ at, stages, word, place }) {
  const [w, p] = stages.map((one) => one.added);
  const sum = w.map((value, j) => value + p[j]);
  const top = Math.max(...[w, p, sum].flat().map(Math.abs));
  const order = [...sum.keys()].sort((a, b) => Math.abs(sum[b]) - Math.abs(sum[a]) || a - b);
  const parts = order
    .slice(0, 5)
    .map((j, k) =>
      row(
        250 + 27 * k,
        `${at.path}.${j + 1}`,
        "sum",
        `entry ${j + 1}`,
        `${fmt.num(w[j])} ${signed(p[j])} = ${fmt.num(sum[j])}`,
        (0.4 * Math.abs(sum[j])) / Math.abs(sum[order[0]]),
        "state",
      ),
    );
  const lanes = [
    [`√d times the row of “${cut(seen(word))}” in E`, w, "parameter", top],
    [`position ${place}, drawn taller: fast waves stand left`, p, "encoder", 1],
    ["their sum, which enters the first layer", sum, "state", top],
  ];
  return {
    node: sheet(
      260 + 27 * parts.length,
      lanes.map(([name, values, role, most], k) => [
        text(0, 16 + 82 * k, name, { anchor: "start", size: 12.5 }),
        vector(0, 22 + 82 * k, WIDE, 54, values, role, most),
      ]),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula(
      "x 0 is the root of d times the row of the word, plus the position",
      "*x*_0 = √{d} E_w + *p*_t",
      `p_{t, 2j} = "sin"(t ω_j),  p_{t, 2j+1} = "cos"(t ω_j)`,
      "ω_j = 10000^{−2j/d}",
    ),
    note: `d = ${w.length}. The same word at another position has the same first vector and another second one.`,
    words:
      `The row of ${fmt.quote(seen(word))} has length ${fmt.num(Math.hypot(...w), 1)}, position ${place} length ` +
      `${fmt.num(Math.hypot(...p), 1)}, and their sum ${fmt.num(Math.hypot(...sum), 1)}.`,
    table: {
      head: ["entry", "word", "position", "sum"],
      rows: sum.map((value, j) => [String(j + 1), fmt.num(w[j], 3), fmt.num(p[j], 3), fmt.num(value, 3)]),
    },
  };
}

function entryView({ at, stages, word, place }) {
  const [w, p] = stages.map((one) => one.added);
  const j = at.number;
  const omega = 10000 ** ((-2 * Math.floor(j / 2)) / w.length);
  const wave = (t) => (j % 2 ? Math.cos(t * omega) : Math.sin(t * omega));
  const x = (t) => 14 + (292 * t) / Math.max(30, place);
  const y = (value) => 80 - 50 * value;
  const end = Math.max(30, place);
  const line = Array.from(
    { length: 4 * end + 1 },
    (_, k) => `${k ? "L" : "M"}${x(k / 4).toFixed(1)} ${y(wave(k / 4)).toFixed(1)}`,
  ).join("");
  return {
    node: sheet(
      190,
      text(0, 16, `entry ${j + 1} of the position, at every position t`, { anchor: "start", size: 12.5 }),
      s("line", { x1: 14, x2: 306, y1: 80, y2: 80, class: "lmo-zero" }),
      path(line, "encoder", 2),
      s("circle", { cx: x(place), cy: y(wave(place)), r: 5, class: "lmo-head lmo-decoder" }),
      [0, 10, 20, 30].map((t) => text(x(t), 152, String(t), { size: 11.5, muted: true })),
      text(306, 172, "position t", { anchor: "end", size: 11.5, muted: true }),
    ),
    parts: [],
    siblings: [...w.keys()],
    number: j,
    formula: formula(
      `The entry is ${fmt.num(w[j] + p[j])}`,
      `p = "${j % 2 ? "cos" : "sin"}"(${place} · ${fmt.prob(omega)}) = ${fmt.num(p[j], 3)}`,
      "x = √{d} E + p",
      ` = ${fmt.num(w[j], 3)} ${signed(p[j], 3)} = ${fmt.num(w[j] + p[j], 3)}`,
    ),
    words:
      `Entry ${j + 1} of ${fmt.quote(seen(word))} at position ${place}: ${fmt.num(w[j], 3)} of the word and ` +
      `${fmt.num(p[j], 3)} of the position make ${fmt.num(w[j] + p[j], 3)}.`,
    table: {
      head: ["position t", "entry"],
      rows: Array.from({ length: 31 }, (_, t) => [String(t), fmt.num(wave(t), 3)]),
    },
  };
}

const HEAD = {
  translator: "*y* = [LN] *x*_K",
  blank: "*y* = [LN] [gelu](W *x*_K + *b*)",
  next: "*y* = [LN] *x*_K",
};
/** What stands there, or comes next in the text, and what the model gives it. */
function cameIn({ kind }, { came }, hidden) {
  if (!came) return "";
  const told = `has P = ${fmt.prob(came.p)}, rank ${fmt.count(came.rank)}`;
  if (kind === "next") return ` ${fmt.quote(seen(came.text))}, which comes next in the text, ${told}.`;
  return ` ${fmt.quote(seen(came.text))}, which ${hidden ? "is hidden" : "it reads"} there, ${told}.`;
}

export function output({ at, about, stages: [stage], word, hidden }) {
  const [behind, last] = about.kind === "blank" ? ["at", "map"] : ["behind", "sum"];
  const parts = stage.others.map((one, k) =>
    row(
      104 + 27 * k,
      `${at.path}.${k + 1}`,
      "logit and probability",
      cut(seen(one.text)),
      `${fmt.num(one.logit, 1)} → ${fmt.num(one.p, 3)}`,
      0.8 * one.p,
      "decoder",
    ),
  );
  return {
    node: sheet(
      112 + 27 * parts.length,
      text(0, 16, `y: the norm of the last ${last}, ${behind} “${cut(seen(word))}”`, { anchor: "start", size: 12.5 }),
      vector(0, 22, WIDE, 54, stage.read, "state"),
      text(318, 98, "logit → probability", { anchor: "end", size: 11.5, muted: true }),
      parts.map((one) => one.node),
    ),
    parts,
    formula: formula(
      "The logits are E times y, and P is their softmax",
      HEAD[about.kind],
      `z_w = E_w · *y*${about.kind === "blank" ? " + c_w" : ""}`,
      "P(w) = [softmax](*z*)_w",
    ),
    note:
      "E is the " +
      (about.tower === "encoder" ? "model" : "decoder") +
      `'s table of ${about.unit}s once more: a ${about.unit} is likely where its own row points the way of y.`,
    words:
      (about.kind === "blank" ? "At" : "Behind") +
      ` ${fmt.quote(seen(word))} the likeliest is ${fmt.quote(seen(stage.others[0].text))}, with logit ` +
      `${fmt.num(stage.others[0].logit)} and P = ${fmt.num(stage.others[0].p, 3)}.${cameIn(about, stage, hidden)}`,
    table: {
      head: [about.unit, "logit", "P"],
      rows: stage.others.map((one) => [seen(one.text), fmt.num(one.logit, 3), fmt.num(one.p, 4)]),
    },
  };
}

function logitView({ at, about, stages: [stage] }) {
  const j = Math.min(at.number, stage.others.length - 1);
  const one = stage.others[j];
  const made = products(
    one.row,
    stage.read,
    [
      `row of “${cut(seen(one.text))}” in E`,
      `y: the norm of the last ${about.kind === "blank" ? "map" : "sum"}`,
      "their products, entry by entry",
    ],
    ["parameter", "state"],
  );
  const biased = about.kind === "blank";
  return {
    node: made.node,
    parts: [],
    siblings: stage.others.map((_, k) => k),
    number: j,
    formula: formula(
      `The logit is ${fmt.num(one.logit)}`,
      `z = E_w · *y*${biased ? " + c_w" : ""} = ${fmt.num(made.sum)}` +
        (biased ? ` ${signed(one.bias)} = ${fmt.num(one.logit)}` : ""),
      `P = frac{e^z}{∑_u e^{z_u}} = ${fmt.num(one.p, 3)}`,
    ),
    words:
      `${one.row.length} products add up to ` +
      (biased ? `${fmt.num(made.sum)}, with the bias to ` : "") +
      `the logit of ${fmt.quote(seen(one.text))}, ${fmt.num(one.logit)}; after the softmax P = ` +
      `${fmt.num(one.p, 3)}.`,
    table: { head: ["entry", "E", "y", "product"], rows: made.rows },
  };
}

/** The view of a path, from all that is known of it. */
export function viewOf(given) {
  const { at } = given;
  const deep = at.number !== null && at.number !== undefined;
  if (at.kind === "whole") return whole(given);
  if (at.kind === "block") return block(given);
  if (at.kind === "head") return (deep ? scoreView : head)({ ...given, stage: given.stages[0] });
  if (at.kind === "feed") return (deep ? unitView : feed)({ ...given, stage: given.stages[0] });
  if (at.kind === "output") return (deep ? logitView : output)(given);
  if (given.about.tower) return (deep ? entryOfRows : sumOfRows)(given);
  return (deep ? entryView : embedding)(given);
}
