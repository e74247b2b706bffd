// The cells of a homework on its page: each code cell and each answer in words in its place between the questions.

import { h } from "./dom.mjs";
import { code, pictures, plain } from "./fields.mjs";
import { fill } from "./texts.mjs";
import { gradeId, isAnswer, isCheck, sourceOf, titles } from "./notebook.mjs";

const WRITTEN = "YOUR ANSWER HERE";
const bare = (text) => text.replace(/\s+/g, " ").trim();

/** Where each cell of the release stands on the page: {id: element}; null where the page is another one. */
export function places(article, release) {
  const codes = [...article.querySelectorAll("div.cell")];
  const words = [...article.querySelectorAll("p")].filter((p) => bare(p.textContent) === WRITTEN);
  const found = new Map();
  for (const cell of release.cells) {
    const written = isAnswer(cell) && cell.cell_type !== "code";
    const place = written ? words.shift() : cell.cell_type === "code" ? codes.shift() : null;
    if (place === undefined) return null;
    if (place) found.set(cell.id, place);
  }
  return codes.length || words.length ? null : found;
}

/** The blocks of the page between the places of cells, in their order: [[blocks], place, [blocks], place, ...]. */
function between(article, found) {
  const order = [...found.values()];
  const groups = order.map(() => []);
  groups.push([]);
  let at = 0;
  const walk = (node) => {
    for (const child of [...node.children]) {
      if (order.includes(child)) at += 1;
      else if (child.tagName === "SECTION") walk(child);
      else if (!child.matches(".lm-about, .lm-solve, .lm-version, .lm-desk, .lm-result, .lm-view, .lm-own-text"))
        groups[at].push(child);
    }
  };
  walk(article);
  return groups;
}

/** The release's texts that the notebook has not, with those that stand beside them: the page's are not shown then. */
function otherTexts(notebook, release, found) {
  const theirs = new Set(notebook.cells.map((cell) => bare(sourceOf(cell))));
  const differ = new Set();
  let together = [];
  for (const cell of [...release.cells, null]) {
    if (cell && !found.has(cell.id)) together.push(cell);
    else {
      if (together.some((one) => !theirs.has(bare(sourceOf(one))))) for (const one of together) differ.add(one.id);
      together = [];
    }
  }
  return differ;
}

/** A cell in its place. */
class View {
  constructor(desk, cell, place, title) {
    this.desk = desk;
    this.cell = cell;
    this.title = title;
    this.code = cell.cell_type === "code";
    this.answer = isAnswer(cell);
    this.open = this.answer || !gradeId(cell); // what was handed out closed stays as it is
    this.check = isCheck(cell);
    this.kind = this.check ? "Check" : this.answer ? "Your answer" : "Code";
    this.box = h("div", { className: "lm-view", role: "group" });
    this.box.setAttribute("aria-label", `${this.kind}: ${title}`);
    this.input = h("div", { className: "lm-input" });
    this.out = h("div", { className: "lm-shown" });
    this.state = h("span", { className: "lm-went" });
    this.box.append(this.input);
    place.after(this.box);
    place.classList.add("lm-replaced");
    this.place = place;
  }

  /** given: the code of it stands on the page already, in colours. */
  async draw(given) {
    const { cell, desk } = this;
    const label = `${this.kind}: ${this.title}`;
    const onChange = (text) => desk.changed(this, text);
    const own = this.answer || !given;
    if (this.code) {
      const run = h("button", { type: "button", textContent: "Run", onclick: () => desk.run(this) });
      run.setAttribute("aria-label", `Run: ${label}`);
      this.box.append(h("div", { className: "lm-keys" }, run, this.state), this.out);
      if (!own) {
        this.place.classList.remove("lm-replaced");
        return;
      }
      this.input.classList.add("lm-editor", "highlight");
      if (this.open)
        this.field = await code({
          parent: this.input,
          text: sourceOf(cell),
          label,
          onChange,
          onRun: () => desk.run(this),
        });
      else this.input.append(h("pre", { className: "lm-given", textContent: sourceOf(cell), tabIndex: 0 }));
      return;
    }
    const text = sourceOf(cell) === WRITTEN ? "" : sourceOf(cell);
    this.field = plain({ parent: this.input, text, label, onChange });
    this.pictures = h("div", { className: "lm-pictures" });
    this.box.append(this.pictures, h("div", { className: "lm-keys" }, this.state));
    pictures(this.field.area, (name, type, base64) => this.paste(name, type, base64));
    this.drawPictures();
  }

