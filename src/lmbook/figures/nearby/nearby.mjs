// NearSections: from each section of the book to those that an encoder finds nearest. All was computed beforehand:
// sections are [chapter, section, text], near has [number, cosine, place by TF-IDF, words in common] for each, nearest
// first.
import { answered, button, figure, fmt, h, replace, roving, select } from "../kit/core.mjs";

const TWICE = 600; // ms after a bet in which a second press of a hasty hand goes nowhere
const NAMED = 3; // words in common that are named beside a place, where they are not in sight
const ENDS = { 1: "st", 2: "nd", 3: "rd" };
/** 1st, 2nd, 11th */
const nth = (n) => `${fmt.count(n)}${(Math.floor(n / 10) % 10 !== 1 && ENDS[n % 10]) || "th"}`;

const BY_WORDS = "TF-IDF: place by words alone.";

const style = `
.lm-figure .lmns-text { padding: 0.5rem 0.8rem; background: var(--lm-soft); border-radius: 6px;
  scroll-margin-top: 6rem; } /* the menu too comes into sight */
.lm-figure .lmns-near { display: grid; gap: 0.3rem; }
.lm-figure :is(.lmns-near button, .lmns-heads) { display: grid; width: 100%; margin: 0; gap: 0 0.8rem;
  grid-template-columns: minmax(0, 1fr) minmax(3rem, 13rem) 2.2rem; align-items: center; text-align: left; }
.lm-figure .lmns-heads { padding: 0 calc(0.7rem + 1px); color: var(--lm-muted); font-size: 0.8125rem; }
.lmns-heads > :nth-child(2) { display: flex; justify-content: space-between; }
.lm-figure .lmns-near .lm-bar-track { display: block; }
.lmns-near .lmns-among { color: var(--lm-text); font-weight: 600; }
.lmns-near :is(small, em) { color: var(--lm-muted); font-size: 0.8125rem; font-style: normal; }
.lmns-near small { display: block; }
.lmns-near .lm-bar-track + small { margin-top: 2px; }
.lmns-near em { padding-left: 0.3rem; white-space: nowrap; color: var(--lm-text); font-weight: 600; }
.lmns-near b { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; }
.lm-figure .lmns u { text-decoration: underline 2px var(--lm-1); text-underline-offset: 0.2em; }
@container (max-width: 30rem) {
  .lm-figure :is(.lmns-near button, .lmns-heads) { grid-template-columns: minmax(0, 1fr) 2.2rem; }
  .lmns-near button > :first-child, .lmns-heads > :first-child { grid-column: 1 / -1; }
}
.spare .lmns-near span:first-child small { display: none; }
@media print { .lm-figure .lmns-near button { order: var(--place); } } /* on paper nobody bets */
`;

export default figure(({ el, its, put, follow, say, wager }) => {
  const sections = its.sections;
  const name = (i) => `${sections[i][0]}: ${sections[i][1]}`;
  const among = (row) => row.filter(([, , place]) => place >= 1 && place <= row.length).length;
  const agreed = its.near.map(among);
  const usual = agreed.reduce((sum, n) => sum + n, 0) / agreed.length;
  const none = agreed.filter((n) => !n).length;
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
  let taken = -TWICE; // when one bet
  const first = its.near[start];
  const [[truth, most, byWords]] = first;
  const question = wager({
    name: "nearby",
    of: "chosen",
    asks: `Which of the five is nearest to ${fmt.quote(sections[start][1])} for the encoder? Press it.`,
    by: list,
    told: (answer) => {
      const miss = `; yours has ${fmt.num(first.find(([i]) => i === answer)?.[1])}.`;
      const rank = byWords ? `TF-IDF has it ${nth(byWords)}.` : "They have no telling word in common.";
      return `Nearest: ${fmt.quote(name(truth))}, ${fmt.num(most)}${answered(answer, truth, miss)} ${rank}`;
    },
    hides: [say.node],
    settled: (_, fresh) => {
      if (fresh) taken = performance.now();
      draw(fresh);
      if (fresh) question.node.scrollIntoView({ block: "nearest" });
    },
  });
  const key = h("span", {});
  const heads = h("div", { class: "lmns-heads", "aria-hidden": "true" }, [
    key,
    h("span", {}, h("span", {}, "0"), h("span", {}, "cosine"), h("span", {}, "1")),
  ]);
  el.append(which.node, h("div", { class: "lm-stack lmns" }, text, question.node, heads, list, say.node));

  const parts = (own) => own.split(/([\p{L}\p{N}_]+)/u);
  /** A text, those of its words underlined that are in common. */
  const underlined = (own, common) =>
    parts(own).map((part) => (part && common.includes(part.toLowerCase()) ? h("u", {}, part) : part));

  /** The place by words, and those in common that the part in sight of that paragraph does not have. */
  function ranked(place, near, own, common) {
    if (!place) return "no telling word in common";
    const seen = parts(own.toLowerCase());
    const unseen = common.filter((word) => !seen.includes(word));
    const more = unseen.length > NAMED ? " …" : "";
    const words = unseen.length ? `, in the rest: ${unseen.slice(0, NAMED).join(", ")}${more}` : "";
    return [h("span", { class: near ? "lmns-among" : null }, `TF-IDF: ${nth(place)}`), words];
  }

  function go(i) {
    if (question.open) return question.take(i);
    if (performance.now() - taken < TWICE) return undefined;
    const had = list.contains(document.activeElement);
    put({ chosen: i });
    if (had) group.focus(0);
    return text.scrollIntoView({ block: "nearest" });
  }

  /** bet: it was just taken, and keeps the focus. */
  function draw(bet = false) {
    const at = its.chosen;
    which.set(at);
    const shown = its.near[at].map(([i, cosine, place, common]) => [i, cosine, place, common.split(" ")]);
    const common = shown.flatMap((row) => row[3]);
    replace(text, underlined(sections[at][2], common));
    const betting = question.open;
    const then = betting ? "" : " Press a section to choose it.";
    replace(key, `Underlined: telling words in both paragraphs. ${BY_WORDS}${then}`);
    const had = list.contains(document.activeElement);
    const hidden = betting ? " lm-covered" : "";
    const rows = shown.map(([i, cosine, place, common], k) => {
      const bar = h("i", { class: `lm-bar-fill${hidden}`, style: { width: `${100 * Math.max(0, cosine)}%` } });
      const near = place >= 1 && place <= shown.length;
      const node = button(
        [
          h("span", {}, [
            name(i),
            question.answer === i && at === start ? h("em", {}, " your bet") : null,
            h("small", {}, underlined(sections[i][2], common)),
          ]),
          h("span", {}, [
            h("i", { class: "lm-bar-track" }, bar),
            h("small", { class: hidden.trim() }, ranked(place, near, sections[i][2], common)),
            h("span", { class: `lm-hidden${hidden}` }, ", cosine "),
          ]),
          h("b", { class: hidden.trim() }, fmt.num(cosine)),
        ],
        () => go(i),
      );
      node.style.setProperty("--place", String(k));
      return { i, node };
    });
    if (betting) rows.sort((a, b) => a.i - b.i); // as they stand in the book
    replace(
      list,
      rows.map(({ node }) => node),
    );
    group.refresh();
    if (had)
      group.focus(bet && question.answer !== null ? rows.findIndex(({ i }) => i === question.answer) : group.index);
    const rest = `on average ${fmt.num(usual, 1)}, in ${none} of ${agreed.length} sections none`;
    say(`TF-IDF finds ${among(shown)} of these five; ${rest}.`);
  }

  follow("sections near chosen", () => draw());
}, style);
