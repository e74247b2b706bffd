// whole.mjs: the whole model, and one block of it.
import { fmt, s } from "../kit/core.mjs";
import { leftOut } from "../kit/format.mjs";
import { formula } from "../kit/formula.mjs";
import { arrow, bar, bet, box, columns, part, path, plus, sheet, text } from "./shapes.mjs";
import { NAMES, cut, seen } from "./path.mjs";

/** Softmax of E times the head of the last x: how each model says what comes. */
const OUTPUT = {
  translator: ["P(y_t | y_{<t}, x) = [softmax](E [LN] *x*_K)"],
  blank: ["*z* = [LN] [gelu](W*x*_K + *b*)", "P(w_t | [the others]) = [softmax](E*z* + *c*)"],
  next: ["P(w_{t+1} | w_{≤t}) = [softmax](E [LN] *x*_K)"],
};
const STREAM = {
  pre: "*x*_k = *x*_{k−1} + f_k([LN] *x*_{k−1})",
  post: "*x*_k = [LN](*x*_{k−1} + f_k(*x*_{k−1}))",
};
export const START = {
  translator: "*x*_0 = √{d} E_w + *p*_t",
  blank: "*x*_0 = [LN](E_w + P_t + S_1)",
  next: "*x*_0 = E_w",
};
const sure = (/** @type {number} */ p) => `P\u00a0=\u00a0${fmt.share(p)}`; // on one line
const ground = { translator: "√d E + position", blank: "LN(E + P + S)", next: "E" };

export function whole({ about, words, trace, word, hidden, left, said }) {
  const { n_layers: L, tower, kind } = about;
  const x = tower ? 160 : 248;
  const half = tower ? 92 : 62;
  const encoder = 72;
  const bottom = 66 + 50 * L; // x: of the tower that ends in the output
  const top = (k) => bottom - 50 * k + 8;
  const says = text(x, 51, kind === "blank" ? "W, LN, E, softmax" : "E, softmax", "small");
  const parts = [part("output", "output", box(x - half, 34, 2 * half, 26, "parameter"), says)];
  const told = (k) => trace.find((one) => one.kind === "feed" && one.layer === k).says;
  const own = tower || "decoder";
  const layer = (at, k, tower, high, ...shapes) =>
    part(
      `${tower}.${k}`,
      tower,
      box(at - half, top(k), 2 * half, 38, tower),
      text(at, top(k) + high, `layer ${k}`, "small bold"),
      ...shapes,
    );
  for (let k = L; k; k -= 1) {
    const { text: words, p } = told(k);
    const kinds = `told ${words === told(L).text ? own : "plain"}`;
    const says = text(x, top(k) + 26, `“${cut(seen(words), 9)}” ${fmt.share(p)}`, "small told");
    parts.push(layer(x, k, own, 13, says, bar(x - half + 5, top(k) + 31, (2 * half - 10) * p, 4, kinds)));
  }
  const below = (at, end, name) =>
    part(
      end,
      `embedding${about.starts > 1 ? " and position" : ""} of ${name}`,
      box(at - half, bottom + 18, 2 * half, 26, "parameter"),
      text(at, bottom + 35, ground[kind], "small"),
    );
  parts.push(below(x, own === "encoder" ? "source" : "target", seen(word)));
  if (!tower) {
    for (let k = L; k; k -= 1)
      parts.push(layer(encoder, k, "encoder", 14, text(encoder, top(k) + 29, "attention, FFN", "small")));
    parts.push(below(encoder, "source", seen(words.read.text)));
  }
  const stream = (at, from, to) => arrow(`M${at} ${from}V${to + 5}`, at, to, "up", "state", 2.5);
  const last = kind === "translator" ? { ...words.written, p: words.written.p ?? 0 } : told(L);
  const written = fmt.quote(seen(last.text));
  const H = top(L) - 20;
  const memory = () => [
    path(`M${encoder} ${top(L)}V${H}H160V${top(1) + 18}`, "encoder", 2.5),
    Array.from({ length: L }, (_, k) =>
      arrow(`M160 ${top(k + 1) + 18}H182`, x - half, top(k + 1) + 18, "right", "encoder", 2),
    ),
    text(encoder + 46, H - 6, "H", "bold"),
    text(encoder, 14, "encoder", "muted"),
    text(encoder, bottom + 72, `reads “${cut(seen(words.read.text))}”`),
  ];
  const ends = `${kind === "blank" ? "says" : "writes"} “${cut(seen(last.text), 9)}” ${fmt.share(last.p)}`;
  const node = sheet(
    bottom + 78,
    (tower ? [x] : [encoder, x]).map((at) => [
      stream(at, bottom + 58, bottom + 44),
      Array.from({ length: L }, (_, k) => stream(at, bottom - 50 * k + 18, bottom - 50 * k - 6)),
    ]),
    stream(x, top(L), 60),
    stream(x, 34, 22),
    tower ? [] : memory(),
    text(x, 16, ends, "bold"),
    text(x, bottom + 72, `${kind === "blank" ? "reads" : "has read"} “${cut(seen(word), 9)}”`),
    parts.map((one) => one.node),
    said ? bet(x - half - 5, top(said) - 5, 2 * half + 10, 48) : [],
  );
  return {
    node,
    parts,
    formula: formula(
      "The first x is a sum of vectors. The stream x k comes from x k minus 1 and what sublayer k makes of it. " +
        "The output is softmax of E times what the last x becomes.",
      START[kind],
      STREAM[about.post ? "post" : "pre"],
      ...OUTPUT[kind],
    ),
    note: {
      translator:
        "In each layer: the word that the decoder would write, did it end there, and its P as a bar, coloured where " +
        "it is the last one.",
      blank:
        "In each layer: what the model would say, did it end there, and its P as a bar. " +
        (hidden ? "It does not see the word that is hidden." : "It reads the word about which it speaks."),
      next: "In each layer: the character that would come next, did it end there, and its P as a bar. Dashed: masked.",
    }[kind],
    words: {
      translator: `The decoder has read ${fmt.quote(seen(word))} and writes ${written}, ${sure(last.p)}.`,
      blank: `At ${fmt.quote(seen(word))} the encoder says ${written}, ${sure(last.p)}.`,
      next:
        `The decoder has read up to ${fmt.quote(seen(word))}; next it says ${written}, ` +
        `${sure(last.p)}. ${leftOut(left)}`.trimEnd(),
    }[kind],
    table: tableOf(trace, about, true, `sublayer of the ${own}`),
  };
}

