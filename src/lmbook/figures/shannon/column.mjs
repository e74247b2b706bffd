// column.mjs: the words that may come, with the reader's points, and after the bet what the models gave to each.
import { button, fmt, h, replace, roving } from "../kit/core.mjs";

const NAMES = { "<unk>": "<unk>, a rare word", "<eos>": "<eos>, the line ends" };
const FEW = 6; // words on a phone, at first

/**
 * give(word, points), enter(): what a reader does here.  narrow(): whether only few words have room.
 * draw({ words, own, points, rest, now, revealed }): the words, the last `own` of them the reader's; the points on each
 * and those left; the place of the text, or null at its end; whether the bet is out.
 * @param {{ names: string[], tones: number[], give: (word: string, points: number) => void, enter: () => void,
 *   narrow: () => boolean }} about
 */
export function column({ names, tones, give, enter, narrow }) {
  const lines = []; // one for each word, in front of the others' line
  let words = [];
  let few = true;
  const track = (fill = null) => h("span", { class: "lm-bar-track", "aria-hidden": "true" }, fill);
  const note = () => h("span", { class: "lm-bet-note" });
  const input = (/** @type {number} */ i) => lines[i].querySelector("input");
  const rest = h("span", { class: "lm-bar-fill" });
  const free = h("span", { class: "lm-points" });
  const told = note();
  const other = h("div", { class: "lm-bet lm-bet-rest" }, h("span", {}, "any other word"), track(rest), free, told);
  const list = h.group(
    "lm-bets",
    "Your points, one tab stop: up and down choose a word, left and right move points, digits set tens, Enter bets",
    other,
  );
  const group = roving(list, ".lm-bet:not([hidden]) input", { keys: "vertical" });
  const more = button("", () => {
    few = false;
    fold();
    input(FEW).focus();
  });
  let stays = (/** @type {number} */ i) => i >= 0;
  function fold() {
    lines.forEach((line, i) => {
      line.hidden = narrow() && few && !stays(i);
    });
    const folded = lines.filter((line) => line.hidden).length;
    more.hidden = !folded || lines.some((_, i) => input(i).disabled);
    more.textContent = `${folded} more words`;
  }

  list.addEventListener("keydown", (event) => {
    const at = lines.findIndex((line) => line.contains(/** @type {Node} */ (event.target)));
    if (event.altKey || event.ctrlKey || event.metaKey || at < 0) return;
    if (event.key === "Enter") enter();
    else if (/^[0-9]$/.test(event.key)) give(words[at], 10 * Number(event.key));
    else return;
    event.preventDefault();
  });

  function line(i) {
    const range = h("input", { type: "range", min: 0, max: 100, oninput: () => give(words[i], Number(range.value)) });
    const number = h("span", { class: "lm-points", "aria-hidden": "true" });
    return h("div", { class: "lm-bet" }, h("span", {}), range, track(), number, note());
  }

  const said = (p) => (p >= 0.0995 ? fmt.percent(p) : p >= 0.00095 ? fmt.percent(p, 1) : "< 0.1 %");
  const theirs = (p) => names.map((name, m) => [h("span", { class: "lm-each" }, `${name} ${said(p[m])}`), " "]);

  function draw({ words: all, own, points, rest: left, now, revealed }) {
    words = all;
    while (lines.length > words.length) lines.pop().remove();
    while (lines.length < words.length) {
      lines.push(line(lines.length));
      other.before(lines.at(-1));
    }
    const came = words.map((word) => revealed && word === now.truth);
    words.forEach((word, i) => {
      const [label, range, bar, number, told] = lines[i].children;
      const n = points[word] ?? 0;
      const name = NAMES[word] ?? word;
      label.textContent = name;
      range.value = n;
      range.disabled = revealed;
      range.hidden = revealed;
      bar.hidden = !revealed;
      const models = came[i] ? now.truth_p : now.words[i] === word ? now.p[i] : [];
      replace(bar, [
        h("span", { class: "lm-bar-fill", "data-tone": 2, style: { width: `${n}%` } }),
        models.map((p, m) =>
          h("i", { class: "lm-mark", "data-tone": tones[m], style: { left: `calc(${100 * p}% - 1.5px)` } }),
        ),
      ]);
      range.setAttribute("aria-label", name);
      range.setAttribute("aria-valuetext", `${fmt.some(n, "point")}, ${left} left for other words`);
      number.textContent = n;
      lines[i].classList.toggle("lm-came", came[i]);
      replace(told, came[i] && theirs(now.truth_p));
    });
    stays = (i) => i < FEW || i >= words.length - own || points[words[i]] > 0 || came[i];
    fold();
    if (!now) return;
    rest.style.width = `${left}%`;
    free.textContent = left;
    const outside = revealed && !came.includes(true);
    other.classList.toggle("lm-came", outside);
    other.classList.toggle("lm-none", left === 0);
    const shared = !revealed && "shared by all other words, as often as each occurs";
    replace(told, outside ? [`it was ${fmt.quote(now.truth)}: `, theirs(now.truth_p)] : shared);
    group.refresh();
  }

  return {
    node: h("div", {}, list, more),
    draw,
    refresh: group.refresh,
    focus: group.focus,
    focusOn: (/** @type {string} */ word) => input(words.indexOf(word)).focus(),
  };
}
