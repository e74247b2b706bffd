// ForwardPass: a feed-forward language model, number by number. Every unit is a button that says where it comes from.
import { answered, button, chips, figure, fmt, h, replace, select, table, whole } from "../kit/core.mjs";
import { drawnNet, netStyle } from "./drawnnet.mjs";
import { explain, named, num, PLACES, style as explainStyle } from "./explain.mjs";
import { forward, gives, sources } from "./pass.mjs";

const style = `
.lm-figure .lmfp-words { display: grid; grid-template-columns: minmax(0, 1fr) auto minmax(0, 1fr) auto minmax(0, 1fr);
  gap: 0.4rem; align-items: end; }
.lmfp-words .lm-control { flex-direction: column; align-items: stretch; }
.lmfp-text { font-size: 1.0625rem; }
.lm-figure .lm-body:has(> .lmfp-graph) { gap: 0.45rem; }
.lm-figure .lmfp-detail + div .lm-says { min-height: 1.45em; }
.lm-figure .lmfp-detail { min-height: 10.2rem; padding: 0.4rem 0.8rem; border-radius: 6px; background: var(--lm-soft);
  font-size: 0.875rem; }
@container (min-width: 40rem) {
  .lmfp-words .lm-control { flex-direction: row; flex-wrap: nowrap; align-items: center; }
  .lmfp-words select { flex: 1 1 4rem; }
}
`;

const about = {
  style: style + netStyle + explainStyle,
  allows: {
    chosen: (name, { W, words }) => {
      const [, letter, number] = /^([ehz])(\d+)$/.exec(name) ?? [];
      const most = { e: W[0].length, h: W.length, z: words.length - 1 }[letter];
      return whole(Number(number), letter === "z" ? 0 : 1, most);
    },
  },
};

