// NearSections: from each section of the book to those that an encoder finds nearest. All was computed beforehand:
// sections are [chapter, section, text], near has [number, cosine] for each, the nearest first.
import { button, figure, fmt, h, replace, roving, select } from "../kit/core.mjs";

const style = `
.lm-figure .lmns-text { margin: 0.2rem 0; padding: 0.6rem 0.8rem; background: var(--lm-soft); border-radius: 6px; }
.lm-figure .lmns-near { display: grid; gap: 0.35rem; margin: 0; padding: 0; }
.lm-figure .lmns-near button { display: grid; grid-template-columns: 3rem 1fr; gap: 0 0.7rem; text-align: left;
  align-items: baseline; width: 100%; margin: 0; }
.lm-figure .lmns-near .lm-bar-track { display: block; height: 0.5rem; }
.lmns-near small { display: block; color: var(--lm-muted); font-size: 0.8125rem; }
@media screen { /* while a bet is open */
  .lm-figure .lmns-near.lm-covered { visibility: visible; }
  .lm-figure .lmns-near.lm-covered::before { content: none; }
  .lm-figure .lmns-near.lm-covered :is(b, i) { visibility: hidden; }
}
`;

export default figure(({ el, get, put, listen, say, wager }) => {
  const name = (i) => `${get("sections")[i][0]}: ${get("sections")[i][1]}`;
  const which = select({
    label: "Chapter and section",
    value: get("chosen"),
    options: get("sections").map((_, i) => [i, name(i)]),
    onchange: (chosen) => put({ chosen }),
  });
  const text = h("p", { class: "lmns-text" });
  const heading = h("p", { class: "lm-small lm-muted" }, "Nearest in other chapters, with their cosines");
  const list = h("div", { class: "lmns-near", role: "group", "aria-label": "Nearest sections" });
  const group = roving(list, "button");
  const first = get("near")[get("chosen")];
  const truth = first[0][0];
  let picked = null;
  let question = null;
  question = wager({
    name: "nearby",
    asks: `Press the one that is nearest to ${fmt.quote(get("sections")[get("chosen")][1])}.`,
    options: [[() => picked, "Show"]],
    by: list,
    told: (answer) =>
      `${answer === truth ? "Yes, " : ""}${fmt.quote(name(truth))}, with cosine ${fmt.num(first[0][1])}.` +
      (answer === null || answer === truth
        ? ""
        : ` You said ${fmt.quote(name(answer))}, ${fmt.num(first.find(([i]) => i === answer)?.[1])}.`),
    hides: [list, say.node],
    settled: () => question && draw(),
  });
  el.append(which.node, text, question.node, heading, list, say.node);

  function draw() {
    const at = get("chosen");
    which.set(at);
    text.textContent = get("sections")[at][2];
    const near = get("near")[at];
    const betting = question.open;
    const press = (/** @type {number} */ i) => {
      picked = i;
      if (betting) draw();
      else put({ chosen: i });
    };
    const had = list.contains(document.activeElement);
    replace(list, [
      (betting ? near.toSorted(([a], [b]) => a - b) : near).map(([i, cosine]) => {
        const one = button("", () => press(i), betting ? { pressed: i === picked } : {});
        const bar = h("i", { class: "lm-bar-fill", style: { width: `${100 * Math.max(0, cosine)}%` } });
        one.append(
          h("span", {}, h("b", {}, fmt.num(cosine)), h("i", { class: "lm-bar-track", "aria-hidden": "true" }, bar)),
          h("span", {}, name(i), h("small", {}, get("sections")[i][2])),
        );
        return one;
      }),
    ]);
    group.refresh();
    if (had) group.focus(group.index);
    say(`${fmt.quote(name(near[0][0]))} is nearest to ${fmt.quote(name(at))}: ${fmt.num(near[0][1])}.`);
  }

  listen("sections near chosen", draw);
  draw();
}, style);
