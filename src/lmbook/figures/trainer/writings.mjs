// writings.mjs: what a network in training writes, and how often it is right.
import { bars, fmt, h, replace, table } from "../kit/core.mjs";

/** What a network can do by now: names, a text, symbols backwards, or right answers by length. */
export function result() {
  const head = h("p", { class: "lmt-head" });
  const words = h("div", {});
  const shares = bars({ label: "How often it is right" });
  const note = h("p", { class: "lm-small lm-muted" }, "Underlined: a name of the data.");
  const earlier = table({
    summary: "What it wrote before",
    caption: "Beside each other: after how many steps it wrote what",
  });
  /** Marked where it differs: letter by letter, or word by word. */
  const wrong = (text, wanted, words) => {
    const cut = (all) => (words ? all.split(/(?= )/) : [...all]);
    const right = cut(wanted);
    return cut(text).map((part, i) => (part === right[i] ? part : h("mark", {}, part)));
  };
  return {
    node: h("div", { class: "lmt-result" }, head, words, note, shares.node, earlier.node),
    draw({ label, samples = [], right = [], written = [] }, { unit, tone, headed }) {
      earlier.node.hidden = written.length < 2;
      earlier.draw(
        written.map(([step, texts]) => [fmt.count(step), texts.slice(0, 8).join(texts.length > 1 ? ", " : "")]),
        ["steps", "text"],
      );
      head.textContent = label;
      head.hidden = !headed;
      replace(words, [
        samples[0]?.source
          ? samples.map(({ source, wanted, text }) => {
              const spaced = source.includes(" ");
              const dress = spaced ? "" : "lmt-letters";
              return h("p", { class: "lm-small" }, [
                "reads ",
                h("span", { class: dress }, source),
                h("br", {}),
                "writes ",
                h("span", { class: dress, "aria-label": text }, wrong(text, wanted, spaced)),
                text === wanted ? ", right" : spaced ? `; there stood: ${wanted}` : "",
              ]);
            })
          : samples.length > 1 || samples[0]?.known !== undefined
            ? h("ul", { class: "lmt-names" }, [
                samples.map(({ text, known }) => h("li", { class: known ? "lmt-known" : null }, text)),
              ])
            : samples.map(({ text }) =>
                h(
                  "div",
                  { class: "lmt-text", tabindex: "0", role: "region", "aria-label": "what the network writes" },
                  [text],
                ),
              ),
      ]);
      note.hidden = !samples.some(({ known }) => known);
      shares.node.hidden = !right.length;
      shares.draw(
        right.map(([length, share]) => ({
          label: `${unit} ${length}`.trim(),
          value: share,
          text: fmt.percent(share),
          tone,
        })),
        { max: 1 },
      );
    },
  };
}
