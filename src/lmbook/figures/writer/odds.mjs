// odds.mjs: what may come next, as bars of what is drawn from with marks of what the model says, and as a table.
import { bars, fmt, h, table } from "../kit/core.mjs";

const SHOWN = 8; // bars
const SCALES = [0.2, 0.5, 1]; // where the longest bar may end

/** named(id): how a token is shown.  draw(order, own, p): ids from the likeliest on, P of the model, and drawn from. */
export function oddsOf(named) {
  const chart = bars({ label: "The likeliest next characters" });
  const key = h.small();
  const all = table({
    summary: "All characters that may come next",
    caption: "What the model says, and what is drawn from",
    head: ["Character", "Model", "Drawn from"],
  });
  return {
    node: h("div", {}, h("p", { class: "lmw-head" }, "Next character"), chart.node, key),
    table: all.node,
    parts: [chart.node, key, all.node],
    draw(order, own, p) {
      const scale = SCALES.find((one) => one >= Math.max(...p, ...own));
      key.textContent = `Bar, to ${scale}: what is drawn from. Mark: what the model says.`;
      const row = (id) => ({
        ...{ label: named(id), value: p[id], mark: own[id], title: `the model says ${fmt.prob(own[id], 2)}` },
        ...(p[id] > 0 ? { tone: 1, text: fmt.share(p[id], 3) } : { tone: "faint", text: "cut" }),
      });
      chart.draw(order.slice(0, SHOWN).map(row), { max: scale });
      all.draw(order.map((id) => [named(id), fmt.prob(own[id]), p[id] > 0 ? fmt.prob(p[id]) : "cut"]));
    },
  };
}