export default figure(({ el, its, put, follow, say, wager }) => {
  const net = its; // words, E, W, U and shown do not change
  const width = net.E[0].length;
  const usable = net.words.map((word, i) => [i, word]).filter(([, word]) => word !== "<pad>" && word !== "<mask>");
  const sorted = [...usable].sort((x, y) => (x[1] < y[1] ? -1 : 1));
  const id = (word) => net.words.indexOf(word);
  const place = (j) => Math.floor((j - 1) / width); // of e_j: 0 is 3 back
  const rank = (pass) => usable.map(([w]) => w).sort((x, y) => pass.y[y] - pass.y[x] || x - y);
  let now = forward(net, its.history);
  let ranked = [];
  let before = []; // words that were written and have left the window

  // --- controls
  const pickers = PLACES.map((label, i) =>
    select({
      label,
      options: sorted.filter(([, word]) => word !== "<eos>"),
      value: its.history[i],
      onchange: (value) => start(its.history.map((old, k) => (k === i ? value : old))),
    }),
  );
  const start = (/** @type {number[]} */ history) => {
    before = [];
    put({ history });
  };
  /** @param {number} i */
  const swap = (i) => {
    const history = [...its.history];
    [history[i], history[i + 1]] = [history[i + 1], history[i]];
    start(history);
  };
  const swaps = [0, 1].map((i) =>
    button("⇄", () => swap(i), { "aria-label": `Swap the ${i ? "last" : "first"} two words` }),
  );
  const tries = chips({ label: "Try", options: its.examples, onchoose: (text) => start(text.split(" ").map(id)) });
  const look = select({
    label: "Look at the word",
    options: [[null, "(any of them)"], ...sorted],
    value: null,
    onchange: (value) => value !== null && put({ chosen: `z${value}` }),
  });
  const next = () => (its.chosen[0] === "z" ? Number(its.chosen.slice(1)) : ranked[0]);
  const write = button(
    "",
    () => {
      const word = next();
      const ends_ = word === id("<eos>");
      const history = ends_ ? PLACES.map(() => id("<sos>")) : [...its.history.slice(1), word];
      before = ends_ ? [] : [...before, its.history[0]];
      const chosen = its.chosen[0] === "z" ? `z${rank(forward(net, history))[0]}` : its.chosen;
      put({ history, chosen });
    },
    { main: true },
  );

  const drawing = drawnNet(net, now, (chosen) => put({ chosen }));
  const detail = h("div", { class: "lmfp-detail" });
  const parts = table({
    summary: "All that goes into the chosen unit",
    caption: "Weight times input, largest first",
    head: ["From", "Weight", "Input", "Product"],
  });
  const numbers = table({
    summary: "Every layer as numbers",
    caption: "The units of this forward pass; of the words, all of them",
    head: ["Unit", "Value", "What it is"],
  });
  /** How a word's part changes with its place, where a hidden unit is open. */
  function stake() {
    if (its.chosen[0] !== "h") return null;
    const i = Number(its.chosen.slice(1));
    const w = its.history[1];
    const [here, there] = [1, 2].map((p) => num(gives(net, i, w, p)));
    return {
      name: "forward-place",
      of: "history chosen",
      asks: `${fmt.quote(net.words[w])} gives this unit ${here}, 2 back. And 1 back?`,
      options: ["more", "less", "the same"],
      told: (bet) => {
        const right = Number(there.replace("−", "-")) > Number(here.replace("−", "-")) ? "more" : "less";
        const said = `1 back ${fmt.quote(net.words[w])} gives this unit ${there}`;
        return `${said}: ${right}${answered(bet, right, `, not ${bet}.`)}`;
      },
      settled: draw,
    };
  }
  const question = wager(stake());
  const line = h("p", { class: "lmfp-text" });
  el.append(
    h.onstage("Network", h("div", { class: "lmfp-words" }, [pickers.map(({ node }, i) => [node, swaps[i]])])),
    h.onstage("Network", tries.node),
    drawing.node,
    h.onstage("Network", h.row(write, line, look.node)),
    h.onstage("Network", question.node),
    h.onstage("Unit", detail),
    h.onstage("Network", say.node),
    h.folds(parts.node, numbers.node),
  );

  const word = (/** @type {number} */ i) => fmt.quote(net.words[i]);
  function draw() {
    const { history, chosen } = its;
    now = forward(net, history);
    ranked = rank(now).slice(0, net.shown);
    drawing.draw(now, ranked, chosen);
    pickers.forEach((picker, i) => picker.set(history[i]));
    const text = history.map((w) => net.words[w]).join(" ");
    tries.set(text);
    look.set(chosen[0] === "z" ? Number(chosen.slice(1)) : null);
    write.textContent = `Write ${word(next())}`;
    replace(line, [
      h("span", { class: "lm-muted" }, `${before.map((w) => net.words[w]).join(" ")} `),
      h("b", {}, text),
      ` ${before.length ? "… (grey: forgotten)" : "…"}`,
    ]);
    replace(detail, explain({ net, now, usable, history, chosen, open: question.open }));
    const from = sources(net, now, chosen).sort((x, y) => Math.abs(y.product) - Math.abs(x.product));
    parts.draw(from.map((one) => [named(one.from), num(one.weight), fmt.num(one.input, 5), fmt.num(one.product, 5)]));
    parts.node.hidden = !from.length;
    numbers.draw([
      ...now.e.map((v, j) => [
        named(`e${j + 1}`),
        fmt.num(v, 5),
        `entry ${(j % width) + 1} of ${word(history[place(j + 1)])}, ${PLACES[place(j + 1)]}`,
      ]),
      ...now.h.map((v, k) => [named(`h${k + 1}`), fmt.num(v, 5), `σ(${fmt.num(now.a[k], 5)})`]),
      ...usable.map(([w, text]) => [text, fmt.prob(now.y[w], 6), `logit ${fmt.num(now.z[w], 5)}`]),
    ]);
    const best = fmt.list(ranked.slice(0, 3).map((w) => `${word(w)} (${fmt.share(now.y[w], 3)})`));
    say(`After ${fmt.quote(text)} the likeliest: ${best}.`);
  }

  follow("history chosen", draw);
}, about);
