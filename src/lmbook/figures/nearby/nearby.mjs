// NearSections: from each section of the book to those that an encoder finds nearest. All was computed beforehand:
// sections are [chapter, section, text], near has [number, cosine] for each, the nearest first.
import { button, figure, fmt, h, replace, roving, select } from "../kit/core.mjs";

const style = `
.lm-figure .lmns-text { margin: 0.2rem 0; padding: 0.6rem 0.8rem; background: var(--lm-soft); border-radius: 6px; }
.lm-figure .lmns-near { display: grid; gap: 0.35rem; margin: 0; padding: 0; }
.lm-figure .lmns-near button { display: grid; grid-template-columns: 3rem 1fr; gap: 0.5rem; text-align: left;
  align-items: baseline; width: 100%; margin: 0; }
.lmns-near small { display: block; color: var(--lm-muted); font-size: 0.8125rem; }
`;

export default figure(({ el, get, put, listen, say }) => {
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
  el.append(which.node, text, heading, list, say.node);

  function draw() {
    const at = get("chosen");
    which.set(at);
    text.textContent = get("sections")[at][2];
    const near = get("near")[at];
    replace(list, [
      near.map(([i, cosine]) => {
        const one = button("", () => put({ chosen: i }));
        one.append(h("b", {}, fmt.num(cosine)), h("span", {}, name(i), h("small", {}, get("sections")[i][2])));
        return one;
      }),
    ]);
    group.refresh();
    const [[first, cosine]] = near;
    say(`Nearest to ${fmt.quote(name(at))} is ${fmt.quote(name(first))}, with cosine ${fmt.num(cosine)}.`);
  }

  listen("sections near chosen", draw);
  draw();
}, style);
