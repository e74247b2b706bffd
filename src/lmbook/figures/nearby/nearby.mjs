// NearSections: from each section of the book to those that an encoder finds nearest. All was computed beforehand:
// sections are [chapter, section, text], near has [number, cosine, share of the words that it has in common] for each,
// the nearest first.
import { answered, button, figure, fmt, h, replace, roving, select } from "../kit/core.mjs";

const LONG = 5; // letters of a word that is looked for in both texts

const style = `
.lm-figure .lmns-text { padding: 0.5rem 0.8rem; background: var(--lm-soft); border-radius: 6px; }
.lm-figure .lmns-near { display: grid; gap: 0.3rem; }
.lm-figure :is(.lmns-near button, .lmns-heads) { display: grid; width: 100%; margin: 0; gap: 0 0.8rem;
  grid-template-columns: minmax(0, 1fr) minmax(3rem, 13rem) 2.2rem; align-items: center; text-align: left; }
.lm-figure .lmns-heads { padding: 0 0.7rem; border: 1px solid transparent; color: var(--lm-muted);
  font-size: 0.8125rem; }
.lmns-heads > :nth-child(2) { display: flex; justify-content: space-between; }
.lm-figure .lmns-near .lm-bar-track { display: block; }
.lmns-near .lm-bar-track + i { display: block; height: 3px; margin-top: 2px; background: var(--lm-text); }
.lmns-near :is(small, em) { color: var(--lm-muted); font-size: 0.8125rem; font-style: normal; }
.lmns-near small { display: block; }
.lmns-near em { padding-left: 0.6rem; color: var(--lm-text); font-weight: 600; }
.lmns-near b { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; }
.lm-figure .lmns u { text-decoration: underline 2px var(--lm-1); text-underline-offset: 0.2em; }
@container (max-width: 30rem) {
  .lm-figure :is(.lmns-near button, .lmns-heads) { grid-template-columns: minmax(0, 1fr) 2.2rem; }
  .lmns-near button > :first-child, .lmns-heads > :first-child { grid-column: 1 / -1; }
}
.spare .lmns-near small { display: none; }
`;

/** The long words of a text, without the ending of a plural. */
const long = (text) =>
  (text.toLowerCase().match(/\p{L}+/gu) ?? [])
    .filter((word) => word.length >= LONG)
    .map((word) => word.replace(/s$/, ""));

export default figure(({ el, its, put, follow, say, wager }) => {
  const sections = its.sections;
  const name = (i) => `${sections[i][0]}: ${sections[i][1]}`;
  const which = select({
    label: "Chapter and section",
    value: its.chosen,
    options: sections.map((_, i) => [i, name(i)]),
    onchange: (chosen) => put({ chosen }),
  });
  const text = h("p", { class: "lmns-text" });
  const list = h.group("lmns-near", "Nearest sections in other chapters");
  const group = roving(list, "button");
  const start = its.chosen;
  const first = its.near[start];
  const truth = first[0][0];
  const near = (/** @type {number | null} */ i) => fmt.num(first.find(([other]) => other === i)?.[1]);
  let picked = null;
  const question = wager({
    name: "nearby",
    of: "chosen",
    asks: `Which of the five is nearest to ${fmt.quote(sections[start][1])}? Press it.`,
    options: [[() => picked, "Show"]],
    by: list,
    told: (answer) =>
      `Nearest: ${fmt.quote(name(truth))}, ${fmt.num(first[0][1])}` +
      answered(answer, truth, `; yours, ${first.findIndex(([i]) => i === answer) + 1} of 5, has ${near(answer)}.`),
    hides: [say.node],
    settled: (answer) => {
      picked = answer;
      draw();
    },
  });
  picked = question.answer;
  const key = h("span", {});
  const heads = h("div", { class: "lmns-heads", "aria-hidden": "true" }, [
    key,
    h("span", {}, h("span", {}, "0"), h("span", {}, "cosine"), h("span", {}, "1")),
  ]);
  el.append(which.node, h("div", { class: "lm-stack lmns" }, text, question.node, heads, list, say.node));

  /** A text, those of its words underlined that the other one has too. */
  function both(own, other) {
    const there = new Set(long(other));
    return own.split(/(\p{L}+)/u).map((part) => (there.has(long(part)[0]) ? h("u", {}, part) : part));
  }

  function draw() {
    const at = its.chosen;
    which.set(at);
    text.textContent = sections[at][2];
    const shown = its.near[at];
    const betting = question.open;
    const press = (/** @type {number} */ i) => {
      picked = i;
      if (betting) draw();
      else put({ chosen: i });
    };
    const then = betting ? "" : " Press a section to go there.";
    key.textContent = `Underlined: words in common. Thin line: their share of its words.${then}`;
    const own = sections[at].slice(1).join(" ");
    const had = list.contains(document.activeElement);
    const hidden = betting ? " lm-covered" : "";
    replace(list, [
      (betting ? shown.toSorted(([a], [b]) => a - b) : shown).map(([i, cosine, shared]) => {
        const bar = h("i", { class: `lm-bar-fill${hidden}`, style: { width: `${100 * Math.max(0, cosine)}%` } });
        return button(
          [
            h("span", {}, [
              `${sections[i][0]}: `,
              both(sections[i][1], own),
              picked === i && at === start ? h("em", {}, "your bet") : null,
              h("small", {}, both(sections[i][2], own)),
            ]),
            h("span", {}, [
              h("i", { class: "lm-bar-track" }, bar),
              shared ? h("i", { style: { width: `${100 * shared}%` } }) : h("small", {}, "no word in common"),
            ]),
            h("b", { class: hidden.trim() }, fmt.num(cosine)),
          ],
          () => press(i),
          betting ? { pressed: i === picked } : {},
        );
      }),
    ]);
    group.refresh();
    if (had) group.focus(group.index);
    const ends = [shown[0], shown.at(-1)].map(([, cosine]) => fmt.num(cosine));
    say(`Five neighbours of ${fmt.quote(name(at))}, with cosines from ${ends.join(" to ")}.`);
  }

  follow("sections near chosen", draw);
}, style);