  /** A picture as Jupyter keeps it: among the cell's attachments, and its name in the text. */
  paste(name, type, base64) {
    this.cell.attachments ??= {};
    const taken = this.cell.attachments;
    const [, stem, end] = /^(.*?)(\.\w+)?$/.exec(name.replace(/[^\w.-]+/g, "-"));
    let free = `${stem}${end ?? ""}`;
    for (let n = 2; free in taken; n++) free = `${stem}-${n}${end ?? ""}`;
    taken[free] = { [type]: base64 };
    const { area } = this.field;
    area.setRangeText(`![${stem}](attachment:${free})`, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
    this.drawPictures();
    this.desk.say("The picture is in your answer. The grader's program reads words only, so say what it shows.");
  }

  drawPictures() {
    this.pictures.replaceChildren(
      ...Object.entries(this.cell.attachments ?? {}).map(([name, kinds]) => {
        const [type, data] = Object.entries(/** @type {Record<string, string>} */ (kinds))[0] ?? ["image/png", ""];
        return h("img", { alt: name, src: `data:${type};base64,${data}` });
      }),
    );
  }

  remove() {
    this.field?.destroy();
    this.box.remove();
    this.place.classList.remove("lm-replaced");
  }
}

/** Draws a notebook into the page; texts that differ from the page's own are shown as they stand in the file.
 * @returns {Promise<View[]>} */
export async function draw(desk, article, found, notebook, release) {
  for (const old of article.querySelectorAll(".lm-own-text")) old.remove();
  for (const old of article.querySelectorAll(".lm-own-hidden")) old.classList.remove("lm-own-hidden");
  const ours = new Map(release.cells.map((cell) => [gradeId(cell) ?? bare(sourceOf(cell)), cell]));
  const heads = titles(notebook);
  const views = [];
  const drawing = [];
  const used = new Set();
  const others = otherTexts(notebook, release, found);
  let last = found.values().next().value;
  let behind = null;
  for (const cell of notebook.cells) {
    const twin = ours.get(gradeId(cell) ?? bare(sourceOf(cell)));
    const place = twin && !used.has(twin.id) ? found.get(twin.id) : undefined;
    if (twin) used.add(twin.id);
    if (twin && place === undefined && !others.has(twin.id)) continue; // a text of the page
    let spot = place;
    if (!spot) {
      const words = cell.cell_type !== "code";
      spot = h("div", { className: words ? "lm-own-text" : "lm-own-text lm-own-cell", dir: "auto" });
      if (words) drawing.push(fill(spot, sourceOf(cell)));
      if (behind) behind.after(spot);
      else last.before(spot);
      if (cell.cell_type !== "code") {
        behind = spot;
        continue;
      }
    }
    const view = new View(desk, cell, spot, heads.get(cell.id));
    views.push(view);
    drawing.push(view.draw(place && bare(sourceOf(cell)) === bare(sourceOf(twin))));
    behind = view.box;
    last = view.box;
  }
  const groups = between(article, found);
  let at = 0;
  for (const cell of release.cells) {
    if (found.has(cell.id)) at += 1;
    else if (others.has(cell.id)) for (const block of groups[at]) block.classList.add("lm-own-hidden");
  }
  await Promise.all(drawing);
  return views;
}