/** The sublayers, what they add and, where it is told, what would be written. */
const tableOf = (trace, about, told, first) => ({
  head: [
    first,
    "length added",
    about.post ? "length behind it" : "length of the sum",
    ...(told ? [`would ${about.kind === "blank" ? "say" : "write"}`] : []),
  ],
  rows: trace.map(({ kind, layer, added, sum, says }) => [
    `${NAMES[kind]}${layer ? `, layer ${layer}` : ""}`,
    fmt.num(added, 1),
    fmt.num(sum, 1),
    ...(told ? [says ? `${cut(seen(says.text))} ${fmt.share(says.p)}` : ""] : []),
  ]),
});

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
    const head = (weights, j) =>
      part(
        `${at.path}.${one.kind}.${j + 1}`,
        `${NAMES[one.kind]}, head ${j + 1}`,
        box(92 + 57 * j, y - 34, 53, 50, role),
        columns(96 + 57 * j, y - 30, 45, 30, weights, role, one.kind === "self" ? total : weights.length),
        text(118.5 + 57 * j, y + 12, `head ${j + 1}`, "small"),
      );
    const made = text(204, y - 3, `W₂ ${about.f === "gelu" ? "gelu(" : "max(0, "}W₁ x + b₁) + b₂`, "small");
    const feed = () => part(`${at.path}.feed`, NAMES.feed, box(92, y - 26, 224, 38, role), made);
    const heads = one.weights?.map(head) ?? [feed()];
    const norm = about.post
      ? [box(stream - 16, y - 92, 32, 22), text(stream, y - 77, "LN", "small")]
      : [arrow(`M${stream} ${y}H38`, 44, y, "right"), box(44, y - 12, 32, 24), text(60, y + 4, "LN", "small")];
    const sum = `${about.post ? "behind the norm the length is" : "the sum has length"} ${fmt.num(one.sum, 1)}`;
    const wires = [
      s("circle", { cx: stream, cy: y, r: 3, class: "lmo-head lmo-state" }),
      norm,
      arrow(`M${about.post ? stream : 76} ${y}H86`, 92, y, "right"),
      arrow(`M204 ${y - (one.weights ? 34 : 26)}V${y - 54}H${stream + 14}`, stream + 8, y - 54, "left"),
      plus(stream, y - 54),
      text(92, y + 29, NAMES[one.kind], "start small"),
      text(44, y - 60, `adds ${fmt.num(one.added, 1)}; ${sum}`, "start small muted"),
    ];
    return { heads, wires };
  });
  const parts = rows.toReversed().flatMap(({ heads }) => heads);
  const last = own.at(-1);
  const end = last.says ? `; would ${verb} “${cut(seen(last.says.text))}” ${fmt.num(last.says.p)}` : "";
  const node = sheet(
    bottom + 28,
    arrow(`M${stream} ${bottom + 6}V14`, stream, 8, "up", "state", 2.5),
    rows.map(({ wires }) => wires),
    parts.map((one) => one.node),
    text(34, bottom + 16, `“${cut(seen(word))}” comes in`, "start small"),
    text(34, 14, `goes on${end}`, "start small"),
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
      `Small columns: the weight of each ${about.unit === "word" ? "token" : about.unit}, from left to right, in ` +
      "each head." +
      (at.tower === "decoder" && total > own[0].weights[0].length ? " Those behind this one are masked." : ""),
    words: `Here the ${NAMES[most.kind]} adds most, a vector of length ${fmt.num(most.added, 1)}.`,
    table: tableOf(
      own.map((one) => ({ ...one, layer: 0 })),
      about,
      Boolean(last.says),
      "sublayer",
    ),
  };
}
