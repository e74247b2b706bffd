// scores.mjs: what the bets come to beside the models: the loss on a word, and the perplexity.
import { bars, fmt, h, table } from "../kit/core.mjs";
import { loss, losses, perplexity, pp } from "./rules.mjs";

/**
 * draw(positions, mine, { revealed, over }): the places of the text, what the reader gave to the words that came.
 * @param {string[]} names  of the models
 * @param {number[]} TONES  of the models
 * @param {number} V  words of the vocabulary
 */
export function scores(names, TONES, V) {
  const who = ["you", ...names];
  const tones = [2, ...TONES];
  const costs = bars({ label: "Loss on this word" });
  const totals = bars({ label: "Perplexity" });
  const part = (words, chart) => h("div", {}, h("p", { class: "lm-part" }, words), chart.node);
  const lossPart = part("Loss on this word, −ln P in nats", costs);
  const total = part("", totals);
  const numbers = table({ caption: "Loss in nats, word by word", head: ["Word", "Your P", "You", ...names] });
  /** Bars up to `top`, or broken. */
  const drawn = (chart, values, text, top) =>
    chart.draw(
      who.map((label, i) => {
        const value = values[i] || 0; // nothing is bet yet
        return { label, value, text: text(values[i]), tone: tones[i], broken: value > top };
      }),
      { max: top },
    );

  function draw(positions, mine, { revealed, over }) {
    const n = mine.length;
    const you = mine.map(loss);
    const others = losses(names, positions.slice(0, n || positions.length)); // before a bet: all that is to be beaten
    const values = [you, ...others];
    const nats = (x) => (Number.isFinite(x) ? fmt.num(x) : "infinite");
    lossPart.hidden = !revealed;
    numbers.node.style.visibility = n ? "" : "hidden"; // it keeps its place
    if (over) numbers.node.open = true;
    total.firstChild.textContent = `Perplexity ${
      n ? (over ? `over all ${n} words` : `after ${fmt.some(n, "word")}`) : `on the ${positions.length} words to come`
    }; lower is better`;
    const all = values.map(perplexity);
    drawn(totals, all, (x) => (Number.isNaN(x) ? "?" : pp(x)), Math.max(...all.slice(1)));
    if (!n) return;
    // a good loss ends well before one that is infinite
    drawn(
      costs,
      values.map((one) => one[n - 1]),
      nats,
      1.7 * Math.log(V),
    );
    numbers.draw(
      you.map((x, i) => [positions[i].truth, fmt.prob(mine[i]), fmt.num(x), ...others.map((one) => fmt.num(one[i]))]),
    );
  }

  return { total, loss: lossPart, table: numbers.node, draw };
}
