// heads.mjs: one head of an attention, and one score.
import { fmt, s } from "../kit/core.mjs";
import { formula } from "../kit/formula.mjs";
import { WIDE, bar, bet, hit, part, sheet, text, vector } from "./shapes.mjs";
import { cut, seen } from "./path.mjs";
import { falling, products } from "./sums.mjs";

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
const SCORE = `e_i = frac{*q* · *k*_i}{√{d_{"k"}}}`;

const SHOWN = 10; // tokens of a head that are drawn: of more, those with the largest weights

export function head({ at, about, stage, keys, word, total, said }) {
  const own = headOf(at, stage);
  const order = falling(own.alpha);
  const drawn = order.slice(0, SHOWN).sort((a, b) => a - b);
  const rest = own.alpha.length > SHOWN && own.alpha.length - SHOWN;
  const shared = drawn.reduce((sum, j) => sum + own.alpha[j], 0);
  const role = at.look === "cross" || at.tower === "encoder" ? "encoder" : "decoder";
  const [topOfK, topOfV] = [own.k, own.v].map((vectors) => Math.max(...vectors.flat().map(Math.abs)));
  const rows = drawn.map((j, place) => {
    const y = 60 + 25 * place;
    return part(
      `${at.path}.${j + 1}`,
      "weight and score",
      hit(y, 24),
      text(74, y + 17, cut(seen(keys[j].text), 10), "end"),
      bar(82, y + 6, 88 * own.alpha[j], 13, `told ${role}`),
      text(204, y + 17, fmt.share(own.alpha[j]), "end small told"),
      text(240, y + 17, fmt.num(own.e[j], 1), "end small told"),
      vector(250, y + 2, 32, 21, own.k[j], "encoder", topOfK),
      vector(288, y + 2, 32, 21, own.v[j], "value", topOfV),
    );
  });
  const end = 60 + 25 * rows.length + (rest ? 18 : 0);
  const node = sheet(
    end + 40,
    text(74, 19, cut(seen(word), 10), "end bold"),
    vector(82, 2, 76, 25, own.q, "decoder"),
    text(165, 19, "asks: the query q", "start small"),
    Object.entries({ "weight α": 126, "score e": 226, k: 266, v: 304 }).map(([name, x]) =>
      text(x, 51, name, "small muted"),
    ),
    rows.map((one) => one.node),
    s.text(126, 64 + 12.5 * rows.length, "?", "middle", { class: "lmo-asked" }),
    drawn.includes(said) ? bet(1, 60 + 25 * drawn.indexOf(said), WIDE - 2, 24) : [],
    rest && text(240, end - 4, `${rest} others share ${fmt.num(1 - shared)}`, "end small muted"),
    text(280, end + 24, "mean of the values: c", "end small"),
    vector(288, end + 6, 32, 25, own.c, "value", topOfV),
  );
  const [top] = order;
  const numbers = fmt.count(2 * about.n_layers * about.d_model * own.k.length);
  const cached = `the first ${own.k.length - 1} were kept from before, in the cache`;
  const kept = own.k.length > 1 ? `${cached}; q, k and v of ${fmt.quote(seen(word))} are new` : "all are new";
  return {
    node,
    parts: rows,
    tints: own.alpha,
    formula: formula(
      "e i is q times k i over the root of d k. Alpha is the softmax of e. c is the sum of alpha i v i.",
      SCORE,
      `α = [softmax](e),  *c* = ∑_i α_i *v*_i,  d_{"k"} = ${own.d}`,
    ),
    note:
      about.kind !== "next"
        ? "The sublayer adds the means of all heads, side by side, times Wₒ."
        : `Of these keys and values ${kept}. In all layers the cache now holds ${numbers} numbers. q and k were ` +
          "turned by their positions." +
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

export function scoreView({ at, stage, keys, word }) {
  const own = headOf(at, stage);
  const j = Math.min(at.number, own.e.length - 1);
  const made = products({
    q: [own.q, `query q of “${cut(seen(word))}”`, "decoder"],
    k: [own.k[j], `key k of “${cut(seen(keys[j].text))}”`, "encoder"],
  });
  const [place] = falling(made.each.map(Math.abs));
  const most = fmt.num(made.each[place]);
  return {
    ...made,
    note: `The products add up to ${fmt.num(made.sum)}; the largest is ${most}, at entry ${place + 1}.`,
    siblings: own.e.map((_, k) => k),
    number: j,
    tints: own.alpha,
    formula: formula(
      `The score is ${fmt.num(own.e[j])}, the weight ${fmt.num(own.alpha[j])}`,
      `e = frac{*q* · *k*}{√{d_{"k"}}} = frac{${fmt.num(made.sum)}}{√{${own.d}}} = ${fmt.num(own.e[j])}`,
      `α = frac{e^{${fmt.num(own.e[j])}}}{∑_j e^{e_j}} = ${fmt.num(own.alpha[j], 3)}`,
    ),
    words:
      `${own.d} products make the score ${fmt.num(own.e[j])} and, after the softmax, the weight ` +
      `${fmt.num(own.alpha[j], 3)}.`,
  };
}
